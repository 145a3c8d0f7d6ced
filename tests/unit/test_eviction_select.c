/* SnapKV, PyramidKV and Quest against implementations of their own, from head to positions, and in their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dse_config.h"
#include "random_head.h"
#include "attention/eviction_policies.h"
#include "attention/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 97, D = 10, PROMPT = 70 };

static struct diags diags;

static void expect_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.17g, expected %.17g within %g", got, want, tolerance);
}

static struct eviction_result measured(const struct head *h, struct eviction_options o, size_t first)
{
    struct eviction_result r;
    if (!eviction_run(h, &o, first, &r, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("refused");
    }
    return r;
}

static struct eviction_options options_of(const char *policy, size_t size)
{
    struct eviction_options o = eviction_defaults;
    o.policy = eviction_policy_find(policy);
    o.size = size;
    o.observed = 6;
    o.pool = 5;
    o.page = 8;
    o.prompt = o.policy->traits->selects ? PROMPT : 0;
    return o;
}

/* Attention of a step over the marked positions. */
static struct eviction_result over(const struct head *h, size_t t, const char *marked)
{
    double *w = malloc((t + 1) * sizeof *w), full[128], kept[128] = {0}, mass = 0, difference = 0, norm = 0;
    head_attention(h, t, w, full);
    for (size_t i = 0; i <= t; i++) mass += marked[i] ? w[i] : 0;
    for (size_t i = 0; i <= t; i++)
        for (size_t j = 0; j < h->d && marked[i]; j++) kept[j] += w[i] / mass * (double)h->v[i * h->d + j];
    for (size_t j = 0; j < h->d; j++) {
        difference += (kept[j] - full[j]) * (kept[j] - full[j]);
        norm += full[j] * full[j];
    }
    free(w);
    return (struct eviction_result){mass, sqrt(difference / norm)};
}

/* Mark the k largest of n that are not marked yet, one by one; the earliest of equal ones. */
static void mark_largest(const double *v, size_t n, size_t k, char *marked)
{
    for (; k; k--) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (!marked[i] && (best == n || v[i] > v[best])) best = i;
        marked[best] = 1;
    }
}

/* What SnapKV keeps of a prompt: the paper's listing, with a budget. */
static void plain_snapkv(const struct head *h, const struct eviction_options *o, size_t budget, char *marked)
{
    size_t before = o->prompt - (size_t)o->observed;
    double votes[N] = {0}, pooled[N] = {0}, w[N];
    for (size_t t = before; t < o->prompt; t++) {
        head_attention(h, t, w, NULL);
        for (size_t i = 0; i < before; i++) votes[i] += w[i];
    }
    for (size_t i = 0; i < before; i++) {
        double most = 0, sum = 0;
        for (long j = (long)i - o->pool / 2; j <= (long)i + o->pool / 2; j++) {
            double v = j >= 0 && j < (long)before ? votes[j] : 0;
            most = fmax(most, v);
            sum += v;
        }
        pooled[i] = o->pooling == EVICTION_POOL_MEAN ? sum / (double)o->pool : most;
    }
    memset(marked, 0, N);
    mark_largest(pooled, before, budget - (size_t)o->observed, marked);
    for (size_t i = before; i < N; i++) marked[i] = 1; /* what is generated stays */
}

static void expect_snapkv(const struct head *h, const struct eviction_options *o, size_t budget)
{
    char marked[N];
    struct eviction_result got = measured(h, *o, PROMPT), want = {0};
    plain_snapkv(h, o, budget, marked);
    for (size_t t = PROMPT; t < N; t++) {
        struct eviction_result at = over(h, t, marked);
        want.retained_mass += at.retained_mass / (N - PROMPT);
        want.output_error += at.output_error / (N - PROMPT);
    }
    expect_near(got.retained_mass, want.retained_mass, 1e-12);
    expect_near(got.output_error, want.output_error, 1e-11);
}

static void snapkv__keeps_what_the_papers_listing_keeps(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 1);
    for (size_t size = 7; size <= PROMPT; size += 9)
        for (int64_t pool = 1; pool <= 7; pool += 2)
            for (int32_t pooling = 0; pooling < 2; pooling++) {
                struct eviction_options o = options_of("snapkv", size);
                o.pool = pool;
                o.pooling = pooling;
                expect_snapkv(&h, &o, size);
            }
    head_release(&h);
}

/* The whole prompt votes and nothing is pooled: the sums of H2O, in a prompt from which nothing has left. */
static void snapkv__of_a_window_as_long_as_the_prompt_keeps_the_prompt(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 2);
    struct eviction_options o = options_of("snapkv", PROMPT);
    o.observed = PROMPT - 1;
    struct eviction_result r = measured(&h, o, PROMPT);
    assert_true(r.retained_mass == 1 && r.output_error == 0);
    head_release(&h);
}

static void pyramidkv__gives_layers_what_a_line_gives_them(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 3);
    struct eviction_options o = options_of("pyramidkv", 26);
    o.layers = 5;
    o.beta = 4;
    /* 20 besides the observed: the last layer 5, the first 35; 26 on average */
    static const size_t budgets[] = {41, 34, 26, 19, 11};
    size_t sum = 0;
    for (h.layer = 0; h.layer < 5; h.layer++) {
        sum += o.policy->budget(&o, 26, h.layer);
        assert_in_range(o.policy->budget(&o, 26, h.layer), budgets[h.layer] - 1, budgets[h.layer]);
        expect_snapkv(&h, &o, o.policy->budget(&o, 26, h.layer));
    }
    assert_in_range(sum, 5 * 26 - 2, 5 * 26 + 2);
    /* Twice the mean is more than there is: the first layers keep the whole prompt, and the mean stays. */
    o.size = 50;
    assert_int_equal(o.policy->budget(&o, 50, 0), PROMPT);
    assert_int_equal(o.policy->budget(&o, 50, 2), 50);
    assert_int_equal(o.policy->budget(&o, 50, 4), 30);
    /* One layer, or a beta of 1: SnapKV. */
    o.beta = 1;
    h.layer = 4;
    struct eviction_options snap = options_of("snapkv", 50);
    struct eviction_result a = measured(&h, o, PROMPT), b = measured(&h, snap, PROMPT);
    assert_memory_equal(&a, &b, sizeof a);
    head_release(&h);
}

