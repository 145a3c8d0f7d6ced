#include "sweep/keeper.h"

#include "analysis/grouped_front.h"
#include "base/xalloc.h"
#include "search/reservoir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_KEY_MAX = 24 };

/* A point with the least or the greatest value of an objective; of equal ones the first. */
struct end {
    double value;
    uint64_t point;
    bool there;
};

struct group {
    uint64_t *keys;
    unsigned front;           /* one of budget_fronts */
    char name[GROUP_KEY_MAX]; /* for the grouped front */
    struct end *ends;         /* of each objective the least and the greatest */
};

struct keeper {
    struct evaluator *evaluator;
    struct point_scan scan;
    size_t columns[SWEEP_OBJECTIVES_MAX];
    const struct field **fields; /* of the parameters that tell groups apart */
    struct group *groups;
    size_t n_groups, last;
    struct grouped_front *front;
    struct reservoir *sample; /* or NULL */
    struct stream_count *counts;
    const char **reasons; /* as the evaluator gives them: counts by pointer */
    size_t n_counts, last_count;
    uint64_t *points;
    size_t n_points, capacity;
};

/* The parameters of the goal's `per` that vary in this space. */
static void find_groups(struct keeper *k, const struct space *sp, const struct goal *goal)
{
    const struct schema *params = &space_model(sp)->params;
    k->fields = xcalloc(goal->n_per, sizeof *k->fields);
    for (size_t i = 0; i < goal->n_per; i++) {
        const struct field *f = schema_find(params, goal->per[i]);
        if (f && space_varies(sp, schema_index(params, f))) k->fields[k->scan.n_groups++] = f;
    }
    k->scan.groups = k->fields;
}

struct keeper *keeper_new(const struct space *sp, const struct goal *goal, size_t sample)
{
    struct keeper *k = xcalloc(1, sizeof *k);
    find_groups(k, sp, goal);
    for (size_t j = 0; j < goal->n; j++) k->columns[j] = space_column(sp, goal->columns[j]);
    k->scan.columns = k->columns;
    k->scan.n_columns = goal->n;
    k->scan.values = xcalloc(KEEPER_BLOCK * goal->n, sizeof *k->scan.values);
    k->scan.keys = xcalloc(KEEPER_BLOCK * k->scan.n_groups, sizeof *k->scan.keys);
    k->scan.rows = xcalloc(KEEPER_BLOCK, sizeof *k->scan.rows);
    k->evaluator = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    k->front = grouped_front_new((int)goal->n, goal->maximise);
    if (sample) k->sample = reservoir_new(sample);
    return k;
}

void keeper_free(struct keeper *k)
{
    if (!k) return;
    for (size_t i = 0; i < k->n_groups; i++) {
        free(k->groups[i].keys);
        free(k->groups[i].ends);
    }
    evaluator_free(k->evaluator);
    grouped_front_free(k->front);
    reservoir_free(k->sample);
    free(k->fields);
    free(k->groups);
    free(k->scan.values);
    free(k->scan.keys);
    free(k->scan.rows);
    free(k->counts);
    free(k->reasons);
    free(k->points);
    free(k);
}

/* ---- taking points ----------------------------------------------------------------------------------------------------------- */

static bool is_of(const struct keeper *k, const struct group *g, const uint64_t *keys, unsigned front)
{
    return g->front == front && (k->scan.n_groups == 0 || memcmp(g->keys, keys, k->scan.n_groups * sizeof *keys) == 0);
}

/* The group with these keys of one of the budgets. That of the last point comes first: points of one group often stand together. */
static struct group *find_group(struct keeper *k, const uint64_t *keys, unsigned front)
{
    const size_t bytes = k->scan.n_groups * sizeof *keys;
    if (k->n_groups && is_of(k, &k->groups[k->last], keys, front)) return &k->groups[k->last];
    for (k->last = 0; k->last < k->n_groups; k->last++)
        if (is_of(k, &k->groups[k->last], keys, front)) return &k->groups[k->last];
    k->groups = xrealloc(k->groups, k->n_groups + 1, sizeof *k->groups);
    struct group *g = &k->groups[k->n_groups];
    *g =
        (struct group){.front = front, .keys = xmalloc(bytes ? bytes : 1), .ends = xcalloc(2 * k->scan.n_columns, sizeof *g->ends)};
    if (bytes) memcpy(g->keys, keys, bytes);
    snprintf(g->name, sizeof g->name, "%zu", k->n_groups);
    k->n_groups++;
    return g;
}

