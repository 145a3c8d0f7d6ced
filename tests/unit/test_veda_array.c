/* VEDA's array and special functions: GEMVs, lengths, softmax, the voting engine's pace. */
#include "veda_test.h"

#include <dse/units.h>

/* Layers * query heads of Llama-2 7B. */
enum { HEADS = 32 * 32 };

/* An LLM on `copies` arrays of rows * columns PEs. */
static struct point array_of(const char *llm, int64_t rows, int64_t columns, int64_t copies)
{
    struct point p = point_with("eviction=none", llm, NULL);
    set(&p, "pe_rows", (double)rows);
    set(&p, "pe_columns", (double)columns);
    set(&p, "pe_copies", (double)copies);
    return p;
}

static void gemv__takes_a_cycle_a_position_when_the_array_is_as_wide_as_a_head(void **state)
{
    (void)state;
    struct point p = array_of("llm=llama2-7b", 8, 8, 2);
    for (int l = 1; l <= 4096; l += 63) {
        set(&p, "context", l);
        assert_true(equation(&p, "scores_row_cycles") == 1 && equation(&p, "values_row_cycles") == 1);
        assert_true(equation(&p, "attention_head_cycles") == 2 * l);
    }
}

/* Cycles of both products of a head, by what the metrics say of the array: they are those of the equations. */
static void assert_cycles_of_a_head(const struct point *p, double work, double pes)
{
    const struct named m = estimate(p);
    const double cycles = work / 2 / pes / m.scores_utilization + work / 2 / pes / m.values_utilization;
    assert_near(cycles, equation(p, "attention_head_cycles"), 1e-12);
    assert_true(m.array_utilization <= 1 + 1e-12 && m.array_utilization > 0.05);
}

/* Of a query head: trees that fit take as many positions at once in q K^T, and as many elements in s V; one tree that is too wide
 * for all PEs is fed in several cycles. */
static double tree_cycles(double pes, double width, double elements, double positions)
{
    const double trees = fmax(1, floor(pes / width)), issue = ceil(width / pes);
    return issue * (ceil(elements / width) * ceil(positions / trees) + ceil(elements / trees) * ceil(positions / width));
}

/* No array does more multiply-adds than it has PEs for, and none needs more cycles than one PE alone. A wider array, or one more,
 * is never slower. */
static void gemv__has_room_for_all_multiply_adds(void **state)
{
    (void)state;
    enum { WIDTH = 128, CONTEXT = 300 };
    struct point p = array_of("llm=llama2-7b", 1, 1, 1), tree = point_with("eviction=none", "softmax=stage", "dataflow=adder-tree",
                                                                           "tree_width=48", "v_access_cycles=0", NULL);
    set(&p, "context", CONTEXT);
    set(&tree, "context", CONTEXT);
    const double work = 2. * WIDTH * CONTEXT;
    for (int64_t copies = 1; copies <= 9; copies++) {
        double before = INFINITY;
        set(&p, "pe_copies", (double)copies);
        for (int64_t rows = 1; rows <= 200; rows += 11) {
            set(&p, "pe_rows", (double)rows);
            set(&tree, "pe_rows", (double)rows);
            set(&tree, "pe_copies", (double)copies);
            const double cycles = equation(&p, "attention_head_cycles"), of_tree = equation(&tree, "attention_head_cycles"),
                         pes = (double)(rows * copies);
            assert_true(cycles * pes >= work && cycles <= work && cycles <= before);
            assert_true(of_tree * 8 * pes >= work && of_tree == tree_cycles(8 * pes, 48, WIDTH, CONTEXT));
            assert_cycles_of_a_head(&p, work, pes);
            assert_cycles_of_a_head(&tree, work, 8 * pes);
            before = cycles;
        }
    }
    for (int64_t rows = 1; rows <= 64; rows *= 4) {
        double before = INFINITY;
        for (int64_t copies = 1; copies <= 9; copies++) {
            struct point more = array_of("llm=llama2-7b", rows, 3, copies);
            const double cycles = equation(&more, "attention_head_cycles");
            assert_true(cycles <= before);
            before = cycles;
        }
    }
}

/* Llama-2 7B on 200 copies: queries, keys and values fill 192, and what they give fills 64, three outputs at a time; gate and up
 * need 344, down 172 and the head 500. */
