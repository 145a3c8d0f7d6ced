/* VEDA, inside: parameters, metrics, and the steps of the closed form. README.md holds the equations (E..) and assumptions (A..)
 * that the comments name.
 *
 * A point is evaluated in this order: veda_point_init derives what does not depend on time; veda_attention_at and veda_linear_at
 * time one step; veda_chip_at says what the chip costs.
 *
 * Units inside: seconds, bytes, watts, cycles. Only struct veda_params, struct veda_metrics and struct veda_equations carry the
 * units of their names. "A device" is the one with the most work: the others wait for it.
 */
#ifndef VEDA_H
#define VEDA_H

#include <dse/cache.h>
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/model.h>
#include <dse/interconnect.h>
#include <dse/sampling.h>
#include <dse/sim.h>
#include <dse/workload.h>

enum veda_dataflow { VEDA_FLEXIBLE, VEDA_ADDER_TREE };
enum veda_softmax { VEDA_ELEMENT_SERIAL, VEDA_STAGE };
enum veda_drain { VEDA_DRAIN_OVERLAPPED, VEDA_DRAIN_TILE };
enum veda_sharing { VEDA_SHARE_GROUP, VEDA_SHARE_NOTHING };
enum veda_causal { VEDA_SKIPPED, VEDA_COMPUTED };
enum { VEDA_ACTIVATION_BYTES = 2 }; /* fp16, what the array computes in: Sec. VI */
enum veda_gather { VEDA_GATHER_STREAM, VEDA_GATHER_ROWS };

struct veda_params {
    struct dse_workload workload;
    struct dse_economics economics;
    struct dse_request request;
    struct dse_dram dram; /* of one device */
    struct dse_links links;

    int64_t devices;
    double exchange_us;
    int64_t pe_rows, pe_columns, pe_copies;
    double clock_ghz;
    int32_t dataflow;
    int64_t tree_width;
    double v_access_cycles;
    int32_t softmax;
    int64_t sfu_exp, sfu_div, sfu_fifo, softmax_passes;
    int32_t drain;
    int32_t sharing, causal, gather;

    struct dse_cache cache;
    int64_t vote_fifo, vote_lanes;

    double buffer_kib;
    const struct dse_sram_table *sram;
    int64_t sram_word_bits;
    const struct dse_technology *technology;
    int32_t power, area;

    /* the event level alone */
    struct dse_events events;
    struct dse_sampling sampling;
    double stream_fifo_kib;
    int64_t norm_fifo, sfu_exp_cycles, sfu_div_cycles;
};

struct veda_metrics {
    struct dse_common common;
    double cached_positions;
    double retained_mass, attention_error, attention_error_sd; /* NaN where the retention profile knows nothing */
    struct dse_score task;
    double linear_us, attention_share, communication_us, eviction_speedup;
    double array_utilization, scores_utilization, values_utilization;
    double softmax_exposed_us, vote_exposed_us;
    double weights_mib, kv_mib, vote_mib;
    double energy_dram_mj, energy_sram_mj, energy_modules_mj, tokens_per_j;
    double energy_clock_mj, energy_leakage_mj, energy_interface_mj, supply_v; /* NaN with power = "constant" */
    double energy_links_mj;
    double core_mm2, phy_mm2, noc_mm2, links_mm2; /* links_mm2: NaN where nobody published it */
    double chip_power_w, matmul_gops, chip_gop_per_j;
    double dram_footprint_gib;
};

struct veda_equations {
    double target_length, reduced_positions;
    double scores_row_cycles, values_row_cycles, values_epochs;
    double attention_head_cycles;
    double causal_share, mean_score, items_oldest, items_newest, threshold_cv;
    double peak_gops, linear_gops;
    double pe_area_percent, pe_power_percent, vote_area_percent, vote_power_percent;
    double sfu_area_percent, sfu_power_percent, buffer_area_percent, buffer_power_percent;
};

/* ---- the array --------------------------------------------------------------------------------------------------------- */

