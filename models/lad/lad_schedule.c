/* A step: linear layers and everything else that is not LAD's attention, the time left for pre-fetching, the batch (E17, E18,
 * E20-E22). */
#include "lad_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* ---- operators ------------------------------------------------------------------------------------------------------------ */

double lad_vpu_seconds(const struct lad_point *pt, double rows, double elements)
{
    return rows * dse_ceil(elements / (double)pt->p->vpu_width) * pt->pass_s;
}

/* How often blocked attention reads K and V: the queries and outputs of a head go through one tile's SRAM in blocks, and a block
 * reads the positions up to its end (E22). */
static double kv_reads(const struct lad_point *pt)
{
    double queries = 2 * pt->n * pt->d * (double)pt->p->cache_bits / DSE_BITS_PER_BYTE;
    return (1 + dse_max(1, dse_ceil(queries / pt->sram_bytes))) / 2;
}

double lad_sfm_seconds(const struct lad_point *pt, double ops)
{
    return ops / ((double)(pt->p->tiles * pt->p->vpu_width) * pt->clock_hz);
}

static void op_init(struct lad_op *ret, const struct lad_point *pt, const struct dse_op *op)
{
    bool prefill = pt->p->workload.phase == DSE_PREFILL;
    double activation = (double)pt->p->cache_bits / DSE_BITS_PER_BYTE;
    ret->name = op->name;
    ret->kind = op->kind;
    ret->role = op->role;
    ret->ops = op->ops;
    ret->weight_bytes = op->weight_bytes;
    ret->bytes = op->kv_write_bytes;
    ret->exchange = NULL;
    ret->compute_s = ret->activation_bytes = ret->activation_read = ret->write_bytes = ret->layers = ret->link_joules = 0;
    switch (op->kind) {
    case DSE_OP_LINEAR:
        ret->compute_s = lad_vpu_seconds(pt, (double)op->repeat * (double)op->m * (double)op->n, (double)op->k);
        if (prefill) ret->activation_bytes = (double)op->m * (double)(op->k + op->n) * activation;
        ret->activation_read = (double)op->k / (double)(op->k + op->n);
        ret->layers = (double)op->repeat;
        break;
    case DSE_OP_SCORES:
    case DSE_OP_VALUES:
        ret->compute_s = lad_vpu_seconds(pt, op->ops / DSE_OPS_PER_MAC / pt->d, pt->d);
        ret->bytes += op->kv_read_bytes * (prefill ? kv_reads(pt) : 1);
        break;
    case DSE_OP_RECURRENCE:
    case DSE_OP_COLLECTIVE: break;
    case DSE_OP_ELEMENTWISE:
        if (pt->p->elementwise == LAD_EXPOSED) ret->compute_s = lad_sfm_seconds(pt, op->ops);
        break;
    }
}

void lad_step_init(struct lad_step *ret, const struct lad_point *pt)
{
    struct dse_workload one = pt->p->workload;
    if (pt->locality_aware) lad_spread_init(&ret->spread, pt->active_cv);
    if (!pt->is_simple) return;
    one.batch = 1;
    struct dse_oplist list;
    dse_cache_expand(&pt->cache, &one, &list);
    ret->n_ops = 0;
    for (int i = 0; i < list.n; i++) {
        bool replaced = list.op[i].in_attention && pt->locality_aware; /* by LAD's own: lad_attention_at */
        if (!replaced) op_init(&ret->op[ret->n_ops++], pt, &list.op[i]);
    }
}

/* ---- a step ---------------------------------------------------------------------------------------------------------------- */

bool lad_is_attention(const struct lad_op *o)
{
    return o->kind == DSE_OP_SCORES || o->kind == DSE_OP_VALUES;
}

void lad_op_at(const struct lad_point *pt, struct lad_op *o, double batch)
{
    double spilled = o->activation_bytes * batch; /* of one layer */
    bool fits = spilled <= pt->sram_bytes * (double)pt->p->tiles;
    o->batch_bytes = o->weight_bytes + batch * o->bytes + (fits ? 0 : spilled * o->layers);
    o->batch_ops = batch * o->ops;
    o->dram_s = o->batch_bytes * pt->stream_s;
    o->time_s = dse_max(batch * o->compute_s, o->dram_s);
}

