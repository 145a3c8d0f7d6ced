/* [constants] and [calibrate]: what was fitted or chosen, and which numbers depend on it. */
#include "claims/claims_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- machines of a constant ------------------------------------------------------------------------------------------------- */

static const struct calibrated *find_calibrated(const struct binding *b, const char *param)
{
    size_t n;
    const struct calibrated *all = binding_calibrated(b, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, param) == 0) return &all[i];
    return NULL;
}

static void add_to(struct constant *c, const struct machine *m)
{
    c->machines = xrealloc(c->machines, c->n_machines + 1, sizeof *c->machines);
    c->machines[c->n_machines++] = m;
}

static bool has_machine(const struct constant *c, const struct machine *m)
{
    for (size_t i = 0; i < c->n_machines; i++)
        if (c->machines[i] == m) return true;
    return false;
}

/* The value that a machine has without being told. NaN when its points cannot be made: said before. */
static double shipped_value(struct claim_set *s, struct machine *m, const struct field *f, struct diags *diags)
{
    const struct place *p = claims_place(s, m, NULL, NULL, diags);
    if (!p) return (double)NAN;
    return f->type == DSE_TYPE_ENUM ? field_get(f, space_fixed(p->space)).choice : field_number(f, space_fixed(p->space));
}

/* The range of a parameter, or its choices. */
static void take_range(struct claim_constant *c, const struct field *f)
{
    size_t n = 0;
    while (f->type == DSE_TYPE_ENUM && f->choices[n]) n++;
    c->choices = n ? f->choices : NULL;
    c->whole = f->type == DSE_TYPE_I64;
    c->min = n ? 0 : f->min;
    c->max = n ? (double)(n - 1) : f->max;
}

static bool take_machine(struct claim_set *s, struct constant *c, struct machine *m, struct srcloc loc, struct diags *diags)
{
    const struct field *f = m->model ? schema_find(&m->model->params, c->public.parameter) : NULL;
    if (!m->model) return false;
    if (!f || f->type == DSE_TYPE_REF) {
        const char **names = xcalloc(m->model->params.n, sizeof *names);
        for (size_t i = 0; i < m->model->params.n; i++) names[i] = m->model->params.fields[i].name;
        char *hint = claims_hint(c->public.parameter, names, m->model->params.n, NULL);
        claims_error(s, loc, hint, diags, "%s is neither a number nor a choice of %s, the model of %s", c->public.parameter,
                     m->model->desc->name, m->name);
        free(hint);
        free(names);
        return false;
    }
    if (has_machine(c, m)) return claims_error(s, loc, NULL, diags, "machine %s stands in the list already", m->name);
    double shipped = shipped_value(s, m, f, diags);
    if (isnan(shipped)) return false;
    if (c->n_machines == 0) {
        c->field = f;
        c->public.shipped = shipped;
        take_range(&c->public, f);
    } else if (shipped != c->public.shipped) {
        char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
        return claims_error(s, loc, "one constant has one value", diags, "%s is %s in %s and %s in %s", c->public.parameter,
                            claim_constant_text(&c->public, c->public.shipped, a), c->machines[0]->name,
                            claim_constant_text(&c->public, shipped, b), m->name);
    } else if (c->field->type != f->type) {
        return claims_error(s, loc, NULL, diags, "%s is a whole number in one of %s and %s", c->public.parameter,
                            c->machines[0]->name, m->name);
    }
    add_to(c, m);
    return true;
}

static bool read_constant_machines(struct claim_set *s, struct constant *c, const struct toml_node *table, struct diags *diags)
{
    const struct toml_node *list = toml_expect(s->doc, table, "machines", TOML_ARRAY, diags);
    if (!list && toml_get(table, "machines")) return false;
    bool ok = true;
    for (size_t i = 0; list && i < list->n; i++) {
        const struct toml_node *node = &list->children[i];
        struct machine *m = node->type == TOML_STRING ? claims_machine(s, node->string) : NULL;
        if (m)
            ok = take_machine(s, c, m, toml_loc(s->doc, node), diags) && ok;
        else
            ok = claims_error(s, toml_loc(s->doc, node), "the name of a machine or a model", diags, "there is no machine %s%s%s",
                              node->type == TOML_STRING ? "\"" : "",
                              node->type == TOML_STRING ? node->string : toml_type_name(node->type),
                              node->type == TOML_STRING ? "\"" : "");
    }
    for (size_t i = 0; !list && i < s->n_machines; i++) {
        struct machine *m = s->machines[i];
        if (m->model == s->model && !machine_gives(m, c->public.parameter))
            ok = take_machine(s, c, m, toml_key_loc(s->doc, table), diags) && ok;
    }
    if (!ok || c->n_machines) return ok;
    /* every machine has a value of its own, or there is none: the model's defaults have the constant */
    return take_machine(s, c, claims_machine(s, s->model->desc->name), toml_key_loc(s->doc, table), diags);
}

