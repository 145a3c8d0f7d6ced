/* claims.csv: the published numbers. */
#ifndef DSE_CLAIMS_ROWS_H
#define DSE_CLAIMS_ROWS_H

#include "claims/set.h"

/* Read data_dir/models/NAME/claims.csv. */
bool claims_read_rows(struct claim_set *s, struct diags *diags);
struct claim *claims_find(const struct claim_set *s, const char *id);
/* An error at a node whose string, or key, is no claim's id. Always false; silent when rows are missing anyway. */
bool claims_no_such_id(const struct claim_set *s, const char *id, struct srcloc loc, struct diags *diags);

#endif
