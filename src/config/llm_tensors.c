#include "config/llm_tensors.h"

#include "base/xalloc.h"
#include "config/llm_classes.h"
#include "config/llm_headers.h"
#include "config/llm_json.h"

#include <ctype.h>
#include <dse/llm.h>
#include <dse/units.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tensors that are no part of the text model, or have no class that is known, by the beginning of their names. */
enum { GROUPS_MOST = 40, GROUP_NAME = 64 };
struct group {
    char name[GROUP_NAME];
    double bytes;
    int64_t n;
};

struct sums {
    double bytes[DSE_WEIGHT_CLASSES], scale_bytes[DSE_WEIGHT_CLASSES];
    double elements[DSE_WEIGHT_CLASSES]; /* of types with one element a value */
    bool is_packed[DSE_WEIGHT_CLASSES];  /* some are of other types, whose elements the header does not say */
    double small_bytes, all_bytes;
    int64_t n, n_unknown;
    struct group left_out[GROUPS_MOST];
    size_t n_left_out;
};

static bool has_word(const char *name, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

/* What is no matrix: norms, biases, sinks, numbers of a recurrence and its convolution. */
static bool is_small(const char *name)
{
    static const char *const words[] = {"norm", "sinks", "A_log", "conv1d", "rope_freqs", "rotary_emb", "ssm_a", "ssm_d", NULL};
    return has_word(name, words) || ends_in(name, ".bias") || ends_in(name, "_bias") || ends_in(name, ".D");
}

static bool is_scale(const char *name)
{
    static const char *const words[] = {"scale",  "qzeros",    "g_idx",       ".biases", "zero_point",
                                        "absmax", "quant_map", "quant_state", NULL};
    return has_word(name, words);
}

long llm_layer_of_tensor(const char *name)
{
    static const char *const words[] = {"layers.", "blk.", "h."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(name, words[i]);
        if (at && (at == name || at[-1] == '.') && isdigit((unsigned char)at[strlen(words[i])]))
            return strtol(at + strlen(words[i]), NULL, 10);
    }
    return -1;
}

/* The end of the next part of a name. */
static size_t skip_part(const char *name, size_t at)
{
    return at + 1 + strcspn(name + at + 1, ".");
}

/* Where the group of a tensor ends in its name: behind the part that follows a layer's number, or the word for what it is beside.
 * "model.visual.blocks.0.attn": "model.visual.blocks"; "model.layers.61.mlp.up_proj": "model.layers.61.mlp". */
static size_t group_end(const char *name, long layer)
{
    const char *digits = layer >= 0 ? strpbrk(name, "0123456789") : NULL;
    size_t end = digits ? (size_t)(digits - name) + strspn(digits, "0123456789") : strcspn(name, ".");
    while (!digits && name[end] == '.' && llm_is_beside(name)) {
        char *so_far = xasprintf("%.*s.", (int)end, name);
        const bool is_there = llm_is_beside(so_far);
        free(so_far);
        if (is_there) break;
        end = skip_part(name, end);
    }
    const size_t next = name[end] == '.' ? skip_part(name, end) : end;
    return name[next] == '.' ? next : end;
}

static void add_left_out(struct sums *s, const char *name, long layer, double bytes)
{
    char group[GROUP_NAME];
    const size_t n = group_end(name, layer);
    snprintf(group, sizeof group, "%.*s", (int)(n < GROUP_NAME ? n : GROUP_NAME - 1), name);
    size_t i = 0;
    while (i < s->n_left_out && strcmp(s->left_out[i].name, group) != 0) i++;
    if (i == GROUPS_MOST) i--;
    if (i == s->n_left_out) {
        s->left_out[i] = (struct group){0};
        memcpy(s->left_out[i].name, group, sizeof group);
        s->n_left_out++;
    }
    s->left_out[i].bytes += bytes;
    s->left_out[i].n++;
}

static void add(struct sums *s, const struct dse_llm *llm, const struct dse_llm_counts *n, const char *name, double bytes,
                double elements)
{
    const long layer = llm_layer_of_tensor(name);
    const int class = llm_class_of_tensor(name);
    s->n++;
    s->all_bytes += bytes;
    if (llm_is_beside(name) || layer >= llm->layers || (class >= 0 && n->matrices[class] == 0)) {
        add_left_out(s, name, layer, bytes);
    } else if (is_scale(name) && class >= 0) {
        s->scale_bytes[class] += bytes;
    } else if (is_small(name)) {
        s->small_bytes += bytes;
    } else if (class >= 0) {
        s->bytes[class] += bytes;
        s->elements[class] += elements;
        s->is_packed[class] = s->is_packed[class] || elements <= 0;
    } else {
        s->n_unknown++;
        add_left_out(s, name, layer, bytes);
    }
}

/* A tensor against the matrix of its name and layer: one, or those of all experts. */
struct compared {
    const struct dse_llm *llm;
    const char *name;
    long layer;
    double elements;
    bool is_other;
    int64_t rows, columns;
};

static void compare(void *arg, const struct dse_llm_matrix *m)
{
    struct compared *t = arg;
    const bool here = m->kind < 0 ? t->layer < 0 : t->layer >= 0 && dse_llm_layer(t->llm, t->layer) == &t->llm->kinds[m->kind];
    const double one = (double)m->rows * (double)m->columns;
    if (!here || m->class != (enum dse_weight_class)llm_class_of_tensor(t->name) || !strstr(t->name, m->part)) return;
    t->is_other = t->elements != one && t->elements != one * (double)m->times;
    t->rows = m->rows;
    t->columns = m->columns;
}

/* What contradicts the configuration, behind a colon: the first tensor of the class with another number of elements; or "". The
 * caller frees it. */
static char *other_tensor(const struct llm_config *c, const struct dse_llm *llm, int class)
{
    for (size_t i = 0; i < json_array_size(c->tensors); i++) {
        const json_t *t = json_array_get(c->tensors, i);
        const char *name = json_string_value(json_object_get(t, "name"));
        struct compared of = {.llm = llm, .name = name, .elements = json_number_value(json_object_get(t, "elements"))};
        if (!name || llm_class_of_tensor(name) != class || llm_is_beside(name) || is_scale(name) || is_small(name)) continue;
        of.layer = llm_layer_of_tensor(name);
        if (of.layer >= llm->layers) continue;
        dse_llm_each_matrix(llm, compare, &of);
        if (of.is_other) return xasprintf(": %s has %.0f, not %" PRId64 " x %" PRId64, name, of.elements, of.rows, of.columns);
    }
    return xstrdup("");
}

/* The configuration has as many weights of a class as the files. */
static bool check(struct llm_config *c, const struct dse_llm *llm, const struct sums *s, const struct dse_llm_counts *n)
{
    for (int i = 0; i < DSE_WEIGHT_CLASSES && c->ok && s->n_unknown == 0; i++) {
        if (s->is_packed[i] || s->elements[i] == (double)n->matrices[i]) continue;
        char *other = other_tensor(c, llm, i);
        config_cannot(c, "model_type", "Is this the file of these tensors?",
                      "weights of class %s: %.0f in the tensors, %" PRId64 " by the configuration%s", dse_weight_class_names[i],
                      s->elements[i], n->matrices[i], other);
        free(other);
    }
    return c->ok;
}

static void set_bits(struct dse_llm *llm, const struct sums *s, const struct dse_llm_counts *n)
{
    enum { USUAL_BITS = 16 };
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        if (n->matrices[i] == 0 || s->bytes[i] <= 0) continue;
        const double bits = DSE_BITS_PER_BYTE * s->bytes[i] / (double)n->matrices[i],
                     scale_bits = DSE_BITS_PER_BYTE * s->scale_bytes[i] / (double)n->matrices[i];
        const bool is_usual = bits == USUAL_BITS && scale_bits == 0;
        const bool is_apart =
            scale_bits > 0 && bits < USUAL_BITS; /* wide weights of a class, among narrow ones, can make it wide */
        llm->formats.bits[i] = is_usual ? (double)NAN : is_apart ? bits : bits + scale_bits;
        llm->formats.scale_bits[i] = is_apart ? scale_bits : (double)NAN;
        if (!(llm->formats.bits[i] < USUAL_BITS)) llm->formats.activation_bits[i] = (double)NAN;
    }
}

