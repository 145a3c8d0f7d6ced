/* SwiftKV-MHA, inside: parameters, metrics, equations, and the steps of the closed form. README.md holds the equations (E..) and
 * assumptions (A..) that the comments name.
 *
 * swiftkv_step_init times one step (swiftkv_timing.c), swiftkv_chip_at says what of the FPGA it takes and what that draws
 * (swiftkv_fpga.c), swiftkv_fixed.c holds the fixed-point arithmetic: products on DSPs, exponential, rotary embedding.
 *
 * Units inside: seconds, bytes, watts, cycles. Only the structs of parameters, metrics and equations carry the units of their
 * names.
 */
#ifndef SWIFTKV_H
#define SWIFTKV_H

#include <dse/cache.h>
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/interconnect.h>
#include <dse/model.h>
#include <dse/power.h>
#include <dse/sampling.h>
#include <dse/sim.h>
#include <dse/workload.h>

#include <stdbool.h>

enum swiftkv_attention_kind { SWIFTKV_SWIFTKV, SWIFTKV_NATIVE, SWIFTKV_FLASH, SWIFTKV_STREAMING };
enum swiftkv_update { SWIFTKV_UPDATE_IDEAL, SWIFTKV_UPDATE_OWN, SWIFTKV_UPDATE_SHARED, SWIFTKV_UPDATE_SINGLE };
enum swiftkv_kv_fetch { SWIFTKV_FETCH_GROUP, SWIFTKV_FETCH_HEAD };
enum swiftkv_mapping { SWIFTKV_ONE_OUTPUT, SWIFTKV_SEVERAL_OUTPUTS };
enum swiftkv_stalls { SWIFTKV_STALLS_ARRAY, SWIFTKV_STALLS_BOTH };
enum swiftkv_head { SWIFTKV_HEAD_EXCLUDED, SWIFTKV_HEAD_INCLUDED };
enum swiftkv_errors { SWIFTKV_ERRORS_IGNORED, SWIFTKV_ERRORS_MEASURED };
enum swiftkv_layout { SWIFTKV_LAYOUT_CHANNEL, SWIFTKV_LAYOUT_INTERLEAVED };
enum { SWIFTKV_PUBLISHED_HEAD_DIM = 128 }; /* t_v_cycles is of a head of this size */

struct swiftkv_params {
    struct dse_workload workload;
    struct dse_cache cache;
    struct dse_economics economics;
    struct dse_dram dram;
    struct dse_links links;
    const struct dse_fpga *fpga;

    int64_t processors, dsps_per_processor, extra_dsps;
    double clock_mhz;
    int64_t q_int_bits, q_frac_bits, lut_bits;
    double gemv_dsps, fxp_dsps; /* of one product; "auto" before resolve */

    int32_t gemv_mapping, gemv_stalls, head;
    double gemv_efficiency;
    int64_t weight_reuse;

    int32_t attention, value_update, kv_fetch;
    int64_t block, rope_cycles, overhead_cycles;
    double t_s_cycles, t_v_cycles, t_b_cycles;

    int64_t budget_cycles;
    double rope_base;
    int32_t arithmetic_error, exp_rounding; /* enum swiftkv_errors, dse_rounding */
    int32_t power;                          /* enum dse_power */
    double reference_power_w, static_share; /* static_share: "auto" before resolve */

    /* the event level alone */
    struct dse_events events;
    struct dse_sampling sampling;
    double kv_memory_kib;
    int32_t kv_layout;
    int64_t dot_latency_cycles, compare_latency_cycles, exp_latency_cycles, update_latency_cycles, divide_latency_cycles;
    int64_t pipe_fifo, sfu_lanes, dispatch_lanes, sfu_latency_cycles;
};

struct swiftkv_metrics {
    struct dse_common common;
    double linear_us, attention_share, communication_us;
    double cached_positions, technique_mib;
    double retained_mass, attention_error, attention_error_sd; /* NaN where nobody measured it */
    struct dse_score task;
    double effective_gops, chip_gop_per_j, tokens_per_j;
    double chip_power_w, dram_power_w;
    double luts, ffs, brams, dsps;
    double lut_share, ff_share, bram_share, dsp_share;
    double exp_error_percent, rope_drift;
    double dram_footprint_gib;
};

/* What the paper says of one dot product, one table, one layer (see the rows in swiftkv_equations.c). */
struct swiftkv_equations {
    double gemv_lanes, gemv_width, gemv_peak_gops, array_peak_gops;
    double fxp_lanes, dot_cycles, update_cycles, position_cycles, attention_cycles;
    double kv_dram_cycles;
    double layer_gemv_cycles, layer_ideal_cycles;
    double token_ops, array_dsps, budget_dsps;
    double exp_estimate_percent, exp_swept_percent, exp_rounded_percent;
    double rope_simulated_drift;
};

