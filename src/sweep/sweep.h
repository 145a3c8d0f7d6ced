/* The sweep engine: evaluates the points of a sweep's spaces on all cores and hands them, in order, to the store's one writer.
 *
 * A sweep is cut into transactions, a transaction into blocks. Threads claim blocks in order, evaluate them into a ring of
 * buffers, and the writing thread takes them from there in order; while none is ready it evaluates one itself. Memory is
 * the ring's, whatever the number of points. The rows do not depend on the number of threads.
 *
 * At event level blocks are single points, and what is evaluated is stored about once a second. A sweep that refines has the
 * closed form of every point first, then event level for its front and the neighbours of that, in rounds (refine.c). The front is
 * then that of the rows at event level.
 *
 * A sweep with [search] evaluates the points that the search comes to (searched.c). One with leases evaluates blocks of points that
 * it takes from a folder, into a database of its own there (leased.c).
 */
#ifndef DSE_SWEEP_SWEEP_H
#define DSE_SWEEP_SWEEP_H

#include "config/sweep_file.h"
#include "store/store.h"

#include <signal.h>

struct sweep_progress {
    char phase[48];         /* "closed form"; "event level, round 2"; "" when the sweep has one phase */
    uint64_t planned, done; /* points of the phase, of all models; done includes what an earlier run left */
    uint64_t this_time;     /* points of the phase since sweep_run was called */
    double seconds;         /* since the phase began */
    double total_seconds;   /* since sweep_run was called */
};

struct sweep_options {
    const char *db;         /* path of the database */
    int threads;            /* 0: as many as there are cores */
    uint64_t shard, shards; /* shard (1-based) of shards; shards 0 or 1: all */
    const char *lease;   /* a folder of leases (sweep/leases.h): the blocks that this worker gets; db is not looked at; or NULL */
    double lease_age;    /* seconds */
    bool fresh;          /* start a new run even if one can be resumed */
    uint64_t max_points; /* refuse larger spaces */
    /* Stop after the current transaction, or at event level soon, when it becomes non-zero; or NULL. */
    const volatile sig_atomic_t *interrupt;
    void (*progress)(void *user, const struct sweep_progress *p); /* called now and then from the writing thread; or NULL */
    void *user;
};

struct sweep_result {
    bool interrupted;  /* the state is saved, the same call goes on */
    bool was_complete; /* nothing had to be evaluated */
    int64_t run;
    uint64_t planned, done, resumed; /* resumed: points found done */
    uint64_t evaluations;            /* of a search, or of a sweep that keeps a part; done and planned count rows then */
    size_t front;                    /* points on the front; 0 when interrupted */
    bool refining;                   /* it was refined, as far as it came: the members below are set */
    int rounds;                      /* of refining */
    uint64_t event_rows, refined;    /* rows at event level that were added: by this call, and in all */
    size_t front_before;             /* points on the front of the closed form */
    size_t front_stayed;             /* how many of them are on the front at last */
    size_t front_unrefined;          /* points that may be on it without a row at event level, as [refine] runs were used up */
    size_t blocks, taken_over;       /* of leases: those that this call did, and how many of them a dead worker had */
    size_t all_blocks, done_blocks;  /* in the folder: how many there are, and are done, by anyone */
    double store_seconds;            /* wall, until the last row was committed */
    double front_seconds;            /* wall, for the front after that */
    double evaluate_seconds;         /* sum over threads, spent in the models */
};

/* Run the sweep into its database, compute and store the front. False with errors. */
bool sweep_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags);

/* Make the plan of a folder of leases without working in it. False with errors: the sweep has no parts, or as of leases_plan. */
bool sweep_plan_leases(const struct sweep_file *s, const struct sweep_options *options, struct diags *diags);

#endif
