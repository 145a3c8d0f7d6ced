/* What the event level of every model of the registry must satisfy, before its author has written a test of its own. */
#include "agree/agree.h"
#include "model/fidelity.h"
#include "model_checks.h"
#include "random_runs.h"
#include "samples.h"

/* Call `check` for each model that has an event level, with its defaults made small. */
static void each_model(void (*check)(const struct model *m, const struct one *defaults))
{
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++) {
        if (!fidelity_of_model(models[i].desc, FIDELITY_EVENT_LEVEL)) continue;
        struct one o;
        char *small[SMALL];
        size_t n_small = small_settings(&models[i], small);
        bool ok = one_init(&o, &models[i], small, n_small);
        diags_print(&diags, stderr, false);
        assert_true(ok);
        check(&models[i], &o);
        one_release(&o);
    }
}

/* The metrics of a run that must be done. The caller frees them. */
static void *run(struct runner *r, const struct model *m, const void *params, struct dse_breakdown *breakdown)
{
    void *metrics = xcalloc(1, m->desc->metrics_size);
    if (runner_run(r, m->desc, params, metrics, breakdown) != RUN_DONE) fail_msg("%s: %s", m->desc->name, runner_error(r));
    return metrics;
}

static void same_metrics(const struct model *m, const void *a, const void *b)
{
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        if (!field_same(f, a, b) && !(f->type == DSE_TYPE_F64 && isnan(field_number(f, a)) && isnan(field_number(f, b))))
            fail_msg("%s: %s is %.17g, then %.17g", m->desc->name, f->name, field_number(f, a), field_number(f, b));
    }
}

/* ---- the metrics --------------------------------------------------------------------------------------------------------- */

static void check_defaults(const struct model *m, const struct one *defaults)
{
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, NULL);
    struct dse_breakdown b = {0};
    void *metrics = run(r, m, space_fixed(defaults->space), &b);
    check_metrics(m, metrics, &b);
    assert_true(sim_resources(runner_sim(r)) > 0);
    free(metrics);
    runner_free(r);
}

static void events__fill_every_metric_and_parts_that_add_up(void **state)
{
    (void)state;
    each_model(check_defaults);
}

/* Anything that the ranges allow and nobody refuses runs to an end, with metrics that are finite and add up, or takes longer than
 * a test can wait for. */
static void check_random_points(const struct model *m, const struct one *small)
{
    const uint64_t points = (uint64_t)samples(16, 30); /* 16: every share that draw_point() knows */
    static const double limit_s = 0.5;                 /* of a run */
    struct random_runs r;
    uint64_t ends[RANDOM_ENDS] = {0};
    random_runs_init(&r, small, small, &(struct sim_options){.stop = &random_stop});
    for (uint64_t i = 0; i < points; i++) {
        random_runs_limit(limit_s);
        enum random_end end = random_run(&r, i);
        if (end != RANDOM_DONE && end != RANDOM_CUT)
            fail_msg("%s: point %d %s: %s", m->desc->name, (int)i, random_end_names[end], r.why);
        ends[end]++;
    }
    if (ends[RANDOM_DONE] < points / 10)
        fail_msg("%s: only %d of %d points ran to an end", m->desc->name, (int)ends[RANDOM_DONE], (int)points);
    random_runs_release(&r);
}

static void events__run_to_an_end_at_any_point_in_range(void **state)
{
    (void)state;
    each_model(check_random_points);
}

/* ---- who reads a parameter ----------------------------------------------------------------------------------------------- */

/* Change f alone at point `number`, and see what moves; false: the point does not allow it, or has no end. */
struct moves {
    bool closed, events;
};

static bool move_parameter(struct random_runs *r, const struct field *f, uint64_t number, bool with_events, struct moves *ret)
{
    const struct model *m = r->model;
    start_point(r, number);
    if (!draw_point(r, number, true)) return false;
    void *before = xmalloc(m->desc->params_size), *closed = xcalloc(1, m->desc->metrics_size),
         *events = xcalloc(1, m->desc->metrics_size);
    memcpy(before, r->params, m->desc->params_size);
    bool done = !with_events || run_at_events(r) == RANDOM_DONE;
    m->desc->estimate(before, closed, NULL);
    memcpy(events, r->events, m->desc->metrics_size);
    memcpy(r->params, r->raw, m->desc->params_size);
    change(f, r->params);
    if (m->desc->resolve) m->desc->resolve(r->params);
    done = done && !m->desc->check(r->params) && (!with_events || run_at_events(r) == RANDOM_DONE);
    if (done) {
        m->desc->estimate(r->params, r->closed, NULL);
        *ret = (struct moves){.closed = differ(m, closed, r->closed), .events = with_events && differ(m, events, r->events)};
    }
    free(before);
    free(closed);
    free(events);
    return done;
}

