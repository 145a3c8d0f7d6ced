/* The front of four and more objectives, by divide and conquer.
 *
 * Kung, Luccio, Preparata, "On finding the maxima of a set of vectors", J. ACM 22 (1975); Bentley, "Multidimensional
 * divide-and-conquer", C. ACM 23 (1980). Numbers become ranks, equal points become one, and a point's id is its place in the
 * lexicographic order: so only a point of smaller id can dominate, and it does when it is no worse in objectives 1 to m - 1.
 *
 *     front(S)            halve S by id into A, B;  front(A);  filter(A, B, 1);  front(what is left of B)
 *     filter(A, B, c)     mark the points of B that a point of A dominates in objectives c to m - 1: halve both by objective c;
 *     the halves
 *                         against their own, and the low part of A against the high part of B with c no longer in question
 *     filter(A, B, m - 3) three objectives left: sweep over the first, with a staircase over the other two
 *
 * A set travels as lists of its ids, one sorted by each objective that will be needed; a part of a set is a stable partition of
 * the lists. So nothing is sorted again, medians are at hand, and n points cost O(n log^(m-2) n).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front_internal.h"
#include "analysis/order.h"
#include "analysis/stairs.h"
#include "base/xalloc.h"

enum {
    FRONT_BASE = 96, /* so few points are compared each with each */
    FILTER_BASE = 48,
};

struct divide {
    int m;
    size_t n;       /* ids */
    uint32_t *rank; /* rank[id * m + objective], from 1 */
    uint8_t *dead;  /* by id: dominated */
    /* For the sweep: */
    uint32_t *slot;   /* by id */
    uint32_t *height; /* by slot */
    struct stairs stairs;
};

/* list[0] is sorted by id; list[c], for the objectives from `first` to m - 2, by the rank in c and then by id. */
struct subset {
    size_t n;
    int first;
    uint32_t *list[FRONT_OBJECTIVES_MAX];
};

static struct subset subset_new(const struct divide *d, size_t capacity, int first)
{
    struct subset s = {.first = first};
    const size_t lists = (size_t)(d->m - first); /* with list[0] */
    s.list[0] = scratch_new(lists * capacity, sizeof *s.list[0]);
    for (int c = first; c <= d->m - 2; c++) s.list[c] = s.list[0] + (size_t)(c - first + 1) * capacity;
    return s;
}

static void subset_release(struct subset *s)
{
    free(s->list[0]);
}

/* The live ids below mid, or from mid on. n is how many ids there are on that side. */
static struct subset subset_half(const struct divide *d, const struct subset *whole, uint32_t mid, bool upper, size_t n)
{
    struct subset half = subset_new(d, n + 1, whole->first); /* one more: the last write of a partition may go nowhere */
    for (int c = 0; c <= d->m - 2; c = c ? c + 1 : whole->first) {
        const uint32_t *from = whole->list[c];
        uint32_t *to = half.list[c];
        size_t k = 0;
        for (size_t i = 0; i < whole->n; i++) {
            const uint32_t id = from[i];
            to[k] = id;
            k += ((id >= mid) == upper) & !d->dead[id];
        }
        half.n = k;
    }
    return half;
}

/* Which part of A (ids below mid) and B (the others) a filter goes on with: by the rank in its objective c against the median. */
enum part { PART_BELOW, PART_ABOVE, PART_CROSS /* A up to the median, B from the median on */ };

static bool in_part(enum part part, uint32_t rank, uint32_t median, bool in_b)
{
    switch (part) {
    case PART_BELOW: return rank < median;
    case PART_ABOVE: return rank > median;
    default: return in_b ? rank >= median : rank <= median;
    }
}

static struct subset subset_part(const struct divide *d, const struct subset *whole, uint32_t mid, int c, uint32_t median,
                                 enum part part)
{
    struct subset s = subset_new(d, whole->n, part == PART_CROSS ? c + 1 : c);
    for (int l = 0; l <= d->m - 2; l = l ? l + 1 : s.first) {
        size_t k = 0;
        for (size_t i = 0; i < whole->n; i++) {
            const uint32_t id = whole->list[l][i];
            if (!d->dead[id] && in_part(part, d->rank[(size_t)id * (size_t)d->m + (size_t)c], median, id >= mid))
                s.list[l][k++] = id;
        }
        s.n = k;
    }
    return s;
}

/* The ranks of a few points, in one column for each objective. */
struct columns {
    int32_t rank[FRONT_OBJECTIVES_MAX][FRONT_BASE];
};

