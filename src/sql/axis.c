/* The values of a parameter that a query asks for. */
#include "sql/sql_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sql_axis_clear(struct sql_axis *a)
{
    for (size_t i = 0; i < a->capacity; i++) {
        sqlite3_value_free(a->values[i].wrong);
        a->values[i].wrong = NULL;
    }
    a->n = a->at = 0;
    a->is_range = false;
}

void sql_axis_release(struct sql_axis *a)
{
    sql_axis_clear(a);
    free(a->values);
    *a = (struct sql_axis){0};
}

static struct axis_value *append(struct sql_axis *a)
{
    if (a->n == a->capacity) {
        const size_t capacity = a->capacity ? 2 * a->capacity : 4;
        a->values = xrealloc(a->values, capacity, sizeof *a->values);
        memset(a->values + a->capacity, 0, (capacity - a->capacity) * sizeof *a->values);
        a->capacity = capacity;
    }
    a->values[a->n] = (struct axis_value){0};
    return &a->values[a->n++];
}

/* One value that the query gives. NULL is equal to nothing: it adds none. */
static void add_value(struct sql_axis *a, sqlite3_value *v, const struct catalog *catalog)
{
    const bool number = field_is_number(a->field);
    const int type = number ? sqlite3_value_numeric_type(v) : sqlite3_value_type(v);
    if (type == SQLITE_NULL) return;
    struct axis_value *new = append(a);
    bool ok;
    if (number)
        ok = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && value_of_number(a->field, sqlite3_value_double(v), &new->value);
    else
        ok = type == SQLITE_TEXT && value_of_text(a->field, catalog, (const char *)sqlite3_value_text(v), &new->value);
    if (!ok) new->wrong = sqlite3_value_dup(v);
}

static void add_list(struct sql_axis *a, sqlite3_value *list, const struct catalog *catalog)
{
    sqlite3_value *v;
    for (int rc = sqlite3_vtab_in_first(list, &v); rc == SQLITE_OK; rc = sqlite3_vtab_in_next(list, &v)) add_value(a, v, catalog);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------------------ */

static void begin_range(struct sql_axis *a)
{
    if (a->is_range) return;
    a->is_range = true;
    a->from = (int64_t)a->field->min;
    a->n = (uint64_t)(a->field->max - a->field->min) + 1;
}

static bool cut_range(struct sql_axis *a, enum plan_how how, sqlite3_value *end, char **ret_error)
{
    if (a->field->type == DSE_TYPE_F64) {
        *ret_error =
            sqlite3_mprintf("%s is no whole number, and a range of it has no end of values: %s IN (...) names them, and so does a "
                            "join, FROM generate_series(1, 8) AS s, ... WHERE %s = s.value / 2.0",
                            a->field->name, a->field->name, a->field->name);
        return false;
    }
    begin_range(a);
    const int type = sqlite3_value_numeric_type(end);
    if (type == SQLITE_NULL) a->n = 0;
    if (type == SQLITE_NULL || a->n == 0) return true;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        *ret_error = sqlite3_mprintf("%s: the end of a range is a number", a->field->name);
        return false;
    }
    const double x = sqlite3_value_double(end);
    double first = (double)a->from, last = first + (double)(a->n - 1);
    if (how == PLAN_ABOVE) first = fmax(first, floor(x) + 1);
    if (how == PLAN_FROM) first = fmax(first, ceil(x));
    if (how == PLAN_BELOW) last = fmin(last, ceil(x) - 1);
    if (how == PLAN_TO) last = fmin(last, floor(x));
    a->n = first <= last ? (uint64_t)(last - first) + 1 : 0;
    if (a->n) a->from = (int64_t)first;
    return true;
}

/* All choices, all names of the catalog, or all whole numbers of the range. */
static bool add_all(struct sql_axis *a, const struct catalog *catalog, char **ret_error)
{
    if (a->field->type == DSE_TYPE_F64) {
        *ret_error = sqlite3_mprintf("%s is no whole number, and has no end of values: %s IN (...) names them", a->field->name,
                                     a->field->name);
        return false;
    }
    if (a->field->type == DSE_TYPE_I64) begin_range(a);
    if (a->field->type == DSE_TYPE_ENUM)
        for (int32_t i = 0; a->field->choices[i]; i++) append(a)->value = (struct value){.choice = i};
    const struct dse_entry *entry;
    if (a->field->type == DSE_TYPE_REF)
        for (size_t i = 0; (entry = catalog_at(catalog, a->field->kind, i)); i++) append(a)->value = (struct value){.ref = entry};
    return true;
}

bool sql_axis_take(struct sql_axis *a, enum plan_how how, sqlite3_value *argument, const struct catalog *catalog, char **ret_error)
{
    switch (how) {
    case PLAN_VALUE: add_value(a, argument, catalog); return true;
    case PLAN_LIST: add_list(a, argument, catalog); return true;
    case PLAN_ALL: return add_all(a, catalog, ret_error);
    default: return cut_range(a, how, argument, ret_error);
    }
}
