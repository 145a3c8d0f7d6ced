/* Exact fronts (search/exact.h) against all points, and against time.
 *
 *     bench_search equal N POINTS [MODEL]   N random lattices of about so many points, of each model with a bound: the front of the
 *                                           search is held against that of every point
 *     bench_search time [MODEL]             a lattice of about 10^9 points of each model (short form: three of its axes):
 *                                           seconds until its front is certain */
#include "bench.h"
#include "../tests/unit/search_lattices.h"

#include <omp.h>

enum { BLOCK = 1 << 16 };

/* ---- every point ----------------------------------------------------------------------------------------------------------- */

/* One thread's share of a space. */
struct share {
    struct evaluator *evaluator;
    struct front *front;
};

static void evaluate_block(const struct search_bed *b, const size_t *columns, const struct share *s, uint64_t first)
{
    const struct sweep_file *sweep = b->sweep;
    const uint64_t count = space_count(b->spaces[0]), end = first + BLOCK < count ? first + BLOCK : count;
    double values[FRONT_OBJECTIVES_MAX], violation;
    for (uint64_t i = first; i < end; i++) {
        bool ok = evaluator_probe(s->evaluator, i, columns, sweep->n_objectives, values, &violation) && !(violation > 0);
        for (size_t j = 0; ok && j < sweep->n_objectives; j++) {
            ok = isfinite(values[j]);
            if (sweep->objectives[j].maximise) values[j] = -values[j];
        }
        if (ok) front_add(s->front, i, values);
    }
}

/* The front of all points of the only space; the caller releases it. */
static void brute_front(const struct search_bed *b, struct vectors *ret)
{
    static const bool minimise[FRONT_OBJECTIVES_MAX] = {false};
    const struct space *sp = b->spaces[0];
    const int m = (int)b->sweep->n_objectives, threads = omp_get_max_threads();
    size_t columns[FRONT_OBJECTIVES_MAX];
    struct share *shares = xcalloc((size_t)threads, sizeof *shares);
    for (int j = 0; j < m; j++) columns[j] = space_column(sp, b->sweep->objectives[j].column);
    for (int t = 0; t < threads; t++)
        shares[t] = (struct share){evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL), front_new(m, minimise)};
    const uint64_t blocks = (space_count(sp) + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(dynamic, 1)
    for (uint64_t k = 0; k < blocks; k++) evaluate_block(b, columns, &shares[omp_get_thread_num()], k * BLOCK);
    *ret = (struct vectors){.m = (size_t)m};
    for (int t = 0; t < threads; t++) {
        const uint64_t *ids;
        const double *values;
        const size_t n = front_finish(shares[t].front, &ids, &values);
        for (size_t i = 0; i < n; i++) vectors_add(ret, values + i * (size_t)m, TEXT_HASH_INIT);
        front_free(shares[t].front);
        evaluator_free(shares[t].evaluator);
    }
    if (ret->n) keep_fronts(ret);
    free(shares);
}

/* ---- the searches ---------------------------------------------------------------------------------------------------------- */

struct sums {
    int lattices, wrong;
    double points, seconds, brute_seconds;
    uint64_t rows, bounds, evaluations;
};

/* False: the lattice has no exact front (its tables refuse it, or an objective has no bound there), or an empty one. */
static bool search_one(const char *text, bool all, struct sums *sums)
{
    struct search_bed b;
    struct exact_result r;
    const struct exact_options options = {.threads = omp_get_max_threads()};
    bool ok = open_search(&b, catalog_data_dir(), text);
    if (ok) {
        ok = exact_search(b.sweep, b.spaces, &options, &r, &b.diags) && r.n_front > 0;
        if (ok) {
            sums->lattices++;
            sums->points += r.points;
            sums->seconds += r.certificate.seconds;
            sums->rows += r.n_front;
            sums->bounds += r.bounds;
            sums->evaluations += r.certificate.evaluations;
        }
        if (ok && all) {
            struct vectors truth, found;
            const double start = wall_s();
            brute_front(&b, &truth);
            sums->brute_seconds += wall_s() - start;
            row_vectors(&b, &r, &found);
            char *wrong = compare_fronts(&found, &truth);
            if (wrong) printf("   WRONG: %s\n%s", wrong, text);
            sums->wrong += wrong != NULL;
            free(wrong);
            vectors_release(&truth);
            vectors_release(&found);
        }
        exact_result_release(&r);
    }
    close_search(&b);
    return ok;
}

static bool compare_model(const struct model *m, int n, double points, struct bench_row *row)
{
    struct lattice_draw d;
    struct sums sums = {0};
    if (lattice_draw_init(&d, m, catalog_data_dir(), 11))
        for (int i = 0; i < 10 * n && sums.lattices < n; i++) {
            char *text = draw_lattice(&d, points, 40);
            search_one(text, true, &sums);
            free(text);
        }
    lattice_draw_release(&d);
    if (sums.lattices) bench_part(row, "%s %d of %d", m->desc->name, sums.lattices - sums.wrong, sums.lattices);
    if (sums.lattices)
        printf("   %-14s %2d lattices, %9.3g points: %d wrong; %llu rows, %.2f s for the searches, %.1f s for all points\n",
               m->desc->name, sums.lattices, sums.points, sums.wrong, (unsigned long long)sums.rows, sums.seconds,
               sums.brute_seconds);
    fflush(stdout);
    return !sums.wrong;
}

