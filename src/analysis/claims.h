/* Claims: the published numbers of a system and the model's answers. docs/claims.md is the manual of both files.
 *
 * A set of claims holds everything of one system: the rows of claims.csv, the machines, cases and bindings of claims.toml, and the
 * constants that may be fitted. Evaluating is a pure function of the constants' values.
 */
#ifndef DSE_ANALYSIS_CLAIMS_H
#define DSE_ANALYSIS_CLAIMS_H

#include "config/bind.h"

enum claim_bound { CLAIM_EQUAL, CLAIM_ABOUT, CLAIM_ABOVE, CLAIM_AT_LEAST, CLAIM_BELOW, CLAIM_AT_MOST, CLAIM_RANGE };

enum claim_verdict {
    CLAIM_EXACT,
    CLAIM_HOLDS,
    CLAIM_NEAR,
    CLAIM_OFF,
    CLAIM_MISSES,
    CLAIM_CONTRADICTION,
    CLAIM_INPUT,
    CLAIM_NOT_MODELLED,
    CLAIM_VERDICTS
};
extern const char *const claim_verdict_names[]; /* "exact", "holds", ..., NULL */

/* A row of claims.csv. Strings belong to the set. */
struct claim {
    const char *id, *system, *location, *quantity, *unit, *conditions, *kind, *modelable, *how, *split;
    const char *value_text; /* as published: "10.0" */
    double value, value_hi; /* value_hi: NaN unless a range */
    double half_digit;      /* 0.05 for "10.0" */
    enum claim_bound bound;
    bool held_out, headline;
};

/* What the model says to a claim. */
struct claim_answer {
    double modelled;      /* NaN: no number */
    double error_percent; /* of the published value, or of the bound that is missed (0 when it is met); NaN without a number */
    enum claim_verdict verdict;
    const char *reason; /* why there is no number, or which contradiction; or NULL */
    uint64_t constants; /* bit i: the number depends on constant i */
};

/* A constant that is neither given by the paper nor derived. */
struct claim_constant {
    const char *name, *parameter, *fitted_to;
    double shipped;  /* the value that the machines have without being told */
    double min, max; /* the parameter's range */
    bool fit;        /* false: chosen, not fitted */
};

struct claim_contradiction {
    const char *tag, *text, *says, *unit, *verdict;
    double modelled; /* NaN: no number */
};

struct claim_set;

/* Read data_dir/models/NAME/claims.csv and claims.toml and compile every binding. NULL with errors: all of both files. */
struct claim_set *claims_open(const struct model *model, const struct catalog *catalog, const char *data_dir, struct diags *diags);
void claims_free(struct claim_set *s);

const struct claim *claims_list(const struct claim_set *s, size_t *ret_n);
const struct claim_constant *claims_constants(const struct claim_set *s, size_t *ret_n);
/* Indices of the claims that the constants are fitted to ([calibrate]). */
const size_t *claims_fitted(const struct claim_set *s, size_t *ret_n);

/* The modelled number of one claim with the given values of the constants (NULL: as shipped); NaN, with *ret_reason, when there is none.
 * Not thread-safe: expressions keep state. */
double claims_value(struct claim_set *s, size_t claim, const double *constants, const char **ret_reason);
/* The answers to all claims as shipped; `ret` has as many as there are claims. */
void claims_answer(struct claim_set *s, struct claim_answer *ret);
/* The contradictions, with the model's numbers. */
const struct claim_contradiction *claims_contradictions(struct claim_set *s, size_t *ret_n);

#endif
