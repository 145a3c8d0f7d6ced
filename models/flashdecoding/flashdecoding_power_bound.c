/* Bounds of what boards draw, and of the clock that their limit leaves: flashdecoding_power.c, E17, E26, E27, in its order. */
#include "flashdecoding_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

static struct dse_interval positive(struct dse_interval a)
{
    return (struct dse_interval){dse_max(a.lo, 0), dse_max(a.hi, 0)};
}

static struct dse_interval voltage_squared(struct dse_interval clock)
{
    return dse_widened(dse_gpu_voltage_squared(clock.lo), dse_gpu_voltage_squared(clock.hi), 2);
}

/* struct dse_power_law of one device. */
struct law {
    struct dse_interval idle_w, awake_w, active_w, byte_j, op_j;
};

/* Its SMs at `clock` times the board's own. */
static struct law law_at(const struct fd_box *b, struct dse_interval clock)
{
    const struct dse_gpu *gpu = b->lo.gpu;
    const struct dse_interval idle_w = FD_OF(b, idle_w), voltage2 = voltage_squared(clock);
    const struct dse_interval range_w = positive(dse_iv_sub(dse_iv_of(gpu->board_power_w), idle_w));
    const struct dse_interval made = dse_iv_mul(dse_iv_scale(FD_OF(b, sms), 1 / (double)gpu->sms), dse_iv_mul(clock, voltage2));
    const struct dse_interval pj = dse_iv_add(FD_OF(b, dram_pj_per_bit), FD_OF(b, way_pj_per_bit));
    const struct dse_interval peak = dse_iv_scale(FD_OF(b, tensor_tflops), 1e3 * DSE_GIGA);
    return (struct law){.idle_w = idle_w,
                        .awake_w = dse_iv_mul(dse_iv_mul(FD_OF(b, awake_share), range_w), made),
                        .active_w = dse_iv_mul(dse_iv_mul(FD_OF(b, active_share), range_w), made),
                        .byte_j = dse_iv_scale(pj, DSE_BITS_PER_BYTE * DSE_PICO),
                        .op_j = dse_iv_mul(dse_iv_div(dse_iv_mul(FD_OF(b, tensor_share), range_w), peak), voltage2)};
}

static struct dse_interval own_clock(const struct fd_box *b)
{
    const double own = b->lo.gpu->clock_ghz;
    return dse_iv(b->lo.clock_ghz / own, b->hi.clock_ghz / own);
}

/* Of a second of the step: that kernels run, bytes and operations. No more than the machine can. */
struct rates {
    struct dse_interval busy, bytes, ops;
};

static struct rates rates_of(const struct fd_box *b, const struct fd_step_bound *s)
{
    const double streaming = dse_max(b->hi.linear_efficiency, b->hi.attention_efficiency) * b->fast.bandwidth;
    const double computing = dse_max(dse_max(b->fast.tensor_peak, b->fast.vector_peak), b->fast.gemv_ops), slack = 1 + 1e-12;
    struct rates r = {.busy = dse_iv_div(s->busy_s, s->seconds),
                      .bytes = dse_iv_div(s->bytes, s->seconds),
                      .ops = dse_iv_div(s->ops, s->seconds)};
    r.busy.hi = dse_min(r.busy.hi, slack);
    r.bytes.hi = dse_min(r.bytes.hi, streaming * slack);
    r.ops.hi = dse_min(r.ops.hi, computing * slack);
    return r;
}

/* Watts of a step with `share` of the energy of active units and operations. */
static struct dse_interval watts_of(const struct law *l, const struct rates *r, struct dse_interval share)
{
    const struct dse_interval held = dse_iv_add(dse_iv_mul(l->active_w, r->busy), dse_iv_mul(l->op_j, r->ops));
    const struct dse_interval rest = dse_iv_add(dse_iv_add(l->idle_w, l->awake_w), dse_iv_mul(l->byte_j, r->bytes));
    return dse_iv_add(rest, dse_iv_mul(share, held));
}

static struct dse_interval joules_of(const struct law *l, const struct fd_step_bound *s, struct dse_interval share)
{
    const struct dse_interval held = dse_iv_add(dse_iv_mul(l->active_w, s->busy_s), dse_iv_mul(l->op_j, s->ops));
    const struct dse_interval rest =
        dse_iv_add(dse_iv_mul(dse_iv_add(l->idle_w, l->awake_w), s->seconds), dse_iv_mul(l->byte_j, s->bytes));
    return dse_iv_add(rest, dse_iv_mul(share, held));
}

