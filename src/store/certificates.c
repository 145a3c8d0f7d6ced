#include "store/certificates.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/reader.h"
#include "store/store_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char tables_sql[] =
    "CREATE TABLE IF NOT EXISTS main.certificate(run INTEGER PRIMARY KEY, form INTEGER NOT NULL, tolerance REAL NOT NULL,"
    " complete INTEGER NOT NULL, kept INTEGER NOT NULL, evaluations INTEGER NOT NULL, epsilon REAL, hypervolume_left REAL,"
    " seconds REAL NOT NULL, threads INTEGER NOT NULL, dominated INTEGER NOT NULL, impossible INTEGER NOT NULL,"
    " refused INTEGER NOT NULL, evaluated INTEGER NOT NULL, open INTEGER NOT NULL, worse INTEGER);"
    "CREATE TABLE IF NOT EXISTS main.certificate_space(run INTEGER NOT NULL, model TEXT NOT NULL, version INTEGER NOT NULL,"
    " points INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(run, model)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.certificate_place(run INTEGER NOT NULL, model TEXT NOT NULL, axis TEXT NOT NULL,"
    " place INTEGER NOT NULL, value, PRIMARY KEY(run, model, axis, place)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS main.certificate_box(run INTEGER NOT NULL, box INTEGER NOT NULL, model TEXT NOT NULL,"
    " why TEXT NOT NULL, refused_by TEXT, by_model TEXT, by_point INTEGER, places TEXT NOT NULL, best TEXT,"
    " along TEXT, than INTEGER,"
    " PRIMARY KEY(run, box)) WITHOUT ROWID;";
/* Columns that tables of an older dse lack. */
static const struct {
    const char *table, *column, *type;
} later[] = {{"certificate", "worse", "INTEGER"}, {"certificate_box", "along", "TEXT"}, {"certificate_box", "than", "INTEGER"}};
static const char *const tables[] = {"certificate", "certificate_space", "certificate_place", "certificate_box"};

/* ---- writing --------------------------------------------------------------------------------------------------------------- */

struct certificate_writer {
    struct store *store;
    sqlite3_stmt *space, *place, *box;
};

static bool write_head(const struct db *db, int64_t run, const struct certificate_head *h, struct diags *diags)
{
    sqlite3_stmt *stmt =
        db_prepare(db, diags, "INSERT INTO main.certificate VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!stmt) return false;
    int i = 1;
    sqlite3_bind_int64(stmt, i++, run);
    sqlite3_bind_int64(stmt, i++, h->form);
    sqlite3_bind_double(stmt, i++, h->tolerance);
    sqlite3_bind_int(stmt, i++, h->complete);
    sqlite3_bind_int(stmt, i++, h->kept);
    sqlite3_bind_int64(stmt, i++, (int64_t)h->evaluations);
    sqlite3_bind_double(stmt, i++, h->epsilon);
    sqlite3_bind_double(stmt, i++, h->hypervolume_left);
    sqlite3_bind_double(stmt, i++, h->seconds);
    sqlite3_bind_int64(stmt, i++, h->threads);
    for (int e = 0; e < CERTIFICATE_ENDS; e++) sqlite3_bind_int64(stmt, i++, (int64_t)h->boxes[e]);
    bool ok = db_run(db, stmt, diags);
    sqlite3_finalize(stmt);
    return ok;
}

static bool prepare(struct certificate_writer *w, struct diags *diags)
{
    const struct db *db = &w->store->db;
    const long long run = w->store->run;
    w->space = db_prepare(db, diags, "INSERT INTO main.certificate_space VALUES(%lld, ?, ?, ?, ?)", run);
    w->place = db_prepare(db, diags, "INSERT INTO main.certificate_place VALUES(%lld, ?, ?, ?, ?)", run);
    w->box = db_prepare(db, diags, "INSERT INTO main.certificate_box VALUES(%lld, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", run);
    return w->space && w->place && w->box;
}

static bool add_later(const struct db *db, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof later / sizeof *later; i++) {
        struct column_list l = {0};
        ok = column_list_read(db, "main", later[i].table, &l, diags) &&
             schema_add_column(db, later[i].table, &l, later[i].column, later[i].type, diags);
        column_list_release(&l);
    }
    return ok;
}

