/* LAD at event level, inside: the machine of one run. README.md, "Event level", says what it does and holds the tags (E..).
 *
 *     lad_events.c    simulate(): builds the machine, runs it, makes a step (lad.h) of what it saw
 *     lad_program.c   the order of linear layers and attention periods, and the time each takes
 *     lad_slots.c     head-samples go from stage to stage, in lock-step or as soon as there is room
 *     lad_modules.c   the compute stages of a tile: EAS, APID, MD, AC
 *     lad_dma.c       stages 1 and 4 of a tile
 *     lad_linear.c    linear layers: weights, VPUs, special functions
 *     lad_fetch.c     pre-fetching
 *     lad_memory.c    addresses
 *     lad_draws.c     what is drawn
 *
 * Everything lives as long as the run. Times are picoseconds, work is in cycles.
 */
#ifndef LAD_EVENTS_H
#define LAD_EVENTS_H

#include "lad.h"

#include <dse/dram_port.h>
#include <dse/sim.h>

/* ---- lad_draws.c: what is drawn -------------------------------------------------------------------------------------------- */

/* A head-sample: one query head of one sequence, in one of the layers simulated. */
struct lad_sample {
    uint32_t layer, head, sequence;
    uint32_t centers, large, active, updates; /* |C|, |M|, |J|, |U| */
    uint32_t hits;                            /* of a replayed step: active positions that were active in the step before */
    uint32_t fetched;                         /* positions active in the step before, fetched ahead: the first ones by position */
    bool counted;                             /* false: it only fills the pipeline before the time is taken */
    double longest;                           /* cycles of its longest compute stage so far */
};

struct lad_draws {
    struct dse_sim *sim;
    const struct lad_point *pt;
    bool mean, replay; /* DSE_IDEAL_DRAWS; draws = "replay", and not so */
    uint32_t layers, heads, batch;
    /* of every head of every layer simulated */
    double *factor; /* its |J| over that of the mean head; NULL when replayed */
    uint32_t *recorded,
        *first_step;       /* replayed: its head of the recording, and the step of its first sequence; the next has the next step */
    double sequence_sigma; /* of the logarithm of |J| over the sequences and steps of a head */
};
void lad_draws_init(struct lad_draws *d, struct dse_sim *sim, const struct lad_point *pt, uint32_t layers, uint32_t batch);
/* The same one each time it is asked for. Those of layer `layers` fill the pipeline: mean heads, not counted. */
struct lad_sample lad_draw(const struct lad_draws *d, uint32_t layer, uint32_t head, uint32_t sequence);

/* A set of positions, in growing order. A copy goes on from where the original was. */
struct lad_positions {
    struct dse_random random;
    uint32_t next, older, left; /* `left` of next .. older - 1 are still to come */
    uint32_t end;               /* and then all of older .. end - 1 */
    uint32_t given;
    bool exact; /* of `all` positions, `repeats` still to come were in the set in the step before; else by repeat_ratio */
    uint32_t all, repeats;
    double repeat_ratio; /* share of them that were in the set in the step before */
    double phase;        /* 0 to 1: that share is spread evenly, from this on; below 0: it is drawn */
    uint32_t held;       /* lad_positions_run: one more than the position that did not fit the last run; 0: none */
};
bool lad_positions_next(struct lad_positions *s, uint32_t *ret, bool *ret_repeated);
/* The next positions that are adjacent: *ret_first and how many; 0: no more. */
uint32_t lad_positions_run(struct lad_positions *s, uint32_t *ret_first);
struct lad_positions lad_active_positions(const struct lad_draws *d, const struct lad_sample *s);
struct lad_positions lad_center_positions(const struct lad_draws *d, const struct lad_sample *s);
struct lad_positions lad_large_positions(const struct lad_draws *d, const struct lad_sample *s);
/* Which of the active positions, by their index, change their mode. */
struct lad_positions lad_update_indices(const struct lad_draws *d, const struct lad_sample *s);

/* ---- lad_memory.c: addresses ------------------------------------------------------------------------------------------------ */

enum lad_traffic { LAD_CENTERS, LAD_ACTIVE, LAD_OTHERS, LAD_FETCHED, LAD_WEIGHTS, LAD_KV, LAD_TRAFFICS };
extern const char *const lad_traffic_labels[LAD_TRAFFICS];

