#include "sweep/sweep.h"

#include "base/xalloc.h"
#include "dse_config.h"
#include "sweep/goal.h"
#include "sweep/pool.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRANSACTION = 131072 }; /* points a transaction: a multiple of POOL_BLOCK; also what a kill can lose */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one space ------------------------------------------------------------------------------------------------------------ */

struct job {
    const struct sweep_options *options;
    struct sweep_result *result;
    struct store *store;
    struct diags *diags;
    double started, reported;
};

/* What store_write pulls from: the pool's blocks up to the end of the transaction. */
struct transaction {
    struct pool *pool;
    uint64_t last;
    bool ended;
};

static const struct row_block *pull(void *user)
{
    struct transaction *t = user;
    if (t->ended) return NULL;
    const struct row_block *b = pool_next(t->pool);
    assert(b && b->first + b->n - 1 <= t->last); /* blocks are cut within transactions */
    t->ended = b->first + b->n - 1 == t->last;
    return b;
}

static void report(struct job *job, bool last)
{
    double t = now();
    if (!job->options->progress || (!last && t - job->reported < 0.1)) return;
    job->reported = t;
    struct sweep_progress p = {.planned = job->result->planned,
                               .done = job->result->done,
                               .this_time = job->result->done - job->result->resumed,
                               .seconds = t - job->started};
    job->options->progress(job->options->user, &p);
}

static bool interrupted(const struct job *job)
{
    return job->options->interrupt && *job->options->interrupt;
}

/* The writing thread: one transaction after the other. */
static bool write_all(struct job *job, size_t m, struct pool *pool, const struct range *pieces, size_t n)
{
    for (size_t i = 0; i < n && !job->result->interrupted; i++) {
        struct transaction t = {.pool = pool, .last = pieces[i].last};
        if (!store_write(job->store, m, pieces[i].first, pieces[i].last, pull, &t, job->diags)) return false;
        job->result->done += pieces[i].last - pieces[i].first + 1;
        report(job, false);
        if (interrupted(job) && i + 1 < n) job->result->interrupted = true;
    }
    return true;
}

/* Cut ranges into pieces of one transaction, aligned to multiples of TRANSACTION so that resumed runs write the same ones. */
static struct range *cut(const struct range *ranges, size_t n, size_t *ret_n)
{
    struct range *pieces = NULL;
    size_t k = 0, capacity = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint64_t first = ranges[i].first; first <= ranges[i].last;) {
            uint64_t last = first - first % TRANSACTION + TRANSACTION - 1;
            if (last > ranges[i].last) last = ranges[i].last;
            if (k == capacity) {
                capacity = capacity ? 2 * capacity : 16;
                pieces = xrealloc(pieces, capacity, sizeof *pieces);
            }
            pieces[k++] = (struct range){first, last};
            first = last + 1;
        }
    }
    *ret_n = k;
    return pieces;
}

static bool run_space(struct job *job, const struct space *sp, size_t m, int threads, const struct range *ranges, size_t n_ranges)
{
    size_t n;
    struct range *pieces = cut(ranges, n_ranges, &n);
    struct pool *pool = pool_new(sp, store_encoder(job->store, m), pieces, n, threads);
    bool ok = true;
#pragma omp parallel num_threads(threads)
    {
        if (omp_get_thread_num() == 0) {
            ok = write_all(job, m, pool, pieces, n);
            pool_stop(pool);
        } else {
            pool_work(pool, omp_get_thread_num());
        }
    }
    job->result->evaluate_seconds += pool_seconds(pool);
    pool_free(pool);
    free(pieces);
    return ok;
}

/* ---- the sweep -------------------------------------------------------------------------------------------------------------- */

/* Points [first, end) of a space that belong to this shard: contiguous, of equal size within one. */
static struct range shard_of(uint64_t count, uint64_t shard, uint64_t shards)
{
    if (shards < 2) return (struct range){0, count};
    __uint128_t c = count;
    return (struct range){(uint64_t)(c * (shard - 1) / shards), (uint64_t)(c * shard / shards)};
}

static uint64_t run_hash(const char *objectives, struct space *const *spaces, size_t n)
{
    uint64_t h = text_hash(TEXT_HASH_INIT, DSE_VERSION, sizeof DSE_VERSION);
    h = text_hash(h, objectives, strlen(objectives));
    for (size_t i = 0; i < n; i++) {
        uint64_t s = space_hash(spaces[i]);
        h = text_hash(h, &s, sizeof s);
    }
    return h;
}

static uint64_t planned_points(struct space *const *spaces, size_t n, const struct sweep_options *options)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct range s = shard_of(space_count(spaces[i]), options->shard, options->shards);
        sum += s.last - s.first;
    }
    return sum;
}

