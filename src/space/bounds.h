/* Bounds of a space's rows over a box of its points: the model's bound, and what follows from it for ratios to a baseline, derived
 * columns and constraints, in interval form (dse/interval.h).
 *
 * Sound: a number of a row that evaluator_run gives for any point of the box lies between the bounds of its column. Ends that are
 * not known are infinite. A number that has no value at a point (NULL) is nowhere. One struct bounds a thread. */
#ifndef DSE_SPACE_BOUNDS_H
#define DSE_SPACE_BOUNDS_H

#include "graph/range.h"
#include "space/space.h"

#include <dse/interval.h>

struct bounds;
struct bounds *bounds_new(const struct space *sp);
void bounds_free(struct bounds *b);

/* What is known of all points of a box. */
enum bounds_of {
    BOUNDS_SOME,       /* there may be points that are feasible */
    BOUNDS_IMPOSSIBLE, /* the model's bound says: check() accepts none */
    BOUNDS_REFUSED,    /* a constraint is false or has no value at each of them */
};

/* Bound the box of all points p with lo <= p <= hi, number by number, resolved, everything else the same (dse_model.bound). Of
 * BOUNDS_REFUSED *ret_constraint is the constraint; of BOUNDS_SOME bounds_column has values. No allocation. */
enum bounds_of bounds_box(struct bounds *b, const void *lo, const void *hi, size_t *ret_constraint);

/* Many boxes between places on the axes of the space's grid. */
struct bounds_lattice {
    const void *object;
    /* The parameters that enclose the points of a box, resolved. */
    void (*enclose)(const void *object, const uint32_t *lo, const uint32_t *hi, void *lo_params, void *hi_params);
    const struct graph_moves
        *moves; /* how parameters move along the axes, by their places in the schema (graph/range.h); or NULL */
};
void bounds_set_lattice(struct bounds *b, const struct bounds_lattice *l);
/* Bound n boxes, at most BOUNDS_MANY_MAX: box i lies from lo[i] to hi[i], which have a place for each axis and stay until the next
 * bounds_many. A model that can bounds them at once, and computes no more than what is wanted (NULL: all); another one bounds each
 * by itself. The bounds are the same, to the bit. */
enum { BOUNDS_MANY_MAX = 256 };
void bounds_many(struct bounds *b, const uint32_t *const *lo, const uint32_t *const *hi, size_t n, const bool *wanted);
/* The same, and how rows move over each box. */
void bounds_many_moved(struct bounds *b, const uint32_t *const *lo, const uint32_t *const *hi, size_t n, const bool *wanted);
/* Does the model bound them at once? Otherwise bounds_many takes as long as so many bounds_box. */
bool bounds_are_at_once(const struct bounds *b);
/* Make one of them the last box, as bounds_box does. */
enum bounds_of bounds_take(struct bounds *b, size_t i, size_t *ret_constraint);
/* What is wanted where bounds of these columns are read. The caller frees it behind the last bounds_many. */
bool *bounds_wanted(const struct bounds *b, const size_t *columns, size_t n);

/* Where points of the last box may become better, while all other axes stand still: along the axes of `up` at a later place than
 * their own, along those of `down` at an earlier one. Along any other axis a point that is feasible and has a value of each column
 * has one at every earlier place of the box (later, for `down`) that is and has, too, and no value there is worse. The box was
 * bounded by bounds_many_moved; or (bounds_walk_moves) by bounds_box, in a space that is checked plainly. */
struct graph_moves bounds_better(struct bounds *b, const size_t *columns, const bool *maximise, size_t n);
/* How rows move over the last box, of these parameters' moves, by the model's equations as they stand. */
void bounds_walk_moves(struct bounds *b, const struct graph_moves *params);

/* Bounds of a column of the last box: F64 and I64 metrics, ratios, derived columns. */
struct dse_interval bounds_column(struct bounds *b, size_t column);

/* Why nothing is known of a column over the last box, which is best one that has feasible points: "model veda has no bound of
 * usd_per_mtoken"; NULL: it has a bound. The caller frees it. */
char *bounds_why_none(struct bounds *b, size_t column);

#endif
