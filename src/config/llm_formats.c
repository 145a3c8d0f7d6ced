#include "config/llm_formats.h"

#include "base/xalloc.h"
#include "config/llm_classes.h"
#include "config/llm_index.h"
#include "config/llm_json.h"
#include "config/llm_tensors.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is found in the files of one checkpoint. */
struct found {
    struct llm_format format; /* of most weights */
    struct llm_filled filled; /* the classes that have it */
    bool is_exact;            /* no class has weights of several formats */
    struct text *lines;
};

/* ---- by name --------------------------------------------------------------------------------------------------------------- */

/* Methods and formats whose names say the widths. A block of a microscaling format has one scale of 8 bits. */
static const struct {
    const char *name; /* in small letters; whole, but for what follows a '*' */
    struct llm_format format;
} by_name[] = {
    {"mxfp4", {4, 8.0 / 32, 0, 0}},
    {"mxfp6*", {6, 8.0 / 32, 0, 0}},
    {"mxfp8*", {8, 8.0 / 32, 8, 0}},
    {"nvfp4*", {4, 8.0 / 16, 4, 0}},
    {"w4a16_nvfp4*", {4, 8.0 / 16, 0, 0}},
    {"w4a8_nvfp4*", {4, 8.0 / 16, 8, 0}},
    {"w4a8_mxfp4*", {4, 8.0 / 32, 8, 0}},
    {"fp8_pb_wo", {8, 0, 0, 0}},
    {"fp8*", {8, 0, 8, 0}},
    {"fbgemm_fp8", {8, 0, 8, 0}},
    {"modelopt_fp4", {4, 8.0 / 16, 4, 0}},
    {"modelopt_fp8", {8, 0, 8, 0}},
    {"float8*", {8, 0, 8, 0}},
    {"w8a8*", {8, 0, 8, 0}},
    {"w8a16*", {8, 0, 0, 0}},
    {"w4a16*", {4, 0, 0, 0}},
    {"w4a8*", {4, 0, 8, 0}},
    {"w4a4*", {4, 0, 4, 0}},
    {"int8_wo", {8, 0, 0, 0}},
    {"int8_weight_only", {8, 0, 0, 0}},
    {"int4_weight_only", {4, 0, 0, 0}},
    {"int8*", {8, 0, 8, 0}},
    {"int4*", {4, 0, 0, 0}},
    {"fp4*", {4, 8.0 / 32, 0, 0}},
    {"uint4", {4, 0, 0, 0}},
    {"uint8", {8, 0, 0, 0}},
    {"eetq", {8, 0, 0, 0}},
    {"bitnet", {2, 0, 8, 0}},
    {"int2", {2, 0, 0, 0}},
};

static bool is_named(const char *name, const char *pattern)
{
    size_t n = strcspn(pattern, "*");
    for (size_t i = 0; i < n; i++) {
        const char small = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
        if (small != pattern[i]) return false; /* at the end of the name, too */
    }
    return pattern[n] == '*' || name[n] == '\0';
}

/* What is not known yet, from a name; which may be NULL. */
static void take_name(const char *name, struct llm_format *f)
{
    for (size_t i = 0; name && i < sizeof by_name / sizeof *by_name; i++) {
        const struct llm_format *of = &by_name[i].format;
        if (!is_named(name, by_name[i].name)) continue;
        if (f->weight_bits == 0) *f = (struct llm_format){of->weight_bits, of->scale_bits, of->activation_bits, f->kv_bits};
        return;
    }
}

/* ---- by key ---------------------------------------------------------------------------------------------------------------- */

static double number_of(json_t *q, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_is_number(json_object_get(q, *keys))) return json_number_value(json_object_get(q, *keys));
    return 0;
}

static const char *word_of(json_t *q, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_is_string(json_object_get(q, *keys))) return json_string_value(json_object_get(q, *keys));
    return NULL;
}
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Weights in groups, each with a scale of 16 bits and, unless it is symmetric, a zero point as wide as a weight. Files of GPTQ have
 * the zero points in any case. */
