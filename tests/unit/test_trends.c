/* The monotonicities that models declare (struct dse_trend) hold at random points, and the ones that every model owes are declared.
 */
#include "model_points.h"
#include "samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The value of a parameter times `factor`, rounded up for a whole number; false when it leaves the range or does not grow. */
static bool grow(const struct field *f, void *params, double factor)
{
    double old = field_number(f, params), v = f->type == DSE_TYPE_I64 ? ceil(old * factor) : old * factor;
    if (old == 0) v = f->type == DSE_TYPE_I64 ? ceil(factor) : (f->max < 1 ? f->max : 1) * (factor - 1) / factor;
    if (!(v > old) || v > f->max) return false;
    field_set(f, params, f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)v} : (struct value){.f64 = v});
    return true;
}

/* One NAME=VALUE of an enumeration. */
static void set_choice(const struct model *m, const char *name, const char *value, void *params)
{
    const struct field *f = schema_find(&m->params, name);
    assert_true(f && f->type == DSE_TYPE_ENUM);
    int32_t i = 0;
    while (f->choices[i] && strcmp(f->choices[i], value) != 0) i++;
    if (!f->choices[i]) fail_msg("%s: %s is not a value of %s", m->desc->name, value, name);
    field_set(f, params, (struct value){.choice = i});
}

/* NAME=VALUE, separated by commas. */
static void set_where(const struct model *m, const struct dse_trend *t, void *params)
{
    for (const char *s = t->where; s && *s;) {
        const char *equals = strchr(s, '=');
        assert_non_null(equals);
        size_t length = strcspn(equals + 1, ",");
        char *name = xstrndup(s, (size_t)(equals - s)), *value = xstrndup(equals + 1, length);
        set_choice(m, name, value, params);
        free(name);
        free(value);
        s = equals + 1 + length;
        if (*s == ',') s++;
    }
}

static bool estimate(const struct model *m, void *params, void *metrics)
{
    if (m->desc->resolve) m->desc->resolve(params);
    if (m->desc->check && m->desc->check(params)) return false;
    m->desc->estimate(params, metrics, NULL);
    return true;
}

/* A whole factor for a pair that must grow alike; small steps as often as large ones. */
static double random_factor(const struct dse_trend *t)
{
    if (t->along) return floor(2 + 3 * uniform());
    return 1 + (uniform() < 0.5 ? 0.05 : 7) * uniform();
}

struct counts {
    int points, tried, feasible;
};

static void check_trend(const struct model *m, const struct dse_trend *t, const void *base, struct counts *counts)
{
    const struct field *param = schema_find(&m->params, t->param), *metric = schema_find(&m->metrics, t->metric);
    const struct field *along = t->along ? schema_find(&m->params, t->along) : NULL;
    if (!param || !metric || (t->along && !along))
        fail_msg("%s: a trend of %s and %s names what is not there", m->desc->name, t->param, t->metric);
    assert_true(param->type == DSE_TYPE_F64 || param->type == DSE_TYPE_I64);
    assert_true(t->effect == DSE_LESS || t->effect == DSE_MORE);
    void *params = xmalloc(m->desc->params_size), *before = xcalloc(1, m->desc->metrics_size),
         *after = xcalloc(1, m->desc->metrics_size);
    for (counts->tried = 0; counts->tried < counts->points; counts->tried++) {
        double factor = random_factor(t);
        random_point(m, base, counts->tried % 4 == 0 ? 1 : 0.15 * uniform(), params);
        set_where(m, t, params);
        if (!estimate(m, params, before) || !grow(param, params, factor)) continue;
        if (along && !grow(along, params, factor)) continue;
        if (!estimate(m, params, after)) continue;
        counts->feasible++;
        double x = field_number(metric, before), y = field_number(metric, after);
        if (t->effect == DSE_MORE ? y >= x - 1e-9 * fabs(x) : y <= x + 1e-9 * fabs(x)) continue;
        for (size_t i = 0; i < m->params.n; i++) {
            char buf[TEXT_NUMBER_MAX];
            print_message("%s=%s\n", m->params.fields[i].name,
                          value_text(&m->params.fields[i], field_get(&m->params.fields[i], params), buf));
        }
        fail_msg("%s: %s goes from %.17g to %.17g when %s grows by %g to the value above", m->desc->name, t->metric, x, y, t->param,
                 factor);
    }
    free(params);
    free(before);
    free(after);
}

static void trends__hold_at_random_points(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        struct one o;
        assert_true(one_init(&o, &models[m], NULL, 0));
        for (const struct dse_trend *t = models[m].desc->trends; t && t->param; t++) {
            struct counts counts = {.points = samples(1500, 10000)};
            check_trend(&models[m], t, space_fixed(o.space), &counts);
            print_message("%s: %s over %s: %d of %d points could grow\n", models[m].desc->name, t->metric, t->param,
                          counts.feasible, counts.tried);
            assert_true(counts.feasible > counts.points / 50);
        }
        one_release(&o);
    }
}

static bool declares(const struct model *m, const char *param, const char *metric)
{
    for (const struct dse_trend *t = m->desc->trends; t && t->param; t++)
        if (strcmp(t->param, param) == 0 && strcmp(t->metric, metric) == 0) return true;
    return false;
}

/* More bandwidth is never slower, and a longer context never cheaper. */
static void trends__every_model_declares_bandwidth_and_context(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        if (!declares(&models[m], "bandwidth_gbs", "tokens_per_s"))
            fail_msg("%s says nothing of more bandwidth", models[m].desc->name);
        if (!declares(&models[m], "context", "latency_us") && !declares(&models[m], "context", "tokens_per_s"))
            fail_msg("%s says nothing of a longer context", models[m].desc->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trends__hold_at_random_points),
        cmocka_unit_test(trends__every_model_declares_bandwidth_and_context),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
