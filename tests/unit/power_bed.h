/* For tests of power losses and faults of the disk: sessions that write databases, each a function that goes on from whatever is
 * there, and digests of what databases hold. */
#ifndef DSE_TESTS_POWER_BED_H
#define DSE_TESTS_POWER_BED_H

#include "disk.h"
#include "scratch.h"
#include "store_fixture.h"

#include "config/sweep_file.h"
#include "sweep/certified.h"
#include "sweep/leases.h"
#include "sweep/sweep.h"
#include "toy_model.h"

#include <dirent.h>
#include <signal.h>

/* ---- digests --------------------------------------------------------------------------------------------------------------- */

/* What two runs of one sweep may differ in: when and where they were made, and with that the file's own digests; and, of a run
 * that went on, its transactions. */
enum digest_of { DIGEST_ALL, DIGEST_ROWS };

static inline uint64_t digest_cell(uint64_t h, sqlite3_stmt *stmt, int i)
{
    const int type = sqlite3_column_type(stmt, i);
    h = text_hash(h, &type, sizeof type);
    if (type == SQLITE_FLOAT) {
        const double v = sqlite3_column_double(stmt, i);
        return text_hash(h, &v, sizeof v);
    }
    const char *bytes = sqlite3_column_blob(stmt, i); /* an integer as its digits */
    return bytes ? text_hash(h, bytes, (size_t)sqlite3_column_bytes(stmt, i)) : h;
}

static inline sqlite3_stmt *digest_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return stmt;
}

/* Columns that hold times and places are left out. */
static inline uint64_t digest_row(sqlite3_stmt *stmt)
{
    static const char *const left_out[] = {"started", "ended", "host", "seconds"};
    uint64_t h = TEXT_HASH_INIT;
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        size_t k = 0;
        while (k < COUNT(left_out) && strcmp(left_out[k], sqlite3_column_name(stmt, i)) != 0) k++;
        if (k == COUNT(left_out)) h = digest_cell(h, stmt, i);
    }
    return h;
}

/* The rows of a query in any order. */
static inline uint64_t digest_query(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = digest_prepare(db, sql);
    uint64_t rows = 0;
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) rows += digest_row(stmt);
    if (rc != SQLITE_DONE) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return rows;
}

static inline uint64_t digest_table(uint64_t h, sqlite3 *db, const char *table)
{
    char *sql = xasprintf("SELECT * FROM \"%s\"", table);
    const uint64_t rows = digest_query(db, sql);
    free(sql);
    h = text_hash(h, table, strlen(table));
    return text_hash(h, &rows, sizeof rows);
}

