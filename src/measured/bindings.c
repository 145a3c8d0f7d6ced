/* bindings.toml: how a model answers the rows of a file. */
#include "measured/internal.h"

#include "claims/units.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static bool complain(const struct measured_bind *b, const struct toml_node *node, const char *hint, struct diags *diags,
                     const char *message)
{
    return diags_input(diags, toml_loc(b->set->doc, node), b->set->doc->text, hint, "%s", message);
}

static const struct toml_node *needed(const struct measured_bind *b, const char *key, struct diags *diags)
{
    const struct toml_node *node = toml_expect(b->set->doc, b->table, key, TOML_STRING, diags);
    if (node || toml_get(b->table, key)) return node;
    diags_input(diags, toml_loc(b->set->doc, b->table), b->set->doc->text, NULL, "%s is missing in this [[bind]]", key);
    return NULL;
}

/* ---- names of the value ------------------------------------------------------------------------------------------------------ */

static double *add_wanted(struct measured_bind *b, const char *name, size_t point, size_t column, const struct field *f, int kind)
{
    struct wanted *w = &b->wanted[b->n_wanted++];
    *w = (struct wanted){.text = xstrdup(name), .point = point, .column = column, .field = f, .kind = kind, .number = 1};
    return &w->number;
}

static bool unknown(const struct measured_bind *b, const char *name, struct srcloc loc, struct diags *diags)
{
    struct text points;
    text_init(&points);
    text_addf(&points, "`dse describe %s` lists parameters and metrics, `dse eval %s --equations` the others; row.NAME is a column",
              b->model->desc->name, b->model->desc->name);
    for (size_t i = 0; i < b->n_points && *b->points[0].name; i++)
        text_addf(&points, "%s%s", i ? ", " : "; points: ", b->points[i].name);
    diags_input(diags, loc, b->set->doc->text, points.s, "there is no \"%s\"", name);
    text_release(&points);
    return false;
}

static double *find_field(struct measured_bind *b, const char *name, size_t point, const char *field)
{
    const struct schema *schemas[] = {&b->model->params, &b->model->metrics, &b->model->equations};
    for (int kind = 0; kind < 3; kind++) {
        const struct field *f = schema_find(schemas[kind], field);
        if (f && field_is_number(f) && !f->without) return add_wanted(b, name, point, SIZE_MAX, f, kind);
    }
    return NULL;
}

static double *find_name(void *context, const char *name, struct srcloc loc, const char *source_text, struct diags *diags)
{
    (void)source_text;
    struct measured_bind *b = context;
    for (size_t i = 0; i < b->n_wanted; i++)
        if (strcmp(b->wanted[i].text, name) == 0) return &b->wanted[i].number;
    if (b->n_wanted == WANTED_MAX) {
        diags_input(diags, loc, b->set->doc->text, NULL, "more than %d names", WANTED_MAX);
        return NULL;
    }
    const char *dot = strchr(name, '.');
    double *found = NULL;
    if (dot && strncmp(name, "row.", 4) == 0) {
        size_t column = measured_column(b->file, dot + 1);
        found = column != SIZE_MAX ? add_wanted(b, name, SIZE_MAX, column, NULL, 0) : NULL;
    }
    for (size_t i = 0; i < b->n_points && !found; i++) {
        size_t n = strlen(b->points[i].name);
        if (n == 0 && !dot) found = find_field(b, name, i, name);
        if (n && dot && (size_t)(dot - name) == n && strncmp(name, b->points[i].name, n) == 0)
            found = find_field(b, name, i, dot + 1);
    }
    if (!found) unknown(b, name, loc, diags);
    return found;
}

/* ---- settings ---------------------------------------------------------------------------------------------------------------- */

static bool add_settings(struct measured_bind *b, struct asked *a, const struct toml_node *table, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; table && i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        const struct field *f = schema_find(&b->model->params, node->key);
        if (!f) {
            const char **names = schema_names(&b->model->params);
            char *hint = param_hint(node->key, names, b->model->params.n, b->model->desc->name);
            ok = diags_input(diags, toml_key_loc(b->set->doc, node), b->set->doc->text, hint, "%s has no parameter %s",
                             b->model->desc->name, node->key);
            free(hint);
            free(names);
            continue;
        }
        struct setting *at = NULL;
        for (size_t k = 0; k < a->n; k++)
            if (strcmp(a->settings[k].name, node->key) == 0) at = &a->settings[k];
        if (at) { /* a point's own goes before that of all */
            template_release(&at->value);
        } else {
            a->settings = xrealloc(a->settings, a->n + 1, sizeof *a->settings);
            at = &a->settings[a->n++];
        }
        at->name = node->key;
        ok = template_init(&at->value, b, node, diags) && ok;
    }
    return ok;
}

static bool read_points(struct measured_bind *b, struct diags *diags)
{
    const struct toml_node *set = toml_expect(b->set->doc, b->table, "set", TOML_TABLE, diags),
                           *points = toml_expect(b->set->doc, b->table, "points", TOML_TABLE, diags);
    if ((!set && toml_get(b->table, "set")) || (!points && toml_get(b->table, "points"))) return false;
    if (points && (points->n == 0 || points->n > POINTS_MAX)) return complain(b, points, NULL, diags, "points: one to four");
    b->n_points = points ? points->n : 1;
    bool ok = true;
    for (size_t i = 0; i < b->n_points; i++) {
        const struct toml_node *own = points ? &points->children[i] : NULL;
        b->points[i].name = own ? own->key : "";
        if (own && own->type != TOML_TABLE) return complain(b, own, NULL, diags, "a table of settings is needed");
        ok = add_settings(b, &b->points[i], set, diags) && ok;
        ok = add_settings(b, &b->points[i], own, diags) && ok;
    }
    return ok;
}

