#include "analysis/grouped_front.h"

#include "analysis/front_internal.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Buffers are small so that many groups stay within the memory of one large front; a lone group, keyed "", has the usual one. */
enum { GROUP_BUFFER_POINTS = 1 << 13 };

struct group {
    char *key;
    struct front *front;
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
    g->groups[g->n] = (struct group){xstrdup(key), front_new_sized(g->m, g->maximise, buffer)};
    return g->n++;
}

void grouped_front_add(struct grouped_front *g, const char *key, uint64_t id, const double *values)
{
    if (g->n == 0 || strcmp(g->groups[g->last].key, key) != 0) {
        size_t slot = *find_slot(g, key);
        g->last = slot ? slot - 1 : add_group(g, key);
    }
    front_add(g->groups[g->last].front, id, values);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t grouped_front_finish(struct grouped_front *g, const uint64_t **ret_ids)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const uint64_t *ids;
        const double *values;
        size_t k = front_finish(g->groups[i].front, &ids, &values);
        g->ids = xrealloc(g->ids, n + k, sizeof *g->ids);
        if (k) memcpy(g->ids + n, ids, k * sizeof *ids);
        n += k;
    }
    if (n) qsort(g->ids, n, sizeof *g->ids, compare_ids);
    *ret_ids = g->ids;
    return n;
}

size_t grouped_front_groups(const struct grouped_front *g)
{
    return g->n;
}
