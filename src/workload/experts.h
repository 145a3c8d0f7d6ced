/* Experts at work: how many of a chip's are touched by a batch, and how many rows the fullest chip gets. */
#ifndef WORKLOAD_EXPERTS_H
#define WORKLOAD_EXPERTS_H

#include <dse/workload.h>

struct experts_at_work {
    double held;    /* experts of a layer on one chip */
    double touched; /* of them with work: a mean */
    double rows;    /* of all of them on the fullest chip: a mean of the largest */
};
/* `tokens` choose among the experts of a layer, which are dealt out to `chips`. Monotone in tokens. docs/explanation/llms.md,
 * Experts. */
struct experts_at_work experts_at_work(const struct dse_workload *w, struct dse_choice choice, double tokens, double chips);

/* Are loads of so many experts to be taken from a profile? Points that dse_workload_check refuses may have another's: they are
 * uniform. */
bool experts_profiled(const struct dse_workload *w, int64_t routed);

/* How popular an expert is over the mean, by the exponent of the power law: of eight strata of equal numbers of experts. */
enum { EXPERTS_STRATA = 8 };
void experts_popularity(int64_t routed, double exponent, double ret[EXPERTS_STRATA]);

/* The same as experts_at_work, as drawn: the mean over the layers of the draw. */
struct experts_at_work experts_drawn(const struct dse_workload *w, struct dse_choice choice, double tokens, double chips,
                                     const struct dse_draw *draw);

#endif
