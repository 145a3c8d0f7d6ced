/* What a config.json is the configuration of: a causal LLM, or something else that has the same keys. */
#include "config/llm_config.h"

#include "base/xalloc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char of_drafts[] =
    "a head that drafts for an LLM: import that LLM; drafter = \"layer\" and \"heads\" of a step stand for "
    "such heads (docs/explanation/llms.md, Drafts)";
static const char of_trunks[] = "import the causal LLM that it was made from, and mind that there is no output head";

struct unlike {
    const char *part; /* of the name of a class, in small letters */
    const char *what, *hint;
};
static const struct unlike classes[] = {
    {"eagle", "an EAGLE head that drafts", of_drafts},
    {"medusa", "Medusa heads that draft", of_drafts},
    {"speculator", "a head that drafts", of_drafts},
    {"dflash", "a head that drafts", of_drafts},
    {"draft", "a head that drafts", of_drafts},
    {"mtpmodel", "a multi-token-prediction layer that drafts", of_drafts},
    {"mtpforcausallm", "a multi-token-prediction layer that drafts", of_drafts},
    {"nextn", "a multi-token-prediction layer that drafts", of_drafts},
    {"sequenceclassification", "a classifier or reranker, with a score in place of the output head", of_trunks},
    {"tokenclassification", "a classifier of tokens, with labels in place of the output head", of_trunks},
    {"imageclassification", "a classifier of images", NULL},
    {"audioclassification", "a classifier of sounds", NULL},
    {"questionanswering", "a model that marks answers, without an output head", of_trunks},
    {"multiplechoice", "a classifier, with a score in place of the output head", of_trunks},
    {"reward", "a reward model, with a score in place of the output head", of_trunks},
    {"reranker", "a reranker, with a score in place of the output head", of_trunks},
    {"maskedlm", "an encoder (a masked language model), which generates nothing", NULL},
    {"bidirectional", "an encoder with attention in both directions, for embeddings", NULL},
    {"embedding", "a model of embeddings, without an output head", of_trunks},
    {"retrieval", "a model of embeddings, without an output head", of_trunks},
    {"encoder", "an encoder, which generates nothing", NULL},
    {"seq2seq", "an encoder with a decoder", NULL},
    {"forctc", "a recogniser of speech", NULL},
    {"diffusion", "a diffusion model, which generates no token after another", NULL},
};

/* Keys that only other things than causal LLMs have. */
static const struct unlike keys[] = {
    {"draft_vocab_size", "a head that drafts (EAGLE-3)", of_drafts}, {"eagle_config", "an EAGLE head that drafts", of_drafts},
    {"medusa_num_heads", "Medusa heads that draft", of_drafts},      {"speculators_model_type", "a head that drafts", of_drafts},
    {"speculators_config", "a head that drafts", of_drafts},
};
/* The same of keys with one value. */
static const struct unlike flags[] = {
    {"is_encoder_decoder", "an encoder with a decoder", NULL},
    {"use_bidirectional_attention", "an encoder with attention in both directions, for embeddings", NULL},
};

/* Files without a model_type that lie beside a config.json, by a key of theirs. */
static const struct unlike files[] = {
    {"quantization", "hf_quant_config.json: formats of weights, without their shape",
     "import the config.json beside it; dse reads both"},
    {"peft_type", "adapter_config.json: an adapter of an LLM", "import the config.json of the LLM that it adapts"},
    {"weight_map", "an index of tensors", "import the config.json beside it"},
    {"_from_model_config", "generation_config.json: how tokens are chosen", "import the config.json beside it"},
    {"do_sample", "generation_config.json: how tokens are chosen", "import the config.json beside it"},
    {"added_tokens_decoder", "tokenizer_config.json: how text becomes tokens", "import the config.json beside it"},
    {"image_processor_type", "preprocessor_config.json: how pictures become tokens", "import the config.json beside it"},
    {"_class_name", "the configuration of a diffusion pipeline", NULL},
};
enum {
    CLASSES = sizeof classes / sizeof *classes,
    KEYS = sizeof keys / sizeof *keys,
    FLAGS = sizeof flags / sizeof *flags,
    FILES = sizeof files / sizeof *files
};

static char *small_letters(const char *s)
{
    char *small = xstrdup(s);
    for (char *p = small; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    return small;
}

static bool ends(const char *s, const char *end)
{
    return strlen(s) >= strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

/* Is it the name of a class with an output head that generates one token after another? */
static bool is_causal(const char *small)
{
    static const char *const parts[] = {"causallm",  "conditionalgeneration", "lmheadmodel", "chatglmmodel",
                                        "chatmodel", "imagetexttotext",       "vision2seq",  "visiontext2text",
                                        "omnimodel"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(small, parts[i])) return true;
    return false;
}

/* One name of `architectures`. Those of multimodal files are free, but for what is known to be something else. */
static bool check_class(struct llm_config *c, const char *name, bool multimodal)
{
    static const char key[] = "architectures";
    char *small = small_letters(name);
    const struct unlike *is = NULL;
    for (size_t i = 0; i < CLASSES && !is; i++)
        if (strstr(small, classes[i].part)) is = &classes[i];
    const bool causal = is_causal(small), trunk = ends(small, "model");
    free(small);
    if (is) return config_refuse(c, key, is->hint, "not a causal LLM: %s is %s", name, is->what);
    if (causal || multimodal) return true;
    if (trunk)
        return config_refuse(c, key, of_trunks, "not a causal LLM: %s is a trunk without an output head, for embeddings", name);
    return config_cannot(c, key, NULL, "%s is not known to be a causal LLM", name);
}

static bool check_classes(struct llm_config *c, const json_t *of, bool multimodal)
{
    const json_t *list = json_object_get(of, "architectures");
    for (size_t i = 0; i < json_array_size(list) && c->ok; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name) check_class(c, name, multimodal);
    }
    return c->ok;
}

static const json_t *value_of(const struct llm_config *c, const char *key)
{
    const json_t *v = json_object_get(c->text, key);
    return v ? v : json_object_get(c->root, key);
}

static bool check_keys(struct llm_config *c)
{
    for (size_t i = 0; i < KEYS && c->ok; i++)
        if (value_of(c, keys[i].part) && !json_is_null(value_of(c, keys[i].part)))
            config_refuse(c, keys[i].part, keys[i].hint, "not a causal LLM: %s is of %s", keys[i].part, keys[i].what);
    for (size_t i = 0; i < FLAGS && c->ok; i++)
        if (json_is_true(value_of(c, flags[i].part)))
            config_refuse(c, flags[i].part, flags[i].hint, "not a causal LLM: %s is of %s", flags[i].part, flags[i].what);
    if (c->ok && json_is_false(value_of(c, "is_causal")))
        config_refuse(c, "is_causal", of_trunks, "not a causal LLM: attention in both directions (is_causal)");
    return c->ok;
}

bool config_check_kind(struct llm_config *c)
{
    if (!check_classes(c, c->root, c->nested)) return false;
    if (c->nested && !check_classes(c, c->text, true)) return false;
    if (!check_keys(c)) return false;
    static const char *const asked[] = {"architectures", "is_encoder_decoder", "use_bidirectional_attention", "is_causal"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) config_value(c, asked[i]);
    if (c->model_type) return true;
    for (size_t i = 0; i < FILES; i++)
        if (json_object_get(c->root, files[i].part))
            return config_refuse(c, files[i].part, files[i].hint, "there is no model_type: this is %s", files[i].what);
    return config_error(c, "model_type", "there is no model_type: a config.json of Hugging Face transformers has one");
}
