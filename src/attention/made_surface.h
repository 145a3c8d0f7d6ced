/* Quality of heads that a mixture makes (head_mixture.h), at contexts that nobody measured: what slopes beyond the measured
 * contexts are of (action_extend.c).
 *
 * A head is made once, as long as the longest context, with q of some steps before each context's end: the last 1024 steps or the
 * second half, if that is less. Methods that take a step by itself (windows, selection by the prompt's last steps, pages, formats
 * of the cache, arithmetic) are measured there at every context. Methods that follow every step (votes, sums of probabilities,
 * LAD's decoder) cost the square of the context, and are measured at the shorter ones.
 */
#ifndef DSE_ATTENTION_MADE_SURFACE_H
#define DSE_ATTENTION_MADE_SURFACE_H

#include "attention/head_mixture.h"
#include "attention/surface.h"

struct made_plan {
    const struct head_mixture *mixture;
    const size_t *contexts; /* growing */
    size_t n_contexts;
    size_t followed; /* the longest context of methods that follow every step */
    const double *ratios;
    size_t n_ratios;
};

/* Does the method take a step by itself? */
bool made_surface_sampled(const struct surface_method *m);
/* Measure; heads count as the layers that they stand for. Rows in *ret, which the caller frees, of methods[], by context and ratio:
 * a cache too small for a policy has none, nor has a method that follows every step beyond p->followed. False with errors.
 * About a minute a head and core for contexts to 131072, and 2 GB of memory a core. */
bool made_surface(const struct made_plan *p, const struct surface_method *methods, size_t n_methods, struct surface_row **ret,
                  size_t *ret_n, struct diags *diags);

#endif
