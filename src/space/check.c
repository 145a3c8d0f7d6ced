/* What can be checked before a space is built: expressions and objectives, over all models of the sweep. */
#include "space/space_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- expressions ------------------------------------------------------------------------------------------------------- */

static bool is_known_to(const struct sweep_file *s, size_t m, const struct named_expr *e)
{
    struct schema metrics;
    metrics_with_added(s, s->bindings[m]->model, &metrics);
    bool known = expr_names_known(e->expr, &s->bindings[m]->model->params, &metrics);
    schema_release(&metrics);
    return known;
}

static bool is_known_to_any(const struct sweep_file *s, const struct named_expr *e)
{
    bool known = false;
    for (size_t m = 0; m < s->n_models && !known; m++) known = is_known_to(s, m, e);
    return known;
}

/* Does it compile for model m? *ret_without: does it use a metric that has no meaning there? */
static bool compiles(const struct sweep_file *s, size_t m, const struct named_expr *e, bool *ret_without, struct diags *diags)
{
    struct schema metrics;
    metrics_with_added(s, s->bindings[m]->model, &metrics);
    struct expr *compiled = expr_new(e->expr, e->loc, s->doc->text, &s->bindings[m]->model->params, &metrics, diags);
    bool ok = compiled != NULL;
    *ret_without = ok && expr_uses_without(compiled);
    expr_free(compiled);
    schema_release(&metrics);
    return ok;
}

/* Was the expression refused for an earlier model, and reported there? */
static bool refused_before(const struct sweep_file *s, size_t m, const struct named_expr *e)
{
    struct diags ignored;
    diags_init(&ignored);
    bool refused = false, without;
    for (size_t k = 0; k < m && !refused; k++) refused = is_known_to(s, k, e) && !compiles(s, k, e, &without, &ignored);
    diags_release(&ignored);
    return refused;
}

static void append(struct schema *all, const struct schema *more)
{
    all->fields = xrealloc(all->fields, all->n + more->n, sizeof *all->fields);
    memcpy(all->fields + all->n, more->fields, more->n * sizeof *all->fields);
    all->n += more->n;
}

/* No model has all names of the expression. Some have none of them, or each has some. */
static bool unknown_to_all(const struct sweep_file *s, const struct named_expr *e, struct diags *diags)
{
    struct schema params = {0}, metrics = {0}, of_one;
    for (size_t m = 0; m < s->n_models; m++) {
        metrics_with_added(s, s->bindings[m]->model, &of_one);
        append(&params, &s->bindings[m]->model->params);
        append(&metrics, &of_one);
        schema_release(&of_one);
    }
    struct expr *compiled = expr_new(e->expr, e->loc, s->doc->text, &params, &metrics, diags);
    if (compiled)
        diags_input(diags, e->loc, s->doc->text, "an expression is evaluated for one model's point",
                    "no model of this sweep has all columns of \"%s\"", e->expr);
    expr_free(compiled);
    schema_release(&params);
    schema_release(&metrics);
    return false;
}

/* Names that an expression cannot use in a sweep with requests, and why. */
struct unusable {
    bool (*is_one)(const char *name);
    const char *what, *instead;
};
static const struct unusable lengths = {request_mix_sets, "has no one value: [requests] gives each request its own",
                                        "a row is the mean over all requests of the mix"};

static bool is_served(const char *name)
{
    return metrics_have(served_metrics, name);
}
static const struct unusable at_events = {is_served,
                                          "exists only in closed form: a row at event level runs one phase of its requests",
                                          "leave `fidelity` out, or ask for usd_per_mtoken"};

static bool has_events(const struct sweep_file *s)
{
    return s->averages && (s->refine || s->fidelity == FIDELITY_EVENT_LEVEL);
}

/* Does the expression use one? Said with the first model. */
static bool uses(const struct sweep_file *s, size_t m, const struct named_expr *e, const struct unusable *u, struct diags *diags)
{
    size_t at;
    char *name = expr_find_name(e->expr, u->is_one, &at);
    if (!name) return false;
    struct srcloc loc = e->loc;
    if (loc.column) loc.column += (int)at;
    if (m == 0) diags_input(diags, loc, s->doc->text, u->instead, "%s %s", name, u->what);
    free(name);
    return true;
}

static bool check_expressions(const struct sweep_file *s, size_t m, const struct named_expr *list, size_t n, struct diags *diags)
{
    bool ok = true, without;
    for (size_t i = 0; i < n; i++) {
        const struct named_expr *e = &list[i];
        if ((s->averages && uses(s, m, e, &lengths, diags)) || (has_events(s) && uses(s, m, e, &at_events, diags)))
            ok = false;
        else if (is_known_to(s, m, e))
            ok = !refused_before(s, m, e) && compiles(s, m, e, &without, diags) && ok;
        else if (!is_known_to_any(s, e))
            ok = m == 0 && unknown_to_all(s, e, diags); /* said once */
    }
    return ok;
}

