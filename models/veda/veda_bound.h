/* Bounds of the closed form over a box, inside: README.md, "Bounds", says which term goes where. veda_bound.c has the box, a
 * step at its ends and the metrics; veda_bound_power.c what the chip draws and costs. */
#ifndef VEDA_BOUND_H
#define VEDA_BOUND_H

#include "veda.h"

#include <dse/bound.h>
#include <dse/workload_box.h>

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
    struct dse_interval volts, core_mm2, links_mm2;
    struct dse_die_bound die;
    struct veda_power least, most; /* of all devices */
    struct veda_draws draws;
};

struct veda_box {
    struct veda_params lo, hi;            /* without what check() refuses anyway; of a part, `devices` are its chips */
    const struct dse_workload_part *part; /* of other LLMs, or of several chips by the workload's degrees; else NULL */
    struct veda_end end[VEDA_ENDS];
    struct veda_bound_chip chip;
};

/* ---- the box: veda_bound_box.c ------------------------------------------------------------------------------------------- */

bool veda_generates(const struct veda_params *p);
bool veda_keeps_all(const struct veda_params *p);
/* Takes from the box what no point that check() accepts has. False: nothing is left. */
bool veda_box_contract(struct veda_box *b);
/* The parameters of an end, of the cache those that a policy leaves the least, or the most, of. */
void veda_box_end(const struct veda_box *b, bool fast, struct veda_params *ret);
void veda_box_cache(const struct veda_box *b, bool fast, struct veda_params *p);
/* E2, E3: adder trees of some width; E8: rows of keys and values, of so many bytes, that come one by one. */
void veda_box_trees(const struct veda_box *b, bool fast, struct veda_array *a);
void veda_box_rows(const struct veda_box *b, bool fast, struct dse_interval row, struct veda_point *pt);

/* ---- the chip and what it takes: veda_bound_power.c ---------------------------------------------------------------------- */

/* False: no chip of the box can be built. */
bool veda_bound_chip(const struct veda_params *lo, const struct veda_params *hi, struct veda_bound_chip *ret);

/* What a token takes at least of all chips: joules that they draw beyond what its work takes, seconds of a chip, cycles of a PE.
 * They are summed part by part, so that a faster clock, a larger array or another device, which makes a part shorter, does not
 * count as if it made it no shorter. */
struct veda_least {
    double joules, device_s, pe_cycles;
};
struct veda_least veda_least_of(const struct veda_box *b);
/* What a part of a token takes at least, on one device: seconds in all; cycles of array and special functions, whichever is longer.
 * Of all devices: multiply-adds; seconds that one device's DRAM would take for all bytes. */
struct veda_part {
    double seconds, cycles;
    double macs, all_dram_s;
};
void veda_least_add(const struct veda_box *b, const struct veda_part *p, struct veda_least *sum);
/* What a token takes. */
struct veda_spent {
    struct veda_work least, most;
    double drawn,
        work_w; /* joules drawn at least whatever is done; watts of work at least, where more is known than of both ends */
    struct dse_interval ops;
};
/* Floors and ceilings of energy and of what follows from it, where seconds and bytes of a token are known. */
void veda_bound_joules(const struct veda_bound_chip *chip, const struct veda_spent *spent, struct dse_totals_bound *t,
                       struct veda_metrics *f, struct veda_metrics *c);
/* The same of the paper's LLM. */
void veda_bound_energy(const struct veda_box *b, double drawn, struct dse_totals_bound *t, struct veda_metrics *f,
                       struct veda_metrics *c);
/* The common metrics: with what a token costs of one device at a time, of which more is known than of all. */
void veda_bound_common(const struct veda_box *b, const struct veda_least *least, struct dse_totals_bound *t, struct dse_common *f,
                       struct dse_common *c);

/* ---- metrics that both kinds of boxes have: veda_bound.c --------------------------------------------------------------------- */

void veda_bound_quality(const struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c);
/* Useful multiply-adds over those that the PEs of all devices could do, of so many operations and seconds of an array at work. */
struct dse_interval veda_bound_utilization(const struct veda_box *b, struct dse_interval ops, struct dse_interval gemv_s);
/* Do both take the same time, for the same reasons? */
bool veda_bound_same_attention(const struct veda_attention *a, const struct veda_attention *b);
/* Peaks, area and what follows from them. */
void veda_bound_machine(const struct veda_box *b, const struct veda_least *least, struct dse_totals_bound *t,
                        struct veda_metrics *f, struct veda_metrics *c);
/* The bounds of both; into the first. */
void veda_bound_hull(struct veda_metrics *f, struct veda_metrics *c, const struct veda_metrics *other_f,
                     const struct veda_metrics *other_c);

/* ---- other LLMs, several chips: veda_bound_llms.c ---------------------------------------------------------------------------- */

/* Of a part of a box (a dse_bound_part), all steps at a context or all means of generations. */
bool veda_bound_part(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling);
/* Of the paper's LLM. */
bool veda_bound_plain(const struct veda_params *lo, const struct veda_params *hi, struct veda_metrics *f, struct veda_metrics *c);

#endif
