#include "model/plugin_tables.h"

#include "base/limits.h"
#include "base/xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of the model that is checked. */
struct checking {
    const char *file;
    const struct dse_model *m;
    struct diags *diags;
    const char *table; /* "parameters" */
    size_t size;       /* of its struct */
    size_t rows;       /* seen so far, of all tables */
    int depth;         /* tables inside each other */
};

/* What is checked of a row of either table. */
struct row {
    enum dse_type type;
    const char *name, *unit, *doc, *source;
    size_t offset;
    const char *const *choices;
    double min, max;
    enum dse_kind kind;
};

static bool wrong(const struct checking *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(const struct checking *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *why = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(c->diags, (struct srcloc){.file = c->file}, NULL,
                "include/dse/desc.h and include/dse/model.h say what stands there", "model %s: %s", c->m->name, why);
    free(why);
    return false;
}

/* ---- texts and lists --------------------------------------------------------------------------------------------------------- */

static bool check_text(const struct checking *c, const char *of, const char *what, const char *s)
{
    if (!s) return wrong(c, "%s has no %s", of, what);
    return strnlen(s, MODEL_TEXT_MAX + 1) <= MODEL_TEXT_MAX ||
           wrong(c, "%s has a %s of more than %d characters", of, what, MODEL_TEXT_MAX);
}

/* A list of texts that NULL closes. */
static bool check_list(const struct checking *c, const char *of, const char *what, const char *const *list)
{
    for (size_t n = 0; list && list[n]; n++) {
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "%s has more than %d %s", of, MODEL_ENTRIES_MAX, what);
        if (!check_text(c, of, what, list[n])) return false;
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static size_t size_of_type(enum dse_type type)
{
    switch (type) {
    case DSE_TYPE_F64: return sizeof(double);
    case DSE_TYPE_I64: return sizeof(int64_t);
    case DSE_TYPE_ENUM: return sizeof(int32_t);
    case DSE_TYPE_REF: return sizeof(void *);
    default: return 0;
    }
}

static bool check_row(struct checking *c, const struct row *r, size_t base)
{
    const size_t size = size_of_type(r->type);
    if (!r->name) return wrong(c, "row %zu of the %s has no name", c->rows, c->table);
    if (!check_text(c, c->table, "name", r->name) || !check_text(c, r->name, "unit", r->unit) ||
        !check_text(c, r->name, "doc", r->doc) || !check_text(c, r->name, "source", r->source))
        return false;
    if (size == 0) return wrong(c, "%s has the type %d, and rows have none such", r->name, (int)r->type);
    if (r->offset > c->size || base > c->size - r->offset || size > c->size - r->offset - base)
        return wrong(c, "%s lies outside of the struct of the %s, which has %zu bytes", r->name, c->table, c->size);
    if (r->type == DSE_TYPE_ENUM && !(r->choices && r->choices[0])) return wrong(c, "%s has nothing to choose from", r->name);
    if ((r->type == DSE_TYPE_F64 || r->type == DSE_TYPE_I64) && !(r->min <= r->max))
        return wrong(c, "%s has the range %g to %g", r->name, r->min, r->max);
    if (r->type == DSE_TYPE_REF && (unsigned)r->kind >= DSE_KIND_COUNT)
        return wrong(c, "%s is of catalog %d, and there is none such", r->name, (int)r->kind);
    return r->type != DSE_TYPE_ENUM || check_list(c, r->name, "choices", r->choices);
}

enum { DEPTH_MAX = 8 };

/* Is there room for one row more, in a table that stands so deep? */
static bool take_row(struct checking *c)
{
    if (c->depth > DEPTH_MAX) return wrong(c, "tables of %s stand inside each other; at most %d do", c->table, DEPTH_MAX);
    return ++c->rows <= MODEL_ENTRIES_MAX || wrong(c, "it has more than %d rows of parameters and metrics", MODEL_ENTRIES_MAX);
}

static bool check_params(struct checking *c, const struct dse_param *table, size_t base)
{
    bool ok = true;
    if (!table) return wrong(c, "a table of %s is not there", c->table);
    c->depth++;
    for (const struct dse_param *p = table; ok && p->type != DSE_TYPE_END; p++) {
        if (!take_row(c)) return false;
        if (p->type == DSE_TYPE_EMBED && p->offset > c->size)
            return wrong(c, "a table lies outside of the struct of the %s", c->table);
        const struct row r = {p->type, p->name, p->unit, p->doc, p->source, p->offset, p->choices_of ? p->choices_of() : p->choices,
                              p->min,  p->max,  p->kind};
        ok = p->type == DSE_TYPE_EMBED ? check_params(c, p->embed, base + p->offset)
                                       : check_row(c, &r, base) && check_list(c, p->name, "excluded names", p->excludes);
    }
    c->depth--;
    return ok;
}

static bool check_metrics(struct checking *c, const struct dse_metric *table, size_t base)
{
    bool ok = true;
    if (!table) return wrong(c, "a table of %s is not there", c->table);
    c->depth++;
    for (const struct dse_metric *m = table; ok && m->type != DSE_TYPE_END; m++) {
        if (!take_row(c)) return false;
        if (m->type == DSE_TYPE_EMBED && m->offset > c->size)
            return wrong(c, "a table lies outside of the struct of the %s", c->table);
        const struct row r = {.type = m->type, m->name, m->unit, m->doc, m->source, m->offset, m->choices};
        ok = m->type == DSE_TYPE_EMBED ? check_metrics(c, m->embed, base + m->offset)
             : m->type == DSE_TYPE_REF ? wrong(c, "the metric %s is of a catalog", m->name ? m->name : "")
                                       : check_row(c, &r, base);
        if (ok && m->type != DSE_TYPE_EMBED && (unsigned)m->mean >= DSE_MEAN_COUNT)
            ok = wrong(c, "%s has the mean %d, and there is none such", m->name, (int)m->mean);
    }
    c->depth--;
    return ok;
}

/* ---- the model --------------------------------------------------------------------------------------------------------------- */

static bool check_size(struct checking *c, const char *table, size_t size)
{
    c->table = table;
    c->size = size;
    return size <= MODEL_STRUCT_MAX || wrong(c, "the struct of the %s has %zu bytes; at most %d", table, size, MODEL_STRUCT_MAX);
}

static bool check_trends(const struct checking *c)
{
    bool ok = true;
    const struct dse_trend *trends = c->m->trends;
    for (size_t n = 0; ok && trends && trends[n].param; n++) {
        const struct dse_trend *t = &trends[n];
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "it has more than %d trends", MODEL_ENTRIES_MAX);
        ok = check_text(c, "a trend", "parameter", t->param) && check_text(c, "a trend", "metric", t->metric) &&
             (!t->along || check_text(c, "a trend", "along", t->along)) &&
             (!t->where || check_text(c, "a trend", "where", t->where));
    }
    return ok;
}

static bool check_techniques(const struct checking *c)
{
    bool ok = true;
    const struct dse_technique *techniques = c->m->techniques;
    for (size_t n = 0; ok && techniques && techniques[n].param; n++) {
        const struct dse_technique *t = &techniques[n];
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "it has more than %d techniques", MODEL_ENTRIES_MAX);
        ok = check_text(c, "a technique", "parameter", t->param) && check_text(c, "a technique", "value", t->off) &&
             check_list(c, "a technique", "parameters", t->only);
    }
    return ok;
}

