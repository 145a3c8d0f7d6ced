/* search/: lattices, archives and exact fronts, of the made-up models. */
#include "search_bed.h"

#include "search/archive.h"
#include "search/lattice.h"
#include "toy_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t random_state = 1;
static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state * UINT64_C(2685821657736338717) >> 20) % below;
}

/* A sweep of toy with these [params], objectives, and sections behind them. */
static struct search_bed open_toy(const char *models, const char *params, const char *objectives, const char *sections)
{
    struct search_bed b;
    char *text = xasprintf("[sweep]\nname = \"t\"\nmodels = [%s]\n[params]\n%s\n[objectives]\n%s\n%s\n", models, params, objectives,
                           sections);
    if (!open_search(&b, toy_data_dir(), text)) {
        diags_print(&b.diags, stderr, false);
        fail_msg("%s", text);
    }
    free(text);
    return b;
}

/* ---- lattices -------------------------------------------------------------------------------------------------------------- */

static void lattice__has_places_by_value(void **state)
{
    (void)state;
    struct search_bed b =
        open_toy("\"toy\"", "tiles = [8, 2, 4]\nmemory = [\"two-channels\", \"eight-channels\"]", "area_mm2 = \"min\"", "");
    struct lattice *l = lattice_new(b.spaces[0], &b.diags);
    assert_non_null(l);
    uint32_t n, places[2] = {0, 0};
    assert_string_equal(lattice_axis(l, 0, &n)->name, "memory");
    assert_int_equal(n, 2);
    assert_true(lattice_axis_is_split(l, 0));
    assert_string_equal(lattice_axis(l, 1, &n)->name, "tiles");
    assert_false(lattice_axis_is_split(l, 1));
    const int64_t tiles[] = {2, 4, 8};
    for (uint32_t m = 0; m < 2; m++)
        for (uint32_t p = 0; p < 3; p++) {
            struct toy_params params;
            uint32_t back[2];
            places[0] = m;
            places[1] = p;
            space_point(b.spaces[0], lattice_index(l, places), &params);
            assert_int_equal(params.tiles, tiles[p]);
            assert_int_equal(params.channels, m ? 8 : 2);
            lattice_places(l, lattice_index(l, places), back);
            assert_memory_equal(back, places, sizeof places);
        }
    lattice_free(l);
    close_search(&b);
}

/* The rate of a channel is the bandwidth over the channels: it falls along one axis and grows along the other. */
static void lattice__encloses_what_does_not_grow_with_its_axes(void **state)
{
    (void)state;
    struct search_bed b =
        open_toy("\"toy\"", "bandwidth_gbs = [64, 100, 512]\nchannels = [2, 3, 16]\nbatch = [1, 2]", "area_mm2 = \"min\"", "");
    struct lattice *l = lattice_new(b.spaces[0], &b.diags);
    assert_non_null(l);
    struct toy_params lo, hi;
    lattice_enclose(l, (uint32_t[]){0, 0, 0}, (uint32_t[]){2, 1, 2}, &lo, &hi);
    assert_true(lo.channel_gbs == 4 && hi.channel_gbs == 256);
    assert_true(lo.bandwidth_gbs == 64 && hi.bandwidth_gbs == 512 && lo.channels == 2 && hi.channels == 16);
    lattice_enclose(l, (uint32_t[]){1, 0, 1}, (uint32_t[]){1, 1, 2}, &lo, &hi);
    assert_true(lo.channel_gbs == 6.25 && hi.channel_gbs == 100 / 3.0);
    assert_int_equal(lattice_volume(l, (uint32_t[]){1, 0, 1}, (uint32_t[]){1, 1, 2}), 4);
    lattice_free(l);
    close_search(&b);
}

static void lattice__has_a_limit(void **state)
{
    (void)state;
    const char *axis = "{ from = 0.25, to = 60, points = 10000 }";
    char *params = xasprintf("sram_mib = %s\nclock_ghz = { from = 0.1, to = 10, points = 10000 }\nbandwidth_gbs = "
                             "{ from = 1, to = 1000, points = 10000 }\noverhead_us = { from = 0, to = 1000, points = 10000 }",
                             axis);
    struct search_bed b = open_toy("\"toy\"", params, "area_mm2 = \"min\"", "");
    assert_null(lattice_new(b.spaces[0], &b.diags));
    assert_string_equal(b.diags.list[0].message, "model toy has 1e+16 points; at most 4.504e+15");
    free(params);
    close_search(&b);
}

