/* Bounds of the closed form over a box of parameters (dse_model.bound): ane_call.c and ane_step.c term by term, in their order and
 * by their names. Everything that a call costs grows with how often something is done: the call itself, its rows, the rows that
 * the engine computes, positions read, (row, position) pairs. So one function prices these counts, in a call, in a step and for a
 * token, and query_rows does not have to be known to know that a prompt's calls have no fewer rows than the prompt. */
#include "ane.h"

#include <dse/bound.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

/* What rounding in another order than the closed form's can cost, in units of the last place. */
enum { REORDERED = 16 };

struct box {
    const struct ane_params *lo, *hi;
};

#define OF(box, field) dse_iv((double)(box)->lo->field, (double)(box)->hi->field)

static struct dse_interval reordered(double x)
{
    return dse_widened(x, x, REORDERED);
}

static struct dse_interval at_least(struct dse_interval a, double least)
{
    return (struct dse_interval){dse_max(a.lo, least), dse_max(a.hi, least)};
}

/* Multiples of `multiple` that are not below x, of whole numbers: at most multiple - 1 above it. Exact where the multiple is. */
static struct dse_interval ceil_to(struct dse_interval x, struct dse_interval multiple)
{
    const struct dse_interval n = dse_iv_ceil_div(x, multiple);
    return (struct dse_interval){dse_max(n.lo * multiple.lo, x.lo), dse_min(n.hi * multiple.hi, x.hi + multiple.hi - 1)};
}

/* ---- what is asked for, and the rows ------------------------------------------------------------------------------------ */

struct request {
    struct dse_interval prompt, generate, first, last; /* first, last: positions that the tokens of a generation stand at */
    struct dse_interval target, kept;                  /* E14: positions that stay; that the cache has to hold */
};

static struct request asked_of(const struct box *b)
{
    const struct dse_interval context = OF(b, workload.context), prompt = OF(b, request.prompt),
                              generate = dse_iv_clamp(OF(b, request.generate), 1, (double)INFINITY);
    struct request r = {.prompt = context, .first = context, .last = context};
    if (b->hi->request.generate == 0) return r;
    const struct request some = {.prompt = prompt,
                                 .generate = generate,
                                 .first = {prompt.lo + 1, prompt.hi + 1},
                                 .last = {prompt.lo + generate.lo, prompt.hi + generate.hi}};
    if (b->lo->request.generate > 0) return some;
    return (struct request){.prompt = dse_iv_hull(r.prompt, some.prompt),
                            .generate = dse_iv_hull(r.generate, some.generate),
                            .first = dse_iv_hull(r.first, some.first),
                            .last = dse_iv_hull(r.last, some.last)};
}

/* E14. False: no cache of the box keeps anything. */
static bool request_of(const struct box *b, struct request *ret)
{
    *ret = asked_of(b);
    if (!dse_cache_target_bound(&b->lo->kept, &b->hi->kept, &b->lo->workload, ret->prompt, &ret->target)) return false;
    ret->kept = dse_iv(dse_min(ret->last.lo, ret->target.lo), dse_min(ret->last.hi, ret->target.hi));
    return true;
}

/* E1, E2. */
struct shape {
    struct dse_interval rows, computed, window, cached, chunks; /* chunks: of `rows` rows that hold the window */
    struct dse_interval row_bytes;
    double layers;
};

