/* How a model extrapolates: rows of a machine answered with constants that none of its rows was fitted to.
 *
 * By "gpu" or "engine", each row's fitted constants of its own machine ([fit.NAME] with that parameter as `by`) take the geometric
 * mean of what the rows of the other machines give. By "format", constants of tables with `of = "format"` are left out alike, of
 * all machines. A constant that no other machine has is left where it costs nothing: a share at 1, a time at 0, a rate without end.
 * Constants that a machine borrows, or that somebody chose, stay: no row of it was fitted to. */
#ifndef DSE_MEASURED_LEAVE_OUT_H
#define DSE_MEASURED_LEAVE_OUT_H

#include "measured/measured.h"

extern const char *const measured_leave_out_names[]; /* "gpu", "format", "engine", NULL */

/* Answer the rows of a model so, after measured_answer. *ret_moved: rows whose numbers this moves. False with errors: no
 * [fit.NAME] is of that kind, or one of them is wrong. */
bool measured_leave_out(struct measured_set *s, const struct model *model, const char *what, size_t *ret_moved,
                        struct diags *diags);

#endif
