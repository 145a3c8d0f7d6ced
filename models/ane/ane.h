/* The Neural Engine's static-shape KV cache, inside: parameters, metrics, equations, and the steps of the closed form. README.md
 * holds the equations (E..) and assumptions (A..) that the comments name.
 *
 * Every call of a static-shape program costs the same, whatever it is used for. So a point is evaluated in this order:
 * ane_shape_init chooses the rows; ane_call_init times one call with them; ane_slide_init times the secondary model;
 * ane_step_init counts calls and slides.
 *
 * Units inside: seconds, bytes, joules, rows. Only the structs of the tables carry the units of their names.
 */
#ifndef ANE_H
#define ANE_H

#include <dse/cache.h>
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/interconnect.h>
#include <dse/model.h>
#include <dse/workload.h>

/* Tflop/s -> operations a second. */
#define ANE_TERA 1e12

enum { ANE_ACTIVATION_BYTES = 2 }; /* the engine computes in fp16 */

enum ane_cache { ANE_TWO_MODEL, ANE_SLID_OUTPUT, ANE_CHUNKS, ANE_LAZY_SOFTMAX, ANE_STACKED, ANE_LATE_TRANSPOSE, ANE_NONE };
enum ane_joining { ANE_PAIRWISE, ANE_AT_ONCE };
enum ane_overlap { ANE_MAX, ANE_SUM };
enum ane_slide_time { ANE_HIDDEN, ANE_EXPOSED };
enum ane_overflow { ANE_REFUSE, ANE_DISCARD };
/* Tensors of the layers: the rate is the same whatever they are; (channels, 1, rows); (channels, height, width) but around
 * attention. */
enum ane_layout { ANE_EVEN, ANE_ROW, ANE_SQUARE };
enum ane_slide_each { ANE_EACH_BLOCK, ANE_EACH_CALL };
enum ane_head { ANE_EVERY_ROW, ANE_LAST_ROW };
/* E18: experts that a call computes: all of them, those with work, or those with work in a program each. */
enum ane_expert_dispatch { ANE_ALL_EXPERTS, ANE_GATHERED_EXPERTS, ANE_EXPERT_PROGRAMS };

/* What this model knows of workloads. */
enum { ANE_CAN = DSE_CAN_LAYERS | DSE_CAN_SCALES | DSE_CAN_SPECULATE | DSE_CAN_MIX | DSE_CAN_PARALLEL };

struct ane_params {
    struct dse_workload workload;
    struct dse_cache kept; /* which positions stay; `cache` says how they are kept */
    struct dse_economics economics;
    struct dse_request request;
    struct dse_dram dram;
    struct dse_links links;

    int64_t window, query_rows, row_multiple, seed;
    int32_t cache, joining, slide, slide_each, overflow, head_rows, expert_dispatch;

    const struct dse_npu *npu;
    int32_t overlap, layout;
    double engine_tflops, concat_gbs, transpose_gbs, engine_tile_kib;
    double fill_rows, square_gain, narrow_gain;
    double dispatch_us, host_gap_us;
    int64_t programs, slide_programs;
    int32_t power; /* enum dse_power */
    double engine_base_w, engine_op_pj, engine_idle_w, reference_power_w;
};

struct ane_metrics {
    struct dse_common common;
    int64_t calls;
    double call_us, slide_us, exposed_slide_us, request_ms;
    double wasted_rows;
    double weights_mib, kv_mib, concat_mib, transpose_mib, slide_mib;
    double cached_positions, technique_mib;
    double retained_mass, attention_error, attention_error_sd; /* NaN where nobody measured it */
    struct dse_score task;
    double dram_footprint_gib, engine_power_w;
    double communication_us, energy_links_mj;
};

struct ane_equations {
    double rows_q, rows_k, cached_rows, returned_rows;
    double concats_per_k, concat_pieces, chunk_inputs, additions_per_k, transpose_rows;
    double prefill_calls, prefill_calls_per_slide, generate_calls_per_slide;
    double concat_call_mib, transpose_call_mib, returned_call_mib, one_slide_mib;
    double balanced_rows, prefill_ms, generate_ms;
    double best_query_rows, best_request_ms;
};

/* ---- a design point ---------------------------------------------------------------------------------------------------- */

