#include "config/sweep_file.h"

#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/sweep_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- [sweep] ------------------------------------------------------------------------------------------------------------- */

static bool read_name(struct reading *r, const struct toml_node *sweep)
{
    const struct toml_node *name = toml_expect(r->doc, sweep, "name", TOML_STRING, r->diags);
    if (name && text_is_file_name(name->string)) {
        r->out->name = xstrdup(name->string);
        return true;
    }
    if (name)
        return diags_input(r->diags, toml_loc(r->doc, name), r->doc->text, TEXT_FILE_NAME_RULE,
                           "\"%s\" cannot be the name of a sweep: files are named by it", name->string);
    if (toml_get(sweep, "name")) return false;
    return diags_input(r->diags, toml_key_loc(r->doc, sweep), r->doc->text, "name = \"lad_sram\"", "[sweep] has no name");
}

/* The model that a node names; NULL with an error. */
static const struct model *find_model(struct reading *r, const struct toml_node *node)
{
    if (node->type != TOML_STRING) {
        diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "a model's name is needed, not %s",
                    toml_type_name(node->type));
        return NULL;
    }
    const struct model *m = registry_find(node->string);
    if (m) return m;
    size_t n;
    const char *const *names = registry_names(&n);
    diags_unknown(r->diags, toml_loc(r->doc, node), r->doc->text, node->string, names, n,
                  "`dse list models` shows all; `dse --plugin FILE sweep ...` adds a model of your own", "there is no model \"%s\"",
                  node->string);
    return NULL;
}

static bool read_model(struct reading *r, const struct toml_node *node)
{
    const struct model *m = find_model(r, node);
    if (!m) {
        r->model_missing = node->type == TOML_STRING || r->model_missing;
        return false;
    }
    for (size_t i = 0; i < r->out->n_models; i++)
        if (r->out->bindings[i]->model == m)
            return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "model %s stands in the list already",
                               node->string);
    struct binding *b = binding_new(m, r->catalog, r->data_dir, r->diags);
    if (!b) return false;
    r->out->bindings = xrealloc(r->out->bindings, r->out->n_models + 1, sizeof(struct binding *));
    r->out->bindings[r->out->n_models++] = b;
    return true;
}

static bool read_models(struct reading *r, const struct toml_node *sweep)
{
    const struct toml_node *models = toml_expect(r->doc, sweep, "models", TOML_ARRAY, r->diags);
    if (!models && toml_get(sweep, "models")) return false;
    if (!models || models->n == 0)
        return diags_input(r->diags, toml_key_loc(r->doc, models ? models : sweep), r->doc->text, "models = [\"lad\"]",
                           "[sweep] names no models");
    bool ok = true;
    for (size_t i = 0; i < models->n; i++) ok = read_model(r, &models->children[i]) && ok;
    return ok;
}

static bool read_sweep(struct reading *r)
{
    static const char *const keys[] = {"name", "models", "fidelity", "keep", "keep_points"};
    const struct toml_node *sweep = toml_expect(r->doc, &r->doc->root, "sweep", TOML_TABLE, r->diags);
    if (!sweep) {
        if (!toml_get(&r->doc->root, "sweep"))
            diags_input(r->diags, (struct srcloc){.file = r->doc->file}, NULL,
                        "a sweep starts with [sweep] name = ... models = [...]", "has no [sweep]");
        return false;
    }
    bool ok = toml_check_keys(r->doc, sweep, keys, sizeof keys / sizeof *keys, r->diags);
    ok = read_name(r, sweep) && ok;
    ok = read_models(r, sweep) && ok;
    ok = sweep_read_fidelity(r, sweep) && ok;
    return sweep_read_keep(r, sweep) && ok;
}

/* ---- [params] ------------------------------------------------------------------------------------------------------------ */

/* May the key be meant for a model whose name was misspelt? Then that is the error, not the key. */
static bool may_be_of_missing(const struct reading *r, const char *key)
{
    size_t n;
    const struct model *all = registry_models(&n);
    for (size_t i = 0; r->model_missing && i < n; i++)
        if (strcmp(all[i].desc->name, key) == 0 || schema_find(&all[i].params, key)) return true;
    return false;
}

