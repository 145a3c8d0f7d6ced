/* What a whole request costs: the columns that the [requests] of a sweep adds to every model's rows.
 *
 * A row is of one phase. A request has two: its prompt is computed, and then its tokens are generated. Both are counted here, each
 * at the dollars a token of its phase, on the machine of the row.
 */
#ifndef DSE_MODEL_SERVED_H
#define DSE_MODEL_SERVED_H

#include <dse/model.h>

/* NaN: the price of a phase is not known for all requests. */
struct served {
    double request_usd;            /* a request, mean over the mix */
    double request_usd_per_mtoken; /* a million tokens of the mix, of prompts and generations alike */
};
extern const struct dse_metric served_metrics[];

/* A sum over requests. Zero it to begin. */
struct served_sum {
    double usd, tokens, requests;
};
/* Take in `share` requests of so many tokens, at usd_per_mtoken of each phase. */
void served_add(struct served_sum *sum, double share, double prompt, double generate, double prefill_usd, double decode_usd);
struct served served_of(const struct served_sum *sum);

#endif
