/* A step of SwiftKV: linear layers as GEMV after GEMV (E3, E4), attention (E5..E8). */
#include "swiftkv.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

static const double hz_per_mhz = 1e6;
enum { MADE_BYTES = 2 }; /* E26: of a key or value element that is made of a latent */

/* ---- the MAC arrays -------------------------------------------------------------------------------------------------------- */

double swiftkv_gemv_lanes(const struct swiftkv_params *p)
{
    return floor((double)p->dsps_per_processor / p->gemv_dsps);
}

double swiftkv_fxp_lanes(const struct swiftkv_params *p)
{
    return floor((double)p->dsps_per_processor / p->fxp_dsps);
}

double swiftkv_gemv_cycles(const struct swiftkv_params *p, double rows, double k, double n)
{
    double width = (double)p->processors * swiftkv_gemv_lanes(p);
    if (p->gemv_mapping == SWIFTKV_SEVERAL_OUTPUTS && width >= 2 * k) return rows * ceil(n / floor(width / k));
    return rows * n * ceil(k / width);
}

/* ---- linear layers --------------------------------------------------------------------------------------------------------- */

double swiftkv_expert_reads(const struct swiftkv_params *p, double rows)
{
    const double reuse = (double)p->weight_reuse;
    return dse_max(1, rows / reuse + (reuse - 1) / (2 * reuse));
}

double swiftkv_reads(const struct swiftkv_params *p, const struct dse_op *op)
{
    return op->copies == 1 ? ceil(op->rows / (double)p->weight_reuse) : swiftkv_expert_reads(p, op->rows);
}

void swiftkv_add_linear(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_op *op, double rows, double reads)
{
    double cycles = (double)op->repeat * op->copies * swiftkv_gemv_cycles(p, rows, (double)op->k, (double)op->n);
    double array_s = cycles / (p->clock_mhz * hz_per_mhz);
    const double made = op->kv_read_bytes > 0 ? (double)op->repeat * op->rows * (double)op->n * MADE_BYTES : 0; /* E26 */
    struct swiftkv_op *o = &s->op[s->n_ops++];
    *o = (struct swiftkv_op){
        .name = op->name, .kind = op->kind, .bytes = reads * op->weight_bytes + op->kv_write_bytes + op->kv_read_bytes + made};
    o->ops = op->ops;
    o->dram_s = dse_dram_stream_seconds(&p->dram, o->bytes);
    if (p->gemv_stalls == SWIFTKV_STALLS_BOTH) array_s = dse_max(array_s, o->bytes / dse_dram_peak(&p->dram));
    array_s /= p->gemv_efficiency;
    o->time_s = dse_max(array_s, o->dram_s);

    s->linear_s += o->time_s;
    if (array_s >= o->dram_s)
        s->compute_bound_s += o->time_s;
    else
        s->dram_bound_s += o->time_s;
    s->bytes += o->bytes;
    s->ops += op->ops;
    o->dsp_products = op->ops / DSE_OPS_PER_MAC * p->gemv_dsps;
    s->dsp_products += o->dsp_products;
}

/* ---- attention ------------------------------------------------------------------------------------------------------------- */

struct swiftkv_cycles swiftkv_position_cycles(const struct swiftkv_params *p, const struct dse_attention *a)
{
    const double keys = (double)a->key_dim, values = (double)a->value_dim, lanes = swiftkv_fxp_lanes(p);
    double t_v = p->t_v_cycles * values / SWIFTKV_PUBLISHED_HEAD_DIM;
    struct swiftkv_cycles c = {.dot = ceil(keys / lanes), .own_update = ceil(values / lanes)};
    if (a->is_index) return c;
    switch (p->attention) {
    case SWIFTKV_NATIVE: c.sweeps = 3 * p->t_s_cycles + t_v; return c;
    case SWIFTKV_STREAMING: c.sweeps = t_v; return c;
    case SWIFTKV_FLASH:
        c.sweeps = p->t_s_cycles + t_v;
        c.block = p->t_b_cycles;
        return c;
    default: break;
    }
    double product = swiftkv_product_dsps(p->workload.kv_bits, p->q_frac_bits + 1);
    if (p->value_update == SWIFTKV_UPDATE_SHARED) c.update = c.own_update;
    if (p->value_update == SWIFTKV_UPDATE_SINGLE) c.update = ceil(values * product / (double)p->dsps_per_processor);
    return c;
}

struct dse_cache_step swiftkv_cache_step(const struct swiftkv_params *p)
{
    struct dse_cache_step s;
    dse_cache_step_at(&p->cache, &p->workload, &s);
    return s;
}

