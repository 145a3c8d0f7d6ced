/* The hypervolume of four and more objectives: a sweep along the last one. A point adds, for all the rest of the sweep, what it alone dominates in the
 * other objectives among the points passed so far.
 *
 * What a point p alone dominates is a box from p to the nearest points that stand beside it in all objectives but one ("walls"), less the
 * hypervolume, in one objective fewer, of the passed points that reach into the box, moved up to its sides. While, Bradstreet, Barone, "A fast
 * way of calculating exact hypervolumes", IEEE Trans. Evol. Comp. 16 (2012), and Guerreiro, Fonseca, "Computing and updating hypervolume
 * contributions in up to four dimensions", IEEE Trans. Evol. Comp. 22 (2018), give the two ideas. O(n^2) in four objectives on fronts as they come,
 * with a small factor: the boxes shrink as points grow dense.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front.h"
#include "analysis/hypervolume_internal.h"
#include "analysis/order.h"
#include "base/xalloc.h"

/* The points that a sweep in m objectives has passed and that still matter: a column for each of the first m - 1 objectives. */
struct passed {
    int m;
    size_t n;
    double *column[FRONT_OBJECTIVES_MAX];
};

/* One sweep runs in each number of objectives at a time, so each has its own memory. */
struct level {
    struct passed passed;
    uint32_t *inside; /* places in passed of the points that reach into the box */
    uint32_t *order;
    uint64_t *scratch;
    double *moved; /* those points, moved up: the points of the sweep below */
    size_t capacity;
};

struct sweep {
    struct level level[FRONT_OBJECTIVES_MAX + 1]; /* by m */
};

static void level_reserve(struct level *l, int m, size_t n)
{
    if (n <= l->capacity) return;
    l->capacity = 2 * n;
    l->inside = xrealloc(l->inside, l->capacity, sizeof *l->inside);
    l->order = xrealloc(l->order, l->capacity, sizeof *l->order);
    l->scratch = xrealloc(l->scratch, 2 * l->capacity, sizeof *l->scratch);
    l->moved = xrealloc(l->moved, l->capacity * (size_t)(m - 1), sizeof *l->moved);
    for (int j = 0; j < m - 1; j++) l->passed.column[j] = xrealloc(l->passed.column[j], l->capacity, sizeof *l->passed.column[j]);
}

static void level_release(struct level *l)
{
    for (int j = 0; j < FRONT_OBJECTIVES_MAX; j++) free(l->passed.column[j]);
    free(l->moved);
    free(l->scratch);
    free(l->order);
    free(l->inside);
}

/* Look at the passed points, the latest first, in the k objectives in question. Lowers box[] to the walls around p, writes to inside[] the
 * places of the points that reach into the box otherwise (and some that did before it shrank). Returns their number, or SIZE_MAX if a point
 * leaves nothing to p. */
static inline __attribute__((always_inline)) size_t find_neighbours(const struct passed *passed, int k, const double *p,
                                                                    double *box, uint32_t *inside)
{
    size_t found = 0;
    for (size_t i = passed->n; i-- > 0;) {
        bool outside = false;
        for (int j = 0; j < k; j++) outside |= passed->column[j][i] >= box[j];
        if (outside) continue;
        int worse = 0, which = 0;
        for (int j = 0; j < k; j++) {
            const bool is_worse = passed->column[j][i] > p[j];
            worse += is_worse;
            which = is_worse ? j : which;
        }
        if (worse == 0) return SIZE_MAX;
        if (worse == 1)
            box[which] = passed->column[which][i];
        else
            inside[found++] = (uint32_t)i;
    }
    return found;
}

/* Write the points of inside[] that do reach into the box, moved up to its sides, and take those that p dominates out of `passed`. inside[] is
 * descending, so the last point can take the place of one that goes. */
static size_t move_up(struct passed *passed, const uint32_t *inside, size_t found, const double *p, const double *box,
                      double *moved)
{
    const int k = passed->m - 1;
    size_t n = 0;
    for (size_t f = 0; f < found; f++) {
        const size_t i = inside[f];
        bool outside = false, dominated = true;
        for (int j = 0; j < k; j++) {
            const double v = passed->column[j][i];
            outside |= v >= box[j];
            dominated &= v >= p[j];
            moved[n * (size_t)k + (size_t)j] = v > p[j] ? v : p[j];
        }
        n += !outside;
        if (!dominated) continue;
        passed->n--;
        for (int j = 0; j < k; j++) passed->column[j][i] = passed->column[j][passed->n];
    }
    return n;
}

static double volume(struct sweep *s, const double *points, size_t n, int m, const double *ref);

/* What p adds to the hypervolume of the passed points in the first m - 1 objectives. Afterwards p is one of them. */
static double pass_point(struct sweep *s, int m, const double *p, const double *ref)
{
    struct level *l = &s->level[m];
    const int k = m - 1;
    double box[FRONT_OBJECTIVES_MAX], added = 1;
    memcpy(box, ref, (size_t)k * sizeof *box);
    const size_t found =
        k == 3 ? find_neighbours(&l->passed, 3, p, box, l->inside) : find_neighbours(&l->passed, k, p, box, l->inside);
    if (found == SIZE_MAX) return 0;
    const size_t n = move_up(&l->passed, l->inside, found, p, box, l->moved);
    for (int j = 0; j < k; j++) {
        added *= box[j] - p[j];
        l->passed.column[j][l->passed.n] = p[j];
    }
    l->passed.n++;
    return n ? added - volume(s, l->moved, n, k, box) : added;
}

/* Depth: one level an objective. */
static double volume(struct sweep *s, const double *points, size_t n, int m, const double *ref)
{
    if (m == 3) return hypervolume_3(points, n, ref);
    struct level *l = &s->level[m];
    level_reserve(l, m, n);
    order_identity(l->order, n);
    order_sort((struct order_column){.values = points + m - 1, .stride = (size_t)m}, l->order, n, l->scratch, NULL);
    l->passed.m = m;
    l->passed.n = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = points + l->order[i] * (size_t)m;
        sum += pass_point(s, m, p, ref) * (ref[m - 1] - p[m - 1]);
    }
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
