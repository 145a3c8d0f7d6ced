/* Networks of stages, FIFOs and barriers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim_parts.h"

/* ---- closed forms ----------------------------------------------------------------------------------------------------------- */

static void stage__pipeline_follows_the_closed_form(void **state)
{
    (void)state;
    enum { N = 100, STAGES = 5 };
    static const dse_ps interval[STAGES] = {3, 10, 7, 10, 1}, latency[STAGES] = {30, 10, 700, 15, 2};
    static struct sink sink;
    struct dse_sim *sim = sim_new(NULL);
    struct fixed f[STAGES];
    struct dse_fifo *fifo[STAGES + 1];
    struct dse_stage *stage[STAGES];
    for (int i = 0; i <= STAGES; i++) fifo[i] = dse_fifo_new(sim, "f", i ? 2 : 0);
    for (int i = 0; i < STAGES; i++) {
        f[i] = (struct fixed){.interval = interval[i], .latency = latency[i]};
        stage[i] = add_fixed(sim, "stage", &f[i], fifo[i], fifo[i + 1], 0);
    }
    add_sink(sim, &sink, fifo[STAGES]);
    fill(fifo[0], N);
    assert_true(dse_sim_run(sim));
    /* item k comes out after the sum of latencies and k times the longest interval */
    assert_int_equal(sink.n, N);
    for (size_t k = 0; k < N; k++) {
        assert_int_equal(sink.item[k], k);
        assert_int_equal(sink.when[k], 30 + 10 + 700 + 15 + 2 + 10 * (dse_ps)k);
    }
    for (int i = 0; i < STAGES; i++) {
        assert_int_equal(dse_stage_served(stage[i]), N);
        assert_int_equal(dse_resource_time(sim, dse_stage_resource(stage[i]), DSE_BUSY), N * interval[i]);
    }
    sim_free(sim);
}

static void stage__of_one_item_at_a_time_is_busy_until_it_has_left(void **state)
{
    (void)state;
    static struct sink sink;
    struct dse_sim *sim = sim_new(NULL);
    struct fixed f = {.interval = 2, .latency = 10}; /* could take every 2, but has room for one */
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *out = dse_fifo_new(sim, "out", 1);
    struct dse_stage *s = add_fixed(sim, "s", &f, in, out, 1);
    add_sink(sim, &sink, out);
    fill(in, 20);
    assert_true(dse_sim_run(sim));
    for (size_t k = 0; k < 20; k++) assert_int_equal(sink.when[k], 10 * (dse_ps)(k + 1));
    assert_int_equal(dse_resource_time(sim, dse_stage_resource(s), DSE_BUSY), 200);
    sim_free(sim);
}

static void stage__stalls_on_input_only_between_its_first_and_its_last(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct fixed slow = {.interval = 10, .latency = 10}, fast = {.interval = 4, .latency = 4},
                 long_one = {.interval = 100, .latency = 100};
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *mid = dse_fifo_new(sim, "mid", 0), *other = dse_fifo_new(sim, "other", 0);
    add_fixed(sim, "slow", &slow, in, mid, 0);
    const uint32_t r = dse_stage_resource(add_fixed(sim, "fast", &fast, mid, NULL, 0));
    add_fixed(sim, "long", &long_one, other, NULL, 0);
    fill(in, 3);
    fill(other, 1);
    assert_true(dse_sim_run(sim));
    for (int finished = 0; finished < 2; finished++) { /* sim_finish changes no time */
        assert_int_equal(dse_resource_time(sim, r, DSE_BUSY), 12);
        assert_int_equal(dse_resource_time(sim, r, DSE_STALL_INPUT), 12);
        assert_int_equal(dse_resource_time(sim, r, DSE_IDLE), 10 + 66);
        sim_finish(sim);
    }
    sim_free(sim);
}

/* ---- back-pressure ---------------------------------------------------------------------------------------------------------- */