static double scales(json_t *q, double bits)
{
    const double group = number_of(q, KEYS("group_size", "q_group_size"));
    const char *method = word_of(q, KEYS("quant_method"));
    const bool zero = (method && strcmp(method, "gptq") == 0) || json_is_true(json_object_get(q, "zero_point")) ||
                      json_is_false(json_object_get(q, "sym")) || json_is_false(json_object_get(q, "symmetric"));
    return group > 0 ? (16 + (zero ? bits : 0)) / group : 0;
}

/* The keys of AWQ, GPTQ, AutoRound, EXL2, MLX, HQQ, and of one group of compressed-tensors. */
static void take_integers(json_t *q, struct llm_format *f)
{
    const double bits = number_of(q, KEYS("bits", "w_bit", "num_bits", "nbits", "weight_bits"));
    if (bits > 0) {
        f->weight_bits = floor(bits);
        f->scale_bits = bits > floor(bits) ? bits - floor(bits) : scales(q, bits); /* EXL2's bits are a mean with their scales */
    }
    const char *type = word_of(q, KEYS("type"));
    const double group = number_of(q, KEYS("group_size"));
    if (bits > 0 && type && strcmp(type, "float") == 0 && group > 0) f->scale_bits = 8 / group; /* NVFP4, MXFP4 */
}

static void take_bitsandbytes(json_t *q, struct llm_format *f)
{
    const bool twice = json_is_true(json_object_get(q, "bnb_4bit_use_double_quant"));
    if (json_is_true(json_object_get(q, "load_in_8bit"))) *f = (struct llm_format){8, 0, 8, f->kv_bits};
    if (!json_is_true(json_object_get(q, "load_in_4bit"))) return;
    /* 32 bits in 64 weights; or 8, and of 256 of these 32 (Dettmers et al., arXiv:2305.14314, Sec. 3) */
    *f = (struct llm_format){4, twice ? 8.0 / 64 + 32.0 / (64 * 256) : 32.0 / 64, 0, f->kv_bits};
}

/* Blocks of fp8 weights with one scale of 32 bits each. */
static void take_blocks(json_t *q, struct llm_format *f)
{
    const json_t *block = json_object_get(q, "weight_block_size");
    const double rows = json_number_value(json_array_get(block, 0)), columns = json_number_value(json_array_get(block, 1));
    if (rows >= 1 && columns >= 1 && f->weight_bits > 0) f->scale_bits = 32 / (rows * columns);
}

/* A part of a scheme: "weights", "input_activations", in compressed-tensors, Quark and HQQ. */
static void take_parts(json_t *q, struct llm_format *f)
{
    const char *const *weights = KEYS("weights", "weight", "weight_quant_params");
    for (const char *const *k = weights; *k; k++) {
        json_t *part = json_object_get(q, *k);
        struct llm_format named = {0};
        if (json_is_object(part)) take_integers(part, f);
        take_name(json_is_string(part) ? json_string_value(part) : word_of(part, KEYS("dtype")), &named); /* Quanto; Quark */
        if (f->weight_bits > 0 || named.weight_bits == 0) continue;
        f->weight_bits = named.weight_bits;
        f->scale_bits = named.scale_bits;
    }
    json_t *in = json_object_get(q, "input_activations");
    if (!in) in = json_object_get(q, "input_tensors");
    if (json_is_object(in)) f->activation_bits = number_of(in, KEYS("num_bits"));
}

static void take_cache(json_t *q, struct llm_format *f)
{
    json_t *scheme = json_object_get(q, "kv_cache_scheme");
    struct llm_format named = {0};
    take_name(word_of(q, KEYS("kv_cache_quant_algo", "kv_cache_scheme", "kv_cache_dtype")), &named);
    if (json_is_object(scheme)) named.weight_bits = number_of(scheme, KEYS("num_bits"));
    if (named.weight_bits > 0) f->kv_bits = named.weight_bits;
}

