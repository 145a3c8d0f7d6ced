/* Merging: each input is attached read-only, and its runs are copied into the output, all in one transaction.
 *
 * A run of the same sweep and hash in the output takes the input's rows: they are a pure function of the point, so that a point
 * both have is the same row and is taken once. Other runs get a new id and new ranges of row ids.
 */
#include "store/db.h"
#include "store/digest.h"
#include "store/schema.h"
#include "store/stream.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct merge {
    struct db db;     /* the output */
    const char *path; /* the input, attached as "input" */
    struct diags *diags;
};

/* ---- lists of names -------------------------------------------------------------------------------------------------------- */

/* The strings of a query's first column. */
struct names {
    char **list;
    size_t n;
};

static void names_release(struct names *names)
{
    for (size_t i = 0; i < names->n; i++) free(names->list[i]);
    free(names->list);
    *names = (struct names){0};
}

static bool names_read(const struct merge *m, const char *sql, struct names *ret)
{
    *ret = (struct names){0};
    sqlite3_stmt *stmt = db_prepare(&m->db, m->diags, "%s", sql);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(&m->db, stmt, m->diags)) > 0) {
        ret->list = xrealloc(ret->list, ret->n + 1, sizeof(char *));
        ret->list[ret->n++] = xstrdup((const char *)sqlite3_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
    if (rc < 0) names_release(ret);
    return rc == 0;
}

/* ---- tables and columns ---------------------------------------------------------------------------------------------------- */

/* Add the columns of the input's table to the output's. */
static bool add_columns(const struct merge *m, const char *table, struct column_list *ret_input)
{
    struct column_list own = {0};
    bool ok =
        column_list_read(&m->db, "input", table, ret_input, m->diags) && column_list_read(&m->db, "main", table, &own, m->diags);
    for (size_t i = 0; ok && i < ret_input->n; i++)
        ok = schema_add_column(&m->db, table, &own, ret_input->names[i], ret_input->types[i], m->diags);
    column_list_release(&own);
    return ok;
}

/* The columns from `first` on as SQL: ", "a", "b"". The caller frees it. */
static char *name_list(const struct column_list *l, size_t first)
{
    struct text t;
    text_init(&t);
    for (size_t i = first; i < l->n; i++) {
        char *name = schema_sql(", \"%w\"", l->names[i]);
        text_add(&t, name);
        free(name);
    }
    return text_detach(&t);
}

/* ---- one model of one run -------------------------------------------------------------------------------------------------- */

struct copy {
    const char *model;
    int64_t from, to;  /* run ids in the input and the output */
    char *all, *fixed; /* lists of columns behind the leading ones */
};

/* Adds the number of rows that the output did not have to *ret_added. */
static bool copy_rows(const struct merge *m, const struct copy *c, int64_t *ret_added)
{
    int64_t from_id, to_id, points, own_points;
    if (!db_int(&m->db, &from_id, m->diags, "SELECT first_id FROM input.\"%w_fixed\" WHERE run = %lld", c->model, c->from) ||
        !db_int(&m->db, &points, m->diags, "SELECT points FROM input.\"%w_fixed\" WHERE run = %lld", c->model, c->from) ||
        !db_int(&m->db, &to_id, m->diags, "SELECT first_id FROM main.\"%w_fixed\" WHERE run = %lld", c->model, c->to) ||
        !db_int(&m->db, &own_points, m->diags, "SELECT points FROM main.\"%w_fixed\" WHERE run = %lld", c->model, c->to))
        return false;
    if (points != own_points)
        return diags_runtime(m->diags, m->path, "run %lld has %lld points of %s; the same sweep has %lld in the output",
                             (long long)c->from, (long long)points, c->model, (long long)own_points);
    const bool ok = db_exec(
        &m->db, m->diags,
        "INSERT OR IGNORE INTO main.\"%w_all\"(id, run, point, status, reason, fidelity%s)"
        " SELECT CASE WHEN id > 0 THEN id + %lld ELSE id - %lld END, %lld, point, status, reason, fidelity%s FROM input.\"%w_all\""
        " WHERE id BETWEEN %lld AND %lld OR id BETWEEN %lld AND %lld",
        c->model, c->all, to_id - from_id, to_id - from_id, c->to, c->all, c->model, from_id, from_id + points - 1,
        1 - from_id - points, -from_id);
    if (ok) *ret_added += sqlite3_changes64(m->db.sqlite);
    return ok;
}

static bool copy_fixed(const struct merge *m, const struct copy *c)
{
    int64_t first_id, there;
    if (!db_int(&m->db, &there, m->diags, "SELECT count(*) FROM main.\"%w_fixed\" WHERE run = %lld", c->model, c->to)) return false;
    if (there) return true;
    return db_int(&m->db, &first_id, m->diags, "SELECT coalesce(max(first_id + points), 1) FROM main.\"%w_fixed\"", c->model) &&
           db_exec(&m->db, m->diags,
                   "INSERT INTO main.\"%w_fixed\"(run, first_id, points%s) SELECT %lld, %lld, points%s FROM input.\"%w_fixed\""
                   " WHERE run = %lld",
                   c->model, c->fixed, c->to, first_id, c->fixed, c->model, c->from);
}

/* The ranges of both, joined where they touch or overlap. */
static bool join_blocks(const struct merge *m, const struct copy *c)
{
    return db_exec(
        &m->db, m->diags,
        "CREATE TEMP TABLE joined AS"
        " WITH b(f, l) AS (SELECT \"first\", \"last\" FROM main.block WHERE run = %lld AND model = %Q"
        "  UNION ALL SELECT \"first\", \"last\" FROM input.block WHERE run = %lld AND model = %Q),"
        " s(f, l, fresh) AS (SELECT f, l, f > 1 + max(l) OVER (ORDER BY f, l ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        "  FROM b),"
        " g(f, l, part) AS (SELECT f, l, sum(coalesce(fresh, 1)) OVER (ORDER BY f, l) FROM s)"
        " SELECT min(f) AS f, max(l) AS l FROM g GROUP BY part;"
        "DELETE FROM main.block WHERE run = %lld AND model = %Q;"
        "INSERT INTO main.block SELECT %lld, %Q, f, l FROM joined; DROP TABLE joined",
        c->to, c->model, c->from, c->model, c->to, c->model, c->to, c->model);
}

