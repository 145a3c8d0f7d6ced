/* Pre-fetching, while linear layers leave the HBM idle. */
#ifndef LAD_FETCH_H
#define LAD_FETCH_H

#include "lad_linear.h"

enum { LAD_QUANTUM = 16, LAD_QUANTA = 64 };

/* Positions of one sequence under way together. */
struct lad_quantum {
    struct lad_fetcher *of;
    enum { LAD_UNUSED, LAD_FLYING, LAD_PARKED } state; /* parked: the HBM was needed before it was through */
    uint32_t layer, head, sequence;
    uint32_t left;  /* positions still to be asked for */
    uint64_t value; /* address of the value that follows its key; 0: none */
    struct lad_positions positions;
};

struct lad_fetcher {
    struct lad_run *run;
    const struct lad_linear *linear;
    bool open, fresh;                /* open: the HBM may be used; fresh: nothing was ever fetched */
    uint32_t layer, head, turn;      /* whose positions come next */
    uint32_t from;                   /* heads before it have gone to the tiles */
    uint32_t *wanted;                /* positions of the head not yet in a quantum: by sequence */
    struct lad_positions *positions; /* they: by sequence */
    uint32_t *fetched;               /* positions asked for in this layer: by head, sequence */
    struct dse_random vain;
    struct lad_quantum quantum[LAD_QUANTA];
    uint32_t actor, resource;
    unsigned flying, flying_max;
    double warm; /* share of the wanted positions that are fetched for heads that fill the pipeline */
};

void lad_fetch_init(struct lad_fetcher *f, struct lad_run *run, const struct lad_linear *linear);
/* The HBM has time for this head (limited), or for all from this head of the layer on (ideal). */
void lad_fetch_open(struct lad_fetcher *f, uint32_t layer, uint32_t head);
void lad_fetch_close(struct lad_fetcher *f);
/* The HBM may have time again. */
void lad_fetch_more(struct lad_fetcher *f);
/* Positions fetched for a head-sample that enters a tile. */
uint32_t lad_fetched(const struct lad_fetcher *f, const struct lad_sample *s);

#endif
