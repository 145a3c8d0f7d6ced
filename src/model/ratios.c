#include "model/ratios.h"

#include <dse/interval.h>

const struct dse_metric ratio_metrics[] = {
    DSE_METRIC_F64(struct ratios, speedup, "", DSE_MORE, "tokens_per_s over the baseline's", ""),
    DSE_METRIC_F64(struct ratios, attention_speedup, "", DSE_MORE, "attention time per token: the baseline's over the point's", ""),
    DSE_METRIC_F64(struct ratios, energy_ratio, "", DSE_MORE, "energy_mj: the baseline's over the point's", ""),
    DSE_METRIC_F64(struct ratios, latency_ratio, "", DSE_LESS, "latency_us over the baseline's", ""),
    DSE_METRIC_END,
};

static double divide(double a, double b)
{
    double q = b != 0 ? a / b : (double)NAN;
    return isfinite(q) ? q : (double)NAN;
}

static double attention_of_token(const struct measured *m)
{
    return divide(divide(m->attention_us, m->latency_us), m->tokens_per_s);
}

struct ratios ratios_of(const struct measured *point, const struct measured *baseline)
{
    return (struct ratios){
        .speedup = divide(point->tokens_per_s, baseline->tokens_per_s),
        .attention_speedup = divide(attention_of_token(baseline), attention_of_token(point)),
        .energy_ratio = divide(baseline->energy_mj, point->energy_mj),
        .latency_ratio = divide(point->latency_us, baseline->latency_us),
    };
}

/* ---- over a box -------------------------------------------------------------------------------------------------------- */

/* What `member` of the metrics is at most and at least. */
static struct dse_interval between(double floor, double ceiling)
{
    const double slack = 1e-12;
    return dse_iv(isnan(floor) ? -(double)INFINITY : floor - slack * fabs(floor),
                  isnan(ceiling) ? (double)INFINITY : ceiling + slack * fabs(ceiling));
}

struct measured_intervals {
    struct dse_interval tokens_per_s, latency_us, attention_of_token, energy_mj;
};

static struct measured_intervals intervals(const struct measured_bounds *m)
{
    const struct dse_interval tokens = between(m->floor.tokens_per_s, m->ceiling.tokens_per_s),
                              latency = between(m->floor.latency_us, m->ceiling.latency_us),
                              attention = between(m->floor.attention_us, m->ceiling.attention_us);
    return (struct measured_intervals){.tokens_per_s = tokens,
                                       .latency_us = latency,
                                       .attention_of_token = dse_iv_div(dse_iv_div(attention, latency), tokens),
                                       .energy_mj = between(m->floor.energy_mj, m->ceiling.energy_mj)};
}

void ratios_between(const struct measured_bounds *points, const struct measured_bounds *baseline, struct ratios *ret_floor,
                    struct ratios *ret_ceiling)
{
    const struct measured_intervals p = intervals(points), b = intervals(baseline);
    const struct dse_interval speedup = dse_iv_div(p.tokens_per_s, b.tokens_per_s),
                              attention = dse_iv_div(b.attention_of_token, p.attention_of_token),
                              energy = dse_iv_div(b.energy_mj, p.energy_mj), latency = dse_iv_div(p.latency_us, b.latency_us);
    *ret_floor = (struct ratios){speedup.lo, attention.lo, energy.lo, latency.lo};
    *ret_ceiling = (struct ratios){speedup.hi, attention.hi, energy.hi, latency.hi};
}
