/* Kept sets of a method that dse does not know. */
#include "attention/measure_layers.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

struct kept_work {
    const struct kept_sets *sets;
    const struct measure_plan *plan;
    struct measured_kept *rows; /* of each context */
};

struct kept_result {
    size_t steps, errors; /* errors: of them, those whose output is not 0 */
    double ratio, mass, error;
};

static size_t kept_size(const void *user, size_t c, size_t heads)
{
    (void)user;
    (void)c;
    return heads * sizeof(struct kept_result);
}

static double norm_of(const double *x, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += x[j] * x[j];
    return sqrt(sum);
}

/* Add one step, whose weights and output are exact; `kept` has d elements. The weights of what is read are made to sum up to 1. */
static void kept_step(const struct head *h, const struct kept_range *ranges, size_t n, const double *weights, const double *exact,
                      double *kept, struct kept_result *ret)
{
    double mass = 0, read = 0, norm = norm_of(exact, h->d);
    for (size_t j = 0; j < h->d; j++) kept[j] = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = ranges[r].first; i <= ranges[r].last; i++) {
            mass += weights[i];
            read++;
            for (size_t j = 0; j < h->d; j++) kept[j] += weights[i] * (double)h->v[i * h->d + j];
        }
    ret->mass += mass;
    ret->ratio += read;
    if (!(norm > 0)) return;
    for (size_t j = 0; j < h->d; j++) kept[j] = kept[j] / mass - exact[j];
    ret->errors++;
    ret->error += norm_of(kept, h->d) / norm;
}

static void kept_head(const struct kept_sets *k, const struct head *h, size_t head, size_t first, struct kept_result *ret)
{
    size_t n_steps, n;
    const uint32_t *steps = kept_sets_steps(k, &n_steps);
    double *weights = xcalloc(h->n, sizeof *weights), *exact = xcalloc(h->d, sizeof *exact), *kept = xcalloc(h->d, sizeof *kept);
    for (size_t i = 0; i < n_steps; i++) {
        size_t t = steps[i];
        const struct kept_range *ranges = t < first || t >= h->n ? NULL : kept_sets_at(k, h->layer, head, i, &n);
        if (!ranges) continue;
        double read = ret->ratio;
        head_attention(h, t, weights, exact);
        kept_step(h, ranges, n, weights, exact, kept, ret);
        ret->ratio = read + (ret->ratio - read) / (double)(t + 1);
        ret->steps++;
    }
    free(weights);
    free(exact);
    free(kept);
}

static bool kept_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret, struct diags *diags)
{
    const struct kept_work *w = user;
    struct kept_result *results = ret;
    (void)c;
    (void)diags;
    for (size_t h = 0; h < n; h++) kept_head(w->sets, &heads[h], h, first, &results[h]);
    return true;
}

static void kept_add(void *user, size_t c, size_t heads, const void *result)
{
    struct measured_kept *row = &((struct kept_work *)user)->rows[c];
    const struct kept_result *r = result;
    for (size_t h = 0; h < heads; h++, r++) {
        if (!r->steps) continue;
        double before = (double)row->retained_mass.n;
        row->steps = r->steps;
        row->ratio = (row->ratio * before + r->ratio / (double)r->steps) / (before + 1);
        moments_add(&row->retained_mass, r->mass / (double)r->steps);
        moments_add(&row->attention_error, r->errors ? r->error / (double)r->errors : 0);
    }
}

bool measure_kept(const struct measure_plan *p, const struct kept_sets *k, struct measured_kept *rows, size_t *ret_n,
                  struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_kept){.context = p->contexts[c]};
    struct kept_work w = {k, p, rows};
    if (!measure_each_layer(p, &(struct measurement){kept_size, kept_heads, kept_add, &w, NULL}, diags)) return false;
    *ret_n = 0;
    for (size_t c = 0; c < p->n_contexts; c++)
        if (rows[c].steps) rows[(*ret_n)++] = rows[c];
    return *ret_n || diags_input(diags, (struct srcloc){0}, NULL, NULL, "none of the steps that are measured has a kept set");
}
