/* Linear operators: the three implementations of Sec. 5 and the choice among them (E5 to E12). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

void fd_machine_init(struct fd_machine *ret, const struct fd_params *p)
{
    const struct dse_gpu *gpu = p->gpu;
    double clock = p->clock_ghz / gpu->clock_ghz, sms = (double)p->sms, made = (double)gpu->sms;
    double tera = 1e3 * DSE_GIGA;
    *ret = (struct fd_machine){
        .p = p,
        .uniform = fd_operands_uniform(p),
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
    fd_vendor_rates(ret, p);
}

/* E18: what a GEMM moves: weights, and activations that the last-level cache cannot hold, written to DRAM and read back by the next
 * operator. */
double fd_gemm_bytes(const struct fd_machine *m, const struct fd_gemm *g)
{
    return g->k * g->n * m->weight_bytes + dse_max(0, g->m * (g->k + g->n) * FD_ACTIVATION_BYTES - m->l2) + g->extra_bytes;
}

struct fd_cost fd_gemv(const struct fd_machine *m, const struct fd_gemm *g)
{
    struct fd_cost c = {.bytes = fd_gemm_bytes(m, g)};
    c.load_s = c.bytes / m->stream;
    c.sm_s = DSE_OPS_PER_MAC * g->m * g->k * g->n / m->gemv_ops;
    c.compute_bound = c.sm_s > c.load_s;
    c.seconds = dse_max(c.load_s, c.sm_s);
    return c;
}

/* ---- tile kernels ---------------------------------------------------------------------------------------------------------- */

/* E8: seconds of an SM for a tile of the result, by its padded rows and columns: products on tensor cores, and operands written
 * to and read from L1. */
struct tile_law {
    double base, column; /* seconds, and seconds a column */
};

static struct tile_law tile_law(const struct fd_machine *m, double k, double rows)
{
    enum { WRITTEN_AND_READ = 2 };
    double path = WRITTEN_AND_READ * k / m->sm_path;
    return (struct tile_law){.base = rows * FD_ACTIVATION_BYTES * path,
                             .column = DSE_OPS_PER_MAC * rows * k / m->sm_ops + m->weight_bytes * path};
}

double fd_tile_seconds(const struct fd_machine *m, double k, double rows, double tile_n)
{
    const struct tile_law law = tile_law(m, k, rows);
    return law.base + tile_n * law.column;
}

double fd_tile_bytes(const struct fd_machine *m, double rows, double tile_n, double buffers)
{
    return buffers * (double)m->p->tile_k * (rows * FD_ACTIVATION_BYTES + tile_n * m->weight_bytes);
}

/* What the flat GEMM costs whatever its B_N. */
struct flat {
    const struct fd_machine *m;
    const struct fd_gemm *g;
    double rows, bytes, stream_s; /* padded rows; of one pass over the weights, at the peak bandwidth that they are read at */
    double exposed;               /* with two buffers */
    double an_sm;                 /* 1 over the SMs */
    struct tile_law law;
};

static struct flat flat_init(const struct fd_machine *m, const struct fd_gemm *g)
{
    const struct fd_params *p = m->p;
    double rows = dse_ceil_to(g->m, (double)p->pad_rows), bytes = fd_gemm_bytes(m, g), steps = g->k / (double)p->tile_k;
    return (struct flat){.m = m,
                         .g = g,
                         .rows = rows,
                         .bytes = bytes,
                         .stream_s = bytes / m->stream,
                         .exposed = steps > 1 ? p->exposed_share + (1 - p->exposed_share) / steps : 1,
                         .an_sm = 1 / m->sms,
                         .law = tile_law(m, g->k, rows)};
}

/* E6: where a block's tiles find room in L1. */
struct room {
    double rows, passes, resident; /* of one pass; passes over the weights; blocks that an SM runs at a time */
    double tile_k;
    bool two_buffers;
};

