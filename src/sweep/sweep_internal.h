/* The inside of a sweep, shared by sweep.c, events.c and refine.c. */
#ifndef DSE_SWEEP_SWEEP_INTERNAL_H
#define DSE_SWEEP_SWEEP_INTERNAL_H

#include "sweep/goal.h"
#include "sweep/sweep.h"

/* One call of sweep_run. */
struct job {
    const struct sweep_file *sweep;
    const struct sweep_options *options;
    struct sweep_result *result;
    struct store *store;
    struct space *const *spaces;
    size_t n_spaces;
    struct diags *diags;
    int threads;
    double started, reported;
    struct sweep_progress progress; /* of the present phase */
    double phase_started;
};

double sweep_now(void);
bool sweep_interrupted(const struct job *job);
/* Begin to count anew: `planned` points of which `done` are there. */
void sweep_phase(struct job *job, const char *name, uint64_t planned, uint64_t done);
/* So many more points are evaluated. Reports now and then, and when `last`. */
void sweep_advance(struct job *job, uint64_t points, bool last);

/* Free a pool whose threads have returned. False, with an error: a model's numbers cannot be. */
struct pool;
bool sweep_end_pool(struct job *job, struct pool *pool);

/* events.c: evaluate points of space m, given as ascending ranges, at event level, and store each about a second after. The rows
 * become those of their points or, `refined`, stand beside those. Sets result->interrupted. */
bool sweep_simulate(struct job *job, size_t m, const struct range *ranges, size_t n, bool refined);

/* refine.c: with every point's row of the closed form stored, add rows at event level for the front and its neighbours. Sets what
 * sweep_result says of it. */
bool sweep_refine(struct job *job, const struct goal *goal);

#endif
