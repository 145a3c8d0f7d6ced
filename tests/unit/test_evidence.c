/* claims/evidence.h, ensemble.h, identified.h: what numbers of the toy model are evidence of. */
#include "claims/evidence.h"

#include "claims/calibrate.h"
#include "claims/ensemble.h"
#include "claims/identified.h"
#include "claims/steps.h"
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

#define HEADER "id,system,paper,location,quantity,value,value_hi,unit,conditions,kind,modelable,how,split\n"

static struct claim_set *try_open(const char *csv, const char *toml, struct diags *d)
{
    diags_init(d);
    char *dir = scratch_new();
    scratch_copy(dir, toy_data_dir(), "models/toy/defaults.toml");
    scratch_write(dir, "models/toy/claims.csv", csv);
    scratch_write(dir, "models/toy/claims.toml", toml);
    struct claim_set *s = claims_open(registry_find("toy"), catalog, dir, d);
    scratch_remove(dir);
    return s;
}

static struct claim_set *open_claims(const char *csv, const char *toml)
{
    struct diags d;
    struct claim_set *s = try_open(csv, toml, &d);
    if (!s) diags_print(&d, stderr, false);
    assert_non_null(s);
    return s;
}

static size_t index_of(const struct claim_set *s, const char *id)
{
    size_t n;
    const struct claim *list = claims_list(s, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].id, id) == 0) return i;
    fail_msg("no claim %s", id);
    return 0;
}

/* ---- classes ------------------------------------------------------------------------------------------------------------- */

#define ROW(id, value, unit, kind, split) id ",toy,p,l,q," value ",," unit ",," kind ",yes,," split "\n"

static const char evidence_csv[] =
    HEADER ROW("fit", "60", "us", "measured", "calibrate") ROW("again", "120", "us", "measured", "holdout")
        ROW("sum", "180", "us", "derived", "holdout") ROW("count", "4", "tiles", "equation", "holdout")
            ROW("area", "7.5", "mm2", "derived", "holdout") ROW("beside", "55", "us", "measured", "holdout")
                ROW("beyond", "90", "us", "measured", "holdout") ROW("two", "61", "us", "measured", "holdout")
                    ROW("named", "20", "us", "measured", "holdout") ROW("chosen", "7", "mm2", "measured", "holdout")
                        ROW("known", "91", "us", "measured", "holdout") ROW("twice", "90", "us", "measured", "holdout")
                            ROW("least", "50", "us", "measured", "holdout") ROW("none", "1", "us", "measured", "holdout");

#define CASES "[cases.c]\ncontext = [512, 1024, 2048]\n[cases.inside]\ncontext = [512, 1024]\n"
#define MACHINES \
    "[machines.sram]\nmodel = \"toy\"\nsram_mib = 8\n[machines.both]\nmodel = \"toy\"\nsram_mib = 8\ntiles = 8\n" \
    "[machines.wide]\nmodel = \"toy\"\nmemory = \"eight-channels\"\n"
#define STEP(id, machine, rest) "[claims." id "]\nvalue = \"" machine ".latency_us\"\n" rest
#define OVER(cases) "cases = \"" cases "\"\nmean = \"arithmetic\"\n"

static const char evidence_toml[] =
    CASES MACHINES STEP("fit", "toy", OVER("c")) "[claims.again]\nvalue = \"2 * toy.latency_us\"\nunit = \"us\"\n" OVER(
        "c") "[claims.sum]\nvalue = \"a + b\"\nunit = \"us\"\npublished = { a = \"fit\", b = \"again\" }\n"
             "[claims.count]\nvalue = \"toy.tiles\"\n[claims.area]\nvalue = \"sram.area_mm2\"\n" STEP(
                 "beside", "sram", OVER("inside")) STEP("beyond", "toy", "set = { context = 4096 }\n")
                 STEP("two", "both", OVER("c")) STEP("named", "wide", OVER("c")) "[claims.chosen]\nvalue = \"toy.area_mm2\"\n" STEP(
                     "known", "toy", "set = { context = 4095 }\nclass = \"informed\"\nbecause = \"the context was guessed\"\n")
                     STEP("twice", "toy", "set = { context = 4096 }\n") STEP(
                         "least", "toy",
                         "cases = \"c\"\nmean = \"min\"\n") "[claims.none]\nunreachable = \"nobody knows\"\n"
                                                            "[constants.overhead_us]\n[constants.sram_mib]\nmachines = [\"toy\"]\n"
                                                            "fit = false\nalternatives = [4]\nsource = \"made up\"\n"
                                                            "[calibrate]\nclaims = [\"fit\"]\n";

