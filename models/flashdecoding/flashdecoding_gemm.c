/* Linear operators: the three implementations of Sec. 5 and the choice among them (E5 to E12). */
#include "flashdecoding.h"

#include <dse/units.h>

#include <math.h>

void fd_machine_init(struct fd_machine *ret, const struct fd_params *p)
{
    const struct dse_gpu *gpu = p->gpu;
    double clock = p->clock_ghz / gpu->clock_ghz, sms = (double)p->sms, made = (double)gpu->sms;
    double tera = 1e3 * DSE_GIGA;
    *ret = (struct fd_machine){
        .p = p,
        .weight_bytes = (double)p->workload.weight_bits / DSE_BITS_PER_BYTE,
        .bandwidth = p->bandwidth_gbs * DSE_GIGA,
        .stream = p->bandwidth_gbs * DSE_GIGA * p->linear_efficiency,
        .sm_ops = p->tensor_tflops * tera / made * clock,
        .sm_path = (double)p->l1_bytes * p->clock_ghz * DSE_GIGA,
        .tensor_peak = p->tensor_tflops * tera * sms / made * clock,
        .vector_peak = p->vector_tflops * tera * sms / made * clock,
        .sms = sms,
        .l1 = p->l1_kib * DSE_KIB,
        .l2 = p->l2_mib * DSE_MIB,
    };
    ret->block_stream = p->block_share * gpu->bandwidth_gbs * DSE_GIGA / made * p->linear_efficiency;
    ret->gemv_ops = ret->vector_peak * p->gemv_efficiency;
}

/* E18: activations that the last-level cache cannot hold are written to DRAM and read back by the next operator. */
static double spilled(const struct fd_machine *m, const struct fd_gemm *g)
{
    return fmax(0, g->m * (g->k + g->n) * FD_ACTIVATION_BYTES - m->l2);
}

static double weights(const struct fd_machine *m, const struct fd_gemm *g)
{
    return g->k * g->n * m->weight_bytes;
}

struct fd_cost fd_gemv(const struct fd_machine *m, const struct fd_gemm *g)
{
    struct fd_cost c = {.bytes = weights(m, g) + spilled(m, g) + g->extra_bytes};
    c.load_s = c.bytes / m->stream;
    c.sm_s = DSE_OPS_PER_MAC * g->m * g->k * g->n / m->gemv_ops;
    c.compute_bound = c.sm_s > c.load_s;
    c.seconds = fmax(c.load_s, c.sm_s);
    return c;
}

/* ---- tile kernels ---------------------------------------------------------------------------------------------------------- */

/* E9. */
static void finish(struct fd_cost *c, double exposed)
{
    c->compute_bound = c->sm_s > c->load_s;
    c->seconds = fmax(c->load_s, c->sm_s) + exposed * fmin(c->load_s, c->sm_s);
}

/* E8: seconds of an SM for one tile_rows x tile_n tile of the result: products on tensor cores, and operands written to and read from L1. */
static double tile_seconds(const struct fd_machine *m, double k, double tile_rows, double tile_n)
{
    enum { WRITTEN_AND_READ = 2 };
    double products = DSE_OPS_PER_MAC * tile_rows * tile_n * k / m->sm_ops;
    double operands = (tile_rows * FD_ACTIVATION_BYTES + tile_n * m->weight_bytes) * k;
    return products + WRITTEN_AND_READ * operands / m->sm_path;
}

/* A row of equal blocks: each holds `tile_rows` padded rows and tile_n columns, and goes along k. */
struct grid {
    double tile_rows, tile_n;
    double resident; /* blocks that an SM runs at a time */
    double exposed;  /* share of the shorter of loading and computing that does not overlap */
    double passes;   /* over the weights */
};

/* E7 to E9. */
static struct fd_cost grid_cost(const struct fd_machine *m, const struct fd_gemm *g, const struct grid *at, double bytes)
{
    struct fd_cost c = {.bytes = at->passes * bytes, .tile_n = at->tile_n};
    c.blocks = fd_ceil(g->n / at->tile_n);
    c.waves = fd_ceil(c.blocks / (at->resident * m->sms));
    c.load_s = at->passes * fmax(bytes / m->stream, c.waves * bytes / (c.blocks * m->block_stream));
    c.sm_s = at->passes * fd_ceil(c.blocks / m->sms) * tile_seconds(m, g->k, at->tile_rows, at->tile_n);
    finish(&c, at->exposed);
    return c;
}

