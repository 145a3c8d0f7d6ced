/* Kinds of measured regimes, what is wrong, and why. */
#include "measured/notes.h"
#include "model_points.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct measured_notes *notes_of(const char *toml)
{
    char *dir = scratch_new();
    if (toml) scratch_write(dir, "causes.toml", toml);
    struct measured_notes *n = measured_notes_open(dir, &diags);
    diags_print(&diags, stderr, false);
    assert_non_null(n);
    scratch_remove(dir);
    return n;
}

static const char two[] = "[[kind]]\nmodel = 'ane'\nname = 'near'\nregimes = ['steps, here', 'steps, there']\ntarget = 10\n"
                          "[[kind]]\nmodel = 'ane'\nname = 'all'\nregimes = ['steps, *']\ntarget = 15.5\n"
                          "[[kind]]\nmodel = 'ane'\nname = 'free'\nregimes = ['other*']\n"
                          "[[cause]]\nmodel = 'ane'\nsource = 'one'\nregimes = ['steps, *']\ncause = 'of one'\n"
                          "[[cause]]\nmodel = 'ane'\nregimes = ['steps, *']\ncause = 'of any'\n";

static void kinds__are_the_first_that_has_the_regime(void **state)
{
    (void)state;
    struct measured_notes *n = notes_of(two);
    const struct model *ane = registry_find("ane"), *lad = registry_find("lad");
    assert_string_equal(measured_kind_of(n, ane, "steps, here")->name, "near");
    assert_string_equal(measured_kind_of(n, ane, "steps, elsewhere")->name, "all");
    assert_true(isnan(measured_kind_of(n, ane, "others")->target));
    assert_null(measured_kind_of(n, ane, "step"));
    assert_null(measured_kind_of(n, lad, "steps, here"));
    measured_notes_free(n);
}

static void wrong__is_over_the_target_or_many_and_biased(void **state)
{
    (void)state;
    struct measured_notes *n = notes_of(two);
    const struct model *ane = registry_find("ane");
    const struct {
        struct measured_sum sum;
        bool wrong;
    } cases[] = {
        {{.regime = "steps, here", .rows = 1, .mean = 10.1, .mean_abs = 10.1}, true},
        {{.regime = "steps, here", .rows = 1, .mean = 9.9, .mean_abs = 9.9}, false},
        {{.regime = "steps, else", .rows = 1, .mean = 10.1, .mean_abs = 10.1}, false},
        {{.regime = "other", .rows = 9, .mean = -50, .mean_abs = 50}, false}, /* no target, and few */
        {{.regime = "other", .rows = 10, .mean = -20.1, .mean_abs = 50}, true},
        {{.regime = "other", .rows = 10, .mean = 19.9, .mean_abs = 50}, false},
        {{.regime = "of no kind", .rows = 10, .mean = 21, .mean_abs = 21}, true},
        {{.regime = "steps, here", .rows = 0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measured_sum s = cases[i].sum;
        s.model = ane;
        s.source = "one";
        s.split = MEASURED_TEST;
        assert_int_equal(measured_is_wrong(n, &s), cases[i].wrong);
        s.split = MEASURED_CALIBRATE;
        assert_false(measured_is_wrong(n, &s));
    }
    measured_notes_free(n);
}

static void causes__are_of_a_source_or_of_any(void **state)
{
    (void)state;
    struct measured_notes *n = notes_of(two);
    struct measured_sum s = {.model = registry_find("ane"), .source = "one", .regime = "steps, here"};
    assert_string_equal(measured_cause_of(n, &s)->cause, "of one");
    s.source = "two";
    assert_string_equal(measured_cause_of(n, &s)->cause, "of any");
    s.regime = "others";
    assert_null(measured_cause_of(n, &s));
    measured_notes_free(n);
}

static void notes__need_not_be_there(void **state)
{
    (void)state;
    struct measured_notes *n = notes_of(NULL);
    assert_true(n->n_kinds == 0 && n->n_causes == 0);
    struct measured_sum s = {.model = registry_find("ane"), .source = "one", .regime = "steps"};
    assert_null(measured_cause_of(n, &s));
    measured_notes_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds__are_the_first_that_has_the_regime),
        cmocka_unit_test(wrong__is_over_the_target_or_many_and_biased),
        cmocka_unit_test(causes__are_of_a_source_or_of_any),
        cmocka_unit_test(notes__need_not_be_there),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
