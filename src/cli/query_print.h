/* The rows of a query, printed. */
#ifndef DSE_CLI_QUERY_PRINT_H
#define DSE_CLI_QUERY_PRINT_H

#include "command/output.h"
#include "store/query.h"

/* Step through q and print every row. A table for people ends after TABLE_ROWS_MAX rows with a note on stderr. */
enum { TABLE_ROWS_MAX = 10000 };
bool query_print(struct query *q, enum output_format format, FILE *out, struct diags *diags);

#endif
