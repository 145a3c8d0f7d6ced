/* Opening a store: the schema is brought up to date, and the run is found or begun, in one transaction. */
#include "store/store_internal.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "dse_config.h"
#include "model/fidelity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* ---- finding a run --------------------------------------------------------------------------------------------------------- */

/* A file that holds runs, but none of this sweep, was meant for something else. */
static bool check_belongs(const struct store *st, const struct run_info *info, struct diags *diags)
{
    int64_t runs, own;
    if (!db_int(&st->db, &runs, diags, "SELECT count(*) FROM run") ||
        !db_int(&st->db, &own, diags, "SELECT count(*) FROM run WHERE sweep = %Q", info->sweep))
        return false;
    if (runs == 0 || own > 0) return true;
    sqlite3_stmt *stmt = db_prepare(&st->db, diags, "SELECT group_concat(sweep, ', ') FROM (SELECT DISTINCT sweep FROM run)");
    if (stmt && db_step(&st->db, stmt, diags) > 0)
        diags_runtime(diags, st->db.path, "belongs to another sweep: it holds runs of %s, none of %s; give another file with -o",
                      (const char *)sqlite3_column_text(stmt, 0), info->sweep);
    sqlite3_finalize(stmt);
    return false;
}

/* A part and the whole of one run do not stand in one file: views show the newest run, and the part would hide the whole. */
static bool check_shard(const struct store *st, const struct run_info *info, struct diags *diags)
{
    int64_t others;
    if (!db_int(&st->db, &others, diags,
                "SELECT count(*) FROM run WHERE sweep = %Q AND hash = '%016" PRIx64 "' AND shard IS NOT %Q", info->sweep,
                info->hash, info->shard))
        return false;
    if (others == 0) return true;
    return diags_runtime(diags, st->db.path,
                         "holds this sweep under another --shard, or whole; give each part a file of its own with -o,"
                         " and join them with dse merge");
}

static void warn_of_commit(const struct store *st, const char *commit, bool done, struct diags *diags)
{
    if (strcmp(commit, DSE_COMMIT) == 0) return;
    diags_warn(diags, (struct srcloc){.file = st->db.path}, NULL,
               "run %lld was %s by dse of commit %s, this is %s; --fresh starts anew", (long long)st->run, done ? "made" : "begun",
               commit, DSE_COMMIT);
}

/* The newest run of the same hash and shard: st->run and st->complete. st->run stays 0 when there is none. */
static bool find_run(struct store *st, const struct run_info *info, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(&st->db, diags,
                                    "SELECT id, status = 'done', git_commit FROM run WHERE sweep = %Q AND hash = '%016" PRIx64
                                    "' AND shard IS %Q ORDER BY id DESC LIMIT 1",
                                    info->sweep, info->hash, info->shard);
    int rc = stmt ? db_step(&st->db, stmt, diags) : -1;
    if (rc > 0) {
        st->run = sqlite3_column_int64(stmt, 0);
        st->complete = sqlite3_column_int(stmt, 1);
        warn_of_commit(st, (const char *)sqlite3_column_text(stmt, 2), st->complete, diags);
    }
    sqlite3_finalize(stmt);
    return rc >= 0;
}

/* ---- beginning a run ------------------------------------------------------------------------------------------------------- */

static char *model_versions(const struct store_table *tables, size_t n)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s%s %d", i ? ", " : "", tables[i].model, tables[i].version);
    return text_detach(&t);
}

static uint64_t all_points(const struct store_table *tables, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += tables[i].points;
    return sum;
}

static bool is_refine(const char *fidelity)
{
    return strcmp(fidelity, "refine") == 0;
}

