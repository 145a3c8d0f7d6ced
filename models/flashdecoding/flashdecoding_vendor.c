/* Kernels of the maker's library and of the engines on it, by measurement: their rates. */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

/* What a block of a GEMM draws: four stages of 8 KiB (64 x 64 weights of 16 bits, CUTLASS) in flight for 600 ns, under load. */
static const double block_stream = 32768 / 600e-9;
/* Bytes a cycle of an SM's port to the last-level cache. */
static const double sm_port = 64;

void fd_vendor_rates(struct fd_machine *ret, const struct fd_params *p)
{
    const double hz = p->clock_ghz * DSE_GIGA;
    const struct dse_gpu_kernels *k = &p->kernels;
    ret->vendor =
        (struct fd_vendor_rates){.stream = ret->bandwidth * k->kernel_stream_share,
                                 .block_stream = block_stream,
                                 .sm_path = k->gemm_reach_bytes * hz,
                                 .attention_ops = ret->sm_ops * k->attention_tensor_share,
                                 .l2_path = p->l2_bytes * hz,
                                 .tile_path = dse_min(p->l2_bytes * k->kernel_cache_bytes / FD_A100_CACHE_BYTES, sm_port) * hz,
                                 .cache_path = k->kernel_cache_bytes * hz,
                                 .fixed_s = k->gemm_fixed_cycles / hz,
                                 .attention_stream = ret->bandwidth * k->attention_stream_share,
                                 .stream_fixed_s = k->stream_fixed_cycles / hz,
                                 .kernel_fixed_s = k->kernel_fixed_cycles / hz,
                                 .narrow_s = k->attention_narrow_cycles / hz,
                                 .attention_kernels = k->attention_kernels,
                                 .block_s = k->attention_block_cycles / hz,
                                 .exposed = p->gemm_exposed_share,
                                 .kept_bytes = p->cache == FD_WARM ? ret->l2 / (k->l2_copies * (double)p->cache_turns) : 0,
                                 .l2_near = ret->l2 / k->l2_copies,
                                 .splits_max = (double)p->gemm_splits,
                                 .narrowing = (enum fd_quantizing)p->quantizing};
    for (int i = 0; i < FD_FORMATS; i++) {
        const enum fd_format format = (enum fd_format)i;
        const bool is_narrow = format != FD_BITS_16 && fd_peak_tflops(p, format) > 0;
        const double share = format == FD_BITS_4 ? k->gemm_four_share : k->gemm_narrow_share;
        ret->vendor.format_peak[i] = ret->sm_ops * k->gemm_tensor_share / (is_narrow ? fd_op_share(p, format) : 1);
        ret->vendor.format_ops[i] = ret->vendor.format_peak[i] * (is_narrow ? share : 1);
        ret->vendor.format_stream[i] = ret->vendor.stream * (is_narrow ? k->gemm_narrow_stream : 1);
    }
    fd_machine_set(ret, &ret->uniform);
}
