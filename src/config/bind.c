#include "config/bind_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What binding_new really makes. `public`, which it returns, comes first. */
struct binding_full {
    struct binding public;
    const struct binding_full *from; /* whose defaults_doc and calibrated constants these are; NULL: its own */
    struct toml_doc *defaults_doc;
    struct toml_doc **set_docs; /* of --set: kept for the places of their values */
    size_t n_set_docs;
    struct calibrated *calibrated;
    size_t n_calibrated;
};

static struct binding_full *binding_in_full(struct binding *b)
{
    return (struct binding_full *)b; /* every binding is made by binding_new */
}

/* The names of the model's parameters, for nearest names. The caller frees the array. */
static const char **param_names(const struct model *m)
{
    const char **names = xcalloc(m->params.n + 1, sizeof *names);
    for (size_t i = 0; i < m->params.n; i++) names[i] = m->params.fields[i].name;
    return names;
}

/* ---- defaults.toml ------------------------------------------------------------------------------------------------------- */

static bool set_default(struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                        struct diags *diags)
{
    struct value v;
    if (f->may_be_auto && node->type == TOML_STRING && strcmp(node->string, "auto") == 0)
        v = (struct value){.f64 = (double)NAN};
    else if (!bind_scalar(b, f, doc, node, NULL, &v, diags))
        return false;
    field_set(f, b->defaults, v);
    return true;
}

/* [calibrated.NAME] value, fitted_to. */
static bool read_calibrated(struct binding_full *b, const struct toml_doc *doc, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"value", "fitted_to"};
    if (table->type != TOML_TABLE)
        return diags_input(diags, toml_loc(doc, table), doc->text, NULL, "calibrated.%s is not a table", table->key);
    if (!toml_check_keys(doc, table, keys, 2, diags)) return false;
    const struct toml_node *fitted = toml_expect(doc, table, "fitted_to", TOML_STRING, diags);
    if (!fitted && toml_get(table, "fitted_to")) return false;
    if (toml_get(&doc->root, table->key))
        return diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s is given twice", table->key);
    if (!fitted || !toml_get(table, "value"))
        return diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "calibrated.%s needs value and fitted_to", table->key);
    b->calibrated = xrealloc(b->calibrated, b->n_calibrated + 1, sizeof *b->calibrated);
    b->calibrated[b->n_calibrated++] = (struct calibrated){xstrdup(table->key), xstrdup(fitted->string)};
    return true;
}

/* The node that gives a parameter's default: at the top, or the value of its [calibrated] table; NULL: the file has none. */
static const struct toml_node *default_node(const struct toml_doc *doc, const struct toml_node *calibrated, const char *name)
{
    const struct toml_node *top = toml_get(&doc->root, name);
    const struct toml_node *fitted = calibrated ? toml_get(calibrated, name) : NULL;
    if (fitted && fitted->type == TOML_TABLE) fitted = toml_get(fitted, "value");
    return top ? top : fitted;
}

/* The entry, of those that the defaults name, that sets a parameter's default; the last of several. *ret_name: the parameter that
 * names it. */
static const struct dse_entry *entry_with(const struct binding *b, const struct field *f, const struct field **ret_from,
                                          const struct field **ret_name)
{
    const struct dse_entry *ret = NULL;
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *name = &b->model->params.fields[i];
        const struct dse_entry *entry = name->type == DSE_TYPE_REF && !name->alone ? field_get(name, b->defaults).ref : NULL;
        const struct field *from = entry ? schema_find(catalog_fields(b->catalog, name->kind), f->name) : NULL;
        if (!from || from->type != f->type || from->optional) continue;
        ret = entry;
        *ret_from = from;
        *ret_name = name;
    }
    return ret;
}

/* A parameter that the file leaves to the catalog: its value is that of the entry. */
static bool take_default(struct binding *b, const struct field *f, const struct toml_doc *doc, struct diags *diags)
{
    const struct field *from, *name;
    const struct dse_entry *entry = entry_with(b, f, &from, &name);
    if (entry) {
        field_set(f, b->defaults, field_get(from, entry));
        return true;
    }
    const struct srcloc top = {.file = doc->file, .line = 1, .column = 1};
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *other = &b->model->params.fields[i];
        if (other->type != DSE_TYPE_REF || other->alone || !schema_find(catalog_fields(b->catalog, other->kind), f->name)) continue;
        const struct toml_node *node = toml_get(&doc->root, other->name);
        return diags_input(diags, node ? toml_loc(doc, node) : top, doc->text, NULL,
                           "%s is missing: add it, or name a %s that has it", f->name, kind_singular(other->kind));
    }
    return diags_input(diags, top, doc->text, NULL, "%s is missing: add it", f->name);
}

