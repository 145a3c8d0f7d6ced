/* libdse: a point told by columns is the point that `--set` names, for every model and every parameter; and what is wrong is
 * told, not printed. */
#include "model_points.h"
#include "samples.h"
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

/* ---- all ways in ------------------------------------------------------------------------------------------------------------- */

/* A random point: some parameters and their values, as values and as texts. */
enum { CHOSEN = 6 };
struct chosen {
    const struct field *field[CHOSEN];
    struct value value[CHOSEN];
    char *text[CHOSEN], *assignment[CHOSEN];
    size_t n;
};

static char *text_of_value(const struct field *f, struct value v)
{
    char buf[TEXT_NUMBER_MAX];
    if (f->type == DSE_TYPE_ENUM) return xstrdup(f->choices[v.choice]);
    if (f->type == DSE_TYPE_REF) return xstrdup(v.ref->name);
    return f->type == DSE_TYPE_I64 ? xasprintf("%lld", (long long)v.i64) : xstrdup(text_number(buf, v.f64));
}

static bool is_chosen(const struct chosen *c, const struct field *f)
{
    bool found = false;
    for (size_t i = 0; i < c->n; i++) found |= c->field[i] == f || field_excludes(f, c->field[i]->name);
    return found;
}

/* Names are drawn more often than by chance: it is they that set others. */
static void choose(const struct model *m, struct chosen *c)
{
    c->n = 0;
    const size_t wanted = 1 + (size_t)(uniform() * CHOSEN);
    for (size_t tries = 0; tries < 200 && c->n < wanted; tries++) {
        const struct field *f = &m->params.fields[(size_t)(uniform() * (double)m->params.n)];
        if (is_chosen(c, f) || (f->type != DSE_TYPE_REF && uniform() < 0.5)) continue;
        c->field[c->n] = f;
        c->value[c->n] = random_value(f);
        c->text[c->n] = text_of_value(f, c->value[c->n]);
        c->assignment[c->n] = xasprintf("%s=%s", f->name, c->text[c->n]);
        c->n++;
    }
}

static void forget(struct chosen *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->text[i]);
        free(c->assignment[i]);
    }
    c->n = 0;
}

/* What an evaluation says: a number a metric, or why there is none. */
struct answer {
    double *metrics;
    char *reason; /* or NULL */
};

static void answer_release(struct answer *a)
{
    free(a->metrics);
    free(a->reason);
}

static struct answer answer_of(const struct model *m, const void *params)
{
    struct answer a = {.metrics = xcalloc(m->metrics.n, sizeof *a.metrics)};
    const char *reason = m->desc->check ? m->desc->check(params) : NULL;
    void *metrics = xcalloc(1, m->desc->metrics_size);
    if (reason)
        a.reason = xstrdup(reason);
    else
        m->desc->estimate(params, metrics, NULL);
    for (size_t i = 0; i < m->metrics.n && !reason; i++)
        a.metrics[i] = field_is_number(&m->metrics.fields[i]) && !m->metrics.fields[i].without
                           ? field_number(&m->metrics.fields[i], metrics)
                           : 0;
    free(metrics);
    return a;
}

/* By --set. False: no machine can have these parameters. */
static bool answer_of_eval(const struct binding *defaults, const struct chosen *c, struct answer *ret)
{
    struct design_point one;
    struct diags refused;
    diags_init(&refused);
    const bool ok = design_point_init_like(&one, defaults, (const char *const *)c->assignment, c->n, &refused);
    if (ok) *ret = answer_of(defaults->model, one.params);
    design_point_release(&one);
    diags_release(&refused);
    return ok;
}

