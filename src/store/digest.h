/* Digests of what a run stored, so that a value that another program changed is found, wherever it stands.
 *
 *     digest(run, of, hash): `of` is the table whose rows of that run are digested; run 0 is column_info, which is of all runs
 *
 * A digest is a sum over rows, so that it does not depend on their order, and parts of a run add up. A row is a sum over its
 * columns of a hash of name and value, in which NULL counts nothing: a column that is added later changes no row. MODEL_all leaves
 * out `id` and `run`, which merging numbers anew and which follow from `first_id` and the point (store/check.c asks that).
 *
 * The digest of MODEL_all is written with its rows, in the same transaction. Those of the other tables are there whenever the run
 * is not "running". An older dse wrote none: then run.digests is not 1.
 *
 * It is there to find accidents and edits. Who forges rows can forge their digest.
 */
#ifndef DSE_STORE_DIGEST_H
#define DSE_STORE_DIGEST_H

#include "store/db.h"
#include "store/store.h"

/* ---- rows that are written --------------------------------------------------------------------------------------------------- */

/* How rows of MODEL_all with these columns are digested. */
struct digest_row {
    uint64_t point, reason;                    /* keys of the leading columns */
    uint64_t feasible, infeasible;             /* of status, whole */
    uint64_t closed_form, at_events, measured; /* of fidelity, whole */
    uint64_t *keys;                            /* of the cells */
    enum dse_type *types;
    size_t n;
};
void digest_row_init(struct digest_row *ret, const struct column *columns, size_t n);
void digest_row_release(struct digest_row *r);
/* Of one row. Pure; thread-safe. */
uint64_t digest_row_of(const struct digest_row *r, uint64_t point, bool at_events, const union cell *cells, const struct row *row);
/* Of the rows of a block that is at one fidelity. */
uint64_t digest_block_of(const struct digest_row *r, const struct row_block *block, bool at_events);

/* ---- in the database --------------------------------------------------------------------------------------------------------- */

/* The digest of MODEL_all that is stored in the database `schema` ("main", or an attached one); 0 when there is none. */
bool digest_read(const struct db *db, const char *schema, int64_t run, const char *model, uint64_t *ret, bool *ret_there,
                 struct diags *diags);
/* Store it. To be called in the transaction that writes the rows. */
bool digest_write(const struct db *db, int64_t run, const char *model, uint64_t hash, struct diags *diags);
/* Compute it from the rows that are there. */
bool digest_scan(const struct db *db, int64_t run, const char *model, uint64_t *ret, struct diags *diags);

/* Note in its record that the run has digests from now on. */
bool digest_begin(const struct db *db, int64_t run, struct diags *diags);
/* Make the digests of the other tables what they are now, or take them away while the run is running. To be called at the end of
 * each transaction that changed them. */
bool digest_update(const struct db *db, int64_t run, struct diags *diags);
/* The same of column_info. */
bool digest_update_columns(const struct db *db, struct diags *diags);

/* Compare what is stored with what is there; `rows`: those of MODEL_all, too, which takes about as long as reading them. False with
 * an error about the first table that differs. */
bool digest_check(const struct db *db, bool rows, struct diags *diags);

#endif
