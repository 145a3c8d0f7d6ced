/* Internal to the import of LLMs: in which formats the weights of a checkpoint are, its caches and its activations. The shape of an
 * LLM has none: they are settings of a step, one width for all weights. So the import says what it found and what comes nearest. */
#ifndef DSE_CONFIG_LLM_FORMATS_H
#define DSE_CONFIG_LLM_FORMATS_H

#include "config/llm_config.h"

/* Add lines about quantization_config (by its other names, too) and about the hf_quant_config.json beside the file; none where
 * there is neither. False with an error: a hf_quant_config.json that cannot be read. */
bool llm_find_formats(struct llm_config *c, struct text *ret);

#endif
