/* claims/claims.h: published numbers against the toy model (tests/unit/toy/models/toy). */
#include "claims/claims.h"
#include "complaints.h"
#include "scratch.h"
#include "toy_model.h"

#include <math.h>

static struct catalog *catalog;
static struct claim_set *set;
static struct claim_answer *answers;
static size_t n_claims;

static int set_up(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    catalog = catalog_new(toy_data_dir(), &d);
    set = claims_open(registry_find("toy"), catalog, toy_data_dir(), &d);
    if (!set) {
        diags_print(&d, stderr, false);
        return 1;
    }
    claims_list(set, &n_claims);
    answers = xcalloc(n_claims, sizeof *answers);
    return claims_answer(set, answers, &d) && d.n == 0 ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    free(answers);
    claims_free(set);
    catalog_free(catalog);
    registry_release();
    return 0;
}

static size_t index_of(const char *id)
{
    const struct claim *list = claims_list(set, &n_claims);
    for (size_t i = 0; i < n_claims; i++)
        if (strcmp(list[i].id, id) == 0) return i;
    fail_msg("no claim %s", id);
    return 0;
}

static const struct claim_answer *answer(const char *id)
{
    return &answers[index_of(id)];
}

static void expect_verdict(const char *id, enum claim_verdict verdict, double error_percent)
{
    const struct claim_answer *a = answer(id);
    if (a->verdict != verdict) fail_msg("%s: %s instead of %s", id, claim_verdict_names[a->verdict], claim_verdict_names[verdict]);
    if (isnan(error_percent) ? !isnan(a->error_percent) : !(fabs(a->error_percent - error_percent) < 1e-3))
        fail_msg("%s: error %g %% instead of %g %%", id, a->error_percent, error_percent);
}

/* ---- answers ------------------------------------------------------------------------------------------------------------- */

static void claims__are_answered_by_metrics_equations_and_parameters(void **state)
{
    (void)state;
    assert_true(fabs(answer("toy.kv")->modelled - 2) < 1e-12);
    assert_true(fabs(answer("toy.kv_ratio")->modelled - 4) < 1e-12);
    assert_true(answer("toy.clock")->modelled == 500);
    assert_true(answer("toy.best")->modelled == 1); /* a field of the LLM */
    /* 1.5 mm2 for each of four tiles and 0.75 for each of two MiB */
    assert_true(fabs(answer("toy.area")->modelled - 7.5) < 1e-12);
}

static void claims__have_the_verdicts_of_the_manual(void **state)
{
    (void)state;
    expect_verdict("toy.kv", CLAIM_EXACT, 0);
    expect_verdict("toy.area", CLAIM_NEAR, 100 * (7.5 - 7.6) / 7.6);
    expect_verdict("toy.fast", CLAIM_HOLDS, 0);
    expect_verdict("toy.vs_pebble", CLAIM_HOLDS, 0);
    expect_verdict("toy.tiles", CLAIM_INPUT, 0);
    expect_verdict("toy.best", CLAIM_CONTRADICTION, 100);
    expect_verdict("toy.trace", CLAIM_NOT_MODELLED, (double)NAN);
    /* a range that is missed above: the error is that of its upper end */
    expect_verdict("toy.share", CLAIM_MISSES, 25 * (answer("toy.share")->modelled - 4));
}

/* "Up to 4.86x": 1.98x as the largest modelled number is 59 % short, and no bound that holds. */
static void maxima__are_numbers_to_be_met(void **state)
{
    (void)state;
    const struct claim up_to = {.value = 4.86, .value_hi = (double)NAN, .half_digit = 0.005, .bound = CLAIM_MAX};
    assert_int_equal(claim_compare(&up_to, 1.98), CLAIM_OFF);
    assert_true(fabs(claim_error_percent(&up_to, 1.98) - 100 * (1.98 - 4.86) / 4.86) < 1e-9);
    assert_int_equal(claim_compare(&up_to, 4.862), CLAIM_EXACT);
    assert_int_equal(claim_compare(&up_to, 5.2), CLAIM_NEAR);
    assert_true(claim_error_percent(&up_to, 5.2) > 6);
    char buf[TEXT_NUMBER_MAX];
    assert_string_equal(claim_bound_text(&up_to, buf), "max");
}

