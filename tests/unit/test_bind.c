/* Binding: defaults, single values, lists and ranges, and every way they are refused. */
#include "complaints.h"
#include "scratch.h"
#include "toy_model.h"

#include "base/xalloc.h"
#include "config/bind.h"

#include <math.h>
#include <stdlib.h>

static struct catalog *catalog;

static int set_up(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    catalog = catalog_new(toy_data_dir(), &d);
    expect_silence(&d);
    return catalog ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    registry_release();
    return 0;
}

static struct binding *new_binding(void)
{
    struct diags d;
    diags_init(&d);
    struct binding *b = binding_new(registry_find("toy"), catalog, toy_data_dir(), &d);
    expect_silence(&d);
    assert_non_null(b);
    return b;
}

static const struct field *field_of(const struct binding *b, const char *name)
{
    const struct field *f = schema_find(&b->model->params, name);
    assert_non_null(f);
    return f;
}

static struct given *given_of(struct binding *b, const char *name)
{
    return &b->given[schema_index(&b->model->params, field_of(b, name))];
}

/* Bind the first key of the text. */
static bool bind_text(struct binding *b, const char *text, struct diags *d)
{
    struct toml_doc *doc = toml_read_text("t", text, strlen(text), d);
    assert_non_null(doc);
    const struct toml_node *node = &doc->root.children[0];
    bool ok = binding_set_node(b, field_of(b, node->key), doc, node, d);
    assert_int_equal(ok, d->errors == 0);
    toml_free(doc);
    return ok;
}

static void refuse(const char *text, int column, const char *part)
{
    struct binding *b = new_binding();
    struct diags d;
    diags_init(&d);
    assert_false(bind_text(b, text, &d));
    expect_complaint(&d, 1, column, part);
    for (size_t i = 0; i < b->model->params.n; i++) assert_false(b->given[i].is_given);
    binding_free(b);
}

/* The text gives exactly these numbers. */
static void expect_numbers(const char *text, const double *want, size_t n)
{
    struct binding *b = new_binding();
    struct diags d;
    diags_init(&d);
    bind_text(b, text, &d);
    expect_silence(&d);
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct given *g = &b->given[i];
        if (!g->is_given) continue;
        assert_int_equal(g->n, n);
        for (size_t k = 0; k < n; k++) {
            bool whole = b->model->params.fields[i].type == DSE_TYPE_I64;
            double got = whole ? (double)g->values[k].i64 : g->values[k].f64;
            if (got != want[k]) fail_msg("%s: value %zu is %.17g, not %.17g", text, k, got, want[k]);
        }
    }
    binding_free(b);
}
#define NUMBERS(text, ...) expect_numbers(text, (const double[]){__VA_ARGS__}, sizeof(const double[]){__VA_ARGS__} / sizeof(double))

static void bind__takes_every_default(void **state)
{
    (void)state;
    struct binding *b = new_binding();
    const struct toy_params *p = b->defaults;
    assert_string_equal(((const struct dse_entry *)p->llm)->name, "tiny");
    assert_true(p->llm->layers == 2);
    assert_string_equal(((const struct dse_entry *)p->profile)->name, "sparse");
    assert_true(isnan(p->bandwidth_gbs));
    assert_true(p->channel_gbs == 32 && p->tiles == 4 && p->clock_ghz == 0.5 && p->overhead_us == 0.25);
    assert_int_equal(p->pipeline, TOY_EXACT);
    size_t n;
    const struct calibrated *c = binding_calibrated(b, &n);
    assert_int_equal(n, 1);
    assert_string_equal(c[0].name, "overhead_us");
    assert_string_equal(c[0].fitted_to, "nothing: made up");
    binding_free(b);
}