/* Is one of the first n points no worse than the point in objectives `first` to m - 1? A difference of ranks is negative where it
 * is worse. */
static inline __attribute__((always_inline)) bool any_dominates(const struct columns *a, size_t n, int first, int m,
                                                                const uint32_t *point)
{
    int32_t all_worse = -1;
    int32_t worse[FRONT_BASE];
    for (size_t i = 0; i < n; i++) worse[i] = (int32_t)point[first] - a->rank[first][i];
    for (int c = first + 1; c < m - 1; c++)
        for (size_t i = 0; i < n; i++) worse[i] |= (int32_t)point[c] - a->rank[c][i];
    for (size_t i = 0; i < n; i++) all_worse &= worse[i] | ((int32_t)point[m - 1] - a->rank[m - 1][i]);
    return all_worse >= 0;
}

static void load_columns(const struct divide *d, const uint32_t *ids, size_t n, int first, struct columns *ret)
{
    for (size_t i = 0; i < n; i++)
        for (int c = first; c < d->m; c++) ret->rank[c][i] = (int32_t)d->rank[(size_t)ids[i] * (size_t)d->m + (size_t)c];
}

static void front_base(struct divide *d, const uint32_t *ids, size_t n)
{
    struct columns a;
    load_columns(d, ids, n, 1, &a);
    for (size_t i = 1; i < n; i++) {
        const uint32_t *point = d->rank + (size_t)ids[i] * (size_t)d->m;
        d->dead[ids[i]] = d->m == 4 ? any_dominates(&a, i, 1, 4, point) : any_dominates(&a, i, 1, d->m, point);
    }
}

/* Compare all pairs of a[0..na) and b[0..nb). */
static void filter_base(struct divide *d, const uint32_t *a, size_t na, const uint32_t *b, size_t nb, int c)
{
    struct columns columns;
    for (size_t from = 0; from < na; from += FRONT_BASE) {
        const size_t count = na - from < FRONT_BASE ? na - from : FRONT_BASE;
        load_columns(d, a + from, count, c, &columns);
        for (size_t i = 0; i < nb; i++)
            if (!d->dead[b[i]]) d->dead[b[i]] = any_dominates(&columns, count, c, d->m, d->rank + (size_t)b[i] * (size_t)d->m);
    }
}

/* Three objectives left: c, in whose order the points come; the next, whose order numbers the slots of the stairs; and the last,
 * their height, which falls from slot to slot. Points of A build the stairs, those of B look. */
static void filter_sweep(struct divide *d, const struct subset *s, uint32_t mid)
{
    const size_t m = (size_t)d->m;
    const uint32_t *by_order = s->list[m - 3], *by_slot = s->list[m - 2];
    uint32_t slots = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t id = by_slot[i];
        slots += id < mid;
        d->slot[id] = slots; /* of a point of B: the last slot of A that is no worse */
    }
    stairs_reset(&d->stairs, (size_t)slots + 2);
    stairs_insert(&d->stairs, 0);
    stairs_insert(&d->stairs, (size_t)slots + 1);
    d->height[0] = UINT32_MAX;
    d->height[slots + 1] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t id = by_order[i];
        if (d->dead[id]) continue;
        const uint32_t slot = d->slot[id], height = d->rank[id * m + m - 1];
        const bool covered = d->height[stairs_at_or_before(&d->stairs, slot)] <= height;
        if (id >= mid) {
            d->dead[id] = covered;
        } else if (!covered) {
            for (size_t next = stairs_after(&d->stairs, slot); d->height[next] >= height; next = stairs_after(&d->stairs, next))
                stairs_remove(&d->stairs, next);
            d->height[slot] = height;
            stairs_insert(&d->stairs, slot);
        }
    }
}

static size_t count_below(const uint32_t *ids, size_t n, uint32_t mid)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ids[middle] < mid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Recursion is as deep as there are halvings and objectives together. */
static void filter(struct divide *d, const struct subset *s, uint32_t mid, int c)
{
    const size_t na = count_below(s->list[0], s->n, mid), nb = s->n - na;
    if (na == 0 || nb == 0) return;
    if (na <= FILTER_BASE || nb <= FILTER_BASE) {
        filter_base(d, s->list[0], na, s->list[0] + na, nb, c);
        return;
    }
    if (c == d->m - 3) {
        filter_sweep(d, s, mid);
        return;
    }
    const uint32_t median = d->rank[(size_t)s->list[c][s->n / 2] * (size_t)d->m + (size_t)c];
    static const enum part parts[] = {PART_CROSS, PART_BELOW, PART_ABOVE};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        struct subset part = subset_part(d, s, mid, c, median, parts[k]);
        filter(d, &part, mid, parts[k] == PART_CROSS ? c + 1 : c);
        subset_release(&part);
    }
}

