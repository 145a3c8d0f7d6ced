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

/* Of a second of the step: that kernels run, bytes and operations. */
struct rates {
    struct dse_interval busy, bytes, ops;
};

/* No more than the machine can. */
static void rates_limit(struct rates *r, const struct fd_box *b)
{
    const double shares = dse_max(b->hi.linear_efficiency, b->hi.attention_efficiency);
    const double streaming = dse_max(shares * b->fast.bandwidth, b->fast.vendor.stream);
    const double computing = dse_max(dse_max(b->fast.tensor_peak, b->fast.vector_peak), b->fast.gemv_ops), slack = 1 + 1e-12;
    r->busy.hi = dse_min(r->busy.hi, slack);
    if (b->part && b->lo.dataflow == FD_BY_VENDOR) return; /* experts: bytes and operations of a law, seconds of another (E31) */
    r->bytes.hi = dse_min(r->bytes.hi, streaming * slack);
    r->ops.hi = dse_min(r->ops.hi, computing * slack);
}

static struct rates rates_of(const struct fd_box *b, const struct fd_step_bound *s)
{
    const struct fd_amounts *a = &s->step, *t = &s->token;
    struct rates r = {.busy = dse_iv_both(dse_iv_div(a->busy_s, a->seconds), dse_iv_div(t->busy_s, t->seconds)),
                      .bytes = dse_iv_both(dse_iv_div(a->bytes, a->seconds), dse_iv_div(t->bytes, t->seconds)),
                      .ops = dse_iv_both(dse_iv_div(a->ops, a->seconds), dse_iv_div(t->ops, t->seconds))};
    rates_limit(&r, b);
    return r;
}

/* Watts of a step with `share` of the energy of active units and operations. */
static struct dse_interval watts_of(const struct law *l, const struct rates *r, struct dse_interval share)
{
    const struct dse_interval held = dse_iv_add(dse_iv_mul(l->active_w, r->busy), dse_iv_mul(l->op_j, r->ops));
    const struct dse_interval rest = dse_iv_add(dse_iv_add(l->idle_w, l->awake_w), dse_iv_mul(l->byte_j, r->bytes));
    return dse_iv_add(rest, dse_iv_mul(share, held));
}

static struct dse_interval joules_of(const struct law *l, const struct fd_amounts *s, struct dse_interval share)
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

/* Watts at a clock, of points that are slowed down from a higher one, or could be: `lo` is no more than what any of them draws at
 * this clock or at a higher one, `hi` no less than at this or at a lower one. By E26 power grows with the clock: awake units by
 * themselves; kernels run for a time that falls, times the clock grows; bytes and operations are the same in less time. `bytes`: at
 * all clocks. */
static struct dse_interval watts_at(struct fd_box *b, double clock, struct dse_interval held, struct dse_interval bytes)
{
    struct fd_step_bound s;
    evaluate_at(&s, b, dse_iv_of(clock));
    const struct law law = law_at(b, dse_iv_of(clock));
    struct rates r = {.busy = dse_iv_div(s.clocked_busy_s, s.clocked_s),
                      .bytes = dse_iv_div(bytes, s.clocked_s),
                      .ops = dse_iv_div(s.step.ops, s.clocked_s)};
    rates_limit(&r, b);
    return watts_of(&law, &r, share_at(dse_iv_of(clock), held));
}

/* Watts less a limit at two clocks between which they cross it, below and above. */
struct bracket {
    struct fd_box *b;
    struct dse_interval held, bytes;
    bool of_most; /* of the watts that are drawn at most; else of those at least */
    double limit_w;
    double low, high, below, above;
    int side;
};

static double over(const struct bracket *k, double clock)
{
    const struct dse_interval w = watts_at(k->b, clock, k->held, k->bytes);
    return (k->of_most ? w.hi : w.lo) - k->limit_w;
}

