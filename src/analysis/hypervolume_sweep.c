/* The hypervolume of four and more objectives: a sweep along the last one. A point adds, for all the rest of the sweep, what it
 * alone dominates in the other objectives among the points passed so far.
 *
 * What a point p alone dominates is a box from p to the nearest points that stand beside it in all objectives but one ("walls"),
 * less the hypervolume, in one objective fewer, of the passed points that reach into the box, moved up to its sides. While,
 * Bradstreet, Barone, "A fast way of calculating exact hypervolumes", IEEE Trans. Evol. Comp. 16 (2012), and Guerreiro, Fonseca,
 * "Computing and updating hypervolume contributions in up to four dimensions", IEEE Trans. Evol. Comp. 22 (2018), give the two
 * ideas. The passed points are in a tree that finds those neighbours (near_tree.h).
 */
#include <assert.h>
#include <stdlib.h>

#include "analysis/hypervolume_internal.h"
#include "analysis/near_tree.h"
#include "analysis/order.h"
#include "base/xalloc.h"

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

double hypervolume_sweep(const double *points, size_t n, int m, const double *ref)
{
    assert(m >= 4 && m <= FRONT_OBJECTIVES_MAX);
    struct sweep *s = xcalloc(1, sizeof *s);
    const double sum = volume(s, points, n, m, ref);
    for (int k = 4; k <= m; k++) level_release(&s->level[k]);
    free(s);
    return sum;
}
