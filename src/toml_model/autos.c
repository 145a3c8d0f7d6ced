/* Numbers of [parameters] with the default "auto": what stands for them until one is given.
 *
 * resolve() fills the field in, and formulas read it. In a box whose lower end has what the formula gives there, points may have
 * what it gives anywhere in the box, besides what the ends have. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct auto_number *find_auto(const struct toml_model *m, const char *name)
{
    for (int i = 0; i < m->n_autos; i++)
        if (strcmp(m->autos[i].name, name) == 0) return &m->autos[i];
    return NULL;
}

bool read_autos(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *own = toml_get(&m->doc->root, "parameters");
    bool ok = true;
    for (size_t i = 0; own && i < own->n; i++) {
        const struct toml_node *formula = toml_get(&own->children[i], "auto");
        const struct field *f = schema_find(&m->schema, own->children[i].key);
        if (!f->may_be_auto) continue;
        const int equation = equation_of_auto(m, formula, f, diags);
        m->autos = xrealloc(m->autos, (size_t)m->n_autos + 1, sizeof *m->autos);
        m->autos[m->n_autos++] = (struct auto_number){.name = f->name, .offset = f->offset, .equation = equation};
        ok = ok && equation >= 0;
    }
    return ok;
}

void autos_free(struct toml_model *m)
{
    for (int i = 0; i < m->n_autos; i++) free(m->autos[i].steps);
    free(m->autos);
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------- */

/* Nodes of the model's graph in their order, with the places of their arguments among them. False: it reads operators, or it
 * solves. */
static bool add_step(const struct graph *g, int node, int *place, struct auto_number *a)
{
    struct graph_node n = g->nodes[node];
    if (place[node] >= 0) return true;
    if (graph_is_loop(&n) || n.element1 || n.op == GRAPH_SOLVE) return false;
    for (int k = 0; k < n.n_args; k++) {
        if (!add_step(g, n.args[k], place, a)) return false;
        n.args[k] = place[n.args[k]];
    }
    place[node] = a->n_steps;
    a->steps = xrealloc(a->steps, (size_t)a->n_steps + 1, sizeof *a->steps);
    a->steps[a->n_steps++] = n;
    return true;
}

bool prepare_autos(struct toml_model *m, struct diags *diags)
{
    bool ok = true;
    for (int i = 0; i < m->n_autos; i++) {
        const struct equation *e = &m->equations[m->autos[i].equation];
        int *place = xcalloc((size_t)m->graph.n, sizeof *place);
        memset(place, -1, (size_t)m->graph.n * sizeof *place);
        if (!add_step(&m->graph, e->node, place, &m->autos[i]))
            ok = diags_input(diags, e->loc, e->file->text, "a number that follows from parameters, without a loop over operators",
                             "%s cannot depend on the operators of the step, nor on solve()", e->name);
        free(place);
    }
    return ok;
}

static double result(const struct graph_node *steps, const struct graph_node *n, const double *v, const struct groups *g)
{
    const struct graph_node *call = &steps[n->args[0]];
    double a[GRAPH_ARGUMENTS_MAX] = {0}, ret[PRIMITIVE_RESULTS_MAX];
    for (int k = 0; k < call->n_args; k++) a[k] = v[call->args[k]];
    primitives[call->what].of(g, a, ret);
    return ret[n->what];
}

static double value_of(const struct toml_model *m, const struct auto_number *a, const void *params)
{
    enum { FEW = 64 };
    const struct groups g = groups_of(&m->groups, params);
    double few[FEW], *v = a->n_steps <= FEW ? few : xcalloc((size_t)a->n_steps, sizeof *v);
    for (int i = 0; i < a->n_steps; i++) {
        const struct graph_node *n = &a->steps[i];
        const double x = n->n_args > 0 ? v[n->args[0]] : 0, y = n->n_args > 1 ? v[n->args[1]] : x,
                     z = n->n_args > 2 ? v[n->args[2]] : x;
        v[i] = n->op == GRAPH_CONSTANT ? n->number
               : n->op == GRAPH_INPUT  ? point_input(m, &(struct plan_input){0, n->what, -1}, params, NULL)
               : n->op == GRAPH_RESULT ? result(a->steps, n, v, &g)
                                       : graph_apply((enum graph_op)n->op, x, y, z);
    }
    const double ret = v[a->n_steps - 1] / m->equations[a->equation].measure.scale;
    if (v != few) free(v);
    return ret;
}

void resolve_autos(const struct toml_model *m, void *params)
{
    bool open = m->n_autos > 0;
    for (int round = 0; round < m->n_autos && open; round++) { /* one may need another */
        open = false;
        for (int i = 0; i < m->n_autos; i++) {
            const struct auto_number *a = &m->autos[i];
            double *field = (double *)(void *)((char *)params + a->offset);
            if (isnan(*field)) *field = value_of(m, a, params);
            open = open || isnan(*field);
        }
    }
}

bool auto_is_open(const struct toml_model *m, size_t offset, const void *params)
{
    const double *field = (const double *)(const void *)((const char *)params + offset);
    bool ret = false;
    for (int i = 0; i < m->n_autos; i++) ret = ret || (m->autos[i].offset == offset && *field == value_of(m, &m->autos[i], params));
    return ret;
}
