/* Bounds of linear operators: flashdecoding_gemm.c, E6 to E12, in its order. */
#include "flashdecoding_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* Rows grow with m, and by less than one `multiple` beyond it. */
static struct dse_interval padded_rows(const struct fd_gemm_bound *g, double multiple_lo, double multiple_hi)
{
    const double lo = dse_max(g->lo.m, multiple_lo * dse_ceil(g->lo.m / multiple_hi));
    if (multiple_lo == multiple_hi) return dse_iv(dse_ceil_to(g->lo.m, multiple_lo), dse_ceil_to(g->hi.m, multiple_hi));
    return dse_iv(lo, dse_ceil(g->hi.m) + multiple_hi - 1); /* rows of experts are a mean */
}

/* E10: more of anything takes longer, and moves more; a faster machine and a larger cache do not. */
static struct fd_cost_bound gemv_bound(const struct fd_box *b, const struct fd_gemm_bound *g)
{
    const struct fd_cost lo = fd_gemv(&b->fast, &g->lo), hi = fd_gemv(&b->slow, &g->hi);
    return (struct fd_cost_bound){.seconds = {lo.seconds, hi.seconds}, .bytes = {lo.bytes, hi.bytes}};
}

/* ---- tile kernels ---------------------------------------------------------------------------------------------------------- */

/* E6: where a block's tiles find room in L1. */
struct room {
    struct dse_interval rows, passes, resident;
};

/* Blocks that fit: as the closed form counts them, fewer of larger ones, more in a larger L1. */
static double residents(double most, double needed, double l1)
{
    return most * needed > l1 ? (double)(int64_t)(l1 / needed) : most;
}

/* Of the points of which two buffers fit. */
static struct room two_buffers(const struct fd_box *b, struct dse_interval rows, struct dse_interval needed)
{
    const double most = (double)b->hi.resident_blocks, least = (double)b->lo.resident_blocks;
    return (struct room){
        .rows = rows,
        .passes = {1, 1},
        .resident = {dse_max(1, residents(least, needed.hi, b->slow.l1)), dse_max(1, residents(most, needed.lo, b->fast.l1))}};
}

/* Of the others: a pass takes as many rows as find room, in whole `pad_rows`. */
static struct room one_buffer(const struct fd_box *b, struct dse_interval rows, struct dse_interval tile_n)
{
    const double pad_lo = (double)b->lo.pad_rows, pad_hi = (double)b->hi.pad_rows;
    const double small = b->slow.l1 - tile_n.hi * b->slow.weight_bytes, large = b->fast.l1 - tile_n.lo * b->fast.weight_bytes;
    struct dse_interval fit = {dse_max(1, small / FD_ACTIVATION_BYTES - pad_hi), large / FD_ACTIVATION_BYTES};
    if (pad_lo == pad_hi)
        fit = dse_iv((double)(int64_t)(small / (FD_ACTIVATION_BYTES * pad_lo)) * pad_lo,
                     (double)(int64_t)(large / (FD_ACTIVATION_BYTES * pad_hi)) * pad_hi);
    struct room r = {.rows = dse_iv_min(rows, fit)};
    r.passes = dse_iv(rows.lo > fit.hi ? dse_ceil(rows.lo / fit.hi) : 1, rows.hi > fit.lo ? dse_ceil(rows.hi / fit.lo) : 1);
    const double least = fd_tile_bytes(&b->fast, r.rows.lo, tile_n.lo, 1), most = fd_tile_bytes(&b->slow, r.rows.hi, tile_n.hi, 1);
    r.resident.lo = most > b->slow.l1 ? 1 : dse_max(1, residents((double)b->lo.resident_blocks, most, b->slow.l1));
    r.resident.hi = least > b->fast.l1 ? 1 : dse_max(1, residents((double)b->hi.resident_blocks, least, b->fast.l1));
    return r;
}

/* What the flat GEMM costs whatever its B_N. */
struct flat {
    const struct fd_box *b;
    const struct fd_gemm_bound *g;
    struct dse_interval rows, bytes, stream_s, exposed;
};

