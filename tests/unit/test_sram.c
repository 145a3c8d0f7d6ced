/* SRAM tables: exact on the macros of CACTI and of the papers, what is between and beyond them, and what is no table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dse_config.h"
#include "hw/sram.h"
#include "rows.h"

#include <stdio.h>

static struct rows table;

static struct dse_sram macro_of(size_t i)
{
    return (struct dse_sram){.area_mm2 = rows_number(&table, i, "area_mm2"),
                             .leakage_mw = rows_number(&table, i, "leakage_mw"),
                             .read_pj = rows_number(&table, i, "read_pj"),
                             .write_pj = rows_number(&table, i, "write_pj"),
                             .dynamic_mw = rows_number(&table, i, "dynamic_mw"),
                             .access_ns = rows_number(&table, i, "access_ns")};
}

static double capacity_of(size_t i)
{
    return rows_number(&table, i, "capacity_mib");
}

static double word_of(size_t i)
{
    return rows_number(&table, i, "word_bits");
}

/* The rows of one table stand together: [*ret_first, *ret_end). */
static void find_rows(const char *name, size_t *ret_first, size_t *ret_end)
{
    size_t i = 0;
    while (i < table.n && strcmp(rows_string(&table, i, "name"), name) != 0) i++;
    if (i == table.n) fail_msg("no table %s", name);
    *ret_first = i;
    while (i < table.n && strcmp(rows_string(&table, i, "name"), name) == 0) i++;
    *ret_end = i;
}

/* The table of that name, without the macros of one capacity (0: of none). */
static struct dse_sram_table *make_without(const char *name, double capacity)
{
    size_t first, end;
    find_rows(name, &first, &end);
    struct dse_sram_table *t = sram_table_new(name, rows_string(&table, first, "source"), rows_number(&table, first, "node_nm"));
    for (size_t i = first; i < end; i++) {
        struct dse_sram m = macro_of(i);
        if (capacity_of(i) != capacity) sram_table_add(t, capacity_of(i), word_of(i), &m);
    }
    char *why = NULL;
    if (!sram_table_finish(t, &why)) fail_msg("%s: %s", name, why);
    return t;
}

