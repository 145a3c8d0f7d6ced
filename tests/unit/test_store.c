/* The store: what is written comes back, runs go on where they stopped, views show the newest run. */
#include "base/file.h"
#include "store_fixture.h"

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

/* What the dump of toy_all must show for a point, straight from toy_row. */
static void add_expected(struct text *t, int64_t first_id, uint64_t p)
{
    union cell c[TOY_COLUMNS];
    struct row row;
    toy_row(p, c, &row);
    text_addf(t, "i%lld|i1|i%llu|t%s|", (long long)first_id + (long long)p, (unsigned long long)p,
              row.reason ? "infeasible" : "ok");
    text_addf(t, row.reason ? "t%s|tclosed-form" : "n%s|tclosed-form", row.reason ? row.reason : "");
    for (size_t i = 0; i < TOY_COLUMNS; i++) {
        text_add(t, "|");
        if (toy_columns[i].type == DSE_TYPE_F64) {
            double v = c[i].f64 == 0 ? 0 : c[i].f64; /* SQLite has no -0.0 in a REAL column */
            isnan(v) ? text_add(t, "n") : text_addf(t, "r%.17g", v);
        } else if (toy_columns[i].type == DSE_TYPE_I64) {
            c[i].i64 == INT64_MIN ? text_add(t, "n") : text_addf(t, "i%lld", (long long)c[i].i64);
        } else {
            c[i].text ? text_addf(t, "t%s", c[i].text) : text_add(t, "n");
        }
    }
    text_add(t, "\n");
}

static void store__gives_back_every_type_and_null(void **state)
{
    (void)state;
    enum { POINTS = 700 };
    toy_make("a.db", 1, POINTS);
    struct text expected;
    text_init(&expected);
    for (uint64_t p = 0; p < POINTS; p++) add_expected(&expected, 1, p);
    sql_gives("a.db", "SELECT * FROM toy_all ORDER BY id", expected.s);
    text_release(&expected);
    sql_gives("a.db", "PRAGMA integrity_check", "tok\n");
    sql_gives("a.db", "PRAGMA page_size", "i16384\n");
}

static void store__records_the_birth_of_a_run(void **state)
{
    (void)state;
    toy_make("a.db", 0xabc, 700);
    uint64_t feasible = 0;
    for (uint64_t p = 0; p < 700; p++) feasible += toy_feasible(p);
    char *expected = xasprintf("i1|ttoys|t# Which toy?\n|t0000000000000abc|ttoy 3|n|tclosed-form|n|i700|i700|i%llu|tdone\n",
                               (unsigned long long)feasible);
    sql_gives("a.db", "SELECT id, sweep, sweep_text, hash, models, seed, fidelity, shard, planned, done, feasible, status FROM run",
              expected);
    free(expected);
    sql_gives("a.db",
              "SELECT started GLOB '2[0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z', ended >= started,"
              " length(host) > 0, length(version) > 0, length(git_commit) > 0 FROM run",
              "i1|i1|i1|i1|i1\n");
    sql_gives("a.db", "SELECT * FROM toy_fixed", "i1|i1|i700|n|n|n|r1.5|i4096|teq7\n");
    sql_gives("a.db", "SELECT count(baseline) FROM run", "i0\n");
    sql_gives("a.db",
              "SELECT * FROM column_info WHERE table_name = 'toy' AND column_name IN"
              " ('area_mm2', 'tokens_per_s', 'sram_mib', 'clock_ghz')",
              "ttoy|tarea_mm2|tmm2|tarea|i-1\nttoy|tclock_ghz|tGHz|tclock|i0\nttoy|tsram_mib|tMiB|tSRAM|i0\n"
              "ttoy|ttokens_per_s|t1/s|trate|i1\n");
    assert_int_not_equal(access("a.db-journal", F_OK), 0); /* a clean end leaves one file */
}

