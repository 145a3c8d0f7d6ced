/* Bounds of a layer's attention, whichever kernel it is: fd_attention_law of flashdecoding_attention.c and E29, in their order. */
#include "flashdecoding_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

static struct dse_interval at_least(struct dse_interval a, double least)
{
    return (struct dse_interval){dse_max(a.lo, least), dse_max(a.hi, least)};
}

/* What the blocks of attention share: struct drawn in intervals. */
struct drawn {
    struct dse_interval n, rows, tile, bytes, peak_s, compute_s, slots, block_stream, vectors, partial_s;
    struct dse_interval least_s; /* the longer of drawing all bytes and computing */
};

static void draw_prefill(struct fd_attention_bound *ret, const struct drawn *d, const struct fd_box *b)
{
    const struct dse_interval tiles = at_least(dse_iv_div(d->rows, d->tile), 1), blocks = dse_iv_mul(d->vectors, tiles);
    const struct dse_interval memory_s = dse_iv_scale(FD_OF(b, memory_latency_ns), 1 / FD_NS_PER_S);
    const struct dse_interval drawing = dse_iv_mul(dse_iv_min(blocks, d->slots), d->block_stream);
    const struct dse_interval waves = at_least(dse_iv_div(blocks, d->slots), 1);
    ret->load_s = dse_iv_max(d->peak_s, dse_iv_div(d->bytes, drawing));
    ret->fixed_s = dse_iv_add(dse_iv_mul(waves, memory_s), dse_iv_div(dse_iv_min(d->peak_s, d->compute_s), tiles));
    ret->both_s = dse_iv_add(dse_iv_max(ret->load_s, ret->compute_s), ret->fixed_s);
}

/* Each KV head's positions are split over `splits` blocks: more tiles a block, fewer blocks. */
static void draw_splits(struct fd_attention_bound *ret, const struct drawn *d, const struct fd_box *b, struct dse_interval groups,
                        struct dse_interval splits)
{
    const struct dse_interval one = dse_iv_of(1), tiles = dse_iv_ceil_div(d->n, d->tile), each = dse_iv_ceil_div(tiles, splits);
    const struct dse_interval parts = dse_iv_ceil_div(tiles, each);
    const struct dse_interval blocks = {groups.lo * parts.lo, groups.hi * dse_min(parts.hi, splits.hi)};
    const struct dse_interval waves = dse_iv_ceil_div(blocks, d->slots);
    /* Of a KV head: `each` tiles of n positions are no less than their share of the splits. */
    const struct dse_interval share = {dse_max(each.lo * d->tile.lo / d->n.hi, 1 / splits.hi), each.hi * d->tile.hi / d->n.lo};
    const struct dse_interval block_bytes = dse_iv_mul(dse_iv_div(d->bytes, groups), dse_iv_min(one, share));
    const struct dse_interval part = dse_iv_div(dse_iv_mul(splits, d->tile), d->n);
    const struct dse_interval filled = dse_iv_mul(dse_iv_min(one, part), dse_iv_min(d->peak_s, d->compute_s));
    const struct dse_interval an_sm = at_least(dse_iv_div(d->vectors, FD_OF(b, sms)), 1);
    const struct dse_interval sum_s =
        dse_iv_add(dse_iv_scale(FD_OF(b, l2_latency_ns), 1 / FD_NS_PER_S), dse_iv_mul(dse_iv_mul(splits, d->partial_s), an_sm));
    const struct dse_interval waiting = dse_iv_mul(waves, dse_iv_scale(FD_OF(b, memory_latency_ns), 1 / FD_NS_PER_S));
    ret->load_s = dse_iv_max(d->peak_s, dse_iv_div(dse_iv_mul(waves, block_bytes), d->block_stream));
    ret->fixed_s = dse_iv_add(waiting, dse_iv_add(filled, sum_s));
    ret->both_s = dse_iv_add(dse_iv_max(ret->load_s, d->compute_s), ret->fixed_s);
}

