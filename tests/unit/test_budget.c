/* config/budget.h: which fronts a row may be on, and a budget as text. */
#include "config/budget.h"

#include <dse/model.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct budget budget_of(const char *text)
{
    struct budget b;
    assert_true(budget_parse(&b, text));
    return b;
}

/* A row of this quality with this attention error; NaN: unknown. */
static unsigned fronts(const char *budget, const char *quality, double error)
{
    const struct budget b = budget_of(budget);
    const struct budget_row row = {
        .quality = quality, .value = {error, (double)NAN, (double)NAN}, .has = {[BUDGET_ATTENTION_ERROR] = true}};
    return budget_fronts(&b, &row);
}

static void budget__is_read_back_from_its_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"attention_error 0.1 (default)", "attention_error 0.3 0.1 0.01",
                                        "attention_error inf, trust unknown", "task_loss 0.02, retained_mass 0.5 0.9",
                                        "attention_error 0.1, trust measured"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct budget b = budget_of(texts[i]);
        char *text = budget_text(&b);
        assert_string_equal(text, texts[i]);
        free(text);
    }
}

static void budget__refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "attention_error",
                                        "0.1",
                                        "attention_error -1",
                                        "attention_error nan",
                                        "trust measured",
                                        "attention_error 0.1 trust good",
                                        "attention_error 0.1 0.2, task_loss 0.1 0.2",
                                        "attention_error 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct budget b;
        if (budget_parse(&b, texts[i])) fail_msg("\"%s\" is taken", texts[i]);
    }
}

/* Each budget holds what the next, tighter one holds, whatever the order of the text. */
static void budget__fronts_are_nested(void **state)
{
    (void)state;
    static const char several[] = "attention_error 0.03 0.3 0.1";
    assert_int_equal(fronts(several, "measured", 0.02), 7);
    assert_int_equal(fronts(several, "measured", 0.1), 3);
    assert_int_equal(fronts(several, "measured", 0.2), 1);
    assert_int_equal(fronts(several, "measured", 0.31), 0);
    assert_int_equal(fronts("attention_error inf", "measured", 1e300), 1);
}

static void budget__what_is_unknown_stands_apart(void **state)
{
    (void)state;
    const double unknown = (double)NAN;
    assert_int_equal(fronts("attention_error 0.1", "unknown", unknown), BUDGET_UNKNOWN);
    assert_int_equal(fronts("attention_error inf", "unknown", unknown), BUDGET_UNKNOWN);
    assert_int_equal(fronts("attention_error 0.1 0.3, trust unknown", "unknown", unknown), 3);
    assert_int_equal(fronts("attention_error 0.1, trust measured", "unknown", unknown), 0);
    /* A limit that another metric answers. */
    const struct budget b = budget_of("task_loss 0.1");
    struct budget_row row = {.quality = "unknown", .value = {unknown, 0.05, unknown}, .has = {true, true, true}};
    assert_int_equal(budget_fronts(&b, &row), 1);
    row.value[BUDGET_TASK_LOSS] = unknown;
    assert_int_equal(budget_fronts(&b, &row), BUDGET_UNKNOWN);
    /* A loss that is known to be over decides, whatever else is not known. */
    const struct budget both = budget_of("attention_error 0.1, task_loss 0.1");
    row.quality = "measured";
    row.value[BUDGET_ATTENTION_ERROR] = 0.4;
    assert_int_equal(budget_fronts(&both, &row), 0);
    row.value[BUDGET_ATTENTION_ERROR] = 0.05;
    assert_int_equal(budget_fronts(&both, &row), BUDGET_UNKNOWN);
}

static void budget__exact_machines_are_within_all(void **state)
{
    (void)state;
    assert_int_equal(fronts("attention_error 0, trust exact", "exact", 0), 1);
    assert_int_equal(fronts("attention_error 0.1", "rounded", 0), 1);
    const struct budget b = budget_of("task_loss 0.01");
    const struct budget_row unscored = {.quality = "exact", .value = {0, (double)NAN, 1}, .has = {true, true, true}};
    assert_int_equal(budget_fronts(&b, &unscored), 1);
    /* A model that says nothing of quality, and has no such metric; one that has it and does not know it. */
    struct budget_row silent = {.value = {(double)NAN, (double)NAN, (double)NAN}};
    assert_int_equal(budget_fronts(&b, &silent), 1);
    silent.has[BUDGET_TASK_LOSS] = true;
    assert_int_equal(budget_fronts(&b, &silent), BUDGET_UNKNOWN);
}

static void budget__trust_keeps_its_word_and_better(void **state)
{
    (void)state;
    static const char *const order[] = {"exact", "rounded", "measured", "extended", "other-llm"};
    for (size_t asked = 0; asked < 5; asked++)
        for (size_t of = 0; of < 5; of++) {
            char text[64];
            snprintf(text, sizeof text, "attention_error 1, trust %s", order[asked]);
            assert_int_equal(fronts(text, order[of], of < 2 ? 0 : 0.5), of <= asked);
            const struct budget b = budget_of(text);
            const struct budget_row row = {.quality = order[of], .value = {0.5, 0, 1}, .has = {true, true, true}};
            if (of > asked) assert_non_null(strstr(budget_reason(&b, &row), order[of]));
            assert_true(budget_is_reason(budget_reason(&b, &row)));
        }
}

/* What a search goes by: 0 within, else the less the nearer. */
static void budget__excess_falls_as_a_row_comes_nearer(void **state)
{
    (void)state;
    const struct budget b = budget_of("attention_error 0.1, retained_mass 0.9");
    struct budget_row row = {.quality = "measured", .value = {0, 0, 0.95}, .has = {true, true, true}};
    double last = 2;
    for (double error = 5; error > 0.1; error /= 1.5) {
        row.value[BUDGET_ATTENTION_ERROR] = error;
        const double excess = budget_excess(&b, &row);
        assert_true(excess > 0 && excess < last);
        last = excess;
    }
    row.value[BUDGET_ATTENTION_ERROR] = 0.1;
    assert_true(budget_excess(&b, &row) == 0);
    row.value[BUDGET_RETAINED_MASS] = 0.5;
    assert_true(budget_excess(&b, &row) > 0);
    row.value[BUDGET_ATTENTION_ERROR] = (double)NAN;
    assert_true(budget_excess(&b, &row) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget__is_read_back_from_its_text),
        cmocka_unit_test(budget__refuses_what_is_none),
        cmocka_unit_test(budget__fronts_are_nested),
        cmocka_unit_test(budget__what_is_unknown_stands_apart),
        cmocka_unit_test(budget__exact_machines_are_within_all),
        cmocka_unit_test(budget__trust_keeps_its_word_and_better),
        cmocka_unit_test(budget__excess_falls_as_a_row_comes_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
