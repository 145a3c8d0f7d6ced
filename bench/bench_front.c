/* Fronts and hypervolumes against moocore 0.20, the best public C library for them.
 *
 * moocore is not at hand, so its published times stand in for it, in units of one pass over the data on the machine where they
 * were taken (3, 5 and 6 ms for a million points of 2, 3 and 4 objectives). Our times are in units of one pass here: the sum of
 * all numbers of the array, one after the other, so that each addition waits for the one before it. `ratio` is ours over theirs;
 * below 1 we are faster. `raw` is the ratio of the bare milliseconds, as if their machine were this one. Where moocore's time is
 * not published for a shape, the nearest one stands for it: shapes that are all front are compared with its sphere, the others
 * with its uniform points.
 *
 * For the long staircase (100,000 points) what is published is that a plain sorted array takes 80 times moocore's time: so the
 * plain array is measured here and divided by 80.
 */
#include "bench.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/front.h"
#include "base/xalloc.h"

enum { REPEAT = 3 };
static size_t n_points, n_stairs;

/* --- points --- */

static uint64_t random_state = 1;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)((random_state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static double normal(void)
{
    const double u = 1 - uniform(), v = uniform();
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

enum shape { UNIFORM, SPHERE, CONCAVE, TIES, DUPLICATES, ALL_EQUAL, CORRELATED, ANTI, LONG_STAIRS };

/* Distance 1 from the ideal's far corner (1, ..., 1), or from the ideal itself: two fronts, bent one way and the other. */
static void on_sphere(double *v, int m, bool concave)
{
    double sum = 0;
    for (int j = 0; j < m; j++) {
        v[j] = fabs(normal());
        sum += v[j] * v[j];
    }
    for (int j = 0; j < m; j++) v[j] = concave ? v[j] / sqrt(sum) : 1 - v[j] / sqrt(sum);
}

static void draw(enum shape shape, double *v, int m)
{
    const double common = normal();
    double sum = 0;
    if (shape == SPHERE || shape == CONCAVE || shape == DUPLICATES) {
        on_sphere(v, m, shape == CONCAVE);
        return;
    }
    for (int j = 0; j < m; j++) {
        switch (shape) {
        case TIES: v[j] = floor(16 * uniform()); break;
        case ALL_EQUAL: v[j] = 0.25; break;
        case CORRELATED: v[j] = common + 0.1 * normal(); break;
        case ANTI: v[j] = normal(); break;
        default: v[j] = uniform();
        }
        sum += v[j];
    }
    if (shape == ANTI) /* near a plane, a little off it */
        for (int j = 0; j < m; j++) v[j] += 0.1 * common - sum / m;
    if (shape == LONG_STAIRS) v[m - 1] = -v[m - 2];
}

static double *points_new(enum shape shape, size_t n, int m)
{
    double *values = xmalloc(n * (size_t)m * sizeof *values);
    random_state = UINT64_C(88172645463325252);
    for (size_t i = 0; i < n; i++) {
        double *v = values + i * (size_t)m;
        if (shape == DUPLICATES && i % 10)
            memcpy(v, v - m, (size_t)m * sizeof *v);
        else
            draw(shape, v, m);
    }
    return values;
}

/* --- measures --- */

/* One pass: the least of several. */
static double pass_ms(int m)
{
    double *values = points_new(UNIFORM, n_points, m), best = HUGE_VAL;
    for (int r = 0; r < bench_size(3 * REPEAT, 1); r++) {
        const double start = 1e3 * cpu_s();
        volatile double sink;
        double sum = 0;
        for (size_t i = 0; i < n_points * (size_t)m; i++) sum += values[i];
        sink = sum;
        (void)sink;
        best = fmin(best, 1e3 * cpu_s() - start);
    }
    free(values);
    return best;
}

static double front_ms(const double *values, size_t n, int m, size_t *ret_front)
{
    uint8_t *keep = xmalloc(n);
    double best = HUGE_VAL;
    for (int r = 0; r < bench_size(REPEAT, 1); r++) {
        const double start = 1e3 * cpu_s();
        *ret_front = front_compute(values, n, m, keep);
        best = fmin(best, 1e3 * cpu_s() - start);
    }
    free(keep);
    return best;
}

static double stream_ms(const double *values, size_t n, int m, size_t *ret_front)
{
    static const bool minimise[FRONT_OBJECTIVES_MAX] = {false};
    const uint64_t *ids;
    const double *kept;
    const double start = 1e3 * cpu_s();
    struct front *f = front_new(m, minimise);
    for (size_t i = 0; i < n; i++) front_add(f, i, values + i * (size_t)m);
    *ret_front = front_finish(f, &ids, &kept);
    front_free(f);
    return 1e3 * cpu_s() - start;
}

/* A plain sorted array as the staircase: what a long one makes quadratic. values in the order of the sweep. */
struct stair {
    double y, z;
};

static size_t place(const struct stair *stairs, size_t n, double y)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (stairs[middle].y <= y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int compare_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double plain_array_ms(const double *values, size_t n)
{
    double *sorted = xmalloc(3 * n * sizeof *sorted);
    struct stair *stairs = xmalloc(n * sizeof *stairs);
    const double start = 1e3 * cpu_s();
    size_t count = 0;
    memcpy(sorted, values, 3 * n * sizeof *sorted);
    qsort(sorted, n, 3 * sizeof *sorted, compare_first);
    for (size_t i = 0; i < n; i++) {
        const struct stair p = {sorted[3 * i + 1], sorted[3 * i + 2]};
        const size_t at = place(stairs, count, p.y);
        size_t end = at;
        if (at > 0 && stairs[at - 1].z <= p.z) continue;
        while (end < count && stairs[end].z >= p.z) end++;
        memmove(stairs + at + 1, stairs + end, (count - end) * sizeof *stairs);
        stairs[at] = p;
        count += 1 + at - end;
    }
    const double ms = 1e3 * cpu_s() - start;
    free(stairs);
    free(sorted);
    return ms;
}

static double hypervolume_ms(const double *values, size_t n, int m)
{
    static const double ref[] = {1, 1, 1, 1};
    double best = HUGE_VAL;
    volatile double sink;
    for (int r = 0; r < bench_size(n > 1000 ? REPEAT : 10 * REPEAT, 1); r++) {
        const double start = 1e3 * cpu_s();
        sink = hypervolume(values, n, m, ref);
        (void)sink;
        best = fmin(best, 1e3 * cpu_s() - start);
    }
    return best;
}

/* --- tables --- */

/* moocore's published times, ms, and its pass, by objectives. */
static const double their_pass[] = {0, 0, 3, 5, 6}, their_uniform[] = {0, 0, 62, 80, 264}, their_sphere[] = {0, 0, 61, 424, 2073};

static const struct {
    enum shape shape;
    const char *name;
    const double *theirs;
    double target;
} fronts[] = {
    {UNIFORM, "uniform", their_uniform, 0.15},    {SPHERE, "sphere", their_sphere, 0.6},
    {CONCAVE, "concave", their_sphere, 0.6},      {TIES, "16 levels", their_uniform, 1},
    {DUPLICATES, "10 of each", their_sphere, 1},  {ALL_EQUAL, "all equal", their_sphere, 1},
    {CORRELATED, "correlated", their_uniform, 1}, {ANTI, "anti", their_sphere, 1},
};

/* False: a front in a stream is another. */
static bool bench_fronts(const double *pass)
{
    bool same = true;
    printf("front of %zu points\n%2s %-11s %8s %8s %8s %8s %8s %7s %7s %7s %9s\n", n_points, "m", "shape", "front", "ms", "pass ms",
           "passes", "moocore", "ratio", "raw", "goal", "stream ms");
    struct bench_row row = bench_row_open("front of a million points, 3 objectives, over moocore's published passes over the data");
    for (int m = 2; m <= 4; m++)
        for (size_t k = 0; k < sizeof fronts / sizeof *fronts; k++) {
            double *values = points_new(fronts[k].shape, n_points, m);
            size_t front, streamed;
            const double ms = front_ms(values, n_points, m, &front), theirs = fronts[k].theirs[m] / their_pass[m];
            const double stream = stream_ms(values, n_points, m, &streamed);
            printf("%2d %-11s %8zu %8.2f %8.2f %8.1f %8.1f %7.2f %7.2f %7.2f %9.1f%s\n", m, fronts[k].name, front, ms, pass[m],
                   ms / pass[m], theirs, ms / pass[m] / theirs, ms / fronts[k].theirs[m], fronts[k].target, stream,
                   front == streamed ? "" : "  STREAM DIFFERS");
            same = same && front == streamed;
            if (m == 3 && (fronts[k].shape == UNIFORM || fronts[k].shape == SPHERE))
                bench_part(&row, "%s %.1f ms: %.2f times the time", fronts[k].shape == SPHERE ? "all on a sphere" : "uniform", ms,
                           ms / pass[m] / theirs);
            fflush(stdout);
            free(values);
        }
    bench_row_close(&row);
    return same;
}

static void bench_long_stairs(void)
{
    double *values = points_new(LONG_STAIRS, n_stairs, 3);
    size_t front;
    const double ms = front_ms(values, n_stairs, 3, &front), plain = plain_array_ms(values, n_stairs);
    printf("\nlong staircase, %zu points, 3 objectives\nfront %zu, %.2f ms; "
           "plain array %.1f ms, so moocore about %.1f ms: ratio %.2f (at most 3)\n",
           n_stairs, front, ms, plain, plain / 80, ms / (plain / 80));
    free(values);
}

/* Ten times the points: n log n takes 12 to 13 times as long, with some more once they outgrow the cache; n^2 a hundred times. */
static void bench_growth(void)
{
    static const struct {
        int m;
        enum shape shape;
        const char *name;
    } rows[] = {{2, SPHERE, "sphere"}, {3, SPHERE, "sphere"}, {3, LONG_STAIRS, "long staircase"}, {4, SPHERE, "sphere"}};
    printf("\ngrowth from %zu to %zu points\n", n_points / 10, n_points);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double *values = points_new(rows[k].shape, n_points, rows[k].m);
        size_t front;
        const double few = front_ms(values, n_points / 10, rows[k].m, &front), many = front_ms(values, n_points, rows[k].m, &front);
        printf("%2d %-14s %8.2f ms %8.2f ms %6.1fx\n", rows[k].m, rows[k].name, few, many, many / few);
        free(values);
    }
}

static void bench_hypervolume(const double *pass)
{
    static const struct {
        int m;
        size_t n;
        double theirs;
    } rows[] = {{3, 1000, 0.14}, {3, 10000, 2.0}, {4, 1000, 1.1}, {4, 10000, 45}};
    static const enum shape shapes[] = {SPHERE, CONCAVE};
    printf("\nhypervolume of a front\n%2s %-8s %8s %8s %8s %8s %8s %7s %7s %7s\n", "m", "shape", "points", "ms", "pass ms",
           "passes", "moocore", "ratio", "raw", "goal");
    for (size_t s = 0; s < 2; s++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            const int m = rows[k].m;
            double *values = points_new(shapes[s], rows[k].n, m);
            const double ms = hypervolume_ms(values, rows[k].n, m), theirs = rows[k].theirs / their_pass[m];
            printf("%2d %-8s %8zu %8.3f %8.2f %8.3f %8.3f %7.2f %7.2f %7.2f\n", m, shapes[s] == SPHERE ? "sphere" : "concave",
                   rows[k].n, ms, pass[m], ms / pass[m], theirs, ms / pass[m] / theirs, ms / rows[k].theirs, 1.0);
            free(values);
        }
}

int main(void)
{
    n_points = (size_t)bench_size(1000000, 10000);
    n_stairs = n_points / 10;
    double pass[5] = {0};
    for (int m = 2; m <= 4; m++) pass[m] = pass_ms(m);
    const bool same = bench_fronts(pass);
    bench_long_stairs();
    bench_growth();
    bench_hypervolume(pass);
    return same ? 0 : 1;
}
