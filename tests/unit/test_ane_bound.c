/* How near the bound of the Neural Engine's model is to the best there is: that it holds everywhere is test_bounds.c's. */
#include "ane/ane.h"
#include "model_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A point: the defaults and what is set, separated by spaces. */
static struct ane_params point(const char *settings)
{
    char *text = xstrdup(settings), *list[16], *save = NULL;
    size_t n = 0;
    for (char *s = strtok_r(text, " ", &save); s; s = strtok_r(NULL, " ", &save)) list[n++] = s;
    struct one o;
    const bool ok = one_init(&o, registry_find("ane"), list, n);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    const struct ane_params p = *(const struct ane_params *)space_fixed(o.space);
    one_release(&o);
    free(text);
    return p;
}

/* Of the points between two, one axis in steps: the least time and energy over the bound's floors. */
static void assert_near_the_best(const char *settings, const char *name, int64_t from, int64_t to, int64_t step, double time,
                                 double energy)
{
    double least_us = (double)INFINITY, least_mj = (double)INFINITY;
    struct ane_params ends[2];
    for (int64_t v = from; v <= to; v += step) {
        char *at = xasprintf("%s %s=%lld", settings, name, (long long)v);
        const struct ane_params p = point(at);
        struct ane_metrics m = {0};
        if (v == from) ends[0] = p;
        ends[1] = p;
        free(at);
        if (dse_model_ane.check(&p)) continue;
        dse_model_ane.estimate(&p, &m, NULL);
        least_us = fmin(least_us, m.common.latency_us);
        least_mj = fmin(least_mj, m.common.energy_mj);
    }
    struct ane_metrics floor = {0}, ceiling = {0};
    assert_true(ane_bound(&ends[0], &ends[1], &floor, &ceiling));
    assert_true(floor.common.latency_us <= least_us && floor.common.energy_mj <= least_mj);
    if (!(floor.common.latency_us >= time * least_us && floor.common.energy_mj >= energy * least_mj))
        fail_msg("%s over %s: floors are %g and %g of the least", settings, name, floor.common.latency_us / least_us,
                 floor.common.energy_mj / least_mj);
}

/* A prompt's calls have about as many rows as the prompt, whatever query_rows is. */
static void bound__over_query_rows_is_near_the_best(void **state)
{
    (void)state;
    assert_near_the_best("phase=prefill context=512", "query_rows", 8, 512, 8, 0.99, 0.99);
    assert_near_the_best("phase=prefill context=500 overlap=sum", "query_rows", 8, 512, 8, 0.75, 0.75);
    assert_near_the_best("phase=decode context=512", "query_rows", 8, 512, 8, 0.95, 0.95);
    assert_near_the_best("phase=decode context=512 cache=chunks", "query_rows", 32, 64, 8, 0.99, 0.88);
    assert_near_the_best("phase=prefill cache=none", "context", 256, 512, 8, 0.999, 0.98);
}

/* A value that stands for something else (0: as long as needed, none) beside others: the hull of both. */
static void bound__of_a_window_that_follows_and_others_is_their_hull(void **state)
{
    (void)state;
    assert_near_the_best("phase=decode context=512", "window", 0, 1024, 64, 0.99, 0.99);
    assert_near_the_best("phase=decode prompt=256 context=512", "generate", 0, 256, 8, 0.9, 0.9);
}

/* Nothing of what check() refuses is bounded. */
static void bound__of_what_is_refused_is_empty(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"window=256 context=512", "window=448 context=512"},
        {"context=256 query_rows=300", "context=256 query_rows=400"},
        {"capacity_gib=1", "capacity_gib=8"},
        {"engine_idle_w=1.5", "engine_idle_w=2"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct ane_params lo = point(pairs[i][0]), hi = point(pairs[i][1]);
        struct ane_metrics floor = {0}, ceiling = {0};
        if (ane_bound(&lo, &hi, &floor, &ceiling)) fail_msg("%s to %s is refused", pairs[i][0], pairs[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound__over_query_rows_is_near_the_best),
        cmocka_unit_test(bound__of_a_window_that_follows_and_others_is_their_hull),
        cmocka_unit_test(bound__of_what_is_refused_is_empty),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
