#include "toy_model.h"

#include "dse_config.h"
#include "toy_events.h"

#include <dse/interval.h>
#include <dse/units.h>
#include <math.h>

const char *toy_data_dir(void)
{
    return DSE_SOURCE_DATA "/tests/unit/toy";
}

/* ---- toy -------------------------------------------------------------------------------------------------------------- */

static const char *const pipelines[] = {"exact", "eq7", "none", NULL};

static const char *const channel_peak[] = {"channel_gbs", NULL};

static const struct dse_param toy_params_table[] = {
    DSE_PARAM_REF(struct toy_params, llm, struct dse_llm, DSE_KIND_LLM, "shape of the model served", ""),
    DSE_PARAM_REF(struct toy_params, memory, struct dse_memory, DSE_KIND_MEMORY, "DRAM; sets channels and channel_gbs", ""),
    DSE_PARAM_REF(struct toy_params, profile, struct dse_profile, DSE_KIND_PROFILE, "statistics of attention", ""),
    DSE_PARAM_I64(struct toy_params, channels, 1, 1024, "channels of the DRAM", ""),
    DSE_PARAM_F64(struct toy_params, channel_gbs, "GB/s", 0.1, 1000, "peak of one channel", ""),
    DSE_PARAM_F64_AUTO(struct toy_params, bandwidth_gbs, "GB/s", 0.1, 100000, channel_peak,
                       "peak of all channels; auto: channels * channel_gbs", ""),
    DSE_PARAM_I64(struct toy_params, tiles, 1, 64, "tiles that share the DRAM", "T1"),
    DSE_PARAM_F64(struct toy_params, sram_mib, "MiB", 0.25, 64, "SRAM of all tiles", "T1"),
    DSE_PARAM_F64(struct toy_params, clock_ghz, "GHz", 0.1, 10, "clock of every tile", "T1"),
    DSE_PARAM_ENUM(struct toy_params, pipeline, pipelines, "how a tile overlaps loads and work", "T2"),
    DSE_PARAM_I64(struct toy_params, batch, 1, 4096, "sequences processed together", ""),
    DSE_PARAM_I64(struct toy_params, context, 1, 1000000, "positions in the KV cache", ""),
    DSE_PARAM_F64(struct toy_params, overhead_us, "us", 0, 1000, "time a step costs beside its work", "T3"),
    DSE_EMBED(struct toy_params, events, struct dse_events, dse_events_params),
    DSE_PARAM_END,
};

static const struct dse_metric toy_metrics_table[] = {
    DSE_METRIC_EMBED(struct toy_metrics, common, struct dse_common, dse_common_metrics),
    DSE_METRIC_F64(struct toy_metrics, macs_per_s, "1/s", DSE_MORE, "multiply-adds a second", "T4"),
    DSE_METRIC_I64(struct toy_metrics, rounds, DSE_LESS, "rounds over the tiles", "T5"),
    DSE_METRIC_F64(struct toy_metrics, active, "", DSE_NEITHER, "positions attended to", "T6"),
    DSE_METRIC_END,
};

static void toy_resolve(void *params)
{
    struct toy_params *p = params;
    if (isnan(p->bandwidth_gbs))
        p->bandwidth_gbs = (double)p->channels * p->channel_gbs;
    else
        p->channel_gbs = p->bandwidth_gbs / (double)p->channels;
}

static const char *toy_check(const void *params)
{
    const struct toy_params *p = params;
    if (p->context > p->llm->max_context) return "the context is longer than the model knows";
    if (p->sram_mib < 0.125 * (double)p->tiles) return "a tile has less than 0.125 MiB of SRAM";
    return NULL;
}

/* What a step does, whatever the fidelity. */
struct toy_work {
    double weights, kv, active; /* elements of all layers, kv of one sequence; positions attended to */
    double macs, bytes, macs_per_s, bytes_per_s;
};

static double toy_active(const struct toy_params *p, int64_t positions)
{
    double context = (double)positions, lo, hi;
    dse_profile_range(p->profile, &lo, &hi);
    return p->pipeline != TOY_NONE && context >= lo && context <= hi ? dse_profile_at(p->profile, context).active : context;
}

