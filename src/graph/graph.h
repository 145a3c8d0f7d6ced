/* The operations of a closed form, with everything shared: what formulas of models and expressions of sweeps become.
 *
 * A node is an operation on nodes before it, so that their order is one in which they can be computed. The same operation on the
 * same nodes is one node. What can be said at once is said at once: an operation on constants is a constant, and a choice whose
 * condition is known is one of its sides. No sum is written in another order, so that whatever runs a graph (program.h: one
 * point, block.h: many, boxes.h: intervals) gives the same bits.
 *
 * Two kinds of graph are made of the same nodes. That of a model has loops (SUM, MOST, LEAST over the elements of a domain) and
 * numbers of "the element that the loop is at"; unroll.h makes of it the graph of one list of operators, which has neither. */
#ifndef DSE_GRAPH_GRAPH_H
#define DSE_GRAPH_GRAPH_H

#include "formula/formula.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum graph_op {
    GRAPH_CONSTANT,
    GRAPH_INPUT,   /* `what`: whose number it is, as the one who made the graph counts them; `element`: of which element, or -1 */
    GRAPH_CALL,    /* of the primitive `what` on args: it has no number of its own */
    GRAPH_RESULT,  /* number `what` of the call args[0] */
    GRAPH_UNKNOWN, /* of SOLVE: the number that it looks for */
    GRAPH_ADD,
    GRAPH_SUB,
    GRAPH_MUL,
    GRAPH_DIV,
    GRAPH_POW,
    GRAPH_LT, /* comparisons and logic give 0 or 1; what is no number counts as true, and compares as false but for != */
    GRAPH_LE,
    GRAPH_EQ,
    GRAPH_NE,
    GRAPH_AND,
    GRAPH_OR,
    GRAPH_MIN, /* the first, unless the second is less */
    GRAPH_MAX,
    GRAPH_NEGATE,
    GRAPH_CEIL,
    GRAPH_FLOOR,
    GRAPH_ROUND, /* to the nearest, of two the even one */
    GRAPH_ABS,
    GRAPH_SQRT,
    GRAPH_EXP,
    GRAPH_LN,
    GRAPH_LOG2,
    GRAPH_LOG10,
    GRAPH_EXPM1, /* e^x - 1, and ln(1 + x): exact near 0 */
    GRAPH_LOG1P,
    GRAPH_NEAREST, /* whole number, of two the larger one */
    GRAPH_SIGN,    /* -1, 0 or 1; of none 0 */
    GRAPH_SIN,
    GRAPH_COS,
    GRAPH_TAN,
    GRAPH_ASIN,
    GRAPH_ACOS,
    GRAPH_ATAN,
    GRAPH_SINH,
    GRAPH_COSH,
    GRAPH_TANH,
    GRAPH_KNOWN,  /* 1 for a number, 0 for none */
    GRAPH_CHOOSE, /* args[1] where args[0] is not 0, else args[2] */
    GRAPH_TOTAL,  /* of a model: args[0] summed over the domain `what`; over nothing 0, as the next two */
    GRAPH_MOST,
    GRAPH_LEAST,
    GRAPH_SOLVE, /* the UNKNOWN args[3] from args[0] to args[1] at which args[2], which grows with it, is 0: solve.h */
    GRAPH_OPS
};

enum { GRAPH_ARGUMENTS_MAX = 12 };

struct graph_node {
    uint8_t op; /* enum graph_op */
    uint8_t n_args;
    uint16_t element1; /* INPUT: its element and 1; 0: none */
    int32_t what;
    int32_t args[GRAPH_ARGUMENTS_MAX];
    double number; /* CONSTANT */
};

struct graph {
    struct graph_node *nodes;
    int n, capacity;
    int32_t *table; /* of hashes: nodes, -1 where there is none */
    int table_size;
};

void graph_init(struct graph *g);
void graph_release(struct graph *g);
/* Give back the room that no node has: nothing is added any more. */
void graph_trim(struct graph *g);
/* A graph of its own with the same nodes, which may grow. */
void graph_copy(const struct graph *from, struct graph *ret);

/* The node of each; the same one where there is such a node already. */
int graph_constant(struct graph *g, double x);
int graph_input(struct graph *g, int what, int element);
int graph_call(struct graph *g, int primitive, const int *args, int n);
int graph_result(struct graph *g, int call, int which);
int graph_make(struct graph *g, enum graph_op op, int a, int b);
/* Of an operator of formulas on its two sides; of a power GRAPH_POW. */
int graph_operator(struct graph *g, enum formula_operator op, int a, int b);
int graph_choose(struct graph *g, int condition, int yes, int no);
/* The number that a SOLVE looks for; each has its own. No node between a SOLVE and its unknown is or needs another SOLVE. */
int graph_unknown(struct graph *g, int which);
int graph_solve(struct graph *g, int low, int high, int body, int unknown);
/* By node: the UNKNOWN that it depends on, which is known inside of its SOLVE alone; or -1. The caller frees it. */
int *graph_inner(const struct graph *g);
/* TOTAL, MOST, LEAST. */
int graph_loop(struct graph *g, enum graph_op op, int domain, int body);

/* The operation that an operator is; *ret_turned: on its sides the other way round, as a > b is b < a. */
enum graph_op graph_op_of(enum formula_operator op, bool *ret_turned);
/* Is it TOTAL, MOST or LEAST? */
bool graph_is_loop(const struct graph_node *n);
/* Is it a constant, and which? */
bool graph_is_constant(const struct graph *g, int node, double *ret);
/* What an operation on numbers gives; 0 for CONSTANT, INPUT, CALL, RESULT and loops. */
double graph_apply(enum graph_op op, double a, double b, double c);

#endif
