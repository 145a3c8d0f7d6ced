/* Elasticities: derivatives of models in TOML against differences of the models themselves, and what is said of steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model_points.h"
#include "samples.h"
#include "space/sensitivity.h"
#include "toml_examples.h"
#include "toml_model/internal.h"

static int load(void **state)
{
    return set_up(state) == 0 && load_toml_examples(catalog_data_dir()) ? 0 : -1;
}

static const struct model *example(size_t i)
{
    return registry_find(toml_examples[i].model);
}

/* Metrics at a point and beside it, by one way of moving it. */
struct around {
    void *at, *low, *high, *lower, *higher;
};

static void around_init(struct around *a, const struct model *m)
{
    void **all[] = {&a->at, &a->low, &a->high, &a->lower, &a->higher};
    for (size_t i = 0; i < 5; i++) *all[i] = xcalloc(1, m->desc->metrics_size);
}

static void around_release(struct around *a)
{
    void *const all[] = {a->at, a->low, a->high, a->lower, a->higher};
    for (size_t i = 0; i < 5; i++) free(all[i]);
}

static const double near_step = 0x1p-18, far_step = 0x1p-16;

/* How far the slopes of both sides are apart. */
static double bend(double low, double at, double high, double step)
{
    return (high - 2 * at + low) / (step * at);
}

/* A metric is smooth where two steps agree, and where both sides would have one slope if there were no step. Returns whether it was
 * compared. */
static bool compare(const struct field *f, const struct around *a, const struct slope *s, bool is_broken, const char *variable)
{
    const double at = field_number(f, a->at), low = field_number(f, a->low), high = field_number(f, a->high),
                 lower = field_number(f, a->lower), higher = field_number(f, a->higher), near = (high - low) / (2 * near_step * at),
                 far = (higher - lower) / (2 * far_step * at), off = 1e-7 + 1e-6 * fabs(near),
                 corner = (4 * bend(low, at, high, near_step) - bend(lower, at, higher, far_step)) / 3;
    if (!isfinite(far) || fabs(far - near) > 1e-8 || fabs(corner) > off) return false;
    if (isnan(s->is) && is_broken) return false;
    if (!(fabs(s->is - near) <= off))
        fail_msg("%s by %s: the derivative is %.12g, and the difference %.12g", f->name, variable, s->is, near);
    return true;
}

static int compare_all(const struct model *m, const struct around *a, const struct slope *slopes, const char *variable)
{
    int compared = 0;
    bool is_broken = false; /* a look-up has no number beside the point */
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        is_broken = is_broken || (!isnan(field_number(f, a->at)) && isnan(field_number(f, a->high)));
    }
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        const bool has_percent = field_is_number(f) && !f->without && field_number(f, a->at) != 0;
        if (has_percent) compared += compare(f, a, &slopes[i], is_broken, variable);
    }
    return compared;
}

/* ---- parameters -------------------------------------------------------------------------------------------------------------- */

static void estimate_at(const struct model *m, const void *params, const struct field *f, double x, void *metrics)
{
    void *moved = xcalloc(1, m->desc->params_size);
    memcpy(moved, params, m->desc->params_size);
    field_set(f, moved, (struct value){.f64 = x});
    m->desc->estimate(moved, metrics, NULL);
    free(moved);
}

static int compare_params(const struct model *m, const void *params)
{
    struct slope_list l;
    struct around a;
    int compared = 0;
    around_init(&a, m);
    m->slopes->at(m->slopes->object, &m->metrics, params, &l);
    assert_int_equal(l.n_metrics, m->metrics.n);
    for (size_t i = 0; i < l.n; i++) {
        const struct field *f = l.variables[i].param;
        if (!f || f->type != DSE_TYPE_F64) continue;
        const double x = field_number(f, params);
        estimate_at(m, params, f, x, a.at);
        estimate_at(m, params, f, x * (1 - near_step), a.low);
        estimate_at(m, params, f, x * (1 + near_step), a.high);
        estimate_at(m, params, f, x * (1 - far_step), a.lower);
        estimate_at(m, params, f, x * (1 + far_step), a.higher);
        compared += compare_all(m, &a, &l.slopes[i * l.n_metrics], f->name);
    }
    slope_list_release(&l);
    around_release(&a);
    return compared;
}

static void derivatives_by_parameters__are_differences(void **state)
{
    (void)state;
    for (size_t e = 0; e < TOML_EXAMPLES; e++) {
        const struct model *m = example(e);
        struct one o;
        int compared = 0, points = 0;
        assert_true(one_init(&o, m, NULL, 0));
        void *params = xcalloc(1, m->desc->params_size);
        memcpy(params, space_fixed(o.space), m->desc->params_size);
        compared += compare_params(m, params);
        for (int trial = 0; trial < 300 * samples(1, 10); trial++) {
            if (!random_point(m, space_fixed(o.space), 0.1, params)) continue;
            compared += compare_params(m, params);
            points++;
        }
        print_message("%s: %d numbers at %d points\n", m->desc->name, compared, points + 1);
        assert_true(compared > 50);
        free(params);
        one_release(&o);
    }
}

/* ---- constants --------------------------------------------------------------------------------------------------------------- */

/* Where a line and a column are in a text of ASCII. */
static const char *place(const char *text, struct srcloc loc)
{
    for (int line = 1; line < loc.line; line++) text = strchr(text, '\n') + 1;
    return text + loc.column - 1;
}

