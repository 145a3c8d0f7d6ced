/* Where things are in DRAM: keys, values, G, intermediate caches, counters of the layers that are simulated, and the weights. */
#include "lad_memory.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

const char *const lad_traffic_labels[LAD_TRAFFICS] = {
    [LAD_CENTERS] = "centers",    [LAD_ACTIVE] = "active",   [LAD_OTHERS] = "others",
    [LAD_FETCHED] = "prefetched", [LAD_WEIGHTS] = "weights", [LAD_KV] = "kv",
};

static uint64_t whole(double bytes)
{
    return (uint64_t)ceil(bytes);
}

/* The DRAM behind one of `ports`: its share of the channels, as nearly as command buses allow, at its share of the bandwidth. */
static void split_dram(struct dse_dram *ret, const struct dse_dram *all, uint32_t ports)
{
    *ret = *all;
    if (ports == 1) return;
    double bus = fmax(1, (double)all->memory->detail.bus_channels);
    ret->channels = (int64_t)(bus * fmax(1, round((double)all->channels / (bus * ports))));
    ret->bandwidth_gbs = all->bandwidth_gbs / ports;
    ret->channel_gbs = ret->bandwidth_gbs / (double)ret->channels;
    ret->capacity_gib = all->capacity_gib / ports;
}

static void reserve(struct lad_memory *m, struct lad_port *p, const struct lad_point *pt, const struct lad_stored *stored)
{
    struct dse_dram_port *at = p->dram_port;
    uint64_t samples = m->layers * m->heads * m->sequences;
    p->weights =
        dse_dram_reserve(at, whole((stored->layer_weights * (double)m->layers + stored->weights) / (double)m->ports) + 1, 0);
    p->keys = dse_dram_reserve(at, m->layers * m->kv_heads * m->sequences * m->positions * m->row, 0);
    p->values = dse_dram_reserve(at, m->layers * m->kv_heads * m->sequences * m->positions * m->row, 0);
    if (stored->spilled > 0) p->spilled = dse_dram_reserve(at, whole(stored->spilled / (double)m->ports), 0);
    if (!pt->locality_aware) return;
    p->g = dse_dram_reserve(at, samples * m->g_stride, 0);
    p->caches = dse_dram_reserve(at, samples * m->cache_stride, 0);
    if (m->counter > 0) p->counters = dse_dram_reserve(at, samples * m->positions * m->counter, 0);
}

bool lad_memory_init(struct lad_memory *m, struct dse_sim *sim, const struct lad_point *pt, uint32_t layers, uint32_t batch,
                     const struct lad_stored *stored)
{
    const struct lad_events_reads *p = pt->p;
    const char *why = dse_dram_check(pt->dram);
    if (why) {
        dse_sim_refuse(sim, why);
        return false;
    }
    bool partitioned = p->is_partitioned != 0 && pt->locality_aware;
    uint32_t ports = partitioned ? (uint32_t)p->tiles : 1;
    uint64_t burst = (uint64_t)pt->dram->burst_bytes, row = whole(pt->row_bytes);
    *m = (struct lad_memory){
        .ports = ports,
        .layers = layers,
        .heads = pt->heads,
        .kv_heads = pt->kv_heads,
        .sequences = dse_ceil_div(batch, ports),
        .positions = (uint64_t)pt->n,
        .row = row,
        .counter = (uint64_t)p->counter_bytes,
        .g_bytes = whole(pt->g_bytes),
        .cache_bytes = whole(pt->cache_bytes),
        .burst = burst,
        .window = whole(p->dma_window_kib * DSE_KIB),
        .stream = (double)INFINITY,
        .gathered = p->by_rows != 0 ? (double)row : (double)INFINITY,
    };
    m->g_stride = dse_ceil_div(m->g_bytes, burst) * burst;
    m->cache_stride = dse_ceil_div(m->cache_bytes, burst) * burst;
    m->port = dse_sim_alloc(sim, ports, sizeof *m->port);
    for (uint32_t i = 0; i < ports; i++) {
        split_dram(&m->port[i].dram, pt->dram, ports);
        m->port[i].dram_port = dse_dram_open(sim, &m->port[i].dram);
        if (dse_sim_error(sim)) return false;
        reserve(m, &m->port[i], pt, stored);
    }
    return true;
}

/* ---- addresses: sequence s is behind port s mod ports ------------------------------------------------------------------------ */

/* Number of a head-sample, or of a key-value head's sequence, in the arrays of a port. The layer that fills the pipeline has no
 * data of its own. */
static uint64_t index_of(const struct lad_memory *m, uint64_t layer, uint64_t heads, uint64_t head, uint64_t sequence)
{
    return ((layer % m->layers) * heads + head) * m->sequences + sequence / m->ports;
}

static uint64_t row_of(const struct lad_memory *m, uint64_t layer, uint64_t kv_head, uint64_t sequence, uint64_t position)
{
    return (index_of(m, layer, m->kv_heads, kv_head, sequence) * m->positions + position) * m->row;
}

uint64_t lad_key_at(const struct lad_memory *m, uint32_t layer, uint64_t kv_head, uint32_t sequence, uint64_t position)
{
    return m->port[sequence % m->ports].keys + row_of(m, layer, kv_head, sequence, position);
}

uint64_t lad_value_at(const struct lad_memory *m, uint32_t layer, uint64_t kv_head, uint32_t sequence, uint64_t position)
{
    return m->port[sequence % m->ports].values + row_of(m, layer, kv_head, sequence, position);
}

uint64_t lad_g_at(const struct lad_memory *m, const struct lad_sample *s)
{
    return m->port[s->sequence % m->ports].g + index_of(m, s->layer, m->heads, s->head, s->sequence) * m->g_stride;
}

uint64_t lad_caches_at(const struct lad_memory *m, const struct lad_sample *s)
{
    return m->port[s->sequence % m->ports].caches + index_of(m, s->layer, m->heads, s->head, s->sequence) * m->cache_stride;
}

uint64_t lad_counters_at(const struct lad_memory *m, const struct lad_sample *s, uint64_t position)
{
    uint64_t sample = index_of(m, s->layer, m->heads, s->head, s->sequence);
    return m->port[s->sequence % m->ports].counters + (sample * m->positions + position) * m->counter;
}

uint64_t lad_kv_head(const struct lad_memory *m, uint32_t head)
{
    return head / (m->heads / m->kv_heads);
}

uint64_t lad_moved(const struct lad_memory *m, const struct dse_segment *s)
{
    uint64_t first = s->address / m->burst, last = dse_ceil_div(s->address + s->bytes, m->burst);
    return (last - first) * m->burst;
}
