#include "attention/single_pass.h"

#include "attention/softmax_range.h"
#include "base/xalloc.h"

#include <dse/fixed.h>

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const struct single_pass single_pass_defaults = {.q_frac_bits = 17, .lut_bits = 5, .cut_shift = true};

enum { FRAC_BITS_MIN = 8, FRAC_BITS_MAX = 24, LUT_BITS_MAX = 12, DIMENSION_MAX = 65536 };
_Static_assert((int)SINGLE_PASS_LENGTHS == (int)SOFTMAX_LENGTHS, "both count by softmax_length_class");

static const double log2_e = 1.44269504088896340736;

/* ---- words --------------------------------------------------------------------------------------------------------------- */

/* The datapath: its constants and table, and counts of what happened. */
struct unit {
    int frac_bits, lut_bits;
    bool exact_exp, cut_shift;
    int64_t one, half; /* half: what a product is rounded with; 0 to cut it */
    int64_t log2_e, inverse_root;
    struct dse_exp2_piece *pieces;
    bool saturated;
};

static int32_t word(struct unit *u, int64_t x)
{
    if (x > INT32_MAX || x < INT32_MIN) {
        u->saturated = true;
        return x > 0 ? INT32_MAX : INT32_MIN;
    }
    return (int32_t)x;
}

static int32_t from_number(struct unit *u, double x)
{
    double scaled = x * (double)u->one;
    if (!(fabs(scaled) < 0x1p31)) {
        u->saturated = true;
        return scaled < 0 ? INT32_MIN : INT32_MAX;
    }
    return word(u, llround(scaled));
}

/* The product of two words, with |a b| <= 2^62. The shift rounds down. */
static int32_t product(struct unit *u, int64_t a, int64_t b)
{
    return word(u, (a * b + u->half) >> u->frac_bits);
}

/* exp(x), x <= 0 (Eq. 9, 10). The constant log2 e has 30 bits behind the point and meets a difference of two words: below 2^63. */
enum { CONSTANT_BITS = 30 };

static int64_t exponential(const struct unit *u, int64_t x)
{
    if (u->exact_exp) return llround(exp((double)x / (double)u->one) * (double)u->one);
    int64_t y = (-x * u->log2_e) >> CONSTANT_BITS;
    int64_t shift = y >> u->frac_bits, fraction = y & (u->one - 1);
    if (shift > u->frac_bits) return 0;
    int64_t rest = u->frac_bits - u->lut_bits;
    int64_t value = dse_exp2_at(u->pieces[fraction >> rest], u->frac_bits, fraction & (((int64_t)1 << rest) - 1));
    int64_t half = u->cut_shift || shift == 0 ? 0 : (int64_t)1 << (shift - 1);
    return (value + half) >> shift;
}

static struct unit unit_new(const struct single_pass *s, size_t d)
{
    struct unit u = {.frac_bits = s->q_frac_bits,
                     .lut_bits = s->lut_bits,
                     .exact_exp = s->exact_exp,
                     .cut_shift = s->cut_shift,
                     .one = (int64_t)1 << s->q_frac_bits,
                     .half = s->truncate ? 0 : (int64_t)1 << (s->q_frac_bits - 1),
                     .log2_e = llround(log2_e * (double)((int64_t)1 << CONSTANT_BITS))};
    u.inverse_root = llround((double)u.one / sqrt((double)d));
    size_t n = (size_t)1 << s->lut_bits;
    u.pieces = xcalloc(n, sizeof *u.pieces);
    for (size_t k = 0; k < n; k++) u.pieces[k] = dse_exp2_piece(s->lut_bits, s->q_frac_bits, (int64_t)k);
    return u;
}

double single_pass_exp(const struct single_pass *s, double x)
{
    struct unit u = unit_new(s, 1);
    double value = (double)exponential(&u, from_number(&u, x)) / (double)u.one;
    free(u.pieces);
    return value;
}