struct dse_cache_steps swiftkv_cache_steps(const struct swiftkv_params *p, struct dse_arithmetic *ret_arithmetic)
{
    struct dse_cache_steps s = dse_cache_steps_of(&p->cache, &p->workload, NULL);
    *ret_arithmetic = (struct dse_arithmetic){
        .method = "fixed-point", .given = 1u << DSE_SET_EXP_BITS | 1u << DSE_SET_FRACTION_BITS | 1u << DSE_SET_ROUNDING};
    ret_arithmetic->setting[DSE_SET_EXP_BITS] = (double)p->lut_bits;
    ret_arithmetic->setting[DSE_SET_FRACTION_BITS] = (double)p->q_frac_bits;
    ret_arithmetic->setting[DSE_SET_ROUNDING] = p->exp_rounding;
    if (p->arithmetic_error == SWIFTKV_ERRORS_MEASURED) s.arithmetic = ret_arithmetic;
    return s;
}

/* E24. The exponential unit makes a weight a cycle, and nothing of the next head runs beside it. */
static void deal_technique(const struct swiftkv_params *p, const struct dse_cache_step *s, const struct dse_attention *a,
                           struct swiftkv_dealt *d)
{
    const bool online = p->attention == SWIFTKV_SWIFTKV || p->attention == SWIFTKV_FLASH;
    const double bounds = s->prefill ? 0 : 2 * s->pages, chosen = s->prefill ? 0 : s->pages;
    const double dot = ceil((double)a->key_dim / swiftkv_fxp_lanes(p));
    const double share = (double)a->kv_heads / (double)p->workload.llm->kv_heads; /* of the KV heads, on this chip */
    d->bounds = bounds;
    d->extra_cycles = (dse_cache_passes(s, online) * s->pairs + bounds * dot + chosen) / d->pairs;
    d->extra_bytes = dse_cache_moved(s) * (double)a->sequences * share / (d->reads * d->pairs);
}

/* Positions of all queries in blocks, the last of each query maybe short. */
static double blocks_of(const struct swiftkv_params *p, const struct dse_attention *a)
{
    const double block = (double)p->block, queries = (double)a->queries, n = (double)a->positions;
    const bool triangle = a->queries > 1 && a->queries == a->context && a->pairs == n * (n + 1) / 2;
    if (!triangle) return queries * ceil(a->pairs / queries / block);
    const double full = floor(n / block), rest = n - full * block;
    return block * full * (full + 1) / 2 + rest * (full + 1);
}

void swiftkv_deal(const struct swiftkv_params *p, const struct dse_attention *a, struct swiftkv_dealt *ret)
{
    const double processors = (double)p->processors, batch = (double)a->sequences;
    const double heads = batch * (double)a->heads, groups = batch * (double)a->kv_heads;
    const double group = (double)a->heads / (double)a->kv_heads; /* whole */
    *ret = (struct swiftkv_dealt){.queries = (double)a->queries, .pairs = a->pairs, .blocks = blocks_of(p, a)};
    ret->row_bytes = a->is_made ? (double)(a->key_dim + a->value_dim) * MADE_BYTES
                                : a->key_bytes / (double)a->kv_heads + a->value_bytes / (double)a->kv_heads;
    if (p->kv_fetch == SWIFTKV_FETCH_HEAD) {
        ret->rounds = ceil(heads / processors);
        ret->reads = heads;
    } else if (processors >= group) {
        ret->rounds = ceil(groups / floor(processors / group));
        ret->reads = groups;
    } else {
        ret->rounds = ret->reads = groups * ceil(group / processors);
    }
    if (a->mixer != DSE_FULL || a->is_draft) return;
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    deal_technique(p, &cache, a, ret);
}

static void add_up(struct swiftkv_attention *sum, const struct swiftkv_attention *a)
{
    sum->bytes += a->bytes;
    sum->technique_bytes += a->technique_bytes;
    sum->ops += a->ops;
    sum->compute_s += a->compute_s;
    sum->dram_s += a->dram_s;
    sum->stream_s += a->stream_s;
    sum->rope_s += a->rope_s;
    sum->overhead_s += a->overhead_s;
    sum->time_s += a->time_s;
    sum->dsp_products += a->dsp_products;
}

