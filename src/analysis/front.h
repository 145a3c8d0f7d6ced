/* Pareto fronts, exactly, of any number of points in bounded memory.
 *
 * A point dominates another when it is no worse in every objective and better in at least one. Points that are equal in all
 * objectives do not dominate each other: all of them are on the front or none. A point with NaN or infinity in any objective is
 * not considered.
 *
 *     struct front *f = front_new(m, maximise);
 *     front_add(f, id, values);            any number of times
 *     n = front_finish(f, &ids, &values);
 *     front_free(f);
 */
#ifndef DSE_ANALYSIS_FRONT_H
#define DSE_ANALYSIS_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRONT_OBJECTIVES_MAX = 16 };

struct front;

/* m objectives (1 to FRONT_OBJECTIVES_MAX); maximise[i]: larger is better in objective i. */
struct front *front_new(int m, const bool *maximise);
void front_free(struct front *f);
/* Add a point. Points that cannot be on the front are thrown away from time to time, most of them at the door: memory stays
 * within a buffer of 2^20 points, or of twice the largest front so far if that is more. Cost: amortised O(log n) a point for m <=
 * 3. */
void front_add(struct front *f, uint64_t id, const double *values);
/* The front, ids ascending (points with the same id in the order they were added); values[i * m + j] as they were added. The
 * arrays belong to f and stay until the next front_add, front_finish or front_free; more points may follow. Returns how many. */
size_t front_finish(struct front *f, const uint64_t **ret_ids, const double **ret_values);

/* The bare computation: values[i * m + j], all minimised, no NaN, at most 2^31 - 1 points. Infinities are numbers like others,
 * -0.0 is 0.0. Writes keep[i] = 1 for points on the front, 0 otherwise; returns how many. O(n log n) for m <= 3; divide and
 * conquer, O(n log^(m-2) n), above. Memory: some tens of bytes a point, more for many objectives. */
size_t front_compute(const double *values, size_t n, int m, uint8_t *keep);

/* Hypervolume dominated by points (all minimised) up to the reference point ref[m]. Points not better than ref in every
 * objective, and those with a NaN, add nothing; the points need not be a front. Exact but for rounding; infinite when a point's
 * box is. O(n log n) for m <= 3; above by a sweep along the last objective: thousands of points for m = 4 and 5, hundreds for m =
 * 7. */
double hypervolume(const double *values, size_t n, int m, const double *ref);

#endif
