/* Loops: over operators, which stay loops of the model's graph, and over ranges and constant tables, which are written out. */
#include "toml_model/compile.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum loop { LOOP_SUM, LOOP_MOST, LOOP_LEAST, LOOP_ARGMAX, LOOP_ARGMIN, LOOP_LARGEST };
const char *const compile_loop_names[LOOPS] = {"sum", "most", "least", "argmax", "argmin", "largest"};

/* ---- operators --------------------------------------------------------------------------------------------------------------- */

static bool may_loop(struct compiling *c, const struct formula_node *n, const struct formula_node *loop, enum loop which)
{
    if (which > LOOP_LEAST)
        compile_fail(c, n, "argmin(i in 1..16: ...)", xasprintf("%s() runs over a range or a table, not over operators", n->name));
    else if (formula_condition(loop) >= 0)
        compile_fail(c, &c->f->nodes[formula_condition(loop)], "sum(for op in linear: condition ? op.time_s : 0)",
                     xasprintf("a loop over operators has no condition"));
    else if (!c->m->groups.has[GROUP_WORKLOAD])
        compile_fail(c, n, "uses = [\"workload\", \"memory\"]",
                     xasprintf("a model without the group \"workload\" has no operators"));
    return c->ok && !context_refuses(c, n, 1U << GROUP_WORKLOAD, "the operators of a step");
}

/* The body is compiled once, for the element that the loop is at. */
static struct term over_operators(struct compiling *c, const struct formula_node *n, const struct formula_node *loop,
                                  enum loop which, enum domain domain)
{
    static const enum graph_op ops[] = {[LOOP_SUM] = GRAPH_TOTAL, [LOOP_MOST] = GRAPH_MOST, [LOOP_LEAST] = GRAPH_LEAST};
    const struct binding *outside = c->outside;
    const char *variable = c->variable;
    const enum domain around = c->domain;
    if (!may_loop(c, n, loop, which)) return term_any;
    c->outside = c->names;
    c->variable = loop->name;
    c->domain = domain;
    struct term v = compile_node(c, loop->args[0]);
    c->outside = outside;
    c->variable = variable;
    c->domain = around;
    if (c->ok) v.node = graph_loop(&c->m->graph, ops[which], (int)domain, v.node);
    return v;
}

/* ---- ranges and tables ------------------------------------------------------------------------------------------------------- */

/* What a loop is written out for. */
struct items {
    const struct table *table; /* its rows; NULL: the numbers of a range */
    double first;
    int n;
};

/* Is the node made of constants alone, and what is it? In an open model these are inputs, which nothing folds. */
static bool is_made_of_constants(const struct toml_model *m, int node, double *ret)
{
    if (graph_is_constant(&m->graph, node, ret) || !m->is_open) return graph_is_constant(&m->graph, node, ret);
    double *numbers = xcalloc((size_t)node + 1, sizeof *numbers);
    bool *known = xcalloc((size_t)node + 1, sizeof *known);
    for (int i = 0; i <= node; i++) {
        const struct graph_node *n = &m->graph.nodes[i];
        const bool is_input = n->op == GRAPH_INPUT && m->inputs[n->what].kind == INPUT_NUMBER;
        double a[3] = {0};
        known[i] = n->op == GRAPH_CONSTANT || is_input || (n->op >= GRAPH_ADD && n->op <= GRAPH_CHOOSE);
        for (int k = 0; k < n->n_args && known[i] && k < 3; k++) known[i] = known[n->args[k]], a[k] = numbers[n->args[k]];
        if (!known[i]) continue;
        numbers[i] = is_input ? m->inputs[n->what].number
                              : (n->op == GRAPH_CONSTANT ? n->number : graph_apply((enum graph_op)n->op, a[0], a[1], a[2]));
    }
    const bool is = known[node];
    *ret = numbers[node];
    free(numbers);
    free(known);
    return is;
}

