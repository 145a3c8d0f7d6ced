#include "model/groups.h"

#include "base/xalloc.h"

#include <dse/cache.h>
#include <dse/costs.h>
#include <dse/hw.h>
#include <dse/interconnect.h>
#include <dse/local.h>
#include <dse/sampling.h>
#include <dse/sim.h>
#include <dse/workload.h>
#include <string.h>

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct group param_groups[] = {
    [GROUP_WORKLOAD] = {"workload", "the LLM and its step",
                        NAMES("llm", "phase", "batch", "context", "weight_bits", "kv_bits", "value_bits", "activation_bits",
                              "prompt", "generate")},
    [GROUP_MACHINE] = {"machine", "the chip itself", NAMES("gpu", "npu", "fpga", "engine")},
    [GROUP_CACHE] = {"cache", "lossy techniques of the cache, and the source of their error",
                     NAMES("decoding", "eviction", "eviction_ratio", "kv_format", "surface", "task")},
    [GROUP_MEMORY] = {"memory", "the DRAM", NAMES("memory", "bandwidth_gbs", "capacity_gib", "dram_efficiency", "dram_pj_per_bit")},
    [GROUP_LINKS] = {"links", "links between chips", NAMES("interconnect", "link_gbs", "link_latency_us")},
    [GROUP_COST] = {"cost", "dollars and carbon", NAMES("costs", "prices", "units", "tenure", "grid")},
    [GROUP_EVENTS] = {"events", "read at event level only", NAMES("seed", "layers_simulated")},
};

const struct group metric_groups[] = {
    [GROUP_SPEED] = {"speed", "speed", NAMES("tokens_per_s", "latency_us", "attention_us", "bound", "communication_us")},
    [GROUP_ENERGY] = {"energy", "energy and power", NAMES("energy_mj", "power_w", "tokens_per_j", "energy_dram_mj")},
    [GROUP_AREA] = {"area", "area and cost",
                    NAMES("area_mm2", "request_usd", "request_usd_per_mtoken", "system_usd", "usd_per_mtoken", "dollars",
                          "embodied_kgco2")},
    [GROUP_STORAGE] = {"memory", "memory", NAMES("dram_mib", "dram_footprint_gib", "weights_mib")},
    [GROUP_QUALITY] = {"quality", "quality",
                       NAMES("attention_error", "retained_mass", "task_loss", "attention_error_sd", "task_score")},
    [GROUP_INSIDE] = {"inside", "inside the machine", NAMES("compute_utilization", "dram_utilization")},
};

static bool is_named(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

/* Has a shared table, or one that it embeds, a row of that name? */
static bool params_have(const struct dse_param *table, const char *name)
{
    for (; table->type != DSE_TYPE_END; table++)
        if (table->type == DSE_TYPE_EMBED ? params_have(table->embed, name) : strcmp(table->name, name) == 0) return true;
    return false;
}

int param_group(const struct field *f)
{
    static const struct {
        const struct dse_param *table;
        int group;
    } shared[] = {{dse_workload_params, GROUP_WORKLOAD}, {dse_request_params, GROUP_WORKLOAD}, {dse_cache_params, GROUP_CACHE},
                  {dse_dram_params, GROUP_MEMORY},       {dse_links_params, GROUP_LINKS},      {dse_economics_params, GROUP_COST},
                  {dse_local_params, GROUP_CACHE},       {dse_events_params, GROUP_EVENTS},    {dse_sampling_params, GROUP_EVENTS}};
    if (f->reader == READ_BY_EVENT_LEVEL) return GROUP_EVENTS;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (params_have(shared[i].table, f->name)) return shared[i].group;
    return GROUP_MACHINE;
}

static const struct {
    const char *const *units;
    int group;
} by_unit[] = {
    {NAMES("1/s", "us", "ms", "s"), GROUP_SPEED},
    {NAMES("mJ", "J", "W", "mW", "tokens/J", "kWh"), GROUP_ENERGY},
    {NAMES("mm2", "usd", "usd/Mtoken", "kgCO2e", "gCO2e/Mtoken"), GROUP_AREA},
    {NAMES("MiB", "GiB", "KiB", "B"), GROUP_STORAGE},
};

int metric_group(const struct field *f)
{
    for (int g = 0; g < METRIC_GROUPS; g++)
        if (is_named(metric_groups[g].first, f->name)) return g;
    for (size_t i = 0; i < sizeof by_unit / sizeof *by_unit; i++)
        if (is_named(by_unit[i].units, f->unit)) return by_unit[i].group;
    return GROUP_INSIDE;
}

const struct field **group_fields(const struct schema *s, const struct group *groups, int (*of)(const struct field *f), int g,
                                  size_t *ret_n)
{
    const struct field **list = xcalloc(s->n + 1, sizeof *list);
    size_t n = 0;
    for (const char *const *name = groups[g].first; *name; name++) {
        const struct field *f = schema_find(s, *name);
        if (f && of(f) == g) list[n++] = f;
    }
    for (size_t i = 0; i < s->n; i++)
        if (of(&s->fields[i]) == g && !is_named(groups[g].first, s->fields[i].name)) list[n++] = &s->fields[i];
    *ret_n = n;
    return list;
}
