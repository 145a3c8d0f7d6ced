#include "sim/queue.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* A slot of more events than SORTED goes to the levels below; a front that has grown beyond FRONT, too. */
enum { SORTED = 3 * QUEUE_CHUNK, FRONT = 64, SLAB_FIRST = 64 };

struct queue_slab {
    struct queue_slab *before;
    size_t n;
    _Alignas(64) struct queue_chunk chunk[];
};

void queue_init(struct queue *q)
{
    memset(q, 0, sizeof *q);
    q->front_capacity = (size_t)4 * FRONT;
    q->front = xmalloc(q->front_capacity * sizeof *q->front);
    q->at = q->end = q->front;
}

static void free_slabs(struct queue *q)
{
    while (q->slabs) {
        struct queue_slab *before = q->slabs->before;
        free(q->slabs);
        q->slabs = before;
    }
}

void queue_release(struct queue *q)
{
    free_slabs(q);
    free(q->front);
}

static void free_chunk(struct queue *q, struct queue_chunk *c)
{
    c->next = q->free;
    q->free = c;
}

void queue_reset(struct queue *q)
{
    while (q->taken) {
        struct queue_chunk *c = q->taken;
        q->taken = c->next;
        free_chunk(q, c);
    }
    for (; q->levels_filled; q->levels_filled &= q->levels_filled - 1) {
        struct queue_level *l = &q->level[__builtin_ctz(q->levels_filled)];
        for (unsigned i = 0; i < QUEUE_SLOTS; i++)
            while (l->slot[i]) {
                struct queue_chunk *c = l->slot[i];
                l->slot[i] = c->next;
                free_chunk(q, c);
            }
        memset(l->filled, 0, sizeof l->filled);
        l->words = 0;
    }
    q->at = q->end = q->front;
    q->front_end = q->base = 0;
}

static void more_chunks(struct queue *q)
{
    const size_t n = q->chunks ? q->chunks : SLAB_FIRST;
    struct queue_slab *s = xmalloc(sizeof *s + n * sizeof *s->chunk);
    s->before = q->slabs;
    s->n = n;
    q->slabs = s;
    q->chunks += n;
    for (size_t i = n; i-- > 0;) free_chunk(q, &s->chunk[i]);
}

/* Put an event into a new chunk of the slot, which is empty or whose newest chunk is full. */
void queue_push_new(struct queue *q, struct event e, unsigned level, unsigned slot)
{
    struct queue_level *l = &q->level[level];
    if (!q->free) more_chunks(q);
    struct queue_chunk *c = q->free;
    q->free = c->next;
    c->next = l->slot[slot];
    c->n = 1;
    c->event[0] = e;
    l->slot[slot] = c;
    l->filled[slot / 64] |= UINT64_C(1) << (slot % 64);
    l->words |= UINT64_C(1) << (slot / 64);
    q->levels_filled |= 1u << level;
}

/* ---- the front -------------------------------------------------------------------------------------------------------------- */

/* Make room for one more event behind the last one of the front. */
static void front_room(struct queue *q)
{
    const size_t first = (size_t)(q->at - q->front), n = (size_t)(q->end - q->at);
    if (first + n < q->front_capacity) return;
    memmove(q->front, q->at, n * sizeof *q->front); /* it never holds more than FRONT */
    q->at = q->front;
    q->end = q->front + n;
}

void queue_push_front(struct queue *q, struct event e)
{
    front_room(q);
    struct event *to = q->front + (q->end - q->front);
    q->end++;
    for (; to > q->at && to[-1].when > e.when; to--) *to = to[-1];
    *to = e;
    if (q->end - q->at <= FRONT) return;
    /* Sorting has become dear: into the levels with it all. */
    const struct event *from = q->at, *end = q->end;
    q->at = q->end = q->front;
    q->front_end = q->base;
    while (from < end) queue_put(q, *from++);
}

static void sort(struct event *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct event t = e[i];
        size_t j = i;
        for (; j > 0 && e[j - 1].when > t.when; j--) e[j] = e[j - 1];
        e[j] = t;
    }
}

/* ---- opening a slot --------------------------------------------------------------------------------------------------------- */

static struct queue_chunk *reversed(struct queue_chunk *c)
{
    struct queue_chunk *before = NULL;
    while (c) {
        struct queue_chunk *next = c->next;
        c->next = before;
        before = c;
        c = next;
    }
    return before;
}

/* Take the first filled slot of the lowest filled level. */
static struct queue_chunk *detach_first(struct queue *q, unsigned *ret_level)
{
    const unsigned level = (unsigned)__builtin_ctz(q->levels_filled), shift = level * QUEUE_BITS;
    struct queue_level *l = &q->level[level];
    const unsigned word = (unsigned)__builtin_ctzll(l->words), slot = word * 64 + (unsigned)__builtin_ctzll(l->filled[word]);
    l->filled[word] &= l->filled[word] - 1;
    if (!l->filled[word]) l->words &= l->words - 1;
    if (!l->words) q->levels_filled &= q->levels_filled - 1;
    const uint64_t below = (UINT64_C(1) << shift) * QUEUE_SLOTS - 1; /* of the highest level more than 64 bits: all of them */
    q->base = (dse_ps)(((uint64_t)q->base & ~below) | ((uint64_t)slot << shift));
    struct queue_chunk *c = l->slot[slot];
    l->slot[slot] = NULL;
    *ret_level = level;
    return c;
}

/* Sort a few events, which come oldest first, into the empty front. */
static void take_few(struct queue *q, struct queue_chunk *c)
{
    struct event *to = q->front;
    while (c) {
        struct queue_chunk *next = c->next;
        memcpy(to, c->event, c->n * sizeof *to);
        to += c->n;
        free_chunk(q, c);
        c = next;
    }
    sort(q->front, (size_t)(to - q->front));
    q->at = q->front;
    q->end = to;
}

/* Spread the events of a slot over the levels below. */
static void spread(struct queue *q, struct queue_chunk *c)
{
    while (c) {
        struct queue_chunk *next = c->next;
        for (uint32_t i = 0; i < c->n; i++) queue_put(q, c->event[i]);
        free_chunk(q, c);
        c = next;
    }
}

static bool has_few_events(const struct queue_chunk *c)
{
    size_t n = 0;
    for (; c && n <= SORTED; c = c->next) n += c->n;
    return n <= SORTED;
}

/* at == end: find the next events. False: there are none. */
bool queue_open(struct queue *q)
{
    if (q->taken) {
        struct queue_chunk *c = q->taken;
        q->taken = c->next;
        free_chunk(q, c);
    }
    while (!q->taken) {
        if (!q->levels_filled) return false;
        unsigned level;
        struct queue_chunk *c = detach_first(q, &level);
        if (c->next) c = reversed(c);
        if (level == 0) {
            q->front_end = q->base; /* what comes for the same time goes into the slot again, and is found next */
            q->taken = c;
        } else if (has_few_events(c)) {
            q->front_end = q->base + ((dse_ps)1 << (level * QUEUE_BITS));
            take_few(q, c);
            return true;
        } else {
            q->front_end = q->base;
            spread(q, c);
        }
    }
    q->at = q->taken->event;
    q->end = q->taken->event + q->taken->n;
    return true;
}
