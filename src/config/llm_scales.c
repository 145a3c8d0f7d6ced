#include "config/llm_scales.h"

#include "base/xalloc.h"

#include <dse/llm.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a quantisation says ---------------------------------------------------------------------------------------------- */

enum { USUAL = 16, WIDE = 32 }; /* bits of a number */

/* Tensors of a matrix that are as large as they are whatever its groups: weight_scale_2 and input_scale, 32 bits each (ModelOpt);
 * the two numbers of weight_shape, 64 bits each (compressed-tensors); the g_idx of an input, 32 bits (GPTQ). */
static const struct {
    const char *key, *value;
    double matrix_bits, shape_bits, column_bits;
    bool maybe_biases;
} beside[] = {
    {"quant_algo", "NVFP4", 2 * 32, 0, 0, false},
    {"quant_algo", "FP8", 2 * 32, 0, 0, false},
    {"format", "nvfp4-pack-quantized", 2 * 32, 0, 0, false},
    {"format", "pack-quantized", 0, 2 * 64, 0, false},
    {"actorder", "group", 0, 0, 32, false},
    {"quant_method", "gptq", 0, 0, 32, true},
};

static bool says(const json_t *q, const char *key, const char *value)
{
    const char *text = json_string_value(json_object_get(q, key));
    return text && strcmp(text, value) == 0;
}

static void take_beside(const json_t *q, const json_t *weights, struct llm_scales *s)
{
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        if (!says(q, beside[i].key, beside[i].value) && !says(weights, beside[i].key, beside[i].value)) continue;
        s->matrix_bits += beside[i].matrix_bits;
        s->shape_bits += beside[i].shape_bits;
        s->column_bits += beside[i].column_bits;
        s->maybe_biases = s->maybe_biases || beside[i].maybe_biases;
    }
}

/* "weights" of compressed-tensors: of the object itself, or of its first group that has it. */
static const json_t *weights_of(const json_t *q)
{
    const json_t *ret = json_object_get(q, "weights");
    const char *key;
    json_t *group;
    json_object_foreach(json_object_get(q, "config_groups"), key, group) if (!ret) ret = json_object_get(group, "weights");
    return ret;
}

static double whole(const json_t *q, const char *key)
{
    return json_number_value(json_object_get(q, key));
}

/* The edge of a block or group; 0: none that a matrix may have. */
static int64_t edge(double given)
{
    enum { MOST = 1 << 30 };
    return given >= 1 && given <= MOST ? (int64_t)given : 0;
}

/* Groups of inputs, of one output each; -1: all of them. */
static void take_groups(const json_t *q, const json_t *weights, struct llm_format *f)
{
    double group = whole(weights, "group_size");
    if (group == 0) group = whole(q, "group_size");
    if (group == 0) group = whole(q, "q_group_size");
    f->scales.rows = 1;
    f->scales.columns = edge(group);
    f->scales.block_bits = group > 0 ? f->scale_bits * group : group < 0 ? USUAL + f->weight_bits : 0;
}

/* NF4 and FP4 of bitsandbytes: their 16 values, and the 256 of the scales that are quantised, in 32 bits each. The text that says
 * the shape is not counted: about 170 bytes a matrix. */
static void take_maps(const json_t *q, struct llm_scales *s)
{
    enum { VALUES = 16, SCALE_VALUES = 256 };
    const bool twice = json_is_true(json_object_get(q, "bnb_4bit_use_double_quant"));
    if (json_is_true(json_object_get(q, "load_in_4bit"))) s->matrix_bits += WIDE * (VALUES + (twice ? SCALE_VALUES : 0));
}

static void take_strategy(const json_t *weights, struct llm_scales *s)
{
    const bool by_channel = says(weights, "strategy", "channel"), by_tensor = says(weights, "strategy", "tensor");
    if (!by_channel && !by_tensor) return;
    *s = (struct llm_scales){.rows = by_channel, .block_bits = USUAL, .any_width = true};
}

