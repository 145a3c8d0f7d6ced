/* LAD over the space: which points are refused and why, what becomes of the batch, technologies and SRAM tables, and that no point
 * of the whole space yields nonsense. */
#include "lad_test.h"

#include <dse/units.h>

#include <math.h>

/* ---- refused points -------------------------------------------------------------------------------------------------------- */

static void assert_refused(const struct lad_params *p, const char *word)
{
    const char *why = dse_model_lad.check(p);
    if (!why || !strstr(why, word)) fail_msg("\"%s\" does not say \"%s\"", why ? why : "accepted", word);
}

static void points__that_cannot_run_say_why(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.workload.context = 4097;
    assert_refused(&p, "max_context");
    p.workload.context = 100;
    assert_refused(&p, "attention profile");
    p.local.decoding = DSE_FULL_CACHE; /* needs no profile */
    assert_null(dse_model_lad.check(&p));
    p = f.defaults;
    p.workload.batch = 4096;
    assert_refused(&p, "do not fit the DRAM");
    p = f.defaults;
    p.sram_mib = 0.5;
    assert_refused(&p, "SRAM of a tile");
    p.sram_mib = 0.1;
    assert_refused(&p, "no macro of this capacity");
    p = f.defaults;
    p.sram = f.cacti;
    p.sram_word_bits = 8192;
    assert_refused(&p, "word width");
    p = f.defaults;
    p.gather = LAD_GATHER_ROWS;
    p.dram.timing.t_rfc_ns = p.dram.timing.t_refi_ns;
    assert_refused(&p, "would only refresh");
    p = f.defaults;
    p.technology = fixture_node(&f, "stillmaker-hp-14nm-0.8v");
    assert_refused(&p, "22 nm");
}

/* LAD-1.5 ran 4096 positions, LAD-3.5 and LAD-2.5 too. */
static void points__published_configurations_run(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    for (p.workload.context = 512; p.workload.context <= 4096; p.workload.context += 512)
        for (p.sram_mib = 1.5; p.sram_mib <= 3.5; p.sram_mib += 1) assert_null(dse_model_lad.check(&p));
}

/* The smallest SRAM that runs holds G, centers, caches and activations: with less, and only with less, the point is refused. */
static void points__sram_is_refused_below_the_working_set(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    double resident = estimate(&p).sram_resident_mib;
    p.sram_mib = resident * 1.0001;
    struct lad_metrics m = estimate(&p);
    assert_true(m.hit_ratio < 0.01);
    p.sram_mib = resident * 0.9999;
    assert_refused(&p, "SRAM of a tile");
}

/* ---- the batch ------------------------------------------------------------------------------------------------------------- */

static void batch__policies_choose_what_they_say(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.workload.batch = 512;
    p.batch_policy = LAD_BATCH_FIT_MEMORY;
    for (p.workload.context = 512; p.workload.context <= 4096; p.workload.context += 512)
        for (p.tiles = 1; p.tiles <= 32; p.tiles += 5) {
            p.batch_policy = LAD_BATCH_FIT_MEMORY;
            struct lad_metrics fit = estimate(&p);
            struct lad_params fixed = p;
            fixed.batch_policy = LAD_BATCH_FIXED;
            fixed.workload.batch = (int64_t)fit.batch_used;
            assert_true(estimate(&fixed).common.latency_us == fit.common.latency_us);
            fixed.workload.batch++;
            assert_non_null(dse_model_lad.check(&fixed));

            p.batch_policy = LAD_BATCH_TILE_MULTIPLE;
            struct lad_metrics multiple = estimate(&p);
            assert_true(multiple.batch_used <= fit.batch_used && multiple.batch_used + (double)p.tiles > fit.batch_used);
            if (fit.batch_used >= (double)p.tiles) assert_true(multiple.idle_slots == 0);

            p.batch_policy = LAD_BATCH_BEST_THROUGHPUT;
            double best = estimate(&p).common.tokens_per_s;
            assert_true(best >= fit.common.tokens_per_s && best >= multiple.common.tokens_per_s);
        }
}

/* The bounded search loses little against trying every batch. */
static void batch__best_throughput_is_near_the_best_of_all(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    double worst = 1;
    for (p.workload.context = 512; p.workload.context <= 4096; p.workload.context += 896)
        for (p.tiles = 1; p.tiles <= 16; p.tiles += 5) {
            double best = 0;
            p.batch_policy = LAD_BATCH_FIXED;
            for (p.workload.batch = 1; p.workload.batch <= 128; p.workload.batch++)
                if (!dse_model_lad.check(&p)) best = fmax(best, estimate(&p).common.tokens_per_s);
            p.workload.batch = 128;
            p.batch_policy = LAD_BATCH_BEST_THROUGHPUT;
            worst = fmin(worst, estimate(&p).common.tokens_per_s / best);
        }
    print_message("best-throughput reaches %.2f %% of the best batch at worst\n", 100 * worst);
    assert_true(worst > 0.99 && worst <= 1);
}

