/* Exchanges over links (dse/interconnect.h, docs/explanation/interconnects.md): what no network can beat, what each argument moves
 * and which way, and bounds over boxes. */
#include "base/random.h"
#include "links_bed.h"

#include <dse/bound.h>
#include <dse/num.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double counts[] = {2, 3, 4, 8, 12, 16, 32, 64, 256};
enum { COUNTS = sizeof counts / sizeof *counts, TOPOLOGIES = DSE_LINK_TORUS_3 + 1, POINTS = 20000 };

static void assert_about(double is, double wanted, double relative)
{
    if (!(fabs(is - wanted) <= relative * fabs(wanted))) fail_msg("%.17g is not %.17g", is, wanted);
}

static double peak(const struct dse_links *l)
{
    return l->link_gbs * l->link_share * DSE_GIGA;
}

/* Patarasuk and Yuan, JPDC 69(2), 2009: 2 (n - 1) / n of the bytes leave each device, and arrive there, where devices add. */
static void allreduce__ring_moves_what_is_least(void **state)
{
    (void)state;
    struct dse_links l = bed_links(DSE_LINK_SWITCH);
    l.allreduce = DSE_ALLREDUCE_RING;
    const double m = 1 << 20;
    for (double n = 2; n <= 16; n++) {
        const struct dse_exchange_cost c = bed_cost(&l, DSE_ALL_REDUCE, n, m);
        assert_about(c.bytes, 2 * (n - 1) / n * m, 1e-12);
        assert_about(c.seconds, 2 * (n - 1) * (0.8e-6 + m / n / peak(&l)), 1e-12);
        assert_about(c.joules, c.bytes * 8 * 11e-12, 1e-12);
        const double half = bed_cost(&l, DSE_REDUCE_SCATTER, n, m).seconds + bed_cost(&l, DSE_ALL_GATHER, n, m).seconds;
        assert_about(c.seconds, half, 1e-12);
    }
}

/* Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005: no ring is faster than log2 n latencies and the bytes that must move. */
static void allreduce__ring_is_above_the_bound_of_latency_and_bytes(void **state)
{
    (void)state;
    for (int t = 0; t < TOPOLOGIES; t++) {
        struct dse_links l = bed_links(t);
        l.linked_devices = 256;
        l.allreduce = DSE_ALLREDUCE_RING;
        for (int i = 0; i < COUNTS; i++)
            for (double m = 256; m < 1e9; m *= 7) {
                const double n = counts[i], least = ceil(log2(n)) * 0.8e-6 + 2 * (n - 1) / n * m / peak(&l);
                assert_true(bed_cost(&l, DSE_ALL_REDUCE, n, m).seconds >= least * (1 - 1e-12));
            }
    }
}

/* Whoever does the adding, each device sends all it has and receives all of the sum. */
static void allreduce__no_way_beats_its_own_bytes(void **state)
{
    (void)state;
    for (int t = 0; t < TOPOLOGIES; t++)
        for (int way = DSE_ALLREDUCE_BEST; way <= DSE_ALLREDUCE_SWITCH; way++) {
            struct dse_links l = bed_links(t);
            l.allreduce = way;
            l.link_reduce_share = t == DSE_LINK_SWITCH ? 0.7 : 0;
            for (int i = 0; i < COUNTS && counts[i] <= 16; i++)
                for (double m = 256; m < 1e9; m *= 7)
                    assert_true(bed_cost(&l, DSE_ALL_REDUCE, counts[i], m).seconds >= m / peak(&l));
        }
}

static void best__is_the_fastest_of_all_ways(void **state)
{
    (void)state;
    for (int t = 0; t < TOPOLOGIES; t++)
        for (int i = 0; i < COUNTS; i++)
            for (double m = 64; m < 1e9; m *= 5) {
                struct dse_links l = bed_links(t);
                l.link_reduce_share = t == DSE_LINK_SWITCH ? 0.7 : 0;
                const double best = bed_cost(&l, DSE_ALL_REDUCE, counts[i], m).seconds;
                for (int way = DSE_ALLREDUCE_RING; way <= DSE_ALLREDUCE_SWITCH; way++) {
                    l.allreduce = way;
                    assert_true(best <= bed_cost(&l, DSE_ALL_REDUCE, counts[i], m).seconds * (1 + 1e-12));
                }
            }
}

/* Few bytes go in one step, many in two. */
static void one_shot__is_for_few_bytes(void **state)
{
    (void)state;
    const struct dse_links l = bed_links(DSE_LINK_SWITCH);
    assert_about(bed_cost(&l, DSE_ALL_REDUCE, 8, 1024).bytes, 7 * 1024., 1e-12);
    assert_about(bed_cost(&l, DSE_ALL_REDUCE, 8, 1 << 26).bytes, 2 * 7. / 8 * (1 << 26), 1e-12);
}