/* ---- archives -------------------------------------------------------------------------------------------------------------- */

static void archive__covers_as_a_list_does(void **state)
{
    (void)state;
    enum { M = 3, N = 3000 };
    struct archive *a = archive_new(M, 1e-9);
    double(*taken)[M] = xcalloc(N, sizeof *taken);
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        const double x = (double)draw(200), y = (double)draw(200);
        const double v[M] = {x, y, fmax(0, 300 - x - y + (double)draw(20))};
        bool covered = false;
        for (size_t k = 0; k < n && !covered; k++) covered = is_no_worse(taken[k], v, M, 1e-9);
        assert_int_equal(archive_cover(a, v, draw(50)) != SIZE_MAX, covered);
        assert_int_equal(archive_add(a, v, (struct lattice_point){0, (uint64_t)i}), !covered);
        if (!covered) memcpy(taken[n++], v, sizeof v);
        if (i % 7 == 0) archive_settle(a);
    }
    archive_settle(a);
    for (size_t i = 0; i < archive_size(a); i++)
        for (size_t k = 0; k < archive_size(a); k++)
            assert_true(i == k || !is_no_worse(archive_costs(a, k), archive_costs(a, i), M, 0));
    for (int i = 0; i < 200; i++) { /* the gap, against each member */
        const double v[M] = {(double)(1 + draw(200)), (double)(1 + draw(200)), (double)(1 + draw(200))};
        double least = INFINITY;
        for (size_t k = 0; k < archive_size(a); k++) {
            double most = 0;
            for (size_t j = 0; j < M; j++) most = fmax(most, archive_costs(a, k)[j] / v[j] - 1);
            least = fmin(least, most);
        }
        assert_true(fabs(archive_gap(a, v) - least) < 1e-12);
    }
    const double low[M] = {0, 0, 0}, open[M] = {1, -(double)INFINITY, 1}, far[M] = {1000, 1000, 1000};
    assert_true(archive_gap(a, far) == 0 && isinf(archive_gap(a, open)) && isinf(archive_gap(a, low)));
    free(taken);
    archive_free(a);
}

/* Of members that are the same within the tolerance where they are worse, the clearly better one makes the front. */
static void archive__makes_a_front_without_rounding(void **state)
{
    (void)state;
    struct archive *a = archive_new(2, 1e-9);
    const double first[] = {1, 5}, second[] = {1 + 1e-12, 4}, third[] = {0.5, 9};
    assert_true(archive_add(a, first, (struct lattice_point){0, 1}));
    assert_true(archive_add(a, second, (struct lattice_point){0, 2}));
    assert_true(archive_add(a, third, (struct lattice_point){0, 3}));
    assert_false(archive_add(a, (double[]){1, 4.0000000001}, (struct lattice_point){0, 4}));
    size_t members[3], n = archive_front(a, members);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) assert_int_not_equal(archive_at(a, members[i]).point, 1);
    archive_free(a);
}

/* ---- fronts ---------------------------------------------------------------------------------------------------------------- */

static struct exact_result search(struct search_bed *b, int threads)
{
    struct exact_result r;
    const struct exact_options options = {.threads = threads};
    if (!exact_search(b->sweep, b->spaces, &options, &r, &b->diags)) {
        diags_print(&b->diags, stderr, false);
        fail_msg("no search");
    }
    return r;
}

/* The front is that of all points, and the same from one thread and from three. */
static void check_front(struct search_bed *b, const char *what)
{
    struct vectors truth, found;
    struct exact_result one = search(b, 1), three = search(b, 3);
    brute_force(b, &truth);
    row_vectors(b, &one, &found);
    char *wrong = compare_fronts(&found, &truth);
    if (wrong) fail_msg("%s: %s", what, wrong);
    assert_true(one.certificate.complete && one.certificate.epsilon == 0 && one.certificate.hypervolume_left == 0);
    assert_true(rows_are_true(b, &one));
    assert_int_equal(one.n_front, three.n_front);
    for (size_t i = 0; i < one.n_front; i++) {
        assert_int_equal(one.front[i].at.space, three.front[i].at.space);
        assert_int_equal(one.front[i].at.point, three.front[i].at.point);
    }
    assert_memory_equal(one.certificate.boxes, three.certificate.boxes, sizeof one.certificate.boxes);
    assert_int_equal(one.certificate.evaluations, three.certificate.evaluations);
    vectors_release(&found);
    vectors_release(&truth);
    exact_result_release(&three);
    exact_result_release(&one);
}

