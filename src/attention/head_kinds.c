#include "attention/head_kinds.h"

#include "attention/score_stats.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const head_feature_names[] = {"first_mass",       "newest_mass",  "half_mass", "tenth_mass",
                                          "step_correlation", "active_share", "hit_ratio", NULL};
const char *const head_kind_names[] = {"sink", "local", "sparse", "broad", NULL};
_Static_assert(sizeof(struct head_features) == HEAD_FEATURES * sizeof(double), "a name for every feature");
_Static_assert(sizeof head_kind_names / sizeof *head_kind_names == HEAD_KINDS + 1, "a name for every kind");

double head_feature(const struct head_features *f, size_t i)
{
    double all[HEAD_FEATURES];
    memcpy(all, f, sizeof all);
    return all[i];
}

/* ---- features ------------------------------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? 1 : x > y ? -1 : 0;
}

static double correlation(const double *x, const double *y, size_t n)
{
    double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
    }
    double mx = sx / (double)n, my = sy / (double)n;
    for (size_t i = 0; i < n; i++) {
        sxx += (x[i] - mx) * (x[i] - mx);
        syy += (y[i] - my) * (y[i] - my);
        sxy += (x[i] - mx) * (y[i] - my);
    }
    return sxx > 0 && syy > 0 ? sxy / sqrt(sxx * syy) : 0;
}

/* Add the masses of a step to f; x has its scores and is sorted. */
static void add_masses(double *x, size_t t, struct head_features *f)
{
    double max = x[0], total = 0, newest = 0, half = 0, tenth = 0;
    for (size_t i = 1; i <= t; i++) max = fmax(max, x[i]);
    for (size_t i = 0; i <= t; i++) total += x[i] = exp(x[i] - max);
    for (size_t i = t + 1 - HEAD_NEWEST; i <= t; i++) newest += x[i];
    for (size_t i = (t + 1) / 2; i <= t; i++) half += x[i];
    f->half_mass += half / total;
    f->first_mass += x[0] / total;
    f->newest_mass += newest / total;
    qsort(x, t + 1, sizeof *x, by_size);
    for (size_t i = 0; i < (t + 1) / 10; i++) tenth += x[i];
    f->tenth_mass += tenth / total;
}

struct head_features head_features(const struct head *h, size_t n)
{
    enum { APART = 8 }; /* neighbouring steps tell the same */
    assert(n >= HEAD_FIT_MIN && n <= h->n && head_whole(h));
    struct head_features f = {0};
    double *x = xcalloc(n, sizeof *x), *before = xcalloc(n, sizeof *before), steps = 0;
    for (size_t t = n / 2; t < n; t += APART, steps++) {
        head_scores(h, t - 1, before);
        head_scores(h, t, x);
        f.step_correlation += correlation(before + 1, x + 1, t - 1);
        add_masses(x, t, &f);
    }
    free(before);
    free(x);
    f.first_mass /= steps;
    f.newest_mass /= steps;
    f.half_mass /= steps;
    f.tenth_mass /= steps;
    f.step_correlation /= steps;
    struct score_stats s = {.n = n};
    score_stats_run(h, -1e9, 1e9, &s, 1);
    f.active_share = s.active / (double)n;
    f.hit_ratio = s.hit;
    return f;
}

/* Shares of what is not on the first position. */
static double of_rest(double mass, const struct head_features *f)
{
    return mass / fmax(1e-6, 1 - f->first_mass);
}

enum head_kind head_kind_of(const struct head_features *f)
{
    if (f->first_mass > 0.5) return HEAD_SINK;
    if (of_rest(f->newest_mass, f) > 0.25) return HEAD_LOCAL;
    return of_rest(f->tenth_mass - f->first_mass, f) > 0.5 ? HEAD_SPARSE : HEAD_BROAD;
}

/* ---- what the scores say ------------------------------------------------------------------------------------------------- */

