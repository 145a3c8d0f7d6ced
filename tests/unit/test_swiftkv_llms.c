/* SwiftKV on LLMs of all kinds, and on several cards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "by_name.h"
#include "llms_test.h"
#include "sim/sim.h"

#include <dse/interval.h>
#include <dse/num.h>
#include <dse/units.h>

static struct point on(const char *llm)
{
    struct point p = point_of("swiftkv", "");
    name_entry(&p, "llm", DSE_KIND_LLM, llm);
    set(&p, "capacity_gib", 4096);
    return p;
}

/* Every LLM runs; each byte of its operators is moved, and each of its parts is counted once. */
static void llms__move_what_their_operators_say(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct point p = on(e->name);
        struct dse_oplist list;
        struct dse_breakdown parts;
        double bytes = 0;
        choose(&p, "latent_form", "absorbed");
        choose(&p, "head", "included");
        const struct named m = estimate_parts(&p, &parts);
        dse_workload_expand(workload_of(&p), &list);
        for (int k = 0; k < list.n; k++) bytes += op_bytes(&list.op[k]);
        const struct dse_part sum = sum_of_parts(&parts);
        double again = 0; /* latents go to all heads of a token, and there are processors for some at a time */
        for (int k = 0; k < list.n_attentions; k++) {
            const struct dse_attention *a = &list.attention[k];
            const double times = ceil((double)(a->heads / a->kv_heads) / get(&p, "processors")) - 1;
            again += times * (double)(a->layers * a->positions) * (a->key_bytes + a->value_bytes);
        }
        bytes += again;
        assert_close(e->name, m.dram_mib * DSE_MIB, bytes, 1e-9);
        assert_close(e->name, sum.dram_bytes, bytes, 1e-9);
        assert_close(e->name, sum.time_us, m.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.energy_mj, 1e-9);
    }
}

/* Stages take turns: one sequence is no faster on four of them, four sequences are four times as many. */
static void stages__take_turns(void **state)
{
    (void)state;
    struct point p = on("llama2-70b"), four = p;
    set(&four, "pipeline_parallel", 4);
    const struct named one = estimate(&p), alone = estimate(&four);
    assert_close("time of one sequence", alone.latency_us - alone.communication_us * 4, one.latency_us, 1e-9);
    set(&four, "batch", 4);
    const struct named full = estimate(&four);
    assert_close("tokens", full.tokens_per_s, 4 * alone.tokens_per_s, 1e-9);
    assert_true(alone.energy_mj > full.energy_mj); /* waiting draws */
    assert_close("bytes", full.dram_mib, one.dram_mib, 1e-9);
}

static double simulated_us(const struct point *p)
{
    _Alignas(16) char metrics[NAMED_BYTES];
    struct dse_sim *sim = sim_new(&(struct sim_options){0});
    assert_non_null(sim);
    if (!p->model->desc->simulate(p->params, sim, metrics, NULL)) fail_msg("%s", dse_sim_error(sim));
    sim_free(sim);
    return named_metrics(p->model, metrics).latency_us;
}

static void levels__agree(void **state)
{
    (void)state;
    static const char *const names[] = {"mixtral-8x7b",  "deepseek-v2-lite", "gemma3-4b",
                                        "qwen3-30b-a3b", "gpt-oss-120b",     "jamba-v0.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct point p = on(names[i]);
        assert_close(names[i], simulated_us(&p), estimate(&p).latency_us, 0.05);
        set(&p, "tensor_parallel", 2);
        set(&p, "pipeline_parallel", 2);
        set(&p, "batch", 4);
        if (p.model->desc->check(p.params)) continue;
        assert_close(names[i], simulated_us(&p), estimate(&p).latency_us, 0.05);
    }
}

/* A draft pays where verifying several tokens costs little more than one. */
static void drafts__pay_where_weights_are_reused(void **state)
{
    (void)state;
    struct point p = on("llama2-7b");
    set(&p, "weight_bits", 16);
    set(&p, "weight_reuse", 8);
    const double plain = estimate(&p).dram_mib;
    set(&p, "draft_tokens", 3);
    assert_true(estimate(&p).dram_mib < plain);
    set(&p, "acceptance", 0);
    assert_true(estimate(&p).dram_mib > plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__move_what_their_operators_say),
        cmocka_unit_test(stages__take_turns),
        cmocka_unit_test(levels__agree),
        cmocka_unit_test(drafts__pay_where_weights_are_reused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
