/* Plug-ins: models in shared objects (include/dse/plugin.h), added to the registry. */
#ifndef DSE_MODEL_PLUGIN_H
#define DSE_MODEL_PLUGIN_H

#include "base/diag.h"
#include "model/registry.h"

/* Load a plug-in and add its models. A file that is loaded already is left alone. False with errors: not there, cut short, no
 * plug-in, of other headers, a model that exists, names that are taken, a crash in a child that loads it first, another file than
 * was loaded from there. Not thread-safe, as the registry. */
bool plugin_load(const char *file, struct diags *diags);
/* Say that a file of a model, of any kind, is not what was loaded from there. Always false. */
bool plugin_changed(const char *file, struct diags *diags);
/* The model that was added from this file, or NULL: none. */
const struct model *plugin_model(const char *file);

/* In a crash: which plug-in's model was being called, of the addresses of a stack, innermost first, and in which of its
 * functions ("check"). NULL: none. Safe in a handler of signals. */
const struct model *plugin_at_fault(void *const *stack, int n, const char **ret_function);

#endif
