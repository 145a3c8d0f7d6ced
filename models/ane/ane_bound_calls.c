/* Bounds of what calls cost. Everything that a call costs grows with how often something is done: the call itself, its rows, the
 * rows that the engine computes, positions read, (row, position) pairs. So one function prices these counts, in a call, in a step
 * and for a token, and query_rows does not have to be known to know that a prompt's calls have no fewer rows than the prompt. */
#include "ane_bound.h"

#include <dse/units.h>

static struct dse_interval reordered(double x)
{
    return dse_widened(x, x, ANE_REORDERED);
}

/* ---- how often: E7 ------------------------------------------------------------------------------------------------------ */

struct ane_counts_bound ane_call_counts(const struct ane_shape_bound *s)
{
    return (struct ane_counts_bound){dse_iv_of(1), s->rows, s->computed, s->window, dse_iv_mul(s->computed, s->window)};
}

/* What follows for the rows that the calls compute from their number and their rows. */
static struct ane_counts_bound completed(struct ane_counts_bound n, const struct ane_box *b, const struct ane_shape_bound *s)
{
    const struct dse_interval padding = {0, (double)b->hi->row_multiple - 1};
    n.computed = dse_iv_both(dse_iv_mul(n.calls, s->computed), dse_iv_add(n.rows, dse_iv_mul(n.calls, padding)));
    n.window = dse_iv_mul(n.calls, s->window);
    n.pairs = dse_iv_mul(n.computed, s->window);
    return n;
}

/* Of all calls of a prompt. */
struct ane_counts_bound ane_prompt_counts(const struct ane_box *b, const struct ane_shape_bound *s, struct dse_interval prompt)
{
    if (b->lo->cache == ANE_NONE) return ane_call_counts(s);
    return completed((struct ane_counts_bound){.calls = dse_iv_ceil_div(prompt, s->rows), .rows = ane_ceil_to(prompt, s->rows)}, b,
                     s);
}

/* The same over its tokens: P tokens take ceil(P / Q) calls, which is P / Q or up to Q - 1 rows more. */
struct ane_counts_bound ane_token_counts(const struct ane_box *b, const struct ane_shape_bound *s, struct dse_interval prompt)
{
    const struct ane_counts_bound all = ane_prompt_counts(b, s, prompt);
    struct ane_counts_bound n = {.calls = dse_iv_div(all.calls, prompt), .rows = dse_iv_div(all.rows, prompt)};
    if (b->lo->cache != ANE_NONE) {
        const double p = prompt.lo, q = s->rows.lo;
        n.calls = dse_iv_both(n.calls, dse_widened(1 / s->rows.hi, 1 / p + 1 / q - 1 / (p * q), ANE_REORDERED));
        n.rows = dse_iv_both(n.rows, dse_widened(1, 1 + (s->rows.hi - 1) / p, ANE_REORDERED));
    }
    if (b->lo->cache != ANE_NONE) return completed(n, b, s);
    /* One call, whose rows are the window: the prompt, and what is generated, unless the oldest are forgotten. */
    const bool whole = b->hi->window == 0 || b->lo->overflow == ANE_REFUSE,
               alone = b->hi->window == 0 && b->hi->request.generate == 0;
    if (whole) n.rows = dse_iv_both(n.rows, dse_widened(1, alone ? 1 : dse_max(1, n.rows.hi), ANE_REORDERED));
    const struct dse_interval padding = {0, (double)b->hi->row_multiple - 1};
    n.computed = dse_iv_both(dse_iv_div(all.computed, prompt), dse_iv_add(n.rows, dse_iv_mul(n.calls, padding)));
    n.window = n.rows;
    n.pairs = dse_iv_mul(n.computed, s->window);
    return n;
}

/* ---- memory operations: E3 ---------------------------------------------------------------------------------------------- */