/* Some of these axes, each with a few values in any order. */
static char *random_params(void)
{
    static const struct {
        const char *name, *values[8];
    } axes[] = {
        {"tiles", {"1", "2", "3", "5", "8", "16", "32", "64"}},
        {"sram_mib", {"8", "0.25", "0.5", "1", "2", "4", "16", "32"}},
        {"clock_ghz", {"1", "0.5", "0.1", "0.25", "2", "4", "0.7", "1.3"}},
        {"batch", {"1", "2", "3", "4", "6", "8", "16", "24"}},
        {"context", {"512", "1024", "1500", "2048", "3000", "4096", "5000", "8192"}},
        {"bandwidth_gbs", {"10", "64", "100", "128", "300", "32", "200", "500"}},
        {"channels", {"1", "2", "3", "4", "5", "8", "12", "16"}},
        {"overhead_us", {"0", "1", "2", "3", "4", "5", "10", "20"}},
        {"pipeline", {"\"exact\"", "\"eq7\"", "\"none\""}},
        {"memory", {"\"two-channels\"", "\"eight-channels\""}},
        {"llm", {"\"tiny\"", "\"small\""}},
    };
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        if (draw(3) == 0) continue;
        text_addf(&t, "%s = [", axes[i].name);
        for (size_t v = 0, n = 0; v < 8 && axes[i].values[v]; v++)
            if (v == 0 || draw(2)) text_addf(&t, "%s%s", n++ ? ", " : "", axes[i].values[v]);
        text_add(&t, "]\n");
    }
    return text_detach(&t);
}

static char *random_objectives(void)
{
    static const char *const objectives[] = {"tokens_per_s = \"max\"", "latency_us = \"min\"", "power_w = \"min\"",
                                             "area_mm2 = \"min\"",     "dram_mib = \"min\"",   "rounds = \"min\"",
                                             "density = \"max\"",      "active = \"max\"",     "macs_per_s = \"max\""};
    struct text t;
    text_init(&t);
    const size_t all = sizeof objectives / sizeof *objectives, n = 2 + draw(3), first = draw(all), step = 1 + draw(2);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s\n", objectives[(first + i * step) % all]);
    return text_detach(&t);
}

static const char *random_sections(void)
{
    static const char *const sections[] = {
        "[derive]\ndensity = \"tokens_per_s / area_mm2\"\n",
        "[derive]\ndensity = \"tokens_per_s / area_mm2\"\n[constraints]\nsmall = \"area_mm2 <= 30\"\n",
        "[derive]\ndensity = \"tokens_per_s / area_mm2 - power_w * 10\"\n[constraints]\nfew = \"tiles * batch < 100\"\n",
        "[derive]\ndensity = \"max(tokens_per_s, 1000) / sqrt(area_mm2)\"\n"
        "[constraints]\nnone = \"power_w > 0 && latency_us < 1e9\"\n",
    };
    return sections[draw(sizeof sections / sizeof *sections)];
}

static void exact__is_the_front_of_all_points(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        char *params = random_params(), *objectives = random_objectives();
        const char *sections = random_sections();
        struct search_bed b = open_toy("\"toy\"", params, objectives, sections);
        char *what = xasprintf("%s%s%s", params, objectives, sections);
        if (space_count(b.spaces[0]) <= 100000) check_front(&b, what);
        free(what);
        close_search(&b);
        free(params);
        free(objectives);
    }
}

static void exact__has_a_front_for_each_value_of_per(void **state)
{
    (void)state;
    const char *params = "tiles = [1, 2, 4, 8, 16]\nclock_ghz = [0.25, 0.5, 1, 2]\nbatch = [4, 1, 2]\n"
                         "memory = [\"two-channels\", \"eight-channels\"]\ncontext = [512, 1024]";
    const char *objectives = "tokens_per_s = \"max\"\npower_w = \"min\"\nper = [\"batch\", \"channels\"]";
    struct search_bed b = open_toy("\"toy\"", params, objectives, "");
    check_front(&b, "per");
    struct exact_result r = search(&b, 2);
    uint64_t groups = 0;
    for (size_t i = 0; i < r.n_front; i++) groups |= UINT64_C(1) << r.front[i].group;
    assert_int_equal(groups, 63); /* three batches, two memories that bring their channels */
    exact_result_release(&r);
    close_search(&b);
}

