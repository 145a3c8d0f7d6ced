/* Files that are no database, that cannot be written, that others hold; a full disk. Nothing existing is ever harmed. */
#include "base/file.h"
#include "store_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static char *read_file(const char *path, size_t *ret_n)
{
    char *s;
    struct diags d;
    diags_init(&d);
    assert_true(text_read_file(path, 1 << 24, &s, ret_n, &d));
    return s;
}

static void refused(const char *path, const char *part)
{
    struct diags d;
    diags_init(&d);
    struct store_table t = toy_table(100);
    struct run_info info = toy_info(1, NULL);
    assert_null(store_open_tables(path, &info, &t, 1, 0, &d));
    assert_string_equal(d.list[0].file, path);
    one_error(&d, part, 1);
}

/* Refused, and every byte is as before. */
static void refused_untouched(const char *path, const char *part)
{
    size_t n_before, n_after;
    char *before = read_file(path, &n_before);
    refused(path, part);
    char *after = read_file(path, &n_after);
    assert_int_equal(n_before, n_after);
    assert_memory_equal(before, after, n_before);
    free(before);
    free(after);
}

static void bad__files_that_are_no_database_are_left_alone(void **state)
{
    (void)state;
    write_file("text.db", "tiles,sram\n1,2\n", 15);
    refused_untouched("text.db", "is not a SQLite database; it is left as it is");
    char *rubbish = xmalloc(100000);
    for (size_t i = 0; i < 100000; i++) rubbish[i] = (char)(i * i * 31 + i / 7);
    write_file("rubbish.db", rubbish, 100000);
    free(rubbish);
    refused_untouched("rubbish.db", "is not a SQLite database");
    assert_int_equal(mkdir("dir.db", 0777), 0);
    refused("dir.db", "is a directory");
    assert_int_equal(mkfifo("pipe.db", 0666), 0);
    refused("pipe.db", "is not a regular file");
    refused("no/such/dir/a.db", "No such file or directory");
}

static void bad__an_empty_file_becomes_a_database(void **state)
{
    (void)state;
    write_file("a.db", "", 0);
    toy_make("a.db", 1, 100);
    sql_gives("a.db", "SELECT count(*) FROM toy", "i100\n");
}

static void bad__names_that_sqlite_reads_specially_are_plain_files(void **state)
{
    (void)state;
    toy_make(":memory:", 1, 100);
    toy_make("file:x?mode=memory", 1, 100);
    assert_int_equal(access(":memory:", F_OK), 0);
    assert_int_equal(access("file:x?mode=memory", F_OK), 0);
}

static void bad__other_databases_are_left_alone(void **state)
{
    (void)state;
    sql_exec("foreign.db", "PRAGMA journal_mode=WAL; CREATE TABLE run(x); INSERT INTO run VALUES(1)");
    refused_untouched("foreign.db", "is a SQLite database, but not one of dse");
    toy_make("newer.db", 1, 100);
    sql_exec("newer.db", "PRAGMA user_version=999");
    refused_untouched("newer.db", "is from a newer dse: its layout is version 999");
    toy_make("other.db", 1, 100);
    sql_exec("other.db", "UPDATE run SET sweep = 'lad_sram'");
    refused_untouched("other.db", "belongs to another sweep: it holds runs of lad_sram, none of toys");
}

static void bad__damaged_databases_are_named(void **state)
{
    (void)state;
    toy_make("a.db", 1, 2000);
    assert_int_equal(truncate("a.db", 40000), 0);
    refused("a.db", "is damaged");
}

static void bad__a_file_that_cannot_be_written(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    assert_int_equal(mkdir("closed", 0555), 0);
    assert_int_equal(chmod("a.db", 0444), 0);
    assert_int_equal(chmod(".", 0777), 0);
    uid_t user = geteuid();
    if (user == 0) assert_int_equal(seteuid(65534), 0); /* root may write everything */
    refused("a.db", "cannot be opened for writing: Permission denied");
    refused("closed/a.db", "cannot be opened for writing: Permission denied");
    if (user == 0) assert_int_equal(seteuid(0), 0);
}

/* ---- others on the same file ----------------------------------------------------------------------------------------------- */

static void bad__a_second_writer_is_refused(void **state)
{
    (void)state;
    struct store *st = toy_open("a.db", 1, 100, NULL, 0);
    refused("a.db", "another dse is writing to it");
    struct diags d;
    diags_init(&d);
    assert_true(toy_write(st, 0, 99, &d));
    store_close(st);
    store_close(toy_open("a.db", 1, 100, NULL, 0)); /* the lock is gone */
}

