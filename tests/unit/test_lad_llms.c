/* LAD on LLMs of all kinds, and on several chips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lad_struct.h"
#include "llms_test.h"
#include "samples.h"
#include "sim/sim.h"

#include <dse/interval.h>
#include <dse/num.h>
#include <dse/units.h>

static struct lad_params defaults;

static struct lad_params on(const char *llm)
{
    struct lad_params p = defaults;
    p.workload.llm = find_llm(llm);
    p.dram.capacity_gib = 8192;
    p.sram_mib = 16;
    return p;
}

static struct lad_metrics estimate(const struct lad_params *p, struct dse_breakdown *parts)
{
    struct lad_metrics m;
    estimate_into(&dse_model_lad, p, p->workload.llm, &m, parts);
    return m;
}

/* Where nothing is fetched ahead, all that DRAM gives is in the operators but for what LAD's decoding reads instead of keys and
 * values. */
static void llms__move_what_their_operators_say(void **state)
{
    (void)state;
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++) {
        struct lad_params p = on(e->name);
        struct dse_breakdown parts;
        p.workload.latent_form = DSE_LATENT_ABSORBED;
        p.local.decoding = DSE_FULL_CACHE;
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
        static const char *const several[] = {"mimo-v2-flash", "gemma4-",
                                              "gemma3n-"}; /* widths, and caches of their own and shared */
        bool unlike = false;
        for (size_t k = 0; k < sizeof several / sizeof *several; k++)
            unlike = unlike || strncmp(e->name, several[k], strlen(several[k])) == 0;
        if (unlike) {
            assert_non_null(strstr(dse_model_lad.check(&p), "of one kind"));
            continue;
        }
        const struct lad_metrics own = estimate(&p, &parts);
        assert_close(e->name, sum_of_parts(&parts).dram_bytes, own.common.dram_mib * DSE_MIB * (double)p.workload.batch, 1e-9);
        const bool works = dse_local_works(&p.local, &p.workload);
        p.local.decoding = DSE_FULL_CACHE;
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
    struct dse_formats by_class = {.entry = {.name = "made"}};
    for (int c = 0; c < DSE_WEIGHT_CLASSES; c++) by_class.weights.bits[c] = 8;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 8; k++) {
            struct lad_params p = on(names[i]), other;
            p.workload.weight_bits = 8;
            if (k & 1) p.local.decoding = DSE_FULL_CACHE;
            if (k & 1) p.workload.phase = k & 4 ? DSE_PREFILL : DSE_DECODE;
            if (k & 2) p.fill = LAD_FILL_LAYER;
            if (k & 2) p.prefetch = LAD_PREFETCH_LIMITED;
            if (k & 4) p.group_reads = LAD_READS_UNION;
            other = p;
            other.workload.format = &by_class; /* not simple, and the same */
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

/* Links stand on each die where there are several, and nowhere on one. */
static void links__take_area(void **state)
{
    (void)state;
    struct lad_params p = on("llama2-70b");
    struct dse_links_die links;
    p.links.link_gbs = 100;
    const struct lad_metrics one = estimate(&p, NULL);
    p.workload.tensor_parallel = 2;
    const struct lad_metrics two = estimate(&p, NULL);
    dse_links_die_at(p.economics.costs, &p.links, p.technology->node_nm, &links);
    assert_true(links.mm2 > 0);
    assert_close("area", two.common.area_mm2, 2 * (one.common.area_mm2 + links.mm2), 1e-12);
    assert_close("links", two.links_mm2, 2 * links.mm2, 1e-12);
    assert_true(one.links_mm2 <= 0);
    p.area = DSE_AREA_CORE;
    assert_close("core", estimate(&p, NULL).common.area_mm2, two.core_mm2, 1e-12);
}

/* What cannot be is refused. */
static void refusals__have_reasons(void **state)
{
    (void)state;
    struct lad_params p = on("llama2-7b");
    p.workload.speculation.draft_tokens = 2;
    assert_non_null(dse_model_lad.check(&p));
    p.local.decoding = DSE_FULL_CACHE;
    assert_null(dse_model_lad.check(&p));
    p = on("mixtral-8x7b");
    struct lad_params more = p;
    more.workload.batch++;
    struct lad_metrics floor = {0}, ceiling = {0};
    assert_true(dse_model_lad.bound(&p, &more, &floor, &ceiling) && floor.common.tokens_per_s > 0);
    assert_true(dse_model_lad.bound(&p, &p, &floor, &ceiling));
    assert_close("of a point", floor.common.tokens_per_s, estimate(&p, NULL).common.tokens_per_s, 1e-14);
}

/* ---- event level ------------------------------------------------------------------------------------------------------------- */

static struct lad_metrics simulate(const struct lad_params *p, unsigned ideal, struct dse_breakdown *parts)
{
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    struct lad_metrics m = {0};
    assert_non_null(sim);
    if (parts) memset(parts, 0, sizeof *parts);
    if (!dse_model_lad.simulate(p, sim, &m, parts)) fail_msg("%s: %s", p->workload.llm->entry.name, dse_sim_error(sim));
    sim_free(sim);
    return m;
}

enum { ALL = DSE_IDEAL_FIFOS | DSE_IDEAL_REFRESH | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS | DSE_IDEAL_SYNC, CASES = 14 };

/* LLMs of all kinds, on one chip and on several. */
static struct lad_params case_of(int i)
{
    static const char *const llms[CASES] = {
        "gpt-oss-120b", "qwen3-30b-a3b", "deepseek-v2-lite", "gemma3-4b", "jamba-v0.1", "qwen3-next-80b-a3b", "deepseek-v3.2",
        "mixtral-8x7b", "qwen3-30b-a3b", "llama2-70b",       "llama3-8b", "llama3-8b",  "llama3-8b",          "qwen3-30b-a3b"};
    struct lad_params p = on(llms[i]);
    struct dse_workload *w = &p.workload;
    p.dram.dram_efficiency = 1; /* as in a memory without losses */
    switch (i) {
    case 7: w->tensor_parallel = 4; break;
    case 8: w->tensor_parallel = w->expert_parallel = 2; break;
    case 9:
        w->tensor_parallel = w->pipeline_parallel = 2;
        w->batch = 4;
        break;
    case 10:
        w->context_spread = 0.3;
        w->batch = 8;
        break;
    case 11: w->chunk_tokens = 64; break;
    case 12:
        w->speculation.draft_tokens = 3;
        p.local.decoding = DSE_FULL_CACHE;
        break;
    case 13: w->phase = DSE_PREFILL; break;
    }
    return p;
}

/* Without what only a run has, and equal heads, a run is the closed form: linear layers and exchanges within a chunk a job, bytes
 * but for whole bursts. What is fetched ahead where idle HBM time is short, quantum by quantum, moves bytes from one period into
 * another (E32). */
static void ideal__runs_are_the_closed_form(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct lad_params p = case_of(i);
        p.slot_ends = LAD_IGNORED; /* an ideal DRAM has none */
        struct dse_breakdown parts;
        const struct lad_metrics closed = estimate(&p, NULL), run = simulate(&p, ALL, &parts);
        const char *name = p.workload.llm->entry.name;
        assert_close(name, run.common.latency_us, closed.common.latency_us, 0.021);
        assert_close(name, run.linear_us, closed.linear_us, i == 9 ? 0.03 : 0.002);
        assert_close(name, run.communication_us, closed.communication_us, 1e-6);
        assert_close(name, run.common.dram_mib, closed.common.dram_mib, 2e-4);
        assert_close(name, run.common.energy_mj, closed.common.energy_mj, 0.004);
        assert_close(name, run.weights_mib, closed.weights_mib, 1e-9);
        const struct dse_part sum = sum_of_parts(&parts);
        assert_close(name, sum.time_us, run.common.latency_us, 1e-9);
        assert_close(name, sum.dram_bytes,
                     run.common.dram_mib * DSE_MIB * (double)run.common.tokens_per_s * run.common.latency_us / DSE_US_PER_S, 1e-9);
    }
}

