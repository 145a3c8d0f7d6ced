/* How head-samples go from stage to stage: in lock-step, or as soon as there is room. */
#ifndef LAD_SLOTS_H
#define LAD_SLOTS_H

#include "lad_dma.h"
#include "lad_fetch.h"
#include "lad_modules.h"

/* A tile and its parts, as a head-sample goes through them. */
struct lad_lane {
    struct lad_lanes *of;
    struct lad_tile tile;
    struct lad_modules modules;
    struct lad_loader load;
    struct lad_gatherer gather;
    bool early;             /* stage 4 has the head-sample that APID is at */
    uint32_t next_sequence; /* of this period, to enter */
    unsigned pending;       /* lock-step: stages at work in this slot */
    dse_ps finished;        /* lock-step: its part of the slot */
};

struct lad_lanes {
    struct lad_run *run;
    const struct lad_fetcher *fetcher;
    struct lad_lane *lane;                   /* by tile */
    bool lock_step, draining, counted, open; /* open: a period or a drain goes on */
    uint32_t layer, head;                    /* of the period */
    uint32_t loaded;                         /* head-samples of the period that have passed stage 1 */
    uint32_t entered;                        /* lock-step: slots of the period */
    unsigned pending;                        /* lock-step: stages at work in this slot */
    enum lad_stage last;                     /* lock-step: what ended last */
    dse_ps start, period;                    /* of the slot, of the period */
    uint32_t actor;
};
void lad_slots_init(struct lad_lanes *s, struct lad_run *run, const struct lad_fetcher *fetcher);
/* The tiles; none without LAD's attention. */
void lad_slots_init_tiles(struct lad_lanes *s);
/* An attention period; its end is lad_signals.over. */
void lad_period_start(struct lad_lanes *s, uint32_t layer, uint32_t head);
void lad_drain_start(struct lad_lanes *s);
/* lad_signals.stage_done and fifo_full: APID has filled the FIFO, and stage 4 takes the head-sample before its time when it is
 * free. */
void lad_stage_done(struct lad_lanes *s, uint32_t tile, enum lad_place place);
void lad_relieve(struct lad_lanes *s, uint32_t tile);

#endif