static void draw_hull(struct fd_attention_bound *ret, const struct fd_attention_bound *other)
{
    ret->load_s = dse_iv_hull(ret->load_s, other->load_s);
    ret->fixed_s = dse_iv_hull(ret->fixed_s, other->fixed_s);
    ret->both_s = dse_iv_hull(ret->both_s, other->both_s);
}

/* As many splits as are fastest: what they take is no more than with any number that a point has tiles for, tried or not, since
 * more splits than those that draw the bandwidth of all are no faster. What the chosen ones take lies around those that may be
 * chosen. */
static void draw_fastest(struct fd_attention_bound *ret, const struct drawn *d, const struct fd_box *b, struct dse_interval groups)
{
    enum { SPLITS_MAX = 128 };
    const double slack = 1 + 1e-12;
    const struct dse_interval tiles = dse_iv_ceil_div(d->n, d->tile);
    const int all = (int)dse_min(tiles.lo, SPLITS_MAX), some = (int)dse_min(tiles.hi, SPLITS_MAX);
    struct fd_attention_bound of[SPLITS_MAX];
    struct dse_interval best = {(double)INFINITY, (double)INFINITY};
    int n = 0;
    for (int splits = 1; splits <= some; splits++) {
        struct fd_attention_bound *at = &of[n++];
        *at = *ret;
        draw_splits(at, d, b, groups, dse_iv_of(splits));
        best.lo = dse_min(best.lo, at->both_s.lo);
        if (splits <= all) best.hi = dse_min(best.hi, at->both_s.hi);
        if (at->load_s.hi <= d->least_s.lo * slack) break;
    }
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (of[i].both_s.lo > best.hi * slack) continue;
        if (any)
            draw_hull(ret, &of[i]);
        else
            *ret = of[i];
        any = true;
    }
    ret->both_s = dse_iv(best.lo, best.hi);
}

static void draw_decode(struct fd_attention_bound *ret, const struct drawn *d, const struct fd_box *b, struct dse_interval groups)
{
    struct fd_attention_bound given = *ret;
    if (b->hi.split_positions > 0) {
        const struct dse_interval tiles = dse_iv_ceil_div(d->n, d->tile);
        const struct dse_interval positions = {(double)dse_max_i64(1, b->lo.split_positions), (double)b->hi.split_positions};
        const struct dse_interval each = dse_iv_ceil_div(dse_iv_min(positions, d->n), d->tile);
        draw_splits(&given, d, b, groups, dse_iv_ceil_div(tiles, each));
    }
    if (b->lo.split_positions == 0) draw_fastest(ret, d, b, groups);
    if (b->hi.split_positions == 0) return;
    if (b->lo.split_positions == 0)
        draw_hull(ret, &given);
    else
        *ret = given;
}

/* Of a step, or of a token: query and key positions that meet, and bytes of K and V, on the fullest device. */
struct work {
    struct dse_interval pairs, bytes, widened; /* widened: operations that make numbers of keys and values (E34) */
};

static struct work work_of(const struct fd_box *b, struct dse_interval seen, struct dse_interval kept)
{
    const struct dse_llm *llm = b->lo.workload.llm;
    const struct dse_interval devices = FD_OF(b, workload.tensor_parallel);
    const struct dse_interval heads = dse_iv_ceil_div(dse_iv_of((double)llm->heads), devices);
    const struct dse_interval kv_heads = dse_iv_ceil_div(dse_iv_of((double)llm->kv_heads), devices);
    const struct dse_interval row = dse_iv_scale(dse_iv(dse_kv_bits(&b->lo.workload), dse_kv_bits(&b->hi.workload)),
                                                 2 * (double)llm->head_dim / DSE_BITS_PER_BYTE);
    const struct dse_interval each = dse_iv(dse_cache_widening(&b->lo.workload), dse_cache_widening(&b->hi.workload));
    const struct dse_interval rows = dse_iv_mul(kept, kv_heads);
    return (struct work){.pairs = dse_iv_mul(heads, seen),
                         .bytes = dse_iv_mul(rows, row),
                         .widened = dse_iv_mul(rows, dse_iv_scale(each, 2 * (double)llm->head_dim))};
}

