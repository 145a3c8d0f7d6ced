/* Bounds of steps of any LLM, on any number of chips (E43 to E46), over a part of a box. A chip's pass is what a sequence is
 * elsewhere: its operators at their least and their most (dse/workload_box.h), LAD's attention of each length as that of a simple
 * point of so many heads, layers and sequences (lad_bound_attention.c). Of all chips, and by the token, it is multiplied and
 * divided at the end. */
#include "lad_bound_llms.h"
#include "lad_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

enum { ROUNDING = 16 }; /* units: of products that lists round otherwise */

static struct dse_interval wide(double lo, double hi)
{
    return dse_widened(dse_min(lo, hi), dse_max(lo, hi), ROUNDING);
}

static void add(struct dse_interval *sum, struct dse_interval x)
{
    *sum = dse_iv_add(*sum, x);
}

static struct dse_interval activation_bytes(const struct lad_ends *e)
{
    return dse_iv((double)e->lo->cache_bits / DSE_BITS_PER_BYTE, (double)e->hi->cache_bits / DSE_BITS_PER_BYTE);
}

/* E42. */
static struct dse_interval widening(const struct lad_ends *e)
{
    return dse_iv(dse_cache_widening(&e->part->lo), dse_cache_widening(&e->part->hi));
}

static bool is_aware(const struct lad_ends *e)
{
    return lad_works(e->lo);
}

static bool is_local(const struct lad_ends *e, int i)
{
    const struct dse_attention *a = &e->least.attention[i];
    return is_aware(e) && a->mixer == DSE_FULL && !a->is_draft && a->queries == 1;
}

/* LAD's decoding works on some points of it, and not on others. */
static bool is_mixed(const struct lad_ends *e)
{
    for (int i = 0; i < e->least.n_attentions; i++)
        if (is_local(e, i) && e->most.attention[i].queries > 1) return true;
    return false;
}

/* ---- the machine ----------------------------------------------------------------------------------------------------------- */

/* A simple point of an LLM with so many layers and heads that have full attention. */
static void simple_llm(const struct dse_llm *of, const struct dse_attention *a, struct dse_llm *ret)
{
    *ret = *of;
    ret->max_context = INT32_MAX; /* longer sequences of unequal ones may be longer than the LLM was made for */
    ret->n_kinds = 1;
    ret->layers = a ? a->layers : 1;
    ret->heads = a ? a->heads : 1;
    ret->kv_heads = a ? a->kv_heads : 1;
    ret->head_dim = a ? a->key_dim : of->head_dim;
    ret->value_dim = 0;
    ret->cache = (struct dse_layer_cache){0};
    ret->inputs = (struct dse_llm_layer_inputs){0};
    ret->residual = (struct dse_llm_residual){0};
    memset(ret->idle, 0, sizeof ret->idle);
    ret->details.output_gate = false;
    ret->layer_kinds.n = 0;
    ret->kinds[0] = (struct dse_layer_kind){
        .attention = DSE_FULL, .beside = DSE_NO_MIXER, .feed_forward = DSE_FFN_DENSE, .shape = ret->shape, .layers = ret->layers};
}

static void simple_point(struct lad_params *p, const struct dse_llm *llm, int64_t context, int64_t batch)
{
    struct dse_workload *w = &p->workload;
    w->llm = llm;
    w->context = context;
    w->batch = batch;
    w->tensor_parallel = w->pipeline_parallel = w->data_parallel = w->expert_parallel = 1;
    w->speculation.draft_tokens = w->chunk_tokens = 0;
    w->context_spread = w->weight_scale_bits = 0;
    w->format = NULL;
    p->batch_policy = LAD_BATCH_FIXED;
    p->dram.capacity_gib = (double)INFINITY; /* what fits is asked of the whole LLM */
}

static int64_t read_at(const struct dse_cache_step *c)
{
    return c->prefill ? -1 : (int64_t)c->read;
}

