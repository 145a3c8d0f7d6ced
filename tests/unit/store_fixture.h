/* A toy model for the tests of the store: tables described by hand, rows that are a pure function of the point, and dumps of
 * queries as text to compare. Each test works in a fresh directory. */
#ifndef TEST_STORE_FIXTURE_H
#define TEST_STORE_FIXTURE_H

#include "base/text.h"
#include "base/xalloc.h"
#include "store/query.h"
#include "store/schema.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- the model ------------------------------------------------------------------------------------------------------------- */

static const struct column toy_columns[] = {
    {.name = "tiles", .unit = "", .doc = "tiles", .role = COLUMN_PARAM, .type = DSE_TYPE_I64},
    {.name = "sram_mib", .unit = "MiB", .doc = "SRAM", .role = COLUMN_PARAM, .type = DSE_TYPE_F64},
    {.name = "llm", .unit = "", .doc = "model", .role = COLUMN_PARAM, .type = DSE_TYPE_REF},
    {.name = "tokens_per_s", .unit = "1/s", .doc = "rate", .role = COLUMN_METRIC, .type = DSE_TYPE_F64, .better = DSE_MORE},
    {.name = "area_mm2", .unit = "mm2", .doc = "area", .role = COLUMN_METRIC, .type = DSE_TYPE_F64, .better = DSE_LESS},
    {.name = "order", .unit = "", .doc = "a count whose name is a word of SQL", .role = COLUMN_METRIC, .type = DSE_TYPE_I64},
    {.name = "bound", .unit = "", .doc = "limit", .role = COLUMN_METRIC, .type = DSE_TYPE_ENUM},
    {.name = "density", .unit = "", .doc = "tokens_per_s / area_mm2", .role = COLUMN_DERIVED, .type = DSE_TYPE_F64},
};
enum { TOY_COLUMNS = COUNT(toy_columns) };

static const struct store_param toy_params[] = {
    {.name = "tiles", .unit = "", .doc = "tiles", .type = DSE_TYPE_I64, .varies = true},
    {.name = "sram_mib", .unit = "MiB", .doc = "SRAM", .type = DSE_TYPE_F64, .varies = true},
    {.name = "llm", .unit = "", .doc = "model", .type = DSE_TYPE_REF, .varies = true},
    {.name = "clock_ghz", .unit = "GHz", .doc = "clock", .type = DSE_TYPE_F64, .fixed = {.f64 = 1.5}},
    {.name = "context", .unit = "", .doc = "context", .type = DSE_TYPE_I64, .fixed = {.i64 = 4096}},
    {.name = "pipeline", .unit = "", .doc = "which", .type = DSE_TYPE_ENUM, .fixed = {.text = "eq7"}},
};

static struct store_table toy_table(uint64_t points)
{
    return (struct store_table){.model = "toy",
                                .version = 3,
                                .points = points,
                                .columns = toy_columns,
                                .n_columns = TOY_COLUMNS,
                                .params = toy_params,
                                .n_params = COUNT(toy_params)};
}

/* Values of every kind: fractions, whole numbers of every size, zero of both signs, extremes, NULL. */
static double toy_f64(uint64_t p)
{
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     255.0,
                                     65536.0,
                                     16777216.0,
                                     4294967296.0,
                                     281474976710656.0,
                                     1e300,
                                     5e-324,
                                     -1.7976931348623157e308,
                                     0.1,
                                     NAN,
                                     140737488355327.0,
                                     140737488355328.0};
    return p % 3 ? 1000.0 / (1.0 + (double)p) : special[p / 3 % COUNT(special)];
}

static int64_t toy_i64(uint64_t p)
{
    static const int64_t special[] = {0,
                                      1,
                                      2,
                                      -1,
                                      127,
                                      128,
                                      -128,
                                      -129,
                                      32767,
                                      32768,
                                      8388607,
                                      8388608,
                                      2147483647,
                                      2147483648,
                                      140737488355327,
                                      140737488355328,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_MIN + 1};
    return p % 2 ? (int64_t)p : special[p / 2 % COUNT(special)];
}

