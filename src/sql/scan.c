/* A scan of a model's table: the points that a query asks for, one a row, evaluated when a column wants it. */
#include "sql/sql_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of the row at hand. */
enum row_state { ROW_TOLD, ROW_OK, ROW_INFEASIBLE, ROW_INVALID };

struct cursor {
    sqlite3_vtab_cursor base;
    char *plan; /* of the axes and the batch; NULL: none yet */
    enum fidelity fidelity;
    struct batch *batch;
    struct sql_axis *axes;
    size_t n_axes;
    size_t *axis_of; /* of a parameter; SIZE_MAX: it is not told */
    bool end;
    enum row_state state;
    size_t wrong;  /* axes whose value is none of the parameter's */
    char *refusal; /* of the row at hand; or NULL */
};

static const struct model_table *table_of(const struct cursor *c)
{
    return (const struct model_table *)c->base.pVtab;
}

int model_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    (void)table;
    struct cursor *c = xcalloc(1, sizeof *c);
    *ret = &c->base;
    return SQLITE_OK;
}

static void forget_plan(struct cursor *c)
{
    for (size_t i = 0; i < c->n_axes; i++) sql_axis_release(&c->axes[i]);
    batch_free(c->batch);
    free(c->axes);
    free(c->axis_of);
    free(c->plan);
    c->batch = NULL;
    c->axes = NULL;
    c->axis_of = NULL;
    c->plan = NULL;
    c->n_axes = 0;
}

int model_close(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    forget_plan(c);
    free(c->refusal);
    free(c);
    return SQLITE_OK;
}

