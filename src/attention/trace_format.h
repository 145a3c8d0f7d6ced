/* What the reader and the writer of traces share: the layout of the header. docs/reference/trace-file.md has it as a table.
 *
 *     magic 8 | version u32 | bits u32 | layers u32 | heads u32 | n u32 | d u32 | model bytes u32 | source bytes u32      40 bytes
 *     version 2: groups u32 | steps u32                                                                                    8 bytes
 *     layer ids i32... | head ids i32... | version 2: group of each head i32... | steps i32..., none when it is all of them
 *     model | source | zeros up to a multiple of 64
 *     values: of each layer and head q, and then, if it is the first of its group, k and v
 *     checksum u64
 */
#ifndef DSE_ATTENTION_TRACE_FORMAT_H
#define DSE_ATTENTION_TRACE_FORMAT_H

#include "attention/little_endian.h"
#include "attention/trace_import.h"

#include <string.h>

enum { TRACE_VERSION = 2, TRACE_FIXED_BYTES = 40, TRACE_GROUPED_BYTES = 8, TRACE_ALIGNMENT = 64, TRACE_CHECKSUM_BYTES = 8 };

/* The first bytes of a trace. Like PNG's, they do not survive a transfer as text, with 7 bits or with other line ends. */
static const char trace_magic[8] = {(char)0x89, 'D', 'S', 'E', '\r', '\n', (char)0x1a, '\n'};
static const char trace_matrices[3] = {'q', 'k', 'v'};

/* False with an error unless v is within 1 to max. */
bool trace_check_number(uint64_t v, uint64_t max, const char *what, struct srcloc loc, struct diags *diags);
/* Version 1 or 2, whichever such a trace is written as. */
int trace_version(const struct trace_info *info);
/* The groups whose first heads are before this one. */
size_t trace_leaders(const struct trace_info *info, size_t head);
/* Is this head the first of its group? */
bool trace_leads(const struct trace_info *info, size_t head);

/* One matrix of a head: which head and matrix it is, its shape and its bits. */
struct trace_matrix {
    int32_t layer, head;
    char which;
    size_t n, d;
    int bits;
    const int32_t *steps; /* the positions of its rows; NULL: 0, 1, 2, ... */
};
/* The values of a matrix as they stand in a file. False with an error about `loc` at the first that is not finite. */
bool trace_get_matrix(const unsigned char *p, const struct trace_matrix *m, float *ret, struct srcloc loc, struct diags *diags);

/* Refuse a value of a matrix that is not finite. */
bool trace_check_finite(const struct trace_matrix *m, const float *values, struct srcloc loc, struct diags *diags);

/* What a pick makes of an input: info is `of` with the layers, heads, positions and steps that are picked. False with errors about
 * `loc`. The caller releases it in either case. */
struct trace_picked {
    struct trace_info info;
    int32_t *kv_of, *steps; /* info's, owned */
};
bool trace_pick_apply(const struct trace_pick *pick, const struct trace_info *of, struct trace_picked *ret, struct srcloc loc,
                      struct diags *diags);
void trace_picked_release(struct trace_picked *p);
/* The place of an id among n; n when it is not there. */
size_t trace_place(const int32_t *ids, size_t n, int32_t id);

#endif
