/* Internal to the import of LLMs: JSON as Python's json module writes it, and where its values stand in the text.
 *
 * Beyond JSON, Python writes NaN, Infinity and -Infinity, and reads objects that have a key twice: the last counts. */
#ifndef DSE_CONFIG_LLM_JSON_H
#define DSE_CONFIG_LLM_JSON_H

#include "base/diag.h"

struct json_t;

/* Read and parse a file. *ret_source is its text, which the caller frees, also when NULL comes back with an error at its line and
 * column. All numbers are real ones; what is not finite is a number that no count may be. */
struct json_t *llm_json_read(const char *path, char **ret_source, struct diags *diags);

/* Read the file `name` that lies beside a config.json: "DIR/X-NAME" beside "DIR/X-config.json". *ret is NULL where there is none.
 * False with an error: one that cannot be read. */
bool llm_json_beside(const char *config, const char *name, struct json_t **ret, struct diags *diags);

/* Where the value of a key stands, of the object that begins at `object` (not deeper): the last one of that name. NULL: nowhere. */
const char *llm_json_find(const char *object, const char *key);
/* The line and column of a place in a text. */
struct srcloc llm_json_place(const char *file, const char *source, const char *at);

#endif
