/* sweep/sweep.h: event level for every point, and for the front and its neighbours alone. */
#include "base/file.h"
#include "base/text.h"
#include "sweep_bed.h"

#include <unistd.h>

/* 1536 points; `fidelity` and further sections stand where %s are. Axes: clock_ghz, context, memory, sram_mib, tiles. */
static const char space_format[] =
    "[sweep]\nname = \"toys\"\nmodels = [\"toy\"]\nfidelity = \"%s\"\n"
    "[params]\ntiles = { from = 1, to = 12, step = 1 }\nsram_mib = { from = 0.5, to = 4, step = 0.5 }\n"
    "memory = [\"two-channels\", \"eight-channels\"]\ncontext = [256, 1024]\nclock_ghz = [0.1, 0.2, 0.4, 0.8]\nbatch = 64\n"
    "[constraints]\nsmall = \"area_mm2 <= 18\"\n[derive]\nexcess = \"tokens_per_s / area_mm2\"\n"
    "[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\nper = [\"context\"]\n%s";
enum { POINTS = 1536 };

/* The sweep at one fidelity, from two threads: run once, copied for every test that asks of it. */
struct kept {
    const char *fidelity;
    char *db;
    size_t n;
    struct sweep_result result;
};
static struct kept kept[] = {{.fidelity = "closed-form"}, {.fidelity = "event-level"}, {.fidelity = "refine"}};

static struct kept *kept_of(const char *fidelity)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(kept[i].fidelity, fidelity) == 0) return &kept[i];
    return NULL;
}

static void keep(struct bed *b, struct kept *k, const struct sweep_result *r, const char *db)
{
    k->result = *r;
    if (!text_read_file(db, 1 << 26, &k->db, &k->n, &b->diags)) fail_with(&b->diags);
}

static void copy_kept(const struct kept *k, const char *db)
{
    FILE *f = fopen(db, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(k->db, 1, k->n, f), k->n);
    assert_int_equal(fclose(f), 0);
}

static int release_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) free(kept[i].db);
    return 0;
}

static struct sweep_result run_space(struct bed *b, const char *fidelity, const char *more, const char *db, int threads)
{
    char *text = xasprintf(space_format, fidelity, more);
    struct kept *k = threads == 2 && !*more && access(db, F_OK) != 0 ? kept_of(fidelity) : NULL;
    struct sweep_result r;
    if (k && k->db) {
        scratch_write(b->dir, "s.toml", text);
        copy_kept(k, db);
        r = k->result;
    } else {
        r = run(b, text, db, threads, false);
        if (k) keep(b, k, &r, db);
    }
    free(text);
    return r;
}

static char *path_in(const struct bed *b, const char *name)
{
    return xasprintf("%s/%s", b->dir, name);
}

static const char all_rows[] = "SELECT point, status, reason, fidelity, tiles, sram_mib, memory, context, clock_ghz, tokens_per_s,"
                               " latency_us, dram_mib, bound, excess FROM toy_all ORDER BY id";

/* ---- event level --------------------------------------------------------------------------------------------------------- */

static void events__give_every_point_its_row(void **state)
{
    struct bed *b = *state;
    struct sweep_result r = run_space(b, "event-level", "", b->db, 2);
    assert_int_equal(r.done, POINTS);
    answers(b, b->db, "SELECT count(*), count(DISTINCT point), min(id), max(id) FROM toy_all", "1536|1536|1|1536\n");
    answers(b, b->db, "SELECT DISTINCT fidelity FROM toy", "event-level\n");
    answers(b, b->db, "SELECT fidelity, status, done, refined FROM run", "event-level|done|1536|-\n");
}

static void events__are_the_same_from_any_number_of_threads(void **state)
{
    struct bed *b = *state;
    char *other = path_in(b, "other.db");
    run_space(b, "event-level", "", b->db, 1);
    run_space(b, "event-level", "", other, 5);
    same_answer(b, b->db, other, all_rows);
    same_answer(b, b->db, other, "SELECT * FROM front");
    free(other);
}

