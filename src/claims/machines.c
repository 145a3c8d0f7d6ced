/* [machines] and places: the design points that claims look at. A point is made as a sweep makes it: a binding, a space, resolve(). */
#include "claims/claims_internal.h"

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

static const struct model *find_model(const struct claim_set *s, const struct toml_node *node, struct diags *diags)
{
    const struct model *model = registry_find(node->string);
    if (model) return model;
    size_t n;
    const struct model *all = registry_models(&n);
    const char **names = xcalloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = all[i].desc->name;
    char *hint = claims_hint(node->string, names, n, "`dse list models` shows all");
    claims_error(s, toml_loc(s->doc, node), hint, diags, "there is no model \"%s\"", node->string);
    free(hint);
    free(names);
    return NULL;
}

static bool unknown_param(const struct claim_set *s, const struct model *model, const struct toml_node *node, struct diags *diags)
{
    const char **names = xcalloc(model->params.n, sizeof *names);
    for (size_t i = 0; i < model->params.n; i++) names[i] = model->params.fields[i].name;
    char *otherwise = xasprintf("`dse describe %s` lists the parameters", model->desc->name);
    char *hint = claims_hint(node->key, names, model->params.n, otherwise);
    claims_error(s, toml_key_loc(s->doc, node), hint, diags, "%s has no parameter \"%s\"", model->desc->name, node->key);
    free(hint);
    free(otherwise);
    free(names);
    return false;
}

/* The values of a machine are good: tried on a binding of its model. */
static bool check_machine(const struct claim_set *s, const struct machine *m, struct diags *diags)
{
    struct binding *b = binding_new(m->model, s->catalog, s->data_dir, diags);
    if (!b) return false;
    bool ok = true;
    for (size_t i = 0; i < m->table->n; i++) {
        const struct toml_node *node = &m->table->children[i];
        if (strcmp(node->key, "model") == 0) continue;
        const struct field *f = schema_find(&m->model->params, node->key);
        if (!f)
            ok = unknown_param(s, m->model, node, diags);
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
    m->model = find_model(s, name, diags);
    if (!m->model) return false;
    if (check_machine(s, m, diags)) return ok;
    m->model = NULL;
    return false;
}

bool claims_read_machines(struct claim_set *s, struct diags *diags)
{
    const struct toml_node *all = toml_expect(s->doc, &s->doc->root, "machines", TOML_TABLE, diags);
    bool ok = all || !toml_get(&s->doc->root, "machines");
    for (size_t i = 0; all && i < all->n; i++) ok = read_machine(s, &all->children[i], diags) && ok;
    return ok;
}

struct machine *claims_machine(struct claim_set *s, const char *name)
{
    for (size_t i = 0; i < s->n_machines; i++)
        if (strcmp(s->machines[i]->name, name) == 0) return s->machines[i];
    const struct model *model = registry_find(name);
    return model ? add_machine(s, name, model, NULL) : NULL;
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
        char *hint = claims_hint(key, names, n, "`dse describe MODEL` lists the parameters");
        ok = claims_error(s, toml_key_loc(s->doc, &table->children[k]), hint, diags, "no model has a parameter \"%s\"", key);
        free(hint);
    }
    free(names);
    return ok;
}

/* ---- places ---------------------------------------------------------------------------------------------------------------- */

bool place_gives(const struct place *p, const char *param)
{
    return (p->set && toml_get(p->set, param)) || (p->cases && toml_get(p->cases, param));
}

/* Give the parameters of one table to the binding; `stronger` tables win. */
static bool give(const struct claim_set *s, struct place *p, const struct toml_node *table, const struct toml_node *stronger,
                 struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; table && i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        const struct field *f = schema_find(&p->machine->model->params, node->key);
        if (!f || (table == p->machine->table && (strcmp(node->key, "model") == 0 || place_gives(p, node->key)))) continue;
        if (stronger && toml_get(stronger, node->key))
            ok = claims_error(s, toml_key_loc(s->doc, toml_get(stronger, node->key)), "leave one of them out", diags,
                              "%s is given by the cases too", node->key);
        else
            ok = binding_set_node(p->binding, f, s->doc, node, diags) && ok;
    }
    return ok;
}

static bool bind_place(const struct claim_set *s, struct place *p, struct diags *diags)
{
    const struct machine *m = p->machine;
    p->binding = binding_new(m->model, s->catalog, s->data_dir, diags);
    if (!p->binding) return false;
    bool ok = give(s, p, m->table, NULL, diags);
    ok = give(s, p, p->cases, p->set, diags) && ok;
    ok = give(s, p, p->set, NULL, diags) && ok;
    if (!ok || !binding_finish(p->binding, diags)) return false;
    if (space_count_of(p->binding) > CLAIMS_CASES_MAX)
        return claims_error(s, toml_key_loc(s->doc, p->cases), "make a range coarser", diags, "more than %d cases",
                            CLAIMS_CASES_MAX);
    p->sweep = (struct sweep_file){.doc = s->doc, .bindings = &p->binding, .n_models = 1};
    p->space = space_new(&p->sweep, 0, CLAIMS_CASES_MAX, diags);
    if (p->space) p->spots = xcalloc(space_count(p->space), sizeof *p->spots);
    return p->space != NULL;
}

