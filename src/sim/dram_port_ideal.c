/* A DRAM port without banks (DSE_IDEAL_DRAM): transfers one after another, in order of their start, each for the time that the
 * closed form gives it. */
#include "sim/dram_port.h"

#include <dse/units.h>
#include <math.h>

/* Bytes of the whole transfer, read and written. Its segments are asked for here, at once. */
static void measure(struct port_transfer *x, double bytes[2])
{
    struct dse_segment s = {0};
    uint64_t n = 0;
    bytes[0] = bytes[1] = 0;
    while (x->t.next(x->t.object, x->t.arg, &s)) {
        bytes[s.write] += (double)s.bytes;
        n++;
    }
    if (!(x->t.access_bytes > 0)) x->t.access_bytes = n ? fmax(1, (bytes[0] + bytes[1]) / (double)n) : 1;
}

static void serve(struct dse_dram_port *p)
{
    struct port_transfer *x = &p->transfer[p->ideal_first];
    double bytes[2];
    measure(x, bytes);
    const double all = bytes[0] + bytes[1];
    double seconds = 0;
    if (all > 0) {
        for (int write = 0; write < 2; write++) x->ideal_moved[write] = dse_dram_moved(p->dram, bytes[write], x->t.access_bytes);
        seconds = dse_dram_seconds(p->dram, all, x->t.access_bytes);
    }
    /* Many short transfers must not add up their rounding. */
    const double ps = seconds / DSE_PICO + p->ideal_carry_ps;
    const dse_ps whole = dse_ps_of_s(ps * DSE_PICO);
    p->ideal_carry_ps = isfinite(ps) ? ps - (double)whole : 0;
    dse_sim_at(p->sim, dse_sim_now(p->sim) + whole, p->ideal_actor, p->ideal_first);
}

void port_ideal_start(struct dse_dram_port *p, uint32_t slot)
{
    p->transfer[slot].next_free = PORT_NONE;
    if (p->ideal_first == PORT_NONE)
        p->ideal_first = slot;
    else
        p->transfer[p->ideal_last].next_free = slot;
    p->ideal_last = slot;
    if (p->ideal_first == slot) serve(p);
}

void port_ideal_done(struct dse_sim *sim, void *object, uint32_t slot)
{
    struct dse_dram_port *p = object;
    struct port_transfer *x = &p->transfer[slot];
    const uint32_t actor = x->t.actor, arg = x->t.actor_arg;
    struct port_label *l = &p->label[x->label];
    for (int write = 0; write < 2; write++) p->ideal_bytes[write] += (uint64_t)llround(x->ideal_moved[write]);
    for (int write = 0; write < 2; write++)
        l->bursts[write] += (uint64_t)llround(x->ideal_moved[write] / (double)p->dram->burst_bytes);
    if (--l->live == 0) dse_resource_state(sim, l->resource, DSE_IDLE, l->name, -1);
    p->ideal_first = x->next_free;
    x->next_free = p->free_transfer;
    p->free_transfer = slot;
    if (p->ideal_first != PORT_NONE) serve(p);
    dse_sim_at(sim, dse_sim_now(sim), actor, arg);
}