/* The share at which a step stays within the limit, `pace` times as long; at least `least`. */
static struct dse_interval held_share(const struct law *l, const struct rates *r, double limit_w, struct dse_interval pace,
                                      double least)
{
    const struct dse_interval held = dse_iv_add(dse_iv_mul(l->active_w, r->busy), dse_iv_mul(l->op_j, r->ops));
    const struct dse_interval rest = dse_iv_add(dse_iv_add(l->idle_w, l->awake_w), dse_iv_mul(l->byte_j, r->bytes));
    const struct dse_interval room = dse_iv_sub(dse_iv_scale(pace, limit_w), rest);
    const double lo = held.hi > 0 ? room.lo / held.hi : 1, hi = held.lo > 0 ? room.hi / held.lo : 1;
    return dse_widened(dse_clamp(lo, least, 1), room.hi <= 0 ? least : dse_clamp(hi, least, 1), 4);
}

/* ---- the point ------------------------------------------------------------------------------------------------------------- */

static void evaluate_at(struct fd_step_bound *ret, struct fd_box *b, struct dse_interval clock)
{
    const double own = b->lo.gpu->clock_ghz;
    fd_box_clock(b, dse_iv(clock.lo * own, clock.hi * own));
    fd_step_bound_init(ret, b);
}

/* What the board's own limit leaves at its own clock. */
static struct dse_interval held_at_own_clock(struct fd_box *b, const struct rates *r, struct dse_interval clock)
{
    const double limit_w = b->lo.gpu->board_power_w;
    const struct dse_interval own = dse_iv_of(1), pace = dse_iv_min(own, clock);
    const struct law law = law_at(b, own);
    const struct dse_interval first = held_share(&law, r, limit_w, pace, FD_LEAST_HELD);
    if (dse_iv_is_point(clock) && clock.lo == 1) return first;
    if (first.lo >= 1) return own;
    struct fd_step_bound step;
    evaluate_at(&step, b, own);
    const struct rates at = rates_of(b, &step);
    const struct dse_interval held = held_share(&law, &at, limit_w, own, FD_LEAST_HELD);
    return first.hi < 1 ? held : dse_iv_hull(held, own);
}

/* At a clock: a voltage that is lower already is not lowered. */
static struct dse_interval share_at(struct dse_interval clock, struct dse_interval held)
{
    return dse_iv_clamp(dse_iv_div(held, voltage_squared(dse_iv_min(dse_iv_of(1), clock))), 0, 1);
}

static struct dse_interval watts_at(struct fd_step_bound *ret, struct fd_box *b, struct dse_interval clock,
                                    struct dse_interval held)
{
    evaluate_at(ret, b, clock);
    const struct law law = law_at(b, clock);
    const struct rates rates = rates_of(b, ret);
    return watts_of(&law, &rates, share_at(clock, held));
}

/* E27: the clocks between which that lies at which the limit is just kept. Where all clocks of a piece draw too much it is below
 * them, where all keep the limit above; one that needs not be lowered stays. Tried on ever smaller pieces at both ends. */
static struct dse_interval slowed(struct fd_box *b, struct dse_interval clock, struct dse_interval held)
{
    enum { TRIES = 5 };
    const double near_enough = 1e-9, lowest = dse_min(FD_LOWEST_CLOCK, clock.lo), floor = dse_min(FD_LOWEST_CLOCK, clock.hi);
    struct dse_interval at = {lowest, clock.hi};
    struct fd_step_bound step;
    double piece = (at.hi - at.lo) / 2;
    for (int i = 0; i < TRIES && at.hi > floor; i++) {
        const struct dse_interval top = {dse_max(floor, at.hi - piece), at.hi};
        if (watts_at(&step, b, top, held).lo > b->hi.board_power_w * (1 + near_enough))
            at.hi = top.lo;
        else
            piece /= 2;
    }
    piece = (at.hi - at.lo) / 2;
    for (int i = 0; i < TRIES && at.lo < dse_min(clock.lo, at.hi); i++) {
        const struct dse_interval bottom = {at.lo, dse_min(at.lo + piece, dse_min(clock.lo, at.hi))};
        if (watts_at(&step, b, bottom, held).hi < b->lo.board_power_w * (1 - near_enough))
            at.lo = bottom.hi * (1 - near_enough);
        else
            piece /= 2;
        if (bottom.hi >= clock.lo && at.lo >= bottom.hi * (1 - 2 * near_enough)) break;
    }
    return at;
}

