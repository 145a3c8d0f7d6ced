/* Laws y = a x^b, by least squares over the logarithms (GSL), with standard errors. */
#ifndef DSE_ATTENTION_POWER_LAW_H
#define DSE_ATTENTION_POWER_LAW_H

#include <stdbool.h>
#include <stddef.h>

struct power_law {
    double a, b;       /* y = a x^b */
    double a_se, b_se; /* standard errors; that of a to first order: a times that of log(a) */
    double residual;   /* standard deviation of log(y) around the law, n - 2 degrees of freedom */
};

/* False, and *ret untouched, when there is no such law: fewer than three points, x or y not positive, all x the same. */
bool power_law_fit(const double *x, const double *y, size_t n, struct power_law *ret);

#endif
