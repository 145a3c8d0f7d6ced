/* Attention profiles: five statistics over the context, interpolated with Steffen's monotone cubic of GSL.
 *
 * All five splines share the contexts, so the interval is searched once: the accelerator of GSL is a value on the stack whose
 * cache is set to the interval found, and every evaluation hits it.
 */
#include "quality/profile.h"

#include "quality/quality.h"

#include "base/xalloc.h"

#include <dse/bound.h>
#include <gsl/gsl_spline.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 5 };

struct dse_profile {
    struct dse_entry entry;
    char *name, *source; /* owned; entry borrows them */
    double *context;     /* n of them, growing */
    size_t n;
    gsl_spline *column[COLUMNS];   /* in the order of struct dse_locality */
    gsl_spline *error, *missed;    /* struct dse_locality_error; NULL when the profile has none */
    struct profile_scores *scores; /* n of them; NULL likewise */
    struct dse_measured *measured;
    struct dse_quality *quality; /* the same points */
};

static const struct {
    const char *name;
    size_t offset;
    double max; /* infinity: at most the context */
} columns[COLUMNS] = {
    {"centers", offsetof(struct dse_locality, centers), (double)INFINITY},
    {"large", offsetof(struct dse_locality, large), (double)INFINITY},
    {"active", offsetof(struct dse_locality, active), (double)INFINITY},
    {"updates", offsetof(struct dse_locality, updates), (double)INFINITY},
    {"hit_ratio", offsetof(struct dse_locality, hit_ratio), 1},
};

static double column_of(const struct dse_locality *point, size_t c)
{
    return *(const double *)((const char *)point + columns[c].offset);
}

/* Check the i-th point. */
static bool check_point(const double *context, const struct dse_locality *points, size_t i, struct row_fault *ret)
{
    if (!isfinite(context[i]) || context[i] <= 0)
        return row_fault(ret, i, "context", "context %g is not a positive number", context[i]);
    if (i > 0 && context[i] <= context[i - 1])
        return row_fault(ret, i, "context", "context %g does not grow (the point before has %g)", context[i], context[i - 1]);
    for (size_t c = 0; c < COLUMNS; c++) {
        double v = column_of(&points[i], c), max = isinf(columns[c].max) ? context[i] : columns[c].max;
        if (!(v >= 0 && v <= max))
            return row_fault(ret, i, columns[c].name, "%s %g is outside of 0 to %g%s", columns[c].name, v, max,
                             isinf(columns[c].max) ? " (its context)" : "");
    }
    return true;
}

static gsl_spline *make_spline(const double *x, const double *y, size_t n)
{
    gsl_spline *s = gsl_spline_alloc(gsl_interp_steffen, n);
    if (!s) out_of_memory(0);
    gsl_spline_init(s, x, y, n);
    return s;
}

