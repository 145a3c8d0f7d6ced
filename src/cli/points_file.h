/* A file of points of a model: CSV whose header names parameters. What other programs write beside them is left out, with a note
 * that says which: metrics and what else `dse eval`, `dse pareto` and `dse query` print, the index of a frame of pandas, what
 * Optuna has of a trial. Optuna's "params_NAME" is NAME. Rows of a column "model" that are of another model are left out likewise.
 * A name that is near to a parameter's is an error. */
#ifndef DSE_CLI_POINTS_FILE_H
#define DSE_CLI_POINTS_FILE_H

#include "config/csv_table.h"

#include <dse/dse.h>

/* A parameter with its values, one a row that is kept: numbers or texts. */
struct points_column {
    const struct dse_column *parameter;
    size_t at; /* column of the table */
    double *numbers;
    const char **texts; /* the table's */
    bool *is_empty;     /* rows that say nothing of it: the parameter's default */
};

struct points_file {
    struct csv_table table;
    struct points_column *columns;
    size_t n_columns;
    size_t *rows; /* of the table, that are kept */
    size_t n_rows;
};

/* Read a file for a model of d. False with errors. Release it whatever comes back. */
bool points_file_read(struct points_file *f, const char *path, const struct dse *d, const char *model, struct diags *diags);
void points_file_release(struct points_file *f);

#endif
