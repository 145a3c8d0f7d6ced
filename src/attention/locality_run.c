/* LAD on a whole head: its statistics, and its output and weights against exact attention. */
#include "attention/locality_state.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

static bool check_values(const float *x, const char *name, const struct head *h, struct diags *diags)
{
    for (size_t i = 0; i < h->n * h->d; i++)
        if (!(fabs((double)x[i]) <= LOCALITY_VALUE_MAX))
            return diags_input(diags, (struct srcloc){0}, NULL, "values are finite, at most 1e15 in magnitude",
                               "%s: position %zu, element %zu is %g", name, i / h->d, i % h->d, (double)x[i]);
    return true;
}

bool locality_check_head(const struct head *h, size_t first, struct diags *diags)
{
    if (first >= h->n)
        return diags_input(diags, (struct srcloc){0}, NULL, NULL, "no steps: the first is %zu, and the head has %zu positions",
                           first, h->n);
    return check_values(h->q, "q", h, diags) && check_values(h->k, "k", h, diags) && check_values(h->v, "v", h, diags);
}

/* Positions in one and not in the other of two growing lists. */
static void count_wrong(const struct locality_found *truth, const struct locality_found *found, size_t *ret_missed,
                        size_t *ret_vain)
{
    size_t common = 0;
    for (size_t i = 0, j = 0; i < truth->n && j < found->n;) {
        size_t a = truth->position[i], b = found->position[j];
        common += a == b;
        i += a <= b;
        j += b <= a;
    }
    *ret_missed = truth->n - common;
    *ret_vain = found->n - common;
}

/* Mean over the positions of (LAD's weight - exact weight)^2; weights[0..n). The modes of positions outside of J are as in the
 * step. */
static double weights_error(const struct locality *l, const struct locality_step *s, const double *weights)
{
    const struct dse_pieces *p = &l->pieces;
    double sum = 0;
    for (size_t i = 0, j = 0; i < s->positions; i++) {
        double x = l->exact[i] - s->maximum;
        size_t piece = i < s->cached ? l->mode[i] : dse_pieces_find(p, x);
        if (j < s->n_active && s->active[j].position == i) piece = s->active[j++].interval;
        double weight = s->denominator > 0 ? (p->slope[piece] * x + p->offset[piece]) / s->denominator : 0;
        sum += (weight - weights[i]) * (weight - weights[i]);
    }
    return sum / (double)s->positions;
}

/* The same of softmax by the lines at the exact scores: what is left when no interval is wrong. */
static double lines_error(const struct locality *l, size_t n, const double *weights)
{
    double max = -(double)INFINITY, total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) max = fmax(max, l->exact[i]);
    for (size_t i = 0; i < n; i++) total += dse_pieces_exp(&l->pieces, l->exact[i] - max);
    for (size_t i = 0; i < n; i++) {
        double weight = total > 0 ? dse_pieces_exp(&l->pieces, l->exact[i] - max) / total : 0;
        sum += (weight - weights[i]) * (weight - weights[i]);
    }
    return sum / (double)n;
}

static double relative_error(const double *a, const double *exact, size_t d)
{
    double error = 0, norm = 0;
    for (size_t j = 0; j < d; j++) {
        error += (a[j] - exact[j]) * (a[j] - exact[j]);
        norm += exact[j] * exact[j];
    }
    if (norm > 0) return sqrt(error / norm);
    return error > 0 ? 1 : 0;
}

static void add_step(struct locality_result *r, const struct locality *l, const struct locality_step *s)
{
    size_t missed, vain;
    count_wrong(&l->exactly, &l->by_centers, &missed, &vain);
    r->at.centers += (double)s->centers;
    r->at.large += (double)s->large;
    r->at.active += (double)s->n_active;
    r->at.updates += (double)s->updates;
    r->at.hit_ratio += s->n_active ? (double)s->n_kept / (double)s->n_active : 0;
    r->steps_with_active += s->n_active > 0;
    r->active_with_recent += (double)(s->n_active + s->positions - s->cached);
    r->kept += (double)s->n_kept;
    r->missed += (double)missed;
    r->in_vain += (double)vain;
    r->false_negative += s->cached ? (double)missed / (double)s->cached : 0;
    r->false_positive += s->cached ? (double)vain / (double)s->cached : 0;
    r->failed += !(s->denominator > 0);
}

