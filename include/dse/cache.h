/* The KV cache as a technique treats it: which positions stay, which a step reads, what it costs to decide that, and what is known
 * of the output.
 *
 * A technique belongs to the workload, not to a machine. A model embeds struct dse_cache beside its workload:
 *     DSE_EMBED(struct veda_params, cache, struct dse_cache, dse_cache_params)
 * and asks dse_cache_at what a step does. The policies themselves are rows of a table (eviction.h): neither a model nor this
 * header knows one by name.
 *
 * All functions are pure and thread-safe.
 */
#ifndef DSE_CACHE_H
#define DSE_CACHE_H

#include <dse/bound.h>
#include <dse/eviction.h>
#include <dse/model.h>
#include <dse/quality.h>
#include <dse/task.h>
#include <dse/workload.h>

enum dse_cache_boundary {
    DSE_CACHE_BULK,      /* the prompt is kept whole, and all surplus positions leave when it ends */
    DSE_CACHE_AS_LISTED, /* one position leaves for each that comes after the prompt, so that the cache keeps the prompt's length */
    DSE_CACHE_STREAMED,  /* the prompt passes through the positions that stay, so that the cache never holds more */
};

/* Where scales and zero points of a cache in few bits lie (kv_bits, kv_scale_bits; kv_format.h): along each token's elements; or,
 * as in KIVI (Liu et al., arXiv:2402.02750), keys' along the channel over positions that follow each other, values' along the
 * token, and the newest positions stay at 16 bits. */
enum dse_kv_format { DSE_KV_TOKEN, DSE_KV_KIVI };

/* Where quality comes from: a retention profile, or a surface over contexts, ratios and settings. */
enum dse_quality_from { DSE_FROM_RETENTION, DSE_FROM_SURFACE };

struct dse_cache {
    int32_t eviction;        /* dse_eviction_at */
    double eviction_ratio;   /* positions kept, of those that there are when eviction begins */
    int64_t cache_length;    /* positions kept; 0: by the ratio */
    int32_t boundary;        /* enum dse_cache_boundary */
    int64_t reserved_length; /* voting: the smallest cache */
    double threshold_a, threshold_b;
    double recent_share;    /* h2o: of the cache, newest positions, which stay */
    int64_t sinks;          /* window: first positions, which stay */
    int64_t observed, pool; /* snapkv, pyramidkv: last steps of the prompt, which select and stay; neighbours of a score */
    double beta;            /* pyramidkv: how steeply budgets fall from layer to layer */
    int64_t page;           /* quest: positions that are read as one */
    int32_t kv_format;      /* enum dse_kv_format */
    int64_t kv_residual;    /* kivi: newest positions, at 16 bits */
    int32_t quality_from;   /* enum dse_quality_from */
    const struct dse_retention *retention; /* what it keeps of attention */
    const struct dse_quality *surface;     /* the same, from a surface */
    const struct dse_task *task;           /* whose score is a metric; NULL: none */
    int64_t vote_bits;                     /* a count, or an accumulated probability, of a position */
};
extern const struct dse_param dse_cache_params[];
/* The row of eviction in dse_model.techniques. */
extern const char *const dse_cache_only[];
#define DSE_CACHE_TECHNIQUE \
    { \
        "eviction", "none", dse_cache_only \
    }

/* ---- lengths ------------------------------------------------------------------------------------------------------------ */

/* The positions that stay of `seen`: round(ratio * seen), or the length given; infinite where nothing is evicted. It may be more
 * than there are. */
double dse_cache_target(const struct dse_cache *c, double seen);

/* What a machine's arithmetic does to the output besides: a method of the surface, with its settings as in struct
 * dse_quality_query. */
struct dse_arithmetic {
    const char *method; /* "fixed-point", "partial-softmax" */
    unsigned given;
    double setting[DSE_SETTINGS];
};
/* The method "fixed-point"; rounding: enum dse_rounding. */
static inline struct dse_arithmetic dse_fixed_point(double exp_bits, double fraction_bits, double rounding)
{
    struct dse_arithmetic ret = {.method = "fixed-point",
                                 .given = 1u << DSE_SET_EXP_BITS | 1u << DSE_SET_FRACTION_BITS | 1u << DSE_SET_ROUNDING};
    ret.setting[DSE_SET_EXP_BITS] = exp_bits;
    ret.setting[DSE_SET_FRACTION_BITS] = fraction_bits;
    ret.setting[DSE_SET_ROUNDING] = rounding;
    return ret;
}

