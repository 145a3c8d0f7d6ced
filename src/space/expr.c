#include "space/expr.h"

#include "base/hint.h"
#include "base/xalloc.h"
#include "formula/formula.h"
#include "graph/program.h"
#include "space/expr_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An input of the graph: a field of expr_new, or a number of a scope. */
struct variable {
    const struct field *field;
    bool is_metric;
    const double *number;
    int32_t slot;
};

struct expr {
    struct graph graph;
    int root;
    struct slots slots;
    struct program program;
    double *numbers; /* slots, with the constants in their places */
    struct variable *used;
    int n_used;
};

/* What names mean while an expression is compiled. */
struct naming {
    /* False with an error. */
    bool (*find)(const struct naming *n, const char *name, struct srcloc loc, struct variable *ret);
    const struct schema *params, *metrics; /* of expr_new */
    const struct expr_scope *scope;        /* of expr_new_in */
    const char *source_text;
    struct diags *diags;
};

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

static bool unknown_field(const struct naming *in, const char *name, struct srcloc loc)
{
    const struct schema *params = in->params, *metrics = in->metrics;
    const char **known = xcalloc(params->n + metrics->n, sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < params->n; i++)
        if (field_is_number(&params->fields[i])) known[n++] = params->fields[i].name;
    for (size_t i = 0; i < metrics->n; i++)
        if (field_is_number(&metrics->fields[i])) known[n++] = metrics->fields[i].name;
    diags_unknown(in->diags, loc, in->source_text, name, known, n,
                  "an expression sees every numeric parameter and metric: see `dse describe`",
                  "\"%s\" is neither a parameter nor a metric", name);
    free(known);
    return false;
}

static bool find_field(const struct naming *in, const char *name, struct srcloc loc, struct variable *ret)
{
    const struct field *param = schema_find(in->params, name), *f = param ? param : schema_find(in->metrics, name);
    if (!f) return unknown_field(in, name, loc);
    *ret = (struct variable){.field = f, .is_metric = !param};
    return field_is_number(f) ||
           diags_input(in->diags, loc, in->source_text, NULL, "%s is a name, not a number: it cannot stand in an expression", name);
}

static bool find_number(const struct naming *in, const char *name, struct srcloc loc, struct variable *ret)
{
    ret->number = in->scope->find(in->scope->context, name, loc, in->source_text, in->diags);
    return ret->number != NULL;
}

void expr_free(struct expr *e)
{
    if (!e) return;
    program_release(&e->program);
    slots_release(&e->slots);
    graph_release(&e->graph);
    free(e->numbers);
    free(e->used);
    free(e);
}

/* ---- texts ------------------------------------------------------------------------------------------------------------------- */

/* The tree of a text, of which nothing is said when it is no expression. */
static bool parse(const char *text, struct formula *ret)
{
    struct diags ignored;
    diags_init(&ignored);
    const bool ok = formula_parse(ret, &(struct formula_source){.text = text, .dialect = FORMULA_EXPRESSION}, &ignored);
    diags_release(&ignored);
    return ok;
}

static bool is_name_of(const char *name, const struct schema *params, const struct schema *metrics)
{
    return strcmp(name, "_pi") == 0 || strcmp(name, "_e") == 0 || schema_find(params, name) || schema_find(metrics, name);
}

bool expr_names_known(const char *text, const struct schema *params, const struct schema *metrics)
{
    struct formula f;
    bool known = true;
    const bool ok = parse(text, &f);
    for (int i = 0; i < f.n; i++)
        if (f.nodes[i].kind == FORMULA_NAME) known = known && is_name_of(f.nodes[i].name, params, metrics);
    formula_release(&f);
    return known || !ok;
}

char *expr_find_name(const char *text, bool (*wanted)(const char *name), size_t *ret_at)
{
    struct formula f;
    char *found = NULL;
    const bool ok = parse(text, &f);
    for (int i = 0; ok && i < f.n && !found; i++) {
        if (f.nodes[i].kind != FORMULA_NAME || !wanted(f.nodes[i].name)) continue;
        *ret_at = f.nodes[i].at;
        found = xstrdup(f.nodes[i].name);
    }
    formula_release(&f);
    return found;
}

bool expr_uses_without(const struct expr *e)
{
    for (int i = 0; i < e->n_used; i++)
        if (e->used[i].field->without) return true;
    return false;
}

bool expr_reads(const struct expr *e, const struct field *metric)
{
    for (int i = 0; i < e->n_used; i++)
        if (e->used[i].field == metric) return true;
    return false;
}

/* ---- at a point -------------------------------------------------------------------------------------------------------------- */

