/* The Neural Engine with a static-shape KV cache: the tables, check, estimate and equate. The closed form is in ane_call.c (one
 * call) and ane_step.c (calls put together), the event level in ane_events.c. */
#include "ane.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>
#include <stddef.h>

static const double ms_per_s = 1e3;

static const char *const caches[] = {[ANE_TWO_MODEL] = "two-model", [ANE_SLID_OUTPUT] = "slid-output",
                                     [ANE_CHUNKS] = "chunks",       [ANE_LAZY_SOFTMAX] = "lazy-softmax",
                                     [ANE_STACKED] = "stacked",     [ANE_LATE_TRANSPOSE] = "late-transpose",
                                     [ANE_NONE] = "none",           NULL};
static const char *const joinings[] = {[ANE_PAIRWISE] = "pairwise", [ANE_AT_ONCE] = "at-once", NULL};
static const char *const overlaps[] = {[ANE_MAX] = "max", [ANE_SUM] = "sum", NULL};
static const char *const slide_times[] = {[ANE_HIDDEN] = "hidden", [ANE_EXPOSED] = "exposed", NULL};
static const char *const layouts[] = {[ANE_EVEN] = "even", [ANE_ROW] = "row", [ANE_SQUARE] = "square", NULL};
static const char *const slide_eachs[] = {[ANE_EACH_BLOCK] = "block", [ANE_EACH_CALL] = "call", NULL};
static const char *const overflows[] = {[ANE_REFUSE] = "refuse", [ANE_DISCARD] = "discard", NULL};
static const char *const expert_dispatches[] = {
    [ANE_ALL_EXPERTS] = "all", [ANE_GATHERED_EXPERTS] = "gathered", [ANE_EXPERT_PROGRAMS] = "programs", NULL};
static const char *const heads[] = {[ANE_EVERY_ROW] = "every-row", [ANE_LAST_ROW] = "last-row", NULL};

#define GUIDE "Bryngelson, arXiv:2606.22283, "

