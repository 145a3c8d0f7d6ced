/* Which points of Pareto fronts to show where there is room for few: of each front its knee and its extremes, then others spread
 * along it.
 *
 * The knee is the point nearest to the ideal one, where every objective has the best value of the front, when the worst value of
 * the front is at distance 1 along each axis. An extreme is the best point of an objective; of equal ones the one nearest to the
 * ideal point.
 */
#ifndef DSE_ANALYSIS_FRONT_PICK_H
#define DSE_ANALYSIS_FRONT_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct picked {
    size_t point;      /* index */
    uint32_t extremes; /* bit j: best of objective j */
    bool knee;
};

/* n points in `groups` fronts: group[i] < groups, values[i * objectives + j]; none NaN, objectives <= 32. At most `room` are
 * picked, into ret[room], in the order of the points: first the knees, then the best of the first objective of each front, and so
 * on; with more fronts than room, knees of fronts at equal distances. Returns how many. */
size_t front_pick(const double *values, const size_t *group, size_t n, size_t groups, size_t objectives, const bool *maximise,
                  size_t room, struct picked *ret);

#endif
