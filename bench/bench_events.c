/* The event queue under the hold model (take the next event, put one back), against two plain queues measured in the same run:
 *
 *   wheel  a time wheel of 16,384 slots with a binary heap for what lies beyond. Its slot is the step of which all times of the
 *   load are multiples, so that
 *          it never sorts; it forgets the order of simultaneous events. What a queue made for one load and nothing else reaches.
 *   heap   a binary heap of the 16-byte entries, without an order of simultaneous events.
 *
 * Loads: exponential increments (mean 1000 steps of 625 ps); those of a DRAM controller (a few timing parameters, in clocks of
 * 625 ps, one in 500 a refresh interval); the same two off the step, which only the heap can do, too; and a wide one from 500 ps
 * to 1 ms. `rate` is million events a second, the others the ratio of rates. Then what the kernel adds to the queue: an event
 * through dse_sim_at and dse_sim_run, an item through a stage, a run of nothing.
 */
#include "bench.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "sim/queue.h"
#include "sim/sim.h"

enum { DRAWS = 1 << 16, REPEAT = 5, STEP = 625 };
static size_t n_events;

/* ---- the wheel -------------------------------------------------------------------------------------------------------------- */

enum { SLOTS = 16384 };

struct heap {
    struct event *e;
    size_t n;
};

static void heap_push(struct heap *h, struct event e)
{
    size_t i = h->n++;
    for (; i > 0 && h->e[(i - 1) / 2].when > e.when; i = (i - 1) / 2) h->e[i] = h->e[(i - 1) / 2];
    h->e[i] = e;
}

static struct event heap_pop(struct heap *h)
{
    const struct event top = h->e[0], last = h->e[--h->n];
    size_t i = 0;
    for (size_t c = 1; c < h->n; i = c, c = 2 * c + 1) {
        c += c + 1 < h->n && h->e[c + 1].when < h->e[c].when;
        if (last.when <= h->e[c].when) break;
        h->e[i] = h->e[c];
    }
    h->e[i] = last;
    return top;
}

struct node {
    struct event event;
    uint32_t next;
};

struct wheel {
    uint64_t filled[SLOTS / 64], words[SLOTS / 4096];
    uint32_t head[SLOTS];
    struct node *nodes;
    uint32_t free;
    dse_ps now; /* in slots */
    size_t n;   /* on the wheel */
    struct heap far;
};

static void wheel_push(struct wheel *w, struct event e)
{
    if (e.when - w->now >= SLOTS) {
        heap_push(&w->far, e);
        return;
    }
    const unsigned s = (unsigned)e.when & (SLOTS - 1);
    const uint64_t bit = UINT64_C(1) << (s & 63);
    const uint32_t node = w->free;
    w->free = w->nodes[node].next;
    w->nodes[node].event = e;
    w->nodes[node].next = w->filled[s / 64] & bit ? w->head[s] : UINT32_MAX;
    w->head[s] = node;
    w->filled[s / 64] |= bit;
    w->words[s / 4096] |= UINT64_C(1) << (s / 64 & 63);
    w->n++;
}

/* The first filled slot from `from` on, all around; there is one. */
static unsigned wheel_find(const struct wheel *w, unsigned from)
{
    const uint64_t here = w->filled[from / 64] >> (from & 63);
    if (here) return from + (unsigned)__builtin_ctzll(here);
    const unsigned word = (from / 64 + 1) & (SLOTS / 64 - 1);
    uint64_t summary = w->words[word / 64] >> (word & 63) << (word & 63);
    for (unsigned i = word / 64;; i = (i + 1) & (SLOTS / 4096 - 1), summary = w->words[i])
        if (summary) {
            const unsigned found = 64 * i + (unsigned)__builtin_ctzll(summary);
            return 64 * found + (unsigned)__builtin_ctzll(w->filled[found]);
        }
}

static struct event wheel_pop(struct wheel *w)
{
    if (w->n == 0) w->now = w->far.e[0].when;
    while (w->far.n > 0 && w->far.e[0].when - w->now < SLOTS) wheel_push(w, heap_pop(&w->far));
    const unsigned s = wheel_find(w, (unsigned)w->now & (SLOTS - 1));
    const uint32_t node = w->head[s];
    const struct event e = w->nodes[node].event;
    w->head[s] = w->nodes[node].next;
    if (w->head[s] == UINT32_MAX) {
        w->filled[s / 64] &= ~(UINT64_C(1) << (s & 63));
        if (!w->filled[s / 64]) w->words[s / 4096] &= ~(UINT64_C(1) << (s / 64 & 63));
    }
    w->nodes[node].next = w->free;
    w->free = node;
    w->now = e.when;
    w->n--;
    return e;
}

/* ---- loads ------------------------------------------------------------------------------------------------------------------ */

enum load { EXPONENTIAL, DRAM, EXPONENTIAL_OFF, DRAM_OFF, WIDE, LOADS };
static const char *const load_names[LOADS] = {"exponential", "DRAM", "exponential, any ps", "DRAM, any ps", "500 ps to 1 ms"};

static bool on_step(enum load load)
{
    return load <= DRAM;
}