static void claims__without_a_number_say_why(void **state)
{
    (void)state;
    assert_string_equal(answer("toy.trace")->reason, "needs a trace");
    assert_string_equal(answer("toy.score.a")->reason, "needs the real LLM");
    assert_string_equal(answer("toy.best")->reason, "half the heads share their keys");
    assert_null(answer("toy.kv")->reason);
}

static void claims__take_means_over_cases(void **state)
{
    (void)state;
    assert_true(fabs(answer("toy.score.mean")->modelled - 92) < 1e-12);
    /* the smallest of three; the geometric mean lies between the extremes of a memory with twice the bandwidth */
    assert_true(answer("toy.speedup")->modelled > 1.9 && answer("toy.speedup")->modelled < 2);
}

static void claims__know_the_constants_they_depend_on(void **state)
{
    (void)state;
    size_t n;
    const struct claim_constant *c = claims_constants(set, &n);
    assert_int_equal(n, 1);
    assert_string_equal(c->name, "overhead_us");
    assert_string_equal(c->fitted_to, "nothing: made up");
    assert_true(c->shipped == 0.25 && c->min == 0 && c->max == 1000 && c->fit && !c->borrowed);
    assert_int_equal(answer("toy.step")->constants, 1);
    assert_int_equal(answer("toy.speedup")->constants, 1);
    assert_int_equal(answer("toy.kv")->constants, 0);
    assert_int_equal(answer("toy.score.mean")->constants, 0);
    assert_int_equal(answer("toy.trace")->constants, 0);
}

static void claims__are_functions_of_the_constants(void **state)
{
    (void)state;
    const char *reason;
    size_t i = index_of("toy.overhead");
    assert_true(fabs(claims_value(set, i, &(double){0.5}, &reason) - 500) < 1e-6);
    assert_true(fabs(claims_value(set, i, &(double){0}, &reason)) < 1e-6);
    assert_true(fabs(claims_value(set, i, NULL, &reason) - 250) < 1e-6);
    assert_null(reason);
    assert_true(isnan(claims_value(set, index_of("toy.trace"), NULL, &reason)));
    assert_string_equal(reason, "needs a trace");
}

static void contradictions__carry_the_models_number(void **state)
{
    (void)state;
    size_t n;
    const struct claim_contradiction *c = claims_contradictions(set, &n);
    assert_int_equal(n, 1);
    assert_string_equal(c->tag, "K1");
    assert_string_equal(c->says, "0.5");
    assert_string_equal(c->unit, "x");
    assert_true(c->modelled == 1);
}

static void sums__count_errors_of_numbers_and_of_missed_bounds(void **state)
{
    (void)state;
    struct claim_sum all = claims_sum(set, answers, &(struct claim_group){"all", true, true, false, false});
    assert_int_equal(all.claims, n_claims - 2); /* two inputs */
    assert_int_equal(all.verdicts[CLAIM_EXACT], 5);
    assert_int_equal(all.verdicts[CLAIM_HOLDS], 3);
    assert_int_equal(all.verdicts[CLAIM_NEAR], 2);
    assert_int_equal(all.verdicts[CLAIM_MISSES], 1);
    assert_int_equal(all.verdicts[CLAIM_CONTRADICTION], 1);
    assert_int_equal(all.verdicts[CLAIM_MEASURED], 3);
    assert_int_equal(all.verdicts[CLAIM_NOT_MODELLED], 3);
    assert_int_equal(all.errors, 8); /* neither bounds that hold nor the contradiction */
    assert_string_equal(all.worst, "toy.share");
    struct claim_sum fitted = claims_sum(set, answers, &(struct claim_group){"", true, false, true, false});
    double step = 100 * (answer("toy.step")->modelled / 52.1 - 1);
    assert_int_equal(fitted.errors, 2);
    assert_true(fabs(fitted.mean_percent - step / 2) < 1e-9);
    assert_true(fabs(fitted.factor_percent - 100 * (sqrt(1 + step / 100) - 1)) < 1e-9);
    struct claim_sum headline = claims_sum(set, answers, &(struct claim_group){"", true, true, false, true});
    assert_int_equal(headline.claims, 2);
}

