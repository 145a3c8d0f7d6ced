/* LAD, inside: parameters, metrics, and the steps of the closed form. README.md holds the equations (E..) and assumptions (A..)
 * that the comments name.
 *
 * A point is evaluated in this order: lad_point_init derives everything that does not depend on the batch; lad_batch chooses the
 * batch; lad_step_at times one step of that batch; lad_chip_at says what the chip costs.
 *
 * Units inside: seconds, bytes, watts, cycles. Only struct lad_params and struct lad_metrics carry the units of their names.
 */
#ifndef LAD_H
#define LAD_H

#include <dse/cache.h>
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/interconnect.h>
#include <dse/model.h>
#include <dse/sim.h>
#include <dse/workload.h>

enum lad_pipeline { LAD_EQ7, LAD_EXACT };
enum lad_decoding { LAD_LOCALITY_AWARE, LAD_FULL_CACHE };
enum lad_slots { LAD_PARTITIONED, LAD_BARRIER, LAD_BALANCED };
enum lad_fill { LAD_FILL_IGNORED, LAD_FILL_STEP, LAD_FILL_LAYER };
enum lad_group_reads { LAD_READS_HEAD, LAD_READS_UNION };
enum lad_gather { LAD_GATHER_STREAM, LAD_GATHER_ROWS };
enum lad_prefetch { LAD_PREFETCH_OFF, LAD_PREFETCH_LIMITED, LAD_PREFETCH_IDEAL };
enum lad_counted { LAD_IGNORED, LAD_COUNTED };
enum { LAD_COUNTER_BYTES = 2 }; /* a counter of an interval */
enum lad_batch_policy { LAD_BATCH_FIXED, LAD_BATCH_FIT_MEMORY, LAD_BATCH_TILE_MULTIPLE, LAD_BATCH_BEST_THROUGHPUT };
enum lad_draws_from { LAD_DRAW, LAD_REPLAY, LAD_SURFACE };
enum lad_elementwise { LAD_HIDDEN, LAD_EXPOSED };

struct lad_params {
    struct dse_workload workload;
    struct dse_cache cache; /* of full-cache decoding */
    struct dse_economics economics;
    struct dse_dram dram;
    struct dse_links links;

    int64_t tiles;
    double sram_mib; /* of one tile */
    int64_t vpu_eas, vpu_md, vpu_ac, vpu_width, apid_width;
    double clock_ghz;
    int64_t cache_bits, position_bits, intervals, recent;
    const struct dse_profile *profile;
    int32_t draws;
    const struct dse_recording *recording;
    double center_scale, active_cv, score_sd;

    int32_t pipeline, decoding, slots, fill, gather, group_reads, counters;
    int64_t accumulator_cycles;
    int32_t prefetch, vain_prefetch, batch_policy, elementwise;
    int64_t resident_g, resident_centers, resident_caches, resident_active, resident_activations;

    const struct dse_sram_table *sram;
    int64_t sram_word_bits;
    const struct dse_technology *technology;
    int32_t power, area;

    /* of the event level alone */
    struct dse_events events;
    double sequence_cv, weight_buffer_kib, dma_window_kib;
    int64_t active_fifo, update_fifo, sram_ports;
};

struct lad_metrics {
    struct dse_common common;
    int64_t batch_used;
    double idle_slots;

    double linear_us, attention_share, communication_us;
    double eas_cycles, apid_cycles, md_cycles, ac_cycles, compute_cycles, memory_cycles, slot_cycles;
    int32_t attention_bound;           /* enum lad_stage */
    double centers, active, hit_ratio; /* NaN where they were measured under other settings */
    double prefetched;
    double cached_positions, technique_mib;
    double retained_mass, attention_error, attention_error_sd, false_negative; /* NaN where nobody measured them */
    struct dse_score task;
    double sram_resident_mib, dram_footprint_gib;

    double centers_mib, active_mib, others_mib, prefetch_mib, weights_mib, full_cache_mib;
    double attention_energy_mj, energy_dram_mj, energy_sram_mj, energy_modules_mj, tokens_per_j;
    double energy_clock_mj, energy_leakage_mj, energy_interface_mj, supply_v; /* NaN with power = "constant" */
    double chip_power_w, tile_area_mm2, sram_area_share;
    double core_mm2, phy_mm2, noc_mm2, links_mm2; /* links_mm2: NaN where nobody published it */
};