double fd_tile_bytes(const struct fd_machine *m, double rows, double tile_n, double buffers)
{
    return buffers * (double)m->p->tile_k * (rows * FD_ACTIVATION_BYTES + tile_n * m->weight_bytes);
}

/* E6: the flat GEMM at one tile_n. All rows are in one block; two buffers where they fit and are wanted, else one, if need be of fewer columns of
 * k, and when even one column of all rows is too much, the rows go in several passes. */
static struct fd_cost flat_at(const struct fd_machine *m, const struct fd_gemm *g, double tile_n, double bytes)
{
    const struct fd_params *p = m->p;
    double pad = (double)p->pad_rows, rows = fd_pad(g->m, pad), column = tile_n * m->weight_bytes;
    struct grid at = {.tile_n = tile_n, .exposed = 1, .passes = 1};
    double needed = fd_tile_bytes(m, rows, tile_n, 2);
    bool buffered = p->double_buffering == FD_ON && needed <= m->l1;
    if (buffered) {
        at.exposed = p->exposed_share + (1 - p->exposed_share) / fmax(1, g->k / (double)p->tile_k);
    } else {
        double fit = (double)(int64_t)((m->l1 - column) / (FD_ACTIVATION_BYTES * pad)) * pad;
        if (rows > fit) {
            at.passes = fd_ceil(rows / fit);
            rows = fit;
        }
        needed = fmin(fd_tile_bytes(m, rows, tile_n, 1), m->l1);
    }
    at.tile_rows = rows;
    at.resident = fmin((double)p->resident_blocks, (double)(int64_t)(m->l1 / needed));
    struct fd_cost c = grid_cost(m, g, &at, bytes);
    c.rows = rows * at.passes;
    c.double_buffered = buffered;
    return c;
}

struct fd_cost fd_flat(const struct fd_machine *m, const struct fd_gemm *g)
{
    double bytes = weights(m, g) + spilled(m, g) + g->extra_bytes;
    if (m->p->tile_n) return flat_at(m, g, (double)m->p->tile_n, bytes);
    struct fd_cost best = {.seconds = (double)INFINITY};
    for (double tile_n = FD_TILE_N_MAX; tile_n >= FD_TILE_N_MIN; tile_n /= 2) { /* of tiles as fast, the larger one */
        struct fd_cost c = flat_at(m, g, tile_n, bytes);
        if (c.seconds < best.seconds) best = c;
    }
    return best;
}

struct fd_cost fd_library(const struct fd_machine *m, const struct fd_gemm *g, double pad_rows)
{
    double rows = fd_pad(g->m, pad_rows), tile_rows = fmin(rows, FD_LIBRARY_ROWS_MAX);
    double tile_n = rows > FD_LIBRARY_ROWS ? FD_LIBRARY_TILE_N_MANY : FD_LIBRARY_TILE_N_FEW;
    struct fd_cost c = {.bytes = weights(m, g) + spilled(m, g) + g->extra_bytes, .rows = rows, .tile_n = tile_n};
    c.blocks = rows / tile_rows * g->n / tile_n;
    c.load_s = c.bytes / m->stream;
    c.sm_s = c.blocks / m->sms * tile_seconds(m, g->k, tile_rows, tile_n);
    finish(&c, m->p->exposed_share);
    return c;
}

struct fd_cost fd_linear(const struct fd_machine *m, const struct fd_gemm *g, enum fd_kernel *ret_kernel)
{
    if (m->p->dataflow == FD_STATIC) {
        *ret_kernel = FD_LIBRARY;
        return fd_library(m, g, (double)m->p->pad_rows);
    }
    struct fd_cost cost = fd_gemv(m, g), flat = fd_flat(m, g), library = fd_library(m, g, FD_LIBRARY_ROWS);
    *ret_kernel = FD_GEMV;
    if (flat.seconds < cost.seconds) {
        cost = flat;
        *ret_kernel = FD_FLAT;
    }
    if (library.seconds < cost.seconds) {
        cost = library;
        *ret_kernel = FD_LIBRARY;
    }
    return cost;
}
