/* Which constants the claims that are fitted to cannot tell apart: of two, only a product of powers is known. Chosen constants
 * count, too: a value that was chosen fixes the fitted one beside it, and both are worth no more than their product.
 *
 * Of each pair the two columns of the Jacobian d ln(modelled) / d ln(constant) are decomposed (SVD); where the smaller singular
 * value is next to nothing, its right vector is the direction that changes no claim. That is tried: both constants are moved
 * along it, a whole one by a whole step, and no claim may change.
 */
#ifndef DSE_CLAIMS_IDENTIFIED_H
#define DSE_CLAIMS_IDENTIFIED_H

#include "claims/claims.h"

/* Constants a and b (in claims_constants): only a b^power is known. */
struct unidentified {
    size_t a, b;
    double power;
    double product;   /* a b^power, as shipped */
    double condition; /* of their two columns, each of length 1 */
};

/* All such pairs of constants that are fitted or chosen, and numbers. Returns how many; *ret is freed by the caller. The claims
 * must have numbers as shipped; pairs of a constant on which none of them depends are left out. */
size_t claims_unidentified(struct claim_set *s, struct unidentified **ret);
/* "linear_efficiency x a100_batch", "a / b^2". The caller frees it. */
char *claims_product_text(const struct claim_set *s, const struct unidentified *u);

#endif
