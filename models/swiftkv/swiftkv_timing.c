/* A step of SwiftKV: linear layers as GEMV after GEMV (E3, E4), attention (E5..E8). */
#include "swiftkv.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

static const double hz_per_mhz = 1e6;

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

void swiftkv_add_linear(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_op *op, double rows, double reads)
{
    double cycles = (double)op->repeat * swiftkv_gemv_cycles(p, rows, (double)op->k, (double)op->n);
    double array_s = cycles / (p->clock_mhz * hz_per_mhz);
    struct swiftkv_op *o = &s->op[s->n_ops++];
    *o = (struct swiftkv_op){.name = op->name, .kind = op->kind, .bytes = reads * op->weight_bytes + op->kv_write_bytes};
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

struct swiftkv_cycles swiftkv_position_cycles(const struct swiftkv_params *p)
{
    double d = (double)p->workload.llm->head_dim;
    double t_v = p->t_v_cycles * d / SWIFTKV_PUBLISHED_HEAD_DIM;
    struct swiftkv_cycles c = {.dot = ceil(d / swiftkv_fxp_lanes(p))};
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
    if (p->value_update == SWIFTKV_UPDATE_SHARED) c.update = c.dot;
    if (p->value_update == SWIFTKV_UPDATE_SINGLE) c.update = ceil(d * product / (double)p->dsps_per_processor);
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
static void deal_technique(const struct swiftkv_params *p, const struct dse_cache_step *s, struct swiftkv_dealt *d)
{
    const bool online = p->attention == SWIFTKV_SWIFTKV || p->attention == SWIFTKV_FLASH;
    const double bounds = s->prefill ? 0 : 2 * s->pages, chosen = s->prefill ? 0 : s->pages;
    const double dot = ceil((double)p->workload.llm->head_dim / swiftkv_fxp_lanes(p));
    d->bounds = bounds;
    d->extra_cycles = (dse_cache_passes(s, online) * s->pairs + bounds * dot + chosen) / d->pairs;
    d->extra_bytes = dse_cache_moved(s) * (double)p->workload.batch / (d->reads * d->pairs);
}

void swiftkv_deal(const struct swiftkv_params *p, struct swiftkv_dealt *ret)
{
    const struct dse_llm *llm = p->workload.llm;
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    double n = cache.read, block = (double)p->block, batch = (double)p->workload.batch;
    double full = floor(n / block), rest = n - full * block;
    bool prefill = p->workload.phase == DSE_PREFILL;
    ret->queries = prefill ? n : 1;
    ret->pairs = prefill ? n * (n + 1) / 2 : n;
    ret->blocks = prefill ? block * full * (full + 1) / 2 + rest * (full + 1) : ceil(n / block);

    double processors = (double)p->processors, heads = batch * (double)llm->heads, groups = batch * (double)llm->kv_heads;
    double group = (double)llm->heads / (double)llm->kv_heads; /* whole: dse_llm_check */
    if (p->kv_fetch == SWIFTKV_FETCH_HEAD) {
        ret->rounds = ceil(heads / processors);
        ret->reads = heads;
    } else if (processors >= group) {
        ret->rounds = ceil(groups / floor(processors / group));
        ret->reads = groups;
    } else {
        ret->rounds = ret->reads = groups * ceil(group / processors);
    }
    deal_technique(p, &cache, ret);
}

/* The update takes DSPs of the arrays only when it is made there. */
void swiftkv_add_attention(struct swiftkv_step *s, const struct swiftkv_params *p, const struct swiftkv_dealt *dealt, double batch,
                           double ops)
{
    const struct dse_llm *llm = p->workload.llm;
    struct swiftkv_attention *a = &s->attention;
    struct swiftkv_cycles c = swiftkv_position_cycles(p);
    const struct swiftkv_dealt h = *dealt;
    double layers = (double)llm->layers, d = (double)llm->head_dim, cycle_s = 1 / (p->clock_mhz * hz_per_mhz);
    double head_cycles = h.pairs * (c.dot + c.update + c.sweeps + h.extra_cycles) + h.blocks * c.block;
    a->bytes = layers * h.reads * h.pairs * (2 * dse_kv_row_bytes(&p->workload) + h.extra_bytes);
    a->technique_bytes = layers * h.reads * h.pairs * h.extra_bytes;
    a->ops = ops;
    a->compute_s = layers * h.rounds * head_cycles * cycle_s;
    a->dram_s = dse_dram_stream_seconds(&p->dram, a->bytes);
    a->stream_s = dse_max(a->compute_s, a->dram_s);
    a->rope_s = layers * h.rounds * h.queries * (double)p->rope_cycles * cycle_s;
    a->overhead_s = layers * h.queries * batch * (double)p->overhead_cycles * cycle_s;
    a->time_s = a->stream_s + a->rope_s + a->overhead_s;

    double products = batch * layers * (double)llm->heads * h.pairs * d;
    const double bounds = batch * layers * (double)llm->heads * h.bounds * d;
    a->dsp_products = products * p->fxp_dsps + bounds * p->fxp_dsps;
    if (p->attention == SWIFTKV_SWIFTKV && (p->value_update == SWIFTKV_UPDATE_SHARED || p->value_update == SWIFTKV_UPDATE_OWN))
        a->dsp_products += products * p->fxp_dsps;
    if (p->attention == SWIFTKV_SWIFTKV && p->value_update == SWIFTKV_UPDATE_SINGLE)
        a->dsp_products += products * swiftkv_product_dsps(p->workload.kv_bits, p->q_frac_bits + 1);
    s->dsp_products += a->dsp_products;
    s->bytes += a->bytes;
    s->latency_bound_s += a->rope_s + a->overhead_s;
    if (a->compute_s >= a->dram_s)
        s->compute_bound_s += a->stream_s;
    else
        s->dram_bound_s += a->stream_s;
    s->time_s = s->linear_s + a->time_s;
}

/* ---- the step -------------------------------------------------------------------------------------------------------------- */

void swiftkv_step_start(struct swiftkv_step *ret)
{
    ret->n_ops = 0;
    ret->linear_s = ret->compute_bound_s = ret->dram_bound_s = ret->latency_bound_s = 0;
    ret->bytes = ret->ops = ret->dsp_products = 0;
}

bool swiftkv_counts(const struct swiftkv_params *p, const struct dse_op *op)
{
    return op->kind == DSE_OP_LINEAR && (p->head == SWIFTKV_HEAD_INCLUDED || strcmp(op->name, "lm_head") != 0);
}

void swiftkv_step_init(struct swiftkv_step *ret, const struct swiftkv_params *p)
{
    struct dse_oplist list;
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    const struct dse_workload read = dse_cache_read_by(&cache, &p->workload);
    dse_workload_expand(&read, &list);
    swiftkv_step_start(ret);
    ret->tokens = dse_workload_tokens(&p->workload);
    double attention_ops = 0;
    for (int i = 0; i < list.n; i++) {
        const struct dse_op *op = &list.op[i];
        if (op->in_attention)
            attention_ops += op->ops;
        else if (swiftkv_counts(p, op))
            swiftkv_add_linear(ret, p, op, (double)op->m, ceil((double)op->m / (double)p->weight_reuse));
        else if (op->kind == DSE_OP_ELEMENTWISE)
            ret->op[ret->n_ops++] = (struct swiftkv_op){.name = op->name, .kind = op->kind, .ops = op->ops};
        if (op->kind == DSE_OP_SCORES || op->kind == DSE_OP_VALUES) ret->ops += op->ops;
    }
    struct swiftkv_dealt dealt;
    swiftkv_deal(p, &dealt);
    swiftkv_add_attention(ret, p, &dealt, (double)p->workload.batch, attention_ops);
}