static inline uint64_t digest_of_file(const char *path, enum digest_of of)
{
    static const char
        tables[] = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('seal', 'digest') ORDER BY 1",
        rows[] = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('seal', 'digest', 'block') ORDER BY 1";
    sqlite3 *db = sql_open(path);
    sqlite3_stmt *stmt = digest_prepare(db, of == DIGEST_ALL ? tables : rows);
    uint64_t h = TEXT_HASH_INIT;
    while (sqlite3_step(stmt) == SQLITE_ROW) h = digest_table(h, db, (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return h;
}

/* ---- a bed ----------------------------------------------------------------------------------------------------------------- */

struct power_bed {
    char *dir, *disk; /* a folder of the test's own; the one in it that loses its power */
    char *db;         /* a database there */
    char *merged;     /* beside it */
    char *parts[2];   /* likewise: what is merged */
    struct catalog *catalog;
    struct sweep_file *sweep;
    char *said; /* why the database was refused when it was read last; or NULL */
};

static inline struct sweep_file *bed_sweep(struct power_bed *b, const char *text)
{
    struct diags d;
    diags_init(&d);
    if (!b->catalog) b->catalog = catalog_new(toy_data_dir(), &d);
    sweep_file_free(b->sweep);
    b->sweep = sweep_file_read_text("t.toml", text, strlen(text), b->catalog, toy_data_dir(), &d);
    no_errors(&d);
    diags_release(&d);
    return b->sweep;
}

static inline int bed_make(void **state)
{
    struct power_bed *b = xcalloc(1, sizeof *b);
    b->dir = scratch_new();
    b->disk = xasprintf("%s/disk", b->dir);
    b->db = xasprintf("%s/s.db", b->disk);
    b->merged = xasprintf("%s/merged.db", b->dir);
    for (int i = 0; i < 2; i++) b->parts[i] = xasprintf("%s/part%d.db", b->dir, i);
    *state = b;
    return mkdir(b->disk, 0777);
}

static inline int bed_clear(void **state)
{
    struct power_bed *b = *state;
    scratch_remove(b->dir);
    sweep_file_free(b->sweep);
    catalog_free(b->catalog);
    free(b->disk);
    free(b->db);
    free(b->merged);
    free(b->said);
    for (int i = 0; i < 2; i++) free(b->parts[i]);
    free(b);
    registry_release();
    return 0;
}

static inline void bed_empty_disk(const struct power_bed *b)
{
    scratch_remove(xstrdup(b->disk));
    assert_int_equal(mkdir(b->disk, 0777), 0);
}

/* ---- sessions -------------------------------------------------------------------------------------------------------------- */

/* Something that dse does to a database, begun or gone on with. */
struct session {
    const char *name;
    const char *sweep;                    /* its file, or NULL */
    void (*prepare)(struct power_bed *b); /* or NULL */
    bool (*go_on)(struct power_bed *b, struct diags *diags);
    void (*find)(struct power_bed *b); /* b->db, if its name varies; or NULL */
    bool merges;                       /* b->merged has the result */
    const char *result;                /* a query that gives it; NULL: all tables */
    int share;                         /* it takes that many times as long as others, and a share of their samples; 0 is 1 */
};

#define SPACE \
    "[params]\nclock_ghz = { from = 0.5, to = 3, points = 6 }\ncontext = [256, 4096]\n" \
    "[params.toy]\ntiles = { from = 1, to = 10, step = 1 }\nmemory = [\"two-channels\", \"eight-channels\"]\n" \
    "[params.pebble]\nlanes = { from = 1, to = 100, step = 9 }\n" \
    "[constraints]\nsmall = \"area_mm2 <= 80\"\n[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\n"
#define HEAD(more) "[sweep]\nname = \"two\"\nmodels = [\"toy\", \"pebble\"]\n" more
#define EXACT \
    "[sweep]\nname = \"t\"\nmodels = [\"toy\"]\n[params]\nmemory = [\"two-channels\", \"eight-channels\"]\n" \
    "tiles = { from = 1, to = 8, step = 1 }\nclock_ghz = [0.5, 1, 2]\nbatch = [1, 4]\nsram_mib = [0.5, 2]\n" \
    "[constraints]\nsize = \"area_mm2 <= 15\"\n[objectives]\nlatency_us = \"min\"\narea_mm2 = \"min\"\n"
/* Of some blocks of leases. */
#define BLOCKS \
    "[sweep]\nname = \"b\"\nmodels = [\"toy\", \"pebble\"]\n[params]\nclock_ghz = { from = 0.5, to = 3, points = 40 }\n" \
    "context = [256, 4096]\n[params.toy]\ntiles = { from = 1, to = 60, step = 1 }\n" \
    "memory = [\"two-channels\", \"eight-channels\"]\n" \
    "[params.pebble]\nlanes = [8]\n[objectives]\ntokens_per_s = \"max\"\n"

enum { ROWS = 1600, ROWS_A_TRANSACTION = 200, SHARDS = 2, BED_POINTS = 100000, SECONDS_TO_WAIT = 60 };

/* Rows in many transactions, some of them encoded. */
static inline bool go_on_with_rows(struct power_bed *b, struct diags *diags)
{
    const struct store_table t = toy_table(ROWS);
    const struct run_info info = toy_info(1, NULL);
    struct store *st = store_open_tables(b->db, &info, &t, 1, 0, diags);
    if (!st) return false;
    size_t n;
    struct range *missing = store_missing(st, 0, 0, ROWS, &n, diags);
    bool ok = diags->errors == 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t p = missing[i].first; ok && p <= missing[i].last; p += ROWS_A_TRANSACTION) {
            const uint64_t last = p + ROWS_A_TRANSACTION - 1;
            ok = p / ROWS_A_TRANSACTION % 2 ? toy_write(st, p, last, diags) : toy_write_encoded(st, p, last, diags);
        }
    free(missing);
    ok = ok && store_finish(st, "done", diags);
    store_close(st);
    return ok;
}

static inline bool run_shard(struct power_bed *b, const char *db, uint64_t shard, uint64_t shards, struct diags *diags)
{
    const struct sweep_options options = {.db = db, .threads = 1, .shard = shard, .shards = shards, .max_points = BED_POINTS};
    struct sweep_result result;
    return sweep_run(b->sweep, &options, &result, diags);
}

static inline bool go_on_with_sweep(struct power_bed *b, struct diags *diags)
{
    return run_shard(b, b->db, 0, 0, diags);
}

/* A sweep that was killed when half of what it does was done. */
static inline void prepare_resume(struct power_bed *b)
{
    struct diags d;
    diags_init(&d);
    disk_watch(b->disk);
    assert_true(go_on_with_sweep(b, &d));
    struct disk_log *log = disk_stop();
    bed_empty_disk(b);
    disk_picture(log, log->n_events / 2, DISK_KILLED, b->disk);
    disk_log_free(log);
    no_errors(&d);
    diags_release(&d);
}

static inline void prepare_merge(struct power_bed *b)
{
    struct diags d;
    diags_init(&d);
    for (uint64_t i = 0; i < SHARDS; i++) assert_true(run_shard(b, b->parts[i], i + 1, SHARDS, &d));
    no_errors(&d);
    diags_release(&d);
}

static inline bool go_on_with_merge(struct power_bed *b, struct diags *diags)
{
    const char *const in[] = {b->parts[0], b->parts[1]};
    return store_merge(b->db, in, SHARDS, diags);
}

static inline bool go_on_with_certificate(struct power_bed *b, struct diags *diags)
{
    const struct certified_options options = {.db = b->db, .threads = 1, .boxes = true};
    struct certified_result result;
    return certified_run(b->sweep, &options, &result, diags);
}

static volatile sig_atomic_t waits_too_long;

static inline void stop_waiting(int signal)
{
    (void)signal;
    waits_too_long = 1;
}

static inline bool go_on_with_leases(struct power_bed *b, struct diags *diags)
{
    const struct sweep_options options = {
        .lease = b->disk, .lease_age = 0.02, .threads = 1, .max_points = BED_POINTS, .interrupt = &waits_too_long};
    struct sweep_result result;
    size_t n;
    waits_too_long = 0;
    signal(SIGALRM, stop_waiting);
    alarm(SECONDS_TO_WAIT);
    const bool ran = sweep_run(b->sweep, &options, &result, diags);
    alarm(0);
    if (!ran) return false;
    char **databases = leases_databases(b->disk, &n, diags);
    unlink(b->merged);
    const bool ok = databases && store_merge(b->merged, (const char *const *)databases, n, diags);
    for (size_t i = 0; databases && i < n; i++) free(databases[i]);
    free(databases);
    return ok;
}

/* The database of the only worker. */
static inline void find_leased(struct power_bed *b)
{
    DIR *d = opendir(b->disk);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        const size_t n = strlen(e->d_name);
        if (n < 3 || strcmp(e->d_name + n - 3, ".db") != 0) continue;
        free(b->db);
        b->db = xasprintf("%s/%s", b->disk, e->d_name);
    }
    closedir(d);
}