static void expect_class(const struct claim_set *s, const char *id, enum evidence_class class, const char *because)
{
    const struct evidence *e = claims_evidence(s, index_of(s, id));
    if (e->class != class) fail_msg("%s is %s, because: %s", id, evidence_names[e->class], e->because);
    assert_string_equal(e->because, because);
}

static void classes__follow_from_what_a_number_is_made_of(void **state)
{
    (void)state;
    struct claim_set *s = open_claims(evidence_csv, evidence_toml);
    expect_class(s, "fit", EVIDENCE_FITTED, "of split calibrate");
    expect_class(s, "again", EVIDENCE_IDENTITY, "the numbers of fit");
    expect_class(s, "sum", EVIDENCE_IDENTITY, "made of published numbers alone");
    expect_class(s, "area", EVIDENCE_IDENTITY, "derived from published numbers, without constants");
    expect_class(s, "count", EVIDENCE_ARITHMETIC, "an equation without constants");
    expect_class(s, "beside", EVIDENCE_INTERPOLATION, "beside fit");
    expect_class(s, "chosen", EVIDENCE_INFORMED, "chosen knowing it: sram_mib");
    expect_class(s, "known", EVIDENCE_INFORMED, "the context was guessed");
    expect_class(s, "beyond", EVIDENCE_HELD_OUT, "no rule says otherwise"); /* a longer context than was fitted to */
    expect_class(s, "two", EVIDENCE_HELD_OUT, "no rule says otherwise");    /* two numbers of the machine differ */
    expect_class(s, "named", EVIDENCE_HELD_OUT, "no rule says otherwise");  /* another memory */
    expect_class(s, "least", EVIDENCE_HELD_OUT, "no rule says otherwise");  /* a minimum, where a mean was fitted */
    expect_class(s, "none", EVIDENCE_NONE, "");
    claims_free(s);
}

static void a_law_that_was_chosen_knowing_the_numbers__informs_what_depends_on_it(void **state)
{
    (void)state;
    struct claim_set *s =
        open_claims(HEADER ROW("fit", "60", "us", "measured", "calibrate") ROW("beside", "55", "us", "measured", "holdout")
                        ROW("beyond", "90", "us", "measured", "holdout"),
                    CASES STEP("fit", "toy", OVER("c")) STEP("beside", "toy", OVER("inside"))
                        STEP("beyond", "toy",
                             "set = { context = 4096 }\n") "[constants.overhead_us]\n"
                                                           "knowing = \"that it is constant\"\n[calibrate]\nclaims = [\"fit\"]\n");
    expect_class(s, "beyond", EVIDENCE_INFORMED, "chosen knowing it: overhead_us (that it is constant)");
    expect_class(s, "beside", EVIDENCE_INTERPOLATION, "beside fit"); /* the weaker one stands */
    claims_free(s);
}

/* ---- the null model ------------------------------------------------------------------------------------------------------ */

static void expect_nearest(const struct claim_set *s, const char *id, const char *nearest, double null_percent)
{
    const struct evidence *e = claims_evidence(s, index_of(s, id));
    if (!nearest) {
        assert_null(e->nearest);
        assert_true(isnan(e->null_percent));
        return;
    }
    assert_string_equal(e->nearest, nearest);
    assert_true(fabs(e->null_percent - null_percent) < 1e-9);
}

