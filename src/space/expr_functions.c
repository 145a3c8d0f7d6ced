#include "space/expr_functions.h"

#include <math.h>
#include <string.h>

static int join(struct graph *g, enum graph_op op, int a, double b)
{
    return graph_make(g, op, a, graph_constant(g, b));
}

/* ---- of one argument --------------------------------------------------------------------------------------------------------- */

/* A quotient of two logarithms, whose last digit may differ from that of the C library's log2. */
static int log2_of(struct graph *g, const int *args, int n)
{
    (void)n;
    return join(g, GRAPH_DIV, graph_make(g, GRAPH_LN, args[0], args[0]), M_LN2);
}

/* ln(x + sqrt(x x + c)). */
static int area_of(struct graph *g, int x, double c)
{
    const int under = join(g, GRAPH_ADD, graph_make(g, GRAPH_MUL, x, x), c);
    const int sum = graph_make(g, GRAPH_ADD, x, graph_make(g, GRAPH_SQRT, under, under));
    return graph_make(g, GRAPH_LN, sum, sum);
}

static int asinh_of(struct graph *g, const int *args, int n)
{
    (void)n;
    return area_of(g, args[0], 1);
}

static int acosh_of(struct graph *g, const int *args, int n)
{
    (void)n;
    return area_of(g, args[0], -1);
}

static int atanh_of(struct graph *g, const int *args, int n)
{
    (void)n;
    const int one = graph_constant(g, 1);
    const int ratio = graph_make(g, GRAPH_DIV, graph_make(g, GRAPH_ADD, one, args[0]), graph_make(g, GRAPH_SUB, one, args[0]));
    return join(g, GRAPH_MUL, graph_make(g, GRAPH_LN, ratio, ratio), 0.5);
}

/* ---- all --------------------------------------------------------------------------------------------------------------------- */

/* Operands joined by an operation, from the left. */
static int join_all(struct graph *g, enum graph_op op, const int *args, int n)
{
    int ret = args[0];
    for (int i = 1; i < n; i++) ret = graph_make(g, op, ret, args[i]);
    return ret;
}

static int mean_of(struct graph *g, const int *args, int n)
{
    return join(g, GRAPH_DIV, join_all(g, GRAPH_ADD, args, n), n);
}

const struct expr_function expr_functions[] = {
    {.name = "min", .op = GRAPH_MIN, .many = true},
    {.name = "max", .op = GRAPH_MAX, .many = true},
    {.name = "sum", .op = GRAPH_ADD, .many = true},
    {.name = "avg", .make = mean_of, .many = true},
    {.name = "abs", .op = GRAPH_ABS},
    {.name = "sign", .op = GRAPH_SIGN},
    {.name = "sqrt", .op = GRAPH_SQRT},
    {.name = "exp", .op = GRAPH_EXP},
    {.name = "ln", .op = GRAPH_LN},
    {.name = "log", .op = GRAPH_LN},
    {.name = "log2", .make = log2_of},
    {.name = "log10", .op = GRAPH_LOG10},
    {.name = "rint", .op = GRAPH_NEAREST},
    {.name = "round", .op = GRAPH_ROUND},
    {.name = "ceil", .op = GRAPH_CEIL},
    {.name = "floor", .op = GRAPH_FLOOR},
    {.name = "known", .op = GRAPH_KNOWN},
    {.name = "sin", .op = GRAPH_SIN},
    {.name = "cos", .op = GRAPH_COS},
    {.name = "tan", .op = GRAPH_TAN},
    {.name = "asin", .op = GRAPH_ASIN},
    {.name = "acos", .op = GRAPH_ACOS},
    {.name = "atan", .op = GRAPH_ATAN},
    {.name = "sinh", .op = GRAPH_SINH},
    {.name = "cosh", .op = GRAPH_COSH},
    {.name = "tanh", .op = GRAPH_TANH},
    {.name = "asinh", .make = asinh_of},
    {.name = "acosh", .make = acosh_of},
    {.name = "atanh", .make = atanh_of},
    {.name = NULL},
};

const struct expr_function *expr_function_find(const char *name)
{
    for (const struct expr_function *f = expr_functions; f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

int expr_function_make(const struct expr_function *f, struct graph *g, const int *args, int n)
{
    if (f->make) return f->make(g, args, n);
    return f->many ? join_all(g, f->op, args, n) : graph_make(g, f->op, args[0], args[0]);
}
