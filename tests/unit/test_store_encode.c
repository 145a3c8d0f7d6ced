/* Encoded rows: byte for byte the records that SQLite makes of the same rows, whatever the values, the sizes and the order. */
#include "store_fixture.h"

/* The rows are the same, and so are the sizes of all records together. */
static void same_database(const char *a, const char *b)
{
    sql_same(a, b, "SELECT * FROM toy_all");
    sql_same(a, b, "SELECT sum(payload), sum(ncell) FROM dbstat WHERE name = 'toy_all' AND pagetype = 'leaf'");
    sql_same(a, b, "SELECT planned, done, feasible, status FROM run");
    sql_gives(b, "PRAGMA integrity_check", "tok\n");
}

static void encode__makes_the_records_that_sqlite_makes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 63, 1023, 1024, 1025, 2048, 5000};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct diags d;
        diags_init(&d);
        unlink("plain.db");
        unlink("encoded.db");
        toy_make("plain.db", 1, sizes[i]);
        struct store *st = toy_open("encoded.db", 1, sizes[i], NULL, 0);
        bool ok = toy_write_encoded(st, 0, sizes[i] - 1, &d);
        no_errors(&d);
        assert_true(ok);
        assert_true(store_finish(st, "done", &d));
        no_errors(&d);
        store_close(st);
        same_database("plain.db", "encoded.db");
    }
}

static void encode__writes_transactions_in_any_order(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    toy_make("plain.db", 1, 9000);
    struct store *st = toy_open("encoded.db", 1, 9000, NULL, 0);
    assert_true(toy_write_encoded(st, 6000, 8999, &d));
    assert_true(toy_write_encoded(st, 0, 9, &d));
    assert_true(toy_write(st, 10, 2999, &d)); /* both ways in one run */
    store_close(st);
    st = toy_open("encoded.db", 1, 9000, NULL, 0);
    assert_true(toy_write_encoded(st, 3000, 5999, &d));
    assert_true(store_finish(st, "done", &d));
    no_errors(&d);
    store_close(st);
    sql_same("plain.db", "encoded.db", "SELECT * FROM toy_all");
    sql_same("plain.db", "encoded.db", "SELECT done, feasible, status FROM run");
    sql_gives("encoded.db", "PRAGMA integrity_check", "tok\n");
}

static void encode__leaves_columns_of_others_null(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    toy_make("a.db", 1, 10);
    sql_exec("a.db", "ALTER TABLE toy_all ADD COLUMN extra REAL; ALTER TABLE toy_all ADD COLUMN more TEXT");
    struct store *st = toy_open("a.db", 2, 2000, NULL, 0);
    assert_true(toy_write_encoded(st, 0, 1999, &d));
    no_errors(&d);
    store_close(st);
    toy_make("plain.db", 1, 2000);
    char *rows =
        sql_dump("plain.db", "SELECT point, status, reason, fidelity, tiles, sram_mib, llm, tokens_per_s, density FROM toy_all");
    sql_gives("a.db",
              "SELECT point, status, reason, fidelity, tiles, sram_mib, llm, tokens_per_s, density FROM toy_all WHERE run = 2",
              rows);
    free(rows);
    sql_gives("a.db", "SELECT count(extra), count(more), min(id), max(id) FROM toy_all WHERE run = 2", "i0|i0|i11|i2010\n");
}

static void encode__stands_back_where_sqlite_would_not_copy(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "CREATE UNIQUE INDEX toy_index ON toy_all(run, point)",
        "CREATE TRIGGER toy_trigger AFTER INSERT ON toy_all BEGIN DELETE FROM front; END",
        "ALTER TABLE toy_all RENAME TO old; CREATE TABLE toy_all(id INTEGER PRIMARY KEY, run INTEGER, point INTEGER, status TEXT,"
        " reason TEXT, fidelity TEXT, tiles TEXT);"
        "INSERT INTO toy_all SELECT id, run, point, status, reason, fidelity, tiles FROM old",
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct diags d;
        diags_init(&d);
        unlink("a.db");
        toy_make("a.db", 1, 10);
        sql_exec("a.db", changes[i]);
        struct store *st = toy_open("a.db", 2, 100, NULL, 0);
        assert_null(store_encoder(st, 0));
        assert_true(toy_write(st, 0, 99, &d));
        no_errors(&d);
        store_close(st);
        sql_gives("a.db", "SELECT count(*) FROM toy_all WHERE run = 2", "i100\n");
    }
}

static void encode__refuses_a_row_that_no_page_holds(void **state)
{
    (void)state;
    struct store *st = toy_open("a.db", 1, 10, NULL, 0);
    const struct store_encoder *e = store_encoder(st, 0);
    union cell cells[TOY_COLUMNS];
    struct row row;
    toy_row(0, cells, &row);
    struct row_block b = {.first = 0, .n = 1, .cells = cells, .rows = &row};
    struct store_pages pages = {0};
    char *reason = xcalloc(1, 100000);
    memset(reason, 'x', 65000); /* fits, just */
    row.reason = reason;
    assert_true(store_encode(e, &b, &pages));
    assert_int_equal(pages.n, 1);
    assert_int_equal(pages.feasible, 0);
    memset(reason, 'x', 99999);
    assert_false(store_encode(e, &b, &pages));
    free(reason);
    store_pages_release(&pages);
    store_close(st);
}

static const struct row_block *give_block(void *user)
{
    return user;
}

