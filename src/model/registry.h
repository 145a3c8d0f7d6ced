/* The registry: every model of models/meson.build, with its tables made flat. */
#ifndef DSE_MODEL_REGISTRY_H
#define DSE_MODEL_REGISTRY_H

#include "desc/schema.h"

#include <dse/model.h>

struct model {
    const struct dse_model *desc;
    struct schema params, metrics, equations;
};

/* Every model, in the order of models/meson.build. The array lives as long as the process; made at the first call (not
 * thread-safe). */
const struct model *registry_models(size_t *ret_n);
/* The names of all models, in the same order; valid as long as those. */
const char *const *registry_names(size_t *ret_n);
/* The model of that name, or NULL. */
const struct model *registry_find(const char *name);
/* Free what registry_models made; for a clean exit under leak checkers. */
void registry_release(void);

#endif
