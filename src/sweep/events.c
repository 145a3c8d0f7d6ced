/* Rows at event level: each takes milliseconds or more, so that they are claimed one by one and stored about once a second. */
#include "sweep/sweep_internal.h"

#include "base/xalloc.h"
#include "sweep/pool.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024 }; /* rows a transaction at most */
static const double BATCH_SECONDS = 1;

/* Rows that are evaluated and not stored yet. */
struct batch {
    struct job *job;
    size_t m, n_columns;
    bool refined;
    uint64_t points[BATCH];
    union cell *cells;
    struct row rows[BATCH];
    size_t n;
    double since; /* when the first came */
};

/* A batch whose points follow each other, as a source of store_write. */
struct batch_source {
    const struct batch *batch;
    struct row_block block;
    bool given;
};

static const struct row_block *pull(void *user)
{
    struct batch_source *s = user;
    if (s->given) return NULL;
    s->given = true;
    s->block = (struct row_block){.first = s->batch->points[0], .n = s->batch->n, .cells = s->batch->cells, .rows = s->batch->rows};
    return &s->block;
}

static bool store_batch(struct batch *b)
{
    struct job *job = b->job;
    struct batch_source source = {.batch = b};
    if (b->n == 0) return true;
    bool ok = b->refined ? store_write_refined(job->store, b->m, b->points, b->cells, b->rows, b->n, job->diags)
                         : store_write(job->store, b->m, b->points[0], b->points[b->n - 1], pull, &source, job->diags);
    if (ok && b->refined)
        job->result->event_rows += b->n;
    else if (ok)
        job->result->done += b->n;
    b->n = 0;
    return ok;
}

/* Must what is there be stored before that block? A plain transaction holds points that follow each other. */
static bool is_batch_due(const struct batch *b, const struct row_block *next)
{
    if (b->n == 0) return false;
    return b->n + next->n > BATCH || sweep_now() - b->since >= BATCH_SECONDS ||
           (!b->refined && b->points[b->n - 1] + 1 != next->first);
}

static void append(struct batch *b, const struct row_block *block)
{
    if (b->n == 0) b->since = sweep_now();
    memcpy(b->cells + b->n * b->n_columns, block->cells, block->n * b->n_columns * sizeof *b->cells);
    memcpy(b->rows + b->n, block->rows, block->n * sizeof *b->rows);
    for (size_t i = 0; i < block->n; i++) b->points[b->n++] = block->first + i;
}

/* Store all rows; this runs in the writing thread. */
static bool write_all(struct batch *b, struct pool *pool)
{
    const struct row_block *block;
    while ((block = pool_next(pool)) != NULL) {
        if (is_batch_due(b, block) && !store_batch(b)) return false;
        append(b, block);
        sweep_advance(b->job, block->n, false);
    }
    return store_batch(b);
}

bool sweep_simulate(struct job *job, size_t m, const struct range *ranges, size_t n, bool refined)
{
    struct pool_options options = {
        .threads = job->threads, .fidelity = FIDELITY_EVENT_LEVEL, .block = 1, .stop = job->options->interrupt};
    struct pool *pool = pool_new(job->spaces[m], ranges, n, &options);
    struct batch *b = xcalloc(1, sizeof *b);
    *b = (struct batch){.job = job, .m = m, .refined = refined};
    space_columns(job->spaces[m], &b->n_columns);
    b->cells = xcalloc(BATCH * b->n_columns, sizeof *b->cells);
    bool ok = true;
#pragma omp parallel num_threads(job->threads)
    {
        if (omp_get_thread_num() == 0) {
            ok = write_all(b, pool);
            pool_stop(pool);
        } else {
            pool_work(pool, omp_get_thread_num());
        }
    }
    if (ok && sweep_interrupted(job)) job->result->interrupted = true;
    ok = sweep_end_pool(job, pool) && ok;
    free(b->cells);
    free(b);
    return ok;
}
