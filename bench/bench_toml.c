/* The closed form of VEDA in TOML over that in C: check and estimate of the same random points, on one core. The model in C knows
 * what eviction costs in output, besides. To reach: at most 3. */
#include "bench.h"
#include "../tests/unit/model_points.h"
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
    bench_part(&row, "%.2f times the time", ratio[n / 2]);
    bench_row_close(&row);
    free(in_c);
    free(in_toml);
    free(file);
    one_release(&o);
    return tear_down(NULL);
}