/* ---- fixed-point arithmetic: swiftkv_fixed.c ------------------------------------------------------------------------------- */

/* E1: DSP48E2 slices (multipliers of 27 x 18 bits, two's complement) of one product of signed numbers of these widths. */
double swiftkv_product_dsps(int64_t a_bits, int64_t b_bits);
/* E12: largest relative error of 2^x between 2^lut_bits equal steps joined by straight lines: exact, in exact arithmetic; and the
 * usual estimate to second order, (step ln 2)^2 / 8. */
double swiftkv_exp_error(int64_t lut_bits);
double swiftkv_exp_estimate(int64_t lut_bits);
/* E13: the same by trying all 2^q_frac_bits fractions. `rounded`: table, slopes and result are kept in q_frac_bits. Cost: one exp2
 * an argument. Requires lut_bits <= q_frac_bits <= 30. */
double swiftkv_exp_swept(int64_t lut_bits, int64_t q_frac_bits, bool rounded);
/* E14: bound on the error of (cos, sin) after `positions` updates by angle addition; 2 at most, where no angle is left. */
double swiftkv_rope_bound(int64_t q_frac_bits, double positions);
/* E15: the worst error over the frequencies of a head and all positions up to `positions`, the updates carried out in
 * fixed point. Cost: a few ns a position and frequency. */
double swiftkv_rope_simulated(int64_t q_frac_bits, double base, int64_t head_dim, int64_t positions);

/* ---- a step: swiftkv_timing.c ---------------------------------------------------------------------------------------------- */

/* E2: products a cycle in a processor's MAC array. */
double swiftkv_gemv_lanes(const struct swiftkv_params *p);
double swiftkv_fxp_lanes(const struct swiftkv_params *p);
/* E3: cycles of the whole array for `rows` vectors of k elements times a k x n matrix. */
double swiftkv_gemv_cycles(const struct swiftkv_params *p, double rows, double k, double n);

/* E24: what the cache keeps, and what its technique takes of a step. */
struct dse_cache_step swiftkv_cache_step(const struct swiftkv_params *p);
/* E25: what a step sees of the cache, and the fixed-point numbers that it is computed in; *ret_arithmetic outlives it. */
struct dse_cache_steps swiftkv_cache_steps(const struct swiftkv_params *p, struct dse_arithmetic *ret_arithmetic);

/* E6: cycles of one head and position, and of a block of `block` positions (0 but for flash). */
struct swiftkv_cycles {
    double dot, update, sweeps; /* their sum is what a position takes */
    double block;
    double own_update; /* of an update that has arrays of its own, beside the dot product */
};
struct swiftkv_cycles swiftkv_position_cycles(const struct swiftkv_params *p, const struct dse_attention *a);
/* The operators of one chip and pass, and the attention of full layers with its `read` positions. */
void swiftkv_expand(const struct swiftkv_params *p, struct dse_oplist *ret);
/* The same with experts as drawn; NULL: the mean. */
void swiftkv_expand_drawn(const struct swiftkv_params *p, const struct dse_draw *draw, struct dse_oplist *ret);
/* E27: the workload is what the paper's machine knows: full attention, a dense network, one chip, sequences that are alike. */
bool swiftkv_is_simple(const struct dse_workload *w);

/* What the heads of a step come to: positions that the queries of one head see, how often the array is dealt heads in a layer,
 * and how many heads' keys and values are read (E5). */
struct swiftkv_dealt {
    double queries, pairs, blocks; /* of one head of one sequence; blocks of p->block positions, the last of a query maybe short */
    double rounds, reads;          /* of a layer, all sequences */
    double bounds;                 /* E24: of pages, that a query head multiplies as keys */
    double extra_cycles;           /* of a position of a head, for the technique */
    double extra_bytes;            /* of a position that is read */
    double row_bytes;              /* of a position that is read: key and value */
};
/* `a`: attention of one kind of layers. */
void swiftkv_deal(const struct swiftkv_params *p, const struct dse_attention *a, struct swiftkv_dealt *ret);

struct swiftkv_op {
    const char *name;
    enum dse_op_kind kind;
    int source;            /* index into the operator list */
    double time_s, dram_s; /* dram_s: of its bytes alone */
    double bytes, ops;
    double dsp_products; /* as those of a step */
    double link_joules;  /* E28: of what it sends */
};

/* Attention of all layers. stream_s is the longer of computing and reading keys and values. */
struct swiftkv_attention {
    double compute_s, dram_s, stream_s, rope_s, overhead_s, time_s;
    double bytes, ops, dsp_products;
    double technique_bytes; /* E24: part of bytes */
};