/* Rows written for one K, in a call: `pieces` tensors of `rows` rows, `total` in all. */
static struct dse_interval joined(const struct ane_box *b, struct dse_interval pieces, struct dse_interval rows,
                                  struct dse_interval total)
{
    const struct dse_interval one = dse_iv_of(1);
    if (b->lo->joining == ANE_AT_ONCE) return pieces.lo > 1 ? total : dse_iv_hull(dse_iv_of(0), total);
    /* rows (p (p + 1) / 2 - 1) - (p rows - total): either by p, or by the rows of p pieces, which are `total` or a bit more. */
    const struct dse_interval pairs = dse_iv_scale(dse_iv_mul(pieces, dse_iv_sub(pieces, one)), 0.5);
    const struct dse_interval by_pieces = dse_iv_mul(rows, ane_at_least(dse_iv_sub(pairs, one), 0));
    const struct dse_interval all = {dse_max(total.lo, pieces.lo * rows.lo), dse_min(total.hi + rows.hi - 1, pieces.hi * rows.hi)};
    const struct dse_interval by_total = dse_iv_sub(dse_iv_scale(dse_iv_mul(all, dse_iv_sub(pieces, one)), 0.5), rows);
    const struct dse_interval both = dse_iv_add(total, dse_iv_both(by_pieces, ane_at_least(by_total, 0)));
    return pieces.lo > 1 ? both : dse_iv_hull(dse_iv_of(0), both);
}

struct ane_memory_ops_bound ane_memory_ops_bound_of(const struct ane_box *b, const struct ane_shape_bound *s)
{
    const int32_t cache = b->lo->cache;
    const double matrices = s->matrices;
    const struct dse_interval none = dse_iv_of(0), chunks = {dse_max(s->chunks.lo, 2), dse_max(s->chunks.hi, 2)};
    const struct dse_interval cached = ane_at_least(s->cached, 1); /* where there are any */
    struct ane_memory_ops_bound k = {.joined = s->window};
    if (cache == ANE_CHUNKS) k.joined = joined(b, chunks, s->rows, s->window);
    if (cache == ANE_LAZY_SOFTMAX) {
        k.joined = none;
        k.added = dse_iv_sub(dse_iv_scale(chunks, 6), dse_iv_of(3));
    }
    if (cache == ANE_SLID_OUTPUT) k.copied = cached;
    if (cache == ANE_STACKED) {
        const struct dse_interval all = dse_iv_scale(s->rows, matrices);
        k.copied = dse_iv_add(cached, dse_iv_scale(joined(b, dse_iv_of(matrices), s->rows, all), 1 / matrices));
    }
    if (s->cached.hi <= 0) k.joined = k.copied = k.added = none;
    if (s->cached.lo > 0) return k;
    k.joined = dse_iv_hull(none, k.joined);
    k.copied = dse_iv_hull(none, k.copied);
    k.added = dse_iv_hull(none, k.added);
    return k;
}

/* ---- the operators: E4, E5 ---------------------------------------------------------------------------------------------- */

void ane_add_operator(struct ane_sum_bound *s, const struct ane_box *b, struct dse_interval bytes, struct dse_interval loaded,
                      struct dse_interval ops, struct dse_interval filled_ops, bool attention)
{
    const struct dse_interval rate = dse_dram_stream_rate_bound(&b->lo->dram, &b->hi->dram);
    const struct dse_interval compute_s = dse_iv_div(filled_ops, dse_iv_scale(ANE_OF(b, engine_tflops), ANE_TERA)),
                              dram_s = dse_iv_div(loaded, rate);
    const struct dse_interval time_s = b->lo->overlap == ANE_SUM ? dse_iv_add(compute_s, dram_s) : dse_iv_max(compute_s, dram_s);
    s->time_s = dse_iv_add(s->time_s, time_s);
    s->bytes = dse_iv_add(s->bytes, bytes);
    s->ops = dse_iv_add(s->ops, ops);
    if (attention) s->attention_s = dse_iv_add(s->attention_s, time_s);
}

