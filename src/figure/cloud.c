#include "figure/cloud.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { START_CAPACITY = 1024, COARSEST = 16 };

/* So many cells a unit that equal values alone share one; any finite value times it is finite or, when too large, equal. */
static const double finest = 0x1p1000;

void cloud_init(struct cloud *c, size_t max_marks)
{
    *c = (struct cloud){
        .slot = xcalloc(START_CAPACITY, sizeof *c->slot),
        .capacity = START_CAPACITY,
        .max_marks = max_marks,
        .cells = CLOUD_CELLS,
        .cells_per_x = finest,
        .cells_per_y = finest,
        .min_x = HUGE_VAL,
        .max_x = -HUGE_VAL,
        .min_y = HUGE_VAL,
        .max_y = -HUGE_VAL,
    };
}

void cloud_release(struct cloud *c)
{
    free(c->slot);
    *c = (struct cloud){0};
}

/* Cell of a coordinate. It stays a double, which holds cell numbers of any size; adding 0 makes one zero of two. */
static double cell(double v, double cells_per_unit)
{
    return floor(v * cells_per_unit) + 0.0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t hash(double ix, double iy, uint32_t series)
{
    uint64_t a, b;
    memcpy(&a, &ix, sizeof a);
    memcpy(&b, &iy, sizeof b);
    return mix(mix(mix(series, a), b), 0);
}

/* The slot of the mark in that cell, or the free slot where it belongs. */
static struct mark *find(const struct cloud *c, double x, double y, uint32_t series)
{
    double ix = cell(x, c->cells_per_x), iy = cell(y, c->cells_per_y);
    for (size_t i = hash(ix, iy, series) & (c->capacity - 1);; i = (i + 1) & (c->capacity - 1)) {
        struct mark *m = &c->slot[i];
        if (m->count == 0) return m;
        if (m->series == series && cell(m->x, c->cells_per_x) == ix && cell(m->y, c->cells_per_y) == iy) return m;
    }
}

/* Put a mark into its cell; of two the one that is there stays. */
static void put(struct cloud *c, struct mark mark)
{
    struct mark *m = find(c, mark.x, mark.y, mark.series);
    if (m->count == 0) {
        *m = mark;
        c->n++;
    } else {
        m->count = m->count > UINT32_MAX - mark.count ? UINT32_MAX : m->count + mark.count;
    }
}

static void rebuild(struct cloud *c, size_t capacity)
{
    struct mark *old = c->slot;
    size_t old_capacity = c->capacity;
    c->slot = xcalloc(capacity, sizeof *c->slot);
    c->capacity = capacity;
    c->n = 0;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].count) put(c, old[i]);
    free(old);
}

/* The largest power of two that lays at most `cells` cells over the range. */
static double fit(double min, double max, uint32_t cells)
{
    double range = max / 2 - min / 2; /* half of it, which cannot overflow */
    if (!(range > 0)) return finest;
    double per_unit = exp2(floor(log2(cells) - log2(range) - 1));
    return per_unit > finest ? finest : per_unit;
}

static bool refit(struct cloud *c)
{
    double x = fit(c->min_x, c->max_x, c->cells), y = fit(c->min_y, c->max_y, c->cells);
    if (x == c->cells_per_x && y == c->cells_per_y) return false;
    c->cells_per_x = x;
    c->cells_per_y = y;
    return true;
}

void cloud_thin(struct cloud *c, size_t max_marks)
{
    while (c->n > max_marks && c->cells > COARSEST) {
        c->cells /= 2;
        refit(c);
        rebuild(c, c->capacity);
    }
}

void cloud_add(struct cloud *c, double x, double y, uint32_t series)
{
    bool wider = x < c->min_x || x > c->max_x || y < c->min_y || y > c->max_y;
    if (wider) {
        c->min_x = fmin(c->min_x, x);
        c->max_x = fmax(c->max_x, x);
        c->min_y = fmin(c->min_y, y);
        c->max_y = fmax(c->max_y, y);
        if (refit(c)) rebuild(c, c->capacity);
    }
    c->points++;
    put(c, (struct mark){.x = x, .y = y, .series = series, .count = 1});
    if (c->n > c->max_marks) cloud_thin(c, c->max_marks / 2);
    if (c->n > c->capacity / 2) rebuild(c, 2 * c->capacity);
}

/* ---- sorting ---------------------------------------------------------------------------------------------------------- */

static int by_series_x_y(const void *a, const void *b, void *user)
{
    const struct mark *p = a, *q = b;
    const uint32_t *rank = *(const uint32_t **)user;
    const uint32_t a_rank = rank[mark_series(p)], b_rank = rank[mark_series(q)];
    if (a_rank != b_rank) return a_rank < b_rank ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

struct mark *cloud_sorted(const struct cloud *c, const uint32_t *rank)
{
    struct mark *marks = xcalloc(c->n + 1, sizeof *marks);
    size_t n = 0;
    for (size_t i = 0; i < c->capacity; i++)
        if (c->slot[i].count) marks[n++] = c->slot[i];
    qsort_r(marks, n, sizeof *marks, by_series_x_y, &rank);
    return marks;
}
