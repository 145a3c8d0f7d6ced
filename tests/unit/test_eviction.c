/* Eviction on heads: against plain attention over the kept positions, and in its limits. test_eviction_input.c has what is refused,
 * test_eviction_trace.c a real model's heads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "complaints.h"
#include "eviction_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.17g, expected %.17g within %g", got, want, tolerance);
}

/* Can the policy be measured so? */
static bool is_measurable(const struct eviction_options *o)
{
    return !o->policy->traits->selects || (o->prompt && !o->evict_in_prompt);
}

/* The options of each that needs no prompt. */
enum { POLICIES_MAX = 32 };
static size_t every_policy(struct eviction_options *ret, size_t size)
{
    size_t n = 0;
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++) {
        assert_true(n < POLICIES_MAX - 1);
        ret[n] = options(p->traits->name, size);
        n += is_measurable(&ret[n]);
    }
    return n;
}

static void must(bool ok, struct diags *diags)
{
    if (!ok) {
        diags_print(diags, stderr, false);
        fail_msg("refused");
    }
}

/* Attention of step t over the slots of a cache: probabilities, mass and output error, with nothing shared or saved. */
static void plain_attention(const struct head *h, size_t t, const struct eviction_cache *c, double *p, struct eviction_result *ret)
{
    double weights[N], full[D], kept[D] = {0}, mass = 0, difference = 0, length = 0;
    head_attention(h, t, weights, full);
    for (size_t i = 0; i < c->n; i++) mass += weights[c->position[i]];
    for (size_t i = 0; i < c->n; i++) {
        p[i] = weights[c->position[i]] / mass;
        for (size_t j = 0; j < D; j++) kept[j] += p[i] * (double)h->v[c->position[i] * D + j];
    }
    for (size_t j = 0; j < D; j++) difference += (kept[j] - full[j]) * (kept[j] - full[j]);
    for (size_t j = 0; j < D; j++) length += full[j] * full[j];
    *ret = (struct eviction_result){.retained_mass = mass, .output_error = sqrt(difference / length)};
}

/* What a policy chooses by: bounds of pages, or the probability of every position. */
static void plain_choice(const struct head *heads, size_t n_heads, size_t t, const struct eviction_options *o, double *ret)
{
    size_t page = (size_t)o->page;
    memset(ret, 0, N * sizeof *ret);
    for (size_t h = 0; h < n_heads; h++) {
        const struct head *head = &heads[h];
        double weights[N];
        head_attention(head, t, weights, NULL);
        for (size_t i = 0; i <= t && !o->policy->traits->paged; i++) ret[i] += weights[i] / (double)n_heads;
        for (size_t p = 0; p * page <= t && o->policy->traits->paged; p++)
            for (size_t j = 0; j < D; j++) {
                double most = -INFINITY;
                for (size_t i = p * page; i <= t && i < (p + 1) * page; i++)
                    most = fmax(most, (double)head->q[t * D + j] * (double)head->k[i * D + j]);
                ret[p] += most;
            }
    }
}

/* All heads of `heads` with one cache. */
static void plain_run(const struct head *heads, size_t n_heads, const struct eviction_options *o, size_t first, uint64_t seed,
                      struct eviction_result *ret)
{
    struct eviction_cache c;
    double scratch[N];
    size_t size = eviction_size(o, N);
    eviction_cache_init(&c, o, o->policy->budget ? o->policy->budget(o, size, 0) : size, N, seed);
    for (size_t h = 0; h < n_heads; h++) ret[h] = (struct eviction_result){0};
    for (size_t t = 0; t < N; t++) {
        bool fills = !o->evict_in_prompt && t < o->prompt, scores = eviction_cache_scores(&c);
        double mean[N];
        eviction_cache_enter(&c);
        plain_choice(heads, n_heads, t, o, mean);
        if (o->policy->choose && !fills) o->policy->choose(&c, mean, scratch);
        memset(mean, 0, sizeof mean);
        for (size_t h = 0; h < n_heads; h++) {
            struct eviction_result at;
            double p[N];
            plain_attention(&heads[h], t, &c, p, &at);
            for (size_t i = 0; i < c.n; i++) mean[i] += p[i] / (double)n_heads;
            if (t < first) continue;
            ret[h].retained_mass += at.retained_mass / (double)(N - first);
            ret[h].output_error += at.output_error / (double)(N - first);
        }
        if (scores) eviction_cache_score(&c, mean);
        if (o->policy->select && t + 1 == o->prompt) o->policy->select(&c, scratch);
        if (o->policy->leave && !(fills && t + 1 < o->prompt)) eviction_cache_evict(&c);
    }
    eviction_cache_release(&c);
}

