/* sweep/sweep.h: two models in one sweep, from the file to the stored front. */
#include "sweep_bed.h"

static const char *const two_models =
    "[sweep]\nname = \"two\"\nmodels = [\"toy\", \"pebble\"]\n"
    "[params]\nclock_ghz = { from = 0.5, to = 3, points = 40 }\ncontext = [256, 1024, 4096]\n"
    "[params.toy]\ntiles = { from = 1, to = 60, step = 1 }\nmemory = [\"two-channels\", \"eight-channels\"]\n"
    "[params.pebble]\nlanes = { from = 1, to = 1000, step = 9 }\n"
    "[constraints]\nsmall = \"area_mm2 <= 80\"\n"
    "[derive]\nodd = \"sqrt(tokens_per_s - 1000)\"\n"
    "[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\n";

static void sweep__stores_every_point_of_every_model(void **state)
{
    struct bed *b = *state;
    struct sweep_result r = run(b, two_models, b->db, 2, false);
    assert_int_equal(r.planned, 40 * 3 * 60 * 2 + 40 * 3 * 112);
    assert_int_equal(r.done, r.planned);
    answers(b, b->db, "SELECT count(*), min(point), max(point), count(DISTINCT point) FROM toy", "14400|0|14399|14400\n");
    answers(b, b->db, "SELECT count(*), min(point), max(point), count(DISTINCT point) FROM pebble", "13440|0|13439|13440\n");
    answers(b, b->db,
            "SELECT done, planned, status, feasible = (SELECT count(*) FROM toy WHERE status = 'ok') + (SELECT count(*) FROM pebble"
            " WHERE status = 'ok') FROM run",
            "27840|27840|done|1\n");
}

/* What a catalog name sets varies with it; what nothing sets is fixed; a metric without a meaning and a derived value that is no
 * number are NULL; a broken constraint keeps its metrics. */
static void sweep__rows_hold_what_the_sweep_file_says(void **state)
{
    struct bed *b = *state;
    run(b, two_models, b->db, 2, false);
    answers(b, b->db,
            "SELECT count(DISTINCT channels) > 1, count(DISTINCT bandwidth_gbs) > 1, count(DISTINCT sram_mib), count(energy_mj)"
            " FROM toy",
            "1|1|1|0\n");
    answers(b, b->db, "SELECT count(*) FROM toy WHERE status = 'ok' AND abs(bandwidth_gbs - channels * channel_gbs) > 1e-9", "0\n");
    answers(b, b->db, "SELECT count(*) FROM pebble WHERE (area_mm2 <= 80) <> (status = 'ok')", "0\n");
    answers(b, b->db, "SELECT count(*) > 0, min(tokens_per_s) > 0 FROM pebble WHERE reason = 'constraint small: area_mm2 <= 80'",
            "1|1\n");
    answers(b, b->db, "SELECT count(*) FROM pebble WHERE (tokens_per_s < 1000) <> (odd IS NULL)", "0\n");
    answers(b, b->db, "SELECT count(*) FROM pebble WHERE abs(odd * odd - (tokens_per_s - 1000)) > 1e-6 * tokens_per_s", "0\n");
}

/* No feasible point of either model dominates a point of the front, and every feasible point off the front is dominated by one on
 * it. */
static void sweep__front_is_over_all_models_together(void **state)
{
    struct bed *b = *state;
    struct sweep_result r = run(b, two_models, b->db, 2, false);
    static const char with[] =
        "WITH p(model, point, t, a) AS (SELECT 'toy', point, tokens_per_s, area_mm2 FROM toy WHERE status = 'ok' UNION ALL"
        " SELECT 'pebble', point, tokens_per_s, area_mm2 FROM pebble WHERE status = 'ok'),"
        " f AS (SELECT p.* FROM p JOIN front USING (model, point)),"
        " d AS (SELECT EXISTS (SELECT 1 FROM f WHERE f.t >= p.t AND f.a <= p.a AND (f.t > p.t OR f.a < p.a)) AS dominated,"
        " EXISTS (SELECT 1 FROM front WHERE front.model = p.model AND front.point = p.point) AS kept FROM p)";
    char *sql = xasprintf("%s SELECT sum(dominated = kept), sum(kept) FROM d", with), *expected = xasprintf("0|%zu\n", r.front);
    answers(b, b->db, sql, expected);
    free(sql);
    free(expected);
    answers(b, b->db, "SELECT count(DISTINCT model) FROM front", "2\n");
    answers(b, b->db, "SELECT objectives, hypervolume > 0 AND hypervolume <= 1 FROM run",
            "max tokens_per_s, min area_mm2 within attention_error 0.1 (default)|1\n");
}