static void errors__are_relative_to_what_is_published(void **state)
{
    (void)state;
    struct claim c = {.value = 50, .half_digit = 0.5, .value_hi = (double)NAN};
    assert_true(claim_error_percent(&c, 55) == 10);
    assert_true(claim_error_percent(&c, 45) == -10);
    c.bound = CLAIM_ABOVE;
    assert_true(claim_error_percent(&c, 51) == 0);
    assert_true(claim_error_percent(&c, 40) == -20);
    c.bound = CLAIM_AT_MOST; /* 50.4 rounds to 50 */
    assert_true(claim_error_percent(&c, 50.4) == 0);
    assert_true(claim_error_percent(&c, 60) == 20);
    c.bound = CLAIM_EQUAL;
    c.value = -4;
    assert_true(claim_error_percent(&c, -5) == -25);
    c.value = 0;
    assert_true(claim_error_percent(&c, 0.2) == 0);
    assert_true(claim_error_percent(&c, -3) == -100);
    assert_true(isnan(claim_error_percent(&c, (double)NAN)));
}

/* ---- bad input ------------------------------------------------------------------------------------------------------------- */

#define HEADER "id,system,paper,location,quantity,value,value_hi,unit,conditions,kind,modelable,how,split\n"
#define STEP "toy.step,toy,p,l,q,52,,us,,measured,yes,,calibrate\n"
#define COUNTED "toy.step,toy,p,l,q,52,,us,,derived,yes,,calibrate\n"
#define CONSTANT "[constants]\noverhead_us = { fit = false, alternatives = [0, 1], source = \"made up\" }\n"
#define BOUND "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\n"
#define CONSTANT_OF "[constants.overhead_us]\nfit = true\n"

/* Open claims made of these two texts and answer them: at most `max` numbers. */
static bool answer_texts(const char *csv, const char *toml, double *ret, size_t max, struct diags *d)
{
    char *dir = scratch_new();
    bool ok = false;
    scratch_copy(dir, toy_data_dir(), "models/toy/defaults.toml");
    scratch_copy(dir, toy_data_dir(), "models/pebble/defaults.toml");
    if (csv) scratch_write(dir, "models/toy/claims.csv", csv);
    if (toml) scratch_write(dir, "models/toy/claims.toml", toml);
    struct claim_set *s = claims_open(registry_find("toy"), catalog, dir, d);
    if (s) {
        size_t claims;
        claims_list(s, &claims);
        struct claim_answer *a = xcalloc(claims, sizeof *a);
        ok = claims_answer(s, a, d);
        assert_int_equal(ok, d->n == 0);
        for (size_t i = 0; i < claims && i < max; i++) ret[i] = a[i].modelled;
        free(a);
    }
    claims_free(s);
    scratch_remove(dir);
    return ok;
}

/* Exactly these complaints must come. */
static void expect(const char *csv, const char *toml, const struct complaint *want, size_t n)
{
    struct diags d;
    diags_init(&d);
    answer_texts(csv, toml, NULL, 0, &d);
    expect_complaints(&d, want, n);
}

#define EXPECT(csv, toml, ...) \
    do { \
        const struct complaint want[] = {__VA_ARGS__}; \
        expect(csv, toml, want, sizeof want / sizeof *want); \
    } while (0)

static void missing_files__are_said(void **state)
{
    (void)state;
    EXPECT(NULL, NULL, {0, 0, "cannot read the file"}, {0, 0, "cannot read the file"});
}

