/* sweep/streamed.h: what a sweep keeps of its points, against a sweep that stores them all. */
#include "sweep_bed.h"

#include <sqlite3.h>

#define HEAD(keep) "[sweep]\nname = \"two\"\nmodels = [\"toy\", \"pebble\"]\n" keep "\n"
#define SPACE \
    "[params]\nclock_ghz = { from = 0.5, to = 3, points = 20 }\ncontext = [256, 1024, 4096]\n" \
    "[params.toy]\ntiles = { from = 1, to = 60, step = 1 }\nmemory = [\"two-channels\", \"eight-channels\"]\n" \
    "[params.pebble]\nlanes = { from = 1, to = 1000, step = 9 }\n" \
    "[constraints]\nsmall = \"area_mm2 <= 80\"\nfast = \"tokens_per_s >= 100\"\n" \
    "[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\n"
#define KEEP_FRONT_LINE "keep = \"front\""
#define KEEP_SAMPLE_LINE "keep = \"sample\"\nkeep_points = 300"

static const char rows_of_front[] = "SELECT 'toy', point, tokens_per_s, area_mm2, bandwidth_gbs FROM toy_front UNION ALL"
                                    " SELECT 'pebble', point, tokens_per_s, area_mm2, lanes FROM pebble_front ORDER BY 1, 2";
static const char counts_of_all[] = "SELECT 'pebble', status, reason, count(*) FROM pebble GROUP BY 2, 3 UNION ALL"
                                    " SELECT 'toy', status, reason, count(*) FROM toy GROUP BY 2, 3 ORDER BY 1, 2, 3";
static const char counts_kept[] = "SELECT model, status, reason, points FROM evaluated ORDER BY 1, 2, 3";

static char *beside(const struct bed *b, const char *name)
{
    return xasprintf("%s/%s.db", b->dir, name);
}

static void same_as_all(struct bed *b, const char *more)
{
    char *grid = beside(b, "grid");
    char *all = xasprintf("%s%s", HEAD("") SPACE, more), *kept = xasprintf("%s%s", HEAD(KEEP_FRONT_LINE) SPACE, more);
    run(b, all, grid, 2, false);
    struct sweep_result r = run(b, kept, b->db, 2, false);
    assert_int_equal(r.evaluations, 20 * 3 * (60 * 2 + 112));
    assert_true(r.done < r.evaluations / 4);
    same_answer(b, grid, b->db, rows_of_front);
    same_answer(b, grid, b->db, "SELECT round(hypervolume, 12) FROM run");
    char *counted = ask(b, grid, counts_of_all);
    answers(b, b->db, counts_kept, counted);
    answers(b, b->db, "SELECT status, done = planned, (SELECT count(*) FROM streamed) FROM run", "done|1|0\n");
    free(counted);
    free(all);
    free(kept);
    free(grid);
}

static void streamed__front_is_that_of_all_rows(void **state)
{
    same_as_all(*state, "");
}

static void streamed__front_of_each_value_is_that_of_all_rows(void **state)
{
    same_as_all(*state, "per = [\"context\"]\n");
}

/* channels follow from the memory: a value that is no axis. */
static void streamed__values_may_follow_from_others(void **state)
{
    struct bed *b = *state;
    static const char one[] = "models = [\"toy\"]\n[params]\nclock_ghz = { from = 0.5, to = 3, points = 9 }\n"
                              "tiles = [4, 8, 16, 32]\nmemory = [\"two-channels\", \"eight-channels\"]\n"
                              "[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\nper = [\"channels\"]\n";
    char *grid = beside(b, "grid");
    char *all = xasprintf("[sweep]\nname = \"one\"\n%s", one),
         *kept = xasprintf("[sweep]\nname = \"one\"\nkeep = \"front\"\n%s", one);
    run(b, all, grid, 1, false);
    run(b, kept, b->db, 1, false);
    same_answer(b, grid, b->db, "SELECT point, channels, tokens_per_s FROM toy_front ORDER BY 1");
    answers(b, b->db, "SELECT count(DISTINCT channels) FROM toy_front", "2\n");
    free(all);
    free(kept);
    free(grid);
}

static void streamed__sample_is_random_and_of_the_grid(void **state)
{
    struct bed *b = *state;
    char *grid = beside(b, "grid");
    run(b, HEAD("") SPACE, grid, 2, false);
    run(b, HEAD(KEEP_SAMPLE_LINE) SPACE, b->db, 2, false);
    answers(b, b->db, "SELECT count(*) BETWEEN 300 AND 400, sum(status <> 'ok') > 30, avg(point) BETWEEN 3000 AND 4200 FROM toy",
            "1|1|1\n"); /* of 7200 points: the mean within five standard deviations */
    char *points = ask(b, b->db, "SELECT group_concat(point) FROM toy");
    char *sql = xasprintf("SELECT * FROM toy WHERE point IN (%s) ORDER BY point", points);
    same_answer(b, grid, b->db, sql);
    same_answer(b, grid, b->db, rows_of_front);
    free(points);
    free(sql);
    free(grid);
}

static void streamed__does_not_depend_on_threads(void **state)
{
    struct bed *b = *state;
    char *other = beside(b, "other");
    run(b, HEAD(KEEP_SAMPLE_LINE) SPACE, b->db, 1, false);
    run(b, HEAD(KEEP_SAMPLE_LINE) SPACE, other, 5, false);
    same_answer(b, b->db, other, "SELECT * FROM toy ORDER BY point");
    same_answer(b, b->db, other, "SELECT * FROM pebble ORDER BY point");
    same_answer(b, b->db, other, counts_kept);
    struct sweep_result again = run(b, HEAD(KEEP_SAMPLE_LINE) SPACE, other, 2, false);
    assert_true(again.was_complete);
    free(other);
}

