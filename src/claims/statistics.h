/* What can be measured on heads, and how. */
#ifndef DSE_CLAIMS_STATISTICS_H
#define DSE_CLAIMS_STATISTICS_H

#include "attention/measure.h"
#include "quality/profile.h"

/* What is measured on heads; `dse profile` prints the same. Names: statistic_names. */
enum statistic {
    STATISTIC_CENTERS,
    STATISTIC_LARGE,
    STATISTIC_ACTIVE,
    STATISTIC_UPDATES,
    STATISTIC_HIT_RATIO,
    STATISTIC_TOP1,
    STATISTIC_TOP1_PLUS_TOP2,
    STATISTIC_FALSE_NEGATIVE,
    STATISTIC_FALSE_POSITIVE,
    STATISTIC_SOFTMAX_MSE,
    STATISTIC_LINES_MSE,
    STATISTIC_ATTENTION_ERROR,
    STATISTIC_INSIDE,
    STATISTIC_RECOMPUTED,
    STATISTIC_WITHIN_1E_2,
    STATISTIC_WITHIN_1E_1,
    STATISTIC_LARGEST_DIFFERENCE,
    STATISTIC_EXP_ERROR,
    STATISTICS
};
extern const char *const statistic_names[]; /* closed by NULL */

/* The kinds of runs that measure statistics. For each set of heads a kind is run once, over all contexts that claims ask for. */
enum run_kind { RUN_LOCALITY, RUN_RANGE, RUN_PARTIAL, RUN_NOTHING, RUN_KINDS };
enum run_kind statistic_run(enum statistic s); /* RUN_NOTHING: takes no heads */

/* Measure the statistics of a kind that takes heads: a row for each context of the plan, of which only those are set. False with
 * errors. */
bool statistics_measure(enum run_kind kind, const struct measure_plan *plan, double (*rows)[STATISTICS], struct diags *diags);
/* Take the statistics that a profile has at this context. The others stay as they are. */
void statistics_of_profile(const struct dse_profile *p, size_t context, double row[STATISTICS]);
/* The statistic that needs no heads: the error of the exponential. */
double statistic_without_heads(void);

#endif
