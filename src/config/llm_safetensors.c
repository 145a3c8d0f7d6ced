/* .safetensors: length of the header u64, little-endian | header | values. The header is an object of { "dtype", "shape",
 * "data_offsets": [begin, end] } by name of tensor, and "__metadata__". Values are read elsewhere (array_safetensors.c), of whole
 * files. */
#include "config/llm_headers.h"

#include "base/xalloc.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, HEADER_MOST = 100 << 20 }; /* the format's own limit */

/* Types of which a value is an element. Others pack several, or are parts of them (U8, I32). */
static const char *const plain_types[] = {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"};

static bool wrong(const char *path, struct diags *diags, const char *what)
{
    return diags_input(diags, (struct srcloc){.file = path}, NULL, "download it again", "no .safetensors: %s", what);
}

void llm_add_tensor(json_t *tensors, const char *name, double bytes, double elements)
{
    json_array_append_new(tensors, json_pack("{s:s, s:f, s:f}", "name", name, "bytes", bytes, "elements", elements));
}

static bool add(const char *path, const char *name, const json_t *entry, json_t *tensors, struct diags *diags)
{
    const json_t *offsets = json_object_get(entry, "data_offsets"), *shape = json_object_get(entry, "shape");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    const double bytes = json_number_value(end) - json_number_value(begin);
    if (!type || !json_is_array(shape) || !json_is_number(begin) || !json_is_number(end) || bytes < 0)
        return diags_input(diags, (struct srcloc){.file = path}, NULL, NULL, "tensor \"%s\" needs dtype, shape and data_offsets",
                           name);
    double elements = 1;
    bool is_plain = false;
    for (size_t i = 0; i < json_array_size(shape); i++) elements *= json_number_value(json_array_get(shape, i));
    for (size_t i = 0; i < sizeof plain_types / sizeof *plain_types; i++) is_plain = is_plain || strcmp(type, plain_types[i]) == 0;
    llm_add_tensor(tensors, name, bytes, is_plain ? elements : 0);
    return true;
}

/* The header's text, whose length is *ret_n. The caller frees it; NULL with an error. */
static char *header(const char *path, size_t *ret_n, struct diags *diags)
{
    unsigned char length[LENGTH_BYTES] = {0};
    uint64_t n = 0;
    FILE *in = fopen(path, "rb");
    if (!in) {
        diags_input(diags, (struct srcloc){.file = path}, NULL, NULL, "cannot read the file");
        return NULL;
    }
    const bool any = fread(length, 1, sizeof length, in) == sizeof length;
    for (size_t i = LENGTH_BYTES; i-- > 0;) n = n << 8 | length[i];
    char *ret = NULL;
    if (!any || n < 2 || n > HEADER_MOST)
        wrong(path, diags, "it does not begin with the length of a header");
    else
        ret = xcalloc((size_t)n + 1, 1);
    if (ret && fread(ret, 1, (size_t)n, in) != n) {
        wrong(path, diags, "its header goes on behind its end");
        free(ret);
        ret = NULL;
    }
    fclose(in);
    *ret_n = (size_t)n;
    return ret;
}

bool llm_safetensors_read(const char *path, json_t *tensors, struct diags *diags)
{
    size_t n;
    char *text = header(path, &n, diags);
    if (!text) return false;
    json_error_t error;
    json_t *root = json_loadb(text, n, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error), *entry;
    const char *name;
    bool ok = json_is_object(root) || wrong(path, diags, "its header is no object");
    json_object_foreach(root, name, entry)
    {
        if (ok && strcmp(name, "__metadata__") != 0) ok = add(path, name, entry, tensors, diags);
    }
    json_decref(root);
    free(text);
    return ok;
}
