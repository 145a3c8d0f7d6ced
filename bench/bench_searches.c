/* Searches without bounds, samples and streams, on LAD. CPU time on one core; ratios are of the same points in the same run, the
 * median of several passes. */
#include "bench.h"
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

enum { M = 3, PASSES = 5, SEEDS = 3, BLOCK = KEEPER_BLOCK };
static uint64_t n_streamed;
static int passes;

/* Of the clocks and bandwidths as many as main says. */
static const char text[] =
    "sweep = { name = 'bench', models = ['lad'] }\n[params]\nllm = 'llama2-7b'\ncontext = 2048\n"
    "tiles = { from = 2, to = 16, step = 2 }\nsram_mib = { from = 0.5, to = 4, step = 0.5 }\nvpu_width = [16, 32, 64]\n"
    "apid_width = [8, 16, 32]\nvpu_md = [1, 2, 3, 4]\nvpu_eas = [1, 2, 3]\nclock_ghz = { from = 0.5, to = 1.5, points = %d }\n"
    "bandwidth_gbs = { from = 256, to = 2048, points = %d, scale = 'log' }\nbatch = [1, 2, 4, 8, 12]\n"
    "[objectives]\ntokens_per_s = 'max'\narea_mm2 = 'min'\nenergy_mj = 'min'\n";
static const char *const columns[M] = {"tokens_per_s", "area_mm2", "energy_mj"};
static const bool maximise[M] = {true, false, false};

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

struct effort {
    size_t population; /* 0: local search */
    uint64_t evaluations;
};

/* A search from several seeds: the least share of the front, and what it took. */
static void bench_search(struct probe *p, const double *truth, size_t n, struct effort e, struct bench_row *row)
{
    double least = 1, rates[SEEDS];
    uint64_t most = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct search_options o = {.seed = seed, .evaluations = e.evaluations};
        struct search_result r;
        const double started = cpu_s();
        if (!(e.population ? nsga2_search(p, e.population, &o, &r) : local_search(p, &o, &r))) abort();
        rates[seed - 1] = (double)r.evaluations / (cpu_s() - started);
        least = fmin(least, share_of(truth, n, &r));
        most = r.evaluations > most ? r.evaluations : most;
        search_result_release(&r);
    }
    const char *name = e.population ? "NSGA-II" : "local search";
    bench_part(row, "%s in %llu evaluations %.1f %%", name, (unsigned long long)most, 100 * least);
    bench_part(row, "%.2g million a second of CPU", 1e-6 * median(rates, SEEDS));
    printf("%-12s %8llu evaluations %12.1f %% of the front %12.0f evaluations a second\n", name, (unsigned long long)most,
           100 * least, median(rates, SEEDS));
}

/* How fast are the points that a search comes to evaluated by themselves? */
static void bench_bare(struct probe *p)
{
    const int repeats = bench_size(100, 2);
    const struct search_options o = {.seed = 1, .evaluations = (uint64_t)bench_size(20000, 1000)};
    struct search_result r;
    if (!nsga2_search(p, 128, &o, &r)) abort();
    double *values = xcalloc(r.n * M, sizeof *values), *violations = xcalloc(r.n, sizeof *violations), rates[PASSES];
    for (int pass = 0; pass < passes; pass++) {
        const double started = cpu_s();
        for (int k = 0; k < repeats; k++)
            if (!probe_evaluate(p, r.points, r.n, values, violations)) abort();
        rates[pass] = repeats * (double)r.n / (cpu_s() - started);
    }
    printf("%-8s %62.0f evaluations a second, of points on a front\n", "bare", median(rates, (size_t)passes));
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
    for (uint64_t i = 0; i < n_streamed; i += BLOCK)
        if (!evaluator_run(e, i, BLOCK, cells, rows)) abort();
    const double rate = (double)n_streamed / (cpu_s() - started);
    evaluator_free(e);
    free(cells);
    free(rows);
    return rate;
}