/* The missing ranges of every space; counts what is planned and what is there already. */
struct work {
    struct range *ranges;
    size_t n;
};

static bool plan(struct job *job, struct space *const *spaces, size_t n, struct work *work)
{
    for (size_t m = 0; m < n; m++) {
        struct range s = shard_of(space_count(spaces[m]), job->options->shard, job->options->shards);
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

static bool run_store(struct job *job, const struct sweep_file *s, struct space *const *spaces)
{
    size_t n = s->n_models;
    int threads = job->options->threads > 0 ? job->options->threads : omp_get_num_procs();
    struct work *work = xcalloc(n, sizeof *work);
    bool ok = plan(job, spaces, n, work);
    job->result->was_complete = ok && job->result->done == job->result->planned && store_complete(job->store);
    for (size_t m = 0; ok && m < n && !job->result->interrupted; m++) {
        if (work[m].n) ok = run_space(job, spaces[m], m, threads, work[m].ranges, work[m].n);
        if (ok && m + 1 < n && interrupted(job)) job->result->interrupted = true;
    }
    for (size_t m = 0; m < n; m++) free(work[m].ranges);
    free(work);
    if (!ok) return false;
    report(job, true);
    job->result->store_seconds = now() - job->started;
    if (job->result->interrupted) return store_finish(job->store, "interrupted", job->diags);
    if (job->result->was_complete) return true;
    struct goal goal;
    goal_of_sweep(&goal, s);
    ok = goal_front(job->store, &goal, &job->result->front, job->diags);
    goal_release(&goal);
    ok = ok && store_finish(job->store, "done", job->diags);
    job->result->front_seconds = now() - job->started - job->result->store_seconds;
    return ok;
}

static void free_spaces(struct space **spaces, size_t n)
{
    for (size_t i = 0; i < n; i++) space_free(spaces[i]);
    free(spaces);
}

static struct space **make_spaces(const struct sweep_file *s, uint64_t max_points, struct diags *diags)
{
    struct space **spaces = xcalloc(s->n_models, sizeof(struct space *));
    bool ok = true;
    for (size_t m = 0; m < s->n_models; m++) {
        spaces[m] = space_new(s, m, max_points, diags);
        if (!spaces[m]) ok = false;
    }
    if (ok) return spaces;
    free_spaces(spaces, s->n_models);
    return NULL;
}

/* "llm, tiles": the axes of all models, each once. The caller frees it. */
static char *axis_names(const struct sweep_file *s)
{
    struct text names;
    text_init(&names);
    for (size_t m = 0; m < s->n_models; m++) {
        const struct binding *b = s->bindings[m];
        for (size_t i = 0; i < b->model->params.n; i++) {
            const char *name = b->model->params.fields[i].name;
            bool before = false;
            for (size_t k = 0; k < m && !before; k++) {
                const struct field *f = schema_find(&s->bindings[k]->model->params, name);
                before = f && s->bindings[k]->given[schema_index(&s->bindings[k]->model->params, f)].n > 1;
            }
            if (b->given[i].n > 1 && !before) text_addf(&names, "%s%s", names.n ? ", " : "", name);
        }
    }
    return text_detach(&names);
}

bool sweep_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags)
{
    *ret = (struct sweep_result){0};
    struct space **spaces = make_spaces(s, options->max_points, diags);
    if (!spaces) return false;
    char *shard = options->shards > 1
                      ? xasprintf("%llu/%llu", (unsigned long long)options->shard, (unsigned long long)options->shards)
                      : NULL;
    struct goal goal;
    goal_of_sweep(&goal, s);
    char *objectives = goal_text(&goal), *axes = axis_names(s), *baseline = sweep_baseline_text(s);
    goal_release(&goal);
    struct run_info info = {.sweep = s->name,
                            .sweep_text = s->doc->text,
                            .hash = run_hash(objectives, spaces, s->n_models),
                            .fidelity = "closed-form",
                            .axes = axes,
                            .objectives = objectives,
                            .baseline = baseline,
                            .planned = planned_points(spaces, s->n_models, options),
                            .shard = shard};
    struct job job = {.options = options, .result = ret, .diags = diags, .started = now()};
    job.store = store_open(options->db, &info, spaces, s->n_models, options->fresh ? STORE_FRESH : 0, diags);
    bool ok = job.store && run_store(&job, s, spaces);
    if (job.store) ret->run = store_run(job.store);
    store_close(job.store);
    free(shard);
    free(objectives);
    free(axes);
    free(baseline);
    free_spaces(spaces, s->n_models);
    return ok;
}