/* A default for a parameter that a catalog entry sets as well has no effect, so that it must be the value of the entry. */
static bool check_default(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                          struct diags *diags)
{
    const struct field *from, *name;
    const struct dse_entry *entry = entry_with(b, f, &from, &name);
    const struct value ours = field_get(f, b->defaults);
    if (!entry || (f->may_be_auto && isnan(ours.f64))) return true;
    char buf[2][TEXT_NUMBER_MAX];
    const char *here = value_text(f, ours, buf[0]), *there = value_text(f, field_get(from, entry), buf[1]);
    if (strcmp(here, there) == 0) return true;
    return diags_input(diags, toml_loc(doc, node), doc->text, "leave it out", "%s is %s, but %s = \"%s\" sets it to %s", f->name,
                       here, name->name, entry->name, there);
}

/* Each parameter's default, first those in the file, then those that the entries named there set. */
static bool read_values(struct binding *b, const struct toml_doc *doc, const struct toml_node *calibrated, struct diags *diags)
{
    const struct schema *params = &b->model->params;
    bool ok = true;
    for (size_t i = 0; i < params->n; i++) {
        const struct toml_node *node = default_node(doc, calibrated, params->fields[i].name);
        if (node) ok = set_default(b, &params->fields[i], doc, node, diags) && ok;
    }
    if (!ok) return false;
    for (size_t i = 0; i < params->n; i++) {
        const struct field *f = &params->fields[i];
        const struct toml_node *node = default_node(doc, calibrated, f->name);
        ok = (node ? check_default(b, f, doc, node, diags) : take_default(b, f, doc, diags)) && ok;
    }
    return ok;
}

static bool read_defaults(struct binding_full *b, struct diags *diags)
{
    const struct toml_doc *doc = b->defaults_doc;
    const struct schema *params = &b->public.model->params;
    const struct toml_node *calibrated = toml_expect(doc, &doc->root, "calibrated", TOML_TABLE, diags);
    const char **names = param_names(b->public.model);
    bool ok = !calibrated || toml_check_keys(doc, calibrated, names, params->n, diags);
    names[params->n] = "calibrated";
    ok = toml_check_keys(doc, &doc->root, names, params->n + 1, diags) && ok;
    free(names);
    for (size_t i = 0; calibrated && i < calibrated->n; i++) ok = read_calibrated(b, doc, &calibrated->children[i], diags) && ok;
    return read_values(&b->public, doc, calibrated, diags) && ok;
}

/* defaults.toml; or what a model in TOML has for it, shown with the lines of that file. */
static struct toml_doc *read_defaults_doc(const struct model *model, const char *data_dir, struct diags *diags)
{
    if (model->made.defaults) {
        struct toml_doc *doc = toml_read_text(model->made.given, model->made.defaults, strlen(model->made.defaults), diags);
        if (!doc) return NULL;
        free(doc->text);
        doc->text = xstrdup(model->made.source);
        return doc;
    }
    char *path = model_file(model, data_dir, "defaults.toml");
    struct toml_doc *doc = toml_read_file(path, diags);
    free(path);
    return doc;
}

struct binding *binding_new(const struct model *model, const struct catalog *catalog, const char *data_dir, struct diags *diags)
{
    struct binding_full *b = xcalloc(1, sizeof *b);
    b->public.model = model;
    b->public.catalog = catalog;
    b->public.defaults = xcalloc(1, model->desc->params_size);
    b->public.given = xcalloc(model->params.n, sizeof *b->public.given);
    b->defaults_doc = read_defaults_doc(model, data_dir, diags);
    if (b->defaults_doc && read_defaults(b, diags)) return &b->public;
    binding_free(&b->public);
    return NULL;
}

struct binding *binding_like(const struct binding *from)
{
    const struct binding_full *whole = (const struct binding_full *)from;
    struct binding_full *b = xcalloc(1, sizeof *b);
    *b =
        (struct binding_full){.public = *from, .from = whole, .calibrated = whole->calibrated, .n_calibrated = whole->n_calibrated};
    const size_t size = from->model->desc->params_size;
    b->public.defaults = memcpy(xmalloc(size), from->defaults, size);
    b->public.given = xcalloc(from->model->params.n, sizeof *b->public.given);
    return &b->public;
}

