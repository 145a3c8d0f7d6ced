/* Formats of operands: what a GEMM computes in, and how fast and with what energy the tensor cores do. */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

/* An eight-bit unit takes numbers of 5 to 8 bits. */
enum fd_format fd_format_of(const struct fd_operands *of)
{
    enum { EIGHT = 8, FOUR = 4 };
    const double wider = dse_max(of->weight_bits, of->activation_bits);
    return wider > EIGHT ? FD_BITS_16 : wider > FOUR ? FD_BITS_8 : FD_BITS_4;
}

static struct fd_operands operands(const struct fd_params *p, struct dse_held held, double activation_bits)
{
    struct fd_operands ret = {dse_held_bytes(held), held.bits, activation_bits};
    const bool is_had = p->dataflow == FD_BY_VENDOR && fd_peak_tflops(p, fd_format_of(&ret)) > 0;
    if (held.bits >= FD_WIDE_BITS || !is_had) ret.activation_bits = dse_max(FD_WIDE_BITS, activation_bits);
    return ret;
}

struct fd_operands fd_operands_uniform(const struct fd_params *p)
{
    const struct dse_workload *w = &p->workload;
    return operands(p, (struct dse_held){(double)w->weight_bits, w->weight_scale_bits}, (double)w->activation_bits);
}

struct fd_operands fd_operands_of_class(const struct fd_params *p, enum dse_weight_class class)
{
    const struct dse_workload *w = &p->workload;
    return operands(p, dse_workload_held(w, w->llm, class), dse_workload_activation_bits(w, w->llm, class));
}

struct fd_operands fd_operands_of(const struct fd_params *p, const struct dse_op *op)
{
    struct fd_operands ret = operands(p, (struct dse_held){op->weight_bits, 0}, op->activation_bits);
    ret.weight_bytes = op->element_bytes;
    return ret;
}

static double narrow_peak(const struct dse_gpu_peaks *of, int32_t numbers, enum fd_format format)
{
    if (numbers == FD_INTEGERS) return format == FD_BITS_8 ? of->int8_tops : 0;
    return format == FD_BITS_8 ? of->fp8_tflops : of->fp4_tflops;
}

double fd_peak_tflops(const struct fd_params *p, enum fd_format format)
{
    return format == FD_BITS_16 ? p->tensor_tflops : narrow_peak(&p->peaks, p->narrow_numbers, format);
}

double fd_op_share(const struct fd_params *p, enum fd_format format)
{
    const double peak = format == FD_BITS_16 ? 0 : fd_peak_tflops(p, format);
    return peak > 0 ? p->tensor_tflops / peak : 1;
}

static const char *refused(const struct fd_params *p, const struct fd_operands *of)
{
    static const char *const no_peak[2][FD_FORMATS] = {
        {NULL, "the gpu's entry has no peak of fp8: give fp8_tflops, or narrow_numbers = integer, or activation_bits = 16",
         "the gpu's entry has no peak of fp4: give fp4_tflops, or activation_bits of 8 or 16"},
        {NULL, "the gpu's entry has no peak of int8: give int8_tops, or activation_bits = 16",
         "integers of 4 bits are not computed in: activation_bits of 8 or 16"}};
    const enum fd_format format = fd_format_of(of);
    if (format == FD_BITS_16) return NULL;
    const double peak = fd_peak_tflops(p, format);
    if (!(peak > 0)) return no_peak[p->narrow_numbers][format];
    if (p->tensor_tflops != p->gpu->tensor_tflops && peak == narrow_peak(&p->gpu->peaks, p->narrow_numbers, format))
        return "tensor_tflops is the peak of 16 bits, and another than the gpu's: give that of narrow numbers, too (fp8_tflops, "
               "fp4_tflops, int8_tops)";
    return NULL;
}

static bool has_matrices(const struct dse_llm *llm, enum dse_weight_class class)
{
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    return n.matrices[class] > 0;
}

const char *fd_formats_check(const struct fd_params *p)
{
    const struct dse_workload *w = &p->workload;
    const double asked = (double)w->activation_bits;
    if (p->dataflow != FD_BY_VENDOR) return NULL;
    const struct fd_operands uniform = {1, (double)w->weight_bits, asked};
    const char *why = dse_formats_complete(w->format) ? NULL : refused(p, &uniform);
    if (dse_formats_uniform(w->format)) return why;
    for (int i = 0; i < DSE_WEIGHT_CLASSES && !why; i++) {
        const enum dse_weight_class class = (enum dse_weight_class)i;
        const struct fd_operands of = {1, dse_workload_held(w, w->llm, class).bits, dse_workload_activation_bits(w, w->llm, class)};
        if (of.activation_bits != asked && !(fd_peak_tflops(p, fd_format_of(&of)) > 0)) continue; /* it is computed in 16 bits */
        const char *of_class = refused(p, &of);
        if (of_class && has_matrices(w->llm, class)) why = of_class;
    }
    return why;
}