/* What fits, at the least: E17. */
static bool may_fit(const struct lad_ends *e)
{
    struct dse_workload held = e->part->least;
    if (e->lo->batch_policy != LAD_BATCH_FIXED) held.batch = 1;
    held.context = (int64_t)e->cache_lo.held;
    return held.context < 1 || dse_workload_footprint(&held) * (1 - 1e-9) <= e->hi->dram.capacity_gib * DSE_GIB;
}

/* False: no point is accepted. */
static bool set_machine(struct lad_ends *e, struct dse_llm *llm)
{
    struct lad_params lo = *e->lo, hi = *e->hi;
    if (e->part->lo.context > e->lo->workload.llm->max_context) return false;
    if (lo.decoding == LAD_LOCALITY_AWARE && !dse_eviction_at(lo.cache.eviction)->keeps_all) return false;
    simple_llm(e->lo->workload.llm, NULL, llm);
    simple_point(&lo, llm, e->part->lo.context, 1);
    simple_point(&hi, llm, e->part->hi.context, 1);
    lo.decoding = hi.decoding = LAD_FULL_CACHE;
    if (!lad_box_init(&e->box, &lo, &hi)) return false;
    struct dse_workload of_lo = e->part->lo, of_hi = e->part->hi;
    of_lo.context = e->box.lo.workload.context;
    of_hi.context = e->box.hi.workload.context;
    dse_cache_step_at(&e->box.lo.cache, &of_lo, &e->cache_lo);
    dse_cache_step_at(&e->box.hi.cache, &of_hi, &e->cache_hi);
    e->box.locality_aware = is_aware(e);
    e->box.head_samples = 1; /* lanes of stages are of all of them */
    return may_fit(e);
}

/* A policy may take any batch up to the one asked for. */
static void set_lists(struct lad_ends *e)
{
    struct dse_workload_part part = *e->part;
    if (e->lo->batch_policy != LAD_BATCH_FIXED) part.lo.batch = part.least.batch = 1;
    dse_workload_part_expand(&part, read_at(&e->cache_lo), read_at(&e->cache_hi), &e->least, &e->most);
    e->tokens = dse_workload_part_tokens(&part);
    e->sequences = dse_iv_i64(dse_workload_sequences(&part.least), dse_workload_sequences(&part.most));
    const int64_t few = dse_workload_passes(&part.least), many = dse_workload_passes(&part.most);
    e->passes = dse_iv_i64(dse_min_i64(few, many), dse_max_i64(few, many));
    e->stages = dse_iv_of((double)dse_degree(part.lo.pipeline_parallel));
    e->chips = dse_iv_i64(dse_workload_chips(&part.lo), dse_workload_chips(&part.hi));
}

/* ---- operators: E44 -------------------------------------------------------------------------------------------------------- */

/* E22. b s is b (m - 1/2) + q/2, which grows with the blocks b, the mean m of what a query sees, and the queries q. */
static struct dse_interval reads_bound(const struct lad_ends *e, const struct dse_attention *lo, const struct dse_attention *hi)
{
    const struct dse_interval queries = dse_iv_i64(lo->queries, hi->queries), positions = dse_iv_i64(lo->positions, hi->positions);
    const struct dse_interval rows = dse_iv_scale(queries, (double)(lo->key_dim + lo->value_dim));
    const struct dse_interval one = dse_iv_of(1), half = dse_iv_of(0.5);
    const struct dse_interval blocks = dse_iv_max(one, dse_iv_ceil_div(dse_iv_mul(rows, activation_bytes(e)), e->box.sram_bytes));
    if (blocks.hi <= 1) return one;
    const struct dse_interval mean = dse_iv_div(dse_iv(lo->pairs, hi->pairs), queries);
    const struct dse_interval seen =
        dse_iv_add(dse_iv_mul(blocks, dse_iv_positive(dse_iv_sub(mean, half))), dse_iv_scale(queries, 0.5));
    const struct dse_interval reads = dse_iv_max(one, dse_iv_div(seen, positions));
    return dse_iv(blocks.lo <= 1 ? 1 : reads.lo, reads.hi);
}

