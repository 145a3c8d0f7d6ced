/* Reading quality surfaces: the point's sheets and contexts, once; then any metric there. */
#include "quality/quality_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *const dse_quality_metric_names[] = {[DSE_Q_RETAINED_MASS] = "retained_mass",
                                                [DSE_Q_ATTENTION_ERROR] = "attention_error",
                                                [DSE_Q_CENTERS] = "centers",
                                                [DSE_Q_LARGE] = "large",
                                                [DSE_Q_ACTIVE] = "active",
                                                [DSE_Q_UPDATES] = "updates",
                                                [DSE_Q_HIT_RATIO] = "hit_ratio",
                                                [DSE_Q_FALSE_NEGATIVE] = "false_negative",
                                                [DSE_Q_FALSE_POSITIVE] = "false_positive",
                                                [DSE_Q_TOP1] = "top1",
                                                [DSE_Q_TOP1_PLUS_TOP2] = "top1_plus_top2",
                                                [DSE_Q_RECOMPUTED] = "recomputed",
                                                [DSE_Q_READ_SHARE] = "read_share",
                                                NULL};
const char *const dse_quality_stat_names[] = {"mean", "se", "sd", "p10", "p50", "p90", NULL};
const char *const dse_quality_scale_names[] = {"plain", "log", "logit", NULL};
const char *const dse_quality_curve_names[] = {"line", "cubic", NULL};

/* ---- scales and curves --------------------------------------------------------------------------------------------------- */

double quality_at_one(enum dse_quality_metric m, enum dse_quality_stat stat)
{
    if (m != DSE_Q_RETAINED_MASS && m != DSE_Q_ATTENTION_ERROR && m != DSE_Q_READ_SHARE) return (double)NAN;
    if (stat == DSE_Q_SE || stat == DSE_Q_SD) return 0;
    return m == DSE_Q_ATTENTION_ERROR ? 0 : 1;
}

double quality_setting(enum dse_setting s, double value)
{
    enum { FULL_BITS = 16 };
    return s == DSE_SET_KV_BITS && value > FULL_BITS ? FULL_BITS : value;
}

double quality_scaled(int32_t scale, double v)
{
    return scale == DSE_Q_PLAIN ? v : scale == DSE_Q_LOG ? log(v) : log(v / (1 - v));
}

double quality_unscaled(int32_t scale, double u)
{
    return scale == DSE_Q_PLAIN ? u : scale == DSE_Q_LOG ? exp(u) : 1 / (1 + exp(-u));
}

/* Steffen's slope at the middle of three points. */
static double slope_between(double h0, double h1, double s0, double s1)
{
    const double p = (s0 * h1 + s1 * h0) / (h0 + h1);
    return ((s0 < 0 ? -1.0 : 1.0) + (s1 < 0 ? -1.0 : 1.0)) * fmin(fabs(s0), fmin(fabs(s1), 0.5 * fabs(p)));
}

void quality_slopes(const double *x, const double *y, size_t n, double *ret)
{
    for (size_t i = 0; i < n; i++) {
        const double before = i ? (y[i] - y[i - 1]) / (x[i] - x[i - 1]) : 0;
        const double after = i + 1 < n ? (y[i + 1] - y[i]) / (x[i + 1] - x[i]) : 0;
        ret[i] = i == 0 ? after : i + 1 == n ? before : slope_between(x[i] - x[i - 1], x[i + 1] - x[i], before, after);
    }
}

static double quality_cubic(double x0, double x1, double y0, double y1, double m0, double m1, double x)
{
    const double h = x1 - x0, s = (y1 - y0) / h, d = x - x0;
    const double a = (m0 + m1 - 2 * s) / h / h, b = (3 * s - 2 * m0 - m1) / h;
    return y0 + d * (m0 + d * (b + d * a));
}

static double line(double x0, double x1, double y0, double y1, double x)
{
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0);
}

double quality_between(const double *x, const double *y, size_t n, int32_t curve, double at)
{
    if (n == 1) return y[0];
    size_t i = quality_below(x, n - 1, at);
    if (curve == DSE_Q_LINE || n == 2) return line(x[i], x[i + 1], y[i], y[i + 1], at);
    const size_t first = i ? i - 1 : 0, last = i + 2 < n ? i + 2 : n - 1;
    double slope[4];
    quality_slopes(x + first, y + first, last - first + 1, slope);
    return quality_cubic(x[i], x[i + 1], y[i], y[i + 1], slope[i - first], slope[i - first + 1], at);
}

