#include "claims/calibrate.h"

#include "claims/set.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the residuals are computed from. */
struct fit {
    struct claim_set *set;
    struct calibration *out;
    const struct claim_constant *constants;
    const struct claim *claims;
    const size_t *fitted; /* claims */
    struct diags *diags;
};

/* ---- constants and their transform ------------------------------------------------------------------------------------------- */

static double to_line(const struct claim_constant *c, double value)
{
    return log((value - c->min) / (c->max - value));
}

static double from_line(const struct claim_constant *c, double u)
{
    return c->min + (c->max - c->min) / (1 + exp(-u));
}

/* The derivative d from_line / du at a value. */
static double slope(const struct claim_constant *c, double value)
{
    return (value - c->min) * (c->max - value) / (c->max - c->min);
}

static const struct claim_constant *constant(const struct fit *f, size_t i)
{
    return &f->constants[f->out->constants[i].index];
}

static void set_values(const struct fit *f, const gsl_vector *u)
{
    for (size_t i = 0; i < f->out->n; i++)
        f->out->values[f->out->constants[i].index] = from_line(constant(f, i), gsl_vector_get(u, i));
}

/* ln(modelled / published) of each claim, as GSL asks for it. */
static int residuals(const gsl_vector *u, void *context, gsl_vector *ret)
{
    const struct fit *f = context;
    set_values(f, u);
    for (size_t k = 0; k < f->out->n_claims; k++) {
        const char *reason;
        double v = claims_value(f->set, f->fitted[k], f->out->values, &reason);
        if (!(v > 0)) return GSL_EDOM;
        gsl_vector_set(ret, k, log(v / f->claims[f->fitted[k]].value));
    }
    return GSL_SUCCESS;
}

/* ---- one fit ------------------------------------------------------------------------------------------------------------- */

/* Add an error at [calibrate]. Always false. */
static bool fit_error(const struct fit *f, const char *hint, const char *fmt, const char *what)
{
    const struct toml_node *table = toml_get(&f->set->doc->root, "calibrate");
    return claims_error(f->set, toml_key_loc(f->set->doc, table), hint, f->diags, fmt, what);
}

/* A workspace of GSL that stands at u; NULL when there are no residuals there. `fdf` must outlive it. */
static gsl_multifit_nlinear_workspace *new_workspace(struct fit *f, const gsl_vector *u, gsl_multifit_nlinear_fdf *fdf)
{
    static const double step = 1e-6; /* of the differences that make the Jacobian */
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    how.fdtype = GSL_MULTIFIT_NLINEAR_CTRDIFF;
    how.h_df = step;
    how.solver = gsl_multifit_nlinear_solver_svd; /* constants that hang together make the Jacobian nearly singular */
    *fdf = (gsl_multifit_nlinear_fdf){.f = residuals, .n = f->out->n_claims, .p = f->out->n, .params = f};
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, fdf->n, fdf->p);
    if (w && gsl_multifit_nlinear_init(u, fdf, w) == GSL_SUCCESS) return w;
    gsl_multifit_nlinear_free(w);
    return NULL;
}

/* Fit from u, which ends up where the fit did. Returns the number of iterations, or SIZE_MAX without convergence. */
static size_t run_fit(struct fit *f, gsl_vector *u, gsl_matrix *ret_jacobian, double *ret_rms)
{
    enum { ITERATIONS_MAX = 500 };
    static const double tolerance = 1e-10;
    gsl_multifit_nlinear_fdf fdf;
    gsl_multifit_nlinear_workspace *w = new_workspace(f, u, &fdf);
    if (!w) return SIZE_MAX;
    int info = 0, status = gsl_multifit_nlinear_driver(ITERATIONS_MAX, tolerance, tolerance, 0, NULL, NULL, &info, w);
    /* no step from where it started makes it better: that is the end, too, of which GSL says this */
    bool converged = status == GSL_SUCCESS || (status == GSL_EMAXITER && info == GSL_ENOPROG);
    size_t iterations = converged ? gsl_multifit_nlinear_niter(w) : SIZE_MAX;
    gsl_vector_memcpy(u, gsl_multifit_nlinear_position(w));
    gsl_matrix_memcpy(ret_jacobian, gsl_multifit_nlinear_jac(w));
    *ret_rms = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(w)) / sqrt((double)fdf.n);
    gsl_multifit_nlinear_free(w);
    return iterations;
}

