/* What every model of the registry must satisfy, before its author has written a test of its own: src/prove. */
#include "model_points.h"
#include "prove/prove.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void prove_all(const char *name)
{
    size_t n;
    const struct model *models = registry_models(&n);
    assert_true(n > 0);
    const struct proof *proof = proof_find(name);
    assert_non_null(proof);
    for (size_t m = 0; m < n; m++) {
        struct text note;
        text_init(&note);
        assert_true(models[m].params.n <= SPACE_AXES_MAX);
        const bool ok = proof->run(&models[m], catalog, &note, &diags);
        diags_print(&diags, stderr, false);
        print_message("%s: %s\n", models[m].desc->name, note.s);
        text_release(&note);
        assert_true(ok);
    }
}

static void models__rows_have_unit_doc_source_and_a_unique_name(void **state)
{
    (void)state;
    prove_all("tables");
}

static void models__defaults_are_complete_in_range_and_feasible(void **state)
{
    (void)state;
    prove_all("defaults");
}

static void models__any_point_in_range_is_refused_or_finite(void **state)
{
    (void)state;
    prove_all("points");
}

static void models__what_does_not_fit_says_how_much(void **state)
{
    (void)state;
    prove_all("shortage");
}

static void models__bounds_hold(void **state)
{
    (void)state;
    prove_all("bounds");
}

static void models__with_a_technique_off_nothing_depends_on_what_it_reads(void **state)
{
    (void)state;
    prove_all("techniques");
}

static void models__equations_are_finite_or_absent_at_any_point(void **state)
{
    (void)state;
    prove_all("equations");
}

static void models__readme_has_every_equation_that_the_code_cites(void **state)
{
    (void)state;
    prove_all("documentation");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models__rows_have_unit_doc_source_and_a_unique_name),
        cmocka_unit_test(models__defaults_are_complete_in_range_and_feasible),
        cmocka_unit_test(models__any_point_in_range_is_refused_or_finite),
        cmocka_unit_test(models__what_does_not_fit_says_how_much),
        cmocka_unit_test(models__bounds_hold),
        cmocka_unit_test(models__with_a_technique_off_nothing_depends_on_what_it_reads),
        cmocka_unit_test(models__equations_are_finite_or_absent_at_any_point),
        cmocka_unit_test(models__readme_has_every_equation_that_the_code_cites),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
