/* Techniques of the cache in every model: each of their parameters, changed once, moves some metric at both levels, or is refused;
 * and a technique that is off moves nothing. */
#include "both_levels.h"

#include <dse/cache.h>

static const char *const models[] = {"lad", "veda", "swiftkv", "flashdecoding", "ane"};
enum { MODELS = sizeof models / sizeof *models };

/* What a model needs beside for a cache that loses positions, at a context that was measured. */
static const char *beside(const char *model)
{
    if (strcmp(model, "lad") == 0) return "decoding=full-cache batch=1 quality_from=surface llm=opt-2.7b layers_simulated=1";
    if (strcmp(model, "ane") == 0) return "quality_from=surface";
    if (strcmp(model, "flashdecoding") == 0) return "quality_from=surface boundary=bulk batch=16";
    return "quality_from=surface boundary=bulk layers_simulated=1 rows_simulated=4096 stream_mib=0.5";
}

/* LAD's event level carries out a whole cache: it is asked once, and without banks. */
static bool is_slow(const char *model)
{
    return strcmp(model, "lad") == 0;
}

/* The point; NULL, or why it is refused: then the event level is not run. */
static const char *at(struct both_levels *b, const char *model, const char *settings, bool events)
{
    char *all = xasprintf("context=1024 kv_bits=16 %s %s", beside(model), settings), *list[SETTINGS_MAX];
    char *text = xstrdup(all);
    const size_t n = settings_split(text, list, SETTINGS_MAX);
    struct one o;
    b->model = registry_find(model);
    const bool ok = one_init(&o, b->model, list, n);
    if (!ok) diags_print(&diags, stderr, false);
    assert_true(ok);
    memcpy(b->params, space_fixed(o.space), b->model->desc->params_size);
    one_release(&o);
    const char *why = b->model->desc->check(b->params);
    memset(b->closed, 0, sizeof b->closed);
    memset(b->events, 0, sizeof b->events);
    b->closed_parts.n = b->closed_parts.n_causes = 0;
    if (!why) b->model->desc->estimate(b->params, b->closed, &b->closed_parts);
    if (!why && events) run_events(b, is_slow(model) ? DSE_IDEAL_DRAM : 0);
    free(text);
    free(all);
    return why;
}

static bool differ(const struct model *m, const void *a, const void *b)
{
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        if (f->without || f->type != DSE_TYPE_F64) continue;
        const double x = field_number(f, a), y = field_number(f, b);
        if (isnan(x) != isnan(y) || (!isnan(x) && x != y)) return true;
    }
    return false;
}

static void technique__every_parameter_moves_something_or_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } changes[] = {
        {"eviction=none", "eviction=window"},
        {"eviction=h2o eviction_ratio=0.5", "eviction=h2o eviction_ratio=0.25"},
        {"eviction=h2o cache_length=0", "eviction=h2o cache_length=300"},
        {"eviction=h2o vote_bits=16", "eviction=h2o vote_bits=32"},
        {"eviction=h2o boundary=streamed", "eviction=h2o boundary=as-listed"},
        {"eviction=h2o recent_share=0.5", "eviction=h2o recent_share=0.6"},
        {"eviction=voting reserved_length=32", "eviction=voting reserved_length=700"},
        {"eviction=voting threshold_a=1", "eviction=voting threshold_a=0.9"},
        {"eviction=voting boundary=streamed threshold_b=0.2", "eviction=voting boundary=streamed threshold_b=0.3"},
        {"eviction=window sinks=4", "eviction=window sinks=8"},
        {"eviction=snapkv observed=32", "eviction=snapkv observed=64"},
        {"eviction=snapkv pool=7", "eviction=snapkv pool=5"},
        {"eviction=pyramidkv beta=20", "eviction=pyramidkv beta=10"},
        {"eviction=quest page=16", "eviction=quest page=32"},
        {"eviction=window surface=codellama-13b", "eviction=window surface=tinyllama-1.1b"},
        {"eviction=window quality_from=surface", "eviction=window quality_from=retention"},
        {"eviction=window quality_from=retention retention=codellama-13b",
         "eviction=window quality_from=retention retention=tinyllama-1.1b"},
        {"llm=opt-2.7b eviction=none task=wikitext2-perplexity", "llm=opt-2.7b eviction=none task=lambada-perplexity"},
        {"eviction=none kv_bits=8 kv_scale_bits=0", "eviction=none kv_bits=8 kv_scale_bits=1"},
        {"eviction=h2o kv_bits=8 kv_scale_bits=1", "eviction=h2o kv_bits=8 kv_scale_bits=2"},
        {"eviction=none kv_bits=4 kv_scale_bits=1 kv_format=token", "eviction=none kv_bits=4 kv_scale_bits=1 kv_format=kivi"},
        {"eviction=none kv_bits=4 kv_scale_bits=1 kv_format=kivi",
         "eviction=none kv_bits=4 kv_scale_bits=1 kv_format=kivi kv_residual=64"},
    };
    static struct both_levels one, other;
    size_t moved = 0;
    for (size_t m = 0; m < MODELS; m++) {
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
            const bool events = !is_slow(models[m]) || i == 0;
            const char *why = at(&one, models[m], changes[i].from, events), *or_why = at(&other, models[m], changes[i].to, events);
            if (why || or_why) continue;
            const struct model *model = one.model;
            if (!differ(model, one.closed, other.closed)) fail_msg("%s: %s moves nothing", models[m], changes[i].to);
            if (events && !differ(model, one.events, other.events))
                fail_msg("%s: %s moves nothing at event level", models[m], changes[i].to);
            moved++;
        }
    }
    print_message("%zu changes move something\n", moved);
    assert_true(moved >= 80); /* of 95: VEDA and the Neural Engine refuse some policies */
}