static bool insert_run(struct store *st, const struct run_info *info, const struct store_table *tables, size_t n,
                       struct diags *diags)
{
    struct utsname host;
    bool named = uname(&host) == 0;
    char *models = model_versions(tables, n);
    uint64_t planned = info->planned ? info->planned : all_points(tables, n);
    bool ok = db_exec(
        &st->db, diags,
        "INSERT INTO run(sweep, sweep_text, hash, version, git_commit, models, axes, objectives, seed, fidelity, shard, host,"
        " started, planned, done, feasible, status, baseline, refined, requests, axis_ends, unequal, method, catalog)"
        " VALUES(%Q, %Q, '%016" PRIx64 "', %Q, %Q, %Q, %Q, %Q, NULL, %Q, %Q, %Q,"
        " strftime('%%Y-%%m-%%dT%%H:%%M:%%SZ', 'now'), %" PRIu64 ", 0, 0, 'running', %Q, %s, %Q, %Q, %Q, %Q, %Q)",
        info->sweep, info->sweep_text, info->hash, DSE_VERSION, DSE_COMMIT, models, info->axes ? info->axes : "", info->objectives,
        info->fidelity, info->shard, named ? host.nodename : NULL, planned, info->baseline,
        is_refine(info->fidelity) ? "0" : "NULL", info->requests, info->axis_ends, info->unequal, info->method, info->catalog);
    free(models);
    st->run = sqlite3_last_insert_rowid(st->db.sqlite);
    return ok;
}

static bool insert_fixed(struct store *st, const struct store_table *t, int64_t first_id, struct diags *diags)
{
    struct text names, marks;
    text_init(&names);
    text_init(&marks);
    for (size_t i = 0; i < t->n_params; i++) {
        text_addf(&names, ", \"%s\"", t->params[i].name);
        text_add(&marks, ", ?");
    }
    sqlite3_stmt *stmt = db_prepare(&st->db, diags, "INSERT INTO \"%w_fixed\"(run, first_id, points%s) VALUES(?, ?, ?%s)", t->model,
                                    names.s, marks.s);
    text_release(&names);
    text_release(&marks);
    if (!stmt) return false;
    sqlite3_bind_int64(stmt, 1, st->run);
    sqlite3_bind_int64(stmt, 2, first_id);
    sqlite3_bind_int64(stmt, 3, (int64_t)t->points);
    for (size_t i = 0; i < t->n_params; i++)
        if (!t->params[i].varies) store_bind_cell(stmt, (int)i + 4, t->params[i].type, t->params[i].fixed);
    bool ok = db_run(&st->db, stmt, diags);
    sqlite3_finalize(stmt);
    return ok;
}

/* Reserve the run's range of ids of one model: behind all that were ever reserved. */
static bool begin_model(struct store *st, const struct store_table *t, struct diags *diags)
{
    int64_t first_id;
    if (!db_int(&st->db, &first_id, diags, "SELECT coalesce(max(first_id + points), 1) FROM \"%w_fixed\"", t->model)) return false;
    if (t->points > INT64_MAX || (int64_t)t->points > INT64_MAX - first_id)
        return diags_runtime(diags, st->db.path, "has no row numbers left for %llu points of %s", (unsigned long long)t->points,
                             t->model);
    return insert_fixed(st, t, first_id, diags);
}

static bool begin_run(struct store *st, const struct run_info *info, const struct store_table *tables, size_t n,
                      struct diags *diags)
{
    bool ok = check_belongs(st, info, diags) && check_shard(st, info, diags) && insert_run(st, info, tables, n, diags);
    for (size_t i = 0; ok && i < n; i++) {
        const struct store_table *t = &tables[i];
        ok = schema_create_model(&st->db, t, diags) && begin_model(st, t, diags) && schema_describe(&st->db, t, diags) &&
             schema_create_views(&st->db, t->model, SCHEMA_NEWEST, diags);
    }
    return ok && schema_create_comparison(&st->db, SCHEMA_NEWEST, true, diags);
}

/* ---- digests --------------------------------------------------------------------------------------------------------------- */