/* ---- [constants] ---------------------------------------------------------------------------------------------------------------- */

static bool read_strings(const struct claim_set *s, struct constant *c, const struct toml_node *table, struct diags *diags)
{
    const struct toml_node *parameter = toml_expect(s->doc, table, "parameter", TOML_STRING, diags);
    const struct toml_node *fitted = toml_expect(s->doc, table, "fitted_to", TOML_STRING, diags);
    const struct toml_node *knowing = toml_expect(s->doc, table, "knowing", TOML_STRING, diags);
    const struct toml_node *fit = toml_expect(s->doc, table, "fit", TOML_BOOLEAN, diags);
    c->public.name = table->key;
    c->public.parameter = parameter ? parameter->string : table->key;
    c->public.fitted_to = fitted ? fitted->string : "";
    c->public.knowing = knowing ? knowing->string : "";
    c->public.fit = !fit || fit->boolean;
    return (knowing || !toml_get(table, "knowing")) && (parameter || !toml_get(table, "parameter")) &&
           (fitted || !toml_get(table, "fitted_to")) && (fit || !toml_get(table, "fit"));
}

static bool check_fit(const struct claim_set *s, const struct constant *c, const struct toml_node *table, struct diags *diags)
{
    if (!c->public.fit) return true;
    if (c->field->type != DSE_TYPE_F64)
        return claims_error(s, toml_key_loc(s->doc, table), "fit = false, and the reason in fitted_to", diags,
                            "%s is a %s: it cannot be fitted", table->key, c->public.choices ? "choice" : "whole number");
    if (c->public.shipped > c->public.min && c->public.shipped < c->public.max) return true;
    return claims_error(s, toml_key_loc(s->doc, table), "fit = false, or another range", diags,
                        "%s is at the end of its range: it cannot be fitted", table->key);
}

static struct constant *new_constant(struct claim_set *s)
{
    s->constants = xrealloc(s->constants, s->n_constants + 1, sizeof *s->constants);
    struct constant *c = &s->constants[s->n_constants++];
    *c = (struct constant){.public = {.fitted_to = "", .knowing = "", .source = "", .text = (double)NAN}};
    return c;
}

static bool read_constant(struct claim_set *s, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"machines", "fit", "parameter", "fitted_to", "knowing", "alternatives", "text", "source"};
    struct constant *c = new_constant(s);
    c->public.name = c->public.parameter = table->key;
    if (table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, table), "machines, fit", diags, "constants.%s is not a table", table->key);
    bool ok = toml_check_keys(s->doc, table, keys, sizeof keys / sizeof *keys, diags);
    ok = read_strings(s, c, table, diags) && ok;
    if (!read_constant_machines(s, c, table, diags)) return false;
    const struct place *p = claims_place(s, claims_machine(s, c->machines[0]->name), NULL, NULL, diags);
    const struct calibrated *calibrated = p ? find_calibrated(p->binding, c->public.parameter) : NULL;
    if (!*c->public.fitted_to && calibrated) c->public.fitted_to = calibrated->fitted_to;
    ok = check_fit(s, c, table, diags) && ok;
    return claims_read_alternatives(s, c, table, diags) && ok;
}

static bool is_named(const struct claim_set *s, const struct machine *m, const char *param)
{
    for (size_t i = 0; i < s->n_constants; i++)
        if (strcmp(s->constants[i].public.parameter, param) == 0 && has_machine(&s->constants[i], m)) return true;
    return false;
}

/* The constant of that parameter that machines of this model have. */
static struct constant *constant_of(const struct claim_set *s, const struct model *m, const char *param)
{
    for (size_t i = 0; i < s->n_constants; i++) {
        struct constant *c = &s->constants[i];
        if (c->n_machines && c->machines[0]->model == m && strcmp(c->public.parameter, param) == 0) return c;
    }
    return NULL;
}