struct certificate_writer *certificate_writer_new(struct store *st, const struct certificate_head *head, struct diags *diags)
{
    struct certificate_writer *w = xcalloc(1, sizeof *w);
    w->store = st;
    bool ok = db_begin(&st->db, diags) && db_exec(&st->db, diags, "%s", tables_sql) && add_later(&st->db, diags);
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++)
        ok = db_exec(&st->db, diags, "DELETE FROM main.\"%w\" WHERE run = %lld", tables[i], (long long)st->run);
    if (ok && write_head(&st->db, st->run, head, diags) && prepare(w, diags)) return w;
    certificate_writer_end(w, false, diags);
    return NULL;
}

static void bind_text(sqlite3_stmt *stmt, int i, const char *s)
{
    if (s)
        sqlite3_bind_text(stmt, i, s, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, i);
}

bool certificate_write_space(struct certificate_writer *w, const struct certificate_space *s, struct diags *diags)
{
    bind_text(w->space, 1, s->model);
    sqlite3_bind_int64(w->space, 2, s->version);
    sqlite3_bind_int64(w->space, 3, (int64_t)s->points);
    bind_text(w->space, 4, s->hash);
    return db_run(&w->store->db, w->space, diags);
}

bool certificate_write_place(struct certificate_writer *w, const struct certificate_place *p, struct diags *diags)
{
    bind_text(w->place, 1, p->model);
    bind_text(w->place, 2, p->axis);
    sqlite3_bind_int64(w->place, 3, p->place);
    store_bind_cell(w->place, 4, p->type, p->value);
    return db_run(&w->store->db, w->place, diags);
}

bool certificate_write_box(struct certificate_writer *w, const struct certificate_line *line, struct diags *diags)
{
    sqlite3_bind_int64(w->box, 1, (int64_t)line->box);
    bind_text(w->box, 2, line->model);
    bind_text(w->box, 3, line->why);
    bind_text(w->box, 4, line->constraint);
    bind_text(w->box, 5, line->by_model);
    if (line->by_model)
        sqlite3_bind_int64(w->box, 6, line->by_point);
    else
        sqlite3_bind_null(w->box, 6);
    bind_text(w->box, 7, line->places);
    bind_text(w->box, 8, line->best);
    bind_text(w->box, 9, line->along);
    if (line->along)
        sqlite3_bind_int64(w->box, 10, line->than);
    else
        sqlite3_bind_null(w->box, 10);
    return db_run(&w->store->db, w->box, diags);
}

bool certificate_writer_end(struct certificate_writer *w, bool ok, struct diags *diags)
{
    if (!w) return false;
    sqlite3_finalize(w->space);
    sqlite3_finalize(w->place);
    sqlite3_finalize(w->box);
    ok = store_end(w->store, ok, diags);
    free(w);
    return ok;
}

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

static bool damaged(const struct db *db, const char *table, const char *column, struct diags *diags)
{
    return diags_runtime(diags, db->path, "table %s has a row whose column %s is not what dse writes there", table, column);
}

/* A column as text; NULL for NULL. Sets *ok to false, with an error, when it is anything else. */
static const char *text_at(const struct db *db, sqlite3_stmt *stmt, int i, const char *table, bool *ok, struct diags *diags)
{
    const int type = sqlite3_column_type(stmt, i);
    if (type == SQLITE_TEXT) return (const char *)sqlite3_column_text(stmt, i);
    if (type != SQLITE_NULL && *ok) *ok = damaged(db, table, sqlite3_column_name(stmt, i), diags);
    return NULL;
}

static int64_t integer_at(const struct db *db, sqlite3_stmt *stmt, int i, const char *table, bool *ok, struct diags *diags)
{
    if (sqlite3_column_type(stmt, i) != SQLITE_INTEGER && *ok) *ok = damaged(db, table, sqlite3_column_name(stmt, i), diags);
    return sqlite3_column_int64(stmt, i);
}

