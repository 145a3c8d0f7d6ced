/* What eviction costs in quality (E16): a retention profile read at the positions that a step sees and the share of them that is
 * kept, where it was measured under the point's settings. */
#include "veda_bound.h"

#include <dse/num.h>

#include <math.h>
#include <string.h>

/* What a sequence sees: positions before the first step, positions that stay, steps of the generation or 0 for the one at `before`.
 */
struct seen {
    double before, stays, generate;
};

static struct seen seen_by(const struct veda_point *pt)
{
    bool generation = pt->p->request.generate > 0;
    double before = generation ? (double)pt->p->request.prompt : (double)pt->p->workload.context;
    return (struct seen){.before = before,
                         .stays = pt->p->boundary == VEDA_AS_LISTED ? before : pt->target,
                         .generate = generation ? (double)pt->p->request.generate : 0};
}

/* Does a position ever leave? */
static bool evicts(const struct veda_point *pt)
{
    if (pt->policy->keeps_all || pt->prefill) return false;
    struct seen s = seen_by(pt);
    return s.stays < s.before + s.generate;
}

/* How the prompt ends. A prompt that the cache holds whole is streamed. */
static const char *unlike_boundary(const struct veda_params *p, const struct dse_measured *m)
{
    if (p->boundary == VEDA_AS_LISTED) return dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_TOKEN);
    const char *why = dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_BULK);
    if (!why && p->request.generate > 0)
        return "a generation sees its prompt as ever smaller a share, and retention profiles are measured at one (prompt_share)";
    return why ? why : dse_measured_unlike(m, DSE_SET_PROMPT_SHARE, 1);
}

static const char *unlike_settings(const struct veda_params *p, const struct dse_eviction *policy)
{
    const struct dse_measured *m = dse_retention_measured(p->retention);
    const struct {
        enum dse_setting setting;
        double value;
    } said[] = {{DSE_SET_KV_BITS, (double)p->workload.kv_bits},
                {DSE_SET_THRESHOLD_A, p->threshold_a},
                {DSE_SET_THRESHOLD_B, p->threshold_b},
                {DSE_SET_RESERVED_LENGTH, (double)p->reserved_length}};
    const char *why = dse_eviction_depends(policy, DSE_SET_BOUNDARY) ? unlike_boundary(p, m) : NULL;
    for (size_t i = 0; i < sizeof said / sizeof *said && !why; i++)
        if (dse_eviction_depends(policy, (int)said[i].setting)) why = dse_measured_unlike(m, said[i].setting, said[i].value);
    return why;
}

/* S positions stand for every ratio that rounds to them: the smallest ratio measured is known, though S / n may be a little below.
 */
static bool at_step(const struct veda_point *pt, double seen, double stays, struct dse_retained *ret)
{
    const struct dse_retention *r = pt->p->retention;
    const char *policy = pt->policy->name;
    return dse_retention_at(r, policy, seen, stays / seen, ret) || dse_retention_at(r, policy, seen, (stays + 0.5) / seen, ret);
}

enum { NODES = 3 };
static const double node[NODES] = {0.5 - 0.38729833462074170, 0.5, 0.5 + 0.38729833462074170},
                    weight[NODES] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

/* The mean of a generation by Gauss's rule of three steps. */
static bool mean_of_generation(const struct veda_point *pt, const struct seen *s, struct dse_retained *ret)
{
    *ret = (struct dse_retained){0};
    for (int i = 0; i < NODES; i++) {
        struct dse_retained at;
        if (!at_step(pt, s->before + 1 + node[i] * (s->generate - 1), s->stays, &at)) return false;
        ret->mass += weight[i] * at.mass;
        ret->error += weight[i] * at.error;
    }
    return true;
}

const char *veda_quality(const struct veda_point *pt, struct dse_retained *ret)
{
    *ret = (struct dse_retained){.mass = 1};
    if (!evicts(pt)) return NULL;
    struct dse_retained found;
    const char *why = unlike_settings(pt->p, pt->policy);
    struct seen s = seen_by(pt);
    if (!why && !(s.generate > 0 ? mean_of_generation(pt, &s, &found) : at_step(pt, s.before, s.stays, &found)))
        why = "the retention profile was not measured at such contexts or ratios (retention)";
    *ret = why ? (struct dse_retained){(double)NAN, (double)NAN} : found;
    return why;
}

