/* The inside of binding: values from TOML nodes, shared by bind.c (which parameter) and bind_value.c (which values). */
#ifndef DSE_CONFIG_BIND_INTERNAL_H
#define DSE_CONFIG_BIND_INTERNAL_H

#include "config/bind.h"

/* Read one scalar node as a value of field f, and check its type, its range, or the catalog name or choice. `what` names its place
 * in a list ("third of the list") or is NULL. False with an error at the node. */
bool bind_scalar(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                 const char *what, struct value *ret, struct diags *diags);
/* Read a scalar, list or range node as values of f. On success all of g but is_given and loc is filled in, and the caller frees
 * g->values. */
bool bind_values(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                 struct given *g, struct diags *diags);

/* Is s a bare word, which stands for a name on a command line? */
bool bind_is_bare_word(const char *s);

#endif
