/* solve(x in LOW..HIGH: FORMULA): the number at which a formula that grows is 0. It stays one node of the graph, however many
 * numbers it tries. */
#include "toml_model/compile.h"

#include "base/xalloc.h"

#include <stdlib.h>

static const char hint[] = "solve(x in 0.1..1: at(clock_ghz = x * clock_ghz, power_w) - limit_w)";

/* Does a SOLVE try its numbers for each number that another one tries? */
static bool is_within_another(const struct graph *g, int unknown)
{
    bool *depends = xcalloc((size_t)g->n + 1, sizeof *depends), found = false;
    for (int i = unknown; i < g->n; i++) {
        const struct graph_node *n = &g->nodes[i];
        depends[i] = i == unknown;
        for (int k = 0; k < n->n_args; k++) depends[i] = depends[i] || depends[n->args[k]];
        found = found || (depends[i] && n->op == GRAPH_SOLVE);
    }
    free(depends);
    return found;
}

/* The formula, with the name for the number that is looked for. */
static struct term body_of(struct compiling *c, const struct formula_node *loop, struct term unknown)
{
    const struct binding b = {.name = loop->name, .value = unknown, .above = c->names};
    c->names = &b;
    const struct term ret = compile_node(c, loop->args[0]);
    c->names = b.above;
    return ret;
}

static bool may_solve(struct compiling *c, const struct formula_node *n, const struct formula_node *loop)
{
    if (loop->kind != FORMULA_LOOP || loop->domain)
        compile_fail(c, n, hint, xasprintf("solve() takes a range of numbers, and a formula that grows over it"));
    else if (formula_condition(loop) >= 0)
        compile_fail(c, &c->f->nodes[formula_condition(loop)], hint, xasprintf("a range of solve() has no condition"));
    else if (c->variable)
        compile_fail(c, n, "give it a name among [equations]", xasprintf("solve() stands outside of loops over operators"));
    else if (c->m->n_unknowns >= MODEL_SOLVES_MAX)
        compile_fail(c, n, "give it a name among [equations], and use that",
                     xasprintf("the model has more than %d solve()", MODEL_SOLVES_MAX));
    return c->ok;
}

struct term compile_solve(struct compiling *c, const struct formula_node *n)
{
    struct graph *g = &c->m->graph;
    if (!compile_count(c, n, 1, 1)) return term_any;
    const struct formula_node loop = c->f->nodes[n->args[0]];
    if (!may_solve(c, n, &loop)) return term_any;
    const struct term low = compile_node(c, loop.args[1]), high = compile_node(c, loop.args[2]);
    struct term ret = compile_same(c, n, low, high, "the range of solve()");
    if (!c->ok) return term_any;
    const int unknown = graph_unknown(g, c->m->n_unknowns++);
    const struct term body = body_of(c, &loop, (struct term){ret.dim, ret.any, unknown});
    if (!c->ok) return term_any;
    if (is_within_another(g, unknown))
        return compile_fail(c, n, "solve for one number, and let the formula use what follows from it",
                            xasprintf("a solve() cannot need another solve() of its %s", loop.name));
    ret.node = graph_solve(g, low.node, high.node, body.node, unknown);
    return ret;
}
