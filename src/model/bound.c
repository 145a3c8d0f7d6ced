/* The common metrics over a box: dse/bound.h. */
#include <dse/bound.h>

#include <dse/units.h>

#include <math.h>

/* a / b, of quantities that are not below 0; both are known, or the result is not. */
static struct dse_interval over(struct dse_interval a, struct dse_interval b)
{
    return dse_iv_div(dse_iv_positive(a), dse_iv_positive(b));
}

static struct dse_interval times(struct dse_interval a, struct dse_interval b)
{
    return dse_iv_mul(dse_iv_positive(a), dse_iv_positive(b));
}

static struct dse_interval and (struct dse_interval a, struct dse_interval b)
{
    return dse_iv_both(a, b);
}

void dse_totals_narrow(struct dse_totals_bound *t)
{
    t->token_s = and(t->token_s, over(t->seconds, t->tokens));
    t->seconds = and(t->seconds, times(t->token_s, t->tokens));
    t->token_joules = and(t->token_joules, over(t->joules, t->tokens));
    t->token_joules = and(t->token_joules, times(t->watts, t->token_s));
    t->joules = and(t->joules, times(t->token_joules, t->tokens));
    t->watts = and(t->watts, over(t->joules, t->seconds));
    t->watts = and(t->watts, over(t->token_joules, t->token_s));
    t->token_bytes = and(t->token_bytes, over(t->bytes, t->tokens));
    t->bytes = and(t->bytes, times(t->token_bytes, t->tokens));
    t->token_ops = and(t->token_ops, over(t->ops, t->tokens));
    t->ops = and(t->ops, times(t->token_ops, t->tokens));
    t->compute_utilization = and(t->compute_utilization, over(t->token_ops, times(t->peak_ops, t->token_s)));
    t->dram_utilization = and(t->dram_utilization, over(t->token_bytes, times(t->peak_bytes, t->token_s)));
}

void dse_common_bound(const struct dse_totals_bound *t, struct dse_common *floor, struct dse_common *ceiling)
{
    const struct dse_interval none = dse_unbounded, rate = over(dse_iv_of(1), t->token_s);
    struct dse_priced_bound priced = {none, none, none, none, none, none};
    if (t->bill_lo && t->bill_hi) dse_bill_bound(t->bill_lo, t->bill_hi, t->watts, rate, t->token_joules, &priced);
#define SET(metric, value) dse_bound_set(&floor->metric, &ceiling->metric, value)
    SET(tokens_per_s, rate);
    SET(latency_us, dse_iv_scale(t->seconds, DSE_US_PER_S));
    SET(attention_us, dse_iv_scale(t->attention_s, DSE_US_PER_S));
    SET(energy_mj, dse_iv_scale(t->token_joules, DSE_MJ_PER_J));
    SET(power_w, t->watts);
    SET(area_mm2, t->area_mm2);
    SET(dram_mib, dse_iv_scale(t->token_bytes, 1 / DSE_MIB));
    SET(compute_utilization, t->compute_utilization);
    SET(dram_utilization, t->dram_utilization);
    SET(die_usd, priced.die_usd);
    SET(design_usd, priced.design_usd);
    SET(system_usd, priced.system_usd);
    SET(usd_per_mtoken, priced.usd_per_mtoken);
    SET(embodied_kgco2, priced.embodied_kgco2);
    SET(gco2_per_mtoken, priced.gco2_per_mtoken);
#undef SET
}

void dse_bound_nothing(const struct dse_metric *metrics, void *floor, void *ceiling)
{
    for (const struct dse_metric *m = metrics; m->type != DSE_TYPE_END; m++) {
        char *lo = (char *)floor + m->offset, *hi = (char *)ceiling + m->offset;
        if (m->type == DSE_TYPE_EMBED) dse_bound_nothing(m->embed, lo, hi);
        if (m->type == DSE_TYPE_F64) *(double *)(void *)lo = *(double *)(void *)hi = (double)NAN;
        if (m->type == DSE_TYPE_I64) {
            *(int64_t *)(void *)lo = INT64_MIN;
            *(int64_t *)(void *)hi = INT64_MAX;
        }
    }
}
