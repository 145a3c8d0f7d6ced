#include "search/cover.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* A region that is left to check, and the boxes in it: order[first] to order[first + n - 1]. Its ends stand in `ends` of the
 * stack. */
struct region {
    size_t first, n;
};

struct covering {
    const uint32_t *boxes;
    size_t axes, *order, *other; /* boxes; room to sort them */
    uint32_t *bars;              /* room for an axis */
    struct region *stack;
    size_t n, capacity;
    uint32_t *ends; /* of the regions on the stack: as boxes */
    struct cover *ret;
};

static const uint32_t *box_lo(const struct covering *c, size_t box)
{
    return c->boxes + box * 2 * c->axes;
}

static const uint32_t *box_hi(const struct covering *c, size_t box)
{
    return box_lo(c, box) + c->axes;
}

/* Put a region on the stack; its ends are those of `like` but for one axis. */
static void push(struct covering *c, size_t first, size_t n, const uint32_t *like, size_t axis, uint32_t lo, uint32_t hi)
{
    if (c->n == c->capacity) {
        c->capacity = 2 * c->capacity + 64;
        c->stack = xrealloc(c->stack, c->capacity, sizeof *c->stack);
        c->ends = xrealloc(c->ends, c->capacity * 2 * (c->axes + 1), sizeof *c->ends);
    }
    uint32_t *ends = c->ends + c->n * 2 * c->axes;
    memcpy(ends, like, 2 * c->axes * sizeof *ends);
    if (axis < c->axes) {
        ends[axis] = lo;
        ends[c->axes + axis] = hi;
    }
    c->stack[c->n++] = (struct region){.first = first, .n = n};
}

static void find_hole(struct covering *c, const uint32_t *region, size_t axis, uint32_t lo, uint32_t hi)
{
    c->ret->state = COVER_HOLE;
    memcpy(c->ret->lo, region, c->axes * sizeof *region);
    memcpy(c->ret->hi, region + c->axes, c->axes * sizeof *region);
    if (axis >= c->axes) return;
    c->ret->lo[axis] = lo;
    c->ret->hi[axis] = hi;
}

/* A box by itself must be its region. */
static void check_single(struct covering *c, const uint32_t *region, size_t box)
{
    const uint32_t *lo = box_lo(c, box), *hi = box_hi(c, box);
    for (size_t a = 0; a < c->axes; a++) {
        if (lo[a] > region[a]) return find_hole(c, region, a, region[a], lo[a] - 1);
        if (hi[a] < region[c->axes + a]) return find_hole(c, region, a, hi[a] + 1, region[c->axes + a]);
    }
}

/* ---- cutting ----------------------------------------------------------------------------------------------------------------- */

/* Sort order[first..] of the region by where the boxes begin on the axis: by counting, bars has room for its places. */
static void sort_by_lo(struct covering *c, const struct region *r, size_t axis, uint32_t from, size_t width)
{
    memset(c->bars, 0, (width + 1) * sizeof *c->bars);
    size_t *order = c->order + r->first;
    for (size_t i = 0; i < r->n; i++) c->bars[box_lo(c, order[i])[axis] - from + 1]++;
    for (size_t p = 0; p < width; p++) c->bars[p + 1] += c->bars[p];
    for (size_t i = 0; i < r->n; i++) c->other[c->bars[box_lo(c, order[i])[axis] - from]++] = order[i];
    memcpy(order, c->other, r->n * sizeof *order);
}

/* The same of few boxes on a long axis. */
static void insert_by_lo(struct covering *c, const struct region *r, size_t axis)
{
    size_t *order = c->order + r->first;
    for (size_t i = 1; i < r->n; i++) {
        const size_t box = order[i];
        const uint32_t lo = box_lo(c, box)[axis];
        size_t k = i;
        for (; k > 0 && box_lo(c, order[k - 1])[axis] > lo; k--) order[k] = order[k - 1];
        order[k] = box;
    }
}

