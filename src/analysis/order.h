/* Stable orders of numbers, by radix sort.
 *
 * A sort takes keys and an order to start from, and leaves the order sorted by key; indices with equal keys stay in the order
 * they came in. So a lexicographic order of columns is one sort a column, the last column first.
 *
 * Cost: linear in n for keys that are spread out; a long run of keys that agree in their leading bits is sorted again by the bits
 * below, at most a handful of times, whatever the keys are.
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

/* A column of n numbers to sort by: either values[i * stride] (no NaN), or, when values is NULL, keys[i]. */
struct order_column {
    const double *values;
    size_t stride;
    const uint64_t *keys;
};

static inline uint64_t order_column_key(struct order_column c, size_t i)
{
    return c.values ? order_key(c.values[i * c.stride]) : c.keys[i];
}

/* Fill order[0..n) with 0, 1, 2, ... */
void order_identity(uint32_t *order, size_t n);
/* Sort order[0..n), which holds 0 to n - 1 in any order, by the column. scratch holds 2 * n. When rank is not NULL it gets dense
 * ranks: rank[i] is 1 for the smallest number, 2 for the next different one, and so on. Returns the largest rank (0 without
 * ranks). */
uint32_t order_sort(struct order_column column, uint32_t *order, size_t n, uint64_t *scratch, uint32_t *rank);

/* A column cut into parts by the leading bits of its keys: every number of a part is below every number of the next. To bring the
 * records of many points into the order of their parts before each part is sorted is what keeps a sort of wide records in the
 * cache:
 *
 *     order_parts_init(&parts, column, n);
 *     for each i: records[order_parts_place(&parts, key of i)] = record of i;
 *     for each part p: records[parts.start[p] .. parts.start[p + 1])
 */
enum { ORDER_PARTS_MAX = 1024 };
struct order_parts {
    uint64_t lowest;
    int shift;
    size_t count, largest;               /* parts, and points in the largest */
    uint32_t start[ORDER_PARTS_MAX + 1]; /* of each part */
    uint32_t next[ORDER_PARTS_MAX];      /* place of its next record */
};

void order_parts_init(struct order_parts *parts, struct order_column column, size_t n);

static inline uint32_t order_parts_place(struct order_parts *parts, uint64_t key)
{
    return parts->next[(key - parts->lowest) >> parts->shift]++;
}

/* Memory for n things of this size, like xmalloc; free() frees it. When there is much of it, asks the system for large pages: for
 * arrays that are used once, being handed small ones costs as much time as the work on them. */
void *scratch_new(size_t n, size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));

#endif
