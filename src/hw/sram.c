/* Tables of SRAM macros, interpolated in logarithms.
 *
 * The macros form a grid over capacity and word. Inside a cell of the grid every metric y follows
 *     ln y = ln y00 + t a + u b + t u c,    t, u in 0..1 linear in ln capacity and ln word,
 * which is a power law along either axis, equal to the macro at each corner. The coefficients are made once.
 */
#include "hw/sram.h"

#include "base/xalloc.h"

#include <dse/bound.h>

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS = 6 };

/* One macro as given; after sram_table_finish the array is the grid, word by word within a capacity. */
struct macro {
    double capacity, word, metric[METRICS];
};

struct cell {
    double a[METRICS], b[METRICS], c[METRICS];
};

struct dse_sram_table {
    struct dse_entry entry;
    char *name, *source; /* owned; entry borrows them */
    double node_nm;
    struct macro *macros;
    size_t n_macros;
    double *capacity, *word; /* the axes, growing, and their logarithms */
    double *ln_capacity, *ln_word;
    size_t n_capacities, n_words;
    struct cell *cells; /* one a macro: the cell it is the lower corner of */
    bool given[METRICS];
};

static const char *const metric_names[METRICS] = {"area_mm2", "leakage_mw", "read_pj", "write_pj", "dynamic_mw", "access_ns"};
static const size_t metric_offsets[METRICS] = {
    offsetof(struct dse_sram, area_mm2), offsetof(struct dse_sram, leakage_mw), offsetof(struct dse_sram, read_pj),
    offsetof(struct dse_sram, write_pj), offsetof(struct dse_sram, dynamic_mw), offsetof(struct dse_sram, access_ns),
};
_Static_assert(sizeof(struct dse_sram) == METRICS * sizeof(double), "every metric of a macro is interpolated");

struct dse_sram_table *sram_table_new(const char *name, const char *source, double node_nm)
{
    struct dse_sram_table *t = xcalloc(1, sizeof *t);
    t->entry.name = t->name = xstrdup(name);
    t->entry.source = t->source = xstrdup(source);
    t->node_nm = node_nm;
    return t;
}

void sram_table_free(struct dse_sram_table *t)
{
    if (!t) return;
    free(t->name);
    free(t->source);
    free(t->macros);
    free(t->capacity);
    free(t->word);
    free(t->ln_capacity);
    free(t->ln_word);
    free(t->cells);
    free(t);
}

void sram_table_add(struct dse_sram_table *t, double capacity_mib, double word_bits, const struct dse_sram *macro)
{
    t->macros = xrealloc(t->macros, t->n_macros + 1, sizeof *t->macros);
    struct macro *m = &t->macros[t->n_macros++];
    m->capacity = capacity_mib;
    m->word = word_bits;
    for (size_t k = 0; k < METRICS; k++) m->metric[k] = *(const double *)((const char *)macro + metric_offsets[k]);
}

/* ---- checking and preparing ------------------------------------------------------------------------------------------- */

