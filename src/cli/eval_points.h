/* `dse eval MODEL --points FILE.csv`: many points at once, through libdse alone. */
#ifndef DSE_CLI_EVAL_POINTS_H
#define DSE_CLI_EVAL_POINTS_H

#include "command/output.h"

/* Evaluate and print. Returns the exit status; errors are in in->diags. */
int eval_points(const struct invocation *in, enum output_format format);

#endif
