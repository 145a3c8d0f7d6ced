/* VEDA on LLMs of all kinds, and on several chips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "both_levels.h"
#include "by_name.h"
#include "llms_test.h"
#include "samples.h"

#include <dse/cost.h>
#include <dse/costs.h>
#include <dse/dram_port.h>
#include <dse/interconnect.h>
#include <dse/units.h>

static struct point on(const char *llm)
{
    struct point p = point_of("veda", "eviction=none");
    name_entry(&p, "llm", DSE_KIND_LLM, llm);
    set(&p, "capacity_gib", 8192);
    return p;
}

/* Every LLM runs; each byte of its operators is moved, and each of its parts is counted once. */
static void llms__move_what_their_operators_say(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct point p = on(e->name);
        struct dse_breakdown parts;
        choose(&p, "latent_form", "absorbed");
        const struct named m = estimate_parts(&p, &parts);
        const double bytes = bytes_of_operators(workload_of(&p));
        const struct dse_part sum = sum_of_parts(&parts);
        assert_close(e->name, m.dram_mib * DSE_MIB, bytes, 1e-9);
        assert_close(e->name, sum.dram_bytes, bytes, 1e-9);
        assert_close(e->name, sum.time_us, m.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.energy_mj, 1e-9);
    }
}

/* Stages take turns: one sequence is no faster on four of them, four sequences are four times as many tokens. */
static void stages__take_turns(void **state)
{
    (void)state;
    struct point four = on("llama2-70b"), p = four;
    set(&four, "pipeline_parallel", 4);
    const struct named one = estimate(&p), alone = estimate(&four);
    assert_true(alone.latency_us > one.latency_us * 0.99);
    set(&four, "batch", 4);
    const struct named full = estimate(&four);
    assert_close("tokens", full.tokens_per_s, 4 * alone.tokens_per_s, 1e-9);
    assert_true(alone.energy_mj > full.energy_mj); /* waiting draws */
}

/* Several chips have links: their PHYs are part of the area, what goes over them is part of the energy. One chip has neither. */
static void links__are_part_of_chips_that_have_them(void **state)
{
    (void)state;
    struct point p = on("llama2-70b");
    struct dse_links_die links;
    struct dse_breakdown parts;
    const struct named one = estimate(&p);
    assert_true(one.links_mm2 == 0 && one.energy_links_mj == 0);
    set(&p, "tensor_parallel", 4);
    const struct named four = estimate_parts(&p, &parts);
    const struct dse_economics *economics = group_of(&p, "costs", offsetof(struct dse_economics, costs));
    dse_links_die_at(economics->costs, group_of(&p, "interconnect", offsetof(struct dse_links, interconnect)), 28, &links);
    assert_close("links", four.links_mm2, 4 * links.mm2, 1e-12);
    assert_close("area", four.area_mm2, four.core_mm2 + four.phy_mm2 + four.links_mm2, 1e-12);
    const double known = four.energy_dram_mj + four.energy_sram_mj + four.energy_modules_mj + four.energy_clock_mj +
                         four.energy_leakage_mj + four.energy_interface_mj + four.energy_links_mj;
    assert_true(four.energy_links_mj > 0);
    assert_close("energy", known, four.energy_mj, 1e-9);
    assert_close("parts", sum_of_parts(&parts).energy_mj, four.energy_mj, 1e-9);
    choose(&p, "area", "core");
    assert_true(estimate(&p).links_mm2 == 0);
}

/* ---- event level ------------------------------------------------------------------------------------------------------------ */

/* README, "Event level": a step is no faster than the closed form has it but for rounding, and slower by what refresh, opening rows
 * and the first and last of each phase take: under 10 %; attention by more where heads are narrow (E20's exponentials for the sum
 * so far). Without refresh and banks, with FIFOs that never fill, both are the same but for those first and last. */
struct agreement {
    const char *settings;
    double attention; /* that it may take longer, under real conditions and ideal ones */
};