static struct shape shape_of(const struct box *b, const struct request *r, struct dse_interval query_rows)
{
    const bool kept = b->lo->cache != ANE_NONE;
    const struct dse_llm *llm = b->lo->workload.llm;
    const struct dse_interval wanted = kept ? ceil_to(r->kept, query_rows) : r->kept;
    struct dse_interval given = dse_iv_clamp(OF(b, window), 1, (double)INFINITY);
    if (b->lo->overflow == ANE_REFUSE) given.lo = dse_clamp(wanted.lo, given.lo, given.hi); /* shorter ones are refused */
    struct shape s = {.layers = (double)llm->layers, .window = given};
    struct dse_interval left = {dse_max(given.lo - query_rows.hi, 0), dse_max(given.hi - query_rows.lo, 0)};
    s.chunks = kept ? dse_iv_ceil_div(given, query_rows) : dse_iv_of(1);
    if (b->lo->window == 0) {
        const bool exact = dse_iv_is_point(query_rows);
        const struct dse_interval chunks = kept ? dse_iv_ceil_div(r->kept, query_rows) : dse_iv_of(1);
        const struct dse_interval without = {dse_max(exact ? wanted.lo - query_rows.lo : r->kept.lo - query_rows.hi, 0),
                                             dse_max(exact ? wanted.hi - query_rows.lo : r->kept.hi - 1, 0)};
        const bool alone = b->hi->window == 0;
        s.window = alone ? wanted : dse_iv_hull(wanted, given);
        s.chunks = alone ? chunks : dse_iv_hull(chunks, s.chunks);
        left = alone ? without : dse_iv_hull(without, left);
    }
    s.rows = kept ? query_rows : s.window;
    s.cached = kept ? left : dse_iv_of(0);
    s.computed = ceil_to(s.rows, OF(b, row_multiple));
    s.row_bytes = dse_iv_scale(dse_iv_add(OF(b, workload.kv_bits), OF(b, workload.kv_scale_bits)),
                               (double)(llm->kv_heads * llm->head_dim) / DSE_BITS_PER_BYTE);
    return s;
}

/* ---- how often: E7 ------------------------------------------------------------------------------------------------------ */

struct counts {
    struct dse_interval calls, rows, computed, window, pairs; /* window: rows of a K; pairs: computed rows by rows of K */
};

static struct counts of_a_call(const struct shape *s)
{
    return (struct counts){dse_iv_of(1), s->rows, s->computed, s->window, dse_iv_mul(s->computed, s->window)};
}

/* What follows for the rows that the calls compute from their number and their rows. */
static struct counts completed(struct counts n, const struct box *b, const struct shape *s)
{
    const struct dse_interval padding = {0, (double)b->hi->row_multiple - 1};
    n.computed = dse_iv_both(dse_iv_mul(n.calls, s->computed), dse_iv_add(n.rows, dse_iv_mul(n.calls, padding)));
    n.window = dse_iv_mul(n.calls, s->window);
    n.pairs = dse_iv_mul(n.computed, s->window);
    return n;
}

/* Of all calls of a prompt. */
static struct counts of_a_prompt(const struct box *b, const struct shape *s, struct dse_interval prompt)
{
    if (b->lo->cache == ANE_NONE) return of_a_call(s);
    return completed((struct counts){.calls = dse_iv_ceil_div(prompt, s->rows), .rows = ceil_to(prompt, s->rows)}, b, s);
}

/* The same over its tokens: P tokens take ceil(P / Q) calls, which is P / Q or up to Q - 1 rows more. */
static struct counts of_its_tokens(const struct box *b, const struct shape *s, struct dse_interval prompt)
{
    const struct counts all = of_a_prompt(b, s, prompt);
    struct counts n = {.calls = dse_iv_div(all.calls, prompt), .rows = dse_iv_div(all.rows, prompt)};
    if (b->lo->cache != ANE_NONE) {
        const double p = prompt.lo, q = s->rows.lo;
        n.calls = dse_iv_both(n.calls, dse_widened(1 / s->rows.hi, 1 / p + 1 / q - 1 / (p * q), REORDERED));
        n.rows = dse_iv_both(n.rows, dse_widened(1, 1 + (s->rows.hi - 1) / p, REORDERED));
    }
    if (b->lo->cache != ANE_NONE) return completed(n, b, s);
    /* One call, whose rows are the window: the prompt, and what is generated, unless the oldest are forgotten. */
    const bool whole = b->hi->window == 0 || b->lo->overflow == ANE_REFUSE,
               alone = b->hi->window == 0 && b->hi->request.generate == 0;
    if (whole) n.rows = dse_iv_both(n.rows, dse_widened(1, alone ? 1 : dse_max(1, n.rows.hi), REORDERED));
    const struct dse_interval padding = {0, (double)b->hi->row_multiple - 1};
    n.computed = dse_iv_both(dse_iv_div(all.computed, prompt), dse_iv_add(n.rows, dse_iv_mul(n.calls, padding)));
    n.window = n.rows;
    n.pairs = dse_iv_mul(n.computed, s->window);
    return n;
}

/* ---- memory operations: E3 ---------------------------------------------------------------------------------------------- */

