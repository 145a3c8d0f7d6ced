/* Bounds of quality surfaces over boxes.
 *
 * A curve over the ratio is monotone from one measured ratio to the next, whichever the rule: its extremes are at these and at the
 * ends. Over contexts a line of two such curves is bilinear in its share of the way and in each end, so extremes are at corners; a
 * cubic stays between its two ends. Settings weigh sheets: sums of intervals, or the hull of all sheets that a box may touch.
 */
#include "quality/quality_internal.h"

#include <dse/num.h>

#include <float.h>
#include <math.h>

struct asked {
    const struct dse_quality_surface *s;
    enum dse_quality_metric m;
    enum dse_quality_stat stat;
    struct dse_interval context, ratio;
};

static struct dse_interval slack(struct dse_interval v)
{
    const double by = 64 * DBL_EPSILON * dse_max(dse_max(fabs(v.lo), fabs(v.hi)), 1);
    return dse_iv(v.lo - by, v.hi + by);
}

static double on_curve(const struct asked *a, const struct curve *c, double ratio)
{
    double raw, along[SCALES] = {ratio, log(ratio), ratio < 1 ? log(ratio / (1 - ratio)) : 0};
    return quality_on_curve(a->s, c, a->m, a->stat, ratio, along, &raw);
}

static bool is_known(struct dse_interval v)
{
    return v.lo == v.lo && v.hi == v.hi;
}

/* What is not known (a spread that the file does not have) is at no point: it bounds nothing. */
static struct dse_interval hull(struct dse_interval a, struct dse_interval b)
{
    return !is_known(a) ? b : !is_known(b) ? a : dse_iv_hull(a, b);
}

/* The range of a curve from lo to hi, both of which it has. Towards a ratio of 1 that was not measured the line of plain values
 * ends at what everything is, whose logarithm may be none. */
static struct dse_interval curve_bound(const struct asked *a, const struct curve *c, double lo, double hi)
{
    const double *y = a->stat == DSE_Q_MEAN ? c->y + (size_t)a->s->column[a->m] * c->n
                                            : c->value + ((size_t)a->s->column[a->m] * DSE_QUALITY_STATS + a->stat) * c->n;
    if (c->n == 1 && !a->s->has_ratios) return dse_iv_of(y[0]);
    struct dse_interval v = hull(dse_iv_of(on_curve(a, c, lo)), dse_iv_of(on_curve(a, c, hi)));
    for (size_t i = 0; i < c->n; i++)
        if (c->ratio[i] > lo && c->ratio[i] < hi) v = hull(v, dse_iv_of(y[i]));
    return slack(v);
}

static struct dse_interval between(struct dse_interval a, struct dse_interval b, double from, double to)
{
    const double at_from = a.lo + from * (b.lo - a.lo), at_to = a.lo + to * (b.lo - a.lo);
    const double top_from = a.hi + from * (b.hi - a.hi), top_to = a.hi + to * (b.hi - a.hi);
    return slack(dse_iv(dse_min(at_from, at_to), dse_max(top_from, top_to)));
}

static void include(struct dse_interval *ret, struct dse_interval v, bool *any)
{
    if (!is_known(v)) return;
    *ret = *any ? dse_iv_hull(*ret, v) : v;
    *any = true;
}

/* The ratios of the box that both curves have, those that half a position brings there included. False: none. */
static bool ratios_of(const struct asked *a, const struct curve *x, const struct curve *y, double *lo, double *hi)
{
    const double first = dse_max(x->ratio[0], y->ratio[0]);
    if (!a->s->has_ratios) {
        *lo = *hi = 1;
        return a->ratio.hi + 0.5 / a->context.lo >= 1;
    }
    const double half = 0.5 / a->context.lo * (1 + 4 * DBL_EPSILON);
    *lo = dse_max(a->ratio.lo, first);
    *hi = a->ratio.lo < first ? dse_max(a->ratio.hi, dse_min(a->ratio.hi, first) + half) : a->ratio.hi;
    *hi = dse_min(*hi, 1 - DBL_EPSILON / 2);
    return *lo <= *hi;
}

static void include_cell(const struct asked *a, const struct sheet *sheet, size_t low, struct dse_interval *ret, bool *any)
{
    const struct curve *x = &sheet->curves[low], *y = x + 1;
    const struct dse_quality_rule *rule = &a->s->rule[a->m];
    double lo, hi;
    if (!ratios_of(a, x, y, &lo, &hi)) return;
    const struct dse_interval p = curve_bound(a, x, lo, hi), q = curve_bound(a, y, lo, hi);
    if (!is_known(p) || !is_known(q)) return; /* nor is anything between them */
    if (a->stat == DSE_Q_MEAN && rule->over_context == DSE_Q_CUBIC) {
        include(ret, slack(dse_iv_hull(p, q)), any);
        return;
    }
    const bool logarithmic = rule->context == DSE_Q_LOG;
    const double way = y->across[rule->context] - x->across[rule->context];
    const double from = logarithmic ? log(a->context.lo) : a->context.lo, to = logarithmic ? log(a->context.hi) : a->context.hi;
    const double share_lo = dse_clamp((from - x->across[rule->context]) / way - 1e-13, 0, 1),
                 share_hi = dse_clamp((to - x->across[rule->context]) / way + 1e-13, 0, 1);
    include(ret, between(p, q, share_lo, share_hi), any);
}

