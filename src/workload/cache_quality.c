/* What a step keeps of attention: a retention profile read at the positions that it sees and the share of them that stays, where it
 * was measured under the settings of the cache. */
#include <dse/cache.h>
#include <dse/num.h>

#include <math.h>

static bool listed(const struct dse_cache *c)
{
    return c->boundary == DSE_CACHE_AS_LISTED && !dse_eviction_at(c->eviction)->reads_part;
}

static double stays_of(const struct dse_cache_steps *s)
{
    return listed(s->cache) ? s->before : dse_cache_target(s->cache, s->before);
}

bool dse_cache_loses(const struct dse_cache_steps *s)
{
    if (dse_eviction_at(s->cache->eviction)->keeps_all || s->workload->phase == DSE_PREFILL) return false;
    return stays_of(s) < s->before + s->generate;
}

/* How the prompt ends. A prompt that the cache holds whole is streamed. */
static const char *unlike_boundary(const struct dse_cache_steps *s, const struct dse_measured *m)
{
    if (s->cache->boundary != DSE_CACHE_BULK) return dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_TOKEN);
    const char *why = dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_BULK);
    if (!why && s->generate > 0)
        return "a generation sees its prompt as ever smaller a share, and retention profiles are measured at one (prompt_share)";
    return why ? why : dse_measured_unlike(m, DSE_SET_PROMPT_SHARE, 1);
}

static const char *unlike_settings(const struct dse_cache_steps *s, const struct dse_eviction *policy)
{
    const struct dse_cache *c = s->cache;
    const struct dse_measured *m = dse_retention_measured(c->retention);
    const struct {
        enum dse_setting setting;
        double value;
    } said[] = {{DSE_SET_KV_BITS, (double)s->workload->kv_bits},
                {DSE_SET_THRESHOLD_A, c->threshold_a},
                {DSE_SET_THRESHOLD_B, c->threshold_b},
                {DSE_SET_RESERVED_LENGTH, (double)c->reserved_length},
                {DSE_SET_RECENT_SHARE, c->recent_share},
                {DSE_SET_SINKS, (double)c->sinks},
                {DSE_SET_OBSERVED, (double)c->observed},
                {DSE_SET_POOL, (double)c->pool},
                {DSE_SET_BETA, c->beta},
                {DSE_SET_PAGE, (double)c->page}};
    const char *why = dse_eviction_depends(policy, DSE_SET_BOUNDARY) ? unlike_boundary(s, m) : NULL;
    for (size_t i = 0; i < sizeof said / sizeof *said && !why; i++)
        if (dse_eviction_depends(policy, (int)said[i].setting)) why = dse_measured_unlike(m, said[i].setting, said[i].value);
    return why;
}

/* S positions stand for every ratio that rounds to them: the smallest ratio measured is known, though S / n may be a little below.
 */
static bool at_step(const struct dse_cache *c, double seen, double stays, struct dse_retained *ret)
{
    const char *policy = dse_eviction_at(c->eviction)->name;
    return dse_retention_at(c->retention, policy, seen, stays / seen, ret) ||
           dse_retention_at(c->retention, policy, seen, (stays + 0.5) / seen, ret);
}

enum { NODES = 3 };
static const double node[NODES] = {0.5 - 0.38729833462074170, 0.5, 0.5 + 0.38729833462074170},
                    weight[NODES] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

static bool mean_of_generation(const struct dse_cache_steps *s, double stays, struct dse_retained *ret)
{
    *ret = (struct dse_retained){0};
    for (int i = 0; i < NODES; i++) {
        struct dse_retained at;
        if (!at_step(s->cache, s->before + 1 + node[i] * (s->generate - 1), stays, &at)) return false;
        ret->mass += weight[i] * at.mass;
        ret->error += weight[i] * at.error;
    }
    return true;
}

