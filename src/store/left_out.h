/* What a front cannot show: rows that no model could build, and rows that have no number for an objective. */
#ifndef DSE_STORE_LEFT_OUT_H
#define DSE_STORE_LEFT_OUT_H

#include "base/diag.h"

#include <stdint.h>

struct db;
struct tally;

/* Call `add` with a sentence for each reason why rows of a model are on no front: no row is feasible, or none of a name that an
 * axis has ("gpu = h100-pcie"), by reason; and feasible rows that are NULL in one of the objectives. `tally`: of the model's rows
 * and these objectives. False with errors. */
bool left_out_of_front(const struct db *db, int64_t run, const char *model, const struct tally *tally,
                       const char *const *objectives, size_t n_objectives, void (*add)(void *user, const char *text), void *user,
                       struct diags *diags);

#endif
