#include "store/digest.h"

#include "base/xalloc.h"
#include "model/fidelity.h"
#include "store/schema.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

enum { WORD = 8 };

/* One-to-one in the word (the end of splitmix64). */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (h ^= n; n > 0;) {
        const size_t some = n < WORD ? n : WORD;
        uint64_t word = 0;
        memcpy(&word, at, some);
        h = mixed(h ^ word);
        at += some;
        n -= some;
    }
    return h;
}

/* SQL does not tell upper from lower case in names. */
static uint64_t key_of(const char *name)
{
    uint64_t h = 0x9E3779B97F4A7C15u;
    for (; *name; name++) h = mixed(h ^ (uint64_t)tolower((unsigned char)*name));
    return h;
}

/* A number is the same as a whole number and as a double, and so is zero with either sign: SQLite keeps it in either form. */
static uint64_t of_f64(uint64_t key, double v)
{
    uint64_t bits;
    if (isnan(v)) return 0;
    v += 0.0;
    memcpy(&bits, &v, sizeof bits);
    return mixed(key + mixed(bits));
}

static uint64_t of_i64(uint64_t key, int64_t v)
{
    static const double limit = 9007199254740992.0; /* 2^53: beyond it not every integer is a double */
    const double number = (double)v;
    return number >= -limit && number <= limit ? of_f64(key, number) : mixed(key ^ mixed((uint64_t)v));
}

static uint64_t of_bytes(uint64_t key, const void *bytes, size_t n)
{
    return mixed(key + hash_bytes(key, bytes, n));
}

static uint64_t of_text(uint64_t key, const char *s)
{
    return s ? of_bytes(key, s, strlen(s)) : 0;
}

/* ---- rows that are written --------------------------------------------------------------------------------------------------- */

void digest_row_init(struct digest_row *ret, const struct column *columns, size_t n)
{
    const uint64_t status = key_of("status"), fidelity = key_of("fidelity");
    *ret = (struct digest_row){.point = key_of("point"),
                               .reason = key_of("reason"),
                               .feasible = of_text(status, "ok"),
                               .infeasible = of_text(status, "infeasible"),
                               .closed_form = of_text(fidelity, fidelity_names[FIDELITY_CLOSED_FORM]),
                               .at_events = of_text(fidelity, fidelity_of_row(FIDELITY_EVENT_LEVEL, false)),
                               .measured = of_text(fidelity, fidelity_of_row(FIDELITY_EVENT_LEVEL, true)),
                               .keys = xcalloc(n + 1, sizeof *ret->keys),
                               .types = xcalloc(n + 1, sizeof *ret->types),
                               .n = n};
    for (size_t i = 0; i < n; i++) {
        ret->keys[i] = key_of(columns[i].name);
        ret->types[i] = columns[i].type;
    }
}

void digest_row_release(struct digest_row *r)
{
    free(r->keys);
    free(r->types);
    *r = (struct digest_row){0};
}

static uint64_t of_cell(uint64_t key, enum dse_type type, union cell cell)
{
    if (type == DSE_TYPE_F64) return of_f64(key, cell.f64);
    if (type != DSE_TYPE_I64) return of_text(key, cell.text);
    return cell.i64 == INT64_MIN ? 0 : of_i64(key, cell.i64);
}

uint64_t digest_row_of(const struct digest_row *r, uint64_t point, bool at_events, const union cell *cells, const struct row *row)
{
    uint64_t h = of_i64(r->point, (int64_t)point) + of_text(r->reason, row->reason);
    h += row->reason ? r->infeasible : r->feasible;
    h += row->is_measured ? r->measured : at_events ? r->at_events : r->closed_form;
    for (size_t i = 0; i < r->n; i++) h += of_cell(r->keys[i], r->types[i], cells[i]);
    return mixed(h);
}