double single_pass_exp_error(const struct single_pass *s)
{
    struct unit u = unit_new(s, 1);
    double one = (double)u.one, worst = 0;
    for (int64_t x = 0; - x < u.one && (double)x / one > -M_LN2; x--) {
        double exact = exp((double)x / one);
        worst = fmax(worst, fabs((double)exponential(&u, x) / one / exact - 1));
    }
    free(u.pieces);
    return worst;
}

/* ---- a step -------------------------------------------------------------------------------------------------------------- */

/* A head in words. Which values did not fit is known of every position. */
struct fixed_head {
    int32_t *q, *k, *v; /* q: of one step */
    bool *clipped;      /* of k or v */
};

static void convert(struct unit *u, const float *from, size_t d, int32_t *to)
{
    for (size_t j = 0; j < d; j++) to[j] = from_number(u, (double)from[j]);
}

static struct fixed_head fixed_head_new(struct unit *u, const struct head *h)
{
    size_t n = h->n, d = h->d;
    struct fixed_head f = {.q = xcalloc(d, sizeof *f.q),
                           .k = xcalloc(n * d, sizeof *f.k),
                           .v = xcalloc(n * d, sizeof *f.v),
                           .clipped = xcalloc(n, sizeof *f.clipped)};
    for (size_t t = 0; t < n; t++) {
        u->saturated = false;
        convert(u, h->k + t * d, d, f.k + t * d);
        convert(u, h->v + t * d, d, f.v + t * d);
        f.clipped[t] = u->saturated;
    }
    return f;
}

static void fixed_head_release(struct fixed_head *f)
{
    free(f->q);
    free(f->k);
    free(f->v);
    free(f->clipped);
}

/* Words times words, each product a word; the sum of d <= 2^16 words fits 64 bits. */
static int32_t score(struct unit *u, const int32_t *q, const int32_t *k, size_t d)
{
    int64_t sum = 0, high = 0, low = 0;
    for (size_t j = 0; j < d; j++) {
        int64_t p = ((int64_t)q[j] * k[j] + u->half) >> u->frac_bits;
        high = p > high ? p : high;
        low = p < low ? p : low;
        sum += p;
    }
    if (high > INT32_MAX || low < INT32_MIN) { /* seldom: once more, product by product */
        sum = 0;
        for (size_t j = 0; j < d; j++) sum += product(u, q[j], k[j]);
    }
    return product(u, word(u, sum), u->inverse_root);
}

/* y = a y + b v in words. a or b is 1 */
static void update(struct unit *u, int32_t *y, const int32_t *v, size_t d, int64_t a, int64_t b)
{
    for (size_t j = 0; j < d; j++) {
        int64_t kept = a == u->one ? y[j] : product(u, a, y[j]), added = b == u->one ? v[j] : product(u, b, v[j]);
        y[j] = word(u, kept + added);
    }
}

/* Y / Z, rounded toward 0. Z is at least 1: the largest score adds it, and nothing makes Z fall below what exp of the others
 * leaves. */
static void normalize(struct unit *u, const int32_t *y, int32_t z, size_t d, double *o)
{
    assert(z > 0);
    for (size_t j = 0; j < d; j++) o[j] = (double)word(u, y[j] * u->one / z) / (double)u->one;
}

static void single_pass_step(struct unit *u, const struct fixed_head *f, size_t t, size_t d, int32_t *y, double *o)
{
    int32_t z = 0, max = 0;
    memset(y, 0, d * sizeof *y);
    for (size_t i = 0; i <= t; i++) {
        const int32_t *v = f->v + i * d;
        int32_t s = score(u, f->q, f->k + i * d, d);
        bool grows = i == 0 || s > max;
        int64_t a = i == 0 ? 0 : grows ? exponential(u, (int64_t)max - s) : u->one;
        int64_t b = grows ? u->one : exponential(u, (int64_t)s - max);
        if (grows) max = s;
        z = word(u, (a == u->one ? z : product(u, a, z)) + b);
        if (b != 0 || a != u->one) update(u, y, v, d, a, b);
    }
    normalize(u, y, z, d, o);
}