struct dse_profile *profile_new(const char *name, const char *source, const double *context, const struct dse_locality *points,
                                size_t n, struct row_fault *ret_fault)
{
    if (n < PROFILE_POINTS_MIN) {
        row_fault(ret_fault, ROW_NONE, NULL, "%zu point%s; a profile needs at least %d", n, n == 1 ? "" : "s", PROFILE_POINTS_MIN);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (!check_point(context, points, i, ret_fault)) return NULL;
    struct dse_profile *p = xcalloc(1, sizeof *p);
    p->entry.name = p->name = xstrdup(name);
    p->entry.source = p->source = xstrdup(source);
    p->n = n;
    p->context = xrealloc(NULL, n, sizeof *p->context);
    double *y = xrealloc(NULL, n, sizeof *y);
    for (size_t i = 0; i < n; i++) p->context[i] = context[i];
    for (size_t c = 0; c < COLUMNS; c++) {
        for (size_t i = 0; i < n; i++) y[i] = column_of(&points[i], c);
        p->column[c] = make_spline(p->context, y, n);
    }
    free(y);
    profile_set_measured(p, measured_new(NULL, &ret_fault->why));
    return p;
}

static void add_rows(const struct dse_profile *p, enum dse_quality_metric metric, const double *y, struct quality_point *rows,
                     size_t *n)
{
    for (size_t i = 0; i < p->n; i++) {
        struct quality_point *row = &rows[(*n)++];
        *row = (struct quality_point){.method = "lad", .context = p->context[i], .ratio = 1, .metric = metric, .stat = {y[i]}};
        for (size_t k = DSE_Q_SE; k < DSE_QUALITY_STATS; k++) row->stat[k] = (double)NAN;
        for (int k = 0; k < DSE_SETTINGS; k++) row->setting[k] = measured_value(p->measured, (enum dse_setting)k);
    }
}

/* The same points and curves as a quality entry: Steffen's method over the context. */
static void make_quality(struct dse_profile *p)
{
    const gsl_spline *const splines[] = {p->column[0], p->column[1], p->column[2], p->column[3], p->column[4], p->error, p->missed};
    static const enum dse_quality_metric metrics[] = {DSE_Q_CENTERS,   DSE_Q_LARGE,           DSE_Q_ACTIVE,        DSE_Q_UPDATES,
                                                      DSE_Q_HIT_RATIO, DSE_Q_ATTENTION_ERROR, DSE_Q_FALSE_NEGATIVE};
    enum { METRICS = sizeof metrics / sizeof *metrics };
    struct dse_quality_rule rule = {.context = DSE_Q_PLAIN, .over_context = DSE_Q_CUBIC};
    rule.context_error = rule.ratio_error = rule.setting_error = rule.worst_error = (double)NAN;
    struct quality_point *rows = xcalloc(METRICS * p->n, sizeof *rows);
    struct quality_said said[METRICS];
    size_t n = 0, n_said = 0;
    for (size_t m = 0; m < METRICS; m++) {
        if (!splines[m]) continue;
        said[n_said++] = (struct quality_said){"lad", metrics[m], rule};
        add_rows(p, metrics[m], splines[m]->y, rows, &n);
    }
    struct row_fault fault = {0};
    quality_free(p->quality);
    p->quality = quality_new(
        &(struct quality_from){"profile", p->name, p->source, measured_copy(p->measured), rows, n, said, n_said, true}, &fault);
    free(fault.why);
    free(rows);
}

void profile_set_measured(struct dse_profile *p, struct dse_measured *m)
{
    measured_free(p->measured);
    p->measured = m;
    measured_name(m, "profile", p->name);
    make_quality(p);
}

const struct dse_quality *dse_profile_quality(const struct dse_profile *p)
{
    return p->quality;
}

const struct dse_measured *dse_profile_measured(const struct dse_profile *p)
{
    return p->measured;
}

const char *dse_profile_beyond(const struct dse_profile *p, double context)
{
    return measured_beyond(p->measured, context);
}

bool profile_add_errors(struct dse_profile *p, const struct dse_locality_error *errors, struct row_fault *ret_fault)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct dse_locality_error *e = &errors[i];
        if (!(e->attention_error >= 0 && isfinite(e->attention_error)))
            return row_fault(ret_fault, i, "attention_error", "attention_error %g is not a positive number", e->attention_error);
        if (!(e->false_negative >= 0 && e->false_negative <= 1))
            return row_fault(ret_fault, i, "false_negative", "false_negative %g is outside of 0 to 1", e->false_negative);
    }
    double *y = xcalloc(p->n, sizeof *y);
    for (size_t i = 0; i < p->n; i++) y[i] = errors[i].attention_error;
    p->error = make_spline(p->context, y, p->n);
    for (size_t i = 0; i < p->n; i++) y[i] = errors[i].false_negative;
    p->missed = make_spline(p->context, y, p->n);
    free(y);
    make_quality(p);
    return true;
}

static bool check_scores(const struct profile_scores *s, size_t i, struct row_fault *ret)
{
    if (!(s->false_positive >= 0 && s->false_positive <= 1))
        return row_fault(ret, i, "false_positive", "false_positive %g is outside of 0 to 1", s->false_positive);
    if (!(s->top1 >= 0 && s->top1 <= 1)) return row_fault(ret, i, "top1", "top1 %g is outside of 0 to 1", s->top1);
    if (!(s->top1_plus_top2 >= s->top1 && s->top1_plus_top2 <= 1))
        return row_fault(ret, i, "top1_plus_top2", "top1_plus_top2 %g is outside of top1 %g to 1", s->top1_plus_top2, s->top1);
    if (!(s->softmax_mse >= 0 && isfinite(s->softmax_mse)))
        return row_fault(ret, i, "softmax_mse", "softmax_mse %g is not a positive number", s->softmax_mse);
    if (!(s->lines_mse >= 0 && isfinite(s->lines_mse)))
        return row_fault(ret, i, "lines_mse", "lines_mse %g is not a positive number", s->lines_mse);
    return true;
}

