#include "workload/requests.h"

#include "base/xalloc.h"

#include <gsl/gsl_cdf.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct dse_param dse_requests_fields[] = {
    DSE_PARAM_F64(struct dse_requests, prompt_median, "", 1, 1e7, "tokens of a prompt: half of them have fewer", ""),
    DSE_PARAM_F64(struct dse_requests, prompt_p90, "", 1, 1e7, "tokens of a prompt: nine in ten have fewer", ""),
    DSE_PARAM_F64(struct dse_requests, generate_median, "", 1, 1e7, "tokens generated: half of the requests have fewer", ""),
    DSE_PARAM_F64(struct dse_requests, generate_p90, "", 1, 1e7, "tokens generated: nine in ten have fewer", ""),
    DSE_PARAM_I64(struct dse_requests, max_tokens, 2, 10000000, "most tokens of prompt and generation together", ""),
    DSE_PARAM_END,
};

const char *dse_requests_check(const void *requests)
{
    const struct dse_requests *r = requests;
    if (r->prompt_p90 < r->prompt_median) return "prompt_p90 is below prompt_median";
    if (r->generate_p90 < r->generate_median) return "generate_p90 is below generate_median";
    if (r->prompt_p90 >= (double)r->max_tokens) return "prompt_p90 leaves nothing of max_tokens to generate";
    return NULL;
}

/* ---- lognormal ----------------------------------------------------------------------------------------------------------- */

struct lognormal {
    double mu, sigma;
};

static struct lognormal lognormal_of(double median, double p90)
{
    return (struct lognormal){.mu = log(median), .sigma = log(p90 / median) / gsl_cdf_ugaussian_Pinv(0.9)};
}

/* Integral of exp(mu + sigma z) over the standard normal z from a to b. */
static double partial_mean(struct lognormal l, double a, double b)
{
    double whole = exp(l.mu + l.sigma * l.sigma / 2);
    return whole * (gsl_cdf_ugaussian_P(b - l.sigma) - gsl_cdf_ugaussian_P(a - l.sigma));
}

/* Mean of min(X, cap) over class i of n equally likely ones. */
static double class_mean(struct lognormal l, size_t i, size_t n, double cap)
{
    if (l.sigma == 0) return fmin(exp(l.mu), cap);
    double a = i == 0 ? -(double)INFINITY : gsl_cdf_ugaussian_Pinv((double)i / (double)n);
    double b = i + 1 == n ? (double)INFINITY : gsl_cdf_ugaussian_Pinv((double)(i + 1) / (double)n);
    double z = (log(cap) - l.mu) / l.sigma; /* from here on X is cut */
    double below = z > a ? partial_mean(l, a, z < b ? z : b) : 0;
    double cut = z < b ? gsl_cdf_ugaussian_Q(z > a ? z : a) - gsl_cdf_ugaussian_Q(b) : 0;
    return fmin(fmax((below + cap * cut) * (double)n, 1), cap);
}

/* Mean of class k of generations, cut where max_tokens leaves no more after a prompt of class i: over at least STRATA parts of
 * all prompts. */
static double cut_mean(struct lognormal prompt, size_t i, size_t prompts, struct lognormal generate, size_t k, size_t generations,
                       double most)
{
    enum { STRATA = 64 };
    size_t parts = (STRATA + prompts - 1) / prompts;
    double sum = 0;
    for (size_t s = 0; s < parts; s++) {
        double p = class_mean(prompt, i * parts + s, prompts * parts, most - 1);
        sum += class_mean(generate, k, generations, most - p);
    }
    return sum / (double)parts;
}

/* Combine every class of prompts with every class of generations. */
static size_t lognormal_points(const struct dse_requests *r, size_t n, struct request_point *ret)
{
    struct lognormal prompt = lognormal_of(r->prompt_median, r->prompt_p90);
    struct lognormal generate = lognormal_of(r->generate_median, r->generate_p90);
    size_t prompts = (size_t)sqrt((double)n), generations = n / prompts, made = 0;
    double most = (double)r->max_tokens, weight = 1 / (double)(prompts * generations);
    for (size_t i = 0; i < prompts; i++) {
        double p = class_mean(prompt, i, prompts, most - 1);
        for (size_t k = 0; k < generations; k++)
            ret[made++] = (struct request_point){weight, p, cut_mean(prompt, i, prompts, generate, k, generations, most)};
    }
    return made;
}

/* ---- a list -------------------------------------------------------------------------------------------------------------- */

struct seen {
    double prompt, generate;
};

struct requests_list {
    size_t n;
    struct seen *seen;
};

static int by_prompt(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->prompt != y->prompt) return x->prompt < y->prompt ? -1 : 1;
    return (x->generate > y->generate) - (x->generate < y->generate);
}

