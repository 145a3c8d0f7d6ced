/* Phases in turn, and what is simulated of a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dram_fixture.h"
#include "sim/sim.h"

#include <dse/program.h>

static struct entries memories;

enum { PHASES = 4, PHASE_PS = 1000 };

/* A phase takes a nanosecond; after the second one comes a pause of two. */
struct machine {
    struct dse_program on;
    struct dse_memory memory;
    struct dse_dram dram;
    struct dse_sim *sim;
    size_t lost; /* the phase that never ends; PHASES: none */
    dse_ps began[PHASES], ended[PHASES];
};

static void begin(void *object, size_t i)
{
    struct machine *m = object;
    m->began[i] = dse_sim_now(m->sim);
    if (i != m->lost) dse_sim_at(m->sim, m->began[i] + PHASE_PS, m->on.done, 0);
}

static double end(void *object, size_t i)
{
    struct machine *m = object;
    m->ended[i] = dse_sim_now(m->sim);
    return i == 1 ? 2e-9 : i == 2 ? 0 : DSE_AT_ONCE;
}

static bool machine_init(struct machine *m, double window_bytes)
{
    const struct dse_events events = {.seed = 7};
    *m = (struct machine){.memory = *(const struct dse_memory *)entries_find(&memories, "hbm-256"), .lost = PHASES};
    m->dram = fixture_dram(&m->memory);
    m->sim = sim_new(&(struct sim_options){0});
    return dse_program_init(&m->on, m->sim, &events, &m->dram, window_bytes);
}

static bool machine_run(struct machine *m)
{
    const struct dse_phases phases = {.model = "toy", .object = m, .begin = begin, .end = end};
    return dse_program_run(&m->on, &phases, PHASES);
}

static void phases__come_one_after_another(void **state)
{
    (void)state;
    struct machine m;
    assert_true(machine_init(&m, 65536));
    assert_true(machine_run(&m));
    static const dse_ps pause[PHASES] = {0, 0, 2000, 0}; /* before each */
    for (int i = 0; i < PHASES; i++) {
        assert_true(m.began[i] == (i > 0 ? m.ended[i - 1] : 0) + pause[i]);
        assert_true(m.ended[i] == m.began[i] + PHASE_PS);
    }
    sim_free(m.sim);
}

static void phases__that_never_end_fail_the_run(void **state)
{
    (void)state;
    for (size_t lost = 0; lost < PHASES; lost++) {
        struct machine m;
        assert_true(machine_init(&m, 65536));
        m.lost = lost;
        assert_false(machine_run(&m));
        assert_string_equal(dse_sim_error(m.sim), "toy: the phases did not come to their end");
        sim_free(m.sim);
    }
}

static void program__is_refused_without_a_dram_to_simulate(void **state)
{
    (void)state;
    struct machine m;
    machine_init(&m, 65536);
    sim_free(m.sim);
    m.sim = sim_new(&(struct sim_options){0});
    m.dram.timing.t_rcd_ns = (double)NAN;
    assert_false(dse_program_init(&m.on, m.sim, &(struct dse_events){0}, &m.dram, 65536));
    assert_non_null(dse_sim_error(m.sim));
    sim_free(m.sim);
}

/* A request is a turn over all channels, a quarter of the buffer at most, whole bursts, and at least one. */
static void chunks__are_of_the_buffer_and_of_bursts(void **state)
{
    (void)state;
    static const double windows[] = {1, 100, 1000, 5000, 1e6, 1e9};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        struct machine m;
        assert_true(machine_init(&m, windows[i]));
        const uint64_t burst = (uint64_t)m.dram.burst_bytes, turn = (uint64_t)(m.dram.channels * m.dram.timing.interleave_bytes);
        assert_true(m.on.window_bytes == (uint64_t)windows[i]);
        assert_true(m.on.chunk_bytes > 0 && m.on.chunk_bytes % burst == 0 && m.on.chunk_bytes <= turn);
        assert_true(m.on.chunk_bytes == burst || 4 * m.on.chunk_bytes <= m.on.window_bytes);
        assert_true(m.on.chunk_bytes == turn || 4 * (m.on.chunk_bytes + burst) > m.on.window_bytes);
        sim_free(m.sim);
    }
}

