/* Building a quality entry: rows are sorted into surfaces, sheets and curves, and refused where they have holes. */
#include "quality/quality_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Between what settings values can be taken. */
enum between { NEVER, LINES, LOGARITHMS };
static const enum between between_settings[DSE_SETTINGS] = {
    [DSE_SET_INTERVALS] = LOGARITHMS,
    [DSE_SET_RECENT] = LOGARITHMS,
    [DSE_SET_PROMPT_SHARE] = LINES,
    [DSE_SET_THRESHOLD_A] = LINES,
    [DSE_SET_THRESHOLD_B] = LINES,
    [DSE_SET_RESERVED_LENGTH] = LOGARITHMS,
    [DSE_SET_COLLINEAR] = LINES,
    [DSE_SET_RECENT_SHARE] = LINES,
    [DSE_SET_SINKS] = LINES,
    [DSE_SET_OBSERVED] = LOGARITHMS,
    [DSE_SET_POOL] = LINES,
    [DSE_SET_PAGE] = LOGARITHMS,
    [DSE_SET_BETA] = LINES,
    [DSE_SET_GROUP] = LOGARITHMS,
    [DSE_SET_PHI] = LINES,
    [DSE_SET_LOW] = LINES,
    [DSE_SET_HIGH] = LINES,
};

enum dse_quality_metric quality_metric_find(const char *name)
{
    int m = 0;
    while (m < DSE_QUALITY_METRICS && strcmp(dse_quality_metric_names[m], name) != 0) m++;
    return (enum dse_quality_metric)m;
}

/* ---- sheets -------------------------------------------------------------------------------------------------------------- */

/* How many rows from the first on are alike. */
static size_t run_of(const struct placed *rows, size_t n, bool (*alike)(const struct placed *a, const struct placed *b))
{
    size_t i = 1;
    while (i < n && alike(&rows[0], &rows[i])) i++;
    return i;
}

static bool same_method(const struct placed *a, const struct placed *b)
{
    return a->method == b->method;
}

static bool same_sheet(const struct placed *a, const struct placed *b)
{
    return same_method(a, b) && quality_compare_settings(a->p->setting, b->p->setting) == 0;
}

static bool same_context(const struct placed *a, const struct placed *b)
{
    return same_sheet(a, b) && a->p->context == b->p->context;
}

static bool same_point(const struct placed *a, const struct placed *b)
{
    return same_context(a, b) && a->p->ratio == b->p->ratio;
}

static void curve_init(struct curve *c, double context, size_t n, size_t n_columns)
{
    *c = (struct curve){.context = context, .across = {context, log(context)}, .n = n};
    c->ratio = xcalloc(n, sizeof *c->ratio);
    for (size_t i = 0; i < SCALES; i++) c->along[i] = xcalloc(n, sizeof **c->along);
    c->value = xcalloc(n * n_columns * DSE_QUALITY_STATS, sizeof *c->value);
    c->y = xcalloc(n * n_columns, sizeof *c->y);
    c->slope = xcalloc(n * n_columns, sizeof *c->slope);
}

static bool add_point(const struct dse_quality_surface *s, struct curve *c, size_t i, const struct placed *rows, size_t n,
                      struct row_fault *ret)
{
    const struct quality_point *p = rows->p;
    c->ratio[i] = p->ratio;
    for (int32_t k = 0; k < SCALES; k++) c->along[k][i] = k == DSE_Q_LOGIT && p->ratio == 1 ? 0 : quality_scaled(k, p->ratio);
    for (size_t k = 0; k < n; k++) {
        const struct quality_point *at = rows[k].p;
        const double one = quality_at_one(at->metric, DSE_Q_MEAN);
        if (s->has_ratios && at->ratio == 1 && at->stat[DSE_Q_MEAN] != one && one == one)
            return row_fault(ret, rows[k].row, "mean", "a ratio of 1 keeps everything: %s is %g, not %g",
                             dse_quality_metric_names[at->metric], one, at->stat[DSE_Q_MEAN]);
        for (size_t stat = 0; stat < DSE_QUALITY_STATS; stat++)
            c->value[((size_t)s->column[at->metric] * DSE_QUALITY_STATS + stat) * c->n + i] = at->stat[stat];
        c->extended |= at->extended;
    }
    if (n == s->n_columns) return true;
    for (size_t m = 0, k = 0; m < DSE_QUALITY_METRICS; m++) {
        if (s->column[m] < 0) continue;
        if (k < n && (size_t)rows[k].p->metric == m)
            k++;
        else
            return row_fault(ret, rows->row, "metric",
                             "there is a hole: %s at context %g, ratio %g has no %s, as other points have", p->method, p->context,
                             p->ratio, dse_quality_metric_names[m]);
    }
    return true;
}

