/* The inside of the tables of SQL, shared by the files of this folder. */
#ifndef DSE_SQL_INTERNAL_H
#define DSE_SQL_INTERNAL_H

#include "analysis/front.h"
#include "base/plain_numbers.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "space/batch.h"
#include "sql/sql.h"

/* The errors of diags as one text of sqlite3_malloc; releases diags. */
char *sql_error(struct diags *diags);

int sql_register_pareto(sqlite3 *db);
int sql_register_aggregates(sqlite3 *db);

/* ---- the table of a model -------------------------------------------------------------------------------------------------- */

/* Columns: metrics, what is said of the row, then the hidden ones: parameters, fidelity, max_points. */
enum said { SAID_STATUS, SAID_REASON, SAID_QUALITY, SAID_BEYOND, SAID };
enum asked { ASKED_FIDELITY, ASKED_MAX_POINTS, ASKED };

struct model_table {
    sqlite3_vtab base;
    struct sql_models *models;
    const struct model *model;
    struct binding *defaults;
    size_t n_metrics, n_params;
    size_t first_hidden; /* column of the first parameter */
};

/* A plan is a text of steps "NUMBER HOW": NUMBER counts parameters, behind them `asked`. In the order of the arguments of
 * xFilter: */
enum plan_how {
    PLAN_VALUE = '=', /* one value */
    PLAN_LIST = 'i',  /* IN: all values at once */
    PLAN_ABOVE = '>', /* range: its ends, excluded or not */
    PLAN_FROM = ']',
    PLAN_BELOW = '<',
    PLAN_TO = '[',
    PLAN_ALL = '*', /* all values there are, for SQLite to choose from; no argument */
};

/* A model's table at work: opening, scanning. */
extern const sqlite3_module model_module;
int model_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret);
int model_close(sqlite3_vtab_cursor *cursor);
int model_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc, sqlite3_value **argv);
int model_next(sqlite3_vtab_cursor *cursor);
int model_eof(sqlite3_vtab_cursor *cursor);
int model_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column);
int model_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret);

/* ---- what is asked of a parameter ------------------------------------------------------------------------------------------ */

/* A value of an axis. What is none of the parameter's is kept as the query had it. */
struct axis_value {
    struct value value;
    sqlite3_value *wrong; /* or NULL */
};

/* The values of one parameter in one scan. */
struct sql_axis {
    size_t param;
    const struct field *field;
    uint64_t n, at;            /* how many there are; which it is now */
    struct axis_value *values; /* NULL in a range */
    size_t capacity;
    bool is_range;
    int64_t from;
    bool again; /* said twice: one of them chooses from the other */
};

/* Begin with no values; with one step of the plan, and its argument, if it has one. False, with *ret_error (sqlite3_malloc): no
 * such axis. */
void sql_axis_clear(struct sql_axis *a);
bool sql_axis_take(struct sql_axis *a, enum plan_how how, sqlite3_value *argument, const struct catalog *catalog, char **ret_error);
void sql_axis_release(struct sql_axis *a);
/* The value at a->at. False: it is none of the parameter's, which `wrong` is. */
static inline bool sql_axis_value(const struct sql_axis *a, struct value *ret)
{
    if (a->is_range) {
        *ret = (struct value){.i64 = a->from + (int64_t)a->at};
        return true;
    }
    *ret = a->values[a->at].value;
    return !a->values[a->at].wrong;
}

/* ---- objectives ------------------------------------------------------------------------------------------------------------ */

#endif
