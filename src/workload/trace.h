/* Traces: q, k and v of layers x heads x positions in one file, read through a memory map. docs/traces.md has the format.
 *
 * A file is a header, then [layer][head][q|k|v][n][d] little-endian fp16 or fp32. The header has a magic number, a version, the shape, the
 * layers and heads of the model it came from, the model's name, a source, and a checksum (FNV-1a 64 of the header and the data).
 */
#ifndef DSE_WORKLOAD_TRACE_H
#define DSE_WORKLOAD_TRACE_H

#include "base/diag.h"
#include "workload/head.h"

#include <stdint.h>

struct trace_info {
    const char *model;                   /* "tinyllama-1.1b" */
    const char *source;                  /* where it comes from */
    size_t layers, heads;                /* in the file */
    const int32_t *layer_ids, *head_ids; /* of the model: layers and heads long */
    size_t n, d;
    int bits;      /* 16 or 32 */
    uint64_t hash; /* the checksum: names the trace in profiles */
};

struct trace;

/* Open and check a trace. NULL with errors: not a trace, another version, truncated, a checksum that does not match. */
struct trace *trace_open(const char *path, struct diags *diags);
void trace_close(struct trace *t);
const struct trace_info *trace_info(const struct trace *t);
/* One head, converted to float; layer and head count within the file. False with an error when a value is not finite (it names layer,
 * head, which of q, k, v, position and element). The caller releases it. */
bool trace_head(const struct trace *t, size_t layer, size_t head, struct head *ret, struct diags *diags);

/* Write a trace: head by head, pulled in the order of the file; hash and strings of info are not read back. To a temporary file, then
 * renamed: nothing is left behind on failure. */
typedef bool (*trace_pull)(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags);
bool trace_write(const char *path, const struct trace_info *info, trace_pull pull, void *user, struct diags *diags);

#endif