/* How much longer a step becomes where the lowest clock still draws too much. */
static double stretched(struct fd_box *b, struct dse_interval clock, struct dse_interval held)
{
    const struct dse_interval low = dse_iv_min(clock, dse_iv_of(FD_LOWEST_CLOCK));
    struct fd_step_bound step;
    evaluate_at(&step, b, low);
    const struct law law = law_at(b, low);
    const struct rates r = rates_of(b, &step);
    const struct dse_interval share = {0, share_at(low, held).hi};
    if (watts_of(&law, &r, share).hi <= b->lo.board_power_w) return 1;
    const double moved = law.byte_j.hi * r.bytes.hi + share.hi * law.op_j.hi * r.ops.hi;
    const double rest = b->lo.board_power_w - law.idle_w.hi - law.awake_w.hi - share.hi * law.active_w.hi * r.busy.hi;
    return rest > 0 ? dse_max(1, moved / rest * (1 + 1e-9)) : (double)INFINITY;
}

static void stretch(struct fd_step_bound *s, double factor)
{
    struct dse_interval *const times[] = {&s->linear_s,    &s->attention_s, &s->sync_s,  &s->elementwise_s,
                                          &s->allreduce_s, &s->wait_s,      &s->seconds, &s->busy_s};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) times[i]->hi = dse_product(times[i]->hi, factor);
}

/* The limit is exceeded at some points at least, which are slowed down. */
static void slow_down(struct fd_point_bound *ret, struct fd_box *b, struct dse_interval clock, struct dse_interval held)
{
    const double limit_w = b->hi.board_power_w, rounding = 1e-9;
    const struct dse_interval used = slowed(b, clock, held);
    const double factor = used.lo <= FD_LOWEST_CLOCK ? stretched(b, clock, held) : 1;
    evaluate_at(&ret->step, b, used);
    const struct law law = law_at(b, used);
    struct dse_interval share = share_at(used, held);
    if (factor > 1) share.lo = 0; /* settled again */
    ret->joules = joules_of(&law, &ret->step, share);
    stretch(&ret->step, factor);
    ret->joules.hi = dse_min(dse_product(ret->joules.hi, factor), limit_w * ret->step.seconds.hi * (1 + rounding));
    ret->step.seconds.lo = dse_max(ret->step.seconds.lo, ret->joules.lo / limit_w * (1 - rounding));
    ret->watts = dse_iv(0, limit_w * (1 + rounding));
    ret->clock_ghz = b->clock_ghz;
}

void fd_point_bound_init(struct fd_point_bound *ret, struct fd_box *b)
{
    const struct dse_interval clock = own_clock(b), board_w = FD_OF(b, board_power_w), whole = dse_iv_of(1);
    const double limit_w = b->lo.gpu->board_power_w;
    fd_step_bound_init(&ret->step, b);
    ret->clock_ghz = b->clock_ghz;
    ret->demand_w = ret->watts = board_w;
    ret->joules = dse_iv_mul(board_w, ret->step.seconds);
    if (b->lo.power == DSE_POWER_CONSTANT) return;
    const struct law law = law_at(b, clock);
    const struct rates rates = rates_of(b, &ret->step);
    const bool own = dse_iv_is_point(clock) && clock.lo == 1;
    const struct dse_interval demand = joules_of(&law, &ret->step, whole);
    ret->joules = demand;
    ret->demand_w = ret->watts = dse_iv_both(watts_of(&law, &rates, whole), dse_iv_div(demand, ret->step.seconds));
    if (own && ret->demand_w.hi <= dse_min(board_w.lo, limit_w)) return;
    const struct dse_interval held = held_at_own_clock(b, &rates, clock), share = share_at(clock, held);
    ret->watts = watts_of(&law, &rates, share);
    ret->joules = joules_of(&law, &ret->step, share);
    if (own) { /* the limit's energy where it binds, but no less than what cannot be held back */
        const struct dse_interval least = dse_iv_of(FD_LEAST_HELD), limit = dse_iv_of(limit_w);
        const struct dse_interval most_j = dse_iv_min(dse_iv_mul(limit, ret->step.seconds), demand);
        ret->joules = dse_iv_both(ret->joules, dse_iv_max(joules_of(&law, &ret->step, least), most_j));
        ret->watts = dse_iv_both(ret->watts, dse_iv_max(watts_of(&law, &rates, least), dse_iv_min(limit, ret->demand_w)));
    }
    fd_box_clock(b, FD_OF(b, clock_ghz));
    if (ret->watts.hi > board_w.lo * (1 + 1e-12)) slow_down(ret, b, clock, held);
}
