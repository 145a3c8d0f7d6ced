/* The event kernel: order, time, limits, memory, resources. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "front_points.h"
#include "sim/queue.h"
#include "sim/sim.h"

/* ---- the queue against a sorted list ---------------------------------------------------------------------------------------- */

/* A binary heap ordered by time, then by number: what the queue has to do, plainly. */
struct numbered {
    dse_ps when;
    uint32_t number;
};
struct plain {
    struct numbered *e;
    size_t n, capacity;
};

static bool before(const struct numbered *a, const struct numbered *b)
{
    return a->when < b->when || (a->when == b->when && a->number < b->number);
}

static void swap(struct numbered *a, struct numbered *b)
{
    const struct numbered t = *a;
    *a = *b;
    *b = t;
}

static void plain_push(struct plain *p, struct numbered e)
{
    if (p->n == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 64;
        p->e = xrealloc(p->e, p->capacity, sizeof *p->e);
    }
    size_t i = p->n++;
    p->e[i] = e;
    for (; i > 0 && before(&p->e[i], &p->e[(i - 1) / 2]); i = (i - 1) / 2) swap(&p->e[i], &p->e[(i - 1) / 2]);
}

static struct numbered plain_pop(struct plain *p)
{
    const struct numbered top = p->e[0];
    p->e[0] = p->e[--p->n];
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t c = 2 * i + 1; c <= 2 * i + 2 && c < p->n; c++)
            if (before(&p->e[c], &p->e[least])) least = c;
        if (least == i) break;
        swap(&p->e[i], &p->e[least]);
        i = least;
    }
    return top;
}

/* Increments whose magnitude is drawn first: 0, then 1 ps to 1000 s. */
static dse_ps wide(uint64_t *random)
{
    const uint64_t r = next_random(random) % 51;
    return r == 0 ? 0 : (dse_ps)(next_random(random) & ((UINT64_C(1) << r) - 1));
}

/* Steps of a few clock periods, many of them equal. */
static dse_ps clocked(uint64_t *random)
{
    static const dse_ps steps[] = {0, 500, 625, 1250, 5000, 13750, 13750, 35000, 260000, 3900000};
    return steps[next_random(random) % 10];
}

static dse_ps tight(uint64_t *random)
{
    return (dse_ps)(next_random(random) % 3);
}

static void follow(dse_ps (*increment)(uint64_t *), size_t pending, size_t steps)
{
    struct queue q;
    struct plain p = {0};
    struct event e;
    uint64_t random = 7 + pending;
    uint32_t number = 0;
    dse_ps now = 0;
    queue_init(&q);
    for (size_t step = 0; step < steps; step++) {
        /* grows to `pending`, then swings between half of it and all */
        const bool grow = p.n == 0 || (p.n < pending && next_random(&random) % 8 < (step / pending % 2 ? 3 : 6));
        if (grow) {
            const dse_ps when = now + increment(&random);
            queue_push(&q, (struct event){.when = when, .actor = number, .arg = ~number});
            plain_push(&p, (struct numbered){.when = when, .number = number++});
            continue;
        }
        const struct numbered expected = plain_pop(&p);
        assert_true(queue_pop(&q, &e));
        assert_int_equal(e.when, expected.when);
        assert_int_equal(e.actor, expected.number);
        assert_int_equal(e.arg, ~expected.number);
        now = e.when;
    }
    while (p.n > 0) {
        assert_true(queue_pop(&q, &e));
        assert_int_equal(e.actor, plain_pop(&p).number);
    }
    assert_false(queue_pop(&q, &e));
    assert_true(q.chunks <=
                (pending > 64 ? 2 * pending : 64)); /* memory grows with the most that was pending, not with the number of events */
    queue_release(&q);
    free(p.e);
}

static void queue__gives_events_in_order_of_time_then_of_arrival(void **state)
{
    (void)state;
    static dse_ps (*const increments[])(uint64_t *) = {wide, clocked, tight};
    for (size_t i = 0; i < 3; i++) {
        follow(increments[i], 1, 1000);
        follow(increments[i], 16, 30000);
        follow(increments[i], 1000, 100000);
        follow(increments[i], 30000, 200000);
    }
}

