/* Sampling: see dse/sampling.h. */
#include <dse/sampling.h>

#include <gsl/gsl_integration.h>
#include <gsl/gsl_interp.h>
#include <math.h>

const struct dse_param dse_sampling_params[] = {
    DSE_PARAM_I64(struct dse_sampling, positions_simulated, 1, DSE_POSITIONS_MAX,
                  "event level: cache lengths simulated to represent a whole generation or prompt", "ours"),
    DSE_PARAM_I64(struct dse_sampling, rows_simulated, 0, 1e9,
                  "event level: keys and values simulated per layer, in whole heads; the others are extrapolated; 0: all", "ours"),
    DSE_PARAM_F64(struct dse_sampling, stream_mib, "MiB", 0, 1e6,
                  "event level: part of a weight matrix simulated; the rest is extrapolated; 0: all", "ours"),
    DSE_PARAM_END,
};

/* Gauss's nodes for n points, rounded to whole numbers, as far from one end as from the other, each once. Fewer than there are
 * numbers. */
static void place_nodes(int64_t from, int64_t to, size_t n, int64_t *node)
{
    gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(n);
    for (size_t i = 0; i < n / 2; i++) {
        double x, w;
        gsl_integration_glfixed_point((double)from - 0.5, (double)to + 0.5, i, &x, &w, table);
        node[i] = (int64_t)(x + 0.5);
        if (node[i] < from) node[i] = from;
        if (i > 0 && node[i] <= node[i - 1]) node[i] = node[i - 1] + 1;
        node[n - 1 - i] = to - (node[i] - from);
    }
    if (n % 2 == 1) node[n / 2] = from + (to - from) / 2;
    gsl_integration_glfixed_table_free(table);
}

/* The weight of a node is the mean of its Lagrange polynomial: one there, zero at the others. */
static double mean_of_polynomial(int64_t from, int64_t to, size_t n, const int64_t *node, size_t which)
{
    double sum = 0;
    for (int64_t x = from; x <= to; x++) {
        double value = 1;
        for (size_t i = 0; i < n; i++)
            if (i != which) value *= (double)(x - node[i]) / (double)(node[which] - node[i]);
        sum += value;
    }
    return sum / (double)(to - from + 1);
}

size_t dse_positions(int64_t from, int64_t to, int64_t want, int64_t node[DSE_POSITIONS_MAX], double weight[DSE_POSITIONS_MAX])
{
    const size_t n = (size_t)want, all = (size_t)(to - from + 1);
    if (all <= n) {
        for (size_t i = 0; i < all; i++) {
            node[i] = from + (int64_t)i;
            weight[i] = 1 / (double)all;
        }
        return all;
    }
    place_nodes(from, to, n, node);
    for (size_t i = 0; i < n; i++) weight[i] = mean_of_polynomial(from, to, n, node, i);
    return n;
}

enum { SHORT = 64, SHORTER = 8 };

static void add_length(struct dse_lengths *l, int64_t positions, double weight)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].positions == positions) {
            l->at[i].weight += weight;
            return;
        }
    l->at[l->n++] = (struct dse_length){positions, weight};
}

static void add_nodes(struct dse_lengths *l, int64_t from, int64_t to, int64_t want, int64_t longest, double weight)
{
    const int64_t shorter = longest / SHORTER;
    int64_t node[DSE_POSITIONS_MAX] = {0};
    double share[DSE_POSITIONS_MAX];
    size_t n = dse_positions(from, to, want, node, share);
    for (size_t i = 0; i < n; i++) {
        double w = weight * share[i], beyond = (double)(node[i] - longest) / (double)(longest - shorter);
        if (beyond <= 0) {
            add_length(l, node[i], w);
        } else {
            add_length(l, longest, w * (1 + beyond));
            add_length(l, shorter, -w * beyond);
        }
    }
}

void dse_lengths_add(struct dse_lengths *l, int64_t from, int64_t to, int64_t want, int64_t longest, double weight)
{
    const double all = (double)(to - from + 1);
    if (from < SHORT && to > SHORT) {
        add_nodes(l, from, SHORT, want, longest, weight * (double)(SHORT - from + 1) / all);
        add_nodes(l, SHORT + 1, to, want, longest, weight * (double)(to - SHORT) / all);
    } else {
        add_nodes(l, from, to, want, longest, weight);
    }
}

int64_t dse_longest(int64_t rows, int64_t heads)
{
    const int64_t each = rows / (2 * heads), least = (int64_t)SHORT * SHORTER;
    if (rows == 0) return INT64_MAX;
    return each > least ? each : least;
}

/* ---- paces --------------------------------------------------------------------------------------------------------------- */

/* Between two entries along a straight line. */
static double amount_at(const double *s, const double *amount, size_t n, double when)
{
    const size_t i = gsl_interp_bsearch(s, when, 0, n - 1);
    const double span = s[i + 1] - s[i];
    return amount[i] + (span > 0 ? (amount[i + 1] - amount[i]) * fmin(1, (when - s[i]) / span) : 0);
}

double dse_pace(const double *s, const double *amount, size_t n, double period_s)
{
    double span = s[n - 1] - s[0];
    if (period_s > 0 && span > period_s) span = period_s * floor(span / period_s);
    return span / (amount_at(s, amount, n, s[0] + span) - amount[0]);
}

double dse_pace_error(const double *s, const double *amount, size_t n, double period_s)
{
    const double parts = n > 1 && period_s > 0 ? floor((s[n - 1] - s[0]) / period_s) : 0;
    if (parts < 2) return (double)INFINITY;
    double sum = 0, squares = 0, before = amount[0];
    for (int64_t k = 1; k <= (int64_t)parts; k++) {
        const double by = amount_at(s, amount, n, s[0] + (double)k * period_s), part = by - before;
        sum += part;
        squares += part * part;
        before = by;
    }
    const double mean = sum / parts, variance = fmax(0, squares / parts - mean * mean) * parts / (parts - 1);
    return sqrt(variance / parts) / mean;
}
