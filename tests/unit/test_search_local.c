/* search/local.h, search/probe.h and the violations they go by, on lattices that can be evaluated whole. */
#include "lattice_bed.h"

#include "search/local.h"
#include "space/margin.h"

static struct search_result search(struct lattice_bed *l, uint64_t seed, uint64_t evaluations)
{
    const struct search_options options = {.seed = seed, .evaluations = evaluations};
    struct search_result r;
    if (!local_search(l->probe, &options, &r)) fail_msg("%s", probe_error(l->probe));
    return r;
}

/* ---- the lattice ------------------------------------------------------------------------------------------------------------ */

static size_t axis_named(const struct lattice_bed *l, const char *name)
{
    for (size_t a = 0; a < l->space->n_axes; a++)
        if (strcmp(l->space->axes[a].field->name, name) == 0) return a;
    fail_msg("no axis %s", name);
    return 0;
}

static void probe__places_ascend_though_a_list_does_not(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    const size_t a = axis_named(&l, "vpu_width");
    uint64_t places[SPACE_AXES_MAX] = {0}, back[SPACE_AXES_MAX];
    const int64_t widths[] = {16, 32, 64};
    char *params = xmalloc(space_model(l.space)->desc->params_size);
    for (uint64_t i = 0; i < 3; i++) {
        places[a] = i;
        const uint64_t index = probe_index(l.probe, places);
        space_point(l.space, index, params);
        assert_int_equal(field_get(l.space->axes[a].field, params).i64, widths[i]);
        probe_places(l.probe, index, back);
        assert_int_equal(back[a], i);
    }
    free(params);
    close_lattice(&l);
}

static void probe__a_held_axis_stands_still(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    const size_t a = axis_named(&l, "vpu_width");
    const uint64_t count = probe_count(l.probe);
    probe_hold(l.probe, a, 1);
    assert_int_equal(probe_count(l.probe), count / 3);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t digits[SPACE_AXES_MAX];
        space_digits(l.space, probe_random(l.probe, 7, i), digits);
        assert_int_equal(digits[a], 1);
    }
    struct search_result r = search(&l, 1, 0);
    assert_true(r.n > 0);
    for (size_t i = 0; i < r.n; i++) {
        uint64_t digits[SPACE_AXES_MAX];
        space_digits(l.space, r.points[i], digits);
        assert_int_equal(digits[a], 1);
    }
    search_result_release(&r);
    close_lattice(&l);
}

static void probe__random_points_are_even(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    enum { DRAWS = 8000 };
    const size_t a = axis_named(&l, "tiles");
    uint64_t count[8] = {0}, places[SPACE_AXES_MAX];
    for (uint64_t i = 0; i < DRAWS; i++) {
        probe_places(l.probe, probe_random(l.probe, 3, i), places);
        count[places[a]]++;
    }
    for (int i = 0; i < 8; i++) assert_in_range(count[i], 1000 - 150, 1000 + 150); /* five standard deviations */
    close_lattice(&l);
}

/* ---- violations ------------------------------------------------------------------------------------------------------------- */

static double broken(struct lattice_bed *l, const char *constraint, double tokens_per_s, double area)
{
    const struct model *model = space_model(l->space);
    char *params = xcalloc(1, model->desc->params_size), *metrics = xcalloc(1, model->desc->metrics_size);
    field_set(schema_find(&model->metrics, "tokens_per_s"), metrics, (struct value){.f64 = tokens_per_s});
    field_set(schema_find(&model->metrics, "area_mm2"), metrics, (struct value){.f64 = area});
    struct margin *m = margin_new(constraint, &model->params, &model->metrics);
    const double by = margin_broken(m, params, metrics);
    margin_free(m);
    free(params);
    free(metrics);
    return by;
}

static void margin__falls_as_a_point_comes_nearer(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    near(broken(&l, "area_mm2 <= 25", 0, 75), 0.5);
    near(broken(&l, "area_mm2 <= 25", 0, 26), 1.0 / 51);
    near(broken(&l, "(area_mm2 + 1 > 2) + 25 < area_mm2 - 1 + 2", 0, 2), 23.0 / 29);
    near(broken(&l, "tokens_per_s >= 300", 100, 0), 0.5);
    near(broken(&l, "tokens_per_s >= 300 && area_mm2 < 3", 100, 0), 1);
    near(broken(&l, "max(tokens_per_s > 3, area_mm2 > 4)", 1, 1), 1);
    near(broken(&l, "1 / area_mm2 < 2", 0, 0), 1);
    const double equal = broken(&l, "area_mm2 < 25", 0, 25);
    assert_true(equal > 0 && equal < 1e-6);
    close_lattice(&l);
}

