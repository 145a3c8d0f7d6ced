/* An LLM from the configuration that its weights come with: config.json of Hugging Face transformers. */
#ifndef DSE_CONFIG_LLM_IMPORT_H
#define DSE_CONFIG_LLM_IMPORT_H

#include "base/diag.h"
#include "base/text.h"

#include <dse/catalog.h>

/* Read a config.json into *ret, resolved, whose entry has no name, source or title yet. *notes, an open text, gets a line for every
 * key that was not there and what its architecture has by default, for what was left out, and for keys that were not read. False
 * with errors at line and column: no JSON, an architecture that is not known (the message has those that are), a key that is
 * missing, numbers that contradict each other or are beyond what an entry of the catalog may have. */
bool llm_import(const char *path, struct dse_llm *ret, struct text *notes, struct diags *diags);

#endif
