#include "cli/points_file.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "model/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns that dse, pandas and Optuna write beside parameters and metrics. */
static const char *const results[] = {
    "id",           "run",           "point",   "status",      "reason",
    "fidelity",     "quality",       "beyond",  "why_unknown", "why_null",
    "design",       "shows",         "speedup", "requests",    "attention_speedup",
    "energy_ratio", "latency_ratio", "index",   "level_0",     "known_tokens",
    "number",       "value",         "state",   "duration",
};
static const char *const result_prefixes[] = {"Unnamed:", "values_", "datetime_", "user_attrs_", "system_attrs_", "intermediate_"};
static const char parameter_prefix[] = "params_"; /* of Optuna */

struct reading {
    struct points_file *f;
    const struct dse *dse;
    const char *model;
    size_t model_at;     /* the column "model"; n_columns: there is none */
    bool is_of_results;  /* it has metrics, too: what is no parameter is most likely a result */
    struct text ignored; /* names, with commas between them */
    struct diags *diags;
};

/* ---- columns ------------------------------------------------------------------------------------------------------------- */

static const struct dse_column *parameter_of(const struct reading *r, const char *name)
{
    const struct dse_column *c = dse_column_find(r->dse, r->model, name);
    if (c && c->role == DSE_PARAMETER) return c;
    const size_t n = sizeof parameter_prefix - 1;
    return strncmp(name, parameter_prefix, n) == 0 ? parameter_of(r, name + n) : NULL;
}

/* Is it a column that dse or another program writes of a point? */
static bool is_result(const struct reading *r, const char *name)
{
    const char *model;
    if (!*name) return true; /* the index of a frame, or a comma at the ends of lines */
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (strcmp(name, results[i]) == 0) return true;
    for (size_t i = 0; i < sizeof result_prefixes / sizeof *result_prefixes; i++)
        if (strncmp(name, result_prefixes[i], strlen(result_prefixes[i])) == 0) return true;
    for (size_t i = 0; (model = dse_model_at(r->dse, i)) != NULL; i++)
        if (dse_column_find(r->dse, model, name)) return true;
    return false;
}

/* The letters that a misspelt parameter may be off by: a third of them. Beside metrics most names are of results (best, time), and
 * fewer must do. */
static size_t most_edits(const struct reading *r, const char *name)
{
    enum { LONG = 8 };
    const size_t n = strlen(name);
    const size_t most = r->is_of_results ? 1U + (n >= LONG) : n / 3;
    return most ? most : 1;
}

/* The parameter that a name was most likely meant to be, or NULL. */
static const char *near_parameter(const struct reading *r, const char *name)
{
    const struct dse_column *c;
    const char **names = NULL;
    size_t n = 0;
    const size_t prefix = sizeof parameter_prefix - 1;
    if (strncmp(name, parameter_prefix, prefix) == 0) name += prefix;
    for (; (c = dse_column_at(r->dse, r->model, DSE_PARAMETER, n)) != NULL; n++) {
        names = xrealloc(names, n + 1, sizeof *names);
        names[n] = c->name;
    }
    const char *near = text_nearest(name, names, n);
    free(names);
    return near && text_edits(name, near) <= most_edits(r, name) ? near : NULL;
}

static bool add_parameter(struct reading *r, const struct dse_column *c, size_t at)
{
    struct points_file *f = r->f;
    const struct csv_table *t = &f->table;
    for (size_t i = 0; i < f->n_columns; i++) {
        const char *name = t->columns[at], *other = t->columns[f->columns[i].at];
        if (f->columns[i].parameter != c) continue;
        if (strcmp(name, other) == 0)
            return diags_input(r->diags, csv_table_header_loc(t), t->text, NULL, "column %s stands twice in the header", name);
        return diags_input(r->diags, csv_table_header_loc(t), t->text, NULL, "columns %s and %s are the same parameter", other,
                           name);
    }
    f->columns = xrealloc(f->columns, f->n_columns + 1, sizeof *f->columns);
    f->columns[f->n_columns++] = (struct points_column){.parameter = c, .at = at};
    return true;
}

static bool take_column(struct reading *r, size_t at)
{
    const struct csv_table *t = &r->f->table;
    const char *name = t->columns[at];
    const struct dse_column *c = parameter_of(r, name);
    if (c) return add_parameter(r, c, at);
    if (strcmp(name, "model") == 0) {
        r->model_at = at;
        return true;
    }
    const char *near = is_result(r, name) ? NULL : near_parameter(r, name);
    if (near) {
        char *hint = xasprintf("did you mean \"%s\"?", near);
        diags_input(r->diags, csv_table_header_loc(t), t->text, hint, "%s has no parameter \"%s\"", r->model, name);
        free(hint);
        return false;
    }
    if (*name)
        text_addf(&r->ignored, "%s%s", r->ignored.n ? ", " : "", name);
    else
        text_addf(&r->ignored, "%scolumn %zu, which has no name", r->ignored.n ? ", " : "", at + 1);
    return true;
}

/* The column of the file that is the parameter of that name; n_columns: none is. */
static size_t column_of(const struct points_file *f, const char *name)
{
    size_t i = 0;
    while (i < f->n_columns && strcmp(f->columns[i].parameter->name, name) != 0) i++;
    return i;
}

/* Does every parameter that this one follows from, and may not stand beside, have a column? */
static bool is_follower(const struct points_file *f, const struct field *field)
{
    bool all = field->excludes != NULL;
    for (const char *const *name = field->excludes; all && *name; name++) all = column_of(f, *name) < f->n_columns;
    return all;
}