static void toy_row(uint64_t p, union cell *cells, struct row *row)
{
    static const char *const llms[] = {"llama2-7b", "opt-6.7b", "a-name-that-is-longer-than-the-others-by-far"};
    static const char *const bounds[] = {"compute", "dram", ""};
    bool refused = p % 11 == 3;
    cells[0].i64 = (int64_t)(p % 7) + 1;
    cells[1].f64 = 0.5 * (double)(p % 13);
    cells[2].text = llms[p % 3];
    cells[3].f64 = refused ? (double)NAN : toy_f64(p);
    cells[4].f64 = refused ? (double)NAN : 1.0 + (double)(p % 17) / 3.0;
    cells[5].i64 = refused ? INT64_MIN : toy_i64(p);
    cells[6].text = refused ? NULL : bounds[p % 3];
    cells[7].f64 = refused ? (double)NAN : toy_f64(p + 1);
    row->reason = refused ? "the tile does not fit" : p % 11 == 5 ? "constraint area: area_mm2 <= 25" : NULL;
    row->is_measured = false;
}

static inline bool toy_feasible(uint64_t p)
{
    return p % 11 != 3 && p % 11 != 5;
}

/* ---- a source of rows ------------------------------------------------------------------------------------------------------ */

enum { TOY_BLOCK = 64 };

struct toy_source {
    uint64_t next, stop; /* gives points up to `stop`, exclusive, then ends */
    union cell cells[TOY_BLOCK * TOY_COLUMNS];
    struct row rows[TOY_BLOCK];
    struct row_block block;
};

static const struct row_block *toy_pull(void *user)
{
    struct toy_source *s = user;
    if (s->next >= s->stop) return NULL;
    size_t n = s->stop - s->next < TOY_BLOCK ? (size_t)(s->stop - s->next) : TOY_BLOCK;
    for (size_t i = 0; i < n; i++) toy_row(s->next + i, s->cells + i * TOY_COLUMNS, &s->rows[i]);
    s->block = (struct row_block){.first = s->next, .n = n, .cells = s->cells, .rows = s->rows};
    s->next += n;
    return &s->block;
}

static inline bool toy_write(struct store *st, uint64_t first, uint64_t last, struct diags *diags)
{
    struct toy_source s = {.next = first, .stop = last + 1};
    return store_write(st, 0, first, last, toy_pull, &s, diags);
}

/* ---- a source of encoded blocks -------------------------------------------------------------------------------------------- */

struct toy_encoded {
    const struct store_encoder *encoder;
    uint64_t next, stop;
    size_t block_points;
    union cell cells[STORE_BLOCK * TOY_COLUMNS];
    struct row rows[STORE_BLOCK];
    struct store_pages pages;
    struct row_block block;
};

static inline const struct row_block *toy_pull_encoded(void *user)
{
    struct toy_encoded *s = user;
    if (s->next >= s->stop) return NULL;
    size_t n = s->stop - s->next < s->block_points ? (size_t)(s->stop - s->next) : s->block_points;
    for (size_t i = 0; i < n; i++) toy_row(s->next + i, s->cells + i * TOY_COLUMNS, &s->rows[i]);
    s->block = (struct row_block){.first = s->next, .n = n, .cells = s->cells, .rows = s->rows};
    assert_true(store_encode(s->encoder, &s->block, &s->pages));
    s->block.pages = &s->pages;
    s->next += n;
    return &s->block;
}

static inline bool toy_write_encoded(struct store *st, uint64_t first, uint64_t last, struct diags *d)
{
    struct toy_encoded *s = xcalloc(1, sizeof *s);
    *s = (struct toy_encoded){.encoder = store_encoder(st, 0), .next = first, .stop = last + 1, .block_points = STORE_BLOCK};
    assert_non_null(s->encoder);
    bool ok = store_write(st, 0, first, last, toy_pull_encoded, s, d);
    store_pages_release(&s->pages);
    free(s);
    return ok;
}

static struct run_info toy_info(uint64_t hash, const char *shard)
{
    return (struct run_info){.objectives = "max tokens_per_s",
                             .sweep = "toys",
                             .sweep_text = "# Which toy?\n",
                             .hash = hash,
                             .fidelity = "closed-form",
                             .shard = shard};
}

/* ---- diagnostics ----------------------------------------------------------------------------------------------------------- */

static void no_errors(const struct diags *d)
{
    for (size_t i = 0; i < d->n; i++) print_error("%s: %s\n", d->list[i].file ? d->list[i].file : "", d->list[i].message);
    assert_int_equal(d->errors, 0);
}

