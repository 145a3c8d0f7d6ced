/* The hypervolume, by a sweep along the last objective. All sums are of positive terms. Everywhere here: points[i * m + j] <
 * ref[j], all finite. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front_internal.h"
#include "analysis/near_tree.h"
#include "analysis/order.h"
#include "analysis/stairs.h"
#include "base/xalloc.h"

enum { SMALL = 48 }; /* points whose stairs are kept in plain arrays */

static uint32_t *order_by_objective(const double *points, size_t n, size_t m, size_t j)
{
    uint64_t *scratch = scratch_new(2 * n, sizeof *scratch);
    uint32_t *order = scratch_new(n, sizeof *order);
    order_identity(order, n);
    order_sort((struct order_column){.values = points + j, .stride = m}, order, n, scratch, NULL);
    free(scratch);
    return order;
}

static double hypervolume_2(const double *points, size_t n, const double *ref)
{
    uint32_t *order = order_by_objective(points, n, 2, 1);
    double area = 0, edge = ref[0];
    for (size_t i = 0; i < n; i++) {
        const double *p = points + 2 * (size_t)order[i];
        if (!(p[0] < edge)) continue;
        area += (edge - p[0]) * (ref[1] - p[1]);
        edge = p[0];
    }
    free(order);
    return area;
}

/* The stairs of the points passed so far, seen along the third objective: slots are places in the order of the second objective
 * y, and x falls from slot to slot. */
struct plane {
    struct stairs stairs;
    double *x, *y; /* by slot */
};

/* Add a point; returns the area that it adds: strip by strip up to the stair that reaches further left than it. */
static double plane_add(struct plane *plane, size_t slot, double x)
{
    const size_t before = stairs_at_or_before(&plane->stairs, slot);
    double right = plane->x[before], low = plane->y[slot], area = 0;
    if (right <= x) return 0;
    for (size_t next = stairs_after(&plane->stairs, slot);; next = stairs_after(&plane->stairs, next)) {
        area += (right - x) * (plane->y[next] - low);
        if (plane->x[next] < x) break;
        right = plane->x[next];
        low = plane->y[next];
        stairs_remove(&plane->stairs, next);
    }
    plane->x[slot] = x;
    stairs_insert(&plane->stairs, slot);
    return area;
}

static double volume_3_large(const double *points, size_t n, const double *ref)
{
    uint32_t *by_y = order_by_objective(points, n, 3, 1), *by_z = order_by_objective(points, n, 3, 2);
    uint32_t *slot = xmalloc(n * sizeof *slot);
    struct plane plane = {.x = xmalloc((n + 2) * sizeof *plane.x), .y = xmalloc((n + 2) * sizeof *plane.y)};
    stairs_init(&plane.stairs, n + 2);
    for (size_t i = 0; i < n; i++) {
        slot[by_y[i]] = (uint32_t)i + 1;
        plane.y[i + 1] = points[3 * (size_t)by_y[i] + 1];
    }
    plane.x[0] = ref[0];
    plane.x[n + 1] = -HUGE_VAL;
    plane.y[n + 1] = ref[1];
    stairs_insert(&plane.stairs, 0);
    stairs_insert(&plane.stairs, n + 1);
    double volume = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = points + 3 * (size_t)by_z[i];
        volume += plane_add(&plane, slot[by_z[i]], p[0]) * (ref[2] - p[2]);
    }
    stairs_release(&plane.stairs);
    free(plane.y);
    free(plane.x);
    free(slot);
    free(by_z);
    free(by_y);
    return volume;
}

/* The stairs of a few points: y rises and x falls from one to the next. */
struct small_plane {
    size_t n;
    double x[SMALL], y[SMALL];
};