/* A machine that has a calibrated constant and is in no list of machines: it is one of the constant's, whoever forgot it. A constant of
 * another model that no [constants] names is borrowed: that model's to fit. */
static void take_unlisted(struct claim_set *s, struct machine *m, const struct place *p, const struct calibrated *calibrated)
{
    const struct field *f = schema_find(&m->model->params, calibrated->name);
    struct constant *c = constant_of(s, m->model, calibrated->name);
    double shipped = field_number(f, space_fixed(p->space));
    if (isnan(shipped) || (c && c->public.shipped != shipped)) return; /* a name; or set by a catalog entry of the machine's */
    if (!c) {
        c = new_constant(s);
        c->name = xasprintf("%s.%s", m->model->desc->name, calibrated->name);
        c->public.name = c->name;
        c->public.parameter = f->name;
        c->public.borrowed = true;
        c->public.shipped = shipped;
        take_range(&c->public, f);
        c->public.fitted_to = calibrated->fitted_to;
        c->field = f;
    }
    add_to(c, m);
}

static bool take_all_unlisted(struct claim_set *s, struct diags *diags)
{
    for (size_t i = 0; i < s->n_machines; i++) {
        struct machine *m = s->machines[i];
        const struct place *p = m->model ? claims_place(s, m, NULL, NULL, diags) : NULL;
        if (!p) return false;
        size_t n;
        const struct calibrated *all = binding_calibrated(p->binding, &n);
        for (size_t k = 0; k < n; k++)
            if (!machine_gives(m, all[k].name) && !is_named(s, m, all[k].name)) take_unlisted(s, m, p, &all[k]);
    }
    return true;
}

/* A calibrated constant of the model of which no [constants] speaks: once, whatever the machines. */
static bool check_named(struct claim_set *s, struct diags *diags)
{
    struct binding *b = binding_new(s->model, s->catalog, s->data_dir, diags);
    if (!b) return false;
    bool ok = true;
    size_t n;
    const struct calibrated *all = binding_calibrated(b, &n);
    for (size_t i = 0; i < n; i++) {
        bool named = false;
        for (size_t k = 0; k < s->n_constants && !named; k++) named = strcmp(s->constants[k].public.parameter, all[i].name) == 0;
        if (named) continue;
        char *hint = xasprintf("[constants.%s] machines = [...]", all[i].name);
        ok = claims_error(s, (struct srcloc){.file = s->doc->file}, hint, diags,
                          "no [constants] names %s, a calibrated constant of %s", all[i].name, s->model->desc->name);
        free(hint);
    }
    binding_free(b);
    return ok;
}

bool claims_read_constants(struct claim_set *s, struct diags *diags)
{
    const struct toml_node *all = toml_expect(s->doc, &s->doc->root, "constants", TOML_TABLE, diags);
    bool ok = all || !toml_get(&s->doc->root, "constants");
    for (size_t i = 0; all && i < all->n; i++) ok = read_constant(s, &all->children[i], diags) && ok;
    ok = check_named(s, diags) && ok;
    ok = ok && take_all_unlisted(s, diags);
    if (s->n_constants <= CLAIM_CONSTANTS_MAX) return ok;
    return claims_error(s, (struct srcloc){.file = s->doc->file}, NULL, diags, "%zu constants; at most %d", s->n_constants,
                        CLAIM_CONSTANTS_MAX);
}

/* ---- [calibrate] ---------------------------------------------------------------------------------------------------------------- */

static bool read_fitted(struct claim_set *s, const struct toml_node *node, struct diags *diags)
{
    if (node->type != TOML_STRING)
        return claims_error(s, toml_loc(s->doc, node), "the id of a claim", diags, "an id is needed, not %s",
                            toml_type_name(node->type));
    const struct claim *c = claims_find(s, node->string);
    if (!c) return claims_no_such_id(s, node->string, toml_loc(s->doc, node), diags);
    size_t i = (size_t)(c - s->claims);
    if (c->held_out)
        return claims_error(s, toml_loc(s->doc, node), "fit to claims of split calibrate alone", diags, "%s is held out", c->id);
    if (!s->answers[i].table || s->answers[i].unreachable)
        return claims_error(s, toml_loc(s->doc, node), "[claims.\"ID\"] value = ...", diags, "%s has no value to be fitted", c->id);
    if ((c->bound != CLAIM_EQUAL && c->bound != CLAIM_ABOUT) || !(c->value > 0))
        return claims_error(s, toml_loc(s->doc, node), "a number above 0, not a bound nor a range", diags, "%s cannot be fitted to",
                            c->id);
    for (size_t k = 0; k < s->n_fitted; k++)
        if (s->fitted[k] == i) return claims_error(s, toml_loc(s->doc, node), NULL, diags, "%s stands in the list already", c->id);
    s->fitted[s->n_fitted++] = i;
    return true;
}

