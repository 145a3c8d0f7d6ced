/* The rows of an inference engine of the catalog. */
#include <dse/catalog.h>

const char *const dse_softmax_names[] = {"synchronized", "asynchronous", NULL};
const char *const dse_dataflow_names[] = {"static", "heuristic", "vendor", NULL};
const char *const dse_collectives_names[] = {"ring", "nccl", "one-shot", NULL};
const char *const dse_launches_names[] = {"waited", "queued", NULL};
const char *const dse_losses_names[] = {"apart", "included", "measured", NULL};

const struct dse_param dse_engine_fields[] = {
    DSE_PARAM_ENUM(struct dse_engine, softmax, dse_softmax_names, "how partial softmax results meet", ""),
    DSE_PARAM_ENUM(struct dse_engine, dataflow, dse_dataflow_names,
                   "one kernel for all shapes, the best of three for each, or the maker's library", ""),
    DSE_PARAM_I64(struct dse_engine, pad_rows, 1, 256, "rows of a flat GEMM are padded to a multiple of it", ""),
    DSE_PARAM_F64(struct dse_engine, attention_efficiency, "", 0.01, 1, "share of the peak bandwidth that attention reads at", ""),
    DSE_PARAM_F64(struct dse_engine, linear_efficiency, "", 0.01, 1, "share of the peak bandwidth that weights are read at", ""),
    DSE_PARAM_F64(struct dse_engine, compute_efficiency, "", 0.01, 1,
                  "share of the tensor cores' peak that prefill attention reaches", ""),
    DSE_PARAM_F64(struct dse_engine, exposed_share, "", 0, 1, "share of the shorter of loading and computing that is exposed", ""),
    DSE_PARAM_F64(struct dse_engine, sync_overhead, "", 0, 10, "synchronized softmax, on top of the rest of attention", ""),
    DSE_PARAM_F64(struct dse_engine, launch_us, "us", 0, 1000, "between the launches of two kernels", ""),
    DSE_PARAM_F64(struct dse_engine, host_us, "us", 0, 1e7, "of a step in which devices wait for the host", ""),
    DSE_PARAM_ENUM(struct dse_engine, launches, dse_launches_names, "whether the host runs ahead of the kernels", ""),
    DSE_PARAM_F64(struct dse_engine, sequence_us, "us", 0, 1e6, "of every sequence of a step, in which devices wait for the host",
                  ""),
    DSE_PARAM_F64(struct dse_engine, prompt_us, "us", 0, 1e7, "of the host in a step with prompts, beside launches", ""),
    DSE_PARAM_F64(struct dse_engine, allocation_us, "us", 0, 1e6, "of every MiB of activations that the engine did not expect", ""),
    DSE_PARAM_ENUM(struct dse_engine, collectives, dse_collectives_names, "how devices add up what each has a part of", ""),
    DSE_PARAM_I64(struct dse_engine, elementwise_kernels, 0, 256, "element-wise kernels a layer that are not fused", ""),
    DSE_PARAM_ENUM(
        struct dse_engine, kernel_losses, dse_losses_names,
        "fills, tails, latencies and gaps of kernels: apart from the efficiencies, included in them, or as measured kernels have "
        "them",
        ""),
    DSE_PARAM_END,
};
