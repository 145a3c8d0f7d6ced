/* Arrays of .npy and .safetensors: what is in them is read, whatever is wrong with them is one error. */
#include "trace_fixture.h"

#include "attention/trace_arrays.h"

#include <math.h>

static char *dir, *path, *to;

static int set_up(void **state)
{
    (void)state;
    dir = scratch_new();
    path = xasprintf("%s/a.bin", dir);
    to = xasprintf("%s/t.trace", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(path);
    free(to);
    scratch_remove(dir);
    return 0;
}

/* ---- files --------------------------------------------------------------------------------------------------------------- */

static struct text file_of(const char *header, size_t header_bytes)
{
    struct text t;
    text_init(&t);
    text_add_bytes(&t, header, header_bytes);
    return t;
}

/* A .npy file of a version with that dictionary and so many bytes of values, which count. */
static void write_npy(int version, const char *dict, size_t values)
{
    struct text t = file_of("\x93NUMPY", 6);
    size_t n = strlen(dict) + 1;
    const char head[6] = {(char)version, 0, (char)(n & 255), (char)(n >> 8), 0, 0};
    text_add_bytes(&t, head, version == 1 ? 4 : 6);
    text_addf(&t, "%s\n", dict);
    for (size_t i = 0; i < values; i++) text_add_bytes(&t, (char[]){(char)i}, 1);
    bytes_write(path, (struct bytes){(unsigned char *)t.s, t.n});
    text_release(&t);
}

static void write_tensors(const char *json, size_t values)
{
    struct text t;
    text_init(&t);
    size_t n = strlen(json);
    for (size_t i = 0; i < 8; i++) text_add_bytes(&t, (char[]){(char)((uint64_t)n >> 8 * i)}, 1);
    text_add(&t, json);
    for (size_t i = 0; i < values; i++) text_add_bytes(&t, (char[]){(char)i}, 1);
    bytes_write(path, (struct bytes){(unsigned char *)t.s, t.n});
    text_release(&t);
}

static bool read_npy(bool bf16, struct array *a, float *first, struct diags *d)
{
    struct mapped m;
    bool ok = mapped_open(&m, path, "an array", d) && array_read_npy(&m, "q", bf16, a, d);
    if (ok && first) array_floats(a, 0, 1, first);
    mapped_release(&m);
    return ok;
}

static void refuse_npy(const char *part)
{
    struct diags d;
    diags_init(&d);
    struct array a;
    assert_false(read_npy(true, &a, NULL, &d));
    expect_complaint(&d, 0, 0, part);
}

static void refuse_tensors(const char *part)
{
    struct diags d;
    diags_init(&d);
    struct mapped m;
    assert_true(mapped_open(&m, path, "an array", &d));
    assert_null(safetensors_read(&m, &d));
    expect_complaint(&d, 0, 0, part);
    mapped_release(&m);
}

/* ---- .npy ---------------------------------------------------------------------------------------------------------------- */

static void npy__of_every_version_and_type_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        size_t bytes;
        enum array_type type;
        uint32_t first; /* bits of the first value as float: bytes 0, 1, 2, 3 */
    } cases[] = {{"<f4", 4, ARRAY_F32, 0x03020100}, {"<f2", 2, ARRAY_F16, 0}, {"<u2", 2, ARRAY_BF16, 0x01000000}};
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char *dict = xasprintf("{'descr': '%s', 'fortran_order': False, 'shape': (2, 3, 5), }", cases[i].descr);
            write_npy(version, dict, 30 * cases[i].bytes);
            free(dict);
            struct diags d;
            diags_init(&d);
            struct array a;
            float first;
            bool ok = read_npy(true, &a, &first, &d);
            expect_silence(&d);
            assert_true(ok);
            assert_int_equal(a.type, cases[i].type);
            assert_int_equal(a.n_dims, 3);
            assert_int_equal(array_values(&a), 30);
            float want;
            memcpy(&want, &cases[i].first, sizeof want);
            if (cases[i].first) assert_true(first == want);
            char shape[ARRAY_SHAPE_TEXT];
            assert_string_equal(array_shape_text(&a, shape), "[2, 3, 5]");
        }
}

static void npy__may_be_written_by_others_than_numpy(void **state)
{
    (void)state;
    static const char *const dicts[] = {
        "{\"shape\":(7),\"descr\":\"<f4\",\"fortran_order\":False}",
        "{'fortran_order': False, 'descr': '<f4', 'shape': (7,)}                ",
        "{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 7 , 1 , ) , } ",
    };
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) {
        write_npy(1, dicts[i], 28);
        struct diags d;
        diags_init(&d);
        struct array a;
        bool ok = read_npy(false, &a, NULL, &d);
        expect_silence(&d);
        assert_true(ok);
    }
}

