/* Internal to the import of LLMs: in which formats the weights of a checkpoint are, its caches and its activations. The weights'
 * formats go into the LLM, by class. A step of a model has one width for all weights, so the lines say what comes nearest, too. */
#ifndef DSE_CONFIG_LLM_FORMATS_H
#define DSE_CONFIG_LLM_FORMATS_H

#include "config/llm_config.h"

/* Fill llm->formats, and add lines about quantization_config (by its other names, too), the hf_quant_config.json and the
 * model.safetensors.index.json beside the file; none where there is none of them. False with an error: one that cannot be read. */
bool llm_find_formats(struct llm_config *c, struct dse_llm *llm, struct text *ret);

#endif
