/* What the reader and the writer of traces share: the layout of the header. docs/traces.md has it as a table.
 *
 *     magic 8 | version u32 | bits u32 | layers u32 | heads u32 | n u32 | d u32 | model bytes u32 | source bytes u32      40 bytes
 *     layer ids i32... | head ids i32... | model | source | zeros up to a multiple of 64
 *     values
 *     checksum u64
 */
#ifndef DSE_WORKLOAD_TRACE_FORMAT_H
#define DSE_WORKLOAD_TRACE_FORMAT_H

#include "workload/trace_import.h"

#include <string.h>

enum { TRACE_VERSION = 1, TRACE_FIXED_BYTES = 40, TRACE_ALIGNMENT = 64, TRACE_CHECKSUM_BYTES = 8 };

/* The first bytes of a trace. Like PNG's, they do not survive a transfer as text, with 7 bits or with other line ends. */
static const char trace_magic[8] = {(char)0x89, 'D', 'S', 'E', '\r', '\n', (char)0x1a, '\n'};
static const char trace_matrices[3] = {'q', 'k', 'v'};

static inline uint32_t get_le32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint16_t get_le16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline void put_le32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static inline void put_le16(unsigned char *p, uint16_t v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

/* One matrix of a head: which head and matrix it is, its shape and its bits. */
struct trace_matrix {
    int32_t layer, head;
    char which;
    size_t n, d;
    int bits;
};
/* The values of a matrix as they stand in a file. False with an error about `loc` at the first that is not finite. */
bool trace_get_matrix(const unsigned char *p, const struct trace_matrix *m, float *ret, struct srcloc loc, struct diags *diags);

/* What a pick makes of an input: *ret is `of` with the layers, heads and positions that are picked. False with errors about `loc`.
 */
bool trace_pick_apply(const struct trace_pick *pick, const struct trace_info *of, struct trace_info *ret, struct srcloc loc,
                      struct diags *diags);

#endif
