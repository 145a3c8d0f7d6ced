/* What a model's tables say: units, docs, names. */
#include "prove/prove_internal.h"

#include "model/names.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool prove_fail(const struct model *m, struct diags *diags, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    diags_runtime(diags, m->desc->name, "%s", message);
    free(message);
    return false;
}

static bool ends_with(const char *s, const char *suffix)
{
    const size_t n = strlen(s), k = strlen(suffix);
    return n >= k && strcmp(s + n - k, suffix) == 0;
}

/* The unit is in the name, and a count or a ratio has none. */
static bool prove_unit(const struct model *m, const struct field *f, struct diags *diags)
{
    const struct dse_unit *unit = unit_find(m->desc->units, f->unit);
    if (!unit)
        return prove_fail(m, diags, "%s: the unit \"%s\" is not in the list of units (.units of the model may add it)", f->name,
                          f->unit);
    return ends_with(f->name, unit->suffix) || prove_fail(m, diags, "%s: a name in %s ends in %s", f->name, f->unit, unit->suffix);
}

static bool prove_field(const struct model *m, const struct field *f, struct diags *diags)
{
    bool ok = true;
    if (!f->doc || !*f->doc || ends_with(f->doc, "."))
        ok = prove_fail(m, diags, "%s: its doc is missing or ends in a full stop", f->name);
    if (!f->source) ok = prove_fail(m, diags, "%s has no source", f->name);
    ok = prove_unit(m, f, diags) && ok;
    if (f->type == DSE_TYPE_ENUM ? !f->choices || !f->choices[0] : f->type != DSE_TYPE_REF && !(f->min < f->max))
        ok = prove_fail(m, diags, "%s has an empty range", f->name);
    return ok;
}

static bool prove_fields(const struct model *m, const struct schema *s, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < s->n; i++) ok = prove_field(m, &s->fields[i], diags) && ok;
    return ok;
}

/* Names of equations once, and in none of the tables that results have. */
static bool prove_equations_apart(const struct model *m, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < m->equations.n; i++) {
        const struct field *f = &m->equations.fields[i];
        const char *taken = name_of_column(f->name, NAME_OF_METRIC);
        if (taken) ok = prove_fail(m, diags, "an equation cannot be called \"%s\": %s", f->name, taken);
        if (schema_find(&m->equations, f->name) != f) ok = prove_fail(m, diags, "%s is there twice", f->name);
        if (schema_find(&m->params, f->name) || schema_find(&m->metrics, f->name))
            ok = prove_fail(m, diags, "%s is there twice, in two tables", f->name);
    }
    return ok;
}

/* Every sweep may have [requests]: a model takes their lengths, and says what weighs them. */
static bool prove_requests(const struct model *m, struct diags *diags)
{
    const struct schema *params = &m->params;
    const struct field *rate = schema_find(&m->metrics, "tokens_per_s"), *latency = schema_find(&m->metrics, "latency_us");
    bool ok = true;
    if (!schema_find(params, "context") && !(schema_find(params, "prompt") && schema_find(params, "generate")))
        ok = prove_fail(m, diags, "it takes no lengths of requests: context, or prompt and generate (struct dse_workload)");
    if (!rate || rate->without || !latency || latency->without)
        ok = prove_fail(m, diags, "tokens_per_s and latency_us are missing (struct dse_common)");
    return ok;
}

struct refusing {
    const struct model *m;
    struct diags *diags;
};

static void refuse_name(void *user, const char *name, const char *message)
{
    const struct refusing *r = user;
    (void)name;
    prove_fail(r->m, r->diags, "%s", message);
}

bool prove_tables(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    (void)catalog;
    bool ok = names_check(m->desc, refuse_name, &(struct refusing){m, diags});
    ok = prove_fields(m, &m->params, diags) && ok;
    ok = prove_fields(m, &m->metrics, diags) && ok;
    ok = prove_fields(m, &m->equations, diags) && ok;
    ok = prove_equations_apart(m, diags) && ok;
    for (size_t i = 0; i < m->params.n; i++)
        if (m->params.fields[i].source && !*m->params.fields[i].source)
            ok = prove_fail(m, diags, "%s does not say where it comes from", m->params.fields[i].name);
    for (size_t i = 0; i < m->metrics.n; i++)
        if (m->metrics.fields[i].mean == DSE_MEAN_BY_UNIT)
            ok = prove_fail(m, diags, "%s does not say what it is measured by (.mean)", m->metrics.fields[i].name);
    if ((m->equations.n > 0) != (m->desc->equate != NULL)) ok = prove_fail(m, diags, "equations and equate go together");
    text_addf(note, "%zu parameters, %zu metrics, %zu equations", m->params.n, m->metrics.n, m->equations.n);
    return prove_requests(m, diags) && ok;
}
