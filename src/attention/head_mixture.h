/* A mixture of head kinds: a component for each head of a trace (head_kinds.h). */
#ifndef DSE_ATTENTION_HEAD_MIXTURE_H
#define DSE_ATTENTION_HEAD_MIXTURE_H

#include "attention/head_kinds.h"
#include "attention/measure.h"
#include "attention/trace.h"

struct head_mixture {
    char *model, *source; /* of the trace, or of the file */
    struct head_component *list;
    size_t n;
};

/* Fit every head of a trace by its first n positions, HEAD_FIT_MIN to HEAD_FIT_MAX. False with an error. The result does not depend
 * on the number of threads. */
bool head_mixture_fit(const struct trace *t, size_t n, struct head_mixture *ret, struct diags *diags);
void head_mixture_release(struct head_mixture *m);

/* Heads of a layer in a mixture whose components are all heads of some layers, in order; 0: it is another one. */
size_t head_mixture_grid(const struct head_mixture *m);
/* The first head of each component, n positions, in layers as they were where the mixture is such a grid, else each as a layer. The
 * mixture must outlive the source. */
struct mixture_heads {
    const struct head_mixture *mixture;
    size_t n;
};
struct head_source head_source_mixture(struct mixture_heads *h);

/* How far two samples of one feature are apart, over the heads: the largest difference of their distribution functions
 * (Kolmogorov-Smirnov). */
double head_mixture_apart(const struct head_mixture *m, size_t feature);
/* The q-quantile over the heads of a feature of the real heads, or of the made ones. NaN: no head has it. */
double head_mixture_quantile(const struct head_mixture *m, size_t feature, bool made, double q);

#endif