/* ---- a search that is stopped ------------------------------------------------------------------------------------------------ */

static const char many[] = "tiles = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32]\n"
                           "clock_ghz = { from = 0.1, to = 2, points = 24 }\nbatch = [1, 2, 3, 4, 6, 8, 12, 16]\n"
                           "sram_mib = { from = 0.25, to = 8, points = 16 }\nbandwidth_gbs = { from = 10, to = 500, points = 12 }";
static const char three[] = "tokens_per_s = \"max\"\narea_mm2 = \"min\"\npower_w = \"min\"";

/* The hypervolume of a front, in the box between the best and the worst of `of`. */
static double volume_of(const struct vectors *v, const struct vectors *of)
{
    double best[3] = {INFINITY, INFINITY, INFINITY}, worst[3] = {-INFINITY, -INFINITY, -INFINITY}, ref[3] = {1, 1, 1};
    double *points = xcalloc(v->n * 3, sizeof *points);
    for (size_t i = 0; i < of->n; i++)
        for (size_t j = 0; j < 3; j++) {
            best[j] = fmin(best[j], of->costs[i * 3 + j]);
            worst[j] = fmax(worst[j], of->costs[i * 3 + j]);
        }
    for (size_t i = 0; i < v->n * 3; i++) points[i] = (v->costs[i] - best[i % 3]) / (worst[i % 3] - best[i % 3]);
    const double volume = hypervolume(points, v->n, 3, ref);
    free(points);
    return volume;
}

/* Whenever it is stopped, what it says of the rows that it lacks is true. */
static void exact__says_what_a_stopped_search_may_miss(void **state)
{
    (void)state;
    struct search_bed b = open_toy("\"toy\"", many, three, "");
    struct vectors truth;
    brute_force(&b, &truth);
    int stopped = 0, known = 0;
    for (uint64_t rounds = 1, complete = 0; !complete; rounds += 1 + rounds / 4) {
        struct exact_result r;
        struct vectors found;
        const struct exact_options options = {.threads = 2, .rounds = rounds};
        assert_true(exact_search(b.sweep, b.spaces, &options, &r, &b.diags));
        const struct certificate *c = &r.certificate;
        row_vectors(&b, &r, &found);
        assert_true(rows_are_true(&b, &r));
        assert_int_equal(c->complete, c->boxes[BOX_OPEN] == 0);
        assert_true(c->complete ? c->epsilon == 0 && c->hypervolume_left == 0 : c->epsilon > 0);
        for (size_t t = 0; t < truth.n; t++) {
            bool near = isinf(c->epsilon);
            for (size_t i = 0; i < found.n && !near; i++)
                near = is_no_worse(found.costs + i * 3, truth.costs + t * 3, 3, c->epsilon * (1 + 1e-9) + CERTIFICATE_TOLERANCE);
            assert_true(near);
        }
        if (!isnan(c->hypervolume_left)) {
            assert_true(volume_of(&truth, &found) - volume_of(&found, &found) <= c->hypervolume_left + 1e-9);
            known++;
        }
        complete = c->complete;
        stopped += !complete;
        vectors_release(&found);
        exact_result_release(&r);
    }
    assert_true(stopped > 3 && known > 0);
    vectors_release(&truth);
    close_search(&b);
}

/* Time is a matter of the machine: only that it ends, and says so. */
static void exact__ends_when_its_time_is_up(void **state)
{
    (void)state;
    struct search_bed b = open_toy("\"toy\"", many, three, "");
    struct exact_result r;
    const struct exact_options options = {.threads = 2, .seconds = 1e-6};
    assert_true(exact_search(b.sweep, b.spaces, &options, &r, &b.diags));
    assert_false(r.certificate.complete);
    assert_true(isinf(r.certificate.epsilon) && isnan(r.certificate.hypervolume_left));
    exact_result_release(&r);
    close_search(&b);
}