/* E1: what decides how long a GEMV takes. */
struct veda_array {
    bool tree;           /* adder trees: inner products only */
    double unit, copies; /* PEs of a copy; copies of the array */
    double pes;          /* all of them */
    double width;        /* inputs of an adder tree */
    double trees, issue; /* trees that the PEs make up; cycles to issue one tree's inputs */
};
void veda_array_init(struct veda_array *ret, const struct veda_params *p);

enum veda_product { VEDA_INNER, VEDA_OUTER };

/* E2, E3: the side of a GEMV that is laid over the array: how many cycles a vector of `size` elements takes, and how many such
 * vectors the array takes at a time. One of the two is 1. */
struct veda_lay {
    double cycles, at_once;
};
struct veda_lay veda_lay_out(const struct veda_array *a, double size);
/* E2, E3: cycles of (1, k) x (k, n); k, n whole and positive. Adder trees take every product for an inner one. */
double veda_gemv_cycles(const struct veda_array *a, enum veda_product product, double k, double n);

/* ---- lengths ----------------------------------------------------------------------------------------------------------- */

/* E5: the numbers of cached positions that the queries of a sequence meet in one step: each whole number above `from` up to `to`,
 * then `flat` times `flat_length`; all of them divided by `mean_of` (a step that is the mean of several). */
struct veda_span {
    double from, to, flat, flat_length, mean_of;
};
/* Sum over the span of ceil(length / q): E4. q = 1: the positions met. */
double veda_span_sum(const struct veda_span *s, double q);

/* ---- a design point ---------------------------------------------------------------------------------------------------- */

struct veda_point {
    const struct veda_params *p;
    const struct dse_llm *llm;
    bool prefill;
    struct veda_array array;
    struct veda_span span;
    double layers, batch, d, kv_heads, group; /* group: query heads that share keys and values */
    double device_kv_heads;                   /* of the device that has most */
    double devices, clock_hz;
    double target;                         /* E6: positions that eviction leaves; infinite without eviction */
    double longest, held;                  /* most positions that a query meets; that the cache holds at any time */
    double queries;                        /* of a sequence in one step */
    double positions;                      /* met by one head of a sequence in one step: veda_span_sum(span, 1) */
    double pairs;                          /* of them, those that count: all but a computed upper triangle */
    const struct dse_eviction *policy;     /* who leaves the cache */
    double row_bytes;                      /* a key or a value */
    double pair_bytes;                     /* a key and its value */
    double stream_s, row_s;                /* seconds a byte, in streams and in rows of K and V, on one device */
    double row_factor;                     /* bytes on the bus of a byte of K or V */
    double buffer_bytes, activation_bytes; /* of the buffer; of one token: the widest vectors */
    double tokens;                         /* that the step yields */
};
/* Requires nothing; what makes no sense (an eviction ratio of 0) is found by veda_point_check. */
void veda_point_init(struct veda_point *ret, const struct veda_params *p);
/* The same point without eviction. */
void veda_point_keep_all(struct veda_point *pt);
/* Of keys, and values, of so many bytes. */
void veda_point_rows(struct veda_point *pt, double row_bytes);
/* NULL, or why the point cannot be run. */
const char *veda_point_check(const struct veda_point *pt);
/* By how much, where that reason is about room. */
bool veda_point_shortage(const struct veda_point *pt, const char *reason, struct dse_shortage *ret);
/* Bytes in the DRAM of all devices. */
double veda_footprint(const struct veda_point *pt);
/* Can the machine carry the policy out? */
bool veda_can(const struct dse_eviction *policy);
/* E5, E16: what a step sees of the cache. */
struct dse_cache_steps veda_cache_steps(const struct veda_params *p);

/* ---- one step ---------------------------------------------------------------------------------------------------------- */

/* One of the two GEMVs of attention, all layers, heads and sequences: E8. */
struct veda_period {
    double gemv_s, dram_s, sfu_s, vote_s, time_s; /* of a device; time_s the longest of them */
    double bytes, device_bytes;                   /* of all devices; of one */
};

