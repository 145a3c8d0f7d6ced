/* Internal to the import of LLMs: which classes of weights a checkpoint holds in the format that its configuration names, and
 * whether the bytes that follow are those of the index of its files. */
#ifndef DSE_CONFIG_LLM_CLASSES_H
#define DSE_CONFIG_LLM_CLASSES_H

#include "config/llm_config.h"

struct json_t;

/* What a checkpoint's weights, activations and cache take. 0: nothing is said of it. */
struct llm_format {
    double weight_bits, scale_bits; /* of a weight; of scales and zero points a weight */
    double activation_bits, kv_bits;
};

/* The list of modules that a configuration leaves as they are, or NULL. */
const struct json_t *llm_exceptions(const struct json_t *quantization);

/* The class of a tensor's weights by its name, in files of transformers or GGUF; -1: none that is known. */
int llm_class_of_tensor(const char *name);

/* Matrices that the method quantises have this format: those of the modules that `targets` names or, where it is NULL, those of all
 * layers but routers, of experts alone (MXFP4), or all (MLX). Other classes stay as they are, and so do those whose modules are all
 * left unquantised. False: a part of some class is, so its bits are not right for all of it. */
bool llm_fill_classes(const struct json_t *quantization, const struct json_t *targets, const char *method,
                      const struct llm_format *format, struct dse_llm *llm);

/* A line with the bytes of the checkpoint; where an index of its files is beside the configuration, one that compares its total.
 * False with an error: an index that cannot be read. */
bool llm_compare_index(struct llm_config *c, const struct dse_llm *llm, bool is_exact, struct text *ret);

#endif
