/* Bounds of the metrics of a step of any LLM: of all chips (E45, E46), by the token. */
#include "lad_bound_llms.h"

#include <dse/num.h>
#include <dse/units.h>

struct sums {
    struct dse_interval seconds, attention_s, joules, bytes, ops; /* of a step, all chips */
    struct dse_interval running, working;                         /* chips times stages, and times passes */
    struct lad_energy_bound of_pass;
};

static void sum_step(const struct lad_ends *e, const struct lad_chip_bound *chip, struct sums *ret)
{
    struct lad_step_bound s = e->step;
    struct lad_energy_bound *of = &ret->of_pass;
    const struct dse_interval pass_s = dse_iv_add(s.time_s, e->communication_s);
    s.attention.time_s = e->local_s; /* exact attention is among the operators */
    lad_energy_bound(&e->box, chip, &s, of);
    ret->running = dse_iv_mul(e->chips, e->stages);
    ret->working = dse_iv_mul(e->chips, e->passes);
    ret->seconds = dse_iv_mul(pass_s, e->stages);
    ret->attention_s = dse_iv_mul(dse_iv_add(e->local_s, e->exact_s), e->passes);
    ret->bytes = dse_iv_mul(s.bytes, ret->working);
    ret->ops = dse_iv_mul(s.vpu_ops, ret->working);
    of->drawn = dse_iv_add(of->drawn, dse_iv_mul(of->watts, e->communication_s));
    ret->joules = dse_iv_add(dse_iv_mul(of->drawn, ret->running), dse_iv_mul(dse_iv_add(of->work, e->link_joules), ret->working));
}

static void set_common(const struct lad_ends *e, const struct lad_chip_bound *chip, const struct sums *s, struct lad_metrics *floor,
                       struct lad_metrics *ceiling)
{
    const struct lad_box *b = &e->box;
    const struct dse_interval lanes = dse_iv_mul(dse_iv_mul(b->tiles, b->vpus), b->width);
    const double node_nm = e->lo->technology->node_nm;
    const struct dse_bill cheap = dse_bill_of_chip(&e->lo->economics, e->chips.lo, chip->die.area_mm2.lo, node_nm, &e->lo->dram),
                          dear = dse_bill_of_chip(&e->hi->economics, e->chips.hi, chip->die.area_mm2.hi, node_nm, &e->hi->dram);
    struct dse_totals_bound t = dse_totals_unknown();
    t.tokens = e->tokens;
    t.seconds = s->seconds;
    t.token_s = dse_iv_div(s->seconds, e->tokens);
    t.attention_s = s->attention_s;
    t.token_joules = dse_iv_div(s->joules, e->tokens);
    t.token_bytes = dse_iv_div(s->bytes, e->tokens);
    t.token_ops = dse_iv_div(s->ops, e->tokens);
    t.peak_ops = dse_iv_mul(e->chips, dse_iv_scale(dse_iv_mul(lanes, b->clock_hz), DSE_OPS_PER_MAC));
    t.peak_bytes = dse_iv_mul(e->chips, dse_dram_peak_bound(&b->lo.dram, &b->hi.dram));
    t.area_mm2 = dse_iv_mul(e->chips, chip->die.area_mm2);
    t.bill_lo = &cheap;
    t.bill_hi = &dear;
    dse_totals_narrow(&t);
    dse_common_bound(&t, &floor->common, &ceiling->common);
}

#define SET(metric, value) dse_bound_set(&floor->metric, &ceiling->metric, value)

