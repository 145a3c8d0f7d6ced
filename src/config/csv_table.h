/* A CSV file, read whole through libcsv. Cells are separated by commas or, where the header has none, by semicolons or tabs. Lines
 * that start with '#' are comments; a comment `# source: TEXT` says where the numbers come from; `# rule: TEXT` how to read between
 * them; one `# settings: NAME=VALUE ...`, or `# written by dse profile VERSION: NAME=VALUE ...`, how they were measured. */
#ifndef DSE_CONFIG_CSV_TABLE_H
#define DSE_CONFIG_CSV_TABLE_H

#include "base/diag.h"

#include <stddef.h>

struct csv_row {
    int line;
    size_t at;    /* where the line begins in the text */
    char **cells; /* as many as there are columns; "" for an empty one */
};

struct csv_table {
    char *file;
    char *text;     /* of the whole file, comments emptied; for quoting lines in errors. NULL when it could not be read */
    char *source;   /* of the comments, joined by spaces; "" if there are none */
    char *settings; /* of the first comment that has some; NULL if none has */
    struct srcloc settings_loc; /* of them; all but the file is 0 if there are none */
    struct csv_rule {
        int line;
        char *text;
    } * rules; /* of comments `# rule: TEXT` */
    size_t n_rules;
    const char *const *columns; /* the caller's, or own_columns */
    char **own_columns;         /* of csv_table_read_any */
    char *cell_text;            /* what all cells say */
    size_t n_columns;
    int header_line;
    char separator;
    struct csv_row *rows;
    size_t n_rows;
};

/* Read a file whose header must be exactly columns[0..n). False with errors: the file cannot be read, is not CSV, has another
 * header, a row with too few or too many cells. Release the table whatever comes back. */
bool csv_table_read(struct csv_table *t, const char *path, const char *const *columns, size_t n, struct diags *diags);
/* The same from memory; `name` stands for the file in messages. */
bool csv_table_read_text(struct csv_table *t, const char *name, const char *text, const char *const *columns, size_t n,
                         struct diags *diags);
/* The same; the header may end behind any column from the `required`-th on. t->n_columns is how many there are. */
bool csv_table_read_some(struct csv_table *t, const char *path, const char *const *columns, size_t required, size_t n,
                         struct diags *diags);
/* The same of a file whose header may be any: t->columns has its names. */
bool csv_table_read_any(struct csv_table *t, const char *path, struct diags *diags);
bool csv_table_read_any_text(struct csv_table *t, const char *name, const char *text, struct diags *diags);
/* That a table's columns have names, no two of them the same; else errors. */
bool csv_table_check_names(const struct csv_table *t, struct diags *diags);
void csv_table_release(struct csv_table *t);
/* What the comments at the beginning of a file, before its header, say of the source, without reading the rest: as t->source. The
 * caller frees it; NULL with an error. */
char *csv_table_read_source(const char *path, struct diags *diags);

/* The number in a cell. An empty cell is NaN if may_be_empty. Anything but a finite number is an error at its place. */
bool csv_table_number(const struct csv_table *t, size_t row, size_t column, bool may_be_empty, double *ret, struct diags *diags);
/* The same of a quantity from `least` to `most`. */
struct csv_range {
    double least, most;
};
bool csv_table_quantity(const struct csv_table *t, size_t row, size_t column, bool may_be_empty, struct csv_range range,
                        double *ret, struct diags *diags);
/* Has the table at most so many rows? Else an error at the first that is too many. */
bool csv_table_check_rows(const struct csv_table *t, size_t most, struct diags *diags);
/* Where the header, a row, or one of its cells, begins. */
struct srcloc csv_table_header_loc(const struct csv_table *t);
struct srcloc csv_table_loc(const struct csv_table *t, size_t row);
struct srcloc csv_table_cell_loc(const struct csv_table *t, size_t row, size_t column);

#endif