static void store__rejects_rows_out_of_order_and_stores_nothing(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 700, NULL, 0);
    struct toy_source s = {.next = 10, .stop = 100};
    assert_false(store_write(st, 0, 0, 99, toy_pull, &s, &d));
    one_error(&d, "rows from point 10 on came where those from 0 were due", 1);
    s = (struct toy_source){.next = 0, .stop = 128};
    assert_false(store_write(st, 0, 0, 99, toy_pull, &s, &d)); /* a block reaches behind the end */
    one_error(&d, "64 rows came from point 64 on where 1 to 36 were due", 1);
    assert_true(toy_write(st, 0, 99, &d));
    store_close(st);
    sql_gives("a.db", "SELECT count(*), (SELECT count(*) FROM block), (SELECT done FROM run) FROM toy_all", "i100|i1|i100\n");
}

static void store__rolls_back_when_the_source_ends_early(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 700, NULL, 0);
    assert_true(toy_write(st, 0, 99, &d));
    struct toy_source s = {.next = 100, .stop = 150};
    assert_false(store_write(st, 0, 100, 199, toy_pull, &s, &d));
    assert_string_equal(d.list[0].file, "a.db");
    one_error(&d, "rows of toy ended at point 150; those up to 199 were due", 1);
    sql_gives("a.db", "SELECT count(*), max(id), (SELECT done FROM run) FROM toy_all", "i100|i100|i100\n");
    assert_true(toy_write(st, 100, 199, &d)); /* and can go on */
    store_close(st);
    sql_gives("a.db", "SELECT count(*) FROM toy_all", "i200\n");
}

static void store__refuses_a_point_twice(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 700, NULL, 0);
    assert_true(toy_write(st, 0, 99, &d));
    assert_false(toy_write(st, 99, 120, &d));
    one_error(&d, "UNIQUE constraint failed", 1);
    store_close(st);
    sql_gives("a.db", "SELECT count(*), (SELECT done FROM run) FROM toy_all", "i100|i100\n");
}

/* ---- resuming -------------------------------------------------------------------------------------------------------------- */

static void store__knows_what_is_missing(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 1000, NULL, 0);
    assert_true(toy_write(st, 500, 599, &d));
    assert_true(toy_write(st, 100, 199, &d));
    assert_true(toy_write(st, 200, 249, &d));
    size_t n;
    struct range *r = store_missing(st, 0, 0, 1000, &n, &d);
    assert_int_equal(n, 3);
    const struct range expected[] = {{0, 99}, {250, 499}, {600, 999}};
    assert_memory_equal(r, expected, sizeof expected);
    free(r);
    r = store_missing(st, 0, 120, 560, &n, &d); /* a shard that begins and ends within done ranges */
    assert_int_equal(n, 1);
    assert_memory_equal(r, &expected[1], sizeof *expected);
    free(r);
    r = store_missing(st, 0, 110, 240, &n, &d);
    assert_int_equal(n, 0);
    free(r);
    r = store_missing(st, 0, 0, 50, &n, &d);
    assert_int_equal(n, 1);
    assert_int_equal(r[0].last, 49);
    free(r);
    store_close(st);
}

static void store__goes_on_with_an_interrupted_run(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    toy_make("whole.db", 1, 1000);
    struct store *st = toy_open("a.db", 1, 1000, NULL, 0);
    assert_true(toy_write(st, 0, 299, &d));
    assert_true(store_finish(st, "interrupted", &d));
    store_close(st);
    sql_gives("a.db", "SELECT status, done FROM run", "tinterrupted|i300\n");
    st = toy_open("a.db", 1, 1000, NULL, 0);
    assert_int_equal(store_run(st), 1);
    assert_false(store_complete(st));
    sql_gives("a.db", "SELECT status, ended FROM run", "trunning|n\n");
    toy_complete(st, 0, 1000, 128);
    store_close(st);
    sql_same("a.db", "whole.db", "SELECT * FROM toy_all");
    sql_same("a.db", "whole.db", "SELECT done, feasible, status FROM run");
    st = toy_open("a.db", 1, 1000, NULL, 0);
    assert_true(store_complete(st));
    assert_int_equal(store_run(st), 1);
    store_close(st);
}

