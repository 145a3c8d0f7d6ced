/* What GPU boards draw: the law against measured boards (tests/data/power), and its physics in the model (E17, E26, E27). */
#include "flashdecoding_test.h"
#include "rows.h"

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

/* What a board does, its operations of 16 or 8 bits. Units are at work for busy_s of the seconds. */
struct activity {
    double seconds, busy_s, bytes, ops, bits;
};

/* E26, with the limit at the rates that are given, which were measured on boards that keep it. */
static double watts_of(const struct point *board, const struct activity *a)
{
    const double limit_w = get(board, "board_power_w"), idle_w = get(board, "idle_w"), range_w = limit_w - idle_w;
    const double bit_pj = get(board, "dram_pj_per_bit") + get(board, "way_pj_per_bit");
    const double peak = get(board, "tensor_tflops") * 1e12 * 16 / a->bits;
    const double joules = (idle_w + range_w * get(board, "awake_share")) * a->seconds +
                          range_w * get(board, "active_share") * a->busy_s + 8e-12 * bit_pj * a->bytes +
                          range_w * get(board, "tensor_share") * a->ops / peak;
    return fmin(limit_w, joules / a->seconds);
}

static struct point board_named(const char *name)
{
    char *settings = xasprintf("engine=vllm power=activity gpu=%s", name);
    const struct point p = point(settings);
    free(settings);
    return p;
}

/* Joules of a phase of the row. Kernels run as long as its bytes take at the rate that an engine reads them, and its operations at
 * the share of the peak that it reaches. */
static double phase_joules(const struct rows *r, size_t i, const char *phase)
{
    char name[32];
    const struct point board = board_named(rows_string(r, i, "gpu"));
    struct activity a = {.bits = rows_number(r, i, "number_bits")};
    snprintf(name, sizeof name, "%s_s", phase);
    a.seconds = rows_number(r, i, name);
    snprintf(name, sizeof name, "%s_bytes", phase);
    /* Prompts of unknown length: compute bound, at the limit. */
    if (!*rows_string(r, i, name)) return get(&board, "board_power_w") * a.seconds;
    a.bytes = rows_number(r, i, name);
    snprintf(name, sizeof name, "%s_ops", phase);
    a.ops = rows_number(r, i, name);
    const double peak = get(&board, "tensor_tflops") * 1e12 * 16 / a.bits;
    const double busy = a.bytes / (get(&board, "bandwidth_gbs") * 1e9 * get(&board, "linear_efficiency")) +
                        a.ops / (peak * get(&board, "compute_efficiency"));
    a.busy_s = fmin(a.seconds, busy);
    return watts_of(&board, &a) * a.seconds;
}

static const char *batch_class(double batch)
{
    return batch <= 16 ? "b<=16" : batch <= 128 ? "b<=128" : "b>128";
}

static void check_measured(const char *split, double bias_max, double mean_max)
{
    struct rows r;
    struct regime list[REGIMES_MAX] = {{.n = 0}};
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/power/gpus.csv");
    for (size_t i = 0; i < r.n; i++) {
        if (strcmp(rows_string(&r, i, "split"), split) != 0) continue;
        const double seconds = rows_number(&r, i, "decode_s") + rows_number(&r, i, "prefill_s");
        const double watts = (phase_joules(&r, i, "decode") + phase_joules(&r, i, "prefill")) / seconds;
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
        struct point p = point(settings);
        char name[64];
        snprintf(name, sizeof name, "model, h100 dense %s", batch_class(rows_number(&r, i, "batch")));
        add_error(list, name, estimated(&p).power_w / rows_number(&r, i, "watts") - 1);
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
        struct point p = point(settings);
        const double step_us = rows_number(&r, i, "decode_s") * 1e6;
        set(&p, "host_us", fmax(0, step_us - estimated(&p).latency_us));
        const struct metrics m = estimated(&p);
        assert_true(get(&p, "host_us") == 0 || fabs(m.latency_us / step_us - 1) < 1e-9);
        char name[64];
        snprintf(name, sizeof name, "model at measured times, %s dense %s", gpu, batch_class(rows_number(&r, i, "batch")));
        add_error(list, name, m.power_w / rows_number(&r, i, "watts") - 1);
        free(settings);
    }
    judge(list, 0.20, 0.15);
    rows_release(&r);
}

/* ---- the law ----------------------------------------------------------------------------------------------------------------- */

static void law__no_work_draws_idle_power(void **state)
{
    (void)state;
    struct point board = board_named("a100-80gb");
    const struct activity all = {.seconds = 1, .busy_s = 1, .bytes = 1.5e12, .ops = 300e12, .bits = 16};
    struct activity none = {.seconds = 3, .bits = 16};
    assert_near(watts_of(&board, &all), 400, 1e-12);
    set(&board, "awake_share", 0);
    assert_near(watts_of(&board, &none), 60, 1e-12);
}

