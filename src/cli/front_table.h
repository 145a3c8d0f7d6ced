/* The front of a run as rows: what the run stored, or computed now for other objectives. */
#ifndef DSE_CLI_FRONT_TABLE_H
#define DSE_CLI_FRONT_TABLE_H

#include "command/output.h"
#include "sweep/goal.h"

struct front_request {
    const char *db;
    const char *model;       /* only this one; NULL: all models of the run */
    int64_t run;             /* 0: the newest that is done */
    const struct goal *goal; /* NULL: the run's own, as stored */
    const char *front;       /* of the run's budgets, "0.03", or "unknown"; NULL: the run's, of its loosest budget */
    bool one_front;          /* of a goal without `per`: one front of all points, not the run's fronts */
    size_t limit;            /* rows at most; 0: all */
    bool pick; /* of a stored front that has more rows, the knee and the extremes of each front come first; else the first rows */
    enum output_format format;
    bool summary; /* say how many points there are, and the hypervolume, on stderr */
};

/* Print the front, best first objective first: model, objectives, in a run with a baseline speedup and energy ratio, and the
 * parameters that vary in the run: those of all models, then those of some. Of the latter a table makes one column, `design`,
 * when there are several. Of a run that refines, under objectives other than its own, the fidelity of each row. */
bool front_table_print(const struct front_request *request, struct diags *diags);

#endif
