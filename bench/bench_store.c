/* How fast rows get into a database: the store's ways against a bare loop of prepared INSERTs of the same rows into the same
 * schema with the same transactions and durability (page size, journal, synchronous, cache). 10 parameters and 15 metrics a row,
 * all fractions.
 *
 *     bench_store [ROWS [ROUNDS]]          default 1,000,000 rows, 3 rounds
 *
 * The ways take turns (A B A B ...), each on a fresh file in the working directory; what counts is the ratio to the bare loop
 * within a round. Prints every round and the median ratios.
 */
#include "bench.h"
#include "base/xalloc.h"
#include "store/db.h"
#include "store/schema.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 25, PARAMS = 10, BLOCK = 1024, TRANSACTION = 131072, ROUNDS_MAX = 100 };

static struct column columns[COLUMNS];
static struct store_param params[PARAMS];
static char names[COLUMNS][16];
static union cell cells[BLOCK * COLUMNS];
static struct row rows[BLOCK];

static void describe(void)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        snprintf(names[i], sizeof names[i], "%s_%zu", i < PARAMS ? "parameter" : "metric", i);
        columns[i] = (struct column){
            .name = names[i], .unit = "", .doc = "", .role = i < PARAMS ? COLUMN_PARAM : COLUMN_METRIC, .type = DSE_TYPE_F64};
        if (i < PARAMS)
            params[i] = (struct store_param){.name = names[i], .unit = "", .doc = "", .type = DSE_TYPE_F64, .varies = true};
    }
    for (size_t i = 0; i < (size_t)BLOCK * COLUMNS; i++) cells[i].f64 = 1.0 / (1.0 + (double)i);
}

static void must(bool ok, struct diags *d)
{
    if (ok) return;
    diags_print(d, stderr, false);
    exit(1);
}

static struct store *open_store(const char *path, uint64_t n, struct diags *d)
{
    struct store_table t = {
        .model = "bench", .points = n, .columns = columns, .n_columns = COLUMNS, .params = params, .n_params = PARAMS};
    struct run_info info = {.sweep = "bench", .sweep_text = "", .hash = 1, .fidelity = "closed-form", .objectives = "max m0"};
    struct store *st = store_open_tables(path, &info, &t, 1, 0, d);
    must(st != NULL, d);
    return st;
}

/* ---- the bare loop --------------------------------------------------------------------------------------------------------- */

static void bind_row(sqlite3_stmt *stmt, uint64_t point)
{
    sqlite3_bind_int64(stmt, 1, 1 + (int64_t)point);
    sqlite3_bind_int64(stmt, 2, 1);
    sqlite3_bind_int64(stmt, 3, (int64_t)point);
    sqlite3_bind_text(stmt, 4, "ok", 2, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 6, "closed-form", 11, SQLITE_STATIC);
    const union cell *c = cells + point % BLOCK * COLUMNS;
    for (int i = 0; i < COLUMNS; i++) sqlite3_bind_double(stmt, SCHEMA_LEADING + 1 + i, c[i].f64);
}

