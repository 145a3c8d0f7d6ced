/* [claims] and [contradictions]: what the model answers. */
#ifndef DSE_CLAIMS_BINDINGS_H
#define DSE_CLAIMS_BINDINGS_H

#include "claims/set.h"

bool claims_read_bindings(struct claim_set *s, struct diags *diags);
bool claims_read_contradictions(struct claim_set *s, struct diags *diags);

#endif