/* As much is read as the technique says, at both levels: less time for a shorter read set, and more error. */
static void technique__fewer_positions_are_faster_and_worse(void **state)
{
    (void)state;
    static const char *const policies[] = {"window", "h2o", "voting", "quest", "snapkv"};
    static struct both_levels half, quarter;
    for (size_t m = 0; m < MODELS; m++) {
        for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
            char *few = xasprintf("eviction=%s eviction_ratio=0.25", policies[i]),
                 *many = xasprintf("eviction=%s eviction_ratio=0.5", policies[i]);
            const bool events = !is_slow(models[m]) && i < 2;
            if (!at(&half, models[m], many, events) && !at(&quarter, models[m], few, events)) {
                const double us = closed_metric(&quarter, "attention_us"), longer = closed_metric(&half, "attention_us");
                if (!(us < longer)) fail_msg("%s %s: %g us, %g", models[m], policies[i], us, longer);
                if (events) assert_true(event_metric(&quarter, "attention_us") < event_metric(&half, "attention_us"));
                const double error = closed_metric(&quarter, "attention_error"), less = closed_metric(&half, "attention_error");
                if (!isnan(error) && !(error > less)) fail_msg("%s %s: %g, %g", models[m], policies[i], error, less);
            }
            free(few);
            free(many);
        }
    }
}

/* Scales of a cache of few bits: their bytes are those of a width between, at both levels; their error is the file's. */
static void technique__scales_are_bytes_and_have_an_error(void **state)
{
    (void)state;
    static struct both_levels four, scaled, eight;
    for (size_t m = 0; m < MODELS; m++) {
        const bool events = !is_slow(models[m]);
        assert_null(at(&four, models[m], "eviction=none kv_bits=4", events));
        assert_null(at(&scaled, models[m], "eviction=none kv_bits=4 kv_scale_bits=1", events));
        assert_null(at(&eight, models[m], "eviction=none kv_bits=8", events));
        const double less = closed_metric(&four, "dram_mib"), mib = closed_metric(&scaled, "dram_mib"),
                     more = closed_metric(&eight, "dram_mib");
        assert_true(less < mib && fabs((mib - less) / (more - less) - 0.25) < 1e-6);
        assert_true(closed_metric(&four, "latency_us") <= closed_metric(&scaled, "latency_us"));
        if (events) assert_true(event_metric(&four, "dram_mib") < event_metric(&scaled, "dram_mib"));
        assert_float_equal(closed_metric(&four, "attention_error"), 0, 0);
        assert_float_equal(closed_metric(&scaled, "attention_error"), 0.12416, 1e-12); /* catalog/quality/codellama-13b.csv */
        assert_float_equal(closed_metric(&scaled, "attention_error_sd"), 0.03604, 1e-12);
        assert_float_equal(closed_metric(&scaled, "retained_mass"), 1, 0);
    }
}

/* KIVI's format: the residual's rows at 16 bits are what it moves and holds more, and its error is the file's. Elsewhere it is
 * refused. */
