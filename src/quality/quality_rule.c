/* Rules of interpolation, and the leave-one-out errors that choose them. */
#include "quality/quality_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool quality_scale_fits(const struct dse_quality_surface *s, enum dse_quality_metric m, int32_t scale)
{
    const size_t column = (size_t)s->column[m];
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->sheets[i].n; k++) {
            const struct curve *c = &s->sheets[i].curves[k];
            for (size_t j = 0; j < c->n; j++) {
                const double v = c->value[(column * DSE_QUALITY_STATS + DSE_Q_MEAN) * c->n + j];
                if (scale != DSE_Q_PLAIN && !(v > 0)) return false;
                if (scale == DSE_Q_LOGIT && !(v < 1)) return false;
            }
        }
    return true;
}

bool quality_has_one(const struct dse_quality_surface *s)
{
    double from, to;
    dse_surface_ratios(s, &from, &to);
    return s->has_ratios && to == 1;
}

void quality_set_rule(struct dse_quality_surface *s, enum dse_quality_metric m, const struct dse_quality_rule *rule)
{
    s->rule[m] = *rule;
    const size_t column = (size_t)s->column[m];
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->sheets[i].n; k++) {
            struct curve *c = &s->sheets[i].curves[k];
            double *y = c->y + column * c->n;
            const double *v = c->value + (column * DSE_QUALITY_STATS + DSE_Q_MEAN) * c->n;
            for (size_t j = 0; j < c->n; j++) y[j] = quality_scaled(rule->value, v[j]);
            if (c->n > 1) quality_slopes(c->along[rule->ratio], y, c->n, c->slope + column * c->n);
        }
}

/* ---- leaving one out ----------------------------------------------------------------------------------------------------- */

struct errors {
    double *v;
    size_t n;
    double least; /* what is compared with nothing: a thousandth of the largest value */
};

static void add_error(struct errors *e, double found, double measured)
{
    const double over = fmax(measured, e->least);
    if (over <= 0 || (measured < e->least && found < e->least)) return; /* 0 everywhere: there is nothing to compare with */
    e->v = xrealloc(e->v, e->n + 1, sizeof *e->v);
    e->v[e->n++] = fabs(found - measured) / over;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Their median, and the largest so far; NaN without any. Frees them. */
static double median(struct errors *e, double *worst)
{
    double ret = (double)NAN;
    if (e->n) {
        qsort(e->v, e->n, sizeof *e->v, compare_doubles);
        ret = e->n % 2 ? e->v[e->n / 2] : (e->v[e->n / 2 - 1] + e->v[e->n / 2]) / 2;
        *worst = fmax(*worst, e->v[e->n - 1]);
    }
    free(e->v);
    return ret;
}

/* The i-th of n points from the others: x and y without it are made in place of `hole`. */
static double without(const double *x, const double *y, size_t n, size_t i, int32_t curve)
{
    double *rest = xcalloc(2 * n, sizeof *rest), *at = rest + n;
    for (size_t k = 0, to = 0; k < n; k++) {
        if (k == i) continue;
        at[to] = x[k];
        rest[to++] = y[k];
    }
    const double v = quality_between(at, rest, n - 1, curve, x[i]);
    free(rest);
    return v;
}

static double mean_at(const struct dse_quality_surface *s, const struct curve *c, enum dse_quality_metric m, size_t i)
{
    return c->value[((size_t)s->column[m] * DSE_QUALITY_STATS + DSE_Q_MEAN) * c->n + i];
}

/* Of one layer alone? Its few heads scatter, and models read means. */
static bool is_layer(const struct sheet *sheet)
{
    return sheet->setting[DSE_SET_LAYER] >= 0;
}

static double largest(const struct dse_quality_surface *s, enum dse_quality_metric m)
{
    double most = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->sheets[i].n && !is_layer(&s->sheets[i]); k++)
            for (size_t j = 0; j < s->sheets[i].curves[k].n && !s->sheets[i].curves[k].extended; j++)
                most = fmax(most, mean_at(s, &s->sheets[i].curves[k], m, j));
    return most;
}