/* error: of sqlite3_malloc, taken over. */
static int fail(struct cursor *c, char *error)
{
    sqlite3_vtab *table = c->base.pVtab;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s: %s", table_of(c)->model->desc->name, error);
    sqlite3_free(error);
    return SQLITE_ERROR;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------------------- */

/* The axes of a plan, without values. */
static void read_axes(struct cursor *c, const char *plan)
{
    const struct model_table *t = table_of(c);
    c->plan = xstrdup(plan);
    c->axis_of = xcalloc(t->n_params, sizeof *c->axis_of);
    for (size_t i = 0; i < t->n_params; i++) c->axis_of[i] = SIZE_MAX;
    for (char *end; *plan; plan = end + 1) {
        const size_t number = strtoul(plan, &end, 10);
        if (number >= t->n_params || c->axis_of[number] != SIZE_MAX) continue;
        c->axes = xrealloc(c->axes, c->n_axes + 1, sizeof *c->axes);
        c->axes[c->n_axes] = (struct sql_axis){.param = number, .field = &t->model->params.fields[number]};
        c->axis_of[number] = c->n_axes++;
    }
}

static bool make_batch(struct cursor *c, char **ret_error)
{
    const struct field **told = xcalloc(c->n_axes, sizeof *told);
    for (size_t i = 0; i < c->n_axes; i++) told[i] = c->axes[i].field;
    struct diags diags;
    diags_init(&diags);
    batch_free(c->batch);
    c->batch = batch_new(table_of(c)->defaults, NULL, 0, told, c->n_axes, c->fidelity, NULL, &diags);
    free(told);
    if (!c->batch)
        *ret_error = sql_error(&diags);
    else
        diags_release(&diags);
    return c->batch != NULL;
}

/* What the query says beside parameters. */
struct asks {
    enum fidelity fidelity;
    double max_points;
};

static bool take_fidelity(const struct cursor *c, sqlite3_value *v, enum fidelity *ret, char **ret_error)
{
    const struct dse_model *m = table_of(c)->model->desc;
    const char *name = (const char *)sqlite3_value_text(v);
    for (size_t i = 0; name && i < FIDELITIES; i++) {
        if (strcmp(name, fidelity_names[i]) != 0 || !fidelity_of_model(m, (enum fidelity)i)) continue;
        *ret = (enum fidelity)i;
        return true;
    }
    *ret_error = sqlite3_mprintf("there is no fidelity \"%s\": %s", name ? name : "NULL", fidelities_text(m));
    return false;
}

/* Take the arguments of a scan into the axes and *asks. */
static bool take_arguments(struct cursor *c, const char *plan, int argc, sqlite3_value **argv, struct asks *asks, char **ret_error)
{
    const struct model_table *t = table_of(c);
    const struct catalog *catalog = t->defaults->catalog;
    int k = 0;
    for (char *end; *plan; plan = end + 1) {
        const size_t number = strtoul(plan, &end, 10);
        const enum plan_how how = (enum plan_how) * end;
        sqlite3_value *argument = how != PLAN_ALL && k < argc ? argv[k++] : NULL;
        bool ok = true;
        if (number < t->n_params)
            ok = sql_axis_take(&c->axes[c->axis_of[number]], how, argument, catalog, ret_error);
        else if (number - t->n_params == ASKED_FIDELITY)
            ok = take_fidelity(c, argument, &asks->fidelity, ret_error);
        else
            asks->max_points = sqlite3_value_double(argument);
        if (!ok) return false;
    }
    return true;
}

static bool check_count(const struct cursor *c, double max_points, char **ret_error)
{
    double points = 1;
    for (size_t i = 0; i < c->n_axes; i++) points *= (double)c->axes[i].n;
    if (c->n_axes == 0 || points <= max_points) return true;
    struct text t;
    text_init(&t);
    char buf[TEXT_NUMBER_MAX];
    size_t widest = 0;
    for (size_t i = 0; i < c->n_axes; i++) {
        if (c->axes[i].n > c->axes[widest].n) widest = i;
        if (c->axes[i].n > 1)
            text_addf(&t, "%s%s %s", t.n ? " x " : "", c->axes[i].field->name, text_about_count(buf, (double)c->axes[i].n));
    }
    char all[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX];
    *ret_error = sqlite3_mprintf(
        "the query asks for %s points (%s), and the limit is %s: bound %s (BETWEEN ... AND, IN (...)), or add "
        "max_points = %.3g",
        text_about_count(all, points), t.s, text_about_count(most, max_points), c->axes[widest].field->name, points * 1.001);
    text_release(&t);
    return false;
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static void tell(struct cursor *c, size_t i)
{
    struct value v;
    if (sql_axis_value(&c->axes[i], &v)) batch_tell(c->batch, i, v);
}

static void begin_row(struct cursor *c)
{
    c->state = ROW_TOLD;
    c->wrong = 0;
    for (size_t i = 0; i < c->n_axes; i++) c->wrong += !c->axes[i].is_range && c->axes[i].values[c->axes[i].at].wrong != NULL;
}

static int filter(struct cursor *c, const char *plan, int argc, sqlite3_value **argv)
{
    struct asks asks = {.fidelity = FIDELITY_CLOSED_FORM, .max_points = SQL_POINTS_MAX};
    char *error = NULL;
    if (!c->plan || strcmp(c->plan, plan) != 0) {
        forget_plan(c);
        read_axes(c, plan);
    }
    for (size_t i = 0; i < c->n_axes; i++) sql_axis_clear(&c->axes[i]);
    if (!take_arguments(c, plan, argc, argv, &asks, &error) || !check_count(c, asks.max_points, &error)) return fail(c, error);
    if (!c->batch || c->fidelity != asks.fidelity) {
        c->fidelity = asks.fidelity;
        if (!make_batch(c, &error)) return fail(c, error);
    }
    c->end = false;
    for (size_t i = 0; i < c->n_axes; i++) c->end = c->end || c->axes[i].n == 0;
    if (c->end) return SQLITE_OK;
    for (size_t i = 0; i < c->n_axes; i++) tell(c, i);
    begin_row(c);
    return SQLITE_OK;
}

int model_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
    (void)number;
    struct plain_numbers numbers;
    plain_numbers_begin(&numbers);
    const int rc = filter((struct cursor *)base, plan, argc, argv);
    plain_numbers_end(&numbers);
    return rc;
}

int model_next(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    for (size_t i = c->n_axes; i-- > 0;) {
        const bool more = ++c->axes[i].at < c->axes[i].n;
        if (!more) c->axes[i].at = 0;
        tell(c, i);
        if (!more) continue;
        begin_row(c);
        return SQLITE_OK;
    }
    c->end = true;
    return SQLITE_OK;
}

int model_eof(sqlite3_vtab_cursor *base)
{
    return ((const struct cursor *)base)->end;
}

/* A row is the same in every scan that has it: its number is a hash of what is told. */
int model_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    const struct cursor *c = (const struct cursor *)base;
    uint64_t hash = 14695981039346656037u + (uint64_t)c->fidelity;
    for (size_t i = 0; i < c->n_axes; i++) {
        struct value v = {0};
        const bool ok = sql_axis_value(&c->axes[i], &v);
        const uint64_t words[] = {c->axes[i].param, ok ? (uint64_t)v.i64 : c->axes[i].at};
        for (size_t k = 0; k < 2; k++) hash = (hash ^ words[k]) * 1099511628211u, hash ^= hash >> 29;
    }
    *ret = (sqlite3_int64)(hash >> 1);
    return SQLITE_OK;
}

