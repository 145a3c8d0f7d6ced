/* Traces of version 2: heads of a group share k and v, and q of some steps alone. */
#include "trace_fixture.h"

#include "attention/measure.h"

static char *dir, *path;

static int set_up(void **state)
{
    (void)state;
    dir = scratch_new();
    path = xasprintf("%s/t.trace", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(path);
    scratch_remove(dir);
    return 0;
}

enum { HEADS = 4, N = 6, D = 3 };
static const int32_t layers[] = {4, 1}, heads[] = {8, 9, 16, 10}, groups[] = {0, 0, 1, 0}, steps[] = {1, 4, 5};

static struct trace_info grouped(const int32_t *of_steps, size_t n_steps)
{
    return (struct trace_info){.model = "toy",
                               .source = "grouped",
                               .layers = 2,
                               .heads = HEADS,
                               .layer_ids = layers,
                               .head_ids = heads,
                               .n = N,
                               .d = D,
                               .bits = 16,
                               .kv_heads = 2,
                               .kv_of = groups,
                               .n_steps = n_steps,
                               .steps = of_steps};
}

/* k and v are those of the group's first head, whose id stands for it. */
static float value(const struct trace_info *info, size_t layer, size_t head, size_t matrix, size_t position, size_t element)
{
    size_t leader = 0;
    while (trace_kv_of(info, leader) != trace_kv_of(info, head)) leader++;
    return toy_value(info->layer_ids[layer], info->head_ids[matrix ? leader : head], matrix, position, element);
}

static bool pull(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)diags;
    const struct trace_info *info = user;
    head_init_sampled(ret, N, D, info->steps, info->n_steps);
    float *matrices[] = {ret->q, ret->k, ret->v};
    for (size_t m = 0; m < 3; m++)
        for (size_t i = 0; i < (m ? N : trace_steps(info)) * D; i++)
            matrices[m][i] = value(info, layer, head, m, m ? i / D : trace_step(info, i / D), i % D);
    return true;
}

static struct bytes write_grouped(struct trace_info *info)
{
    struct diags d;
    diags_init(&d);
    bool ok = trace_write(path, info, pull, info, &d);
    expect_silence(&d);
    assert_true(ok);
    return bytes_read(path);
}

static void check_grouped(const struct trace *t, const struct trace_info *info, size_t layer, size_t head)
{
    struct diags d;
    diags_init(&d);
    struct head h;
    assert_true(trace_head_sampled(t, layer, head, &h, &d));
    assert_int_equal(h.group, trace_kv_of(info, head));
    assert_int_equal(head_whole(&h), info->steps == NULL);
    size_t have = 0;
    for (size_t i = 0; i < N; i++) {
        const float *q = head_query(&h, i);
        have += q != NULL;
        for (size_t j = 0; j < D; j++) {
            if (q) assert_true(q[j] == value(info, layer, head, 0, i, j));
            assert_true(h.k[i * D + j] == value(info, layer, head, 1, i, j));
            assert_true(h.v[i * D + j] == value(info, layer, head, 2, i, j));
        }
    }
    assert_int_equal(have, trace_steps(info));
    assert_null(head_query(&h, N));
    head_release(&h);
}

static void groups__share_their_keys_in_the_file(void **state)
{
    (void)state;
    for (int sampled = 0; sampled < 2; sampled++) {
        struct trace_info info = grouped(sampled ? steps : NULL, 3);
        struct bytes b = write_grouped(&info);
        size_t rows = 2 * (HEADS * (sampled ? 3 : N) + 2 * 2 * N); /* of q; of k and v */
        assert_int_equal(b.n, 128 + rows * D * 2 + 8);
        free(b.p);
        struct diags d;
        diags_init(&d);
        struct trace *t = trace_open(path, &d);
        expect_silence(&d);
        assert_int_equal(trace_info(t)->kv_heads, 2);
        assert_int_equal(trace_info(t)->n_steps, sampled ? 3 : N);
        assert_memory_equal(trace_info(t)->kv_of, groups, sizeof groups);
        for (size_t i = 0; i < 2; i++)
            for (size_t h = 0; h < HEADS; h++) check_grouped(t, &info, i, h);
        trace_close(t);
    }
}

static void groups__of_one_head_each_are_version_1(void **state)
{
    (void)state;
    static const int32_t own[] = {0, 1, 2, 3}, every[] = {0, 1, 2, 3, 4, 5};
    struct trace_info info = grouped(NULL, 0);
    info.kv_of = NULL;
    struct bytes plain = write_grouped(&info);
    assert_int_equal(plain.p[8], 1);
    info.kv_of = own;
    info.kv_heads = HEADS;
    info.steps = every;
    info.n_steps = N;
    struct bytes same = write_grouped(&info);
    assert_int_equal(same.n, plain.n);
    assert_memory_equal(same.p, plain.p, plain.n);
    free(plain.p);
    free(same.p);
}

