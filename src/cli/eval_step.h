/* One step of a machine as JSON, for other simulators: docs/schema/step.json. */
#ifndef DSE_CLI_EVAL_STEP_H
#define DSE_CLI_EVAL_STEP_H

#include "cli/eval_print.h"

/* The point, its parts with their time and energy, and the operators of its workload with their shapes, bytes and operations. */
void eval_print_step(const struct eval_answer *a);

#endif
