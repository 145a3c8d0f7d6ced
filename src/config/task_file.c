/* Rows of a file of scores on tasks. */
#include "config/task_file.h"

#include <math.h>
#include <string.h>

const char *const task_columns[TASK_COLUMNS + 1] = {
    [TASK_METHOD] = "method", [TASK_RATIO] = "ratio",         [TASK_SETTINGS] = "settings", [TASK_LLM] = "llm",
    [TASK_NAME] = "task",     [TASK_SCORE] = "score",         [TASK_VALUE] = "value",       [TASK_UNIT] = "unit",
    [TASK_BETTER] = "better", [TASK_REFERENCE] = "reference", [TASK_SOURCE] = "source",     [TASK_CLAIM] = "claim"};

static const enum task_column named[] = {TASK_METHOD, TASK_LLM, TASK_NAME, TASK_SCORE, TASK_SOURCE};
enum { NAMED = sizeof named / sizeof *named };

static bool is_same_point(const struct csv_row *a, const struct csv_row *b)
{
    for (int k = TASK_METHOD; k < TASK_VALUE; k++)
        if (strcmp(a->cells[k], b->cells[k]) != 0) return false;
    return strcmp(a->cells[TASK_SOURCE], b->cells[TASK_SOURCE]) == 0;
}

static bool check_words(const struct csv_table *t, size_t i, struct diags *diags)
{
    const struct csv_row *row = &t->rows[i];
    bool ok = true;
    for (size_t k = 0; k < NAMED; k++)
        if (!*row->cells[named[k]])
            ok = diags_input(diags, csv_table_cell_loc(t, i, named[k]), t->text, NULL, "there is no %s", task_columns[named[k]]);
    if (strcmp(row->cells[TASK_BETTER], "more") != 0 && strcmp(row->cells[TASK_BETTER], "less") != 0)
        ok = diags_input(diags, csv_table_cell_loc(t, i, TASK_BETTER), t->text, NULL, "better: \"%s\" is neither more nor less",
                         row->cells[TASK_BETTER]);
    for (size_t k = 0; k < i && ok; k++)
        if (is_same_point(&t->rows[k], row))
            ok = diags_input(diags, csv_table_loc(t, i), t->text, NULL, "the same score as in line %d", t->rows[k].line);
    return ok;
}

bool task_file_row(const struct csv_table *t, size_t row, struct task_numbers *ret, struct diags *diags)
{
    if (!check_words(t, row, diags)) return false;
    if (!csv_table_number(t, row, TASK_RATIO, true, &ret->ratio, diags) ||
        !csv_table_number(t, row, TASK_VALUE, false, &ret->value, diags) ||
        !csv_table_number(t, row, TASK_REFERENCE, true, &ret->reference, diags))
        return false;
    if (isnan(ret->ratio) || (ret->ratio > 0 && ret->ratio <= 1)) return true;
    return diags_input(diags, csv_table_cell_loc(t, row, TASK_RATIO), t->text, NULL, "ratio %g is not above 0 and at most 1",
                       ret->ratio);
}