#define P struct ane_params
static const struct dse_param ane_params_table[] = {
    DSE_EMBED(P, workload, struct dse_workload, dse_workload_params),
    DSE_EMBED(P, kept, struct dse_cache, dse_cache_params),
    DSE_EMBED(P, economics, struct dse_economics, dse_economics_params),
    DSE_EMBED(P, request, struct dse_request, dse_request_params),
    DSE_EMBED(P, dram, struct dse_dram, dse_dram_stream_params),
    DSE_EMBED(P, links, struct dse_links, dse_links_params),
    DSE_PARAM_I64(P, window, 0, 2097152, "rows of K: positions a token can attend to; 0: as many as the context or request needs",
                  "Static Shaped Attention, E1"),
    DSE_PARAM_I64(P, query_rows, 1, 131072, "rows of Q: tokens per call", "Static Shaped Attention, E1"),
    DSE_PARAM_I64(P, row_multiple, 1, 1024, "the engine computes rows in multiples of this", "Static Shaped Attention, E2"),
    DSE_PARAM_ENUM(P, cache, caches, "design of the cache: the one chosen (two-model), five alternatives, or no cache", "E3"),
    DSE_PARAM_ENUM(P, joining, joinings, "concatenation of many tensors: pairwise, which rewrites each partial result, or at once",
                   "E3"),
    DSE_PARAM_ENUM(P, slide, slide_times, "cache slide: hidden in the engine's idle time, or exposed", "Fast Sliding Cache, E6"),
    DSE_PARAM_ENUM(P, slide_each, slide_eachs, "generation: the cache slides per full block of query_rows, or per call",
                   "Fast Sliding Cache, E7"),
    DSE_PARAM_I64(P, slide_programs, 1, 1024, "programs per cache slide, each with its own dispatch", "E6"),
    DSE_PARAM_ENUM(P, overflow, overflows, "positions beyond the window: refuse the point, or discard the oldest",
                   "Fast Sliding Cache, E1"),
    DSE_PARAM_ENUM(P, head_rows, heads, "rows that the output head computes", "Attention Crash Course, E4"),
    DSE_PARAM_ENUM(P, expert_dispatch, expert_dispatches,
                   "routed experts per call: all, those chosen by its rows, or those chosen with one program each", "E18"),
    DSE_PARAM_I64(P, seed, 0, 9007199254740992, "event level: seed of the random choice of experts", "E18"),
    DSE_PARAM_ENUM(P, overlap, overlaps, "compute and memory time of an operator: the longer of the two, or their sum", "E4"),
    DSE_PARAM_REF(P, npu, struct dse_npu, DSE_KIND_NPU,
                  "the engine; sets the defaults of its rate, dispatch, power and shape costs", "E4"),
    DSE_PARAM_ENUM(P, layout, layouts,
                   "tensor shapes of linear layers: even (one rate for all), row (channels, 1, rows), or square (channels, "
                   "height, width)",
                   "E4"),
    DSE_PARAM_F64(P, fill_rows, "", 0, 1e5, "layout = row, square: weight loading of a layer, in rows of equal compute time", "E4"),
    DSE_PARAM_F64(P, square_gain, "", 1, 100, "layout = square: speedup of a layer, as far as its rows allow",
                  "github.com/smpanaro/coreml-llm-cli, E4"),
    DSE_PARAM_F64(P, narrow_gain, "", 1, 16, "largest speedup of streaming weights narrower than 16 bits", GUIDE "ch. 7, E4"),
    DSE_PARAM_F64(P, engine_tflops, "Tflop/s", 0.01, 1000, "fp16 rate of the engine", GUIDE "ch. 9: slope of fused matmuls, M1"),
    DSE_PARAM_F64_AUTO(P, concat_gbs, "GB/s", 0.1, 10000, NULL,
                       "bandwidth of concatenations, copies and partial sums, at most the DRAM's; auto: the DRAM's", "E5"),
    DSE_PARAM_F64_AUTO(P, transpose_gbs, "GB/s", 0.1, 10000, NULL,
                       "bandwidth of transpositions, at most the DRAM's; auto: the DRAM's", "E5"),
    DSE_PARAM_F64(P, engine_tile_kib, "KiB", 0.001, 1e6,
                  "event level: data on the engine while more arrives: half of the engine's memory",
                  GUIDE "2 MB; halving it is ours, E12"),
    DSE_PARAM_F64(P, dispatch_us, "us", 0, 100000, "minimum time of a dispatch", GUIDE "ch. 9: 0.23 ms, M1"),
    DSE_PARAM_I64(P, programs, 1, 1024, "programs per call, each with its own dispatch", "E4"),
    DSE_PARAM_F64(P, host_gap_us, "us", 0, 1000000, "host time after a call, in which the engine can slide the cache", "E6"),
    DSE_PARAM_ENUM(P, power, dse_power_names, "engine power: from activity, or constant at reference_power_w", "E9"),
    DSE_PARAM_F64(P, reference_power_w, "W", 0, 1000, "power = constant: engine power", "github.com/smpanaro/coreml-llm-cli"),
    DSE_PARAM_F64(P, engine_idle_w, "W", 0, 1000, "engine power while waiting for the host", "E9"),
    DSE_PARAM_F64(P, engine_base_w, "W", 0, 1000, "engine power while streaming, with next to no compute",
                  GUIDE "ch. 10: bandwidth-bound matmul"),
    DSE_PARAM_F64(P, engine_op_pj, "pJ", 0, 1000, "energy of an operation on top of engine_base_w", GUIDE "ch. 10: datapath, M1"),
    DSE_PARAM_END,
};
#undef P