static bool add_curve(const struct dse_quality_surface *s, struct sheet *sheet, const struct placed *rows, size_t n,
                      struct row_fault *ret)
{
    size_t points = 0;
    for (size_t i = 0; i < n; points++) i += run_of(rows + i, n - i, same_point);
    sheet->curves = xrealloc(sheet->curves, sheet->n + 1, sizeof *sheet->curves);
    struct curve *c = &sheet->curves[sheet->n++];
    curve_init(c, rows->p->context, points, s->n_columns);
    for (size_t i = 0, k = 0; i < n; k++) {
        size_t alike = run_of(rows + i, n - i, same_point);
        if (!add_point(s, c, k, rows + i, alike, ret)) return false;
        i += alike;
    }
    return true;
}

static bool has_ratio(const struct curve *c, double ratio)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->ratio[i] == ratio) return true;
    return false;
}

static bool is_measured_on_both_sides(const struct sheet *sheet, size_t at, double ratio)
{
    const struct curve *c = &sheet->curves[at];
    bool before = false, behind = false;
    for (size_t i = 0; i < at; i++) before |= has_ratio(&sheet->curves[i], ratio);
    for (size_t i = at + 1; i < sheet->n; i++) behind |= has_ratio(&sheet->curves[i], ratio);
    return (before && behind) || (ratio > c->ratio[0] && ratio < c->ratio[c->n - 1]);
}

/* Has each context the ratios that lie between others of its own, or that the contexts on both sides have? */
static bool refuse_holes(const struct sheet *sheet, const struct placed *rows, size_t n, struct row_fault *ret)
{
    for (size_t at = 0, first = 0; at < sheet->n; at++) {
        for (size_t i = 0; i < n; i++) {
            const double ratio = rows[i].p->ratio;
            if (has_ratio(&sheet->curves[at], ratio) || !is_measured_on_both_sides(sheet, at, ratio)) continue;
            return row_fault(ret, rows[first].row, "context",
                             "there is a hole: %s at context %g has no ratio %g, which other contexts have", rows->p->method,
                             sheet->curves[at].context, ratio);
        }
        first += run_of(rows + first, n - first, same_context);
    }
    return true;
}

static bool add_sheet(struct dse_quality_surface *s, const struct placed *rows, size_t n, bool holes, struct row_fault *ret)
{
    s->sheets = xrealloc(s->sheets, s->n + 1, sizeof *s->sheets);
    struct sheet *sheet = &s->sheets[s->n++];
    *sheet = (struct sheet){0};
    memcpy(sheet->setting, rows->p->setting, sizeof sheet->setting);
    for (size_t i = 0; i < n;) {
        size_t alike = run_of(rows + i, n - i, same_context);
        if (!add_curve(s, sheet, rows + i, alike, ret)) return false;
        i += alike;
    }
    return holes || refuse_holes(sheet, rows, n, ret);
}

/* ---- axes ---------------------------------------------------------------------------------------------------------------- */

static void axis_add(struct axis *a, double v)
{
    size_t i = 0;
    while (i < a->n && a->value[i] < v) i++;
    if (i < a->n && a->value[i] == v) return;
    a->value = xrealloc(a->value, a->n + 1, sizeof *a->value);
    memmove(a->value + i + 1, a->value + i, (a->n++ - i) * sizeof *a->value);
    a->value[i] = v;
}