/* The method "partial-softmax", with a maximum that all parts share, of scores between `low` and `high`. */
static inline struct dse_arithmetic dse_partial_softmax(double unified_max, double low, double high)
{
    struct dse_arithmetic ret = {.method = "partial-softmax", .given = 1u << DSE_SET_PHI | 1u << DSE_SET_LOW | 1u << DSE_SET_HIGH};
    ret.setting[DSE_SET_PHI] = unified_max;
    ret.setting[DSE_SET_LOW] = low;
    ret.setting[DSE_SET_HIGH] = high;
    return ret;
}

/* What a decode step sees, on average over a generation or at one context. */
struct dse_cache_steps {
    const struct dse_cache *cache;
    const struct dse_workload *workload;
    double before;   /* positions before the first step: the prompt; or the context of the one step */
    double generate; /* steps of the generation; 0: one */
    const struct dse_arithmetic
        *arithmetic; /* NULL: exact. Its error is added to that of what is left out: they lose that much at most */
};
struct dse_cache_steps dse_cache_steps_of(const struct dse_cache *c, const struct dse_workload *w, const struct dse_request *r);

/* Does a position ever leave? Never in a prefill. */
bool dse_cache_loses(const struct dse_cache_steps *s);

/* Are positions that all stay held in few bits, with scales (kv_scale_bits)? Never in a prefill, whose own keys and values are at
 * hand as they were made. */
bool dse_cache_rounds(const struct dse_cache_steps *s);

/* NULL, or why the cache cannot be: a policy of an LLM with layers of other kinds than full attention with a dense network, which
 * every machine refuses by this check (docs/explanation/quality.md, "Which layers evict"); it keeps nothing, or less than the
 * policy holds apart; a prefill would lose positions on its way; a policy that selects has no prompt to select of. `seen`:
 * positions when eviction begins. */
const char *dse_cache_check(const struct dse_cache *c, const struct dse_workload *w, double seen);

/* The fewest and the most positions that stay of `seen`, at the points of a box that dse_cache_check accepts; whole numbers, or
 * infinite where nothing is evicted. False: it accepts none. */
bool dse_cache_target_bound(const struct dse_cache *lo, const struct dse_cache *hi, const struct dse_workload *w,
                            struct dse_interval seen, struct dse_interval *ret);

/* Turns both ends of a box into caches given by their length that have the least and the most of all that dse_cache_step_at says;
 * *ret_target as above. False: no point of the box is accepted. */
bool dse_cache_ends(struct dse_cache *lo, struct dse_cache *hi, const struct dse_workload *w, struct dse_interval seen,
                    struct dse_interval *ret_target);

/* ---- one step ----------------------------------------------------------------------------------------------------------- */

/* What one step at the workload's context reads, and what the technique itself takes besides: of one sequence and layer, and
 * without what a machine adds. Nothing evicted: `read` and `held` are the context, and the rest is 0. A decode step of a policy
 * that selects is the one behind its prompt. A cache whose layers have budgets of their own has the mean of them.
 *
 * Every quantity grows with the context, the ratio or the length kept, the reserved length, `observed` and the widths; bounds of
 * pages fall with `page`. */
struct dse_cache_step {
    const struct dse_eviction *policy;
    bool prefill;
    double read;  /* decode: positions whose keys and values a KV head reads */
    double held;  /* the most positions that the cache ever holds */
    double pairs; /* (query, key) positions of one query head whose probabilities are counted, or summed to select by */
    /* Pages, of which the smallest and the largest of each element of the keys are kept: in decode all are read, and multiplied by
     * each query head as two keys more; a prefill writes them. */
    double pages, page_bytes;
    double moved_bytes; /* a prefill that selects: rows that stay, read and written where they lie together */
    /* Counts, or accumulated probabilities, read and written back in the step; in a prefill they stay on chip until the layer is
     * done, and are written once. What of them is in memory. */
    double count_bytes;
    /* KIVI's format: rows at 16 bits that a decode step reads and writes besides. Of R = kv_residual positions values stay as they
     * are, and keys until R are there, which is (R - 1) / 2 of them on average; the step's own are written. They are read besides
     * the places of all positions in few bits, those of the residual among them, which nothing fills yet. */
    double residual_bytes;
    double besides_bytes; /* that it takes in memory besides keys and values: counts, bounds of pages, a residual */
};
/* All bytes that the technique moves. */
static inline double dse_cache_moved(const struct dse_cache_step *s)
{
    return s->count_bytes + s->page_bytes + s->moved_bytes + s->residual_bytes;
}
void dse_cache_step_at(const struct dse_cache *c, const struct dse_workload *w, struct dse_cache_step *ret);
/* Scalar operations that make a number of an element of a key or value of a cache with scales (kv_scale_bits): its zero point is
 * subtracted, and the rest multiplied by its scale. A decode step takes them for each element that it reads; 0 without scales, and
 * in a prefill, whose keys and values are at hand as they were made. It asks for kv_scale_bits alone, and grows with them, so that
 * the ends of a box have the least and the most. */
