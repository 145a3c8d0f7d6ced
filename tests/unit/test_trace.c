/* Traces: what is written is read; whatever is wrong with a file is one error; a failed write leaves nothing behind. */
#include "trace_fixture.h"

#include "dse_config.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

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

static struct bytes write_toy(int bits)
{
    struct diags d;
    diags_init(&d);
    struct trace_info info = toy_trace(bits);
    bool ok = trace_write(path, &info, toy_pull, &info, &d);
    expect_silence(&d);
    assert_true(ok);
    return bytes_read(path);
}

static void refused(struct bytes b, const char *part)
{
    struct diags d;
    diags_init(&d);
    bytes_write(path, b);
    assert_null(trace_open(path, &d));
    expect_complaint(&d, 0, 0, part);
}

/* ---- reading what was written -------------------------------------------------------------------------------------------- */

static void trace__reads_what_was_written(void **state)
{
    (void)state;
    for (int bits = 16; bits <= 32; bits += 16) {
        struct bytes b = write_toy(bits);
        struct diags d;
        diags_init(&d);
        struct trace *t = trace_open(path, &d);
        expect_silence(&d);
        const struct trace_info *info = trace_info(t);
        assert_string_equal(info->model, "toy");
        assert_string_equal(info->source, "made up \xC3\xA9");
        assert_int_equal(info->bits, bits);
        assert_memory_equal(info->layer_ids, toy_layers, sizeof toy_layers);
        assert_memory_equal(info->head_ids, toy_heads, sizeof toy_heads);
        assert_true(info->hash == text_hash(TEXT_HASH_INIT, b.p, b.n - 8));
        assert_int_equal(b.n, 128 + 3 * 2 * 3 * 5 * 3 * bits / 8 + 8);
        check_heads(t);
        trace_close(t);
        free(b.p);
    }
    assert_int_equal(files_in(dir), 1);
}

static void trace__has_no_head_beyond_its_last(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    free(write_toy(16).p);
    struct trace *t = trace_open(path, &d);
    struct head h;
    assert_false(trace_head(t, 3, 0, &h, &d));
    expect_complaint(&d, 0, 0, "there is no head 0 of layer 3: the trace has 2 heads of 3 layers");
    assert_false(trace_head(t, 0, 2, &h, &d));
    expect_complaint(&d, 0, 0, "there is no head 2 of layer 0");
    trace_close(t);
}

/* ---- files that are no traces -------------------------------------------------------------------------------------------- */

static void trace__refuses_every_truncation(void **state)
{
    (void)state;
    struct bytes b = write_toy(16);
    for (size_t n = 0; n < b.n; n++) refused((struct bytes){b.p, n}, n ? "is truncated" : "is not a trace: it is empty");
    refused((struct bytes){b.p, b.n - 1}, "it has 675 bytes; its header asks for 676");
    unsigned char *longer = xcalloc(b.n + 5, 1);
    memcpy(longer, b.p, b.n);
    refused((struct bytes){longer, b.n + 5}, "5 bytes follow its end");
    free(longer);
    free(b.p);
}

static void trace__refuses_every_changed_byte(void **state)
{
    (void)state;
    struct bytes b = write_toy(16);
    for (size_t i = 0; i < b.n; i++) {
        b.p[i] ^= (unsigned char)(1 + i % 255);
        refused(b, i < 8 ? "is not a trace" : "");
        b.p[i] ^= (unsigned char)(1 + i % 255);
    }
    b.p[b.n - 9] ^= 1;
    refused(b, "is damaged: its checksum is");
    free(b.p);
}

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}

/* Make the checksum right, so that what else is wrong is seen. */
static void sign(struct bytes b)
{
    uint64_t hash = text_hash(TEXT_HASH_INIT, b.p, b.n - 8);
    put32(b.p + b.n - 8, (uint32_t)hash);
    put32(b.p + b.n - 4, (uint32_t)(hash >> 32));
}