static void bind__takes_single_values(void **state)
{
    (void)state;
    NUMBERS("tiles = 8", 8);
    NUMBERS("tiles = 8.0", 8);
    NUMBERS("clock_ghz = 1", 1);
    NUMBERS("clock_ghz = 0.1", 0.1);
    NUMBERS("bandwidth_gbs = 99.5", 99.5);
    NUMBERS("overhead_us = -0.0", 0);
    struct binding *b = new_binding();
    struct diags d;
    diags_init(&d);
    bind_text(b, "llm = 'small'", &d);
    bind_text(b, "pipeline = 'eq7'", &d);
    expect_silence(&d);
    assert_string_equal(given_of(b, "llm")->values[0].ref->name, "small");
    assert_int_equal(given_of(b, "pipeline")->values[0].choice, TOY_EQ7);
    binding_free(b);
}

static void bind__takes_lists(void **state)
{
    (void)state;
    NUMBERS("tiles = [4]", 4);
    NUMBERS("tiles = [8, 2, 4.0]", 8, 2, 4);
    NUMBERS("clock_ghz = [1, 0.5]", 1, 0.5);
    struct binding *b = new_binding();
    struct diags d;
    diags_init(&d);
    bind_text(b, "llm = ['tiny', 'small']", &d);
    expect_silence(&d);
    assert_int_equal(given_of(b, "llm")->n, 2);
    assert_string_equal(given_of(b, "llm")->values[1].ref->name, "small");
    binding_free(b);
}

static void bind__ranges_by_step_are_exact_decimals(void **state)
{
    (void)state;
    NUMBERS("clock_ghz = { from = 0.5, to = 1.0, step = 0.1 }", 0.5, 0.6, 0.7, 0.8, 0.9, 1.0);
    NUMBERS("clock_ghz = { from = 0.1, to = 0.7, step = 0.2 }", 0.1, 0.3, 0.5, 0.7);
    NUMBERS("clock_ghz = { from = 0.5, to = 1.04, step = 0.25 }", 0.5, 0.75, 1.0);
    NUMBERS("clock_ghz = { from = 2, to = 2, step = 1 }", 2);
    NUMBERS("clock_ghz = { from = 1, to = 2, step = 5 }", 1);
    NUMBERS("tiles = { from = 1, to = 4, step = 1 }", 1, 2, 3, 4);
    NUMBERS("tiles = { from = 1.0, to = 8, step = 3.0 }", 1, 4, 7);
    NUMBERS("overhead_us = { from = 0, to = 0.3, step = 0.1 }", 0, 0.1, 0.2, 0.3);
    for (int i = 1; i < 100; i++) { /* every n / 100 is the double that "0.0n" reads as */
        char text[100], number[32];
        snprintf(text, sizeof text, "sram_mib = { from = 1.01, to = %d.%02d, step = 0.01 }", 1 + i / 100, i % 100);
        struct binding *b = new_binding();
        struct diags d;
        diags_init(&d);
        bind_text(b, text, &d);
        expect_silence(&d);
        const struct given *g = given_of(b, "sram_mib");
        assert_int_equal(g->n, i);
        snprintf(number, sizeof number, "1.%02d", i);
        assert_true(g->values[i - 1].f64 == strtod(number, NULL));
        binding_free(b);
    }
}

static void bind__ranges_by_points(void **state)
{
    (void)state;
    NUMBERS("clock_ghz = { from = 1, to = 2, points = 5 }", 1, 1.25, 1.5, 1.75, 2);
    NUMBERS("clock_ghz = { from = 1, to = 2, points = 2, scale = 'linear' }", 1, 2);
    NUMBERS("bandwidth_gbs = { from = 256, to = 4096, points = 5, scale = 'log' }", 256, 512, 1024, 2048, 4096);
    NUMBERS("bandwidth_gbs = { from = 256, to = 1024, points = 5, scale = 'log' }", 256, 362.038671967512, 512, 724.077343935025,
            1024);
    NUMBERS("tiles = { from = 1, to = 64, points = 7, scale = 'log' }", 1, 2, 4, 8, 16, 32, 64);
    NUMBERS("tiles = { from = 1, to = 4, points = 50, scale = 'log' }", 1, 2, 3, 4);
    NUMBERS("tiles = { from = 1, to = 4, points = 3 }", 1, 2, 4);
}

