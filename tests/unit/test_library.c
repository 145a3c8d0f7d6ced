/* libdse: a point told by columns is the point that `--set` names, for every model and every parameter; and what is wrong is
 * told, not printed. */
#include "model_points.h"
#include "space/point.h"

#include <dse/dse.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct dse *library;
static struct dse_problems *problems;

static int open_library(void **state)
{
    problems = dse_problems_new();
    library = dse_open(NULL, problems);
    return library ? set_up(state) : -1;
}

static int close_library(void **state)
{
    dse_close(library);
    dse_problems_free(problems);
    return tear_down(state);
}

static struct dse_points *points_of(const char *model)
{
    struct dse_points *p = dse_points_new(library, model, problems);
    assert_non_null(p);
    return p;
}

/* One value of f, other than the default where there is one, as text. The caller frees it. */
static char *some_value(const struct model *m, const struct field *f, const void *defaults)
{
    char buf[TEXT_NUMBER_MAX];
    (void)m;
    if (f->type == DSE_TYPE_ENUM) return xstrdup(f->choices[1] ? f->choices[1] : f->choices[0]);
    if (f->type == DSE_TYPE_REF) {
        const struct dse_entry *second = catalog_at(catalog, f->kind, 1);
        return xstrdup(second ? second->name : catalog_at(catalog, f->kind, 0)->name);
    }
    const double now = field_number(f, defaults), x = isnan(now) ? f->min : now / 2 >= f->min ? now / 2 : f->min;
    return xstrdup(text_number(buf, f->type == DSE_TYPE_I64 ? floor(x) : x));
}

/* Evaluate one point whose parameter f is an input, and hold its metrics against those of design_point. */
static void compare(const struct model *m, const struct field *f, const char *value)
{
    char *assignment = xasprintf("%s=%s", f->name, value);
    struct design_point one;
    struct diags refused;
    diags_init(&refused);
    if (!design_point_init(&one, m, catalog, (const char *const[]){assignment}, 1, &refused)) { /* no machine can have it */
        design_point_release(&one);
        diags_release(&refused);
        free(assignment);
        return;
    }
    struct dse_points *p = points_of(m->desc->name);
    const bool number = field_is_number(f);
    const double x = number ? strtod(value, NULL) : 0;
    const struct dse_input in = {.name = f->name, .numbers = number ? &x : NULL, .texts = number ? NULL : &value};
    double speed, energy;
    const char *status, *reason;
    const struct dse_output out[] = {{.name = "tokens_per_s", .numbers = &speed},
                                     {.name = "energy_mj", .numbers = &energy},
                                     {.name = "status", .texts = &status},
                                     {.name = "reason", .texts = &reason}};
    assert_true(dse_points_evaluate(p, 1, &in, 1, out, 4, problems));
    if (one.reason) {
        assert_string_equal(status, "infeasible");
        assert_string_equal(reason, one.reason);
        assert_true(isnan(speed));
    } else {
        m->desc->estimate(one.params, one.metrics, NULL);
        assert_string_equal(status, "ok");
        assert_null(reason);
        const double expected = field_number(schema_find(&m->metrics, "tokens_per_s"), one.metrics);
        if (speed != expected) fail_msg("%s with %s: %g, not %g", m->desc->name, assignment, speed, expected);
        const struct field *mj = schema_find(&m->metrics, "energy_mj");
        assert_true(mj->without ? isnan(energy) != 0 : energy == field_number(mj, one.metrics));
    }
    dse_points_free(p);
    design_point_release(&one);
    diags_release(&refused);
    free(assignment);
}

static void library__evaluates_what_set_names_for_every_parameter_of_every_model(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t k = 0; k < n; k++) {
        struct one o;
        assert_true(one_init(&o, &models[k], NULL, 0));
        for (size_t i = 0; i < models[k].params.n; i++) {
            char *value = some_value(&models[k], &models[k].params.fields[i], space_fixed(o.space));
            compare(&models[k], &models[k].params.fields[i], value);
            free(value);
        }
        one_release(&o);
    }
}

/* Two names of the catalog that vary together, a value set for all, and a batch that is used again. */
static void library__follows_names_that_vary(void **state)
{
    (void)state;
    struct dse_points *p = points_of("lad");
    const char *llms[] = {"llama2-7b", "opt-6.7b", "llama2-7b"}, *memories[] = {"hbm2-5cube", "hbm2-5cube", "hbm2-5cube"};
    memories[1] = dse_entry_at(library, "memories", 0);
    const struct dse_input in[] = {{.name = "llm", .texts = llms}, {.name = "memory", .texts = memories}};
    double speeds[3], again[3], gbs[3];
    const struct dse_output out[] = {{.name = "tokens_per_s", .numbers = speeds}, {.name = "channel_gbs", .numbers = gbs}};
    assert_true(dse_points_evaluate(p, 3, in, 2, out, 2, problems));
    assert_true(speeds[0] == speeds[2] && gbs[0] == gbs[2]);
    assert_true(dse_points_set(p, "channel_gbs", "1", problems)); /* what is set wins over what a name sets */
    assert_true(dse_points_evaluate(p, 3, in, 2, (struct dse_output[]){{.name = "channel_gbs", .numbers = gbs}}, 1, problems));
    assert_true(gbs[0] == 1 && gbs[1] == 1);
    assert_true(dse_points_set(p, "channel_gbs", NULL, problems));
    assert_true(dse_points_evaluate(p, 3, in, 2, (struct dse_output[]){{.name = "tokens_per_s", .numbers = again}}, 1, problems));
    assert_memory_equal(speeds, again, sizeof speeds);
    dse_points_free(p);
}

