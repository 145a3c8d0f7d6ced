/* A sweep whose blocks are leased: take one, evaluate it, store it, say that it is done. */
#include "sweep/leased.h"

#include "base/xalloc.h"
#include "sweep/leases.h"
#include "sweep/pool.h"
#include "sweep/streamed.h"
#include "sweep/sweep_internal.h"

#include <stdlib.h>

/* Blocks are large, as each is leased and committed, and as many as keep machines busy to the end: BLOCKS of them, more when they
 * would have more points than a transaction, LEASE_BLOCKS at most but for rounding. */
enum { BLOCKS = 512, BLOCK_LEAST = 4 * POOL_BLOCK, BLOCK_LEAST_EVENTS = 16 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t block_points(const struct sweep_file *s, struct space *const *spaces)
{
    uint64_t points = 0;
    for (size_t m = 0; m < s->n_models; m++) points += space_count(spaces[m]);
    const bool events = s->fidelity == FIDELITY_EVENT_LEVEL;
    const uint64_t transaction = sweep_transaction_points(spaces[0]), most = points / LEASE_BLOCKS + 1;
    uint64_t block = least(points / BLOCKS + 1, transaction);
    const uint64_t lowest = least(transaction, BLOCK_LEAST);
    if (block < lowest) block = lowest;
    if (events) block = BLOCK_LEAST_EVENTS;
    if (block < most) block = most;
    return events ? block : (block + POOL_BLOCK - 1) / POOL_BLOCK * POOL_BLOCK;
}

static bool can_lease(const struct sweep_file *s, struct diags *diags)
{
    return s->search.method == SEARCH_NONE || diags_input(diags, (struct srcloc){.file = s->doc->file}, NULL, "leave --lease out",
                                                          "[search] looks at the whole space, which has no blocks to lease");
}

static struct lease_plan make_plan(const struct sweep_file *s, struct space *const *spaces, uint64_t *points)
{
    for (size_t m = 0; m < s->n_models; m++) points[m] = space_count(spaces[m]);
    char *method = streamed_method(s);
    const struct lease_plan plan = {.sweep = s->name,
                                    .hash = sweep_run_hash(s, method, spaces),
                                    .points = points,
                                    .n_spaces = s->n_models,
                                    .block = block_points(s, spaces)};
    free(method);
    return plan;
}

bool sweep_plan_leases(const struct sweep_file *s, const struct sweep_options *options, struct diags *diags)
{
    struct space **spaces = can_lease(s, diags) ? sweep_make_spaces(s, options->max_points, diags) : NULL;
    if (!spaces) return false;
    uint64_t *points = xcalloc(s->n_models, sizeof *points);
    const struct lease_plan plan = make_plan(s, spaces, points);
    const bool ok = leases_plan(options->lease, &plan, options->lease_age, diags);
    free(points);
    sweep_free_spaces(spaces, s->n_models);
    return ok;
}

/* What a worker works with. */
struct worker {
    struct job *job;
    struct leases *leases;
    struct streamed_blocks *kept; /* of a sweep that does not store all its points; or NULL */
};

/* The worker's database, once it has a block. Its run is never done: it is a part. */
static bool open_store(struct job *job)
{
    if (job->store) return true;
    char *method = streamed_method(job->sweep);
    job->store = sweep_open_store(job->sweep, job->options, method, true, job->spaces, job->diags);
    free(method);
    if (job->store) job->result->run = store_run(job->store);
    return job->store != NULL;
}

static bool close_store(struct job *job)
{
    const bool ok = !job->store || store_finish(job->store, "interrupted", job->diags);
    store_close(job->store);
    return ok;
}

/* Evaluate what a block lacks: all of it, but for a block that came back to a worker that had been taken for dead. */
static bool run_rows(struct job *job, const struct lease *lease)
{
    size_t n, before = job->diags->errors;
    struct range *ranges = store_missing(job->store, lease->space, lease->first, lease->last + 1, &n, job->diags);
    const bool ok = job->diags->errors == before && (n == 0 || sweep_run_ranges(job, lease->space, ranges, n));
    free(ranges);
    return ok;
}

static bool run_block(const struct worker *w, const struct lease *lease)
{
    if (!open_store(w->job)) return false;
    return w->kept ? streamed_blocks_run(w->kept, lease->space, (struct range){lease->first, lease->last})
                   : run_rows(w->job, lease);
}

/* One block, from its lease to its end. */
static bool work(const struct worker *w, const struct lease *lease)
{
    struct job *job = w->job;
    bool ok = run_block(w, lease);
    if (!ok || job->result->interrupted) return leases_give_back(w->leases, lease, job->diags) && ok;
    job->result->blocks++;
    return leases_done(w->leases, lease, job->diags);
}

/* The progress is that of all workers, as far as this one knows. */
static void look(struct job *job, const struct leases *leases, uint64_t block)
{
    const uint64_t done = leases_seen_done(leases) * block;
    if (done > job->progress.done) job->progress.done = done < job->progress.planned ? done : job->progress.planned;
}

static bool work_all(const struct worker *w, uint64_t block)
{
    struct job *job = w->job;
    struct leases *leases = w->leases;
    enum lease_answer answer;
    struct lease lease;
    bool ok = true, was_dead;
    while ((answer = leases_take(leases, job->options->interrupt, &lease, &was_dead, job->diags)) == LEASE_TAKEN) {
        if (was_dead) job->result->taken_over++;
        look(job, leases, block);
        ok = work(w, &lease);
        if (!ok || job->result->interrupted) break;
    }
    if (answer == LEASE_STOPPED) job->result->interrupted = true;
    job->result->all_blocks = leases_blocks(leases);
    job->result->done_blocks = leases_seen_done(leases);
    sweep_advance(job, 0, true);
    return ok && answer != LEASE_FAILED;
}

static bool run_worker(struct job *job, struct leases *leases, uint64_t block)
{
    struct sweep_options options = *job->options;
    options.db = leases_database(leases);
    job->options = &options;
    for (size_t m = 0; m < job->n_spaces; m++) job->result->planned += space_count(job->spaces[m]);
    sweep_phase(job, "", job->result->planned, 0);
    struct worker w = {job, leases, job->sweep->keep == KEEP_ALL ? NULL : streamed_blocks_new(job)};
    const bool ok = work_all(&w, block);
    streamed_blocks_free(w.kept);
    job->result->store_seconds = sweep_now() - job->started;
    return close_store(job) && ok;
}

bool leased_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags)
{
    struct space **spaces = can_lease(s, diags) ? sweep_make_spaces(s, options->max_points, diags) : NULL;
    if (!spaces) return false;
    uint64_t *points = xcalloc(s->n_models, sizeof *points);
    const struct lease_plan plan = make_plan(s, spaces, points);
    struct leases *leases = leases_join(options->lease, &plan, options->lease_age, diags);
    struct job job = sweep_job(s, options, ret, spaces, diags);
    const bool ok = leases && run_worker(&job, leases, plan.block);
    leases_leave(leases);
    free(points);
    sweep_free_spaces(spaces, s->n_models);
    return ok;
}
