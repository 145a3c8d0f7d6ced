/* [baseline] of a sweep file: one point of one model. */
#include "config/sweep_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

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

static const struct model *read_model(struct reading *r, const struct toml_node *table)
{
    const struct toml_node *name = toml_get(table, "model");
    if (name) return sweep_find_model(r, name);
    diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, "model = \"lad\"", "[baseline] names no model");
    return NULL;
}

bool sweep_read_baseline(struct reading *r)
{
    r->out->compares = toml_get(&r->doc->root, "baseline") != NULL;
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "baseline", TOML_TABLE, r->diags);
    if (!table) return !r->out->compares;
    const struct model *m = read_model(r, table);
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
