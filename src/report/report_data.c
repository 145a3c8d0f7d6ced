/* What was found, as JSON. */
#include "report/report_data.h"

#include "base/xalloc.h"
#include "report/report_equal.h"
#include "store/notices.h"

#include <stdlib.h>
#include <string.h>

/* ---- which columns ------------------------------------------------------------------------------------------------------- */

static bool cells_differ(const struct report_cell *a, const struct report_cell *b)
{
    if (a->type != b->type) return true;
    return a->type == CELL_TEXT ? strcmp(a->text, b->text) != 0 : a->number != b->number;
}

/* A column is shown when two rows have different values of it, one of which may be NULL; a parameter that the row's model does
 * not have is none. */
static void look_at(struct report_run *r, const struct report_rows *rows, const struct report_cell **seen)
{
    for (size_t i = 0; i < rows->n; i++) {
        for (size_t c = 0; c < r->n_columns; c++) {
            const struct report_cell *cell = &rows->rows[i].cells[c];
            if (cell->type == CELL_NULL && r->columns[c].kind == KIND_AXIS) continue;
            r->columns[c].is_text |= cell->type == CELL_TEXT;
            if (cell->type != CELL_NULL && r->columns[c].kind == KIND_NOTE) r->columns[c].shown = true;
            if (!seen[c])
                seen[c] = cell;
            else if (cells_differ(seen[c], cell))
                r->columns[c].shown = true;
        }
    }
}

static void choose_columns(struct report_run *r, const struct report_rows *front, const struct report_rows *sample)
{
    const struct report_cell **seen = xcalloc(r->n_columns, sizeof(struct report_cell *));
    for (size_t c = 0; c < r->n_columns; c++)
        r->columns[c].shown = r->columns[c].kind == KIND_OBJECTIVE || r->columns[c].kind == KIND_MODEL;
    look_at(r, front, seen);
    look_at(r, sample, seen);
    free(seen);
}

/* ---- parts --------------------------------------------------------------------------------------------------------------- */

static void add_rows(struct text *t, const struct report_run *r, const char *name, char *sql, const struct report_rows *rows,
                     bool short_numbers)
{
    json_key(t, name), text_add(t, "{");
    json_key(t, "sql"), json_text(t, sql);
    json_key(t, "rows"), text_add(t, "[");
    for (size_t i = 0; i < rows->n; i++) {
        text_add(t, i ? ",[" : "[");
        bool first = true;
        for (size_t c = 0; c < r->n_columns; c++) {
            if (!r->columns[c].shown) continue;
            if (!first) text_add(t, ",");
            first = false;
            json_cell(t, &rows->rows[i].cells[c], short_numbers);
        }
        text_add(t, "]");
    }
    text_add(t, "]}");
    free(sql);
}

/* What tells each row of the front from all others: its model and point. */
static void add_keys(struct text *t, const struct report_run *r, const struct report_rows *front)
{
    json_key(t, "keys"), text_add(t, "[");
    for (size_t i = 0; i < front->n; i++) {
        text_add(t, i ? ",[" : "[");
        json_text(t, r->models.s[front->rows[i].model]);
        text_addf(t, ",%llu]", (unsigned long long)front->rows[i].point);
    }
    text_add(t, "]");
}

/* Add the models that have the parameter, or null when all have it. */
static void add_models_of(struct text *t, const struct report_run *r, const struct report_column *c)
{
    json_key(t, "models");
    if (c->kind != KIND_AXIS || !name_list_have(&r->own, c->name)) {
        text_add(t, "null");
        return;
    }
    text_add(t, "[");
    for (size_t m = 0; m < r->models.n; m++) {
        if (!name_list_have(&r->columns_of[m], c->name)) continue;
        if (t->s[t->n - 1] != '[') text_add(t, ",");
        json_text(t, r->models.s[m]);
    }
    text_add(t, "]");
}

