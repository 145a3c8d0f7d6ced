/* The front of a stream: points wait in a buffer; when it is full, those that are not on its front go. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front_internal.h"
#include "analysis/order.h"
#include "base/xalloc.h"

struct front {
    int m;
    double sign[FRONT_OBJECTIVES_MAX]; /* -1 where larger is better: inside, all is minimised */
    size_t n, capacity;                /* points in the buffer, room for them */
    size_t clean;                      /* the first points of the buffer that are known to be a front */
    size_t limit;                      /* most points the buffer may hold before its front is taken */
    uint64_t *ids;
    double *values; /* with signs applied */
    struct pivots pivots;
    double *ret_values;
};

struct front *front_new_sized(int m, const bool *maximise, size_t buffer_points)
{
    assert(m >= 1 && m <= FRONT_OBJECTIVES_MAX && buffer_points > 0);
    struct front *f = xcalloc(1, sizeof *f);
    f->m = m;
    for (int j = 0; j < m; j++) f->sign[j] = maximise[j] ? -1 : 1;
    f->limit = buffer_points;
    return f;
}

struct front *front_new(int m, const bool *maximise)
{
    return front_new_sized(m, maximise, FRONT_BUFFER_POINTS);
}

void front_free(struct front *f)
{
    if (!f) return;
    free(f->ret_values);
    free(f->values);
    free(f->ids);
    free(f);
}

/* Drop the points of the buffer that keep[] has no 1 for. */
static void drop(struct front *f, const uint8_t *keep)
{
    const size_t m = (size_t)f->m;
    size_t kept = 0, clean = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (!keep[i]) continue;
        f->ids[kept] = f->ids[i];
        memmove(f->values + kept * m, f->values + i * m, m * sizeof *f->values);
        kept++;
        clean += i < f->clean;
    }
    f->n = kept;
    f->clean = clean;
}

static void keep_front(struct front *f)
{
    if (f->clean == f->n) return;
    uint8_t *keep = xmalloc(f->n);
    front_compute(f->values, f->n, f->m, keep);
    drop(f, keep);
    free(keep);
    f->clean = f->n;
}

/* Pivots turn most points away at the door. The points of a full buffer came past the old ones, so they show which to add; old
 * ones that are still good stay behind them while there is room. */
static void renew_pivots(struct front *f)
{
    const struct pivots old = f->pivots;
    pivots_choose(&f->pivots, f->values, NULL, f->n, f->m);
    const struct pivots fresh = f->pivots;
    for (int k = 0; k < old.n && f->pivots.n < PIVOTS_MAX; k++)
        if (!pivots_dominate(&fresh, old.values[k], f->m))
            memcpy(f->pivots.values[f->pivots.n++], old.values[k], sizeof old.values[k]);
}

static void drop_by_pivots(struct front *f)
{
    if (f->pivots.n == 0) return;
    uint8_t *keep = xmalloc(f->n);
    for (size_t i = 0; i < f->n; i++) keep[i] = !pivots_dominate(&f->pivots, f->values + i * (size_t)f->m, f->m);
    drop(f, keep);
    free(keep);
}

static void grow(struct front *f)
{
    f->capacity = f->capacity ? 2 * f->capacity : 1024;
    if (f->capacity > f->limit) f->capacity = f->limit;
    f->ids = xrealloc(f->ids, f->capacity, sizeof *f->ids);
    f->values = xrealloc(f->values, f->capacity, (size_t)f->m * sizeof *f->values);
}

/* The buffer is full. Pivots empty most of it, as a rule; else it grows, and at its limit the front of it is taken. Either at
 * least half of the buffer is free afterwards or it has grown, and at the limit at most half of it is front: so a point is looked
 * at a few times on average. */
static void make_room(struct front *f)
{
    renew_pivots(f);
    drop_by_pivots(f);
    if (f->n > f->capacity / 2 && f->capacity == f->limit) {
        keep_front(f);
        f->limit = 2 * f->n > f->limit ? 2 * f->n : f->limit;
    }
    if (f->n > f->capacity / 2 || f->n == f->capacity) grow(f);
}

void front_add(struct front *f, uint64_t id, const double *values)
{
    double point[FRONT_OBJECTIVES_MAX];
    bool comparable = true;
    for (int j = 0; j < f->m; j++) {
        point[j] = f->sign[j] * values[j];
        comparable &= isfinite(point[j]) != 0;
    }
    if (!comparable || pivots_dominate(&f->pivots, point, f->m)) return;
    if (f->n == f->capacity) make_room(f);
    f->ids[f->n] = id;
    memcpy(f->values + f->n * (size_t)f->m, point, (size_t)f->m * sizeof *point);
    f->n++;
}

static bool ascending(const uint64_t *ids, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (ids[i - 1] > ids[i]) return false;
    return true;
}

/* Put the points of the buffer in the order of their ids; points with the same id stay in the order they came in. */
static void sort_by_id(struct front *f)
{
    const size_t m = (size_t)f->m;
    if (ascending(f->ids, f->n)) return;
    uint32_t *order = xmalloc(f->n * sizeof *order);
    uint64_t *ids = xmalloc(f->capacity * sizeof *ids);
    uint64_t *scratch = xmalloc(2 * f->n * sizeof *scratch);
    order_identity(order, f->n);
    order_sort((struct order_column){.keys = f->ids}, order, f->n, scratch, NULL);
    free(scratch);
    double *values = xmalloc(f->capacity * m * sizeof *values);
    for (size_t i = 0; i < f->n; i++) {
        ids[i] = f->ids[order[i]];
        memcpy(values + i * m, f->values + order[i] * m, m * sizeof *values);
    }
    free(order);
    free(f->ids);
    free(f->values);
    f->ids = ids;
    f->values = values;
}

size_t front_finish(struct front *f, const uint64_t **ret_ids, const double **ret_values)
{
    const size_t m = (size_t)f->m;
    keep_front(f);
    sort_by_id(f);
    f->ret_values = xrealloc(f->ret_values, f->n * m, sizeof *f->ret_values);
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < m; j++) f->ret_values[i * m + j] = f->sign[j] * f->values[i * m + j];
    *ret_ids = f->ids;
    *ret_values = f->ret_values;
    return f->n;
}