struct place *claims_place(struct claim_set *s, struct machine *m, const struct toml_node *cases, const struct toml_node *set,
                           struct diags *diags)
{
    if (!m->model) return NULL;
    for (size_t i = 0; i < s->n_places; i++) {
        struct place *p = s->places[i];
        if (p->machine == m && p->cases == cases && p->set == set) return p;
    }
    struct place *p = xcalloc(1, sizeof *p);
    *p = (struct place){.machine = m, .cases = cases, .set = set};
    struct diags found; /* the same cases are bound for many machines: what is wrong with them is said once */
    diags_init(&found);
    bool ok = bind_place(s, p, &found);
    diags_move(diags, &found);
    if (!ok) {
        place_free(p);
        return NULL;
    }
    s->places = xrealloc(s->places, s->n_places + 1, sizeof(struct place *));
    s->places[s->n_places++] = p;
    return p;
}

void place_drop(struct place *p)
{
    for (uint64_t i = 0; p->spots && i < space_count(p->space); i++) {
        free(p->spots[i].params);
        free(p->spots[i].metrics);
        free(p->spots[i].equations);
        p->spots[i] = (struct spot){0};
    }
}

void place_free(struct place *p)
{
    if (!p) return;
    place_drop(p);
    free(p->spots);
    space_free(p->space);
    binding_free(p->binding);
    free(p->constants);
    free(p);
}

/* ---- points ------------------------------------------------------------------------------------------------------------------ */

static bool has_constant(const struct place *p, const struct constant *c)
{
    bool listed = false;
    for (size_t i = 0; i < c->n_machines && !listed; i++) listed = c->machines[i] == p->machine;
    return listed && !place_gives(p, c->public.parameter);
}

static struct value constant_value(const struct field *f, double value)
{
    if (f->type == DSE_TYPE_F64) return (struct value){.f64 = value};
    if (f->type == DSE_TYPE_ENUM) return (struct value){.choice = (int32_t)value};
    return (struct value){.i64 = (int64_t)value};
}

/* Give a constant's value to the place, or what the place has as shipped. True when that is news. */
static bool give_constant(struct place *p, const struct constant *c, double *now, double value)
{
    if (*now == value) return false;
    *now = value;
    const struct field *f = schema_find(&p->machine->model->params, c->public.parameter);
    struct given *g = &p->binding->given[schema_index(&p->machine->model->params, f)];
    if (!g->values) {
        g->values = xcalloc(1, sizeof *g->values);
        g->n = 1;
    }
    g->is_given = value != c->public.shipped || machine_gives(p->machine, f->name);
    g->values[0] = constant_value(f, value);
    return true;
}

void place_update(const struct claim_set *s, struct place *p)
{
    if (!p->constants) {
        if (!s->current) return;
        p->constants = xcalloc(s->n_constants, sizeof *p->constants);
        for (size_t i = 0; i < s->n_constants; i++) p->constants[i] = s->constants[i].public.shipped;
    }
    bool changed = false;
    for (size_t i = 0; i < s->n_constants; i++) {
        const struct constant *c = &s->constants[i];
        if (!has_constant(p, c)) continue;
        changed |= give_constant(p, c, &p->constants[i], s->current ? s->current[i] : c->public.shipped);
    }
    if (!changed) return;
    place_drop(p);
    space_free(p->space);
    struct diags none; /* the same binding made a space before */
    diags_init(&none);
    p->space = space_new(&p->sweep, 0, CLAIMS_CASES_MAX, &none);
    diags_release(&none);
}

struct spot *place_spot(struct place *p, uint64_t index)
{
    struct spot *spot = &p->spots[index];
    if (spot->params) return spot;
    spot->params = xmalloc(p->machine->model->desc->params_size);
    space_point(p->space, index, spot->params);
    return spot;
}

const char *spot_metrics(const struct place *p, struct spot *spot)
{
    static const char stopped[] = "was not carried out: stopped before";
    const struct dse_model *model = p->machine->model->desc;
    if (spot->metrics || spot->infeasible) return spot->infeasible;
    spot->infeasible = model->check ? model->check(spot->params) : NULL;
    if (spot->infeasible) return spot->infeasible;
    if (p->stop && *p->stop) return stopped;
    struct sim_options options = {.stop = p->stop, .events_max = RUNNER_EVENTS_MAX};
    struct runner *r = runner_new(p->fidelity, &options);
    void *metrics = xcalloc(1, model->metrics_size);
    enum run_end end = runner_run(r, model, spot->params, metrics, NULL);
    if (end == RUN_DONE)
        spot->metrics = metrics;
    else
        free(metrics);
    if (end == RUN_BROKEN) spot->infeasible = "its numbers cannot be, which is a bug of the model; `dse eval` tells which";
    if (end == RUN_FAILED) spot->infeasible = "its event level failed, which is a bug of the model; `dse eval` tells why";
    if (end == RUN_REFUSED) spot->infeasible = "its event level cannot carry it out; `dse eval` tells why";
    runner_free(r);
    return end == RUN_STOPPED ? stopped : spot->infeasible;
}

void spot_equations(const struct place *p, struct spot *spot)
{
    const struct dse_model *model = p->machine->model->desc;
    if (spot->equations) return;
    spot->equations = xcalloc(1, model->equations_size);
    model->equate(spot->params, spot->equations);
}
