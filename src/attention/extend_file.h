/* Quality files beyond the contexts that were measured. Two files in the long format of catalog/quality
 * (docs/explanation/quality.md): one measured on real heads, one on heads that are like them and longer (`dse trace measure`,
 * attention/made_surface.h). A statistic is taken to follow
 *
 *     g(value) = base + slope log(context)          g: the logit of shares, the logarithm of all else
 *
 * The base is that of the measured heads' upper contexts. The slope to a context is the mean of theirs and of the made heads' up to
 * it, weighed by their standard errors, and at most 1 in magnitude (of shares 0.5): what made heads have wrong at every context
 * alike does not matter. A row for each method, settings, ratio and metric and each context is added, of kind `extended`. Its
 * standard error is that of base and slope and, for each octave, what two of three surfaces of the same method and metric are
 * missed by at most within the measured contexts. Spread and percentiles over heads stay empty: nobody measured them. What the file
 * reads on a logit ends where it would reach 1.
 */
#ifndef DSE_ATTENTION_EXTEND_FILE_H
#define DSE_ATTENTION_EXTEND_FILE_H

#include "base/diag.h"

#include <stddef.h>

/* How well the same does within the measured contexts: rows at the longest, predicted from those of half of it and less. */
struct extend_check {
    const char *metric; /* of the table below */
    size_t n;
    double median, p90, worst; /* of |predicted / measured - 1| */
};
struct extend_report {
    size_t measured, extended, without; /* surfaces; those of them that are extended; those that the made heads do not have */
    double context, from;               /* checked: the longest context that was measured, the longest that it was predicted from */
    struct extend_check *checks;        /* one a metric */
    size_t n_checks;
    char **names; /* the metrics' */
};

/* Write `to`: the rows of `measured` and the extended ones. Contexts that are not beyond the measured ones of a surface are left
 * out. False with errors. The caller releases the report. */
bool extend_files(const char *measured, const char *made, const size_t *contexts, size_t n_contexts, const char *to,
                  struct extend_report *ret, struct diags *diags);
void extend_report_release(struct extend_report *r);

#endif
