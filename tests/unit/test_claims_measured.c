/* claims/claims.h: what is measured on heads, and what is wrong with the tables that ask for it. */
#include "claims/claims.h"
#include "complaints.h"
#include "attention/anchors_file.h"
#include "dse_config.h"
#include "scratch.h"
#include "toy_model.h"
#include "attention/measure.h"
#include "attention/single_pass.h"
#include "attention/trace.h"

#include <math.h>

static struct catalog *catalog;
static struct diags diags;

static int set_up(void **state)
{
    (void)state;
    diags_init(&diags);
    catalog = catalog_new(toy_data_dir(), &diags);
    return catalog ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    diags_release(&diags);
    registry_release();
    return 0;
}

static struct claim_set *toy_claims(void)
{
    struct claim_set *s = claims_open(registry_find("toy"), catalog, toy_data_dir(), &diags);
    if (!s) diags_print(&diags, stderr, false);
    assert_non_null(s);
    return s;
}

/* The number of a claim on those heads. */
static const struct claim_measure *measure_of(const struct claim_set *s, const char *id, const char *on)
{
    size_t n, claims;
    const struct claim *list = claims_list(s, &claims);
    const struct claim_measure *m = claims_measures(s, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[m[i].claim].id, id) == 0 && (m[i].on ? on && strcmp(m[i].on->name, on) == 0 : !on)) return &m[i];
    fail_msg("%s is not measured on %s", id, on ? on : "no heads");
    return NULL;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------- */

/* What measure.h says of the same heads. */
static double top1_of(const struct head_source *source, size_t steps)
{
    const size_t contexts[] = {64, 96};
    struct measure_plan p = {.sources = source, .n_sources = 1, .contexts = contexts, .n_contexts = 2, .steps = steps};
    struct measured_locality rows[2];
    assert_true(measure_locality(&p, &locality_defaults, rows, &diags));
    return 100 * fmin(rows[0].top1.mean, rows[1].top1.mean);
}

static void measures__are_those_of_the_heads(void **state)
{
    (void)state;
    struct claim_set *s = toy_claims();
    assert_true(claims_to_measure(s));
    assert_true(claims_measure(s, NULL, NULL, &diags));
    struct generator g = generator_defaults;
    g.seed = 3;
    g.d = 8;
    g.n = 96;
    struct head_source source = head_source_generator(&g, 2);
    assert_true(measure_of(s, "toy.top", "made")->value == top1_of(&source, 8));
    char *path = xasprintf("%s/catalog/traces/few.trace", toy_data_dir());
    struct trace *t = trace_open(path, &diags);
    source = head_source_trace(t);
    assert_true(measure_of(s, "toy.top", "taken")->value == top1_of(&source, 0));
    trace_close(t);
    free(path);
    assert_true(fabs(measure_of(s, "toy.hits", "known")->value - 80) < 1e-9);
    assert_true(measure_of(s, "toy.mass", "ranged")->value == 25);
    assert_true(measure_of(s, "toy.exp", NULL)->value == 100 * single_pass_exp_error(&single_pass_defaults));
    claims_free(s);
}

static void measures__say_where_they_come_from(void **state)
{
    (void)state;
    struct claim_set *s = toy_claims();
    assert_true(claims_measure(s, NULL, NULL, &diags));
    assert_string_equal(measure_of(s, "toy.top", "made")->on->source, "2 heads of the generator: seed=3 d=8");
    assert_true(strstr(measure_of(s, "toy.top", "taken")->on->source, ", layers 0, heads 0 1; trace ") != NULL);
    assert_string_equal(measure_of(s, "toy.hits", "known")->on->source, "profile sparse: made up");
    assert_string_equal(measure_of(s, "toy.mass", "ranged")->on->source, "range wide: made up");
    assert_string_equal(measure_of(s, "toy.top", "made")->at, "min of 64, 96");
    assert_string_equal(measure_of(s, "toy.mass", "ranged")->at, "128");
    assert_string_equal(measure_of(s, "toy.exp", NULL)->at, "");
    assert_string_equal(claims_attention_at(s, 0)->name, "made");
    assert_null(claims_attention_at(s, 4));
    claims_free(s);
}

