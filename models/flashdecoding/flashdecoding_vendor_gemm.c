/* GEMMs of the maker's library as they were measured: E28. */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* Tiles of the result that it chooses from, and what it splits the depth into at most. */
static const struct {
    double rows, columns;
} tiles[] = {{256, 128}, {128, 128}, {64, 128}, {64, 64}, {16, 64}};
enum { TILES = sizeof tiles / sizeof *tiles, SPLITS_MAX = 8, PARTIAL_BYTES = 4 };

/* One tile, whole or split; it counts if it is faster than *best. */
static void try(const struct fd_machine *m, const struct fd_gemm *g, const struct fd_gemm *drawn, int i, bool split,
                struct fd_cost *best)
{
    const struct fd_vendor_rates *v = &m->vendor;
    const double rows = tiles[i].rows, columns = tiles[i].columns, count = dse_ceil(g->m / rows) * dse_ceil(g->n / columns);
    const double splits = split ? dse_clamp(dse_floor(m->sms / count), 1, SPLITS_MAX) : 1;
    const double loaders = dse_ceil(drawn->m / rows) * dse_ceil(drawn->n / columns);
    const double drawing = split ? dse_min(m->sms, loaders * SPLITS_MAX) : loaders, waves = dse_ceil(count * splits / m->sms);
    const double computed = DSE_OPS_PER_MAC * rows * columns / v->sm_ops;
    const double fed = (rows * FD_ACTIVATION_BYTES + columns * m->weight_bytes) / v->sm_path;
    const double sum_s = split ? 2 * PARTIAL_BYTES * rows * columns / v->l2_path : 0; /* written and read */
    const double load_s = dse_max(best->bytes / v->stream, best->bytes / (drawing * v->block_stream));
    const double sm_s = waves * g->k / splits * dse_max(computed, fed) + sum_s;
    const double seconds = fd_overlapped(load_s, sm_s, v->exposed);
    if (seconds >= best->seconds) return;
    *best = (struct fd_cost){.seconds = seconds,
                             .bytes = best->bytes,
                             .load_s = load_s,
                             .sm_s = sm_s,
                             .rows = rows,
                             .tile_n = columns,
                             .blocks = count * splits,
                             .waves = waves,
                             .splits = splits,
                             .double_buffered = true,
                             .compute_bound = sm_s > load_s};
}

struct fd_cost fd_vendor_of(const struct fd_machine *m, const struct fd_gemm *g, const struct fd_gemm *drawn)
{
    struct fd_cost best = {.seconds = (double)INFINITY, .bytes = fd_gemm_bytes(m, g)};
    for (int i = 0; i < TILES; i++) {
        try(m, g, drawn, i, false, &best);
        try(m, g, drawn, i, true, &best);
    }
    best.seconds += m->vendor.fixed_s;
    return best;
}

struct fd_cost fd_vendor(const struct fd_machine *m, const struct fd_gemm *g)
{
    return fd_vendor_of(m, g, g);
}