static void make_axis(struct dse_quality_surface *s, enum dse_setting setting)
{
    struct axis *a = &s->axes[s->n_axes++];
    *a = (struct axis){.setting = setting, .exact = between_settings[setting] == NEVER};
    for (size_t i = 0; i < s->n; i++) axis_add(a, s->sheets[i].setting[setting]);
    a->logarithmic = between_settings[setting] == LOGARITHMS && a->value[0] > 0;
    a->at = xcalloc(a->n, sizeof *a->at);
    for (size_t i = 0; i < a->n; i++) a->at[i] = a->logarithmic ? log(a->value[i]) : a->value[i];
    s->varies |= 1u << setting;
}

static bool make_grid(struct dse_quality_surface *s, size_t row, struct row_fault *ret)
{
    size_t cells = 1;
    for (size_t i = 0; i < DSE_SETTINGS; i++) {
        bool same = true;
        for (size_t k = 1; k < s->n; k++) same &= s->sheets[k].setting[i] == s->sheets[0].setting[i];
        s->fixed[i] = s->sheets[0].setting[i];
        if (same) continue;
        if (s->n_axes == AXES_MAX)
            return row_fault(ret, row, "settings", "more than %d settings of %s vary", (int)AXES_MAX, s->method);
        make_axis(s, (enum dse_setting)i);
        cells *= s->axes[s->n_axes - 1].n;
        if (cells > GRID_MAX)
            return row_fault(ret, row, "settings", "the settings of %s have more than %d combinations", s->method, (int)GRID_MAX);
    }
    s->grid = xcalloc(cells, sizeof *s->grid);
    for (size_t i = 0; i < cells; i++) s->grid[i] = -1;
    for (size_t k = 0; k < s->n; k++) {
        size_t at = 0, stride = 1;
        for (size_t a = 0; a < s->n_axes; stride *= s->axes[a++].n)
            at += stride * quality_below(s->axes[a].value, s->axes[a].n, s->sheets[k].setting[s->axes[a].setting]);
        s->grid[at] = (int32_t)k;
    }
    return true;
}

/* ---- sentences ----------------------------------------------------------------------------------------------------------- */

static char *unlike_text(const char *entry, const struct dse_quality_surface *s, enum dse_setting i)
{
    char buf[TEXT_NUMBER_MAX], last[TEXT_NUMBER_MAX];
    const struct axis *a = NULL;
    for (size_t k = 0; k < s->n_axes; k++)
        if (s->axes[k].setting == i) a = &s->axes[k];
    const char *name = dse_setting_name(i);
    if (!a)
        return xasprintf("%s: %s was measured only with %s = %s", entry, s->method, name,
                         measured_setting_text(i, s->fixed[i], buf));
    if (!a->exact)
        return xasprintf("%s: %s was measured with %s from %s to %s", entry, s->method, name, text_number(buf, a->value[0]),
                         text_number(last, a->value[a->n - 1]));
    struct text t;
    text_init(&t);
    text_addf(&t, "%s: %s was measured only with %s =", entry, s->method, name);
    for (size_t k = 0; k < a->n; k++) text_addf(&t, "%s%s", k ? ", " : " ", measured_setting_text(i, a->value[k], buf));
    return text_detach(&t);
}

static void make_sentences(const char *entry, struct dse_quality_surface *s)
{
    char low[TEXT_NUMBER_MAX], high[TEXT_NUMBER_MAX];
    double from, to, measured;
    dse_surface_contexts(s, &from, &to, &measured);
    s->no_context =
        xasprintf("%s: %s was measured at %s to %s positions", entry, s->method, text_number(low, from), text_number(high, to));
    dse_surface_ratios(s, &from, &to);
    if (s->has_ratios)
        s->no_ratio = xasprintf("%s: %s was measured at ratios of %s or more, at short contexts of still more", entry, s->method,
                                text_number(low, from));
    else
        s->no_ratio = xasprintf("%s: %s was measured only at a ratio of 1", entry, s->method);
    struct text t;
    text_init(&t);
    text_addf(&t, "%s: %s was not measured with this combination of (", entry, s->method);
    for (size_t i = 0; i < s->n_axes; i++) text_addf(&t, "%s%s", i ? ", " : "", dse_setting_name(s->axes[i].setting));
    text_add(&t, ")");
    s->no_mix = text_detach(&t);
    for (int i = 0; i < DSE_SETTINGS; i++) s->unlike[i] = unlike_text(entry, s, (enum dse_setting)i);
}

