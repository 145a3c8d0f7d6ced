/* GEMMs of the maker's library as they were measured: E28. */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* Tiles of the result that it chooses from. */
static const struct {
    double rows, columns;
} tiles[] = {{256, 128}, {128, 128}, {64, 128}, {64, 64}, {16, 64}};
enum { TILES = sizeof tiles / sizeof *tiles, RESULT_BYTES = 2, PARTIAL_BYTES = 4 };
/* A kernel more in the queue: the gap before it and its first load (kernel_gap_us and memory_latency_ns of defaults.toml). */
static const double kernel_more_s = 1.5e-6;
/* Of l2_bytes, what kernels draw: 19 bytes a cycle and SM, between what is measured of Ada (16) and of Hopper (28). */
static const double l2_share = 0.4;
/* Hits in the cache come so much sooner than DRAM's bytes: 290 over 200 cycles of an A100, arXiv:2208.11174. */
static const double l2_sooner = 1.45;

/* What a GEMM moves and does, whatever its tile. */
struct work {
    double bytes, loaded, depth;
    bool kept; /* weights are in the last-level cache already */
};

static struct work work_of(const struct fd_machine *m, const struct fd_gemm *g)
{
    const struct fd_vendor_rates *v = &m->vendor;
    const double weights = g->k * g->n * m->weight_bytes, rows = g->m * g->k * v->activation_bytes;
    struct work w = {
        .loaded = weights + dse_max(0, rows - m->l2) + g->extra_bytes, .depth = g->k, .kept = weights <= v->kept_bytes};
    w.bytes = dse_max(0, rows + g->m * g->n * RESULT_BYTES - m->l2) + g->extra_bytes + (w.kept ? 0 : weights);
    return w;
}

/* T_load of so many blocks: all draw the bandwidth, each what its bytes in flight let it. */
static double load_seconds(const struct fd_machine *m, const struct work *w, double drawing)
{
    const struct fd_vendor_rates *v = &m->vendor;
    const double all = w->loaded / (drawing * v->block_stream), cold_s = dse_max(w->loaded / v->stream, all);
    if (!w->kept) return cold_s;
    return dse_min(cold_s, dse_max(w->loaded / (v->l2_path * l2_share * m->sms), all / l2_sooner));
}

/* One tile, whole or split; it counts if it is faster than *best. */
static void try(const struct fd_machine *m, const struct fd_gemm *g, const struct fd_gemm *drawn, const struct work *w, int i,
                bool split, struct fd_cost *best)
{
    const struct fd_vendor_rates *v = &m->vendor;
    const double rows = tiles[i].rows, columns = tiles[i].columns, count = dse_ceil(g->m / rows) * dse_ceil(g->n / columns);
    const double splits = split ? dse_clamp(dse_floor(m->sms / count), 1, v->splits_max) : 1;
    const double loaders = dse_ceil(drawn->m / rows) * dse_ceil(drawn->n / columns) * (split ? v->splits_max : 1);
    const double waves = dse_ceil(count * splits / m->sms), computed = DSE_OPS_PER_MAC * rows * columns / v->sm_ops;
    const double fed = (rows * v->activation_bytes + columns * m->weight_bytes) / v->sm_path;
    const double sum_s = split ? 2 * PARTIAL_BYTES * rows * columns / v->l2_path : 0; /* written and read */
    const double load_s = load_seconds(m, w, dse_min(m->sms, loaders));
    const double sm_s = waves * w->depth / splits * dse_max(computed, fed) + sum_s;
    const double seconds = fd_overlapped(load_s, sm_s, v->exposed) + (split ? kernel_more_s : 0);
    if (seconds >= best->seconds) return;
    *best = (struct fd_cost){.seconds = seconds,
                             .load_s = load_s,
                             .sm_s = sm_s,
                             .apart_s = split ? kernel_more_s : 0,
                             .rows = rows,
                             .tile_n = columns,
                             .blocks = count * splits,
                             .waves = waves,
                             .splits = splits,
                             .double_buffered = true,
                             .kept = w->kept,
                             .compute_bound = sm_s > load_s};
}

/* Activations made narrow before the GEMM: by one kernel, or by the framework's operators one after the other (to 32 bits, times the
 * scale, held to the range, to the narrow format: 2 + 4, 4 + 4, 4 + 4, 4 + 1 bytes; and the scale's reciprocal). What they hand on
 * stays in the last-level cache as far as it has room for it twice. */
static double quantize_seconds(const struct fd_machine *m, const struct fd_gemm *g)
{
    enum { OPERATORS = 5, OPERATORS_BYTES = 26, HANDED_ON = 8 };
    const struct fd_vendor_rates *v = &m->vendor;
    if (v->quantizing == FD_QUANTIZED) return 0;
    const bool one = v->quantizing == FD_BY_KERNEL;
    const double elements = g->m * g->k, touched = elements * (one ? RESULT_BYTES + v->activation_bytes : HANDED_ON);
    const double kept = dse_clamp(2 * (1 - touched / v->l2_near), 0, 1);
    const double fast = dse_max(v->stream, v->l2_path * l2_share * m->sms);
    const double bytes = elements * ((one ? RESULT_BYTES : OPERATORS_BYTES) + v->activation_bytes);
    return (one ? 1 : OPERATORS) * kernel_more_s + bytes * (kept / fast + (1 - kept) / v->stream);
}

struct fd_cost fd_vendor_of(const struct fd_machine *m, const struct fd_gemm *g, const struct fd_gemm *drawn)
{
    const struct work w = work_of(m, g);
    struct fd_cost best = {.seconds = (double)INFINITY};
    for (int i = 0; i < TILES; i++) {
        try(m, g, drawn, &w, i, false, &best);
        if (m->vendor.splits_max > 1) try(m, g, drawn, &w, i, true, &best);
    }
    const double apart_s = m->vendor.fixed_s + g->m * g->n * RESULT_BYTES / m->vendor.stream + quantize_seconds(m, g);
    best.bytes = w.bytes;
    best.apart_s += apart_s;
    best.seconds += apart_s;
    return best;
}

struct fd_cost fd_vendor(const struct fd_machine *m, const struct fd_gemm *g)
{
    return fd_vendor_of(m, g, g);
}