/* Rows written for one K, in a call: `pieces` tensors of `rows` rows, `total` in all. */
static struct dse_interval joined(const struct box *b, struct dse_interval pieces, struct dse_interval rows,
                                  struct dse_interval total)
{
    const struct dse_interval one = dse_iv_of(1);
    if (b->lo->joining == ANE_AT_ONCE) return pieces.lo > 1 ? total : dse_iv_hull(dse_iv_of(0), total);
    /* rows (p (p + 1) / 2 - 1) - (p rows - total): either by p, or by the rows of p pieces, which are `total` or a bit more. */
    const struct dse_interval pairs = dse_iv_scale(dse_iv_mul(pieces, dse_iv_sub(pieces, one)), 0.5);
    const struct dse_interval by_pieces = dse_iv_mul(rows, at_least(dse_iv_sub(pairs, one), 0));
    const struct dse_interval all = {dse_max(total.lo, pieces.lo * rows.lo), dse_min(total.hi + rows.hi - 1, pieces.hi * rows.hi)};
    const struct dse_interval by_total = dse_iv_sub(dse_iv_scale(dse_iv_mul(all, dse_iv_sub(pieces, one)), 0.5), rows);
    const struct dse_interval both = dse_iv_add(total, dse_iv_both(by_pieces, at_least(by_total, 0)));
    return pieces.lo > 1 ? both : dse_iv_hull(dse_iv_of(0), both);
}

struct memory_ops {
    struct dse_interval joined, copied, added; /* rows of a K; `added`: tensors */
};

static struct memory_ops memory_ops_of(const struct box *b, const struct shape *s)
{
    const int32_t cache = b->lo->cache;
    const double matrices = 2 * s->layers;
    const struct dse_interval none = dse_iv_of(0), chunks = {dse_max(s->chunks.lo, 2), dse_max(s->chunks.hi, 2)};
    const struct dse_interval cached = at_least(s->cached, 1); /* where there are any */
    struct memory_ops k = {.joined = s->window};
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

struct sum {
    struct dse_interval time_s, attention_s, bytes, ops; /* time_s with the dispatches */
    struct dse_interval weight_bytes, kv_bytes, concat_bytes, transpose_bytes, count_bytes;
    struct dse_interval row_ops, pair_ops, head_ops; /* useful operations, as in struct ane_call */
};

/* bytes, and what they take as long as; operations, and rows that they take as long as, times each of their operations. */
static void add_operator(struct sum *s, const struct box *b, struct dse_interval bytes, struct dse_interval loaded,
                         struct dse_interval ops, struct dse_interval filled_ops, bool attention)
{
    const struct dse_interval rate = dse_dram_stream_rate_bound(&b->lo->dram, &b->hi->dram);
    const struct dse_interval compute_s = dse_iv_div(filled_ops, dse_iv_scale(OF(b, engine_tflops), ANE_TERA)),
                              dram_s = dse_iv_div(loaded, rate);
    const struct dse_interval time_s = b->lo->overlap == ANE_SUM ? dse_iv_add(compute_s, dram_s) : dse_iv_max(compute_s, dram_s);
    s->time_s = dse_iv_add(s->time_s, time_s);
    s->bytes = dse_iv_add(s->bytes, bytes);
    s->ops = dse_iv_add(s->ops, ops);
    if (attention) s->attention_s = dse_iv_add(s->attention_s, time_s);
}

static void add_memory_op(struct sum *s, const struct box *b, struct dse_interval gbs, struct dse_interval bytes)
{
    const struct dse_interval stream = dse_dram_stream_rate_bound(&b->lo->dram, &b->hi->dram);
    const struct dse_interval time_s = dse_iv_div(bytes, dse_iv_min(dse_iv_scale(gbs, DSE_GIGA), stream));
    s->time_s = dse_iv_add(s->time_s, time_s);
    s->bytes = dse_iv_add(s->bytes, bytes);
    s->attention_s = dse_iv_add(s->attention_s, time_s);
}

/* ane_filled_rows of all calls: `rows` in as many `calls`. */
static struct dse_interval filled_rows(const struct box *b, struct dse_interval rows, struct dse_interval calls, bool squared)
{
    if (b->lo->layout == ANE_EVEN) return rows;
    const struct dse_interval filled = dse_iv_add(rows, dse_iv_mul(calls, OF(b, fill_rows)));
    if (b->lo->layout == ANE_ROW || !squared) return filled;
    return dse_iv_max(rows, dse_iv_div(filled, OF(b, square_gain)));
}

/* What the weights of an operator take as long as, `least` and `most` of them: as their bits, or as 16 / narrow_gain bits. */
static struct dse_interval expanded(const struct box *b, const struct dse_op *least, const struct dse_op *most)
{
    struct ane_params fast = *b->lo, slow = *b->hi;
    fast.narrow_gain = b->hi->narrow_gain;
    slow.narrow_gain = b->lo->narrow_gain;
    return dse_widened(least->weight_bytes * ane_expanding(&fast), most->weight_bytes * ane_expanding(&slow), REORDERED);
}

/* Operations of a row, or of a pair, are the operator's for one sequence of one position, whatever the box; bytes go with bits. */
static void add_operators(struct sum *sum, const struct box *b, const struct shape *s, const struct counts *n)
{
    struct dse_workload least = b->lo->workload, most = b->hi->workload;
    struct dse_oplist list, wide;
    bool pairs = false;
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
        const struct dse_interval filled = layer ? filled_rows(b, times, n->calls, i > 0) : times;
        const struct dse_interval loaded = dse_iv_mul(n->calls, expanded(b, o, w));
        add_operator(sum, b, dse_iv_add(weights, kv), dse_iv_add(loaded, kv), dse_iv_mul(times, each), dse_iv_mul(filled, each),
                     pairs);
        sum->weight_bytes = dse_iv_add(sum->weight_bytes, weights);
        sum->kv_bytes = dse_iv_add(sum->kv_bytes, kv);
        struct dse_interval *const useful = head ? &sum->head_ops : pairs ? &sum->pair_ops : &sum->row_ops;
        *useful = dse_iv_add(*useful, each);
        pairs = pairs && o->kind != DSE_OP_VALUES;
    }
}