/* A DRAM port and where things are behind it. There is one; with slots = "partitioned", one for each tile. */
struct lad_port {
    struct dse_dram dram;
    struct dse_dram_port *dram_port;
    uint64_t keys, values, g, caches, counters; /* by layer, head and sequence */
    uint64_t weights, spilled;                  /* its share of the weights; activations that do not fit on the chip */
};

struct lad_memory {
    struct lad_port *port;
    uint32_t ports;
    uint64_t layers, heads, kv_heads, sequences; /* sequences of one port */
    uint64_t positions;
    uint64_t row, counter; /* bytes of a key or value; of the counters of a position */
    uint64_t g_bytes, g_stride, cache_bytes, cache_stride;
    uint64_t burst, window;  /* window: bytes in flight of a DMA engine of a tile */
    double stream, gathered; /* contiguous bytes that the closed form assumes of streams, and of single keys and values */
};
/* What linear layers keep in DRAM. */
struct lad_stored {
    double layer_weights, weights, spilled; /* bytes: of a layer; that are there once; of the largest activations */
};
/* False: the run has failed. */
bool lad_memory_init(struct lad_memory *m, struct dse_sim *sim, const struct lad_point *pt, uint32_t layers, uint32_t batch,
                     const struct lad_stored *stored);
uint64_t lad_key_at(const struct lad_memory *m, uint32_t layer, uint64_t kv_head, uint32_t sequence, uint64_t position);
uint64_t lad_value_at(const struct lad_memory *m, uint32_t layer, uint64_t kv_head, uint32_t sequence, uint64_t position);
uint64_t lad_g_at(const struct lad_memory *m, const struct lad_sample *s);
uint64_t lad_caches_at(const struct lad_memory *m, const struct lad_sample *s);
uint64_t lad_counters_at(const struct lad_memory *m, const struct lad_sample *s, uint64_t position);
/* Bytes of the whole bursts that a segment moves. */
uint64_t lad_moved(const struct lad_memory *m, const struct dse_segment *s);

/* ---- a tile ------------------------------------------------------------------------------------------------------------------ */

struct lad_machine;

/* Where a head-sample is in a tile. READY holds one that has left stage 4 early; STORE one that has left stage 6, until stage 1 writes it back. */
enum lad_place { LAD_LOAD, LAD_SCORE, LAD_IDENTIFY, LAD_GATHER, LAD_READY, LAD_DISCREPANCY, LAD_COMPUTE, LAD_STORE, LAD_PLACES };
extern const char *const lad_place_names[LAD_PLACES];