static void add_memory_op(struct ane_sum_bound *s, const struct ane_box *b, struct dse_interval gbs, struct dse_interval bytes)
{
    const struct dse_interval stream = dse_dram_stream_rate_bound(&b->lo->dram, &b->hi->dram);
    const struct dse_interval time_s = dse_iv_div(bytes, dse_iv_min(dse_iv_scale(gbs, DSE_GIGA), stream));
    s->time_s = dse_iv_add(s->time_s, time_s);
    s->bytes = dse_iv_add(s->bytes, bytes);
    s->attention_s = dse_iv_add(s->attention_s, time_s);
}

struct dse_interval ane_filled_rows_bound(const struct ane_box *b, struct dse_interval rows, struct dse_interval calls,
                                          bool squared)
{
    if (b->lo->layout == ANE_EVEN) return rows;
    const struct dse_interval filled = dse_iv_add(rows, dse_iv_mul(calls, ANE_OF(b, fill_rows)));
    if (b->lo->layout == ANE_ROW || !squared) return filled;
    return dse_iv_max(rows, dse_iv_div(filled, ANE_OF(b, square_gain)));
}

/* What the weights of an operator take as long as, `least` and `most` of them: as their bits, or as 16 / narrow_gain bits. */
static struct dse_interval expanded(const struct ane_box *b, const struct dse_op *least, const struct dse_op *most)
{
    struct ane_params fast = *b->lo, slow = *b->hi;
    fast.narrow_gain = b->hi->narrow_gain;
    slow.narrow_gain = b->lo->narrow_gain;
    return dse_widened(least->weight_bytes * ane_expanding(&fast), most->weight_bytes * ane_expanding(&slow), ANE_REORDERED);
}

/* Operations of a row, or of a pair, are the operator's for one sequence of one position, whatever the box; bytes go with bits. */
static void add_operators(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_shape_bound *s,
                          const struct ane_counts_bound *n)
{
    struct dse_workload least = b->lo->workload, most = b->hi->workload;
    struct dse_oplist list, wide;
    bool pairs = false;
    const struct dse_interval widening = dse_iv_scale(dse_iv(ane_widening(b->lo), ane_widening(b->hi)), s->layers);
    least.phase = most.phase = DSE_DECODE;
    least.batch = most.batch = least.context = most.context = 1;
    dse_workload_expand(&least, &list);
    dse_workload_expand(&most, &wide);
    for (int i = 0; i < list.n; i++) {
        const struct dse_op *o = &list.op[i], *w = &wide.op[i];
        const bool reads = o->kind == DSE_OP_SCORES || o->kind == DSE_OP_VALUES, head = o->kind == DSE_OP_LINEAR && o->repeat == 1;
        pairs = pairs || o->kind == DSE_OP_SCORES;
        const struct dse_interval each = reordered(o->ops);
        const struct dse_interval weights = dse_iv_mul(n->calls, dse_iv_growing(o->weight_bytes, w->weight_bytes));
        const struct dse_interval written = dse_iv_mul(n->rows, dse_iv_growing(o->kv_write_bytes, w->kv_write_bytes));
        const struct dse_interval kv = reads ? dse_iv_mul(dse_iv_scale(s->row_bytes, s->layers), n->window) : written;
        const struct dse_interval times = pairs ? n->pairs : head && b->lo->head_rows == ANE_LAST_ROW ? n->calls : n->computed;
        const bool layer = o->kind == DSE_OP_LINEAR;
        const struct dse_interval filled = layer ? ane_filled_rows_bound(b, times, n->calls, i > 0) : times;
        const struct dse_interval loaded = dse_iv_mul(n->calls, expanded(b, o, w));
        const struct dse_interval widened = reads ? dse_iv_mul(n->window, widening) : dse_iv_of(0);
        ane_add_operator(sum, b, dse_iv_add(weights, kv), dse_iv_add(loaded, kv), dse_iv_add(dse_iv_mul(times, each), widened),
                         dse_iv_add(dse_iv_mul(filled, each), widened), pairs);
        sum->weight_bytes = dse_iv_add(sum->weight_bytes, weights);
        sum->kv_bytes = dse_iv_add(sum->kv_bytes, kv);
        struct dse_interval *const useful = head ? &sum->head_ops : pairs ? &sum->pair_ops : &sum->row_ops;
        *useful = dse_iv_add(*useful, each);
        pairs = pairs && o->kind != DSE_OP_VALUES;
    }
}

