/* What eviction costs in quality (E16): a retention profile read at the positions that a step sees and the share of them that is kept. */
#include "veda.h"
#include "veda_math.h"

#include <math.h>

/* The profile's name of each eviction; NULL: everything is kept. */
static const char *const policies[] = {[VEDA_NONE] = NULL, [VEDA_VOTING] = "voting", [VEDA_H2O] = "h2o", [VEDA_WINDOW] = "window"};

/* S positions stand for every ratio that rounds to them: the smallest ratio measured is known, though S / n may be a little below. */
static bool at_step(const struct veda_point *pt, double seen, double stays, struct dse_retained *ret)
{
    const struct dse_retention *r = pt->p->retention;
    const char *policy = policies[pt->evicting];
    return dse_retention_at(r, policy, seen, stays / seen, ret) || dse_retention_at(r, policy, seen, (stays + 0.5) / seen, ret);
}

/* The mean of a generation by Gauss's rule of three steps. */
static bool mean_of_generation(const struct veda_point *pt, double stays, struct dse_retained *ret)
{
    static const double node[] = {0.5 - 0.38729833462074170, 0.5, 0.5 + 0.38729833462074170},
                        weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    double prompt = (double)pt->p->request.prompt, generate = (double)pt->p->request.generate;
    *ret = (struct dse_retained){0};
    for (int i = 0; i < 3; i++) {
        struct dse_retained at;
        if (!at_step(pt, prompt + 1 + node[i] * (generate - 1), stays, &at)) return false;
        ret->mass += weight[i] * at.mass;
        ret->error += weight[i] * at.error;
    }
    return true;
}

struct dse_retained veda_quality(const struct veda_point *pt)
{
    struct dse_retained q = {.mass = 1};
    if (pt->evicting == VEDA_NONE || pt->prefill) return q;
    bool generation = pt->p->request.generate > 0, listed = pt->p->boundary == VEDA_AS_LISTED;
    double before = generation ? (double)pt->p->request.prompt : (double)pt->p->workload.context;
    double stays = listed ? before : pt->target;
    bool known = generation ? mean_of_generation(pt, stays, &q) : at_step(pt, before, stays, &q);
    return known ? q : (struct dse_retained){(double)NAN, (double)NAN};
}
