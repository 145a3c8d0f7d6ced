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

/* Points a transaction: a multiple of POOL_BLOCK; also what a kill can lose. A point that is a mean over requests takes as long
 * as all of them: then fewer, so that progress is seen and Ctrl-C heard as often. */
enum { TRANSACTION = 131072 };
uint64_t sweep_transaction_points(const struct space *sp)
{
    const struct request_mix *requests = space_requests(sp);
    uint64_t blocks = TRANSACTION / POOL_BLOCK / (requests ? requests->n : 1);
    return POOL_BLOCK * (blocks ? blocks : 1);
}

double sweep_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one space ------------------------------------------------------------------------------------------------------------ */

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
    if (!b) return NULL;                    /* a bug of the model ended it: sweep_end_pool tells */
    assert(b->first + b->n - 1 <= t->last); /* blocks are cut within transactions */
    t->ended = b->first + b->n - 1 == t->last;
    return b;
}

void sweep_phase(struct job *job, const char *name, uint64_t planned, uint64_t done)
{
    job->phase_started = sweep_now();
    job->progress = (struct sweep_progress){.planned = planned, .done = done};
    snprintf(job->progress.phase, sizeof job->progress.phase, "%s", name);
}

void sweep_advance(struct job *job, uint64_t points, bool last)
{
    double t = sweep_now();
    job->progress.done += points;
    job->progress.this_time += points;
    if (!job->options->progress || (!last && t - job->reported < 0.1)) return;
    job->reported = t;
    job->progress.seconds = t - job->phase_started;
    job->progress.total_seconds = t - job->started;
    job->options->progress(job->options->user, &job->progress);
}

bool sweep_interrupted(const struct job *job)
{
    return job->options->interrupt && *job->options->interrupt;
}

/* Store all blocks, one transaction after the other; this runs in the writing thread. */
static void write_all(struct job *job, size_t m, struct pool *pool, const struct range *pieces, size_t n, struct diags *diags)
{
    for (size_t i = 0; i < n && !job->result->interrupted; i++) {
        struct transaction t = {.pool = pool, .last = pieces[i].last};
        if (!store_write(job->store, m, pieces[i].first, pieces[i].last, pull, &t, diags)) return;
        job->result->done += pieces[i].last - pieces[i].first + 1;
        sweep_advance(job, pieces[i].last - pieces[i].first + 1, false);
        if (sweep_interrupted(job) && i + 1 < n) job->result->interrupted = true;
    }
}

