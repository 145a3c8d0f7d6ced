/* Sums over some of the claims. */
#ifndef DSE_CLAIMS_SUMS_H
#define DSE_CLAIMS_SUMS_H

#include "claims/claims.h"

/* Is the claim in the group? Does its answer have an error that counts? And the sum over the claims for which `in` is set. */
bool claims_in_group(const struct claim *c, const struct claim_group *g);
bool claims_has_error(const struct claim_answer *a);
struct claim_sum claims_sum_of(const struct claim_set *s, const struct claim_answer *answers, const bool *in);

#endif
