/* The ring of blocks between evaluating threads and the writer. */
#ifndef DSE_SWEEP_POOL_H
#define DSE_SWEEP_POOL_H

#include "store/store.h"

enum { POOL_BLOCK = STORE_BLOCK }; /* points a block */

struct pool;

struct pool_options {
    int threads; /* at most: the writer is thread 0 */
    enum fidelity fidelity;
    size_t block;                        /* points a block, at most POOL_BLOCK; with an encoder, POOL_BLOCK */
    const struct store_encoder *encoder; /* the threads also encode their rows as the store's pages; or NULL */
    const volatile sig_atomic_t *stop;   /* ends runs at event level soon after it became nonzero; or NULL */
};

/* A pool over index ranges of one space, which are ascending. */
struct pool *pool_new(const struct space *sp, const struct range *ranges, size_t n_ranges, const struct pool_options *options);
void pool_free(struct pool *p);

/* Threads 1 and up: evaluate blocks until there are none left or pool_stop. */
void pool_work(struct pool *p, int thread);
/* Thread 0: the next block in order, evaluating while none is ready; NULL when all were taken, or options.stop or a bug of the
 * model ended a run before. Valid until the next call. */
const struct row_block *pool_next(struct pool *p);
/* Let all workers return. */
void pool_stop(struct pool *p);
/* The bug of a model that ended one of the threads (evaluator_error), when all have returned; or NULL. */
const char *pool_error(const struct pool *p);
/* Seconds that all threads together spent evaluating. */
double pool_seconds(const struct pool *p);

#endif
