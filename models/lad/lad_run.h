/* A run at event level: what all parts of the machine share, what they count, and what they tell each other. Times are picoseconds,
 * work is in cycles; everything lives as long as the run. */
#ifndef LAD_RUN_H
#define LAD_RUN_H

#include "lad_memory.h"
#include "lad_shared.h"

/* Where a head-sample is in a tile. READY holds one that has left stage 4 early; STORE one that has left stage 6, until stage 1
 * writes it back. */
enum lad_place { LAD_LOAD, LAD_SCORE, LAD_IDENTIFY, LAD_GATHER, LAD_READY, LAD_DISCREPANCY, LAD_COMPUTE, LAD_STORE, LAD_PLACES };
extern const char *const lad_place_names[LAD_PLACES];

/* What the parts add up. Of head-samples and periods that are counted, unless it says otherwise. */
struct lad_account {
    dse_ps attention, bound[LAD_STAGES]; /* attention periods; bound: by what limits them */
    dse_ps hbm, waiting; /* transfers of stages 1 and 4 under way; tiles that wait for others at the end of slots, sum over tiles */
    uint64_t slots, samples;
    double cycles[LAD_PLACES], longest; /* sums over head-samples, of the modules */
    uint64_t active, fetched, hits;
    uint64_t bytes[LAD_TRAFFICS], stage1_bytes, stage4_bytes; /* on the bus */
    uint64_t moved;                                           /* bytes on the bus, counted or not */
    dse_ps apid_stalled, md_stalled;
    uint64_t relieved;       /* head-samples that stage 4 has taken before their time */
    dse_ps busy[LAD_PLACES]; /* of this period, sum over tiles */
    unsigned flying;         /* transfers of stages 1 and 4 under way */
    dse_ps flying_since;
    bool counting; /* a period that is counted goes on */
};

struct lad_machine;
struct lad_job;

/* What a part tells the others without knowing them. lad_events.c connects them. */
struct lad_signals {
    void (*stage_done)(struct lad_machine *m, uint32_t tile,
                       enum lad_place place);                /* a stage has ended its work on a head-sample */
    void (*fifo_full)(struct lad_machine *m, uint32_t tile); /* APID waits for room in the active FIFO */
    void (*over)(struct lad_machine *m);                     /* a job, an attention period or a drain has ended */
    void (*stocked)(struct lad_machine *m); /* the weight buffer has changed: the HBM may have time for pre-fetching */
    bool (*job)(struct lad_machine *m, uint64_t i,
                struct lad_job *ret); /* job number i of the run, in order; false behind the last */
};

/* What all parts read. It stays as it is while the run goes on, but for what they count. */
struct lad_run {
    struct dse_sim *sim;
    const struct lad_point *pt;
    const struct lad_events_reads *p;
    const struct lad_step *step; /* of the closed form */
    uint32_t layers, heads, batch, tiles, rounds;
    struct lad_stored stored;
    struct lad_draws draws;
    struct lad_memory memory;
    struct lad_shared shared;
    struct lad_account account;
    bool general; /* operators of any LLM (E47) */
    bool paused;  /* between attention periods, out of step: modules stand still, nothing more is gathered */
    const struct lad_signals *signals;
    struct lad_machine *machine; /* what the signals go to */
};

/* What timelines call a head-sample. */
int64_t lad_sample_id(const struct lad_run *run, const struct lad_sample *s);
/* A segment is on its way. ret_stage: account.stage1_bytes or stage4_bytes, or NULL. */
void lad_count(struct lad_run *run, const struct dse_segment *s, enum lad_traffic traffic, bool counted, uint64_t *ret_stage);
/* A transfer of stage 1 or 4 begins, ends. */
void lad_took_off(struct lad_run *run);
void lad_landed(struct lad_run *run);
/* A period begins or ends, and with it, if it is counted, the time of those transfers. */
void lad_count_flights(struct lad_run *run, bool counting);

#endif