#define NPY(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static void npy__is_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *dict;
        size_t values;
        const char *part;
    } cases[] = {
        {NPY("'<f4'", "True", "(2, 3)"), 24, "is in Fortran order; C order, the last index fastest, is read"},
        {NPY("'>f4'", "False", "(2, 3)"), 24, "has values of type '>f4', which is big-endian; '<f2', '<f4' and bf16 are read"},
        {NPY("'<f8'", "False", "(2, 3)"), 48, "has values of type '<f8'; '<f2', '<f4' and bf16 are read"},
        {NPY("'|O'", "False", "(2, 3)"), 48, "has values of type '|O'"},
        {NPY("[('x', '<f4')]", "False", "(2, 3)"), 24, "is a list; records of several fields are not read"},
        {NPY("'<f4'", "False", "(2, 3)"), 23, "has 23 bytes of values; [2, 3] of fp32 asks for 24"},
        {NPY("'<f4'", "False", "(2, 3)"), 25, "has 25 bytes of values; [2, 3] of fp32 asks for 24"},
        {NPY("'<f4'", "False", "(4294967296, 4294967296)"), 24, "[4294967296, 4294967296] of fp32 asks for more than"},
        {NPY("'<f4'", "False", "(99999999999999999999,)"), 24, "a number of the shape is too large"},
        {NPY("'<f4'", "False", "(-1,)"), 24, "shape: a number is needed"},
        {NPY("'<f4'", "False", "(2, 3"), 24, "shape: a number is needed"},
        {NPY("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), 4, "shape: more dimensions than are read"},
        {NPY("'<f4'", "false", "(2, 3)"), 24, "fortran_order is neither True nor False"},
        {"{'descr': '<f4', 'shape': (6,)}", 24, "descr, fortran_order or shape is missing"},
        {"{'descr': '<f4', 'descr': '<f4'}", 24, "a key is there twice"},
        {"{'descr': '<f4', 'size': 3}", 24, "a key that is none of descr, fortran_order, shape"},
        {"{'descr': '<f4", 24, "a text does not end"},
        {"{'descr'", 24, ": is needed"},
        {"{} x", 24, "something follows the dictionary"},
        {"[]", 24, "{ is needed"},
        {"", 24, "{ is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_npy(1, cases[i].dict, cases[i].values);
        refuse_npy(cases[i].part);
    }
    write_npy(1, NPY("'<u2'", "False", "(2, 3)"), 12);
    struct diags d;
    diags_init(&d);
    struct array a;
    assert_false(read_npy(false, &a, NULL, &d));
    expect_complaint(&d, 0, 0, "has values of type '<u2', which are numbers of attention only as the bits of bf16");
}

static void npy__is_refused_wherever_it_is_cut(void **state)
{
    (void)state;
    write_npy(2, NPY("'<f4'", "False", "(2, 3)"), 24);
    struct bytes b = bytes_read(path);
    for (size_t n = 0; n < b.n; n++) {
        bytes_write(path, (struct bytes){b.p, n});
        refuse_npy(n < 10 ? "is not a .npy file" : n < 12 ? "is truncated in its header" : "has ");
    }
    b.p[6] = 4;
    bytes_write(path, b);
    refuse_npy("is a .npy file of version 4.0; 1.0, 2.0 and 3.0 are read");
    b.p[6] = 2;
    b.p[11] = 0xff;
    bytes_write(path, b);
    refuse_npy("its header alone is said to have 42");
    free(b.p);
}

/* ---- .safetensors -------------------------------------------------------------------------------------------------------- */

#define TENSOR(name, dtype, shape, from, to) \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to "]}"

static void tensors__are_found_by_name(void **state)
{
    (void)state;
    write_tensors("{\"__metadata__\":{\"format\":\"pt\"}," TENSOR("q", "F32", "[1,2,3]", 0, 24) "," TENSOR(
                      "model.k", "BF16", "[2,2]", 24, 32) "," TENSOR("odd \\\"name\\\"", "F16", "[]", 32,
                                                                     34) "," TENSOR("none", "F64", "[0]", 34, 34) "}  ",
                  34);
    struct diags d;
    diags_init(&d);
    struct mapped m;
    assert_true(mapped_open(&m, path, "an array", &d));
    struct safetensors *s = safetensors_read(&m, &d);
    expect_silence(&d);
    assert_non_null(s);
    struct array a;
    assert_true(safetensors_find(s, "model.k", &a, &d));
    assert_int_equal(a.type, ARRAY_BF16);
    assert_int_equal(a.dims[1], 2);
    float x;
    array_floats(&a, 1, 1, &x);
    uint32_t bits = 0x1b1a0000;
    assert_memory_equal(&x, &bits, 4);
    assert_true(safetensors_find(s, "odd \"name\"", &a, &d));
    assert_int_equal(array_values(&a), 1);
    assert_false(safetensors_find(s, "model.q", &a, &d));
    expect_complaint(&d, 0, 0, "has no tensor \"model.q\"");
    diags_init(&d);
    assert_false(safetensors_find(s, "none", &a, &d));
    expect_complaint(&d, 0, 0, "tensor \"none\" has values of type F64; F16, BF16 and F32 are read");
    assert_false(safetensors_has(s, "__metadata__"));
    safetensors_free(s);
    mapped_release(&m);
}

static void tensors__are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t values;
        const char *part;
    } cases[] = {
        {"{" TENSOR("q", "F32", "[6]", 0, 24) "," TENSOR("k", "F32", "[6]", 20, 44) "}", 44,
         "tensor \"k\": begins at byte 20, within \"q\""},
        {"{" TENSOR("q", "F32", "[6]", 0, 24) "," TENSOR("k", "F32", "[6]", 0, 24) "}", 24, "begins at byte 0, within"},
        {"{" TENSOR("q", "F32", "[6]", 0, 24) "," TENSOR("k", "F32", "[6]", 28, 52) "}", 52,
         "bytes 24 to 28, before tensor \"k\", belong to no tensor"},
        {"{" TENSOR("q", "F32", "[6]", 0, 24) "}", 30, "bytes 24 to 30, at its end, belong to no tensor"},
        {"{" TENSOR("q", "F32", "[6]", 0, 24) "}", 23,
         "tensor \"q\": bytes 0 to 24 do not lie in the file, which has 23 of values"},
        {"{" TENSOR("q", "F32", "[6]", 24, 0) "}", 24, "tensor \"q\": bytes 24 to 0 do not lie in the file"},
        {"{" TENSOR("q", "F32", "[6]", 0, 9223372036854775807) "}", 24, "bytes 0 to 9223372036854775807 do not lie in the file"},
        {"{" TENSOR("q", "F32", "[6]", 0, 18446744073709551616) "}", 24, "do not lie in the file"},
        {"{" TENSOR("q", "F32", "[6]", -1, 24) "}", 24, "its data_offsets are not two whole numbers"},
        {"{" TENSOR("q", "F32", "[6]", 0.0, 24) "}", 24, "its data_offsets are not two whole numbers"},
        {"{" TENSOR("q", "F32", "[6,2]", 0, 24) "}", 24, "tensor \"q\": [6, 2] of F32 does not fit its bytes 0 to 24"},
        {"{" TENSOR("q", "F32", "[4611686018427387904,4]", 0, 24) "}", 24,
         "tensor \"q\": [4611686018427387904, 4] of F32 does not fit"},
        {"{" TENSOR("q", "F32", "[-6]", 0, 24) "}", 24, "its shape is not a list of at most 8 whole numbers"},
        {"{" TENSOR("q", "F32", "6", 0, 24) "}", 24, "its shape is not a list"},
        {"{" TENSOR("q", "F32", "[1,1,1,1,1,1,1,1,6]", 0, 24) "}", 24, "its shape is not a list of at most 8"},
        {"{" TENSOR("q", "F31", "[6]", 0, 24) "}", 24, "tensor \"q\": dtype \"F31\" is not known"},
        {"{\"q\":{\"dtype\":4,\"shape\":[6],\"data_offsets\":[0,24]}}", 24, "dtype \"\" is not known"},
        {"{\"q\":{\"dtype\":\"F32\",\"shape\":[6]}}", 24, "needs dtype, shape and data_offsets, and nothing else"},
        {"{\"q\":{\"dtype\":\"F32\",\"dtype\":\"F16\",\"shape\":[6],\"data_offsets\":[0,24]}}", 24, "and nothing else"},
        {"{\"q\":[1]}", 24, "tensor \"q\": is not an object"},
        {"{" TENSOR("q", "F32", "[0]", 0, 0) "," TENSOR("q", "F32", "[0]", 0, 0) "}", 0, "tensor \"q\": is there twice"},
        {"{}", 0, "has no tensors"},
        {"[]", 0, "its header, bytes 8 to 10, is not a JSON object"},
        {"{\"q\":", 0, "is not a JSON object"},
        {"{} {}", 0, "is not a JSON object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_tensors(cases[i].json, cases[i].values);
        refuse_tensors(cases[i].part);
    }
}

static void tensors__are_refused_wherever_the_file_is_cut(void **state)
{
    (void)state;
    write_tensors("{" TENSOR("q", "F32", "[6]", 0, 24) "}", 24);
    struct bytes b = bytes_read(path);
    for (size_t n = 0; n < b.n; n++) {
        bytes_write(path, (struct bytes){b.p, n});
        refuse_tensors(n < 10         ? "is not a .safetensors file: it has"
                       : n < b.n - 24 ? "its header alone is said to have"
                                      : "do not lie in the file");
    }
    b.p[9] = 0; /* a NUL byte in the header */
    bytes_write(path, b);
    refuse_tensors("is not a JSON object");
    b.p[7] = 0x80;
    bytes_write(path, b);
    refuse_tensors("its header alone is said to have 92");
    free(b.p);
}

/* ---- traces of them ------------------------------------------------------------------------------------------------------ */

enum { LAYERS = 2, Q_HEADS = 4, KV_HEADS = 2, N = 5, D = 3 };

static float values[3][LAYERS * Q_HEADS * N * D];
static unsigned char raw[3][LAYERS * Q_HEADS * N * D * 4];

static struct array toy_array(size_t m, size_t heads, size_t rows)
{
    size_t n = LAYERS * heads * rows * D;
    for (size_t i = 0; i < n; i++) {
        values[m][i] = (float)m * 100 + (float)i / 4;
        memcpy(raw[m] + 4 * i, &values[m][i], 4);
    }
    return (struct array){.type = ARRAY_F32,
                          .n_dims = 4,
                          .dims = {LAYERS, heads, rows, D},
                          .bytes = raw[m],
                          .file = "toy",
                          .name = m == 0   ? "q"
                                  : m == 1 ? "k"
                                           : "v"};
}

static struct trace_arrays toy_arrays(size_t q_rows)
{
    return (struct trace_arrays){toy_array(0, Q_HEADS, q_rows), toy_array(1, KV_HEADS, N), toy_array(2, KV_HEADS, N)};
}

static const struct trace_info wanted = {.model = "toy", .source = "made up"};

static void arrays__of_grouped_queries_become_a_trace(void **state)
{
    (void)state;
    static const int32_t some[] = {3, 0, 1}, sampled[] = {1, 4};
    for (int steps = 0; steps < 2; steps++) {
        struct trace_arrays a = toy_arrays(steps ? 2 : N);
        struct trace_info w = wanted;
        if (steps) {
            w.steps = sampled;
            w.n_steps = 2;
        }
        const struct trace_pick pick = {.head_ids = some, .heads = 3};
        struct diags d;
        diags_init(&d);
        bool ok = trace_import_arrays(&a, &w, &pick, to, &d);
        expect_silence(&d);
        assert_true(ok);
        struct trace *t = trace_open(to, &d);
        expect_silence(&d);
        const struct trace_info *info = trace_info(t);
        assert_int_equal(info->bits, 32);
        assert_int_equal(info->kv_heads, 2);
        assert_memory_equal(info->kv_of, ((const int32_t[]){0, 1, 1}), 3 * sizeof(int32_t));
        for (size_t layer = 0; layer < LAYERS; layer++)
            for (size_t head = 0; head < 3; head++) {
                struct head h;
                assert_true(trace_head_sampled(t, layer, head, &h, &d));
                size_t q_rows = steps ? 2 : N, of = layer * KV_HEADS + (size_t)some[head] / 2;
                assert_memory_equal(h.q, values[0] + (layer * Q_HEADS + (size_t)some[head]) * q_rows * D,
                                    q_rows * D * sizeof(float));
                assert_memory_equal(h.k, values[1] + of * N * D, N * D * sizeof(float));
                assert_memory_equal(h.v, values[2] + of * N * D, N * D * sizeof(float));
                head_release(&h);
            }
        trace_close(t);
    }
}

static void refuse_arrays(struct trace_arrays a, const struct trace_info *w, const struct trace_pick *pick, const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_false(trace_import_arrays(&a, w, pick, to, &d));
    expect_complaint(&d, 0, 0, part);
    assert_int_equal(files_in(dir), 0);
}

static void arrays__that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    const struct trace_pick all = {0};
    struct trace_arrays a = toy_arrays(N);
    a.v.dims[2] = N - 1;
    refuse_arrays(a, &wanted, &all,
                  "q has shape [2, 4, 5, 3], k [2, 2, 5, 3], v [2, 2, 4, 3]: keys and values are not of one shape");
    a = toy_arrays(N);
    a.q.dims[0] = 1;
    refuse_arrays(a, &wanted, &all, "queries and keys are not of as many layers");
    a = toy_arrays(N);
    a.q.dims[3] = 2;
    refuse_arrays(a, &wanted, &all, "queries and keys are not of one dimension");
    a = toy_arrays(N);
    a.q.dims[1] = 3;
    refuse_arrays(a, &wanted, &all, "the query heads are no multiple of the KV heads");
    refuse_arrays(toy_arrays(2), &wanted, &all, "queries and keys are not of as many positions");
    a = toy_arrays(N);
    a.k.n_dims = 2;
    refuse_arrays(a, &wanted, &all, "k has shape [2, 2]; [layers, heads, positions, elements] is needed, or without layers");
    a = toy_arrays(N);
    a.k.type = ARRAY_I32;
    refuse_arrays(a, &wanted, &all, "k has values of type int32; fp16, bf16 and fp32 are read");
    static const int32_t sampled[] = {1, 4, 9};
    struct trace_info w = wanted;
    w.steps = sampled;
    w.n_steps = 3;
    refuse_arrays(toy_arrays(2), &w, &all, "q has 2 rows, and 3 steps are told");
    refuse_arrays(toy_arrays(3), &w, &all, "step 9 is not one of the 5 positions");
    w = wanted;
    w.layer_ids = sampled;
    w.layers = 3;
    refuse_arrays(toy_arrays(N), &w, &all, "the arrays have 2 layers, and 3 are told");
    refuse_arrays(toy_arrays(N), &wanted, &(struct trace_pick){.first = 6}, "the first 6 positions are picked; there are 5");
    a = toy_arrays(N);
    memcpy(raw[1] + 4 * (2 * N * D + N * D + 2 * D + 1), (const unsigned char[]){0, 0, 0x80, 0x7f}, 4);
    refuse_arrays(a, &wanted, &all, "layer 1, head 2: k of position 2, element 1 is inf");
    a = toy_arrays(N);
    w = wanted;
    w.bits = 16;
    memcpy(raw[0] + 4 * 4, (const unsigned char[]){0, 0, 0x80, 0x47}, 4);
    refuse_arrays(a, &w, &all, "layer 0, head 0: q of position 1, element 1 is 65536, which 16 bits cannot hold");
}