static void technique__kivi_keeps_a_residual_at_16_bits(void **state)
{
    (void)state;
    static struct both_levels token, kivi;
    for (size_t m = 0; m < MODELS; m++) {
        const bool events = !is_slow(models[m]);
        const char *why = at(&kivi, models[m], "eviction=none kv_bits=4 kv_scale_bits=1 kv_format=kivi", events);
        if (strcmp(models[m], "veda") == 0 || strcmp(models[m], "ane") == 0) {
            assert_true(why && strstr(why, "kv_format"));
            continue;
        }
        assert_null(why);
        assert_null(at(&token, models[m], "eviction=none kv_bits=4 kv_scale_bits=1", events));
        assert_true(closed_metric(&kivi, "dram_mib") > closed_metric(&token, "dram_mib"));
        assert_true(closed_metric(&kivi, "attention_us") + closed_metric(&kivi, "technique_mib") >
                    closed_metric(&token, "attention_us") + closed_metric(&token, "technique_mib"));
        assert_true(closed_metric(&kivi, "attention_error") < closed_metric(&token, "attention_error"));
        if (events) assert_true(event_metric(&kivi, "dram_mib") > event_metric(&token, "dram_mib"));
        why = at(&kivi, models[m], "eviction=h2o kv_bits=4 kv_scale_bits=1 kv_format=kivi", false);
        assert_true(why && strstr(why, "kv_format"));
        why = at(&kivi, models[m], "eviction=none kv_bits=16 kv_format=kivi", false);
        assert_true(why && strstr(why, "kv_format"));
        assert_null(at(&kivi, models[m], "eviction=none kv_bits=4 kv_scale_bits=1 kv_format=kivi kv_residual=96", false));
        assert_true(isnan(closed_metric(&kivi, "attention_error"))); /* nobody measured it */
    }
    assert_non_null(at(&kivi, "lad", "decoding=locality-aware eviction=none kv_bits=4 kv_scale_bits=1 kv_format=kivi", false));
}

/* What the residual is, of one sequence and layer. */
static void technique__kivi_residual_is_what_its_algorithm_says(void **state)
{
    (void)state;
    struct dse_llm llm = {.kv_heads = 8, .head_dim = 128};
    struct dse_workload w = {.llm = &llm, .phase = DSE_DECODE, .batch = 1, .context = 4096, .kv_bits = 2, .kv_scale_bits = 1};
    struct dse_cache c = {.eviction_ratio = 1, .kv_format = DSE_KV_KIVI, .kv_residual = 128};
    struct dse_cache_step s;
    dse_cache_step_at(&c, &w, &s);
    const double row = 8 * 128 * 2; /* keys of a position, or values */
    assert_float_equal(s.residual_bytes, (row * (63.5 + 128 + 2)), 0);
    assert_float_equal(s.besides_bytes, (row * 256), 0);
    assert_float_equal(dse_cache_moved(&s), s.residual_bytes, 0);
    w.context = 20; /* all of them */
    dse_cache_step_at(&c, &w, &s);
    assert_float_equal(s.residual_bytes, (row * (20 + 20 + 2)), 0);
    c.kv_format = DSE_KV_TOKEN;
    dse_cache_step_at(&c, &w, &s);
    assert_float_equal(dse_cache_moved(&s), 0, 0);
}

/* A task has a row of a technique, or of none: VEDA's voting was scored on nothing. */
static void technique__has_the_score_that_was_published(void **state)
{
    (void)state;
    static struct both_levels b;
    for (size_t m = 0; m < MODELS; m++) {
        static const struct {
            const char *settings;
            double score, loss;
            const char *why;
        } cases[] = {
            {"eviction=none", 8.71, 0, NULL},
            {"eviction=h2o eviction_ratio=0.2 boundary=streamed", 8.82, 8.82 / 8.71 - 1, NULL},
            {"eviction=h2o eviction_ratio=0.2 boundary=streamed task=alpaca-rouge1", 19.2, 1 - 0.192, NULL},
            {"eviction=h2o eviction_ratio=0.25 boundary=streamed", NAN, NAN, "other ratios or settings"},
            {"eviction=h2o eviction_ratio=0.2 boundary=streamed recent_share=0.4", NAN, NAN, "other ratios or settings"},
            {"eviction=h2o cache_length=200 boundary=streamed", NAN, NAN, "cache_length"},
            {"eviction=window boundary=streamed", NAN, NAN, "this technique"},
            {"eviction=none kv_bits=8", NAN, NAN, "16-bit"},
            {"eviction=none kv_bits=4 kv_scale_bits=1", NAN, NAN, "this technique"},
            {"eviction=h2o eviction_ratio=0.2 boundary=streamed kv_bits=4 kv_scale_bits=1", NAN, NAN, "together"},
            {"eviction=none llm=mistral-7b", NAN, NAN, "this LLM"},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char *settings = xasprintf("llm=llama2-7b %s", cases[i].settings);
            const bool events = i == 1 && !is_slow(models[m]);
            assert_null(at(&b, models[m], settings, events));
            const double score = closed_metric(&b, "task_score"), loss = closed_metric(&b, "task_loss");
            const char *why = b.model->desc->why_null(b.params, "task_score");
            if (cases[i].why && !(why && strstr(why, cases[i].why))) fail_msg("%s %s: %s", models[m], settings, why);
            assert_true(isnan(score) == (why != NULL) && isnan(loss) == isnan(score));
            if (!why && (score != cases[i].score || fabs(loss - cases[i].loss) > 1e-12))
                fail_msg("%s %s: %g, %g", models[m], settings, score, loss);
            if (events) assert_true(event_metric(&b, "task_score") == score);
            free(settings);
        }
    }
}

