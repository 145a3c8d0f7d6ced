/* The closed form of VEDA in TOML over that in C: check and estimate of the same random points, on one core. The model in C knows
 * what eviction costs in output, besides. Then points of a grid in its order, which a model in TOML evaluates in blocks.
 * To reach: at most 1. */
#include "bench.h"
#include "../tests/unit/model_points.h"
#include "../tests/unit/search_bed.h"
#include "toml_model/toml_model.h"

enum { PASSES = 7, POINTS = 500, REPEAT = 20 };

/* Of one point. */
static double time_of(const struct model *m, const char *point, void *params, void *metrics)
{
    const double start = cpu_ns();
    for (int i = 0; i < REPEAT; i++) {
        memcpy(params, point, m->desc->params_size);
        m->desc->resolve(params);
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

static void copy(const struct model *from, const void *a, const struct model *to, void *b)
{
    for (size_t i = 0; i < to->params.n; i++)
        field_set(&to->params.fields[i], b, field_get(schema_find(&from->params, to->params.fields[i].name), a));
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

static void compare_grids(struct bench_row *row)
{
    const double c = grid_ns("veda", false), toml = grid_ns("veda_toml", false), c_scan = grid_ns("veda", true),
                 toml_scan = grid_ns("veda_toml", true);
    printf("in grid order, rows: %.0f ns a point in C, %.0f in TOML; three objectives and checks: %.0f, %.0f\n", c, toml, c_scan,
           toml_scan);
    bench_part(row, "rows of a grid %.2f times", toml / c);
    bench_part(row, "three objectives of a stream %.2f times", toml_scan / c_scan);
}

int main(void)
{
    char *file = set_up(NULL) == 0 ? xasprintf("%s/examples/veda.toml", catalog_data_dir()) : NULL;
    if (!file || !toml_model_load(file, &diags)) return 1;
    const struct model *c = registry_find("veda"), *toml = registry_find("veda_toml");
    struct one o;
    if (!one_init(&o, c, NULL, 0)) return 1;
    char *in_c = xcalloc(POINTS, c->desc->params_size), *in_toml = xcalloc(POINTS, toml->desc->params_size);
    size_t n = 0;
    for (int trial = 0; trial < 400000 && n < (size_t)bench_size(POINTS, 20); trial++) {
        void *a = in_c + n * c->desc->params_size, *b = in_toml + n * toml->desc->params_size;
        if (!random_point(c, space_fixed(o.space), 0.1, a)) continue;
        copy(c, a, toml, b);
        if (!toml->desc->check(b)) n++;
    }
    if (n == 0) return 1;
    static double of_c[POINTS], of_toml[POINTS], ratio[POINTS];
    times_of(c, in_c, n, of_c);
    times_of(toml, in_toml, n, of_toml);
    for (size_t i = 0; i < n; i++) ratio[i] = of_toml[i] / of_c[i];
    qsort(of_c, n, sizeof *of_c, ascending);
    qsort(of_toml, n, sizeof *of_toml, ascending);
    qsort(ratio, n, sizeof *ratio, ascending);
    printf("medians: %.0f ns a point in C, %.0f in TOML, ratio %.2f\n", of_c[n / 2], of_toml[n / 2], ratio[n / 2]);
    struct bench_row row = bench_row_open("VEDA as a file in TOML over VEDA in C, the same points");
    bench_part(&row, "single points %.2f times the time", ratio[n / 2]);
    compare_grids(&row);
    bench_row_close(&row);
    free(in_c);
    free(in_toml);
    free(file);
    one_release(&o);
    return tear_down(NULL);
}
