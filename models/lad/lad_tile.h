/* The stages of a tile as compute modules and DMA both see them. */
#ifndef LAD_TILE_H
#define LAD_TILE_H

#include "lad_run.h"

/* A tile: the head-samples in its stages, and the FIFOs between them. */
struct lad_tile {
    struct lad_run *run;
    uint32_t id;
    char group[16];
    struct {
        enum { LAD_EMPTY, LAD_BUSY, LAD_DONE } state;
        struct lad_sample sample;
    } place[LAD_PLACES];
    struct dse_fifo *active, *update; /* active positions, from APID to stage 4; changes of mode, from MD to AC: lad_modules_init */
};

#endif