static void gemv__of_a_linear_layer_takes_whole_passes(void **state)
{
    (void)state;
    struct point p = array_of("llm=llama2-7b", 8, 8, 200);
    set(&p, "bandwidth_gbs", 1e12);
    set(&p, "stream_fifo_kib", 1e12);
    const double cycles = 32 * (4096 + ceil(4096 / 3.) + 2 * 4096 + 4096) + 3 * 4096;
    assert_near(estimate(&p).linear_us, cycles / 1e3 + starts_us(&p, LINEAR_STREAMS), 1e-12);
    choose(&p, "softmax", "stage");
    choose(&p, "dataflow", "adder-tree"); /* 100 trees of 128: 32, 32, 32, 86 and 32 passes an output */
    const double trees =
        32 * (32 * ceil(12288 / 100.) + 32 * ceil(4096 / 100.) + 32 * ceil(22016 / 100.) + 86 * ceil(4096 / 100.)) +
        32 * 32000 / 100.;
    assert_near(estimate(&p).linear_us, trees / 1e3 + starts_us(&p, LINEAR_STREAMS), 1e-12);
}

/* d = 80 fills 80 of two copies of 64; d = 64 fills one, and the other takes the next position; one copy of 128 wastes half. */
static void gemv__of_a_narrow_head_shares_copies_but_not_lanes(void **state)
{
    (void)state;
    static const struct {
        const char *llm;
        int64_t rows, columns, copies;
        int context;
        double cycles; /* of one product */
    } cases[] = {{"llm=opt-2.7b", 8, 8, 2, 1000, 1000},
                 {"llm=llama3.2-1b", 8, 8, 2, 1000, 500},
                 {"llm=llama3.2-1b", 8, 8, 2, 1001, 501},
                 {"llm=llama3.2-1b", 16, 8, 1, 1000, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point p = array_of(cases[i].llm, cases[i].rows, cases[i].columns, cases[i].copies);
        set(&p, "context", cases[i].context);
        assert_near(equation(&p, "attention_head_cycles"), 2 * cases[i].cycles, 1e-12);
    }
    struct point opt = point_with("llm=opt-2.7b", NULL), llama = DEFAULTS;
    assert_near(estimate(&opt).scores_utilization, 80. / 128, 1e-12);
    assert_near(estimate(&llama).scores_utilization, 1, 1e-12);
}

/* The example of the introduction: 256 inputs, one more, and the second pass is all but empty. */
static void adder_tree__takes_a_second_pass_for_one_position_more(void **state)
{
    (void)state;
    struct point p = point_with("dataflow=adder-tree", "softmax=stage", "v_access_cycles=0", "eviction=none", "tree_width=256",
                                "pe_copies=4", "context=256", NULL);
    assert_near(estimate(&p).values_utilization, 1, 1e-12);
    set(&p, "context", 257);
    assert_near(estimate(&p).values_utilization, 257. / 512, 1e-12);
    choose(&p, "dataflow", "flexible");
    assert_near(estimate(&p).values_utilization, 257. / 258, 1e-12); /* two positions at a time */
    assert_true(equation(&p, "values_epochs") == 2);
    choose(&p, "dataflow", "adder-tree");
    const double row = equation(&p, "values_row_cycles");
    set(&p, "v_access_cycles", 0.5);
    assert_near(equation(&p, "values_row_cycles"), row + 0.5, 1e-12);
}

/* Passes over the positions of a generation: the mean of ceil(l / q) over its lengths, and of a prompt their sum. */
static void span__sums_as_a_loop_does(void **state)
{
    (void)state;
    struct point p = point_with("eviction=none", "prompt=1", "generate=1", NULL),
                 prefill = point_with("eviction=none", "phase=prefill", NULL);
    for (int from = 1; from < 40; from += 3)
        for (int to = from + 1; to < 90; to += 7)
            for (int q = 1; q < 20; q += 3) {
                double sum = 0, triangle = 0;
                for (int l = from + 1; l <= to; l++) sum += ceil((double)l / q);
                for (int l = 1; l <= to; l++) triangle += ceil((double)l / q);
                set(&p, "prompt", from);
                set(&p, "generate", to - from);
                set(&p, "tree_width", q);
                assert_near(equation(&p, "values_epochs"), sum / (to - from), 1e-12);
                set(&prefill, "context", to);
                set(&prefill, "tree_width", q);
                assert_near(equation(&prefill, "values_epochs"), triangle, 1e-12);
            }
}

/* ---- a generation ------------------------------------------------------------------------------------------------------------ */

static void check_mean_of_steps(const char *dataflow, const char *softmax)
{
    struct point p = point_with(dataflow, softmax, "eviction=none", "prompt=100", "generate=77", NULL);
    struct named mean = estimate(&p);
    double latency = 0, energy = 0, bytes = 0, exposed = 0;
    set(&p, "generate", 0);
    for (int l = 101; l <= 177; l++) {
        set(&p, "context", l);
        struct named m = estimate(&p);
        latency += m.latency_us / 77;
        energy += m.energy_mj / 77;
        bytes += m.dram_mib / 77;
        exposed += m.softmax_exposed_us / 77;
    }
    assert_near(mean.latency_us, latency, 1e-9);
    assert_near(mean.energy_mj, energy, 1e-9);
    assert_near(mean.dram_mib, bytes, 1e-9);
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
    struct point p = point_with("eviction=none", "context=1000", "bandwidth_gbs=100000", "norm_fifo=1000", NULL);
    const double start = starts_us(&p, ATTENTIONS), attention = estimate(&p).attention_us - start;
    assert_near(attention, 2 * HEADS * 1000 / 1e3, 1e-9);
    assert_true(estimate(&p).softmax_exposed_us == 0);
    set(&p, "sfu_exp", 1);
    set(&p, "sfu_div", 1);                      /* one lane is enough for a position a cycle: Sec. IV-B */
    const double sums = 0.5 * (1 + 31 / 1000.); /* of an exponential a score: one for each of 32 tiles but the first besides */
    assert_near(estimate(&p).attention_us - start, attention * (sums + 0.5), 1e-12);
    set(&p, "pe_copies", 8); /* four positions a cycle */
    const double wide = starts_us(&p, ATTENTIONS);
    assert_near(estimate(&p).attention_us - wide, attention * (sums + 0.5), 1e-12);
    assert_near(estimate(&p).softmax_exposed_us, (sums + 0.5 - 0.25) * attention, 1e-9);
    set(&p, "sfu_exp", 4);
    assert_near(estimate(&p).attention_us - wide, attention * (sums / 4 + 0.5), 1e-9); /* one divider for the weights of s V */
    set(&p, "sfu_div", 4);
    assert_near(estimate(&p).attention_us - wide, attention * (sums / 4 + 0.125), 1e-9);
    set(&p, "sfu_exp", 1); /* exponentials are made twice: for the sum, and for the weights */
    assert_near(estimate(&p).attention_us - wide, attention * (sums + 0.5), 1e-9);
}

static void softmax__as_a_stage_is_all_exposed(void **state)
{
    (void)state;
    struct point serial = point_with("eviction=none", "context=1000", NULL), stage = serial;
    choose(&stage, "softmax", "stage");
    struct named m = estimate(&stage);
    assert_near(m.softmax_exposed_us, HEADS * (500 + 20) / 1e3, 1e-12); /* the latency of the pipe besides */
    assert_near(m.attention_us - estimate(&serial).attention_us, m.softmax_exposed_us, 1e-9);
    double norms = 4096. / 2 * (2 * 32 + 1) / 1e3;
    assert_near(m.latency_us - m.linear_us - m.attention_us, norms, 1e-6);
}

static void drain__exposes_the_last_tile_of_every_head(void **state)
{
    (void)state;
    struct point p = point_with("drain=tile", NULL), without = DEFAULTS;
    const double pipes = 8 + 20; /* from the last score of a head to its first weight, but for its tile */
    assert_near(estimate(&p).attention_us - estimate(&without).attention_us, HEADS * (pipes + 16) / 1e3, 0.01);
    set(&p, "cache_length", 10);
    set(&without, "cache_length", 10); /* shorter than a tile, but not than the reserved length */
    assert_near(estimate(&p).attention_us - estimate(&without).attention_us, HEADS * (pipes + 16) / 1e3, 0.01);
    set(&p, "reserved_length", 0);
    set(&without, "reserved_length", 0);
    const double waits = pipes + 6 - 2 * 10; /* the products of the neighbours are shorter than that way */
    assert_near(estimate(&p).attention_us - estimate(&without).attention_us, HEADS * (pipes + 5 - waits) / 1e3, 0.01);
}

/* A voting engine of one lane keeps up with 128 PEs and no more. */
static void voting_engine__paces_a_wider_array(void **state)
{
    (void)state;
    struct point p = point_with("pe_copies=8", "bandwidth_gbs=100000", "sfu_exp=8", "sfu_div=8", NULL);
    struct named slow = estimate(&p);
    const double start = starts_us(&p, ATTENTIONS),
                 both = 2 * HEADS * 512 / 1e3; /* scores go in and out; the last of a layer wait */
    assert_near(slow.attention_us - start, both - 32 * 4096 / 1e3, 1e-9);
    assert_near(slow.vote_exposed_us, slow.attention_us - start - both / 4, 1e-9);
    set(&p, "vote_lanes", 4);
    assert_near(estimate(&p).attention_us - start, both / 4, 1e-9);
    assert_near(estimate(&p).vote_exposed_us, 0, 1e-9);
    set(&p, "vote_lanes", 1);
    choose(&p, "eviction", "window");
    assert_near(estimate(&p).attention_us - start, both / 4, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemv__takes_a_cycle_a_position_when_the_array_is_as_wide_as_a_head),
        cmocka_unit_test(gemv__has_room_for_all_multiply_adds),
        cmocka_unit_test(gemv__of_a_linear_layer_takes_whole_passes),
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