/* Quantities of single equations, for claims and for readers of the paper; NaN where one has no value (lad_equations.c). */
struct lad_equations {
    double head_dim, cache_elements, active_elements, dense_elements;
    double eq4_fixed_macs, eq4_active_macs, merged_active_macs, dense_macs;
    double coefficient_entries, softmax_mse;
    double eas_center_cycles, eas_position_cycles, apid_position_cycles, md_active_cycles, ac_active_cycles, ac_update_cycles;
    double vpu_lanes_used;
    double mode_share, repeat_share;
    double layer_weights_mib, layer_kv_mib;
    double tile_dynamic_mw, tile_static_mw, sram_area_mm2, sram_dynamic_mw, sram_static_mw;
    double compute_area_share, compute_power_share;
};
extern const struct dse_metric lad_equations_table[];
void lad_equate(const void *params, void *equations);

/* ---- the paper's equations: pure arithmetic of one head ---------------------------------------------------------------- */

/* E5: elements of the intermediate caches A..F of head dimension d. */
double lad_cache_elements(double d);
/* E5: elements of K and V read for `active` positions, and of the whole cache of n positions. */
double lad_kv_elements(double positions, double d);
/* E4: multiply-adds of one step as the paper counts Eq. 4, and as the hardware does them (the sums over J merged into one
 * correction factor a position). */
double lad_macs_text(double d, double active);
double lad_macs_hardware(double d, double active);
/* Entries of the tables of linear coefficients. */
double lad_coefficient_entries(double intervals);
/* E23: mean squared error of softmax over n scores, normal with deviation sd, when exp is linear on `intervals` intervals. */
double lad_softmax_mse(int64_t intervals, double n, double sd);

/* Passes that a row of d elements takes through a VPU. */
double lad_passes(const struct lad_params *p, double d);

/* E42: passes that make use of a row of keys or values: one, and one more that makes numbers of it. */
double lad_row_uses(const struct lad_params *p);

/* Cycles of the compute stages of one head-sample. */
struct lad_stages {
    double eas, apid, md, ac;
};
/* E7: Eq. 7, and E10: what Alg. 2 and Sec. IV-B do, cycle by cycle. d: head dimension; n: context. */
struct lad_stages lad_stages_eq7(const struct lad_params *p, double d, double n, const struct dse_locality *at);
struct lad_stages lad_stages_exact(const struct lad_params *p, double d, double n, const struct dse_locality *at);

/* ---- a design point ---------------------------------------------------------------------------------------------------- */

enum { LAD_NODES = 11, LAD_FILL_SLOTS = 5 /* six stages: five slots more than head-samples */ };

/* Everything of a point that does not depend on the batch. */
struct lad_point {
    const struct lad_params *p;
    const struct dse_llm *llm;
    bool is_simple; /* lad_is_simple; of others lad_llms.c has the step (E43) */
    double chips;
    bool locality_aware;         /* decode with LAD's attention */
    struct dse_cache_step cache; /* E38: of one sequence and layer */
    double n, d;
    double layers;       /* that LAD's attention has */
    double head_samples; /* layers * query heads, of one sequence */
    int64_t group;       /* query heads that read their keys and values together (E40); 1: each by itself */
    double newest;       /* active positions that they all have */
    double clock_hz;
    double row_bytes, cache_bytes, position_bytes; /* a key; A..F; G of one position: E8 */
    double stream_s, gather_s;                     /* HBM: seconds a byte on the bus, in streams and in rows */
    double pass_s;                                 /* seconds a row of vpu_width elements, all VPUs at work: E20 */
    double gather_factor;                          /* bytes on the bus of a byte gathered in rows */
    double sram_bytes;
    double weights_bytes, sequence_bytes; /* E17: in DRAM, of all weights and for each sequence */
    struct dse_locality at;               /* of the mean head; `active` for the window of p->recent; zero if not locality-aware */
    double active_cv;                     /* spread of |J| over heads (E12); of the recording when that is replayed (E34) */
};

/* NULL, or why the point cannot be evaluated (then *ret is not usable). */
const char *lad_point_init(struct lad_point *ret, const struct lad_params *p);
/* The statistics at n, of pt->p. NULL, or why there are none. Requires that it is locality-aware. */
const char *lad_point_read(struct lad_point *pt);
/* Is there a layer that LAD's decoding works on? Of other layers attention is exact. */
bool lad_works(const struct lad_params *p);
/* E34: a step of a head of the recording at the context of the point, with center_scale and the window of p->recent as in `at`.
 * Only when locality-aware and with draws = "replay". */