static void trace__refuses_absurd_headers(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t v;
        const char *part;
    } cases[] = {
        {8, 3, "is a trace of version 3; this dse reads versions 1 to 2"},
        {8, 0, "is a trace of version 0; this dse reads versions 1 to 2"},
        {12, 8, "bits: 8 is neither 16 nor 32"},
        {12, 0xffffffff, "bits: 2147483647 is neither 16 nor 32"},
        {16, 0, "layers: 0 is not within 1 to 1024"},
        {16, 0xffffffff, "layers: 4294967295 is not within 1 to 1024"},
        {16, 1024, "is truncated: it has 676 bytes; its header asks for at least 4157"},
        {20, 0, "heads: 0 is not within"},
        {20, 0x80000000, "heads: 2147483648 is not within"},
        {24, 0, "positions: 0 is not within 1 to 16777216"},
        {24, 0xffffffff, "positions: 4294967295 is not within"},
        {24, 1 << 24, "is truncated: it has 676 bytes; its header asks for 1811939464"},
        {28, 0, "dimension: 0 is not within 1 to 4096"},
        {28, 4, "is truncated: it has 676 bytes; its header asks for 856"},
        {28, 2, "180 bytes follow its end"},
        {32, 0, "bytes of the model's name: 0 is not within 1 to 4096"},
        {32, 0xffffffff, "bytes of the model's name: 4294967295 is not within"},
        {36, 4096, "is truncated: it has 676 bytes; its header asks for at least 4159"},
        {40, 0, "layer 0 is there twice"},
        {40, 0xfffffffe, "layer -2 is negative"},
        {52, 2, "head 2 is there twice"},
        {60, 0x61616100, "the model's name or the source has a NUL byte"},
        {60, 0x61610a61, "model: has a control character or is not UTF-8 at byte 2"},
        {63, 0x61616180, "source: has a control character or is not UTF-8 at byte 1"},
    };
    struct bytes b = write_toy(16), changed = {xmalloc(b.n), b.n};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(changed.p, b.p, b.n);
        put32(changed.p + cases[i].at, cases[i].v);
        sign(changed);
        refused(changed, cases[i].part);
    }
    free(changed.p);
    free(b.p);
}

static void trace__largest_shape_does_not_overflow(void **state)
{
    (void)state;
    struct bytes b = write_toy(16);
    struct bytes large = {xcalloc(16384, 1), 16384}; /* room for 1024 + 1024 ids */
    memcpy(large.p, b.p, 40);
    const uint32_t shape[] = {32, 1024, 1024, 1 << 24, 4096, 1, 1};
    for (size_t i = 0; i < 7; i++) put32(large.p + 12 + 4 * i, shape[i]);
    for (uint32_t i = 0; i < 2048; i++) put32(large.p + 40 + (size_t)4 * i, i % 1024);
    memcpy(large.p + 40 + 8192, "ms", 2);
    refused(large, "its header asks for 864691128455143496");
    free(large.p);
    free(b.p);
}

static void trace__refuses_what_is_no_file(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    assert_null(trace_open("/nowhere/t.trace", &d));
    expect_complaint(&d, 0, 0, "cannot read the file: No such file");
    assert_null(trace_open(dir, &d));
    expect_complaint(&d, 0, 0, "is not a regular file");
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody ever writes to it */
    assert_null(trace_open(path, &d));
    expect_complaint(&d, 0, 0, "is not a regular file");
    remove(path);
    refused((struct bytes){(unsigned char *)(uintptr_t) "PK\3\4", 4}, "is not a trace");
}

