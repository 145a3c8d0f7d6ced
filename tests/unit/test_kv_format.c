/* Keys and values in few bits: against KIVI's algorithm followed token by token, and in their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "complaints.h"
#include "dse_config.h"
#include "random_head.h"
#include "attention/half.h"
#include "attention/kv_format.h"
#include "attention/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 75, D = 12 };

static struct diags diags;

static struct kv_format_result run(const struct head *h, struct kv_format f, size_t first)
{
    struct kv_format_result r;
    if (!kv_format_run(h, &f, first, &r, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("refused");
    }
    return r;
}

/* ---- token by token ------------------------------------------------------------------------------------------------------ */

static double rounded(double x)
{
    return (double)half_to_float(half_from_float((float)x));
}

/* A group written out: indices of its elements in x. */
static void make_small(double *x, const size_t *at, size_t n, int bits)
{
    double low = INFINITY, high = -INFINITY, levels = exp2(bits) - 1;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[at[i]]);
        high = fmax(high, x[at[i]]);
    }
    double zero = rounded(low), scale = rounded((high - low) / levels);
    for (size_t i = 0; i < n; i++) {
        double q = fmin(fmax(round((x[at[i]] - zero) / scale), 0), levels);
        x[at[i]] = zero + scale * q;
    }
}

/* KIVI's Algorithm 1: keys gather until there are `residual` and then become small by channel; values leave a queue. */
struct plain {
    double k[N * D], v[N * D];
    size_t gathered; /* keys */
};

static void append(struct plain *p, const struct head *h, size_t t, const struct kv_format *f)
{
    size_t residual = (size_t)f->residual, group = (size_t)f->group, at[N];
    for (size_t j = 0; j < D; j++) {
        p->k[t * D + j] = (double)h->k[t * D + j];
        p->v[t * D + j] = (double)h->v[t * D + j];
    }
    if (++p->gathered == residual) {
        for (size_t first = t + 1 - residual; first <= t; first += group)
            for (size_t j = 0; j < D; j++) {
                for (size_t i = 0; i < group; i++) at[i] = (first + i) * D + j;
                make_small(p->k, at, group, (int)f->kv_bits);
            }
        p->gathered = 0;
    }
    if (t < residual) return;
    for (size_t first = 0; first < D; first += group) {
        size_t n = first + group < D ? group : D - first;
        for (size_t i = 0; i < n; i++) at[i] = (t - residual) * D + first + i;
        make_small(p->v, at, n, (int)f->kv_bits);
    }
}

static double plain_error(const struct plain *p, const struct head *h, size_t t)
{
    double exact[D], w[N], o[D] = {0}, sum = 0, error = 0, norm = 0;
    for (size_t i = 0; i <= t; i++) {
        double x = 0;
        for (size_t j = 0; j < D; j++) x += (double)h->q[t * D + j] * p->k[i * D + j];
        sum += w[i] = exp(x / sqrt(D));
    }
    for (size_t i = 0; i <= t; i++)
        for (size_t j = 0; j < D; j++) o[j] += w[i] / sum * p->v[i * D + j];
    head_attention(h, t, w, exact);
    for (size_t j = 0; j < D; j++) {
        error += (o[j] - exact[j]) * (o[j] - exact[j]);
        norm += exact[j] * exact[j];
    }
    return sqrt(error / norm);
}

static void kivi__is_its_algorithm_token_by_token(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 1);
    for (int64_t bits = 1; bits <= 8; bits++)
        for (int64_t group = 3; group <= 9; group += 3)
            for (int64_t residual = group; residual <= 3 * group; residual += group) {
                struct kv_format f = {bits, DSE_SCALES_KIVI, group, residual};
                struct plain p = {.gathered = 0};
                double error = 0;
                for (size_t t = 0; t < N; t++) {
                    append(&p, &h, t, &f);
                    if (t >= 20) error += plain_error(&p, &h, t) / (N - 20);
                }
                double got = run(&h, f, 20).output_error; /* of numbers in single precision */
                if (!(fabs(got / error - 1) < 1e-4)) fail_msg("bits %d: %g, not %g", (int)bits, got, error);
            }
    head_release(&h);
}

/* ---- limits -------------------------------------------------------------------------------------------------------------- */

static void all_bits__are_exact(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 2, 2);
    for (int32_t scales = 0; scales <= DSE_SCALES_KIVI; scales++) {
        struct kv_format_result r = run(&h, (struct kv_format){16, scales, 4, 0}, 0);
        assert_true(r.steps == N && r.output_error == 0 && r.key_error == 0 && r.value_error == 0);
        /* So is a residual as long as the context. */
        assert_true(run(&h, (struct kv_format){1, scales, 4, 80}, 0).output_error == 0);
    }
    head_release(&h);
}