static struct sum sum_of(const struct box *b, const struct shape *s, const struct counts *n)
{
    enum { ACTIVATION_BYTES = 2, RESHAPES = 2 };
    const struct dse_llm *llm = b->lo->workload.llm;
    const struct memory_ops k = memory_ops_of(b, s);
    const struct dse_interval both = dse_iv_scale(s->row_bytes, 4 * s->layers); /* K and V, read and written, all layers */
    const double tensor = s->layers * (double)(llm->heads * llm->head_dim) * ACTIVATION_BYTES;
    struct sum sum = {.time_s =
                          dse_iv_mul(n->calls, dse_iv_scale(dse_iv_mul(OF(b, programs), OF(b, dispatch_us)), 1 / DSE_US_PER_S))};
    add_operators(&sum, b, s, n);
    /* Rows of new tokens are as many as the calls have; all other rows of a K are counted call by call. */
    const struct dse_interval transposed = b->lo->cache == ANE_LATE_TRANSPOSE || b->lo->cache == ANE_NONE ? n->window : n->rows;
    const struct dse_interval joined = dse_iv_mul(n->calls, dse_iv_mul(both, k.joined));
    const struct dse_interval copied = dse_iv_mul(n->calls, dse_iv_mul(both, k.copied));
    const struct dse_interval added = dse_iv_scale(dse_iv_mul(n->computed, k.added), tensor);
    sum.transpose_bytes = dse_iv_mul(transposed, dse_iv_scale(both, 0.5));
    const double row = RESHAPES * 2 * s->layers * (double)llm->hidden * ACTIVATION_BYTES;
    const struct dse_interval reshaped = b->lo->layout == ANE_SQUARE ? dse_iv_scale(n->computed, row) : dse_iv_of(0);
    sum.concat_bytes = dse_iv_add(joined, dse_iv_add(copied, dse_iv_add(added, reshaped)));
    add_memory_op(&sum, b, OF(b, transpose_gbs), sum.transpose_bytes);
    add_memory_op(&sum, b, OF(b, concat_gbs), sum.concat_bytes);
    double pair, least, most;
    ane_count_bytes(b->lo, &pair, &least);
    ane_count_bytes(b->hi, &pair, &most);
    const struct dse_interval counted = dse_iv_add(dse_iv_scale(n->pairs, pair), dse_iv_mul(n->window, dse_iv(least, most)));
    sum.count_bytes = dse_iv_scale(counted, s->layers);
    if (pair > 0) add_memory_op(&sum, b, OF(b, concat_gbs), sum.count_bytes);
    return sum;
}

