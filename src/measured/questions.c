/* What a binding asks of which rows. */
#include "measured/internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_value(const char *cell, const struct toml_node *wanted)
{
    if (wanted->type == TOML_STRING) return strcmp(cell, wanted->string) == 0;
    for (size_t i = 0; i < wanted->n; i++)
        if (strcmp(cell, wanted->children[i].string) == 0) return true;
    return false;
}

static bool takes(struct measured_bind *b, size_t row)
{
    const struct csv_table *t = &b->file->table;
    for (size_t i = 0; b->where && i < b->where->n; i++) {
        const struct toml_node *node = &b->where->children[i];
        if (!has_value(t->rows[row].cells[measured_column(b->file, node->key)], node)) return false;
    }
    memcpy(b->numbers, b->file->numbers + row * t->n_columns, t->n_columns * sizeof *b->numbers);
    if (!b->only) return true;
    const double holds = expr_number(b->only);
    return !isnan(holds) && holds != 0;
}

/* The set's own copy of a text, each once. */
static const char *keep(struct measured_set *s, char *text)
{
    for (size_t i = s->n_texts; i-- > 0;)
        if (strcmp(s->texts[i], text) == 0) {
            free(text);
            return s->texts[i];
        }
    s->texts = xrealloc(s->texts, s->n_texts + 1, sizeof *s->texts);
    return s->texts[s->n_texts++] = text;
}

/* A setting that names an entry of the catalog names one that is there. */
static bool check_entry(const struct measured_bind *b, size_t row, const struct setting *set, const char *value,
                        struct diags *diags)
{
    const struct field *f = schema_find(&b->model->params, set->name);
    if (f->type != DSE_TYPE_REF || catalog_find(b->set->catalog, f->kind, value)) return true;
    const struct csv_table *t = &b->file->table;
    size_t column = 0;
    for (size_t i = 0; i < set->value.n; i++)
        if (set->value.pieces[i].column != SIZE_MAX) column = set->value.pieces[i].column;
    char *hint = xasprintf("`dse list %s`; an entry of your own goes into your catalog file", kind_plural(f->kind));
    diags_input(diags, csv_table_cell_loc(t, row, column), t->text, hint, "%s: there is no %s \"%s\"", set->name,
                kind_singular(f->kind), value);
    free(hint);
    return false;
}

/* "NAME=VALUE" of every setting of a point; false with *ret_why, or with errors. */
static bool assign(const struct measured_bind *b, struct question *q, size_t point, char **ret_why, struct diags *diags)
{
    const struct asked *a = &b->points[point];
    q->assignments[point] = xcalloc(a->n + 1, sizeof(char *));
    for (size_t i = 0; i < a->n; i++) {
        char *value = template_text(&a->settings[i].value, b, q->row, ret_why);
        if (!value) return false;
        bool ok = check_entry(b, q->row, &a->settings[i], value, diags);
        q->assignments[point][i] = xasprintf("%s=%s", a->settings[i].name, value);
        free(value);
        if (!ok) return false;
    }
    return true;
}

static char *settings_text(const struct question *q)
{
    struct text t;
    text_init(&t);
    for (char **a = q->assignments[0]; a && *a; a++) text_addf(&t, "%s--set %s", t.n ? " " : "", *a);
    return text_detach(&t);
}

static bool check_measured(const struct measured_bind *b, size_t row, struct diags *diags)
{
    const struct csv_table *t = &b->file->table;
    const double v = b->file->numbers[row * t->n_columns + b->measured];
    if (!(v > 0))
        return diags_input(diags, csv_table_cell_loc(t, row, b->measured), t->text, NULL, "%s: \"%s\" is not a positive number",
                           t->columns[b->measured], t->rows[row].cells[b->measured]);
    if (b->file->unit == SIZE_MAX) return true;
    const char *unit = t->rows[row].cells[b->file->unit];
    if (strcmp(unit, b->unit) == 0) return true;
    return diags_input(diags, csv_table_cell_loc(t, row, b->file->unit), t->text, NULL,
                       "unit: \"%s\", where its binding has \"%s\"", unit, b->unit);
}

static bool ask_row(struct measured_set *s, struct measured_bind *b, size_t row, struct diags *diags)
{
    const struct csv_table *t = &b->file->table;
    if (!check_measured(b, row, diags)) return false;
    char *why = NULL, *regime = template_text(&b->regime, b, row, &why);
    struct question q = {.bind = b, .row = row};
    bool ok = true;
    for (size_t i = 0; i < b->n_points && ok && !why; i++) ok = assign(b, &q, i, &why, diags) || why;
    for (size_t i = 0; i < b->n_wanted; i++)
        q.values[i] = b->wanted[i].column == SIZE_MAX ? (double)NAN : b->numbers[b->wanted[i].column];
    s->rows = xrealloc(s->rows, s->n_rows + 1, sizeof *s->rows);
    s->questions = xrealloc(s->questions, s->n_rows + 1, sizeof *s->questions);
    s->rows[s->n_rows] = (struct measured_row){
        .source = t->rows[row].cells[b->file->source],
        .file = b->file->name,
        .line = t->rows[row].line,
        .split = strcmp(t->rows[row].cells[b->file->split], measured_split_names[MEASURED_TEST]) == 0 ? MEASURED_TEST
                                                                                                      : MEASURED_CALIBRATE,
        .model = b->model,
        .regime = keep(s, regime ? regime : xstrdup("of no regime")),
        .unit = b->unit,
        .measured = b->file->numbers[row * t->n_columns + b->measured],
        .modelled = (double)NAN,
        .reason = why,
        .settings = settings_text(&q),
    };
    s->questions[s->n_rows++] = q;
    return ok;
}

bool measured_ask(struct measured_set *s, struct measured_bind *b, struct diags *diags)
{
    bool ok = true;
    size_t taken = 0;
    for (size_t i = 0; i < b->file->table.n_rows; i++) {
        if (!takes(b, i)) continue;
        b->file->is_taken[i] = true;
        taken++;
        ok = ask_row(s, b, i, diags) && ok;
    }
    if (taken) return ok;
    return diags_input(diags, toml_loc(s->doc, b->table), s->doc->text, NULL, "no row of %s.csv is such", b->file->name);
}

void question_release(struct question *q)
{
    for (size_t i = 0; i < POINTS_MAX; i++) {
        for (char **a = q->assignments[i]; a && *a; a++) free(*a);
        free(q->assignments[i]);
    }
}
