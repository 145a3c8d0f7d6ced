/* Internal to src/search: the front that a design point belongs to: a sweep has one for each combination of the values of `per`. */
#ifndef DSE_SEARCH_ROW_GROUPS_H
#define DSE_SEARCH_ROW_GROUPS_H

#include "space/space.h"

/* "llama2-7b, 4096": the values of `per` in resolved parameters of a model; "" in a sweep with one front. What the model has no
 * parameter for is "". The text is that of `t`, whose contents it replaces. */
const char *row_group(const struct sweep_file *s, const struct model *m, const void *params, struct text *t);
/* Is it the same for every point between these corners of a box? */
bool row_group_is_one(const struct sweep_file *s, const struct model *m, const void *lo, const void *hi);

#endif