/* ---- sliding: E6 -------------------------------------------------------------------------------------------------------- */

struct slide {
    struct dse_interval time_s, bytes, exposed_s, idle_s; /* idle_s: of a call's gap, with its share of slides */
    struct dse_interval after_prompt, after_token;        /* slides after a call */
};

/* What sliding leaves of a gap in which `each` slides are made: it grows with the gap, since there is one at most. */
static double idle_s(const struct ane_params *p, double gap_s, double time_s, double each)
{
    return p->slide == ANE_HIDDEN ? dse_max(0, gap_s - each * dse_min(gap_s, time_s)) : gap_s;
}

static struct slide slide_of(const struct box *b, const struct shape *s)
{
    const int32_t cache = b->lo->cache;
    const bool never = s->cached.hi <= 0 || !(cache == ANE_TWO_MODEL || cache == ANE_STACKED || cache == ANE_LATE_TRANSPOSE);
    const struct dse_interval none = dse_iv_of(0), gap = dse_iv_scale(OF(b, host_gap_us), 1 / DSE_US_PER_S);
    struct slide r = {.idle_s = gap};
    if (never) return r;
    const struct dse_interval stream = dse_dram_stream_rate_bound(&b->lo->dram, &b->hi->dram);
    const struct dse_interval rate = dse_iv_min(dse_iv_scale(OF(b, concat_gbs), DSE_GIGA), stream);
    r.bytes = dse_iv_mul(at_least(s->cached, 1), dse_iv_scale(s->row_bytes, 4 * s->layers));
    r.time_s = dse_iv_add(dse_iv_scale(dse_iv_mul(OF(b, slide_programs), OF(b, dispatch_us)), 1 / DSE_US_PER_S),
                          dse_iv_div(r.bytes, rate));
    r.after_prompt = dse_iv_of(1);
    r.after_token = b->lo->slide_each == ANE_EACH_CALL ? dse_iv_of(1) : dse_iv_inv(s->rows);
    if (s->cached.lo <= 0) {
        r.bytes = dse_iv_hull(none, r.bytes);
        r.time_s = dse_iv_hull(none, r.time_s);
        r.after_prompt = dse_iv_hull(none, r.after_prompt);
        r.after_token = dse_iv_hull(none, r.after_token);
    }
    r.exposed_s = b->lo->slide == ANE_HIDDEN ? at_least(dse_iv_sub(r.time_s, gap), 0) : r.time_s;
    const struct dse_interval each = b->lo->workload.phase == DSE_PREFILL ? r.after_prompt : r.after_token;
    r.idle_s = dse_widened(idle_s(b->lo, gap.lo, r.time_s.hi, each.hi), idle_s(b->lo, gap.hi, r.time_s.lo, each.lo), REORDERED);
    r.idle_s = at_least(r.idle_s, 0);
    return r;
}

/* ---- a step, or its share of a token -------------------------------------------------------------------------------------- */

struct step {
    struct sum sum;
    struct dse_interval slides, slide_s, time_s, bytes, engine_j, dram_j; /* slide_s: exposed */
};

static struct dse_interval energy_of_engine(const struct box *b, const struct slide *slide, const struct counts *n,
                                            const struct step *s)
{
    if (b->lo->power == DSE_POWER_CONSTANT) return dse_iv_mul(OF(b, reference_power_w), s->time_s);
    const struct dse_interval busy_s = dse_iv_add(s->sum.time_s, dse_iv_mul(s->slides, slide->time_s));
    const struct dse_interval ops_j = dse_iv_mul(dse_iv_scale(OF(b, engine_op_pj), DSE_PICO), s->sum.ops);
    const struct dse_interval idle_j = dse_iv_mul(OF(b, engine_idle_w), dse_iv_mul(n->calls, slide->idle_s));
    return dse_iv_add(dse_iv_mul(OF(b, engine_base_w), busy_s), dse_iv_add(ops_j, idle_j));
}