static struct room flat_room(const struct flat *f, double tile_n)
{
    const struct fd_machine *m = f->m;
    const struct fd_params *p = m->p;
    struct room r = {.rows = f->rows, .passes = 1, .resident = (double)p->resident_blocks, .tile_k = (double)p->tile_k};
    double needed = fd_tile_bytes(m, f->rows, tile_n, 2);
    r.two_buffers = p->double_buffering == FD_ON && needed <= m->l1;
    if (!r.two_buffers) {
        double pad = (double)p->pad_rows, room = m->l1 - tile_n * m->weight_bytes; /* for one column of the rows */
        double fit = (double)(int64_t)(room / (FD_ACTIVATION_BYTES * pad)) * pad;
        if (r.rows > fit) {
            r.passes = dse_ceil(r.rows / fit);
            r.rows = fit;
        }
        needed = fd_tile_bytes(m, r.rows, tile_n, 1);
        if (needed > m->l1) {
            r.tile_k = dse_max(1, (double)(int64_t)(m->l1 / (needed / r.tile_k)));
            needed = m->l1;
        }
    }
    if (r.resident * needed > m->l1) r.resident = (double)(int64_t)(m->l1 / needed);
    return r;
}

/* E7 to E9 at one B_N, if that is as fast as *best or faster. All rows are in one block, along all of k. */
static void flat_try(const struct flat *f, double tile_n, struct fd_cost *best)
{
    const struct fd_machine *m = f->m;
    double blocks = dse_ceil(f->g->n / tile_n);
    struct room r = flat_room(f, tile_n);
    double waves = dse_ceil(blocks / (r.resident * m->sms));
    double load_s = r.passes * dse_max(f->stream_s, waves * f->bytes / (blocks * m->block_stream));
    if (load_s > best->seconds) return;
    struct tile_law law = r.passes > 1 ? tile_law(m, f->g->k, r.rows) : f->law;
    double sm_s = r.passes * dse_ceil(blocks / m->sms) * (law.base + tile_n * law.column);
    double seconds = fd_overlapped(load_s, sm_s, r.two_buffers ? f->exposed : 1);
    if (seconds > best->seconds) return;
    *best = (struct fd_cost){.seconds = seconds,
                             .bytes = r.passes * f->bytes,
                             .load_s = load_s,
                             .sm_s = sm_s,
                             .rows = r.rows * r.passes,
                             .tile_n = tile_n,
                             .blocks = blocks,
                             .waves = waves,
                             .double_buffered = r.two_buffers,
                             .compute_bound = sm_s > load_s};
}

/* Is it known without a layout that a B_N, given with its inverse, takes longer? Weights are streamed once at least, in blocks that
 * find room; passes over parts of the rows only add to what an SM does. */
static bool flat_is_slower(const struct flat *f, double tile_n, double inverse, double limit)
{
    const double slack = 1 - 1e-12, blocks = dse_ceil(f->g->n * inverse);
    const double sm_s = dse_ceil(blocks * f->an_sm * slack) * (f->law.base + tile_n * f->law.column);
    return fd_overlapped(f->stream_s, sm_s, f->exposed) * slack > limit;
}

/* The best of those that are no slower than `limit`; infinite where none is. */
static struct fd_cost flat_best(const struct flat *f, double limit)
{
    struct fd_cost best;
    best.seconds = limit;
    best.blocks = 0;
    if (f->m->p->tile_n) flat_try(f, (double)f->m->p->tile_n, &best);
    for (double tile_n = FD_TILE_N_MIN, inverse = 1.0 / FD_TILE_N_MIN; tile_n <= FD_TILE_N_MAX && !f->m->p->tile_n;
         tile_n *= 2, inverse /= 2)
        if (!flat_is_slower(f, tile_n, inverse, best.seconds)) flat_try(f, tile_n, &best); /* a tie: the larger */
    if (best.blocks <= 0) best = (struct fd_cost){.seconds = (double)INFINITY};
    return best;
}

struct fd_layout fd_flat_layout(const struct fd_machine *m, const struct fd_gemm *g, double tile_n)
{
    struct flat f = flat_init(m, g);
    struct room r = flat_room(&f, tile_n);
    return (struct fd_layout){.passes = r.passes, .tile_k = r.tile_k, .resident = r.resident};
}

