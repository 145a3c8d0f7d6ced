/* What a design may lose of its output to be on a front: [quality] of a sweep file (docs/reference/sweep-file.md).
 *
 * A budget limits one metric or several. A sweep may have several budgets, of which each holds what the next one holds: there is a
 * front for each of them. A design whose loss nobody knows is within none; such designs have a front of their own.
 */
#ifndef DSE_CONFIG_BUDGET_H
#define DSE_CONFIG_BUDGET_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum budget_metric { BUDGET_ATTENTION_ERROR, BUDGET_TASK_LOSS, BUDGET_RETAINED_MASS, BUDGET_METRICS };
extern const char *const budget_metrics[]; /* "attention_error", "task_loss", "retained_mass", NULL */
/* Is more of it better, so that a budget says the least of it? */
bool budget_is_least(enum budget_metric m);

enum { BUDGETS_MAX = 16, BUDGET_ANY_TRUST = 100 };
#define BUDGET_DEFAULT_ERROR 0.1 /* of attention_error, where a sweep names no budget: a tenth of the output's norm */

struct budget {
    size_t n;                                  /* the loosest first; 0: nothing is limited (runs of an older dse) */
    double limit[BUDGET_METRICS][BUDGETS_MAX]; /* of each; NaN: the metric is not limited; infinite: whatever it is, if known */
    enum budget_metric named;                  /* whose limits tell the budgets apart */
    int32_t trust;                             /* the worst of enum dse_standing_quality that will do: BUDGET_ANY_TRUST: all, and
                                                  what is unknown stands apart; DSE_QUALITY_UNKNOWN: all, and together */
    bool by_default;                           /* nobody named one */
};
void budget_init(struct budget *b);
void budget_set_default(struct budget *b);
static inline bool budget_limits(const struct budget *b, enum budget_metric m)
{
    return b->n > 0 && b->limit[m][0] == b->limit[m][0];
}

/* What is known of a row. A metric that the model does not have is absent. */
struct budget_row {
    const char *quality;          /* of dse_quality_names; NULL: the model does not say */
    double value[BUDGET_METRICS]; /* NaN: not known, or absent */
    bool has[BUDGET_METRICS];
};
/* The fronts that a feasible row may be on: bit i of those of budget i, or BUDGET_UNKNOWN alone, where a limited metric is not
 * known and no other is over; 0: it is over all budgets. A row that is exact loses nothing, and nor does one of a model that says
 * nothing of quality and has no such metric. */
#define BUDGET_UNKNOWN (1u << BUDGETS_MAX)
unsigned budget_fronts(const struct budget *b, const struct budget_row *row);
/* By how much a row is over the loosest budget: of each limit that it does not keep a share in (0, 1] that falls as it comes
 * closer, 1 where its loss is unknown; 0: within. What a search goes by. */
double budget_excess(const struct budget *b, const struct budget_row *row);
/* Why a row of no front is infeasible: "over budget", or for its trust "over budget: quality is other-llm". A string constant. */
const char *budget_reason(const struct budget *b, const struct budget_row *row);
/* Is it such a reason? */
bool budget_is_reason(const char *reason);

/* The i-th budget alone; of i = n none. */
struct budget budget_only(const struct budget *b, size_t i);
/* The name of a budget, as fronts have it: its limit, "0.03"; of i = n: "unknown". */
const char *budget_name(const struct budget *b, size_t i, char buf[TEXT_NUMBER_MAX]);
/* "attention_error 0.3 0.1, trust measured", "attention_error 0.1 (default)"; "" without a budget. The caller frees it. */
char *budget_text(const struct budget *b);
/* Add " within <that text>" to what is optimised; nothing without a budget. */
void budget_add_within(const struct budget *b, struct text *to);
/* The whole text of budget_text, back. */
bool budget_parse(struct budget *b, const char *text);
/* "error at most 0.1": the loosest limits, for a caption. The caller frees it. */
char *budget_limits_text(const struct budget *b);

/* Put the budgets in order, the loosest first, and give those metrics that have one limit the same in all. `counts`: how many
 * limits there are of each metric. False: two metrics have several. */
bool budget_settle(struct budget *b, const size_t counts[BUDGET_METRICS]);

#endif
