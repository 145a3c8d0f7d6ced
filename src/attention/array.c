#include "attention/array.h"

#include "attention/half.h"
#include "attention/little_endian.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} types[] = {[ARRAY_F16] = {"fp16", 2},
             [ARRAY_BF16] = {"bf16", 2},
             [ARRAY_F32] = {"fp32", 4},
             [ARRAY_I32] = {"int32", 4},
             [ARRAY_I64] = {"int64", 8}};

const char *array_type_name(enum array_type t)
{
    return types[t].name;
}

size_t array_type_bytes(enum array_type t)
{
    return types[t].bytes;
}

uint64_t array_values(const struct array *a)
{
    uint64_t n = 1;
    for (size_t i = 0; i < a->n_dims; i++) n *= a->dims[i];
    return n;
}

char *array_shape_text(const struct array *a, char buf[static ARRAY_SHAPE_TEXT])
{
    size_t at = (size_t)snprintf(buf, ARRAY_SHAPE_TEXT, "[");
    for (size_t i = 0; i < a->n_dims; i++)
        at += (size_t)snprintf(buf + at, ARRAY_SHAPE_TEXT - at, "%s%llu", i ? ", " : "", (unsigned long long)a->dims[i]);
    snprintf(buf + at, ARRAY_SHAPE_TEXT - at, "]");
    return buf;
}

bool array_bytes(const uint64_t *dims, size_t n_dims, uint64_t each, uint64_t *ret)
{
    bool empty = false, fits = true;
    for (size_t i = 0; i < n_dims; i++) {
        empty = empty || dims[i] == 0;
        fits = fits && !__builtin_mul_overflow(each, dims[i], &each);
    }
    *ret = empty ? 0 : each;
    return empty || fits;
}

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

void array_floats(const struct array *a, uint64_t at, size_t n, float *ret)
{
    const unsigned char *p = a->bytes + at * types[a->type].bytes;
    for (size_t i = 0; i < n; i++, p += types[a->type].bytes)
        ret[i] = a->type == ARRAY_F32   ? float_of(get_le32(p))
                 : a->type == ARRAY_F16 ? half_to_float(get_le16(p))
                                        : float_of((uint32_t)get_le16(p) << 16);
}

int64_t array_integer(const struct array *a, uint64_t at)
{
    const unsigned char *p = a->bytes + at * types[a->type].bytes;
    return a->type == ARRAY_I32 ? (int32_t)get_le32(p) : (int64_t)get_le64(p);
}