/* What is asked for. */
struct ane_request {
    double prompt, generate; /* tokens of a request (E8) */
    double last;             /* the last position that a token stands at; of unequal contexts the mean */
    double kept;             /* the most positions that the cache has to hold: E14; nothing evicted: last, or what E20, E21 need */
};

/* E1: the rows of one K in a call. */
struct ane_shape {
    double rows, computed;   /* of Q; the same rounded up to the rows the engine computes (E2) */
    double window, cached;   /* of K; those not computed in the call */
    double layers, matrices; /* of a stage (E22); matrices: K and V, of all layers */
    double row_bytes;        /* of one K in one layer */
    bool simple;             /* full attention and dense networks, all sequences alike, one chip: E1 to E15; else E16 to E23 */
};

/* E17: attention of one kind, of an LLM that is not simple. */
struct ane_group {
    double layers, window, cached; /* window, cached: rows of K, as in struct ane_shape */
    double reach;                  /* positions that a row sees, at most; 0: all */
    bool is_chunked;               /* reach starts again every reach positions */
    double key_bytes, value_bytes; /* of a row in one layer; value_bytes 0: values are in the keys */
    double pair_ops;               /* useful operations of a (row, position) pair, all layers */
    double drafted;                /* E20: calls of the draft's program that layers has; 0: the LLM's own */
};

/* E3: what one K of one layer costs in memory operations, in a call. V costs the same, but is never transposed. */
struct ane_memory_ops {
    double concats, pieces; /* concatenations; tensors that the one making K joins */
    double joined_rows;     /* rows written by them */
    double transposed_rows;
    double additions;     /* of partial results, instead of a concatenation */
    double added_tensors; /* partial results read and written for it */
    double copied_rows;   /* rows written for anything else: the slid output, taking a K out of a stack */
    double chunk_inputs;  /* tensors that the cached rows come in; 0: one */
};

/* Where an operator stands in the graph of a layer, in this order. Memory operations: those of new rows, those of partial results.
 */
enum ane_place { ANE_PROJECTING, ANE_JOINING_ROWS, ANE_ATTENDING, ANE_ADDING_PARTS, ANE_AFTERWARDS };

/* One operator, or one kind of memory operation, of a call, all layers. */
struct ane_op {
    const char *name;
    enum dse_bound bound;
    enum ane_place place;
    bool attention; /* joining rows to adding parts */
    bool once;      /* in a call, behind the last layer */
    bool experts;   /* of the LLM's routed experts, as many as have work */
    double times;   /* it is done in a call: once a layer, or once */
    double time_s, bytes, ops;
    double load_s, compute_s; /* time_s is the longer, or the sum; of a memory operation 0 */
};

enum { ANE_MEMORY_OPS = 6, ANE_GROUPS_MAX = 6, ANE_OPS_MAX = DSE_OPS_MAX + ANE_GROUPS_MAX * ANE_MEMORY_OPS };

struct ane_call {
    struct ane_shape shape;
    struct ane_memory_ops k;
    struct ane_op op[ANE_OPS_MAX];
    int n_ops;
    double time_s, dispatch_s, bytes, ops; /* time_s: with the dispatch */
    double row_ops, pair_ops, head_ops;    /* useful operations of a row, of a (row, position) pair, of a row of the output head */
    double draft_ops;                      /* E20: of a step of a sequence, without pairs */
    double weight_bytes, kv_bytes, concat_bytes, transpose_bytes, count_bytes;

    /* Not simple: E17 to E20. row_bytes: of a new row, all layers. */
    struct ane_group group[ANE_GROUPS_MAX];
    int n_groups;
    int drafts_from, drafts_to;                /* E20: op[] of a draft's own program */
    double row_bytes, state_bytes, held_bytes; /* states of a sequence; weights in memory */

    double send_s, send_joules; /* E22: to the next stage, after a call */
};

/* The secondary model that slides the cache, once. All 0 without one. */
struct ane_slide_run {
    double time_s, bytes;
    double exposed_s;                           /* what it adds to the period of a call (E6) */
    double per_prefill_call, per_generate_call; /* slides after one call of a prompt, of the generation (E7) */
};

/* One step: a token of every sequence, or a prompt of every sequence. What is done is of one engine, that of the fullest group;
 * tokens, bytes, joules and useful operations are of all engines. */
