/* Sums over some of the claims. */
#include "claims/sums.h"

#include "claims/set.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct claim_group claim_groups[] = {
    {.name = "calibrate", .calibrate = true},
    {.name = "holdout", .holdout = true},
    {.name = "measured, calibrate", .calibrate = true, .measured = true},
    {.name = "measured, holdout", .holdout = true, .measured = true},
    {.name = "reachable, holdout", .holdout = true, .measured = true, .reachable = true},
    {.name = "headline, calibrate", .calibrate = true, .headline = true},
    {.name = "headline, holdout", .holdout = true, .headline = true},
    {.name = "all", .calibrate = true, .holdout = true},
    {0},
};

bool claims_in_group(const struct claim *c, const struct claim_group *g)
{
    if (strcmp(c->kind, "input") == 0 || (g->headline && !c->headline)) return false;
    if (g->reachable && strcmp(c->modelable, "yes") != 0) return false;
    return (c->held_out ? g->holdout : g->calibrate) && (!g->measured || strcmp(c->kind, "measured") == 0);
}

/* Modelled over published, or the inverse, whichever is larger, as a logarithm. */
static double log_factor(double error_percent)
{
    double ratio = 1 + error_percent / 100;
    return ratio > 0 ? fabs(log(ratio)) : (double)INFINITY;
}

/* What claims_sum and claims_sum_measured share: `total` and `logs` are sums over sum->errors. */
static void add_error(struct claim_sum *sum, double *total, double *logs, double error_percent, const char *id)
{
    double error = fabs(error_percent);
    sum->errors++;
    *total += error;
    *logs += log_factor(error_percent);
    if (sum->worst && error <= sum->worst_percent) return;
    sum->worst_percent = error;
    sum->worst = id;
}

static void divide_errors(struct claim_sum *sum, double total, double logs)
{
    if (!sum->errors) return;
    sum->mean_percent = total / (double)sum->errors;
    sum->factor_percent = 100 * (exp(logs / (double)sum->errors) - 1);
}

bool claims_has_error(const struct claim_answer *a)
{
    return !isnan(a->modelled) && a->verdict != CLAIM_HOLDS && a->verdict != CLAIM_CONTRADICTION;
}

struct claim_sum claims_sum_of(const struct claim_set *s, const struct claim_answer *answers, const bool *in)
{
    struct claim_sum sum = {.mean_percent = (double)NAN, .factor_percent = (double)NAN, .worst_percent = (double)NAN};
    double total = 0, logs = 0;
    for (size_t i = 0; i < s->n_claims; i++) {
        if (!in[i]) continue;
        sum.claims++;
        sum.verdicts[answers[i].verdict]++;
        if (claims_has_error(&answers[i])) add_error(&sum, &total, &logs, answers[i].error_percent, s->claims[i].id);
    }
    divide_errors(&sum, total, logs);
    return sum;
}

struct claim_sum claims_sum(const struct claim_set *s, const struct claim_answer *answers, const struct claim_group *group)
{
    bool *in = xcalloc(s->n_claims, sizeof *in);
    for (size_t i = 0; i < s->n_claims; i++) in[i] = claims_in_group(&s->claims[i], group);
    struct claim_sum sum = claims_sum_of(s, answers, in);
    free(in);
    return sum;
}

struct claim_sum claims_sum_measured(const struct claim_set *s, const struct claim_attention *on)
{
    struct claim_sum sum = {.mean_percent = (double)NAN, .factor_percent = (double)NAN, .worst_percent = (double)NAN};
    double total = 0, logs = 0;
    for (size_t i = 0; i < s->n_measures; i++) {
        const struct claim_measure *m = &s->measures[i];
        if (m->on != on) continue;
        sum.claims++;
        sum.verdicts[m->verdict]++;
        if (m->verdict == CLAIM_HOLDS || m->verdict == CLAIM_FITTED) continue;
        add_error(&sum, &total, &logs, m->error_percent, s->claims[m->claim].id);
    }
    divide_errors(&sum, total, logs);
    return sum;
}
