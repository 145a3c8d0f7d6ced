/* Points of a sample: numbers in [0, 1) for each axis, as functions of the point's index, so that a run can be resumed, sharded and
 * spread over threads.
 *
 *  sobol   A (t, s)-sequence in base 2. Its direction numbers are those of GSL's gsl_qrng_sobol (Bratley and Fox's algorithm 659,
 *          at most 40 axes), read from the sequence itself: in Gray-code order x(2^j) ^ x(2^j - 1) is the j-th direction
 *          number of each axis. Point 0 is the origin, so that the first 2^k points are balanced. At most 2^30 points.
 *  halton  Digits of the index in base p, mirrored at the point; p is a prime for each axis, as in gsl_qrng_halton, whose first
 *          point is number 1 here.
 *  lhs     A Latin hypercube: on each axis one point in each of n slices, at random within.
 *  random  Independent numbers; where the axes have no continuous one among them and fewer than 2^63 points together, no point
 *          comes twice: the index is permuted (sampler_index).
 *
 * Scrambling keeps what makes the sequences even and takes their bias: of Sobol's by hashing each digit with those above it
 * (Owen's scrambling as Laine and Karras do it; Burley, "Practical hash-based Owen scrambling", JCGT 2020), of Halton's by a
 * linear permutation of each digit (Matousek, "On the L2-discrepancy for anchored boxes", 1998).
 */
#ifndef DSE_SPACE_SAMPLER_H
#define DSE_SPACE_SAMPLER_H

#include "config/sweep_file.h"

enum { SAMPLER_SOBOL_AXES_MAX = 40 };

struct sampler;

/* count: points of the grid; UINT64_MAX: too many, or some axis is continuous. Sobol's axes must be at most
 * SAMPLER_SOBOL_AXES_MAX. */
struct sampler *sampler_new(const struct sample_section *s, size_t n_axes, uint64_t count);
void sampler_free(struct sampler *s);

/* Is the sample one of distinct points of the grid? Then sampler_index is the index in the grid of point i of the sample, which
 * is below the grid's count. */
bool sampler_is_distinct(const struct sampler *s);
uint64_t sampler_index(const struct sampler *s, uint64_t i);
/* The number of point i on an axis. Thread-safe. */
double sampler_at(const struct sampler *s, uint64_t i, size_t axis);

#endif
