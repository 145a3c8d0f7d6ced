/* What each parameter does to each objective, and why points are infeasible: one scan over the run's rows.
 *
 * Of each value of a parameter: how many feasible points have it, and mean and best of each objective over them. Of a parameter
 * of many values, in ranges. The share of an objective's variance that lies between the values is the correlation ratio, a
 * first-order sensitivity index.
 */
#include "base/text.h"
#include "base/xalloc.h"
#include "report/report_data.h"
#include "sweep/goal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups --------------------------------------------------------------------------------------------------------------- */

/* Internal to src/report: rows by the value that they share, and what is known of their objectives. */

/* How one objective is distributed: how often it has a value, the mean, the sum of squares around the mean, and the best. */
struct moments {
    uint64_t n;
    double mean, squares, best;
};

/* The rows that share a value. */
struct group {
    char *text; /* or NULL: a number */
    double number;
    uint64_t points;
    struct moments of[SWEEP_OBJECTIVES_MAX];
};

/* Groups by value, {0} is empty; found by hash: slots hold an index + 1, and are never more than half full. */
struct groups {
    struct group *list;
    size_t n, last; /* the group that was found last: values come in a row */
    uint32_t *slots;
    size_t n_slots;
};

/* A copy in the order of the values: those of more than GROUPS_SHOWN numbers in so many ranges, each with its middle for a value.
 */
enum { GROUPS_SHOWN = 40 };

static void groups_release(struct groups *g)
{
    for (size_t i = 0; i < g->n; i++) free(g->list[i].text);
    free(g->list);
    free(g->slots);
    *g = (struct groups){0};
}

static bool is_group_of(const struct group *g, const char *text, double number)
{
    return text ? g->text && strcmp(g->text, text) == 0 : !g->text && (g->number == number || (isnan(number) && isnan(g->number)));
}

static size_t slot_of(const struct groups *g, const char *text, double number)
{
    uint64_t h = text ? text_hash(TEXT_HASH_INIT, text, strlen(text)) : text_hash(TEXT_HASH_INIT, &number, sizeof number);
    size_t at = (size_t)(h ^ h >> 32) & (g->n_slots - 1);
    while (g->slots[at] && !is_group_of(&g->list[g->slots[at] - 1], text, number)) at = (at + 1) & (g->n_slots - 1);
    return at;
}

static void grow(struct groups *g)
{
    g->n_slots = g->n_slots ? 2 * g->n_slots : 64;
    free(g->slots);
    g->slots = xcalloc(g->n_slots, sizeof *g->slots);
    for (size_t i = 0; i < g->n; i++) g->slots[slot_of(g, g->list[i].text, g->list[i].number)] = (uint32_t)i + 1;
}

/* The group of a text, or of a number with text NULL; made when it is not there. Valid until the next. */
static struct group *groups_find(struct groups *g, const char *text, double number)
{
    if (g->n && is_group_of(&g->list[g->last], text, number)) return &g->list[g->last];
    if (2 * g->n >= g->n_slots) grow(g);
    size_t at = slot_of(g, text, number);
    if (!g->slots[at]) {
        g->list = xrealloc(g->list, g->n + 1, sizeof *g->list);
        g->list[g->n] = (struct group){.text = text ? xstrdup(text) : NULL, .number = number};
        g->slots[at] = (uint32_t)++g->n;
    }
    g->last = g->slots[at] - 1;
    return &g->list[g->last];
}

static bool is_better(bool maximise, double a, double b)
{
    return maximise ? a > b : a < b;
}

static void take_value(struct moments *m, double v, bool maximise)
{
    if (!isfinite(v)) return;
    if (m->n == 0 || is_better(maximise, v, m->best)) m->best = v;
    double d = v - m->mean;
    m->n++;
    m->mean += d / (double)m->n;
    m->squares += d * (v - m->mean);
}

static void merge_moments(struct moments *to, const struct moments *from, bool maximise)
{
    if (from->n == 0) return;
    if (to->n == 0 || is_better(maximise, from->best, to->best)) to->best = from->best;
    double n = (double)(to->n + from->n), d = from->mean - to->mean;
    to->squares += from->squares + d * d * (double)to->n * (double)from->n / n;
    to->mean += d * (double)from->n / n;
    to->n += from->n;
}

static void group_merge(const struct goal *goal, struct group *to, const struct group *from)
{
    to->points += from->points;
    for (size_t i = 0; i < goal->n; i++) merge_moments(&to->of[i], &from->of[i], goal->maximise[i]);
}

static void groups_merge(const struct goal *goal, struct groups *to, const struct groups *from)
{
    for (size_t i = 0; i < from->n; i++)
        group_merge(goal, groups_find(to, from->list[i].text, from->list[i].number), &from->list[i]);
}