static void add_columns(struct text *t, const struct report_run *r)
{
    static const char *const kinds[] = {"model", "objective", "axis", "design", "note", "metric"};
    json_key(t, "columns"), text_add(t, "[");
    for (size_t i = 0; i < r->n_columns; i++) {
        const struct report_column *c = &r->columns[i];
        if (!c->shown) continue;
        text_add(t, t->s[t->n - 1] == '[' ? "{" : ",{");
        json_key(t, "name"), json_text(t, c->name);
        json_key(t, "label"), json_text(t, c->label);
        json_key(t, "doc"), json_text(t, c->doc);
        json_key(t, "direction"), json_number(t, c->direction);
        json_key(t, "kind"), json_text(t, kinds[c->kind]);
        json_key(t, "text"), text_add(t, c->is_text ? "true" : "false");
        add_models_of(t, r, c);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void add_goal(struct text *t, const struct report_run *r)
{
    json_key(t, "objectives"), text_add(t, "[");
    for (size_t i = 0; i < r->goal.n; i++) {
        text_add(t, i ? ",{" : "{");
        json_key(t, "name"), json_text(t, r->goal.columns[i]);
        json_key(t, "maximise"), text_add(t, r->goal.maximise[i] ? "true" : "false");
        text_add(t, "}");
    }
    text_add(t, "]");
    json_key(t, "per"), text_add(t, "[");
    for (size_t i = 0; i < r->goal.n_per; i++) {
        if (i) text_add(t, ",");
        json_text(t, r->goal.per[i]);
    }
    text_add(t, "]");
}

/* The birth record, a name and a value each, as it came. The caller frees *ret_notices, which is NULL in a run of an older dse. */
static bool add_provenance(struct text *t, const struct report_run *r, char **ret_notices, struct diags *diags)
{
    *ret_notices = NULL;
    char *sql = xasprintf("SELECT * FROM run WHERE id = %lld", (long long)r->id);
    struct query *q = query_new(r->reader, sql, (struct srcloc){0}, diags);
    free(sql);
    bool ok = q && query_step(q, diags) > 0;
    json_key(t, "run"), text_add(t, "[");
    for (int i = 0; ok && i < query_columns(q); i++) {
        text_add(t, i ? ",[" : "[");
        json_text(t, query_column_name(q, i));
        text_add(t, ",");
        if (strcmp(query_column_name(q, i), "notices") == 0 && query_text(q, i)) *ret_notices = xstrdup(query_text(q, i));
        if (query_type(q, i) == CELL_TEXT)
            json_text(t, query_text(q, i));
        else
            json_number(t, query_f64(q, i));
        text_add(t, "]");
    }
    text_add(t, "]");
    query_free(q);
    return ok;
}

/* What there is to know of the front, as the run keeps it or else made now: store/notices.h's JSON, as a string. Takes `stored`. */
static bool add_notices(struct text *t, const struct report_run *r, char *stored, struct diags *diags)
{
    struct notice_front front = {.models = (const char *const *)r->models.s,
                                 .n_models = r->models.n,
                                 .per = (const char *const *)r->goal.per,
                                 .n_per = r->goal.n_per};
    if (!stored && !reader_notices(r->reader, r->id, &front, &stored, diags)) return false;
    json_key(t, "notices"), json_text(t, stored);
    free(stored);
    return true;
}

bool report_data(struct report_run *r, struct text *ret, struct text *said, struct diags *diags)
{
    struct report_effects *e = report_effects_new(r, diags);
    uint64_t feasible = e ? report_effects_feasible(e) : 0;
    struct report_rows front = {0}, sample = {0};
    char *notices;
    text_add(ret, "{");
    json_key(ret, "database"), json_text(ret, r->options->db);
    json_key(ret, "id"), json_number(ret, (double)r->id);
    char *budget = r->goal.budget.n ? budget_limits_text(&r->goal.budget) : NULL;
    json_key(ret, "budget"), json_text(ret, budget);
    free(budget);
    bool ok = e && report_rows_read(r, front_sql(r, false), &front, diags) &&
              report_rows_read(r, sample_sql(r, feasible, false), &sample, diags) && add_provenance(ret, r, &notices, diags) &&
              add_notices(ret, r, notices, diags);
    if (ok) {
        choose_columns(r, &front, &sample);
        add_columns(ret, r);
        add_goal(ret, r);
        add_keys(ret, r, &front);
        add_rows(ret, r, "front", front_sql(r, true), &front, false);
        add_rows(ret, r, "sample", sample_sql(r, feasible, true), &sample, true);
        json_key(ret, "points"), report_points_json(r, &front, ret, diags);
        json_key(ret, "effects"), report_effects_json(e, ret);
        char *sql = reasons_sql(r);
        json_key(ret, "reasons"), text_add(ret, "{");
        json_key(ret, "sql"), json_text(ret, sql);
        json_key(ret, "rows"), report_reasons_json(e, ret);
        text_add(ret, "}");
        free(sql);
        json_key(ret, "equal");
        ok = report_equal_json(r, ret, said, diags);
    }
    text_add(ret, "}");
    report_rows_release(r, &front);
    report_rows_release(r, &sample);
    report_effects_free(e);
    return ok;
}
