/* `dse eval --sensitivity`: how much metrics of a point change with its parameters and constants. */
#ifndef DSE_CLI_EVAL_SENSITIVITY_H
#define DSE_CLI_EVAL_SENSITIVITY_H

#include "cli/eval_print.h"

/* False with errors: --metric names what is none, or stands without --sensitivity; event level has no sensitivity. */
bool sensitivity_options_allowed(const struct invocation *in, const struct model *model, enum fidelity fidelity);
/* For people the first metric of each group, or those of --metric, without small numbers unless --all is given; for programs all
 * numbers of all metrics, or of those of --metric. */
void eval_print_sensitivity(const struct eval_answer *a, const struct invocation *in, enum output_format format);

#endif