/* One step of the Illinois algorithm. Where the limit itself is met, the last one: to there, or just above. */
static void close_in(struct bracket *k)
{
    if (k->below >= 0) {
        const double next = k->low * (1 + 1e-11);
        if (!k->of_most && next < k->high && over(k, next) > 0) k->high = next;
        k->low = k->high = k->of_most ? k->low : k->high;
        return;
    }
    const double clock = (k->low * k->above - k->high * k->below) / (k->above - k->below), w = over(k, clock);
    if (w > 0) {
        k->high = clock;
        k->above = w;
        k->below /= k->side > 0 ? 2 : 1;
    } else {
        k->low = clock;
        k->below = w;
        k->above /= k->side < 0 ? 2 : 1;
    }
    k->side = w > 0 ? 1 : -1;
}

/* E27: the clocks, within others, between which that lies at which the limit is just kept. It is below a clock at which all points
 * draw too much, and above one at which none does, but for those that need not be slowed down. The wider bracket of the two is
 * closed in as long as it is wide beside what lies between them. */
static struct dse_interval slowed_within(struct fd_box *b, struct dse_interval within, struct dse_interval held,
                                         struct dse_interval bytes)
{
    enum { STEPS_MAX = 30 };
    const double near_enough = 1.5e-10, share = 0.1;
    const struct dse_interval own = own_clock(b);
    const struct bracket start = {.b = b, .held = held, .bytes = bytes, .low = within.lo, .high = within.hi};
    struct bracket top = start, bottom = start;
    top.limit_w = b->hi.board_power_w * (1 + 1e-12);
    bottom.limit_w = b->lo.board_power_w * (1 - near_enough);
    bottom.of_most = true;
    const struct dse_interval at_hi = watts_at(b, within.hi, held, bytes), at_lo = watts_at(b, within.lo, held, bytes);
    top.above = at_hi.lo - top.limit_w;
    top.below = at_lo.lo - top.limit_w;
    bottom.above = at_hi.hi - bottom.limit_w;
    bottom.below = at_lo.hi - bottom.limit_w;
    if (top.above <= 0 || top.below >= 0) top.low = top.high = top.above > 0 ? within.lo : within.hi;
    if (bottom.above <= 0 || bottom.below >= 0) bottom.low = bottom.high = bottom.above > 0 ? within.lo : within.hi;
    const bool kept = bottom.below < 0;
    for (int i = 0; i < STEPS_MAX; i++) {
        const double wide_top = top.high - top.low, wide_bottom = bottom.high - bottom.low, wide = dse_max(wide_top, wide_bottom);
        if (wide <= dse_max(share * (top.high - bottom.low - wide_top - wide_bottom), 1e-11)) break;
        close_in(wide_top >= wide_bottom ? &top : &bottom);
    }
    const double least = kept ? dse_min(bottom.low, own.lo) * (1 - near_enough) : within.lo;
    const double lowest = dse_min(FD_LOWEST_CLOCK, own.hi); /* where some points stay, whatever they draw */
    return dse_iv(dse_max(within.lo, least), dse_max(top.high, lowest));
}

/* Again and again, where it is known well: what the step moves and loads is better known for few clocks than for all. Leaves the
 * step at these clocks. */
static struct dse_interval slowed(struct fd_step_bound *ret, struct fd_box *b, struct dse_interval held)
{
    enum { PASSES_MAX = 3 };
    const double well = 0.05, enough = 1e-9;
    const struct dse_interval own = own_clock(b);
    struct dse_interval used = {dse_min(FD_LOWEST_CLOCK, own.lo), own.hi};
    for (int i = 0; i < PASSES_MAX; i++) {
        evaluate_at(ret, b, used);
        b->attention_load_s = ret->attention_load_s;
        used = slowed_within(b, used, held, ret->step.bytes);
        if (used.hi - used.lo > well * used.hi || used.hi - used.lo < enough * used.hi) break;
    }
    evaluate_at(ret, b, used);
    return used;
}

/* Joules of steps at clocks between two, which are known at both (`slow`, `fast`): what awake and active units take grows with
 * the clock, what is taken for idle time falls. */