/* As the last point of a sweep whose axes are the chosen parameters, from their defaults to their values. */
static bool answer_of_sweep(const struct binding *defaults, const struct chosen *c, struct answer *ret)
{
    const struct model *m = defaults->model;
    struct binding *b = binding_like(defaults);
    for (size_t i = 0; i < c->n; i++) {
        struct given *g = &b->given[schema_index(&m->params, c->field[i])];
        *g = (struct given){.is_given = true, .n = 2, .values = xcalloc(2, sizeof *g->values)};
        g->values[0] = field_get(c->field[i], defaults->defaults);
        g->values[1] = c->value[i];
    }
    struct diags refused;
    diags_init(&refused);
    struct sweep_file sweep = {.bindings = &b, .n_models = 1};
    struct space *space = binding_finish(b, &refused) ? space_new(&sweep, 0, 1 << CHOSEN, &refused) : NULL;
    if (space) {
        void *params = xcalloc(1, m->desc->params_size);
        space_point(space, space_count(space) - 1, params);
        *ret = answer_of(m, params);
        free(params);
    }
    const bool ok = space != NULL;
    space_free(space);
    binding_free(b);
    diags_release(&refused);
    return ok;
}

/* By the library: some of the parameters set for all points, the others as inputs. */
static void answer_of_library(struct dse_points *p, const struct model *m, const struct chosen *c, size_t set, struct answer *ret)
{
    double numbers[CHOSEN];
    const char *texts[CHOSEN], *status, *reason;
    struct dse_input in[CHOSEN];
    for (size_t i = 0; i < set; i++) assert_true(dse_points_set(p, c->field[i]->name, c->text[i], problems));
    for (size_t i = set; i < c->n; i++) {
        const bool number = field_is_number(c->field[i]);
        texts[i] = c->text[i];
        numbers[i] = c->field[i]->type == DSE_TYPE_I64 ? (double)c->value[i].i64 : c->value[i].f64;
        in[i - set] = (struct dse_input){
            .name = c->field[i]->name, .numbers = number ? &numbers[i] : NULL, .texts = number ? NULL : &texts[i]};
    }
    struct dse_output *out = xcalloc(m->metrics.n + 2, sizeof *out);
    *ret = (struct answer){.metrics = xcalloc(m->metrics.n, sizeof *ret->metrics)};
    size_t n = 0;
    for (size_t i = 0; i < m->metrics.n; i++)
        if (field_is_number(&m->metrics.fields[i]) && !m->metrics.fields[i].without)
            out[n++] = (struct dse_output){.name = m->metrics.fields[i].name, .numbers = &ret->metrics[i]};
    out[n++] = (struct dse_output){.name = "status", .texts = &status};
    out[n++] = (struct dse_output){.name = "reason", .texts = &reason};
    assert_true(dse_points_evaluate(p, 1, in, c->n - set, out, n, problems));
    assert_string_not_equal(status, "invalid");
    if (strcmp(status, "ok") != 0) ret->reason = xstrdup(reason);
    for (size_t i = 0; i < set; i++) assert_true(dse_points_set(p, c->field[i]->name, NULL, problems));
    free(out);
}

static void assert_same_answer(const struct model *m, const struct chosen *c, const char *way, const struct answer *a,
                               const struct answer *b)
{
    bool same = (a->reason != NULL) == (b->reason != NULL) && (!a->reason || strcmp(a->reason, b->reason) == 0);
    for (size_t i = 0; same && !a->reason && i < m->metrics.n; i++) {
        same = memcmp(&a->metrics[i], &b->metrics[i], sizeof a->metrics[i]) == 0 || (isnan(a->metrics[i]) && isnan(b->metrics[i]));
        if (!same) print_error("%s: %.17g, not %.17g\n", m->metrics.fields[i].name, b->metrics[i], a->metrics[i]);
    }
    if (same) return;
    for (size_t i = 0; i < c->n; i++) print_error("%s ", c->assignment[i]);
    fail_msg("%s: %s says otherwise than eval (%s; %s)", m->desc->name, way, a->reason ? a->reason : "ok",
             b->reason ? b->reason : "ok");
}

