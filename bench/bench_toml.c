/* The closed form of a model in TOML, VEDA, over one in C, LAD: check and estimate of random points, on one core. Then points
 * of a grid, in its order and any, which a model in TOML evaluates in blocks. To reach, of VEDA: 150 ns a point with its row, 300
 * of any points, and 60 with three objectives. */
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

/* ---- points of a grid -------------------------------------------------------------------------------------------------------- */

static const char grid[] = "pe_rows = [4, 8, 12, 16]\npe_columns = [4, 8, 12, 16]\npe_copies = [1, 2, 4, 8]\n"
                           "clock_ghz = { from = 0.5, to = 2, points = 16 }\nbuffer_kib = [64, 96, 128, 192, 256, 384, 512, 1024]\n"
                           "context = { from = 512, to = 4096, points = 8 }\nbandwidth_gbs = { from = 16, to = 256, points = 16 }\n"
                           "eviction = \"none\"\n[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\nenergy_mj = \"min\"\n";

enum { BLOCK = 4096, COLUMNS = 3 };

/* In which way points are asked for. */
enum way {
    ROWS,      /* in the order of the grid, each with its row */
    SCAN,      /* in its order, three objectives and checks */
    ANY_POINTS /* any points, each with its row */
};

struct asking {
    struct evaluator *evaluator;
    union cell *cells;
    struct row *rows;
    uint64_t points[BLOCK], state;
    struct point_scan scan;
};

static bool ask(struct asking *a, enum way way, uint64_t first, uint64_t all)
{
    if (way == ROWS) return evaluator_run(a->evaluator, first, BLOCK, a->cells, a->rows);
    if (way == SCAN) return evaluator_scan(a->evaluator, first, BLOCK, &a->scan);
    for (int i = 0; i < BLOCK; i++) {
        a->state = a->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        a->points[i] = (a->state >> 33) % all;
    }
    return evaluator_run_points(a->evaluator, a->points, BLOCK, a->cells, a->rows);
}

/* CPU time of a point. */
static double grid_ns(const char *model, enum way way)
{
    static const char *const objectives[COLUMNS] = {"tokens_per_s", "area_mm2", "energy_mj"};
    static struct asking a;
    char *text = xasprintf("[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[params]\n%s", model, grid);
    struct search_bed b;
    if (!open_search(&b, catalog_data_dir(), text)) abort();
    size_t n_columns, columns[COLUMNS];
    space_columns(b.spaces[0], &n_columns);
    for (int i = 0; i < COLUMNS; i++) columns[i] = space_column(b.spaces[0], objectives[i]);
    a.evaluator = evaluator_new(b.spaces[0], FIDELITY_CLOSED_FORM, NULL);
    a.cells = xcalloc((size_t)BLOCK * n_columns, sizeof *a.cells);
    a.rows = xcalloc(BLOCK, sizeof *a.rows);
    double *values = xcalloc((size_t)BLOCK * COLUMNS, sizeof *values);
    a.scan = (struct point_scan){.columns = columns, .n_columns = COLUMNS, .values = values, .rows = a.rows};
    const uint64_t points = (uint64_t)bench_size(1 << 20, 1 << 13);
    const double start = cpu_ns();
    for (uint64_t i = 0; i < points; i += BLOCK)
        if (!ask(&a, way, i, points)) abort();
    const double ret = (cpu_ns() - start) / (double)points;
    evaluator_free(a.evaluator);
    free(a.cells);
    free(a.rows);
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
    const double c = single_ns("lad"), single = single_ns("veda"), rows = grid_ns("veda", ROWS), scan = grid_ns("veda", SCAN),
                 any = grid_ns("veda", ANY_POINTS);
    printf(
        "VEDA, ns a point: alone %.0f, rows of a grid %.0f, of any of its points %.0f, three objectives and checks %.0f; LAD alone "
        "%.0f\n",
        single, rows, any, scan, c);
    struct bench_row row = bench_row_open("a point of VEDA in TOML over one of LAD in C");
    bench_part(&row, "alone %.2f times", single / c);
    bench_part(&row, "rows of a grid %.2f times", rows / c);
    bench_part(&row, "rows of any points %.2f times", any / c);
    bench_part(&row, "three objectives of a stream %.2f times", scan / c);
    bench_row_close(&row);
    return tear_down(NULL);
}
