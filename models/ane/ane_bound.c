/* Bounds of the closed form over a box: what is asked for, the rows of a call, what check() can accept, and the metrics. */
#include "ane_bound.h"

#include <dse/units.h>

#include <math.h>
#include <string.h>

/* ---- what is asked for, and the rows ------------------------------------------------------------------------------------ */

static struct ane_request_bound asked_of(const struct ane_box *b)
{
    const struct dse_interval context = ANE_OF(b, workload.context), prompt = ANE_OF(b, request.prompt),
                              generate = dse_iv_clamp(ANE_OF(b, request.generate), 1, (double)INFINITY);
    struct ane_request_bound r = {.prompt = context, .first = context, .last = context};
    if (b->hi->request.generate == 0) return r;
    const struct ane_request_bound some = {.prompt = prompt,
                                           .generate = generate,
                                           .first = {prompt.lo + 1, prompt.hi + 1},
                                           .last = {prompt.lo + generate.lo, prompt.hi + generate.hi}};
    if (b->lo->request.generate > 0) return some;
    return (struct ane_request_bound){.prompt = dse_iv_hull(r.prompt, some.prompt),
                                      .generate = dse_iv_hull(r.generate, some.generate),
                                      .first = dse_iv_hull(r.first, some.first),
                                      .last = dse_iv_hull(r.last, some.last)};
}

/* E14. False: no cache of the box keeps anything. */
static bool request_of(const struct ane_box *b, struct ane_request_bound *ret)
{
    *ret = asked_of(b);
    if (!dse_cache_target_bound(&b->lo->kept, &b->hi->kept, &b->lo->workload, ret->prompt, &ret->target)) return false;
    ret->kept = dse_iv(dse_min(ret->last.lo, ret->target.lo), dse_min(ret->last.hi, ret->target.hi));
    return true;
}

static struct ane_shape_bound shape_of(const struct ane_box *b, const struct ane_request_bound *r, struct dse_interval query_rows)
{
    const bool kept = b->lo->cache != ANE_NONE;
    const struct dse_llm *llm = b->lo->workload.llm;
    const struct dse_interval wanted = kept ? ane_ceil_to(r->kept, query_rows) : r->kept;
    struct dse_interval given = dse_iv_clamp(ANE_OF(b, window), 1, (double)INFINITY);
    if (b->lo->overflow == ANE_REFUSE) given.lo = dse_clamp(wanted.lo, given.lo, given.hi); /* shorter ones are refused */
    struct ane_shape_bound s = {.layers = (double)llm->layers, .matrices = 2 * (double)llm->layers, .window = given};
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
    s.computed = ane_ceil_to(s.rows, ANE_OF(b, row_multiple));
    s.row_bytes = dse_iv_scale(dse_iv_add(ANE_OF(b, workload.kv_bits), ANE_OF(b, workload.kv_scale_bits)),
                               (double)(llm->kv_heads * llm->head_dim) / DSE_BITS_PER_BYTE);
    return s;
}

/* Useful operations a token. Positions that a token sees grow with the prompt, the generation and the window. */
static struct dse_interval useful_ops(const struct ane_box *b, const struct ane_request_bound *r, const struct ane_shape_bound *s,
                                      const struct ane_sum_bound *a)
{
    const bool prefill = b->lo->workload.phase == DSE_PREFILL;
    const struct dse_interval heads = prefill ? dse_iv_div(a->head_ops, r->prompt) : a->head_ops;
    if (b->llms) {
        const struct dse_interval pairs = prefill ? ane_llms_seen_bound(b, dse_iv_of(1), r->prompt, s->window)
                                                  : ane_llms_seen_bound(b, r->first, r->last, s->window);
        return dse_iv_add(a->row_ops, dse_iv_add(pairs, heads));
    }
    struct dse_interval seen = {ane_mean_seen(r->first.lo, r->last.lo, s->window.lo),
                                ane_mean_seen(r->first.hi, r->last.hi, s->window.hi)};
    if (prefill) seen = dse_iv(ane_mean_seen(1, r->prompt.lo, s->window.lo), ane_mean_seen(1, r->prompt.hi, s->window.hi));
    return dse_iv_add(a->row_ops, dse_iv_add(dse_iv_mul(dse_widened(seen.lo, seen.hi, ANE_REORDERED), a->pair_ops), heads));
}