/* Scores of some keys of the first half at the last steps, less each step's mean: rows are steps. */
struct field {
    size_t steps, keys;
    double *x, *mean; /* mean: of each step */
};

static struct field field_new(const struct head *h, size_t n)
{
    enum { KEYS_MOST = 256 };
    size_t half = n / 2, stride = half / KEYS_MOST ? half / KEYS_MOST : 1;
    struct field f = {.steps = n - half, .keys = (half - 1) / stride};
    double *scores = xcalloc(n, sizeof *scores);
    f.x = xcalloc(f.steps * f.keys, sizeof *f.x);
    f.mean = xcalloc(f.steps, sizeof *f.mean);
    for (size_t s = 0; s < f.steps; s++) {
        double *row = f.x + s * f.keys;
        head_scores(h, half + s, scores);
        for (size_t k = 0; k < f.keys; k++) f.mean[s] += (row[k] = scores[1 + k * stride]) / (double)f.keys;
        for (size_t k = 0; k < f.keys; k++) row[k] -= f.mean[s];
    }
    free(scores);
    return f;
}

static void field_release(struct field *f)
{
    free(f->x);
    free(f->mean);
}

/* Mean product of the same key's scores at steps that are `lag` apart. */
static double covariance(const struct field *f, size_t lag)
{
    double sum = 0;
    size_t n = (f->steps - lag) * f->keys;
    for (size_t i = 0; i < n; i++) sum += f->x[i] * f->x[i + lag * f->keys];
    return sum / (double)n;
}

/* Fourth moment over squared second of the keys' means over the steps. */
static double kurtosis(const struct field *f)
{
    double second = 0, fourth = 0;
    for (size_t k = 0; k < f->keys; k++) {
        double mean = 0;
        for (size_t s = 0; s < f->steps; s++) mean += f->x[s * f->keys + k] / (double)f->steps;
        second += mean * mean / (double)f->keys;
        fourth += pow(mean, 4) / (double)f->keys;
    }
    return second > 0 ? fourth / (second * second) : 3;
}

static const double heavy_share = 0.02;

/* Split the variance of the keys' levels into a normal part and heavy hitters, so that the kurtosis is theirs: of a share u of
 * the variance with heavy hitters it is 3 (1 - u)^2 + 6 (1 - u) u + u^2 (1 - 3 h (1 - h)) / (h (1 - h)), growing with u. */
static void split_levels(double variance, double wanted, struct generator *g)
{
    double h = heavy_share * (1 - heavy_share), spike = (1 - 3 * h) / h, low = 0, high = 1;
    for (int i = 0; i < 50; i++) {
        double u = (low + high) / 2;
        if (3 * (1 - u) * (1 - u) + 6 * (1 - u) * u + u * u * spike < wanted)
            low = u;
        else
            high = u;
    }
    g->heavy_share = heavy_share;
    g->heavy_gain = sqrt(variance * low / h);
    g->level_sd = sqrt(variance * (1 - low));
}

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Variances of levels and noise, and how fast the noise is: by the covariances at lags 1, 16 and a quarter of the steps. */
static void take_variances(const struct field *f, struct generator *g)
{
    const size_t lag = 16;
    double all = covariance(f, 0), stays = within(covariance(f, f->steps / 2), 0, all);
    double noise = fmax(all - stays, 1e-9);
    double c1 = within((covariance(f, 1) - stays) / noise, 1e-3, 0.999),
           c16 = within((covariance(f, lag) - stays) / noise, 1e-6, c1);
    g->rho = within(pow(c16 / c1, 1.0 / (double)(lag - 1)), 0, 0.9999);
    g->fast_share = within(1 - c1 / fmax(g->rho, 1e-3), 0, 1);
    g->noise_sd = sqrt(noise);
    split_levels(stays, within(kurtosis(f), 3, 40), g);
    double mean = 0, square = 0;
    for (size_t s = 0; s < f->steps; s++) mean += f->mean[s] / (double)f->steps;
    for (size_t s = 0; s < f->steps; s++) square += (f->mean[s] - mean) * (f->mean[s] - mean) / (double)f->steps;
    g->level_offset = within(mean, -90, 90);
    g->step_sd = sqrt(square);
}

