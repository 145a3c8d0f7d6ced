/* Stages 1 and 4 of a tile: what moves between DRAM and its SRAM. */
#ifndef LAD_DMA_H
#define LAD_DMA_H

#include "lad_tile.h"

/* Stage 1: writes `stored` back, and reads what is in its place; a transfer of what streams, one of single keys, and, where it
 * writes behind what it reads, one of what is written. */
struct lad_loader {
    struct lad_tile *tile;
    uint32_t actor, resource;
    bool loading;
    struct lad_sample stored;
    int step;                                      /* of what is written back */
    bool asked;                                    /* for G */
    struct lad_positions counters, centers, large; /* still to be moved */
    unsigned flying;
    dse_ps since;
};

/* Stage 4: takes active positions from the FIFO as they come. */
struct lad_gatherer {
    struct lad_tile *tile;
    uint32_t actor, resource;
    bool started, waiting, open; /* waiting: for the FIFO; open: a transfer asks for more rows */
    enum { LAD_TO_STREAM, LAD_STREAMING, LAD_STREAMED } stream;
    bool caches;      /* have been asked for */
    uint64_t *shared; /* rows that the group has fetched */
    struct lad_positions counters;
    uint32_t taken, missed;  /* positions taken from the FIFO; those of them that were not fetched ahead */
    uint32_t first, n, held; /* the run of positions that is read; held: one more than a position taken that did not fit it, or 0 */
    bool values;             /* its keys have been asked for */
    unsigned flying;
    dse_ps since;
};

void lad_dma_init(struct lad_loader *l, struct lad_gatherer *g, struct lad_tile *t);
/* Stage 1: load what is in its place (when `loading`), store what waits for it. */
void lad_load_start(struct lad_loader *l, bool loading);
bool lad_load_idle(const struct lad_loader *l);
void lad_gather_start(struct lad_gatherer *g);
/* After a pause. */
void lad_gather_resume(struct lad_gatherer *g);

#endif
