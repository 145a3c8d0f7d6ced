#include "store/check.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/digest.h"
#include "store/schema.h"
#include "store/seal.h"
#include "store/whole.h"

#include <stdlib.h>
#include <string.h>

struct checking {
    const struct db *db;
    struct model_list models;
    struct text found; /* of the check that is under way */
    struct diags diags;
};

/* ---- counting what is wrong ------------------------------------------------------------------------------------------------ */

static void say_count(struct checking *c, int64_t n, const char *what)
{
    char count[TEXT_NUMBER_MAX];
    text_addf(&c->found, "%s%s %s", c->found.n ? "; " : "", text_count(count, (uint64_t)n), what);
}

/* Is the number that a query of one cell gives 0? Says so otherwise; also false when it fails. The statement is freed. */
static bool check_none(struct checking *c, char *sql, const char *what)
{
    int64_t n;
    bool ok = db_int(c->db, &n, &c->diags, "%s", sql);
    free(sql);
    if (ok && n != 0) say_count(c, n, what);
    return ok && n == 0;
}

/* ---- the file -------------------------------------------------------------------------------------------------------------- */

static bool check_seal(struct checking *c)
{
    enum seal_state seal;
    if (!seal_check(c->db, &seal, &c->diags)) return false;
    text_add(&c->found, seal == SEAL_INTACT ? "whole"
                        : seal == SEAL_NONE ? "none: the values were not checked"
                                            : "bytes are not those that dse wrote");
    return seal != SEAL_BROKEN;
}

static bool check_size(struct checking *c)
{
    int64_t bytes;
    if (!whole_check_size(c->db, &bytes, &c->diags)) return false;
    say_count(c, bytes, "bytes");
    return true;
}

static bool check_pages(struct checking *c)
{
    sqlite3_stmt *stmt = db_prepare(c->db, &c->diags, "PRAGMA main.integrity_check(3)");
    int rc = stmt ? 1 : -1;
    bool ok = true;
    while (rc > 0 && (rc = db_step(c->db, stmt, &c->diags)) > 0) {
        const char *said = (const char *)sqlite3_column_text(stmt, 0);
        ok = ok && said && strcmp(said, "ok") == 0;
        if (!ok) text_addf(&c->found, "%s%s", c->found.n ? "; " : "", said ? said : "");
    }
    sqlite3_finalize(stmt);
    return rc == 0 && ok;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

static bool check_rows(struct checking *c)
{
    int64_t rows;
    if (!whole_check_rows(c->db, &c->diags) || !db_int(c->db, &rows, &c->diags, "SELECT sum(done) FROM main.run")) return false;
    bool ok = true;
    struct text feasible; /* of all models of a run */
    text_init(&feasible);
    for (size_t i = 0; i < c->models.n; i++) {
        char *one = schema_sql(" + (SELECT count(*) FROM main.\"%w_fixed\" f JOIN main.\"%w_all\" a ON a.id >= f.first_id"
                               " AND a.id < f.first_id + f.points AND a.status = 'ok' WHERE f.run = r.id)",
                               c->models.names[i], c->models.names[i]);
        text_add(&feasible, one);
        free(one);
    }
    ok = check_none(c, schema_sql("SELECT count(*) FROM main.run r WHERE feasible <> 0%s", feasible.s),
                    "runs with another number of feasible rows than was stored");
    text_release(&feasible);
    if (ok) say_count(c, rows, "rows");
    return ok;
}

static bool check_points(struct checking *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->models.n; i++) {
        const char *m = c->models.names[i];
        ok = check_none(c,
                        schema_sql("SELECT (SELECT count(*) FROM main.\"%w_fixed\" f JOIN main.\"%w_all\" a ON a.id >= f.first_id"
                                   " AND a.id < f.first_id + f.points WHERE a.run IS NOT f.run OR a.point IS NOT a.id - f.first_id)"
                                   " + (SELECT count(*) FROM main.\"%w_fixed\" f JOIN main.\"%w_all\" a"
                                   " ON a.id > -f.first_id - f.points AND a.id <= -f.first_id"
                                   " WHERE a.run IS NOT f.run OR a.point IS NOT -a.id - f.first_id)",
                                   m, m, m, m),
                        "rows of another run or point than their id says") &&
             ok;
        ok = check_none(
                 c,
                 schema_sql(
                     "SELECT (SELECT count(*) FROM main.\"%w_all\") - (SELECT coalesce(sum((SELECT count(*) FROM main.\"%w_all\" a"
                     " WHERE a.id >= f.first_id AND a.id < f.first_id + f.points) + (SELECT count(*) FROM main.\"%w_all\" a"
                     " WHERE a.id > -f.first_id - f.points AND a.id <= -f.first_id)), 0) FROM main.\"%w_fixed\" f)",
                     m, m, m, m),
                 "rows of no run") &&
             ok;
        ok = check_none(c, schema_sql("SELECT count(*) FROM main.\"%w_fixed\" WHERE run NOT IN (SELECT id FROM main.run)", m),
                        "runs without a record") &&
             ok;
    }
    return ok;
}

