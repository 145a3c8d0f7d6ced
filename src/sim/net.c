/* Exchanges over links at event level: dse/net.h. */
#include <dse/net.h>
#include <dse/num.h>

#include <math.h>
#include <string.h>

enum { LEVELS = 2 }; /* inside of the island, beyond it */
#define LOOK UINT32_MAX

/* Links of a device at one level: messages leave one after another. */
struct port {
    uint32_t resource, actor;
    dse_ps free_at;
};

struct dse_ports {
    struct dse_sim *sim;
    struct dse_links links;
    struct port port[LEVELS];
    double bytes;
};

/* The present phase of a device at one level. Steps are counted over all of its exchanges, which tells messages apart. */
struct track {
    struct device *device;
    uint32_t actor;           /* a message arrives: arg is its step */
    uint32_t step, last_step; /* equal: nothing to do */
    struct dse_exchange_phase phase;
    double fill_s; /* a step, I1 */
    dse_ps sent_at;
    uint32_t *arrived; /* [step % ahead] */
};

struct request {
    struct dse_exchange_plan plan;
    uint32_t actor, arg;
};

struct device {
    struct dse_net *net;
    uint32_t index, actor;
    struct dse_ports *ports;
    struct track track[LEVELS];
    struct request queue[DSE_NET_AHEAD];
    uint32_t first, n; /* of the queue; the first is being done */
    int phase, running;
};

struct dse_net {
    struct dse_sim *sim;
    uint32_t n, ahead;
    struct device *devices;
};

/* ---- ports --------------------------------------------------------------------------------------------------------------- */

static void port_rests(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)arg;
    const struct port *p = object;
    if (dse_sim_now(sim) >= p->free_at) dse_resource_state(sim, p->resource, DSE_IDLE, NULL, -1);
}

struct dse_ports *dse_ports_new(struct dse_sim *sim, const char *group, const struct dse_links *links)
{
    struct dse_ports *ports = dse_sim_alloc(sim, 1, sizeof *ports);
    *ports = (struct dse_ports){.sim = sim, .links = *links};
    for (int v = 0; v < LEVELS; v++) {
        ports->port[v].resource = dse_resource(sim, group, v ? "links beyond" : "links");
        ports->port[v].actor = dse_sim_actor(sim, port_rests, &ports->port[v]);
    }
    return ports;
}

double dse_ports_bytes(const struct dse_ports *ports)
{
    return ports->bytes;
}

uint32_t dse_ports_resource(const struct dse_ports *ports, bool beyond)
{
    return ports->port[beyond].resource;
}

