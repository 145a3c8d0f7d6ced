/* What a model pays for reading a profile, on one core, over random contexts and ratios of what ships: dse_retention_at and
 * dse_profile_at. CPU nanoseconds a read, the best of several passes, and ratios to the bare work of GSL in it: evaluations of
 * one Steffen spline of as many points, each with its interval searched by bisection; four to a retention (mass and error at two
 * contexts), five to a profile. Below 1: searches are shared. */
#include "bench.h"
#include "base/xalloc.h"
#include "config/catalog.h"
#include "dse_config.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_spline.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASSES = 9, READS = 100000, CURVE = 10 }; /* CURVE: ratios of a shipped retention, 1 included */

static double at[READS][2]; /* context, ratio */
static int reads;           /* of them */
static double sum;          /* so that nothing is left out */

static void draw(double from, double to, double ratio_from)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < reads; i++) {
        at[i][0] = from + (to - from) * gsl_rng_uniform(rng);
        at[i][1] = ratio_from + (1 - ratio_from) * gsl_rng_uniform(rng);
    }
    gsl_rng_free(rng);
}

static void read_retention(const void *of)
{
    struct dse_retained r;
    for (int i = 0; i < reads; i++) {
        if (!dse_retention_at(of, "voting", at[i][0], at[i][1], &r)) abort();
        sum += r.mass + r.error;
    }
}

static void read_profile(const void *of)
{
    for (int i = 0; i < reads; i++) {
        struct dse_locality l = dse_profile_at(of, at[i][0]);
        sum += l.centers + l.large + l.active + l.updates + l.hit_ratio;
    }
}

static void read_spline(const void *of)
{
    const gsl_spline *s = of;
    for (int i = 0; i < reads; i++) {
        gsl_interp_accel accel = {.cache = gsl_interp_bsearch(s->x, at[i][1], 0, s->size - 1)};
        sum += gsl_spline_eval(s, at[i][1], &accel);
    }
}

static double best_ns(void (*read)(const void *of), const void *of)
{
    double best = INFINITY;
    for (int pass = 0; pass < bench_size(PASSES, 1); pass++) {
        double start = cpu_ns();
        read(of);
        best = fmin(best, (cpu_ns() - start) / reads);
    }
    return best;
}

int main(void)
{
    struct diags d;
    reads = bench_size(READS, 1000);
    diags_init(&d);
    struct catalog *c = catalog_new(DSE_SOURCE_DATA, &d);
    if (!c) abort();
    const void *retention = catalog_find(c, DSE_KIND_RETENTION, "codellama-13b");
    const void *profile = catalog_find(c, DSE_KIND_PROFILE, "published-fit");
    double x[CURVE], y[CURVE];
    for (int i = 0; i < CURVE; i++) y[i] = sqrt(x[i] = (double)i / (CURVE - 1));
    gsl_spline *spline = gsl_spline_alloc(gsl_interp_steffen, CURVE);
    gsl_spline_init(spline, x, y, CURVE);

    draw(512, 2048, 0.1);
    double bare = best_ns(read_spline, spline), kept = best_ns(read_retention, retention);
    double from, to;
    dse_profile_range(profile, &from, &to);
    draw(from, to, 0.1);
    double locality = best_ns(read_profile, profile);
    printf("%-44s %10s %8s\n", "random points", "ns", "ratio");
    printf("%-44s %10.0f %8.2f\n", "a spline of 10 points", bare, 1.0);
    printf("%-44s %10.0f %8.2f\n", "dse_retention_at, over four of them", kept, kept / (4 * bare));
    printf("%-44s %10.0f %8.2f\n", "dse_profile_at, over five", locality, locality / (5 * bare));
    struct bench_row row = bench_row_open("reading a profile, over the splines in it each by itself");
    bench_part(&row, "a retention %.2f times the time", kept / (4 * bare));
    bench_part(&row, "a profile of locality %.2f times", locality / (5 * bare));
    bench_row_close(&row);
    gsl_spline_free(spline);
    catalog_free(c);
    diags_release(&d);
    return isfinite(sum) ? 0 : 1;
}
