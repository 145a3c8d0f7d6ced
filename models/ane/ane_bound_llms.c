/* Bounds of what calls of LLMs of all kinds cost (E16 to E19): ane_llms.c term by term. Everything grows with the counts of
 * ane_bound_calls.c, and with the rows of a call, which choose experts. */
#include "ane_bound.h"

#include <dse/units.h>

static struct dse_interval grown(double least, double most)
{
    return dse_widened(least, most, ANE_REORDERED);
}

/* ---- what all points of the box have: E17 --------------------------------------------------------------------------------- */

static int64_t rows_of(double computed)
{
    const double most = 1e9;
    return (int64_t)dse_clamp(computed, 1, most);
}

static void expand(const struct ane_params *p, double computed, struct dse_oplist *ret)
{
    struct dse_workload w = p->workload;
    w.phase = DSE_DECODE;
    w.batch = rows_of(computed);
    w.context = 1;
    dse_workload_expand(&w, ret);
}

/* N_g = min(N, ceil((w - 1) / Q) Q + Q), and what of it is cached. */
static struct ane_group_bound group_of(const struct ane_box *b, const struct ane_shape_bound *s, const struct dse_attention *least,
                                       const struct dse_attention *most)
{
    const bool limited = least->mixer == DSE_WINDOW || least->mixer == DSE_CHUNK;
    struct ane_group_bound g = {.of = least,
                                .shape = *s,
                                .is_limited = limited && b->lo->cache != ANE_NONE,
                                .reach = limited ? (double)b->lo->workload.llm->attention_window : (double)INFINITY,
                                .key_bytes = dse_iv_growing(least->key_bytes, most->key_bytes),
                                .value_bytes = dse_iv_growing(least->value_bytes, most->value_bytes)};
    g.shape.layers = (double)least->layers;
    g.shape.matrices = least->values_in_keys ? g.shape.layers : 2 * g.shape.layers;
    if (least->values_in_keys) g.value_bytes = dse_iv_of(0);
    if (!g.is_limited) return g;
    const struct dse_interval before = dse_iv_of(g.reach - 1), past = ane_ceil_to(before, s->rows);
    g.shape.window = dse_iv_min(s->window, dse_iv_add(past, s->rows));
    g.shape.cached = dse_iv_min(s->cached, past);
    g.shape.chunks = dse_iv_min(s->chunks, dse_iv_add(dse_iv_ceil_div(before, s->rows), dse_iv_of(1)));
    return g;
}

void ane_llms_bound_init(struct ane_llms_bound *ret, const struct ane_box *b, const struct ane_shape_bound *s)
{
    expand(b->lo, s->computed.lo, &ret->least);
    expand(b->hi, s->computed.hi, &ret->most);
    ret->rows = dse_iv((double)rows_of(s->computed.lo), (double)rows_of(s->computed.hi));
    ret->n_groups = ret->least.n_attentions;
    for (int i = 0; i < ret->n_groups; i++) {
        ret->group[i] = group_of(b, s, &ret->least.attention[i], &ret->most.attention[i]);
        ret->group[i].pair_ops = 0;
    }
    for (int i = 0; i < ret->least.n; i++) {
        const struct dse_op *o = &ret->least.op[i];
        if (o->attention >= 0)
            ret->group[o->attention].pair_ops += o->ops / ret->rows.lo / ret->least.attention[o->attention].pairs;
    }
}

/* ---- operators: E16 to E19 ------------------------------------------------------------------------------------------------ */

/* A pair of operators, of the box's ends. */
struct pair {
    const struct dse_op *least, *most;
    struct dse_interval rows; /* that they were expanded with */
};

static struct dse_interval a_row(const struct pair *o)
{
    return grown(o->least->ops / o->rows.lo, o->least->ops / o->rows.lo);
}

static void add_weights(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n,
                        struct dse_interval weight_bytes, struct dse_interval kv, struct dse_interval ops,
                        struct dse_interval filled_ops)
{
    struct ane_params fast = *b->lo, slow = *b->hi;
    fast.narrow_gain = b->hi->narrow_gain;
    slow.narrow_gain = b->lo->narrow_gain;
    const struct dse_interval loaded = grown(weight_bytes.lo * ane_expanding(&fast), weight_bytes.hi * ane_expanding(&slow));
    const struct dse_interval weights = dse_iv_mul(n->calls, weight_bytes);
    ane_add_operator(sum, b, dse_iv_add(weights, kv), dse_iv_add(dse_iv_mul(n->calls, loaded), kv), ops, filled_ops, false);
    sum->weight_bytes = dse_iv_add(sum->weight_bytes, weights);
    sum->kv_bytes = dse_iv_add(sum->kv_bytes, kv);
}

