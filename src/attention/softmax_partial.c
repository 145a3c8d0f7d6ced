#include "attention/softmax_partial.h"

#include "attention/half.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double fp16_max = 65504;

const char *const softmax_held_names[] = {[SOFTMAX_FP32] = "fp32", [SOFTMAX_MIXED] = "mixed", [SOFTMAX_FP16] = "fp16", NULL};

/* What one step works with: scores, terms and weights of n positions, outputs of d elements. */
struct scratch {
    double *x, *weights, *exact;
    float *terms, *part, *total;
};

static struct scratch scratch_new(size_t n, size_t d)
{
    return (struct scratch){.x = xcalloc(n, sizeof(double)),
                            .weights = xcalloc(n, sizeof(double)),
                            .exact = xcalloc(d, sizeof(double)),
                            .terms = xcalloc(n, sizeof(float)),
                            .part = xcalloc(d, sizeof(float)),
                            .total = xcalloc(d, sizeof(float))};
}

static void scratch_release(struct scratch *s)
{
    free(s->x);
    free(s->weights);
    free(s->exact);
    free(s->terms);
    free(s->part);
    free(s->total);
}

static float half(float x)
{
    return half_to_float(half_from_float(x));
}

/* to = scale to + add */
static void add_up(float *restrict to, float scale, const float *restrict add, float by, size_t n, bool halves)
{
    for (size_t j = 0; j < n; j++) to[j] = to[j] * scale + add[j] * by;
    for (size_t j = 0; j < n && halves; j++) to[j] = half(to[j]);
}

/* Terms [begin, end) with phi: their sum; with their values in s->part. */
static float add_part(const struct head *h, struct scratch *s, size_t begin, size_t end, float phi, int32_t held)
{
    float sum = 0;
    memset(s->part, 0, h->d * sizeof *s->part);
    for (size_t i = begin; i < end; i++) {
        float term = expf((float)s->x[i] - phi);
        s->terms[i] = held == SOFTMAX_FP32 ? term : half(term);
        add_up(&sum, 1, &s->terms[i], 1, 1, held == SOFTMAX_FP16);
        add_up(s->part, 1, h->v + i * h->d, s->terms[i], h->d, held == SOFTMAX_FP16);
    }
    return sum;
}

/* Compute all parts with one phi. Returns the denominator; the numerator is in s->total. */
static float asynchronous(const struct head *h, const struct softmax_partial *p, struct scratch *s, size_t n, float *ret_largest)
{
    float sum = 0, largest = 0;
    memset(s->total, 0, h->d * sizeof *s->total);
    for (size_t begin = 0; begin < n; begin += p->part) {
        float part = add_part(h, s, begin, begin + p->part < n ? begin + p->part : n, (float)p->range.phi, p->held);
        largest = part > largest ? part : largest;
        add_up(&sum, 1, &part, 1, 1, p->held == SOFTMAX_FP16);
        add_up(s->total, 1, s->part, 1, h->d, p->held == SOFTMAX_FP16);
    }
    *ret_largest = largest;
    return sum;
}

/* Each part with the maximum so far; what was added before is rescaled when it grows. */
static float synchronized(const struct head *h, const struct softmax_partial *p, struct scratch *s, size_t n)
{
    float sum = 0, max = -INFINITY;
    memset(s->total, 0, h->d * sizeof *s->total);
    for (size_t begin = 0; begin < n; begin += p->part) {
        size_t end = begin + p->part < n ? begin + p->part : n;
        float old = max;
        for (size_t i = begin; i < end; i++) max = (float)s->x[i] > max ? (float)s->x[i] : max;
        float scale = begin ? expf(old - max) : 0;
        float part = add_part(h, s, begin, end, max, p->held);
        for (size_t i = 0; i < begin; i++) s->terms[i] *= scale;
        add_up(&sum, scale, &part, 1, 1, p->held == SOFTMAX_FP16);
        add_up(s->total, scale, s->part, 1, h->d, p->held == SOFTMAX_FP16);
    }
    return sum;
}

