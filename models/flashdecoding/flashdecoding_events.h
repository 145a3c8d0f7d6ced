/* FlashDecoding++ at event level, inside. README.md, "Event level", holds the equations (E19 to E25, E35).
 *
 *     flashdecoding_events.c   simulate(): the queue of kernels, launches, what they took
 *     flashdecoding_work.c     what the blocks of each kernel do
 *     flashdecoding_draws.c    which vectors leave the range, and are done again
 *     flashdecoding_grid.c     blocks on SMs
 */
#ifndef FLASHDECODING_EVENTS_H
#define FLASHDECODING_EVENTS_H

#include "flashdecoding.h"
#include "flashdecoding_grid.h"

/* What a run idealises (sim.h), and the machine with it. */
struct fd_site {
    struct dse_sim *sim;
    const struct fd_machine *m;
    bool whole;            /* kernels take the time of the closed form: kernel_losses = "included", "measured" */
    bool ahead;            /* DSE_IDEAL_FIFOS */
    bool flat_memory;      /* DSE_IDEAL_DRAM */
    bool mean;             /* DSE_IDEAL_DRAWS */
    bool even;             /* DSE_IDEAL_SYNC */
    bool profiled;         /* kernels and tiles are chosen by their times at this level */
    double memory_s, l2_s; /* latencies */
    double l2_stream;      /* bytes a second of one SM */
};
struct fd_site fd_site_of(struct dse_sim *sim, const struct fd_machine *m);

/* ---- linear operators: E21 --------------------------------------------------------------------------------------------------- */

/* A kernel that has been laid out: its blocks, or, when it has none, the seconds it takes. */
struct fd_kernel_run {
    double seconds;
    struct fd_grid_spec grid;
    struct fd_blocks blocks;
};
/* grid.blocks points into *ret. */
void fd_linear_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_gemm *g, enum fd_kernel kernel,
                   const struct fd_cost *cost);
/* By itself, not in the queue. */
double fd_linear_seconds(const struct fd_site *at, const struct fd_gemm *g, enum fd_kernel kernel, const struct fd_cost *cost);
/* The three implementations with their seconds at this level; the flat GEMM at `tile_n`, or at its best tile, as `lookup` has it.
 */
void fd_profile(const struct fd_site *at, const struct fd_gemm *g, struct fd_cost three[FD_KERNELS]);

/* ---- attention of one layer: E22, E23 ------------------------------------------------------------------------------------ */

/* What is the same in all layers. */
struct fd_attention {
    const struct fd_site *at;
    struct fd_attention_shape shape;
    bool prefill;
    double n, sequences, heads, kv_heads; /* of one device */
    double row_bytes;                     /* K and V of one position of one KV head */
    double widened_each;                  /* operations that make numbers of one position of a KV head */
    double tile, tiles;                   /* positions; tiles of n */
    double splits;                        /* blocks of a KV head; prefill: blocks of rows of a head */
    bool in_cache;                        /* K and V of the layer fit the last-level cache */
    struct fd_blocks *blocks;             /* of the first pass */
    struct fd_grid_spec first;
    double reduce_s; /* the kernel that adds partial results */
    double fixed_s;  /* what E13 adds to loading and computing, that kernel with it */
};
void fd_attention_init(struct fd_attention *ret, const struct fd_site *at);
void fd_attention_init_of(struct fd_attention *ret, const struct fd_site *at, const struct fd_attention_shape *shape);
/* Blocks that do vectors again: `rows` of one head (prefill) or of the query heads of one KV head (decode), over all positions. */
struct fd_blocks fd_again_blocks(const struct fd_attention *a, double rows, double count);
/* Vectors that share K and V when they are done again, and how many such groups there are. */
double fd_group_vectors(const struct fd_attention *a);
double fd_groups(const struct fd_attention *a);

/* ---- the technique of a cache, of one layer: E35 -------------------------------------------------------------------------- */

/* One of the kernels that it takes, all alike; returns how many. */
double fd_technique_run(struct fd_kernel_run *ret, const struct fd_site *at);

/* ---- flashdecoding_events_llms.c ------------------------------------------------------------------------------------------ */

/* Experts of all layers that have some, or of those simulated. */
struct dse_draw fd_draw_of(const struct dse_sim *sim, const struct fd_params *p);
/* E21, E24: runs the parts of a pass, and sets what they took; `seconds`: of the closed form. False: the run failed. */
bool fd_run_parts(struct dse_sim *sim, const struct fd_site *at, double seconds, struct fd_step *step);

/* ---- flashdecoding_draws.c ----------------------------------------------------------------------------------------------- */

/* What a layer does again. */
struct fd_again_run {
    struct fd_grid_spec grid; /* grid.n = 0: nothing */
    double vectors, bytes;    /* from DRAM */
};
/* Of the layer; `blocks` has room for FD_AGAIN_MAX. The same one each time it is asked for. */
enum { FD_AGAIN_MAX = 4096 };
struct fd_again_run fd_draw_again(const struct fd_attention *a, uint64_t layer, struct fd_blocks *blocks);

#endif