static void add_simple(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_shape_bound *s,
                       const struct ane_counts_bound *n)
{
    const struct dse_llm *llm = b->lo->workload.llm;
    const struct ane_memory_ops_bound k = ane_memory_ops_bound_of(b, s);
    const struct dse_interval both = dse_iv_scale(s->row_bytes, 4 * s->layers); /* K and V, read and written, all layers */
    const double tensor = s->layers * (double)(llm->heads * llm->head_dim) * ANE_ACTIVATION_BYTES;
    add_operators(sum, b, s, n);
    /* Rows of new tokens are as many as the calls have; all other rows of a K are counted call by call. */
    const struct dse_interval transposed = b->lo->cache == ANE_LATE_TRANSPOSE || b->lo->cache == ANE_NONE ? n->window : n->rows;
    const struct dse_interval joined = dse_iv_mul(n->calls, dse_iv_mul(both, k.joined));
    const struct dse_interval copied = dse_iv_mul(n->calls, dse_iv_mul(both, k.copied));
    const struct dse_interval added = dse_iv_scale(dse_iv_mul(n->computed, k.added), tensor);
    sum->transpose_bytes = dse_iv_mul(transposed, dse_iv_scale(both, 0.5));
    sum->concat_bytes = dse_iv_add(joined, dse_iv_add(copied, added));
}

struct ane_sum_bound ane_sum_of_bound(const struct ane_box *b, const struct ane_shape_bound *s, const struct ane_counts_bound *n)
{
    enum { RESHAPES = 2 };
    struct ane_sum_bound sum = {
        .time_s = dse_iv_mul(n->calls, dse_iv_scale(dse_iv_mul(ANE_OF(b, programs), ANE_OF(b, dispatch_us)), 1 / DSE_US_PER_S))};
    const double row = RESHAPES * 2 * s->layers * (double)b->lo->workload.llm->hidden * ANE_ACTIVATION_BYTES;
    const struct dse_interval reshaped = b->lo->layout == ANE_SQUARE ? dse_iv_scale(n->computed, row) : dse_iv_of(0);
    if (b->llms)
        ane_llms_sum_bound(&sum, b, n);
    else
        add_simple(&sum, b, s, n);
    sum.concat_bytes = dse_iv_add(sum.concat_bytes, reshaped);
    add_memory_op(&sum, b, ANE_OF(b, transpose_gbs), sum.transpose_bytes);
    add_memory_op(&sum, b, ANE_OF(b, concat_gbs), sum.concat_bytes);
    if (b->llms) return sum;
    double pair, least, most;
    ane_count_bytes(b->lo, &pair, &least);
    ane_count_bytes(b->hi, &pair, &most);
    const struct dse_interval counted = dse_iv_add(dse_iv_scale(n->pairs, pair), dse_iv_mul(n->window, dse_iv(least, most)));
    sum.count_bytes = dse_iv_scale(counted, s->layers);
    if (pair > 0) add_memory_op(&sum, b, ANE_OF(b, concat_gbs), sum.count_bytes);
    return sum;
}

/* ---- sliding: E6 -------------------------------------------------------------------------------------------------------- */

/* What sliding leaves of a gap in which `each` slides are made: it grows with the gap, since there is one at most. */
static double idle_s(const struct ane_params *p, double gap_s, double time_s, double each)
{
    return p->slide == ANE_HIDDEN ? dse_max(0, gap_s - each * dse_min(gap_s, time_s)) : gap_s;
}