bool profile_add_scores(struct dse_profile *p, const struct profile_scores *scores, struct row_fault *ret_fault)
{
    for (size_t i = 0; i < p->n; i++)
        if (!check_scores(&scores[i], i, ret_fault)) return false;
    p->scores = xcalloc(p->n, sizeof *p->scores);
    for (size_t i = 0; i < p->n; i++) p->scores[i] = scores[i];
    return true;
}

bool profile_has_scores(const struct dse_profile *p)
{
    return p->scores != NULL;
}

bool profile_scores_at(const struct dse_profile *p, double context, struct profile_scores *ret)
{
    for (size_t i = 0; p->scores && i < p->n; i++) {
        if (p->context[i] != context) continue;
        *ret = p->scores[i];
        return true;
    }
    return false;
}

const double *profile_contexts(const struct dse_profile *p, size_t *ret_n)
{
    *ret_n = p->n;
    return p->context;
}

void profile_free(struct dse_profile *p)
{
    if (!p) return;
    gsl_spline_free(p->error);
    gsl_spline_free(p->missed);
    for (size_t c = 0; c < COLUMNS; c++) gsl_spline_free(p->column[c]);
    measured_free(p->measured);
    quality_free(p->quality);
    free(p->scores);
    free(p->context);
    free(p->name);
    free(p->source);
    free(p);
}

void dse_profile_range(const struct dse_profile *p, double *ret_min, double *ret_max)
{
    *ret_min = p->context[0];
    *ret_max = p->context[p->n - 1];
}

struct dse_locality dse_profile_at(const struct dse_profile *p, double context)
{
    assert(context >= p->context[0] && context <= p->context[p->n - 1]);
    gsl_interp_accel accel = {.cache = gsl_interp_bsearch(p->context, context, 0, p->n - 1)};
    return (struct dse_locality){.centers = gsl_spline_eval(p->column[0], context, &accel),
                                 .large = gsl_spline_eval(p->column[1], context, &accel),
                                 .active = gsl_spline_eval(p->column[2], context, &accel),
                                 .updates = gsl_spline_eval(p->column[3], context, &accel),
                                 .hit_ratio = gsl_spline_eval(p->column[4], context, &accel)};
}

struct dse_locality_error dse_profile_error_at(const struct dse_profile *p, double context)
{
    assert(context >= p->context[0] && context <= p->context[p->n - 1]);
    if (!p->error) return (struct dse_locality_error){(double)NAN, (double)NAN};
    gsl_interp_accel accel = {.cache = gsl_interp_bsearch(p->context, context, 0, p->n - 1)};
    return (struct dse_locality_error){.attention_error = gsl_spline_eval(p->error, context, &accel),
                                       .false_negative = gsl_spline_eval(p->missed, context, &accel)};
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

static void include_point(const struct dse_locality *at, bool is_first, struct dse_locality_bound *ret)
{
    struct dse_interval *const range[COLUMNS] = {&ret->centers, &ret->large, &ret->active, &ret->updates, &ret->hit_ratio};
    for (size_t c = 0; c < COLUMNS; c++) {
        const struct dse_interval v = dse_iv_of(column_of(at, c));
        *range[c] = is_first ? v : dse_iv_hull(*range[c], v);
    }
}

/* Steffen's splines are monotone between the contexts that a profile has: extremes are at these and at the ends. */
void dse_profile_bound(const struct dse_profile *p, struct dse_interval context, struct dse_locality_bound *ret)
{
    enum { ROUNDING = 64 }; /* units: of a cubic's terms */
    struct dse_locality at = dse_profile_at(p, context.lo);
    include_point(&at, true, ret);
    if (dse_iv_is_point(context)) return;
    at = dse_profile_at(p, context.hi);
    include_point(&at, false, ret);
    for (size_t i = 0; i < p->n; i++) {
        if (!(p->context[i] > context.lo && p->context[i] < context.hi)) continue;
        at = dse_profile_at(p, p->context[i]);
        include_point(&at, false, ret);
    }
    struct dse_interval *const range[COLUMNS] = {&ret->centers, &ret->large, &ret->active, &ret->updates, &ret->hit_ratio};
    for (size_t c = 0; c < COLUMNS; c++) *range[c] = dse_iv_positive(dse_widened(range[c]->lo, range[c]->hi, ROUNDING));
}
