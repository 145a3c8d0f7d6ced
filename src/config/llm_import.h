/* An LLM from the configuration that its weights come with: config.json of Hugging Face transformers. */
#ifndef DSE_CONFIG_LLM_IMPORT_H
#define DSE_CONFIG_LLM_IMPORT_H

#include "base/diag.h"
#include "base/text.h"

#include <dse/catalog.h>

/* What is said beside the shape. Lines end in a newline. */
struct llm_said {
    struct text names[DSE_LAYER_KINDS_MAX]; /* of kinds of layers, which the LLM points to */
    struct text notes;    /* keys that were not there and what their architecture has by default, and what is in no count */
    struct text formats;  /* formats of weights, activations and caches that the files name, and the settings nearest to them */
    struct text left_out; /* keys that were not read although they may change a count, with commas between; empty: none */
};
void llm_said_init(struct llm_said *said);
void llm_said_release(struct llm_said *said);

/* Read a config.json, a params.json of Mistral or Meta, or a GGUF into *ret, resolved, whose entry has no name, source or title
 * yet. Beside a config.json its hf_quant_config.json, its model.safetensors.index.json and the headers of its .safetensors are
 * read; or, where `weights` is not NULL, the header of that .safetensors or GGUF. False with errors at line and column: no JSON,
 * no causal LLM (architectures), an architecture or keys that are not known, a key that is missing, numbers that contradict each
 * other or are beyond what an entry of the catalog may have. With `approximate` what is not known is left out, and the shape is
 * marked if there is such a thing (details.approximate). */
bool llm_import(const char *path, const char *weights, bool approximate, struct dse_llm *ret, struct llm_said *said,
                struct diags *diags);

#endif