static void store__leaves_a_complete_file_untouched(void **state)
{
    (void)state;
    toy_make("a.db", 1, 1000);
    char *before, *after;
    size_t n_before, n_after;
    struct diags d;
    diags_init(&d);
    assert_true(text_read_file("a.db", 1 << 24, &before, &n_before, &d));
    store_close(toy_open("a.db", 1, 1000, NULL, 0));
    assert_true(text_read_file("a.db", 1 << 24, &after, &n_after, &d));
    assert_int_equal(n_before, n_after);
    assert_memory_equal(before, after, n_before);
    free(before);
    free(after);
}

static void store__starts_anew_when_asked_or_edited(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    struct store *st = toy_open("a.db", 1, 100, NULL, STORE_FRESH);
    assert_int_equal(store_run(st), 2);
    assert_false(store_complete(st));
    toy_complete(st, 0, 100, 100);
    store_close(st);
    st = toy_open("a.db", 2, 50, NULL, 0);
    assert_int_equal(store_run(st), 3);
    toy_complete(st, 0, 50, 100);
    store_close(st);
    st = toy_open("a.db", 1, 100, NULL, 0); /* the newest of its hash */
    assert_int_equal(store_run(st), 2);
    assert_true(store_complete(st));
    store_close(st);
    sql_gives("a.db", "SELECT run, first_id, points FROM toy_fixed", "i1|i1|i100\ni2|i101|i100\ni3|i201|i50\n");
    sql_gives("a.db", "SELECT run, count(*), min(id - point), max(id - point) FROM toy_all GROUP BY run",
              "i1|i100|i1|i1\ni2|i100|i101|i101\ni3|i50|i201|i201\n");
}

/* ---- fronts and values ----------------------------------------------------------------------------------------------------- */

static int64_t number(const char *sql)
{
    sqlite3 *db = sql_open("a.db");
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const int64_t ret = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return ret;
}

/* Begin a run of 3000 points that nobody finishes, and store rows of some. */
static void leave_behind(uint64_t hash, unsigned flags)
{
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", hash, 3000, NULL, flags);
    assert_true(toy_write(st, 0, 1023, &d));
    assert_true(store_front(st, 0, (const uint64_t[]){3, 4}, 2, &d));
    store_close(st);
    diags_release(&d);
}

static void store__takes_away_what_a_killed_search_left(void **state)
{
    (void)state;
    toy_make("a.db", 7, 2000);
    leave_behind(8, 0);           /* a run that can be gone on with */
    leave_behind(9, STORE_FRESH); /* as two searches that were killed */
    leave_behind(9, STORE_FRESH);
    assert_int_equal(number("SELECT count(*) FROM run"), 4);
    struct diags d;
    diags_init(&d);
    struct store_table t = toy_table(3000);
    struct run_info info = toy_info(9, NULL);
    struct store *st = store_open_tables("a.db", &info, &t, 1, STORE_WHOLE, &d);
    assert_non_null(st);
    assert_false(store_complete(st));
    assert_int_equal(d.n, 2);
    assert_int_equal(d.list[0].severity, DIAG_NOTE);
    assert_non_null(strstr(d.list[0].message, "run 3, a search that was killed, was removed with its 1024 rows"));
    diags_release(&d);
    assert_int_equal(number("SELECT count(*) FROM toy_all"), 2000 + 1024); /* those of the others stay */
    assert_int_equal(number("SELECT count(*) FROM toy_fixed"), 3);
    assert_int_equal(number("SELECT count(DISTINCT run) FROM block"), 2);
    assert_int_equal(number("SELECT count(*) FROM front WHERE run = 2"), 2);
    toy_complete(st, 0, 3000, 1000);
    store_close(st);
    st = store_open_tables("a.db", &info, &t, 1, STORE_WHOLE, &d);
    assert_true(st && store_complete(st) && d.n == 0); /* a search that is done stays */
    store_close(st);
    struct reader *r = reader_open("a.db", &d); /* which checks that the counts of all runs hold */
    no_errors(&d);
    reader_close(r);
    assert_int_equal(number("SELECT count(*) FROM run WHERE status = 'running'"), 1);
    diags_release(&d);
}

