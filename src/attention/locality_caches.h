/* LAD's intermediate caches A to F (Eq. 5): sums over positions with the linear coefficients (a, b) of each position's mode, in
 * double.
 *
 *     A = sum a k^T v   (d x d)     B = sum a v   C = sum b v   D = sum a k   (d)     E = sum a   F = sum b
 */
#ifndef DSE_ATTENTION_LOCALITY_CACHES_H
#define DSE_ATTENTION_LOCALITY_CACHES_H

#include <stddef.h>

struct locality_caches {
    size_t d;
    double *a, *b, *c, *dd; /* A row-major; B, C, D */
    double e, f;
    double *value; /* scratch of locality_caches_add */
};

void locality_caches_init(struct locality_caches *c, size_t d);
void locality_caches_release(struct locality_caches *c);
/* Add alpha and beta times the terms of one position: a newcomer with its coefficients (Eq. 5), or a change of mode with the
 * differences (Eq. 6). A rank-1 update of A. */
void locality_caches_add(struct locality_caches *c, const float *k, const float *v, double alpha, double beta);
/* The part of the caches in Eq. 4, for q (with 1/sqrt(d) in it) and the maximum m: numerator q A - m B + C, and the denominator
 * q D - m E + F is returned. */
double locality_caches_read(const struct locality_caches *c, const double *q, double m, double *numerator);

#endif
