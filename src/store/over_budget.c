#include "store/over_budget.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/db.h"
#include "store/schema.h"
#include "store/tally.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a model that are over budget: those that are stored, or of a run that keeps a part of its rows those that it counted. */
static bool count_model(const struct db *db, int64_t run, const char *model, int64_t stored, int64_t *ret, struct diags *diags)
{
    int64_t counted = 0;
    bool counts, ok = schema_has_table(db, "main", "evaluated", &counts, diags);
    if (ok && counts)
        ok = db_int(db, &counted, diags,
                    "SELECT CAST(total(points) AS INTEGER) FROM main.evaluated WHERE run = %lld AND model = %Q"
                    " AND reason = 'over budget'",
                    (long long)run, model);
    *ret = counted > stored ? counted : stored;
    return ok;
}

/* What stands behind "within" in the run's objectives; "": nothing. The caller frees it. */
static bool read_budget(const struct db *db, int64_t run, char **ret, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags, "SELECT objectives FROM main.run WHERE id = %lld", (long long)run);
    const int rc = stmt ? db_step(db, stmt, diags) : -1;
    const char *text = rc > 0 ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    const char *within = text ? strstr(text, " within ") : NULL;
    *ret = xstrdup(within ? within + strlen(" within ") : "");
    sqlite3_finalize(stmt);
    return rc >= 0;
}

static char *say(const char *budget, int64_t rows, int64_t unknown)
{
    char count[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    text_count(count, (uint64_t)rows);
    if (!strstr(budget, "(default)")) {
        text_addf(&t, "%s rows lose more than the sweep's budget, %s, and are on no front", count, budget);
        return text_detach(&t);
    }
    text_add(
        &t, "the sweep sets no quality budget, so designs on its front lose at most a tenth of attention's output (attention_error "
            "0.1)");
    if (rows) text_addf(&t, "; %s rows lose more", count);
    if (unknown) text_add(&t, "; rows whose loss nobody measured have a front of their own");
    text_add(&t, "; [quality] attention_error = 0.3 allows more, and inf allows any known loss");
    return text_detach(&t);
}

bool over_budget_text(const struct db *db, int64_t run, const char *const *models, const struct tally *tallies, size_t n,
                      char **ret, struct diags *diags)
{
    int64_t rows = 0, unknown = 0;
    bool fronts;
    char *budget = NULL;
    *ret = NULL;
    bool ok = read_budget(db, run, &budget, diags) && schema_has_table(db, "main", "budget_front", &fronts, diags);
    if (ok && fronts)
        ok = db_int(db, &unknown, diags, "SELECT count(*) FROM main.budget_front WHERE run = %lld AND budget = 'unknown'",
                    (long long)run);
    for (size_t i = 0; ok && i < n && *budget; i++) {
        int64_t of_model;
        ok = count_model(db, run, models[i], tallies[i].over_budget, &of_model, diags);
        rows += of_model;
    }
    if (ok && (rows || (unknown && strstr(budget, "(default)")))) *ret = say(budget, rows, unknown);
    free(budget);
    return ok;
}

char *exact_loss_sql(const char *quality, enum budget_metric m)
{
    return xasprintf("CASE WHEN %s " IS_EXACT_SQL " THEN %d END", quality, budget_is_least(m));
}