static double number_at(sqlite3_stmt *stmt, int i)
{
    return sqlite3_column_type(stmt, i) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(stmt, i);
}

static char *copy_at(sqlite3_stmt *stmt, int i)
{
    const char *s = (const char *)sqlite3_column_text(stmt, i);
    return xstrdup(s ? s : "");
}

static void read_head(sqlite3_stmt *stmt, int i, struct certificate_head *h)
{
    h->form = sqlite3_column_int64(stmt, i++);
    h->tolerance = number_at(stmt, i++);
    h->complete = sqlite3_column_int(stmt, i++) != 0;
    h->kept = sqlite3_column_int(stmt, i++) != 0;
    h->evaluations = (uint64_t)sqlite3_column_int64(stmt, i++);
    h->epsilon = number_at(stmt, i++);
    h->hypervolume_left = number_at(stmt, i++);
    h->seconds = number_at(stmt, i++);
    h->threads = sqlite3_column_int64(stmt, i++);
    for (int e = 0; e < CERTIFICATE_ENDS; e++) h->boxes[e] = (uint64_t)sqlite3_column_int64(stmt, i++);
}

static bool has_tables(const struct db *db, bool *ret, struct diags *diags)
{
    int64_t n;
    bool ok = db_int(db, &n, diags, "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name LIKE 'certificate%%'");
    *ret = n >= (int64_t)(sizeof tables / sizeof *tables);
    return ok;
}

static bool no_certificate(const struct db *db, int64_t wanted, struct diags *diags)
{
    if (wanted) return diags_runtime(diags, db->path, "run %lld has no certificate: dse front writes one", (long long)wanted);
    return diags_runtime(diags, db->path, "has no certificate: dse front writes one");
}

/* Has the table the columns that came later? */
static bool has_later(const struct db *db, const char *table, bool *ret, struct diags *diags)
{
    struct column_list l;
    if (!column_list_read(db, "main", table, &l, diags)) return false;
    *ret = true;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (strcmp(later[i].table, table) == 0) *ret = *ret && column_list_find(&l, later[i].column) != SIZE_MAX;
    column_list_release(&l);
    return true;
}

bool certificate_read_run(struct reader *r, int64_t wanted, struct certified_run *ret, struct diags *diags)
{
    *ret = (struct certified_run){0};
    const struct db *db = &r->db;
    bool there;
    if (!has_tables(db, &there, diags)) return false;
    if (!there) return no_certificate(db, wanted, diags);
    if (!has_later(db, "certificate", &there, diags)) return false;
    sqlite3_stmt *stmt =
        db_prepare(db, diags,
                   "SELECT r.id, r.sweep, r.sweep_text, r.objectives, r.models, r.version, r.git_commit, c.form, c.tolerance,"
                   " c.complete, c.kept, c.evaluations, c.epsilon, c.hypervolume_left, c.seconds, c.threads, c.dominated,"
                   " c.impossible, c.refused, c.evaluated, c.open, %s FROM main.run r JOIN main.certificate c ON c.run = r.id"
                   " WHERE %lld IN (0, r.id) ORDER BY r.id DESC LIMIT 1",
                   there ? "c.worse" : "0", (long long)wanted);
    int rc = stmt ? db_step(db, stmt, diags) : -1;
    if (rc > 0) {
        ret->run = sqlite3_column_int64(stmt, 0);
        char **const copies[] = {&ret->sweep, &ret->sweep_text, &ret->objectives, &ret->models, &ret->version, &ret->commit};
        for (int i = 0; i < (int)(sizeof copies / sizeof *copies); i++) *copies[i] = copy_at(stmt, i + 1);
        read_head(stmt, 7, &ret->head);
    }
    sqlite3_finalize(stmt);
    return rc > 0 || (rc == 0 && no_certificate(db, wanted, diags));
}

void certified_run_release(struct certified_run *run)
{
    free(run->sweep);
    free(run->sweep_text);
    free(run->objectives);
    free(run->models);
    free(run->version);
    free(run->commit);
    *run = (struct certified_run){0};
}

