#include "config/llm_translate.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of transformers, and what they are called elsewhere: "theirs=other ...". Of two with one name the first that is there
 * counts. */
#define GGUF_ALL \
    "num_hidden_layers=block_count hidden_size=embedding_length num_attention_heads=attention.head_count " \
    "num_key_value_heads=attention.head_count_kv max_position_embeddings=context_length vocab_size=vocab_size "
#define GGUF_DENSE GGUF_ALL "intermediate_size=feed_forward_length head_dim=attention.key_length "
#define GGUF_WINDOW "sliding_window=attention.sliding_window "
#define GGUF_EXPERTS \
    GGUF_DENSE "num_experts=expert_count num_experts_per_tok=expert_used_count moe_intermediate_size=expert_feed_forward_length "
#define GGUF_LATENT \
    GGUF_ALL \
    "intermediate_size=feed_forward_length n_routed_experts=expert_count num_experts_per_tok=expert_used_count " \
    "moe_intermediate_size=expert_feed_forward_length n_shared_experts=expert_shared_count " \
    "first_k_dense_replace=leading_dense_block_count q_lora_rank=attention.q_lora_rank kv_lora_rank=attention.kv_lora_rank " \
    "qk_rope_head_dim=rope.dimension_count v_head_dim=attention.value_length_mla v_head_dim=attention.value_length "

