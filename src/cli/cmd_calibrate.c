/* dse calibrate: fit a model's constants to published numbers of split calibrate. */
#include "base/text.h"
#include "base/xalloc.h"
#include "claims/calibrate.h"
#include "claims/identified.h"
#include "cli/catalog_files.h"
#include "cli/model_find.h"
#include "command/command.h"
#include "command/output.h"
#include "measured/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A fit, and the answers to all claims before and after it. */
struct report {
    struct claim_set *set;
    struct calibration *fit;
    const struct claim_constant *constants; /* of the set */
    const struct claim *claims;
    struct claim_answer *before, *after;
    size_t n_claims;
    struct unidentified *products; /* n_products of them: what is known of constants that the claims do not tell apart */
    size_t n_products;
};

/* ---- rows for programs ------------------------------------------------------------------------------------------------------ */

static const char *name_of(const struct report *r, size_t i)
{
    return r->constants[r->fit->constants[i].index].name;
}

/* What the fit makes of a product, and its standard error: that of the factor that is fitted (NaN where both are, or without
 * degrees of freedom). */
static double fitted_product(const struct report *r, const struct unidentified *u, double *ret_error)
{
    double a = r->fit->values[u->a], b = r->fit->values[u->b], product = a * pow(b, u->power);
    *ret_error = (double)NAN;
    for (size_t i = 0; i < r->fit->n; i++) {
        const struct fitted_constant *c = &r->fit->constants[i];
        if (c->index == u->a) *ret_error = product * c->standard_error / a;
        if (c->index == u->b) *ret_error = product * fabs(u->power) * c->standard_error / b;
    }
    return product;
}

/* The product that the constant is known by alone; or NULL. */
static const struct unidentified *product_of(const struct report *r, size_t constant)
{
    for (size_t i = 0; i < r->n_products; i++)
        if (r->products[i].a == constant || r->products[i].b == constant) return &r->products[i];
    return NULL;
}

static void put_product(struct output *o, const struct report *r, size_t constant)
{
    const struct unidentified *u = product_of(r, constant);
    double error = (double)NAN;
    char *text = u ? claims_product_text(r->set, u) : NULL;
    output_text(o, text);
    output_f64(o, u ? fitted_product(r, u, &error) : (double)NAN);
    output_f64(o, error);
    free(text);
}

/* Print a row for each constant, with its covariance and correlation with each of the constants. */
static void print_rows(const struct report *r, enum output_format format)
{
    enum { FIXED = 10 };
    static const char *const fixed[FIXED] = {"system",     "constant",       "shipped",    "fitted",  "standard_error",
                                             "reproduced", "from_perturbed", "known_only", "product", "product_standard_error"};
    size_t n = r->fit->n;
    char **names = xcalloc(FIXED + 2 * n, sizeof *names);
    for (size_t i = 0; i < FIXED; i++) names[i] = xstrdup(fixed[i]);
    for (size_t i = 0; i < n; i++) {
        names[FIXED + i] = xasprintf("covariance_%s", name_of(r, i));
        names[FIXED + n + i] = xasprintf("correlation_%s", name_of(r, i));
    }
    struct output *o = output_new(stdout, format, (const char *const *)names, FIXED + 2 * n);
    for (size_t i = 0; i < n; i++) {
        const struct fitted_constant *c = &r->fit->constants[i];
        output_text(o, claims_model(r->set)->desc->name);
        output_text(o, name_of(r, i));
        output_f64(o, c->shipped);
        output_f64(o, c->fitted);
        output_f64(o, c->standard_error);
        output_text(o, c->reproduced ? "yes" : "no");
        output_f64(o, c->from_perturbed);
        put_product(o, r, c->index);
        for (size_t k = 0; k < n; k++) output_f64(o, r->fit->covariance[i * n + k]);
        for (size_t k = 0; k < n; k++) output_f64(o, r->fit->correlation[i * n + k]);
    }
    output_end(o);
    for (size_t i = 0; i < FIXED + 2 * n; i++) free(names[i]);
    free(names);
}

/* ---- the report for people ----------------------------------------------------------------------------------------------- */

static void print_head(const struct report *r)
{
    const struct calibration *f = r->fit;
    size_t freedom = f->n_claims - f->n;
    printf("%s\n\n%zu constant%s fitted to %zu claim%s of split calibrate", claims_model(r->set)->desc->title, f->n,
           f->n == 1 ? "" : "s", f->n_claims, f->n_claims == 1 ? "" : "s");
    if (freedom)
        printf(", %zu degree%s of freedom; what is left: %.2f %% (root mean square)\n\n", freedom, freedom == 1 ? "" : "s",
               f->rms_percent);
    else
        printf(": exactly determined, so that no standard error can be given; what is left: %.2g %%\n\n", f->rms_percent);
}

static void print_constants(const struct report *r)
{
    struct output *o =
        output_new(stdout, OUTPUT_TABLE, (const char *const[]){"CONSTANT", "SHIPPED", "FITTED", "STANDARD ERROR", "REPRODUCED"}, 5);
    for (size_t i = 0; i < r->fit->n; i++) {
        const struct fitted_constant *c = &r->fit->constants[i];
        output_text(o, name_of(r, i));
        output_f64(o, c->shipped);
        output_f64(o, c->fitted);
        output_f64(o, c->standard_error);
        output_coloured(o, c->reproduced ? "yes" : "no", c->reproduced ? "\033[32m" : "\033[31m");
    }
    output_end(o);
}

