/* A step on one device: its operators, attention, the rest, and where the time went (E1, E13 to E16). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- softmax --------------------------------------------------------------------------------------------------------------- */

double fd_sync_factor(const struct fd_params *p)
{
    return 1 + p->sync_overhead;
}

double fd_async_factor(const struct fd_params *p)
{
    return 1 + p->recompute_percent / 100 * fd_sync_factor(p);
}

const char *fd_range_check(const struct fd_params *p)
{
    if (p->score_low >= p->score_high) return "score_low is not below score_high";
    if (p->softmax == FD_SYNCHRONIZED) return NULL;
    if (p->score_high - p->unified_max + log((double)p->workload.context) > log((double)FLT_MAX))
        return "the sum of exponents over the context overflows float32 with this unified_max";
    if (p->score_low - p->unified_max < log((double)FLT_MIN))
        return "the exponent of the lowest score vanishes in float32 with this unified_max";
    return NULL;
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

/* Bytes of K and V of a device's heads for `tokens` tokens of one layer. */
static double kv_layer_bytes(const struct fd_params *p, double kv_heads, double tokens)
{
    return tokens * 2 * kv_heads * (double)p->workload.llm->head_dim * dse_kv_bits(&p->workload) / DSE_BITS_PER_BYTE;
}

static double kv_heads(const struct fd_params *p)
{
    return dse_ceil((double)p->workload.llm->kv_heads / (double)p->workload.tensor_parallel);
}

double fd_written_bytes(const struct fd_params *p, double tokens)
{
    const double elements = tokens * 2 * kv_heads(p) * (double)p->workload.llm->head_dim;
    return elements * (FD_ACTIVATION_BYTES + dse_kv_bits(&p->workload) / DSE_BITS_PER_BYTE);
}

struct fd_gemm fd_gemm_of(const struct fd_params *p, enum fd_gemm_choice which)
{
    const struct dse_workload *w = &p->workload;
    const struct dse_llm *llm = w->llm;
    double devices = (double)p->workload.tensor_parallel, hidden = (double)llm->hidden, ffn = (double)llm->ffn / devices;
    double q = (double)(llm->heads * llm->head_dim) / devices, kv = (double)(llm->kv_heads * llm->head_dim) / devices;
    double last = (double)w->batch, rows = w->phase == DSE_PREFILL ? last * (double)w->context : last;
    switch (which) {
    case FD_QKV:
        return (struct fd_gemm){rows, hidden, q + 2 * kv, w->phase == DSE_PREFILL ? kv_layer_bytes(p, kv_heads(p), rows) : 0};
    case FD_OUTPUT: return (struct fd_gemm){rows, q, hidden, 0};
    case FD_FFN_UP: return (struct fd_gemm){rows, hidden, ffn, 0};
    case FD_FFN_DOWN: return (struct fd_gemm){rows, ffn, hidden, 0};
    case FD_LM_HEAD: return (struct fd_gemm){last, hidden, (double)llm->vocab / devices, 0};
    case FD_GIVEN: break;
    }
    return (struct fd_gemm){p->gemm_m > 0 ? (double)p->gemm_m : rows, (double)p->gemm_k, (double)p->gemm_n, 0};
}

/* E14: a kernel that is shorter than the time between launches waits for the next one, unless the host runs ahead. */
static double launched(const struct fd_machine *m, double seconds, double kernels)
{
    if (m->p->launches == FD_QUEUED) return seconds;
    return dse_max(seconds, kernels * m->p->launch_us / DSE_US_PER_S);
}

static void add_linears(struct fd_step *s, const struct fd_machine *m, const struct fd_cost looked_at[FD_KERNELS])
{
    static const char *const names[FD_LINEARS] = {"qkv_projection", "output_projection", "ffn_up", "ffn_down", "lm_head"};
    const struct fd_params *p = m->p;
    const struct dse_llm *llm = p->workload.llm;
    for (int i = 0; i < FD_LINEARS; i++) {
        struct fd_linear_op *o = &s->linear[i];
        o->name = names[i];
        o->gemm = fd_gemm_of(p, (enum fd_gemm_choice)i);
        o->count = i == FD_LM_HEAD ? 1 : (double)llm->layers * (i == FD_FFN_UP ? (double)(llm->ffn_matrices - 1) : 1);
        struct fd_cost c;
        if (looked_at && i == p->gemm && p->dataflow == FD_HEURISTIC) {
            o->kernel = fd_fastest(looked_at);
            c = looked_at[o->kernel];
        } else {
            c = fd_linear(m, &o->gemm, &o->kernel);
        }
        o->cost = c;
        double each = launched(m, c.seconds, 1);
        o->seconds = o->count * each;
        o->wait_s = o->count * (each - c.seconds);
        o->bytes = o->count * c.bytes;
        o->ops = o->count * DSE_OPS_PER_MAC * o->gemm.m * o->gemm.k * o->gemm.n;
        o->compute_bound = c.compute_bound;
        s->linear_s += o->seconds;
        s->linear_bytes += o->bytes;
        s->wait_s += o->wait_s;
    }
}

/* What the blocks of attention share. */
struct drawn {
    double n, tile, bytes, peak_s, compute_s; /* peak_s: all bytes at the bandwidth of all */
    double slots, block_stream;               /* blocks that run at a time; what one of them draws */
    double vectors, partial_s;                /* query vectors; seconds of an SM for the partial result of one */
};

/* Rows of a block are of one query head: as many blocks as there are tiles of rows, which need not be whole here. */
static void draw_prefill(struct fd_attention_law *ret, const struct drawn *d, const struct fd_params *p)
{
    const double tiles = dse_max(1, d->n / d->tile), blocks = d->vectors * tiles, memory_s = p->memory_latency_ns / FD_NS_PER_S;
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

/* The heads of the fullest device. In decode the newest position is written instead of read: n positions move. */
void fd_attention_law(struct fd_attention_law *ret, const struct fd_machine *m)
{
    enum { SOFTMAX_OPS = 5, PARTIAL_BYTES = 4, BESIDE = 2 /* the sum of exponents and the maximum */ };
    const struct fd_params *p = m->p;
    const struct dse_workload *w = &p->workload;
    const double n = fd_read(p), heads = dse_ceil((double)w->llm->heads / (double)p->workload.tensor_parallel),
                 batch = (double)w->batch;
    const bool prefill = w->phase == DSE_PREFILL;
    const double pairs = batch * heads * (prefill ? n * (n + 1) / 2 : n);
    const double products = 2 * DSE_OPS_PER_MAC * pairs * (double)w->llm->head_dim, exponents = SOFTMAX_OPS * pairs;
    *ret = (struct fd_attention_law){.bytes = kv_layer_bytes(p, kv_heads(p), batch * n), .products = products};
    const double widened = dse_cache_widening(w) * 2 * batch * kv_heads(p) * n * (double)w->llm->head_dim; /* E34 */
    ret->compute_s = prefill ? dse_max(products / (m->tensor_peak * p->compute_efficiency), exponents / m->vector_peak)
                             : (products + exponents + widened) / m->vector_peak;
    const double partial = ((double)w->llm->head_dim + BESIDE) * PARTIAL_BYTES;
    const struct drawn d = {.n = n,
                            .tile = (double)p->attention_tile,
                            .bytes = ret->bytes,
                            .peak_s = ret->bytes / (m->bandwidth * p->attention_efficiency),
                            .compute_s = ret->compute_s,
                            .slots = m->sms * (double)p->resident_blocks,
                            .block_stream = m->block_stream * (p->attention_efficiency / p->linear_efficiency),
                            .vectors = batch * heads,
                            .partial_s = partial / (p->l2_bytes * p->clock_ghz * DSE_GIGA)};
    if (p->kernel_losses == FD_MEASURED) {
        const double groups = batch * kv_heads(p), splits = fd_measured_splits(groups, d.slots, dse_ceil(n / d.tile));
        const struct fd_measured_work work = {.prefill = prefill,
                                              .warm = p->cache == FD_WARM,
                                              .n = n,
                                              .groups = groups,
                                              .vectors = d.vectors,
                                              .head_dim = (double)w->llm->head_dim,
                                              .bytes = ret->bytes,
                                              .products = products,
                                              .widened_s = widened / m->vector_peak,
                                              .beside_bytes = 2 * d.vectors * n * (double)w->llm->head_dim * FD_ACTIVATION_BYTES,
                                              .write_bytes = fd_written_bytes(p, batch * n),
                                              .tile = d.tile,
                                              .count_tile = d.tile,
                                              .resident = (double)p->resident_blocks,
                                              .memory_s = p->memory_latency_ns / FD_NS_PER_S,
                                              .l2_s = p->l2_latency_ns / FD_NS_PER_S,
                                              .splits = splits,
                                              .fewest_splits = splits};
        fd_attention_measured(ret, m, &work);
    } else if (p->kernel_losses == FD_INCLUDED)
        ret->load_s = dse_max(d.peak_s, d.bytes / (d.slots * d.block_stream));
    else if (prefill)
        draw_prefill(ret, &d, p);
    else
        draw_decode(ret, &d, m, batch * kv_heads(p));
}

/* E13, E2, E3. */
static void add_attention(struct fd_step *s, const struct fd_machine *m)
{
    enum { DECODE_KERNELS = 2 /* partial results, and their sum */ };
    const struct fd_params *p = m->p;
    const bool prefill = p->workload.phase == DSE_PREFILL;
    struct fd_attention_law law;
    fd_attention_law(&law, m);
    double layers = (double)p->workload.llm->layers, alone = dse_max(law.compute_s, law.load_s);
    double factor = p->softmax == FD_ASYNCHRONOUS ? fd_async_factor(p) : fd_sync_factor(p), busy = alone * factor + law.fixed_s;
    double each = launched(m, busy, prefill ? 1 : DECODE_KERNELS), overhead = layers * alone * (factor - 1);
    s->attention_s = layers * each;
    s->attention_wait_s = layers * (each - busy);
    s->stream_s = layers * (alone + law.fixed_s);
    s->sync_s = p->softmax == FD_ASYNCHRONOUS ? 0 : overhead;
    s->recompute_s = p->softmax == FD_ASYNCHRONOUS ? overhead : 0;
    s->attention_bytes = layers * law.bytes;
    s->attention_ops = layers * law.products;
    s->attention_compute_bound = law.compute_s > law.load_s;
    s->wait_s += s->attention_wait_s;
}

/* E33. */
static void add_technique(struct fd_step *s, const struct fd_machine *m)
{
    const struct fd_params *p = m->p;
    const double layers = (double)p->workload.llm->layers;
    struct fd_technique t;
    fd_technique(&t, p, m, p->attention_efficiency, p->compute_efficiency);
    const double each = t.kernels > 0 ? launched(m, t.seconds, t.kernels) : 0;
    s->technique_s = layers * each;
    s->technique_wait_s = layers * (each - t.seconds);
    s->technique_bytes = layers * t.bytes;
    s->attention_s += s->technique_s;
    s->attention_bytes += s->technique_bytes;
    s->wait_s += s->technique_wait_s;
}

/* All of them on each device: norms and residuals are not shared, and what is shared hides. */
double fd_elementwise_ops(const struct dse_workload *w)
{
    struct dse_workload whole = *w;
    struct dse_oplist ops;
    double sum = 0;
    whole.tensor_parallel = 1;
    dse_workload_expand(&whole, &ops);
    for (int i = 0; i < ops.n; i++)
        if (strcmp(ops.op[i].name, "elementwise") == 0) sum += ops.op[i].ops;
    return sum;
}

/* E14. Fused kernels hide behind the linear operators as far as those last. */
static void add_elementwise(struct fd_step *s, const struct fd_machine *m)
{
    s->elementwise_ops = fd_elementwise_ops(&m->p->workload);
    double seconds = s->elementwise_ops / m->vector_peak, kernels = (double)m->p->elementwise_kernels;
    if (kernels > 0) {
        s->elementwise_s = launched(m, seconds, kernels * (double)m->p->workload.llm->layers);
        s->elementwise_wait_s = s->elementwise_s - seconds;
        s->wait_s += s->elementwise_wait_s;
    } else {
        s->elementwise_s = dse_max(0, seconds - s->linear_s);
    }
}

/* E15, E30: an all-reduce after the output projection and after the FFN of every layer. */
static void add_allreduce(struct fd_step *s, const struct fd_machine *m)
{
    enum { ALLREDUCES = 2 };
    const struct fd_params *p = m->p;
    const double bytes = s->linear[FD_OUTPUT].gemm.m * (double)p->workload.llm->hidden * FD_ACTIVATION_BYTES;
    struct fd_link link;
    fd_link_init(&link, p);
    const double each = fd_allreduce(&link, (double)p->workload.tensor_parallel, bytes);
    s->allreduce_s = ALLREDUCES * (double)p->workload.llm->layers * each;
}

/* Activations of a step with more tokens than an engine plans for; what they take beyond is allocated anew, layer by layer. */
static double unplanned_mib(const struct dse_workload *w)
{
    const double planned = 2560; /* vLLM of 2023: max_num_batched_tokens */
    const double tokens = (double)(w->batch * w->context) - planned;
    if (w->phase != DSE_PREFILL || tokens <= 0) return 0;
    return tokens * (double)(w->llm->layers * w->llm->hidden) * FD_ACTIVATION_BYTES / DSE_MIB;
}

double fd_host_s(const struct fd_params *p)
{
    const struct dse_workload *w = &p->workload;
    const double batch = (double)w->batch, us = p->host_us + batch * p->sequence_us + unplanned_mib(w) * p->allocation_us;
    return us / DSE_US_PER_S + (double)(w->batch * w->llm->vocab) * p->sampling_ns / FD_NS_PER_S;
}

static double technique_kernels(const struct fd_params *p)
{
    struct fd_technique t;
    const struct fd_machine any = {.bandwidth = 1, .vector_peak = 1, .tensor_peak = 1};
    fd_technique(&t, p, &any, 1, 1);
    return t.kernels;
}

double fd_launched_s(const struct fd_params *p)
{
    enum { PROJECTIONS = 2, PREFILL = 1, DECODE = 2, ALLREDUCES = 2 };
    const struct dse_llm *llm = p->workload.llm;
    const bool prefill = p->workload.phase == DSE_PREFILL;
    const double a_layer = (double)(PROJECTIONS + llm->ffn_matrices + p->elementwise_kernels) + (prefill ? PREFILL : DECODE) +
                           (p->workload.tensor_parallel > 1 ? ALLREDUCES : 0) + technique_kernels(p);
    if (p->launches != FD_QUEUED) return 0;
    return ((a_layer * (double)llm->layers + 1) * p->launch_us + (prefill ? p->prompt_us : 0)) / DSE_US_PER_S;
}

void fd_step_sum(struct fd_step *s, const struct fd_params *p)
{
    const double kernels_s = s->linear_s + s->attention_s + s->elementwise_s + s->allreduce_s;
    s->host_s = fd_host_s(p) + dse_max(0, fd_launched_s(p) - kernels_s);
    s->wait_s += s->host_s;
    s->seconds = kernels_s + s->host_s;
}

void fd_step_init(struct fd_step *ret, const struct fd_machine *m, const struct fd_cost looked_at[FD_KERNELS])
{
    *ret = (struct fd_step){0};
    add_linears(ret, m, looked_at);
    add_attention(ret, m);
    add_technique(ret, m);
    add_elementwise(ret, m);
    add_allreduce(ret, m);
    fd_step_sum(ret, m->p);
}

double fd_footprint(const struct fd_params *p)
{
    const struct dse_workload *w = &p->workload;
    const struct dse_llm *llm = w->llm;
    double elements = (double)llm->layers * dse_llm_layer_weights(llm) + (double)llm->embedding_tables * dse_llm_head_weights(llm);
    return elements / (double)p->workload.tensor_parallel * (double)w->weight_bits / DSE_BITS_PER_BYTE +
           (double)llm->layers * (kv_layer_bytes(p, kv_heads(p), (double)w->batch * fd_cache_step(p).held) + fd_kept_bytes(p));
}

/* ---- breakdown --------------------------------------------------------------------------------------------------------------- */

struct ctx {
    const struct fd_point *at;
    struct dse_breakdown *out;
};

/* bytes and ops are of one device. Nothing is at work for wait_s of the seconds. */
static void add(const struct ctx *c, const char *name, int depth, enum dse_bound bound, double seconds, double wait_s, double bytes,
                double ops)
{
    const double devices = (double)c->at->machine.p->workload.tensor_parallel;
    const struct dse_activity a = {.seconds = seconds, .awake_s = seconds, .busy_s = seconds - wait_s, .bytes = bytes, .ops = ops};
    const double joules = fd_joules(c->at, &a) * devices;
    dse_breakdown_add(c->out, dse_part_of(name, depth, dse_bound_names[bound], seconds, joules, bytes * devices, ops * devices));
}

static enum dse_bound bound_of(bool compute, double wait_s, double seconds)
{
    if (wait_s > seconds / 2) return DSE_BOUND_LATENCY;
    return compute ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM;
}

static void add_attention_parts(const struct ctx *c, const struct fd_step *s)
{
    enum dse_bound bound = s->attention_compute_bound ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM;
    const double wait_s = s->attention_wait_s + s->technique_wait_s;
    add(c, "attention", 0, bound_of(s->attention_compute_bound, wait_s, s->attention_s), s->attention_s, wait_s, s->attention_bytes,
        s->attention_ops);
    add(c, "kv_cache", 1, bound, s->stream_s, 0, s->attention_bytes - s->technique_bytes, s->attention_ops);
    add(c, "synchronization", 1, DSE_BOUND_LATENCY, s->sync_s, 0, 0, 0);
    add(c, "recomputation", 1, bound, s->recompute_s, 0, 0, 0);
    add(c, "technique", 1, bound_of(false, s->technique_wait_s, s->technique_s), s->technique_s, s->technique_wait_s,
        s->technique_bytes, 0);
    add(c, "launch", 1, DSE_BOUND_LATENCY, s->attention_wait_s, s->attention_wait_s, 0, 0);
}

/* The energy of element-wise operations is that of the SMs that are active for them (E26): hidden, they take none. */
void fd_break_down(const struct fd_point *at, struct dse_breakdown *out)
{
    const struct fd_step *s = &at->step;
    const struct ctx c = {.at = at, .out = out};
    for (int i = 0; i < FD_LINEARS; i++) {
        const struct fd_linear_op *o = &s->linear[i];
        add(&c, o->name, 0, bound_of(o->compute_bound, o->wait_s, o->seconds), o->seconds, o->wait_s, o->bytes, o->ops);
        if (i == FD_QKV) add_attention_parts(&c, s);
    }
    add(&c, "elementwise", 0, bound_of(true, s->elementwise_wait_s, s->elementwise_s), s->elementwise_s, s->elementwise_wait_s, 0,
        0);
    out->part[out->n - 1].ops = s->elementwise_ops;
    add(&c, "all_reduce", 0, DSE_BOUND_LATENCY, s->allreduce_s, s->allreduce_s, 0, 0);
    add(&c, "host", 0, DSE_BOUND_LATENCY, s->host_s, s->host_s, 0, 0);
    fd_break_energy(at, out);
}
