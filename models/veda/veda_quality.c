/* What eviction costs in quality (E16): a retention profile read at the positions that a step sees and the share of them that is
 * kept, where it was measured under the point's settings. */
#include "veda.h"

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

/* The mean of a generation by Gauss's rule of three steps. */
static bool mean_of_generation(const struct veda_point *pt, const struct seen *s, struct dse_retained *ret)
{
    static const double node[] = {0.5 - 0.38729833462074170, 0.5, 0.5 + 0.38729833462074170},
                        weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    *ret = (struct dse_retained){0};
    for (int i = 0; i < 3; i++) {
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