/* ---- one configuration ----------------------------------------------------------------------------------------------------- */

static const char *method_of(json_t *q)
{
    return word_of(q, KEYS("quant_algo", "quant_method", "quant_type", "format", "mode"));
}

/* Numbers that no weights have say nothing of their width. */
static void forget_impossible(struct llm_format *f)
{
    enum { BITS_MAX = 32, SCALE_BITS_MAX = 16 };
    const bool possible = f->weight_bits >= 1 && f->weight_bits <= BITS_MAX && f->scale_bits >= 0 &&
                          f->scale_bits <= SCALE_BITS_MAX && f->activation_bits >= 0 && f->activation_bits <= BITS_MAX;
    if (!possible) *f = (struct llm_format){.kv_bits = f->kv_bits};
}

static void take(json_t *q, struct llm_format *f)
{
    json_t *groups = json_object_get(q, "config_groups");
    const char *key;
    json_t *group;
    json_object_foreach(groups, key, group) if (f->weight_bits == 0) take_parts(group, f);
    take_parts(q, f);
    take_parts(json_object_get(q, "global_quant_config"), f);
    take_parts(json_object_get(q, "quant_config"), f);
    if (f->weight_bits == 0) take_integers(q, f);
    take_bitsandbytes(q, f);
    take_name(word_of(q, KEYS("quant_algo")), f);
    take_name(word_of(q, KEYS("quant_method")), f);
    take_name(word_of(q, KEYS("quant_type", "format")), f);
    json_t *types = json_object_get(q, "quant_type");
    json_object_foreach(types, key, group) take_name(word_of(group, KEYS("_type")), f); /* TorchAO */
    if (f->scale_bits == 0) f->scale_bits = scales(q, f->weight_bits);
    take_blocks(q, f);
    take_cache(q, f);
}

/* Layers with formats of their own, counted by format: "FP8 in 3 matrices, NVFP4 in 58 matrices". The most frequent, or NULL. */
static const char *add_mixed(json_t *q, struct text *ret)
{
    enum { FORMATS = 8 };
    const char *names[FORMATS + 1] = {0}, *key;
    int counts[FORMATS] = {0}, most = 0;
    json_t *layer;
    json_object_foreach(json_object_get(q, "quantized_layers"), key, layer)
    {
        const char *name = word_of(layer, KEYS("quant_algo"));
        int i = 0;
        while (name && i < FORMATS && names[i] && strcmp(names[i], name) != 0) i++;
        if (!name || i == FORMATS) continue;
        names[i] = name;
        counts[i]++;
        if (counts[i] > counts[most]) most = i;
    }
    for (int i = 0; names[i]; i++) text_addf(ret, "%s %s in %d matrices", i ? "," : ";", names[i], counts[i]);
    return names[most];
}

/* The first of the modules that keep 16 bits. */
static void add_exceptions(json_t *q, struct text *ret)
{
    enum { SHOWN = 6 };
    const json_t *list = llm_exceptions(q);
    const size_t n = json_array_size(list);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        text_addf(ret, "%s %s", i ? "," : "; not", name ? name : "?");
    }
    if (n > SHOWN) text_addf(ret, " and %zu more", n - SHOWN);
}

static void add_bits(struct text *ret, const char *of, double bits)
{
    char buf[TEXT_NUMBER_MAX];
    if (bits > 0) text_addf(ret, ", %s of %s bits", of, text_short_number(buf, bits));
}

/* MLX names no method. */
static bool is_mlx(const json_t *q)
{
    return json_is_number(json_object_get(q, "bits")) && json_is_number(json_object_get(q, "group_size")) &&
           !json_object_get(q, "quant_method") && !json_object_get(q, "quant_algo");
}