static void say_left_out(const struct sums *s, struct text *ret)
{
    for (size_t i = 0; i < s->n_left_out; i++) {
        const struct group *g = &s->left_out[i];
        text_addf(ret, "not counted: %s: %" PRId64 " tensors", g->name, g->n);
        if (g->bytes > 0) text_addf(ret, " of %.0f bytes", g->bytes);
        text_add(ret, "\n");
    }
}

static void say(const struct sums *s, const struct dse_llm *llm, const struct dse_llm_counts *n, struct text *ret)
{
    const double small = s->small_bytes - 2 * (double)n->params_small;
    double left_out = 0;
    for (size_t i = 0; i < s->n_left_out; i++) left_out += s->left_out[i].bytes;
    text_addf(ret, "tensors: %" PRId64 " of %.0f bytes; by class of weights they set the formats of the entry\n", s->n,
              s->all_bytes);
    say_left_out(s, ret);
    if (small != 0) text_addf(ret, "norms and biases: %.0f bytes %s than in 16 bits\n", fabs(small), small > 0 ? "more" : "fewer");
    const double missing = s->all_bytes - left_out - small - dse_llm_checkpoint_bytes(llm);
    if (fabs(missing) > 0.5) text_addf(ret, "%.0f bytes %s than counted\n", fabs(missing), missing > 0 ? "more" : "fewer");
}