static void add_attending(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n,
                          const struct pair *o, const struct ane_group_bound *g)
{
    const bool keys = o->least->kind == DSE_OP_SCORES, values = o->least->kind == DSE_OP_VALUES;
    const double elements = keys                               ? (double)(g->of->kv_heads * g->of->key_dim)
                            : values && !g->of->values_in_keys ? (double)(g->of->kv_heads * g->of->value_dim)
                                                               : 0;
    const struct dse_interval row = keys ? g->key_bytes : values ? g->value_bytes : dse_iv_of(0);
    const struct dse_interval window = g->is_limited ? dse_iv_mul(n->calls, g->shape.window) : n->window,
                              pairs = g->is_limited ? dse_iv_mul(n->computed, g->shape.window) : n->pairs;
    const struct dse_interval kv = dse_iv_mul(dse_iv_scale(row, g->shape.layers), window);
    const double each = o->least->ops / o->rows.lo / g->of->pairs;
    const struct dse_interval made =
        dse_iv_scale(dse_iv(ane_widening_of(b->lo), ane_widening_of(b->hi)), g->shape.layers * elements);
    const struct dse_interval ops = dse_iv_add(dse_iv_mul(pairs, grown(each, each)), dse_iv_mul(window, made));
    ane_add_operator(sum, b, kv, kv, ops, ops, true);
    sum->kv_bytes = dse_iv_add(sum->kv_bytes, kv);
}

/* E18. */
static void add_expert(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n, const struct pair *o)
{
    const struct dse_op *least = o->least, *most = o->most;
    const bool all = b->lo->expert_dispatch == ANE_ALL_EXPERTS;
    const struct dse_interval weights =
        all ? grown(least->held_bytes, most->held_bytes) : grown(least->weight_bytes, most->weight_bytes);
    const double held = least->copies * (least->held_bytes / least->weight_bytes);
    const struct dse_interval experts = all ? grown(held, held) : grown(least->copies, most->copies);
    const struct dse_interval macs = dse_iv_scale(experts, (double)least->repeat * (double)least->k * (double)least->n);
    const struct dse_interval each = dse_iv_scale(macs, DSE_OPS_PER_MAC);
    add_weights(sum, b, n, weights, dse_iv_of(0), dse_iv_mul(n->computed, each),
                dse_iv_mul(ane_filled_rows_bound(b, n->computed, n->calls, true), each));
    sum->row_ops = dse_iv_add(sum->row_ops, a_row(o));
    if (b->lo->expert_dispatch != ANE_EXPERT_PROGRAMS || !ane_is_expert_up(least)) return;
    const struct dse_interval once = dse_iv_scale(ANE_OF(b, dispatch_us), (double)least->repeat / DSE_US_PER_S);
    const struct dse_interval time_s = dse_iv_mul(n->calls, dse_iv_mul(experts, once));
    sum->time_s = dse_iv_add(sum->time_s, dse_widened(time_s.lo, time_s.hi, ANE_REORDERED));
}

static void add_other(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n, const struct pair *o)
{
    const struct dse_op *least = o->least, *most = o->most;
    const bool head = ane_is_head(least), state = least->kind == DSE_OP_RECURRENCE;
    const struct dse_interval each = a_row(o), times = head && b->lo->head_rows == ANE_LAST_ROW ? n->calls : n->computed;
    struct dse_interval moved = grown(least->kv_write_bytes / o->rows.lo, most->kv_write_bytes / o->rows.hi);
    if (state) moved = b->lo->cache == ANE_NONE ? dse_iv_of(0) : dse_iv_scale(moved, 2);
    const struct dse_interval kv = dse_iv_mul(state ? n->calls : n->rows, moved);
    const bool linear = least->kind == DSE_OP_LINEAR;
    const struct dse_interval filled = linear ? ane_filled_rows_bound(b, times, n->calls, !ane_is_projecting(least)) : times;
    add_weights(sum, b, n, dse_iv_growing(least->weight_bytes, most->weight_bytes), kv, dse_iv_mul(times, each),
                dse_iv_mul(filled, each));
    struct dse_interval *const useful = head ? &sum->head_ops : &sum->row_ops;
    *useful = dse_iv_add(*useful, each);
}

static void add_operators(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n)
{
    const struct ane_llms_bound *l = b->llms;
    for (int i = 0; i < l->least.n; i++) {
        const struct pair o = {&l->least.op[i], &l->most.op[i], l->rows};
        if (o.least->attention >= 0)
            add_attending(sum, b, n, &o, &l->group[o.least->attention]);
        else if (ane_is_expert(o.least))
            add_expert(sum, b, n, &o);
        else
            add_other(sum, b, n, &o);
    }
}

/* ---- memory operations: E3, E5 -------------------------------------------------------------------------------------------- */

