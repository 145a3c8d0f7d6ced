/* Claims: the published numbers of a system and the model's answers. docs/reference/claims-file.md is the manual of both files.
 *
 * A set of claims holds everything of one system: the rows of claims.csv, the machines, cases and bindings of claims.toml, and the
 * constants that may be fitted. Evaluating is a pure function of the constants' values.
 *
 * A set keeps what it has computed and the state of its expressions: it is used by one thread. What it hands out lives as long as
 * it.
 */
#ifndef DSE_CLAIMS_CLAIMS_H
#define DSE_CLAIMS_CLAIMS_H

#include "config/bind.h"
#include "model/fidelity.h"

/* CLAIM_MAX: the largest of several published, "up to 4.86x", which is a number and no bound. */
enum claim_bound { CLAIM_EQUAL, CLAIM_ABOUT, CLAIM_MAX, CLAIM_ABOVE, CLAIM_AT_LEAST, CLAIM_BELOW, CLAIM_AT_MOST, CLAIM_RANGE };

enum claim_verdict {
    CLAIM_EXACT,
    CLAIM_HOLDS,
    CLAIM_NEAR,
    CLAIM_OFF,
    CLAIM_MISSES,
    CLAIM_CONTRADICTION,
    CLAIM_INPUT,
    CLAIM_FITTED,   /* of a measurement: the heads were made to agree */
    CLAIM_MEASURED, /* the model has no number; claims_measure has */
    CLAIM_NOT_MODELLED,
    CLAIM_VERDICTS
};
extern const char *const claim_verdict_names[]; /* "exact", "holds", ..., NULL */

/* A row of claims.csv, and what claims.toml says of it besides the answer. Strings belong to the set. */
struct claim {
    const char *id, *system, *location, *quantity, *unit, *conditions, *kind, *modelable, *how, *split;
    const char *value_text; /* as published: "10.0" */
    double value, value_hi; /* value_hi: NaN unless a range */
    double half_digit;      /* half a unit of the last published digit: 0.05 for "10.0" */
    double half_digit_hi;   /* of value_hi */
    enum claim_bound bound;
    bool held_out, headline;
    const char *contradiction; /* the tag of an entry of [contradictions], or NULL */
};
/* Half a unit of the last digit of a number as it is written: 0.05 for "10.0". */
double claim_half_digit(const char *text);
/* Is it a number to be met, and no bound and no range? */
bool claim_is_number(const struct claim *c);
/* ">", ">=", "<", "<=", "~", "max", the upper end of a range, or "". buf holds TEXT_NUMBER_MAX bytes. */
const char *claim_bound_text(const struct claim *c, char *buf);

/* The model's answer to a claim. */
struct claim_answer {
    double modelled;      /* NaN: no number */
    double error_percent; /* of the published value, or of the bound that is missed (0 when it is met); NaN without a number */
    enum claim_verdict verdict;
    const char *reason; /* why there is no number, or which contradiction; or NULL */
    uint64_t constants; /* bit i: the number depends on constant i */
};

/* A constant that is neither given by the paper nor derived. If it is a name among choices, its value is the index of the name. */
enum { CLAIM_CONSTANTS_MAX = 64 };
struct claim_constant {
    const char *name, *parameter, *fitted_to; /* fitted_to: "" when nothing says */
    const char *const *choices;               /* NULL: a number */
    double shipped;                           /* the value that the machines have without being told */
    double min, max;                          /* the parameter's range */
    bool whole;                               /* a whole number */
    bool fit;                                 /* false: chosen, not fitted */
    const char *knowing;                      /* of a fitted one: what of its law was chosen knowing the numbers; or "" */
    const double *alternatives;               /* of a chosen one: n_alternatives other values that it could have had, */
    size_t n_alternatives;
    const char *source; /* and where they are from */
    double text;        /* the value that the paper's text says, or comes nearest to; NaN: it says nothing */
    bool borrowed;      /* of another model, whose own claims it may be fitted to: "MODEL.NAME" */
};
/* A value of the constant as a text: "0.871", "limited". */
const char *claim_constant_text(const struct claim_constant *c, double value, char buf[TEXT_NUMBER_MAX]);

struct claim_contradiction {
    const char *tag, *text, *says, *unit, *verdict; /* says, unit: "" when there is none */
    double modelled;                                /* NaN: no number */
};

struct claim_set;

/* Does the model have a claims.csv? One without has nothing to validate. */
bool claims_exist(const struct model *model, const char *data_dir);
/* Read data_dir/models/NAME/claims.csv and claims.toml and compile every binding. NULL with errors: all of both files. The
 * catalog must outlive the set. */
struct claim_set *claims_open(const struct model *model, const struct catalog *catalog, const char *data_dir, struct diags *diags);
void claims_free(struct claim_set *s);

/* Choose the fidelity of the metrics of all machines whose model has it. The metrics of other machines, and equations, stay in
 * closed form, which is what a set is opened with. At event level a point takes milliseconds or more: claims_simulate computes all
 * points that the claims ask for on all cores, so that their answers come at once afterwards. It returns false when *stop became
 * nonzero (stop may be NULL); points that were not computed then have no answer. `progress` (or NULL) is called from any thread,
 * one at a time. */
