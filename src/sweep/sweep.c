#include "sweep/sweep_internal.h"

#include "base/threads.h"
#include "base/xalloc.h"
#include "dse_config.h"
#include "sweep/compared.h"
#include "sweep/leased.h"
#include "sweep/pool.h"
#include "sweep/searched.h"
#include "sweep/streamed.h"

#include <assert.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- one space ------------------------------------------------------------------------------------------------------------ */

/* ---- the sweep -------------------------------------------------------------------------------------------------------------- */

/* The missing ranges of every space; counts what is planned and what is there already. */
struct work {
    struct range *ranges;
    size_t n;
};

static bool plan(struct job *job, struct work *work)
{
    for (size_t m = 0; m < job->n_spaces; m++) {
        struct range s = sweep_shard(space_count(job->spaces[m]), job->options->shard, job->options->shards);
        size_t before = job->diags->errors;
        work[m].ranges = store_missing(job->store, m, s.first, s.last, &work[m].n, job->diags);
        if (job->diags->errors > before) return false;
        uint64_t missing = 0;
        for (size_t i = 0; i < work[m].n; i++) missing += work[m].ranges[i].last - work[m].ranges[i].first + 1;
        job->result->planned += s.last - s.first;
        job->result->resumed += s.last - s.first - missing;
    }
    job->result->done = job->result->resumed;
    return true;
}

/* Is the run refined? A part of a sweep has no front to refine: that is done when all parts are in one database. */
static bool will_refine(const struct job *job)
{
    return job->sweep->refine && job->options->shards < 2;
}

static bool run_spaces(struct job *job, const struct work *work)
{
    bool ok = true;
    sweep_phase(job, will_refine(job) ? "closed form" : "", job->result->planned, job->result->done);
    for (size_t m = 0; ok && m < job->n_spaces && !job->result->interrupted; m++) {
        if (work[m].n) ok = sweep_run_ranges(job, m, work[m].ranges, work[m].n);
        if (ok && m + 1 < job->n_spaces && sweep_interrupted(job)) job->result->interrupted = true;
    }
    return ok;
}

static bool run_store(struct job *job)
{
    struct sweep_result *result = job->result;
    struct work *work = xcalloc(job->n_spaces, sizeof *work);
    bool ok = plan(job, work);
    result->was_complete = ok && result->done == result->planned && store_complete(job->store);
    ok = ok && run_spaces(job, work);
    for (size_t m = 0; m < job->n_spaces; m++) free(work[m].ranges);
    free(work);
    if (!ok) return false;
    sweep_advance(job, 0, true);
    if (!result->interrupted && result->was_complete) return true;
    struct goal goal;
    goal_of_sweep(&goal, job->sweep);
    result->refining = !result->interrupted && will_refine(job);
    if (result->refining) ok = sweep_refine(job, &goal);
    result->store_seconds = sweep_now() - job->started;
    if (ok && !result->interrupted) ok = goal_front(job->store, &goal, &result->front, job->diags);
    goal_release(&goal);
    ok = ok && store_finish(job->store, result->interrupted ? "interrupted" : "done", job->diags);
    result->front_seconds = sweep_now() - job->started - result->store_seconds;
    return ok;
}

bool sweep_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags)
{
    *ret = (struct sweep_result){0};
    if (options->lease) return leased_run(s, options, ret, diags);
    if (s->search.method != SEARCH_NONE) return searched_run(s, options, ret, diags);
    if (s->keep != KEEP_ALL) return streamed_run(s, options, ret, diags);
    struct space **spaces = sweep_make_spaces(s, options->max_points, diags);
    if (!spaces) return false;
    struct job job = sweep_job(s, options, ret, spaces, diags);
    job.store = sweep_open_store(s, options, NULL, true, spaces, diags);
    bool ok = job.store && run_store(&job);
    if (job.store) ret->run = store_run(job.store);
    store_close(job.store);
    sweep_free_spaces(spaces, s->n_models);
    return ok;
}
