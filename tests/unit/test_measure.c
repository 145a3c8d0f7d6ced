/* Statistics over many heads are those of the heads one by one; laws come back from points that follow them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "complaints.h"
#include "dse_config.h"
#include "attention/eviction_policies.h"
#include "attention/generator.h"
#include "attention/measure.h"
#include "attention/power_law.h"
#include "attention/trace.h"

#include <omp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 160, LAYERS = 2, HEADS = 2 };
static struct diags diags;

static int set_up(void **state)
{
    (void)state;
    diags_init(&diags);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    diags_release(&diags);
    return 0;
}

static bool made(void *user, size_t layer, size_t head, struct head *ret, struct diags *d)
{
    (void)user;
    struct generator g = generator_defaults;
    g.n = N;
    g.d = 16;
    return generator_head(&g, layer * HEADS + head, ret, d);
}

static bool broken_from_third(void *user, size_t layer, size_t head, struct head *ret, struct diags *d)
{
    if (layer < 2) return made(user, layer, head, ret, d);
    return diags_input(d, (struct srcloc){0}, NULL, NULL, "layer %zu is broken", layer);
}

static const struct head_source source = {LAYERS, HEADS, N, made, NULL};
static const size_t contexts[] = {48, 100, N};
enum { CONTEXTS = sizeof contexts / sizeof *contexts };
static const struct measure_plan plan = {
    .sources = &source, .n_sources = 1, .contexts = contexts, .n_contexts = CONTEXTS, .steps = 8};

/* The i-th head, cut. */
static struct head cut(size_t i, size_t context)
{
    struct head h;
    assert_true(made(NULL, i / HEADS, i % HEADS, &h, &diags));
    h.n = context;
    return h;
}

static void moments__are_mean_and_population_deviation(void **state)
{
    (void)state;
    struct moments m = {0};
    assert_true(moments_sd(&m) == 0);
    for (int i = 1; i <= 4; i++) moments_add(&m, i);
    assert_true(m.n == 4 && m.mean == 2.5 && fabs(moments_sd(&m) - sqrt(1.25)) < 1e-15);
}

static void locality__is_the_mean_of_the_heads(void **state)
{
    (void)state;
    struct measured_locality rows[CONTEXTS];
    assert_true(measure_locality(&plan, &locality_defaults, rows, &diags));
    for (size_t c = 0; c < CONTEXTS; c++) {
        double active = 0, hits = 0, error = 0, lines = 0;
        for (size_t i = 0; i < LAYERS * HEADS; i++) {
            struct head h = cut(i, contexts[c]);
            struct locality_result r;
            assert_true(locality_run(&h, &locality_defaults, contexts[c] - 8, &r, &diags));
            struct dse_locality at = locality_profile_point(&r, locality_defaults.recent);
            active += at.active / 4;
            hits += at.active * at.hit_ratio / 4;
            error += r.output_error / 4;
            lines += r.lines_mse / 4;
            head_release(&h);
        }
        assert_true(fabs(rows[c].active.mean - active) < 1e-12 * active && rows[c].active.n == 4);
        assert_true(fabs(rows[c].pooled_hit_ratio - hits / active) < 1e-12);
        assert_true(fabs(rows[c].attention_error.mean - error) < 1e-12);
        assert_true(fabs(rows[c].lines_mse.mean - lines) < 1e-12 * lines);
    }
}

/* Every row is the step of the functional model itself; their means are the profile's. */
static void recording__is_what_the_functional_model_did(void **state)
{
    (void)state;
    enum { STEPS = 8 };
    struct measured_locality means[CONTEXTS];
    struct recording_row rows[CONTEXTS * LAYERS * HEADS * STEPS], *row = rows;
    assert_int_equal(measure_heads(&plan), LAYERS * HEADS);
    assert_true(measure_recording(&plan, &locality_defaults, rows, &diags));
    assert_true(measure_locality(&plan, &locality_defaults, means, &diags));
    for (size_t c = 0; c < CONTEXTS; c++) {
        double active = 0, hits = 0, updates = 0, centers = 0, large = 0;
        for (size_t i = 0; i < LAYERS * HEADS; i++) {
            struct head h = cut(i, contexts[c]);
            struct locality *l = locality_new(h.d, &locality_defaults, &diags);
            for (size_t t = 0; t < h.n; t++) {
                double output[16];
                struct locality_step s;
                locality_step(l, h.q + t * h.d, h.k + t * h.d, h.v + t * h.d, output, &s);
                if (t < contexts[c] - STEPS) continue;
                assert_true(row->context == (double)contexts[c] && row->head == (double)i && row->step == (double)(t + 1));
                assert_true(row->at.active == (double)s.n_active + 16 && row->at.hits == (double)s.n_kept + 15);
                assert_true(row->at.updates == (double)s.updates + 1 && row->at.centers == (double)s.centers);
                assert_true(row->at.large == (double)s.large);
                active += row->at.active / (LAYERS * HEADS * STEPS);
                hits += row->at.hits / (LAYERS * HEADS * STEPS);
                updates += row->at.updates / (LAYERS * HEADS * STEPS);
                centers += row->at.centers / (LAYERS * HEADS * STEPS);
                large += row++->at.large / (LAYERS * HEADS * STEPS);
            }
            locality_free(l);
            head_release(&h);
        }
        assert_true(fabs(means[c].active.mean / active - 1) < 1e-12 &&
                    fabs(means[c].pooled_hit_ratio / (hits / active) - 1) < 1e-12);
        assert_true(fabs(means[c].updates.mean / updates - 1) < 1e-12 && fabs(means[c].centers.mean / centers - 1) < 1e-12);
        assert_true(fabs(means[c].large.mean - large) < 1e-12);
    }
    struct row_fault fault = {0};
    struct dse_recording *r = recording_new("", "", rows, (size_t)(row - rows), &fault);
    assert_null(fault.why);
    recording_free(r);
}

