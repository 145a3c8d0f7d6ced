#include "claims/claims.h"

#include "claims/attention.h"
#include "claims/bindings.h"
#include "claims/constants.h"
#include "claims/dependences.h"
#include "claims/evidence_internal.h"
#include "claims/machines.h"
#include "claims/measured.h"
#include "claims/rows.h"
#include "claims/steps_internal.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- open ---------------------------------------------------------------------------------------------------------------- */

bool claims_exist(const struct model *model, const char *data_dir)
{
    char *path = model_file(model, data_dir, "claims.csv");
    bool there = model->made.claims_csv || access(path, F_OK) == 0;
    free(path);
    return there;
}

/* The keys of some cases. Their values are read where a machine takes them. */
static bool read_cases(struct claim_set *s, const struct toml_node *table, struct diags *diags)
{
    if (table->type == TOML_TABLE) return claims_check_params(s, table, diags);
    return claims_error(s, toml_loc(s->doc, table), "[cases.NAME] parameter = [...]", diags, "cases.%s is not a table", table->key);
}

static bool read_toml(struct claim_set *s, struct diags *diags)
{
    static const char *const keys[] = {"accounting", "machines",       "cases",     "attention",
                                       "claims",     "contradictions", "constants", "calibrate"};
    char *path = model_file(s->model, s->data_dir, "claims.toml");
    const struct made_files *made = &s->model->made;
    s->doc = made->claims_toml ? toml_read_text(made->given, made->claims_toml, strlen(made->claims_toml), diags)
                               : toml_read_file(path, diags);
    free(path);
    if (!s->doc) return false;
    bool ok = toml_check_keys(s->doc, &s->doc->root, keys, sizeof keys / sizeof *keys, diags);
    ok = claims_read_accounting(s, diags) && ok;
    ok = claims_read_machines(s, diags) && ok;
    ok = claims_read_section(s, "cases", read_cases, diags) && ok;
    ok = claims_read_attention(s, diags) && ok;
    ok = claims_read_bindings(s, diags) && ok;
    ok = claims_read_contradictions(s, diags) && ok;
    ok = claims_read_constants(s, diags) && ok;
    return claims_read_calibrate(s, diags) && ok;
}

struct claim_set *claims_open(const struct model *model, const struct catalog *catalog, const char *data_dir, struct diags *diags)
{
    struct claim_set *s = xcalloc(1, sizeof *s);
    s->model = model;
    s->catalog = catalog;
    s->data_dir = xstrdup(data_dir);
    bool ok = claims_read_rows(s, diags);
    s->answers = xcalloc(s->n_claims, sizeof *s->answers);
    ok = read_toml(s, diags) && ok;
    if (ok) {
        s->evidence = xcalloc(s->n_claims, sizeof *s->evidence);
        claims_find_nearest(s);
        claims_find_dependences(s);
        ok = claims_classify(s, diags);
    }
    if (ok) return s;
    claims_free(s);
    return NULL;
}

void claims_free(struct claim_set *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n_claims; i++) answer_release(&s->answers[i]);
    for (size_t i = 0; i < s->n_contradictions; i++) answer_release(&s->contradiction_answers[i]);
    for (size_t i = 0; i < s->n_texts; i++) free(s->texts[i]);
    claims_free_steps(s);
    claims_free_measured(s);
    claims_free_attention(s);
    claims_free_constants(s);
    claims_free_places(s);
    claims_free_machines(s);
    free(s->texts);
    free(s->evidence);
    free(s->depends);
    free(s->fitted);
    free(s->contradictions);
    free(s->contradiction_answers);
    free(s->answers);
    free(s->claims);
    toml_free(s->doc);
    csv_table_release(&s->csv);
    free(s->data_dir);
    free(s);
}

/* ---- what there is ------------------------------------------------------------------------------------------------------- */

const struct model *claims_model(const struct claim_set *s)
{
    return s->model;
}

const struct claim *claims_list(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_claims;
    return s->claims;
}

const struct claim_contradiction *claims_contradictions(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_contradictions;
    return s->contradictions;
}

/* ---- answers ------------------------------------------------------------------------------------------------------------- */

/* Why a claim has no value to be evaluated, or NULL. */
static const char *reason_without(const struct claim *c, const struct answer *a)
{
    if (a->table && !a->value && !a->unreachable) return "measured on heads: no machine is asked";
    if (a->table) return a->unreachable;
    return *c->how ? c->how : strcmp(c->kind, "input") == 0 ? "a parameter" : "not modelable";
}

double claims_value(struct claim_set *s, size_t claim, const double *constants, const char **ret_reason)
{
    struct answer *a = &s->answers[claim];
    *ret_reason = reason_without(&s->claims[claim], a);
    if (*ret_reason) return (double)NAN;
    s->current = constants;
    double v = answer_value(s, a);
    s->current = NULL;
    *ret_reason = a->reason;
    return v;
}

static enum claim_verdict judge(const struct claim_set *s, const struct claim *c, double modelled)
{
    if (strcmp(c->kind, "input") == 0) return CLAIM_INPUT;
    if (isnan(modelled))
        return c->contradiction ? CLAIM_CONTRADICTION : claims_is_measured(s, c) ? CLAIM_MEASURED : CLAIM_NOT_MODELLED;
    enum claim_verdict v = claim_compare(c, modelled);
    return c->contradiction && v != CLAIM_EXACT && v != CLAIM_HOLDS ? CLAIM_CONTRADICTION : v;
}

static const char *contradiction_text(const struct claim_set *s, const char *tag)
{
    for (size_t i = 0; i < s->n_contradictions; i++)
        if (strcmp(s->contradictions[i].tag, tag) == 0) return s->contradictions[i].text;
    return NULL;
}

/* The number of a binding that has one, or an error at its value. */
static double value_or_error(struct claim_set *s, struct answer *a, const char *name, bool *ok, struct diags *diags)
{
    double v = answer_value(s, a);
    if (isnan(v)) *ok = claims_error(s, toml_loc(s->doc, a->value), NULL, diags, "%s: %s", name, a->reason);
    return v;
}

bool claims_answer_with(struct claim_set *s, const double *constants, struct claim_answer *ret, struct diags *diags)
{
    bool ok = true;
    s->current = constants;
    for (size_t i = 0; i < s->n_claims; i++) {
        const struct claim *c = &s->claims[i];
        struct answer *a = &s->answers[i];
        ret[i] = (struct claim_answer){.modelled = (double)NAN, .constants = s->depends[i]};
        if (a->expr) {
            ret[i].modelled = value_or_error(s, a, c->id, &ok, diags);
            ret[i].reason = a->reason;
        } else {
            ret[i].reason = reason_without(c, a);
        }
        ret[i].verdict = judge(s, c, ret[i].modelled);
        ret[i].error_percent = claim_error_percent(c, ret[i].modelled);
        if (ret[i].verdict == CLAIM_CONTRADICTION) ret[i].reason = contradiction_text(s, c->contradiction);
    }
    for (size_t i = 0; i < s->n_contradictions; i++) {
        struct answer *a = &s->contradiction_answers[i];
        s->contradictions[i].modelled = a->expr ? value_or_error(s, a, s->contradictions[i].tag, &ok, diags) : (double)NAN;
    }
    s->current = NULL;
    return ok;
}

bool claims_answer(struct claim_set *s, struct claim_answer *ret, struct diags *diags)
{
    return claims_answer_with(s, NULL, ret, diags);
}
