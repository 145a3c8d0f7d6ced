/* Bounds of a step: flashdecoding_step.c, E13 to E16, in its order. */
#include "flashdecoding_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

static struct dse_interval us(struct dse_interval a)
{
    return dse_iv_scale(a, 1 / DSE_US_PER_S);
}

static struct dse_interval at_least(struct dse_interval a, double least)
{
    return (struct dse_interval){dse_max(a.lo, least), dse_max(a.hi, least)};
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

struct fd_gemm_bound fd_gemm_of_bound(const struct fd_box *b, enum fd_gemm_choice which)
{
    struct fd_gemm_bound g = {fd_gemm_of(&b->least, which), fd_gemm_of(&b->most, which)};
    if (which == FD_GIVEN && b->lo.gemm_m == 0 && b->hi.gemm_m > 0) { /* of the phase, or given */
        struct fd_params phase = b->most;
        phase.gemm_m = 0;
        g.lo.m = 1;
        g.hi.m = dse_max(g.hi.m, fd_gemm_of(&phase, which).m);
    }
    return g;
}

/* E14: what a kernel takes with the wait for the next launch, and that wait. */
struct launched {
    struct dse_interval each, wait;
};

static struct launched launched(const struct fd_box *b, struct dse_interval seconds, struct dse_interval kernels)
{
    if (b->lo.launches == FD_QUEUED) return (struct launched){seconds, {0, 0}};
    const struct dse_interval launch = dse_iv_mul(kernels, us(FD_OF(b, launch_us)));
    const struct launched l = {.each = dse_iv_max(seconds, launch), .wait = at_least(dse_iv_sub(launch, seconds), 0)};
    /* The closed form subtracts: what is left of an equal pair is 0 but for rounding. */
    return l.wait.hi > 0 ? (struct launched){l.each, {l.wait.lo, l.wait.hi + (dse_above(l.each.hi, 1) - l.each.hi)}} : l;
}

/* Of a token: no less than `least`, which is what each token takes whatever the others do. */
static struct dse_interval a_token(const struct fd_step_bound *s, struct dse_interval of_step, double least)
{
    const struct dse_interval share = dse_iv_div(of_step, s->tokens);
    return (struct dse_interval){dse_max(share.lo, dse_below(least, 4)), share.hi};
}

static void add(struct dse_interval *sum, struct dse_interval each, double count)
{
    *sum = dse_iv_add(*sum, dse_iv_scale(each, count));
}

static void add_linears(struct fd_step_bound *s, const struct fd_box *b)
{
    const struct dse_llm *llm = b->lo.workload.llm;
    const bool prefill = b->lo.workload.phase == DSE_PREFILL;
    for (int i = 0; i < FD_LINEARS; i++) {
        const double count = i == FD_LM_HEAD ? 1 : (double)llm->layers * (i == FD_FFN_UP ? (double)(llm->ffn_matrices - 1) : 1);
        const struct fd_gemm_bound g = fd_gemm_of_bound(b, (enum fd_gemm_choice)i);
        const struct fd_cost_bound c = fd_linear_bound(b, &g);
        const struct launched l = launched(b, c.seconds, dse_iv_of(1));
        const struct dse_interval row = dse_widened(DSE_OPS_PER_MAC * g.lo.k * g.lo.n, DSE_OPS_PER_MAC * g.hi.k * g.hi.n, 4);
        const bool of_last = prefill && i == FD_LM_HEAD;
        const struct dse_interval ops = of_last ? dse_iv_div(row, FD_OF(b, workload.context)) : row;
        const double least = fd_row_seconds(b, &g) / (of_last ? (double)b->hi.workload.context : 1);
        add(&s->linear_s, l.each, count);
        add(&s->wait_s, l.wait, count);
        add(&s->kernels_s, c.seconds, count);
        add(&s->step.bytes, c.bytes, count);
        add(&s->step.ops, dse_iv_mul(row, dse_iv(g.lo.m, g.hi.m)), count);
        add(&s->token.seconds, a_token(s, l.each, least), count);
        add(&s->token.busy_s, a_token(s, c.seconds, least), count);
        add(&s->token.bytes, dse_iv_div(c.bytes, s->tokens), count);
        add(&s->token.ops, ops, count);
    }
}

/* ---- attention ------------------------------------------------------------------------------------------------------------- */

/* What the blocks of attention share: struct drawn in intervals. */
struct drawn {
    struct dse_interval n, tile, bytes, peak_s, compute_s, slots, block_stream, vectors, partial_s;
    struct dse_interval least_s; /* the longer of drawing all bytes and computing */
};

static void draw_prefill(struct fd_attention_bound *ret, const struct drawn *d, const struct fd_box *b)
{
    const struct dse_interval tiles = at_least(dse_iv_div(d->n, d->tile), 1), blocks = dse_iv_mul(d->vectors, tiles);
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

/* As many splits as are fastest: what they take is no more than with any number that a point has tiles for, tried or not, since more
 * splits than those that draw the bandwidth of all are no faster. What the chosen ones take lies around those that may be chosen. */
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
    struct dse_interval pairs, bytes;
};

static struct work work_of(const struct fd_box *b, struct dse_interval seen, struct dse_interval kept)
{
    const struct dse_llm *llm = b->lo.workload.llm;
    const struct dse_interval devices = FD_OF(b, devices);
    const struct dse_interval heads = dse_iv_ceil_div(dse_iv_of((double)llm->heads), devices);
    const struct dse_interval kv_heads = dse_iv_ceil_div(dse_iv_of((double)llm->kv_heads), devices);
    const struct dse_interval row = dse_iv_scale(dse_iv_add(FD_OF(b, workload.kv_bits), FD_OF(b, workload.kv_scale_bits)),
                                                 2 * (double)llm->head_dim / DSE_BITS_PER_BYTE);
    return (struct work){dse_iv_mul(heads, seen), dse_iv_mul(dse_iv_mul(kept, kv_heads), row)};
}

static struct dse_interval products_of(const struct fd_box *b, struct dse_interval pairs)
{
    return dse_iv_scale(pairs, 2 * DSE_OPS_PER_MAC * (double)b->lo.workload.llm->head_dim);
}

static struct dse_interval compute_s(const struct fd_box *b, struct dse_interval pairs)
{
    enum { SOFTMAX_OPS = 5 };
    const struct dse_interval tensor_peak = {b->slow.tensor_peak, b->fast.tensor_peak};
    const struct dse_interval vector_peak = {b->slow.vector_peak, b->fast.vector_peak};
    const struct dse_interval exponents = dse_iv_scale(pairs, SOFTMAX_OPS), products = products_of(b, pairs);
    if (b->lo.workload.phase != DSE_PREFILL) return dse_iv_div(dse_iv_add(products, exponents), vector_peak);
    return dse_iv_max(dse_iv_div(products, dse_iv_mul(tensor_peak, FD_OF(b, compute_efficiency))),
                      dse_iv_div(exponents, vector_peak));
}

static struct dse_interval peak_s(const struct fd_box *b, struct dse_interval bytes)
{
    const struct dse_interval bandwidth = {b->slow.bandwidth, b->fast.bandwidth};
    return dse_iv_div(bytes, dse_iv_mul(bandwidth, FD_OF(b, attention_efficiency)));
}

static double kv_heads(const struct fd_params *p)
{
    return dse_ceil((double)p->workload.llm->kv_heads / (double)p->devices);
}

static double query_heads(const struct fd_params *p)
{
    return dse_ceil((double)p->workload.llm->heads / (double)p->devices);
}

/* Prefill: what goes beside keys and values, of so many tokens. */
static void set_written(struct fd_measured_work *w, const struct fd_params *p, double tokens)
{
    w->beside_bytes = 2 * tokens * query_heads(p) * w->head_dim * FD_ACTIVATION_BYTES;
    w->write_bytes = fd_written_bytes(p, tokens);
}

/* E29: it grows with all that there is to do, and falls with every rate. */
static void measured(struct fd_attention_bound *ret, const struct fd_box *b)
{
    const struct dse_interval n = dse_iv(fd_read(&b->lo), fd_read(&b->hi)), batch = FD_OF(b, workload.batch);
    const double least_kv = kv_heads(&b->least), most_kv = kv_heads(&b->most);
    struct fd_measured_work lo = {.prefill = b->lo.workload.phase == DSE_PREFILL,
                                  .warm = b->lo.cache == FD_WARM,
                                  .n = n.lo,
                                  .groups = batch.lo * least_kv,
                                  .vectors = batch.lo * query_heads(&b->least),
                                  .head_dim = (double)b->lo.workload.llm->head_dim,
                                  .bytes = ret->bytes.lo,
                                  .products = ret->products.lo,
                                  .tile = (double)b->lo.attention_tile,
                                  .count_tile = (double)b->hi.attention_tile,
                                  .resident = (double)b->hi.resident_blocks,
                                  .memory_s = b->lo.memory_latency_ns / FD_NS_PER_S,
                                  .l2_s = b->lo.l2_latency_ns / FD_NS_PER_S},
                            hi = lo;
    hi.n = n.hi;
    hi.groups = batch.hi * most_kv;
    hi.vectors = batch.hi * query_heads(&b->most);
    hi.bytes = ret->bytes.hi;
    hi.products = ret->products.hi;
    hi.tile = lo.count_tile;
    hi.count_tile = lo.tile;
    hi.resident = (double)b->lo.resident_blocks;
    hi.memory_s = b->hi.memory_latency_ns / FD_NS_PER_S;
    hi.l2_s = b->hi.l2_latency_ns / FD_NS_PER_S;
    /* More blocks are faster, but for the sum of their parts. */
    const double least_tiles = dse_ceil(n.lo / lo.count_tile), most_tiles = dse_ceil(n.hi / hi.count_tile);
    const double fewest = fd_measured_splits(hi.groups, hi.resident * b->slow.sms, least_tiles);
    const double splits = fd_measured_splits(lo.groups, lo.resident * b->fast.sms, most_tiles);
    lo.fewest_splits = hi.splits = fewest;
    hi.fewest_splits = lo.splits = splits;
    set_written(&lo, &b->least, batch.lo * n.lo);
    set_written(&hi, &b->most, batch.hi * n.hi);
    struct fd_attention_law least, most;
    fd_attention_measured(&least, &b->fast, &lo);
    fd_attention_measured(&most, &b->slow, &hi);
    ret->bytes = dse_iv(least.bytes, most.bytes);
    ret->load_s = dse_iv(least.load_s, most.load_s);
    ret->compute_s = dse_iv(least.compute_s, most.compute_s);
    ret->fixed_s = dse_iv(least.fixed_s, most.fixed_s);
    ret->least_s = dse_iv_max(ret->load_s, ret->compute_s);
    ret->both_s = dse_iv_add(ret->least_s, ret->fixed_s);
    /* Of a token: what is fixed is shared by all. */
    const double computed = ret->token_products.lo / (b->fast.vendor.attention_ops * b->fast.sms);
    const double cached = b->fast.vendor.cache_path * b->fast.sms, stream = b->fast.vendor.stream;
    const double loaded = lo.warm ? 0 : ret->token_bytes.lo / (lo.prefill ? dse_max(stream, cached) : stream);
    ret->token_s = dse_iv(dse_below(dse_max(computed, loaded), 16), (double)INFINITY);
    if (lo.warm || lo.prefill) ret->token_bytes.lo = 0;
    if (lo.prefill) ret->token_bytes.hi = dse_above((hi.bytes + hi.beside_bytes + hi.write_bytes) / (batch.hi * n.hi), 16);
}

void fd_attention_law_bound(struct fd_attention_bound *ret, const struct fd_box *b)
{
    enum { PARTIAL_BYTES = 4, BESIDE = 2 };
    const struct fd_machine *fast = &b->fast, *slow = &b->slow;
    const struct dse_llm *llm = b->lo.workload.llm;
    const bool prefill = b->lo.workload.phase == DSE_PREFILL;
    const struct dse_interval n = dse_iv(fd_read(&b->lo), fd_read(&b->hi)), batch = FD_OF(b, workload.batch),
                              devices = FD_OF(b, devices);
    const struct dse_interval half = dse_iv_scale(dse_iv_add(n, dse_iv_of(1)), 0.5), seen = prefill ? half : n;
    const struct work token = work_of(b, seen, prefill ? dse_iv_of(1) : n);
    const struct work w = work_of(b, dse_iv_mul(batch, prefill ? dse_iv_mul(n, half) : n), dse_iv_mul(batch, n));
    *ret = (struct fd_attention_bound){.bytes = w.bytes,
                                       .products = products_of(b, w.pairs),
                                       .compute_s = compute_s(b, w.pairs),
                                       .token_bytes = token.bytes,
                                       .token_products = products_of(b, token.pairs),
                                       .token_s = dse_iv_max(compute_s(b, token.pairs), peak_s(b, token.bytes))};
    /* Of a block of attention: linear_efficiency, which fd_machine has in it, is not. */
    const double made = (double)b->lo.gpu->sms, gbs = b->lo.gpu->bandwidth_gbs * DSE_GIGA / made;
    struct drawn d = {.n = n,
                      .tile = FD_OF(b, attention_tile),
                      .bytes = w.bytes,
                      .peak_s = peak_s(b, w.bytes),
                      .compute_s = ret->compute_s,
                      .slots = {slow->sms * (double)b->lo.resident_blocks, fast->sms * (double)b->hi.resident_blocks},
                      .block_stream = dse_iv_mul(dse_iv_scale(FD_OF(b, block_share), gbs), FD_OF(b, attention_efficiency)),
                      .vectors = dse_iv_mul(batch, dse_iv_ceil_div(dse_iv_of((double)llm->heads), devices))};
    d.partial_s = dse_iv_div(dse_iv_of(((double)llm->head_dim + BESIDE) * PARTIAL_BYTES),
                             dse_iv_mul(FD_OF(b, l2_bytes), dse_iv_scale(b->clock_ghz, DSE_GIGA)));
    ret->least_s = d.least_s = dse_iv_max(d.peak_s, d.compute_s);
    if (b->lo.kernel_losses == FD_MEASURED) {
        measured(ret, b);
    } else if (b->lo.kernel_losses == FD_INCLUDED) {
        ret->load_s = dse_iv_max(d.peak_s, dse_iv_div(d.bytes, dse_iv_mul(d.slots, d.block_stream)));
        ret->both_s = dse_iv_max(ret->load_s, ret->compute_s);
    } else if (prefill) {
        draw_prefill(ret, &d, b);
    } else {
        const struct dse_interval kv_heads = dse_iv_ceil_div(dse_iv_of((double)llm->kv_heads), devices);
        draw_decode(ret, &d, b, dse_iv(batch.lo * kv_heads.lo, batch.hi * kv_heads.hi));
    }
}

/* E13, E2, E3. */
static void add_attention(struct fd_step_bound *s, const struct fd_box *b)
{
    enum { DECODE_KERNELS = 2 };
    const bool again = b->lo.softmax == FD_ASYNCHRONOUS;
    const double kernels = b->lo.workload.phase == DSE_PREFILL ? 1 : DECODE_KERNELS, layers = (double)b->lo.workload.llm->layers;
    struct fd_attention_bound law;
    fd_attention_law_bound(&law, b);
    const struct dse_interval alone = dse_iv_max(law.compute_s, law.load_s);
    const struct dse_interval update = at_least(dse_widened((again ? fd_async_factor(&b->lo) : fd_sync_factor(&b->lo)) - 1,
                                                            (again ? fd_async_factor(&b->hi) : fd_sync_factor(&b->hi)) - 1, 4),
                                                0);
    const struct dse_interval extra = dse_iv_mul(alone, update);
    const struct dse_interval busy = dse_iv_add(dse_iv_both(law.both_s, dse_iv_add(alone, law.fixed_s)), extra);
    /* At any clock: loading takes what it takes. */
    const struct dse_interval known = dse_iv_max(law.compute_s, b->attention_load_s);
    const struct dse_interval some = {dse_max(law.least_s.lo, known.lo), dse_min(law.both_s.hi, known.hi)};
    const struct dse_interval clocked = dse_iv_add(law.both_s, dse_iv_mul(update, some));
    const struct launched l = launched(b, busy, dse_iv_of(kernels));
    const double least = law.token_s.lo * (1 + update.lo);
    s->attention_load_s = b->lo.kernel_losses == FD_MEASURED ? dse_iv(0, (double)INFINITY) : law.load_s; /* at any clock */
    add(&s->attention_s, l.each, layers);
    add(&s->sync_s, extra, layers);
    add(&s->wait_s, l.wait, layers);
    add(&s->kernels_s, busy, layers);
    const struct launched every = launched(b, clocked, dse_iv_of(kernels));
    add(&s->clocked_s, every.each, layers);
    add(&s->clocked_busy_s, clocked, layers);
    add(&s->step.bytes, law.bytes, layers);
    add(&s->step.ops, law.products, layers);
    add(&s->token.seconds, a_token(s, every.each, least), layers);
    add(&s->token.busy_s, a_token(s, clocked, least), layers);
    add(&s->token.bytes, law.token_bytes, layers);
    add(&s->token.ops, law.token_products, layers);
}

/* E33: the same at any clock; of a token its share of the step. */
static void add_technique(struct fd_step_bound *s, const struct fd_box *b)
{
    const double layers = (double)b->lo.workload.llm->layers;
    struct fd_technique lo, hi;
    fd_technique(&lo, &b->least, &b->fast, b->hi.attention_efficiency, b->hi.compute_efficiency);
    fd_technique(&hi, &b->most, &b->slow, b->lo.attention_efficiency, b->lo.compute_efficiency);
    const struct dse_interval seconds = dse_iv(lo.seconds, hi.seconds), bytes = dse_iv(lo.bytes, hi.bytes);
    s->technique_s = s->technique_bytes = dse_iv_of(0);
    if (!(hi.kernels > 0)) return;
    const struct launched l = launched(b, seconds, dse_iv(lo.kernels, hi.kernels));
    add(&s->technique_s, l.each, layers);
    add(&s->technique_bytes, bytes, layers);
    add(&s->attention_s, l.each, layers);
    add(&s->wait_s, l.wait, layers);
    add(&s->kernels_s, seconds, layers);
    add(&s->clocked_s, l.each, layers);
    add(&s->clocked_busy_s, seconds, layers);
    add(&s->step.bytes, bytes, layers);
    add(&s->token.seconds, a_token(s, l.each, 0), layers);
    add(&s->token.busy_s, a_token(s, seconds, 0), layers);
    add(&s->token.bytes, dse_iv_div(bytes, s->tokens), layers);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------------------- */

static double elementwise_ops(const struct dse_workload *w)
{
    struct dse_oplist ops;
    double sum = 0;
    dse_workload_expand(w, &ops);
    for (int i = 0; i < ops.n; i++)
        if (strcmp(ops.op[i].name, "elementwise") == 0) sum += ops.op[i].ops;
    return sum;
}

/* E14: kernels of their own come on top of the linear operators; where they are fused the longer of both counts. So `*sum`, the
 * seconds of linear operators, becomes that of both. */
static void join_elementwise(struct dse_interval *sum, const struct fd_box *b, struct dse_interval apart, struct dse_interval fused)
{
    const struct dse_interval on_top = dse_iv_add(*sum, apart), longer = dse_iv_max(*sum, fused);
    *sum = b->lo.elementwise_kernels > 0 ? on_top : b->hi.elementwise_kernels == 0 ? longer : dse_iv_hull(on_top, longer);
}

/* Linear operators are in linear_s and kernels_s: what is added to either is what they do not hide. */
static void add_elementwise(struct fd_step_bound *s, const struct fd_box *b, struct dse_interval *ret_s)
{
    const struct dse_interval kernels = {(double)dse_max_i64(1, b->lo.elementwise_kernels), (double)b->hi.elementwise_kernels};
    const struct dse_interval seconds = {elementwise_ops(&b->least.workload) / b->fast.vector_peak,
                                         elementwise_ops(&b->most.workload) / b->slow.vector_peak};
    const struct launched l = launched(b, seconds, dse_iv_scale(kernels, (double)b->lo.workload.llm->layers));
    const bool some = b->hi.elementwise_kernels > 0, all = b->lo.elementwise_kernels > 0;
    struct dse_interval hidden = at_least(dse_iv_sub(seconds, s->linear_s), 0); /* what they do not hide of fused ones */
    if (some) hidden = all ? seconds : dse_iv_hull(hidden, seconds);
    s->kernels_s = dse_iv_add(s->kernels_s, hidden);
    s->clocked_busy_s = dse_iv_add(s->clocked_busy_s, all ? seconds : dse_iv(0, seconds.hi));
    s->wait_s = dse_iv_add(s->wait_s, all ? l.wait : dse_iv(0, some ? l.wait.hi : 0));
    *ret_s = s->linear_s;
    join_elementwise(ret_s, b, l.each, seconds);
    join_elementwise(&s->token.seconds, b, dse_iv_div(l.each, s->tokens), dse_iv_div(seconds, s->tokens));
    s->token.busy_s = dse_iv_add(s->token.busy_s, a_token(s, all ? seconds : dse_iv(0, seconds.hi), 0));
}

/* E30: it grows with bytes and waits, and falls with rates; over devices it does neither. */
static struct dse_interval measured_allreduce(const struct fd_box *b, struct dse_interval bytes)
{
    struct fd_link fast, slow;
    fd_link_init(&fast, &b->hi);
    fd_link_init(&slow, &b->lo);
    const struct fd_waits most = fast.waits;
    fast.waits = slow.waits, slow.waits = most;
    struct dse_interval ret = {(double)INFINITY, 0};
    for (int64_t devices = b->lo.devices; devices <= b->hi.devices; devices++) {
        ret.lo = dse_min(ret.lo, fd_allreduce(&fast, (double)devices, bytes.lo));
        ret.hi = dse_max(ret.hi, fd_allreduce(&slow, (double)devices, bytes.hi));
    }
    return dse_widened(ret.lo, ret.hi, 16);
}

/* E15: hops, and what each device passes on, grow with the devices. */
static void add_allreduce(struct fd_step_bound *s, const struct fd_box *b)
{
    enum { ALLREDUCES = 2 };
    const struct dse_llm *llm = b->lo.workload.llm;
    const double least = (double)b->lo.devices, most = (double)b->hi.devices, times = ALLREDUCES * (double)llm->layers;
    const double lo_rows = fd_gemm_of(&b->lo, FD_OUTPUT).m, hi_rows = fd_gemm_of(&b->hi, FD_OUTPUT).m;
    const struct dse_interval bytes = dse_iv_scale(dse_iv(lo_rows, hi_rows), (double)llm->hidden * FD_ACTIVATION_BYTES);
    if (b->lo.collectives != FD_RING) {
        s->allreduce_s = dse_iv_scale(measured_allreduce(b, bytes), times);
        return;
    }
    const struct dse_interval hops = {2 * (least - 1), 2 * (most - 1)};
    const struct dse_interval passed = dse_widened(2 * (least - 1) / least, 2 * (most - 1) / most, 4);
    const struct dse_interval moving =
        dse_iv_div(dse_iv_mul(at_least(passed, 0), bytes), dse_iv_scale(FD_OF(b, link_gbs), DSE_GIGA));
    s->allreduce_s = at_least(dse_iv_scale(dse_iv_add(moving, dse_iv_mul(hops, us(FD_OF(b, link_latency_us)))), times), 0);
}

/* E14, where the host runs ahead: all kernels against all launches. */
static struct dse_interval ahead(struct dse_interval kernels_s, struct dse_interval launched_s)
{
    return dse_iv_max(kernels_s, launched_s);
}

void fd_step_bound_init(struct fd_step_bound *ret, const struct fd_box *b)
{
    const struct dse_interval host_s = dse_widened(fd_host_s(&b->lo), fd_host_s(&b->hi), 4);
    const struct dse_interval launched_s = dse_widened(fd_launched_s(&b->lo), fd_launched_s(&b->hi), 4);
    struct dse_interval linear_s; /* with element-wise operators */
    *ret = (struct fd_step_bound){.tokens = dse_iv(dse_workload_tokens(&b->lo.workload), dse_workload_tokens(&b->hi.workload))};
    add_linears(ret, b);
    ret->clocked_busy_s = ret->kernels_s;
    add_elementwise(ret, b, &linear_s);
    add_attention(ret, b);
    add_technique(ret, b);
    add_allreduce(ret, b);
    const struct dse_interval rest = dse_iv_add(linear_s, ret->allreduce_s), kernels_s = dse_iv_add(ret->attention_s, rest);
    ret->wait_s = dse_iv_add(ret->wait_s, dse_iv_add(host_s, at_least(dse_iv_sub(launched_s, kernels_s), 0)));
    ret->clocked_s = dse_iv_add(ahead(dse_iv_add(ret->clocked_s, rest), launched_s), host_s);
    ret->step.busy_s = ret->kernels_s;
    ret->step.seconds = dse_iv_add(ahead(kernels_s, launched_s), host_s);
    ret->token.seconds = dse_iv_add(ret->token.seconds, dse_iv_div(ret->allreduce_s, ret->tokens));
    ret->token.seconds =
        dse_iv_add(ahead(ret->token.seconds, dse_iv_div(launched_s, ret->tokens)), dse_iv_div(host_s, ret->tokens));
    ret->token.bytes = dse_iv_both(ret->token.bytes, dse_iv_div(ret->step.bytes, ret->tokens));
    ret->token.ops = dse_iv_both(ret->token.ops, dse_iv_div(ret->step.ops, ret->tokens));
}

struct dse_interval fd_footprint_bound(const struct fd_box *b)
{
    return (struct dse_interval){fd_footprint(&b->least), fd_footprint(&b->most)};
}
