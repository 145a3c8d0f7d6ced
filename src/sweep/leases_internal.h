/* Internal to src/sweep: the files of a folder of leases. */
#ifndef DSE_SWEEP_LEASES_INTERNAL_H
#define DSE_SWEEP_LEASES_INTERNAL_H

#include "sweep/leases.h"

#include <time.h>

enum lease_state { LEASE_FREE, LEASE_HELD, LEASE_DONE, LEASE_STATES };

/* A folder with its plan, as it stands there. */
struct lease_folder {
    char *path;
    uint64_t hash, block;
    uint64_t *points;
    size_t n_spaces, n_blocks;
    char *sweep;
};

/* Read the plan of a folder. *ret_there is false when there is none, which is no error. Release `ret` in any case. */
bool lease_folder_read(const char *path, struct lease_folder *ret, bool *ret_there, struct diags *diags);
void lease_folder_release(struct lease_folder *f);
/* Points of block n < n_blocks. */
struct lease lease_of(const struct lease_folder *f, size_t n);

/* A file of a block: which, and whose (NULL when it is free). */
struct lease_entry {
    size_t number;
    char *worker;
};
struct lease_list {
    struct lease_entry *entries;
    size_t n;
};
/* The blocks in a state, ascending. What is no block is passed over. */
bool lease_list_read(const struct lease_folder *f, enum lease_state state, struct lease_list *ret, struct diags *diags);
void lease_list_release(struct lease_list *l);

/* Rename a block's file: 1, or 0 when somebody else was first, or -1 with an error. */
int lease_move(const struct lease_folder *f, size_t number, enum lease_state from, const char *from_worker, enum lease_state to,
               const char *to_worker, struct diags *diags);

/* "FOLDER/W.db", "FOLDER/leases/alive/W". The caller frees them. */
char *lease_database_path(const char *folder, const char *worker);
char *lease_alive_path(const char *folder, const char *worker);
/* When was the file touched last? False when there is none. */
bool lease_time(const char *path, struct timespec *ret);
/* Sleep so many seconds, or until a signal comes. */
void lease_sleep(double seconds);

#endif
