/* GEMMs of the maker's library as they were measured: E28. */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <float.h>
#include <math.h>

/* Tiles of the result that it chooses from. */
static const struct {
    double rows, columns;
} tiles[FD_VENDOR_TILES] = {{256, 128}, {128, 128}, {64, 128}, {64, 64}, {16, 64}};
enum { FEWEST_ROWS = FD_VENDOR_TILES - 1, RESULT_BYTES = 2, PARTIAL_BYTES = 4 };
/* A kernel more in the queue: the gap before it and its first load (kernel_gap_us and memory_latency_ns of defaults.toml). */
static const double kernel_more_s = 1.5e-6;
/* Of an operator whose data are in the cache: the same gap, and the latency of that (l2_latency_ns). */
static const double operator_more_s = 1.04e-6;
/* Of l2_bytes, what kernels draw: 19 bytes a cycle and SM, between what is measured of Ada (16) and of Hopper (28). */
static const double l2_share = 0.4;
/* Hits in the cache come so much sooner than DRAM's bytes: 290 over 200 cycles of an A100, arXiv:2208.11174. */
static const double l2_sooner = 1.45;

void fd_vendor_tiles(struct fd_machine *m)
{
    struct fd_vendor_rates *v = &m->vendor;
    for (int i = 0; i < FD_VENDOR_TILES; i++) {
        const double rows = tiles[i].rows, columns = tiles[i].columns, computed = DSE_OPS_PER_MAC * rows * columns / v->sm_ops;
        const double fed = (rows * v->activation_bytes + columns * m->weight_bytes) / v->sm_path;
        v->tile_s[i] = dse_max(computed, fed);
        v->tile_sum_s[i] = 2 * PARTIAL_BYTES * rows * columns / v->l2_path; /* written and read */
    }
}

/* What a GEMM moves and does, whatever its tile. */
struct work {
    const struct fd_machine *m;
    const struct fd_gemm *g, *drawn;
    double bytes, loaded;
    double all_s;          /* loading, when every SM draws */
    double cold_s, kept_s; /* at the bandwidth of the DRAM, and of the cache */
    double least_depth;    /* of a split */
    bool kept;             /* weights are in the last-level cache already */
};

/* T_load of so many blocks: all draw the bandwidth, each what its bytes in flight let it. */
static double load_seconds(const struct work *w, double drawing)
{
    const double all = w->loaded / (drawing * w->m->vendor.block_stream), cold_s = dse_max(w->cold_s, all);
    return w->kept ? dse_min(cold_s, dse_max(w->kept_s, all / l2_sooner)) : cold_s;
}

static struct work work_of(const struct fd_machine *m, const struct fd_gemm *g, const struct fd_gemm *drawn)
{
    const struct fd_vendor_rates *v = &m->vendor;
    const double weights = g->k * g->n * m->weight_bytes, rows = g->m * g->k * v->activation_bytes;
    struct work w = {.m = m, .g = g, .drawn = drawn, .loaded = weights + dse_max(0, rows - m->l2) + g->extra_bytes};
    w.kept = weights <= v->kept_bytes;
    w.bytes = dse_max(0, rows + g->m * g->n * RESULT_BYTES - m->l2) + g->extra_bytes + (w.kept ? 0 : weights);
    w.cold_s = w.loaded / v->gemm_stream;
    w.kept_s = w.kept ? w.loaded / (v->l2_path * l2_share * m->sms) : 0;
    w.all_s = load_seconds(&w, m->sms);
    w.least_depth = g->k / v->splits_max;
    return w;
}

/* Blocks of a tile; tiles are powers of two. */
static double blocks_of(const struct fd_gemm *g, int i)
{
    return dse_ceil(g->m / tiles[i].rows) * dse_ceil(g->n / tiles[i].columns);
}

/* Blocks that share a tile's depth, where there are too few for all SMs. */
static double splits_of(const struct work *w, double count)
{
    return 2 * count > w->m->sms ? 1 : dse_min(dse_floor(w->m->sms / count), w->m->vendor.splits_max);
}

