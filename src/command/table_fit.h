/* A table of texts on a terminal, no line wider than it.
 *
 * Where the widest cells of all columns have no room side by side, in this order, as far as needed:
 *   - headings break behind '_' and between words, and columns of several words wrap;
 *   - the last columns of long texts leave the table: what they say stands below each row, indented;
 *   - the table is cut into several, one below the other, each with the first column again, or with the number of the row where
 *     that does not tell rows apart.
 */
#ifndef DSE_COMMAND_TABLE_FIT_H
#define DSE_COMMAND_TABLE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_column {
    const char *heading;
    bool numeric; /* right-aligned, and never broken */
};

struct table_cell {
    char *text;         /* "" or NULL: empty */
    const char *colour; /* an escape sequence, or NULL */
};

struct table {
    const struct table_column *columns;
    size_t n_columns;
    const struct table_cell *cells; /* row by row */
    size_t n_rows;
};

/* width 0: as wide as it gets. Characters that would do something to the terminal are written as \xNN. */
void table_print(FILE *out, const struct table *t, size_t width, bool colour);

#endif
