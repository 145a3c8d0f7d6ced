/* What a point's output rests on, where its cache loses positions. */
#include <dse/cache.h>

#include <math.h>
#include <string.h>

void dse_cache_stand(const struct dse_cache_steps *s, struct dse_standing *ret)
{
    ret->quality = dse_quality_of_exact(s->workload);
    const bool counted = s->arithmetic && s->workload->phase != DSE_PREFILL;
    const bool rounds = dse_cache_rounds(s);
    if (!dse_cache_loses(s) && !rounds && !counted) return;
    struct dse_kept q;
    const char *why = dse_cache_quality(s, &q);
    if (why) {
        dse_standing_unknown(ret, why);
        return;
    }
    dse_standing_measured(ret, dse_cache_measured_on(s),
                          q.extended ? "quality is extended beyond the measured contexts (surface)" : NULL);
    dse_standing_narrow(ret, s->workload);
}

const char *dse_cache_why_null(const struct dse_cache_steps *s, const char *metric)
{
    struct dse_kept q;
    struct dse_score score;
    if (strncmp(metric, "task_", strlen("task_")) == 0) {
        const char *unscored = dse_cache_score(s, &score);
        return dse_score_why_null(unscored, &score, metric);
    }
    const bool spread = strcmp(metric, "attention_error_sd") == 0;
    if (!spread && strcmp(metric, "retained_mass") != 0 && strcmp(metric, "attention_error") != 0) return NULL;
    if (strcmp(metric, "retained_mass") == 0 && dse_cache_rounds(s)) return NULL; /* all stay */
    struct dse_cache_steps asked = *s;
    if (strcmp(metric, "retained_mass") == 0) asked.arithmetic = NULL; /* which loses none */
    const char *why = dse_cache_quality(&asked, &q);
    if (why || !spread || !isnan(q.error_sd)) return why;
    return s->cache->quality_from == DSE_FROM_SURFACE ? "the quality file has no spread over heads (surface)"
                                                      : "retention profiles have no spread over heads (quality_from)";
}