struct ane_slide_bound ane_slide_of_bound(const struct ane_box *b, const struct ane_shape_bound *s)
{
    const int32_t cache = b->lo->cache;
    struct dse_interval cached = s->cached;
    if (b->llms) cached = ane_llms_slid_bound(b); /* any of them is slid */
    const bool never = cached.hi <= 0 || !(cache == ANE_TWO_MODEL || cache == ANE_STACKED || cache == ANE_LATE_TRANSPOSE);
    const struct dse_interval none = dse_iv_of(0), gap = dse_iv_scale(ANE_OF(b, host_gap_us), 1 / DSE_US_PER_S);
    struct ane_slide_bound r = {.idle_s = gap};
    if (never) return r;
    const struct dse_interval stream = dse_dram_stream_rate_bound(&b->lo->dram, &b->hi->dram);
    const struct dse_interval rate = dse_iv_min(dse_iv_scale(ANE_OF(b, concat_gbs), DSE_GIGA), stream);
    r.bytes = b->llms ? cached : dse_iv_mul(ane_at_least(s->cached, 1), dse_iv_scale(s->row_bytes, 4 * s->layers));
    r.time_s = dse_iv_add(dse_iv_scale(dse_iv_mul(ANE_OF(b, slide_programs), ANE_OF(b, dispatch_us)), 1 / DSE_US_PER_S),
                          dse_iv_div(r.bytes, rate));
    r.after_prompt = dse_iv_of(1);
    r.after_token = b->lo->slide_each == ANE_EACH_CALL ? dse_iv_of(1) : dse_iv_inv(s->rows);
    if (cached.lo <= 0) {
        r.bytes = dse_iv_hull(none, r.bytes);
        r.time_s = dse_iv_hull(none, r.time_s);
        r.after_prompt = dse_iv_hull(none, r.after_prompt);
        r.after_token = dse_iv_hull(none, r.after_token);
    }
    r.exposed_s = b->lo->slide == ANE_HIDDEN ? ane_at_least(dse_iv_sub(r.time_s, gap), 0) : r.time_s;
    const struct dse_interval each = b->lo->workload.phase == DSE_PREFILL ? r.after_prompt : r.after_token;
    r.idle_s = dse_widened(idle_s(b->lo, gap.lo, r.time_s.hi, each.hi), idle_s(b->lo, gap.hi, r.time_s.lo, each.lo), ANE_REORDERED);
    r.idle_s = ane_at_least(r.idle_s, 0);
    return r;
}

/* ---- a step, or its share of a token -------------------------------------------------------------------------------------- */

static struct dse_interval energy_of_engine(const struct ane_box *b, const struct ane_slide_bound *slide,
                                            const struct ane_counts_bound *n, const struct ane_step_bound *s)
{
    if (b->lo->power == DSE_POWER_CONSTANT) return dse_iv_mul(ANE_OF(b, reference_power_w), s->time_s);
    const struct dse_interval busy_s = dse_iv_add(s->sum.time_s, dse_iv_mul(s->slides, slide->time_s));
    const struct dse_interval ops_j = dse_iv_mul(dse_iv_scale(ANE_OF(b, engine_op_pj), DSE_PICO), s->sum.ops);
    const struct dse_interval idle_j = dse_iv_mul(ANE_OF(b, engine_idle_w), dse_iv_mul(n->calls, slide->idle_s));
    return dse_iv_add(dse_iv_mul(ANE_OF(b, engine_base_w), busy_s), dse_iv_add(ops_j, idle_j));
}

struct ane_step_bound ane_step_of_bound(const struct ane_box *b, const struct ane_slide_bound *slide,
                                        const struct ane_counts_bound *n, struct ane_sum_bound sum)
{
    const struct dse_interval gap_s = dse_iv_scale(ANE_OF(b, host_gap_us), 1 / DSE_US_PER_S);
    struct ane_step_bound s = {.sum = sum};
    s.slides = dse_iv_mul(n->calls, b->lo->workload.phase == DSE_PREFILL ? slide->after_prompt : slide->after_token);
    s.slide_s = dse_iv_mul(s.slides, slide->exposed_s);
    s.time_s = dse_iv_add(s.sum.time_s, dse_iv_add(dse_iv_mul(n->calls, gap_s), s.slide_s));
    s.bytes = dse_iv_add(s.sum.bytes, dse_iv_mul(s.slides, slide->bytes));
    s.engine_j = energy_of_engine(b, slide, n, &s);
    s.dram_j = dse_dram_joules_bound(&b->lo->dram, &b->hi->dram, s.bytes);
    return s;
}
