/* A lattice as searches without bounds see it: the grid of a space, or a part of it in which some axes stand still; its points by
 * their index in the space, the values of a few columns at each, and how far an infeasible one is from being feasible.
 *
 *     struct probe *p = probe_new(space, columns, maximise, m, threads);
 *     probe_hold(p, axis, digit);                     to hold an axis still, any number of times
 *     probe_evaluate(p, points, n, values, violations);
 *     probe_free(p);
 *
 * Values are minimised: those of a column that is maximised have the other sign. All is in closed form.
 */
#ifndef DSE_SEARCH_PROBE_H
#define DSE_SEARCH_PROBE_H

#include "space/space.h"

enum { PROBE_OBJECTIVES_MAX = SWEEP_OBJECTIVES_MAX };

/* An axis, whose places 0 to n - 1 are its values in ascending order; names stand in the order of their list. */
struct probe_axis {
    uint64_t n;      /* 1: it is held still */
    uint64_t stride; /* a digit more is so much more of a point's index */
    bool names;      /* places have no order: each is as near to another as any */
    uint32_t *digit; /* of a place; NULL: the same */
    uint32_t *place; /* of a digit; NULL: the same */
    uint64_t held;   /* the digit where it stands, when n is 1 */
};

struct probe;

/* The space must be a grid and outlive it, as `columns` need not; a column that the model does not have is NaN everywhere. */
struct probe *probe_new(const struct space *sp, const char *const *columns, const bool *maximise, size_t m, int threads);
void probe_free(struct probe *p);
/* Hold axis a at a digit. */
void probe_hold(struct probe *p, size_t a, uint64_t digit);

size_t probe_objectives(const struct probe *p);
int probe_threads(const struct probe *p);
const struct probe_axis *probe_axes(const struct probe *p, size_t *ret_n);
/* The points of the lattice; saturates. */
uint64_t probe_count(const struct probe *p);
/* The index of the point at these places, and back. Of an axis that is held the place is 0. */
uint64_t probe_index(const struct probe *p, const uint64_t *places);
void probe_places(const struct probe *p, uint64_t index, uint64_t *places);
/* Point i of an endless sequence of random points, which is the same for the same seed. */
uint64_t probe_random(const struct probe *p, uint64_t seed, uint64_t i);

/* Evaluate n points, many of them on all threads: values[i * m + j], and violations[i]: 0 when the point is feasible and has all
 * values, else above 0, the less the nearer. The values of an infeasible point are not defined. False: a bug of the model ended it
 * (probe_error). */
bool probe_evaluate(struct probe *p, const uint64_t *points, size_t n, double *values, double *violations);
const char *probe_error(const struct probe *p);

#endif
