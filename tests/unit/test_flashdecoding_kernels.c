/* Linear operators of the flashdecoding model: Eq. 5, tiles, double buffering, the choice of a kernel and its inflection points. */
#include "flashdecoding_test.h"

enum { TRIALS = 20000 };

/* Feasible random points around the defaults. */
static void for_random_points(void (*check)(const struct fd_params *p))
{
    const struct model *m = registry_find("flashdecoding");
    struct fd_params base = point(""), p;
    int feasible = 0;
    for (int i = 0; i < TRIALS; i++) {
        if (!random_point(m, &base, i % 3 == 0 ? 1 : 0.2, &p) || !fd_is_plain(&p.workload)) continue;
        check(&p);
        feasible++;
    }
    assert_true(feasible > TRIALS / 20);
}

/* ---- Eq. 5 --------------------------------------------------------------------------------------------------------------- */

static void check_eq5(const struct fd_params *p)
{
    struct fd_gemm g = fd_gemm_of(p, (enum fd_gemm_choice)p->gemm);
    struct fd_machine m = machine(p);
    struct fd_cost flat = fd_flat(&m, &g);
    double tile_k = (double)p->tile_k, tiles = g.n * g.k / (flat.tile_n * tile_k);
    double moved = (g.m * tile_k + flat.tile_n * tile_k) * tiles + g.m * g.n, ops = 2 * g.m * flat.tile_n * tile_k * tiles;
    assert_near(2 * g.m * g.k / (g.k + g.m * g.k / flat.tile_n + g.m), ops / moved, 1e-9);
}

static void eq5__is_the_count_tile_by_tile(void **state)
{
    (void)state;
    for_random_points(check_eq5);
    struct fd_params p = point("batch=8 tile_n=64");
    struct fd_equations e = equate(&p);
    assert_near(e.eq5_ratio, e.eq5_tiles, 1e-12);
    assert_near(e.eq5_ratio, 2. * 8 * 4096 / (4096 + 8 * 4096 / 64. + 8), 1e-12);
    assert_near(e.eq5_parallelism, 192, 1e-12);
}

/* ---- tiles --------------------------------------------------------------------------------------------------------------- */

static void check_best_tile(const struct fd_params *p)
{
    struct fd_params free_tile = *p, fixed = *p;
    free_tile.tile_n = 0;
    struct fd_gemm g = fd_gemm_of(p, (enum fd_gemm_choice)p->gemm);
    struct fd_machine a = machine(&free_tile), b = machine(&fixed);
    double best = fd_flat(&a, &g).seconds;
    for (fixed.tile_n = FD_TILE_N_MIN; fixed.tile_n <= FD_TILE_N_MAX; fixed.tile_n *= 2)
        if (!(fd_flat(&b, &g).seconds >= best * (1 - 1e-12))) fail_msg("tile_n = %d is faster than the best", (int)fixed.tile_n);
}

static void tiles__the_best_is_never_slower_than_a_given_one(void **state)
{
    (void)state;
    for_random_points(check_best_tile);
}

/* Fig. 6: M = 8 on an A100. */
static void tiles__few_columns_are_bound_by_parallelism(void **state)
{
    (void)state;
    static const int64_t columns[] = {1024, 2048, 4096};
    struct fd_params p = point("batch=8 gemm=given gemm_k=4096");
    for (size_t i = 0; i < 3; i++) {
        p.gemm_n = columns[i];
        p.tile_n = 0;
        struct fd_metrics m = estimate(&p);
        assert_in_range(m.flat_blocks, 128, 256);
        double before = m.flat_gemm_us;
        for (p.tile_n = 128; p.tile_n <= 512; p.tile_n *= 2) { /* fewer blocks, longer */
            double now = estimate(&p).flat_gemm_us;
            assert_true(now > 1.9 * before || p.tile_n == 128);
            before = now;
        }
    }
    p = point("batch=8 gemm=given gemm_k=4096 gemm_n=4096 resident_blocks=1");
    assert_true(estimate(&p).flat_gemm_us > 23); /* with one block an SM 128 of them need two waves */
}

/* One block on every SM draws the whole bandwidth; a share of the SMs a share of it. */
static void tiles__a_block_draws_what_one_sm_can(void **state)
{
    (void)state;
    struct fd_params p = point("batch=1 gemm=given gemm_k=4096 gemm_n=27648 tile_n=256 l1_kib=4096"); /* 108 blocks */
    struct fd_machine m = machine(&p);
    struct fd_gemm g = {1, 4096, 27648, 0}, half = {1, 4096, 13824, 0};
    struct fd_cost all = fd_flat(&m, &g), some = fd_flat(&m, &half);
    assert_near(all.load_s, 2. * 4096 * 27648 / (2039e9 * 0.8), 1e-12);
    assert_near(some.load_s, all.load_s, 1e-12); /* half the blocks, half the bytes, half the bandwidth */
}

/* ---- double buffering ---------------------------------------------------------------------------------------------------- */