/* The update takes DSPs of the arrays only when it is made there. */
void swiftkv_add_attention(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_attention *of,
                           const struct swiftkv_dealt *dealt, double batch, double ops)
{
    struct swiftkv_attention *a = &s->group[s->n_groups++];
    const struct swiftkv_cycles c = swiftkv_position_cycles(p, of);
    const struct swiftkv_dealt h = *dealt;
    const double layers = (double)of->layers, heads = (double)of->heads, cycle_s = 1 / (p->clock_mhz * hz_per_mhz);
    const double keys = (double)of->key_dim, values = (double)of->value_dim;
    double head_cycles = h.pairs * (c.dot + c.update + c.sweeps + h.extra_cycles) + h.blocks * c.block;
    a->bytes = layers * h.reads * h.pairs * (h.row_bytes + h.extra_bytes);
    a->technique_bytes = layers * h.reads * h.pairs * h.extra_bytes;
    a->ops = ops;
    a->compute_s = layers * h.rounds * head_cycles * cycle_s;
    a->dram_s = dse_dram_stream_seconds(&p->dram, a->bytes);
    a->stream_s = dse_max(a->compute_s, a->dram_s);
    a->rope_s = layers * h.rounds * h.queries * (double)p->rope_cycles * cycle_s;
    a->overhead_s = layers * h.queries * batch * (double)p->overhead_cycles * cycle_s;
    a->time_s = a->stream_s + a->rope_s + a->overhead_s;

    const double products = batch * layers * heads * h.pairs * keys, updates = batch * layers * heads * h.pairs * values;
    const double bounds = batch * layers * heads * h.bounds * keys;
    a->dsp_products = products * p->fxp_dsps + bounds * p->fxp_dsps;
    if (p->attention == SWIFTKV_SWIFTKV && (p->value_update == SWIFTKV_UPDATE_SHARED || p->value_update == SWIFTKV_UPDATE_OWN))
        a->dsp_products += updates * p->fxp_dsps;
    if (p->attention == SWIFTKV_SWIFTKV && p->value_update == SWIFTKV_UPDATE_SINGLE)
        a->dsp_products += updates * swiftkv_product_dsps(p->workload.kv_bits, p->q_frac_bits + 1);
    s->dsp_products += a->dsp_products;
    s->bytes += a->bytes;
    s->latency_bound_s += a->rope_s + a->overhead_s;
    if (a->compute_s >= a->dram_s)
        s->compute_bound_s += a->stream_s;
    else
        s->dram_bound_s += a->stream_s;
    add_up(&s->attention, a);
}

/* ---- the step -------------------------------------------------------------------------------------------------------------- */

void swiftkv_step_start(struct swiftkv_step *ret)
{
    ret->n_ops = ret->n_groups = 0;
    ret->attention = (struct swiftkv_attention){0};
    ret->linear_s = ret->compute_bound_s = ret->dram_bound_s = ret->latency_bound_s = 0;
    ret->communication_s = ret->link_joules = ret->bubble_s = 0;
    ret->footprint = -1;
    ret->bytes = ret->ops = ret->dsp_products = 0;
}

bool swiftkv_counts(const struct swiftkv_params *p, const struct dse_op *op)
{
    if (op->kind != DSE_OP_LINEAR) return false;
    return p->head == SWIFTKV_HEAD_INCLUDED || op->role != DSE_ROLE_OUTPUT_HEAD;
}

void swiftkv_add_recurrence(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_op *op)
{
    const double macs = op->ops / DSE_OPS_PER_MAC, width = (double)p->processors * swiftkv_fxp_lanes(p);
    struct swiftkv_op *o = &s->op[s->n_ops++];
    *o = (struct swiftkv_op){.name = op->name, .kind = op->kind, .bytes = op->kv_read_bytes + op->kv_write_bytes, .ops = op->ops};
    o->dram_s = dse_dram_stream_seconds(&p->dram, o->bytes);
    o->time_s = dse_max(macs / width / (p->clock_mhz * hz_per_mhz), o->dram_s);
    o->dsp_products = macs * p->fxp_dsps;
    s->linear_s += o->time_s;
    *(o->time_s > o->dram_s ? &s->compute_bound_s : &s->dram_bound_s) += o->time_s;
    s->bytes += o->bytes;
    s->ops += o->ops;
    s->dsp_products += o->dsp_products;
}

/* E28. */
static void add_collective(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_op *op)
{
    const double times = (double)op->repeat;
    struct dse_exchange_cost cost;
    dse_exchange_at(&p->links, &op->exchange, &cost);
    s->op[s->n_ops++] =
        (struct swiftkv_op){.name = op->name, .kind = op->kind, .time_s = times * cost.seconds, .link_joules = times * cost.joules};
    s->communication_s += times * cost.seconds;
    s->latency_bound_s += times * cost.seconds;
    s->link_joules += times * cost.joules;
}

