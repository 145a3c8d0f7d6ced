/* What one pass over a model's rows counts: every pass over millions of rows reads the whole file. */
#ifndef DSE_STORE_TALLY_H
#define DSE_STORE_TALLY_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>

struct db;

/* A name that an axis has, "h100-pcie" of gpu, in the order of the rows. */
struct tally_name {
    char *text;
    int64_t rows, feasible;
};
struct tally_axis {
    char *name;
    struct tally_name *names;
    size_t n, last; /* last: of the row before */
};
struct tally {
    int64_t rows, feasible, over_budget;
    int64_t *without;        /* feasible rows that are NULL in each objective; 0 of one that the model does not have */
    struct tally_axis *axes; /* those that hold names */
    size_t n_axes;
};

/* Count the rows that a run has of a model; of a point that has two, the first. False with errors. Release it in both cases. */
bool tally_read(const struct db *db, int64_t run, const char *model, const char *const *objectives, size_t n_objectives,
                struct tally *ret, struct diags *diags);
void tally_release(struct tally *t);

/* " FROM ... WHERE ...": the rows that are counted, a. Freed by sqlite3_free. */
char *tally_rows_sql(const char *model, int64_t run);

#endif