static void write_bare(const char *path, uint64_t n, struct diags *d)
{
    store_close(open_store(path, n, d)); /* the schema */
    struct db db;
    must(db_open_writer(&db, path, d), d);
    sqlite3_stmt *stmt =
        db_prepare(&db, d, "INSERT INTO bench_all VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    must(stmt != NULL, d);
    for (uint64_t p = 0; p < n; p++) {
        if (p % TRANSACTION == 0) must(db_exec(&db, d, p ? "COMMIT; BEGIN" : "BEGIN"), d);
        bind_row(stmt, p);
        must(sqlite3_step(stmt) == SQLITE_DONE, d);
        sqlite3_reset(stmt);
    }
    must(db_exec(&db, d, "COMMIT"), d);
    sqlite3_finalize(stmt);
    db_close(&db);
}

/* ---- the store ------------------------------------------------------------------------------------------------------------- */

struct feed {
    uint64_t next, end;
    const struct store_encoder *encoder; /* or NULL */
    struct store_pages pages;
    struct row_block block;
};

static const struct row_block *pull(void *user)
{
    struct feed *f = user;
    if (f->next == f->end) return NULL;
    uint64_t left = f->end - f->next;
    f->block = (struct row_block){.first = f->next, .n = left < BLOCK ? (size_t)left : BLOCK, .cells = cells, .rows = rows};
    f->next += f->block.n;
    if (f->encoder) {
        if (!store_encode(f->encoder, &f->block, &f->pages)) return NULL;
        f->block.pages = &f->pages;
    }
    return &f->block;
}

static void write_store(const char *path, uint64_t n, bool encoded, struct diags *d)
{
    struct store *st = open_store(path, n, d);
    struct feed f = {.encoder = encoded ? store_encoder(st, 0) : NULL};
    if (encoded && !f.encoder) {
        fprintf(stderr, "bench_store: rows cannot be encoded\n");
        exit(1);
    }
    for (uint64_t p = 0; p < n; p += TRANSACTION) {
        f.next = p;
        f.end = p + TRANSACTION < n ? p + TRANSACTION : n;
        must(store_write(st, 0, f.next, f.end - 1, pull, &f, d), d);
    }
    must(store_finish(st, "done", d), d);
    store_pages_release(&f.pages);
    store_close(st);
}

static void write_rows(const char *path, uint64_t n, struct diags *d)
{
    write_store(path, n, false, d);
}

static void write_encoded(const char *path, uint64_t n, struct diags *d)
{
    write_store(path, n, true, d);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------------------- */

static const struct way {
    const char *name;
    void (*write)(const char *path, uint64_t n, struct diags *d);
} ways[] = {
    {"prepared INSERT", write_bare},
    {"table-valued source", write_rows},
    {"encoded, one thread", write_encoded},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The file that is written, in the working directory; gone when the program ends, also after an error. */
static char path[64], journal[80];

static void remove_files(void)
{
    unlink(path);
    unlink(journal);
}

static void check_count(uint64_t n, struct diags *d)
{
    struct db db;
    int64_t count;
    must(db_open_reader(&db, path, d) && db_int(&db, &count, d, "SELECT count(*) FROM bench"), d);
    db_close(&db);
    if ((uint64_t)count == n) return;
    fprintf(stderr, "bench_store: %lld rows of %llu\n", (long long)count, (unsigned long long)n);
    exit(1);
}

static double measure(const struct way *way, uint64_t n)
{
    struct diags d;
    diags_init(&d);
    remove_files();
    double start = wall_s();
    way->write(path, n, &d);
    double seconds = wall_s() - start;
    check_count(n, &d);
    remove_files();
    diags_release(&d);
    return (double)n / seconds;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : (uint64_t)bench_size(1000000, 10000);
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : (size_t)bench_size(3, 1);
    if (n == 0 || rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_store [ROWS [ROUNDS]], up to %d rounds\n", ROUNDS_MAX);
        return 2;
    }
    describe();
    snprintf(path, sizeof path, "bench_store_%ld.db", (long)getpid());
    snprintf(journal, sizeof journal, "%s-journal", path);
    atexit(remove_files);
    static double ratios[WAYS][ROUNDS_MAX];
    for (size_t r = 0; r < rounds; r++) {
        double rate[WAYS];
        for (size_t w = 0; w < WAYS; w++) rate[w] = measure(&ways[w], n);
        for (size_t w = 0; w < WAYS; w++) {
            ratios[w][r] = rate[w] / rate[0];
            printf("%-22s %9.0f rows/s %6.2fx\n", ways[w].name, rate[w], ratios[w][r]);
        }
    }
    struct bench_row row =
        bench_row_open("ways into SQLite over a bare loop of prepared `INSERT`s, a million rows of 25 numbers, wall");
    for (size_t w = 1; w < WAYS; w++) {
        qsort(ratios[w], rounds, sizeof(double), ascending);
        printf("%s: %.2fx of the bare loop (median of %zu)\n", ways[w].name, ratios[w][rounds / 2], rounds);
        bench_part(&row, "%s %.2f times its rate", ways[w].name, ratios[w][rounds / 2]);
    }
    bench_row_close(&row);
    return 0;
}