static void print_matrix(const struct report *r, const char *title, const double *matrix)
{
    size_t n = r->fit->n;
    const char **names = xcalloc(n + 1, sizeof *names);
    names[0] = title;
    for (size_t i = 0; i < n; i++) names[1 + i] = name_of(r, i);
    struct output *o = output_new(stdout, OUTPUT_TABLE, names, n + 1);
    for (size_t i = 0; i < n; i++) {
        output_text(o, names[1 + i]);
        for (size_t k = 0; k < n; k++) output_f64(o, k <= i ? matrix[i * n + k] : (double)NAN);
    }
    output_end(o);
    putchar('\n');
    free(names);
}

static void print_starts(const struct report *r)
{
    const struct calibration *f = r->fit;
    char number[TEXT_NUMBER_MAX], other[TEXT_NUMBER_MAX];
    printf("Condition number (by relative changes of the constants): %s\n", text_short_number(number, f->condition));
    printf("From the shipped values: %zu iterations. From", f->iterations);
    for (size_t i = 0; i < f->n; i++)
        printf("%s %s = %s", i ? "," : "", name_of(r, i), text_short_number(number, f->constants[i].perturbed));
    printf(": %zu iterations, ", f->perturbed_iterations);
    if (f->same_optimum) {
        printf("to the same optimum.\n\n");
        return;
    }
    printf("to another end:");
    for (size_t i = 0; i < f->n; i++)
        printf("%s %s = %s instead of %s", i ? "," : "", name_of(r, i), text_short_number(number, f->constants[i].from_perturbed),
               text_short_number(other, f->constants[i].fitted));
    printf(".\n\n");
}

/* A fitted factor is worth no more than what was chosen beside it. */
static void print_products(const struct report *r)
{
    char number[TEXT_NUMBER_MAX], deviation[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < r->n_products; i++) {
        const struct unidentified *u = &r->products[i];
        double error, product = fitted_product(r, u, &error);
        char *text = claims_product_text(r->set, u);
        printf("These claims do not determine each constant (condition number %s): only %s is known. Shipped:",
               text_short_number(number, u->condition), text);
        printf(" %s, fitted: %s", text_short_number(number, u->product), text_short_number(deviation, product));
        if (!isnan(error)) printf(" +- %s", text_short_number(number, error));
        printf("\n");
        free(text);
    }
    if (r->n_products) putchar('\n');
}

static const char *percent(double v, char buf[TEXT_NUMBER_MAX])
{
    if (isnan(v)) return NULL;
    snprintf(buf, TEXT_NUMBER_MAX, fabs(v) < 0.005 ? "0.00" : "%+.2f", v);
    return buf;
}

/* The same for a size, which has no sign. */
static const char *size_percent(double v, char buf[TEXT_NUMBER_MAX])
{
    if (isnan(v)) return NULL;
    snprintf(buf, TEXT_NUMBER_MAX, "%.2f", v);
    return buf;
}

static void print_claims(const struct report *r)
{
    size_t n;
    const size_t *fitted = claims_fitted(r->set, &n);
    struct output *o =
        output_new(stdout, OUTPUT_TABLE,
                   (const char *const[]){"FITTED TO", "PUBLISHED", "SHIPPED", "ERROR %", "FITTED", "ERROR %", "UNIT"}, 7);
    for (size_t i = 0; i < n; i++) {
        const struct claim *c = &r->claims[fitted[i]];
        const struct claim_answer *before = &r->before[fitted[i]], *after = &r->after[fitted[i]];
        char buf[TEXT_NUMBER_MAX];
        output_text(o, c->id);
        output_text(o, c->value_text);
        output_f64(o, before->modelled);
        output_text(o, percent(before->error_percent, buf));
        output_f64(o, after->modelled);
        output_text(o, percent(after->error_percent, buf));
        output_text(o, c->unit);
    }
    output_end(o);
}

static void print_sums(const struct report *r)
{
    struct output *o =
        output_new(stdout, OUTPUT_TABLE,
                   (const char *const[]){"MEAN ERROR %", "NUMBERS", "SHIPPED", "FITTED", "WORST, SHIPPED", "WORST, FITTED"}, 6);
    for (const struct claim_group *g = claim_groups; g->name; g++) {
        struct claim_sum before = claims_sum(r->set, r->before, g), after = claims_sum(r->set, r->after, g);
        if (!before.errors) continue;
        char buf[TEXT_NUMBER_MAX];
        output_text(o, g->name);
        output_i64(o, (int64_t)before.errors);
        output_text(o, size_percent(before.mean_percent, buf));
        output_text(o, size_percent(after.mean_percent, buf));
        output_text(o, size_percent(before.worst_percent, buf));
        output_text(o, size_percent(after.worst_percent, buf));
    }
    output_end(o);
}

