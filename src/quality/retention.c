/* Retention profiles: for each policy a list of contexts, for each of these two curves over the ratio kept (Steffen's monotone
 * cubic of GSL). Between two contexts both curves are read at the ratio, and the line over log(context) is taken: a mean of
 * monotone curves is monotone, and between two contexts nothing leaves the range of both.
 */
#include "quality/retention.h"

#include "quality/quality.h"

#include "base/xalloc.h"

#include <dse/bound.h>
#include <gsl/gsl_spline.h>

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct curve {
    double context, log_context;
    double *ratio; /* n of them, growing, the last is 1 */
    size_t n;
    gsl_spline *mass, *error;
};

struct policy {
    char *name;
    struct curve *curves; /* contexts grow */
    size_t n;
};

struct dse_retention {
    struct dse_entry entry;
    char *name, *source; /* owned; entry borrows them */
    struct policy *policies;
    size_t n;
    struct dse_measured *measured;
    struct dse_quality *quality; /* the same points */
};

/* ---- building ------------------------------------------------------------------------------------------------------------ */

static bool same_curve(const struct retention_point *a, const struct retention_point *b)
{
    return strcmp(a->policy, b->policy) == 0 && a->context == b->context;
}

static bool check_order(const struct retention_point *points, size_t i, struct row_fault *ret)
{
    const struct retention_point *p = &points[i], *before = &points[i - 1];
    if (strcmp(p->policy, before->policy) != 0) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(points[k].policy, p->policy) == 0)
                return row_fault(ret, i, "policy", "the points of policy \"%s\" do not stand together", p->policy);
        return true;
    }
    if (p->context < before->context)
        return row_fault(ret, i, "context", "context %g does not grow (the point before has %g)", p->context, before->context);
    if (p->context == before->context && p->ratio <= before->ratio)
        return row_fault(ret, i, "ratio", "ratio %g does not grow (the point before has %g)", p->ratio, before->ratio);
    return true;
}

/* Beyond these a spline through the points need not be a number. */
static const double LEAST_RATIO = 1e-9, LARGEST_ERROR = 1e9;

/* Check the i-th point. */
static bool check_point(const struct retention_point *points, size_t i, struct row_fault *ret)
{
    const struct retention_point *p = &points[i];
    if (!*p->policy) return row_fault(ret, i, "policy", "there is no policy");
    if (!isfinite(p->context) || p->context < 1) return row_fault(ret, i, "context", "context %g is not at least 1", p->context);
    if (!(p->ratio > 0 && p->ratio <= 1)) return row_fault(ret, i, "ratio", "ratio %g is not above 0 and at most 1", p->ratio);
    if (p->ratio < LEAST_RATIO) return row_fault(ret, i, "ratio", "ratio %g is below %g", p->ratio, LEAST_RATIO);
    if (!(p->at.mass >= 0 && p->at.mass <= 1))
        return row_fault(ret, i, "retained_mass", "retained_mass %g is outside of 0 to 1", p->at.mass);
    if (!(p->at.error >= 0 && isfinite(p->at.error)))
        return row_fault(ret, i, "attention_error", "attention_error %g is not a positive number", p->at.error);
    if (p->at.error > LARGEST_ERROR)
        return row_fault(ret, i, "attention_error", "attention_error %g is above %g", p->at.error, LARGEST_ERROR);
    if (p->ratio == 1 && (p->at.mass != 1 || p->at.error != 0))
        return row_fault(ret, i, p->at.mass != 1 ? "retained_mass" : "attention_error",
                         "a ratio of 1 keeps all mass (1) without error (0), not %g and %g", p->at.mass, p->at.error);
    return i == 0 || check_order(points, i, ret);
}

static gsl_spline *make_spline(const double *x, const double *y, size_t n)
{
    gsl_spline *s = gsl_spline_alloc(gsl_interp_steffen, n);
    if (!s) out_of_memory(0);
    gsl_spline_init(s, x, y, n);
    return s;
}

