/* Bounds of the closed form over a box of parameters (dse_model.bound): ane_call.c and ane_step.c term by term, in their order and
 * by their names. ane_bound.c has what is asked for, the rows of a call and the metrics; ane_bound_calls.c how often something is
 * done and what that costs. */
#ifndef ANE_BOUND_H
#define ANE_BOUND_H

#include "ane.h"

#include <dse/bound.h>
#include <dse/num.h>

/* What rounding in another order than the closed form's can cost, in units of the last place. */
enum { ANE_REORDERED = 16 };

struct ane_llms_bound;

struct ane_box {
    const struct ane_params *lo, *hi;
    const struct ane_llms_bound *llms; /* of LLMs that are not simple; else NULL */
};

#define ANE_OF(box, field) dse_iv((double)(box)->lo->field, (double)(box)->hi->field)

static inline struct dse_interval ane_at_least(struct dse_interval a, double least)
{
    return (struct dse_interval){dse_max(a.lo, least), dse_max(a.hi, least)};
}

/* Multiples of `multiple` that are not below x, of whole numbers: at most multiple - 1 above it. Exact where the multiple is. */
static inline struct dse_interval ane_ceil_to(struct dse_interval x, struct dse_interval multiple)
{
    const struct dse_interval n = dse_iv_ceil_div(x, multiple);
    return (struct dse_interval){dse_max(n.lo * multiple.lo, x.lo), dse_min(n.hi * multiple.hi, x.hi + multiple.hi - 1)};
}

struct ane_request_bound {
    struct dse_interval prompt, generate, first, last; /* first, last: positions that the tokens of a generation stand at */
    struct dse_interval target, kept;                  /* E14: positions that stay; that the cache has to hold */
};

/* E1, E2. */
struct ane_shape_bound {
    struct dse_interval rows, computed, window, cached, chunks; /* chunks: of `rows` rows that hold the window */
    struct dse_interval row_bytes;
    double layers, matrices;
};

/* ---- how often: E7 ------------------------------------------------------------------------------------------------------ */

struct ane_counts_bound {
    struct dse_interval calls, rows, computed, window, pairs; /* window: rows of a K; pairs: computed rows by rows of K */
};
struct ane_counts_bound ane_call_counts(const struct ane_shape_bound *s);
/* Of all calls of a prompt. */
struct ane_counts_bound ane_prompt_counts(const struct ane_box *b, const struct ane_shape_bound *s, struct dse_interval prompt);
/* The same over its tokens. */
struct ane_counts_bound ane_token_counts(const struct ane_box *b, const struct ane_shape_bound *s, struct dse_interval prompt);

/* ---- what it costs: E3 to E6 --------------------------------------------------------------------------------------------- */

struct ane_sum_bound {
    struct dse_interval time_s, attention_s, bytes, ops; /* time_s with the dispatches */
    struct dse_interval weight_bytes, kv_bytes, concat_bytes, transpose_bytes, count_bytes;
    struct dse_interval row_ops, pair_ops, head_ops; /* useful operations, as in struct ane_call */
};
struct ane_sum_bound ane_sum_of_bound(const struct ane_box *b, const struct ane_shape_bound *s, const struct ane_counts_bound *n);

/* E3: rows of a K; `added`: tensors. */
struct ane_memory_ops_bound {
    struct dse_interval joined, copied, added;
};
struct ane_memory_ops_bound ane_memory_ops_bound_of(const struct ane_box *b, const struct ane_shape_bound *s);
/* ane_filled_rows of all calls: `rows` in as many `calls`. */
struct dse_interval ane_filled_rows_bound(const struct ane_box *b, struct dse_interval rows, struct dse_interval calls,
                                          bool squared);
/* E4. bytes, and what they take as long as; operations, and rows that they take as long as, times each of their operations. */
void ane_add_operator(struct ane_sum_bound *s, const struct ane_box *b, struct dse_interval bytes, struct dse_interval loaded,
                      struct dse_interval ops, struct dse_interval filled_ops, bool attention);

struct ane_slide_bound {
    struct dse_interval time_s, bytes, exposed_s, idle_s; /* idle_s: of a call's gap, with its share of slides */
    struct dse_interval after_prompt, after_token;        /* slides after a call */
};
struct ane_slide_bound ane_slide_of_bound(const struct ane_box *b, const struct ane_shape_bound *s);

/* A step, or its share of a token. */
struct ane_step_bound {
    struct ane_sum_bound sum;
    struct dse_interval slides, slide_s, time_s, bytes, engine_j, dram_j; /* slide_s: exposed */
};
struct ane_step_bound ane_step_of_bound(const struct ane_box *b, const struct ane_slide_bound *slide,
                                        const struct ane_counts_bound *n, struct ane_sum_bound sum);

/* ---- LLMs of all kinds: E16 to E19 ---------------------------------------------------------------------------------------- */

/* E17. */
struct ane_group_bound {
    const struct dse_attention *of;
    struct ane_shape_bound shape; /* its own window, cached rows, chunks, layers and matrices */
    bool is_limited;              /* shape.window is not the program's */
    double reach, pair_ops;       /* reach: infinite where all positions are seen */
    struct dse_interval key_bytes, value_bytes;
};

struct ane_llms_bound {
    struct dse_oplist least, most; /* at the ends, with the rows of a call at each */
    struct dse_interval rows;      /* these */
    struct ane_group_bound group[ANE_GROUPS_MAX];
    int n_groups;
};
void ane_llms_bound_init(struct ane_llms_bound *ret, const struct ane_box *b, const struct ane_shape_bound *s);
/* Adds operators and bytes of memory operations, whose time is ane_sum_of_bound's. */
void ane_llms_sum_bound(struct ane_sum_bound *sum, const struct ane_box *b, const struct ane_counts_bound *n);
struct dse_interval ane_llms_slid_bound(const struct ane_box *b);
/* Useful operations of a token's pairs, mean over the positions first .. last. */
struct dse_interval ane_llms_seen_bound(const struct ane_box *b, struct dse_interval first, struct dse_interval last,
                                        struct dse_interval window);
struct dse_interval ane_llms_footprint_bound(const struct ane_box *b);

#endif
