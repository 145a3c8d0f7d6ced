/* What moves nothing where it stands: an axis of link bandwidths of one chip, the exponent of a law that was not chosen. Nobody
 * need read docs to see that ten values gave ten equal rows. In closed form. */
#ifndef DSE_SPACE_IDLE_H
#define DSE_SPACE_IDLE_H

#include "space/space.h"

/* Does an axis of a grid leave every row as it is, but for its own value: metrics, derived columns, whether the point is feasible
 * and why it is not? Of a grid of 4096 points all are looked at; of a larger one, or of means over requests, pairs that differ in
 * it alone, spread evenly over the grid: *ret_pairs says how many, and 0 of a grid that was looked at whole. UNKNOWN: too few of
 * them were feasible, or the points are a sample. */
enum idle { IDLE_NO, IDLE_YES, IDLE_UNKNOWN };
enum idle space_axis_idle(const struct space *sp, size_t axis, size_t *ret_pairs);

/* Have the points of two spaces of one point each, of one model, the same row but for the parameters? False where one is
 * infeasible. */
bool space_points_equal(const struct space *a, const struct space *b);

/* Would another value of a parameter that does not vary, with what a catalog's entry of that name sets, leave every metric, and
 * why a point is infeasible, as it is? Looked at are points spread evenly over the space. UNKNOWN: it is no value that the
 * parameter may have. */
enum idle space_value_idle(const struct space *sp, const struct field *f, struct value v);

/* Why no point can be built with an entry as the value of a parameter, which does not vary, and some can be, or not for this
 * reason, with the model's own: a technology that the model's numbers cannot be scaled to. NULL: points can be built. Looked at
 * are points spread evenly over the space. A string constant. */
const char *space_refuses(const struct space *sp, const struct field *f, const struct dse_entry *entry);

#endif
