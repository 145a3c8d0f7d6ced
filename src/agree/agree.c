#include "agree/agree.h"

#include "base/threads.h"
#include "base/xalloc.h"
#include "space/command.h"
#include "space/point.h"

#include <dse/workload.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(DSE_IDEAL_SYNC == 1 << (AGREE_CAUSES - 1), "a cause for each ideal");

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

/* Assignments of one point: the caller's, then those drawn. */
struct settings {
    char **list;     /* owned */
    size_t n, given; /* the first `given` were the caller's */
};

/* Drop all assignments after the first `kept`. */
static void settings_drop(struct settings *s, size_t kept)
{
    while (s->n > kept) free(s->list[--s->n]);
}

static void settings_add(struct settings *s, char *assignment)
{
    s->list[s->n++] = assignment; /* there is room for all parameters */
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------- */

struct drawing {
    const struct model *model;
    const struct catalog *catalog;
    gsl_rng *rng;
    struct settings settings;
    uint64_t number; /* of the point, from 1 */
};

static bool is_calibrated(const struct binding *b, const char *name)
{
    size_t n;
    const struct calibrated *c = binding_calibrated(b, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(c[i].name, name) == 0) return true;
    return false;
}

/* Does a catalog entry, of a kind that the model refers to, set the parameter? */
static bool is_of_an_entry(const struct drawing *d, const struct field *f)
{
    const struct schema *params = &d->model->params;
    for (size_t i = 0; i < params->n; i++)
        if (params->fields[i].type == DSE_TYPE_REF && schema_find(catalog_fields(d->catalog, params->fields[i].kind), f->name))
            return true;
    return false;
}

static bool is_given(const struct binding *b, const struct field *f)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n; i++)
        if (b->given[i].is_given && (&params->fields[i] == f || field_excludes(f, params->fields[i].name))) return true;
    return false;
}

static void draw_name(struct drawing *d, const struct field *f)
{
    size_t n = 0;
    if (f->type == DSE_TYPE_REF) {
        while (catalog_at(d->catalog, f->kind, n)) n++;
        settings_add(&d->settings,
                     xasprintf("%s=%s", f->name, catalog_at(d->catalog, f->kind, gsl_rng_uniform_int(d->rng, n))->name));
    } else {
        while (f->choices[n]) n++;
        settings_add(&d->settings, xasprintf("%s=%s", f->name, f->choices[gsl_rng_uniform_int(d->rng, n)]));
    }
}

/* The value rounded to three digits, as one would type it. */
static double rounded(double v)
{
    char buf[TEXT_NUMBER_MAX];
    snprintf(buf, sizeof buf, "%.3g", v);
    double r = v;
    text_parse_f64(buf, &r);
    return r;
}

static double log_uniform(gsl_rng *rng, double lo, double hi)
{
    return exp(log(lo) + gsl_rng_uniform(rng) * log(hi / lo));
}

static bool is_context(const struct field *f)
{
    return strcmp(f->name, "context") == 0;
}

/* Draw a context from the shortest to the longest that the LLM was made for. */
static double draw_context(const struct drawing *d, const struct field *f, const void *params)
{
    const struct field *llm = schema_find(&d->model->params, "llm");
    double hi = llm && llm->type == DSE_TYPE_REF
                    ? (double)((const struct dse_llm *)(const void *)field_get(llm, params).ref)->max_context
                    : f->max;
    return log_uniform(d->rng, fmax(f->min, AGREE_CONTEXT_MIN), fmax(fmin(f->max, hi), AGREE_CONTEXT_MIN + 1));
}

static void draw_number(struct drawing *d, const struct field *f, const void *params)
{
    char buf[TEXT_NUMBER_MAX];
    double v = field_number(f, params);
    if (is_context(f))
        v = draw_context(d, f, params);
    else
        v *= log_uniform(d->rng, 1 / AGREE_FACTOR, AGREE_FACTOR);
    v = rounded(v);
    if (f->type == DSE_TYPE_I64) v = round(v);
    v = fmin(fmax(v, f->min), f->max);
    settings_add(&d->settings, xasprintf("%s=%s", f->name, text_number(buf, v)));
}

/* Is the setting NAME=VALUE of a parameter that cannot stand beside f? */
static bool sets_excluded(const struct field *f, const char *setting)
{
    char *name = xstrndup(setting, strcspn(setting, "="));
    bool excluded = field_excludes(f, name);
    free(name);
    return excluded;
}