enum { DSE_WIDENING_OPS = 2 };
static inline double dse_cache_widening(const struct dse_workload *w)
{
    return w->phase == DSE_DECODE && w->kv_scale_bits > 0 ? DSE_WIDENING_OPS : 0;
}
/* dse_workload_expand of such a step: attention at the positions that are read; bounds of pages among the operations of
 * "attention_scores", counting among those of "softmax" (an addition a position and pass); numbers made of a cache with scales
 * among those of who reads them (dse_cache_widening); and all that the technique moves among kv_write_bytes: bounds that are read
 * in "attention_scores", the rest in "attention_values". */
void dse_cache_expand(const struct dse_cache_step *s, const struct dse_workload *w, struct dse_oplist *ret);
/* The workload as attention of a decode step sees it: at the positions that are read. Everything else of a decode step does not
 * depend on the context. A prefill is not changed. */
struct dse_workload dse_cache_read_by(const struct dse_cache_step *s, const struct dse_workload *w);
/* Bytes in DRAM: weights, and the cache of the batch with all that the technique keeps. */
double dse_cache_footprint(const struct dse_cache_step *s, const struct dse_workload *w);

/* ---- quality ------------------------------------------------------------------------------------------------------------ */

/* What is known of the output. */
struct dse_kept {
    double mass;            /* of the full softmax, on the positions that are read */
    double error, error_sd; /* |o - exact| / |exact|, and its standard deviation over heads; NaN where nobody says */
    bool extended;          /* not measured at such contexts, but extended from shorter ones */
};

/* What attention keeps: of one step at the context and the share of it that stays; of a generation the mean of its steps, by
 * Gauss's rule of three points. Nothing lost: a mass of 1 and an error of 0. S positions stand for every ratio that rounds to
 * them. A cache that keeps all in few bits with scales (dse_cache_rounds) has a mass of 1, and the error of the surface's method
 * "kv-format": its scales, groups of 32 / kv_scale_bits elements, its residual; one that loses positions, too, has that of the
 * policy where it was measured with the format. What was measured on another LLM stands for this one where dse_llm_unlike_measured
 * lets it. NULL; or why nobody measured it under these settings, and then all of *ret is NaN.
 * Retention profiles do not say how much heads differ, nor may a surface. */
const char *dse_cache_quality(const struct dse_cache_steps *s, struct dse_kept *ret);

/* Was all that dse_cache_quality reads measured on the workload's own LLM? Of a point that loses something. */
bool dse_cache_measured_on(const struct dse_cache_steps *s);

/* What the point scores on the task: of its one technique, or of the LLM by itself where nothing is lost. NULL; or why nobody has
 * scored it, and then all of *ret is NaN. What narrow weights lose is not in it. */
const char *dse_cache_score(const struct dse_cache_steps *s, struct dse_score *ret);
/* For dse_model.why_null of such a score and what it came with, where `metric` is one of its two. */
const char *dse_score_why_null(const char *why, const struct dse_score *score, const char *metric);
/* Over a box: a number where nothing varies that it depends on. */
void dse_cache_score_bound(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_interval *ret_score,
                           struct dse_interval *ret_loss);

/* The quality of a point, as dse_model.stand has it. */
void dse_cache_stand(const struct dse_cache_steps *s, struct dse_standing *ret);
/* For dse_model.why_null: why `metric` is NULL, where it is one of quality. */
const char *dse_cache_why_null(const struct dse_cache_steps *s, const char *metric);

struct dse_kept_bound {
    struct dse_interval mass, error, error_sd;
};
/* Bounds of the same over a box, whose ends are lo and hi (model.h); `target`: the fewest and the most positions that stay. The
 * positions seen are between lo.before and hi.before. */
void dse_cache_quality_bound(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_interval target,
                             struct dse_kept_bound *ret);

#endif
