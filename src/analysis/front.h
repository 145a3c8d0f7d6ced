/* Pareto fronts, exactly, of any number of points in bounded memory.
 *
 * A point dominates another when it is no worse in every objective and better in at least one. Points that are equal in all objectives do not
 * dominate each other: all of them are on the front or none. NaN in any objective: the point is not considered.
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
/* Add a point. Points that cannot be on the front are thrown away from time to time: memory stays within a buffer of about a million points
 * plus twice the front. Cost: amortised O(log n) a point for m <= 3. */
void front_add(struct front *f, uint64_t id, const double *values);
/* The front, ids ascending; values[i * m + j] as they were added. Arrays belong to f. Returns how many. */
size_t front_finish(struct front *f, const uint64_t **ret_ids, const double **ret_values);

/* The bare computation: values[i * m + j], all minimised, no NaN. Writes keep[i] = 1 for points on the front, 0 otherwise; returns how
 * many. O(n log n) for m <= 3; divide and conquer, O(n log^(m-2) n), above. */
size_t front_compute(const double *values, size_t n, int m, uint8_t *keep);

/* Hypervolume dominated by points (all minimised) up to the reference point ref[m]. Points not better than ref in every objective add
 * nothing. Exact. O(n log n) for m <= 3; m = 4 and above by a dimension sweep / WFG. */
double hypervolume(const double *values, size_t n, int m, const double *ref);

#endif
