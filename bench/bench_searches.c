/* Searches without bounds, samples and streams, on LAD. CPU time on one core; ratios are of the same points in the same run, the
 * median of several passes. */
#include "analysis/front.h"
#include "base/xalloc.h"
#include "config/sweep_file.h"
#include "model/registry.h"
#include "search/nsga2.h"
#include "space/sampler.h"
#include "sweep/keeper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { M = 3, PASSES = 5, SEEDS = 3, STREAMED = 1 << 18, BLOCK = KEEPER_BLOCK };

static const char text[] =
    "sweep = { name = 'bench', models = ['lad'] }\n[params]\nllm = 'llama2-7b'\ncontext = 2048\n"
    "tiles = { from = 2, to = 16, step = 2 }\nsram_mib = { from = 0.5, to = 4, step = 0.5 }\nvpu_width = [16, 32, 64]\n"
    "apid_width = [8, 16, 32]\nvpu_md = [1, 2, 3, 4]\nvpu_eas = [1, 2, 3]\nclock_ghz = { from = 0.5, to = 1.5, points = 6 }\n"
    "bandwidth_gbs = { from = 256, to = 2048, points = 10, scale = 'log' }\nbatch = [1, 2, 4, 8, 12]\n"
    "[objectives]\ntokens_per_s = 'max'\narea_mm2 = 'min'\nenergy_mj = 'min'\n";
static const char *const columns[M] = {"tokens_per_s", "area_mm2", "energy_mj"};
static const bool maximise[M] = {true, false, false};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, ascending);
    return v[n / 2];
}

/* ---- searches ---------------------------------------------------------------------------------------------------------------- */

static bool is_same(const double *a, const double *b)
{
    for (int j = 0; j < M; j++)
        if (!(fabs(a[j] - b[j]) <= 1e-9 * fabs(b[j]))) return false;
    return true;
}

/* The values on the front of the whole lattice. */
static double *true_front(struct probe *p, size_t *ret_n)
{
    const bool minimised[M] = {false};
    struct front *f = front_new(M, minimised);
    static uint64_t points[BLOCK];
    static double values[BLOCK * M], violations[BLOCK];
    for (uint64_t first = 0; first < probe_count(p); first += BLOCK) {
        for (uint64_t i = 0; i < BLOCK; i++) points[i] = (first + i) % probe_count(p);
        if (!probe_evaluate(p, points, BLOCK, values, violations)) abort();
        for (uint64_t i = 0; i < BLOCK; i++)
            if (violations[i] == 0) front_add(f, points[i], values + i * M);
    }
    const uint64_t *ids;
    const double *on;
    const size_t n = front_finish(f, &ids, &on);
    double *front = xcalloc(n * M, sizeof *front);
    *ret_n = 0;
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (size_t k = 0; k < *ret_n && !there; k++) there = is_same(front + k * M, on + i * M);
        if (!there) memcpy(front + (*ret_n)++ * M, on + i * M, sizeof(double[M]));
    }
    front_free(f);
    return front;
}

static double share_of(const double *truth, size_t n, const struct search_result *r)
{
    size_t found = 0;
    for (size_t k = 0; k < n; k++) {
        bool there = false;
        for (size_t i = 0; i < r->n && !there; i++) there = is_same(r->values + i * M, truth + k * M);
        found += there;
    }
    return (double)found / (double)n;
}

/* A search from several seeds: the least share of the front, and what it took. population 0: local search. */
static void bench_search(struct probe *p, const double *truth, size_t n, size_t population, uint64_t evaluations)
{
    double least = 1, rates[SEEDS];
    uint64_t most = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct search_options o = {.seed = seed, .evaluations = evaluations};
        struct search_result r;
        const double started = cpu_s();
        if (!(population ? nsga2_search(p, population, &o, &r) : local_search(p, &o, &r))) abort();
        rates[seed - 1] = (double)r.evaluations / (cpu_s() - started);
        least = fmin(least, share_of(truth, n, &r));
        most = r.evaluations > most ? r.evaluations : most;
        search_result_release(&r);
    }
    printf("%-8s %12llu evaluations %12.1f %% of the front %12.0f evaluations a second\n", population ? "nsga2" : "local",
           (unsigned long long)most, 100 * least, median(rates, SEEDS));
}