/* ---- the entry ----------------------------------------------------------------------------------------------------------- */

static bool add_surface(struct dse_quality *q, const struct placed *rows, size_t n, const struct quality_from *from,
                        struct row_fault *ret)
{
    q->surfaces = xrealloc(q->surfaces, q->n + 1, sizeof *q->surfaces);
    struct dse_quality_surface *s = &q->surfaces[q->n++];
    *s = (struct dse_quality_surface){.method = xstrdup(rows->p->method)};
    for (size_t m = 0; m < DSE_QUALITY_METRICS; m++) s->column[m] = -1;
    for (size_t i = 0; i < n; i++) {
        s->column[rows[i].p->metric] = 0;
        s->has_ratios |= rows[i].p->ratio < 1;
    }
    for (size_t m = 0; m < DSE_QUALITY_METRICS; m++)
        if (s->column[m] == 0) s->column[m] = (int)s->n_columns++;
    for (size_t i = 0; i < n;) {
        size_t alike = run_of(rows + i, n - i, same_sheet);
        if (!add_sheet(s, rows + i, alike, from->holes, ret)) return false;
        i += alike;
    }
    if (!make_grid(s, rows->row, ret)) return false;
    char *entry = xasprintf("%s %s", from->kind, from->name);
    make_sentences(entry, s);
    free(entry);
    return true;
}

static void name_methods(struct dse_quality *q, const char *kind)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "%s %s has no measurement of this method; it has", kind, q->name);
    for (size_t i = 0; i < q->n; i++) text_addf(&t, "%s%s", i ? ", " : " ", q->surfaces[i].method);
    q->no_method = text_detach(&t);
}

/* The rules that the file says; the others are chosen. */
static bool use_rules(struct dse_quality *q, const struct quality_said *said, size_t n, struct row_fault *ret)
{
    quality_choose(q, said, n);
    for (size_t i = 0; i < n; i++) {
        struct dse_quality_surface *s = NULL;
        for (size_t k = 0; k < q->n; k++)
            if (strcmp(q->surfaces[k].method, said[i].method) == 0) s = &q->surfaces[k];
        if (!s || s->column[said[i].metric] < 0)
            return row_fault(ret, ROW_NONE, NULL, "there is a rule for %s of %s, but no row",
                             dse_quality_metric_names[said[i].metric], said[i].method);
        if (!quality_scale_fits(s, said[i].metric, said[i].rule.value) || (said[i].rule.ratio == DSE_Q_LOGIT && quality_has_one(s)))
            return row_fault(ret, ROW_NONE, NULL, "the rule for %s of %s takes the %s of a number that has none",
                             dse_quality_metric_names[said[i].metric], said[i].method,
                             dse_quality_scale_names[said[i].rule.ratio == DSE_Q_LOGIT ? DSE_Q_LOGIT : said[i].rule.value]);
        quality_set_rule(s, said[i].metric, &said[i].rule);
    }
    return true;
}

struct dse_quality *quality_new(const struct quality_from *from, struct row_fault *ret_fault)
{
    struct dse_quality *q = xcalloc(1, sizeof *q);
    q->entry.name = q->name = xstrdup(from->name);
    q->entry.source = q->source = xstrdup(from->source);
    q->measured = from->measured;
    measured_name(q->measured, from->kind, from->name);
    bool ok = from->n > 0 || row_fault(ret_fault, ROW_NONE, NULL, "there is no row");
    for (size_t i = 0; i < from->n && ok; i++) ok = quality_check_point(&from->points[i], i, ret_fault);
    struct placed *rows = ok ? quality_sort(from->points, from->n) : NULL;
    ok = ok && quality_refuse_twice(rows, from->n, ret_fault);
    for (size_t i = 0; i < from->n && ok;) {
        size_t alike = run_of(rows + i, from->n - i, same_method);
        ok = add_surface(q, rows + i, alike, from, ret_fault);
        i += alike;
    }
    free(rows);
    if (ok) name_methods(q, from->kind);
    if (ok && use_rules(q, from->said, from->n_said, ret_fault)) return q;
    quality_free(q);
    return NULL;
}

