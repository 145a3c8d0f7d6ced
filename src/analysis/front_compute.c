/* The front of an array: prune, then one algorithm for each number of objectives. */
#include <assert.h>
#include <math.h>
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

static size_t mark_brute(const double *values, size_t n, int m, uint8_t *keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool dominated = false;
        for (size_t k = 0; k < n && !dominated; k++) dominated = dominates(values + k * (size_t)m, values + i * (size_t)m, m);
        keep[i] = !dominated;
        kept += !dominated;
    }
    return kept;
}

/* What a sweep reads of a point, side by side. */
struct record_2 {
    double first, second;
    uint64_t point;
};

/* In the order of the first objective the best second one so far is all that matters. Of points with the same first objective
 * only those with the best second one can be on the front. */
static size_t sweep_2(const struct record_2 *records, const uint32_t *order, size_t n, double *best, uint8_t *keep)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        const struct record_2 *p = &records[order[i]];
        double lowest = p->second;
        for (end = i + 1; end < n && records[order[end]].first == p->first; end++) {
            const double second = records[order[end]].second;
            lowest = second < lowest ? second : lowest;
        }
        if (lowest >= *best) continue; /* not when there is none yet, NaN */
        *best = lowest;
        for (size_t t = i; t < end; t++) {
            const bool on_front = records[order[t]].second == lowest;
            keep[records[order[t]].point] = on_front;
            kept += on_front;
        }
    }
    return kept;
}

/* The same as front_compute without pruning, for 2, 3, and any number m >= 4 of objectives. */
static size_t front_mark_2(const double *values, size_t n, uint8_t *keep)
{
    struct order_parts parts;
    struct record_2 *records = scratch_new(n, sizeof *records);
    order_parts_init(&parts, (struct order_column){.values = values, .stride = 2}, n);
    for (size_t i = 0; i < n; i++)
        records[order_parts_place(&parts, order_key(values[2 * i]))] = (struct record_2){values[2 * i], values[2 * i + 1], i};
    uint64_t *scratch = scratch_new(2 * parts.largest, sizeof *scratch);
    uint32_t *order = scratch_new(parts.largest, sizeof *order);
    size_t kept = 0;
    double best = (double)NAN;
    memset(keep, 0, n);
    for (size_t p = 0; p < parts.count; p++) {
        const struct record_2 *part = records + parts.start[p];
        const size_t size = parts.start[p + 1] - parts.start[p];
        order_identity(order, size);
        order_sort((struct order_column){.values = &part->first, .stride = sizeof *part / sizeof(double)}, order, size, scratch,
                   NULL);
        kept += sweep_2(part, order, size, &best, keep);
    }
    free(order);
    free(scratch);
    free(records);
    return kept;
}

/* Two objectives of the points passed, as stairs: height[slot] falls as the slot rises. */
struct staircase {
    struct stairs stairs;
    double *height;
    size_t slots; /* 1 to slots; a stair at each end that always stays */
};

static void staircase_init(struct staircase *s, size_t slots)
{
    stairs_init(&s->stairs, slots + 2);
    s->height = scratch_new(slots + 2, sizeof *s->height);
    s->slots = slots;
    stairs_insert(&s->stairs, 0);
    stairs_insert(&s->stairs, slots + 1);
}

static void staircase_release(struct staircase *s)
{
    free(s->height);
    stairs_release(&s->stairs);
}

/* Add a stair and take away those that it hides. False if another one hides it. */
static bool staircase_add(struct staircase *s, size_t slot, double height)
{
    const size_t before = stairs_at_or_before(&s->stairs, slot);
    if (before > 0 && s->height[before] <= height) return false;
    size_t next = stairs_after(&s->stairs, slot);
    for (; next <= s->slots && s->height[next] >= height; next = stairs_after(&s->stairs, next)) stairs_remove(&s->stairs, next);
    s->height[slot] = height;
    stairs_insert(&s->stairs, slot);
    return true;
}

/* The staircase is of the second objective, by rank, and the third. */
struct record_3 {
    double first, third;
    uint32_t slot, point;
};

static bool same_stair(const struct record_3 *a, const struct record_3 *b)
{
    return a->first == b->first && a->slot == b->slot;
}

/* In the order of the first two objectives keep the staircase of the other two. Of points that share the first two only the
 * lowest can be on the front. */