struct dse_locality lad_recorded(const struct lad_point *pt, size_t head, size_t step);
/* Statistics as they were measured, for center_scale and the window of p->recent (A4). */
void lad_adjust(const struct lad_point *pt, struct dse_locality *at);
/* Slots of an attention period: rounds of head-samples over the tiles. */
double lad_rounds(const struct lad_point *pt, double batch);
/* E15: bytes of one tile's SRAM that the pipeline cannot do without. */
double lad_sram_resident(const struct lad_point *pt, double batch);
/* E15: positions of a head-sample with `active` active ones that there is room to fetch ahead for; rounds is lad_rounds. */
double lad_room(const struct lad_point *pt, double batch, double rounds, double active);
/* E40: rows that are read for `heads` heads of `count` among n positions each, of which the same `newest` are in all, as far as
 * there are as many, and the others are chosen independently; over heads * count: 1 for one head, 1 / heads when all are read. */
double lad_union_share(double n, double count, double newest, int64_t heads);
/* E40: rows read for each head to find the active positions, and for each active one, of the group that the head is of. */
double lad_keys_read(const struct lad_point *pt);
double lad_active_share(const struct lad_point *pt);
/* E17: bytes in DRAM: weights, KV cache, G and intermediate caches of `batch` sequences. */
double lad_dram_footprint(const struct lad_point *pt, double batch);

/* ---- one step ---------------------------------------------------------------------------------------------------------- */

enum lad_stage { LAD_HBM, LAD_EAS, LAD_APID, LAD_MD, LAD_AC, LAD_VPU, LAD_STAGES };

/* Attention of one step: all layers, heads and sequences. Byte counts are bytes on the bus. */
struct lad_attention {
    double time_s, fill_s;             /* fill_s is part of time_s */
    double exposed_s[LAD_STAGES];      /* time_s without fill_s, by what bounds it */
    double stage1_s, stage4_s;         /* exposed_s[LAD_HBM] by the stage whose bytes move */
    double stage1_bytes, stage4_bytes; /* moved in attention periods; their sum is the three below */
    double centers_bytes, active_bytes, others_bytes;
    double prefetch_bytes; /* moved in linear layers for attention */
    double macs;
    struct lad_stages stages; /* cycles, mean over heads */
    double compute_cycles, memory_cycles, slot_cycles;
    double active, prefetched, hits; /* positions of a head-sample, mean over heads */
};

/* E12: |J| over heads: nodes of a spread around 1, and their shares. */
struct lad_spread {
    const double *weight; /* of each node; sum to 1 */
    double factor[LAD_NODES];
    int nodes;
};
void lad_spread_init(struct lad_spread *ret, double cv);

/* Attention of a batch by LAD. idle_s: HBM time of the step that pre-fetching may use. */
void lad_attention_at(const struct lad_point *pt, const struct lad_spread *spread, double batch, double idle_s,
                      struct lad_attention *ret);

/* One operator of the step that is not LAD's attention. */
struct lad_op {
    const char *name;
    enum dse_op_kind kind;
    enum dse_op_role role;
    int at;                              /* index into the list that it was made from, of a point that is not simple */
    double weight_bytes;                 /* a step */
    double compute_s, bytes, ops;        /* of one sequence; bytes without the weights */
    double activation_bytes, layers;     /* of one sequence and layer, prefill: moved only if they do not fit on chip */
    double activation_read;              /* share of them that is read */
    double write_bytes;                  /* part of bytes, of a point that is not simple */
    double time_s, dram_s;               /* of the batch, set by lad_step_at: exposed time; HBM time */
    double batch_bytes, batch_ops;       /* of the batch */
    double link_joules;                  /* COLLECTIVE */
    const struct dse_exchange *exchange; /* COLLECTIVE: in the list that it was made from */
};

struct lad_step {
    struct lad_op op[DSE_OPS_MAX];
    int n_ops;
    struct lad_spread spread; /* unset when not locality-aware */
    double batch;
    struct lad_attention attention;
    double linear_s, elementwise_s, time_s;
    double compute_bound_s, dram_bound_s, latency_bound_s; /* sum to time_s */
    double weight_bytes, bytes, vpu_ops;                   /* of everything; operations on the VPUs */
    double exact_bytes;                                    /* part of attention's: read without LAD's decoding */
    double communication_s, link_joules;                   /* E45 */
    /* Of a point that is not simple, all chips (E43): */
    double bubble_s, tokens, head_samples, sequences; /* sequences: of a chip's pass */
    double full_cache_bytes, technique_bytes;
    double footprint_bytes, resident_bytes; /* of a chip: E17, E15 */
    double n;                               /* positions of LAD's head-samples, mean */
    struct dse_locality at;                 /* and their statistics */
};

