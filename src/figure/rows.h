/* Rows: the one place where a figure meets its data.
 *
 * `struct rows` is a source of rows with named columns: a query on a database (rows_of_query), or whatever else implements the
 * five functions (the tests use arrays). `struct points` reads the columns that a figure names from such a source and turns each
 * row into a point: checked, on the scale of its axes, with the number of its series. One row is held at a time.
 */
#ifndef DSE_FIGURE_ROWS_H
#define DSE_FIGURE_ROWS_H

#include "figure/series.h"
#include "figure/spec.h"
#include "store/query.h"

struct rows {
    int n_columns;
    const char *(*name)(const struct rows *r, int column);
    int (*next)(struct rows *r, struct diags *diags); /* 1: a row, 0: no more, -1: failed, with an error */
    enum cell_type (*type)(const struct rows *r, int column);
    double (*f64)(const struct rows *r, int column);
    const char *(*text)(const struct rows *r, int column); /* valid until the next row */
};

/* The rows of a query. Both members are borrowed. */
struct query_rows {
    struct rows rows;
    struct query *query;
};
void rows_of_query(struct query_rows *ret, struct query *q);

/* What the columns name: series, the categories of an axis that has no numbers, and groups. */
struct names {
    struct series series, x, y, group;
};
void names_init(struct names *n);
void names_release(struct names *n);
/* Titles in place of names, when all have been met and sorted: of models, where the column is `model`, and of LLMs of the
 * figure's catalog. */
void names_show(struct names *n, const struct figure *f);

/* A row as a point. x, y and z are on the scale of their axis (the logarithm on a logarithmic one) and finite. Where the kind has
 * categories x or y is the number of one, in the order in which they were met. */
struct point {
    double x, y;
    double z;               /* of `value` or `end`; 0 when the kind has none */
    uint32_t series, group; /* number in `struct names`; 0 when the figure has none */
    bool quoted;
    bool lossy; /* its column `quality` says that it loses information */
};

struct points {
    const struct figure *figure;
    const struct query_spec *query; /* which of the figure's queries, for messages */
    struct rows *rows;
    struct names *names;
    const struct column_spec *z_spec;        /* value or end, or NULL */
    int x, y, z, by, group, quoted, quality; /* columns; -1: none */
    uint64_t n_rows, n_used; /* rows read, rows that became points: a NULL in a column that is needed skips the row */
};

/* Find the figure's columns among those of the rows. An error for each that is missing, at the key that names it. */
bool points_open(struct points *p, const struct figure *f, const struct query_spec *query, struct rows *rows, struct names *names,
                 struct diags *diags);
/* The column of that name, or -1 with an error at `loc`. `which` is the key of the query. */
int rows_find(const struct rows *r, const struct figure *f, const char *which, const char *key, const char *column,
              struct srcloc loc, struct diags *diags);
/* The next point: 1, none left: 0, failed: -1 with an error (text or infinity where a number is needed, 0 or less on a logarithmic
 * axis, too many series). */
int points_next(struct points *p, struct point *ret, struct diags *diags);
/* After the last point: false with an error when there was no row, or only rows with NULL. */
bool points_finish(const struct points *p, struct diags *diags);

#endif
