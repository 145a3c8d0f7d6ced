#include "model/served.h"

#include <math.h>

const struct dse_metric served_metrics[] = {
    DSE_METRIC_F64_OR_NULL(struct served, request_usd, "usd", DSE_LESS,
                           "cost of a request of the mix: prompt and generation, each at usd_per_mtoken of its phase",
                           "docs/explanation/cost.md, C23"),
    DSE_METRIC_F64_OR_NULL(struct served, request_usd_per_mtoken, "usd/Mtoken", DSE_LESS,
                           "cost of a million tokens of the mix, prompts and generations together",
                           "docs/explanation/cost.md, C23"),
    DSE_METRIC_END,
};

static const double TOKENS = 1e6; /* that usd_per_mtoken is of */

void served_add(struct served_sum *sum, double share, double prompt, double generate, double prefill_usd, double decode_usd)
{
    sum->usd += share * (prompt * prefill_usd + generate * decode_usd) / TOKENS;
    sum->tokens += share * (prompt + generate);
    sum->requests += share;
}

struct served served_of(const struct served_sum *sum)
{
    if (sum->requests == 0) return (struct served){(double)NAN, (double)NAN}; /* nobody asked */
    return (struct served){.request_usd = sum->usd / sum->requests, .request_usd_per_mtoken = sum->usd / sum->tokens * TOKENS};
}