/* With all of it a step is as far from the closed form as that of the paper's LLMs (README.md, "Event level"): attention by what
 * the controller reaches in its periods, and fetches ahead where idle time is short, up to 2.3 times as long; all else by a few
 * percent, and the experts as they are drawn. */
static void runs__agree(void **state)
{
    (void)state;
    static const int which[] = {1, 3, 8};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        struct lad_params p = case_of(which[i]);
        p.dram.dram_efficiency = defaults.dram.dram_efficiency;
        p.workload.weight_bits = 4;
        p.events.layers_simulated = 1;
        /* Most of its bytes are of the output head, burst by burst: one of fewer tokens is like it. */
        struct dse_llm llm = *p.workload.llm;
        llm.vocab = samples(16000, (int)llm.vocab);
        p.workload.llm = &llm;
        const struct lad_metrics closed = estimate(&p, NULL), run = simulate(&p, 0, NULL);
        assert_close("beside attention", run.common.latency_us - run.common.attention_us,
                     closed.common.latency_us - closed.common.attention_us, 0.08);
        assert_true(run.common.attention_us > 0.9 * closed.common.attention_us);
        assert_true(run.common.attention_us < 2.4 * closed.common.attention_us);
        assert_close("bytes", run.common.dram_mib, closed.common.dram_mib, 0.06);
        assert_close("energy", run.common.energy_mj, closed.common.energy_mj, 0.08);
    }
}