static int compare_macros(const void *a, const void *b)
{
    const struct macro *x = a, *y = b;
    if (x->capacity != y->capacity) return x->capacity < y->capacity ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

/* Is the number missing from some macros only, or no positive number? Returns why, for the caller to free, or NULL. */
static char *check_numbers(struct dse_sram_table *t)
{
    bool any_word = !isnan(t->macros[0].word);
    for (size_t k = 0; k < METRICS; k++) t->given[k] = !isnan(t->macros[0].metric[k]);
    for (size_t i = 0; i < t->n_macros; i++) {
        const struct macro *m = &t->macros[i];
        if (!(m->capacity > 0 && isfinite(m->capacity)))
            return xasprintf("macro %zu: capacity_mib %g is not a positive number", i + 1, m->capacity);
        if (isnan(m->word) == any_word) return xasprintf("macro %zu: word_bits is given in some macros of the table only", i + 1);
        if (any_word && !(m->word > 0 && isfinite(m->word)))
            return xasprintf("macro %zu: word_bits %g is not a positive number", i + 1, m->word);
        for (size_t k = 0; k < METRICS; k++) {
            if (isnan(m->metric[k]) == t->given[k])
                return xasprintf("macro %zu: %s is given in some macros of the table only", i + 1, metric_names[k]);
            if (t->given[k] && !(m->metric[k] > 0 && isfinite(m->metric[k])))
                return xasprintf("macro %zu: %s %g is not a positive number", i + 1, metric_names[k], m->metric[k]);
        }
    }
    if (!any_word)
        for (size_t i = 0; i < t->n_macros; i++) t->macros[i].word = 1; /* one word width, whatever it is */
    return NULL;
}

/* Sort the macros, find the axes, see that nothing is missing or there twice. */
static char *check_grid(struct dse_sram_table *t)
{
    qsort(t->macros, t->n_macros, sizeof *t->macros, compare_macros);
    size_t words = 1;
    while (words < t->n_macros && t->macros[words].capacity == t->macros[0].capacity) words++;
    for (size_t i = 0; i < t->n_macros; i++) {
        const struct macro *m = &t->macros[i];
        if (i > 0 && compare_macros(m - 1, m) == 0)
            return xasprintf("capacity_mib %g, word_bits %g: the macro is there twice", m->capacity, m->word);
        if (m->word != t->macros[i % words].word || m->capacity != t->macros[i - i % words].capacity)
            return xasprintf("capacity_mib %g does not have the word widths of capacity_mib %g", m->capacity,
                             t->macros[0].capacity);
    }
    if (t->n_macros % words != 0)
        return xasprintf("capacity_mib %g does not have the word widths of capacity_mib %g", t->macros[t->n_macros - 1].capacity,
                         t->macros[0].capacity);
    t->n_words = words;
    t->n_capacities = t->n_macros / words;
    return NULL;
}

static void make_axes(struct dse_sram_table *t)
{
    t->capacity = xrealloc(NULL, t->n_capacities, sizeof *t->capacity);
    t->ln_capacity = xrealloc(NULL, t->n_capacities, sizeof *t->ln_capacity);
    t->word = xrealloc(NULL, t->n_words, sizeof *t->word);
    t->ln_word = xrealloc(NULL, t->n_words, sizeof *t->ln_word);
    for (size_t i = 0; i < t->n_capacities; i++) {
        t->capacity[i] = t->macros[i * t->n_words].capacity;
        t->ln_capacity[i] = log(t->capacity[i]);
    }
    for (size_t j = 0; j < t->n_words; j++) {
        t->word[j] = t->macros[j].word;
        t->ln_word[j] = log(t->word[j]);
    }
}

static void make_cells(struct dse_sram_table *t)
{
    t->cells = xcalloc(t->n_macros, sizeof *t->cells);
    for (size_t i = 0; i < t->n_capacities; i++)
        for (size_t j = 0; j < t->n_words; j++)
            for (size_t k = 0; k < METRICS; k++) {
                if (!t->given[k]) continue;
                size_t at = i * t->n_words + j, up = i + 1 < t->n_capacities ? t->n_words : 0, right = j + 1 < t->n_words ? 1 : 0;
                double y00 = log(t->macros[at].metric[k]), y10 = log(t->macros[at + up].metric[k]);
                double y01 = log(t->macros[at + right].metric[k]), y11 = log(t->macros[at + up + right].metric[k]);
                t->cells[at].a[k] = y10 - y00;
                t->cells[at].b[k] = y01 - y00;
                t->cells[at].c[k] = y11 - y10 - y01 + y00;
            }
}

bool sram_table_finish(struct dse_sram_table *t, char **ret_why)
{
    char *why = t->n_macros == 0 ? xstrdup("no macros") : NULL;
    if (!why) why = check_numbers(t);
    if (!why) why = check_grid(t);
    if (why) {
        *ret_why = why;
        return false;
    }
    make_axes(t);
    make_cells(t);
    return true;
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

/* The last point of the axis not above x, and how far x lies towards the next one (0 on the point). False outside of the axis. */
static bool find(const double *axis, const double *ln_axis, size_t n, double x, size_t *ret_i, double *ret_t)
{
    if (!(x >= axis[0] && x <= axis[n - 1])) return false;
    size_t lo = 0, hi = n; /* axis[lo] <= x < axis[hi] */
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (axis[mid] <= x)
            lo = mid;
        else
            hi = mid;
    }
    *ret_i = lo;
    *ret_t = axis[lo] < x ? (log(x) - ln_axis[lo]) / (ln_axis[lo + 1] - ln_axis[lo]) : 0;
    return true;
}

bool dse_sram_at(const struct dse_sram_table *t, double capacity_mib, double word_bits, struct dse_sram *ret)
{
    assert(t->cells);
    size_t i, j = 0;
    double x, y = 0;
    if (!find(t->capacity, t->ln_capacity, t->n_capacities, capacity_mib, &i, &x)) return false;
    if (t->n_words > 1 && !find(t->word, t->ln_word, t->n_words, word_bits, &j, &y)) return false;
    const struct macro *m = &t->macros[i * t->n_words + j];
    const struct cell *cell = &t->cells[i * t->n_words + j];
    for (size_t k = 0; k < METRICS; k++) {
        double v = m->metric[k];
        if (t->given[k] && (x > 0 || y > 0)) v *= exp(x * cell->a[k] + y * cell->b[k] + x * y * cell->c[k]);
        *(double *)((char *)ret + metric_offsets[k]) = v;
    }
    return true;
}

double dse_sram_node_nm(const struct dse_sram_table *t)
{
    return t->node_nm;
}

void dse_sram_range(const struct dse_sram_table *t, double *ret_min_mib, double *ret_max_mib)
{
    *ret_min_mib = t->capacity[0];
    *ret_max_mib = t->capacity[t->n_capacities - 1];
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct dse_sram_bound) == METRICS * sizeof(struct dse_interval), "every metric of a macro has an interval");