struct fd_cost fd_flat_at(const struct fd_machine *m, const struct fd_gemm *g, double tile_n)
{
    struct fd_machine own;
    m = fd_machine_for(m, g, &own);
    struct flat f = flat_init(m, g);
    struct fd_cost cost = {.seconds = (double)INFINITY};
    flat_try(&f, tile_n, &cost);
    return cost;
}

struct fd_cost fd_flat(const struct fd_machine *m, const struct fd_gemm *g)
{
    struct flat f = flat_init(m, g);
    return flat_best(&f, (double)INFINITY);
}

struct fd_cost fd_library_of(const struct fd_machine *m, const struct fd_gemm *g, double rows)
{
    double tile_rows = dse_min(rows, FD_LIBRARY_ROWS_MAX);
    double tile_n = rows > FD_LIBRARY_ROWS ? FD_LIBRARY_TILE_N_MANY : FD_LIBRARY_TILE_N_FEW;
    struct tile_law law = tile_law(m, g->k, tile_rows);
    struct fd_cost c = {.bytes = fd_gemm_bytes(m, g), .rows = rows, .tile_n = tile_n, .double_buffered = true};
    c.blocks = rows / tile_rows * g->n / tile_n;
    c.load_s = c.bytes / m->stream;
    c.sm_s = c.blocks / m->sms * (law.base + tile_n * law.column);
    c.compute_bound = c.sm_s > c.load_s;
    c.seconds = fd_overlapped(c.load_s, c.sm_s, m->p->exposed_share);
    return c;
}

struct fd_cost fd_library(const struct fd_machine *m, const struct fd_gemm *g, double pad_rows)
{
    return fd_library_of(m, g, dse_ceil_to(g->m, pad_rows));
}

/* ---- the choice ---------------------------------------------------------------------------------------------------------- */

void fd_three(const struct fd_machine *m, const struct fd_gemm *g, struct fd_cost ret[FD_KERNELS])
{
    struct fd_machine own;
    m = fd_machine_for(m, g, &own);
    ret[FD_GEMV] = fd_gemv(m, g);
    ret[FD_FLAT] = fd_flat(m, g);
    ret[FD_LIBRARY] = fd_library(m, g, FD_LIBRARY_ROWS);
}

enum fd_kernel fd_fastest(const struct fd_cost three[FD_KERNELS])
{
    enum fd_kernel best = FD_GEMV;
    if (three[FD_FLAT].seconds < three[best].seconds) best = FD_FLAT;
    if (three[FD_LIBRARY].seconds < three[best].seconds) best = FD_LIBRARY;
    return best;
}

/* No tile is faster than one whose blocks load at the peak bandwidth and fill all SMs. */
static double flat_bound(const struct flat *f)
{
    return fd_overlapped(f->stream_s, f->g->n / f->m->sms * f->law.column, f->m->p->exposed_share);
}

struct fd_cost fd_linear(const struct fd_machine *m, const struct fd_gemm *g, enum fd_kernel *ret_kernel)
{
    struct fd_machine own;
    m = fd_machine_for(m, g, &own);
    *ret_kernel = FD_LIBRARY;
    if (m->p->dataflow == FD_BY_VENDOR) {
        *ret_kernel = FD_VENDOR;
        return fd_vendor(m, g);
    }
    if (m->p->dataflow == FD_STATIC) return fd_library(m, g, (double)m->p->pad_rows);
    struct fd_cost three[FD_KERNELS] = {[FD_GEMV] = fd_gemv(m, g), [FD_LIBRARY] = fd_library(m, g, FD_LIBRARY_ROWS)};
    struct flat f = flat_init(m, g);
    double others = dse_min(three[FD_GEMV].seconds, three[FD_LIBRARY].seconds);
    three[FD_FLAT].seconds = (double)INFINITY;
    if (flat_bound(&f) < others) three[FD_FLAT] = flat_best(&f, others);
    *ret_kernel = fd_fastest(three);
    return three[*ret_kernel];
}
