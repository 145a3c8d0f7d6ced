/* GGUF, as ggml documents it (versions 2 and 3, little-endian):
 *
 *     "GGUF" | version u32 | tensors u64 | pairs u64 | pairs | tensors | values
 *     pair = key text | type u32 | value        text = length u64 | bytes
 *     tensor = name text | dimensions u32 | size u64 of each | type u32 | offset u64
 *
 * Every count is checked against the bytes that are left, so that a file of others cannot ask for more than it has.
 */
#include "config/llm_headers.h"

#include "base/xalloc.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MOST = 65535, DIMS_MOST = 8 };

/* Elements of a block, and its bytes: ggml.h, enum ggml_type, and the structs of ggml-common.h. */
static const struct type {
    uint32_t number;
    double elements, bytes;
} types[] = {{0, 1, 4},      {1, 1, 2},     {2, 32, 18},    {3, 32, 20},    {6, 32, 22},    {7, 32, 24},    {8, 32, 34},
             {9, 32, 36},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144}, {13, 256, 176}, {14, 256, 210}, {15, 256, 292},
             {16, 256, 66},  {17, 256, 74}, {18, 256, 98},  {19, 256, 50},  {20, 32, 18},   {21, 256, 110}, {22, 256, 82},
             {23, 256, 136}, {24, 1, 1},    {25, 1, 2},     {26, 1, 4},     {27, 1, 8},     {28, 1, 8},     {29, 256, 56},
             {30, 1, 2},     {34, 256, 54}, {35, 256, 66},  {39, 32, 17}};

struct reader {
    FILE *in;
    const char *path;
    uint64_t left; /* bytes */
    struct diags *diags;
    bool ok;
};

static bool wrong(struct reader *r, const char *what)
{
    if (r->ok) diags_input(r->diags, (struct srcloc){.file = r->path}, NULL, "download it again", "no GGUF: %s", what);
    return r->ok = false;
}

static bool take(struct reader *r, void *to, size_t n)
{
    if (!r->ok || n > r->left || fread(to, 1, n, r->in) != n) return wrong(r, "its header goes on behind its end");
    r->left -= n;
    return true;
}

/* A little-endian number of n bytes. */
static uint64_t number(struct reader *r, size_t n)
{
    unsigned char bytes[8] = {0};
    uint64_t v = 0;
    if (!take(r, bytes, n)) return 0;
    for (size_t i = n; i-- > 0;) v = v << 8 | bytes[i];
    return v;
}

/* The caller frees it; NULL with an error. */
static char *text(struct reader *r)
{
    const uint64_t n = number(r, 8);
    if (r->ok && n > TEXT_MOST) wrong(r, "a name in it is longer than 65,535 bytes");
    char *s = r->ok ? xcalloc((size_t)n + 1, 1) : NULL;
    if (s && take(r, s, (size_t)n)) return s;
    free(s);
    return NULL;
}