static int by_generate(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->generate != y->generate) return x->generate < y->generate ? -1 : 1;
    return (x->prompt > y->prompt) - (x->prompt < y->prompt);
}

/* How many octaves lie between the shortest and the longest: of prompts, less those of generations. */
static double longer_side(const struct seen *s, size_t n)
{
    struct seen low = s[0], high = s[0];
    for (size_t i = 1; i < n; i++) {
        low = (struct seen){fmin(low.prompt, s[i].prompt), fmin(low.generate, s[i].generate)};
        high = (struct seen){fmax(high.prompt, s[i].prompt), fmax(high.generate, s[i].generate)};
    }
    return log2(high.prompt / low.prompt) - log2(high.generate / low.generate);
}

/* The requests s[0..n) by at most `points` points, each weighing its share of `total`. Sorts s. */
static size_t halve(struct seen *s, size_t n, size_t total, size_t points, struct request_point *ret)
{
    if (points > n) points = n;
    if (points <= 1) {
        struct seen sum = {0};
        for (size_t i = 0; i < n; i++) sum = (struct seen){sum.prompt + s[i].prompt, sum.generate + s[i].generate};
        ret[0] = (struct request_point){(double)n / (double)total, sum.prompt / (double)n, sum.generate / (double)n};
        return 1;
    }
    assert(points != 0); /* the analyzer does not see it */
    size_t left = points / 2, first = n * left / points;
    qsort(s, n, sizeof *s, longer_side(s, n) >= 0 ? by_prompt : by_generate);
    size_t made = halve(s, first, total, left, ret);
    return made + halve(s + first, n - first, total, points - left, ret + made);
}

static size_t listed_points(const struct requests_list *list, size_t n, struct request_point *ret)
{
    struct seen *s = xcalloc(list->n, sizeof *s);
    memcpy(s, list->seen, list->n * sizeof *s);
    size_t made = halve(s, list->n, list->n, n, ret);
    free(s);
    return made;
}

static bool check_request(double prompt, double generate, size_t i, struct row_fault *ret)
{
    enum { MOST = 10000000 };
    if (!(prompt >= 1 && prompt <= MOST)) return row_fault(ret, i, "prompt", "a prompt of %g tokens; 1 to %d", prompt, (int)MOST);
    if (!(generate >= 1 && generate <= MOST))
        return row_fault(ret, i, "generate", "%g tokens generated; 1 to %d", generate, (int)MOST);
    return true;
}

/* Share `at` of the n sorted numbers, which lie a struct seen apart, are at most this. */
static double quantile(const struct seen *sorted, size_t n, double at, bool of_prompt)
{
    size_t i = (size_t)ceil(at * (double)n);
    const struct seen *s = &sorted[i ? i - 1 : 0];
    return of_prompt ? s->prompt : s->generate;
}

struct dse_requests *requests_new(const char *name, const char *source, const double *prompt, const double *generate, size_t n,
                                  struct row_fault *ret_fault)
{
    bool ok = n > 0 || row_fault(ret_fault, ROW_NONE, NULL, "there is no request");
    for (size_t i = 0; i < n && ok; i++) ok = check_request(prompt[i], generate[i], i, ret_fault);
    if (!ok) return NULL;
    struct dse_requests *r = xcalloc(1, sizeof *r);
    r->entry = (struct dse_entry){name, source};
    r->list = xcalloc(1, sizeof *r->list);
    *r->list = (struct requests_list){.n = n, .seen = xcalloc(n, sizeof *r->list->seen)};
    struct seen *s = r->list->seen;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        s[i] = (struct seen){prompt[i], generate[i]};
        most = fmax(most, prompt[i] + generate[i]);
    }
    r->max_tokens = (int64_t)ceil(most);
    qsort(s, n, sizeof *s, by_generate);
    r->generate_median = quantile(s, n, 0.5, false);
    r->generate_p90 = quantile(s, n, 0.9, false);
    qsort(s, n, sizeof *s, by_prompt);
    r->prompt_median = quantile(s, n, 0.5, true);
    r->prompt_p90 = quantile(s, n, 0.9, true);
    return r;
}

void requests_free(struct dse_requests *r)
{
    if (!r) return;
    if (r->list) free(r->list->seen);
    free(r->list);
    free(r);
}

/* ---- either -------------------------------------------------------------------------------------------------------------- */

size_t requests_points(const struct dse_requests *r, size_t n, struct request_point *ret)
{
    assert(n >= 1 && n <= REQUEST_POINTS_MAX);
    return r->list ? listed_points(r->list, n, ret) : lognormal_points(r, n, ret);
}
