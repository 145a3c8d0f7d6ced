/* Time of a sweep over eviction ratios and policies for a layer of 12 heads, n = 1024, d = 64, on one core: all at once (full
 * attention is computed once), and policy by policy. Yardstick: exact attention of the same heads, all steps, by head_attention. */
#include "bench.h"
#include "base/xalloc.h"
#include "attention/eviction_policies.h"

#include <gsl/gsl_randist.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADS = 12, N = 1024, D = 64, RATIOS = 10 };

/* How many of them are used. */
static size_t n_heads;

static void make_heads(struct head *h)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t c = 0; c < n_heads; c++) {
        head_init(&h[c], N, D);
        for (size_t i = 0; i < (size_t)N * D; i++) {
            h[c].q[i] = (float)gsl_ran_gaussian(rng, 2);
            h[c].k[i] = (float)gsl_ran_gaussian(rng, 1);
            h[c].v[i] = (float)gsl_ran_gaussian(rng, 1);
        }
    }
    gsl_rng_free(rng);
}

static void fail(const struct diags *diags)
{
    diags_print(diags, stderr, false);
    exit(1);
}

static double exact_attention(const struct head *h)
{
    static double weights[N], output[D];
    double start = cpu_s(), sum = 0;
    for (size_t c = 0; c < n_heads; c++)
        for (size_t t = 0; t < N; t++) {
            head_attention(&h[c], t, weights, output);
            sum += output[0];
        }
    if (!isfinite(sum)) abort();
    return cpu_s() - start;
}

static double sweep(const struct head *h, const struct eviction_options *o, size_t n_options)
{
    struct diags diags;
    diags_init(&diags);
    struct eviction_result *r = xcalloc(n_options * n_heads, sizeof *r);
    double start = cpu_s();
    if (!eviction_run_many(h, n_heads, o, n_options, N / 2, r, &diags)) fail(&diags);
    double seconds = cpu_s() - start;
    free(r);
    diags_release(&diags);
    return seconds;
}

/* One long head under six policies and ten ratios, the last part of its steps measured, 1 / share: seconds of a core. */
static double long_head(size_t share)
{
    enum { WIDE = 128, SIX = 6 };
    const size_t length = (size_t)bench_size(8192, 1024), steps = length / share;
    static const char *const names[SIX] = {"voting", "h2o", "window", "snapkv", "quest", "oracle"};
    struct eviction_options o[SIX * RATIOS];
    struct eviction_result r[SIX * RATIOS];
    struct head h;
    struct diags diags;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    head_init(&h, length, WIDE);
    for (size_t i = 0; i < length * WIDE; i++) {
        h.q[i] = (float)gsl_ran_gaussian(rng, 1);
        h.k[i] = (float)gsl_ran_gaussian(rng, 1);
        h.v[i] = (float)gsl_ran_gaussian(rng, 1);
    }
    gsl_rng_free(rng);
    for (size_t i = 0; i < SIX * RATIOS; i++) {
        o[i] = eviction_defaults;
        o[i].policy = eviction_policy_find(names[i / RATIOS]);
        o[i].size = length / RATIOS * (i % RATIOS + 1) - length / RATIOS / 2;
        o[i].prompt = o[i].policy->traits->selects ? length - steps : 0;
    }
    diags_init(&diags);
    double start = cpu_s();
    if (!eviction_run_many(&h, 1, o, SIX * RATIOS, length - steps, r, &diags)) fail(&diags);
    double seconds = cpu_s() - start;
    head_release(&h);
    diags_release(&diags);
    return seconds;
}

int main(void)
{
    enum { POLICIES_MAX = 32 };
    struct head heads[HEADS];
    struct eviction_options o[POLICIES_MAX * RATIOS];
    const char *const *names = eviction_policy_names();
    size_t n = 0;
    n_heads = (size_t)bench_size(HEADS, 1);
    make_heads(heads);
    for (; names[n / RATIOS] && n < sizeof o / sizeof *o; n++) {
        o[n] = eviction_defaults;
        o[n].policy = eviction_policy_find(names[n / RATIOS]);
        o[n].ratio = 0.1 * (double)(n % RATIOS + 1);
        o[n].prompt = o[n].policy->traits->selects ? N / 2 : 0;
        o[n].layers = 1;
    }
    double exact = exact_attention(heads);
    double all = sweep(heads, o, n);
    printf("%-44s %10s %8s\n", "12 heads, n = 1024, d = 64", "CPU s", "ratio");
    printf("%-44s %10.3f %8.2f\n", "exact attention", exact, 1.0);
    struct bench_row row =
        bench_row_open("eviction: policies and ratios for a layer of 12 heads, 1024 positions of 64, over exact attention");
    bench_part(&row, "%zu x %d: %.2f s CPU", n / RATIOS, RATIOS, all);
    bench_part(&row, "%.1f times the time", all / exact);
    bench_row_close(&row);
    printf("%zu policies x %-31d %10.3f %8.2f\n", n / RATIOS, RATIOS, all, all / exact);
    for (size_t p = 0; p < n / RATIOS; p++) {
        double one = sweep(heads, o + p * RATIOS, RATIOS);
        printf("%-44s %10.3f %8.2f\n", names[p], one, one / exact);
    }
    for (size_t c = 0; c < n_heads; c++) head_release(&heads[c]);
    printf("\n1 head, n = 8192, d = 128, 6 policies x 10\n");
    printf("%-44s %10.3f\n%-44s %10.3f\n", "32 steps measured", long_head(256), "4096 steps measured", long_head(2));
    return 0;
}