static struct dse_interval joules_between(const struct law law[2], const struct dse_interval share[2],
                                          const struct fd_amounts *slow, const struct fd_amounts *fast, const struct fd_amounts *of)
{
    const struct law *l = &law[0], *h = &law[1];
    const double least = share[0].lo * (l->active_w.lo * slow->busy_s.lo + l->op_j.lo * of->ops.lo);
    const double most = share[1].hi * (h->active_w.hi * fast->busy_s.hi + h->op_j.hi * of->ops.hi);
    const double lo = l->idle_w.lo * of->seconds.lo + l->awake_w.lo * slow->seconds.lo + l->byte_j.lo * of->bytes.lo + least;
    const double hi = h->idle_w.hi * of->seconds.hi + h->awake_w.hi * fast->seconds.hi + h->byte_j.hi * of->bytes.hi + most;
    return dse_widened(lo, hi, 16);
}

/* The same over all clocks of a range, of the point that is known over it. Leaves the box at these clocks. */
static void clocked_joules(struct fd_point_bound *ret, struct fd_box *b, struct dse_interval clock, struct dse_interval held)
{
    const struct dse_interval at[] = {dse_iv_of(clock.lo), dse_iv_of(clock.hi)};
    const struct law law[] = {law_at(b, at[0]), law_at(b, at[1])};
    const struct dse_interval share[] = {share_at(at[0], held), share_at(at[1], held)};
    struct fd_step_bound step[2];
    for (int i = 0; i < 2; i++) {
        evaluate_at(&step[i], b, at[i]);
        step[i].step.seconds = step[i].clocked_s;
        step[i].step.busy_s = step[i].clocked_busy_s;
    }
    ret->joules = dse_iv_both(ret->joules, joules_between(law, share, &step[0].step, &step[1].step, &ret->step.step));
    ret->token_joules =
        dse_iv_both(ret->token_joules, joules_between(law, share, &step[0].token, &step[1].token, &ret->step.token));
}

/* What comes of it where the lowest clock still draws too much: less energy of active units, and how much longer a step becomes
 * where the least of it is still too much. */
struct settled {
    bool less;
    double longer;
};

static struct settled settled(struct fd_box *b, struct dse_interval held)
{
    const struct dse_interval low = dse_iv_min(own_clock(b), dse_iv_of(FD_LOWEST_CLOCK)), share = share_at(low, held);
    const struct dse_interval least = dse_iv_min(share, dse_iv_of(FD_LEAST_HELD));
    const double limit_w = b->lo.board_power_w;
    struct fd_step_bound step;
    evaluate_at(&step, b, low);
    const struct law law = law_at(b, low);
    const struct rates r = rates_of(b, &step);
    struct settled s = {.less = watts_of(&law, &r, share).hi > limit_w, .longer = 1};
    if (!s.less || watts_of(&law, &r, least).hi <= limit_w) return s;
    const double moved = law.byte_j.hi * r.bytes.hi + least.hi * law.op_j.hi * r.ops.hi;
    const double rest = limit_w - law.idle_w.hi - law.awake_w.hi - least.hi * law.active_w.hi * r.busy.hi;
    s.longer = rest > 0 ? dse_max(1, moved / rest * (1 + 1e-9)) : (double)INFINITY;
    return s;
}

/* What is moved and computed takes what the limit leaves of it, so long at least as it takes at that: of any step that keeps it. */
static double least_seconds(const struct law *l, const struct rates *r, const struct fd_amounts *a, double share, double limit_w)
{
    const double moved = l->byte_j.lo * a->bytes.lo + share * l->op_j.lo * a->ops.lo;
    const double rest = limit_w - l->idle_w.lo - l->awake_w.lo - share * l->active_w.lo * r->busy.lo;
    return rest > 0 ? moved / rest * (1 - 1e-9) : 0;
}

static void stretch(struct fd_step_bound *s, double factor)
{
    struct dse_interval *const times[] = {&s->linear_s, &s->attention_s,  &s->sync_s,        &s->allreduce_s,
                                          &s->wait_s,   &s->step.seconds, &s->token.seconds, &s->technique_s};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) times[i]->hi = dse_product(times[i]->hi, factor);
}

/* Joules of a step and of a token. */
static void fill_joules(struct fd_point_bound *ret, const struct law *law, struct dse_interval share)
{
    ret->joules = joules_of(law, &ret->step.step, share);
    ret->token_joules = joules_of(law, &ret->step.token, share);
}

