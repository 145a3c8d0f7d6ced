/* A graph for one point: instructions in an order in which each choice computes what its side needs, and nothing of the other. */
#ifndef DSE_GRAPH_PROGRAM_H
#define DSE_GRAPH_PROGRAM_H

#include "graph/graph.h"
#include "graph/primitive.h"

struct instruction {
    uint16_t code;
    uint16_t primitive;
    int32_t to, args[GRAPH_ARGUMENTS_MAX]; /* slots; of a SOLVE the last is none */
};
struct program {
    struct instruction *list; /* closed by one that ends */
    int n;
};

/* Where the numbers of a graph stand: a slot for each node, and one for each answer of a call. */
struct slots {
    int32_t *of; /* by node */
    int n;
};
void slots_make(const struct graph *g, struct slots *ret);
void slots_release(struct slots *s);
/* Numbers for a graph, with its constants in their places. The caller frees them. */
double *slots_numbers(const struct slots *s, const struct graph *g);

/* The program that computes the roots; those that are -1 are none. made[node], which may be NULL: the node has its number already
 * when the program begins; nodes that this program computes whatever the point is are marked. */
void program_make(const struct graph *g, const struct slots *s, const int *roots, int n, bool *made, struct program *ret);
void program_release(struct program *p);
/* Inputs and constants are in their slots. */
void program_run(const struct program *p, double *v, const struct groups *g);

#endif
