/* Internal to compile.c and compile_*.c: a formula on its way to the graph of its model. */
#ifndef DSE_TOML_MODEL_COMPILE_H
#define DSE_TOML_MODEL_COMPILE_H

#include "toml_model/internal.h"

/* What a part of a formula is: a node of the graph, with its dimension, or a zero that fits any. */
struct term {
    struct dimension dim;
    bool any;
    int node;
};

/* Where there is an error, or the number does not count. */
static const struct term term_any = {{{0}}, true, 0};

/* What a name stands for inside a formula: an argument of a function, the number of a range, or the row of a table. */
struct binding {
    const char *name;
    const struct table *table; /* of a row; else NULL */
    int row;
    struct term value; /* of what is no row */
    const struct binding *above;
};

struct compiling {
    struct toml_model *m;
    int equation;
    const struct formula *f; /* whose nodes are compiled: the equation's, or a function's */
    const struct binding *names;
    const struct binding *outside; /* from here on names were bound outside of the loop over operators at hand */
    const char *variable;          /* of that loop; NULL: there is none */
    enum domain domain;
    int context; /* of at() */
    struct diags *diags;
    struct compiling *above; /* the equation that needs this one */
    int depth;               /* terms that the one at hand stands in, with those of the equations above */
    bool ok;
};

struct term compile_node(struct compiling *c, int node);
/* So many terms more; false: the model has too many, which is told once. */
bool compile_terms(struct compiling *c, const struct formula_node *n, int terms);
bool compile_reaches(const struct toml_model *m, struct reach *r, int node);
struct term compile_call(struct compiling *c, const struct formula_node *n);
/* Has the call so many arguments? Else an error. */
bool compile_count(struct compiling *c, const struct formula_node *n, int least, int most);
/* Another equation, which is compiled first. */
struct term compile_use(struct compiling *c, const struct formula_node *n, int i);
/* An answer of a primitive, of these arguments. */
struct term compile_answer(struct compiling *c, const struct formula_node *at, const struct answer *a, const int *args, int n);
/* Both are one kind of thing, or it is an error. Returns what they are. */
struct term compile_same(struct compiling *c, const struct formula_node *n, struct term a, struct term b, const char *what);
struct term compile_pure(struct compiling *c, const struct formula_node *n, struct term v, const char *what);
/* Is the parameter one that the closed form reads? Else an error. */
bool compile_may_read(struct compiling *c, const struct formula_node *n, const struct field *f);
/* ---- compile_loops.c ---- */

/* The loops that have a name in `compile_loop_names`, by their place in it. */
enum { LOOPS = 6 };
extern const char *const compile_loop_names[LOOPS];
struct term compile_loop(struct compiling *c, const struct formula_node *n, int which);
/* "tiles.rows(i)": the number of a column in row i; false: the call is of no table. */
bool compile_column(struct compiling *c, const struct formula_node *n, struct term *ret);
/* "t.rows" of a row. */
struct term compile_cell(struct compiling *c, const struct formula_node *n, const struct binding *row);

/* ---- compile_at.c ---- */

/* "at(batch = 4, step_s)" */
struct term compile_at(struct compiling *c, const struct formula_node *n);
/* The node of an input in the context at hand; -1: it is the input itself. */
int context_node(const struct compiling *c, int input);
/* Is the node of the model as it is another one in the context at hand? */
bool context_changes(const struct compiling *c, int node);
/* Is a parameter of these groups (1 << enum group, or-ed) another one here? Then an error that `what` reads them. */
bool context_refuses(struct compiling *c, const struct formula_node *n, unsigned groups, const char *what);
/* What an equation is in a context. */
struct made_equation *context_made(const struct toml_model *m, int context, int equation);
/* ---- compile_solve.c ---- */
struct term compile_solve(struct compiling *c, const struct formula_node *n);

/* Add an error, the first of the equation alone. Takes the message. */
struct term compile_fail(struct compiling *c, const struct formula_node *n, const char *hint, char *message);

#endif