void llm_take_scales(const json_t *q, struct llm_format *f)
{
    const json_t *block = json_object_get(q, "weight_block_size"), *weights = weights_of(q);
    const int64_t rows = edge(json_number_value(json_array_get(block, 0))),
                  columns = edge(json_number_value(json_array_get(block, 1)));
    take_groups(q, weights, f);
    take_strategy(weights, &f->scales);
    if (rows > 0 && columns > 0)
        f->scales = (struct llm_scales){.rows = rows, .columns = columns, .block_bits = WIDE, .any_width = true};
    if (f->weight_bits > 0) take_beside(q, weights, &f->scales);
    take_maps(q, &f->scales);
}

/* ---- matrices -------------------------------------------------------------------------------------------------------------- */

static void add_part(void *arg, const struct dse_llm_matrix *m)
{
    struct llm_filled *filled = (struct llm_filled *)arg;
    filled->parts = (struct llm_part *)xrealloc(filled->parts, filled->n + 1, sizeof *filled->parts);
    filled->parts[filled->n++] = (struct llm_part){.of = *m};
}

static double elements_of(const struct dse_llm *llm, const struct dse_llm_matrix *m)
{
    const int64_t layers = m->kind < 0 ? 1 : llm->kinds[m->kind].layers;
    return (double)(layers * m->times) * (double)m->rows * (double)m->columns;
}

void llm_filled_init(struct llm_filled *filled, struct dse_llm *llm)
{
    double elements[DSE_WEIGHT_CLASSES] = {0};
    struct dse_llm_counts n;
    *filled = (struct llm_filled){.llm = llm};
    dse_llm_count(llm, &n);
    dse_llm_each_matrix(llm, add_part, filled);
    for (size_t i = 0; i < filled->n; i++) elements[filled->parts[i].of.class] += elements_of(llm, &filled->parts[i].of);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) filled->is_listed[i] = elements[i] == (double)n.matrices[i];
}

void llm_filled_release(struct llm_filled *filled)
{
    free(filled->parts);
    filled->parts = NULL;
    filled->n = 0;
}

/* ---- what it comes to ------------------------------------------------------------------------------------------------------ */

struct sums {
    double elements, bits, scale_bits;
};

static double blocks(int64_t extent, int64_t block)
{
    return block > 0 ? ceil((double)extent / (double)block) : 1;
}

/* What stands beside one matrix. */
static double bits_beside(const struct dse_llm_matrix *m, const struct llm_scales *s, const struct llm_reading *reading)
{
    const double width = s->any_width ? reading->scale_times : 1, bias = s->maybe_biases ? reading->bias_bits : 0;
    return blocks(m->rows, s->rows) * blocks(m->columns, s->columns) * s->block_bits * width + (double)m->rows * bias +
           (double)m->columns * s->column_bits + s->matrix_bits + s->shape_bits / (reading->halves_shapes ? 2 : 1) +
           (double)m->rows * (double)m->columns * s->mean_bits;
}

static void add(struct sums *sum, const struct llm_filled *filled, const struct llm_part *part, const struct llm_reading *reading)
{
    const struct dse_llm_matrix *m = &part->of;
    const double elements = elements_of(filled->llm, m), matrices = elements / ((double)m->rows * (double)m->columns);
    const double kept = reading->keeps_routers && m->class == DSE_WEIGHTS_ROUTER ? 1 : part->kept;
    sum->elements += elements;
    sum->bits += elements * (kept * USUAL + (1 - kept) * filled->bits[m->class]);
    sum->scale_bits += (1 - kept) * matrices * bits_beside(m, &filled->scales[m->class], reading);
}

void llm_set_scales(const struct llm_filled *filled, const struct llm_reading *reading)
{
    struct dse_class_bits *f = &filled->llm->formats;
    struct sums sums[DSE_WEIGHT_CLASSES] = {{0}};
    for (size_t i = 0; i < filled->n; i++) add(&sums[filled->parts[i].of.class], filled, &filled->parts[i], reading);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) { /* of a class whose matrices are not all listed the mean stays */
        if (filled->bits[i] <= 0 || !filled->is_listed[i] || sums[i].elements <= 0) continue;
        const double bits = sums[i].bits / sums[i].elements, scale_bits = sums[i].scale_bits / sums[i].elements;
        f->bits[i] = bits < USUAL ? bits : (double)NAN;
        f->scale_bits[i] = bits < USUAL && scale_bits > 0 ? scale_bits : (double)NAN;
        if (!(bits < USUAL)) f->activation_bits[i] = (double)NAN;
    }
}
