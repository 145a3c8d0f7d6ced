/* The exact machine beside a lossy one: of points that are the same machine then, one. */
#include "space/space_internal.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

const char space_copy_reason[] = "the same machine as another point, which differs only in settings of a technique that is off";

static size_t find_axis(const struct space *sp, const char *name)
{
    for (size_t a = 0; a < sp->n_axes; a++)
        if (strcmp(sp->axes[a].field->name, name) == 0) return a;
    return SIZE_MAX;
}

/* Does an expression of the list name it, as a word? */
static bool is_named_in(const struct named_expr *list, size_t n, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t length = strlen(name);
    for (size_t i = 0; i < n; i++)
        for (const char *at = strstr(list[i].expr, name); at; at = strstr(at + 1, name)) {
            const bool begins = at == list[i].expr || !strchr(letters, at[-1]);
            if (begins && (!at[length] || !strchr(letters, at[length]))) return true;
        }
    return false;
}

bool space_has_fronts_of(const struct space *sp, const char *axis)
{
    for (size_t i = 0; i < sp->sweep->n_per; i++)
        if (strcmp(sp->sweep->per[i], axis) == 0) return true;
    return false;
}

/* Do rows of the sweep depend on the axis besides the model: has it fronts of its own, or does an expression read it? */
static bool is_read_by_sweep(const struct space *sp, const char *axis)
{
    const struct sweep_file *s = sp->sweep;
    return space_has_fronts_of(sp, axis) || is_named_in(s->constraints, s->n_constraints, axis) ||
           is_named_in(s->derived, s->n_derived, axis);
}

static void add_twin(struct space *sp, const struct dse_technique *t)
{
    const size_t at = find_axis(sp, t->param);
    if (at == SIZE_MAX || !sp->binding->given[schema_index(&sp->model->params, sp->axes[at].field)].exact_added) return;
    sp->twins = xrealloc(sp->twins, sp->n_twins + 1, sizeof *sp->twins);
    struct twin *w = &sp->twins[sp->n_twins++];
    *w = (struct twin){.axis = at, .digit = sp->axes[at].n - 1};
    for (const char *const *only = t->only; only && *only; only++) {
        const size_t axis = find_axis(sp, *only);
        if (axis == SIZE_MAX || is_read_by_sweep(sp, *only)) continue;
        w->only = xrealloc(w->only, w->n_only + 1, sizeof *w->only);
        w->only[w->n_only++] = axis;
    }
}

void space_find_twins(struct space *sp)
{
    for (const struct dse_technique *t = sp->model->desc->techniques; t && t->param; t++) add_twin(sp, t);
}

void space_free_twins(struct space *sp)
{
    for (size_t i = 0; i < sp->n_twins; i++) free(sp->twins[i].only);
    free(sp->twins);
}

void space_original(const struct space *sp, uint64_t *digits)
{
    for (size_t i = 0; i < sp->n_twins; i++) {
        const struct twin *w = &sp->twins[i];
        for (size_t k = 0; k < w->n_only && digits[w->axis] == w->digit; k++) digits[w->only[k]] = 0;
    }
}

bool space_is_copy(const struct space *sp, const uint64_t *digits)
{
    for (size_t i = 0; i < sp->n_twins; i++) {
        const struct twin *w = &sp->twins[i];
        for (size_t k = 0; k < w->n_only && digits[w->axis] == w->digit; k++)
            if (digits[w->only[k]] > 0) return true;
    }
    return false;
}