/* Start values that have residuals: half as far away, while they have not. */
static bool perturb(struct fit *f, gsl_vector *u)
{
    enum { HALVINGS = 10 };
    gsl_vector *r = gsl_vector_alloc(f->out->n_claims);
    double distance = 0.3;
    bool ok = false;
    for (int h = 0; h < HALVINGS && !ok; h++, distance /= 2) {
        for (size_t i = 0; i < f->out->n; i++) {
            double value = to_line(constant(f, i), f->out->constants[i].shipped) + (i % 2 ? -distance : distance);
            gsl_vector_set(u, i, value);
            f->out->constants[i].perturbed = from_line(constant(f, i), value);
        }
        ok = residuals(u, f, r) == GSL_SUCCESS;
    }
    gsl_vector_free(r);
    return ok || fit_error(f, NULL, "%s", "no number with other constants than the shipped ones");
}

/* ---- what the claims tell about the constants ---------------------------------------------------------------------------- */

/* The singular values of the Jacobian by ln(constant), largest first, and its right vectors. */
static void decompose(const struct fit *f, const gsl_matrix *jacobian, gsl_vector *ret_values, gsl_matrix *ret_vectors)
{
    gsl_matrix *a = gsl_matrix_alloc(jacobian->size1, jacobian->size2);
    gsl_vector *work = gsl_vector_alloc(jacobian->size2);
    gsl_matrix_memcpy(a, jacobian);
    for (size_t i = 0; i < f->out->n; i++) {
        const struct claim_constant *c = constant(f, i);
        double value = f->out->values[f->out->constants[i].index];
        gsl_vector_view column = gsl_matrix_column(a, i);
        gsl_vector_scale(&column.vector, value / slope(c, value));
    }
    gsl_linalg_SV_decomp(a, ret_vectors, ret_values, work);
    gsl_vector_free(work);
    gsl_matrix_free(a);
}

/* An error that names the constants in the combination that the claims say least about. */
static bool undetermined(const struct fit *f, const gsl_matrix *vectors)
{
    const double share = 0.1;
    struct text names;
    text_init(&names);
    for (size_t i = 0; i < f->out->n; i++)
        if (fabs(gsl_matrix_get(vectors, i, f->out->n - 1)) > share)
            text_addf(&names, "%s%s", names.n ? ", " : "", constant(f, i)->name);
    fit_error(f, "fit fewer constants, or more claims", "the claims of [calibrate] do not determine %s", names.s);
    text_release(&names);
    return false;
}

/* Covariance of the constants: s^2 (J^T J)^-1 with the Jacobian by the constants, s^2 the residual a degree of freedom; and
 * correlation. */
static void find_covariance(struct fit *f, const gsl_matrix *jacobian, double rms)
{
    struct calibration *out = f->out;
    size_t n = out->n, freedom = out->n_claims - n;
    double variance = freedom ? rms * rms * (double)out->n_claims / (double)freedom : (double)NAN;
    gsl_matrix *inverse = gsl_matrix_alloc(n, n);
    gsl_multifit_nlinear_covar(jacobian, 0, inverse);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            double both = gsl_matrix_get(inverse, i, k);
            double scale = slope(constant(f, i), out->constants[i].fitted) * slope(constant(f, k), out->constants[k].fitted);
            out->covariance[i * n + k] = variance * scale * both;
            out->correlation[i * n + k] = both / sqrt(gsl_matrix_get(inverse, i, i) * gsl_matrix_get(inverse, k, k));
        }
        out->constants[i].standard_error = sqrt(out->covariance[i * n + i]);
    }
    gsl_matrix_free(inverse);
}

