/* claim: every published number of all systems, and the models' answers. */
#include "tables/tables_internal.h"

#include "claims/evidence.h"

#include <math.h>
#include <stdlib.h>

/* The claims of one model, answered. */
struct answered_claims {
    size_t n;
    struct answered_set {
        struct claim_set *set;
        struct claim_answer *answers;
    } * list;
};

void answered_claims_free(struct answered_claims *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->n; i++) {
        claims_free(a->list[i].set);
        free(a->list[i].answers);
    }
    free(a->list);
    free(a);
}

static bool answer(struct tables *t, char **ret_error)
{
    struct diags diags;
    diags_init(&diags);
    size_t n;
    const struct model *models = registry_models(&n);
    struct answered_claims *a = xcalloc(1, sizeof *a);
    a->list = xcalloc(n, sizeof *a->list);
    for (size_t i = 0; i < n; i++) {
        if (!claims_exist(&models[i], catalog_data_dir())) continue;
        struct claim_set *set = claims_open(&models[i], t->catalog, catalog_data_dir(), &diags);
        if (!set) break;
        size_t claims;
        claims_list(set, &claims);
        a->list[a->n] = (struct answered_set){set, xcalloc(claims, sizeof(struct claim_answer))};
        if (!claims_answer(set, a->list[a->n++].answers, &diags)) break;
    }
    if (diags.errors) {
        answered_claims_free(a);
        return tables_fail(&diags, ret_error);
    }
    diags_release(&diags);
    t->claims = a;
    return true;
}

static void add_claim(struct computed_rows *rows, const struct claim *c, const struct claim_answer *a, const struct evidence *e)
{
    char buf[TEXT_NUMBER_MAX];
    computed_text(rows, c->id);
    computed_text(rows, c->system);
    computed_text(rows, c->location);
    computed_text(rows, c->quantity);
    computed_text(rows, c->conditions);
    computed_text(rows, claim_bound_text(c, buf));
    computed_f64(rows, c->value);
    computed_f64(rows, c->value_hi);
    computed_text(rows, c->unit);
    computed_text(rows, c->split);
    computed_text(rows, claim_verdict_names[a->verdict]);
    computed_f64(rows, a->modelled);
    computed_f64(rows, a->error_percent);
    computed_text(rows, e->class == EVIDENCE_NONE ? NULL : evidence_names[e->class]);
    computed_text(rows, e->class == EVIDENCE_NONE ? NULL : e->because);
    computed_text(rows, e->nearest);
    computed_f64(rows, e->null_percent);
}

static bool fill_claim(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    (void)args;
    struct tables *t = context;
    if (!t->claims && !answer(t, ret_error)) return false;
    for (size_t i = 0; i < t->claims->n; i++) {
        size_t n;
        const struct answered_set *a = &t->claims->list[i];
        const struct claim *list = claims_list(a->set, &n);
        for (size_t j = 0; j < n; j++) add_claim(rows, &list[j], &a->answers[j], claims_evidence(a->set, j));
    }
    return true;
}

const struct computed_table table_claim = {
    .name = "claim",
    .doc = "every published number, and the number that the model gives",
    .columns =
        (const char *const[]){"id", "system", "location", "quantity", "conditions", "bound", "value", "value_hi", "unit", "split",
                              "verdict", "modelled", "error_percent", "class", "because", "null_model", "null_percent", NULL},
    .arguments = (const char *const[]){NULL},
    .fill = fill_claim,
};