/* Rows of results say everything of a point: leave out what follows from the rest (bandwidth_gbs of channels and channel_gbs). */
static void drop_followers(struct reading *r)
{
    struct points_file *f = r->f;
    const struct model *m = registry_find(r->model);
    for (size_t i = 0; m && r->is_of_results && i < m->params.n; i++) {
        const struct field *field = &m->params.fields[i];
        const size_t at = column_of(f, field->name);
        if (at == f->n_columns || !is_follower(f, field)) continue;
        memmove(&f->columns[at], &f->columns[at + 1], (f->n_columns - at - 1) * sizeof *f->columns);
        f->n_columns--;
        char *from = text_join(field->excludes, " and ");
        text_addf(&r->ignored, "%s%s, which follows from %s", r->ignored.n ? ", " : "", field->name, from);
        free(from);
    }
}

static bool take_columns(struct reading *r)
{
    const struct csv_table *t = &r->f->table;
    bool ok = true;
    r->model_at = t->n_columns;
    for (size_t i = 0; i < t->n_columns && !r->is_of_results; i++) {
        const struct dse_column *c = dse_column_find(r->dse, r->model, t->columns[i]);
        r->is_of_results = (c && c->role == DSE_METRIC) || strcmp(t->columns[i], "status") == 0;
    }
    for (size_t i = 0; i < t->n_columns; i++) ok = take_column(r, i) && ok;
    if (!ok) return false;
    drop_followers(r);
    if (r->f->n_columns == 0) {
        char *hint = xasprintf("the header names parameters: `dse describe %s` lists them", r->model);
        diags_input(r->diags, csv_table_header_loc(t), t->text, hint, "no column is a parameter of %s", r->model);
        free(hint);
        return false;
    }
    if (r->ignored.n)
        diags_note(r->diags, csv_table_header_loc(t), NULL, "columns that are no parameters of %s are not read: %s", r->model,
                   r->ignored.s);
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static bool take_rows(struct reading *r)
{
    struct points_file *f = r->f;
    const struct csv_table *t = &f->table;
    f->rows = xcalloc(t->n_rows + 1, sizeof *f->rows);
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *model = r->model_at < t->n_columns ? t->rows[i].cells[r->model_at] : "";
        if (!*model || strcmp(model, r->model) == 0) f->rows[f->n_rows++] = i;
    }
    const size_t others = t->n_rows - f->n_rows;
    if (others && f->n_rows == 0)
        return diags_input(r->diags, csv_table_cell_loc(t, 0, r->model_at), t->text, NULL, "no row is of model %s", r->model);
    if (others)
        diags_note(r->diags, csv_table_header_loc(t), NULL, "%zu of %zu rows are of other models than %s, and are left out", others,
                   t->n_rows, r->model);
    return true;
}

/* The cells of a parameter; *ret_empty counts those that are empty. */
static bool read_values(struct reading *r, struct points_column *c, size_t *ret_empty)
{
    const struct points_file *f = r->f;
    bool ok = true;
    c->is_empty = xcalloc(f->n_rows + 1, sizeof *c->is_empty);
    if (c->parameter->type == DSE_TEXT)
        c->texts = xcalloc(f->n_rows + 1, sizeof *c->texts);
    else
        c->numbers = xcalloc(f->n_rows + 1, sizeof *c->numbers);
    for (size_t k = 0; k < f->n_rows; k++) {
        const char *cell = f->table.rows[f->rows[k]].cells[c->at];
        c->is_empty[k] = *cell == '\0';
        *ret_empty += c->is_empty[k];
        if (c->texts)
            c->texts[k] = cell;
        else
            ok = csv_table_number(&f->table, f->rows[k], c->at, true, &c->numbers[k], r->diags) && ok;
        if (r->diags->errors >= DIAGS_MAX) break; /* more are not shown */
    }
    return ok;
}

static bool read_columns(struct reading *r)
{
    struct points_file *f = r->f;
    struct text names;
    text_init(&names);
    size_t cells = 0;
    bool ok = true;
    for (size_t i = 0; i < f->n_columns; i++) {
        size_t empty = 0;
        ok = read_values(r, &f->columns[i], &empty) && ok;
        if (empty) text_addf(&names, "%s%s", names.n ? ", " : "", f->columns[i].parameter->name);
        cells += empty;
    }
    if (ok && cells)
        diags_note(r->diags, csv_table_header_loc(&f->table), NULL, "%zu cell%s empty, so the parameter has its default: of %s",
                   cells, cells == 1 ? " is" : "s are", names.s);
    text_release(&names);
    return ok;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

bool points_file_read(struct points_file *f, const char *path, const struct dse *d, const char *model, struct diags *diags)
{
    struct reading r = {.f = f, .dse = d, .model = model, .diags = diags};
    *f = (struct points_file){0};
    text_init(&r.ignored);
    const bool ok = csv_table_read_any(&f->table, path, diags) && take_columns(&r) && take_rows(&r) && read_columns(&r);
    text_release(&r.ignored);
    return ok;
}

void points_file_release(struct points_file *f)
{
    for (size_t i = 0; i < f->n_columns; i++) {
        free(f->columns[i].numbers);
        free(f->columns[i].texts);
        free(f->columns[i].is_empty);
    }
    free(f->columns);
    free(f->rows);
    csv_table_release(&f->table);
}