/* The curve of points[0..n), closed at a ratio of 1. */
static void curve_init(struct curve *c, const struct retention_point *points, size_t n)
{
    bool closed = points[n - 1].ratio == 1;
    *c = (struct curve){.context = points[0].context, .log_context = log(points[0].context), .n = closed ? n : n + 1};
    c->ratio = xcalloc(c->n, sizeof *c->ratio);
    double *mass = xcalloc(c->n, sizeof *mass), *error = xcalloc(c->n, sizeof *error);
    for (size_t i = 0; i < n; i++) {
        c->ratio[i] = points[i].ratio;
        mass[i] = points[i].at.mass;
        error[i] = points[i].at.error;
    }
    c->ratio[c->n - 1] = mass[c->n - 1] = 1;
    c->mass = make_spline(c->ratio, mass, c->n);
    c->error = make_spline(c->ratio, error, c->n);
    free(mass);
    free(error);
}

static void add_curve(struct dse_retention *r, const struct retention_point *points, size_t n)
{
    if (r->n == 0 || strcmp(r->policies[r->n - 1].name, points->policy) != 0) {
        r->policies = xrealloc(r->policies, r->n + 1, sizeof *r->policies);
        r->policies[r->n++] = (struct policy){.name = xstrdup(points->policy)};
    }
    struct policy *p = &r->policies[r->n - 1];
    p->curves = xrealloc(p->curves, p->n + 1, sizeof *p->curves);
    curve_init(&p->curves[p->n++], points, n);
}

/* How many points from `from` on make one curve. */
static size_t curve_length(const struct retention_point *points, size_t n, size_t from)
{
    size_t to = from + 1;
    while (to < n && same_curve(&points[from], &points[to])) to++;
    return to - from;
}

struct dse_retention *retention_new(const char *name, const char *source, const struct retention_point *points, size_t n,
                                    struct row_fault *ret_fault)
{
    bool ok = n > 0 || row_fault(ret_fault, ROW_NONE, NULL, "no points");
    for (size_t i = 0; i < n && ok; i++) ok = check_point(points, i, ret_fault);
    for (size_t i = 0, k; i < n && ok; i += k) {
        k = curve_length(points, n, i);
        size_t below = k - (points[i + k - 1].ratio == 1);
        if (below < RETENTION_RATIOS_MIN)
            ok = row_fault(ret_fault, i, "ratio", "policy \"%s\" at context %g: %zu ratio%s below 1; at least %d are needed",
                           points[i].policy, points[i].context, below, below == 1 ? "" : "s", RETENTION_RATIOS_MIN);
    }
    if (!ok) return NULL;
    struct dse_retention *r = xcalloc(1, sizeof *r);
    r->entry.name = r->name = xstrdup(name);
    r->entry.source = r->source = xstrdup(source);
    for (size_t i = 0, k; i < n; i += k) {
        k = curve_length(points, n, i);
        add_curve(r, &points[i], k);
    }
    retention_set_measured(r, measured_new(NULL, &ret_fault->why));
    return r;
}

static void add_row(struct quality_point *rows, size_t *n, const struct policy *p, const struct curve *c, size_t i,
                    enum dse_quality_metric metric, double mean)
{
    struct quality_point *row = &rows[(*n)++];
    *row = (struct quality_point){.method = p->name, .context = c->context, .ratio = c->ratio[i], .metric = metric, .stat = {mean}};
    for (size_t k = DSE_Q_SE; k < DSE_QUALITY_STATS; k++) row->stat[k] = (double)NAN;
}

