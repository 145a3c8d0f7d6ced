/* Mean and spread over heads of many ratios and policies. */
#include "workload/eviction.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void eviction_profile_init(struct eviction_profile *p, const struct eviction_options *policies, size_t n_policies,
                           const double *ratios, size_t n_ratios)
{
    *p = (struct eviction_profile){.n_rows = n_policies * n_ratios};
    p->rows = xcalloc(p->n_rows, sizeof *p->rows);
    for (size_t i = 0; i < p->n_rows; i++) {
        p->rows[i].options = policies[i / n_ratios];
        p->rows[i].options.ratio = ratios[i % n_ratios];
    }
}

void eviction_profile_release(struct eviction_profile *p)
{
    free(p->rows);
    *p = (struct eviction_profile){0};
}

/* One more value (Welford): count includes it. */
static void update(double *mean, double *sd, size_t count, double x)
{
    double n = (double)count, before = x - *mean;
    double squares = *sd * *sd * (n - 1);
    *mean += before / n;
    *sd = sqrt((squares + before * (x - *mean)) / n);
}

bool eviction_profile_add(struct eviction_profile *p, const struct head *heads, size_t n_heads, size_t first, struct diags *diags)
{
    if (p->n && n_heads && heads->n != p->n)
        return diags_input(diags, (struct srcloc){0}, NULL, NULL, "eviction: heads of %zu positions in a profile of heads of %zu",
                           heads->n, p->n);
    struct eviction_options *options = xcalloc(p->n_rows, sizeof *options);
    struct eviction_result *result = xcalloc(p->n_rows * n_heads, sizeof *result);
    for (size_t i = 0; i < p->n_rows; i++) {
        options[i] = p->rows[i].options;
        options[i].seed += p->rows[i].heads;
    }
    bool ok = eviction_run_many(heads, n_heads, options, p->n_rows, first, result, diags);
    for (size_t i = 0; ok && i < p->n_rows; i++) {
        struct eviction_row *row = &p->rows[i];
        row->size = eviction_size(&row->options, heads->n);
        for (size_t h = 0; h < n_heads; h++) {
            const struct eviction_result *r = &result[i * n_heads + h];
            row->heads++;
            update(&row->mean.retained_mass, &row->sd.retained_mass, row->heads, r->retained_mass);
            update(&row->mean.output_error, &row->sd.output_error, row->heads, r->output_error);
        }
    }
    if (ok) p->n = heads->n;
    free(options);
    free(result);
    return ok;
}
