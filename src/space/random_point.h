/* Random points of a model, for tests, benches and proofs over all models. */
#ifndef DSE_SPACE_RANDOM_POINT_H
#define DSE_SPACE_RANDOM_POINT_H

#include "config/catalog.h"
#include "model/registry.h"

/* The next number in [0, 1) of a sequence. */
double random_uniform(uint64_t *seed);
/* Any value that the field's range allows. */
struct value random_value_of(const struct field *f, const struct catalog *catalog, uint64_t *seed);
/* The parameters of a random point of the model, resolved. `share` of the parameters differ from those of `base`, anywhere in
 * their ranges. Returns whether the point is feasible. */
bool random_point_of(const struct model *m, const struct catalog *catalog, const void *base, double share, uint64_t *seed,
                     void *params);

#endif
