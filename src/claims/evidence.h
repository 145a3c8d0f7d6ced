/* What a claim's number is evidence of. A number that agrees says little when the paper's own numbers went in, or one beside it
 * was fitted to; this says which it is, by rules that docs/reference/claims-file.md lists, and what copying another published
 * number would have given.
 */
#ifndef DSE_CLAIMS_EVIDENCE_H
#define DSE_CLAIMS_EVIDENCE_H

#include "claims/claims.h"

/* From the weakest to the strongest. A claim is of the first of these that applies; claims.toml can only make it weaker. */
enum evidence_class {
    EVIDENCE_NONE,          /* no number, or an input */
    EVIDENCE_FITTED,        /* of split calibrate: something was fitted or set to it */
    EVIDENCE_IDENTITY,      /* the paper's own numbers in, the claim out */
    EVIDENCE_ARITHMETIC,    /* a count or a formula of sizes, without constants */
    EVIDENCE_INTERPOLATION, /* the neighbour of a fitted number */
    EVIDENCE_INFORMED,      /* held out, but structure or a constant was chosen knowing it */
    EVIDENCE_HELD_OUT,
    EVIDENCE_CLASSES
};
extern const char *const evidence_names[]; /* "", "fitted", ..., "held out"; NULL */

struct evidence {
    enum evidence_class class;
    const char *because; /* which rule, and of which claim or constant; "" without a class */
    const char *nearest; /* the id of the claim that the null model copies; NULL: the paper has no other number of this kind */
    double copied;       /* its number; NaN without one */
    double null_percent; /* the error of that number, as in struct claim_answer */
};

/* The evidence of claim i with all constants as shipped. */
const struct evidence *claims_evidence(const struct claim_set *s, size_t i);

/* Sums over the claims of a class (EVIDENCE_NONE: of all classes) and a group of claims (NULL: all). The null model is compared
 * with the model over the claims that have both errors. */
struct evidence_sum {
    struct claim_sum model;
    size_t compared;
    double model_percent, null_percent; /* mean absolute errors of those; NaN of none */
};
struct evidence_sum evidence_sum(const struct claim_set *s, const struct claim_answer *answers, const struct claim_group *group,
                                 enum evidence_class class);

#endif
