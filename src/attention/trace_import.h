/* Making traces from what other programs write: plain arrays and CSV. docs/reference/trace-file.md and `dse trace --help` have the
 * formats. */
#ifndef DSE_ATTENTION_TRACE_IMPORT_H
#define DSE_ATTENTION_TRACE_IMPORT_H

#include "attention/trace.h"

/* What of the input becomes the trace: layers and heads of the model, in this order (none: all), and the first positions (0: all).
 */
struct trace_pick {
    const int32_t *layer_ids, *head_ids;
    size_t layers, heads;
    size_t first;
};

/* An array [layer][head][q|k|v][n][d] without a header, little-endian; `array` tells its shape, and model and source of the
 * trace. False with errors: a size that does not fit, layers or heads that it does not have, a value that is not finite. Values
 * that look like those of another type or shape are warned of (trace_guess.h). */
bool trace_import_raw(const char *from, const struct trace_info *array, const struct trace_pick *pick, const char *to,
                      struct diags *diags);

/* CSV with the header layer,head,which,position,... and d further columns: a row is q, k or v (`which`) of a position. The rows
 * may come in any order, but none may be missing or there twice. Lines that start with '#' are comments. Of `wanted` model,
 * source and bits are read. False with one error, with its line. */
bool trace_import_csv(const char *from, const struct trace_info *wanted, const struct trace_pick *pick, const char *to,
                      struct diags *diags);

#endif
