/* anchors.toml: what the generator of synthetic attention is fitted to. catalog/anchors.toml is the one that ships, and shows the
 * format. */
#ifndef DSE_ATTENTION_ANCHORS_FILE_H
#define DSE_ATTENTION_ANCHORS_FILE_H

#include "attention/generator_fit.h"
#include "config/toml.h"

/* Read a file of anchors. False with all errors of the file; the caller releases *ret with anchor_set_release. */
bool anchors_read_file(const char *path, struct anchor_set *ret, struct diags *diags);

/* Give a parameter of the generator by "NAME=VALUE". False with an error: no such parameter, not a number, out of range. */
bool generator_set_text(struct generator *g, const char *assignment, struct diags *diags);
/* Give those that a table has. False with an error for each that is none; the others are given. */
bool generator_set_table(struct generator *g, const struct toml_doc *doc, const struct toml_node *table, struct diags *diags);

#endif
