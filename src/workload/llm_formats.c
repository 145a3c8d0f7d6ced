/* The rows of an LLM that say in how many bits its checkpoint holds each class of weights. */
#include "workload/llm.h"

#include <stddef.h>

const char *const dse_weight_class_names[] = {
    [DSE_WEIGHTS_ATTENTION] = "attention", [DSE_WEIGHTS_INDEXER] = "indexer", [DSE_WEIGHTS_RECURRENT] = "recurrent",
    [DSE_WEIGHTS_DENSE] = "dense",         [DSE_WEIGHTS_EXPERTS] = "experts", [DSE_WEIGHTS_SHARED] = "shared",
    [DSE_WEIGHTS_ROUTER] = "router",       [DSE_WEIGHTS_TABLES] = "tables",   [DSE_WEIGHTS_HEAD] = "head",
    [DSE_WEIGHTS_OTHER] = "other",         [DSE_WEIGHT_CLASSES] = NULL,
};

#define BITS(name_, of, class, least, most, doc_) \
    { \
        .type = DSE_TYPE_F64, .name = name_, .unit = "bit", .doc = doc_, .source = "", .min = (least), .max = (most), \
        .offset = offsetof(struct dse_llm_formats, of) + (class) * sizeof(double) \
    }
#define CLASS(name, class, what) \
    BITS(name "_bits", bits, class, 1, 32, "checkpoint: a weight of " what "; 16 without this key"), \
        BITS(name "_scale_bits", scale_bits, class, 0, 16, "checkpoint: scales and zero points for such a weight")

const struct dse_param llm_format_fields[] = {
    CLASS("attention", DSE_WEIGHTS_ATTENTION, "attention"),
    CLASS("indexer", DSE_WEIGHTS_INDEXER, "indexers"),
    CLASS("recurrent", DSE_WEIGHTS_RECURRENT, "recurrent layers"),
    CLASS("dense", DSE_WEIGHTS_DENSE, "dense networks"),
    CLASS("experts", DSE_WEIGHTS_EXPERTS, "routed experts"),
    CLASS("shared", DSE_WEIGHTS_SHARED, "shared experts"),
    CLASS("router", DSE_WEIGHTS_ROUTER, "routers"),
    CLASS("tables", DSE_WEIGHTS_TABLES, "the embedding"),
    CLASS("head", DSE_WEIGHTS_HEAD, "the output head"),
    CLASS("other", DSE_WEIGHTS_OTHER, "inputs of layers and hyper-connections"),
    DSE_PARAM_END,
};
