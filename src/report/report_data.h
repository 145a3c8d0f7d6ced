/* Internal to src/report: the data of a page as JSON. */
#ifndef DSE_REPORT_DATA_H
#define DSE_REPORT_DATA_H

#include "base/text.h"
#include "report/report.h"
#include "store/query.h"
#include "sweep/goal.h"

/* A column that the page shows. */
struct report_column {
    char *name, *unit, *doc;
    int direction; /* -1: less is better, 1: more, 0: neither */
    bool is_axis, is_objective, is_text;
};

/* The run and what is known of it. */
struct report_run {
    const struct report_options *options;
    struct reader *reader;
    int64_t id;
    char *sweep, *sweep_text, *models, *axes, *objectives;
    struct goal goal;
    char *table; /* the view of its rows: that of its one model, or comparison */
    bool compares_models;
    struct report_column *columns;
    size_t n_columns;
    uint64_t feasible;
};

/* Release it whatever comes back. */
bool report_run_open(struct report_run *r, const struct report_options *o, struct diags *diags);
void report_run_close(struct report_run *r);

/* The data as one JSON object, fit to stand in a page: no "<" in it. */
bool report_data(struct report_run *r, struct text *ret, struct diags *diags);
/* "breakdowns": [...] of the rows of the front, in the order of front_sql; null where a point cannot be carried out anew. */
void report_breakdowns(const struct report_run *r, const char *front_sql, struct text *ret);

/* JSON: a string or null; a number with six digits, or null for NaN. */
void json_string(struct text *t, const char *s);
void json_number(struct text *t, double v);

#endif