static void stage__a_full_output_stops_it_without_loss(void **state)
{
    (void)state;
    static struct sink sink;
    struct dse_sim *sim = sim_new(NULL);
    struct fixed fast = {.interval = 1, .latency = 5}, slow = {.interval = 10, .latency = 10};
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *mid = dse_fifo_new(sim, "mid", 3), *out = dse_fifo_new(sim, "out", 0);
    struct dse_stage *a = add_fixed(sim, "fast", &fast, in, mid, 4), *b = add_fixed(sim, "slow", &slow, mid, out, 0);
    add_sink(sim, &sink, out);
    fill(in, 50);
    assert_true(dse_sim_run(sim));
    assert_int_equal(sink.n, 50);
    for (size_t k = 0; k < 50; k++) {
        assert_int_equal(sink.item[k], k);
        assert_int_equal(sink.when[k], 5 + 10 * (dse_ps)(k + 1));
    }
    assert_int_equal(dse_fifo_peak(mid), 3);
    assert_int_equal(dse_fifo_peak(out), 1);
    assert_int_equal(dse_fifo_size(in) + dse_fifo_size(mid) + dse_fifo_size(out), 0);
    /* the fast one is done when its last item has room: when the slow one takes item 46 */
    assert_int_equal(dse_resource_time(sim, dse_stage_resource(a), DSE_BUSY) +
                         dse_resource_time(sim, dse_stage_resource(a), DSE_STALL_OUTPUT),
                     5 + 10 * 46);
    assert_int_equal(dse_resource_time(sim, dse_stage_resource(b), DSE_BUSY), 500);
    assert_int_equal(dse_resource_time(sim, dse_stage_resource(b), DSE_IDLE), 5);
    assert_int_equal(dse_sim_now(sim), 505);
    sim_free(sim);
}

static void fifo__refuses_when_full_and_when_empty(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *f = dse_fifo_new(sim, "f", 3);
    uint64_t item, next = 0;
    for (uint64_t round = 0; round < 100; round++) {
        assert_int_equal(dse_fifo_size(f), 0);
        assert_false(dse_fifo_get(f, &item));
        for (uint64_t i = 0; i < 3; i++) assert_true(dse_fifo_put(f, 3 * round + i));
        assert_false(dse_fifo_put(f, 0));
        for (int i = 0; i < 3; i++) {
            assert_true(dse_fifo_get(f, &item));
            assert_int_equal(item, next++);
        }
    }
    assert_int_equal(dse_fifo_peak(f), 3);
    sim_free(sim);
}

/* An actor that puts (arg 0) or takes (arg 1) five items, each as soon as it can. */
struct hand {
    struct dse_fifo *fifo;
    uint32_t actor;
    uint64_t done;
    dse_ps when[5];
};

static void move(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct hand *h = object;
    uint64_t item;
    if (arg == 0 ? dse_fifo_put(h->fifo, h->done) : dse_fifo_get(h->fifo, &item)) {
        if (arg == 1) assert_int_equal(item, h->done);
        h->when[h->done++] = dse_sim_now(sim);
        if (h->done < 5) dse_sim_at(sim, dse_sim_now(sim) + (arg == 0 ? 1 : 10), h->actor, arg);
    } else if (arg == 0) {
        dse_fifo_when_room(h->fifo, h->actor, arg);
    } else {
        dse_fifo_when_item(h->fifo, h->actor, arg);
    }
}

static void fifo__wakes_actors_that_wait(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *f = dse_fifo_new(sim, "f", 2);
    struct hand put = {.fifo = f}, take = {.fifo = f};
    put.actor = dse_sim_actor(sim, move, &put);
    take.actor = dse_sim_actor(sim, move, &take);
    dse_fifo_when_item(f, take.actor, 1);
    dse_sim_at(sim, 7, put.actor, 0);
    assert_true(dse_sim_run(sim));
    static const dse_ps puts[] = {7, 8, 9, 17, 27}, takes[] = {7, 17, 27, 37, 47};
    assert_memory_equal(put.when, puts, sizeof puts);
    assert_memory_equal(take.when, takes, sizeof takes);
    sim_free(sim);
}

/* ---- join and fork ---------------------------------------------------------------------------------------------------------- */

static void serve_sum(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)sim;
    (void)object;
    out[0] = in[0] + 1000 * in[1];
    ret->interval = ret->latency = 4;
    ret->outputs = 1;
}

