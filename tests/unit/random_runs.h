/* Random feasible points of any model, each carried out in closed form and at event level, and what is wrong with a run: shared
 * by the test of a few of them and the bench of ten thousand.
 *
 * A point: each parameter is as it is by default, or drawn from its whole range: of every fourth point about half of the
 * parameters, of every other fourth 30 %, of the rest 10 %. Three of four points start from the model's small defaults
 * (model_points.h), whose runs are short. A catalog entry that is drawn brings what it brings a user (channels, widths); of two
 * parameters that exclude each other one is drawn at most. Points that check() or the event level (a memory without timings)
 * refuses are drawn again. Points depend on their number only. */
#ifndef RANDOM_RUNS_H
#define RANDOM_RUNS_H

#include "model_points.h"

#include "model/fidelity.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/time.h>

enum { DRAWS_MAX = 20000, REFUSALS_MAX = 1000, REASONS_MAX = 64 }; /* of a point, before it is given up; kinds of refusals */

/* How a point ended at event level. */
enum random_end { RANDOM_DONE, RANDOM_CUT, RANDOM_FAILED, RANDOM_WRONG, RANDOM_NONE, RANDOM_REFUSED, RANDOM_ENDS = RANDOM_REFUSED };
static const char *const random_end_names[RANDOM_ENDS] = {[RANDOM_DONE] = "done",
                                                          [RANDOM_CUT] = "cut off",
                                                          [RANDOM_FAILED] = "failed",
                                                          [RANDOM_WRONG] = "wrong",
                                                          [RANDOM_NONE] = "none found"};

/* Why the event level refused points, and how many. */
struct refusals {
    char *reason[REASONS_MAX];
    uint64_t n[REASONS_MAX], all;
};

struct random_runs {
    const struct model *model;
    const struct one *defaults, *small, *base;     /* base: of the last point */
    void *start, *start_small;                     /* what each of the two begins with */
    struct follow_list follows[2][DSE_KIND_COUNT]; /* of each of the two, what entries bring */
    struct refusals refusals;
    struct runner *runner;                /* with the caller's limits: what ends by them is cut off */
    void *raw, *params, *closed, *events; /* raw: before resolve() */
    struct dse_breakdown closed_parts, events_parts;
    char why[512]; /* of the last point: what failed or is wrong; "" */
};

static inline void random_runs_init(struct random_runs *r, const struct one *defaults, const struct one *small,
                                    const struct sim_options *options)
{
    const struct model *m = defaults->binding->model;
    *r = (struct random_runs){.model = m,
                              .defaults = defaults,
                              .small = small,
                              .start = space_start(defaults->binding),
                              .start_small = space_start(small->binding),
                              .runner = runner_new(FIDELITY_EVENT_LEVEL, options),
                              .raw = xcalloc(1, m->desc->params_size),
                              .params = xcalloc(1, m->desc->params_size),
                              .closed = xcalloc(1, m->desc->metrics_size),
                              .events = xcalloc(1, m->desc->metrics_size)};
}

static inline void random_runs_release(struct random_runs *r)
{
    runner_free(r->runner);
    for (size_t i = 0; i < REASONS_MAX; i++) free(r->refusals.reason[i]);
    for (size_t i = 0; i < 2; i++)
        for (size_t kind = 0; kind < DSE_KIND_COUNT; kind++) free(r->follows[i][kind].follows);
    free(r->start);
    free(r->start_small);
    free(r->raw);
    free(r->params);
    free(r->closed);
    free(r->events);
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------- */

/* Is one that cannot stand beside f drawn already? */
static inline bool is_excluded(const struct model *m, const struct field *f, const bool *drawn)
{
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *other = &m->params.fields[i];
        if (drawn[i] && (field_excludes(f, other->name) || field_excludes(other, f->name))) return true;
    }
    return false;
}

static inline const struct follow_list *follows_of(struct random_runs *r, const struct field *name)
{
    static const struct follow_list none;
    struct follow_list *list = &r->follows[r->base == r->small][name->kind];
    if (name->alone) return &none;
    if (!list->follows) *list = follow_list_new(r->base->binding, name);
    return list;
}

static inline void draw_params(struct random_runs *r, double share)
{
    const struct model *m = r->model;
    bool drawn[SPACE_AXES_MAX] = {false};
    memcpy(r->params, r->base == r->small ? r->start_small : r->start, m->desc->params_size);
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (f->type != DSE_TYPE_REF || !(uniform() < share)) continue;
        struct value v = random_value(f);
        field_set(f, r->params, v);
        follow_list_apply(follows_of(r, f), v.ref, r->params);
    }
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (f->type == DSE_TYPE_REF || is_excluded(m, f, drawn) || !(uniform() < share)) continue;
        drawn[i] = true;
        field_set(f, r->params, random_value(f));
    }
    memcpy(r->raw, r->params, m->desc->params_size);
    if (m->desc->resolve) m->desc->resolve(r->params);
}

