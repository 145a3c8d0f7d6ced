/* dse/num.h against the library. */
#include <dse/num.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double numbers[] = {0,    0x1p-60,      0.5,          1,      1 + 0x1p-52, 2 - 0x1p-52, 2,
                                 3.25, 0x1p31 + 0.5, 0x1p52 - 0.5, 0x1p52, 0x1p53,      0x1p61};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void rounding__is_that_of_the_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBERS; i++) {
        assert_true(dse_floor(numbers[i]) == floor(numbers[i]));
        assert_true(dse_ceil(numbers[i]) == ceil(numbers[i]));
    }
    assert_true(dse_ceil_to(17, 16) == 32 && dse_ceil_to(16, 16) == 16 && dse_ceil_to(0, 16) == 0);
    assert_true(dse_ceil_div(17, 16) == 2 && dse_ceil_div(16, 16) == 1 && dse_ceil_div(0, 16) == 0);
}

static void bounds__are_those_of_the_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < NUMBERS; i++)
        for (size_t j = 0; j < NUMBERS; j++) {
            double a = numbers[i], b = -numbers[j];
            assert_true(dse_min(a, b) == fmin(a, b) && dse_max(b, a) == fmax(a, b));
        }
    assert_true(dse_max(1, (double)INFINITY) == (double)INFINITY && dse_min((double)INFINITY, 1) == 1);
    assert_true(dse_clamp(5, 0, 3) == 3 && dse_clamp(-5, 0, 3) == 0 && dse_clamp(2, 0, 3) == 2);
    assert_true(dse_clamp(2, 8, 3) == 3); /* there are no more than 3 */
    assert_true(dse_min_i64(-1, 1) == -1 && dse_max_i64(-1, 1) == 1);
    assert_true(dse_min_u64(1, UINT64_MAX) == 1 && dse_max_u64(1, UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding__is_that_of_the_library),
        cmocka_unit_test(bounds__are_those_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