static void buffers__two_overlap_and_one_does_not(void **state)
{
    (void)state;
    struct fd_params on = point("batch=8 tile_n=64"), off = on;
    off.double_buffering = FD_OFF;
    struct fd_machine a = machine(&on), b = machine(&off);
    struct fd_gemm g = fd_gemm_of(&on, FD_QKV);
    struct fd_cost two = fd_flat(&a, &g), one = fd_flat(&b, &g);
    double phi = on.exposed_share + (1 - on.exposed_share) * 128 / 4096;
    assert_true(two.double_buffered && !one.double_buffered);
    assert_near(one.seconds, one.load_s + one.sm_s, 1e-12);
    assert_near(two.seconds, fmax(two.load_s, two.sm_s) + phi * fmin(two.load_s, two.sm_s), 1e-12);
    assert_true(two.seconds < one.seconds);
    assert_near(equate(&on).flat_exposed, phi, 1e-9);
    assert_near(equate(&off).flat_exposed, 1, 1e-9);
}

static void check_buffers(const struct fd_params *p)
{
    struct fd_params on = *p, off = *p;
    on.double_buffering = FD_ON;
    off.double_buffering = FD_OFF;
    struct fd_gemm g = fd_gemm_of(p, (enum fd_gemm_choice)p->gemm);
    struct fd_machine a = machine(&on), b = machine(&off);
    on.resident_blocks = off.resident_blocks = 1; /* two buffers take the room of two blocks */
    assert_true(fd_flat(&a, &g).seconds <= fd_flat(&b, &g).seconds * (1 + 1e-12));
}

static void buffers__two_are_never_slower_at_one_block_an_sm(void **state)
{
    (void)state;
    for_random_points(check_buffers);
}

/* Sec. 6.3.2: 192 and 128 KiB are enough, the 16 KiB of an MI210 are not. */
static void buffers__fit_nvidia_and_not_the_mi210(void **state)
{
    (void)state;
    static const struct {
        const char *gpu;
        bool fits;
    } cases[] = {{"batch=8 gpu=a100-80gb", true}, {"batch=8 gpu=rtx-3090", true}, {"batch=8 gpu=mi210", false}};
    for (size_t i = 0; i < 3; i++) {
        struct fd_params p = point(cases[i].gpu);
        p.tile_n = 64;
        struct fd_equations e = equate(&p);
        assert_near(e.tile_l1_kib, 2 * 128 * (8 * 2 + 64 * 2) / 1024., 1e-12);
        assert_int_equal(e.tile_fits, cases[i].fits);
    }
}

/* Rows that do not fit the L1 cache go in passes, and every pass reads the weights. */
static void rows__that_do_not_fit_read_the_weights_again(void **state)
{
    (void)state;
    struct fd_params p = point("l1_kib=8 tile_n=64");
    struct fd_machine m = machine(&p);
    struct fd_gemm g = {8000, 4096, 4096, 0};
    struct fd_cost c = fd_flat(&m, &g);
    double fit = floor((8192 - 128) / (2. * 8)) * 8, passes = ceil(8000 / fit);
    assert_near(c.bytes, passes * (2. * 4096 * 4096 + fmax(0, 8000. * 8192 * 2 - 40 * DSE_MIB)), 1e-12);
    assert_false(c.double_buffered);
}

/* ---- padding ------------------------------------------------------------------------------------------------------------- */

static void padding__wastes_work_but_not_bytes(void **state)
{
    (void)state;
    struct fd_params p = point("batch=8");
    struct fd_machine m = machine(&p);
    struct fd_gemm g = fd_gemm_of(&p, FD_QKV);
    struct fd_cost eight = fd_library(&m, &g, 8), many = fd_library(&m, &g, 64);
    assert_near(eight.bytes, many.bytes, 0);
    assert_near(eight.load_s, many.load_s, 0);
    assert_true(eight.sm_s < many.sm_s);
    assert_near(equate(&p).underused_percent, 87.5, 1e-12);
    assert_near(equate(&p).flat_underused_percent, 0, 0);
    p.workload.batch = 64;
    assert_near(equate(&p).underused_percent, 0, 0);
}

/* ---- the choice ---------------------------------------------------------------------------------------------------------- */

static void check_heuristic(const struct fd_params *p)
{
    struct fd_params best = *p, fixed = *p;
    best.dataflow = FD_HEURISTIC;
    fixed.dataflow = FD_STATIC;
    fixed.pad_rows = FD_LIBRARY_ROWS;
    struct fd_gemm g = fd_gemm_of(p, (enum fd_gemm_choice)p->gemm);
    struct fd_machine m = machine(&best), n = machine(&fixed);
    struct fd_cost three[FD_KERNELS];
    enum fd_kernel kernel, other;
    fd_three(&m, &g, three);
    double seconds = fd_linear(&m, &g, &kernel).seconds;
    assert_int_equal(kernel, fd_fastest(three));
    assert_near(seconds, three[kernel].seconds, 0);
    for (int i = 0; i < FD_KERNELS; i++) assert_true(seconds <= three[i].seconds);
    assert_near(fd_linear(&n, &g, &other).seconds, three[FD_LIBRARY].seconds, 0);
    assert_int_equal(other, FD_LIBRARY);
}

