#include "store/notices.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/left_out.h"
#include "store/over_budget.h"
#include "store/query.h"
#include "store/reader.h"
#include "store/store_internal.h"
#include "store/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct making {
    const struct db *db;
    int64_t run;
    const struct notice_front *front;
    struct diags *diags;
    struct text json;
    int64_t designs, unknown, beyond; /* on the front, of all models */
    struct text beyond_what;
};

static void add_notice(struct making *m, const char *kind, const char *text)
{
    text_add(&m->json, m->json.n ? ", {\"kind\": " : "{\"kind\": ");
    text_add_json(&m->json, kind);
    text_add(&m->json, ", \"text\": ");
    text_add_json(&m->json, text);
    text_add(&m->json, "}");
}

/* ---- the ends of axes ---------------------------------------------------------------------------------------------------- */

enum { FEW = 3 }; /* designs of which nothing is said */

struct axis_end {
    char *axis;
    double end, outermost; /* of the axis; on the front */
    bool greatest;
    int64_t there, at_outermost; /* designs on the front */
};

struct ends {
    struct axis_end *list;
    size_t n;
};

static void ends_release(struct ends *e)
{
    for (size_t i = 0; i < e->n; i++) free(e->list[i].axis);
    free(e->list);
}

static bool is_front_parameter(const struct making *m, const char *axis)
{
    for (size_t i = 0; i < m->front->n_per; i++)
        if (strcmp(m->front->per[i], axis) == 0) return true;
    return false;
}

static void add_end(struct ends *e, const char *axis, sqlite3_stmt *stmt, int column, bool greatest)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL) return;
    e->list = xrealloc(e->list, e->n + 1, sizeof *e->list);
    e->list[e->n++] = (struct axis_end){.axis = xstrdup(axis), .end = sqlite3_column_double(stmt, column), .greatest = greatest};
}

static bool has_column(const struct making *m, const char *table, const char *column, bool *ret)
{
    int64_t there;
    bool ok = db_int(m->db, &there, m->diags, "SELECT count(*) FROM pragma_table_info(%Q) WHERE name = %Q", table, column);
    *ret = ok && there;
    return ok;
}

/* Read the ends of the model's axes that belong to the design. */
static bool read_ends(const struct making *m, const char *model, struct ends *ret)
{
    bool there;
    if (!has_column(m, "run", "axis_ends", &there)) return false;
    if (!there) return true;
    sqlite3_stmt *stmt =
        db_prepare(m->db, m->diags,
                   "SELECT a.key, json_extract(a.value, '$[0]'), json_extract(a.value, '$[1]') FROM run, json_each(axis_ends) m,"
                   " json_each(m.value) a, pragma_table_info(%Q || '_all') c WHERE run.id = %lld AND m.key = %Q AND c.name = a.key",
                   model, (long long)m->run, model);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(m->db, stmt, m->diags)) > 0) {
        const char *axis = (const char *)sqlite3_column_text(stmt, 0);
        if (!axis || is_front_parameter(m, axis)) continue;
        add_end(ret, axis, stmt, 1, false);
        add_end(ret, axis, stmt, 2, true);
    }
    sqlite3_finalize(stmt);
    return rc == 0;
}

static void add_ends(struct making *m, const char *model, const struct ends *e, int64_t designs)
{
    for (size_t i = 0; i < e->n && designs >= FEW; i++) {
        const struct axis_end *end = &e->list[i];
        if (2 * end->there <= designs) continue;
        char some[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX], value[TEXT_NUMBER_MAX];
        char *text =
            xasprintf("%s of the %s designs of %s on the front have %s = %s, the %s value of its axis: better ones may lie beyond",
                      text_count(some, (uint64_t)end->there), text_count(all, (uint64_t)designs), model, end->axis,
                      text_short_number(value, end->end), end->greatest ? "greatest" : "least");
        add_notice(m, "axis-end", text);
        free(text);
    }
}

/* ---- one model ----------------------------------------------------------------------------------------------------------- */

/* " FROM ...": the rows of the front, a; of a point that has two, that in closed form, which has the same parameters and rests on
 * the same. */