/* Before there are more positions than newest ones, nothing leaves them and all but the new one were active. */
static void recording__of_first_steps_has_the_newest_positions_alone(void **state)
{
    (void)state;
    static const size_t first[] = {17};
    struct recording_row rows[LAYERS * HEADS * 17];
    struct measure_plan p = plan;
    p.contexts = first;
    p.n_contexts = 1;
    p.steps = 17;
    assert_true(measure_recording(&p, &locality_defaults, rows, &diags));
    for (size_t i = 0; i < LAYERS * HEADS * 17; i++) {
        struct dse_recorded at = rows[i].at;
        double newest = fmin(rows[i].step, 16);
        assert_true(at.active >= newest && at.active <= newest + 1 && at.updates == (rows[i].step > 16));
        if (newest < 16) assert_true(at.hits == newest - 1);
    }
}

static void retention__is_the_mean_of_the_heads(void **state)
{
    (void)state;
    struct retention_policy policies[2] = {{eviction_defaults, 0}, {eviction_defaults, 0}};
    policies[0].options.policy = eviction_policy_find("voting");
    policies[0].options.shared = true;
    policies[1].options.policy = eviction_policy_find("window");
    static const double ratios[] = {0.2, 0.5};
    struct measured_retention rows[2 * CONTEXTS * 2];
    size_t n;
    assert_true(measure_retention(&plan, policies, 2, ratios, 2, rows, &n, &diags));
    /* Voting needs a cache of 32: not 0.2 and 0.5 of 48, nor 0.2 of 100; 0.2 of 160 is 32. */
    assert_int_equal(n, 3 + 6);
    for (size_t k = 0; k < n; k++) {
        struct eviction_options o = rows[k].policy->options;
        o.ratio = rows[k].ratio;
        double mass = 0;
        for (size_t layer = 0; layer < LAYERS; layer++) {
            struct head heads[HEADS];
            struct eviction_result r[HEADS];
            for (size_t h = 0; h < HEADS; h++) heads[h] = cut(layer * HEADS + h, rows[k].context);
            assert_true(eviction_run_many(heads, HEADS, &o, 1, rows[k].context - 8, r, &diags));
            for (size_t h = 0; h < HEADS; h++) {
                mass += r[h].retained_mass / 4;
                head_release(&heads[h]);
            }
        }
        assert_true(fabs(rows[k].retained_mass.mean - mass) < 1e-12 && rows[k].retained_mass.n == 4);
    }
}

/* A prompt of three quarters of the context, whose surplus leaves at its end; S is the ratio of the context all the same. */
static void retention__may_keep_a_prompt_whole(void **state)
{
    (void)state;
    struct retention_policy policy = {eviction_defaults, 0.75};
    policy.options.policy = eviction_policy_find("h2o");
    static const double ratios[] = {0.2, 0.9};
    struct measured_retention rows[CONTEXTS * 2];
    size_t n;
    assert_true(measure_retention(&plan, &policy, 1, ratios, 2, rows, &n, &diags));
    assert_int_equal(n, CONTEXTS * 2);
    for (size_t k = 0; k < n; k++) {
        struct eviction_options o = policy.options;
        o.size = (size_t)lround(rows[k].ratio * (double)rows[k].context);
        o.prompt = rows[k].context * 3 / 4;
        double mass = 0;
        for (size_t i = 0; i < LAYERS * HEADS; i++) {
            struct head h = cut(i, rows[k].context);
            struct eviction_result r;
            assert_true(eviction_run(&h, &o, rows[k].context - 8, &r, &diags));
            mass += r.retained_mass / (LAYERS * HEADS);
            head_release(&h);
        }
        assert_true(fabs(rows[k].retained_mass.mean - mass) < 1e-12);
    }
}

