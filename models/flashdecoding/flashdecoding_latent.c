/* Attention over a latent that all heads share (E32). */
#include "flashdecoding_layers.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* From latents to keys and values of all heads: a GEMM of the maker's library, whose result is written. */
static double expanding_s(const struct fd_machine *m, double tokens, double heads)
{
    const struct fd_params *p = m->p;
    const struct fd_gemm g = {.m = tokens, .k = (double)p->kv_rank, .n = 2 * heads * (double)p->workload.llm->head_dim};
    return fd_vendor(m, &g).seconds;
}

/* Keys get the rotated part beside them, in a kernel that they go through the DRAM for again. */
static double joining_s(const struct fd_machine *m, double tokens, double heads)
{
    const double dim = (double)m->p->workload.llm->head_dim, rope = (double)m->p->rope_dim;
    return m->vendor.kernel_fixed_s + tokens * heads * (dim + dim + rope) * FD_ACTIVATION_BYTES / m->vendor.stream;
}

/* Decode: the blocks that share the positions, of so many reading groups of heads. */
static void share_positions(struct fd_measured_work *w, const struct fd_machine *m, double heads)
{
    const struct fd_params *p = m->p;
    const struct fd_attention_shape shape = {.latent = true, .sequences = w->groups, .queries = 1, .heads = heads, .kv_heads = 1};
    const double slots = w->resident * m->sms;
    const struct fd_splitting splitting = {.groups = w->groups, .slots = slots, .tiles = dse_ceil(w->n / w->tile)};
    w->splits = w->fewest_splits = fd_measured_splits(&splitting, &shape);
    w->full = fd_full_waves(w->groups * w->splits, slots);
    w->block_rows = fd_block_rows(&shape, p->kernels.attention_rows);
    w->work = 1;
}

/* What the kernel does, of so many heads; `expanded`: over keys and values of each of them. */
static struct fd_measured_work latent_work(const struct fd_machine *m, double heads, bool expanded)
{
    const struct fd_params *p = m->p;
    const struct dse_workload *w = &p->workload;
    const bool prefill = w->phase == DSE_PREFILL;
    const double n = (double)w->context, batch = (double)w->batch, dim = (double)w->llm->head_dim;
    const double rank = (double)p->kv_rank, key = rank + (double)p->rope_dim;
    /* What a query row meets at each position: a key and a value, each as long as it is multiplied. */
    const double keys_and_values = expanded ? dim + (double)p->rope_dim + dim : key + rank;
    /* Heads that share one reading. A block of fewer reads keys, and then values. */
    const double apart = prefill || p->latent_heads == 0 ? 0 : dse_ceil(heads / (double)p->latent_heads);
    const double element = dse_kv_bits(w) / DSE_BITS_PER_BYTE;
    const double read = apart > 0 ? apart * (key + rank) : expanded ? heads * keys_and_values : key;
    const double pairs = batch * heads * (prefill ? n * (n + 1) / 2 : n);
    const double beside = batch * heads * (prefill ? n : 1) * keys_and_values * FD_ACTIVATION_BYTES;
    struct fd_measured_work ret = {.prefill = prefill,
                                   .warm = p->cache == FD_WARM,
                                   .n = n,
                                   .groups = batch * dse_max(1, apart),
                                   .vectors = batch * heads,
                                   .head_dim = keys_and_values / 2,
                                   .bytes = batch * n * read * element,
                                   .products = DSE_OPS_PER_MAC * pairs * keys_and_values,
                                   .beside_bytes = beside,
                                   .write_bytes = batch * n * key * (FD_ACTIVATION_BYTES + element),
                                   .tile = (double)p->attention_tile,
                                   .count_tile = (double)p->attention_tile,
                                   .resident = (double)p->resident_blocks,
                                   .memory_s = p->memory_latency_ns / FD_NS_PER_S,
                                   .l2_s = p->l2_latency_ns / FD_NS_PER_S};
    share_positions(&ret, m, apart > 0 ? heads / apart : heads);
    return ret;
}

void fd_latent(struct fd_latent *ret, const struct fd_machine *m)
{
    const struct dse_workload *w = &m->p->workload;
    const double heads = dse_ceil((double)w->llm->heads / (double)w->tensor_parallel);
    const bool expanded = w->phase == DSE_PREFILL && m->p->latent_prefill == FD_EXPANDED;
    const struct fd_measured_work work = latent_work(m, heads, expanded);
    struct fd_attention_law law = {0};
    fd_attention_measured(&law, m, &work);
    *ret = (struct fd_latent){.bytes = work.bytes, .products = work.products};
    const double tokens = (double)w->batch * (double)w->context;
    ret->expanding_s = expanded ? expanding_s(m, tokens, heads) : 0;
    ret->seconds =
        ret->expanding_s + (expanded ? joining_s(m, tokens, heads) : 0) + dse_max(law.load_s, law.compute_s) + law.fixed_s;
}