double quality_on_curve(const struct dse_quality_surface *s, const struct curve *c, enum dse_quality_metric m,
                        enum dse_quality_stat stat, double ratio, const double along[SCALES], double *ret_raw)
{
    const size_t column = (size_t)s->column[m], i = quality_below(c->ratio, c->n, ratio);
    const double *value = c->value + (column * DSE_QUALITY_STATS + stat) * c->n;
    const struct dse_quality_rule *rule = &s->rule[m];
    const double *y = stat == DSE_Q_MEAN ? c->y + column * c->n : value;
    *ret_raw = (double)NAN;
    if (c->ratio[i] == ratio) {
        *ret_raw = value[i];
        return y[i];
    }
    if (i + 1 == c->n) { /* closed: to what a ratio of 1 is */
        const double v = line(c->ratio[i], 1, value[i], quality_at_one(m, stat), ratio);
        const double most = rule->value == DSE_Q_LOGIT ? 1 - DBL_EPSILON : (double)INFINITY;
        return stat == DSE_Q_MEAN && rule->value ? quality_scaled(rule->value, fmin(fmax(v, DBL_MIN), most)) : v;
    }
    const double *x = c->along[rule->ratio];
    if (rule->over_ratio == DSE_Q_LINE || stat != DSE_Q_MEAN) return line(x[i], x[i + 1], y[i], y[i + 1], along[rule->ratio]);
    const double *slope = c->slope + column * c->n;
    return quality_cubic(x[i], x[i + 1], y[i], y[i + 1], slope[i], slope[i + 1], along[rule->ratio]);
}

/* ---- finding ------------------------------------------------------------------------------------------------------------- */

const struct dse_quality_surface *dse_quality_method(const struct dse_quality *q, const char *method)
{
    q = quality_whole(q);
    for (size_t i = 0; i < q->n; i++)
        if (strcmp(q->surfaces[i].method, method) == 0) return &q->surfaces[i];
    return NULL;
}

static const char *check_fixed(const struct dse_quality_surface *s, const struct dse_quality_query *query)
{
    const unsigned asked = query->given & ~s->varies;
    for (int i = 0; asked >> i; i++)
        if ((asked >> i & 1) && quality_setting((enum dse_setting)i, query->setting[i]) != s->fixed[i]) return s->unlike[i];
    return NULL;
}

/* The sheets around the point's settings, with their weights. */
static const char *find_sheets(const struct dse_quality_surface *s, const struct dse_quality_query *query,
                               struct dse_quality_place *ret)
{
    size_t at[DSE_QUALITY_CORNERS] = {0}, stride = 1;
    double weight[DSE_QUALITY_CORNERS] = {1};
    size_t n = 1;
    for (size_t a = 0; a < s->n_axes; stride *= s->axes[a++].n) {
        const struct axis *x = &s->axes[a];
        const double v = query->given >> x->setting & 1 ? quality_setting(x->setting, query->setting[x->setting])
                                                        : measured_otherwise(x->setting);
        if (!(v >= x->value[0] && v <= x->value[x->n - 1])) return s->unlike[x->setting];
        const size_t i = quality_below(x->value, x->n, v);
        const bool between = x->value[i] != v;
        if (between && x->exact) return s->unlike[x->setting];
        if (between && 2 * n > DSE_QUALITY_CORNERS) return s->no_mix;
        const double t = between ? ((x->logarithmic ? log(v) : v) - x->at[i]) / (x->at[i + 1] - x->at[i]) : 0;
        for (size_t k = 0; k < n; k++) {
            at[k] += i * stride;
            if (!between) continue;
            at[n + k] = at[k] + stride;
            weight[n + k] = weight[k] * t;
            weight[k] *= 1 - t;
        }
        if (between) n *= 2;
    }
    ret->n = (int32_t)n;
    for (size_t k = 0; k < n; k++) {
        if (s->grid[at[k]] < 0) return s->no_mix;
        ret->corner[k].sheet = &s->sheets[s->grid[at[k]]];
        ret->corner[k].weight = weight[k];
    }
    return NULL;
}

/* The contexts around the point's in each sheet; the smallest ratio that all of them have. */
static const char *find_contexts(const struct dse_quality_surface *s, struct dse_quality_place *p, double *ret_first)
{
    *ret_first = 0;
    for (int32_t k = 0; k < p->n; k++) {
        const struct sheet *sheet = p->corner[k].sheet;
        if (!(p->context >= sheet->curves[0].context && p->context <= sheet->curves[sheet->n - 1].context)) return s->no_context;
        size_t high = 0;
        while (sheet->curves[high].context < p->context) high++;
        const size_t low = sheet->curves[high].context == p->context ? high : high - 1;
        const struct curve *a = &sheet->curves[low], *b = &sheet->curves[high];
        p->corner[k].low = (int32_t)low;
        p->corner[k].high = (int32_t)high;
        p->extended |= a->extended || b->extended;
        *ret_first = fmax(*ret_first, fmax(a->ratio[0], b->ratio[0]));
    }
    return NULL;
}

const char *quality_find_sheets(const struct dse_quality_surface *s, const struct dse_quality_query *query,
                                struct dse_quality_place *ret)
{
    const char *why = check_fixed(s, query);
    return why ? why : find_sheets(s, query, ret);
}

