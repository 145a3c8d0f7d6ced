/* The closed form of a model in TOML, VEDA, over one in C, LAD: check and estimate of random points, on one core. Then points
 * of a grid in its order, which a model in TOML evaluates in blocks. To reach, of VEDA: 150 ns a point with its row, 60 with
 * three objectives. */
#include "bench.h"
#include "../tests/unit/model_points.h"
#include "../tests/unit/search_bed.h"

enum { PASSES = 7, POINTS = 500, REPEAT = 20 };

/* Of one point. */
static double time_of(const struct model *m, const char *point, void *params, void *metrics)
{
    const double start = cpu_ns();
    for (int i = 0; i < REPEAT; i++) {
        memcpy(params, point, m->desc->params_size);
        if (m->desc->resolve) m->desc->resolve(params);
        if (m->desc->check(params)) abort();
        m->desc->estimate(params, metrics, NULL);
    }
    return (cpu_ns() - start) / REPEAT;
}

static void times_of(const struct model *m, const char *points, size_t n, double *ret)
{
    void *params = xmalloc(m->desc->params_size), *metrics = xmalloc(m->desc->metrics_size);
    for (size_t i = 0; i < n; i++) ret[i] = INFINITY;
    for (int pass = 0; pass < bench_size(PASSES, 1); pass++)
        for (size_t i = 0; i < n; i++) ret[i] = fmin(ret[i], time_of(m, points + i * m->desc->params_size, params, metrics));
    free(params);
    free(metrics);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- points of a grid, in its order ----------------------------------------------------------------------------------------- */

static const char grid[] = "pe_rows = [4, 8, 12, 16]\npe_columns = [4, 8, 12, 16]\npe_copies = [1, 2, 4, 8]\n"
                           "clock_ghz = { from = 0.5, to = 2, points = 16 }\nbuffer_kib = [64, 96, 128, 192, 256, 384, 512, 1024]\n"
                           "context = { from = 512, to = 4096, points = 8 }\nbandwidth_gbs = { from = 16, to = 256, points = 16 }\n"
                           "eviction = \"none\"\n[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\nenergy_mj = \"min\"\n";

/* CPU time of a point: with its row, and (scan) with three objectives and checks alone. */
static double grid_ns(const char *model, bool scan)
{
    enum { BLOCK = 4096, COLUMNS = 3 };
    static const char *const objectives[COLUMNS] = {"tokens_per_s", "area_mm2", "energy_mj"};
    char *text = xasprintf("[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[params]\n%s", model, grid);
    struct search_bed b;
    if (!open_search(&b, catalog_data_dir(), text)) abort();
    size_t n_columns, columns[COLUMNS];
    space_columns(b.spaces[0], &n_columns);
    for (int i = 0; i < COLUMNS; i++) columns[i] = space_column(b.spaces[0], objectives[i]);
    struct evaluator *e = evaluator_new(b.spaces[0], FIDELITY_CLOSED_FORM, NULL);
    union cell *cells = xcalloc((size_t)BLOCK * n_columns, sizeof *cells);
    struct row *rows = xcalloc(BLOCK, sizeof *rows);
    double *values = xcalloc((size_t)BLOCK * COLUMNS, sizeof *values);
    const struct point_scan what = {.columns = columns, .n_columns = COLUMNS, .values = values, .rows = rows};
    const uint64_t points = (uint64_t)bench_size(1 << 20, 1 << 13);
    const double start = cpu_ns();
    for (uint64_t i = 0; i < points; i += BLOCK)
        if (!(scan ? evaluator_scan(e, i, BLOCK, &what) : evaluator_run(e, i, BLOCK, cells, rows))) abort();
    const double ret = (cpu_ns() - start) / (double)points;
    evaluator_free(e);
    free(cells);
    free(rows);
    free(values);
    close_search(&b);
    free(text);
    return ret;
}

/* The median of feasible points. */
static double single_ns(const char *model)
{
    const struct model *m = registry_find(model);
    struct one o;
    if (!one_init(&o, m, NULL, 0)) abort();
    char *points = xcalloc(POINTS, m->desc->params_size);
    size_t n = 0;
    for (int trial = 0; trial < 400000 && n < (size_t)bench_size(POINTS, 20); trial++)
        n += random_point(m, space_fixed(o.space), 0.1, points + n * m->desc->params_size);
    if (n == 0) abort();
    static double ns[POINTS];
    times_of(m, points, n, ns);
    qsort(ns, n, sizeof *ns, ascending);
    free(points);
    one_release(&o);
    return ns[n / 2];
}

int main(void)
{
    if (set_up(NULL) != 0) return 1;
    const double c = single_ns("lad"), single = single_ns("veda"), rows = grid_ns("veda", false), scan = grid_ns("veda", true);
    printf("VEDA, ns a point: alone %.0f, rows of a grid %.0f, three objectives and checks %.0f; LAD alone %.0f\n", single, rows,
           scan, c);
    struct bench_row row = bench_row_open("a point of VEDA in TOML over one of LAD in C");
    bench_part(&row, "alone %.2f times", single / c);
    bench_part(&row, "rows of a grid %.2f times", rows / c);
    bench_part(&row, "three objectives of a stream %.2f times", scan / c);
    bench_row_close(&row);
    return tear_down(NULL);
}
