/* The bound of a step: operators of E20 and E22, of one sequence and of the batch. */
#include "lad_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <string.h>

/* ---- operators ----------------------------------------------------------------------------------------------------------- */

/* Lanes that `elements` take in whole passes: W ceil(k / W) is k at least, and less than k + W. */
static struct dse_interval lanes_bound(const struct lad_box *b, struct dse_interval elements, struct dse_interval passes)
{
    const struct dse_interval lanes = dse_iv_mul(b->width, passes);
    if (dse_iv_is_point(b->width)) return lanes;
    return dse_iv(dse_max(lanes.lo, elements.lo), dse_min(lanes.hi, elements.hi + b->width.hi - 1));
}

void lad_rows_bound(const struct lad_box *b, struct dse_interval rows, struct dse_interval elements, struct lad_op_bound *ret)
{
    ret->rows = rows;
    ret->passes = dse_iv_ceil_div(elements, b->width);
    ret->lanes = lanes_bound(b, elements, ret->passes);
    ret->compute_s = dse_iv_mul(dse_iv_mul(rows, ret->passes), b->pass_s);
}

/* E22: how often blocked attention reads K and V. */
static struct dse_interval reads_bound(const struct lad_box *b)
{
    const double bits_lo = (double)b->lo.cache_bits / DSE_BITS_PER_BYTE, bits_hi = (double)b->hi.cache_bits / DSE_BITS_PER_BYTE;
    const struct dse_interval queries = dse_iv(2 * b->n.lo * b->d * bits_lo, 2 * b->n.hi * b->d * bits_hi);
    const struct dse_interval blocks = dse_iv_max(dse_iv_of(1), dse_iv_ceil_div(queries, b->sram_bytes));
    return dse_iv((1 + blocks.lo) / 2, (1 + blocks.hi) / 2);
}

/* Bytes of activations of a sequence that go through the DRAM: all, or none where they fit the SRAM of all tiles. */
static struct dse_interval spilled_bound(const struct lad_box *b, const struct dse_op *lo, const struct dse_op *hi)
{
    const double bytes_lo = (double)b->lo.cache_bits / DSE_BITS_PER_BYTE, bytes_hi = (double)b->hi.cache_bits / DSE_BITS_PER_BYTE;
    const struct dse_interval activations =
        dse_iv((double)lo->m * (double)(lo->k + lo->n) * bytes_lo, (double)hi->m * (double)(hi->k + hi->n) * bytes_hi);
    const struct dse_interval needed = dse_iv_mul(activations, b->batch), there = dse_iv_mul(b->sram_bytes, b->tiles);
    if (!b->prefill || needed.hi <= there.lo) return dse_iv_of(0);
    const struct dse_interval all = dse_iv_scale(activations, (double)lo->repeat);
    return needed.lo > there.hi ? all : dse_iv(0, all.hi);
}

/* Everything of an operator grows with context, batch and widths of numbers: lo and hi are those of one sequence. */
static void op_init(const struct lad_box *b, const struct dse_op *lo, const struct dse_op *hi, struct lad_op_bound *ret)
{
    const struct dse_interval d = dse_iv_of(b->d);
    *ret = (struct lad_op_bound){.is_linear = lo->kind == DSE_OP_LINEAR,
                                 .is_attention = lo->kind == DSE_OP_SCORES || lo->kind == DSE_OP_VALUES,
                                 .is_elementwise = lo->kind == DSE_OP_ELEMENTWISE,
                                 .weight_bytes = dse_iv(lo->weight_bytes, hi->weight_bytes),
                                 .bytes = dse_iv(lo->kv_write_bytes, hi->kv_write_bytes),
                                 .ops = dse_iv(lo->ops, hi->ops)};
    if (ret->is_linear) {
        const double each = (double)lo->repeat * (double)lo->n;
        lad_rows_bound(b, dse_iv(each * (double)lo->m, each * (double)hi->m), dse_iv_of((double)lo->k), ret);
        ret->bytes = dse_iv_add(ret->bytes, spilled_bound(b, lo, hi));
    } else if (ret->is_attention) {
        const struct dse_interval reads = b->prefill ? reads_bound(b) : dse_iv_of(1);
        lad_rows_bound(b, dse_iv_scale(ret->ops, 1 / (DSE_OPS_PER_MAC * b->d)), d, ret);
        ret->bytes = dse_iv_add(ret->bytes, dse_iv_mul(dse_iv(lo->kv_read_bytes, hi->kv_read_bytes), reads));
    } else if (b->lo.elementwise == LAD_EXPOSED) {
        ret->compute_s = dse_iv_div(ret->ops, dse_iv_mul(dse_iv_mul(b->tiles, b->width), b->clock_hz));
    }
}