double expr_eval(const struct expr *e, const void *params, const void *metrics)
{
    enum { FEW = 96 };
    double few[FEW];
    double *v = e->slots.n <= FEW ? few : xcalloc((size_t)e->slots.n, sizeof *v);
    memcpy(v, e->numbers, (size_t)e->slots.n * sizeof *v);
    for (int i = 0; i < e->n_used; i++) {
        const struct variable *u = &e->used[i];
        v[u->slot] = u->number ? *u->number : field_number(u->field, u->is_metric ? metrics : params);
    }
    program_run(&e->program, v, NULL);
    const double result = v[e->slots.of[e->root]];
    if (v != few) free(v);
    return isfinite(result) ? result + 0.0 : (double)NAN; /* a zero is never written as -0 */
}

double expr_number(const struct expr *e)
{
    return expr_eval(e, NULL, NULL);
}

/* ---- over a box -------------------------------------------------------------------------------------------------------------- */

static struct graph_range param_range(const struct field *f, const struct expr_box *box)
{
    const double a = field_number(f, box->lo), b = field_number(f, box->hi);
    if (isnan(a) || isnan(b)) return range_unknown;
    return (struct graph_range){dse_min(a, b), dse_max(a, b), false, f->type == DSE_TYPE_F64};
}

struct graph_range expr_metric_range(const struct field *metric, const void *floor, const void *ceiling)
{
    const double infinite = (double)INFINITY, slack = 1e-12;
    if (metric->type == DSE_TYPE_I64) {
        const int64_t a = field_get(metric, floor).i64, b = field_get(metric, ceiling).i64;
        return (struct graph_range){a == INT64_MIN ? -infinite : (double)a, b == INT64_MAX ? infinite : (double)b, false, false};
    }
    const double a = field_number(metric, floor), b = field_number(metric, ceiling);
    return (struct graph_range){isnan(a)   ? -infinite
                                : isinf(a) ? a
                                           : a - slack * fabs(a),
                                isnan(b)   ? infinite
                                : isinf(b) ? b
                                           : b + slack * fabs(b),
                                metric->may_be_null || metric->without, true};
}

struct graph_moves expr_metric_moves(const struct expr_moves *m, const struct field *metric)
{
    const size_t i = schema_index(m->of_metrics, metric);
    return i < m->n_metrics ? m->metrics[i] : moves_any(~0u);
}

static struct graph_range variable_range(const struct variable *v, const struct expr_box *box)
{
    if (v->number) return range_of(*v->number);
    struct graph_range r = v->is_metric ? expr_metric_range(v->field, box->floor, box->ceiling) : param_range(v->field, box);
    if (!box->moves) return r;
    r.moves =
        v->is_metric ? expr_metric_moves(box->moves, v->field) : box->moves->params[schema_index(box->moves->of_params, v->field)];
    if (r.none) r.moves = moves_any(moves_all(r.moves));
    return r;
}

/* Of the node, when those before it are in r. A square is narrower than a product of two that need not be the same. */
static struct graph_range node_range(const struct expr *e, const struct graph_node *n, const struct graph_range *r,
                                     const struct expr_box *box)
{
    if (n->op == GRAPH_CONSTANT) return range_of(n->number);
    if (n->op == GRAPH_INPUT) return variable_range(&e->used[n->what], box);
    const struct graph_range a = r[n->args[0]], b = r[n->args[n->n_args > 1 ? 1 : 0]], c = r[n->args[n->n_args > 2 ? 2 : 0]];
    const bool square = n->op == GRAPH_MUL && n->args[0] == n->args[1] && !a.none && !range_is_exact(a);
    struct graph_range ret = square ? range_apply(GRAPH_POW, a, range_of(2), c) : range_apply((enum graph_op)n->op, a, b, c);
    if (box->moves) ret.moves = moves_of((enum graph_op)n->op, &a, &b, &c, &ret);
    return ret;
}

struct graph_range expr_range(const struct expr *e, const struct expr_box *box)
{
    enum { FEW = 64 };
    struct graph_range few[FEW];
    struct graph_range *r = e->graph.n <= FEW ? few : xcalloc((size_t)e->graph.n, sizeof *r);
    for (int i = 0; i < e->graph.n; i++) r[i] = node_range(e, &e->graph.nodes[i], r, box);
    const struct graph_range ret = r[e->root];
    if (r != few) free(r);
    return ret;
}

/* From the text of an expression to its graph. */

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

static struct expr *compile_text(const char *text, struct srcloc loc, const struct naming *naming)
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

struct expr *expr_new(const char *text, struct srcloc loc, const char *source_text, const struct schema *params,
                      const struct schema *metrics, struct diags *diags)
{
    return compile_text(text, loc, &(struct naming){find_field, params, metrics, NULL, source_text, diags});
}

struct expr *expr_new_in(const char *text, struct srcloc loc, const char *source_text, const struct expr_scope *scope,
                         struct diags *diags)
{
    return compile_text(text, loc, &(struct naming){find_number, NULL, NULL, scope, source_text, diags});
}