/* HBM time that pre-fetching may use (E14). Operator 0 is the QKV projection. */
static double idle_seconds(const struct lad_point *pt, const struct lad_step *step)
{
    double idle = 0;
    for (int i = 0; i < step->n_ops; i++) {
        const struct lad_op *o = &step->op[i];
        bool used = pt->p->prefetch == LAD_PREFETCH_IDEAL ? o->kind == DSE_OP_LINEAR : i == 0;
        if (used) idle += o->time_s - o->dram_s;
    }
    return idle;
}

static void sum_op(struct lad_step *s, const struct lad_op *o)
{
    if (o->kind == DSE_OP_COLLECTIVE) {
        s->communication_s += o->time_s;
        s->link_joules += o->link_joules;
        s->latency_bound_s += o->time_s;
        s->time_s += o->time_s;
        return;
    }
    s->weight_bytes += o->weight_bytes;
    s->bytes += o->batch_bytes;
    if (o->kind != DSE_OP_ELEMENTWISE) s->vpu_ops += o->batch_ops;
    s->time_s += o->time_s;
    if (o->kind == DSE_OP_LINEAR) s->linear_s += o->time_s;
    if (o->kind == DSE_OP_ELEMENTWISE) s->elementwise_s += o->time_s;
    if (o->time_s > o->dram_s)
        s->compute_bound_s += o->time_s;
    else
        s->dram_bound_s += o->time_s;
}

/* E9: the whole KV cache read and used on all VPUs; scores and values each take the longer of moving and computing. */
static void sum_full_cache(struct lad_step *s, const struct lad_op *o)
{
    struct lad_attention *a = &s->attention;
    a->time_s += o->time_s;
    a->exposed_s[o->time_s > o->dram_s ? LAD_VPU : LAD_HBM] += o->time_s;
    a->active_bytes += o->batch_bytes;
    a->stage4_bytes += o->batch_bytes;
    a->macs += o->batch_ops / DSE_OPS_PER_MAC;
    s->exact_bytes += o->batch_bytes;
}

static void sum_locality_aware(struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    s->bytes += a->stage1_bytes + a->stage4_bytes + a->prefetch_bytes;
    s->vpu_ops += DSE_OPS_PER_MAC * a->macs;
    s->time_s += a->time_s;
    s->dram_bound_s += a->exposed_s[LAD_HBM];
    s->latency_bound_s += a->fill_s;
    s->compute_bound_s += a->time_s - a->fill_s - a->exposed_s[LAD_HBM];
}

void lad_step_sum(struct lad_step *step, const struct lad_point *pt)
{
    struct lad_step *s = step;
    s->linear_s = s->elementwise_s = s->time_s = 0;
    s->compute_bound_s = s->dram_bound_s = s->latency_bound_s = 0;
    s->weight_bytes = s->bytes = s->vpu_ops = s->exact_bytes = 0;
    s->communication_s = s->link_joules = s->bubble_s = 0;
    if (!pt->locality_aware) s->attention = (struct lad_attention){0};
    for (int i = 0; i < s->n_ops; i++) sum_op(s, &s->op[i]);
    if (pt->locality_aware) sum_locality_aware(s);
    for (int i = 0; i < s->n_ops; i++)
        if (lad_is_attention(&s->op[i])) sum_full_cache(s, &s->op[i]);
}

void lad_step_at(struct lad_step *step, const struct lad_point *pt, double batch)
{
    step->batch = batch;
    if (!pt->is_simple) {
        lad_llms_at(step, pt, batch);
        return;
    }
    for (int i = 0; i < step->n_ops; i++) lad_op_at(pt, &step->op[i], batch);
    if (pt->locality_aware) lad_attention_at(pt, &step->spread, batch, idle_seconds(pt, step), &step->attention);
    lad_step_sum(step, pt);
}

/* ---- the batch -------------------------------------------------------------------------------------------------------------- */