static void trace__names_the_place_of_a_value_that_is_not_finite(void **state)
{
    (void)state;
    struct bytes b = write_toy(16);
    /* Layer 1 of the file (0 of the model), head 1 (2): k of position 4, element 1. */
    size_t at = 128 + 2 * (((1 * 2 + 1) * 3 + 1) * 15 + 4 * 3 + 1);
    struct head h;
    struct diags d;
    diags_init(&d);
    static const struct {
        unsigned char high, low;
        const char *name;
    } values[] = {{0x7c, 0x00, "inf"}, {0xfc, 0x00, "-inf"}, {0x7c, 0x01, "nan"}, {0xfe, 0x00, "nan"}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        b.p[at] = values[i].low;
        b.p[at + 1] = values[i].high;
        sign(b);
        bytes_write(path, b);
        struct trace *t = trace_open(path, &d);
        expect_silence(&d);
        check_head(t, 1, 0);
        check_head(t, 2, 1);
        assert_false(trace_head(t, 1, 1, &h, &d));
        char *message = xasprintf("layer 0, head 2: k of position 4, element 1 is %s", values[i].name);
        expect_complaint(&d, 0, 0, message);
        free(message);
        trace_close(t);
    }
    free(b.p);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

struct bad_pull {
    struct trace_info info;
    float value;
    size_t more_positions;
    bool fails;
};

/* The toy's heads, but the last is wrong. */
static bool pull_bad(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    struct bad_pull *b = user;
    bool last = layer == 2 && head == 1;
    if (last && b->fails) return diags_input(diags, (struct srcloc){0}, NULL, NULL, "no such head");
    struct trace_info info = b->info;
    if (last) info.n += b->more_positions;
    toy_pull(&info, layer, head, ret, diags);
    if (last && b->value != 0) ret->v[7] = b->value;
    return true;
}

static void refused_pull(struct bad_pull b, int bits, const char *part)
{
    struct bytes before = write_toy(16);
    struct diags d;
    diags_init(&d);
    b.info = toy_trace(bits);
    assert_false(trace_write(path, &b.info, pull_bad, &b, &d));
    expect_complaint(&d, 0, 0, part);
    struct bytes after = bytes_read(path);
    assert_int_equal(after.n, before.n);
    assert_memory_equal(after.p, before.p, before.n);
    assert_int_equal(files_in(dir), 1);
    free(before.p);
    free(after.p);
}

static void trace__writes_no_part_of_what_is_wrong(void **state)
{
    (void)state;
    refused_pull((struct bad_pull){.fails = true}, 16, "no such head");
    refused_pull((struct bad_pull){.more_positions = 1}, 16, "layer 7, head 2: 6 positions of dimension 3; the trace has 5 of 3");
    refused_pull((struct bad_pull){.value = NAN}, 32,
                 "layer 7, head 2: v of position 2, element 1 is nan, which 32 bits cannot hold");
    refused_pull((struct bad_pull){.value = -INFINITY}, 32, "element 1 is -inf, which 32 bits cannot hold");
    refused_pull((struct bad_pull){.value = 65520}, 16, "element 1 is 65520, which 16 bits cannot hold");
}

static void trace__writes_no_shape_that_it_would_not_read(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct trace_info info = toy_trace(16);
    info.n = 0;
    assert_false(trace_write(path, &info, toy_pull, &info, &d));
    expect_complaint(&d, 0, 0, "positions: 0 is not within");
    info = toy_trace(24);
    assert_false(trace_write(path, &info, toy_pull, &info, &d));
    expect_complaint(&d, 0, 0, "bits: 24 is neither");
    info = toy_trace(16);
    info.model = "";
    info.source = "two\nlines";
    assert_false(trace_write(path, &info, toy_pull, &info, &d));
    const struct complaint both[] = {{0, 0, "model: is empty"},
                                     {0, 0, "source: has a control character or is not UTF-8 at byte 4"}};
    expect_complaints(&d, both, 2);
    assert_int_equal(files_in(dir), 0);
}

static void fails_to_write(const char *where, const char *part)
{
    struct diags d;
    diags_init(&d);
    struct trace_info info = toy_trace(16);
    assert_false(trace_write(where, &info, toy_pull, &info, &d));
    assert_int_equal(d.n, 1);
    assert_int_equal(diags_exit_status(&d), 1);
    if (!strstr(d.list[0].message, part)) fail_msg("said: %s", d.list[0].message);
    diags_release(&d);
}

static void trace__leaves_nothing_behind_when_it_cannot_write(void **state)
{
    (void)state;
    fails_to_write("/nowhere/t.trace", "cannot write: No such file");
    fails_to_write(dir, "it is not a regular file");
    fails_to_write("/dev/null", "it is not a regular file");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 300;
    setrlimit(RLIMIT_FSIZE, &small);
    fails_to_write(path, "cannot write: File too large");
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(files_in(dir), 0);
}

/* ---- the trace that ships ------------------------------------------------------------------------------------------------ */

static struct trace *open_shipped(void)
{
    struct diags d;
    diags_init(&d);
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &d);
    expect_silence(&d);
    return t;
}