/* What this dse found of the run gets the digests that it has not, because an older dse wrote it, or nothing is there yet. */
static bool complete_digests(const struct store *st, const struct store_table *tables, size_t n, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t hash;
        bool there;
        ok = digest_read(&st->db, "main", st->run, tables[i].model, &hash, &there, diags);
        if (!ok || there) continue;
        ok = digest_scan(&st->db, st->run, tables[i].model, &hash, diags) &&
             digest_write(&st->db, st->run, tables[i].model, hash, diags);
    }
    return ok && digest_begin(&st->db, st->run, diags) && digest_update(&st->db, st->run, diags) &&
           digest_update_columns(&st->db, diags);
}

/* ---- opening --------------------------------------------------------------------------------------------------------------- */

static bool find_or_begin(struct store *st, const struct run_info *info, const struct store_table *tables, size_t n, unsigned flags,
                          struct diags *diags)
{
    if (!schema_create_common(&st->db, diags)) return false;
    if (flags & STORE_WHOLE && !store_reclaim(&st->db, info, diags)) return false;
    if (!(flags & STORE_FRESH) && !find_run(st, info, diags)) return false;
    if (flags & STORE_WHOLE && !st->complete) st->run = 0;
    if (!st->run) return begin_run(st, info, tables, n, diags);
    if (!schema_create_comparison(&st->db, SCHEMA_NEWEST, false, diags)) return false;
    if (st->complete) return true;
    return db_exec(&st->db, diags, "UPDATE run SET status = 'running', ended = NULL WHERE id = %lld", (long long)st->run);
}

/* What the run's fixed row says, and the statements for writing. */
static bool open_model(struct store *st, size_t m, const struct store_table *t, struct diags *diags)
{
    struct store_model *model = &st->models[m];
    model->name = xstrdup(t->model);
    model->run = st->run;
    model->points = t->points;
    model->at_events = strcmp(st->fidelity, fidelity_names[FIDELITY_EVENT_LEVEL]) == 0;
    int64_t points;
    if (!db_int(&st->db, &model->first_id, diags, "SELECT first_id FROM \"%w_fixed\" WHERE run = %lld", t->model,
                (long long)st->run) ||
        !db_int(&st->db, &points, diags, "SELECT points FROM \"%w_fixed\" WHERE run = %lld", t->model, (long long)st->run))
        return false;
    if ((uint64_t)points != t->points)
        return diags_runtime(diags, st->db.path, "run %lld has %lld points of %s where the sweep has %llu; --fresh starts anew",
                             (long long)st->run, (long long)points, t->model, (unsigned long long)t->points);
    bool there;
    return digest_read(&st->db, "main", st->run, t->model, &model->hash, &there, diags) && source_prepare(st, m, t, diags);
}

static bool open_tables(struct store *st, const struct run_info *info, const struct store_table *tables, size_t n, unsigned flags,
                        struct diags *diags)
{
    bool ok = db_begin(&st->db, diags);
    ok = ok && find_or_begin(st, info, tables, n, flags, diags) && complete_digests(st, tables, n, diags);
    ok = db_end(&st->db, ok, diags);
    st->fidelity = xstrdup(info->fidelity);
    st->refines = is_refine(info->fidelity);
    st->objectives = xstrdup(info->objectives);
    st->models = xcalloc(n, sizeof *st->models);
    for (; ok && st->n_models < n; st->n_models++) ok = open_model(st, st->n_models, &tables[st->n_models], diags);
    if (!ok) return false;
    st->block =
        db_prepare(&st->db, diags, "INSERT INTO block(run, model, \"first\", \"last\") VALUES(%lld, ?, ?, ?)", (long long)st->run);
    st->count =
        db_prepare(&st->db, diags, "UPDATE run SET done = done + ?, feasible = feasible + ? WHERE id = %lld", (long long)st->run);
    return st->block && st->count;
}

struct store *store_open_tables(const char *path, const struct run_info *info, const struct store_table *tables, size_t n_tables,
                                unsigned flags, struct diags *diags)
{
    bool named = true; /* asked before a file is made */
    for (size_t i = 0; i < n_tables; i++) named = schema_check_names(&tables[i], diags) && named;
    if (!named) return NULL;
    struct store *st = xcalloc(1, sizeof *st);
    const bool opened = flags & STORE_PRIVATE ? db_open_private(&st->db, path, diags) : db_open_writer(&st->db, path, diags);
    if (opened && open_tables(st, info, tables, n_tables, flags, diags)) return st;
    store_close(st);
    return NULL;
}

