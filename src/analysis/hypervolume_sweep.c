/* The hypervolume of four and more objectives: a sweep along the last one. A point adds, for all the rest of the sweep, what it alone dominates in the
 * other objectives among the points passed so far.
 *
 * What a point p alone dominates is a box from p to the nearest points that stand beside it in all objectives but one ("walls"), less the
 * hypervolume, in one objective fewer, of the passed points that reach into the box, moved up to its sides. While, Bradstreet, Barone, "A fast
 * way of calculating exact hypervolumes", IEEE Trans. Evol. Comp. 16 (2012), and Guerreiro, Fonseca, "Computing and updating hypervolume
 * contributions in up to four dimensions", IEEE Trans. Evol. Comp. 22 (2018), give the two ideas. The passed points are in a tree, near ones near
 * each other, so that a point looks only at its neighbours, the nearest first.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front.h"
#include "analysis/hypervolume_internal.h"
#include "analysis/order.h"
#include "base/xalloc.h"

enum {
    FAN_BITS = 3,
    FAN = 1 << FAN_BITS,
    FAN_MASK = (1 << FAN) - 1,
    TREE_LEVELS_MAX = (31 + FAN_BITS - 1) / FAN_BITS,
    PILE = 8 * FAN,    /* so few points need no places near each other */
    PLACE_BITS_MAX = 8 /* of an objective, in the order of places */
};

/* The points that a sweep has passed and that still matter, in k objectives. Each point of the sweep has its place from the start; a place is empty
 * (infinity) until its point has passed. Blocks of FAN places lie under one place of the next level, which holds the least of them in each
 * objective:  level[l][(block * k + objective) * FAN + place in the block]. */
struct tree {
    int k, levels;
    double *memory, *level[TREE_LEVELS_MAX];
};

static size_t tree_size(size_t n, int k)
{
    size_t size = 0;
    do {
        n = (n + FAN - 1) / FAN;
        size += n;
    } while (n > 1);
    return size * FAN * (size_t)k;
}

/* An empty tree of n places in t->memory, which holds tree_size. */
static void tree_reset(struct tree *t, size_t n, int k)
{
    double *next = t->memory;
    t->k = k;
    t->levels = 0;
    do {
        n = (n + FAN - 1) / FAN;
        t->level[t->levels++] = next;
        next += n * FAN * (size_t)k;
    } while (n > 1);
    for (double *v = t->memory; v < next; v++) *v = INFINITY;
}

/* The first objective of a place; the others follow FAN apart. */
static inline __attribute__((always_inline)) double *tree_at(const struct tree *t, int k, int level, size_t place)
{
    return t->level[level] + place / FAN * FAN * (size_t)k + place % FAN;
}

static void tree_insert(struct tree *t, size_t place, const double *p)
{
    bool changed = true;
    for (int l = 0; l < t->levels && changed; l++, place /= FAN) {
        double *at = tree_at(t, t->k, l, place);
        changed = false;
        for (int j = 0; j < t->k; j++) {
            changed |= p[j] < at[j * FAN];
            at[j * FAN] = p[j] < at[j * FAN] ? p[j] : at[j * FAN];
        }
    }
}

static void tree_remove(struct tree *t, size_t place)
{
    double *at = tree_at(t, t->k, 0, place);
    bool changed = true;
    for (int j = 0; j < t->k; j++) at[j * FAN] = INFINITY;
    for (int l = 1; l < t->levels && changed; l++) {
        const double *below = tree_at(t, t->k, l - 1, place / FAN * FAN);
        place /= FAN;
        at = tree_at(t, t->k, l, place);
        changed = false;
        for (int j = 0; j < t->k; j++) {
            double least = INFINITY;
            for (int c = 0; c < FAN; c++) least = below[j * FAN + c] < least ? below[j * FAN + c] : least;
            changed |= least != at[j * FAN];
            at[j * FAN] = least;
        }
    }
}

