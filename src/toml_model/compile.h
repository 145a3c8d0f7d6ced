/* Internal to compile.c and compile_calls.c: a formula on its way to straight code. */
#ifndef DSE_TOML_MODEL_COMPILE_H
#define DSE_TOML_MODEL_COMPILE_H

#include "toml_model/internal.h"

/* The arguments of a function that is being taken into a formula. */
struct arguments {
    const struct function *function;
    struct text text[FORMULA_ARGUMENTS_MAX];
    struct dimension dim[FORMULA_ARGUMENTS_MAX];
    bool any[FORMULA_ARGUMENTS_MAX];
};

struct compiling {
    struct toml_model *m;
    int equation;
    const struct formula *f;           /* whose nodes are compiled: the equation's, or a function's */
    const struct arguments *arguments; /* of the function; or NULL */
    struct text before;                /* assignments that come first */
    struct diags *diags;
    struct compiling *above; /* the equation that needs this one */
    int depth;               /* terms that the one at hand stands in, with those of the equations above */
    bool ok;
};

/* What a part of a formula is: a dimension, or a zero that fits any. */
struct kind {
    struct dimension dim;
    bool any;
};
static const struct kind kind_pure = {{{0}}, false}, kind_any = {{{0}}, true};

/* Add the code of a node to `out`. */
struct kind compile_node(struct compiling *c, int node, struct text *out);
struct kind compile_call(struct compiling *c, const struct formula_node *n, struct text *out);
/* The slot of another equation, which is compiled first. */
struct kind compile_use(struct compiling *c, const struct formula_node *n, int i, struct text *out);
/* Both are one kind of thing, or it is an error. */
struct kind compile_same(struct compiling *c, const struct formula_node *n, struct kind a, struct kind b, const char *what);
struct kind compile_pure(struct compiling *c, const struct formula_node *n, struct kind k, const char *what);
/* Add an error, the first of the equation alone. Takes the message. */
struct kind compile_fail(struct compiling *c, const struct formula_node *n, const char *hint, char *message);

#endif
