#include "agree/agree_internal.h"

#include "base/threads.h"
#include "base/xalloc.h"
#include "space/command.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What all points have in common. */
struct task {
    const struct agree_options *options;
    const struct design_point *defaults;
    struct sources sources;
    volatile sig_atomic_t halt; /* told to stop, or the budget is spent */
    volatile sig_atomic_t done; /* the watch may go */
    bool spent;
};

/* ---- the watch ----------------------------------------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Look now and then whether the work has to end: a run that goes on is stopped, too. */
static void *watch(void *object)
{
    struct task *t = object;
    const struct agree_options *o = t->options;
    const double end_s = o->budget_s > 0 ? now_s() + o->budget_s : (double)INFINITY;
    const struct timespec pause = {.tv_nsec = 2000000};
    while (!t->done && !t->halt) {
        t->spent = now_s() >= end_s;
        if (t->spent || (o->stop && *o->stop)) t->halt = 1;
        if (!t->halt) nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- one point ----------------------------------------------------------------------------------------------------------- */

static struct agree_point no_point(void)
{
    struct agree_point p = {0};
    for (int k = 0; k < AGREE_METRICS; k++) {
        p.metric[k] = p.left[k] = (double)NAN;
        for (int i = 0; i < AGREE_CAUSES; i++) p.cause[k][i] = (double)NAN;
    }
    return p;
}

static void keep_assignments(const struct drawing *d, struct agree_point *ret)
{
    ret->assignments = xcalloc(d->settings.n + 1, sizeof *ret->assignments);
    for (size_t i = 0; i < d->settings.n; i++) ret->assignments[ret->n_assignments++] = xstrdup(d->settings.list[i]);
}

/* Draw points until one is found that both fidelities can carry out. */
static void find_point(struct drawing *d, const struct task *t, struct runner *r, struct agree_point *ret)
{
    const struct agree_options *o = t->options;
    while (ret->tried < AGREE_TRIES && !t->halt) {
        struct design_point p;
        ret->tried++;
        if (!(t->sources.n ? draw_of_a_sweep(d, &t->sources, t->defaults, &p) : draw_near(d, t->defaults, &p))) continue;
        enum run_end end = carry_out(r, &p, o, ret);
        if (end != RUN_STOPPED && end != RUN_REFUSED && !ret->is_measured) {
            ret->settings = t->sources.n ? space_settings(p.space, 0) : settings_that_matter(d, t->defaults, r, &p);
            keep_assignments(d, ret);
            ret->command =
                eval_command(d->model->desc->name, FIDELITY_EVENT_LEVEL, o->catalogs, o->n_catalogs, NULL, ret->settings);
        }
        design_point_release(&p);
        if (end != RUN_REFUSED) return;
    }
}

static struct agree_point point_of(const struct task *t, const struct catalog *catalog, uint64_t i)
{
    const struct agree_options *o = t->options;
    struct agree_point ret = no_point();
    struct drawing d = {.model = t->defaults->model, .catalog = catalog, .rng = gsl_rng_alloc(gsl_rng_mt19937), .number = i + 1};
    if (!d.rng) out_of_memory(0);
    uint64_t seed = text_hash(TEXT_HASH_INIT, &o->seed, sizeof o->seed);
    gsl_rng_set(d.rng, (unsigned long)text_hash(seed, &i, sizeof i));
    d.settings = (struct settings){.list = xcalloc(o->n_assignments + 2 * d.model->params.n, sizeof(char *)),
                                   .n = o->n_assignments,
                                   .given = o->n_assignments};
    for (size_t k = 0; k < o->n_assignments; k++) d.settings.list[k] = xstrdup(o->assignments[k]);
    struct sim_options options = {.stop = &t->halt, .events_max = RUNNER_EVENTS_MAX};
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, &options);
    find_point(&d, t, r, &ret);
    runner_free(r);
    settings_drop(&d.settings, 0);
    free(d.settings.list);
    gsl_rng_free(d.rng);
    return ret;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

static void run_points(struct task *t, const struct catalog *catalog, struct agreement *ret)
{
    const struct agree_options *o = t->options;
    pthread_t watcher;
    t->halt = o->stop && *o->stop;
    const bool watched = pthread_create(&watcher, NULL, watch, t) == 0;
    uint64_t done = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_available(o->threads > 0 ? o->threads : omp_get_num_procs()))
    for (uint64_t i = 0; i < ret->n; i++) {
        if (o->stop && *o->stop) t->halt = 1;
        ret->points[i] = t->halt ? no_point() : point_of(t, catalog, i);
#pragma omp critical(agree_progress)
        if (o->progress && !t->halt) o->progress(o->user, ++done, ret->n);
    }
    t->done = 1;
    if (watched) pthread_join(watcher, NULL);
    ret->spent = t->spent;
    ret->stopped = t->spent || (o->stop && *o->stop);
}

bool agree(const struct model *m, const struct catalog *catalog, const struct agree_options *options, struct agreement *ret,
           struct diags *diags)
{
    struct design_point defaults;
    struct task t = {.options = options, .defaults = &defaults};
    *ret = (struct agreement){.model = m, .n = options->points};
    bool ok = design_point_init(&defaults, m, catalog, options->assignments, options->n_assignments, diags);
    ok = sources_of(m, options, &t.sources, diags) && ok;
    if (ok) {
        ret->points = xcalloc(ret->n, sizeof *ret->points);
        run_points(&t, catalog, ret);
    }
    sources_release(&t.sources);
    design_point_release(&defaults);
    return ok;
}

void agreement_release(struct agreement *a)
{
    for (size_t i = 0; i < a->n && a->points; i++) {
        free(a->points[i].settings);
        free(a->points[i].command);
        free(a->points[i].failure);
        rank_forget(&a->points[i]);
        for (size_t k = 0; k < a->points[i].n_assignments; k++) free(a->points[i].assignments[k]);
        free(a->points[i].assignments);
    }
    free(a->points);
    *a = (struct agreement){0};
}

double agree_metric(const struct agree_point *p, int which)
{
    return p->metric[which];
}

double agree_cause(const struct agree_point *p, int which)
{
    const int metric = which / AGREE_CAUSES_AND_LEFT, cause = which % AGREE_CAUSES_AND_LEFT;
    return cause < AGREE_CAUSES ? p->cause[metric][cause] : p->left[metric];
}

struct agree_spread agree_spread_of(const struct agreement *a, double (*value)(const struct agree_point *p, int which), int which)
{
    struct agree_spread s = {.min = NAN, .p10 = NAN, .median = NAN, .p90 = NAN, .max = NAN, .within = NAN};
    double *list = xcalloc(a->n, sizeof *list);
    for (size_t i = 0; i < a->n; i++) {
        double v = value(&a->points[i], which);
        if (!isnan(v)) list[s.n++] = v;
    }
    if (s.n) {
        gsl_sort(list, 1, s.n);
        s.min = list[0];
        s.p10 = gsl_stats_quantile_from_sorted_data(list, 1, s.n, 0.1);
        s.median = gsl_stats_quantile_from_sorted_data(list, 1, s.n, 0.5);
        s.p90 = gsl_stats_quantile_from_sorted_data(list, 1, s.n, 0.9);
        s.max = list[s.n - 1];
        for (size_t i = 0; i < s.n; i++) list[i] = fabs(list[i]);
        gsl_sort(list, 1, s.n);
        s.within = gsl_stats_quantile_from_sorted_data(list, 1, s.n, 0.95);
    }
    free(list);
    return s;
}