/* The same points and curves as a quality entry: Steffen's method over the ratio, a line over log(context). */
static void make_quality(struct dse_retention *r)
{
    size_t n_points = 0, n = 0, n_said = 0;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->policies[i].n; k++) n_points += r->policies[i].curves[k].n;
    struct quality_point *rows = xcalloc(2 * n_points, sizeof *rows);
    struct quality_said *said = xcalloc(2 * r->n, sizeof *said);
    struct dse_quality_rule rule = {.context = DSE_Q_LOG, .over_ratio = DSE_Q_CUBIC};
    rule.context_error = rule.ratio_error = rule.setting_error = rule.worst_error = (double)NAN;
    for (size_t i = 0; i < r->n; i++) {
        const struct policy *p = &r->policies[i];
        said[n_said++] = (struct quality_said){p->name, DSE_Q_RETAINED_MASS, rule};
        said[n_said++] = (struct quality_said){p->name, DSE_Q_ATTENTION_ERROR, rule};
        for (size_t k = 0; k < p->n; k++)
            for (size_t j = 0; j < p->curves[k].n; j++) {
                add_row(rows, &n, p, &p->curves[k], j, DSE_Q_RETAINED_MASS, p->curves[k].mass->y[j]);
                add_row(rows, &n, p, &p->curves[k], j, DSE_Q_ATTENTION_ERROR, p->curves[k].error->y[j]);
            }
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < DSE_SETTINGS; k++) rows[i].setting[k] = measured_value(r->measured, (enum dse_setting)k);
    struct row_fault fault = {0};
    quality_free(r->quality);
    r->quality = quality_new(
        &(struct quality_from){"retention", r->name, r->source, measured_copy(r->measured), rows, n, said, n_said, true}, &fault);
    assert(r->quality); /* a retention's points are a quality entry's */
    free(fault.why);
    free(rows);
    free(said);
}

void retention_set_measured(struct dse_retention *r, struct dse_measured *m)
{
    measured_free(r->measured);
    r->measured = m;
    measured_name(m, "retention", r->name);
    make_quality(r);
}

const struct dse_quality *dse_retention_quality(const struct dse_retention *r)
{
    return r->quality;
}

const struct dse_measured *dse_retention_measured(const struct dse_retention *r)
{
    return r->measured;
}

void retention_free(struct dse_retention *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) {
        struct policy *p = &r->policies[i];
        for (size_t k = 0; k < p->n; k++) {
            gsl_spline_free(p->curves[k].mass);
            gsl_spline_free(p->curves[k].error);
            free(p->curves[k].ratio);
        }
        free(p->curves);
        free(p->name);
    }
    measured_free(r->measured);
    quality_free(r->quality);
    free(r->policies);
    free(r->name);
    free(r->source);
    free(r);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static const struct policy *find_policy(const struct dse_retention *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->policies[i].name, name) == 0) return &r->policies[i];
    return NULL;
}

const char *dse_retention_policy(const struct dse_retention *r, size_t i)
{
    return i < r->n ? r->policies[i].name : NULL;
}

bool dse_retention_range(const struct dse_retention *r, const char *policy, double *ret_min, double *ret_max)
{
    const struct policy *p = find_policy(r, policy);
    if (!p) return false;
    *ret_min = p->curves[0].context;
    *ret_max = p->curves[p->n - 1].context;
    return true;
}

static bool curve_at(const struct curve *c, double ratio, struct dse_retained *ret)
{
    if (ratio < c->ratio[0]) return false;
    gsl_interp_accel accel = {.cache = gsl_interp_bsearch(c->ratio, ratio, 0, c->n - 1)};
    *ret = (struct dse_retained){gsl_spline_eval(c->mass, ratio, &accel), gsl_spline_eval(c->error, ratio, &accel)};
    return true;
}