/* Recursion is log2 of the number of points deep. */
static void front(struct divide *d, const struct subset *s)
{
    if (s->n <= FRONT_BASE) {
        front_base(d, s->list[0], s->n);
        return;
    }
    const uint32_t mid = s->list[0][s->n / 2];
    struct subset low = subset_half(d, s, mid, false, s->n / 2);
    front(d, &low);
    subset_release(&low);
    filter(d, s, mid, 1);
    struct subset high = subset_half(d, s, mid, true, s->n - s->n / 2);
    front(d, &high);
    subset_release(&high);
}

/* Ranks in every objective, and the lexicographic order: sorted by the last objective first. column[j][i] is the rank of point i.
 */
static void rank_columns(const double *values, size_t n, int m, uint32_t *order, uint32_t *const *column)
{
    uint64_t *scratch = scratch_new(2 * n, sizeof *scratch);
    order_identity(order, n);
    for (int j = m - 1; j >= 0; j--)
        order_sort((struct order_column){.values = values + j, .stride = (size_t)m}, order, n, scratch, column[j]);
    free(scratch);
}

/* Give ids in lexicographic order, equal points the same one: id[t] for the t-th of the order. Fills d->n and d->rank. */
static void assign_ids(struct divide *d, const uint32_t *order, size_t n, uint32_t *const *column, uint32_t *id)
{
    const size_t m = (size_t)d->m;
    d->n = 0;
    for (size_t t = 0; t < n; t++) {
        uint32_t *point = d->rank + d->n * m;
        for (size_t j = 0; j < m; j++) point[j] = column[j][order[t]];
        if (d->n == 0 || memcmp(point, point - m, m * sizeof *point) != 0) d->n++;
        id[t] = (uint32_t)(d->n - 1);
    }
}

/* All ids, with the lists sorted by counting. */
static struct subset subset_all(const struct divide *d)
{
    struct subset s = subset_new(d, d->n, 1);
    const size_t m = (size_t)d->m;
    uint32_t *start = scratch_new(d->n + 2, sizeof *start);
    uint32_t ranks = 0;
    s.n = d->n;
    order_identity(s.list[0], d->n);
    for (size_t c = 1; c <= m - 2; c++) {
        memset(start, 0, (d->n + 2) * sizeof *start);
        for (size_t id = 0; id < d->n; id++) start[d->rank[id * m + c] + 1]++;
        for (ranks = 1; ranks <= d->n; ranks++) start[ranks + 1] += start[ranks];
        for (size_t id = 0; id < d->n; id++) s.list[c][start[d->rank[id * m + c]]++] = (uint32_t)id;
    }
    free(start);
    return s;
}

size_t front_mark_divide(const double *values, size_t n, int m, uint8_t *keep)
{
    assert(m >= 4 && m <= FRONT_OBJECTIVES_MAX);
    if (n == 0) return 0;
    uint32_t *column[FRONT_OBJECTIVES_MAX] = {0};
    uint32_t *order = scratch_new(n, sizeof *order), *id = scratch_new(n, sizeof *id);
    column[0] = scratch_new((size_t)m * n, sizeof *column[0]);
    for (int j = 1; j < m; j++) column[j] = column[0] + (size_t)j * n;
    rank_columns(values, n, m, order, column);

    struct divide d = {.m = m, .rank = scratch_new(n * (size_t)m, sizeof *d.rank)};
    assign_ids(&d, order, n, column, id);
    free(column[0]);
    d.dead = xcalloc(d.n, sizeof *d.dead);
    d.slot = scratch_new(d.n, sizeof *d.slot);
    d.height = scratch_new(d.n + 2, sizeof *d.height);
    stairs_init(&d.stairs, d.n + 2);
    struct subset all = subset_all(&d);
    front(&d, &all);
    subset_release(&all);

    size_t kept = 0;
    for (size_t t = 0; t < n; t++) {
        const bool on_front = !d.dead[id[t]];
        keep[order[t]] = on_front;
        kept += on_front;
    }
    stairs_release(&d.stairs);
    free(d.height);
    free(d.slot);
    free(d.dead);
    free(d.rank);
    free(id);
    free(order);
    return kept;
}