/* Every cause that toy has slows a step down, but for draws, which are within a tenth of the attention. */
static void events__differ_from_the_closed_form_as_the_model_does(void **state)
{
    struct bed *b = *state;
    char *closed = path_in(b, "closed.db");
    run_space(b, "event-level", "", b->db, 2);
    run_space(b, "closed-form", "", closed, 2);
    char *slow = ask(b, b->db, "SELECT sum(latency_us) FROM toy WHERE tokens_per_s IS NOT NULL");
    char *fast = ask(b, closed, "SELECT sum(latency_us) FROM toy WHERE tokens_per_s IS NOT NULL");
    double ratio = strtod(slow, NULL) / strtod(fast, NULL);
    assert_true(ratio > 1.01 && ratio < 2);
    same_answer(b, b->db, closed, "SELECT point, area_mm2, rounds FROM toy WHERE area_mm2 IS NOT NULL ORDER BY point");
    same_answer(b, b->db, closed, "SELECT point FROM toy WHERE reason LIKE 'a tile%' ORDER BY point");
    free(slow);
    free(fast);
    free(closed);
}

/* Both sides of a ratio are of one fidelity: a baseline that is the point itself is as fast. */
static void events__compare_with_a_baseline_at_event_level(void **state)
{
    struct bed *b = *state;
    static const char *const fidelities[] = {"closed-form", "event-level", "refine"};
    for (size_t i = 0; i < 3; i++) {
        char *db = path_in(b, fidelities[i]);
        run_space(b, fidelities[i],
                  "[baseline]\nmodel = \"toy\"\ntiles = 4\nsram_mib = 0.5\nclock_ghz = 0.8\nmemory = \"eight-channels\"\n", db, 2);
        answers(b, db,
                "SELECT count(*), sum(speedup = 1), sum(latency_ratio = 1) FROM toy_all WHERE tiles = 4 AND sram_mib = 0.5 AND"
                " clock_ghz = 0.8 AND memory = 'eight-channels'",
                i < 2 ? "2|2|2\n" : "4|4|4\n");
        free(db);
    }
}

/* ---- refine -------------------------------------------------------------------------------------------------------------- */

static void refine__keeps_the_closed_form_and_adds_rows(void **state)
{
    struct bed *b = *state;
    char *closed = path_in(b, "closed.db"), *events = path_in(b, "events.db");
    struct sweep_result r = run_space(b, "refine", "", b->db, 2);
    run_space(b, "closed-form", "", closed, 2);
    run_space(b, "event-level", "", events, 2);
    assert_true(r.refining && r.refined > 30 && r.refined < POINTS / 2 && r.rounds > 1);
    assert_int_equal(r.event_rows, r.refined);
    char *expected = xasprintf("%d|%d|%d\n", POINTS, (int)r.refined, (int)r.refined);
    answers(b, b->db,
            "SELECT (SELECT count(*) FROM toy_all WHERE id > 0), (SELECT count(*) FROM toy_all WHERE id < 0 AND fidelity ="
            " 'event-level'), refined FROM run",
            expected);
    free(expected);
    char *rows =
        ask(b, b->db, "SELECT point, tokens_per_s, latency_us, status, reason, fidelity FROM toy_all WHERE id > 0 ORDER BY id");
    char *plain = ask(b, closed, "SELECT point, tokens_per_s, latency_us, status, reason, fidelity FROM toy_all ORDER BY id");
    assert_string_equal(rows, plain);
    free(rows);
    free(plain);
    rows = ask(b, b->db, "SELECT group_concat(point) FROM (SELECT point FROM toy_all WHERE id < 0 ORDER BY point)");
    rows[strcspn(rows, "\n")] = '\0';
    char *sql =
        xasprintf("SELECT point, tokens_per_s, latency_us, status, reason, excess, fidelity FROM toy WHERE point IN (%s) ORDER BY"
                  " point",
                  rows);
    same_answer(b, b->db, events, sql);
    free(sql);
    free(rows);
    free(closed);
    free(events);
}

