/* Grouped queries (E40): what the query heads of a KV head read together. */
#include "lad_test.h"

#include "lad/lad_shared.h"
#include "sim/sim.h"

#include <dse/units.h>

#include <math.h>

static void assert_close(double is, double should, double tolerance)
{
    if (!(fabs(is - should) <= tolerance * fabs(should))) fail_msg("%.17g instead of %.17g", is, should);
}

static struct lad_params grouped(const char *llm)
{
    struct lad_params p = f.defaults;
    p.workload.llm = fixture_llm(&f, llm);
    p.sram_mib = 8;
    p.prefetch = LAD_PREFETCH_OFF;
    p.group_reads = LAD_READS_UNION;
    return p;
}

static struct lad_metrics by_head(struct lad_params p)
{
    p.group_reads = LAD_READS_HEAD;
    return estimate(&p);
}

/* The law against its own words, from nothing to all. */
static void share__is_that_of_independent_choices(void **state)
{
    (void)state;
    for (int64_t g = 1; g <= 32; g *= 2) {
        double before = 1;
        for (int percent = 1; percent <= 100; percent++) {
            const double x = percent / 100.0, share = dse_local_shared(1000, 1000 * x, 0, g);
            assert_close(share, (1 - pow(1 - x, (double)g)) / ((double)g * x), 1e-12);
            assert_true(share <= before && share >= 1 / (double)g);
            before = share;
        }
        assert_true(dse_local_shared(1000, 0, 0, g) == 1);
        assert_true(dse_local_shared(1000, 1000, 0, g) == 1 / (double)g);
    }
}

static uint32_t below(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % n);
}

/* 4 heads draw 300 of 1000 positions each, the 40 newest among them. */
static void share__is_what_draws_have(void **state)
{
    (void)state;
    enum { N = 1000, DRAWN = 300, NEWEST = 40, HEADS = 4, RUNS = 200 };
    uint64_t seed = 5;
    double read = 0;
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        bool seen[N] = {false};
        for (int h = 0; h < HEADS; h++)
            for (uint32_t i = 0, left = DRAWN - NEWEST; i < N - NEWEST; i++)
                if (below(&seed, N - NEWEST - i) < left) seen[i] = true, left--;
        for (int i = N - NEWEST; i < N; i++) seen[i] = true;
        for (int i = 0; i < N; i++) read += seen[i];
    }
    assert_close(read / RUNS, HEADS * DRAWN * dse_local_shared(N, DRAWN, NEWEST, HEADS), 0.005);
}

static void union__of_a_head_by_itself_is_the_head(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama2-7b");
    p.prefetch = LAD_PREFETCH_IDEAL;
    const struct lad_metrics is = estimate(&p), should = by_head(p);
    assert_true(is.common.latency_us == should.common.latency_us && is.common.energy_mj == should.common.energy_mj);
    assert_true(is.common.dram_mib == should.common.dram_mib && is.centers_mib == should.centers_mib);
    assert_true(is.active_mib == should.active_mib && is.prefetch_mib == should.prefetch_mib);
    assert_true(is.prefetched == should.prefetched && is.sram_resident_mib == should.sram_resident_mib);
}

