#include "model/ratios.h"

#include <math.h>

const struct dse_metric ratio_metrics[] = {
    DSE_METRIC_F64(struct ratios, speedup, "", DSE_MORE, "tokens_per_s over the baseline's", ""),
    DSE_METRIC_F64(struct ratios, attention_speedup, "", DSE_MORE, "attention time a token: the baseline's over the point's", ""),
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
