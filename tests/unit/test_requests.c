/* Mixes of requests: points that keep the mean, classes that hold what they should, lists as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/catalog.h"
#include "config/request_log.h"
#include "workload/request_mix.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

static const struct dse_requests chat = {
    .prompt_median = 417, .prompt_p90 = 1678, .generate_median = 139, .generate_p90 = 484, .max_tokens = 1000000000};

static struct request_point mean_of(const struct request_point *points, size_t n)
{
    struct request_point mean = {0};
    for (size_t i = 0; i < n; i++) {
        mean.weight += points[i].weight;
        mean.prompt += points[i].weight * points[i].prompt;
        mean.generate += points[i].weight * points[i].generate;
    }
    return mean;
}

static void assert_close(double got, double wanted, double relative)
{
    if (fabs(got - wanted) <= relative * fabs(wanted)) return;
    print_error("got %.17g, wanted %.17g\n", got, wanted);
    assert_true(false);
}

/* ---- names in logs ------------------------------------------------------------------------------------------------------- */

static void expect_length(const char *name, enum request_length wanted, int least, int most)
{
    int sure;
    const enum request_length got = request_length_of(name, &sure);
    if (got != wanted || sure < least || sure > most) print_error("\"%s\" is %d, %d sure\n", name, (int)got, sure);
    assert_true(got == wanted && sure >= least && sure <= most);
}

/* What logs call the two lengths is known by its words, whatever their case and what stands between them; nothing else is. */
static void names__say_what_a_column_is(void **state)
{
    (void)state;
    static const char *const prompts[] = {"ContextTokens",  "num_prefill_tokens", "Request tokens",
                                          "prompt_tokens",  "PROMPT TOKENS",      "input_tokens",
                                          "NumInputTokens", "tokens_in",          "prompt token count"};
    static const char *const generates[] = {"GeneratedTokens",   "num_decode_tokens", "Response tokens",
                                            "completion_tokens", "output-tokens",     "n_generated_tokens",
                                            "tokens_out",        "gen_tokens",        "Number of output tokens"};
    static const char *const others[] = {"",
                                         "timestamp",
                                         "Total tokens",
                                         "request_id",
                                         "num_requests",
                                         "request",
                                         "context",
                                         "max_tokens",
                                         "tokens",
                                         "cached_prompt_tokens",
                                         "hash_ids",
                                         "response_s",
                                         "prompt_to_output",
                                         "output_rate",
                                         "input_output_tokens",
                                         "generated_at",
                                         "request_size",
                                         "Log Type",
                                         "model",
                                         "in"};
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) expect_length(prompts[i], REQUEST_PROMPT, 3, 3);
    for (size_t i = 0; i < sizeof generates / sizeof *generates; i++) expect_length(generates[i], REQUEST_GENERATE, 3, 3);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) expect_length(others[i], REQUEST_LENGTHS, 0, 9);
    expect_length("input_length", REQUEST_PROMPT, 2, 2);
    expect_length("prompt_size", REQUEST_PROMPT, 2, 2);
    expect_length("token_size", REQUEST_GENERATE, 2, 2);
    expect_length("output_len", REQUEST_GENERATE, 2, 2);
    expect_length("prompt", REQUEST_PROMPT, 1, 1);
    expect_length("generate", REQUEST_GENERATE, 1, 1);
}

/* ---- lognormal ----------------------------------------------------------------------------------------------------------- */

static double sigma_of(double median, double p90)
{
    return log(p90 / median) / gsl_cdf_ugaussian_Pinv(0.9);
}

