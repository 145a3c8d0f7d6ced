#include "config/llm_index.h"

#include "base/xalloc.h"
#include "config/llm_json.h"
#include "config/llm_tensors.h"

#include <dse/llm.h>
#include <dse/units.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF_BYTES = 2 }; /* of 16 bits */
static const char index_name[] = "model.safetensors.index.json";
const struct llm_reading llm_usual_reading = {.scale_times = 1};

/* ---- layers that draft ----------------------------------------------------------------------------------------------------- */

/* What a layer that predicts the token after the next has beside a layer of the LLM, 16 bits an element (DeepSeek-V3). */
static const struct {
    const char *end; /* of the tensor's name */
    int64_t hiddens; /* elements: so many times hidden * hidden */
    bool is_table;   /* vocab * hidden */
    bool is_norm;    /* hidden */
} of_drafts[] = {
    {".eh_proj.weight", 2, false, false}, {".embed_tokens.weight", 0, true, false}, {".shared_head.head.weight", 0, true, false},
    {".enorm.weight", 0, false, true},    {".hnorm.weight", 0, false, true},        {".shared_head.norm.weight", 0, false, true},
};

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

static double own_elements(const struct dse_llm *llm, const char *name)
{
    for (size_t i = 0; i < sizeof of_drafts / sizeof *of_drafts; i++) {
        if (!ends_in(name, of_drafts[i].end)) continue;
        const int64_t rows = of_drafts[i].is_table ? llm->vocab : of_drafts[i].is_norm ? 1 : of_drafts[i].hiddens * llm->hidden;
        return (double)rows * (double)llm->hidden;
    }
    return 0;
}

enum { DRAFTS_MOST = 64 };
/* Layers behind the last one of the LLM: how many, of what kind, and the bytes of what only they have. */
struct drafts {
    int64_t n, kind;
    double own_bytes;
};

/* The kind of the last layer that is as the last one, with an indexer or without. */
static int64_t kind_of(const struct dse_llm *llm, bool has_indexer)
{
    const struct dse_layer_kind *last = dse_llm_layer(llm, llm->layers - 1);
    for (int64_t i = llm->layers - 1; i >= 0; i--) {
        const struct dse_layer_kind *k = dse_llm_layer(llm, i);
        const bool has = k->attention == DSE_LATENT_TOPK || k->attention == DSE_FULL_TOPK;
        if (has == has_indexer && k->feed_forward == last->feed_forward) return k - llm->kinds;
    }
    return last - llm->kinds;
}

static struct drafts find_drafts(json_t *map, const struct dse_llm *llm)
{
    const char *name;
    json_t *file;
    struct drafts ret = {0};
    bool has_indexer = false;
    json_object_foreach(map, name, file)
    {
        const int64_t behind = llm_layer_of_tensor(name) - llm->layers;
        if (behind < 0 || behind >= DRAFTS_MOST) continue;
        if (behind >= ret.n) ret.n = behind + 1;
        has_indexer = has_indexer || strstr(name, "indexer");
        ret.own_bytes += (double)HALF_BYTES * own_elements(llm, name);
    }
    ret.kind = kind_of(llm, has_indexer);
    return ret;
}

/* ---- what a configuration leaves open -------------------------------------------------------------------------------------- */

/* How the files may be: scales and biases of their method; what is no matrix; whether layers that draft are among them. */
struct files {
    struct llm_reading reading;
    bool has_wide_numbers, has_drafts;
};
/* In the order in which they are tried: a bit each, and the widths of scales from here on. */
enum { DRAFTS = 1, WIDE_NUMBERS = 2, BIASES = 4, ROUTERS = 8, SHAPES = 16, WIDTHS = 32 };
static const double widths[] = {1, 0.5, 2};
enum { READINGS = WIDTHS * (sizeof widths / sizeof *widths) };

static struct files files_of(int i)
{
    return (struct files){.reading = {.scale_times = widths[i / WIDTHS],
                                      .bias_bits = i & BIASES ? 16 : 0,
                                      .halves_shapes = i & SHAPES,
                                      .keeps_routers = i & ROUTERS},
                          .has_wide_numbers = i & WIDE_NUMBERS,
                          .has_drafts = i & DRAFTS};
}

/* Biases of routers (DeepSeek-V3) and decays of delta rules (Qwen3.5), which some files have in 32 bits among others in 16. */
static double wide_numbers(const struct dse_llm *llm)
{
    double n = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        const bool has_bias = k->feed_forward == DSE_FFN_EXPERTS && k->shape.moe.router_bias;
        n += has_bias ? (double)(k->layers * k->shape.moe.experts) : 0;
        n += k->attention == DSE_DELTA ? (double)(k->layers * k->shape.states.state_value_heads) : 0;
    }
    return n;
}

/* Of the LLM, and of layers that draft where they are not NULL. */
static double bytes_of(const struct llm_filled *filled, const struct files *files, const struct drafts *drafts)
{
    struct dse_llm *llm = (struct dse_llm *)xmalloc(sizeof *llm);
    struct llm_filled longer = *filled;
    *llm = *filled->llm;
    longer.llm = llm;
    if (drafts) llm->kinds[drafts->kind].layers += drafts->n;
    llm_set_scales(&longer, &files->reading);
    const double ret = dse_llm_checkpoint_bytes(llm) + (files->has_wide_numbers ? (double)HALF_BYTES * wide_numbers(llm) : 0);
    free(llm);
    return ret + (drafts ? drafts->own_bytes : 0);
}

