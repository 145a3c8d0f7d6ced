/* SwiftKV with a cache that keeps a part of the positions: what is read, held and lost. */
#include "swiftkv_test.h"

#include <dse/cache.h>
#include <dse/units.h>

static const struct dse_cache *cache_of(struct tested *t)
{
    return group_of(&t->point, "eviction", offsetof(struct dse_cache, eviction));
}

/* A cache that keeps S of n positions is read as one of S positions; what is counted of them comes on top. */
static void cache__of_half_is_read_as_one_of_half_the_context(void **state)
{
    (void)state;
    struct tested half = test_at("context=1024 kv_bits=4"), window = test_at("context=2048 kv_bits=4 eviction=window"),
                  h2o = test_at("context=2048 kv_bits=4 eviction=h2o"), voting = test_at("context=2048 kv_bits=4 eviction=voting");
    const double heads = 32, layers = 32, cycle_us = 1 / 225., counted = 2. * 1024 * 2;
    assert_true(metric(&window, "latency_us") == metric(&half, "latency_us"));
    assert_true(metric(&window, "dram_mib") == metric(&half, "dram_mib") && metric(&window, "technique_mib") == 0);
    assert_true(metric(&window, "cached_positions") == 1024);
    assert_near(metric(&h2o, "technique_mib") * DSE_MIB, layers * heads * counted, 1e-12);
    assert_near(metric(&voting, "technique_mib") * DSE_MIB, layers * counted, 1e-12); /* one decision a layer */
    assert_near(metric(&h2o, "dram_mib") - metric(&half, "dram_mib"), metric(&h2o, "technique_mib"), 1e-9);
    /* One head a processor: each weight is made once more, and passes a threshold. */
    assert_near(metric(&h2o, "attention_us") - metric(&half, "attention_us"), layers * 1024 * cycle_us, 1e-6);
    assert_near(metric(&voting, "attention_us") - metric(&half, "attention_us"), layers * 2048 * cycle_us, 1e-6);
}

/* Passes that know their weights count them on the way. */
static void cache__passes_with_weights_at_hand_count_for_nothing(void **state)
{
    (void)state;
    struct tested whole = test_at("context=1024 attention=native"), h2o = test_at("context=2048 attention=native eviction=h2o");
    assert_true(metric(&h2o, "attention_us") == metric(&whole, "attention_us") && metric(&h2o, "technique_mib") > 0);
}

/* A prompt that is kept whole needs room for all of it. */
static void cache__holds_the_prompt_unless_it_is_streamed(void **state)
{
    (void)state;
    struct tested none = test_at("context=2048"), bulk = test_at("context=2048 eviction=window"),
                  streamed = test_at("context=2048 eviction=window boundary=streamed"), half = test_at("context=1024");
    assert_true(metric(&bulk, "dram_footprint_gib") == metric(&none, "dram_footprint_gib"));
    assert_true(metric(&streamed, "dram_footprint_gib") == metric(&half, "dram_footprint_gib"));
    struct tested prompt = test_at("context=2048 eviction=window boundary=streamed phase=prefill");
    assert_non_null(strstr(prompt.reason, "a streamed prompt is decode steps"));
    assert_non_null(strstr(test_at("eviction=h2o eviction_ratio=0").reason, "keeps no position"));
}

/* Pages: everything stays, and bounds of two keys a page are read and multiplied besides. Selection: a prompt pays for it once. */
static void cache__pays_for_pages_and_selection(void **state)
{
    (void)state;
    struct tested half = test_at("context=1024 kv_bits=4"), whole = test_at("context=2048 kv_bits=4"),
                  quest = test_at("context=2048 kv_bits=4 eviction=quest"),
                  snapkv = test_at("context=2048 kv_bits=4 eviction=snapkv"),
                  prompt = test_at("context=2048 kv_bits=4 eviction=snapkv phase=prefill"),
                  exact = test_at("context=2048 kv_bits=4 phase=prefill");
    const double layers = 32, heads = 32, pages = 2048 / 16, row = 64, cycle_us = 1 / 225.;
    assert_near(metric(&quest, "technique_mib") * DSE_MIB, layers * heads * 2 * pages * row, 1e-12);
    assert_near(metric(&quest, "attention_us") - metric(&half, "attention_us"), layers * (2 * 4 + 1) * pages * cycle_us, 1e-6);
    assert_near((metric(&quest, "dram_footprint_gib") - metric(&whole, "dram_footprint_gib")) * DSE_GIB,
                layers * heads * 2 * pages * row, 1e-6);
    assert_true(metric(&snapkv, "latency_us") == metric(&half, "latency_us") && metric(&snapkv, "technique_mib") == 0);
    const double pairs = 32 * 2048 - 32 * 31 / 2.;
    assert_near(metric(&prompt, "attention_us") - metric(&exact, "attention_us"), layers * pairs * cycle_us, 1e-6);
    assert_near(metric(&prompt, "technique_mib") * DSE_MIB * 2048, layers * heads * 4 * 1024 * row, 1e-9);
    assert_true(metric(&prompt, "attention_error") == 0);
    assert_non_null(strstr(test_at("context=2048 eviction=snapkv boundary=as-listed").reason, "boundary must be bulk"));
    assert_non_null(strstr(test_at("context=32 eviction=quest page=32").reason, "must keep"));
    assert_non_null(strstr(test_at("context=2048 eviction=snapkv pool=8").reason, "odd"));
}