/* One error whose message holds `part`; the list is emptied. */
static inline void one_error(struct diags *d, const char *part, int exit_status)
{
    assert_int_equal(d->errors, 1);
    if (!strstr(d->list[d->n - 1].message, part)) fail_msg("\"%s\" is not in \"%s\"", part, d->list[d->n - 1].message);
    assert_int_equal(diags_exit_status(d), exit_status);
    diags_release(d);
}

/* ---- stores ---------------------------------------------------------------------------------------------------------------- */

static inline struct store *toy_open(const char *path, uint64_t hash, uint64_t points, const char *shard, unsigned flags)
{
    struct diags d;
    diags_init(&d);
    struct store_table t = toy_table(points);
    struct run_info info = toy_info(hash, shard);
    struct store *st = store_open_tables(path, &info, &t, 1, flags, &d);
    no_errors(&d);
    diags_release(&d);
    assert_non_null(st);
    return st;
}

/* Write what is missing of [first, end) in transactions of `size` points and finish. */
static inline void toy_complete(struct store *st, uint64_t first, uint64_t end, uint64_t size)
{
    struct diags d;
    diags_init(&d);
    size_t n;
    struct range *missing = store_missing(st, 0, first, end, &n, &d);
    for (size_t i = 0; i < n; i++) {
        for (uint64_t p = missing[i].first; p <= missing[i].last; p += size)
            assert_true(toy_write(st, p, p + size - 1 < missing[i].last ? p + size - 1 : missing[i].last, &d));
    }
    free(missing);
    assert_true(store_finish(st, "done", &d));
    no_errors(&d);
    diags_release(&d);
}

/* A database that holds one complete run. */
static inline void toy_make(const char *path, uint64_t hash, uint64_t points)
{
    struct store *st = toy_open(path, hash, points, NULL, 0);
    toy_complete(st, 0, points, 1000);
    store_close(st);
}

/* ---- plain SQLite ---------------------------------------------------------------------------------------------------------- */

static inline sqlite3 *sql_open(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    return db;
}

static inline void sql_change(const char *path, const char *sql)
{
    sqlite3 *db = sql_open(path);
    char *error = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    sqlite3_close(db);
}

/* The same, as who takes the digests away (store/digest.h), so that what finds the change is something else. */
static inline void sql_exec(const char *path, const char *sql)
{
    sql_change(path, sql);
    sqlite3 *db = sql_open(path);
    sqlite3_exec(db, "DELETE FROM digest; UPDATE run SET digests = NULL", NULL, NULL, NULL); /* an older dse made none */
    sqlite3_close(db);
}

/* The rows of a query: cells by |, a type letter before each (n, i, r, t), rows by newline. The caller frees it. */
static inline char *sql_dump(const char *path, const char *sql)
{
    sqlite3 *db = sql_open(path);
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    struct text t;
    text_init(&t);
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            static const char letters[] = "?irtbn"; /* SQLITE_INTEGER 1, FLOAT 2, TEXT 3, BLOB 4, NULL 5 */
            int type = sqlite3_column_type(stmt, i);
            text_addf(&t, "%s%c", i ? "|" : "", letters[type]);
            if (type == SQLITE_FLOAT)
                text_addf(&t, "%.17g", sqlite3_column_double(stmt, i));
            else if (type != SQLITE_NULL)
                text_add(&t, (const char *)sqlite3_column_text(stmt, i));
        }
        text_add(&t, "\n");
    }
    if (rc != SQLITE_DONE) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return text_detach(&t);
}

static inline void sql_gives(const char *path, const char *sql, const char *expected)
{
    char *got = sql_dump(path, sql);
    assert_string_equal(got, expected);
    free(got);
}

/* Both databases give the same rows. */
static inline void sql_same(const char *a, const char *b, const char *sql)
{
    char *x = sql_dump(a, sql), *y = sql_dump(b, sql);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* ---- a directory of its own for each test ---------------------------------------------------------------------------------- */

static inline int enter_directory(void **state)
{
    char *dir = xstrdup("/tmp/dse-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    *state = dir;
    return 0;
}

static inline int leave_directory(void **state)
{
    char *command = xasprintf("rm -rf '%s'", (char *)*state);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(system(command), 0);
    free(command);
    free(*state);
    return 0;
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

#endif