static struct dse_interval products_of(const struct fd_box *b, struct dse_interval pairs)
{
    return dse_iv_scale(pairs, 2 * DSE_OPS_PER_MAC * (double)b->lo.workload.llm->head_dim);
}

static struct dse_interval compute_s(const struct fd_box *b, const struct work *w)
{
    enum { SOFTMAX_OPS = 5 };
    const struct dse_interval tensor_peak = {b->slow.tensor_peak, b->fast.tensor_peak};
    const struct dse_interval vector_peak = {b->slow.vector_peak, b->fast.vector_peak};
    const struct dse_interval exponents = dse_iv_scale(w->pairs, SOFTMAX_OPS), products = products_of(b, w->pairs);
    if (b->lo.workload.phase != DSE_PREFILL)
        return dse_iv_div(dse_iv_add(dse_iv_add(products, exponents), w->widened), vector_peak);
    return dse_iv_max(dse_iv_div(products, dse_iv_mul(tensor_peak, FD_OF(b, compute_efficiency))),
                      dse_iv_div(exponents, vector_peak));
}

static struct dse_interval peak_s(const struct fd_box *b, struct dse_interval bytes)
{
    const struct dse_interval bandwidth = {b->slow.bandwidth, b->fast.bandwidth};
    return dse_iv_div(bytes, dse_iv_mul(bandwidth, FD_OF(b, attention_efficiency)));
}

/* Prefill: what goes beside keys and values, of so many query rows. */
static double beside(const struct fd_attention_shape *s)
{
    return s->sequences * s->queries * s->heads * (s->key_dim + s->value_dim) * FD_ACTIVATION_BYTES;
}

static struct fd_measured_work measured_work(const struct fd_box *b, const struct fd_attention_shape *s, double bytes,
                                             double products)
{
    return (struct fd_measured_work){.prefill = s->prompt,
                                     .warm = b->lo.cache == FD_WARM,
                                     .n = s->positions,
                                     .rows = s->queries,
                                     .pairs = s->limited ? s->pairs : 0,
                                     .groups = s->sequences * s->kv_heads,
                                     .vectors = s->sequences * s->heads * (s->prompt ? 1 : s->queries),
                                     .head_dim = (s->key_dim + s->value_dim) / 2,
                                     .bytes = bytes,
                                     .products = products,
                                     .beside_bytes = beside(s),
                                     .write_bytes = s->written_bytes};
}

/* E29 of a token: what is fixed is shared by all, of which there are `rows` at most. */
static void measured_token(struct fd_attention_bound *ret, const struct fd_box *b, const struct fd_measured_work *lo,
                           const struct fd_measured_work *hi, double rows)
{
    const double computed = ret->token_products.lo / (b->fast.vendor.attention_ops * b->fast.sms);
    const double cached = b->fast.vendor.cache_path * b->fast.sms, stream = b->fast.vendor.attention_stream;
    const double loaded = lo->warm ? 0 : ret->token_bytes.lo / (lo->prefill ? dse_max(stream, cached) : stream);
    ret->token_s = dse_iv(dse_below(dse_max(computed, loaded), 16), (double)INFINITY);
    if (lo->warm || lo->prefill) ret->token_bytes.lo = 0;
    if (lo->prefill) ret->token_bytes.hi = dse_above((hi->bytes + hi->beside_bytes + hi->write_bytes) / rows, 16);
}

/* More blocks go through fewer tiles each, but for the sum of their parts. FlashAttention-2's rule goes up and down: where its
 * arguments vary, nothing is known of it. */
static struct dse_interval splits_between(const struct fd_splitting *few, const struct fd_splitting *many,
                                          const struct fd_attention_shape *least, const struct fd_attention_shape *most)
{
    enum { SPLITS_MAX = 128 };
    const bool same = few->groups == many->groups && few->slots == many->slots && few->tiles == many->tiles;
    const bool ruled = !least->latent && dse_max(few->kernels, many->kernels) >= FD_OWN_SUM;
    if (ruled && !(same && few->kernels == many->kernels)) return dse_iv(1, dse_min(many->tiles, SPLITS_MAX));
    return dse_iv(fd_measured_splits(few, most), fd_measured_splits(many, least));
}