bool claims_read_calibrate(struct claim_set *s, struct diags *diags)
{
    static const char *const keys[] = {"claims"};
    const struct toml_node *table = toml_expect(s->doc, &s->doc->root, "calibrate", TOML_TABLE, diags);
    if (!table && toml_get(&s->doc->root, "calibrate")) return false;
    bool ok = !table || toml_check_keys(s->doc, table, keys, 1, diags);
    const struct toml_node *list = table ? toml_expect(s->doc, table, "claims", TOML_ARRAY, diags) : NULL;
    if (table && !list && toml_get(table, "claims")) return false;
    s->fitted = xcalloc(list ? list->n : 0, sizeof *s->fitted);
    for (size_t i = 0; list && i < list->n; i++) ok = read_fitted(s, &list->children[i], diags) && ok;
    const struct constant *fit = NULL;
    for (size_t i = 0; i < s->n_constants && !fit; i++)
        if (s->constants[i].public.fit) fit = &s->constants[i];
    if (!ok || !fit || s->n_fitted) return ok;
    return claims_error(s, (struct srcloc){.file = s->doc->file}, "[calibrate] claims = [...], or fit = false", diags,
                        "%s is fitted, and [calibrate] names no claims", fit->public.name);
}

/* ---- dependences ------------------------------------------------------------------------------------------------------------------ */

/* A claim's number with one constant changed is another one. */
static bool differs(double a, double b)
{
    enum { ROUNDING = 1000000000 };
    return isnan(b) || fabs(a - b) > fmax(fabs(a), fabs(b)) / ROUNDING;
}

/* The constant's value, changed by a share of itself (of its range, when it is 0), inside its range; whole when the constant is. */
static double changed(const struct constant *c, double share)
{
    const struct claim_constant *k = &c->public;
    double step = share * (k->shipped != 0 ? fabs(k->shipped) : k->max - k->min);
    if (c->field->type == DSE_TYPE_I64) step = copysign(fmax(1, rint(fabs(step))), step);
    return fmin(fmax(k->shipped + step, k->min), k->max);
}

/* With constant k at another value: which claims are another number? */
static void compare_with(struct claim_set *s, size_t k, double *values, double value, const double *shipped)
{
    values[k] = value;
    for (size_t i = 0; i < s->n_claims; i++)
        if (!isnan(shipped[i]) && differs(shipped[i], answer_value(s, &s->answers[i]))) s->depends[i] |= UINT64_C(1) << k;
}

void claims_find_dependences(struct claim_set *s)
{
    /* 1 %, then more for what is rounded up or down on the way */
    static const double shares[] = {0.01, -0.01, 0.1, -0.1};
    double *values = xcalloc(s->n_constants, sizeof *values), *shipped = xcalloc(s->n_claims, sizeof *shipped);
    s->depends = xcalloc(s->n_claims, sizeof *s->depends);
    for (size_t i = 0; i < s->n_claims; i++) shipped[i] = s->answers[i].expr ? answer_value(s, &s->answers[i]) : (double)NAN;
    s->current = values;
    for (size_t k = 0; k < s->n_constants; k++) {
        for (size_t i = 0; i < s->n_constants; i++) values[i] = s->constants[i].public.shipped;
        const struct claim_constant *c = &s->constants[k].public;
        for (size_t j = 0; j < sizeof shares / sizeof *shares && !c->choices; j++)
            compare_with(s, k, values, changed(&s->constants[k], shares[j]), shipped);
        for (size_t j = 0; j < c->n_alternatives; j++) compare_with(s, k, values, c->alternatives[j], shipped);
    }
    s->current = NULL;
    free(values);
    free(shipped);
}
