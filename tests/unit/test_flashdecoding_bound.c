/* The bound of the flashdecoding model where it is more than an interval: what a limit does, what a row takes, how tight it is.
 * That it holds everywhere is test_bounds.c's. */
#include "flashdecoding_test.h"

struct bounds {
    struct metrics floor, ceiling;
};

/* Of the box between two points that differ in numbers. */
static struct bounds bound_of(const char *settings, const char *lo, const char *hi)
{
    char *low = xasprintf("%s %s", settings, lo), *high = xasprintf("%s %s", settings, hi);
    const struct point least = point(low), most = point(high);
    const struct dse_model *desc = least.model->desc;
    void *floor = xcalloc(1, desc->metrics_size), *ceiling = xcalloc(1, desc->metrics_size);
    assert_true(desc->bound(least.params, most.params, floor, ceiling));
    const struct bounds b = {metrics_of(least.model, floor), metrics_of(least.model, ceiling)};
    free(floor);
    free(ceiling);
    free(low);
    free(high);
    return b;
}

static void assert_between(double floor, double v, double ceiling, double slack)
{
    if (floor <= v * (1 + slack) && v <= ceiling * (1 + slack)) return;
    fail_msg("%.17g is not between %.17g and %.17g", v, floor, ceiling);
}

/* E30 neither grows nor falls with devices: a pair waits longer, switches add for more than two, boards without links share the
 * host. */
static void bound__of_measured_allreduces_holds_for_all_numbers_of_devices(void **state)
{
    (void)state;
    static const char *const cases[] = {"collectives=nccl gpu=h100 phase=prefill",
                                        "collectives=nccl phase=prefill linked_devices=2",
                                        "collectives=one-shot batch=16",
                                        "collectives=one-shot gpu=l40s batch=64 launch_us=30",
                                        "collectives=one-shot gpu=h100 linked_devices=2 system_devices=4",
                                        "collectives=ring phase=prefill linked_devices=2 system_devices=2"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bounds b = bound_of(cases[i], "tensor_parallel=1 link_gbs=100", "tensor_parallel=8 link_gbs=200");
        struct point p = point(cases[i]);
        set(&p, "link_gbs", 150);
        for (int devices = 1; devices <= 8; devices *= 2) {
            set(&p, "tensor_parallel", devices);
            const struct metrics m = estimated(&p);
            assert_between(b.floor.communication_us, m.communication_us, b.ceiling.communication_us, 0);
            assert_between(b.floor.energy_links_mj, m.energy_links_mj, b.ceiling.energy_links_mj, 0);
        }
    }
}

/* Of devices that all leave their system, and of devices of one, not only that time is not negative. */
static void bound__of_several_systems_is_as_tight_as_its_rates(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "gpu=h100 engine=vllm-0.14 llm=llama3.1-70b tensor_parallel=16",
        "gpu=l40s engine=vllm-0.14 llm=llama3.1-70b tensor_parallel=16 system_devices=4",
        "gpu=h100 engine=vllm-0.14 llm=mixtral-8x7b tensor_parallel=2 data_parallel=8 expert_parallel=8"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bounds b = bound_of(cases[i], "link_gbs=400", "link_gbs=440");
        struct point p = point(cases[i]);
        set(&p, "link_gbs", 420);
        const struct metrics m = estimated(&p);
        assert_between(b.floor.communication_us, m.communication_us, b.ceiling.communication_us, 0);
        assert_between(b.floor.energy_links_mj, m.energy_links_mj, b.ceiling.energy_links_mj, 0);
        assert_true(b.ceiling.communication_us < 1.1 * b.floor.communication_us);
    }
}

/* All clocks above that at which the limit is kept end at it: in time the box is one point, to what the search takes for a tie.
 * What the limit leaves of the energy of operations depends on the clock that was asked for. */
static void bound__of_clocks_above_the_limit_is_one_point(void **state)
{
    (void)state;
    static const char *const cases[] = {"power=activity batch=64 board_power_w=250", "power=activity batch=8 board_power_w=200",
                                        "power=activity gpu=h100 phase=prefill board_power_w=350",
                                        "power=activity batch=64 board_power_w=250 engine=vllm"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *at = xasprintf("%s clock_ghz=1.45", cases[i]);
        const struct point p = point(at);
        const struct metrics m = estimated(&p);
        const struct bounds b = bound_of(cases[i], "clock_ghz=1.4", "clock_ghz=1.5");
        assert_true(m.used_clock_ghz < 1.4);
        assert_between(b.floor.latency_us, m.latency_us, b.ceiling.latency_us, 1e-12);
        assert_between(b.floor.energy_mj, m.energy_mj, b.ceiling.energy_mj, 1e-12);
        assert_near(b.floor.latency_us, m.latency_us, 1e-9);
        assert_near(b.floor.energy_mj, m.energy_mj, 0.01);
        free(at);
    }
}