static void free_calibrated(struct binding_full *b)
{
    for (size_t i = 0; i < b->n_calibrated; i++) {
        free(b->calibrated[i].name);
        free(b->calibrated[i].fitted_to);
    }
    free(b->calibrated);
}

void binding_free(struct binding *b)
{
    if (!b) return;
    struct binding_full *whole = binding_in_full(b);
    for (size_t i = 0; i < b->model->params.n; i++) free(b->given[i].values);
    for (size_t i = 0; i < whole->n_set_docs; i++) toml_free(whole->set_docs[i]);
    if (!whole->from) free_calibrated(whole);
    toml_free(whole->defaults_doc);
    free(whole->set_docs);
    free(b->given);
    free(b->defaults);
    free(whole);
}

const struct calibrated *binding_calibrated(const struct binding *b, size_t *ret_n)
{
    const struct binding_full *whole = (const struct binding_full *)b;
    *ret_n = whole->n_calibrated;
    return whole->calibrated;
}

/* ---- what the user gives ------------------------------------------------------------------------------------------------- */

bool binding_set_node(struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                      struct diags *diags)
{
    struct given *g = &b->given[schema_index(&b->model->params, f)];
    if (g->is_given) {
        char *where = g->loc.line ? xasprintf("it was given first at %s:%d:%d", g->loc.file, g->loc.line, g->loc.column)
                                  : xasprintf("it was given by %s", g->loc.file);
        diags_input(diags, toml_loc(doc, node), doc->text, where, "%s is given twice", f->name);
        free(where);
        return false;
    }
    struct given new = {.is_given = true, .loc = toml_loc(doc, node), .source_text = doc->text};
    if (!bind_values(b, f, doc, node, &new, diags)) return false;
    *g = new;
    return true;
}

void binding_add_exact(struct binding *b, const struct field *f, int32_t choice)
{
    struct given *g = &b->given[schema_index(&b->model->params, f)];
    if (!g->is_given) {
        *g = (struct given){.is_given = true, .n = 1, .values = xcalloc(1, sizeof *g->values)};
        g->values[0] = field_get(f, b->defaults);
    }
    g->values = xrealloc(g->values, g->n + 1, sizeof *g->values);
    g->values[g->n++] = (struct value){.choice = choice};
    g->exact_added = true;
}

bool bind_is_bare_word(const char *s)
{
    return *s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-") == strlen(s);
}

/* The value of an assignment as a one-key document. Its places are those of the command line: none. */
static struct toml_doc *parse_value(const struct field *f, const char *assignment, const char *value, struct diags *diags)
{
    bool name = f->type == DSE_TYPE_ENUM || f->type == DSE_TYPE_REF;
    char *text = name && bind_is_bare_word(value) ? xasprintf("v = \"%s\"", value) : xasprintf("v = %s", value);
    char *file = xasprintf("--set %s", assignment);
    struct diags syntax;
    diags_init(&syntax);
    struct toml_doc *doc = toml_read_text(file, text, strlen(text), &syntax);
    const struct toml_node *node = doc ? toml_get(&doc->root, "v") : NULL;
    if (!node || doc->root.n != 1 || node->type == TOML_ARRAY || node->type == TOML_TABLE) {
        char *allowed = field_allowed(f);
        diags_input(diags, (struct srcloc){.file = file}, NULL, allowed, "%s: \"%s\" is not one value", f->name, value);
        free(allowed);
        toml_free(doc);
        doc = NULL;
    } else {
        doc->root.children[0].line = doc->root.children[0].column = 0;
    }
    diags_release(&syntax);
    free(file);
    free(text);
    return doc;
}

/* Add which models have a parameter of that name: "veda and ane have it"; nothing when no model has it. */
static void add_owners(struct text *t, const char *name)
{
    size_t n, found = 0, last = 0;
    const struct model *all = registry_models(&n);
    for (size_t i = 0; i < n; i++)
        if (schema_find(&all[i].params, name)) last = i, found++;
    for (size_t i = 0, at = 0; i < n; i++)
        if (schema_find(&all[i].params, name)) text_addf(t, "%s%s", at++ == 0 ? "" : i == last ? " and " : ", ", all[i].desc->name);
    if (found) text_add(t, found == 1 ? " has it" : " have it");
}