static inline void start_point(struct random_runs *r, uint64_t number)
{
    seed = text_hash(TEXT_HASH_INIT, &number, sizeof number);
    r->base = number % 4 ? r->small : r->defaults;
}

/* The next feasible draw of point `number`; false: none was found. */
static inline bool draw_point(struct random_runs *r, uint64_t number, bool hard)
{
    static const double shares[] = {0.1, 0.3, 0.1, 0.5};
    for (int i = 0; i < DRAWS_MAX; i++) {
        draw_params(r, i < DRAWS_MAX / 2 && !hard ? shares[number / 4 % 4] : 0.1);
        if (!r->model->desc->check || !r->model->desc->check(r->params)) return true;
    }
    return false;
}

/* ---- what must hold ------------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static inline bool wrong(struct random_runs *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
    return false;
}

static inline double metric_at(const struct model *m, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&m->metrics, name);
    return f && !f->without ? field_number(f, metrics) : (double)NAN;
}

static inline bool adds_up(double sum, double total)
{
    return isnan(total) || fabs(sum - total) <= 1e-9 * fabs(total) + 1e-12;
}

/* Metrics are numbers where they must be, and not below 0; shares are at most 1. */
static inline bool metrics_hold(struct random_runs *r, const char *level, const void *metrics)
{
    const struct model *m = r->model;
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        if (f->type != DSE_TYPE_F64 || f->without) continue;
        double v = field_number(f, metrics);
        if (!isfinite(v) && !(f->may_be_null && isnan(v))) return wrong(r, "%s: %s is %g", level, f->name, v);
        if (v < 0) return wrong(r, "%s: %s is %g", level, f->name, v);
    }
    static const char *const shares[] = {"compute_utilization", "dram_utilization", "attention_share", "wasted_rows"};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (metric_at(m, metrics, shares[i]) > 1 + 1e-9)
            return wrong(r, "%s: %s is %.10g", level, shares[i], metric_at(m, metrics, shares[i]));
    return true;
}

/* Parts are numbers not below 0; those of depth 0 add up to the metrics. */
static inline bool parts_hold(struct random_runs *r, const char *level, const void *metrics, const struct dse_breakdown *b)
{
    const struct model *m = r->model;
    double time = 0, bytes = 0, energy = 0;
    for (int i = 0; i < b->n; i++) {
        const struct dse_part *p = &b->part[i];
        bool energy_holds = isnan(p->energy_mj) || (p->energy_mj >= 0 && isfinite(p->energy_mj)); /* NaN: not known */
        if (!(p->time_us >= 0 && p->dram_bytes >= 0 && p->ops >= 0 && energy_holds) || !isfinite(p->time_us) ||
            !isfinite(p->dram_bytes) || !isfinite(p->ops))
            return wrong(r, "%s: part %s takes %g us, %g bytes, %g operations, %g mJ", level, p->name, p->time_us, p->dram_bytes,
                         p->ops, p->energy_mj);
        if (p->depth != 0) continue;
        time += p->time_us;
        bytes += p->dram_bytes;
        energy += p->energy_mj;
    }
    double latency = metric_at(m, metrics, "latency_us"), tokens = metric_at(m, metrics, "tokens_per_s") * latency * 1e-6;
    if (!adds_up(time, latency)) return wrong(r, "%s: parts take %.12g us, latency_us is %.12g", level, time, latency);
    if (!adds_up(bytes, metric_at(m, metrics, "dram_mib") * tokens * 1048576))
        return wrong(r, "%s: parts move %.12g bytes, not those of dram_mib", level, bytes);
    if (!adds_up(energy, metric_at(m, metrics, "energy_mj") * tokens))
        return wrong(r, "%s: parts take %.12g mJ, not those of energy_mj", level, energy);
    if (metric_at(m, metrics, "attention_us") > latency * (1 + 1e-9))
        return wrong(r, "%s: attention_us is above latency_us", level);
    return true;
}

/* What both fidelities must say alike: where a metric is known, and parts. */
static inline bool levels_hold(struct random_runs *r)
{
    const struct model *m = r->model;
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        if (f->type != DSE_TYPE_F64 || f->without) continue;
        double closed = field_number(f, r->closed), events = field_number(f, r->events);
        if (isnan(closed) != isnan(events))
            return wrong(r, "%s is %g in closed form and %g at event level", f->name, closed, events);
    }
    double closed = metric_at(m, r->closed, "area_mm2"), events = metric_at(m, r->events, "area_mm2");
    if (!isnan(closed) && fabs(events / closed - 1) > 1e-9)
        return wrong(r, "area_mm2 is %g in closed form and %g at event level", closed, events);
    return true;
}

/* ---- time ---------------------------------------------------------------------------------------------------------------- */

/* The stop flag of the runs. */
static volatile sig_atomic_t random_stop;

static inline void random_time_is_up(int signal)
{
    (void)signal;
    random_stop = 1;
}