static void stage__a_join_waits_for_all_its_inputs(void **state)
{
    (void)state;
    static struct sink sink;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *a = dse_fifo_new(sim, "a", 0), *raw = dse_fifo_new(sim, "raw", 0), *b = dse_fifo_new(sim, "b", 2),
                    *out = dse_fifo_new(sim, "out", 0);
    struct fixed slow = {.interval = 10, .latency = 10};
    add_fixed(sim, "slow", &slow, raw, b, 0);
    struct dse_stage *join =
        dse_stage_new(sim, &(struct dse_stage_spec){.name = "join", .in = {a, b}, .out = {out}, .serve = serve_sum});
    add_sink(sim, &sink, out);
    fill(a, 10);
    fill(raw, 10);
    assert_true(dse_sim_run(sim));
    assert_int_equal(sink.n, 10);
    for (size_t k = 0; k < 10; k++) {
        assert_int_equal(sink.item[k], 1001 * k);
        assert_int_equal(sink.when[k], 10 * (dse_ps)(k + 1) + 4);
    }
    const uint32_t r = dse_stage_resource(join);
    assert_int_equal(dse_resource_time(sim, r, DSE_BUSY), 40);
    assert_int_equal(dse_resource_time(sim, r, DSE_STALL_INPUT), 10 + 9 * 6);
    sim_free(sim);
}

/* Item k goes to output 0 when k is even, to 1 when it is divisible by 3; 5 and 7 go nowhere. */
static void serve_route(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)sim;
    (void)object;
    out[0] = in[0];
    out[1] = 100 + in[0];
    ret->interval = ret->latency = 1;
    ret->outputs = (in[0] % 2 == 0) | (in[0] % 3 == 0) << 1;
}

static void stage__a_fork_puts_into_each_output_what_is_meant_for_it(void **state)
{
    (void)state;
    static struct sink even, third;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *a = dse_fifo_new(sim, "a", 1), *b = dse_fifo_new(sim, "b", 1);
    struct dse_stage *s =
        dse_stage_new(sim, &(struct dse_stage_spec){.name = "route", .in = {in}, .out = {a, b}, .serve = serve_route});
    add_sink(sim, &even, a);
    add_sink(sim, &third, b);
    fill(in, 10);
    assert_true(dse_sim_run(sim));
    static const uint64_t evens[] = {0, 2, 4, 6, 8}, thirds[] = {100, 103, 106, 109};
    assert_int_equal(even.n, 5);
    assert_int_equal(third.n, 4);
    assert_memory_equal(even.item, evens, sizeof evens);
    assert_memory_equal(third.item, thirds, sizeof thirds);
    assert_int_equal(dse_stage_served(s), 10);
    sim_free(sim);
}

static void stage__a_fork_does_not_hold_one_output_back_for_another(void **state)
{
    (void)state;
    static struct sink slow_sink, sink;
    struct dse_sim *sim = sim_new(NULL);
    struct fixed both = {.interval = 1, .latency = 1, .outputs = 3}, slow = {.interval = 100, .latency = 100};
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *a = dse_fifo_new(sim, "a", 1), *b = dse_fifo_new(sim, "b", 1),
                    *c = dse_fifo_new(sim, "c", 0);
    dse_stage_new(sim, &(struct dse_stage_spec){.name = "fork", .in = {in}, .out = {a, b}, .serve = serve_fixed, .object = &both});
    add_fixed(sim, "slow", &slow, a, c, 0);
    add_sink(sim, &slow_sink, c);
    add_sink(sim, &sink, b);
    fill(in, 4);
    assert_true(dse_sim_run(sim));
    /* 0 is with the slow one at once, 1 waits in the FIFO, 2 waits for room there and has left for the other side, 3 waits behind
     * it */
    static const dse_ps when[] = {1, 2, 3, 102};
    assert_memory_equal(sink.when, when, sizeof when);
    assert_int_equal(slow_sink.when[3], 401);
    sim_free(sim);
}

