/* Attention as engines' kernels were measured (E29). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* Of the last-level cache, so much stays from one kernel to the next. */
static const double kept_share = 0.7;
/* One load after the other: page table, query, first keys, first values. */
enum { LOADS_IN_TURN = 4 };

double fd_measured_splits(double groups, double slots, double tiles, double most)
{
    enum { SPLITS_MAX = 128 };
    return dse_clamp(dse_floor(slots / groups), 1, dse_min(dse_min(tiles, most), SPLITS_MAX));
}

double fd_splits_most(const struct fd_params *p, const struct fd_attention_shape *s)
{
    return s->latent ? (double)INFINITY : dse_max(1, dse_floor(p->kernels.attention_head_blocks / s->sequences));
}

bool fd_is_narrow(const struct fd_params *p, const struct fd_attention_shape *s)
{
    return dse_kv_narrowest(&p->workload) < FD_WIDE_BITS && !s->latent;
}

/* Decode: kernels and waits of a first wave of blocks and of further ones, the wait that two buffers leave of each tile, the sum of
 * parts, and the cache's bytes. A warm last-level cache has them as far as it keeps them from one call to the next. */
static void decode(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    enum { PARTS_IN_TURN = 2, OWN_SUM = 3 };
    const double left_share = 0.5;
    const struct fd_vendor_rates *v = &m->vendor;
    const double slots = w->resident * m->sms, splits = w->splits, blocks = dse_min(w->groups * splits, m->sms);
    const double waves = v->attention_kernels > 1 ? dse_max(1, w->groups / slots) : 1;
    const bool kept = w->warm && w->bytes <= kept_share * m->l2, parts = w->fewest_splits > 1,
               sums = v->attention_kernels >= OWN_SUM;
    const double cold_s = w->bytes / v->stream, tiles = dse_ceil(w->n / w->count_tile);
    const double kernels = parts ? v->attention_kernels : dse_min(v->attention_kernels, OWN_SUM - 1);
    const double summed_s = (parts ? PARTS_IN_TURN * w->memory_s : 0) + (parts && sums ? w->fewest_splits * w->l2_s : 0);
    ret->bytes = kept ? 0 : w->bytes;
    const double loaded_s = kept ? dse_min(cold_s, w->bytes / (v->cache_path * m->sms)) : cold_s;
    ret->load_s = dse_max(loaded_s, w->bytes / (blocks * v->block_stream * w->draw));
    ret->compute_s = w->products / (v->attention_ops * m->sms) + w->widened_s;
    ret->fixed_s = kernels * v->fixed_s + w->narrow_s + waves * LOADS_IN_TURN * w->memory_s + summed_s +
                   left_share * w->memory_s * dse_ceil(tiles / splits);
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
    const double rate = kept ? dse_max(v->stream, v->cache_path * m->sms) : v->stream;
    ret->bytes = kept ? 0 : moved + writing;
    ret->load_s = moved / rate;
    ret->compute_s = dse_max(all_s / m->sms, longest * tile_s + v->block_s);
    ret->fixed_s =
        kernels * v->fixed_s + LOADS_IN_TURN * w->memory_s + writing / rate + v->exposed * dse_min(ret->load_s, ret->compute_s);
}

void fd_attention_measured(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    if (w->prefill)
        prefill(ret, m, w);
    else
        decode(ret, m, w);
}
