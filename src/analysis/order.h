/* Stable orders of numbers, by radix sort.
 *
 * A sort takes keys and an order to start from, and leaves the order sorted by key; indices with equal keys stay in the order they came in. So
 * a lexicographic order of columns is one sort a column, the last column first.
 *
 * Cost: linear in n for keys that are spread out; a long run of keys that agree in their leading bits is sorted again by the bits below, at
 * most a handful of times, whatever the keys are.
 */
#ifndef DSE_ANALYSIS_ORDER_H
#define DSE_ANALYSIS_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The most indices a sort takes. */
enum { ORDER_MAX = INT32_MAX };

/* A key that orders as the number does: -0.0 and 0.0 have the same key, infinities are at the ends. Not for NaN. */
static inline uint64_t order_key(double value)
{
    const uint64_t sign = UINT64_C(1) << 63;
    value += 0.0; /* -0.0 becomes 0.0 */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

/* Fill order[0..n) with 0, 1, 2, ... */
void order_identity(uint32_t *order, size_t n);
/* Sort order[0..n), which holds indices into keys, by key. scratch holds 2 * n. */
void order_sort(const uint64_t *keys, uint32_t *order, size_t n, uint64_t *scratch);
/* Dense ranks from a sorted order: rank[i] is 1 for the smallest key, 2 for the next different one, and so on. Returns the largest rank. */
uint32_t order_rank(const uint64_t *keys, const uint32_t *order, size_t n, uint32_t *rank);

#endif