/* Where positions leave. */
static const char *quality_of(const struct dse_cache_steps *s, double stays, struct dse_retained *ret)
{
    struct dse_retained found;
    const char *why = unlike_settings(s, dse_eviction_at(s->cache->eviction));
    if (!why && !(s->generate > 0 ? mean_of_generation(s, stays, &found) : at_step(s->cache, s->before, stays, &found)))
        why = "the retention profile was not measured at such contexts or ratios (retention)";
    *ret = why ? (struct dse_retained){(double)NAN, (double)NAN} : found;
    return why;
}

const char *dse_cache_quality(const struct dse_cache_steps *s, struct dse_retained *ret)
{
    *ret = (struct dse_retained){.mass = 1};
    return dse_cache_loses(s) ? quality_of(s, stays_of(s), ret) : NULL;
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* Both ends of a box of lengths. */
struct ends {
    const struct dse_cache_steps *lo, *hi;
    struct dse_interval stays;
    bool generation;
};

/* What is kept of `seen` positions. A share of a step that is not given as a length is the parameter's but for half a position, or
 * more where positions are reserved. */
static bool bound_step(const struct ends *b, struct dse_interval seen, struct dse_retained_bound *ret)
{
    const struct dse_cache *lo = b->lo->cache, *hi = b->hi->cache;
    const struct dse_eviction *policy = dse_eviction_at(lo->eviction);
    const double half = 0.5 / seen.lo;
    struct dse_interval ratio = dse_iv_div(b->stays, seen);
    double rounded = ratio.hi + half;
    if (hi->cache_length == 0 && !b->generation) {
        const double reserved = policy->reserves ? (double)hi->reserved_length / seen.lo : 0;
        const double most = dse_max(hi->eviction_ratio + half, reserved);
        ratio.lo = lo->eviction_ratio >= 1 ? 1 : dse_max(ratio.lo, lo->eviction_ratio - half);
        ratio.hi = dse_max(ratio.lo, dse_min(ratio.hi, most));
        rounded = dse_min(rounded, most + half);
    }
    return dse_retention_bound(lo->retention, policy->name, seen, ratio, rounded, ret);
}

static bool bound_generation(const struct ends *b, struct dse_retained_bound *ret)
{
    const struct dse_interval none = dse_iv_of(0);
    const struct dse_cache_steps *lo = b->lo, *hi = b->hi;
    *ret = (struct dse_retained_bound){none, none};
    for (int i = 0; i < NODES; i++) {
        struct dse_retained_bound at;
        const struct dse_interval seen =
            dse_widened(lo->before + 1 + node[i] * (lo->generate - 1), hi->before + 1 + node[i] * (hi->generate - 1), 4);
        if (!bound_step(b, seen, &at)) return false;
        ret->mass = dse_iv_add(ret->mass, dse_iv_scale(at.mass, weight[i]));
        ret->error = dse_iv_add(ret->error, dse_iv_scale(at.error, weight[i]));
    }
    return true;
}

void dse_cache_quality_bound(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_interval target,
                             struct dse_retained_bound *ret)
{
    const bool by_prompt = listed(lo->cache);
    const struct ends b = {lo, hi, by_prompt ? dse_iv(lo->before, hi->before) : target, lo->generate > 0};
    const struct dse_interval seen = dse_iv(lo->before, hi->before);
    struct dse_retained one = {.mass = 1};
    const bool may_leave = !by_prompt || hi->generate > 0; /* as listed, one a token */
    const bool leaves = may_leave && !dse_eviction_at(lo->cache->eviction)->keeps_all && lo->workload->phase != DSE_PREFILL &&
                        b.stays.lo < hi->before + hi->generate;
    const bool same = lo->before == hi->before && b.stays.lo == b.stays.hi && lo->generate == hi->generate;
    if (leaves && same) quality_of(hi, b.stays.hi, &one);
    if ((!leaves || same) && !isnan(one.mass)) /* where another point's settings are those of the profile, it may be known */
        *ret = (struct dse_retained_bound){dse_iv_of(one.mass), dse_iv_of(one.error)};
    else if (!(b.generation ? bound_generation(&b, ret) : bound_step(&b, seen, ret)))
        *ret = (struct dse_retained_bound){dse_unbounded, dse_unbounded};
}