/* What Quest reads at step t. */
static size_t plain_quest(const struct head *h, size_t t, const struct eviction_options *o, char *marked)
{
    size_t page = (size_t)o->page, last = t / page, room = o->size + 1, read = t + 1 - last * page;
    double bound[N] = {0};
    char chosen[N] = {0};
    for (size_t p = 0; p < last; p++)
        for (size_t j = 0; j < h->d; j++) {
            double low = INFINITY, high = -INFINITY, q = (double)h->q[t * h->d + j];
            for (size_t i = p * page; i < (p + 1) * page; i++) {
                low = fmin(low, (double)h->k[i * h->d + j]);
                high = fmax(high, (double)h->k[i * h->d + j]);
            }
            bound[p] += fmax(q * low, q * high);
        }
    size_t pages = 0;
    while (pages < last && read + page <= room) {
        pages++;
        read += page;
    }
    mark_largest(bound, last, pages, chosen);
    for (size_t i = 0; i <= t; i++) marked[i] = i / page == last || chosen[i / page];
    return read;
}

static void quest__reads_the_pages_with_the_largest_bounds(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 4);
    for (int64_t page = 1; page <= 16; page *= 2)
        for (size_t size = 16; size <= N; size += 9) {
            struct eviction_options o = options_of("quest", size);
            struct eviction_result want = {0};
            char marked[N];
            o.page = page;
            for (size_t t = 40; t < N; t++) {
                assert_in_range(plain_quest(&h, t, &o, marked), 1, size + 1);
                struct eviction_result at = over(&h, t, marked);
                want.retained_mass += at.retained_mass / (N - 40);
                want.output_error += at.output_error / (N - 40);
            }
            struct eviction_result got = measured(&h, o, 40);
            expect_near(got.retained_mass, want.retained_mass, 1e-12);
            expect_near(got.output_error, want.output_error, 1e-11);
        }
    head_release(&h);
}

/* A bound is at least the score of every key of the page; of pages of one position it is the score, and Quest is the oracle. */
static void quest__of_pages_of_one_position_is_the_oracle(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 5);
    for (size_t size = 3; size < N; size += 13) {
        struct eviction_options o = options_of("quest", size), best = options_of("oracle", size);
        o.page = 1;
        struct eviction_result quest = measured(&h, o, 30), oracle = measured(&h, best, 30);
        /* The newest is always read; the oracle may do without it. */
        assert_true(quest.retained_mass <= oracle.retained_mass + 1e-15);
        best.size = size - 1;
        assert_true(quest.retained_mass >= measured(&h, best, 30).retained_mass - 1e-15);
    }
    head_release(&h);
}

static void quest__of_all_pages_is_exact(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 6);
    for (int64_t page = 1; page <= N; page += 5) {
        struct eviction_options o = options_of("quest", N);
        o.page = page;
        struct eviction_result r = measured(&h, o, 0);
        assert_true(r.retained_mass == 1 && r.output_error == 0);
    }
    head_release(&h);
}

/* On a real model's heads, a quarter of the prompt: worse than the oracle and better than chance. */
static void a_real_model__loses_less_than_by_chance(void **state)
{
    (void)state;
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    assert_non_null(t);
    const struct trace_info *info = trace_info(t);
    enum { ORACLE, QUEST, SNAPKV, RANDOM, POLICIES };
    static const char *const names[] = {"oracle", "quest", "snapkv", "random"};
    double mass[POLICIES] = {0};
    for (size_t l = 0; l < info->layers; l++)
        for (size_t c = 0; c < info->heads; c++) {
            struct head h;
            assert_true(trace_head(t, l, c, &h, &diags));
            h.n = 512;
            for (size_t p = 0; p < POLICIES; p++) {
                struct eviction_options o = options_of(names[p], 128);
                o.prompt = 480;
                o.observed = 32;
                o.page = 16;
                mass[p] += measured(&h, o, 480).retained_mass;
            }
            head_release(&h);
        }
    assert_true(mass[ORACLE] > mass[QUEST] && mass[QUEST] > mass[RANDOM]);
    assert_true(mass[ORACLE] > mass[SNAPKV] && mass[SNAPKV] > mass[RANDOM]);
    trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapkv__keeps_what_the_papers_listing_keeps),
        cmocka_unit_test(snapkv__of_a_window_as_long_as_the_prompt_keeps_the_prompt),
        cmocka_unit_test(pyramidkv__gives_layers_what_a_line_gives_them),
        cmocka_unit_test(quest__reads_the_pages_with_the_largest_bounds),
        cmocka_unit_test(quest__of_pages_of_one_position_is_the_oracle),
        cmocka_unit_test(quest__of_all_pages_is_exact),
        cmocka_unit_test(a_real_model__loses_less_than_by_chance),
    };
    diags_init(&diags);
    int failed = cmocka_run_group_tests_name("eviction_select", tests, NULL, NULL);
    diags_release(&diags);
    return failed;
}