static void blocks_between(struct fd_measured_work *lo, struct fd_measured_work *hi, const struct fd_box *b,
                           const struct fd_attention_shape *least, const struct fd_attention_shape *most)
{
    const struct dse_gpu_kernels *k_lo = &b->lo.kernels, *k_hi = &b->hi.kernels;
    const struct fd_splitting few = {.groups = hi->groups,
                                     .slots = hi->resident * b->slow.sms,
                                     .tiles = dse_ceil(lo->n / lo->count_tile),
                                     .kernels = k_hi->attention_kernels,
                                     .head_blocks = k_lo->attention_head_blocks},
                              many = {.groups = lo->groups,
                                      .slots = lo->resident * b->fast.sms,
                                      .tiles = dse_ceil(hi->n / hi->count_tile),
                                      .kernels = k_lo->attention_kernels,
                                      .head_blocks = k_hi->attention_head_blocks};
    const struct dse_interval splits = lo->prefill ? dse_iv_of(1) : splits_between(&few, &many, least, most);
    const bool same = few.groups == many.groups && few.slots == many.slots && splits.lo == splits.hi;
    const double full = same ? fd_full_waves(few.groups * splits.lo, few.slots) : 0;
    lo->fewest_splits = hi->splits = splits.lo;
    hi->fewest_splits = lo->splits = splits.hi;
    lo->full = full;
    hi->full = same ? full : 1;
    lo->copied = fd_is_copied(least);
    hi->copied = fd_is_copied(most);
    const double pad_lo = k_lo->attention_rows, pad_hi = k_hi->attention_rows;
    const double rows = least->queries * dse_min(least->heads / least->kv_heads, most->heads / most->kv_heads);
    lo->block_rows = pad_lo == pad_hi ? dse_ceil(rows / pad_lo) * pad_lo : dse_max(rows, pad_lo);
    const double most_rows = most->queries * dse_max(least->heads / least->kv_heads, most->heads / most->kv_heads);
    hi->block_rows = pad_lo == pad_hi ? dse_ceil(most_rows / pad_hi) * pad_hi : most_rows + pad_hi;
}

/* A narrow cache's kernels take longer, and a box may have points with and without. */
static void narrow_between(struct fd_measured_work *lo, struct fd_measured_work *hi, const struct fd_box *b,
                           const struct fd_attention_shape *shape)
{
    const bool all = fd_is_narrow(&b->hi, shape), some = fd_is_narrow(&b->lo, shape);
    lo->work = all ? b->lo.kernels.attention_narrow_work : 1;
    hi->work = some ? b->hi.kernels.attention_narrow_work : 1;
    lo->narrow_s = all ? b->fast.vendor.narrow_s : 0;
    hi->narrow_s = some ? b->slow.vendor.narrow_s : 0;
}

/* E29: it grows with all that there is to do, and falls with every rate. */
static void measured(struct fd_attention_bound *ret, const struct fd_box *b, struct dse_interval widened,
                     const struct fd_attention_shape *least_shape, const struct fd_attention_shape *most_shape)
{
    struct fd_measured_work lo = measured_work(b, least_shape, ret->bytes.lo, ret->products.lo),
                            hi = measured_work(b, most_shape, ret->bytes.hi, ret->products.hi);
    lo.widened_s = dse_below(widened.lo / b->fast.vector_peak, 4);
    lo.tile = (double)b->lo.attention_tile;
    lo.count_tile = (double)b->hi.attention_tile;
    lo.resident = (double)b->hi.resident_blocks;
    lo.memory_s = b->lo.memory_latency_ns / FD_NS_PER_S;
    lo.l2_s = b->lo.l2_latency_ns / FD_NS_PER_S;
    hi.widened_s = dse_above(widened.hi / b->slow.vector_peak, 4);
    hi.tile = lo.count_tile;
    hi.count_tile = lo.tile;
    hi.resident = (double)b->lo.resident_blocks;
    hi.memory_s = b->hi.memory_latency_ns / FD_NS_PER_S;
    hi.l2_s = b->hi.l2_latency_ns / FD_NS_PER_S;
    blocks_between(&lo, &hi, b, least_shape, most_shape);
    narrow_between(&lo, &hi, b, least_shape);
    struct fd_attention_law least, most;
    fd_attention_measured(&least, &b->fast, &lo);
    fd_attention_measured(&most, &b->slow, &hi);
    ret->bytes = dse_iv(least.bytes, most.bytes);
    ret->load_s = dse_iv(least.load_s, most.load_s);
    ret->compute_s = dse_iv(least.compute_s, most.compute_s);
    ret->fixed_s = dse_iv(least.fixed_s, most.fixed_s);
    ret->least_s = dse_iv_max(ret->load_s, ret->compute_s);
    ret->both_s = dse_iv_add(ret->least_s, ret->fixed_s);
    if (!b->part) measured_token(ret, b, &lo, &hi, most_shape->sequences * most_shape->queries);
}

