/* Where a miss comes from: a claim's number once more, with one thing after the other taken as the machine that can be built has
 * it (`steps` of claims.toml). Some steps are carried out at event level, whatever the fidelity of the answers.
 */
#ifndef DSE_CLAIMS_STEPS_H
#define DSE_CLAIMS_STEPS_H

#include "claims/claims.h"

struct claim_step {
    size_t claim;     /* index */
    const char *what; /* as in claims.toml */
    enum fidelity fidelity;
    double modelled;      /* NaN: no number, */
    const char *reason;   /* because of this */
    double change;        /* from the step before; NaN of the first */
    double error_percent; /* as in struct claim_answer */
};

/* All steps of the set, claim by claim, in the order of claims.toml; computed when first asked for. The list lives as long as the
 * set. */
const struct claim_step *claims_steps(struct claim_set *s, size_t *ret_n);

#endif