uint64_t digest_block_of(const struct digest_row *r, const struct row_block *block, bool at_events)
{
    uint64_t h = 0;
    for (size_t i = 0; i < block->n; i++)
        h += digest_row_of(r, block->first + i, at_events, block->cells + i * r->n, &block->rows[i]);
    return h;
}

/* ---- rows that are read ------------------------------------------------------------------------------------------------------ */

static uint64_t of_column(uint64_t key, sqlite3_stmt *stmt, int i)
{
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER: return of_i64(key, sqlite3_column_int64(stmt, i));
    case SQLITE_FLOAT: return of_f64(key, sqlite3_column_double(stmt, i));
    case SQLITE_TEXT: return of_text(key, (const char *)sqlite3_column_text(stmt, i));
    case SQLITE_BLOB: return of_bytes(~key, sqlite3_column_blob(stmt, i), (size_t)sqlite3_column_bytes(stmt, i));
    default: return 0;
    }
}

/* Add up all rows of a query; the statement is finalized. Columns of the names that are left out count nothing. */
static bool add_rows(const struct db *db, sqlite3_stmt *stmt, const char *const *left_out, uint64_t *ret, struct diags *diags)
{
    const int n = stmt ? sqlite3_column_count(stmt) : 0;
    uint64_t *keys = xcalloc((size_t)n + 1, sizeof *keys);
    bool *counts = xcalloc((size_t)n + 1, sizeof *counts);
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(stmt, i);
        keys[i] = key_of(name);
        counts[i] = true;
        for (const char *const *out = left_out; out && *out; out++) counts[i] = counts[i] && sqlite3_stricmp(*out, name) != 0;
    }
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, stmt, diags)) > 0) {
        uint64_t h = 0;
        for (int i = 0; i < n; i++)
            if (counts[i]) h += of_column(keys[i], stmt, i);
        *ret += mixed(h);
    }
    sqlite3_finalize(stmt);
    free(keys);
    free(counts);
    return rc == 0;
}

bool digest_scan(const struct db *db, int64_t run, const char *model, uint64_t *ret, struct diags *diags)
{
    static const char *const left_out[] = {"id", "run", NULL};
    *ret = 0;
    for (int refined = 0; refined < 2; refined++) {
        sqlite3_stmt *stmt = db_prepare(
            db, diags,
            "SELECT a.* FROM main.\"%w_fixed\" f CROSS JOIN main.\"%w_all\" a WHERE f.run = %lld AND a.run = f.run AND a.id %s",
            model, model, (long long)run,
            refined ? "> -f.first_id - f.points AND a.id <= -f.first_id" : ">= f.first_id AND a.id < f.first_id + f.points");
        if (!add_rows(db, stmt, left_out, ret, diags)) return false;
    }
    return true;
}

/* ---- what is stored ---------------------------------------------------------------------------------------------------------- */

/* The stored digest; *ret_there is false when there is none. */
static bool read_hash(const struct db *db, const char *schema, int64_t run, const char *of, uint64_t *ret, bool *ret_there,
                      struct diags *diags)
{
    sqlite3_stmt *stmt =
        db_prepare(db, diags, "SELECT hash FROM \"%w\".digest WHERE run = %lld AND of = %Q", schema, (long long)run, of);
    const int rc = stmt ? db_step(db, stmt, diags) : -1;
    *ret_there = rc > 0;
    *ret = rc > 0 ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    return rc >= 0;
}

/* What is there already is not written: the file stays as it is. */
static bool write_hash(const struct db *db, int64_t run, const char *of, uint64_t hash, struct diags *diags)
{
    uint64_t stored;
    bool there;
    if (!read_hash(db, "main", run, of, &stored, &there, diags)) return false;
    if (there && stored == hash) return true;
    return db_exec(db, diags, "INSERT OR REPLACE INTO main.digest VALUES(%lld, %Q, %lld)", (long long)run, of, (long long)hash);
}