static void add_joining(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n,
                        const struct ane_group_bound *g)
{
    const double layers = g->shape.layers;
    const struct ane_memory_ops_bound k = ane_memory_ops_bound_of(b, &g->shape);
    const struct dse_interval both = dse_iv_scale(dse_iv_add(g->key_bytes, g->value_bytes), 2 * layers);
    const bool whole = b->lo->cache == ANE_LATE_TRANSPOSE || b->lo->cache == ANE_NONE;
    const struct dse_interval window = g->is_limited ? dse_iv_mul(n->calls, g->shape.window) : n->window;
    const double tensor = layers * (double)(g->of->heads * g->of->value_dim) * ANE_ACTIVATION_BYTES;
    const struct dse_interval moved = dse_iv_mul(n->calls, dse_iv_mul(both, dse_iv_add(k.joined, k.copied))),
                              added = dse_iv_scale(dse_iv_mul(n->computed, k.added), tensor);
    sum->concat_bytes = dse_iv_add(sum->concat_bytes, dse_iv_add(moved, added));
    const struct dse_interval keys = dse_iv_scale(g->key_bytes, 2 * layers);
    sum->transpose_bytes = dse_iv_add(sum->transpose_bytes, dse_iv_mul(whole ? window : n->rows, keys));
}

void ane_llms_sum_bound(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n)
{
    const struct ane_llms_bound *l = b->llms;
    add_operators(sum, b, n);
    for (int i = 0; i < l->n_groups; i++) add_joining(sum, b, n, &l->group[i]);
}

struct dse_interval ane_llms_slid_bound(const struct ane_box *b)
{
    struct dse_interval bytes = dse_iv_of(0);
    for (int i = 0; i < b->llms->n_groups; i++) {
        const struct ane_group_bound *g = &b->llms->group[i];
        const struct dse_interval row = dse_iv_scale(dse_iv_add(g->key_bytes, g->value_bytes), 2 * g->shape.layers);
        bytes = dse_iv_add(bytes, dse_iv_mul(g->shape.cached, row));
    }
    return dse_widened(bytes.lo, bytes.hi, ANE_REORDERED);
}

/* ---- sums ----------------------------------------------------------------------------------------------------------------- */

/* Operations of the pairs of a token, mean over the positions first .. last. In a chunk a token sees one position at least. */
struct dse_interval ane_llms_seen_bound(const struct ane_box *b, struct dse_interval first, struct dse_interval last,
                                        struct dse_interval window)
{
    struct dse_interval ops = dse_iv_of(0);
    for (int i = 0; i < b->llms->n_groups; i++) {
        const struct ane_group_bound *g = &b->llms->group[i];
        const double least = ane_mean_seen(first.lo, last.lo, dse_min(g->reach, window.lo));
        const struct dse_interval seen =
            grown(g->of->mixer == DSE_CHUNK ? 1 : least, ane_mean_seen(first.hi, last.hi, dse_min(g->reach, window.hi)));
        ops = dse_iv_add(ops, dse_iv_mul(seen, grown(g->pair_ops, g->pair_ops)));
    }
    return ops;
}

/* E10. */
struct dse_interval ane_llms_footprint_bound(const struct ane_box *b)
{
    const struct ane_llms_bound *l = b->llms;
    const struct dse_llm *llm = b->lo->workload.llm;
    const bool none = b->lo->cache == ANE_NONE, copy = b->lo->cache != ANE_CHUNKS && b->lo->cache != ANE_LAZY_SOFTMAX;
    const struct dse_interval batch = ANE_OF(b, workload.batch),
                              width = dse_iv_add(ANE_OF(b, workload.weight_bits), ANE_OF(b, workload.weight_scale_bits));
    struct dse_interval bytes = dse_iv_of(0), at_work = dse_iv_of(0);
    if (llm->embedding_tables > 1) bytes = dse_iv_scale(width, dse_llm_head_weights(llm) / DSE_BITS_PER_BYTE);
    for (int i = 0; i < l->least.n; i++) {
        const struct dse_op *o = &l->least.op[i], *w = &l->most.op[i];
        bytes = dse_iv_add(bytes, grown(o->held_bytes, w->held_bytes));
        const struct dse_interval state = grown(o->kv_write_bytes / l->rows.lo, w->kv_write_bytes / l->rows.hi);
        if (o->kind == DSE_OP_RECURRENCE && !none) bytes = dse_iv_add(bytes, dse_iv_mul(dse_iv_add(batch, dse_iv_of(1)), state));
    }
    for (int i = 0; i < l->n_groups; i++) {
        const struct ane_group_bound *g = &l->group[i];
        const struct dse_interval row = dse_iv_add(g->key_bytes, g->value_bytes);
        struct dse_interval rows = dse_iv_mul(batch, g->shape.window);
        if (copy) rows = dse_iv_add(rows, g->shape.cached);
        at_work = dse_iv_max(at_work, dse_iv_mul(g->shape.window, row));
        if (!none) bytes = dse_iv_add(bytes, dse_iv_mul(rows, dse_iv_scale(row, g->shape.layers)));
    }
    bytes = none ? dse_iv_add(bytes, at_work) : bytes;
    return dse_widened(bytes.lo, bytes.hi, ANE_REORDERED);
}