static void nothing__costs_nothing(void **state)
{
    (void)state;
    for (int t = 0; t < TOPOLOGIES; t++)
        for (int kind = 0; kind < DSE_COLLECTIVES; kind++) {
            struct dse_links l = bed_links(t);
            struct dse_interconnect far = bed_beyond;
            l.collective_start_us = 9;
            assert_true(bed_cost(&l, kind, 1, 1e6).seconds == 0 && bed_cost(&l, kind, 1, 1e6).joules == 0);
            assert_true(bed_cost(&l, kind, 8, 0).seconds == 0);
            l.outer_interconnect = &far;
            l.link_gbs = far.link_gbs = (double)INFINITY;
            l.link_latency_us = far.link_latency_us = l.collective_start_us = 0;
            for (int i = 0; i < COUNTS; i++) assert_true(bed_cost(&l, kind, counts[i], 1e6).seconds == 0);
        }
}

/* ---- topologies ---------------------------------------------------------------------------------------------------------- */

/* Half of all bytes cross the middle of a ring, over two links each way. */
static void alltoall__is_above_the_bisection(void **state)
{
    (void)state;
    const double m = 1 << 24;
    struct dse_links l = bed_links(DSE_LINK_RING);
    for (double n = 4; n <= 16; n += 2) {
        l.linked_devices = (int64_t)n;
        const double across = n / 2 * m / 2, links = 2 * peak(&l) / 2;
        assert_true(bed_cost(&l, DSE_ALL_TO_ALL, n, m).seconds >= across / links);
    }
    l = bed_links(DSE_LINK_TORUS_2); /* 4 x 4: 8 links each way */
    assert_true(bed_cost(&l, DSE_ALL_TO_ALL, 16, m).seconds >= 8 * m / 2 / (8 * peak(&l) / 4));
    l = bed_links(DSE_LINK_SWITCH);
    assert_about(bed_cost(&l, DSE_ALL_TO_ALL, 16, m).seconds, 0.8e-6 + 15. / 16 * m / peak(&l), 1e-12);
}

static void mesh__gives_a_pair_one_link(void **state)
{
    (void)state;
    struct dse_links l = bed_links(DSE_LINK_MESH);
    l.link_latency_us = 0;
    l.linked_devices = 8;
    const double m = 1 << 24;
    assert_about(bed_cost(&l, DSE_POINT_TO_POINT, 2, m).seconds, 7 * m / peak(&l), 1e-12);
    assert_about(bed_cost(&l, DSE_ALL_GATHER, 2, m).seconds, 7 * m / 2 / peak(&l), 1e-12);
    assert_about(bed_cost(&l, DSE_ALL_GATHER, 8, m).seconds, 7. / 8 * m / peak(&l), 1e-12);
}

/* ---- beyond an island ---------------------------------------------------------------------------------------------------- */

static void beyond__only_parts_leave_the_island(void **state)
{
    (void)state;
    const struct dse_links l = bed_links(DSE_LINK_SWITCH);
    const double m = 1 << 26;
    struct dse_exchange_cost c = bed_cost(&l, DSE_ALL_REDUCE, 64, m);
    assert_about(c.beyond_bytes, 2 * 3. / 4 * m / 16, 1e-12);
    assert_about(c.bytes - c.beyond_bytes, 2 * 15. / 16 * m, 1e-12);
    assert_about(c.joules, (c.bytes - c.beyond_bytes) * 8 * 11e-12 + c.beyond_bytes * 8 * 56e-12, 1e-12);
    c = bed_cost(&l, DSE_ALL_TO_ALL, 64, m);
    assert_about(c.beyond_bytes, 48. / 64 * m, 1e-12);
    assert_about(c.bytes - c.beyond_bytes, 15. / 64 * m, 1e-12);
    assert_true(bed_cost(&l, DSE_ALL_GATHER, 16, m).beyond_bytes == 0);
}

/* NCCL's trees (github.com/NVIDIA/nccl, tuning.cc): as many steps as the tree is deep, up and down, where a ring goes round twice;
 * what both trees together send of a byte is 2, where a ring sends 2 (k - 1) / k. */
