/* Fit of the generator to published statistics: GSL's simplex (nmsimplex2) over some of its parameters, started anew until it
 * gains nothing, on common random numbers, so that a measured statistic is a function of the parameters alone (and of no number
 * of threads).
 *
 * An anchor is a statistic at a length and its published value. The misfit is the sum of ((measured - published) / tolerance)^2.
 * Where the publication gives a bound, a statistic on its right side counts with ANCHOR_SLACK: of all parameters that keep the
 * bounds, those near them are taken, so that synthetic attention claims no more than was published.
 */
#ifndef DSE_ATTENTION_GENERATOR_FIT_H
#define DSE_ATTENTION_GENERATOR_FIT_H

#include "attention/generator.h"

/* What an anchor can be about; see score_stats.h. */
enum anchor_metric {
    ANCHOR_TOP1,
    ANCHOR_TOP_SUM, /* top-1 + top-2 */
    ANCHOR_ADJACENT,
    ANCHOR_HIT,
    ANCHOR_ACTIVE,        /* |J| */
    ANCHOR_ACTIVE_GROWTH, /* exponent of |J| from n / 8 to n */
    ANCHOR_INSIDE,
    ANCHOR_RECOMPUTED,
    ANCHOR_METRICS
};
extern const char *const anchor_metric_names[]; /* as in anchors.toml; closed by NULL */

enum anchor_kind { ANCHOR_EQUAL, ANCHOR_AT_LEAST, ANCHOR_AT_MOST };

struct anchor {
    enum anchor_metric metric;
    enum anchor_kind kind;
    size_t n;
    double value, tolerance;
    char *source;
};

struct anchor_set {
    double low, high;                /* range of scores for ANCHOR_INSIDE and ANCHOR_RECOMPUTED */
    size_t heads;                    /* of ANCHOR_HEADS_N positions; an eighth as many of longer ones */
    struct generator start;          /* where the fit starts, and all that is not fitted; its n is the longest anchor's */
    const struct dse_param **fitted; /* rows of generator_params */
    size_t n_fitted;
    struct anchor *list;
    size_t n;
};
enum { ANCHOR_HEADS_N = 1024, ANCHOR_N_MIN = 32, ANCHOR_N_MAX = 65536 };
extern const double anchor_slack;

/* Measure the anchors of a generator into measured[0..set->n). False with errors of generator_check. */
bool anchors_measure(const struct anchor_set *set, const struct generator *g, double *measured, struct diags *diags);
/* The misfit of measured statistics. */
double anchors_misfit(const struct anchor_set *set, const double *measured);
/* Does a measured value keep the anchor? It does within the tolerance, and on the right side of a bound. */
bool anchor_kept(const struct anchor *a, double measured);

struct generator_fit {
    struct generator g; /* the best, rounded to three digits; or the start, when that is as good */
    size_t iterations, evaluations, simplexes;
    bool converged;      /* the last simplex gained less than 1 % of the misfit */
    double misfit, size; /* of g; of the last simplex */
};
/* At most `iterations` of them, of all simplexes together. False with errors. */
bool generator_fit(const struct anchor_set *set, size_t iterations, struct generator_fit *ret, struct diags *diags);

void anchor_set_release(struct anchor_set *set);

#endif
