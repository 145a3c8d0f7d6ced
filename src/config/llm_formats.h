/* Internal to the import of LLMs: in which formats the weights of a checkpoint are, its caches and its activations. The weights'
 * formats go into the LLM, by class. Lines say, too, which one width of all weights comes nearest. */
#ifndef DSE_CONFIG_LLM_FORMATS_H
#define DSE_CONFIG_LLM_FORMATS_H

#include "config/llm_config.h"

/* Fill llm->formats, and add lines about quantization_config (by its other names, too), the hf_quant_config.json and the
 * model.safetensors.index.json beside the file; none where there is none of them. False with an error: one that cannot be read. */
bool llm_find_formats(struct llm_config *c, struct dse_llm *llm, struct text *ret);

#endif