/* A step of scale 2^-bits: every bit halves the error of an element, and of the output where it is small. */
static void every_bit__halves_the_error(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 1, 3);
    for (int32_t scales = 0; scales <= DSE_SCALES_KIVI; scales++) {
        struct kv_format_result last = {0};
        for (int64_t bits = 1; bits <= 8; bits++) {
            struct kv_format_result r = run(&h, (struct kv_format){bits, scales, 6, 0}, N / 2);
            if (bits > 1) assert_true(r.key_error < last.key_error && r.value_error < last.value_error);
            if (bits > 3 && bits < 8) assert_true(r.key_error > 0.4 * last.key_error && r.key_error < 0.6 * last.key_error);
            if (bits > 3) assert_true(r.output_error < 0.75 * last.output_error);
            last = r;
        }
        assert_true(last.output_error < 0.01);
    }
    head_release(&h);
}

/* Two values in each channel are kept in one bit, to the rounding of scale and zero point; by token, they are not. */
static void channels__of_two_values_need_one_bit(void **state)
{
    (void)state;
    struct head h = random_head(N, D, 1, 4);
    for (size_t i = 0; i < N * D; i++) h.k[i] = (float)(i % D) + (i / D % 2 ? 0.5f : 0.0f);
    struct kv_format f = {1, DSE_SCALES_CHANNEL, 25, 0};
    assert_true(run(&h, f, 0).key_error == 0); /* halves and whole numbers are fp16 */
    f.scales = DSE_SCALES_TOKEN;
    f.group = 0;
    assert_true(run(&h, f, 0).key_error > 0.1);
    head_release(&h);
}

/* Trained keys have channels that are large in every token, and trained values have none: KIVI's reason for its two directions. */
static void trained_heads__want_keys_by_channel_and_values_by_token(void **state)
{
    (void)state;
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    assert_non_null(t);
    double error[DSE_SCALES_KIVI + 1] = {0};
    for (size_t l = 0; l < trace_info(t)->layers; l++)
        for (size_t i = 0; i < trace_info(t)->heads; i++) {
            struct head h;
            assert_true(trace_head(t, l, i, &h, &diags));
            h.n = 512;
            for (int32_t scales = 0; scales <= DSE_SCALES_KIVI; scales++)
                error[scales] += run(&h, (struct kv_format){4, scales, 32, 0}, 480).output_error;
            head_release(&h);
        }
    assert_true(error[DSE_SCALES_KIVI] < 0.8 * error[DSE_SCALES_TOKEN] && error[DSE_SCALES_TOKEN] < error[DSE_SCALES_CHANNEL]);
    trace_close(t);
}

static void what_is_small__grows_in_whole_groups(void **state)
{
    (void)state;
    const struct kv_format kivi = {2, DSE_SCALES_KIVI, 4, 8}, channel = {2, DSE_SCALES_CHANNEL, 4, 0};
    static const size_t keys[] = {0, 0, 8, 8, 16}, n[] = {0, 7, 8, 15, 17};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(kv_format_keys(&kivi, n[i]), keys[i]);
        assert_int_equal(kv_format_values(&kivi, n[i]), n[i] > 8 ? n[i] - 8 : 0);
        assert_int_equal(kv_format_keys(&channel, n[i]), n[i] / 4 * 4);
    }
}

static void refuse(struct kv_format f, const char *why)
{
    struct head h = random_head(4, 8, 1, 1);
    struct kv_format_result r;
    assert_false(kv_format_run(&h, &f, 0, &r, &diags));
    expect_complaint(&diags, 0, 0, why);
    head_release(&h);
}

static void formats__that_are_none_are_refused(void **state)
{
    (void)state;
    refuse((struct kv_format){0, DSE_SCALES_TOKEN, 4, 0}, "0 bits of a key or value");
    refuse((struct kv_format){9, DSE_SCALES_TOKEN, 4, 0}, "9 bits of a key or value");
    refuse((struct kv_format){4, DSE_SCALES_TOKEN, 9, 0}, "a group of 9 by token; a token has 8 elements");
    refuse((struct kv_format){4, DSE_SCALES_TOKEN, -1, 0}, "groups of -1");
    refuse((struct kv_format){4, DSE_SCALES_TOKEN, 1, -2}, "-2 positions as they are");
    refuse((struct kv_format){4, DSE_SCALES_CHANNEL, 0, 0}, "a scale for all of a channel changes with every position");
    refuse((struct kv_format){4, DSE_SCALES_KIVI, 4, 6}, "6 positions as they are: no multiple of a group of 4");
    struct head h = random_head(4, 8, 1, 1);
    struct kv_format_result r;
    assert_false(kv_format_run(&h, &(struct kv_format){4, DSE_SCALES_TOKEN, 4, 0}, 4, &r, &diags));
    expect_complaint(&diags, 0, 0, "no steps: the first is 4, the head has 4 positions");
    head_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kivi__is_its_algorithm_token_by_token),
        cmocka_unit_test(all_bits__are_exact),
        cmocka_unit_test(every_bit__halves_the_error),
        cmocka_unit_test(channels__of_two_values_need_one_bit),
        cmocka_unit_test(trained_heads__want_keys_by_channel_and_values_by_token),
        cmocka_unit_test(what_is_small__grows_in_whole_groups),
        cmocka_unit_test(formats__that_are_none_are_refused),
    };
    diags_init(&diags);
    int failed = cmocka_run_group_tests_name("kv_format", tests, NULL, NULL);
    diags_release(&diags);
    return failed;
}