static void trees__join_many_islands_for_few_bytes(void **state)
{
    (void)state;
    struct dse_links l = bed_links(DSE_LINK_SWITCH), ring = l;
    l.allreduce = DSE_ALLREDUCE_SWITCH;
    ring.allreduce = DSE_ALLREDUCE_RING;
    const double few = 1 << 14, many = 1e11, islands = 64, n = 16 * islands, out = 50e9 * 0.96, in = peak(&l);
    const struct dse_exchange_cost c = bed_cost(&l, DSE_ALL_REDUCE, n, few);
    assert_about(c.seconds, 2 * 15 * 0.8e-6 + 2 * 15. / 16 * few / in + 12 * 2.7e-6 + 2 * few / 16 / out, 1e-12);
    assert_about(c.beyond_bytes, 2 * few / 16, 1e-12);
    assert_about(bed_cost(&l, DSE_ALL_REDUCE, n, many).seconds, bed_cost(&ring, DSE_ALL_REDUCE, n, many).seconds, 1e-12);
    assert_about(bed_cost(&l, DSE_ALL_REDUCE, 16, few).seconds, bed_cost(&ring, DSE_ALL_REDUCE, 16, few).seconds, 1e-12);
    assert_about(bed_cost(&l, DSE_ALL_REDUCE, 32, few).seconds, bed_cost(&ring, DSE_ALL_REDUCE, 32, few).seconds, 1e-12);
}

/* Stages and replicas of groups of 8 stand 8 apart: two of them in an island of 16. */
static void stride__spreads_a_group_over_islands(void **state)
{
    (void)state;
    const struct dse_links l = bed_links(DSE_LINK_SWITCH);
    struct dse_exchange x = {DSE_POINT_TO_POINT, .devices = 2, .stride = 8, .bytes = 1 << 20, .imbalance = 1};
    struct dse_exchange_cost near, far;
    dse_exchange_at(&l, &x, &near);
    x.devices = 4;
    dse_exchange_at(&l, &x, &far);
    assert_true(near.beyond_bytes == 0 && far.beyond_bytes == 1 << 20 && far.seconds > near.seconds);
    x.kind = DSE_ALL_REDUCE;
    x.stride = 16;
    dse_exchange_at(&l, &x, &far);
    assert_true(far.bytes == far.beyond_bytes);
    assert_null(dse_links_check(&l, 32768));
    assert_non_null(dse_links_check(&l, 32769));
}

/* 25 messages of a MiB and more between two A100 of a DGX (catalog/measured/collectives_vidur.csv, split calibrate) are 12 % off
 * without the filling of a pipeline, and 46 % with it. */
static void pair__has_no_pipeline_to_fill(void **state)
{
    (void)state;
    struct dse_links l = bed_links(DSE_LINK_SWITCH);
    l.collective_start_us = 9;
    l.collective_fill_share = 1;
    assert_about(bed_cost(&l, DSE_POINT_TO_POINT, 2, 1 << 24).seconds, 9.8e-6 + (1 << 24) / peak(&l), 1e-12);
    assert_true(bed_cost(&l, DSE_ALL_GATHER, 2, 1 << 25).seconds > 1.2 * bed_cost(&l, DSE_POINT_TO_POINT, 2, 1 << 24).seconds);
}

/* ---- which way each argument moves it -------------------------------------------------------------------------------------- */

static uint64_t drawn;

static double uniform(void)
{
    return random_unit(random_at(17, 0, drawn++));
}

static uint64_t below(uint64_t n)
{
    return random_below(random_at(17, 1, drawn++), n);
}

static double between(double lo, double hi)
{
    return lo * pow(hi / lo, uniform());
}

static double within(double lo, double hi)
{
    return lo + (hi - lo) * uniform();
}

static struct dse_links draw_links(void)
{
    struct dse_links l = bed_links((int32_t)below(TOPOLOGIES));
    l.link_gbs = between(1, 1e4);
    l.link_share = within(0.1, 1);
    l.link_latency_us = within(0, 5);
    l.link_pj_per_bit = within(0, 50);
    l.linked_devices = (int64_t)between(1, 100);
    l.link_reduce_share = l.link_topology == DSE_LINK_SWITCH && below(2) ? within(0.1, 1) : 0;
    l.link_reduce_us = within(0, 20);
    l.collective_start_us = within(0, 20);
    l.collective_fill_share = within(0, 1);
    l.allreduce = (int32_t)below(DSE_ALLREDUCE_SWITCH + 1);
    return l;
}

static struct dse_exchange draw_exchange(void)
{
    return (struct dse_exchange){.kind = (enum dse_collective)below(DSE_COLLECTIVES),
                                 .devices = floor(between(1, 300)),
                                 .stride = floor(between(1, 16)),
                                 .bytes = between(1, 1e9),
                                 .imbalance = within(1, 3)};
}

static double seconds_of(const struct dse_links *l, const struct dse_exchange *x)
{
    struct dse_exchange_cost c;
    dse_exchange_at(l, x, &c);
    assert_true(isfinite(c.seconds) && c.seconds >= 0 && isfinite(c.bytes) && isfinite(c.joules));
    return c.seconds * (1 + 1e-12);
}

