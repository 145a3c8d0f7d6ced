#include "diff/source.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/budget.h"
#include "store/run_catalog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the catalog as it was --------------------------------------------------------------------------------------------------- */

/* Today's catalog and the user's files, what the sweep file adds, and over them what the run kept of the entries that it used. What
 * cannot be read any more is left as it is today. */
static struct catalog *open_catalog_of(const struct source *s, const struct diff_options *o, struct diags *diags)
{
    struct catalog *c = catalog_open(diags);
    bool ok = c != NULL;
    for (size_t i = 0; ok && i < o->n_catalogs; i++) ok = catalog_add_any(c, o->catalogs[i], diags);
    if (!ok) {
        catalog_free(c);
        return NULL;
    }
    struct diags unread;
    diags_init(&unread);
    const struct toml_node *own = s->doc ? toml_get(&s->doc->root, "catalog") : NULL;
    if (own && own->type == TOML_TABLE) catalog_add_table(c, s->doc, own, &unread);
    if (s->side->catalog) catalog_restore(c, s->side->catalog, &unread);
    diags_release(&unread);
    return c;
}

/* The requests of the sweep, from its whole file. */
static bool open_mix(struct source *s, struct diags *diags)
{
    if (!s->side->requests) return true;
    s->mix_catalog = catalog_open(diags);
    if (!s->mix_catalog) return false;
    struct diags unread;
    diags_init(&unread);
    s->mix_sweep =
        sweep_file_read_text_at(s->side->path, s->side->text, s->side->fidelity, s->mix_catalog, catalog_data_dir(), &unread);
    const bool ok = s->mix_sweep && unread.errors == 0;
    diags_release(&unread);
    if (ok) s->mix = mix_new(s->mix_sweep, s->model);
    return true;
}

/* ---- opening --------------------------------------------------------------------------------------------------------------- */

static bool find_stored(struct source *s, struct diags *diags)
{
    char **names = NULL, *table = xasprintf("%s_fixed", s->model->desc->name);
    size_t n = 0;
    struct text sql;
    text_init(&sql);
    text_add(&sql, "SELECT name FROM pragma_table_info(");
    sql_add_string(&sql, table);
    text_add(&sql, ", 'main')");
    const bool ok = read_strings(s->side->reader, sql.s, &names, &n, diags);
    s->stored = xcalloc(s->model->params.n, sizeof *s->stored);
    for (size_t i = 0; i < s->model->params.n; i++) s->stored[i] = has_string(names, n, s->model->params.fields[i].name);
    free_strings(names, n);
    text_release(&sql);
    free(table);
    return ok;
}

bool source_open(struct source *s, const struct diff_side *side, const struct model *model, const char *const *metrics,
                 size_t n_metrics, const struct diff_options *options, struct diags *diags)
{
    *s = (struct source){.side = side, .model = model, .n_metrics = n_metrics};
    struct diags unread;
    diags_init(&unread);
    s->doc = toml_read_text(side->path, side->text, strlen(side->text), &unread);
    diags_release(&unread);
    s->catalog = open_catalog_of(s, options, diags);
    s->binding = s->catalog ? binding_new(model, s->catalog, catalog_data_dir(), diags) : NULL;
    if (!s->binding || !find_stored(s, diags) || !open_mix(s, diags)) return false;
    const size_t n = SOURCE_LEADING + n_metrics + model->params.n;
    const char **names = xcalloc(n, sizeof *names);
    names[0] = "status", names[1] = "reason", names[2] = "fidelity";
    for (size_t i = 0; i < n_metrics; i++) names[SOURCE_LEADING + i] = metrics[i];
    for (size_t i = 0; i < model->params.n; i++) names[SOURCE_LEADING + n_metrics + i] = model->params.fields[i].name;
    s->rows = run_rows_new(side->reader, model->desc->name, side->run, names, n, diags);
    s->params = xmalloc(model->desc->params_size);
    s->values = xcalloc(n_metrics + 1, sizeof *s->values);
    free(names);
    return s->rows != NULL;
}

void source_release(struct source *s)
{
    run_rows_free(s->rows);
    mix_free(s->mix);
    sweep_file_free(s->mix_sweep);
    catalog_free(s->mix_catalog);
    binding_free(s->binding);
    catalog_free(s->catalog);
    toml_free(s->doc);
    free(s->stored);
    free(s->params);
    free(s->values);
    *s = (struct source){0};
}

/* ---- what sets a parameter --------------------------------------------------------------------------------------------------- */

bool source_gives(const struct source *s, const char *param)
{
    const struct toml_node *params = s->doc ? toml_get(&s->doc->root, "params") : NULL;
    if (!params || params->type != TOML_TABLE) return false;
    const struct toml_node *own = toml_get(params, s->model->desc->name);
    return toml_get(params, param) || (own && own->type == TOML_TABLE && toml_get(own, param));
}