/* A board that nobody has measured idle has the share of those that were. */
static void idle__is_the_entrys_own_or_a_share_of_the_limit(void **state)
{
    (void)state;
    const struct point board = point("gpu=h200");
    assert_near(get(&board, "idle_w"), 77, 1e-12);
    const struct point p = point("gpu=rtx-4090");
    assert_true(isnan(board_of(&p)->power.idle_w));
    assert_true(get(&p, "idle_w") > 0.1 * get(&p, "board_power_w") && get(&p, "idle_w") < 0.16 * get(&p, "board_power_w"));
}

/* ---- physics of the model ---------------------------------------------------------------------------------------------------- */

static void random_points__keep_the_limit_and_their_parts_sum(void **state)
{
    (void)state;
    const struct point base = point("power=activity");
    int feasible = 0, limited = 0, slowed = 0;
    for (int i = 0; i < 20000; i++) {
        struct point p;
        if (!random_near(&base, 0.2, &p)) continue;
        choose(&p, "power", "activity");
        if (refusal(&p)) continue;
        struct dse_breakdown b;
        const struct metrics at = broken_down(&p, &b);
        const double tokens = dse_workload_tokens(work_of(&p)), limit_w = get(&p, "board_power_w") * devices_of(&p);
        double parts = 0, causes = 0;
        for (int k = 0; k < b.n; k++) parts += b.part[k].depth == 0 ? b.part[k].energy_mj : 0;
        for (int k = 0; k < b.n_causes; k++) causes += b.cause[k].energy_mj;
        assert_near(parts, at.energy_mj * tokens, 1e-9);
        assert_near(causes, at.energy_mj * tokens, 1e-9);
        if (!(at.power_w <= limit_w * (1 + 1e-6) && at.power_w >= get(&p, "idle_w") * devices_of(&p)))
            fail_msg("%.12g of %.12g W", at.power_w, limit_w);
        assert_true(at.used_clock_ghz <= get(&p, "clock_ghz") * (1 + 1e-12));
        feasible++;
        limited += at.power_w > limit_w * 0.999;
        slowed += at.used_clock_ghz < get(&p, "clock_ghz") * (1 - 1e-9);
    }
    assert_true(feasible > 1000 && limited > 20 && slowed > 20);
}

static double cause(const struct point *p, const char *name)
{
    const struct dse_breakdown b = parts_of(p);
    for (int k = 0; k < b.n_causes; k++)
        if (strcmp(b.cause[k].name, name) == 0) return b.cause[k].energy_mj;
    fail_msg("no cause %s", name);
    return 0;
}

/* The same work on more SMs than it needs: clocks and leakage of the rest are paid, no byte and no operation. */
static void idle_units__cost_clocks_and_leakage_alone(void **state)
{
    (void)state;
    const struct point few = point("power=activity engine=vllm batch=4"),
                       many = point("power=activity engine=vllm batch=4 sms=130");
    assert_near(estimated(&many).latency_us, estimated(&few).latency_us, 0.01);
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
            const struct point p = point(settings);
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
            const struct point p = point(settings);
            const struct metrics m = estimated(&p);
            assert_true(m.power_w <= watts * (1 + 1e-6));
            assert_true(m.latency_us >= before * (1 - 1e-9));
            before = m.latency_us;
            free(settings);
        }
    }
    const struct point none = point("power=activity gpu=h100 board_power_w=60");
    assert_string_equal(refusal(&none), "board_power_w is not above the device's power at its lowest clock");
    struct dse_shortage s;
    assert_true(none.model->desc->shortage(none.params, refusal(&none), &s));
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
        const struct point a = point(all), b = point(half);
        slower[i] = estimated(&b).latency_us / estimated(&a).latency_us;
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
    const struct point run = point("power=activity"), wait = point("power=activity launch_us=100");
    const struct metrics a = estimated(&run), b = estimated(&wait);
    assert_true(b.power_w < a.power_w && b.energy_mj > a.energy_mj);
    assert_near(cause(&wait, "dram"), cause(&run, "dram"), 1e-9);
    assert_near(cause(&wait, "active"), cause(&run, "active"), 0.01);
    const struct point near = point("power=activity tensor_parallel=8"),
                       far = point("power=activity tensor_parallel=8 link_latency_us=50");
    assert_true(estimated(&far).power_w < estimated(&near).power_w);
}

static void constant__is_the_boards_power_whatever_it_does(void **state)
{
    (void)state;
    static const char *const points[] = {"power=constant", "power=constant phase=prefill",
                                         "power=constant tensor_parallel=4 batch=64"};
    for (size_t i = 0; i < 3; i++) {
        const struct point p = point(points[i]);
        const struct metrics m = estimated(&p);
        const double watts = 400 * get(&p, "tensor_parallel");
        assert_true(m.power_w == watts);
        assert_near(m.energy_mj, watts * m.latency_us / 1e3 / dse_workload_tokens(work_of(&p)), 1e-12);
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
