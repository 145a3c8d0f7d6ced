#include "search/seen.h"

#include "base/random.h"
#include "base/xalloc.h"

#include <stdlib.h>

void seen_release(struct seen *s)
{
    free(s->slots);
    *s = (struct seen){0};
}

static size_t find_slot(const struct seen *s, uint64_t point)
{
    size_t i = random_mix(point) & (s->n_slots - 1);
    while (s->slots[i] && s->slots[i] != point + 1) i = (i + 1) & (s->n_slots - 1);
    return i;
}

static void grow(struct seen *s)
{
    const struct seen old = *s;
    enum { FIRST = 1024 };
    s->n_slots = old.n_slots ? 2 * old.n_slots : FIRST;
    s->slots = xcalloc(s->n_slots, sizeof *s->slots);
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slots[i]) s->slots[find_slot(s, old.slots[i] - 1)] = old.slots[i];
    free(old.slots);
}

bool seen_add(struct seen *s, uint64_t point)
{
    if (2 * (s->n + 1) > s->n_slots) grow(s);
    const size_t i = find_slot(s, point);
    if (s->slots[i]) return false;
    s->slots[i] = point + 1;
    s->n++;
    return true;
}
