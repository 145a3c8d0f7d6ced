/* The inside of printing fronts, shared by front_table.c (which front), front_rows.c (its rows), front_goal.c (fronts that are
 * computed now) and front_budgets.c (which of the fronts of a run's budgets). */
#ifndef DSE_CLI_FRONT_TABLE_INTERNAL_H
#define DSE_CLI_FRONT_TABLE_INTERNAL_H

#include "cli/front_picks.h"
#include "cli/front_table.h"
#include "store/query.h"
#include "sweep/design.h"

struct printing {
    const struct front_request *request;
    struct reader *reader;
    struct diags *diags;
    int64_t run;
    struct goal goal;         /* the run's; then that of the request, if it has one */
    size_t front;             /* of the budget's fronts that is asked for, as budget_name counts; 0: the run's */
    bool compared;            /* the run has a baseline */
    bool refines;             /* it has rows of both fidelities */
    bool lossy;               /* the run has a budget, and feasible rows that lose information: rows say what */
    bool per_of_run;          /* the goal is asked for, its `per` the run's */
    struct front_picks picks; /* rows to show; none: all, or the first */
    struct name_list models;
    struct name_list axes;        /* parameters that the sweep varied in any of its models */
    struct name_list shared, own; /* those that all of `models` have, and that some of them have */
};

/* Points of all models as one list: the model in the upper byte. */
enum { MODEL_SHIFT = 56 };

/* Rows to print: those of the stored front, of a stored front of a budget, or of points. */
struct front_rows {
    bool stored;
    const char *budget; /* of a stored front: its budget; NULL: the run's front */
    const uint64_t *ids;
    size_t n;
    size_t limit; /* rows at most; 0: all */
};
bool front_print_rows(struct printing *p, const struct front_rows *rows);
/* Columns of the goal must exist: SQLite would take an unknown "name" for a string. */
bool front_check_goal(struct printing *p);
bool front_check_names(const struct printing *p);
/* The points of model m among ids, as "(1, 2, 3)". */
void front_list_points(const uint64_t *ids, size_t n, size_t m, struct text *list);

/* Let the goal be what the request asks for, and print its front, which is computed now. */
void front_take_asked(struct printing *p);
bool front_print_new_goal(struct printing *p);

/* Find the front that the request names among those of the run's budgets. */
bool front_find_budget(struct printing *p);
/* Print a stored front of a budget other than the loosest, with how many points it has. */
bool front_print_budget(struct printing *p);
/* Behind the run's front: how many points the others have, and, in a table, the rows of those whose loss is unknown under a heading
 * of their own. */
bool front_print_others(struct printing *p);

#endif
