/* Formats of weights by class: bytes of a step against those of classes counted apart, and what the five models make of them. */
#include "by_name.h"

#include "sim/sim.h"

#include <dse/llm.h>
#include <dse/units.h>

static const char *const models[] = {"veda", "swiftkv", "ane", "lad", "flashdecoding"};
enum { MODELS = sizeof models / sizeof *models };

/* One sequence that has one token. */
static double held(const struct dse_llm *llm, const struct dse_formats *format)
{
    const struct dse_workload w = {.llm = llm, .batch = 1, .context = 1, .weight_bits = 16, .kv_bits = 16, .format = format};
    return dse_workload_footprint(&w);
}

static bool is_near(double got, double want, double scale)
{
    return fabs(got - want) <= 1e-12 * scale;
}

static const struct dse_formats *find_format(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_FORMATS, name);
    if (!e) fail_msg("no format %s", name);
    return (const struct dse_formats *)(const void *)e;
}

static void formats__of_a_checkpoint_hold_what_its_classes_hold(void **state)
{
    (void)state;
    const struct dse_entry *e;
    int narrow = 0;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        const struct dse_llm *llm = (const struct dse_llm *)(const void *)e;
        struct dse_llm_counts n;
        dse_llm_count(llm, &n);
        const double wide = held(llm, NULL), less = held(llm, find_format("checkpoint")) - wide;
        const double want = dse_llm_checkpoint_bytes(llm) - 2 * (double)n.params;
        if (!is_near(less, want, wide)) fail_msg("%s: %.0f bytes, not %.0f", e->name, less, want);
        narrow += want < 0;
    }
    assert_true(narrow >= 4);
}

/* A format of one class moves the bytes of that class and no others. */
static void formats__of_a_class_move_its_weights_alone(void **state)
{
    (void)state;
    const struct dse_entry *e;
    bool seen[DSE_WEIGHT_CLASSES] = {false};
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        const struct dse_llm *llm = (const struct dse_llm *)(const void *)e;
        struct dse_llm_counts n;
        dse_llm_count(llm, &n);
        for (int c = 0; c < DSE_WEIGHT_CLASSES; c++) {
            struct dse_formats f = {0};
            f.weights.bits[c] = 4;
            f.weights.scale_bits[c] = 0.25;
            const double wide = held(llm, NULL), less = held(llm, &f) - wide, want = (double)n.matrices[c] * (4.25 / 8 - 2);
            if (!is_near(less, want, wide)) fail_msg("%s, %s: %.0f, not %.0f", e->name, dse_weight_class_names[c], less, want);
            seen[c] = seen[c] || want < 0;
        }
    }
    for (int c = 0; c < DSE_WEIGHT_CLASSES; c++)
        if (!seen[c]) fail_msg("no LLM has weights of class %s", dse_weight_class_names[c]);
}

/* gpt-oss at one token: 4 of 128 or 32 experts are read, and the table is not. By hand: layers x (2 x 2880 x 64 x 64 + 2 x 2880 x
 * 8 x 64 + 2880 x experts) x 2 bytes, 201,088 x 2880 x 2, and layers x 4 x 3 x 2880 x 2880 x 4.25 / 8. */
static void formats__of_gpt_oss_read_what_is_counted_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *llm;
        double layers, experts;
    } of[] = {{"gpt-oss-120b", 36, 128}, {"gpt-oss-20b", 24, 32}};
    for (size_t i = 0; i < 2; i++) {
        struct dse_oplist list;
        const struct dse_workload w = {.llm = (const void *)catalog_find(catalog, DSE_KIND_LLM, of[i].llm),
                                       .batch = 1,
                                       .context = 1,
                                       .weight_bits = 4,
                                       .kv_bits = 16,
                                       .format = find_format("checkpoint")};
        dse_workload_expand(&w, &list);
        double bytes = 0;
        for (int k = 0; k < list.n; k++) bytes += list.op[k].weight_bytes;
        const double wide = of[i].layers * 2880 * (2 * 64 * 64 + 2 * 8 * 64 + of[i].experts) + 201088.0 * 2880;
        const double experts = of[i].layers * 4 * 3 * 2880 * 2880;
        assert_true(is_near(bytes, 2 * wide + experts * 4.25 / 8, bytes));
    }
}

