/* [tables]: constant tables, whose rows loops run over. NAME = { columns = ["rows", "depth_kib"], rows = [[64, 8], [128, 16]] } */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char hint[] = "tiles = { columns = [\"rows\", \"buffer_kib\"], rows = [[64, 8], [128, 16]] }";

const struct table *find_table(const struct toml_model *m, const char *name)
{
    for (int i = 0; i < m->n_tables; i++)
        if (strcmp(m->tables[i].name, name) == 0) return &m->tables[i];
    return NULL;
}

int find_column(const struct table *t, const char *name)
{
    for (int i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0) return i;
    return -1;
}

const struct table *table_of_column(const struct toml_model *m, const char *name, int *ret_column)
{
    const char *dot = strchr(name, '.');
    char *table = dot ? xstrndup(name, (size_t)(dot - name)) : NULL;
    const struct table *t = table ? find_table(m, table) : NULL;
    free(table);
    if (t) *ret_column = find_column(t, dot + 1);
    return t;
}

static bool read_column(const struct toml_doc *doc, struct table *t, const struct toml_node *name, struct diags *diags)
{
    const char *unit;
    if (name->type != TOML_STRING)
        return diags_input(diags, toml_loc(doc, name), doc->text, hint, "the name of a column is a string");
    const struct toml_node as_key = {.key = name->string, .key_line = name->line, .key_column = name->column};
    if (!check_name(doc, &as_key, diags)) return false;
    if (find_column(t, as_key.key) >= 0)
        return diags_input(diags, toml_loc(doc, name), doc->text, "give it another name", "%s has a column %s already", t->name,
                           as_key.key);
    struct table_column *c = &t->columns[t->n_columns++];
    *c = (struct table_column){.name = xstrdup(as_key.key)};
    if (!measure_of_name(c->name, &c->measure, &unit)) c->measure = (struct measure){.scale = 1};
    return true;
}

static bool read_row(const struct toml_doc *doc, struct table *t, const struct toml_node *row, struct diags *diags)
{
    double *cells = t->cells + (size_t)t->n_rows++ * (size_t)t->n_columns;
    if (row->type != TOML_ARRAY || row->n != (size_t)t->n_columns)
        return diags_input(diags, toml_loc(doc, row), doc->text, hint, "a row of %s is a list of %d numbers", t->name,
                           t->n_columns);
    for (size_t i = 0; i < row->n; i++) {
        const struct toml_node *n = &row->children[i];
        const double x = n->type == TOML_INTEGER ? (double)n->integer : n->type == TOML_FLOAT ? n->number : (double)NAN;
        if (!isfinite(x))
            return diags_input(diags, toml_loc(doc, n), doc->text, hint, "a number is needed in a row of %s", t->name);
        cells[i] = x * t->columns[i].measure.scale;
    }
    return true;
}

static bool read_cells(const struct toml_doc *doc, struct table *t, const struct toml_node *n, struct diags *diags)
{
    const struct toml_node *columns = toml_expect(doc, n, "columns", TOML_ARRAY, diags),
                           *rows = toml_expect(doc, n, "rows", TOML_ARRAY, diags);
    if (!columns || !columns->n || !rows || !rows->n)
        return diags_input(diags, toml_key_loc(doc, n), doc->text, hint, "the table %s needs columns and rows", n->key);
    bool ok = true;
    t->columns = xcalloc(columns->n, sizeof *t->columns);
    for (size_t i = 0; i < columns->n; i++) ok = read_column(doc, t, &columns->children[i], diags) && ok;
    t->cells = xcalloc(rows->n * columns->n, sizeof *t->cells);
    for (size_t i = 0; i < rows->n && ok; i++) ok = read_row(doc, t, &rows->children[i], diags);
    return ok;
}

static bool read_table(struct toml_model *m, const struct toml_doc *doc, const struct toml_node *n, struct diags *diags)
{
    static const char *const keys[] = {"columns", "rows"};
    if (n->type != TOML_TABLE) return diags_input(diags, toml_key_loc(doc, n), doc->text, hint, "%s is no table", n->key);
    if (!check_name(doc, n, diags) || !toml_check_keys(doc, n, keys, 2, diags)) return false;
    if (find_table(m, n->key) || domain_find(n->key) != DOMAIN_NONE || schema_find(&m->schema, n->key))
        return diags_input(diags, toml_key_loc(doc, n), doc->text, "give it another name",
                           "there is a table, a parameter or a loop %s already", n->key);
    m->tables = xrealloc(m->tables, (size_t)m->n_tables + 1, sizeof *m->tables);
    struct table *t = &m->tables[m->n_tables++];
    *t = (struct table){.name = xstrdup(n->key)};
    return read_cells(doc, t, n, diags);
}

bool read_tables(struct toml_model *m, const struct toml_doc *doc, struct diags *diags)
{
    const struct toml_node *t = toml_expect(doc, &doc->root, "tables", TOML_TABLE, diags);
    bool ok = t || !toml_get(&doc->root, "tables");
    if (t && !check_room(doc, t, m->n_tables, diags)) return false;
    for (size_t i = 0; t && i < t->n; i++) ok = read_table(m, doc, &t->children[i], diags) && ok;
    return ok;
}

void constants_free(struct toml_model *m)
{
    for (int i = 0; i < m->n_tables; i++) {
        struct table *t = &m->tables[i];
        for (int k = 0; k < t->n_columns; k++) free(t->columns[k].name);
        free(t->columns);
        free(t->cells);
        free(t->name);
    }
    free(m->tables);
}