size_t source_owner(const struct source *a, const struct source *b, size_t i)
{
    const struct schema *params = &a->model->params;
    const struct field *f = &params->fields[i];
    size_t owner = i;
    bool owner_given = false;
    if (source_gives(a, f->name) || source_gives(b, f->name)) return i;
    for (size_t k = 0; k < params->n; k++) {
        const struct field *ref = &params->fields[k];
        if (ref->type != DSE_TYPE_REF || k == i) continue;
        const struct field *from = schema_find(catalog_fields(a->catalog, ref->kind), f->name);
        if (!from || from->type != f->type || from->optional) continue;
        const bool given = source_gives(a, ref->name) || source_gives(b, ref->name);
        if (owner == i || given || !owner_given) owner = k;
        owner_given |= given;
    }
    return owner;
}

const char *source_digest(const struct diff_side *side, const char *entry)
{
    char *line = xasprintf("# %s ", entry);
    const char *at = side->catalog ? strstr(side->catalog, line) : NULL;
    const char *digest = at ? at + strlen(line) : NULL;
    free(line);
    return digest && strcspn(digest, "\n") == 16 ? digest : NULL;
}

/* ---- a row ----------------------------------------------------------------------------------------------------------------- */

/* NULL, or why the value cannot be set. */
static char *set_text(const struct source *s, const struct field *f, const char *text)
{
    struct value v = {0};
    if (f->type == DSE_TYPE_REF) {
        v.ref = catalog_find(s->catalog, f->kind, text);
        if (!v.ref) return xasprintf("the catalog has no %s \"%s\"", kind_singular(f->kind), text);
    } else {
        while (f->choices[v.choice] && strcmp(f->choices[v.choice], text) != 0) v.choice++;
        if (!f->choices[v.choice]) return xasprintf("%s has no \"%s\" today", f->name, text);
    }
    field_set(f, s->params, v);
    return NULL;
}

/* Is it left to resolve()? */
static bool is_auto(const struct source *s, const struct field *f)
{
    return f->may_be_auto && isnan(field_get(f, s->binding->defaults).f64) && !source_gives(s, f->name) &&
           source_owner(s, s, schema_index(&s->model->params, f)) == schema_index(&s->model->params, f);
}

static char *set_param(const struct source *s, size_t i)
{
    const struct field *f = &s->model->params.fields[i];
    const size_t column = SOURCE_LEADING + s->n_metrics + i;
    const enum cell_type type = run_rows_type(s->rows, column);
    if (!s->stored[i] || is_auto(s, f)) return NULL;
    if (f->type == DSE_TYPE_REF || f->type == DSE_TYPE_ENUM)
        return type == CELL_TEXT ? set_text(s, f, run_rows_text(s->rows, column)) : NULL;
    const double v = run_rows_f64(s->rows, column);
    if (f->type == DSE_TYPE_I64 && type != CELL_NULL)
        field_set(f, s->params, (struct value){.i64 = (int64_t)v});
    else if (f->type == DSE_TYPE_F64)
        field_set(f, s->params, (struct value){.f64 = type == CELL_NULL ? (double)NAN : v});
    return NULL;
}

/* What an older dse did not store has its default, or follows from the entry. */
static void follow_unstored(const struct source *s)
{
    for (size_t i = 0; i < s->model->params.n; i++) {
        const struct field *f = &s->model->params.fields[i];
        const size_t owner = s->stored[i] ? i : source_owner(s, s, i);
        if (owner == i) continue;
        const struct field *ref = &s->model->params.fields[owner];
        const struct field *from = schema_find(catalog_fields(s->catalog, ref->kind), f->name);
        if (from) field_set(f, s->params, field_get(from, field_get(ref, s->params).ref));
    }
}

static void read_results(struct source *s)
{
    const char *status = run_rows_text(s->rows, 0), *reason = run_rows_text(s->rows, 1), *fidelity = run_rows_text(s->rows, 2);
    s->feasible =
        (status && strcmp(status, "ok") == 0) || (reason && (strncmp(reason, "constraint ", 11) == 0 || budget_is_reason(reason)));
    s->fidelity =
        fidelity && strcmp(fidelity, fidelity_names[FIDELITY_EVENT_LEVEL]) == 0 ? FIDELITY_EVENT_LEVEL : FIDELITY_CLOSED_FORM;
    for (size_t i = 0; i < s->n_metrics; i++) {
        const enum cell_type type = run_rows_type(s->rows, SOURCE_LEADING + i);
        const double v = type == CELL_REAL || type == CELL_INTEGER ? run_rows_f64(s->rows, SOURCE_LEADING + i) : (double)NAN;
        s->values[i] = isfinite(v) ? v : (double)NAN;
    }
}

char *source_read(struct source *s, uint64_t point, struct diags *diags)
{
    const int rc = run_rows_at(s->rows, point, diags);
    if (rc <= 0) return xstrdup("its row cannot be read");
    read_results(s);
    memcpy(s->params, s->binding->defaults, s->model->desc->params_size);
    char *why = s->side->requests && !s->mix ? xstrdup("the requests of its sweep file cannot be read any more") : NULL;
    for (size_t i = 0; !why && i < s->model->params.n; i++) why = set_param(s, i);
    if (!why) follow_unstored(s);
    return why;
}
