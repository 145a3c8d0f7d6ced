/* Building a quality entry from its rows; reading one is in <dse/quality.h>.
 *
 * An entry is made once, by the loader of the catalog or for an older file, and only read afterwards, from any thread.
 *
 *     entry -> surface (a method) -> sheet (one value of every setting) -> curve (a context) -> points (ratios)
 *
 * A surface's rows must be without holes: at each context of a sheet, every ratio between the smallest and the largest there that
 * the sheet has anywhere; every ratio at all contexts between the first and the last that have it; and every metric of the method.
 */
#ifndef DSE_QUALITY_QUALITY_H
#define DSE_QUALITY_QUALITY_H

#include "workload/measured.h"
#include "workload/row_fault.h"

#include <dse/quality.h>

#include <stddef.h>

struct quality_point {
    const char *method;
    double context, ratio;
    double setting[DSE_SETTINGS];
    enum dse_quality_metric metric;
    double stat[DSE_QUALITY_STATS]; /* NaN: not known; never the mean */
    bool extended;
    int line; /* in its file, for words; 0: none */
};

/* A rule that the file's head says, with its errors. */
struct quality_said {
    const char *method;
    enum dse_quality_metric metric;
    struct dse_quality_rule rule;
};

/* What an entry is made of. */
struct quality_from {
    const char *kind;              /* what sentences call it: "quality" */
    const char *name, *source;     /* copied */
    struct dse_measured *measured; /* taken over, whatever comes back */
    const struct quality_point *points;
    size_t n; /* in any order */
    const struct quality_said *said;
    size_t n_said; /* the other rules are chosen (quality_choose) */
    bool holes;    /* are no fault, as in older files */
};
/* Make an entry. NULL when the points are no surfaces: then *ret_fault says why, by point and column. It starts with its struct
 * dse_entry; quality_free frees it. */
struct dse_quality *quality_new(const struct quality_from *from, struct row_fault *ret_fault);
void quality_free(struct dse_quality *q);

/* An entry that is read when something of it is asked for the first time, in whichever thread: read(user) makes it, or gives NULL
 * and *ret_why, which the entry frees and tells whoever asks. `user` is freed with the entry. */
typedef struct dse_quality *quality_reader(void *user, char **ret_why);
struct dse_quality *quality_later(const char *name, const char *source, quality_reader *read, void *user);

const struct dse_measured *quality_measured(const struct dse_quality *q);

/* Choose the rule of each surface and metric that has the least leave-one-out error: a context, a ratio or a setting is left out
 * where it lies between two others, and its values are made from the rest. The rule with the smallest sum of the medians over
 * contexts and over ratios wins. Those that are said are left alone. */
void quality_choose(struct dse_quality *q, const struct quality_said *said, size_t n);
/* The errors of the rules as they are, measured anew. */
struct dse_quality_rule quality_left_out(const struct dse_quality_surface *s, enum dse_quality_metric m,
                                         const struct dse_quality_rule *rule);

/* A rule as a line of a file's head has it, and back: "value=log context=line ratio=cubic-logit left_out_context=2.1% ...". The
 * caller frees it. Back: why not, or NULL. */
char *quality_rule_text(const struct dse_quality_rule *r);
char *quality_rule_read(const char *text, struct dse_quality_rule *ret);

/* Everything that decides values, as numbers for a hash. */
void quality_numbers(const struct dse_quality *q, void (*add)(void *user, double x), void *user);

/* A metric by its name; DSE_QUALITY_METRICS when there is none. */
enum dse_quality_metric quality_metric_find(const char *name);

#endif