static void expect_plain(const struct head *heads, const struct eviction_options *o, size_t first)
{
    struct eviction_result got[HEADS], want[HEADS];
    struct diags diags;
    diags_init(&diags);
    must(eviction_run_many(heads, HEADS, o, 1, first, got, &diags), &diags);
    if (o->shared) plain_run(heads, HEADS, o, first, (uint64_t)o->seed, want);
    for (size_t h = 0; h < HEADS && !o->shared; h++) plain_run(&heads[h], 1, o, first, (uint64_t)o->seed + h, &want[h]);
    for (size_t h = 0; h < HEADS; h++) {
        expect_near(got[h].retained_mass, want[h].retained_mass, 1e-12);
        expect_near(got[h].output_error, want[h].output_error, 1e-12 * (1 + want[h].output_error));
    }
    diags_release(&diags);
}

static void every_policy__measures_what_plain_attention_over_the_kept_gives(void **state)
{
    (void)state;
    struct head heads[HEADS];
    random_heads(heads, HEADS, N, D, 2);
    for (const struct eviction_policy *policy = eviction_policies; policy->traits; policy++)
        for (size_t size = 4; size <= N; size += 14)
            for (int shared = 0; shared < 2; shared++)
                for (int prompt = 0; prompt < 3; prompt++) {
                    struct eviction_options o = options(policy->traits->name, size);
                    o.shared = shared != 0;
                    o.prompt = prompt ? 30 : 0;
                    o.evict_in_prompt = prompt == 2;
                    if (is_measurable(&o)) expect_plain(heads, &o, 25);
                }
    release_heads(heads, HEADS);
}

static void the_oracle__keeps_at_least_the_mass_of_every_other_at_every_step(void **state)
{
    (void)state;
    struct head head;
    random_heads(&head, 1, N, D, 1);
    for (size_t t = 8; t < N; t++) {
        struct head prefix = head;
        prefix.n = t + 1;
        struct eviction_options o[POLICIES_MAX];
        struct eviction_result r[POLICIES_MAX], of_oracle;
        struct diags diags;
        diags_init(&diags);
        size_t n = every_policy(o, 8);
        o[n] = options("oracle", 8);
        must(eviction_run_many(&prefix, 1, o, n + 1, t, r, &diags), &diags);
        of_oracle = r[n];
        for (size_t p = 0; p < n; p++) {
            assert_true(of_oracle.retained_mass >= r[p].retained_mass - 1e-15);
            assert_true(r[p].retained_mass > 0 && r[p].output_error >= 0);
        }
        diags_release(&diags);
    }
    head_release(&head);
}

static void ratio_1__keeps_everything(void **state)
{
    (void)state;
    struct head heads[HEADS];
    random_heads(heads, HEADS, N, D, 1);
    struct diags diags;
    diags_init(&diags);
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++)
        for (int shared = 0; shared < 2; shared++) {
            struct eviction_options o = options(p->traits->name, 0);
            o.ratio = 1;
            o.shared = shared != 0;
            o.prompt = p->traits->selects ? N / 2 : 0;
            struct eviction_result r[HEADS];
            must(eviction_run_many(heads, HEADS, &o, 1, 0, r, &diags), &diags);
            for (size_t h = 0; h < HEADS; h++) assert_true(r[h].retained_mass == 1 && r[h].output_error == 0);
        }
    diags_release(&diags);
    release_heads(heads, HEADS);
}

/* S = 1 is the step's own position and one other. */
static void size_1__is_measured_by_every_policy(void **state)
{
    (void)state;
    struct head heads[HEADS];
    random_heads(heads, HEADS, N, D, 1);
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++) {
        struct eviction_options o = options(p->traits->name, 1);
        o.reserved_length = 1;
        o.sinks = 0;
        o.page = 1;
        if (is_measurable(&o)) expect_plain(heads, &o, N / 2);
    }
    release_heads(heads, HEADS);
}

static void the_prompt__is_whole_until_it_ends(void **state)
{
    (void)state;
    struct head head;
    random_heads(&head, 1, N, D, 2);
    struct diags diags;
    diags_init(&diags);
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++) {
        struct eviction_options o = options(p->traits->name, 0);
        o.ratio = 0.5;
        o.prompt = N - 10;
        assert_int_equal(eviction_size(&o, N), (N - 10) / 2);
        struct eviction_result whole, generated;
        must(eviction_run(&head, &o, 0, &whole, &diags), &diags);
        must(eviction_run(&head, &o, o.prompt, &generated, &diags), &diags);
        double share = 10.0 / N; /* the other steps have a mass of 1 and no error */
        expect_near(whole.retained_mass, 1 - share + share * generated.retained_mass, 1e-12);
        expect_near(whole.output_error, share * generated.output_error, 1e-12);
        assert_true(generated.retained_mass < 1);
    }
    diags_release(&diags);
    head_release(&head);
}