static bool is_same(double a, double b)
{
    return fabs(a - b) < 0.5;
}

static double scale_bits(const struct llm_filled *filled, const struct llm_reading *reading)
{
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++)
        if (filled->scales[i].any_width) return filled->scales[i].block_bits * reading->scale_times;
    return 0;
}

/* What was found, behind one another. */
static void say_found(struct text *ret, const char *what)
{
    text_addf(ret, "%s%s", ret->n > 0 ? ", " : "as counted, with ", what);
}

static void say_files(const struct llm_filled *filled, const struct files *files, double draft_bytes, double buffer_bytes,
                      struct text *ret)
{
    const struct llm_reading *r = &files->reading;
    char *scales = xasprintf("scales of %.0f bits", scale_bits(filled, r));
    char *drafts = xasprintf("%.0f bytes of layers that draft", draft_bytes);
    char *buffers = xasprintf("%.0f bytes of rotary_emb", buffer_bytes);
    if (r->scale_times != 1) say_found(ret, scales);
    if (r->bias_bits > 0) say_found(ret, "a bias for each output");
    if (r->halves_shapes) say_found(ret, "shapes of 32 bits");
    if (r->keeps_routers) say_found(ret, "routers of 16 bits");
    if (files->has_wide_numbers) say_found(ret, "router biases and decays of 32 bits");
    if (files->has_drafts) say_found(ret, drafts);
    if (buffer_bytes > 0) say_found(ret, buffers);
    text_add(ret, ret->n > 0 ? "\n" : "as counted\n");
    free(scales);
    free(drafts);
    free(buffers);
}

/* Tables of rotary embedding, one a layer, that some files hold and no LLM needs: as many bytes each, few of them. */
static bool are_buffers(double bytes, int64_t n)
{
    enum { MOST = 1024 };
    const double each = n > 0 ? bytes / (double)n : 0;
    return bytes > 0 && each > 0 && each <= MOST && fmod(each, 2) == 0;
}

static int64_t count_buffers(json_t *map)
{
    const char *name;
    json_t *file;
    int64_t n = 0;
    json_object_foreach(map, name, file) n += strstr(name, "rotary_emb") != NULL;
    return n;
}

/* Is there a reading of the configuration that gives the total, but for `buffers` tensors? Then the formats are as it says. */
static bool find_reading(double total, const struct llm_filled *filled, json_t *map, int64_t buffers, struct text *ret)
{
    const struct drafts drafts = find_drafts(map, filled->llm);
    for (int i = 0; i < READINGS; i++) {
        const struct files files = files_of(i);
        const double base = bytes_of(filled, &files, NULL);
        const double more = files.has_drafts ? bytes_of(filled, &files, &drafts) - base : 0, rest = total - base - more;
        if (!is_same(rest, 0) && !are_buffers(rest, buffers)) continue;
        llm_set_scales(filled, &files.reading);
        say_files(filled, &files, more, is_same(rest, 0) ? 0 : rest, ret);
        return true;
    }
    return false;
}

/* ---- the index ------------------------------------------------------------------------------------------------------------- */

static void say_difference(double total, const struct llm_filled *filled, json_t *map, struct text *ret)
{
    const struct files usual = files_of(0);
    const struct drafts drafts = find_drafts(map, filled->llm);
    const double counted = dse_llm_checkpoint_bytes(filled->llm);
    text_addf(ret, "%.0f %s than counted: layers in formats of their own, or what is no part of the LLM (vision, drafts)\n",
              fabs(total - counted), total > counted ? "more" : "fewer");
    if (drafts.n > 0) text_addf(ret, "layers that draft: about %.0f bytes of them\n", bytes_of(filled, &usual, &drafts) - counted);
}

/* NULL: it says none, or what is no number of bytes. */
static const json_t *total_of(const json_t *root)
{
    const double most = 1e18;
    const json_t *size = json_object_get(json_object_get(root, "metadata"), "total_size");
    return json_number_value(size) > 0 && json_number_value(size) < most ? size : NULL;
}

bool llm_compare_index(struct llm_config *c, const struct llm_filled *filled, bool is_known, bool is_exact, struct text *ret)
{
    json_t *root;
    if (!llm_json_beside(c->file, index_name, &root, c->diags)) return false;
    const bool has_tensors = json_array_size(c->tensors) > 0;
    const json_t *size = total_of(root);
    json_t *map = json_object_get(root, "weight_map");
    const double total = json_number_value(size);
    struct text line;
    text_init(&line);
    const bool found = size && !has_tensors &&
                       (find_reading(total, filled, map, 0, &line) || find_reading(total, filled, map, count_buffers(map), &line));
    const double counted = dse_llm_checkpoint_bytes(filled->llm);
    if (size && !found && is_same(total, counted)) text_add(&line, "as counted\n");
    if (size && !found && !is_same(total, counted)) say_difference(total, filled, map, &line);
    if (!is_known && !found)
        text_add(ret, "checkpoint: of unknown size; the entry has 16 bits for all weights\n");
    else if (root || ret->n > 0)
        text_addf(ret, "checkpoint: %.0f bytes, %.2f GiB%s\n", counted, counted / DSE_GIB,
                  is_exact || found ? "" : "; about: parts of some classes are in other formats");
    if (size) text_addf(ret, "%s: %.0f bytes, %s", index_name, total, line.s);
    if (size && !has_tensors && !found) llm_say_left_out(map, filled->llm, ret);
    text_release(&line);
    json_decref(root);
    return true;
}