/* E38, E42. */
static void add_technique(const struct lad_ends *e, const struct dse_attention *lo, const struct dse_attention *hi,
                          const struct dse_op *op, struct lad_op_bound *o)
{
    const struct dse_cache_step *least = &e->cache_lo, *most = &e->cache_hi;
    const double kv = (double)lo->kv_heads / (double)e->lo->workload.llm->kv_heads, keys = (double)lo->key_dim;
    const struct dse_interval sequences = dse_iv_i64(lo->sequences, hi->sequences),
                              share = dse_iv_scale(sequences, (double)lo->layers * kv);
    const struct dse_interval instances = dse_iv_scale(sequences, (double)(lo->layers * lo->heads));
    const struct dse_interval pages = least->prefill ? dse_iv_of(0) : wide(least->page_bytes, most->page_bytes);
    const double rest_lo = dse_cache_moved(least) - (least->prefill ? 0 : least->page_bytes),
                 rest_hi = dse_cache_moved(most) - (most->prefill ? 0 : most->page_bytes);
    if (op->kind == DSE_OP_ELEMENTWISE) {
        add(&o->ops, dse_iv_scale(dse_iv_mul(instances, wide(least->pairs, most->pairs)), least->policy->drained ? 2 : 1));
        return;
    }
    if (op->kind == DSE_OP_SCORES && !least->prefill) {
        const struct dse_interval made = dse_iv_mul(dse_iv_scale(share, (double)e->lo->workload.llm->kv_heads), widening(e));
        add(&o->ops, dse_iv_mul(dse_iv_scale(wide(least->pages, most->pages), 2 * keys),
                                dse_iv_add(dse_iv_scale(instances, DSE_OPS_PER_MAC), made)));
    }
    add(&o->bytes, dse_iv_mul(share, op->kind == DSE_OP_SCORES ? pages : dse_iv_positive(wide(rest_lo, rest_hi))));
}

static void attention_op(const struct lad_ends *e, int i, struct lad_op_bound *o)
{
    const struct dse_op *op = &e->least.op[i];
    const struct dse_attention *lo = &e->least.attention[op->attention], *hi = &e->most.attention[op->attention];
    const bool keys = op->kind == DSE_OP_SCORES, moves = op->kind != DSE_OP_ELEMENTWISE;
    const double dim = (double)(keys ? lo->key_dim : lo->value_dim);
    if (moves) {
        const struct dse_interval elements = wide((double)(lo->layers * lo->sequences * lo->positions * lo->kv_heads) * dim,
                                                  (double)(hi->layers * hi->sequences * hi->positions * hi->kv_heads) * dim);
        const struct dse_interval read =
            lo->is_made ? dse_iv_mul(elements, activation_bytes(e)) : wide(op->kv_read_bytes, e->most.op[i].kv_read_bytes);
        add(&o->bytes, dse_iv_mul(read, reads_bound(e, lo, hi)));
        if (!lo->is_made && !lo->is_index) add(&o->ops, dse_iv_mul(elements, widening(e)));
    }
    if (lo->mixer == DSE_FULL && !lo->is_draft) add_technique(e, lo, hi, op, o);
    if (moves) lad_rows_bound(&e->box, dse_iv_div(o->ops, dse_iv_of(DSE_OPS_PER_MAC * dim)), dse_iv_of(dim), o);
}

/* Activations of one layer that do not fit on the chip, of all. */
static struct dse_interval spilled_bound(const struct lad_ends *e, int i, struct dse_interval rows)
{
    const struct dse_op *lo = &e->least.op[i], *hi = &e->most.op[i];
    const struct dse_workload *w = &e->part->lo;
    if (w->phase != DSE_PREFILL && w->chunk_tokens == 0) return dse_iv_of(0);
    const struct dse_interval all = dse_iv_mul(dse_iv_scale(rows, (double)(lo->k + lo->n)), activation_bytes(e));
    const struct dse_interval needed = dse_iv_div(all, dse_iv_i64(lo->repeat, hi->repeat));
    const struct dse_interval there = dse_iv_mul(e->box.sram_bytes, e->box.tiles);
    if (needed.hi <= there.lo) return dse_iv_of(0);
    return needed.lo > there.hi ? all : dse_iv(0, all.hi);
}

