/* Internal to the import of LLMs: what the files of a checkpoint say of themselves in their first bytes. Values are not read, and
 * a file may end behind its header. */
#ifndef DSE_CONFIG_LLM_HEADERS_H
#define DSE_CONFIG_LLM_HEADERS_H

#include "base/diag.h"

struct json_t;

/* Does the file begin as a GGUF does? */
bool llm_is_gguf(const char *path);

/* The header of a GGUF. *ret_metadata is an object with its keys: numbers, truths and texts, lists of numbers of up to
 * LLM_LIST_MAX; of every other list the length, as a number by the name of the list and ".length". Tensors are added to the list
 * `tensors`: { "name": text, "bytes": number, "elements": number, or 0 of a type that packs several elements }. The caller frees
 * both. False with an error: a file that is none, or is damaged. */
enum { LLM_LIST_MAX = 1024 };
bool llm_gguf_read(const char *path, struct json_t **ret_metadata, struct json_t *tensors, struct diags *diags);

/* The header of a .safetensors: its tensors likewise. */
bool llm_safetensors_read(const char *path, struct json_t *tensors, struct diags *diags);

/* A tensor into the list. */
void llm_add_tensor(struct json_t *tensors, const char *name, double bytes, double elements);

#endif
