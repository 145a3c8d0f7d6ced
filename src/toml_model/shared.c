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
        .params = params,
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

static double clock_share(const struct shared *s)
{
    return dse_physical(s->economics->costs, DSE_C_clock_share);
}

const struct shared_quantity shared_quantities[] = {
    {"workload.tokens", "1", "tokens that a step yields", GROUP_WORKLOAD, tokens},
    {"workload.chips", "1", "chips: the product of the degrees of parallelism", GROUP_WORKLOAD, chips},
    {"workload.passes", "1", "passes of a step in which a chip works", GROUP_WORKLOAD, passes},
    {"workload.footprint", "B", "weights and KV cache in the memory of the fullest chip", GROUP_WORKLOAD, footprint},
    {"workload.row", "B", "a key or a value of one position, layer and head", GROUP_WORKLOAD, row},
    {"memory.peak", "B/s", "peak bandwidth", GROUP_MEMORY, peak},
    {"memory.rate", "B/s", "bandwidth that long streams reach", GROUP_MEMORY, rate},
    {"memory.stream", "s/B", "time per byte of a long stream", GROUP_MEMORY, stream},
    {"memory.capacity", "B", "capacity_gib", GROUP_MEMORY, capacity},
    {"memory.energy", "J/B", "energy per byte moved", GROUP_MEMORY, energy},
    {"cache.keeps_all", "1", "1 without eviction, else 0", GROUP_CACHE, keeps_all},
    {"cache.counts", "1", "1 where a count, or a sum, is kept for each position", GROUP_CACHE, counts},
    {"cache.drained", "1", "1 where a step's probabilities are counted after all are known", GROUP_CACHE, drained},
    {"cache.per_head", "1", "1 where every KV head decides for itself", GROUP_CACHE, per_head},
    {"cache.selects", "1", "1 where the policy selects from a prompt, or reads a part of the cache", GROUP_CACHE, selects},
    {"cache.widening", "1", "operations that dequantize an element of a cache with scales", GROUP_CACHE, widening},
    {"economics.clock_share", "1", "share of the clock tree in a chip's dynamic power", GROUP_ECONOMICS, clock_share},
    {NULL, NULL, NULL, GROUPS, NULL},
};

/* ---- functions -------------------------------------------------------------------------------------------------------------- */

static double seconds(const struct shared *s, const double *a)
{
    return dse_dram_seconds(s->memory, a[0], a[1]);
}

static double moved(const struct shared *s, const double *a)
{
    return dse_dram_moved(s->memory, a[0], a[1]);
}

static double footprint_at(const struct shared *s, const double *a)
{
    const double most = 1e15;
    struct dse_workload w = *s->workload;
    w.context = (int64_t)(a[0] >= 0 && a[0] < most ? a[0] : most);
    return dse_workload_footprint(&w);
}

static double target(const struct shared *s, const double *a)
{
    return dse_cache_target(s->cache, a[0]);
}

/* ---- nodes and SRAM ---------------------------------------------------------------------------------------------------------- */

static const void *entry_at(const struct shared *s, double place)
{
    return *(const void *const *)(const void *)((const char *)s->params + (size_t)place);
}

/* Nodes are looked up: metres become the nanometres that were written. */
static double nm_of(double metres)
{
    const double nm = 1e9, digits = 1e6;
    return rint(metres * nm * digits) / digits;
}

static double ratio(const struct shared *s, const double *a, enum dse_tech_metric metric)
{
    const struct dse_technology *to = entry_at(s, a[0]);
    return to->node_nm == nm_of(a[1]) ? 1 : dse_tech_ratio(to, nm_of(a[1]), metric);
}

static double technology_area(const struct shared *s, const double *a)
{
    return ratio(s, a, DSE_TECH_AREA);
}

static double technology_sram_area(const struct shared *s, const double *a)
{
    return ratio(s, a, DSE_TECH_SRAM_AREA);
}

static double technology_energy(const struct shared *s, const double *a)
{
    return ratio(s, a, DSE_TECH_ENERGY);
}

