/* SwiftKV with a cache that keeps a part of the positions: what is read, held and lost. */
#include "swiftkv_test.h"

#include <dse/units.h>

/* A cache that keeps S of n positions is read as one of S positions; what is counted of them comes on top. */
static void cache__of_half_is_read_as_one_of_half_the_context(void **state)
{
    (void)state;
    struct point half = point("context=1024 kv_bits=4"), window = point("context=2048 kv_bits=4 eviction=window"),
                 h2o = point("context=2048 kv_bits=4 eviction=h2o"), voting = point("context=2048 kv_bits=4 eviction=voting");
    const double heads = 32, layers = 32, cycle_us = 1 / 225., counted = 2. * 1024 * 2;
    assert_true(window.metrics.common.latency_us == half.metrics.common.latency_us);
    assert_true(window.metrics.common.dram_mib == half.metrics.common.dram_mib && window.metrics.technique_mib == 0);
    assert_true(window.metrics.cached_positions == 1024);
    assert_near(h2o.metrics.technique_mib * DSE_MIB, layers * heads * counted, 1e-12);
    assert_near(voting.metrics.technique_mib * DSE_MIB, layers * counted, 1e-12); /* one decision a layer */
    assert_near(h2o.metrics.common.dram_mib - half.metrics.common.dram_mib, h2o.metrics.technique_mib, 1e-9);
    /* One head a processor: each weight is made once more, and passes a threshold. */
    assert_near(h2o.metrics.common.attention_us - half.metrics.common.attention_us, layers * 1024 * cycle_us, 1e-6);
    assert_near(voting.metrics.common.attention_us - half.metrics.common.attention_us, layers * 2048 * cycle_us, 1e-6);
}

/* Passes that know their weights count them on the way. */
static void cache__passes_with_weights_at_hand_count_for_nothing(void **state)
{
    (void)state;
    struct point whole = point("context=1024 attention=native"), h2o = point("context=2048 attention=native eviction=h2o");
    assert_true(h2o.metrics.common.attention_us == whole.metrics.common.attention_us && h2o.metrics.technique_mib > 0);
}

/* A prompt that is kept whole needs room for all of it. */
static void cache__holds_the_prompt_unless_it_is_streamed(void **state)
{
    (void)state;
    struct point none = point("context=2048"), bulk = point("context=2048 eviction=window"),
                 streamed = point("context=2048 eviction=window boundary=streamed"), half = point("context=1024");
    assert_true(bulk.metrics.dram_footprint_gib == none.metrics.dram_footprint_gib);
    assert_true(streamed.metrics.dram_footprint_gib == half.metrics.dram_footprint_gib);
    struct point prompt = point("context=2048 eviction=window boundary=streamed phase=prefill");
    assert_non_null(strstr(prompt.reason, "a streamed prompt is decode steps"));
    assert_non_null(strstr(point("eviction=h2o eviction_ratio=0").reason, "keeps no position"));
}