/* Half of the names and choices; draw_numbers, half of the numbers around what those make of the defaults, and always the context.
 */
static void draw_names(struct drawing *d, const struct binding *b)
{
    for (size_t i = 0; i < d->model->params.n; i++) {
        const struct field *f = &d->model->params.fields[i];
        if ((f->type == DSE_TYPE_REF || f->type == DSE_TYPE_ENUM) && f->reader == READ_BY_BOTH && !is_given(b, f) &&
            gsl_rng_uniform(d->rng) < 0.5)
            draw_name(d, f);
    }
}

static void draw_numbers(struct drawing *d, const struct design_point *p)
{
    size_t names = d->settings.n;
    for (size_t i = 0; i < d->model->params.n; i++) {
        const struct field *f = &d->model->params.fields[i];
        if ((f->type != DSE_TYPE_F64 && f->type != DSE_TYPE_I64) || is_given(p->binding, f)) continue;
        if (strcmp(f->name, "seed") == 0) settings_add(&d->settings, xasprintf("seed=%llu", (unsigned long long)d->number));
        if (f->reader != READ_BY_BOTH || is_calibrated(p->binding, f->name) || is_of_an_entry(d, f)) continue;
        bool excluded = false; /* by one that was drawn before */
        for (size_t k = names; k < d->settings.n && f->excludes; k++) excluded |= sets_excluded(f, d->settings.list[k]);
        if (excluded || field_number(f, p->params) == 0) continue;
        if (is_context(f) || gsl_rng_uniform(d->rng) < 0.5) draw_number(d, f, p->params);
    }
}

/* Draw one point. When it is feasible it is returned in *ret, otherwise it is released. */
static bool try_point(struct drawing *d, const struct design_point *defaults, struct design_point *ret)
{
    struct diags ignored;
    diags_init(&ignored);
    settings_drop(&d->settings, d->settings.given);
    draw_names(d, defaults->binding);
    bool ok = design_point_init(ret, d->model, d->catalog, (const char *const *)d->settings.list, d->settings.n, &ignored);
    if (ok) draw_numbers(d, ret);
    design_point_release(ret);
    ok = ok && design_point_init(ret, d->model, d->catalog, (const char *const *)d->settings.list, d->settings.n, &ignored) &&
         !ret->reason;
    if (!ok) design_point_release(ret);
    diags_release(&ignored);
    return ok;
}

/* ---- one point ----------------------------------------------------------------------------------------------------------- */

const char *const agree_metric_names[] = {"latency_us", "attention_us", "energy_mj", "dram_mib", NULL};
_Static_assert(sizeof agree_metric_names / sizeof *agree_metric_names == AGREE_METRICS + 1, "every metric has a name");

static double metric(const struct model *m, const void *metrics, int which)
{
    const struct field *f = schema_find(&m->metrics, agree_metric_names[which]);
    return f && !f->without ? field_number(f, metrics) : (double)NAN;
}

static double difference(const struct model *m, const void *metrics, const void *closed, int which)
{
    const double c = metric(m, closed, which);
    if (c == 0) return (double)NAN; /* a hit ratio, say, that only events have */
    const double d = (metric(m, metrics, which) - c) / c;
    return isfinite(d) ? d : (double)NAN;
}

static struct agree_point no_point(void)
{
    struct agree_point p = {.left = NAN};
    for (int i = 0; i < AGREE_METRICS; i++) p.metric[i] = (double)NAN;
    for (int i = 0; i < AGREE_CAUSES; i++) p.cause[i] = (double)NAN;
    return p;
}

/* Carry the point out as it is and with one cause after the other taken away. Of a point that does not come to its end nothing is
 * known. */
static enum run_end compare(struct runner *r, const struct design_point *p, struct agree_point *ret)
{
    const struct model *m = p->model;
    void *closed = p->metrics, *events = xcalloc(1, m->desc->metrics_size);
    m->desc->estimate(p->params, closed, NULL);
    struct agree_point seen = no_point();
    enum run_end end = RUN_DONE;
    for (int i = 0; i <= AGREE_CAUSES && end == RUN_DONE; i++) {
        runner_set_ideal(r, (1U << i) - 1);
        end = runner_run(r, m->desc, p->params, events, NULL);
        if (end != RUN_DONE) break;
        for (int k = 0; k < AGREE_METRICS && i == 0; k++) seen.metric[k] = difference(m, events, closed, k);
        double latency = difference(m, events, closed, AGREE_LATENCY), before = i == 0 ? latency : seen.left;
        if (i > 0) seen.cause[i - 1] = before - latency;
        seen.left = latency;
    }
    free(events);
    seen.tried = ret->tried;
    if (end == RUN_DONE)
        *ret = seen;
    else if (end != RUN_STOPPED && end != RUN_REFUSED)
        ret->failure = xstrdup(runner_error(r));
    return end;
}

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

