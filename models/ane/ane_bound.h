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

struct ane_box {
    const struct ane_params *lo, *hi;
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
    double layers;
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

#endif
