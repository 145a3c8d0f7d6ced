/* The rows of a breakdown as they are shown: by `dse eval --breakdown`, the table breakdown() and the report.
 *
 * A name means what the metric of that name means. Time is of a step (`latency_us`); traffic, operations and energy are of a
 * token (`dram_mib`, `energy_mj`): of the step's, divided by the tokens that it yields.
 */
#ifndef DSE_MODEL_BREAKDOWN_H
#define DSE_MODEL_BREAKDOWN_H

#include "model/registry.h"

struct part_row {
    const char *part, *bound;        /* "total" and NULL for the row of the total */
    int depth;                       /* -1 for the total, whose details are the parts of depth 0 */
    double time_us;                  /* of a step */
    double share;                    /* of the step's time */
    double dram_mib, gop, energy_mj; /* of a token; NaN where the model does not say how many tokens a step yields */
};

/* Row i of a point's breakdown, 0 <= i < b->n. */
struct part_row breakdown_row(const struct model *m, const void *metrics, const struct dse_breakdown *b, int i);
/* The row of the total, which is the sum over the parts of depth 0. */
struct part_row breakdown_total(const struct model *m, const void *metrics, const struct dse_breakdown *b);

/* Cause i of a point's energy, 0 <= i < b->n_causes: its mJ a token, and its share of all energy. */
struct cause_row {
    const char *cause;
    double energy_mj, share;
};
struct cause_row breakdown_cause(const struct model *m, const void *metrics, const struct dse_breakdown *b, int i);

#endif