bool digest_read(const struct db *db, const char *schema, int64_t run, const char *model, uint64_t *ret, bool *ret_there,
                 struct diags *diags)
{
    char *of = xasprintf("%s_all", model);
    *ret = 0;
    bool ok = schema_has_table(db, schema, "digest", ret_there, diags);
    if (ok && *ret_there) ok = read_hash(db, schema, run, of, ret, ret_there, diags);
    free(of);
    return ok;
}

bool digest_write(const struct db *db, int64_t run, const char *model, uint64_t hash, struct diags *diags)
{
    char *of = xasprintf("%s_all", model);
    const bool ok = write_hash(db, run, of, hash, diags);
    free(of);
    return ok;
}

/* ---- the other tables -------------------------------------------------------------------------------------------------------- */

/* Digest the rows of the run in a table that is there. */
static bool of_table(const struct db *db, int64_t run, const char *table, uint64_t *ret, struct diags *diags)
{
    *ret = 0;
    return add_rows(
        db, db_prepare(db, diags, "SELECT * FROM main.\"%w\" WHERE \"%w\" = %lld", table, schema_run_column(table), (long long)run),
        NULL, ret, diags);
}

/* Call `visit` for each of these tables that is there. */
static bool each_table(const struct db *db, int64_t run, bool (*visit)(const struct db *, int64_t, const char *, struct diags *),
                       struct diags *diags)
{
    struct model_list models;
    bool ok = model_list_read(db, "main", &models, diags);
    for (const char *const *t = schema_run_tables; ok && *t; t++) {
        bool there;
        ok = schema_has_table(db, "main", *t, &there, diags) && (!there || visit(db, run, *t, diags));
    }
    for (size_t i = 0; ok && i < models.n; i++) {
        char *fixed = xasprintf("%s_fixed", models.names[i]);
        ok = visit(db, run, fixed, diags);
        free(fixed);
    }
    model_list_release(&models);
    return ok;
}

static bool update_table(const struct db *db, int64_t run, const char *table, struct diags *diags)
{
    uint64_t hash;
    return of_table(db, run, table, &hash, diags) && write_hash(db, run, table, hash, diags);
}

static bool remove_table(const struct db *db, int64_t run, const char *table, struct diags *diags)
{
    return db_exec(db, diags, "DELETE FROM main.digest WHERE run = %lld AND of = %Q", (long long)run, table);
}

bool digest_update(const struct db *db, int64_t run, struct diags *diags)
{
    int64_t running;
    return db_int(db, &running, diags, "SELECT status = 'running' FROM main.run WHERE id = %lld", (long long)run) &&
           each_table(db, run, running ? remove_table : update_table, diags);
}

static bool of_columns(const struct db *db, uint64_t *ret, struct diags *diags)
{
    *ret = 0;
    return add_rows(db, db_prepare(db, diags, "SELECT * FROM main.column_info"), NULL, ret, diags);
}

bool digest_update_columns(const struct db *db, struct diags *diags)
{
    uint64_t hash;
    return of_columns(db, &hash, diags) && write_hash(db, 0, "column_info", hash, diags);
}

/* ---- comparing --------------------------------------------------------------------------------------------------------------- */

static bool differs(const struct db *db, int64_t run, const char *of, struct diags *diags)
{
    static const char by[] = "not as dse wrote it: another program changed it, or the disk; --fresh runs the sweep anew";
    if (run == 0) return diags_runtime(diags, db->path, "is damaged: %s is %s", of, by);
    return diags_runtime(diags, db->path, "is damaged: %s of run %lld is %s", of, (long long)run, by);
}

static bool check_table(const struct db *db, int64_t run, const char *table, struct diags *diags)
{
    uint64_t stored, hash;
    bool there;
    return read_hash(db, "main", run, table, &stored, &there, diags) && of_table(db, run, table, &hash, diags) &&
           (stored == hash || differs(db, run, table, diags));
}