static bool is_outside(const struct softmax_range *r, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(r->low < x[i] - r->phi && x[i] - r->phi < r->high)) return true;
    return false;
}

static bool has_large_term(const struct softmax_range *r, const double *x, size_t n)
{
    const double most = log(fp16_max);
    for (size_t i = 0; i < n; i++)
        if (x[i] - r->phi > most) return true;
    return false;
}

static bool is_sum_usable(const struct scratch *s, float sum, size_t d)
{
    bool finite = isfinite(sum) && sum > 0;
    for (size_t j = 0; j < d; j++) finite = finite && isfinite(s->total[j]);
    return finite;
}

/* Elements of the output and errors of steps are added up until softmax_partial_run divides. */
static void compare(const struct head *h, const struct scratch *s, size_t n, float sum, struct softmax_partial_result *ret)
{
    for (size_t i = 0; i < n; i++) ret->weight_error = fmax(ret->weight_error, fabs((double)(s->terms[i] / sum) - s->weights[i]));
    double difference = 0, norm = 0;
    for (size_t j = 0; j < h->d; j++) {
        double error = fabs((double)(s->total[j] / sum) - s->exact[j]);
        difference += error * error;
        norm += s->exact[j] * s->exact[j];
        ret->output_error = fmax(ret->output_error, error);
        ret->mean_output_error += error;
        ret->within_1e_2 += error < 1e-2;
        ret->within_1e_1 += error < 1e-1;
    }
    if (!(norm > 0)) return;
    ret->steps++;
    ret->attention_error += sqrt(difference / norm);
}

static void run_step(const struct head *h, const struct softmax_partial *p, struct scratch *s, size_t t,
                     struct softmax_partial_result *ret)
{
    size_t n = t + 1;
    head_scores(h, t, s->x);
    head_attention(h, t, s->weights, s->exact);
    float largest = 0, sum;
    bool outside = is_outside(&p->range, s->x, n);
    if (outside) {
        sum = synchronized(h, p, s, n);
    } else {
        sum = asynchronous(h, p, s, n, &largest);
        ret->fp16_terms += has_large_term(&p->range, s->x, n);
        ret->fp16_sums += (double)largest > fp16_max;
    }
    ret->vectors++;
    ret->recomputed += outside;
    if (is_sum_usable(s, sum, h->d))
        compare(h, s, n, sum, ret);
    else
        ret->lost++;
}

static bool check(const struct head *h, const struct softmax_partial *p, size_t first, struct diags *diags)
{
    const struct srcloc nowhere = {0};
    const struct softmax_range *r = &p->range;
    if (h->d == 0) return diags_input(diags, nowhere, NULL, NULL, "a head of dimension 0 has no scores");
    if (first >= h->n)
        return diags_input(diags, nowhere, NULL, "the first step is below the number of positions",
                           "no steps: the first is %zu, the head has %zu positions", first, h->n);
    if (p->part == 0) return diags_input(diags, nowhere, NULL, "1 or more", "a partial vector of 0 scores");
    if (isfinite(r->phi) && r->low < r->high) return true;
    return diags_input(diags, nowhere, NULL, "phi is a number, low is below high", "no range: phi %g, low %g, high %g", r->phi,
                       r->low, r->high);
}

bool softmax_partial_run(const struct head *h, const struct softmax_partial *p, size_t first, struct softmax_partial_result *ret,
                         struct diags *diags)
{
    if (!check(h, p, first, diags)) return false;
    *ret = (struct softmax_partial_result){0};
    struct scratch s = scratch_new(h->n, h->d);
    for (size_t t = first; t < h->n; t++)
        if (head_query(h, t)) run_step(h, p, &s, t, ret);
    double elements = (double)(ret->vectors - ret->lost) * (double)h->d;
    double each = elements > 0 ? 1 / elements : (double)NAN;
    ret->mean_output_error *= each;
    ret->within_1e_2 *= each;
    ret->within_1e_1 *= each;
    ret->attention_error = ret->steps ? ret->attention_error / (double)ret->steps : (double)NAN;
    scratch_release(&s);
    return true;
}
