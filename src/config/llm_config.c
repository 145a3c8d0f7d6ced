/* A config.json as keys and values with their places. */
#include "config/llm_config.h"

#include "base/xalloc.h"
#include "config/llm_headers.h"
#include "config/llm_json.h"
#include "config/llm_keys.h"
#include "config/llm_translate.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places and what is said --------------------------------------------------------------------------------------------- */

/* Where the object of the text model begins. */
static const char *text_object(const struct llm_config *c)
{
    const char *at = c->source;
    for (size_t i = 0; i < sizeof c->path / sizeof *c->path && c->path[i] && at; i++) at = llm_json_find(at, c->path[i]);
    return at ? at : c->source;
}

static struct srcloc place_of(const struct llm_config *c, const char *key)
{
    const char *at = llm_json_find(text_object(c), key);
    if (!at) at = llm_json_find(c->source, key);
    return llm_json_place(c->file, c->source, at ? at : c->source + strspn(c->source, " \t\r\n"));
}

static bool complain(struct llm_config *c, const char *key, const char *hint, const char *what)
{
    const bool is_text = c->source[0]; /* a GGUF is none */
    if (c->ok)
        diags_input(c->diags, is_text ? place_of(c, key) : (struct srcloc){.file = c->file}, is_text ? c->source : NULL, hint, "%s",
                    what);
    return c->ok = false;
}

bool config_error(struct llm_config *c, const char *key, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap);
    va_end(ap);
    complain(c, key, NULL, what);
    free(what);
    return false;
}

bool config_refuse(struct llm_config *c, const char *key, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap);
    va_end(ap);
    complain(c, key, hint, what);
    free(what);
    return false;
}

void config_note(struct llm_config *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap);
    va_end(ap);
    text_addf(&c->said->notes, "%s\n", what);
    free(what);
}

static void leave_out(struct llm_config *c, const char *keys, const char *what)
{
    config_note(c, "approximate: %s", what);
    text_addf(&c->said->left_out, "%s%s", c->said->left_out.n ? ", " : "", keys);
}

bool config_cannot(struct llm_config *c, const char *key, const char *hint, const char *fmt, ...)
{
    static const char offer[] = "--approximate imports the rest, and marks the entry and every row made with it";
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap), *both = xasprintf("%s%s%s", hint ? hint : "", hint ? " " : "", offer);
    va_end(ap);
    if (c->approximate && c->ok)
        leave_out(c, key, what);
    else
        complain(c, key, both, what);
    free(both);
    free(what);
    return c->ok;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

/* Where multimodal configurations keep the text model. */
static const char *const text_keys[] = {"text_config", "language_config", "llm_config", NULL};

static void find_text(struct llm_config *c)
{
    static const char thinker_key[] = "thinker_config";
    json_t *thinker = json_object_get(c->root, thinker_key), *from = json_is_object(thinker) ? thinker : c->root;
    for (size_t i = 0; text_keys[i] && !c->nested; i++) {
        json_t *text = json_object_get(from, text_keys[i]);
        if (!json_is_object(text)) continue;
        c->text = text;
        c->nested = true;
        c->path[0] = from == c->root ? text_keys[i] : thinker_key;
        c->path[1] = from == c->root ? NULL : text_keys[i];
        config_note(c, "the text model of %s; what sees or hears beside it is left out", text_keys[i]);
    }
}

/* A GGUF, of which only the beginning is read. */
static bool read_gguf(struct llm_config *c, const char *path)
{
    json_t *metadata;
    c->tensors = json_array();
    if (llm_gguf_read(path, &metadata, c->tensors, c->diags)) c->root = llm_from_gguf(path, metadata, c->tensors, c->diags);
    json_decref(metadata);
    return c->root;
}

