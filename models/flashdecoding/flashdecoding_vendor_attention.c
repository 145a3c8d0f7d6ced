/* Attention as engines' kernels were measured (E29). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* Of the last-level cache, so much stays from one kernel to the next. */
static const double kept_share = 0.7;
/* One load after the other: page table, query, first keys, first values. */
enum { LOADS_IN_TURN = 4, SPLITS_MAX = 128 };

double fd_flash2_splits(double groups, double slots, double tiles)
{
    const double enough = 0.8, as_well = 0.85;
    double use[SPLITS_MAX + 1] = {0}, best = 0;
    const double most = dse_min(dse_min(SPLITS_MAX, slots), tiles);
    if (groups >= enough * slots) return 1;
    for (int s = 1; s <= (int)most; s++) {
        const double waves = groups * s / slots;
        /* Numbers that leave a block as many tiles as one split less does are passed over. */
        use[s] = s > 1 && dse_ceil(tiles / s) == dse_ceil(tiles / (s - 1)) ? 0 : waves / dse_ceil(waves);
        best = dse_max(best, use[s]);
    }
    for (int s = 1; s <= (int)most; s++)
        if (use[s] >= as_well * best) return s;
    return 1;
}

double fd_measured_splits(const struct fd_splitting *s, const struct fd_attention_shape *shape)
{
    const double kv_blocks = s->kernels > 1 ? dse_max(1, dse_floor(s->head_blocks / shape->sequences)) : s->head_blocks;
    if (s->kernels >= FD_OWN_SUM && !shape->latent) return fd_flash2_splits(s->groups, s->slots, s->tiles);
    const double most = dse_min(dse_min(s->tiles, shape->latent ? (double)INFINITY : kv_blocks), SPLITS_MAX);
    return dse_clamp(dse_floor(s->slots / s->groups), 1, most);
}

double fd_full_waves(double blocks, double slots)
{
    return dse_max(0, dse_ceil(blocks / slots) - 1) * slots / blocks;
}

double fd_block_rows(const struct fd_attention_shape *s, double least)
{
    return dse_ceil(s->queries * s->heads / s->kv_heads / least) * least;
}

bool fd_is_copied(const struct fd_attention_shape *s)
{
    return !s->latent && s->sequences > 1 && s->kv_heads > 1;
}

bool fd_is_narrow(const struct fd_params *p, const struct fd_attention_shape *s)
{
    return dse_kv_narrowest(&p->workload) < FD_WIDE_BITS && !s->latent;
}

/* Decode: kernels and waits of a first wave of blocks and of further ones, the sum of parts, and the cache's bytes. Waves before
 * the last draw the bandwidth of all; a block of the last has its tiles to go through, if that takes longer. A warm last-level
 * cache has the bytes as far as it keeps them from one call to the next. */
static void decode(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    enum { PARTS_IN_TURN = 2, JOINED = 2 };
    const struct fd_vendor_rates *v = &m->vendor;
    const double slots = w->resident * m->sms, a = v->attention_kernels;
    const double waves = a > 1 ? dse_max(1, w->groups * w->fewest_splits / slots) : 1;
    const bool kept = w->warm && w->bytes <= kept_share * m->l2, parts = w->fewest_splits > 1;
    const double cold_s = w->bytes / v->attention_stream, tiles = dse_ceil(w->n / w->count_tile);
    const double kernels = (parts ? a : dse_min(a, JOINED)) + (a >= FD_OWN_SUM && w->copied ? 1 : 0);
    const double summed_s = (parts ? PARTS_IN_TURN * w->memory_s : 0) + (parts && a >= JOINED ? w->fewest_splits * w->l2_s : 0);
    const double products = 2 * DSE_OPS_PER_MAC * w->block_rows * w->tile * w->head_dim;
    const double tile_s = products * w->work / v->attention_ops, block_s = fd_overlapped(w->memory_s, tile_s, v->exposed);
    ret->bytes = kept ? 0 : w->bytes;
    const double loaded_s = kept ? dse_min(cold_s, w->bytes / (v->cache_path * m->sms)) : cold_s;
    ret->load_s = w->full * loaded_s + dse_max((1 - w->full) * loaded_s, dse_ceil(tiles / w->splits) * block_s);
    ret->compute_s = dse_max(w->products / v->attention_ops, w->groups * tiles * tile_s) / m->sms + w->widened_s;
    ret->fixed_s = kernels * v->kernel_fixed_s + w->narrow_s + waves * LOADS_IN_TURN * w->memory_s + summed_s +
                   w->beside_bytes / v->attention_stream;
}

/* Prefill: a block has a tile of rows of a query head and goes through the tiles up to its diagonal, which it computes whole. What
 * the cache's writing, query rows and results move is read from where it was just written, if that holds it. */
static void prefill(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    enum { PRODUCTS = 2, KERNELS = 2 };
    const struct fd_vendor_rates *v = &m->vendor;
    const double rows = dse_ceil((w->rows > 0 ? w->rows : w->n) / w->count_tile);
    const double met = w->pairs > 0 ? w->pairs / (w->tile * w->tile) + rows / 2 : rows * (rows + 1) / 2;
    const double longest =
        w->pairs > 0 ? dse_min(dse_ceil(w->n / w->count_tile), dse_ceil(w->pairs / w->rows / w->tile) + 1) : rows;
    const double tile_s = PRODUCTS * DSE_OPS_PER_MAC * w->tile * w->tile * w->head_dim / v->attention_ops;
    const double all_s = w->vectors * (met * tile_s + rows * v->block_s);
    const double kernels = dse_min(v->attention_kernels, KERNELS), writing = kernels > 1 ? w->write_bytes : 0;
    const double moved = w->bytes + w->beside_bytes;
    const bool kept = moved + writing <= kept_share * m->l2;
    const double rate = kept ? dse_max(v->attention_stream, v->cache_path * m->sms) : v->attention_stream;
    ret->bytes = kept ? 0 : moved + writing;
    ret->load_s = moved / rate;
    ret->compute_s = dse_max(all_s / m->sms, longest * tile_s + v->block_s);
    ret->fixed_s = kernels * v->kernel_fixed_s + LOADS_IN_TURN * w->memory_s + writing / rate +
                   v->exposed * dse_min(ret->load_s, ret->compute_s);
}

void fd_attention_measured(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    if (w->prefill)
        prefill(ret, m, w);
    else
        decode(ret, m, w);
}
