/* numpy's .npy:
 *
 *     "\x93NUMPY" | major u8 | minor u8 | length of the header: u16 (version 1), u32 (versions 2 and 3) | header | values
 *
 * The header is a Python dictionary, spaces and a newline:
 *
 *     dict  = "{" [ entry { "," entry } [ "," ] ] "}"       entry = text ":" ( text | "True" | "False" | shape )
 *     shape = "(" [ number { "," number } [ "," ] ] ")"     text  = "'" {character} "'" | '"' {character} '"'
 *
 * with the keys descr ('<f4': order of bytes, kind, bytes), fortran_order and shape, each once.
 */
#include "attention/array.h"
#include "attention/little_endian.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC = 6, TEXT_MOST = 64, HEADER_MOST = 1 << 16 };

struct header {
    struct srcloc loc;
    struct diags *diags;
    const char *text, *end, *at;
    char descr[TEXT_MOST + 1];
    bool fortran_order, has_descr, has_order, has_shape;
    size_t n_dims;
    uint64_t dims[ARRAY_DIMS_MAX];
};

/* An error at the place that is being read. */
static bool wrong(const struct header *h, const char *what)
{
    return diags_input(h->diags, h->loc, NULL,
                       "the header is {'descr': '<f4', 'fortran_order': False, 'shape': (2, 8, 1024, 64), }",
                       "its header, at byte %td: %s", h->at - h->text, what);
}

static void skip_spaces(struct header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n')) h->at++;
}

/* Is this the next character? Then it is read. */
static bool take(struct header *h, char c)
{
    skip_spaces(h);
    if (h->at == h->end || *h->at != c) return false;
    h->at++;
    return true;
}

static bool read_text(struct header *h, char ret[static TEXT_MOST + 1])
{
    skip_spaces(h);
    char quote = h->at < h->end ? *h->at : 0;
    if (quote != '\'' && quote != '"')
        return wrong(h, quote == '[' ? "is a list; records of several fields are not read" : "a text in quotes is needed");
    const char *from = h->at + 1, *to = memchr(from, quote, (size_t)(h->end - from));
    if (!to || to - from > TEXT_MOST) return wrong(h, "a text does not end, or is too long");
    memcpy(ret, from, (size_t)(to - from));
    ret[to - from] = 0;
    h->at = to + 1;
    return true;
}

static bool read_order(struct header *h)
{
    skip_spaces(h);
    size_t left = (size_t)(h->end - h->at);
    h->fortran_order = left >= 4 && memcmp(h->at, "True", 4) == 0;
    if (!h->fortran_order && (left < 5 || memcmp(h->at, "False", 5) != 0))
        return wrong(h, "fortran_order is neither True nor False");
    h->at += h->fortran_order ? 4 : 5;
    return true;
}

static bool read_number(struct header *h, uint64_t *ret)
{
    skip_spaces(h);
    const char *from = h->at;
    *ret = 0;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(*ret, (uint64_t)10, ret) || __builtin_add_overflow(*ret, (uint64_t)(*h->at - '0'), ret))
            return wrong(h, "a number of the shape is too large");
    return h->at > from || wrong(h, "shape: a number is needed");
}

static bool read_shape(struct header *h)
{
    if (!take(h, '(')) return wrong(h, "shape: ( is needed");
    while (!take(h, ')')) {
        if (h->n_dims == ARRAY_DIMS_MAX) return wrong(h, "shape: more dimensions than are read");
        if (!read_number(h, &h->dims[h->n_dims++])) return false;
        if (take(h, ',')) continue;
        if (!take(h, ')')) return wrong(h, "shape: , or ) is needed");
        return true;
    }
    return true;
}

static bool read_entry(struct header *h)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool *const has[] = {&h->has_descr, &h->has_order, &h->has_shape};
    char key[TEXT_MOST + 1];
    if (!read_text(h, key)) return false;
    size_t k = 0;
    while (k < 3 && strcmp(key, keys[k]) != 0) k++;
    if (k == 3) return wrong(h, "a key that is none of descr, fortran_order, shape");
    if (*has[k]) return wrong(h, "a key is there twice");
    *has[k] = true;
    if (!take(h, ':')) return wrong(h, ": is needed");
    return k == 0 ? read_text(h, h->descr) : k == 1 ? read_order(h) : read_shape(h);
}

