/* The inside of a sweep, shared by the ways to run one. */
#ifndef DSE_SWEEP_SWEEP_INTERNAL_H
#define DSE_SWEEP_SWEEP_INTERNAL_H

#include "sweep/goal.h"
#include "sweep/sweep.h"

/* One call of sweep_run. */
struct job {
    const struct sweep_file *sweep;
    const struct sweep_options *options;
    struct sweep_result *result;
    struct store *store;
    struct space *const *spaces;
    size_t n_spaces;
    struct diags *diags;
    int threads;
    double started, reported;
    struct sweep_progress progress; /* of the present phase */
    double phase_started;
};

/* A call over these spaces that begins now, its store not yet open. */
struct job sweep_job(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret,
                     struct space *const *spaces, struct diags *diags);

/* The spaces of a sweep, one a model; NULL with errors. */
struct space **sweep_make_spaces(const struct sweep_file *s, uint64_t max_points, struct diags *diags);
void sweep_free_spaces(struct space **spaces, size_t n);
/* Open the database, with what is stored of the run as a whole. `method`: how the run finds the points that it stores, when these
 * are not all of the grid; or NULL. `resumes`: it goes on where a run was interrupted. NULL with errors. */
struct store *sweep_open_store(const struct sweep_file *s, const struct sweep_options *options, const char *method, bool resumes,
                               struct space *const *spaces, struct diags *diags);

/* What identifies the run: what its points are, and what is computed of them. */
uint64_t sweep_run_hash(const struct sweep_file *s, const char *method, struct space *const *spaces);
/* Points a transaction in closed form. */
uint64_t sweep_transaction_points(const struct space *sp);
/* Evaluate and store ascending ranges of space m, none of whose points has a row. Sets result->interrupted. */
bool sweep_run_ranges(struct job *job, size_t m, const struct range *ranges, size_t n);

/* What the run keeps of the catalog: the entries that its points refer to, as catalog_write_state has them; NULL: none. The caller
 * frees it. (entries.c) */
char *sweep_entries(const struct sweep_file *s, struct space *const *spaces);

/* Points [first, end) of a space that belong to this shard: contiguous, of equal size within one. */
struct range sweep_shard(uint64_t count, uint64_t shard, uint64_t shards);
double sweep_now(void);
bool sweep_interrupted(const struct job *job);
/* Begin a phase of `planned` points, of which `done` have been evaluated before. */
void sweep_phase(struct job *job, const char *name, uint64_t planned, uint64_t done);
/* Count points that have been evaluated. Reports progress now and then, and always when `last`. */
void sweep_advance(struct job *job, uint64_t points, bool last);

/* Free a pool whose threads have returned. False, with an error, when a model's numbers are impossible. */
struct pool;
bool sweep_end_pool(struct job *job, struct pool *pool);

/* Evaluate points of space m, given as ascending ranges, at event level, and store each within about a second. The rows are those
 * of the points or, when `refined`, stand beside those. Sets result->interrupted. (events.c) */
bool sweep_simulate(struct job *job, size_t m, const struct range *ranges, size_t n, bool refined);

/* Add rows at event level for the front and its neighbours, when every point's row of the closed form is stored. Sets the members
 * of sweep_result about refining. (refine.c) */
bool sweep_refine(struct job *job, const struct goal *goal);

#endif