/* A group reads no more than its heads do, and no less than one of them; what is not read together stays as it is. */
static void union__is_between_one_head_and_all(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama3-8b");
    const double g = 4, n = 2048;
    for (int scale = 1; scale <= 128; scale *= 2)
        for (int prefetch = LAD_PREFETCH_OFF; prefetch <= LAD_PREFETCH_IDEAL; prefetch++) {
            p.local.center_scale = scale / 2.0;
            p.prefetch = prefetch;
            const struct lad_metrics u = estimate(&p), h = by_head(p);
            const double active = u.active_mib + u.prefetch_mib, most = h.active_mib + h.prefetch_mib;
            assert_true(active < most && active > most / g);
            assert_true(u.centers_mib < h.centers_mib && u.centers_mib > h.centers_mib / g * (1 - 1e-12));
            assert_true(u.others_mib == h.others_mib && u.compute_cycles == h.compute_cycles && u.active == h.active);
            assert_true(u.sram_resident_mib > h.sram_resident_mib);
            if (prefetch == LAD_PREFETCH_OFF) assert_true(u.common.latency_us <= h.common.latency_us);
        }
    p.local.center_scale = 1;
    p.prefetch = LAD_PREFETCH_OFF;
    p.local.active_cv = 0;
    const struct lad_metrics u = estimate(&p), h = by_head(p);
    const double newest = (double)p.local.recent, others = 1 - (h.active - newest) / (n - newest);
    assert_close(u.active_mib / h.active_mib, (newest + (n - newest) * (1 - pow(others, g))) / (g * h.active), 1e-12);
    p.local.recent = (int64_t)n; /* the same for all */
    assert_close(estimate(&p).active_mib, by_head(p).active_mib / g, 1e-12);
}

/* Where every position is active, and every key a center, a group reads the cache once. */
static void union__of_everything_is_read_once(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama3-8b");
    p.workload.context = 512;
    p.local.recent = 1024;
    p.local.active_cv = 0;
    p.local.center_scale = 1000;
    const struct lad_metrics u = estimate(&p), h = by_head(p);
    assert_close(u.active_mib, h.active_mib / 4, 1e-12);
    assert_close(u.active_mib, u.full_cache_mib, 1e-12);
    assert_close(u.centers_mib, h.centers_mib / 4, 1e-12);
}

/* ---- at event level -------------------------------------------------------------------------------------------------------- */

enum { ALL = DSE_IDEAL_FIFOS | DSE_IDEAL_REFRESH | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS | DSE_IDEAL_SYNC };

static struct lad_metrics simulate(const struct lad_params *p, unsigned ideal)
{
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    struct lad_metrics m = {0};
    assert_null(dse_model_lad.check(p));
    if (!dse_model_lad.simulate(p, sim, &m, NULL)) fail_msg("%s", dse_sim_error(sim));
    sim_free(sim);
    return m;
}

static struct lad_metrics simulate_by_head(struct lad_params p, unsigned ideal)
{
    p.group_reads = LAD_READS_HEAD;
    return simulate(&p, ideal);
}

static void events__of_a_head_by_itself_are_the_head(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama2-7b");
    p.events.layers_simulated = 1;
    p.prefetch = LAD_PREFETCH_IDEAL;
    const struct lad_metrics is = simulate(&p, DSE_IDEAL_DRAM), should = simulate_by_head(p, DSE_IDEAL_DRAM);
    assert_memory_equal(&is, &should, sizeof is);
}

/* What is drawn differs from its mean by under 1 %. What is not read together is what each head moves, to the byte. */
static void events__move_what_the_closed_form_says(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama3-8b");
    p.events.layers_simulated = 1;
    p.local.active_cv = 0;
    p.local.center_scale = 8;
    for (p.slots = LAD_PARTITIONED; p.slots <= LAD_BALANCED; p.slots++)
        for (p.prefetch = LAD_PREFETCH_OFF; p.prefetch <= LAD_PREFETCH_IDEAL; p.prefetch++)
            for (p.workload.batch = 4; p.workload.batch <= 12; p.workload.batch += 8) {
                const struct lad_metrics closed = estimate(&p), is = simulate(&p, ALL), by_head = simulate_by_head(p, ALL);
                assert_close(is.centers_mib, closed.centers_mib, 0.01);
                assert_close(is.active_mib + is.prefetch_mib, closed.active_mib + closed.prefetch_mib, 0.01);
                assert_true(is.others_mib == by_head.others_mib && is.active == by_head.active);
                assert_true(is.active_mib + is.prefetch_mib < by_head.active_mib + by_head.prefetch_mib);
                if (p.prefetch == LAD_PREFETCH_OFF) assert_true(is.common.attention_us < by_head.common.attention_us);
            }
}