/* How fast are the points that a search comes to evaluated by themselves? */
static void bench_bare(struct probe *p)
{
    const struct search_options o = {.seed = 1, .evaluations = 20000};
    struct search_result r;
    if (!nsga2_search(p, 128, &o, &r)) abort();
    double *values = xcalloc(r.n * M, sizeof *values), *violations = xcalloc(r.n, sizeof *violations), rates[PASSES];
    for (int pass = 0; pass < PASSES; pass++) {
        const double started = cpu_s();
        for (int k = 0; k < 100; k++)
            if (!probe_evaluate(p, r.points, r.n, values, violations)) abort();
        rates[pass] = 100 * (double)r.n / (cpu_s() - started);
    }
    printf("%-8s %62.0f evaluations a second, of points on a front\n", "bare", median(rates, PASSES));
    free(values);
    free(violations);
    search_result_release(&r);
}

/* ---- streams ----------------------------------------------------------------------------------------------------------------- */

static double rate_bare(const struct space *sp)
{
    size_t n;
    space_columns(sp, &n);
    union cell *cells = xmalloc(BLOCK * n * sizeof *cells);
    struct row *rows = xmalloc(BLOCK * sizeof *rows);
    struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    const double started = cpu_s();
    for (uint64_t i = 0; i < STREAMED; i += BLOCK)
        if (!evaluator_run(e, i, BLOCK, cells, rows)) abort();
    const double rate = STREAMED / (cpu_s() - started);
    evaluator_free(e);
    free(cells);
    free(rows);
    return rate;
}

static double rate_kept(const struct space *sp, const struct goal *goal, size_t sample)
{
    struct keeper *k = keeper_new(sp, goal, sample);
    const double started = cpu_s();
    for (uint64_t i = 0; i < STREAMED; i += BLOCK)
        if (!keeper_evaluate(k, i, BLOCK)) abort();
    size_t n;
    keeper_points(k, &n);
    const double rate = STREAMED / (cpu_s() - started);
    keeper_free(k);
    return rate;
}

static void bench_keep(const struct sweep_file *s, const struct space *sp)
{
    struct goal goal;
    goal_of_sweep(&goal, s);
    double front[PASSES], sample[PASSES];
    for (int pass = 0; pass < PASSES; pass++) {
        const double bare = rate_bare(sp);
        front[pass] = rate_kept(sp, &goal, 0) / bare;
        sample[pass] = rate_kept(sp, &goal, 100000) / bare;
    }
    printf("keep = \"front\"   %6.2f of the rate of bare evaluation with its rows (to reach: 0.9)\n", median(front, PASSES));
    printf("keep = \"sample\"  %6.2f, with a sample of 100,000\n", median(sample, PASSES));
    goal_release(&goal);
}

/* ---- samples ----------------------------------------------------------------------------------------------------------------- */

static void bench_samplers(void)
{
    enum { AXES = 10, POINTS = 1 << 18 };
    for (enum sample_method m = SAMPLE_SOBOL; m < SAMPLE_METHODS; m++) {
        const struct sample_section section = {.method = m, .points = POINTS, .seed = 1, .scramble = m <= SAMPLE_HALTON};
        double ns[PASSES], sum = 0;
        for (int pass = 0; pass < PASSES; pass++) {
            const double started = cpu_s();
            struct sampler *s = sampler_new(&section, AXES, UINT64_MAX);
            for (uint64_t i = 0; i < POINTS; i++)
                for (size_t a = 0; a < AXES; a++) sum += sampler_at(s, i, a);
            ns[pass] = 1e9 * (cpu_s() - started) / POINTS;
            sampler_free(s);
        }
        printf("%-8s %6.0f ns a point of %d axes (mean %.6f)\n", sample_names[m], median(ns, PASSES), AXES,
               sum / PASSES / POINTS / AXES);
    }
}

int main(void)
{
    struct diags diags;
    diags_init(&diags);
    struct catalog *catalog = catalog_new(catalog_data_dir(), &diags);
    struct sweep_file *s = sweep_file_read_text("bench.toml", text, sizeof text - 1, catalog, catalog_data_dir(), &diags);
    struct space *sp = diags.errors ? NULL : space_new(s, 0, UINT64_MAX, &diags);
    if (!sp) {
        diags_print(&diags, stderr, false);
        return 1;
    }
    struct probe *p = probe_new(sp, columns, maximise, M, 1);
    size_t n;
    double *truth = true_front(p, &n);
    printf("%llu points, %zu on the front; of %d seeds the least share\n", (unsigned long long)space_count(sp), n, SEEDS);
    bench_search(p, truth, n, 0, 0);
    bench_search(p, truth, n, 128, 10000);
    bench_search(p, truth, n, 128, 100000);
    bench_bare(p);
    bench_keep(s, sp);
    bench_samplers();
    free(truth);
    probe_free(p);
    space_free(sp);
    sweep_file_free(s);
    catalog_free(catalog);
    diags_release(&diags);
    registry_release();
    return 0;
}