/* Cut ranges into pieces of one transaction, aligned to multiples of its size so that resumed runs write the same ones. */
static struct range *cut(const struct range *ranges, size_t n, uint64_t size, size_t *ret_n)
{
    struct range *pieces = NULL;
    size_t k = 0, capacity = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint64_t first = ranges[i].first; first <= ranges[i].last;) {
            uint64_t last = first - first % size + size - 1;
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

bool sweep_end_pool(struct job *job, struct pool *pool)
{
    const char *bug = pool_error(pool);
    const bool ok = !bug || diags_runtime(job->diags, NULL, "%s", bug);
    job->result->evaluate_seconds += pool_seconds(pool);
    pool_free(pool);
    return ok;
}

static bool run_space(struct job *job, size_t m, const struct range *ranges, size_t n_ranges)
{
    size_t n;
    struct range *pieces = cut(ranges, n_ranges, sweep_transaction_points(job->spaces[m]), &n);
    struct pool_options options = {.threads = job->threads, .block = POOL_BLOCK, .encoder = store_encoder(job->store, m)};
    struct pool *pool = pool_new(job->spaces[m], pieces, n, &options);
    struct diags diags;
    diags_init(&diags);
#pragma omp parallel num_threads(job->threads)
    {
        if (omp_get_thread_num() == 0) {
            write_all(job, m, pool, pieces, n, &diags);
            pool_stop(pool);
        } else {
            pool_work(pool, omp_get_thread_num());
        }
    }
    bool ok = diags.errors == 0;
    if (pool_error(pool)) /* the store lacks rows for no other reason */
        diags_release(&diags);
    else
        diags_move(job->diags, &diags);
    ok = sweep_end_pool(job, pool) && ok;
    free(pieces);
    return ok;
}

bool sweep_run_ranges(struct job *job, size_t m, const struct range *ranges, size_t n)
{
    return job->sweep->fidelity == FIDELITY_EVENT_LEVEL ? sweep_simulate(job, m, ranges, n, false) : run_space(job, m, ranges, n);
}

/* ---- the sweep -------------------------------------------------------------------------------------------------------------- */

/* Points [first, end) of a space that belong to this shard: contiguous, of equal size within one. */
static struct range shard_of(uint64_t count, uint64_t shard, uint64_t shards)
{
    if (shards < 2) return (struct range){0, count};
    __uint128_t c = count;
    return (struct range){(uint64_t)(c * (shard - 1) / shards), (uint64_t)(c * shard / shards)};
}

static uint64_t run_hash(const struct sweep_file *sweep, const char *objectives, const char *method, struct space *const *spaces,
                         size_t n)
{
    uint64_t h = text_hash(TEXT_HASH_INIT, DSE_VERSION, sizeof DSE_VERSION);
    h = text_hash(h, objectives, strlen(objectives));
    if (sweep->fidelity != FIDELITY_CLOSED_FORM || sweep->refine) {
        const char *fidelity = sweep_fidelity_text(sweep);
        h = text_hash(h, fidelity, strlen(fidelity));
    }
    if (method) h = text_hash(h, method, strlen(method));
    if (sweep->refine) h = text_hash(h, &sweep->refine_runs, sizeof sweep->refine_runs);
    if (sweep->refine && !sweep->refine_neighbours) h = text_hash(h, "alone", sizeof "alone");
    for (size_t i = 0; i < n; i++) {
        uint64_t s = space_hash(spaces[i]);
        h = text_hash(h, &s, sizeof s);
    }
    return h;
}

uint64_t sweep_run_hash(const struct sweep_file *s, const char *method, struct space *const *spaces)
{
    struct goal goal;
    goal_of_sweep(&goal, s);
    char *objectives = goal_text(&goal);
    const uint64_t hash = run_hash(s, objectives, method, spaces, s->n_models);
    free(objectives);
    goal_release(&goal);
    return hash;
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

static bool plan(struct job *job, struct work *work)
{
    for (size_t m = 0; m < job->n_spaces; m++) {
        struct range s = shard_of(space_count(job->spaces[m]), job->options->shard, job->options->shards);
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

void sweep_free_spaces(struct space **spaces, size_t n)
{
    for (size_t i = 0; i < n; i++) space_free(spaces[i]);
    free(spaces);
}

/* A baseline that no front would have makes ratios that no front should be read by. */
static void warn_of_baseline(const struct sweep_file *s, const struct space *sp, struct diags *diags)
{
    char *why = space_baseline_over_budget(sp);
    const struct toml_node *node = why && s->doc ? toml_get(&s->doc->root, "baseline") : NULL;
    if (why)
        diags_warn(diags, node ? toml_key_loc(s->doc, node) : (struct srcloc){0}, node ? s->doc->text : NULL,
                   "the baseline would be on no front: %s; ratios to it compare designs with a machine of less quality", why);
    free(why);
}

struct space **sweep_make_spaces(const struct sweep_file *s, uint64_t max_points, struct diags *diags)
{
    struct space **spaces = xcalloc(s->n_models, sizeof(struct space *));
    bool ok = true;
    for (size_t m = 0; m < s->n_models; m++) {
        spaces[m] = space_new(s, m, max_points, diags);
        if (!spaces[m]) ok = false;
    }
    if (ok) warn_of_baseline(s, spaces[0], diags);
    if (ok) return spaces;
    sweep_free_spaces(spaces, s->n_models);
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

/* "2/4", STORE_LEASED, or NULL for a sweep that is run as a whole. The caller frees it. */
static char *shard_text(const struct sweep_options *o)
{
    if (o->lease) return xstrdup(STORE_LEASED);
    return o->shards > 1 ? xasprintf("%llu/%llu", (unsigned long long)o->shard, (unsigned long long)o->shards) : NULL;
}

struct store *sweep_open_store(const struct sweep_file *s, const struct sweep_options *options, const char *method, bool resumes,
                               struct space *const *spaces, struct diags *diags)
{
    const unsigned flags = (options->fresh ? STORE_FRESH : 0) | (resumes ? 0 : STORE_WHOLE) | (options->lease ? STORE_PRIVATE : 0);
    struct goal goal;
    goal_of_sweep(&goal, s);
    char *shard = shard_text(options), *objectives = goal_text(&goal), *axes = axis_names(s), *baseline = sweep_baseline_text(s);
    char *requests = sweep_requests_description(s), *ends = sweep_axis_ends(s), *unequal = sweep_unequal(s, spaces),
         *catalog = sweep_entries(s, spaces);
    struct run_info info = {.sweep = s->name,
                            .sweep_text = s->doc->text,
                            .hash = run_hash(s, objectives, method, spaces, s->n_models),
                            .fidelity = sweep_fidelity_text(s),
                            .axes = axes,
                            .objectives = objectives,
                            .baseline = baseline,
                            .requests = requests,
                            .axis_ends = ends,
                            .unequal = unequal,
                            .catalog = catalog,
                            .method = method,
                            .planned = planned_points(spaces, s->n_models, options),
                            .shard = shard};
    struct store *store = store_open(options->db, &info, spaces, s->n_models, flags, diags);
    char *const texts[] = {shard, objectives, axes, baseline, requests, ends, unequal, catalog};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    goal_release(&goal);
    return store;
}

struct job sweep_job(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret,
                     struct space *const *spaces, struct diags *diags)
{
    return (struct job){.sweep = s,
                        .options = options,
                        .result = ret,
                        .spaces = spaces,
                        .n_spaces = s->n_models,
                        .diags = diags,
                        .threads = threads_available(options->threads > 0 ? options->threads : omp_get_num_procs()),
                        .started = sweep_now()};
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
