/* Linear operators of the flashdecoding model: Eq. 5, tiles, double buffering, the choice of a kernel and its inflection points. */
#include "flashdecoding_test.h"

enum { TRIALS = 20000, ROWS_MAX = 2048, TILE_N_MIN = 8, TILE_N_MAX = 512 };

/* ImplA, ImplB and ImplC, in the order of gemm_kernel. */
enum { GEMV, FLAT, LIBRARY, KERNELS };

static bool is_plain(const struct point *p)
{
    const struct dse_workload *w = work_of(p);
    return dse_llm_is_plain(w->llm) && devices_of(p) == get(p, "tensor_parallel") && w->speculation.draft_tokens == 0 &&
           w->chunk_tokens == 0 && w->context_spread <= 0;
}

/* Feasible random points around the defaults, of boards without a limit. */
static void for_random_points(void (*check)(const struct point *p))
{
    const struct point base = point("");
    struct point p;
    int feasible = 0;
    for (int i = 0; i < TRIALS; i++) {
        if (!random_near(&base, i % 3 == 0 ? 1 : 0.2, &p) || !is_plain(&p)) continue;
        choose(&p, "power", "constant");
        check(&p);
        feasible++;
    }
    assert_true(feasible > TRIALS / 20);
}

/* ---- Eq. 5 --------------------------------------------------------------------------------------------------------------- */

static void check_eq5(const struct point *p)
{
    const struct equations e = equated(p);
    assert_near(e.eq5_ratio, e.eq5_tiles, 1e-9);
}

static void eq5__is_the_count_tile_by_tile(void **state)
{
    (void)state;
    for_random_points(check_eq5);
    struct point p = point("batch=8 tile_n=64");
    struct equations e = equated(&p);
    assert_near(e.eq5_ratio, e.eq5_tiles, 1e-12);
    assert_near(e.eq5_ratio, 2. * 8 * 4096 / (4096 + 8 * 4096 / 64. + 8), 1e-12);
    assert_near(e.eq5_tiles, 2. * 8 * 4096 * 12288 / ((8 + 64.) * 4096 * 12288 / 64 + 8 * 12288), 1e-12);
    assert_near(e.eq5_parallelism, 192, 1e-12);
}

/* ---- tiles --------------------------------------------------------------------------------------------------------------- */

static void check_best_tile(const struct point *p)
{
    struct point tile = *p;
    set(&tile, "tile_n", 0);
    const double best = estimated(&tile).flat_gemm_us;
    for (int tile_n = TILE_N_MIN; tile_n <= TILE_N_MAX; tile_n *= 2) {
        set(&tile, "tile_n", tile_n);
        if (!(estimated(&tile).flat_gemm_us >= best * (1 - 1e-12))) fail_msg("tile_n = %d is faster than the best", tile_n);
    }
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
    static const int columns[] = {1024, 2048, 4096};
    struct point p = point("batch=8 gemm=given gemm_k=4096");
    for (size_t i = 0; i < 3; i++) {
        set(&p, "gemm_n", columns[i]);
        set(&p, "tile_n", 0);
        const struct metrics m = estimated(&p);
        assert_in_range(m.flat_blocks, 128, 256);
        double before = m.flat_gemm_us;
        for (int tile_n = 128; tile_n <= 512; tile_n *= 2) { /* fewer blocks, longer */
            set(&p, "tile_n", tile_n);
            const double now = estimated(&p).flat_gemm_us;
            assert_true(now > 1.9 * before || tile_n == 128);
            before = now;
        }
    }
    p = point("batch=8 gemm=given gemm_k=4096 gemm_n=4096 resident_blocks=1");
    assert_true(estimated(&p).flat_gemm_us > 23); /* with one block an SM 128 of them need two waves */
}

/* One block on every SM draws the whole bandwidth; a share of the SMs a share of it. */
static void tiles__a_block_draws_what_one_sm_can(void **state)
{
    (void)state;
    struct point p = point("batch=1 gemm=given gemm_k=4096 gemm_n=27648 tile_n=256 l1_kib=4096"); /* 108 blocks */
    const double all_us = equated(&p).flat_load_us;
    set(&p, "gemm_n", 13824);
    assert_near(all_us, 2. * 4096 * 27648 / (2039e9 * 0.8) * 1e6, 1e-12);
    assert_near(equated(&p).flat_load_us, all_us, 1e-12); /* half the blocks, half the bytes, half the bandwidth */
}

/* ---- double buffering ---------------------------------------------------------------------------------------------------- */