static bool copy_model(const struct merge *m, const char *model, int64_t from, int64_t to, int64_t *ret_added)
{
    int64_t there;
    if (!db_int(&m->db, &there, m->diags, "SELECT count(*) FROM input.\"%w_fixed\" WHERE run = %lld", model, from)) return false;
    if (!there) return true;
    struct column_list all = {0}, fixed = {0};
    char *all_table = xasprintf("%s_all", model), *fixed_table = xasprintf("%s_fixed", model);
    bool ok = schema_create_bare(&m->db, model, m->diags) && add_columns(m, all_table, &all) && add_columns(m, fixed_table, &fixed);
    struct copy c = {.model = model, .from = from, .to = to};
    c.all = name_list(&all, SCHEMA_LEADING);
    c.fixed = name_list(&fixed, SCHEMA_FIXED_LEADING);
    ok = ok && copy_fixed(m, &c) && copy_rows(m, &c, ret_added) && join_blocks(m, &c);
    free(c.all);
    free(c.fixed);
    column_list_release(&all);
    column_list_release(&fixed);
    free(all_table);
    free(fixed_table);
    return ok;
}

/* ---- one run --------------------------------------------------------------------------------------------------------------- */

/* A column of `run` that an older dse did not have. */
static const char *later_column(const struct column_list *run, const char *name)
{
    return column_list_find(run, name) == SIZE_MAX ? "NULL" : name;
}

/* Points of a run: of its spaces, with a row, feasible, with a row at event level. */
struct tally {
    int64_t points, done, feasible, refined;
};

static bool count_model(const struct merge *m, const char *model, int64_t run, struct tally *t)
{
    int64_t first, n, k, f, e;
    if (!db_int(&m->db, &n, m->diags, "SELECT points FROM main.\"%w_fixed\" WHERE run = %lld", model, run)) return false;
    if (n == 0) return true;
    if (!db_int(&m->db, &first, m->diags, "SELECT first_id FROM main.\"%w_fixed\" WHERE run = %lld", model, run) ||
        !db_int(&m->db, &k, m->diags, "SELECT count(*) FROM main.\"%w_all\" WHERE id BETWEEN %lld AND %lld", model, first,
                first + n - 1) ||
        !db_int(&m->db, &f, m->diags, "SELECT count(*) FROM main.\"%w_all\" WHERE id BETWEEN %lld AND %lld AND status = 'ok'",
                model, first, first + n - 1) ||
        !db_int(&m->db, &e, m->diags, "SELECT count(*) FROM main.\"%w_all\" WHERE id BETWEEN %lld AND %lld", model, 1 - first - n,
                -first))
        return false;
    *t = (struct tally){t->points + n, t->done + k, t->feasible + f, t->refined + e};
    return true;
}

