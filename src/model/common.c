/* What all models share: the common metrics, the names of bounds, the breakdown. */
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/model.h>
#include <dse/units.h>
#include <dse/workload.h>

#include <assert.h>
#include <math.h>
#include <string.h>

const char *const dse_bound_names[] = {"compute", "dram", "latency", NULL};
_Static_assert(sizeof dse_bound_names / sizeof *dse_bound_names == DSE_BOUND_COUNT + 1, "every bound has a name");

const struct dse_metric dse_common_metrics[] = {
    DSE_METRIC_F64(struct dse_common, tokens_per_s, "1/s", DSE_MORE, "token throughput, all sequences of the batch together", ""),
    DSE_METRIC_F64(struct dse_common, latency_us, "us", DSE_LESS, "time of one step, as one user waits for it", ""),
    DSE_METRIC_F64(struct dse_common, attention_us, "us", DSE_LESS, "part of latency_us spent in attention", ""),
    DSE_METRIC_F64(struct dse_common, energy_mj, "mJ", DSE_LESS, "energy per token, chip and DRAM", ""),
    DSE_METRIC_F64(struct dse_common, power_w, "W", DSE_LESS, "average power, chip and DRAM", ""),
    DSE_METRIC_F64(struct dse_common, area_mm2, "mm2", DSE_LESS,
                   "chip area: logic, SRAM and, if counted, memory interfaces and network", ""),
    DSE_METRIC_F64(struct dse_common, dram_mib, "MiB", DSE_LESS, "DRAM traffic per token", ""),
    DSE_METRIC_F64(struct dse_common, compute_utilization, "", DSE_MORE, "achieved operation rate over the peak rate", ""),
    DSE_METRIC_F64(struct dse_common, dram_utilization, "", DSE_MORE, "achieved DRAM bandwidth over the peak bandwidth", ""),
    DSE_METRIC_ENUM(struct dse_common, bound, dse_bound_names, "bottleneck of the largest share of the step", ""),
    DSE_METRIC_ENUM(struct dse_common, dollars, dse_dollars_names,
                    "basis of usd_per_mtoken: manufacturing cost, purchase price or rent; system_usd never uses rent",
                    "docs/explanation/cost.md"),
    DSE_METRIC_F64_OR_NULL(struct dse_common, die_usd, "usd", DSE_LESS,
                           "price of a good die, tested, with its share of design and masks", "docs/explanation/cost.md, C5"),
    DSE_METRIC_F64_OR_NULL(struct dse_common, design_usd, "usd", DSE_LESS,
                           "part of system_usd: design and masks, spread over `units` chips", "docs/explanation/cost.md, C24"),
    DSE_METRIC_F64_OR_NULL(struct dse_common, system_usd, "usd", DSE_LESS,
                           "price of all devices: dies, memory, packages, share of servers", "docs/explanation/cost.md, C19"),
    DSE_METRIC_F64_OR_NULL(
        struct dse_common, usd_per_mtoken, "usd/Mtoken", DSE_LESS,
        "cost of a million tokens of the phase (decode: generated tokens only): machine, building and electricity, "
        "or rent",
        "docs/explanation/cost.md, C20"),
    DSE_METRIC_F64_OR_NULL(struct dse_common, embodied_kgco2, "kgCO2e", DSE_LESS, "carbon of making all devices",
                           "docs/explanation/cost.md, C21"),
    DSE_METRIC_F64_OR_NULL(struct dse_common, gco2_per_mtoken, "gCO2e/Mtoken", DSE_LESS,
                           "carbon of a million tokens of the phase: manufacturing and operation", "docs/explanation/cost.md, C22"),
    DSE_METRIC_END,
};

/* Where b is 0 it is infinite, or no number: a model of others may say that a step takes no time. */
__attribute__((no_sanitize("undefined"))) static double over(double a, double b)
{
    return a / b;
}

/* A share of a peak. The event level counts in whole picoseconds: a short step at the peak may come out some parts in 10^9 above
 * it. */
static double share_of(double done, double peak)
{
    const double share = over(done, peak), rounding = 1e-7;
    return share > 1 && share < 1 + rounding ? 1 : share;
}