static int by_value(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->text && y->text) return strcmp(x->text, y->text);
    if (x->text || y->text) return x->text ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_points(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->points != y->points) return x->points < y->points ? 1 : -1;
    return by_value(a, b);
}

static bool all_numbers(const struct groups *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->list[i].text || !isfinite(g->list[i].number)) return false;
    return true;
}

static struct groups groups_shown(const struct goal *goal, const struct groups *g)
{
    struct groups ret = {0};
    if (g->n <= GROUPS_SHOWN || !all_numbers(g)) {
        groups_merge(goal, &ret, g);
    } else {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < g->n; i++) {
            low = fmin(low, g->list[i].number);
            high = fmax(high, g->list[i].number);
        }
        for (size_t i = 0; i < g->n; i++) {
            double range = fmin(floor(GROUPS_SHOWN * (g->list[i].number - low) / (high - low)), GROUPS_SHOWN - 1);
            group_merge(goal, groups_find(&ret, NULL, low + (high - low) * (0.5 + range) / GROUPS_SHOWN), &g->list[i]);
        }
    }
    if (ret.n) qsort(ret.list, ret.n, sizeof *ret.list, by_value);
    return ret;
}

/* Take a row with these objectives, NaN being none; all that another group took. */
static void group_take(const struct goal *goal, struct group *to, const double *values)
{
    to->points++;
    for (size_t i = 0; i < goal->n; i++) take_value(&to->of[i], values[i], goal->maximise[i]);
}

/* Sort the groups by their number of points. groups_find must not be called any more. */
static void groups_sort_by_points(struct groups *g)
{
    if (g->n) qsort(g->list, g->n, sizeof *g->list, by_points);
}

/* ---- effects -------------------------------------------------------------------------------------------------------------- */

enum { REASONS_MAX = 50, PROGRESS_ROWS = 8192 };

/* ---- the scan ------------------------------------------------------------------------------------------------------------ */

struct report_effects {
    const struct report_run *run;
    struct groups **of; /* of[model][axis], in the order of the run's axes */
    struct group *all;  /* of each model: all its feasible rows */
    struct groups reasons;
};

static bool has_axis(const struct report_run *r, size_t m, size_t axis)
{
    return name_list_have(&r->columns_of[m], r->axes.s[axis]);
}

/* The SQL of a scan over one model: status, reason, objectives and axes. */
static char *scan_sql(const struct report_run *r, size_t m)
{
    struct text sql;
    text_init(&sql);
    text_add(&sql, "SELECT status = 'ok', reason");
    for (size_t i = 0; i < r->goal.n; i++) {
        text_add(&sql, name_list_have(&r->columns_of[m], r->goal.columns[i]) ? ", " : ", NULL AS ");
        sql_add_name(&sql, r->goal.columns[i]);
    }
    for (size_t i = 0; i < r->axes.n; i++) {
        text_add(&sql, has_axis(r, m, i) ? ", " : ", NULL AS ");
        sql_add_name(&sql, r->axes.s[i]);
    }
    text_add(&sql, " FROM ");
    sql_add_name(&sql, r->models.s[m]);
    text_addf(&sql, " WHERE run = %lld", (long long)r->id);
    return text_detach(&sql);
}

static void take_row(struct report_effects *e, size_t m, const struct query *q)
{
    const struct report_run *r = e->run;
    if (query_i64(q, 0) == 0) {
        const char *reason = query_text(q, 1);
        groups_find(&e->reasons, reason ? reason : "", 0)->points++;
        return;
    }
    double values[SWEEP_OBJECTIVES_MAX];
    for (size_t i = 0; i < r->goal.n; i++) values[i] = query_f64(q, 2 + (int)i);
    group_take(&r->goal, &e->all[m], values);
    for (size_t i = 0; i < r->axes.n; i++) {
        int at = (int)(2 + r->goal.n + i);
        enum cell_type type = query_type(q, at);
        if (type == CELL_NULL || type == CELL_BLOB) continue;
        const char *text = type == CELL_TEXT ? query_text(q, at) : NULL;
        group_take(&r->goal, groups_find(&e->of[m][i], text, text ? 0 : query_f64(q, at)), values);
    }
}

static bool scan(struct report_effects *e, size_t m, uint64_t *done, struct diags *diags)
{
    const struct report_options *o = e->run->options;
    char *sql = scan_sql(e->run, m);
    struct query *q = query_new(e->run->reader, sql, (struct srcloc){0}, diags);
    int more = -1;
    free(sql);
    while (q && (more = query_step(q, diags)) > 0) {
        take_row(e, m, q);
        if (++*done % PROGRESS_ROWS == 0 && o->progress) o->progress(o->user, *done, *done > e->run->done ? *done : e->run->done);
    }
    query_free(q);
    return q && more == 0;
}