/* In the words of transformers, whatever wrote it. */
static bool read_file(struct llm_config *c, const char *path, char **ret_source)
{
    const bool is_gguf = llm_is_gguf(path);
    if (is_gguf)
        read_gguf(c, path);
    else
        c->root = llm_json_read(path, ret_source, c->diags);
    if (is_gguf) *ret_source = xstrdup("");
    c->source = *ret_source;
    if (!c->root || !llm_is_params(c->root)) return c->root;
    json_t *params = c->root;
    c->root = llm_from_params(params);
    json_decref(params);
    return true;
}

bool config_open(struct llm_config *c, const char *path, bool approximate, char **ret_source, struct llm_said *said,
                 struct diags *diags)
{
    *c = (struct llm_config){
        .file = path, .approximate = approximate, .said = said, .diags = diags, .uncounted = "", .aliases = "", .ok = true};
    if (!read_file(c, path, ret_source)) return c->ok = false;
    c->text = c->root;
    if (!json_is_object(c->root)) return config_error(c, "", "a config.json is an object, { ... }");
    find_text(c);
    c->model_type = json_string_value(json_object_get(c->text, "model_type"));
    if (!c->model_type) c->model_type = json_string_value(json_object_get(c->root, "model_type"));
    return true;
}

void config_close(struct llm_config *c)
{
    json_decref(c->root);
    json_decref(c->tensors);
    free(c->asked);
    c->root = c->text = NULL;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static void ask(struct llm_config *c, const char *key)
{
    c->asked = xrealloc(c->asked, c->n_asked + 1, sizeof *c->asked);
    c->asked[c->n_asked++] = key;
}

/* Does the class take -1 here for none, or for what follows from other keys? */
static bool is_sentinel(const char *key, const json_t *v)
{
    static const char *const keys[] = {"sliding_window", "attention_chunk_size", "moe_layer_end_index", "first_k_dense_replace",
                                       "num_nextn_predict_layers"};
    bool known = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) known = known || strcmp(keys[i], key) == 0;
    return known && json_is_number(v) && json_number_value(v) == -1;
}

/* The value of a key of the text model, or of what its files call it. */
static const json_t *aliased(struct llm_config *c, const char *key)
{
    const json_t *v = json_object_get(c->text, key);
    const size_t n = strlen(key);
    json_t *object = c->text;
    const char *name;
    json_t *value;
    for (const char *p = c->aliases; !v && *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        if (strncmp(p, key, n) != 0 || p[n] != '=') continue;
        const char *alias = p + n + 1;
        const size_t length = strcspn(alias, " ");
        json_object_foreach(object, name, value)
        {
            if (strlen(name) != length || strncmp(name, alias, length) != 0) continue;
            ask(c, name);
            v = value;
        }
    }
    return v;
}

const json_t *config_value(struct llm_config *c, const char *key)
{
    ask(c, key);
    if (!c->ok) return NULL;
    const json_t *v = aliased(c, key);
    if (!v && c->text != c->root) v = json_object_get(c->root, key); /* tie_word_embeddings stands outside, for example */
    return json_is_null(v) || is_sentinel(key, v) ? NULL : v;
}

bool config_has(struct llm_config *c, const char *key)
{
    return config_value(c, key) != NULL;
}

static int64_t whole_of(struct llm_config *c, const char *key, const json_t *v)
{
    enum { MOST = 1 << 30 };
    const double n = json_is_number(v) ? json_number_value(v) : -1;
    if (n >= 0 && n <= MOST && n == floor(n)) return (int64_t)n;
    config_error(c, key, "%s: a whole number from 0 to %d is needed", key, MOST);
    return 0;
}

int64_t config_whole(struct llm_config *c, const char *key)
{
    const json_t *v = config_value(c, key);
    if (v) return whole_of(c, key, v);
    config_error(c, key, "there is no %s, which %s needs", key, c->model_type);
    return 0;
}