static double small_plane_add(struct small_plane *s, double x, double y, const double *ref)
{
    size_t from = 0, to;
    while (from < s->n && s->y[from] <= y) from++;
    double right = from > 0 ? s->x[from - 1] : ref[0], low = y, area = 0;
    if (right <= x) return 0;
    for (to = from; to < s->n && s->x[to] >= x; to++) {
        area += (right - x) * (s->y[to] - low);
        right = s->x[to];
        low = s->y[to];
    }
    area += (right - x) * ((to < s->n ? s->y[to] : ref[1]) - low);
    memmove(s->x + from + 1, s->x + to, (s->n - to) * sizeof *s->x);
    memmove(s->y + from + 1, s->y + to, (s->n - to) * sizeof *s->y);
    s->x[from] = x;
    s->y[from] = y;
    s->n += 1 + from - to;
    return area;
}

static double volume_3_small(const double *points, size_t n, const double *ref)
{
    size_t order[SMALL];
    double z[SMALL], volume = 0;
    struct small_plane plane;
    plane.n = 0;
    for (size_t i = 0; i < n; i++) {
        const double p = points[3 * i + 2];
        size_t k = i;
        for (; k > 0 && z[k - 1] > p; k--) {
            z[k] = z[k - 1];
            order[k] = order[k - 1];
        }
        z[k] = p;
        order[k] = 3 * i;
    }
    for (size_t i = 0; i < n; i++) volume += small_plane_add(&plane, points[order[i]], points[order[i] + 1], ref) * (ref[2] - z[i]);
    return volume;
}

static double hypervolume_3(const double *points, size_t n, const double *ref)
{
    return n <= SMALL ? volume_3_small(points, n, ref) : volume_3_large(points, n, ref);
}

static double hypervolume_1(const double *points, size_t n, const double *ref)
{
    double lowest = ref[0];
    for (size_t i = 0; i < n; i++) lowest = points[i] < lowest ? points[i] : lowest;
    return ref[0] - lowest;
}

/* Copy the points that are better than ref in every objective. Returns how many; *ret_infinite: the box of one of them has no end.
 */
static size_t copy_inside(const double *values, size_t n, size_t m, const double *ref, double *points, bool *ret_infinite)
{
    size_t inside = 0;
    *ret_infinite = false;
    for (size_t i = 0; i < n; i++) {
        bool better = true, infinite = false;
        for (size_t j = 0; j < m; j++) {
            better &= values[i * m + j] < ref[j];
            infinite |= isinf(ref[j] - values[i * m + j]);
        }
        if (!better) continue;
        *ret_infinite |= infinite;
        memcpy(points + inside * m, values + i * m, m * sizeof *points);
        inside++;
    }
    return inside;
}

/* Throw away what is quickly seen to be dominated. The sweep sees to the rest. */
static size_t prune(double *points, size_t n, size_t m)
{
    uint32_t *index = front_prune(points, n, (int)m, &n);
    for (size_t i = 0; index && i < n; i++) memmove(points + i * m, points + index[i] * m, m * sizeof *points);
    free(index);
    return n;
}

/* The hypervolume of four and more objectives: a sweep along the last one. A point adds, for all the rest of the sweep, what it
 * alone dominates in the other objectives among the points passed so far.
 *
 * What a point p alone dominates is a box from p to the nearest points that stand beside it in all objectives but one ("walls"),
 * less the hypervolume, in one objective fewer, of the passed points that reach into the box, moved up to its sides. While,
 * Bradstreet, Barone, "A fast way of calculating exact hypervolumes", IEEE Trans. Evol. Comp. 16 (2012), and Guerreiro, Fonseca,
 * "Computing and updating hypervolume contributions in up to four dimensions", IEEE Trans. Evol. Comp. 22 (2018), give the two
 * ideas. The passed points are in a tree that finds those neighbours (near_tree.h).
 */

/* One sweep runs in each number of objectives at a time, so each has its own memory. */
struct level {
    struct near_tree passed;
    uint32_t *order, *near;
    uint64_t *scratch;
    double *moved; /* the points of the sweep below */
    size_t capacity;
};

struct sweep {
    struct level level[FRONT_OBJECTIVES_MAX + 1]; /* by m */
};

