/* What LAD's decoding does to the output, where it was measured under the point's settings (E24), and what the statistics rest on.
 */
#include "lad.h"

#include <dse/num.h>

#include <math.h>
#include <string.h>

static const struct dse_measured *measured_of(const struct lad_params *p)
{
    return p->draws == LAD_REPLAY ? dse_recording_measured(p->recording) : dse_profile_measured(p->profile);
}

static bool is_locality_aware(const struct lad_params *p)
{
    return lad_works(p);
}

/* The settings that |C|, |M|, |J| and |U| depend on; which[i] names those that are not the ones measured. Returns how many. */
static int unlike_settings(const struct lad_params *p, const char *which[DSE_BEYOND_MAX])
{
    if (p->draws == LAD_SURFACE) { /* E39 */
        struct dse_quality_place at;
        which[0] = lad_surface_find(p, true, &at);
        return which[0] != NULL;
    }
    const struct dse_measured *m = measured_of(p);
    const char *const unlike[] = {dse_measured_unlike(m, DSE_SET_INTERVALS, (double)p->intervals),
                                  dse_measured_unlike(m, DSE_SET_RECENT, (double)p->recent),
                                  dse_measured_unlike(m, DSE_SET_KV_BITS, (double)p->workload.kv_bits)};
    int n = 0;
    for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++)
        if (unlike[i]) which[n++] = unlike[i];
    return n;
}

const char *lad_unlike(const struct lad_params *p)
{
    const char *which[DSE_BEYOND_MAX];
    return unlike_settings(p, which) ? which[0] : NULL;
}

/* Were the heads measured those of the point's LLM? */
static bool is_own(const struct lad_params *p)
{
    return p->draws == LAD_SURFACE ? dse_quality_on(p->cache.surface, p->workload.llm)
                                   : dse_measured_on(measured_of(p), p->workload.llm);
}

/* Why nobody measured what the point's output loses; NULL: it was. */
static const char *unknown(const struct lad_params *p)
{
    enum { CACHE_BITS = 16 };
    if (p->draws == LAD_REPLAY) return "recordings have no output error (draws)";
    const char *why = lad_unlike(p);
    const bool surface = p->draws == LAD_SURFACE;
    if (!why && !is_own(p)) why = dse_llm_unlike_measured(p->workload.llm);
    if (!why && !surface) why = dse_measured_unlike(dse_profile_measured(p->profile), DSE_SET_SCORES, 0);
    if (why) return why;
    if (p->center_scale != 1) return "the output error was measured only with center_scale = 1";
    if (p->cache_bits < CACHE_BITS) return "the output error was measured only with cache_bits of 16 or more";
    if (!surface && isnan(dse_profile_error_at(p->profile, (double)p->workload.context).attention_error))
        return "the attention profile has no output error (profile)";
    return NULL;
}

static struct dse_cache_steps steps_of(const struct lad_params *p)
{
    return dse_cache_steps_of(&p->cache, &p->workload, NULL);
}

const char *lad_cache_check(const struct lad_params *p)
{
    const char *why = dse_cache_check(&p->cache, &p->workload, (double)p->workload.context);
    if (why) return why;
    if (p->decoding == LAD_LOCALITY_AWARE && !dse_eviction_at(p->cache.eviction)->keeps_all)
        return "eviction cannot be combined with decoding = locality-aware: its sums cannot drop a position (eviction, "
               "decoding)";
    if (p->decoding == LAD_LOCALITY_AWARE && p->cache.kv_format != DSE_KV_TOKEN)
        return "kv_format = kivi cannot be combined with decoding = locality-aware, which reads single positions "
               "(kv_format, decoding)";
    if (lad_works(p) && p->workload.speculation.draft_tokens > 0)
        return "draft_tokens cannot be combined with decoding = locality-aware: its sums cannot drop a rejected token "
               "(draft_tokens, decoding)";
    return NULL;
}

void lad_kept(const struct lad_params *p, struct dse_kept *ret)
{
    const struct dse_cache_steps steps = steps_of(p);
    dse_cache_quality(&steps, ret);
}

struct dse_locality_error lad_quality(const struct lad_params *p)
{
    if (!is_locality_aware(p)) return (struct dse_locality_error){0, 0};
    if (unknown(p)) return (struct dse_locality_error){(double)NAN, (double)NAN};
    struct dse_quality_place at;
    if (p->draws != LAD_SURFACE) return dse_profile_error_at(p->profile, (double)p->workload.context);
    lad_surface_find(p, true, &at); /* E39: known, as it is not unknown */
    return (struct dse_locality_error){dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR), dse_quality_mean(&at, DSE_Q_FALSE_NEGATIVE)};
}

