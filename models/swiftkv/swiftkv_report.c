/* Metrics of a step, in closed form or carried out, its breakdown, and the bill of its boards. */
#include "swiftkv.h"

#include <dse/units.h>

#include <stddef.h>

static double chips_of(const struct swiftkv_params *p)
{
    return (double)dse_workload_chips(&p->workload);
}

struct dse_bill swiftkv_bill_of(const struct swiftkv_params *p)
{
    return dse_bill_of_boards(&p->economics, chips_of(p), &p->fpga->trade);
}

/* Of all chips. */
static double joules_of(const struct swiftkv_params *p, const struct swiftkv_step *s, const struct swiftkv_chip *chip)
{
    return chips_of(p) * (swiftkv_joules(p, chip, s->time_s, s->bytes, s->dsp_products) + s->link_joules);
}

static void fill_common(struct dse_common *m, const struct swiftkv_params *p, const struct swiftkv_step *s,
                        const struct swiftkv_chip *chip)
{
    double arrays = p->value_update == SWIFTKV_UPDATE_OWN ? 2 : 1;
    double array_dsps = arrays * (double)(p->processors * p->dsps_per_processor);
    const double chips = chips_of(p);
    const struct dse_bill bill = swiftkv_bill_of(p);
    struct dse_totals totals = {
        .tokens = s->tokens,
        .seconds = s->time_s,
        .attention_s = s->attention.time_s,
        .joules = joules_of(p, s, chip),
        .bytes = chips * s->bytes,
        .ops = chips * s->dsp_products,
        .peak_ops = chips * (array_dsps * p->clock_mhz * 1e6),
        .peak_bytes = chips * dse_dram_peak(&p->dram),
        .area_mm2 = (double)NAN, /* an FPGA's: see .without */
        .bound = dse_bound_of(s->compute_bound_s, s->dram_bound_s, s->latency_bound_s),
        .bill = &bill,
    };
    *m = dse_common_of(&totals);
}

static void fill_fpga(struct swiftkv_metrics *m, const struct dse_fpga *fpga, const struct swiftkv_chip *chip)
{
    m->luts = chip->luts;
    m->ffs = chip->ffs;
    m->brams = chip->brams;
    m->dsps = chip->dsps;
    m->lut_share = chip->luts / (double)fpga->luts;
    m->ff_share = chip->ffs / (double)fpga->ffs;
    m->bram_share = chip->brams / (double)fpga->brams;
    m->dsp_share = chip->dsps / (double)fpga->dsps;
}

/* E24, E25. */
static void fill_cache(struct swiftkv_metrics *m, const struct swiftkv_params *p, const struct swiftkv_step *s)
{
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = swiftkv_cache_steps(p, &arithmetic);
    struct dse_kept kept;
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    const double n = cache.read;
    dse_cache_quality(&steps, &kept);
    m->cached_positions = cache.prefill ? n * (n + 1) / 2 / n : n;
    m->technique_mib = chips_of(p) * s->attention.technique_bytes / (DSE_MIB * s->tokens);
    m->retained_mass = kept.mass;
    m->attention_error = kept.error;
    m->attention_error_sd = kept.error_sd;
    dse_cache_score(&steps, &m->task);
}

/* ---- breakdown ------------------------------------------------------------------------------------------------------------- */

struct ctx {
    const struct swiftkv_params *p;
    const struct swiftkv_chip *chip;
    struct dse_breakdown *out;
};

/* Of all chips. Operators of one name are one part. */
static void add(const struct ctx *c, const char *name, int depth, const char *bound, double seconds, double bytes, double ops,
                double dsp_products)
{
    const double chips = chips_of(c->p), joules = chips * swiftkv_joules(c->p, c->chip, seconds, bytes, dsp_products);
    dse_breakdown_merge(c->out, dse_part_of(name, depth, bound, seconds, joules, chips * bytes, chips * ops));
}

static void add_communication(const struct ctx *c, const struct swiftkv_step *s)
{
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    const double joules = chips_of(c->p) * (swiftkv_joules(c->p, c->chip, s->communication_s, 0, 0) + s->link_joules);
    if (s->communication_s > 0)
        dse_breakdown_add(c->out, dse_part_of("communication", 0, latency, s->communication_s, joules, 0, 0));
    for (int i = 0; i < s->n_ops; i++)
        if (s->op[i].kind == DSE_OP_COLLECTIVE) {
            const double seconds = s->op[i].time_s;
            const double own = chips_of(c->p) * (swiftkv_joules(c->p, c->chip, seconds, 0, 0) + s->op[i].link_joules);
            dse_breakdown_merge(c->out, dse_part_of(s->op[i].name, 1, latency, seconds, own, 0, 0));
        }
    if (s->bubble_s > 0) add(c, "bubble", 0, latency, s->bubble_s, 0, 0, 0);
}