static const struct agreement agreements[] = {
    {"llm=gpt-oss-120b", 0.30},
    {"llm=qwen3-30b-a3b", 0.05},
    {"llm=qwen3-30b-a3b batch=16", 0.05},
    {"llm=qwen3-30b-a3b batch=4 generate=64", 0.05},
    {"llm=deepseek-v2-lite", 0.05},
    {"llm=deepseek-v2-lite latent_form=expanded context=300", 0.05},
    {"llm=deepseek-v2-lite phase=prefill context=96", 0.15},
    {"llm=deepseek-v3.2 context=4096", 0.05},
    {"llm=gemma3-4b context=4096", 0.05},
    {"llm=jamba-v0.1", 0.05},
    {"llm=qwen3-next-80b-a3b", 0.05},
    {"llm=mamba2-2.7b", 0.05},
    {"llm=llama2-7b draft_tokens=3", 0.12},
    {"llm=llama3-8b chunk_tokens=64 batch=2 context_spread=0.4 gather=rows", 0.05},
    {"llm=qwen3-30b-a3b tensor_parallel=2", 0.05},
    {"llm=gpt-oss-120b tensor_parallel=4 batch=8", 0.30},
    {"llm=llama2-70b pipeline_parallel=4 batch=2", 0.05},
    {"llm=qwen3-30b-a3b data_parallel=4 expert_parallel=4 batch=16", 0.05},
};

static void assert_between(const char *what, const char *of, double got, double closed, double less, double more)
{
    if (!(got >= closed * (1 - less) && got <= closed * (1 + more)))
        fail_msg("%s: %s is %.9g at event level, %.9g in closed form", what, of, got, closed);
}

static void levels__agree_on_llms_of_all_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof agreements / sizeof *agreements; i++) {
        const struct agreement *a = &agreements[i];
        char settings[256];
        snprintf(settings, sizeof settings, "eviction=none capacity_gib=8192 %s", a->settings);
        struct both_levels b;
        both_levels(&b, "veda", settings, DSE_IDEAL_DRAWS); /* of experts the mean */
        assert_finite(&b, a->settings);
        assert_parts(&b, 0.002);
        const double attention = closed_metric(&b, "attention_us"), step = closed_metric(&b, "latency_us");
        assert_between(a->settings, "the step", event_metric(&b, "latency_us"), step, 1e-4, 0.1);
        assert_between(a->settings, "attention", event_metric(&b, "attention_us"), attention, 1e-3, a->attention);
        assert_between(a->settings, "exchange", event_metric(&b, "communication_us"), closed_metric(&b, "communication_us"), 1e-4,
                       1e-4);
        assert_between(a->settings, "traffic", event_metric(&b, "dram_mib"), closed_metric(&b, "dram_mib"), 0.002, 0.002);
        assert_between(a->settings, "energy", event_metric(&b, "energy_mj"), closed_metric(&b, "energy_mj"), 0.003, 0.01);
        run_events(&b, ALL_IDEAL);
        assert_between(a->settings, "the ideal step", event_metric(&b, "latency_us"), step, 1e-3, 0.02); /* no latency (E38) */
    }
}

/* Experts are drawn anew in each layer: what a layer reads differs by seed, what all read is the mean of the closed form. */
static void experts__are_drawn_at_event_level(void **state)
{
    (void)state;
    static const char *const settings[] = {"llm=qwen3-30b-a3b batch=8 eviction=none capacity_gib=512 seed=1",
                                           "llm=qwen3-30b-a3b batch=8 eviction=none capacity_gib=512 seed=2",
                                           "llm=qwen3-30b-a3b batch=8 eviction=none capacity_gib=512 layers_simulated=24"};
    double traffic[3];
    struct both_levels b;
    for (int i = 0; i < 3; i++) {
        both_levels(&b, "veda", settings[i], DSE_IDEAL_DRAM); /* what is drawn are bytes: no banks */
        traffic[i] = event_metric(&b, "dram_mib");
    }
    assert_true(traffic[0] != traffic[1]);
    assert_between(settings[2], "traffic", traffic[2], closed_metric(&b, "dram_mib"), 0.01, 0.01);
}

/* A point near the defaults, of any LLM, on up to 16 chips. False: it is not feasible. */
static bool random_llm_point(const void *defaults, struct point *p)
{
    size_t n = 0;
    while (catalog_at(catalog, DSE_KIND_LLM, n)) n++;
    random_point(p->model, defaults, 0.1, p->params);
    name_entry(p, "llm", DSE_KIND_LLM, catalog_at(catalog, DSE_KIND_LLM, (size_t)(uniform() * (double)n))->name);
    const struct {
        const char *name;
        double value;
    } all[] = {{"context", floor(exp(uniform() * log(2000)))},
               {"batch", floor(exp(uniform() * log(20)))},
               {"draft_tokens", uniform() < 0.2 ? 2 : 0},
               {"chunk_tokens", uniform() < 0.1 ? 20 : 0},
               {"tensor_parallel", uniform() < 0.3 ? 2 : 1},
               {"data_parallel", uniform() < 0.2 ? 4 : 1},
               {"pipeline_parallel", uniform() < 0.1 ? 2 : 1},
               {"devices", 1},
               {"capacity_gib", 1e5},
               {"layers_simulated", 1},
               {"rows_simulated", 2000},
               {"stream_mib", 0.5}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) set(p, all[i].name, all[i].value);
    set(p, "expert_parallel", get(p, "data_parallel"));
    if (uniform() < 0.7) choose(p, "eviction", "none");
    return !p->model->desc->check(p->params) && !dse_dram_port_check(dram_of(p));
}