struct veda_attention {
    struct veda_period scores, values;
    double softmax_s, drain_s; /* between the two, and after them */
    double time_s;
    double softmax_exposed_s, vote_exposed_s;
    double kv_bytes, vote_bytes, bytes; /* of all devices; bytes is everything */
    double ops, value_ops;              /* useful; of them, those of s V */
    double widened;                     /* multiply-adds that make numbers of a cache with scales: E31 */
};
void veda_attention_at(const struct veda_point *pt, struct veda_attention *ret);
/* Its time, and what of it nothing hides, of both periods and the softmax. */
void veda_attention_sum(struct veda_attention *a);
/* E8, A8: do keys and values of a prompt's KV head stay in the buffer, so that they are read once? Do the scores of a head, or the
 * queries and outputs of a prompt, have no room there, so that they go through the DRAM? */
bool veda_prompt_stays(const struct veda_point *pt);
bool veda_scores_leave(const struct veda_point *pt);
bool veda_vectors_leave(const struct veda_point *pt);
/* E7: cycles of the two GEMVs for one query head and sequence. */
double veda_scores_cycles(const struct veda_point *pt);
double veda_values_cycles(const struct veda_point *pt);
/* E31: cycles in which numbers are made of the rows of one of them, of a cache with scales. */
double veda_widening_cycles(const struct veda_point *pt);
/* The same of `rows` rows that the array has. */
double veda_row_widening_cycles(const struct veda_point *pt, double rows);

/* One linear layer, all instances: E11. */
struct veda_linear {
    const char *name;
    double gemv_s, dram_s, time_s;    /* of a device */
    double norm_s;                    /* of the norm before it, whether or not anything hides it; 0: there is none */
    double norm_elements;             /* that it takes, of other LLMs than the paper's */
    double weights_s;                 /* part of dram_s: the weights */
    double row_elements;              /* of a row's inputs and outputs, which stay on chip or do not */
    double input_bytes, output_bytes; /* activations of one device that are read from the DRAM; of all that are written to it */
    double shared_input_bytes;        /* the former of all devices, if tiles of the weights were as small as one likes */
    double weight_bytes, bytes;       /* of all devices; bytes is everything */
    double ops;
};

/* What one instance of a linear layer works on, on the device with most: E11. */
struct veda_linear_shape {
    bool outer, norm;       /* product; a norm comes before it */
    double instances, rows; /* layers, or 1; vectors that share the weights */
    double k, n;            /* inputs; outputs of the device */
    double weight_bytes;    /* of the device */
    double new_bytes;       /* keys and values appended, all rows */
    double read_bytes;      /* activations of one row that go through the DRAM: read for every tile of the weights, */
    double write_bytes;     /* and written once */
    double tiles;           /* of weights, of half of the buffer each */
};
void veda_linear_shape(const struct veda_point *pt, int which, struct veda_linear_shape *ret);

enum veda_linear_index { VEDA_QKV, VEDA_OUTPUT, VEDA_FFN_UP, VEDA_FFN_DOWN, VEDA_LM_HEAD, VEDA_LINEARS };

struct veda_step {
    struct veda_linear linear[VEDA_LINEARS];
    int n_linear;
    struct veda_attention attention;
    double norm_s;     /* norms that nothing hides: E12 */
    double exchange_s; /* E13 */
    double linear_s, time_s;
    double weight_bytes, bytes, ops;                       /* of all devices */
    double compute_bound_s, dram_bound_s, latency_bound_s; /* sum to time_s */
    double gemv_s;                                         /* the array of a device at work */
};
void veda_step_at(const struct veda_point *pt, struct veda_step *ret);
/* Of a step whose linear layers (with their sums, and norm_s) and attention are known: everything else. */
void veda_step_sum(const struct veda_point *pt, struct veda_step *s);
/* Do `elements` activations of each of `rows` tokens stay on chip? One row always does (veda_point_check). */
bool veda_rows_fit(const struct veda_point *pt, double rows, double elements);

/* ---- power and area ---------------------------------------------------------------------------------------------------- */

enum veda_module { VEDA_PE_ARRAY, VEDA_VOTING_ENGINE, VEDA_SFU, VEDA_SCHEDULE, VEDA_BUFFER, VEDA_MODULES };

enum { VEDA_TABLE1_NM = 28, VEDA_PUBLISHED_GHZ = 1 };

