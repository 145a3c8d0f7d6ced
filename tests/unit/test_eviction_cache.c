/* Who leaves a cache: the policies on probabilities worked out by hand, and what holds for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "attention/eviction_cache.h"

#include <math.h>
#include <stdlib.h>

enum { POSITIONS = 64 };

static void expect_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.17g, expected %.17g within %g", got, want, tolerance);
}

/* A cache that holds the first n positions. */
static void fill(struct eviction_cache *c, const struct eviction_options *o, size_t size, size_t n)
{
    eviction_cache_init(c, o, size, POSITIONS, (uint64_t)o->seed);
    for (size_t i = 0; i < n; i++) eviction_cache_enter(c);
}

static void expect_scores(const struct eviction_cache *c, const double *want)
{
    for (size_t i = 0; i < c->n; i++) expect_near(c->score[i], want[i], 1e-15);
}

static void expect_positions(const struct eviction_cache *c, const uint32_t *want, size_t n)
{
    assert_int_equal(c->n, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(c->position[i], want[i]);
}

static struct eviction_options voting(int64_t reserved)
{
    struct eviction_options o = eviction_defaults;
    o.reserved_length = reserved;
    return o;
}

static void voting__counts_what_is_below_the_threshold(void **state)
{
    (void)state;
    struct eviction_options o = voting(0);
    struct eviction_cache c;
    fill(&c, &o, 4, 4);
    /* mean 0.25, sigma 0.15768, T = 0.25 - 0.2 * 0.15768 = 0.21846 */
    eviction_cache_score(&c, (double[]){0.5, 0.219, 0.218, 0.063});
    expect_scores(&c, (double[]){0, 0, 1, 1});
    eviction_cache_release(&c);
}

static void voting__of_a_flat_step_is_for_nobody(void **state)
{
    (void)state;
    struct eviction_options o = voting(0);
    struct eviction_cache c;
    fill(&c, &o, 7, 7);
    eviction_cache_score(&c, (double[]){1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7});
    expect_scores(&c, (double[7]){0});
    eviction_cache_release(&c);
}

static void voting__below_zero_is_for_the_least_probable_alone(void **state)
{
    (void)state;
    struct eviction_options o = voting(0);
    o.threshold_b = 2; /* sigma 0.3: T = 0.25 - 0.6 < 0 */
    struct eviction_cache c;
    fill(&c, &o, 4, 4);
    eviction_cache_score(&c, (double[]){0.7697, 0.08, 0.07, 0.0803});
    expect_scores(&c, (double[]){0, 0, 1, 0});
    eviction_cache_score(&c, (double[]){0.85, 0.05, 0.05, 0.05}); /* the earliest of three */
    expect_scores(&c, (double[]){0, 1, 1, 0});
    eviction_cache_release(&c);
}

static void voting__begins_after_the_reserved_steps(void **state)
{
    (void)state;
    struct eviction_options o = voting(3);
    struct eviction_cache c;
    fill(&c, &o, 8, 0);
    const double p[4] = {0.7, 0.2, 0.1, 0};
    for (size_t i = 0; i < 3; i++) {
        eviction_cache_enter(&c);
        eviction_cache_score(&c, p);
        expect_scores(&c, (double[3]){0});
    }
    eviction_cache_enter(&c);
    eviction_cache_score(&c, p); /* step 3, the fourth: T = 0.25 - 0.2 * 0.2693 = 0.196 */
    expect_scores(&c, (double[]){0, 0, 1, 1});
    eviction_cache_release(&c);
}

/* Fig. 2 (b): each step votes once, so that a position has had fewer chances the later it came. */
static void voting__gives_early_positions_more_chances_of_a_vote(void **state)
{
    (void)state;
    struct eviction_options o = voting(2);
    struct eviction_cache c;
    fill(&c, &o, 8, 0);
    for (size_t t = 0; t < 8; t++) {
        eviction_cache_enter(&c);
        double p[8] = {0}; /* all on the first: all others are below T */
        p[0] = 1;
        o.threshold_b = 0;
        eviction_cache_score(&c, p);
    }
    expect_scores(&c, (double[]){0, 6, 6, 5, 4, 3, 2, 1});
    eviction_cache_release(&c);
}

static void voting__evicts_the_most_votes_the_earliest_on_a_tie(void **state)
{
    (void)state;
    struct eviction_options o = voting(0);
    struct eviction_cache c;
    fill(&c, &o, 3, 6);
    const double votes[6] = {2, 5, 1, 5, 3, 0};
    for (size_t i = 0; i < 6; i++) c.score[i] = votes[i];
    c.size = 5;
    eviction_cache_evict(&c);
    expect_positions(&c, (uint32_t[]){0, 2, 3, 4, 5}, 5);
    expect_scores(&c, (double[]){2, 1, 5, 3, 0}); /* votes stay with their positions */
    c.size = 3;
    eviction_cache_evict(&c);
    expect_positions(&c, (uint32_t[]){0, 2, 5}, 3);
    eviction_cache_release(&c);
}

static void voting__without_votes_drops_the_first(void **state)
{
    (void)state;
    struct eviction_options o = voting(32);
    o.below_reserved = true;
    struct eviction_cache c;
    fill(&c, &o, 4, 5);
    eviction_cache_score(&c, (double[]){0.6, 0.1, 0.1, 0.1, 0.1});
    eviction_cache_evict(&c);
    expect_positions(&c, (uint32_t[]){1, 2, 3, 4}, 4);
    eviction_cache_release(&c);
}

static void voting__may_keep_the_reserved_positions(void **state)
{
    (void)state;
    struct eviction_options o = voting(2);
    o.reserve_positions = true;
    struct eviction_cache c;
    fill(&c, &o, 4, 6);
    const double votes[6] = {9, 9, 1, 3, 3, 0};
    for (size_t i = 0; i < 6; i++) c.score[i] = votes[i];
    eviction_cache_evict(&c);
    expect_positions(&c, (uint32_t[]){0, 1, 2, 5}, 4);
    eviction_cache_release(&c);
}

static struct eviction_options h2o(double recent_share)
{
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find("h2o");
    o.recent_share = recent_share;
    return o;
}

/* Fig. 2 (a): the last column has one item, so the newest position leaves. */
static void h2o__without_protection_drops_the_newest(void **state)
{
    (void)state;
    struct eviction_options o = h2o(0);
    struct eviction_cache c;
    fill(&c, &o, 2, 0);
    eviction_cache_enter(&c);
    eviction_cache_score(&c, (double[]){1});
    eviction_cache_enter(&c);
    eviction_cache_score(&c, (double[]){0.5, 0.5});
    eviction_cache_enter(&c);
    eviction_cache_score(&c, (double[]){0.4, 0.2, 0.4});
    expect_scores(&c, (double[]){1.9, 0.7, 0.4});
    eviction_cache_evict(&c);
    expect_positions(&c, (uint32_t[]){0, 1}, 2);
    eviction_cache_release(&c);
}

static void h2o__protects_the_newest_share_of_the_cache(void **state)
{
    (void)state;
    struct eviction_options o = h2o(0.5);
    struct eviction_cache c;
    fill(&c, &o, 5, 6); /* floor(5 / 2) are protected */
    eviction_cache_score(&c, (double[]){0.3, 0.2, 0.25, 0.2, 0.05, 0});
    eviction_cache_evict(&c);
    expect_positions(&c, (uint32_t[]){0, 2, 3, 4, 5}, 5);
    eviction_cache_release(&c);
}

static void window__keeps_sinks_and_the_newest(void **state)
{
    (void)state;
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find("window");
    o.sinks = 2;
    struct eviction_cache c;
    fill(&c, &o, 5, 0);
    for (size_t t = 0; t < 12; t++) {
        eviction_cache_enter(&c);
        eviction_cache_evict(&c);
    }
    expect_positions(&c, (uint32_t[]){0, 1, 9, 10, 11}, 5);
    eviction_cache_release(&c);
}

static void window__is_the_same_at_a_step_by_itself(void **state)
{
    (void)state;
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find("window");
    o.sinks = 2;
    struct eviction_cache c, alone;
    double scratch[24];
    fill(&c, &o, 5, 0);
    fill(&alone, &o, 5, 0);
    for (size_t t = 0; t < 12; t++) {
        eviction_cache_enter(&c);
        eviction_cache_enter(&alone);
        o.policy->choose(&alone, NULL, scratch);
        expect_positions(&alone, c.position, c.n); /* before one leaves */
        assert_int_equal(alone.evicted, c.evicted);
        eviction_cache_evict(&c);
    }
    eviction_cache_release(&c);
    eviction_cache_release(&alone);
}

static void oracle__brings_positions_back(void **state)
{
    (void)state;
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find("oracle");
    struct eviction_cache c;
    fill(&c, &o, 2, 5);
    double scratch[6];
    eviction_cache_choose(&c, (double[]){0.1, 0.3, 0.2, 0.25, 0.15}, scratch);
    expect_positions(&c, (uint32_t[]){1, 2, 3}, 3);
    eviction_cache_enter(&c);
    eviction_cache_choose(&c, (double[]){0.4, 0.1, 0.1, 0.1, 0.1, 0.2}, scratch); /* the earliest of four */
    expect_positions(&c, (uint32_t[]){0, 1, 5}, 3);
    assert_int_equal(c.evicted, 3);
    eviction_cache_release(&c);
}

/* Positions left after a stream of pseudo-random probabilities. */
static void stream(struct eviction_cache *c, size_t steps)
{
    uint32_t x = 12345;
    for (size_t t = 0; t < steps; t++) {
        double p[POSITIONS], sum = 0;
        eviction_cache_enter(c);
        for (size_t i = 0; i < c->n; i++) {
            x = x * 1664525u + 1013904223u;
            sum += p[i] = exp((double)(x >> 8) / (1 << 22));
        }
        for (size_t i = 0; i < c->n; i++) p[i] /= sum;
        eviction_cache_score(c, p);
        eviction_cache_evict(c);
        assert_true(c->n <= c->size);
        assert_int_equal(c->n + c->evicted, t + 1);
        for (size_t i = 1; i < c->n; i++) assert_true(c->position[i - 1] < c->position[i]);
        assert_true(c->position[c->n - 1] <= t);
    }
}

static void every_policy__holds_at_most_its_size_and_loses_nobody(void **state)
{
    (void)state;
    for (const struct eviction_policy *policy = eviction_policies; policy->traits; policy++)
        for (size_t size = 1; size <= POSITIONS; size += size < 4 ? 1 : 20) {
            struct eviction_options o = eviction_defaults;
            o.policy = policy;
            if (!policy->leave) continue;
            o.reserved_length = 1;
            o.sinks = size > 2 ? 2 : 0;
            struct eviction_cache c;
            fill(&c, &o, size, 0);
            stream(&c, POSITIONS);
            assert_int_equal(c.n, size < POSITIONS ? size : POSITIONS);
            eviction_cache_release(&c);
        }
}

static void random__is_the_same_for_a_seed_and_another_for_another(void **state)
{
    (void)state;
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find("random");
    struct eviction_cache c[3];
    for (size_t i = 0; i < 3; i++) {
        o.seed = i == 2 ? 8 : 7;
        fill(&c[i], &o, 20, 0);
        stream(&c[i], POSITIONS);
    }
    assert_memory_equal(c[0].position, c[1].position, 20 * sizeof(uint32_t));
    assert_memory_not_equal(c[0].position, c[2].position, 20 * sizeof(uint32_t));
    for (size_t i = 0; i < 3; i++) eviction_cache_release(&c[i]);
}

static void random__chooses_every_slot_alike(void **state)
{
    (void)state;
    enum { SLOTS = 5, DRAWS = 20000 };
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find("random");
    size_t left[SLOTS] = {0};
    for (int64_t seed = 0; seed < DRAWS; seed++) {
        struct eviction_cache c;
        o.seed = seed;
        fill(&c, &o, SLOTS - 1, SLOTS);
        eviction_cache_evict(&c);
        size_t gone = 0;
        while (gone < SLOTS - 1 && c.position[gone] == gone) gone++;
        left[gone]++;
        eviction_cache_release(&c);
    }
    double deviation = sqrt(DRAWS * (1. / SLOTS) * (1 - 1. / SLOTS));
    for (size_t i = 0; i < SLOTS; i++) assert_true(fabs((double)left[i] - DRAWS / (double)SLOTS) < 4 * deviation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voting__counts_what_is_below_the_threshold),
        cmocka_unit_test(voting__of_a_flat_step_is_for_nobody),
        cmocka_unit_test(voting__below_zero_is_for_the_least_probable_alone),
        cmocka_unit_test(voting__begins_after_the_reserved_steps),
        cmocka_unit_test(voting__gives_early_positions_more_chances_of_a_vote),
        cmocka_unit_test(voting__evicts_the_most_votes_the_earliest_on_a_tie),
        cmocka_unit_test(voting__without_votes_drops_the_first),
        cmocka_unit_test(voting__may_keep_the_reserved_positions),
        cmocka_unit_test(h2o__without_protection_drops_the_newest),
        cmocka_unit_test(h2o__protects_the_newest_share_of_the_cache),
        cmocka_unit_test(window__keeps_sinks_and_the_newest),
        cmocka_unit_test(window__is_the_same_at_a_step_by_itself),
        cmocka_unit_test(oracle__brings_positions_back),
        cmocka_unit_test(every_policy__holds_at_most_its_size_and_loses_nobody),
        cmocka_unit_test(random__is_the_same_for_a_seed_and_another_for_another),
        cmocka_unit_test(random__chooses_every_slot_alike),
    };
    return cmocka_run_group_tests_name("eviction_cache", tests, NULL, NULL);
}
