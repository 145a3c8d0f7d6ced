/* Models in TOML that choose by argmin, argmax and at(), beside what the models in C choose. */
#include "flashdecoding_test.h"

#include "lad_struct.h"
#include "toml_model/toml_model.h"

static void load(const char *name)
{
    char *file = xasprintf("%s/tests/data/models/%s.toml", catalog_data_dir(), name);
    const bool ok = toml_model_load(file, &diags);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    free(file);
}

/* The metrics of a model at settings "NAME=VALUE", separated by blanks; the caller frees them. NULL: the point is infeasible. */
static void *metrics_at(const struct model *m, const char *settings)
{
    struct one o;
    char *text = xstrdup(settings), *list[NAMED_SETTINGS];
    const size_t n = settings_split(text, list, NAMED_SETTINGS);
    const bool ok = one_init(&o, m, list, n);
    diags_print(&diags, stderr, false);
    assert_true(ok);
    void *ret = NULL;
    if (!m->desc->check(space_fixed(o.space))) {
        ret = xcalloc(1, m->desc->metrics_size);
        m->desc->estimate(space_fixed(o.space), ret, NULL);
    }
    one_release(&o);
    free(text);
    return ret;
}

static double metric(const struct model *m, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&m->metrics, name);
    assert_non_null(f);
    return f->type == DSE_TYPE_I64 ? (double)field_get(f, metrics).i64 : field_get(f, metrics).f64;
}

/* ---- the splits of decode attention ------------------------------------------------------------------------------------- */

/* An LLM whose attention has so many heads. */
static struct dse_llm shape_of(const struct dse_llm *like, int heads, int kv_heads)
{
    struct dse_llm ret = *like;
    ret.heads = heads;
    ret.kv_heads = kv_heads;
    assert_null(dse_llm_resolve(&ret));
    return ret;
}

/* E13 of a layer: without the update of the softmax, whose time is apart. */
static void compare_splits(const struct model *model, const struct point *p)
{
    const struct dse_llm *llm = llm_of(p);
    const struct dse_gpu *gpu = board_of(p);
    const double clock = get(p, "clock_ghz") / gpu->clock_ghz, sms = get(p, "sms"), share = get(p, "attention_efficiency");
    char *settings = xasprintf(
        "sequences=%.0f positions=%.0f heads=%d kv_heads=%d sms=%.0f resident=%.0f tile=%.0f peak_gbs=%.17g block_gbs=%.17g "
        "vector_gops=%.17g memory_ns=%.17g l2_ns=%.17g l2_gbs=%.17g",
        get(p, "batch"), get(p, "context"), (int)llm->heads, (int)llm->kv_heads, sms, get(p, "resident_blocks"),
        get(p, "attention_tile"), get(p, "bandwidth_gbs") * share,
        get(p, "block_share") * gpu->bandwidth_gbs / (double)gpu->sms * share,
        get(p, "vector_tflops") * 1e3 * sms / (double)gpu->sms * clock, get(p, "memory_latency_ns"), get(p, "l2_latency_ns"),
        get(p, "l2_bytes") * get(p, "clock_ghz"));
    void *metrics = metrics_at(model, settings);
    assert_non_null(metrics);
    const struct dse_breakdown parts = parts_of(p);
    assert_near(metric(model, metrics, "latency_us"), part_named(&parts, "kv_cache")->time_us / (double)llm->layers, 1e-12);
    free(metrics);
    free(settings);
}

static void argmin__splits_attention_as_flashdecoding_does(void **state)
{
    (void)state;
    static const int positions[] = {1, 63, 64, 65, 200, 777, 1024, 4096, 20000, 131072}, sequences[] = {1, 3, 16, 64},
                     kv_heads[] = {1, 4, 32};
    static const char *const machines[] = {"kernel_losses=apart", "kernel_losses=apart sms=10",
                                           "kernel_losses=apart sms=54 clock_ghz=0.7"};
    load("splits");
    const struct model *model = registry_find("splits");
    int points = 0;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char *settings = xasprintf("%s llm=llama3.1-8b capacity_gib=100000", machines[i]);
        struct point p = point(settings);
        const struct dse_llm *like = llm_of(&p);
        free(settings);
        for (int k = 0; k < 10 * 4 * 3; k++) {
            const int kv = kv_heads[k / 40];
            const struct dse_llm llm = shape_of(like, kv * (k % 2 ? 1 : 4), kv);
            set_llm(&p, &llm);
            set(&p, "batch", sequences[k / 10 % 4]);
            set(&p, "context", positions[k % 10]);
            compare_splits(model, &p);
            points++;
        }
    }
    print_message("%d points\n", points);
}

/* ---- the batch of highest throughput ------------------------------------------------------------------------------------ */

static bool compare_batches(const struct model *model, const char *settings)
{
    const struct model *lad = registry_find("lad");
    char *fits = xasprintf("%s decoding=full-cache batch_policy=fit-memory", settings),
         *best = xasprintf("%s decoding=full-cache batch_policy=best-throughput", settings);
    struct lad_metrics *all = metrics_at(lad, fits), *chosen = metrics_at(lad, best);
    void *metrics = all ? metrics_at(model, settings) : NULL;
    if (metrics) {
        assert_near(metric(model, metrics, "fits"), all->batch_used, 0);
        assert_near(metric(model, metrics, "tokens_per_s"), chosen->common.tokens_per_s, 1e-12);
        if (metric(model, metrics, "chosen") <
            chosen->batch_used) /* of equal ones the last digit decides there, and the smallest here */
            fail_msg("%s: %g sequences, and %d", settings, metric(model, metrics, "chosen"), (int)chosen->batch_used);
    }
    const bool feasible = metrics != NULL, choice = feasible && chosen->batch_used != all->batch_used;
    free(fits);
    free(best);
    free(all);
    free(chosen);
    free(metrics);
    return choice;
}

static void at__takes_the_batch_that_lad_takes(void **state)
{
    (void)state;
    static const char *const llms[] = {"llama2-7b", "llama3-8b", "opt-2.7b"};
    static const int tiles[] = {1, 4, 6, 32}, batches[] = {1, 5, 12, 64, 200}, contexts[] = {256, 2048, 16384};
    load("batches");
    const struct model *model = registry_find("batches");
    int choices = 0;
    for (int k = 0; k < 3 * 4 * 5 * 3; k++) {
        char *settings = xasprintf("memory=hbm2-5cube dram_efficiency=0.9 llm=%s tiles=%d batch=%d context=%d sram_mib=%g",
                                   llms[k % 3], tiles[k / 3 % 4], batches[k / 12 % 5], contexts[k / 60], k % 2 ? 5.0 : 1.5);
        choices += compare_batches(model, settings);
        free(settings);
    }
    print_message("%d batches are not the largest that fit\n", choices);
    assert_true(choices > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argmin__splits_attention_as_flashdecoding_does),
        cmocka_unit_test(at__takes_the_batch_that_lad_takes),
    };
    return cmocka_run_group_tests_name("toml_choices", tests, set_up, tear_down);
}