static struct dse_sram_table *make(const char *name)
{
    return make_without(name, 0);
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void sram__is_exact_on_every_macro_of_the_catalog(void **state)
{
    (void)state;
    size_t tables = 0;
    for (size_t first = 0, end; first < table.n; first = end) {
        find_rows(rows_string(&table, first, "name"), &first, &end);
        struct dse_sram_table *t = make(rows_string(&table, first, "name"));
        assert_true(dse_sram_node_nm(t) == rows_number(&table, first, "node_nm"));
        tables++;
        for (size_t i = first; i < end; i++) {
            struct dse_sram got, want = macro_of(i);
            assert_true(dse_sram_at(t, capacity_of(i), word_of(i), &got));
            assert_true(same(got.area_mm2, want.area_mm2) && same(got.leakage_mw, want.leakage_mw) &&
                        same(got.read_pj, want.read_pj));
            assert_true(same(got.write_pj, want.write_pj) && same(got.dynamic_mw, want.dynamic_mw) &&
                        same(got.access_ns, want.access_ns));
        }
        sram_table_free(t);
    }
    assert_int_equal(tables, 36 + 4); /* CACTI: 3 nodes, 4 cells, 3 ports; two papers, each as published and extended */
}

static void assert_between(double y, double a, double b, double c, double d)
{
    double lo = fmin(fmin(a, b), fmin(c, d)), hi = fmax(fmax(a, b), fmax(c, d));
    assert_true(y >= lo * (1 - 1e-12) && y <= hi * (1 + 1e-12));
}

static void sram__between_macros_stays_between_them(void **state)
{
    (void)state;
    static const double capacity[] = {0.03125, 0.0625, 0.125, 0.25, 0.5, 1, 1.5, 2, 2.5, 3.5, 4, 8},
                        word[] = {64, 128, 256, 512, 2048};
    struct dse_sram_table *t = make("cacti-22nm-hp-1rw");
    for (size_t i = 0; i + 1 < sizeof capacity / sizeof *capacity; i++)
        for (size_t j = 0; j + 1 < sizeof word / sizeof *word; j++) {
            struct dse_sram m[4], y;
            for (size_t k = 0; k < 4; k++) assert_true(dse_sram_at(t, capacity[i + k / 2], word[j + k % 2], &m[k]));
            for (double u = 0.05; u < 1; u += 0.1) {
                double c = capacity[i] + u * (capacity[i + 1] - capacity[i]), w = word[j + 1] - u * (word[j + 1] - word[j]);
                assert_true(dse_sram_at(t, c, w, &y));
                assert_between(y.area_mm2, m[0].area_mm2, m[1].area_mm2, m[2].area_mm2, m[3].area_mm2);
                assert_between(y.read_pj, m[0].read_pj, m[1].read_pj, m[2].read_pj, m[3].read_pj);
                assert_between(y.leakage_mw, m[0].leakage_mw, m[1].leakage_mw, m[2].leakage_mw, m[3].leakage_mw);
            }
        }
    sram_table_free(t);
}

/* Macros on a power law: found again anywhere, on either axis. */
static void sram__finds_a_power_law_again(void **state)
{
    (void)state;
    struct dse_sram_table *t = sram_table_new("law", "test", 28);
    for (double c = 0.125; c <= 8; c *= 4)
        for (double w = 64; w <= 1024; w *= 4) {
            struct dse_sram m = {.area_mm2 = 0.9 * pow(c, 0.95) * pow(w, 0.1),
                                 .leakage_mw = (double)NAN,
                                 .read_pj = pow(c, 0.5) * w,
                                 .write_pj = pow(c, 0.5) * w,
                                 .dynamic_mw = (double)NAN,
                                 .access_ns = 1};
            sram_table_add(t, c, w, &m);
        }
    char *why = NULL;
    assert_true(sram_table_finish(t, &why));
    for (double c = 0.125; c <= 8; c *= 1.07)
        for (double w = 64; w <= 1024; w *= 1.3) {
            struct dse_sram m;
            assert_true(dse_sram_at(t, c, w, &m));
            assert_true(fabs(m.area_mm2 / (0.9 * pow(c, 0.95) * pow(w, 0.1)) - 1) < 1e-12);
            assert_true(fabs(m.read_pj / (pow(c, 0.5) * w) - 1) < 1e-12);
            assert_true(isnan(m.leakage_mw) && isnan(m.dynamic_mw) && fabs(m.access_ns - 1) < 1e-12);
        }
    sram_table_free(t);
}

static void sram__outside_of_its_macros_is_refused(void **state)
{
    (void)state;
    struct dse_sram_table *t = make("cacti-22nm-hp-1rw"), *lad = make("lad-table3");
    struct dse_sram m = {.area_mm2 = 7};
    double lo, hi;
    dse_sram_range(t, &lo, &hi);
    assert_true(lo == 0.03125 && hi == 8);
    assert_false(dse_sram_at(t, 8.001, 64, &m));
    assert_false(dse_sram_at(t, 0.03, 64, &m));
    assert_false(dse_sram_at(t, 1, 63, &m));
    assert_false(dse_sram_at(t, 1, 2049, &m));
    assert_false(dse_sram_at(t, (double)NAN, 64, &m));
    assert_false(dse_sram_at(lad, 1.4, 2048, &m));
    assert_false(dse_sram_at(lad, 3.6, 2048, &m));
    assert_true(m.area_mm2 == 7);
    assert_true(dse_sram_at(lad, 2, 2048, &m) && dse_sram_at(lad, 2, (double)NAN, &m)); /* one word width: ignored */
    sram_table_free(t);
    sram_table_free(lad);
}

/* ---- how far interpolation can be trusted ----------------------------------------------------------------------------- */

struct errors {
    size_t n, within_10;
    double sum, worst;
};

static void note(struct errors *e, double got, double want)
{
    double x = fabs(log(got / want));
    e->n++;
    e->sum += x;
    if (x < 0.1) e->within_10++;
    e->worst = fmax(e->worst, x);
}

static void report(const char *what, const struct errors *e, double mean, double share)
{
    print_message("%-10s left out and interpolated: mean error %.1f %%, worst %.0f %%, %.0f %% of %zu within 10 %%\n", what,
                  100 * expm1(e->sum / (double)e->n), 100 * expm1(e->worst), 100 * (double)e->within_10 / (double)e->n, e->n);
    assert_true(e->sum / (double)e->n < mean);
    assert_true((double)e->within_10 >= share * (double)e->n);
}

/* Every capacity but the first and last is taken out of every CACTI table in turn and found again from its neighbours. CACTI
 * optimises each point alone, so its curves jump: leakage, which follows the cells, does not; 2048-bit words on small arrays do
 * most. */
static void cacti__macros_left_out_are_found_again(void **state)
{
    (void)state;
    struct errors area = {0}, read = {0}, leakage = {0}, wide = {0};
    for (size_t first = 0, end; first < table.n; first = end) {
        const char *name = rows_string(&table, first, "name");
        find_rows(name, &first, &end);
        if (strncmp(name, "cacti-", 6) != 0) continue;
        for (size_t i = first; i < end; i++) {
            if (capacity_of(i) == capacity_of(first) || capacity_of(i) == capacity_of(end - 1)) continue;
            if (word_of(i) != word_of(first)) continue; /* once a capacity */
            struct dse_sram_table *t = make_without(name, capacity_of(i));
            for (size_t k = i; k < end && capacity_of(k) == capacity_of(i); k++) {
                struct dse_sram got, want = macro_of(k);
                assert_true(dse_sram_at(t, capacity_of(k), word_of(k), &got));
                if (word_of(k) > 512) {
                    note(&wide, got.area_mm2, want.area_mm2);
                    continue;
                }
                note(&area, got.area_mm2, want.area_mm2);
                note(&read, got.read_pj, want.read_pj);
                note(&leakage, got.leakage_mw, want.leakage_mw);
            }
            sram_table_free(t);
        }
    }
    report("area", &area, 0.06, 0.80);
    report("read", &read, 0.06, 0.85);
    report("leakage", &leakage, 0.05, 0.85);
    report("area 2048b", &wide, 0.25, 0.2);
}

/* LAD's 2.5 MB macro from the 1.5 and 3.5 MB ones: claims lad.tab3.sram25.*. The dynamic power of Table III is not smooth. */
static void lad__middle_macro_from_the_outer_two(void **state)
{
    (void)state;
    struct dse_sram_table *t = make_without("lad-table3", 2.5);
    struct dse_sram m;
    assert_true(dse_sram_at(t, 2.5, 2048, &m));
    print_message("LAD 2.5 MB from 1.5 and 3.5: area %+.1f %%, dynamic %+.1f %%, static %+.1f %%\n", 100 * (m.area_mm2 / 2.231 - 1),
                  100 * (m.dynamic_mw / 841.97 - 1), 100 * (m.leakage_mw / 193.58 - 1));
    assert_true(fabs(m.area_mm2 / 2.231 - 1) < 0.09);
    assert_true(fabs(m.dynamic_mw / 841.97 - 1) < 0.18);
    assert_true(fabs(m.leakage_mw / 193.58 - 1) < 0.025);
    sram_table_free(t);
}

/* ---- beyond the papers' macros ---------------------------------------------------------------------------------------- */

/* Slope of ln y over ln capacity in a CACTI table at one word width, least squares over 0.25 to 8 MiB. */
static double slope(const char *name, double word, const char *metric)
{
    size_t first, end, n = 0;
    find_rows(name, &first, &end);
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = first; i < end; i++) {
        if (word_of(i) != word || capacity_of(i) < 0.25) continue;
        double x = log(capacity_of(i)), y = log(rows_number(&table, i, metric));
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        n++;
    }
    return (sxy - sx * sy / (double)n) / (sxx - sx * sx / (double)n);
}