/* A line through points that come one by one. */
struct line {
    double n, x, y, xx, xy, yy;
};

static void line_add(struct line *l, double x, double y)
{
    l->n++;
    l->x += x;
    l->y += y;
    l->xx += x * x;
    l->xy += x * y;
    l->yy += y * y;
}

static double line_slope(const struct line *l)
{
    double spread = l->n * l->xx - l->x * l->x;
    return spread > 0 ? (l->n * l->xy - l->x * l->y) / spread : 0;
}

/* How the first position stands out, and how scores fall with the age: from the steps of the last seven eighths, every fourth. */
static void take_lines(const struct head *h, size_t n, struct generator *g)
{
    enum { APART = 4, NEAR = 8 };
    struct line sink = {0}, age = {0};
    double *x = xcalloc(n, sizeof *x);
    for (size_t t = n / 8; t < n; t += APART) {
        double mean = 0;
        head_scores(h, t, x);
        for (size_t i = 1; i <= t; i++) mean += x[i] / (double)t;
        line_add(&sink, log1p((double)t), x[0] - mean);
        for (size_t a = NEAR; a < t; a += 1 + a / NEAR) line_add(&age, log((double)a), x[t - a] - mean);
    }
    free(x);
    double slope = line_slope(&sink), rest = (sink.y - slope * sink.x) / sink.n;
    double left = sink.yy - 2 * (slope * sink.xy + rest * sink.y) + slope * slope * sink.xx + 2 * slope * rest * sink.x +
                  rest * rest * sink.n;
    g->sink_gain = within(rest, -90, 90);
    g->sink_growth = within(slope, -2, 2);
    g->sink_sd = sqrt(fmax(0, left) / sink.n);
    g->recency_power = within(-line_slope(&age), -0.5, 2);
}

/* Mean length of the first position's values over that of the others. */
static double value_of_sink(const struct head *h, size_t n)
{
    double first = 0, others = 0;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < h->d; j++) square += (double)h->v[i * h->d + j] * (double)h->v[i * h->d + j];
        if (i == 0)
            first = sqrt(square);
        else
            others += sqrt(square) / (double)(n - 1);
    }
    return others > 0 ? within(first / others, 0, 100) : 1;
}

/* ---- rounds -------------------------------------------------------------------------------------------------------------- */

static double logit(double p)
{
    p = within(p, 1e-5, 1 - 1e-5);
    return log(p / (1 - p));
}

/* Move the parameters by what the made head lacks. */
static void correct(struct generator *g, const struct head_features *real, const struct head_features *made)
{
    g->sink_gain = within(g->sink_gain + within(logit(real->first_mass) - logit(made->first_mass), -3, 3), -99, 99);
    double newest = logit(of_rest(real->newest_mass, real)) - logit(of_rest(made->newest_mass, made));
    g->recency_gain = within(g->recency_gain + 0.6 * within(newest, -1.5, 1.5), -20, 20);
    double half = logit(of_rest(real->half_mass, real)) - logit(of_rest(made->half_mass, made));
    g->recency_power = within(g->recency_power + 0.2 * within(half, -1, 1), -0.5, 3);
    bool sink = real->first_mass > 0.1; /* it is in the largest tenth, and told by its own mass */
    double tenth = logit(of_rest(real->tenth_mass - (sink ? real->first_mass : 0), real)) -
                   logit(of_rest(made->tenth_mass - (sink ? made->first_mass : 0), made));
    double wider = exp(0.3 * within(tenth, -1, 1));
    g->level_sd = within(g->level_sd * wider, 0, 50);
    g->heavy_gain = within(g->heavy_gain * wider, 0, 50);
    g->noise_sd = within(g->noise_sd * wider, 1e-3, 50);
    if (real->active_share > 0 && made->active_share > 0)
        g->noise_sd = within(g->noise_sd * pow(within(real->active_share / made->active_share, 0.25, 4), 0.4), 1e-3, 50);
    double noise = g->noise_sd * g->noise_sd, stays = g->level_sd * g->level_sd + g->heavy_share * g->heavy_gain * g->heavy_gain;
    g->fast_share = within(g->fast_share + 0.5 * (made->step_correlation - real->step_correlation) * (noise + stays) / noise, 0, 1);
    if (isnan(real->hit_ratio) || isnan(made->hit_ratio)) return;
    double hits = within(logit(made->hit_ratio) - logit(real->hit_ratio), -1, 1);
    g->rho = 1 - within((1 - g->rho) * exp(0.4 * hits), 1e-4, 1);
}

