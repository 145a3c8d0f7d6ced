/* Merging: shards give what one run gives, other runs are carried over, inputs stay as they are. */
#include "store_fixture.h"

#include <sys/stat.h>

static void make_shard(const char *path, uint64_t hash, uint64_t points, const char *shard, uint64_t first, uint64_t end)
{
    struct store *st = toy_open(path, hash, points, shard, 0);
    toy_complete(st, first, end, 100);
    store_close(st);
}

static void merge(const char *out, const char *const *in, size_t n)
{
    struct diags d;
    diags_init(&d);
    store_merge(out, in, n, &d);
    no_errors(&d);
}

static void merge__of_shards_equals_one_run(void **state)
{
    (void)state;
    toy_make("whole.db", 1, 1000);
    make_shard("1.db", 1, 1000, "1/3", 0, 333);
    make_shard("2.db", 1, 1000, "2/3", 333, 666);
    make_shard("3.db", 1, 1000, "3/3", 666, 1000);
    static const char *const in[] = {"3.db", "1.db", "2.db"};
    merge("out.db", in, 3);
    sql_same("out.db", "whole.db", "SELECT * FROM toy_all");
    sql_same("out.db", "whole.db", "SELECT * FROM toy_fixed");
    sql_same("out.db", "whole.db", "SELECT * FROM toy");
    sql_same("out.db", "whole.db", "SELECT * FROM column_info");
    sql_same("out.db", "whole.db", "SELECT id, sweep, sweep_text, hash, shard, planned, done, feasible, status FROM run");
    sql_gives("out.db", "SELECT * FROM block", "i1|ttoy|i0|i999\n");
    sql_gives("out.db", "PRAGMA integrity_check", "tok\n");
    sql_gives("1.db", "SELECT shard, done FROM run", "t1/3|i333\n");
    struct store *st = toy_open("out.db", 1, 1000, NULL, 0); /* the sweep itself finds nothing to do */
    assert_true(store_complete(st));
    store_close(st);
}

static void merge__takes_overlapping_points_once(void **state)
{
    (void)state;
    toy_make("whole.db", 1, 1000);
    make_shard("1.db", 1, 1000, "1/2", 0, 600);
    make_shard("2.db", 1, 1000, "2/2", 400, 1000);
    static const char *const in[] = {"1.db", "2.db", "1.db"};
    merge("out.db", in, 3);
    sql_same("out.db", "whole.db", "SELECT * FROM toy_all");
    sql_same("out.db", "whole.db", "SELECT shard, done, feasible, status FROM run");
    sql_gives("out.db", "SELECT \"first\", \"last\" FROM block", "i0|i999\n");
}

static void merge__of_some_shards_can_be_completed(void **state)
{
    (void)state;
    toy_make("whole.db", 1, 1000);
    make_shard("1.db", 1, 1000, "1/3", 0, 333);
    make_shard("3.db", 1, 1000, "3/3", 666, 1000);
    static const char *const in[] = {"1.db", "3.db"};
    merge("out.db", in, 2);
    sql_gives("out.db", "SELECT shard, planned, done, status FROM run", "n|i1000|i667|tinterrupted\n");
    sql_gives("out.db", "SELECT \"first\", \"last\" FROM block", "i0|i332\ni666|i999\n");
    struct store *st = toy_open("out.db", 1, 1000, NULL, 0);
    assert_int_equal(store_run(st), 1);
    assert_false(store_complete(st));
    toy_complete(st, 0, 1000, 100);
    store_close(st);
    sql_same("out.db", "whole.db", "SELECT * FROM toy_all");
    sql_same("out.db", "whole.db", "SELECT done, feasible, status FROM run");
}

static void merge__keeps_a_shard_alone_a_shard(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("1.db", 1, 1000, "1/3", 0);
    sql_change("1.db", "UPDATE run SET planned = 333");
    toy_complete(st, 0, 333, 100);
    const uint64_t front[] = {5};
    assert_true(store_front(st, 0, front, 1, &d));
    store_close(st);
    static const char *const in[] = {"1.db"};
    merge("out.db", in, 1);
    sql_same("out.db", "1.db", "SELECT shard, planned, done, feasible, status FROM run");
    sql_same("out.db", "1.db", "SELECT * FROM front");
}

