/* All models on all LLMs: what must hold whatever the machine is. Points that a model refuses say nothing; how many each ran is
 * printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model_points.h"

#include <dse/model.h>
#include <dse/workload.h>

enum { POINTS = 10000 };

/* A model, and one of its points. */
struct subject {
    const struct model *model;
    struct one one;
    void *params, *other, *metrics;
    size_t ran;
};

static bool subject_init(struct subject *s, const struct model *m)
{
    *s = (struct subject){.model = m};
    if (!schema_find(&m->params, "llm") || !one_init(&s->one, m, NULL, 0)) return false;
    s->params = xcalloc(1, m->desc->params_size);
    s->other = xcalloc(1, m->desc->params_size);
    s->metrics = xcalloc(1, m->desc->metrics_size);
    return true;
}

static void subject_release(struct subject *s)
{
    free(s->params);
    free(s->other);
    free(s->metrics);
    one_release(&s->one);
}

static void put(const struct subject *s, void *params, const char *name, struct value v)
{
    const struct field *f = schema_find(&s->model->params, name);
    if (f) field_set(f, params, v);
}

static void put_i64(const struct subject *s, void *params, const char *name, int64_t v)
{
    const struct field *f = schema_find(&s->model->params, name);
    const bool whole = f && f->type == DSE_TYPE_I64;
    put(s, params, name, whole ? (struct value){.i64 = v} : (struct value){.f64 = (double)v});
}

static void put_f64(const struct subject *s, void *params, const char *name, double v)
{
    put(s, params, name, (struct value){.f64 = v});
}

static int64_t any(int64_t least, int64_t most)
{
    return least + (int64_t)(uniform() * (double)(most - least + 1));
}

/* A random workload of a random LLM on the machine of the defaults, with room for it. */
static void draw(struct subject *s, const struct dse_llm **ret_llm)
{
    size_t n = 0;
    while (catalog_at(catalog, DSE_KIND_LLM, n)) n++;
    const struct dse_entry *llm = catalog_at(catalog, DSE_KIND_LLM, (size_t)(uniform() * (double)n));
    memcpy(s->params, space_fixed(s->one.space), s->model->desc->params_size);
    put(s, s->params, "llm", (struct value){.ref = llm});
    put_i64(s, s->params, "batch", any(1, 64));
    put_i64(s, s->params, "context", any(1, 30000));
    put_f64(s, s->params, "capacity_gib", 1e5);
    put_i64(s, s->params, "tensor_parallel", uniform() < 0.5 ? 1 : any(1, 8));
    put_i64(s, s->params, "draft_tokens", uniform() < 0.7 ? 0 : any(1, 5));
    put_i64(s, s->params, "chunk_tokens", uniform() < 0.8 ? 0 : any(1, 300));
    put(s, s->params, "eviction", (struct value){.choice = 0});
    put(s, s->params, "kernel_losses",
        (struct value){.choice = 1});                           /* included: a tile more may share out better over a GPU's SMs */
    put(s, s->params, "decoding", (struct value){.choice = 1}); /* full-cache: LAD's own reads less than a window may */
    put(s, s->params, "routing", (struct value){.choice = (int32_t)any(0, 2)});
    put(s, s->params, "latent_form", (struct value){.choice = (int32_t)any(0, 2)});
    put_f64(s, s->params, "routing_exponent", 3 * uniform());
    *ret_llm = (const struct dse_llm *)(const void *)llm;
}

/* Its metrics; false where the model refuses it. */
static bool run(struct subject *s, void *params, const char *metric, double *ret)
{
    const struct dse_model *desc = s->model->desc;
    if (desc->check(params)) return false;
    memset(s->metrics, 0, desc->metrics_size);
    desc->estimate(params, s->metrics, NULL);
    *ret = field_number(schema_find(&s->model->metrics, metric), s->metrics);
    if (!isfinite(*ret)) fail_msg("%s: %s is not a number", desc->name, metric);
    return true;
}

