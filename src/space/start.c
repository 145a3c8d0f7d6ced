/* The parameters that points start from: defaults, what was given, and what catalog names set. */
#include "space/space_internal.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Is the parameter, or one that cannot stand beside it, given? */
static bool is_decided(const struct binding *b, const struct field *param)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n; i++) {
        const struct field *f = &params->fields[i];
        if (b->given[i].is_given && (f == param || field_excludes(param, f->name))) return true;
    }
    return false;
}

bool is_told_by(const struct binding *b, enum dse_kind kind, const struct field *param)
{
    const struct schema *fields = catalog_fields(b->catalog, kind);
    for (size_t i = 0; i < fields->n; i++)
        if (strcmp(fields->fields[i].name, param->name) == 0 || field_excludes(param, fields->fields[i].name)) return true;
    return false;
}

static bool is_kind_given(const struct binding *b, enum dse_kind kind)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n; i++)
        if (params->fields[i].type == DSE_TYPE_REF && params->fields[i].kind == kind && !params->fields[i].alone &&
            b->given[i].is_given)
            return true;
    return false;
}

/* Does a name of another kind decide the parameter? One that is given does before one that is a default; of two given ones the
 * one whose kind comes first in enum dse_kind: a memory before the FPGA that it is on. */
static bool is_left_to_another(const struct binding *b, enum dse_kind kind, const struct field *param)
{
    const bool given = is_kind_given(b, kind);
    for (int other = 0; other < DSE_KIND_COUNT; other++) {
        if (other == (int)kind || (given && other > (int)kind)) continue;
        if (is_kind_given(b, (enum dse_kind)other) && is_told_by(b, (enum dse_kind)other, param)) return true;
    }
    return false;
}

struct follow_list follow_list_new(const struct binding *b, const struct field *name)
{
    if (name->type != DSE_TYPE_REF || name->alone) return (struct follow_list){0};
    const enum dse_kind kind = name->kind;
    const struct schema *fields = catalog_fields(b->catalog, kind);
    struct follow_list list = {.follows = xcalloc(fields->n, sizeof *list.follows)};
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *from = &fields->fields[i], *to = schema_find(&b->model->params, from->name);
        if (to && to->type == from->type && !from->optional && !is_decided(b, to) && !is_left_to_another(b, kind, to))
            list.follows[list.n++] = (struct follow){from, to};
    }
    return list;
}

void follow_list_apply(const struct follow_list *list, const struct dse_entry *entry, void *params)
{
    for (size_t i = 0; i < list->n; i++) field_set(list->follows[i].to, params, field_get(list->follows[i].from, entry));
}

bool space_is_axis(const struct binding *b, size_t param)
{
    return b->given[param].is_given && b->given[param].n > 1;
}

void *space_start(const struct binding *b)
{
    const struct schema *schema = &b->model->params;
    void *params = xmalloc(b->model->desc->params_size);
    memcpy(params, b->defaults, b->model->desc->params_size);
    for (size_t i = 0; i < schema->n; i++)
        if (b->given[i].is_given) field_set(&schema->fields[i], params, b->given[i].values[0]);
    for (size_t i = 0; i < schema->n; i++) {
        if (space_is_axis(b, i)) continue;
        struct follow_list list = follow_list_new(b, &schema->fields[i]);
        if (list.n) follow_list_apply(&list, field_get(&schema->fields[i], params).ref, params);
        free(list.follows);
    }
    return params;
}

void space_digits(const struct space *sp, uint64_t index, uint64_t *digits)
{
    for (size_t i = sp->n_axes; i-- > 0;) {
        digits[i] = index % sp->axes[i].n;
        index /= sp->axes[i].n;
    }
}

static void set_axis(const struct axis *a, uint64_t digit, void *params)
{
    field_set(a->field, params, a->values[digit]);
    if (a->follows.n) follow_list_apply(&a->follows, a->values[digit].ref, params);
}

void space_start_of_digits(const struct space *sp, const uint64_t *digits, void *params)
{
    memcpy(params, sp->base, sp->model->desc->params_size);
    for (size_t i = 0; i < sp->n_axes; i++) set_axis(&sp->axes[i], digits[i], params);
}

static void set_between(const struct axis *a, double share, void *params)
{
    const double from = a->values[0].f64, to = a->values[1].f64;
    const double value = a->log ? from * exp(share * log(to / from)) : from + share * (to - from);
    field_set(a->field, params, (struct value){.f64 = fmin(fmax(value, from), to)});
}

static void start_of_sample(const struct space *sp, uint64_t index, void *params)
{
    if (sampler_is_distinct(sp->sampler)) {
        uint64_t digits[SPACE_AXES_MAX];
        space_digits(sp, sampler_index(sp->sampler, index), digits);
        space_start_of_digits(sp, digits, params);
        return;
    }
    memcpy(params, sp->base, sp->model->desc->params_size);
    for (size_t i = 0; i < sp->n_axes; i++) {
        const struct axis *a = &sp->axes[i];
        const double share = sampler_at(sp->sampler, index, i);
        if (a->continuous)
            set_between(a, share, params);
        else
            set_axis(a, (uint64_t)(share * (double)a->n), params);
    }
}

void space_start_of(const struct space *sp, uint64_t index, void *params)
{
    uint64_t digits[SPACE_AXES_MAX];
    if (sp->sampler) {
        start_of_sample(sp, index, params);
        return;
    }
    space_digits(sp, index, digits);
    space_start_of_digits(sp, digits, params);
}
