/* A config.json as keys and values with their places. Parsing is Jansson's, which keeps no places of values: those are found again
 * in the text, where an error needs one. */
#include "config/llm_config.h"

#include "base/xalloc.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 4 << 20 };

/* ---- places -------------------------------------------------------------------------------------------------------------- */

static struct srcloc place_at(const struct llm_config *c, const char *at)
{
    struct srcloc loc = {.file = c->file, .line = 1, .column = 1};
    for (const char *p = c->source; p < at; p++) {
        loc.column = *p == '\n' ? 1 : loc.column + ((*p & 0xc0) != 0x80);
        loc.line += *p == '\n';
    }
    return loc;
}

/* Behind a string that begins at p. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1]) p++;
    return *p ? p + 1 : p;
}

/* The value of a key from `from` on: a string that a colon follows. NULL: there is none. */
static const char *find_value(const char *from, const char *key)
{
    const size_t n = strlen(key);
    for (const char *p = strchr(from, '"'); p && *p; p = strchr(p, '"')) {
        const char *end = skip_string(p), *colon = end + strspn(end, " \t\r\n");
        const bool same = (size_t)(end - p) == n + 2 && strncmp(p + 1, key, n) == 0;
        if (same && *colon == ':') return colon + 1 + strspn(colon + 1, " \t\r\n");
        p = end;
    }
    return NULL;
}

static struct srcloc place_of(const struct llm_config *c, const char *key)
{
    const char *from = c->text_key ? find_value(c->source, c->text_key) : NULL;
    const char *at = find_value(from ? from : c->source, key);
    if (!at && from) at = find_value(c->source, key);
    return place_at(c, at ? at : c->source + strspn(c->source, " \t\r\n"));
}

bool config_error(struct llm_config *c, const char *key, const char *fmt, ...)
{
    if (!c->ok) return false;
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(c->diags, place_of(c, key), c->source, NULL, "%s", what);
    free(what);
    return c->ok = false;
}

void config_note(struct llm_config *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap);
    va_end(ap);
    text_addf(c->notes, "%s\n", what);
    free(what);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

/* Where multimodal configurations keep the text model. */
static const char *const text_keys[] = {"text_config", "language_config", "llm_config", NULL};

static void find_text(struct llm_config *c)
{
    json_t *thinker = json_object_get(c->root, "thinker_config"), *from = json_is_object(thinker) ? thinker : c->root;
    for (size_t i = 0; text_keys[i] && !c->text_key; i++) {
        json_t *text = json_object_get(from, text_keys[i]);
        if (!json_is_object(text)) continue;
        c->text = text;
        c->text_key = text_keys[i];
        config_note(c, "the text model of %s; what sees or hears beside it is left out", text_keys[i]);
    }
}

bool config_open(struct llm_config *c, const char *path, char **ret_source, struct text *notes, struct diags *diags)
{
    *c = (struct llm_config){.file = path, .notes = notes, .diags = diags, .ok = true};
    if (!text_read_file(path, CONFIG_MAX, ret_source, NULL, diags)) return c->ok = false;
    c->source = *ret_source;
    json_error_t error;
    c->root = json_loads(c->source, JSON_REJECT_DUPLICATES, &error);
    if (!c->root) {
        struct srcloc loc = {.file = path, .line = error.line > 0 ? error.line : 1, .column = error.column > 0 ? error.column : 1};
        diags_input(diags, loc, c->source, "a config.json of Hugging Face transformers is needed", "not JSON: %s", error.text);
        return c->ok = false;
    }
    c->text = c->root;
    if (!json_is_object(c->root)) return config_error(c, "", "a config.json is an object, { ... }");
    find_text(c);
    c->model_type = json_string_value(json_object_get(c->text, "model_type"));
    if (!c->model_type) c->model_type = json_string_value(json_object_get(c->root, "model_type"));
    if (!c->model_type)
        return config_error(c, "model_type", "there is no model_type: a config.json of Hugging Face transformers has one");
    return true;
}

