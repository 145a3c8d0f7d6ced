/* claims/calibrate.h: constants of the toy model fitted to made-up claims. */
#include "claims/calibrate.h"
#include "complaints.h"
#include "scratch.h"
#include "toy_model.h"

#include <math.h>

static struct catalog *catalog;

static int set_up(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    catalog = catalog_new(toy_data_dir(), &d);
    return catalog ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    registry_release();
    return 0;
}

/* ---- claims made to measure -------------------------------------------------------------------------------------------------- */

enum { STEPS_MAX = 4 };

/* The time of a step at 512, 1024, ... positions, as claims "s0", "s1", ... of split calibrate, and "held" held out. */
static char *steps_csv(const double *us, size_t n, double held)
{
    struct text t;
    text_init(&t);
    text_add(&t, "id,system,paper,location,quantity,value,value_hi,unit,conditions,kind,modelable,how,split\n");
    for (size_t i = 0; i < n; i++) text_addf(&t, "s%zu,toy,p,l,q,%.17g,,us,,measured,yes,,calibrate\n", i, us[i]);
    text_addf(&t, "held,toy,p,l,q,%.17g,,us,,measured,yes,,holdout\n", held);
    return text_detach(&t);
}

/* The steps are those of `value`, an expression. */
static char *steps_toml(size_t n, const char *value, const char *constants)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++)
        text_addf(&t, "[claims.s%zu]\nvalue = \"%s\"\nunit = \"us\"\nset = { context = %d }\n", i, value, 512 << i);
    text_add(&t, "[claims.held]\nvalue = \"toy.latency_us\"\nset = { context = 3000 }\n");
    text_addf(&t, "%s[calibrate]\nclaims = [", constants);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s\"s%zu\"", i ? ", " : "", i);
    text_add(&t, "]\n");
    return text_detach(&t);
}

/* The claims with these published numbers; the caller frees the set. */
static struct claim_set *open_values(const double *us, size_t n, double held, const char *value, const char *constants,
                                     struct diags *d)
{
    char *dir = scratch_new(), *csv = steps_csv(us, n, held), *toml = steps_toml(n, value, constants);
    scratch_copy(dir, toy_data_dir(), "models/toy/defaults.toml");
    scratch_write(dir, "models/toy/claims.csv", csv);
    scratch_write(dir, "models/toy/claims.toml", toml);
    struct claim_set *s = claims_open(registry_find("toy"), catalog, dir, d);
    scratch_remove(dir);
    free(csv);
    free(toml);
    if (!s) diags_print(d, stderr, false);
    assert_non_null(s);
    return s;
}

static struct claim_set *open_steps(const double *us, size_t n, double held, const char *constants, struct diags *d)
{
    return open_values(us, n, held, "toy.latency_us", constants, d);
}

/* What the model says with these constants. */
static void make_steps(const char *constants, const double *values, size_t n, double *ret_us)
{
    const double ones[STEPS_MAX] = {1, 1, 1, 1};
    struct diags d;
    diags_init(&d);
    struct claim_set *s = open_steps(ones, n, 1, constants, &d);
    const char *reason;
    for (size_t i = 0; i < n; i++) ret_us[i] = claims_value(s, i, values, &reason);
    claims_free(s);
}

static struct calibration *fit_steps(const double *us, size_t n, double held, const char *constants, struct diags *d)
{
    diags_init(d);
    struct claim_set *s = open_steps(us, n, held, constants, d);
    struct calibration *c = calibrate(s, d);
    claims_free(s);
    return c;
}

static const char overhead[] = "[constants.overhead_us]\n";
static const char both[] = "[constants.overhead_us]\n[constants.channel_gbs]\n";

