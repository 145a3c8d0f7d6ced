/* What the query heads of a KV head fetch together (E40): of each sequence, the positions whose rows are in the tile already. */
#ifndef LAD_SHARED_H
#define LAD_SHARED_H

#include "lad_draws.h"

/* Sets of positions, a bit each. Stage 1 is at one group of a sequence at a time; stage 4 and pre-fetching may be at all groups of
 * a layer, and a head-sample leaves stage 4 when the next layer has begun. */
struct lad_shared {
    uint32_t group, groups, layers, batch; /* group: query heads of a KV head; 1: nothing is shared */
    uint32_t in_flight;                    /* layers of which there may be head-samples */
    size_t words;                          /* of a set */
    uint64_t *keys, *rows;                 /* keys: by sequence; rows, keys and values: by layer in flight, group and sequence */
    uint32_t *rows_of;                     /* which layer they are of, in the order of the run; 0: none yet */
};
/* `deep`: head-samples of a tile that are under way together. */
void lad_shared_init(struct lad_shared *s, struct dse_sim *sim, const struct lad_draws *draws, uint32_t deep);
/* Does the head-sample bring what its group reads once, as the first of its heads? Then the set of its keys is empty from here
 * on. */
bool lad_leads(const struct lad_shared *s, const struct lad_sample *sample);
/* The set of a head-sample's group: keys of large modes; keys and values of active positions. NULL: it reads by itself. */
uint64_t *lad_shared_keys(const struct lad_shared *s, const struct lad_sample *sample);
uint64_t *lad_shared_rows(const struct lad_shared *s, uint32_t layer, uint32_t head, uint32_t sequence);
/* Is it in the set? It is from now on. Never in NULL. */
bool lad_found(uint64_t *set, uint32_t position);

#endif
