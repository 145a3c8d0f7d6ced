/* Internal to the import of LLMs: a Hugging Face config.json, and what was read of it.
 *
 * The first error counts; after it every reader gives 0 and says nothing more. */
#ifndef DSE_CONFIG_LLM_CONFIG_H
#define DSE_CONFIG_LLM_CONFIG_H

#include "base/diag.h"
#include "config/llm_import.h"

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
    struct json_t *root, *text; /* of the whole; of the text model, which is the same or nested */
    const char *path[2];        /* the keys that lead to a nested text model; NULL behind the last */
    bool nested;
    const char *model_type;
    const struct llm_defaults *defaults; /* of the architecture */
    const char *uncounted;               /* its keys that no count depends on (llm_keys.h) */
    const char *aliases;                 /* other names that its files have for keys: "hidden_size=n_embd ..." */
    struct json_t *tensors;              /* of the files of weights (llm_headers.h); NULL: none were read */
    const char **asked;                  /* keys that were asked for */
    size_t n_asked;
    bool approximate; /* what is not known is left out, not refused */
    struct llm_said *said;
    struct diags *diags;
    bool ok;
};

/* Read and parse the file, and see what it is. False with errors at their line and column. Close it in any case. */
bool config_open(struct llm_config *c, const char *path, bool approximate, char **ret_source, struct llm_said *said,
                 struct diags *diags);
void config_close(struct llm_config *c);
/* Is it the configuration of a causal LLM, not of a head that drafts, a classifier, an encoder (llm_kind.c)? Else an error. */
bool config_check_kind(struct llm_config *c);

/* The value of a key of the text model, else of the whole; NULL without one. It counts as asked for. */
const struct json_t *config_value(struct llm_config *c, const char *key);
/* Is the key there, and not null? */
bool config_has(struct llm_config *c, const char *key);
/* Is it there, and null, or what the class takes for none? Then transformers does not take what the architecture has by default. */
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
/* The same of a key of the object at `outer`. */
int64_t config_whole_in(struct llm_config *c, const char *outer, const char *key, int64_t otherwise);
/* Is it true there? */
bool config_flag_in(struct llm_config *c, const char *outer, const char *key);
/* True or false, or `otherwise`, which becomes a note. */
bool config_flag(struct llm_config *c, const char *key, bool otherwise);
/* A text, or NULL. */
const char *config_word(struct llm_config *c, const char *key);
bool config_is_text(struct llm_config *c, const char *key);
bool config_is_number(struct llm_config *c, const char *key);
/* Entries of a list, or letters of a text; -1 without either. It does not count as asked for. */
int64_t config_length(const struct llm_config *c, const char *key);
/* A list: its length, -1 without one; its i-th word (NULL: it is none) or number (-1). */
int64_t config_list(struct llm_config *c, const char *key);
const char *config_list_word(struct llm_config *c, const char *key, int64_t i);
int64_t config_list_number(struct llm_config *c, const char *key, int64_t i);
/* Is entry i true? Entries that are neither true nor false are an error. */
bool config_list_flag(struct llm_config *c, const char *key, int64_t i);

/* A number, or `otherwise`, which becomes a note. */
double config_number_or(struct llm_config *c, const char *key, double otherwise);

/* One entry of a list of what each layer is (Nemotron-NAS). */
struct llm_block {
    bool has_attention, has_network;
    bool is_linear; /* one of them is a matrix instead */
    int64_t heads_in_group;
    double ffn_mult;
};
struct llm_block config_block(struct llm_config *c, const char *key, int64_t i);

/* Of the i-th object of a list: a whole number, or `otherwise` where it has none or null; a text, or NULL; the first of its keys
 * that has a value and is not `known` (a list as in llm_keys.h), or NULL. */
int64_t config_whole_at(struct llm_config *c, const char *key, int64_t i, const char *name, int64_t otherwise);
const char *config_word_at(struct llm_config *c, const char *key, int64_t i, const char *name);
const char *config_unknown_at(struct llm_config *c, const char *key, int64_t i, const char *known);

/* The same two of a list in the object at `outer`. */
int64_t config_list_in(struct llm_config *c, const char *outer, const char *key);
int64_t config_list_number_in(struct llm_config *c, const char *outer, const char *key, int64_t i);

/* An error at the value of a key, or at the beginning when it is not there; with a hint, or NULL. Always false. */
bool config_error(struct llm_config *c, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool config_refuse(struct llm_config *c, const char *key, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void config_note(struct llm_config *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What no shape can say of a key: an error that offers --approximate, behind `hint` where that is not NULL; or, where that was
 * given, a note, and the key is among those that were left out. False with the error. */
bool config_cannot(struct llm_config *c, const char *key, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* No key may be left that nothing asked for and that may change a count. */
bool config_check_unread(struct llm_config *c);

/* Fill in the shape by the rules of the architecture (llm_architectures.c). False with errors: one that is not known, a key that is
 * missing, numbers that contradict each other. */
bool config_shape(struct llm_config *c, struct dse_llm *ret);

#endif
