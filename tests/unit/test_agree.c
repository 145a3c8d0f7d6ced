/* agree/agree.h: which points are drawn, and what is said of them. The causes of the toy's differences are known. */
#include "agree/agree.h"
#include "complaints.h"
#include "toy_model.h"

#include "base/xalloc.h"
#include "space/point.h"

#include <math.h>
#include <stdlib.h>
#include <sys/time.h>

static struct catalog *catalog;
static struct diags diags;

static int set_up(void **state)
{
    (void)state;
    setenv("DSE_DATA_DIR", toy_data_dir(), 1);
    diags_init(&diags);
    catalog = catalog_new(toy_data_dir(), &diags);
    return catalog ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    diags_release(&diags);
    registry_release();
    return 0;
}

static struct agreement agree_at(uint64_t points, uint64_t seed, const char *const *assignments, size_t n)
{
    struct agree_options o = {.points = points, .seed = seed, .assignments = assignments, .n_assignments = n, .threads = 2};
    struct agreement a;
    assert_true(agree(registry_find("toy"), catalog, &o, &a, &diags));
    assert_int_equal(diags.errors, 0);
    assert_int_equal(a.n, points);
    return a;
}

/* "--set a=1 --set b=2" as assignments; `text` is cut up. */
static size_t split(char *text, const char **ret)
{
    size_t n = 0;
    for (char *rest, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (strcmp(word, "--set") != 0) ret[n++] = word;
    return n;
}

static void agree__a_point_is_shown_again_by_its_command(void **state)
{
    (void)state;
    struct agreement a = agree_at(20, 1, NULL, 0);
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, NULL);
    for (size_t i = 0; i < a.n; i++) {
        const char *assignments[64];
        char *text = xstrdup(a.points[i].settings);
        size_t n = split(text, assignments);
        struct design_point p;
        assert_true(design_point_init(&p, a.model, catalog, assignments, n, &diags));
        assert_null(p.reason);
        struct toy_metrics closed, events;
        a.model->desc->estimate(p.params, &closed, NULL);
        assert_int_equal(runner_run(r, a.model->desc, p.params, &events, NULL), RUN_DONE);
        assert_true(a.points[i].metric[AGREE_LATENCY] ==
                    (events.common.latency_us - closed.common.latency_us) / closed.common.latency_us);
        assert_true(a.points[i].metric[AGREE_DRAM] == (events.common.dram_mib - closed.common.dram_mib) / closed.common.dram_mib);
        assert_true(isnan(a.points[i].metric[AGREE_ENERGY]));
        design_point_release(&p);
        free(text);
    }
    runner_free(r);
    agreement_release(&a);
}

/* Near the defaults: within the factor, names of any kind, contexts from short to what the LLM was made for; calibrated constants
 * and what an entry sets as they are. */
static void agree__points_are_near_the_defaults(void **state)
{
    (void)state;
    struct agreement a = agree_at(300, 1, NULL, 0);
    size_t small = 0, eight = 0, short_context = 0, long_context = 0, seeds = 0;
    for (size_t i = 0; i < a.n; i++) {
        const char *assignments[64];
        char *text = xstrdup(a.points[i].settings);
        size_t n = split(text, assignments);
        struct design_point point;
        assert_true(design_point_init(&point, a.model, catalog, assignments, n, &diags));
        const struct toy_params *p = point.params;
        assert_true(p->tiles >= 1 && p->tiles <= 12 && p->batch <= 3 && p->overhead_us == 0.25);
        assert_true(p->clock_ghz > 0.16 && p->clock_ghz < 1.51 && p->sram_mib > 0.66 && p->sram_mib < 6.01);
        assert_true(p->channels == p->memory->channels && p->context >= AGREE_CONTEXT_MIN && p->context <= p->llm->max_context);
        assert_int_equal(p->events.layers_simulated, 0);
        small += strcmp(p->llm->entry.name, "small") == 0;
        eight += p->channels == 8;
        short_context += p->context < 200;
        long_context += p->context > 2000;
        seeds += p->events.seed == (int64_t)i + 1;
        design_point_release(&point);
        free(text);
    }
    assert_int_equal(seeds, a.n);
    assert_true(small > 30 && eight > 30 && short_context > 15 && long_context > 30);
    agreement_release(&a);
}

static void agree__tells_the_command_of_a_point_with_its_catalogs(void **state)
{
    (void)state;
    static const char *const mine[] = {"my own.toml"};
    struct agree_options o = {.points = 4, .seed = 1, .catalogs = mine, .n_catalogs = 1};
    struct agreement a;
    assert_true(agree(registry_find("toy"), catalog, &o, &a, &diags));
    for (size_t i = 0; i < a.n; i++) {
        char *expected = xasprintf("dse eval toy --fidelity event-level --catalog 'my own.toml' %s", a.points[i].settings);
        assert_string_equal(a.points[i].command, expected);
        free(expected);
    }
    agreement_release(&a);
}

