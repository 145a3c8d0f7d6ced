#include "sweep/outlook.h"

#include "analysis/grouped_front.h"
#include "base/xalloc.h"
#include "space/space.h"
#include "sweep/goal.h"
#include "workload/request_mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODEL_SHIFT = 56 }; /* ids as in goal.c */

struct looking {
    const struct sweep_file *sweep;
    struct space **spaces;
    struct goal goal;
    struct grouped_front *front;
    struct sweep_outlook *ret;
    uint64_t runs[OUTLOOK_RUNS]; /* ids of points to run */
    size_t n_runs;
};

/* Point i of n that are spread over a space of that many: the fractions of multiples of the golden ratio, or all. */
static uint64_t spread(uint64_t i, uint64_t n, uint64_t count)
{
    if (n == count) return i;
    return (uint64_t)((__uint128_t)(i * UINT64_C(0x9E3779B97F4A7C15)) * count >> 64);
}

/* ---- the front ----------------------------------------------------------------------------------------------------------- */

static void add_group(const struct space *sp, const char *name, const union cell *cells, struct text *group)
{
    size_t n, c = space_column(sp, name);
    const struct column *columns = space_columns(sp, &n);
    char buf[TEXT_NUMBER_MAX];
    if (c == SIZE_MAX) return; /* the same for all points */
    if (columns[c].type == DSE_TYPE_F64)
        text_add(group, text_number(buf, cells[c].f64));
    else if (columns[c].type == DSE_TYPE_I64)
        text_add(group, text_number(buf, (double)cells[c].i64));
    else
        text_add(group, cells[c].text);
    text_add(group, "\x1f");
}

static void add_point(struct looking *l, const struct space *sp, uint64_t id, const union cell *cells)
{
    double values[SWEEP_OBJECTIVES_MAX];
    struct text group;
    text_init(&group);
    goal_values(&l->goal, sp, cells, values);
    for (size_t i = 0; i < l->goal.n_per; i++) add_group(sp, l->goal.per[i], cells, &group);
    grouped_front_add(l->front, group.s, id, values);
    text_release(&group);
}

static void look_at_space(struct looking *l, size_t m)
{
    const struct space *sp = l->spaces[m];
    uint64_t count = space_count(sp);
    uint64_t n = l->ret->points <= OUTLOOK_POINTS ? count : (uint64_t)((double)count / (double)l->ret->points * OUTLOOK_POINTS);
    size_t columns;
    space_columns(sp, &columns);
    struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    union cell *cells = xcalloc(columns, sizeof *cells);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t point = spread(i, n, count), id = (uint64_t)m << MODEL_SHIFT | point;
        struct row row;
        const bool whole = evaluator_run(e, point, 1, cells, &row);
        l->ret->sampled++;
        if (!whole || row.reason) continue;
        if (l->ret->feasible++ % (1 + n / OUTLOOK_RUNS) == 0 && l->n_runs < OUTLOOK_RUNS) l->runs[l->n_runs++] = id;
        if (l->sweep->refine && row_is_within(&row)) add_point(l, sp, id, cells);
    }
    free(cells);
    evaluator_free(e);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many neighbours the points on the front have that are not on it, each counted once. */
static void count_neighbours(struct looking *l, const uint64_t *ids, size_t n)
{
    uint64_t *near = NULL, of_one[SPACE_NEIGHBOURS_MAX];
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t model = ids[i] >> MODEL_SHIFT << MODEL_SHIFT;
        size_t found = space_neighbours(l->spaces[ids[i] >> MODEL_SHIFT], ids[i] - model, of_one);
        near = xrealloc(near, k + found + 1, sizeof *near);
        for (size_t j = 0; j < found; j++)
            if (!bsearch(&(uint64_t){model | of_one[j]}, ids, n, sizeof *ids, by_value)) near[k++] = model | of_one[j];
    }
    if (k) qsort(near, k, sizeof *near, by_value);
    for (size_t i = 0; i < k; i++) l->ret->neighbours += i == 0 || near[i] != near[i - 1];
    free(near);
}

/* ---- the runs ------------------------------------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A few runs, of points that are spread over the space; none when the first has taken long. */
static void time_runs(struct looking *l)
{
    static const double ENOUGH_SECONDS = 1;
    struct sim_options options = {.events_max = OUTLOOK_EVENTS};
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, &options);
    double start = now(), spent = 0, rows = 0;
    size_t done = 0;
    for (; done < l->n_runs && spent < ENOUGH_SECONDS; done++) {
        const struct space *sp = l->spaces[l->runs[done] >> MODEL_SHIFT];
        const struct dse_model *model = space_model(sp)->desc;
        void *params = xmalloc(model->params_size), *metrics = xcalloc(1, model->metrics_size);
        space_point(sp, l->runs[done] & (((uint64_t)1 << MODEL_SHIFT) - 1), params);
        l->ret->longer |= runner_run(r, model, params, metrics, NULL) != RUN_DONE;
        free(params);
        free(metrics);
        double took = now() - start - spent;
        const struct request_mix *requests = space_requests(sp); /* the run was the mean one's */
        rows += took * (requests ? (double)requests->n : 1);
        spent += took;
    }
    l->ret->run_seconds = done ? rows / (double)done : (double)NAN;
    runner_free(r);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

static void look(struct looking *l)
{
    for (size_t m = 0; m < l->sweep->n_models; m++) l->ret->points += space_count(l->spaces[m]);
    l->front = grouped_front_new((int)l->goal.n, l->goal.maximise);
    for (size_t m = 0; m < l->sweep->n_models; m++) look_at_space(l, m);
    if (l->sweep->refine) {
        const uint64_t *ids;
        size_t n = grouped_front_finish(l->front, &ids, NULL);
        l->ret->front = n;
        count_neighbours(l, ids, n);
    }
    time_runs(l);
    grouped_front_free(l->front);
}

bool sweep_outlook(const struct sweep_file *s, uint64_t max_points, struct sweep_outlook *ret, struct diags *diags)
{
    *ret = (struct sweep_outlook){.run_seconds = NAN};
    struct looking l = {.sweep = s, .ret = ret, .spaces = xcalloc(s->n_models, sizeof(struct space *))};
    bool ok = true;
    for (size_t m = 0; m < s->n_models; m++) {
        l.spaces[m] = space_new(s, m, max_points, diags);
        if (!l.spaces[m]) ok = false;
    }
    goal_of_sweep(&l.goal, s);
    if (ok) look(&l);
    goal_release(&l.goal);
    for (size_t m = 0; m < s->n_models; m++) space_free(l.spaces[m]);
    free(l.spaces);
    return ok;
}