/* The hull of *ret and of the macro of that size, which there is. */
static void include_macro(const struct dse_sram_table *t, double capacity_mib, double word_bits, bool is_first,
                          struct dse_sram_bound *ret)
{
    struct dse_sram macro;
    const bool covered = dse_sram_at(t, capacity_mib, word_bits, &macro);
    assert(covered);
    (void)covered;
    struct dse_interval *range = (struct dse_interval *)ret;
    for (size_t k = 0; k < METRICS; k++) {
        const double v = *(const double *)((const char *)&macro + metric_offsets[k]);
        const struct dse_interval at = t->given[k] ? dse_iv_of(v) : dse_unbounded;
        range[k] = is_first ? at : dse_iv_hull(range[k], at);
    }
}

/* The point of an axis after x, at most `last`. */
static double next_on(const double *axis, size_t n, double x, double last)
{
    for (size_t i = 0; i < n; i++)
        if (axis[i] > x) return axis[i] < last ? axis[i] : last;
    return last;
}

/* Within a cell of the grid the logarithms are bilinear: over any part of it, extremes are at its corners. So all corners of cells
 * and of the box are looked at. */
bool dse_sram_bound(const struct dse_sram_table *t, struct dse_interval capacity_mib, struct dse_interval word_bits,
                    struct dse_sram_bound *ret)
{
    enum { ROUNDING = 16 }; /* units: of exp, and of its argument */
    const struct dse_interval word = t->n_words > 1 ? word_bits : dse_iv_of(1);
    const double from = fmax(capacity_mib.lo, t->capacity[0]), to = fmin(capacity_mib.hi, t->capacity[t->n_capacities - 1]);
    const double narrow = fmax(word.lo, t->word[0]), wide = fmin(word.hi, t->word[t->n_words - 1]);
    if (!(from <= to && narrow <= wide)) return false;
    bool is_first = true;
    for (double c = from;; c = next_on(t->capacity, t->n_capacities, c, to)) {
        for (double w = narrow;; w = next_on(t->word, t->n_words, w, wide)) {
            include_macro(t, c, w, is_first, ret);
            is_first = false;
            if (w == wide) break;
        }
        if (c == to) break;
    }
    if (from == to && narrow == wide) return true;
    struct dse_interval *range = (struct dse_interval *)ret;
    for (size_t k = 0; k < METRICS; k++) range[k] = dse_widened(range[k].lo, range[k].hi, ROUNDING);
    return true;
}