static void rows__of_bad_words_and_numbers_are_all_said(void **state)
{
    (void)state;
    EXPECT(HEADER "a,toy,p,l,q,12x,,us,,measurd,no,,calibrate\n"
                  "a,toy,p,l,q,12,,us,op:=>;x,measured,maybe,,both\n"
                  ",toy,p,l,q,12,11,us,,measured,no,,holdout\n"
                  "b,toy,p,l,q,1,2,us,op:>,measured,no,,holdout\n",
           CONSTANT, {2, 22, "kind: there is no \"measurd\""}, {2, 13, "value: \"12x\" is not a finite number"},
           {3, 1, "claim \"a\" stands in line 2 already"}, {3, 37, "one of yes, partly, no"}, {3, 44, "one of calibrate, holdout"},
           {3, 20, "there is no operator \"=>\""}, {4, 1, "the claim has no id"}, {4, 15, "value_hi: 11 is not above the value 12"},
           {5, 20, "a range with op:>"});
    EXPECT("id,system\n", CONSTANT, {1, 1, "the header is not that of such a table"});
    EXPECT(HEADER "a,toy\n", CONSTANT, {2, 1, "2 cells in this row; the header has 13"});
}

static void bindings__must_cover_the_claims_and_nothing_else(void **state)
{
    (void)state;
    EXPECT(HEADER STEP, CONSTANT, {2, 1, "toy.step is bound to nothing"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.stap\"]\nvalue = \"toy.latency_us\"\n", {3, 9, "did you mean \"toy.step\"?"},
           {2, 1, "toy.step is bound to nothing"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nheadline = true\n", {3, 9, "neither a value nor unreachable"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\nunreachable = \"why\"\n",
           {3, 9, "a value and unreachable"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nunreachable = \"\"\n", {4, 15, "say why"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\nvalu = 1\n",
           {5, 1, "did you mean \"value\"?"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = 52\n", {4, 9, "a string is needed, not an integer"});
}

static void names__of_what_does_not_exist_are_said_at_their_place(void **state)
{
    (void)state;
    EXPECT(HEADER STEP,
           CONSTANT "[claims.\"toy.step\"]\nunit = \"us\"\n"
                    "value = \"2 * toy.latency_ms + tay.latency_us + toy.pipeline + toy.energy_mj + toy.llm.leyers + foo\"\n",
           {5, 14, "did you mean \"latency_us\"?"}, {5, 31, "did you mean \"toy\"?"}, {5, 48, "pipeline is a name, not a number"},
           {5, 63, "energy_mj has no meaning for model toy"}, {5, 79, "did you mean \"layers\"?"},
           {5, 96, "there is no number \"foo\""});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us +\"\nunit = \"us\"\n",
           {4, 26, "where the expression ends"});
    EXPECT(HEADER STEP, "[machines.a]\nmodel = \"tuy\"\n" CONSTANT "[claims.\"toy.step\"]\nvalue = \"a.latency_us\"\n",
           {2, 9, "did you mean \"toy\"?"});
    EXPECT(HEADER COUNTED, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\ncases = \"all\"\ncontradiction = \"K\"\n",
           {6, 17, "there is no contradiction \"K\""}, {5, 9, "there are no cases \"all\""});
}

#define AT_MOST "m,toy,p,l,q,50,,us,op:<=,measured,yes,,holdout\n"
#define UP_TO "m,toy,p,l,q,50,,us,op:max,measured,yes,,holdout\n"
#define LARGEST "[cases.two]\ncontext = [512, 1024]\n[claims.m]\nvalue = \"toy.latency_us\"\ncases = \"two\"\nmean = \"max\"\n"

static void maxima__are_not_bounds_from_above(void **state)
{
    (void)state;
    EXPECT(HEADER AT_MOST, CONSTANT LARGEST, {8, 8, "meets any \"at most\" by being too small"});
    EXPECT(HEADER UP_TO, CONSTANT LARGEST "[contradictions.K]\nsays = \"1\"\n", {9, 17, "contradiction K has no text"},
           {9, 17, "contradiction K has no verdict"}); /* and nothing of the maximum */
}

/* An error of the model is no contradiction of the paper. */
static void contradictions__are_not_of_what_was_measured(void **state)
{
    (void)state;
    EXPECT(HEADER STEP,
           CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\ncontradiction = \"K\"\n"
                    "[contradictions.K]\ntext = \"a\"\nverdict = \"b\"\n",
           {5, 17, "toy.step was measured, which cannot contradict arithmetic"});
}

static void machines__take_parameters_of_their_model(void **state)
{
    (void)state;
    EXPECT(
        HEADER STEP,
        "[machines.a]\nmodel = \"toy\"\ntils = 2\ntiles = 0\nbatch = [1, 2]\n[machines.\"b-c\"]\n[machines.d]\nmodel = 1\n" CONSTANT
        "[claims.\"toy.step\"]\nvalue = \"a.latency_us\"\n",
        {3, 1, "did you mean \"tiles\"?"}, {4, 9, "tiles: 0 is below the minimum 1"}, {5, 9, "a machine has one value"},
        {6, 11, "\"b-c\" cannot name a machine"}, {6, 11, "names no model"}, {8, 9, "a string is needed"});
}

static void accounting__is_what_machines_have_unless_something_says_otherwise(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    double tiles[3] = {0};
    assert_true(answer_texts(HEADER "a,toy,p,l,q,1,,,,derived,yes,,holdout\nb,toy,p,l,q,1,,,,derived,yes,,holdout\n"
                                    "c,toy,p,l,q,1,,,,derived,yes,,holdout\n",
                             "[accounting.toy]\ntiles = 2\n[machines.own]\nmodel = \"toy\"\ntiles = 3\n" CONSTANT
                             "[claims.a]\nvalue = \"toy.tiles\"\n[claims.b]\nvalue = \"own.tiles\"\n"
                             "[claims.c]\nvalue = \"toy.tiles\"\nset = { tiles = 5 }\n",
                             tiles, 3, &d));
    assert_true(tiles[0] == 2 && tiles[1] == 3 && tiles[2] == 5);
    EXPECT(HEADER STEP,
           "[accounting.tay]\ntiles = 2\n[accounting.toy]\ntils = 2\ntiles = 0\n[accounting]\npebble = 1\n" BOUND CONSTANT,
           {1, 13, "did you mean \"toy\"?"}, {4, 1, "did you mean \"tiles\"?"}, {5, 9, "tiles: 0 is below the minimum 1"},
           {7, 10, "accounting.pebble is not a table"});
}

static void units__must_be_those_of_the_claim(void **state)
{
    (void)state;
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\nunit = \"ms\"\n",
           {5, 8, "the unit of the claim is \"us\", not \"ms\""});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.kv_mib\"\n",
           {4, 9, "toy.kv_mib is in \"MiB\", the claim in \"us\""});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.kv_mib\"\nunit = \"us\"\n",
           {4, 9, "toy.kv_mib is in \"MiB\""});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"2 * toy.latency_us\"\n", {4, 9, "an expression says its unit"});
    /* what is counted is no unit; GB may be GiB where the file says so */
    expect(HEADER "a,toy,p,l,q,4,,rows,,derived,yes,,holdout\nb,toy,p,l,q,4,,GB,,derived,yes,,holdout\n",
           CONSTANT "[claims.a]\nvalue = \"toy.tiles\"\n[claims.b]\nvalue = \"toy.weights_gib\"\nunit = \"GB\"\n", NULL, 0);
    EXPECT(HEADER "b,toy,p,l,q,4,,GB,,derived,yes,,holdout\n", CONSTANT "[claims.b]\nvalue = \"toy.weights_gib\"\n",
           {4, 9, "is in \"GiB\", the claim in \"GB\""});
}

static void cases__need_a_mean_and_parameters_that_exist(void **state)
{
    (void)state;
    EXPECT(HEADER STEP,
           CONSTANT "[cases.c]\ncontext = [512, 1024]\n[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\ncases = \"c\"\n",
           {5, 9, "2 cases and no mean"});
    EXPECT(HEADER STEP,
           CONSTANT
           "[cases.c]\ncontxt = 512\n[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\ncases = \"c\"\nmean = \"geometrical\"\n",
           {4, 1, "did you mean \"context\"?"}, {8, 8, "did you mean \"geometric\"?"});
    /* both machines take the value: it is refused once */
    EXPECT(HEADER STEP,
           CONSTANT "[cases.c]\ncontext = 0\n[claims.\"toy.step\"]\nvalue = \"toy.latency_us + pebble.latency_us\"\ncases = \"c\"\n"
                    "unit = \"us\"\n",
           {4, 11, "context: 0 is below the minimum 1"});
    EXPECT(HEADER STEP,
           CONSTANT "[cases.c]\ncontext = 512\n[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\ncases = \"c\"\n"
                    "set = { context = 512, lanes = 2 }\n",
           {8, 9, "context is given by the cases too"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\nset = { lanes = 2 }\n",
           {5, 9, "no machine of this value has lanes"});
}

static void infeasible_cases__are_errors_unless_left_out(void **state)
{
    (void)state;
    static const char head[] =
        CONSTANT "[cases.c]\ncontext = [1024, 8192]\n[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\ncases = \"c\"\n"
                 "mean = \"arithmetic\"\n";
    EXPECT(HEADER STEP, head, {6, 9, "toy.step: toy at context=8192 is infeasible: the context is longer than the model knows"});
    char *skipping = xasprintf("%sskip_infeasible = true\n", head);
    expect(HEADER STEP, skipping, NULL, 0);
    free(skipping);
    EXPECT(HEADER STEP,
           CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\nset = { context = 8192 }\nskip_infeasible = true\n",
           {4, 9, "is infeasible"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"toy.macs_per_tile\"\nunit = \"MAC per us\"\n",
           {5, 8, "the unit of the claim"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"1 * toy.macs_per_tile\"\nunit = \"us\"\n",
           {4, 9, "toy.step: toy: macs_per_tile has no value"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"1 / (toy.tiles - 4)\"\nunit = \"us\"\n",
           {4, 9, "toy.step: the expression has no value"});
}

static void published_numbers__cannot_answer_for_themselves(void **state)
{
    (void)state;
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"p\"\npublished = { p = \"toy.*\", q = \"toy.step\" }\n",
           {5, 19, "a claim cannot be its own answer"});
    EXPECT(HEADER STEP, CONSTANT "[claims.\"toy.step\"]\nvalue = \"p\"\npublished = { p = \"toy.stop\" }\n",
           {5, 19, "did you mean \"toy.step\"?"});
    EXPECT(HEADER STEP "a,toy,p,l,q,4,,us,,derived,no,,holdout\n",
           CONSTANT "[claims.\"toy.step\"]\nvalue = \"p\"\npublished = { p = \"a\", q = \"a\" }\n", {5, 24, "does not use \"q\""});
}

static void constants__must_be_named_and_agree(void **state)
{
    (void)state;
    static const char bound[] = "[claims.\"toy.step\"]\nvalue = \"toy.latency_us\"\n";
    EXPECT(HEADER STEP, bound, {0, 0, "no [constants] names overhead_us, a calibrated constant of toy"});
    EXPECT(HEADER STEP, BOUND CONSTANT_OF "machines = [\"toy\", \"tay\", \"pebble\"]\n", {5, 20, "there is no machine \"tay\""},
           {5, 27, "overhead_us is neither a number nor a choice of pebble"},
           {0, 0, "overhead_us is fitted, and [calibrate] names no claims"});
    EXPECT(HEADER STEP, "[machines.a]\nmodel = \"toy\"\noverhead_us = 1\n" BOUND CONSTANT_OF "machines = [\"toy\", \"a\"]\n",
           {8, 20, "overhead_us is 0.25 in toy and 1 in a"}, {0, 0, "overhead_us is fitted, and [calibrate] names no claims"});
    EXPECT(HEADER STEP, BOUND CONSTANT "[constants.tiles]\nfit = true\nmachines = [\"toy\"]\n",
           {5, 12, "tiles is a whole number: it cannot be fitted"}, {0, 0, "tiles is fitted, and [calibrate] names no claims"});
    EXPECT(HEADER STEP, BOUND "[constants.overhead_us]\nfit = true\n",
           {0, 0, "overhead_us is fitted, and [calibrate] names no claims"});
}

static void calibration__takes_claims_of_its_own_split(void **state)
{
    (void)state;
    EXPECT(
        HEADER STEP "h,toy,p,l,q,4,,us,,derived,yes,,holdout\nb,toy,p,l,q,4,,us,op:>,derived,yes,,calibrate\n"
                    "u,toy,p,l,q,4,,us,,derived,yes,,calibrate\n",
        BOUND
        "[claims.h]\nvalue = \"toy.latency_us\"\n[claims.b]\nvalue = \"toy.latency_us\"\n[claims.u]\nunreachable = \"x\"\n" CONSTANT
        "[calibrate]\nclaims = [\"toy.step\", \"h\", \"b\", \"u\", \"toy.stap\", \"toy.step\", 1]\n",
        {12, 23, "h is held out"}, {12, 28, "b cannot be fitted to"}, {12, 33, "u has no value to be fitted"},
        {12, 38, "did you mean \"toy.step\"?"}, {12, 50, "toy.step stands in the list already"},
        {12, 62, "an id is needed, not an integer"});
}

static void other_keys__are_refused(void **state)
{
    (void)state;
    EXPECT(HEADER STEP, BOUND CONSTANT "[claim.x]\n[contradictions.K]\nsays = \"1\"\n", {5, 2, "did you mean \"claims\"?"},
           {6, 17, "contradiction K has no text"}, {6, 17, "contradiction K has no verdict"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims__are_answered_by_metrics_equations_and_parameters),
        cmocka_unit_test(claims__have_the_verdicts_of_the_manual),
        cmocka_unit_test(claims__without_a_number_say_why),
        cmocka_unit_test(claims__take_means_over_cases),
        cmocka_unit_test(claims__know_the_constants_they_depend_on),
        cmocka_unit_test(claims__are_functions_of_the_constants),
        cmocka_unit_test(contradictions__carry_the_models_number),
        cmocka_unit_test(contradictions__are_not_of_what_was_measured),
        cmocka_unit_test(maxima__are_numbers_to_be_met),
        cmocka_unit_test(maxima__are_not_bounds_from_above),
        cmocka_unit_test(sums__count_errors_of_numbers_and_of_missed_bounds),
        cmocka_unit_test(errors__are_relative_to_what_is_published),
        cmocka_unit_test(missing_files__are_said),
        cmocka_unit_test(rows__of_bad_words_and_numbers_are_all_said),
        cmocka_unit_test(bindings__must_cover_the_claims_and_nothing_else),
        cmocka_unit_test(names__of_what_does_not_exist_are_said_at_their_place),
        cmocka_unit_test(machines__take_parameters_of_their_model),
        cmocka_unit_test(accounting__is_what_machines_have_unless_something_says_otherwise),
        cmocka_unit_test(units__must_be_those_of_the_claim),
        cmocka_unit_test(cases__need_a_mean_and_parameters_that_exist),
        cmocka_unit_test(infeasible_cases__are_errors_unless_left_out),
        cmocka_unit_test(published_numbers__cannot_answer_for_themselves),
        cmocka_unit_test(constants__must_be_named_and_agree),
        cmocka_unit_test(calibration__takes_claims_of_its_own_split),
        cmocka_unit_test(other_keys__are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
