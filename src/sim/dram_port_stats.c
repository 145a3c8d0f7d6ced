/* What a DRAM port has moved. */
#include "sim/dram_port.h"

#include <math.h>
#include <string.h>

static void add_bus(struct dse_dram_stats *sum, const struct dse_dram_port *p, const struct dram_bus *b)
{
    const struct dram_spec *s = &p->spec;
    const struct dram_tally *t = &b->tally;
    const uint64_t bytes = (uint64_t)s->burst_bytes;
    sum->read_bytes += t->reads * bytes;
    sum->written_bytes += t->writes * bytes;
    sum->bursts += t->reads + t->writes;
    sum->row_hits += t->hits;
    sum->activates += t->activates;
    sum->refreshes += t->refreshes;
    const double now_ns = (double)dse_sim_now(p->sim) * 1e-3, all_ns = now_ns * s->channels;
    /* A bus that has nothing to do is not driven, and its rows stay open. */
    const double open_ns =
        (double)(t->active_clocks + b->controller->open_clocks(b, (int64_t)(now_ns / s->clock_ns))) * s->clock_ns;
    sum->energy_pj += s->act_pj * (double)t->activates + s->rd_pj * (double)t->reads + s->wr_pj * (double)t->writes +
                      s->ref_pj * (double)t->refreshes + s->active_mw * open_ns + s->idle_mw * fmax(0, all_ns - open_ns);
    sum->busy += dse_ps_of_s((double)(t->reads + t->writes) * s->burst * s->clock_ns * 1e-9);
}

static struct dse_dram_stats ideal_stats(const struct dse_dram_port *p)
{
    struct dse_dram_stats sum = {.read_bytes = p->ideal_bytes[0], .written_bytes = p->ideal_bytes[1], .energy_pj = (double)NAN};
    const double bytes = (double)(sum.read_bytes + sum.written_bytes);
    sum.bursts = (uint64_t)llround(bytes / (double)p->dram->burst_bytes);
    sum.busy = dse_ps_of_s(bytes / (p->dram->channel_gbs * 1e9));
    return sum;
}

static struct dse_dram_stats label_stats(const struct dse_dram_port *p, const char *label)
{
    struct dse_dram_stats sum = {.energy_pj = (double)NAN};
    const uint64_t bytes = (uint64_t)p->dram->burst_bytes;
    for (int i = 0; i < p->labels; i++) {
        const struct port_label *l = &p->label[i];
        if (strcmp(l->name, label) != 0) continue;
        sum.read_bytes = l->bursts[0] * bytes;
        sum.written_bytes = l->bursts[1] * bytes;
        sum.bursts = l->bursts[0] + l->bursts[1];
    }
    return sum;
}

struct dse_dram_stats dse_dram_stats(const struct dse_dram_port *p, const char *label)
{
    struct dse_dram_stats sum = {0};
    if (p->failed) return sum;
    if (label) return label_stats(p, label);
    if (p->ideal) return ideal_stats(p);
    for (int64_t i = 0; i < p->spec.buses; i++) add_bus(&sum, p, p->bus[i]);
    return sum;
}
