/* A plug-in is foreign code: what runs when it is loaded may crash or not end. So it is loaded in a child first. */
#ifndef DSE_MODEL_PLUGIN_TRY_H
#define DSE_MODEL_PLUGIN_TRY_H

#include "base/diag.h"

/* Load the file in a child, by `load`. False, with errors that name the file, when it is cut short, when `load` refuses it, or when
 * the child crashes, ends, closes what the program writes to, or takes more time or memory than it may (base/limits.h). */
bool plugin_try(const char *file, bool (*load)(const char *file, struct diags *diags), struct diags *diags);
/* Call something of a plug-in in a child: false, with an error that begins with `what`, when it takes more time or memory than
 * loading may. What else happens there is left to the same call in this process. */
bool plugin_try_call(const char *file, const char *what, void (*call)(void *user), void *user, struct diags *diags);

#endif
