/* Kernels of the maker's library and of the engines on it, by measurement: their rates. */
#include "flashdecoding.h"

#include <dse/units.h>

/* Of the SMs, so many draw the whole bandwidth. */
static const double drawing_share = 0.5;

void fd_vendor_rates(struct fd_machine *ret, const struct fd_params *p)
{
    const double hz = p->clock_ghz * DSE_GIGA, made = (double)p->gpu->sms;
    const struct dse_gpu_kernels *k = &p->kernels;
    ret->vendor =
        (struct fd_vendor_rates){.stream = ret->bandwidth * k->kernel_stream_share,
                                 .block_stream = p->gpu->bandwidth_gbs * DSE_GIGA * k->kernel_stream_share / (made * drawing_share),
                                 .sm_ops = ret->sm_ops * k->gemm_tensor_share,
                                 .sm_path = k->gemm_reach_bytes * hz,
                                 .attention_ops = ret->sm_ops * k->attention_tensor_share,
                                 .l2_path = p->l2_bytes * hz,
                                 .fixed_s = k->gemm_fixed_cycles / hz,
                                 .attention_fixed_s = k->attention_fixed_cycles / hz,
                                 .block_s = k->attention_block_cycles / hz,
                                 .exposed = p->gemm_exposed_share};
}
