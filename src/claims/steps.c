#include "claims/steps_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool read_fidelity(const struct claim_set *s, const struct toml_node *table, enum fidelity *ret, struct diags *diags)
{
    const struct toml_node *node = toml_expect(s->doc, table, "fidelity", TOML_STRING, diags);
    *ret = FIDELITY_CLOSED_FORM;
    if (!node) return !toml_get(table, "fidelity");
    for (int f = 0; fidelity_names[f]; f++) {
        if (strcmp(fidelity_names[f], node->string) != 0) continue;
        *ret = (enum fidelity)f;
        return true;
    }
    return claims_error(s, toml_loc(s->doc, node), "closed-form or event-level", diags, "there is no fidelity \"%s\"",
                        node->string);
}

/* A setting of its own for each step, even an empty one: its points are shared with nobody. */
static bool read_step(struct claim_set *s, const struct answer *claim, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"what", "set", "fidelity"};
    if (table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, table), "{ what = \"...\", set = { ... } }", diags, "a step is a table");
    s->steps = xrealloc(s->steps, s->n_steps + 1, sizeof *s->steps);
    struct step *step = &s->steps[s->n_steps++];
    *step = (struct step){.answer = {.claim = claim->claim, .table = claim->table, .value = claim->value}};
    step->answer.cases = claim->cases;
    step->answer.mean = claim->mean;
    step->public.claim = (size_t)(claim->claim - s->claims);
    bool ok = toml_check_keys(s->doc, table, keys, sizeof keys / sizeof *keys, diags);
    const struct toml_node *what = toml_expect(s->doc, table, "what", TOML_STRING, diags);
    step->answer.set = toml_expect(s->doc, table, "set", TOML_TABLE, diags);
    if ((!what && !toml_get(table, "what")) || (!step->answer.set && !toml_get(table, "set")))
        return claims_error(s, toml_loc(s->doc, table), "{ what = \"...\", set = { ... } }", diags,
                            "a step says what it is, and its setting");
    ok = read_fidelity(s, table, &step->public.fidelity, diags) && ok;
    if (!ok || !what || !step->answer.set) return false;
    step->public.what = what->string;
    if (!claims_compile_answer(s, &step->answer, claim->claim->unit, diags)) return false;
    for (size_t i = 0; i < step->answer.n_names; i++) {
        struct place *p = step->answer.names[i]->place;
        if (!p) continue;
        p->pinned = true;
        p->fidelity = step->public.fidelity;
    }
    return true;
}

bool claims_read_steps(struct claim_set *s, const struct answer *claim, struct diags *diags)
{
    const struct toml_node *list = toml_expect(s->doc, claim->table, "steps", TOML_ARRAY, diags);
    if (!list) return !toml_get(claim->table, "steps");
    if (!claim->expr)
        return claims_error(s, toml_key_loc(s->doc, list), "value = \"MACHINE.NAME\"", diags, "%s has no value to take steps with",
                            claim->table->key);
    bool ok = true;
    for (size_t i = 0; i < list->n; i++) ok = read_step(s, claim, &list->children[i], diags) && ok;
    return ok;
}

const struct claim_step *claims_steps(struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_steps;
    if (s->public_steps || !s->n_steps) return s->public_steps;
    s->public_steps = xcalloc(s->n_steps, sizeof *s->public_steps);
    for (size_t i = 0; i < s->n_steps; i++) {
        struct claim_step *step = &s->public_steps[i];
        *step = s->steps[i].public;
        step->modelled = answer_value(s, &s->steps[i].answer);
        step->reason = s->steps[i].answer.reason;
        bool first = i == 0 || step[-1].claim != step->claim;
        step->change = first ? (double)NAN : step->modelled - step[-1].modelled;
        step->error_percent = claim_error_percent(&s->claims[step->claim], step->modelled);
    }
    return s->public_steps;
}

void claims_free_steps(struct claim_set *s)
{
    for (size_t i = 0; i < s->n_steps; i++) answer_release(&s->steps[i].answer);
    free(s->steps);
    free(s->public_steps);
}