void veda_stand(const void *params, struct dse_standing *ret)
{
    const struct veda_params *p = params;
    struct veda_point pt;
    veda_point_init(&pt, p);
    ret->quality = dse_quality_of_exact(&p->workload);
    dse_standing_add(ret, dse_area_unpriced(p->clock_ghz, VEDA_PUBLISHED_GHZ));
    dse_standing_add(ret, dse_area_without_edges(p->area));
    if (!evicts(&pt)) return;
    struct dse_retained q;
    const char *why = veda_quality(&pt, &q);
    if (why)
        dse_standing_unknown(ret, why);
    else
        ret->quality =
            dse_measured_on(dse_retention_measured(p->retention), p->workload.llm) ? DSE_QUALITY_MEASURED : DSE_QUALITY_OTHER_LLM;
}

const char *veda_why_null(const void *params, const char *metric)
{
    const struct veda_params *p = params;
    const char *why = dse_why_not_apart(p->power, metric);
    if (why) return why;
    if (strcmp(metric, "retained_mass") != 0 && strcmp(metric, "attention_error") != 0) return NULL;
    struct veda_point pt;
    struct dse_retained q;
    veda_point_init(&pt, params);
    return veda_quality(&pt, &q);
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* What is kept of `seen` positions when between stays.lo and stays.hi of them are. A share of a step that is not given as a length
 * is the parameter's but for half a position, or more where positions are reserved. */
static bool bound_step(const struct veda_box *b, struct dse_interval seen, struct dse_interval stays,
                       struct dse_retained_bound *ret)
{
    const struct dse_eviction *policy = b->end[VEDA_FAST].pt.policy;
    const double half = 0.5 / seen.lo;
    struct dse_interval ratio = dse_iv_div(stays, seen);
    double rounded = ratio.hi + half;
    if (b->hi.cache_length == 0 && b->lo.request.generate == 0) {
        const double reserved = policy->reserves ? (double)b->hi.reserved_length / seen.lo : 0;
        const double most = dse_max(b->hi.eviction_ratio + half, reserved);
        ratio.lo = b->lo.eviction_ratio >= 1 ? 1 : dse_max(ratio.lo, b->lo.eviction_ratio - half);
        ratio.hi = dse_max(ratio.lo, dse_min(ratio.hi, most));
        rounded = dse_min(rounded, most + half);
    }
    return dse_retention_bound(b->lo.retention, policy->name, seen, ratio, rounded, ret);
}

static bool bound_generation(const struct veda_box *b, const struct seen *lo, const struct seen *hi, struct dse_retained_bound *ret)
{
    const struct dse_interval stays = dse_iv(lo->stays, hi->stays), none = dse_iv_of(0);
    *ret = (struct dse_retained_bound){none, none};
    for (int i = 0; i < NODES; i++) {
        struct dse_retained_bound at;
        const struct dse_interval seen =
            dse_widened(lo->before + 1 + node[i] * (lo->generate - 1), hi->before + 1 + node[i] * (hi->generate - 1), 4);
        if (!bound_step(b, seen, stays, &at)) return false;
        ret->mass = dse_iv_add(ret->mass, dse_iv_scale(at.mass, weight[i]));
        ret->error = dse_iv_add(ret->error, dse_iv_scale(at.error, weight[i]));
    }
    return true;
}

void veda_bound_quality(const struct veda_box *b, struct dse_retained_bound *ret)
{
    const struct veda_point *fast = &b->end[VEDA_FAST].pt, *slow = &b->end[VEDA_SLOW].pt;
    const struct seen lo = seen_by(fast), hi = seen_by(slow);
    const struct dse_interval seen = dse_iv(lo.before, hi.before), stays = dse_iv(lo.stays, hi.stays);
    struct dse_retained one = {.mass = 1};
    const bool may_leave = fast->p->boundary == VEDA_BULK || hi.generate > 0; /* as listed, one a token */
    const bool leaves = may_leave && !fast->policy->keeps_all && !fast->prefill && lo.stays < hi.before + hi.generate;
    const bool same = lo.before == hi.before && lo.stays == hi.stays && lo.generate == hi.generate;
    if (leaves && same) veda_quality(slow, &one);
    if ((!leaves || same) && !isnan(one.mass)) /* where another point's settings are those of the profile, it may be known */
        *ret = (struct dse_retained_bound){dse_iv_of(one.mass), dse_iv_of(one.error)};
    else if (!(lo.generate > 0 ? bound_generation(b, &lo, &hi, ret) : bound_step(b, seen, stays, ret)))
        *ret = (struct dse_retained_bound){dse_unbounded, dse_unbounded};
}