struct dse_common dse_common_of(const struct dse_totals *t)
{
    struct dse_built built = {0};
    if (t->bill) dse_bill_build(t->bill, &built);
    return dse_common_built(t, &built);
}

struct dse_common dse_common_built(const struct dse_totals *t, const struct dse_built *built)
{
    static const struct dse_bill none = {0};
    struct dse_priced priced = {0};
    const struct dse_bill *bill = t->bill ? t->bill : &none;
    if (built) dse_bill_price_built(bill, built, over(t->joules, t->seconds), over(t->tokens, t->seconds), &priced);
    return (struct dse_common){
        .tokens_per_s = over(t->tokens, t->seconds),
        .latency_us = t->seconds * DSE_US_PER_S,
        .attention_us = t->attention_s * DSE_US_PER_S,
        .energy_mj = over(t->joules * DSE_MJ_PER_J, t->tokens),
        .power_w = over(t->joules, t->seconds),
        .area_mm2 = t->area_mm2,
        .dram_mib = over(t->bytes, DSE_MIB * t->tokens),
        .compute_utilization = share_of(t->ops, t->peak_ops * t->seconds),
        .dram_utilization = share_of(t->bytes, t->peak_bytes * t->seconds),
        .bound = t->bound,
        .dollars = dse_dollars_of(bill),
        .die_usd = priced.die_usd,
        .design_usd = priced.design_usd,
        .system_usd = priced.system_usd,
        .usd_per_mtoken = priced.usd_per_mtoken,
        .embodied_kgco2 = priced.embodied_kgco2,
        .gco2_per_mtoken = priced.gco2_per_mtoken,
    };
}

int32_t dse_bound_of(double compute_s, double dram_s, double latency_s)
{
    if (latency_s > compute_s && latency_s > dram_s) return DSE_BOUND_LATENCY;
    return compute_s >= dram_s ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM;
}

const char *const dse_quality_names[] = {"exact", "rounded", "measured", "extended", "other-llm", "unknown", NULL};
_Static_assert(sizeof dse_quality_names / sizeof *dse_quality_names == DSE_QUALITY_COUNT + 1, "every quality has a name");

void dse_standing_wide(struct dse_standing *s, const struct dse_workload *w)
{
    if (dse_workload_narrows(w))
        dse_standing_add(
            s, "all activations have activation_bits: this model has no rate for the narrower ones of the format (format)");
}

enum { FULL_BITS = 16 };

void dse_standing_narrow(struct dse_standing *s, const struct dse_workload *w)
{
    const bool measured = s->quality > DSE_QUALITY_ROUNDED && s->quality < DSE_QUALITY_UNKNOWN;
    if (measured && dse_workload_weight_bits(w).least < FULL_BITS)
        dse_standing_add(s, "the loss from weights below 16 bits is not in the quality: nobody measured it (weight_bits, format)");
}

int32_t dse_quality_of_exact(const struct dse_workload *w)
{
    return dse_workload_weight_bits(w).least < FULL_BITS || dse_kv_narrowest(w) < FULL_BITS ? DSE_QUALITY_ROUNDED
                                                                                            : DSE_QUALITY_EXACT;
}

void dse_standing_add(struct dse_standing *s, const char *beyond)
{
    if (!beyond) return;
    for (int i = 0; i < s->n_beyond; i++)
        if (s->beyond[i] == beyond) return;
    assert(s->n_beyond < DSE_BEYOND_MAX);
    s->beyond[s->n_beyond++] = beyond;
}

void dse_standing_measured(struct dse_standing *s, bool own_llm, const char *extended)
{
    const int32_t quality = !own_llm ? DSE_QUALITY_OTHER_LLM : extended ? DSE_QUALITY_EXTENDED : DSE_QUALITY_MEASURED;
    if (quality > s->quality) s->quality = quality;
    dse_standing_add(s, extended);
}

void dse_standing_unknown(struct dse_standing *s, const char *why)
{
    s->quality = DSE_QUALITY_UNKNOWN;
    s->unknown = why;
}

