/* For tests of costs: the books, and what is priced by them. */
#ifndef DSE_TESTS_COST_BED_H
#define DSE_TESTS_COST_BED_H

#include "config/catalog.h"
#include "dse_config.h"

#include <dse/cost.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct catalog *catalog;

static inline const struct dse_costs *book_of(const char *name)
{
    return (const void *)catalog_find(catalog, DSE_KIND_COSTS, name);
}

static inline struct dse_economics economics_of(const char *book, int64_t year)
{
    struct dse_economics e = {.costs = book_of(book),
                              .prices = DSE_TYPICAL,
                              .price_year = year,
                              .life_years = (double)NAN,
                              .busy_share = (double)NAN,
                              .pue = (double)NAN,
                              .electricity_usd_kwh = (double)NAN,
                              .devices_per_server = 8,
                              .mask_sets = 1};
    dse_economics_resolve(&e);
    return e;
}

/* What ships, and "actuary" of the tests. */
static inline void open_books(void)
{
    struct diags diags = {0};
    catalog = catalog_new(DSE_SOURCE_DATA, &diags);
    assert_non_null(catalog);
    assert_true(catalog_add_file(catalog, DSE_SOURCE_DATA "/tests/data/cost/books.toml", &diags));
}

/* Dies of equal area, each its own kind, in a package: what one system costs again and again. */
static inline double system_usd(const struct dse_economics *e, double node, double mm2, double n, int packaging)
{
    struct dse_wafer wafer;
    const char *lacks;
    assert_true(dse_wafer_of(e, node, &wafer, &lacks));
    const double dies_usd = n * dse_die_of(&wafer, mm2).good_usd;
    const struct dse_parts_of_package parts = {.count = n, .silicon_mm2 = n * mm2, .usd = dies_usd};
    return dies_usd + dse_package_of(e, packaging, &parts).usd;
}

#endif