/* Heads that were made to agree prove nothing, and no measurement is a number of the model. */
static void measures__of_fitted_heads_are_no_evidence(void **state)
{
    (void)state;
    struct claim_set *s = toy_claims();
    assert_true(claims_measure(s, NULL, NULL, &diags));
    const struct claim_measure *made = measure_of(s, "toy.top", "made"), *taken = measure_of(s, "toy.top", "taken");
    assert_int_equal(made->verdict, CLAIM_FITTED);
    assert_string_equal(made->fitted, "chosen for it");
    assert_string_equal(made->note, "of a test");
    assert_true(taken->verdict == CLAIM_HOLDS || taken->verdict == CLAIM_MISSES);
    assert_string_equal(taken->fitted, "");
    struct claim_sum sum = claims_sum_measured(s, made->on);
    assert_true(sum.claims == 1 && sum.verdicts[CLAIM_FITTED] == 1 && sum.errors == 0);
    sum = claims_sum_measured(s, measure_of(s, "toy.mass", "ranged")->on);
    assert_true(sum.claims == 1 && sum.verdicts[CLAIM_OFF] == 1 && sum.errors == 1);
    assert_true(fabs(sum.worst_percent - 100.0 / 6) < 1e-9);
    assert_string_equal(sum.worst, "toy.mass");
    assert_int_equal(claims_sum_measured(s, NULL).claims, 1);

    size_t n;
    const struct claim *list = claims_list(s, &n);
    struct claim_answer *answers = xcalloc(n, sizeof *answers);
    assert_true(claims_answer(s, answers, &diags));
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].id, "toy.top") == 0) {
            assert_true(isnan(answers[i].modelled));
            assert_int_equal(answers[i].verdict, CLAIM_MEASURED);
        }
        if (strcmp(list[i].id, "toy.hits") == 0) assert_int_equal(answers[i].verdict, CLAIM_HOLDS); /* the model's own number */
    }
    free(answers);
    claims_free(s);
}

struct seen {
    double last;
    size_t calls;
};

static void see(void *user, double share)
{
    struct seen *seen = user;
    assert_true(share >= seen->last && share <= 1 + 1e-12);
    seen->last = share;
    seen->calls++;
}

static void measuring__is_done_once_and_tells_how_far_it_is(void **state)
{
    (void)state;
    struct claim_set *s = toy_claims();
    size_t n, again;
    assert_true(claims_measures(s, &n) == NULL && n == 0);
    struct seen seen = {0};
    assert_true(claims_measure(s, see, &seen, &diags));
    claims_measures(s, &n);
    assert_true(n == 5 && fabs(seen.last - 1) < 1e-12);
    size_t calls = seen.calls;
    assert_true(calls == 3); /* two heads made, one by one, and two taken, a layer */
    seen.last = 0;
    assert_true(claims_measure(s, see, &seen, &diags));
    claims_measures(s, &again);
    assert_true(again == n && seen.calls == calls);
    claims_free(s);
}

/* ---- the shipped claims -------------------------------------------------------------------------------------------------- */

/* Whatever the generator was fitted to says so. */
static void shipped_claims__name_what_the_generator_was_fitted_to(void **state)
{
    (void)state;
    struct toml_doc *lad = toml_read_file(DSE_SOURCE_DATA "/models/lad/claims.toml", &diags);
    struct toml_doc *fd = toml_read_file(DSE_SOURCE_DATA "/models/flashdecoding/claims.toml", &diags);
    struct anchor_set anchors;
    assert_true(lad && fd && anchors_read_file(DSE_SOURCE_DATA "/catalog/anchors.toml", &anchors, &diags));
    const struct toml_doc *docs[] = {lad, fd};
    size_t marked = 0;
    for (size_t d = 0; d < 2; d++) {
        const struct toml_node *claims = toml_get(&docs[d]->root, "claims");
        for (size_t i = 0; i < claims->n; i++) {
            const struct toml_node *m = toml_get(&claims->children[i], "measured");
            if (!m || !toml_get(m, "on")) continue;
            bool fitted = strstr(toml_get(m, "value")->string, "false_negative") != NULL; /* see catalog/anchors.toml, norm_sd */
            for (size_t k = 0; k < anchors.n; k++)
                fitted |= strstr(toml_get(m, "value")->string, anchor_metric_names[anchors.list[k].metric]) != NULL;
            const struct toml_node *marks = toml_get(m, "fitted");
            bool is_marked = marks && (toml_get(marks, "synthetic") || toml_get(marks, "synthetic_4096"));
            if (fitted != is_marked) fail_msg("%s: fitted %d, marked %d", claims->children[i].key, fitted, is_marked);
            marked += is_marked;
        }
    }
    assert_true(marked >= 6);
    anchor_set_release(&anchors);
    toml_free(lad);
    toml_free(fd);
}

/* ---- bad input ----------------------------------------------------------------------------------------------------------- */

