/* Internal to the import of LLMs: the format of weights, and what a file holds beside them: scales, zero points, orders. */
#ifndef DSE_CONFIG_LLM_SCALES_H
#define DSE_CONFIG_LLM_SCALES_H

#include <dse/catalog.h>

#include <stdbool.h>
#include <stdint.h>

struct json_t;

/* What stands beside a matrix. All 0: nothing, or no more is known than the mean of a weight. */
struct llm_scales {
    int64_t rows, columns; /* of a block, which may stick out of the matrix; 0: all that the matrix has */
    double block_bits;     /* scale and zero point of a block */
    double column_bits;    /* an input: its group */
    double matrix_bits;    /* what there is once */
    bool any_width;        /* files of this method have scales of 16 or of 32 bits, and no configuration says which */
    bool maybe_biases;     /* some files of this method have a bias of 16 bits for each output, of zeros */
};

/* What a checkpoint's weights, activations and cache take. 0: nothing is said of it. */
struct llm_format {
    double weight_bits, scale_bits; /* of a weight; of scales and zero points a weight, where they fill their blocks */
    double activation_bits, kv_bits;
    struct llm_scales scales;
};

/* The LLM whose classes get formats, and what stands beside the matrices of those that have one. */
struct llm_filled {
    struct dse_llm *llm;
    struct llm_scales scales[DSE_WEIGHT_CLASSES];
};

/* Fill in f->scales by what a quantisation says, once f has the rest. */
void llm_take_scales(const struct json_t *quantization, struct llm_format *f);

/* How a file may be where its configuration leaves it open. */
struct llm_reading {
    double scale_times; /* width of scales, of what is usual */
    double bias_bits;   /* of each output of a quantised matrix */
};
/* Set the scale_bits of all classes that have scales, so that the bytes are those of the matrices' shapes. */
void llm_set_scales(const struct llm_filled *filled, const struct llm_reading *reading);

#endif
