/* Bounds of the hardware that models share (dse/bound.h), over boxes of LAD's parameters, which have all of it: at random points
 * what hw, chip and cost compute lies in the intervals, and of one point they are what is computed there. */
#include "lad_struct.h"
#include "bound_boxes.h"
#include "samples.h"

#include <dse/bound.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct boxes b;
static const double tiny = 1e-300; /* what rounding outward makes of 0 */

static int set_up_boxes(void **state)
{
    return set_up(state) || !boxes_init(&b, registry_find("lad")) ? -1 : 0;
}

static int tear_down_boxes(void **state)
{
    boxes_release(&b);
    return tear_down(state);
}

static void assert_in(const char *what, struct dse_interval a, double v)
{
    if (isnan(v)) return;
    const double off = 1e-12 * fabs(v);
    if (!(a.lo <= v + off && v - off <= a.hi)) fail_msg("%s is %.17g, outside of %.17g to %.17g", what, v, a.lo, a.hi);
}

/* Of one point there is no doubt. */
static void assert_at(const char *what, struct dse_interval a, double v)
{
    if (isnan(v)) return;
    assert_in(what, a, v);
    if (!(a.hi - a.lo <= 1e-9 * fabs(v) + tiny)) fail_msg("%s is %.17g, and its bound %.17g to %.17g", what, v, a.lo, a.hi);
}

/* Every second box is one point. */
static bool draw(int i)
{
    const double width[] = {1.0001, 1.1, 2, 1000};
    if (i % 2) return box_draw(&b, 0.2, 0.15, width[i / 2 % 4]);
    if (!box_base(&b, 0.2)) return false;
    for (int c = 1; c < BOX_CORNERS; c++) boxes_copy(&b, b.corner[c], b.corner[0]);
    boxes_copy(&b, b.lo, b.corner[0]);
    boxes_copy(&b, b.hi, b.corner[0]);
    return true;
}

static void check(bool is_point, const char *what, struct dse_interval a, double v)
{
    if (is_point)
        assert_at(what, a, v);
    else
        assert_in(what, a, v);
}

/* Each test asks all boxes, each at some points. */
typedef void ask(bool is_point);
static void ask_boxes(ask *of_box)
{
    const int boxes = samples(1500, 10000);
    int asked = 0;
    for (int i = 0; i < boxes; i++) {
        if (!draw(i)) continue;
        asked++;
        of_box(i % 2 == 0);
    }
    assert_true(asked > boxes / 2);
}

enum { POINTS = 10 };

static void ask_dram(bool is_point)
{
    const struct dse_dram *lo = &((const struct lad_params *)b.lo)->dram, *hi = &((const struct lad_params *)b.hi)->dram;
    const double from = exp(uniform() * 12), to = is_point || uniform() < 0.3 ? from : from * exp(uniform() * 3);
    const struct dse_interval access = dse_iv(from, to), some = dse_iv(1e6, is_point ? 1e6 : 3e6);
    const struct dse_interval efficiency = dse_dram_efficiency_bound(lo, hi, access);
    const struct dse_interval seconds = dse_dram_seconds_bound(lo, hi, some, access);
    const struct dse_interval moved = dse_dram_moved_bound(lo, hi, some, access), joules = dse_dram_joules_bound(lo, hi, some);
    const struct dse_interval stream = dse_dram_stream_seconds_bound(lo, hi, some);
    const struct dse_interval endless = dse_dram_efficiency_bound(lo, hi, dse_iv_of((double)INFINITY));
    for (int i = 0; i < POINTS; i++) {
        if (!box_point(&b, i) || !accepts(&b, b.point)) continue;
        const struct dse_dram *d = &((const struct lad_params *)b.point)->dram;
        const double bytes = some.lo + (some.hi - some.lo) * uniform(), each = from + (to - from) * uniform();
        check(is_point, "efficiency", efficiency, dse_dram_efficiency(d, each));
        check(is_point, "seconds", seconds, dse_dram_seconds(d, bytes, each));
        check(is_point, "moved", moved, dse_dram_moved(d, bytes, each));
        check(is_point, "joules", joules, dse_dram_joules(d, bytes));
        check(is_point, "stream", stream, dse_dram_stream_seconds(d, bytes));
        check(is_point, "endless", endless, d->dram_efficiency);
    }
}