#define HEADER "id,system,paper,location,quantity,value,value_hi,unit,conditions,kind,modelable,how,split\n"
#define TOP HEADER "toy.top,toy,p,l,q,50,,%,op:>=,measured,yes,,holdout\n"
/* Four lines; then the tables of a case. */
#define START \
    "[constants]\noverhead_us = { fit = false, alternatives = [0, 1], source = \"made up\" }\n" \
    "[attention.a]\ngenerator = { d = 4 }\n"
#define CLAIM "[claims.\"toy.top\".measured]\n"

static void expect(const char *toml, const struct complaint *want, size_t n)
{
    char *dir = scratch_new(), *link = xasprintf("%s/catalog", dir), *from = xasprintf("%s/catalog", toy_data_dir());
    scratch_copy(dir, toy_data_dir(), "models/toy/defaults.toml");
    scratch_copy(dir, toy_data_dir(), "models/pebble/defaults.toml");
    scratch_write(dir, "models/toy/claims.csv", TOP);
    scratch_write(dir, "models/toy/claims.toml", toml);
    assert_int_equal(symlink(from, link), 0);
    struct claim_set *s = claims_open(registry_find("toy"), catalog, dir, &diags);
    if (s) claims_measure(s, NULL, NULL, &diags);
    claims_free(s);
    assert_int_equal(unlink(link), 0);
    scratch_remove(dir);
    free(from);
    free(link);
    expect_complaints(&diags, want, n);
    diags_init(&diags);
}

#define EXPECT(toml, ...) \
    do { \
        const struct complaint want[] = {__VA_ARGS__}; \
        expect(toml, want, sizeof want / sizeof *want); \
    } while (0)

#define ON "on = [\"a\"]\ncontexts = [64]\n"
#define GOOD CLAIM "value = \"100 * top1\"\nunit = \"%\"\n" ON

static void attention__comes_from_one_place(void **state)
{
    (void)state;
    EXPECT(START "[attention.b]\n" GOOD, {5, 12, "attention b comes from nowhere"});
    EXPECT(START "[attention.b]\ngenerator = {}\ntrace = \"few\"\n" GOOD, {5, 12, "attention b comes from more than one place"});
    EXPECT(START "[attention]\nb = 3\n" GOOD, {6, 5, "attention.b is not a table"});
    EXPECT(START "[attention.b]\ngenerator = { sed = 3 }\n" GOOD, {6, 15, "did you mean \"seed\"?"});
    EXPECT(START "[attention.b]\ngenerator = { n = 3 }\n" GOOD, {6, 15, "the contexts say how long heads are"});
    EXPECT(START "[attention.b]\ngenerator = { rho = 2 }\n" GOOD, {6, 21, "rho"});
    EXPECT(START "[attention.b]\ngenerator = {}\nheads = 0\n" GOOD, {7, 9, "heads: 0 is outside of 1 to 4096"});
    EXPECT(START "[attention.b]\ntrace = \"few\"\nheads = 1\n" GOOD, {7, 1, "heads: only a generator has this key"});
    EXPECT(START "[attention.b]\ntrace = \"fewer\"\n" GOOD, {0, 0, "cannot"}, {6, 9, "the trace \"fewer\" cannot be used"});
    EXPECT(START "[attention.b]\nprofile = \"spars\"\n" GOOD, {6, 11, "did you mean \"sparse\"?"});
    EXPECT(START "[attention.b]\nrange = \"wider\"\n" GOOD, {0, 0, "cannot read the file"},
           {6, 9, "the range \"wider\" cannot be used"});
    EXPECT(START "[attention.b]\nprofile = \"sparse\"\nsteps = 4\n" GOOD, {7, 1, "steps: a file is measured already"});
    EXPECT(START "[attention.b]\ntrace = \"few\"\nsteps = \"all\"\n" GOOD,
           {7, 9, "a number from 1 to 262144 or \"half\" is needed"});
    EXPECT(START "[attention.b]\ntrace = \"few\"\nstep = 4\n" GOOD, {7, 1, "did you mean \"steps\"?"});
}

