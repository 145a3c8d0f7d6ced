/* Why a design point cannot be built, for people. */
#ifndef DSE_MODEL_REASON_H
#define DSE_MODEL_REASON_H

#include <dse/model.h>

/* "weights and KV cache do not fit the DRAM: 25.12 GiB needed, 16 GiB there": the reason that check() gave for these parameters,
 * with the numbers that the model has for it. A reason that check() did not give stays what it is. The caller frees it. */
char *reason_text(const struct dse_model *m, const void *params, const char *reason);

#endif