/* Which places of a block are below the box in every objective, a bit a place. */
static inline __attribute__((always_inline)) unsigned block_inside(const double *block, int k, const double *box)
{
    int64_t inside[FAN];
    int64_t mask = 0;
    for (int c = 0; c < FAN; c++) inside[c] = -(int64_t)(block[c] < box[0]);
    for (int j = 1; j < k; j++)
        for (int c = 0; c < FAN; c++) inside[c] &= -(int64_t)(block[j * FAN + c] < box[j]);
    for (int c = 0; c < FAN; c++) mask |= inside[c] & (int64_t)1 << c;
    return (unsigned)mask;
}

/* The neighbours of a point: the box to its walls, and the places of the points that reach into it (and some that did before it shrank). */
struct neighbours {
    double box[FRONT_OBJECTIVES_MAX];
    uint32_t *place;
    size_t n;
    bool covered; /* a point leaves nothing */
};

/* A passed point as a neighbour of p. */
static inline __attribute__((always_inline)) void meet(struct neighbours *near, const double *at, int k, const double *p,
                                                       size_t place)
{
    int worse = 0, which = 0;
    for (int j = 0; j < k; j++) {
        if (at[j * FAN] >= near->box[j]) return;
        const bool is_worse = at[j * FAN] > p[j];
        worse += is_worse;
        which = is_worse ? j : which;
    }
    if (worse == 0)
        near->covered = true;
    else if (worse == 1)
        near->box[which] = at[which * FAN];
    else
        near->place[near->n++] = (uint32_t)place;
}

/* All neighbours under the places of a block that `which` has a bit for. */
static inline __attribute__((always_inline)) void meet_block(const struct tree *t, int k, int level, size_t block, unsigned which,
                                                             const double *p, struct neighbours *near)
{
    struct {
        int level;
        uint32_t block;
    } stack[TREE_LEVELS_MAX * FAN];
    size_t depth = 0;
    for (;;) {
        const double *at = tree_at(t, k, level, block * FAN);
        which &= block_inside(at, k, near->box);
        for (; which; which &= which - 1) {
            const unsigned c = (unsigned)__builtin_ctz(which);
            if (level == 0) {
                meet(near, at + c, k, p, block * FAN + c);
            } else {
                stack[depth].level = level - 1;
                stack[depth++].block = (uint32_t)(block * FAN + c);
            }
        }
        if (depth == 0 || near->covered) return;
        depth--;
        level = stack[depth].level;
        block = stack[depth].block;
        which = FAN_MASK;
    }
}

/* From the place of p upwards: the blocks beside it, then those beside its block, and so on. */
static inline __attribute__((always_inline)) void meet_all(const struct tree *t, int k, size_t place, const double *p,
                                                           struct neighbours *near)
{
    near->n = 0;
    near->covered = false;
    for (int l = 0; l < t->levels && !near->covered; l++, place /= FAN)
        meet_block(t, k, l, place / FAN, FAN_MASK & ~(1u << place % FAN), p, near);
}

/* Write the neighbours that do reach into the box, moved up to its sides, and take those that p dominates out of the tree. */
static inline __attribute__((always_inline)) size_t move_up(struct tree *t, int k, const struct neighbours *near, const double *p,
                                                            double *moved)
{
    size_t n = 0;
    for (size_t i = 0; i < near->n; i++) {
        const double *at = tree_at(t, k, 0, near->place[i]);
        bool outside = false, dominated = true;
        for (int j = 0; j < k; j++) {
            const double v = at[j * FAN];
            outside |= v >= near->box[j];
            dominated &= v >= p[j];
            moved[n * (size_t)k + (size_t)j] = v > p[j] ? v : p[j];
        }
        n += !outside;
        if (dominated) tree_remove(t, near->place[i]);
    }
    return n;
}

