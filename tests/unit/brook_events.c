/* brook at event level: linear layers one after another. A layer takes the array's time, or that of its weights at the peak of the
 * DRAM with a made-up loss. */
#include "brook_events.h"

#include <math.h>

brook_asking *brook_asks;
bool brook_echoes;
static const double loss = 1.02;

struct brook_run {
    struct dse_oplist list;
    struct brook_events_reads closed;
    struct brook_seen_gives seen;
    uint32_t actor, array;
    int at;
};

static double seconds_of(const struct dse_sim *sim, const struct brook_run *r, int i)
{
    const double bytes_s = r->list.op[i].weight_bytes / r->closed.peak_bytes_per_s;
    if (brook_echoes) return r->closed.op.time_s[i];
    return fmax(r->closed.op.gemv_s[i], bytes_s * (dse_sim_ideal(sim, DSE_IDEAL_DRAM) ? 1 : loss));
}

/* The next linear layer begins when the one before is done. */
static void step(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct brook_run *r = object;
    (void)arg;
    while (r->at < r->list.n && r->list.op[r->at].kind != DSE_OP_LINEAR) r->at++;
    dse_resource_state(sim, r->array, r->at < r->list.n ? DSE_BUSY : DSE_IDLE, "layer", r->at);
    if (r->at == r->list.n) return;
    const double seconds = seconds_of(sim, r, r->at);
    r->seen.op.time_s[r->at++] = seconds;
    dse_sim_at(sim, dse_sim_now(sim) + dse_ps_of_s(seconds), r->actor, 0);
}

bool brook_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    struct brook_run *r = dse_sim_alloc(sim, 1, sizeof *r);
    dse_closed_operators(closed, &r->list);
    dse_closed_run(dse_closed_at(closed, &brook_events, NULL), NULL, &r->closed);
    for (int i = 0; i < r->list.n; i++) r->seen.op.time_s[i] = r->closed.op.time_s[i];
    for (int i = 0; i < r->list.n_attentions; i++) r->seen.group.scores_s[i] = r->closed.group.scores_s[i];
    r->array = dse_resource(sim, NULL, "array");
    r->actor = dse_sim_actor(sim, step, r);
    dse_sim_at(sim, 0, r->actor, 0);
    if (brook_asks) brook_asks(closed);
    if (!dse_sim_run(sim)) return false;
    dse_closed_report(dse_closed_at(closed, &brook_seen, NULL), &r->seen, metrics, breakdown);
    return true;
}