/* Of batches that do not fit the DRAM, the larger lacks more. */
static void probe__what_is_refused_is_worse_than_what_breaks_a_constraint(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(
        "[params]\nllm = 'llama2-7b'\ncontext = 2048\nbatch = [1, 512, 1024]\n[constraints]\na = 'area_mm2 <= 1'\n", 1);
    const uint64_t points[] = {0, 1, 2};
    double values[3 * M], violations[3];
    assert_true(probe_evaluate(l.probe, points, 3, values, violations));
    assert_true(violations[0] > 0 && violations[0] < 1);
    assert_true(violations[1] > 1);
    assert_true(violations[2] > violations[1]);
    close_lattice(&l);
}

/* ---- the search ------------------------------------------------------------------------------------------------------------- */

static void local__finds_the_front(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 2);
    size_t n;
    double *truth = true_front(&l, &n);
    assert_true(n > 50);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct search_result r = search(&l, seed, 0);
        assert_true(r.ended);
        const double share = share_found(truth, n, r.values, r.n);
        if (share < 0.93) fail_msg("seed %d: %.1f %% of the front", (int)seed, 100 * share);
        assert_true(r.evaluations < probe_count(l.probe));
        search_result_release(&r);
    }
    free(truth);
    close_lattice(&l);
}

static void local__is_the_same_from_any_number_of_threads(void **state)
{
    (void)state;
    struct search_result r[2];
    for (int t = 0; t < 2; t++) {
        struct lattice_bed l = open_lattice(LAD_PARAMS, 1 + 2 * t);
        r[t] = search(&l, 4, 0);
        close_lattice(&l);
    }
    assert_int_equal(r[0].n, r[1].n);
    assert_int_equal(r[0].evaluations, r[1].evaluations);
    assert_memory_equal(r[0].points, r[1].points, r[0].n * sizeof(uint64_t));
    assert_memory_equal(r[0].values, r[1].values, r[0].n * sizeof(double[M]));
    search_result_release(&r[0]);
    search_result_release(&r[1]);
}

static void local__finds_what_few_points_satisfy(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS "[constraints]\na = 'area_mm2 <= 80'\nt = 'tokens_per_s >= 95'\n", 1);
    size_t n;
    double *truth = true_front(&l, &n);
    assert_true(n > 3);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct search_result r = search(&l, seed, 0);
        if (share_found(truth, n, r.values, r.n) < 0.85) fail_msg("seed %d: %zu of %zu", (int)seed, r.n, n);
        search_result_release(&r);
    }
    free(truth);
    close_lattice(&l);
}

struct visits {
    uint64_t n, stop_at;
    uint8_t *count;
};

static bool visit(void *user, const uint64_t *points, const double *values, const double *violations, size_t n)
{
    (void)values, (void)violations;
    struct visits *v = user;
    for (size_t i = 0; i < n; i++) v->count[points[i]]++;
    v->n += n;
    return !v->stop_at || v->n < v->stop_at;
}

static void local__evaluates_a_point_once_and_ends_when_it_is_told(void **state)
{
    (void)state;
    struct lattice_bed l = open_lattice(LAD_PARAMS, 1);
    const uint64_t count = probe_count(l.probe);
    for (int stopped = 0; stopped < 2; stopped++) {
        struct visits v = {.count = xcalloc(count, 1), .stop_at = stopped ? 700 : 0};
        const struct search_options options = {.seed = 1, .evaluations = stopped ? 0 : 999, .visit = visit, .user = &v};
        struct search_result r;
        assert_true(local_search(l.probe, &options, &r));
        assert_false(r.ended);
        assert_int_equal(r.evaluations, v.n);
        if (!stopped) assert_int_equal(r.evaluations, 999);
        for (uint64_t i = 0; i < count; i++) assert_true(v.count[i] <= 1);
        for (size_t i = 0; i < r.n; i++) assert_int_equal(v.count[r.points[i]], 1);
        search_result_release(&r);
        free(v.count);
    }
    close_lattice(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe__places_ascend_though_a_list_does_not),
        cmocka_unit_test(probe__a_held_axis_stands_still),
        cmocka_unit_test(probe__random_points_are_even),
        cmocka_unit_test(margin__falls_as_a_point_comes_nearer),
        cmocka_unit_test(probe__what_is_refused_is_worse_than_what_breaks_a_constraint),
        cmocka_unit_test(local__finds_the_front),
        cmocka_unit_test(local__is_the_same_from_any_number_of_threads),
        cmocka_unit_test(local__finds_what_few_points_satisfy),
        cmocka_unit_test(local__evaluates_a_point_once_and_ends_when_it_is_told),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