static size_t sweep_3(const struct record_3 *records, const uint32_t *order, size_t n, struct staircase *staircase, uint8_t *keep)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        const struct record_3 *p = &records[order[i]];
        double lowest = p->third;
        for (end = i + 1; end < n && same_stair(p, &records[order[end]]); end++) {
            const double third = records[order[end]].third;
            lowest = third < lowest ? third : lowest;
        }
        if (!staircase_add(staircase, p->slot, lowest)) continue;
        for (size_t t = i; t < end; t++) {
            const bool on_front = records[order[t]].third == lowest;
            keep[records[order[t]].point] = on_front;
            kept += on_front;
        }
    }
    return kept;
}

/* Sort the records of a part by the first objective; those that share it by the second. */
static void sort_part_3(const struct record_3 *part, uint32_t *order, size_t n, uint64_t *keys, uint64_t *scratch)
{
    for (size_t i = 0; i < n; i++) keys[i] = part[i].slot;
    order_identity(order, n);
    order_sort((struct order_column){.keys = keys}, order, n, scratch, NULL);
    order_sort((struct order_column){.values = &part->first, .stride = sizeof *part / sizeof(double)}, order, n, scratch, NULL);
}

/* The records in the parts of the first objective, each with the rank of the second; returns the largest rank. */
static uint32_t records_3(const double *values, size_t n, struct order_parts *parts, struct record_3 *records)
{
    uint64_t *scratch = scratch_new(2 * n, sizeof *scratch);
    uint32_t *order = scratch_new(n, sizeof *order), *slot = scratch_new(n, sizeof *slot);
    order_identity(order, n);
    const uint32_t slots = order_sort((struct order_column){.values = values + 1, .stride = 3}, order, n, scratch, slot);
    free(order);
    free(scratch);
    order_parts_init(parts, (struct order_column){.values = values, .stride = 3}, n);
    for (size_t i = 0; i < n; i++)
        records[order_parts_place(parts, order_key(values[3 * i]))] =
            (struct record_3){.first = values[3 * i], .third = values[3 * i + 2], .slot = slot[i], .point = (uint32_t)i};
    free(slot);
    return slots;
}

static size_t front_mark_3(const double *values, size_t n, uint8_t *keep)
{
    struct order_parts parts;
    struct staircase staircase;
    struct record_3 *records = scratch_new(n, sizeof *records);
    staircase_init(&staircase, records_3(values, n, &parts, records));
    uint64_t *scratch = scratch_new(3 * parts.largest, sizeof *scratch);
    uint32_t *order = scratch_new(parts.largest, sizeof *order);
    size_t kept = 0;
    memset(keep, 0, n);
    for (size_t p = 0; p < parts.count; p++) {
        const size_t size = parts.start[p + 1] - parts.start[p];
        sort_part_3(records + parts.start[p], order, size, scratch, scratch + size);
        kept += sweep_3(records + parts.start[p], order, size, &staircase, keep);
    }
    free(order);
    free(scratch);
    free(records);
    staircase_release(&staircase);
    return kept;
}

static size_t mark(const double *values, size_t n, int m, uint8_t *keep)
{
    if (n <= BRUTE_MAX) return mark_brute(values, n, m, keep);
    if (m == 2) return front_mark_2(values, n, keep);
    if (m == 3) return front_mark_3(values, n, keep);
    return front_mark_divide(values, n, m, keep);
}

/* Copy the points that pruning left, so that the rest need not look for them among the others. */
static size_t mark_left(const double *values, const uint32_t *index, size_t n, int m, uint8_t *keep)
{
    double *left = scratch_new(n * (size_t)m, sizeof *left);
    uint8_t *keep_left = scratch_new(n, 1);
    for (size_t i = 0; i < n; i++) memcpy(left + i * (size_t)m, values + index[i] * (size_t)m, (size_t)m * sizeof *left);
    const size_t kept = mark(left, n, m, keep_left);
    for (size_t i = 0; i < n; i++) keep[index[i]] = keep_left[i];
    free(keep_left);
    free(left);
    return kept;
}

size_t front_compute(const double *values, size_t n, int m, uint8_t *keep)
{
    assert(m >= 1 && m <= FRONT_OBJECTIVES_MAX && n <= ORDER_MAX);
    size_t left;
    if (n == 0) return 0;
    if (m == 1) return mark_1(values, n, keep);
    uint32_t *index = front_prune(values, n, m, &left);
    if (!index) return mark(values, n, m, keep);
    memset(keep, 0, n);
    const size_t kept = mark_left(values, index, left, m, keep);
    free(index);
    return kept;
}