/* Draws of unlike heads, banks and barriers change time; of bytes no more than which heads a group has. */
static void events__of_unlike_heads_share_as_much(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama3-8b");
    double is = 0, should = 0;
    p.events.layers_simulated = 2;
    for (p.events.seed = 1; p.events.seed <= 4; p.events.seed++) {
        is += simulate(&p, DSE_IDEAL_DRAM).active_mib;
        should += estimate(&p).active_mib;
    }
    assert_close(is, should, 0.02);
}

static void events__of_everything_read_it_once(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama3-8b");
    p.workload.context = 512;
    p.events.layers_simulated = 1;
    p.local.recent = 1024;
    p.local.active_cv = 0;
    p.local.center_scale = 1000;
    const struct lad_metrics m = simulate(&p, ALL);
    assert_close(m.active_mib, m.full_cache_mib, 1e-12);
    assert_close(m.centers_mib, m.full_cache_mib, 1e-12); /* keys of centers, and of large modes */
}

/* A set is of one layer, group and sequence; the layer that fills the pipeline is before the first. */
static void sets__are_of_one_group_of_one_layer(void **state)
{
    (void)state;
    struct lad_params p = grouped("llama3-8b");
    const struct lad_events_reads reads = {.sequence_cv = p.sequence_cv};
    const struct lad_point pt = {
        .p = &reads, .local = &p.local, .locality_aware = true, .n = 2048, .heads = 32, .kv_heads = 8, .group = 4};
    struct lad_draws draws;
    struct lad_shared s;
    struct dse_sim *sim = sim_new(NULL);
    lad_draws_init(&draws, sim, &pt, 3, (uint32_t)pt.heads, 2);
    lad_shared_init(&s, sim, &draws, 8);
    static const uint32_t layers[] = {3, 0, 1, 2};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (uint32_t head = 0; head < 32; head++)
            for (uint32_t sequence = 0; sequence < 2; sequence++) {
                uint64_t *set = lad_shared_rows(&s, layers[i], head, sequence);
                assert_true(lad_found(set, 63) == (head % 4 != 0));
                assert_false(lad_found(set, 64 + head));
                if (i > 0) assert_true(lad_found(lad_shared_rows(&s, layers[i - 1], head, sequence), 63));
            }
    assert_false(lad_found(NULL, 63));
    sim_free(sim);
}

/* ---- bounds ---------------------------------------------------------------------------------------------------------------- */

static int64_t whole(uint64_t *seed, uint32_t n)
{
    return (int64_t)below(seed, n);
}

static double between(uint64_t *seed, double lo, double hi)
{
    return lo + (hi - lo) * below(seed, 1001) / 1000;
}

static void draw(uint64_t *seed, const struct lad_params *lo, const struct lad_params *hi, struct lad_params *p)
{
    *p = *lo;
    p->workload.context = (int64_t)between(seed, (double)lo->workload.context, (double)hi->workload.context);
    p->workload.batch = (int64_t)between(seed, (double)lo->workload.batch, (double)hi->workload.batch);
    p->local.recent = (int64_t)between(seed, (double)lo->local.recent, (double)hi->local.recent);
    p->resident_active = (int64_t)between(seed, (double)lo->resident_active, (double)hi->resident_active);
    p->tiles = (int64_t)between(seed, (double)lo->tiles, (double)hi->tiles);
    p->sram_mib = between(seed, lo->sram_mib, hi->sram_mib);
    p->local.center_scale = between(seed, lo->local.center_scale, hi->local.center_scale);
    p->local.active_cv = between(seed, lo->local.active_cv, hi->local.active_cv);
}

