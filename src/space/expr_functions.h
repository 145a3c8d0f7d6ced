/* Internal to src/space: the functions of expressions, as operations of a graph. */
#ifndef DSE_SPACE_EXPR_FUNCTIONS_H
#define DSE_SPACE_EXPR_FUNCTIONS_H

#include "graph/graph.h"

struct expr_function {
    const char *name;
    bool many;                                            /* takes one argument or more, not one */
    enum graph_op op;                                     /* of many: that joins them */
    int (*make)(struct graph *g, const int *args, int n); /* if it is more than one operation */
};
extern const struct expr_function expr_functions[]; /* closed by a row without a name */

/* NULL: there is none. */
const struct expr_function *expr_function_find(const char *name);
/* The node of a call; args[0..n) are nodes. */
int expr_function_make(const struct expr_function *f, struct graph *g, const int *args, int n);

#endif