static void never_less(const struct subject *s, const struct dse_llm *llm, const char *what, double before, double after)
{
    if (after < before * (1 - 1e-9))
        fail_msg("%s on %s: %s: %.10g before, %.10g after", s->model->desc->name, llm->entry.name, what, before, after);
}

/* One more expert for each token never moves fewer bytes. */
static void ask_experts(struct subject *s, const struct dse_llm *llm)
{
    struct dse_llm more = *llm;
    double before, after;
    if (llm->moe.experts <= llm->moe.experts_active || !run(s, s->params, "dram_mib", &before)) return;
    more.moe.experts_active++;
    assert_null(dse_llm_resolve(&more));
    memcpy(s->other, s->params, s->model->desc->params_size);
    put(s, s->other, "llm", (struct value){.ref = &more.entry});
    if (!run(s, s->other, "dram_mib", &after)) return;
    never_less(s, llm, "bytes with one more expert a token", before, after);
}

/* A window never takes longer than all positions. */
static void ask_window(struct subject *s, const struct dse_llm *llm)
{
    struct dse_llm full = *llm;
    double before, after;
    if (llm->attention_window == 0 || !run(s, s->params, "latency_us", &before)) return;
    for (int64_t i = 0; i < full.attention.n; i++)
        if (full.attention.at[i] == DSE_WINDOW || full.attention.at[i] == DSE_CHUNK) full.attention.at[i] = DSE_FULL;
    for (size_t k = 0; k < full.n_kinds; k++)
        if (full.kinds[k].attention == DSE_WINDOW || full.kinds[k].attention == DSE_CHUNK) full.kinds[k].attention = DSE_FULL;
    assert_null(dse_llm_resolve(&full));
    memcpy(s->other, s->params, s->model->desc->params_size);
    put(s, s->other, "llm", (struct value){.ref = &full.entry});
    if (!run(s, s->other, "latency_us", &after)) return;
    never_less(s, llm, "time with all positions for a window", before, after);
}

/* More chips on infinite links are never slower. */
static void ask_chips(struct subject *s, const struct dse_llm *llm)
{
    double before, after;
    memcpy(s->other, s->params, s->model->desc->params_size);
    put_f64(s, s->other, "link_gbs", 1e12);
    put_f64(s, s->other, "link_latency_us", 0);
    put_f64(s, s->other, "link_reduce_us", 0);
    put_f64(s, s->other, "collective_start_us", 0);
    put_f64(s, s->other, "exchange_us", 0);
    put_i64(s, s->other, "linked_devices", 1048576);
    put_i64(s, s->other, "tensor_parallel", 1);
    if (!run(s, s->other, "latency_us", &after)) return;
    for (int64_t tensor = 2; tensor <= 8; tensor *= 2) {
        put_i64(s, s->other, "tensor_parallel", tensor);
        before = after;
        if (!run(s, s->other, "latency_us", &after)) return;
        never_less(s, llm, "time with half of the chips", after, before);
    }
}

static void laws__hold_for_every_llm_on_every_machine(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        struct subject s;
        if (!subject_init(&s, &models[m])) continue;
        for (int i = 0; i < POINTS; i++) {
            const struct dse_llm *llm;
            double us;
            draw(&s, &llm);
            s.ran += run(&s, s.params, "latency_us", &us);
            ask_experts(&s, llm);
            ask_window(&s, llm);
            if (i % 4 == 0) ask_chips(&s, llm);
        }
        print_message("%s: %zu of %d points ran\n", models[m].desc->name, s.ran, POINTS);
        assert_true(s.ran > 100);
        subject_release(&s);
    }
}

/* ---- metrics that several models have ---------------------------------------------------------------------------------------- */