static void divide(struct locality_result *r, double steps)
{
    if (r->steps_with_active > 0) r->at.hit_ratio /= r->steps_with_active;
    double *const means[] = {
        &r->at.centers,  &r->at.large,           &r->at.active, &r->at.updates,     &r->kept,           &r->missed,
        &r->in_vain,     &r->active_with_recent, &r->failed,    &r->false_negative, &r->false_positive, &r->output_error,
        &r->softmax_mse, &r->steps_with_active,  &r->lines_mse};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) *means[i] /= steps;
}

static void top_intervals(struct locality_result *r, const struct locality *l, size_t positions)
{
    for (size_t i = 0; i < positions; i++) {
        uint32_t most = 0, second = 0;
        for (size_t k = 0; k < l->options.intervals; k++) {
            uint32_t count = locality_count(l, i, k);
            if (count > most) {
                second = most;
                most = count;
            } else if (count > second) {
                second = count;
            }
        }
        r->top1 += (double)most / (double)(l->n - i);
        r->top2 += (double)second / (double)(l->n - i);
    }
    if (positions == 0) return;
    r->top1 /= (double)positions;
    r->top2 /= (double)positions;
}

bool locality_run(const struct head *h, const struct locality_options *o, size_t first, struct locality_result *ret,
                  struct diags *diags)
{
    struct locality *l = locality_new(h->d, o, diags);
    if (!l) return false;
    if (!locality_check_head(h, first, diags)) {
        locality_free(l);
        return false;
    }
    *ret = (struct locality_result){0};
    double *output = xcalloc(h->d, sizeof *output), *exact = xcalloc(h->d, sizeof *exact);
    double *weights = xcalloc(h->n, sizeof *weights);
    struct locality_step s = {0};
    for (size_t t = 0; t < h->n; t++) {
        l->audit = t >= first;
        locality_step(l, h->q + t * h->d, h->k + t * h->d, h->v + t * h->d, output, &s);
        if (t < first) continue;
        add_step(ret, l, &s);
        head_attention(h, t, weights, exact);
        ret->output_error += relative_error(output, exact, h->d);
        ret->softmax_mse += weights_error(l, &s, weights);
        ret->lines_mse += lines_error(l, s.positions, weights);
    }
    divide(ret, (double)(h->n - first));
    ret->centers_at_end = (double)l->centers.n;
    top_intervals(ret, l, s.cached);
    free(weights);
    free(exact);
    free(output);
    locality_free(l);
    return true;
}

/* The newest positions but the new one were active in the step before. */
static struct dse_recorded recorded(const struct locality_step *s)
{
    size_t newest = s->positions - s->cached;
    return (struct dse_recorded){.centers = (double)s->centers,
                                 .large = (double)s->large,
                                 .active = (double)(s->n_active + newest),
                                 .updates = (double)s->updates + (s->cached > 0),
                                 .hits = (double)(s->n_kept + newest - 1)};
}

bool locality_record(const struct head *h, const struct locality_options *o, size_t first, struct dse_recorded *ret,
                     struct diags *diags)
{
    struct locality *l = locality_new(h->d, o, diags);
    bool ok = l && locality_check_head(h, first, diags);
    double *output = xcalloc(h->d + 1, sizeof *output);
    for (size_t t = 0; ok && t < h->n; t++) {
        struct locality_step s;
        locality_step(l, h->q + t * h->d, h->k + t * h->d, h->v + t * h->d, output, &s);
        if (t >= first) ret[t - first] = recorded(&s);
    }
    free(output);
    locality_free(l);
    return ok;
}

struct dse_locality locality_profile_point(const struct locality_result *r, size_t recent)
{
    struct dse_locality p = r->at;
    p.active = r->active_with_recent;
    p.updates = r->at.updates + 1;
    p.hit_ratio = (r->kept + (double)recent - 1) / r->active_with_recent;
    return p;
}