static void assert_continues(const char *extended, const char *published, const char *cacti)
{
    struct dse_sram_table *e = make(extended), *p = make(published);
    double lo, hi, from, to;
    dse_sram_range(e, &lo, &hi);
    dse_sram_range(p, &from, &to);
    double area = slope(cacti, 512, "area_mm2"), read = slope(cacti, 512, "read_pj"), leak = slope(cacti, 512, "leakage_mw");
    assert_true(lo < from && hi == 16);
    for (double c = lo; c <= hi; c *= 1.03) {
        double edge = c < from ? from : c > to ? to : c, k = c / edge;
        struct dse_sram got, base;
        assert_true(dse_sram_at(e, c, 512, &got) && dse_sram_at(p, edge, 512, &base));
        assert_true(fabs(got.area_mm2 / (base.area_mm2 * pow(k, area)) - 1) < 2e-5);
        assert_true(fabs(got.dynamic_mw / (base.dynamic_mw * pow(k, read)) - 1) < 2e-5);
        if (isnan(base.leakage_mw))
            assert_true(isnan(got.leakage_mw));
        else
            assert_true(fabs(got.leakage_mw / (base.leakage_mw * pow(k, leak)) - 1) < 2e-5);
    }
    sram_table_free(e);
    sram_table_free(p);
}

/* The extended tables are the papers' macros, continued from the nearest by CACTI's power laws of the same node: the dynamic
 * power like the energy of a read, at the same accesses a second. */
static void extended__tables_follow_cacti_beyond_the_papers(void **state)
{
    (void)state;
    assert_continues("lad-table3-extended", "lad-table3", "cacti-22nm-hp-1rw");
    assert_continues("veda-table1-extended", "veda-table1", "cacti-28nm-hp-1rw");
}