static bool run_tally(const struct merge *m, const char *schema, int64_t run, struct tally *ret)
{
    struct column_list columns;
    if (!column_list_read(&m->db, schema, "run", &columns, m->diags)) return false;
    const char *refined = later_column(&columns, "refined");
    const bool ok =
        db_int(&m->db, &ret->done, m->diags, "SELECT done FROM \"%w\".run WHERE id = %lld", schema, run) &&
        db_int(&m->db, &ret->feasible, m->diags, "SELECT feasible FROM \"%w\".run WHERE id = %lld", schema, run) &&
        db_int(&m->db, &ret->refined, m->diags, "SELECT coalesce(%s, 0) FROM \"%w\".run WHERE id = %lld", refined, schema, run);
    column_list_release(&columns);
    return ok;
}

/* What the output's run has now. Where all rows of the input are new to it, that is the sum of what both were counted to have, so
 * that many parts are not counted anew with each. */
static bool count_run(const struct merge *m, const struct model_list *models, int64_t from, int64_t to, int64_t added,
                      struct tally *ret)
{
    struct tally own, other;
    *ret = (struct tally){0};
    if (!run_tally(m, "main", to, &own) || !run_tally(m, "input", from, &other)) return false;
    const bool is_sum = added == other.done + other.refined;
    for (size_t i = 0; i < models->n; i++) {
        int64_t n = 0;
        if (is_sum && !db_int(&m->db, &n, m->diags, "SELECT points FROM main.\"%w_fixed\" WHERE run = %lld", models->names[i], to))
            return false;
        ret->points += n;
        if (!is_sum && !count_model(m, models->names[i], to, ret)) return false;
    }
    if (is_sum)
        *ret = (struct tally){ret->points, own.done + other.done, own.feasible + other.feasible, own.refined + other.refined};
    return true;
}

/* Status from the counts. A whole run that refines is done when it was so in one of the files: with all its points at hand, its
 * front is still to be refined. So is one that does not store all its points: what it lacks is not seen. */
static bool set_counts(const struct merge *m, int64_t run, const struct tally *t)
{
    return db_exec(
        &m->db, m->diags,
        "UPDATE main.run SET done = %lld, feasible = %lld, planned = CASE WHEN method IS NOT NULL THEN %lld"
        " WHEN shard IS NULL THEN %lld ELSE planned END,"
        " refined = CASE fidelity WHEN 'refine' THEN %lld END WHERE id = %lld;"
        "UPDATE main.run SET status = CASE WHEN method IS NOT NULL AND status <> 'done' THEN 'interrupted'"
        " WHEN done <> planned THEN 'interrupted'"
        " WHEN fidelity = 'refine' AND shard IS NULL AND status <> 'done' THEN 'interrupted' ELSE 'done' END WHERE id = %lld",
        t->done, t->feasible, t->done, t->points, t->refined, run, run);
}

/* The output's run `to` takes in the birth record of the input's run `from`. */
static bool join_birth(const struct merge *m, int64_t from, int64_t to)
{
    return db_exec(&m->db, m->diags,
                   "UPDATE main.run AS o SET hypervolume = NULL, notices = NULL,"
                   " shard = CASE WHEN o.shard = i.shard AND o.shard <> '" STORE_LEASED "' THEN o.shard END,"
                   " status = CASE WHEN (o.shard IS NULL AND o.status = 'done') OR (i.shard IS NULL AND i.status = 'done')"
                   " THEN 'done' ELSE 'interrupted' END,"
                   " started = min(o.started, i.started), ended = max(coalesce(o.ended, i.ended), coalesce(i.ended, '')),"
                   " host = CASE WHEN instr(o.host, i.host) THEN o.host ELSE o.host || ', ' || i.host END"
                   " FROM input.run AS i WHERE o.id = %lld AND i.id = %lld;"
                   "DELETE FROM main.front WHERE run = %lld;DELETE FROM main.budget_front WHERE run = %lld",
                   to, from, to, to);
}

