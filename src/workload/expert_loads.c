/* Profiles of expert loads. The closed form sums over all experts of all layers millions of times a second: the sum is a Gauss
 * quadrature whose nodes are made once. */
#include "workload/expert_loads.h"

#include "base/xalloc.h"

#include <gsl/gsl_eigen.h>
#include <dse/num.h>
#include <math.h>
#include <stdlib.h>

enum { NODES = 16, LAYERS_MAX = 1024, EXPERTS_MAX = 65536 };

struct dse_expert_loads {
    struct dse_entry entry;
    char *name, *source; /* owned; entry borrows them */
    size_t layers, experts;
    double *share;   /* of a layer's choices: by layer, expert */
    double *fullest; /* by experts of a chip, for those that a number of chips leaves; else 0 */
    double largest;
    int nodes;
    double node[NODES], weight[NODES]; /* shares, and how many of all choices they stand for */
    struct dse_measured *measured;
};

/* ---- building ------------------------------------------------------------------------------------------------------------ */

static bool check_rows(const struct expert_loads_row *rows, size_t n, size_t experts, struct row_fault *ret)
{
    if (n == 0) return row_fault(ret, ROW_NONE, NULL, "no rows");
    for (size_t i = 0; i < n; i++) {
        const struct expert_loads_row *r = &rows[i], *first = &rows[i - i % experts];
        if (!(r->layer >= 0 && r->layer < LAYERS_MAX && r->layer == floor(r->layer)))
            return row_fault(ret, i, "layer", "layer %g is not a whole number from 0 to %d", r->layer, LAYERS_MAX - 1);
        if (!(r->load >= 0)) return row_fault(ret, i, "load", "load %g is below 0", r->load);
        if (r == first && i > 0 && r->layer <= rows[i - 1].layer)
            return row_fault(ret, i, "layer", "layer %g does not grow (the rows before have %g)", r->layer, rows[i - 1].layer);
        if (r->layer != first->layer || r->expert != (double)(i % experts))
            return row_fault(ret, i, r->layer != first->layer ? "layer" : "expert",
                             "layer %g, expert %g stand where %g, %zu should: all layers have the experts 0 to %zu of the first",
                             r->layer, r->expert, first->layer, i % experts, experts - 1);
    }
    if (n % experts)
        return row_fault(ret, n - 1, "expert", "ends inside of layer %g, which needs %zu rows", rows[n - 1].layer, experts);
    return true;
}

static bool set_shares(struct dse_expert_loads *l, const struct expert_loads_row *rows, struct row_fault *ret)
{
    l->share = xcalloc(l->layers * l->experts, sizeof *l->share);
    for (size_t layer = 0; layer < l->layers; layer++) {
        const size_t first = layer * l->experts;
        double sum = 0;
        for (size_t i = 0; i < l->experts; i++) sum += rows[first + i].load;
        if (!(sum > 0 && isfinite(sum))) return row_fault(ret, first, "load", "layer %g has no loads", rows[first].layer);
        for (size_t i = 0; i < l->experts; i++) l->largest = dse_max(l->largest, l->share[first + i] = rows[first + i].load / sum);
    }
    return true;
}

static double fullest(const struct dse_expert_loads *l, size_t each)
{
    double all = 0;
    for (size_t layer = 0; layer < l->layers; layer++) {
        double most = 0;
        for (size_t first = 0; first < l->experts; first += each) {
            double sum = 0;
            for (size_t i = first; i < first + each && i < l->experts; i++) sum += l->share[layer * l->experts + i];
            most = dse_max(most, sum);
        }
        all += most;
    }
    return all / (double)l->layers;
}

static void set_fullest(struct dse_expert_loads *l)
{
    l->fullest = xcalloc(l->experts + 1, sizeof *l->fullest);
    for (size_t chips = 1; chips <= l->experts; chips++) {
        const size_t each = (l->experts + chips - 1) / chips;
        if (!(l->fullest[each] > 0)) l->fullest[each] = fullest(l, each);
    }
}

/* ---- the quadrature ------------------------------------------------------------------------------------------------------ */

/* Polynomials that are orthogonal under the shares as weights at their logarithms: of their recurrence the coefficients (Gautschi,
 * Orthogonal Polynomials, 2004, Sec. 2.2, Stieltjes). Returns how many there are. */