/* Lattices of 10^9 points, of what a designer of such a machine would vary. */
static const struct {
    const char *model, *params, *objectives;
} lattices[] = {
    {"lad",
     "batch = { from = 1, to = 16, step = 1 }\ntiles = { from = 1, to = 32, step = 1 }\n"
     "sram_mib = { from = 0.25, to = 8, step = 0.25 }\n"
     "vpu_eas = [1, 2, 4, 8]\nvpu_md = [1, 2, 4, 8]\nvpu_ac = [1, 2, 4, 8]\nclock_ghz = { from = 0.4, to = 2.4, step = 0.1 }\n"
     "bandwidth_gbs = { from = 128, to = 2048, points = 48, scale = \"log\" }\n",
     "tokens_per_s = \"max\"\narea_mm2 = \"min\"\nenergy_mj = \"min\"\n"},
    {"veda",
     "batch = { from = 1, to = 16, step = 1 }\ncontext = [512, 1024, 2048, 4096]\npe_rows = { from = 2, to = 32, step = 2 }\n"
     "pe_columns = { from = 4, to = 32, step = 4 }\npe_copies = { from = 1, to = 16, step = 1 }\nsfu_exp = [1, 2, 4, 8]\n"
     "sfu_div = [1, 2, 4, 8]\nclock_ghz = { from = 0.4, to = 2.4, step = 0.1 }\n"
     "bandwidth_gbs = { from = 32, to = 1024, points = 24, scale = \"log\" }\n",
     "tokens_per_s = \"max\"\narea_mm2 = \"min\"\nenergy_mj = \"min\"\nper = [\"context\"]\n"},
    {"swiftkv",
     "batch = { from = 1, to = 16, step = 1 }\ncontext = [512, 1024, 2048, 4096]\n"
     "clock_mhz = { from = 100, to = 500, points = 200 }\n"
     "bandwidth_gbs = { from = 32, to = 1024, points = 400, scale = \"log\" }\nprocessors = { from = 1, to = 200, step = 1 }\n",
     "tokens_per_s = \"max\"\npower_w = \"min\"\nper = [\"context\"]\n"},
    {"flashdecoding",
     "batch = { from = 1, to = 64, step = 1 }\ncontext = { from = 512, to = 8192, step = 512 }\n"
     "bandwidth_gbs = { from = 500, to = 4000, points = 500, scale = \"log\" }\n"
     "board_power_w = { from = 200, to = 700, step = 1 }\n"
     "tensor_parallel = [1, 2, 4, 8]\n",
     "tokens_per_s = \"max\"\nenergy_mj = \"min\"\nper = [\"context\"]\n"},
    {"ane",
     "batch = { from = 1, to = 16, step = 1 }\ncontext = [512, 1024, 2048, 4096]\n"
     "engine_tflops = { from = 2, to = 40, points = 300 }\n"
     "bandwidth_gbs = { from = 32, to = 400, points = 400, scale = \"log\" }\nquery_rows = { from = 1, to = 128, step = 1 }\n",
     "tokens_per_s = \"max\"\nenergy_mj = \"min\"\nper = [\"context\"]\n"},
};

/* How much of the text of a lattice is used: all, or three axes. */
static int params_used(const char *params)
{
    const char *end = params;
    for (int i = 0; i < 3; i++) end = strchr(end, '\n') + 1;
    return bench_size((int)strlen(params), (int)(end - params));
}

/* False: one has no exact front. */
static bool time_models(const char *only)
{
    bool ok = true;
    struct bench_row row = bench_row_open("exact fronts of 10^9 designs of each model, wall");
    for (size_t i = 0; i < sizeof lattices / sizeof *lattices; i++) {
        struct sums sums = {0};
        if (only && strcmp(only, lattices[i].model) != 0) continue;
        char *text = xasprintf("[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[params]\n%.*s[objectives]\n%s", lattices[i].model,
                               params_used(lattices[i].params), lattices[i].params, lattices[i].objectives);
        if (search_one(text, false, &sums)) {
            bench_part(&row, "%s %.2g s", lattices[i].model, sums.seconds);
            printf("   %-14s %9.3g points: %6llu rows in %7.2f s; %.3g boxes bounded, %.3g points evaluated\n", lattices[i].model,
                   sums.points, (unsigned long long)sums.rows, sums.seconds, (double)sums.bounds, (double)sums.evaluations);
        } else {
            printf("   %-14s no exact front\n", lattices[i].model);
            ok = false;
        }
        fflush(stdout);
        free(text);
    }
    bench_row_close(&row);
    return ok;
}

int main(int argc, char **argv)
{
    size_t n;
    bool ok = argc > 1;
    const struct model *models = registry_models(&n);
    if (argc > 1 && strcmp(argv[1], "time") == 0) {
        ok = time_models(argc > 2 ? argv[2] : NULL);
    } else if (argc > 3 && strcmp(argv[1], "equal") == 0) {
        char *what =
            xasprintf("exact fronts of random lattices of about %g points that are the front of every point", atof(argv[3]));
        struct bench_row row = bench_row_open(what);
        free(what);
        for (size_t m = 0; m < n; m++)
            if (models[m].desc->bound && (argc < 5 || strcmp(argv[4], models[m].desc->name) == 0))
                ok = compare_model(&models[m], atoi(argv[2]), atof(argv[3]), &row) && ok;
        bench_row_close(&row);
    } else {
        fprintf(stderr, "bench_search equal N POINTS [MODEL] | time [MODEL]\n");
        ok = false;
    }
    registry_release();
    return ok ? 0 : 1;
}