bool certificate_read_spaces(struct reader *r, int64_t run, bool (*visit)(void *user, const struct certificate_space *s),
                             void *user, struct diags *diags)
{
    const struct db *db = &r->db;
    sqlite3_stmt *stmt =
        db_prepare(db, diags, "SELECT model, version, points, hash FROM main.certificate_space WHERE run = %lld ORDER BY model",
                   (long long)run);
    bool ok = stmt != NULL, go = true;
    int rc = 0;
    while (ok && go && (rc = db_step(db, stmt, diags)) > 0) {
        const struct certificate_space s = {.model = text_at(db, stmt, 0, "certificate_space", &ok, diags),
                                            .version = integer_at(db, stmt, 1, "certificate_space", &ok, diags),
                                            .points = (uint64_t)integer_at(db, stmt, 2, "certificate_space", &ok, diags),
                                            .hash = text_at(db, stmt, 3, "certificate_space", &ok, diags)};
        if (ok && (!s.model || !s.hash)) ok = damaged(db, "certificate_space", "model", diags);
        go = ok && visit(user, &s);
    }
    sqlite3_finalize(stmt);
    return ok && rc >= 0;
}

/* A value as it is stored: REAL, INTEGER or TEXT. */
static struct certificate_place place_at(const struct db *db, sqlite3_stmt *stmt, bool *ok, struct diags *diags)
{
    struct certificate_place p = {.model = text_at(db, stmt, 0, "certificate_place", ok, diags),
                                  .axis = text_at(db, stmt, 1, "certificate_place", ok, diags),
                                  .place = integer_at(db, stmt, 2, "certificate_place", ok, diags)};
    switch (sqlite3_column_type(stmt, 3)) {
    case SQLITE_INTEGER:
        p.type = DSE_TYPE_I64;
        p.value.i64 = sqlite3_column_int64(stmt, 3);
        break;
    case SQLITE_FLOAT:
        p.type = DSE_TYPE_F64;
        p.value.f64 = sqlite3_column_double(stmt, 3);
        break;
    default:
        p.type = DSE_TYPE_ENUM;
        p.value.text = text_at(db, stmt, 3, "certificate_place", ok, diags);
        if (*ok && !p.value.text) *ok = damaged(db, "certificate_place", "value", diags);
    }
    if (*ok && (!p.model || !p.axis)) *ok = damaged(db, "certificate_place", "axis", diags);
    return p;
}

bool certificate_read_places(struct reader *r, int64_t run, bool (*visit)(void *user, const struct certificate_place *p),
                             void *user, struct diags *diags)
{
    const struct db *db = &r->db;
    sqlite3_stmt *stmt = db_prepare(db, diags,
                                    "SELECT model, axis, place, value FROM main.certificate_place WHERE run = %lld"
                                    " ORDER BY model, axis, place",
                                    (long long)run);
    bool ok = stmt != NULL, go = true;
    int rc = 0;
    while (ok && go && (rc = db_step(db, stmt, diags)) > 0) {
        const struct certificate_place p = place_at(db, stmt, &ok, diags);
        go = ok && visit(user, &p);
    }
    sqlite3_finalize(stmt);
    return ok && rc >= 0;
}

static struct certificate_line line_at(const struct db *db, sqlite3_stmt *stmt, bool *ok, struct diags *diags)
{
    static const char table[] = "certificate_box";
    struct certificate_line l = {.box = (uint64_t)integer_at(db, stmt, 0, table, ok, diags),
                                 .model = text_at(db, stmt, 1, table, ok, diags),
                                 .why = text_at(db, stmt, 2, table, ok, diags),
                                 .constraint = text_at(db, stmt, 3, table, ok, diags),
                                 .by_model = text_at(db, stmt, 4, table, ok, diags),
                                 .places = text_at(db, stmt, 6, table, ok, diags),
                                 .best = text_at(db, stmt, 7, table, ok, diags),
                                 .along = text_at(db, stmt, 8, table, ok, diags)};
    if (l.along) l.than = integer_at(db, stmt, 9, table, ok, diags);
    if (l.by_model) l.by_point = integer_at(db, stmt, 5, table, ok, diags);
    if (*ok && (!l.model || !l.why || !l.places)) *ok = damaged(db, table, "places", diags);
    return l;
}