static char *front_rows(const struct making *m, size_t i)
{
    const char *model = m->front->models[i];
    char *sql =
        m->front->points
            ? sqlite3_mprintf(" FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a WHERE f.run = %lld AND a.id >= f.first_id"
                              " AND a.id < f.first_id + f.points AND a.point IN %s",
                              model, model, (long long)m->run, m->front->points[i])
            : sqlite3_mprintf(" FROM \"%w_fixed\" f CROSS JOIN front p CROSS JOIN \"%w_all\" a WHERE f.run = %lld AND p.run = f.run"
                              " AND p.model = %Q AND a.id = f.first_id + p.point",
                              model, model, (long long)m->run, model);
    if (!sql) out_of_memory(0);
    return sql;
}

/* Count designs, and those at each end, and find the outermost values on the front, in one pass. */
static bool count_designs(struct making *m, const char *rows, struct ends *e, bool judged, int64_t *ret_designs)
{
    sqlite3_str *sql = sqlite3_str_new(m->db->sqlite);
    sqlite3_str_appendf(sql, "SELECT count(*), %s", judged ? "total(a.quality = 'unknown'), count(a.beyond)" : "0, 0");
    for (size_t i = 0; i < e->n; i++) /* a number that went through JSON may have lost its last bit */
        sqlite3_str_appendf(sql, ", total(abs(a.\"%w\" - %!.17g) <= %!.17g), %s(a.\"%w\")", e->list[i].axis, e->list[i].end,
                            1e-12 * fabs(e->list[i].end), e->list[i].greatest ? "max" : "min", e->list[i].axis);
    sqlite3_str_appendall(sql, rows);
    char *text = sqlite3_str_finish(sql);
    sqlite3_stmt *stmt = db_prepare(m->db, m->diags, "%s", text);
    sqlite3_free(text);
    bool ok = stmt && db_step(m->db, stmt, m->diags) > 0;
    *ret_designs = ok ? sqlite3_column_int64(stmt, 0) : 0;
    m->designs += *ret_designs;
    if (ok) m->unknown += (int64_t)sqlite3_column_double(stmt, 1);
    if (ok) m->beyond += sqlite3_column_int64(stmt, 2);
    for (size_t i = 0; ok && i < e->n; i++) {
        e->list[i].there = (int64_t)sqlite3_column_double(stmt, 2 * (int)i + 3);
        e->list[i].outermost = sqlite3_column_double(stmt, 2 * (int)i + 4);
    }
    sqlite3_finalize(stmt);
    return ok;
}

/* How many designs have the outermost values on the front, in one pass. */
static bool count_outermost(const struct making *m, const char *rows, struct ends *e)
{
    sqlite3_str *sql = sqlite3_str_new(m->db->sqlite);
    sqlite3_str_appendall(sql, "SELECT count(*)");
    for (size_t i = 0; i < e->n; i++) sqlite3_str_appendf(sql, ", total(a.\"%w\" = %!.17g)", e->list[i].axis, e->list[i].outermost);
    sqlite3_str_appendall(sql, rows);
    char *text = sqlite3_str_finish(sql);
    sqlite3_stmt *stmt = db_prepare(m->db, m->diags, "%s", text);
    sqlite3_free(text);
    const bool ok = stmt && db_step(m->db, stmt, m->diags) > 0;
    for (size_t i = 0; ok && i < e->n; i++) e->list[i].at_outermost = (int64_t)sqlite3_column_double(stmt, (int)i + 1);
    sqlite3_finalize(stmt);
    return ok;
}

/* Why no point beyond that value could be built, and the reason that most of them have; NULL: one could, or there is none. The
 * caller frees it. */
