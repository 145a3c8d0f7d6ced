/* Internal to src/space: points that are put in one by one, and run at once by a model that can (model/many.h). What points have
 * alike is told by keys, one an axis: what depends on an axis is computed once for each of its keys. One thread has a list. */
#ifndef DSE_SPACE_MANY_LIST_H
#define DSE_SPACE_MANY_LIST_H

#include "model/registry.h"

enum { MANY_LIST_MAX = 256, MANY_LIST_AXES_MAX = 32 }; /* points; axes */

struct many_list;
/* `axes`: by parameter, the axes that set it before resolve(); bits. The list takes it. NULL: the model runs points one by one, or
 * there are too many axes. */
struct many_list *many_list_new(const struct model *m, int n_axes, uint32_t *axes);
void many_list_free(struct many_list *l);

/* Put in the next point: a copy of `start`, which keys tell from others, to be changed and resolved by the caller. After a run the
 * list begins anew. Requires less than MANY_LIST_MAX points. */
void *many_list_put(struct many_list *l, const void *start, const int64_t *keys);
/* Run all that were put in. */
void many_list_run(struct many_list *l);
/* Of point i: its parameters, why check() refuses it, or NULL and its metrics. */
const void *many_list_params(const struct many_list *l, size_t i);
const char *many_list_reason(const struct many_list *l, size_t i);
const void *many_list_metrics(const struct many_list *l, size_t i);

#endif