static uint64_t count_of(const char *text, bool *ret_expanded)
{
    struct binding *b = new_binding();
    struct diags d;
    diags_init(&d);
    bind_text(b, text, &d);
    expect_silence(&d);
    uint64_t n = 0;
    for (size_t i = 0; i < b->model->params.n; i++) {
        if (!b->given[i].is_given) continue;
        n = b->given[i].n;
        *ret_expanded = b->given[i].values != NULL;
    }
    binding_free(b);
    return n;
}

static void bind__counts_a_range_before_it_expands_it(void **state)
{
    (void)state;
    bool expanded;
    double huge = (double)count_of("clock_ghz = { from = 1, to = 2, step = 1e-18 }", &expanded);
    assert_true(fabs(huge - 1e18) < 1e4);
    assert_false(expanded);
    assert_true(count_of("clock_ghz = { from = 1, to = 2, step = 1e-7 }", &expanded) == 10000001);
    assert_true(expanded);
    assert_true(count_of("overhead_us = { from = 0.1, to = 0.7, step = 3e-7 }", &expanded) == 2000001);
    assert_true(count_of("clock_ghz = { from = 1, to = 2, step = 5e-324 }", &expanded) == UINT64_MAX);
    assert_false(expanded);
    assert_true(count_of("clock_ghz = { from = 1, to = 2, points = 9223372036854775807 }", &expanded) == INT64_MAX);
    assert_false(expanded);
    assert_true(count_of("context = { from = 1, to = 1000000, step = 1 }", &expanded) == 1000000);
    assert_true(expanded);
}

static void bind__refuses_ranges_that_make_no_sense(void **state)
{
    (void)state;
    refuse("tiles = { from = 1, to = 8, step = 0 }", 36, "step: 0 is not above 0");
    refuse("tiles = { from = 8, to = 1, step = -1 }", 36, "step: -1 is not above 0");
    refuse("tiles = { from = 8, to = 1, step = 1 }", 9, "the range from 8 to 1 is empty");
    refuse("tiles = { from = 4, to = 4, points = 3 }", 9, "is empty");
    refuse("tiles = { from = 1, to = 8, points = 1 }", 38, "at least 2");
    refuse("tiles = { from = 1, to = 8, points = 2.5 }", 38, "at least 2");
    refuse("tiles = { from = 1, to = inf, step = 1 }", 26, "finite");
    refuse("tiles = { from = nan, to = 2, step = 1 }", 18, "finite");
    refuse("tiles = { from = 1, to = 8, step = inf }", 36, "finite");
    refuse("tiles = { from = 1, to = 8, points = 3, scale = 'cubic' }", 49, "\"linear\" or \"log\"");
    refuse("tiles = { from = 1, to = 8, points = 3, scale = 1 }", 49, "\"linear\" or \"log\"");
    refuse("overhead_us = { from = 0, to = 8, points = 3, scale = 'log' }", 24, "above 0");
    refuse("tiles = { from = 1, to = 8, step = 1, points = 3 }", 9, "step or points, not both");
    refuse("tiles = { from = 1, to = 8, step = 1, scale = 'log' }", 9, "needs points");
    refuse("tiles = { from = 1, to = 8 }", 9, "needs step or points");
    refuse("tiles = { from = 1, step = 1 }", 9, "needs from and to");
    refuse("tiles = { from = '1', to = 8, step = 1 }", 18, "a number is needed, not a string");
    refuse("tiles = { frm = 1, from = 1, to = 8, step = 1 }", 11, "did you mean \"from\"");
    refuse("tiles = { from = 1, to = 4, step = 0.5 }", 9, "1.5, of the range, is not a whole number");
    refuse("tiles = { from = 0, to = 4, step = 1 }", 18, "0 (of the range) is below the minimum 1");
    refuse("tiles = { from = 1, to = 65, step = 1 }", 26, "65 (of the range) is above the maximum 64");
    refuse("clock_ghz = { from = -1e300, to = 1e300, step = 1 }", 22, "below the minimum");
    refuse("clock_ghz = { from = 1, to = 1.0000000000000004, step = 1e-16 }", 13, "too small");
    refuse("llm = { from = 1, to = 2, step = 1 }", 7, "names have no range");
    refuse("pipeline = { from = 1, to = 2, step = 1 }", 12, "names have no range");
}

