/* Inner parts of the Pareto front, shared by the files of this room and by its tests. */
#ifndef DSE_ANALYSIS_FRONT_INTERNAL_H
#define DSE_ANALYSIS_FRONT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/front.h"

/* A front whose buffer may hold buffer_points, or twice the largest front so far, before its points are compared. front_new uses
 * FRONT_BUFFER_POINTS. */
enum { FRONT_BUFFER_POINTS = 1 << 20 };
struct front *front_new_sized(int m, const bool *maximise, size_t buffer_points);

/* A few points of a set that between them dominate most of it. */
enum { PIVOTS_MAX = 12 };
struct pivots {
    int n;
    double values[PIVOTS_MAX][FRONT_OBJECTIVES_MAX];
};

/* Choose pivots from a sample of the points values[index[i] * m], i < n (index NULL: the first n points): the fewest that
 * dominate what any can. None when they would dominate too little to be worth asking. The same points give the same pivots. */
void pivots_choose(struct pivots *p, const double *values, const uint32_t *index, size_t n, int m);
/* Does a pivot dominate the point? */
bool pivots_dominate(const struct pivots *p, const double *point, int m);

/* Throw points away that cannot be on the front, quickly and not all of them. Returns the indices of the others, ascending, which
 * the caller frees; or NULL when no point went. */
uint32_t *front_prune(const double *values, size_t n, int m, size_t *ret_n);

size_t front_mark_divide(const double *values, size_t n, int m, uint8_t *keep);

#endif