/* ---- models ---------------------------------------------------------------------------------------------------------------- */

struct answer {
    double seconds, joules, bytes, held, modules;
};

static double metric(const struct model *m, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&m->metrics, name);
    return f ? *(const double *)(const void *)((const char *)metrics + f->offset) : (double)NAN;
}

static struct answer ask(const char *model, const char *settings, const struct dse_formats *format, bool events)
{
    _Alignas(16) char metrics[NAMED_BYTES] = {0};
    struct point p = point_of(model, settings);
    put(&p, param_of(&p, "format"), (struct value){.ref = &format->entry});
    const char *why = p.model->desc->check(p.params);
    if (why) fail_msg("%s: %s", model, why);
    if (events) {
        struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = 0});
        if (!p.model->desc->simulate(p.params, sim, metrics, NULL)) fail_msg("%s: %s", model, dse_sim_error(sim));
        sim_free(sim);
    } else {
        p.model->desc->estimate(p.params, metrics, NULL);
    }
    return (struct answer){metric(p.model, metrics, "latency_us"), metric(p.model, metrics, "energy_mj"),
                           metric(p.model, metrics, "dram_mib"), metric(p.model, metrics, "dram_footprint_gib"),
                           metric(p.model, metrics, "energy_modules_mj")};
}

static const char *settings_of(int model, bool mixture)
{
    static const char *const own[] = {"eviction=none layers_simulated=1", "layers_simulated=1", "",
                                      "decoding=full-cache layers_simulated=1", "layers_simulated=1"};
    static _Thread_local char text[200];
    snprintf(text, sizeof text, "llm=%s batch=2 context=600 weight_bits=16 kv_bits=16 capacity_gib=100 %s",
             mixture ? "gpt-oss-20b" : "llama3.2-1b", own[model]);
    return text;
}

static struct dse_formats all_of(double bits, double scale_bits)
{
    struct dse_formats f = {.entry = {.name = "made"}};
    for (int c = 0; c < DSE_WEIGHT_CLASSES; c++) {
        f.weights.bits[c] = bits;
        f.weights.scale_bits[c] = scale_bits;
    }
    return f;
}

static void assert_same(const char *model, struct answer a, struct answer b, double share)
{
    if (!(fabs(a.seconds / b.seconds - 1) <= share && fabs(a.joules / b.joules - 1) <= share &&
          fabs(a.bytes / b.bytes - 1) <= 1e-9))
        fail_msg("%s: %.12g %.12g %.12g, not %.12g %.12g %.12g", model, a.seconds, a.joules, a.bytes, b.seconds, b.joules, b.bytes);
}

/* One width by its classes is the same machine as that width by weight_bits. LAD's events have a run of their own for dense LLMs of
 * one width, which takes other samples of the streams. */
static void formats__of_all_classes_are_weight_bits(void **state)
{
    (void)state;
    const struct dse_formats uniform = all_of(0, 0), wide = all_of(16, 0), narrow = all_of(4, 0.25);
    for (int m = 0; m < MODELS; m++)
        for (int i = 0; i < 3; i++) { /* events of a mixture: below */
            const bool events = i == 1, mixture = i == 2;
            const double share = events && strcmp(models[m], "lad") == 0 ? 0.01 : 1e-9;
            char *given = xstrdup(settings_of(m, mixture)), *text = xasprintf("%s weight_scale_bits=0.25", given);
            memcpy(strstr(text, "weight_bits=16"), "weight_bits=4 ", 14);
            const struct answer by_bits = ask(models[m], text, &uniform, events), by_class = ask(models[m], given, &narrow, events);
            assert_same(models[m], by_class, by_bits, share);
            assert_same(models[m], ask(models[m], given, &wide, events), ask(models[m], given, &uniform, events), share);
            free(text);
            free(given);
        }
}

