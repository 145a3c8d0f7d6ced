/* One design point by itself: a model's defaults and what is set beside them. */
#ifndef DSE_SPACE_POINT_H
#define DSE_SPACE_POINT_H

#include "space/space.h"

struct design_point {
    const struct model *model;
    struct binding *binding;
    struct sweep_file sweep; /* a sweep of this one point */
    struct space *space;
    const void *params;     /* resolved */
    const char *reason;     /* why it is infeasible, or NULL */
    void *metrics;          /* zeroed; of space_metrics(space) */
    struct evaluator *mean; /* of design_point_mean; or NULL */
    struct judge *judge;
    struct standing standing; /* of a feasible point: what its numbers rest on */
    bool is_measured;         /* of design_point_mean: the runs repeat the closed form (runner_is_measured) */
};

/* Make the point with n assignments "NAME=VALUE", as in `--set`. False with all errors. Release *p in any case. The catalog must
 * outlive it. */
bool design_point_init(struct design_point *p, const struct model *model, const struct catalog *catalog,
                       const char *const *assignments, size_t n, struct diags *diags);
/* The same of a model whose defaults were read already, for many points: `defaults` must outlive the point. */
bool design_point_init_like(struct design_point *p, const struct binding *defaults, const char *const *assignments, size_t n,
                            struct diags *diags);
/* Make the same point under a mix of requests (sweep_requests_set_text), or without one for NULL. design_point_mean computes its
 * metrics. */
bool design_point_init_mix(struct design_point *p, const struct model *model, struct catalog *catalog,
                           const char *const *assignments, size_t n, const char *requests, struct diags *diags);
/* Fill the metrics with the means over the requests, or set the reason. False: stopped. */
bool design_point_mean(struct design_point *p, enum fidelity fidelity, const volatile sig_atomic_t *stop);
void design_point_release(struct design_point *p);

#endif