static void heuristic__takes_the_fastest_of_three_and_static_the_library(void **state)
{
    (void)state;
    for_random_points(check_heuristic);
}

static double seconds_of(const struct fd_machine *m, enum fd_kernel kernel, double rows, double k, double n)
{
    struct fd_gemm g = {rows, k, n, 0};
    struct fd_cost three[FD_KERNELS];
    fd_three(m, &g, three);
    return three[kernel].seconds;
}

/* Every number of rows tried. */
static double brute_force(const struct fd_machine *m, double k, double n, enum fd_kernel one, enum fd_kernel other)
{
    for (double rows = 1; rows <= 2048; rows++)
        if (seconds_of(m, one, rows, k, n) > seconds_of(m, other, rows, k, n) * (1 + 1e-12)) return rows;
    return (double)NAN;
}

static void check_inflections(const struct fd_params *p)
{
    struct fd_machine m = machine(p);
    for (int i = 0; i < FD_LM_HEAD; i++) {
        struct fd_gemm g = fd_gemm_of(p, (enum fd_gemm_choice)i);
        double m1 = fd_inflection(&m, g.k, g.n, FD_GEMV, FD_FLAT), m2 = fd_inflection(&m, g.k, g.n, FD_FLAT, FD_LIBRARY);
        assert_near(m1, brute_force(&m, g.k, g.n, FD_GEMV, FD_FLAT), 0);
        assert_near(m2, brute_force(&m, g.k, g.n, FD_FLAT, FD_LIBRARY), 0);
    }
}

static void inflections__are_those_of_trying_every_number_of_rows(void **state)
{
    (void)state;
    static const char *const gpus[] = {"gpu=a100-80gb", "gpu=rtx-3090", "gpu=h100", "gpu=mi210"};
    static const char *const llms[] = {"llama2-7b", "opt-6.7b", "chatglm2-6b", "llama2-13b"};
    for (size_t g = 0; g < 4; g++)
        for (size_t l = 0; l < 4; l++) {
            struct fd_params p = point(gpus[g]);
            p.workload.llm = (const struct dse_llm *)catalog_find(catalog, DSE_KIND_LLM, llms[l]);
            check_inflections(&p);
        }
}

/* Fig. 8: four shapes of Llama2-7B; GEMV for one row of the QKV projection, the flat GEMM for eight of the FFN. */
static void lookup_table__is_that_of_fig_8(void **state)
{
    (void)state;
    struct fd_params p = point("gpu=a100-80gb llm=llama2-7b");
    struct fd_equations e = equate(&p);
    assert_near(e.qkv_n, 12288, 0);
    assert_near(e.qkv_k, 4096, 0);
    assert_near(e.output_n, 4096, 0);
    assert_near(e.output_k, 4096, 0);
    assert_near(e.ffn_up_n, 11008, 0);
    assert_near(e.ffn_up_k, 4096, 0);
    assert_near(e.ffn_down_n, 4096, 0);
    assert_near(e.ffn_down_k, 11008, 0);
    assert_near(e.qkv_m1, 2, 0);
    assert_true(e.ffn_up_m1 <= 8 && 8 < e.ffn_up_m2);
    p.workload.batch = 1;
    assert_int_equal(estimate(&p).gemm_kernel, FD_GEMV);
    p.workload.batch = 8;
    p.gemm = FD_FFN_UP;
    assert_int_equal(estimate(&p).gemm_kernel, FD_FLAT);
}

static void lookup_table__has_no_entry_where_nothing_is_won(void **state)
{
    (void)state;
    struct fd_params p = point("gpu=a100-80gb");
    p.gemv_efficiency = 1;
    p.vector_tflops = 1e5; /* GEMV keeps up with any number of rows that fits */
    p.bandwidth_gbs = 1;
    assert_true(isnan(equate(&p).qkv_m1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eq5__is_the_count_tile_by_tile),
        cmocka_unit_test(tiles__the_best_is_never_slower_than_a_given_one),
        cmocka_unit_test(tiles__few_columns_are_bound_by_parallelism),
        cmocka_unit_test(tiles__a_block_draws_what_one_sm_can),
        cmocka_unit_test(buffers__two_overlap_and_one_does_not),
        cmocka_unit_test(buffers__two_are_never_slower_at_one_block_an_sm),
        cmocka_unit_test(buffers__fit_nvidia_and_not_the_mi210),
        cmocka_unit_test(rows__that_do_not_fit_read_the_weights_again),
        cmocka_unit_test(padding__wastes_work_but_not_bytes),
        cmocka_unit_test(heuristic__takes_the_fastest_of_three_and_static_the_library),
        cmocka_unit_test(inflections__are_those_of_trying_every_number_of_rows),
        cmocka_unit_test(lookup_table__is_that_of_fig_8),
        cmocka_unit_test(lookup_table__has_no_entry_where_nothing_is_won),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
