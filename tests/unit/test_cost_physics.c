/* What must hold of costs, whatever the constants. */
#include "cost_bed.h"

/* More defects, less clustering: fewer good dies. Poisson is the limit of no clustering, Seeds that of alpha = 1; the three ways to
 * count dies agree on large wafers of small dies, and whole squares lie between what the area allows and what any rows hold. */
static void physics__yields_and_dies_behave(void **state)
{
    (void)state;
    for (int i = 0; i < 13; i++)
        for (int k = 0; k < 7; k++) {
            const double mm2 = pow(1.7, i), d0 = 0.01 * pow(2, k);
            const double a2 = dse_yield(DSE_NEGATIVE_BINOMIAL, mm2, d0, 2), a9 = dse_yield(DSE_NEGATIVE_BINOMIAL, mm2, d0, 1e9);
            const double poisson = dse_yield(DSE_POISSON, mm2, d0, 1), murphy = dse_yield(DSE_MURPHY, mm2, d0, 1);
            assert_true(fabs(dse_yield(DSE_NEGATIVE_BINOMIAL, mm2, d0, 1) / dse_yield(DSE_SEEDS, mm2, d0, 1) - 1) < 1e-12);
            assert_true(fabs(a9 / poisson - 1) < 1e-5 && poisson <= murphy && murphy <= dse_yield(DSE_SEEDS, mm2, d0, 1));
            assert_true(a2 > poisson && a2 < 1 && dse_yield(DSE_NEGATIVE_BINOMIAL, mm2, d0 * 1.1, 2) < a2);
        }
    for (int i = 0; i < 27; i++) {
        const double mm2 = 2 * pow(1.3, i);
        const double squares = dse_dies_squares(mm2, 300, 0.1), side = sqrt(mm2) + 0.1;
        assert_true(squares == floor(squares) && squares * side * side < 70685.9);
        assert_true(squares >= dse_dies_by_area(side * side, 300) * 0.97);
        assert_true(dse_dies_squares(mm2 * 1.02, 300, 0.1) <= squares);
        assert_true(dse_dies_scribed(mm2, 300, 5, 0.2) < dse_dies_by_area(mm2, 300));
    }
    assert_true(dse_dies_squares(44943, 300, 0) == 1 && dse_dies_squares(45001, 300, 0) == 0); /* the square in the circle */
    assert_true(dse_dies_by_area(1e6, 300) == 0);
}

/* A larger die, more of them or more stacks never cost less; every price at its high end is dearer; what is not a price stays. */
static void physics__more_never_costs_less(void **state)
{
    (void)state;
    struct dse_economics e = economics_of("public", 2026), high = e;
    high.prices = DSE_HIGH;
    for (int packaging = DSE_ORGANIC; packaging <= DSE_FANOUT; packaging++)
        for (int i = 0; i < 11; i++)
            for (int n = 1; n <= 6; n++) {
                const double mm2 = 10 * pow(1.5, i);
                const double usd = system_usd(&e, 7, mm2, n, packaging);
                assert_true(system_usd(&e, 7, mm2 * 1.1, n, packaging) > usd && system_usd(&e, 7, mm2, n + 1, packaging) > usd);
                assert_true(system_usd(&high, 7, mm2, n, packaging) > usd);
                assert_true(n > 1 || packaging == DSE_ORGANIC || usd > system_usd(&e, 7, mm2, n, DSE_ORGANIC));
            }
    struct dse_wafer wafer;
    const char *lacks;
    assert_false(dse_wafer_of(&e, 65, &wafer, &lacks));
    assert_string_equal(lacks, "wafer_usd_65nm");
    assert_false(dse_wafer_of(&e, 40, &wafer, &lacks));
    assert_string_equal(lacks, "defect_density_40nm");
    assert_false(dse_wafer_of(&e, 130, &wafer, &lacks));
    e.price_year = 2020;
    assert_true(dse_wafer_of(&e, 5, &wafer, &lacks) && wafer.usd == 16988);
    e.price_year = 2026;
    assert_true(dse_wafer_of(&e, 5, &wafer, &lacks) && wafer.usd == 16000);
}

/* The sum is of its parts; free money has no interest; longer lives make cheaper tokens. */
static void physics__ownership_adds_up(void **state)
{
    (void)state;
    struct dse_ownership o = {.server_usd = 5000,
                              .peak_w = 1200,
                              .average_w = 700,
                              .years = 4,
                              .electricity_usd_kwh = 0.08,
                              .hours_per_month = 720,
                              .pue = 1.25,
                              .interest = 0.08,
                              .building_usd_w = 10,
                              .building_years = 12,
                              .building_interest = dse_interest(1, 0.08, 12),
                              .upkeep_usd_w_month = 0.04,
                              .server_upkeep_share = 0.05};
    const struct dse_tco t = dse_tco_of(&o);
    const double sum =
        t.building + t.building_interest + t.upkeep + t.server + t.server_interest + t.server_upkeep + t.power + t.pue_overhead;
    assert_true(fabs(t.total / sum - 1) < 1e-12 && fabs(t.power - 0.08 * 0.7 * 720 * 48) < 1e-9);
    assert_true(fabs(dse_interest(1000, 1e-9, 5)) < 1e-4 && dse_interest(1000, 0.08, 5) > dse_interest(1000, 0.05, 5));
    const double at_4 = dse_usd_per_mtoken(t.total, 4, 1000);
    o.years = 5;
    assert_true(dse_usd_per_mtoken(dse_tco_of(&o).total, 5, 1000) < at_4);
}

static int set_up(void **state)
{
    (void)state;
    open_books();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(physics__yields_and_dies_behave),
        cmocka_unit_test(physics__more_never_costs_less),
        cmocka_unit_test(physics__ownership_adds_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
