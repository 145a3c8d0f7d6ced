/* Reading: one statement that only reads, errors at their place in the SQL. */
#include "store_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct reader *open_toy(void)
{
    toy_make("a.db", 1, 100);
    struct diags d;
    diags_init(&d);
    struct reader *r = reader_open("a.db", &d);
    no_errors(&d);
    assert_non_null(r);
    return r;
}

static void query__gives_rows_with_types(void **state)
{
    (void)state;
    struct reader *r = open_toy();
    struct diags d;
    diags_init(&d);
    struct query *q =
        query_new(r, "SELECT point, tokens_per_s AS rate, llm, reason, x'00ff' FROM toy WHERE point IN (1, 3) ;\n -- end",
                  (struct srcloc){0}, &d);
    no_errors(&d);
    assert_int_equal(query_columns(q), 5);
    assert_string_equal(query_column_name(q, 1), "rate");
    assert_int_equal(query_step(q, &d), 1);
    static const enum cell_type types[] = {CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_NULL, CELL_BLOB};
    for (int i = 0; i < 5; i++) assert_int_equal(query_type(q, i), types[i]);
    assert_int_equal(query_i64(q, 0), 1);
    assert_true(query_f64(q, 0) == 1.0);
    assert_true(query_f64(q, 1) == toy_f64(1));
    assert_true(isnan(query_f64(q, 2)));
    assert_true(isnan(query_f64(q, 3)));
    assert_string_equal(query_text(q, 2), "opt-6.7b");
    assert_null(query_text(q, 3));
    assert_int_equal(query_step(q, &d), 1);
    assert_string_equal(query_text(q, 3), "the tile does not fit");
    assert_int_equal(query_step(q, &d), 0);
    query_free(q);
    reader_close(r);
}

/* The error, its place, the quoted line. */
static void bad_sql(struct reader *r, const char *sql, struct srcloc loc, int line, int column, const char *source,
                    const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_null(query_new(r, sql, loc, &d));
    assert_int_equal(d.n, 1);
    assert_int_equal(d.list[0].line, line);
    assert_int_equal(d.list[0].column, column);
    assert_string_equal(d.list[0].source, source);
    one_error(&d, part, 2);
}

static void query__points_at_errors(void **state)
{
    (void)state;
    struct reader *r = open_toy();
    struct srcloc none = {0}, at = {.file = "f.toml", .line = 7, .column = 8};
    bad_sql(r, "SELECT tile FROM toy", none, 1, 8, "SELECT tile FROM toy", "no such column: tile");
    bad_sql(r, "SELECT tiles,\n  point FRM toy", none, 2, 13, "  point FRM toy", "near \"toy\": syntax error");
    bad_sql(r, "SELECT tile FROM toy", at, 7, 15, "       SELECT tile FROM toy", "no such column: tile");
    bad_sql(r, "SELECT tiles\nFROM toyz", at, 7, 8, "       SELECT tiles", "no such table: toyz");
    bad_sql(r, "SELECT tiles,\n tile FROM toy", at, 8, 2, " tile FROM toy", "no such column: tile");
    reader_close(r);
}

static void query__is_one_statement_that_reads(void **state)
{
    (void)state;
    struct reader *r = open_toy();
    struct srcloc none = {0};
    bad_sql(r, "", none, 1, 1, "", "there is no statement");
    bad_sql(r, " -- nothing", none, 1, 1, " -- nothing", "there is no statement");
    bad_sql(r, "SELECT 1; SELECT 2", none, 1, 11, "SELECT 1; SELECT 2", "here begins a second");
    bad_sql(r, "DELETE FROM toy_all", none, 1, 1, "DELETE FROM toy_all", "a query only reads");
    bad_sql(r, "CREATE TABLE x(y)", none, 1, 1, "CREATE TABLE x(y)", "a query only reads");
    bad_sql(r, "ATTACH 'new.db' AS n", none, 1, 1, "ATTACH 'new.db' AS n", "a query only reads");
    bad_sql(r, "BEGIN", none, 1, 1, "BEGIN", "a query only reads");
    bad_sql(r, "SELECT * FROM toy WHERE tiles = ?", none, 1, 1, "SELECT * FROM toy WHERE tiles = ?", "parameter");
    assert_int_not_equal(access("new.db", F_OK), 0);
    struct diags d;
    diags_init(&d);
    struct query *q = query_new(r, "WITH t AS (SELECT 1 AS x) SELECT x FROM t; /* ; */ -- ;", none, &d);
    no_errors(&d);
    query_free(q);
    reader_close(r);
    sql_gives("a.db", "SELECT count(*) FROM toy", "i100\n");
}

