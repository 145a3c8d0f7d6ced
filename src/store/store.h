/* The store: one SQLite file. Everything that touches SQL is in this room; docs/reference/database.md describes the tables and
 * views.
 *
 * The row of point p of a run has id = first_id + p: rows stand in the order of the points, are found without an index, and
 * cannot be there twice. A run's range of ids, first_id to first_id + points - 1, is reserved when it starts. In a run that
 * refines, the row at event level of that point, where there is one, has id = -(first_id + p).
 *
 * One dse writes a database at a time: it keeps a lock on the file (src/store/db.h) that ends with the process, and a second one
 * is refused. Others may read between transactions; a transaction waits up to a minute for a reader to finish. The journal mode
 * is PERSIST and synchronous FULL: kill -9 at any moment loses at most the open transaction, and so does a power loss on a disk
 * that keeps what it was told to keep. (NORMAL is not enough: the journal and the number of its pages reach the disk in any order.)
 */
#ifndef DSE_STORE_STORE_H
#define DSE_STORE_STORE_H

#include "base/diag.h"
#include "space/space.h"

struct store; /* an open database, one writer */

/* What is stored of a run besides its spaces. All members are borrowed for the call. */
struct run_info {
    const char *sweep;      /* the name of the sweep */
    const char *sweep_text; /* the text of its file */
    uint64_t hash;          /* of all spaces, objectives, fidelity, tool version */
    const char *fidelity;   /* as sweep_fidelity_text gives it */
    const char *axes;       /* names of the parameters that the sweep varies: "llm, tiles"; NULL: none */
    const char *objectives; /* as sweep/goal.h writes them: the front can be computed anew from the database alone */
    const char *baseline;   /* as sweep_baseline_text gives it; NULL: none */
    const char *requests;   /* as sweep_requests_description gives it; NULL: none */
    const char *axis_ends;  /* as store/notices.h says; NULL: none */
    const char *unequal;    /* likewise */
    const char *catalog;    /* the entries that it uses, as catalog_write_state has them; NULL: none */
    const char *method;     /* how the points that have rows were chosen: "nsga2, ..."; NULL: every point of the spaces has one */
    const char *shard;      /* "2/3"; STORE_LEASED; NULL for the whole sweep */
    uint64_t planned;       /* points of this run: of all spaces, or of the shard; 0 stands for all points of the spaces */
};

/* The shard of a run that has whatever blocks a worker got. Merged with others, or alone, it is the whole, as far as that goes. */
#define STORE_LEASED "leases"

enum store_flags {
    STORE_FRESH = 1 << 0,   /* start a new run even if one can be resumed or is done */
    STORE_WHOLE = 1 << 1,   /* start a new run unless one is done: it cannot be resumed; one that was killed is taken away */
    STORE_PRIVATE = 1 << 2, /* nobody else writes to the file, so that a file system without locks will do */
};

/* Open or create the database for a sweep: create tables, add columns that are missing, find the run with the same hash and shard
 * to go on with or start a new one. NULL with errors: not a database (never overwritten), locked by another dse (SQLITE_BUSY
 * after 5 s: says who may hold it), belongs to another sweep or holds another shard of this one, from a newer dse, cannot be
 * written. Existing rows are never touched. */
struct store *store_open(const char *path, const struct run_info *info, struct space *const *spaces, size_t n_spaces,
                         unsigned flags, struct diags *diags);
/* Open a database to compute the front of a run that is there anew: store_scan, store_front and store_finish work, store_write
 * does not. NULL with errors. */
struct store *store_open_run(const char *path, int64_t run, struct diags *diags);
void store_close(struct store *st);
/* The ids of all runs of a database, oldest first. The caller frees the array; NULL with errors. */
int64_t *store_runs(const char *path, size_t *ret_n, struct diags *diags);

int64_t store_run(const struct store *st);
size_t store_models(const struct store *st);
/* The run's objectives as text. */
const char *store_objectives(const struct store *st);
/* Is the run that was found complete already, so that there is nothing to write? */
bool store_complete(const struct store *st);

/* Index ranges [first, last] of space m within [0, count) of the shard that are not done yet, ascending. The array is freed by the
 * caller. */
struct range {
    uint64_t first, last;
};
struct range *store_missing(struct store *st, size_t m, uint64_t shard_first, uint64_t shard_end, size_t *ret_n,
                            struct diags *diags);

/* Rows encoded as SQLite stores them, in leaf pages of a b-tree: what the evaluating threads can do so that the writer only
 * copies. A buffer that is used again and again; {0} is empty. */
struct store_pages {
    uint8_t *bytes;
    size_t n, capacity; /* pages */
    uint16_t *rows;     /* in each page */
    uint64_t feasible;
    uint64_t digest; /* of the rows: src/store/digest.h */
};
void store_pages_release(struct store_pages *p);

enum { STORE_BLOCK = 1024 }; /* points of an encoded block */

/* A block of evaluated rows, handed to the writer. */
struct row_block {
    uint64_t first; /* index of the first point */
    size_t n;
    const union cell *cells;
    const struct row *rows;
    const struct store_pages *pages; /* the same rows encoded; or NULL */
};

