/* How much of a system's error hangs on what was chosen: the error at every alternative value of every chosen constant (struct
 * claim_constant), one at a time, and with all of them at once as the paper's text has them. The constants that are fitted are
 * fitted anew each time.
 */
#ifndef DSE_CLAIMS_ENSEMBLE_H
#define DSE_CLAIMS_ENSEMBLE_H

#include "claims/claims.h"

/* The errors that are shown: of the numbers that were measured and held out, all and the headline ones. */
enum { ENSEMBLE_MEASURED, ENSEMBLE_HEADLINE, ENSEMBLE_GROUPS };
extern const char *const ensemble_group_names[ENSEMBLE_GROUPS]; /* as in claim_groups */

struct ensemble_member {
    size_t constant; /* in claims_constants; SIZE_MAX: all, as the text has them */
    double value;    /* of that one */
    bool fitted;     /* false: no fit there, or nothing to be fitted; then the fitted constants are as shipped */
    size_t lost;     /* claims that have a number as shipped and none here: a machine that cannot be built */
    struct claim_sum sums[ENSEMBLE_GROUPS];
};

struct ensemble {
    struct claim_sum shipped[ENSEMBLE_GROUPS];
    /* In the order of the constants and of their alternatives. The values of the paper's text come last, if others ship. */
    struct ensemble_member *members;
    size_t n;
};

/* The caller frees it. A set without chosen constants gives one without members. */
struct ensemble *ensemble_new(struct claim_set *s);
void ensemble_free(struct ensemble *e);

#endif
