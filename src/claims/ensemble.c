#include "claims/ensemble.h"

#include "claims/calibrate.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ensemble_group_names[ENSEMBLE_GROUPS] = {
    [ENSEMBLE_MEASURED] = "measured, holdout",
    [ENSEMBLE_HEADLINE] = "headline, holdout",
};

static const struct claim_group *group_named(const char *name)
{
    const struct claim_group *g = claim_groups;
    while (strcmp(g->name, name) != 0) g++;
    return g;
}

static void sum_up(const struct claim_set *s, const struct claim_answer *answers, struct claim_sum ret[ENSEMBLE_GROUPS])
{
    for (int g = 0; g < ENSEMBLE_GROUPS; g++) ret[g] = claims_sum(s, answers, group_named(ensemble_group_names[g]));
}

/* Answer all claims with these values. Claims that have no number with them are counted, and are no error. */
static void answer(struct claim_set *s, const double *values, struct claim_answer *ret)
{
    struct diags ignored;
    diags_init(&ignored);
    claims_answer_with(s, values, ret, &ignored);
    diags_release(&ignored);
}

/* What members are computed from. */
struct making {
    struct claim_set *set;
    const struct claim_constant *constants;
    size_t n_constants, n_claims;
    struct claim_answer *shipped, *answers;
    double *values;
    struct ensemble *out;
};

static void reset(struct making *m)
{
    for (size_t i = 0; i < m->n_constants; i++) m->values[i] = m->constants[i].shipped;
}

static void add_member(struct making *m, size_t constant, double value)
{
    struct ensemble *e = m->out;
    e->members = xrealloc(e->members, e->n + 1, sizeof *e->members);
    struct ensemble_member *member = &e->members[e->n++];
    *member = (struct ensemble_member){.constant = constant, .value = value};
    member->fitted = calibrate_refit(m->set, m->values);
    answer(m->set, m->values, m->answers);
    for (size_t i = 0; i < m->n_claims; i++) member->lost += isnan(m->answers[i].modelled) && !isnan(m->shipped[i].modelled);
    sum_up(m->set, m->answers, member->sums);
}

static void add_alternatives(struct making *m)
{
    for (size_t i = 0; i < m->n_constants; i++)
        for (size_t k = 0; k < m->constants[i].n_alternatives; k++) {
            reset(m);
            m->values[i] = m->constants[i].alternatives[k];
            add_member(m, i, m->values[i]);
        }
}

/* The member of the text, if the text has other values than ship. */
static void add_text(struct making *m)
{
    bool other = false;
    reset(m);
    for (size_t i = 0; i < m->n_constants; i++) {
        if (isnan(m->constants[i].text)) continue;
        other |= m->constants[i].text != m->constants[i].shipped;
        m->values[i] = m->constants[i].text;
    }
    if (other) add_member(m, SIZE_MAX, (double)NAN);
}

struct ensemble *ensemble_new(struct claim_set *s)
{
    struct making m = {.set = s, .out = xcalloc(1, sizeof(struct ensemble))};
    m.constants = claims_constants(s, &m.n_constants);
    claims_list(s, &m.n_claims);
    m.shipped = xcalloc(m.n_claims, sizeof *m.shipped);
    m.answers = xcalloc(m.n_claims, sizeof *m.answers);
    m.values = xcalloc(m.n_constants, sizeof *m.values);
    answer(s, NULL, m.shipped);
    sum_up(s, m.shipped, m.out->shipped);
    add_alternatives(&m);
    add_text(&m);
    free(m.shipped);
    free(m.answers);
    free(m.values);
    return m.out;
}

void ensemble_free(struct ensemble *e)
{
    if (!e) return;
    free(e->members);
    free(e);
}
