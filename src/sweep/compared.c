#include "sweep/compared.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/equal_terms.h"
#include "space/idle.h"

#include <dse/sampling.h>
#include <dse/sim.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ends of axes ---------------------------------------------------------------------------------------------------- */

/* The least and the greatest of the values given; false unless they are numbers, and at least three. */
static bool range_of(const struct field *f, const struct given *g, double *ret_least, double *ret_greatest)
{
    enum { VALUES_MIN = 3 };
    if ((f->type != DSE_TYPE_F64 && f->type != DSE_TYPE_I64) || !g->is_given || g->n < VALUES_MIN || !g->values) return false;
    *ret_least = (double)INFINITY;
    *ret_greatest = -(double)INFINITY;
    for (uint64_t i = 0; i < g->n; i++) {
        double v = f->type == DSE_TYPE_F64 ? g->values[i].f64 : (double)g->values[i].i64;
        if (v < *ret_least) *ret_least = v;
        if (v > *ret_greatest) *ret_greatest = v;
    }
    return true;
}

/* Add the end of an axis; null where the parameter's own range ends there, too. */
static void add_end(struct text *t, double v, double limit)
{
    char buf[TEXT_NUMBER_MAX];
    text_add(t, v == limit ? "null" : text_number(buf, v));
}

static void add_ends_of(struct text *t, const struct sweep_file *s, size_t m)
{
    const struct binding *b = s->bindings[m];
    bool any = false;
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        double least, greatest;
        if (request_mix_sets(f->name) || !range_of(f, &b->given[i], &least, &greatest)) continue;
        if (!any) {
            text_add(t, t->n ? ", " : "");
            text_add_json(t, b->model->desc->name);
            text_add(t, ": {");
        }
        if (any) text_add(t, ", ");
        any = true;
        text_add_json(t, f->name);
        text_add(t, ": [");
        add_end(t, least, f->min);
        text_add(t, ", ");
        add_end(t, greatest, f->max);
        text_add(t, "]");
    }
    if (any) text_add(t, "}");
}

char *sweep_axis_ends(const struct sweep_file *s)
{
    struct text t;
    text_init(&t);
    for (size_t m = 0; m < s->n_models; m++) add_ends_of(&t, s, m);
    char *json = t.n ? xasprintf("{%s}", t.s) : NULL;
    text_release(&t);
    return json;
}

/* ---- unequal defaults ---------------------------------------------------------------------------------------------------- */

static bool table_has(const struct dse_param *table, const char *name)
{
    for (; table->type != DSE_TYPE_END; table++)
        if (table->type == DSE_TYPE_EMBED ? table_has(table->embed, name) : strcmp(table->name, name) == 0) return true;
    return false;
}

/* Is it a parameter that only the event level reads? */
static bool is_event_level_only(const char *name)
{
    return table_has(dse_events_params, name) || table_has(dse_sampling_params, name);
}

/* The parameter of model m that has the field and does not vary; NULL: it has none. */
static const struct field *fixed_of(const struct sweep_file *s, struct space *const *spaces, size_t m, const char *name)
{
    const struct schema *params = &s->bindings[m]->model->params;
    const struct field *f = schema_find(params, name);
    return f && !space_varies(spaces[m], schema_index(params, f)) ? f : NULL;
}

/* The parameter of a catalog's entry that sets this one in model m, or NULL. */
static const struct field *set_by(const struct binding *b, const struct field *f)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n && !binding_gives(b, f); i++) {
        const struct field *entry = &params->fields[i];
        if (entry->type != DSE_TYPE_REF) continue;
        const struct field *from = schema_find(catalog_fields(b->catalog, entry->kind), f->name);
        if (from && from->type == f->type && !from->optional) return entry;
    }
    return NULL;
}

/* What sets the resolved bandwidth of a memory, which no entry names. */
static bool follows_from_entry(const struct sweep_file *s, size_t m, const struct field *f)
{
    const struct field *entry = set_by(s->bindings[m], f);
    for (const char *const *other = f->excludes; other && *other && !entry && f->may_be_auto && !binding_gives(s->bindings[m], f);
         other++) {
        const struct field *instead = schema_find(&s->bindings[m]->model->params, *other);
        entry = instead ? set_by(s->bindings[m], instead) : NULL;
    }
    return entry != NULL;
}