static void range__counts_every_step_asked_for(void **state)
{
    (void)state;
    struct measured_range rows[CONTEXTS];
    const struct softmax_range all = {0, -1e9, 1e9}, none = {0, -1e-9, 1e-9};
    assert_true(measure_range(&plan, &all, rows, &diags));
    assert_true(rows[0].count.vectors == 4 * 8 && rows[0].count.recomputed == 0 && rows[0].count.outside == 0);
    assert_true(measure_range(&plan, &none, rows, &diags));
    assert_true(rows[2].count.recomputed == 1);
}

static void partial__is_that_of_the_heads(void **state)
{
    (void)state;
    const struct softmax_partial s = {.range = {0, -12, 1}, .part = 64};
    struct measured_partial rows[CONTEXTS];
    assert_true(measure_partial(&plan, &s, rows, &diags));
    for (size_t c = 0; c < CONTEXTS; c++) {
        size_t recomputed = 0;
        double worst = 0;
        for (size_t i = 0; i < LAYERS * HEADS; i++) {
            struct head h = cut(i, contexts[c]);
            struct softmax_partial_result r;
            assert_true(softmax_partial_run(&h, &s, contexts[c] - 8, &r, &diags));
            recomputed += r.recomputed;
            worst = fmax(worst, r.output_error);
            head_release(&h);
        }
        assert_true(rows[c].vectors == 32 && rows[c].lost == 0 && rows[c].recomputed == recomputed);
        assert_true(rows[c].output_error == worst && rows[c].within_1e_2 == 1 && rows[c].within_1e_1 == 1);
    }
}

/* Layers are added up in their order whichever thread measured them; of several that fail, the first is told of. */
static void fixed_point__is_that_of_the_heads(void **state)
{
    (void)state;
    struct measured_fixed rows[CONTEXTS];
    assert_true(measure_fixed(&plan, &single_pass_defaults, rows, &diags));
    for (size_t c = 0; c < CONTEXTS; c++) {
        struct moments error = {0};
        double worst = 0;
        for (size_t i = 0; i < measure_heads(&plan); i++) {
            struct head h = cut(i, contexts[c]);
            struct single_pass_result r;
            assert_true(single_pass_run(&h, &single_pass_defaults, contexts[c] - 8, &r, &diags));
            moments_add(&error, r.output_error);
            worst = fmax(worst, r.worst_error);
            head_release(&h);
        }
        assert_memory_equal(&error, &rows[c].attention_error, sizeof error);
        assert_true(worst == rows[c].worst_error && rows[c].steps == 8 * measure_heads(&plan));
    }
}

static void results__do_not_depend_on_the_threads(void **state)
{
    (void)state;
    int before = omp_get_max_threads();
    struct measured_locality one[CONTEXTS], many[CONTEXTS];
    omp_set_num_threads(1);
    assert_true(measure_locality(&plan, &locality_defaults, one, &diags));
    omp_set_num_threads(4);
    assert_true(measure_locality(&plan, &locality_defaults, many, &diags));
    assert_memory_equal(one, many, sizeof one);
    struct head_source broken = source;
    broken.layers = 8;
    broken.head = broken_from_third;
    struct measure_plan p = plan;
    p.sources = &broken;
    assert_false(measure_locality(&p, &locality_defaults, many, &diags));
    expect_complaint(&diags, 0, 0, "layer 2 is broken");
    omp_set_num_threads(before);
}

static void sources__are_a_generators_and_a_traces_heads(void **state)
{
    (void)state;
    struct generator g = generator_defaults;
    g.n = N;
    struct head_source s = head_source_generator(&g, 3);
    assert_true(s.layers == 3 && s.heads == 1 && s.n == N);
    struct head a, b;
    assert_true(s.head(s.user, 2, 0, &a, &diags) && generator_head(&g, 2, &b, &diags));
    assert_memory_equal(a.q, b.q, N * a.d * sizeof *a.q);
    head_release(&a);
    head_release(&b);
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    s = head_source_trace(t);
    assert_true(s.layers == 2 && s.heads == 2 && s.n == 2048);
    assert_true(s.head(s.user, 1, 0, &a, &diags) && trace_head(t, 1, 0, &b, &diags));
    assert_memory_equal(a.v, b.v, a.n * a.d * sizeof *a.v);
    head_release(&a);
    head_release(&b);
    trace_close(t);
}