static void shipped__is_what_its_readme_says(void **state)
{
    (void)state;
    struct trace *t = open_shipped();
    const struct trace_info *info = trace_info(t);
    assert_string_equal(info->model, "tinyllama-1.1b");
    assert_non_null(strstr(info->source, "Apache-2.0"));
    assert_int_equal(info->n, 2048);
    assert_int_equal(info->d, 64);
    assert_int_equal(info->bits, 16);
    assert_true(info->layers == 2 && info->layer_ids[0] == 0 && info->layer_ids[1] == 5);
    assert_true(info->heads == 2 && info->head_ids[0] == 0 && info->head_ids[1] == 16);
    assert_true(info->hash == 0x7769353d856998a6);
    trace_close(t);
}

/* Values as Python's struct reads them from the array, whose index is another. */
static void shipped__has_the_values_of_its_array(void **state)
{
    (void)state;
    static const struct {
        size_t layer, head, matrix, position, element;
        double value;
    } known[] = {{0, 0, 0, 0, 0, -0.036651611328125},
                 {0, 1, 1, 100, 63, -1.263671875},
                 {1, 0, 2, 2047, 5, 0.2335205078125},
                 {1, 1, 2, 2047, 63, 0.1234130859375},
                 {1, 1, 0, 1, 1, 1.0546875}};
    struct trace *t = open_shipped();
    struct diags d;
    diags_init(&d);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct head h;
        assert_true(trace_head(t, known[i].layer, known[i].head, &h, &d));
        const float *matrices[] = {h.q, h.k, h.v};
        double got = (double)matrices[known[i].matrix][known[i].position * h.d + known[i].element];
        if (got != known[i].value) fail_msg("value %zu: %.17g, not %.17g", i, got, known[i].value);
        head_release(&h);
    }
    trace_close(t);
}

/* Smallest and largest score over all causal pairs, by an independent numpy implementation on the same heads, six digits. */
static void shipped__has_the_scores_of_an_independent_implementation(void **state)
{
    (void)state;
    static const double low[] = {-4.73317, -17.2142, -20.0971, -22.6299}, high[] = {5.05272, 7.2456, 2.76905, 2.30017};
    struct trace *t = open_shipped();
    struct diags d;
    diags_init(&d);
    double *x = xcalloc(2048, sizeof *x);
    for (size_t i = 0; i < 4; i++) {
        struct head h;
        assert_true(trace_head(t, i / 2, i % 2, &h, &d));
        double min = (double)INFINITY, max = -min;
        for (size_t step = 0; step < h.n; step++) {
            head_scores(&h, step, x);
            for (size_t k = 0; k <= step; k++) {
                min = fmin(min, x[k]);
                max = fmax(max, x[k]);
            }
        }
        assert_true(fabs(min - low[i]) < 6e-6 * fabs(low[i]) && fabs(max - high[i]) < 6e-6 * fabs(high[i]));
        head_release(&h);
    }
    free(x);
    trace_close(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(trace__reads_what_was_written),
        TEST(trace__has_no_head_beyond_its_last),
        TEST(trace__refuses_every_truncation),
        TEST(trace__refuses_every_changed_byte),
        TEST(trace__refuses_absurd_headers),
        TEST(trace__largest_shape_does_not_overflow),
        TEST(trace__refuses_what_is_no_file),
        TEST(trace__names_the_place_of_a_value_that_is_not_finite),
        TEST(trace__writes_no_part_of_what_is_wrong),
        TEST(trace__writes_no_shape_that_it_would_not_read),
        TEST(trace__leaves_nothing_behind_when_it_cannot_write),
        TEST(shipped__is_what_its_readme_says),
        TEST(shipped__has_the_values_of_its_array),
        TEST(shipped__has_the_scores_of_an_independent_implementation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
