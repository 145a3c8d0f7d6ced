#include "attention/softmax_range.h"

#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct srcloc nowhere = {0};

const struct softmax_range softmax_range_llama2_7b = {.low = -16.8, .high = 6.5};

size_t softmax_length_class(size_t length)
{
    size_t class = 0;
    for (; length > 1 && class + 1 < SOFTMAX_LENGTHS; length >>= 1) class ++;
    return class;
}

static bool check_steps(const struct head *h, size_t first, struct diags *diags)
{
    if (h->d == 0) return diags_input(diags, nowhere, NULL, NULL, "a head of dimension 0 has no scores");
    if (first < h->n) return true;
    return diags_input(diags, nowhere, NULL, "the first step is below the number of positions",
                       "no steps: the first is %zu, the head has %zu positions", first, h->n);
}

static bool check_range(const struct softmax_range *r, struct diags *diags)
{
    if (isfinite(r->phi) && r->low < r->high) return true;
    return diags_input(diags, nowhere, NULL, "phi is a number, low is below high", "no range: phi %g, low %g, high %g", r->phi,
                       r->low, r->high);
}

static bool is_outside(const struct softmax_range *r, double x)
{
    double y = x - r->phi;
    return !(r->low < y && y < r->high);
}

/* ---- one range ----------------------------------------------------------------------------------------------------------- */

static void add_vector(struct softmax_range_share *s, size_t length, size_t outside)
{
    s->vectors++;
    s->scores += length;
    s->outside += (double)outside;
    s->recomputed += outside > 0;
}

bool softmax_range_count(const struct head *h, const struct softmax_range *r, size_t first, struct softmax_range_result *ret,
                         struct diags *diags)
{
    if (!check_range(r, diags) || !check_steps(h, first, diags)) return false;
    double *x = xcalloc(h->n, sizeof *x);
    struct softmax_range_share all = {ret->vectors, ret->scores, ret->outside, ret->recomputed};
    if (all.vectors == 0) {
        ret->min = (double)INFINITY;
        ret->max = -(double)INFINITY;
    }
    for (size_t t = first; t < h->n; t++) {
        if (!head_query(h, t)) continue;
        head_scores(h, t, x);
        size_t outside = 0;
        for (size_t i = 0; i <= t; i++) {
            outside += is_outside(r, x[i]);
            ret->min = x[i] < ret->min ? x[i] : ret->min;
            ret->max = x[i] > ret->max ? x[i] : ret->max;
        }
        add_vector(&all, t + 1, outside);
        add_vector(&ret->lengths[softmax_length_class(t + 1)], t + 1, outside);
    }
    ret->vectors = all.vectors;
    ret->scores = all.scores;
    ret->outside = all.outside;
    ret->recomputed = all.recomputed;
    free(x);
    return true;
}

static void merge_share(struct softmax_range_share *to, const struct softmax_range_share *from)
{
    to->vectors += from->vectors;
    to->scores += from->scores;
    to->outside += from->outside;
    to->recomputed += from->recomputed;
}

void softmax_range_merge(struct softmax_range_result *to, const struct softmax_range_result *from)
{
    if (from->vectors == 0) return;
    to->min = to->vectors ? fmin(to->min, from->min) : from->min;
    to->max = to->vectors ? fmax(to->max, from->max) : from->max;
    to->vectors += from->vectors;
    to->scores += from->scores;
    to->outside += from->outside;
    to->recomputed += from->recomputed;
    for (size_t i = 0; i < SOFTMAX_LENGTHS; i++) merge_share(&to->lengths[i], &from->lengths[i]);
}

static double share(double count, size_t of)
{
    return of ? count / (double)of : (double)NAN;
}

void softmax_range_finish(struct softmax_range_result *r)
{
    r->outside = share(r->outside, r->scores);
    r->recomputed = share(r->recomputed, r->vectors);
    for (size_t i = 0; i < SOFTMAX_LENGTHS; i++) {
        struct softmax_range_share *s = &r->lengths[i];
        s->outside = share(s->outside, s->scores);
        s->recomputed = share(s->recomputed, s->vectors);
    }
}

/* ---- the spread ---------------------------------------------------------------------------------------------------------- */

enum { MIDDLE = SOFTMAX_BINS_REACH * SOFTMAX_BINS_PER_UNIT, BINS = 2 * MIDDLE };

void softmax_spread_init(struct softmax_spread *s)
{
    *s = (struct softmax_spread){.bins = xcalloc(BINS, sizeof *s->bins)};
}

void softmax_spread_release(struct softmax_spread *s)
{
    free(s->vectors);
    free(s->bins);
    *s = (struct softmax_spread){0};
}

static size_t bin_of(double x)
{
    double b = floor(x * SOFTMAX_BINS_PER_UNIT) + MIDDLE;
    if (!(b > 0)) return 0;
    return b < BINS ? (size_t)b : BINS - 1;
}

