/* Internal to the import of LLMs: are the bytes that are counted those of the index of a checkpoint's files? */
#ifndef DSE_CONFIG_LLM_INDEX_H
#define DSE_CONFIG_LLM_INDEX_H

#include "config/llm_config.h"
#include "config/llm_scales.h"

/* What files have where nothing says otherwise. */
extern const struct llm_reading llm_usual_reading;

/* A line with the bytes of the checkpoint; where an index of its files is beside the configuration, one that compares its total.
 * What the configuration leaves open is then as the total says, in the formats of the LLM, too. is_known: are the
 * widths of weights? is_exact: has no class several formats? False with an error: an index that cannot be read. */
bool llm_compare_index(struct llm_config *c, const struct llm_filled *filled, bool is_known, bool is_exact, struct text *ret);

#endif
