/* Time of a sweep over eviction ratios and policies for a layer of 12 heads, n = 1024, d = 64, on one core: all at once (full
 * attention is computed once), and policy by policy. Yardstick: exact attention of the same heads, all steps, by head_attention. */
#include "base/xalloc.h"
#include "workload/eviction_policies.h"

#include <gsl/gsl_randist.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HEADS = 12, N = 1024, D = 64, RATIOS = 10 };

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void make_heads(struct head *h)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t c = 0; c < HEADS; c++) {
        head_init(&h[c], N, D);
        for (size_t i = 0; i < (size_t)N * D; i++) {
            h[c].q[i] = (float)gsl_ran_gaussian(rng, 2);
            h[c].k[i] = (float)gsl_ran_gaussian(rng, 1);
            h[c].v[i] = (float)gsl_ran_gaussian(rng, 1);
        }
    }
    gsl_rng_free(rng);
}

static double exact_attention(const struct head *h)
{
    static double weights[N], output[D];
    double start = cpu_seconds(), sum = 0;
    for (size_t c = 0; c < HEADS; c++)
        for (size_t t = 0; t < N; t++) {
            head_attention(&h[c], t, weights, output);
            sum += output[0];
        }
    if (!isfinite(sum)) abort();
    return cpu_seconds() - start;
}

static double sweep(const struct head *h, const struct eviction_options *o, size_t n_options)
{
    struct diags diags;
    diags_init(&diags);
    struct eviction_result *r = xcalloc(n_options * HEADS, sizeof *r);
    double start = cpu_seconds();
    if (!eviction_run_many(h, HEADS, o, n_options, N / 2, r, &diags)) abort();
    double seconds = cpu_seconds() - start;
    free(r);
    diags_release(&diags);
    return seconds;
}

/* One long head under six policies and ten ratios, the last `steps` measured: seconds of a core. */
static double long_head(size_t steps)
{
    enum { LONG = 8192, WIDE = 128, SIX = 6 };
    static const char *const names[SIX] = {"voting", "h2o", "window", "snapkv", "quest", "oracle"};
    struct eviction_options o[SIX * RATIOS];
    struct eviction_result r[SIX * RATIOS];
    struct head h;
    struct diags diags;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    head_init(&h, LONG, WIDE);
    for (size_t i = 0; i < (size_t)LONG * WIDE; i++) {
        h.q[i] = (float)gsl_ran_gaussian(rng, 1);
        h.k[i] = (float)gsl_ran_gaussian(rng, 1);
        h.v[i] = (float)gsl_ran_gaussian(rng, 1);
    }
    gsl_rng_free(rng);
    for (size_t i = 0; i < SIX * RATIOS; i++) {
        o[i] = eviction_defaults;
        o[i].policy = eviction_policy_find(names[i / RATIOS]);
        o[i].size = LONG / RATIOS * (i % RATIOS + 1) - LONG / RATIOS / 2;
        o[i].prompt = o[i].policy->traits.selects ? LONG - steps : 0;
    }
    diags_init(&diags);
    double start = cpu_seconds();
    if (!eviction_run_many(&h, 1, o, SIX * RATIOS, LONG - steps, r, &diags)) abort();
    double seconds = cpu_seconds() - start;
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
    make_heads(heads);
    for (; names[n / RATIOS] && n < sizeof o / sizeof *o; n++) {
        o[n] = eviction_defaults;
        o[n].policy = eviction_policy_find(names[n / RATIOS]);
        o[n].ratio = 0.1 * (double)(n % RATIOS + 1);
        o[n].prompt = o[n].policy->traits.selects ? N / 2 : 0;
        o[n].layers = 1;
    }
    double exact = exact_attention(heads);
    double all = sweep(heads, o, n);
    printf("%-44s %10s %8s\n", "12 heads, n = 1024, d = 64", "CPU s", "ratio");
    printf("%-44s %10.3f %8.2f\n", "exact attention", exact, 1.0);
    printf("%zu policies x %-31d %10.3f %8.2f\n", n / RATIOS, RATIOS, all, all / exact);
    for (size_t p = 0; p < n / RATIOS; p++) {
        double one = sweep(heads, o + p * RATIOS, RATIOS);
        printf("%-44s %10.3f %8.2f\n", names[p], one, one / exact);
    }
    for (size_t c = 0; c < HEADS; c++) head_release(&heads[c]);
    printf("\n1 head, n = 8192, d = 128, 6 policies x 10\n");
    printf("%-44s %10.3f\n%-44s %10.3f\n", "32 steps measured", long_head(32), "4096 steps measured", long_head(4096));
    return 0;
}
