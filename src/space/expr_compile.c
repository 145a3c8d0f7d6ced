/* From the text of an expression to its graph. */
#include "space/expr_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"
#include "formula/formula.h"
#include "space/expr_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct compiling {
    struct expr *e;
    const struct formula *f;
    const struct naming *naming;
    int *nodes; /* of the graph, by node of the formula */
    bool ok;
};

/* ---- names and functions ---------------------------------------------------------------------------------------------------- */

static int use_variable(struct expr *e, struct variable v)
{
    int i = 0;
    while (i < e->n_used && (e->used[i].field != v.field || e->used[i].number != v.number)) i++;
    if (i == e->n_used) {
        e->used = xrealloc(e->used, (size_t)e->n_used + 1, sizeof *e->used);
        e->used[e->n_used++] = v;
    }
    return graph_input(&e->graph, i, -1);
}

static int use_name(struct compiling *c, const struct formula_node *n)
{
    struct variable v = {0};
    if (strcmp(n->name, "_pi") == 0) return graph_constant(&c->e->graph, M_PI);
    if (strcmp(n->name, "_e") == 0) return graph_constant(&c->e->graph, M_E);
    if (c->naming->find(c->naming, n->name, formula_loc(c->f, n), &v)) return use_variable(c->e, v);
    c->ok = false;
    return 0;
}

static int unknown_function(struct compiling *c, const struct formula_node *n)
{
    struct text all;
    text_init(&all);
    const char *names[64];
    size_t k = 0;
    for (const struct expr_function *f = expr_functions; f->name; f++) {
        text_addf(&all, "%s%s", k ? ", " : "there are ", f->name);
        names[k++] = f->name;
    }
    c->ok = diags_unknown(c->naming->diags, formula_loc(c->f, n), c->naming->source_text, n->name, names, k, all.s,
                          "there is no function %s()", n->name);
    text_release(&all);
    return 0;
}

static int call(struct compiling *c, const struct formula_node *n)
{
    const struct expr_function *f = expr_function_find(n->name);
    if (!f) return unknown_function(c, n);
    int *args = xcalloc((size_t)n->n_args + 1, sizeof *args), ret = 0;
    for (int i = 0; i < n->n_args; i++) args[i] = c->nodes[n->args[i]];
    if (n->n_args == 0 || (n->n_args > 1 && !f->many))
        c->ok = diags_input(c->naming->diags, formula_loc(c->f, n), c->naming->source_text, NULL,
                            "%s() takes one argument%s, not %d", n->name, f->many ? " or more" : "", n->n_args);
    else if (c->ok)
        ret = expr_function_make(f, &c->e->graph, args, n->n_args);
    free(args);
    return ret;
}

/* ---- operators -------------------------------------------------------------------------------------------------------------- */

/* x^2, x^3 and x^4 of a name are products from the left, x*x*x*x; other powers are the C library's. */
static int power(struct compiling *c, const struct formula_node *n, int base, int exponent)
{
    struct graph *g = &c->e->graph;
    const struct formula_node *x = &c->f->nodes[n->args[0]], *k = &c->f->nodes[n->args[1]];
    const bool is_product =
        x->kind == FORMULA_NAME && k->kind == FORMULA_NUMBER && (k->number == 2 || k->number == 3 || k->number == 4);
    if (!is_product) return graph_make(g, GRAPH_POW, base, exponent);
    int ret = base;
    for (int i = 1; i < (int)k->number; i++) ret = graph_make(g, GRAPH_MUL, ret, base);
    return ret;
}

static int operate(struct compiling *c, const struct formula_node *n, int a, int b)
{
    return n->op == OP_POW ? power(c, n, a, b) : graph_operator(&c->e->graph, n->op, a, b);
}

/* What stands in the node has been made. */
static int make(struct compiling *c, const struct formula_node *n)
{
    struct graph *g = &c->e->graph;
    if (n->kind == FORMULA_NAME) return use_name(c, n);
    if (n->kind == FORMULA_CALL) return call(c, n);
    if (!c->ok) return 0;
    int a[3] = {0};
    for (int i = 0; i < n->n_args && i < 3; i++) a[i] = c->nodes[n->args[i]];
    switch (n->kind) {
    case FORMULA_NUMBER: return graph_constant(g, n->number);
    case FORMULA_NEGATE: return graph_make(g, GRAPH_NEGATE, a[0], a[0]);
    case FORMULA_NOT: return graph_make(g, GRAPH_EQ, a[0], graph_constant(g, 0));
    case FORMULA_CHOOSE: return graph_choose(g, a[0], a[1], a[2]);
    default: return operate(c, n, a[0], a[1]);
    }
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------- */

/* "1, 2" gives two. */
static int values_in(const char *text)
{
    int n = 1, depth = 0;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        n += *text == ',' && depth == 0;
    }
    return n;
}

/* Does it give one number? */
static bool is_one_number(const char *text, struct srcloc loc, const char *source_text, struct diags *diags)
{
    const int values = values_in(text);
    if (strpbrk(text, "\"'"))
        return diags_input(diags, loc, source_text, NULL, "an expression works with numbers: strings cannot stand in it");
    if (text[strspn(text, " \t\r\n")] == '\0') return diags_input(diags, loc, source_text, NULL, "the expression is empty");
    if (values > 1) return diags_input(diags, loc, source_text, NULL, "the expression gives %d values; one is needed", values);
    return true;
}

static void finish(struct expr *e)
{
    slots_make(&e->graph, &e->slots);
    e->numbers = slots_numbers(&e->slots, &e->graph);
    program_make(&e->graph, &e->slots, &e->root, 1, NULL, &e->program);
    for (int i = 0; i < e->n_used; i++) e->used[i].slot = e->slots.of[graph_input(&e->graph, i, -1)];
}

struct expr *expr_compile(const char *text, struct srcloc loc, const struct naming *naming)
{
    struct formula f;
    if (!is_one_number(text, loc, naming->source_text, naming->diags)) return NULL;
    const struct formula_source source = {text, loc, naming->source_text, FORMULA_EXPRESSION};
    struct compiling c = {.f = &f, .naming = naming, .ok = formula_parse(&f, &source, naming->diags)};
    if (c.ok) {
        c.e = xcalloc(1, sizeof *c.e);
        graph_init(&c.e->graph);
        c.nodes = xcalloc((size_t)f.n, sizeof *c.nodes);
        for (int i = 0; i < f.n; i++) c.nodes[i] = make(&c, &f.nodes[i]);
        c.e->root = c.nodes[f.root];
        free(c.nodes);
        if (c.ok) finish(c.e);
    }
    formula_release(&f);
    if (c.ok) return c.e;
    expr_free(c.e);
    return NULL;
}
