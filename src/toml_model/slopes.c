/* How metrics change with the parameters and constants of a model: derivatives of its graph at a point.
 *
 * The point is computed by a twin of the model whose constants are inputs, so that each has a derivative of its own. Parameters of
 * the shared groups are left out: functions in C read them. The common metrics follow from the totals of a step in C, too. These
 * totals are moved along their derivatives, which is as good as a derivative where there is no bill to pay. */
#include "toml_model/internal.h"

#include "base/xalloc.h"
#include "graph/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum way { WAY_EXACT, WAY_THROUGH_STEPS, WAY_CALLS_FLAT, WAYS };
static const unsigned flags_of[WAYS] = {0, DERIVE_THROUGH_STEPS, DERIVE_CALLS_FLAT};

struct at_work {
    struct toml_model *twin;
    const struct schema *metrics;
    const void *params;
    struct groups groups;
    struct dse_workload step;
    struct dse_oplist ops;
    const struct plan *plan;
    struct graph graph; /* the plan's, with derivatives */
    struct slots slots;
    double *v;
    int *roots, n_roots; /* totals, then own metrics; -1: none */
    int *inputs;         /* by variable: what it is */
    int *rates;          /* by variable, way and root: nodes */
    double values[TOTALS];
    struct dse_common common, without_bill; /* at the point */
    struct slope_list *list;
};

/* ---- variables --------------------------------------------------------------------------------------------------------------- */

/* The name of a file of the twin, as the model has it, which stays. */
static const char *file_of(const struct toml_model *of, const char *file)
{
    for (int i = 0; i < of->includes.n; i++)
        if (strcmp(of->includes.docs[i]->file, file) == 0) return of->includes.docs[i]->file;
    return of->doc->file;
}

static void add_variable(struct at_work *w, int input, struct slope_variable v)
{
    const struct plan_input in = {.what = input, .element = -1};
    v.value = point_input(w->twin, &in, w->params, NULL);
    if (isnan(v.value) || v.value == 0) return;
    w->inputs[w->list->n] = input;
    w->list->variables[w->list->n++] = v;
    if (v.name) w->list->variables[w->list->n - 1].name = xstrdup(v.name);
}

/* What is told outlives the twin: names and files are those of the model. */
static void find_variables(struct at_work *w, const struct toml_model *of)
{
    const struct toml_model *m = w->twin;
    const size_t most = (size_t)m->n_inputs + 1;
    w->list->variables = xcalloc(most, sizeof *w->list->variables);
    w->inputs = xcalloc(most, sizeof *w->inputs);
    for (int i = 0; i < m->n_inputs; i++) {
        const struct input *in = &m->inputs[i];
        if (in->kind != INPUT_FIELD || group_of_param(m, in->offset) != GROUPS) continue;
        const struct field *f = schema_find(&of->schema, in->name);
        if (field_is_number(f)) add_variable(w, i, (struct slope_variable){.param = f});
    }
    for (int i = 0; i < m->n_constants; i++) {
        const struct constant *k = &m->constants[i];
        struct slope_variable v = {.name = k->name, .alone = k->alone, .loc = k->loc};
        v.loc.file = file_of(of, v.loc.file);
        add_variable(w, k->input, v);
    }
}

/* ---- the graph --------------------------------------------------------------------------------------------------------------- */

static void find_roots(struct at_work *w)
{
    const struct toml_model *m = w->twin;
    w->n_roots = TOTALS + m->n_own;
    w->roots = xcalloc((size_t)w->n_roots, sizeof *w->roots);
    for (int i = 0; i < TOTALS; i++) w->roots[i] = m->totals[i] < 0 ? -1 : w->plan->equations[m->totals[i]];
    for (int i = 0; i < m->n_own; i++) w->roots[TOTALS + i] = w->plan->equations[m->own[i].equation];
}

static int *rates_of(const struct at_work *w, size_t variable, enum way way)
{
    return &w->rates[(variable * WAYS + way) * (size_t)w->n_roots];
}

static void derive(struct at_work *w)
{
    graph_copy(&w->plan->graph, &w->graph);
    w->rates = xcalloc(w->list->n * WAYS * (size_t)w->n_roots + 1, sizeof *w->rates);
    for (size_t i = 0; i < w->list->n; i++)
        for (int way = 0; way < WAYS; way++)
            graph_derive(&w->graph, w->roots, w->n_roots, graph_input(&w->graph, w->inputs[i], -1), flags_of[way],
                         rates_of(w, i, (enum way)way));
}

static void load(const struct at_work *w)
{
    for (int i = 0; i < w->graph.n; i++) {
        const struct graph_node *n = &w->graph.nodes[i];
        const struct plan_input in = {w->slots.of[i], n->what, n->element1 - 1};
        if (n->op == GRAPH_INPUT) w->v[in.slot] = point_input(w->twin, &in, w->params, &w->ops);
    }
}

static void run(struct at_work *w)
{
    const size_t n = (size_t)w->n_roots * (w->list->n * WAYS + 1);
    int *all = xcalloc(n + 1, sizeof *all);
    struct program program;
    memcpy(all, w->roots, (size_t)w->n_roots * sizeof *all);
    memcpy(all + w->n_roots, w->rates, (n - (size_t)w->n_roots) * sizeof *all);
    slots_make(&w->graph, &w->slots);
    w->v = slots_numbers(&w->slots, &w->graph);
    program_make(&w->graph, &w->slots, all, (int)n, NULL, &program);
    load(w);
    program_run(&program, w->v, &w->groups);
    program_release(&program);
    free(all);
}

