/* task_quality(file): what others publish of techniques on tasks, row by row (docs/reference/tables.md). */
#include "tables/tables_internal.h"

#include "config/task_file.h"

#include <stdlib.h>

static void add_row(const struct csv_row *row, const struct task_numbers *n, struct computed_rows *rows)
{
    for (int k = 0; k < TASK_COLUMNS; k++) {
        if (k == TASK_RATIO || k == TASK_VALUE || k == TASK_REFERENCE)
            computed_f64(rows, k == TASK_RATIO ? n->ratio : k == TASK_VALUE ? n->value : n->reference);
        else
            computed_text(rows, *row->cells[k] ? row->cells[k] : NULL);
    }
}

static bool fill(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    struct csv_table t;
    struct diags diags;
    (void)context;
    char *path = args[0] ? xstrdup(args[0]) : xasprintf("%s/catalog/task_quality.csv", catalog_data_dir());
    diags_init(&diags);
    bool ok = csv_table_read(&t, path, task_columns, TASK_COLUMNS, &diags);
    for (size_t i = 0; i < t.n_rows && ok; i++) {
        struct task_numbers n;
        ok = task_file_row(&t, i, &n, &diags);
        if (ok) add_row(&t.rows[i], &n, rows);
    }
    csv_table_release(&t);
    free(path);
    if (!ok) return tables_fail(&diags, ret_error);
    diags_release(&diags);
    return true;
}

const struct computed_table table_task_quality = {
    .name = "task_quality",
    .doc = "published scores of techniques on tasks, or a file of your own with these columns",
    .columns = task_columns,
    .arguments = (const char *const[]){"file", NULL},
    .required = 0,
    .fill = fill,
};
