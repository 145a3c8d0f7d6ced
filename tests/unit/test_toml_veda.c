/* VEDA's closed form in TOML (examples/veda.toml) against the model in C, at random points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model_points.h"
#include "toml_model/toml_model.h"
#include "veda/veda.h"

static const struct model *in_c, *in_toml;

static int load(void **state)
{
    if (set_up(state) != 0) return -1;
    char *file = xasprintf("%s/examples/veda.toml", catalog_data_dir());
    const bool ok = toml_model_load(file, &diags);
    free(file);
    diags_print(&diags, stderr, false);
    in_c = registry_find("veda");
    in_toml = registry_find("veda_toml");
    return ok ? 0 : -1;
}

/* The parameters that both have. */
static void copy(const void *from, void *to)
{
    for (size_t i = 0; i < in_toml->params.n; i++) {
        const struct field *f = &in_toml->params.fields[i], *c = schema_find(&in_c->params, f->name);
        assert_non_null(c);
        assert_int_equal(c->type, f->type);
        field_set(f, to, field_get(c, from));
    }
}

/* What a number is alike to: itself; what is left of a difference of times, the time of the step. */
static double scale_of(const struct field *f, double number, const void *metrics)
{
    const bool left = strstr(f->name, "_exposed_us") != NULL;
    return left ? field_number(schema_find(&in_c->metrics, "latency_us"), metrics) : fabs(number);
}

static void assert_same_metrics(const void *c, const void *toml, double *worst)
{
    for (size_t i = 0; i < in_toml->metrics.n; i++) {
        const struct field *f = &in_toml->metrics.fields[i], *of = schema_find(&in_c->metrics, f->name);
        assert_non_null(of);
        if (f->without) continue;
        if (f->type == DSE_TYPE_ENUM) {
            assert_int_equal(field_get(of, c).choice, field_get(f, toml).choice);
            continue;
        }
        const double a = field_number(of, c), b = field_number(f, toml);
        if (a == b || (isnan(a) && isnan(b))) continue;
        const double off = fabs(a - b) / scale_of(of, a, c);
        if (!(off <= 1e-12)) fail_msg("%s is %.17g in C and %.17g in TOML", f->name, a, b);
        *worst = fmax(*worst, off);
    }
}

/* A point that VEDA in C refuses, for what its chip is made of for example, is no point of the other. */
static void veda__is_the_same_in_toml(void **state)
{
    (void)state;
    struct one o;
    assert_true(one_init(&o, in_c, NULL, 0));
    void *c = xcalloc(1, in_c->desc->params_size), *toml = xcalloc(1, in_toml->desc->params_size);
    void *c_metrics = xcalloc(1, in_c->desc->metrics_size), *toml_metrics = xcalloc(1, in_toml->desc->metrics_size);
    int compared = 0;
    double worst = 0;
    for (int trial = 0; trial < 20000; trial++) {
        const double share = trial % 2 ? 0.1 : 0.3;
        const bool feasible = random_point(in_c, space_fixed(o.space), share, c);
        if (!feasible || dse_workload_unknown(&((const struct veda_params *)c)->workload, DSE_CAN_SCALES)) continue;
        copy(c, toml);
        const char *why = in_toml->desc->check(toml);
        if (why) fail_msg("in TOML it is refused: %s", why);
        in_c->desc->estimate(c, c_metrics, NULL);
        in_toml->desc->estimate(toml, toml_metrics, NULL);
        assert_same_metrics(c_metrics, toml_metrics, &worst);
        compared++;
    }
    print_message("%d points of %zu metrics, alike to %.1g\n", compared, in_toml->metrics.n, worst);
    assert_true(compared > 500);
    free(c);
    free(toml);
    free(c_metrics);
    free(toml_metrics);
    one_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(veda__is_the_same_in_toml)};
    return cmocka_run_group_tests_name("toml_veda", tests, load, tear_down);
}