/* ---- the chip -------------------------------------------------------------------------------------------------------------- */

static void chip__scales_with_the_technology(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    struct lad_metrics at22 = estimate(&p);
    p.technology = fixture_node(&f, "28nm");
    struct lad_metrics at28 = estimate(&p);
    assert_true(fabs(at28.common.area_mm2 / at22.common.area_mm2 - 0.35 / 0.22) < 1e-9);
    assert_true(at28.chip_power_w > at22.chip_power_w);
    assert_true(at28.common.latency_us == at22.common.latency_us);
    assert_true(at28.energy_dram_mj == at22.energy_dram_mj);
}

/* CACTI's macros, from the energy of an access, against Table III's, measured under load: same size within 20 %, power within a
 * factor of two. */
static void chip__cacti_macros_are_like_those_of_table_3(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    for (p.sram_mib = 1.5; p.sram_mib <= 3.5; p.sram_mib += 1) {
        p.sram = f.table3;
        const struct lad_equations table3 = lad_equate(&p);
        p.sram = f.cacti;
        assert_null(dse_model_lad.check(&p));
        const struct lad_equations cacti = lad_equate(&p);
        double area = cacti.sram_area_mm2 / table3.sram_area_mm2, dynamic = cacti.sram_dynamic_mw / table3.sram_dynamic_mw,
               leakage = cacti.sram_static_mw / table3.sram_static_mw;
        print_message("%.1f MiB, CACTI over Table III: area %.2f, dynamic %.2f, static %.2f\n", p.sram_mib, area, dynamic, leakage);
        assert_true(area > 0.8 && area < 1.2);
        assert_true(dynamic > 0.5 && dynamic < 2 && leakage > 0.5 && leakage < 2);
    }
}

static void chip__doubled_vpus_cost_what_they_are(void **state)
{
    (void)state;
    struct lad_params p = f.defaults, wide = f.defaults, more = f.defaults;
    wide.vpu_width = 256;
    more.vpu_eas = 4;
    more.vpu_md = 4;
    more.vpu_ac = 6;
    double area = estimate(&p).tile_area_mm2;
    assert_true(fabs(estimate(&wide).tile_area_mm2 - area - (0.398 + 0.087 + 0.069)) < 1e-9);
    assert_true(fabs(estimate(&more).tile_area_mm2 - area - (0.398 + 0.087 + 0.003 + 0.001)) < 1e-9);
    assert_true(fabs(estimate(&wide).linear_us - estimate(&more).linear_us) < 1e-6);
}

/* ---- prefill --------------------------------------------------------------------------------------------------------------- */

static void prefill__computes_at_the_peak_of_the_vpus(void **state)
{
    (void)state;
    struct lad_params p = f.defaults;
    p.workload.phase = DSE_PREFILL;
    p.workload.batch = 1;
    struct lad_metrics m = estimate(&p);
    assert_int_equal(m.common.bound, DSE_BOUND_COMPUTE);
    assert_true(m.common.compute_utilization > 0.98 && m.common.compute_utilization <= 1);
    /* 2 * 6.476e9 weights a token and half a square of attention, at 10.75 TFLOPS */
    double ops = 2048 * 2 * 6.476e9 + 32 * 32 * 2048. * 2049 / 2 * 4 * 128;
    assert_true(fabs(m.common.latency_us * 1e-6 / (ops / 10.752e12) - 1) < 0.01);
}

/* ---- every point ----------------------------------------------------------------------------------------------------------- */

static uint64_t random_u64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_unit(uint64_t *state)
{
    return (double)(random_u64(state) >> 11) * 0x1p-53;
}

/* A value of the field's range: the ends now and then, otherwise uniform, in logarithms where the range spans decades. */
static double random_number(const struct field *field, uint64_t *state)
{
    uint64_t what = random_u64(state) % 32;
    double u = random_unit(state), lo = field->min, hi = field->max;
    if (what == 0) return lo;
    if (what == 1) return hi;
    return lo > 0 && hi / lo > 10 ? lo * pow(hi / lo, u) : lo + u * (hi - lo);
}

