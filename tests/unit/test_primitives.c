/* What primitives of equations declare that they read: blocks of points, boxes and the plans of a model rely on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "graph/primitive.h"
#include "model_points.h"
#include "samples.h"
#include "toml_examples.h"

/* A model, and where its groups stand among its parameters: one has all groups but that of LAD's decoding, and LAD has this one. */
static const struct model *model;
static struct group_places places;
static const char *const models[] = {"veda", "lad"};
enum { MODELS = sizeof models / sizeof *models };

static void look_at(int m)
{
    model = registry_find(models[m]);
    places = (struct group_places){0};
    for (const struct dse_param *p = model->desc->params; p->type != DSE_TYPE_END; p++)
        for (int g = 0; g < GROUPS; g++) {
            if (p->type != DSE_TYPE_EMBED || strcmp(p->name, group_rows[g].name) != 0) continue;
            places.has[g] = true;
            places.offset[g] = p->offset;
        }
}

/* Is it asked of the model at hand? Each is asked of the first that has its groups. */
static bool is_asked(const struct primitive *p)
{
    return (p->groups >> GROUP_LOCALITY & 1) == (model == registry_find("lad"));
}

static int load(void **state)
{
    if (set_up(state) != 0 || !load_toml_examples(catalog_data_dir())) return -1;
    const unsigned others = 1u << GROUP_LOCALITY | 1u << GROUP_EVENTS | 1u << GROUP_SAMPLING; /* no primitive reads events */
    look_at(1);
    const bool has_locality = groups_has(&places, 1u << GROUP_LOCALITY);
    look_at(0);
    return has_locality && groups_has(&places, ((1u << GROUPS) - 1) & ~others) ? 0 : -1;
}

/* The parameter that an argument names: the first of the catalog. */
static double reference(const char *plural)
{
    const char *name = strcmp(plural, "srams") == 0 ? "sram" : "technology";
    return (double)schema_find(&model->params, name)->offset;
}

static void arguments_of(const struct primitive *p, double *ret)
{
    for (int n = 0; n < PRIMITIVE_ARGUMENTS_MAX && p->arguments[n]; n++) {
        const char *unit = p->arguments[n];
        const double most = strcmp(unit, "m") == 0 ? 5e-8 : strcmp(unit, "m2") == 0 ? 1e-4 : strcmp(unit, "Hz") == 0 ? 2e9 : 65536;
        ret[n] = *unit == '@' ? reference(unit + 1) : most * uniform();
        if (strcmp(unit, "m") == 0) ret[n] = 28e-9;
        if (strcmp(unit, "1") == 0) ret[n] = floor(1 + 4 * uniform());
    }
}

/* Groups that the primitive does not name come from the other point. */
static struct groups mixed(const void *point, const void *other, unsigned own)
{
    struct groups a = groups_of(&places, point);
    const struct groups b = groups_of(&places, other);
    if (!(own >> GROUP_WORKLOAD & 1)) a.workload = b.workload;
    if (!(own >> GROUP_REQUEST & 1)) a.request = b.request;
    if (!(own >> GROUP_MEMORY & 1)) a.memory = b.memory;
    if (!(own >> GROUP_CACHE & 1)) a.cache = b.cache;
    if (!(own >> GROUP_ECONOMICS & 1)) a.economics = b.economics;
    if (!(own >> GROUP_LINKS & 1)) a.links = b.links;
    if (!(own >> GROUP_LOCALITY & 1)) a.local = b.local;
    return a;
}

/* Which primitives the language has: those of its answers. */
static int primitives_n(void)
{
    int n = 0;
    for (const struct answer *a = answers; a->name; a++)
        if (a->primitive >= n) n = a->primitive + 1;
    return n;
}

static void read_what_they_declare(void)
{
    struct one o;
    assert_true(one_init(&o, model, NULL, 0));
    void *point = xcalloc(1, model->desc->params_size), *other = xcalloc(1, model->desc->params_size);
    const int points = samples(300, 5000);
    for (int i = 0; i < points; i++) {
        if (!random_point(model, space_fixed(o.space), i % 2 ? 0.05 : 0.2, point)) continue;
        random_point(model, space_fixed(o.space), 0.6, other);
        for (int k = 0; k < primitives_n(); k++) {
            const struct primitive *p = &primitives[k];
            double a[PRIMITIVE_ARGUMENTS_MAX] = {0}, x[PRIMITIVE_RESULTS_MAX] = {0}, y[PRIMITIVE_RESULTS_MAX] = {0};
            if (!is_asked(p)) continue;
            arguments_of(p, a);
            const struct groups own = groups_of(&places, point), some = mixed(point, other, p->groups);
            p->of(&own, a, x);
            p->of(&some, a, y);
            for (int r = 0; r < p->n_results; r++)
                if (!(x[r] == y[r] || (isnan(x[r]) && isnan(y[r]))))
                    fail_msg("answer %d of primitive %d is %.17g, and %.17g with groups that it does not name", r, k, x[r], y[r]);
        }
    }
    free(point);
    free(other);
    one_release(&o);
}

static void primitives__read_what_they_declare_and_nothing_else(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        look_at(m);
        read_what_they_declare();
    }
}