/* Pages: everything stays, and bounds of two keys a page are read and multiplied besides. Selection: a prompt pays for it once. */
static void cache__pays_for_pages_and_selection(void **state)
{
    (void)state;
    struct point half = point("context=1024 kv_bits=4"), whole = point("context=2048 kv_bits=4"),
                 quest = point("context=2048 kv_bits=4 eviction=quest"), snapkv = point("context=2048 kv_bits=4 eviction=snapkv"),
                 prompt = point("context=2048 kv_bits=4 eviction=snapkv phase=prefill"),
                 exact = point("context=2048 kv_bits=4 phase=prefill");
    const double layers = 32, heads = 32, pages = 2048 / 16, row = 64, cycle_us = 1 / 225.;
    assert_near(quest.metrics.technique_mib * DSE_MIB, layers * heads * 2 * pages * row, 1e-12);
    assert_near(quest.metrics.common.attention_us - half.metrics.common.attention_us, layers * (2 * 4 + 1) * pages * cycle_us,
                1e-6);
    assert_near((quest.metrics.dram_footprint_gib - whole.metrics.dram_footprint_gib) * DSE_GIB, layers * heads * 2 * pages * row,
                1e-6);
    assert_true(snapkv.metrics.common.latency_us == half.metrics.common.latency_us && snapkv.metrics.technique_mib == 0);
    const double pairs = 32 * 2048 - 32 * 31 / 2.;
    assert_near(prompt.metrics.common.attention_us - exact.metrics.common.attention_us, layers * pairs * cycle_us, 1e-6);
    assert_near(prompt.metrics.technique_mib * DSE_MIB * 2048, layers * heads * 4 * 1024 * row, 1e-9);
    assert_true(prompt.metrics.attention_error == 0);
    assert_non_null(strstr(point("context=2048 eviction=snapkv boundary=as-listed").reason, "boundary must be bulk"));
    assert_non_null(strstr(point("context=32 eviction=quest page=32").reason, "must keep"));
    assert_non_null(strstr(point("context=2048 eviction=snapkv pool=8").reason, "odd"));
}

static void cache__has_the_quality_that_was_measured(void **state)
{
    (void)state;
    struct dse_retained at;
    struct point p = point("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 quality_from=retention");
    assert_true(dse_retention_at(p.params.cache.retention, "h2o", 1024, 0.25, &at));
    assert_near(p.metrics.retained_mass, at.mass, 1e-12);
    assert_near(p.metrics.attention_error, at.error, 1e-12);
    struct point narrow = point("context=1024 eviction=h2o eviction_ratio=0.25 quality_from=retention");
    assert_true(isnan(narrow.metrics.retained_mass));
    assert_non_null(strstr(dse_model_swiftkv.why_null(&narrow.params, "retained_mass"), "kv_bits"));
    /* A surface says how heads differ, too. */
    struct dse_quality_query q = {.method = "h2o", .context = 1024, .ratio = 0.25};
    struct dse_quality_place place;
    struct point surface = point("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 boundary=streamed");
    assert_null(dse_quality_find(surface.params.cache.surface, &q, &place));
    assert_near(surface.metrics.attention_error, dse_quality_mean(&place, DSE_Q_ATTENTION_ERROR), 1e-12);
    assert_near(surface.metrics.attention_error_sd, dse_quality_stat(&place, DSE_Q_ATTENTION_ERROR, DSE_Q_SD), 1e-12);
    assert_true(isnan(p.metrics.attention_error_sd) && surface.metrics.attention_error_sd > 0);
    assert_non_null(strstr(dse_model_swiftkv.why_null(&p.params, "attention_error_sd"), "no spread over heads"));
    /* Fixed point loses a little of its own; dropped bits more than rounded ones, fewer bits more; beyond what was measured:
     * unknown. */
    struct point fixed = point("context=1024 arithmetic_error=measured"),
                 both =
                     point("context=1024 eviction=h2o eviction_ratio=0.25 kv_bits=16 boundary=streamed arithmetic_error=measured");
    assert_near(both.metrics.attention_error, surface.metrics.attention_error + fixed.metrics.attention_error, 1e-12);
    assert_true(fixed.metrics.attention_error > 0 && fixed.metrics.attention_error < 0.02);
    assert_true(point("context=1024 arithmetic_error=measured exp_rounding=round").metrics.attention_error <
                fixed.metrics.attention_error);
    assert_true(point("context=1024 arithmetic_error=measured q_frac_bits=14").metrics.attention_error >
                fixed.metrics.attention_error);
    struct point far = point("context=4096 arithmetic_error=measured");
    /* extended by made heads, or, where they lose all, unknown */
    assert_true(!(far.metrics.attention_error < fixed.metrics.attention_error) && far.metrics.retained_mass == 1);
    struct point whole = point("context=1024");
    assert_true(whole.metrics.retained_mass == 1 && whole.metrics.attention_error == 0);
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
