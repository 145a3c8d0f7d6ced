/* Exchanges over links at event level: the plan of dse_exchange_plan_at (interconnect.h) step by step, over links that are
 * resources of the run. docs/explanation/interconnects.md says what it adds to the closed form.
 *
 *     struct dse_ports *ports = dse_ports_new(sim, "chip", &p->links);
 *     struct dse_net *tensor = dse_net_new(sim, "tensor", &ports, 1);
 *     ...
 *     dse_net_exchange(tensor, 0, &sums, actor, arg);     calls the actor when the sums are there
 *
 * A step of a device sends its messages over its links, one after another, in the order in which they were asked for by whatever
 * net; they arrive a latency later. The step ends when those of its partners have arrived and its own have left. So devices wait
 * for each other, and exchanges that share links for each other. Alone, and with devices that start at the same time, an exchange
 * takes what dse_exchange_at says, within a picosecond a step.
 */
#ifndef DSE_NET_H
#define DSE_NET_H

#include <dse/interconnect.h>
#include <dse/sim.h>

/* The links of one device, inside of its island and beyond it: resources "links" and "links beyond" of `group`. The links are
 * copied. */
struct dse_ports;
struct dse_ports *dse_ports_new(struct dse_sim *sim, const char *group, const struct dse_links *links);
/* Bytes that have left over them so far. */
double dse_ports_bytes(const struct dse_ports *ports);
/* The resource of those inside of the island, or beyond it (dse_resource_time). */
uint32_t dse_ports_resource(const struct dse_ports *ports, bool beyond);

/* A group of n devices that exchange with each other. n = 1: one stands for all alike, and is its own partner: what it sends comes
 * back as what the others send at the same time. That is exact where all devices do the same, and costs an event a step. Else n is
 * the `devices` of every exchange. Nets may share ports. */
struct dse_net;
struct dse_net *dse_net_new(struct dse_sim *sim, const char *name, struct dse_ports *const *ports, uint32_t n);
/* Device `device` of the net takes part from now on, and the actor is called when it is done, in which it sends and receives: the
 * i-th exchange of each device is the same one. A device does one after the other; it may have asked for as many as
 * DSE_NET_AHEAD, and be as many ahead of its partners, more fails the run. Point to point:
 * each device sends to the next, the last one to the first. A partner that never takes part leaves the others without their
 * call. */
enum { DSE_NET_AHEAD = 64 };
void dse_net_exchange(struct dse_net *net, uint32_t device, const struct dse_exchange *x, uint32_t actor, uint32_t arg);

#endif