static void print_report(const struct report *r)
{
    print_head(r);
    print_constants(r);
    putchar('\n');
    if (r->fit->n_claims > r->fit->n) print_matrix(r, "COVARIANCE", r->fit->covariance);
    print_matrix(r, "CORRELATION", r->fit->correlation);
    print_starts(r);
    print_products(r);
    print_claims(r);
    putchar('\n');
    print_sums(r);
    size_t reproduced = 0;
    for (size_t i = 0; i < r->fit->n; i++) reproduced += r->fit->constants[i].reproduced;
    printf("\n%zu of %zu shipped constants are the fitted ones, but for their rounding or standard error\n", reproduced, r->fit->n);
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static void report(const struct invocation *in, struct claim_set *set, struct calibration *fit, enum output_format format)
{
    size_t n;
    struct report r = {.set = set, .fit = fit, .constants = claims_constants(set, &n)};
    r.claims = claims_list(set, &r.n_claims);
    r.before = xcalloc(r.n_claims, sizeof *r.before);
    r.after = xcalloc(r.n_claims, sizeof *r.after);
    struct diags again; /* the same as before, at other values */
    diags_init(&again);
    claims_answer(set, r.before, in->diags);
    claims_answer_with(set, fit->values, r.after, &again);
    diags_release(&again);
    r.n_products = claims_unidentified(set, &r.products);
    if (format == OUTPUT_TABLE)
        print_report(&r);
    else
        print_rows(&r, format);
    free(r.before);
    free(r.after);
    free(r.products);
}

static void print_machines(const struct measured_fit *f, enum output_format format)
{
    static const char *const columns[] = {"MACHINE", "CONSTANT", "SHIPPED", "FITTED", "ROWS", "MEAN |%| BEFORE", "MEAN |%| AFTER"};
    static const char *const names[] = {"machine", "constant",           "shipped",         "fitted",
                                        "rows",    "mean_abs_error_pct", "fitted_error_pct"};
    enum { COLUMNS = sizeof names / sizeof *names, DIGITS = 4 };
    struct output *o = output_new(stdout, format, format == OUTPUT_TABLE ? columns : names, COLUMNS);
    for (size_t i = 0; i < f->n_machines; i++)
        for (size_t k = 0; k < f->machines[i].n_constants; k++) {
            const struct fitted_machine *m = &f->machines[i];
            output_text(o, m->name);
            output_text(o, m->constants[k]);
            output_f64(o, m->shipped[k]);
            output_f64(o, m->fitted[k]);
            output_i64(o, (int64_t)m->rows);
            output_f64(o, m->before);
            output_f64(o, m->after);
        }
    output_end(o);
}

static int calibrate_measured(const struct invocation *in, const struct model *model, enum output_format format)
{
    struct catalog *catalog = open_catalog(in);
    const char *own = option_get(in, "from");
    char *dir = own ? xstrdup(own) : xasprintf("%s/catalog/measured", catalog_data_dir());
    struct measured_set *s = catalog ? measured_open(dir, catalog, in->diags) : NULL;
    struct measured_fit *f = s ? measured_fit(s, model, in->diags) : NULL;
    if (f) pager_start();
    if (f && f->n_machines == 0) printf("no row of split calibrate is for fitting %s\n", model->desc->name);
    if (f && f->n_machines) print_machines(f, format);
    measured_fit_free(f);
    measured_close(s);
    free(dir);
    catalog_free(catalog);
    return 0;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    const struct model *model = output_parse_format(in, &format) ? model_find(in, in->operands[0]) : NULL;
    if (!model) return 2;
    if (option_has(in, "measured")) return calibrate_measured(in, model, format);
    if (option_has(in, "from")) return usage_error(in, "--from needs --measured: it names a folder of measured files");
    struct catalog *catalog = open_catalog(in);
    struct claim_set *set = catalog ? claims_open(model, catalog, catalog_data_dir(), in->diags) : NULL;
    struct calibration *fit = set ? calibrate(set, in->diags) : NULL;
    if (fit) pager_start();
    if (fit && fit->n == 0 && format == OUTPUT_TABLE)
        printf("%s has no constants that are fitted\n", model->desc->name);
    else if (fit)
        report(in, set, fit, format);
    calibration_free(fit);
    claims_free(set);
    catalog_free(catalog);
    return 0;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .operands = "MODEL",
    .summary = "fit a model's constants to published numbers that are not held out",
    .options =
        (const struct option_row[]){
            {'m', "measured", NULL, "fit constants of machines to measured rows instead (docs/how-to/fit-a-machine.md)"},
            {0, "from", "DIR", "with --measured: read a folder of your own, as `dse measure --folder` makes one"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {0},
        },
    .help = "dse minimises the squares of ln(modelled / published) over the claims that [calibrate] of\n"
            "models/NAME/claims.toml names. Claims that are held out take no part in the fit; dse prints their error before\n"
            "and after it. Nothing is written. The shipped values are in models/NAME/NAME.toml and in the catalog.\n"
            "\n"
            "  dse calibrate lad\n"
            "  dse calibrate lad --format json\n"
            "  dse calibrate flashdecoding --measured\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
