/* A plug-in is foreign code: what runs when it is loaded may crash or not end. So it is loaded in a child first. */
#ifndef DSE_MODEL_PLUGIN_TRY_H
#define DSE_MODEL_PLUGIN_TRY_H

#include "base/diag.h"

/* Load the file in a child, by `load`, whose result does not matter: false, with an error that names the file, when the file is cut
 * short, or when the child crashes, ends or takes longer than it may. */
bool plugin_try(const char *file, bool (*load)(const char *file, struct diags *diags), struct diags *diags);

#endif