static bool unknown_param(struct reading *r, const struct toml_node *node, const char *whose)
{
    if (may_be_of_missing(r, node->key)) return false;
    if (node->type == TOML_TABLE && registry_find(node->key))
        return diags_input(r->diags, toml_key_loc(r->doc, node), r->doc->text, "add it to models, or leave this section out",
                           "[params.%s]: the sweep has no model \"%s\"", node->key, node->key);
    if (diags_is_full(r->diags)) return false;
    const char **names = NULL;
    size_t n = 0;
    for (size_t m = 0; m < r->out->n_models; m++) {
        const struct model *model = r->out->bindings[m]->model;
        if (whose && strcmp(whose, model->desc->name) != 0) continue;
        names = xrealloc(names, n + model->params.n + 1, sizeof *names);
        for (size_t i = 0; i < model->params.n; i++) names[n++] = model->params.fields[i].name;
        if (node->type == TOML_TABLE) names[n++] = model->desc->name; /* [params.MODEL] */
    }
    char *hint = param_hint(node->key, names, n, whose ? whose : r->out->bindings[0]->model->desc->name);
    if (whose)
        diags_input(r->diags, toml_key_loc(r->doc, node), r->doc->text, hint, "%s has no parameter \"%s\"", whose, node->key);
    else
        diags_input(r->diags, toml_key_loc(r->doc, node), r->doc->text, hint, "no model of this sweep has a parameter \"%s\"",
                    node->key);
    free(hint);
    free(names);
    return false;
}

static bool is_axis(const struct toml_node *node)
{
    return node->type == TOML_ARRAY || node->type == TOML_TABLE;
}

/* Of a sweep that refines: an axis that one level alone reads. Rows of the other are equal along it. */
static void warn_of_one_level(struct reading *r, const struct toml_node *node, const struct field *f, const char *model)
{
    if (!r->out->refine || !is_axis(node)) return;
    if (fidelity_not_reading(FIDELITY_CLOSED_FORM, f))
        diags_warn(r->diags, toml_loc(r->doc, node), r->doc->text,
                   "%s: %s is not read in closed form, by which points are chosen: which of its values get event level is chance",
                   model, node->key);
    else if (fidelity_not_reading(FIDELITY_EVENT_LEVEL, f))
        diags_warn(r->diags, toml_loc(r->doc, node), r->doc->text,
                   "%s: %s is not read at event level: designs that differ in it alone are equal there", model, node->key);
}

/* A value, or an axis, that moves nothing at the sweep's fidelity. */
static void warn_unread(struct reading *r, const struct toml_node *node, const char *model, const char *where)
{
    diags_warn(r->diags, toml_loc(r->doc, node), r->doc->text, "%s%s%s is not read %s: %s", model ? model : "", model ? ": " : "",
               node->key, where, is_axis(node) ? "its values change no metric" : "it changes no metric");
}

/* Give one key of [params] to every model that has such a parameter. */
static bool read_shared_param(struct reading *r, const struct toml_node *node)
{
    bool found = false, is_read = r->out->refine;
    const char *where = NULL;
    for (size_t m = 0; m < r->out->n_models; m++) {
        struct binding *b = r->out->bindings[m];
        const struct field *f = schema_find(&b->model->params, node->key);
        if (!f) continue;
        found = true;
        if (!binding_set_node(b, f, r->doc, node, r->diags)) return false;
        warn_of_one_level(r, node, f, b->model->desc->name);
        const char *not_here = fidelity_not_reading(r->out->fidelity, f);
        if (not_here)
            where = not_here;
        else
            is_read = true;
    }
    if (found && !is_read) warn_unread(r, node, NULL, where);
    if (found) return true;
    const char *whose = r->out->n_models == 1 ? r->out->bindings[0]->model->desc->name : NULL;
    return unknown_param(r, node, whose);
}

static struct binding *find_binding(const struct reading *r, const char *model)
{
    for (size_t m = 0; m < r->out->n_models; m++)
        if (strcmp(r->out->bindings[m]->model->desc->name, model) == 0) return r->out->bindings[m];
    return NULL;
}

static bool read_model_params(struct reading *r, struct binding *b, const struct toml_node *table)
{
    bool ok = true;
    for (size_t i = 0; i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        const struct field *f = schema_find(&b->model->params, node->key);
        if (f) {
            ok = binding_set_node(b, f, r->doc, node, r->diags) && ok;
            const char *where = r->out->refine ? NULL : fidelity_not_reading(r->out->fidelity, f);
            if (where) warn_unread(r, node, b->model->desc->name, where);
            warn_of_one_level(r, node, f, b->model->desc->name);
        } else {
            ok = unknown_param(r, node, b->model->desc->name);
        }
    }
    return ok;
}