static void steps__that_are_missing_refuse_who_follows_all(void **state)
{
    (void)state;
    struct trace_info info = grouped(steps, 3);
    free(write_grouped(&info).p);
    struct diags d;
    diags_init(&d);
    struct trace *t = trace_open(path, &d);
    struct head h;
    assert_false(trace_head(t, 0, 0, &h, &d));
    expect_complaint(&d, 0, 0, "has q of 3 of its 6 steps; this follows every step");
    struct head_source source = head_source_trace(t);
    size_t context = N;
    struct measure_plan plan = {.sources = &source, .n_sources = 1, .contexts = &context, .n_contexts = 1, .steps = 2};
    struct measured_locality row;
    assert_false(measure_locality(&plan, &locality_defaults, &row, &d));
    expect_complaint(&d, 0, 0, "the trace has q of 3 of its 6 steps; LAD's decoder follows every step");
    struct measured_range range;
    const struct softmax_range all = {.phi = 0, .low = -1e6, .high = 1e6};
    assert_true(measure_range(&plan, &all, &range, &d));
    expect_silence(&d);
    assert_int_equal(range.count.vectors, 2 * HEADS * 2); /* steps 4 and 5 */
    context = 4;
    assert_false(measure_range(&plan, &all, &range, &d));
    expect_complaint(&d, 0, 0, "the trace has q of none of the steps 2 to 3");
    trace_close(t);
}

static void refused(struct trace_info info, const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_false(trace_write(path, &info, pull, &info, &d));
    expect_complaint(&d, 0, 0, part);
    assert_int_equal(files_in(dir), 0);
}

static void groups__and_steps_have_an_order(void **state)
{
    (void)state;
    static const int32_t late[] = {1, 0, 1, 1}, negative[] = {0, -1, 0, 0}, twice[] = {1, 1, 5}, beyond[] = {1, 4, 6};
    struct trace_info info = grouped(NULL, 0);
    info.kv_of = late;
    refused(info, "head 8 has group 1; groups count from 0 in the order of their first heads");
    info.kv_of = negative;
    refused(info, "head 9 has group -1");
    info = grouped(NULL, 0);
    info.kv_heads = 3;
    refused(info, "its heads have 2 groups, and it is said to have 3");
    refused(grouped(twice, 3), "step 1 follows step 1; steps grow");
    refused(grouped(beyond, 3), "step 6 is not one of the 6 positions");
    refused(grouped(steps, 0), "no step has q");
}

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static void sign(struct bytes b)
{
    uint64_t hash = text_hash(TEXT_HASH_INIT, b.p, b.n - 8);
    put32(b.p + b.n - 8, (uint32_t)hash);
    put32(b.p + b.n - 4, (uint32_t)(hash >> 32));
}

static void groups__of_a_file_are_checked(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t v;
        const char *part;
    } cases[] = {
        {40, 0, "groups of heads: 0 is not within 1 to 4"},
        {40, 5, "groups of heads: 5 is not within 1 to 4"},
        {40, 1, "is truncated"},
        {44, 0, "steps: 0 is not within 1 to 6"},
        {44, 7, "steps: 7 is not within 1 to 6"},
        {44, 0xffffffff, "steps: 4294967295 is not within 1 to 6"},
        {8, 1, ""},
        {48 + 24, 1, "head 8 has group 1"},
        {48 + 24 + 16, 0xffffffff, "step -1 is not one of the 6 positions"},
        {48 + 24 + 16 + 4, 1, "step 1 follows step 1"},
    };
    struct trace_info info = grouped(steps, 3);
    struct bytes b = write_grouped(&info), changed = {xmalloc(b.n), b.n};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(changed.p, b.p, b.n);
        put32(changed.p + cases[i].at, cases[i].v);
        sign(changed);
        struct diags d;
        diags_init(&d);
        bytes_write(path, changed);
        assert_null(trace_open(path, &d));
        if (i == 2) /* one group for both heads' keys: the list of groups says otherwise, or the size */
            diags_release(&d);
        else
            expect_complaint(&d, 0, 0, cases[i].part);
    }
    for (size_t n = 40; n < b.n; n++) {
        struct diags d;
        diags_init(&d);
        bytes_write(path, (struct bytes){b.p, n});
        assert_null(trace_open(path, &d));
        expect_complaint(&d, 0, 0, "is truncated");
    }
    free(changed.p);
    free(b.p);
}

static void groups__name_the_step_of_a_bad_value(void **state)
{
    (void)state;
    struct trace_info info = grouped(steps, 3);
    struct bytes b = write_grouped(&info);
    size_t of_layer = (HEADS * 3 + 2 * 2 * N) * D;
    size_t at = 128 + 2 * (of_layer + (3 + 2 * N + 3) * D - 2); /* layer 1, second head: q of its last step, element 1 */
    b.p[at] = 0;
    b.p[at + 1] = 0x7c;
    sign(b);
    bytes_write(path, b);
    struct diags d;
    diags_init(&d);
    struct trace *t = trace_open(path, &d);
    struct head h;
    assert_false(trace_head_sampled(t, 1, 1, &h, &d));
    expect_complaint(&d, 0, 0, "layer 1, head 9: q of position 5, element 1 is inf");
    check_grouped(t, &info, 1, 0);
    trace_close(t);
    free(b.p);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(groups__share_their_keys_in_the_file),
        TEST(groups__of_one_head_each_are_version_1),
        TEST(steps__that_are_missing_refuse_who_follows_all),
        TEST(groups__and_steps_have_an_order),
        TEST(groups__of_a_file_are_checked),
        TEST(groups__name_the_step_of_a_bad_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