static void store__replaces_the_front_of_a_run(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 100, NULL, 0);
    toy_complete(st, 0, 100, 100);
    const uint64_t first[] = {1, 2, 4}, second[] = {4, 7, 99};
    assert_true(store_front(st, 0, first, 3, &d));
    assert_true(store_front(st, 0, second, 3, &d));
    store_close(st);
    sql_gives("a.db", "SELECT * FROM front", "i1|ttoy|i4\ni1|ttoy|i7\ni1|ttoy|i99\n");
    sql_gives("a.db", "SELECT point, tiles, clock_ghz, \"order\" FROM toy_front ORDER BY point",
              "i4|i5|r1.5|i2\ni7|i1|r1.5|i7\ni99|i2|r1.5|i99\n");
    sql_same("a.db", "a.db", "SELECT * FROM toy_front");
    char *columns = sql_dump("a.db", "SELECT group_concat(name) FROM pragma_table_info('toy')");
    sql_gives("a.db", "SELECT group_concat(name) FROM pragma_table_info('toy_front')", columns);
    free(columns);
}

struct visited {
    uint64_t n, last;
};

static void visit(void *user, const struct scan_row *row)
{
    const uint64_t point = row->point;
    const double *values = row->values;
    const char *group = row->group;
    struct visited *v = user;
    char expected_group[32];
    snprintf(expected_group, sizeof expected_group, "%d\x1f", (int)(point % 7 + 1));
    assert_string_equal(group, expected_group);
    assert_true(v->n == 0 || point > v->last);
    assert_true(toy_feasible(point));
    double expected = toy_f64(point);
    assert_true(values[0] == expected || (isnan(values[0]) && isnan(expected)));
    assert_true(values[1] == (double)(point % 7 + 1)); /* an integer */
    assert_true(values[2] == 1.5);                     /* fixed */
    assert_true(isnan(values[3]));                     /* text */
    v->n++;
    v->last = point;
}

static void store__scans_feasible_rows_of_its_run_alone(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    toy_make("a.db", 7, 300);
    struct store *st = toy_open("a.db", 1, 1000, NULL, 0);
    toy_complete(st, 0, 1000, 500);
    static const char *const names[] = {"tokens_per_s", "tiles", "clock_ghz", "llm"};
    static const char *const group[] = {"tiles"};
    struct scan_columns columns = {.values = names, .n_values = 4, .group = group, .n_group = 1};
    struct visited v = {0};
    assert_true(store_scan(st, 0, STORE_FINEST, &columns, visit, &v, &d));
    uint64_t feasible = 0;
    for (uint64_t p = 0; p < 1000; p++) feasible += toy_feasible(p);
    assert_int_equal(v.n, feasible);
    static const char *const unknown[] = {"tokens_per_s", "first_id"};
    struct scan_columns no_columns = {.values = unknown, .n_values = 2};
    assert_false(store_scan(st, 0, STORE_FINEST, &no_columns, visit, &v, &d));
    one_error(&d, "toy has no column \"first_id\"", 1);
    store_close(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(store__gives_back_every_type_and_null),
        IN_DIRECTORY(store__records_the_birth_of_a_run),
        IN_DIRECTORY(store__rejects_rows_out_of_order_and_stores_nothing),
        IN_DIRECTORY(store__rolls_back_when_the_source_ends_early),
        IN_DIRECTORY(store__refuses_a_point_twice),
        IN_DIRECTORY(store__knows_what_is_missing),
        IN_DIRECTORY(store__goes_on_with_an_interrupted_run),
        IN_DIRECTORY(store__leaves_a_complete_file_untouched),
        IN_DIRECTORY(store__starts_anew_when_asked_or_edited),
        IN_DIRECTORY(store__takes_away_what_a_killed_search_left),
        IN_DIRECTORY(store__replaces_the_front_of_a_run),
        IN_DIRECTORY(store__scans_feasible_rows_of_its_run_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
