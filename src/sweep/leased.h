/* Internal to src/sweep: a sweep whose blocks are leased. */
#ifndef DSE_SWEEP_LEASED_H
#define DSE_SWEEP_LEASED_H

#include "sweep/sweep.h"

/* As sweep_run. Returns when all blocks of the folder are done, by whomever, or it is interrupted. There is no front yet. */
bool leased_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags);

#endif