static bool read_refusal(const struct making *m, const char *model, const struct axis_end *end, char **ret)
{
    *ret = NULL;
    sqlite3_stmt *stmt =
        db_prepare(m->db, m->diags,
                   "SELECT a.reason, count(*), max(max(a.status = 'ok')) OVER () FROM \"%w_fixed\" f CROSS JOIN \"%w_all\" a"
                   " WHERE f.run = %lld AND a.id >= f.first_id AND a.id < f.first_id + f.points AND a.\"%w\" %s %!.17g"
                   " GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
                   model, model, (long long)m->run, end->axis, end->greatest ? ">" : "<",
                   end->outermost + (end->greatest ? 1 : -1) * 1e-12 * fabs(end->outermost));
    int rc = stmt ? db_step(m->db, stmt, m->diags) : -1;
    if (rc > 0 && !sqlite3_column_int(stmt, 2) && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
        *ret = xstrdup((const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return rc >= 0;
}

/* More than half of the front at the last value of an axis that can be built: the end is right, and this is why. */
static bool add_limits(struct making *m, const char *model, const char *rows, struct ends *e, int64_t designs)
{
    bool ok = designs < FEW || count_outermost(m, rows, e);
    for (size_t i = 0; ok && i < e->n && designs >= FEW; i++) {
        const struct axis_end *end = &e->list[i];
        if (2 * end->there > designs || 2 * end->at_outermost <= designs) continue; /* told already; few */
        char some[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX], value[TEXT_NUMBER_MAX], *reason;
        ok = read_refusal(m, model, end, &reason);
        if (!ok || !reason) continue;
        char *text = xasprintf(
            "%s of the %s designs of %s on the front have %s = %s, the %s value of its axis that can be built: beyond it, %s",
            text_count(some, (uint64_t)end->at_outermost), text_count(all, (uint64_t)designs), model, end->axis,
            text_short_number(value, end->outermost), end->greatest ? "greatest" : "least", reason);
        add_notice(m, "axis-limit", text);
        free(text);
        free(reason);
    }
    return ok;
}

/* What the model's rows rest on that lies beyond what was measured: the most frequent. */
static bool read_beyond(struct making *m, const char *rows)
{
    sqlite3_stmt *stmt = db_prepare(
        m->db, m->diags, "SELECT a.beyond%s AND a.beyond IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1", rows);
    int rc = stmt ? db_step(m->db, stmt, m->diags) : -1;
    if (rc > 0) text_addf(&m->beyond_what, "%s%s", m->beyond_what.n ? "; " : "", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return rc >= 0;
}

static bool look_at_model(struct making *m, size_t i)
{
    const char *model = m->front->models[i];
    struct ends ends = {0};
    char *rows = front_rows(m, i), *table = xasprintf("%s_all", model);
    bool judged;
    int64_t designs, before = m->beyond;
    bool ok =
        has_column(m, table, "beyond", &judged) && read_ends(m, model, &ends) && count_designs(m, rows, &ends, judged, &designs);
    if (ok) add_ends(m, model, &ends, designs);
    if (ok) ok = add_limits(m, model, rows, &ends, designs);
    if (ok && m->beyond > before) ok = read_beyond(m, rows);
    ends_release(&ends);
    free(table);
    sqlite3_free(rows);
    return ok;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

/* Add the notices that come from the sweep itself, whatever the front. An older dse kept the unequal defaults alone, as text. */
static bool add_of_sweep(struct making *m)
{
    bool there;
    if (!has_column(m, "run", "unequal", &there)) return false;
    if (!there) return true;
    sqlite3_stmt *stmt =
        db_prepare(m->db, m->diags,
                   "SELECT json_extract(n.value, '$.kind'), json_extract(n.value, '$.text') FROM run,"
                   " json_each(CASE WHEN json_valid(unequal) THEN unequal WHEN unequal IS NOT NULL THEN"
                   " json_array(json_object('kind', 'unequal-defaults', 'text', unequal)) END) n WHERE run.id = %lld",
                   (long long)m->run);
    int rc = stmt ? 1 : -1;
    while (rc > 0 && (rc = db_step(m->db, stmt, m->diags)) > 0) {
        const char *kind = (const char *)sqlite3_column_text(stmt, 0), *text = (const char *)sqlite3_column_text(stmt, 1);
        if (kind && text) add_notice(m, kind, text);
    }
    sqlite3_finalize(stmt);
    return rc >= 0;
}

static bool add_budget(struct making *m, const struct tally *tallies)
{
    char *text;
    if (!over_budget_text(m->db, m->run, m->front->models, tallies, m->front->n_models, &text, m->diags)) return false;
    if (text) add_notice(m, "budget", text);
    free(text);
    return true;
}

static void add_left_out(void *user, const char *text)
{
    add_notice(user, "left-out", text);
}

/* Does a parameter vary in the run, of any model? */
static bool varies(const struct making *m, const char *parameter, bool *ret)
{
    bool ok = true;
    *ret = false;
    for (size_t i = 0; ok && !*ret && i < m->front->n_models; i++) {
        const char *model = m->front->models[i];
        char *all = xasprintf("%s_all", model), *fixed = xasprintf("%s_fixed", model);
        bool in_rows, there;
        int64_t fixed_there = 1;
        ok = has_column(m, all, parameter, &in_rows) && has_column(m, fixed, parameter, &there);
        if (ok && in_rows && there)
            ok = db_int(m->db, &fixed_there, m->diags, "SELECT count(\"%w\") FROM \"%w\" WHERE run = %lld", parameter, fixed,
                        (long long)m->run);
        *ret = fixed_there == 0;
        free(all);
        free(fixed);
    }
    return ok;
}

/* The parameter of a row, a of the rows and f of the run as front_rows has them; "NULL": the model has none. Freed by
 * sqlite3_free. */
static bool parameter_sql(const struct making *m, const char *model, const char *parameter, char **ret)
{
    char *all = xasprintf("%s_all", model), *fixed = xasprintf("%s_fixed", model);
    bool in_rows, in_run;
    bool ok = has_column(m, all, parameter, &in_rows) && has_column(m, fixed, parameter, &in_run);
    *ret = !ok || !in_run ? sqlite3_mprintf("NULL")
           : in_rows      ? sqlite3_mprintf("coalesce(a.\"%w\", f.\"%w\")", parameter, parameter)
                          : sqlite3_mprintf("f.\"%w\"", parameter);
    if (!*ret) out_of_memory(0);
    free(all);
    free(fixed);
    return ok;
}

/* Designs of the front whose cache is of few bits and has no scales: what they lose by it nothing says. */
static bool count_scaleless(struct making *m, int64_t *ret)
{
    bool ok = true;
    *ret = 0;
    for (size_t i = 0; ok && i < m->front->n_models; i++) {
        char *rows = front_rows(m, i), *bits = NULL, *values = NULL, *scales = NULL;
        int64_t n = 0;
        ok = parameter_sql(m, m->front->models[i], "kv_bits", &bits) &&
             parameter_sql(m, m->front->models[i], "value_bits", &values) &&
             parameter_sql(m, m->front->models[i], "kv_scale_bits", &scales) &&
             db_int(m->db, &n, m->diags, "SELECT count(*)%s AND min(%s, coalesce(%s, 32)) < 16 AND coalesce(%s, 0) = 0", rows, bits,
                    values, scales);
        *ret += n;
        sqlite3_free(rows);
        sqlite3_free(bits);
        sqlite3_free(values);
        sqlite3_free(scales);
    }
    return ok;
}

static bool add_number_formats(struct making *m)
{
    bool weights, formats, cache, values;
    int64_t scaleless = 0;
    if (!varies(m, "weight_bits", &weights) || !varies(m, "format", &formats) || !varies(m, "kv_bits", &cache) ||
        !varies(m, "value_bits", &values) || ((cache || values) && !count_scaleless(m, &scaleless)))
        return false;
    if (weights) add_notice(m, "number-format", "weight_bits varies: no model says what narrower numbers cost in output");
    if (formats) add_notice(m, "number-format", "format varies: no model says what narrower numbers cost in output");
    if (scaleless)
        add_notice(m, "number-format",
                   cache ? "kv_bits varies without kv_scale_bits: no model says what narrower numbers cost in output "
                           "(kv_scale_bits and quality_from = \"surface\" give attention_error)"
                         : "value_bits varies without kv_bits: no model says what values narrower than keys cost in output");
    return true;
}

/* ---- kinds of dollars ------------------------------------------------------------------------------------------------------ */

/* Does the front, or the sweep's text, ask for dollars? */
static bool asks_for_dollars(const struct making *m, bool *ret)
{
    int64_t there;
    bool ok = db_int(m->db, &there, m->diags,
                     "SELECT count(*) FROM run WHERE id = %lld AND (instr(sweep_text, '_usd') OR instr(sweep_text, 'usd_per_'))",
                     (long long)m->run);
    for (size_t i = 0; ok && i < m->front->n_objectives && !there; i++) there = strstr(m->front->objectives[i], "usd") != NULL;
    *ret = ok && there;
    return ok;
}

/* What kind the model's dollars are, of its first feasible row; NULL: it has none. The caller frees it. */
static bool read_dollars(const struct making *m, const char *model, char **ret)
{
    char *table = xasprintf("%s_all", model);
    bool there;
    bool ok = has_column(m, table, "dollars", &there);
    *ret = NULL;
    sqlite3_stmt *stmt =
        ok && there
            ? db_prepare(m->db, m->diags,
                         "SELECT a.dollars FROM \"%w_fixed\" f CROSS JOIN \"%w\" a WHERE f.run = %lld AND a.id >= f.first_id"
                         " AND a.id < f.first_id + f.points AND a.dollars IS NOT NULL LIMIT 1",
                         model, table, (long long)m->run)
            : NULL;
    int rc = stmt ? db_step(m->db, stmt, m->diags) : ok && !there ? 0 : -1;
    if (rc > 0) *ret = xstrdup((const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    free(table);
    return rc >= 0;
}

/* Dollars of several kinds are compared with each other. */
static bool add_dollars(struct making *m)
{
    bool asks, differ = false;
    struct text kinds;
    char *first = NULL;
    text_init(&kinds);
    bool ok = asks_for_dollars(m, &asks);
    for (size_t i = 0; ok && asks && i < m->front->n_models; i++) {
        char *kind;
        ok = read_dollars(m, m->front->models[i], &kind);
        if (!kind) continue;
        text_addf(&kinds, "%s%s %s", kinds.n ? ", " : "", m->front->models[i], kind);
        differ = differ || (first && strcmp(first, kind) != 0);
        if (first)
            free(kind);
        else
            first = kind;
    }
    if (ok && differ) {
        char *text =
            xasprintf("dollars of these models cannot be compared (%s): making a chip costs far less than buying a board", kinds.s);
        add_notice(m, "dollars", text);
        free(text);
    }
    free(first);
    text_release(&kinds);
    return ok;
}

static void add_counts(struct making *m)
{
    char some[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX];
    text_count(all, (uint64_t)m->designs);
    if (m->unknown) {
        char *text = xasprintf(
            "%s of the %s designs on the front lose information, and nobody measured how much under their settings (quality is "
            "unknown)",
            text_count(some, (uint64_t)m->unknown), all);
        add_notice(m, "unknown-quality", text);
        free(text);
    }
    if (m->beyond) {
        char *text = xasprintf("%s of the %s designs on the front use numbers outside the measured range (column beyond): %s",
                               text_count(some, (uint64_t)m->beyond), all, m->beyond_what.s);
        add_notice(m, "beyond", text);
        free(text);
    }
}

/* What the rows say, whether they are on the front or not. */
static bool add_of_rows(struct making *m)
{
    const struct notice_front *f = m->front;
    struct tally *tallies = xcalloc(f->n_models + 1, sizeof *tallies);
    bool ok = true;
    for (size_t i = 0; ok && i < f->n_models; i++)
        ok = tally_read(m->db, m->run, f->models[i], f->objectives, f->n_objectives, &tallies[i], m->diags);
    ok = ok && add_budget(m, tallies);
    for (size_t i = 0; ok && i < f->n_models; i++)
        ok = left_out_of_front(m->db, m->run, f->models[i], &tallies[i], f->objectives, f->n_objectives, add_left_out, m, m->diags);
    for (size_t i = 0; i < f->n_models; i++) tally_release(&tallies[i]);
    free(tallies);
    return ok;
}

/* The notices of a front in the form of run.notices. The caller frees *ret. For a run of an older dse, those that can be told. */
static bool notices_of_front(const struct db *db, int64_t run, const struct notice_front *front, char **ret, struct diags *diags)
{
    struct making m = {.db = db, .run = run, .front = front, .diags = diags};
    text_init(&m.json);
    text_init(&m.beyond_what);
    bool ok = add_of_rows(&m);
    for (size_t i = 0; ok && i < front->n_models; i++) ok = look_at_model(&m, i);
    if (ok) add_counts(&m);
    ok = ok && add_number_formats(&m) && add_dollars(&m) && add_of_sweep(&m);
    *ret = ok ? xasprintf("[%s]", m.json.s) : NULL;
    text_release(&m.json);
    text_release(&m.beyond_what);
    return ok;
}

bool store_notices(struct store *st, const char *const *objectives, size_t n_objectives, const char *const *per, size_t n_per,
                   struct diags *diags)
{
    const char **models = xcalloc(st->n_models + 1, sizeof(char *));
    for (size_t i = 0; i < st->n_models; i++) models[i] = st->models[i].name;
    struct notice_front front = {.models = models,
                                 .n_models = st->n_models,
                                 .per = per,
                                 .n_per = n_per,
                                 .objectives = objectives,
                                 .n_objectives = n_objectives};
    char *json;
    bool ok = notices_of_front(&st->db, st->run, &front, &json, diags);
    free(models);
    ok = ok && db_begin(&st->db, diags);
    if (ok)
        ok = store_end(st, db_exec(&st->db, diags, "UPDATE run SET notices = %Q WHERE id = %lld", json, (long long)st->run), diags);
    free(json);
    return ok;
}

bool reader_notices(struct reader *r, int64_t run, const struct notice_front *front, char **ret, struct diags *diags)
{
    return notices_of_front(&r->db, run, front, ret, diags);
}
