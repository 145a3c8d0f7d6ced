/* Fitting a model's constants to measured rows, machine by machine: [fit.MODEL] of bindings.toml names the parameter that tells
 * machines apart and the constants,
 *
 *     [fit.flashdecoding]
 *     by        = "gpu"
 *     constants = ["kernel_stream_share", "gemm_fixed_cycles", ...]
 *
 * and bindings with `fit = true` give the rows. Besides, bindings with `fit = "NAME"`, or a list of such names, give those of
 * [fit.NAME], as of engines: those of split calibrate alone. Least squares of ln(modelled / measured), of which what is far off
 * counts less (pseudo-Huber, 20 %); what comes before the machine's name in a regime is a kind, and kinds count alike however many
 * rows they have. */
#ifndef DSE_MEASURED_FIT_H
#define DSE_MEASURED_FIT_H

#include "measured/measured.h"

struct fitted_machine {
    const char *name; /* of the catalog entry */
    const char *by;   /* the parameter that names it */
    const char *of;   /* `of` of the table; or NULL */
    const char **constants;
    size_t n_constants;
    size_t rows;
    double *shipped, *fitted; /* of each constant; fitted NaN: there were too few rows */
    double before, after;     /* mean absolute error in percent, kinds counting alike */
};
struct measured_fit {
    struct fitted_machine *machines;
    size_t n_machines;
};

/* NULL with errors: the model has no [fit.MODEL], or no row is for fitting. The set must outlive it. */
struct measured_fit *measured_fit(struct measured_set *s, const struct model *model, struct diags *diags);
void measured_fit_free(struct measured_fit *f);

#endif
