/* Traces from arrays with shapes: q, k and v of [layers][heads][positions][elements], whichever file they are of (array.h). */
#ifndef DSE_ATTENTION_TRACE_ARRAYS_H
#define DSE_ATTENTION_TRACE_ARRAYS_H

#include "attention/array.h"
#include "attention/trace_import.h"

/* Three or four dimensions each, without the first it is one layer. k and v have the heads of the cache: query head i has the keys
 * of head i / (query heads / KV heads), as grouped queries do. q has a row for each step of `wanted`, or for each position. */
struct trace_arrays {
    struct array q, k, v;
};

/* The steps of an array of integers, one dimension; NULL with an error. The caller frees them. */
int32_t *trace_array_steps(const struct array *a, size_t *ret_n, struct diags *diags);

/* Of `wanted` are read: model, source; bits (0: 16 when all arrays are fp16, else 32); layer_ids and head_ids with their numbers
 * (0: counted from 0); steps with n_steps (NULL: all positions). False with errors: shapes that do not belong together, a value
 * that is not finite or too large for the bits. */
bool trace_import_arrays(const struct trace_arrays *a, const struct trace_info *wanted, const struct trace_pick *pick,
                         const char *to, struct diags *diags);

#endif