/* What is said to be read by one fidelity moves nothing at the other, and what only the closed form reads moves that. */
static void check_reader(struct random_runs *r, const struct field *f)
{
    enum { EVENT_POINTS = 3, TRIES = 400 };
    const int closed_points = samples(30, 100);
    const char *name = r->model->desc->name;
    const bool must_move = f->reader == READ_BY_CLOSED_FORM;
    int done = 0, moved = 0, wanted = f->reader == READ_BY_EVENT_LEVEL ? closed_points : EVENT_POINTS;
    for (uint64_t i = 0; i < TRIES && (done < wanted || (must_move && moved == 0)); i++) {
        const bool events = f->reader != READ_BY_EVENT_LEVEL && done < wanted;
        struct moves v;
        random_runs_limit(2);
        if (!move_parameter(r, f, 4 * i + 1, events, &v)) continue;
        done++;
        moved += v.closed;
        if (events && v.events) fail_msg("%s: %s moves metrics at event level, which is said not to read it", name, f->name);
        if (!must_move && v.closed) fail_msg("%s: %s moves metrics in closed form, which is said not to read it", name, f->name);
    }
    if (must_move && moved == 0) fail_msg("%s: %s moves nothing in closed form", name, f->name);
}

static void check_readers(const struct model *m, const struct one *small)
{
    struct random_runs r;
    random_runs_init(&r, small, small, &(struct sim_options){.stop = &random_stop});
    for (size_t i = 0; i < m->params.n; i++)
        if (m->params.fields[i].reader != READ_BY_BOTH && m->params.fields[i].type != DSE_TYPE_REF)
            check_reader(&r, &m->params.fields[i]);
    random_runs_release(&r);
}

static void events__parameters_are_read_where_they_are_said_to_be(void **state)
{
    (void)state;
    each_model(check_readers);
}

/* ---- the same run -------------------------------------------------------------------------------------------------------- */

/* In a run that is new and in one that was used for something else before. */
static void check_repeats(const struct model *m, const struct one *defaults)
{
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, NULL), *other = runner_new(FIDELITY_EVENT_LEVEL, NULL);
    const void *params = space_fixed(defaults->space);
    struct one changed;
    char longer[] = "context=512", *settings[SMALL];
    size_t n = small_settings(m, settings);
    settings[n - 1] = longer;
    assert_true(one_init(&changed, m, settings, n));
    void *first = run(r, m, params, NULL);
    uint64_t events = sim_events(runner_sim(r));
    free(run(r, m, space_fixed(changed.space), NULL));
    void *second = run(r, m, params, NULL), *third = run(other, m, params, NULL);
    same_metrics(m, first, second);
    same_metrics(m, first, third);
    assert_int_equal(sim_events(runner_sim(r)), events);
    assert_int_equal(sim_events(runner_sim(other)), events);
    free(first);
    free(second);
    free(third);
    one_release(&changed);
    runner_free(r);
    runner_free(other);
}

static void events__are_the_same_for_the_same_seed(void **state)
{
    (void)state;
    each_model(check_repeats);
}

static struct agreement agree_with(const struct model *m, int threads, uint64_t points)
{
    char *small[SMALL];
    size_t n_small = small_settings(m, small);
    struct agree_options o = {
        .points = points, .seed = 7, .threads = threads, .assignments = (const char *const *)small, .n_assignments = n_small};
    struct agreement a;
    bool ok = agree(m, catalog, &o, &a, &diags);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    for (size_t i = 0; i < a.n; i++)
        if (a.points[i].failure) fail_msg("%s %s: %s", m->desc->name, a.points[i].settings, a.points[i].failure);
    return a;
}

static void check_threads(const struct model *m, const struct one *defaults)
{
    (void)defaults;
    const uint64_t points = (uint64_t)samples(4, 6);
    struct agreement one = agree_with(m, 1, points), three = agree_with(m, 3, points);
    for (size_t i = 0; i < one.n; i++) {
        assert_int_equal(one.points[i].is_measured, three.points[i].is_measured);
        if (one.points[i].is_measured) continue;
        assert_string_equal(one.points[i].settings, three.points[i].settings);
        assert_true(one.points[i].metric[AGREE_LATENCY] == three.points[i].metric[AGREE_LATENCY] &&
                    one.points[i].left[AGREE_LATENCY] == three.points[i].left[AGREE_LATENCY]);
    }
    agreement_release(&one);
    agreement_release(&three);
}