static void queue__holds_any_time_up_to_the_last(void **state)
{
    (void)state;
    struct queue q;
    struct event e;
    queue_init(&q);
    for (int round = 0; round < 2; round++) { /* the second after a reset with events pending */
        for (unsigned bit = 62; bit > 0; bit--) {
            queue_push(&q, (struct event){.when = ((dse_ps)1 << (bit - 1)) - 1, .actor = bit});
            queue_push(&q, (struct event){.when = ((dse_ps)1 << (bit - 1)), .actor = 100 + bit});
        }
        queue_push(&q, (struct event){.when = SIM_TIME_MAX, .actor = 200});
        assert_true(queue_pop(&q, &e));
        assert_int_equal(e.when, 0);
        if (round == 0) queue_reset(&q);
    }
    dse_ps last = 0;
    size_t n = 1;
    for (; queue_pop(&q, &e); n++) {
        assert_true(e.when >= last);
        last = e.when;
    }
    assert_int_equal(n, 125);
    assert_int_equal(last, SIM_TIME_MAX);
    queue_release(&q);
}

/* ---- the run ---------------------------------------------------------------------------------------------------------------- */

struct log {
    uint32_t arg[64];
    dse_ps when[64];
    size_t n;
};

static void note_down(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct log *l = object;
    assert_true(l->n < 64);
    l->when[l->n] = dse_sim_now(sim);
    l->arg[l->n++] = arg;
    if (arg == 3) /* of now, so after those that are scheduled for now already */
        for (uint32_t i = 10; i < 12; i++) dse_sim_at(sim, dse_sim_now(sim), 0, i);
}

static void sim__simultaneous_events_happen_in_the_order_of_scheduling(void **state)
{
    (void)state;
    struct log log = {0};
    struct dse_sim *sim = sim_new(NULL);
    const uint32_t a = dse_sim_actor(sim, note_down, &log);
    static const dse_ps when[] = {50, 20, 50, 20, 50, 20};
    for (uint32_t i = 0; i < 6; i++) dse_sim_at(sim, when[i], a, i);
    assert_true(dse_sim_run(sim));
    static const uint32_t expected[] = {1, 3, 5, 10, 11, 0, 2, 4};
    assert_int_equal(log.n, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(log.arg[i], expected[i]);
        assert_int_equal(log.when[i], i < 5 ? 20 : 50);
    }
    assert_int_equal(sim_events(sim), 8);
    dse_sim_at(sim, 60, a, 7); /* goes on */
    assert_true(dse_sim_run(sim));
    assert_int_equal(dse_sim_now(sim), 60);
    assert_int_equal(sim_events(sim), 9);
    sim_free(sim);
}

struct ticker {
    uint32_t actor;
    dse_ps step;
    uint64_t ticks;
};

static void tick(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct ticker *t = object;
    t->ticks++;
    dse_sim_at(sim, dse_sim_now(sim) + t->step, t->actor, arg);
}

static void expect_end(struct dse_sim *sim, enum sim_end end, const char *error)
{
    assert_false(dse_sim_run(sim));
    assert_int_equal(sim_end(sim), end);
    assert_string_equal(dse_sim_error(sim), error);
    assert_false(dse_sim_run(sim)); /* it stays ended */
}

static void sim__an_endless_run_ends_at_the_limit_or_when_told(void **state)
{
    (void)state;
    volatile sig_atomic_t stop = 0;
    struct ticker t = {0};
    struct dse_sim *sim = sim_new(&(struct sim_options){.events_max = 10000, .stop = &stop});
    for (int round = 0; round < 2; round++) {
        t = (struct ticker){.actor = dse_sim_actor(sim, tick, &t), .step = round ? 100000 : 0};
        dse_sim_at(sim, 0, t.actor, 0);
        expect_end(sim, SIM_EVENTS_MAX, round ? "at 999.9 us: no end after 10,000 events" : "at 0 us: no end after 10,000 events");
        assert_int_equal(t.ticks, 10000);
        assert_int_equal(sim_events(sim), 10000);
        sim_reset(sim, &(struct sim_options){.events_max = 10000, .stop = &stop});
        assert_null(dse_sim_error(sim));
    }
    stop = 1;
    t = (struct ticker){.actor = dse_sim_actor(sim, tick, &t), .step = 1};
    dse_sim_at(sim, 0, t.actor, 0);
    expect_end(sim, SIM_STOPPED, "stopped");
    sim_free(sim);
}