static void level_reserve(struct level *l, int m, size_t n)
{
    if (n <= l->capacity) return;
    l->capacity = n + n / 2;
    l->order = xrealloc(l->order, l->capacity, sizeof *l->order);
    l->near = xrealloc(l->near, l->capacity, sizeof *l->near);
    l->scratch = xrealloc(l->scratch, 2 * l->capacity, sizeof *l->scratch);
    l->moved = xrealloc(l->moved, l->capacity * (size_t)(m - 1), sizeof *l->moved);
}

static void level_release(struct level *l)
{
    near_tree_release(&l->passed);
    free(l->moved);
    free(l->scratch);
    free(l->near);
    free(l->order);
}

/* Write the neighbours that do reach into the box of p, moved up to its sides, and forget those that p dominates. */
static size_t move_up(struct level *l, const struct neighbours *near, const double *points, size_t m, const double *p)
{
    const size_t k = m - 1;
    size_t n = 0;
    for (size_t i = 0; i < near->n; i++) {
        const double *q = points + near->points[i] * m;
        bool outside = false, dominated = true;
        for (size_t j = 0; j < k; j++) {
            outside |= q[j] >= near->box[j];
            dominated &= q[j] >= p[j];
            l->moved[n * k + j] = q[j] > p[j] ? q[j] : p[j];
        }
        n += !outside;
        if (dominated) near_tree_remove(&l->passed, near->points[i]);
    }
    return n;
}

static double volume(struct sweep *s, const double *points, size_t n, int m, const double *ref);

/* What a point adds to the hypervolume of the passed ones in the first m - 1 objectives. Afterwards it is one of them. */
static double pass_point(struct sweep *s, int m, const double *points, size_t point, const double *ref)
{
    struct level *l = &s->level[m];
    const double *p = points + point * (size_t)m;
    struct neighbours near;
    near.points = l->near;
    near_tree_find(&l->passed, points, (size_t)m, point, ref, &near);
    if (near.covered) return 0;
    const size_t n = move_up(l, &near, points, (size_t)m, p);
    near_tree_insert(&l->passed, point);
    double added = 1;
    for (int j = 0; j < m - 1; j++) added *= near.box[j] - p[j];
    return n ? added - volume(s, l->moved, n, m - 1, near.box) : added;
}

/* Recursion is as deep as there are objectives. */
static double volume(struct sweep *s, const double *points, size_t n, int m, const double *ref)
{
    if (m == 3) return hypervolume_3(points, n, ref);
    struct level *l = &s->level[m];
    level_reserve(l, m, n);
    near_tree_reset(&l->passed, points, n, (size_t)m, m - 1);
    order_identity(l->order, n);
    order_sort((struct order_column){.values = points + m - 1, .stride = (size_t)m}, l->order, n, l->scratch, NULL);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pass_point(s, m, points, l->order[i], ref) * (ref[m - 1] - points[l->order[i] * (size_t)m + (size_t)m - 1]);
    return sum;
}

static double hypervolume_sweep(const double *points, size_t n, int m, const double *ref)
{
    assert(m >= 4 && m <= FRONT_OBJECTIVES_MAX);
    struct sweep *s = xcalloc(1, sizeof *s);
    const double sum = volume(s, points, n, m, ref);
    for (int k = 4; k <= m; k++) level_release(&s->level[k]);
    free(s);
    return sum;
}

double hypervolume(const double *values, size_t n, int m, const double *ref)
{
    assert(m >= 1 && m <= FRONT_OBJECTIVES_MAX);
    bool infinite;
    double *points = xmalloc(n * (size_t)m * sizeof *points), volume = 0;
    n = copy_inside(values, n, (size_t)m, ref, points, &infinite);
    if (infinite)
        volume = HUGE_VAL;
    else if (n == 0)
        volume = 0;
    else if (m == 1)
        volume = hypervolume_1(points, n, ref);
    else if (m == 2)
        volume = hypervolume_2(points, n, ref);
    else if (m == 3)
        volume = hypervolume_3(points, n, ref);
    else
        volume = hypervolume_sweep(points, prune(points, n, (size_t)m), m, ref);
    free(points);
    return volume;
}
