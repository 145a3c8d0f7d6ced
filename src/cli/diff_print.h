/* A comparison of two runs for people, as one of its tables in CSV, or whole as JSON. */
#ifndef DSE_CLI_DIFF_PRINT_H
#define DSE_CLI_DIFF_PRINT_H

#include "command/output.h"
#include "diff/diff.h"

enum diff_table { DIFF_TABLE_COLUMNS, DIFF_TABLE_FRONT, DIFF_TABLE_WHY, DIFF_TABLE_ROWS, DIFF_TABLES };
extern const char *const diff_table_names[]; /* "columns", "front", "why", "rows", NULL */

/* Print all that changed, of long lists `limit` rows (0: all). */
bool diff_print(const struct diff *d, size_t limit, struct diags *diags);
/* Print one table. */
bool diff_print_table(const struct diff *d, enum diff_table table, enum output_format format, size_t limit, struct diags *diags);
/* Print everything as one JSON object. */
bool diff_print_json(const struct diff *d, size_t limit, struct diags *diags);

#endif