static void stage__two_share_a_fifo_as_they_become_free(void **state)
{
    (void)state;
    static struct sink sink;
    struct dse_sim *sim = sim_new(NULL);
    struct fixed f[2] = {{.interval = 10, .latency = 10}, {.interval = 25, .latency = 25}};
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *out = dse_fifo_new(sim, "out", 1);
    struct dse_stage *a = add_fixed(sim, "a", &f[0], in, out, 0), *b = add_fixed(sim, "b", &f[1], in, out, 0);
    add_sink(sim, &sink, out);
    fill(in, 7);
    assert_true(dse_sim_run(sim));
    assert_int_equal(dse_stage_served(a), 5);
    assert_int_equal(dse_stage_served(b), 2);
    static const dse_ps when[] = {10, 20, 25, 30, 40, 50, 50};
    assert_memory_equal(sink.when, when, sizeof when);
    sim_free(sim);
}

/* ---- later ------------------------------------------------------------------------------------------------------------------ */

struct fetch {
    struct dse_stage *stage;
    uint32_t actor;
    bool at_once;
};

static void fetch_done(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    const struct fetch *f = object;
    dse_stage_done(f->stage);
}

/* Item k is ready k * 10 after it was taken; item 0 within serve() when at_once. */
static void serve_fetch(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    const struct fetch *f = object;
    out[0] = in[0];
    ret->outputs = 1;
    ret->later = true;
    ret->latency = 1000000; /* not looked at */
    if (in[0] == 0 && f->at_once)
        dse_stage_done(f->stage);
    else
        dse_sim_at(sim, dse_sim_now(sim) + 10 * (dse_ps)in[0], f->actor, 0);
}

static void stage__later_items_are_ready_when_told(void **state)
{
    (void)state;
    static struct sink sink;
    for (int at_once = 0; at_once < 2; at_once++) {
        struct dse_sim *sim = sim_new(NULL);
        struct fetch f = {.at_once = at_once};
        struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *out = dse_fifo_new(sim, "out", 1);
        f.actor = dse_sim_actor(sim, fetch_done, &f);
        f.stage = dse_stage_new(
            sim, &(struct dse_stage_spec){.name = "fetch", .in = {in}, .out = {out}, .serve = serve_fetch, .object = &f});
        add_sink(sim, &sink, out);
        fill(in, 5);
        assert_true(dse_sim_run(sim));
        static const dse_ps when[] = {0, 10, 30, 60, 100};
        assert_memory_equal(sink.when, when, sizeof when);
        assert_int_equal(dse_resource_time(sim, dse_stage_resource(f.stage), DSE_BUSY), 100);
        sim_free(sim);
    }
}

/* ---- barriers --------------------------------------------------------------------------------------------------------------- */

struct worker {
    struct dse_barrier *barrier;
    uint32_t actor, number, rounds;
    dse_ps passed[3];
};
static uint32_t order[16];
static size_t n_order;

enum { PASSED, ARRIVES };

static void work(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct worker *w = object;
    if (arg == ARRIVES) {
        dse_barrier_arrive(w->barrier, w->actor, PASSED);
        return;
    }
    order[n_order++] = w->number;
    w->passed[w->rounds++] = dse_sim_now(sim);
    if (w->rounds < 3) dse_sim_at(sim, dse_sim_now(sim) + 10 + (w->number + w->rounds) % 3, w->actor, ARRIVES);
}

static void barrier__opens_for_all_in_order_of_arrival_and_starts_again(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_barrier *b = dse_barrier_new(sim, "b", 3);
    struct worker w[3];
    static const dse_ps first[] = {5, 9, 7};
    n_order = 0;
    for (uint32_t i = 0; i < 3; i++) {
        w[i] = (struct worker){.barrier = b, .number = i, .actor = dse_sim_actor(sim, work, &w[i])};
        dse_sim_at(sim, first[i], w[i].actor, ARRIVES);
    }
    assert_true(dse_sim_run(sim));
    static const uint32_t expected[] = {0, 2, 1, 2, 0, 1, 1, 2, 0}; /* then after 11, 12, 10 and 12, 10, 11 */
    assert_int_equal(n_order, 9);
    assert_memory_equal(order, expected, sizeof expected);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(w[i].passed[0], 9);
        assert_int_equal(w[i].passed[1], 9 + 12);
        assert_int_equal(w[i].passed[2], 9 + 12 + 12);
    }
    sim_free(sim);
}

/* ---- no time -------------------------------------------------------------------------------------------------------------- */

