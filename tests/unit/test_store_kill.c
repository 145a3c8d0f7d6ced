/* kill -9 at any moment: what was committed is there, and the same run goes on to the same rows. */
#include "store_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { POINTS = 250000, TRANSACTION = 1000, KILLS = 25 };

/* In a child: go on with the run until it is complete. Every second child encodes its rows. Exit status 0 when it was completed. */
static void go_on(int number)
{
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, POINTS, NULL, 0);
    size_t n;
    struct range *missing = store_missing(st, 0, 0, POINTS, &n, &d);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        for (uint64_t p = missing[i].first; ok && p <= missing[i].last; p += TRANSACTION) {
            uint64_t last = p + TRANSACTION - 1 < missing[i].last ? p + TRANSACTION - 1 : missing[i].last;
            ok = number % 2 ? toy_write_encoded(st, p, last, &d) : toy_write(st, p, last, &d);
        }
    }
    free(missing);
    ok = ok && store_finish(st, "done", &d);
    store_close(st);
    _exit(ok ? 0 : 1);
}

/* Kill the child `microseconds` after it has begun, unless it ends before. True when it completed the run. */
static bool run_and_kill(int number, long microseconds)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) go_on(number);
    int status;
    pid_t ended = 0;
    for (long waited = 0; waited < microseconds && !ended; waited += 100) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        ended = waitpid(child, &status, WNOHANG);
    }
    if (!ended) {
        kill(child, SIGKILL);
        ended = waitpid(child, &status, 0);
    }
    assert_int_equal(ended, child);
    if (WIFEXITED(status)) assert_int_equal(WEXITSTATUS(status), 0);
    return WIFEXITED(status);
}

static int64_t rows_of(const char *path)
{
    if (access(path, F_OK) != 0) return 0;
    char *n = sql_dump(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'toy_all'");
    bool made = strcmp(n, "i1\n") == 0;
    free(n);
    if (!made) return 0;
    n = sql_dump(path, "SELECT count(*) FROM toy_all");
    int64_t rows = strtoll(n + 1, NULL, 10);
    free(n);
    return rows;
}

/* After a kill: no damage, whole transactions only, nothing that was there is gone. Reading rolls the open transaction back. */
static int64_t check_after_kill(int64_t before)
{
    int64_t rows = rows_of("a.db");
    assert_true(rows >= before);
    assert_int_equal(rows % TRANSACTION, 0);
    if (!rows) return 0;
    sql_gives("a.db", "PRAGMA integrity_check", "tok\n");
    sql_gives("a.db",
              "SELECT count(*) = (SELECT done FROM run), count(*) = (SELECT sum(\"last\" - \"first\" + 1) FROM block),"
              " sum(status = 'ok') = (SELECT feasible FROM run) FROM toy_all",
              "i1|i1|i1\n");
    return rows;
}

static void kill__loses_nothing_that_was_committed(void **state)
{
    (void)state;
    toy_make("whole.db", 1, POINTS);
    unsigned random = 12345;
    int64_t rows = 0;
    int killed = 0;
    for (int i = 0; i < KILLS; i++) {
        random = random * 1103515245 + 12345;
        if (run_and_kill(i, 500 + (long)(random >> 8) % 12000)) break;
        killed++;
        rows = check_after_kill(rows);
    }
    assert_true(killed >= KILLS / 2); /* a very fast machine may complete the run before the last kill */
    print_message("%d kills, %lld of %d rows before the last run\n", killed, (long long)rows, POINTS);
    assert_true(run_and_kill(KILLS, 60000000) || rows == POINTS);
    sql_same("a.db", "whole.db", "SELECT count(*), min(id), max(id) FROM toy_all");
    sql_exec("a.db", "ATTACH 'whole.db' AS whole; CREATE TEMP TABLE differing(rows CHECK(rows = 0));"
                     "INSERT INTO differing SELECT count(*) FROM (SELECT * FROM toy_all EXCEPT SELECT * FROM whole.toy_all)");
    sql_same("a.db", "whole.db", "SELECT done, feasible, status FROM run");
    sql_gives("a.db", "SELECT count(*), max(id) FROM run", "i1|i1\n");
    sql_gives("a.db", "PRAGMA integrity_check", "tok\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_DIRECTORY(kill__loses_nothing_that_was_committed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