static double rate_kept(const struct space *sp, const struct goal *goal, size_t sample)
{
    struct keeper *k = keeper_new(sp, goal, sample);
    const double started = cpu_s();
    for (uint64_t i = 0; i < n_streamed; i += BLOCK)
        if (!keeper_evaluate(k, i, BLOCK)) abort();
    size_t n;
    keeper_points(k, &n);
    const double rate = (double)n_streamed / (cpu_s() - started);
    keeper_free(k);
    return rate;
}

static void bench_keep(const struct sweep_file *s, const struct space *sp)
{
    struct goal goal;
    goal_of_sweep(&goal, s);
    double front[PASSES], sample[PASSES];
    for (int pass = 0; pass < passes; pass++) {
        const double bare = rate_bare(sp);
        front[pass] = rate_kept(sp, &goal, 0) / bare;
        sample[pass] = rate_kept(sp, &goal, 100000) / bare;
    }
    printf("keep = \"front\"   %6.2f of the rate of bare evaluation with its rows (to reach: 0.9)\n",
           median(front, (size_t)passes));
    printf("keep = \"sample\"  %6.2f, with a sample of 100,000\n", median(sample, (size_t)passes));
    struct bench_row row = bench_row_open("a sweep that keeps some points only, over bare evaluation with its rows");
    bench_part(&row, "the front %.2f of the rate", median(front, (size_t)passes));
    bench_part(&row, "a sample of 100,000 %.2f", median(sample, (size_t)passes));
    bench_row_close(&row);
    goal_release(&goal);
}

/* ---- samples ----------------------------------------------------------------------------------------------------------------- */

static void bench_samplers(void)
{
    enum { AXES = 10 };
    const uint64_t n_points = n_streamed;
    for (enum sample_method m = SAMPLE_SOBOL; m < SAMPLE_METHODS; m++) {
        const struct sample_section section = {.method = m, .points = n_points, .seed = 1, .scramble = m <= SAMPLE_HALTON};
        double ns[PASSES], sum = 0;
        for (int pass = 0; pass < passes; pass++) {
            const double started = cpu_s();
            struct sampler *s = sampler_new(&section, AXES, UINT64_MAX);
            for (uint64_t i = 0; i < n_points; i++)
                for (size_t a = 0; a < AXES; a++) sum += sampler_at(s, i, a);
            ns[pass] = 1e9 * (cpu_s() - started) / (double)n_points;
            sampler_free(s);
        }
        printf("%-8s %6.0f ns a point of %d axes (mean %.6f)\n", sample_names[m], median(ns, (size_t)passes), AXES,
               sum / passes / (double)n_points / AXES);
    }
}

int main(void)
{
    struct diags diags;
    diags_init(&diags);
    struct catalog *catalog = catalog_new(catalog_data_dir(), &diags);
    char *sized = xasprintf(text, bench_size(6, 2), bench_size(10, 2));
    n_streamed = (uint64_t)bench_size(1 << 18, 1 << 13);
    passes = bench_size(PASSES, 1);
    struct sweep_file *s = sweep_file_read_text("bench.toml", sized, strlen(sized), catalog, catalog_data_dir(), &diags);
    struct space *sp = diags.errors ? NULL : space_new(s, 0, UINT64_MAX, &diags);
    if (!sp) {
        diags_print(&diags, stderr, false);
        return 1;
    }
    struct probe *p = probe_new(sp, columns, maximise, M, 1);
    size_t n;
    double *truth = true_front(p, &n);
    printf("%llu points, %zu on the front; of %d seeds the least share\n", (unsigned long long)space_count(sp), n, SEEDS);
    struct bench_row row =
        bench_row_open("searches without bounds on 2 million LADs, share of the front that each of 3 seeds finds");
    bench_search(p, truth, n, (struct effort){0, 0}, &row);
    bench_search(p, truth, n, (struct effort){128, (uint64_t)bench_size(10000, 1000)}, &row);
    bench_search(p, truth, n, (struct effort){128, (uint64_t)bench_size(100000, 2000)}, &row);
    bench_row_close(&row);
    bench_bare(p);
    bench_keep(s, sp);
    bench_samplers();
    free(truth);
    free(sized);
    probe_free(p);
    space_free(sp);
    sweep_file_free(s);
    catalog_free(catalog);
    diags_release(&diags);
    registry_release();
    return 0;
}
