/* What tests of the Neural Engine on LLMs of all kinds share. After cmocka.h. */
#ifndef ANE_LLMS_TEST_H
#define ANE_LLMS_TEST_H

#include "ane/ane.h"
#include "llms_test.h"
#include "sim/sim.h"

#include <dse/units.h>

static struct ane_params defaults;

static inline struct ane_params on(const char *llm)
{
    struct ane_params p = defaults;
    p.workload.llm = find_llm(llm);
    p.dram.capacity_gib = 4096;
    if (!p.workload.llm) abort(); /* find_llm has failed */
    return p;
}

static inline struct ane_metrics estimate(const struct ane_params *p, struct dse_breakdown *parts)
{
    struct ane_metrics m;
    estimate_into(&dse_model_ane, p, p->workload.llm, &m, parts);
    return m;
}

static inline const char *refusal(struct ane_params p)
{
    return dse_model_ane.check(&p);
}

static inline void assert_parts_add_up(const char *what, const struct ane_params *p)
{
    struct dse_breakdown parts;
    const struct ane_metrics m = estimate(p, &parts);
    const struct dse_part sum = sum_of_parts(&parts);
    const double tokens = dse_workload_tokens(&p->workload);
    assert_close(what, sum.time_us, m.common.latency_us, 1e-9);
    assert_close(what, sum.energy_mj, m.common.energy_mj * tokens, 1e-9);
    assert_close(what, sum.dram_bytes, m.common.dram_mib * DSE_MIB * tokens, 1e-9);
    assert_close(what, m.common.tokens_per_s, tokens / m.common.latency_us * DSE_US_PER_S, 1e-9);
}

static inline double simulated_us(const struct ane_params *p, unsigned ideal)
{
    struct ane_metrics m;
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    assert_non_null(sim);
    if (!dse_model_ane.simulate(p, sim, &m, NULL)) fail_msg("%s: %s", p->workload.llm->entry.name, dse_sim_error(sim));
    sim_free(sim);
    return m.common.latency_us;
}

#endif