static double technology_power(const struct shared *s, const double *a)
{
    return ratio(s, a, DSE_TECH_POWER);
}

static double technology_node(const struct shared *s, const double *a)
{
    const struct dse_technology *t = entry_at(s, a[0]);
    return t->node_nm * 1e-9;
}

static double sram_node(const struct shared *s, const double *a)
{
    return dse_sram_node_nm(entry_at(s, a[0])) * 1e-9;
}

/* The macro of a[1] bytes in words of a[2]; its numbers are NaN where the table has none. */
static struct dse_sram macro(const struct shared *s, const double *a)
{
    struct dse_sram ret = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    if (a[1] > 0 && a[2] > 0) dse_sram_at(entry_at(s, a[0]), a[1] / DSE_MIB, a[2] * DSE_BITS_PER_BYTE, &ret);
    return ret;
}

static double sram_area(const struct shared *s, const double *a)
{
    return macro(s, a).area_mm2 * 1e-6;
}

static double sram_read(const struct shared *s, const double *a)
{
    return macro(s, a).read_pj * DSE_PICO;
}

static double sram_leakage(const struct shared *s, const double *a)
{
    return macro(s, a).leakage_mw / DSE_MW_PER_W;
}

static double sram_dynamic(const struct shared *s, const double *a)
{
    return macro(s, a).dynamic_mw / DSE_MW_PER_W;
}

/* ---- supply and die ---------------------------------------------------------------------------------------------------------- */

/* Of a[0], published in a[1] at a[2], clocked at a[3]; NULL where that is too fast. */
static const struct dse_supply *supply_at(const struct shared *s, const double *a)
{
    struct shared_memo *m = s->memo;
    bool same = m->supply_of[4] != 0;
    for (int i = 0; i < 4; i++) same = same && m->supply_of[i] == a[i];
    if (!same) {
        for (int i = 0; i < 4; i++) m->supply_of[i] = a[i];
        const bool ok =
            dse_supply_at(s->economics->costs, entry_at(s, a[0]), nm_of(a[1]), a[2] / DSE_GIGA, a[3] / DSE_GIGA, &m->supply);
        m->supply_of[4] = ok ? 1 : -1;
    }
    return m->supply_of[4] > 0 ? &m->supply : NULL;
}

static double supply_volts(const struct shared *s, const double *a)
{
    const struct dse_supply *supply = supply_at(s, a);
    return supply ? supply->volts : (double)NAN;
}

static double supply_energy(const struct shared *s, const double *a)
{
    const struct dse_supply *supply = supply_at(s, a);
    return supply ? supply->energy : (double)NAN;
}

static double supply_leakage(const struct shared *s, const double *a)
{
    const struct dse_supply *supply = supply_at(s, a);
    return supply ? supply->leakage : (double)NAN;
}

static double supply_clock(const struct shared *s, const double *a)
{
    const struct dse_supply *supply = supply_at(s, a);
    return supply ? supply->clock_tree : (double)NAN;
}

static double leakage_share(const struct shared *s, const double *a)
{
    return dse_by_node(s->economics->costs, DSE_C_leakage_share_65nm, nm_of(a[0]));
}

static double interface_energy(const struct shared *s, const double *a)
{
    return dse_interface_joules(s->economics->costs, s->memory->memory, a[0]);
}

/* One array of a[0] square metres in the node a[1], with the interfaces of its memory. */
static const struct dse_die *die_at(const struct shared *s, const double *a)
{
    struct shared_memo *m = s->memo;
    if (m->die_of[0] != a[0] || m->die_of[1] != a[1]) {
        m->die_of[0] = a[0], m->die_of[1] = a[1];
        dse_die_at(s->economics->costs, DSE_AREA_DIE, a[0] * 1e6, 1, s->memory, nm_of(a[1]), &m->die);
    }
    return &m->die;
}

static double die_area(const struct shared *s, const double *a)
{
    return die_at(s, a)->area_mm2 * 1e-6;
}