/* The fronts of budgets, which an older dse did not know of. */
static bool copy_budget_fronts(const struct merge *m, int64_t from, int64_t to)
{
    bool there;
    if (!schema_has_table(&m->db, "input", "budget_front", &there, m->diags)) return false;
    return !there ||
           db_exec(&m->db, m->diags,
                   "INSERT INTO main.budget_front SELECT %lld, budget, model, point FROM input.budget_front WHERE run = %lld", to,
                   from);
}

static bool copy_birth(const struct merge *m, int64_t from, int64_t *ret_to)
{
    static const char columns[] =
        "sweep, sweep_text, hash, version, git_commit, models, axes, objectives, seed, fidelity, host, started, ended,"
        " planned, hypervolume, status";
    static const char *const later[] = {"baseline", "requests", "axis_ends", "unequal", "notices", "method", "catalog"};
    struct column_list input; /* an older dse's has not all of them */
    if (!column_list_read(&m->db, "input", "run", &input, m->diags)) return false;
    struct text values, names;
    text_init(&values);
    text_init(&names);
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        text_addf(&names, ", %s", later[i]);
        text_addf(&values, ", %s", later_column(&input, later[i]));
    }
    column_list_release(&input);
    bool ok = db_exec(&m->db, m->diags,
                      "INSERT INTO main.run(shard, done, feasible, %s%s) SELECT nullif(shard, '" STORE_LEASED "'), 0, 0, %s%s FROM"
                      " input.run WHERE id = %lld",
                      columns, names.s, columns, values.s, from);
    text_release(&values);
    text_release(&names);
    *ret_to = sqlite3_last_insert_rowid(m->db.sqlite);
    return ok &&
           db_exec(&m->db, m->diags, "INSERT INTO main.front SELECT %lld, model, point FROM input.front WHERE run = %lld", *ret_to,
                   from) &&
           copy_budget_fronts(m, from, *ret_to);
}

/* The counts by reason of a run that is done (store/stream.h), where the input has some. */
static bool copy_evaluated(const struct merge *m, int64_t from, int64_t to)
{
    int64_t there;
    if (!db_int(&m->db, &there, m->diags,
                "SELECT count(*) FROM input.sqlite_schema s, input.run r WHERE s.name = 'evaluated' AND r.id = %lld"
                " AND r.status = 'done'",
                from))
        return false;
    if (!there) return true;
    return db_exec(&m->db, m->diags,
                   "%s;DELETE FROM main.evaluated WHERE run = %lld;INSERT INTO main.evaluated SELECT %lld, model, status, reason,"
                   " points FROM input.evaluated WHERE run = %lld",
                   stream_tables_sql, to, to, from);
}

/* The digest of the rows of a model that the output has now: what both had where all rows were new, else by reading them. */
static bool digest_model(const struct merge *m, const char *model, int64_t from, int64_t to, bool is_sum)
{
    uint64_t own = 0, other = 0;
    bool own_there, other_there;
    int64_t rows;
    if (!db_int(&m->db, &rows, m->diags, "SELECT count(*) FROM main.\"%w_fixed\" WHERE run = %lld", model, to)) return false;
    if (!rows) return true;
    if (!digest_read(&m->db, "main", to, model, &own, &own_there, m->diags) ||
        !digest_read(&m->db, "input", from, model, &other, &other_there, m->diags))
        return false;
    if (is_sum && other_there) return digest_write(&m->db, to, model, own + other, m->diags);
    return digest_scan(&m->db, to, model, &own, m->diags) && digest_write(&m->db, to, model, own, m->diags);
}

static bool digest_run(const struct merge *m, const struct model_list *models, int64_t from, int64_t to, int64_t added)
{
    struct tally other;
    bool ok = run_tally(m, "input", from, &other);
    for (size_t i = 0; ok && i < models->n; i++)
        ok = digest_model(m, models->names[i], from, to, added == other.done + other.refined);
    return ok && digest_begin(&m->db, to, m->diags) && digest_update(&m->db, to, m->diags);
}