static void leave_out_ratios(const struct dse_quality_surface *s, const struct curve *c, enum dse_quality_metric m,
                             const struct dse_quality_rule *r, struct errors *e)
{
    double *y = xcalloc(c->n, sizeof *y);
    for (size_t i = 0; i < c->n; i++) y[i] = quality_scaled(r->value, mean_at(s, c, m, i));
    for (size_t i = 1; i + 1 < c->n; i++)
        add_error(e, quality_unscaled(r->value, without(c->along[r->ratio], y, c->n, i, r->over_ratio)), mean_at(s, c, m, i));
    free(y);
    const size_t last = c->n - 1; /* towards a ratio of 1 */
    const double one = quality_at_one(m, DSE_Q_MEAN);
    if (c->n < 2 || c->ratio[last] == 1 || one != one) return;
    const double before = mean_at(s, c, m, last - 1), share = (c->ratio[last] - c->ratio[last - 1]) / (1 - c->ratio[last - 1]);
    add_error(e, before + share * (one - before), mean_at(s, c, m, last));
}

static void leave_out_contexts(const struct dse_quality_surface *s, const struct sheet *sheet, enum dse_quality_metric m,
                               const struct dse_quality_rule *r, double ratio, struct errors *e)
{
    double *x = xcalloc(3 * sheet->n, sizeof *x), *y = x + sheet->n, *v = y + sheet->n;
    size_t n = 0;
    for (size_t i = 0; i < sheet->n; i++) {
        const struct curve *c = &sheet->curves[i];
        const size_t at = ratio < c->ratio[0] ? 0 : quality_below(c->ratio, c->n, ratio);
        if (c->extended || c->ratio[at] != ratio) continue;
        v[n] = mean_at(s, c, m, at);
        x[n] = c->across[r->context];
        y[n] = quality_scaled(r->value, v[n]);
        n++;
    }
    for (size_t i = 1; i + 1 < n; i++) add_error(e, quality_unscaled(r->value, without(x, y, n, i, r->over_context)), v[i]);
    free(x);
}

/* Each ratio of a sheet once. */
static void leave_out_of_sheet(const struct dse_quality_surface *s, const struct sheet *sheet, enum dse_quality_metric m,
                               const struct dse_quality_rule *r, struct errors *contexts, struct errors *ratios)
{
    for (size_t i = 0; i < sheet->n; i++) {
        const struct curve *c = &sheet->curves[i];
        if (c->extended) continue; /* what was not measured tells nothing of the rule */
        leave_out_ratios(s, c, m, r, ratios);
        for (size_t k = 0; k < c->n; k++) {
            bool seen = false;
            for (size_t before = 0; before < i && !seen; before++)
                for (size_t j = 0; j < sheet->curves[before].n; j++) seen |= sheet->curves[before].ratio[j] == c->ratio[k];
            if (!seen) leave_out_contexts(s, sheet, m, r, c->ratio[k], contexts);
        }
    }
}

static const struct curve *curve_of(const struct sheet *sheet, double context)
{
    for (size_t i = 0; i < sheet->n; i++)
        if (sheet->curves[i].context == context) return &sheet->curves[i];
    return NULL;
}

/* The mean at a point of a sheet; false: there is none. */
static bool find_mean(const struct dse_quality_surface *s, int32_t sheet, double context, double ratio, enum dse_quality_metric m,
                      double *ret)
{
    const struct curve *c = sheet < 0 ? NULL : curve_of(&s->sheets[sheet], context);
    if (!c || ratio < c->ratio[0]) return false;
    const size_t i = quality_below(c->ratio, c->n, ratio);
    *ret = mean_at(s, c, m, i);
    return c->ratio[i] == ratio;
}