const char *dse_quality_find(const struct dse_quality *q, const struct dse_quality_query *query, struct dse_quality_place *ret)
{
    const struct dse_quality_surface *s = dse_quality_method(q, query->method);
    if (!s) return quality_whole(q)->no_method;
    ret->surface = s;
    ret->context = query->context;
    ret->whole = ret->extended = false;
    const char *why = quality_find_sheets(s, query, ret);
    if (why) return why;
    if (s->has_ratios && query->ratio >= 1) {
        ret->whole = true;
        return NULL;
    }
    double first;
    why = find_contexts(s, ret, &first);
    if (why) return why;
    double ratio = fmin(query->ratio, 1);
    if (ratio < first) ratio = (ratio * query->context + 0.5) / query->context;
    if (!(ratio >= first)) return s->no_ratio;
    ratio = s->has_ratios ? ratio : 1;
    ret->ratio = ratio;
    ret->along[DSE_Q_PLAIN] = ratio;
    ret->along[DSE_Q_LOG] = s->has_ratios ? log(ratio) : 0;
    ret->along[DSE_Q_LOGIT] = s->has_ratios ? log(ratio / (1 - ratio)) : 0;
    ret->across[DSE_Q_PLAIN] = query->context;
    ret->across[DSE_Q_LOG] = log(query->context);
    return NULL;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

/* Over contexts by Steffen's cubic: the curves next to both, where they reach the ratio, give the slopes. */
static double over_contexts(const struct dse_quality_place *p, const struct sheet *sheet, size_t low, enum dse_quality_metric m,
                            double a, double b)
{
    const struct dse_quality_rule *rule = &p->surface->rule[m];
    double x[4], y[4], raw;
    size_t n = 0, at;
    const struct curve *c = sheet->curves + low;
    if (low > 0 && c[-1].ratio[0] <= p->ratio) {
        x[n] = c[-1].across[rule->context];
        y[n++] = quality_on_curve(p->surface, c - 1, m, DSE_Q_MEAN, p->ratio, p->along, &raw);
    }
    at = n;
    x[n] = c[0].across[rule->context];
    y[n++] = a;
    x[n] = c[1].across[rule->context];
    y[n++] = b;
    if (low + 2 < sheet->n && c[2].ratio[0] <= p->ratio) {
        x[n] = c[2].across[rule->context];
        y[n++] = quality_on_curve(p->surface, c + 2, m, DSE_Q_MEAN, p->ratio, p->along, &raw);
    }
    double slope[4];
    quality_slopes(x, y, n, slope);
    return quality_cubic(x[at], x[at + 1], a, b, slope[at], slope[at + 1], p->across[rule->context]);
}

/* As the rule takes it; *ret_raw as quality_on_curve. */
static double on_sheet(const struct dse_quality_place *p, int32_t k, enum dse_quality_metric m, enum dse_quality_stat stat,
                       double *ret_raw)
{
    const struct sheet *sheet = p->corner[k].sheet;
    const size_t low = (size_t)p->corner[k].low, high = (size_t)p->corner[k].high;
    const struct curve *a = &sheet->curves[low], *b = &sheet->curves[high];
    const double at_low = quality_on_curve(p->surface, a, m, stat, p->ratio, p->along, ret_raw);
    if (low == high) return at_low;
    const double at_high = quality_on_curve(p->surface, b, m, stat, p->ratio, p->along, ret_raw);
    *ret_raw = (double)NAN;
    const struct dse_quality_rule *rule = &p->surface->rule[m];
    if (stat == DSE_Q_MEAN && rule->over_context == DSE_Q_CUBIC) return over_contexts(p, sheet, low, m, at_low, at_high);
    const double t = (p->across[rule->context] - a->across[rule->context]) / (b->across[rule->context] - a->across[rule->context]);
    return at_low + t * (at_high - at_low);
}

double dse_quality_stat(const struct dse_quality_place *p, enum dse_quality_metric m, enum dse_quality_stat stat)
{
    if (p->surface->column[m] < 0) return (double)NAN;
    if (p->whole) return quality_at_one(m, stat);
    double raw, u = on_sheet(p, 0, m, stat, &raw);
    if (p->n == 1 && raw == raw) return raw;
    if (p->n > 1) {
        u *= p->corner[0].weight;
        for (int32_t k = 1; k < p->n; k++) u += p->corner[k].weight * on_sheet(p, k, m, stat, &raw);
    }
    return stat == DSE_Q_MEAN ? quality_unscaled(p->surface->rule[m].value, u) : u;
}

bool dse_quality_at(const struct dse_quality_place *p, enum dse_quality_metric m, struct dse_quality_value *ret)
{
    if (p->surface->column[m] < 0) return false;
    for (int i = 0; i < DSE_QUALITY_STATS; i++) ret->stat[i] = dse_quality_stat(p, m, (enum dse_quality_stat)i);
    ret->extended = p->extended;
    return true;
}

void dse_surface_ratios(const struct dse_quality_surface *s, double *ret_min, double *ret_max)
{
    *ret_min = 1;
    *ret_max = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->sheets[i].n; k++) {
            const struct curve *c = &s->sheets[i].curves[k];
            *ret_min = fmin(*ret_min, c->ratio[0]);
            *ret_max = fmax(*ret_max, c->ratio[c->n - 1]);
        }
}