bool llm_fill_from_tensors(struct llm_config *c, struct dse_llm *llm, struct text *ret)
{
    struct sums *s = xcalloc(1, sizeof *s);
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    for (size_t i = 0; i < json_array_size(c->tensors); i++) {
        const json_t *t = json_array_get(c->tensors, i);
        add(s, llm, &n, json_string_value(json_object_get(t, "name")), json_number_value(json_object_get(t, "bytes")),
            json_number_value(json_object_get(t, "elements")));
    }
    if (s->n > 0 && check(c, llm, s, &n)) {
        set_bits(llm, s, &n);
        say(s, llm, &n, ret);
    }
    free(s);
    return c->ok;
}

void llm_say_left_out(json_t *map, const struct dse_llm *llm, struct text *ret)
{
    struct sums *s = xcalloc(1, sizeof *s);
    struct dse_llm_counts n;
    json_t *file;
    const char *name;
    dse_llm_count(llm, &n);
    json_object_foreach(map, name, file) add(s, llm, &n, name, 0, 0);
    say_left_out(s, ret);
    free(s);
}

/* ---- files ----------------------------------------------------------------------------------------------------------------- */

/* Beside the configuration. The caller frees it. */
static char *path_of(const char *config, const char *name)
{
    const char *slash = strrchr(config, '/');
    return slash ? xasprintf("%.*s/%s", (int)(slash - config), config, name) : xstrdup(name);
}

/* A file counts once, whatever the number of its tensors. *ret_all: all of them are there. */
static bool read_files(struct llm_config *c, json_t *map, bool *ret_all)
{
    json_t *seen = json_object(), *file;
    const char *tensor;
    bool ok = true;
    json_object_foreach(map, tensor, file)
    {
        const char *name = json_string_value(file);
        if (!ok || !*ret_all || !name || json_object_get(seen, name)) continue;
        char *path = path_of(c->file, name);
        json_object_set_new(seen, name, json_true());
        *ret_all = !strchr(name, '/') && access(path, R_OK) == 0;
        ok = !*ret_all || llm_safetensors_read(path, c->tensors, c->diags);
        free(path);
    }
    json_decref(seen);
    return ok;
}

bool llm_read_headers_beside(struct llm_config *c)
{
    static const char usual[] = "config.json"; /* beside one of another name there may be files of another LLM */
    const char *slash = strrchr(c->file, '/');
    json_t *root;
    c->tensors = json_array();
    if (strcmp(slash ? slash + 1 : c->file, usual) != 0) return true;
    if (!llm_json_beside(c->file, "model.safetensors.index.json", &root, c->diags)) return c->ok = false;
    json_t *map = json_object_get(root, "weight_map"), *single = json_pack("{s:s}", "", "model.safetensors");
    bool all = true;
    c->ok = read_files(c, json_is_object(map) ? map : single, &all);
    if (!all) json_array_clear(c->tensors);
    json_decref(single);
    json_decref(root);
    return c->ok;
}