/* LAD's own decoding, and arithmetic where it counts, have rows of their own. */
static void technique__of_a_machine_has_its_papers_score(void **state)
{
    (void)state;
    static struct both_levels b;
    static const char lad[] = "llm=llama2-7b decoding=locality-aware intervals=5 task=alpaca-rouge1",
                      other[] = "llm=llama2-7b decoding=locality-aware intervals=8",
                      fixed[] = "llm=llama2-7b kv_bits=8 arithmetic_error=measured task=pg-19-top3";
    assert_null(at(&b, "lad", lad, false));
    assert_true(closed_metric(&b, "task_score") == 95.9 && fabs(closed_metric(&b, "task_loss") - 0.041) < 1e-12);
    assert_null(at(&b, "lad", other, false));
    assert_true(isnan(closed_metric(&b, "task_score")));
    assert_non_null(strstr(b.model->desc->why_null(b.params, "task_loss"), "other ratios or settings"));
    assert_null(at(&b, "swiftkv", fixed, false));
    assert_true(closed_metric(&b, "task_score") == 99 && fabs(closed_metric(&b, "task_loss") - 0.01) < 1e-12);
}

/* Numbers made of a cache with scales: 4 bits with scales of 1 are as many bytes as 5 bits without, so that the difference of the
 * two is what that takes. A stage of SwiftKV's pipeline does it beside. */
static void technique__scales_take_operations(void **state)
{
    (void)state;
    static struct both_levels plain, scaled;
    for (size_t m = 0; m < MODELS; m++) {
        const bool events = !is_slow(models[m]), free = strcmp(models[m], "swiftkv") == 0;
        assert_null(at(&plain, models[m], "eviction=none kv_bits=5", events));
        assert_null(at(&scaled, models[m], "eviction=none kv_bits=4 kv_scale_bits=1", events));
        static const char *const dearer[] = {"latency_us", "attention_us", "energy_mj"};
        assert_true(closed_metric(&plain, "dram_mib") == closed_metric(&scaled, "dram_mib"));
        for (size_t i = 0; i < sizeof dearer / sizeof *dearer; i++) {
            const double less = closed_metric(&plain, dearer[i]), more = closed_metric(&scaled, dearer[i]);
            if (free ? more != less : !(more > less)) fail_msg("%s: %s %g, %g", models[m], dearer[i], more, less);
            if (!events) continue;
            const double first = event_metric(&plain, dearer[i]), then = event_metric(&scaled, dearer[i]);
            if (free ? then != first : !(then > first)) fail_msg("%s: %s %g, %g in events", models[m], dearer[i], then, first);
            if (!free && i == 1) assert_true(fabs((then - first) / (more - less) - 1) < 0.35);
        }
        if (strcmp(models[m], "ane") == 0) continue; /* a call is the same whatever it is used for */
        if (at(&plain, models[m], "eviction=none phase=prefill kv_bits=5", false)) continue;
        assert_null(at(&scaled, models[m], "eviction=none phase=prefill kv_bits=4 kv_scale_bits=1", false));
        assert_true(closed_metric(&plain, "latency_us") == closed_metric(&scaled, "latency_us"));
    }
}

static void near_to(double is, double should)
{
    if (!(fabs(is - should) <= 1e-9 * fabs(should))) fail_msg("%.12g instead of %.12g", is, should);
}