static double die_phy(const struct shared *s, const double *a)
{
    return die_at(s, a)->phy_mm2 * 1e-6;
}

static double die_fits(const struct shared *s, const double *a)
{
    return dse_die_check(s->economics->costs, die_at(s, a)) == NULL;
}

enum {
    OF_WORKLOAD = 1 << GROUP_WORKLOAD,
    OF_MEMORY = 1 << GROUP_MEMORY,
    OF_CACHE = 1 << GROUP_CACHE,
    OF_ECONOMICS = 1 << GROUP_ECONOMICS
};

#define SUPPLY \
    { \
        "@technologies", "m", "Hz", "Hz" \
    }
#define MACRO \
    { \
        "@srams", "B", "B" \
    }
const struct shared_function shared_functions[] = {
    {"memory_seconds", "s", {"B", "B"}, "time to move `bytes` in accesses of `access` bytes", OF_MEMORY, seconds},
    {"memory_moved", "B", {"B", "B"}, "bytes on the bus to fetch `bytes` in accesses of `access` bytes", OF_MEMORY, moved},
    {"footprint", "B", {"1"}, "workload.footprint with `positions` in the cache", OF_WORKLOAD, footprint_at},
    {"cache_target", "1", {"1"}, "positions that stay of `positions`", OF_CACHE, target},
    {"technology_area", "1", {"@technologies", "m"}, "area in the technology over area in a node", 0, technology_area},
    {"technology_sram_area",
     "1",
     {"@technologies", "m"},
     "SRAM area in the technology over SRAM area in a node",
     0,
     technology_sram_area},
    {"technology_energy",
     "1",
     {"@technologies", "m"},
     "energy of an operation in the technology over energy in a node",
     0,
     technology_energy},
    {"technology_power", "1", {"@technologies", "m"}, "power in the technology over power in a node", 0, technology_power},
    {"technology_node", "m", {"@technologies"}, "the node of the technology", 0, technology_node},
    {"sram_node", "m", {"@srams"}, "the node of the table", 0, sram_node},
    {"sram_area", "m2", MACRO, "area of a macro of `bytes`, in words of `word` bytes", 0, sram_area},
    {"sram_read", "J", MACRO, "energy of reading one word of the macro", 0, sram_read},
    {"sram_leakage", "W", MACRO, "leakage of the macro", 0, sram_leakage},
    {"sram_dynamic", "W", MACRO, "dynamic power of the macro under the load of its paper", 0, sram_dynamic},
    {"supply_volts", "V", SUPPLY, "supply voltage that a clock needs, for a chip published in a node at a clock", OF_ECONOMICS,
     supply_volts},
    {"supply_energy", "1", SUPPLY, "energy of an operation over energy at the nominal supply", OF_ECONOMICS, supply_energy},
    {"supply_leakage", "1", SUPPLY, "leakage over leakage at the nominal supply", OF_ECONOMICS, supply_leakage},
    {"supply_clock", "1", SUPPLY, "energy of a clock edge over energy at the nominal supply", OF_ECONOMICS, supply_clock},
    {"leakage_share", "1", {"m"}, "share of leakage in the power of a chip in a node", OF_ECONOMICS, leakage_share},
    {"interface_energy",
     "J/B",
     {"1"},
     "on-die energy of a byte to or from DRAM; the argument scales a hop of 12 nm",
     OF_ECONOMICS | OF_MEMORY,
     interface_energy},
    {"die_area",
     "m2",
     {"m2", "m"},
     "area of a die: `core` of logic and SRAM, and the memory interfaces",
     OF_ECONOMICS | OF_MEMORY,
     die_area},
    {"die_phy", "m2", {"m2", "m"}, "area of the die's memory interfaces", OF_ECONOMICS | OF_MEMORY, die_phy},
    {"die_fits", "1", {"m2", "m"}, "1 if such a die can be made, else 0", OF_ECONOMICS | OF_MEMORY, die_fits},
    {NULL, NULL, {NULL}, NULL, 0, NULL},
};
