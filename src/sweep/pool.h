/* The ring of blocks between evaluating threads and the writer. */
#ifndef DSE_SWEEP_POOL_H
#define DSE_SWEEP_POOL_H

#include "store/store.h"

enum { POOL_BLOCK = STORE_BLOCK }; /* points a block */

struct pool;

/* A pool over index ranges of one space, evaluated by up to `threads` threads: the writer is thread 0. With an encoder (or NULL) the
 * threads also encode their rows as the store's pages. */
struct pool *pool_new(const struct space *sp, const struct store_encoder *encoder, const struct range *ranges, size_t n_ranges,
                      int threads);
void pool_free(struct pool *p);

/* Threads 1 and up: evaluate blocks until there are none left or pool_stop. */
void pool_work(struct pool *p, int thread);
/* Thread 0: the next block in order, evaluating while none is ready; NULL when all were taken. Valid until the next call. */
const struct row_block *pool_next(struct pool *p);
/* Let all workers return. */
void pool_stop(struct pool *p);
/* Seconds that all threads together spent evaluating. */
double pool_seconds(const struct pool *p);

#endif
