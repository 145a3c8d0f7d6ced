/* What a point's output rests on, where its cache loses positions. */
#include <dse/cache.h>

#include <string.h>

void dse_cache_stand(const struct dse_cache_steps *s, struct dse_standing *ret)
{
    ret->quality = dse_quality_of_exact(s->workload);
    if (!dse_cache_loses(s)) return;
    struct dse_retained q;
    const struct dse_measured *m = dse_retention_measured(s->cache->retention);
    const char *why = dse_cache_quality(s, &q);
    if (why)
        dse_standing_unknown(ret, why);
    else
        ret->quality = dse_measured_on(m, s->workload->llm) ? DSE_QUALITY_MEASURED : DSE_QUALITY_OTHER_LLM;
}

const char *dse_cache_why_null(const struct dse_cache_steps *s, const char *metric)
{
    struct dse_retained q;
    if (strcmp(metric, "retained_mass") != 0 && strcmp(metric, "attention_error") != 0) return NULL;
    return dse_cache_quality(s, &q);
}