static void linear_op(const struct lad_ends *e, int i, struct lad_op_bound *o)
{
    const struct dse_op *lo = &e->least.op[i], *hi = &e->most.op[i];
    const double k = (double)lo->k, n = (double)lo->n;
    const double made_whole =
        lo->copies == 1 && hi->copies == 1 ? 0 : 2e-9; /* rows of experts, where only rounding keeps them from it */
    const struct dse_interval all = wide(lo->ops * (1 - made_whole) / (DSE_OPS_PER_MAC * k),
                                         hi->ops * (1 + made_whole) / (DSE_OPS_PER_MAC * k)); /* times rows n */
    struct dse_interval rows = all;
    o->is_linear = true;
    add(&o->bytes, spilled_bound(e, i, dse_iv_scale(all, 1 / n)));
    if (hi->kv_read_bytes > 0) { /* keys and values that are made of latents */
        const struct dse_interval widened = dse_iv_mul(dse_iv_scale(all, k / n), widening(e));
        add(&o->bytes, dse_iv_add(wide(lo->kv_read_bytes, hi->kv_read_bytes), dse_iv_mul(all, activation_bytes(e))));
        add(&o->ops, widened);
        add(&rows, dse_iv_scale(widened, 1 / (DSE_OPS_PER_MAC * k)));
    }
    lad_rows_bound(&e->box, rows, dse_iv_of(k), o);
}

/* One lane an element of the state. */
static void recurrence_op(const struct lad_ends *e, int i, struct lad_op_bound *o)
{
    const struct dse_interval rows = dse_iv_div(dse_iv_scale(o->ops, 1 / (double)DSE_OPS_PER_MAC), e->box.width);
    add(&o->bytes, wide(e->least.op[i].kv_read_bytes, e->most.op[i].kv_read_bytes));
    o->rows = rows;
    o->passes = dse_iv_of(1);
    o->lanes = e->box.width;
    o->compute_s = dse_iv_mul(rows, e->box.pass_s);
}

/* E45. */
static void collective_op(struct lad_ends *e, int i)
{
    const struct dse_op *lo = &e->least.op[i], *hi = &e->most.op[i];
    const struct dse_interval times = dse_iv_i64(lo->repeat, hi->repeat);
    struct dse_exchange_bound cost;
    dse_exchange_bound(&e->lo->links, &e->hi->links, &lo->exchange, &hi->exchange, &cost);
    add(&e->communication_s, dse_iv_mul(times, cost.seconds));
    add(&e->link_joules, dse_iv_mul(times, cost.joules));
}

/* E20, of all that a chip's pass has. */
static void time_op(const struct lad_ends *e, struct lad_op_bound *o)
{
    add(&o->bytes, o->weight_bytes);
    o->dram_s = o->step_dram_s = dse_iv_mul(o->bytes, e->box.stream_s);
    o->time_s = o->step_s = dse_iv_max(o->compute_s, o->dram_s);
}

static void add_exact(struct lad_ends *e, const struct lad_op_bound *o)
{
    struct lad_attention_bound *a = &e->step.attention;
    add(&e->exact_s, o->time_s);
    add(&a->active_bytes, o->bytes);
    add(&a->period_bytes, o->bytes);
    add(&a->macs, dse_iv_scale(o->ops, 1 / (double)DSE_OPS_PER_MAC));
}

