/* Attention of one layer in closed form, of any shape (E13, E29, E37). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* What the blocks of attention share. */
struct drawn {
    double n, rows, tile, bytes, peak_s, compute_s; /* rows: of a prompt; peak_s: all bytes at the bandwidth of all */
    double slots, block_stream;                     /* blocks that run at a time; what one of them draws */
    double vectors, partial_s;                      /* query vectors; seconds of an SM for the partial result of one */
};

/* Rows of a block are of one query head: as many blocks as there are tiles of rows, which need not be whole here. */
static void draw_prefill(struct fd_attention_law *ret, const struct drawn *d, const struct fd_params *p)
{
    const double tiles = dse_max(1, d->rows / d->tile), blocks = d->vectors * tiles, memory_s = p->memory_latency_ns / FD_NS_PER_S;
    ret->load_s = dse_max(d->peak_s, d->bytes / (dse_min(blocks, d->slots) * d->block_stream));
    ret->fixed_s = dse_max(1, blocks / d->slots) * memory_s + dse_min(d->peak_s, d->compute_s) / tiles;
}

/* Each KV head's positions are split over `splits` blocks. */
static struct fd_attention_law draw_splits(const struct drawn *d, const struct fd_machine *m, double groups, double splits)
{
    const struct fd_params *p = m->p;
    const double tiles = dse_ceil(d->n / d->tile), each = dse_ceil(tiles / splits), blocks = groups * dse_ceil(tiles / each);
    const double waves = dse_ceil(blocks / d->slots), block_bytes = d->bytes / groups * dse_min(1, each * d->tile / d->n);
    const double filled = dse_min(1, splits * d->tile / d->n) * dse_min(d->peak_s, d->compute_s);
    const double sum_s = p->l2_latency_ns / FD_NS_PER_S + splits * d->partial_s * dse_max(1, d->vectors / m->sms);
    return (struct fd_attention_law){.load_s = dse_max(d->peak_s, waves * block_bytes / d->block_stream),
                                     .fixed_s = waves * p->memory_latency_ns / FD_NS_PER_S + filled + sum_s};
}

/* As many splits as are fastest; once the bandwidth of all is drawn, or computing takes longer, more cannot help. */
static void draw_decode(struct fd_attention_law *ret, const struct drawn *d, const struct fd_machine *m, double groups)
{
    enum { SPLITS_MAX = 128 };
    const double tiles = dse_ceil(d->n / d->tile), given = (double)m->p->split_positions;
    const double fixed = given > 0 ? dse_ceil(tiles / dse_ceil(dse_min(given, d->n) / d->tile)) : 0;
    const double last = dse_min(tiles, SPLITS_MAX), least = dse_max(d->peak_s, d->compute_s);
    double best = (double)INFINITY;
    for (int splits = 1; splits <= (int)last; splits++) {
        const struct fd_attention_law law = draw_splits(d, m, groups, fixed > 0 ? fixed : (double)splits);
        const double seconds = dse_max(law.load_s, d->compute_s) + law.fixed_s;
        if (seconds < best) {
            best = seconds;
            ret->load_s = law.load_s;
            ret->fixed_s = law.fixed_s;
        }
        if (fixed > 0 || law.load_s <= least) return;
    }
}

/* What is computed, and how fast. Where queries share keys, tensor cores multiply tiles of 16 rows of them. */
struct computing {
    double products, exponents, widened; /* operations */
    double tensor, vector;               /* a second */
};

static double compute_seconds(const struct fd_attention_shape *s, const struct computing *c)
{
    enum { TENSOR_ROWS = 16 };
    if (s->prompt) return dse_max(c->products / c->tensor, (c->exponents + c->widened) / c->vector);
    if (!s->tensor) return (c->products + c->exponents + c->widened) / c->vector;
    const double padded = dse_max(1, TENSOR_ROWS / (s->heads / s->kv_heads * s->queries));
    return dse_max(c->products * padded / c->tensor, (c->exponents + c->widened) / c->vector);
}

static double products_of(const struct fd_attention_shape *s, double pairs)
{
    return 2 * DSE_OPS_PER_MAC * pairs * ((s->key_dim + s->value_dim) / 2);
}

