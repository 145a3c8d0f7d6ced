/* Techniques on every kind of LLM, in every model: eviction is refused by all of them or carried out by all of them, and no number
 * that was measured on one kind of attention stands for another. */
#include "both_levels.h"

#include <dse/cache.h>

static const char *const models[] = {"lad", "veda", "swiftkv", "flashdecoding", "ane"};
enum { MODELS = sizeof models / sizeof *models };

/* What a model needs beside to carry a technique out. */
static const char *beside(const char *model)
{
    if (strcmp(model, "lad") == 0) return "decoding=full-cache layers_simulated=1";
    if (strcmp(model, "ane") == 0) return "row_multiple=1";
    return strcmp(model, "flashdecoding") == 0 ? "batch=16" : "layers_simulated=1 rows_simulated=4096 stream_mib=0.5";
}

/* The point of these settings, and one sequence; NULL, or why it is refused. */
static const char *point(struct both_levels *b, const char *model, const char *settings)
{
    char *text = xasprintf("batch=1 boundary=streamed eviction=none %s %s", beside(model), settings), *list[SETTINGS_MAX];
    size_t n = 0;
    for (char *s = strtok(text, " "); s; s = strtok(NULL, " ")) {
        bool again = false; /* the last one counts */
        for (size_t i = 0; i < n; i++)
            if (strncmp(list[i], s, strcspn(s, "=") + 1) == 0) list[i] = s, again = true;
        assert_true(n < SETTINGS_MAX);
        if (!again) list[n++] = s;
    }
    struct one o;
    memset(b, 0, sizeof *b);
    b->model = registry_find(model);
    const bool ok = one_init(&o, b->model, list, n);
    if (!ok) diags_print(&diags, stderr, false);
    assert_true(ok);
    memcpy(b->params, space_fixed(o.space), b->model->desc->params_size);
    one_release(&o);
    free(text);
    const char *why = b->model->desc->check(b->params);
    if (!why) b->model->desc->estimate(b->params, b->closed, &b->closed_parts);
    return why;
}

static double number_of(const struct both_levels *b, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&b->model->metrics, name);
    return f ? field_number(f, metrics) : (double)NAN;
}

static double closed_of(const struct both_levels *b, const char *name)
{
    return number_of(b, b->closed, name);
}

static double events_of(const struct both_levels *b, const char *name)
{
    return number_of(b, b->events, name);
}

static const struct dse_llm *llm_at(size_t i)
{
    return (const void *)catalog_at(catalog, DSE_KIND_LLM, i);
}

/* ---- eviction ------------------------------------------------------------------------------------------------------------ */

/* Said apart from dse_llm_is_plain: all layers full attention, none with experts. */
static bool may_evict(const struct dse_llm *llm)
{
    for (int64_t i = 0; i < llm->layers; i++)
        if (dse_llm_layer(llm, i)->attention != DSE_FULL || dse_llm_layer(llm, i)->feed_forward != DSE_FFN_DENSE ||
            dse_llm_layer(llm, i)->beside != DSE_NO_MIXER)
            return false;
    return true;
}

/* The sentence that all models have in common. */
static bool is_of_kind(const char *why)
{
    return why && strstr(why, "eviction needs an LLM") && strstr(why, "(eviction, llm)");
}

static void eviction__is_refused_by_all_models_or_by_none(void **state)
{
    (void)state;
    static const char *const policies[] = {"voting", "h2o", "window", "snapkv", "pyramidkv", "quest"};
    static struct both_levels b;
    size_t refused = 0, asked = 0;
    for (size_t i = 0; llm_at(i); i++) {
        const struct dse_llm *llm = llm_at(i);
        const bool may = may_evict(llm);
        for (size_t m = 0; m < MODELS; m++) {
            for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
                char *settings = xasprintf("llm=%s eviction=%s eviction_ratio=0.5", llm->entry.name, policies[k]);
                const char *why = point(&b, models[m], settings);
                if (is_of_kind(why) == may) fail_msg("%s %s: %s", models[m], settings, why ? why : "carried out");
                free(settings);
                refused += !may;
                asked++;
            }
            char *none = xasprintf("llm=%s", llm->entry.name);
            const char *why = point(&b, models[m], none);
            if (why && strstr(why, "(eviction")) fail_msg("%s %s: %s", models[m], none, why);
            free(none);
        }
    }
    print_message("%zu of %zu refused\n", refused, asked);
    assert_true(refused > 0 && refused < asked);
}

