/* What a reader of a front should know before deciding by it. A run keeps it as text, so that the terminal and the report say the
 * same:
 *
 *     run.axis_ends  JSON {model: {axis: [least, greatest]}}: the ends of numeric axes of three values or more; null where
 *                    the parameter allows nothing beyond
 *     run.unequal    in what the models of the sweep differ that was not asked for, as run.notices; a sentence in a run of an
 *                    older dse; NULL: in nothing
 *     run.notices    JSON [{"kind": ..., "text": ...}], made with the front; NULL before
 *
 * Kinds: "budget", rows that are over the sweep's budget of quality (over_budget.h); "left-out", rows that no front can show
 * (left_out.h); "axis-end", more than half of a model's designs on the front are at an end of an axis; "axis-limit", at the last
 * value of one that can be built, with the reason; "unequal-terms", terms of [equal] in which models differ (process node, memory,
 * efficiency, start of exchanges); "unequal-defaults", other parameters of one name; "dollars", models count dollars of several
 * kinds, and the sweep asks for dollars; "number-format", the widths of numbers vary, and no model says what narrow ones cost;
 * "unknown-quality" and "beyond", how many rows of the front have those columns.
 */
#ifndef DSE_STORE_NOTICES_H
#define DSE_STORE_NOTICES_H

#include "base/diag.h"

#include <stdint.h>

struct db;

/* A front: the points of each model, and the parameters for whose values there are fronts of their own, which are no design. */
struct notice_front {
    const char *const *models;
    const char *const *points; /* "(1, 2, 3)" of each model; NULL: the stored front */
    size_t n_models;
    const char *const *per;
    size_t n_per;
    const char *const *objectives;
    size_t n_objectives;
};

#endif