/* They run, on a DRAM without banks, and are not faster than their bytes or their products. */
static void random__llms_run_at_event_level(void **state)
{
    (void)state;
    enum { POINTS = 60 };
    struct both_levels b = {.model = registry_find("veda")};
    const struct point defaults = point_of("veda", "");
    struct point p = defaults;
    for (int n = 0; n < POINTS;) {
        if (!random_llm_point(defaults.params, &p)) continue;
        n++;
        memcpy(b.params, p.params, b.model->desc->params_size);
        b.closed_parts.n = b.closed_parts.n_causes = 0;
        b.model->desc->estimate(p.params, b.closed, &b.closed_parts);
        run_events(&b, DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS);
        assert_finite(&b, "random");
        const struct dse_part events = sum_of_parts(&b.events_parts);
        assert_close("time", events.time_us, event_metric(&b, "latency_us"), 1e-9);
        assert_close("energy", events.energy_mj, event_metric(&b, "energy_mj") * dse_workload_tokens(workload_of(&p)), 1e-9);
        assert_close("operations", events.ops, sum_of_parts(&b.closed_parts).ops, 1e-9);
        assert_true(event_metric(&b, "compute_utilization") <= 1.02 && event_metric(&b, "dram_utilization") <= 1 + 1e-9);
        assert_true(events.dram_bytes >= 0.999 * sum_of_parts(&b.closed_parts).dram_bytes);
    }
}

/* Voting on several chips leaves all layers with fewer positions, and the event level says how much sooner they are done. */
static void voting__pays_on_several_chips_at_both_levels(void **state)
{
    (void)state;
    struct both_levels b;
    both_levels(&b, "veda", "llm=llama3.1-8b tensor_parallel=2 eviction=voting", 0);
    assert_between("voting", "speedup", event_metric(&b, "eviction_speedup"), closed_metric(&b, "eviction_speedup"), 0.05, 0.05);
    assert_true(event_metric(&b, "eviction_speedup") > 1.5);
}

/* Counts of a prompt are written once (E10): by KV head as many on two chips as on one, of a layer by each chip for its heads. */
static void votes__of_a_prompt_are_counted_on_several_chips(void **state)
{
    (void)state;
    static const struct {
        const char *eviction;
        double one, two; /* counts of a position and layer */
    } cases[] = {{"voting", 1, 2}, {"h2o", 8, 8}, {"window", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct point p = on("llama3-8b");
        choose(&p, "phase", "prefill");
        choose(&p, "eviction", cases[i].eviction);
        choose(&p, "boundary", "bulk");
        set(&p, "context", 1000);
        const double bytes = 32 * 1000. * 2; /* of 16 bits */
        assert_close("one chip", estimate(&p).vote_mib * 1000 * DSE_MIB, cases[i].one * bytes, 1e-12);
        set(&p, "tensor_parallel", 2);
        assert_close("two", estimate(&p).vote_mib * 1000 * DSE_MIB, cases[i].two * bytes, 1e-12);
    }
}

/* A draft that is always right saves weights, one that is never right costs them. */
static void drafts__pay_where_they_are_accepted(void **state)
{
    (void)state;
    struct point p = on("llama2-7b");
    const double plain = estimate(&p).dram_mib;
    set(&p, "draft_tokens", 3);
    set(&p, "acceptance", 1);
    assert_true(estimate(&p).dram_mib < plain);
    set(&p, "acceptance", 0);
    assert_true(estimate(&p).dram_mib > plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__move_what_their_operators_say),
        cmocka_unit_test(stages__take_turns),
        cmocka_unit_test(links__are_part_of_chips_that_have_them),
        cmocka_unit_test(levels__agree_on_llms_of_all_kinds),
        cmocka_unit_test(experts__are_drawn_at_event_level),
        cmocka_unit_test(random__llms_run_at_event_level),
        cmocka_unit_test(voting__pays_on_several_chips_at_both_levels),
        cmocka_unit_test(votes__of_a_prompt_are_counted_on_several_chips),
        cmocka_unit_test(drafts__pay_where_they_are_accepted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
