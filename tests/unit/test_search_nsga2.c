/* search/nsga2.h and search/reservoir.h. */
#include "lattice_bed.h"

#include "search/nsga2.h"
#include "search/reservoir.h"

static struct search_result search(struct lattice_bed *l, size_t population, uint64_t seed, uint64_t evaluations)
{
    const struct search_options options = {.seed = seed, .evaluations = evaluations};
    struct search_result r;
    if (!nsga2_search(l->probe, population, &options, &r)) fail_msg("%s", probe_error(l->probe));
    return r;
}

static void nsga2__finds_most_of_the_front(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    size_t n;
    double *truth = true_front(&l, &n), early = 0, late = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct search_result few = search(&l, 64, seed, 1500), many = search(&l, 64, seed, 20000);
        assert_int_equal(few.evaluations, 1500);
        assert_int_equal(many.evaluations, 20000);
        early += share_found(truth, n, few.values, few.n) / 3;
        late += share_found(truth, n, many.values, many.n) / 3;
        search_result_release(&few);
        search_result_release(&many);
    }
    if (early < 0.2 || late < 0.9) fail_msg("%.2f, then %.2f of the front", early, late);
    free(truth);
    close_lattice(&l);
}

/* Of as many random points few are on the front. */
static void nsga2__is_better_than_chance(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    enum { N = 3000 };
    size_t n;
    double *truth = true_front(&l, &n);
    uint64_t points[N];
    double *values = xcalloc((size_t)N * M, sizeof *values), *violations = xcalloc(N, sizeof *violations);
    for (uint64_t i = 0; i < N; i++) points[i] = probe_random(l.probe, 1, i);
    assert_true(probe_evaluate(l.probe, points, N, values, violations));
    struct search_result r = search(&l, 64, 1, N);
    const double chance = share_found(truth, n, values, N), found = share_found(truth, n, r.values, r.n);
    if (found < 3 * chance || found < 0.3) fail_msg("%.3f of the front, by chance %.3f", found, chance);
    search_result_release(&r);
    free(values);
    free(violations);
    free(truth);
    close_lattice(&l);
}

static void nsga2__is_the_same_from_any_number_of_threads(void **state)
{
    (void)state;
    struct search_result r[2];
    for (int t = 0; t < 2; t++) {
        struct lattice_bed l = open_lattice(LAD_PARAMS, 1 + 2 * t);
        r[t] = search(&l, 600, 4, 3000); /* enough in a generation that threads share it */
        close_lattice(&l);
    }
    assert_int_equal(r[0].n, r[1].n);
    assert_memory_equal(r[0].points, r[1].points, r[0].n * sizeof(uint64_t));
    assert_memory_equal(r[0].values, r[1].values, r[0].n * sizeof(double[M]));
    search_result_release(&r[0]);
    search_result_release(&r[1]);
}

static void nsga2__goes_by_its_seed(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    struct search_result a = search(&l, 32, 1, 500), b = search(&l, 32, 2, 500);
    assert_true(a.n != b.n || memcmp(a.points, b.points, a.n * sizeof *a.points) != 0);
    search_result_release(&a);
    search_result_release(&b);
    close_lattice(&l);
}

static void nsga2__evaluates_a_small_lattice_whole(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice("[params]\nllm = 'llama2-7b'\ntiles = [2, 4, 8]\nsram_mib = [1, 2, 3, 4]\n", 1);
    size_t n;
    double *truth = true_front(&l, &n);
    struct search_result r = search(&l, 4, 1, 1000);
    assert_true(r.ended);
    assert_int_equal(r.evaluations, 12);
    assert_int_equal(r.n, n);
    assert_true(share_found(truth, n, r.values, r.n) == 1);
    search_result_release(&r);
    free(truth);
    close_lattice(&l);
}

static void nsga2__comes_to_what_is_feasible(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS "[constraints]\na = 'area_mm2 <= 80'\nt = 'tokens_per_s >= 95'\n", 1);
    size_t n;
    double *truth = true_front(&l, &n);
    struct search_result r = search(&l, 64, 3, 8000);
    const double share = share_found(truth, n, r.values, r.n);
    if (share < 0.8) fail_msg("%.2f of %zu", share, n);
    search_result_release(&r);
    free(truth);
    close_lattice(&l);
}

