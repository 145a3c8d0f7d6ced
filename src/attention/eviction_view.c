#include "attention/eviction_view.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this share of the mass the kept positions are weighed anew around their own maximum (weights may have underflowed), and
 * above MASS_SAFE the kept output may be the full one minus the evicted, at no more than two digits lost. */
static const double MASS_TINY = 1e-200, MASS_SAFE = 0.01;

void eviction_view_init(struct eviction_view *v, const struct head *h)
{
    size_t n = h->n, d = h->d;
    *v = (struct eviction_view){.head = h};
    v->keys = xrealloc(NULL, n * d, sizeof *v->keys);
    v->values = xrealloc(NULL, n * d, sizeof *v->values);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) v->keys[j * n + i] = (double)h->k[i * d + j];
    for (size_t i = 0; i < n * d; i++) v->values[i] = (double)h->v[i];
    v->score = xcalloc(n, sizeof *v->score);
    v->weight = xcalloc(n, sizeof *v->weight);
    v->kept = xcalloc(n, sizeof *v->kept);
    v->output = xcalloc(d, sizeof *v->output);
}

void eviction_view_release(struct eviction_view *v)
{
    free(v->keys);
    free(v->values);
    free(v->score);
    free(v->weight);
    free(v->kept);
    free(v->output);
}

/* ---- a step -------------------------------------------------------------------------------------------------------------- */

/* Scores of step t in the order of additions of head_scores, four elements of d in one pass over the positions. */
static void score_step(const struct eviction_view *v, size_t t)
{
    size_t n = v->head->n, d = v->head->d, j = 0;
    const float *q = head_query(v->head, t);
    double *restrict s = v->score, scale = 1 / sqrt((double)d);
    memset(s, 0, (t + 1) * sizeof *s);
    for (; j + 4 <= d; j += 4) {
        const double *k0 = v->keys + j * n, *k1 = k0 + n, *k2 = k1 + n, *k3 = k2 + n;
        double q0 = (double)q[j], q1 = (double)q[j + 1], q2 = (double)q[j + 2], q3 = (double)q[j + 3];
        for (size_t i = 0; i <= t; i++) s[i] = s[i] + q0 * k0[i] + q1 * k1[i] + q2 * k2[i] + q3 * k3[i];
    }
    for (; j < d; j++)
        for (size_t i = 0; i <= t; i++) s[i] += (double)q[j] * v->keys[j * n + i];
    for (size_t i = 0; i <= t; i++) s[i] *= scale;
}

static double sum_of(const double *x, size_t n)
{
    double s[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++) s[j] += x[i + j];
    for (; i < n; i++) s[0] += x[i];
    return s[0] + s[1] + s[2] + s[3];
}