/* E20: the longer of computing and moving, of a sequence with its share of the weights, and of the batch with all of them. */
static void time_op(const struct lad_box *b, struct lad_op_bound *o)
{
    const struct dse_interval of_batch = dse_iv_add(o->weight_bytes, dse_iv_mul(b->batch, o->bytes));
    o->bytes = dse_iv_add(dse_iv_mul(o->weight_bytes, b->each), o->bytes);
    o->dram_s = dse_iv_mul(o->bytes, b->stream_s);
    o->time_s = dse_iv_max(o->compute_s, o->dram_s);
    o->step_dram_s = dse_iv_mul(of_batch, b->stream_s);
    o->step_s = dse_iv_max(dse_iv_mul(b->batch, o->compute_s), o->step_dram_s);
}

/* Do both ends have the same operators of one sequence? */
static bool same_ops(const struct dse_workload *a, const struct dse_workload *b)
{
    return a->context == b->context && a->weight_bits == b->weight_bits && dse_kv_same(a, b);
}

static void init_ops(const struct lad_box *b, struct lad_step_bound *s)
{
    struct dse_workload lo = b->lo.workload, hi = b->hi.workload;
    struct dse_oplist least, most;
    const void *cache_lo = &b->lo.cache, *cache_hi = &b->hi.cache; /* copies of one are the same byte by byte */
    const bool same = same_ops(&lo, &hi) && memcmp(cache_lo, cache_hi, sizeof b->lo.cache) == 0;
    lo.batch = hi.batch = 1;
    dse_cache_expand(&b->at_lo.cache, &lo, &least);
    if (!same) dse_cache_expand(&b->at_hi.cache, &hi, &most);
    s->n_ops = 0;
    for (int i = 0; i < least.n; i++) {
        if (least.op[i].in_attention && b->locality_aware) continue;
        struct lad_op_bound *o = &s->op[s->n_ops++];
        op_init(b, &least.op[i], same ? &least.op[i] : &most.op[i], o);
        time_op(b, o);
    }
}

/* ---- a step -------------------------------------------------------------------------------------------------------------- */

static void add(struct dse_interval *sum, struct dse_interval x)
{
    *sum = dse_iv_add(*sum, x);
}

static void sum_op(struct lad_step_bound *s, const struct lad_op_bound *o)
{
    add(&s->weight_bytes, o->weight_bytes);
    add(&s->bytes, o->bytes);
    add(o->is_elementwise ? &s->sfm_ops : &s->vpu_ops, o->ops);
    add(&s->time_s, o->time_s);
    add(&s->step_s, o->step_s);
    if (o->is_linear) add(&s->linear_s, o->step_s);
    if (!o->is_attention) return;
    struct lad_attention_bound *a = &s->attention; /* E9 */
    add(&a->time_s, o->time_s);
    add(&a->step_s, o->step_s);
    add(&a->active_bytes, o->bytes);
    add(&a->period_bytes, o->bytes);
    add(&a->macs, dse_iv_scale(o->ops, 1 / DSE_OPS_PER_MAC));
}

/* What is fetched ahead is moved while linear layers compute (E14). So a sequence takes at least the time that the DRAM takes for
 * all of their bytes, and that of its attention were nothing fetched ahead, whatever of it is. */
static void without_prefetch(const struct lad_box *b, struct lad_step_bound *s)
{
    double least = s->attention.apart_s, of_step = b->batch.lo * s->attention.apart_s;
    for (int i = 0; i < s->n_ops; i++) {
        const bool used = b->lo.prefetch == LAD_PREFETCH_IDEAL ? s->op[i].is_linear : i == 0;
        least += used ? s->op[i].dram_s.lo : s->op[i].time_s.lo;
        of_step += used ? s->op[i].step_dram_s.lo : s->op[i].step_s.lo;
    }
    s->time_s = dse_iv_both(s->time_s, dse_iv(dse_below(least, DSE_OPS_MAX), (double)INFINITY));
    s->step_s = dse_iv_both(s->step_s, dse_iv(dse_below(of_step, DSE_OPS_MAX), (double)INFINITY));
}

void lad_step_bound(const struct lad_box *box, struct lad_step_bound *ret)
{
    struct lad_step_bound *s = ret;
    const struct dse_interval none = dse_iv_of(0);
    s->time_s = s->step_s = s->linear_s = s->bytes = s->vpu_ops = s->sfm_ops = s->weight_bytes = none;
    s->attention = (struct lad_attention_bound){.apart_s = 0};
    init_ops(box, s);
    for (int i = 0; i < s->n_ops; i++) sum_op(s, &s->op[i]);
    if (!box->locality_aware) return;
    const struct lad_attention_bound *a = &s->attention;
    lad_attention_bound(box, s->op, s->n_ops, &s->attention);
    add(&s->bytes, a->bytes);
    add(&s->vpu_ops, dse_iv_scale(a->macs, DSE_OPS_PER_MAC));
    add(&s->time_s, a->time_s);
    add(&s->step_s, a->step_s);
    without_prefetch(box, s);
}