/* What a parameter of this name is called today, if the model has it. */
static const char *former(const char *name, const char *const *names, size_t n)
{
    static const struct {
        const char *was, *is;
    } names_of[] = {{"devices", "tensor_parallel"}};
    for (size_t i = 0; i < sizeof names_of / sizeof *names_of; i++)
        for (size_t k = 0; k < n && strcmp(name, names_of[i].was) == 0; k++)
            if (strcmp(names[k], names_of[i].is) == 0) return names[k];
    return NULL;
}

char *param_hint(const char *name, const char *const *names, size_t n, const char *model)
{
    struct text t;
    text_init(&t);
    add_owners(&t, name);
    const char *near = former(name, names, n);
    if (!near) near = text_nearest(name, names, n);
    if (near)
        text_addf(&t, "%sdid you mean \"%s\"?", t.n ? "; " : "", near);
    else
        text_addf(&t, "%s`dse describe %s` lists the parameters%s", t.n ? "; " : "", model, t.n ? " of this model" : "");
    return text_detach(&t);
}

bool binding_gives(const struct binding *b, const struct field *f)
{
    return b->given[schema_index(&b->model->params, f)].is_given;
}

static void keep_doc(struct binding *b, struct toml_doc *doc)
{
    struct binding_full *whole = binding_in_full(b);
    whole->set_docs = xrealloc(whole->set_docs, whole->n_set_docs + 1, sizeof(struct toml_doc *));
    whole->set_docs[whole->n_set_docs++] = doc;
}

void binding_discard(struct binding *b, struct given *g)
{
    struct binding_full *whole = binding_in_full(b);
    size_t i = 0;
    while (i < whole->n_set_docs && (!g->is_given || whole->set_docs[i]->text != g->source_text)) i++;
    if (i < whole->n_set_docs) {
        toml_free(whole->set_docs[i]);
        whole->set_docs[i] = whole->set_docs[--whole->n_set_docs];
    }
    free(g->values);
    *g = (struct given){0};
}

bool binding_set_text(struct binding *b, const char *assignment, struct diags *diags)
{
    struct srcloc loc = {.file = "--set"};
    const char *equals = strchr(assignment, '=');
    if (!equals) return diags_input(diags, loc, NULL, "for example: --set tiles=8", "\"%s\" is not NAME=VALUE", assignment);
    char *name = xstrndup(assignment, (size_t)(equals - assignment));
    const struct field *f = schema_find(&b->model->params, name);
    bool ok = false;
    if (f) {
        struct toml_doc *doc = parse_value(f, assignment, equals + 1, diags);
        ok = doc && binding_set_node(b, f, doc, &doc->root.children[0], diags);
        if (ok)
            keep_doc(b, doc);
        else
            toml_free(doc);
    } else {
        const char **names = param_names(b->model);
        char *hint = param_hint(name, names, b->model->params.n, b->model->desc->name);
        diags_input(diags, loc, NULL, hint, "%s has no parameter \"%s\"", b->model->desc->name, name);
        free(hint);
        free(names);
    }
    free(name);
    return ok;
}

/* Add an error at the later of two parameters that exclude each other. Always false. */
static bool refuse_both(const struct binding *b, const struct field *f, const struct field *other, struct diags *diags)
{
    const struct given *g = &b->given[schema_index(&b->model->params, f)], *h = &b->given[schema_index(&b->model->params, other)];
    bool later = h->loc.line > g->loc.line || (h->loc.line == g->loc.line && h->loc.column > g->loc.column);
    const struct given *at = later ? h : g;
    return diags_input(diags, at->loc, at->source_text, "one follows from the other", "%s and %s cannot both be given", f->name,
                       other->name);
}

bool binding_finish(struct binding *b, struct diags *diags)
{
    bool ok = true;
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n; i++) {
        for (size_t k = 0; k < params->n; k++) {
            const struct field *f = &params->fields[i], *other = &params->fields[k];
            if (!b->given[i].is_given || !b->given[k].is_given || !field_excludes(f, other->name)) continue;
            if (k < i && field_excludes(other, f->name)) continue; /* said already */
            ok = refuse_both(b, f, other, diags);
        }
    }
    return ok;
}