void fd_formats_stand(const struct fd_params *p, struct dse_standing *ret)
{
    const struct dse_workload *w = &p->workload;
    bool is_narrow = false, is_widened = false;
    struct dse_llm_counts n;
    dse_llm_count(w->llm, &n);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        const enum dse_weight_class class = (enum dse_weight_class)i;
        const struct fd_operands of = fd_operands_of_class(p, class);
        is_narrow |= n.matrices[i] > 0 && of.activation_bits < FD_WIDE_BITS;
        is_widened |= n.matrices[i] > 0 && dse_workload_activation_bits(w, w->llm, class) < of.activation_bits;
    }
    if (is_narrow || w->activation_bits < FD_WIDE_BITS)
        dse_standing_add(ret, "the loss from activations below 16 bits is not modelled (activation_bits, format)");
    if (is_widened)
        dse_standing_add(ret,
                         p->dataflow == FD_BY_VENDOR
                             ? "the format's narrow activations have 16 bits here: the gpu has no peak of them (gpu)"
                             : "the format's narrow activations have 16 bits here: the engine has no kernels for them (dataflow)");
}

/* ---- borrowed constants ---------------------------------------------------------------------------------------------------- */

enum { FAMILIES = 4 };
#define BORROWED(what) \
    { \
        [DSE_FITTED_TO_NONE] = ("constants of " what " were fitted to no GPU of this generation"), \
        [DSE_FITTED_TO_A100] = ("constants of " what " are an A100's"), \
        [DSE_FITTED_TO_H100] = ("constants of " what " are an H100's"), \
        [DSE_FITTED_TO_B200] = ("constants of " what " are a B200's"), \
        [DSE_FITTED_TO_RTX_4090] = ("constants of " what " are an RTX 4090's"), \
    }
static const char *const borrowed[FAMILIES][DSE_GPU_ORIGINS] = {
    BORROWED("16-bit GEMMs (gemms_from)"), BORROWED("GEMMs below 16 bits (narrow_from)"), BORROWED("attention (attention_from)"),
    BORROWED("experts' GEMMs (experts_from)")};

void fd_origins_stand(const struct fd_params *p, struct dse_standing *ret)
{
    const bool by_vendor = p->dataflow == FD_BY_VENDOR;
    const struct dse_gpu_origins *from = &p->gpu->origins;
    bool narrow = false, wide = false;
    struct dse_llm_counts n;
    dse_llm_count(p->workload.llm, &n);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        const struct fd_operands of = fd_operands_of_class(p, (enum dse_weight_class)i);
        narrow |= n.matrices[i] > 0 && of.activation_bits < FD_WIDE_BITS;
        wide |= n.matrices[i] > 0 && of.activation_bits >= FD_WIDE_BITS;
    }
    const bool runs[FAMILIES] = {by_vendor && wide, by_vendor && narrow, p->kernel_losses == FD_MEASURED,
                                 by_vendor && n.matrices[DSE_WEIGHTS_EXPERTS] > 0};
    const int32_t origins[FAMILIES] = {from->gemms_from, from->narrow_from, from->attention_from, from->experts_from};
    for (int i = 0; i < FAMILIES; i++)
        if (runs[i] && origins[i] != DSE_FITTED_TO_ITSELF) dse_standing_add(ret, borrowed[i][origins[i]]);
}

double fd_gemm_fixed_s(const struct fd_machine *m, enum fd_format format)
{
    return format == FD_BITS_16 ? m->vendor.fixed_s : m->vendor.kernel_fixed_s;
}

void fd_machine_set(struct fd_machine *m, const struct fd_operands *of)
{
    struct fd_vendor_rates *v = &m->vendor;
    const enum fd_format format = fd_format_of(of);
    m->held = *of;
    m->weight_bytes = of->weight_bytes;
    v->activation_bytes = of->activation_bits / DSE_BITS_PER_BYTE;
    v->sm_ops = v->format_ops[format];
    v->generated_ops = v->format_peak[format];
    v->gemm_stream = v->format_stream[format];
    v->gemm_fixed_s = fd_gemm_fixed_s(m, format);
    v->quantizing = of->activation_bits < FD_WIDE_BITS ? v->narrowing : FD_QUANTIZED;
    fd_vendor_tiles(m);
}

const struct fd_machine *fd_machine_as(const struct fd_machine *m, const struct fd_operands *of, struct fd_machine *own)
{
    *own = *m;
    fd_machine_set(own, of);
    return own;
}