/* A compute stage. It works at the speed of the tile, from one milestone to the next. */
struct lad_unit {
    struct lad_tile *tile;
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

/* Stage 1: writes `storing` back, reads `sample`; two transfers, of what streams and of single keys. */
struct lad_loader {
    uint32_t actor, resource;
    bool loading;
    struct lad_sample stored;
    int step;                                      /* of the stream */
    struct lad_positions counters, centers, large; /* still to be moved */
    unsigned flying;
    dse_ps since;
};

/* Stage 4: takes active positions from the FIFO as they come. */
struct lad_gatherer {
    uint32_t actor, resource;
    bool started, waiting, open; /* waiting: for the FIFO; open: a transfer asks for more rows */
    enum { LAD_TO_STREAM, LAD_STREAMING, LAD_STREAMED } stream;
    bool caches; /* have been asked for */
    struct lad_positions counters;
    uint32_t taken, missed;  /* positions taken from the FIFO; those of them that have to be read */
    uint32_t first, n, held; /* the run of positions that is read; held: one more than a position taken that did not fit it, or 0 */
    bool values;             /* its keys have been asked for */
    unsigned flying;
    dse_ps since;
};

struct lad_tile {
    struct lad_machine *m;
    uint32_t id;
    char group[16];
    struct {
        enum { LAD_EMPTY, LAD_BUSY, LAD_DONE } state;
        struct lad_sample sample;
    } place[LAD_PLACES];
    struct lad_unit module[LAD_PLACES]; /* of the compute stages */
    struct lad_loader load;
    struct lad_gatherer gather;
    struct dse_fifo *active, *update;
    double speed;
    bool updating;          /* AC updates the caches and takes nothing from the FIFO */
    bool early;             /* stage 4 has the head-sample that APID is at */
    uint32_t next_sequence; /* of this period, to enter */
    unsigned pending;       /* lock-step: stages at work in this slot */
    dse_ps finished;        /* lock-step: its part of the slot */
};

void lad_modules_init(struct lad_tile *t);
/* Begin the work of a compute stage on the head-sample in its place. */
void lad_module_start(struct lad_tile *t, enum lad_place place);
/* The speed of the tile's modules has changed, or which of them run. */
void lad_tile_retime(struct lad_tile *t);

void lad_dma_init(struct lad_tile *t);
/* Stage 1: load what is in its place (when `loading`), store what waits for it. */
void lad_load_start(struct lad_tile *t, bool loading);
bool lad_load_idle(const struct lad_tile *t);
void lad_gather_start(struct lad_tile *t);
/* After a pause. */
void lad_gather_resume(struct lad_tile *t);

/* ---- lad_slots.c: from stage to stage ---------------------------------------------------------------------------------------- */

/* What attention periods add up to, of those that are counted. */
struct lad_account {
    dse_ps attention, bound[LAD_STAGES]; /* bound: by what limits it */
    dse_ps hbm, waiting;                 /* transfers under way; tiles that wait for others at the end of slots, sum over tiles */
    uint64_t slots, samples;
    double cycles[LAD_PLACES], longest; /* sums over head-samples, of the modules */
    uint64_t active, fetched, hits;
};

struct lad_pipeline_state {
    bool lock_step, draining, paused, counted, open; /* open: a period or a drain goes on */
    uint32_t layer, head;                            /* of the period */
    uint32_t loaded;                                 /* head-samples of the period that have passed stage 1 */
    uint32_t entered;                                /* lock-step: slots of the period */
    unsigned pending;                                /* lock-step: stages at work in this slot */
    enum lad_stage last;                             /* lock-step: what ended last */
    dse_ps start, period;                            /* of the slot, of the period */
    unsigned flying;                                 /* transfers of stages 1 and 4 */
    dse_ps flying_since;
    dse_ps busy[LAD_PLACES]; /* of this period, sum over tiles */
    uint32_t actor;
};
void lad_slots_init(struct lad_machine *m);
/* An attention period; its end calls lad_program_next. */
void lad_period_start(struct lad_machine *m, uint32_t layer, uint32_t head);
void lad_drain_start(struct lad_machine *m);
/* A stage of a tile has ended its work on a head-sample. */
void lad_stage_done(struct lad_tile *t, enum lad_place place);
/* APID has filled the FIFO: stage 4 takes the head-sample before its time when it is free. */
void lad_relieve(struct lad_tile *t);
void lad_hbm_took_off(struct lad_machine *m);
void lad_hbm_landed(struct lad_machine *m);

/* ---- lad_linear.c: linear layers ------------------------------------------------------------------------------------------------ */

enum { LAD_CHUNKS = 8, LAD_WRITERS = 24, LAD_FLOWS = 5 };

enum lad_region { LAD_AT_WEIGHTS, LAD_AT_KEYS, LAD_AT_VALUES, LAD_AT_SPILLED };

/* Bytes of a job that stand one after the other, going round where there are more than the region has. Of one port. */
struct lad_flow {
    enum lad_region region;
    uint64_t offset, size; /* in the port's region */
    uint64_t bytes;
    bool write;
};

/* A part of a linear layer, of attention over the full cache, or of elementwise operators. */
struct lad_job {
    int op; /* of the step */
    uint32_t layer;
    int64_t head; /* -1: all */
    double compute_s;
    uint32_t chunks;
    int flows;
    struct lad_flow flow[LAD_FLOWS];
    uint64_t kv_head, rows; /* keys and values that it appends one by one, from this head on */
    bool waits;             /* for the special functions */
};

/* A piece of a job in the weight buffer. */
struct lad_chunk {
    struct lad_linear *of;
    struct lad_job job;
    uint32_t index;
    enum { LAD_FREE, LAD_COMING, LAD_THERE, LAD_WRITING } state; /* writing, in the buffer: waits for a writer */
    unsigned flying;
    struct lad_chunk_port { /* what is still to be moved behind each port */
        struct lad_chunk *chunk;
        uint32_t port;
        int flow;
        uint64_t done; /* bytes of the flow in this chunk; then rows */
        bool writing;
    } * port;
};

struct lad_linear {
    struct lad_machine *m;
    struct lad_chunk chunk[LAD_CHUNKS + LAD_WRITERS]; /* of the buffer; whose results are on their way to the DRAM */
    uint64_t loaded, consumed;                        /* chunks whose loading has begun; that have been computed */
    struct lad_job loading;                           /* by the DMA */
    uint32_t loading_chunk;                           /* its next */
    uint64_t next_job;                                /* after it */
    bool active, computing;
    struct lad_job job; /* at work */
    double chunk_bytes, slowdown;
    uint32_t dma_actor, vpu_actor, end_actor, sfm_actor, dma, vpu, sfm;
    dse_ps sfm_until;
    unsigned loading_now; /* chunks that are coming */
    dse_ps loading_since, loaded_time, computed_time;
    dse_ps loaded_before, computed_before; /* the job */
};
void lad_linear_init(struct lad_machine *m);
/* Jobs start in the order of lad_program_job. The end of one calls lad_program_next. */
void lad_job_start(struct lad_machine *m, const struct lad_job *job);
/* Elementwise work behind the jobs, from now on. */
void lad_sfm_start(struct lad_machine *m, double seconds);
/* Does the weight buffer hold so much that the HBM may do something else? */
bool lad_linear_has_stock(const struct lad_linear *l);

/* ---- lad_fetch.c: pre-fetching ------------------------------------------------------------------------------------------------- */

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
    struct lad_machine *m;
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
};
void lad_fetch_init(struct lad_machine *m);
/* The HBM has time for this head (limited), or for all from this head of the layer on (ideal). */
void lad_fetch_open(struct lad_machine *m, uint32_t layer, uint32_t head);
void lad_fetch_close(struct lad_machine *m);
void lad_fetch_more(struct lad_machine *m);
/* Positions fetched for a head-sample that enters a tile. */
uint32_t lad_fetched(const struct lad_machine *m, const struct lad_sample *s);

