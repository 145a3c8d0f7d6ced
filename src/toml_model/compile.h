/* Internal to compile.c and compile_calls.c: a formula on its way to the graph of its model. */
#ifndef DSE_TOML_MODEL_COMPILE_H
#define DSE_TOML_MODEL_COMPILE_H

#include "toml_model/internal.h"

/* What a part of a formula is: a node of the graph, with its dimension, or a zero that fits any. */
struct term {
    struct dimension dim;
    bool any;
    int node;
};

/* The arguments of a function that is being taken into a formula. */
struct arguments {
    const struct function *function;
    struct term value[FORMULA_ARGUMENTS_MAX];
};

struct compiling {
    struct toml_model *m;
    int equation;
    const struct formula *f;           /* whose nodes are compiled: the equation's, or a function's */
    const struct arguments *arguments; /* of the function; or NULL */
    struct diags *diags;
    struct compiling *above; /* the equation that needs this one */
    int depth;               /* terms that the one at hand stands in, with those of the equations above */
    bool ok;
};

struct term compile_node(struct compiling *c, int node);
struct term compile_call(struct compiling *c, const struct formula_node *n);
/* Another equation, which is compiled first. */
struct term compile_use(struct compiling *c, const struct formula_node *n, int i);
/* An answer of a primitive, of these arguments. */
struct term compile_answer(struct compiling *c, const struct answer *a, const int *args, int n);
/* Both are one kind of thing, or it is an error. Returns what they are. */
struct term compile_same(struct compiling *c, const struct formula_node *n, struct term a, struct term b, const char *what);
struct term compile_pure(struct compiling *c, const struct formula_node *n, struct term v, const char *what);
/* Is the parameter one that the closed form reads? Else an error. */
bool compile_may_read(struct compiling *c, const struct formula_node *n, const struct field *f);
/* Add an error, the first of the equation alone. Takes the message. */
struct term compile_fail(struct compiling *c, const struct formula_node *n, const char *hint, char *message);

#endif
