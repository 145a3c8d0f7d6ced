#include "config/llm_scales.h"

#include <dse/llm.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- what a quantisation says ---------------------------------------------------------------------------------------------- */

enum { SCALE = 16, WIDE_SCALE = 32 }; /* bits */

/* Tensors of a matrix that are as large as they are whatever its groups: weight_scale_2 and input_scale, 32 bits each (ModelOpt);
 * the two numbers of weight_shape, 64 bits each (compressed-tensors); the g_idx of an input, 32 bits (GPTQ). */
static const struct {
    const char *key, *value;
    double matrix_bits, column_bits;
    bool maybe_biases;
} beside[] = {
    {"quant_algo", "NVFP4", 2 * 32, 0, false},
    {"quant_algo", "FP8", 2 * 32, 0, false},
    {"format", "nvfp4-pack-quantized", 2 * 32, 0, false},
    {"format", "pack-quantized", 2 * 64, 0, false},
    {"actorder", "group", 0, 32, false},
    {"quant_method", "gptq", 0, 32, true},
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

/* Groups of inputs, of one output each; -1: all of them. */
static void take_groups(const json_t *q, const json_t *weights, struct llm_format *f)
{
    double group = whole(weights, "group_size");
    if (group == 0) group = whole(q, "group_size");
    if (group == 0) group = whole(q, "q_group_size");
    f->scales.rows = 1;
    f->scales.columns = group > 0 ? (int64_t)group : 0;
    f->scales.block_bits = group > 0 ? f->scale_bits * group : group < 0 ? SCALE + f->weight_bits : 0;
}

static void take_strategy(const json_t *weights, struct llm_scales *s)
{
    const bool by_channel = says(weights, "strategy", "channel"), by_tensor = says(weights, "strategy", "tensor");
    if (!by_channel && !by_tensor) return;
    *s = (struct llm_scales){.rows = by_channel, .block_bits = SCALE, .any_width = true};
}

void llm_take_scales(const json_t *q, struct llm_format *f)
{
    const json_t *block = json_object_get(q, "weight_block_size"), *weights = weights_of(q);
    const double rows = json_number_value(json_array_get(block, 0)), columns = json_number_value(json_array_get(block, 1));
    take_groups(q, weights, f);
    take_strategy(weights, &f->scales);
    if (rows >= 1 && columns >= 1)
        f->scales =
            (struct llm_scales){.rows = (int64_t)rows, .columns = (int64_t)columns, .block_bits = WIDE_SCALE, .any_width = true};
    if (f->weight_bits > 0) take_beside(q, weights, &f->scales);
}

/* ---- what it comes to ------------------------------------------------------------------------------------------------------ */

struct sums {
    const struct llm_filled *of;
    const struct llm_reading *reading;
    double bits[DSE_WEIGHT_CLASSES], elements[DSE_WEIGHT_CLASSES];
};

static double parts(int64_t whole_, int64_t part)
{
    return part > 0 ? ceil((double)whole_ / (double)part) : 1;
}

static void add(void *arg, const struct dse_llm_matrix *m)
{
    struct sums *sum = (struct sums *)arg;
    const struct llm_scales *s = &sum->of->scales[m->class];
    const double rows = (double)m->rows, columns = (double)m->columns, times = (double)m->times;
    const double width = s->any_width ? sum->reading->scale_times : 1, bias = s->maybe_biases ? sum->reading->bias_bits : 0;
    const double bits = parts(m->rows, s->rows) * parts(m->columns, s->columns) * s->block_bits * width + rows * bias +
                        columns * s->column_bits + s->matrix_bits;
    sum->bits[m->class] += times * bits;
    sum->elements[m->class] += times * rows * columns;
}

void llm_set_scales(const struct llm_filled *filled, const struct llm_reading *reading)
{
    struct sums sum = {.of = filled, .reading = reading};
    struct dse_llm_counts n;
    dse_llm_count(filled->llm, &n);
    dse_llm_each_matrix(filled->llm, add, &sum);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) /* of a class whose matrices are not all among them the mean stays */
        if (sum.bits[i] > 0 && sum.elements[i] == (double)n.matrices[i])
            filled->llm->formats.scale_bits[i] = sum.bits[i] / sum.elements[i];
}
