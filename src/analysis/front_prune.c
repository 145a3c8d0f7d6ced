/* Pruning by pivots: a point that a sampled point dominates cannot be on the front. Which points make good pivots is read off the
 * sample itself, by counting what each dominates; so the scale, the units and the skew of the objectives do not matter. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front_internal.h"
#include "analysis/order.h"
#include "base/xalloc.h"

enum {
    SAMPLE = 192,
    SAMPLE_WORDS = SAMPLE / 64,
    THIN = 64,
    PRUNE_MIN = 1024, /* fewer points are not worth a sample */
    CHUNK = 1024,     /* points that stay in the L1 cache while all pivots look at them */
};

/* m is a constant where it matters: the compiler makes a copy without loops for each. */
static inline __attribute__((always_inline)) bool dominates(const double *a, const double *b, int m)
{
    bool worse = false, better = false;
    for (int j = 0; j < m; j++) {
        worse |= a[j] > b[j];
        better |= a[j] < b[j];
    }
    return better & !worse;
}

bool pivots_dominate(const struct pivots *p, const double *point, int m)
{
    for (int k = 0; k < p->n; k++)
        if (dominates(p->values[k], point, m)) return true;
    return false;
}

/* `count` points spread evenly over the n, a little off the beat so that a period in them does no harm. */
static void take_sample(const double **sample, size_t count, const double *values, const uint32_t *index, size_t n, int m)
{
    uint64_t random = 88172645463325252u;
    const size_t stride = n / count;
    for (size_t s = 0; s < count; s++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const size_t i = s * stride + random % stride;
        sample[s] = values + (index ? index[i] : i) * (size_t)m;
    }
}

static int count_common(const uint64_t *a, const uint64_t *b)
{
    int count = 0;
    for (int w = 0; w < SAMPLE_WORDS; w++) count += __builtin_popcountll(a[w] & b[w]);
    return count;
}

/* How many of the sample a pivot must dominate that no earlier one does, so that asking it costs less than keeping them: the work
 * that waits for the points left grows with the objectives. */
static int worth_adding(int m)
{
    return m == 2 ? SAMPLE / 16 : m == 3 ? SAMPLE / 32 : SAMPLE / 64;
}

/* Of the candidates take the one that dominates most of the sample, then the one that dominates most of the rest, and so on. */
static void choose(struct pivots *p, const double *const *candidates, size_t n, const double *const *sample, int m)
{
    uint64_t below[SAMPLE][SAMPLE_WORDS] = {{0}}; /* what each candidate dominates, a bit a point */
    uint64_t open[SAMPLE_WORDS];                  /* what no pivot dominates yet */
    int gained = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < SAMPLE; b++) below[a][b / 64] |= (uint64_t)dominates(candidates[a], sample[b], m) << (b % 64);
    memset(open, 0xff, sizeof open);
    for (p->n = 0; p->n < PIVOTS_MAX;) {
        size_t best = 0;
        int best_count = 0;
        for (size_t a = 0; a < n; a++) {
            const int count = count_common(below[a], open);
            if (count > best_count) best = a, best_count = count;
        }
        if (best_count < worth_adding(m)) break;
        for (int w = 0; w < SAMPLE_WORDS; w++) open[w] &= ~below[best][w];
        memcpy(p->values[p->n++], candidates[best], (size_t)m * sizeof **candidates);
        gained += best_count;
    }
    if (gained < 4 * worth_adding(m)) p->n = 0;
}

/* Good candidates for pivots are what pruning leaves of one point in THIN. */
void pivots_choose(struct pivots *p, const double *values, const uint32_t *index, size_t n, int m)
{
    const double *sample[SAMPLE], *candidates[SAMPLE];
    p->n = 0;
    if (n < SAMPLE) return;
    take_sample(sample, SAMPLE, values, index, n, m);
    if (n / THIN < PRUNE_MIN) {
        choose(p, sample, SAMPLE, sample, m);
        return;
    }
    size_t thin = n / THIN, left;
    const double **points = xmalloc(thin * sizeof *points);
    double *thinned = xmalloc(thin * (size_t)m * sizeof *thinned);
    take_sample(points, thin, values, index, n, m);
    for (size_t i = 0; i < thin; i++) memcpy(thinned + i * (size_t)m, points[i], (size_t)m * sizeof *thinned);
    uint32_t *list = front_prune(thinned, thin, m, &left);
    const size_t count = left < SAMPLE ? left : SAMPLE;
    take_sample(candidates, count, thinned, list, left, m);
    choose(p, candidates, count, sample, m);
    free(list);
    free(thinned);
    free(points);
}

/* Keep of list[0..n) what the pivot does not dominate, without a branch on it. */
static inline __attribute__((always_inline)) size_t filter(uint32_t *list, size_t n, const double *values, int m,
                                                           const double *pivot)
{
    size_t kept = 0;
    for (size_t t = 0; t < n; t++) {
        const uint32_t i = list[t];
        list[kept] = i;
        kept += !dominates(pivot, values + (size_t)i * (size_t)m, m);
    }
    return kept;
}

static inline __attribute__((always_inline)) size_t filter_all(uint32_t *list, size_t n, const double *values, int m,
                                                               const struct pivots *p)
{
    size_t kept = 0;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        memmove(list + kept, list + from, count * sizeof *list);
        for (int k = 0; k < p->n; k++) count = filter(list + kept, count, values, m, p->values[k]);
        kept += count;
    }
    return kept;
}

static size_t filter_list(uint32_t *list, size_t n, const double *values, int m, const struct pivots *p)
{
    switch (m) {
    case 2: return filter_all(list, n, values, 2, p);
    case 3: return filter_all(list, n, values, 3, p);
    case 4: return filter_all(list, n, values, 4, p);
    default: return filter_all(list, n, values, m, p);
    }
}

uint32_t *front_prune(const double *values, size_t n, int m, size_t *ret_n)
{
    assert(n <= INT32_MAX);
    struct pivots p;
    *ret_n = n;
    if (n < PRUNE_MIN) return NULL;
    pivots_choose(&p, values, NULL, n, m);
    if (p.n == 0) return NULL;
    uint32_t *list = scratch_new(n, sizeof *list);
    order_identity(list, n);
    do {
        n = filter_list(list, n, values, m, &p);
        p.n = 0;
        if (n >= PRUNE_MIN) pivots_choose(&p, values, list, n, m);
    } while (p.n > 0);
    *ret_n = n;
    return list;
}