static void refine__views_show_the_finest_row_of_each_point(void **state)
{
    struct bed *b = *state;
    run_space(b, "refine", "", b->db, 2);
    answers(b, b->db, "SELECT count(*), count(DISTINCT point), min(point), max(point) FROM toy", "1536|1536|0|1535\n");
    answers(b, b->db, "SELECT count(*), count(DISTINCT point) FROM comparison WHERE model = 'toy'", "1536|1536\n");
    answers(
        b, b->db,
        "SELECT count(*) FROM toy t WHERE (fidelity = 'event-level') <> EXISTS (SELECT 1 FROM toy_all e WHERE e.id = -1 - t.point)",
        "0\n");
    answers(b, b->db, "SELECT count(*) FROM toy t JOIN comparison c USING (point) WHERE t.latency_us IS NOT c.latency_us", "0\n");
    /* In order of points, as those of a sweep without refinement. */
    answers(b, b->db, "SELECT count(*) FROM (SELECT point, row_number() OVER () - 1 AS at FROM toy) WHERE point <> at", "0\n");
}

static void refine__both_rows_stand_side_by_side(void **state)
{
    struct bed *b = *state;
    run_space(b, "refine", "", b->db, 2);
    answers(b, b->db,
            "SELECT count(*) = (SELECT refined FROM run), min(latency_us_ratio) > 0.9, max(latency_us_ratio) < 2 FROM toy_refined",
            "1|1|1\n");
    answers(b, b->db,
            "SELECT count(*) FROM toy_refined r JOIN toy_all a ON a.id = 1 + r.point JOIN toy_all e ON e.id = -a.id WHERE"
            " r.latency_us_closed <> a.latency_us OR r.latency_us_event <> e.latency_us OR r.tiles <> a.tiles OR"
            " abs(r.dram_mib_ratio - e.dram_mib / a.dram_mib) > 1e-12",
            "0\n");
    answers(b, b->db,
            "SELECT column_name, unit, doc, direction FROM column_info WHERE table_name = 'toy_refined' AND column_name LIKE "
            "'latency_us%' ORDER BY 1",
            "latency_us_closed|us|time of one step, as one user waits for it, closed form|-1\n"
            "latency_us_event|us|time of one step, as one user waits for it, event level|-1\n"
            "latency_us_ratio||time of one step, as one user waits for it: event level over closed form|0\n");
    answers(b, b->db,
            "SELECT count(*) FROM pragma_table_info('toy_refined') p WHERE name NOT IN ('run', 'point') AND NOT EXISTS"
            " (SELECT 1 FROM column_info WHERE table_name = 'toy_refined' AND column_name = p.name)",
            "0\n");
}

/* The front is that of the rows at event level, its feasible neighbours have one, and what has none would not be on it if it
 * changed as favourably as any that has. */
static void refine__front_and_its_neighbours_are_at_event_level(void **state)
{
    struct bed *b = *state;
    struct sweep_result r = run_space(b, "refine", "", b->db, 2);
    assert_int_equal(r.front_unrefined, 0);
    assert_true(r.front > 5 && r.front_before > 5 && r.front_stayed <= r.front);
    char *expected = xasprintf("%zu|event-level|ok\n", r.front);
    answers(b, b->db, "SELECT count(*), min(fidelity), max(status) FROM toy_front", expected);
    free(expected);
    answers(
        b, b->db,
        "WITH a(stride, n) AS (VALUES (1, 12), (12, 8), (96, 2), (384, 4)), near AS (SELECT f.point + d.s * a.stride AS q FROM"
        " toy_front f, a, (SELECT -1 AS s UNION SELECT 1) d WHERE (f.point / a.stride) % a.n + d.s BETWEEN 0 AND a.n - 1)"
        " SELECT count(*) > 50, sum(NOT EXISTS (SELECT 1 FROM toy_all e WHERE e.id = -c.id)) FROM near JOIN toy_all c ON c.id = 1 +"
        " q WHERE c.status = 'ok'",
        "1|0\n");
    answers(b, b->db,
            "WITH p AS (SELECT * FROM toy_all WHERE id < 0 AND status = 'ok'), d AS (SELECT point, EXISTS (SELECT 1 FROM p q WHERE "
            "q.context = p.context AND q.tokens_per_s >= p.tokens_per_s AND q.area_mm2 <= p.area_mm2 AND (q.tokens_per_s > "
            "p.tokens_per_s OR q.area_mm2 < p.area_mm2)) AS dominated FROM p) SELECT sum(dominated = (point IN (SELECT point FROM "
            "front))) FROM d",
            "0\n");
    answers(
        b, b->db,
        "WITH best AS (SELECT context, max(tokens_per_s_ratio) AS t, min(area_mm2_ratio) AS a FROM toy_refined WHERE status_event "
        "= 'ok' GROUP BY 1), c AS (SELECT c.point, context, tokens_per_s * t AS t, area_mm2 * a AS a FROM toy_all c JOIN best "
        "USING (context) WHERE c.id > 0 AND status = 'ok' AND NOT EXISTS (SELECT 1 FROM toy_all e WHERE e.id = -c.id)) SELECT "
        "count(*) > 100, sum(NOT EXISTS (SELECT 1 FROM toy_front f WHERE f.context = c.context AND f.tokens_per_s >= c.t AND "
        "f.area_mm2 <= c.a)) FROM c",
        "1|0\n");
    /* Points of the other context are no neighbours. */
    answers(b, b->db, "SELECT count(DISTINCT context) FROM toy_front", "2\n");
}