/* Is the shipped value the fitted one, rounded as it is written, or within the standard error? */
static bool is_reproduced(const struct fitted_constant *c)
{
    char buf[TEXT_NUMBER_MAX];
    double distance = fabs(c->fitted - c->shipped), rounding = claim_half_digit(text_number(buf, c->shipped));
    return distance <= rounding || distance <= c->standard_error;
}

/* The Jacobian tells all constants apart, and how well; else an error. */
static bool find_condition(struct fit *f, const gsl_matrix *jacobian)
{
    static const double singular = 1e-7; /* what differences of numbers can tell from 0 */
    gsl_vector *values = gsl_vector_alloc(f->out->n);
    gsl_matrix *vectors = gsl_matrix_alloc(f->out->n, f->out->n);
    decompose(f, jacobian, values, vectors);
    double largest = gsl_vector_get(values, 0), smallest = gsl_vector_get(values, f->out->n - 1);
    bool ok = smallest > singular * largest || undetermined(f, vectors);
    if (ok) f->out->condition = largest / smallest;
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    return ok;
}

/* Do the claims determine the constants at u, before anything is fitted? */
static bool is_determined(struct fit *f, const gsl_vector *u)
{
    gsl_multifit_nlinear_fdf fdf;
    gsl_multifit_nlinear_workspace *w = new_workspace(f, u, &fdf);
    if (!w) return fit_error(f, NULL, "%s", "no number near the shipped constants");
    bool ok = find_condition(f, gsl_multifit_nlinear_jac(w));
    gsl_multifit_nlinear_free(w);
    return ok;
}

static bool conclude(struct fit *f, const gsl_matrix *jacobian, double rms)
{
    if (!find_condition(f, jacobian)) return false;
    f->out->rms_percent = 100 * rms;
    find_covariance(f, jacobian, rms);
    for (size_t i = 0; i < f->out->n; i++) f->out->constants[i].reproduced = is_reproduced(&f->out->constants[i]);
    return true;
}

/* ---- both fits ----------------------------------------------------------------------------------------------------------- */

static void keep(struct fit *f, const gsl_vector *u, bool perturbed)
{
    set_values(f, u);
    for (size_t i = 0; i < f->out->n; i++) {
        struct fitted_constant *c = &f->out->constants[i];
        *(perturbed ? &c->from_perturbed : &c->fitted) = f->out->values[c->index];
    }
}

static bool is_same_optimum(const struct calibration *out)
{
    const double share = 1e-4;
    bool same = true;
    for (size_t i = 0; i < out->n; i++) {
        const struct fitted_constant *c = &out->constants[i];
        same = same && fabs(c->from_perturbed - c->fitted) <= share * fabs(c->fitted);
    }
    return same;
}

static void put_shipped(const struct fit *f, gsl_vector *u)
{
    for (size_t i = 0; i < f->out->n; i++) gsl_vector_set(u, i, to_line(constant(f, i), f->out->constants[i].shipped));
}

/* Fit from the perturbed values and then from the shipped ones, whose result is kept. */
static bool fit_both(struct fit *f, gsl_vector *u, gsl_matrix *jacobian)
{
    struct calibration *out = f->out;
    double rms;
    put_shipped(f, u);
    if (!is_determined(f, u) || !perturb(f, u)) return false;
    out->perturbed_iterations = run_fit(f, u, jacobian, &rms);
    if (out->perturbed_iterations == SIZE_MAX)
        return fit_error(f, NULL, "%s", "the fit from perturbed constants does not converge");
    keep(f, u, true);
    put_shipped(f, u);
    out->iterations = run_fit(f, u, jacobian, &rms);
    if (out->iterations == SIZE_MAX) return fit_error(f, NULL, "%s", "the fit from the shipped constants does not converge");
    keep(f, u, false);
    out->same_optimum = is_same_optimum(out);
    return conclude(f, jacobian, rms);
}

static bool fit(struct fit *f)
{
    gsl_vector *u = gsl_vector_alloc(f->out->n);
    gsl_matrix *jacobian = gsl_matrix_alloc(f->out->n_claims, f->out->n);
    bool ok = fit_both(f, u, jacobian);
    gsl_vector_free(u);
    gsl_matrix_free(jacobian);
    return ok;
}

