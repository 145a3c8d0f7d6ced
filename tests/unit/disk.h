/* For tests: a disk that loses its power, and one that fails. Linked into a test, its calls stand in the place of the C library's
 * (open, write, pwrite, ftruncate, fsync, rename, unlink, mkdir, ... as SQLite, leases and files of src/base use them).
 *
 * Power losses. What is done to files below a folder is recorded in order. After a power loss a disk holds, of each file,
 *
 *  - all that was written before its last fsync;
 *  - of what was written after that any part in any order: each sector of 512 or 4096 bytes in any state that it had since, in a
 *    few pictures a torn one; a size that it had since, with zeros or rubbish where nothing came;
 *  - of names that were made, moved or removed since the last fsync of their folder any part, each whole or not at all.
 *
 * disk_picture makes such a state of any moment and any luck; it is a function of the two. Nothing is really synchronised
 * meanwhile, which makes thousands of pictures cheap.
 *
 * Faults. The n-th of the calls that change something fails, or each from then on; or it writes a part.
 */
#ifndef DSE_TESTS_DISK_H
#define DSE_TESTS_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what was done --------------------------------------------------------------------------------------------------------- */

enum disk_kind { DISK_WRITE, DISK_SIZE, DISK_SYNC, DISK_ADD, DISK_REMOVE, DISK_MOVE };

struct disk_event {
    enum disk_kind kind;
    size_t node;    /* the file or folder; of DISK_REMOVE what the name stood for */
    uint64_t at;    /* DISK_WRITE: where; DISK_SIZE: the size */
    uint8_t *bytes; /* DISK_WRITE */
    size_t n;
    size_t folder, folder2; /* of the name; DISK_MOVE: from folder2/name2 */
    char *name, *name2;
};

struct disk_node {
    bool is_folder;
    uint8_t *bytes; /* as it was when recording began */
    size_t n;
};

/* A name when recording began. */
struct disk_name {
    size_t folder, node;
    char *name;
};

/* Node 0 is the folder that is watched. */
struct disk_log {
    struct disk_node *nodes;
    struct disk_name *names;
    struct disk_event *events;
    size_t n_nodes, n_names, n_events;
};

/* Record what is done below `folder` (an absolute path without links) until disk_stop. */
void disk_watch(const char *folder);
struct disk_log *disk_stop(void);
void disk_log_free(struct disk_log *log);

/* ---- power losses ---------------------------------------------------------------------------------------------------------- */

/* No luck at all: what a kill leaves, which is everything. */
#define DISK_KILLED UINT64_C(0)

/* Make in the empty folder `to` what a disk may hold that lost its power after the first `moment` events. */
void disk_picture(const struct disk_log *log, size_t moment, uint64_t luck, const char *to);

/* ---- faults ---------------------------------------------------------------------------------------------------------------- */

enum disk_fault_kind {
    DISK_NO_FAULT,
    DISK_WRITES,       /* writes and changes of size fail */
    DISK_SHORT_WRITES, /* half of it is written; the next write fails */
    DISK_SYNCS,
    DISK_NAMES, /* making, moving and removing files */
};

struct disk_fault {
    enum disk_fault_kind kind;
    size_t at;  /* the number of the call, from 0 */
    bool stays; /* all later ones fail, too */
    int code;   /* errno */
};

/* From now on calls below `folder` are counted and fail so. */
void disk_fail(const char *folder, struct disk_fault fault);
/* Back to a disk that works; how many calls of the kind there were. */
size_t disk_heal(void);

#endif
