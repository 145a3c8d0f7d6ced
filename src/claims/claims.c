#include "claims/claims_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const claim_verdict_names[] = {
    [CLAIM_EXACT] = "exact",       [CLAIM_HOLDS] = "holds",
    [CLAIM_NEAR] = "near",         [CLAIM_OFF] = "off",
    [CLAIM_MISSES] = "misses",     [CLAIM_CONTRADICTION] = "contradiction",
    [CLAIM_INPUT] = "input",       [CLAIM_FITTED] = "fitted",
    [CLAIM_MEASURED] = "measured", [CLAIM_NOT_MODELLED] = "not modelled",
    [CLAIM_VERDICTS] = NULL,
};

bool claims_error(const struct claim_set *s, struct srcloc loc, const char *hint, struct diags *diags, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(diags, loc, s->doc->text, hint, "%s", message);
    free(message);
    return false;
}

char *claims_hint(const char *word, const char *const *names, size_t n, const char *otherwise)
{
    const char *near = text_nearest(word, names, n);
    if (near) return xasprintf("did you mean \"%s\"?", near);
    return otherwise ? xstrdup(otherwise) : NULL;
}

/* ---- open --------------------------------------------------------------------------------------------------------------------- */

bool claims_exist(const struct model *model, const char *data_dir)
{
    char *path = xasprintf("%s/models/%s/claims.csv", data_dir, model->desc->name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* The keys of the cases, once; their values are read where a machine takes them. */
static bool read_cases(struct claim_set *s, struct diags *diags)
{
    const struct toml_node *all = toml_expect(s->doc, &s->doc->root, "cases", TOML_TABLE, diags);
    bool ok = all || !toml_get(&s->doc->root, "cases");
    for (size_t i = 0; all && i < all->n; i++) {
        const struct toml_node *table = &all->children[i];
        if (table->type != TOML_TABLE)
            ok = claims_error(s, toml_loc(s->doc, table), "[cases.NAME] parameter = [...]", diags, "cases.%s is not a table",
                              table->key);
        else
            ok = claims_check_params(s, table, diags) && ok;
    }
    return ok;
}

static bool read_toml(struct claim_set *s, struct diags *diags)
{
    static const char *const keys[] = {"machines", "cases", "attention", "claims", "contradictions", "constants", "calibrate"};
    char *path = xasprintf("%s/models/%s/claims.toml", s->data_dir, s->model->desc->name);
    s->doc = toml_read_file(path, diags);
    free(path);
    if (!s->doc) return false;
    bool ok = toml_check_keys(s->doc, &s->doc->root, keys, sizeof keys / sizeof *keys, diags);
    ok = claims_read_machines(s, diags) && ok;
    ok = read_cases(s, diags) && ok;
    ok = claims_read_attention(s, diags) && ok;
    ok = claims_read_bindings(s, diags) && ok;
    ok = claims_read_contradictions(s, diags) && ok;
    ok = claims_read_constants(s, diags) && ok;
    return claims_read_calibrate(s, diags) && ok;
}

static void publish_constants(struct claim_set *s)
{
    s->public_constants = xcalloc(s->n_constants, sizeof *s->public_constants);
    for (size_t i = 0; i < s->n_constants; i++) s->public_constants[i] = s->constants[i].public;
}

struct claim_set *claims_open(const struct model *model, const struct catalog *catalog, const char *data_dir, struct diags *diags)
{
    struct claim_set *s = xcalloc(1, sizeof *s);
    s->model = model;
    s->catalog = catalog;
    s->data_dir = xstrdup(data_dir);
    bool ok = claims_read_rows(s, diags);
    ok = read_toml(s, diags) && ok;
    if (ok) {
        s->evidence = xcalloc(s->n_claims, sizeof *s->evidence);
        publish_constants(s);
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
    for (size_t i = 0; i < s->n_measured; i++) measured_release(&s->measured[i]);
    for (size_t i = 0; i < s->n_attention; i++) attention_free(s->attention[i]);
    for (size_t i = 0; i < s->n_places; i++) place_free(s->places[i]);
    for (size_t i = 0; i < s->n_machines; i++) {
        free(s->machines[i]->name);
        free(s->machines[i]);
    }
    for (size_t i = 0; i < s->n_constants; i++) {
        free(s->constants[i].name);
        free(s->constants[i].alternatives);
        free(s->constants[i].machines);
    }
    free(s->places);
    free(s->machines);
    free(s->constants);
    free(s->public_constants);
    free(s->contradictions);
    free(s->contradiction_answers);
    free(s->claims);
    free(s->answers);
    free(s->fitted);
    free(s->depends);
    free(s->evidence);
    for (size_t i = 0; i < s->n_texts; i++) free(s->texts[i]);
    free(s->texts);
    free(s->attention);
    free(s->measured);
    for (size_t i = 0; i < s->n_steps; i++) answer_release(&s->steps[i].answer);
    free(s->steps);
    free(s->public_steps);
    free(s->measures);
    toml_free(s->doc);
    csv_table_release(&s->csv);
    free(s->data_dir);
    free(s);
}

/* ---- what there is --------------------------------------------------------------------------------------------------------------- */

const struct model *claims_model(const struct claim_set *s)
{
    return s->model;
}

const struct claim *claims_list(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_claims;
    return s->claims;
}

const struct claim_constant *claims_constants(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_constants;
    return s->public_constants;
}

const size_t *claims_fitted(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_fitted;
    return s->fitted;
}

const struct claim_contradiction *claims_contradictions(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_contradictions;
    return s->contradictions;
}

/* ---- answers ------------------------------------------------------------------------------------------------------------------------ */

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

static double relative_percent(double modelled, double published)
{
    return 100 * (modelled - published) / fabs(published);
}

/* Is the bound met? Numbers that may be reached count as reached when the model's rounds to them. */
static bool meets(const struct claim *c, double v)
{
    switch (c->bound) {
    case CLAIM_ABOVE: return v > c->value;
    case CLAIM_BELOW: return v < c->value;
    case CLAIM_AT_LEAST: return v >= c->value - c->half_digit;
    case CLAIM_AT_MOST: return v <= c->value + c->half_digit;
    case CLAIM_RANGE: return v >= c->value - c->half_digit && v <= c->value_hi + c->half_digit_hi;
    default: break;
    }
    enum { ROUNDING = 1000000000 }; /* of the arithmetic, where a number lies just between two digits */
    return fabs(v - c->value) <= c->half_digit + fabs(c->value) / ROUNDING;
}

double claim_error_percent(const struct claim *c, double modelled)
{
    if (isnan(modelled)) return modelled;
    bool met = meets(c, modelled), is_number = c->bound == CLAIM_EQUAL || c->bound == CLAIM_ABOUT;
    if (met && !is_number) return 0;
    double against = c->bound == CLAIM_RANGE && modelled > c->value ? c->value_hi : c->value;
    if (against != 0) return relative_percent(modelled, against);
    return met ? 0 : copysign(100, modelled);
}

enum claim_verdict claim_compare(const struct claim *c, double ours)
{
    enum { NEAR_PERCENT = 10 };
    bool is_number = c->bound == CLAIM_EQUAL || c->bound == CLAIM_ABOUT;
    if (meets(c, ours)) return is_number ? CLAIM_EXACT : CLAIM_HOLDS;
    if (!is_number) return CLAIM_MISSES;
    return fabs(claim_error_percent(c, ours)) <= NEAR_PERCENT ? CLAIM_NEAR : CLAIM_OFF;
}

static bool is_measured(const struct claim_set *s, const struct claim *c)
{
    for (size_t i = 0; i < s->n_measured; i++)
        if (s->measured[i].answer.claim == c) return true;
    return false;
}

static enum claim_verdict judge(const struct claim_set *s, const struct claim *c, double modelled)
{
    if (strcmp(c->kind, "input") == 0) return CLAIM_INPUT;
    if (isnan(modelled)) return c->contradiction ? CLAIM_CONTRADICTION : is_measured(s, c) ? CLAIM_MEASURED : CLAIM_NOT_MODELLED;
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

/* ---- sums -------------------------------------------------------------------------------------------------------------------------- */

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
