/* Is a file without a header what its reader was told it is? Values of attention tell: those of a type all lie within a few
 * powers of two of each other, and each element of a vector has a mean of its own. Both are lost when bytes are read as another
 * type or in rows of another length.
 */
#ifndef DSE_ATTENTION_TRACE_GUESS_H
#define DSE_ATTENTION_TRACE_GUESS_H

#include "attention/trace.h"

#include <stdio.h>

/* Warn when the values of an open array of that shape look like those of another type, or like rows of another dimension, and say
 * what would fit. Random numbers look like nothing, and are not warned of. */
void trace_guess(int fd, const struct trace_info *array, struct srcloc loc, struct diags *diags);
/* What of the shape, changed alone, would have so many bytes: "--positions 4096, --dim 128 or --bits 32"; NULL: nothing. The
 * caller frees it. */
char *trace_fits(const struct trace_info *array, uint64_t bytes);

#endif
