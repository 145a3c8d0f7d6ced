/* Bounds of the closed form over a box of parameters (dse_model.bound). Each function here is to the one of its name in
 * flashdecoding.h what an interval is to a number, and stands in the file of the same name: flashdecoding_bound_gemm.c for
 * flashdecoding_gemm.c, flashdecoding_bound_step.c and flashdecoding_bound_power.c likewise; a layer's attention, of
 * flashdecoding_attention.c, in flashdecoding_bound_attention.c. Who changes an equation changes its bound beside it.
 *
 * Where a quantity only grows, or only falls, with everything that it is made of, its bound is the closed form's own function at
 * the ends: of a machine that is `fast` for what little there is to do, and of one that is `slow` for the most there is.
 */
#ifndef FLASHDECODING_BOUND_H
#define FLASHDECODING_BOUND_H

#include "flashdecoding.h"

#include <dse/interval.h>
#include <dse/workload_box.h>

struct fd_box {
    struct fd_params lo, hi;              /* the ends, as far as check() can accept them */
    struct fd_params least, most;         /* the same with the devices the other way round: what one of them has to do */
    struct dse_interval clock_ghz;        /* which the limit can lower */
    struct dse_interval attention_load_s; /* of a layer, at the clocks looked at, as far as it is known (struct fd_attention_law) */
    struct dse_cache asked_lo, asked_hi;  /* of the cache; those of the ends have the least and the most of E33 */
    struct dse_interval target;           /* positions that stay */
    /* Of LLMs that fd_is_plain does not have: a part of the box, and its operators at both ends. NULL else. */
    const struct dse_workload_part *part;
    const struct dse_oplist *ops_least, *ops_most;
    struct fd_machine fast, slow; /* rates of hi and lo; their p and their operands are those of least and most */
};
/* False: check() accepts no point of the box. `part` may be NULL. */
bool fd_box_init(struct fd_box *ret, const struct fd_params *lo, const struct fd_params *hi, const struct dse_workload_part *part);
/* Chips of all. */
struct dse_interval fd_devices_of(const struct fd_box *b);
/* The same box at other clocks. */
void fd_box_clock(struct fd_box *b, struct dse_interval clock_ghz);

/* Operands between two, as they are asked for, and what points of the box make of them: where the tensor cores have no peak of a
 * format, activations have 16 bits, so that what asks for fewer bits can have more. */
struct fd_range {
    struct fd_operands least, most;
    enum fd_format widest, narrowest; /* that any point computes in; those between, too */
};
struct fd_range fd_range_of(const struct fd_box *b, const struct fd_operands *least, const struct fd_operands *most);
/* The same box, its machines multiplying operands between two. */
void fd_box_set(struct fd_box *b, const struct fd_operands *least, const struct fd_operands *most);

#define FD_OF(box, field) dse_iv((double)(box)->lo.field, (double)(box)->hi.field)

/* ---- linear operators: E6 to E12 ---------------------------------------------------------------------------------------- */

struct fd_gemm_bound {
    struct fd_gemm lo, hi;
};
struct fd_gemm_bound fd_gemm_of_bound(const struct fd_box *b, enum fd_gemm_choice which);

/* The box as it holds the weights of this GEMM, and multiplies them: `b`, or *own. */
const struct fd_box *fd_box_for(const struct fd_box *b, const struct fd_gemm_bound *g, struct fd_box *own);
/* Operations of this GEMM in 16 bits that take the energy of one. */
struct dse_interval fd_op_share_bound(const struct fd_box *b, const struct fd_gemm_bound *g);

