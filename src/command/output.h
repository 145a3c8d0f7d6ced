/* Rows on stdout as a table for people (libsmartcols), CSV (libcsv) or JSON. */
#ifndef DSE_COMMAND_OUTPUT_H
#define DSE_COMMAND_OUTPUT_H

#include "command/command.h"

#include <stdint.h>
#include <stdio.h>

enum output_format { OUTPUT_TABLE, OUTPUT_CSV, OUTPUT_JSON };

struct output;

/* Read --format. False with an error for an unknown one. */
bool output_parse_format(const struct invocation *in, enum output_format *ret);

/* Start rows of these columns. Names are copied. */
struct output *output_new(FILE *out, enum output_format format, const char *const *columns, size_t n);
/* The cells of a row, left to right; a row is complete with its last cell. A NULL text and a NaN are empty (CSV, table) or null
 * (JSON). */
void output_text(struct output *o, const char *s);
/* The same as output_text, in the colour of an escape sequence ("\033[32m"; NULL: none) where the stream wants colour. */
void output_coloured(struct output *o, const char *s, const char *colour);
void output_f64(struct output *o, double v);
void output_i64(struct output *o, int64_t v);
/* Finish and free. Returns false when writing failed (a full disk, a closed pipe). */
bool output_end(struct output *o);

#endif