static bool read_params(struct reading *r)
{
    const struct toml_node *params = toml_expect(r->doc, &r->doc->root, "params", TOML_TABLE, r->diags);
    bool ok = params || !toml_get(&r->doc->root, "params");
    if (r->out->n_models == 0) return ok; /* without models no key can be judged */
    for (size_t i = 0; params && i < params->n; i++) {
        const struct toml_node *node = &params->children[i];
        struct binding *b = node->type == TOML_TABLE ? find_binding(r, node->key) : NULL;
        ok = (b ? read_model_params(r, b, node) : read_shared_param(r, node)) && ok;
    }
    ok = sweep_read_equal(r) && ok;
    for (size_t m = 0; m < r->out->n_models; m++) ok = binding_finish(r->out->bindings[m], r->diags) && ok;
    return ok;
}

/* ---- the rest ------------------------------------------------------------------------------------------------------------ */

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

/* A figure as given, else relative to the sweep file, else to the data directory. NULL if there is none; the caller frees it. */
static char *find_figure(const struct reading *r, const char *name)
{
    if (is_file(name)) return xstrdup(name);
    if (name[0] == '/') return NULL;
    const char *slash = strrchr(r->doc->file, '/');
    char *path = xasprintf("%.*s%s", slash ? (int)(slash - r->doc->file + 1) : 0, r->doc->file, name);
    if (is_file(path)) return path;
    free(path);
    path = xasprintf("%s/%s", r->data_dir, name);
    if (is_file(path)) return path;
    free(path);
    return NULL;
}

static bool read_figures(struct reading *r)
{
    static const char *const keys[] = {"files"};
    const struct toml_node *figures = toml_expect(r->doc, &r->doc->root, "figures", TOML_TABLE, r->diags);
    if (!figures) return toml_get(&r->doc->root, "figures") == NULL;
    bool ok = toml_check_keys(r->doc, figures, keys, 1, r->diags);
    const struct toml_node *files = toml_expect(r->doc, figures, "files", TOML_ARRAY, r->diags);
    for (size_t i = 0; files && i < files->n; i++) {
        const struct toml_node *file = &files->children[i];
        char *path = file->type == TOML_STRING ? find_figure(r, file->string) : NULL;
        if (!path) {
            ok = diags_input(r->diags, toml_loc(r->doc, file), r->doc->text, NULL, "%s%s%s",
                             file->type == TOML_STRING ? "there is no figure file \"" : "a figure file's path is needed, not ",
                             file->type == TOML_STRING ? file->string : toml_type_name(file->type),
                             file->type == TOML_STRING ? "\"" : "");
            continue;
        }
        r->out->figures = xrealloc(r->out->figures, r->out->n_figures + 1, sizeof(char *));
        r->out->figures[r->out->n_figures++] = path;
    }
    return ok && (files || !toml_get(figures, "files"));
}

static bool read_catalog(struct reading *r)
{
    const struct toml_node *catalog = toml_expect(r->doc, &r->doc->root, "catalog", TOML_TABLE, r->diags);
    if (!catalog) return toml_get(&r->doc->root, "catalog") == NULL;
    return catalog_add_table(r->catalog, r->doc, catalog, r->diags);
}

/* The first line, if it is a comment: the sweep's question. */
static char *first_comment(const char *text)
{
    if (*text != '#') return xstrdup("");
    text += strspn(text, "# ");
    return xstrndup(text, strcspn(text, "\r\n"));
}

/* [baseline] of a sweep file: one point of one model. */

static bool unknown_key(struct reading *r, const struct model *m, const struct toml_node *node)
{
    if (diags_is_full(r->diags)) return false;
    const char **names = xcalloc(m->params.n + 1, sizeof *names);
    for (size_t i = 0; i < m->params.n; i++) names[i] = m->params.fields[i].name;
    names[m->params.n] = "model";
    char *hint = param_hint(node->key, names, m->params.n + 1, m->desc->name);
    diags_input(r->diags, toml_key_loc(r->doc, node), r->doc->text, hint, "baseline: %s has no parameter \"%s\"", m->desc->name,
                node->key);
    free(hint);
    free(names);
    return false;
}

static bool read_param(struct reading *r, struct binding *b, const struct toml_node *node)
{
    const struct field *f = schema_find(&b->model->params, node->key);
    if (!f) return unknown_key(r, b->model, node);
    if (node->type == TOML_ARRAY || node->type == TOML_TABLE)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text,
                           "a baseline is one point; a workload parameter that it leaves out has the value of each point",
                           "baseline: %s: one value is needed, not %s", f->name, node->type == TOML_ARRAY ? "a list" : "a range");
    return binding_set_node(b, f, r->doc, node, r->diags);
}

static const struct model *read_baseline_model(struct reading *r, const struct toml_node *table)
{
    const struct toml_node *name = toml_get(table, "model");
    if (name) return find_model(r, name);
    diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, "model = \"lad\"", "[baseline] names no model");
    return NULL;
}

