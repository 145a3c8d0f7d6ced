/* dse/model.h: metrics and parts made from SI units. */
#include <dse/hw.h>
#include <dse/model.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void totals__are_told_by_the_token_the_step_and_the_second(void **state)
{
    (void)state;
    struct dse_totals t = {.tokens = 4, .seconds = 0.5, .attention_s = 0.25, .joules = 2, .bytes = 8 * 1048576.0, .ops = 1e9};
    t.peak_ops = 4e9;
    t.peak_bytes = 32 * 1048576.0;
    t.bound = DSE_BOUND_DRAM;
    struct dse_common m = dse_common_of(&t);
    assert_true(m.tokens_per_s == 8 && m.latency_us == 5e5 && m.attention_us == 2.5e5);
    assert_true(m.energy_mj == 500 && m.power_w == 4 && m.dram_mib == 2);
    assert_true(m.compute_utilization == 0.5 && m.dram_utilization == 0.5 && m.bound == DSE_BOUND_DRAM);
}

static void bound__is_that_of_the_larger_share_and_of_equal_ones_the_first(void **state)
{
    (void)state;
    assert_int_equal(dse_bound_of(1, 1, 1), DSE_BOUND_COMPUTE);
    assert_int_equal(dse_bound_of(0, 1, 1), DSE_BOUND_DRAM);
    assert_int_equal(dse_bound_of(1, 0, 1), DSE_BOUND_COMPUTE);
    assert_int_equal(dse_bound_of(1, 2, 3), DSE_BOUND_LATENCY);
}

static void parts__draw_what_the_machine_and_its_dram_draw(void **state)
{
    (void)state;
    struct dse_dram dram = {.dram_pj_per_bit = 10};
    struct dse_breakdown b = {0};
    struct dse_parts machine = {.breakdown = &b, .watts = 3, .dram = &dram}, board = {.breakdown = &b, .watts = 3};
    dse_parts_add(&machine, "loads", 0, "dram", 2, 1e9, 5);
    dse_parts_add(&board, "loads", 1, "dram", 2, 1e9, 5);
    dse_parts_add(&machine, "behind", 1, "dram", 0, 1e9, 5);
    assert_int_equal(b.n, 3);
    double of_dram = dse_dram_joules(&dram, 1e9);
    assert_true(of_dram > 0);
    assert_true(b.part[0].energy_mj == (6 + of_dram) * 1e3 && b.part[1].energy_mj == 6e3 && b.part[2].energy_mj == of_dram * 1e3);
    assert_true(b.part[0].time_us == 2e6 && b.part[0].dram_bytes == 1e9 && b.part[0].ops == 5 && b.part[1].depth == 1);
    assert_string_equal(b.part[0].bound, "dram");
    assert_string_equal(b.part[2].bound, "hidden"); /* no time of its own */
    dse_breakdown_cause(&b, "leakage", 2);
    dse_breakdown_cause(NULL, "nobody asks", 2);
    assert_true(b.n_causes == 1 && b.cause[0].energy_mj == 2e3);
    machine.breakdown = NULL;
    dse_parts_add(&machine, "nobody asks", 0, "dram", 1, 1, 1);
    assert_int_equal(b.n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals__are_told_by_the_token_the_step_and_the_second),
        cmocka_unit_test(bound__is_that_of_the_larger_share_and_of_equal_ones_the_first),
        cmocka_unit_test(parts__draw_what_the_machine_and_its_dram_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
