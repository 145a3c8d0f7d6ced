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
