/* Attention as engines' kernels were measured (E29). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

/* Decode: what is fixed, the wait of each further wave of blocks (page table, query, first keys and values, one after the other), and
 * the cache's bytes; those of a warm last-level cache come from there, as far as it keeps them from one call to the next. */
static void decode(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    enum { LOADS_IN_TURN = 4 };
    const double kept_share = 0.7;
    const struct fd_vendor_rates *v = &m->vendor;
    const double waves = dse_max(1, w->groups / (w->resident * m->sms)), cold_s = w->bytes / v->stream;
    const bool kept = w->warm && w->bytes <= kept_share * m->l2;
    ret->bytes = kept ? 0 : w->bytes;
    ret->load_s = kept ? dse_min(cold_s, w->bytes / (v->l2_path * m->sms)) : cold_s;
    ret->compute_s = w->products / (v->attention_ops * m->sms);
    ret->fixed_s = v->attention_fixed_s + (waves - 1) * LOADS_IN_TURN * w->memory_s;
}

/* Prefill: a block has a tile of rows of a query head and goes through the tiles up to its diagonal, which it computes whole. */
static void prefill(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    enum { PRODUCTS = 2 };
    const struct fd_vendor_rates *v = &m->vendor;
    const double rows = dse_ceil(w->n / w->count_tile);
    const double tile_s = PRODUCTS * DSE_OPS_PER_MAC * w->tile * w->tile * w->head_dim / v->attention_ops;
    const double all_s = w->vectors * (rows * (rows + 1) / 2 * tile_s + rows * v->block_s);
    ret->bytes = w->bytes;
    ret->load_s = w->bytes / v->stream;
    ret->compute_s = dse_max(all_s / m->sms, rows * tile_s + v->block_s);
    ret->fixed_s = v->fixed_s;
}

void fd_attention_measured(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w)
{
    if (w->prefill)
        prefill(ret, m, w);
    else
        decode(ret, m, w);
}
