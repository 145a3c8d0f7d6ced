/* Sets of positions that the heads of a group have fetched (E40). */
#include "lad_shared.h"

#include <dse/num.h>

#include <string.h>

enum { WORD = 64 };

bool lad_leads(const struct lad_shared *s, const struct lad_sample *sample)
{
    if (sample->head % s->group != 0) return false;
    if (s->keys) memset(&s->keys[sample->sequence * s->words], 0, s->words * sizeof *s->keys);
    return true;
}

uint64_t *lad_shared_keys(const struct lad_shared *s, const struct lad_sample *sample)
{
    return s->keys ? &s->keys[sample->sequence * s->words] : NULL;
}

/* The layer that fills the pipeline comes first. */
uint64_t *lad_shared_rows(const struct lad_shared *s, uint32_t layer, uint32_t head, uint32_t sequence)
{
    if (!s->rows) return NULL;
    const uint32_t order = 1 + (layer < s->layers ? layer + 1 : 0);
    const size_t i = ((size_t)(order % s->in_flight) * s->groups + head / s->group) * s->batch + sequence;
    uint64_t *set = &s->rows[i * s->words];
    if (s->rows_of[i] != order) memset(set, 0, s->words * sizeof *set);
    s->rows_of[i] = order;
    return set;
}

bool lad_found(uint64_t *set, uint32_t position)
{
    if (!set) return false;
    uint64_t *word = &set[position / WORD];
    const uint64_t bit = UINT64_C(1) << position % WORD;
    const bool found = (*word & bit) != 0;
    *word |= bit;
    return found;
}

void lad_shared_init(struct lad_shared *s, struct dse_sim *sim, const struct lad_draws *draws, uint32_t deep)
{
    const struct lad_point *pt = draws->pt;
    *s = (struct lad_shared){.group = pt->group, .layers = draws->layers, .batch = draws->batch};
    if (pt->group == 1) return;
    s->groups = draws->heads / s->group;
    s->in_flight = 2 + deep / draws->heads;
    s->words = dse_ceil_div((uint64_t)pt->n, WORD);
    const size_t sets = (size_t)s->in_flight * s->groups * s->batch;
    s->keys = dse_sim_alloc(sim, s->batch * s->words, sizeof *s->keys);
    s->rows = dse_sim_alloc(sim, sets * s->words, sizeof *s->rows);
    s->rows_of = dse_sim_alloc(sim, sets, sizeof *s->rows_of);
}