static struct step step_of(const struct box *b, const struct slide *slide, const struct counts *n, struct sum sum)
{
    const struct dse_interval gap_s = dse_iv_scale(OF(b, host_gap_us), 1 / DSE_US_PER_S);
    struct step s = {.sum = sum};
    s.slides = dse_iv_mul(n->calls, b->lo->workload.phase == DSE_PREFILL ? slide->after_prompt : slide->after_token);
    s.slide_s = dse_iv_mul(s.slides, slide->exposed_s);
    s.time_s = dse_iv_add(s.sum.time_s, dse_iv_add(dse_iv_mul(n->calls, gap_s), s.slide_s));
    s.bytes = dse_iv_add(s.sum.bytes, dse_iv_mul(s.slides, slide->bytes));
    s.engine_j = energy_of_engine(b, slide, n, &s);
    s.dram_j = dse_dram_joules_bound(&b->lo->dram, &b->hi->dram, s.bytes);
    return s;
}

/* Useful operations a token. Positions that a token sees grow with the prompt, the generation and the window. */
static struct dse_interval useful_ops(const struct box *b, const struct request *r, const struct shape *s, const struct sum *a)
{
    const bool prefill = b->lo->workload.phase == DSE_PREFILL;
    struct dse_interval seen = {ane_mean_seen(r->first.lo, r->last.lo, s->window.lo),
                                ane_mean_seen(r->first.hi, r->last.hi, s->window.hi)};
    if (prefill) seen = dse_iv(ane_mean_seen(1, r->prompt.lo, s->window.lo), ane_mean_seen(1, r->prompt.hi, s->window.hi));
    const struct dse_interval heads = prefill ? dse_iv_div(a->head_ops, r->prompt) : a->head_ops;
    return dse_iv_add(a->row_ops, dse_iv_add(dse_iv_mul(dse_widened(seen.lo, seen.hi, REORDERED), a->pair_ops), heads));
}

/* E10. */
static struct dse_interval footprint(const struct box *b, const struct shape *s)
{
    struct dse_workload least = b->lo->workload, most = b->hi->workload;
    least.context = most.context = 0;
    const struct dse_interval weights = dse_iv_growing(dse_workload_footprint(&least), dse_workload_footprint(&most));
    const struct dse_interval layer = dse_iv_mul(s->window, dse_iv_scale(s->row_bytes, 2));
    if (b->lo->cache == ANE_NONE) return dse_iv_add(weights, layer);
    struct dse_interval rows = dse_iv_mul(OF(b, workload.batch), s->window);
    if (b->lo->cache != ANE_CHUNKS && b->lo->cache != ANE_LAZY_SOFTMAX) rows = dse_iv_add(rows, s->cached);
    return dse_iv_add(weights, dse_iv_mul(rows, dse_iv_scale(s->row_bytes, 2 * s->layers)));
}

/* ---- the box ------------------------------------------------------------------------------------------------------------- */

/* What check() asks for: leaves of the request and of query_rows what it can accept. False: nothing. */
static bool may_be_accepted(const struct box *b, struct request *r, struct dse_interval *query_rows)
{
    const double most = (double)b->lo->workload.llm->max_context;
    if (r->last.lo > most) return false;
    r->last.hi = dse_min(r->last.hi, most);
    r->prompt.hi = dse_min(r->prompt.hi, most);
    r->first.hi = dse_min(r->first.hi, most);
    r->kept.hi = dse_min(r->kept.hi, most);
    if (b->lo->power == DSE_POWER_ACTIVITY && b->lo->engine_idle_w > b->hi->engine_base_w) return false;
    const double window = (double)b->hi->window, longest = b->lo->window > 0 ? window : dse_max(window, r->kept.hi);
    if (b->lo->cache != ANE_NONE) query_rows->hi = dse_min(query_rows->hi, longest);
    return query_rows->lo <= query_rows->hi;
}

static bool may_fit(const struct box *b, const struct request *r, const struct shape *s)
{
    const struct dse_interval wanted = b->lo->cache == ANE_NONE ? r->kept : ceil_to(r->kept, s->rows);
    if (b->lo->overflow == ANE_REFUSE && wanted.lo > s->window.hi) return false;
    return footprint(b, s).lo <= b->hi->dram.capacity_gib * DSE_GIB;
}

