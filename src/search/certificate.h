/* What an exact search says of the points that it has not evaluated, in a form that other code can check
 * (docs/explanation/exact-fronts.md).
 *
 * A search cuts the lattice of each space into boxes and closes each for a reason. Together they are the lattice: every point lies
 * in one box and no two boxes share one. A box is what lies between two places on each axis,
 *
 *     lo[a] <= place on axis a <= hi[a],    a in the order of the space's axes (by name),
 *
 * where the places of an axis of numbers are its values ascending, 0 the least, and those of names are in the order of their list.
 * A box that holds two names of an axis, or two values of a parameter of `per`, cannot be closed by a bound.
 *
 * What a certificate claims. For every point of the lattices that has a value for every objective and breaks no constraint there is
 * a row of the front (of the same values of `per`) that is no worse in any objective, within the tolerance: of a value v that is
 * minimised the row has at most v + tolerance * |v|, of one that is maximised at least v - tolerance * |v|. It is about the closed
 * form, distinct vectors of objectives, and this lattice; a point whose vector is a row's within the tolerance need not be a row.
 *
 * A box that is worse along an axis (BOX_WORSE) is so than place `than`, just below or just above it: each of its points that is
 * feasible and has a value for every objective has at that place, all other places the same, one that is and has, and is no worse
 * in any objective. That lies in another box. All such boxes of a space and an axis lie on the same side, so that who goes from
 * point to point comes to an end.
 *
 * The boxes are logged as they are closed, by each thread into a log of its own; what is written does not depend on which thread
 * closed what. */
#ifndef DSE_SEARCH_CERTIFICATE_H
#define DSE_SEARCH_CERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CERTIFICATE_TOLERANCE 1e-9

/* Why a box is closed. */
enum box_end {
    BOX_DOMINATED,  /* the best that any point of it can have in each objective is no better than a row of the front */
    BOX_IMPOSSIBLE, /* the model's bound: check() accepts none of its points */
    BOX_REFUSED,    /* a constraint is false, or has no value, at all of its points */
    BOX_EVALUATED,  /* each of its points was evaluated */
    BOX_OPEN,       /* it is not closed: the search was ended before */
    BOX_WORSE,      /* along an axis none of its points is better than that at another place, beside the box */
    BOX_END_COUNT
};
extern const char *const box_end_names[]; /* "dominated", "impossible", "refused", "evaluated", "open", "worse", NULL */

/* A row of the front, or an incumbent that may become one. */
struct lattice_point {
    uint32_t space; /* index of the space in the sweep */
    uint64_t point; /* its index in the space (space.h) */
};

struct certificate_box {
    uint32_t space;
    enum box_end end;
    uint32_t constraint;     /* BOX_REFUSED: which of the sweep's constraints, as sweep_constraint_name counts; else 0 */
    struct lattice_point by; /* BOX_DOMINATED: the incumbent; need not be a row of the front when the search ends */
    uint32_t along, than;    /* BOX_WORSE: the axis, and the place on it */
    const uint32_t *lo, *hi; /* a place on each axis of the space */
    const double *best;      /* BOX_DOMINATED, BOX_OPEN: for each objective of the sweep the bound on its better side, the floor
                                 where it is minimised and the ceiling where it is maximised, as it was compared */
};

/* The boxes that one thread closed. Numbers alone, packed: about 8 bytes an axis and an objective. */
struct box_log;
/* n_axes[s]: axes of space s. `objectives`: how many the sweep has. `keep`: false logs counts alone, and what is left open. */
struct box_log *box_log_new(const size_t *n_axes, size_t n_spaces, size_t objectives, bool keep);
void box_log_free(struct box_log *log);
/* Log a box; what it points to is copied. */
void box_log_add(struct box_log *log, const struct certificate_box *box);

/* A row of the front as the search ends: values as they are stored, in the order of the sweep's objectives. */
struct certificate_row {
    struct lattice_point at;
    const double *values;
    uint64_t group; /* equal for rows with the same values of `per` */
};

/* What a search ends with. */
struct certificate {
    double tolerance;
    bool complete;        /* no box is open */
    uint64_t evaluations; /* of points, by the search for incumbents as well */
    double epsilon;       /* by how much, relative to it, an objective of a row may be missed where boxes are open; 0 when none */
    double hypervolume_left; /* what the open boxes can still add to the front's hypervolume, at most; 0 when none; NaN unknown */
    double seconds;
    int threads;
    uint64_t boxes[BOX_END_COUNT];
};

/* Is a row no worse than `best` in any of n objectives, within the tolerance? Never where `best` is infinite to the better side. */
bool certificate_covers(const double *row, const double *best, const bool *maximise, size_t n, double tolerance);

struct space;
struct store;
struct diags;
struct sweep_file;

/* Store the certificate of the store's run with its lattices and, if the logs kept them, its boxes, in one transaction. It replaces
 * an earlier one of the run. A box whose incumbent is no row of the front gets a row that is no worse than `best` in its place.
 * Fills c->boxes from the logs. False with errors: nothing is stored then. */
bool certificate_store(struct store *st, const struct sweep_file *s, struct space *const *spaces, struct certificate *c,
                       struct box_log *const *logs, size_t n_logs, const struct certificate_row *front, size_t n_front,
                       struct diags *diags);

#endif
