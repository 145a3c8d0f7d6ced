/* Equations of the paper that no sweep stores, and the inflection points of its decision flow (E2 to E6, E12). */
#include "flashdecoding_layers.h"

#include <dse/num.h>
#include <dse/units.h>

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#define E struct fd_equations
#define SHAPE(op_, what_) \
    DSE_METRIC_F64(E, op_##_n, "", DSE_NEITHER, "columns N of the " what_ " on one device", "Fig. 8"), \
        DSE_METRIC_F64(E, op_##_k, "", DSE_NEITHER, "depth K of the " what_ " on one device", "Fig. 8"), \
        DSE_METRIC_F64(E, op_##_m1, "", DSE_NEITHER, "rows from which the flat GEMM beats GEMV in the " what_, "Fig. 8, E12"), \
        DSE_METRIC_F64(E, op_##_m2, "", DSE_NEITHER, "rows from which the library beats the flat GEMM in the " what_, \
                       "Fig. 8, E12")
const struct dse_metric fd_equations_table[] = {
    DSE_METRIC_F64(E, async_speedup, "", DSE_MORE, "attention time with synchronized softmax over time with asynchronous softmax",
                   "E3"),
    DSE_METRIC_F64(E, sync_percent, "%", DSE_LESS, "time of the synchronized update over the rest of attention", "Sec. 2.3, E2"),
    DSE_METRIC_F64(E, inside_percent, "%", DSE_NEITHER,
                   "scores inside the range, if scores leave it independently in recompute_percent of the rows", "E4"),
    DSE_METRIC_F64(E, recompute_at_9999_percent, "%", DSE_NEITHER,
                   "rows that are recomputed if 0.01 % of the scores leave the range independently", "E4"),
    DSE_METRIC_F64(E, exponent_range, "", DSE_NEITHER, "largest x - phi: score_high - unified_max", "Sec. 3, E4"),
    DSE_METRIC_F64(E, headroom, "", DSE_MORE, "headroom to the largest float32 exponent after the sum over the context", "E4"),
    DSE_METRIC_F64(E, eq5_ratio, "", DSE_MORE, "operations over moved elements of the GEMM at flat_tile_n, by Eq. 5", "E5"),
    DSE_METRIC_F64(E, eq5_tiles, "", DSE_MORE, "operations over moved elements of the GEMM at flat_tile_n, counted tile by tile",
                   "E5"),
    DSE_METRIC_F64(E, eq5_parallelism, "", DSE_MORE, "N / B_N of the GEMM at flat_tile_n", "Sec. 4, E5"),
    DSE_METRIC_F64(E, gemm_rows, "", DSE_NEITHER, "rows M of the GEMM", "E1"),
    DSE_METRIC_F64(E, gemm_columns, "", DSE_NEITHER, "columns N of the GEMM", "E1"),
    DSE_METRIC_F64(E, gemm_depth, "", DSE_NEITHER, "depth K of the GEMM", "E1"),
    DSE_METRIC_F64(E, flat_load_us, "us", DSE_LESS, "load time of the flat GEMM, all blocks together", "E7"),
    DSE_METRIC_F64(E, flat_sm_us, "us", DSE_LESS, "compute time of the flat GEMM on the SM with the most blocks", "E8"),
    DSE_METRIC_F64(E, flat_exposed, "", DSE_LESS, "exposed share of the flat GEMM's loading or computing, whichever is shorter",
                   "E9"),
    DSE_METRIC_F64(E, library_load_us, "us", DSE_LESS, "load time of the library's kernel", "E11"),
    DSE_METRIC_F64(E, library_sm_us, "us", DSE_LESS, "compute time of the library's kernel", "E11"),
    DSE_METRIC_F64(E, underused_percent, "%", DSE_LESS, "rows of the library's tiles that are padding", "Sec. 4, E11"),
    DSE_METRIC_F64(E, flat_underused_percent, "%", DSE_LESS, "rows of the flat GEMM that are padding", "Sec. 4, E6"),
    DSE_METRIC_F64(E, tile_l1_kib, "KiB", DSE_LESS, "shared memory of a flat GEMM block with two buffers", "Sec. 4, E6"),
    DSE_METRIC_F64(E, tile_fits, "", DSE_MORE, "1 if the flat GEMM's two buffers fit the L1 cache, else 0", "Sec. 6.3.2, E6"),
    DSE_METRIC_F64(E, shapes, "", DSE_NEITHER, "linear operators of a layer with an entry in the lookup table", "Sec. 5"),
    SHAPE(qkv, "QKV projection"),
    SHAPE(output, "output projection"),
    SHAPE(ffn_up, "first FFN matrix"),
    SHAPE(ffn_down, "second FFN matrix"),
    DSE_METRIC_F64(E, moe_us, "us", DSE_LESS, "time of one layer's experts on the fullest device, without exchanges", "E31"),
    DSE_METRIC_F64(E, moe_gemm_us, "us", DSE_LESS, "part of moe_us: the two grouped GEMMs, without fixed times", "E31"),
    DSE_METRIC_F64(E, moe_elementwise_us, "us", DSE_LESS, "part of moe_us: kernels between and after the grouped GEMMs", "E31"),
    DSE_METRIC_F64(E, moe_touched, "", DSE_NEITHER, "experts of the fullest device that get a token", "E31"),
    DSE_METRIC_F64(E, moe_rows, "", DSE_NEITHER, "rows of all experts of the fullest device", "E31"),
    DSE_METRIC_F64(E, moe_weights_mib, "MiB", DSE_LESS, "weights of the touched experts: gate, up and down", "E31"),
    DSE_METRIC_F64(E, mla_us, "us", DSE_LESS, "time of latent attention of one layer on one device", "E32"),
    DSE_METRIC_F64(E, mla_expanding_us, "us", DSE_LESS,
                   "part of mla_us: expanding latents to keys and values of all heads, in prefill", "E32"),
    DSE_METRIC_F64(E, mla_cache_mib, "MiB", DSE_LESS, "keys and values that latent attention reads", "E32"),
    DSE_METRIC_F64(E, mla_gflop, "", DSE_LESS, "operations of latent attention's products, in 1e9", "E32"),
    DSE_METRIC_F64(E, stream_us, "us", DSE_LESS, "time of a kernel that goes over stream_bytes once, as measured ones do", "E43"),
    DSE_METRIC_F64(E, collective_us, "us", DSE_LESS, "time of a collective of collective_bytes over tensor_parallel devices",
                   "E44"),
    DSE_METRIC_END,
};
#undef SHAPE
#undef E

/* ---- inflection points ------------------------------------------------------------------------------------------------------- */

struct pair {
    const struct fd_machine *m;
    double k, n;
    enum fd_kernel one, other;
};

static double kernel_seconds(const struct fd_machine *m, const struct fd_gemm *g, enum fd_kernel kernel)
{
    switch (kernel) {
    case FD_GEMV: return fd_gemv(m, g).seconds;
    case FD_FLAT: return fd_flat(m, g).seconds;
    case FD_LIBRARY:
    case FD_KERNELS: break;
    }
    return fd_library(m, g, FD_LIBRARY_ROWS).seconds;
}

/* Time of `one` over that of `other`, less 1: positive when `other` is faster, negative when they are as fast. The number of rows
 * need not be whole. Finite for all parameters in range, as GSL's solvers ask for. */
static double gain(double rows, void *context)
{
    const double tie = 1e-12;
    const struct pair *p = context;
    struct fd_gemm g = {.m = rows, .k = p->k, .n = p->n};
    return kernel_seconds(p->m, &g, p->one) / kernel_seconds(p->m, &g, p->other) - 1 - tie;
}

/* Where gain() changes its sign between whole numbers of rows, low (where it is negative) and high (positive), as a whole number.
 * Times jump where rows are padded; bisection finds jumps too. */
static double first_row(struct pair *p, double low, double high)
{
    const double width = 1e-3;
    gsl_function f = {.function = gain, .params = p};
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_bisection);
    double upper = high;
    if (gsl_root_fsolver_set(solver, &f, low, high) == GSL_SUCCESS)
        while (upper - gsl_root_fsolver_x_lower(solver) > width && gsl_root_fsolver_iterate(solver) == GSL_SUCCESS)
            upper = gsl_root_fsolver_x_upper(solver);
    gsl_root_fsolver_free(solver);
    double row = fmax(floor(upper), low + 1);
    while (row < high && !(gain(row, p) > 0)) row++;
    return row;
}

double fd_inflection(const struct fd_machine *m, double k, double n, enum fd_kernel one, enum fd_kernel other)
{
    struct pair p = {m, k, n, one, other};
    if (gain(1, &p) > 0) return 1;
    double low = 1;
    while (low < FD_ROWS_MAX) {
        double high = fmin(FD_ROWS_MAX, fmax(low + 1, dse_ceil(low * 1.25)));
        if (gain(high, &p) > 0) return first_row(&p, low, high);
        low = high;
    }
    return (double)NAN;
}

/* ---- the equations ------------------------------------------------------------------------------------------------------- */

static void fill_softmax(struct fd_equations *e, const struct fd_params *p)
{
    const double outside = 1e-4;
    double n = (double)p->workload.context;
    e->async_speedup = fd_sync_factor(p) / fd_async_factor(p);
    e->sync_percent = 100 * p->sync_overhead;
    e->inside_percent = 100 * pow(1 - p->recompute_percent / 100, 1 / n);
    e->recompute_at_9999_percent = -100 * expm1(n * log1p(-outside));
    e->exponent_range = p->score_high - p->unified_max;
    e->headroom = log((double)FLT_MAX) - e->exponent_range - log(n);
}

static void fill_gemm(struct fd_equations *e, const struct fd_machine *m)
{
    const struct fd_params *p = m->p;
    struct fd_gemm g = fd_gemm_of(p, (enum fd_gemm_choice)p->gemm);
    struct fd_machine own;
    m = fd_machine_for(m, &g, &own);
    struct fd_cost flat = fd_flat(m, &g), library = fd_library(m, &g, FD_LIBRARY_ROWS);
    double tile_n = flat.tile_n, tile_k = (double)p->tile_k, tiles = g.n * g.k / (tile_n * tile_k);
    e->gemm_rows = g.m;
    e->gemm_columns = g.n;
    e->gemm_depth = g.k;
    e->eq5_ratio = DSE_OPS_PER_MAC * g.m * g.k / (g.k + g.m * g.k / tile_n + g.m);
    e->eq5_tiles = DSE_OPS_PER_MAC * g.m * tile_n * tile_k * tiles / ((g.m + tile_n) * tile_k * tiles + g.m * g.n);
    e->eq5_parallelism = g.n / tile_n;
    e->flat_load_us = flat.load_s * DSE_US_PER_S;
    e->flat_sm_us = flat.sm_s * DSE_US_PER_S;
    e->flat_exposed = (flat.seconds - dse_max(flat.load_s, flat.sm_s)) / dse_min(flat.load_s, flat.sm_s);
    e->library_load_us = library.load_s * DSE_US_PER_S;
    e->library_sm_us = library.sm_s * DSE_US_PER_S;
    e->underused_percent = 100 * (1 - g.m / library.rows);
    e->flat_underused_percent = 100 * (1 - g.m / flat.rows);
    double needed = fd_tile_bytes(m, dse_ceil_to(g.m, (double)p->pad_rows), tile_n, 2);
    e->tile_l1_kib = needed / DSE_KIB;
    e->tile_fits = needed <= m->l1 ? 1 : 0;
}

static void fill_shape(const struct fd_machine *m, enum fd_gemm_choice which, double *ret_n, double *ret_k, double *ret_m1,
                       double *ret_m2)
{
    struct fd_gemm g = fd_gemm_of(m->p, which);
    struct fd_machine own;
    m = fd_machine_for(m, &g, &own);
    *ret_n = g.n;
    *ret_k = g.k;
    *ret_m1 = fd_inflection(m, g.k, g.n, FD_GEMV, FD_FLAT);
    *ret_m2 = fd_inflection(m, g.k, g.n, FD_FLAT, FD_LIBRARY);
}

static void fill_layers(struct fd_equations *e, const struct fd_machine *m)
{
    struct fd_experts experts;
    struct fd_latent latent;
    struct fd_machine own;
    struct fd_gemm held = {.operands = fd_operands_of_class(m->p, DSE_WEIGHTS_EXPERTS)};
    held.operands.activation_bits = (double)m->p->expert_activation_bits;
    fd_experts(&experts, fd_machine_for(m, &held, &own));
    fd_latent(&latent, m);
    e->moe_us = experts.seconds * DSE_US_PER_S;
    e->moe_gemm_us = experts.gemm_s * DSE_US_PER_S;
    e->moe_elementwise_us = experts.elementwise_s * DSE_US_PER_S;
    e->moe_touched = experts.touched;
    e->moe_rows = experts.rows;
    e->moe_weights_mib = experts.weight_bytes / DSE_MIB;
    e->mla_us = latent.seconds * DSE_US_PER_S;
    e->mla_expanding_us = latent.expanding_s * DSE_US_PER_S;
    e->mla_cache_mib = latent.bytes / DSE_MIB;
    e->mla_gflop = latent.products / DSE_GIGA;
}

/* E43: what the kernel before has written is in the cache, as far as that has room for it twice. */
static double stream_seconds(const struct fd_machine *m)
{
    const double bytes = m->p->stream_bytes, kept = dse_min(bytes, m->l2 / 2);
    const struct fd_vendor_rates *v = &m->vendor;
    return v->stream_fixed_s + kept / dse_max(v->stream, v->cache_path * m->sms) + (bytes - kept) / v->stream;
}

static void fill_asked(struct fd_equations *e, const struct fd_machine *m)
{
    const struct fd_params *p = m->p;
    struct fd_link link;
    fd_link_init(&link, p);
    e->stream_us = stream_seconds(m) * DSE_US_PER_S;
    e->collective_us =
        fd_collective(&link, (enum fd_collective)p->collective, (double)p->workload.tensor_parallel, p->collective_bytes) *
        DSE_US_PER_S;
}

void fd_equate(const void *params, void *equations)
{
    struct fd_equations *e = equations;
    struct fd_machine m;
    if (dse_llm_unlike_plain(((const struct fd_params *)params)->workload.llm)) {
        dse_equations_unknown(e, sizeof *e);
        return;
    }
    fd_machine_init(&m, params);
    fill_softmax(e, m.p);
    fill_gemm(e, &m);
    fill_layers(e, &m);
    fill_asked(e, &m);
    e->shapes = FD_LM_HEAD; /* the operators before the head: those of a layer */
    fill_shape(&m, FD_QKV, &e->qkv_n, &e->qkv_k, &e->qkv_m1, &e->qkv_m2);
    fill_shape(&m, FD_OUTPUT, &e->output_n, &e->output_k, &e->output_m1, &e->output_m2);
    fill_shape(&m, FD_FFN_UP, &e->ffn_up_n, &e->ffn_up_k, &e->ffn_up_m1, &e->ffn_up_m2);
    fill_shape(&m, FD_FFN_DOWN, &e->ffn_down_n, &e->ffn_down_k, &e->ffn_down_m1, &e->ffn_down_m2);
}
