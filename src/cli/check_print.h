/* The lines of a check (store/check.h) as a table: what was looked at, ok or WRONG, what was found. */
#ifndef DSE_CLI_CHECK_PRINT_H
#define DSE_CLI_CHECK_PRINT_H

#include "command/output.h"
#include "store/check.h"

void check_print(const struct check *c, enum output_format format);

#endif
