/* The pending events in order of time, simultaneous ones in order of arrival.
 *
 * A hierarchy of time wheels whose finest slot is one picosecond, so that no width has to be fitted to the run: level L has
 * QUEUE_SLOTS slots of QUEUE_SLOTS^L ps (1 ps, 1 ns, 1 us, 1 ms, ...). An event is put at the highest level on which its time
 * differs from `base`, the start of what was opened last. To find the next event the first filled slot of the lowest filled level
 * is opened: when it holds few events they are sorted into `front`, from where they are taken; when it holds many they go to the
 * levels below. So an event moves once a level at most, and in practice once or twice, whether increments are of 500 ps or of
 * milliseconds.
 *
 *     front: times < front_end, sorted       level 0: |.|.|x|.|x|...|   1 ps each, within the level-1 slot of base
 *                                            level 1: |.|x|.|x|.|...|   1024 ps each, within the level-2 slot of base
 *                                            ...
 *
 * A slot is a list of chunks, newest first, each with its events oldest first. What is in a slot was put there before anything
 * that comes later, and goes down in its order before the slot below can get anything directly: hence simultaneous events stay in
 * order without a number to order them by. A slot of level 0, whose events are all of one time, is not copied to the front: its
 * chunks are taken as they are.
 *
 * Nothing is allocated but to hold more events than ever before.
 */
#ifndef DSE_SIM_QUEUE_H
#define DSE_SIM_QUEUE_H

#include <dse/sim.h>

struct event {
    dse_ps when;
    uint32_t actor, arg;
};

/* Times are below 2^QUEUE_TIME_BITS ps. */
enum {
    QUEUE_BITS = 10,
    QUEUE_SLOTS = 1 << QUEUE_BITS,
    QUEUE_TIME_BITS = 62,
    QUEUE_LEVELS = (QUEUE_TIME_BITS + QUEUE_BITS - 1) / QUEUE_BITS,
    QUEUE_CHUNK = 7
};

/* A chunk fills two cache lines. */
struct queue_chunk {
    struct queue_chunk *next;
    uint32_t n;
    struct event event[QUEUE_CHUNK];
};

struct queue_level {
    struct queue_chunk *slot[QUEUE_SLOTS];
    uint64_t filled[QUEUE_SLOTS / 64]; /* which slots have events */
    uint64_t words;                    /* which words of `filled` are not 0 */
};

struct queue_slab; /* memory of chunks */

struct queue {
    const struct event *at, *end; /* the next events: of `front`, or of `taken` */
    dse_ps front_end;             /* every event that is earlier is in `front`, and at, end are of it */
    dse_ps base;
    struct event *front;
    size_t front_capacity;
    struct queue_chunk *taken; /* of a slot of level 0, oldest first; at, end are of the first */
    struct queue_chunk *free;
    uint32_t levels_filled;
    struct queue_slab *slabs;
    size_t chunks; /* in all slabs */
    struct queue_level level[QUEUE_LEVELS];
};

void queue_init(struct queue *q);
void queue_release(struct queue *q);
/* Empty the queue and set it to time 0. It keeps its memory. */
void queue_reset(struct queue *q);

/* The parts of push and pop that are not inline. */
void queue_push_front(struct queue *q, struct event e);
void queue_push_new(struct queue *q, struct event e, unsigned level, unsigned slot);
bool queue_open(struct queue *q);

/* Put an event at its level. Its time is not before `base`. */
static inline void queue_put(struct queue *q, struct event e)
{
    const uint64_t when = (uint64_t)e.when;
    const unsigned top = 63 - (unsigned)__builtin_clzll((when ^ (uint64_t)q->base) | 1);
    const unsigned level = top / QUEUE_BITS, slot = (unsigned)(when >> (level * QUEUE_BITS)) & (QUEUE_SLOTS - 1);
    struct queue_chunk *c = q->level[level].slot[slot];
    if (c && c->n < QUEUE_CHUNK)
        c->event[c->n++] = e;
    else
        queue_push_new(q, e, level, slot);
}

/* `e.when` is not before the event popped last and below 2^QUEUE_TIME_BITS. */
static inline void queue_push(struct queue *q, struct event e)
{
    if (e.when < q->front_end)
        queue_push_front(q, e);
    else
        queue_put(q, e);
}

/* The next event; false: none. */
static inline bool queue_pop(struct queue *q, struct event *ret)
{
    if (q->at == q->end && !queue_open(q)) return false;
    *ret = *q->at++;
    return true;
}

#endif