static void every_argument__moves_seconds_one_way(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        const struct dse_links l = draw_links();
        const struct dse_exchange x = draw_exchange();
        const double was = seconds_of(&l, &x) / (1 + 2e-12), more = between(1, 10);
        struct dse_exchange y = x;
        y.bytes *= more;
        assert_true(seconds_of(&l, &y) >= was);
        y = x;
        y.imbalance *= more;
        assert_true(seconds_of(&l, &y) >= was);
        struct dse_links slower[] = {l, l, l, l, l, l, l};
        slower[0].link_gbs /= more;
        slower[1].link_share /= more;
        slower[2].link_latency_us *= more;
        slower[3].link_reduce_share /= more;
        slower[4].link_reduce_us *= more;
        slower[5].collective_start_us *= more;
        slower[6].collective_fill_share *= more;
        for (int k = 0; k < 7; k++) assert_true(seconds_of(&slower[k], &x) >= was);
    }
}

static void bound__holds_at_every_point(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        struct dse_links lo = draw_links(), hi = lo, at;
        struct dse_exchange x_lo = draw_exchange(), x_hi = x_lo, x;
        const double w = i % 3 ? between(1, 4) : 1;
        double *a[] = {&lo.link_gbs, &lo.link_latency_us, &lo.link_pj_per_bit, &lo.link_reduce_us, &lo.collective_start_us};
        double *b[] = {&hi.link_gbs, &hi.link_latency_us, &hi.link_pj_per_bit, &hi.link_reduce_us, &hi.collective_start_us};
        for (int k = 0; k < 5; k++) *b[k] = *a[k] * w;
        x_hi.bytes *= w;
        if (i % 3 == 2) x_hi.devices += 3, x_hi.stride += 2, hi.linked_devices += 4;
        struct dse_exchange_bound r;
        dse_exchange_bound(&lo, &hi, &x_lo, &x_hi, &r);
        at = lo;
        x = x_lo;
        at.link_gbs = within(lo.link_gbs, hi.link_gbs);
        at.link_latency_us = within(lo.link_latency_us, hi.link_latency_us);
        at.link_pj_per_bit = within(lo.link_pj_per_bit, hi.link_pj_per_bit);
        at.link_reduce_us = within(lo.link_reduce_us, hi.link_reduce_us);
        at.collective_start_us = within(lo.collective_start_us, hi.collective_start_us);
        at.linked_devices += (int64_t)below((uint64_t)(hi.linked_devices - lo.linked_devices) + 1);
        x.bytes = within(x_lo.bytes, x_hi.bytes);
        x.devices += (double)below((uint64_t)(x_hi.devices - x_lo.devices) + 1);
        x.stride += (double)below((uint64_t)(x_hi.stride - x_lo.stride) + 1);
        struct dse_exchange_cost c;
        dse_exchange_at(&at, &x, &c);
        const struct dse_interval v[] = {r.seconds, r.bytes, r.joules};
        const double is[] = {c.seconds, c.bytes, c.joules};
        for (int k = 0; k < 3; k++)
            if (!(v[k].lo <= is[k] * (1 + 1e-12) && is[k] * (1 - 1e-12) <= v[k].hi))
                fail_msg("%s %d: %.17g is outside of %.17g to %.17g", dse_collective_names[x.kind], k, is[k], v[k].lo, v[k].hi);
        if (w == 1) assert_true(i % 3 || (v[0].hi - v[0].lo <= 1e-12 * is[0] && v[2].hi - v[2].lo <= 1e-12 * is[2]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allreduce__ring_moves_what_is_least),
        cmocka_unit_test(allreduce__ring_is_above_the_bound_of_latency_and_bytes),
        cmocka_unit_test(allreduce__no_way_beats_its_own_bytes),
        cmocka_unit_test(best__is_the_fastest_of_all_ways),
        cmocka_unit_test(one_shot__is_for_few_bytes),
        cmocka_unit_test(nothing__costs_nothing),
        cmocka_unit_test(alltoall__is_above_the_bisection),
        cmocka_unit_test(mesh__gives_a_pair_one_link),
        cmocka_unit_test(beyond__only_parts_leave_the_island),
        cmocka_unit_test(trees__join_many_islands_for_few_bytes),
        cmocka_unit_test(stride__spreads_a_group_over_islands),
        cmocka_unit_test(pair__has_no_pipeline_to_fill),
        cmocka_unit_test(every_argument__moves_seconds_one_way),
        cmocka_unit_test(bound__holds_at_every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
