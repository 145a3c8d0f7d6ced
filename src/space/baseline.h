/* Internal to src/space: the baseline of a sweep at the workload of a point.
 *
 * The baseline is one point of one model. What it was not given of the workload (the rows of struct dse_workload and struct
 * dse_request) it takes from the point, by name; the rest of its parameters is the same for all points. So its metrics are a
 * function of a few values, and a comparer keeps those of the workloads it met: a sweep comes back to each of them again and
 * again.
 *
 * A model that knows no requests gives the one step at `context`, which is a request with generate = 0: beside its points, a
 * baseline that knows requests has generate = 0 unless it was given another. A baseline that knows none has nothing to say about
 * points with generate > 0.
 *
 * In a sweep with [requests] it serves the mix that the points serve: its metrics are means as theirs are (mix.h), and no length
 * is taken from a point.
 */
#ifndef DSE_SPACE_BASELINE_H
#define DSE_SPACE_BASELINE_H

#include "config/sweep_file.h"
#include "model/fidelity.h"
#include "model/ratios.h"

/* A baseline, which never changes and is shared by all threads. */
struct baseline;

/* The baseline of the sweep for points of that model; NULL when it has none. */
struct baseline *baseline_new(const struct sweep_file *s, const struct model *of_points);
void baseline_free(struct baseline *b);
/* Is parameter i of the baseline's model taken from the point? If it is not, baseline_value is its value before resolve(). */
bool baseline_takes(const struct baseline *b, size_t param);
struct value baseline_value(const struct baseline *b, size_t param);

/* Why the baseline would be on no front of the budget at the workload of a resolved point: it loses more, or nobody knows what;
 * NULL: it would be, it cannot run the workload, or it serves a mix. The caller frees it. */
char *baseline_over_budget(const struct baseline *b, const struct budget *budget, const void *point);

/* Which of the metrics the model has: 1 for those, and NaN for the others. */
struct measured measured_presence(const struct model *m);

/* What one thread compares with. It borrows the thread's runner, and carries the baseline out with it between two points. */
struct comparer;
struct comparer *comparer_new(const struct baseline *b, struct runner *runner);
void comparer_free(struct comparer *c);
/* The ratios of a point with these parameters and metrics, resolved and feasible. NaN where the baseline cannot run the workload.
 * Depends on nothing else. RUN_STOPPED, RUN_BROKEN: of the baseline's run, and there are no ratios; else RUN_DONE. */
enum run_end comparer_ratios(struct comparer *c, const void *params, const void *metrics, struct ratios *ret);

/* A box of points: the parameters of its corners, resolved, and the bounds of its metrics (dse_model.bound). */
struct comparer_box {
    const void *lo, *hi, *floor, *ceiling;
};
/* The bounds of the ratios over the box, in closed form; infinite where one is not known. Where the box holds several workloads,
 * they follow from the bound of the baseline's model, if it has one. */
void comparer_bounds(struct comparer *c, const struct comparer_box *box, struct ratios *ret_floor, struct ratios *ret_ceiling);

#endif