static void refine__is_the_same_from_any_number_of_threads(void **state)
{
    struct bed *b = *state;
    char *other = path_in(b, "other.db");
    struct sweep_result one = run_space(b, "refine", "", b->db, 1), five = run_space(b, "refine", "", other, 5);
    same_answer(b, b->db, other, all_rows);
    same_answer(b, b->db, other, "SELECT * FROM front");
    same_answer(b, b->db, other, "SELECT refined, hypervolume, done, feasible, status FROM run");
    assert_int_equal(one.rounds, five.rounds);
    assert_int_equal(one.front_stayed, five.front_stayed);
    free(other);
}

struct stopping {
    volatile sig_atomic_t stop;
    uint64_t after; /* points of the phase at event level */
};

static void stop_after(void *user, const struct sweep_progress *p)
{
    struct stopping *s = user;
    if (strncmp(p->phase, "event", 5) == 0 && p->this_time >= s->after) s->stop = 1;
}

/* Interrupted again and again in the middle of a round, the run has the rows of an undisturbed one: what a round asks for does
 * not depend on what is there already. */
static void refine__goes_on_after_interruptions(void **state)
{
    struct bed *b = *state;
    char *other = path_in(b, "other.db"), *text = xasprintf(space_format, "refine", "");
    run_space(b, "refine", "", other, 2);
    scratch_write(b->dir, "s.toml", text);
    struct catalog *catalog = catalog_new(toy_data_dir(), &b->diags);
    struct sweep_file *s = sweep_file_read(b->file, catalog, toy_data_dir(), &b->diags);
    struct sweep_result result = {.interrupted = true};
    uint64_t stored = 0;
    int calls = 0;
    for (; result.interrupted && calls < 1000; calls++) {
        struct stopping stopping = {.after = 1};
        struct sweep_options options = {.db = b->db,
                                        .threads = 2,
                                        .max_points = POINTS,
                                        .interrupt = &stopping.stop,
                                        .progress = stop_after,
                                        .user = &stopping};
        if (!sweep_run(s, &options, &result, &b->diags)) fail_with(&b->diags);
        stored += result.event_rows;
        if (result.interrupted) answers(b, b->db, "SELECT status, done FROM run", "interrupted|1536\n");
    }
    assert_true(calls > 2);
    assert_int_equal(stored, result.refined);
    same_answer(b, b->db, other, all_rows);
    same_answer(b, b->db, other, "SELECT * FROM front");
    same_answer(b, b->db, other, "SELECT refined, hypervolume, status FROM run");
    sweep_file_free(s);
    catalog_free(catalog);
    free(text);
    free(other);
}