/* E10. */
static struct dse_interval footprint(const struct ane_box *b, const struct ane_shape_bound *s)
{
    if (b->llms) return ane_llms_footprint_bound(b);
    struct dse_workload least = b->lo->workload, most = b->hi->workload;
    least.context = most.context = 0;
    const struct dse_interval weights = dse_iv_growing(dse_workload_footprint(&least), dse_workload_footprint(&most));
    const struct dse_interval layer = dse_iv_mul(s->window, dse_iv_scale(s->row_bytes, 2));
    if (b->lo->cache == ANE_NONE) return dse_iv_add(weights, layer);
    struct dse_interval rows = dse_iv_mul(ANE_OF(b, workload.batch), s->window);
    if (b->lo->cache != ANE_CHUNKS && b->lo->cache != ANE_LAZY_SOFTMAX) rows = dse_iv_add(rows, s->cached);
    return dse_iv_add(weights, dse_iv_mul(rows, dse_iv_scale(s->row_bytes, 2 * s->layers)));
}

/* ---- the box ------------------------------------------------------------------------------------------------------------- */

/* What check() asks for: leaves of the request and of query_rows what it can accept. False: nothing. */
static bool may_be_accepted(const struct ane_box *b, struct ane_request_bound *r, struct dse_interval *query_rows)
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

static bool may_fit(const struct ane_box *b, const struct ane_request_bound *r, const struct ane_shape_bound *s)
{
    const struct dse_interval wanted = b->lo->cache == ANE_NONE ? r->kept : ane_ceil_to(r->kept, s->rows);
    if (b->lo->overflow == ANE_REFUSE && wanted.lo > s->window.hi) return false;
    return footprint(b, s).lo <= b->hi->dram.capacity_gib * DSE_GIB;
}

/* ---- metrics ------------------------------------------------------------------------------------------------------------- */

struct ends {
    struct ane_metrics *floor, *ceiling;
};

#define SET(metric, value) dse_bound_set(&m->floor->metric, &m->ceiling->metric, value)

/* No more than the engine's at work, no less than idle: the gap of the host and slides hidden in it draw less (check). */
static struct dse_interval power_of(const struct ane_box *b, const struct ane_step_bound *s, bool with_dram)
{
    struct dse_interval j = dse_iv_add(s->engine_j, s->dram_j);
    const double lost = dse_above(j.hi, ANE_REORDERED) - j.hi; /* what ane_fill loses where it takes the DRAM's joules off again */
    if (!with_dram) j = dse_iv_add(s->engine_j, dse_iv(-lost, lost));
    struct dse_interval w = ane_at_least(dse_iv_div(j, s->time_s), 0);
    const double rate = dse_dram_stream_rate(&b->hi->dram), pj = b->hi->dram.dram_pj_per_bit * DSE_BITS_PER_BYTE * DSE_PICO;
    const double moving = with_dram ? rate * pj : 0, busy = b->hi->engine_base_w, ops = b->hi->engine_op_pj * DSE_PICO;
    const double most =
        (b->lo->power == DSE_POWER_CONSTANT ? b->hi->reference_power_w : busy + ops * b->hi->engine_tflops * ANE_TERA) + moving;
    const double least = b->lo->power == DSE_POWER_CONSTANT ? b->lo->reference_power_w : b->lo->engine_idle_w;
    const double off = with_dram ? 0 : lost / s->time_s.lo;
    w.hi = dse_min(w.hi, dse_above(most, ANE_REORDERED) + off);
    w.lo = dse_max(w.lo, dse_below(least, ANE_REORDERED) - off);
    return w;
}

/* Of sequences one after the other: a token costs the same with any number of them. */
static void fill_common(const struct ends *m, const struct ane_box *b, const struct ane_request_bound *r,
                        const struct ane_shape_bound *shape, const struct ane_step_bound *step, const struct ane_step_bound *token)
{
    const struct dse_interval batch = ANE_OF(b, workload.batch),
                              rows = b->lo->workload.phase == DSE_PREFILL ? r->prompt : dse_iv_of(1);
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
    t.peak_ops = dse_iv_scale(ANE_OF(b, engine_tflops), ANE_TERA);
    t.peak_bytes = dse_dram_peak_bound(&b->lo->dram, &b->hi->dram);
    t.bill_lo = &bill_lo;
    t.bill_hi = &bill_hi;
    dse_totals_narrow(&t);
    dse_common_bound(&t, &m->floor->common, &m->ceiling->common);
}

/* E14. Positions seen grow with the prompt, the generation, and what is kept. What is forgotten is of one point at a time. */
static void fill_cache(const struct ends *m, const struct ane_box *b, const struct ane_request_bound *r,
                       const struct ane_shape_bound *s)
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
    SET(cached_positions, dse_widened(seen.lo, seen.hi, ANE_REORDERED));
    SET(retained_mass, kept.mass);
    SET(attention_error, kept.error);
    SET(attention_error_sd, kept.error_sd);
    struct dse_interval score, loss;
    dse_cache_score_bound(&lo, &hi, &score, &loss);
    SET(task.task_score, score);
    SET(task.task_loss, loss);
}

