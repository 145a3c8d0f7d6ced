/* What was found, as JSON. */
#include "report/report_data.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------------------------------------ */

void json_string(struct text *t, const char *s)
{
    if (!s) {
        text_add(t, "null");
        return;
    }
    text_add(t, "\"");
    for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
        if (*p < ' ' || *p == '<' || *p == '"' || *p == '\\' || *p == 0x7F)
            text_addf(t, "\\u%04x", *p);
        else
            text_add_bytes(t, (const char *)p, 1);
    }
    text_add(t, "\"");
}

void json_number(struct text *t, double v)
{
    char buf[TEXT_NUMBER_MAX];
    if (!isfinite(v)) {
        text_add(t, "null");
        return;
    }
    if (v == 0 || fabs(v) >= 1e15 || fabs(v) < 1e-9) {
        text_add(t, text_number(buf, v));
        return;
    }
    double unit = pow(10, 5 - floor(log10(fabs(v)))); /* six digits */
    text_add(t, text_number(buf, round(v * unit) / unit));
}

static void key(struct text *t, const char *name)
{
    if (t->s[t->n - 1] != '{') text_add(t, ",");
    text_addf(t, "\"%s\":", name);
}

static void add_cell(struct text *t, const struct query *q, int i)
{
    enum cell_type type = query_type(q, i);
    if (type == CELL_TEXT)
        json_string(t, query_text(q, i));
    else
        json_number(t, query_f64(q, i));
}

/* All rows of a query as arrays. */
static bool add_rows(struct text *t, const struct report_run *r, const char *sql, struct diags *diags)
{
    struct query *q = query_new(r->reader, sql, (struct srcloc){0}, diags);
    int more = -1;
    text_add(t, "[");
    for (bool first = true; q && (more = query_step(q, diags)) > 0; first = false) {
        text_add(t, first ? "[" : ",[");
        for (int i = 0; i < query_columns(q); i++) {
            if (i) text_add(t, ",");
            add_cell(t, q, i);
        }
        text_add(t, "]");
    }
    text_add(t, "]");
    query_free(q);
    return q && more == 0;
}

/* ---- queries --------------------------------------------------------------------------------------------------------------- */

static void add_names(struct text *t, const struct report_run *r)
{
    for (size_t i = 0; i < r->n_columns; i++) text_addf(t, "%s\"%s\"", i ? ", " : "", r->columns[i].name);
}

static char *front_sql(const struct report_run *r)
{
    struct text t;
    text_init(&t);
    text_add(&t, "SELECT point, ");
    add_names(&t, r);
    text_addf(&t, " FROM \"%s_front\" WHERE run = %lld", r->table, (long long)r->id);
    text_addf(&t, " ORDER BY \"%s\"%s, point LIMIT %d", r->goal.columns[0], r->goal.maximise[0] ? " DESC" : "", REPORT_FRONT_MAX);
    return text_detach(&t);
}

/* Every so many-th of the feasible rows, the same ones each time. */
static char *sample_sql(const struct report_run *r)
{
    uint64_t step = (r->feasible + REPORT_SAMPLE_MAX - 1) / REPORT_SAMPLE_MAX;
    struct text t;
    text_init(&t);
    text_add(&t, "SELECT point, ");
    add_names(&t, r);
    text_addf(&t, " FROM \"%s\" WHERE run = %lld AND status = 'ok'", r->table, (long long)r->id);
    /* Points in a row differ in one axis alone: a multiplier spreads those that are taken over all axes. */
    if (step > 1) text_addf(&t, " AND (point * 2654435761 %% 4294967296) %% %llu = 0", (unsigned long long)step);
    text_addf(&t, " LIMIT %d", 2 * REPORT_SAMPLE_MAX);
    return text_detach(&t);
}

static char *reasons_sql(const struct report_run *r)
{
    return xasprintf(
        "SELECT reason, count(*) AS points FROM \"%s\" WHERE run = %lld AND status <> 'ok' GROUP BY reason ORDER BY points DESC LIMIT 50",
        r->table, (long long)r->id);
}

enum { VALUES_MAX = 40 };

/* The means of the objectives at each value of an axis; of an axis of many values, in forty ranges. */
static char *effect_sql(const struct report_run *r, const struct report_column *c)
{
    struct text t;
    text_init(&t);
    char *rows = xasprintf("\"%s\" WHERE run = %lld AND status = 'ok'", r->table, (long long)r->id);
    if (c->is_text) {
        text_addf(&t, "SELECT \"%s\" AS value", c->name);
    } else {
        text_addf(
            &t,
            "WITH span AS (SELECT min(\"%s\") AS low, max(\"%s\") AS high, count(DISTINCT \"%s\") AS n FROM %s) "
            "SELECT CASE WHEN n <= %d THEN \"%s\" ELSE low + (high - low) * (0.5 + min(CAST(%d * (\"%s\" - low) / (high - low) AS INTEGER), %d)) / %d END AS value",
            c->name, c->name, c->name, rows, VALUES_MAX, c->name, VALUES_MAX, c->name, VALUES_MAX - 1, VALUES_MAX);
    }
    text_add(&t, ", count(*) AS points");
    for (size_t i = 0; i < r->goal.n; i++)
        text_addf(&t, ", avg(\"%s\"), %s(\"%s\")", r->goal.columns[i], r->goal.maximise[i] ? "max" : "min", r->goal.columns[i]);
    text_addf(&t, " FROM %s%s GROUP BY 1 ORDER BY 1", c->is_text ? "" : "span, ", rows);
    free(rows);
    return text_detach(&t);
}