static bool copy_run(const struct merge *m, const struct model_list *models, int64_t from)
{
    int64_t to, added = 0;
    struct tally tally;
    if (!db_int(&m->db, &to, m->diags,
                "SELECT o.id FROM main.run o JOIN input.run i ON o.sweep = i.sweep AND o.hash = i.hash WHERE i.id = %lld"
                " ORDER BY o.id DESC LIMIT 1",
                from))
        return false;
    bool ok = to ? join_birth(m, from, to) : copy_birth(m, from, &to);
    for (size_t i = 0; ok && i < models->n; i++) ok = copy_model(m, models->names[i], from, to, &added);
    return ok && copy_evaluated(m, from, to) && stream_join(&m->db, models, from, to, m->diags) &&
           count_run(m, models, from, to, added, &tally) && set_counts(m, to, &tally) && digest_run(m, models, from, to, added);
}

/* ---- one input ------------------------------------------------------------------------------------------------------------- */

static bool copy_input(const struct merge *m)
{
    struct model_list models = {0};
    struct names runs = {0};
    bool ok = model_list_read(&m->db, "input", &models, m->diags) && names_read(m, "SELECT id FROM input.run ORDER BY id", &runs);
    for (size_t i = 0; ok && i < runs.n; i++) ok = copy_run(m, &models, strtoll(runs.list[i], NULL, 10));
    ok = ok && db_exec(&m->db, m->diags, "INSERT OR IGNORE INTO main.column_info SELECT * FROM input.column_info");
    for (size_t i = 0; ok && i < models.n; i++)
        ok = schema_create_bare(&m->db, models.names[i], m->diags) &&
             schema_create_views(&m->db, models.names[i], SCHEMA_NEWEST, m->diags);
    ok = ok && schema_create_comparison(&m->db, SCHEMA_NEWEST, true, m->diags) && digest_update_columns(&m->db, m->diags);
    model_list_release(&models);
    names_release(&runs);
    return ok;
}

/* file:PATH?mode=ro, and how to read it where there are no locks, with every byte that is not plain written as %XX. */
static char *read_only_uri(const char *file)
{
    struct text t;
    text_init(&t);
    text_add(&t, file[0] == '/' ? "file:" : "file:./");
    for (const char *path = file; *path; path++) {
        if (strchr("%?#", *path) || (unsigned char)*path < ' ')
            text_addf(&t, "%%%02X", (unsigned char)*path);
        else
            text_add_bytes(&t, path, 1);
    }
    text_add(&t, "?mode=ro");
    if (db_is_lockless(file)) text_add(&t, "&vfs=" DB_LOCKLESS_VFS);
    return text_detach(&t);
}

static bool attach(const struct merge *m)
{
    char *uri = read_only_uri(m->path);
    sqlite3_stmt *stmt = db_prepare(&m->db, m->diags, "ATTACH %Q AS input", uri);
    free(uri);
    bool ok = stmt && (sqlite3_step(stmt) == SQLITE_DONE || db_fail(&m->db, m->path, m->diags));
    sqlite3_finalize(stmt);
    return ok;
}

static bool merge_input(const struct merge *m)
{
    if (!attach(m)) return false;
    bool ok = db_begin(&m->db, m->diags);
    ok = db_end(&m->db, ok && copy_input(m), m->diags);
    return db_exec(&m->db, m->diags, "DETACH input") && ok;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------- */

/* Is the input a database of dse, and not the output? All inputs are looked at before anything is written. */
static bool check_input(const char *out, const char *in, struct diags *diags)
{
    struct stat a, b;
    if (stat(out, &a) == 0 && stat(in, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return diags_runtime(diags, in, "is the output itself; name the inputs without it");
    struct db db;
    bool ok = db_open_reader(&db, in, diags);
    db_close(&db);
    return ok;
}

static bool create(const struct merge *m)
{
    bool ok = db_begin(&m->db, m->diags);
    return db_end(&m->db, ok && schema_create_common(&m->db, m->diags), m->diags);
}

bool store_merge(const char *out, const char *const *in, size_t n_in, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < n_in; i++) ok = check_input(out, in[i], diags) && ok;
    struct merge m = {.diags = diags};
    ok = ok && db_open_writer(&m.db, out, diags) && create(&m);
    for (size_t i = 0; ok && i < n_in; i++) {
        m.path = in[i];
        ok = merge_input(&m);
    }
    db_close(&m.db);
    return ok;
}
