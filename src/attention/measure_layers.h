/* Going over the heads of a plan, for what measure.h measures. */
#ifndef DSE_ATTENTION_MEASURE_LAYERS_H
#define DSE_ATTENTION_MEASURE_LAYERS_H

#include "attention/measure.h"

/* What is found out of one layer's heads, all cut at the c-th context. `measure` is called by several threads, `add` by one at a
 * time and layer by layer. What follows every step says so: heads with q of some steps alone are refused for it. */
struct measurement {
    size_t (*size)(const void *user, size_t c, size_t heads); /* bytes of a result */
    bool (*measure)(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret, struct diags *diags);
    void (*add)(void *user, size_t c, size_t heads, const void *result);
    void *user;
    const char *follows; /* "LAD's decoder"; NULL: takes the steps that there are */
};

/* Measure all layers of all sources. False with errors: those of the plan, or of the first layer that fails. */
bool measure_each_layer(const struct measure_plan *p, const struct measurement *m, struct diags *diags);

#endif
