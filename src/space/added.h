/* Internal to src/space: the metrics that a sweep adds to those of a model. */
#ifndef DSE_SPACE_ADDED_H
#define DSE_SPACE_ADDED_H

#include "config/sweep_file.h"
#include "model/ratios.h"
#include "model/served.h"

struct added {
    struct ratios ratios; /* of a sweep with [baseline] */
    struct served served; /* of one with [requests] */
};

/* The model's metrics and those that the sweep adds, in a struct of added_size(m) bytes whose `struct added` stands at
 * added_offset(m). One that can have no value, because the model or the baseline's lacks what it is made of, is `without`. Release
 * it. */
void metrics_with_added(const struct sweep_file *s, const struct model *m, struct schema *ret);
size_t added_offset(const struct model *m);
size_t added_size(const struct model *m);

#endif