static void hw__bounds_of_dram_hold(void **state)
{
    (void)state;
    ask_boxes(ask_dram);
}

static void ask_sram(bool is_point)
{
    const struct lad_params *lo = b.lo, *hi = b.hi;
    struct dse_sram_bound at;
    const bool any =
        dse_sram_bound(lo->sram, dse_iv(lo->sram_mib, hi->sram_mib), dse_iv_i64(lo->sram_word_bits, hi->sram_word_bits), &at);
    for (int i = 0; i < POINTS; i++) {
        struct dse_sram s;
        box_point(&b, i);
        const struct lad_params *p = b.point;
        if (!dse_sram_at(p->sram, p->sram_mib, (double)p->sram_word_bits, &s) || !in_box(&b, b.point)) continue;
        assert_true(any);
        check(is_point, "area", at.area_mm2, s.area_mm2);
        check(is_point, "leakage", at.leakage_mw, s.leakage_mw);
        check(is_point, "read", at.read_pj, s.read_pj);
        check(is_point, "write", at.write_pj, s.write_pj);
        check(is_point, "dynamic", at.dynamic_mw, s.dynamic_mw);
        check(is_point, "access", at.access_ns, s.access_ns);
    }
}

static void hw__bounds_of_sram_hold(void **state)
{
    (void)state;
    ask_boxes(ask_sram);
}

static void ask_supply(bool is_point)
{
    const struct lad_params *lo = b.lo, *hi = b.hi;
    const struct dse_costs *book = lo->economics.costs;
    struct dse_supply_bound at;
    const bool any = dse_supply_bound(book, lo->technology, 22, LAD_PUBLISHED_GHZ, dse_iv(lo->clock_ghz, hi->clock_ghz), &at);
    for (int i = 0; i < POINTS; i++) {
        struct dse_supply s;
        const double ghz = i == 0   ? lo->clock_ghz
                           : i == 1 ? hi->clock_ghz
                                    : lo->clock_ghz + (hi->clock_ghz - lo->clock_ghz) * uniform();
        if (!dse_supply_at(book, lo->technology, 22, LAD_PUBLISHED_GHZ, ghz, &s)) continue;
        assert_true(any);
        check(is_point, "volts", at.volts, s.volts);
        check(is_point, "energy", at.energy, s.energy);
        check(is_point, "clock tree", at.clock_tree, s.clock_tree);
        check(is_point, "leakage", at.leakage, s.leakage);
    }
}

static void hw__bounds_of_the_supply_hold(void **state)
{
    (void)state;
    ask_boxes(ask_supply);
}

/* The die of a core that goes with the SRAM, and what it costs in boards, stacks and years. */
static double core_of(const struct lad_params *p)
{
    return (double)p->tiles * 0.7 * p->sram_mib;
}

static double watts_of(const struct lad_params *p)
{
    return 5 * p->clock_ghz * (double)p->tiles;
}

static double rate_of(const struct lad_params *p)
{
    return 3 * p->dram.bandwidth_gbs;
}