static void bad__readers_read_while_a_sweep_runs(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 100, NULL, 0);
    assert_true(toy_write(st, 0, 49, &d));
    struct reader *r = reader_open("a.db", &d);
    no_errors(&d);
    struct query *q = query_new(r, "SELECT count(*) FROM toy", (struct srcloc){0}, &d);
    assert_int_equal(query_step(q, &d), 1);
    assert_int_equal(query_i64(q, 0), 50);
    query_free(q);
    reader_close(r);
    assert_true(toy_write(st, 50, 99, &d));
    store_close(st);
}

static void bad__a_lock_of_another_program_is_reported(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    sqlite3 *other = sql_open("a.db");
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    refused("a.db", "is locked: another program is using it");
    struct diags d;
    diags_init(&d);
    sqlite3_close(other);
    struct reader *r = reader_open("a.db", &d);
    assert_non_null(r);
    reader_close(r);
}

/* ---- a full disk ----------------------------------------------------------------------------------------------------------- */

/* In a child, with files limited to `bytes`: write until it fails. Exit status 0: it failed as it should. */
static void write_to_the_limit(rlim_t bytes)
{
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 100000, NULL, 0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
    limit.rlim_cur = bytes;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
    uint64_t p = 0;
    while (p < 100000 && toy_write(st, p, p + 4999, &d)) p += 5000;
    bool told =
        d.errors == 1 && strcmp(d.list[0].file, "a.db") == 0 && strstr(d.list[0].message, "what was committed before is kept");
    store_close(st);
    diags_release(&d);
    _exit(told ? 0 : 4);
}

static void bad__a_full_disk_loses_only_the_open_transaction(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) write_to_the_limit(2000000);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    sql_gives("a.db", "PRAGMA integrity_check", "tok\n");
    sql_gives(
        "a.db",
        "SELECT count(*) > 0, count(*) % 5000, count(*) = (SELECT done FROM run), count(*) = 5000 * (SELECT count(*) FROM block)"
        " FROM toy_all",
        "i1|i0|i1|i1\n");
    toy_make("whole.db", 1, 100000);
    toy_make("a.db", 1, 100000); /* there is room again */
    sql_same("a.db", "whole.db", "SELECT count(*), sum(tokens_per_s), sum(tiles), max(id), min(id) FROM toy_all");
    sql_same("a.db", "whole.db", "SELECT done, feasible, status FROM run");
}

/* Views show the newest run of a sweep: a part of it in the same file would hide the whole. */
static void bad__keeps_a_part_and_the_whole_apart(void **state)
{
    (void)state;
    store_close(toy_open("part.db", 1, 100, "1/2", 0));
    refused_untouched("part.db", "under another --shard");
    store_close(toy_open("part.db", 1, 100, "1/2", 0)); /* the part itself goes on */
    store_close(toy_open("part.db", 2, 100, NULL, 0));  /* an edited sweep is another one */
}

/* Somebody removes or replaces the file of a sweep that runs: that nothing is left of it is an error, not a run that is done. */
static void bad__a_file_that_is_deleted_meanwhile_is_not_kept(void **state)
{
    (void)state;
    for (int replaced = 0; replaced < 2; replaced++) {
        struct diags d;
        diags_init(&d);
        unlink("a.db");
        struct store *st = toy_open("a.db", 1, 2000, NULL, 0);
        assert_true(toy_write(st, 0, 999, &d));
        assert_true(store_finish(st, "interrupted", &d));
        assert_int_equal(unlink("a.db"), 0);
        if (replaced) write_file("a.db", "mine", 4);
        bool ok = toy_write(st, 1000, 1999, &d) && store_finish(st, "done", &d);
        assert_false(ok);
        one_error(&d, "was deleted or replaced by another file while it was written", 1);
        store_close(st);
        assert_int_equal(access("a.db", F_OK) == 0, replaced);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(bad__files_that_are_no_database_are_left_alone),
        IN_DIRECTORY(bad__keeps_a_part_and_the_whole_apart),
        IN_DIRECTORY(bad__an_empty_file_becomes_a_database),
        IN_DIRECTORY(bad__names_that_sqlite_reads_specially_are_plain_files),
        IN_DIRECTORY(bad__other_databases_are_left_alone),
        IN_DIRECTORY(bad__damaged_databases_are_named),
        IN_DIRECTORY(bad__a_file_that_cannot_be_written),
        IN_DIRECTORY(bad__a_second_writer_is_refused),
        IN_DIRECTORY(bad__readers_read_while_a_sweep_runs),
        IN_DIRECTORY(bad__a_lock_of_another_program_is_reported),
        IN_DIRECTORY(bad__a_file_that_is_deleted_meanwhile_is_not_kept),
        IN_DIRECTORY(bad__a_full_disk_loses_only_the_open_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