static void library__gives_invalid_inputs_a_status(void **state)
{
    (void)state;
    struct dse_points *p = points_of("lad");
    const double tiles[] = {8, 0, 4.5, (double)NAN, 1e300, 8};
    double speed[6];
    const char *status[6], *reason[6];
    const struct dse_output out[] = {
        {.name = "tokens_per_s", .numbers = speed}, {.name = "status", .texts = status}, {.name = "reason", .texts = reason}};
    assert_true(dse_points_evaluate(p, 6, &(struct dse_input){.name = "tiles", .numbers = tiles}, 1, out, 3, problems));
    for (int i = 1; i < 5; i++) {
        assert_string_equal(status[i], "invalid");
        assert_string_equal(reason[i], "tiles: a whole number from 1 to 256");
        assert_true(isnan(speed[i]));
    }
    assert_string_equal(status[0], "ok");
    assert_true(speed[0] == speed[5]);
    const char *llms[] = {"llama2-7b", "lama2-7b", NULL};
    assert_true(dse_points_evaluate(p, 3, &(struct dse_input){.name = "llm", .texts = llms}, 1, out, 3, problems));
    assert_string_equal(status[0], "ok");
    assert_string_equal(status[1], "invalid");
    assert_string_equal(status[2], "invalid");
    assert_string_equal(dse_problems_text(problems), "");
    dse_points_free(p);
}

static void expect(bool ok, const char *message)
{
    assert_false(ok);
    const char *text = dse_problems_text(problems);
    if (!strstr(text, message)) fail_msg("\"%s\" is not in \"%s\"", message, text);
    assert_non_null(dse_problems_at(problems, 0));
    dse_problems_clear(problems);
    assert_null(dse_problems_at(problems, 0));
}

static void library__tells_what_is_wrong(void **state)
{
    (void)state;
    expect(dse_open("/nowhere", problems) != NULL, "/nowhere/catalog");
    expect(dse_points_new(library, "lda", problems) != NULL, "did you mean \"lad\"?");
    expect(dse_add_catalog(library, "/nowhere.toml", problems), "/nowhere.toml");
    struct dse_points *p = points_of("lad");
    expect(dse_points_set(p, "tile", "8", problems), "did you mean \"tiles\"?");
    expect(dse_points_set(p, "tiles", "0", problems), "tiles: 0 is below the minimum 1");
    expect(dse_points_set_fidelity(p, "exact", problems), "closed-form, event-level");
    const double x = 8;
    double y;
    const char *text = "8";
    const struct dse_input in = {.name = "tiles", .numbers = &x};
    const struct dse_output out = {.name = "tokens_per_s", .numbers = &y};
    expect(dse_points_evaluate(p, 1, &(struct dse_input){.name = "tile", .numbers = &x}, 1, &out, 1, problems), "\"tiles\"");
    expect(dse_points_evaluate(p, 1, &(struct dse_input){.name = "tiles", .texts = &text}, 1, &out, 1, problems), "numbers");
    expect(dse_points_evaluate(p, 1, (struct dse_input[]){in, in}, 2, &out, 1, problems), "twice");
    expect(dse_points_evaluate(p, 1, &in, 1, &(struct dse_output){.name = "tokens", .numbers = &y}, 1, problems), "tokens");
    expect(dse_points_evaluate(p, 1, &in, 1, &(struct dse_output){.name = "status", .numbers = &y}, 1, problems), "texts");
    assert_true(dse_points_set(p, "tiles", "8", problems));
    expect(dse_points_evaluate(p, 1, &in, 1, &out, 1, problems), "set for all points already");
    assert_false(dse_points_set(p, "tiles", "0", NULL)); /* nobody wants to know */
    assert_true(dse_points_evaluate(p, 1, NULL, 0, &out, 1, problems));
    assert_true(dse_points_set_fidelity(p, "event-level", problems));
    dse_points_free(p);
}

static void library__describes_its_models(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t k = 0; k < n; k++) assert_string_equal(dse_model_at(library, k), models[k].desc->name);
    assert_null(dse_model_at(library, n));
    const struct dse_column *llm = dse_column_find(library, "lad", "llm"), *rate = dse_column_find(library, "lad", "tokens_per_s");
    assert_string_equal(llm->catalog, "llms");
    assert_true(llm->role == DSE_PARAMETER && llm->type == DSE_TEXT && rate->role == DSE_METRIC && rate->better == 1);
    assert_null(dse_column_find(library, "lad", "nothing"));
    assert_null(dse_column_at(library, "nobody", DSE_METRIC, 0));
    size_t i = 0;
    while (dse_column_at(library, "lad", DSE_PARAMETER, i)) i++;
    assert_int_equal(i, registry_find("lad")->params.n);
    assert_null(dse_entry_at(library, "nothing", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library__evaluates_what_set_names_for_every_parameter_of_every_model),
        cmocka_unit_test(library__follows_names_that_vary),
        cmocka_unit_test(library__gives_invalid_inputs_a_status),
        cmocka_unit_test(library__tells_what_is_wrong),
        cmocka_unit_test(library__describes_its_models),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
