/* Internal to the import of LLMs: configurations of other tools in the words of transformers. */
#ifndef DSE_CONFIG_LLM_TRANSLATE_H
#define DSE_CONFIG_LLM_TRANSLATE_H

#include "config/llm_headers.h"

struct json_t;

/* A params.json of Mistral or Meta: one that has dim and n_layers, and no model_type. */
bool llm_is_params(const struct json_t *root);
/* The same as a config.json; keys that are not known keep their names. The caller frees it. */
struct json_t *llm_from_params(struct json_t *root);

/* The metadata of a GGUF as a config.json, likewise. `tensors`: whether the output head is one of them says whether it is the
 * embedding. NULL with an error: an architecture that is not known here. */
struct json_t *llm_from_gguf(const char *path, struct json_t *metadata, const struct json_t *tensors, struct diags *diags);

#endif
