/* Internal to src/report: models, and techniques on one machine, at equal quality. */
#ifndef DSE_REPORT_EQUAL_H
#define DSE_REPORT_EQUAL_H

#include "report/report_data.h"

enum { REPORT_CONTESTS_MAX = 8 };

/* Who is compared: models (by = NULL), or the values of a parameter on the same model. */
struct report_contest {
    const char *by;
};

/* Add "[{of, sql, limits, unknown, sentences}, ...]": for every pair and objective the sentences that say who beats whom by how
 * much among designs that are within the same budget; the query behind them, whose `limit` is 0 of exact designs and counts the
 * limits from 1; and how many designs took no part, as they lose more or nobody knows what. *said gets the sentences, a line each.
 * False with errors when the database cannot be read. */
bool report_equal_json(const struct report_run *r, struct text *json, struct text *said, struct diags *diags);

#endif