/* A group has a scale and a bias of 16 bits or, in the other modes (mxfp4, mxfp8, nvfp4), a scale of 8. */
static double mlx_scale_bits(const json_t *q)
{
    const char *mode = json_string_value(json_object_get(q, "mode"));
    const bool is_affine = !mode || strcmp(mode, "affine") == 0;
    return (is_affine ? 2.0 * 16 : 8) / json_number_value(json_object_get(q, "group_size"));
}

/* compressed-tensors: a group has a format and the modules that have it. */
static bool fill_groups(json_t *q, json_t *groups, struct llm_filled *ret)
{
    const char *key;
    json_t *group;
    bool exact = true;
    json_object_foreach(groups, key, group)
    {
        struct llm_format f = {0};
        const json_t *targets = json_object_get(group, "targets");
        take_parts(group, &f);
        forget_impossible(&f);
        if (f.weight_bits > 0 && targets)
            exact = llm_fill_classes(q, targets, NULL, &f, ret) && exact;
        else
            exact = false;
    }
    return exact;
}

/* ModelOpt: each module has a format of its own. */
static bool fill_layers(json_t *q, json_t *layers, struct llm_filled *ret)
{
    json_t *by_format = json_object(), *layer, *names;
    const char *key;
    bool exact = true;
    json_object_foreach(layers, key, layer)
    {
        const char *format = word_of(layer, KEYS("quant_algo"));
        if (format && !json_object_get(by_format, format)) json_object_set_new(by_format, format, json_array());
        if (format) json_array_append_new(json_object_get(by_format, format), json_string(key));
    }
    json_object_foreach(by_format, key, names)
    {
        struct llm_format f = {0};
        take_name(key, &f);
        exact = f.weight_bits > 0 && llm_fill_classes(q, names, NULL, &f, ret) && exact;
    }
    json_decref(by_format);
    return exact;
}

static bool fill_classes(json_t *q, const char *method, const struct llm_format *own, struct llm_filled *ret)
{
    json_t *groups = json_object_get(q, "config_groups"), *layers = json_object_get(q, "quantized_layers");
    if (json_is_object(layers)) return fill_layers(q, layers, ret);
    if (json_is_object(groups) && json_object_size(groups) > 1) return fill_groups(q, groups, ret);
    return llm_fill_classes(q, NULL, method, own, ret);
}

/* One line of what was found; what is known goes into *f where that has nothing yet. */
static void describe(const char *name, json_t *q, struct found *found)
{
    struct llm_format *f = &found->format;
    struct text *ret = found->lines;
    struct llm_format own = {0};
    struct text mixed;
    text_init(&mixed);
    take(q, &own);
    take_name(add_mixed(q, &mixed), &own);
    if (is_mlx(q)) own.scale_bits = mlx_scale_bits(q);
    llm_take_scales(q, &own);
    forget_impossible(&own);
    const char *method = is_mlx(q) ? "MLX" : method_of(q);
    const double group = number_of(q, KEYS("group_size", "q_group_size"));
    text_addf(ret, "%s: %s", name, method ? method : "no method is named");
    add_bits(ret, "weights", own.weight_bits);
    if (group > 0) text_addf(ret, " in groups of %.0f", group);
    add_bits(ret, "activations", own.activation_bits);
    add_bits(ret, "a cache", own.kv_bits);
    text_add(ret, mixed.s);
    text_release(&mixed);
    add_exceptions(q, ret);
    text_add(ret, "\n");
    if (f->weight_bits == 0) {
        f->weight_bits = own.weight_bits;
        f->scale_bits = own.scale_bits;
        f->activation_bits = own.activation_bits;
        if (own.weight_bits > 0) found->is_exact = fill_classes(q, method, &own, &found->filled);
    }
    if (f->kv_bits == 0) f->kv_bits = own.kv_bits;
}