static void add_op(struct lad_ends *e, int i)
{
    const struct dse_op *lo = &e->least.op[i], *hi = &e->most.op[i];
    struct lad_step_bound *s = &e->step;
    if (lo->kind == DSE_OP_COLLECTIVE) {
        collective_op(e, i);
        return;
    }
    if (lo->in_attention && is_local(e, lo->attention)) return;
    struct lad_op_bound *o = &s->op[s->n_ops++];
    *o = (struct lad_op_bound){.is_attention = lo->kind == DSE_OP_SCORES || lo->kind == DSE_OP_VALUES,
                               .is_elementwise = lo->kind == DSE_OP_ELEMENTWISE,
                               .weight_bytes = wide(lo->weight_bytes, hi->weight_bytes),
                               .bytes = wide(lo->kv_write_bytes, hi->kv_write_bytes),
                               .ops = wide(lo->ops, hi->ops)};
    if (lo->in_attention) attention_op(e, i, o);
    if (lo->kind == DSE_OP_LINEAR) linear_op(e, i, o);
    if (lo->kind == DSE_OP_RECURRENCE) recurrence_op(e, i, o);
    if (o->is_elementwise && e->lo->elementwise == LAD_EXPOSED)
        o->compute_s = dse_iv_div(o->ops, dse_iv_mul(dse_iv_mul(e->box.tiles, e->box.width), e->box.clock_hz));
    time_op(e, o);
    add(&s->weight_bytes, o->weight_bytes);
    add(&s->bytes, o->bytes);
    add(o->is_elementwise ? &s->sfm_ops : &s->vpu_ops, o->ops);
    add(&s->time_s, o->time_s);
    if (o->is_linear) add(&s->linear_s, o->time_s);
    if (o->is_attention) add_exact(e, o);
}

/* ---- LAD's attention: E43 -------------------------------------------------------------------------------------------------- */

/* Its share of a pass's head-samples. */
static struct dse_interval share_of(const struct lad_ends *e, int at)
{
    struct dse_interval own = dse_iv_of(0), others = dse_iv_of(0);
    for (int i = 0; i < e->least.n_attentions; i++) {
        const struct dse_attention *lo = &e->least.attention[i], *hi = &e->most.attention[i];
        if (!is_local(e, i)) continue;
        add(i == at ? &own : &others, dse_iv_i64(lo->layers * lo->heads * lo->sequences, hi->layers * hi->heads * hi->sequences));
    }
    if (others.hi <= 0) return dse_iv_of(1);
    return dse_widened(own.lo / (own.lo + others.hi), own.hi / (own.hi + others.lo), 4);
}

/* The operators whose idle HBM time it may use, as those of one of its sequences. Returns how many. */
static int idle_ops(const struct lad_ends *e, int at, struct dse_interval a_sequence, struct lad_op_bound *ret)
{
    int n = 0, k = 0;
    for (int i = 0; i < e->least.n; i++) {
        const struct dse_op *op = &e->least.op[i];
        if (op->kind == DSE_OP_COLLECTIVE || (op->in_attention && is_local(e, op->attention))) continue;
        const struct lad_op_bound *o = &e->step.op[k++];
        if (op->kind != DSE_OP_LINEAR) continue;
        struct dse_interval share = a_sequence;
        if (e->lo->prefetch != LAD_PREFETCH_IDEAL) {
            if (i != e->least.attention[at].projection) continue;
            share = dse_iv_scale(share, (double)e->least.attention[at].layers / (double)op->repeat);
        }
        ret[n] = *o;
        ret[n].compute_s = dse_iv_mul(o->compute_s, share);
        ret[n++].bytes = dse_iv_mul(o->bytes, share);
    }
    return n;
}

/* E15: of rows of other lengths on their way through a tile. */
static double activations(const struct lad_params *p, double rows)
{
    return (double)p->resident_activations * rows * (double)p->workload.llm->hidden * (double)p->cache_bits / DSE_BITS_PER_BYTE;
}