static void a_run_of_many__is_many_runs(void **state)
{
    (void)state;
    struct head heads[HEADS];
    random_heads(heads, HEADS, N, D, 1);
    struct eviction_options o[2 * POLICIES_MAX];
    struct eviction_result many[2 * POLICIES_MAX * HEADS], one[HEADS];
    struct diags diags;
    diags_init(&diags);
    size_t n = every_policy(o, 10);
    for (size_t i = 0; i < n; i++) {
        o[n + i] = o[i];
        o[n + i].shared = true;
    }
    must(eviction_run_many(heads, HEADS, o, 2 * n, 30, many, &diags), &diags);
    for (size_t i = 0; i < 2 * n; i++) {
        if (o[i].shared) must(eviction_run_layer(heads, HEADS, &o[i], 30, one, &diags), &diags);
        for (size_t h = 0; h < HEADS && !o[i].shared; h++) {
            struct eviction_options of_head = o[i];
            of_head.seed += (int64_t)h;
            must(eviction_run(&heads[h], &of_head, 30, &one[h], &diags), &diags);
        }
        assert_memory_equal(one, &many[i * HEADS], sizeof one);
    }
    diags_release(&diags);
    release_heads(heads, HEADS);
}

/* Heads of a group decide as one, as all heads of a layer of theirs would; a head without others for itself. */
static void heads_of_a_group__decide_together(void **state)
{
    (void)state;
    enum { SIX = 6 };
    struct head heads[SIX];
    random_heads(heads, SIX, N, D, 1);
    static const size_t groups[SIX] = {0, 0, 1, 2, 2, 2}, first[] = {0, 2, 3, SIX};
    for (size_t h = 0; h < SIX; h++) heads[h].group = groups[h];
    struct diags diags;
    diags_init(&diags);
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++) {
        struct eviction_options o = options(p->traits->name, 10);
        struct eviction_result grouped[SIX], layer[SIX];
        o.prompt = p->traits->selects ? N / 2 : 0;
        o.decides = EVICTION_BY_GROUP;
        must(eviction_run_many(heads, SIX, &o, 1, 30, grouped, &diags), &diags);
        for (size_t g = 0; g + 1 < sizeof first / sizeof *first; g++) {
            struct eviction_options of_group = o;
            of_group.seed += (int64_t)first[g];
            must(eviction_run_layer(heads + first[g], first[g + 1] - first[g], &of_group, 30, layer + first[g], &diags), &diags);
        }
        assert_memory_equal(grouped, layer, sizeof grouped);
    }
    heads[5].group = 0;
    struct eviction_options o = options("h2o", 10);
    struct eviction_result r[SIX];
    o.decides = EVICTION_BY_GROUP;
    assert_false(eviction_run_many(heads, SIX, &o, 1, 30, r, &diags));
    expect_complaint(&diags, 0, 0, "heads 0 and 5 of the layer share keys, and others stand between them");
    release_heads(heads, SIX);
}

/* The last steps of a head and those at the end of its prompt: what does not count in every step gives the same numbers. */
static void heads_with_some_queries__are_measured_at_those(void **state)
{
    (void)state;
    enum { PROMPT = 30, FIRST = 50 };
    int32_t steps[N];
    size_t n = 0;
    for (int32_t t = 0; t < N; t++)
        if ((t >= PROMPT - 3 && t < PROMPT) || t >= FIRST) steps[n++] = t;
    struct head whole, some;
    random_heads(&whole, 1, N, D, 1);
    head_init_sampled(&some, N, D, steps, n);
    for (size_t i = 0; i < n; i++) memcpy(some.q + i * D, whole.q + (size_t)steps[i] * D, D * sizeof *some.q);
    memcpy(some.k, whole.k, N * D * sizeof *some.k);
    memcpy(some.v, whole.v, N * D * sizeof *some.v);
    struct diags diags;
    diags_init(&diags);
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++) {
        struct eviction_options o = options(p->traits->name, 10);
        struct eviction_result a, b;
        o.prompt = p->traits->selects ? PROMPT : 0;
        if (p->traits->counts) {
            assert_false(eviction_run(&some, &o, FIRST, &b, &diags));
            expect_complaint(&diags, 0, 0, "follows every step, and the head has q of 13 of 60");
            continue;
        }
        must(eviction_run(&whole, &o, FIRST, &a, &diags), &diags);
        must(eviction_run(&some, &o, FIRST, &b, &diags), &diags);
        assert_memory_equal(&a, &b, sizeof a);
        o.observed = 4;
        if (!p->traits->selects) continue;
        assert_false(eviction_run(&some, &o, FIRST, &b, &diags));
        expect_complaint(&diags, 0, 0, "selects by step 26, of which the head has no q");
    }
    head_release(&whole);
    head_release(&some);
}