enum { TYPES_AT_ONCE = 200 }; /* of a sum: SQLite takes a thousand */

/* " + (typeof(x) NOT IN (...))" for columns of the table from `first` on that have a declared type. */
static char *wrong_types(const struct column_list *l, size_t first)
{
    struct text t;
    text_init(&t);
    for (size_t i = first; i < l->n && i < first + TYPES_AT_ONCE; i++) {
        const char *types = strcmp(l->types[i], "REAL") == 0      ? "'real', 'integer', 'null'"
                            : strcmp(l->types[i], "INTEGER") == 0 ? "'integer', 'null'"
                            : strcmp(l->types[i], "TEXT") == 0    ? "'text', 'null'"
                                                                  : NULL;
        if (!types) continue;
        char *one = schema_sql("%s(typeof(\"%w\") NOT IN (%s))", t.n ? " + " : "", l->names[i], types);
        text_add(&t, one);
        free(one);
    }
    if (!t.n) text_add(&t, "0");
    return text_detach(&t);
}

static bool check_types(struct checking *c, char *table)
{
    struct column_list l;
    bool ok = column_list_read(c->db, "main", table, &l, &c->diags);
    for (size_t i = 0; ok && i < l.n; i += TYPES_AT_ONCE) {
        char *types = wrong_types(&l, i);
        ok = check_none(c, schema_sql("SELECT coalesce(sum(%s), 0) FROM main.\"%w\"", types, table),
                        "values of another type than their column");
        free(types);
    }
    column_list_release(&l);
    free(table);
    return ok;
}

static bool check_values(struct checking *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->models.n; i++) {
        const char *m = c->models.names[i];
        ok = check_none(
                 c,
                 schema_sql("SELECT count(*) FROM main.\"%w_all\" WHERE (status IS 'ok' AND reason IS NOT NULL) OR status IS NULL"
                            " OR status NOT IN ('ok', 'infeasible') OR (status = 'infeasible' AND reason IS NULL)",
                            m),
                 "rows with an unknown status, or with a reason that does not fit it") &&
             ok;
        ok = check_types(c, xasprintf("%s_all", m)) && ok;
        ok = check_types(c, xasprintf("%s_fixed", m)) && ok;
    }
    return ok;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------------ */

static bool check_blocks(struct checking *c)
{
    bool ok = check_none(c,
                         schema_sql("SELECT count(*) FROM main.block b JOIN main.block o ON o.run = b.run AND o.model = b.model"
                                    " AND o.\"first\" > b.\"first\" AND o.\"first\" <= b.\"last\""),
                         "blocks that overlap");
    ok = check_none(c, schema_sql("SELECT count(*) FROM main.block WHERE \"last\" < \"first\" OR \"first\" < 0"),
                    "blocks that end before they begin") &&
         ok;
    ok = check_none(c, schema_sql("SELECT count(*) FROM main.run WHERE status = 'done' AND done <> planned"),
                    "runs that are done without all their points") &&
         ok;
    for (size_t i = 0; i < c->models.n; i++) {
        const char *m = c->models.names[i];
        ok = check_none(
                 c,
                 schema_sql("SELECT count(*) FROM main.block b LEFT JOIN main.\"%w_fixed\" f ON f.run = b.run WHERE b.model = %Q"
                            " AND (f.run IS NULL OR b.\"last\" >= f.points)",
                            m, m),
                 "blocks outside of their space") &&
             ok;
    }
    return ok;
}

/* Has each point of a table of fronts a feasible row? */
static bool check_front_table(struct checking *c, const char *table)
{
    bool ok = true;
    for (size_t i = 0; i < c->models.n; i++) {
        const char *m = c->models.names[i];
        ok = check_none(
                 c,
                 schema_sql(
                     "SELECT count(*) FROM main.%s p LEFT JOIN main.\"%w_fixed\" f ON f.run = p.run LEFT JOIN"
                     " main.\"%w_all\" a ON a.id = f.first_id + p.point WHERE p.model = %Q AND (a.id IS NULL OR p.point < 0 OR"
                     " p.point >= f.points OR a.status <> 'ok')",
                     table, m, m, m),
                 "points on a front without a feasible row") &&
             ok;
    }
    return ok;
}