static void events__are_the_same_from_any_number_of_threads(void **state)
{
    (void)state;
    each_model(check_threads);
}

/* A recorder changes nothing, and what it is told is what the statistics say. */
struct watch {
    dse_ps time[DSE_STATES], last;
    uint32_t resources;
};

static void watch_resource(void *object, uint32_t resource, const char *group, const char *name)
{
    struct watch *w = object;
    assert_true(group && name && *name);
    assert_int_equal(resource, w->resources++);
}

static void watch_span(void *object, const struct sim_span *span)
{
    struct watch *w = object;
    assert_true(span->from < span->to && span->resource < w->resources);
    w->time[span->state] += span->to - span->from;
    if (span->to > w->last) w->last = span->to;
}

static void check_watched(const struct model *m, const struct one *defaults)
{
    struct watch watch = {0};
    struct sim_recorder recorder = {.resource = watch_resource, .span = watch_span, .object = &watch};
    struct sim_options options = {.recorder = &recorder};
    struct runner *plain = runner_new(FIDELITY_EVENT_LEVEL, NULL), *watched = runner_new(FIDELITY_EVENT_LEVEL, &options);
    void *a = run(plain, m, space_fixed(defaults->space), NULL), *b = run(watched, m, space_fixed(defaults->space), NULL);
    same_metrics(m, a, b);
    const struct dse_sim *sim = runner_sim(watched);
    assert_int_equal(watch.resources, sim_resources(sim));
    dse_ps busy = 0;
    for (uint32_t i = 0; i < sim_resources(sim); i++) {
        struct sim_resource r = sim_resource(sim, i);
        dse_ps sum = 0;
        for (int s = 0; s < DSE_STATES; s++) sum += r.time[s];
        assert_int_equal(sum, dse_sim_now(sim));
        busy += r.time[DSE_BUSY];
    }
    assert_int_equal(busy, watch.time[DSE_BUSY]);
    assert_true(watch.last <= dse_sim_now(sim));
    free(a);
    free(b);
    runner_free(plain);
    runner_free(watched);
}

static void events__say_the_same_while_watched(void **state)
{
    (void)state;
    each_model(check_watched);
}

/* ---- beside the closed form ---------------------------------------------------------------------------------------------- */

/* Traffic is the closed form's but for what draws make of it: within this share at any point near the defaults, and in the mean. */
static const double POINT_TRAFFIC = 0.25, MEAN_TRAFFIC = 0.05;

/* Differences of the causes and what is left add up to the whole, at each point. */
static void check_agreement(const struct model *m, const struct one *defaults)
{
    (void)defaults;
    struct agreement a = agree_with(m, 2, (uint64_t)samples(8, 20));
    double traffic = 0;
    size_t n = 0;
    for (size_t i = 0; i < a.n; i++) {
        const struct agree_point *p = &a.points[i];
        if (p->is_measured) continue;
        double sum = p->left[AGREE_LATENCY];
        for (int k = 0; k < AGREE_CAUSES; k++) sum += p->cause[AGREE_LATENCY][k];
        assert_true(isfinite(p->metric[AGREE_LATENCY]) &&
                    fabs(sum - p->metric[AGREE_LATENCY]) < 1e-9 * (1 + fabs(p->metric[AGREE_LATENCY])));
        if (isnan(p->metric[AGREE_DRAM])) continue;
        if (fabs(p->metric[AGREE_DRAM]) > POINT_TRAFFIC)
            fail_msg("dse eval %s --fidelity event-level %s: %+.1f %% of DRAM traffic", m->desc->name, p->settings,
                     100 * p->metric[AGREE_DRAM]);
        traffic += p->metric[AGREE_DRAM];
        n++;
    }
    if (n && fabs(traffic) / (double)n > MEAN_TRAFFIC)
        fail_msg("%s: the event level moves %+.1f %% of bytes in the mean", m->desc->name, 100 * traffic / (double)n);
    agreement_release(&a);
}

static void events__move_the_bytes_of_the_closed_form(void **state)
{
    (void)state;
    each_model(check_agreement);
}

/* With every cause of difference taken away, only fill and drain is left: the event level is not far from the closed form, and not
 * faster but for a buffer of weights that LAD fills in each attention period (its README): 3 % of a step of so thin an LLM. */