static void add_setting(struct text *ret, const char *name, double value)
{
    char buf[TEXT_NUMBER_MAX];
    if (value > 0) text_addf(ret, " --set %s=%s", name, text_number(buf, value));
}

static void add_nearest(const struct llm_format *f, struct text *ret)
{
    if (f->weight_bits == 0 && f->kv_bits == 0) {
        text_add(ret, "no width was found in it: say weight_bits, weight_scale_bits, activation_bits and kv_bits yourself\n");
        return;
    }
    text_add(ret, "nearest:");
    add_setting(ret, "weight_bits", f->weight_bits);
    add_setting(ret, "weight_scale_bits", f->scale_bits);
    add_setting(ret, "activation_bits", f->activation_bits);
    add_setting(ret, "kv_bits", f->kv_bits);
    if (f->weight_bits > 0) {
        text_add(ret, "; --set format=checkpoint");
        add_setting(ret, "kv_bits", f->kv_bits);
        text_add(ret, " takes each class of weights as it is");
    }
    text_add(ret, "\n");
}

/* ---- where they stand ------------------------------------------------------------------------------------------------------ */

static bool read_beside(struct llm_config *c, struct found *found)
{
    static const char name[] = "hf_quant_config.json";
    json_t *root, *q;
    if (!llm_json_beside(c->file, name, &root, c->diags)) return false;
    q = json_object_get(root, "quantization");
    if (root) describe(name, q ? q : root, found);
    json_decref(root);
    return true;
}

/* DeepSeek-V4's files say fp8, and beside it that the experts are in MXFP4. */
static void take_expert_type(struct llm_config *c, struct found *found)
{
    const char *type = json_string_value(json_object_get(c->text, "expert_dtype"));
    const json_t *q = json_object_get(c->text, "quantization_config");
    const char *method = json_string_value(json_object_get(q, "quant_method"));
    const struct llm_format experts = {4, 8.0 / 32, 8, 0};
    if (type && method && strcmp(type, "fp4") == 0 && strcmp(method, "fp8") == 0)
        llm_fill_classes(NULL, NULL, "mxfp4", &experts, &found->filled);
}

/* What the configuration and the file beside it say. */
static bool read_formats(struct llm_config *c, struct found *found)
{
    static const char *const keys[] = {"quantization_config", "compression_config", "quantization"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        config_value(c, keys[i]); /* it is asked for */
        json_t *q = json_object_get(c->text, keys[i]);
        if (!q) q = json_object_get(c->root, keys[i]);
        if (json_is_object(q)) describe(keys[i], q, found);
    }
    take_expert_type(c, found);
    return read_beside(c, found) || (c->ok = false);
}

/* What its tensors and its index say. */
static bool read_files(struct llm_config *c, struct found *found)
{
    struct llm_filled *filled = &found->filled;
    if (found->lines->n) add_nearest(&found->format, found->lines);
    llm_set_scales(filled, &llm_usual_reading);
    if (!c->tensors && !llm_read_headers_beside(c)) return false;
    if (!llm_fill_from_tensors(c, filled->llm, found->lines)) return false;
    if (json_array_size(c->tensors) > 0) found->is_exact = true;
    const struct llm_format *f = &found->format;
    const bool is_known = f->weight_bits > 0 || f->kv_bits > 0 || found->lines->n == 0 || json_array_size(c->tensors) > 0;
    return (c->ok = llm_compare_index(c, filled, is_known, found->is_exact, found->lines));
}

bool llm_find_formats(struct llm_config *c, struct dse_llm *llm, struct text *ret)
{
    struct found found = {.is_exact = true, .lines = ret};
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++)
        llm->formats.bits[i] = llm->formats.scale_bits[i] = llm->formats.activation_bits[i] = (double)NAN;
    llm_filled_init(&found.filled, llm);
    const bool ok = read_formats(c, &found) && read_files(c, &found);
    llm_filled_release(&found.filled);
    return ok;
}
