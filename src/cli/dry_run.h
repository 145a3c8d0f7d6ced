/* dse sweep --dry-run. */
#ifndef DSE_CLI_DRY_RUN_H
#define DSE_CLI_DRY_RUN_H

#include "config/sweep_file.h"

#define SWEEP_POINTS_MAX INT64_C(1000000000) /* of a sweep, unless --max-points says otherwise */

/* Print axes, points, sizes, what does not apply to which model, and what event level will cost. Returns the exit status; errors
 * are in diags. */
int dry_run(const struct sweep_file *s, struct diags *diags);

#endif