int64_t config_whole_or(struct llm_config *c, const char *key, int64_t otherwise)
{
    const json_t *v = config_value(c, key);
    if (v) return whole_of(c, key, v);
    if (c->ok) config_note(c, "%s is not in the file: %lld, as %s has by default", key, (long long)otherwise, c->model_type);
    return otherwise;
}

bool config_is_null(struct llm_config *c, const char *key)
{
    const json_t *v = json_object_get(c->text, key);
    return json_is_null(v) || is_sentinel(key, v);
}

int64_t config_whole_nested(struct llm_config *c, const char *key, int64_t otherwise)
{
    return c->nested && otherwise > 0 ? config_whole_or(c, key, otherwise) : config_whole(c, key);
}

int64_t config_whole_or_none(struct llm_config *c, const char *key, int64_t otherwise)
{
    if (!config_is_null(c, key)) return config_whole_or(c, key, otherwise);
    config_has(c, key);
    if (c->ok) config_note(c, "%s is null: none", key);
    return 0;
}

int64_t config_whole_if(struct llm_config *c, const char *key)
{
    const json_t *v = config_value(c, key);
    return v ? whole_of(c, key, v) : 0;
}

bool config_flag_in(struct llm_config *c, const char *outer, const char *key)
{
    return json_is_true(json_object_get(config_value(c, outer), key));
}

int64_t config_whole_in(struct llm_config *c, const char *outer, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(config_value(c, outer), key);
    return v ? whole_of(c, outer, v) : otherwise;
}

bool config_flag(struct llm_config *c, const char *key, bool otherwise)
{
    const json_t *v = config_value(c, key);
    if (json_is_boolean(v)) return json_is_true(v);
    if (v) return config_error(c, key, "%s: true or false is needed", key);
    if (c->ok) config_note(c, "%s is not in the file: %s, as %s has by default", key, otherwise ? "true" : "false", c->model_type);
    return otherwise;
}

const char *config_word(struct llm_config *c, const char *key)
{
    const json_t *v = config_value(c, key);
    if (v && !json_is_string(v)) config_error(c, key, "%s: a text is needed", key);
    return json_string_value(v);
}

bool config_is_text(struct llm_config *c, const char *key)
{
    return json_is_string(config_value(c, key));
}

bool config_is_number(struct llm_config *c, const char *key)
{
    return json_is_number(config_value(c, key));
}

int64_t config_length(const struct llm_config *c, const char *key)
{
    const json_t *v = json_object_get(c->text, key);
    if (json_is_string(v)) return (int64_t)json_string_length(v);
    return json_is_array(v) ? (int64_t)json_array_size(v) : -1;
}

int64_t config_list(struct llm_config *c, const char *key)
{
    const json_t *v = config_value(c, key);
    if (v && !json_is_array(v)) config_error(c, key, "%s: a list is needed", key);
    return json_is_array(v) ? (int64_t)json_array_size(v) : -1;
}

const char *config_list_word(struct llm_config *c, const char *key, int64_t i)
{
    return json_string_value(json_array_get(config_value(c, key), (size_t)i));
}

static int64_t whole_at(const json_t *list, int64_t i)
{
    const json_t *v = json_array_get(list, (size_t)i);
    const double n = json_is_number(v) ? json_number_value(v) : -1;
    return n >= 0 && n < INT32_MAX && n == floor(n) ? (int64_t)n : -1;
}

int64_t config_list_number(struct llm_config *c, const char *key, int64_t i)
{
    return whole_at(config_value(c, key), i);
}

bool config_list_flag(struct llm_config *c, const char *key, int64_t i)
{
    const json_t *v = json_array_get(config_value(c, key), (size_t)i);
    if (v && !json_is_boolean(v)) config_error(c, key, "%s: a list of true and false is needed", key);
    return json_is_true(v);
}

int64_t config_list_in(struct llm_config *c, const char *outer, const char *key)
{
    const json_t *v = json_object_get(config_value(c, outer), key);
    return json_is_array(v) ? (int64_t)json_array_size(v) : -1;
}

