/* The inside of src/diff. */
#ifndef DSE_DIFF_DIFF_INTERNAL_H
#define DSE_DIFF_DIFF_INTERNAL_H

#include "diff/diff.h"
#include "store/run_rows.h"

/* The columns of one model that both sides are read with: the keys, then those that are compared, in the order of the model's. */
struct reading {
    const struct diff *diff;
    struct diff_model *model;
    const char **names;
    size_t n;
};

/* A list of strings that are owned. */
void add_string(char ***list, size_t *n, char *s);
void free_strings(char **list, size_t n);
bool has_string(char *const *list, size_t n, const char *s);
/* The first column of all rows of a query, as texts. */
bool read_strings(struct reader *r, const char *sql, char ***ret, size_t *ret_n, struct diags *diags);
/* Is the comma-separated list's element there? */
bool is_listed(const char *list, const char *name);

/* How large a change is beside the finite number that it is one of, with its sign; infinite from 0 alone: what is too much for a
 * number is the most that is told. */
double relative_size(double a, double change);
/* Those of the parameters, which both runs have, that stand still in both at different values. (inputs.c) */
bool find_inputs(const struct diff *d, struct diff_model *m, char *const *params, size_t n, struct diags *diags);
/* Match rows and compare them: sets the counts and columns of the model, and its changes. (compare.c) */
bool compare_rows(struct reading *reading, struct diags *diags);
/* Rows whose keys are equal, as pairs of points: A's, B's; ascending in A's. (pairs.c) */
uint64_t *match_rows(const struct reading *reading, uint64_t *ret_n, struct diags *diags);
/* The fronts. `pairs` are the matched rows, NULL when each point is matched with that of its number. (fronts.c) */
bool compare_fronts(const struct diff *d, struct diff_model *m, const uint64_t *pairs, uint64_t n_pairs, struct diags *diags);
/* The causes of what changed. (causes.c) */
bool find_causes(struct diff *d, struct diff_model *m, const struct diff_options *options, struct diags *diags);

#endif
