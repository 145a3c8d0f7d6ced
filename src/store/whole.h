/* Is a database whole? What is seen fast is looked at whenever one is opened, so that a damaged file gives no answer instead of a
 * part of one:
 *
 *  - the size of the file is what its header says;
 *  - its bytes are those that dse left (src/store/seal.h): then there is no more to look at.
 *
 * Of a file that is being written, or that another program wrote to,
 *
 *  - the pages of its tables hang together (SQLite's quick_check): all of them in a file of up to WHOLE_PAGES_MAX bytes, in a
 *    larger one those of all tables but MODEL_all;
 *  - each run has as many rows of each model as its blocks say, and in all as many as it counted when they were stored;
 *  - each point on a front has its row;
 *  - all values are those that dse wrote (src/store/digest.h): those of MODEL_all in a file of up to WHOLE_PAGES_MAX bytes, and
 *    wherever dse is to write to it.
 */
#ifndef DSE_STORE_WHOLE_H
#define DSE_STORE_WHOLE_H

#include "store/db.h"

enum { WHOLE_PAGES_MAX = 64 << 20 };

/* Is the database whole, which an empty one is? False with an error about the first thing that is wrong. */
bool whole_check(const struct db *db, struct diags *diags);
/* Two parts of whole_check: the size of the file, which is returned, against what its header says; and the rows of all runs
 * against what was counted when they were stored. */
bool whole_check_size(const struct db *db, int64_t *ret_bytes, struct diags *diags);
bool whole_check_rows(const struct db *db, struct diags *diags);

#endif
