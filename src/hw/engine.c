/* The rows of an inference engine of the catalog. */
#include <dse/catalog.h>

const char *const dse_softmax_names[] = {"synchronized", "asynchronous", NULL};
const char *const dse_dataflow_names[] = {"static", "heuristic", "vendor", NULL};
const char *const dse_collectives_names[] = {"ring", "nccl", "one-shot", NULL};
const char *const dse_launches_names[] = {"waited", "queued", NULL};
const char *const dse_losses_names[] = {"apart", "included", "measured", NULL};

#define M struct dse_engine_memory
const struct dse_param dse_engine_memory_fields[] = {
    DSE_PARAM_F64(M, memory_share, "", 0.01, 1, "share of a device's memory that the engine uses", ""),
    DSE_PARAM_F64(M, reserved_gib, "GiB", 0, 1000, "memory of contexts, libraries and graphs", ""),
    DSE_PARAM_F64(M, step_tokens, "", 0, 1e6, "tokens of a step for whose activations there is room", ""),
    DSE_PARAM_F64(M, step_sequences, "", 0, 1e6, "sequences of a step for whose logits there is room", ""),
    DSE_PARAM_F64(M, block_tokens, "", 1, 4096, "positions of a block of the cache", ""),
    DSE_PARAM_END,
};
#undef M

const struct dse_param dse_engine_fields[] = {
    DSE_PARAM_ENUM(struct dse_engine, softmax, dse_softmax_names, "how partial softmax results are combined", ""),
    DSE_PARAM_ENUM(struct dse_engine, dataflow, dse_dataflow_names,
                   "GEMM kernels: one for all shapes, the fastest of three per shape, or the vendor's library", ""),
    DSE_PARAM_I64(struct dse_engine, pad_rows, 1, 256, "rows of a flat GEMM are padded to a multiple of this", ""),
    DSE_PARAM_F64(struct dse_engine, attention_efficiency, "", 0.01, 1, "share of the peak bandwidth that attention reaches", ""),
    DSE_PARAM_F64(struct dse_engine, linear_efficiency, "", 0.01, 1, "share of the peak bandwidth that weight reads reach", ""),
    DSE_PARAM_F64(struct dse_engine, compute_efficiency, "", 0.01, 1,
                  "share of the tensor cores' peak that prefill attention reaches", ""),
    DSE_PARAM_F64(struct dse_engine, exposed_share, "", 0, 1, "exposed share of loading or computing, whichever is shorter", ""),
    DSE_PARAM_F64(struct dse_engine, sync_overhead, "", 0, 10, "time of synchronized softmax over the rest of attention", ""),
    DSE_PARAM_F64(struct dse_engine, launch_us, "us", 0, 1000, "time between two kernel launches", ""),
    DSE_PARAM_F64(struct dse_engine, host_us, "us", 0, 1e7, "time of a step in which devices wait for the host", ""),
    DSE_PARAM_ENUM(struct dse_engine, launches, dse_launches_names, "whether the host runs ahead of the kernels", ""),
    DSE_PARAM_F64(struct dse_engine, sequence_us, "us", 0, 1e6, "time per sequence of a step in which devices wait for the host",
                  ""),
    DSE_PARAM_F64(struct dse_engine, prompt_us, "us", 0, 1e7, "host time of a step with prompts, besides launches", ""),
    DSE_PARAM_F64(struct dse_engine, allocation_us, "us", 0, 1e6, "host time per MiB of activations that are allocated anew", ""),
    DSE_PARAM_ENUM(struct dse_engine, collectives, dse_collectives_names, "all-reduce algorithm", ""),
    DSE_PARAM_I64(struct dse_engine, elementwise_kernels, 0, 256, "unfused element-wise kernels per layer", ""),
    DSE_PARAM_ENUM(struct dse_engine, kernel_losses, dse_losses_names,
                   "fill, tail, latency and gap times of kernels: on top of the efficiencies, included in them, or as measured",
                   ""),
    DSE_EMBED_OPTIONAL(struct dse_engine, memory, struct dse_engine_memory, dse_engine_memory_fields),
    DSE_PARAM_END,
};
