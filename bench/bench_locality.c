/* Decode steps a second of LAD's functional model and of exact attention beside it, on one core at about 1024 positions: a real
 * head (the one that ships, d = 64), and one of the same size whose keys are few directions. Prints CPU microseconds a step, the
 * best of several passes, and ratios to exact attention of the same head. */
#include "bench.h"
#include "dse_config.h"
#include "locality_heads.h"
#include "attention/locality.h"
#include "attention/trace.h"

#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>

enum { PASSES = 5, FROM = 960, TO = 1088 }; /* steps that are timed */

/* Means over the timed steps. */
struct timing {
    double lad_us, exact_us, centers, active, updates;
};

/* Attention as one would write it for speed alone: float, one pass for the scores and one for the values. */
static void exact_attention(const struct head *h, size_t t, float *weights, float *output)
{
    enum { LANES = 8 };
    const float *q = h->q + t * h->d;
    float scale = 1 / sqrtf((float)h->d), max = -INFINITY, sum = 0;
    for (size_t i = 0; i <= t; i++) {
        const float *k = h->k + i * h->d;
        float lane[LANES] = {0}, score = 0;
        for (size_t j = 0; j < h->d; j += LANES)
            for (size_t x = 0; x < LANES; x++) lane[x] += q[j + x] * k[j + x];
        for (size_t x = 0; x < LANES; x++) score += lane[x];
        weights[i] = score * scale;
        max = weights[i] > max ? weights[i] : max;
    }
    for (size_t i = 0; i <= t; i++) sum += weights[i] = expf(weights[i] - max);
    for (size_t j = 0; j < h->d; j++) output[j] = 0;
    for (size_t i = 0; i <= t; i++)
        for (size_t j = 0; j < h->d; j++) output[j] += weights[i] / sum * h->v[i * h->d + j];
}

static double time_lad(const struct head *h, const struct locality_options *o, struct timing *ret)
{
    struct diags diags;
    diags_init(&diags);
    struct locality *l = locality_new(h->d, o, &diags);
    if (!l) abort();
    double *output = xcalloc(h->d, sizeof *output), start = 0;
    ret->centers = ret->active = ret->updates = 0;
    for (size_t t = 0; t < TO; t++) {
        struct locality_step s;
        if (t == FROM) start = cpu_s();
        locality_step(l, h->q + t * h->d, h->k + t * h->d, h->v + t * h->d, output, &s);
        if (t < FROM) continue;
        ret->centers += (double)s.centers / (TO - FROM);
        ret->active += (double)s.n_active / (TO - FROM);
        ret->updates += (double)s.updates / (TO - FROM);
    }
    double us = 1e6 * (cpu_s() - start) / (TO - FROM);
    free(output);
    locality_free(l);
    diags_release(&diags);
    return us;
}

static double time_exact(const struct head *h)
{
    float *weights = xcalloc(h->n, sizeof *weights), *output = xcalloc(h->d, sizeof *output), check = 0;
    double start = cpu_s();
    for (size_t t = FROM; t < TO; t++) {
        exact_attention(h, t, weights, output);
        check += output[0];
    }
    double us = 1e6 * (cpu_s() - start) / (TO - FROM);
    if (!isfinite(check)) abort();
    free(weights);
    free(output);
    return us;
}

/* Returns steps a second. */
static double report(const char *name, const struct head *h, const struct locality_options *o)
{
    struct timing best = {.lad_us = (double)INFINITY, .exact_us = (double)INFINITY}, now;
    for (int i = 0; i < bench_size(PASSES, 1); i++) {
        best.exact_us = fmin(best.exact_us, time_exact(h));
        now = best;
        now.lad_us = time_lad(h, o, &now);
        now.lad_us = fmin(now.lad_us, best.lad_us);
        best = now;
    }
    printf("%-28s %8.0f %8.0f %8.1f %10.1f %12.0f %12.1f %8.2f\n", name, best.centers, best.active, best.updates, best.lad_us,
           1e6 / best.lad_us, best.exact_us, best.lad_us / best.exact_us);
    return 1e6 / best.lad_us;
}

int main(void)
{
    struct diags diags;
    diags_init(&diags);
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    struct head real[3], clustered;
    bool ok = t && trace_head(t, 0, 1, &real[0], &diags) && trace_head(t, 1, 0, &real[1], &diags) &&
              trace_head(t, 1, 1, &real[2], &diags);
    if (!ok) {
        diags_print(&diags, stderr, false);
        return 1;
    }
    clustered_head(&clustered, TO, real[0].d, 64, 0.02f, 1);
    struct locality_options exact = locality_defaults;
    exact.exact_scores = true;
    printf("%-28s %8s %8s %8s %10s %12s %12s %8s\n", "head", "|C|", "|J|", "|U|", "us a step", "steps a s", "exact us", "ratio");
    const double rate[] = {report("real: layer 0, head 16", &real[0], &locality_defaults),
                           report("real: layer 5, head 0", &real[1], &locality_defaults),
                           report("real: layer 5, head 16", &real[2], &locality_defaults)};
    struct bench_row row = bench_row_open("LAD's decoding carried out on real heads, 1024 positions of 64");
    bench_part(&row, "%.0f to %.0f steps a second and core", fmin(rate[0], fmin(rate[1], rate[2])),
               fmax(rate[0], fmax(rate[1], rate[2])));
    bench_row_close(&row);
    report("keys of 64 directions", &clustered, &locality_defaults);
    report("layer 5, head 16, statistics", &real[2], &exact);
    head_release(&clustered);
    for (size_t i = 0; i < 3; i++) head_release(&real[i]);
    trace_close(t);
    diags_release(&diags);
    return 0;
}
