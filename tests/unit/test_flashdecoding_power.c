/* What GPU boards draw: the law against measured boards (tests/data/power), and its physics in the model (E17, E26, E27). */
#include "flashdecoding_test.h"
#include "rows.h"

#include <dse/power.h>

/* ---- against measured boards ------------------------------------------------------------------------------------------------- */

/* A regime of the measured rows, and its errors. */
struct regime {
    char name[64];
    double sum, size, n;
};
enum { REGIMES_MAX = 32 };

static void add_error(struct regime *list, const char *name, double error)
{
    size_t i = 0;
    while (i < REGIMES_MAX - 1 && *list[i].name && strcmp(list[i].name, name) != 0) i++;
    snprintf(list[i].name, sizeof list[i].name, "%s", name);
    list[i].sum += error;
    list[i].size += fabs(error);
    list[i].n++;
}

/* Every regime within the bounds; MAPE over all of them together. */
static void judge(const struct regime *list, double bias_max, double mean_max)
{
    double size = 0, n = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < REGIMES_MAX && *list[i].name; i++) {
        const double bias = list[i].sum / list[i].n, mean = list[i].size / list[i].n;
        print_message("%-44s %4.0f rows, bias %+6.1f %%, mean %5.1f %%\n", list[i].name, list[i].n, 100 * bias, 100 * mean);
        wrong += !(fabs(bias) <= bias_max);
        size += list[i].size;
        n += list[i].n;
    }
    print_message("%.0f rows, mean %.1f %%\n", n, 100 * size / n);
    assert_true(n > 0);
    assert_true(size / n <= mean_max);
    assert_int_equal(wrong, 0);
}

static const struct dse_gpu *gpu_of(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_GPU, name);
    if (!e) fail_msg("no gpu %s", name);
    return (const struct dse_gpu *)(const void *)e;
}

/* The law of a board, its operations of 16 or 8 bits. */
static struct dse_power_law law_of(const struct fd_params *p, const struct dse_gpu *gpu, double bits)
{
    const struct dse_gpu_shares shares = {p->awake_share, p->active_share, p->tensor_share};
    return dse_gpu_power_law(gpu, &shares, dse_gpu_idle_w(gpu), gpu->dram_pj_per_bit,
                             dse_gpu_way_pj_per_bit(p->economics.costs, gpu->make.kind, gpu->die_mm2),
                             gpu->tensor_tflops * 16 / bits);
}

/* Joules of a phase of the row. Kernels run as long as its bytes take at the rate that an engine reads them, and its operations at
 * the share of the peak that it reaches. */
static double phase_joules(const struct rows *r, size_t i, const char *phase, const struct fd_params *p)
{
    char name[32];
    const struct dse_gpu *gpu = gpu_of(rows_string(r, i, "gpu"));
    const double bits = rows_number(r, i, "number_bits");
    const struct dse_power_law law = law_of(p, gpu, bits);
    snprintf(name, sizeof name, "%s_s", phase);
    const double seconds = rows_number(r, i, name);
    snprintf(name, sizeof name, "%s_bytes", phase);
    if (!*rows_string(r, i, name)) return gpu->board_power_w * seconds; /* prompts of unknown length: compute bound, at the limit */
    const double bytes = rows_number(r, i, name);
    snprintf(name, sizeof name, "%s_ops", phase);
    const double ops = rows_number(r, i, name), peak = gpu->tensor_tflops * 1e12 * 16 / bits;
    const double busy = bytes / (gpu->bandwidth_gbs * 1e9 * p->linear_efficiency) + ops / (peak * p->compute_efficiency);
    const struct dse_activity a = {
        .seconds = seconds, .awake_s = seconds, .busy_s = fmin(seconds, busy), .bytes = bytes, .ops = ops};
    return dse_gpu_power_w(&law, &a, gpu->board_power_w) * seconds;
}

static const char *batch_class(double batch)
{
    return batch <= 16 ? "b<=16" : batch <= 128 ? "b<=128" : "b>128";
}

static void check_measured(const char *split, double bias_max, double mean_max)
{
    struct rows r;
    struct regime list[REGIMES_MAX] = {{.n = 0}};
    const struct fd_params p = point("engine=vllm power=activity");
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/power/gpus.csv");
    for (size_t i = 0; i < r.n; i++) {
        if (strcmp(rows_string(&r, i, "split"), split) != 0) continue;
        const double seconds = rows_number(&r, i, "decode_s") + rows_number(&r, i, "prefill_s");
        const double watts = (phase_joules(&r, i, "decode", &p) + phase_joules(&r, i, "prefill", &p)) / seconds;
        char name[64];
        snprintf(name, sizeof name, "%s %s %s %s", rows_string(&r, i, "source"), rows_string(&r, i, "gpu"),
                 rows_string(&r, i, "kind"), batch_class(rows_number(&r, i, "batch")));
        add_error(list, name, watts / rows_number(&r, i, "watts") - 1);
    }
    judge(list, bias_max, mean_max);
    rows_release(&r);
}