/* E13, by how much of a kernel's losses is in the efficiencies. */
static void draw(struct fd_attention_bound *ret, const struct drawn *d, const struct fd_box *b, bool prompt,
                 struct dse_interval groups)
{
    if (b->lo.kernel_losses == FD_INCLUDED) {
        ret->load_s = dse_iv_max(d->peak_s, dse_iv_div(d->bytes, dse_iv_mul(d->slots, d->block_stream)));
        ret->both_s = dse_iv_max(ret->load_s, ret->compute_s);
    } else if (prompt) {
        draw_prefill(ret, d, b);
    } else {
        draw_decode(ret, d, b, groups);
    }
}

/* What the blocks of attention share whatever its shape. Of a block: linear_efficiency, which fd_machine has in it, is not. */
static struct drawn drawn_by(const struct fd_box *b, double value_dim)
{
    enum { PARTIAL_BYTES = 4, BESIDE = 2 };
    const double made = (double)b->lo.gpu->sms, gbs = b->lo.gpu->bandwidth_gbs * DSE_GIGA / made;
    return (struct drawn){.tile = FD_OF(b, attention_tile),
                          .slots = {b->slow.sms * (double)b->lo.resident_blocks, b->fast.sms * (double)b->hi.resident_blocks},
                          .block_stream = dse_iv_mul(dse_iv_scale(FD_OF(b, block_share), gbs), FD_OF(b, attention_efficiency)),
                          .partial_s = dse_iv_div(dse_iv_of((value_dim + BESIDE) * PARTIAL_BYTES),
                                                  dse_iv_mul(FD_OF(b, l2_bytes), dse_iv_scale(b->clock_ghz, DSE_GIGA)))};
}

void fd_attention_law_bound(struct fd_attention_bound *ret, const struct fd_box *b)
{
    const struct dse_llm *llm = b->lo.workload.llm;
    const bool prefill = b->lo.workload.phase == DSE_PREFILL;
    const struct dse_interval n = dse_iv(fd_read(&b->lo), fd_read(&b->hi)), batch = FD_OF(b, workload.batch),
                              devices = FD_OF(b, workload.tensor_parallel);
    const struct dse_interval half = dse_iv_scale(dse_iv_add(n, dse_iv_of(1)), 0.5), seen = prefill ? half : n;
    const struct work token = work_of(b, seen, prefill ? dse_iv_of(1) : n);
    const struct work w = work_of(b, dse_iv_mul(batch, prefill ? dse_iv_mul(n, half) : n), dse_iv_mul(batch, n));
    *ret = (struct fd_attention_bound){.bytes = w.bytes,
                                       .products = products_of(b, w.pairs),
                                       .compute_s = compute_s(b, &w),
                                       .token_bytes = token.bytes,
                                       .token_products = products_of(b, token.pairs),
                                       .token_s = dse_iv_max(compute_s(b, &token), peak_s(b, token.bytes))};
    struct drawn d = drawn_by(b, (double)llm->head_dim);
    d.n = d.rows = n;
    d.bytes = w.bytes;
    d.peak_s = peak_s(b, w.bytes);
    d.compute_s = ret->compute_s;
    d.vectors = dse_iv_mul(batch, dse_iv_ceil_div(dse_iv_of((double)llm->heads), devices));
    ret->least_s = d.least_s = dse_iv_max(d.peak_s, d.compute_s);
    if (b->lo.kernel_losses == FD_MEASURED) {
        struct fd_attention_shape lo, hi;
        fd_attention_shape(&lo, &b->least);
        fd_attention_shape(&hi, &b->most);
        measured(ret, b, w.widened, &lo, &hi);
        return;
    }
    const struct dse_interval kv_heads = dse_iv_ceil_div(dse_iv_of((double)llm->kv_heads), devices);
    draw(ret, &d, b, prefill, dse_iv(batch.lo * kv_heads.lo, batch.hi * kv_heads.hi));
}