/* Without a cut the mean of a lognormal distribution is median exp(sigma^2 / 2). Prompts and generations are independent. */
static void points__have_the_mean_whatever_their_number(void **state)
{
    (void)state;
    struct request_point points[REQUEST_POINTS_MAX];
    double sp = sigma_of(417, 1678), sg = sigma_of(139, 484);
    for (size_t n = 1; n <= REQUEST_POINTS_MAX; n = n * 3 / 2 + 1) {
        size_t made = requests_points(&chat, n, points);
        assert_true(made <= n && (double)made > (double)n - sqrt((double)n));
        struct request_point mean = mean_of(points, made);
        double product = 0;
        for (size_t i = 0; i < made; i++) product += points[i].weight * points[i].prompt * points[i].generate;
        assert_close(mean.weight, 1, 1e-12);
        assert_close(mean.prompt, 417 * exp(sp * sp / 2), 1e-6);
        assert_close(mean.generate, 139 * exp(sg * sg / 2), 1e-6);
        assert_close(product, mean.prompt * mean.generate, 1e-9);
    }
}

/* Class i of n lies between the quantiles i / n and (i + 1) / n. */
static void points__lie_in_their_classes(void **state)
{
    (void)state;
    enum { SIDE = 10 };
    struct request_point points[SIDE * SIDE];
    assert_true(requests_points(&chat, SIDE * SIDE, points) == SIDE * SIDE);
    for (size_t i = 0; i < SIDE; i++)
        for (size_t k = 0; k < SIDE; k++) {
            const struct request_point *p = &points[i * SIDE + k];
            double z = gsl_cdf_ugaussian_P(log(p->prompt / 417) / sigma_of(417, 1678)) * SIDE;
            assert_true(z > (double)i && z < (double)(i + 1));
            z = gsl_cdf_ugaussian_P(log(p->generate / 139) / sigma_of(139, 484)) * SIDE;
            assert_true(z > (double)k && z < (double)(k + 1));
        }
    assert_true(points[84].prompt < 1678 && points[94].prompt > 1678 && points[4].generate < 139 && points[5].generate > 139);
}

/* The mean square of a class is above the square of its mean: what is missing shrinks with the classes. */
static void points__get_closer_to_the_distribution(void **state)
{
    (void)state;
    double s = sigma_of(417, 1678), square = 417 * 417 * exp(2 * s * s), before = 1;
    struct request_point points[REQUEST_POINTS_MAX];
    for (size_t n = 1; n <= REQUEST_POINTS_MAX; n *= 4) {
        double second = 0;
        assert_true(requests_points(&chat, n, points) == n);
        for (size_t i = 0; i < n; i++) second += points[i].weight * points[i].prompt * points[i].prompt;
        double missing = 1 - second / square;
        assert_true(missing > 0 && missing < 0.8 * before);
        if (n == 16) assert_close(missing, 0.4, 0.01);
        if (n == 1024) assert_close(missing, 0.16, 0.1);
        before = missing;
    }
}

static void points__are_cut_where_a_request_may_not_be_longer(void **state)
{
    (void)state;
    struct dse_requests cut = chat;
    struct request_point points[REQUEST_POINTS_MAX], mean;
    double before = 0;
    for (cut.max_tokens = 1700; cut.max_tokens < 100000; cut.max_tokens *= 2) {
        assert_true(requests_points(&cut, 64, points) == 64);
        for (size_t i = 0; i < 64; i++) {
            assert_true(points[i].prompt >= 1 && points[i].generate >= 1);
            assert_true(points[i].prompt + points[i].generate <= (double)cut.max_tokens * (1 + 1e-12));
        }
        mean = mean_of(points, 64);
        assert_true(mean.prompt > before);
        before = mean.prompt;
    }
    /* However few they are: where long prompts leave little to generate, too. */
    cut.max_tokens = 4096;
    size_t many = requests_points(&cut, REQUEST_POINTS_MAX, points);
    struct request_point all = mean_of(points, many);
    for (size_t n = 1; n <= 1024; n *= 4) {
        mean = mean_of(points, requests_points(&cut, n, points));
        assert_close(mean.prompt, all.prompt, 1e-9);
        assert_close(mean.generate, all.generate, 2e-3);
    }
    /* E[min(X, c)] = E[X] Phi((ln c - mu) / sigma - sigma) + c Q((ln c - mu) / sigma) */
    cut.max_tokens = 2001;
    double s = sigma_of(417, 1678), z = log(2000 / 417.0) / s;
    double wanted = 417 * exp(s * s / 2) * gsl_cdf_ugaussian_P(z - s) + 2000 * gsl_cdf_ugaussian_Q(z);
    assert_true(requests_points(&cut, 9, points) == 9);
    assert_close(mean_of(points, 9).prompt, wanted, 1e-9);
}