/* Multiply-adds of one head-sample on the VPUs, by stage (E11). */
struct lad_macs {
    double eas, md, ac;
};
struct lad_macs lad_stage_macs(const struct lad_point *pt, double active);

/* The operators of the point, once for all batches. */
void lad_step_init(struct lad_step *ret, const struct lad_point *pt);
/* Time of one step of `batch` sequences. */
void lad_step_at(struct lad_step *step, const struct lad_point *pt, double batch);
/* E20: seconds of all VPUs for `rows` rows of `elements`. */
double lad_vpu_seconds(const struct lad_point *pt, double rows, double elements);
/* Time and bytes of an operator for the batch (E20): the longer of computing and moving. */
void lad_op_at(const struct lad_point *pt, struct lad_op *o, double batch);
/* Seconds of the special function modules for an elementwise operator of one sequence, hidden or not (E20). */
double lad_sfm_seconds(const struct lad_point *pt, double ops);
/* The sums of a step from its operators and its attention, whichever level they are of. */
void lad_step_sum(struct lad_step *step, const struct lad_point *pt);
/* Does it multiply queries by keys, or weights by values? */
bool lad_is_attention(const struct lad_op *o);

/* E18: NULL when the batch fits DRAM and SRAM (another policy than fixed: when one sequence does), else why not. */
const char *lad_batch_check(const struct lad_point *pt);
/* By how much they do not fit. */
bool lad_batch_shortage(const struct lad_point *pt, const char *reason, struct dse_shortage *ret);
/* E18: the batches of which best-throughput takes the best, where `max` fit: 1, 2, 3, 4, 6, 8, 12, ... tiles full, the most full
 * rounds that fit, and all that fits. Returns how many. */
enum { LAD_BATCHES = 40 }; /* of a single tile, two a doubling up to 65,536 sequences, and two more */
int lad_batches(double tiles, double max, double ret[LAD_BATCHES]);
/* E18: the batch that batch_policy makes of p->workload.batch. Leaves `step` at some batch. */
double lad_batch(const struct lad_point *pt, struct lad_step *step);

/* ---- a measured surface (E39) -------------------------------------------------------------------------------------------- */

/* Its contexts; false: the surface has nothing of LAD. */
bool lad_surface_range(const struct lad_params *p, double *ret_from, double *ret_to);
/* The point at its context, intervals and window; all: and under its bits and scores, which errors depend on. NULL, or why not. */
const char *lad_surface_find(const struct lad_params *p, bool all, struct dse_quality_place *ret);
const char *lad_surface_read(const struct lad_params *p, struct dse_locality *ret);
/* Of a box's contexts, intervals and windows that were measured; false: none was. */
bool lad_surface_bound(const struct lad_params *lo, const struct lad_params *hi, struct dse_interval context,
                       struct dse_locality_bound *ret);
/* What the statistics depend on is not read: all of lad_point_init but `at` and active_cv. */
const char *lad_point_begin(struct lad_point *ret, const struct lad_params *p);

/* ---- quality ------------------------------------------------------------------------------------------------------------- */

/* NULL, or why LAD's decoding and the technique of the cache do not go together, or there is no such cache. */
const char *lad_cache_check(const struct lad_params *p);
/* E38: what attention over what the cache keeps has of the whole; LAD's own keeps all. */
void lad_kept(const struct lad_params *p, struct dse_kept *ret);
/* What the point scores on the task: of the method "lad", or of the cache's technique. NULL, or why nobody says. */
const char *lad_score(const struct lad_params *p, struct dse_score *ret);
/* E24: NaN where nobody measured it under the settings of the point. Pure. */
struct dse_locality_error lad_quality(const struct lad_params *p);
/* Its standard deviation over heads; NaN where it is not known. */
double lad_error_spread(const struct lad_params *p);
/* A setting that the statistics depend on and that was another one when they were measured, as a sentence; NULL: there is none.
 * Of a point that is locality-aware. */
const char *lad_unlike(const struct lad_params *p);
/* The entry whose statistics the point follows, by `draws`. */
const struct dse_entry *lad_statistics(const struct lad_params *p);
/* dse_model.stand and why_null. */
void lad_stand(const void *params, struct dse_standing *ret);
const char *lad_why_null(const void *params, const char *metric);

/* ---- power and area ---------------------------------------------------------------------------------------------------- */