/* Bytes a token that leaving a quarter of 2048 positions saves, from a half, or from three quarters. */
static double saved(struct both_levels *b, struct both_levels *fewer, const char *model, const char *llm, double from, bool events)
{
    static const unsigned quiet = DSE_IDEAL_REFRESH;
    char *many = xasprintf("llm=%s context=2048 kv_bits=16 eviction=window eviction_ratio=%g", llm, from),
         *few = xasprintf("llm=%s context=2048 kv_bits=16 eviction=window eviction_ratio=%g", llm, from - 0.25);
    const char *why = point(b, model, many), *or_why = point(fewer, model, few);
    if (why || or_why) fail_msg("%s %s: %s", model, many, why ? why : or_why);
    if (events) run_events(b, quiet);
    if (events) run_events(fewer, quiet);
    assert_true(closed_of(b, "cached_positions") == 2048 * from);
    assert_true(closed_of(fewer, "cached_positions") == 2048 * (from - 0.25));
    if (events) assert_true(events_of(b, "cached_positions") == 2048 * from);
    if (!(closed_of(fewer, "attention_us") < closed_of(b, "attention_us"))) fail_msg("%s %s is no faster", model, few);
    if (events) assert_true(events_of(fewer, "attention_us") < events_of(b, "attention_us"));
    const double mib = closed_of(b, "dram_mib") - closed_of(fewer, "dram_mib");
    if (events &&
        !(fabs((events_of(b, "dram_mib") - events_of(fewer, "dram_mib")) / mib - 1) < 0.1)) /* vectors that are done again */
        fail_msg("%s %s: %g MiB, and %g in events", model, few, mib, events_of(b, "dram_mib") - events_of(fewer, "dram_mib"));
    free(many);
    free(few);
    return mib;
}

/* The knob moves what it says: the same positions in every model, and their keys and values are not read; of heads with keys of
 * their own, and of grouped ones. */
static void eviction__saves_the_bytes_of_the_positions_that_leave(void **state)
{
    (void)state;
    enum { KV_BITS = 16 };
    static const char *const llms[] = {"opt-2.7b", "llama3.2-1b"};
    static struct both_levels b, fewer;
    for (size_t k = 0; k < sizeof llms / sizeof *llms; k++) {
        const struct dse_llm *llm = (const void *)catalog_find(catalog, DSE_KIND_LLM, llms[k]);
        for (size_t m = 0; m < MODELS; m++) {
            const bool events = strcmp(models[m], "lad") != 0; /* whose event level takes minutes: tests/unit/test_technique.c */
            const double first = saved(&b, &fewer, models[m], llms[k], 0.75, events),
                         second = saved(&b, &fewer, models[m], llms[k], 0.5, false);
            const double mib = 512 * dse_kv_bytes_per_token(llm, KV_BITS) / (1024 * 1024);
            if (!(fabs(first / second - 1) < 1e-9)) fail_msg("%s %s: %g MiB, then %g", models[m], llms[k], first, second);
            if (!(first >= mib * (1 - 1e-9))) fail_msg("%s %s: %g MiB of %g", models[m], llms[k], first, mib);
        }
    }
}

/* ---- trust --------------------------------------------------------------------------------------------------------------- */

/* The least that a word must admit: what was measured, on what, for whom. */
static int32_t worst_of(const struct dse_llm *llm, bool own, bool extended)
{
    for (int64_t i = 0; i < llm->layers && !own; i++)
        if (dse_llm_layer(llm, i)->attention != DSE_FULL && dse_llm_layer(llm, i)->attention != DSE_NO_MIXER)
            return DSE_QUALITY_UNKNOWN;
    return !own ? DSE_QUALITY_OTHER_LLM : extended ? DSE_QUALITY_EXTENDED : DSE_QUALITY_MEASURED;
}

struct lossy {
    const char *model, *settings;
};
static const struct lossy lossy[] = {
    {NULL, "eviction=window eviction_ratio=0.5 kv_bits=16 quality_from=surface"},
    {NULL, "eviction=window eviction_ratio=0.5 kv_bits=16 quality_from=retention retention=codellama-13b"},
    {NULL, "kv_bits=8 kv_scale_bits=1 quality_from=surface"},
    {"swiftkv", "arithmetic_error=measured kv_bits=16"},
    {"flashdecoding", "arithmetic_error=measured unified_max=0 softmax=asynchronous kv_bits=16"},
    {"lad", "decoding=locality-aware draws=surface kv_bits=16"},
    {"lad", "decoding=locality-aware profile=codellama-13b kv_bits=16"},
    {"lad", "decoding=locality-aware profile=tinyllama-1.1b kv_bits=16"},
};

/* 1 where a word is told. */
static size_t ask_trust(struct both_levels *b, const char *model, const struct lossy *l, const struct dse_llm *llm, int64_t context)
{
    struct dse_standing s = {0};
    char *settings = xasprintf("llm=%s context=%lld %s", llm->entry.name, (long long)context, l->settings);
    const bool refused = point(b, model, settings) != NULL;
    if (!refused) b->model->desc->stand(b->params, &s);
    const double error = refused ? 0 : closed_of(b, "attention_error");
    /* Layers without positions have no word to tell of LAD's decoding. */
    const bool loses = !refused && s.quality > DSE_QUALITY_ROUNDED;
    if (loses && s.quality < worst_of(llm, false, context > 2048))
        fail_msg("%s %s: %s", model, settings, dse_quality_names[s.quality]);
    if (loses && (s.quality == DSE_QUALITY_UNKNOWN) != isnan(error)) fail_msg("%s %s: %g", model, settings, error);
    if (!loses && !refused && error != 0) fail_msg("%s %s: %g, and %s", model, settings, error, dse_quality_names[s.quality]);
    if (loses && s.quality == DSE_QUALITY_UNKNOWN) assert_true(s.unknown && strlen(s.unknown) > 20);
    free(settings);
    return loses;
}

