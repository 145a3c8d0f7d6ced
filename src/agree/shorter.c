/* The shortest command that shows a point, or a difference, again. */
#include "agree/agree_internal.h"

#include "base/xalloc.h"
#include "space/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the command --------------------------------------------------------------------------------------------------------- */

/* The settings of a point, some of which are left out. */
struct shorter {
    const struct drawing *d;
    const struct design_point *defaults, *point;
    struct runner *runner;
    bool *out; /* of d->settings */
};

/* Make the point of those that are left. The caller releases *ret in any case. */
static bool make_shorter(const struct shorter *s, struct design_point *ret)
{
    struct diags quiet; /* settings that exclude each other may not do without one */
    const struct settings *all = &s->d->settings;
    const char **left = xcalloc(all->n + 1, sizeof *left);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!s->out[i]) left[n++] = all->list[i];
    diags_init(&quiet);
    const bool ok = design_point_init_like(ret, s->defaults->binding, left, n, &quiet);
    diags_release(&quiet);
    free(left);
    return ok && !ret->reason;
}

/* Are all metrics that are compared the same? */
static bool same_metrics(const struct model *m, const void *x, const void *y)
{
    for (int i = 0; agree_metric_names[i]; i++) {
        const struct field *f = schema_find(&m->metrics, agree_metric_names[i]);
        if (f && !f->without && !field_same(f, x, y)) return false;
    }
    return true;
}

static bool same_closed_form(const struct design_point *a, const struct design_point *b)
{
    const struct model *m = a->model;
    void *x = xcalloc(1, m->desc->metrics_size), *y = xcalloc(1, m->desc->metrics_size);
    m->desc->estimate(a->params, x, NULL);
    m->desc->estimate(b->params, y, NULL);
    const bool same = same_metrics(m, x, y);
    free(x);
    free(y);
    return same;
}

/* Leave out each drawn setting without which the closed form is the same. */
static void leave_out_idle(const struct shorter *s)
{
    const struct settings *all = &s->d->settings;
    for (size_t i = all->given; i < all->n; i++) {
        struct design_point without;
        s->out[i] = true;
        s->out[i] = make_shorter(s, &without) && same_closed_form(s->point, &without);
        design_point_release(&without);
    }
}

/* Does the event level say the same of both points? */
static bool same_events(struct runner *r, const struct design_point *a, const struct design_point *b)
{
    const struct model *m = a->model;
    void *x = xcalloc(1, m->desc->metrics_size), *y = xcalloc(1, m->desc->metrics_size);
    runner_set_ideal(r, 0);
    const bool same = runner_run(r, m->desc, a->params, x, NULL) == RUN_DONE &&
                      runner_run(r, m->desc, b->params, y, NULL) == RUN_DONE && same_metrics(m, x, y);
    free(x);
    free(y);
    return same;
}

/* Of n settings that the closed form can do without, leave out those that the event level can do without, too: all at once, or else
 * each half by itself. */
static void leave_out(const struct shorter *s, const size_t *idle, size_t n)
{
    struct design_point without;
    for (size_t i = 0; i < n; i++) s->out[idle[i]] = true;
    const bool same = n == 0 || (make_shorter(s, &without) && same_events(s->runner, s->point, &without));
    if (n) design_point_release(&without);
    if (same) return;
    for (size_t i = 0; i < n; i++) s->out[idle[i]] = false;
    if (n == 1) return;
    leave_out(s, idle, n / 2);
    leave_out(s, idle + n / 2, n - n / 2);
}

char *settings_that_matter(const struct drawing *d, const struct design_point *defaults, struct runner *r,
                           const struct design_point *p)
{
    const size_t n = d->settings.n;
    const struct shorter s = {d, defaults, p, r, xcalloc(n + 1, sizeof(bool))};
    size_t *idle = xcalloc(n + 1, sizeof *idle), n_idle = 0;
    leave_out_idle(&s);
    for (size_t i = 0; i < n; i++)
        if (s.out[i]) idle[n_idle++] = i;
    leave_out(&s, idle, n_idle);
    struct design_point less;
    const bool made = make_shorter(&s, &less);
    char *ret = space_settings(made ? less.space : p->space, 0);
    design_point_release(&less);
    free(idle);
    free(s.out);
    return ret;
}

/* ---- of one difference --------------------------------------------------------------------------------------------------- */

/* A point whose difference in one metric is to stay. */
struct kept {
    struct shorter s;
    int metric;
    double difference;
    double end_s; /* of CLOCK_MONOTONIC */
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Leave out those of n settings that move the difference by less than a tenth: all at once, or else each half by itself. */
static void leave_out_small(const struct kept *k, const size_t *which, size_t n)
{
    struct design_point without;
    if (n == 0 || now_s() > k->end_s) return;
    for (size_t i = 0; i < n; i++) k->s.out[which[i]] = true;
    bool same = make_shorter(&k->s, &without);
    if (same) same = fabs(difference_at(k->s.runner, &without, k->metric) - k->difference) <= 0.1 * fabs(k->difference);
    design_point_release(&without);
    if (same) return;
    for (size_t i = 0; i < n; i++) k->s.out[which[i]] = false;
    if (n == 1) return;
    leave_out_small(k, which, n / 2);
    leave_out_small(k, which + n / 2, n - n / 2);
}

static char *command_of(const struct kept *k, const struct agree_options *o)
{
    struct design_point less;
    char *ret = NULL;
    if (make_shorter(&k->s, &less)) {
        char *settings = space_settings(less.space, 0);
        ret = eval_command(less.model->desc->name, FIDELITY_EVENT_LEVEL, o->catalogs, o->n_catalogs, NULL, settings);
        free(settings);
    }
    design_point_release(&less);
    return ret;
}

char *agree_shortest(const struct agreement *a, const struct catalog *catalog, const struct agree_options *options,
                     const struct agree_point *p, int metric)
{
    struct diags quiet;
    struct design_point defaults;
    struct sim_options run = {.stop = options->stop, .events_max = RUNNER_EVENTS_MAX};
    const struct drawing d = {.model = a->model, .settings = {.list = p->assignments, .n = p->n_assignments}};
    bool *out = xcalloc(p->n_assignments + 1, sizeof *out);
    size_t *which = xcalloc(p->n_assignments + 1, sizeof *which), n = 0;
    diags_init(&quiet);
    char *ret = NULL;
    if (design_point_init(&defaults, a->model, catalog, NULL, 0, &quiet)) {
        const struct kept k = {.s = {&d, &defaults, NULL, runner_new(FIDELITY_EVENT_LEVEL, &run), out},
                               .metric = metric,
                               .difference = p->metric[metric],
                               .end_s = now_s() + AGREE_SHORTEN_S};
        for (size_t i = 0; i < p->n_assignments; i++) which[n++] = i;
        leave_out_small(&k, which, n);
        ret = command_of(&k, options);
        runner_free(k.s.runner);
    }
    design_point_release(&defaults);
    diags_release(&quiet);
    free(which);
    free(out);
    return ret ? ret : xstrdup(p->command);
}
