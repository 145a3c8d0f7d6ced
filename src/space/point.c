#include "space/point.h"

#include "base/xalloc.h"

#include <stdlib.h>

bool design_point_init(struct design_point *p, const struct model *model, const struct catalog *catalog,
                       const char *const *assignments, size_t n, struct diags *diags)
{
    *p = (struct design_point){.model = model};
    p->binding = binding_new(model, catalog, catalog_data_dir(), diags);
    if (!p->binding) return false;
    bool ok = true;
    for (size_t i = 0; i < n; i++) ok = binding_set_text(p->binding, assignments[i], diags) && ok;
    if (!binding_finish(p->binding, diags) || !ok) return false;
    p->sweep = (struct sweep_file){.bindings = &p->binding, .n_models = 1};
    p->space = space_new(&p->sweep, 0, 1, diags);
    if (!p->space) return false;
    p->params = space_fixed(p->space);
    p->metrics = xcalloc(1, model->desc->metrics_size);
    p->reason = model->desc->check ? model->desc->check(p->params) : NULL;
    return true;
}

void design_point_release(struct design_point *p)
{
    space_free(p->space);
    binding_free(p->binding);
    free(p->metrics);
    *p = (struct design_point){0};
}
