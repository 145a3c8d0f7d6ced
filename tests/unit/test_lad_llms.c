/* LAD on LLMs of all kinds, and on several chips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "llms_test.h"
#include "sim/sim.h"
#include "lad/lad_llms.h"

#include <dse/interval.h>
#include <dse/num.h>
#include <dse/units.h>

static struct lad_params defaults;

static struct lad_params on(const char *llm)
{
    struct lad_params p = defaults;
    p.workload.llm = find_llm(llm);
    p.dram.capacity_gib = 4096;
    p.sram_mib = 16;
    return p;
}

static struct lad_metrics estimate(const struct lad_params *p, struct dse_breakdown *parts)
{
    struct lad_metrics m;
    estimate_into(&dse_model_lad, p, p->workload.llm, &m, parts);
    return m;
}

/* Where nothing is fetched ahead, all that DRAM gives is in the operators but for what LAD's decoding reads instead of keys and values. */
static void llms__move_what_their_operators_say(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct lad_params p = on(e->name);
        struct dse_breakdown parts;
        p.workload.latent_form = DSE_LATENT_ABSORBED;
        p.decoding = LAD_FULL_CACHE;
        const struct lad_metrics m = estimate(&p, &parts);
        const double bytes = bytes_of_operators(&p.workload);
        const struct dse_part sum = sum_of_parts(&parts);
        const double tokens = (double)p.workload.batch;
        assert_close(e->name, m.common.dram_mib * DSE_MIB * tokens, bytes, 1e-9);
        assert_close(e->name, sum.dram_bytes, bytes, 1e-9);
        assert_close(e->name, sum.time_us, m.common.latency_us, 1e-9);
        assert_close(e->name, sum.energy_mj, m.common.energy_mj * tokens, 1e-9);
    }
}

/* LAD's decoding reads less than the full cache where there is full attention, and the same where there is none. */
static void locality__is_of_full_attention(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct lad_params p = on(e->name);
        p.prefetch = LAD_PREFETCH_OFF;
        struct dse_breakdown parts;
        const struct lad_metrics own = estimate(&p, &parts);
        assert_close(e->name, sum_of_parts(&parts).dram_bytes, own.common.dram_mib * DSE_MIB * (double)p.workload.batch, 1e-9);
        const bool works = lad_works(&p);
        p.decoding = LAD_FULL_CACHE;
        const struct lad_metrics all = estimate(&p, NULL);
        if (!works) {
            assert_close(e->name, own.common.latency_us, all.common.latency_us, 1e-12);
            assert_true(own.attention_error <= 0);
        } else {
            assert_true(own.active_mib + own.centers_mib > 0 && own.attention_error != 0);
        }
    }
}

/* The step of one operator after another is that of the paper's workload where that is all there is. */
static void steps__agree_where_both_are(void **state)
{
    (void)state;
    static const char *const names[] = {"llama2-7b", "llama3.1-8b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 8; k++) {
            struct lad_params p = on(names[i]), other;
            p.workload.weight_bits = 8;
            if (k & 1) p.decoding = LAD_FULL_CACHE;
            if (k & 1) p.workload.phase = k & 4 ? DSE_PREFILL : DSE_DECODE;
            if (k & 2) p.fill = LAD_FILL_LAYER;
            if (k & 2) p.prefetch = LAD_PREFETCH_LIMITED;
            if (k & 4) p.group_reads = LAD_READS_UNION;
            other = p;
            other.workload.weight_scale_bits = 1e-12; /* not simple, and nothing to read */
            struct lad_metrics simple = estimate(&p, NULL), general = estimate(&other, NULL);
            const struct dse_metric *table = dse_model_lad.metrics;
            assert_close("latency", general.common.latency_us, simple.common.latency_us, 1e-9);
            assert_close("energy", general.common.energy_mj, simple.common.energy_mj, 1e-9);
            for (const struct dse_metric *t = table; t->type != DSE_TYPE_END; t++) {
                if (t->type != DSE_TYPE_F64) continue;
                const double a = *(double *)(void *)((char *)&general + t->offset),
                             b = *(double *)(void *)((char *)&simple + t->offset);
                if (!isnan(b)) assert_close(t->name, a, b, 1e-9);
            }
        }
}

/* Stages take turns: four sequences on four of them are four times as many as one. */
static void stages__take_turns(void **state)
{
    (void)state;
    struct lad_params p = on("llama2-70b");
    p.fill = LAD_FILL_IGNORED;
    p.workload.batch = 1;
    p.workload.pipeline_parallel = 4;
    const struct lad_metrics alone = estimate(&p, NULL);
    p.workload.batch = 4;
    const struct lad_metrics full = estimate(&p, NULL);
    assert_close("tokens", full.common.tokens_per_s, 4 * alone.common.tokens_per_s, 1e-9);
    assert_true(alone.common.energy_mj > full.common.energy_mj); /* waiting draws */
}

/* What cannot be is refused. */
static void refusals__have_reasons(void **state)
{
    (void)state;
    struct lad_params p = on("llama2-7b");
    p.workload.speculation.draft_tokens = 2;
    assert_non_null(dse_model_lad.check(&p));
    p.decoding = LAD_FULL_CACHE;
    assert_null(dse_model_lad.check(&p));
    p = on("mixtral-8x7b");
    struct lad_metrics m;
    struct dse_sim *sim = sim_new(&(struct sim_options){0});
    assert_non_null(sim);
    assert_false(dse_model_lad.simulate(&p, sim, &m, NULL));
    sim_free(sim);
    struct lad_params more = p;
    more.workload.batch++;
    struct lad_metrics floor = {0}, ceiling = {0};
    assert_true(dse_model_lad.bound(&p, &more, &floor, &ceiling) && isnan(floor.common.tokens_per_s));
    assert_true(dse_model_lad.bound(&p, &p, &floor, &ceiling));
    assert_close("of a point", floor.common.tokens_per_s, estimate(&p, NULL).common.tokens_per_s, 0);
}

static int set_up_defaults(void **state)
{
    return set_up_defaults_of(state, &dse_model_lad, &defaults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llms__move_what_their_operators_say),
        cmocka_unit_test(locality__is_of_full_attention),
        cmocka_unit_test(steps__agree_where_both_are),
        cmocka_unit_test(stages__take_turns),
        cmocka_unit_test(refusals__have_reasons),
    };
    return cmocka_run_group_tests(tests, set_up_defaults, tear_down);
}