double lad_dram_footprint(const struct lad_point *pt, double batch)
{
    if (!pt->is_simple) return lad_llms_footprint(pt, batch);
    return pt->weights_bytes + batch * pt->sequence_bytes;
}

/* Sequences that must fit. */
static double least_batch(const struct lad_params *p)
{
    return p->batch_policy == LAD_BATCH_FIXED ? (double)p->workload.batch : 1;
}

static const char no_room[] = "weights and KV cache do not fit the DRAM",
                  no_sram[] = "the pipeline's working set does not fit the SRAM of a tile";

const char *lad_batch_check(const struct lad_point *pt)
{
    const struct lad_params *p = pt->p;
    double least = least_batch(p);
    if (lad_dram_footprint(pt, least) > p->dram.capacity_gib * DSE_GIB) return no_room;
    bool resident = p->workload.phase == DSE_DECODE;
    return resident && lad_sram_resident(pt, least) > pt->sram_bytes ? no_sram : NULL;
}

bool lad_batch_shortage(const struct lad_point *pt, const char *reason, struct dse_shortage *ret)
{
    double least = least_batch(pt->p);
    if (reason == no_sram)
        *ret = (struct dse_shortage){lad_sram_resident(pt, least) / DSE_MIB, pt->sram_bytes / DSE_MIB, "MiB"};
    else
        *ret = (struct dse_shortage){lad_dram_footprint(pt, least) / DSE_GIB, pt->p->dram.capacity_gib, "GiB"};
    return reason == no_sram || reason == no_room;
}

/* The largest batch that fits, the one asked for at most. One sequence is known to fit. */
static double largest_batch(const struct lad_point *pt)
{
    if (!pt->is_simple) return lad_llms_largest(pt);
    double max = floor((pt->p->dram.capacity_gib * DSE_GIB - pt->weights_bytes) / pt->sequence_bytes);
    if (pt->p->workload.phase == DSE_DECODE) {
        double empty = lad_sram_resident(pt, 0), activations = lad_sram_resident(pt, 1) - empty;
        max = dse_min(max, floor((pt->sram_bytes - empty) / activations));
    }
    return dse_min((double)pt->p->workload.batch, dse_max(1, max));
}

int lad_batches(double tiles, double max, double ret[LAD_BATCHES])
{
    int n = 0;
    for (double rounds = 1; rounds * tiles <= max; rounds *= 2) {
        ret[n++] = rounds * tiles;
        if (rounds > 1 && 1.5 * rounds * tiles <= max) ret[n++] = 1.5 * rounds * tiles;
    }
    if (max >= tiles) ret[n++] = floor(max / tiles) * tiles;
    ret[n++] = max;
    return n;
}

/* Sequences with which all tiles of all chips are full once. */
static double round_of(const struct lad_point *pt)
{
    const struct dse_workload *w = &pt->p->workload;
    const double tiles = (double)pt->p->tiles;
    return pt->is_simple ? tiles : tiles * (double)(dse_degree(w->data_parallel) * dse_degree(w->pipeline_parallel));
}

/* The first of highest throughput. */
static double best_throughput(const struct lad_point *pt, double max, struct lad_step *step)
{
    double batch[LAD_BATCHES], best = 1, best_rate = 0;
    const int n = lad_batches(round_of(pt), max, batch);
    for (int i = 0; i < n; i++) {
        lad_step_at(step, pt, batch[i]);
        const double rate = batch[i] / step->time_s;
        if (rate > best_rate) best = batch[i];
        best_rate = dse_max(rate, best_rate);
    }
    return best;
}

double lad_batch(const struct lad_point *pt, struct lad_step *step)
{
    if (pt->p->batch_policy == LAD_BATCH_FIXED) return (double)pt->p->workload.batch;
    double tiles = round_of(pt), max = largest_batch(pt);
    switch (pt->p->batch_policy) {
    case LAD_BATCH_TILE_MULTIPLE: return max < tiles ? max : floor(max / tiles) * tiles;
    case LAD_BATCH_BEST_THROUGHPUT: return best_throughput(pt, max, step);
    default: return max;
    }
}
