/* Kinds of layers that an LLM's entry has of its own:
 *
 *     layer_kinds = ["local*5", "global"]
 *     [llms.NAME.kinds.local]
 *     attention = "window"
 *     attention_window = 128
 *     [llms.NAME.kinds.global]
 *     kv_heads = 4
 *
 * What a kind does not say is that of the LLM. */
#ifndef DSE_CONFIG_CATALOG_KINDS_H
#define DSE_CONFIG_CATALOG_KINDS_H

#include "base/text.h"
#include "config/catalog.h"
#include "config/toml.h"

#include <dse/catalog.h>

/* Keys of the entry's table that stand for kinds: "layer_kinds", "kinds", NULL. */
extern const char *const catalog_kind_keys[];
/* Read them into an LLM, before it is resolved. False with errors. */
bool catalog_read_kinds(struct catalog *c, struct dse_llm *llm, const struct toml_doc *doc, const struct toml_node *table,
                        struct diags *diags);
/* Say of each kind which numbers are its own: those that are not the LLM's. For who fills kinds without a table. */
void catalog_own_kinds(struct dse_llm *llm);
/* Do both have the same kinds of layers? */
bool catalog_same_kinds(const struct dse_llm *a, const struct dse_llm *b);
/* `layer_kinds = [...]`, a line; nothing where the entry has no kinds of its own. */
void catalog_write_layer_kinds(const struct dse_llm *llm, struct text *ret);
/* A table a kind, below the table `path` ("llms.mine"). */
void catalog_write_kinds(const struct dse_llm *llm, const char *path, struct text *ret);

#endif
