/* A file of scores on tasks: a row a score (catalog/task_quality.csv, docs/explanation/quality.md). */
#ifndef DSE_CONFIG_TASK_FILE_H
#define DSE_CONFIG_TASK_FILE_H

#include "config/csv_table.h"

/* What makes a point stands before `value`. */
enum task_column {
    TASK_METHOD,
    TASK_RATIO,
    TASK_SETTINGS,
    TASK_LLM,
    TASK_NAME,
    TASK_SCORE,
    TASK_VALUE,
    TASK_UNIT,
    TASK_BETTER,
    TASK_REFERENCE,
    TASK_SOURCE,
    TASK_CLAIM,
    TASK_COLUMNS
};
extern const char *const task_columns[TASK_COLUMNS + 1];

/* Ratio and reference may be missing: NaN. */
struct task_numbers {
    double ratio, value, reference;
};
/* Check a row, against those above it too, and read its numbers. */
bool task_file_row(const struct csv_table *t, size_t row, struct task_numbers *ret, struct diags *diags);

#endif
