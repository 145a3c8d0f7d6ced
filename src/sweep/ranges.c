/* Ranges of a space, evaluated and stored: blocks of a pool, one transaction after the other. */
#include "sweep/pool.h"
#include "sweep/sweep_internal.h"

#include "base/xalloc.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>

/* Points a transaction: a multiple of POOL_BLOCK; also what a kill can lose. A point that is a mean over requests takes as long
 * as all of them: then fewer, so that progress is seen and Ctrl-C heard as often. */
enum { TRANSACTION = 131072 };
uint64_t sweep_transaction_points(const struct space *sp)
{
    const struct request_mix *requests = space_requests(sp);
    uint64_t blocks = TRANSACTION / POOL_BLOCK / (requests ? requests->n : 1);
    return POOL_BLOCK * (blocks ? blocks : 1);
}

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