struct ane_step {
    double sequences, calls, slides;  /* sequences of a group; calls and slides of one of them */
    double tokens;                    /* of all sequences */
    double all_calls, all_slides;     /* of all sequences, and of the chunk of a prompt (E21) */
    double asked_rows;                /* of all calls: what somebody asked for */
    double engines;                   /* E23: that do as much in all as this one does */
    double working_s, time_s;         /* E22: time_s with the bubble */
    double waiting_s, waiting_joules; /* E23: of all engines, in bubbles and without a sequence */
    double gap_s, idle_s;             /* of this engine; idle_s: of gap_s, without slides that it hides */
    double send_s, link_joules;       /* of this engine; of all */
    double bytes, joules, useful_ops;
};

struct ane_request ane_request_of(const struct ane_params *p);
void ane_shape_init(struct ane_shape *ret, const struct ane_params *p, double query_rows, double last);
struct ane_memory_ops ane_memory_ops_of(const struct ane_params *p, const struct ane_shape *s);
/* E22, E23: stages of a group; sequences of the fullest group. */
double ane_stages(const struct ane_params *p);
double ane_group_sequences(const struct ane_params *p);
void ane_call_init(struct ane_call *ret, const struct ane_params *p, const struct ane_shape *s);
/* The same with experts as drawn (E18); NULL: their mean. */
void ane_call_drawn(struct ane_call *ret, const struct ane_params *p, const struct ane_shape *s, const struct dse_draw *draw);
struct ane_slide_run ane_slide_of(const struct ane_params *p, const struct ane_call *c);
/* Does a second model slide the cache? */
bool ane_is_slid(const struct ane_params *p);
void ane_step_init(struct ane_step *ret, const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide);

/* E14: what the requests of the point see of the cache. */
struct dse_cache_steps ane_cache_steps(const struct ane_params *p);
/* E14: NULL, or why the engine cannot keep such a cache. */
const char *ane_cache_check(const struct ane_params *p);
/* E14: bytes a layer of one call in which probabilities are counted: of each row that is computed and row of K; of a row of K. */
void ane_count_bytes(const struct ane_params *p, double *ret_pair, double *ret_row);
/* E4: rows that a layer's `rows` take as long to compute as at the engine's rate; `squared`: those around it have (channels,
 * height, width) tensors. */
double ane_filled_rows(const struct ane_params *p, double rows, bool squared);
/* E4: how much longer narrow weights take than their bytes at the DRAM's rate. */
double ane_expanding(const struct ane_params *p);
/* E15: operations that make numbers of a row of K in one layer, of a cache with scales; of V as many. */
double ane_widening(const struct ane_params *p);
/* The same of one element. */
double ane_widening_of(const struct ane_params *p);
/* E7: calls of a prompt. */
double ane_prefill_calls(const struct ane_params *p, const struct ane_shape *s, double prompt);
/* E8: seconds of the prompt and of the generation of a request. */
double ane_prefill_s(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide, double prompt);
double ane_generate_s(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide, double generate);
/* E8: the query rows of the shortest request, and its time. NaN when none fits the window. */
void ane_best_query_rows(const struct ane_params *p, double *ret_rows, double *ret_s);
/* Whether `last` positions fit the window in whole blocks of query rows. */
/* E1: are there more positions than the window holds in whole blocks? */
bool ane_forgets(const struct ane_params *p, const struct ane_shape *s, double last);
bool ane_fits(const struct ane_params *p, const struct ane_shape *s, double last);
/* Positions that a token sees, mean over the positions first .. last. */
double ane_mean_seen(double first, double last, double window);
/* E10: bytes in DRAM; the same of a call that is known. */
double ane_footprint(const struct ane_params *p, const struct ane_shape *s);
double ane_footprint_of(const struct ane_params *p, const struct ane_call *c);
/* E9: joules of exposed_s of the step, in which, or hidden behind which, the engine runs for busy_s; of operations and DRAM
 * traffic. */
double ane_joules(const struct ane_params *p, double exposed_s, double busy_s, double ops, double bytes);
/* The same of time in which the host works and the engine is idle for idle_s. */
double ane_gap_joules(const struct ane_params *p, double gap_s, double idle_s);

void ane_break_down(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide,
                    const struct ane_step *s, struct dse_breakdown *out);

/* ---- operators of a call --------------------------------------------------------------------------------------------------- */

