/* What every model of the registry must satisfy, before its author has written a test of its own. */
#include "model/ratios.h"
#include "model/reason.h"
#include "model_checks.h"

#include <dirent.h>
#include <regex.h>

static bool ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && strcmp(s + n - k, suffix) == 0;
}

/* The unit is in the name, and a count or a ratio has none. */
static void check_field(const struct model *m, const struct field *f)
{
    static const char *const reserved[] = {"id", "run", "point", "status", "reason", "fidelity", "first_id"};
    if (!f->doc || !*f->doc || ends_with(f->doc, "."))
        fail_msg("%s.%s: its doc is missing or ends in a full stop", m->desc->name, f->name);
    if (!f->source) fail_msg("%s.%s has no source", m->desc->name, f->name);
    const struct dse_unit *unit = unit_find(m->desc->units, f->unit);
    if (!unit) fail_msg("%s.%s: unit \"%s\" is not in the list of units", m->desc->name, f->name, f->unit);
    if (!ends_with(f->name, unit->suffix))
        fail_msg("%s.%s: a name in %s ends in %s", m->desc->name, f->name, f->unit, unit->suffix);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) assert_string_not_equal(f->name, reserved[i]);
    if (f->type == DSE_TYPE_ENUM)
        assert_non_null(f->choices[0]);
    else if (f->type != DSE_TYPE_REF && !(f->min < f->max))
        fail_msg("%s.%s has an empty range", m->desc->name, f->name);
}

static void models__rows_have_unit_doc_source_and_a_unique_name(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    assert_true(n > 0);
    for (size_t m = 0; m < n; m++) {
        assert_true(models[m].params.n <= SPACE_AXES_MAX);
        for (size_t i = 0; i < models[m].params.n; i++) {
            check_field(&models[m], &models[m].params.fields[i]);
            if (!*models[m].params.fields[i].source)
                fail_msg("%s.%s does not say where it comes from", models[m].desc->name, models[m].params.fields[i].name);
            assert_null(schema_find(&models[m].metrics, models[m].params.fields[i].name));
            assert_ptr_equal(schema_find(&models[m].params, models[m].params.fields[i].name), &models[m].params.fields[i]);
        }
        for (size_t i = 0; i < models[m].metrics.n; i++) {
            check_field(&models[m], &models[m].metrics.fields[i]);
            assert_ptr_equal(schema_find(&models[m].metrics, models[m].metrics.fields[i].name), &models[m].metrics.fields[i]);
            if (models[m].metrics.fields[i].mean == DSE_MEAN_BY_UNIT)
                fail_msg("%s.%s does not say what it is measured by (.mean)", models[m].desc->name,
                         models[m].metrics.fields[i].name);
        }
        for (size_t i = 0; i < models[m].equations.n; i++) {
            const struct field *f = &models[m].equations.fields[i];
            check_field(&models[m], f);
            assert_ptr_equal(schema_find(&models[m].equations, f->name), f);
            assert_null(schema_find(&models[m].params, f->name));
            assert_null(schema_find(&models[m].metrics, f->name));
        }
        assert_true((models[m].equations.n > 0) == (models[m].desc->equate != NULL));
    }
}

/* Every sweep may have [requests]: a model takes their lengths, and says what weighs them. */
static void models__can_be_averaged_over_requests(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        const struct schema *params = &models[m].params, *metrics = &models[m].metrics;
        assert_true(schema_find(params, "context") || (schema_find(params, "prompt") && schema_find(params, "generate")));
        const struct field *rate = schema_find(metrics, "tokens_per_s"), *latency = schema_find(metrics, "latency_us");
        assert_true(rate && !rate->without && latency && !latency->without);
        assert_true(!schema_find(params, "requests") && !schema_find(metrics, "requests"));
    }
}

/* Every sweep may have a [baseline] and several models: their columns are nobody else's, and so are the views that hold them. */
static void models__leave_names_to_comparisons(void **state)
{
    (void)state;
    static const char *const tables[] = {"comparison", "front", "run", "block", "column_info"};
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        for (const struct dse_metric *r = ratio_metrics; r->type != DSE_TYPE_END; r++)
            assert_true(!schema_find(&models[m].params, r->name) && !schema_find(&models[m].metrics, r->name));
        assert_true(!schema_find(&models[m].params, "model") && !schema_find(&models[m].metrics, "model"));
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) assert_string_not_equal(models[m].desc->name, tables[i]);
    }
}

static void models__defaults_are_complete_in_range_and_feasible(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        struct one o;
        bool ok = one_init(&o, &models[m], NULL, 0);
        diags_print(&diags, stderr, false);
        assert_true(ok);
        const void *params = space_fixed(o.space);
        const char *reason = models[m].desc->check ? models[m].desc->check(params) : NULL;
        if (reason) fail_msg("the defaults of %s are infeasible: %s", models[m].desc->name, reason);
        for (size_t i = 0; i < models[m].params.n; i++) {
            const struct field *f = &models[m].params.fields[i];
            if (f->type != DSE_TYPE_F64 && f->type != DSE_TYPE_I64) continue;
            double v = field_number(f, params);
            if (!(v >= f->min && v <= f->max)) fail_msg("%s.%s: default %g is out of range", models[m].desc->name, f->name, v);
        }
        check_closed_form(&models[m], params);
        one_release(&o);
    }
}

