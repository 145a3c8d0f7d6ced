#include "claims/places.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

bool place_gives(const struct place *p, const char *param)
{
    return (p->set && toml_get(p->set, param)) || (p->cases && toml_get(p->cases, param));
}

/* Is the key of this table no parameter, or does something stronger give it? [accounting] is the weakest, then the machine. */
static bool is_passed_over(const struct place *p, const struct toml_node *table, const char *key)
{
    if (table == p->accounting) return machine_gives(p->machine, key) || place_gives(p, key);
    return table == p->machine->table && (strcmp(key, "model") == 0 || place_gives(p, key));
}

/* Give the parameters of one table to the binding; `stronger` tables win. */
static bool give(const struct claim_set *s, struct place *p, const struct toml_node *table, const struct toml_node *stronger,
                 struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; table && i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        const struct field *f = schema_find(&p->machine->model->params, node->key);
        if (!f || is_passed_over(p, table, node->key)) continue;
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
    p->accounting = claims_accounting(s, m->model);
    bool ok = give(s, p, p->accounting, NULL, diags);
    ok = give(s, p, m->table, NULL, diags) && ok;
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

void place_drop(struct place *p)
{
    for (uint64_t i = 0; p->spots && i < space_count(p->space); i++) {
        free(p->spots[i].params);
        free(p->spots[i].metrics);
        free(p->spots[i].equations);
        p->spots[i] = (struct spot){0};
    }
}

static void free_place(struct place *p)
{
    if (!p) return;
    place_drop(p);
    free(p->spots);
    space_free(p->space);
    binding_free(p->binding);
    free(p->constants);
    free(p);
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
        free_place(p);
        return NULL;
    }
    s->places = xrealloc(s->places, s->n_places + 1, sizeof(struct place *));
    s->places[s->n_places++] = p;
    return p;
}

void claims_free_places(struct claim_set *s)
{
    for (size_t i = 0; i < s->n_places; i++) free_place(s->places[i]);
    free(s->places);
}

/* ---- points ------------------------------------------------------------------------------------------------------------------ */

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
    if (end == RUN_BROKEN) spot->infeasible = "its numbers are impossible, which is a bug of the model; `dse eval` tells which";
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
