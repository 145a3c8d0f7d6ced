/* SwiftKV on LLMs of all kinds, and on several cards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "llms_test.h"
#include "sim/sim.h"
#include "swiftkv/swiftkv.h"

#include <dse/interval.h>
#include <dse/num.h>
#include <dse/units.h>

static struct swiftkv_params defaults;

static struct swiftkv_params on(const char *llm)
{
    struct swiftkv_params p = defaults;
    p.workload.llm = find_llm(llm);
    p.dram.capacity_gib = 4096;
    return p;
}

static struct swiftkv_metrics estimate(const struct swiftkv_params *p, struct dse_breakdown *parts)
{
    struct swiftkv_metrics m;
    estimate_into(&dse_model_swiftkv, p, p->workload.llm, &m, parts);
    return m;
}

/* Every LLM runs; each byte of its operators is moved, and each of its parts is counted once. */
static void llms__move_what_their_operators_say(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct swiftkv_params p = on(e->name);
        struct dse_oplist list;
        struct dse_breakdown parts;
        double bytes = 0;
        p.workload.latent_form = DSE_LATENT_ABSORBED;
        const struct swiftkv_metrics m = estimate(&p, &parts);
        dse_workload_expand(&p.workload, &list);
        for (int k = 0; k < list.n; k++)
            if (swiftkv_counts(&p, &list.op[k]) || list.op[k].kind != DSE_OP_LINEAR) bytes += op_bytes(&list.op[k]);
        const struct dse_part sum = sum_of_parts(&parts);
        double again = 0; /* latents go to all heads of a token, and there are processors for some at a time */
        for (int k = 0; k < list.n_attentions; k++) {
            const struct dse_attention *a = &list.attention[k];
            const double times = ceil((double)(a->heads / a->kv_heads) / (double)p.processors) - 1;
            again += times * (double)(a->layers * a->positions) * (a->key_bytes + a->value_bytes);
        }
        bytes += again;
        assert_close(e->name, m.common.dram_mib * DSE_MIB, bytes, 1e-9);
        assert_close(e->name, sum.dram_bytes, bytes, 1e-9);
        assert_close(e->name, sum.time_us, m.common.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.common.energy_mj, 1e-9);
    }
}

/* Stages take turns: one sequence is no faster on four of them, four sequences are four times as many. */
static void stages__take_turns(void **state)
{
    (void)state;
    struct swiftkv_params p = on("llama2-70b"), four = p;
    four.workload.pipeline_parallel = 4;
    p.head = four.head = SWIFTKV_HEAD_EXCLUDED;
    const struct swiftkv_metrics one = estimate(&p, NULL), alone = estimate(&four, NULL);
    assert_close("time of one sequence", alone.common.latency_us - alone.communication_us * 4, one.common.latency_us, 1e-9);
    four.workload.batch = 4;
    const struct swiftkv_metrics full = estimate(&four, NULL);
    assert_close("tokens", full.common.tokens_per_s, 4 * alone.common.tokens_per_s, 1e-9);
    assert_true(alone.common.energy_mj > full.common.energy_mj); /* waiting draws */
    assert_close("bytes", full.common.dram_mib, one.common.dram_mib, 1e-9);
}

static double simulated_us(const struct swiftkv_params *p)
{
    struct swiftkv_metrics m;
    struct dse_sim *sim = sim_new(&(struct sim_options){0});
    assert_non_null(sim);
    if (!dse_model_swiftkv.simulate(p, sim, &m, NULL)) fail_msg("%s: %s", p->workload.llm->entry.name, dse_sim_error(sim));
    sim_free(sim);
    return m.common.latency_us;
}

static void levels__agree(void **state)
{
    (void)state;
    static const char *const names[] = {"mixtral-8x7b",  "deepseek-v2-lite", "gemma3-4b",
                                        "qwen3-30b-a3b", "gpt-oss-120b",     "jamba-v0.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct swiftkv_params p = on(names[i]);
        assert_close(names[i], simulated_us(&p), estimate(&p, NULL).common.latency_us, 0.05);
        p.workload.tensor_parallel = 2;
        p.workload.pipeline_parallel = 2;
        p.workload.batch = 4;
        if (dse_model_swiftkv.check(&p)) continue;
        assert_close(names[i], simulated_us(&p), estimate(&p, NULL).common.latency_us, 0.05);
    }
}

/* A draft pays where verifying several tokens costs little more than one. */
static void drafts__pay_where_weights_are_reused(void **state)
{
    (void)state;
    struct swiftkv_params p = on("llama2-7b");
    p.workload.weight_bits = 16;
    p.weight_reuse = 8;
    const double plain = estimate(&p, NULL).common.dram_mib;
    p.workload.speculation.draft_tokens = 3;
    assert_true(estimate(&p, NULL).common.dram_mib < plain);
    p.workload.speculation.acceptance = 0;
    assert_true(estimate(&p, NULL).common.dram_mib > plain);
}

static int set_up_defaults(void **state)
{
    return set_up_defaults_of(state, &dse_model_swiftkv, &defaults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__move_what_their_operators_say),
        cmocka_unit_test(stages__take_turns),
        cmocka_unit_test(levels__agree),
        cmocka_unit_test(drafts__pay_where_weights_are_reused),
    };
    return cmocka_run_group_tests(tests, set_up_defaults, tear_down);
}