/* Metrics of the model whose file has a share more at the place. False: that is another file. */
static bool estimate_with(const struct model *m, const void *params, struct srcloc loc, double share, void *metrics)
{
    const char *text = m->made.source, *at = place(text, loc);
    char *end;
    const double number = strtod(at, &end);
    assert_true(end > at);
    char *changed = xasprintf("%.*s%.17g%s", (int)(at - text), text, number * (1 + share), end);
    struct diags found;
    diags_init(&found);
    struct toml_doc *doc = toml_read_text(m->made.given, changed, strlen(changed), &found);
    struct toml_model *other = doc ? toml_model_new(doc, false, NULL, &found) : NULL;
    if (other) point_estimate(other, params, metrics, NULL);
    toml_model_free(other);
    diags_release(&found);
    free(changed);
    return other != NULL;
}

static void derivatives_by_constants__are_differences_of_changed_files(void **state)
{
    (void)state;
    for (size_t e = 0; e < TOML_EXAMPLES; e++) {
        const struct model *m = example(e);
        struct one o;
        struct around a;
        struct slope_list l;
        int compared = 0, constants = 0;
        around_init(&a, m);
        assert_true(one_init(&o, m, NULL, 0));
        const void *params = space_fixed(o.space);
        m->desc->estimate(params, a.at, NULL);
        m->slopes->at(m->slopes->object, &m->metrics, params, &l);
        for (size_t i = 0; i < l.n; i++) {
            const struct slope_variable *v = &l.variables[i];
            if (v->param || strcmp(v->loc.file, m->made.given) != 0) continue; /* or it stands in a file that is included */
            assert_true(v->loc.line > 0 && v->loc.column > 0);
            const bool ok =
                estimate_with(m, params, v->loc, -near_step, a.low) && estimate_with(m, params, v->loc, near_step, a.high) &&
                estimate_with(m, params, v->loc, -far_step, a.lower) && estimate_with(m, params, v->loc, far_step, a.higher);
            if (ok) constants++, compared += compare_all(m, &a, &l.slopes[i * l.n_metrics], v->name);
        }
        print_message("%s: %d numbers of %d constants\n", m->desc->name, compared, constants);
        assert_true(constants > 0 && compared > constants);
        slope_list_release(&l);
        around_release(&a);
        one_release(&o);
    }
}

/* ---- the list ---------------------------------------------------------------------------------------------------------------- */

static const struct elasticity *find(const struct design_point *p, const struct sensitivity *s, const char *metric, const char *of)
{
    const size_t at = schema_index(&p->model->metrics, schema_find(&p->model->metrics, metric));
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].metric == at && s->list[i].variable->param && strcmp(s->list[i].variable->param->name, of) == 0)
            return &s->list[i];
    fail_msg("nothing is said of %s by %s", metric, of);
    return NULL;
}

static void steps__are_told(void **state)
{
    (void)state;
    struct design_point p;
    struct sensitivity s;
    const char *const set[] = {"context=512", "bandwidth_gbs=280"};
    assert_true(design_point_init(&p, registry_find("veda"), catalog, set, 2, &diags));
    sensitivity_of(&p, &s);
    const struct elasticity *rows = find(&p, &s, "tokens_per_s", "pe_rows"), *clock = find(&p, &s, "tokens_per_s", "clock_ghz"),
                            *end = find(&p, &s, "tokens_per_s", "dram_efficiency");
    assert_true(rows->is == 0 && rows->through_steps > 0.1 && strstr(rows->note, "0 by a step"));
    assert_true(clock->is > 0.1 && clock->is < 1 && clock->way == ELASTICITY_DERIVATIVE && !clock->note);
    assert_true(end->way == ELASTICITY_DIFFERENCE && isnan(end->up) && strstr(end->note, "above: its range ends here"));
    assert_int_equal(find(&p, &s, "area_mm2", "buffer_kib")->way, ELASTICITY_MIXED);
    sensitivity_release(&s);
    design_point_release(&p);
}

/* Time is in proportion to 1 / rate, if all rates grow together. */
static void rates__are_all_of_the_time(void **state)
{
    (void)state;
    struct design_point p;
    struct sensitivity s;
    const char *const set[] = {"bandwidth_gbs=200"};
    assert_true(design_point_init(&p, registry_find("array"), catalog, set, 1, &diags));
    sensitivity_of(&p, &s);
    const double sum = find(&p, &s, "latency_us", "clock_ghz")->is + find(&p, &s, "latency_us", "bandwidth_gbs")->is;
    assert_true(fabs(sum + 1) < 1e-8);
    for (size_t i = 1; i < s.n; i++)
        if (s.list[i].metric == s.list[i - 1].metric) assert_true(fabs(s.list[i].is) <= fabs(s.list[i - 1].is));
    sensitivity_release(&s);
    design_point_release(&p);
}

static void sides__that_differ_give_the_flatter_one(void **state)
{
    (void)state;
    const struct two_sides smooth = two_sides_of(0.99, 1, 1.01, 0.01), corner = two_sides_of(0.98, 1, 1.01, 0.01),
                           step = two_sides_of(1, 1, 2, 0.01), end = two_sides_of((double)NAN, 1, 1.03, 0.01);
    assert_true(!smooth.differ && fabs(smooth.is - 1) < 1e-9);
    assert_true(corner.differ && fabs(corner.is - 1) < 1e-9 && fabs(corner.down - 2) < 1e-9);
    assert_true(step.differ && step.is == 0);
    assert_true(!end.differ && fabs(end.is - 3) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_by_parameters__are_differences),
        cmocka_unit_test(derivatives_by_constants__are_differences_of_changed_files),
        cmocka_unit_test(steps__are_told),
        cmocka_unit_test(rates__are_all_of_the_time),
        cmocka_unit_test(sides__that_differ_give_the_flatter_one),
    };
    return cmocka_run_group_tests(tests, load, tear_down);
}