static void refine__stops_when_its_runs_are_used_up(void **state)
{
    struct bed *b = *state;
    char *few = path_in(b, "few.db");
    struct sweep_result all = run_space(b, "refine", "", b->db, 2), r = run_space(b, "refine", "[refine]\nruns = 10\n", few, 2);
    assert_int_equal(r.refined, 10);
    assert_true(r.front_unrefined > 0 && all.refined > 10);
    answers(b, few, "SELECT refined, status FROM run", "10|done\n");
    /* What has no event level is not on the front, which is that of the rows that have. */
    answers(b, few, "SELECT count(*) > 0, min(fidelity) FROM toy_front", "1|event-level\n");
    free(few);
}

static void refine__leaves_neighbours_out_when_asked_to(void **state)
{
    struct bed *b = *state;
    char *alone = path_in(b, "alone.db");
    struct sweep_result all = run_space(b, "refine", "", b->db, 2),
                        r = run_space(b, "refine", "[refine]\nneighbours = false\n", alone, 2);
    assert_true(r.refined < all.refined && r.front_unrefined == 0 && r.front > 5);
    answers(b, alone, "SELECT count(*) > 5, min(fidelity) FROM toy_front", "1|event-level\n");
    free(alone);
}

/* A part of a sweep has no front to refine; put together, the run is not done until the sweep is run into it. */
static void refine__waits_until_all_shards_are_merged(void **state)
{
    struct bed *b = *state;
    char *whole = path_in(b, "whole.db"), *parts[2] = {path_in(b, "1.db"), path_in(b, "2.db")};
    char *text = xasprintf(space_format, "refine", "");
    run_space(b, "refine", "", whole, 2);
    struct catalog *catalog = catalog_new(toy_data_dir(), &b->diags);
    struct sweep_file *s = sweep_file_read(b->file, catalog, toy_data_dir(), &b->diags);
    for (uint64_t i = 0; i < 2; i++) {
        struct sweep_options options = {.db = parts[i], .threads = 2, .shard = i + 1, .shards = 2, .max_points = POINTS};
        struct sweep_result result;
        assert_true(sweep_run(s, &options, &result, &b->diags));
        assert_false(result.refining);
        answers(b, parts[i], "SELECT status, done, refined, (SELECT count(*) FROM toy_all) FROM run", "done|768|0|768\n");
    }
    assert_true(store_merge(b->db, (const char *const *)parts, 2, &b->diags));
    answers(b, b->db, "SELECT status, done, planned, refined FROM run", "interrupted|1536|1536|0\n");
    run_space(b, "refine", "", b->db, 2);
    same_answer(b, b->db, whole, all_rows);
    same_answer(b, b->db, whole, "SELECT * FROM front");
    /* Merging what is done stays done, with all its rows, also beside other runs, whose ids it moves behind. */
    char *twice = path_in(b, "twice.db"), *closed = path_in(b, "closed.db");
    run_space(b, "closed-form", "", closed, 2);
    assert_true(store_merge(twice, (const char *const[]){closed, whole, b->db}, 3, &b->diags));
    answers(b, twice, "SELECT group_concat(status || ' ' || fidelity) FROM run", "done closed-form,done refine\n");
    same_answer(b, twice, whole, "SELECT refined, done, feasible FROM run WHERE fidelity = 'refine'");
    same_answer(b, twice, whole, "SELECT point, fidelity, latency_us, status FROM toy ORDER BY point");
    sweep_file_free(s);
    catalog_free(catalog);
    free(text);
    free(closed);
    free(twice);
    free(parts[0]);
    free(parts[1]);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events__give_every_point_its_row, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(events__are_the_same_from_any_number_of_threads, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(events__differ_from_the_closed_form_as_the_model_does, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(events__compare_with_a_baseline_at_event_level, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__keeps_the_closed_form_and_adds_rows, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__views_show_the_finest_row_of_each_point, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__both_rows_stand_side_by_side, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__front_and_its_neighbours_are_at_event_level, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__is_the_same_from_any_number_of_threads, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__goes_on_after_interruptions, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__stops_when_its_runs_are_used_up, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__leaves_neighbours_out_when_asked_to, make_bed, clear_bed),
        cmocka_unit_test_setup_teardown(refine__waits_until_all_shards_are_merged, make_bed, clear_bed),
    };
    return cmocka_run_group_tests(tests, NULL, release_kept);
}