/* ---- columns ----------------------------------------------------------------------------------------------------------------- */

/* Evaluate the row at hand, unless it is. False: a bug of the model. */
static bool evaluate(struct cursor *c)
{
    if (c->state != ROW_TOLD) return true;
    if (c->wrong) {
        c->state = ROW_INVALID;
        return true;
    }
    const enum batch_end end = batch_run(c->batch);
    c->state = end == BATCH_OK ? ROW_OK : ROW_INFEASIBLE;
    return end != BATCH_BUG;
}

static void result_text(sqlite3_context *context, const char *s)
{
    if (s) sqlite3_result_text(context, s, -1, SQLITE_STATIC);
}

static void result_field(sqlite3_context *context, const struct field *f, struct value v)
{
    switch (f->type) {
    case DSE_TYPE_F64: sqlite3_result_double(context, v.f64); break; /* NaN: NULL */
    case DSE_TYPE_I64: sqlite3_result_int64(context, v.i64); break;
    case DSE_TYPE_ENUM: result_text(context, f->choices[v.choice]); break;
    default: sqlite3_result_text(context, v.ref->name, -1, SQLITE_TRANSIENT); break;
    }
}

/* Of an invalid row: what is wrong with the first value that is. */
static void result_refusal(const struct cursor *c, sqlite3_context *context)
{
    for (size_t i = 0; i < c->n_axes; i++) {
        if (c->axes[i].is_range || !c->axes[i].values[c->axes[i].at].wrong) continue;
        sqlite3_result_text(context, value_refusal(c->axes[i].field), -1, free);
        return;
    }
}

static void result_said(struct cursor *c, sqlite3_context *context, enum said which)
{
    static const char *const status[] = {[ROW_OK] = "ok", [ROW_INFEASIBLE] = "infeasible", [ROW_INVALID] = "invalid"};
    if (which == SAID_STATUS)
        result_text(context, status[c->state]);
    else if (which == SAID_REASON && c->state == ROW_INVALID)
        result_refusal(c, context);
    else if (which == SAID_REASON && c->state == ROW_INFEASIBLE)
        sqlite3_result_text(context, batch_reason(c->batch), -1, SQLITE_TRANSIENT);
    else if (which == SAID_QUALITY && c->state == ROW_OK)
        result_text(context, batch_standing(c->batch).quality);
    else if (which == SAID_BEYOND && c->state == ROW_OK)
        sqlite3_result_text(context, batch_standing(c->batch).beyond, -1, SQLITE_TRANSIENT);
}

/* A parameter that is told is known before the row is evaluated; others are what resolve() makes of them. */
static bool result_param(struct cursor *c, sqlite3_context *context, size_t param)
{
    const struct field *f = &table_of(c)->model->params.fields[param];
    const size_t i = c->axis_of[param];
    if (i != SIZE_MAX) {
        struct value v;
        if (sql_axis_value(&c->axes[i], &v))
            result_field(context, f, v);
        else
            sqlite3_result_value(context, c->axes[i].values[c->axes[i].at].wrong);
        return true;
    }
    if (!evaluate(c)) return false;
    if (c->state != ROW_INVALID) result_field(context, f, field_get(f, batch_params(c->batch)));
    return true;
}

static bool result_computed(struct cursor *c, sqlite3_context *context, size_t column)
{
    const struct model_table *t = table_of(c);
    if (!evaluate(c)) return false;
    if (column >= t->n_metrics) {
        result_said(c, context, (enum said)(column - t->n_metrics));
    } else if (c->state == ROW_OK) {
        const struct field *f = &t->model->metrics.fields[column];
        if (!f->without) result_field(context, f, field_get(f, batch_metrics(c->batch)));
    }
    return true;
}

int model_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *c = (struct cursor *)base;
    const struct model_table *t = table_of(c);
    const size_t k = (size_t)column - t->first_hidden;
    bool ok = true;
    struct plain_numbers numbers;
    plain_numbers_begin(&numbers);
    if ((size_t)column < t->first_hidden)
        ok = result_computed(c, context, (size_t)column);
    else if (k < t->n_params)
        ok = result_param(c, context, k);
    else if (k - t->n_params == ASKED_FIDELITY)
        result_text(context, fidelity_names[c->fidelity]);
    plain_numbers_end(&numbers);
    if (ok) return SQLITE_OK;
    return fail(c, sqlite3_mprintf("%s", batch_reason(c->batch)));
}