/* One tile, whole or split; false: it takes no less than `limit`. What cannot take less, however fast it loads, is left early. */
static bool try(const struct work *w, int i, bool split, double limit, struct fd_cost *ret)
{
    const struct fd_machine *m = w->m;
    const struct fd_vendor_rates *v = &m->vendor;
    const double more_s = split ? kernel_more_s : 0, sum_s = split ? v->tile_sum_s[i] : 0;
    const double least_s = (split ? w->least_depth : w->g->k) * v->tile_s[i] + sum_s;
    if (fd_overlapped(w->all_s, least_s, v->exposed) + more_s >= limit) return false;
    const double count = blocks_of(w->g, i), splits = split ? splits_of(w, count) : 1, blocks = count * splits;
    const double waves = blocks > m->sms ? dse_ceil(blocks / m->sms) : 1, depth = waves * w->g->k;
    const double sm_s = (split ? depth / splits : depth) * v->tile_s[i] + sum_s;
    if (fd_overlapped(w->all_s, sm_s, v->exposed) + more_s >= limit) return false;
    const double loaders = (w->drawn == w->g ? count : blocks_of(w->drawn, i)) * (split ? v->splits_max : 1);
    const double load_s = loaders < m->sms ? load_seconds(w, loaders) : w->all_s;
    const double seconds = fd_overlapped(load_s, sm_s, v->exposed) + more_s;
    if (seconds >= limit) return false;
    *ret = (struct fd_cost){.seconds = seconds,
                            .load_s = load_s,
                            .sm_s = sm_s,
                            .apart_s = more_s,
                            .rows = tiles[i].rows,
                            .tile_n = tiles[i].columns,
                            .blocks = blocks,
                            .waves = waves,
                            .splits = splits,
                            .double_buffered = true,
                            .kept = w->kept,
                            .compute_bound = sm_s > load_s};
    return true;
}

/* The tile that is likely the fastest of few rows, from the end of the list; of equally fast ones the first counts, so all are
 * tried, as long as they are no slower. */
static struct fd_cost fastest(const struct work *w)
{
    struct fd_cost best = {.seconds = (double)INFINITY}, likely;
    double limit = best.seconds;
    const int first = w->g->m <= tiles[FEWEST_ROWS].rows ? FEWEST_ROWS : FEWEST_ROWS - 1;
    if (w->g->m <= tiles[FEWEST_ROWS - 1].rows && try(w, first, false, limit, &likely)) limit = likely.seconds * (1 + DBL_EPSILON);
    for (int i = 0; i < FD_VENDOR_TILES; i++) {
        if (try(w, i, false, limit, &best)) limit = best.seconds;
        if (w->m->vendor.splits_max > 1 && try(w, i, true, limit, &best)) limit = best.seconds;
    }
    return best;
}

/* Activations made narrow before the GEMM: by one kernel, or by the framework's operators one after the other (absolute values,
 * their maximum, to 32 bits, times the scale, held to the range, to the narrow format: 2 + 2, 2, 2 + 4, 4 + 4, 4 + 4, 4 + 1 bytes;
 * and the scale's reciprocal). What they hand on stays in the last-level cache as far as it has room for it twice. */
static double quantize_seconds(const struct fd_machine *m, const struct fd_gemm *g)
{
    enum { OPERATORS = 7, OPERATORS_BYTES = 32, HANDED_ON = 8 };
    const struct fd_vendor_rates *v = &m->vendor;
    if (v->quantizing == FD_QUANTIZED) return 0;
    const bool one = v->quantizing == FD_BY_KERNEL;
    const double elements = g->m * g->k, touched = elements * (one ? RESULT_BYTES + v->activation_bytes : HANDED_ON);
    const double kept = dse_clamp(2 * (1 - touched / v->l2_near), 0, 1);
    const double fast = dse_max(v->stream, v->l2_path * l2_share * m->sms);
    const double bytes = elements * ((one ? RESULT_BYTES : OPERATORS_BYTES) + v->activation_bytes);
    return (one ? kernel_more_s : OPERATORS * operator_more_s) + bytes * (kept / fast + (1 - kept) / v->stream);
}

struct fd_cost fd_vendor_of(const struct fd_machine *m, const struct fd_gemm *g, const struct fd_gemm *drawn)
{
    struct fd_machine own;
    m = fd_machine_for(m, g, &own);
    const struct work w = work_of(m, g, drawn);
    struct fd_cost best = fastest(&w);
    const double apart_s = m->vendor.gemm_fixed_s + g->m * g->n * RESULT_BYTES / m->vendor.gemm_stream + quantize_seconds(m, g);
    best.bytes = w.bytes;
    best.apart_s += apart_s;
    best.seconds += apart_s;
    return best;
}

struct fd_cost fd_vendor(const struct fd_machine *m, const struct fd_gemm *g)
{
    return fd_vendor_of(m, g, g);
}