/* E4: an operator; rows: of a layer's matrices, of what is no linear layer 0. */
struct ane_work {
    const char *name;
    enum ane_place place;
    double times, weight_bytes, kv_bytes, ops, rows;
    bool once, experts;
};
void ane_append(struct ane_call *c, struct ane_op op);
void ane_append_work(struct ane_call *c, const struct ane_params *p, const struct ane_work *work);
/* E3, E5: what joining rows and adding parts of K and V costs in `layers` layers; both_bytes: of a row of K and of V, read and
 * written, in all of them; tensor_bytes: of a partial result. Adds to concat_bytes and transpose_bytes. */
struct ane_joining_work {
    double layers, both_bytes, key_bytes, tensor_bytes, reshaped_bytes;
};
void ane_append_joining(struct ane_call *c, const struct ane_params *p, const struct ane_memory_ops *k,
                        const struct ane_joining_work *work);

/* E4: of tensors of a layout, all layers. */
double ane_reshaped_bytes(const struct ane_params *p, const struct ane_shape *s);

/* ---- LLMs of all kinds: ane_llms.c ------------------------------------------------------------------------------------------ */

bool ane_is_simple(const struct dse_workload *w);
/* Drafts, unequal contexts, chunks: E20, E21. */
static inline bool ane_is_mixed(const struct dse_workload *w)
{
    return w->speculation.draft_tokens > 0 || w->chunk_tokens > 0 || w->context_spread > 0;
}
/* E16: NULL, or why the engine cannot run it: by what is no number; by anything. */
const char *ane_llms_never(const struct ane_params *p);
const char *ane_llms_check(const struct ane_params *p);
/* What comes before attention or a recurrence in a layer; of experts; the first of their two; the output head. */
bool ane_is_projecting(const struct dse_op *o);
bool ane_is_expert(const struct dse_op *o);
bool ane_is_expert_up(const struct dse_op *o);
bool ane_is_head(const struct dse_op *o);
/* E16 to E20: the operators of a call, whose shape is set. */
void ane_llms_call(struct ane_call *ret, const struct ane_params *p, const struct dse_draw *draw);
/* E18: experts with work in each layer that has some, over their mean in `draw`; how many layers. */
int64_t ane_llms_shares(const struct ane_params *p, const struct ane_shape *s, const struct dse_draw *draw, double *ret);
/* E10: bytes in DRAM; of them, of all caches and states. E6: of one slide. */
double ane_llms_footprint(const struct ane_params *p, const struct ane_shape *s);
double ane_llms_kept_bytes(const struct ane_params *p, const struct ane_call *c);
double ane_llms_slid_bytes(const struct ane_call *c);
/* Useful operations of (row, position) pairs of rows at positions first .. last, in all. */
double ane_llms_seen_ops(const struct ane_call *c, double first, double last);
/* The same of a decode step of all sequences, with drafts and a chunk (E20, E21). */
double ane_llms_step_ops(const struct ane_params *p, const struct ane_call *c, const struct ane_request *r);
/* E20, E21: positions that the cache has to hold. */
double ane_llms_positions(const struct ane_params *p, const struct ane_request *r);
/* E20: slides after a call that verifies drafts. */
double ane_llms_slides(const struct ane_params *p, const struct ane_shape *s);
/* E21: the longest of the sequences' contexts. E20: rows of a call that a step asks for. */
double ane_longest(const struct ane_params *p);
double ane_verified_rows(const struct ane_params *p);
/* E20: seconds that a prompt's call is shorter than one that verifies drafts. */
double ane_llms_undrafted_s(const struct ane_params *p, const struct ane_call *c);
/* E21: calls of the chunk of a prompt. */
double ane_chunk_calls(const struct ane_params *p, const struct ane_shape *s);

/* ---- over a box of parameters -------------------------------------------------------------------------------------------- */

/* What must be bought for it: borrows p. */
struct dse_bill ane_bill_of(const struct ane_params *p);
/* The model's bound: of all metrics but area_mm2, which has no value. */
bool ane_bound(const void *lo, const void *hi, void *floor, void *ceiling);

/* ---- either level ---------------------------------------------------------------------------------------------------------- */

/* The metrics, and the breakdown when it is not NULL, of calls and slides that take the times given. */
void ane_fill(const struct ane_params *p, const struct ane_call *call, const struct ane_slide_run *slide,
              struct ane_metrics *metrics, struct dse_breakdown *breakdown);
/* E11 to E13: the model's simulate. */
bool ane_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);

extern const struct dse_model dse_model_ane;

#endif