static void take_end(struct end *e, double value, uint64_t point, bool better)
{
    if (e->there && !better && !(value == e->value && point < e->point)) return;
    *e = (struct end){value, point, true};
}

/* Take point i of the scan for a front that it may be on. */
static void take_for(struct keeper *k, uint64_t point, size_t i, unsigned front)
{
    const size_t m = k->scan.n_columns;
    const double *values = k->scan.values + i * m;
    struct group *g = find_group(k, k->scan.keys + i * k->scan.n_groups, front);
    for (size_t j = 0; j < m; j++) {
        if (isnan(values[j])) continue;
        take_end(&g->ends[2 * j], values[j], point, values[j] < g->ends[2 * j].value);
        take_end(&g->ends[2 * j + 1], values[j], point, values[j] > g->ends[2 * j + 1].value);
    }
    grouped_front_add(k->front, g->name, point, values);
}

static void take_feasible(struct keeper *k, uint64_t point, size_t i)
{
    for (unsigned fronts = k->scan.rows[i].fronts; fronts; fronts &= fronts - 1) take_for(k, point, i, fronts & -fronts);
}

static void count(struct keeper *k, const char *reason)
{
    if (k->n_counts && k->reasons[k->last_count] == reason) {
        k->counts[k->last_count].points++;
        return;
    }
    for (k->last_count = 0; k->last_count < k->n_counts && k->reasons[k->last_count] != reason;) k->last_count++;
    if (k->last_count == k->n_counts) {
        k->counts = xrealloc(k->counts, k->n_counts + 1, sizeof *k->counts);
        k->reasons = xrealloc(k->reasons, k->n_counts + 1, sizeof *k->reasons);
        k->reasons[k->n_counts] = reason;
        k->counts[k->n_counts++] = (struct stream_count){0};
    }
    k->counts[k->last_count].points++;
}

static bool take(struct keeper *k, uint64_t first, size_t n, bool counted)
{
    if (!evaluator_scan(k->evaluator, first, n, &k->scan)) return false;
    for (size_t i = 0; i < n; i++) {
        const char *reason = k->scan.rows[i].reason;
        if (counted) count(k, reason);
        if (!reason) take_feasible(k, first + i, i);
        if (k->sample) reservoir_add(k->sample, first + i);
    }
    return true;
}

bool keeper_evaluate(struct keeper *k, uint64_t first, size_t n)
{
    return take(k, first, n, true);
}

bool keeper_take(struct keeper *k, uint64_t point)
{
    return take(k, point, 1, false);
}

const char *keeper_error(const struct keeper *k)
{
    return evaluator_error(k->evaluator);
}

/* ---- what it keeps ----------------------------------------------------------------------------------------------------------- */

static void add_points(struct keeper *k, const uint64_t *points, size_t n)
{
    if (k->n_points + n > k->capacity) {
        k->capacity = 2 * (k->n_points + n);
        k->points = xrealloc(k->points, k->capacity, sizeof *k->points);
    }
    if (n) memcpy(k->points + k->n_points, points, n * sizeof *points);
    k->n_points += n;
}

const uint64_t *keeper_points(struct keeper *k, size_t *ret_n)
{
    const uint64_t *points;
    size_t n = grouped_front_finish(k->front, &points, NULL);
    k->n_points = 0;
    add_points(k, points, n);
    for (size_t g = 0; g < k->n_groups; g++)
        for (size_t e = 0; e < 2 * k->scan.n_columns; e++)
            if (k->groups[g].ends[e].there) add_points(k, &k->groups[g].ends[e].point, 1);
    if (k->sample) {
        points = reservoir_points(k->sample, &n);
        add_points(k, points, n);
    }
    *ret_n = k->n_points;
    return k->points;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

void keeper_add_counts(struct keeper *k, struct stream_state *s)
{
    for (size_t i = 0; i < k->n_counts; i++) {
        size_t c = 0;
        while (c < s->n_counts && !is_same(s->counts[c].reason, k->reasons[i])) c++;
        if (c == s->n_counts) {
            s->counts = xrealloc(s->counts, s->n_counts + 1, sizeof *s->counts);
            s->counts[s->n_counts++] = (struct stream_count){.reason = k->reasons[i] ? xstrdup(k->reasons[i]) : NULL};
        }
        s->counts[c].points += k->counts[i].points;
        k->counts[i].points = 0;
    }
}
