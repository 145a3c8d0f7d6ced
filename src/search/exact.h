/* The exact front of a sweep's lattices, by branch and bound (docs/explanation/exact-fronts.md).
 *
 * Points that a few random ones and a local search find are the first incumbents. Then boxes of the lattice are taken, the one
 * with the widest gap between its bound and the incumbents first. Of a box that is not closed by its bounds, each half along each
 * axis is bounded: a half that can be closed is cut off (shaving), as long as there is one. What is left is split along the axis
 * whose halves have the best bounds: the largest product, over all bounded metrics that have a better direction, of what the bound
 * gains. A box of a few points is evaluated.
 *
 * Work is done in rounds: so many boxes, each searched to a fixed depth of work against the incumbents from before the round, on
 * whichever thread is free, several of them side by side where a model bounds many boxes at once (walk.h). What was found is put
 * together in the order of the boxes. So the front, its boxes and all counts are the same from any number of threads, unless the
 * search is stopped.
 *
 * Where several points have the same objectives within the tolerance, one of them is on the front. */
#ifndef DSE_SEARCH_EXACT_H
#define DSE_SEARCH_EXACT_H

#include "search/certificate.h"
#include "space/space.h"

#include <signal.h>

struct exact_progress {
    double points, closed; /* of all lattices; decided so far */
    size_t front;          /* incumbents */
    uint64_t boxes;        /* closed */
    double epsilon;        /* INFINITY as long as nothing is known */
    double seconds;        /* since the search began */
};

struct exact_options {
    int threads;
    double seconds;                                               /* end soon after so many; 0: when all is decided */
    uint64_t rounds;                                              /* end after so many; 0: when all is decided */
    const volatile sig_atomic_t *interrupt;                       /* end soon after it became non-zero; or NULL */
    bool keep_boxes;                                              /* log every box that is closed */
    void (*progress)(void *user, const struct exact_progress *p); /* now and then; or NULL */
    void *user;
};

struct exact_result {
    struct certificate certificate; /* but for `boxes` of the logs, which certificate_store counts */
    struct certificate_row *front;  /* by space and point; values behind `values` */
    size_t n_front;
    double *values;
    uint64_t bounds; /* boxes that were bounded, also those that a cut beside them made needless */
    double points;   /* of all lattices */
    struct box_log **logs;
    size_t n_logs;
};

/* Can the sweep have an exact front at all? False with errors: no objectives, means over requests, another fidelity. */
bool exact_check(const struct sweep_file *s, struct diags *diags);

/* Search the lattices of these spaces, one a model of the sweep, for the front under its objectives, one for each combination of
 * the values of `per`. In closed form. False with errors: an objective without a bound, a lattice that is too large, a bug of a
 * model. Release *ret in any case. */
bool exact_search(const struct sweep_file *s, struct space *const *spaces, const struct exact_options *options,
                  struct exact_result *ret, struct diags *diags);
void exact_result_release(struct exact_result *r);

#endif
