/* Books of constants: what a user's says, what is refused of it, and which year and end of a range a look-up gives. */
#include "complaints.h"
#include "toy_model.h"

#include "config/catalog.h"
#include "dse_config.h"

#include <dse/costs.h>
#include <stdlib.h>
#include <string.h>

static struct diags diags;

static struct catalog *with(const char *data_dir, const char *text)
{
    struct catalog *c = catalog_new(data_dir, &diags);
    assert_non_null(c);
    struct toml_doc *doc = toml_read_text("mine.toml", text, strlen(text), &diags);
    assert_non_null(doc);
    catalog_add_table(c, doc, &doc->root, &diags);
    toml_free(doc);
    return c;
}

static const struct dse_costs *book_of(const struct catalog *c, const char *name)
{
    return (const void *)catalog_find(c, DSE_KIND_COSTS, name);
}

static void costs__a_price_is_of_its_year(void **state)
{
    (void)state;
    struct catalog *c = with(toy_data_dir(), "[costs.mine]\nlike = 'public'\nwafer_usd_5nm = 7\n"
                                             "[[costs.mine.wafer_usd_3nm]]\ntypical = 5\nyear = 2024\n"
                                             "[[costs.mine.wafer_usd_3nm]]\nlow = 3\ntypical = 4\nyear = 2022\n");
    expect_silence(&diags);
    const struct dse_costs *book = book_of(c, "public"), *mine = book_of(c, "mine");
    assert_true(dse_constant(book, DSE_C_wafer_usd_7nm, DSE_TYPICAL, 2020) == 100); /* before the oldest */
    assert_true(dse_constant(book, DSE_C_wafer_usd_7nm, DSE_TYPICAL, 2022) == 100);
    assert_true(dse_constant(book, DSE_C_wafer_usd_7nm, DSE_HIGH, 2024) == 120);
    assert_true(dse_constant(book, DSE_C_wafer_usd_7nm, DSE_LOW, 2025) == 70);
    assert_true(dse_constant(book, DSE_C_wafer_usd_7nm, DSE_TYPICAL, DSE_PRICE_YEAR_LAST) == 80);
    assert_true(isnan(dse_constant(book, DSE_C_wafer_usd_5nm, DSE_TYPICAL, 2024)));
    assert_true(dse_constant(mine, DSE_C_wafer_usd_5nm, DSE_HIGH, 2020) == 7); /* a plain number is of all years */
    assert_true(dse_constant(mine, DSE_C_wafer_usd_7nm, DSE_TYPICAL, 2024) == 100);
    assert_true(dse_constant(mine, DSE_C_wafer_usd_3nm, DSE_LOW, 2023) == 3 &&
                dse_constant(mine, DSE_C_wafer_usd_3nm, DSE_HIGH, 2023) == 4);
    assert_true(dse_constant(mine, DSE_C_wafer_usd_3nm, DSE_LOW, 2026) == 5);
    assert_true(strncmp(mine->entry.source, "like public: ", 13) == 0);
    catalog_free(c);
}

static void costs__families_are_found_by_node_and_memory(void **state)
{
    (void)state;
    struct catalog *c = with(DSE_SOURCE_DATA, "");
    const struct dse_costs *book = book_of(c, "public");
    static const double nodes[] = {65, 45, 40, 32, 28, 22, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3};
    for (int i = 0; i < (int)(sizeof nodes / sizeof *nodes); i++) assert_int_equal(dse_node_of(nodes[i]), i);
    assert_int_equal(dse_node_of(7.5), -1);
    assert_int_equal(dse_node_of((double)NAN), -1);
    assert_int_equal(dse_node_of(130), -1);
    assert_true(dse_by_node(book, DSE_C_wafer_usd_65nm, 7) == 9346);
    assert_true(isnan(dse_by_node(book, DSE_C_wafer_usd_65nm, 65)) && isnan(dse_by_node(book, DSE_C_wafer_usd_65nm, 130)));
    assert_true(dse_by_kind(book, DSE_C_phy_mm2_hbm2, DSE_HBM2E) == 10.45);
    assert_true(dse_by_kind(book, DSE_C_unit_gbs_hbm2, DSE_LPDDR5) == 68.3);
    assert_true(isnan(dse_by_kind(book, DSE_C_phy_mm2_hbm2, DSE_MEMORY_OTHER)));
    catalog_free(c);
}

/* What ships is in order: every range, and every memory of the catalog has a kind. */
static void costs__what_ships_is_whole(void **state)
{
    (void)state;
    struct catalog *c = with(DSE_SOURCE_DATA, "");
    const struct dse_costs *book = book_of(c, "public");
    int known = 0;
    for (int id = 0; id < DSE_CONSTANT_COUNT; id++) {
        const struct dse_constant *row = &book->rows[book->at[id][DSE_PRICE_YEARS - 1]];
        known += book->at[id][0] != 0;
        if (!book->at[id][0]) continue;
        if (!*row->source || !strchr("ABDR", *row->evidence)) fail_msg("%s has no source", dse_constant_rows[id].name);
    }
    assert_true(known > 400);
    const struct dse_memory *m;
    for (size_t i = 0; (m = (const void *)catalog_at(c, DSE_KIND_MEMORY, i)) != NULL; i++)
        if (m->make.kind == DSE_MEMORY_OTHER) fail_msg("%s is of no kind", m->entry.name);
    catalog_free(c);
}

static void refuse(const char *text, int line, int column, const char *part)
{
    struct catalog *c = with(toy_data_dir(), text);
    expect_complaint(&diags, line, column, part);
    assert_null(book_of(c, "mine"));
    catalog_free(c);
}

static void costs__refuses_what_makes_no_sense(void **state)
{
    (void)state;
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = -1\n", 3, 17, "wafer_usd_7nm: -1 is not above 0");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = 0\n", 3, 17, "wafer_usd_7nm: 0 is not above 0");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = nan\n", 3, 17, "wafer_usd_7nm: nan is not");
    refuse("[costs.mine]\nlike = 'public'\nleakage_share_7nm = 1.5\n", 3, 21, "at most 1 share");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = 'much'\n", 3, 17, "a number is needed, not a string");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = []\n", 3, 17, "an empty list");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = {low = 1}\n", 3, 1, "wafer_usd_7nm has no typical");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = {low = 3, typical = 2}\n", 3, 37, "typical is below low");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = {typical = 2, high = 1}\n", 3, 28, "high is below typical");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = {typical = 2, year = 20}\n", 3, 38, "year: 20 is not within");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = {typical = 2, evidence = 'Z'}\n", 3, 42, "none of A");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_7nm = [{typical = 2}, {typical = 3}]\n", 3, 33, "its year is here twice");
    refuse("[costs.mine]\nlike = 'public'\nwafer_usd_9nm = 4\n", 3, 1, "wafer_usd_9nm");
    refuse("[costs.mine]\nwafer_usd_7nm = 4\n", 1, 8, "book of costs mine has no like");
    refuse("[costs.mine]\nlike = 'secret'\n", 2, 8, "there is no book of costs \"secret\"");
    refuse("[costs]\nmine = 4\n", 2, 1, "mine is an integer; a book is a table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs__a_price_is_of_its_year),
        cmocka_unit_test(costs__families_are_found_by_node_and_memory),
        cmocka_unit_test(costs__what_ships_is_whole),
        cmocka_unit_test(costs__refuses_what_makes_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
