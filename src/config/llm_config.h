/* Internal to the import of LLMs: a Hugging Face config.json, and what was read of it.
 *
 * The first error counts; after it every reader gives 0 and says nothing more. */
#ifndef DSE_CONFIG_LLM_CONFIG_H
#define DSE_CONFIG_LLM_CONFIG_H

#include "base/diag.h"
#include "base/text.h"

#include <dse/catalog.h>

struct json_t;

/* What an architecture has by default, as its class in transformers says. 0: nothing. */
struct llm_defaults {
    bool tied;                  /* tie_word_embeddings */
    int64_t context;            /* max_position_embeddings */
    int64_t kv_heads, head_dim; /* where there is none of these keys. 0: as many as heads; hidden_size over heads */
    int64_t layers, hidden, vocab, ffn,
        heads; /* of a nested text model, of which files say only what differs; other files say them */
};

struct llm_config {
    const char *file, *source;  /* the file's name and text */
    struct json_t *root, *text; /* of the whole; of the text model, which is the same or root's text_config */
    const char *text_key;       /* "text_config"; NULL: text is root */
    const char *model_type;
    const struct llm_defaults *defaults; /* of the architecture */
    const char **asked;                  /* keys that were asked for */
    size_t n_asked;
    struct text *notes; /* a line each */
    struct diags *diags;
    bool ok;
};

/* Read and parse the file. False with errors at their line and column. Close it in any case. */
bool config_open(struct llm_config *c, const char *path, char **ret_source, struct text *notes, struct diags *diags);
void config_close(struct llm_config *c);

/* Is the key there, and not null? */
bool config_has(struct llm_config *c, const char *key);
/* Is it there, and null? Then transformers takes it for none, not for what the architecture has by default. */
bool config_is_null(struct llm_config *c, const char *key);
/* A whole number from 0 that must be there. */
int64_t config_whole(struct llm_config *c, const char *key);
/* The same; of a nested text model that says nothing, `otherwise`, if that is not 0. */
int64_t config_whole_nested(struct llm_config *c, const char *key, int64_t otherwise);
/* The same as config_whole_or, but null is 0. */
int64_t config_whole_or_none(struct llm_config *c, const char *key, int64_t otherwise);
/* The same, or `otherwise` where there is none: what the architecture has by default, which becomes a note. */
int64_t config_whole_or(struct llm_config *c, const char *key, int64_t otherwise);
/* The same without a note: 0 where there is none. */
int64_t config_whole_if(struct llm_config *c, const char *key);
/* True or false, or `otherwise`, which becomes a note. */
bool config_flag(struct llm_config *c, const char *key, bool otherwise);
/* A text, or NULL. */
const char *config_word(struct llm_config *c, const char *key);
bool config_is_number(struct llm_config *c, const char *key);
/* A list: its length, -1 without one; its i-th word (NULL: it is none) or number (-1). */
int64_t config_list(struct llm_config *c, const char *key);
const char *config_list_word(struct llm_config *c, const char *key, int64_t i);
int64_t config_list_number(struct llm_config *c, const char *key, int64_t i);

/* An error at the value of a key, or at the beginning when it is not there. Always false. */
bool config_error(struct llm_config *c, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void config_note(struct llm_config *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Note the keys that nothing asked for and that may change the shape. */
void config_note_unread(struct llm_config *c);

/* Fill in the shape by the rules of the architecture (llm_architectures.c). False with errors: one that is not known, a key that is
 * missing, numbers that contradict each other. */
bool config_shape(struct llm_config *c, struct dse_llm *ret);

#endif