/* Of VEDA as many cycles as q K^T takes of one query head; of LAD a pass a row. */
static void technique__scales_take_the_cycles_that_are_stated(void **state)
{
    (void)state;
    static struct both_levels plain, scaled;
    static const char wide[] = "eviction=none llm=llama2-7b kv_bits=5",
                      narrow[] = "eviction=none llm=llama2-7b kv_bits=4 kv_scale_bits=1";
    assert_null(at(&plain, "veda", wide, false));
    assert_null(at(&scaled, "veda", narrow, false));
    const double start_us = 32 * 58e-3; /* VEDA's E38 */
    near_to(closed_metric(&scaled, "attention_us") - start_us, 2 * (closed_metric(&plain, "attention_us") - start_us));
    static const char aware[] = "decoding=locality-aware kv_bits=5 quality_from=retention",
                      aware_scaled[] = "decoding=locality-aware kv_bits=4 kv_scale_bits=1 quality_from=retention";
    if (at(&plain, "lad", aware, true) || at(&scaled, "lad", aware_scaled, true)) fail();
    assert_true(closed_metric(&scaled, "md_cycles") == 2 * closed_metric(&plain, "md_cycles"));
    near_to(event_metric(&scaled, "md_cycles"), 2 * event_metric(&plain, "md_cycles"));
    const double md_over_ac = 2.0 / 3; /* their VPUs */
    near_to(closed_metric(&scaled, "ac_cycles") - closed_metric(&plain, "ac_cycles"),
            md_over_ac * closed_metric(&plain, "md_cycles"));
}

/* What was not measured has no error, and what cannot be is refused. */
static void technique__scales_that_nobody_measured_have_no_error(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *why;
    } cases[] = {
        {"eviction=none kv_bits=4 kv_scale_bits=0.5", "group = 32"},
        {"eviction=none kv_bits=4 kv_scale_bits=1 context=64", "positions"},
        {"kv_bits=4 kv_scale_bits=0.5 eviction=window", "window"},
        {"kv_bits=4 kv_scale_bits=0 eviction=window", "window"},
        {"eviction=none kv_bits=4 kv_scale_bits=1 quality_from=retention", "quality_from"},
    };
    static struct both_levels b;
    for (size_t m = 0; m < MODELS; m++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (at(&b, models[m], cases[i].settings, false)) continue;
            if (!isnan(closed_metric(&b, "attention_error"))) fail_msg("%s %s", models[m], cases[i].settings);
            const char *why = b.model->desc->why_null(b.params, "attention_error");
            if (!why || !strstr(why, cases[i].why)) fail_msg("%s %s: %s", models[m], cases[i].settings, why ? why : "no word");
            struct dse_standing standing = {0};
            b.model->desc->stand(b.params, &standing);
            assert_int_equal(standing.quality, DSE_QUALITY_UNKNOWN);
        }
        const char *why = at(&b, models[m], "kv_bits=16 kv_scale_bits=1", false);
        assert_non_null(why);
        assert_non_null(strstr(why, "kv_scale_bits"));
    }
}

/* What the point says of its attention: known, and exact or off by a tenth at most; a model that computes all of it exactly may
 * have no such metric. */
static void assert_take_home(const struct model *m, const void *params, const void *metrics)
{
    struct dse_standing s = {0};
    const struct field *error = schema_find(&m->metrics, "attention_error");
    assert_non_null(m->desc->stand);
    m->desc->stand(params, &s);
    if (s.quality == DSE_QUALITY_UNKNOWN) fail_msg("%s: nobody knows what its defaults lose: %s", m->desc->name, s.unknown);
    if (s.quality == DSE_QUALITY_EXACT || s.quality == DSE_QUALITY_ROUNDED) return;
    assert_non_null(error);
    const double off = field_number(error, metrics);
    if (!(off >= 0 && off <= 0.1)) fail_msg("%s: its defaults are off by %g of attention's output", m->desc->name, off);
}

static void technique__default_points_lose_at_most_a_tenth_at_both_levels(void **state)
{
    (void)state;
    struct both_levels b;
    for (int i = 0; i < MODELS; i++) {
        both_levels(&b, models[i], is_slow(models[i]) ? "layers_simulated=1" : "", is_slow(models[i]) ? DSE_IDEAL_DRAM : 0);
        assert_take_home(b.model, b.params, b.closed);
        assert_take_home(b.model, b.params, b.events);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(technique__every_parameter_moves_something_or_is_refused),
        cmocka_unit_test(technique__fewer_positions_are_faster_and_worse),
        cmocka_unit_test(technique__scales_are_bytes_and_have_an_error),
        cmocka_unit_test(technique__kivi_keeps_a_residual_at_16_bits),
        cmocka_unit_test(technique__kivi_residual_is_what_its_algorithm_says),
        cmocka_unit_test(technique__has_the_score_that_was_published),
        cmocka_unit_test(technique__of_a_machine_has_its_papers_score),
        cmocka_unit_test(technique__scales_take_operations),
        cmocka_unit_test(technique__scales_take_the_cycles_that_are_stated),
        cmocka_unit_test(technique__scales_that_nobody_measured_have_no_error),
        cmocka_unit_test(technique__default_points_lose_at_most_a_tenth_at_both_levels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
