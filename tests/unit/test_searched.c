/* sweep/searched.h: searches of a sweep file, against the grid of the same file. */
#include "sweep_bed.h"

#define HEAD(keep) "[sweep]\nname = \"two\"\nmodels = [\"toy\", \"pebble\"]\nkeep = \"" keep "\"\n"
#define SPACE \
    "[params]\nclock_ghz = { from = 0.5, to = 3, points = 20 }\ncontext = [256, 1024, 4096]\n" \
    "[params.toy]\ntiles = { from = 1, to = 60, step = 1 }\nmemory = [\"two-channels\", \"eight-channels\"]\n" \
    "[params.pebble]\nlanes = { from = 1, to = 1000, step = 9 }\n" \
    "[constraints]\nsmall = \"area_mm2 <= 80\"\n"
#define OBJECTIVES "[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\n"

static const char fronts[] = "SELECT DISTINCT tokens_per_s, area_mm2 FROM toy_front UNION SELECT tokens_per_s, area_mm2 FROM"
                             " pebble_front ORDER BY 1, 2";

static void searched__finds_the_front_of_the_grid(void **state)
{
    struct bed *b = *state;
    char *grid = xasprintf("%s/grid.db", b->dir);
    run(b, HEAD("all") SPACE OBJECTIVES, grid, 2, false);
    static const char *const searches[] = {"method = \"local\"\n", "method = \"nsga2\"\nevaluations = 20000\n"};
    for (size_t i = 0; i < 2; i++) {
        char *text = xasprintf("%s[search]\n%s", HEAD("front") SPACE OBJECTIVES, searches[i]);
        struct sweep_result r = run(b, text, b->db, 2, true);
        assert_true(r.evaluations > r.done);
        same_answer(b, grid, b->db, fronts);
        answers(b, b->db,
                "SELECT status, done = planned, done = (SELECT count(*) FROM toy) + (SELECT count(*) FROM pebble) FROM run"
                " ORDER BY id DESC LIMIT 1",
                "done|1|1\n");
        free(text);
    }
    free(grid);
}

/* Rows are those of the grid: the same points with the same numbers. */
static void searched__rows_are_the_grids(void **state)
{
    struct bed *b = *state;
    char *grid = xasprintf("%s/grid.db", b->dir);
    run(b, HEAD("all") SPACE OBJECTIVES, grid, 2, false);
    struct sweep_result r =
        run(b, HEAD("all") SPACE OBJECTIVES "[search]\nmethod = \"nsga2\"\nevaluations = 500\n", b->db, 1, true);
    assert_int_equal(r.evaluations, 2 * 500);
    assert_true(r.done > 900 && r.done <= 1000);
    char *points = ask(b, b->db, "SELECT group_concat(point) FROM toy");
    char *sql = xasprintf("SELECT * FROM toy WHERE point IN (%s) ORDER BY point", points);
    same_answer(b, grid, b->db, sql);
    free(points);
    free(sql);
    free(grid);
}

static void searched__does_not_depend_on_threads(void **state)
{
    struct bed *b = *state;
    char *other = xasprintf("%s/other.db", b->dir);
    static const char text[] = HEAD("sample") "keep_points = 50\n" SPACE OBJECTIVES "[search]\nmethod = \"local\"\nseed = 3\n";
    run(b, text, b->db, 1, false);
    struct sweep_result r = run(b, text, other, 3, false);
    assert_false(r.was_complete);
    same_answer(b, b->db, other, "SELECT * FROM toy ORDER BY point");
    same_answer(b, b->db, other, "SELECT * FROM pebble ORDER BY point");
    same_answer(b, b->db, other, "SELECT * FROM front");
    answers(b, other, "SELECT count(*) >= 50 FROM toy", "1\n");
    r = run(b, text, other, 2, false);
    assert_true(r.was_complete);
    free(other);
}

/* With `per` each context has a search of its own. */
static void searched__has_a_front_for_each_value(void **state)
{
    struct bed *b = *state;
    char *grid = xasprintf("%s/grid.db", b->dir);
    run(b, HEAD("all") SPACE OBJECTIVES "per = [\"context\"]\n", grid, 2, false);
    run(b, HEAD("front") SPACE OBJECTIVES "per = [\"context\"]\n[search]\nmethod = \"local\"\n", b->db, 2, false);
    same_answer(b, grid, b->db,
                "SELECT DISTINCT context, tokens_per_s, area_mm2 FROM toy_front UNION SELECT context, tokens_per_s, area_mm2 FROM"
                " pebble_front ORDER BY 1, 2, 3");
    answers(b, b->db, "SELECT count(DISTINCT context) FROM (SELECT context FROM toy_front UNION SELECT context FROM pebble_front)",
            "3\n");
    free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(searched__finds_the_front_of_the_grid, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(searched__rows_are_the_grids, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(searched__does_not_depend_on_threads, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(searched__has_a_front_for_each_value, make_bed, clear_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