/* Sizes and times of a DRAM that could be: drawn one by one they hardly ever fit together. */
static void mend_dram(struct dse_dram *d, uint64_t *state)
{
    struct dse_dram_timing *t = &d->timing;
    t->interleave_bytes = d->burst_bytes << random_u64(state) % 5;
    t->row_bytes = t->interleave_bytes << random_u64(state) % 5;
    t->banks = t->bank_groups << random_u64(state) % 4;
    t->t_ras_ns = fmax(t->t_ras_ns, t->t_rcd_ns);
    if (t->t_rfc_ns > 0) t->t_rfc_ns = fmax(t->t_rfc_ns, t->t_ras_ns + t->t_rp_ns);
    t->t_refi_ns = fmax(t->t_refi_ns, 1.01 * t->t_rfc_ns);
}

/* Likewise a cache, and what LAD's decoding goes with. */
static void mend_cache(struct lad_params *p)
{
    const bool aware = p->local.decoding == DSE_LOCALITY_AWARE;
    if (aware || p->workload.kv_scale_bits > 0) p->workload.value_bits = 0; /* as kv_bits */
    if (p->workload.kv_bits >= 16) p->workload.kv_scale_bits = 0;
    if (aware || p->workload.kv_scale_bits <= 0) p->cache.kv_format = DSE_KV_TOKEN;
    if (aware) p->cache.eviction = 0;
    if (aware) p->workload.speculation.draft_tokens = 0;
    p->cache.pool |= 1;
}

/* Fields that stand at their defaults most of the time: full ranges of all at once would leave hardly any feasible point. */
static void random_point(const struct schema *schema, struct lad_params *p, uint64_t *state)
{
    *p = f.defaults;
    double share = random_unit(state);
    p->dram.bandwidth_gbs = (double)NAN;
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *field = &schema->fields[i];
        if (random_unit(state) > share) continue;
        struct value v = field_get(field, p);
        if (field->type == DSE_TYPE_F64)
            v.f64 = random_number(field, state);
        else if (field->type == DSE_TYPE_I64)
            v.i64 = (int64_t)random_number(field, state);
        else if (field->type == DSE_TYPE_ENUM) {
            int32_t n = 0;
            while (field->choices[n]) n++;
            v.choice = (int32_t)(random_u64(state) % (uint64_t)n);
        }
        field_set(field, p, v);
    }
    p->workload.llm = (const struct dse_llm *)(const void *)f.llms.object[random_u64(state) % f.llms.n];
    if (random_u64(state) % 2) p->workload.context %= p->workload.llm->max_context, p->workload.context++;
    if (random_u64(state) % 2) p->workload.batch = 1 + p->workload.batch % 16;
    if (random_u64(state) % 2) p->dram.capacity_gib = 1048576;
    struct dse_workload *w = &p->workload;
    if (random_u64(state) % 16) w->activation_bits = w->activation_bits < 16 ? 16 : w->activation_bits; /* or most are refused */
    if (random_u64(state) % 8) {
        w->tensor_parallel = w->pipeline_parallel = w->data_parallel = w->expert_parallel = 1;
        w->speculation.draft_tokens = w->chunk_tokens = w->chunk_context = 0;
        w->speculation.accepted_length = w->context_spread = w->weight_scale_bits = 0;
    }
    if (random_u64(state) % 16) mend_cache(p);
    if (random_u64(state) % 4 == 0) p->sram = f.cacti;
    if (random_u64(state) % 4 == 0) p->technology = &f.nodes[random_u64(state) % f.n_nodes];
    dse_model_lad.resolve(p);
    if (random_u64(state) % 16) mend_dram(&p->dram, state);
}