static void points__of_requests_all_alike_are_that_request(void **state)
{
    (void)state;
    const struct dse_requests alike = {
        .prompt_median = 512, .prompt_p90 = 512, .generate_median = 128, .generate_p90 = 128, .max_tokens = 640};
    struct request_point points[5];
    assert_true(requests_points(&alike, 5, points) == 4);
    for (size_t i = 0; i < 4; i++) {
        assert_close(points[i].prompt, 512, 1e-12);
        assert_close(points[i].generate, 128, 1e-12);
    }
}

/* ---- the shipped mixes --------------------------------------------------------------------------------------------------- */

/* A distribution made of median and 90th percentile is judged by the published mean, which it does not know. The generations of
 * summaries have a longer tail than a lognormal one. */
static void shipped__mixes_come_near_the_published_means(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double prompt, generate, within_prompt, within_generate;
    } published[] = {
        {"chat", 686, 197, 0.05, 0.15}, {"summarization", 2588, 291, 0.10, 0.40}, {"translation", 1067, 1612, 0.05, 0.05}};
    struct diags diags;
    diags_init(&diags);
    struct catalog *c = catalog_new(catalog_data_dir(), &diags);
    assert_non_null(c);
    size_t n = sizeof published / sizeof *published;
    for (size_t i = 0; i < n; i++) {
        const struct dse_requests *r = (const struct dse_requests *)catalog_find(c, DSE_KIND_REQUESTS, published[i].name);
        assert_non_null(r);
        struct request_point mean;
        assert_int_equal(requests_points(r, 1, &mean), 1);
        print_message("%s: prompt %+.1f %%, generation %+.1f %%\n", published[i].name,
                      100 * (mean.prompt / published[i].prompt - 1), 100 * (mean.generate / published[i].generate - 1));
        assert_close(mean.prompt, published[i].prompt, published[i].within_prompt);
        assert_close(mean.generate, published[i].generate, published[i].within_generate);
    }
    assert_null(catalog_at(c, DSE_KIND_REQUESTS, n));
    catalog_free(c);
    diags_release(&diags);
}

/* ---- lists --------------------------------------------------------------------------------------------------------------- */

static struct dse_requests *listed(const double *prompt, const double *generate, size_t n)
{
    struct row_fault fault = {0};
    struct dse_requests *r = requests_new("seen", "by the test", prompt, generate, n, &fault);
    assert_non_null(r);
    assert_null(fault.why);
    return r;
}

static void list__short_enough_stands_as_it_is(void **state)
{
    (void)state;
    struct dse_requests *r = listed((const double[]){100, 20, 3000}, (const double[]){7, 900, 1}, 3);
    struct request_point points[8];
    assert_true(requests_points(r, 8, points) == 3);
    double prompts = 0, generations = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_close(points[i].weight, 1 / 3.0, 1e-15);
        assert_true((points[i].prompt == 100 && points[i].generate == 7) || (points[i].prompt == 20 && points[i].generate == 900) ||
                    (points[i].prompt == 3000 && points[i].generate == 1));
        prompts += points[i].prompt;
        generations += points[i].generate;
    }
    assert_true(prompts == 3120 && generations == 908);
    assert_true(r->prompt_median == 100 && r->prompt_p90 == 3000 && r->generate_median == 7 && r->generate_p90 == 900);
    assert_true(r->max_tokens == 3001);
    requests_free(r);
}

