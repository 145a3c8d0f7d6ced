/* The rows of one model in one run, in the order of points, to be read by several threads: each has a connection of its own.
 *
 * Of a run that refines, a point's row is the finest. A column that does not vary in the run has the run's one value; a column that
 * the database does not have is NULL.
 */
#ifndef DSE_STORE_RUN_ROWS_H
#define DSE_STORE_RUN_ROWS_H

#include "store/query.h"

#include <stddef.h>

struct run_rows;

/* A cell of a row. */
struct run_cell {
    enum cell_type type;
    int bytes;   /* of a text or blob */
    double f64;  /* of a number; 0 of others */
    int64_t i64; /* of a whole number; of a text or blob where its bytes are, for run_rows_text */
};

/* A second connection to the same file, which is not checked again. NULL with errors. */
struct reader *reader_open_again(const struct reader *r, struct diags *diags);

/* Rows of these columns, whose names are copied; the reader must outlive it. NULL with errors. */
struct run_rows *run_rows_new(struct reader *r, const char *model, int64_t run, const char *const *columns, size_t n,
                              struct diags *diags);
void run_rows_free(struct run_rows *rows);
/* Go to the first row at `point` or behind it: 1, there is none: 0, failed: -1 with an error. Cheap where that is the next row. */
int run_rows_at(struct run_rows *rows, uint64_t point, struct diags *diags);
/* Go to the next row, likewise. */
int run_rows_next(struct run_rows *rows, struct diags *diags);
/* Of the row: its point, and its cells, at the same place for all rows. */
uint64_t run_rows_point(const struct run_rows *rows);
const struct run_cell *run_rows_cells(const struct run_rows *rows);
enum cell_type run_rows_type(const struct run_rows *rows, size_t i);
double run_rows_f64(const struct run_rows *rows, size_t i);
/* As SQLite writes it; NULL for NULL. Valid until the next row, and that of a number until the next text of a number. */
const char *run_rows_text(struct run_rows *rows, size_t i);

/* Is the cell a number? */
static inline bool run_cell_is_number(const struct run_cell *c)
{
    return c->type == CELL_INTEGER || c->type == CELL_REAL;
}

#endif