/* The settings of the point without which either fidelity says something else of the metrics compared. The caller frees it. */
static char *settings_that_matter(const struct drawing *d, const struct design_point *defaults, struct runner *r,
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

/* Draw points until one is found that both fidelities can carry out. */
static void find_point(struct drawing *d, const struct agree_options *o, const struct design_point *defaults, struct runner *r,
                       struct agree_point *ret)
{
    while (ret->tried < AGREE_TRIES && !(o->stop && *o->stop)) {
        struct design_point p;
        ret->tried++;
        if (!try_point(d, defaults, &p)) continue;
        enum run_end end = compare(r, &p, ret);
        if (end != RUN_STOPPED && end != RUN_REFUSED) {
            ret->settings = settings_that_matter(d, defaults, r, &p);
            ret->command =
                eval_command(d->model->desc->name, FIDELITY_EVENT_LEVEL, o->catalogs, o->n_catalogs, NULL, ret->settings);
        }
        design_point_release(&p);
        if (end != RUN_REFUSED) return;
    }
}

static struct agree_point point_of(const struct agree_options *o, const struct design_point *defaults,
                                   const struct catalog *catalog, uint64_t i)
{
    struct agree_point ret = no_point();
    struct drawing d = {.model = defaults->model, .catalog = catalog, .rng = gsl_rng_alloc(gsl_rng_mt19937), .number = i + 1};
    if (!d.rng) out_of_memory(0);
    uint64_t seed = text_hash(TEXT_HASH_INIT, &o->seed, sizeof o->seed);
    gsl_rng_set(d.rng, (unsigned long)text_hash(seed, &i, sizeof i));
    d.settings = (struct settings){.list = xcalloc(o->n_assignments + 2 * d.model->params.n, sizeof(char *)),
                                   .n = o->n_assignments,
                                   .given = o->n_assignments};
    for (size_t k = 0; k < o->n_assignments; k++) d.settings.list[k] = xstrdup(o->assignments[k]);
    struct sim_options options = {.stop = o->stop, .events_max = RUNNER_EVENTS_MAX};
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, &options);
    find_point(&d, o, defaults, r, &ret);
    runner_free(r);
    settings_drop(&d.settings, 0);
    free(d.settings.list);
    gsl_rng_free(d.rng);
    return ret;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

bool agree(const struct model *m, const struct catalog *catalog, const struct agree_options *options, struct agreement *ret,
           struct diags *diags)
{
    struct design_point defaults;
    *ret = (struct agreement){.model = m, .n = options->points};
    bool ok = design_point_init(&defaults, m, catalog, options->assignments, options->n_assignments, diags);
    if (ok) {
        ret->points = xcalloc(ret->n, sizeof *ret->points);
        uint64_t done = 0;
#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(threads_available(options->threads > 0 ? options->threads : omp_get_num_procs()))
        for (uint64_t i = 0; i < ret->n; i++) {
            bool stopped = options->stop && *options->stop;
            ret->points[i] = stopped ? no_point() : point_of(options, &defaults, catalog, i);
#pragma omp critical(agree_progress)
            if (options->progress) options->progress(options->user, ++done, ret->n);
        }
        ret->stopped = options->stop && *options->stop;
    }
    design_point_release(&defaults);
    return ok;
}

void agreement_release(struct agreement *a)
{
    for (size_t i = 0; i < a->n && a->points; i++) {
        free(a->points[i].settings);
        free(a->points[i].command);
        free(a->points[i].failure);
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
    return which < AGREE_CAUSES ? p->cause[which] : p->left;
}

struct agree_spread agree_spread_of(const struct agreement *a, double (*value)(const struct agree_point *p, int which), int which)
{
    struct agree_spread s = {.min = NAN, .p10 = NAN, .median = NAN, .p90 = NAN, .max = NAN};
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
    }
    free(list);
    return s;
}
