/* Traces: q, k and v of layers x heads x positions in one file, read through a memory map. docs/reference/trace-file.md has the
 * format.
 *
 * A file is a header, then for each layer and query head q, and k and v of the head's group, little-endian fp16 or fp32, then a
 * checksum (FNV-1a 64 of all bytes before it). The header has a magic number, a version, the shape, the layers and heads of the
 * model it came from, the model's name and a source.
 *
 * Query heads of a group (grouped queries) share k and v, which are in the file once, with the group's first head. A long context
 * may have q of some steps alone; k and v are always of all positions. A file in which every head has its own k and v and q of
 * every step is of version 1, any other of version 2.
 *
 * A trace may be read by several threads. As with every mapped file, who shortens it while it is open ends the process;
 * trace_write and whatever else replaces a file by renaming does no harm.
 */
#ifndef DSE_ATTENTION_TRACE_H
#define DSE_ATTENTION_TRACE_H

#include "attention/head.h"
#include "base/diag.h"

#include <stdint.h>

/* Bounds of a shape. Any shape within them has a size that fits 64 bits. */
enum {
    TRACE_LAYERS_MAX = 1024,
    TRACE_HEADS_MAX = 1024,
    TRACE_POSITIONS_MAX = 1 << 24,
    TRACE_DIM_MAX = 4096,
    TRACE_TEXT_MAX = 4096, /* bytes of the model's name, of the source */
};

struct trace_info {
    const char *model;                   /* "tinyllama-1.1b" */
    const char *source;                  /* where it comes from */
    size_t layers, heads;                /* in the file */
    const int32_t *layer_ids, *head_ids; /* of the model: layers and heads long; none twice */
    size_t n, d;
    int bits;             /* 16 or 32 */
    size_t kv_heads;      /* groups of heads that share k and v. trace_open sets it; otherwise read with kv_of alone */
    const int32_t *kv_of; /* the group of each head, 0-based, counted in order of their first heads; NULL: each head has its own */
    size_t n_steps;       /* steps that have q; as kv_heads */
    const int32_t *steps; /* they, growing; NULL: all of 0..n-1 */
    uint64_t hash;        /* the checksum: names the trace in profiles */
};

struct trace;

/* Open and check a trace. NULL with one error: not a trace, another version, an impossible shape, truncated, a checksum that does
 * not match. It reads the whole file once. */
struct trace *trace_open(const char *path, struct diags *diags);
void trace_close(struct trace *t);
/* Valid until trace_close. */
const struct trace_info *trace_info(const struct trace *t);
/* One head, converted to float; layer and head count within the file. False with an error when there is no such head or a value
 * is not finite (it names layer, head, which of q, k, v, position and element). The caller releases it. ret->steps is the trace's.
 */
bool trace_head_sampled(const struct trace *t, size_t layer, size_t head, struct head *ret, struct diags *diags);
/* The same for who follows every step: refuses a trace that has q of some steps alone. */
bool trace_head(const struct trace *t, size_t layer, size_t head, struct head *ret, struct diags *diags);

/* Groups of heads and steps with q of an info, whether they are given or NULL. */
size_t trace_kv_heads(const struct trace_info *info);
size_t trace_kv_of(const struct trace_info *info, size_t head);
size_t trace_steps(const struct trace_info *info);
/* The position of step i, of those with q. */
size_t trace_step(const struct trace_info *info, size_t i);

/* Is this the shape, names and numbers of a trace? False with an error about `loc` for each thing that is wrong. */
bool trace_check(const struct trace_info *info, struct srcloc loc, struct diags *diags);
/* Bytes of a trace's header, and of its values. Only for an info that trace_check holds right. */
uint64_t trace_header_bytes(const struct trace_info *info);
uint64_t trace_value_bytes(const struct trace_info *info);

/* Write a trace: head by head, pulled in the order of the file; hash and strings of info are not read back. Of a
 * head that is not the first of its group k and v are not looked at, and may be NULL; q has a row for each step with q. To a
 * temporary file, then renamed: nothing is left behind on failure. Refuses a head of another shape, values that are not finite, and
 * with 16 bits values that have no finite half. `pull` makes the head that trace_write releases, or returns false with an error. */
typedef bool (*trace_pull)(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags);
bool trace_write(const char *path, const struct trace_info *info, trace_pull pull, void *user, struct diags *diags);

#endif