static const struct family {
    const char *architecture, *having; /* its name in a GGUF; a key that it must have, or NULL */
    const char *model_type, *keys;
} families[] = {
    {"llama", "expert_count", "mixtral", GGUF_DENSE "num_local_experts=expert_count num_experts_per_tok=expert_used_count "},
    {"llama", NULL, "llama", GGUF_DENSE},
    {"qwen2", NULL, "qwen2", GGUF_DENSE},
    {"qwen3", NULL, "qwen3", GGUF_DENSE},
    {"qwen2moe", NULL, "qwen2_moe", GGUF_EXPERTS "shared_expert_intermediate_size=expert_shared_feed_forward_length "},
    {"qwen3moe", NULL, "qwen3_moe", GGUF_EXPERTS},
    {"phi3", NULL, "phi3", GGUF_DENSE GGUF_WINDOW},
    {"gemma2", NULL, "gemma2", GGUF_DENSE GGUF_WINDOW},
    {"gemma3", NULL, "gemma3_text", GGUF_DENSE GGUF_WINDOW},
    {"starcoder2", NULL, "starcoder2", GGUF_DENSE},
    {"gpt-oss", NULL, "gpt_oss",
     GGUF_ALL GGUF_WINDOW "head_dim=attention.key_length num_local_experts=expert_count num_experts_per_tok=expert_used_count "
                          "intermediate_size=expert_feed_forward_length "},
    {"deepseek2", "expert_gating_func", "deepseek_v3", GGUF_LATENT},
    {"deepseek2", NULL, "deepseek_v2", GGUF_LATENT},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* Of a GGUF, behind its architecture: what no count depends on. */
static const char gguf_uncounted[] =
    " rope. attention.layer_norm attention.scale attention.key_length attention.value_length attention.causal expert_weights_ "
    "expert_group_ expert_gating_func expert_feed_forward_length feed_forward_length attn_logit_softcapping "
    "final_logit_softcapping swiglu_ ";

#define PARAMS_ALL \
    "hidden_size=dim num_hidden_layers=n_layers num_attention_heads=n_heads num_key_value_heads=n_kv_heads vocab_size=vocab_size " \
    "max_position_embeddings=max_position_embeddings max_position_embeddings=max_seq_len intermediate_size=hidden_dim " \
    "tie_word_embeddings=tied_embeddings "
#define PARAMS_HEADS PARAMS_ALL "head_dim=head_dim sliding_window=sliding_window "
static const struct family params_families[] = {
    {NULL, "kv_lora_rank", "deepseek_v3",
     PARAMS_ALL "q_lora_rank=q_lora_rank kv_lora_rank=kv_lora_rank qk_rope_head_dim=qk_rope_head_dim "
                "qk_nope_head_dim=qk_nope_head_dim v_head_dim=v_head_dim n_routed_experts=moe.num_experts "
                "num_experts_per_tok=moe.num_experts_per_tok n_shared_experts=moe.num_shared_experts "
                "moe_intermediate_size=moe.expert_hidden_dim first_k_dense_replace=moe.first_k_dense_replace "},
    {NULL, "moe.num_experts", "mixtral",
     PARAMS_HEADS "num_local_experts=moe.num_experts num_experts_per_tok=moe.num_experts_per_tok "},
    {NULL, "multiple_of", "llama", PARAMS_HEADS},
    {NULL, NULL, "mistral", PARAMS_HEADS},
};
enum { PARAMS_FAMILIES = sizeof params_families / sizeof *params_families };
static const char params_uncounted[] =
    " norm_eps rope_ use_scaled_rope yarn llama_4_scaling model_parallel quantization. causal ffn_dim_multiplier multiple_of "
    "moe.num_expert_groups moe.expert_model_parallel moe.route_scale moe.expert_parallel moe.route_every_n moe.norm_topk head_dim "
    "max_batch_size model_type ";

/* Is `key` the beginning of a word of the list, or does it begin as one that ends in a dot or a low line? */
static bool is_uncounted(const char *list, const char *key)
{
    for (const char *p = list + 1; *p; p += strcspn(p, " ") + 1) {
        const size_t n = strcspn(p, " ");
        const bool prefix = p[n - 1] == '.' || p[n - 1] == '_';
        if (strncmp(key, p, n) == 0 && (prefix || key[n] == '\0' || key[n] == '.' || key[n] == '_')) return true;
    }
    return false;
}

static const struct family *family_of(const struct family *all, size_t n, const char *architecture, const json_t *from)
{
    for (size_t i = 0; i < n; i++)
        if ((!architecture || strcmp(all[i].architecture, architecture) == 0) &&
            (!all[i].having || json_number_value(json_object_get(from, all[i].having)) > 0))
            return &all[i];
    return NULL;
}

/* `from` in the words of transformers: what is known of the family under its names, what is uncounted not at all, all else as it
 * is. */
static json_t *translate(json_t *from, const struct family *f, const char *uncounted)
{
    json_t *ret = json_object(), *value;
    const char *key;
    json_object_set_new(ret, "model_type", json_string(f->model_type));
    for (const char *p = f->keys; *p; p += strcspn(p, " ") + 1) {
        const size_t n = strcspn(p, "="), k = strcspn(p + n + 1, " ");
        char *theirs = xstrndup(p, n), *other = xstrndup(p + n + 1, k);
        value = json_object_get(from, other);
        if (value && !json_object_get(ret, theirs)) json_object_set(ret, theirs, value);
        if (value) json_object_del(from, other);
        free(theirs);
        free(other);
    }
    json_object_foreach(from, key, value)
    {
        if (!is_uncounted(uncounted, key)) json_object_set(ret, key, value);
    }
    return ret;
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* ---- params.json ----------------------------------------------------------------------------------------------------------- */

bool llm_is_params(const json_t *root)
{
    return json_object_get(root, "dim") && json_object_get(root, "n_layers");
}

/* Objects within become keys with dots. */
static json_t *flat(json_t *root)
{
    json_t *ret = json_object(), *value, *inner;
    const char *key, *name;
    json_object_foreach(root, key, value)
    {
        if (!json_is_object(value)) json_object_set(ret, key, value);
        json_object_foreach(value, name, inner)
        {
            char *path = xasprintf("%s.%s", key, name);
            json_object_set(ret, path, inner);
            free(path);
        }
    }
    return ret;
}

/* Meta's files say a multiple that the inner width is rounded up to, of two thirds of four times the width, and a factor. */
static double meta_ffn(const json_t *from)
{
    const double given = number_of(from, "ffn_dim_multiplier"), multiple = number_of(from, "multiple_of");
    const double two_thirds = floor(8 * number_of(from, "dim") / 3), wanted = given > 0 ? floor(given * two_thirds) : two_thirds;
    return multiple > 0 ? multiple * ceil(wanted / multiple) : 0;
}

json_t *llm_from_params(json_t *root)
{
    json_t *from = flat(root);
    const double ffn = meta_ffn(from);
    if (ffn > 0 && !json_object_get(from, "hidden_dim")) json_object_set_new(from, "hidden_dim", json_real(ffn));
    json_t *ret = translate(from, family_of(params_families, PARAMS_FAMILIES, NULL, from), params_uncounted);
    if (!json_object_get(ret, "sliding_window"))
        json_object_set_new(ret, "sliding_window", json_null()); /* none, if none is said */
    json_decref(from);
    return ret;
}

/* ---- GGUF ------------------------------------------------------------------------------------------------------------------ */

/* Keys that begin with the architecture, without it. */
static json_t *own_keys(json_t *metadata, const char *architecture)
{
    json_t *ret = json_object(), *value;
    const size_t n = strlen(architecture);
    const char *key;
    json_object_foreach(metadata, key, value)
    {
        if (strncmp(key, architecture, n) == 0 && key[n] == '.') json_object_set(ret, key + n + 1, value);
    }
    return ret;
}

static bool has_tensor(const json_t *tensors, const char *name)
{
    for (size_t i = 0; i < json_array_size(tensors); i++) {
        const char *is = json_string_value(json_object_get(json_array_get(tensors, i), "name"));
        if (is && strcmp(is, name) == 0) return true;
    }
    return false;
}

/* Latent attention: the width of keys is that of both of their parts, and keys and values of all heads are counted as one head
 * where the cache holds latents. */
static void set_latent(const json_t *from, json_t *to)
{
    const double mla = number_of(from, "attention.key_length_mla"), key = mla > 0 ? mla : number_of(from, "attention.key_length");
    json_object_set_new(to, "qk_nope_head_dim", json_real(key - number_of(from, "rope.dimension_count")));
    json_object_set(to, "num_key_value_heads", json_object_get(to, "num_attention_heads"));
    if (!json_object_get(to, "q_lora_rank")) json_object_set_new(to, "q_lora_rank", json_null());
}

json_t *llm_from_gguf(const char *path, json_t *metadata, const json_t *tensors, struct diags *diags)
{
    const char *names[FAMILIES], *architecture = json_string_value(json_object_get(metadata, "general.architecture"));
    json_t *from = own_keys(metadata, architecture ? architecture : "");
    const struct family *f = architecture ? family_of(families, FAMILIES, architecture, from) : NULL;
    json_t *ret = NULL, *all = json_copy(from);
    for (size_t i = 0; i < FAMILIES; i++) names[i] = families[i].architecture;
    if (!f)
        diags_unknown(diags, (struct srcloc){.file = path}, NULL, architecture ? architecture : "", names, FAMILIES,
                      "import its config.json: dse llm import CONFIG.JSON --weights FILE.gguf",
                      "general.architecture: \"%s\" of GGUF is not known", architecture ? architecture : "");
    else
        ret = translate(from, f, gguf_uncounted);
    const double tokens = number_of(metadata, "tokenizer.ggml.tokens.length");
    if (ret && !json_object_get(ret, "vocab_size") && tokens > 0) json_object_set_new(ret, "vocab_size", json_real(tokens));
    if (ret) json_object_set_new(ret, "tie_word_embeddings", json_boolean(!has_tensor(tensors, "output.weight")));
    if (ret && json_object_get(ret, "kv_lora_rank")) set_latent(all, ret);
    json_decref(all);
    json_decref(from);
    return ret;
}