static void list__longer_keeps_its_mean_and_what_goes_together(void **state)
{
    (void)state;
    enum { N = 1000 };
    double prompt[N], generate[N];
    for (size_t i = 0; i < N; i++) { /* long prompts have short answers */
        prompt[i] = 10 + (double)(i * 37 % N);
        generate[i] = 1 + 100000 / prompt[i];
    }
    struct dse_requests *r = listed(prompt, generate, N);
    struct request_point all[N], points[N];
    assert_true(requests_points(r, N, all) == N);
    struct request_point wanted = mean_of(all, N);
    for (size_t n = 1; n < N; n = 2 * n + 1) {
        assert_true(requests_points(r, n, points) == n);
        struct request_point mean = mean_of(points, n);
        assert_close(mean.weight, 1, 1e-12);
        assert_close(mean.prompt, wanted.prompt, 1e-12);
        assert_close(mean.generate, wanted.generate, 1e-12);
        for (size_t i = 0; i < n; i++) {
            assert_true(points[i].weight > 0.5 / (double)n && points[i].weight < 2 / (double)n);
            for (size_t k = 0; k < n; k++)
                assert_true(points[i].prompt <= points[k].prompt || points[i].generate <= points[k].generate);
        }
    }
    requests_free(r);
}

static void refuse(const double *prompt, const double *generate, size_t n, const char *expected)
{
    struct row_fault fault = {0};
    assert_null(requests_new("a", "b", prompt, generate, n, &fault));
    char *why = row_fault_text(&fault);
    assert_string_equal(why, expected);
    free(why);
}

static void list__refuses_what_is_no_request(void **state)
{
    (void)state;
    const double good[] = {1, 2, 3}, bad[] = {1, 2, 0.5}, worse[] = {1, (double)NAN, 3}, huge[] = {1e8, 1, 1};
    refuse(bad, good, 3, "row 3: a prompt of 0.5 tokens; 1 to 10000000");
    refuse(good, worse, 3, "row 2: nan tokens generated; 1 to 10000000");
    refuse(huge, good, 3, "row 1: a prompt of 1e+08 tokens; 1 to 10000000");
    refuse(good, good, 0, "there is no request");
}

static void check__says_what_does_not_fit_together(void **state)
{
    (void)state;
    struct dse_requests r = chat;
    assert_null(dse_requests_check(&r));
    r.prompt_p90 = 400;
    assert_string_equal(dse_requests_check(&r), "prompt_p90 is below prompt_median");
    r = chat;
    r.generate_p90 = 100;
    assert_string_equal(dse_requests_check(&r), "generate_p90 is below generate_median");
    r = chat;
    r.max_tokens = 1678;
    assert_string_equal(dse_requests_check(&r), "prompt_p90 leaves nothing of max_tokens to generate");
}

/* ---- a mix of whole requests --------------------------------------------------------------------------------------------- */

static double total_share(const struct request_mix *mix)
{
    double sum = 0;
    for (size_t i = 0; i < mix->n; i++) sum += mix->requests[i].share;
    return sum;
}

/* Whole tokens, none missing, none longer than the entry allows; the longest first, the shortest next; no pair of lengths twice. */
static void mix__is_of_whole_requests_that_fit(void **state)
{
    (void)state;
    struct dse_requests cut = chat;
    const struct dse_requests *entries[] = {&cut};
    for (cut.max_tokens = 1700; cut.max_tokens < 5000; cut.max_tokens += 111)
        for (size_t points = 1; points <= REQUEST_POINTS_MAX; points *= 8) {
            struct request_mix mix;
            request_mix_init(&mix, entries, (const double[]){3}, 1, points);
            assert_close(total_share(&mix), 1, 1e-12);
            for (size_t i = 0; i < mix.n; i++) {
                const struct mixed_request *q = &mix.requests[i], *longest = &mix.requests[0], *shortest = &mix.requests[mix.n > 1];
                assert_true(q->prompt >= 1 && q->generate >= 1 && q->prompt + q->generate <= cut.max_tokens);
                assert_true(q->prompt + q->generate <= longest->prompt + longest->generate);
                assert_true(i == 0 || q->prompt + q->generate >= shortest->prompt + shortest->generate);
                for (size_t k = 0; k < i && points < 100; k++)
                    assert_true(mix.requests[k].prompt != q->prompt || mix.requests[k].generate != q->generate);
            }
            request_mix_release(&mix);
        }
}

