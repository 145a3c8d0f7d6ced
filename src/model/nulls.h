/* Why metrics of a point have no value. */
#ifndef DSE_MODEL_NULLS_H
#define DSE_MODEL_NULLS_H

#include "model/registry.h"

/* Is the value of a metric, or a parameter, NULL: without meaning in the model, or not known at this point? */
bool metric_is_null(const struct field *f, const void *object);
/* Why; NULL where it is not, or nothing is known of it. `mean`: why a mean over several points is not known, in place of what the
 * model says of one; or NULL. */
const char *metric_why_null(const struct model *m, const struct field *f, const void *params, const void *metrics,
                            const char *mean);
/* "retained_mass: retention mine was measured only with ...; ...": of the metrics `of`, the model's and those that a sweep adds,
 * but for those without meaning; "" when none is NULL. The caller frees it. */
char *nulls_text(const struct model *m, const struct schema *of, const void *params, const void *metrics, const char *mean);

#endif