/* One sweep runs in each number of objectives at a time, so each has its own memory. */
struct level {
    struct tree passed;
    uint32_t *order, *place, *near;
    uint64_t *keys, *scratch;
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
    l->place = xrealloc(l->place, l->capacity, sizeof *l->place);
    l->near = xrealloc(l->near, l->capacity, sizeof *l->near);
    l->keys = xrealloc(l->keys, l->capacity, sizeof *l->keys);
    l->scratch = xrealloc(l->scratch, 2 * l->capacity, sizeof *l->scratch);
    l->moved = xrealloc(l->moved, l->capacity * (size_t)(m - 1), sizeof *l->moved);
    l->passed.memory = xrealloc(l->passed.memory, tree_size(l->capacity, m - 1), sizeof *l->passed.memory);
}

static void level_release(struct level *l)
{
    free(l->passed.memory);
    free(l->moved);
    free(l->scratch);
    free(l->keys);
    free(l->near);
    free(l->place);
    free(l->order);
}

/* Give near points near places: along the Z-order curve over the ranks in the first m - 1 objectives. */
static void assign_places(struct level *l, const double *points, size_t n, int m)
{
    const int k = m - 1, bits = 63 / k < PLACE_BITS_MAX ? 63 / k : PLACE_BITS_MAX;
    if (n <= PILE) {
        order_identity(l->place, n);
        return;
    }
    for (size_t i = 0; i < n; i++) l->keys[i] = 0;
    for (int j = 0; j < k; j++) {
        uint32_t *rank = l->near;
        order_identity(l->order, n);
        const uint64_t ranks =
            order_sort((struct order_column){.values = points + j, .stride = (size_t)m}, l->order, n, l->scratch, rank);
        for (size_t i = 0; i < n; i++) {
            const uint64_t cell = ((uint64_t)(rank[i] - 1) << bits) / ranks;
            for (int b = 0; b < bits; b++) l->keys[i] |= (cell >> b & 1) << (b * k + j);
        }
    }
    order_identity(l->order, n);
    order_sort((struct order_column){.keys = l->keys}, l->order, n, l->scratch, NULL);
    for (size_t i = 0; i < n; i++) l->place[l->order[i]] = (uint32_t)i;
}

static double volume(struct sweep *s, const double *points, size_t n, int m, const double *ref);

/* What p adds to the hypervolume of the passed points in the first m - 1 objectives. Afterwards p is one of them. */
static double pass_point(struct sweep *s, int m, const double *p, size_t place, const double *ref)
{
    struct level *l = &s->level[m];
    const int k = m - 1;
    struct neighbours near = {.place = l->near};
    double added = 1;
    size_t n = 0;
    memcpy(near.box, ref, (size_t)k * sizeof *ref);
    if (k == 3)
        meet_all(&l->passed, 3, place, p, &near);
    else
        meet_all(&l->passed, k, place, p, &near);
    if (near.covered) return 0;
    if (k == 3)
        n = move_up(&l->passed, 3, &near, p, l->moved);
    else
        n = move_up(&l->passed, k, &near, p, l->moved);
    tree_insert(&l->passed, place, p);
    for (int j = 0; j < k; j++) added *= near.box[j] - p[j];
    return n ? added - volume(s, l->moved, n, k, near.box) : added;
}

/* Depth: one level an objective. */
static double volume(struct sweep *s, const double *points, size_t n, int m, const double *ref)
{
    if (m == 3) return hypervolume_3(points, n, ref);
    struct level *l = &s->level[m];
    level_reserve(l, m, n);
    assign_places(l, points, n, m);
    order_identity(l->order, n);
    order_sort((struct order_column){.values = points + m - 1, .stride = (size_t)m}, l->order, n, l->scratch, NULL);
    tree_reset(&l->passed, n, m - 1);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = points + l->order[i] * (size_t)m;
        sum += pass_point(s, m, p, l->place[l->order[i]], ref) * (ref[m - 1] - p[m - 1]);
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
