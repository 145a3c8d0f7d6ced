/* The inside of refining, shared by refine.c and refine_front.c. */
#ifndef DSE_SWEEP_REFINE_INTERNAL_H
#define DSE_SWEEP_REFINE_INTERNAL_H

#include "sweep/sweep_internal.h"

/* An id is a point of any of the models, as in goal.c. */
enum { ID_MODEL_SHIFT = 56 };
#define ID_POINT_MASK (((uint64_t)1 << ID_MODEL_SHIFT) - 1)

/* A list of ids. ids_have expects them in ascending order and each once, as ids_sort leaves them. */
struct ids {
    uint64_t *id;
    size_t n, capacity;
};
void ids_add(struct ids *l, uint64_t id);
bool ids_have(const struct ids *l, uint64_t id);
void ids_sort(struct ids *l);
void ids_release(struct ids *l);

struct refining {
    struct job *job;
    const struct goal *goal;
    struct evaluator **evaluators; /* one for each space, of the closed form */
    union cell **cells;            /* room for one row of each space */
    struct ids there;              /* the points that have a row at event level */
    struct ids planned;            /* the points of this round and those before */
};

/* Evaluate a point in closed form into r->cells. Returns whether it is feasible. */
bool refine_closed_form(const struct refining *r, uint64_t id);

/* The front as far as it is known: rows at event level of the planned points, which are stored, and of the others the closed
 * form, taken to change as favourably as any planned point of its model and group did, objective by objective. Sorted. */
bool refine_front(const struct refining *r, struct ids *ret);

#endif