static double max_of(const double *x, size_t n)
{
    double max = x[0];
    for (size_t i = 1; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

static double norm_of(const double *x, size_t d)
{
    double s = 0;
    for (size_t j = 0; j < d; j++) s += x[j] * x[j];
    return sqrt(s);
}

/* out += sum of weight[i] * values of four rows. */
static void add_rows4(double *restrict out, const double w[4], const double *const row[4], size_t d)
{
    const double *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
    for (size_t j = 0; j < d; j++) out[j] += w[0] * r0[j] + w[1] * r1[j] + w[2] * r2[j] + w[3] * r3[j];
}

/* out += sum of weight * value of n rows. */
static void add_rows(double *restrict out, const struct eviction_view *v, const uint32_t *rows, size_t n)
{
    size_t d = v->head->d;
    for (size_t i = 0; i < n; i += 4) {
        const double *row[4];
        double w[4];
        for (size_t j = 0; j < 4; j++) {
            size_t k = rows[i + j < n ? i + j : i]; /* the last ones count with a weight of 0 */
            row[j] = v->values + k * d;
            w[j] = i + j < n ? v->weight[k] : 0;
        }
        add_rows4(out, w, row, d);
    }
}

/* The same of all rows from 0 to n. */
static void add_all(double *restrict out, const struct eviction_view *v, size_t n)
{
    size_t d = v->head->d;
    for (size_t i = 0; i < n; i += 4) {
        const double *row[4];
        double w[4];
        for (size_t j = 0; j < 4; j++) {
            size_t k = i + j < n ? i + j : i;
            row[j] = v->values + k * d;
            w[j] = i + j < n ? v->weight[k] : 0;
        }
        add_rows4(out, w, row, d);
    }
}

void eviction_view_step(struct eviction_view *v, size_t t, bool measured)
{
    size_t n = t + 1, d = v->head->d;
    score_step(v, t);
    double max = max_of(v->score, n);
    for (size_t i = 0; i < n; i++) v->score[i] -= max;
    for (size_t i = 0; i < n; i++) v->weight[i] = exp(v->score[i]);
    v->total = sum_of(v->weight, n);
    if (!measured) return;
    memset(v->output, 0, d * sizeof *v->output);
    add_all(v->output, v, n);
    v->norm = norm_of(v->output, d) / v->total;
}

double eviction_view_gather(struct eviction_view *v, const struct eviction_cache *c)
{
    for (size_t i = 0; i < c->n; i++) v->kept[i] = v->weight[c->position[i]];
    v->kept_total = sum_of(v->kept, c->n);
    double mass = v->kept_total / v->total;
    if (mass > MASS_TINY) return mass;
    for (size_t i = 0; i < c->n; i++) v->kept[i] = v->score[c->position[i]];
    double max = max_of(v->kept, c->n);
    for (size_t i = 0; i < c->n; i++) v->kept[i] = exp(v->kept[i] - max);
    v->kept_total = sum_of(v->kept, c->n);
    return mass;
}

/* ---- outputs of what is kept --------------------------------------------------------------------------------------------- */

void eviction_output_init(struct eviction_output *o, size_t n, size_t d)
{
    *o = (struct eviction_output){.sum = xcalloc(d, sizeof *o->sum), .rows = xcalloc(n, sizeof *o->rows)};
}

void eviction_output_release(struct eviction_output *o)
{
    free(o->sum);
    free(o->rows);
}

/* Of kept and evicted positions the fewer are added up, unless next to nothing is kept. */
static void list_rows(struct eviction_output *o, const struct eviction_cache *c)
{
    o->evicted = c->evicted < c->n && o->mass >= MASS_SAFE;
    o->n = o->evicted ? c->evicted : c->n;
    if (!o->evicted) {
        memcpy(o->rows, c->position, c->n * sizeof *c->position);
        return;
    }
    for (size_t i = 0, n = 0, next = 0; i <= c->n; i++) { /* gaps before each kept position, and after the last */
        size_t end = i < c->n ? c->position[i] : c->seen;
        for (; next < end; next++) o->rows[n++] = (uint32_t)next;
        next++;
    }
}

void eviction_output_begin(struct eviction_output *o, struct eviction_view *v, const struct eviction_cache *c)
{
    size_t d = v->head->d;
    o->mass = eviction_view_gather(v, c);
    o->total = v->kept_total;
    o->error = 0;
    o->added = o->n = 0;
    memset(o->sum, 0, d * sizeof *o->sum);
    if (!(v->norm > 0)) return;
    if (o->mass > MASS_TINY) {
        list_rows(o, c);
        return;
    }
    for (size_t i = 0; i < c->n; i++) /* seldom: with the weights that were made anew */
        for (size_t j = 0; j < d; j++) o->sum[j] += v->kept[i] * v->values[c->position[i] * d + j];
    o->evicted = false;
}

static void finish(struct eviction_output *o, const struct eviction_view *v, const struct eviction_view *exact)
{
    if (!(v->norm > 0) || !(exact->norm > 0)) return;
    for (size_t j = 0; j < v->head->d; j++) {
        double kept = o->evicted ? v->output[j] - o->sum[j] : o->sum[j];
        o->sum[j] = kept / o->total - exact->output[j] / exact->total;
    }
    o->error = norm_of(o->sum, v->head->d) / exact->norm;
}

void eviction_outputs_finish(struct eviction_output *o, size_t n, const struct eviction_view *v, const struct eviction_view *exact)
{
    enum { BLOCK = 64 }; /* rows that stay in the cache of a core while all outputs take what they need of them */
    size_t left = 0;
    for (size_t i = 0; i < n; i++) left += o[i].n;
    for (size_t end = BLOCK; left > 0; end += BLOCK)
        for (size_t i = 0; i < n; i++) {
            size_t from = o[i].added, to = from;
            while (to + 4 <= o[i].n && o[i].rows[to + 3] < end) to += 4;
            if (to + 4 > o[i].n && to < o[i].n && o[i].rows[o[i].n - 1] < end) to = o[i].n;
            add_rows(o[i].sum, v, o[i].rows + from, to - from);
            o[i].added = to;
            left -= to - from;
        }
    for (size_t i = 0; i < n; i++) finish(&o[i], v, exact);
}