static void bind__refuses_values_of_another_type(void **state)
{
    (void)state;
    refuse("tiles = '4'", 9, "a number is needed, not a string");
    refuse("tiles = true", 9, "a number is needed, not true or false");
    refuse("clock_ghz = 1979-05-27", 13, "a number is needed, not a date or time");
    refuse("tiles = 4.5", 9, "4.5 is not a whole number");
    refuse("tiles = 1e300", 9, "1e+300 is not a whole number");
    refuse("tiles = nan", 9, "nan is not a whole number");
    refuse("clock_ghz = nan", 13, "not a finite number");
    refuse("clock_ghz = -inf", 13, "not a finite number");
    refuse("clock_ghz = -1", 13, "-1 is below the minimum 0.1");
    refuse("tiles = 9223372036854775807", 9, "above the maximum 64");
    refuse("llm = 7", 7, "a name in quotes is needed, not an integer");
    refuse("pipeline = false", 12, "a name in quotes is needed");
    refuse("bandwidth_gbs = 'auto'", 17, "a number is needed");
}

static void bind__names_the_nearest(void **state)
{
    (void)state;
    refuse("llm = 'tinny'", 7, "did you mean \"tiny\"? There are: tiny, small");
    refuse("llm = 'TINY'", 7, "there is no llm \"TINY\"");
    refuse("pipeline = 'eq8'", 12, "did you mean \"eq7\"? There are: exact, eq7, none");
    refuse("memory = ''", 10, "There are: two-channels, eight-channels");
}

static void bind__refuses_lists_value_by_value(void **state)
{
    (void)state;
    refuse("tiles = []", 9, "the list is empty");
    refuse("tiles = [4, 2, 4]", 16, "4 (third of the list) stands in the list already");
    refuse("tiles = [4, 4.0]", 13, "stands in the list already");
    refuse("overhead_us = [0.0, -0.0]", 21, "stands in the list already");
    refuse("llm = ['tiny', 'tiny']", 16, "tiny (second of the list)");
    refuse("tiles = [1, [2]]", 13, "not a list");
    refuse("tiles = [1, { from = 1, to = 2, step = 1 }]", 13, "not a table");
    refuse("tiles = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]", 41, "0 (number 11 of the list) is below the minimum");
    struct binding *b = new_binding();
    struct diags d;
    diags_init(&d);
    assert_false(bind_text(b, "tiles = [0, 2,\n 65, 'x']", &d));
    const struct complaint want[] = {
        {1, 10, "0 (first of the list) is below"}, {2, 2, "65 (third of the list) is above"}, {2, 6, "not a string"}};
    expect_complaints(&d, want, 3);
    binding_free(b);
}

static void bind__refuses_a_parameter_twice(void **state)
{
    (void)state;
    struct binding *b = new_binding();
    struct diags d;
    diags_init(&d);
    struct toml_doc *doc = toml_read_text("t", "tiles = 4\n", 10, &d);
    const struct toml_node *node = &doc->root.children[0];
    assert_true(binding_set_node(b, field_of(b, "tiles"), doc, node, &d));
    assert_false(binding_set_node(b, field_of(b, "tiles"), doc, node, &d));
    expect_complaint(&d, 1, 9, "given first at t:1:9");
    binding_free(b);
    toml_free(doc);
}

/* --set `assignment` after the defaults. */
static struct binding *set_text(const char *assignment, struct diags *d)
{
    struct binding *b = new_binding();
    diags_init(d);
    bool ok = binding_set_text(b, assignment, d);
    assert_int_equal(ok, d->errors == 0);
    return b;
}