struct report_effects *report_effects_new(const struct report_run *r, struct diags *diags)
{
    struct report_effects *e = xcalloc(1, sizeof *e);
    *e = (struct report_effects){
        .run = r, .of = xcalloc(r->models.n, sizeof(struct groups *)), .all = xcalloc(r->models.n, sizeof *e->all)};
    for (size_t m = 0; m < r->models.n; m++) e->of[m] = xcalloc(r->axes.n, sizeof **e->of);
    uint64_t done = 0;
    bool ok = true;
    for (size_t m = 0; ok && m < r->models.n; m++) ok = scan(e, m, &done, diags);
    if (ok && report_effects_feasible(e) == 0)
        ok =
            diags_runtime(diags, r->options->db, "run %lld has no feasible row, although its record counts some", (long long)r->id);
    if (ok) return e;
    report_effects_free(e);
    return NULL;
}

void report_effects_free(struct report_effects *e)
{
    if (!e) return;
    for (size_t m = 0; m < e->run->models.n; m++) {
        for (size_t i = 0; i < e->run->axes.n; i++) groups_release(&e->of[m][i]);
        free(e->of[m]);
    }
    free(e->of);
    free(e->all);
    groups_release(&e->reasons);
    free(e);
}

uint64_t report_effects_feasible(const struct report_effects *e)
{
    uint64_t n = 0;
    for (size_t m = 0; m < e->run->models.n; m++) n += e->all[m].points;
    return n;
}

/* ---- the queries that give the same -------------------------------------------------------------------------------------- */

/* The rows of the models that have the column, as a table. */
static void add_rows(const struct report_run *r, const bool *models, const char *column, struct text *sql)
{
    bool first = true;
    for (size_t m = 0; m < r->models.n; m++) {
        if (!models[m]) continue;
        text_add(sql, first ? "SELECT " : " UNION ALL SELECT ");
        first = false;
        if (!column)
            sql_add_string(sql, r->models.s[m]);
        else
            sql_add_name(sql, column);
        text_add(sql, " AS value");
        for (size_t i = 0; i < r->goal.n; i++) {
            text_add(sql, name_list_have(&r->columns_of[m], r->goal.columns[i]) ? ", " : ", NULL AS ");
            sql_add_name(sql, r->goal.columns[i]);
        }
        text_add(sql, " FROM ");
        sql_add_name(sql, r->models.s[m]);
        text_addf(sql, " WHERE run = %lld AND status = 'ok'", (long long)r->id);
    }
}

/* The SQL behind an effect. column is NULL for the effect of the model itself. */
static char *effect_sql(const struct report_run *r, const bool *models, const char *column, bool ranges)
{
    struct text sql;
    text_init(&sql);
    text_add(&sql, "WITH points AS (");
    add_rows(r, models, column, &sql);
    text_add(&sql, ")");
    if (ranges)
        text_addf(&sql,
                  ", span AS (SELECT min(value) AS low, max(value) AS high FROM points) SELECT low + (high - low) * (0.5 + "
                  "min(CAST(%d * (value - low) / (high - low) AS INTEGER), %d)) / %d AS value",
                  GROUPS_SHOWN, GROUPS_SHOWN - 1, GROUPS_SHOWN);
    else
        text_add(&sql, " SELECT value");
    text_add(&sql, ", count(*) AS points");
    for (size_t i = 0; i < r->goal.n; i++) {
        text_add(&sql, ", avg(");
        sql_add_name(&sql, r->goal.columns[i]);
        text_addf(&sql, "), %s(", r->goal.maximise[i] ? "max" : "min");
        sql_add_name(&sql, r->goal.columns[i]);
        text_add(&sql, ")");
    }
    text_addf(&sql, " FROM points%s GROUP BY 1 ORDER BY 1", ranges ? ", span" : "");
    return text_detach(&sql);
}