static void sim__time_does_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(dse_ps_of_s(1), 1000000000000);
    assert_int_equal(dse_ps_of_s(1.4999e-12), 1);
    assert_int_equal(dse_ps_of_s(-3), 0);
    assert_int_equal(dse_ps_of_s(1e300), SIM_TIME_MAX);
    assert_int_equal(dse_ps_of_s(HUGE_VAL), SIM_TIME_MAX);
    assert_int_equal(dse_ps_of_s((double)NAN), SIM_TIME_MAX);
    assert_int_equal(dse_ps_of_cycles(225, 0.225), 1000000); /* no drift */
    assert_int_equal(dse_ps_of_cycles(1, 0.225), 4444);
    assert_int_equal(dse_ps_of_cycles(1, 0), SIM_TIME_MAX);
    assert_true(dse_s_of_ps(SIM_TIME_MAX) > 53 * 86400.0 && dse_s_of_ps(SIM_TIME_MAX) < 54 * 86400.0);

    struct dse_sim *sim = sim_new(NULL);
    struct ticker t = {.actor = dse_sim_actor(sim, tick, &t), .step = SIM_TIME_MAX};
    dse_sim_at(sim, 1, t.actor, 0);
    expect_end(sim, SIM_FAILED, "at 1e-06 us: an event at 4611686018427.388 us, beyond the end of time (53 days)");
    sim_reset(sim, NULL);
    t = (struct ticker){.actor = dse_sim_actor(sim, tick, &t), .step = -1};
    dse_sim_at(sim, 3000000, t.actor, 0);
    expect_end(sim, SIM_FAILED, "at 3 us: an event at 2.999999 us, in the past");
    sim_free(sim);
}

static void give_up(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)object;
    (void)arg;
    char reason[] = "the cache is full";
    dse_sim_fail(sim, reason);
    reason[0] = 0;
    dse_sim_fail(sim, "later");
}

static void sim__the_first_failure_is_kept(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    const uint32_t a = dse_sim_actor(sim, give_up, NULL);
    for (dse_ps i = 0; i < 10; i++) dse_sim_at(sim, i, a, 0);
    expect_end(sim, SIM_FAILED, "the cache is full");
    assert_int_equal(sim_events(sim), 1);
    sim_free(sim);
}

static void sim__memory_is_zeroed_and_reused(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    for (int round = 0; round < 4; round++) {
        for (size_t n = 0; n < 100000; n = 2 * n + 1) {
            char *p = dse_sim_alloc(sim, n, 3);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t i = 0; i < 3 * n; i++) assert_int_equal(p[i], 0);
            memset(p, 0x55, 3 * n);
        }
        sim_reset(sim, NULL);
    }
    sim_free(sim);
}

static void sim__says_what_is_idealised(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = DSE_IDEAL_FIFOS | DSE_IDEAL_SYNC});
    int n = 0;
    for (; dse_ideal_names[n]; n++) assert_int_equal(dse_sim_ideal(sim, (enum dse_ideal)(1 << n)), n == 0 || n == 4);
    assert_int_equal(n, 5);
    struct dse_fifo *f = dse_fifo_new(sim, "f", 1);
    for (uint64_t i = 0; i < 1000; i++) assert_true(dse_fifo_put(f, i));
    sim_free(sim);
}

static void sim__notes_are_replaced_by_name(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    dse_sim_note(sim, "layer_time", "us", 3);
    dse_sim_note(sim, "row_hits", "", 0.5);
    dse_sim_note(sim, "layer_time", "us", 4);
    assert_int_equal(sim_notes(sim), 2);
    assert_string_equal(sim_note(sim, 0).name, "layer_time");
    assert_string_equal(sim_note(sim, 1).unit, "");
    assert_true(sim_note(sim, 0).value == 4);
    sim_free(sim);
}