/* An end of a range. */
static double end_of(struct compiling *c, int node)
{
    double x = 0;
    const struct formula_node *n = &c->f->nodes[node];
    const struct term v = compile_pure(c, n, compile_node(c, node), "a range");
    if (c->ok && (!is_made_of_constants(c->m, v.node, &x) || x != floor(x) || !(fabs(x) <= 1e9)))
        compile_fail(c, n, "i in 1..16 if i <= tiles", xasprintf("the ends of a range are whole numbers that are known"));
    return x;
}

static bool find_range(struct compiling *c, const struct formula_node *loop, struct items *ret)
{
    char given[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX];
    const double first = end_of(c, loop->args[1]), last = c->ok ? end_of(c, loop->args[2]) : first;
    if (c->ok && first > last) compile_fail(c, loop, "i in 1..16", xasprintf("the range is empty"));
    if (c->ok && last - first >= MODEL_RANGE_MAX)
        compile_fail(c, loop, NULL,
                     xasprintf("the range has %s numbers; at most %s", text_count(given, (size_t)(last - first + 1)),
                               text_count(most, MODEL_RANGE_MAX)));
    *ret = (struct items){.first = first, .n = (int)fmin(last - first + 1, MODEL_RANGE_MAX)};
    return c->ok;
}

static bool find_items(struct compiling *c, const struct formula_node *loop, struct items *ret)
{
    if (!loop->domain) return find_range(c, loop, ret);
    const struct table *t = find_table(c->m, loop->domain);
    if (t) {
        *ret = (struct items){.table = t, .first = 1, .n = t->n_rows};
        return true;
    }
    const char *names[DOMAINS + 64];
    size_t k = 0;
    for (int d = 0; d < DOMAINS; d++) names[k++] = domain_names[d];
    for (int i = 0; i < c->m->n_tables && i < 64; i++) names[k++] = c->m->tables[i].name;
    if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, loop), c->f->source.file_text, loop->domain, names, k, NULL,
                      "there is nothing called \"%s\" to loop over", loop->domain);
    return c->ok = false;
}

/* What the items so far give. */
struct folded {
    struct term value; /* the sum, the most or the least */
    int which;         /* of ARGMAX, ARGMIN and LARGEST: the node of the item's number */
};

static double neutral(enum loop which)
{
    if (which == LOOP_SUM || which == LOOP_LARGEST) return 0;
    return which == LOOP_LEAST || which == LOOP_ARGMIN ? (double)INFINITY : -(double)INFINITY;
}

static struct folded nothing(struct compiling *c, enum loop which)
{
    struct graph *g = &c->m->graph;
    return (struct folded){{{{0}}, true, graph_constant(g, neutral(which))}, graph_constant(g, (double)NAN)};
}

/* One item more. Of equal ones the first counts, and what is no number never does. */
static void fold(struct graph *g, enum loop which, int value, double item, bool is_first, struct folded *f)
{
    int *best = &f->value.node;
    const bool least = which == LOOP_LEAST || which == LOOP_ARGMIN;
    if (which == LOOP_LARGEST) {
        f->which = graph_choose(g, value, graph_constant(g, item), f->which);
    } else if (which == LOOP_SUM) {
        *best = is_first ? value : graph_make(g, GRAPH_ADD, *best, value);
    } else {
        const int better = least ? graph_make(g, GRAPH_LT, value, *best) : graph_make(g, GRAPH_LT, *best, value);
        if (which >= LOOP_ARGMAX) f->which = graph_choose(g, better, graph_constant(g, item), f->which);
        *best = graph_make(g, least ? GRAPH_MIN : GRAPH_MAX, *best, value);
    }
}

/* The body and the condition for the item that is bound. */
static void add_item(struct compiling *c, const struct formula_node *n, const struct formula_node *loop, enum loop which,
                     double item, bool is_first, struct folded *f)
{
    struct graph *g = &c->m->graph;
    const int condition = formula_condition(loop);
    struct term is = term_any;
    if (condition >= 0) is = compile_pure(c, &c->f->nodes[condition], compile_node(c, condition), "a condition");
    struct term v = compile_node(c, loop->args[0]);
    if (which == LOOP_LARGEST) v = compile_pure(c, n, v, n->name);
    const struct term all = compile_same(c, n, f->value, v, n->name);
    if (!c->ok) return;
    if (condition >= 0) v.node = graph_choose(g, is.node, v.node, graph_constant(g, neutral(which)));
    fold(g, which, v.node, item, is_first, f);
    f->value.dim = all.dim;
    f->value.any = all.any;
}