/* ---- elasticities ------------------------------------------------------------------------------------------------------------ */

static double at(const struct at_work *w, int node)
{
    return node < 0 ? 0 : w->v[w->slots.of[node]];
}

/* How much a root grows for a variable that is e times itself. */
static double growth(const struct at_work *w, size_t variable, enum way way, int root)
{
    return w->list->variables[variable].value * at(w, rates_of(w, variable, way)[root]);
}

/* The common metrics with totals that are a share `step` along their growth. */
static void common_along(const struct at_work *w, size_t variable, enum way way, double step, struct dse_common *ret)
{
    double totals[TOTALS];
    for (int i = 0; i < TOTALS; i++) totals[i] = w->values[i] + step * growth(w, variable, way, i);
    point_common(w->twin, &w->groups, totals, true, ret);
}

static void slopes_of_common(const struct at_work *w, size_t variable, enum way way, double *ret)
{
    const double step = 0x1p-17;
    struct dse_common below, above;
    common_along(w, variable, way, -step, &below);
    common_along(w, variable, way, step, &above);
    for (size_t i = 0; i < w->twin->n_common; i++) {
        const struct field *f = &w->metrics->fields[i];
        ret[i] = two_sides_of(field_number(f, &below), field_number(f, &w->common), field_number(f, &above), step).is;
    }
}

static bool is_of_bill(const struct at_work *w, size_t metric)
{
    const struct field *f = &w->metrics->fields[metric];
    return metric < w->twin->n_common && isnan(field_number(f, &w->without_bill)) && !isnan(field_number(f, &w->common));
}

static void fill(const struct at_work *w, size_t variable)
{
    const size_t n = w->metrics->n, n_common = w->twin->n_common;
    double *ways = xcalloc(n * WAYS + 1, sizeof *ways);
    for (int way = 0; way < WAYS; way++) {
        double *to = ways + (size_t)way * n;
        slopes_of_common(w, variable, (enum way)way, to);
        for (int i = 0; i < w->twin->n_own; i++) {
            const double is = at(w, w->roots[TOTALS + i]), grows = growth(w, variable, (enum way)way, TOTALS + i);
            to[n_common + (size_t)i] = is == 0 ? (double)NAN : grows / is;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const double exact = ways[i], flat = ways[(size_t)WAY_CALLS_FLAT * n + i];
        w->list->slopes[variable * n + i] =
            (struct slope){exact, ways[(size_t)WAY_THROUGH_STEPS * n + i], exact != flat || (exact != 0 && is_of_bill(w, i))};
    }
    free(ways);
}

static void fill_all(struct at_work *w)
{
    for (int i = 0; i < TOTALS; i++) w->values[i] = at(w, w->roots[i]);
    point_common(w->twin, &w->groups, w->values, true, &w->common);
    point_common(w->twin, &w->groups, w->values, false, &w->without_bill);
    w->list->n_metrics = w->metrics->n;
    w->list->slopes = xcalloc(w->list->n * w->metrics->n + 1, sizeof *w->list->slopes);
    for (size_t i = 0; i < w->list->n; i++) fill(w, i);
}

/* ---- the interface ----------------------------------------------------------------------------------------------------------- */

/* The same file with its constants open. NULL: with these it has more terms than a model may have. */
static struct toml_model *twin_of(const struct toml_model *m)
{
    struct diags ignored;
    diags_init(&ignored);
    struct toml_doc *doc = toml_read_text(m->doc->file, m->doc->text, strlen(m->doc->text), &ignored);
    struct toml_model *ret = doc ? toml_model_new(doc, true, NULL, &ignored) : NULL;
    diags_release(&ignored);
    return ret;
}

static void find_plan(struct at_work *w)
{
    const struct dse_oplist *list = w->twin->expands ? &w->ops : NULL;
    struct signature s;
    w->groups = groups_of_step(&w->twin->groups, w->params, &w->step);
    if (list) expand(w->twin, w->groups.workload, &w->ops);
    signature_of(list, &s);
    w->plan = plan_find_chosen(w->twin, list, &s, w->params); /* the first of a model that was made for it */
}

static void slopes_at(const void *object, const struct schema *metrics, const void *params, struct slope_list *ret)
{
    const struct toml_model *m = object;
    *ret = (struct slope_list){0};
    struct toml_model *twin = twin_of(m);
    ret->is_too_large = !twin;
    if (!twin) return;
    struct at_work *w = xcalloc(1, sizeof *w); /* its operators are too large for the stack */
    w->twin = twin;
    w->metrics = metrics;
    void *own = xmalloc(m->desc.params_size);
    point_chosen(m, params, own);
    w->params = own;
    w->list = ret;
    find_plan(w);
    find_variables(w, m);
    find_roots(w);
    derive(w);
    run(w);
    fill_all(w);
    graph_release(&w->graph);
    slots_release(&w->slots);
    free(w->v);
    free(w->roots);
    free(w->inputs);
    free(w->rates);
    free(w);
    free(own);
    toml_model_free(twin);
}

struct slopes slopes_of(const struct toml_model *m)
{
    return (struct slopes){m, slopes_at};
}