/* A metric of llama2-7b on that many devices, joined by the first degree of parallelism that the model can have; NaN: none. */
static double on_devices(struct subject *s, int64_t devices, const char *metric)
{
    static const char *const degrees[] = {"tensor_parallel", "pipeline_parallel"};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        memcpy(s->params, space_fixed(s->one.space), s->model->desc->params_size);
        put_f64(s, s->params, "capacity_gib", 64);
        put_i64(s, s->params, degrees[i], devices);
        if (s->model->desc->resolve) s->model->desc->resolve(s->params);
        if (s->model->desc->check && s->model->desc->check(s->params)) continue;
        s->model->desc->estimate(s->params, s->metrics, NULL);
        return field_number(schema_find(&s->model->metrics, metric), s->metrics);
    }
    return NAN;
}

/* The room that is needed is that of one device, as capacity_gib is; exchanges take time where there is someone to exchange with;
 * and both are told in the same words. */
static void shared_metrics__mean_the_same_in_all_models(void **state)
{
    (void)state;
    static const char *const names[] = {"dram_footprint_gib", "communication_us", "cached_positions"};
    size_t n, compared = 0;
    const struct model *models = registry_models(&n);
    const char *docs[3] = {NULL, NULL, NULL};
    for (size_t k = 0; k < n; k++) {
        struct subject s;
        if (!subject_init(&s, &models[k])) continue;
        for (int i = 0; i < 3; i++) {
            const struct field *f = schema_find(&models[k].metrics, names[i]);
            assert_non_null(f);
            if (docs[i]) assert_string_equal(f->doc, docs[i]);
            docs[i] = f->doc;
            const double one = on_devices(&s, 1, names[i]), four = on_devices(&s, 4, names[i]);
            if (isnan(four)) continue;
            compared++;
            if (i == 0 && !(four > 0.2 * one && four < 0.5 * one))
                fail_msg("%s: %s is %g of one device and %g of four", models[k].desc->name, names[i], one, four);
            if (i == 1 && !(one == 0 && four > 0))
                fail_msg("%s: %s is %g of one device and %g of four", models[k].desc->name, names[i], one, four);
        }
        subject_release(&s);
    }
    assert_true(compared >= 8);
}

/* On LLMs whose layers have windows, chunks or an indexer of their own, too; of a prompt the mean over its queries. */
static void cached_positions__are_the_same_number_in_all_models(void **state)
{
    (void)state;
    enum { CONTEXT = 8192 };
    static const double expected[] = {[DSE_DECODE] = CONTEXT, [DSE_PREFILL] = (CONTEXT + 1) / 2.0};
    size_t n, compared = 0;
    const struct model *models = registry_models(&n);
    for (size_t k = 0; k < n; k++) {
        struct subject s;
        double met;
        if (!subject_init(&s, &models[k])) continue;
        for (size_t i = 0; catalog_at(catalog, DSE_KIND_LLM, i); i++)
            for (int32_t phase = DSE_DECODE; phase <= DSE_PREFILL; phase++) {
                const struct dse_entry *llm = catalog_at(catalog, DSE_KIND_LLM, i);
                memcpy(s.params, space_fixed(s.one.space), models[k].desc->params_size);
                put(&s, s.params, "llm", (struct value){.ref = llm});
                put(&s, s.params, "phase", (struct value){.choice = phase});
                put_i64(&s, s.params, "context", CONTEXT);
                put_f64(&s, s.params, "capacity_gib", 1e5);
                put(&s, s.params, "eviction", (struct value){.choice = 0});
                put(&s, s.params, "decoding", (struct value){.choice = 1}); /* full-cache */
                put_i64(&s, s.params, "vote_fifo", CONTEXT);
                if (!run(&s, s.params, "cached_positions", &met)) continue;
                compared++;
                if (met != expected[phase])
                    fail_msg("%s on %s: a query meets %.17g positions", models[k].desc->name, llm->name, met);
            }
        subject_release(&s);
    }
    assert_true(compared >= 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_metrics__mean_the_same_in_all_models),
        cmocka_unit_test(cached_positions__are_the_same_number_in_all_models),
        cmocka_unit_test(laws__hold_for_every_llm_on_every_machine),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
