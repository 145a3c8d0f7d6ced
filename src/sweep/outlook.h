/* What event level will cost a sweep, before it is run. */
#ifndef DSE_SWEEP_OUTLOOK_H
#define DSE_SWEEP_OUTLOOK_H

#include "config/sweep_file.h"

/* Points evaluated in closed form for it, at most, and events of its runs at event level. */
enum { OUTLOOK_POINTS = 50000, OUTLOOK_RUNS = 5, OUTLOOK_EVENTS = 20000000 };

struct sweep_outlook {
    uint64_t points;     /* of all models */
    uint64_t sampled;    /* those that were looked at, evenly spread; all when there are at most OUTLOOK_POINTS */
    uint64_t feasible;   /* of them */
    uint64_t front;      /* of them, on the front of the closed form */
    uint64_t neighbours; /* of those points that are not on it themselves, feasible or not; of a sample, an upper bound */
    double run_seconds;  /* of a row at event level: the mean of a few; NaN when none could be made */
    bool longer;         /* one of them was cut short: rows take longer than that */
};

/* For a sweep at event level (then front and neighbours are 0) or one that refines, of which spaces can be built with at most
 * max_points. False with errors. */
bool sweep_outlook(const struct sweep_file *s, uint64_t max_points, struct sweep_outlook *ret, struct diags *diags);

#endif
