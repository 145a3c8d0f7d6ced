/* Leases: blocks of a run's points that workers on many machines take from a folder which they share, without locks.
 *
 *     FOLDER/leases/plan          what the blocks are of: sweep, hash, points, points a block
 *     FOLDER/leases/free/N        block N, that nobody has
 *     FOLDER/leases/held/N.W      block N, that worker W evaluates
 *     FOLDER/leases/done/N.W      block N, whose rows are in W's database
 *     FOLDER/leases/alive/W       touched by W while it lives
 *     FOLDER/W.db                 its rows
 *
 * A block is one empty file. It goes from free to held to done by rename, which is atomic on every file system, NFS too, so that
 * one of those who try gets it, and there is always one file of each block. A worker that has not touched its file for the age of a
 * lease is taken for dead, and others rename its block into theirs. If it was only slow, two have evaluated the same rows: they
 * are a function of the point, and merging takes them once. Time is that of the server of the files: who asks for it touches its
 * own file and reads its time. The folder is made under another name and renamed when it is whole and on the disk. A power loss may
 * take back what has happened to blocks: they are then evaluated once more.
 *
 * A database that was removed takes its blocks back to free.
 */
#ifndef DSE_SWEEP_LEASES_H
#define DSE_SWEEP_LEASES_H

#include "base/diag.h"

#include <signal.h>
#include <stdint.h>

enum { LEASE_AGE = 120, LEASE_BLOCKS = 4096 }; /* seconds; about as many blocks at most as a plan has */

/* What is leased: all but `block` must be the same for all workers. */
struct lease_plan {
    const char *sweep;
    uint64_t hash;          /* of the run */
    const uint64_t *points; /* of each space */
    size_t n_spaces;
    uint64_t block; /* points a block: what the first worker says */
};

/* Points first to last of a space. */
struct lease {
    size_t space, number;
    uint64_t first, last;
};

struct leases; /* a worker in a folder */

/* Make the folder, if it is not there, and the plan in it, if it has none. False with errors: it cannot be written, or its plan is
 * of another sweep. */
bool leases_plan(const char *folder, const struct lease_plan *plan, double age, struct diags *diags);
/* The same, and join the workers. A thread keeps it alive. NULL with errors. */
struct leases *leases_join(const char *folder, const struct lease_plan *plan, double age, struct diags *diags);
/* Leave. A block that it holds may be taken over at once. NULL is allowed. */
void leases_leave(struct leases *l);

/* The path of the worker's database, which does not exist before the worker makes it. */
const char *leases_database(const struct leases *l);
/* How many blocks the plan has, and how many were done when it was last looked; by anyone. */
size_t leases_blocks(const struct leases *l);
size_t leases_seen_done(const struct leases *l);

enum lease_answer { LEASE_TAKEN, LEASE_ALL_DONE, LEASE_STOPPED, LEASE_FAILED };
/* Take a block. Waits while there are none but those that others hold, until all are done or `stop` becomes nonzero (NULL: never).
 * *ret_dead is set when it was a dead worker's. LEASE_FAILED with errors. */
enum lease_answer leases_take(struct leases *l, const volatile sig_atomic_t *stop, struct lease *ret, bool *ret_dead,
                              struct diags *diags);
/* Its rows are stored. A block that was taken over meanwhile is left to who has it. False with errors. */
bool leases_done(struct leases *l, const struct lease *lease, struct diags *diags);
/* It was not finished: let others have it. */
bool leases_give_back(struct leases *l, const struct lease *lease, struct diags *diags);

/* The databases of a folder whose blocks are all done, to be merged: those that have blocks. The caller frees the list and each
 * path; NULL with an error when blocks are still to do, or a database is not there. */
char **leases_databases(const char *folder, size_t *ret_n, struct diags *diags);
/* Is it a folder with leases? */
bool leases_is_folder(const char *path);

#endif
