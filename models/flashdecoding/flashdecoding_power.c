/* What the boards draw (E17, E26, E27), and the clock that their limit leaves the SMs. */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

static const double lowest_clock = FD_LOWEST_CLOCK, least_held = FD_LEAST_HELD;
static const double rounding = 1e-12;

/* The law of one device, its SMs at `clock` times the board's own. */
static struct dse_power_law law_at(const struct fd_params *p, double clock)
{
    const struct dse_gpu_shares shares = {.awake = p->awake_share, .active = p->active_share, .tensor = p->tensor_share};
    const struct dse_power_law law =
        dse_gpu_power_law(p->gpu, &shares, p->idle_w, p->dram_pj_per_bit, p->way_pj_per_bit, p->tensor_tflops);
    return dse_gpu_power_at(&law, clock, (double)p->sms / (double)p->gpu->sms);
}

static double own_clock(const struct fd_params *p)
{
    return p->clock_ghz / p->gpu->clock_ghz;
}

double fd_least_power(const struct fd_params *p)
{
    const struct dse_power_law law = law_at(p, dse_min(lowest_clock, own_clock(p)));
    return law.idle_w + law.awake_w + law.active_w;
}

double fd_step_ops(const struct fd_step *s)
{
    double ops = s->attention_ops;
    for (int i = 0; i < FD_LINEARS && s->n_parts == 0; i++) ops += s->linear[i].charged;
    return ops + s->other_ops;
}

/* Devices that exchange their results wait. */
static struct dse_activity activity_of(const struct fd_step *s)
{
    return (struct dse_activity){.seconds = s->seconds,
                                 .awake_s = s->seconds,
                                 .busy_s = s->seconds - s->wait_s - s->allreduce_s,
                                 .bytes = s->linear_bytes + s->attention_bytes,
                                 .ops = fd_step_ops(s)};
}

/* The share of the energy of active units and operations at which `seconds` of it all stay within the limit; at least `least`. */
static double held_share(const struct dse_energy *e, double limit_w, double seconds, double least)
{
    const double held = e->active + e->ops, room = limit_w * seconds - e->idle - e->awake - e->bytes;
    return room >= held || held <= 0 ? 1 : dse_max(room / held, least); /* nothing can be held back where no unit draws any */
}

static void hold(struct dse_power_law *law, double share)
{
    law->active_w *= share;
    law->op_j *= share;
}

static double watts_of(const struct dse_power_law *law, const struct dse_activity *a)
{
    const struct dse_energy e = dse_energy_of(law, a);
    return dse_energy_sum(&e) / a->seconds;
}

/* ---- the point ------------------------------------------------------------------------------------------------------------- */

static void evaluate(struct fd_point *ret, const struct fd_params *p)
{
    fd_machine_init(&ret->machine, p);
    if (!fd_is_plain(&p->workload)) {
        fd_step_init(&ret->step, &ret->machine, NULL);
        ret->gemm = fd_gemm_of_parts(&ret->step, p, (enum fd_gemm_choice)p->gemm);
        fd_three(&ret->machine, &ret->gemm, ret->three);
        return;
    }
    ret->gemm = fd_gemm_of(p, (enum fd_gemm_choice)p->gemm);
    fd_three(&ret->machine, &ret->gemm, ret->three);
    fd_step_init(&ret->step, &ret->machine, ret->three);
}

/* The step alone: kernels of the GEMM that is looked at are for the clock that comes of it. */
static void step_at(struct fd_point *ret, const struct fd_params *p, double clock)
{
    ret->slowed = *p;
    ret->slowed.clock_ghz = clock * p->gpu->clock_ghz;
    fd_machine_init(&ret->machine, &ret->slowed);
    fd_step_init(&ret->step, &ret->machine, NULL);
}

/* E27: what the board's own limit leaves at its own clock; the step is known at `clock` times that. A step is never shorter than
 * the slower of both clocks has it, so few points need to be looked at twice. */
static double held_at_own_clock(const struct fd_point *at, const struct fd_params *p, double clock)
{
    const double limit_w = p->gpu->board_power_w;
    const struct dse_power_law law = law_at(p, 1);
    struct dse_activity a = activity_of(&at->step);
    struct dse_energy e = dse_energy_of(&law, &a);
    const double share = held_share(&e, limit_w, a.seconds * dse_min(1, clock), least_held);
    if (clock == 1 || share >= 1) return share;
    struct fd_point own;
    step_at(&own, p, 1);
    a = activity_of(&own.step);
    e = dse_energy_of(&law, &a);
    return held_share(&e, limit_w, a.seconds, least_held);
}

/* The law at a clock, when the limit leaves `held` of it at the board's own: a voltage that is lower already is not lowered. */
static struct dse_power_law held_law(const struct fd_params *p, double clock, double held, double *ret_share)
{
    struct dse_power_law law = law_at(p, clock);
    *ret_share = dse_clamp(held / dse_gpu_voltage_squared(dse_min(1, clock)), 0, 1);
    hold(&law, *ret_share);
    return law;
}

/* Watts beyond the limit at a clock. */
static double excess(struct fd_point *ret, const struct fd_params *p, double clock, double held)
{
    step_at(ret, p, clock);
    ret->power.law = held_law(p, clock, held, &ret->power.held);
    const struct dse_activity a = activity_of(&ret->step);
    return watts_of(&ret->power.law, &a) - p->board_power_w;
}

