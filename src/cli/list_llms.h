/* dse list llms: the shapes, and what they hold and do. */
#ifndef DSE_CLI_LIST_LLMS_H
#define DSE_CLI_LIST_LLMS_H

#include "command/command.h"
#include "command/output.h"
#include "config/catalog.h"
#include "desc/schema.h"

/* As a table one LLM a line, its weights, cache and operations; with exactly one named, its counts over the context. CSV and JSON
 * have every field of every entry besides. Names in the operands exist. `put` prints one
 * field of an entry. */
void list_llms(const struct invocation *in, const struct catalog *c, enum output_format format,
               void (*put)(struct output *, const struct field *, const struct dse_entry *));

#endif