static double exposed(double k, double tile_k, double share)
{
    const double steps = k / tile_k;
    return steps > 1 ? share + (1 - share) / steps : 1;
}

static struct flat flat_init(const struct fd_box *b, const struct fd_gemm_bound *g)
{
    const struct fd_cost_bound gemv = gemv_bound(b, g); /* moves the same bytes */
    return (struct flat){.b = b,
                         .g = g,
                         .rows = padded_rows(g, (double)b->lo.pad_rows, (double)b->hi.pad_rows),
                         .bytes = gemv.bytes,
                         .stream_s = {gemv.bytes.lo / b->fast.stream, gemv.bytes.hi / b->slow.stream},
                         .exposed = {exposed(g->hi.k, (double)b->lo.tile_k, b->lo.exposed_share),
                                     exposed(g->lo.k, (double)b->hi.tile_k, b->hi.exposed_share)}};
}

/* E7 to E9 at one B_N, or between two, in a room. Seconds grow with passes, with waves over blocks, and with the blocks of an
 * SM. */
static struct fd_cost_bound flat_in(const struct flat *f, struct dse_interval tile_n, const struct room *r,
                                    struct dse_interval exposed_share)
{
    const struct fd_machine *fast = &f->b->fast, *slow = &f->b->slow;
    const struct dse_interval blocks = {dse_ceil(f->g->lo.n / tile_n.hi), dse_ceil(f->g->hi.n / tile_n.lo)};
    const double most = r->resident.hi * fast->sms, least = r->resident.lo * slow->sms; /* blocks of a wave */
    const struct dse_interval waves = {dse_ceil(blocks.lo / most), dse_ceil(blocks.hi / least)};
    const double drawn_lo = dse_max(waves.lo * f->bytes.lo / (blocks.hi * fast->block_stream),
                                    f->bytes.lo / (dse_min(blocks.hi, most) * fast->block_stream));
    const double drawn_hi = dse_min(waves.hi * f->bytes.hi / (blocks.lo * slow->block_stream),
                                    f->bytes.hi * (1 / least + 1 / blocks.lo) / slow->block_stream);
    const struct dse_interval load_s = {r->passes.lo * dse_max(f->stream_s.lo, drawn_lo),
                                        r->passes.hi * dse_max(f->stream_s.hi, drawn_hi)};
    const struct dse_interval tile_s = {fd_tile_seconds(fast, f->g->lo.k, r->rows.lo, tile_n.lo),
                                        fd_tile_seconds(slow, f->g->hi.k, r->rows.hi, tile_n.hi)};
    const struct dse_interval sm_s = {r->passes.lo * dse_ceil(blocks.lo / fast->sms) * tile_s.lo,
                                      r->passes.hi * dse_ceil(blocks.hi / slow->sms) * tile_s.hi};
    return (struct fd_cost_bound){
        .seconds = {fd_overlapped(load_s.lo, sm_s.lo, exposed_share.lo), fd_overlapped(load_s.hi, sm_s.hi, exposed_share.hi)},
        .bytes = {r->passes.lo * f->bytes.lo, r->passes.hi * f->bytes.hi},
        .rows = {dse_max(f->rows.lo, r->rows.lo * r->passes.lo), r->rows.hi * r->passes.hi},
        .tile_n = tile_n,
        .blocks = blocks,
        .waves = waves};
}

static struct fd_cost_bound cost_hull(const struct fd_cost_bound *a, const struct fd_cost_bound *b)
{
    return (struct fd_cost_bound){.seconds = dse_iv_hull(a->seconds, b->seconds),
                                  .bytes = dse_iv_hull(a->bytes, b->bytes),
                                  .rows = dse_iv_hull(a->rows, b->rows),
                                  .tile_n = dse_iv_hull(a->tile_n, b->tile_n),
                                  .blocks = dse_iv_hull(a->blocks, b->blocks),
                                  .waves = dse_iv_hull(a->waves, b->waves)};
}