static void fill(const struct ends *m, const struct ane_box *b, const struct ane_request_bound *r, const struct ane_shape_bound *s)
{
    const bool prefill = b->lo->workload.phase == DSE_PREFILL;
    const struct ane_slide_bound slide = ane_slide_of_bound(b, s);
    const struct ane_counts_bound one = ane_call_counts(s), prompt = ane_prompt_counts(b, s, r->prompt);
    const struct ane_counts_bound all = prefill ? prompt : one, each = prefill ? ane_token_counts(b, s, r->prompt) : one;
    const struct ane_sum_bound call = ane_sum_of_bound(b, s, &one), whole = ane_sum_of_bound(b, s, &prompt);
    const struct ane_step_bound step = ane_step_of_bound(b, &slide, &all, prefill ? whole : call),
                                token = prefill ? ane_step_of_bound(b, &slide, &each, ane_sum_of_bound(b, s, &each)) : step;
    const struct dse_interval gap_s = dse_iv_scale(ANE_OF(b, host_gap_us), 1 / DSE_US_PER_S), mib = dse_iv_of(1 / DSE_MIB);
    const struct dse_interval prompt_s =
        dse_iv_add(whole.time_s, dse_iv_mul(prompt.calls, dse_iv_add(gap_s, dse_iv_mul(slide.after_prompt, slide.exposed_s))));
    const struct dse_interval token_s = dse_iv_add(call.time_s, dse_iv_add(gap_s, dse_iv_mul(slide.after_token, slide.exposed_s)));
    fill_common(m, b, r, s, &step, &token);
    dse_bound_set_i64(&m->floor->calls, &m->ceiling->calls, all.calls);
    SET(call_us, dse_iv_scale(call.time_s, DSE_US_PER_S));
    SET(slide_us, dse_iv_scale(slide.time_s, DSE_US_PER_S));
    SET(exposed_slide_us, dse_iv_mul(ANE_OF(b, workload.batch), dse_iv_scale(step.slide_s, DSE_US_PER_S)));
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
    SET(communication_us, dse_iv_of(0));
    SET(energy_links_mj, dse_iv_of(0));
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

/* Several chips, sequences that differ, drafts, and experts whose loads differ between points are bounded nowhere. */
static bool is_bounded(const struct ane_params *lo, const struct ane_params *hi)
{
    const struct dse_workload *most = &hi->workload;
    if (dse_workload_chips(most) > 1) return false;
    if (most->speculation.draft_tokens > 0 || most->chunk_tokens > 0 || most->context_spread > 0) return false;
    const bool skewed = most->routing == DSE_ROUTING_POWER_LAW && lo->expert_dispatch != ANE_ALL_EXPERTS;
    return !skewed || lo->workload.routing_exponent >= most->routing_exponent;
}

/* Fills the bounds from the rows of a call. False: no point of the box fits. */
static bool bound_calls(const struct ane_box *b, const struct ane_request_bound *r, const struct ane_shape_bound *s, void *floor,
                        void *ceiling)
{
    if (!may_fit(b, r, s)) return false;
    const struct ends m = {floor, ceiling};
    fill(&m, b, r, s);
    return true;
}

static bool bound_llms(const struct ane_box *b, const struct ane_request_bound *r, const struct ane_shape_bound *s, void *floor,
                       void *ceiling)
{
    struct ane_llms_bound llms;
    const struct ane_box box = {b->lo, b->hi, &llms};
    ane_llms_bound_init(&llms, b, s);
    return bound_calls(&box, r, s, floor, ceiling);
}

bool ane_bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    struct ane_params least = *(const struct ane_params *)lo, most = *(const struct ane_params *)hi;
    const struct ane_box b = {&least, &most, NULL};
    if (ane_llms_never(&least)) return false;
    most.seed = least.seed; /* the event level's */
    if (!dse_workload_narrow(&least.workload, &most.workload, ANE_CAN)) return false;
    most.workload.tensor_parallel = least.workload.tensor_parallel; /* more of them are refused */
    most.workload.expert_parallel = least.workload.expert_parallel;
    if (dse_bound_same(&least, &most, sizeof least)) return bound_point(&least, floor, ceiling);
    if (!is_bounded(&least, &most)) {
        dse_bound_nothing(dse_model_ane.metrics, floor, ceiling);
        return true;
    }
    struct ane_request_bound r;
    struct dse_interval query_rows = ANE_OF(&b, query_rows);
    if (!request_of(&b, &r) || !may_be_accepted(&b, &r, &query_rows)) return false;
    const struct ane_shape_bound s = shape_of(&b, &r, query_rows);
    return (ane_is_simple(&least.workload) ? bound_calls : bound_llms)(&b, &r, &s, floor, ceiling);
}
