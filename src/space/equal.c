/* What [equal] of a sweep puts a model on, and the model cannot take: a technology whose method cannot be reached from the node
 * that the model's numbers were published for. Only the model knows; so it is asked. */
#include "space/idle.h"
#include "space/space_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 16 };                  /* points, spread evenly over the space */
#define GOLDEN 0.61803398874989484820 /* multiples of it, mod 1, are spread evenly */

static uint64_t spread(uint64_t count, size_t k)
{
    const uint64_t at = (uint64_t)((double)count * fmod((double)k * GOLDEN, 1));
    return at < count ? at : count - 1;
}

/* Why the point cannot be built with this entry; NULL: it can. */
static const char *reason_with(const struct space *sp, uint64_t at, const struct field *f, const struct follow_list *follows,
                               const struct dse_entry *entry, void *params)
{
    const struct dse_model *desc = sp->model->desc;
    space_start_of(sp, at, params);
    field_set(f, params, (struct value){.ref = entry});
    if (follows->n) follow_list_apply(follows, entry, params);
    if (desc->resolve) desc->resolve(params);
    return desc->check ? desc->check(params) : NULL;
}

const char *space_refuses(const struct space *sp, const struct field *f, const struct dse_entry *entry)
{
    const struct dse_entry *own = field_get(f, sp->binding->defaults).ref;
    struct follow_list follows = follow_list_new(sp->binding, f);
    void *params = xcalloc(1, sp->model->desc->params_size);
    const char *reason = NULL;
    bool same = true, own_has_it = true;
    for (size_t k = 0; k < TRIED && same; k++) {
        const uint64_t at = spread(sp->count, k);
        const char *here = reason_with(sp, at, f, &follows, entry, params);
        same = here && (!reason || strcmp(here, reason) == 0);
        reason = here;
        const char *with_own = reason_with(sp, at, f, &follows, own, params);
        own_has_it = own_has_it && here && with_own && strcmp(here, with_own) == 0;
    }
    free(follows.follows);
    free(params);
    return same && !own_has_it ? reason : NULL;
}

bool space_check_equal(const struct space *sp, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < sp->model->params.n; i++) {
        const struct field *f = &sp->model->params.fields[i];
        const struct given *g = &sp->binding->given[i];
        const char *why = g->is_equal && f->type == DSE_TYPE_REF ? space_refuses(sp, f, g->values[0].ref) : NULL;
        if (!why) continue;
        const char *model = sp->model->desc->name, *value = g->values[0].ref->name;
        char *hint = xasprintf("%s = { value = \"%s\", except = [\"%s\"] } keeps its own value, and the run notes this", f->name,
                               value, model);
        ok = diags_input(diags, g->loc, g->source_text, hint, "[equal] %s: %s cannot have %s: %s", f->name, model, value, why);
        free(hint);
    }
    return ok;
}