static void rooms__grow_and_are_used_again(void **state)
{
    (void)state;
    struct machine m;
    assert_true(machine_init(&m, 65536));
    struct dse_room one = {0}, other = {0};
    uint64_t at = dse_room_for(&m.on, &one, 1000, 0), beside = dse_room_for(&m.on, &other, 1000, 0);
    assert_true(beside >= at + 1000);
    assert_true(dse_room_for(&m.on, &one, 500, 0) == at && dse_room_for(&m.on, &one, 1000, 0) == at);
    assert_true(dse_room_for(&m.on, &one, 2000, 0) >= beside + 1000);
    sim_free(m.sim);
}

static void samples__share_the_rows(void **state)
{
    (void)state;
    const struct dse_sampling s = {.positions_simulated = 2, .rows_simulated = 65536}, all = {.positions_simulated = 2};
    struct dse_lengths l = {0};
    dse_lengths_plan(&l, &s, 8, 512, 512, 1);
    assert_true(l.n == 1 && l.at[0].positions == 512);
    assert_int_equal(dse_lengths_heads(&l, &s, 512, 1, 8, 1000), 64); /* keys and values */
    assert_int_equal(dse_lengths_heads(&l, &s, 512, 4, 8, 1000), 16);
    assert_int_equal(dse_lengths_heads(&l, &s, 512, 64, 8, 1000), 8);
    assert_int_equal(dse_lengths_heads(&l, &s, 512, 1, 8, 3), 3);
    assert_int_equal(dse_lengths_heads(&l, &all, 512, 1, 8, 1000), 1000);
    assert_int_equal(dse_layers_simulated(&(struct dse_events){.layers_simulated = 4}, 32), 4);
    assert_int_equal(dse_layers_simulated(&(struct dse_events){.layers_simulated = 40}, 32), 32);
    assert_int_equal(dse_layers_simulated(&(struct dse_events){0}, 32), 32);
}

static void paces__are_seen_once_for_a_ratio(void **state)
{
    (void)state;
    struct dse_paces p = {0};
    assert_true(dse_pace_known(&p, 2) == 0);
    dse_pace_see(&p, 2, 0); /* all of the stream was simulated */
    assert_true(p.n == 0);
    dse_pace_see(&p, 2, 5);
    dse_pace_see(&p, 2 * (1 + 1e-14), 6);
    dse_pace_see(&p, 3, 7);
    assert_true(p.n == 2 && dse_pace_known(&p, 2) == 5 && dse_pace_known(&p, 3) == 7 && dse_pace_known(&p, 4) == 0);
}

static void pours__of_a_known_pace_are_an_eighth_as_long(void **state)
{
    (void)state;
    struct machine m;
    assert_true(machine_init(&m, 65536));
    const struct dse_sampling s = {.stream_mib = 1}, whole = {0};
    struct dse_pour_spec first = dse_program_pour(&m.on, &s, 3e6, 0), later = dse_program_pour(&m.on, &s, 3e6, 1e-9);
    struct dse_pour_spec all = dse_program_pour(&m.on, &whole, 3e6, 0), little = dse_program_pour(&m.on, &s, 10.5, 0);
    assert_true(dse_pour_simulated(&first) == 1 << 20 && dse_pour_simulated(&later) == 1 << 17);
    assert_true(dse_pour_simulated(&all) == 3000000 && dse_pour_simulated(&little) == 11);
    sim_free(m.sim);
}

static void unit__keeps_steps_of_days_inside_of_a_run(void **state)
{
    (void)state;
    assert_true(dse_run_unit(1) == 1 && dse_run_unit(1e5) == 1);
    for (double s = 1; s < 1e15; s *= 3) assert_true(s / dse_run_unit(s) <= 1e5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases__come_one_after_another),
        cmocka_unit_test(phases__that_never_end_fail_the_run),
        cmocka_unit_test(program__is_refused_without_a_dram_to_simulate),
        cmocka_unit_test(chunks__are_of_the_buffer_and_of_bursts),
        cmocka_unit_test(rooms__grow_and_are_used_again),
        cmocka_unit_test(samples__share_the_rows),
        cmocka_unit_test(paces__are_seen_once_for_a_ratio),
        cmocka_unit_test(pours__of_a_known_pace_are_an_eighth_as_long),
        cmocka_unit_test(unit__keeps_steps_of_days_inside_of_a_run),
    };
    entries_read(&memories, dse_memory_fields, "memories.toml");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    entries_release(&memories);
    return failed;
}
