#include "claims/machines.h"

#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- machines ------------------------------------------------------------------------------------------------------------ */

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    while (isalnum((unsigned char)*s) || *s == '_') s++;
    return !*s;
}

static const struct model *find_model(const struct claim_set *s, struct srcloc loc, const char *name, struct diags *diags)
{
    const struct model *model = registry_find(name);
    if (model) return model;
    size_t n;
    const char *const *names = registry_names(&n);
    claims_unknown(s, loc, name, names, n, "`dse list models` shows all", diags, "there is no model \"%s\"", name);
    return NULL;
}

static bool unknown_param(const struct claim_set *s, const struct model *model, const struct toml_node *node, struct diags *diags)
{
    const char **names = schema_names(&model->params);
    char *otherwise = xasprintf("`dse describe %s` lists the parameters", model->desc->name);
    claims_unknown(s, toml_key_loc(s->doc, node), node->key, names, model->params.n, otherwise, diags, "%s has no parameter \"%s\"",
                   model->desc->name, node->key);
    free(otherwise);
    free(names);
    return false;
}

/* The values of a table are good: tried on a binding of the model. */
static bool check_values(const struct claim_set *s, const struct model *model, const struct toml_node *table, struct diags *diags)
{
    struct binding *b = binding_new(model, s->catalog, s->data_dir, diags);
    if (!b) return false;
    bool ok = true;
    for (size_t i = 0; i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        if (strcmp(node->key, "model") == 0) continue;
        const struct field *f = schema_find(&model->params, node->key);
        if (!f)
            ok = unknown_param(s, model, node, diags);
        else if (node->type == TOML_ARRAY || node->type == TOML_TABLE)
            ok = claims_error(s, toml_loc(s->doc, node), "a list or a range goes into [cases.NAME]", diags,
                              "%s: a machine has one value", node->key);
        else
            ok = binding_set_node(b, f, s->doc, node, diags) && ok;
    }
    ok = ok && binding_finish(b, diags);
    binding_free(b);
    return ok;
}

static struct machine *add_machine(struct claim_set *s, const char *name, const struct model *model, const struct toml_node *table)
{
    struct machine *m = xcalloc(1, sizeof *m);
    *m = (struct machine){.name = xstrdup(name), .model = model, .table = table};
    s->machines = xrealloc(s->machines, s->n_machines + 1, sizeof(struct machine *));
    s->machines[s->n_machines++] = m;
    return m;
}

static bool read_machine(struct claim_set *s, const struct toml_node *table, struct diags *diags)
{
    struct machine *m = add_machine(s, table->key, NULL, table);
    if (table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, table), "[machines.NAME] model = \"...\", then parameters", diags,
                            "machines.%s is not a table", table->key);
    bool ok = true;
    if (!is_identifier(table->key))
        ok = claims_error(s, toml_key_loc(s->doc, table), "letters, digits and _; no digit first", diags,
                          "\"%s\" cannot name a machine", table->key);
    const struct toml_node *name = toml_expect(s->doc, table, "model", TOML_STRING, diags);
    if (!name) {
        if (!toml_get(table, "model"))
            claims_error(s, toml_key_loc(s->doc, table), "model = \"...\"", diags, "machine %s names no model", table->key);
        return false;
    }
    m->model = find_model(s, toml_loc(s->doc, name), name->string, diags);
    if (!m->model) return false;
    if (check_values(s, m->model, table, diags)) return ok;
    m->model = NULL;
    return false;
}

bool claims_read_machines(struct claim_set *s, struct diags *diags)
{
    return claims_read_section(s, "machines", read_machine, diags);
}

static bool read_accounting(struct claim_set *s, const struct toml_node *table, struct diags *diags)
{
    if (table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, table), "[accounting.MODEL] parameter = value", diags,
                            "accounting.%s is not a table", table->key);
    const struct model *model = find_model(s, toml_key_loc(s->doc, table), table->key, diags);
    return model && check_values(s, model, table, diags);
}

bool claims_read_accounting(struct claim_set *s, struct diags *diags)
{
    s->accounting = toml_get(&s->doc->root, "accounting");
    return claims_read_section(s, "accounting", read_accounting, diags);
}

const struct toml_node *claims_accounting(const struct claim_set *s, const struct model *m)
{
    const struct toml_node *table = s->accounting ? toml_get(s->accounting, m->desc->name) : NULL;
    return table && table->type == TOML_TABLE ? table : NULL;
}

struct machine *claims_machine(struct claim_set *s, const char *name)
{
    for (size_t i = 0; i < s->n_machines; i++)
        if (strcmp(s->machines[i]->name, name) == 0) return s->machines[i];
    const struct model *model = registry_find(name);
    return model ? add_machine(s, name, model, NULL) : NULL;
}

void claims_free_machines(struct claim_set *s)
{
    for (size_t i = 0; i < s->n_machines; i++) {
        free(s->machines[i]->name);
        free(s->machines[i]);
    }
    free(s->machines);
}

bool machine_gives(const struct machine *m, const char *param)
{
    return m->table && toml_get(m->table, param);
}

/* ---- parameters of cases and `set` ------------------------------------------------------------------------------------------- */

bool claims_check_params(struct claim_set *s, const struct toml_node *table, struct diags *diags)
{
    size_t models, n = 0;
    const struct model *all = registry_models(&models);
    for (size_t m = 0; m < models; m++) n += all[m].params.n;
    const char **names = xcalloc(n, sizeof *names);
    n = 0;
    for (size_t m = 0; m < models; m++)
        for (size_t i = 0; i < all[m].params.n; i++) names[n++] = all[m].params.fields[i].name;
    bool ok = true;
    for (size_t k = 0; k < table->n; k++) {
        const char *key = table->children[k].key;
        bool known = false;
        for (size_t i = 0; i < n && !known; i++) known = strcmp(names[i], key) == 0;
        if (known) continue;
        ok = claims_unknown(s, toml_key_loc(s->doc, &table->children[k]), key, names, n,
                            "`dse describe MODEL` lists the parameters", diags, "no model has a parameter \"%s\"", key);
    }
    free(names);
    return ok;
}
