#include "attention/surface_heads.h"

#include "base/xalloc.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void surface_layer_weights(const int32_t *ids, size_t n, size_t layers, double *ret)
{
    for (size_t i = 0; i < n; i++) ret[i] = 0;
    for (int32_t layer = 0; layer < (int32_t)layers; layer++) {
        int32_t nearest = INT32_MAX, alike = 0;
        for (size_t i = 0; i < n; i++) {
            const int32_t away = abs(ids[i] - layer);
            if ((ids[i] == 0 && layer != 0 && n > 1) || away > nearest) continue;
            alike = away == nearest ? alike + 1 : 1;
            nearest = away;
        }
        for (size_t i = 0; i < n; i++)
            if (abs(ids[i] - layer) == nearest && !(ids[i] == 0 && layer != 0 && n > 1)) ret[i] += 1.0 / alike;
    }
}

/* ---- statistics ---------------------------------------------------------------------------------------------------------- */

struct weighed {
    double v, weight;
};

static int compare_weighed(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return x->v < y->v ? -1 : x->v > y->v;
}

static double percentile(const struct weighed *sorted, size_t n, double whole, double share)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i].weight;
        if (sum >= share * whole * (1 - 1e-12)) return sorted[i].v;
    }
    return sorted[n - 1].v;
}

/* The variance of the mean where clusters of numbers, the same head's or of the same end, are drawn at random. */
static double cluster_variance(const double *v, const struct surface_sample *of, size_t n, bool by_end, double mean)
{
    size_t most = 0, clusters = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t c = by_end ? of[i].end : of[i].head;
        if (c > most) most = c;
    }
    double *weight = xcalloc(2 * (most + 1), sizeof *weight), *sum = weight + most + 1;
    double whole = 0, squares = 0, spread = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t c = by_end ? of[i].end : of[i].head;
        weight[c] += of[i].weight;
        sum[c] += of[i].weight * (v[i] - mean);
    }
    for (size_t c = 0; c <= most; c++) {
        if (!(weight[c] > 0)) continue;
        clusters++;
        whole += weight[c];
        squares += weight[c] * weight[c];
        spread += sum[c] * sum[c] / weight[c];
    }
    free(weight);
    if (by_end && clusters < 2) return 0; /* one end says nothing of others */
    const double few = by_end ? (double)clusters / ((double)clusters - 1) : 1;
    return few * spread / whole * squares / whole / whole;
}

void surface_stats(const double *v, const struct surface_sample *of, size_t n, double ret[DSE_QUALITY_STATS])
{
    struct weighed *sorted = xcalloc(n, sizeof *sorted);
    double whole = 0, mean = 0, spread = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct weighed){v[i], of[i].weight};
        whole += of[i].weight;
        mean += of[i].weight * v[i];
    }
    mean /= whole;
    for (size_t i = 0; i < n; i++) spread += of[i].weight * (v[i] - mean) * (v[i] - mean);
    qsort(sorted, n, sizeof *sorted, compare_weighed);
    ret[DSE_Q_MEAN] = mean;
    ret[DSE_Q_SD] = sqrt(spread / whole);
    ret[DSE_Q_SE] = sqrt(cluster_variance(v, of, n, false, mean) + cluster_variance(v, of, n, true, mean));
    ret[DSE_Q_P10] = percentile(sorted, n, whole, 0.1);
    ret[DSE_Q_P50] = percentile(sorted, n, whole, 0.5);
    ret[DSE_Q_P90] = percentile(sorted, n, whole, 0.9);
    free(sorted);
}

/* ---- known means --------------------------------------------------------------------------------------------------------- */

/* The dual: weights are d exp(l z) over their sum, l minimises log sum d exp(l z) + ridge |l|^2 / 2. */
struct dual {
    size_t n, known;
    const double *d;             /* sum up to 1 */
    double *z;                   /* [known][n]: x / known - 1 */
    double ridge, *weight, *off; /* at l: of each head; mean_w / known - 1 */
};