static void mix__divides_shares_by_their_sum(void **state)
{
    (void)state;
    struct dse_requests *seen = listed((const double[]){10, 30, 10}, (const double[]){4, 8, 4}, 3);
    const struct dse_requests alike = {
        .prompt_median = 30, .prompt_p90 = 30, .generate_median = 8, .generate_p90 = 8, .max_tokens = 64};
    const struct dse_requests *entries[] = {seen, &alike};
    struct request_mix mix;
    request_mix_init(&mix, entries, (const double[]){3, 6}, 2, 16);
    assert_int_equal(mix.n, 2); /* equal requests are one */
    assert_true(mix.requests[0].prompt == 30 && mix.requests[0].generate == 8 && mix.requests[1].prompt == 10);
    assert_close(mix.requests[0].share, 2.0 / 3 + 1.0 / 9, 1e-15);
    assert_close(mix.requests[1].share, 2.0 / 9, 1e-15);
    struct request_point mean = request_mix_mean(&mix);
    assert_close(mean.prompt, 10 * 2.0 / 9 + 30 * 7.0 / 9, 1e-15);
    assert_close(mean.generate, 4 * 2.0 / 9 + 8 * 7.0 / 9, 1e-15);
    assert_true(request_context(&mix.requests[0]) == 35 && request_context(&(struct mixed_request){1, 10, 1}) == 11);
    request_mix_release(&mix);
    requests_free(seen);
}

/* Means that are no whole numbers round to more than the longest request has: first the prompt gives way, then the generation. */
static void mix__rounds_within_the_longest_request(void **state)
{
    (void)state;
    const struct dse_requests tight = {
        .prompt_median = 60.6, .prompt_p90 = 60.6, .generate_median = 3.4, .generate_p90 = 3.4, .max_tokens = 64};
    struct request_mix mix;
    request_mix_init(&mix, (const struct dse_requests *[]){&tight}, (const double[]){1}, 1, 1);
    assert_true(mix.n == 1 && mix.requests[0].prompt == 61 && mix.requests[0].generate == 3);
    request_mix_release(&mix);
    const struct dse_requests full = {
        .prompt_median = 62.7, .prompt_p90 = 62.7, .generate_median = 9, .generate_p90 = 9, .max_tokens = 64};
    request_mix_init(&mix, (const struct dse_requests *[]){&full}, (const double[]){1}, 1, 1);
    assert_true(mix.n == 1 && mix.requests[0].prompt == 63 && mix.requests[0].generate == 1);
    request_mix_release(&mix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__say_what_a_column_is),
        cmocka_unit_test(points__have_the_mean_whatever_their_number),
        cmocka_unit_test(points__lie_in_their_classes),
        cmocka_unit_test(points__get_closer_to_the_distribution),
        cmocka_unit_test(points__are_cut_where_a_request_may_not_be_longer),
        cmocka_unit_test(points__of_requests_all_alike_are_that_request),
        cmocka_unit_test(shipped__mixes_come_near_the_published_means),
        cmocka_unit_test(list__short_enough_stands_as_it_is),
        cmocka_unit_test(list__longer_keeps_its_mean_and_what_goes_together),
        cmocka_unit_test(list__refuses_what_is_no_request),
        cmocka_unit_test(check__says_what_does_not_fit_together),
        cmocka_unit_test(mix__is_of_whole_requests_that_fit),
        cmocka_unit_test(mix__divides_shares_by_their_sum),
        cmocka_unit_test(mix__rounds_within_the_longest_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