static void ask_chip(bool is_point)
{
    const struct lad_params *lo = b.lo, *hi = b.hi;
    const struct dse_costs *book = lo->economics.costs;
    const double nm = lo->technology->node_nm;
    struct dse_die_bound die;
    struct dse_priced_bound priced;
    const bool any = dse_die_bound(book, lo->area, dse_iv(core_of(lo), core_of(hi)), dse_iv_i64(lo->tiles, hi->tiles), &lo->dram,
                                   &hi->dram, nm, true, &die);
    const struct dse_bill cheap = dse_bill_of_chip(&lo->economics, 1, any ? die.area_mm2.lo : (double)NAN, nm, &lo->dram);
    const struct dse_bill dear = dse_bill_of_chip(&hi->economics, 2, any ? die.area_mm2.hi : (double)NAN, nm, &hi->dram);
    const struct dse_interval watts = dse_iv(watts_of(lo), watts_of(hi)), rate = dse_iv(rate_of(lo), rate_of(hi));
    dse_bill_bound(&cheap, is_point ? &cheap : &dear, watts, rate, dse_iv_div(watts, rate), &priced);
    for (int i = 0; i < POINTS; i++) {
        struct dse_die d;
        struct dse_priced v;
        if (!box_point(&b, i)) continue;
        const struct lad_params *p = b.point;
        dse_die_at(book, p->area, core_of(p), p->tiles, &p->dram, nm, &d);
        if (p->area != DSE_AREA_CORE && dse_die_check(book, &d)) continue;
        assert_true(any);
        check(is_point, "area", die.area_mm2, d.area_mm2);
        check(is_point, "phy", die.phy_mm2, d.phy_mm2);
        check(is_point, "noc", die.noc_mm2, d.noc_mm2);
        const struct dse_bill bill = dse_bill_of_chip(&p->economics, is_point ? 1 : 1 + uniform(), d.area_mm2, nm, &p->dram);
        dse_bill_price(&bill, watts_of(p), rate_of(p), &v);
        check(is_point, "die_usd", priced.die_usd, v.die_usd);
        check(is_point, "design_usd", priced.design_usd, v.design_usd);
        check(is_point, "system_usd", priced.system_usd, v.system_usd);
        check(is_point, "usd_per_mtoken", priced.usd_per_mtoken, v.usd_per_mtoken);
        check(is_point, "embodied_kgco2", priced.embodied_kgco2, v.embodied_kgco2);
        check(is_point, "gco2_per_mtoken", priced.gco2_per_mtoken, v.gco2_per_mtoken);
    }
}

static void hw__bounds_of_dies_and_bills_hold(void **state)
{
    (void)state;
    ask_boxes(ask_chip);
}

/* A board whose maker says what it draws, with work and without. */
static void ask_boards(bool is_point)
{
    const struct lad_params *lo = b.lo, *hi = b.hi;
    const struct dse_gpu *gpu = (const struct dse_gpu *)catalog_at(catalog, DSE_KIND_GPU, 0);
    const struct dse_interval watts = dse_iv(30 + watts_of(lo), 30 + watts_of(hi)), rate = dse_iv(rate_of(lo), rate_of(hi));
    struct dse_priced_bound priced;
    struct dse_bill cheap = dse_bill_of_gpus(&lo->economics, 1, gpu), dear = dse_bill_of_gpus(&hi->economics, 1, gpu);
    cheap.idle_w = dear.idle_w = 60;
    dse_bill_bound(&cheap, &dear, watts, rate, dse_iv_div(watts, rate), &priced);
    for (int i = 0; i < POINTS; i++) {
        struct dse_priced v;
        if (!box_point(&b, i)) continue;
        const struct lad_params *p = b.point;
        struct dse_bill bill = dse_bill_of_gpus(&p->economics, 1, gpu);
        bill.idle_w = 60;
        dse_bill_price(&bill, 30 + watts_of(p), rate_of(p), &v);
        check(is_point, "system_usd", priced.system_usd, v.system_usd);
        check(is_point, "usd_per_mtoken", priced.usd_per_mtoken, v.usd_per_mtoken);
        check(is_point, "embodied_kgco2", priced.embodied_kgco2, v.embodied_kgco2);
        check(is_point, "gco2_per_mtoken", priced.gco2_per_mtoken, v.gco2_per_mtoken);
    }
}

static void hw__bounds_of_boards_hold(void **state)
{
    (void)state;
    ask_boxes(ask_boards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hw__bounds_of_dram_hold),       cmocka_unit_test(hw__bounds_of_sram_hold),
        cmocka_unit_test(hw__bounds_of_the_supply_hold), cmocka_unit_test(hw__bounds_of_dies_and_bills_hold),
        cmocka_unit_test(hw__bounds_of_boards_hold),
    };
    return cmocka_run_group_tests(tests, set_up_boxes, tear_down_boxes);
}
