#include "search/reservoir.h"

#include "base/random.h"
#include "base/xalloc.h"

#include <stdlib.h>

struct hashed {
    uint64_t hash, point;
};

/* Points wait in a buffer of twice the capacity; when it is full, those with the larger hashes go. */
struct reservoir {
    size_t capacity, n;
    uint64_t limit; /* hashes above are not among the least */
    struct hashed *points;
    uint64_t *ret;
};

struct reservoir *reservoir_new(size_t capacity)
{
    struct reservoir *r = xcalloc(1, sizeof *r);
    r->capacity = capacity;
    r->limit = UINT64_MAX;
    r->points = xcalloc(2 * capacity, sizeof *r->points);
    r->ret = xcalloc(capacity, sizeof *r->ret);
    return r;
}

void reservoir_free(struct reservoir *r)
{
    if (!r) return;
    free(r->points);
    free(r->ret);
    free(r);
}

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void shrink(struct reservoir *r)
{
    if (r->n == 0) return;
    qsort(r->points, r->n, sizeof *r->points, by_hash);
    size_t kept = 1;
    for (size_t i = 1; i < r->n && kept < r->capacity; i++)
        if (r->points[i].point != r->points[kept - 1].point) r->points[kept++] = r->points[i];
    r->n = kept;
    if (kept == r->capacity) r->limit = r->points[kept - 1].hash;
}

void reservoir_add(struct reservoir *r, uint64_t point)
{
    const uint64_t hash = random_mix(random_mix(point)); /* a bijection: no two points have the same */
    if (hash > r->limit) return;
    r->points[r->n++] = (struct hashed){hash, point};
    if (r->n == 2 * r->capacity) shrink(r);
}

const uint64_t *reservoir_points(struct reservoir *r, size_t *ret_n)
{
    shrink(r);
    for (size_t i = 0; i < r->n; i++) r->ret[i] = r->points[i].point;
    if (r->n) qsort(r->ret, r->n, sizeof *r->ret, ascending);
    *ret_n = r->n;
    return r->ret;
}