/* A sheet between two others along an axis, made from these. */
static void leave_out_setting(const struct dse_quality_surface *s, const struct axis *a, size_t stride, size_t cell,
                              enum dse_quality_metric m, const struct dse_quality_rule *r, struct errors *e)
{
    const size_t i = cell / stride % a->n;
    if (a->exact || i == 0 || i + 1 == a->n || s->grid[cell] < 0) return;
    const struct sheet *sheet = &s->sheets[s->grid[cell]];
    if (is_layer(sheet)) return;
    const double t = (a->at[i] - a->at[i - 1]) / (a->at[i + 1] - a->at[i - 1]);
    for (size_t c = 0; c < sheet->n; c++) {
        const struct curve *curve = &sheet->curves[c];
        for (size_t k = 0; k < curve->n && !curve->extended; k++) {
            double low, high;
            if (!find_mean(s, s->grid[cell - stride], curve->context, curve->ratio[k], m, &low) ||
                !find_mean(s, s->grid[cell + stride], curve->context, curve->ratio[k], m, &high))
                continue;
            const double u = (1 - t) * quality_scaled(r->value, low) + t * quality_scaled(r->value, high);
            add_error(e, quality_unscaled(r->value, u), mean_at(s, curve, m, k));
        }
    }
}

struct dse_quality_rule quality_left_out(const struct dse_quality_surface *s, enum dse_quality_metric m,
                                         const struct dse_quality_rule *rule)
{
    const double least = 1e-3 * largest(s, m);
    struct errors contexts = {.least = least}, ratios = {.least = least}, settings = {.least = least};
    for (size_t i = 0; i < s->n; i++)
        if (!is_layer(&s->sheets[i])) leave_out_of_sheet(s, &s->sheets[i], m, rule, &contexts, &ratios);
    size_t cells = 1, stride = 1;
    for (size_t a = 0; a < s->n_axes; a++) cells *= s->axes[a].n;
    for (size_t a = 0; a < s->n_axes; stride *= s->axes[a++].n)
        for (size_t cell = 0; cell < cells; cell++) leave_out_setting(s, &s->axes[a], stride, cell, m, rule, &settings);
    struct dse_quality_rule ret = *rule;
    ret.worst_error = 0;
    ret.context_error = median(&contexts, &ret.worst_error);
    ret.ratio_error = median(&ratios, &ret.worst_error);
    ret.setting_error = median(&settings, &ret.worst_error);
    return ret;
}

/* ---- choosing ------------------------------------------------------------------------------------------------------------ */

static double sum_of(const struct dse_quality_rule *r)
{
    return (r->context_error == r->context_error ? r->context_error : 0) + (r->ratio_error == r->ratio_error ? r->ratio_error : 0) +
           (r->setting_error == r->setting_error ? r->setting_error : 0);
}

static struct dse_quality_rule best_rule(const struct dse_quality_surface *s, enum dse_quality_metric m)
{
    struct dse_quality_rule best = {.context = DSE_Q_LOG};
    bool any = false;
    const bool one = quality_has_one(s);
    for (int32_t value = 0; value < SCALES; value++) {
        if (!quality_scale_fits(s, m, value)) continue;
        for (int32_t over_context = DSE_Q_LINE; over_context <= DSE_Q_CUBIC; over_context++)
            for (int32_t along = 0; along < (s->has_ratios ? 2 * SCALES : 1); along++) {
                if (along / 2 == DSE_Q_LOGIT && one) continue;
                const struct dse_quality_rule rule = {.value = value,
                                                      .context = DSE_Q_LOG,
                                                      .ratio = along / 2,
                                                      .over_context = over_context,
                                                      .over_ratio = along % 2};
                const struct dse_quality_rule tried = quality_left_out(s, m, &rule);
                if (!any || sum_of(&tried) < sum_of(&best)) best = tried;
                any = true;
            }
    }
    return best;
}

