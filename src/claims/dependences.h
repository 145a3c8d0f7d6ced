/* [calibrate], and which claims depend on which constants. */
#ifndef DSE_CLAIMS_DEPENDENCES_H
#define DSE_CLAIMS_DEPENDENCES_H

#include "claims/set.h"

bool claims_read_calibrate(struct claim_set *s, struct diags *diags);
/* Fill s->depends: which constants each claim depends on. */
void claims_find_dependences(struct claim_set *s);

#endif