static void move(struct lad_params *p, int knob)
{
    struct dse_workload *w = &p->workload;
    switch (knob) {
    case 0: w->speculation.draft_tokens++; break;
    case 1: w->speculation.acceptance /= 2; break;
    case 2: w->routing_exponent++; break;
    case 3: w->latent_form = DSE_LATENT_EXPANDED; break;
    case 4: w->chunk_tokens += 32; break;
    case 5: w->context_spread += 0.2; break;
    case 6: w->weight_scale_bits += 0.5; break;
    case 7: w->exchange_bits *= 2; break;
    case 8: p->links.link_gbs /= 2; break;
    case 9: w->expert_parallel = 4; break;
    default: w->tensor_parallel = 4; break;
    }
}
enum { KNOBS = 11 };

/* Each parameter of today's LLMs moves the time of a token, or its energy, at both levels. */
static void knobs__move_both_levels(void **state)
{
    (void)state;
    for (int knob = 0; knob < KNOBS; knob++) {
        struct lad_params p = on("deepseek-v2-lite"), other;
        struct dse_workload *w = &p.workload;
        p.local.decoding = DSE_FULL_CACHE;
        w->weight_bits = 8;
        w->batch = 4;
        w->tensor_parallel = 2;
        w->routing = DSE_ROUTING_POWER_LAW;
        w->speculation.draft_tokens = 2;
        w->latent_form = DSE_LATENT_ABSORBED;
        if (knob == 9) w->data_parallel = 2;
        other = p;
        move(&other, knob);
        const struct lad_metrics closed = estimate(&p, NULL), closed_other = estimate(&other, NULL);
        const struct lad_metrics run = simulate(&p, ALL, NULL), run_other = simulate(&other, ALL, NULL);
        const double by = closed_other.common.tokens_per_s / closed.common.tokens_per_s - 1,
                     run_by = run_other.common.tokens_per_s / run.common.tokens_per_s - 1;
        if (!(fabs(by) > 1e-6 && fabs(run_by - by) < 0.05 * fabs(by) + 3e-4)) fail_msg("knob %d: %g and %g", knob, by, run_by);
    }
}

/* Experts are drawn: another seed, other bytes. */
static void experts__are_drawn(void **state)
{
    (void)state;
    struct lad_params p = on("qwen3-30b-a3b");
    p.events.layers_simulated = 1;
    const unsigned ideal = ALL & ~(unsigned)DSE_IDEAL_DRAWS;
    const struct lad_metrics one = simulate(&p, ideal, NULL);
    p.events.seed++;
    const struct lad_metrics another = simulate(&p, ideal, NULL);
    assert_true(one.weights_mib != another.weights_mib);
    assert_close("weights", another.weights_mib, one.weights_mib, 0.1);
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
        cmocka_unit_test(links__take_area),
        cmocka_unit_test(refusals__have_reasons),
        cmocka_unit_test(ideal__runs_are_the_closed_form),
        cmocka_unit_test(runs__agree),
        cmocka_unit_test(knobs__move_both_levels),
        cmocka_unit_test(experts__are_drawn),
    };
    return cmocka_run_group_tests(tests, set_up_defaults, tear_down);
}
