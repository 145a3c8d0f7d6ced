/* Half precision: every value exact, every rounding to the nearest, ties to even. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "attention/half.h"

#include <math.h>
#include <stdio.h>

/* The definition of IEEE 754: (-1)^s * 2^(e - 15) * 1.m, or 2^-14 * 0.m for e = 0. */
static double defined(unsigned half)
{
    int exponent = (int)(half >> 10 & 31), mantissa = (int)(half & 1023);
    double size = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return half & 0x8000 ? -size : size;
}

static void half__is_read_as_ieee_defines_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        float v = half_to_float((uint16_t)i);
        if ((i & 0x7fff) > 0x7c00) {
            assert_true(isnan(v));
        } else if ((i & 0x7fff) == 0x7c00) {
            assert_true(isinf(v));
        } else if ((double)v != defined(i)) {
            fail_msg("0x%04x is %a, not %a", i, (double)v, defined(i));
        }
        assert_int_equal(signbit(v) != 0, i >> 15);
    }
}

static void half__has_the_values_of_the_standards_examples(void **state)
{
    (void)state;
    static const struct {
        uint16_t half;
        float v;
    } known[] = {{0x0000, 0},           {0x3c00, 1},        {0xc000, -2},           {0x7bff, 65504},    {0xfbff, -65504},
                 {0x3555, 0.33325195F}, {0x0001, 0x1p-24F}, {0x03ff, 0x1.ff8p-15F}, {0x0400, 0x1p-14F}, {0x3c01, 1.0009766F}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(half_to_float(known[i].half) == known[i].v); /* NOLINT */
        assert_int_equal(half_from_float(known[i].v), known[i].half);
    }
}

static void half__comes_back_from_float(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        uint16_t back = half_from_float(half_to_float((uint16_t)i));
        unsigned quiet = (i & 0x7fff) > 0x7c00 ? i | 0x0200 : i;
        if (back != quiet) fail_msg("0x%04x came back as 0x%04x", i, back);
    }
}

/* Between two neighbours: below the middle the lower, above it the upper, at it the even one. 65520 stands between 65504 and
 * infinity. */
static void half__rounds_to_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 0x7c00; i++) {
        double upper = i + 1 == 0x7c00 ? 65536 : defined(i + 1);
        float middle = (float)((defined(i) + upper) / 2); /* exact: one bit more than a half has */
        unsigned even = i & 1 ? i + 1 : i;
        for (int sign = 0; sign < 2; sign++) {
            float s = sign ? -1 : 1;
            unsigned bit = sign ? 0x8000 : 0;
            assert_int_equal(half_from_float(s * middle), even | bit);
            assert_int_equal(half_from_float(s * nextafterf(middle, 0)), i | bit);
            assert_int_equal(half_from_float(s * nextafterf(middle, INFINITY)), (i + 1) | bit);
        }
    }
}

static void half__of_a_large_float_is_infinite(void **state)
{
    (void)state;
    assert_int_equal(half_from_float(INFINITY), 0x7c00);
    assert_int_equal(half_from_float(-3e38F), 0xfc00);
    assert_int_equal(half_from_float(1e-30F), 0);
    assert_int_equal(half_from_float(-1e-45F), 0x8000);
    assert_true(isnan(half_to_float(half_from_float(NAN))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half__is_read_as_ieee_defines_it),   cmocka_unit_test(half__has_the_values_of_the_standards_examples),
        cmocka_unit_test(half__comes_back_from_float),        cmocka_unit_test(half__rounds_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(half__of_a_large_float_is_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
