/* Fitting a model's constants to its published numbers: GSL's nonlinear least squares (Levenberg-Marquardt) on ln(modelled /
 * published), over the claims that [calibrate] of claims.toml names. Those are of split calibrate alone; nothing held out is
 * looked at.
 *
 * A constant c in [min, max] is fitted as u = ln((c - min) / (max - c)), so that it cannot leave its range. The fit is made from
 * the shipped values and once more from others, which are 0.3 away in u, up and down in turn: both must end in one place.
 */
#ifndef DSE_CLAIMS_CALIBRATE_H
#define DSE_CLAIMS_CALIBRATE_H

#include "claims/claims.h"

/* A constant that was fitted. */
struct fitted_constant {
    size_t index; /* in claims_constants */
    double shipped, fitted;
    double from_perturbed; /* where the fit from perturbed values ended */
    double perturbed;      /* from where it started */
    double standard_error; /* NaN without degrees of freedom */
    bool reproduced;       /* the shipped value is the fitted one, but for its rounding or the standard error */
};

struct calibration {
    size_t n, n_claims; /* constants, claims fitted to */
    struct fitted_constant *constants;
    double *covariance;  /* n x n; NaN without degrees of freedom */
    double *correlation; /* n x n */
    /* Largest over smallest singular value of d ln(modelled) / d ln(constant): how much better one combination of constants is
     * known than another. */
    double condition;
    double rms_percent; /* what is left: root of the mean square of the residuals, in percent */
    size_t iterations, perturbed_iterations;
    bool same_optimum; /* both starts ended in one place */
    double *values;    /* of all constants of the set, with the fitted ones: for claims_answer */
};

/* Fit. NULL with errors: fewer claims than constants, or claims that do not tell constants apart (which); a claim without a
 * number; no convergence. A set without constants to fit gives a calibration with n = 0. The caller frees it. */
struct calibration *calibrate(struct claim_set *s, struct diags *diags);
/* Fit once more, from the shipped values, with the constants that are not fitted as `values` has them, and put the fitted ones
 * into `values`. False, with `values` unchanged, when there is nothing to fit or the fit fails. */
bool calibrate_refit(struct claim_set *s, double *values);
void calibration_free(struct calibration *c);

#endif