/* The value of a parameter as one of another model, which may count in fractions. */
static struct value value_as(const struct field *to, const struct field *from, const void *params)
{
    if (to->type == from->type) return field_get(from, params);
    const double v = field_number(from, params);
    return to->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)v} : (struct value){.f64 = v};
}

/* Does it make no difference to either of two models which of their values it has: of links on one chip? */
static bool is_idle(const struct sweep_file *s, struct space *const *spaces, size_t m, size_t other, const char *name)
{
    const struct field *f = fixed_of(s, spaces, m, name), *g = fixed_of(s, spaces, other, name);
    if (f->kind != g->kind || field_is_number(f) != field_is_number(g)) return false;
    const enum idle a = space_value_idle(spaces[m], f, value_as(f, g, space_fixed(spaces[other]))),
                    b = space_value_idle(spaces[other], g, value_as(g, f, space_fixed(spaces[m])));
    return a != IDLE_NO && b != IDLE_NO && (a == IDLE_YES || b == IDLE_YES);
}

/* "NAME (lad 0.871, veda 1)", if the models that have it differ, not all of them were told so, and it tells. */
static void add_parameter(struct text *t, const struct sweep_file *s, struct space *const *spaces, const char *name)
{
    struct text values;
    text_init(&values);
    const struct field *first = NULL;
    size_t of = 0;
    bool tells = false, some_default = false, all_follow = true, same_meaning = true;
    for (size_t m = 0; m < s->n_models; m++) {
        const struct field *f = fixed_of(s, spaces, m, name);
        if (!f) continue;
        char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
        const char *value = value_text(f, field_get(f, space_fixed(spaces[m])), a);
        const bool differs = first && strcmp(value, value_text(first, field_get(first, space_fixed(spaces[of])), b)) != 0;
        if (!first) first = f, of = m;
        same_meaning &= f->choices == first->choices; /* `softmax` of one model has other choices than that of another */
        tells |= differs && same_meaning && !is_idle(s, spaces, m, of, name);
        some_default |= !binding_gives(s->bindings[m], f);
        all_follow &= follows_from_entry(s, m, f);
        text_addf(&values, "%s%s %s", values.n ? ", " : "", s->bindings[m]->model->desc->name, value);
    }
    if (tells && some_default && !all_follow && same_meaning) text_addf(t, "%s%s (%s)", t->n ? ", " : "", name, values.s);
    text_release(&values);
}

/* The parameters that differ, as a list; those of terms have sentences of their own. */
static void add_parameters(struct text *t, const struct sweep_file *s, struct space *const *spaces)
{
    bool events = s->refine || s->fidelity == FIDELITY_EVENT_LEVEL;
    for (size_t m = 0; m + 1 < s->n_models; m++) {
        const struct schema *params = &s->bindings[m]->model->params;
        for (size_t i = 0; i < params->n; i++) {
            const char *name = params->fields[i].name;
            bool before = equal_term_of_param(name) != NULL;
            for (size_t k = 0; k < m && !before; k++) before = schema_find(&s->bindings[k]->model->params, name) != NULL;
            if (s->averages && request_mix_sets(name)) continue;
            if (!before && (events || !is_event_level_only(name))) add_parameter(t, s, spaces, name);
        }
    }
}

static void begin_notice(struct text *json, const char *kind, const char *text)
{
    text_add(json, json->n ? ", {\"kind\": " : "[{\"kind\": ");
    text_add_json(json, kind);
    text_add(json, ", \"text\": ");
    text_add_json(json, text);
}

static void add_term(void *json, const struct unequal_term *term)
{
    begin_notice(json, "unequal-terms", term->sentence);
    if (term->values) {
        text_add(json, ", \"term\": ");
        text_add_json(json, term->what);
        text_addf(json, ", \"values\": %s", term->values);
    }
    text_add(json, "}");
}

char *sweep_unequal(const struct sweep_file *s, struct space *const *spaces)
{
    struct text json, list;
    text_init(&json);
    text_init(&list);
    sweep_unequal_terms(s, spaces, add_term, &json);
    add_parameters(&list, s, spaces);
    if (list.n) {
        char *text = xasprintf("the models have different defaults of parameters that the sweep does not set: %s", list.s);
        begin_notice(&json, "unequal-defaults", text);
        text_add(&json, "}");
        free(text);
    }
    text_release(&list);
    if (json.n) text_add(&json, "]");
    char *ret = json.n ? text_detach(&json) : NULL;
    text_release(&json);
    return ret;
}