/* Check that there are at least as many claims as constants. */
static bool check_count(const struct fit *f)
{
    if (f->out->n_claims >= f->out->n) return true;
    struct text what;
    text_init(&what);
    text_addf(&what, "%zu claims cannot determine %zu constants: ", f->out->n_claims, f->out->n);
    for (size_t i = 0; i < f->out->n; i++) text_addf(&what, "%s%s", i ? ", " : "", constant(f, i)->name);
    fit_error(f, "fit fewer constants, or more claims", "%s", what.s);
    text_release(&what);
    return false;
}

/* Check that every claim has a positive number with the shipped constants. */
static bool check_numbers(const struct fit *f)
{
    bool ok = true;
    for (size_t k = 0; k < f->out->n_claims; k++) {
        const char *reason;
        double v = claims_value(f->set, f->fitted[k], NULL, &reason);
        if (v > 0) continue;
        char *what = xasprintf("%s: %s", f->claims[f->fitted[k]].id, isnan(v) ? reason : "the model's number is not above 0");
        ok = fit_error(f, NULL, "%s", what);
        free(what);
    }
    return ok;
}

static struct calibration *new_calibration(const struct claim_set *s)
{
    struct calibration *out = xcalloc(1, sizeof *out);
    size_t n;
    const struct claim_constant *c = claims_constants(s, &n);
    claims_fitted(s, &out->n_claims);
    out->constants = xcalloc(n, sizeof *out->constants);
    out->values = xcalloc(n, sizeof *out->values);
    for (size_t i = 0; i < n; i++) {
        out->values[i] = c[i].shipped;
        if (!c[i].fit || c[i].borrowed) continue;
        out->constants[out->n++] = (struct fitted_constant){.index = i, .shipped = c[i].shipped, .fitted = c[i].shipped};
    }
    out->covariance = xcalloc(out->n * out->n, sizeof *out->covariance);
    out->correlation = xcalloc(out->n * out->n, sizeof *out->correlation);
    return out;
}

struct calibration *calibrate(struct claim_set *s, struct diags *diags)
{
    struct calibration *out = new_calibration(s);
    if (out->n == 0) return out;
    size_t n;
    struct fit f = {.set = s, .out = out, .diags = diags};
    f.constants = claims_constants(s, &n);
    f.claims = claims_list(s, &n);
    f.fitted = claims_fitted(s, &n);
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* which would end the program */
    bool ok = check_count(&f) && check_numbers(&f) && fit(&f);
    gsl_set_error_handler(handler);
    if (ok) return out;
    calibration_free(out);
    return NULL;
}

bool calibrate_refit(struct claim_set *s, double *values)
{
    struct calibration *out = new_calibration(s);
    size_t n, all;
    struct fit f = {.set = s, .out = out};
    f.constants = claims_constants(s, &all);
    f.claims = claims_list(s, &n);
    f.fitted = claims_fitted(s, &n);
    memcpy(out->values, values, all * sizeof *values);
    bool ok = out->n > 0 && out->n_claims >= out->n;
    if (ok) {
        gsl_error_handler_t *handler = gsl_set_error_handler_off();
        gsl_vector *u = gsl_vector_alloc(out->n);
        gsl_matrix *jacobian = gsl_matrix_alloc(out->n_claims, out->n);
        double rms;
        put_shipped(&f, u);
        ok = run_fit(&f, u, jacobian, &rms) != SIZE_MAX;
        if (ok) set_values(&f, u);
        if (ok) memcpy(values, out->values, all * sizeof *values);
        gsl_vector_free(u);
        gsl_matrix_free(jacobian);
        gsl_set_error_handler(handler);
    }
    calibration_free(out);
    return ok;
}

void calibration_free(struct calibration *c)
{
    if (!c) return;
    free(c->constants);
    free(c->covariance);
    free(c->correlation);
    free(c->values);
    free(c);
}