static void law__gives_what_the_boards_draw_that_it_was_fitted_to(void **state)
{
    (void)state;
    check_measured("calibrate", 0.10, 0.06);
}

static void law__gives_what_other_boards_and_llms_draw(void **state)
{
    (void)state;
    check_measured("test", 0.20, 0.15);
}

/* At the model's own rates: a served batch of an LLM of the catalog on one H100. Its times are up to twice as short as those of
 * vLLM under load, in which prompts of others take part (README.md). */
static void model__gives_what_an_h100_draws_at_its_own_rates(void **state)
{
    (void)state;
    struct rows r;
    struct regime list[REGIMES_MAX] = {{.n = 0}};
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/power/gpus.csv");
    for (size_t i = 0; i < r.n; i++) {
        const char *llm = rows_string(&r, i, "llm");
        if (strcmp(rows_string(&r, i, "gpu"), "h100") != 0 || strcmp(rows_string(&r, i, "task"), "lm-arena-chat") != 0) continue;
        if (rows_number(&r, i, "gpus") > 1 || (strcmp(llm, "llama3.1-8b") != 0 && strcmp(llm, "qwen3-8b") != 0)) continue;
        enum { PROMPT_AND_HALF = 550 };
        char *settings = xasprintf("power=activity engine=vllm gpu=h100 capacity_gib=1000 llm=%s batch=%.0f context=%d", llm,
                                   rows_number(&r, i, "batch"), PROMPT_AND_HALF);
        struct fd_params p = point(settings);
        char name[64];
        snprintf(name, sizeof name, "model, h100 dense %s", batch_class(rows_number(&r, i, "batch")));
        add_error(list, name, estimate(&p).common.power_w / rows_number(&r, i, "watts") - 1);
        free(settings);
    }
    judge(list, 0.20, 0.15);
    rows_release(&r);
}

/* The same boards at the rates that were measured: what a served step takes beyond the model's is time of the host. */
static void model__gives_what_boards_draw_at_measured_rates(void **state)
{
    (void)state;
    struct rows r;
    struct regime list[REGIMES_MAX] = {{.n = 0}};
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/power/gpus.csv");
    for (size_t i = 0; i < r.n; i++) {
        const char *llm = rows_string(&r, i, "llm"), *gpu = rows_string(&r, i, "gpu");
        if (strcmp(rows_string(&r, i, "task"), "lm-arena-chat") != 0 || rows_number(&r, i, "gpus") > 1) continue;
        if (strcmp(llm, "llama3.1-8b") != 0 && strcmp(llm, "qwen3-8b") != 0) continue;
        enum { PROMPT_AND_HALF = 550 };
        char *settings = xasprintf("power=activity engine=vllm gpu=%s capacity_gib=1000 llm=%s batch=%.0f context=%d", gpu, llm,
                                   rows_number(&r, i, "batch"), PROMPT_AND_HALF);
        struct fd_params p = point(settings);
        const double step_us = rows_number(&r, i, "decode_s") * 1e6;
        p.host_us = fmax(0, step_us - estimate(&p).common.latency_us);
        const struct fd_metrics m = estimate(&p);
        assert_true(p.host_us == 0 || fabs(m.common.latency_us / step_us - 1) < 1e-9);
        char name[64];
        snprintf(name, sizeof name, "model at measured times, %s dense %s", gpu, batch_class(rows_number(&r, i, "batch")));
        add_error(list, name, m.common.power_w / rows_number(&r, i, "watts") - 1);
        free(settings);
    }
    judge(list, 0.20, 0.15);
    rows_release(&r);
}

/* ---- the law ----------------------------------------------------------------------------------------------------------------- */

static void law__no_work_draws_idle_power(void **state)
{
    (void)state;
    const struct fd_params p = point("power=activity");
    const struct dse_power_law law = law_of(&p, p.gpu, 16);
    const struct dse_activity none = {.seconds = 3};
    assert_near(dse_gpu_power_w(&law, &none, 400), 60, 1e-12);
    const struct dse_activity all = {.seconds = 1, .awake_s = 1, .busy_s = 1, .bytes = 1.5e12, .ops = 300e12};
    assert_near(dse_gpu_power_w(&law, &all, 400), 400, 1e-12);
}

