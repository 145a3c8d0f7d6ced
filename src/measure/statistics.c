#include "measure/meter.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* The standard deviation of a normal distribution over its median absolute deviation. */
static const double SIGMA_OF_MAD = 1.4826;
static const double FAR_SIGMAS = 5, FAR_SHARE = 0.02;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of values in order. */
static double median_of(const double *v, size_t n)
{
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* The median distance of v[0..n) from `middle`. */
static double deviation(const double *v, size_t n, double middle)
{
    double *far = xcalloc(n, sizeof *far);
    for (size_t i = 0; i < n; i++) far[i] = fabs(v[i] - middle);
    qsort(far, n, sizeof *far, by_size);
    const double d = median_of(far, n);
    free(far);
    return d;
}

struct meter_summary meter_summarize(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_size);
    struct meter_summary s = {.n = n, .median = median_of(values, n)};
    const double reach = fmax(FAR_SIGMAS * SIGMA_OF_MAD * deviation(values, n, s.median), FAR_SHARE * s.median);
    size_t first = 0, end = n;
    while (first < end && values[first] < s.median - reach) first++;
    while (end > first && values[end - 1] > s.median + reach) end--;
    s.far_out = n - (end - first);
    if (s.median > 0) s.spread = SIGMA_OF_MAD * deviation(values + first, end - first, s.median) / s.median;
    return s;
}
