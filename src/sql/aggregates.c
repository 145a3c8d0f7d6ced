/* hypervolume('max,min', x, y, ref_x, ref_y) and pareto('max,min', x, y): aggregates, and window functions. */
#include "sql/sql_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "max,min" as directions. Returns how many; 0 with *ret_error (sqlite3_malloc). */
static int sql_directions(const char *text, bool *maximise, char **ret_error)
{
    int m = 0;
    for (const char *s = text; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        s += strspn(s, " ");
        const size_t n = strcspn(s, " ,");
        const bool is_max = n == 3 && strncmp(s, "max", n) == 0;
        if (m == FRONT_OBJECTIVES_MAX || (!is_max && !(n == 3 && strncmp(s, "min", n) == 0))) {
            *ret_error =
                sqlite3_mprintf("\"%s\" is no list of up to %d directions: for example, 'max,min'", text, FRONT_OBJECTIVES_MAX);
            return 0;
        }
        maximise[m++] = is_max;
    }
    if (!m) *ret_error = sqlite3_mprintf("the first argument is a list of directions: for example, 'max,min'");
    return m;
}

/* The points of one group or window; those that left it stand before `head`. NaN where one has no value. */
struct points {
    int m; /* 0: nothing yet; -1: wrong */
    bool maximise[FRONT_OBJECTIVES_MAX];
    double ref[FRONT_OBJECTIVES_MAX];
    double *values;
    size_t head, n, capacity;
};

static double number_of(sqlite3_value *v)
{
    const int type = sqlite3_value_numeric_type(v);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_value_double(v) : (double)NAN;
}

/* Read the directions; each of the objectives takes `each` arguments. */
static bool begin(struct points *p, sqlite3_context *context, int each, int argc, sqlite3_value **argv)
{
    char *error = NULL;
    p->m = argc ? sql_directions((const char *)sqlite3_value_text(argv[0]), p->maximise, &error) : 0;
    if (p->m && argc != 1 + each * p->m)
        error = each == 1
                    ? sqlite3_mprintf("%d directions need as many numbers behind them", p->m)
                    : sqlite3_mprintf("%d directions need as many numbers behind them, and the reference point in as many", p->m);
    else if (p->m)
        return true;
    else if (!error)
        error = sqlite3_mprintf("the first argument is a list of directions: for example, 'max,min'");
    sqlite3_result_error(context, error, -1);
    sqlite3_free(error);
    p->m = -1;
    return false;
}

static void step(sqlite3_context *context, int each, int argc, sqlite3_value **argv)
{
    struct points *p = sqlite3_aggregate_context(context, sizeof *p);
    if (!p || p->m < 0 || (p->m == 0 && !begin(p, context, each, argc, argv))) return;
    const size_t m = (size_t)p->m;
    if ((p->n + 1) * m > p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 64 * m;
        p->values = xrealloc(p->values, p->capacity, sizeof *p->values);
    }
    for (size_t i = 0; i < m; i++) {
        const double v = number_of(argv[1 + i]);
        p->values[p->n * m + i] = p->maximise[i] ? -v : v;
        if (each == 2) p->ref[i] = (p->maximise[i] ? -1 : 1) * number_of(argv[1 + m + i]);
    }
    p->n++;
}

static void hypervolume_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    step(context, 2, argc, argv);
}

static void pareto_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    step(context, 1, argc, argv);
}

/* The first of the window leaves it. */
static void inverse(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    struct points *p = sqlite3_aggregate_context(context, sizeof *p);
    if (p && p->m > 0 && p->head < p->n) p->head++;
}

static void hypervolume_value(sqlite3_context *context)
{
    const struct points *p = sqlite3_aggregate_context(context, 0);
    if (p && p->m < 0) return;
    if (p && p->m > 0)
        sqlite3_result_double(context, hypervolume(p->values + p->head * (size_t)p->m, p->n - p->head, p->m, p->ref));
    else
        sqlite3_result_double(context, 0);
}

/* The points of the front in the order of the rows, each once: [[x, y], ...]. */
static void pareto_value(sqlite3_context *context)
{
    const struct points *p = sqlite3_aggregate_context(context, 0);
    if (p && p->m < 0) return;
    struct text t;
    text_init(&t);
    text_add(&t, "[");
    struct front *front = p && p->m > 0 ? front_new(p->m, (const bool[FRONT_OBJECTIVES_MAX]){false}) : NULL;
    const size_t m = p ? (size_t)p->m : 0;
    const uint64_t *ids;
    const double *values;
    for (size_t i = p ? p->head : 0; front && i < p->n; i++) front_add(front, i, p->values + i * m);
    const size_t n = front ? front_finish(front, &ids, &values) : 0;
    for (size_t i = 0; i < n; i++) {
        char buf[TEXT_NUMBER_MAX];
        for (size_t k = 0; k < m; k++) {
            const double v = p->maximise[k] ? -values[i * m + k] : values[i * m + k];
            text_addf(&t, "%s%s", k ? "," : i ? ",[" : "[", isinf(v) ? v > 0 ? "1e999" : "-1e999" : text_number(buf, v));
        }
        text_add(&t, "]");
    }
    text_add(&t, "]");
    sqlite3_result_text(context, t.s, (int)t.n, SQLITE_TRANSIENT);
    text_release(&t);
    front_free(front);
}

static void forget(sqlite3_context *context)
{
    struct points *p = sqlite3_aggregate_context(context, 0);
    if (p) free(p->values);
}

static void hypervolume_final(sqlite3_context *context)
{
    hypervolume_value(context);
    forget(context);
}

static void pareto_final(sqlite3_context *context)
{
    pareto_value(context);
    forget(context);
}

int sql_register_aggregates(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    const int rc = sqlite3_create_window_function(db, "hypervolume", -1, flags, NULL, hypervolume_step, hypervolume_final,
                                                  hypervolume_value, inverse, NULL);
    return rc != SQLITE_OK ? rc
                           : sqlite3_create_window_function(db, "pareto", -1, flags, NULL, pareto_step, pareto_final, pareto_value,
                                                            inverse, NULL);
}