/* Anything that the ranges allow is either refused with a reason or gives finite numbers that add up. Half of the points change a
 * few parameters of the defaults only, so that many are feasible. */
static void models__any_point_in_range_is_refused_or_finite(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        struct one o;
        assert_true(one_init(&o, &models[m], NULL, 0));
        void *params = xmalloc(models[m].desc->params_size);
        size_t feasible = 0;
        for (int trial = 0; trial < 20000; trial++) {
            if (!random_point(&models[m], space_fixed(o.space), trial % 2 ? 1 : 0.1, params)) continue;
            feasible++;
            check_closed_form(&models[m], params);
        }
        assert_true(feasible > 1000);
        free(params);
        one_release(&o);
    }
}

/* Where something is too small, what is needed is more than what is there, and the text says both. */
static void models__what_does_not_fit_says_how_much(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        const struct dse_model *desc = models[m].desc;
        struct one o;
        char setting[] = "capacity_gib=0.5";
        assert_true(one_init(&o, &models[m], (char *const[]){setting}, 1));
        const char *reason = desc->check(space_fixed(o.space));
        assert_non_null(reason);
        char *text = reason_text(desc, space_fixed(o.space), reason);
        if (!strstr(text, " GiB needed, 0.5 GiB there")) fail_msg("%s: \"%s\" says no numbers", desc->name, text);
        free(text);
        void *params = xmalloc(desc->params_size);
        size_t short_of = 0;
        for (int trial = 0; trial < 5000; trial++) {
            struct dse_shortage s;
            if (random_point(&models[m], space_fixed(o.space), 0.1, params)) continue;
            reason = desc->check(params);
            if (!desc->shortage(params, reason, &s)) continue;
            short_of++;
            if (!(s.needed > s.there && isfinite(s.needed)))
                fail_msg("%s: %s: %g needed, %g there", desc->name, reason, s.needed, s.there);
        }
        assert_true(short_of > 100);
        free(params);
        one_release(&o);
    }
}

/* Equations can be asked for at any point, feasible or not. */
static void models__equations_are_finite_or_absent_at_any_point(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        if (!models[m].desc->equate) continue;
        struct one o;
        assert_true(one_init(&o, &models[m], NULL, 0));
        void *params = xmalloc(models[m].desc->params_size), *equations = xcalloc(1, models[m].desc->equations_size);
        for (int trial = 0; trial < 100; trial++) {
            random_point(&models[m], space_fixed(o.space), trial % 2 ? 1 : 0.1, params);
            models[m].desc->equate(params, equations);
            for (size_t i = 0; i < models[m].equations.n; i++) {
                double v = field_number(&models[m].equations.fields[i], equations);
                if (isinf(v)) fail_msg("%s: %s is infinite", models[m].desc->name, models[m].equations.fields[i].name);
            }
        }
        free(params);
        free(equations);
        one_release(&o);
    }
}

static int is_source(const struct dirent *d)
{
    return ends_with(d->d_name, ".c") || ends_with(d->d_name, ".h");
}

/* Tags like E12 in one source; each must be in the README. Returns how many there are. */
static int check_tags(const regex_t *cited, const char *code, const char *readme, const char *model)
{
    regmatch_t at;
    int found = 0;
    for (const char *s = code; regexec(cited, s, 1, &at, 0) == 0; s += at.rm_so + 1) {
        const char *tag = strchr(s + at.rm_so, 'E');
        char *wanted = xasprintf("**E%ld**", strtol(tag + 1, NULL, 10));
        if (!strstr(readme, wanted)) fail_msg("%s cites %s, which its README does not have", model, wanted);
        free(wanted);
        found++;
    }
    return found;
}

/* Each equation that the code cites is in the model's README. */
static void models__readme_has_every_equation_that_the_code_cites(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    regex_t cited;
    assert_int_equal(regcomp(&cited, "\\(E[0-9]+\\)|[^A-Za-z0-9_]E[0-9]+[^A-Za-z0-9_.]", REG_EXTENDED), 0);
    for (size_t m = 0; m < n; m++) {
        char *folder = xasprintf("%s/models/%s", catalog_data_dir(), models[m].desc->name), *readme, *code;
        char *readme_name = xasprintf("%s/README.md", folder);
        struct dirent **files;
        int found = 0, count = scandir(folder, &files, is_source, alphasort);
        assert_true(count > 0 && text_read_file(readme_name, 1 << 20, &readme, NULL, &diags));
        for (int i = 0; i < count; i++) {
            char *name = xasprintf("%s/%s", folder, files[i]->d_name);
            assert_true(text_read_file(name, 1 << 20, &code, NULL, &diags));
            found += check_tags(&cited, code, readme, models[m].desc->name);
            free(code);
            free(name);
            free(files[i]);
        }
        assert_true(found > 0);
        free(files);
        free(readme);
        free(readme_name);
        free(folder);
    }
    regfree(&cited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models__rows_have_unit_doc_source_and_a_unique_name),
        cmocka_unit_test(models__can_be_averaged_over_requests),
        cmocka_unit_test(models__leave_names_to_comparisons),
        cmocka_unit_test(models__defaults_are_complete_in_range_and_feasible),
        cmocka_unit_test(models__any_point_in_range_is_refused_or_finite),
        cmocka_unit_test(models__what_does_not_fit_says_how_much),
        cmocka_unit_test(models__equations_are_finite_or_absent_at_any_point),
        cmocka_unit_test(models__readme_has_every_equation_that_the_code_cites),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