/* How rows of space m are encoded; NULL when they cannot be (an index or a trigger on MODEL_all, or types that an older dse
 * declared otherwise): then blocks go as they are. Lives as long as the store. */
struct store_encoder;
const struct store_encoder *store_encoder(struct store *st, size_t m);
/* Encode the rows of a block (its `pages` is not looked at) into `ret`. Thread-safe. No SQLite inside. False when a row is too
 * large for a page of 64 KiB, which takes a text of that size. */
bool store_encode(const struct store_encoder *e, const struct row_block *block, struct store_pages *ret);

/* Where rows come from: called by SQLite as it pulls; returns the next block in ascending order of points, or NULL at the end of
 * this transaction. The block lives until the next call. */
typedef const struct row_block *(*row_source)(void *user);

/* One transaction: pull rows of space m from the source through `INSERT INTO MODEL_all SELECT ... FROM <source>`, write the
 * progress block [first, last] with them, commit. On failure everything of the transaction is rolled back.
 *
 * Either no block of the transaction is encoded or all are; then each but the last has STORE_BLOCK points, and there are at most
 * 4096. Encoded rows are the same rows, about twice as fast. */
bool store_write(struct store *st, size_t m, uint64_t first, uint64_t last, row_source source, void *user, struct diags *diags);

/* Store the rows of points that stand by themselves, in a run of which not every point gets a row. `points` ascend, and none has a
 * row yet. One transaction. */
bool store_write_points(struct store *st, size_t m, const uint64_t *points, const union cell *cells, const struct row *rows,
                        size_t n, struct diags *diags);
/* Let the points that the run has planned be those that it has. */
bool store_plan_done(struct store *st, struct diags *diags);

/* Store rows at event level of a run that refines, beside the rows that its points have. `points` ascend. One transaction. */
bool store_write_refined(struct store *st, size_t m, const uint64_t *points, const union cell *cells, const struct row *rows,
                         size_t n, struct diags *diags);
/* The points of space m that have such a row, ascending. The caller frees the array; NULL with errors. */
uint64_t *store_refined(struct store *st, size_t m, size_t *ret_n, struct diags *diags);

/* Store a front that has been computed: the indices of its points in space m, ascending. It replaces an earlier front of this
 * run, and takes away those of its budgets. */
bool store_front(struct store *st, size_t m, const uint64_t *points, size_t n, struct diags *diags);
/* Store the front of one of several budgets, or that of the points whose loss is unknown, by its name (config/budget.h), behind it.
 */
bool store_budget_front(struct store *st, const char *budget, size_t m, const uint64_t *points, size_t n, struct diags *diags);
/* Store the front's hypervolume, as grouped_front_finish gives it; NaN is NULL. */
bool store_hypervolume(struct store *st, double hypervolume, struct diags *diags);
/* Make run.notices from the stored front (store/notices.h); `per`: the parameters for whose values there are fronts of their own.
 */
bool store_notices(struct store *st, const char *const *objectives, size_t n_objectives, const char *const *per, size_t n_per,
                   struct diags *diags);

/* The columns of a model that a scan gives: numbers, those whose values together name the row's group, and numbers that not all
 * models have. */
struct scan_columns {
    const char *const *values, *const *group, *const *known;
    size_t n_values, n_group, n_known;
};
/* A row of a scan; everything is valid during the call. */
struct scan_row {
    uint64_t point;
    const double *values; /* NaN for NULL */
    const char *group;    /* "" without group columns */
    const double *known;  /* NaN for NULL, and where the model has no such column */
    const bool *has;      /* which of these it has */
    const char *quality;  /* the column of that name; NULL: it is NULL, or there is none */
};
/* Which rows of a run that refines are scanned. In other runs the first two are the same, and there are no STORE_REFINED ones. */
enum store_rows {
    STORE_FINEST,  /* of each point the finest: what the views show */
    STORE_FIRST,   /* the one that every point has */
    STORE_REFINED, /* the one at event level beside it, where there is one */
};
/* Call `visit` for each feasible row of the run and space, in the order of points. */
bool store_scan(struct store *st, size_t m, enum store_rows rows, const struct scan_columns *columns,
                void (*visit)(void *user, const struct scan_row *row), void *user, struct diags *diags);
/* Set the run's end, counts and status ('done' or 'interrupted'). False with an error also when somebody deleted the file
 * meanwhile. */
bool store_finish(struct store *st, const char *status, struct diags *diags);

/* Merge databases into OUT, which must not exist or be a dse database. Runs of the same sweep and hash become one run; when their
 * shards differ its shard is NULL, and a point that several have is taken once. Other runs are carried over. A merged run loses
 * its front, which the caller computes anew. One that refines, put together from shards, is not done: the front of the whole is
 * to be refined yet, which the sweep run into OUT does. All inputs are checked before anything is written; each is merged in one
 * transaction, so that after a failure the same call goes on. Inputs are only read, except that what a killed writer left open in
 * one is rolled back. */
bool store_merge(const char *out, const char *const *in, size_t n_in, struct diags *diags);

#endif
