/* Internal to src/report: rows by the value that they share, and what is known of their objectives. */
#ifndef DSE_REPORT_GROUPS_H
#define DSE_REPORT_GROUPS_H

#include "sweep/goal.h"

/* How one objective is distributed: how often it has a value, the mean, the sum of squares around the mean, and the best. */
struct moments {
    uint64_t n;
    double mean, squares, best;
};

/* The rows that share a value. */
struct group {
    char *text; /* or NULL: a number */
    double number;
    uint64_t points;
    struct moments of[SWEEP_OBJECTIVES_MAX];
};

/* Groups by value, {0} is empty; found by hash: slots hold an index + 1, and are never more than half full. */
struct groups {
    struct group *list;
    size_t n, last; /* the group that was found last: values come in a row */
    uint32_t *slots;
    size_t n_slots;
};

void groups_release(struct groups *g);
/* The group of a text, or of a number with text NULL; made when it is not there. Valid until the next. */
struct group *groups_find(struct groups *g, const char *text, double number);
void groups_merge(const struct goal *goal, struct groups *to, const struct groups *from);
/* A copy in the order of the values: those of more than GROUPS_SHOWN numbers in so many ranges, each with its middle for a value.
 */
enum { GROUPS_SHOWN = 40 };
struct groups groups_shown(const struct goal *goal, const struct groups *g);
/* Sort the groups by their number of points. groups_find must not be called any more. */
void groups_sort_by_points(struct groups *g);

/* Take a row with these objectives, NaN being none; all that another group took. */
void group_take(const struct goal *goal, struct group *to, const double *values);
void group_merge(const struct goal *goal, struct group *to, const struct group *from);

#endif