static struct fd_cost_bound flat_try(const struct flat *f, double tile_lo, double tile_hi)
{
    const struct fd_box *b = f->b;
    const struct dse_interval tile_n = {tile_lo, tile_hi};
    const struct dse_interval needed = {fd_tile_bytes(&b->fast, f->rows.lo, tile_lo, 2),
                                        fd_tile_bytes(&b->slow, f->rows.hi, tile_hi, 2)};
    const bool on = b->lo.double_buffering == FD_ON, some = on && needed.lo <= b->fast.l1, all = on && needed.hi <= b->slow.l1;
    struct fd_cost_bound two, one;
    if (some) {
        const struct room r = two_buffers(b, f->rows, needed);
        two = flat_in(f, tile_n, &r, f->exposed);
        if (all) return two;
    }
    const struct room r = one_buffer(b, f->rows, tile_n);
    one = flat_in(f, tile_n, &r, dse_iv_of(1));
    return some ? cost_hull(&one, &two) : one;
}

/* All of them are tried, so the shortest time is not above any one's. */
struct fd_cost_bound fd_fastest_bound(const struct fd_cost_bound *of, int n)
{
    const double slack = 1 + 1e-12; /* equal but for rounding */
    struct dse_interval best = of[0].seconds;
    for (int i = 1; i < n; i++) best = dse_iv_min(best, of[i].seconds);
    struct fd_cost_bound r = {.seconds = {(double)INFINITY, 0}};
    for (int i = 0; i < n; i++) {
        if (of[i].seconds.lo > best.hi * slack) continue;
        r = isinf(r.seconds.lo) ? of[i] : cost_hull(&r, &of[i]);
    }
    r.seconds = best;
    return r;
}

static struct fd_cost_bound flat_bound(const struct fd_box *b, const struct fd_gemm_bound *g)
{
    enum { TILES = 7 };
    const struct flat f = flat_init(b, g);
    struct fd_cost_bound best, given, of[TILES];
    if (b->hi.tile_n > 0) given = flat_try(&f, (double)dse_max_i64(1, b->lo.tile_n), (double)b->hi.tile_n);
    if (b->lo.tile_n > 0) return given;
    int n = 0;
    for (int64_t tile_n = FD_TILE_N_MIN; tile_n <= FD_TILE_N_MAX; tile_n *= 2)
        of[n++] = flat_try(&f, (double)tile_n, (double)tile_n);
    best = fd_fastest_bound(of, n);
    return b->hi.tile_n > 0 ? cost_hull(&best, &given) : best;
}

/* E11: time grows with rows, but for a step where its tiles become wider. */
static struct fd_cost_bound library_bound(const struct fd_box *b, const struct fd_gemm_bound *g, double pad_lo, double pad_hi)
{
    const struct dse_interval rows = padded_rows(g, pad_lo, pad_hi);
    const struct fd_cost lo = fd_library_of(&b->fast, &g->lo, rows.lo), hi = fd_library_of(&b->slow, &g->hi, rows.hi);
    struct fd_cost_bound r = {.seconds = {lo.seconds, hi.seconds}, .bytes = {lo.bytes, hi.bytes}};
    if (rows.lo > FD_LIBRARY_ROWS || rows.hi <= FD_LIBRARY_ROWS) return r;
    r.seconds.lo = dse_min(r.seconds.lo, fd_library_of(&b->fast, &g->lo, FD_LIBRARY_ROWS + 1).seconds);
    r.seconds.hi = dse_max(r.seconds.hi, fd_library_of(&b->slow, &g->hi, FD_LIBRARY_ROWS).seconds);
    return r;
}

/* Operands that are narrow at some points alone: what computes in several formats may be the fastest of them at any point, or the
 * slowest; and only where all activations are narrow are all made so. */