static void arrays__of_steps_are_integers(void **state)
{
    (void)state;
    const unsigned char bytes[] = {3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    struct array a = {.type = ARRAY_I32, .n_dims = 1, .dims = {2}, .bytes = bytes, .file = "toy", .name = "steps"};
    struct diags d;
    diags_init(&d);
    size_t n;
    int32_t *steps = trace_array_steps(&a, &n, &d);
    assert_int_equal(n, 2);
    assert_int_equal(steps[0], 3);
    assert_int_equal(steps[1], -1);
    free(steps);
    a.type = ARRAY_I64;
    a.dims[0] = 1;
    steps = trace_array_steps(&a, &n, &d);
    assert_int_equal(steps[0], -1); /* 2^64 - 2^32 + 3 */
    free(steps);
    a.type = ARRAY_F32;
    assert_null(trace_array_steps(&a, &n, &d));
    expect_complaint(&d, 0, 0, "steps: [1] of fp32 is no list of steps; [n] of int32 or int64 is one");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(npy__of_every_version_and_type_is_read),
        TEST(npy__may_be_written_by_others_than_numpy),
        TEST(npy__is_refused_with_the_reason),
        TEST(npy__is_refused_wherever_it_is_cut),
        TEST(tensors__are_found_by_name),
        TEST(tensors__are_refused_with_the_reason),
        TEST(tensors__are_refused_wherever_the_file_is_cut),
        TEST(arrays__of_grouped_queries_become_a_trace),
        TEST(arrays__that_do_not_belong_together_are_refused),
        TEST(arrays__of_steps_are_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