/* The rows of all models; a model without a digest has none. */
static bool check_rows(const struct db *db, int64_t run, struct diags *diags)
{
    struct model_list models;
    bool ok = model_list_read(db, "main", &models, diags);
    for (size_t i = 0; ok && i < models.n; i++) {
        uint64_t stored, hash;
        bool there;
        char *all = xasprintf("%s_all", models.names[i]);
        ok = digest_read(db, "main", run, models.names[i], &stored, &there, diags) &&
             digest_scan(db, run, models.names[i], &hash, diags) && (stored == hash || differs(db, run, all, diags));
        free(all);
    }
    model_list_release(&models);
    return ok;
}

bool digest_begin(const struct db *db, int64_t run, struct diags *diags)
{
    return db_exec(db, diags, "UPDATE main.run SET digests = 1 WHERE id = %lld AND digests IS NOT 1", (long long)run);
}

/* Runs that have digests, as their records say: none in a database of an older dse. */
static bool count_digested(const struct db *db, int64_t *ret, struct diags *diags)
{
    int64_t there;
    *ret = 0;
    return db_int(db, &there, diags, "SELECT count(*) FROM pragma_table_info('run', 'main') WHERE name = 'digests'") &&
           (!there || db_int(db, ret, diags, "SELECT count(*) FROM main.run WHERE digests IS NOT NULL"));
}

/* A run that is running has digests of its rows alone: with others, somebody made it so. */
static bool check_running(const struct db *db, int64_t run, struct diags *diags)
{
    int64_t n;
    return db_int(db, &n, diags, "SELECT count(*) FROM main.digest WHERE run = %lld AND of NOT LIKE '%%\\_all' ESCAPE '\\'",
                  (long long)run) &&
           (n == 0 || differs(db, run, "run", diags));
}

static bool check_run(const struct db *db, int64_t run, bool running, bool rows, struct diags *diags)
{
    return (running ? check_running(db, run, diags) : each_table(db, run, check_table, diags)) &&
           (!rows || check_rows(db, run, diags));
}

static bool check_columns(const struct db *db, struct diags *diags)
{
    uint64_t stored, hash;
    bool there;
    return read_hash(db, "main", 0, "column_info", &stored, &there, diags) && of_columns(db, &hash, diags) &&
           (stored == hash || differs(db, 0, "column_info", diags));
}

/* Digests of runs, and of tables, that are not there: they were taken away. */
static bool check_present(const struct db *db, struct diags *diags)
{
    int64_t runs, tables_gone;
    return db_int(db, &runs, diags,
                  "SELECT count(*) FROM main.digest WHERE run <> 0 AND run NOT IN (SELECT id FROM main.run"
                  " WHERE digests IS NOT NULL)") &&
           db_int(db, &tables_gone, diags,
                  "SELECT count(*) FROM main.digest WHERE of NOT IN (SELECT name FROM main.sqlite_schema WHERE type = 'table')") &&
           (runs == 0 || diags_runtime(diags, db->path, "is damaged: the record of a run is missing")) &&
           (tables_gone == 0 || diags_runtime(diags, db->path, "is damaged: a table is missing that a run has rows in"));
}

bool digest_check(const struct db *db, bool rows, struct diags *diags)
{
    bool there;
    int64_t digested;
    if (!schema_has_table(db, "main", "digest", &there, diags) || !count_digested(db, &digested, diags)) return false;
    if (!there && digested) return diags_runtime(diags, db->path, "is damaged: the table digest is missing");
    if (!there) return true;
    if (!digested) return check_present(db, diags);
    sqlite3_stmt *runs = db_prepare(db, diags, "SELECT id, status = 'running' FROM main.run WHERE digests IS NOT NULL ORDER BY id");
    int rc = runs ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, runs, diags)) > 0)
        if (!check_run(db, sqlite3_column_int64(runs, 0), sqlite3_column_int(runs, 1) != 0, rows, diags)) rc = -1;
    sqlite3_finalize(runs);
    return rc == 0 && check_columns(db, diags) && check_present(db, diags);
}
