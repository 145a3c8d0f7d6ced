/* Databases that somebody else wrote: of other programs, of a newer dse, with views and triggers that do what they should not. */
#include "store/computed.h"
#include "store_fixture.h"

/* Every way to open a database refuses it for the same reason. */
static void all_refuse(const char *path, const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_null(reader_open(path, &d));
    one_error(&d, part, 1);
    size_t n;
    assert_null(store_runs(path, &n, &d));
    one_error(&d, part, 1);
    assert_null(store_open_run(path, 1, &d));
    one_error(&d, part, 1);
    struct store_table t = toy_table(100);
    struct run_info info = toy_info(1, NULL);
    assert_null(store_open_tables(path, &info, &t, 1, 0, &d));
    one_error(&d, part, 1);
    assert_false(store_merge("out.db", &path, 1, &d));
    one_error(&d, part, 1);
    assert_int_not_equal(access("out.db", F_OK), 0);
}

static void hostile__foreign_files_are_refused_by_every_reader(void **state)
{
    (void)state;
    sql_exec("foreign.db", "CREATE TABLE run(id, status); INSERT INTO run VALUES(1, 'done')");
    all_refuse("foreign.db", "is a SQLite database, but not one of dse");
    toy_make("newer.db", 1, 100);
    sql_exec("newer.db", "PRAGMA user_version=999");
    all_refuse("newer.db", "is from a newer dse: its layout is version 999");
}

/* ---- what stands in a schema ----------------------------------------------------------------------------------------------- */

static struct reader *open_reader(const char *path)
{
    struct diags d;
    diags_init(&d);
    struct reader *r = reader_open(path, &d);
    no_errors(&d);
    assert_non_null(r);
    return r;
}

/* Prepare and step to the end: the rows, or -1 with the error in d. */
static int count_rows(struct reader *r, const char *sql, struct diags *d)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, d);
    int n = 0, more = q ? 1 : -1;
    while (more > 0 && (more = query_step(q, d)) > 0) n++;
    query_free(q);
    return more < 0 ? -1 : n;
}

static bool read_a_secret(void *context, const char *const *args, struct computed_rows *ret, char **ret_error)
{
    (void)ret_error;
    ++*(int *)context;
    computed_text(ret, args[0]);
    return true;
}

static const struct computed_table secret = {
    .name = "secret",
    .columns = (const char *const[]){"x", NULL},
    .arguments = (const char *const[]){"path", NULL},
    .required = 1,
    .fill = read_a_secret,
};

/* A user may ask a computed table; a view of a file that was handed to the user may not. */
static void hostile__views_cannot_use_computed_tables(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    sql_exec("a.db", "CREATE VIEW best AS SELECT x FROM secret('/etc/passwd')");
    struct reader *r = open_reader("a.db");
    struct diags d;
    diags_init(&d);
    int asked = 0;
    assert_true(reader_add_table(r, &secret, &asked, &d));
    assert_int_equal(count_rows(r, "SELECT * FROM secret('mine')", &d), 1);
    assert_int_equal(asked, 1);
    assert_int_equal(count_rows(r, "SELECT * FROM best", &d), -1);
    assert_int_equal(asked, 1);
    one_error(&d, "unsafe use of virtual table", 2);
    reader_close(r);
}

/* A view of dse's own name is dse's, whatever the file has by that name. */
static void hostile__views_of_known_names_are_made_anew(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    sql_exec("a.db", "DROP VIEW toy; DROP VIEW comparison;"
                     "CREATE VIEW toy AS WITH RECURSIVE c(point) AS (SELECT 1 UNION ALL SELECT point + 1 FROM c) SELECT * FROM c;"
                     "CREATE VIEW comparison AS SELECT 'lies' AS model");
    struct reader *r = open_reader("a.db");
    struct diags d;
    diags_init(&d);
    assert_int_equal(count_rows(r, "SELECT * FROM toy", &d), 100);
    assert_int_equal(count_rows(r, "SELECT * FROM comparison WHERE model = 'toy'", &d), 100);
    reader_close(r);
}

static const char endless[] =
    "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) AS n FROM c";

static void hostile__an_endless_view_ends_with_an_error(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    sql_exec("a.db", endless);
    struct reader *r = open_reader("a.db");
    struct diags d;
    diags_init(&d);
    reader_set_patience(r, 3000000);
    assert_int_equal(count_rows(r, "SELECT * FROM endless", &d), -1);
    one_error(&d, "gave no row in 3,000,000 steps of SQLite and was stopped", 1);
    /* Rows that come, slowly, are no reason: the steps count from one to the next. */
    assert_int_equal(count_rows(r,
                                "SELECT (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20000)"
                                " SELECT max(x) + t.point FROM c) FROM toy t",
                                &d),
                     100);
    no_errors(&d);
    reader_close(r);
}

/* What has no name of dse's, in a table's name or a column's, stays what it is: text. */
static void hostile__names_are_no_sql(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    sql_exec("a.db",
             "ALTER TABLE toy_all ADD COLUMN \"x\"\" AS y, (SELECT 1/0) AS \"\"\" REAL;"
             "ALTER TABLE toy_fixed ADD COLUMN \"</script>'\"\"\" TEXT;"
             "CREATE TABLE \"'--_all\"(id INTEGER PRIMARY KEY, run, point, status, reason, fidelity, \"a\"\"b\" REAL);"
             "CREATE TABLE \"'--_fixed\"(run INTEGER PRIMARY KEY, first_id INTEGER, points INTEGER, \"</script>'\"\"\" TEXT);"
             "INSERT INTO \"'--_fixed\"(run, first_id, points) VALUES(1, 1, 100)");
    struct reader *r = open_reader("a.db");
    struct diags d;
    diags_init(&d);
    assert_int_equal(count_rows(r, "SELECT \"x\"\" AS y, (SELECT 1/0) AS \"\"\", \"</script>'\"\"\" FROM toy", &d), 100);
    assert_int_equal(count_rows(r, "SELECT model, \"</script>'\"\"\" FROM comparison", &d), 100);
    assert_int_equal(count_rows(r, "SELECT \"a\"\"b\" FROM \"'--_front\"", &d), 0);
    no_errors(&d);
    reader_close(r);
    const char *in = "a.db";
    assert_true(store_merge("out.db", &in, 1, &d));
    no_errors(&d);
    sql_same("a.db", "out.db", "SELECT * FROM toy_all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(hostile__foreign_files_are_refused_by_every_reader),
        IN_DIRECTORY(hostile__views_cannot_use_computed_tables),
        IN_DIRECTORY(hostile__views_of_known_names_are_made_anew),
        IN_DIRECTORY(hostile__an_endless_view_ends_with_an_error),
        IN_DIRECTORY(hostile__names_are_no_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