static void formats__of_experts_take_less_of_everything(void **state)
{
    (void)state;
    const struct dse_formats uniform = all_of(0, 0), all = all_of(4, 0.25);
    for (int m = 0; m < MODELS; m++)
        for (int events = 0; events < 2; events++) {
            const char *settings = settings_of(m, true);
            const struct answer wide = ask(models[m], settings, &uniform, events),
                                some = ask(models[m], settings, find_format("mxfp4-experts"), events),
                                least = ask(models[m], settings, &all, events);
            if (!(some.seconds <= wide.seconds && some.joules < wide.joules && some.bytes < wide.bytes))
                fail_msg("%s: narrow experts are no gain", models[m]);
            if (!(least.bytes < some.bytes && least.joules < some.joules)) fail_msg("%s: a narrow rest is no gain", models[m]);
        }
}

/* A multiply-add makes a number of 16 bits of a weight with scales, whatever its bits: half of what two sequences multiply it by.
 * Attention, a prompt's alone, is the rest. Weights without scales take no more energy than those of 16 bits. */
static void weights__with_scales_take_a_multiply_add_each(void **state)
{
    (void)state;
    static const char *const widening[] = {"veda", "lad"};
    const struct dse_formats wide = all_of(16, 0), bare = all_of(4, 0), four = all_of(4, 0.25), eight = all_of(8, 0.5);
    for (int i = 0; i < 2; i++)
        for (int events = 0; events < 2; events++) {
            int m = 0;
            while (strcmp(models[m], widening[i]) != 0) m++;
            char *settings = xasprintf("%s context=1", settings_of(m, false));
            memmove(strstr(settings, "context=600"), strstr(settings, "context=600") + 11,
                    strlen(strstr(settings, "context=600") + 11) + 1);
            const double base = ask(models[m], settings, &wide, events).modules;
            const double none = ask(models[m], settings, &bare, events).modules - base;
            const double more = ask(models[m], settings, &four, events).modules - base;
            const double same = ask(models[m], settings, &eight, events).modules - base;
            free(settings);
            if (fabs(none) > 1e-9 * base || fabs(more - same) > 1e-9 * base || fabs(more - base / 2) > 0.01 * base)
                fail_msg("%s: %.9g and %.9g mJ more than %.9g, without scales %.9g", models[m], more, same, base, none);
        }
}

/* Values of 4 bits beside keys of 8 read the mean of both widths, in both fidelities; "auto" is the width of keys. A latent is key
 * and value. */
static void formats__of_keys_and_values_may_differ(void **state)
{
    (void)state;
    const struct dse_formats uniform = all_of(0, 0);
    for (int m = 0; m < MODELS; m++)
        for (int events = 0; events < 2; events++) {
            struct answer at[3];
            static const char *const widths[] = {"kv_bits=8", "kv_bits=8 value_bits=4", "kv_bits=4 value_bits=4"};
            for (int i = 0; i < 3; i++) {
                char *text = xstrdup(settings_of(m, false)), *all = xasprintf("%s %s", text, widths[i]);
                memmove(strstr(all, "kv_bits=16"), strstr(all, "kv_bits=16") + 10, strlen(strstr(all, "kv_bits=16") + 10) + 1);
                at[i] = ask(models[m], all, &uniform, events);
                free(all);
                free(text);
            }
            const double mean = (at[0].bytes + at[2].bytes) / 2;
            if (fabs(at[1].bytes - mean) > 1e-3 * mean) fail_msg("%s: %.9g MiB, not %.9g", models[m], at[1].bytes, mean);
            const double slack = 1.001; /* of samples */
            if (!(at[2].seconds <= slack * at[1].seconds && at[1].seconds <= slack * at[0].seconds && at[2].joules < at[1].joules &&
                  at[1].joules < at[0].joules))
                fail_msg("%s: narrower values are no gain", models[m]);
        }
    const struct dse_workload w = {
        .llm = (const void *)catalog_find(catalog, DSE_KIND_LLM, "deepseek-v2-lite"), .kv_bits = 8, .value_bits = 4};
    assert_non_null(dse_kv_format_check(&w));
}