static void sweep__rows_do_not_depend_on_threads_or_restarts(void **state)
{
    struct bed *b = *state;
    char *other = xasprintf("%s/other.db", b->dir);
    run(b, two_models, b->db, 1, false);
    run(b, two_models, other, 5, false);
    same_answer(b, b->db, other, "SELECT * FROM toy ORDER BY point");
    same_answer(b, b->db, other, "SELECT * FROM pebble ORDER BY point");
    same_answer(b, b->db, other, "SELECT * FROM front");
    struct sweep_result again = run(b, two_models, other, 2, false);
    assert_true(again.was_complete);
    answers(b, other, "SELECT count(*) FROM run", "1\n");
    again = run(b, two_models, other, 2, true);
    assert_false(again.was_complete);
    answers(b, other, "SELECT count(*) FROM run", "2\n");
    same_answer(b, b->db, other, "SELECT point, tokens_per_s FROM toy ORDER BY point");
    free(other);
}

/* An interruption stops behind the current transaction; the next call goes on. */
static void sweep__goes_on_after_an_interruption(void **state)
{
    struct bed *b = *state;
    static const char *const large =
        "[sweep]\nname = \"large\"\nmodels = [\"pebble\"]\n[params]\nlanes = { from = 1, to = 1000, step = 1 }\n"
        "clock_ghz = { from = 0.5, to = 3, points = 400 }\n[objectives]\ntokens_per_s = \"max\"\n";
    scratch_write(b->dir, "s.toml", large);
    struct catalog *catalog = catalog_new(toy_data_dir(), &b->diags);
    struct sweep_file *s = sweep_file_read(b->file, catalog, toy_data_dir(), &b->diags);
    volatile sig_atomic_t stop = 1;
    struct sweep_options options = {.db = b->db, .threads = 2, .max_points = 1000000, .interrupt = &stop};
    struct sweep_result result;
    assert_true(sweep_run(s, &options, &result, &b->diags));
    assert_true(result.interrupted && result.done > 0 && result.done < result.planned);
    answers(b, b->db, "SELECT status, done = (SELECT count(*) FROM pebble_all), (SELECT count(*) FROM front) FROM run",
            "interrupted|1|0\n");
    stop = 0;
    uint64_t before = result.done;
    assert_true(sweep_run(s, &options, &result, &b->diags));
    assert_int_equal(result.resumed, before);
    assert_int_equal(result.done, 400000);
    answers(b, b->db, "SELECT count(*), count(DISTINCT point), sum(point) FROM pebble_all", "400000|400000|79999800000\n");
    answers(b, b->db, "SELECT status, done, feasible FROM run", "done|400000|400000\n");
    sweep_file_free(s);
    catalog_free(catalog);
}

/* A front for each value is the union of the fronts of sweeps with that value alone. */
static void sweep__front_per_parameter_is_that_of_each_value(void **state)
{
    struct bed *b = *state;
    static const char start[] =
        "[sweep]\nname = \"per\"\nmodels = [\"pebble\"]\n[params]\nlanes = { from = 1, to = 1000, step = 37 }\n"
        "clock_ghz = [0.5, 1, 2]\nbatch = [1, 2, 3, 4]\n[objectives]\ntokens_per_s = \"max\"\nenergy_mj = \"min\"\n"
        "area_mm2 = \"min\"\n";
    char *per = xasprintf("%sper = [\"batch\"]\n", start), *db = NULL;
    run(b, per, b->db, 2, false);
    for (int batch = 1; batch <= 4; batch++) {
        char *one = xasprintf("%s[constraints]\nonly = \"batch == %d\"\n", start, batch);
        db = xasprintf("%s/one%d.db", b->dir, batch);
        run(b, one, db, 2, false);
        char *sql = xasprintf("SELECT point FROM pebble_front WHERE batch = %d ORDER BY 1", batch);
        same_answer(b, b->db, db, sql);
        free(sql);
        free(one);
        free(db);
    }
    free(per);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sweep__stores_every_point_of_every_model, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(sweep__rows_hold_what_the_sweep_file_says, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(sweep__front_is_over_all_models_together, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(sweep__rows_do_not_depend_on_threads_or_restarts, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(sweep__goes_on_after_an_interruption, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(sweep__front_per_parameter_is_that_of_each_value, make_bed, clear_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
