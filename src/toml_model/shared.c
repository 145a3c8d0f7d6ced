#include "toml_model/shared.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stddef.h>

const struct shared_group_row shared_group_rows[GROUPS] = {
    [GROUP_WORKLOAD] = {"workload", sizeof(struct dse_workload), dse_workload_params, NULL},
    [GROUP_REQUEST] = {"request", sizeof(struct dse_request), dse_request_params, NULL},
    [GROUP_MEMORY] = {"memory", sizeof(struct dse_dram), dse_dram_params, dse_dram_refuse},
    [GROUP_CACHE] = {"cache", sizeof(struct dse_cache), dse_cache_params, NULL},
    [GROUP_ECONOMICS] = {"economics", sizeof(struct dse_economics), dse_economics_params, NULL},
};

static const void *group_at(const struct shared_groups *g, enum shared_group which, const void *params)
{
    return g->has[which] ? (const char *)params + g->offset[which] : NULL;
}

struct shared shared_of(const struct shared_groups *g, const void *params)
{
    return (struct shared){
        .workload = group_at(g, GROUP_WORKLOAD, params),
        .request = group_at(g, GROUP_REQUEST, params),
        .memory = group_at(g, GROUP_MEMORY, params),
        .cache = group_at(g, GROUP_CACHE, params),
        .economics = group_at(g, GROUP_ECONOMICS, params),
    };
}

/* ---- quantities ------------------------------------------------------------------------------------------------------------- */

static double tokens(const struct shared *s)
{
    return dse_workload_tokens(s->workload);
}

static double chips(const struct shared *s)
{
    return (double)dse_workload_chips(s->workload);
}

static double passes(const struct shared *s)
{
    return (double)dse_workload_passes(s->workload);
}

static double footprint(const struct shared *s)
{
    return dse_workload_footprint(s->workload);
}

static double row(const struct shared *s)
{
    return dse_kv_row_bytes(s->workload);
}

static double peak(const struct shared *s)
{
    return dse_dram_peak(s->memory);
}

static double rate(const struct shared *s)
{
    return dse_dram_stream_rate(s->memory);
}

static double stream(const struct shared *s)
{
    return dse_dram_stream_seconds(s->memory, 1);
}

static double capacity(const struct shared *s)
{
    return s->memory->capacity_gib * DSE_GIB;
}

static double energy(const struct shared *s)
{
    return dse_dram_joules(s->memory, 1);
}

static double keeps_all(const struct shared *s)
{
    return dse_eviction_at(s->cache->eviction)->keeps_all;
}

static double counts(const struct shared *s)
{
    return dse_eviction_at(s->cache->eviction)->counts;
}

static double drained(const struct shared *s)
{
    return dse_eviction_at(s->cache->eviction)->drained;
}

static double per_head(const struct shared *s)
{
    return dse_eviction_at(s->cache->eviction)->per_head;
}

static double selects(const struct shared *s)
{
    const struct dse_eviction *e = dse_eviction_at(s->cache->eviction);
    return e->selects || e->reads_part;
}

static double widening(const struct shared *s)
{
    return dse_cache_widening(s->workload);
}

const struct shared_quantity shared_quantities[] = {
    {"workload.tokens", "1", "tokens that a step yields", GROUP_WORKLOAD, tokens},
    {"workload.chips", "1", "chips by the degrees of parallelism", GROUP_WORKLOAD, chips},
    {"workload.passes", "1", "passes of a step in which a chip works", GROUP_WORKLOAD, passes},
    {"workload.footprint", "B", "weights and KV cache in the memory of the fullest chip", GROUP_WORKLOAD, footprint},
    {"workload.row", "B", "a key or a value of one position, layer and head", GROUP_WORKLOAD, row},
    {"memory.peak", "B/s", "peak bandwidth", GROUP_MEMORY, peak},
    {"memory.rate", "B/s", "what long streams reach of it", GROUP_MEMORY, rate},
    {"memory.stream", "s/B", "the time of a byte of a long stream", GROUP_MEMORY, stream},
    {"memory.capacity", "B", "capacity_gib", GROUP_MEMORY, capacity},
    {"memory.energy", "J/B", "the energy of a byte moved", GROUP_MEMORY, energy},
    {"cache.keeps_all", "1", "1 without eviction, else 0", GROUP_CACHE, keeps_all},
    {"cache.counts", "1", "1 where a count, or a sum, is kept for each position", GROUP_CACHE, counts},
    {"cache.drained", "1", "1 where the probabilities of a step are counted when all are known", GROUP_CACHE, drained},
    {"cache.per_head", "1", "1 where every KV head decides for itself", GROUP_CACHE, per_head},
    {"cache.selects", "1", "1 where it selects of a prompt, or reads a part of what stays", GROUP_CACHE, selects},
    {"cache.widening", "1", "operations that make a number of an element of a cache with scales", GROUP_CACHE, widening},
    {NULL, NULL, NULL, GROUPS, NULL},
};

/* ---- functions -------------------------------------------------------------------------------------------------------------- */

static double seconds(const struct shared *s, double bytes, double access)
{
    return dse_dram_seconds(s->memory, bytes, access);
}

static double moved(const struct shared *s, double bytes, double access)
{
    return dse_dram_moved(s->memory, bytes, access);
}

static double footprint_at(const struct shared *s, double positions, double unused)
{
    (void)unused;
    const double most = 1e15;
    struct dse_workload w = *s->workload;
    w.context = (int64_t)(positions >= 0 && positions < most ? positions : most);
    return dse_workload_footprint(&w);
}

static double target(const struct shared *s, double seen, double unused)
{
    (void)unused;
    return dse_cache_target(s->cache, seen);
}

const struct shared_function shared_functions[] = {
    {"memory_seconds", "s", {"B", "B"}, "the time to move so many bytes in accesses of so many", GROUP_MEMORY, seconds},
    {"memory_moved", "B", {"B", "B"}, "bytes on the bus when so many are fetched in accesses of so many", GROUP_MEMORY, moved},
    {"footprint", "B", {"1", NULL}, "workload.footprint with so many positions in the cache", GROUP_WORKLOAD, footprint_at},
    {"cache_target", "1", {"1", NULL}, "positions that stay of so many", GROUP_CACHE, target},
    {NULL, NULL, {NULL, NULL}, NULL, GROUPS, NULL},
};
