/* A model by the name the user gave. */
#ifndef DSE_CLI_MODEL_FIND_H
#define DSE_CLI_MODEL_FIND_H

#include "command/command.h"
#include "model/registry.h"

/* The model of that name; NULL with a usage error that names the nearest one. */
const struct model *model_find(const struct invocation *in, const char *name);

#endif
