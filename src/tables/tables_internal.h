/* Internal to src/tables. Every table is a constant; its context is the struct tables. */
#ifndef DSE_TABLES_INTERNAL_H
#define DSE_TABLES_INTERNAL_H

#include "base/text.h"
#include "base/xalloc.h"
#include "tables/tables.h"

struct answered_claims;
struct answered_rows;

struct tables {
    const struct catalog *catalog;
    struct answered_claims *claims; /* made by the first query that reads them */
    struct answered_rows *measured; /* likewise */
};

extern const struct computed_table table_column_info, table_claim, table_metric, table_breakdown, table_timeline, table_resource,
    table_note, table_equation, table_dram_efficiency, table_profile, table_retention, table_exp_error, table_interval_map,
    table_score_stats, table_score_share, table_measured, table_measured_regimes, table_task_quality;

/* The errors of diags as one line, which the caller frees; releases diags. */
char *tables_error(struct diags *diags);
/* Say why a table cannot be filled. Always false. */
static inline bool tables_fail(struct diags *diags, char **ret_error)
{
    *ret_error = tables_error(diags);
    return false;
}
/* An argument as a whole number within [min, max], `otherwise` when it is not given. False with *ret_error. */
bool tables_integer(const char *argument, const char *name, int64_t min, int64_t max, int64_t otherwise, int64_t *ret,
                    char **ret_error);

void answered_claims_free(struct answered_claims *a);
void answered_rows_free(struct answered_rows *a);

#endif