static void trust__is_never_better_than_the_data(void **state)
{
    (void)state;
    static struct both_levels b;
    size_t told = 0;
    for (size_t i = 0; llm_at(i); i++)
        for (size_t m = 0; m < MODELS; m++)
            for (size_t k = 0; k < sizeof lossy / sizeof *lossy; k++) {
                if (lossy[k].model && strcmp(lossy[k].model, models[m]) != 0) continue;
                told += ask_trust(&b, models[m], &lossy[k], llm_at(i), 1024);
                told += ask_trust(&b, models[m], &lossy[k], llm_at(i), 4096);
            }
    print_message("%zu points lose something\n", told);
    assert_true(told > 200);
}

/* A file that names the very LLM counts, whatever its layers are; one that does not, does not. */
static void trust__of_the_very_llm_is_measured(void **state)
{
    (void)state;
    enum { CONTEXT = 1024, BEYOND = 8192 };
    static const struct {
        const char *llm;
        bool own;
        int64_t context;
        int32_t quality;
    } cases[] = {
        {"llama2-7b", true, CONTEXT, DSE_QUALITY_MEASURED},    {"llama2-7b", true, BEYOND, DSE_QUALITY_EXTENDED},
        {"llama2-7b", false, CONTEXT, DSE_QUALITY_OTHER_LLM},  {"llama2-7b", false, BEYOND, DSE_QUALITY_OTHER_LLM},
        {"gemma3-1b", true, CONTEXT, DSE_QUALITY_MEASURED},    {"gemma3-1b", true, BEYOND, DSE_QUALITY_EXTENDED},
        {"gemma3-1b", false, CONTEXT, DSE_QUALITY_UNKNOWN},    {"deepseek-v3", true, CONTEXT, DSE_QUALITY_MEASURED},
        {"deepseek-v3", false, CONTEXT, DSE_QUALITY_UNKNOWN},  {"deepseek-v3.2", false, CONTEXT, DSE_QUALITY_UNKNOWN},
        {"llama3-8b", false, CONTEXT, DSE_QUALITY_OTHER_LLM},  {"mixtral-8x7b", false, CONTEXT, DSE_QUALITY_OTHER_LLM},
        {"mamba2-2.7b", false, CONTEXT, DSE_QUALITY_UNKNOWN},  {"qwen3-next-80b-a3b", false, CONTEXT, DSE_QUALITY_UNKNOWN},
        {"llama4-scout", false, CONTEXT, DSE_QUALITY_UNKNOWN},
    };
    const struct dse_quality *surface = (const void *)catalog_find(catalog, DSE_KIND_QUALITY, "codellama-13b");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dse_llm llm = *(const struct dse_llm *)(const void *)catalog_find(catalog, DSE_KIND_LLM, cases[i].llm);
        if (cases[i].own) llm.entry.name = "codellama-13b";
        const struct dse_workload w = {
            .llm = &llm, .batch = 1, .context = cases[i].context, .weight_bits = 16, .kv_bits = 8, .kv_scale_bits = 1};
        const struct dse_cache c = {.quality_from = DSE_FROM_SURFACE, .surface = surface};
        const struct dse_cache_steps steps = dse_cache_steps_of(&c, &w, NULL);
        struct dse_standing s = {0};
        struct dse_kept_bound bound;
        dse_cache_stand(&steps, &s);
        dse_cache_quality_bound(&steps, &steps, dse_iv_of((double)INFINITY), &bound);
        const bool known = cases[i].quality != DSE_QUALITY_UNKNOWN;
        if (s.quality != cases[i].quality) fail_msg("%zu %s: %s", i, cases[i].llm, dse_quality_names[s.quality]);
        if (known != (bound.error.hi < (double)INFINITY)) fail_msg("%zu %s: bound %g", i, cases[i].llm, bound.error.hi);
        assert_true((s.n_beyond > 0) == (cases[i].context == BEYOND && known)); /* it is said, of another LLM too */
        assert_true(s.unknown == NULL || strstr(s.unknown, "(llm)"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eviction__is_refused_by_all_models_or_by_none),
        cmocka_unit_test(eviction__saves_the_bytes_of_the_positions_that_leave),
        cmocka_unit_test(trust__is_never_better_than_the_data),
        cmocka_unit_test(trust__of_the_very_llm_is_measured),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
