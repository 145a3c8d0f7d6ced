#include "sweep/pool.h"

#include "base/xalloc.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Blocks of the ring: some for the writer to be ahead or behind, and two for every thread. */
enum { SLOTS = 12, SLOTS_A_THREAD = 2 };

enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_READY, SLOT_BROKEN /* stopped halfway */ };

struct slot {
    enum slot_state state;
    struct row_block block;
    union cell *cells; /* NULL: its rows are encoded as soon as they are there */
    struct row *rows;
    struct store_pages pages;
};

struct pool {
    const struct space *space;
    struct pool_options options;
    const struct range *ranges;
    size_t n_ranges;
    struct evaluator **evaluators; /* one a thread */
    union cell **cells;            /* of rows that are encoded at once: one block a thread */
    double *seconds;

    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t changed;
    struct slot *slots; /* block number s lives in slot s % n_slots */
    size_t n_slots;
    size_t range;            /* next block to claim: in this range, */
    uint64_t position;       /* from this point */
    uint64_t claimed, taken; /* block numbers */
    bool stopped;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct pool *pool_new(const struct space *sp, const struct range *ranges, size_t n_ranges, const struct pool_options *options)
{
    int threads = options->threads;
    struct pool *p = xcalloc(1, sizeof *p);
    p->space = sp;
    p->options = *options;
    p->ranges = ranges;
    p->n_ranges = n_ranges;
    p->evaluators = xcalloc((size_t)threads, sizeof(struct evaluator *));
    p->seconds = xcalloc((size_t)threads, sizeof *p->seconds);
    for (int t = 0; t < threads; t++) p->evaluators[t] = evaluator_new(sp, options->fidelity, options->stop);
    size_t n_columns;
    space_columns(sp, &n_columns);
    p->n_slots = SLOTS + (size_t)threads * SLOTS_A_THREAD;
    p->slots = xcalloc(p->n_slots, sizeof *p->slots);
    const size_t bytes = options->block * n_columns * sizeof(union cell);
    p->cells = xcalloc((size_t)threads, sizeof *p->cells);
    for (int t = 0; t < threads && options->encoder; t++) p->cells[t] = xmalloc(bytes);
    for (size_t i = 0; i < p->n_slots; i++) {
        if (!options->encoder) p->slots[i].cells = xmalloc(bytes);
        p->slots[i].rows = xmalloc(options->block * sizeof(struct row));
    }
    p->position = n_ranges ? ranges[0].first : 0;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    return p;
}

void pool_free(struct pool *p)
{
    if (!p) return;
    for (int t = 0; t < p->options.threads; t++) {
        evaluator_free(p->evaluators[t]);
        free(p->cells[t]);
    }
    for (size_t i = 0; i < p->n_slots; i++) {
        free(p->slots[i].cells);
        free(p->slots[i].rows);
        store_pages_release(&p->slots[i].pages);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    free(p->evaluators);
    free(p->cells);
    free(p->seconds);
    free(p->slots);
    free(p);
}

/* Claim the next block, or NULL when all are claimed or its slot is still in use. The mutex is held. A block never crosses the end
 * of a range. */
static struct slot *claim(struct pool *p)
{
    if (p->stopped || p->range == p->n_ranges || p->claimed - p->taken >= p->n_slots) return NULL;
    struct slot *s = &p->slots[p->claimed % p->n_slots];
    if (s->state != SLOT_FREE) return NULL;
    const struct range *r = &p->ranges[p->range];
    uint64_t left = r->last - p->position + 1;
    s->state = SLOT_BUSY;
    s->block = (struct row_block){
        .first = p->position, .n = left < p->options.block ? (size_t)left : p->options.block, .cells = s->cells, .rows = s->rows};
    p->claimed++;
    if (s->block.n == left) {
        p->range++;
        p->position = p->range < p->n_ranges ? p->ranges[p->range].first : 0;
    } else {
        p->position += s->block.n;
    }
    return s;
}

/* Evaluate the points of a slot. The mutex is held on entry and on exit, but not while the model runs. */
static void evaluate(struct pool *p, struct slot *s, int thread)
{
    pthread_mutex_unlock(&p->mutex);
    double start = now();
    union cell *cells = s->cells ? s->cells : p->cells[thread];
    bool whole = evaluator_run(p->evaluators[thread], s->block.first, s->block.n, cells, s->rows);
    if (whole && p->options.encoder) {
        s->block.cells = cells;
        bool encoded = store_encode(p->options.encoder, &s->block, &s->pages);
        assert(encoded); /* no text of a row is as long as a page: names and constraints are limited where they are read */
        s->block.pages = &s->pages;
        s->block.cells = NULL; /* the pages have them */
    }
    p->seconds[thread] += now() - start;
    pthread_mutex_lock(&p->mutex);
    s->state = whole ? SLOT_READY : SLOT_BROKEN;
    if (!whole) p->stopped = true;
    pthread_cond_broadcast(&p->changed);
}

void pool_work(struct pool *p, int thread)
{
    pthread_mutex_lock(&p->mutex);
    while (!p->stopped && p->range < p->n_ranges) {
        struct slot *s = claim(p);
        if (s)
            evaluate(p, s, thread);
        else
            pthread_cond_wait(&p->changed, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
}

const struct row_block *pool_next(struct pool *p)
{
    const struct row_block *block = NULL;
    pthread_mutex_lock(&p->mutex);
    if (p->taken > 0) { /* the block handed out last is done with */
        struct slot *previous = &p->slots[(p->taken - 1) % p->n_slots];
        if (previous->state == SLOT_READY) previous->state = SLOT_FREE;
        pthread_cond_broadcast(&p->changed);
    }
    for (;;) {
        struct slot *wanted = &p->slots[p->taken % p->n_slots];
        if (p->taken < p->claimed && wanted->state == SLOT_READY) {
            p->taken++;
            block = &wanted->block;
            break;
        }
        if (p->taken == p->claimed ? p->stopped || p->range == p->n_ranges : wanted->state == SLOT_BROKEN) break;
        struct slot *s = claim(p);
        if (s)
            evaluate(p, s, 0);
        else
            pthread_cond_wait(&p->changed, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
    return block;
}

void pool_stop(struct pool *p)
{
    pthread_mutex_lock(&p->mutex);
    p->stopped = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

const char *pool_error(const struct pool *p)
{
    for (int t = 0; t < p->options.threads; t++)
        if (evaluator_error(p->evaluators[t])) return evaluator_error(p->evaluators[t]);
    return NULL;
}

double pool_seconds(const struct pool *p)
{
    double sum = 0;
    for (int t = 0; t < p->options.threads; t++) sum += p->seconds[t];
    return sum;
}
