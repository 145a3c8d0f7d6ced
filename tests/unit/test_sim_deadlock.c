/* What a run says when it ends while somebody waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "sim_parts.h"

static struct fixed one = {.interval = 1000000, .latency = 1000000, .outputs = 1};

static void add(struct dse_sim *sim, const char *group, const char *name, struct dse_fifo *a, struct dse_fifo *b,
                struct dse_fifo *out)
{
    dse_stage_new(sim, &(struct dse_stage_spec){
                           .group = group, .name = name, .in = {a, b}, .out = {out}, .serve = serve_fixed, .object = &one});
}

static void deadlock__names_the_cycle(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *q = dse_fifo_new(sim, "query", 0), *scores = dse_fifo_new(sim, "scores", 4), *e = dse_fifo_new(sim, "exp", 1),
                    *done = dse_fifo_new(sim, "done", 0);
    /* the mac fills `scores` before the sfu gets what it needs beside them, which only comes from what the sfu gives */
    add(sim, "tile 0", "mac", q, NULL, scores);
    add(sim, "tile 0", "sfu", scores, e, done);
    dse_stage_new(sim, &(struct dse_stage_spec){
                           .group = "tile 0", .name = "norm", .in = {done}, .out = {e}, .serve = serve_fixed, .object = &one});
    fill(q, 8);
    expect_failure(
        sim, SIM_DEADLOCK,
        "deadlock at 5 us: tile 0/mac waits for room in fifo `scores` (4 of 4), taken by tile 0/sfu, which waits for an item in "
        "`exp` (empty), put by tile 0/norm, which is idle; 1 more wait");

    /* two that feed each other while a third fills the room between them */
    sim = sim_new(NULL);
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *there = dse_fifo_new(sim, "there", 1), *back = dse_fifo_new(sim, "back", 1);
    struct fixed fast = {.interval = 10, .latency = 10, .outputs = 1};
    add(sim, NULL, "first", in, NULL, there);
    dse_stage_new(sim, &(struct dse_stage_spec){.name = "a", .in = {there}, .out = {back}, .serve = serve_fixed, .object = &fast});
    add(sim, NULL, "b", back, NULL, there);
    fill(in, 9);
    expect_failure(
        sim, SIM_DEADLOCK,
        "deadlock at 5 us: first waits for room in fifo `there` (1 of 1), taken by a, which waits for room in fifo `back` (1 of "
        "1), taken by b, which waits for room in fifo `there` (1 of 1), taken by a: a cycle; 2 more wait");
}

static void deadlock__names_the_input_that_never_came(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *keys = dse_fifo_new(sim, "keys", 0), *values = dse_fifo_new(sim, "values", 0);
    add(sim, NULL, "attend", keys, values, NULL);
    fill(keys, 2);
    fill(values, 1);
    one.outputs = 0;
    assert_false(dse_sim_run(sim));
    one.outputs = 1;
    assert_string_equal(dse_sim_error(sim),
                        "deadlock at 1 us: attend waits for an item in `values` (empty), which no stage puts into");
    sim_free(sim);
}

static void deadlock__names_the_fifo_that_nobody_empties(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *out = dse_fifo_new(sim, "out", 2);
    add(sim, NULL, "writer", in, NULL, out);
    fill(in, 3);
    expect_failure(sim, SIM_DEADLOCK, "deadlock at 3 us: writer waits for room in fifo `out` (2 of 2), which no stage takes from");
}

static void serve_later(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)sim;
    (void)object;
    (void)in;
    (void)out;
    ret->later = true;
}

static void deadlock__names_the_stage_that_was_never_told(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0);
    dse_stage_new(sim, &(struct dse_stage_spec){.group = "HBM", .name = "read", .in = {in}, .serve = serve_later});
    fill(in, 1);
    expect_failure(sim, SIM_DEADLOCK, "deadlock at 0 us: HBM/read waits to be told that its item is done");
}

static void nothing(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)object;
    (void)arg;
}

static void deadlock__names_actors_that_wait(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        struct dse_sim *sim = sim_new(NULL);
        struct dse_fifo *in = dse_fifo_new(sim, "in", 1);
        const uint32_t actor = dse_sim_actor(sim, nothing, NULL);
        if (named) dse_sim_actor_name(sim, actor, "dispatcher");
        fill(in, 1);
        dse_fifo_when_room(in, actor, 0);
        expect_failure(sim, SIM_DEADLOCK,
                       named ? "deadlock at 0 us: dispatcher waits for room in fifo `in` (1 of 1), which no stage takes from"
                             : "deadlock at 0 us: actor 0 waits for room in fifo `in` (1 of 1), which no stage takes from");
        sim = sim_new(NULL);
        struct dse_fifo *a = dse_fifo_new(sim, "a", 1), *b = dse_fifo_new(sim, "b", 1);
        add(sim, NULL, "mac", a, NULL, b);
        const uint32_t other = dse_sim_actor(sim, nothing, NULL);
        dse_fifo_when_item(b, other, 0);
        expect_failure(sim, SIM_DEADLOCK, "deadlock at 0 us: actor 1 waits for an item in `b` (empty), put by mac, which is idle");
    }
}

static void deadlock__names_who_waits_at_a_barrier(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_barrier *b = dse_barrier_new(sim, "layer", 3);
    for (int i = 0; i < 5; i++) dse_barrier_arrive(b, dse_sim_actor(sim, nothing, NULL), 0);
    expect_failure(sim, SIM_DEADLOCK, "deadlock at 0 us: actor 3 waits at barrier `layer` (2 of 3 are there); 1 more wait");
}

static void deadlock__is_not_what_is_idle(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *in = dse_fifo_new(sim, "in", 0), *other = dse_fifo_new(sim, "other", 1), *out = dse_fifo_new(sim, "out", 3);
    add(sim, NULL, "mac", in, NULL, out);
    add(sim, NULL, "join", in, other, NULL); /* comes second, so it gets nothing */
    fill(in, 3);
    assert_true(dse_sim_run(sim));
    assert_null(dse_sim_error(sim));
    assert_int_equal(dse_fifo_size(out), 3); /* what lies in a FIFO that nobody takes from is fine, too */
    sim_free(sim);
}

static void deadlock__long_chains_are_cut(void **state)
{
    (void)state;
    struct dse_sim *sim = sim_new(NULL);
    struct dse_fifo *before = dse_fifo_new(sim, "f", 0);
    fill(before, 1000);
    for (int i = 0; i < 200; i++) {
        struct dse_fifo *after = dse_fifo_new(sim, "f", 1);
        add(sim, NULL, "s", before, NULL, after);
        before = after;
    }
    assert_false(dse_sim_run(sim));
    const char *error = dse_sim_error(sim);
    assert_non_null(strstr(error, "taken by s, and so on; 199 more wait"));
    assert_true(strlen(error) < 5000);
    sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlock__names_the_cycle),
        cmocka_unit_test(deadlock__names_the_input_that_never_came),
        cmocka_unit_test(deadlock__names_the_fifo_that_nobody_empties),
        cmocka_unit_test(deadlock__names_the_stage_that_was_never_told),
        cmocka_unit_test(deadlock__names_actors_that_wait),
        cmocka_unit_test(deadlock__names_who_waits_at_a_barrier),
        cmocka_unit_test(deadlock__is_not_what_is_idle),
        cmocka_unit_test(deadlock__long_chains_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