/* In a box whose weights or activations are narrow at some points alone, GEMMs compute in 16 bits at the others. */
static void bound__of_numbers_that_are_narrow_or_not_holds_in_every_format(void **state)
{
    (void)state;
    static const char *const formats[] = {"uniform", "fp8-blocks", "int4-linears", "mxfp4-experts", "checkpoint"};
    static const char *const llms[] = {"llama3.1-8b phase=prefill batch=64 context=64",
                                       "llama3.1-8b batch=256 quantizing=operators",
                                       "laguna-xs.2 phase=prefill context=4096 routing=uniform", "deepseek-v2-lite batch=64"};
    static const double bits[] = {3, 8, 15, 16};
    static const double tflops[] = {600, 989.4, 1500, 1979}, narrow[] = {0, 500, 1978.9, 3000};
    int known = 0;
    for (size_t i = 0; i < 64 * sizeof llms / sizeof *llms * (sizeof formats / sizeof *formats); i++) {
        char *same = xasprintf("llm=%s format=%s gpu=%s engine=vllm-0.14 capacity_gib=1000", llms[i / 320], formats[i / 64 % 5],
                               i / 64 % 2 ? "h100" : "a40");
        const struct bounds b = bound_of(same, "weight_bits=3 activation_bits=3 tensor_tflops=600 fp8_tflops=0",
                                         "weight_bits=16 activation_bits=16 tensor_tflops=1979 fp8_tflops=3000");
        struct point p = point(same);
        set(&p, "weight_bits", bits[i % 4]);
        set(&p, "activation_bits", bits[i / 4 % 4]);
        set(&p, "tensor_tflops", tflops[i / 16 % 4]);
        set(&p, "fp8_tflops", narrow[(i / 16 + i) % 4]);
        free(same);
        if (refusal(&p) || isnan(b.floor.latency_us)) continue;
        const struct metrics m = estimated(&p);
        assert_between(b.floor.latency_us, m.latency_us, b.ceiling.latency_us, 1e-12);
        assert_between(b.floor.energy_mj, m.energy_mj, b.ceiling.energy_mj, 1e-12);
        assert_between(b.floor.linear_us, m.linear_us, b.ceiling.linear_us, 1e-12);
        assert_between(b.floor.vendor_gemm_us, m.vendor_gemm_us, b.ceiling.vendor_gemm_us, 1e-12);
        assert_between(b.floor.library_gemm_us, m.library_gemm_us, b.ceiling.library_gemm_us, 1e-12);
        known++;
    }
    assert_true(known > 400);
}

/* One that varies only in what the closed form does not read is its point. */
static void bound__of_what_nothing_reads_is_the_estimate(void **state)
{
    (void)state;
    static const char *const cases[] = {"power=constant",
                                        "power=activity",
                                        "power=activity batch=16 engine=vllm-0.14",
                                        "power=activity gpu=h100 phase=prefill",
                                        "power=activity batch=48 engine=hugging-face",
                                        "power=activity tensor_parallel=4 batch=3 tile_n=32 split_positions=256"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct point p = point(cases[i]);
        const struct metrics m = estimated(&p);
        const struct bounds b = bound_of(cases[i], "seed=1", "seed=2");
        assert_near(b.floor.latency_us, m.latency_us, 1e-9);
        assert_near(b.ceiling.latency_us, m.latency_us, 1e-9);
        assert_near(b.floor.energy_mj, m.energy_mj, 1e-9);
        assert_near(b.ceiling.energy_mj, m.energy_mj, 1e-9);
    }
}

/* Over one axis the best of the bound is near the best there is: looseness that would cost a search most is noticed. Energy under a
 * limit is looser than time: what is held back of it is. */
static void bound__is_near_the_best_of_each_axis(void **state)
{
    (void)state;
    enum { STEPS = 16 };
    static const struct {
        const char *settings, *name;
        double from, to, time, energy; /* floors at least so much of the least value */
    } axes[] = {{"power=activity gpu=h100 batch=16", "sms", 80, 132, 0.999, 0.93},
                {"power=activity gpu=h100 batch=16", "clock_ghz", 1, 1.6, 0.999, 0.89},
                {"power=activity gpu=h100 batch=16", "bandwidth_gbs", 2000, 4000, 0.999, 0.85},
                {"power=activity gpu=h100 batch=16", "board_power_w", 350, 700, 0.999, 0.97},
                {"power=activity gpu=h100", "batch", 16, 32, 0.999, 0.98},
                {"power=activity gpu=h100 phase=prefill", "clock_ghz", 1, 1.6, 0.999, 0.63},
                {"power=activity gpu=h100 phase=prefill", "sms", 80, 132, 0.999, 0.61},
                {"power=activity gpu=h100 phase=prefill batch=4", "context", 1024, 2048, 0.99, 0.28},
                {"power=activity engine=vllm-0.14", "batch", 16, 32, 0.85, 0.68}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        double least_us = (double)INFINITY, least_mj = (double)INFINITY;
        for (int k = 0; k <= STEPS; k++) {
            const double v = axes[i].from + (axes[i].to - axes[i].from) * k / STEPS;
            char *at = xasprintf("%s %s=%g", axes[i].settings, axes[i].name, axes[i].to > 10 ? round(v) : v);
            const struct point p = point(at);
            const struct metrics m = estimated(&p);
            least_us = fmin(least_us, m.latency_us);
            least_mj = fmin(least_mj, m.energy_mj);
            free(at);
        }
        char *lo = xasprintf("%s=%g", axes[i].name, axes[i].from), *hi = xasprintf("%s=%g", axes[i].name, axes[i].to);
        const struct bounds b = bound_of(axes[i].settings, lo, hi);
        if (!(b.floor.latency_us >= axes[i].time * least_us && b.floor.energy_mj >= axes[i].energy * least_mj))
            fail_msg("%s over %s: floors are %g and %g of the least", axes[i].settings, axes[i].name, b.floor.latency_us / least_us,
                     b.floor.energy_mj / least_mj);
        free(lo);
        free(hi);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound__of_measured_allreduces_holds_for_all_numbers_of_devices),
        cmocka_unit_test(bound__of_several_systems_is_as_tight_as_its_rates),
        cmocka_unit_test(bound__of_clocks_above_the_limit_is_one_point),
        cmocka_unit_test(bound__of_numbers_that_are_narrow_or_not_holds_in_every_format),
        cmocka_unit_test(bound__of_what_nothing_reads_is_the_estimate),
        cmocka_unit_test(bound__is_near_the_best_of_each_axis),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