static void draw_box(uint64_t *seed, struct lad_params *lo, struct lad_params *hi)
{
    static const char *const llms[] = {"llama3-8b", "mistral-7b", "llama2-7b"};
    *lo = grouped(llms[below(seed, 3)]);
    lo->prefetch = (int32_t)below(seed, 3);
    lo->slots = (int32_t)below(seed, 3);
    lo->gather = (int32_t)below(seed, 2);
    lo->vain_prefetch = (int32_t)below(seed, 2);
    lo->pipeline = (int32_t)below(seed, 2);
    lo->workload.context = 512 + whole(seed, 3000);
    lo->workload.batch = 1 + whole(seed, 12);
    lo->local.recent = whole(seed, 600);
    lo->resident_active = 1 + whole(seed, 4);
    lo->tiles = 1 + whole(seed, 12);
    lo->sram_mib = between(seed, 1.5, 8);
    lo->local.center_scale = between(seed, 0, 40);
    lo->local.active_cv = between(seed, 0, 1);
    *hi = *lo;
    hi->workload.context += whole(seed, 2) * whole(seed, 500);
    hi->workload.batch += whole(seed, 2) * whole(seed, 6);
    hi->local.recent += whole(seed, 2) * whole(seed, 400);
    hi->resident_active += whole(seed, 2) * whole(seed, 4);
    hi->tiles += whole(seed, 2) * whole(seed, 6);
    hi->sram_mib *= below(seed, 2) ? between(seed, 1, 2) : 1;
    hi->local.center_scale *= below(seed, 2) ? between(seed, 1, 4) : 1;
    hi->local.active_cv += below(seed, 2) ? between(seed, 0, 0.5) : 0;
}

static void assert_inside(const char *metric, double floor, double is, double ceiling)
{
    const double slack = 1e-12 * fabs(is);
    if (!(floor <= is + slack && is - slack <= ceiling)) fail_msg("%s: %.17g not in %.17g to %.17g", metric, is, floor, ceiling);
}

static void bounds__hold_in_boxes_of_grouped_queries(void **state)
{
    (void)state;
    enum { BOXES = 4000, POINTS = 8 };
    uint64_t seed = 11;
    int asked = 0;
    for (int i = 0; i < BOXES; i++) {
        struct lad_params lo, hi, p;
        struct lad_metrics floor, ceiling, m;
        draw_box(&seed, &lo, &hi);
        const bool some = dse_model_lad.bound(&lo, &hi, &floor, &ceiling);
        for (int j = 0; j < POINTS; j++) {
            draw(&seed, &lo, &hi, &p);
            if (dse_model_lad.check(&p)) continue;
            assert_true(some);
            dse_model_lad.estimate(&p, &m, NULL);
            asked++;
#define INSIDE(metric) assert_inside(#metric, floor.metric, m.metric, ceiling.metric)
            INSIDE(common.latency_us);
            INSIDE(common.tokens_per_s);
            INSIDE(common.attention_us);
            INSIDE(common.energy_mj);
            INSIDE(common.dram_mib);
            INSIDE(centers_mib);
            INSIDE(active_mib);
            INSIDE(prefetch_mib);
            INSIDE(prefetched);
            INSIDE(memory_cycles);
            INSIDE(slot_cycles);
            INSIDE(sram_resident_mib);
#undef INSIDE
        }
    }
    print_message("%d points in %d boxes\n", asked, BOXES);
    assert_true(asked > BOXES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share__is_that_of_independent_choices),    cmocka_unit_test(share__is_what_draws_have),
        cmocka_unit_test(union__of_a_head_by_itself_is_the_head),   cmocka_unit_test(union__is_between_one_head_and_all),
        cmocka_unit_test(union__of_everything_is_read_once),        cmocka_unit_test(events__of_a_head_by_itself_are_the_head),
        cmocka_unit_test(events__move_what_the_closed_form_says),   cmocka_unit_test(events__of_unlike_heads_share_as_much),
        cmocka_unit_test(events__of_everything_read_it_once),       cmocka_unit_test(sets__are_of_one_group_of_one_layer),
        cmocka_unit_test(bounds__hold_in_boxes_of_grouped_queries),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
