/* The yardstick of the store: the rows of an existing MODEL_all, loaded into memory, written again by a bare loop of prepared
 * INSERTs on one thread, into the same schema with the same pragmas and the same transactions.
 *
 *     bench_insert SOURCE.db TABLE OUT.db ROWS_A_TRANSACTION     prints seconds, wall and CPU
 */
#include "bench.h"
#include "base/xalloc.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cell {
    int type;
    union {
        double f64;
        int64_t i64;
        const char *text;
    };
};

static void check(int code, sqlite3 *db, const char *what)
{
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "bench_insert: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

/* Texts repeat (names, choices): keep each once, found by a small linear list. */
static const char *intern(const char *s)
{
    static char *known[4096];
    static size_t n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(known[i], s) == 0) return known[i];
    if (n == sizeof known / sizeof *known) exit(1);
    return known[n++] = xstrdup(s);
}

static struct cell *load(sqlite3 *db, const char *table, size_t *ret_rows, int *ret_columns)
{
    char *sql = xasprintf("SELECT * FROM \"%s\" ORDER BY id", table);
    sqlite3_stmt *q;
    check(sqlite3_prepare_v2(db, sql, -1, &q, NULL), db, sql);
    int columns = sqlite3_column_count(q);
    size_t rows = 0, capacity = 1 << 16;
    struct cell *cells = xmalloc(capacity * (size_t)columns * sizeof *cells);
    while (sqlite3_step(q) == SQLITE_ROW) {
        if (rows == capacity) cells = xrealloc(cells, (capacity *= 2) * (size_t)columns, sizeof *cells);
        for (int c = 0; c < columns; c++) {
            struct cell *cell = &cells[rows * (size_t)columns + (size_t)c];
            cell->type = sqlite3_column_type(q, c);
            if (cell->type == SQLITE_INTEGER)
                cell->i64 = sqlite3_column_int64(q, c);
            else if (cell->type == SQLITE_FLOAT)
                cell->f64 = sqlite3_column_double(q, c);
            else if (cell->type == SQLITE_TEXT)
                cell->text = intern((const char *)sqlite3_column_text(q, c));
        }
        rows++;
    }
    sqlite3_finalize(q);
    free(sql);
    *ret_rows = rows;
    *ret_columns = columns;
    return cells;
}

static char *create_statement(sqlite3 *db, const char *table)
{
    sqlite3_stmt *q;
    check(sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE name = ?", -1, &q, NULL), db, "schema");
    sqlite3_bind_text(q, 1, table, -1, SQLITE_STATIC);
    if (sqlite3_step(q) != SQLITE_ROW) exit(1);
    char *sql = xstrdup((const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    return sql;
}

static sqlite3_stmt *prepare_insert(sqlite3 *db, const char *table, int columns)
{
    char *sql = xasprintf("INSERT INTO \"%s\" VALUES (?", table);
    for (int c = 1; c < columns; c++) {
        char *more = xasprintf("%s,?", sql);
        free(sql);
        sql = more;
    }
    char *whole = xasprintf("%s)", sql);
    sqlite3_stmt *q;
    check(sqlite3_prepare_v2(db, whole, -1, &q, NULL), db, whole);
    free(sql);
    free(whole);
    return q;
}

static void insert_row(sqlite3 *db, sqlite3_stmt *q, const struct cell *row, int columns)
{
    for (int c = 0; c < columns; c++) {
        if (row[c].type == SQLITE_INTEGER)
            sqlite3_bind_int64(q, c + 1, row[c].i64);
        else if (row[c].type == SQLITE_FLOAT)
            sqlite3_bind_double(q, c + 1, row[c].f64);
        else if (row[c].type == SQLITE_TEXT)
            sqlite3_bind_text(q, c + 1, row[c].text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_null(q, c + 1);
    }
    check(sqlite3_step(q), db, "insert");
    sqlite3_reset(q);
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    const char *table = argv[2];
    size_t rows, batch = strtoul(argv[4], NULL, 10);
    int columns;
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3 *in, *out;
    check(sqlite3_open_v2(argv[1], &in, SQLITE_OPEN_READONLY, NULL), in, argv[1]);
    struct cell *cells = load(in, table, &rows, &columns);
    char *create = create_statement(in, table);
    sqlite3_close(in);

    unlink(argv[3]);
    const double start = wall_s(), cpu = cpu_s();
    check(sqlite3_open(argv[3], &out), out, argv[3]);
    check(sqlite3_exec(out, "PRAGMA page_size=16384; PRAGMA journal_mode=PERSIST; PRAGMA synchronous=NORMAL", NULL, NULL, NULL),
          out, "pragmas");
    check(sqlite3_exec(out, create, NULL, NULL, NULL), out, create);
    sqlite3_stmt *q = prepare_insert(out, table, columns);
    for (size_t i = 0; i < rows; i++) {
        if (i % batch == 0) check(sqlite3_exec(out, i ? "COMMIT; BEGIN" : "BEGIN", NULL, NULL, NULL), out, "transaction");
        insert_row(out, q, &cells[i * (size_t)columns], columns);
    }
    if (rows) check(sqlite3_exec(out, "COMMIT", NULL, NULL, NULL), out, "commit");
    sqlite3_finalize(q);
    sqlite3_close(out);
    printf("%.3f %.3f\n", wall_s() - start, cpu_s() - cpu);
    free(create);
    free(cells);
    return 0;
}
