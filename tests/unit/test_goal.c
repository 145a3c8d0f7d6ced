/* sweep/goal.h and analysis/grouped_front.h: objectives as text, a front for each group. */
#include "analysis/grouped_front.h"
#include "sweep/goal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void goal__is_read_back_from_its_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"max tokens_per_s",
                                        "max tokens_per_s, min area_mm2",
                                        "min a, min b, max c per llm",
                                        "max tokens_per_s, min energy_mj per llm, context",
                                        "max tokens_per_s within attention_error 0.1 (default)",
                                        "max a, min b per llm within attention_error 0.3 0.1, trust measured"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct goal g;
        assert_true(goal_parse(&g, texts[i]));
        char *text = goal_text(&g);
        assert_string_equal(text, texts[i]);
        free(text);
        goal_release(&g);
    }
}

static void goal__refuses_what_is_no_goal(void **state)
{
    (void)state;
    static const char *const texts[] = {"",         "per llm",    "max",          "most tokens_per_s",
                                        "max a, b", "max a, min", "max a within", "max a within 3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct goal g;
        assert_false(goal_parse(&g, texts[i]));
        goal_release(&g);
    }
    struct goal g;
    goal_init(&g);
    for (int i = 0; i < SWEEP_OBJECTIVES_MAX; i++) assert_true(goal_add(&g, "a", true));
    assert_false(goal_add(&g, "a", true));
    goal_release(&g);
}

static uint64_t seed = 3;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* A grouped front is the union of the fronts of its groups. 300 groups make the table of keys grow. */
static void grouped_front__is_the_front_of_each_group(void **state)
{
    (void)state;
    enum { GROUPS = 300, POINTS = 30000 };
    const bool maximise[] = {true, false};
    struct grouped_front *all = grouped_front_new(2, maximise);
    struct front *alone[GROUPS];
    for (int k = 0; k < GROUPS; k++) alone[k] = front_new(2, maximise);
    for (uint64_t i = 0; i < POINTS; i++) {
        const double values[] = {floor(uniform() * 50), uniform() < 0.01 ? (double)NAN : uniform()};
        int k = (int)(uniform() * GROUPS);
        char key[16];
        snprintf(key, sizeof key, "g%d", k);
        grouped_front_add(all, key, i, values);
        front_add(alone[k], i, values);
    }
    const uint64_t *ids, *own;
    const double *values;
    size_t n = grouped_front_finish(all, &ids, NULL), sum = 0;
    uint8_t *on = calloc(POINTS, 1);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || ids[i - 1] < ids[i]);
        on[ids[i]] = 1;
    }
    for (int k = 0; k < GROUPS; k++) {
        size_t m = front_finish(alone[k], &own, &values);
        for (size_t i = 0; i < m; i++) assert_true(on[own[i]]);
        sum += m;
        front_free(alone[k]);
    }
    assert_int_equal(sum, n);
    assert_int_equal(grouped_front_groups(all), GROUPS);
    free(on);
    grouped_front_free(all);
}

/* Two points of a unit square scaled to any box: (0, 1), (1, 0) and one at (a, b) dominate (1 - a)(1 - b) of it. */
static void grouped_front__hypervolume_is_a_share_of_the_box(void **state)
{
    (void)state;
    const bool maximise[] = {true, false};
    struct grouped_front *g = grouped_front_new(2, maximise);
    const double scale[] = {7, 1e6}, shift[] = {-3, 40};
    const double corners[][2] = {{0, 1}, {1, 0}, {0.25, 0.5}, {0.9, 0.9}};
    for (uint64_t i = 0; i < 4; i++) {
        const double values[] = {shift[0] - scale[0] * corners[i][0], shift[1] + scale[1] * corners[i][1]};
        grouped_front_add(g, "one", i, values);
        grouped_front_add(g, "two", 10 + i, corners[i]); /* here the first objective is the better the larger */
    }
    const uint64_t *ids;
    double volume;
    grouped_front_finish(g, &ids, &volume);
    double two = 1; /* (1, 0) is the best of both: the whole box */
    assert_true(fabs(volume - (0.75 * 0.5 + two) / 2) < 1e-12);
    grouped_front_free(g);
}

static void grouped_front__of_nothing_is_empty(void **state)
{
    (void)state;
    const bool maximise[] = {true};
    struct grouped_front *g = grouped_front_new(1, maximise);
    const uint64_t *ids;
    double volume;
    assert_int_equal(grouped_front_finish(g, &ids, &volume), 0);
    assert_true(isnan(volume));
    grouped_front_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goal__is_read_back_from_its_text),
        cmocka_unit_test(goal__refuses_what_is_no_goal),
        cmocka_unit_test(grouped_front__is_the_front_of_each_group),
        cmocka_unit_test(grouped_front__hypervolume_is_a_share_of_the_box),
        cmocka_unit_test(grouped_front__of_nothing_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