static void check_ideal(const struct model *m, const struct one *defaults)
{
    struct sim_options options = {.ideal = (1U << AGREE_CAUSES) - 1};
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, &options);
    const void *params = space_fixed(defaults->space);
    void *metrics = run(r, m, params, NULL), *closed = xcalloc(1, m->desc->metrics_size);
    void *bare = xcalloc(1, m->desc->params_size); /* without what the DRAM's latency and turn-rounds make of LAD's slots */
    const struct field *ends = schema_find(&m->params, "slot_ends");
    memcpy(bare, params, m->desc->params_size);
    if (ends) field_set(ends, bare, (struct value){.choice = 0});
    m->desc->estimate(bare, closed, NULL);
    free(bare);
    double ratio = metric(m, metrics, "latency_us") / metric(m, closed, "latency_us");
    if (!(ratio > 0.96 && ratio < 1.1))
        fail_msg("%s: idealised, the event level takes %.4f of the closed form", m->desc->name, ratio);
    double bytes = metric(m, metrics, "dram_mib") / metric(m, closed, "dram_mib");
    if (fabs(bytes - 1) > 0.01) fail_msg("%s: idealised, the event level moves %.4f of the bytes", m->desc->name, bytes);
    free(closed);
    free(metrics);
    runner_free(r);
}

static void events__idealised_are_the_closed_form_and_fill_and_drain(void **state)
{
    (void)state;
    each_model(check_ideal);
}

/* A stop ends a run at once, and nothing else does. */
static void check_stop(const struct model *m, const struct one *defaults)
{
    volatile sig_atomic_t stop = 1;
    struct sim_options options = {.stop = &stop};
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, &options);
    void *metrics = xcalloc(1, m->desc->metrics_size);
    assert_int_equal(runner_run(r, m->desc, space_fixed(defaults->space), metrics, NULL), RUN_STOPPED);
    stop = 0;
    assert_int_equal(runner_run(r, m->desc, space_fixed(defaults->space), metrics, NULL), RUN_DONE);
    free(metrics);
    runner_free(r);
}

static void events__stop_when_told_to(void **state)
{
    (void)state;
    each_model(check_stop);
}

/* On a DRAM so slow that a burst takes microseconds what is written last weighs: a step still takes the time of its bytes (a share
 * of the peak above 1 is a bug to the runner). */
static void check_slow_dram(const struct model *m, const struct one *small)
{
    static const double rates[] = {0.015, 0.1, 2};
    const struct field *rate = schema_find(&m->params, "bandwidth_gbs");
    (void)small;
    if (!rate || !schema_find(&m->params, "t_refi_ns")) return; /* no memory of one's own, or none with banks */
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        char *settings[SMALL + 3];
        size_t n = small_settings(m, settings);
        char text[64], named[] = "memory=hbm2-dramsim3", rarely[] = "t_refi_ns=48000"; /* seconds of refreshes take long */
        snprintf(text, sizeof text, "bandwidth_gbs=%g", rates[i]);
        if (catalog_find(catalog, DSE_KIND_MEMORY, "hbm2-dramsim3")) settings[n++] = named; /* the toy models' has none */
        settings[n++] = rarely;
        settings[n++] = text;
        struct one slow;
        if (!one_init(&slow, m, settings, n)) fail_msg("%s %s", m->desc->name, text);
        struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, NULL);
        void *metrics = run(r, m, space_fixed(slow.space), NULL);
        free(metrics);
        runner_free(r);
        one_release(&slow);
    }
}

static void events__take_the_time_of_their_bytes(void **state)
{
    (void)state;
    each_model(check_slow_dram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events__fill_every_metric_and_parts_that_add_up),
        cmocka_unit_test(events__run_to_an_end_at_any_point_in_range),
        cmocka_unit_test(events__parameters_are_read_where_they_are_said_to_be),
        cmocka_unit_test(events__are_the_same_for_the_same_seed),
        cmocka_unit_test(events__are_the_same_from_any_number_of_threads),
        cmocka_unit_test(events__say_the_same_while_watched),
        cmocka_unit_test(events__move_the_bytes_of_the_closed_form),
        cmocka_unit_test(events__idealised_are_the_closed_form_and_fill_and_drain),
        cmocka_unit_test(events__stop_when_told_to),
        cmocka_unit_test(events__take_the_time_of_their_bytes),
    };
    return cmocka_run_group_tests(tests, set_up_thin, tear_down);
}