/* A point is the same to the last bit by --set, in a sweep and through the library, whichever parameters are inputs. */
static void library__is_of_one_mind_with_eval_and_sweeps(void **state)
{
    (void)state;
    size_t n, compared = 0;
    const struct model *models = registry_models(&n);
    for (size_t k = 0; k < n; k++) {
        const struct model *m = &models[k];
        struct binding *defaults = binding_new(m, catalog, catalog_data_dir(), &diags);
        struct dse_points *p = points_of(m->desc->name);
        for (int i = 0; i < samples(100, 1000); i++) {
            struct chosen c;
            struct answer eval, other;
            choose(m, &c);
            if (answer_of_eval(defaults, &c, &eval)) {
                if (answer_of_sweep(defaults, &c, &other)) { /* one of its other points may be impossible */
                    assert_same_answer(m, &c, "a sweep", &eval, &other);
                    answer_release(&other);
                    compared++;
                }
                answer_of_library(p, m, &c, (size_t)(uniform() * (double)(c.n + 1)), &other);
                assert_same_answer(m, &c, "the library", &eval, &other);
                answer_release(&other);
                answer_release(&eval);
            }
            forget(&c);
        }
        dse_points_free(p);
        binding_free(defaults);
    }
    assert_true(compared > n * (size_t)samples(50, 500));
}

/* A model that evaluates many points at once gives each of them what it gives the point alone, whatever stands beside it. */
static void library__evaluates_many_points_as_each_alone(void **state)
{
    (void)state;
    enum { MANY = 700 };
    static const char *const names[] = {"llama2-7b", "llama3-8b", "lama2-7b", "gpt-oss-120b", "opt-6.7b"};
    static double rows[MANY], gbs[MANY], speed[MANY], usd[MANY], channels[MANY];
    static const char *llms[MANY], *status[MANY], *reason[MANY];
    for (int i = 0; i < MANY; i++) {
        rows[i] = i % 31 == 30 ? 0 : 1 + i % 29;
        gbs[i] = 64 * (1 + i * i % 17);
        llms[i] = names[i / 7 % 5];
    }
    const struct dse_output out[] = {{.name = "tokens_per_s", .numbers = speed},
                                     {.name = "usd_per_mtoken", .numbers = usd},
                                     {.name = "channels", .numbers = channels},
                                     {.name = "status", .texts = status},
                                     {.name = "reason", .texts = reason}};
    struct dse_points *p = points_of("veda"), *alone = points_of("veda");
    const struct dse_input in[] = {
        {.name = "pe_rows", .numbers = rows}, {.name = "bandwidth_gbs", .numbers = gbs}, {.name = "llm", .texts = llms}};
    assert_true(dse_points_evaluate(p, MANY, in, 3, out, 5, problems));
    int ok = 0;
    for (int i = 0; i < MANY; i++) {
        double x, y, z;
        const char *s, *r;
        const struct dse_output one[] = {{.name = "tokens_per_s", .numbers = &x},
                                         {.name = "usd_per_mtoken", .numbers = &y},
                                         {.name = "channels", .numbers = &z},
                                         {.name = "status", .texts = &s},
                                         {.name = "reason", .texts = &r}};
        const struct dse_input at[] = {{.name = "pe_rows", .numbers = &rows[i]},
                                       {.name = "bandwidth_gbs", .numbers = &gbs[i]},
                                       {.name = "llm", .texts = &llms[i]}};
        assert_true(dse_points_evaluate(alone, 1, at, 3, one, 5, problems));
        assert_string_equal(status[i], s);
        assert_string_equal(reason[i] ? reason[i] : "", r ? r : "");
        assert_memory_equal(&speed[i], &x, sizeof x);
        assert_memory_equal(&usd[i], &y, sizeof y);
        assert_memory_equal(&channels[i], &z, sizeof z);
        ok += strcmp(s, "ok") == 0;
    }
    assert_true(ok > MANY / 10 && ok < MANY);
    dse_points_free(p);
    dse_points_free(alone);
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
        cmocka_unit_test(library__is_of_one_mind_with_eval_and_sweeps),
        cmocka_unit_test(library__evaluates_many_points_as_each_alone),
        cmocka_unit_test(library__gives_invalid_inputs_a_status),
        cmocka_unit_test(library__tells_what_is_wrong),
        cmocka_unit_test(library__describes_its_models),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