/* A board that nobody has measured idle has the share of those that were. */
static void idle__is_the_entrys_own_or_a_share_of_the_limit(void **state)
{
    (void)state;
    assert_near(point("gpu=h200").idle_w, 77, 1e-12);
    const struct fd_params p = point("gpu=rtx-4090");
    assert_true(isnan(p.gpu->power.idle_w));
    assert_true(p.idle_w > 0.1 * p.board_power_w && p.idle_w < 0.16 * p.board_power_w);
}

/* ---- physics of the model ---------------------------------------------------------------------------------------------------- */

static void random_points__keep_the_limit_and_their_parts_sum(void **state)
{
    (void)state;
    const struct fd_params base = point("power=activity");
    const struct model *m = registry_find("flashdecoding");
    int feasible = 0, limited = 0, slowed = 0;
    for (int i = 0; i < 20000; i++) {
        struct fd_params p;
        if (!random_point(m, &base, 0.2, &p)) continue;
        p.power = DSE_POWER_ACTIVITY;
        if (refusal(&p)) continue;
        struct fd_metrics at;
        struct dse_breakdown b = {.n = 0};
        dse_model_flashdecoding.estimate(&p, &at, &b);
        const double tokens = dse_workload_tokens(&p.workload), limit_w = p.board_power_w * fd_devices(&p);
        double parts = 0, causes = 0;
        for (int k = 0; k < b.n; k++) parts += b.part[k].depth == 0 ? b.part[k].energy_mj : 0;
        for (int k = 0; k < b.n_causes; k++) causes += b.cause[k].energy_mj;
        assert_near(parts, at.common.energy_mj * tokens, 1e-9);
        assert_near(causes, at.common.energy_mj * tokens, 1e-9);
        if (!(at.common.power_w <= limit_w * (1 + 1e-6) && at.common.power_w >= p.idle_w * fd_devices(&p)))
            fail_msg("%.12g of %.12g W", at.common.power_w, limit_w);
        assert_true(at.used_clock_ghz <= p.clock_ghz * (1 + 1e-12));
        feasible++;
        limited += at.common.power_w > limit_w * 0.999;
        slowed += at.used_clock_ghz < p.clock_ghz * (1 - 1e-9);
    }
    assert_true(feasible > 1000 && limited > 20 && slowed > 20);
}

static double cause(const struct fd_params *p, const char *name)
{
    struct fd_metrics m;
    struct dse_breakdown b = {.n = 0};
    dse_model_flashdecoding.estimate(p, &m, &b);
    for (int k = 0; k < b.n_causes; k++)
        if (strcmp(b.cause[k].name, name) == 0) return b.cause[k].energy_mj;
    fail_msg("no cause %s", name);
    return 0;
}

/* The same work on more SMs than it needs: clocks and leakage of the rest are paid, no byte and no operation. */
static void idle_units__cost_clocks_and_leakage_alone(void **state)
{
    (void)state;
    const struct fd_params few = point("power=activity engine=vllm batch=4"),
                           many = point("power=activity engine=vllm batch=4 sms=130");
    assert_near(estimate(&many).common.latency_us, estimate(&few).common.latency_us, 0.01);
    static const char *const work[] = {"operations", "dram", "interface", "idle"}, *const paid[] = {"awake", "active"};
    for (size_t i = 0; i < 4; i++) assert_near(cause(&many, work[i]), cause(&few, work[i]), 0.01);
    for (size_t i = 0; i < 2; i++) assert_near(cause(&many, paid[i]), 130 / 108.0 * cause(&few, paid[i]), 0.01);
}

/* A faster clock costs at least as much a token, but for what is drawn whatever is done: in prefill that time is saved. */
static void clock__is_never_free(void **state)
{
    (void)state;
    static const char *const steps[] = {"context=1024", "phase=prefill context=512", "batch=256 context=512 capacity_gib=500"};
    for (size_t i = 0; i < 3; i++) {
        double before = 0;
        for (double ghz = 0.4; ghz < 3; ghz += 0.1) {
            char *settings = xasprintf("power=activity gpu=h100 %s clock_ghz=%.1f", steps[i], ghz);
            const struct fd_params p = point(settings);
            const double work = cause(&p, "active") + cause(&p, "operations") + cause(&p, "dram") + cause(&p, "interface");
            if (!(work >= before * (1 - 1e-3))) fail_msg("%s: %g mJ below %g", settings, work, before);
            before = work;
            free(settings);
        }
    }
}