double lad_error_spread(const struct lad_params *p)
{
    struct dse_quality_place at;
    if (!is_locality_aware(p) || p->draws != LAD_SURFACE || unknown(p) || lad_surface_find(p, true, &at)) return (double)NAN;
    return dse_quality_stat(&at, DSE_Q_ATTENTION_ERROR, DSE_Q_SD);
}

/* What says that the known error was not measured at such contexts; NULL: it was. */
static const char *extended(const struct lad_params *p)
{
    struct dse_quality_place at;
    if (p->draws != LAD_SURFACE) return dse_profile_beyond(p->profile, (double)p->workload.context);
    lad_surface_find(p, true, &at);
    return at.extended ? "quality is extended beyond the measured contexts (surface)" : NULL;
}

void lad_stand(const void *params, struct dse_standing *ret)
{
    const struct lad_params *p = params;
    const struct dse_cache_steps steps = steps_of(p);
    if (is_locality_aware(p))
        ret->quality = dse_quality_of_exact(&p->workload);
    else
        dse_cache_stand(&steps, ret);
    dse_standing_wide(ret, &p->workload);
    dse_standing_add(ret, dse_area_unpriced(p->clock_ghz, LAD_PUBLISHED_GHZ));
    dse_standing_add(ret, dse_area_without_edges(p->area));
    dse_standing_add(ret, dse_tech_sram_beyond(p->technology, dse_sram_node_nm(p->sram)));
    if (isnan(lad_links_mm2(p))) dse_standing_add(ret, lad_no_links_mm2);
    if (!is_locality_aware(p)) return;
    ret->statistics = lad_statistics(p);
    if (p->draws == LAD_DRAW) dse_standing_add(ret, dse_profile_beyond(p->profile, (double)p->workload.context));
    const char *which[DSE_BEYOND_MAX], *why = unknown(p);
    int n = unlike_settings(p, which);
    for (int i = 0; i < n; i++) dse_standing_add(ret, which[i]);
    if (why)
        dse_standing_unknown(ret, why);
    else
        dse_standing_measured(ret, is_own(p), extended(p));
}

const char *lad_score(const struct lad_params *p, struct dse_score *ret)
{
    enum { FULL_BITS = 16 };
    const struct dse_cache_steps steps = steps_of(p);
    if (!is_locality_aware(p)) return dse_cache_score(&steps, ret);
    struct dse_task_query q = {.llm = p->workload.llm,
                               .method = "lad",
                               .ratio = (double)NAN,
                               .given = 1u << DSE_SET_INTERVALS | 1u << DSE_SET_RECENT | 1u << DSE_SET_KV_BITS};
    q.setting[DSE_SET_INTERVALS] = (double)p->intervals;
    q.setting[DSE_SET_RECENT] = (double)p->recent;
    q.setting[DSE_SET_KV_BITS] = dse_min(FULL_BITS, (double)p->workload.kv_bits);
    *ret = (struct dse_score){(double)NAN, (double)NAN};
    if (!p->cache.task) return "no task is named (task)";
    if (dse_kv_scaled(&p->workload)) return "no task scores several techniques together (task)";
    return dse_task_find(p->cache.task, &q, ret);
}

const char lad_no_links_mm2[] = "the area of this link's PHY is not published, and area_mm2 excludes it (interconnect)";

const char *lad_why_null(const void *params, const char *metric)
{
    static const char *const statistics[] = {"centers", "active", "hit_ratio"}, *const errors[] = {"attention_error",
                                                                                                   "false_negative"};
    const struct lad_params *p = params;
    const char *why = dse_why_not_apart(p->power, metric);
    if (strcmp(metric, "links_mm2") == 0) return isnan(lad_links_mm2(p)) ? lad_no_links_mm2 : NULL;
    const struct dse_cache_steps steps = steps_of(p);
    if (strncmp(metric, "task_", strlen("task_")) == 0) {
        struct dse_score score;
        const char *unscored = lad_score(p, &score);
        return dse_score_why_null(unscored, &score, metric);
    }
    if (!why) why = dse_cache_why_null(&steps, metric);
    if (why || !is_locality_aware(p)) return why;
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
        if (strcmp(metric, statistics[i]) == 0) return lad_unlike(p);
    if (strcmp(metric, "attention_error_sd") == 0) {
        why = unknown(p);
        if (why || p->draws != LAD_SURFACE) return why ? why : "the attention profile has no spread over heads (profile)";
        return isnan(lad_error_spread(p)) ? "the quality file has no spread over heads (surface)" : NULL;
    }
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(metric, errors[i]) == 0) return unknown(p);
    return NULL;
}