static void add_operator(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_op *op)
{
    if (swiftkv_counts(p, op)) swiftkv_add_linear(s, p, op, op->rows, swiftkv_reads(p, op));
    if (op->kind == DSE_OP_ELEMENTWISE) s->op[s->n_ops++] = (struct swiftkv_op){.name = op->name, .kind = op->kind, .ops = op->ops};
    if (op->kind == DSE_OP_RECURRENCE) swiftkv_add_recurrence(s, p, op);
    if (op->kind == DSE_OP_COLLECTIVE) add_collective(s, p, op);
}

/* E29: what a chip does in one pass, in all passes of a step. */
static void repeat_passes(struct swiftkv_step *s, double passes)
{
    double *const sums[] = {&s->linear_s,    &s->compute_bound_s, &s->dram_bound_s, &s->latency_bound_s, &s->communication_s,
                            &s->link_joules, &s->bytes,           &s->ops,          &s->dsp_products};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] *= passes;
    for (int i = 0; i < s->n_ops; i++) {
        struct swiftkv_op *o = &s->op[i];
        o->time_s *= passes;
        o->dram_s *= passes;
        o->bytes *= passes;
        o->ops *= passes;
        o->dsp_products *= passes;
        o->link_joules *= passes;
    }
    struct swiftkv_attention *a = &s->attention;
    double *const of[] = {&a->compute_s, &a->dram_s, &a->stream_s, &a->rope_s,       &a->overhead_s,
                          &a->time_s,    &a->bytes,  &a->ops,      &a->dsp_products, &a->technique_bytes};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) *of[i] *= passes;
}

void swiftkv_step_end(struct swiftkv_step *s, const struct swiftkv_params *p)
{
    const double stages = (double)dse_degree(p->workload.pipeline_parallel), passes = (double)dse_workload_passes(&p->workload);
    s->time_s = s->linear_s + s->attention.time_s;
    if (s->communication_s > 0) s->time_s += s->communication_s;
    if (stages <= 1) return;
    s->bubble_s = (stages - passes) * s->time_s;
    s->latency_bound_s += s->bubble_s / passes;
    repeat_passes(s, passes);
    s->time_s *= stages;
}

void swiftkv_expand_drawn(const struct swiftkv_params *p, const struct dse_draw *draw, struct dse_oplist *ret)
{
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    dse_workload_expand_drawn(&p->workload, cache.prefill ? -1 : (int64_t)cache.read, draw, ret);
}

void swiftkv_expand(const struct swiftkv_params *p, struct dse_oplist *ret)
{
    swiftkv_expand_drawn(p, NULL, ret);
}

bool swiftkv_is_simple(const struct dse_workload *w)
{
    return !dse_workload_unknown(w, DSE_CAN_ACTIVATIONS | DSE_CAN_SCALES);
}

void swiftkv_step_of(struct swiftkv_step *ret, const struct swiftkv_params *p, const struct dse_oplist *list)
{
    double attention_ops[DSE_ATTENTIONS_MAX] = {0};
    swiftkv_step_start(ret);
    ret->tokens = dse_workload_tokens(&p->workload);
    const bool whole = dse_eviction_at(p->cache.eviction)->keeps_all && p->cache.kv_format == DSE_KV_TOKEN;
    if (whole && !swiftkv_is_simple(&p->workload) && p->workload.context_spread <= 0)
        ret->footprint = dse_workload_footprint_of(&p->workload, list);
    for (int i = 0; i < list->n; i++) {
        const struct dse_op *op = &list->op[i];
        const int before = ret->n_ops;
        if (op->kind == DSE_OP_SCORES || op->kind == DSE_OP_VALUES) ret->ops += op->ops;
        if (op->in_attention) {
            attention_ops[op->attention] += op->ops;
            continue;
        }
        add_operator(ret, p, op);
        if (ret->n_ops > before) ret->op[before].source = i;
    }
    for (int i = 0; i < list->n_attentions; i++) {
        struct swiftkv_dealt dealt;
        swiftkv_deal(p, &list->attention[i], &dealt);
        swiftkv_add_attention(ret, p, &list->attention[i], &dealt, (double)list->attention[i].sequences, attention_ops[i]);
    }
}

void swiftkv_step_parts(struct swiftkv_step *ret, const struct swiftkv_params *p)
{
    struct dse_oplist list;
    swiftkv_expand(p, &list);
    swiftkv_step_of(ret, p, &list);
}

void swiftkv_step_init(struct swiftkv_step *ret, const struct swiftkv_params *p)
{
    swiftkv_step_parts(ret, p);
    swiftkv_step_end(ret, p);
}