static void buffers__two_overlap_and_one_does_not(void **state)
{
    (void)state;
    const struct point on = point("batch=8 tile_n=64"), off = point("batch=8 tile_n=64 double_buffering=off");
    const struct equations two = equated(&on), one = equated(&off);
    const double share = get(&on, "exposed_share"), phi = share + (1 - share) * 128 / 4096;
    const double two_us = estimated(&on).flat_gemm_us, one_us = estimated(&off).flat_gemm_us;
    assert_near(one_us, one.flat_load_us + one.flat_sm_us, 1e-12);
    assert_near(two_us, fmax(two.flat_load_us, two.flat_sm_us) + phi * fmin(two.flat_load_us, two.flat_sm_us), 1e-12);
    assert_true(two_us < one_us);
    assert_near(two.flat_exposed, phi, 1e-9);
    assert_near(one.flat_exposed, 1, 1e-9);
}

/* Two buffers take the room of two blocks. */
static void check_buffers(const struct point *p)
{
    struct point on = *p;
    set(&on, "resident_blocks", 1);
    struct point off = on;
    choose(&on, "double_buffering", "on");
    choose(&off, "double_buffering", "off");
    assert_true(estimated(&on).flat_gemm_us <= estimated(&off).flat_gemm_us * (1 + 1e-12));
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
    } cases[] = {{"tile_n=64 batch=8 gpu=a100-80gb", true},
                 {"tile_n=64 batch=8 gpu=rtx-3090", true},
                 {"tile_n=64 batch=8 gpu=mi210", false}};
    for (size_t i = 0; i < 3; i++) {
        const struct point p = point(cases[i].gpu);
        const struct equations e = equated(&p);
        assert_near(e.tile_l1_kib, 2 * 128 * (8 * 2 + 64 * 2) / 1024., 1e-12);
        assert_true((e.tile_fits != 0) == cases[i].fits);
    }
}

/* Rows that do not fit the L1 cache go in passes, and every pass reads the weights. */
static void rows__that_do_not_fit_read_the_weights_again(void **state)
{
    (void)state;
    const struct point p = point("l1_kib=8 tile_n=64 gemm=given gemm_m=8000 gemm_k=4096 gemm_n=4096");
    const struct metrics m = estimated(&p);
    const double fit = floor((8192 - 128) / (2. * 8)) * 8, passes = ceil(8000 / fit);
    const double bytes = m.flat_utilization * 2039e9 * m.flat_gemm_us / 1e6;
    assert_near(bytes, passes * (2. * 4096 * 4096 + fmax(0, 8000. * 8192 * 2 - 40 * DSE_MIB)), 1e-12);
    assert_near(equated(&p).flat_exposed, 1, 1e-9);
}

/* ---- padding ------------------------------------------------------------------------------------------------------------- */

static void padding__wastes_work_but_not_bytes(void **state)
{
    (void)state;
    struct point p = point("batch=8");
    const struct point eight = point("batch=8 dataflow=static pad_rows=8"), many = point("batch=8 dataflow=static pad_rows=64");
    const struct dse_breakdown a = parts_of(&eight), b = parts_of(&many);
    const struct dse_part *few = part_named(&a, "qkv_projection"), *padded = part_named(&b, "qkv_projection");
    assert_near(few->dram_bytes, padded->dram_bytes, 0);
    assert_true(few->time_us < padded->time_us && few->time_us > 32 * equated(&p).library_load_us);
    assert_near(equated(&p).underused_percent, 87.5, 1e-12);
    assert_near(equated(&p).flat_underused_percent, 0, 0);
    set(&p, "batch", 64);
    assert_near(equated(&p).underused_percent, 0, 0);
}

/* ---- the choice ---------------------------------------------------------------------------------------------------------- */

/* Kernels of the shape of an operator in a step. */
static double count_of(const struct point *p, const char *operator)
{
    const struct dse_llm *llm = llm_of(p);
    if (strcmp(operator, "lm_head") == 0) return 1;
    return (double)(llm->layers * (strcmp(operator, "ffn_up") == 0 ? llm->ffn_matrices - 1 : 1));
}