/* ---- which rows -------------------------------------------------------------------------------------------------------------- */

static bool read_where(struct measured_bind *b, struct diags *diags)
{
    b->where = toml_expect(b->set->doc, b->table, "where", TOML_TABLE, diags);
    if (!b->where && toml_get(b->table, "where")) return false;
    bool ok = true;
    for (size_t i = 0; b->where && i < b->where->n; i++) {
        const struct toml_node *node = &b->where->children[i];
        if (measured_column(b->file, node->key) == SIZE_MAX)
            ok = diags_input(diags, toml_key_loc(b->set->doc, node), b->set->doc->text, NULL, "%s.csv has no column \"%s\"",
                             b->file->name, node->key);
        for (size_t k = 0; node->type == TOML_ARRAY && k < node->n; k++)
            if (node->children[k].type != TOML_STRING) ok = complain(b, &node->children[k], NULL, diags, "a text is needed");
        if (node->type != TOML_STRING && node->type != TOML_ARRAY)
            ok = complain(b, node, "numbers go into `only`", diags, "a text or a list of texts is needed");
    }
    const struct toml_node *only = toml_expect(b->set->doc, b->table, "only", TOML_STRING, diags);
    if (!only) return ok && !toml_get(b->table, "only");
    b->only = measured_row_expr(b, only->string, only, 0, diags);
    return ok && b->only;
}

/* ---- one binding ------------------------------------------------------------------------------------------------------------- */

static bool read_value(struct measured_bind *b, struct diags *diags)
{
    const struct toml_node *value = needed(b, "value", diags), *unit = needed(b, "unit", diags),
                           *regime = needed(b, "regime", diags);
    if (!value || !unit || !regime) return false;
    const struct expr_scope scope = {.find = find_name, .context = b};
    b->value = expr_new_in(value->string, toml_string_loc(b->set->doc, value), b->set->doc->text, &scope, diags);
    if (!b->value) return false;
    b->unit = unit->string;
    const bool plain = b->n_wanted == 1 && strcmp(b->wanted[0].text, value->string) == 0 && b->wanted[0].field;
    if (plain && !claims_units_agree(b->wanted[0].field->unit, b->unit, true))
        return diags_input(diags, toml_loc(b->set->doc, unit), b->set->doc->text, "write an expression that converts it",
                           "%s is in %s, not in %s", value->string, b->wanted[0].field->unit, b->unit);
    return template_init(&b->regime, b, regime, diags);
}

static bool read_measured(struct measured_bind *b, struct diags *diags)
{
    const struct toml_node *node = toml_expect(b->set->doc, b->table, "measured", TOML_STRING, diags);
    if (!node && toml_get(b->table, "measured")) return false;
    const char *name = node ? node->string : "value";
    b->measured = measured_column(b->file, name);
    if (b->measured != SIZE_MAX) return true;
    return diags_input(diags, toml_loc(b->set->doc, node ? node : b->table), b->set->doc->text,
                       "measured = \"COLUMN\", where the number stands", "%s.csv has no column \"%s\"", b->file->name, name);
}

static bool read_model(struct measured_bind *b, struct diags *diags)
{
    const struct toml_node *model = needed(b, "model", diags), *file = needed(b, "file", diags);
    if (!model || !file) return false;
    b->model = registry_find(model->string);
    if (!b->model) return complain(b, model, "`dse list models`", diags, "there is no such model");
    b->defaults = binding_new(b->model, b->set->catalog, catalog_data_dir(), diags);
    if (!b->defaults) return false;
    b->file = measured_file_read(b->set, file->string, toml_loc(b->set->doc, file), diags);
    if (!b->file) return false;
    b->numbers = xcalloc(b->file->table.n_columns, sizeof *b->numbers);
    for (size_t i = 0; i < b->file->table.n_columns; i++) b->numbers[i] = 1;
    return true;
}

bool measured_bind_read(struct measured_bind *b, struct measured_set *s, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"file",  "where",    "only", "model",  "set", "points",
                                       "value", "measured", "unit", "regime", "fit"};
    *b = (struct measured_bind){.set = s, .table = table};
    bool ok = toml_check_keys(s->doc, table, keys, sizeof keys / sizeof *keys, diags);
    if (!read_model(b, diags)) return false;
    ok = read_where(b, diags) && ok;
    ok = read_points(b, diags) && ok;
    ok = read_measured(b, diags) && ok;
    return read_value(b, diags) && ok;
}

void measured_bind_release(struct measured_bind *b)
{
    for (size_t i = 0; i < b->n_points; i++) {
        for (size_t k = 0; k < b->points[i].n; k++) template_release(&b->points[i].settings[k].value);
        free(b->points[i].settings);
    }
    for (size_t i = 0; i < b->n_wanted; i++) free(b->wanted[i].text);
    expr_free(b->only);
    expr_free(b->value);
    template_release(&b->regime);
    free(b->numbers);
    binding_free(b->defaults);
}
