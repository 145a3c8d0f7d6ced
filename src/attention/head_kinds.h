/* Heads like those of a trace, from few numbers: a mixture of head kinds fitted to it. Each real head is a component: a generator
 * (generator.h) whose heads have the same statistics, so that the mixture has their distributions over heads, not their means
 * alone.
 *
 * Of the scores of a head's later steps are taken: how much of their variance stays with the key (level_sd, and by its kurtosis
 * heavy_share and heavy_gain), how much is drawn anew at each step (fast_share) and how the rest wanders (rho, noise_sd); how they
 * fall with the logarithm of the age (recency_power); how far the first position stands out, by how much more as the context
 * grows (sink_gain, sink_growth), and how it wanders (sink_sd). Then some rounds of generating and measuring move sink_gain,
 * recency_gain, level_sd, noise_sd and fast_share until the mass on the first position, on the newest, on the largest tenth, |J|
 * and the correlation from step to step are the real ones. All is a function of the trace and the seed.
 */
#ifndef DSE_ATTENTION_HEAD_KINDS_H
#define DSE_ATTENTION_HEAD_KINDS_H

#include "attention/generator.h"

/* What is told of a head; means over the later half of the steps. */
struct head_features {
    double first_mass;       /* of the softmax on position 0 */
    double newest_mass;      /* on the newest HEAD_NEWEST positions */
    double half_mass;        /* on the newer half of the positions */
    double tenth_mass;       /* on the most probable tenth of the positions */
    double step_correlation; /* of the scores of two steps in a row, over the positions that both have, but the first */
    double active_share;     /* |J| / n: score_stats.h */
    double hit_ratio;        /* NaN: no J */
};
enum { HEAD_NEWEST = 64, HEAD_FEATURES = 7, HEAD_FIT_MIN = 256, HEAD_FIT_MAX = 2048 };
extern const char *const head_feature_names[]; /* "first_mass", ..., NULL; in the order of the struct */
/* Measure the first n positions of a head with q of every step; n at least HEAD_FIT_MIN. */
struct head_features head_features(const struct head *h, size_t n);
double head_feature(const struct head_features *f, size_t i);

enum head_kind { HEAD_SINK, HEAD_LOCAL, HEAD_SPARSE, HEAD_BROAD, HEAD_KINDS };
extern const char *const head_kind_names[]; /* "sink", "local", "sparse", "broad", NULL */
/* More than half on the first position: sink. A quarter of the rest on the newest: local. Half of it on a tenth: sparse. Else
 * broad. */
enum head_kind head_kind_of(const struct head_features *f);

struct head_component {
    enum head_kind kind;
    int32_t layer, head;             /* where it is from */
    struct generator g;              /* g.n: the positions that it was fitted on */
    struct head_features real, made; /* of the head; of the generator's first head */
};
/* Fit one head by its first n positions, HEAD_FIT_MIN to HEAD_FIT_MAX. Layer and head are the caller's. */
struct head_component head_component_fit(const struct head *h, size_t n, int64_t seed);
/* Make head number `i` of a component with n positions. The caller releases it. */
void head_component_make(const struct head_component *c, uint64_t i, size_t n, struct head *ret);
/* The same with q of some steps alone (generator_head_sampled). */
void head_component_make_sampled(const struct head_component *c, uint64_t i, size_t n, const int32_t *steps, size_t n_steps,
                                 struct head *ret);

#endif
