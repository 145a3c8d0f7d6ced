/* What the cmocka programs of LAD share: one fixture for all their tests. */
#ifndef DSE_TESTS_LAD_TEST_H
#define DSE_TESTS_LAD_TEST_H

#include "lad_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct lad_fixture f;

static int set_up(void **state)
{
    (void)state;
    lad_fixture_init(&f);
    f.defaults.power = DSE_POWER_CONSTANT; /* as the paper counts, and what it prints: test_chip.c has the rest */
    f.defaults.area = DSE_AREA_CORE;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lad_fixture_release(&f);
    return 0;
}

/* The metrics of a point that must be feasible. */
static inline struct lad_metrics estimate(const struct lad_params *p)
{
    struct lad_metrics m;
    assert_null(dse_model_lad.check(p));
    dse_model_lad.estimate(p, &m, NULL);
    return m;
}

#endif
