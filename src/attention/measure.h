/* Statistics over many heads: what a profile of the catalog is made of. Heads come from traces or from the generator; each
 * context is the heads cut there, measured over its last steps; means and spreads are over all heads alike.
 *
 * Layers are measured side by side by OpenMP's threads and added up in their order: results do not depend on how many threads
 * there are.
 */
#ifndef DSE_ATTENTION_MEASURE_H
#define DSE_ATTENTION_MEASURE_H

#include "attention/eviction.h"
#include "attention/head.h"
#include "attention/kept_sets.h"
#include "attention/kv_format.h"
#include "attention/locality.h"
#include "attention/single_pass.h"
#include "attention/softmax_partial.h"
#include "quality/recording.h"

/* Where heads come from, layer by layer. */
struct head_source {
    size_t layers, heads; /* of a layer */
    size_t n;             /* positions of each */
    /* The caller releases the head. False with errors. Called by several threads. */
    bool (*head)(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags);
    void *user;
    const int32_t *steps; /* steps with q, growing: only what takes single steps measures them; NULL: every step */
    size_t n_steps;       /* of the list */
};
struct trace;
struct generator;
/* The heads of a trace, which must outlive the source. */
struct head_source head_source_trace(struct trace *t);
/* The first `heads` heads of a generator, g->n positions each; they do not belong together, so each is a layer. It must outlive
 * the source. */
struct head_source head_source_generator(struct generator *g, size_t heads);

struct measure_plan {
    const struct head_source *sources;
    size_t n_sources;
    const size_t *contexts; /* each at least 1 and at most the positions of every source */
    size_t n_contexts;
    size_t steps;                               /* measured: the last ones of each context; 0: its second half */
    void (*progress)(void *user, double share); /* or NULL; by one thread at a time */
    void *progress_user;
};
/* False with an error when there are no heads, no contexts, a context without enough positions or steps. */
bool measure_plan_check(const struct measure_plan *p, struct diags *diags);
/* The number of heads of all sources. */
size_t measure_heads(const struct measure_plan *p);

/* Mean and (population) standard deviation over heads. */
struct moments {
    size_t n;
    double mean, squares; /* sum of squared deviations */
};
void moments_add(struct moments *m, double x);
double moments_sd(const struct moments *m);

/* LAD at one context. Counts are those of a profile: with the newest positions. */
struct measured_locality {
    struct moments centers, large, active, updates;
    struct moments hit_ratio; /* of each head */
    double pooled_hit_ratio;  /* positions active before and now, over all active: means over heads of both */
    struct moments attention_error, false_negative, false_positive, top1, top2, softmax_mse, lines_mse;
};
/* Measure locality. `rows` has a row for each of the n_contexts. */
bool measure_locality(const struct measure_plan *p, const struct locality_options *o, struct measured_locality *rows,
                      struct diags *diags);

/* Single steps of heads, as recording_new takes them: rows by context, head (counted over the layers of all sources) and step;
 * n_contexts * measure_heads() * p->steps of them. p->steps must not be 0: every context has the same. */
bool measure_recording(const struct measure_plan *p, const struct locality_options *o, struct recording_row *rows,
                       struct diags *diags);

struct retention_policy {
    struct eviction_options options; /* their ratio is not used */
    /* The share of each context that is a prompt, rounded down. 0: all is streamed; 1: all positions before the steps that are
     * measured. S is a ratio of the whole context with a prompt, too. options.prompt and options.size are not used. */
    double prompt_share;
};
/* The policy's options at one context and ratio, measured from step `first` on. */
struct eviction_options retention_options(const struct retention_policy *policy, size_t context, double ratio, size_t first);
/* Is the cache large enough for what the policy holds apart? */
bool retention_has_room(const struct eviction_options *o, size_t context);
struct measured_retention {
    const struct retention_policy *policy;
    size_t context;
    double ratio;
    struct moments retained_mass, attention_error;
};
/* Rows by policy, context, ratio: at most n_policies * n_contexts * n_ratios of them, *ret_n were filled. A cache that is too
 * small for a policy (voting below its reserved length, a window that is nothing but sinks) has no row. */
bool measure_retention(const struct measure_plan *p, const struct retention_policy *policies, size_t n_policies,
                       const double *ratios, size_t n_ratios, struct measured_retention *rows, size_t *ret_n, struct diags *diags);

/* Scores of the steps of one context, and how many vectors a unified maximum computes anew. */
struct measured_range {
    struct softmax_range_result count;
};
bool measure_range(const struct measure_plan *p, const struct softmax_range *r, struct measured_range *rows, struct diags *diags);

/* The asynchronous softmax carried out, over the steps of one context: as struct softmax_partial_result, of all heads. */
struct measured_partial {
    size_t vectors, recomputed, lost;
    double output_error;             /* largest difference of an element of the output */
    struct moments attention_error;  /* of each head: |o - exact| / |exact| of the vectors that are not lost */
    double within_1e_2, within_1e_1; /* shares of the elements, of vectors that are not lost; NaN without any */
};
bool measure_partial(const struct measure_plan *p, const struct softmax_partial *s, struct measured_partial *rows,
                     struct diags *diags);

/* A cache in few bits, over the steps of one context; as struct kv_format_result, of each head. */
struct measured_format {
    struct moments attention_error, key_error, value_error;
};
bool measure_format(const struct measure_plan *p, const struct kv_format *f, struct measured_format *rows, struct diags *diags);

/* Sets that some method keeps, over the steps of one context that the file has. */
struct measured_kept {
    size_t context, steps;
    double ratio; /* positions read, of those that there are: mean over steps and heads */
    struct moments retained_mass, attention_error;
};
/* Of the one trace that the sets are of. Rows by context, without those that have no step in the file: *ret_n of them, at most
 * n_contexts. False with an error when there are none. */
bool measure_kept(const struct measure_plan *p, const struct kept_sets *k, struct measured_kept *rows, size_t *ret_n,
                  struct diags *diags);

/* Fixed-point attention, over the steps of one context. */
struct measured_fixed {
    struct moments attention_error; /* of each head; as struct single_pass_result */
    double worst_error;             /* of a step */
    size_t steps, saturated;        /* steps in which a value left the range of 32 bits */
};
bool measure_fixed(const struct measure_plan *p, const struct single_pass *s, struct measured_fixed *rows, struct diags *diags);

#endif