struct fd_cost_bound {
    struct dse_interval seconds, bytes;
    struct dse_interval rows, tile_n, blocks, waves; /* of the flat GEMM alone */
};
void fd_three_bound(const struct fd_box *b, const struct fd_gemm_bound *g, struct fd_cost_bound ret[FD_KERNELS]);
/* The fastest of several, which may be any that is not slower than another for sure. */
struct fd_cost_bound fd_fastest_bound(const struct fd_cost_bound *of, int n);
struct fd_cost_bound fd_vendor_bound(const struct fd_box *b, const struct fd_gemm_bound *g);
struct fd_cost_bound fd_linear_bound(const struct fd_box *b, const struct fd_gemm_bound *g);
/* Seconds that an operator takes at least for each row, whatever its kernel and however many rows there are. */
double fd_row_seconds(const struct fd_box *b, const struct fd_gemm_bound *g);

/* ---- a step: E13 to E16 -------------------------------------------------------------------------------------------------- */

struct fd_attention_bound {
    struct dse_interval bytes, products, load_s, compute_s, fixed_s;
    struct dse_interval both_s;  /* what the splits are chosen by: the longer of loading and computing, and what is fixed */
    struct dse_interval least_s; /* the longer of computing and of loading at the bandwidth of all */
    struct dse_interval token_bytes, token_products, token_s; /* of a token; token_s: as least_s */
};
void fd_attention_law_bound(struct fd_attention_bound *ret, const struct fd_box *b);
/* Of any shape, which agree in prompt, tensor and limited. Nothing is known of a token. */
void fd_attention_of_bound(struct fd_attention_bound *ret, const struct fd_box *b, const struct fd_attention_shape *lo,
                           const struct fd_attention_shape *hi);

/* What a device does: in which time, in how much of it kernels run, what it moves and computes. */
struct fd_amounts {
    struct dse_interval seconds, busy_s, bytes, ops; /* ops: as fd_step_ops */
};

/* As struct fd_step. What is known of a token is often less than what is known of a step over its tokens: of the same batch the
 * time of attention and the tokens grow alike. */
struct fd_step_bound {
    struct dse_interval tokens, linear_s, attention_s, sync_s, allreduce_s, wait_s, kernels_s; /* sync_s: and recomputation */
    struct dse_interval attention_load_s, technique_s, technique_bytes;
    struct dse_interval link_j;
    struct fd_amounts step, token;
    /* seconds and busy_s, wider, so that both ends of the first fall with the clock, and those of the second times the clock
     * grow. */
    struct dse_interval clocked_s, clocked_busy_s;
};
void fd_step_bound_init(struct fd_step_bound *ret, const struct fd_box *b);
/* E14: what a kernel takes with the wait for the next launch, and that wait. */
struct fd_launched {
    struct dse_interval each, wait;
};
struct fd_launched fd_launched_bound(const struct fd_box *b, struct dse_interval seconds, struct dse_interval kernels);
/* E15, E30: one of `devices`. */
/* E15, E30, E40: of one number of devices. */
void fd_exchange_bound(const struct fd_box *b, const struct dse_exchange *lo, const struct dse_exchange *hi,
                       struct dse_exchange_bound *ret);

/* E36 to E40, of a box with a part. */
void fd_parts_bound(struct fd_step_bound *ret, const struct fd_box *b);
/* Do both ends have the same kernels? Else nothing is known. */
bool fd_parts_agree(const struct fd_box *b);
/* The GEMM that the metrics of one GEMM are of. */
struct fd_gemm_bound fd_gemm_of_parts_bound(const struct fd_box *b, enum fd_gemm_choice which);
struct dse_interval fd_footprint_bound(const struct fd_box *b);

/* ---- power: E17, E26, E27 ------------------------------------------------------------------------------------------------ */

/* A point: the step at the clock that the limit leaves, and what it takes. */
struct fd_point_bound {
    struct fd_step_bound step;
    struct dse_interval joules, token_joules, watts, demand_w, clock_ghz; /* of a device; clock_ghz: the used one */
};
void fd_point_bound_init(struct fd_point_bound *ret, struct fd_box *b);

bool fd_bound(const void *lo, const void *hi, void *floor, void *ceiling);

#endif
