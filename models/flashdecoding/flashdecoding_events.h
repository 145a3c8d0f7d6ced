/* FlashDecoding++ at event level, inside. README.md, "Event level", holds the equations (E19 to E25, E35).
 *
 * The closed form is flashdecoding.toml. A kernel's blocks are laid out by numbers of its equations, and what a run took is given
 * back to them.
 *
 *     flashdecoding_events.c   simulate(): the queue of kernels, launches, what they took
 *     flashdecoding_work.c     what the blocks of each kernel do
 *     flashdecoding_draws.c    which vectors leave the range, and are done again
 *     flashdecoding_grid.c     blocks on SMs
 */
#ifndef FLASHDECODING_EVENTS_H
#define FLASHDECODING_EVENTS_H

#include "flashdecoding_closed.h"
#include "flashdecoding_grid.h"

#include <dse/program.h>

enum { FD_ACTIVATION_BYTES = 2, FD_TILES = 7 /* B_N of 8, 16, ..., 512 */ };
/* The kernels of a linear operator, as the equations number them: ImplA, ImplB, ImplC of Sec. 5, and the maker's library (E28). */
enum fd_kernel { FD_GEMV, FD_FLAT, FD_LIBRARY, FD_VENDOR, FD_KERNELS };

/* Numbers of the equations for some operators, and what a run idealises (sim.h). */
struct fd_site {
    struct dse_sim *sim;
    struct dse_closed *closed;
    const struct dse_oplist *list;
    const struct flashdecoding_events_reads *point;
    struct flashdecoding_run_reads r;
    double ghz;                             /* the clock that they have */
    struct dse_closed_at *pairs;            /* E13: what pairs of a query and a position take */
    struct flashdecoding_tile_reads *tiles; /* of each B_N, where the best one is looked for at this level; else NULL */
    bool whole;                             /* kernels take the time of the closed form: kernel_losses = "included", "measured" */
    bool ahead;                             /* DSE_IDEAL_FIFOS */
    bool flat_memory;                       /* DSE_IDEAL_DRAM */
    bool mean;                              /* DSE_IDEAL_DRAWS */
    bool even;                              /* DSE_IDEAL_SYNC */
    bool profiled;                          /* kernels and tiles are chosen by their times at this level */
    double memory_s, l2_s;                  /* latencies */
    double l2_stream;                       /* bytes a second of one SM */
};
/* The point and the list must live as long as the run. */
struct fd_site *fd_site_new(struct dse_sim *sim, struct dse_closed *closed, const struct dse_oplist *list,
                            const struct flashdecoding_events_reads *point);

/* ---- linear operators: E21 --------------------------------------------------------------------------------------------------- */

/* A kernel as its equations have it. */
struct fd_cost {
    enum fd_kernel kernel;
    double k, weight_bytes; /* of its GEMM: depth, bytes of a weight */
    double seconds, load_s, sm_s, bytes;
    double rows, tile_n, blocks, waves;
    double passes, depth, resident; /* of the flat GEMM: passes over the weights, columns of k in a step, blocks of an SM */
    double splits, apart_s;         /* E28 */
    bool two_buffers, kept;
};
/* The GEMM that gemm_us and the like are of, in the place of an operator. */
enum { FD_LOOKED_AT = -1 };
struct fd_cost fd_cost_of(const struct fd_site *at, int op, enum fd_kernel kernel);

/* A kernel that has been laid out: its blocks, or, when it has none, the seconds it takes. */
struct fd_kernel_run {
    double seconds;
    struct fd_grid_spec grid;
    struct fd_blocks blocks;
};
/* grid.blocks points into *ret. */
void fd_linear_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_cost *cost);
/* By itself, not in the queue. */
double fd_linear_seconds(const struct fd_site *at, const struct fd_cost *cost);
/* ImplA, ImplB and ImplC with their seconds at this level; the flat GEMM at `tile_n`, or at its best tile, as `lookup` has it. */
void fd_profile(const struct fd_site *at, int op, struct fd_cost three[FD_VENDOR]);
/* What the engine runs: as the equations say, or with their seconds at this level the fastest of three. */
struct fd_cost fd_chosen(const struct fd_site *at, int op);
/* E25: one of the kernels of an element-wise operator. */
double fd_scalars_seconds(const struct fd_site *at, int op);

/* ---- attention of one layer: E22, E23 ------------------------------------------------------------------------------------ */

/* What is the same in all layers of a group. */
struct fd_attention {
    const struct fd_site *at;
    int group;
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
    double *again_s; /* seconds of an SM for a tile of so many rows that are done again; NaN: not asked yet */
};
void fd_attention_init(struct fd_attention *ret, const struct fd_site *at, int group);
/* The first pass by itself, with the update of synchronized softmax or without. */
double fd_attention_seconds(const struct fd_attention *a, bool updated);
/* Blocks that do vectors again: `rows` of one head (prefill) or of the query heads of one KV head (decode), over all positions. */
struct fd_blocks fd_again_blocks(const struct fd_attention *a, double rows, double count);
/* Vectors that share K and V when they are done again, and how many such groups there are. */
double fd_group_vectors(const struct fd_attention *a);
double fd_groups(const struct fd_attention *a);

/* ---- the technique of a cache, of one layer: E35 -------------------------------------------------------------------------- */

/* One of the kernels that it takes, all alike; returns how many. */
double fd_technique_run(struct fd_kernel_run *ret, const struct fd_site *at);

/* ---- what was seen ----------------------------------------------------------------------------------------------------------- */

/* As the equations have it, of all that is not simulated. */
void fd_seen_init(struct flashdecoding_seen_gives *ret, const struct fd_site *at);
/* The kernel that an operator runs. */
void fd_see_kernel(struct flashdecoding_seen_gives *ret, int op, const struct fd_cost *cost);

/* ---- flashdecoding_events_llms.c ------------------------------------------------------------------------------------------ */

/* E21, E24: runs the operators of a pass, drawn as they are in the list of the site, and sets what they took. `seconds`: of the
 * closed form. False: the run failed. */
bool fd_run_operators(const struct fd_site *at, double seconds, struct flashdecoding_seen_gives *seen);
/* Experts of all layers that have some, or of those simulated. */
struct dse_draw fd_draw_of(const struct dse_sim *sim, const struct dse_closed *closed);

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