/* ---- what there is ------------------------------------------------------------------------------------------------------- */

const struct dse_measured *quality_measured(const struct dse_quality *q)
{
    return quality_whole(q)->measured;
}

bool dse_quality_on(const struct dse_quality *q, const struct dse_llm *llm)
{
    return dse_measured_on(quality_whole(q)->measured, llm);
}

const struct dse_quality_surface *dse_quality_surface_at(const struct dse_quality *q, size_t i)
{
    q = quality_whole(q);
    return i < q->n ? &q->surfaces[i] : NULL;
}

const char *dse_surface_method(const struct dse_quality_surface *s)
{
    return s->method;
}

bool dse_surface_has(const struct dse_quality_surface *s, enum dse_quality_metric m)
{
    return s->column[m] >= 0;
}

void dse_surface_contexts(const struct dse_quality_surface *s, double *ret_min, double *ret_max, double *ret_measured)
{
    *ret_min = (double)INFINITY;
    *ret_max = *ret_measured = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->sheets[i].n; k++) {
            const struct curve *c = &s->sheets[i].curves[k];
            *ret_min = fmin(*ret_min, c->context);
            *ret_max = fmax(*ret_max, c->context);
            if (!c->extended) *ret_measured = fmax(*ret_measured, c->context);
        }
}

void dse_surface_settings(const struct dse_quality_surface *s, enum dse_setting setting, double *ret_min, double *ret_max)
{
    *ret_min = *ret_max = s->fixed[setting];
    for (size_t k = 0; k < s->n_axes; k++)
        if (s->axes[k].setting == setting) {
            *ret_min = s->axes[k].value[0];
            *ret_max = s->axes[k].value[s->axes[k].n - 1];
        }
}

size_t dse_surface_layers(const struct dse_quality_surface *s)
{
    for (size_t k = 0; k < s->n_axes; k++)
        if (s->axes[k].setting == DSE_SET_LAYER) return s->axes[k].n - (s->axes[k].value[0] < 0);
    return 0;
}

const struct dse_quality_rule *dse_surface_rule(const struct dse_quality_surface *s, enum dse_quality_metric m)
{
    return s->column[m] >= 0 ? &s->rule[m] : NULL;
}

void quality_numbers(const struct dse_quality *q, void (*add)(void *user, double x), void *user)
{
    q = quality_whole(q);
    for (size_t i = 0; i < q->n; i++) {
        const struct dse_quality_surface *s = &q->surfaces[i];
        for (size_t m = 0; m < DSE_QUALITY_METRICS; m++) {
            const struct dse_quality_rule *r = &s->rule[m];
            const double rule[] = {s->column[m], r->value, r->ratio, r->context, r->over_context, r->over_ratio};
            for (size_t k = 0; k < sizeof rule / sizeof *rule; k++) add(user, rule[k]);
        }
        for (size_t k = 0; k < s->n; k++) {
            const struct sheet *sheet = &s->sheets[k];
            for (size_t j = 0; j < DSE_SETTINGS; j++) add(user, sheet->setting[j]);
            for (size_t c = 0; c < sheet->n; c++) {
                const struct curve *curve = &sheet->curves[c];
                add(user, curve->context);
                add(user, curve->extended);
                for (size_t j = 0; j < curve->n; j++) add(user, curve->ratio[j]);
                for (size_t j = 0; j < curve->n * s->n_columns * DSE_QUALITY_STATS; j++) add(user, curve->value[j]);
            }
        }
    }
}