/* ---- of any shape ---------------------------------------------------------------------------------------------------------- */

/* E37, as compute_seconds has it. Tensor cores multiply tiles of 16 rows: what is padded falls with the queries. */
static struct dse_interval shaped_compute_s(const struct fd_box *b, const struct fd_attention_shape *lo,
                                            const struct fd_attention_shape *hi, struct dse_interval products)
{
    enum { TENSOR_ROWS = 16 };
    const struct dse_interval tensor = dse_iv_mul(dse_iv(b->slow.tensor_peak, b->fast.tensor_peak), FD_OF(b, compute_efficiency));
    const struct dse_interval vector = {b->slow.vector_peak, b->fast.vector_peak};
    const struct dse_interval rest = dse_widened(lo->exponents * (lo->sequences * lo->heads * lo->pairs) + lo->widened,
                                                 hi->exponents * (hi->sequences * hi->heads * hi->pairs) + hi->widened, 4);
    if (lo->prompt) return dse_iv_max(dse_iv_div(products, tensor), dse_iv_div(rest, vector));
    if (!lo->tensor) return dse_iv_div(dse_iv_add(products, rest), vector);
    const struct dse_interval rows = dse_widened(dse_min(lo->heads / lo->kv_heads, hi->heads / hi->kv_heads) * lo->queries,
                                                 dse_max(lo->heads / lo->kv_heads, hi->heads / hi->kv_heads) * hi->queries, 2);
    const struct dse_interval padded = at_least(dse_iv_div(dse_iv_of(TENSOR_ROWS), rows), 1);
    return dse_iv_max(dse_iv_div(dse_iv_mul(products, padded), tensor), dse_iv_div(rest, vector));
}

static double products_in(const struct fd_attention_shape *s)
{
    return 2 * DSE_OPS_PER_MAC * (s->sequences * s->heads * s->pairs) * ((s->key_dim + s->value_dim) / 2);
}

void fd_attention_of_bound(struct fd_attention_bound *ret, const struct fd_box *b, const struct fd_attention_shape *lo,
                           const struct fd_attention_shape *hi)
{
    const struct dse_interval products = dse_widened(products_in(lo), products_in(hi), 4);
    struct drawn d = drawn_by(b, lo->value_dim);
    *ret = (struct fd_attention_bound){.bytes = dse_iv(lo->bytes, hi->bytes), .products = products};
    ret->compute_s = shaped_compute_s(b, lo, hi, products);
    d.n = dse_iv(lo->positions, hi->positions);
    d.rows = dse_iv(lo->queries, hi->queries);
    d.bytes = ret->bytes;
    d.peak_s = peak_s(b, d.bytes);
    d.compute_s = ret->compute_s;
    d.vectors = dse_iv(lo->sequences * lo->heads * (lo->prompt ? 1 : lo->queries),
                       hi->sequences * hi->heads * (hi->prompt ? 1 : hi->queries));
    ret->least_s = d.least_s = dse_iv_max(d.peak_s, d.compute_s);
    if (b->lo.kernel_losses == FD_MEASURED)
        measured(ret, b, dse_iv(lo->widened, hi->widened), lo, hi);
    else
        draw(ret, &d, b, lo->prompt, dse_iv(lo->sequences * lo->kv_heads, hi->sequences * hi->kv_heads));
}
