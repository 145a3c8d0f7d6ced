/* VEDA's array and special functions: GEMVs, lengths, softmax, the voting engine's pace. */
#include "veda_test.h"

#include <dse/units.h>

/* Layers * query heads of Llama-2 7B. */
enum { HEADS = 32 * 32 };

static struct veda_array array(int64_t unit, int64_t copies)
{
    struct veda_array a;
    struct veda_params p = {.pe_rows = unit, .pe_columns = 1, .pe_copies = copies, .tree_width = 1};
    veda_array_init(&a, &p);
    return a;
}

static struct veda_array trees(int64_t pes, int64_t width)
{
    struct veda_array a;
    struct veda_params p = {.pe_rows = pes, .pe_columns = 1, .pe_copies = 1, .tree_width = width, .dataflow = VEDA_ADDER_TREE};
    veda_array_init(&a, &p);
    return a;
}

static void gemv__takes_a_cycle_a_position_when_the_array_is_as_wide_as_a_head(void **state)
{
    (void)state;
    struct veda_array a = array(64, 2);
    for (double l = 1; l <= 4096; l += 7) {
        assert_true(veda_gemv_cycles(&a, VEDA_INNER, 128, l) == l);
        assert_true(veda_gemv_cycles(&a, VEDA_OUTER, l, 128) == l);
    }
}

/* No array does more multiply-adds than it has PEs for, and none needs more cycles than one PE alone; the two products are mirrors.
 */
static void gemv__has_room_for_all_multiply_adds(void **state)
{
    (void)state;
    for (int64_t unit = 1; unit <= 200; unit += 11)
        for (int64_t copies = 1; copies <= 9; copies++)
            for (double k = 1; k <= 300; k += 13)
                for (double n = 1; n <= 300; n += 29) {
                    struct veda_array a = array(unit, copies), t = trees(unit * copies, 48);
                    double cycles = veda_gemv_cycles(&a, VEDA_INNER, k, n), tree = veda_gemv_cycles(&t, VEDA_OUTER, k, n);
                    assert_true(cycles * (double)(unit * copies) >= k * n && cycles <= k * n);
                    assert_true(tree * (double)(unit * copies) >= k * n && tree <= 48 * k * n);
                    assert_true(cycles == veda_gemv_cycles(&a, VEDA_OUTER, n, k));
                    struct veda_array wider = array(unit + 1, copies), more = array(unit, copies + 1);
                    assert_true(veda_gemv_cycles(&wider, VEDA_INNER, k, n) <= cycles);
                    assert_true(veda_gemv_cycles(&more, VEDA_INNER, k, n) <= cycles);
                }
}

/* d = 80 fills 80 of two copies of 64; d = 64 fills one, and the other takes the next position; one copy of 128 wastes half. */
static void gemv__of_a_narrow_head_shares_copies_but_not_lanes(void **state)
{
    (void)state;
    struct veda_array two = array(64, 2), one = array(128, 1);
    assert_true(veda_gemv_cycles(&two, VEDA_INNER, 80, 1000) == 1000);
    assert_true(veda_gemv_cycles(&two, VEDA_INNER, 64, 1000) == 500);
    assert_true(veda_gemv_cycles(&two, VEDA_INNER, 64, 1001) == 501);
    assert_true(veda_gemv_cycles(&one, VEDA_INNER, 64, 1000) == 1000);
    struct veda_params opt = params_with("llm=opt-2.7b", NULL), llama = DEFAULTS;
    assert_near(estimate(&opt).scores_utilization, 80. / 128, 1e-12);
    assert_near(estimate(&llama).scores_utilization, 1, 1e-12);
}

/* The example of the introduction: 256 inputs, one more, and the second pass is all but empty. */
static void adder_tree__takes_a_second_pass_for_one_position_more(void **state)
{
    (void)state;
    struct veda_array a = trees(256, 256);
    assert_true(veda_gemv_cycles(&a, VEDA_INNER, 256, 128) == 128);
    assert_true(veda_gemv_cycles(&a, VEDA_INNER, 257, 128) == 256);
    struct veda_params p = params_with("dataflow=adder-tree", "softmax=stage", "v_access_cycles=0", "eviction=none",
                                       "tree_width=256", "pe_copies=4", "context=257", NULL);
    assert_near(estimate(&p).values_utilization, 257. / 512, 1e-12);
    p.dataflow = VEDA_FLEXIBLE;
    assert_near(estimate(&p).values_utilization, 257. / 258, 1e-12); /* two positions at a time */
    assert_true(equations(&p).values_epochs == 2);
}

static void span__sums_as_a_loop_does(void **state)
{
    (void)state;
    for (int from = 0; from < 40; from += 3)
        for (int to = from; to < 90; to += 7)
            for (int q = 1; q < 20; q++) {
                double sum = 0;
                for (int l = from + 1; l <= to; l++) sum += ceil((double)l / q);
                struct veda_span s = {.from = from, .to = to, .flat = 3, .flat_length = 50, .mean_of = 4};
                assert_near(veda_span_sum(&s, q), (sum + 3 * ceil(50. / q)) / 4, 1e-12);
            }
}

/* ---- a generation ------------------------------------------------------------------------------------------------------------ */