static struct toy_work toy_work(const struct toy_params *p)
{
    const struct dse_llm *l = p->llm;
    double batch = (double)p->batch, layers = (double)l->layers, hidden = (double)l->hidden;
    struct toy_work w = {.active = toy_active(p, p->context)};
    w.weights = layers * hidden * (4 * hidden + (double)(l->ffn * l->ffn_matrices));
    w.kv = 2 * layers * (double)(l->kv_heads * l->head_dim) * w.active;
    w.macs = batch * (w.weights + w.kv);
    w.bytes = 2 * (w.weights + batch * w.kv);
    w.macs_per_s = (double)p->tiles * p->clock_ghz * DSE_GIGA * 256 * (p->pipeline == TOY_EQ7 ? 0.875 : 1);
    w.bytes_per_s = p->bandwidth_gbs * DSE_GIGA;
    return w;
}

/* Metrics and breakdown of a step of so much time, traffic and computing. */
static void toy_fill(const struct toy_params *p, const struct toy_work *w, double step_us, double bytes, double compute_us,
                     struct toy_metrics *metrics, struct dse_breakdown *breakdown)
{
    double batch = (double)p->batch, dram_us = bytes / w->bytes_per_s * DSE_US_PER_S;
    int32_t bound = compute_us > dram_us ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM;
    *metrics = (struct toy_metrics){
        .common =
            {
                .tokens_per_s = batch / step_us * DSE_US_PER_S,
                .latency_us = step_us,
                .attention_us = (bytes - 2 * w->weights) / w->bytes_per_s * DSE_US_PER_S,
                .energy_mj = NAN,
                .power_w = 2 * (double)p->tiles * p->clock_ghz,
                .area_mm2 = 1.5 * (double)p->tiles + 0.75 * p->sram_mib,
                .dram_mib = bytes / DSE_MIB / batch,
                .compute_utilization = compute_us / step_us,
                .dram_utilization = dram_us / step_us,
                .bound = bound,
            },
        .macs_per_s = w->macs / step_us * DSE_US_PER_S,
        .rounds = (p->llm->heads * p->batch + p->tiles - 1) / p->tiles,
        .active = w->active,
    };
    dse_breakdown_add(breakdown, (struct dse_part){.name = "work",
                                                   .bound = dse_bound_names[bound],
                                                   .time_us = step_us - p->overhead_us,
                                                   .dram_bytes = bytes,
                                                   .ops = DSE_OPS_PER_MAC * w->macs,
                                                   .energy_mj = NAN});
    dse_breakdown_add(breakdown, (struct dse_part){.name = "overhead",
                                                   .bound = dse_bound_names[DSE_BOUND_LATENCY],
                                                   .time_us = p->overhead_us,
                                                   .energy_mj = NAN});
}

static void toy_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    const struct toy_params *p = params;
    struct toy_work w = toy_work(p);
    double dram_us = w.bytes / w.bytes_per_s * DSE_US_PER_S, compute_us = w.macs / w.macs_per_s * DSE_US_PER_S;
    toy_fill(p, &w, fmax(dram_us, compute_us) + p->overhead_us, w.bytes, compute_us, metrics, breakdown);
}

/* Positions attended to, of one context after the other: the profile is any curve. Of too many nothing is known. */
static struct dse_interval toy_active_bound(const struct toy_params *lo, const struct toy_params *hi)
{
    enum { CONTEXTS_MAX = 1024 };
    struct dse_interval all = dse_iv_of(toy_active(lo, lo->context));
    if (lo->pipeline == TOY_NONE) return dse_iv((double)lo->context, (double)hi->context);
    if (hi->context - lo->context >= CONTEXTS_MAX) return dse_unbounded;
    for (int64_t c = lo->context; c <= hi->context; c++) all = dse_iv_hull(all, dse_iv_of(toy_active(lo, c)));
    return all;
}

static void toy_bound_set(double *floor, double *ceiling, struct dse_interval i)
{
    *floor = isinf(i.lo) ? (double)NAN : i.lo;
    *ceiling = isinf(i.hi) ? (double)NAN : i.hi;
}

double toy_bound_factor = 1;