void quality_choose(struct dse_quality *q, const struct quality_said *said, size_t n)
{
    for (size_t i = 0; i < q->n; i++)
        for (int m = 0; m < DSE_QUALITY_METRICS; m++) {
            struct dse_quality_surface *s = &q->surfaces[i];
            bool is_said = s->column[m] < 0;
            for (size_t k = 0; k < n; k++)
                is_said |= said[k].metric == (enum dse_quality_metric)m && strcmp(said[k].method, s->method) == 0;
            if (is_said) continue;
            const struct dse_quality_rule best = best_rule(s, (enum dse_quality_metric)m);
            quality_set_rule(s, (enum dse_quality_metric)m, &best);
        }
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static void add_share(struct text *t, const char *name, double v)
{
    if (v == v) text_addf(t, " %s=%.3g%%", name, 100 * v);
}

char *quality_rule_text(const struct dse_quality_rule *r)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "value=%s context=%s-%s ratio=%s-%s", dse_quality_scale_names[r->value], dse_quality_curve_names[r->over_context],
              dse_quality_scale_names[r->context], dse_quality_curve_names[r->over_ratio], dse_quality_scale_names[r->ratio]);
    add_share(&t, "left_out_context", r->context_error);
    add_share(&t, "left_out_ratio", r->ratio_error);
    add_share(&t, "left_out_setting", r->setting_error);
    add_share(&t, "worst", r->worst_error);
    return text_detach(&t);
}

static bool read_name(const char *text, size_t n, const char *const *names, int32_t *ret)
{
    for (int32_t i = 0; names[i]; i++) {
        if (strlen(names[i]) != n || strncmp(names[i], text, n) != 0) continue;
        *ret = i;
        return true;
    }
    return false;
}

/* "cubic-logit" */
static bool read_curve(const char *text, int32_t *ret_curve, int32_t *ret_scale)
{
    const size_t n = strcspn(text, "-");
    return text[n] && read_name(text, n, dse_quality_curve_names, ret_curve) &&
           read_name(text + n + 1, strlen(text + n + 1), dse_quality_scale_names, ret_scale);
}

static bool read_share(const char *text, double *ret)
{
    const size_t n = strlen(text);
    char *number = xstrndup(text, n && text[n - 1] == '%' ? n - 1 : n);
    const bool ok = n && text[n - 1] == '%' && text_parse_f64(number, ret) && *ret >= 0;
    *ret /= 100;
    free(number);
    return ok;
}

static bool read_word(const char *name, size_t n, const char *value, struct dse_quality_rule *ret)
{
    static const char *const names[] = {"value",          "context",          "ratio", "left_out_context",
                                        "left_out_ratio", "left_out_setting", "worst", NULL};
    int32_t i;
    if (!read_name(name, n, names, &i)) return false;
    switch (i) {
    case 0: return read_name(value, strlen(value), dse_quality_scale_names, &ret->value);
    case 1: return read_curve(value, &ret->over_context, &ret->context) && ret->context != DSE_Q_LOGIT;
    case 2: return read_curve(value, &ret->over_ratio, &ret->ratio);
    case 3: return read_share(value, &ret->context_error);
    case 4: return read_share(value, &ret->ratio_error);
    case 5: return read_share(value, &ret->setting_error);
    default: return read_share(value, &ret->worst_error);
    }
}

char *quality_rule_read(const char *text, struct dse_quality_rule *ret)
{
    *ret = (struct dse_quality_rule){.context = DSE_Q_LOG};
    ret->context_error = ret->ratio_error = ret->setting_error = ret->worst_error = (double)NAN;
    char *copy = xstrdup(text), *rest, *why = NULL;
    for (char *word = strtok_r(copy, " \t", &rest); word && !why; word = strtok_r(NULL, " \t", &rest)) {
        const size_t n = strcspn(word, "=");
        if (!word[n] || !read_word(word, n, word + n + 1, ret)) why = xasprintf("\"%s\" is no part of a rule", word);
    }
    free(copy);
    return why;
}
