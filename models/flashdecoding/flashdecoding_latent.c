/* Attention over a latent that all heads share (E32). */
#include "flashdecoding_layers.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* From latents to keys and values of all heads: a GEMM of the maker's library, whose result is written; keys get the rotated part
 * beside them, which goes through the DRAM again. */
static double expanding_s(const struct fd_machine *m, double tokens, double heads)
{
    const struct fd_params *p = m->p;
    const double dim = (double)p->workload.llm->head_dim, rope = (double)p->rope_dim;
    const struct fd_gemm g = {.m = tokens, .k = (double)p->kv_rank, .n = 2 * heads * dim};
    const double joined = tokens * heads * (dim + dim + rope) * FD_ACTIVATION_BYTES;
    return fd_vendor(m, &g).seconds + joined / m->vendor.stream;
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
    const double groups = batch * dse_max(1, apart), tile = (double)p->attention_tile;
    const double splits = fd_measured_splits(groups, (double)p->resident_blocks * m->sms, dse_ceil(n / tile), (double)INFINITY);
    const double beside = batch * heads * n * keys_and_values * FD_ACTIVATION_BYTES;
    return (struct fd_measured_work){.prefill = prefill,
                                     .warm = p->cache == FD_WARM,
                                     .n = n,
                                     .groups = groups,
                                     .vectors = batch * heads,
                                     .head_dim = keys_and_values / 2,
                                     .bytes = batch * n * read * element,
                                     .products = DSE_OPS_PER_MAC * pairs * keys_and_values,
                                     .beside_bytes = beside,
                                     .write_bytes = batch * n * key * (FD_ACTIVATION_BYTES + element),
                                     .tile = tile,
                                     .count_tile = tile,
                                     .resident = (double)p->resident_blocks,
                                     .memory_s = p->memory_latency_ns / FD_NS_PER_S,
                                     .l2_s = p->l2_latency_ns / FD_NS_PER_S,
                                     .splits = splits,
                                     .fewest_splits = splits,
                                     .draw = 1};
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
    ret->expanding_s = expanded ? expanding_s(m, (double)w->batch * (double)w->context, heads) : 0;
    ret->seconds = ret->expanding_s + dse_max(law.load_s, law.compute_s) + law.fixed_s;
}