/* ---- metrics ------------------------------------------------------------------------------------------------------------- */

struct ends {
    struct ane_metrics *floor, *ceiling;
};

#define SET(metric, value) dse_bound_set(&m->floor->metric, &m->ceiling->metric, value)

/* No more than the engine's at work, no less than idle: the gap of the host and slides hidden in it draw less (check). */
static struct dse_interval power_of(const struct box *b, const struct step *s, bool with_dram)
{
    struct dse_interval j = dse_iv_add(s->engine_j, s->dram_j);
    const double lost = dse_above(j.hi, REORDERED) - j.hi; /* what ane_fill loses where it takes the DRAM's joules off again */
    if (!with_dram) j = dse_iv_add(s->engine_j, dse_iv(-lost, lost));
    struct dse_interval w = at_least(dse_iv_div(j, s->time_s), 0);
    const double rate = dse_dram_stream_rate(&b->hi->dram), pj = b->hi->dram.dram_pj_per_bit * DSE_BITS_PER_BYTE * DSE_PICO;
    const double moving = with_dram ? rate * pj : 0, busy = b->hi->engine_base_w, ops = b->hi->engine_op_pj * DSE_PICO;
    const double most =
        (b->lo->power == DSE_POWER_CONSTANT ? b->hi->reference_power_w : busy + ops * b->hi->engine_tflops * ANE_TERA) + moving;
    const double least = b->lo->power == DSE_POWER_CONSTANT ? b->lo->reference_power_w : b->lo->engine_idle_w;
    const double off = with_dram ? 0 : lost / s->time_s.lo;
    w.hi = dse_min(w.hi, dse_above(most, REORDERED) + off);
    w.lo = dse_max(w.lo, dse_below(least, REORDERED) - off);
    return w;
}

/* Of sequences one after the other: a token costs the same with any number of them. */
static void fill_common(const struct ends *m, const struct box *b, const struct request *r, const struct shape *shape,
                        const struct step *step, const struct step *token)
{
    const struct dse_interval batch = OF(b, workload.batch), rows = b->lo->workload.phase == DSE_PREFILL ? r->prompt : dse_iv_of(1);
    const struct dse_bill bill_lo = ane_bill_of(b->lo), bill_hi = ane_bill_of(b->hi);
    struct dse_totals_bound t = dse_totals_unknown();
    t.tokens = dse_iv_mul(batch, rows);
    t.seconds = dse_iv_mul(batch, step->time_s);
    t.attention_s = dse_iv_mul(batch, step->sum.attention_s);
    t.token_s = token->time_s;
    t.token_joules = dse_iv_add(token->engine_j, token->dram_j);
    t.token_bytes = token->bytes;
    t.token_ops = useful_ops(b, r, shape, &token->sum);
    t.watts = power_of(b, token, true);
    t.peak_ops = dse_iv_scale(OF(b, engine_tflops), ANE_TERA);
    t.peak_bytes = dse_dram_peak_bound(&b->lo->dram, &b->hi->dram);
    t.bill_lo = &bill_lo;
    t.bill_hi = &bill_hi;
    dse_totals_narrow(&t);
    dse_common_bound(&t, &m->floor->common, &m->ceiling->common);
}

/* E14. Positions seen grow with the prompt, the generation, and what is kept. What is forgotten is of one point at a time. */
static void fill_cache(const struct ends *m, const struct box *b, const struct request *r, const struct shape *s)
{
    const bool prefill = b->lo->workload.phase == DSE_PREFILL;
    const struct dse_interval window = {dse_min(r->kept.lo, s->window.lo), dse_min(r->kept.hi, s->window.hi)};
    const struct dse_cache_steps lo = ane_cache_steps(b->lo), hi = ane_cache_steps(b->hi);
    const bool alike = (lo.generate > 0) == (hi.generate > 0);
    struct dse_kept_bound kept = {dse_unbounded, dse_unbounded, dse_unbounded};
    struct dse_interval seen = {ane_mean_seen(r->first.lo, r->last.lo, window.lo),
                                ane_mean_seen(r->first.hi, r->last.hi, window.hi)};
    if (prefill) seen = dse_iv(ane_mean_seen(1, r->prompt.lo, window.lo), ane_mean_seen(1, r->prompt.hi, window.hi));
    if (alike) dse_cache_quality_bound(&lo, &hi, r->target, &kept);
    SET(cached_positions, dse_widened(seen.lo, seen.hi, REORDERED));
    SET(retained_mass, kept.mass);
    SET(attention_error, kept.error);
    SET(attention_error_sd, kept.error_sd);
}