/* When a message that takes so long has left. */
static dse_ps send_over(struct dse_ports *ports, bool beyond, double seconds)
{
    struct port *p = &ports->port[beyond];
    const dse_ps now = dse_sim_now(ports->sim), takes = dse_ps_of_s(seconds);
    if (p->free_at <= now) {
        p->free_at = now;
        if (takes > 0) dse_resource_state(ports->sim, p->resource, DSE_BUSY, "send", -1);
    }
    p->free_at += takes;
    if (takes > 0) dse_sim_at(ports->sim, p->free_at, p->actor, 0);
    return p->free_at;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* The partner that message `i` (from 1) of a step goes to: the next ones of the island, or the same one of the next islands. */
static struct device *partner_of(const struct device *d, bool beyond, uint32_t i)
{
    const struct dse_net *net = d->net;
    const uint32_t island = (uint32_t)d->queue[d->first].plan.island;
    if (net->n == 1) return &net->devices[0];
    if (beyond) return &net->devices[(d->index + i * island) % net->n];
    const uint32_t first = d->index / island * island, size = (uint32_t)dse_min_i64(island, net->n - first);
    return &net->devices[first + (d->index - first + i) % size];
}

static uint32_t messages_of(const struct track *t)
{
    return t->device->net->n == 1 ? 1 : (uint32_t)t->phase.messages;
}

static void send_step(struct track *t)
{
    struct device *d = t->device;
    struct dse_sim *sim = d->net->sim;
    const uint32_t messages = messages_of(t);
    const double bytes = t->phase.bytes / t->phase.steps, each_s = (bytes / t->phase.rate + t->fill_s) / messages;
    const dse_ps latency = dse_ps_of_s(t->phase.latency_s);
    for (uint32_t i = 1; i <= messages; i++) {
        struct track *to = &partner_of(d, t->phase.beyond, i)->track[t->phase.beyond];
        t->sent_at = send_over(d->ports, t->phase.beyond, each_s);
        if (t->step - to->step >= d->net->ahead && to->step < t->step) {
            dse_sim_fail(sim, "a device of a net is too many exchanges ahead of its partners");
            return;
        }
        dse_sim_at(sim, t->sent_at + latency, to->actor, t->step);
    }
    d->ports->bytes += bytes;
}

/* What chunks add (I1), a step of the phase. */
static double fill_of(const struct dse_exchange_plan *plan, const struct dse_exchange_phase *of)
{
    double waiting = plan->start_s, moving = 0, steps = 0;
    for (int i = 0; i < plan->n; i++) {
        const struct dse_exchange_phase *p = &plan->phase[i];
        if (plan->together && p != of) continue;
        waiting += p->steps * p->latency_s;
        moving += p->bytes / p->rate;
        steps += p->steps;
    }
    return plan->fill_share * sqrt(waiting * moving) / steps;
}

/* The present phase, or with `together` all of them. */
static void start_next(struct device *d)
{
    const struct dse_exchange_plan *plan = &d->queue[d->first].plan;
    const int last = plan->together ? plan->n : d->phase + 1;
    for (; d->phase < last; d->phase++) {
        const struct dse_exchange_phase *p = &plan->phase[d->phase];
        struct track *t = &d->track[p->beyond];
        t->phase = *p;
        t->fill_s = fill_of(plan, p);
        t->last_step = t->step + (uint32_t)p->steps;
        d->running++;
        send_step(t);
        dse_sim_at(d->net->sim, dse_sim_now(d->net->sim), t->actor, LOOK); /* messages may have come before */
    }
}

/* The next phase, or the exchange is done. */
static void phase_ends(struct device *d)
{
    struct request *r = &d->queue[d->first];
    d->running--;
    if (d->running > 0) return;
    if (d->phase < r->plan.n) {
        start_next(d);
        return;
    }
    dse_sim_at(d->net->sim, dse_sim_now(d->net->sim), r->actor, r->arg);
    d->first = (d->first + 1) % DSE_NET_AHEAD;
    d->n--;
    d->phase = 0;
    if (d->n > 0) dse_sim_at(d->net->sim, dse_sim_now(d->net->sim) + dse_ps_of_s(d->queue[d->first].plan.start_s), d->actor, 0);
}

/* A message of step `arg` arrives, or with LOOK nothing does. The present step may have ended by it, and some that others are ahead
 * by. */
static void message_arrives(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct track *t = object;
    const uint32_t ahead = t->device->net->ahead;
    if (arg != LOOK) t->arrived[arg % ahead]++;
    while (t->step != t->last_step && t->arrived[t->step % ahead] >= messages_of(t)) {
        if (dse_sim_now(sim) < t->sent_at) {
            dse_sim_at(sim, t->sent_at, t->actor, LOOK);
            return;
        }
        t->arrived[t->step++ % ahead] = 0;
        if (t->step != t->last_step)
            send_step(t);
        else
            phase_ends(t->device);
    }
}

/* ---- exchanges ----------------------------------------------------------------------------------------------------------- */

static void exchange_starts(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)arg;
    struct device *d = object;
    if (d->queue[d->first].plan.n > 0) {
        start_next(d);
        return;
    }
    d->running = 1; /* nothing to do */
    phase_ends(d);
    (void)sim;
}

struct dse_net *dse_net_new(struct dse_sim *sim, const char *name, struct dse_ports *const *ports, uint32_t n)
{
    struct dse_net *net = dse_sim_alloc(sim, 1, sizeof *net);
    *net = (struct dse_net){
        .sim = sim, .n = n, .ahead = DSE_NET_AHEAD + 2 * n, .devices = dse_sim_alloc(sim, n, sizeof *net->devices)};
    for (uint32_t i = 0; i < n; i++) {
        struct device *d = &net->devices[i];
        d->net = net;
        d->index = i;
        d->ports = ports[i];
        d->actor = dse_sim_actor(sim, exchange_starts, d);
        dse_sim_actor_name(sim, d->actor, name);
        for (int v = 0; v < LEVELS; v++) {
            d->track[v].device = d;
            d->track[v].arrived = dse_sim_alloc(sim, net->ahead, sizeof *d->track[v].arrived);
            d->track[v].actor = dse_sim_actor(sim, message_arrives, &d->track[v]);
            dse_sim_actor_name(sim, d->track[v].actor, name);
        }
    }
    return net;
}

void dse_net_exchange(struct dse_net *net, uint32_t device, const struct dse_exchange *x, uint32_t actor, uint32_t arg)
{
    struct device *d = &net->devices[device];
    if (d->n == DSE_NET_AHEAD) {
        dse_sim_fail(net->sim, "more exchanges of a device are pending than a net takes");
        return;
    }
    if (net->n > 1 && x->devices > 1 && (uint32_t)x->devices != net->n) {
        dse_sim_fail(net->sim, "an exchange among other devices than those of its net");
        return;
    }
    struct request *r = &d->queue[(d->first + d->n++) % DSE_NET_AHEAD];
    *r = (struct request){.actor = actor, .arg = arg};
    dse_exchange_plan_at(&d->ports->links, x, &r->plan);
    if (d->n == 1) dse_sim_at(net->sim, dse_sim_now(net->sim) + dse_ps_of_s(r->plan.start_s), d->actor, 0);
}
