/* Tasks of the catalog: the rows of a file of scores that are of one task and score. */
#include "config/catalog_internal.h"

#include "base/limits.h"
#include "base/xalloc.h"
#include "config/task_file.h"
#include "workload/measured.h"
#include "workload/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool read_row(struct catalog *c, const struct csv_table *t, size_t i, struct task_row *ret, struct diags *diags)
{
    char **cells = t->rows[i].cells;
    struct task_numbers n;
    if (!task_file_row(t, i, &n, diags)) return false;
    *ret = (struct task_row){.method = catalog_intern(c, cells[TASK_METHOD]),
                             .llm = catalog_intern(c, cells[TASK_LLM]),
                             .ratio = n.ratio,
                             .value = n.value,
                             .reference = n.reference,
                             .more = strcmp(cells[TASK_BETTER], "more") == 0};
    for (int s = 0; s < DSE_SETTINGS; s++) ret->setting[s] = (double)NAN;
    char *why = measured_read_row(cells[TASK_SETTINGS], ret->setting);
    if (!why) return true;
    diags_input(diags, csv_table_cell_loc(t, i, TASK_SETTINGS), t->text, NULL, "settings: %s", why);
    free(why);
    return false;
}

static bool is_of(const struct csv_table *t, size_t a, size_t b)
{
    return strcmp(t->rows[a].cells[TASK_NAME], t->rows[b].cells[TASK_NAME]) == 0 &&
           strcmp(t->rows[a].cells[TASK_SCORE], t->rows[b].cells[TASK_SCORE]) == 0;
}

/* The rows that are of the same task and score as the `first`. */
static bool add_task(struct catalog *c, const char *name, const struct csv_table *t, size_t first, struct diags *diags)
{
    size_t n = 0;
    for (size_t i = first; i < t->n_rows; i++) n += is_of(t, first, i);
    struct dse_task *task = xcalloc(1, sizeof *task + n * sizeof *task->rows);
    bool ok = true;
    for (size_t i = first; i < t->n_rows; i++)
        if (is_of(t, first, i)) ok = read_row(c, t, i, &task->rows[task->n++], diags) && ok;
    task->entry = (struct dse_entry){catalog_intern(c, name), catalog_intern(c, t->rows[first].cells[TASK_SOURCE])};
    if (ok)
        catalog_add(c, DSE_KIND_TASK, &task->entry);
    else
        free(task);
    return ok;
}

bool catalog_load_tasks(struct catalog *c, const char *data_dir, struct diags *diags)
{
    char *path = xasprintf("%s/catalog/task_quality.csv", data_dir);
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, task_columns, TASK_COLUMNS, diags) && csv_table_check_rows(&t, CATALOG_ENTRIES_MAX, diags);
    for (size_t i = 0; i < t.n_rows && ok; i++) {
        size_t first = 0;
        while (!is_of(&t, first, i)) first++;
        if (first < i) continue;
        char *name = xasprintf("%s-%s", t.rows[i].cells[TASK_NAME], t.rows[i].cells[TASK_SCORE]);
        ok = add_task(c, name, &t, i, diags);
        free(name);
    }
    csv_table_release(&t);
    free(path);
    return ok;
}

bool catalog_add_task(struct catalog *c, const char *name, const char *path, struct diags *diags)
{
    struct csv_table t;
    c->reading = catalog_intern(c, path);
    bool ok = csv_table_read(&t, path, task_columns, TASK_COLUMNS, diags) && csv_table_check_rows(&t, CATALOG_ENTRIES_MAX, diags);
    if (ok && t.n_rows == 0) ok = diags_input(diags, csv_table_header_loc(&t), t.text, NULL, "task %s has no row", name);
    for (size_t i = 1; i < t.n_rows && ok; i++)
        if (!is_of(&t, 0, i))
            ok = diags_input(diags, csv_table_cell_loc(&t, i, TASK_NAME), t.text, "a file for each task and score",
                             "task %s is of %s, %s, not of %s, %s", name, t.rows[0].cells[TASK_NAME], t.rows[0].cells[TASK_SCORE],
                             t.rows[i].cells[TASK_NAME], t.rows[i].cells[TASK_SCORE]);
    ok = ok && add_task(c, name, &t, 0, diags);
    csv_table_release(&t);
    return ok;
}