static void progress(void *user, double share)
{
    double *last = user;
    assert_true(share > *last && share <= 1 + 1e-12);
    *last = share;
}

static void progress__grows_to_one(void **state)
{
    (void)state;
    struct measured_range rows[CONTEXTS];
    double last = 0;
    struct measure_plan p = plan;
    p.progress = progress;
    p.progress_user = &last;
    assert_true(measure_range(&p, &(struct softmax_range){0, -1, 1}, rows, &diags));
    assert_true(fabs(last - 1) < 1e-12);
}

static void refuse(struct measure_plan p, const char *part)
{
    assert_false(measure_plan_check(&p, &diags));
    expect_complaint(&diags, 0, 0, part);
}

static void plan__says_what_cannot_be_measured(void **state)
{
    (void)state;
    static const size_t beyond[] = {N + 1}, shrinking[] = {50, 40}, tiny[] = {4};
    struct measure_plan p = plan;
    p.n_sources = 0;
    refuse(p, "there is no head to measure");
    p = plan;
    p.n_contexts = 0;
    refuse(p, "there is no context to measure at");
    p = plan;
    p.n_contexts = 1;
    p.contexts = beyond;
    refuse(p, "context 161 is longer than what is measured, which has 160 positions");
    p.contexts = tiny;
    refuse(p, "context 4 has fewer than 8 steps");
    p.contexts = shrinking;
    p.n_contexts = 2;
    refuse(p, "context 40 does not grow (before it: 50)");
}

static void power_law__comes_back_from_its_points(void **state)
{
    (void)state;
    double x[] = {64, 128, 512, 2048}, y[4];
    for (size_t i = 0; i < 4; i++) y[i] = 0.3 * pow(x[i], 0.9);
    struct power_law law;
    assert_true(power_law_fit(x, y, 4, &law));
    assert_true(fabs(law.a - 0.3) < 1e-12 && fabs(law.b - 0.9) < 1e-12 && law.b_se < 1e-7 && law.residual < 1e-7);
}

/* Errors by hand: log y = 0, 1, 0 over log x = -1, 0, 1: the slope is 0, the mean 1/3, the squares 2/3 of one degree of freedom. */
static void power_law__knows_its_errors(void **state)
{
    (void)state;
    const double x[] = {exp(-1), 1, exp(1)}, y[] = {1, exp(1), 1};
    struct power_law law;
    assert_true(power_law_fit(x, y, 3, &law));
    double s2 = 2.0 / 3;
    assert_true(fabs(law.b) < 1e-12 && fabs(law.a - exp(1.0 / 3)) < 1e-12);
    assert_true(fabs(law.b_se - sqrt(s2 / 2)) < 1e-12 && fabs(law.a_se - exp(1.0 / 3) * sqrt(s2 / 3)) < 1e-12);
    assert_true(fabs(law.residual - sqrt(s2)) < 1e-12);
}

static void power_law__is_refused_where_there_is_none(void **state)
{
    (void)state;
    struct power_law law;
    assert_false(power_law_fit((const double[]){1, 2}, (const double[]){1, 2}, 2, &law));
    assert_false(power_law_fit((const double[]){1, 2, 3}, (const double[]){1, 0, 2}, 3, &law));
    assert_false(power_law_fit((const double[]){2, 2, 2}, (const double[]){1, 1, 2}, 3, &law));
    assert_false(power_law_fit((const double[]){1, 2, 3}, (const double[]){1, (double)NAN, 2}, 3, &law));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments__are_mean_and_population_deviation),
        cmocka_unit_test(locality__is_the_mean_of_the_heads),
        cmocka_unit_test(recording__is_what_the_functional_model_did),
        cmocka_unit_test(recording__of_first_steps_has_the_newest_positions_alone),
        cmocka_unit_test(retention__is_the_mean_of_the_heads),
        cmocka_unit_test(retention__may_keep_a_prompt_whole),
        cmocka_unit_test(range__counts_every_step_asked_for),
        cmocka_unit_test(partial__is_that_of_the_heads),
        cmocka_unit_test(fixed_point__is_that_of_the_heads),
        cmocka_unit_test(results__do_not_depend_on_the_threads),
        cmocka_unit_test(sources__are_a_generators_and_a_traces_heads),
        cmocka_unit_test(progress__grows_to_one),
        cmocka_unit_test(plan__says_what_cannot_be_measured),
        cmocka_unit_test(power_law__comes_back_from_its_points),
        cmocka_unit_test(power_law__knows_its_errors),
        cmocka_unit_test(power_law__is_refused_where_there_is_none),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