/* What a class takes less is free in the memory of every machine, on the path of dense LLMs, too. */
static void formats__of_a_class_free_memory_in_all_models(void **state)
{
    (void)state;
    static const char *const llms[] = {"llama3-8b", "gpt-oss-20b", "gemma4-e2b"};
    for (int m = 0; m < MODELS; m++)
        for (size_t l = 0; l < sizeof llms / sizeof *llms; l++) {
            const struct dse_formats uniform = all_of(0, 0);
            char *settings = xasprintf("llm=%s capacity_gib=200 weight_bits=16 kv_bits=16 batch=1 context=64 %s", llms[l],
                                       m == 0   ? "eviction=none"
                                       : m == 3 ? "decoding=full-cache"
                                                : "");
            struct dse_llm_counts n;
            dse_llm_count((const void *)catalog_find(catalog, DSE_KIND_LLM, llms[l]), &n);
            const double wide = ask(models[m], settings, &uniform, false).held;
            for (int c = 0; c < DSE_WEIGHT_CLASSES; c++) {
                struct dse_formats f = all_of(0, 0);
                f.weights.bits[c] = 4;
                const double less = wide - ask(models[m], settings, &f, false).held, want = (double)n.matrices[c] * 1.5 / DSE_GIB;
                if (!is_near(less, want, wide))
                    fail_msg("%s, %s, %s: %.9g GiB, not %.9g", models[m], llms[l], dse_weight_class_names[c], less, want);
            }
            free(settings);
        }
}

/* Of a pipeline the first stage has the embedding, the last one the head: the fullest is the one whose table is wider. */
static void formats__of_tables_fill_the_first_stage(void **state)
{
    (void)state;
    const struct dse_llm *llm = (const void *)catalog_find(catalog, DSE_KIND_LLM, "llama3-8b");
    struct dse_formats f = all_of(4, 0);
    struct dse_workload w = {
        .llm = llm, .batch = 8, .context = 1, .weight_bits = 16, .kv_bits = 16, .pipeline_parallel = 8, .format = &f};
    const double narrow = dse_workload_footprint(&w), table = dse_llm_head_weights(llm);
    f.weights.bits[DSE_WEIGHTS_TABLES] = 16;
    assert_true(is_near(dse_workload_footprint(&w) - narrow, 1.5 * table, narrow));
    f.weights.bits[DSE_WEIGHTS_HEAD] = 16;
    assert_true(is_near(dse_workload_footprint(&w) - narrow, 1.5 * table, narrow));
    f.weights.bits[DSE_WEIGHTS_TABLES] = 4;
    assert_true(is_near(dse_workload_footprint(&w) - narrow, 1.5 * table, narrow));
}

/* The bound of a box whose weights are narrower than weight_bits says holds at its corners. */
static void formats__are_those_of_bounds(void **state)
{
    (void)state;
    static const char *const flows[] = {"static", "heuristic", "vendor"};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        _Alignas(16) char floor_[NAMED_BYTES], ceiling[NAMED_BYTES], at[NAMED_BYTES];
        char *settings =
            xasprintf("llm=falcon-180b capacity_gib=1000 gpu=h100 phase=prefill format=int4-linears dataflow=%s", flows[i]);
        struct point lo = point_of("flashdecoding", settings), hi = lo;
        for (int corner = 0; corner < 4; corner++) {
            struct point p = lo;
            set(&lo, "batch", 1), set(&lo, "context", 512), set(&hi, "batch", 8), set(&hi, "context", 1000);
            set(&p, "batch", corner % 2 ? 8 : 1), set(&p, "context", corner / 2 ? 1000 : 512);
            assert_true(p.model->desc->bound(lo.params, hi.params, floor_, ceiling));
            p.model->desc->estimate(p.params, at, NULL);
            static const char *const names[] = {"tokens_per_s", "latency_us", "energy_mj", "dram_mib", "dram_footprint_gib"};
            for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
                const double v = metric(p.model, at, names[k]), slack = 1e-9 * v;
                if (!(v >= metric(p.model, floor_, names[k]) - slack && v <= metric(p.model, ceiling, names[k]) + slack))
                    fail_msg("%s: %s is %.9g, bounds %.9g to %.9g", flows[i], names[k], v, metric(p.model, floor_, names[k]),
                             metric(p.model, ceiling, names[k]));
            }
        }
        free(settings);
    }
}

