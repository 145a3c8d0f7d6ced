/* Internal to the import of LLMs: the format of weights, and what a file holds beside them: scales, zero points, orders. */
#ifndef DSE_CONFIG_LLM_SCALES_H
#define DSE_CONFIG_LLM_SCALES_H

#include <dse/llm.h>

#include <stdbool.h>
#include <stdint.h>

struct json_t;

/* What stands beside a matrix. */
struct llm_scales {
    int64_t rows, columns; /* of a block, which may stick out of the matrix; 0: all that the matrix has */
    double block_bits;     /* scale and zero point of a block */
    double mean_bits;      /* a weight, where no blocks are known */
    double column_bits;    /* an input: its group */
    double matrix_bits;    /* what there is once */
    double shape_bits;     /* the numbers of weight_shape; some files have them in half as many */
    bool any_width;        /* files of this method have scales of 16 or of 32 bits, and no configuration says which */
    bool maybe_biases;     /* some files of this method have a bias of 16 bits for each output, of zeros */
};

/* What a checkpoint's weights, activations and cache take. 0: nothing is said of it. */
struct llm_format {
    double weight_bits, scale_bits; /* of a weight; of scales and zero points a weight, where they fill their blocks */
    double activation_bits, kv_bits;
    struct llm_scales scales;
};

/* Matrices that are alike, and the share of them that keep 16 bits. */
struct llm_part {
    struct dse_llm_matrix of;
    double kept;
};

/* The LLM whose classes get formats, its matrices, and what stands beside those of a class that has a format. */
struct llm_filled {
    struct dse_llm *llm;
    struct llm_scales scales[DSE_WEIGHT_CLASSES];
    double bits[DSE_WEIGHT_CLASSES];    /* of a weight that does not keep 16 bits; 0: all do */
    bool is_listed[DSE_WEIGHT_CLASSES]; /* all matrices of the class are among the parts */
    struct llm_part *parts;
    size_t n;
};
void llm_filled_init(struct llm_filled *filled, struct dse_llm *llm);
void llm_filled_release(struct llm_filled *filled);

/* Fill in f->scales by what a quantisation says, once f has the rest. */
void llm_take_scales(const struct json_t *quantization, struct llm_format *f);

/* How a file may be where its configuration leaves it open. */
struct llm_reading {
    double scale_times; /* width of scales, of what is usual */
    double bias_bits;   /* of each output of a quantised matrix */
    bool halves_shapes; /* weight_shape in numbers of 32 bits, not 64 */
    bool keeps_routers; /* they have 16 bits, whatever the others have */
};
/* Set the bits and scale_bits of all classes that have a format, so that the bytes are those of the matrices' shapes. */
void llm_set_scales(const struct llm_filled *filled, const struct llm_reading *reading);

#endif
