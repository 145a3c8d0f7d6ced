/* A random sample of a stream of points: those with the least hashes. It does not depend on the order in which the points come,
 * nor on how often one comes, and two samples of two streams give that of both.
 */
#ifndef DSE_SEARCH_RESERVOIR_H
#define DSE_SEARCH_RESERVOIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reservoir;

/* At most `capacity` points, at least 1. */
struct reservoir *reservoir_new(size_t capacity);
void reservoir_free(struct reservoir *r);
void reservoir_add(struct reservoir *r, uint64_t point);
/* The points, ascending; the array belongs to r and stays until the next call. More points may follow. */
const uint64_t *reservoir_points(struct reservoir *r, size_t *ret_n);

#endif