static void check_heuristic(const struct point *p)
{
    static const char *const operators[] = {"qkv_projection", "output_projection", "ffn_up", "ffn_down", "lm_head"};
    static const char *const kernels[KERNELS] = {"gemv", "flat-gemm", "library"};
    const char *name = operators[(size_t)(uniform() * 5)];
    struct point best = *p;
    struct dse_breakdown parts;
    choose(&best, "gemm", name);
    choose(&best, "dataflow", "heuristic");
    set(&best, "launch_us", 0);
    struct point fixed = best;
    if (refusal(&best)) return; /* activations of fewer bits */
    const struct metrics m = broken_down(&best, &parts);
    const double three[KERNELS] = {m.gemv_us, m.flat_gemm_us, m.library_gemm_us}, count = count_of(p, name);
    int fastest = GEMV;
    for (int i = FLAT; i < KERNELS; i++)
        if (three[i] < three[fastest]) fastest = i;
    assert_string_equal(m.gemm_kernel, kernels[fastest]);
    assert_near(part_named(&parts, name)->time_us, count * three[fastest], 1e-12);
    choose(&fixed, "dataflow", "static");
    set(&fixed, "pad_rows", 64);
    parts = parts_of(&fixed);
    assert_near(part_named(&parts, name)->time_us, count * three[LIBRARY], 1e-12);
}

static void heuristic__takes_the_fastest_of_three_and_static_the_library(void **state)
{
    (void)state;
    for_random_points(check_heuristic);
}

/* Rows from which the flat GEMM beats GEMV, and the library the flat GEMM: every number of them tried. */
static void brute_force(const struct point *p, double k, double n, double *ret_m1, double *ret_m2)
{
    struct point given = *p;
    choose(&given, "gemm", "given");
    set(&given, "gemm_k", k);
    set(&given, "gemm_n", n);
    *ret_m1 = *ret_m2 = (double)NAN;
    for (int rows = 1; rows <= ROWS_MAX && !(*ret_m1 > 0 && *ret_m2 > 0); rows++) {
        set(&given, "gemm_m", rows);
        const struct metrics m = estimated(&given);
        if (isnan(*ret_m1) && m.gemv_us > m.flat_gemm_us * (1 + 1e-12)) *ret_m1 = rows;
        if (isnan(*ret_m2) && m.flat_gemm_us > m.library_gemm_us * (1 + 1e-12)) *ret_m2 = rows;
    }
}

static void check_inflections(const struct point *p)
{
    const struct equations e = equated(p);
    const struct {
        double n, k, m1, m2;
    } shapes[] = {{e.qkv_n, e.qkv_k, e.qkv_m1, e.qkv_m2},
                  {e.output_n, e.output_k, e.output_m1, e.output_m2},
                  {e.ffn_up_n, e.ffn_up_k, e.ffn_up_m1, e.ffn_up_m2},
                  {e.ffn_down_n, e.ffn_down_k, e.ffn_down_m1, e.ffn_down_m2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double m1, m2;
        brute_force(p, shapes[i].k, shapes[i].n, &m1, &m2);
        assert_near(shapes[i].m1, m1, 0);
        assert_near(shapes[i].m2, m2, 0);
    }
}

static void inflections__are_those_of_trying_every_number_of_rows(void **state)
{
    (void)state;
    static const char *const gpus[] = {"gpu=a100-80gb", "gpu=rtx-3090", "gpu=h100", "gpu=mi210"};
    static const char *const llms[] = {"llama2-7b", "opt-6.7b", "chatglm2-6b", "llama2-13b"};
    for (size_t g = 0; g < 4; g++)
        for (size_t l = 0; l < 4; l++) {
            char *settings = xasprintf("%s llm=%s capacity_gib=1000", gpus[g], llms[l]);
            const struct point p = point(settings);
            check_inflections(&p);
            free(settings);
        }
}

/* Fig. 8: four shapes of Llama2-7B; GEMV for one row of the QKV projection, the flat GEMM for eight of the FFN. */
static void lookup_table__is_that_of_fig_8(void **state)
{
    (void)state;
    const struct point p = point("gpu=a100-80gb llm=llama2-7b"), one = point("gpu=a100-80gb llm=llama2-7b batch=1"),
                       eight = point("gpu=a100-80gb llm=llama2-7b batch=8 gemm=ffn_up");
    const struct equations e = equated(&p);
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
    assert_string_equal(estimated(&one).gemm_kernel, "gemv");
    assert_string_equal(estimated(&eight).gemm_kernel, "flat-gemm");
}

static void lookup_table__has_no_entry_where_nothing_is_won(void **state)
{
    (void)state;
    /* GEMV keeps up with any number of rows that fits */
    const struct point p = point("gpu=a100-80gb gemv_efficiency=1 vector_tflops=1e5 bandwidth_gbs=1");
    assert_true(isnan(equated(&p).qkv_m1));
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
