/* What is said about regimes of measured rows: DIR/causes.toml, where there is one. Regimes are put into kinds, of which each has
 * an error to be reached, and what stays wrong has its suspected cause:
 *
 *     [[kind]]
 *     model   = "flashdecoding"
 *     name    = "attention, decode"
 *     regimes = ["attention, decode*"]     # * stands for any text; the first kind that has a regime takes it
 *     target  = 12                         # percent, mean absolute error of rows of split test; left out: there is none
 *
 *     [[cause]]
 *     model   = "flashdecoding"
 *     regimes = ["attention, decode, b200"]
 *     source  = "aiconfigurator"           # left out: any
 *     cause   = "kernels of FlashInfer ..."
 *
 *     [constants]                          # besides those of [fit.MODEL]: what else was fitted to rows of split calibrate
 *     flashdecoding = ["launch_us"]
 */
#ifndef DSE_MEASURED_NOTES_H
#define DSE_MEASURED_NOTES_H

#include "base/diag.h"
#include "measured/measured.h"

enum { MEASURED_MANY = 10, MEASURED_BIAS = 20 };

struct measured_kind {
    const struct model *model;
    const char *name, **regimes; /* patterns; end with NULL */
    double target;               /* percent; NaN: none */
};
struct measured_cause {
    const struct model *model;
    const char *cause, *source, **regimes; /* source: NULL: any */
};

struct measured_notes {
    struct toml_doc *doc; /* NULL: there is no such file */
    struct measured_kind *kinds;
    struct measured_cause *causes;
    size_t n_kinds, n_causes;
};

/* Empty where there is no such file; NULL with all errors. */
struct measured_notes *measured_notes_open(const char *dir, struct diags *diags);
void measured_notes_free(struct measured_notes *n);
/* NULL: no kind has the regime. */
const struct measured_kind *measured_kind_of(const struct measured_notes *n, const struct model *model, const char *regime);
/* The first that has the regime; NULL: nobody said. */
const struct measured_cause *measured_cause_of(const struct measured_notes *n, const struct measured_sum *sum);
/* Rows of split test that are off by more than their kind's target in the mean, or MEASURED_MANY and more that are biased by over
 * MEASURED_BIAS percent. */
bool measured_is_wrong(const struct measured_notes *n, const struct measured_sum *sum);

#endif