static void exact__ends_at_once_when_it_is_interrupted(void **state)
{
    (void)state;
    const volatile sig_atomic_t interrupt = 1;
    struct search_bed b = open_toy("\"toy\"", many, three, "");
    struct exact_result r;
    const struct exact_options options = {.threads = 2, .interrupt = &interrupt};
    assert_true(exact_search(b.sweep, b.spaces, &options, &r, &b.diags));
    assert_false(r.certificate.complete);
    assert_int_equal(r.certificate.boxes[BOX_OPEN], 1);
    exact_result_release(&r);
    close_search(&b);
}

/* ---- what cannot be sought --------------------------------------------------------------------------------------------------- */

static void refuses(const char *models, const char *params, const char *objectives, const char *sections, const char *message,
                    const char *hint)
{
    struct search_bed b = open_toy(models, params, objectives, sections);
    struct exact_result r;
    const struct exact_options options = {.threads = 1};
    assert_false(exact_search(b.sweep, b.spaces, &options, &r, &b.diags));
    assert_true(b.diags.n > 0);
    assert_string_equal(b.diags.list[b.diags.n - 1].message, message);
    assert_string_equal(b.diags.list[b.diags.n - 1].hint ? b.diags.list[b.diags.n - 1].hint : "", hint);
    exact_result_release(&r);
    close_search(&b);
}

static void exact__refuses_an_objective_without_a_bound(void **state)
{
    (void)state;
    refuses("\"toy\"", "tiles = [1, 2]", "tokens_per_s = \"max\"\ncompute_utilization = \"max\"", "",
            "an exact front needs a bound of every objective: model toy has no bound of compute_utilization",
            "toy bounds tokens_per_s, latency_us, attention_us, power_w, area_mm2, dram_mib, macs_per_s, rounds; without a bound, "
            "[search] method = \"local\" or \"nsga2\"");
    refuses("\"pebble\"", "lanes = [1, 2]", "tokens_per_s = \"max\"", "",
            "an exact front needs a bound of every objective: model pebble has no bounds",
            "without a bound, [search] method = \"local\" or \"nsga2\" in `dse sweep`");
}

/* The bound of toy does not set what a die costs: that is unknown, and no number. */
static void exact__takes_a_bound_that_was_not_set_for_unknown(void **state)
{
    (void)state;
    struct search_bed b = open_toy("\"toy\"", "tiles = [1, 2, 4]", "tokens_per_s = \"max\"\ndie_usd = \"min\"", "");
    struct exact_result r;
    assert_false(exact_search(b.sweep, b.spaces, &(struct exact_options){.threads = 1}, &r, &b.diags));
    assert_true(b.diags.n > 0);
    assert_non_null(strstr(b.diags.list[b.diags.n - 1].message, "model toy has no bound of die_usd"));
    exact_result_release(&r);
    close_search(&b);
}

/* A lattice of which no point can be built has a front without rows, and that is certain. */
static void exact__is_certain_of_an_empty_front(void **state)
{
    (void)state;
    struct search_bed b = open_toy("\"toy\"", "tiles = [32, 48, 64]\nsram_mib = [0.25, 0.5, 1]", "area_mm2 = \"min\"", "");
    struct exact_result r = search(&b, 1);
    assert_true(r.certificate.complete && r.n_front == 0);
    exact_result_release(&r);
    close_search(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice__has_places_by_value),
        cmocka_unit_test(lattice__encloses_what_does_not_grow_with_its_axes),
        cmocka_unit_test(lattice__has_a_limit),
        cmocka_unit_test(archive__covers_as_a_list_does),
        cmocka_unit_test(archive__makes_a_front_without_rounding),
        cmocka_unit_test(exact__is_the_front_of_all_points),
        cmocka_unit_test(exact__has_a_front_for_each_value_of_per),
        cmocka_unit_test(exact__says_what_a_stopped_search_may_miss),
        cmocka_unit_test(exact__ends_when_its_time_is_up),
        cmocka_unit_test(exact__ends_at_once_when_it_is_interrupted),
        cmocka_unit_test(exact__refuses_an_objective_without_a_bound),
        cmocka_unit_test(exact__takes_a_bound_that_was_not_set_for_unknown),
        cmocka_unit_test(exact__is_certain_of_an_empty_front),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
