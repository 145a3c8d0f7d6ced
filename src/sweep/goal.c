#include "sweep/goal.h"

#include "analysis/grouped_front.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void goal_init(struct goal *g)
{
    *g = (struct goal){0};
}

void goal_release(struct goal *g)
{
    for (size_t i = 0; i < g->n; i++) free(g->columns[i]);
    for (size_t i = 0; i < g->n_per; i++) free(g->per[i]);
    free(g->per);
    goal_init(g);
}

bool goal_add(struct goal *g, const char *column, bool maximise)
{
    if (g->n == SWEEP_OBJECTIVES_MAX) return false;
    g->columns[g->n] = xstrdup(column);
    g->maximise[g->n++] = maximise;
    return true;
}

void goal_add_per(struct goal *g, const char *parameter)
{
    g->per = xrealloc(g->per, g->n_per + 1, sizeof(char *));
    g->per[g->n_per++] = xstrdup(parameter);
}

void goal_of_sweep(struct goal *g, const struct sweep_file *s)
{
    goal_init(g);
    for (size_t i = 0; i < s->n_objectives; i++) goal_add(g, s->objectives[i].column, s->objectives[i].maximise);
    for (size_t i = 0; i < s->n_per; i++) goal_add_per(g, s->per[i]);
}

char *goal_text(const struct goal *g)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < g->n; i++) text_addf(&t, "%s%s %s", i ? ", " : "", g->maximise[i] ? "max" : "min", g->columns[i]);
    for (size_t i = 0; i < g->n_per; i++) text_addf(&t, "%s%s", i ? ", " : " per ", g->per[i]);
    return text_detach(&t);
}

bool goal_parse(struct goal *g, const char *text)
{
    goal_init(g);
    char *copy = xstrdup(text), *rest = copy;
    bool ok = true, per = false;
    char *words = NULL, *first;
    while (ok && (first = strtok_r(rest, ", ", &words)) != NULL) {
        rest = NULL;
        if (strcmp(first, "per") == 0) {
            per = true;
        } else if (per) {
            goal_add_per(g, first);
        } else {
            char *column = strtok_r(NULL, ", ", &words);
            bool max = strcmp(first, "max") == 0;
            ok = column && (max || strcmp(first, "min") == 0) && goal_add(g, column, max);
        }
    }
    free(copy);
    return ok && g->n > 0;
}

void goal_values(const struct goal *g, const struct space *sp, const union cell *cells, double *ret)
{
    size_t n;
    const struct column *columns = space_columns(sp, &n);
    for (size_t i = 0; i < g->n; i++) {
        size_t c = space_column(sp, g->columns[i]);
        if (c == SIZE_MAX)
            ret[i] = (double)NAN;
        else if (columns[c].type == DSE_TYPE_I64)
            ret[i] = cells[c].i64 == INT64_MIN ? (double)NAN : (double)cells[c].i64;
        else
            ret[i] = cells[c].f64;
    }
}

/* ---- the front ----------------------------------------------------------------------------------------------------------- */

/* A point of any of the models, as one id of the common front. */
enum { MODEL_SHIFT = 56 };

struct scan {
    struct grouped_front *front;
    uint64_t model;
};

static void add_point(void *user, uint64_t point, const double *values, const char *group)
{
    struct scan *scan = user;
    grouped_front_add(scan->front, group, scan->model << MODEL_SHIFT | point, values);
}

static bool store_fronts(struct store *st, size_t n_models, const uint64_t *ids, size_t n, struct diags *diags)
{
    uint64_t *points = xmalloc(n * sizeof *points);
    size_t at = 0;
    bool ok = true;
    for (size_t m = 0; ok && m < n_models; m++) {
        size_t k = 0;
        for (; at < n && ids[at] >> MODEL_SHIFT == m; at++) points[k++] = ids[at] & (((uint64_t)1 << MODEL_SHIFT) - 1);
        ok = store_front(st, m, points, k, diags);
    }
    free(points);
    return ok;
}

/* Find out whether the run has rows that a refinement added. */
static bool is_refined(struct store *st, bool *ret, struct diags *diags)
{
    *ret = false;
    for (size_t m = 0; m < store_models(st) && !*ret; m++) {
        size_t n;
        uint64_t *points = store_refined(st, m, &n, diags);
        if (!points) return false;
        *ret = n > 0;
        free(points);
    }
    return true;
}

bool goal_front(struct store *st, const struct goal *g, size_t *ret_n, struct diags *diags)
{
    bool refined;
    if (!is_refined(st, &refined, diags)) return false;
    struct scan scan = {.front = grouped_front_new((int)g->n, g->maximise)};
    struct scan_columns columns = {
        .values = (const char *const *)g->columns, .n_values = g->n, .group = (const char *const *)g->per, .n_group = g->n_per};
    bool ok = true;
    for (; ok && scan.model < store_models(st); scan.model++)
        ok = store_scan(st, scan.model, refined ? STORE_REFINED : STORE_FIRST, &columns, add_point, &scan, diags);
    if (ok) {
        const uint64_t *ids;
        double hypervolume;
        *ret_n = grouped_front_finish(scan.front, &ids, &hypervolume);
        ok = store_fronts(st, store_models(st), ids, *ret_n, diags) && store_hypervolume(st, hypervolume, diags) &&
             store_notices(st, (const char *const *)g->columns, g->n, (const char *const *)g->per, g->n_per, diags);
    }
    grouped_front_free(scan.front);
    return ok;
}