static void declare_what_they_read(void)
{
    struct one o;
    assert_true(one_init(&o, model, NULL, 0));
    void *point = xcalloc(1, model->desc->params_size), *other = xcalloc(1, model->desc->params_size);
    const int n = primitives_n();
    unsigned *moved = xcalloc((size_t)n, sizeof *moved);
    for (int i = 0; i < 4000; i++) {
        if (!random_point(model, space_fixed(o.space), i % 2 ? 0.05 : 0.3, point)) continue;
        random_point(model, space_fixed(o.space), 0.6, other);
        for (int k = 0; k < n; k++)
            for (int g = 0; g < GROUPS; g++) {
                const struct primitive *p = &primitives[k];
                double a[PRIMITIVE_ARGUMENTS_MAX] = {0}, x[PRIMITIVE_RESULTS_MAX] = {0}, y[PRIMITIVE_RESULTS_MAX] = {0};
                if (!is_asked(p) || !(p->groups >> g & 1) || moved[k] >> g & 1) continue;
                arguments_of(p, a);
                const struct groups own = groups_of(&places, point), some = mixed(point, other, ~(1u << g));
                p->of(&own, a, x);
                p->of(&some, a, y);
                for (int r = 0; r < p->n_results; r++)
                    if (x[r] != y[r] && !(isnan(x[r]) && isnan(y[r]))) moved[k] |= 1u << g;
            }
    }
    const unsigned book = 1u << GROUP_ECONOMICS; /* its constants are those of one book, the only one of the catalog */
    for (const struct answer *a = answers; a->name; a++)
        if (is_asked(&primitives[a->primitive]) && (moved[a->primitive] | book) != (primitives[a->primitive].groups | book))
            fail_msg("%s names groups %#x, and %#x move it", a->name, primitives[a->primitive].groups, moved[a->primitive]);
    free(moved);
    free(point);
    free(other);
    one_release(&o);
}

/* Each group that a primitive names moves it somewhere: what is named without need costs blocks their sharing. */
static void primitives__declare_nothing_that_they_do_not_read(void **state)
{
    (void)state;
    look_at(0); /* at a few positions, as arguments are here, nothing of LAD's decoding is known */
    declare_what_they_read();
}

/* The answers at one end of the arguments' ranges lie in the ranges of the answers. */
static void assert_in(int k, const struct groups *g, const double *a, const struct graph_range *range)
{
    const struct primitive *p = &primitives[k];
    double x[PRIMITIVE_RESULTS_MAX];
    p->of(g, a, x);
    for (int r = 0; r < p->n_results; r++) {
        const double slack = isfinite(x[r]) ? 1e-12 * fabs(x[r]) : 0;
        if (isnan(x[r]) ? range[r].none : x[r] + slack >= range[r].lo && x[r] - slack <= range[r].hi) continue;
        fail_msg("answer %d of primitive %d at %g, %g, %g, %g, %g is %g, outside of %g to %g%s", r, k, a[0], a[1], a[2], a[3], a[4],
                 x[r], range[r].lo, range[r].hi, range[r].none ? " or none" : "");
    }
}

static void take_any_argument(void)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -1, 0, 0.5, 77, 1e-300, 1e18, 1e300, -1e300};
    enum { ODD = sizeof odd / sizeof *odd };
    struct one o;
    assert_true(one_init(&o, model, NULL, 0));
    const struct groups g = groups_of(&places, space_fixed(o.space));
    const struct dse_workload_part part = {*g.workload, *g.workload, *g.workload, *g.workload, true};
    const struct groups_box box = {g, g, &part};
    const int found = primitives_n(), all = found > 0 ? found : 1;
    for (int i = 0; i < 200000; i++) {
        const int k = i % all;
        const struct primitive *p = &primitives[k];
        if (!is_asked(p)) continue;
        double lo[PRIMITIVE_ARGUMENTS_MAX] = {0}, hi[PRIMITIVE_ARGUMENTS_MAX];
        struct graph_range a[PRIMITIVE_ARGUMENTS_MAX] = {{0}}, ret[PRIMITIVE_RESULTS_MAX];
        arguments_of(p, lo);
        memcpy(hi, lo, sizeof hi);
        for (int n = 0; n < PRIMITIVE_ARGUMENTS_MAX && p->arguments[n]; n++) {
            const double x = odd[(int)(uniform() * ODD)], y = uniform() < 0.5 ? x : odd[(int)(uniform() * ODD)];
            if (*p->arguments[n] != '@' && uniform() < 0.6) lo[n] = x < y ? x : y, hi[n] = x < y ? y : x;
            a[n] = isnan(lo[n]) || isnan(hi[n]) ? range_unknown : (struct graph_range){lo[n], hi[n], false, false};
        }
        p->bound(&box, a, ret);
        assert_in(k, &g, lo, ret);
        assert_in(k, &g, hi, ret);
    }
    one_release(&o);
}

/* Formulas are written by anybody: whatever stands in an argument, there is an answer or none, in points and in boxes. */
static void primitives__take_any_argument(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        look_at(m);
        take_any_argument();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives__read_what_they_declare_and_nothing_else),
        cmocka_unit_test(primitives__declare_nothing_that_they_do_not_read),
        cmocka_unit_test(primitives__take_any_argument),
    };
    return cmocka_run_group_tests_name("primitives", tests, load, tear_down);
}
