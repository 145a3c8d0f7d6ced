#include "figure/axis.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "desc/label.h"
#include "figure/script_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double axis_scale(enum scale scale, double v)
{
    if (scale == SCALE_LOG) return log10(v);
    if (scale == SCALE_LOG2) return log2(v);
    return v;
}

double axis_unscale(enum scale scale, double v)
{
    if (scale == SCALE_LOG) return pow(10, v);
    if (scale == SCALE_LOG2) return exp2(v);
    return v;
}

double axis_position(const struct axis *a, double v)
{
    return (v - a->low) / (a->high - a->low);
}

/* ---- range ------------------------------------------------------------------------------------------------------------ */

/* Numbers so near to each other that no steps fit in between, and so far apart that their distance is no number. */
static const double least = 1e-300, most = 0x1p1022;

enum { LOWEST_SHARE = 3 }; /* a linear axis of values that start below a third of the largest starts at 0 */

static void set_range(struct axis *a, const struct column_spec *spec, double min, double max)
{
    bool fixed_low = !isnan(spec->min), fixed_high = !isnan(spec->max);
    if (fixed_low) min = axis_scale(a->scale, spec->min);
    if (fixed_high) max = axis_scale(a->scale, spec->max);
    bool zero = a->scale == SCALE_LINEAR && !fixed_low && min >= 0 && min < max / LOWEST_SHARE;
    if (zero) min = 0;
    double pad = 0.04 * (max - min);
    if (!(max - min > fmax(1e-12 * fmax(fabs(min), fabs(max)), least))) { /* one value, or limits that leave out the data */
        if (a->scale == SCALE_LOG)
            pad = 0.3;
        else if (a->scale == SCALE_LOG2)
            pad = 1;
        else
            pad = fmax(0.1 * fmax(fabs(min), fabs(max)), least);
        if (pad == least) pad = 1;
        if (fixed_low && max < min) max = min;
        if (fixed_high && max < min) min = max;
    }
    a->low = fmin(fmax(fixed_low || zero ? min : min - pad, -most), most / 2);
    a->high = fmax(fmin(fixed_high ? max : max + pad, most), -most / 2);
}

/* ---- tick texts ------------------------------------------------------------------------------------------------------- */

/* "-12,345.60": i / 10^decimals, with commas from 10,000 on, whatever the locale. */
static void write_decimal(char *ret, double v, int decimals)
{
    double scaled = round(fabs(v) * pow(10, decimals));
    if (scaled >= 1e15) {
        text_short_number(ret, v);
        return;
    }
    unsigned long long n = (unsigned long long)scaled, unit = 1;
    for (int i = 0; i < decimals; i++) unit *= 10;
    char whole[TEXT_NUMBER_MAX], rest[TEXT_NUMBER_MAX];
    if (n / unit < 10000)
        snprintf(whole, sizeof whole, "%llu", n / unit);
    else
        text_count(whole, n / unit);
    snprintf(rest, sizeof rest, "%llu", unit + n % unit); /* with a 1 before the decimals, which keeps their zeros */
    snprintf(ret, AXIS_TEXT_MAX, "%s%s%s%.15s", v < 0 && n ? "\u2212" : "", whole, decimals ? "." : "", decimals ? rest + 1 : "");
}

/* A power as a text: "10⁶", "2×10⁻⁴", "2²⁰". */
static void write_power(char *ret, int factor, int base, int exponent)
{
    struct text t;
    text_init(&t);
    if (factor != 1) text_addf(&t, "%d×", factor);
    text_addf(&t, "%d", base);
    label_add_superscript(&t, exponent);
    snprintf(ret, AXIS_TEXT_MAX, "%s", t.s);
    text_release(&t);
}

/* ---- ticks ------------------------------------------------------------------------------------------------------------ */

void tick_set_name(struct tick *t, const char *name)
{
    static const char more[] = "…";
    const size_t room = strchr(name, '%') ? SCRIPT_FORMAT_MAX : sizeof t->text - 1;
    size_t n = strlen(name);
    const bool cut = n > room;
    if (cut)
        for (n = room - (sizeof more - 1); n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80;) n--; /* no half of a character */
    snprintf(t->text, sizeof t->text, "%.*s%s", (int)n, name, cut ? more : "");
    for (char *p = t->text; (p = strchr(p, '\n'));) *p = ' '; /* layout.h breaks it into lines, and counts them */
}

static struct tick *add_tick(struct axis *a, double v)
{
    double slack = 1e-9 * (a->high - a->low);
    if (v < a->low - slack || v > a->high + slack || a->n == AXIS_TICKS_MAX) return NULL;
    struct tick *t = &a->tick[a->n++];
    *t = (struct tick){.at = fmin(fmax(axis_position(a, v), 0), 1)};
    return t;
}