static void merge__carries_other_runs_over(void **state)
{
    (void)state;
    toy_make("a.db", 1, 300);
    toy_make("a.db", 2, 200); /* an edited sweep: a second run */
    toy_make("b.db", 3, 100);
    sql_exec("b.db",
             "UPDATE run SET sweep = 'others'; ALTER TABLE toy_all ADD COLUMN extra REAL;"
             "ALTER TABLE toy_fixed ADD COLUMN knob INTEGER; UPDATE toy_all SET extra = point; UPDATE toy_fixed SET knob = 4");
    static const char *const in[] = {"b.db", "a.db"};
    merge("out.db", in, 2);
    sql_gives("out.db", "SELECT id, sweep, hash, done, status FROM run",
              "i1|tothers|t0000000000000003|i100|tdone\ni2|ttoys|t0000000000000001|i300|tdone\n"
              "i3|ttoys|t0000000000000002|i200|tdone\n");
    sql_gives("out.db", "SELECT run, first_id, points, knob, clock_ghz FROM toy_fixed",
              "i1|i1|i100|i4|r1.5\ni2|i101|i300|n|r1.5\ni3|i401|i200|n|r1.5\n");
    sql_gives("out.db", "SELECT run, count(*), min(id - point), max(id - point), count(extra) FROM toy_all GROUP BY run",
              "i1|i100|i1|i1|i100\ni2|i300|i101|i101|i0\ni3|i200|i401|i401|i0\n");
    sql_gives("out.db", "SELECT run, count(*), count(knob) FROM toy GROUP BY run", "i1|i100|i100\ni3|i200|i0\n");
    char *rows = sql_dump("a.db", "SELECT point, status, reason, fidelity, tiles, sram_mib, llm, tokens_per_s, area_mm2, \"order\","
                                  " bound, density FROM toy_all WHERE run = 1");
    sql_gives("out.db",
              "SELECT point, status, reason, fidelity, tiles, sram_mib, llm, tokens_per_s, area_mm2, \"order\", bound, density"
              " FROM toy_all WHERE run = 2",
              rows);
    free(rows);
}

static void merge__adds_to_a_database_that_is_there(void **state)
{
    (void)state;
    make_shard("out.db", 1, 1000, "1/2", 0, 500);
    make_shard("2.db", 1, 1000, "2/2", 500, 1000);
    static const char *const in[] = {"2.db"};
    merge("out.db", in, 1);
    merge("out.db", in, 1); /* again changes nothing */
    sql_gives("out.db", "SELECT count(*), max(shard), max(done), max(status) FROM run", "i1|n|i1000|tdone\n");
}

static void merge__reads_paths_with_odd_letters(void **state)
{
    (void)state;
    toy_make("50% of a?#&=b 'c'.db", 1, 100);
    static const char *const in[] = {"50% of a?#&=b 'c'.db"};
    merge("out 'x'.db", in, 1);
    sql_gives("out 'x'.db", "SELECT count(*) FROM toy", "i100\n");
}

/* ---- bad input ------------------------------------------------------------------------------------------------------------- */

static void refused(const char *out, const char *in, const char *about, const char *part)
{
    struct diags d;
    diags_init(&d);
    const char *const list[] = {"good.db", in};
    assert_false(store_merge(out, list, 2, &d));
    assert_string_equal(d.list[0].file, about);
    one_error(&d, part, 1);
}

static void merge__refuses_bad_inputs_before_it_writes(void **state)
{
    (void)state;
    toy_make("good.db", 1, 100);
    sql_exec("foreign.db", "CREATE TABLE t(x)");
    sql_exec("empty.db", "PRAGMA user_version=0; VACUUM");
    FILE *f = fopen("text.db", "w");
    assert_non_null(f);
    fputs("this is no database\n", f);
    fclose(f);
    toy_make("newer.db", 1, 100);
    sql_exec("newer.db", "PRAGMA user_version=2");
    assert_int_equal(mkdir("dir.db", 0777), 0);
    refused("out.db", "missing.db", "missing.db", "No such file");
    refused("out.db", "dir.db", "dir.db", "is a directory");
    refused("out.db", "text.db", "text.db", "is not a SQLite database");
    refused("out.db", "foreign.db", "foreign.db", "not one of dse");
    refused("out.db", "newer.db", "newer.db", "from a newer dse");
    refused("out.db", "empty.db", "empty.db", "empty");
    assert_int_not_equal(access("out.db", F_OK), 0);
    toy_make("out.db", 1, 100);
    refused("out.db", "./out.db", "./out.db", "is the output itself");
}

static void merge__refuses_an_output_that_is_something_else(void **state)
{
    (void)state;
    toy_make("good.db", 1, 100);
    sql_exec("foreign.db", "CREATE TABLE t(x)");
    toy_make("b.db", 1, 100);
    refused("foreign.db", "b.db", "foreign.db", "not one of dse");
    struct store *st = toy_open("busy.db", 1, 100, NULL, 0);
    refused("busy.db", "b.db", "busy.db", "another dse is writing to it");
    store_close(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(merge__of_shards_equals_one_run),
        IN_DIRECTORY(merge__takes_overlapping_points_once),
        IN_DIRECTORY(merge__of_some_shards_can_be_completed),
        IN_DIRECTORY(merge__keeps_a_shard_alone_a_shard),
        IN_DIRECTORY(merge__carries_other_runs_over),
        IN_DIRECTORY(merge__adds_to_a_database_that_is_there),
        IN_DIRECTORY(merge__reads_paths_with_odd_letters),
        IN_DIRECTORY(merge__refuses_bad_inputs_before_it_writes),
        IN_DIRECTORY(merge__refuses_an_output_that_is_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