static void straddle(struct fd_box *b, enum fd_format least, enum fd_format most)
{
    struct fd_vendor_rates *fast = &b->fast.vendor, *slow = &b->slow.vendor;
    for (int i = (int)least; i <= (int)most; i++) {
        fast->sm_ops = dse_max(fast->sm_ops, fast->format_ops[i]);
        slow->sm_ops = dse_min(slow->sm_ops, slow->format_ops[i]);
        fast->generated_ops = dse_max(fast->generated_ops, fast->format_peak[i]);
        slow->generated_ops = dse_min(slow->generated_ops, slow->format_peak[i]);
        fast->gemm_stream = dse_max(fast->gemm_stream, fast->format_stream[i]);
        slow->gemm_stream = dse_min(slow->gemm_stream, slow->format_stream[i]);
        fast->gemm_fixed_s = dse_min(fast->gemm_fixed_s, fd_gemm_fixed_s(&b->fast, (enum fd_format)i));
        slow->gemm_fixed_s = dse_max(slow->gemm_fixed_s, fd_gemm_fixed_s(&b->slow, (enum fd_format)i));
    }
}

struct fd_range fd_range_of(const struct fd_box *b, const struct fd_operands *least, const struct fd_operands *most)
{
    struct fd_range ret = {.least = *least, .most = *most, .widest = FD_FORMATS, .narrowest = FD_BITS_16};
    bool kept = false, widened = false; /* at some points */
    for (int i = (int)fd_format_of(most); i <= (int)fd_format_of(least); i++) {
        const enum fd_format format = (enum fd_format)i;
        const bool some = fd_peak_tflops(&b->hi, format) > 0, all = fd_peak_tflops(&b->lo, format) > 0;
        if (some && format > ret.narrowest) ret.narrowest = format;
        if (some && format < ret.widest) ret.widest = format;
        if (!all) ret.widest = FD_BITS_16;
        kept |= some;
        widened |= !all;
    }
    if (!kept) ret.least.activation_bits = dse_max(FD_WIDE_BITS, least->activation_bits);
    if (widened) ret.most.activation_bits = dse_max(FD_WIDE_BITS, most->activation_bits);
    return ret;
}

void fd_box_set(struct fd_box *b, const struct fd_operands *least, const struct fd_operands *most)
{
    const struct fd_range r = fd_range_of(b, least, most);
    fd_machine_set(&b->fast, &r.least);
    fd_machine_set(&b->slow, &r.most);
    b->fast.held = *least; /* by which it is known again */
    b->slow.held = *most;
    b->fast.vendor.quantizing = r.most.activation_bits < FD_WIDE_BITS ? b->fast.vendor.narrowing : FD_QUANTIZED;
    b->slow.vendor.quantizing = r.least.activation_bits < FD_WIDE_BITS ? b->slow.vendor.narrowing : FD_QUANTIZED;
    straddle(b, r.widest, r.narrowest);
    fd_vendor_tiles(&b->fast);
    fd_vendor_tiles(&b->slow);
}

static const struct fd_operands *operands_of(const struct fd_machine *m, const struct fd_gemm *g)
{
    return g->operands.weight_bytes > 0 ? &g->operands : &m->uniform;
}

const struct fd_box *fd_box_for(const struct fd_box *b, const struct fd_gemm_bound *g, struct fd_box *own)
{
    struct fd_machine any;
    if (fd_machine_for(&b->fast, &g->lo, &any) == &b->fast && fd_machine_for(&b->slow, &g->hi, &any) == &b->slow) return b;
    *own = *b;
    fd_box_set(own, operands_of(&b->fast, &g->lo), operands_of(&b->slow, &g->hi));
    return own;
}

struct dse_interval fd_op_share_bound(const struct fd_box *b, const struct fd_gemm_bound *g)
{
    const struct fd_range r = fd_range_of(b, operands_of(&b->fast, &g->lo), operands_of(&b->slow, &g->hi));
    struct dse_interval ret = {(double)INFINITY, 0};
    for (int i = (int)r.widest; i <= (int)r.narrowest; i++) {
        const enum fd_format format = (enum fd_format)i;
        const double slowest = fd_peak_tflops(&b->lo, format), fastest = fd_peak_tflops(&b->hi, format);
        const bool is_wide = format == FD_BITS_16 || !(fastest > 0);
        ret.lo = dse_min(ret.lo, is_wide ? 1 : b->lo.tensor_tflops / fastest);
        ret.hi = dse_max(ret.hi, is_wide ? 1 : slowest > 0 ? b->hi.tensor_tflops / slowest : (double)INFINITY);
    }
    return ret;
}