static void stage__that_takes_no_time_takes_all(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct fixed at_once = {0};
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *out = dse_fifo_new(sim, "out", 0);
    struct dse_stage *s = add_fixed(sim, "s", &at_once, in, out, 0);
    fill(in, 10000);
    assert_true(dse_sim_run(sim));
    assert_int_equal(dse_stage_served(s), 10000);
    assert_int_equal(dse_fifo_size(out), 10000);
    assert_int_equal(dse_sim_now(sim), 0);
    sim_free(sim);
}

static void stage__that_feeds_itself_in_no_time_meets_the_limit_of_events(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(&(struct sim_options){.events_max = 1000});
    struct fixed at_once = {0};
    struct dse_fifo *loop = dse_fifo_new(sim, "loop", 0);
    add_fixed(sim, "s", &at_once, loop, loop, 0);
    fill(loop, 1);
    expect_failure(sim, SIM_EVENTS_MAX, "at 0 us: no end after 1,000 events");
}

/* ---- networks built wrongly ------------------------------------------------------------------------------------------------- */

static struct dse_sim *wrong_service(struct fixed *f, unsigned outputs)
{
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *out = dse_fifo_new(sim, "out", 0);
    f->outputs = outputs;
    dse_stage_new(sim, &(struct dse_stage_spec){
                           .group = "tile 2", .name = "mac", .in = {in}, .out = {out}, .serve = serve_fixed, .object = f});
    fill(in, 1);
    return sim;
}

static void sim__a_network_built_wrongly_fails_at_once(void **state)
{
    (void)state;
    struct fixed f = {0};
    expect_failure(wrong_service(&f, 2), SIM_FAILED, "stage tile 2/mac: puts into an output that it does not have");
    f.latency = -1;
    expect_failure(wrong_service(&f, 1), SIM_FAILED, "stage tile 2/mac: a time below 0");
    f.latency = INT64_MAX;
    expect_failure(wrong_service(&f, 1), SIM_FAILED, "stage tile 2/mac: a time beyond the end of time (53 days)");

    struct dse_sim *sim = sim_new(NULL);
    dse_stage_new(sim, &(struct dse_stage_spec){.name = "mac", .serve = serve_fixed, .object = &f});
    expect_failure(sim, SIM_FAILED, "stage mac: has no input");

    sim = sim_new(NULL);
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0);
    dse_stage_new(sim, &(struct dse_stage_spec){.name = "mac", .in = {in, in}, .serve = serve_fixed, .object = &f});
    expect_failure(sim, SIM_FAILED, "stage mac: takes from one FIFO twice");

    sim = sim_new(NULL);
    struct dse_stage *s = dse_stage_new(
        sim, &(struct dse_stage_spec){.name = "mac", .in = {dse_fifo_new(sim, "in", 0)}, .serve = serve_fixed, .object = &f});
    dse_stage_done(s);
    expect_failure(sim, SIM_FAILED, "stage mac: told that an item is done that it does not have");

    sim = sim_new(NULL);
    dse_barrier_new(sim, "layer", 0);
    expect_failure(sim, SIM_FAILED, "barrier `layer` is of nobody");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stage__pipeline_follows_the_closed_form),
        cmocka_unit_test(stage__of_one_item_at_a_time_is_busy_until_it_has_left),
        cmocka_unit_test(stage__stalls_on_input_only_between_its_first_and_its_last),
        cmocka_unit_test(stage__a_full_output_stops_it_without_loss),
        cmocka_unit_test(fifo__refuses_when_full_and_when_empty),
        cmocka_unit_test(fifo__wakes_actors_that_wait),
        cmocka_unit_test(stage__a_join_waits_for_all_its_inputs),
        cmocka_unit_test(stage__a_fork_puts_into_each_output_what_is_meant_for_it),
        cmocka_unit_test(stage__a_fork_does_not_hold_one_output_back_for_another),
        cmocka_unit_test(stage__two_share_a_fifo_as_they_become_free),
        cmocka_unit_test(stage__later_items_are_ready_when_told),
        cmocka_unit_test(barrier__opens_for_all_in_order_of_arrival_and_starts_again),
        cmocka_unit_test(stage__that_takes_no_time_takes_all),
        cmocka_unit_test(stage__that_feeds_itself_in_no_time_meets_the_limit_of_events),
        cmocka_unit_test(sim__a_network_built_wrongly_fails_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