/* Texts of a list, of which tokens may be any bytes. */
static void skip(struct reader *r, uint64_t n)
{
    if (!r->ok || n > r->left || fseek(r->in, (long)n, SEEK_CUR) != 0)
        wrong(r, "its header goes on behind its end");
    else
        r->left -= n;
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

enum value_type { U8, I8, U16, I16, U32, I32, F32, TRUTH, TEXT, LIST, U64, I64, F64, VALUE_TYPES };
static const size_t widths[VALUE_TYPES] = {
    [U8] = 1, [I8] = 1, [U16] = 2, [I16] = 2, [U32] = 4, [I32] = 4, [F32] = 4, [TRUTH] = 1, [U64] = 8, [I64] = 8, [F64] = 8};

static double real_of(uint64_t bits, bool is_double)
{
    const uint32_t low = (uint32_t)bits;
    float single;
    double both;
    memcpy(&single, &low, sizeof single);
    memcpy(&both, &bits, sizeof both);
    const double v = is_double ? both : (double)single;
    return isfinite(v) ? v : 0;
}

/* A number or a truth. */
static json_t *scalar(struct reader *r, enum value_type type)
{
    const size_t n = widths[type];
    const uint64_t bits = number(r, n);
    const bool is_signed = type == I8 || type == I16 || type == I32 || type == I64;
    if (type == TRUTH) return json_boolean(bits != 0);
    if (type == F32 || type == F64) return json_real(real_of(bits, type == F64));
    const unsigned unused = (unsigned)(64 - 8 * n);
    return json_real(is_signed ? (double)((int64_t)(bits << unused) >> unused) : (double)bits);
}

/* Its numbers, if they are few; else NULL. *ret_length: how many there are. */
static json_t *list(struct reader *r, uint64_t *ret_length)
{
    const uint64_t type = number(r, 4), n = number(r, 8);
    *ret_length = n;
    if (r->ok && (type >= VALUE_TYPES || type == LIST)) wrong(r, "a list in it has a type that is not known");
    if (!r->ok) return NULL;
    const size_t width = widths[type];
    if (width > 0 && n > LLM_LIST_MAX) {
        skip(r, n > r->left ? UINT64_MAX : n * width);
        return NULL;
    }
    json_t *ret = width > 0 ? json_array() : NULL;
    for (uint64_t i = 0; i < n && r->ok; i++)
        if (ret)
            json_array_append_new(ret, scalar(r, (enum value_type)type));
        else
            skip(r, number(r, 8));
    return ret;
}

/* NULL: it is not kept, and *ret_length says how long it is. */
static json_t *value(struct reader *r, enum value_type type, uint64_t *ret_length)
{
    if (type == LIST) return list(r, ret_length);
    if (type != TEXT) return scalar(r, type);
    char *s = text(r);
    json_t *ret = s ? json_string(s) : NULL; /* NULL of what is no UTF-8 */
    free(s);
    return ret ? ret : json_null();
}

static void pair(struct reader *r, json_t *metadata)
{
    char *key = text(r);
    const uint64_t type = number(r, 4);
    uint64_t length = 0;
    if (r->ok && type >= VALUE_TYPES) wrong(r, "a value in it has a type that is not known");
    json_t *v = r->ok ? value(r, (enum value_type)type, &length) : NULL;
    if (r->ok && type == LIST) {
        char *name = xasprintf("%s.length", key);
        json_object_set_new(metadata, name, json_real((double)length));
        free(name);
    }
    if (v) json_object_set_new(metadata, key, v);
    free(key);
}

/* ---- tensors --------------------------------------------------------------------------------------------------------------- */

static void tensor(struct reader *r, json_t *tensors)
{
    char *name = text(r);
    const uint64_t dims = number(r, 4);
    double elements = 1;
    if (r->ok && dims > DIMS_MOST) wrong(r, "a tensor has more than 8 dimensions");
    for (uint64_t i = 0; i < dims && r->ok; i++) elements *= (double)number(r, 8);
    const uint64_t number_of_type = number(r, 4);
    number(r, 8);
    const struct type *t = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].number == number_of_type) t = &types[i];
    if (r->ok && !t) {
        diags_input(r->diags, (struct srcloc){.file = r->path}, NULL, NULL, "tensor \"%s\": type %llu of ggml is not known", name,
                    (unsigned long long)number_of_type);
        r->ok = false;
    }
    if (r->ok) llm_add_tensor(tensors, name, ceil(elements / t->elements) * t->bytes, elements);
    free(name);
}

bool llm_is_gguf(const char *path)
{
    char magic[4] = {0};
    FILE *in = fopen(path, "rb");
    const bool ret = in && fread(magic, 1, sizeof magic, in) == sizeof magic && memcmp(magic, "GGUF", sizeof magic) == 0;
    if (in) fclose(in);
    return ret;
}

static void read_all(struct reader *r, json_t *metadata, json_t *tensors)
{
    char magic[4];
    take(r, magic, sizeof magic);
    const uint64_t version = number(r, 4), n_tensors = number(r, 8), n_pairs = number(r, 8);
    if (r->ok && version != 2 && version != 3) wrong(r, "versions 2 and 3 are read, little-endian");
    for (uint64_t i = 0; i < n_pairs && r->ok; i++) pair(r, metadata);
    for (uint64_t i = 0; i < n_tensors && r->ok; i++) tensor(r, tensors);
}

static bool read_file(const char *path, json_t *metadata, json_t *tensors, struct diags *diags)
{
    struct reader r = {.path = path, .diags = diags, .ok = true, .in = fopen(path, "rb")};
    if (!r.in) return diags_input(diags, (struct srcloc){.file = path}, NULL, NULL, "cannot read the file");
    if (fseek(r.in, 0, SEEK_END) == 0) {
        const long size = ftell(r.in);
        r.left = size > 0 ? (uint64_t)size : 0;
    }
    rewind(r.in);
    read_all(&r, metadata, tensors);
    fclose(r.in);
    return r.ok;
}

/* Of several files the first has the metadata: "X-00001-of-00003.gguf". */
static bool read_others(const char *path, int n, json_t *tensors, struct diags *diags)
{
    char end[32];
    snprintf(end, sizeof end, "-00001-of-%05d.gguf", n);
    const size_t length = strlen(path), k = strlen(end);
    bool ok = length > k && strcmp(path + length - k, end) == 0;
    if (!ok)
        diags_input(diags, (struct srcloc){.file = path}, NULL, "name the first of them", "one of %d files, and not called X%s", n,
                    end);
    for (int i = 2; i <= n && ok; i++) {
        char *other = xasprintf("%.*s-%05d-of-%05d.gguf", (int)(length - k), path, i, n);
        json_t *metadata = json_object();
        ok = read_file(other, metadata, tensors, diags);
        json_decref(metadata);
        free(other);
    }
    return ok;
}

bool llm_gguf_read(const char *path, json_t **ret_metadata, json_t *tensors, struct diags *diags)
{
    enum { FILES_MOST = 9999 };
    *ret_metadata = json_object();
    if (!read_file(path, *ret_metadata, tensors, diags)) return false;
    const double n = json_number_value(json_object_get(*ret_metadata, "split.count"));
    return n <= 1 || read_others(path, n < FILES_MOST ? (int)n : FILES_MOST, tensors, diags);
}
