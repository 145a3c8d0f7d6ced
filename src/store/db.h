/* Internal to src/store: a connection to one SQLite file that knows its name and turns SQLite's failures into diagnostics.
 *
 * Writers. A database has one writing dse at a time. The writer keeps a lock of its own on the file, on a byte far behind any that
 * SQLite locks, for as long as it has the file open; the lock ends with the process, also by kill -9. SQLite's own locks
 * are taken a transaction at a time, so that other programs can read between two transactions.
 *
 * Where a file system has no locks, nothing is written but files that belong to one process by name (db_open_private), and who
 * reads trusts that it has ended.
 *
 * A file that somebody else wrote is hostile until checked. Every connection is set so that what stands in the schema of a file
 * (views, triggers, defaults, generated columns) can call nothing but harmless functions; a file that is not dse's, or of a newer
 * one, or that is damaged as far as src/store/whole.h sees, is refused by readers and writers alike; and a statement that goes on
 * and on without a row, as a view without end does, ends with an error.
 *
 * Formats take sqlite3_mprintf's letters: "%w" inside double quotes for an identifier, %Q for a string.
 */
#ifndef DSE_STORE_DB_H
#define DSE_STORE_DB_H

#include "base/diag.h"

#include <sqlite3.h>
#include <stdint.h>

enum {
    DB_APPLICATION_ID = 0x44534531, /* "DSE1" */
    DB_VERSION = 1,                 /* user_version of what this dse writes */
    DB_PAGE_SIZE = 16384,
};

struct db {
    sqlite3 *sqlite;
    char *path;      /* as the user gave it; names the file in messages */
    int lock;        /* file descriptor of the writer's lock, or -1 */
    bool created;    /* by us: removed again when it stays empty */
    bool lockless;   /* the file system has no locks */
    bool writes;     /* set up for writing: on closing, the journal goes */
    int64_t counter; /* of the file's changes, when it was opened for writing */
    int64_t others;  /* changes when another program writes to the file */
    struct db_patience *patience;
};

/* How long a statement may go on without giving a row. */
struct db_patience {
    uint64_t left, steps; /* of SQLite's virtual machine: until it ends, in all */
    bool ended;           /* the statement that failed did so for this reason */
};

/* Open for writing: creates the file if need be, takes the writer's lock, refuses what is not a dse database (an empty file is a
 * new one) and what a newer dse wrote. Nothing is written yet. On failure db is closed. */
bool db_open_writer(struct db *db, const char *path, struct diags *diags);
/* The same for a file that nobody else writes to: where the file system has no locks (NFS without its lock service, Lustre without
 * flock), it goes without. */
bool db_open_private(struct db *db, const char *path, struct diags *diags);
/* Has the file system of this file no locks, so that SQLite can read it only without? */
bool db_is_lockless(const char *path);
/* SQLite's way to open files on it. */
#define DB_LOCKLESS_VFS "unix-none"
/* Open a database of dse read-only; one without a table is refused. A transaction that a killed writer left open is rolled back
 * first, as any reader of SQLite does. */
bool db_open_reader(struct db *db, const char *path, struct diags *diags);
/* The same, but for whether it is damaged: to look at how. */
bool db_open_unchecked(struct db *db, const char *path, struct diags *diags);
/* An empty database in memory. */
bool db_open_memory(struct db *db, struct diags *diags);
/* Closing db = {0} or a closed db does nothing. */
void db_close(struct db *db);

/* Is the file that is being written still the one at its path? False with an error when somebody deleted or replaced it
 * meanwhile: what was written into it is lost. */
bool db_check_kept(const struct db *db, struct diags *diags);
/* Let a statement of this connection take so many steps of SQLite's virtual machine without a row. */
void db_set_patience(const struct db *db, uint64_t steps);
/* Add the error of the last call that failed, about `path` (NULL: db->path). Always false. */
bool db_fail(const struct db *db, const char *path, struct diags *diags);

/* Run statements that give no rows. */
bool db_exec(const struct db *db, struct diags *diags, const char *fmt, ...);
/* Prepare one statement; NULL with an error. The caller finalizes. */
sqlite3_stmt *db_prepare(const struct db *db, struct diags *diags, const char *fmt, ...);
/* Step a statement that gives no rows to its end and reset it. */
bool db_run(const struct db *db, sqlite3_stmt *stmt, struct diags *diags);
/* Next row: 1, none: 0, failed: -1 with an error. */
int db_step(const struct db *db, sqlite3_stmt *stmt, struct diags *diags);
/* The first column of the first row of a query; 0 when there is none. */
bool db_int(const struct db *db, int64_t *ret, struct diags *diags, const char *fmt, ...);

/* Transactions. db_end commits when ok and rolls back otherwise; returns whether the work is stored. */
bool db_begin(const struct db *db, struct diags *diags);
bool db_end(const struct db *db, bool ok, struct diags *diags);

#endif
