/* The seal: a hash of all bytes of a database as dse left it, so that one that was damaged since, anywhere, is refused.
 *
 *     seal(id INTEGER PRIMARY KEY, counter, hash): one row
 *
 * A writer that closes a database seals it. `counter` is the file's change counter (bytes 24 to 27 of the header) as of then: a
 * program that writes into the file, be it dse or another, moves it on, and the seal says nothing any more until dse writes the
 * next. Not in the hash are the counter itself, what SQLite notes beside it (bytes 92 to 99) and the page of the table `seal`.
 *
 * It is there to find accidents. Who forges a file can forge its seal.
 */
#ifndef DSE_STORE_SEAL_H
#define DSE_STORE_SEAL_H

#include "store/db.h"

/* The SQL that makes the table. */
extern const char seal_sql[];

enum seal_state {
    SEAL_NONE,   /* there is none, or it is of an earlier state of the file */
    SEAL_INTACT, /* every byte is as it was */
    SEAL_BROKEN, /* the file has changed without SQLite */
};

/* Within a transaction of the caller. False with an error when the file cannot be read. */
bool seal_check(const struct db *db, enum seal_state *ret, struct diags *diags);
/* The file's change counter, or -1 when it cannot be read. */
int64_t seal_counter(const struct db *db);
/* Seal a database unless it is sealed already. A failure changes nothing and is not reported: the file is then checked in other
 * ways. */
void seal_write(const struct db *db);

#endif