double fd_pairs_seconds(const struct fd_machine *m, const struct fd_attention_shape *s, double pairs, double widened)
{
    const struct computing c = {.products = products_of(s, pairs),
                                .exponents = s->exponents * pairs,
                                .widened = widened,
                                .tensor = m->tensor_peak * m->p->compute_efficiency / m->sms,
                                .vector = m->vector_peak / m->sms};
    return compute_seconds(s, &c);
}

static void measured(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_attention_shape *s,
                     const struct drawn *d)
{
    const struct fd_params *p = m->p;
    const struct dse_gpu_kernels *k = &p->kernels;
    const struct fd_splitting splitting = {.groups = s->sequences * s->kv_heads,
                                           .slots = d->slots,
                                           .tiles = dse_ceil(d->n / d->tile),
                                           .kernels = k->attention_kernels,
                                           .head_blocks = k->attention_head_blocks};
    const double groups = splitting.groups, splits = s->prompt ? 1 : fd_measured_splits(&splitting, s);
    const double dim = (s->key_dim + s->value_dim) / 2;
    const bool narrow = fd_is_narrow(p, s);
    const struct fd_measured_work work = {.prefill = s->prompt,
                                          .warm = p->cache == FD_WARM,
                                          .n = d->n,
                                          .rows = s->queries,
                                          .pairs = s->limited ? s->pairs : 0,
                                          .groups = groups,
                                          .vectors = d->vectors,
                                          .head_dim = dim,
                                          .bytes = ret->bytes,
                                          .products = ret->products,
                                          .widened_s = s->widened / m->vector_peak,
                                          .beside_bytes = 2 * dim * s->sequences * s->queries * s->heads * FD_ACTIVATION_BYTES,
                                          .write_bytes = s->written_bytes,
                                          .tile = d->tile,
                                          .count_tile = d->tile,
                                          .resident = (double)p->resident_blocks,
                                          .memory_s = p->memory_latency_ns / FD_NS_PER_S,
                                          .l2_s = p->l2_latency_ns / FD_NS_PER_S,
                                          .splits = splits,
                                          .fewest_splits = splits,
                                          .full = fd_full_waves(groups * splits, d->slots),
                                          .block_rows = fd_block_rows(s, k->attention_rows),
                                          .work = narrow ? k->attention_narrow_work : 1,
                                          .narrow_s = narrow ? m->vendor.narrow_s : 0,
                                          .copied = fd_is_copied(s)};
    fd_attention_measured(ret, m, &work);
}

void fd_attention_law_of(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_attention_shape *s)
{
    enum { PARTIAL_BYTES = 4, BESIDE = 2 /* the sum of exponents and the maximum */ };
    const struct fd_params *p = m->p;
    const double pairs = s->sequences * s->heads * s->pairs, products = products_of(s, pairs);
    *ret = (struct fd_attention_law){.bytes = s->bytes, .products = products};
    const struct computing computing = {.products = products,
                                        .exponents = s->exponents * pairs,
                                        .widened = s->widened,
                                        .tensor = m->tensor_peak * p->compute_efficiency,
                                        .vector = m->vector_peak};
    ret->compute_s = compute_seconds(s, &computing);
    const double partial = (s->value_dim + BESIDE) * PARTIAL_BYTES;
    const struct drawn d = {.n = s->positions,
                            .rows = s->queries,
                            .tile = (double)p->attention_tile,
                            .bytes = ret->bytes,
                            .peak_s = ret->bytes / (m->bandwidth * p->attention_efficiency),
                            .compute_s = ret->compute_s,
                            .slots = m->sms * (double)p->resident_blocks,
                            .block_stream = m->block_stream * (p->attention_efficiency / p->linear_efficiency),
                            .vectors = s->sequences * s->heads * (s->prompt ? 1 : s->queries),
                            .partial_s = partial / (p->l2_bytes * p->clock_ghz * DSE_GIGA)};
    if (p->kernel_losses == FD_MEASURED)
        measured(ret, m, s, &d);
    else if (p->kernel_losses == FD_INCLUDED)
        ret->load_s = dse_max(d.peak_s, d.bytes / (d.slots * d.block_stream));
    else if (s->prompt)
        draw_prefill(ret, &d, p);
    else
        draw_decode(ret, &d, m, s->sequences * s->kv_heads);
}
