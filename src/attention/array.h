/* Arrays in files of other programs: numpy's .npy and .safetensors, read through a memory map. Nothing of a file is believed
 * before it is checked: whatever the bytes, an array lies within its file, and its shape times its type is its size.
 *
 * C order, little-endian, fp16, bf16, fp32; int32 and int64 for lists of steps. Any other order, endianness or type is refused by
 * its name.
 */
#ifndef DSE_ATTENTION_ARRAY_H
#define DSE_ATTENTION_ARRAY_H

#include "attention/mapped.h"
#include "base/diag.h"

#include <stdint.h>

enum array_type { ARRAY_F16, ARRAY_BF16, ARRAY_F32, ARRAY_I32, ARRAY_I64 };
enum { ARRAY_DIMS_MAX = 8 };

struct array {
    enum array_type type;
    size_t n_dims;
    uint64_t dims[ARRAY_DIMS_MAX];
    const unsigned char *bytes; /* of its file's map */
    const char *file;           /* borrowed from the reader's caller */
    const char *name;           /* "k", as given; borrowed as well */
};

const char *array_type_name(enum array_type t); /* "bf16" */
size_t array_type_bytes(enum array_type t);
/* Number of values. */
uint64_t array_values(const struct array *a);
/* "[2, 8, 1024, 64]" into buf. Returns buf. */
enum { ARRAY_SHAPE_TEXT = ARRAY_DIMS_MAX * 22 + 3 };
char *array_shape_text(const struct array *a, char buf[static ARRAY_SHAPE_TEXT]);
/* n values from value `at` on as float. Its type is one of a float. */
void array_floats(const struct array *a, uint64_t at, size_t n, float *ret);
/* Value `at` of an array of integers. */
int64_t array_integer(const struct array *a, uint64_t at);

/* Multiply shape and type of an array into *ret. False, when it does not fit 64 bits. */
bool array_bytes(const uint64_t *dims, size_t n_dims, uint64_t each, uint64_t *ret);

/* The array of a mapped .npy file, format versions 1 to 3, which is the whole file. With `bf16`, 16-bit integers are the bits of
 * bf16 (numpy has no name for it). False with one error. */
bool array_read_npy(const struct mapped *m, const char *name, bool bf16, struct array *ret, struct diags *diags);

/* The tensors of a mapped .safetensors file. NULL with one error: a header past the end or no JSON object, a tensor of unknown
 * type or impossible shape, outside of the file, over another or with a gap before it. */
struct safetensors;
struct safetensors *safetensors_read(const struct mapped *m, struct diags *diags);
void safetensors_free(struct safetensors *s);
bool safetensors_has(const struct safetensors *s, const char *name);
/* One tensor by its name, valid as long as s. False with one error: none of that name, or of a type that is not read. */
bool safetensors_find(const struct safetensors *s, const char *name, struct array *ret, struct diags *diags);

#endif