/* Of the technology over the node that a number was published for. */
struct veda_ratios {
    double area, energy, power;
};

/* E14: one chip; the buffer comes from the SRAM table. */
struct veda_chip {
    double area_mm2[VEDA_MODULES], power_w[VEDA_MODULES]; /* as published, in the technology, at the clock */
    double total_mm2, total_w;
    double table_w[VEDA_MODULES]; /* as published, in its node, at its clock; the buffer: 0 */
    struct dse_sram buffer;
    struct veda_ratios logic, memory;
    struct dse_supply supply; /* E29; with power = "constant" nothing asks for it */
    struct dse_die die;       /* E30, with links */
    double links_mm2;         /* E34: of several chips by the workload's degrees; NaN where nobody published it, and left out */
};
/* NULL, or why the chip cannot be priced. */
const char *veda_chip_check(const struct veda_params *p);
/* By how much what it needs is not there. */
bool veda_chip_shortage(const struct veda_params *p, const char *reason, struct dse_shortage *ret);
/* E34: of one chip with links, in the area that is counted. NaN where nobody published it. */
double veda_links_mm2(const struct veda_params *p);
/* What cannot be priced is NaN. */
void veda_chip_at(const struct veda_params *p, struct veda_chip *ret);
/* The modules alone; then, of a chip whose buffer is known, area and power of that and the sums. */
void veda_modules_at(const struct veda_params *p, struct veda_chip *ret);
void veda_buffer_at(const struct veda_params *p, struct veda_chip *c);

/* ---- energy ------------------------------------------------------------------------------------------------------------ */

/* What a step, or a part of it, does on all devices: the same of both fidelities. */
struct veda_work {
    double seconds, macs, bytes; /* bytes to and from the DRAM */
    double sfu_ops, votes;       /* exponentials and divisions; scores through the voting engine */
    double link_joules;          /* E34: of what is sent */
};
struct veda_work veda_linear_work(const struct veda_linear *l);
struct veda_work veda_norm_work(const struct veda_point *pt, const struct veda_step *s);
struct veda_work veda_attention_work(const struct veda_point *pt, const struct veda_attention *a);
struct veda_work veda_step_work(const struct veda_point *pt, const struct veda_step *s);
/* Special functions and votes of attention, by when they are done: beside q K^T, beside s V, between them. */
struct veda_score_work {
    double sums, weights, stage, votes;
};
struct veda_score_work veda_score_work(const struct veda_point *pt);

/* E28: what work costs, and the watts of what runs whatever is done, of all devices. */
struct veda_power {
    const struct dse_dram *dram;
    bool constant; /* E15: watts of Table I, and nothing else */
    double watts;  /* all of them */
    double leakage_w, clock_w;
    double sram_w; /* constant */
    double mac_j, mac_buffer_j, sfu_op_j, vote_j, byte_interface_j;
};
void veda_power_at(const struct veda_point *pt, const struct veda_chip *chip, struct veda_power *ret);
struct dse_joules veda_joules_of(const struct veda_power *e, const struct veda_work *w);

/* ---- metrics, breakdown, equations -------------------------------------------------------------------------------------- */

/* Metrics of a step that does such work, but for what is held; *ret_power gets what it costs. `whole_s`: attention without
 * eviction. */
void veda_report(const struct veda_point *pt, const struct veda_step *step, const struct veda_work *work, double whole_s,
                 struct veda_metrics *m, struct veda_power *ret_power);
/* The same of the paper's own workload, and its breakdown when that is not NULL. */
void veda_report_step(const struct veda_point *pt, const struct veda_step *step, double whole_s, struct veda_metrics *m,
                      struct dse_breakdown *breakdown);
void veda_break_down(const struct veda_point *pt, const struct veda_step *step, const struct veda_power *power,
                     struct dse_breakdown *out);
extern const struct dse_metric veda_equations_table[];
void veda_equate(const void *params, void *equations);

/* Floors and ceilings of the metrics over a box: veda_bound.c. */
bool veda_bound(const void *lo, const void *hi, void *floor, void *ceiling);

/* The event level: veda_events.c. */
bool veda_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);

extern const struct dse_model dse_model_veda;

#endif
