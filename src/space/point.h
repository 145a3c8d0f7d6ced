/* One design point by itself: a model's defaults and what is set beside them. */
#ifndef DSE_SPACE_POINT_H
#define DSE_SPACE_POINT_H

#include "space/space.h"

struct design_point {
    const struct model *model;
    struct binding *binding;
    struct sweep_file sweep; /* of that one point */
    struct space *space;
    const void *params; /* resolved */
    const char *reason; /* why it is infeasible, or NULL */
    void *metrics;      /* zeroed */
};

/* The point with n assignments "NAME=VALUE", as in `--set`. False with all errors. Release *p whatever comes back. The catalog outlives it. */
bool design_point_init(struct design_point *p, const struct model *model, const struct catalog *catalog,
                       const char *const *assignments, size_t n, struct diags *diags);
void design_point_release(struct design_point *p);

#endif
