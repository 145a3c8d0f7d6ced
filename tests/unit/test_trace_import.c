/* Import of arrays and CSV: the values that were there, of the layers, heads and positions asked for; a mistake is one error at
 * its place. */
#include "trace_fixture.h"

#include "attention/half.h"

static char *dir, *from, *to;

static int set_up(void **state)
{
    (void)state;
    dir = scratch_new();
    from = xasprintf("%s/from", dir);
    to = xasprintf("%s/to.trace", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(from);
    free(to);
    scratch_remove(dir);
    return 0;
}

/* The whole toy as an array. */
static struct bytes write_array(int bits)
{
    struct trace_info info = toy_trace(bits);
    size_t step = (size_t)bits / 8, at = 0;
    struct bytes b = {xmalloc(18 * 15 * step), 18 * 15 * step};
    for (size_t i = 0; i < 18 * 15; i++, at += step) {
        size_t matrix = i / 15, head = matrix / 3;
        float v = toy_value(info.layer_ids[head / 2], info.head_ids[head % 2], matrix % 3, i % 15 / 3, i % 3);
        uint32_t as_bits = half_from_float(v);
        if (bits == 32) memcpy(&as_bits, &v, sizeof v);
        for (size_t k = 0; k < step; k++) b.p[at + k] = (unsigned char)(as_bits >> 8 * k);
    }
    bytes_write(from, b);
    return b;
}

static void import_array(const struct trace_info *info, const struct trace_pick *pick)
{
    struct diags d;
    diags_init(&d);
    trace_import_raw(from, info, pick, to, &d);
    expect_silence(&d);
}

static void refuse_array(const struct trace_info *info, const struct trace_pick *pick, const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_false(trace_import_raw(from, info, pick, to, &d));
    assert_string_equal(d.list[0].file, from);
    expect_complaint(&d, 0, 0, part);
    assert_int_equal(files_in(dir), 1); /* `from` */
}

/* The trace `to` has this shape and the values of its places. */
static void check_trace(size_t layers, size_t heads, size_t n, int bits)
{
    struct diags d;
    diags_init(&d);
    struct trace *t = trace_open(to, &d);
    expect_silence(&d);
    const struct trace_info *info = trace_info(t);
    assert_string_equal(info->model, "toy");
    assert_int_equal(info->layers, layers);
    assert_int_equal(info->heads, heads);
    assert_int_equal(info->n, n);
    assert_int_equal(info->d, 3);
    assert_int_equal(info->bits, bits);
    check_heads(t);
    trace_close(t);
}

/* ---- arrays -------------------------------------------------------------------------------------------------------------- */

static void array__is_imported_whole(void **state)
{
    (void)state;
    for (int bits = 16; bits <= 32; bits += 16) {
        free(write_array(bits).p);
        struct trace_info info = toy_trace(bits);
        import_array(&info, &(struct trace_pick){0});
        check_trace(3, 2, 5, bits);
    }
}

static void array__is_imported_in_part_and_in_another_order(void **state)
{
    (void)state;
    free(write_array(16).p);
    struct trace_info info = toy_trace(16);
    static const int32_t layers[] = {7, 3}, head[] = {2};
    import_array(&info, &(struct trace_pick){.layer_ids = layers, .layers = 2, .head_ids = head, .heads = 1, .first = 4});
    check_trace(2, 1, 4, 16);
    import_array(&info, &(struct trace_pick){.first = 1});
    check_trace(3, 2, 1, 16);
}

static void array__must_have_the_size_of_its_shape(void **state)
{
    (void)state;
    struct bytes b = write_array(16);
    struct trace_info info = toy_trace(16);
    info.d = 4;
    refuse_array(&info, &(struct trace_pick){0},
                 "has 540 bytes; 3 layers x 2 heads x 3 x 5 positions x 4 elements of 16 bits are 720");
    info = toy_trace(32);
    refuse_array(&info, &(struct trace_pick){0}, "elements of 32 bits are 1080");
    info = toy_trace(16);
    bytes_write(from, (struct bytes){b.p, b.n - 1});
    refuse_array(&info, &(struct trace_pick){0}, "has 539 bytes");
    bytes_write(from, (struct bytes){b.p, 0});
    refuse_array(&info, &(struct trace_pick){0}, "has 0 bytes");
    free(b.p);
}

static void array__must_have_what_is_picked(void **state)
{
    (void)state;
    free(write_array(16).p);
    struct trace_info info = toy_trace(16);
    static const int32_t absent[] = {3, 5}, twice[] = {7, 7};
    refuse_array(&info, &(struct trace_pick){.layer_ids = absent, .layers = 2}, "layer 5 is picked, but not there");
    refuse_array(&info, &(struct trace_pick){.head_ids = absent, .heads = 1}, "head 3 is picked, but not there");
    refuse_array(&info, &(struct trace_pick){.layer_ids = twice, .layers = 2}, "layer 7 is there twice");
    refuse_array(&info, &(struct trace_pick){.first = 6}, "the first 6 positions are picked; there are 5");
}

static void array__names_the_place_of_a_value_that_is_not_finite(void **state)
{
    (void)state;
    struct bytes b = write_array(16);
    struct trace_info info = toy_trace(16);
    b.p[2 * ((3 * (1 * 2 + 0) + 2) * 15 + 2 * 3 + 1) + 1] = 0x7c; /* layer 0, head 5: v of position 2, element 1 */
    bytes_write(from, b);
    refuse_array(&info, &(struct trace_pick){0}, "layer 0, head 5: v of position 2, element 1 is nan");
    static const int32_t others[] = {7, 3};
    import_array(&info, &(struct trace_pick){.layer_ids = others, .layers = 2});
    check_trace(2, 2, 5, 16);
    import_array(&info, &(struct trace_pick){.first = 2});
    check_trace(3, 2, 2, 16);
    free(b.p);
}

/* Values as attention has them: in rows of SHAPE_D, every element with a mean of its own, around which it scatters. */
enum { SHAPE_N = 512, SHAPE_D = 32, SHAPE_VALUES = 3 * SHAPE_N * SHAPE_D };

static void write_values(int bits, bool means)
{
    static unsigned char bytes[4 * SHAPE_VALUES];
    uint32_t random = 1;
    for (size_t i = 0; i < SHAPE_VALUES; i++) {
        double sum = means ? (double)(i % SHAPE_D * 7 % 13) / 13 : 0;
        for (int k = 0; k < 6; k++) {
            random = random * 1664525 + 1013904223;
            sum += (double)random / 0x1p32 - 0.5;
        }
        float v = (float)sum;
        uint32_t as_bits = half_from_float(v);
        if (bits == 32) memcpy(&as_bits, &v, sizeof v);
        if (bits == -16) { /* bf16 */
            memcpy(&as_bits, &v, sizeof v);
            as_bits >>= 16;
        }
        size_t step = bits == 32 ? 4 : 2;
        for (size_t k = 0; k < step; k++) bytes[i * step + k] = (unsigned char)(as_bits >> 8 * k);
    }
    bytes_write(from, (struct bytes){bytes, SHAPE_VALUES * (bits == 32 ? 4 : 2)});
}

/* Import what write_values wrote; the one warning has to have these words, or none is there. */
static void expect_guess(size_t n, size_t d, int bits, const char *words)
{
    static const int32_t zero = 0;
    const struct trace_info info = {
        .model = "m", .source = "s", .layers = 1, .heads = 1, .layer_ids = &zero, .head_ids = &zero, .n = n, .d = d, .bits = bits};
    struct diags d_;
    diags_init(&d_);
    trace_import_raw(from, &info, &(struct trace_pick){0}, to, &d_);
    if (d_.n != (words ? 1 : 0) && d_.errors == 0) fail_msg("%zu x %zu of %d bits: %zu warnings", n, d, bits, d_.n);
    if (words && !strstr(d_.list[0].message, words)) fail_msg("\"%s\" is not in: %s", words, d_.list[0].message);
    diags_release(&d_);
}

static void array__of_another_type_or_shape_is_warned_of(void **state)
{
    (void)state;
    write_values(16, true);
    expect_guess(SHAPE_N, SHAPE_D, 16, NULL);
    expect_guess(SHAPE_N / 2, SHAPE_D, 32, "What would fit: --bits 16, with --positions 512 or --dim 64");
    expect_guess(SHAPE_N / 2, SHAPE_D * 2, 16, "What would fit: --dim 32 --positions 512");
    expect_guess(SHAPE_N * 2, SHAPE_D / 2, 16, "What would fit: --dim 32 --positions 512");
    write_values(32, true);
    expect_guess(SHAPE_N, SHAPE_D, 32, NULL);
    expect_guess(SHAPE_N * 2, SHAPE_D, 16, "What would fit: --bits 32, with --positions 512 or --dim 16");
    write_values(-16, true);
    expect_guess(SHAPE_N, SHAPE_D, 16, "as these do read as bf16");
    expect_guess(SHAPE_N / 2, SHAPE_D, 32, "as these do read as bf16");
    write_values(16, false); /* elements without means of their own say nothing of their rows */
    expect_guess(SHAPE_N, SHAPE_D, 16, NULL);
    expect_guess(SHAPE_N / 2, SHAPE_D * 2, 16, NULL);
}

static void array__of_another_size_is_told_what_would_fit(void **state)
{
    (void)state;
    write_values(16, true);
    static const int32_t zero = 0;
    struct trace_info info = {.model = "m",
                              .source = "s",
                              .layers = 1,
                              .heads = 1,
                              .layer_ids = &zero,
                              .head_ids = &zero,
                              .n = SHAPE_N,
                              .d = SHAPE_D,
                              .bits = 32};
    struct diags d;
    diags_init(&d);
    assert_false(trace_import_raw(from, &info, &(struct trace_pick){0}, to, &d));
    assert_string_equal(d.list[0].hint, "it would fit --positions 256 or --dim 16 or --bits 16");
    diags_release(&d);
}

/* ---- CSV ----------------------------------------------------------------------------------------------------------------- */

enum { TOY_ROWS = 3 * 2 * 3 * 5 };

static void toy_row(struct text *t, size_t i)
{
    size_t matrix = i / 5, head = matrix / 3;
    int32_t layer_id = toy_layers[head / 2], head_id = toy_heads[head % 2];
    text_addf(t, "%ld,%ld,%c,%zu", (long)layer_id, (long)head_id, "qkv"[matrix % 3], i % 5);
    for (size_t e = 0; e < 3; e++) {
        char buf[TEXT_NUMBER_MAX];
        text_addf(t, ",%s", text_number(buf, (double)toy_value(layer_id, head_id, matrix % 3, i % 5, e)));
    }
    text_add(t, "\n");
}

static void csv__rows_may_come_in_any_order(void **state)
{
    (void)state;
    struct text t;
    text_init(&t);
    text_add(&t, "\xEF\xBB\xBF# of the toy, \"mixed\"\nlayer,head,which,position,x0,x1,x2\r\n\n");
    for (size_t i = 0; i < TOY_ROWS; i++) {
        if (i == 7) text_add(&t, "# a comment\n\n");
        toy_row(&t, i * 37 % TOY_ROWS);
    }
    scratch_write(dir, "from", t.s);
    for (int bits = 16; bits <= 32; bits += 16) {
        struct trace_info wanted = {.model = "toy", .source = "csv", .bits = bits};
        struct diags d;
        diags_init(&d);
        trace_import_csv(from, &wanted, &(struct trace_pick){0}, to, &d);
        expect_silence(&d);
        check_trace(3, 2, 5, bits);
        static const int32_t layer[] = {7};
        trace_import_csv(from, &wanted, &(struct trace_pick){.layer_ids = layer, .layers = 1, .first = 3}, to, &d);
        expect_silence(&d);
        check_trace(1, 2, 3, bits);
    }
    text_release(&t);
}

static void refuse_csv(const char *text, int bits, int line, int column, const char *part)
{
    struct diags d;
    diags_init(&d);
    scratch_write(dir, "from", text);
    struct trace_info wanted = {.model = "toy", .source = "csv", .bits = bits};
    assert_false(trace_import_csv(from, &wanted, &(struct trace_pick){0}, to, &d));
    assert_string_equal(d.list[0].file, from);
    expect_complaint(&d, line, column, part);
    assert_int_equal(files_in(dir), 1);
}

#define HEAD "layer,head,which,position,x0,x1\n"
#define ROWS HEAD "0,0,q,0,1,2\n0,0,k,0,1,2\n"

static void csv__mistakes_have_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *part;
    } cases[] = {
        {"", 0, 0, "is empty: it has no header"},
        {HEAD, 0, 0, "has no rows below its header"},
        {"layer,head,position,which,x0\n", 1, 12, "the header has \"position\" for \"which\""},
        {"layer,head,which,position\n", 1, 1, "the header has 4 columns; 4 and 1 to 4096 elements are needed"},
        {"layer,head\n", 1, 1, "the header has 2 columns"},
        {HEAD "# comment\n\n0,0,q,0,1\n", 4, 1, "5 cells in this row; the header has 6"},
        {HEAD "0,0,q,0,1,2,3\n", 2, 1, "7 cells in this row; the header has 6"},
        {HEAD "0,0,q,0,1,two\n", 2, 11, "\"two\" is not a finite number"},
        {HEAD "0,0,q,0,,2\n", 2, 9, "\"\" is not a finite number"},
        {HEAD "0,0,q,0,nan,2\n", 2, 9, "\"nan\" is not a finite number"},
        {HEAD "0,0,q,0,1,-inf\n", 2, 11, "\"-inf\" is not a finite number"},
        {HEAD "0,0,q,0,1,1e39\n", 2, 11, "1e39 is too large for 32 bits"},
        {HEAD "0,0,x,0,1,2\n", 2, 5, "which: \"x\" is none of q, k, v"},
        {HEAD "0,0,qk,0,1,2\n", 2, 5, "which: \"qk\" is none of q, k, v"},
        {HEAD "-1,0,q,0,1,2\n", 2, 1, "layer: \"-1\" is not a whole number from 0 to 2147483647"},
        {HEAD "0,3000000000,q,0,1,2\n", 2, 3, "head: \"3000000000\" is not a whole number"},
        {HEAD "0,0,q,16777216,1,2\n", 2, 7, "position: \"16777216\" is not a whole number from 0 to 16777215"},
        {HEAD "0,0,q,1.5,1,2\n", 2, 7, "position: \"1.5\" is not a whole number"},
        {HEAD "0,0,\"q,0,1,2\n0,0,k,0,1,2\n", 2, 1, "is not CSV: a quote is not closed in this line"},
        {HEAD "0,0,q,0,1,\"2", 2, 1, "is not CSV"},
        {HEAD "0,0,\"q\n\",0,1,2", 2, 1, "is not CSV: a quote is not closed in this line"},
        {HEAD "0,0,q\"q,0,1,2\n", 2, 1, "is not CSV"},
        {ROWS, 3, 1, "layer 0, head 0, v of position 0: has no row; the nearest is this one of layer 0, head 0, k of position 0"},
        {ROWS "0,0,v,1,1,2\n", 2, 1,
         "layer 0, head 0, q of position 1: has no row; the nearest is this one of layer 0, head 0, q of position 0"},
        {ROWS "0,0,v,0,1,2\n1,2,q,0,1,2\n", 4, 1, "layer 0, head 2, q of position 0: has no row"},
        {ROWS "0,0,v,0,1,2\n0,0,k,0,1,2\n", 5, 1, "layer 0, head 0, k of position 0: is in line 3 already"},
        {HEAD "0,0,q,16777215,1,2\n", 2, 1, "layer 0, head 0, q of position 0: has no row"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_csv(cases[i].text, 32, cases[i].line, cases[i].column, cases[i].part);
    refuse_csv(ROWS "0,0,v,0,1,65520\n", 16, 4, 11, "65520 is too large for 16 bits");
}

static void csv__must_be_text_and_a_file(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct trace_info wanted = {.model = "toy", .source = "csv", .bits = 32};
    assert_false(trace_import_csv(dir, &wanted, &(struct trace_pick){0}, to, &d));
    expect_complaint(&d, 0, 0, "is a directory, a file is needed");
    assert_false(trace_import_csv(from, &wanted, &(struct trace_pick){0}, to, &d));
    expect_complaint(&d, 0, 0, "cannot read the file: No such file");
    static const char nul[] = HEAD "0,0,q\0,0,1,2\n";
    bytes_write(from, (struct bytes){(unsigned char *)(uintptr_t)nul, sizeof nul - 1});
    assert_false(trace_import_csv(from, &wanted, &(struct trace_pick){0}, to, &d));
    expect_complaint(&d, 2, 5, "is not text: it has a NUL byte");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(array__is_imported_whole),
        TEST(array__is_imported_in_part_and_in_another_order),
        TEST(array__must_have_the_size_of_its_shape),
        TEST(array__must_have_what_is_picked),
        TEST(array__names_the_place_of_a_value_that_is_not_finite),
        TEST(array__of_another_type_or_shape_is_warned_of),
        TEST(array__of_another_size_is_told_what_would_fit),
        TEST(csv__rows_may_come_in_any_order),
        TEST(csv__mistakes_have_their_place),
        TEST(csv__must_be_text_and_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
