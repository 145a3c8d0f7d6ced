#include <dse/linear_exp.h>

#include <assert.h>
#include <math.h>

/* The line that is nearest to exp on [from, to] in the mean square. */
static void least_squares(double from, double to, double *ret_slope, double *ret_offset)
{
    double width = to - from, middle = (from + to) / 2, mean = (exp(to) - exp(from)) / width;
    double moment = (to - middle - 1) * exp(to) - (from - middle - 1) * exp(from); /* of exp about the middle */
    double slope = 12 * moment / (width * width * width);
    *ret_slope = slope;
    *ret_offset = mean - slope * middle;
}

void dse_pieces_edges(double *ret, size_t n)
{
    static const double last_edge = -10;
    assert(n >= 2 && n <= DSE_PIECES_MAX);
    double lines = (double)n - 1;
    for (size_t i = 0; i < n; i++) {
        double k = lines - (double)i;
        ret[i] = last_edge * k * (k + 1) / 2 / (lines * (lines + 1) / 2);
    }
    ret[n - 1] = 0; /* not -0 */
}

void dse_pieces_init(struct dse_pieces *p, const double *edges, size_t n)
{
    assert(n >= 2 && n <= DSE_PIECES_MAX);
    *p = (struct dse_pieces){.n = n};
    p->edge[0] = edges[0];
    for (size_t i = 1; i < n; i++) {
        p->edge[i] = edges[i];
        least_squares(edges[i - 1], edges[i], &p->slope[i], &p->offset[i]);
    }
}

size_t dse_pieces_find(const struct dse_pieces *p, double x)
{
    size_t i = 0;
    for (size_t e = 0; e + 1 < p->n; e++) i += x > p->edge[e];
    return i;
}

double dse_pieces_exp(const struct dse_pieces *p, double x)
{
    size_t i = dse_pieces_find(p, x);
    return p->slope[i] * x + p->offset[i];
}