static void the_null_model__copies_the_nearest_number_of_the_same_kind(void **state)
{
    (void)state;
    struct claim_set *s = open_claims(evidence_csv, evidence_toml);
    expect_nearest(s, "two", "beside",
                   100. * (55 - 61) / 61);                    /* tiles and contexts differ; from `fit` SRAM and tiles do, by more */
    expect_nearest(s, "named", "fit", 100. * (60 - 20) / 20); /* one name */
    expect_nearest(s, "known", "beyond", 100. * (90 - 91) / 91);
    expect_nearest(s, "beyond", "known", 100. * (91 - 90) / 90.); /* not "twice", which is the same number again */
    expect_nearest(s, "area", "chosen", 100 * (7 - 7.5) / 7.5);
    expect_nearest(s, "least", NULL, 0);
    expect_nearest(s, "sum", NULL, 0);
    expect_nearest(s, "count", NULL, 0);
    claims_free(s);
}

static void sums_of_evidence__compare_both_over_the_same_claims(void **state)
{
    (void)state;
    struct claim_set *s = open_claims(evidence_csv, evidence_toml);
    size_t n;
    claims_list(s, &n);
    struct claim_answer *a = xcalloc(n, sizeof *a);
    struct diags d;
    diags_init(&d);
    assert_true(claims_answer(s, a, &d));
    struct evidence_sum held_out = evidence_sum(s, a, NULL, EVIDENCE_HELD_OUT);
    assert_int_equal(held_out.model.claims, 5); /* beyond, two, named, twice, least */
    assert_int_equal(held_out.model.errors, 5);
    assert_int_equal(held_out.compared, 4); /* least has nothing to copy */
    double null = 0, model = 0;
    static const char *const ids[] = {"beyond", "two", "named", "twice"};
    for (size_t i = 0; i < 4; i++) {
        null += fabs(claims_evidence(s, index_of(s, ids[i]))->null_percent) / 4;
        model += fabs(a[index_of(s, ids[i])].error_percent) / 4;
    }
    assert_true(fabs(held_out.null_percent - null) < 1e-9);
    assert_true(fabs(held_out.model_percent - model) < 1e-9);
    size_t numbers = 0;
    for (int c = EVIDENCE_FITTED; c < EVIDENCE_CLASSES; c++)
        numbers += evidence_sum(s, a, NULL, (enum evidence_class)c).model.claims;
    assert_int_equal(evidence_sum(s, a, NULL, EVIDENCE_NONE).model.claims, numbers);
    assert_int_equal(numbers, n - 1);
    free(a);
    claims_free(s);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------- */

static void expect_all(const char *more, const struct complaint *want, size_t n)
{
    struct diags d;
    char *toml = xasprintf("[claims.a]\nvalue = \"toy.tiles\"\n%s", more);
    struct claim_set *s = try_open(HEADER ROW("a", "4", "tiles", "equation", "holdout"), toml, &d);
    assert_null(s);
    expect_complaints(&d, want, n);
    free(toml);
}

#define expect(more, ...) \
    expect_all(more, (struct complaint[]){__VA_ARGS__}, sizeof(struct complaint[]){__VA_ARGS__} / sizeof(struct complaint))

#define FIXED "[constants.overhead_us]\nfit = false\n"
#define GOOD FIXED "alternatives = [1]\nsource = \"made up\"\n"

static void a_class__can_only_be_made_weaker_and_says_why(void **state)
{
    (void)state;
    expect("class = \"identity\"\n" GOOD, (struct complaint){3, 1, "`class` and `because` go together"});
    expect("because = \"x\"\n" GOOD, (struct complaint){3, 1, "`class` and `because` go together"});
    expect("class = \"identitiy\"\nbecause = \"x\"\n" GOOD, (struct complaint){3, 9, "did you mean \"identity\"?"});
    expect("class = \"held out\"\nbecause = \"x\"\n" GOOD, (struct complaint){3, 9, "there is no class \"held out\""});
    expect("class = \"informed\"\nbecause = \"x\"\n" GOOD, (struct complaint){3, 9, "a is \"arithmetic\" already: an equation"});
    struct diags d;
    struct claim_set *s = try_open(HEADER ROW("a", "4", "tiles", "equation", "holdout"),
                                   "[claims.a]\nunreachable = \"x\"\nclass = \"identity\"\nbecause = \"y\"\n" GOOD, &d);
    assert_null(s);
    expect_complaints(&d, &(struct complaint){3, 9, "a has no number of a class"}, 1);
}

static void chosen_constants__say_what_else_they_could_be(void **state)
{
    (void)state;
    expect(FIXED, (struct complaint){3, 12, "overhead_us was chosen: its alternatives or their source are missing"});
    expect(FIXED "alternatives = [1]\n", (struct complaint){3, 12, "its alternatives or their source are missing"});
    expect(FIXED "alternatives = []\nsource = \"x\"\n", (struct complaint){3, 12, "its alternatives or their source are missing"});
    expect(FIXED "alternatives = [0.25]\nsource = \"x\"\n", (struct complaint){5, 17, "that is the shipped value"});
    expect(FIXED "alternatives = [1, 1]\nsource = \"x\"\n", (struct complaint){5, 20, "stands in the list already"});
    expect(FIXED "alternatives = [-1]\nsource = \"x\"\n", (struct complaint){5, 17, "outside of 0 to 1000"});
    expect(FIXED "alternatives = [\"1\"]\nsource = \"x\"\n", (struct complaint){5, 17, "a number is needed, not a string"});
    expect(FIXED "alternatives = [1]\ntext = 2\nsource = \"x\"\n", (struct complaint){6, 8, "neither shipped nor an alternative"});
    expect(GOOD "[constants.tiles]\nfit = false\nalternatives = [1.5]\nsource = \"x\"\n",
           (struct complaint){9, 17, "a whole number is needed"});
    expect(GOOD "[constants.pipeline]\nfit = false\nalternatives = [\"eq8\"]\nsource = \"x\"\n",
           (struct complaint){9, 17, "\"eq7\""});
    expect(GOOD "[constants.pipeline]\nfit = true\n[calibrate]\nclaims = []\n",
           (struct complaint){7, 12, "pipeline is a choice: it cannot be fitted"}, (struct complaint){0, 0, "names no claims"});
}

static void fitted_constants__have_no_alternatives(void **state)
{
    (void)state;
    struct diags d;
    struct claim_set *s =
        try_open(HEADER ROW("a", "50", "us", "measured", "calibrate"),
                 "[claims.a]\nvalue = \"toy.latency_us\"\n[constants.overhead_us]\nalternatives = [1]\nsource = \"x\"\n"
                 "[calibrate]\nclaims = [\"a\"]\n",
                 &d);
    assert_null(s);
    expect_complaints(&d, &(struct complaint){4, 1, "overhead_us is fitted"}, 1);
}

/* ---- ensemble ------------------------------------------------------------------------------------------------------------ */

static const char pair_csv[] =
    HEADER ROW("near", "60", "us", "measured", "calibrate") ROW("far", "90", "us", "measured", "holdout");
#define PAIR STEP("near", "toy", "set = { context = 512 }\n") STEP("far", "toy", "set = { context = 4000 }\n")
#define NEAR "[calibrate]\nclaims = [\"near\"]\n"

static void an_ensemble__fits_anew_at_every_alternative(void **state)
{
    (void)state;
    struct claim_set *s = open_claims(
        pair_csv, PAIR "[constants.overhead_us]\n[constants.channel_gbs]\nfit = false\nalternatives = [30, 40]\ntext = 40\n"
                       "source = \"x\"\n[constants.pipeline]\nfit = false\nalternatives = [\"eq7\"]\nsource = \"x\"\n" NEAR);
    size_t n;
    const struct claim_constant *c = claims_constants(s, &n);
    assert_int_equal(n, 3);
    assert_string_equal(c[2].choices[(size_t)c[2].shipped], "exact");
    struct ensemble *e = ensemble_new(s);
    assert_int_equal(e->n, 4);
    static const double values[] = {30, 40, 1};
    for (size_t i = 0; i < 3; i++) {
        const struct ensemble_member *m = &e->members[i];
        assert_int_equal(m->constant, i < 2 ? 1 : 2);
        assert_true(m->value == values[i] && m->fitted && m->lost == 0);
    }
    /* the fit meets the near step whatever the bandwidth; the error of the far one is that of what is between them */
    for (size_t i = 0; i < 2; i++) {
        double at[] = {c[0].shipped, values[i], c[2].shipped};
        assert_true(calibrate_refit(s, at));
        const char *reason;
        assert_true(fabs(claims_value(s, 0, at, &reason) - 60) < 1e-6);
        double error = 100 * fabs(claims_value(s, 1, at, &reason) / 90 - 1);
        assert_true(fabs(e->members[i].sums[ENSEMBLE_MEASURED].mean_percent - error) < 1e-9);
        assert_true(fabs(error - e->shipped[ENSEMBLE_MEASURED].mean_percent) > 0.1);
    }
    assert_true(e->members[3].constant == SIZE_MAX); /* the text: 40, and the pipeline as it ships */
    assert_true(e->members[3].sums[ENSEMBLE_MEASURED].mean_percent == e->members[1].sums[ENSEMBLE_MEASURED].mean_percent);
    assert_int_equal(e->members[0].sums[ENSEMBLE_HEADLINE].errors, 0);
    ensemble_free(e);
    claims_free(s);
}

static void a_member__that_cannot_be_built_loses_numbers(void **state)
{
    (void)state;
    struct claim_set *s = open_claims(
        pair_csv, PAIR "[constants.overhead_us]\n[constants.tiles]\nfit = false\nalternatives = [64]\nsource = \"x\"\n" NEAR);
    struct ensemble *e = ensemble_new(s);
    assert_int_equal(e->n, 1);
    assert_int_equal(e->members[0].lost, 2); /* a tile has less than 0.125 MiB of SRAM */
    assert_false(e->members[0].fitted);
    ensemble_free(e);
    claims_free(s);
}

/* ---- what is not identified ---------------------------------------------------------------------------------------------- */

static void a_product__is_found_where_no_claim_tells_its_factors_apart(void **state)
{
    (void)state;
    struct claim_set *s = open_claims(pair_csv, PAIR "[constants.overhead_us]\nfit = false\nalternatives = [1]\nsource = \"x\"\n"
                                                     "[constants.channel_gbs]\n[constants.channels]\nfit = false\n"
                                                     "alternatives = [4]\nsource = \"x\"\n" NEAR);
    struct unidentified *list;
    assert_int_equal(claims_unidentified(s, &list), 1);
    size_t n;
    const struct claim_constant *c = claims_constants(s, &n);
    assert_string_equal(c[list[0].a].name, "channel_gbs");
    assert_string_equal(c[list[0].b].name, "channels");
    assert_true(list[0].power == 1 && list[0].product == 64 && list[0].condition > 20);
    free(list);
    claims_free(s);
}

static void constants_of_different_effect__are_told_apart(void **state)
{
    (void)state;
    struct claim_set *s =
        open_claims(HEADER ROW("near", "60", "us", "measured", "calibrate") ROW("far", "90", "us", "measured", "calibrate"),
                    PAIR "[constants.overhead_us]\n[constants.channel_gbs]\n[calibrate]\nclaims = [\"near\", \"far\"]\n");
    struct unidentified *list;
    assert_int_equal(claims_unidentified(s, &list), 0);
    free(list);
    claims_free(s);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

#define ONE HEADER ROW("a", "60", "us", "measured", "holdout")
#define STEPS(list) STEP("a", "toy", "steps = [\n" list "]\n") GOOD

static void steps__take_one_thing_after_the_other_another_way(void **state)
{
    (void)state;
    struct claim_set *s =
        open_claims(ONE, STEPS("{ what = \"as shipped\", set = {} },\n"
                               "{ what = \"more channels\", set = { memory = \"eight-channels\" } },\n"
                               "{ what = \"carried out\", set = { memory = \"eight-channels\" }, fidelity = \"event-level\" },\n"
                               "{ what = \"too long\", set = { context = 8192 } },\n"));
    size_t n;
    const struct claim_step *step = claims_steps(s, &n);
    assert_int_equal(n, 4);
    const char *reason;
    double shipped = claims_value(s, 0, NULL, &reason);
    assert_true(step[0].modelled == shipped && isnan(step[0].change));
    assert_true(fabs(step[0].error_percent - 100 * (shipped / 60 - 1)) < 1e-9);
    assert_true(step[1].modelled < shipped && step[1].change == step[1].modelled - shipped);
    assert_int_equal(step[2].fidelity, FIDELITY_EVENT_LEVEL);
    assert_true(step[2].modelled != step[1].modelled && fabs(step[2].change) < step[1].modelled);
    assert_true(isnan(step[3].modelled) && isnan(step[3].change));
    assert_non_null(strstr(step[3].reason, "the context is longer than the model knows"));
    claims_free(s);
}

static void steps__keep_their_fidelity(void **state)
{
    (void)state;
    struct claim_set *s = open_claims(ONE, STEPS("{ what = \"closed\", set = {} },\n"));
    const char *reason;
    size_t n;
    double closed = claims_value(s, 0, NULL, &reason);
    claims_set_fidelity(s, FIDELITY_EVENT_LEVEL);
    assert_true(claims_value(s, 0, NULL, &reason) != closed);
    assert_true(claims_steps(s, &n)->modelled == closed);
    claims_free(s);
}

static void expect_step(const char *list, struct complaint want)
{
    struct diags d;
    char *toml = xasprintf("[claims.a]\nvalue = \"toy.latency_us\"\nsteps = [%s]\n%s", list, GOOD);
    assert_null(try_open(ONE, toml, &d));
    expect_complaints(&d, &want, 1);
    free(toml);
}

static void broken_steps__are_said_at_their_place(void **state)
{
    (void)state;
    expect_step("1", (struct complaint){3, 10, "a step is a table"});
    expect_step("{ what = \"x\" }", (struct complaint){3, 10, "a step says what it is, and its setting"});
    expect_step("{ set = {} }", (struct complaint){3, 10, "a step says what it is, and its setting"});
    expect_step("{ what = \"x\", set = {}, fidelity = \"events\" }", (struct complaint){3, 45, "there is no fidelity \"events\""});
    expect_step("{ what = \"x\", set = { tils = 2 } }", (struct complaint){3, 32, "no machine of this value has tils"});
    expect_step("{ what = \"x\", sat = {}, set = {} }", (struct complaint){3, 24, "unknown key \"sat\""});
    struct diags d;
    assert_null(try_open(ONE, "[claims.a]\nunreachable = \"x\"\nsteps = [{ what = \"x\", set = {} }]\n" GOOD, &d));
    expect_complaints(&d, &(struct complaint){3, 1, "a has no value to take steps with"}, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes__follow_from_what_a_number_is_made_of),
        cmocka_unit_test(a_law_that_was_chosen_knowing_the_numbers__informs_what_depends_on_it),
        cmocka_unit_test(the_null_model__copies_the_nearest_number_of_the_same_kind),
        cmocka_unit_test(sums_of_evidence__compare_both_over_the_same_claims),
        cmocka_unit_test(a_class__can_only_be_made_weaker_and_says_why),
        cmocka_unit_test(chosen_constants__say_what_else_they_could_be),
        cmocka_unit_test(fitted_constants__have_no_alternatives),
        cmocka_unit_test(an_ensemble__fits_anew_at_every_alternative),
        cmocka_unit_test(a_member__that_cannot_be_built_loses_numbers),
        cmocka_unit_test(a_product__is_found_where_no_claim_tells_its_factors_apart),
        cmocka_unit_test(constants_of_different_effect__are_told_apart),
        cmocka_unit_test(steps__take_one_thing_after_the_other_another_way),
        cmocka_unit_test(steps__keep_their_fidelity),
        cmocka_unit_test(broken_steps__are_said_at_their_place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
