/* Rows of the page: the front, and a sample of the other points. */
#include "report/report_data.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- queries ------------------------------------------------------------------------------------------------------------- */

enum { LEADING = 2 }; /* model, point */

/* SELECT of one model's rows; what it does not have is NULL. */
static void add_select(const struct report_run *r, size_t m, const char *suffix, bool shown_only, struct text *sql)
{
    const struct name_list *columns = &r->columns_of[m];
    char *view = xasprintf("%s%s", r->models.s[m], suffix);
    text_add(sql, "SELECT ");
    sql_add_string(sql, r->models.s[m]);
    text_add(sql, " AS model, point");
    for (size_t i = 0; i < r->n_columns; i++) {
        const struct report_column *c = &r->columns[i];
        if ((shown_only && !c->shown) || c->kind == KIND_MODEL) continue;
        if (c->kind == KIND_DESIGN) {
            add_design(sql, &r->own, columns);
            continue;
        }
        text_add(sql, name_list_have(columns, c->name) ? ", " : ", NULL AS ");
        sql_add_name(sql, c->name);
    }
    text_add(sql, " FROM ");
    sql_add_name(sql, view);
    text_addf(sql, " WHERE run = %lld", (long long)r->id);
    free(view);
}

char *front_sql(const struct report_run *r, bool shown_only)
{
    struct text sql;
    text_init(&sql);
    for (size_t m = 0; m < r->models.n; m++) {
        if (m) text_add(&sql, " UNION ALL ");
        add_select(r, m, "_front", shown_only, &sql);
    }
    text_add(&sql, " ORDER BY ");
    sql_add_name(&sql, r->goal.columns[0]);
    text_addf(&sql, "%s, model, point LIMIT %d", r->goal.maximise[0] ? " DESC" : "", REPORT_FRONT_MAX);
    return text_detach(&sql);
}

char *sample_sql(const struct report_run *r, uint64_t feasible, bool shown_only)
{
    uint64_t step = feasible / REPORT_SAMPLE_MAX + (feasible % REPORT_SAMPLE_MAX > 0);
    struct text sql;
    text_init(&sql);
    for (size_t m = 0; m < r->models.n; m++) {
        if (m) text_add(&sql, " UNION ALL ");
        add_select(r, m, "", shown_only, &sql);
        text_add(&sql, " AND status = 'ok'");
        /* Points in a row differ in one axis alone: a multiplier spreads those that are taken over all axes. */
        if (step > 1) text_addf(&sql, " AND (point * 2654435761 %% 4294967296) %% %llu = 0", (unsigned long long)step);
    }
    text_addf(&sql, " LIMIT %d", 2 * REPORT_SAMPLE_MAX);
    return text_detach(&sql);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static struct report_cell cell_of(const struct query *q, int i)
{
    enum cell_type type = query_type(q, i);
    if (type == CELL_TEXT) return (struct report_cell){CELL_TEXT, (double)NAN, xstrdup(query_text(q, i))};
    if (type == CELL_INTEGER || type == CELL_REAL) return (struct report_cell){CELL_REAL, query_f64(q, i), NULL};
    return (struct report_cell){CELL_NULL, (double)NAN, NULL};
}

static size_t model_of(const struct report_run *r, const char *name)
{
    for (size_t m = 0; m < r->models.n; m++)
        if (name && strcmp(r->models.s[m], name) == 0) return m;
    return 0; /* the query has no others */
}

static void add_row(const struct report_run *r, const struct query *q, struct report_rows *ret)
{
    ret->rows = xrealloc(ret->rows, ret->n + 1, sizeof *ret->rows);
    struct report_row *row = &ret->rows[ret->n++];
    *row = (struct report_row){model_of(r, query_text(q, 0)), (uint64_t)query_i64(q, 1), xcalloc(r->n_columns, sizeof *row->cells)};
    int at = LEADING;
    for (size_t i = 0; i < r->n_columns; i++) row->cells[i] = cell_of(q, r->columns[i].kind == KIND_MODEL ? 0 : at++);
}

bool report_rows_read(const struct report_run *r, char *sql, struct report_rows *ret, struct diags *diags)
{
    *ret = (struct report_rows){0};
    struct query *q = query_new(r->reader, sql, (struct srcloc){0}, diags);
    int more = -1;
    while (q && (more = query_step(q, diags)) > 0) add_row(r, q, ret);
    query_free(q);
    free(sql);
    return q && more == 0;
}

void report_rows_release(const struct report_run *r, struct report_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        for (size_t c = 0; c < r->n_columns; c++) free(rows->rows[i].cells[c].text);
        free(rows->rows[i].cells);
    }
    free(rows->rows);
    *rows = (struct report_rows){0};
}

const struct report_cell *report_cell(const struct report_run *r, const struct report_row *row, const char *column)
{
    const struct report_column *c = report_column(r, column);
    return c ? &row->cells[c - r->columns] : NULL;
}