/* ---- what is refused ------------------------------------------------------------------------------------------------------- */

static void formats__that_contradict_themselves_are_refused(void **state)
{
    (void)state;
    struct dse_formats f = all_of(0, 0);
    assert_null(dse_formats_check(&f));
    f.weights.scale_bits[DSE_WEIGHTS_DENSE] = 0.25;
    assert_string_equal(dse_formats_check(&f), "dense_scale_bits needs dense_bits");
    f.weights.bits[DSE_WEIGHTS_DENSE] = 16;
    assert_string_equal(dse_formats_check(&f), "weights of 16 bits or more have no scales: dense_scale_bits = 0");
    f.weights.scale_bits[DSE_WEIGHTS_DENSE] = 0;
    f.weights.activation_bits[DSE_WEIGHTS_DENSE] = 8;
    assert_string_equal(dse_formats_check(&f), "weights of 16 bits or more are multiplied with no fewer: dense_activation_bits");
    f.weights.bits[DSE_WEIGHTS_DENSE] = 0;
    assert_string_equal(dse_formats_check(&f), "dense_activation_bits needs dense_bits");
    f.weights.bits[DSE_WEIGHTS_DENSE] = 4;
    assert_null(dse_formats_check(&f));
    assert_false(dse_formats_uniform(&f));
    f.origin.released = 1;
    assert_non_null(strstr(dse_formats_check(&f), "takes all formats from the LLM"));
    assert_true(dse_formats_uniform(NULL) && dse_formats_uniform(find_format("uniform")));
    assert_false(dse_formats_uniform(find_format("checkpoint")));
    const struct dse_workload w = {.llm = (const void *)catalog_find(catalog, DSE_KIND_LLM, "gpt-oss-20b"),
                                   .batch = 1,
                                   .context = 1,
                                   .weight_bits = 16,
                                   .format = find_format("checkpoint")};
    assert_string_equal(dse_workload_check(&w, DSE_CAN_ALL & ~DSE_CAN_FORMATS),
                        "this model's weights have one format: format = uniform, with weight_bits");
    assert_null(dse_workload_check(&w, DSE_CAN_ALL));
    const struct dse_weight_bits bits = dse_workload_weight_bits(&w);
    assert_true(bits.narrowest == 4 && bits.widest == 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats__of_a_checkpoint_hold_what_its_classes_hold),
        cmocka_unit_test(formats__of_a_class_move_its_weights_alone),
        cmocka_unit_test(formats__of_gpt_oss_read_what_is_counted_by_hand),
        cmocka_unit_test(formats__of_all_classes_are_weight_bits),
        cmocka_unit_test(formats__of_experts_take_less_of_everything),
        cmocka_unit_test(weights__with_scales_take_a_multiply_add_each),
        cmocka_unit_test(formats__of_keys_and_values_may_differ),
        cmocka_unit_test(formats__of_a_class_free_memory_in_all_models),
        cmocka_unit_test(formats__of_tables_fill_the_first_stage),
        cmocka_unit_test(formats__are_those_of_bounds),
        cmocka_unit_test(formats__that_contradict_themselves_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