static int recur(const double *x, const double *w, size_t n, double a[NODES], double b[NODES])
{
    const double nothing = 1e-20;
    double *p = xcalloc(2 * n + 1, sizeof *p), *last = p + n, before = 0;
    for (size_t i = 0; i < n; i++) p[i] = 1;
    int k = 0;
    for (; k < NODES; k++) {
        double norm = 0, mean = 0;
        for (size_t i = 0; i < n; i++) {
            norm += w[i] * p[i] * p[i];
            mean += w[i] * p[i] * p[i] * x[i];
        }
        if (!(norm > nothing)) break;
        a[k] = mean / norm;
        b[k] = k > 0 ? norm / before : 0;
        before = norm;
        for (size_t i = 0; i < n; i++) {
            const double next = (x[i] - a[k]) * p[i] - b[k] * last[i];
            last[i] = p[i];
            p[i] = next;
        }
    }
    free(p);
    return k;
}

/* Golub and Welsch 1969. */
static void set_nodes(struct dse_expert_loads *l)
{
    const size_t n = l->layers * l->experts;
    double *x = xcalloc(2 * n + 1, sizeof *x), *w = x + n, a[NODES], b[NODES];
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(l->share[i] > 0)) continue;
        x[used] = log(l->share[i]);
        w[used++] = l->share[i] / (double)l->layers;
    }
    l->nodes = recur(x, w, used, a, b);
    free(x);
    const size_t nodes = (size_t)l->nodes;
    gsl_matrix *m = gsl_matrix_calloc(nodes, nodes), *vectors = gsl_matrix_alloc(nodes, nodes);
    gsl_vector *values = gsl_vector_alloc(nodes);
    gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(nodes);
    for (size_t i = 0; i < nodes; i++) {
        gsl_matrix_set(m, i, i, a[i]);
        if (i > 0) gsl_matrix_set(m, i, i - 1, sqrt(b[i]));
        if (i > 0) gsl_matrix_set(m, i - 1, i, sqrt(b[i]));
    }
    gsl_eigen_symmv(m, values, vectors, work);
    for (size_t i = 0; i < nodes; i++) {
        const double first = gsl_matrix_get(vectors, 0, i);
        l->node[i] = dse_min(l->largest, exp(gsl_vector_get(values, i)));
        l->weight[i] = first * first;
    }
    gsl_eigen_symmv_free(work);
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    gsl_matrix_free(m);
}

struct dse_expert_loads *expert_loads_new(const char *name, const char *source, const struct expert_loads_row *rows, size_t n,
                                          struct row_fault *ret_fault)
{
    size_t experts = 1;
    while (experts < n && rows[experts].layer == rows[0].layer && experts < EXPERTS_MAX) experts++;
    if (!check_rows(rows, n, experts, ret_fault)) return NULL;
    struct dse_expert_loads *l = xcalloc(1, sizeof *l);
    l->entry.name = l->name = xstrdup(name);
    l->entry.source = l->source = xstrdup(source);
    l->experts = experts;
    l->layers = n / experts;
    if (!set_shares(l, rows, ret_fault)) {
        expert_loads_free(l);
        return NULL;
    }
    set_fullest(l);
    set_nodes(l);
    return l;
}

void expert_loads_set_measured(struct dse_expert_loads *l, struct dse_measured *m)
{
    measured_free(l->measured);
    l->measured = m;
}

void expert_loads_free(struct dse_expert_loads *l)
{
    if (!l) return;
    measured_free(l->measured);
    free(l->share);
    free(l->fullest);
    free(l->name);
    free(l->source);
    free(l);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

int64_t dse_expert_loads_layers(const struct dse_expert_loads *l)
{
    return (int64_t)l->layers;
}

int64_t dse_expert_loads_experts(const struct dse_expert_loads *l)
{
    return (int64_t)l->experts;
}

double dse_expert_loads_share(const struct dse_expert_loads *l, int64_t layer, int64_t expert)
{
    return l->share[(size_t)layer * l->experts + (size_t)expert];
}

double expert_loads_largest(const struct dse_expert_loads *l)
{
    return l->largest;
}

double expert_loads_touched(const struct dse_expert_loads *l, double active, double tokens)
{
    double touched = 0;
    for (int i = 0; i < l->nodes; i++) {
        const double p = active * l->node[i];
        touched += l->weight[i] / l->node[i] * (p >= 1 ? 1 : -expm1(tokens * log1p(-p)));
    }
    return dse_min(touched, (double)l->experts);
}

double expert_loads_fullest(const struct dse_expert_loads *l, int64_t each)
{
    return l->fullest[each];
}