/* In another file a run that stores a part is as done as before. */
static void streamed__is_merged_with_its_counts(void **state)
{
    struct bed *b = *state;
    char *all = beside(b, "all"), *merged = beside(b, "merged");
    run(b, HEAD("") SPACE, all, 1, false);
    run(b, HEAD(KEEP_FRONT_LINE) SPACE, b->db, 1, false);
    const char *const in[] = {all, b->db};
    if (!store_merge(merged, in, 2, &b->diags)) fail_with(&b->diags);
    const char *const again[] = {b->db};
    if (!store_merge(merged, again, 1, &b->diags)) fail_with(&b->diags);
    answers(b, merged, "SELECT status, done = planned, method FROM run ORDER BY id", "done|1|-\ndone|1|keep front\n");
    same_answer(b, b->db, merged, counts_kept);
    free(all);
    free(merged);
}

/* ---- going on --------------------------------------------------------------------------------------------------------------- */

#define LONG \
    "[sweep]\nname = \"long\"\nmodels = [\"toy\"]\nkeep = \"sample\"\nkeep_points = 100\n" \
    "[params]\nclock_ghz = { from = 0.5, to = 3, points = 500 }\ntiles = { from = 1, to = 60, step = 1 }\n" \
    "sram_mib = { from = 1, to = 8, points = 40 }\n[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\n"

static volatile sig_atomic_t stop;

static void stop_when_some_are_done(void *user, const struct sweep_progress *p)
{
    const uint64_t *at = user;
    if (p->done >= *at) stop = 1;
}

static struct sweep_result run_until(struct bed *b, const char *db, uint64_t at)
{
    scratch_write(b->dir, "s.toml", LONG);
    struct catalog *catalog = catalog_new(toy_data_dir(), &b->diags);
    struct sweep_file *s = sweep_file_read(b->file, catalog, toy_data_dir(), &b->diags);
    stop = 0;
    struct sweep_options options = {
        .db = db, .threads = 2, .max_points = 10000000, .interrupt = &stop, .progress = stop_when_some_are_done, .user = &at};
    struct sweep_result result;
    if (!sweep_run(s, &options, &result, &b->diags)) fail_with(&b->diags);
    sweep_file_free(s);
    catalog_free(catalog);
    return result;
}

static void streamed__goes_on_where_it_was_interrupted(void **state)
{
    struct bed *b = *state;
    char *other = beside(b, "other");
    struct sweep_result r = run_until(b, b->db, 1);
    assert_true(r.interrupted && r.evaluations > 0 && r.evaluations < 1200000);
    answers(b, b->db, "SELECT status, (SELECT count(*) FROM toy) FROM run", "interrupted|0\n");
    char *next = ask(b, b->db, "SELECT next FROM streamed");
    assert_int_equal(strtoull(next, NULL, 10), r.evaluations);
    free(next);
    const uint64_t before = r.evaluations;
    r = run_until(b, b->db, UINT64_MAX);
    assert_false(r.interrupted);
    assert_int_equal(r.resumed, before);
    assert_int_equal(r.evaluations, 1200000);
    run_until(b, other, UINT64_MAX);
    same_answer(b, b->db, other, "SELECT * FROM toy ORDER BY point");
    same_answer(b, b->db, other, "SELECT * FROM front");
    same_answer(b, b->db, other, counts_kept);
    answers(b, b->db, "SELECT sum(points) FROM evaluated", "1200000\n");
    answers(b, b->db, "SELECT count(*) FROM run", "1\n");
    free(other);
}

/* What stands in the file is hostile: points that were not evaluated yet, half a number, more points than there are. */
static void streamed__refuses_a_state_that_cannot_be(void **state)
{
    struct bed *b = *state;
    static const char *const changes[] = {
        "UPDATE streamed SET points = X'ffffffffffffff00'",
        "UPDATE streamed SET points = X'0000'",
        "UPDATE streamed SET next = 1200001",
        "UPDATE streamed SET next = -1",
        "UPDATE evaluated SET points = 1200000",
        "UPDATE evaluated SET points = -1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *db = xasprintf("%s/%zu.db", b->dir, i);
        run_until(b, db, 1);
        sqlite3 *sqlite;
        assert_int_equal(sqlite3_open(db, &sqlite), SQLITE_OK);
        assert_int_equal(sqlite3_exec(sqlite, changes[i], NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(sqlite, "DELETE FROM digest; UPDATE run SET digests = NULL", NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(sqlite);
        scratch_write(b->dir, "s.toml", LONG);
        struct catalog *catalog = catalog_new(toy_data_dir(), &b->diags);
        struct sweep_file *s = sweep_file_read(b->file, catalog, toy_data_dir(), &b->diags);
        struct sweep_options options = {.db = db, .threads = 1, .max_points = 10000000};
        struct sweep_result result;
        assert_false(sweep_run(s, &options, &result, &b->diags));
        assert_non_null(strstr(b->diags.list[b->diags.n - 1].message, "is not valid"));
        sweep_file_free(s);
        catalog_free(catalog);
        diags_release(&b->diags);
        diags_init(&b->diags);
        free(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streamed__front_is_that_of_all_rows, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(streamed__front_of_each_value_is_that_of_all_rows, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(streamed__values_may_follow_from_others, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(streamed__sample_is_random_and_of_the_grid, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(streamed__does_not_depend_on_threads, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(streamed__is_merged_with_its_counts, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(streamed__goes_on_where_it_was_interrupted, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(streamed__refuses_a_state_that_cannot_be, make_bed, clear_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