/* A search that was cut off is begun anew as another run. */
static const char newest_certificate[] =
    "SELECT f.point, f.tiles, f.latency_us, f.area_mm2, c.complete, c.dominated, c.refused FROM toy_front f, certificate c"
    " WHERE c.run = (SELECT max(id) FROM run WHERE status = 'done')";

static const struct session sessions[] = {
    {.name = "rows", .go_on = go_on_with_rows},
    {.name = "sweep", .sweep = HEAD("") SPACE, .go_on = go_on_with_sweep},
    {.name = "resume", .sweep = HEAD("") SPACE, .prepare = prepare_resume, .go_on = go_on_with_sweep},
    {.name = "merge", .sweep = HEAD("") SPACE, .prepare = prepare_merge, .go_on = go_on_with_merge},
    {.name = "streamed", .sweep = HEAD("keep = \"front\"\n") SPACE, .go_on = go_on_with_sweep},
    {.name = "certificate", .sweep = EXACT, .go_on = go_on_with_certificate, .result = newest_certificate},
    {.name = "leases", .sweep = BLOCKS, .go_on = go_on_with_leases, .find = find_leased, .merges = true, .share = 4},
};

static inline void session_begin(const struct session *s, struct power_bed *b)
{
    if (s->sweep) bed_sweep(b, s->sweep);
    if (s->prepare) s->prepare(b);
}