/* Read [baseline]. */
static bool read_baseline(struct reading *r)
{
    r->out->compares = toml_get(&r->doc->root, "baseline") != NULL;
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "baseline", TOML_TABLE, r->diags);
    if (!table) return !r->out->compares;
    const struct model *m = read_baseline_model(r, table);
    struct binding *b = m ? binding_new(m, r->catalog, r->data_dir, r->diags) : NULL;
    if (!b) return false;
    bool ok = true;
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->children[i].key, "model") != 0) ok = read_param(r, b, &table->children[i]) && ok;
    r->out->baseline = b;
    return binding_finish(b, r->diags) && ok;
}

char *sweep_baseline_text(const struct sweep_file *s)
{
    if (!s->baseline) return NULL;
    const struct schema *params = &s->baseline->model->params;
    struct text t;
    text_init(&t);
    text_add(&t, s->baseline->model->desc->name);
    for (size_t i = 0, n = 0; i < params->n; i++) {
        char buf[TEXT_NUMBER_MAX];
        if (!s->baseline->given[i].is_given) continue;
        text_addf(&t, "%s%s=%s", n++ ? ", " : ": ", params->fields[i].name,
                  value_text(&params->fields[i], s->baseline->given[i].values[0], buf));
    }
    return text_detach(&t);
}

static void read_all(struct reading *r)
{
    static const char *const keys[] = {"sweep",   "params",   "constraints", "derive",   "objectives", "sample",  "figures",
                                       "catalog", "baseline", "refine",      "requests", "search",     "quality", "equal"};
    toml_check_keys(r->doc, &r->doc->root, keys, sizeof keys / sizeof *keys, r->diags);
    read_catalog(r); /* before [params], which may name its entries */
    read_sweep(r);
    read_params(r);
    read_baseline(r);
    sweep_read_requests(r);
    sweep_read_refine(r);
    sweep_read_expressions(r);
    sweep_read_objectives(r);
    sweep_read_quality(r);
    sweep_read_sampling(r);
    read_figures(r);
}

/* Read a document, which the sweep file owns from then on. */
static struct sweep_file *read_doc(struct toml_doc *doc, const char *fidelity, struct catalog *catalog, const char *data_dir,
                                   struct diags *diags)
{
    if (!doc) return NULL;
    struct sweep_file *s = xcalloc(1, sizeof *s);
    s->doc = doc;
    s->question = first_comment(doc->text);
    struct reading r = {.doc = doc, .out = s, .catalog = catalog, .data_dir = data_dir, .fidelity = fidelity, .diags = diags};
    read_all(&r);
    return s;
}

struct sweep_file *sweep_file_read(const char *path, struct catalog *catalog, const char *data_dir, struct diags *diags)
{
    return sweep_file_read_at(path, NULL, catalog, data_dir, diags);
}

struct sweep_file *sweep_file_read_text(const char *name, const char *text, size_t n, struct catalog *catalog, const char *data_dir,
                                        struct diags *diags)
{
    return read_doc(toml_read_text(name, text, n, diags), NULL, catalog, data_dir, diags);
}

struct sweep_file *sweep_file_read_at(const char *path, const char *fidelity, struct catalog *catalog, const char *data_dir,
                                      struct diags *diags)
{
    return read_doc(toml_read_file(path, diags), fidelity, catalog, data_dir, diags);
}

struct sweep_file *sweep_file_read_text_at(const char *name, const char *text, const char *fidelity, struct catalog *catalog,
                                           const char *data_dir, struct diags *diags)
{
    return read_doc(toml_read_text(name, text, strlen(text), diags), fidelity, catalog, data_dir, diags);
}

static void free_expressions(struct named_expr *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].name);
        free(list[i].expr);
    }
    free(list);
}

void sweep_file_free(struct sweep_file *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n_models; i++) binding_free(s->bindings[i]);
    for (size_t i = 0; i < s->n_objectives; i++) free(s->objectives[i].column);
    for (size_t i = 0; i < s->n_per; i++) free(s->per[i]);
    for (size_t i = 0; i < s->n_figures; i++) free(s->figures[i]);
    binding_free(s->baseline);
    request_mix_release(&s->requests);
    free(s->requests_text);
    free(s->equal_text);
    free(s->requests_option);
    free_expressions(s->constraints, s->n_constraints);
    free_expressions(s->derived, s->n_derived);
    free(s->bindings);
    free(s->objectives);
    free(s->per);
    free(s->figures);
    free(s->name);
    free(s->question);
    toml_free(s->doc);
    free(s);
}