/* The range of a sheet, as the rule takes values. */
static bool sheet_bound(const struct asked *a, const struct sheet *sheet, struct dse_interval *ret)
{
    bool any = false;
    for (size_t i = 0; i < sheet->n; i++) {
        const struct curve *c = &sheet->curves[i];
        double lo, hi;
        if (c->context >= a->context.lo && c->context <= a->context.hi && ratios_of(a, c, c, &lo, &hi))
            include(ret, curve_bound(a, c, lo, hi), &any);
        if (i + 1 == sheet->n || c[1].context <= a->context.lo || c->context >= a->context.hi) continue;
        include_cell(a, sheet, i, ret, &any);
    }
    return any;
}

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

/* May a point of the box rest on this value of the axis? */
static bool is_touched(const struct axis *x, size_t i, double lo, double hi)
{
    const double before = i ? x->value[i - 1] : -(double)INFINITY, behind = i + 1 < x->n ? x->value[i + 1] : (double)INFINITY;
    return x->exact ? x->value[i] >= lo && x->value[i] <= hi : lo < behind && hi > before;
}

/* May a point of the box have the settings that do not vary? */
static bool fixed_are_in(const struct dse_quality_surface *s, const struct dse_quality_box *box)
{
    const unsigned asked = box->given & ~s->varies;
    for (int i = 0; asked >> i; i++) {
        const enum dse_setting k = (enum dse_setting)i;
        if (!(asked >> i & 1)) continue;
        if (!(s->fixed[i] >= quality_setting(k, box->lo[i]) && s->fixed[i] <= quality_setting(k, box->hi[i]))) return false;
    }
    return true;
}

static bool settings_bound(const struct asked *a, const struct dse_quality_box *box, struct dse_interval *ret)
{
    const struct dse_quality_surface *s = a->s;
    size_t cells = 1;
    for (size_t k = 0; k < s->n_axes; k++) cells *= s->axes[k].n;
    bool any = false;
    for (size_t cell = 0; cell < cells; cell++) {
        bool touched = s->grid[cell] >= 0;
        size_t stride = 1;
        for (size_t k = 0; k < s->n_axes && touched; stride *= s->axes[k++].n) {
            const struct axis *x = &s->axes[k];
            const bool given = (box->given >> x->setting & 1) != 0;
            const double otherwise = measured_otherwise(x->setting);
            touched = is_touched(x, cell / stride % x->n, given ? quality_setting(x->setting, box->lo[x->setting]) : otherwise,
                                 given ? quality_setting(x->setting, box->hi[x->setting]) : otherwise);
        }
        struct dse_interval v;
        if (touched && sheet_bound(a, &s->sheets[s->grid[cell]], &v)) include(ret, slack(v), &any); /* weighed sums are rounded */
    }
    return any;
}

/* All settings are single values: the sheets weighed as at a point. Their contexts and ratios may differ: what all have. */
static bool corners_bound(const struct asked *a, const struct dse_quality_place *p, struct dse_interval *ret)
{
    struct dse_interval sum = dse_iv_of(0);
    for (int32_t k = 0; k < p->n; k++) {
        struct dse_interval v;
        if (!sheet_bound(a, p->corner[k].sheet, &v)) return false;
        if (p->n == 1) sum = v;
        if (p->n > 1) sum = dse_iv_add(sum, dse_iv_scale(v, p->corner[k].weight));
    }
    *ret = p->n > 1 ? slack(sum) : sum;
    return true;
}

static struct dse_interval unscaled(const struct asked *a, struct dse_interval v)
{
    if (a->stat != DSE_Q_MEAN || a->s->rule[a->m].value == DSE_Q_PLAIN) return dse_iv(dse_max(v.lo, 0), dse_max(v.hi, 0));
    const int32_t scale = a->s->rule[a->m].value;
    return dse_widened(quality_unscaled(scale, v.lo), quality_unscaled(scale, v.hi), 8);
}

/* Of the box's settings: is there one value of each, and what were sheets found for it? */
static bool one_setting(const struct dse_quality_box *box, struct dse_quality_query *ret)
{
    *ret = (struct dse_quality_query){.method = box->method, .context = 1, .ratio = 1, .given = box->given};
    bool one = true;
    for (int i = 0; i < DSE_SETTINGS; i++) {
        if (!(box->given >> i & 1)) continue;
        ret->setting[i] = box->lo[i];
        one &= box->lo[i] == box->hi[i];
    }
    return one;
}

bool dse_quality_bound(const struct dse_quality *q, const struct dse_quality_box *box, enum dse_quality_metric m,
                       enum dse_quality_stat stat, struct dse_interval *ret)
{
    const struct dse_quality_surface *s = dse_quality_method(q, box->method);
    if (!s || s->column[m] < 0) return false;
    const struct asked a = {.s = s, .m = m, .stat = stat, .context = box->context, .ratio = box->ratio};
    struct dse_quality_query query;
    struct dse_quality_place place;
    struct dse_interval v = dse_unbounded;
    bool any = false;
    const bool one_point = one_setting(box, &query);
    if (one_point && dse_iv_is_point(box->context) && dse_iv_is_point(box->ratio)) {
        query.context = box->context.lo;
        query.ratio = box->ratio.lo;
        if (dse_quality_find(q, &query, &place)) return false;
        const double at = dse_quality_stat(&place, m, stat);
        *ret = dse_iv_of(at);
        return at == at;
    }
    if (one_point) {
        if (quality_find_sheets(s, &query, &place)) return false;
        any = corners_bound(&a, &place, &v);
    } else {
        any = fixed_are_in(s, box) && settings_bound(&a, box, &v);
    }
    if (any) *ret = unscaled(&a, v);
    const double one = quality_at_one(m, stat);
    if (s->has_ratios && box->ratio.hi >= 1) {
        if (one != one) return false;
        include(ret, dse_iv_of(one), &any);
    }
    return any && ret->lo == ret->lo && ret->hi == ret->hi;
}