static struct term over_items(struct compiling *c, const struct formula_node *n, const struct formula_node *loop, enum loop which)
{
    struct items items;
    if (!find_items(c, loop, &items)) return term_any;
    struct folded f = nothing(c, which);
    for (int k = 0; k < items.n && c->ok; k++) {
        const double item = items.first + k;
        const struct binding b = {.name = loop->name,
                                  .table = items.table,
                                  .row = k,
                                  .value = {{{0}}, false, graph_constant(&c->m->graph, item)},
                                  .above = c->names};
        c->names = &b;
        add_item(c, n, loop, which, item, k == 0, &f);
        c->names = b.above;
    }
    return which >= LOOP_ARGMAX ? (struct term){{{0}}, false, f.which} : f.value;
}

struct term compile_loop(struct compiling *c, const struct formula_node *n, int which)
{
    if (!compile_count(c, n, 1, 1)) return term_any;
    const struct formula_node loop = c->f->nodes[n->args[0]];
    if (loop.kind != FORMULA_LOOP)
        return compile_fail(c, &loop, which <= LOOP_LEAST ? "sum(for op in linear: op.weight_bytes)" : "argmin(i in 1..16: ...)",
                            xasprintf("%s() takes a loop", n->name));
    const enum domain domain = loop.domain ? domain_find(loop.domain) : DOMAIN_NONE;
    return domain == DOMAIN_NONE ? over_items(c, n, &loop, (enum loop)which)
                                 : over_operators(c, n, &loop, (enum loop)which, domain);
}

/* ---- numbers of tables ------------------------------------------------------------------------------------------------------- */

static struct term unknown_column(struct compiling *c, const struct formula_node *n, const struct table *t, const char *name)
{
    const char **names = xcalloc((size_t)t->n_columns, sizeof *names);
    for (int i = 0; i < t->n_columns; i++) names[i] = t->columns[i].name;
    if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, n), c->f->source.file_text, name, names, (size_t)t->n_columns, NULL,
                      "the table %s has no column \"%s\"", t->name, name);
    c->ok = false;
    free(names);
    return term_any;
}

struct term compile_cell(struct compiling *c, const struct formula_node *n, const struct binding *row)
{
    const struct table *t = row->table;
    const char *name = n->name + strlen(row->name);
    if (!*name)
        return compile_fail(c, n, "its numbers stand behind a dot: t.rows",
                            xasprintf("%s is a row of the table %s, not a number", row->name, t->name));
    const int column = find_column(t, name + 1);
    if (column < 0) return unknown_column(c, n, t, name + 1);
    const double cell = t->cells[(size_t)row->row * (size_t)t->n_columns + (size_t)column];
    return (struct term){t->columns[column].measure.dim, false, graph_constant(&c->m->graph, cell)};
}

bool compile_column(struct compiling *c, const struct formula_node *n, struct term *ret)
{
    int column;
    const struct table *t = table_of_column(c->m, n->name, &column);
    struct graph *g = &c->m->graph;
    *ret = term_any;
    if (!t) return false;
    if (column < 0) {
        *ret = unknown_column(c, n, t, strchr(n->name, '.') + 1);
    } else if (compile_count(c, n, 1, 1) && compile_terms(c, n, t->n_rows)) {
        const struct term row = compile_pure(c, n, compile_node(c, n->args[0]), n->name);
        *ret = (struct term){t->columns[column].measure.dim, false, graph_constant(g, (double)NAN)};
        for (int i = t->n_rows - 1; i >= 0 && c->ok; i--) {
            const int is = graph_make(g, GRAPH_EQ, row.node, graph_constant(g, i + 1));
            ret->node =
                graph_choose(g, is, graph_constant(g, t->cells[(size_t)i * (size_t)t->n_columns + (size_t)column]), ret->node);
        }
    }
    return true;
}
