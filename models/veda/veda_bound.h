/* Bounds of the closed form over a box, inside: README.md, "Bounds", says which term goes where. veda_bound.c has the box, a
 * step at its ends and the metrics; veda_bound_power.c what the chip draws and costs. */
#ifndef VEDA_BOUND_H
#define VEDA_BOUND_H

#include "veda.h"

#include <dse/bound.h>

/* The two ends of a box: what makes a step short, and what makes it long. */
enum { VEDA_FAST, VEDA_SLOW, VEDA_ENDS };

/* What a token takes of a step. A batch shares weights and exchanges, so that its ends have the batch of the one or the other. */
struct veda_token {
    struct veda_linear linear[VEDA_LINEARS];
    double time_s, linear_s, attention_s, exchange_s, other_s; /* other_s: all but attention */
    double gemv_s, bytes, ops, sfu_ops, votes;
    double widened; /* E31 */
};

struct veda_end {
    struct veda_params p;
    struct veda_point pt;
    struct veda_step step;    /* with the exchange of this end, and the sums */
    struct veda_step crowded; /* the same of the largest batch, where that has activations leave the chip; else nothing */
    struct veda_token token;
};

/* What one chip draws at least, by the clock. Leakage and clock tree of what there is are a part that goes with its PEs, and the
 * rest; both are watts, and joules a cycle. */
struct veda_draws {
    double device_w, device_cycle_j;
    double pe_cycle_j, pes;
};

struct veda_bound_chip {
    struct dse_interval volts, core_mm2;
    struct dse_die_bound die;
    struct veda_power least, most; /* of all devices */
    struct veda_draws draws;
};

struct veda_box {
    struct veda_params lo, hi; /* without what check() refuses anyway */
    struct veda_end end[VEDA_ENDS];
    struct veda_bound_chip chip;
};

/* False: no chip of the box can be built. */
bool veda_bound_chip(const struct veda_params *lo, const struct veda_params *hi, struct veda_bound_chip *ret);

/* What a token takes at least of all chips: joules that they draw beyond what its work takes, seconds of a chip, cycles of a PE. They
 * are summed part by part, so that a faster clock, a larger array or another device, which makes a part shorter, does not count as
 * if it made it no shorter. */
struct veda_least {
    double joules, device_s, pe_cycles;
};
struct veda_least veda_least_of(const struct veda_box *b);
/* Floors and ceilings of energy and of what follows from it. */
void veda_bound_energy(const struct veda_box *b, double drawn, struct dse_totals_bound *t, struct veda_metrics *f,
                       struct veda_metrics *c);
/* The common metrics: with what a token costs of one device at a time, of which more is known than of all. */
void veda_bound_common(const struct veda_box *b, const struct veda_least *least, struct dse_totals_bound *t, struct dse_common *f,
                       struct dse_common *c);

#endif
