/* VEDA on LLMs of all kinds, and on several chips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model_points.h"
#include "sim/sim.h"
#include "veda/veda_llms.h"

#include <dse/interval.h>
#include <dse/num.h>
#include <dse/units.h>

static struct veda_params defaults;

static const struct dse_llm *find(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_LLM, name);
    if (!e) fail_msg("no LLM %s", name);
    return (const struct dse_llm *)(const void *)e;
}

static struct veda_params on(const char *llm)
{
    struct veda_params p = defaults;
    p.workload.llm = find(llm);
    p.dram.capacity_gib = 4096;
    p.cache.eviction = 0;
    return p;
}

static struct veda_metrics estimate(const struct veda_params *p, struct dse_breakdown *parts)
{
    struct veda_metrics m;
    const char *why = dse_model_veda.check(p);
    if (why) fail_msg("%s: %s", p->workload.llm->entry.name, why);
    memset(&m, 0, sizeof m);
    if (parts) memset(parts, 0, sizeof *parts);
    dse_model_veda.estimate(p, &m, parts);
    return m;
}

static void assert_close(const char *what, double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("%s: %.12g, not %.12g", what, got, want);
}

/* Every LLM runs; each byte of its operators is moved, and each of its parts is counted once. */
static void llms__move_what_their_operators_say(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct veda_params p = on(e->name);
        struct dse_oplist list;
        struct dse_breakdown parts;
        double bytes = 0, part_bytes = 0, time = 0, joules = 0;
        p.workload.latent_form = DSE_LATENT_ABSORBED;
        const struct veda_metrics m = estimate(&p, &parts);
        dse_workload_expand(&p.workload, &list);
        for (int k = 0; k < list.n; k++) bytes += list.op[k].weight_bytes + list.op[k].kv_read_bytes + list.op[k].kv_write_bytes;
        for (int k = 0; k < parts.n; k++) {
            if (parts.part[k].depth > 0) continue;
            part_bytes += parts.part[k].dram_bytes;
            time += parts.part[k].time_us;
            joules += parts.part[k].energy_mj;
        }
        assert_close(e->name, m.common.dram_mib * DSE_MIB, bytes, 1e-9);
        assert_close(e->name, part_bytes, bytes, 1e-9);
        assert_close(e->name, time, m.common.latency_us, 1e-9);
        assert_close(e->name, joules, m.common.energy_mj, 1e-9);
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

static void llms__cost_more_with_more_of_them(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct veda_params p = on(e->name);
        struct dse_llm llm = *p.workload.llm;
        p.workload.llm = &llm;
        p.workload.context = dse_min_i64(llm.max_context, 3000);
        const struct veda_metrics m = estimate(&p, NULL);
        if (llm.moe.experts > llm.moe.experts_active) {
            llm.moe.experts_active++;
            const struct veda_metrics more = estimate(&p, NULL);
            assert_true(more.common.dram_mib > m.common.dram_mib && more.common.latency_us > m.common.latency_us);
            llm.moe.experts_active--;
        }
        if (llm.attention_window > 0 && llm.n_kinds > 0) {
            struct dse_llm full = llm;
            for (size_t k = 0; k < full.n_kinds; k++)
                if (full.kinds[k].mixer == DSE_WINDOW || full.kinds[k].mixer == DSE_CHUNK) full.kinds[k].mixer = DSE_FULL;
            p.workload.llm = &full;
            assert_true(estimate(&p, NULL).common.latency_us >= m.common.latency_us * (1 - 1e-12));
        }
    }
}

static void chips__on_infinite_links_are_never_slower(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct veda_params p = on(e->name);
        p.links.link_gbs = 1e15;
        p.links.link_latency_us = p.links.link_reduce_us = 0;
        p.links.linked_devices = 1024;
        double last = estimate(&p, NULL).common.latency_us;
        for (p.workload.tensor_parallel = 2; p.workload.tensor_parallel <= 8; p.workload.tensor_parallel *= 2) {
            if (dse_model_veda.check(&p)) break;
            const double now = estimate(&p, NULL).common.latency_us;
            if (now > last * (1 + 1e-9)) fail_msg("%s: %g us on %d cards", e->name, now, (int)p.workload.tensor_parallel);
            last = now;
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
    struct one o;
    size_t n;
    if (set_up(state)) return -1;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        if (models[m].desc != &dse_model_veda) continue;
        if (!one_init(&o, &models[m], NULL, 0)) return -1;
        memcpy(&defaults, space_fixed(o.space), sizeof defaults);
        one_release(&o);
        return 0;
    }
    return -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__move_what_their_operators_say),
        cmocka_unit_test(step__of_a_dense_llm_is_the_papers),
        cmocka_unit_test(llms__cost_more_with_more_of_them),
        cmocka_unit_test(chips__on_infinite_links_are_never_slower),
        cmocka_unit_test(stages__take_turns),
        cmocka_unit_test(levels__refuse_what_they_do_not_know),
        cmocka_unit_test(drafts__pay_where_they_are_accepted),
    };
    return cmocka_run_group_tests(tests, set_up_defaults, tear_down);
}
