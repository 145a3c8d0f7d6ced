/* Time of every model's closed form: resolve, check and estimate of a point, on one core, over random feasible points. CPU
 * nanoseconds a point, the best of several passes: near the defaults, anywhere in the ranges, and of the slowest hundredth of the
 * latter. To reach: under 1 us. */
#include "bench.h"
#include "../tests/unit/model_points.h"

enum { PASSES = 5, POINTS = 2000, TRIALS = 400000, REPEAT = 20 };

/* Up to POINTS feasible points. */
static size_t draw(const struct model *m, const void *base, double share, char *points)
{
    size_t n = 0, size = m->desc->params_size;
    for (int trial = 0; trial < TRIALS && n < (size_t)bench_size(POINTS, 20); trial++)
        if (random_point(m, base, share, points + n * size)) n++;
    return n;
}

static void evaluate(const struct model *m, const void *point, void *params, void *metrics)
{
    memcpy(params, point, m->desc->params_size); /* as a sweep does */
    if (m->desc->resolve) m->desc->resolve(params);
    if (m->desc->check && m->desc->check(params)) abort();
    m->desc->estimate(params, metrics, NULL);
}

struct scratch {
    void *params, *metrics;
    double ns[POINTS]; /* of each point, the best pass */
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct model *m, const char *points, size_t n, struct scratch *s, double *ret_mean, double *ret_slow)
{
    for (size_t i = 0; i < n; i++) s->ns[i] = INFINITY;
    for (int pass = 0; pass < bench_size(PASSES, 1); pass++)
        for (size_t i = 0; i < n; i++) {
            double start = cpu_ns();
            for (int k = 0; k < REPEAT; k++) evaluate(m, points + i * m->desc->params_size, s->params, s->metrics);
            s->ns[i] = fmin(s->ns[i], (cpu_ns() - start) / REPEAT);
        }
    *ret_mean = 0;
    for (size_t i = 0; i < n; i++) *ret_mean += s->ns[i] / (double)n;
    qsort(s->ns, n, sizeof *s->ns, ascending);
    *ret_slow = s->ns[n - 1 - n / 100];
}

static void bench_model(const struct model *m, struct bench_row *row)
{
    struct one o;
    if (!one_init(&o, m, NULL, 0)) abort();
    static struct scratch s;
    char *points = xmalloc(POINTS * m->desc->params_size);
    s.params = xmalloc(m->desc->params_size);
    s.metrics = xmalloc(m->desc->metrics_size);
    double near, far, slow;
    size_t n = draw(m, space_fixed(o.space), 0.1, points);
    if (n == 0) abort();
    measure(m, points, n, &s, &near, &slow);
    n = draw(m, space_fixed(o.space), 0.5, points);
    printf("%-16s %14.0f", m->desc->name, near);
    bench_part(row, "%s %.0f ns", m->desc->name, near);
    if (n) {
        measure(m, points, n, &s, &far, &slow);
        printf(" %14.0f %14.0f\n", far, slow);
    } else {
        printf(" %14s\n", "none is feasible");
    }
    free(points);
    free(s.params);
    free(s.metrics);
    one_release(&o);
}

int main(void)
{
    if (set_up(NULL) != 0) return 1;
    size_t n;
    const struct model *models = registry_models(&n);
    printf("%-16s %14s %14s %14s\n", "ns a point", "near defaults", "anywhere", "slowest 1 %");
    struct bench_row row =
        bench_row_open("closed forms of random points near the defaults, of LLMs of all kinds, a point and core");
    for (size_t m = 0; m < n; m++) bench_model(&models[m], &row);
    bench_row_close(&row);
    return tear_down(NULL);
}