static void add_local(struct lad_ends *e, const struct lad_box *b, const struct lad_attention_bound *of)
{
    struct lad_attention_bound *a = &e->step.attention;
    const struct dse_interval samples = dse_iv_scale(b->batch, b->head_samples);
    const struct {
        struct dse_interval *to;
        const struct dse_interval *from, *by;
    } sums[] = {{&a->eas_lanes, &of->eas_lanes, &samples},
                {&a->apid_lanes, &of->apid_lanes, &samples},
                {&a->md_lanes, &of->md_lanes, &samples},
                {&a->ac_lanes, &of->ac_lanes, &samples},
                {&a->macs, &of->macs, &b->batch},
                {&a->bytes, &of->bytes, &b->batch},
                {&a->period_bytes, &of->period_bytes, &b->batch},
                {&a->prefetch_bytes, &of->prefetch_bytes, &b->batch},
                {&a->centers_bytes, &of->centers_bytes, &b->batch},
                {&a->active_bytes, &of->active_bytes, &b->batch},
                {&a->others_bytes, &of->others_bytes, &b->batch},
                {&e->step.bytes, &of->bytes, &b->batch}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) add(sums[i].to, dse_iv_mul(*sums[i].from, *sums[i].by));
    add(&e->step.vpu_ops, dse_iv_scale(dse_iv_mul(of->macs, b->batch), DSE_OPS_PER_MAC));
    add(&e->local_s, of->step_s);
    add(&e->step.time_s, of->step_s);
}

/* False: no point is accepted. */
static bool bound_local(struct lad_ends *e, int i)
{
    const struct dse_attention *lo = &e->least.attention[i], *hi = &e->most.attention[i];
    struct lad_params from = *e->lo, to = *e->hi;
    struct lad_op_bound ops[DSE_OPS_MAX];
    struct lad_attention_bound of;
    struct lad_box box;
    struct dse_llm llm;
    simple_llm(e->lo->workload.llm, lo, &llm);
    simple_point(&from, &llm, dse_min_i64(lo->context, hi->context), lo->sequences);
    simple_point(&to, &llm, dse_max_i64(lo->context, hi->context), hi->sequences);
    const double most = dse_max(0, e->sequences.hi - (double)lo->sequences),
                 least = dse_max(0, e->sequences.lo - (double)hi->sequences);
    from.sram_mib -= activations(e->hi, most) / DSE_MIB;
    to.sram_mib -= activations(e->lo, least) / DSE_MIB;
    if (to.sram_mib <= 0) return false;
    from.sram_mib = dse_max(from.sram_mib, 1 / DSE_MIB);
    if (!lad_box_init(&box, &from, &to)) return false;
    const int n = idle_ops(e, i, dse_iv_div(share_of(e, i), box.batch), ops);
    lad_attention_bound(&box, ops, n, &of);
    add_local(e, &box, &of);
    return true;
}

bool lad_llms_bound(const struct lad_params *lo, const struct lad_params *hi, const struct dse_workload_part *part,
                    struct lad_metrics *floor, struct lad_metrics *ceiling)
{
    const struct dse_interval none = dse_iv_of(0);
    struct lad_ends e = {
        .lo = lo, .hi = hi, .part = part, .local_s = none, .exact_s = none, .communication_s = none, .link_joules = none};
    struct lad_chip_bound chip;
    struct dse_llm llm;
    dse_bound_nothing(dse_model_lad.metrics, floor, ceiling);
    if (lo->batch_policy != LAD_BATCH_FIXED && part->hi.context_spread > 0) return true; /* of batches of one there is one length */
    if (!set_machine(&e, &llm) || !lad_chip_bound(lo, hi, &chip)) return false;
    set_lists(&e);
    if (is_mixed(&e)) return true;
    for (int i = 0; i < e.least.n; i++) add_op(&e, i);
    for (int i = 0; i < e.least.n_attentions; i++)
        if (is_local(&e, i) && !bound_local(&e, i)) return false;
    lad_llms_bound_metrics(&e, &chip, floor, ceiling);
    return true;
}