static void set_energy(const struct lad_ends *e, const struct sums *s, struct lad_metrics *floor, struct lad_metrics *ceiling)
{
    const struct lad_energy_bound *of = &s->of_pass;
    const struct lad_joules_bound *j = &of->step;
    const bool apart = e->lo->power == DSE_POWER_ACTIVITY;
    const struct dse_interval mj = dse_iv_scale(dse_iv_inv(e->tokens), DSE_MJ_PER_J), pass_s = dse_iv_div(s->seconds, e->stages);
    const struct dse_interval leaks = apart ? j->leakage : dse_iv_of(0), moves = apart ? s->working : s->running;
    const struct dse_interval scaled = dse_iv_div(pass_s, dse_iv_max(e->step.time_s, dse_iv_of(1e-300))); /* exchanges draw, too */
    SET(energy_dram_mj, dse_iv_mul(dse_iv_mul(j->dram, s->working), mj));
    if (apart) {
        SET(energy_sram_mj, dse_iv_mul(dse_iv_mul(j->sram, moves), mj));
        SET(energy_modules_mj, dse_iv_mul(dse_iv_mul(j->modules, moves), mj));
        SET(energy_interface_mj, dse_iv_mul(dse_iv_mul(j->interface, moves), mj));
        SET(energy_leakage_mj, dse_iv_mul(dse_iv_mul(dse_iv_mul(leaks, scaled), s->running), mj));
        SET(energy_clock_mj, dse_iv_mul(dse_iv_mul(dse_iv_mul(j->clock, scaled), s->running), mj));
    }
    const struct dse_interval of_attention =
        dse_iv_add(dse_iv_mul(dse_iv_mul(of->watts, e->chips), s->attention_s), dse_iv_mul(of->attention_work, s->working));
    SET(attention_energy_mj, dse_iv_mul(of_attention, mj));
    SET(tokens_per_j, dse_iv_div(e->tokens, s->joules));
    const struct dse_interval work = dse_iv_mul(dse_iv_add(j->modules, j->sram), e->passes);
    SET(chip_power_w, apart ? dse_iv_add(of->watts, dse_iv_div(work, s->seconds)) : of->watts);
}

static void set_rest(const struct lad_ends *e, const struct lad_chip_bound *chip, const struct sums *s, struct lad_metrics *floor,
                     struct lad_metrics *ceiling)
{
    const struct lad_attention_bound *a = &e->step.attention;
    const struct dse_interval mib = dse_iv_scale(dse_iv_div(s->working, e->tokens), 1 / DSE_MIB);
    dse_bound_set_i64(&floor->batch_used, &ceiling->batch_used,
                      dse_iv_i64(e->lo->batch_policy == LAD_BATCH_FIXED ? e->lo->workload.batch : 1, e->hi->workload.batch));
    SET(linear_us, dse_iv_scale(dse_iv_mul(e->step.linear_s, e->passes), DSE_US_PER_S));
    SET(communication_us, dse_iv_scale(dse_iv_mul(e->communication_s, e->passes), DSE_US_PER_S));
    SET(attention_share, dse_iv_clamp(dse_iv_div(s->attention_s, s->seconds), 0, 1));
    SET(weights_mib, dse_iv_mul(e->step.weight_bytes, mib));
    SET(centers_mib, dse_iv_mul(a->centers_bytes, mib));
    SET(active_mib, dse_iv_mul(a->active_bytes, mib));
    SET(others_mib, dse_iv_mul(a->others_bytes, mib));
    SET(prefetch_mib, dse_iv_mul(a->prefetch_bytes, mib));
    SET(supply_v, e->lo->power == DSE_POWER_ACTIVITY ? chip->supply.volts : dse_unbounded);
    SET(tile_area_mm2, chip->tile_mm2);
    SET(sram_area_share, dse_iv_div(chip->sram_mm2, chip->tile_mm2));
    SET(core_mm2, dse_iv_mul(e->chips, chip->die.core_mm2));
    SET(phy_mm2, dse_iv_mul(e->chips, chip->die.phy_mm2));
    SET(noc_mm2, dse_iv_mul(e->chips, chip->die.noc_mm2));
    SET(links_mm2, dse_iv_mul(e->chips, chip->links_mm2));
}
#undef SET

void lad_llms_bound_metrics(const struct lad_ends *ends, const struct lad_chip_bound *chip, struct lad_metrics *floor,
                            struct lad_metrics *ceiling)
{
    struct sums sums;
    sum_step(ends, chip, &sums);
    set_common(ends, chip, &sums, floor, ceiling);
    set_energy(ends, &sums, floor, ceiling);
    set_rest(ends, chip, &sums, floor, ceiling);
}