/* What the session has come to. */
static inline uint64_t session_result(const struct session *s, const struct power_bed *b)
{
    if (!s->result) return digest_of_file(s->merges ? b->merged : b->db, DIGEST_ROWS);
    sqlite3 *db = sql_open(b->db);
    const uint64_t rows = digest_query(db, s->result);
    sqlite3_close(db);
    return rows;
}

/* What stands in the database now, as dse reads it; 0: it is not there, or refused with a message. */
static inline uint64_t session_state(const struct session *s, struct power_bed *b)
{
    struct diags d;
    diags_init(&d);
    if (s->find) s->find(b);
    struct reader *r = reader_open(b->db, &d);
    assert_true(r ? d.errors == 0 : d.errors > 0);
    reader_close(r);
    free(b->said);
    b->said = d.errors ? xstrdup(d.list[0].message) : NULL;
    diags_release(&d);
    return r ? digest_of_file(b->db, DIGEST_ALL) : 0;
}

/* ---- recording --------------------------------------------------------------------------------------------------------------- */

/* What had been committed from some moment on. */
struct commit {
    size_t moment;
    uint64_t digest; /* 0: nothing */
};

struct recorded {
    const struct session *session;
    struct disk_log *log;
    uint64_t result; /* of the undisturbed run */
    struct commit *commits;
    size_t n_commits;
};

static inline void show(const struct power_bed *b, const struct disk_log *log, size_t moment, uint64_t luck)
{
    bed_empty_disk(b);
    disk_picture(log, moment, luck, b->disk);
}

/* A commit ends with a sync: what a kill then leaves is what the disk must have from there on. */
static inline void find_commits(struct power_bed *b, struct recorded *r)
{
    for (size_t moment = 0; moment <= r->log->n_events; moment++) {
        if (moment > 0 && r->log->events[moment - 1].kind != DISK_SYNC) continue;
        show(b, r->log, moment, DISK_KILLED);
        const uint64_t digest = session_state(r->session, b);
        if (r->n_commits && digest == r->commits[r->n_commits - 1].digest) continue;
        r->commits = xrealloc(r->commits, r->n_commits + 1, sizeof *r->commits);
        r->commits[r->n_commits++] = (struct commit){moment, digest};
    }
}

static inline void record(struct power_bed *b, const struct session *s, struct recorded *r)
{
    struct diags d;
    diags_init(&d);
    *r = (struct recorded){.session = s};
    session_begin(s, b);
    disk_watch(b->disk);
    const bool ok = s->go_on(b, &d);
    r->log = disk_stop();
    no_errors(&d);
    assert_true(ok);
    diags_release(&d);
    r->result = session_result(s, b);
    find_commits(b, r);
}

static inline void recorded_release(struct recorded *r)
{
    disk_log_free(r->log);
    free(r->commits);
}

#endif
