#include "claims/constants.h"

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

/* The value that a machine has of itself. NaN when its points cannot be made, which has been reported before. */
static double shipped_value(struct claim_set *s, struct machine *m, const struct field *f, struct diags *diags)
{
    const struct place *p = claims_place(s, m, NULL, NULL, diags);
    if (!p) return (double)NAN;
    return f->type == DSE_TYPE_ENUM ? field_get(f, space_fixed(p->space)).choice : field_number(f, space_fixed(p->space));
}

/* Take over the range of a parameter, or its choices. */
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
        const char **names = schema_names(&m->model->params);
        claims_unknown(s, loc, c->public.parameter, names, m->model->params.n, NULL, diags,
                       "%s is neither a number nor a choice of %s, the model of %s", c->public.parameter, m->model->desc->name,
                       m->name);
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

/* ---- [constants] --------------------------------------------------------------------------------------------------------- */

static bool read_strings(const struct claim_set *s, struct constant *c, const struct toml_node *table, struct diags *diags)
{
    const struct toml_node *fit = toml_expect(s->doc, table, "fit", TOML_BOOLEAN, diags);
    c->public.name = c->public.parameter = table->key;
    c->public.fitted_to = c->public.knowing = "";
    c->public.fit = !fit || fit->boolean;
    bool ok = claims_read_string(s, table, "parameter", &c->public.parameter, diags);
    ok = claims_read_string(s, table, "fitted_to", &c->public.fitted_to, diags) && ok;
    return claims_read_string(s, table, "knowing", &c->public.knowing, diags) && ok && (fit || !toml_get(table, "fit"));
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

static bool has_listed_constant(const struct claim_set *s, const struct machine *m, const char *param)
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

/* A machine that has a calibrated constant and is in no list of machines: it is one of the constant's, whoever forgot it. A
 * constant of another model that no [constants] names is borrowed: that model's to fit. */
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
            if (!machine_gives(m, all[k].name) && !has_listed_constant(s, m, all[k].name)) take_unlisted(s, m, p, &all[k]);
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

static void publish(struct claim_set *s)
{
    s->public_constants = xcalloc(s->n_constants, sizeof *s->public_constants);
    for (size_t i = 0; i < s->n_constants; i++) s->public_constants[i] = s->constants[i].public;
}

bool claims_read_constants(struct claim_set *s, struct diags *diags)
{
    bool ok = claims_read_section(s, "constants", read_constant, diags);
    ok = check_named(s, diags) && ok;
    ok = ok && take_all_unlisted(s, diags);
    publish(s);
    if (s->n_constants <= CLAIM_CONSTANTS_MAX) return ok;
    return claims_error(s, (struct srcloc){.file = s->doc->file}, NULL, diags, "%zu constants; at most %d", s->n_constants,
                        CLAIM_CONSTANTS_MAX);
}

const struct claim_constant *claims_constants(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_constants;
    return s->public_constants;
}

void claims_free_constants(struct claim_set *s)
{
    for (size_t i = 0; i < s->n_constants; i++) {
        free(s->constants[i].name);
        free(s->constants[i].alternatives);
        free(s->constants[i].machines);
    }
    free(s->constants);
    free(s->public_constants);
}

/* ---- places with other values -------------------------------------------------------------------------------------------- */

static bool has_constant(const struct place *p, const struct constant *c)
{
    return has_machine(c, p->machine) && !place_gives(p, c->public.parameter);
}

static struct value constant_value(const struct field *f, double value)
{
    if (f->type == DSE_TYPE_F64) return (struct value){.f64 = value};
    if (f->type == DSE_TYPE_ENUM) return (struct value){.choice = (int32_t)value};
    return (struct value){.i64 = (int64_t)value};
}

/* Give a constant's value to the place, or what the place has as shipped. True when that is news. */
static bool give_constant(struct place *p, const struct constant *c, double *now, double value)
{
    if (*now == value) return false;
    *now = value;
    const struct field *f = schema_find(&p->machine->model->params, c->public.parameter);
    struct given *g = &p->binding->given[schema_index(&p->machine->model->params, f)];
    if (!g->values) {
        g->values = xcalloc(1, sizeof *g->values);
        g->n = 1;
    }
    g->is_given = value != c->public.shipped || machine_gives(p->machine, f->name);
    g->values[0] = constant_value(f, value);
    return true;
}

void place_update(const struct claim_set *s, struct place *p)
{
    if (!p->constants) {
        if (!s->current) return;
        p->constants = xcalloc(s->n_constants, sizeof *p->constants);
        for (size_t i = 0; i < s->n_constants; i++) p->constants[i] = s->constants[i].public.shipped;
    }
    bool changed = false;
    for (size_t i = 0; i < s->n_constants; i++) {
        const struct constant *c = &s->constants[i];
        if (!has_constant(p, c)) continue;
        changed |= give_constant(p, c, &p->constants[i], s->current ? s->current[i] : c->public.shipped);
    }
    if (!changed) return;
    place_drop(p);
    space_free(p->space);
    struct diags none; /* the same binding made a space before */
    diags_init(&none);
    p->space = space_new(&p->sweep, 0, CLAIMS_CASES_MAX, &none);
    diags_release(&none);
}