/* The limit is exceeded at some points at least, which are slowed down. */
static void slow_down(struct fd_point_bound *ret, struct fd_box *b, struct dse_interval held)
{
    const double limit_w = b->hi.board_power_w, rounding = 1e-9;
    const struct dse_interval used = slowed(&ret->step, b, held);
    const struct law law = law_at(b, used);
    const struct rates rates = rates_of(b, &ret->step);
    const struct dse_interval clock_ghz = b->clock_ghz;
    struct settled s = {.longer = 1};
    struct dse_interval share = share_at(used, held);
    if (used.lo <= FD_LOWEST_CLOCK) s = settled(b, held);
    if (s.less) share.lo = dse_min(share.lo, FD_LEAST_HELD);
    fill_joules(ret, &law, share);
    if (!s.less && used.lo < used.hi) clocked_joules(ret, b, used, held);
    stretch(&ret->step, s.longer);
    struct dse_interval *const joules[] = {&ret->joules, &ret->token_joules};
    struct fd_amounts *const of[] = {&ret->step.step, &ret->step.token};
    for (int i = 0; i < 2; i++) {
        const double least = dse_max(least_seconds(&law, &rates, of[i], share.lo, limit_w), joules[i]->lo / limit_w);
        of[i]->seconds.lo = dse_max(of[i]->seconds.lo, least * (1 - rounding));
        joules[i]->hi = dse_min(dse_product(joules[i]->hi, s.longer), limit_w * of[i]->seconds.hi * (1 + rounding));
    }
    ret->watts = dse_iv(0, limit_w * (1 + rounding));
    ret->clock_ghz = clock_ghz;
    fd_box_clock(b, clock_ghz);
}

/* At the board's own clock: what the limit leaves where it binds, but no less than what cannot be held back. */
static struct dse_interval held_joules(const struct law *law, const struct fd_amounts *a, double limit_w)
{
    const struct dse_interval least = joules_of(law, a, dse_iv_of(FD_LEAST_HELD)), all = joules_of(law, a, dse_iv_of(1));
    return dse_iv_max(least, dse_iv_min(dse_iv_scale(a->seconds, limit_w), all));
}

void fd_point_bound_init(struct fd_point_bound *ret, struct fd_box *b)
{
    const struct dse_interval clock = own_clock(b), board_w = FD_OF(b, board_power_w), whole = dse_iv_of(1);
    const double limit_w = b->lo.gpu->board_power_w;
    const bool own = dse_iv_is_point(clock) && clock.lo == 1;
    fd_step_bound_init(&ret->step, b);
    ret->clock_ghz = b->clock_ghz;
    ret->demand_w = ret->watts = board_w;
    ret->joules = dse_iv_mul(board_w, ret->step.step.seconds);
    ret->token_joules = dse_iv_mul(board_w, ret->step.token.seconds);
    if (b->lo.power == DSE_POWER_CONSTANT) return;
    const struct law law = law_at(b, clock);
    const struct rates rates = rates_of(b, &ret->step);
    ret->demand_w = ret->watts = watts_of(&law, &rates, whole);
    fill_joules(ret, &law, whole);
    if (own && ret->demand_w.hi <= dse_min(board_w.lo, limit_w)) return;
    const struct dse_interval held = held_at_own_clock(b, &rates, clock), share = share_at(clock, held);
    ret->watts = watts_of(&law, &rates, share);
    fill_joules(ret, &law, share);
    if (own) {
        const struct dse_interval least_w = watts_of(&law, &rates, dse_iv_of(FD_LEAST_HELD));
        ret->joules = dse_iv_both(ret->joules, held_joules(&law, &ret->step.step, limit_w));
        ret->token_joules = dse_iv_both(ret->token_joules, held_joules(&law, &ret->step.token, limit_w));
        ret->watts = dse_iv_both(ret->watts, dse_iv_max(least_w, dse_iv_min(dse_iv_of(limit_w), ret->demand_w)));
    }
    if (ret->watts.hi > board_w.lo * (1 + 1e-12)) {
        slow_down(ret, b, held);
    } else {
        if (!dse_iv_is_point(clock)) clocked_joules(ret, b, clock, held);
        fd_box_clock(b, FD_OF(b, clock_ghz));
    }
}