/* Cut the region wherever no box reaches across on this axis. False: nowhere. */
static bool cut(struct covering *c, const struct region *r, const uint32_t *region, size_t axis)
{
    enum { FEW = 24 };
    const uint32_t from = region[axis], to = region[c->axes + axis];
    if (from == to) return false;
    if (r->n <= FEW)
        insert_by_lo(c, r, axis);
    else
        sort_by_lo(c, r, axis, from, (size_t)to - from + 1);
    const size_t *order = c->order + r->first;
    size_t begin = 0;
    uint64_t start = from, reach = 0; /* the piece at hand begins there; its boxes end before */
    bool any = false;
    for (size_t i = 0; i <= r->n; i++) {
        const uint64_t lo = i < r->n ? box_lo(c, order[i])[axis] : (uint64_t)to + 1;
        if (i == 0 && lo > from) {
            find_hole(c, region, axis, from, (uint32_t)lo - 1);
            return true;
        }
        if (i > 0 && lo >= reach) {
            if (lo > reach) {
                find_hole(c, region, axis, (uint32_t)reach, (uint32_t)lo - 1);
                return true;
            }
            if (i == r->n && !any) return false;
            push(c, r->first + begin, i - begin, region, axis, (uint32_t)start, (uint32_t)reach - 1);
            any = true;
            begin = i;
            start = lo;
        }
        if (i < r->n && (uint64_t)box_hi(c, order[i])[axis] + 1 > reach) reach = (uint64_t)box_hi(c, order[i])[axis] + 1;
    }
    return any;
}

/* ---- what cannot be cut ------------------------------------------------------------------------------------------------------ */

static bool meet(const struct covering *c, size_t a, size_t b)
{
    for (size_t k = 0; k < c->axes; k++)
        if (box_lo(c, a)[k] > box_hi(c, b)[k] || box_lo(c, b)[k] > box_hi(c, a)[k]) return false;
    return true;
}

static double volume(const uint32_t *lo, const uint32_t *hi, size_t axes)
{
    double v = 1;
    for (size_t k = 0; k < axes; k++) v *= (double)(hi[k] - lo[k]) + 1;
    return v;
}

static int larger_first(const void *a, const void *b, void *covering)
{
    const struct covering *c = covering;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const double v = volume(box_lo(c, x), box_hi(c, x), c->axes), w = volume(box_lo(c, y), box_hi(c, y), c->axes);
    return (v < w) - (v > w);
}

/* Boxes of which each axis has some that reach across every place: two of them meet, or they stand around a hole, or, which
 * halving never makes, around each other. Of many a pair that meets is looked for among the largest. */
static void check_tangle(struct covering *c, const struct region *r, const uint32_t *region)
{
    const uint64_t patience = 200000000;
    size_t *order = c->order + r->first;
    double sum = 0;
    uint64_t pairs = 0;
    qsort_r(order, r->n, sizeof *order, larger_first, c);
    for (size_t i = 0; i < r->n; i++) sum += volume(box_lo(c, order[i]), box_hi(c, order[i]), c->axes);
    for (size_t i = 0; i < r->n && pairs < patience; i++) {
        for (size_t k = i + 1; k < r->n; k++) {
            if (!meet(c, order[i], order[k])) continue;
            c->ret->state = COVER_OVERLAP;
            c->ret->a = order[i] < order[k] ? order[i] : order[k];
            c->ret->b = order[i] < order[k] ? order[k] : order[i];
            return;
        }
        pairs += r->n - i;
    }
    if (pairs >= patience)
        c->ret->state = COVER_TANGLED;
    else if (sum < volume(region, region + c->axes, c->axes))
        find_hole(c, region, c->axes, 0, 0);
}

static void check_region(struct covering *c, const struct region *r, const uint32_t *region)
{
    if (r->n == 0) {
        find_hole(c, region, c->axes, 0, 0);
        return;
    }
    if (r->n == 1) {
        check_single(c, region, c->order[r->first]);
        return;
    }
    for (size_t a = 0; a < c->axes; a++)
        if (cut(c, r, region, a)) return;
    check_tangle(c, r, region);
}

void cover_check(const uint32_t *ends, size_t n, const uint32_t *places, size_t axes, struct cover *ret)
{
    struct covering c = {.boxes = ends, .axes = axes, .ret = ret};
    size_t most = 0;
    uint32_t *all = xcalloc(2 * axes + 1, sizeof *all), *region = xcalloc(2 * axes + 1, sizeof *region);
    for (size_t a = 0; a < axes; a++) {
        all[axes + a] = places[a] - 1;
        if (places[a] > most) most = places[a];
    }
    c.order = xcalloc(n, sizeof *c.order);
    c.other = xcalloc(n, sizeof *c.other);
    c.bars = xcalloc(most + 2, sizeof *c.bars);
    for (size_t i = 0; i < n; i++) c.order[i] = i;
    ret->state = COVER_WHOLE;
    push(&c, 0, n, all, axes, 0, 0);
    while (c.n > 0 && ret->state == COVER_WHOLE) {
        const struct region r = c.stack[--c.n];
        memcpy(region, c.ends + c.n * 2 * axes, 2 * axes * sizeof *region);
        check_region(&c, &r, region);
    }
    free(all);
    free(region);
    free(c.order);
    free(c.other);
    free(c.bars);
    free(c.stack);
    free(c.ends);
}
