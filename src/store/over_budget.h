/* What a run's budget keeps off its front, in a sentence. */
#ifndef DSE_STORE_OVER_BUDGET_H
#define DSE_STORE_OVER_BUDGET_H

#include "base/diag.h"
#include "config/budget.h"

#include <stddef.h>
#include <stdint.h>

struct db;

struct tally;

/* How many rows of these models are over the budget, and that nobody named one where that is so. `tallies`: of each model. NULL in
 * *ret: there is nothing to say, as no row is over it and none is of unknown loss. The caller frees *ret. False with errors. */
bool over_budget_text(const struct db *db, int64_t run, const char *const *models, const struct tally *tallies, size_t n,
                      char **ret, struct diags *diags);

/* Behind the expression of a row's quality: is the row exact, but for its formats? */
#define IS_EXACT_SQL "IN ('exact', 'rounded')"
/* The SQL of what an exact row loses in a metric that it may not have: nothing; NULL in other rows. `quality` is an expression. The
 * caller frees it. */
char *exact_loss_sql(const char *quality, enum budget_metric m);

#endif