/* A board that is told to draw less is slower, by its clock first, and never asks for more than it is given. */
static void limit__lower_is_slower(void **state)
{
    (void)state;
    static const char *const steps[] = {"context=1024", "phase=prefill context=2048"};
    for (size_t i = 0; i < 2; i++) {
        double before = 0;
        for (int watts = 700; watts >= 100; watts -= 50) {
            char *settings = xasprintf("power=activity gpu=h100 %s board_power_w=%d", steps[i], watts);
            const struct fd_params p = point(settings);
            const struct fd_metrics m = estimate(&p);
            assert_true(m.common.power_w <= watts * (1 + 1e-6));
            assert_true(m.common.latency_us >= before * (1 - 1e-9));
            before = m.common.latency_us;
            free(settings);
        }
    }
    const struct fd_params none = point("power=activity gpu=h100 board_power_w=60");
    assert_string_equal(refusal(&none), "board_power_w is not above the device's power at its lowest clock");
    struct dse_shortage s;
    assert_true(dse_model_flashdecoding.shortage(&none, refusal(&none), &s));
    assert_true(s.there == 60 && s.needed > 77);
}

/* P. Patel et al., Splitwise, ISCA 2024: capping an H100 at 350 W leaves token generation as fast as it is, and prompts are slower.
 * */
static void limit__of_half_the_power_leaves_decode_as_fast(void **state)
{
    (void)state;
    static const char *const steps[] = {"context=1024", "phase=prefill context=1024"};
    double slower[2];
    for (size_t i = 0; i < 2; i++) {
        char *all = xasprintf("power=activity gpu=h100 %s", steps[i]), *half = xasprintf("%s board_power_w=350", all);
        const struct fd_params a = point(all), b = point(half);
        slower[i] = estimate(&b).common.latency_us / estimate(&a).common.latency_us;
        free(half);
        free(all);
    }
    assert_near(slower[0], 1, 0.02);
    assert_true(slower[1] > 1.1);
}

/* Waiting for launches and for other devices takes less power than work, and more energy. */
static void waiting__draws_less_and_costs_more(void **state)
{
    (void)state;
    const struct fd_params run = point("power=activity"), wait = point("power=activity launch_us=100");
    const struct fd_metrics a = estimate(&run), b = estimate(&wait);
    assert_true(b.common.power_w < a.common.power_w && b.common.energy_mj > a.common.energy_mj);
    assert_near(cause(&wait, "dram"), cause(&run, "dram"), 1e-9);
    assert_near(cause(&wait, "active"), cause(&run, "active"), 0.01);
    const struct fd_params near = point("power=activity tensor_parallel=8"),
                           far = point("power=activity tensor_parallel=8 link_latency_us=50");
    assert_true(estimate(&far).common.power_w < estimate(&near).common.power_w);
}

static void constant__is_the_boards_power_whatever_it_does(void **state)
{
    (void)state;
    static const char *const points[] = {"power=constant", "power=constant phase=prefill",
                                         "power=constant tensor_parallel=4 batch=64"};
    for (size_t i = 0; i < 3; i++) {
        const struct fd_params p = point(points[i]);
        const struct fd_metrics m = estimate(&p);
        const double watts = 400 * (double)p.workload.tensor_parallel;
        assert_true(m.common.power_w == watts);
        assert_near(m.common.energy_mj, watts * m.common.latency_us / 1e3 / dse_workload_tokens(&p.workload), 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law__gives_what_the_boards_draw_that_it_was_fitted_to),
        cmocka_unit_test(law__gives_what_other_boards_and_llms_draw),
        cmocka_unit_test(model__gives_what_an_h100_draws_at_its_own_rates),
        cmocka_unit_test(model__gives_what_boards_draw_at_measured_rates),
        cmocka_unit_test(law__no_work_draws_idle_power),
        cmocka_unit_test(idle__is_the_entrys_own_or_a_share_of_the_limit),
        cmocka_unit_test(random_points__keep_the_limit_and_their_parts_sum),
        cmocka_unit_test(idle_units__cost_clocks_and_leakage_alone),
        cmocka_unit_test(clock__is_never_free),
        cmocka_unit_test(limit__lower_is_slower),
        cmocka_unit_test(limit__of_half_the_power_leaves_decode_as_fast),
        cmocka_unit_test(waiting__draws_less_and_costs_more),
        cmocka_unit_test(constant__is_the_boards_power_whatever_it_does),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