/* E27: the clock below `high`, where the limit is exceeded, at which it is just kept; or the lowest there is. Power grows with the
 * clock, now and then by a step: regula falsi, by the Illinois algorithm; by halves where that is not done in ILLINOIS_MAX, so that
 * it ends near enough in any case. */
static void slow_down(struct fd_point *ret, const struct fd_params *p, double high, double above, double held)
{
    enum { ILLINOIS_MAX = 60, STEPS_MAX = 100 };
    const double near_enough = 1e-10;
    double low = dse_min(lowest_clock, high), below = excess(ret, p, low, held), known = low;
    int side = 0;
    for (int i = 0; i < STEPS_MAX && below < 0 && high - low > near_enough * high; i++) {
        const double falsi = (low * above - high * below) / (above - below), half = (low + high) / 2;
        const double clock = i < ILLINOIS_MAX ? falsi : half, w = excess(ret, p, clock, held);
        known = clock;
        if (w > 0) {
            high = clock;
            above = w;
            below /= side > 0 ? 2 : 1;
        } else {
            low = clock;
            below = w;
            above /= side < 0 ? 2 : 1;
            if (w >= -near_enough * p->board_power_w) break;
        }
        side = w > 0 ? 1 : -1;
    }
    if (known != low) excess(ret, p, low, held);
    fd_three(&ret->machine, &ret->gemm, ret->three);
}

void fd_point_init(struct fd_point *ret, const struct fd_params *p)
{
    evaluate(ret, p);
    ret->power = (struct fd_power){.held = 1, .demand_w = p->board_power_w};
    if (p->power == DSE_POWER_CONSTANT) return;
    const double clock = own_clock(p);
    const struct dse_activity a = activity_of(&ret->step);
    const struct dse_power_law law = law_at(p, clock);
    ret->power.demand_w = watts_of(&law, &a);
    ret->power.law = law;
    if (clock == 1 && ret->power.demand_w <= dse_min(p->board_power_w, p->gpu->board_power_w)) return;
    const double held = held_at_own_clock(ret, p, clock);
    ret->power.law = held_law(p, clock, held, &ret->power.held);
    const double above = watts_of(&ret->power.law, &a) - p->board_power_w;
    if (above > rounding * p->board_power_w) slow_down(ret, p, clock, above, held);
}

/* All times of the step, as much longer. */
static void stretch(struct fd_step *s, double factor)
{
    double *const times[] = {&s->linear_s,    &s->attention_s,      &s->stream_s,      &s->sync_s,
                             &s->recompute_s, &s->attention_wait_s, &s->elementwise_s, &s->elementwise_wait_s,
                             &s->allreduce_s, &s->host_s,           &s->seconds,       &s->wait_s,
                             &s->technique_s, &s->technique_wait_s, &s->state_s,       &s->bubble_s};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) *times[i] *= factor;
    for (int i = 0; i < FD_LINEARS; i++) {
        s->linear[i].seconds *= factor;
        s->linear[i].wait_s *= factor;
    }
    for (int i = 0; i < s->n_parts; i++) {
        s->part[i].seconds *= factor;
        s->part[i].wait_s *= factor;
    }
}

void fd_settle(struct fd_point *at)
{
    const struct fd_params *p = at->machine.p;
    if (p->power == DSE_POWER_CONSTANT) return;
    struct dse_power_law *law = &at->power.law;
    const struct dse_activity a = activity_of(&at->step);
    struct dse_energy e = dse_energy_of(law, &a);
    if (dse_energy_sum(&e) <= p->board_power_w * a.seconds * (1 + rounding)) return;
    const double share = held_share(&e, p->board_power_w, a.seconds, dse_min(1, least_held / at->power.held));
    hold(law, share);
    at->power.held *= share;
    e = dse_energy_of(law, &a);
    const double rest = p->board_power_w * a.seconds - e.idle - e.awake - e.active, moved = e.bytes + e.ops;
    if (moved > rest && rest > 0) stretch(&at->step, moved / rest);
}

/* ---- what is shown --------------------------------------------------------------------------------------------------------- */

double fd_joules(const struct fd_point *at, const struct dse_activity *a)
{
    const struct fd_params *p = at->machine.p;
    if (p->power == DSE_POWER_CONSTANT) return p->board_power_w * a->seconds;
    const struct dse_energy e = dse_energy_of(&at->power.law, a);
    return dse_energy_sum(&e);
}

double fd_step_joules(const struct fd_point *at)
{
    const struct dse_activity a = activity_of(&at->step);
    return fd_joules(at, &a);
}

void fd_break_energy(const struct fd_point *at, struct dse_breakdown *out)
{
    const struct fd_params *p = at->machine.p;
    if (p->power == DSE_POWER_CONSTANT) return;
    const struct dse_activity a = activity_of(&at->step);
    const struct dse_energy e = dse_energy_of(&at->power.law, &a);
    const double devices = fd_devices(p), bit_j = a.bytes * DSE_BITS_PER_BYTE * DSE_PICO;
    dse_breakdown_cause(out, "idle", e.idle * devices);
    dse_breakdown_cause(out, "awake", e.awake * devices);
    dse_breakdown_cause(out, "active", e.active * devices);
    dse_breakdown_cause(out, "operations", e.ops * devices);
    dse_breakdown_cause(out, "dram", bit_j * p->dram_pj_per_bit * devices);
    dse_breakdown_cause(out, "interface", bit_j * p->way_pj_per_bit * devices);
}