/* What a head of absurd numbers asks for is cut to what the generator takes. */
static void keep_in_range(struct generator *g)
{
    for (const struct dse_param *row = generator_params; row->name; row++) {
        if (row->type != DSE_TYPE_F64) continue;
        double *x = (double *)((char *)g + row->offset);
        if (isnan(*x)) *x = 0;
        *x = within(*x, row->min, row->max);
    }
}

static double misfit(const struct head_features *real, const struct head_features *made)
{
    double first = logit(real->first_mass + 0.01) - logit(made->first_mass + 0.01);
    double newest = logit(real->newest_mass + 0.01) - logit(made->newest_mass + 0.01);
    double tenth = logit(real->tenth_mass) - logit(made->tenth_mass);
    double active = log((made->active_share + 0.01) / (real->active_share + 0.01)),
           step = 4 * (real->step_correlation - made->step_correlation);
    double half = logit(real->half_mass + 0.01) - logit(made->half_mass + 0.01);
    return first * first + newest * newest + half * half + tenth * tenth + active * active + step * step;
}

void head_component_make_sampled(const struct head_component *c, uint64_t i, size_t n, const int32_t *steps, size_t n_steps,
                                 struct head *ret)
{
    struct generator g = c->g;
    struct diags none;
    g.n = (int64_t)n;
    diags_init(&none);
    if (!generator_head_sampled(&g, i, steps, n_steps, ret, &none)) abort(); /* all parameters are within their ranges */
    diags_release(&none);
}

void head_component_make(const struct head_component *c, uint64_t i, size_t n, struct head *ret)
{
    head_component_make_sampled(c, i, n, NULL, 0, ret);
}

struct head_component head_component_fit(const struct head *h, size_t n, int64_t seed)
{
    enum { ROUNDS = 16, DIM = 256 }; /* a dimension that has room for many pairs that turn */
    struct head_component best = {.g = generator_defaults, .real = head_features(h, n)}, now;
    struct field f = field_new(h, n);
    struct generator *g = &best.g;
    g->seed = seed;
    g->n = (int64_t)n;
    g->d = DIM;
    g->norm_sd = g->noise_decay = g->cluster_noise = 0;
    g->cluster_growth = 1; /* every key has a direction of its own */
    g->sinks = 1;
    g->recency_gain = 0;
    g->recency_steps = 16;
    take_variances(&f, g);
    field_release(&f);
    take_lines(h, n, g);
    g->sink_value = value_of_sink(h, n);
    best.kind = head_kind_of(&best.real);
    now = best;
    double least = (double)INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        struct head made;
        keep_in_range(&now.g);
        head_component_make(&now, 0, n, &made);
        now.made = head_features(&made, n);
        head_release(&made);
        double misses = misfit(&now.real, &now.made);
        if (misses < least) {
            best = now;
            least = misses;
        }
        correct(&now.g, &now.real, &now.made);
    }
    return best;
}
