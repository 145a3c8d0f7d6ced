/* Internal to the import of LLMs: the tensors of a checkpoint, whose bytes are the truth about its formats. */
#ifndef DSE_CONFIG_LLM_TENSORS_H
#define DSE_CONFIG_LLM_TENSORS_H

#include "config/llm_config.h"

/* Where c->tensors is a list (llm_headers.h), set the bits of each class of llm->formats by what its tensors take, and say what
 * there is, what is no part of the LLM, and whether their sum is what is counted. False with an error: a class has another number
 * of weights than the configuration says (with --approximate a note). */
bool llm_fill_from_tensors(struct llm_config *c, struct dse_llm *llm, struct text *ret);

/* The layer of a tensor, by its name: "model.layers.3.mlp", "blk.3.ffn_up": 3; -1: of no layer. */
long llm_layer_of_tensor(const char *name);

/* What an index names that is no part of the LLM: a line for each group of tensors. */
void llm_say_left_out(struct json_t *weight_map, const struct dse_llm *llm, struct text *ret);

/* The headers of the .safetensors that an index beside a config.json names, or of the one file beside it, into c->tensors; none
 * where they are not all there. False with an error: one that cannot be read. */
bool llm_read_headers_beside(struct llm_config *c);

#endif