static void query__reports_errors_of_a_row(void **state)
{
    (void)state;
    struct reader *r = open_toy();
    struct diags d;
    diags_init(&d);
    struct query *q = query_new(r, "SELECT abs(-9223372036854775807 - 1)", (struct srcloc){0}, &d);
    assert_non_null(q);
    assert_int_equal(query_step(q, &d), -1);
    one_error(&d, "integer overflow", 1);
    query_free(q);
    reader_close(r);
}

static void reader__knows_columns(void **state)
{
    (void)state;
    struct reader *r = open_toy();
    char *unit, *doc;
    int direction;
    assert_true(reader_column_info(r, "area_mm2", &unit, &doc, &direction));
    assert_string_equal(unit, "mm2");
    assert_string_equal(doc, "area");
    assert_int_equal(direction, -1);
    free(unit);
    free(doc);
    assert_false(reader_column_info(r, "volume_mm3", &unit, &doc, &direction));
    reader_close(r);
}

static void refused(const char *path, const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_null(reader_open(path, &d));
    assert_string_equal(d.list[0].file, path);
    one_error(&d, part, 1);
}

static void reader__refuses_what_is_no_database(void **state)
{
    (void)state;
    refused("missing.db", "No such file");
    assert_int_not_equal(access("missing.db", F_OK), 0);
    assert_int_equal(mkdir("dir.db", 0777), 0);
    refused("dir.db", "is a directory");
    assert_int_equal(close(open("empty.db", O_CREAT | O_WRONLY, 0666)), 0);
    refused("empty.db", "is an empty file");
    FILE *f = fopen("text.db", "w");
    assert_non_null(f);
    for (int i = 0; i < 1000; i++) fputs("tiles,sram_mib\n", f);
    fclose(f);
    refused("text.db", "is not a SQLite database");
    refused("/dev/null", "is not a regular file");
}

/* A writer that dies with half a transaction on disk: what it spilled must not be seen. */
static void reader__rolls_back_what_a_killed_writer_left(void **state)
{
    (void)state;
    toy_make("a.db", 1, 5000);
    char *rows = sql_dump("a.db", "SELECT count(*), sum(tiles) FROM toy_all");
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = sql_open("a.db");
        int rc = sqlite3_exec(db, "PRAGMA journal_mode=PERSIST; PRAGMA cache_size=1; BEGIN; UPDATE toy_all SET tiles = 0", NULL,
                              NULL, NULL);
        kill(getpid(), rc == SQLITE_OK ? SIGKILL : SIGTERM);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    struct diags d;
    diags_init(&d);
    struct reader *r = reader_open("a.db", &d);
    no_errors(&d);
    assert_non_null(r);
    struct query *q = query_new(r, "SELECT count(*), sum(tiles) FROM toy_all", (struct srcloc){0}, &d);
    assert_int_equal(query_step(q, &d), 1);
    char *got = xasprintf("i%lld|i%lld\n", (long long)query_i64(q, 0), (long long)query_i64(q, 1));
    assert_string_equal(got, rows);
    free(got);
    free(rows);
    query_free(q);
    reader_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(query__gives_rows_with_types),
        IN_DIRECTORY(query__points_at_errors),
        IN_DIRECTORY(query__is_one_statement_that_reads),
        IN_DIRECTORY(query__reports_errors_of_a_row),
        IN_DIRECTORY(reader__knows_columns),
        IN_DIRECTORY(reader__refuses_what_is_no_database),
        IN_DIRECTORY(reader__rolls_back_what_a_killed_writer_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