void config_close(struct llm_config *c)
{
    json_decref(c->root);
    free(c->asked);
    c->root = c->text = NULL;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static const json_t *get(struct llm_config *c, const char *key)
{
    c->asked = xrealloc(c->asked, c->n_asked + 1, sizeof *c->asked);
    c->asked[c->n_asked++] = key;
    if (!c->ok) return NULL;
    const json_t *v = json_object_get(c->text, key);
    if (!v && c->text != c->root) v = json_object_get(c->root, key); /* tie_word_embeddings stands outside, for example */
    return json_is_null(v) ? NULL : v;
}

bool config_has(struct llm_config *c, const char *key)
{
    return get(c, key) != NULL;
}

static int64_t whole_of(struct llm_config *c, const char *key, const json_t *v)
{
    const bool is_real = json_is_real(v) && json_real_value(v) == floor(json_real_value(v)) && fabs(json_real_value(v)) < 1e15;
    const int64_t n = json_is_integer(v) ? json_integer_value(v) : is_real ? (int64_t)json_real_value(v) : -1;
    enum { MOST = 1 << 30 };
    if (n >= 0 && n <= MOST) return n;
    config_error(c, key, "%s: a whole number from 0 to %d is needed", key, MOST);
    return 0;
}

int64_t config_whole(struct llm_config *c, const char *key)
{
    const json_t *v = get(c, key);
    if (v) return whole_of(c, key, v);
    config_error(c, key, "there is no %s, which %s needs", key, c->model_type);
    return 0;
}

int64_t config_whole_or(struct llm_config *c, const char *key, int64_t otherwise)
{
    const json_t *v = get(c, key);
    if (v) return whole_of(c, key, v);
    if (c->ok) config_note(c, "%s is not in the file: %lld, as %s has by default", key, (long long)otherwise, c->model_type);
    return otherwise;
}

bool config_is_null(struct llm_config *c, const char *key)
{
    return json_is_null(json_object_get(c->text, key));
}

int64_t config_whole_nested(struct llm_config *c, const char *key, int64_t otherwise)
{
    return c->text_key && otherwise > 0 ? config_whole_or(c, key, otherwise) : config_whole(c, key);
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
    const json_t *v = get(c, key);
    return v ? whole_of(c, key, v) : 0;
}

bool config_flag(struct llm_config *c, const char *key, bool otherwise)
{
    const json_t *v = get(c, key);
    if (json_is_boolean(v)) return json_is_true(v);
    if (v) return config_error(c, key, "%s: true or false is needed", key);
    if (c->ok) config_note(c, "%s is not in the file: %s, as %s has by default", key, otherwise ? "true" : "false", c->model_type);
    return otherwise;
}

const char *config_word(struct llm_config *c, const char *key)
{
    const json_t *v = get(c, key);
    if (v && !json_is_string(v)) config_error(c, key, "%s: a text is needed", key);
    return json_string_value(v);
}

bool config_is_number(struct llm_config *c, const char *key)
{
    return json_is_number(get(c, key));
}

int64_t config_list(struct llm_config *c, const char *key)
{
    const json_t *v = get(c, key);
    if (v && !json_is_array(v)) config_error(c, key, "%s: a list is needed", key);
    return json_is_array(v) ? (int64_t)json_array_size(v) : -1;
}

const char *config_list_word(struct llm_config *c, const char *key, int64_t i)
{
    return json_string_value(json_array_get(get(c, key), (size_t)i));
}

int64_t config_list_number(struct llm_config *c, const char *key, int64_t i)
{
    const json_t *v = json_array_get(get(c, key), (size_t)i);
    return json_is_integer(v) ? json_integer_value(v) : -1;
}

/* What changes no count: names, tokens, training, positions, precision, caching. Words between blanks, and parts of words. */
static const char beside[] =
    " architectures model_type auto_map torch_dtype dtype transformers_version use_cache vision_config audio_config"
    " text_config language_config llm_config thinker_config initializer_range rms_norm_eps layer_norm_eps layer_norm_epsilon"
    " norm_eps pretraining_tp hidden_act"
    " hidden_activation activation_function attention_dropout hidden_dropout resid_pdrop embd_pdrop attn_pdrop"
    " residual_in_fp32 router_aux_loss_coef output_router_logits router_jitter_noise aux_loss_alpha seq_aux"
    " norm_topk_prob scoring_func topk_method topk_group n_group routed_scaling_factor quantization_config chunk_size"
    " ep_size swiglu_limit attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar cache_implementation"
    " max_window_layers initial_context_length mlp_hidden_act mamba_hidden_act rescale_prenorm_residual use_mamba_kernels"
    " mamba_ssm_cache_dtype mamba_ssm_dtype time_step_limit time_step_min time_step_max time_step_floor time_step_rank"
    " num_logits_to_keep classifier_dropout summary_type problem_type attn_implementation _attn_implementation"
    " _name_or_path name_or_path image_token_index boi_token_index eoi_token_index mm_tokens_per_image"
    " partial_rotary_factor attn_temperature_tuning attn_scale floor_scale for_llm_compressor router_z_loss_coef"
    " original_max_position_embeddings mrope_section decoder_start_token_id is_encoder_decoder id2label label2id ";
static const char *const beside_parts[] = {"rope", "token_id", "rotary", "dropout", "_init_", "_eps"};

static bool is_beside(const char *key)
{
    char *word = xasprintf(" %s ", key);
    bool found = strstr(beside, word) != NULL;
    free(word);
    for (size_t i = 0; i < sizeof beside_parts / sizeof *beside_parts && !found; i++) found = strstr(key, beside_parts[i]) != NULL;
    return found;
}

void config_note_unread(struct llm_config *c)
{
    const char *key;
    json_t *value;
    json_object_foreach(c->text, key, value)
    {
        bool asked = is_beside(key);
        for (size_t i = 0; i < c->n_asked && !asked; i++) asked = strcmp(c->asked[i], key) == 0;
        if (!asked) config_note(c, "not read: %s", key);
    }
}