/* One point; no feasible one; an objective without a value anywhere. */
static void searches__end_where_there_is_little_to_find(void **state)
{
    (void)state;
    static const struct {
        const char *sections;
        size_t found;
    } cases[] = {{"[params]\nllm = 'llama2-7b'\n", 1},
                 {LAD_PARAMS "[constraints]\nnone = 'area_mm2 < 1'\n", 0},
                 {LAD_PARAMS "[constraints]\nnone = 'sqrt(0 - area_mm2) < 1'\n", 0},
                 {"[params]\nllm = 'llama2-7b'\ncontext = 2048\nbatch = [4096, 4095]\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lattice_bed l = open_lattice(cases[i].sections, 2);
        const struct search_options options = {.seed = 1};
        struct search_result local, nsga2 = search(&l, 16, 1, 2000);
        assert_true(local_search(l.probe, &options, &local));
        assert_int_equal(local.n, cases[i].found);
        assert_int_equal(nsga2.n, cases[i].found);
        assert_true(local.ended);
        search_result_release(&local);
        search_result_release(&nsga2);
        close_lattice(&l);
    }
}

/* ---- the reservoir ---------------------------------------------------------------------------------------------------------- */

static void reservoir__is_the_same_in_any_order(void **state)
{
    (void)state;
    enum { N = 10000, KEPT = 100 };
    struct reservoir *up = reservoir_new(KEPT), *down = reservoir_new(KEPT), *even = reservoir_new(KEPT),
                     *odd = reservoir_new(KEPT);
    for (uint64_t i = 0; i < N; i++) {
        reservoir_add(up, i);
        reservoir_add(up, i / 2); /* what came before does not count */
        reservoir_add(down, N - 1 - i);
        reservoir_add(i % 2 ? odd : even, i);
    }
    size_t n, k;
    const uint64_t *a = reservoir_points(up, &n), *b = reservoir_points(down, &k);
    assert_int_equal(n, KEPT);
    assert_int_equal(k, KEPT);
    assert_memory_equal(a, b, KEPT * sizeof *a);
    b = reservoir_points(odd, &k);
    for (size_t i = 0; i < k; i++) reservoir_add(even, b[i]);
    b = reservoir_points(even, &k);
    assert_int_equal(k, KEPT);
    assert_memory_equal(a, b, KEPT * sizeof *a);
    struct reservoir *const all[] = {up, down, even, odd};
    for (int i = 0; i < 4; i++) reservoir_free(all[i]);
}

/* Each tenth of a million has a tenth of the sample, within five standard deviations; a reservoir of more than all has all. */
static void reservoir__is_even(void **state)
{
    (void)state;
    enum { N = 1000000, KEPT = 10000 };
    struct reservoir *r = reservoir_new(KEPT), *all = reservoir_new(KEPT);
    for (uint64_t i = 0; i < N; i++) reservoir_add(r, i);
    for (uint64_t i = 0; i < 50; i++) reservoir_add(all, 7 * i);
    size_t n, tenths[10] = {0};
    const uint64_t *points = reservoir_points(r, &n);
    for (size_t i = 0; i < n; i++) tenths[points[i] / (N / 10)]++;
    for (int i = 0; i < 10; i++) assert_in_range(tenths[i], 850, 1150);
    points = reservoir_points(all, &n);
    assert_int_equal(n, 50);
    for (size_t i = 0; i < n; i++) assert_int_equal(points[i], 7 * i);
    reservoir_free(r);
    reservoir_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nsga2__finds_most_of_the_front),
        cmocka_unit_test(nsga2__is_better_than_chance),
        cmocka_unit_test(nsga2__is_the_same_from_any_number_of_threads),
        cmocka_unit_test(nsga2__goes_by_its_seed),
        cmocka_unit_test(nsga2__evaluates_a_small_lattice_whole),
        cmocka_unit_test(nsga2__comes_to_what_is_feasible),
        cmocka_unit_test(searches__end_where_there_is_little_to_find),
        cmocka_unit_test(reservoir__is_the_same_in_any_order),
        cmocka_unit_test(reservoir__is_even),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