static char *totals_sql(const struct report_run *r)
{
    struct text t;
    text_init(&t);
    text_add(&t, "SELECT count(*)");
    for (size_t i = 0; i < r->goal.n; i++) {
        const char *c = r->goal.columns[i];
        text_addf(&t, ", avg(\"%s\"), avg(\"%s\" * \"%s\") - avg(\"%s\") * avg(\"%s\")", c, c, c, c, c); /* mean and variance */
    }
    text_addf(&t, " FROM \"%s\" WHERE run = %lld AND status = 'ok'", r->table, (long long)r->id);
    return text_detach(&t);
}

/* ---- parts ----------------------------------------------------------------------------------------------------------------- */

static bool add_query(struct text *t, const struct report_run *r, const char *name, char *sql, struct diags *diags)
{
    key(t, name);
    text_add(t, "{\"sql\":");
    json_string(t, sql);
    text_add(t, ",\"rows\":");
    bool ok = add_rows(t, r, sql, diags);
    text_add(t, "}");
    free(sql);
    return ok;
}

static void add_columns(struct text *t, const struct report_run *r)
{
    key(t, "columns");
    text_add(t, "[");
    for (size_t i = 0; i < r->n_columns; i++) {
        const struct report_column *c = &r->columns[i];
        text_add(t, i ? ",{" : "{");
        key(t, "name"), json_string(t, c->name);
        key(t, "unit"), json_string(t, c->unit);
        key(t, "doc"), json_string(t, c->doc);
        key(t, "direction"), json_number(t, c->direction);
        key(t, "kind"), json_string(t, c->is_objective ? "objective" : c->is_axis ? "axis" : "metric");
        key(t, "text"), text_add(t, c->is_text ? "true" : "false");
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void add_goal(struct text *t, const struct report_run *r)
{
    key(t, "objectives");
    text_add(t, "[");
    for (size_t i = 0; i < r->goal.n; i++) {
        text_add(t, i ? ",{" : "{");
        key(t, "name"), json_string(t, r->goal.columns[i]);
        key(t, "maximise"), text_add(t, r->goal.maximise[i] ? "true" : "false");
        text_add(t, "}");
    }
    text_add(t, "]");
    key(t, "per");
    text_add(t, "[");
    for (size_t i = 0; i < r->goal.n_per; i++) {
        if (i) text_add(t, ",");
        json_string(t, r->goal.per[i]);
    }
    text_add(t, "]");
}

/* The birth record: a name and a value each. */
static bool add_provenance(struct text *t, const struct report_run *r, struct diags *diags)
{
    char *sql = xasprintf("SELECT * FROM run WHERE id = %lld", (long long)r->id);
    struct query *q = query_new(r->reader, sql, (struct srcloc){0}, diags);
    free(sql);
    bool ok = q && query_step(q, diags) > 0;
    key(t, "run");
    text_add(t, "{");
    for (int i = 0; ok && i < query_columns(q); i++) {
        key(t, query_column_name(q, i));
        add_cell(t, q, i);
    }
    text_add(t, "}");
    query_free(q);
    return ok;
}

static bool add_effects(struct text *t, const struct report_run *r, struct diags *diags)
{
    bool ok = add_query(t, r, "totals", totals_sql(r), diags);
    key(t, "effects");
    text_add(t, "{");
    for (size_t i = 0; ok && i < r->n_columns; i++)
        if (r->columns[i].is_axis) ok = add_query(t, r, r->columns[i].name, effect_sql(r, &r->columns[i]), diags);
    text_add(t, "}");
    return ok;
}

bool report_data(struct report_run *r, struct text *ret, struct diags *diags)
{
    text_add(ret, "{");
    key(ret, "database"), json_string(ret, r->options->db);
    key(ret, "table"), json_string(ret, r->table);
    bool ok = add_provenance(ret, r, diags);
    add_columns(ret, r);
    add_goal(ret, r);
    ok = ok && add_query(ret, r, "front", front_sql(r), diags) && add_query(ret, r, "sample", sample_sql(r), diags) &&
         add_query(ret, r, "reasons", reasons_sql(r), diags) && add_effects(ret, r, diags);
    if (ok) {
        char *sql = front_sql(r);
        key(ret, "breakdowns");
        report_breakdowns(r, sql, ret);
        free(sql);
    }
    text_add(ret, "}");
    return ok;
}