bool dse_retention_at(const struct dse_retention *r, const char *policy, double context, double ratio, struct dse_retained *ret)
{
    const struct policy *p = find_policy(r, policy);
    if (ratio >= 1) {
        *ret = (struct dse_retained){.mass = 1};
        return true;
    }
    if (!p || !(context >= p->curves[0].context && context <= p->curves[p->n - 1].context)) return false;
    size_t above = 0;
    while (p->curves[above].context < context) above++;
    const struct curve *b = &p->curves[above], *a = b->context == context ? b : b - 1;
    struct dse_retained low, high;
    if (!curve_at(a, ratio, &low) || !curve_at(b, ratio, &high)) return false;
    double t = a == b ? 0 : (log(context) - a->log_context) / (b->log_context - a->log_context);
    *ret = (struct dse_retained){low.mass + t * (high.mass - low.mass), low.error + t * (high.error - low.error)};
    return true;
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* Steffen's curve is monotone from one measured ratio to the next. Rounding is that of a cubic of numbers up to 1, or of errors. */
static struct dse_interval spline_bound(const struct curve *c, const gsl_spline *s, double lo, double hi)
{
    double most = dse_max(s->y[0], s->y[c->n - 1]);
    struct dse_interval v = dse_iv_hull(dse_iv_of(gsl_spline_eval(s, lo, NULL)), dse_iv_of(gsl_spline_eval(s, hi, NULL)));
    for (size_t i = 0; i < c->n; i++) {
        most = dse_max(most, s->y[i]);
        if (c->ratio[i] > lo && c->ratio[i] < hi) v = dse_iv_hull(v, dse_iv_of(s->y[i]));
    }
    const double slack = 64 * DBL_EPSILON * most;
    return dse_iv_positive(dse_iv(v.lo - slack, v.hi + slack));
}

/* The line from one interval to another, at shares of the way. */
static struct dse_interval between(struct dse_interval a, struct dse_interval b, double from, double to)
{
    const double at_from = a.lo + from * (b.lo - a.lo), at_to = a.lo + to * (b.lo - a.lo);
    const double top_from = a.hi + from * (b.hi - a.hi), top_to = a.hi + to * (b.hi - a.hi);
    return dse_widened(dse_min(at_from, at_to), dse_max(top_from, top_to), 4);
}

static void include(struct dse_retained_bound *b, struct dse_interval mass, struct dse_interval error, bool *any)
{
    b->mass = *any ? dse_iv_hull(b->mass, mass) : mass;
    b->error = *any ? dse_iv_hull(b->error, error) : error;
    *any = true;
}

/* What lies from one curve to another, at shares of the way in the logarithm of the context; both the same: on it. */
static void include_way(const struct curve *a, const struct curve *b, double from, double to, struct dse_interval ratio,
                        double rounded, struct dse_retained_bound *ret, bool *any)
{
    const double first = dse_max(a->ratio[0], b->ratio[0]), lo = dse_max(ratio.lo, first);
    const double hi = dse_min(1, ratio.lo < first ? dse_max(ratio.hi, rounded) : ratio.hi);
    if (lo > hi) return;
    include(ret, between(spline_bound(a, a->mass, lo, hi), spline_bound(b, b->mass, lo, hi), from, to),
            between(spline_bound(a, a->error, lo, hi), spline_bound(b, b->error, lo, hi), from, to), any);
}

bool dse_retention_bound(const struct dse_retention *r, const char *policy, struct dse_interval context, struct dse_interval ratio,
                         double rounded, struct dse_retained_bound *ret)
{
    const struct policy *p = find_policy(r, policy);
    const double log_lo = log(context.lo), log_hi = log(context.hi), slack = 1e-12;
    bool any = false;
    if (ratio.hi >= 1) include(ret, dse_iv_of(1), dse_iv_of(0), &any);
    for (size_t i = 0; p && i < p->n; i++) {
        const struct curve *a = &p->curves[i], *b = a + 1;
        if (a->context >= context.lo && a->context <= context.hi) include_way(a, a, 0, 0, ratio, rounded, ret, &any);
        if (i + 1 == p->n || b->context <= context.lo || a->context >= context.hi) continue;
        const double way = b->log_context - a->log_context;
        const double from = dse_clamp((log_lo - a->log_context) / way - slack, 0, 1),
                     to = dse_clamp((log_hi - a->log_context) / way + slack, 0, 1);
        include_way(a, b, from, to, ratio, rounded, ret, &any);
    }
    return any;
}