#define M struct ane_metrics
static const struct dse_metric ane_metrics_table[] = {
    DSE_METRIC_EMBED(M, common, struct dse_common, dse_common_metrics),
    DSE_METRIC_F64(M, engine_power_w, "W", DSE_LESS, "average power of the engines, without DRAM", "E9"),
    DSE_METRIC_I64(M, calls, DSE_LESS, "calls of a step, all sequences and stages together", "E7", .mean = DSE_MEAN_STEP),
    DSE_METRIC_F64(M, call_us, "us", DSE_LESS, "time of one call", "E4"),
    DSE_METRIC_F64(M, slide_us, "us", DSE_LESS, "time of sliding the cache once", "E6"),
    DSE_METRIC_F64(M, exposed_slide_us, "us", DSE_LESS, "part of latency_us in which only the cache slide runs", "E6"),
    DSE_METRIC_F64(M, request_ms, "ms", DSE_LESS,
                   "time of one request, prompt and generation; generate = 0: a prompt of context tokens", "E8",
                   .mean = DSE_MEAN_REQUEST),
    DSE_METRIC_F64(M, wasted_rows, "", DSE_LESS, "share of the computed rows that are unused", "E7"),
    DSE_METRIC_F64(M, weights_mib, "MiB", DSE_LESS, "DRAM traffic per token: weights", "E4"),
    DSE_METRIC_F64(M, kv_mib, "MiB", DSE_LESS, "DRAM traffic per token: keys, values and states that calls read and return", "E4"),
    DSE_METRIC_F64(M, concat_mib, "MiB", DSE_LESS, "DRAM traffic per token: concatenations, copies and partial sums", "E5"),
    DSE_METRIC_F64(M, transpose_mib, "MiB", DSE_LESS, "DRAM traffic per token: transpositions", "E5"),
    DSE_METRIC_F64(M, slide_mib, "MiB", DSE_LESS, "DRAM traffic per token: cache slides", "E6"),
    DSE_METRIC_CACHED_POSITIONS(M, "E14"),
    DSE_METRIC_F64(M, technique_mib, "MiB", DSE_LESS, "DRAM traffic per token: counts of the eviction policy", "E14"),
    DSE_METRIC_F64_OR_NULL(M, retained_mass, "", DSE_MORE, "share of the softmax mass on the kept positions, if measured", "E14",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error, "", DSE_LESS, "relative error (norm) of the attention output, if measured", "E14",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(M, attention_error_sd, "", DSE_LESS, "standard deviation of attention_error over heads", "E14",
                           .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_EMBED(M, task, struct dse_score, dse_score_metrics),
    DSE_METRIC_DRAM_FOOTPRINT(M, "E10"),
    DSE_METRIC_COMMUNICATION(M, "E22"),
    DSE_METRIC_F64(M, energy_links_mj, "mJ", DSE_LESS, "energy per token: links between chips", "E22"),
    DSE_METRIC_END,
};
#undef M

#define Q struct ane_equations
static const struct dse_metric ane_equations_table[] = {
    DSE_METRIC_F64(Q, rows_q, "", DSE_NEITHER, "rows of Q in a call", "E1"),
    DSE_METRIC_F64(Q, rows_k, "", DSE_NEITHER, "rows of K in a call", "E1"),
    DSE_METRIC_F64(Q, cached_rows, "", DSE_NEITHER, "rows of K that a call takes from the cache", "E1"),
    DSE_METRIC_F64(Q, returned_rows, "", DSE_NEITHER, "rows of K that a call returns", "E3"),
    DSE_METRIC_F64(Q, concats_per_k, "", DSE_LESS, "concatenations for one K in a call", "E3"),
    DSE_METRIC_F64(Q, concat_pieces, "", DSE_LESS, "tensors joined to make one K", "E3"),
    DSE_METRIC_F64(Q, chunk_inputs, "", DSE_LESS, "tensors of query_rows rows that hold the cached part of one K", "E3"),
    DSE_METRIC_F64(Q, additions_per_k, "", DSE_LESS, "additions of partial results instead of a concatenation", "E3"),
    DSE_METRIC_F64(Q, transpose_rows, "", DSE_LESS, "rows of one K transposed in a call", "E3"),
    DSE_METRIC_F64(Q, prefill_calls, "", DSE_LESS, "calls for the prompt", "E7"),
    DSE_METRIC_F64(Q, prefill_calls_per_slide, "", DSE_NEITHER, "calls for each slide of the cache in prefill", "E7"),
    DSE_METRIC_F64(Q, generate_calls_per_slide, "", DSE_NEITHER, "calls for each slide of the cache in generation", "E7"),
    DSE_METRIC_F64(Q, concat_call_mib, "MiB", DSE_LESS, "traffic of a call: concatenations, copies and partial sums", "E5"),
    DSE_METRIC_F64(Q, transpose_call_mib, "MiB", DSE_LESS, "traffic of a call: transpositions", "E5"),
    DSE_METRIC_F64(Q, returned_call_mib, "MiB", DSE_LESS, "traffic of a call: keys and values returned", "E3"),
    DSE_METRIC_F64(Q, one_slide_mib, "MiB", DSE_LESS, "traffic of one cache slide", "E6"),
    DSE_METRIC_F64(Q, balanced_rows, "", DSE_NEITHER, "query rows at which computing takes as long as streaming the weights", "E4"),
    DSE_METRIC_F64(Q, prefill_ms, "ms", DSE_LESS, "time of the prompt of a request", "E8"),
    DSE_METRIC_F64(Q, generate_ms, "ms", DSE_LESS, "time of the generation of a request", "E8"),
    DSE_METRIC_F64(Q, best_query_rows, "", DSE_NEITHER, "query_rows of the shortest request, a multiple of row_multiple", "E8"),
    DSE_METRIC_F64(Q, best_request_ms, "ms", DSE_LESS, "time of the request with best_query_rows", "E8"),
    DSE_METRIC_END,
};
#undef Q

static void ane_resolve(void *params)
{
    struct ane_params *p = params;
    dse_dram_resolve(&p->dram);
    dse_economics_resolve(&p->economics);
    double stream_gbs = dse_dram_stream_rate(&p->dram) / DSE_GIGA;
    if (isnan(p->concat_gbs)) p->concat_gbs = stream_gbs;
    if (isnan(p->transpose_gbs)) p->transpose_gbs = stream_gbs;
}

static const char no_room[] = "weights and KV cache do not fit the memory (capacity_gib)";

static const char *ane_check(const void *params)
{
    const struct ane_params *p = params;
    struct ane_request r = ane_request_of(p);
    struct ane_shape s;
    const char *why = dse_cache_check_llm(&p->kept, p->workload.llm);
    if (!why) why = ane_llms_check(p);
    if (why) return why;
    ane_shape_init(&s, p, (double)p->query_rows, r.kept);
    why = ane_cache_check(p);
    if (!why) why = dse_kv_format_check(&p->workload);
    if (!why) why = dse_links_check(&p->links, (double)dse_workload_chips(&p->workload));
    if (why) return why;
    if ((s.simple ? r.last : ane_longest(p)) > (double)p->workload.llm->max_context)
        return r.generate > 0 ? "prompt and generation are longer than the LLM's max_context"
                              : "the context is longer than the LLM's max_context";
    if (s.rows > (p->window > 0 ? s.window : r.kept)) return "query_rows is more than the window or the context";
    if (ane_verified_rows(p) > s.rows) return "draft_tokens + 1 is more than query_rows";
    if (!ane_fits(p, &s, r.kept)) return "the context does not fit the window in whole blocks of query_rows (window, overflow)";
    if (p->workload.phase == DSE_PREFILL && p->cache == ANE_NONE && r.prompt > s.window)
        return "a prompt longer than the window needs a cache (window, cache)";
    if (ane_footprint(p, &s) > p->dram.capacity_gib * DSE_GIB) return no_room;
    if (p->power == DSE_POWER_ACTIVITY && p->engine_idle_w > p->engine_base_w) return "engine_idle_w is above engine_base_w";
    return NULL;
}

static bool ane_shortage(const void *params, const char *reason, struct dse_shortage *ret)
{
    const struct ane_params *p = params;
    struct ane_shape s;
    ane_shape_init(&s, p, (double)p->query_rows, ane_request_of(p).kept);
    *ret = (struct dse_shortage){ane_footprint(p, &s) / DSE_GIB, p->dram.capacity_gib, "GiB"};
    return reason == no_room;
}

/* ---- estimate ----------------------------------------------------------------------------------------------------------- */

static double attention_s(const struct ane_call *c)
{
    double s = 0;
    for (int i = 0; i < c->n_ops; i++)
        if (c->op[i].attention) s += c->op[i].time_s;
    return s;
}

/* What the larger share of the step's time is bound by. */
static int32_t bound_of(const struct ane_call *c, const struct ane_slide_run *slide, const struct ane_step *s)
{
    double share[DSE_BOUND_COUNT] = {0}, calls = s->all_calls;
    for (int i = 0; i < c->n_ops; i++) share[c->op[i].bound] += calls * c->op[i].time_s;
    share[DSE_BOUND_DRAM] += s->all_slides * slide->exposed_s;
    share[DSE_BOUND_LATENCY] += calls * c->dispatch_s + s->gap_s + s->send_s + (s->time_s - s->working_s);
    return dse_bound_of(share[DSE_BOUND_COMPUTE], share[DSE_BOUND_DRAM], share[DSE_BOUND_LATENCY]);
}

/* The computer that has the engine: it is sold in no other way. Its die is the whole SoC. */
struct dse_bill ane_bill_of(const struct ane_params *p)
{
    enum { NODE_NM = 5 };
    struct dse_trade sold = {.node_nm = NODE_NM, .low_usd_h = (double)NAN, .rent_usd_h = (double)NAN, .high_usd_h = (double)NAN};
    double *const usd[DSE_BANDS] = {&sold.low_usd, &sold.price_usd, &sold.high_usd};
    for (int band = 0; band < DSE_BANDS; band++)
        *usd[band] = dse_constant(p->economics.costs, DSE_C_apple_computer_usd, band, p->economics.price_year);
    struct dse_bill bill = dse_bill_of_boards(&p->economics, (double)dse_workload_chips(&p->workload), &sold);
    bill.is_whole = true;
    bill.die_mm2 = dse_physical(p->economics.costs, DSE_C_apple_die_mm2);
    bill.memory_kind = p->dram.memory->make.kind;
    bill.memory_gib = p->dram.capacity_gib;
    return bill;
}

/* Of the rows that the window holds attention is exact. NULL, or why nobody knows what the others are worth. */
static bool forgets(const struct ane_params *p)
{
    const struct ane_request r = ane_request_of(p);
    struct ane_shape s;
    ane_shape_init(&s, p, (double)p->query_rows, r.kept);
    return ane_forgets(p, &s, r.kept);
}

static const char forgotten[] = "the loss from discarding the oldest positions was not measured (window, overflow)";

static const char *quality(const struct ane_params *p, struct dse_kept *ret)
{
    const struct dse_cache_steps steps = ane_cache_steps(p);
    if (!forgets(p)) return dse_cache_quality(&steps, ret);
    *ret = (struct dse_kept){.mass = (double)NAN, .error = (double)NAN, .error_sd = (double)NAN};
    return forgotten;
}

static const char *score_of(const struct ane_params *p, struct dse_score *ret)
{
    const struct dse_cache_steps steps = ane_cache_steps(p);
    if (!forgets(p)) return dse_cache_score(&steps, ret);
    *ret = (struct dse_score){(double)NAN, (double)NAN};
    return forgotten;
}

static const char *why_null(const void *params, const char *metric)
{
    const struct dse_bill bill = ane_bill_of(params);
    struct dse_kept kept;
    struct dse_score score;
    const struct dse_cache_steps steps = ane_cache_steps(params);
    if (strncmp(metric, "task_", strlen("task_")) == 0) {
        const char *unscored = score_of(params, &score);
        return dse_score_why_null(unscored, &score, metric);
    }
    const bool of_quality =
        strcmp(metric, "retained_mass") == 0 || strncmp(metric, "attention_error", strlen("attention_error")) == 0;
    const char *why = of_quality ? quality(params, &kept) : NULL;
    if (why && strcmp(metric, "retained_mass") == 0 && !isnan(kept.mass)) why = NULL; /* all stay, in whatever format */
    if (!why) why = dse_cache_why_null(&steps, metric);
    if (why) return why;
    return dse_bill_why_null(&bill, metric);
}

/* E14. */
static void fill_cache(struct ane_metrics *m, const struct ane_params *p, const struct ane_call *call, const struct ane_step *step)
{
    const struct ane_request r = ane_request_of(p);
    const bool prefill = p->workload.phase == DSE_PREFILL;
    const double first = prefill ? 1 : r.generate > 0 ? r.prompt + 1 : r.last, last = prefill ? r.prompt : r.last;
    struct dse_kept kept;
    quality(p, &kept);
    m->cached_positions = ane_mean_seen(first, last, dse_min(r.kept, call->shape.window));
    m->technique_mib = call->count_bytes * step->sequences * step->calls / (DSE_MIB * step->tokens);
    m->retained_mass = kept.mass;
    m->attention_error = kept.error;
    m->attention_error_sd = kept.error_sd;
    score_of(p, &m->task);
}

static void fill_common(struct dse_common *m, const struct ane_params *p, const struct ane_call *c,
                        const struct ane_slide_run *slide, const struct ane_step *s)
{
    const struct dse_bill bill = ane_bill_of(p);
    const double chips = (double)dse_workload_chips(&p->workload);
    struct dse_totals totals = {
        .tokens = s->tokens,
        .seconds = s->time_s,
        .attention_s = s->all_calls * attention_s(c),
        .joules = s->joules,
        .bytes = s->bytes,
        .ops = s->useful_ops,
        .peak_ops = chips * p->engine_tflops * ANE_TERA,
        .peak_bytes = chips * dse_dram_peak(&p->dram),
        .area_mm2 = (double)NAN,
        .bound = bound_of(c, slide, s),
        .bill = &bill,
    };
    *m = dse_common_of(&totals);
}

void ane_fill(const struct ane_params *p, const struct ane_call *call, const struct ane_slide_run *slide, struct ane_metrics *m,
              struct dse_breakdown *breakdown)
{
    const struct ane_shape *shape = &call->shape;
    struct ane_request r = ane_request_of(p);
    struct ane_step step;
    ane_step_init(&step, p, call, slide);

    double mib = step.engines * step.all_calls / (DSE_MIB * step.tokens);
    fill_common(&m->common, p, call, slide, &step);
    m->calls = (int64_t)(step.calls * ane_stages(p));
    m->call_us = call->time_s * DSE_US_PER_S;
    m->slide_us = slide->time_s * DSE_US_PER_S;
    m->exposed_slide_us = step.all_slides * slide->exposed_s * DSE_US_PER_S;
    m->request_ms = (ane_prefill_s(p, call, slide, r.prompt) + ane_generate_s(p, call, slide, r.generate)) * ms_per_s;
    m->wasted_rows = 1 - step.asked_rows / (step.all_calls * shape->computed);
    m->weights_mib = call->weight_bytes * mib;
    m->kv_mib = call->kv_bytes * mib;
    m->concat_mib = call->concat_bytes * mib;
    m->transpose_mib = call->transpose_bytes * mib;
    m->slide_mib = step.engines * step.all_slides * slide->bytes / (DSE_MIB * step.tokens);
    m->dram_footprint_gib = ane_footprint_of(p, call) / DSE_GIB;
    m->communication_us = step.send_s * DSE_US_PER_S;
    m->energy_links_mj = step.link_joules * DSE_MJ_PER_J / step.tokens;
    fill_cache(m, p, call, &step);
    m->engine_power_w = dse_max(0, step.joules - dse_dram_joules(&p->dram, step.bytes) - step.link_joules) / step.time_s;
    if (breakdown) ane_break_down(p, call, slide, &step, breakdown);
}

static void ane_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    const struct ane_params *p = params;
    struct ane_request r = ane_request_of(p);
    struct ane_shape shape;
    struct ane_call call;
    ane_shape_init(&shape, p, (double)p->query_rows, r.kept);
    ane_call_init(&call, p, &shape);
    struct ane_slide_run slide = ane_slide_of(p, &call);
    ane_fill(p, &call, &slide, metrics, breakdown);
}

/* ---- equations ---------------------------------------------------------------------------------------------------------- */

static double inverse(double x)
{
    return x > 0 ? 1 / x : (double)NAN;
}

static void ane_equate(const void *params, void *equations)
{
    const struct ane_params *p = params;
    struct ane_equations *e = equations;
    struct ane_request r = ane_request_of(p);
    struct ane_shape s;
    struct ane_call c;
    double best_s;
    if (ane_llms_check(p)) {
        dse_equations_unknown(e, sizeof *e);
        return;
    }
    ane_shape_init(&s, p, (double)p->query_rows, r.kept);
    ane_call_init(&c, p, &s);
    struct ane_slide_run slide = ane_slide_of(p, &c);
    double both_mib = (s.simple ? 2 * s.layers * s.row_bytes : c.row_bytes) / DSE_MIB;
    e->rows_q = s.rows;
    e->rows_k = s.window;
    e->cached_rows = s.cached;
    e->returned_rows = p->cache == ANE_NONE ? 0 : p->cache == ANE_SLID_OUTPUT ? s.cached : s.rows;
    e->concats_per_k = c.k.concats;
    e->concat_pieces = c.k.pieces;
    e->chunk_inputs = c.k.chunk_inputs;
    e->additions_per_k = c.k.additions;
    e->transpose_rows = c.k.transposed_rows;
    e->prefill_calls = ane_prefill_calls(p, &s, r.prompt);
    e->prefill_calls_per_slide = inverse(slide.per_prefill_call);
    e->generate_calls_per_slide = inverse(slide.per_generate_call);
    e->concat_call_mib = c.concat_bytes / DSE_MIB;
    e->transpose_call_mib = c.transpose_bytes / DSE_MIB;
    e->returned_call_mib = e->returned_rows * both_mib;
    e->one_slide_mib = slide.bytes / DSE_MIB;
    e->balanced_rows = p->engine_tflops * ANE_TERA / dse_dram_stream_rate(&p->dram) *
                       ((double)p->workload.weight_bits + p->workload.weight_scale_bits) / (DSE_BITS_PER_BYTE * DSE_OPS_PER_MAC);
    e->prefill_ms = ane_prefill_s(p, &c, &slide, r.prompt) * ms_per_s;
    e->generate_ms = ane_generate_s(p, &c, &slide, r.generate) * ms_per_s;
    ane_best_query_rows(p, &e->best_query_rows, &best_s);
    e->best_request_ms = best_s * ms_per_s;
}

static const char *const without[] = {"area_mm2", NULL};

static const struct dse_trend trends[] = {
    {.param = "bandwidth_gbs", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "engine_tflops", .metric = "tokens_per_s", .effect = DSE_MORE},
    {.param = "engine_tflops", .metric = "energy_mj", .effect = DSE_LESS},
    {.param = "context", .metric = "latency_us", .effect = DSE_MORE},
    /* A longer prompt fills its last call better: its tokens can be cheaper. */
    {.param = "context", .metric = "tokens_per_s", .effect = DSE_LESS, .where = "phase=decode"},
    {.param = "context", .metric = "energy_mj", .effect = DSE_MORE, .where = "phase=decode"},
    {.param = "prompt", .metric = "request_ms", .effect = DSE_MORE},
    {.param = "dispatch_us", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "host_gap_us", .metric = "tokens_per_s", .effect = DSE_LESS},
    {.param = "link_gbs", .metric = "tokens_per_s", .effect = DSE_MORE},
    {0},
};

/* The memory "lpddr5-m1-ane" is what an M1's engine was measured to draw, not what a chip has. */
static bool has_rate_of_another(const struct ane_params *p)
{
    const struct dse_memory *m = p->dram.memory;
    return strcmp(m->entry.name, "lpddr5-m1-ane") == 0 && strcmp(p->npu->entry.name, "m1") != 0 &&
           p->dram.bandwidth_gbs == (double)m->channels * m->channel_gbs;
}

static void ane_stand(const void *params, struct dse_standing *ret)
{
    const struct ane_params *p = params;
    const struct dse_cache_steps steps = ane_cache_steps(p);
    struct dse_kept kept;
    const char *why = quality(p, &kept);
    dse_cache_stand(&steps, ret);
    if (why) dse_standing_unknown(ret, why);
    if (has_rate_of_another(p))
        dse_standing_add(ret, "85 GB/s is the bandwidth of an M1's engine; this npu's was not measured (memory, bandwidth_gbs)");
}

const struct dse_model dse_model_ane = {
    .name = "ane",
    .title = "Neural Engine: static-shape KV cache on Apple chips",
    .cite =
        "In Pursuit of Fast KV-Cached Attention for Apple Neural Engine: Building a memory-friendly KV Cache with static shapes, "
        "blog post, October 10, 2024",
    .version = 9,
    .params = ane_params_table,
    .params_size = sizeof(struct ane_params),
    .metrics = ane_metrics_table,
    .metrics_size = sizeof(struct ane_metrics),
    .without = without,
    .resolve = ane_resolve,
    .check = ane_check,
    .shortage = ane_shortage,
    .estimate = ane_estimate,
    .bound = ane_bound,
    .simulate = ane_simulate,
    .why_null = why_null,
    .stand = ane_stand,
    .equations = ane_equations_table,
    .equations_size = sizeof(struct ane_equations),
    .equate = ane_equate,
    .trends = trends,
    .techniques = (const struct dse_technique[]){DSE_CACHE_TECHNIQUE, {NULL, NULL, NULL}},
};