/* Of what is a share of a peak, and of the carbon, nothing is known: tests have objectives without a bound. */
static bool toy_bound(const void *lo_params, const void *hi_params, void *floor_metrics, void *ceiling_metrics)
{
    const struct toy_params *lo = lo_params, *hi = hi_params;
    struct toy_metrics *floor = floor_metrics, *ceiling = ceiling_metrics;
    if (lo->context > lo->llm->max_context || hi->sram_mib < 0.125 * (double)lo->tiles) return false;
    const struct toy_work w = toy_work(lo); /* the weights are the same at all points */
    const double kv_each = 2 * (double)(lo->llm->layers * lo->llm->kv_heads * lo->llm->head_dim);
    const struct dse_interval active = toy_active_bound(lo, hi), kv = dse_iv_scale(active, kv_each);
    const struct dse_interval batch = dse_iv((double)lo->batch, (double)hi->batch),
                              tiles = dse_iv((double)lo->tiles, (double)hi->tiles);
    const struct dse_interval clock = dse_iv(lo->clock_ghz, hi->clock_ghz), sram = dse_iv(lo->sram_mib, hi->sram_mib);
    const struct dse_interval macs = dse_iv_mul(batch, dse_iv_add(dse_iv_of(w.weights), kv));
    const struct dse_interval bytes = dse_iv_scale(dse_iv_add(dse_iv_of(w.weights), dse_iv_mul(batch, kv)), 2);
    const struct dse_interval macs_per_us =
        dse_iv_scale(dse_iv_mul(tiles, clock), DSE_GIGA * 256 * (lo->pipeline == TOY_EQ7 ? 0.875 : 1) / DSE_US_PER_S);
    const struct dse_interval bytes_per_us = dse_iv_scale(dse_iv(lo->bandwidth_gbs, hi->bandwidth_gbs), DSE_GIGA / DSE_US_PER_S);
    const struct dse_interval work_us = dse_iv_max(dse_iv_div(bytes, bytes_per_us), dse_iv_div(macs, macs_per_us));
    const struct dse_interval step_us = dse_iv_add(work_us, dse_iv(lo->overhead_us, hi->overhead_us));
    struct dse_common *f = &floor->common, *c = &ceiling->common;
    toy_bound_set(&f->latency_us, &c->latency_us, step_us);
    toy_bound_set(&f->tokens_per_s, &c->tokens_per_s, dse_iv_scale(dse_iv_div(batch, step_us), DSE_US_PER_S));
    toy_bound_set(&f->attention_us, &c->attention_us, dse_iv_div(dse_iv_scale(dse_iv_mul(batch, kv), 2), bytes_per_us));
    toy_bound_set(&f->power_w, &c->power_w, dse_iv_scale(dse_iv_mul(tiles, clock), 2));
    toy_bound_set(&f->area_mm2, &c->area_mm2, dse_iv_add(dse_iv_scale(tiles, 1.5), dse_iv_scale(sram, 0.75)));
    toy_bound_set(&f->dram_mib, &c->dram_mib, dse_iv_div(bytes, dse_iv_scale(batch, DSE_MIB)));
    toy_bound_set(&floor->macs_per_s, &ceiling->macs_per_s, dse_iv_scale(dse_iv_div(macs, step_us), DSE_US_PER_S));
    toy_bound_set(&floor->active, &ceiling->active, active);
    f->latency_us *= toy_bound_factor;
    floor->rounds = (lo->llm->heads * lo->batch + hi->tiles - 1) / hi->tiles;
    ceiling->rounds = (lo->llm->heads * hi->batch + lo->tiles - 1) / lo->tiles;
    f->energy_mj = c->energy_mj = f->compute_utilization = c->compute_utilization = f->dram_utilization = c->dram_utilization = NAN;
    f->gco2_per_mtoken = c->gco2_per_mtoken = NAN;
    return true;
}

static bool toy_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct toy_params *p = params;
    struct toy_work w = toy_work(p);
    double layers = (double)p->llm->layers, batch = (double)p->batch;
    struct toy_load load = {.layers = (uint64_t)p->llm->layers,
                            .weight_bytes = 2 * w.weights / layers,
                            .kv_bytes = 2 * batch * w.kv / layers,
                            .weight_macs = batch * w.weights / layers,
                            .kv_macs = batch * w.kv / layers,
                            .bytes_per_s = w.bytes_per_s,
                            .macs_per_s = w.macs_per_s};
    struct toy_ran ran = toy_run(sim, &load, &p->events);
    if (ran.done)
        toy_fill(p, &w, ran.seconds * DSE_US_PER_S + p->overhead_us, ran.bytes, ran.busy_seconds * DSE_US_PER_S, metrics,
                 breakdown);
    return ran.done;
}

static const struct dse_metric toy_equations_table[] = {
    DSE_METRIC_F64(struct toy_equations, kv_mib, "MiB", DSE_LESS, "keys and values", "T7"),
    DSE_METRIC_F64(struct toy_equations, weights_gib, "GiB", DSE_LESS, "weights", "T8"),
    DSE_METRIC_F64(struct toy_equations, macs_per_tile, "", DSE_NEITHER, "multiply-adds of a tile", "T9"),
    DSE_METRIC_END,
};