static bool check_fronts(struct checking *c)
{
    int64_t n;
    bool ok = check_front_table(c, "front"), there;
    if (!schema_has_table(c->db, "main", "budget_front", &there, &c->diags)) return false;
    if (there) ok = check_front_table(c, "budget_front") && ok;
    ok = ok && db_int(c->db, &n, &c->diags, "SELECT count(*) FROM main.front");
    if (ok) say_count(c, n, "points on fronts");
    return ok;
}

static bool check_digests(struct checking *c)
{
    return digest_check(c->db, true, &c->diags);
}

/* ---- what describes them ---------------------------------------------------------------------------------------------------- */

static bool check_columns(struct checking *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->models.n; i++)
        ok = check_none(
                 c,
                 schema_sql("SELECT count(*) FROM pragma_table_info(%Q) WHERE name NOT IN (SELECT column_name FROM main.column_info"
                            " WHERE table_name = %Q)",
                            c->models.names[i], c->models.names[i]),
                 "columns without a description") &&
             ok;
    return ok;
}

/* Compare the views of the file with those that are made anew from its tables. */
static bool check_views(struct checking *c)
{
    if (!schema_show_run(c->db, SCHEMA_NEWEST_HERE, &c->diags)) return false;
    sqlite3_stmt *stmt =
        db_prepare(c->db, &c->diags,
                   "SELECT t.name, m.sql FROM temp.sqlite_schema t LEFT JOIN main.sqlite_schema m ON m.type = 'view'"
                   " AND m.name = t.name WHERE t.type = 'view'"
                   " AND substr(t.sql, instr(t.sql, ' VIEW ')) IS NOT substr(m.sql, instr(m.sql, ' VIEW '))");
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(c->db, stmt, &c->diags)) > 0)
        text_addf(&c->found, "%s%s is %s", c->found.n ? "; " : "", (const char *)sqlite3_column_text(stmt, 0),
                  sqlite3_column_type(stmt, 1) == SQLITE_NULL ? "missing" : "that of an older dse, or of another program");
    sqlite3_finalize(stmt);
    return rc == 0 && c->found.n == 0;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------- */

/* The checks in the order in which they are reported. `dse check --help` says what each of them is. */
static const struct {
    const char *name;
    bool (*look)(struct checking *c);
} checks[] = {
    {"seal", check_seal},       {"size", check_size},     {"pages", check_pages},     {"rows", check_rows},
    {"points", check_points},   {"values", check_values}, {"blocks", check_blocks},   {"fronts", check_fronts},
    {"columns", check_columns}, {"views", check_views},   {"digests", check_digests},
};

static void add_line(struct check *ret, struct checking *c, const char *name, bool ok)
{
    for (size_t i = 0; i < c->diags.n; i++) text_addf(&c->found, "%s%s", c->found.n ? "; " : "", c->diags.list[i].message);
    ok = ok && c->diags.errors == 0;
    if (!c->found.n) text_add(&c->found, ok ? "as they should be" : "cannot be looked at");
    ret->lines = xrealloc(ret->lines, ret->n + 1, sizeof *ret->lines);
    ret->lines[ret->n++] = (struct check_line){.name = name, .ok = ok, .detail = text_detach(&c->found)};
    ret->whole = ret->whole && ok;
    diags_release(&c->diags);
    diags_init(&c->diags);
}

bool store_check(const char *path, struct check *ret, struct diags *diags)
{
    struct db db;
    *ret = (struct check){.whole = true};
    if (!db_open_unchecked(&db, path, diags)) return false;
    struct checking c = {.db = &db};
    text_init(&c.found);
    diags_init(&c.diags);
    bool ok = model_list_read(&db, "main", &c.models, diags) && db_exec(&db, diags, "BEGIN");
    for (size_t i = 0; ok && i < sizeof checks / sizeof *checks; i++) add_line(ret, &c, checks[i].name, checks[i].look(&c));
    model_list_release(&c.models);
    db_close(&db);
    return ok;
}

void check_release(struct check *c)
{
    for (size_t i = 0; i < c->n; i++) free(c->lines[i].detail);
    free(c->lines);
    *c = (struct check){0};
}