/* Ticks at multiples of 1, 2 or 5 times a power of ten, on an axis of any scale. */
static void add_even_ticks(struct axis *a, int n_ticks)
{
    double low = axis_unscale(a->scale, a->low), high = axis_unscale(a->scale, a->high);
    double rough = (high - low) / n_ticks;
    if (!isnormal(rough)) return; /* limits of a file that leave no room for steps */
    int exponent = (int)floor(log10(rough));
    double lead = rough / pow(10, exponent);
    int factor = lead < 1.4 ? 1 : lead < 3.2 ? 2 : lead < 7 ? 5 : 10;
    if (factor == 10) {
        factor = 1;
        exponent++;
    }
    double largest = fmax(fabs(low), fabs(high));
    a->thousands = 0;
    if (largest >= 1e6) a->thousands = (int)floor(log10(largest) / 3);
    if (largest < 1e-2) a->thousands = (int)floor(log10(largest) / 3);
    int decimals = 3 * a->thousands - exponent;
    if (decimals < 0) decimals = 0;
    if (decimals > 15) decimals = 15;
    double step = factor * pow(10, exponent);
    for (double i = ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && a->n < AXIS_TICKS_MAX; i++) {
        struct tick *t = add_tick(a, axis_scale(a->scale, i * step));
        if (t) write_decimal(t->text, i * factor * pow(10, exponent - 3 * a->thousands), decimals);
    }
}

/* Labelled ticks every `stride` decades, and at 2 and 5 if `fine`; unlabelled ones between if there is room. */
static void add_decade_ticks(struct axis *a, int stride, bool fine)
{
    int first = (int)floor(a->low), last = (int)floor(a->high + 1e-9);
    bool plain = first >= -3 && last < 6;
    for (int e = first; e <= last; e++)
        for (int i = 1; i < 10; i++) {
            bool labelled = (i == 1 && (e - first) % stride == 0) || (fine && (i == 2 || i == 5));
            if (!labelled && (stride > 1 ? i != 1 : last - first > 8)) continue;
            struct tick *t = add_tick(a, e + log10(i));
            if (!t || !labelled) continue;
            if (plain)
                write_decimal(t->text, i * pow(10, e), e < 0 ? -e : 0);
            else
                write_power(t->text, i, 10, e);
        }
}

/* Ticks at powers of two. */
static void add_octave_ticks(struct axis *a, int stride)
{
    int first = (int)ceil(a->low - 1e-9), last = (int)floor(a->high + 1e-9);
    bool plain = first >= -3 && last < 20;
    for (int e = first; e <= last; e++) {
        struct tick *t = add_tick(a, e);
        if (!t || (e - first) % stride != 0) continue;
        if (plain)
            write_decimal(t->text, exp2(e), e < 0 ? -e : 0);
        else
            write_power(t->text, 1, 2, e);
    }
}

static void add_ticks(struct axis *a, int n_ticks)
{
    double span = a->high - a->low;
    const bool extreme = axis_unscale(a->scale, a->low) < least || axis_unscale(a->scale, a->high) > most;
    if (a->scale == SCALE_LOG && (span >= 0.8 || extreme))
        add_decade_ticks(a, (int)ceil(span / n_ticks), 3 * span < n_ticks + 2.5);
    else if (a->scale == SCALE_LOG2 && (span >= 2 || extreme))
        add_octave_ticks(a, (int)ceil(span / n_ticks));
    else
        add_even_ticks(a, n_ticks);
}

void axis_fit(struct axis *a, const struct column_spec *spec, double min, double max, int n_ticks)
{
    *a = (struct axis){.scale = spec->scale};
    set_range(a, spec, min, max);
    add_ticks(a, n_ticks);
}

void axis_fit_exactly(struct axis *a, const struct column_spec *spec, double min, double max, int n_ticks)
{
    struct column_spec exact = *spec;
    if (max - min > 1e-12 * fmax(fabs(min), fabs(max))) {
        if (isnan(exact.min)) exact.min = axis_unscale(spec->scale, min);
        if (isnan(exact.max)) exact.max = axis_unscale(spec->scale, max);
    }
    axis_fit(a, &exact, min, max, n_ticks);
}

void axis_fit_names(struct axis *a, const struct series *names, bool down)
{
    *a = (struct axis){.low = -0.5, .high = (double)names->n - 0.5};
    if (down) {
        a->low = (double)names->n - 0.5;
        a->high = -0.5;
    }
    for (size_t i = 0; i < names->n && a->n < AXIS_TICKS_MAX; i++) {
        struct tick *t = &a->tick[a->n++];
        t->at = axis_position(a, (double)i);
        tick_set_name(t, names->value[names->order[i]].name);
    }
}

void axis_release(struct axis *a)
{
    free(a->label);
    *a = (struct axis){0};
}

/* ---- labels ----------------------------------------------------------------------------------------------------------- */

void axis_set_label(struct axis *a, const struct column_spec *spec, const char *unit)
{
    struct text t;
    text_init(&t);
    if (spec->label) {
        text_add(&t, spec->label);
    } else {
        char *label = label_of_column(spec->column, unit);
        text_add(&t, label);
        free(label);
    }
    if (a->thousands) { /* "Throughput [10⁶ tokens/s]", or behind a label without a unit "Operations (10⁹)" */
        struct text power;
        text_init(&power);
        text_add(&power, "10");
        label_add_superscript(&power, 3 * a->thousands);
        char *bracket = t.n && t.s[t.n - 1] == ']' ? strrchr(t.s, '[') : NULL;
        char *whole =
            bracket ? xasprintf("%.*s[%s %s", (int)(bracket - t.s), t.s, power.s, bracket + 1) : xasprintf("%s (%s)", t.s, power.s);
        text_release(&t);
        text_add(&t, whole);
        free(whole);
        text_release(&power);
    }
    free(a->label);
    a->label = text_detach(&t);
}
