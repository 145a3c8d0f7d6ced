/* The key `steps` of a claim. */
#ifndef DSE_CLAIMS_STEPS_INTERNAL_H
#define DSE_CLAIMS_STEPS_INTERNAL_H

#include "claims/answers.h"
#include "claims/steps.h"

struct step {
    struct claim_step public; /* claim, what, fidelity */
    struct answer answer;
};

/* Read the steps of a claim whose other keys have been read. */
bool claims_read_steps(struct claim_set *s, const struct answer *claim, struct diags *diags);
void claims_free_steps(struct claim_set *s);

#endif