static void check_metrics(const struct schema *metrics, const struct lad_params *p, uint64_t point)
{
    struct lad_metrics m;
    struct dse_breakdown parts = {0};
    double us = 0, mj = 0;
    dse_model_lad.estimate(p, &m, &parts);
    for (size_t i = 0; i < metrics->n; i++) {
        const struct field *field = &metrics->fields[i];
        double v = field_number(field, &m);
        if (field->type == DSE_TYPE_ENUM || (field->may_be_null && isnan(v))) continue;
        if (!(v >= 0) || isinf(v)) fail_msg("point %llu: %s is %g", (unsigned long long)point, field->name, v);
    }
    for (int i = 0; i < parts.n; i++) {
        const struct dse_part *part = &parts.part[i];
        if (!(part->time_us >= 0 && part->dram_bytes >= 0 && part->energy_mj >= 0 && part->ops >= 0))
            fail_msg("point %llu: part %s", (unsigned long long)point, part->name);
        if (part->depth == 0) us += part->time_us, mj += part->energy_mj;
    }
    struct dse_workload used = p->workload;
    used.batch = (int64_t)m.batch_used;
    const double tokens = dse_workload_tokens(&used);
    const struct {
        const char *what;
        bool holds;
    } laws[] = {
        {"times of parts", fabs(us / m.common.latency_us - 1) < 1e-9},
        {"energies of parts", fabs(mj / (m.common.energy_mj * tokens) - 1) < 1e-9},
        {"compute utilization", m.common.compute_utilization <= 1 + 1e-9},
        {"DRAM utilization", m.common.dram_utilization <= p->dram.dram_efficiency * (1 + 1e-9)},
        {"hit ratio", m.hit_ratio <= 1 + 1e-12 || dse_model_lad.why_null(p, "hit_ratio")},
        {"attention share", m.attention_share <= 1 + 1e-12},
        {"active positions", m.active <= (double)p->workload.context * (1 + 1e-9) || dse_model_lad.why_null(p, "active")},
        {"idle slots", m.idle_slots < 1},
        {"batch", m.batch_used >= 1 && m.batch_used <= p->workload.batch},
        {"footprint", m.dram_footprint_gib <= p->dram.capacity_gib * (1 + 1e-12)},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (!laws[i].holds) fail_msg("point %llu breaks the law of %s", (unsigned long long)point, laws[i].what);
}

static void points__of_the_whole_space_make_sense(void **state)
{
    (void)state;
    enum { POINTS = 60000 };
    struct schema params, metrics;
    schema_init_params(&params, dse_model_lad.params);
    schema_init_metrics(&metrics, dse_model_lad.metrics, NULL);
    uint64_t seed = 20250301, feasible = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        struct lad_params p;
        random_point(&params, &p, &seed);
        if (dse_model_lad.check(&p)) continue;
        check_metrics(&metrics, &p, i);
        feasible++;
    }
    print_message("%llu of %d random points can be built\n", (unsigned long long)feasible, POINTS);
    assert_true(feasible > POINTS / 6);
    schema_release(&params);
    schema_release(&metrics);
}

/* ---- the cache -------------------------------------------------------------------------------------------------------------- */

static int32_t policy(const char *name)
{
    int32_t i = 0;
    while (strcmp(dse_eviction_choices()[i], name) != 0) i++;
    return i;
}

/* Full-cache decoding of a cache that keeps half of its positions is that of half the context, and what is counted and bounded. */
static void cache__of_full_cache_decoding_keeps_what_it_says(void **state)
{
    (void)state;
    struct lad_params p = f.defaults, half;
    p.local.decoding = DSE_FULL_CACHE;
    p.cache.quality_from = DSE_FROM_RETENTION;
    half = p;
    half.workload.context = p.workload.context / 2;
    const struct lad_metrics some = estimate(&half);
    const double heads = 32, layers = 32;
    p.cache.eviction = policy("window");
    struct lad_metrics m = estimate(&p);
    assert_true(m.common.latency_us == some.common.latency_us && m.common.dram_mib == some.common.dram_mib);
    assert_true(m.retained_mass < 1 && m.attention_error > 0 && m.false_negative == 0);
    p.cache.eviction = policy("h2o");
    m = estimate(&p);
    assert_true(fabs((m.technique_mib * DSE_MIB) / (layers * heads * 2 * 1024 * 2) - 1) < 1e-12);
    assert_true(fabs((m.common.dram_mib) / (some.common.dram_mib + m.technique_mib) - 1) < 1e-12);
    p.cache.eviction = policy("quest");
    m = estimate(&p);
    assert_true(fabs((m.technique_mib * DSE_MIB) / (layers * heads * 2 * (2048. / 16) * 256) - 1) < 1e-12);
    assert_true(fabs((m.common.dram_mib) / (some.common.dram_mib + m.technique_mib) - 1) < 1e-12);
    p.local.decoding = DSE_LOCALITY_AWARE;
    assert_refused(&p, "cannot drop a position");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache__of_full_cache_decoding_keeps_what_it_says),
        cmocka_unit_test(points__that_cannot_run_say_why),
        cmocka_unit_test(points__published_configurations_run),
        cmocka_unit_test(points__sram_is_refused_below_the_working_set),
        cmocka_unit_test(batch__policies_choose_what_they_say),
        cmocka_unit_test(batch__best_throughput_is_near_the_best_of_all),
        cmocka_unit_test(chip__scales_with_the_technology),
        cmocka_unit_test(chip__cacti_macros_are_like_those_of_table_3),
        cmocka_unit_test(chip__doubled_vpus_cost_what_they_are),
        cmocka_unit_test(prefill__computes_at_the_peak_of_the_vpus),
        cmocka_unit_test(points__of_the_whole_space_make_sense),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
