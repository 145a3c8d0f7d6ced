/* The settings that a file was measured under. */
#include "workload/measured.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct dse_measured *read_settings(const char *text)
{
    char *why = NULL;
    struct dse_measured *m = measured_new(text, &why);
    if (!m) fail_msg("%s", why);
    measured_name(m, "profile", "mine");
    return m;
}

static void settings__that_are_not_there_are_what_the_tool_had_fixed(void **state)
{
    (void)state;
    static const struct {
        enum dse_setting setting;
        double value;
    } fixed[] = {{DSE_SET_KV_BITS, 16},    {DSE_SET_INTERVALS, 5},        {DSE_SET_RECENT, 16},
                 {DSE_SET_SCORES, 0},      {DSE_SET_BOUNDARY, DSE_TOKEN}, {DSE_SET_PROMPT_SHARE, 0},
                 {DSE_SET_THRESHOLD_A, 1}, {DSE_SET_THRESHOLD_B, 0.2},    {DSE_SET_RESERVED_LENGTH, 32}};
    struct dse_measured *none = read_settings(NULL), *kind = read_settings("kind=locality steps=32");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        assert_null(dse_measured_unlike(none, fixed[i].setting, fixed[i].value));
        assert_null(dse_measured_unlike(kind, fixed[i].setting, fixed[i].value));
        assert_non_null(dse_measured_unlike(none, fixed[i].setting, fixed[i].value + 0.5 * (i != 0) - 8 * (i == 0)));
    }
    assert_null(measured_beyond(none, 1e9));
    measured_free(none);
    measured_free(kind);
}

static void settings__are_those_of_the_head(void **state)
{
    (void)state;
    struct dse_measured *m = read_settings(
        "kind=retention intervals=16 recent=0 kv_bits=8 boundary=bulk prompt_share=1 threshold_a=0.5 llm=opt-2.7b data=512..4096");
    assert_null(dse_measured_unlike(m, DSE_SET_INTERVALS, 16));
    assert_string_equal(dse_measured_unlike(m, DSE_SET_INTERVALS, 5), "profile mine was measured only with intervals = 16");
    assert_string_equal(dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_TOKEN), "profile mine was measured only with boundary = bulk");
    assert_string_equal(dse_measured_unlike(m, DSE_SET_THRESHOLD_A, 1), "profile mine was measured only with threshold_a = 0.5");
    assert_string_equal(dse_measured_unlike(m, DSE_SET_KV_BITS, 16), "profile mine was measured only with kv_bits = 8");
    assert_null(dse_measured_unlike(m, DSE_SET_THRESHOLD_B, 0.2));
    assert_null(measured_beyond(m, 512));
    assert_null(measured_beyond(m, 4096));
    assert_string_equal(measured_beyond(m, 4097), "profile mine has data for 512 to 4096 positions");
    assert_non_null(measured_beyond(m, 511));
    const struct dse_llm small = {.entry.name = "opt-2.7b"}, other = {.entry.name = "opt-6.7b"};
    assert_true(dse_measured_on(m, &small));
    assert_false(dse_measured_on(m, &other));
    measured_free(m);
    /* A prompt is kept whole where there is a share of it. */
    m = read_settings("prompt_share=0.5");
    assert_null(dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_BULK));
    assert_false(dse_measured_on(m, &small));
    measured_free(m);
    /* More than 16 bits are as good as 16. */
    m = read_settings("kv_bits=32");
    assert_null(dse_measured_unlike(m, DSE_SET_KV_BITS, 16));
    assert_non_null(dse_measured_unlike(m, DSE_SET_KV_BITS, 8));
    measured_free(m);
}

static void settings__that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"treshold_a=2", "there is no setting \"treshold_a\"; did you mean threshold_a?"},
        {"xyzzy=2", "there is no setting \"xyzzy\""},
        {"intervals", "\"intervals\" is not NAME=VALUE"},
        {"intervals=many", "intervals: \"many\" is not a finite number"},
        {"recent=inf", "recent: \"inf\" is not a finite number"},
        {"boundary=row", "boundary: there is no \"row\"; token or bulk"},
        {"recent=1 recent=2", "recent stands there twice"},
        {"data=4096..512", "data: \"4096..512\" is not a range of contexts as 512..4096 is"},
        {"data=512", "data: \"512\" is not a range of contexts as 512..4096 is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *why = NULL;
        assert_null(measured_new(cases[i][0], &why));
        assert_string_equal(why, cases[i][1]);
        free(why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings__that_are_not_there_are_what_the_tool_had_fixed),
        cmocka_unit_test(settings__are_those_of_the_head),
        cmocka_unit_test(settings__that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
