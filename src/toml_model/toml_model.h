/* A model that is a file: parameters, equations and metrics in TOML (docs/reference/model-in-toml.md). The file is read once, its
 * formulas become programs (machine.h), and a descriptor is made that nothing else can tell from that of a model in C. */
#ifndef DSE_TOML_MODEL_TOML_MODEL_H
#define DSE_TOML_MODEL_TOML_MODEL_H

#include "base/diag.h"
#include "model/registry.h"

/* Is it the name of such a file, not of a shared object? */
bool toml_model_is_file(const char *file);
/* Read the file and add its model to the registry, once. Not thread-safe, as registry_add. False with errors added. */
bool toml_model_load(const char *file, struct diags *diags);
/* Read the text of a file and forget it again: is it a model? `name` stands for the file in messages. */
bool toml_model_check(const char *name, const char *text, size_t n, struct diags *diags);

/* The model that a file of any kind holds, a plug-in or one in TOML; these go through plugin.h. */
bool model_load(const char *file, struct diags *diags);
/* Load those that $DSE_PLUGINS names, with colons between them, and then those of data_dir/models/ and of the folder
 * `lib/dse/plugins` under the prefix that data_dir (PREFIX/share/dse) is installed in. False with errors of the former; the latter
 * give warnings. */
bool model_load_all(const char *data_dir, struct diags *diags);

#endif
