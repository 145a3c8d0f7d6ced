/* VEDA on LLMs of all kinds, and on several chips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "llms_test.h"
#include "sim/sim.h"
#include "veda/veda_llms.h"

#include <dse/interval.h>
#include <dse/num.h>
#include <dse/units.h>

static struct veda_params defaults;

static struct veda_params on(const char *llm)
{
    struct veda_params p = defaults;
    p.workload.llm = find_llm(llm);
    p.dram.capacity_gib = 4096;
    p.cache.eviction = 0;
    return p;
}

static struct veda_metrics estimate(const struct veda_params *p, struct dse_breakdown *parts)
{
    struct veda_metrics m;
    estimate_into(&dse_model_veda, p, p->workload.llm, &m, parts);
    return m;
}

/* Every LLM runs; each byte of its operators is moved, and each of its parts is counted once. */
static void llms__move_what_their_operators_say(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct veda_params p = on(e->name);
        struct dse_breakdown parts;
        p.workload.latent_form = DSE_LATENT_ABSORBED;
        const struct veda_metrics m = estimate(&p, &parts);
        const double bytes = bytes_of_operators(&p.workload);
        const struct dse_part sum = sum_of_parts(&parts);
        assert_close(e->name, m.common.dram_mib * DSE_MIB, bytes, 1e-9);
        assert_close(e->name, sum.dram_bytes, bytes, 1e-9);
        assert_close(e->name, sum.time_us, m.common.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.common.energy_mj, 1e-9);
    }
}

/* The general step, asked for the paper's own workload: on one chip, and on several, whose exchange costs nothing. */
static void step__of_a_dense_llm_is_the_papers(void **state)
{
    (void)state;
    static const char *const names[] = {"llama2-7b", "llama3-8b", "opt-6.7b", "qwen3-8b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int phase = DSE_DECODE; phase <= DSE_PREFILL; phase++) {
            struct veda_params p = on(names[i]);
            struct veda_point pt, same;
            struct veda_step step;
            struct veda_layers layers;
            p.workload.phase = phase;
            p.workload.context = 700;
            veda_point_init(&pt, &p);
            same = pt;
            veda_step_at(&pt, &step);
            veda_layers_at(&same, &layers);
            assert_close(names[i], layers.sum.time_s, step.time_s, 1e-9);
            assert_close(names[i], layers.sum.bytes, step.bytes, 1e-9);
            assert_close(names[i], layers.sum.ops, step.ops, 1e-9);
            assert_close(names[i], layers.work.sfu_ops, veda_step_work(&pt, &step).sfu_ops, 1e-9);
            assert_close(names[i], layers.work.macs, veda_step_work(&pt, &step).macs, 1e-9);
        }
    }
}

/* Stages take turns: one sequence is no faster on four of them, four sequences are four times as many tokens. */
static void stages__take_turns(void **state)
{
    (void)state;
    struct veda_params four = on("llama2-70b"), p = four;
    four.workload.pipeline_parallel = 4;
    const struct veda_metrics one = estimate(&p, NULL), alone = estimate(&four, NULL);
    assert_true(alone.common.latency_us > one.common.latency_us * 0.99);
    four.workload.batch = 4;
    const struct veda_metrics full = estimate(&four, NULL);
    assert_close("tokens", full.common.tokens_per_s, 4 * alone.common.tokens_per_s, 1e-9);
    assert_true(alone.common.energy_mj > full.common.energy_mj); /* waiting draws */
}

/* The event level says what it does not know, and why. */
static void levels__refuse_what_they_do_not_know(void **state)
{
    (void)state;
    struct veda_params p = on("mixtral-8x7b");
    struct veda_metrics m;
    struct dse_sim *sim = sim_new(&(struct sim_options){0});
    assert_non_null(sim);
    assert_false(dse_model_veda.simulate(&p, sim, &m, NULL));
    assert_non_null(strstr(dse_sim_error(sim), "full attention"));
    sim_free(sim);
}

/* A draft that is always right saves weights, one that is never right costs them. */
static void drafts__pay_where_they_are_accepted(void **state)
{
    (void)state;
    struct veda_params p = on("llama2-7b");
    const double plain = estimate(&p, NULL).common.dram_mib;
    p.workload.speculation.draft_tokens = 3;
    p.workload.speculation.acceptance = 1;
    assert_true(estimate(&p, NULL).common.dram_mib < plain);
    p.workload.speculation.acceptance = 0;
    assert_true(estimate(&p, NULL).common.dram_mib > plain);
}

static int set_up_defaults(void **state)
{
    return set_up_defaults_of(state, &dse_model_veda, &defaults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__move_what_their_operators_say),
        cmocka_unit_test(step__of_a_dense_llm_is_the_papers),
        cmocka_unit_test(stages__take_turns),
        cmocka_unit_test(levels__refuse_what_they_do_not_know),
        cmocka_unit_test(drafts__pay_where_they_are_accepted),
    };
    return cmocka_run_group_tests(tests, set_up_defaults, tear_down);
}