static void agree__settings_of_the_caller_hold(void **state)
{
    (void)state;
    static const char *const held[] = {"tiles=7", "channel_gbs=20", "seed=5"};
    struct agreement a = agree_at(30, 1, held, 3);
    for (size_t i = 0; i < a.n; i++) {
        for (size_t k = 0; k < 3; k++) {
            const char *at = strstr(a.points[i].settings, held[k]);
            assert_non_null(at);
            assert_null(strstr(at + 1, held[k]));
        }
        assert_null(strstr(a.points[i].settings, "bandwidth_gbs="));
    }
    agreement_release(&a);
    struct agree_options o = {.points = 3, .assignments = (const char *const[]){"tils=7"}, .n_assignments = 1};
    assert_false(agree(registry_find("toy"), catalog, &o, &a, &diags));
    assert_int_equal(diags.errors, 1);
    diags_release(&diags);
}

/* Of a sweep: feasible points of its space, with its constraints; a command that is shorter shows nearly the same difference. */
static void agree__points_are_those_of_a_sweep(void **state)
{
    (void)state;
    static const char text[] =
        "[sweep]\nname = \"s\"\nmodels = [\"toy\"]\n[params]\ntiles = [2, 3, 4]\nbatch = [1, 2]\nclock_ghz = 0.7\n"
        "[constraints]\nfew = \"tiles < 4\"\n[objectives]\ntokens_per_s = \"max\"\n";
    struct catalog *own = catalog_new(toy_data_dir(), &diags);
    struct sweep_file *sweep = sweep_file_read_text("s.toml", text, sizeof text - 1, own, toy_data_dir(), &diags);
    assert_int_equal(diags.errors, 0);
    const struct sweep_file *sweeps[] = {sweep};
    static const char *const held[] = {"batch=3"};
    struct agree_options o = {.points = 20, .seed = 3, .sweeps = sweeps, .n_sweeps = 1, .assignments = held, .n_assignments = 1};
    struct agreement a;
    assert_true(agree(registry_find("toy"), own, &o, &a, &diags));
    size_t two = 0;
    for (size_t i = 0; i < a.n; i++) {
        const struct agree_point *p = &a.points[i];
        const bool is_two = strstr(p->settings, "tiles=2"), is_three = strstr(p->settings, "tiles=3");
        assert_true((is_two || is_three) && strstr(p->settings, "clock_ghz=0.7") && strstr(p->settings, "batch=3"));
        two += is_two;
        char *shorter = agree_shortest(&a, own, &o, p, AGREE_LATENCY);
        assert_true(strlen(shorter) <= strlen(p->command) && strncmp(shorter, "dse eval toy --fidelity event-level", 35) == 0);
        free(shorter);
    }
    assert_true(two > 3 && two < 17);
    agreement_release(&a);
    sweep_file_free(sweep);
    catalog_free(own);
}

static void agree__ends_with_its_budget(void **state)
{
    (void)state;
    struct agree_options o = {.points = 200000, .seed = 1, .budget_s = 0.2};
    struct agreement a;
    assert_true(agree(registry_find("toy"), catalog, &o, &a, &diags));
    assert_true(a.stopped && a.spent);
    size_t found = 0;
    for (size_t i = 0; i < a.n; i++) found += a.points[i].settings != NULL;
    assert_true(found > 0 && found < a.n);
    agreement_release(&a);
}

static void agree__points_depend_on_the_seed_alone(void **state)
{
    (void)state;
    struct agreement a = agree_at(10, 1, NULL, 0), more = agree_at(20, 1, NULL, 0), other = agree_at(10, 2, NULL, 0);
    size_t same = 0;
    for (size_t i = 0; i < a.n; i++) {
        assert_string_equal(a.points[i].settings, more.points[i].settings);
        assert_true(a.points[i].metric[AGREE_LATENCY] == more.points[i].metric[AGREE_LATENCY]);
        same += strcmp(a.points[i].settings, other.points[i].settings) == 0;
    }
    assert_true(same < 2);
    agreement_release(&a);
    agreement_release(&more);
    agreement_release(&other);
}

