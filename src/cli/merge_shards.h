/* Shards among the databases that `dse merge` is given: what together makes a whole, and what does not. */
#ifndef DSE_CLI_MERGE_SHARDS_H
#define DSE_CLI_MERGE_SHARDS_H

#include "base/diag.h"

#include <stddef.h>

/* Are the shards those of one sweep, or are all of each sweep there? Else an error says which are of which, and which are missing:
 * merged, they would look like one run, and be parts of two. */
bool merge_check_shards(const char *const *paths, size_t n, struct diags *diags);
/* Say of each run of a merged database that lacks points how many it has. */
bool merge_say_missing(const char *db, struct diags *diags);

#endif