static void fill(const struct ends *m, const struct box *b, const struct request *r, const struct shape *s)
{
    const bool prefill = b->lo->workload.phase == DSE_PREFILL;
    const struct slide slide = slide_of(b, s);
    const struct counts one = of_a_call(s), prompt = of_a_prompt(b, s, r->prompt);
    const struct counts all = prefill ? prompt : one, each = prefill ? of_its_tokens(b, s, r->prompt) : one;
    const struct sum call = sum_of(b, s, &one), whole = sum_of(b, s, &prompt);
    const struct step step = step_of(b, &slide, &all, prefill ? whole : call),
                      token = prefill ? step_of(b, &slide, &each, sum_of(b, s, &each)) : step;
    const struct dse_interval gap_s = dse_iv_scale(OF(b, host_gap_us), 1 / DSE_US_PER_S), mib = dse_iv_of(1 / DSE_MIB);
    const struct dse_interval prompt_s =
        dse_iv_add(whole.time_s, dse_iv_mul(prompt.calls, dse_iv_add(gap_s, dse_iv_mul(slide.after_prompt, slide.exposed_s))));
    const struct dse_interval token_s = dse_iv_add(call.time_s, dse_iv_add(gap_s, dse_iv_mul(slide.after_token, slide.exposed_s)));
    fill_common(m, b, r, s, &step, &token);
    dse_bound_set_i64(&m->floor->calls, &m->ceiling->calls, all.calls);
    SET(call_us, dse_iv_scale(call.time_s, DSE_US_PER_S));
    SET(slide_us, dse_iv_scale(slide.time_s, DSE_US_PER_S));
    SET(exposed_slide_us, dse_iv_mul(OF(b, workload.batch), dse_iv_scale(step.slide_s, DSE_US_PER_S)));
    SET(request_ms, dse_iv_scale(dse_iv_add(prompt_s, dse_iv_mul(r->generate, token_s)), 1e3));
    SET(wasted_rows, dse_iv_sub(dse_iv_of(1), dse_iv_inv(each.computed)));
    SET(weights_mib, dse_iv_mul(token.sum.weight_bytes, mib));
    SET(kv_mib, dse_iv_mul(token.sum.kv_bytes, mib));
    SET(concat_mib, dse_iv_mul(token.sum.concat_bytes, mib));
    SET(transpose_mib, dse_iv_mul(token.sum.transpose_bytes, mib));
    SET(technique_mib, dse_iv_mul(token.sum.count_bytes, mib));
    fill_cache(m, b, r, s);
    SET(slide_mib, dse_iv_mul(dse_iv_mul(token.slides, slide.bytes), mib));
    SET(dram_footprint_gib, dse_iv_scale(footprint(b, s), 1 / DSE_GIB));
    SET(engine_power_w, power_of(b, &token, false));
}

/* A single point is looked at as such. */
static bool bound_point(const struct ane_params *p, void *floor, void *ceiling)
{
    if (dse_model_ane.check(p)) return false;
    dse_model_ane.estimate(p, floor, NULL);
    memcpy(ceiling, floor, sizeof(struct ane_metrics));
    return true;
}

bool ane_bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    const struct box b = {lo, hi};
    if (dse_llm_unlike_plain(b.lo->workload.llm)) return false;
    if (memcmp(lo, hi, sizeof(struct ane_params)) == 0) return bound_point(lo, floor, ceiling);
    struct request r;
    struct dse_interval query_rows = OF(&b, query_rows);
    if (!request_of(&b, &r) || !may_be_accepted(&b, &r, &query_rows)) return false;
    const struct shape s = shape_of(&b, &r, query_rows);
    if (!may_fit(&b, &r, &s)) return false;
    const struct ends m = {floor, ceiling};
    fill(&m, &b, &r, &s);
    return true;
}
