/* Classes of evidence, and the null model. */
#ifndef DSE_CLAIMS_EVIDENCE_INTERNAL_H
#define DSE_CLAIMS_EVIDENCE_INTERNAL_H

#include "claims/answers.h"

/* Read the keys `class` and `because` of a claim. */
bool claims_read_class(const struct claim_set *s, struct answer *a, struct diags *diags);
/* Fill s->evidence. The first function finds what the null model copies, with all machines as shipped; the second finds the
 * classes, and needs s->depends. */
void claims_find_nearest(struct claim_set *s);
bool claims_classify(struct claim_set *s, struct diags *diags);

#endif
