/* FlashDecoding++ at event level: blocks on the SMs of a GPU, waves of them, and what two buffers hide. */
#include "flashdecoding/flashdecoding_grid.h"
#include "flashdecoding_test.h"
#include "sim/sim.h"

static double seconds_of(const struct fd_grid_spec *spec)
{
    struct dse_sim *sim = sim_new(NULL);
    double s = fd_grid_seconds(sim, spec);
    sim_free(sim);
    return s;
}

/* Ten SMs of two slots; a block draws a twentieth of the bandwidth at most. */
static struct fd_grid_spec grid(const struct fd_blocks *blocks, size_t n)
{
    return (struct fd_grid_spec){
        .sms = 10, .resident = 2, .stream = 1e12, .block_stream = 5e10, .l2_stream = (double)INFINITY, .blocks = blocks, .n = n};
}

/* 10000 bytes of a step take a block 200 ns; computing takes two blocks of an SM 100 ns. */
static struct fd_blocks some_blocks(double count)
{
    return (struct fd_blocks){.count = count,
                              .steps = 10,
                              .dram = 1e4,
                              .l2 = 1e4,
                              .sm_s = 50e-9,
                              .latency_s = 600e-9,
                              .exposed = 0.25,
                              .buffers = FD_TWO_BUFFERS};
}

/* As many blocks as slots, or k times as many: whole waves, and nothing idle. One block more: one wave more, at what one block
 * can draw. */
static void waves__one_block_more_is_one_wave_more(void **state)
{
    (void)state;
    double wave = 600e-9 + 200e-9 + 9 * (200e-9 + 0.25 * 100e-9) + 100e-9;
    double alone = 600e-9 + 200e-9 + 9 * (200e-9 + 0.25 * 50e-9) + 50e-9;
    for (int k = 1; k <= 5; k++) {
        struct fd_blocks whole = some_blocks(20. * k), more = some_blocks(20. * k + 1), less = some_blocks(20. * k - 1);
        struct fd_grid_spec a = grid(&whole, 1), b = grid(&more, 1), c = grid(&less, 1);
        assert_near(seconds_of(&a), k * wave, 1e-9);
        assert_near(seconds_of(&b), k * wave + alone, 1e-9);
        assert_near(seconds_of(&c), k * wave, 1e-9); /* one slot of the last wave idles: each block has its cap already */
    }
}

/* Waves run as one are those run one by one. */
static void waves__may_be_taken_together(void **state)
{
    (void)state;
    struct fd_blocks together = some_blocks(87),
                     apart[] = {some_blocks(20), some_blocks(20), some_blocks(20), some_blocks(20), some_blocks(7)};
    struct fd_grid_spec a = grid(&together, 1), b = grid(apart, 5);
    assert_near(seconds_of(&a), seconds_of(&b), 1e-9);
}

/* Beyond FD_WAVES_APART waves the last one is not told apart: less than one of so many. */
static void waves__of_very_many_are_not_told_apart(void **state)
{
    (void)state;
    struct fd_blocks below = some_blocks(20. * FD_WAVES_APART), above = some_blocks(20. * FD_WAVES_APART + 1);
    struct fd_grid_spec a = grid(&below, 1), b = grid(&above, 1);
    double one = seconds_of(&a), other = seconds_of(&b);
    assert_true(other > one && other < one * (1 + 1. / FD_WAVES_APART));
}

/* No more comes from DRAM than it has, no SM computes more than it can, and no block is faster than by itself. */
static void blocks__of_all_kinds_keep_within_the_machine(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        struct fd_blocks kinds[6];
        double bytes = 0, work = 0, longest = 0;
        size_t n = 1 + (size_t)(uniform() * 6);
        for (size_t i = 0; i < n; i++) {
            struct fd_blocks b = some_blocks(1 + floor(uniform() * 70));
            b.steps = 1 + floor(uniform() * 30);
            b.dram = 1e3 + uniform() * 1e5;
            b.sm_s = uniform() * 1e-6;
            b.exposed = uniform();
            b.update = uniform();
            b.buffers = uniform() < 0.5 ? FD_TWO_BUFFERS : FD_ONE_BUFFER;
            kinds[i] = b;
            bytes += b.count * b.steps * b.dram;
            work += b.count * b.steps * b.sm_s;
            longest = fmax(longest, b.latency_s + b.steps * fmax(b.dram / 5e10, b.sm_s));
        }
        struct fd_grid_spec spec = grid(kinds, n);
        double s = seconds_of(&spec) * (1 + 1e-9);
        assert_true(s >= bytes / spec.stream && s >= work / spec.sms && s >= longest);
    }
}

/* Two buffers: load + (n - 1) of the longer + compute, so a step takes the longer of both as K grows. One: both, each step. */
static void double_buffering__leaves_the_longer_of_both(void **state)
{
    (void)state;
    double before = INFINITY;
    for (double steps = 1; steps <= 4096; steps *= 4) {
        struct fd_blocks two = some_blocks(20), one = some_blocks(20);
        two.steps = one.steps = steps;
        two.exposed = two.latency_s = one.latency_s = 0;
        one.buffers = FD_ONE_BUFFER;
        struct fd_grid_spec a = grid(&two, 1), b = grid(&one, 1);
        double each = seconds_of(&a) / steps;
        assert_near(each, 200e-9 + 100e-9 / steps, 1e-9);
        assert_near(seconds_of(&b) / steps, 300e-9, 1e-9);
        assert_true(each < before);
        before = each;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves__one_block_more_is_one_wave_more),
        cmocka_unit_test(waves__may_be_taken_together),
        cmocka_unit_test(waves__of_very_many_are_not_told_apart),
        cmocka_unit_test(blocks__of_all_kinds_keep_within_the_machine),
        cmocka_unit_test(double_buffering__leaves_the_longer_of_both),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
