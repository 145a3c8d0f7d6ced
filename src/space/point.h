/* One design point by itself: a model's defaults and what is set beside them. */
#ifndef DSE_SPACE_POINT_H
#define DSE_SPACE_POINT_H

#include "space/space.h"

struct design_point {
    const struct model *model;
    struct binding *binding;
    struct sweep_file sweep; /* of that one point */
    struct space *space;
    const void *params;     /* resolved */
    const char *reason;     /* why it is infeasible, or NULL */
    void *metrics;          /* zeroed */
    struct evaluator *mean; /* of design_point_mean; or NULL */
    struct judge *judge;
    struct standing standing; /* where it is feasible: what is said of it beside its numbers */
};

/* The point with n assignments "NAME=VALUE", as in `--set`. False with all errors. Release *p whatever comes back. The catalog
 * outlives it. */
bool design_point_init(struct design_point *p, const struct model *model, const struct catalog *catalog,
                       const char *const *assignments, size_t n, struct diags *diags);
/* The same point under a mix of requests (sweep_requests_set_text); NULL: none. What it takes is known from design_point_mean. */
bool design_point_init_mix(struct design_point *p, const struct model *model, struct catalog *catalog,
                           const char *const *assignments, size_t n, const char *requests, struct diags *diags);
/* Fill the metrics with the means over the requests, or set the reason. False: stopped. */
bool design_point_mean(struct design_point *p, enum fidelity fidelity, const volatile sig_atomic_t *stop);
void design_point_release(struct design_point *p);

#endif