/* Where the DRAM limits the toy, 2 % of its time are refresh and 4 % missed rows, and a barrier a layer costs 0.05 us. */
static void agree__causes_are_those_of_the_model(void **state)
{
    (void)state;
    static const char *const slow_memory[] = {"bandwidth_gbs=8", "clock_ghz=1", "tiles=16",
                                              "batch=1",         "llm=small",   "pipeline=none"};
    struct agreement a = agree_at(20, 1, slow_memory, 6);
    for (size_t i = 0; i < a.n; i++) {
        const struct agree_point *p = &a.points[i];
        assert_true(fabs(p->cause[AGREE_LATENCY][1] - 0.02) < 0.001 && fabs(p->cause[AGREE_LATENCY][2] - 0.04) < 0.001);
        assert_true(fabs(p->cause[AGREE_LATENCY][0]) < 1e-9);
        assert_true(fabs(p->cause[AGREE_LATENCY][3]) < 0.06 && p->cause[AGREE_LATENCY][4] > 0 &&
                    p->cause[AGREE_LATENCY][4] < 0.001);
        assert_true(p->left[AGREE_LATENCY] >= -1e-6 && p->left[AGREE_LATENCY] < 0.01);
    }
    struct agree_spread draws = agree_spread_of(&a, agree_cause, 3), left = agree_spread_of(&a, agree_cause, AGREE_CAUSES);
    assert_true(draws.n == 20 && draws.min < 0 && draws.max > 0);
    assert_true(left.min <= left.p10 && left.p10 <= left.median && left.median <= left.p90 && left.p90 <= left.max);
    struct agree_spread energy = agree_spread_of(&a, agree_metric, AGREE_ENERGY);
    assert_true(energy.n == 0 && isnan(energy.median));
    agreement_release(&a);
}

static void agree__says_when_no_point_is_feasible(void **state)
{
    (void)state;
    static const char *const impossible[] = {"tiles=64", "sram_mib=0.25"};
    struct agreement a = agree_at(3, 1, impossible, 2);
    for (size_t i = 0; i < a.n; i++) {
        assert_null(a.points[i].settings);
        assert_true(isnan(a.points[i].metric[AGREE_LATENCY]) && a.points[i].tried == AGREE_TRIES);
    }
    agreement_release(&a);
}

static void agree__stops_when_told_to(void **state)
{
    (void)state;
    volatile sig_atomic_t stop = 1;
    struct agree_options o = {.points = 5, .stop = &stop};
    struct agreement a;
    assert_true(agree(registry_find("toy"), catalog, &o, &a, &diags));
    assert_true(a.stopped);
    for (size_t i = 0; i < a.n; i++) assert_true(!a.points[i].settings && isnan(a.points[i].metric[AGREE_LATENCY]));
    agreement_release(&a);
}

static volatile sig_atomic_t stop;

static void on_alarm(int signal)
{
    (void)signal;
    stop = 1;
}

/* Told to stop at any time: a point is carried out with all causes, or nothing is known of it. */
static void agree__a_point_that_is_cut_off_is_no_point(void **state)
{
    (void)state;
    enum { TRIALS = 100, POINTS = 1000 };
    size_t cut = 0;
    signal(SIGALRM, on_alarm);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct agree_options o = {.points = POINTS, .seed = (uint64_t)trial, .threads = 1, .stop = &stop};
        struct agreement a;
        stop = 0;
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 3000 + 137 * trial}, NULL);
        assert_true(agree(registry_find("toy"), catalog, &o, &a, &diags));
        cut += a.stopped;
        for (size_t i = 0; i < a.n; i++) {
            const struct agree_point *p = &a.points[i];
            bool known = p->settings != NULL;
            assert_true(isfinite(p->metric[AGREE_LATENCY]) == known && isfinite(p->left[AGREE_LATENCY]) == known);
            for (int k = 0; k < AGREE_CAUSES; k++) assert_true(isfinite(p->cause[AGREE_LATENCY][k]) == known);
        }
        agreement_release(&a);
    }
    assert_true(cut > TRIALS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree__a_point_is_shown_again_by_its_command),
        cmocka_unit_test(agree__points_are_near_the_defaults),
        cmocka_unit_test(agree__settings_of_the_caller_hold),
        cmocka_unit_test(agree__tells_the_command_of_a_point_with_its_catalogs),
        cmocka_unit_test(agree__points_are_those_of_a_sweep),
        cmocka_unit_test(agree__ends_with_its_budget),
        cmocka_unit_test(agree__points_depend_on_the_seed_alone),
        cmocka_unit_test(agree__causes_are_those_of_the_model),
        cmocka_unit_test(agree__says_when_no_point_is_feasible),
        cmocka_unit_test(agree__stops_when_told_to),
        cmocka_unit_test(agree__a_point_that_is_cut_off_is_no_point),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
