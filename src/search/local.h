/* Pareto local search: from random points, to the neighbours of what is best so far, until no neighbour is better.
 *
 * The archive holds points of which no member is as good as another in all objectives (weakly, within a relative 1e-9). Each
 * member's neighbours, one place up and down along each axis, and every other name, are evaluated once; what no member is as good
 * as becomes a member and drives out what it is as good as. The search ends when all members have been looked around. Where nothing
 * is feasible yet, it goes by violations (probe.h). It begins
 * anew from other random points a few times, with all that it has found.
 *
 * The result depends on the lattice, the seed and the number of evaluations, not on the number of threads: members are looked
 * around in batches of a fixed size, in the order in which they came. Memory: some tens of bytes a point that was evaluated.
 *
 * Source: Paquete, Chiarandini, Stuetzle, "Pareto local optimum sets in the biobjective traveling salesman problem", 2004.
 */
#ifndef DSE_SEARCH_LOCAL_H
#define DSE_SEARCH_LOCAL_H

#include "search/probe.h"

#include <signal.h>

struct search_options {
    uint64_t seed;
    uint64_t evaluations;              /* stop after about so many; 0: when the search ends by itself */
    const volatile sig_atomic_t *stop; /* end soon after it became nonzero; or NULL */
    /* Called with the points of every batch once they are evaluated, in the order of the search; or NULL. Returns false to stop. */
    bool (*visit)(void *user, const uint64_t *points, const double *values, const double *violations, size_t n);
    void *user;
};

/* What a search found: points of the probe's lattice, none of which is as good as another in all objectives, with their values,
 * minimised as the probe's, ascending by point. The caller releases it. */
struct search_result {
    uint64_t *points;
    double *values; /* n * probe_objectives */
    size_t n;
    uint64_t evaluations;
    bool ended; /* by itself: neither stopped nor out of evaluations */
};
void search_result_release(struct search_result *r);

/* False: a bug of the model ended it (probe_error). */
bool local_search(struct probe *p, const struct search_options *options, struct search_result *ret);

#endif
