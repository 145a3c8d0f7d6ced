/* Inner parts of the hypervolume. Everywhere here: points[i * m + j] < ref[j], all finite. */
#ifndef DSE_ANALYSIS_HYPERVOLUME_INTERNAL_H
#define DSE_ANALYSIS_HYPERVOLUME_INTERNAL_H

#include <stddef.h>

double hypervolume_2(const double *points, size_t n, const double *ref);
double hypervolume_3(const double *points, size_t n, const double *ref);
/* The hypervolume for m >= 4 objectives. */
double hypervolume_sweep(const double *points, size_t n, int m, const double *ref);

#endif
