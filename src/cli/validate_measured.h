/* dse validate --measured: the models against machines that somebody measured. */
#ifndef DSE_CLI_VALIDATE_MEASURED_H
#define DSE_CLI_VALIDATE_MEASURED_H

#include "command/output.h"

/* Answer and print the rows of the models named as operands, or of all. Returns the exit status. */
int validate_measured(const struct invocation *in, enum output_format format);

#endif
