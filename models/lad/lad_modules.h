/* The compute stages of a tile: EAS, APID, MD, AC. */
#ifndef LAD_MODULES_H
#define LAD_MODULES_H

#include "lad_tile.h"

struct lad_modules;

/* A compute stage. It works at the speed of the tile, from one milestone to the next. */
struct lad_unit {
    struct lad_modules *of;
    enum lad_place place;
    uint32_t actor, resource, generation;
    bool running, stalled;
    double base, until, total; /* cycles of work done at `origin`; next milestone; in all */
    dse_ps origin, ran;        /* ran: time at work on this head-sample */
    dse_ps stalled_since;
    double rows; /* of the SRAM a cycle */
    const char *label;
    double part[5];                 /* EAS, AC: where its sub-tasks end */
    int at;                         /* sub-task; APID: active positions found */
    struct lad_positions positions; /* APID: active positions still to be found; MD: indices still to change mode */
    uint64_t item;                  /* to be put into the FIFO at the milestone; 0: nothing */
    bool whole;                     /* APID: the FIFO has room for all of them */
};

/* The modules of a tile, which share its SRAM. */
struct lad_modules {
    struct lad_tile *tile;
    struct lad_unit unit[LAD_PLACES]; /* of the compute stages */
    double speed;
    bool updating; /* AC updates the caches and takes nothing from the FIFO */
};

void lad_modules_init(struct lad_modules *ms, struct lad_tile *t);
/* Begin the work of a compute stage on the head-sample in its place. */
void lad_module_start(struct lad_modules *ms, enum lad_place place);
/* A pause begins or ends: the speed changes. */
void lad_modules_retime(struct lad_modules *ms);
/* Does APID wait for room in the active FIFO? */
bool lad_modules_apid_waits(const struct lad_modules *ms);

#endif