/* What a step is made of, of one chip; times are of the chip, too, but for communication. */
struct swiftkv_step {
    int n_ops, n_groups;
    struct swiftkv_op op[DSE_OPS_MAX];                  /* without those of attention */
    struct swiftkv_attention attention;                 /* of all groups */
    struct swiftkv_attention group[DSE_ATTENTIONS_MAX]; /* by kind of layers, as in the operator list */
    double tokens;
    double time_s, linear_s, compute_bound_s, dram_bound_s, latency_bound_s;
    double communication_s, link_joules, bubble_s; /* E28, E29 */
    double footprint;                              /* E8, where the operators tell; else below 0 */
    double bytes, ops;                             /* ops: multiplications and additions of linear layers and attention */
    double dsp_products;                           /* DSPs times cycles that did useful products in the MAC arrays */
};
void swiftkv_step_init(struct swiftkv_step *ret, const struct swiftkv_params *p);
/* One pass, before swiftkv_step_end. */
void swiftkv_step_parts(struct swiftkv_step *ret, const struct swiftkv_params *p);
/* The same of these operators. */
void swiftkv_step_of(struct swiftkv_step *ret, const struct swiftkv_params *p, const struct dse_oplist *list);

/* What a step is made of; a share of a step is made of shares of the same, which need not be whole (swiftkv_bound.c). */
void swiftkv_step_start(struct swiftkv_step *ret);
/* Is the operator a linear layer that the step has? */
bool swiftkv_counts(const struct swiftkv_params *p, const struct dse_op *op);
/* E4, E27: how often the weights of a linear layer are read: once for weight_reuse rows; of experts, whose rows are a mean, half of
 * a last reading is left on the mean. */
double swiftkv_reads(const struct swiftkv_params *p, const struct dse_op *op);
/* Of an expert's. */
double swiftkv_expert_reads(const struct swiftkv_params *p, double rows);
/* E4: a linear layer of so many rows, whose weights are read so often. */
void swiftkv_add_linear(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_op *op, double rows, double reads);
/* E26: a recurrence reads, changes and writes its state on the MAC arrays, in the fixed point of attention. */
void swiftkv_add_recurrence(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_op *op);
/* E5..E8: attention of one kind of layers, of so many sequences, whose heads are dealt like that. */
void swiftkv_add_attention(struct swiftkv_step *s, const struct swiftkv_params *p, const struct dse_attention *a,
                           const struct swiftkv_dealt *dealt, double batch, double ops);
/* The step's time out of its parts: E29. */
void swiftkv_step_end(struct swiftkv_step *s, const struct swiftkv_params *p);

/* ---- the FPGA: swiftkv_fpga.c ---------------------------------------------------------------------------------------------- */

/* E9, E10: what the machine takes of the FPGA, and what it draws without the HBM; operations of the law are products of DSPs. */
struct swiftkv_chip {
    double luts, ffs, brams, dsps;
    double array_dsps; /* of the processors */
    struct dse_power_law law;
};
/* The same for a part of the step; with the HBM. */
double swiftkv_joules(const struct swiftkv_params *p, const struct swiftkv_chip *chip, double seconds, double bytes,
                      double dsp_products);
void swiftkv_chip_at(const struct swiftkv_params *p, struct swiftkv_chip *ret);
/* LUTs that grow with a DSP of the arrays: of processors and dispatcher. */
double swiftkv_luts_per_dsp(const struct swiftkv_params *p);
/* NULL, or what the FPGA has too little of. */
const char *swiftkv_chip_check(const struct swiftkv_params *p);

/* E8: bytes in the DRAM of a chip. */
double swiftkv_footprint(const struct swiftkv_params *p);
/* What must be bought: the boards of all chips. */
struct dse_bill swiftkv_bill_of(const struct swiftkv_params *p);
/* The model's equations: swiftkv_equations.c. */
extern const struct dse_metric swiftkv_equations_table[];
void swiftkv_equate(const void *params, void *equations);
/* Metrics of a step, and its breakdown when that is not NULL: swiftkv_report.c. */
void swiftkv_report(const struct swiftkv_params *p, const struct swiftkv_step *step, struct swiftkv_metrics *m,
                    struct dse_breakdown *breakdown);
/* Floors and ceilings of the metrics over a box: swiftkv_bound.c. */
bool swiftkv_bound(const void *lo, const void *hi, void *floor, void *ceiling);

/* The event level: swiftkv_events.c. */
bool swiftkv_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);

extern const struct dse_model dse_model_swiftkv;

#endif
