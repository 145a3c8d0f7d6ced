#include "claims/statistics.h"

#include "attention/single_pass.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

const char *const statistic_names[] = {
    [STATISTIC_CENTERS] = "centers",
    [STATISTIC_LARGE] = "large",
    [STATISTIC_ACTIVE] = "active",
    [STATISTIC_UPDATES] = "updates",
    [STATISTIC_HIT_RATIO] = "hit_ratio",
    [STATISTIC_TOP1] = "top1",
    [STATISTIC_TOP1_PLUS_TOP2] = "top1_plus_top2",
    [STATISTIC_FALSE_NEGATIVE] = "false_negative",
    [STATISTIC_FALSE_POSITIVE] = "false_positive",
    [STATISTIC_SOFTMAX_MSE] = "softmax_mse",
    [STATISTIC_LINES_MSE] = "lines_mse",
    [STATISTIC_ATTENTION_ERROR] = "attention_error",
    [STATISTIC_INSIDE] = "inside",
    [STATISTIC_RECOMPUTED] = "recomputed",
    [STATISTIC_WITHIN_1E_2] = "within_1e_2",
    [STATISTIC_WITHIN_1E_1] = "within_1e_1",
    [STATISTIC_LARGEST_DIFFERENCE] = "largest_difference",
    [STATISTIC_EXP_ERROR] = "exp_error",
    [STATISTICS] = NULL,
};

enum run_kind statistic_run(enum statistic s)
{
    if (s <= STATISTIC_ATTENTION_ERROR) return RUN_LOCALITY;
    if (s <= STATISTIC_RECOMPUTED) return RUN_RANGE;
    return s <= STATISTIC_LARGEST_DIFFERENCE ? RUN_PARTIAL : RUN_NOTHING;
}

void statistics_of_profile(const struct dse_profile *p, size_t context, double row[STATISTICS])
{
    size_t n, at = 0;
    const double *contexts = profile_contexts(p, &n);
    while (at < n && contexts[at] != (double)context) at++;
    if (at == n) return;
    struct dse_locality l = dse_profile_at(p, (double)context);
    struct dse_locality_error e = dse_profile_error_at(p, (double)context);
    row[STATISTIC_CENTERS] = l.centers;
    row[STATISTIC_LARGE] = l.large;
    row[STATISTIC_ACTIVE] = l.active;
    row[STATISTIC_UPDATES] = l.updates;
    row[STATISTIC_HIT_RATIO] = l.hit_ratio;
    row[STATISTIC_ATTENTION_ERROR] = e.attention_error;
    row[STATISTIC_FALSE_NEGATIVE] = e.false_negative;
    struct profile_scores scores;
    if (!profile_scores_at(p, (double)context, &scores)) return;
    row[STATISTIC_FALSE_POSITIVE] = scores.false_positive;
    row[STATISTIC_TOP1] = scores.top1;
    row[STATISTIC_TOP1_PLUS_TOP2] = scores.top1_plus_top2;
    row[STATISTIC_SOFTMAX_MSE] = scores.softmax_mse;
    row[STATISTIC_LINES_MSE] = scores.lines_mse;
}

static bool run_locality(const struct measure_plan *p, double (*values)[STATISTICS], struct diags *diags)
{
    struct measured_locality *rows = xcalloc(p->n_contexts, sizeof *rows);
    bool ok = measure_locality(p, &locality_defaults, rows, diags);
    for (size_t i = 0; i < p->n_contexts && ok; i++) {
        const struct measured_locality *m = &rows[i];
        double *v = values[i];
        v[STATISTIC_CENTERS] = m->centers.mean;
        v[STATISTIC_LARGE] = m->large.mean;
        v[STATISTIC_ACTIVE] = m->active.mean;
        v[STATISTIC_UPDATES] = m->updates.mean;
        v[STATISTIC_HIT_RATIO] = m->pooled_hit_ratio;
        v[STATISTIC_TOP1] = m->top1.mean;
        v[STATISTIC_TOP1_PLUS_TOP2] = m->top1.mean + m->top2.mean;
        v[STATISTIC_FALSE_NEGATIVE] = m->false_negative.mean;
        v[STATISTIC_FALSE_POSITIVE] = m->false_positive.mean;
        v[STATISTIC_SOFTMAX_MSE] = m->softmax_mse.mean;
        v[STATISTIC_LINES_MSE] = m->lines_mse.mean;
        v[STATISTIC_ATTENTION_ERROR] = m->attention_error.mean;
    }
    free(rows);
    return ok;
}

static bool run_range(const struct measure_plan *p, double (*values)[STATISTICS], struct diags *diags)
{
    struct measured_range *rows = xcalloc(p->n_contexts, sizeof *rows);
    bool ok = measure_range(p, &softmax_range_llama2_7b, rows, diags);
    for (size_t i = 0; i < p->n_contexts && ok; i++) {
        values[i][STATISTIC_INSIDE] = 1 - rows[i].count.outside;
        values[i][STATISTIC_RECOMPUTED] = rows[i].count.recomputed;
    }
    free(rows);
    return ok;
}

/* phi is the lower end of the range (Sec. 3). */
static bool run_partial(const struct measure_plan *p, double (*values)[STATISTICS], struct diags *diags)
{
    enum { PART = 256 }; /* scores in a partial vector */
    const struct softmax_range *r = &softmax_range_llama2_7b;
    const struct softmax_partial s = {.range = {.phi = r->low, .low = 0, .high = r->high - r->low}, .part = PART};
    struct measured_partial *rows = xcalloc(p->n_contexts, sizeof *rows);
    bool ok = measure_partial(p, &s, rows, diags);
    for (size_t i = 0; i < p->n_contexts && ok; i++) {
        values[i][STATISTIC_WITHIN_1E_2] = rows[i].within_1e_2;
        values[i][STATISTIC_WITHIN_1E_1] = rows[i].within_1e_1;
        values[i][STATISTIC_LARGEST_DIFFERENCE] = rows[i].lost ? (double)INFINITY : rows[i].output_error;
    }
    free(rows);
    return ok;
}

bool statistics_measure(enum run_kind kind, const struct measure_plan *plan, double (*rows)[STATISTICS], struct diags *diags)
{
    static bool (*const runs[])(const struct measure_plan *p, double(*values)[STATISTICS], struct diags *diags) = {
        [RUN_LOCALITY] = run_locality, [RUN_RANGE] = run_range, [RUN_PARTIAL] = run_partial};
    return runs[kind](plan, rows, diags);
}

double statistic_without_heads(void)
{
    return single_pass_exp_error(&single_pass_defaults);
}
