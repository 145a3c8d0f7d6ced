/* Internal to the import of LLMs: which classes of weights a checkpoint holds in the format that its configuration names. */
#ifndef DSE_CONFIG_LLM_CLASSES_H
#define DSE_CONFIG_LLM_CLASSES_H

#include "config/llm_scales.h"

#include <stdbool.h>

/* The list of modules that a configuration leaves as they are, or NULL. */
const struct json_t *llm_exceptions(const struct json_t *quantization);

/* The class of a tensor's weights by its name, in files of transformers or GGUF; -1: none that is known. */
int llm_class_of_tensor(const char *name);

/* Matrices that the method quantises have this format: those of the modules that `targets` names or, where it is NULL, those of all
 * layers but routers, of experts alone (MXFP4), or all (MLX). Other classes stay as they are, and so do those whose modules are all
 * left unquantised. False: a part of some class is, so its bits are not right for all of it. */
bool llm_fill_classes(const struct json_t *quantization, const struct json_t *targets, const char *method,
                      const struct llm_format *format, struct llm_filled *ret);
/* Is a tensor or module no part of the text model, by its name: vision, sound, layers that draft? */
bool llm_is_beside(const char *name);

#endif