bool certificate_read_boxes(struct reader *r, int64_t run, bool (*visit)(void *user, const struct certificate_line *line),
                            void *user, struct diags *diags)
{
    const struct db *db = &r->db;
    bool later_too;
    if (!has_later(db, "certificate_box", &later_too, diags)) return false;
    sqlite3_stmt *stmt = db_prepare(db, diags,
                                    "SELECT box, model, why, refused_by, by_model, by_point, places, best, %s"
                                    " FROM main.certificate_box WHERE run = %lld ORDER BY box",
                                    later_too ? "along, than" : "NULL, NULL", (long long)run);
    bool ok = stmt != NULL, go = true;
    int rc = 0;
    while (ok && go && (rc = db_step(db, stmt, diags)) > 0) {
        const struct certificate_line line = line_at(db, stmt, &ok, diags);
        go = ok && visit(user, &line);
    }
    sqlite3_finalize(stmt);
    return ok && rc >= 0;
}

/* ---- the front --------------------------------------------------------------------------------------------------------------- */

/* A cell that is NULL or has its column's type; false when it has another. A REAL that is whole stands as an INTEGER. */
static bool cell_at(sqlite3_stmt *stmt, int i, enum dse_type type, union cell *ret)
{
    const int there = sqlite3_column_type(stmt, i);
    if (type == DSE_TYPE_F64) {
        ret->f64 = number_at(stmt, i);
        return there == SQLITE_NULL || there == SQLITE_FLOAT || there == SQLITE_INTEGER;
    }
    if (type == DSE_TYPE_I64) {
        ret->i64 = there == SQLITE_NULL ? INT64_MIN : sqlite3_column_int64(stmt, i);
        return there == SQLITE_NULL || there == SQLITE_INTEGER;
    }
    ret->text = there == SQLITE_NULL ? NULL : (const char *)sqlite3_column_text(stmt, i);
    return there == SQLITE_NULL || there == SQLITE_TEXT;
}

static sqlite3_stmt *prepare_front(const struct db *db, int64_t run, const char *model, const struct column *columns, size_t n,
                                   struct diags *diags)
{
    struct text names;
    text_init(&names);
    for (size_t i = 0; i < n; i++) text_addf(&names, ", a.\"%s\"", columns[i].name);
    sqlite3_stmt *stmt =
        db_prepare(db, diags,
                   "SELECT p.point, a.status%s FROM main.front p JOIN main.\"%w_fixed\" f ON f.run = p.run"
                   " LEFT JOIN main.\"%w_all\" a ON a.id = f.first_id + p.point WHERE p.run = %lld AND p.model = %Q"
                   " ORDER BY p.point",
                   names.s, model, model, (long long)run, model);
    text_release(&names);
    return stmt;
}

bool certificate_read_front(struct reader *r, int64_t run, const char *model, const struct column *columns, size_t n,
                            bool (*visit)(void *user, int64_t point, const char *status, const union cell *cells), void *user,
                            struct diags *diags)
{
    const struct db *db = &r->db;
    sqlite3_stmt *stmt = prepare_front(db, run, model, columns, n, diags);
    union cell *cells = xcalloc(n, sizeof *cells);
    bool ok = stmt != NULL, go = true;
    int rc = 0;
    while (ok && go && (rc = db_step(db, stmt, diags)) > 0) {
        for (size_t i = 0; ok && i < n; i++)
            if (!cell_at(stmt, (int)i + 2, columns[i].type, &cells[i])) ok = damaged(db, model, columns[i].name, diags);
        const char *status = (const char *)sqlite3_column_text(stmt, 1);
        go = ok && visit(user, sqlite3_column_int64(stmt, 0), status, status ? cells : NULL);
    }
    free(cells);
    sqlite3_finalize(stmt);
    return ok && rc >= 0;
}