static void measured__names_statistics_heads_and_contexts(void **state)
{
    (void)state;
    EXPECT(START "[claims.\"toy.top\"]\nmeasured = 3\n", {6, 12, "measured is not a table"});
    EXPECT(START CLAIM ON, {5, 19, "measured: there is no value"});
    EXPECT(START CLAIM "value = \"100 * top\"\nunit = \"%\"\n" ON, {6, 16, "did you mean \"top1\"?"});
    EXPECT(START CLAIM "value = \"100 * toy.area_mm2\"\nunit = \"%\"\n" ON, {6, 16, "there is no statistic \"toy.area_mm2\""});
    EXPECT(START CLAIM "value = \"100 * top1\"\n" ON, {6, 9, "an expression says its unit"});
    EXPECT(START CLAIM "value = \"top1\"\n" ON, {6, 9, "top1 is in \"\", the claim in \"%\""});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\ncontexts = [64]\n", {5, 19, "measured on nothing"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [\"a\"]\n", {5, 19, "measured at no context"});
    EXPECT(START CLAIM "value = \"100 * exp_error\"\nunit = \"%\"\n" ON, {5, 19, "this value takes no heads"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [\"b\"]\ncontexts = [64]\n", {8, 7, "did you mean \"a\"?"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [\"a\", \"a\"]\ncontexts = [64]\n",
           {8, 12, "stands in the list already"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = []\ncontexts = [64]\n", {8, 6, "on: an empty list"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [1]\ncontexts = [64]\n",
           {8, 7, "a name is needed, not an integer"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [\"a\"]\ncontexts = [64, 128]\n",
           {5, 19, "2 contexts and no mean"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [\"a\"]\ncontexts = [64, 64]\nmean = \"min\"\n",
           {9, 17, "contexts: 64 does not grow"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [\"a\"]\ncontexts = []\n", {9, 12, "contexts: an empty list"});
    EXPECT(START CLAIM "value = \"100 * top1\"\nunit = \"%\"\non = [\"a\"]\ncontexts = [0.5]\n",
           {9, 13, "a whole number from 1 to"});
    EXPECT(START GOOD "fitted = { b = \"why\" }\n", {10, 12, "it is not measured on \"b\""});
    EXPECT(START GOOD "fitted = { a = \"\" }\n", {10, 16, "say what was fitted to the claim"});
    EXPECT(START GOOD "not = \"x\"\n", {10, 1, "did you mean \"note\"?"});
    EXPECT(START GOOD "mean = \"median\"\n", {10, 8, "there is no mean \"median\""});
    EXPECT(START "[claims.\"toy.top\"]\nvalue = \"100 * toy.area_mm2\"\nunit = \"%\"\nunreachable = \"x\"\n" GOOD,
           {5, 9, "a value and unreachable"});
}

static void heads__say_what_they_cannot_tell(void **state)
{
    (void)state;
#define VALUE(statistic) CLAIM "value = \"100 * " statistic "\"\nunit = \"%\"\n"
    EXPECT(START VALUE("top1") "on = [\"a\"]\ncontexts = [20]\n",
           {9, 13, "context 20: a can be measured at 32 to 262144 positions"});
    EXPECT(START "[attention.b]\ntrace = \"few\"\n" VALUE("top1") "on = [\"b\"]\ncontexts = [128]\n",
           {11, 13, "context 128: b can be measured at 32 to 96 positions"});
    EXPECT(START "[attention.b]\nprofile = \"sparse\"\n" VALUE("hit_ratio") "on = [\"b\"]\ncontexts = [512]\n",
           {11, 13, "b was not measured at 512 positions"});
    EXPECT(START "[attention.b]\nprofile = \"sparse\"\n" VALUE("top1") "on = [\"b\"]\ncontexts = [256]\n",
           {8, 9, "the file of b says nothing of top1"});
    EXPECT(START "[attention.b]\nrange = \"wide\"\n" VALUE("top1") "on = [\"b\"]\ncontexts = [64]\n",
           {8, 9, "the file of b says nothing of top1"});
    EXPECT(START VALUE("top1 / (inside - inside)") ON, {6, 9, "toy.top on a: the expression has no value"});
    /* one that takes no heads, beside one that does, is a number all the same */
    EXPECT(START VALUE("exp_error / (inside - inside)") ON, {6, 9, "toy.top on a: the expression has no value"});
#undef VALUE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures__are_those_of_the_heads),
        cmocka_unit_test(measures__say_where_they_come_from),
        cmocka_unit_test(measures__of_fitted_heads_are_no_evidence),
        cmocka_unit_test(measuring__is_done_once_and_tells_how_far_it_is),
        cmocka_unit_test(shipped_claims__name_what_the_generator_was_fitted_to),
        cmocka_unit_test(attention__comes_from_one_place),
        cmocka_unit_test(measured__names_statistics_heads_and_contexts),
        cmocka_unit_test(heads__say_what_they_cannot_tell),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