/* A row of Table III: one tile as published. */
struct lad_module {
    const char *name;
    double area_mm2, dynamic_mw, static_mw;
};
enum lad_module_index {
    LAD_MODULE_EAS,
    LAD_MODULE_APID,
    LAD_MODULE_MD,
    LAD_MODULE_AC,
    LAD_MODULE_VPU,
    LAD_MODULE_SFM,
    LAD_MODULES
};
extern const struct lad_module lad_table3[LAD_MODULES];
/* What a module's power goes with, as Table III has it: VPUs of EAS and MD, positions of APID, lanes of all else. */
extern const double lad_table3_lanes[LAD_MODULES];
enum { LAD_PUBLISHED_GHZ = 1 };

/* E19: the chip. Watts are of all tiles, at the nominal supply, as Table III has them: whatever they do. */
struct lad_chip {
    double tile_area_mm2, sram_area_mm2; /* of one tile */
    double dynamic_modules_w, dynamic_sram_w, static_modules_w, static_sram_w;
    double module_dynamic_w[LAD_MODULES]; /* their sum is dynamic_modules_w */
    struct dse_sram sram;                 /* of one tile, in the node of its table; */
    double sram_energy_ratio;             /* energy of the technology over that, */
    double logic_energy_ratio;            /* and over the node of Table III */
    struct dse_supply supply;             /* E36; with power = "constant" nothing asks for it */
    struct dse_die die;                   /* E37 */
};
/* NULL, or why the chip cannot be priced. */
const char *lad_chip_check(const struct lad_params *p);
/* By how much what it needs is not there. */
bool lad_chip_shortage(const struct lad_params *p, const char *reason, struct dse_shortage *ret);
/* Requires that lad_chip_check has nothing against it. */
void lad_chip_at(const struct lad_params *p, struct lad_chip *ret);
/* E45: of the links of one of several chips, on its die; NaN, and left out of it, where nobody published their area. */
double lad_links_mm2(const struct lad_params *p);
/* Why links_mm2 is NaN. */
extern const char lad_no_links_mm2[];
/* Power of all of it, as published. */
double lad_watts(const struct lad_chip *c);

/* ---- energy ------------------------------------------------------------------------------------------------------------ */

/* What a step, or a part of it, does: the same of both fidelities. */
struct lad_work {
    double seconds, macs, sfm_ops, bytes; /* multiply-adds of the VPUs; operations of the SFM; bytes to and from the DRAM */
    struct lad_stages stages;             /* cycles in which the modules of a tile work, sum over tiles */
    double link_joules;                   /* E45 */
};
struct lad_work lad_op_work(const struct lad_op *o);
struct lad_work lad_attention_work(const struct lad_point *pt, const struct lad_step *s);
struct lad_work lad_step_work(const struct lad_point *pt, const struct lad_step *s);

/* E35: what work costs. Joules of a multiply-add, an operation of the SFM, a cycle of a tile's module, and of what they read from
 * the SRAM; of a byte to or from the DRAM, in the SRAM and at the interface. Watts of what runs whatever is done. */
struct lad_power {
    const struct dse_dram *dram;
    bool constant; /* E21: watts of Table III, and nothing else */
    double watts;  /* all of them */
    double leakage_w, clock_w;
    double modules_w, sram_w; /* constant */
    double mac_j, sfm_op_j, eas_cycle_j, apid_cycle_j, md_cycle_j, ac_cycle_j;
    double mac_sram_j, apid_sram_j, byte_sram_j, byte_interface_j;
};
void lad_power_at(const struct lad_params *p, const struct lad_chip *chip, struct lad_power *ret);

struct dse_joules lad_joules_of(const struct lad_power *e, const struct lad_work *w);

/* Share of the computation modules, VPUs and SFM, in area and power of a tile without its SRAM. As lad_chip_at. */
void lad_compute_shares(const struct lad_params *p, double *ret_area, double *ret_power);

/* ---- the breakdown ----------------------------------------------------------------------------------------------------- */

void lad_break_down(const struct lad_point *pt, const struct lad_step *step, const struct lad_power *power,
                    struct dse_breakdown *out);

/* Metrics, and the breakdown unless it is NULL, of a step at either level. */
void lad_report(const struct lad_point *pt, const struct lad_step *step, struct lad_metrics *ret, struct dse_breakdown *breakdown);

/* The event level: dse_model.simulate (lad_events.c). */
bool lad_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);

extern const struct dse_model dse_model_lad;

#endif
