#include "analysis/grouped_front.h"

#include "analysis/front_internal.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Buffers are small so that many groups stay within the memory of one large front; a lone group, keyed "", has the usual one. */
enum { GROUP_BUFFER_POINTS = 1 << 13 };

struct group {
    char *key;
    struct front *front;
    double low[FRONT_OBJECTIVES_MAX], high[FRONT_OBJECTIVES_MAX]; /* of all its points */
};

struct grouped_front {
    int m;
    bool maximise[FRONT_OBJECTIVES_MAX];
    struct group *groups;
    size_t n, capacity;
    size_t *slots; /* open addressing: 1 + index of a group, 0 free; a power of two, at most half full */
    size_t n_slots;
    size_t last; /* the group of the last point: rows of one group often stand together */
    uint64_t *ids;
};

struct grouped_front *grouped_front_new(int m, const bool *maximise)
{
    struct grouped_front *g = xcalloc(1, sizeof *g);
    g->m = m;
    memcpy(g->maximise, maximise, (size_t)m * sizeof *maximise);
    g->n_slots = 64;
    g->slots = xcalloc(g->n_slots, sizeof *g->slots);
    return g;
}

void grouped_front_free(struct grouped_front *g)
{
    if (!g) return;
    for (size_t i = 0; i < g->n; i++) {
        free(g->groups[i].key);
        front_free(g->groups[i].front);
    }
    free(g->groups);
    free(g->slots);
    free(g->ids);
    free(g);
}

/* The slot of a key: its group's, or the free one where it belongs. */
static size_t *find_slot(const struct grouped_front *g, const char *key)
{
    size_t i = text_hash(TEXT_HASH_INIT, key, strlen(key)) & (g->n_slots - 1);
    while (g->slots[i] && strcmp(g->groups[g->slots[i] - 1].key, key) != 0) i = (i + 1) & (g->n_slots - 1);
    return &g->slots[i];
}

static void grow_slots(struct grouped_front *g)
{
    free(g->slots);
    g->n_slots *= 2;
    g->slots = xcalloc(g->n_slots, sizeof *g->slots);
    for (size_t i = 0; i < g->n; i++) *find_slot(g, g->groups[i].key) = i + 1;
}

static size_t add_group(struct grouped_front *g, const char *key)
{
    if (2 * (g->n + 1) > g->n_slots) grow_slots(g);
    if (g->n == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 16;
        g->groups = xrealloc(g->groups, g->capacity, sizeof *g->groups);
    }
    *find_slot(g, key) = g->n + 1;
    size_t buffer = *key ? GROUP_BUFFER_POINTS : FRONT_BUFFER_POINTS;
    struct group *new = &g->groups[g->n];
    *new = (struct group){.key = xstrdup(key), .front = front_new_sized(g->m, g->maximise, buffer)};
    for (int j = 0; j < g->m; j++) new->low[j] = new->high[j] = (double)NAN;
    return g->n++;
}

void grouped_front_add(struct grouped_front *g, const char *key, uint64_t id, const double *values)
{
    if (g->n == 0 || strcmp(g->groups[g->last].key, key) != 0) {
        size_t slot = *find_slot(g, key);
        g->last = slot ? slot - 1 : add_group(g, key);
    }
    struct group *group = &g->groups[g->last];
    for (int j = 0; j < g->m; j++) {
        group->low[j] = fmin(group->low[j], values[j]); /* of a NaN and a number, the number */
        group->high[j] = fmax(group->high[j], values[j]);
    }
    front_add(group->front, id, values);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The share of its group's box that a front dominates. */
static double share(const struct grouped_front *g, const struct group *group, const double *values, size_t n)
{
    enum { EXACT_OBJECTIVES = 3, MANY = 2000 };
    if (g->m < 2 || n == 0 || (g->m > EXACT_OBJECTIVES && n > MANY)) return (double)NAN;
    const size_t m = (size_t)g->m;
    double *scaled = xmalloc(n * m * sizeof *scaled), ref[FRONT_OBJECTIVES_MAX];
    for (size_t j = 0; j < m; j++) {
        double span = group->high[j] - group->low[j], best = g->maximise[j] ? group->high[j] : group->low[j];
        ref[j] = 1;
        for (size_t i = 0; i < n; i++) scaled[i * m + j] = span > 0 ? fabs(values[i * m + j] - best) / span : 0;
    }
    double volume = hypervolume(scaled, n, g->m, ref);
    free(scaled);
    return volume;
}

size_t grouped_front_finish(struct grouped_front *g, const uint64_t **ret_ids, double *ret_hypervolume)
{
    size_t n = 0;
    double volume = 0;
    for (size_t i = 0; i < g->n; i++) {
        const uint64_t *ids;
        const double *values;
        size_t k = front_finish(g->groups[i].front, &ids, &values);
        g->ids = xrealloc(g->ids, n + k, sizeof *g->ids);
        if (k) memcpy(g->ids + n, ids, k * sizeof *ids);
        n += k;
        if (ret_hypervolume) volume += share(g, &g->groups[i], values, k);
    }
    if (ret_hypervolume) *ret_hypervolume = g->n ? volume / (double)g->n : (double)NAN;
    if (n) qsort(g->ids, n, sizeof *g->ids, compare_ids);
    *ret_ids = g->ids;
    return n;
}

size_t grouped_front_groups(const struct grouped_front *g)
{
    return g->n;
}