int64_t config_list_number_in(struct llm_config *c, const char *outer, const char *key, int64_t i)
{
    return whole_at(json_object_get(config_value(c, outer), key), i);
}

static json_t *object_at(struct llm_config *c, const char *key, int64_t i)
{
    return json_array_get(config_value(c, key), (size_t)i);
}

int64_t config_whole_at(struct llm_config *c, const char *key, int64_t i, const char *name, int64_t otherwise)
{
    const json_t *v = json_object_get(object_at(c, key, i), name);
    return v && !json_is_null(v) ? whole_of(c, key, v) : otherwise;
}

const char *config_word_at(struct llm_config *c, const char *key, int64_t i, const char *name)
{
    return json_string_value(json_object_get(object_at(c, key, i), name));
}

const char *config_unknown_at(struct llm_config *c, const char *key, int64_t i, const char *known)
{
    json_t *object = object_at(c, key, i), *value;
    const char *name;
    json_object_foreach(object, name, value)
    {
        if (!json_is_null(value) && !llm_keys_uncounted(known, name, value)) return name;
    }
    return NULL;
}

double config_number_or(struct llm_config *c, const char *key, double otherwise)
{
    const json_t *v = config_value(c, key);
    if (json_is_number(v)) return json_number_value(v);
    if (v) return config_error(c, key, "%s: a number is needed", key);
    if (c->ok) config_note(c, "%s is not in the file: %g, as %s has by default", key, otherwise, c->model_type);
    return otherwise;
}

static bool is_set(const json_t *part, const char *key)
{
    return json_is_true(json_object_get(part, key));
}

struct llm_block config_block(struct llm_config *c, const char *key, int64_t i)
{
    const json_t *block = json_array_get(config_value(c, key), (size_t)i);
    const json_t *attention = json_object_get(block, "attention"), *network = json_object_get(block, "ffn");
    const double heads = json_number_value(json_object_get(attention, "n_heads_in_group"));
    return (struct llm_block){.has_attention = json_is_object(attention) && !is_set(attention, "no_op"),
                              .has_network = json_is_object(network) && !is_set(network, "no_op"),
                              .is_linear = is_set(attention, "replace_with_linear") || is_set(network, "replace_with_linear"),
                              .heads_in_group = heads >= 1 && heads <= 4096 ? (int64_t)heads : 0,
                              .ffn_mult = json_number_value(json_object_get(network, "ffn_mult"))};
}

/* ---- what is left -------------------------------------------------------------------------------------------------------- */

static bool is_asked(const struct llm_config *c, const char *key)
{
    for (size_t i = 0; i < c->n_asked; i++)
        if (strcmp(c->asked[i], key) == 0) return true;
    return false;
}

/* The keys of an object that nothing asked for and that may change a count. What is null is none, whatever it is. */
static void add_unknown(const struct llm_config *c, json_t *object, bool beside, const char **ret_first, struct text *ret)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (json_is_null(value) || is_asked(c, key) || llm_keys_uncounted(c->uncounted, key, value)) continue;
        if (beside && llm_keys_beside_text(key, value)) continue;
        if (!*ret_first) *ret_first = key;
        text_addf(ret, "%s%s", ret->n ? ", " : "", key);
    }
}

bool config_check_unread(struct llm_config *c)
{
    const char *first = NULL;
    struct text unknown;
    text_init(&unknown);
    add_unknown(c, c->text, false, &first, &unknown);
    if (c->nested) add_unknown(c, c->root, true, &first, &unknown);
    char *what = xasprintf("unknown keys of %s, which may change a number of the entry: %s", c->model_type, unknown.s);
    if (first && c->approximate)
        leave_out(c, unknown.s, what);
    else if (first)
        config_cannot(c, first, NULL, "%s", what);
    free(what);
    text_release(&unknown);
    return c->ok;
}