/* A cache in few bits that holds all is what kv_format.h carries out; one that loses positions, too, loses more. */
static void few_bits__add_their_error(void **state)
{
    (void)state;
    enum { FIRST = 40 };
    const struct kv_format formats[] = {{.kv_bits = 3, .scales = DSE_SCALES_TOKEN, .group = 4},
                                        {.kv_bits = 2, .scales = DSE_SCALES_KIVI, .group = 4, .residual = 8}};
    struct head h;
    struct diags diags;
    diags_init(&diags);
    random_heads(&h, 1, N, D, 1);
    for (size_t i = 0; i < 2; i++) {
        struct eviction_options o = options("window", N);
        struct eviction_result all, some, exact;
        struct kv_format_result alone;
        o.format = formats[i];
        must(eviction_run(&h, &o, FIRST, &all, &diags), &diags);
        must(kv_format_run(&h, &formats[i], FIRST, &alone, &diags), &diags);
        expect_near(all.retained_mass, 1, 1e-12);
        expect_near(all.output_error, alone.output_error, 1e-9);
        o.size = 20;
        must(eviction_run(&h, &o, FIRST, &some, &diags), &diags);
        o.format.kv_bits = 16;
        must(eviction_run(&h, &o, FIRST, &exact, &diags), &diags);
        expect_near(some.retained_mass, exact.retained_mass, 1e-12); /* of exact keys, on the same positions */
        assert_true(some.output_error > all.output_error && some.output_error != exact.output_error);
    }
    struct eviction_options two[] = {options("window", 20), options("window", 20)};
    struct eviction_result r[2];
    two[1].format.kv_bits = 4;
    assert_false(eviction_run_many(&h, 1, two, 2, FIRST, r, &diags));
    expect_complaint(&diags, 0, 0, "caches of 16 and 4 bits in one run");
    two[0] = two[1];
    two[0].format.group = D + 1;
    two[0].format.scales = DSE_SCALES_TOKEN;
    assert_false(eviction_run(&h, &two[0], FIRST, r, &diags));
    head_release(&h);
    diags_release(&diags);
}

static void scores__far_apart_and_values_of_zero_give_finite_numbers(void **state)
{
    (void)state;
    struct head heads[HEADS];
    random_heads(heads, HEADS, N, D, 3000); /* probabilities underflow */
    memset(heads[1].v, 0, N * D * sizeof(float));
    struct diags diags;
    diags_init(&diags);
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++) {
        struct eviction_options o = options(p->traits->name, 4);
        struct eviction_result r[HEADS];
        o.prompt = p->traits->selects ? N / 2 : 0;
        must(eviction_run_many(heads, HEADS, &o, 1, 10, r, &diags), &diags);
        for (size_t h = 0; h < HEADS; h++) {
            assert_true(r[h].retained_mass >= 0 && r[h].retained_mass <= 1 && isfinite(r[h].output_error));
            assert_true(h == 1 ? r[h].output_error == 0 : r[h].output_error >= 0);
        }
    }
    diags_release(&diags);
    release_heads(heads, HEADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy__measures_what_plain_attention_over_the_kept_gives),
        cmocka_unit_test(the_oracle__keeps_at_least_the_mass_of_every_other_at_every_step),
        cmocka_unit_test(ratio_1__keeps_everything),
        cmocka_unit_test(size_1__is_measured_by_every_policy),
        cmocka_unit_test(the_prompt__is_whole_until_it_ends),
        cmocka_unit_test(a_run_of_many__is_many_runs),
        cmocka_unit_test(heads_of_a_group__decide_together),
        cmocka_unit_test(heads_with_some_queries__are_measured_at_those),
        cmocka_unit_test(few_bits__add_their_error),
        cmocka_unit_test(scores__far_apart_and_values_of_zero_give_finite_numbers),
    };
    return cmocka_run_group_tests_name("eviction", tests, NULL, NULL);
}