static void bind__sets_from_text(void **state)
{
    (void)state;
    struct diags d;
    struct binding *b = set_text("tiles=8", &d);
    expect_silence(&d);
    assert_true(given_of(b, "tiles")->values[0].i64 == 8);
    assert_int_equal(given_of(b, "tiles")->n, 1);
    binding_free(b);
    b = set_text("clock_ghz=1_0e-1", &d);
    expect_silence(&d);
    assert_true(given_of(b, "clock_ghz")->values[0].f64 == 1);
    binding_free(b);
    static const char *const names[] = {"memory=eight-channels", "memory=\"eight-channels\"", "memory='eight-channels'"};
    for (size_t i = 0; i < 3; i++) {
        b = set_text(names[i], &d);
        expect_silence(&d);
        assert_string_equal(given_of(b, "memory")->values[0].ref->name, "eight-channels");
        binding_free(b);
    }
}

static void bind__refuses_text_that_sets_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *assignment, *part;
    } bad[] = {
        {"tiles", "is not NAME=VALUE"},
        {"", "is not NAME=VALUE"},
        {"=4", "no parameter \"\""},
        {"tile=4", "did you mean \"tiles\""},
        {"tiles=", "is not one value"},
        {"tiles=[2,4]", "is not one value"},
        {"tiles={from=1,to=2,step=1}", "is not one value"},
        {"tiles=4\nbatch=2", "is not one value"},
        {"tiles=four", "is not one value"},
        {"tiles=\"4\"", "a number is needed"},
        {"tiles=0", "below the minimum 1"},
        {"clock_ghz=-1", "below the minimum 0.1"},
        {"clock_ghz=inf", "not a finite number"},
        {"llm=tinny", "did you mean \"tiny\""},
        {"llm=", "is not one value"},
        {"pipeline=\"", "is not one value"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct diags d;
        struct binding *b = set_text(bad[i].assignment, &d);
        expect_complaint(&d, 0, 0, bad[i].part);
        binding_free(b);
    }
}

static void bind__refuses_what_excludes_each_other(void **state)
{
    (void)state;
    struct diags d;
    struct binding *b = set_text("bandwidth_gbs=100", &d);
    assert_true(binding_finish(b, &d));
    assert_true(binding_set_text(b, "channel_gbs=10", &d));
    expect_silence(&d);
    assert_false(binding_finish(b, &d));
    expect_complaint(&d, 0, 0, "bandwidth_gbs and channel_gbs cannot both be given");
    binding_free(b);

    static const char *const texts[] = {"channel_gbs = 10\nbandwidth_gbs = 100\n", "bandwidth_gbs = 100\nchannel_gbs = 10\n"};
    static const int columns[] = {17, 15};
    for (int i = 0; i < 2; i++) { /* the later of the two is to blame */
        b = new_binding();
        struct toml_doc *doc = toml_read_text("t", texts[i], strlen(texts[i]), &d);
        for (size_t k = 0; k < 2; k++) binding_set_node(b, field_of(b, doc->root.children[k].key), doc, &doc->root.children[k], &d);
        assert_false(binding_finish(b, &d));
        expect_complaint(&d, 2, columns[i], "cannot both be given");
        binding_free(b);
        toml_free(doc);
    }
}

/* The defaults of pebble as `text`, with good ones for the rows that no test is about: what is complained about. */
static void refuse_defaults(const char *text, const struct complaint *want, size_t n)
{
    static const char rest[] = "[calibrated.prompt]\nvalue = 1\nfitted_to = 'x'\n"
                               "[calibrated.generate]\nvalue = 0\nfitted_to = 'x'\n";
    char *dir = scratch_new(), *whole = xasprintf("%s%s", text, rest);
    scratch_write(dir, "models/pebble/defaults.toml", whole);
    free(whole);
    struct diags d;
    diags_init(&d);
    struct binding *b = binding_new(registry_find("pebble"), catalog, dir, &d);
    assert_null(b);
    expect_complaints(&d, want, n);
    scratch_remove(dir);
}

