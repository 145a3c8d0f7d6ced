/* How near the bound of the Neural Engine's model is to the best there is: that it holds everywhere is test_bounds.c's. */
#include "ane_test.h"

/* Of the points between two, one axis in steps: the least time and energy over the bound's floors. */
static void assert_near_the_best(const char *settings, const char *name, int64_t from, int64_t to, int64_t step, double time,
                                 double energy)
{
    double least_us = (double)INFINITY, least_mj = (double)INFINITY;
    struct point ends[2];
    for (int64_t v = from; v <= to; v += step) {
        char *at = xasprintf("%s %s=%lld", settings, name, (long long)v);
        const struct point p = point_of("ane", at);
        if (v == from) ends[0] = p;
        ends[1] = p;
        free(at);
        if (refusal(&p)) continue;
        const struct named m = estimate(&p);
        least_us = fmin(least_us, m.latency_us);
        least_mj = fmin(least_mj, m.energy_mj);
    }
    struct named floor, ceiling;
    assert_true(bound_between(&ends[0], &ends[1], &floor, &ceiling));
    assert_true(floor.latency_us <= least_us && floor.energy_mj <= least_mj);
    if (!(floor.latency_us >= time * least_us && floor.energy_mj >= energy * least_mj))
        fail_msg("%s over %s: floors are %g and %g of the least", settings, name, floor.latency_us / least_us,
                 floor.energy_mj / least_mj);
}

/* A prompt's calls have about as many rows as the prompt, whatever query_rows is. */
static void bound__over_query_rows_is_near_the_best(void **state)
{
    (void)state;
    assert_near_the_best("phase=prefill context=512", "query_rows", 8, 512, 8, 0.95, 0.95);
    assert_near_the_best("phase=prefill context=500 overlap=sum", "query_rows", 8, 512, 8, 0.75, 0.75);
    assert_near_the_best("phase=decode context=512", "query_rows", 8, 512, 8, 0.94, 0.94);
    assert_near_the_best("phase=decode context=512 cache=chunks", "query_rows", 32, 64, 8, 0.83, 0.71);
    assert_near_the_best("phase=prefill cache=none", "context", 256, 512, 8, 0.96, 0.55);
}

/* A value that stands for something else (0: as long as needed, none) beside others: the hull of both. */
static void bound__of_a_window_that_follows_and_others_is_their_hull(void **state)
{
    (void)state;
    assert_near_the_best("phase=decode context=512", "window", 0, 1024, 64, 0.99, 0.99);
    assert_near_the_best("phase=decode prompt=256 context=512", "generate", 0, 256, 8, 0.99, 0.99);
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
        const struct point lo = point_of("ane", pairs[i][0]), hi = point_of("ane", pairs[i][1]);
        struct named floor, ceiling;
        if (bound_between(&lo, &hi, &floor, &ceiling)) fail_msg("%s to %s is refused", pairs[i][0], pairs[i][1]);
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
