/* What a reader of a front should know, on stderr: one line a notice, "note: ...". */
#ifndef DSE_CLI_NOTICES_PRINT_H
#define DSE_CLI_NOTICES_PRINT_H

#include "store/notices.h"
#include "store/query.h"

/* Print the notices that the run has stored (run.notices). A run of an older dse has none. */
bool notices_print_stored(struct reader *r, int64_t run, struct diags *diags);
/* Print the notices of another front of the run. */
bool notices_print(struct reader *r, int64_t run, const struct notice_front *front, struct diags *diags);

#endif