static bool read_dict(struct header *h)
{
    if (!take(h, '{')) return wrong(h, "{ is needed");
    while (!take(h, '}')) {
        if (!read_entry(h)) return false;
        if (take(h, ',')) continue;
        if (!take(h, '}')) return wrong(h, ", or } is needed");
        break;
    }
    skip_spaces(h);
    if (h->at < h->end) return wrong(h, "something follows the dictionary");
    if (!h->has_descr || !h->has_order || !h->has_shape) return wrong(h, "descr, fortran_order or shape is missing");
    return true;
}

/* The type that '<f4' says. */
static bool read_type(const struct header *h, bool bf16, enum array_type *ret)
{
    static const struct {
        const char *descr;
        enum array_type type;
        bool as_bf16;
    } known[] = {{"<f2", ARRAY_F16, false}, {"<f4", ARRAY_F32, false}, {"<i4", ARRAY_I32, false}, {"<i8", ARRAY_I64, false},
                 {"<u2", ARRAY_BF16, true}, {"<i2", ARRAY_BF16, true}, {"<V2", ARRAY_BF16, true}, {"|V2", ARRAY_BF16, true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(h->descr, known[i].descr) != 0) continue;
        if (known[i].as_bf16 && !bf16)
            return diags_input(h->diags, h->loc, NULL, "--bf16 reads them as such",
                               "has values of type '%s', which are numbers of attention only as the bits of bf16", h->descr);
        *ret = known[i].type;
        return true;
    }
    bool big = h->descr[0] == '>';
    return diags_input(h->diags, h->loc, NULL, "write it with array.astype('<f4') or '<f2'",
                       "has values of type '%s'%s; '<f2', '<f4' and bf16 are read", h->descr, big ? ", which is big-endian" : "");
}

/* Where the values begin, when the file has that much of a header. */
static bool find_header(const struct mapped *m, struct header *h, size_t *ret_values)
{
    static const char magic[MAGIC] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (m->size < MAGIC + 4 || memcmp(m->bytes, magic, MAGIC) != 0)
        return diags_input(h->diags, h->loc, NULL, NULL, "is not a .npy file%s", m->size ? "" : ": it is empty");
    unsigned major = m->bytes[MAGIC], minor = m->bytes[MAGIC + 1];
    if (major < 1 || major > 3 || minor > 0)
        return diags_input(h->diags, h->loc, NULL, NULL, "is a .npy file of version %u.%u; 1.0, 2.0 and 3.0 are read", major,
                           minor);
    size_t from = MAGIC + (major == 1 ? 4 : 6);
    if (m->size < from) return diags_input(h->diags, h->loc, NULL, NULL, "is truncated in its header");
    uint32_t length = major == 1 ? get_le16(m->bytes + MAGIC + 2) : get_le32(m->bytes + MAGIC + 2);
    if (length > m->size - from)
        return diags_input(h->diags, h->loc, NULL, NULL, "has %zu bytes; its header alone is said to have %lu", m->size,
                           (unsigned long)length);
    if (length > HEADER_MOST)
        return diags_input(h->diags, h->loc, NULL, NULL, "has a header of %lu bytes; %d are the most", (unsigned long)length,
                           HEADER_MOST);
    h->text = h->at = (const char *)m->bytes + from;
    h->end = h->text + length;
    *ret_values = from + length;
    return true;
}

bool array_read_npy(const struct mapped *m, const char *name, bool bf16, struct array *ret, struct diags *diags)
{
    struct header h = {.loc = {.file = m->path}, .diags = diags};
    size_t from = 0;
    *ret = (struct array){.file = m->path, .name = name};
    if (!find_header(m, &h, &from) || !read_dict(&h) || !read_type(&h, bf16, &ret->type)) return false;
    if (h.fortran_order)
        return diags_input(diags, h.loc, NULL, "write it with numpy.ascontiguousarray(array)",
                           "is in Fortran order; C order, the last index fastest, is read");
    ret->n_dims = h.n_dims;
    memcpy(ret->dims, h.dims, sizeof h.dims);
    ret->bytes = m->bytes + from;
    uint64_t bytes, there = m->size - from;
    bool fits = array_bytes(h.dims, h.n_dims, array_type_bytes(ret->type), &bytes);
    if (fits && bytes == there) return true;
    char shape[ARRAY_SHAPE_TEXT];
    return diags_input(diags, h.loc, NULL, NULL, "has %llu bytes of values; %s of %s asks for %s%llu", (unsigned long long)there,
                       array_shape_text(ret, shape), array_type_name(ret->type), fits ? "" : "more than ",
                       fits ? (unsigned long long)bytes : ~0ULL);
}