/* ---- a head -------------------------------------------------------------------------------------------------------------- */

static double relative_error(const double *o, const double *exact, size_t d, double *largest)
{
    double error = 0, norm = 0;
    for (size_t j = 0; j < d; j++) {
        *largest = fmax(*largest, fabs(o[j] - exact[j]));
        error += (o[j] - exact[j]) * (o[j] - exact[j]);
        norm += exact[j] * exact[j];
    }
    return norm > 0 ? sqrt(error / norm) : (double)NAN;
}

/* Add up errors; single_pass_run divides them at the end. */
static void add_error(struct single_pass_result *r, size_t length, double error)
{
    struct single_pass_at *at = &r->lengths[softmax_length_class(length)];
    if (isnan(error)) return;
    r->steps++;
    r->output_error += error;
    r->worst_error = fmax(r->worst_error, error);
    at->steps++;
    at->output_error += error;
    at->worst_error = fmax(at->worst_error, error);
}

static void finish(struct single_pass_result *r)
{
    r->output_error = r->steps ? r->output_error / (double)r->steps : (double)NAN;
    for (size_t b = 0; b < SINGLE_PASS_LENGTHS; b++) {
        struct single_pass_at *at = &r->lengths[b];
        at->output_error = at->steps ? at->output_error / (double)at->steps : (double)NAN;
        if (!at->steps) at->worst_error = (double)NAN;
    }
}

static bool check(const struct head *h, const struct single_pass *s, size_t first, struct diags *diags)
{
    const struct srcloc nowhere = {0};
    if (s->q_frac_bits < FRAC_BITS_MIN || s->q_frac_bits > FRAC_BITS_MAX)
        return diags_input(diags, nowhere, NULL, "8 to 24 of the 32 bits", "%d bits after the point", s->q_frac_bits);
    if (s->lut_bits < 1 || s->lut_bits > LUT_BITS_MAX || s->lut_bits > s->q_frac_bits)
        return diags_input(diags, nowhere, NULL, "1 to 12, and no more than there are bits after the point",
                           "%d bits of index into the table of the exponential", s->lut_bits);
    if (h->d == 0 || h->d > DIMENSION_MAX) return diags_input(diags, nowhere, NULL, "1 to 65536", "a head of dimension %zu", h->d);
    if (first < h->n) return true;
    return diags_input(diags, nowhere, NULL, "the first step is below the number of positions",
                       "no steps: the first is %zu, the head has %zu positions", first, h->n);
}

bool single_pass_run(const struct head *h, const struct single_pass *s, size_t first, struct single_pass_result *ret,
                     struct diags *diags)
{
    if (!check(h, s, first, diags)) return false;
    *ret = (struct single_pass_result){0};
    struct unit u = unit_new(s, h->d);
    struct fixed_head f = fixed_head_new(&u, h);
    double *weights = xcalloc(h->n, sizeof *weights), *o = xcalloc(h->d, sizeof *o), *exact = xcalloc(h->d, sizeof *exact);
    int32_t *y = xcalloc(h->d, sizeof *y);
    bool cache_clipped = false;
    for (size_t t = 0; t < h->n; t++) {
        cache_clipped = cache_clipped || f.clipped[t];
        const float *q = t < first ? NULL : head_query(h, t);
        if (!q) continue;
        u.saturated = cache_clipped;
        convert(&u, q, h->d, f.q);
        single_pass_step(&u, &f, t, h->d, y, o);
        ret->saturated += u.saturated;
        head_scores(h, t, weights);
        for (size_t i = 0; i <= t; i++) ret->max_abs_score = fmax(ret->max_abs_score, fabs(weights[i]));
        head_attention(h, t, weights, exact);
        add_error(ret, t + 1, relative_error(o, exact, h->d, &ret->absolute_error));
    }
    finish(ret);
    free(weights);
    free(o);
    free(exact);
    free(y);
    free(u.pieces);
    fixed_head_release(&f);
    return true;
}