/* It is set after so many seconds of CPU time, counted from now. */
static inline void random_runs_limit(double seconds)
{
    const double us_per_s = 1e6;
    random_stop = 0;
    signal(SIGPROF, random_time_is_up);
    struct itimerval timer = {.it_value.tv_sec = (time_t)seconds};
    timer.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * us_per_s);
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static inline enum random_end run_at_events(struct random_runs *r)
{
    switch (runner_run(r->runner, r->model->desc, r->params, r->events, &r->events_parts)) {
    case RUN_DONE: return RANDOM_DONE;
    case RUN_STOPPED: return RANDOM_CUT;
    case RUN_REFUSED: wrong(r, "%s", runner_error(r->runner)); return RANDOM_REFUSED;
    default:
        if (sim_end(runner_sim(r->runner)) == SIM_EVENTS_MAX) return RANDOM_CUT;
        wrong(r, "%s", runner_error(r->runner));
        return RANDOM_FAILED;
    }
}

/* Numbers in a reason are those of the point. */
static inline void count_refusal(struct refusals *r, const char *reason)
{
    char *kind = xstrdup(reason);
    size_t n = 0, i = 0;
    for (const char *c = kind; *c; c++)
        if ((*c < '0' || *c > '9') && *c != '.') kind[n++] = *c;
    kind[n] = '\0';
    while (i < REASONS_MAX - 1 && r->reason[i] && strcmp(r->reason[i], kind) != 0) i++;
    if (!r->reason[i])
        r->reason[i] = kind;
    else
        free(kind);
    r->n[i]++;
    r->all++;
}

static inline enum random_end run_point(struct random_runs *r)
{
    *r->why = '\0';
    r->closed_parts.n = r->closed_parts.n_causes = 0;
    r->model->desc->estimate(r->params, r->closed, &r->closed_parts);
    if (!metrics_hold(r, "closed form", r->closed) || !parts_hold(r, "closed form", r->closed, &r->closed_parts))
        return RANDOM_WRONG;
    enum random_end end = run_at_events(r);
    if (end != RANDOM_DONE) return end;
    bool holds =
        metrics_hold(r, "event level", r->events) && parts_hold(r, "event level", r->events, &r->events_parts) && levels_hold(r);
    return holds ? RANDOM_DONE : RANDOM_WRONG;
}

static inline enum random_end random_run(struct random_runs *r, uint64_t number)
{
    start_point(r, number);
    for (int i = 0; i < REFUSALS_MAX && draw_point(r, number, i > REFUSALS_MAX / 2); i++) {
        enum random_end end = run_point(r);
        if (end != RANDOM_REFUSED) return end;
        count_refusal(&r->refusals, r->why);
    }
    return RANDOM_NONE;
}

/* Metrics or equations of two runs, the same but for rounding? */
static inline bool same_values(const struct schema *s, const void *a, const void *b)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct field *f = &s->fields[i];
        double x = f->type == DSE_TYPE_F64 ? field_number(f, a) : 0, y = f->type == DSE_TYPE_F64 ? field_number(f, b) : 0;
        if (f->type != DSE_TYPE_F64 && !field_same(f, a, b)) return false;
        if (isnan(x) != isnan(y) || fabs(x - y) > 1e-9 * fmax(fabs(x), fabs(y))) return false;
    }
    return true;
}

static inline bool differ(const struct model *m, const void *a, const void *b)
{
    return !same_values(&m->metrics, a, b);
}

/* A value near what it was; of names any. */
static inline void change(const struct field *f, void *params)
{
    struct value v = random_value(f);
    double was = field_number(f, params);
    if (isnan(was)) was = sqrt(f->min * f->max); /* auto */
    double near = was * exp((2 * uniform() - 1) * log(3));
    if (f->type == DSE_TYPE_F64 && was != 0 && uniform() < 0.8) v.f64 = fmin(fmax(near, f->min), f->max);
    if (f->type == DSE_TYPE_I64 && was != 0 && uniform() < 0.8) v.i64 = (int64_t)fmin(fmax(round(near), f->min), f->max);
    field_set(f, params, v);
}

/* As settings of a command, to `out`: what is not the default, nor brought by a name that is not. */
static inline void print_settings(const struct random_runs *r, FILE *out)
{
    char buf[TEXT_NUMBER_MAX];
    const struct model *m = r->model;
    void *start = space_start(r->defaults->binding);
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (f->type != DSE_TYPE_REF || field_same(f, start, r->raw)) continue;
        struct value v = field_get(f, r->raw);
        fprintf(out, " --set %s=%s", f->name, v.ref->name);
        field_set(f, start, v);
        struct follow_list list = follow_list_new(r->defaults->binding, f);
        follow_list_apply(&list, v.ref, start);
        free(list.follows);
    }
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (!field_same(f, start, r->raw)) fprintf(out, " --set %s=%s", f->name, value_text(f, field_get(f, r->raw), buf));
    }
    free(start);
}

#endif