void claims_set_fidelity(struct claim_set *s, enum fidelity fidelity);
bool claims_simulate(struct claim_set *s, const volatile sig_atomic_t *stop,
                     void (*progress)(void *user, uint64_t done, uint64_t of), void *user);

const struct model *claims_model(const struct claim_set *s);
const struct claim *claims_list(const struct claim_set *s, size_t *ret_n);
/* The constants in the order of claims.toml, and after them the calibrated constants of other models' machines. */
const struct claim_constant *claims_constants(const struct claim_set *s, size_t *ret_n);
/* Indices of the claims that the constants are fitted to ([calibrate]), all of split calibrate, with a positive published number.
 */
const size_t *claims_fitted(const struct claim_set *s, size_t *ret_n);

/* The modelled number of one claim with the given values of the constants (NULL: as shipped); NaN, with *ret_reason, when there
 * is none. The reason lives until the claim is evaluated again. */
double claims_value(struct claim_set *s, size_t claim, const double *constants, const char **ret_reason);
/* The error [%] of a number: of the published value, of the bound or the end of the range that it misses; 0 where it meets them.
 * Against a published 0: 0 when it rounds to it, else 100. */
double claim_error_percent(const struct claim *c, double modelled);
/* How the published number and ours compare, whatever the claim's kind: exact to misses. */
enum claim_verdict claim_compare(const struct claim *c, double ours);
/* The answers to all claims with the given values of the constants (NULL: as shipped); `ret` has as many as there are claims. A
 * binding that gives no number (an infeasible machine, a division by zero) is an error at its place, and the claim is not
 * modelled. False with errors. */
bool claims_answer_with(struct claim_set *s, const double *constants, struct claim_answer *ret, struct diags *diags);
/* The answers with all constants as shipped. */
bool claims_answer(struct claim_set *s, struct claim_answer *ret, struct diags *diags);
/* The contradictions, with the model's numbers of the last claims_answer. */
const struct claim_contradiction *claims_contradictions(const struct claim_set *s, size_t *ret_n);

/* ---- measured on heads --------------------------------------------------------------------------------------------------- */

/* [attention.NAME]: the heads that some claims are measured on. */
struct claim_attention {
    const char *name;   /* as in claims.toml */
    const char *source; /* "16 heads of the generator: seed=2", "tinyllama-1.1b, layers 0 5, heads 0 16; trace 7769353d856998a6" */
};

/* A claim's number on some heads. */
struct claim_measure {
    size_t claim;                     /* index */
    const struct claim_attention *on; /* NULL: takes no heads */
    const char *at;                   /* the contexts: "min of 512, 1024, 2048", "4096"; "" without heads */
    double value, error_percent;      /* as in struct claim_answer */
    enum claim_verdict verdict;       /* exact to misses, or fitted */
    const char *fitted, *note;        /* what of the heads was fitted to the claim; what else the number is about. Or "" */
};

/* Measure everything that claims.toml asks for, each set of heads once. This takes seconds and does not depend on constants.
 * `progress` (or NULL) is told the share that is done, by one thread at a time. False with errors; what could be measured is kept
 * all the same. */
bool claims_measure(struct claim_set *s, void (*progress)(void *user, double share), void *user, struct diags *diags);
/* Does claims.toml ask for anything to be measured? */
bool claims_to_measure(const struct claim_set *s);
/* The numbers of the last claims_measure, in the order of the claims and of their heads. */
const struct claim_measure *claims_measures(const struct claim_set *s, size_t *ret_n);
/* The heads, in the order of claims.toml. */
const struct claim_attention *claims_attention_at(const struct claim_set *s, size_t i); /* NULL behind the last */

/* ---- sums ---------------------------------------------------------------------------------------------------------------- */

/* Which claims are summed up. */
struct claim_group {
    const char *name;
    bool calibrate, holdout; /* the splits */
    bool measured, headline; /* of kind measured alone; marked as headline alone */
    bool reachable;          /* modelable `yes` alone: what the equations can give, without what is known to be missing */
};
extern const struct claim_group claim_groups[]; /* the groups that are printed, closed by one without a name */

/* Errors are those of the claims that have a number: bounds and ranges that are met, contradictions and inputs count as verdicts
 * only. */
struct claim_sum {
    size_t claims; /* without inputs */
    size_t verdicts[CLAIM_VERDICTS];
    size_t errors;       /* how many errors the three below are of */
    double mean_percent; /* mean of the absolute errors; NaN when there are none */
    /* Geometric mean of the factors between published and modelled numbers (the larger over the smaller), minus one. */
    double factor_percent;
    double worst_percent;
    const char *worst; /* the claim, or NULL */
};
struct claim_sum claims_sum(const struct claim_set *s, const struct claim_answer *answers, const struct claim_group *group);
/* The sum over what was measured on some heads (on == NULL: without heads). The errors are those of measurements that miss and
 * were not fitted. */
struct claim_sum claims_sum_measured(const struct claim_set *s, const struct claim_attention *on);

#endif
