/* `dse eval`: what a point loses of attention's output, where that is too much to go unsaid. */
#ifndef DSE_CLI_EVAL_QUALITY_H
#define DSE_CLI_EVAL_QUALITY_H

#include "cli/eval_print.h"

/* Say on stderr, in one line, that the feasible point's attention_error is beyond 0.1 or that nobody knows it, and which single
 * setting makes attention exact, if one does. `assignments` are those of --set. Nothing is said of a point that is exact or within
 * 0.1, nor of a model that does not say what it loses. */
void eval_say_quality(const struct eval_answer *a, const char *const *assignments, size_t n);

#endif
