/* task_quality(file): what others publish of techniques on tasks, row by row (docs/tables.md). */
#include "tables/tables_internal.h"

#include "config/csv_table.h"

#include <dse/eviction.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of the file. What makes a point stands before `value`. */
enum column { METHOD, RATIO, SETTINGS, LLM, TASK, SCORE, VALUE, UNIT, BETTER, REFERENCE, SOURCE, CLAIM, COLUMNS };
static const char *const columns[COLUMNS + 1] = {
    [METHOD] = "method", [RATIO] = "ratio",         [SETTINGS] = "settings", [LLM] = "llm",
    [TASK] = "task",     [SCORE] = "score",         [VALUE] = "value",       [UNIT] = "unit",
    [BETTER] = "better", [REFERENCE] = "reference", [SOURCE] = "source",     [CLAIM] = "claim"};

static const enum column named[] = {METHOD, LLM, TASK, SCORE, SOURCE};
enum { NAMED = sizeof named / sizeof *named };

static bool is_same_point(const struct csv_row *a, const struct csv_row *b)
{
    for (int k = METHOD; k < VALUE; k++)
        if (strcmp(a->cells[k], b->cells[k]) != 0) return false;
    return strcmp(a->cells[SOURCE], b->cells[SOURCE]) == 0;
}

static bool check_words(const struct csv_table *t, size_t i, struct diags *diags)
{
    const struct csv_row *row = &t->rows[i];
    bool ok = true;
    for (size_t k = 0; k < NAMED; k++)
        if (!*row->cells[named[k]])
            ok = diags_input(diags, csv_table_cell_loc(t, i, named[k]), t->text, NULL, "there is no %s", columns[named[k]]);
    if (strcmp(row->cells[BETTER], "more") != 0 && strcmp(row->cells[BETTER], "less") != 0)
        ok = diags_input(diags, csv_table_cell_loc(t, i, BETTER), t->text, NULL, "better: \"%s\" is neither more nor less",
                         row->cells[BETTER]);
    for (size_t k = 0; k < i && ok; k++)
        if (is_same_point(&t->rows[k], row))
            ok = diags_input(diags, csv_table_loc(t, i), t->text, NULL, "the score of line %d once more", t->rows[k].line);
    return ok;
}

/* The numbers of a row: ratio and reference may be missing. */
struct numbers {
    double ratio, value, reference;
};

static bool read_numbers(const struct csv_table *t, size_t i, struct numbers *ret, struct diags *diags)
{
    if (!csv_table_number(t, i, RATIO, true, &ret->ratio, diags) || !csv_table_number(t, i, VALUE, false, &ret->value, diags) ||
        !csv_table_number(t, i, REFERENCE, true, &ret->reference, diags))
        return false;
    if (isnan(ret->ratio) || (ret->ratio > 0 && ret->ratio <= 1)) return true;
    return diags_input(diags, csv_table_cell_loc(t, i, RATIO), t->text, NULL, "ratio %g is not above 0 and at most 1", ret->ratio);
}

static void add_row(const struct csv_row *row, const struct numbers *n, struct computed_rows *rows)
{
    for (int k = 0; k < COLUMNS; k++) {
        if (k == RATIO || k == VALUE || k == REFERENCE)
            computed_f64(rows, k == RATIO ? n->ratio : k == VALUE ? n->value : n->reference);
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
    bool ok = csv_table_read(&t, path, columns, COLUMNS, &diags);
    for (size_t i = 0; i < t.n_rows && ok; i++) {
        struct numbers n;
        ok = check_words(&t, i, &diags) && read_numbers(&t, i, &n, &diags);
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
    .doc = "what others publish of techniques on tasks, or a file of your own with these columns",
    .columns = columns,
    .arguments = (const char *const[]){"file", NULL},
    .required = 0,
    .fill = fill,
};