static bool check_units(const struct checking *c)
{
    bool ok = true;
    const struct dse_unit *units = c->m->units;
    for (size_t n = 0; ok && units && units[n].unit; n++) {
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "it has more than %d units", MODEL_ENTRIES_MAX);
        ok = check_text(c, "a unit", "name", units[n].unit) && check_text(c, "a unit", "suffix", units[n].suffix);
    }
    return ok;
}

bool plugin_tables_check(const char *file, const struct dse_model *m, struct diags *diags)
{
    struct checking c = {.file = file, .m = m, .diags = diags};
    return check_text(&c, "it", "title", m->title) && check_text(&c, "it", "cite", m->cite) && check_units(&c) &&
           check_size(&c, "parameters", m->params_size) && check_params(&c, m->params, 0) &&
           check_size(&c, "metrics", m->metrics_size) && check_metrics(&c, m->metrics, 0) &&
           check_size(&c, "equations", m->equations_size) && (!m->equations || check_metrics(&c, m->equations, 0)) &&
           check_list(&c, "it", "metrics without a meaning", m->without) &&
           check_list(&c, "it", "parameters of the closed form", m->closed_form_only) &&
           check_list(&c, "it", "parameters of the event level", m->event_level_only) && check_trends(&c) && check_techniques(&c);
}