static void add_causes(const struct ctx *c, const struct swiftkv_step *s)
{
    if (c->p->power == DSE_POWER_CONSTANT) return;
    const struct dse_activity a = {.seconds = s->time_s, .awake_s = s->time_s, .ops = s->dsp_products};
    const struct dse_energy e = dse_energy_of(&c->chip->law, &a);
    const double chips = chips_of(c->p);
    dse_breakdown_cause(c->out, "leakage", chips * e.idle);
    dse_breakdown_cause(c->out, "clock", chips * e.awake);
    dse_breakdown_cause(c->out, "logic", chips * e.ops);
    dse_breakdown_cause(c->out, "dram", chips * dse_dram_joules(&c->p->dram, s->bytes));
    if (s->link_joules > 0) dse_breakdown_cause(c->out, "links", chips * s->link_joules);
}

/* Attention stands after the first operator, the QKV projection. */
static void break_down(const struct swiftkv_params *p, const struct swiftkv_step *s, const struct swiftkv_chip *chip,
                       struct dse_breakdown *out)
{
    const char *compute = dse_bound_names[DSE_BOUND_COMPUTE], *dram = dse_bound_names[DSE_BOUND_DRAM],
               *latency = dse_bound_names[DSE_BOUND_LATENCY];
    const struct swiftkv_attention *a = &s->attention;
    const struct ctx c = {.p = p, .chip = chip, .out = out};
    for (int i = 0; i < s->n_ops; i++) {
        const struct swiftkv_op *o = &s->op[i];
        if (o->kind == DSE_OP_COLLECTIVE) continue;
        add(&c, o->name, 0, o->time_s > o->dram_s ? compute : dram, o->time_s, o->bytes, o->ops, o->dsp_products);
        if (i > 0) continue;
        const char *bound = a->compute_s >= a->dram_s ? compute : dram;
        add(&c, "attention", 0, a->rope_s + a->overhead_s > a->stream_s ? latency : bound, a->time_s, a->bytes, a->ops,
            a->dsp_products);
        add(&c, "keys_and_values", 1, bound, a->stream_s, a->bytes, a->ops, a->dsp_products);
        add(&c, "rotary_embedding", 1, latency, a->rope_s, 0, 0, 0);
        add(&c, "attention_overhead", 1, latency, a->overhead_s, 0, 0, 0);
    }
    add_communication(&c, s);
    add_causes(&c, s);
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------- */

void swiftkv_report(const struct swiftkv_params *p, const struct swiftkv_step *step, struct swiftkv_metrics *m,
                    struct dse_breakdown *breakdown)
{
    struct swiftkv_chip chip;
    swiftkv_chip_at(p, &chip);
    fill_common(&m->common, p, step, &chip);
    fill_fpga(m, p->fpga, &chip);
    m->linear_us = step->linear_s * DSE_US_PER_S;
    m->attention_share = step->attention.time_s / step->time_s;
    m->communication_us = step->communication_s * DSE_US_PER_S;
    const double chip_gops = step->ops / (step->time_s * DSE_GIGA);
    m->effective_gops = chips_of(p) * chip_gops;
    m->chip_power_w = swiftkv_joules(p, &chip, step->time_s, 0, step->dsp_products) / step->time_s;
    m->chip_gop_per_j = m->chip_power_w > 0 ? chip_gops / m->chip_power_w : 0;
    m->dram_power_w = chips_of(p) * dse_dram_joules(&p->dram, step->bytes) / step->time_s;
    m->tokens_per_j = m->common.energy_mj > 0 ? DSE_MJ_PER_J / m->common.energy_mj : 0;
    m->exp_error_percent = 100 * swiftkv_exp_error(p->lut_bits);
    m->rope_drift = swiftkv_rope_bound(p->q_frac_bits, (double)p->workload.context);
    m->dram_footprint_gib = (step->footprint >= 0 ? step->footprint : swiftkv_footprint(p)) / DSE_GIB;
    fill_cache(m, p, step);
    if (breakdown) break_down(p, step, &chip, breakdown);
}
