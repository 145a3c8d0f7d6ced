#include "attention/power_law.h"

#include "base/xalloc.h"

#include <gsl/gsl_fit.h>

#include <math.h>
#include <stdlib.h>

enum { POINTS_MIN = 3 };

bool power_law_fit(const double *x, const double *y, size_t n, struct power_law *ret)
{
    if (n < POINTS_MIN) return false;
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0 && y[i] > 0 && isfinite(x[i]) && isfinite(y[i]))) return false;
        same = same && x[i] == x[0];
    }
    if (same) return false;
    double *u = xcalloc(n, sizeof *u), *v = xcalloc(n, sizeof *v);
    for (size_t i = 0; i < n; i++) {
        u[i] = log(x[i]);
        v[i] = log(y[i]);
    }
    double c0, c1, cov00, cov01, cov11, squares;
    gsl_fit_linear(u, 1, v, 1, n, &c0, &c1, &cov00, &cov01, &cov11, &squares); /* never fails */
    *ret = (struct power_law){
        .a = exp(c0), .b = c1, .a_se = exp(c0) * sqrt(cov00), .b_se = sqrt(cov11), .residual = sqrt(squares / (double)(n - 2))};
    free(u);
    free(v);
    return true;
}