/* ---- lad_program.c: the order of it all ---------------------------------------------------------------------------------------- */

struct lad_program {
    enum { LAD_WARMING, LAD_LAYERS, LAD_DRAINING, LAD_ONCE, LAD_FINISHED } phase;
    uint32_t layer, step; /* layer simulated; step in it */
    uint32_t warm, warm_periods;
    int others[DSE_OPS_MAX], once[DSE_OPS_MAX]; /* operators with jobs: of a layer, besides those of single heads; of the step */
    uint32_t n_others, n_once, at_once;
    uint64_t job; /* the next */
    enum { LAD_RUNS_NOTHING, LAD_RUNS_JOB, LAD_RUNS_PERIOD, LAD_RUNS_DRAIN } runs;
    int op; /* of the job that runs */
    dse_ps since;
    uint32_t resource;
    dse_ps op_time[DSE_OPS_MAX], op_vpu[DSE_OPS_MAX], op_dram[DSE_OPS_MAX]; /* time; of it, VPUs at work; weights under way */
    uint64_t op_bytes[DSE_OPS_MAX];
    dse_ps warm_time, drain_time;
    dse_ps *layer_time; /* by layer */
};
/* Is the operator one of the step, not of every layer? */
bool lad_is_once(const struct lad_machine *m, const struct lad_op *o);
/* What linear layers keep in DRAM. Needs nothing of the machine but point, step and batch. */
struct lad_stored lad_stored_by(const struct lad_machine *m);
void lad_program_init(struct lad_machine *m);
/* What was running has ended: go on. */
void lad_program_next(struct lad_machine *m);
/* Job number i of the run, in order; false behind the last. */
bool lad_program_job(const struct lad_machine *m, uint64_t i, struct lad_job *ret);

/* ---- the machine --------------------------------------------------------------------------------------------------------------- */

struct lad_machine {
    struct dse_sim *sim;
    const struct lad_point *pt;
    const struct lad_params *p;
    const struct lad_step *step; /* of the closed form at this batch */
    uint32_t layers, heads, batch, tiles, rounds;
    uint32_t active_capacity; /* of a tile's active FIFO; 0: no bound */
    double warm_fetched;      /* share of the wanted positions that are fetched for heads that fill the pipeline */
    struct lad_stored stored;
    struct lad_draws draws;
    struct lad_memory memory;
    struct lad_tile *tile;
    struct lad_pipeline_state slots;
    struct lad_linear linear;
    struct lad_fetcher fetcher;
    struct lad_program program;
    struct lad_account account;
    uint64_t bytes[LAD_TRAFFICS], stage1_bytes, stage4_bytes; /* on the bus, of what is counted */
    uint64_t moved;                                           /* of all */
    dse_ps apid_stalled, md_stalled;
    uint64_t relieved; /* head-samples that stage 4 has taken before their time */
};

/* A segment is on its way. */
void lad_count(struct lad_machine *m, const struct dse_segment *s, enum lad_traffic traffic, bool counted, uint64_t *ret_stage);

#endif