static double dual_at(const struct dual *m, const double *l)
{
    double most = -(double)INFINITY, sum = 0, squares = 0;
    for (size_t h = 0; h < m->n; h++) {
        m->weight[h] = 0;
        for (size_t k = 0; k < m->known; k++) m->weight[h] += l[k] * m->z[k * m->n + h];
        most = fmax(most, m->weight[h]);
    }
    for (size_t h = 0; h < m->n; h++) sum += m->weight[h] = m->d[h] * exp(m->weight[h] - most);
    for (size_t h = 0; h < m->n; h++) m->weight[h] /= sum;
    for (size_t k = 0; k < m->known; k++) {
        m->off[k] = 0;
        for (size_t h = 0; h < m->n; h++) m->off[k] += m->weight[h] * m->z[k * m->n + h];
        squares += l[k] * l[k];
    }
    return most + log(sum) + 0.5 * m->ridge * squares;
}

/* Newton's step from l, into *step. The size of the gradient. */
static double newton(const struct dual *m, const double *l, gsl_matrix *curvature, gsl_vector *step)
{
    double size = 0;
    for (size_t i = 0; i < m->known; i++) {
        for (size_t k = 0; k <= i; k++) {
            double sum = 0;
            for (size_t h = 0; h < m->n; h++)
                sum += m->weight[h] * (m->z[i * m->n + h] - m->off[i]) * (m->z[k * m->n + h] - m->off[k]);
            gsl_matrix_set(curvature, i, k, sum + (i == k ? m->ridge : 0));
            gsl_matrix_set(curvature, k, i, gsl_matrix_get(curvature, i, k));
        }
        const double slope = m->off[i] + m->ridge * l[i];
        gsl_vector_set(step, i, -slope);
        size = fmax(size, fabs(slope));
    }
    gsl_linalg_cholesky_decomp1(curvature); /* positive by the ridge */
    gsl_linalg_cholesky_svx(curvature, step);
    return size;
}

static void minimise(const struct dual *m)
{
    enum { STEPS_MAX = 200, HALVINGS_MAX = 40 };
    double *l = xcalloc(2 * m->known, sizeof *l), *next = l + m->known;
    gsl_matrix *curvature = gsl_matrix_alloc(m->known, m->known);
    gsl_vector *step = gsl_vector_alloc(m->known);
    double at = dual_at(m, l);
    for (int i = 0; i < STEPS_MAX && newton(m, l, curvature, step) > 1e-13; i++) {
        double there = at, share = 1;
        for (int k = 0; k < HALVINGS_MAX; k++, share /= 2) {
            for (size_t j = 0; j < m->known; j++) next[j] = l[j] + share * gsl_vector_get(step, j);
            there = dual_at(m, next);
            if (there < at) break;
        }
        if (!(there < at)) break; /* as near as the arithmetic comes */
        memcpy(l, next, m->known * sizeof *l);
        at = there;
    }
    dual_at(m, l);
    gsl_matrix_free(curvature);
    gsl_vector_free(step);
    free(l);
}

static void off(const struct dual *m, double *ret_mean, double *ret_worst)
{
    *ret_mean = *ret_worst = 0;
    for (size_t k = 0; k < m->known; k++) {
        *ret_mean += fabs(m->off[k]) / (double)m->known;
        *ret_worst = fmax(*ret_worst, fabs(m->off[k]));
    }
}

static double alike(const double *w, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += w[i];
        squares += w[i] * w[i];
    }
    return sum * sum / squares;
}

void surface_match_heads(const double *d, size_t n, const double *x, const double *known, size_t n_known, double *ret,
                         struct surface_match *ret_match)
{
    double whole = 0;
    double *share = xcalloc(n, sizeof *share), *z = xcalloc(n * n_known + 1, sizeof *z), *o = xcalloc(n_known + 1, sizeof *o);
    for (size_t h = 0; h < n; h++) whole += d[h];
    for (size_t h = 0; h < n; h++) share[h] = d[h] / whole;
    for (size_t i = 0; i < n * n_known; i++) z[i] = x[i] / known[i / n] - 1;
    const double heads = alike(d, n);
    const struct dual m = {n, n_known, share, z, heads * SURFACE_TOLERANCE * SURFACE_TOLERANCE, ret, o};
    double *zero = xcalloc(n_known + 1, sizeof *zero);
    *ret_match = (struct surface_match){.known = n_known, .heads_before = heads};
    dual_at(&m, zero);
    off(&m, &ret_match->mean_before, &ret_match->worst_before);
    if (n_known) minimise(&m);
    off(&m, &ret_match->mean_after, &ret_match->worst_after);
    ret_match->heads_after = alike(ret, n);
    free(zero);
    free(o);
    free(z);
    free(share);
}