bool softmax_spread_add(struct softmax_spread *s, const struct head *h, size_t first, struct diags *diags)
{
    if (!check_steps(h, first, diags)) return false;
    if (s->n + (h->n - first) > s->capacity) {
        s->capacity = 2 * s->capacity + (h->n - first);
        s->vectors = xrealloc(s->vectors, s->capacity, sizeof *s->vectors);
    }
    double *x = xcalloc(h->n, sizeof *x);
    for (size_t t = first; t < h->n; t++) {
        struct softmax_vector v = {.length = t + 1, .min = (double)INFINITY, .max = -(double)INFINITY};
        if (!head_query(h, t)) continue;
        head_scores(h, t, x);
        for (size_t i = 0; i <= t; i++) {
            v.min = x[i] < v.min ? x[i] : v.min;
            v.max = x[i] > v.max ? x[i] : v.max;
            s->bins[bin_of(x[i])]++;
        }
        s->scores += t + 1;
        s->vectors[s->n++] = v;
    }
    free(x);
    return true;
}

double softmax_spread_quantile(const struct softmax_spread *s, double at)
{
    assert(at >= 0 && at <= 1);
    double below = at * (double)s->scores, sum = 0;
    if (s->scores == 0) return (double)NAN;
    size_t last = 0;
    for (size_t b = 0; b < BINS; b++) {
        if (s->bins[b] == 0) continue;
        last = b;
        sum += (double)s->bins[b];
        if (sum >= below) break;
    }
    return ((double)last + 0.5 - MIDDLE) / SOFTMAX_BINS_PER_UNIT;
}

static bool has_length(const struct softmax_vector *v, size_t shortest, size_t longest)
{
    return v->length >= shortest && v->length <= longest;
}

double softmax_spread_recomputed(const struct softmax_spread *s, const struct softmax_range *r, size_t shortest, size_t longest)
{
    size_t n = 0, outside = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct softmax_vector *v = &s->vectors[i];
        if (!has_length(v, shortest, longest)) continue;
        n++;
        outside += is_outside(r, v->min) || is_outside(r, v->max);
    }
    return share((double)outside, n);
}

/* ---- the range for a wanted share ----------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_min_falling(const void *a, const void *b)
{
    double x = ((const struct softmax_vector *)a)->min, y = ((const struct softmax_vector *)b)->min;
    return (x < y) - (x > y);
}

/* The open range reaches just beyond what it must hold. */
static double beyond(double x)
{
    return nextafter(x, (double)INFINITY);
}

/* The range of one width around phi. Each vector is one number, how far it reaches from phi, and the range must hold the `keep`
 * nearest. */
static struct softmax_range find_one_width(const struct softmax_vector *v, size_t n, size_t keep, bool symmetric, double phi)
{
    double *reach = xcalloc(n, sizeof *reach);
    for (size_t i = 0; i < n; i++) reach[i] = symmetric ? fmax(v[i].max - phi, phi - v[i].min) : v[i].max - phi;
    qsort(reach, n, sizeof *reach, by_value);
    double width = beyond(reach[keep - 1]);
    free(reach);
    return (struct softmax_range){.phi = phi, .low = symmetric ? -width : -(double)INFINITY, .high = width};
}

/* Put x at the top of a heap of n, whose largest is at the top, and let it sink. */
static void heap_replace_top(double *heap, size_t n, double x)
{
    size_t at = 0;
    for (size_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= x) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = x;
}

/* The lower end is some vector's minimum; of the vectors above it the range takes the `keep` of the least maxima, and ends at the
 * greatest of these: the top of a heap that vectors enter as the lower end falls. v is sorted anew. */
static struct softmax_range find_tightest(struct softmax_vector *v, size_t n, size_t keep, double phi)
{
    qsort(v, n, sizeof *v, by_min_falling);
    double *heap = xcalloc(keep, sizeof *heap);
    for (size_t i = 0; i < keep; i++) heap[i] = (double)INFINITY;
    double low = -(double)INFINITY, high = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (v[i].max < heap[0]) heap_replace_top(heap, keep, v[i].max);
        if (i + 1 < keep || heap[0] - v[i].min >= high - low) continue;
        low = v[i].min;
        high = heap[0];
    }
    free(heap);
    return (struct softmax_range){.phi = phi, .low = -beyond(phi - low), .high = beyond(high - phi)};
}

bool softmax_range_find(const struct softmax_spread *s, enum softmax_side side, double phi, double recomputed, size_t shortest,
                        size_t longest, struct softmax_range *ret, struct diags *diags)
{
    if (!(recomputed >= 0 && recomputed < 1))
        return diags_input(diags, nowhere, NULL, "0 or more, below 1", "%g is no share of recomputed vectors", recomputed);
    if (!isfinite(phi)) return diags_input(diags, nowhere, NULL, NULL, "phi %g is not a finite number", phi);
    struct softmax_vector *v = xcalloc(s->n ? s->n : 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (has_length(&s->vectors[i], shortest, longest)) v[n++] = s->vectors[i];
    if (n == 0) {
        free(v);
        return diags_input(diags, nowhere, NULL, NULL, "there is no vector of %zu to %zu scores", shortest, longest);
    }
    size_t leave = (size_t)floor(recomputed * (double)n), keep = n - leave; /* at least 1 */
    *ret = side == SOFTMAX_TIGHTEST ? find_tightest(v, n, keep, phi) : find_one_width(v, n, keep, side == SOFTMAX_SYMMETRIC, phi);
    free(v);
    return true;
}
