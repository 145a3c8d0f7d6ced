/* Linear layers: weights through a buffer, VPUs, special functions. */
#ifndef LAD_LINEAR_H
#define LAD_LINEAR_H

#include "lad_run.h"

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
    uint32_t chunks, simulated; /* simulated: the first so many of them; the rest is extrapolated (E53) */
    int flows;
    struct lad_flow flow[LAD_FLOWS];
    uint64_t kv_head, rows; /* keys and values that it appends one by one, from this head on */
    bool beside;            /* positions are fetched ahead meanwhile */
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
    struct lad_run *run;
    struct lad_chunk chunk[LAD_CHUNKS + LAD_WRITERS]; /* of the buffer; whose results are on their way to the DRAM */
    uint64_t loaded, consumed;                        /* chunks whose loading has begun; that have been computed */
    struct lad_job loading;                           /* by the DMA */
    uint32_t loading_chunk;                           /* its next */
    uint64_t next_job, jobs;                          /* after it; started */
    bool active, computing;
    struct lad_job job; /* at work */
    double chunk_bytes, slowdown;
    uint32_t dma_actor, vpu_actor, end_actor, sfm_actor, dma, vpu, sfm;
    dse_ps sfm_until;
    unsigned loading_now; /* chunks that are coming */
    dse_ps loading_since, loaded_time, computed_time;
    dse_ps loaded_before, computed_before; /* the job */
    dse_ps began, skipped;                 /* skipped: what the job that ended last would have taken longer */
    double sample_bytes, period_s;         /* E53: of a job; the DRAM's refresh interval */
    double *done_s, *done;                 /* of the job's chunks simulated: when they were computed, since its start; how many */
    uint32_t done_n, done_room;
    double error;        /* standard error of the paces, the largest */
    struct lad_op_work { /* of each operator of the step: VPUs at work; weights under way; bytes on the bus */
        dse_ps vpu, dram;
        uint64_t bytes;
    } work[DSE_OPS_MAX];
};
void lad_linear_init(struct lad_linear *l, struct lad_run *run);
/* Jobs start in the order of lad_signals.job. The end of one is lad_signals.over. */
void lad_job_start(struct lad_linear *l, const struct lad_job *job);
/* E53: how many chunks of a job, from the first on, are simulated. */
uint32_t lad_chunks_simulated(const struct lad_linear *l, const struct lad_job *job);
/* Elementwise work behind the jobs, from now on. */
void lad_sfm_start(struct lad_linear *l, double seconds);
/* Does the weight buffer hold so much that the HBM may do something else? */
bool lad_linear_has_stock(const struct lad_linear *l);

#endif
