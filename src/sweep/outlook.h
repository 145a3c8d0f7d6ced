/* What event level will cost a sweep, before it is run. */
#ifndef DSE_SWEEP_OUTLOOK_H
#define DSE_SWEEP_OUTLOOK_H

#include "config/sweep_file.h"

/* How many points are evaluated in closed form at most, how many are run at event level, and how many events such a run may
 * have. */
enum { OUTLOOK_POINTS = 50000, OUTLOOK_RUNS = 5, OUTLOOK_EVENTS = 20000000 };

struct sweep_outlook {
    uint64_t points;     /* of all models */
    uint64_t sampled;    /* those that were looked at, evenly spread; all when there are at most OUTLOOK_POINTS */
    uint64_t feasible;   /* of them */
    uint64_t front;      /* of them, on the front of the closed form */
    uint64_t neighbours; /* points beside it that are not on it, feasible or not; an upper bound for a sample */
    double run_seconds;  /* of a row at event level: the mean of a few; NaN when none could be made */
    bool longer;         /* one of these runs was cut short, so that rows take longer */
};

/* Estimate the cost of a sweep that refines, or of one at event level, for which front and neighbours are 0. Its spaces must have
 * at most max_points. False with errors. */
bool sweep_outlook(const struct sweep_file *s, uint64_t max_points, struct sweep_outlook *ret, struct diags *diags);

#endif
