/* What the files primitives*.c share: a primitive is a function of a point and one of a box, and a row of primitives.c. */
#ifndef DSE_GRAPH_PRIMITIVE_INTERNAL_H
#define DSE_GRAPH_PRIMITIVE_INTERNAL_H

#include "graph/primitive.h"

#include <dse/bound.h>
#include <dse/num.h>

#include <math.h>

/* A point's answers and a box's. */
#define POINT(name) void primitive_##name(const struct groups *g, const double *a, double *ret)
#define BOX(name) void primitive_##name(const struct groups_box *g, const struct graph_range *a, struct graph_range *ret)
#define NO_ARGUMENTS (void)a

/* The interval of an argument. Where it may be no number, the numbers alone are meant. */
static inline struct dse_interval iv(struct graph_range a)
{
    return range_is_nothing(a) ? dse_unbounded : dse_iv(a.lo, a.hi);
}

static inline struct graph_range hull(double x, double y)
{
    return isnan(x) || isnan(y) ? range_unknown : (struct graph_range){dse_min(x, y), dse_max(x, y), false, false};
}

static const double positions_most = 1e15; /* more are no number of positions */

static inline bool is_one(const struct graph_range *r)
{
    return !r->none && r->lo == r->hi;
}

/* Points without a number may lie among the others. */
static inline struct graph_range some_of(struct dse_interval v)
{
    return (struct graph_range){v.lo, v.hi, true, false};
}

/* Are they arguments of which the forms of dse/bound.h know something? */
static inline bool positive(struct graph_range a)
{
    return !a.none && a.lo >= 0;
}

/* Of what follows from choices, entries and single numbers alone: else nothing is known. */
static inline void box_of_point(const struct groups_box *g, const struct graph_range *a, const struct primitive *p,
                                struct graph_range *ret)
{
    bool single = true;
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) single = single && range_is_exact(a[i]);
    for (int i = 0; i < p->n_results; i++) ret[i] = range_unknown;
    if (single) primitive_at(p, &g->lo, a, ret);
}

/* The entry that the parameter at that place names. */
const void *primitive_entry(const struct groups *g, double place);

POINT(boards);
BOX(boards_box);
POINT(cache_step);
BOX(cache_step_box);
POINT(capacity);
BOX(capacity_box);
POINT(chips);
BOX(chips_box);
POINT(clock_share);
POINT(deal);
BOX(deal_box);
POINT(decode);
BOX(decode_box);
POINT(die);
BOX(die_box);
POINT(energy);
BOX(energy_box);
POINT(exchange);
BOX(exchange_box);
POINT(exp2_swept);
POINT(experts);
BOX(experts_box);
POINT(fastest);
POINT(flash2_splits);
BOX(flash2_splits_box);
POINT(footprint);
POINT(footprint_at);
BOX(footprint_at_box);
BOX(footprint_box);
POINT(gpu_way);
BOX(gpu_way_box);
POINT(inexact);
BOX(inexact_box);
POINT(inexact_score);
BOX(inexact_score_box);
BOX(interface_box);
POINT(interface_energy);
POINT(leakage_share);
POINT(links_area);
BOX(links_area_box);
POINT(local_at);
BOX(local_at_box);
POINT(local_loss);
BOX(local_loss_box);
POINT(local_works);
BOX(local_works_box);
POINT(moved);
BOX(moved_box);
POINT(network);
BOX(network_box);
POINT(passes);
BOX(passes_box);
POINT(peak);
BOX(peak_box);
POINT(plain);
BOX(plain_box);
POINT(quality);
BOX(quality_box);
POINT(rate);
BOX(rate_box);
POINT(reticle);
POINT(rotation);
POINT(row);
BOX(row_box);
POINT(score);
BOX(score_box);
POINT(seconds);
BOX(seconds_box);
POINT(shared);
BOX(shared_box);
POINT(softmax_pieces);
POINT(sram);
POINT(sram_beyond);
BOX(sram_box);
POINT(sram_node);
POINT(sram_range);
POINT(stream);
BOX(stream_box);
POINT(supply);
BOX(supply_box);
POINT(tables);
BOX(tables_box);
POINT(on_device);
BOX(on_device_box);
POINT(kept);
BOX(kept_box);
POINT(scalars);
BOX(scalars_box);
POINT(target);
BOX(target_box);
POINT(technology);
POINT(technology_node);
POINT(tokens);
BOX(tokens_box);
POINT(widening);
BOX(widening_box);
POINT(widest);
BOX(widest_box);

#endif