void store_close(struct store *st)
{
    if (!st) return;
    transfer_close(st);
    for (size_t m = 0; st->models && m < st->n_models; m++) {
        encoder_free(st->models[m].encoder);
        sqlite3_finalize(st->models[m].insert);
        sqlite3_finalize(st->models[m].one);
        free(st->models[m].types);
        digest_row_release(&st->models[m].digest);
        free(st->models[m].name);
    }
    sqlite3_finalize(st->block);
    sqlite3_finalize(st->count);
    db_close(&st->db);
    free(st->models);
    free(st->fidelity);
    free(st->objectives);
    free(st);
}

int64_t store_run(const struct store *st)
{
    return st->run;
}

bool store_complete(const struct store *st)
{
    return st->complete;
}

size_t store_models(const struct store *st)
{
    return st->n_models;
}

const char *store_objectives(const struct store *st)
{
    return st->objectives;
}

/* ---- a run that is there --------------------------------------------------------------------------------------------------- */

/* Find the models of the run: those that have a row of it in MODEL_fixed. */
static bool find_models(struct store *st, struct diags *diags)
{
    struct model_list all;
    bool ok = model_list_read(&st->db, "main", &all, diags);
    for (size_t i = 0; ok && i < all.n; i++) {
        int64_t there;
        ok = db_int(&st->db, &there, diags, "SELECT count(*) FROM \"%w_fixed\" WHERE run = %lld", all.names[i], (long long)st->run);
        if (!ok || !there) continue;
        st->models = xrealloc(st->models, st->n_models + 1, sizeof *st->models);
        st->models[st->n_models++] = (struct store_model){.name = xstrdup(all.names[i]), .run = st->run};
    }
    model_list_release(&all);
    return ok;
}

static bool find_objectives(struct store *st, struct diags *diags)
{
    sqlite3_stmt *stmt =
        db_prepare(&st->db, diags, "SELECT objectives, status = 'done', fidelity FROM run WHERE id = %lld", (long long)st->run);
    int rc = stmt ? db_step(&st->db, stmt, diags) : -1;
    if (rc > 0) {
        st->objectives = xstrdup((const char *)sqlite3_column_text(stmt, 0));
        st->complete = sqlite3_column_int(stmt, 1);
        st->fidelity = xstrdup((const char *)sqlite3_column_text(stmt, 2));
        st->refines = is_refine(st->fidelity);
    }
    sqlite3_finalize(stmt);
    if (rc == 0) diags_runtime(diags, st->db.path, "has no run %lld", (long long)st->run);
    return rc > 0;
}

struct store *store_open_run(const char *path, int64_t run, struct diags *diags)
{
    struct store *st = xcalloc(1, sizeof *st);
    st->run = run;
    if (db_open_writer(&st->db, path, diags) && find_objectives(st, diags) && find_models(st, diags)) return st;
    store_close(st);
    return NULL;
}

int64_t *store_runs(const char *path, size_t *ret_n, struct diags *diags)
{
    struct db db;
    int64_t *ids = xcalloc(1, sizeof *ids);
    *ret_n = 0;
    bool opened = db_open_reader(&db, path, diags);
    sqlite3_stmt *stmt = opened ? db_prepare(&db, diags, "SELECT id FROM run ORDER BY id") : NULL;
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(&db, stmt, diags)) > 0) {
        ids = xrealloc(ids, *ret_n + 1, sizeof *ids);
        ids[(*ret_n)++] = sqlite3_column_int64(stmt, 0);
    }
    sqlite3_finalize(stmt);
    if (opened) db_close(&db);
    if (rc == 0) return ids;
    free(ids);
    return NULL;
}
