/* What a design point is beside a baseline: the columns that the [baseline] of a sweep adds to every model's rows.
 *
 * A ratio above 1 is to the point's favour, but for latency_ratio. It is NaN where one of the two has no such metric, or where the
 * division has no result.
 */
#ifndef DSE_MODEL_RATIOS_H
#define DSE_MODEL_RATIOS_H

#include <dse/model.h>

struct ratios {
    double speedup;           /* tokens_per_s over the baseline's */
    double attention_speedup; /* attention time per token: the baseline's over the point's */
    double energy_ratio;      /* energy a token: the baseline's over the point's */
    double latency_ratio;     /* latency_us over the baseline's */
};
extern const struct dse_metric ratio_metrics[];

/* The metrics that ratios are made of. NaN: the model has no such metric. */
struct measured {
    double tokens_per_s, latency_us, attention_us, energy_mj;
};

/* Attention time a token is attention_us / latency_us / tokens_per_s: the share of the step that is attention, of the time of a
 * token. Pure. */
struct ratios ratios_of(const struct measured *point, const struct measured *baseline);

/* Bounds of what ratios are made of, over a box of points; NaN: not known. They may be off by 1e-12 of the metric. */
struct measured_bounds {
    struct measured floor, ceiling;
};
/* Bounds of the ratios wherever they have a value; infinite: not known. Pure. */
void ratios_between(const struct measured_bounds *points, const struct measured_bounds *baseline, struct ratios *ret_floor,
                    struct ratios *ret_ceiling);

#endif