static void cache__has_the_quality_that_was_measured(void **state)
{
    (void)state;
    struct dse_retained at;
    struct tested p = test_at("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 quality_from=retention");
    assert_true(dse_retention_at(cache_of(&p)->retention, "h2o", 1024, 0.25, &at));
    assert_near(metric(&p, "retained_mass"), at.mass, 1e-12);
    assert_near(metric(&p, "attention_error"), at.error, 1e-12);
    struct tested narrow = test_at("context=1024 eviction=h2o eviction_ratio=0.25 quality_from=retention");
    assert_true(isnan(metric(&narrow, "retained_mass")));
    assert_non_null(strstr(narrow.point.model->desc->why_null(narrow.point.params, "retained_mass"), "kv_bits"));
    /* A surface says how heads differ, too. */
    struct dse_quality_query q = {.method = "h2o", .context = 1024, .ratio = 0.25};
    struct dse_quality_place place;
    struct tested surface = test_at("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 boundary=streamed");
    assert_null(dse_quality_find(cache_of(&surface)->surface, &q, &place));
    assert_near(metric(&surface, "attention_error"), dse_quality_mean(&place, DSE_Q_ATTENTION_ERROR), 1e-12);
    assert_near(metric(&surface, "attention_error_sd"), dse_quality_stat(&place, DSE_Q_ATTENTION_ERROR, DSE_Q_SD), 1e-12);
    assert_true(isnan(metric(&p, "attention_error_sd")) && metric(&surface, "attention_error_sd") > 0);
    assert_non_null(strstr(p.point.model->desc->why_null(p.point.params, "attention_error_sd"), "no spread over heads"));
    /* Fixed point loses a little of its own; dropped bits more than rounded ones, fewer bits more; beyond what was measured:
     * unknown. */
    struct tested fixed = test_at("context=1024 arithmetic_error=measured"),
                  both = test_at(
                      "context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 boundary=streamed arithmetic_error=measured");
    assert_near(metric(&both, "attention_error"), metric(&surface, "attention_error") + metric(&fixed, "attention_error"), 1e-12);
    assert_true(metric(&fixed, "attention_error") > 0 && metric(&fixed, "attention_error") < 0.02);
    assert_true(metric_at("context=1024 arithmetic_error=measured exp_rounding=round", "attention_error") <
                metric(&fixed, "attention_error"));
    assert_true(metric_at("context=1024 arithmetic_error=measured q_frac_bits=14", "attention_error") >
                metric(&fixed, "attention_error"));
    struct tested far = test_at("context=4096 arithmetic_error=measured");
    /* extended by made heads, or, where they lose all, unknown */
    assert_true(!(metric(&far, "attention_error") < metric(&fixed, "attention_error")) && metric(&far, "retained_mass") == 1);
    struct tested whole = test_at("context=1024");
    assert_true(metric(&whole, "retained_mass") == 1 && metric(&whole, "attention_error") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache__of_half_is_read_as_one_of_half_the_context),
        cmocka_unit_test(cache__passes_with_weights_at_hand_count_for_nothing),
        cmocka_unit_test(cache__holds_the_prompt_unless_it_is_streamed),
        cmocka_unit_test(cache__pays_for_pages_and_selection),
        cmocka_unit_test(cache__has_the_quality_that_was_measured),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
