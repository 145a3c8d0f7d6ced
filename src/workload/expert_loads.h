/* Building a profile of expert loads from its rows, and what the closed form asks of one; the rest is in <dse/catalog.h>.
 *
 * A profile is made once, by the loader of the catalog, and only read afterwards, from any thread.
 */
#ifndef DSE_WORKLOAD_EXPERT_LOADS_H
#define DSE_WORKLOAD_EXPERT_LOADS_H

#include "workload/measured.h"
#include "workload/row_fault.h"

#include <stddef.h>

/* Any number that goes with how many tokens chose the expert. */
struct expert_loads_row {
    double layer, expert, load;
};

/* Make a profile of n rows: layer by layer, growing; in each all experts, numbered from 0. NULL when the rows are none: then
 * *ret_fault says why, by row and column. It starts with its struct dse_entry (name and source are copied); expert_loads_free frees
 * it. */
struct dse_expert_loads *expert_loads_new(const char *name, const char *source, const struct expert_loads_row *rows, size_t n,
                                          struct row_fault *ret_fault);
/* Set how it was measured. */
void expert_loads_set_measured(struct dse_expert_loads *l, struct dse_measured *m);
void expert_loads_free(struct dse_expert_loads *l);

/* The largest share of an expert in its layer. */
double expert_loads_largest(const struct dse_expert_loads *l);
/* Experts of a layer that are touched by `tokens` which choose `active` each: the sum over experts of 1 - (1 - active
 * share)^tokens, the mean over layers. By a Gauss quadrature over the logarithm of the share, exact to 5e-5 for loads over four
 * decades. */
double expert_loads_touched(const struct dse_expert_loads *l, double active, double tokens);
/* Of all choices in a layer those on the fullest chip, which holds `each` experts that stand beside each other; the mean over
 * layers. each is ceil(experts / chips). */
double expert_loads_fullest(const struct dse_expert_loads *l, int64_t each);

#endif