void dse_breakdown_add(struct dse_breakdown *breakdown, struct dse_part part)
{
    if (!breakdown) return;
    assert(breakdown->n < DSE_PARTS_MAX);
    breakdown->part[breakdown->n++] = part;
}

void dse_breakdown_merge(struct dse_breakdown *breakdown, struct dse_part part)
{
    if (!breakdown) return;
    for (int i = breakdown->n - 1; i >= 0; i--) {
        struct dse_part *p = &breakdown->part[i];
        if (part.depth > 0 && p->depth == 0) break;
        if (p->depth != part.depth || strcmp(p->name, part.name) != 0) continue;
        if (part.time_us > p->time_us) p->bound = part.bound;
        p->time_us += part.time_us;
        p->dram_bytes += part.dram_bytes;
        p->ops += part.ops;
        p->energy_mj += part.energy_mj;
        return;
    }
    dse_breakdown_add(breakdown, part);
}

void dse_breakdown_cause(struct dse_breakdown *breakdown, const char *name, double joules)
{
    if (!breakdown) return;
    assert(breakdown->n_causes < DSE_CAUSES_MAX);
    breakdown->cause[breakdown->n_causes++] = (struct dse_cause){name, joules * DSE_MJ_PER_J};
}

struct dse_part dse_part_of(const char *name, int depth, const char *bound, double seconds, double joules, double bytes, double ops)
{
    return (struct dse_part){.name = name,
                             .bound = seconds > 0 ? bound : "hidden",
                             .depth = depth,
                             .time_us = seconds * DSE_US_PER_S,
                             .dram_bytes = bytes,
                             .ops = ops,
                             .energy_mj = joules * DSE_MJ_PER_J};
}

void dse_breakdown_joules(struct dse_breakdown *breakdown, const struct dse_joules *j, int32_t power)
{
    const char *always = dse_bound_names[DSE_BOUND_LATENCY];
    dse_breakdown_cause(breakdown, "modules", j->modules);
    dse_breakdown_cause(breakdown, "sram", j->sram);
    dse_breakdown_cause(breakdown, "dram", j->dram);
    if (j->links > 0) dse_breakdown_cause(breakdown, "links", j->links);
    if (power == DSE_POWER_CONSTANT) return;
    dse_breakdown_cause(breakdown, "interface", j->interface);
    dse_breakdown_cause(breakdown, "clock", j->clock);
    dse_breakdown_cause(breakdown, "leakage", j->leakage);
    dse_breakdown_add(breakdown, dse_part_of("clock_tree", 0, always, 0, j->clock, 0, 0));
    dse_breakdown_add(breakdown, dse_part_of("leakage", 0, always, 0, j->leakage, 0, 0));
}

const char *dse_why_not_apart(int32_t power, const char *metric)
{
    static const char *const apart[] = {"energy_clock_mj", "energy_leakage_mj", "energy_interface_mj", "supply_v"};
    if (power != DSE_POWER_CONSTANT) return NULL;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strcmp(metric, apart[i]) == 0)
            return "published power has no split by cause and no supply voltage (power = \"constant\")";
    return NULL;
}

const char *dse_area_unpriced(double clock_ghz, double published_ghz)
{
    return clock_ghz == published_ghz ? NULL : "area_mm2 is of the published clock: no source relates area to clock (clock_ghz)";
}

const char *dse_area_without_edges(int32_t area)
{
    return area == DSE_AREA_CORE ? "dollars and carbon exclude the die's memory interfaces and network (area = \"core\")" : NULL;
}

double dse_parts_joules(const struct dse_parts *p, double seconds, double bytes)
{
    return p->watts * seconds + (p->dram ? dse_dram_joules(p->dram, bytes) : 0);
}

void dse_parts_add(const struct dse_parts *p, const char *name, int depth, const char *bound, double seconds, double bytes,
                   double ops)
{
    dse_breakdown_add(p->breakdown, dse_part_of(name, depth, bound, seconds, dse_parts_joules(p, seconds, bytes), bytes, ops));
}

void dse_equations_unknown(void *equations, size_t size)
{
    double *values = equations;
    for (size_t i = 0; i < size / sizeof *values; i++) values[i] = (double)NAN;
}