/* Rows of tens of kilobytes: a leaf each, and records that overflow the pages of the file. */
static void encode__holds_long_texts(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 40, NULL, 0);
    union cell cells[40 * TOY_COLUMNS];
    struct row rows[40];
    char *reason = xcalloc(1, 40001);
    memset(reason, 'x', 40000);
    for (size_t i = 0; i < 40; i++) {
        toy_row(i, cells + i * TOY_COLUMNS, &rows[i]);
        rows[i].reason = reason + i * 100;
    }
    struct store_pages pages = {0};
    struct row_block b = {.first = 0, .n = 40, .cells = cells, .rows = rows};
    assert_true(store_encode(store_encoder(st, 0), &b, &pages));
    assert_int_equal(pages.n, 40);
    b.pages = &pages;
    assert_true(store_write(st, 0, 0, 39, give_block, &b, &d));
    no_errors(&d);
    store_pages_release(&pages);
    free(reason);
    store_close(st);
    sql_gives("a.db", "SELECT count(*), sum(length(reason)), sum(status = 'infeasible'), sum(point) FROM toy_all",
              "i40|i1522000|i40|i780\n");
    sql_gives("a.db", "PRAGMA integrity_check", "tok\n");
}

/* ---- what can go wrong ----------------------------------------------------------------------------------------------------- */

static void encode__rolls_back_what_does_not_come_as_agreed(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 9000, NULL, 0);
    assert_true(toy_write_encoded(st, 0, 999, &d));
    struct toy_encoded *s = xcalloc(1, sizeof *s);
    *s = (struct toy_encoded){
        .encoder = store_encoder(st, 0), .next = 1000, .stop = 1000 + 3 * STORE_BLOCK, .block_points = STORE_BLOCK};
    assert_false(store_write(st, 0, 1000, 4999, toy_pull_encoded, s, &d)); /* ends early */
    one_error(&d, "rows of toy ended at point 4072; those up to 4999 were due", 1);
    s->next = 2000;
    assert_false(store_write(st, 0, 1000, 4999, toy_pull_encoded, s, &d)); /* begins late */
    one_error(&d, "rows from point 2000 on came where those from 1000 were due", 1);
    s->next = 1000;
    s->block_points = 1000;
    assert_false(store_write(st, 0, 1000, 4999, toy_pull_encoded, s, &d)); /* blocks of another size */
    one_error(&d, "has 1000 rows where 1024 were due", 1);
    s->next = 1000;
    s->stop = 9000;
    s->block_points = STORE_BLOCK;
    assert_false(store_write(st, 0, 1000, 2999, toy_pull_encoded, s, &d)); /* reaches too far */
    one_error(&d, "1024 rows came from point 2024 on where 1 to 976 were due", 1);
    store_pages_release(&s->pages);
    free(s);
    sql_gives("a.db", "SELECT count(*), (SELECT done FROM run), (SELECT count(*) FROM block) FROM toy_all", "i1000|i1000|i1\n");
    assert_true(toy_write_encoded(st, 1000, 8999, &d)); /* and can go on */
    store_close(st);
    sql_gives("a.db", "SELECT count(*), (SELECT done FROM run) FROM toy_all", "i9000|i9000\n");
    sql_gives("a.db", "PRAGMA integrity_check", "tok\n");
}

static void encode__refuses_a_point_twice(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open("a.db", 1, 9000, NULL, 0);
    assert_true(toy_write_encoded(st, 0, 999, &d));
    assert_false(toy_write_encoded(st, 999, 2999, &d));
    one_error(&d, "UNIQUE constraint failed", 1);
    store_close(st);
    sql_gives("a.db", "SELECT count(*) FROM toy_all", "i1000\n");
}

/* Two models take turns on one image. */
static void encode__changes_between_models(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct store_table tables[] = {toy_table(3000), toy_table(3000)};
    tables[1].model = "doll";
    struct run_info info = toy_info(1, NULL);
    struct store *st = store_open_tables("a.db", &info, tables, 2, 0, &d);
    no_errors(&d);
    struct toy_encoded *s = xcalloc(1, sizeof *s);
    for (uint64_t p = 0; p < 3000; p += 1500) {
        for (size_t m = 0; m < 2; m++) {
            *s = (struct toy_encoded){.encoder = store_encoder(st, m), .next = p, .stop = p + 1500, .block_points = STORE_BLOCK};
            assert_true(store_write(st, m, p, p + 1499, toy_pull_encoded, s, &d));
            store_pages_release(&s->pages);
        }
    }
    no_errors(&d);
    free(s);
    store_close(st);
    sql_gives("a.db", "SELECT count(*) FROM (SELECT * FROM toy_all EXCEPT SELECT * FROM doll_all)", "i0\n");
    sql_gives("a.db", "SELECT (SELECT count(*) FROM toy_all), (SELECT count(*) FROM doll_all), done FROM run",
              "i3000|i3000|i6000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(encode__makes_the_records_that_sqlite_makes),
        IN_DIRECTORY(encode__writes_transactions_in_any_order),
        IN_DIRECTORY(encode__leaves_columns_of_others_null),
        IN_DIRECTORY(encode__stands_back_where_sqlite_would_not_copy),
        IN_DIRECTORY(encode__refuses_a_row_that_no_page_holds),
        IN_DIRECTORY(encode__holds_long_texts),
        IN_DIRECTORY(encode__rolls_back_what_does_not_come_as_agreed),
        IN_DIRECTORY(encode__refuses_a_point_twice),
        IN_DIRECTORY(encode__changes_between_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