static void extended__grows_with_the_capacity(void **state)
{
    (void)state;
    struct dse_sram_table *t = make("lad-table3-extended");
    struct dse_sram before = {0}, m;
    for (double c = 0.25; c <= 16; c += 1.0 / 64) {
        assert_true(dse_sram_at(t, c, 512, &m));
        assert_true(m.area_mm2 > before.area_mm2 && m.dynamic_mw > before.dynamic_mw && m.leakage_mw > before.leakage_mw);
        assert_true(m.area_mm2 / c > 0.8 && m.area_mm2 / c < 1.2); /* Table III: 0.89 to 1.06 mm2 a MB */
        before = m;
    }
    sram_table_free(t);
}

/* Table III was made with CACTI at 22 nm too. Its leakage and dynamic power grow as CACTI's do; its area grows more slowly. */
static void cacti__slopes_agree_with_table_iii(void **state)
{
    (void)state;
    static const struct {
        const char *cacti, *what;
        double a, b, tolerance;
    } of[] = {{"area_mm2", "area", 1.596, 3.187, 0.15},
              {"read_pj", "dynamic", 733.33, 1202.82, 0.02},
              {"leakage_mw", "static", 118.25, 276.55, 0.02}};
    for (size_t i = 0; i < 3; i++) {
        double cacti = slope("cacti-22nm-hp-1rw", 512, of[i].cacti), lad = log(of[i].b / of[i].a) / log(3.5 / 1.5);
        print_message("%-8s grows as capacity^%.3f in Table III (1.5 to 3.5 MB), ^%.3f in CACTI (0.25 to 8 MiB)\n", of[i].what, lad,
                      cacti);
        assert_true(fabs(cacti - lad) < of[i].tolerance);
    }
}

/* ---- what is no table --------------------------------------------------------------------------------------------------- */

static void assert_refused(const double (*macros)[3], size_t n, const char *want)
{
    struct dse_sram_table *t = sram_table_new("bad", "test", 28);
    for (size_t i = 0; i < n; i++) {
        struct dse_sram m = {macros[i][2], 1, 1, 1, (double)NAN, 1};
        sram_table_add(t, macros[i][0], macros[i][1], &m);
    }
    char *why = NULL;
    assert_false(sram_table_finish(t, &why));
    assert_string_equal(why, want);
    free(why);
    sram_table_free(t);
}

static void table__refuses_what_is_no_grid_of_macros(void **state)
{
    (void)state;
    double none = (double)NAN;
    assert_refused(NULL, 0, "no macros");
    assert_refused((const double[][3]){{1, 64, 1}, {1, 64, 2}}, 2, "capacity_mib 1, word_bits 64: the macro is there twice");
    assert_refused((const double[][3]){{1, 64, 1}, {1, 128, 2}, {2, 64, 2}}, 3,
                   "capacity_mib 2 does not have the word widths of capacity_mib 1");
    assert_refused((const double[][3]){{1, 64, 1}, {2, 64, 2}, {2, 128, 2}}, 3,
                   "capacity_mib 2 does not have the word widths of capacity_mib 1");
    assert_refused((const double[][3]){{1, 64, 1}, {1, 128, 2}, {2, 64, 2}, {2, 256, 2}}, 4,
                   "capacity_mib 2 does not have the word widths of capacity_mib 1");
    assert_refused((const double[][3]){{1, 64, 1}, {2, 64, none}}, 2,
                   "macro 2: area_mm2 is given in some macros of the table only");
    assert_refused((const double[][3]){{1, 64, 1}, {2, 64, -3}}, 2, "macro 2: area_mm2 -3 is not a positive number");
    assert_refused((const double[][3]){{1, 64, 1}, {2, none, 1}}, 2,
                   "macro 2: word_bits is given in some macros of the table only");
    assert_refused((const double[][3]){{0, 64, 1}}, 1, "macro 1: capacity_mib 0 is not a positive number");
    assert_refused((const double[][3]){{1, -1, 1}}, 1, "macro 1: word_bits -1 is not a positive number");
    sram_table_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sram__is_exact_on_every_macro_of_the_catalog),
        cmocka_unit_test(sram__between_macros_stays_between_them),
        cmocka_unit_test(sram__finds_a_power_law_again),
        cmocka_unit_test(sram__outside_of_its_macros_is_refused),
        cmocka_unit_test(cacti__macros_left_out_are_found_again),
        cmocka_unit_test(lad__middle_macro_from_the_outer_two),
        cmocka_unit_test(extended__tables_follow_cacti_beyond_the_papers),
        cmocka_unit_test(extended__grows_with_the_capacity),
        cmocka_unit_test(cacti__slopes_agree_with_table_iii),
        cmocka_unit_test(table__refuses_what_is_no_grid_of_macros),
    };
    rows_read_csv(&table, DSE_SOURCE_DATA "/catalog/sram.csv");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rows_release(&table);
    return failed;
}