/* E28: each tile's time grows with rows, columns, depth and bytes, and falls with every rate and the number of blocks that draw; so
 * does the fastest's. */
struct fd_cost_bound fd_vendor_bound(const struct fd_box *b, const struct fd_gemm_bound *g)
{
    struct fd_box own;
    b = fd_box_for(b, g, &own);
    const struct fd_cost lo = fd_vendor_of(&b->fast, &g->lo, &g->hi), hi = fd_vendor_of(&b->slow, &g->hi, &g->lo);
    return (struct fd_cost_bound){.seconds = {lo.seconds, hi.seconds}, .bytes = {lo.bytes, hi.bytes}};
}

/* ---- the choice ---------------------------------------------------------------------------------------------------------- */

void fd_three_bound(const struct fd_box *b, const struct fd_gemm_bound *g, struct fd_cost_bound ret[FD_KERNELS])
{
    struct fd_box own;
    b = fd_box_for(b, g, &own);
    ret[FD_GEMV] = gemv_bound(b, g);
    ret[FD_FLAT] = flat_bound(b, g);
    ret[FD_LIBRARY] = library_bound(b, g, FD_LIBRARY_ROWS, FD_LIBRARY_ROWS);
}

struct fd_cost_bound fd_linear_bound(const struct fd_box *b, const struct fd_gemm_bound *g)
{
    if (b->lo.dataflow == FD_BY_VENDOR) return fd_vendor_bound(b, g);
    struct fd_box own;
    b = fd_box_for(b, g, &own);
    if (b->lo.dataflow == FD_STATIC) return library_bound(b, g, (double)b->lo.pad_rows, (double)b->hi.pad_rows);
    struct fd_cost_bound three[FD_KERNELS];
    fd_three_bound(b, g, three);
    return fd_fastest_bound(three, FD_KERNELS);
}

/* ---- a row ----------------------------------------------------------------------------------------------------------------- */

/* What a tile takes for each of many rows: the products and the row itself. */
static double row_of_tile(const struct fd_machine *m, double k, double tile_n)
{
    return fd_tile_seconds(m, k, 2, tile_n) - fd_tile_seconds(m, k, 1, tile_n);
}

double fd_row_seconds(const struct fd_box *b, const struct fd_gemm_bound *g)
{
    struct fd_box own;
    b = fd_box_for(b, g, &own);
    const struct fd_machine *m = &b->fast;
    const double k = g->lo.k, n = g->lo.n, slack = 1 - 1e-9;
    const double tile = fd_tile_seconds(m, k, FD_LIBRARY_ROWS_MAX, FD_LIBRARY_TILE_N_MANY);
    const double library = tile / FD_LIBRARY_ROWS_MAX * n / FD_LIBRARY_TILE_N_MANY / m->sms;
    if (b->lo.dataflow == FD_STATIC) return library * slack;
    if (b->lo.dataflow == FD_BY_VENDOR) return DSE_OPS_PER_MAC * k * n / (m->sms * m->vendor.sm_ops) * slack;
    double least = dse_min(library, DSE_OPS_PER_MAC * k * n / m->gemv_ops);
    if (b->hi.tile_n > 0) return dse_min(least, n / m->sms * DSE_OPS_PER_MAC * k / m->sm_ops) * slack;
    for (int64_t tile_n = FD_TILE_N_MIN; tile_n <= FD_TILE_N_MAX; tile_n *= 2)
        least = dse_min(least, dse_ceil(dse_ceil(n / (double)tile_n) / m->sms) * row_of_tile(m, k, (double)tile_n));
    return least * slack;
}