static bool *find_applying(const struct space *sp, const struct named_expr *list, size_t n)
{
    bool *applies = xcalloc(n, sizeof *applies), without;
    struct diags ignored; /* space_check has compiled each of them */
    diags_init(&ignored);
    for (size_t i = 0; i < n; i++)
        applies[i] =
            is_known_to(sp->sweep, sp->index, &list[i]) && compiles(sp->sweep, sp->index, &list[i], &without, &ignored) && !without;
    diags_release(&ignored);
    return applies;
}

void space_find_applying(struct space *sp)
{
    sp->constraint_applies = find_applying(sp, sp->sweep->constraints, sp->sweep->n_constraints);
    sp->derived_applies = find_applying(sp, sp->sweep->derived, sp->sweep->n_derived);
}

/* ---- objectives -------------------------------------------------------------------------------------------------------- */

static const struct named_expr *find_derived(const struct sweep_file *s, const char *name)
{
    for (size_t i = 0; i < s->n_derived; i++)
        if (strcmp(s->derived[i].name, name) == 0) return &s->derived[i];
    return NULL;
}

/* What a sweep lacks that has no metric of this name, which others add; NULL: no sweep adds one. */
static const char *what_adds(const char *name)
{
    if (metrics_have(ratio_metrics, name)) return "it compares with a [baseline], and the sweep has none";
    if (metrics_have(served_metrics, name)) return "it needs [requests], and the sweep has none";
    return NULL;
}

static bool unknown_objective(const struct sweep_file *s, const struct model *m, const struct schema *metrics,
                              const struct objective *o, struct diags *diags)
{
    const char **names = xcalloc(metrics->n + s->n_derived, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < metrics->n; i++)
        if (field_is_number(&metrics->fields[i])) names[n++] = metrics->fields[i].name;
    for (size_t i = 0; i < s->n_derived; i++) names[n++] = s->derived[i].name;
    const char *lacks = what_adds(o->column);
    if (lacks) n = 0; /* what it needs is no other name */
    char *otherwise = lacks ? xstrdup(lacks) : xasprintf("metrics are listed by `dse describe %s`", m->desc->name);
    diags_unknown(diags, o->loc, s->doc->text, o->column, names, n, otherwise,
                  "objective \"%s\" is not a numeric metric of %s nor a derived column", o->column, m->desc->name);
    free(otherwise);
    free(names);
    return false;
}

/* Can the objective have a value in model m? A derived column that was refused counts as one: its expression is the error. */
static bool has_value(const struct sweep_file *s, size_t m, const struct schema *metrics, const char *column)
{
    const struct field *f = schema_find(metrics, column);
    const struct named_expr *derived = find_derived(s, column);
    if (!derived) return !f->without;
    struct diags ignored;
    diags_init(&ignored);
    bool without = false;
    bool value =
        is_known_to(s, m, derived) ? !compiles(s, m, derived, &without, &ignored) || !without : !is_known_to_any(s, derived);
    diags_release(&ignored);
    return value;
}

static bool check_objective(const struct sweep_file *s, size_t m, const struct schema *metrics, const struct objective *o,
                            struct diags *diags)
{
    const struct model *model = s->bindings[m]->model;
    if (has_events(s) && at_events.is_one(o->column))
        return m > 0 || diags_input(diags, o->loc, s->doc->text, at_events.instead, "%s %s", o->column, at_events.what);
    if (!find_derived(s, o->column) && !field_is_number(schema_find(metrics, o->column)))
        return unknown_objective(s, model, metrics, o, diags);
    if (!has_value(s, m, metrics, o->column))
        diags_warn(diags, o->loc, s->doc->text, "%s has no value in model %s: none of its points is on the front", o->column,
                   model->desc->name);
    return true;
}

bool space_check(const struct sweep_file *s, size_t m, struct diags *diags)
{
    struct schema metrics;
    metrics_with_added(s, s->bindings[m]->model, &metrics);
    bool ok = check_expressions(s, m, s->constraints, s->n_constraints, diags);
    ok = check_expressions(s, m, s->derived, s->n_derived, diags) && ok;
    for (size_t i = 0; i < s->n_objectives; i++) ok = check_objective(s, m, &metrics, &s->objectives[i], diags) && ok;
    schema_release(&metrics);
    return ok;
}