/* ---- resources -------------------------------------------------------------------------------------------------------------- */

struct spans {
    struct sim_span span[16];
    size_t n, resources;
};

static void see_resource(void *object, uint32_t resource, const char *group, const char *name)
{
    struct spans *s = object;
    assert_int_equal(resource, s->resources++);
    assert_string_equal(group, resource ? "tile 0" : "");
    assert_string_equal(name, resource ? "mac" : "dma");
}

static void see_span(void *object, const struct sim_span *span)
{
    struct spans *s = object;
    s->span[s->n++] = *span;
}

static void change(struct dse_sim *sim, void *object, uint32_t arg)
{
    const enum dse_state *state = object;
    dse_resource_state(sim, 1, state[arg], arg % 2 ? "odd" : "even", state[arg] == DSE_BUSY ? (int64_t)arg : -1);
}

static void resource__times_add_up_to_the_elapsed_time(void **state)
{
    (void)state;
    struct spans spans = {0};
    const struct sim_recorder recorder = {.resource = see_resource, .span = see_span, .object = &spans};
    struct dse_sim *sim = sim_new(&(struct sim_options){.recorder = &recorder});
    enum dse_state states[] = {DSE_BUSY, DSE_STALL_INPUT, DSE_STALL_INPUT, DSE_IDLE, DSE_STALL_OUTPUT, DSE_BUSY, DSE_IDLE};
    const uint32_t a = dse_sim_actor(sim, change, states);
    dse_resource(sim, NULL, "dma");
    dse_resource(sim, "tile 0", "mac");
    static const dse_ps when[] = {10, 30, 35, 60, 70, 70, 100};
    for (uint32_t i = 0; i < 7; i++) dse_sim_at(sim, when[i], a, i);
    dse_sim_at(sim, 130, a, 6); /* no change */
    assert_true(dse_sim_run(sim));
    sim_finish(sim);
    static const dse_ps expected[] = {
        [DSE_IDLE] = 10 + 10 + 30, [DSE_BUSY] = 20 + 30, [DSE_STALL_INPUT] = 30, [DSE_STALL_OUTPUT] = 0};
    assert_int_equal(sim_resources(sim), 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct sim_resource r = sim_resource(sim, i);
        dse_ps sum = 0;
        double share = 0;
        for (int s = 0; s < DSE_STATES; s++) {
            sum += r.time[s];
            share += sim_resource_share(sim, i, (enum dse_state)s);
            if (i == 1) assert_int_equal(r.time[s], expected[s]);
        }
        assert_int_equal(sum, dse_sim_now(sim));
        assert_true(fabs(share - 1) < 1e-12);
    }
    /* busy 10-30, two waits for different things, busy 70-100; the state of no length is not told */
    static const dse_ps from[] = {10, 30, 35, 70}, to[] = {30, 35, 60, 100};
    static const int64_t id[] = {0, -1, -1, 5};
    assert_int_equal(spans.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(spans.span[i].resource, 1);
        assert_int_equal(spans.span[i].from, from[i]);
        assert_int_equal(spans.span[i].to, to[i]);
        assert_int_equal(spans.span[i].id, id[i]);
    }
    sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue__gives_events_in_order_of_time_then_of_arrival),
        cmocka_unit_test(queue__holds_any_time_up_to_the_last),
        cmocka_unit_test(sim__simultaneous_events_happen_in_the_order_of_scheduling),
        cmocka_unit_test(sim__an_endless_run_ends_at_the_limit_or_when_told),
        cmocka_unit_test(sim__time_does_not_overflow),
        cmocka_unit_test(sim__the_first_failure_is_kept),
        cmocka_unit_test(sim__memory_is_zeroed_and_reused),
        cmocka_unit_test(sim__says_what_is_idealised),
        cmocka_unit_test(sim__notes_are_replaced_by_name),
        cmocka_unit_test(resource__times_add_up_to_the_elapsed_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