char *reasons_sql(const struct report_run *r)
{
    struct text sql;
    text_init(&sql);
    text_add(&sql, "SELECT reason, count(*) AS points FROM (");
    for (size_t m = 0; m < r->models.n; m++) {
        text_add(&sql, m ? " UNION ALL SELECT reason FROM " : "SELECT reason FROM ");
        sql_add_name(&sql, r->models.s[m]);
        text_addf(&sql, " WHERE run = %lld AND status <> 'ok'", (long long)r->id);
    }
    text_addf(&sql, ") GROUP BY reason ORDER BY points DESC, reason LIMIT %d", REASONS_MAX);
    return text_detach(&sql);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

/* What lies between the groups of the variance around the mean of `all`; NaN when it does not vary. */
static double share_of(const struct groups *g, size_t objective, const struct group *all)
{
    const struct moments *total = &all->of[objective];
    double between = 0;
    for (size_t i = 0; i < g->n; i++) {
        double d = g->list[i].of[objective].mean - total->mean;
        between += (double)g->list[i].of[objective].n * d * d;
    }
    bool varies = total->n && total->squares > 1e-12 * (double)total->n * total->mean * total->mean;
    if (!varies) return (double)NAN;
    double share = fmin(between / total->squares, 1);
    return share < 1e-9 ? 0 : share; /* what rounding leaves is none */
}

static void add_group(const struct report_effects *e, const struct group *g, struct text *t)
{
    text_add(t, "[");
    if (g->text)
        json_text(t, g->text);
    else
        json_short_number(t, g->number);
    text_addf(t, ",%llu", (unsigned long long)g->points);
    for (size_t i = 0; i < e->run->goal.n; i++) {
        const struct moments *m = &g->of[i];
        text_add(t, ","), json_short_number(t, m->n ? m->mean : (double)NAN);
        text_add(t, ","), json_short_number(t, m->n ? m->best : (double)NAN);
    }
    text_add(t, "]");
}

/* Add the effects of one parameter as {name, sql, shares, rows}. The column is NULL for "model". */
static void add_parameter(const struct report_effects *e, const bool *models, const char *column, const struct groups *found,
                          const struct group *all, struct text *t)
{
    struct groups g = groups_shown(&e->run->goal, found);
    char *sql = effect_sql(e->run, models, column, g.n < found->n);
    text_add(t, t->s[t->n - 1] == '[' ? "{" : ",{");
    json_key(t, "name"), json_text(t, column ? column : "model");
    json_key(t, "sql"), json_text(t, sql);
    json_key(t, "shares"), text_add(t, "[");
    for (size_t i = 0; i < e->run->goal.n; i++) {
        if (i) text_add(t, ",");
        json_short_number(t, share_of(&g, i, all));
    }
    text_add(t, "]");
    json_key(t, "rows"), text_add(t, "[");
    for (size_t i = 0; i < g.n; i++) {
        if (i) text_add(t, ",");
        add_group(e, &g.list[i], t);
    }
    text_add(t, "]}");
    free(sql);
    groups_release(&g);
}

/* The models of `models` together: the parameters that all of them have and that take several values. */
static void add_scope(const struct report_effects *e, const char *name, const bool *models, bool compare, struct text *t)
{
    const struct report_run *r = e->run;
    struct group all = {0};
    struct groups each = {0};
    for (size_t m = 0; m < r->models.n; m++) {
        if (!models[m]) continue;
        group_merge(&r->goal, &all, &e->all[m]);
        if (e->all[m].points) group_merge(&r->goal, groups_find(&each, r->models.s[m], 0), &e->all[m]);
    }
    text_add(t, t->s[t->n - 1] == '[' ? "{" : ",{");
    json_key(t, "scope"), json_text(t, name);
    json_key(t, "points"), text_addf(t, "%llu", (unsigned long long)all.points);
    json_key(t, "parameters"), text_add(t, "[");
    if (compare) add_parameter(e, models, NULL, &each, &all, t);
    for (size_t i = 0; i < r->axes.n; i++) {
        struct groups g = {0};
        bool have = true;
        for (size_t m = 0; m < r->models.n; m++) {
            if (models[m]) groups_merge(&r->goal, &g, &e->of[m][i]);
            have = have && (!models[m] || has_axis(r, m, i));
        }
        if (have && g.n > 1) add_parameter(e, models, r->axes.s[i], &g, &all, t);
        groups_release(&g);
    }
    text_add(t, "]}");
    groups_release(&each);
}

void report_effects_json(const struct report_effects *e, struct text *t)
{
    size_t n = e->run->models.n;
    bool *models = xcalloc(n, sizeof *models);
    text_add(t, "[");
    for (size_t m = 0; m < n; m++) models[m] = true;
    if (n > 1) add_scope(e, "all models", models, true, t);
    for (size_t m = 0; m < n; m++) {
        for (size_t k = 0; k < n; k++) models[k] = k == m;
        if (e->all[m].points) add_scope(e, e->run->models.s[m], models, false, t);
    }
    text_add(t, "]");
    free(models);
}

void report_reasons_json(const struct report_effects *e, struct text *t)
{
    struct groups g = {0};
    groups_merge(&e->run->goal, &g, &e->reasons);
    groups_sort_by_points(&g);
    text_add(t, "[");
    for (size_t i = 0; i < g.n && i < REASONS_MAX; i++) {
        text_add(t, i ? ",[" : "[");
        json_text(t, g.list[i].text);
        text_addf(t, ",%llu]", (unsigned long long)g.list[i].points);
    }
    text_add(t, "]");
    groups_release(&g);
}