static uint64_t random_state = 1;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)((random_state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

/* In picoseconds. DRAM: tCCD, tRRD, tCL, tRCD, tRP, tRAS, tRC, tFAW of HBM2 in clocks. */
static dse_ps draw(enum load load)
{
    static const int clocks[] = {1, 2, 2, 4, 4, 14, 14, 14, 28, 34, 48, 16};
    switch (load) {
    case EXPONENTIAL: return STEP * (1 + (dse_ps)(-1000 * log1p(-uniform())));
    case DRAM: return STEP * (uniform() < 0.002 ? 6240 : clocks[(int)(12 * uniform())]);
    case EXPONENTIAL_OFF: return 1 + (dse_ps)(-1000 * STEP * log1p(-uniform()));
    case DRAM_OFF: return draw(DRAM) + (dse_ps)(STEP * uniform());
    default: return (dse_ps)(500 * pow(2e6, uniform()));
    }
}

/* ---- hold model ------------------------------------------------------------------------------------------------------------- */

static uint64_t sink; /* what must not be optimised away */

static double hold_queue(const dse_ps *increment, size_t pending)
{
    static struct queue q;
    struct event e = {0};
    queue_init(&q);
    for (size_t i = 0; i < pending; i++) queue_push(&q, (struct event){.when = increment[i % DRAWS], .arg = (uint32_t)i});
    for (size_t i = 0; i < 2 * pending; i++) {
        queue_pop(&q, &e);
        queue_push(&q, (struct event){.when = e.when + increment[i % DRAWS], .arg = e.arg});
    }
    const double start = cpu_s();
    for (size_t i = 0; i < n_events; i++) {
        queue_pop(&q, &e);
        queue_push(&q, (struct event){.when = e.when + increment[i % DRAWS], .arg = e.arg});
    }
    const double s = cpu_s() - start;
    sink += (uint64_t)e.when;
    queue_release(&q);
    return (double)n_events / s;
}

static double hold_heap(const dse_ps *increment, size_t pending)
{
    struct heap h = {.e = xmalloc((pending + 1) * sizeof *h.e)};
    for (size_t i = 0; i < pending; i++) heap_push(&h, (struct event){.when = increment[i % DRAWS], .arg = (uint32_t)i});
    const double start = cpu_s();
    for (size_t i = 0; i < n_events; i++) {
        const struct event e = heap_pop(&h);
        heap_push(&h, (struct event){.when = e.when + increment[i % DRAWS], .arg = e.arg});
    }
    const double s = cpu_s() - start;
    sink += (uint64_t)h.e[0].when;
    free(h.e);
    return (double)n_events / s;
}

/* Its time is in steps. */
static double hold_wheel(const dse_ps *increment, size_t pending)
{
    static struct wheel w;
    memset(&w, 0, sizeof w);
    w.nodes = xmalloc((pending + 1) * sizeof *w.nodes);
    w.far.e = xmalloc((pending + 1) * sizeof *w.far.e);
    dse_ps *steps = xmalloc(DRAWS * sizeof *steps);
    for (size_t i = 0; i < DRAWS; i++) steps[i] = increment[i] / STEP;
    for (size_t i = 0; i <= pending; i++) w.nodes[i].next = (uint32_t)i + 1;
    for (size_t i = 0; i < pending; i++) wheel_push(&w, (struct event){.when = steps[i % DRAWS], .arg = (uint32_t)i});
    const double start = cpu_s();
    for (size_t i = 0; i < n_events; i++) {
        const struct event e = wheel_pop(&w);
        wheel_push(&w, (struct event){.when = e.when + steps[i % DRAWS], .arg = e.arg});
    }
    const double s = cpu_s() - start;
    sink += (uint64_t)w.now;
    free(steps);
    free(w.far.e);
    free(w.nodes);
    return (double)n_events / s;
}

static double best_of(double (*hold)(const dse_ps *, size_t), const dse_ps *increment, size_t pending)
{
    double best = 0;
    for (int i = 0; i < bench_size(REPEAT, 1); i++) best = fmax(best, hold(increment, pending));
    return best;
}

struct range {
    double least, most;
};
static const struct range NO_RANGE = {HUGE_VAL, 0};

static void range_add(struct range *r, double v)
{
    r->least = fmin(r->least, v);
    r->most = fmax(r->most, v);
}

static void bench_queue(void)
{
    static const size_t pending[] = {16, 1000, 100000};
    dse_ps *increment = xmalloc(DRAWS * sizeof *increment);
    struct range rate = NO_RANGE, over_wheel = NO_RANGE, over_heap = NO_RANGE;
    printf("   %-20s %8s %10s %12s %12s\n", "load", "pending", "rate (M/s)", "over wheel", "over heap");
    for (int load = 0; load < LOADS; load++) {
        random_state = 88172645463325252;
        for (size_t i = 0; i < DRAWS; i++) increment[i] = draw((enum load)load);
        for (size_t p = 0; p < 3; p++) {
            const double ours = best_of(hold_queue, increment, pending[p]), heap = best_of(hold_heap, increment, pending[p]);
            printf("   %-20s %8zu %10.1f ", load_names[load], pending[p], ours / 1e6);
            range_add(&rate, ours / 1e6);
            range_add(&over_heap, ours / heap);
            if (on_step((enum load)load)) {
                const double ratio = ours / best_of(hold_wheel, increment, pending[p]);
                printf("%12.2f ", ratio);
                range_add(&over_wheel, ratio);
            } else {
                printf("%12s ", "");
            }
            printf("%12.2f\n", ours / heap);
        }
    }
    struct bench_row row = bench_row_open("events of the event level, 16 to 100,000 pending");
    bench_part(&row, "%.0f to %.0f million a second and core", rate.least, rate.most);
    bench_part(&row, "%.1f to %.1f times a time wheel fitted to the load", over_wheel.least, over_wheel.most);
    bench_part(&row, "%.1f to %.1f times a binary heap", over_heap.least, over_heap.most);
    bench_row_close(&row);
    free(increment);
}

/* ---- the kernel ------------------------------------------------------------------------------------------------------------- */

struct ticker {
    uint32_t actor;
    uint64_t left;
    dse_ps increment[64];
};

static void tick(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct ticker *t = object;
    if (t->left == 0) return;
    t->left--;
    dse_sim_at(sim, dse_sim_now(sim) + t->increment[(t->left ^ arg) % 64], t->actor, arg);
}

/* Events a second through the whole kernel. */
static double run_ticks(struct dse_sim *sim, uint32_t pending)
{
    struct ticker t = {.left = n_events};
    sim_reset(sim, NULL);
    t.actor = dse_sim_actor(sim, tick, &t);
    for (int i = 0; i < 64; i++) t.increment[i] = draw(DRAM);
    for (uint32_t i = 0; i < pending; i++) dse_sim_at(sim, (dse_ps)i * 100, t.actor, i);
    const double start = cpu_s();
    dse_sim_run(sim);
    return (double)sim_events(sim) / (cpu_s() - start);
}

struct step {
    uint64_t salt;
    unsigned outputs;
};

static void serve(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)sim;
    const struct step *s = object;
    out[0] = in[0];
    uint64_t hash = (in[0] + s->salt) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    ret->interval = ret->latency = 1000 + (dse_ps)(hash >> 55);
    ret->outputs = s->outputs;
}

/* Items times stages a second in a chain of stages with FIFOs of 4, of random times between 1000 and 1511; and the events that
 * each took. */
static double run_chain(struct dse_sim *sim, double *ret_events)
{
    enum { STAGES = 8 };
    const int items = bench_size(200000, 2000);
    struct step step[STAGES];
    struct dse_fifo *f[STAGES + 1] = {NULL};
    sim_reset(sim, NULL);
    for (int i = 0; i < STAGES; i++) f[i] = dse_fifo_new(sim, "f", i ? 4 : 0);
    for (int i = 0; i < STAGES; i++) {
        step[i] = (struct step){.salt = UINT64_C(1000003) * (uint64_t)i, .outputs = i + 1 < STAGES};
        dse_stage_new(sim,
                      &(struct dse_stage_spec){.name = "s", .in = {f[i]}, .out = {f[i + 1]}, .serve = serve, .object = &step[i]});
    }
    for (uint64_t i = 0; i < (uint64_t)items; i++) dse_fifo_put(f[0], i);
    const double start = cpu_s();
    dse_sim_run(sim);
    const double s = cpu_s() - start;
    *ret_events = (double)sim_events(sim) / (items * STAGES);
    return items * STAGES / s;
}

static double run_nothing(struct dse_sim *sim)
{
    const int runs = bench_size(100000, 1000);
    const double start = cpu_s();
    for (int i = 0; i < runs; i++) {
        sim_reset(sim, NULL);
        dse_sim_run(sim);
    }
    return (cpu_s() - start) / runs;
}

static void bench_kernel(void)
{
    struct dse_sim *sim = sim_new(NULL);
    dse_ps *increment = xmalloc(DRAWS * sizeof *increment);
    random_state = 88172645463325252;
    for (size_t i = 0; i < DRAWS; i++) increment[i] = draw(DRAM);
    const double queue = best_of(hold_queue, increment, 1000);
    double events = 0, ticks = 0, items = 0;
    for (int i = 0; i < bench_size(REPEAT, 1); i++) {
        ticks = fmax(ticks, run_ticks(sim, 1000));
        items = fmax(items, run_chain(sim, &events));
    }
    printf("   an event through the kernel, DRAM load, 1000 pending: %.1f M/s, %.2f of the bare queue's rate\n", ticks / 1e6,
           ticks / queue);
    printf("   an item through a stage of a chain: %.1f M/s, %.2f events each\n", items / 1e6, events);
    printf("   a run of nothing, in memory of the one before: %.0f ns\n", 1e9 * run_nothing(sim));
    free(increment);
    sim_free(sim);
}

int main(void)
{
    n_events = (size_t)bench_size(4000000, 20000);
    bench_queue();
    bench_kernel();
    if (sink == 1) puts("");
    return 0;
}