static void check_mean_of_steps(const char *dataflow, const char *softmax)
{
    struct veda_params p = params_with(dataflow, softmax, "eviction=none", "prompt=100", "generate=77", NULL);
    struct veda_metrics mean = estimate(&p);
    double latency = 0, energy = 0, bytes = 0, exposed = 0;
    p.request.generate = 0;
    for (p.workload.context = 101; p.workload.context <= 177; p.workload.context++) {
        struct veda_metrics m = estimate(&p);
        latency += m.common.latency_us / 77;
        energy += m.common.energy_mj / 77;
        bytes += m.common.dram_mib / 77;
        exposed += m.softmax_exposed_us / 77;
    }
    assert_near(mean.common.latency_us, latency, 1e-9);
    assert_near(mean.common.energy_mj, energy, 1e-9);
    assert_near(mean.common.dram_mib, bytes, 1e-9);
    assert_near(mean.softmax_exposed_us, exposed, 1e-9);
    assert_near(mean.cached_positions, 139, 1e-12);
}

static void generation__is_the_mean_of_its_steps(void **state)
{
    (void)state;
    check_mean_of_steps("dataflow=flexible", "softmax=element-serial");
    check_mean_of_steps("dataflow=flexible", "softmax=stage");
    check_mean_of_steps("dataflow=adder-tree", "softmax=stage");
}

/* ---- softmax ----------------------------------------------------------------------------------------------------------------- */

static void softmax__beside_the_array_costs_nothing_until_the_array_outruns_it(void **state)
{
    (void)state;
    struct veda_params p = params_with("eviction=none", "context=1000", "bandwidth_gbs=100000", NULL);
    double attention = estimate(&p).common.attention_us;
    assert_near(attention, 2 * HEADS * 1000 / 1e3, 1e-9);
    assert_true(estimate(&p).softmax_exposed_us == 0);
    p.sfu_exp = p.sfu_div = 1; /* one lane is enough for a position a cycle: Sec. IV-B */
    assert_near(estimate(&p).common.attention_us, attention, 1e-12);
    p.pe_copies = 8; /* four positions a cycle */
    assert_near(estimate(&p).common.attention_us, attention, 1e-12);
    assert_near(estimate(&p).softmax_exposed_us, 0.75 * attention, 1e-9);
    p.sfu_exp = p.sfu_div = 4;
    assert_near(estimate(&p).common.attention_us, attention / 4, 1e-9);
}

static void softmax__as_a_stage_is_all_exposed(void **state)
{
    (void)state;
    struct veda_params serial = params_with("eviction=none", "context=1000", NULL), stage = serial;
    stage.softmax = VEDA_STAGE;
    struct veda_metrics m = estimate(&stage);
    assert_near(m.softmax_exposed_us, HEADS * 500 / 1e3, 1e-12);
    assert_near(m.common.attention_us - estimate(&serial).common.attention_us, m.softmax_exposed_us, 1e-9);
    double norms = 4096. / 2 * (2 * 32 + 1) / 1e3;
    assert_near(m.common.latency_us - m.linear_us - m.common.attention_us, norms, 1e-6);
}

static void drain__exposes_the_last_tile_of_every_head(void **state)
{
    (void)state;
    struct veda_params p = params_with("drain=tile", NULL), without = DEFAULTS;
    assert_near(estimate(&p).common.attention_us - estimate(&without).common.attention_us, HEADS * 16 / 1e3, 1e-6);
    p.cache.cache_length = without.cache.cache_length = 10; /* shorter than a tile, but not than the reserved length */
    assert_near(estimate(&p).common.attention_us - estimate(&without).common.attention_us, HEADS * 16 / 1e3, 1e-6);
    p.cache.reserved_length = without.cache.reserved_length = 0;
    assert_near(estimate(&p).common.attention_us - estimate(&without).common.attention_us, HEADS * 5 / 1e3, 1e-6);
}

/* A voting engine of one lane keeps up with 128 PEs and no more. */
static void voting_engine__paces_a_wider_array(void **state)
{
    (void)state;
    struct veda_params p = params_with("pe_copies=8", "bandwidth_gbs=100000", "sfu_exp=8", "sfu_div=8", NULL);
    struct veda_metrics slow = estimate(&p);
    assert_near(slow.common.attention_us, 2 * HEADS * 512 / 1e3, 1e-9);
    assert_near(slow.vote_exposed_us, 0.75 * slow.common.attention_us, 1e-9);
    p.vote_lanes = 4;
    assert_near(estimate(&p).common.attention_us, slow.common.attention_us / 4, 1e-9);
    assert_near(estimate(&p).vote_exposed_us, 0, 1e-9);
    p.vote_lanes = 1;
    p.cache.eviction = eviction_named("window");
    assert_near(estimate(&p).common.attention_us, slow.common.attention_us / 4, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemv__takes_a_cycle_a_position_when_the_array_is_as_wide_as_a_head),
        cmocka_unit_test(gemv__has_room_for_all_multiply_adds),
        cmocka_unit_test(gemv__of_a_narrow_head_shares_copies_but_not_lanes),
        cmocka_unit_test(adder_tree__takes_a_second_pass_for_one_position_more),
        cmocka_unit_test(span__sums_as_a_loop_does),
        cmocka_unit_test(generation__is_the_mean_of_its_steps),
        cmocka_unit_test(softmax__beside_the_array_costs_nothing_until_the_array_outruns_it),
        cmocka_unit_test(softmax__as_a_stage_is_all_exposed),
        cmocka_unit_test(drain__exposes_the_last_tile_of_every_head),
        cmocka_unit_test(voting_engine__paces_a_wider_array),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
