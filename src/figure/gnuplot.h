/* Running gnuplot: commands in, a picture out, no shell in between. */
#ifndef DSE_FIGURE_GNUPLOT_H
#define DSE_FIGURE_GNUPLOT_H

#include "base/diag.h"
#include "base/text.h"

/* Is gnuplot on the PATH? An error that names the package if not. */
bool gnuplot_check(struct diags *diags);
/* Give n bytes of commands and inline data to gnuplot's standard input and collect what it writes to its standard output in *ret
 * (initialised by the caller). gnuplot is found through PATH at each call, reads no start-up file, and runs in a locale of its
 * own. False, with gnuplot's own words in the error, when it is missing, fails, dies, writes nothing or too much, or takes longer
 * than $DSE_GNUPLOT_SECONDS (300); the caller is never hit by SIGPIPE, and gnuplot ends when the caller does. */
bool gnuplot_run(const char *script, size_t n, struct text *ret, struct diags *diags);

#endif
