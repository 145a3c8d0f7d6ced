/* Between toml++ and C: the parser calls back with every node in the order of the file. Internal to src/config. */
#ifndef DSE_CONFIG_TOML_SHIM_H
#define DSE_CONFIG_TOML_SHIM_H

#include "config/toml.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parse text[0..n) into *ret_root (to be released with toml_node_release, whatever comes back). On a syntax error returns false
 * with the place and a message that the caller frees. */
bool toml_shim_parse(const char *text, size_t n, struct toml_node *ret_root, int *ret_line, int *ret_column, char **ret_message);

/* Free what a node owns, and the nodes below it. */
void toml_node_release(struct toml_node *node);

#ifdef __cplusplus
}
#endif

#endif