static void toy_equate(const void *params, void *equations)
{
    const struct toy_params *p = params;
    const struct dse_llm *l = p->llm;
    double kv = 2 * (double)(l->layers * l->kv_heads * l->head_dim * p->batch * p->context);
    double weights = (double)(l->layers * l->hidden) * (double)(4 * l->hidden + l->ffn * l->ffn_matrices);
    *(struct toy_equations *)equations = (struct toy_equations){
        .kv_mib = 2 * kv / DSE_MIB,
        .weights_gib = 2 * weights / DSE_GIB,
        .macs_per_tile = p->batch > 1 ? (double)p->batch * weights / (double)p->tiles : (double)NAN,
    };
}

static const char *const toy_without[] = {"energy_mj", NULL};

const struct dse_model dse_model_toy = {
    .name = "toy",
    .title = "a made-up machine for tests",
    .cite = "none",
    .version = 1,
    .params = toy_params_table,
    .params_size = sizeof(struct toy_params),
    .metrics = toy_metrics_table,
    .metrics_size = sizeof(struct toy_metrics),
    .without = toy_without,
    .resolve = toy_resolve,
    .check = toy_check,
    .estimate = toy_estimate,
    .bound = toy_bound,
    .simulate = toy_simulate,
    .equations = toy_equations_table,
    .equations_size = sizeof(struct toy_equations),
    .equate = toy_equate,
};

/* ---- pebble ----------------------------------------------------------------------------------------------------------- */

static const struct dse_param pebble_params_table[] = {
    DSE_PARAM_REF(struct pebble_params, llm, struct dse_llm, DSE_KIND_LLM, "shape of the model served", ""),
    DSE_PARAM_I64(struct pebble_params, batch, 1, 4096, "sequences processed together", ""),
    DSE_PARAM_I64(struct pebble_params, context, 1, 1000000, "positions in the KV cache", ""),
    DSE_PARAM_F64(struct pebble_params, clock_ghz, "GHz", 0.1, 10, "clock of every lane", ""),
    DSE_PARAM_I64(struct pebble_params, lanes, 1, 1024, "lanes", ""),
    DSE_PARAM_I64(struct pebble_params, layers, 1, 256, "layers of the LLM that are run; set by llm", ""),
    DSE_EMBED(struct pebble_params, request, struct dse_request, dse_request_params),
    DSE_PARAM_END,
};

static const struct dse_metric pebble_metrics_table[] = {
    DSE_METRIC_EMBED(struct pebble_metrics, common, struct dse_common, dse_common_metrics),
    DSE_METRIC_END,
};

static void pebble_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    const struct pebble_params *p = params;
    double layers = (double)p->layers, hidden = (double)p->llm->hidden, batch = (double)p->batch;
    double mean = (double)p->request.prompt + 0.5 * (double)(p->request.generate + 1);
    double context = p->request.generate ? mean : (double)p->context;
    double weights = layers * hidden * (4 * hidden + (double)(p->llm->ffn * p->llm->ffn_matrices));
    double attention = 2 * layers * hidden * context;
    double rate = (double)p->lanes * p->clock_ghz * DSE_GIGA;
    double attention_us = batch * attention / rate * DSE_US_PER_S;
    double step_us = batch * weights / rate * DSE_US_PER_S + attention_us;
    *(struct pebble_metrics *)metrics = (struct pebble_metrics){
        .common =
            {
                .tokens_per_s = batch / step_us * DSE_US_PER_S,
                .latency_us = step_us,
                .attention_us = attention_us,
                .energy_mj = step_us / batch * 1e-3,
                .power_w = 1,
                .area_mm2 = 0.25 * (double)p->lanes,
                .dram_mib = (2 * weights / batch + 2 * attention) / DSE_MIB,
                .compute_utilization = 1,
                .dram_utilization = 0,
                .bound = DSE_BOUND_COMPUTE,
            },
    };
    dse_breakdown_add(breakdown, (struct dse_part){.name = "work",
                                                   .bound = dse_bound_names[DSE_BOUND_COMPUTE],
                                                   .time_us = step_us,
                                                   .dram_bytes = 2 * weights + 2 * attention * batch,
                                                   .ops = DSE_OPS_PER_MAC * batch * (weights + attention),
                                                   .energy_mj = step_us * 1e-3});
}

const struct dse_model dse_model_pebble = {
    .name = "pebble",
    .title = "another made-up machine for tests",
    .cite = "none",
    .version = 1,
    .params = pebble_params_table,
    .params_size = sizeof(struct pebble_params),
    .metrics = pebble_metrics_table,
    .metrics_size = sizeof(struct pebble_metrics),
    .estimate = pebble_estimate,
};
