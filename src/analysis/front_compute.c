/* The front of an array: prune, then one algorithm for each number of objectives. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front_internal.h"
#include "analysis/order.h"
#include "analysis/stairs.h"
#include "base/xalloc.h"

enum { BRUTE_MAX = 24 }; /* so few points are compared each with each */

static size_t mark_1(const double *values, size_t n, uint8_t *keep)
{
    double lowest = values[0];
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) lowest = values[i] < lowest ? values[i] : lowest;
    for (size_t i = 0; i < n; i++) {
        keep[i] = values[i] == lowest;
        kept += keep[i];
    }
    return kept;
}

static bool dominates(const double *a, const double *b, int m)
{
    bool worse = false, better = false;
    for (int j = 0; j < m; j++) {
        worse |= a[j] > b[j];
        better |= a[j] < b[j];
    }
    return better && !worse;
}

static size_t mark_brute(const double *values, const uint32_t *index, size_t n, int m, uint8_t *keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool dominated = false;
        for (size_t k = 0; k < n && !dominated; k++)
            dominated = dominates(values + (size_t)index[k] * (size_t)m, values + (size_t)index[i] * (size_t)m, m);
        keep[index[i]] = !dominated;
        kept += !dominated;
    }
    return kept;
}

/* In the order of the first objective the best second one so far is all that matters. Of points with the same first objective only those with
 * the best second one can be on the front. */
size_t front_mark_2(const double *values, const uint32_t *index, size_t n, uint8_t *keep)
{
    uint64_t *keys = xmalloc(n * sizeof *keys), *scratch = xmalloc(2 * n * sizeof *scratch);
    uint32_t *order = xmalloc(n * sizeof *order);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) keys[i] = order_key(values[2 * (size_t)index[i]]);
    order_identity(order, n);
    order_sort(keys, order, n, scratch);
    double best = 0; /* once there is one */
    for (size_t i = 0, end; i < n; i = end) {
        const uint64_t first = keys[order[i]];
        double lowest = values[2 * (size_t)index[order[i]] + 1];
        for (end = i + 1; end < n && keys[order[end]] == first; end++) {
            const double second = values[2 * (size_t)index[order[end]] + 1];
            lowest = second < lowest ? second : lowest;
        }
        if (i > 0 && !(lowest < best)) continue;
        best = lowest;
        for (size_t t = i; t < end; t++) {
            const uint32_t point = index[order[t]];
            const bool on_front = values[2 * (size_t)point + 1] == lowest;
            keep[point] = on_front;
            kept += on_front;
        }
    }
    free(order);
    free(scratch);
    free(keys);
    return kept;
}

/* What the sweep over three objectives reads of a point, side by side: one cache line a point in an order that jumps. */
struct point_3 {
    uint64_t first; /* key of the first objective */
    double third;
    uint32_t slot; /* rank of the second objective */
};

/* In the order of the first two objectives keep the staircase of the other two: third[slot] falls as the slot rises, and a point is dominated if
 * the stair at or before its slot is no higher than it. Of points that share the first two objectives only the lowest can be on the front. */
static size_t sweep_3(const struct point_3 *points, const uint32_t *order, size_t n, uint32_t slots, const uint32_t *index,
                      uint8_t *keep)
{
    struct stairs stairs;
    stairs_init(&stairs, (size_t)slots + 2); /* slots from 1, and a stair at each end */
    double *third = xmalloc(((size_t)slots + 2) * sizeof *third);
    stairs_insert(&stairs, 0);
    stairs_insert(&stairs, (size_t)slots + 1);
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        const struct point_3 p = points[order[i]];
        double lowest = p.third;
        for (end = i + 1; end < n; end++) {
            const struct point_3 *q = &points[order[end]];
            if (q->first != p.first || q->slot != p.slot) break;
            lowest = q->third < lowest ? q->third : lowest;
        }
        const size_t before = stairs_at_or_before(&stairs, p.slot);
        if (before > 0 && third[before] <= lowest) continue;
        for (size_t t = i; t < end; t++) {
            const bool on_front = points[order[t]].third == lowest;
            keep[index[order[t]]] = on_front;
            kept += on_front;
        }
        for (size_t next = stairs_after(&stairs, p.slot); next <= slots && third[next] >= lowest;
             next = stairs_after(&stairs, next))
            stairs_remove(&stairs, next);
        third[p.slot] = lowest;
        stairs_insert(&stairs, p.slot);
    }
    free(third);
    stairs_release(&stairs);
    return kept;
}

size_t front_mark_3(const double *values, const uint32_t *index, size_t n, uint8_t *keep)
{
    uint64_t *keys = xmalloc(n * sizeof *keys), *scratch = xmalloc(2 * n * sizeof *scratch);
    uint32_t *order = xmalloc(n * sizeof *order), *rank = xmalloc(n * sizeof *rank);
    struct point_3 *points = xmalloc(n * sizeof *points);
    for (size_t i = 0; i < n; i++) keys[i] = order_key(values[3 * (size_t)index[i] + 1]);
    order_identity(order, n);
    order_sort(keys, order, n, scratch);
    const uint32_t slots = order_rank(keys, order, n, rank);
    for (size_t i = 0; i < n; i++) {
        const double *v = values + 3 * (size_t)index[i];
        keys[i] = order_key(v[0]);
        points[i] = (struct point_3){.first = keys[i], .third = v[2], .slot = rank[i]};
    }
    order_sort(keys, order, n, scratch); /* stable: now by the first two */
    free(rank);
    free(scratch);
    free(keys);
    const size_t kept = sweep_3(points, order, n, slots, index, keep);
    free(points);
    free(order);
    return kept;
}

size_t front_compute(const double *values, size_t n, int m, uint8_t *keep)
{
    assert(m >= 1 && m <= FRONT_OBJECTIVES_MAX && n <= ORDER_MAX);
    size_t left, kept;
    if (n == 0) return 0;
    if (m == 1) return mark_1(values, n, keep);
    memset(keep, 0, n);
    uint32_t *index = front_prune(values, n, m, &left);
    if (left <= BRUTE_MAX)
        kept = mark_brute(values, index, left, m, keep);
    else if (m == 2)
        kept = front_mark_2(values, index, left, keep);
    else if (m == 3)
        kept = front_mark_3(values, index, left, keep);
    else
        kept = front_mark_divide(values, index, left, m, keep);
    free(index);
    return kept;
}