static void bind__refuses_defaults_that_are_not_the_parameters(void **state)
{
    (void)state;
    const struct complaint missing[] = {{1, 1, "batch is missing: add it"}, {1, 1, "lanes is missing: add it"}};
    refuse_defaults("llm = 'tiny'\ncontext = 1\nclock_ghz = 1\n", missing, 2);
    const struct complaint other[] = {{6, 10, "layers is 99, but llm = \"tiny\" sets it to"}};
    refuse_defaults("llm = 'tiny'\nbatch = 1\ncontext = 1\nclock_ghz = 1\nlanes = 4\nlayers = 99\n", other, 1);
    const struct complaint unknown[] = {{6, 1, "did you mean \"lanes\""}};
    refuse_defaults("llm = 'tiny'\nbatch = 1\ncontext = 1\nclock_ghz = 1\nlanes = 4\nlane = 4\n", unknown, 1);
    const struct complaint values[] = {{1, 7, "did you mean \"tiny\""},
                                       {2, 9, "below the minimum"},
                                       {3, 11, "not a list"},
                                       {4, 13, "not a table"},
                                       {5, 9, "whole"}};
    refuse_defaults("llm = 'tiy'\nbatch = 0\ncontext = [1, 2]\nclock_ghz = { from = 1, to = 2, step = 1 }\nlanes = 4.5\n", values,
                    5);
    const struct complaint fitted[] = {{5, 13, "calibrated.lanes needs value and fitted_to"}};
    refuse_defaults("llm = 'tiny'\nbatch = 1\ncontext = 1\nclock_ghz = 1\n[calibrated.lanes]\nvalue = 4\n", fitted, 1);
    const struct complaint twice[] = {{6, 13, "lanes is given twice"}};
    refuse_defaults(
        "llm = 'tiny'\nbatch = 1\ncontext = 1\nclock_ghz = 1\nlanes = 4\n[calibrated.lanes]\nvalue = 4\nfitted_to = 'x'\n", twice,
        1);
    const struct complaint stranger[] = {{6, 13, "unknown key \"lame\""}};
    refuse_defaults(
        "llm = 'tiny'\nbatch = 1\ncontext = 1\nclock_ghz = 1\nlanes = 4\n[calibrated.lame]\nvalue = 4\nfitted_to = 'x'\n", stranger,
        1);
    const struct complaint syntax[] = {{1, 5, "is not TOML"}};
    refuse_defaults("llm tiny\n", syntax, 1);
}

static void bind__refuses_a_model_without_defaults(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    assert_null(binding_new(registry_find("toy"), catalog, "/nowhere", &d));
    expect_complaint(&d, 0, 0, "No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bind__takes_every_default),
        cmocka_unit_test(bind__takes_single_values),
        cmocka_unit_test(bind__takes_lists),
        cmocka_unit_test(bind__ranges_by_step_are_exact_decimals),
        cmocka_unit_test(bind__ranges_by_points),
        cmocka_unit_test(bind__counts_a_range_before_it_expands_it),
        cmocka_unit_test(bind__refuses_ranges_that_make_no_sense),
        cmocka_unit_test(bind__refuses_values_of_another_type),
        cmocka_unit_test(bind__names_the_nearest),
        cmocka_unit_test(bind__refuses_lists_value_by_value),
        cmocka_unit_test(bind__refuses_a_parameter_twice),
        cmocka_unit_test(bind__sets_from_text),
        cmocka_unit_test(bind__refuses_text_that_sets_nothing),
        cmocka_unit_test(bind__refuses_what_excludes_each_other),
        cmocka_unit_test(bind__refuses_defaults_that_are_not_the_parameters),
        cmocka_unit_test(bind__refuses_a_model_without_defaults),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