static bool is_near(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

/* ---- tests --------------------------------------------------------------------------------------------------------------- */

static void a_fit__finds_the_constants_that_made_the_numbers(void **state)
{
    (void)state;
    double us[STEPS_MAX];
    make_steps(both, (double[]){3, 21}, STEPS_MAX, us);
    struct diags d;
    struct calibration *c = fit_steps(us, STEPS_MAX, 1, both, &d);
    expect_silence(&d);
    assert_int_equal(c->n, 2);
    assert_true(is_near(c->constants[0].fitted, 3, 1e-6));
    assert_true(is_near(c->constants[1].fitted, 21, 1e-6));
    assert_true(c->constants[0].shipped == 0.25 && c->constants[1].shipped == 32);
    assert_false(c->constants[0].reproduced);
    assert_true(c->rms_percent < 1e-6);
    assert_true(c->condition >= 1);
    calibration_free(c);
}

static void both_starts__end_in_one_place(void **state)
{
    (void)state;
    double us[STEPS_MAX];
    make_steps(both, (double[]){3, 21}, STEPS_MAX, us);
    us[0] *= 1.05;
    us[2] *= 0.96;
    struct diags d;
    struct calibration *c = fit_steps(us, STEPS_MAX, 1, both, &d);
    expect_silence(&d);
    assert_true(c->same_optimum);
    for (size_t i = 0; i < 2; i++) {
        assert_true(is_near(c->constants[i].from_perturbed, c->constants[i].fitted, 1e-4));
        assert_false(is_near(c->constants[i].perturbed, c->constants[i].shipped, 0.1));
    }
    calibration_free(c);
}

/* With one constant c that is added to a time t_i, d ln(t_i + c)/dc = 1/(t_i + c), and the variance of c is that of the residuals
 * over the sum of these squares. */
static void the_standard_error__is_that_of_linear_regression(void **state)
{
    (void)state;
    double us[3], without[3];
    make_steps(overhead, (double[]){5}, 3, us);
    make_steps(overhead, (double[]){0}, 3, without);
    us[0] *= 1.01;
    us[1] *= 0.98;
    struct diags d;
    struct calibration *c = fit_steps(us, 3, 1, overhead, &d);
    expect_silence(&d);
    double squares = 0, slopes = 0, normal = 0;
    for (size_t i = 0; i < 3; i++) {
        double modelled = without[i] + c->constants[0].fitted, r = log(modelled / us[i]);
        squares += r * r;
        slopes += 1 / (modelled * modelled);
        normal += r / modelled;
    }
    assert_true(fabs(normal) < 1e-8); /* the optimum */
    assert_true(is_near(c->constants[0].standard_error, sqrt(squares / 2 / slopes), 1e-4));
    assert_true(is_near(c->covariance[0], squares / 2 / slopes, 1e-4));
    assert_true(is_near(c->rms_percent, 100 * sqrt(squares / 3), 1e-6));
    assert_true(c->correlation[0] == 1 && c->condition == 1);
    calibration_free(c);
}

static void an_exactly_determined_fit__has_no_standard_error(void **state)
{
    (void)state;
    double us[2];
    make_steps(both, (double[]){3, 21}, 2, us);
    struct diags d;
    struct calibration *c = fit_steps(us, 2, 1, both, &d);
    expect_silence(&d);
    assert_true(isnan(c->constants[0].standard_error) && isnan(c->covariance[1]));
    assert_true(is_near(c->constants[0].fitted, 3, 1e-5));
    assert_true(fabs(c->correlation[1]) <= 1 && is_near(c->correlation[0], 1, 1e-12));
    calibration_free(c);
}

static void what_is_held_out__does_not_matter(void **state)
{
    (void)state;
    double us[3];
    make_steps(overhead, (double[]){5}, 3, us);
    us[1] *= 1.1;
    struct diags d;
    struct calibration *a = fit_steps(us, 3, 1, overhead, &d), *b = fit_steps(us, 3, 1e6, overhead, &d);
    assert_true(a->constants[0].fitted == b->constants[0].fitted);
    assert_true(a->constants[0].standard_error == b->constants[0].standard_error);
    calibration_free(a);
    calibration_free(b);
}

static void shipped_constants__are_reproduced_within_their_rounding(void **state)
{
    (void)state;
    static const struct {
        double made_with;
        bool reproduced;
    } cases[] = {{0.25, true}, {0.2549, true}, {0.2451, true}, {0.26, false}, {0.24, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double us[1];
        make_steps(overhead, &cases[i].made_with, 1, us);
        struct diags d;
        struct calibration *c = fit_steps(us, 1, 1, overhead, &d);
        expect_silence(&d);
        assert_int_equal(c->constants[0].reproduced, cases[i].reproduced);
        calibration_free(c);
    }
}

static void constants__stay_in_their_range(void **state)
{
    (void)state;
    double us[1];
    make_steps(overhead, (double[]){0}, 1, us);
    us[0] *= 0.9; /* no overhead is so small */
    struct diags d;
    struct calibration *c = fit_steps(us, 1, 1, overhead, &d);
    if (c) assert_true(c->constants[0].fitted >= 0 && c->constants[0].fitted < 0.01);
    if (!c) assert_int_equal(diags_exit_status(&d), 2);
    diags_release(&d);
    calibration_free(c);
}

static void fewer_claims_than_constants__are_an_error(void **state)
{
    (void)state;
    struct diags d;
    struct calibration *c = fit_steps((double[]){50}, 1, 1, both, &d);
    assert_null(c);
    expect_complaint(&d, 10, 2, "1 claims cannot determine 2 constants: overhead_us, channel_gbs");
}

static void a_constant_without_effect__is_named(void **state)
{
    (void)state;
    struct diags d;
    double us[3];
    make_steps(overhead, (double[]){5}, 3, us);
    struct calibration *c = fit_steps(us, 3, 1, "[constants.overhead_us]\n[constants.sram_mib]\n", &d);
    assert_null(c);
    expect_complaint(&d, 18, 2, "do not determine sram_mib");
}

/* Every step is the mean of two machines with an overhead each: the claims tell only their sum. */
static void constants_that_hang_together__are_named(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    double us[3];
    make_steps(overhead, (double[]){5}, 3, us);
    struct claim_set *s = open_values(us, 3, 1, "(toy.latency_us + other.latency_us) / 2",
                                      "[machines.other]\nmodel = \"toy\"\noverhead_us = 0.5\n"
                                      "[constants.overhead_us]\nmachines = [\"toy\"]\n"
                                      "[constants.more]\nparameter = \"overhead_us\"\nmachines = [\"other\"]\n",
                                      &d);
    assert_null(calibrate(s, &d));
    claims_free(s);
    expect_complaint(&d, 24, 2, "do not determine overhead_us, more");
}

static void a_set_without_constants_to_fit__is_no_error(void **state)
{
    (void)state;
    struct diags d;
    struct calibration *c =
        fit_steps((double[]){50}, 1, 1, "[constants.overhead_us]\nfit = false\nalternatives = [1]\nsource = \"made up\"\n", &d);
    expect_silence(&d);
    assert_int_equal(c->n, 0);
    calibration_free(c);
}

static void the_fitted_values__answer_all_claims(void **state)
{
    (void)state;
    double us[3];
    make_steps(overhead, (double[]){5}, 3, us);
    struct diags d;
    diags_init(&d);
    struct claim_set *s = open_steps(us, 3, 60, overhead, &d);
    struct calibration *c = calibrate(s, &d);
    assert_non_null(c);
    struct claim_answer before[4], after[4];
    assert_true(claims_answer(s, before, &d) && claims_answer_with(s, c->values, after, &d));
    for (size_t i = 0; i < 3; i++) assert_true(fabs(before[i].error_percent) > 5 && fabs(after[i].error_percent) < 1e-5);
    assert_true(is_near(after[3].modelled - before[3].modelled, 4.75, 1e-6)); /* the held-out one, too */
    calibration_free(c);
    claims_free(s);
    expect_silence(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit__finds_the_constants_that_made_the_numbers),
        cmocka_unit_test(both_starts__end_in_one_place),
        cmocka_unit_test(the_standard_error__is_that_of_linear_regression),
        cmocka_unit_test(an_exactly_determined_fit__has_no_standard_error),
        cmocka_unit_test(what_is_held_out__does_not_matter),
        cmocka_unit_test(shipped_constants__are_reproduced_within_their_rounding),
        cmocka_unit_test(constants__stay_in_their_range),
        cmocka_unit_test(fewer_claims_than_constants__are_an_error),
        cmocka_unit_test(a_constant_without_effect__is_named),
        cmocka_unit_test(constants_that_hang_together__are_named),
        cmocka_unit_test(a_set_without_constants_to_fit__is_no_error),
        cmocka_unit_test(the_fitted_values__answer_all_claims),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
