/* A step on one device: its operators, attention, the rest, and where the time went (E1, E13 to E16). */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
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
        return "the sum of exponentials over the context overflows float32 (unified_max, score_high)";
    if (p->score_low - p->unified_max < log((double)FLT_MIN))
        return "the exponential of the lowest score underflows float32 (unified_max, score_low)";
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
    const enum dse_weight_class class = which == FD_LM_HEAD                          ? DSE_WEIGHTS_HEAD
                                        : which == FD_FFN_UP || which == FD_FFN_DOWN ? DSE_WEIGHTS_DENSE
                                                                                     : DSE_WEIGHTS_ATTENTION;
    const struct fd_operands each = fd_operands_of_class(p, class);
    double last = (double)w->batch, rows = w->phase == DSE_PREFILL ? last * (double)w->context : last;
    switch (which) {
    case FD_QKV:
        return (struct fd_gemm){rows, hidden, q + 2 * kv, w->phase == DSE_PREFILL ? kv_layer_bytes(p, kv_heads(p), rows) : 0, each};
    case FD_OUTPUT: return (struct fd_gemm){rows, q, hidden, 0, each};
    case FD_FFN_UP: return (struct fd_gemm){rows, hidden, ffn, 0, each};
    case FD_FFN_DOWN: return (struct fd_gemm){rows, ffn, hidden, 0, each};
    case FD_LM_HEAD: return (struct fd_gemm){last, hidden, (double)llm->vocab / devices, 0, each};
    case FD_GIVEN: break;
    }
    return (struct fd_gemm){p->gemm_m > 0 ? (double)p->gemm_m : rows, (double)p->gemm_k, (double)p->gemm_n, 0,
                            fd_operands_uniform(p)};
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
        o->charged = o->ops * fd_op_share(p, fd_format_of(&o->gemm.operands));
        o->compute_bound = c.compute_bound;
        s->linear_s += o->seconds;
        s->linear_bytes += o->bytes;
        s->wait_s += o->wait_s;
    }
}

/* The heads of the fullest device. In decode the newest position is written instead of read: n positions move. */
void fd_attention_shape(struct fd_attention_shape *ret, const struct fd_params *p)
{
    const struct dse_workload *w = &p->workload;
    const double n = fd_read(p), batch = (double)w->batch, d = (double)w->llm->head_dim;
    const bool prompt = w->phase == DSE_PREFILL;
    *ret = (struct fd_attention_shape){.prompt = prompt,
                                       .sequences = batch,
                                       .queries = prompt ? n : 1,
                                       .positions = n,
                                       .pairs = prompt ? n * (n + 1) / 2 : n,
                                       .heads = dse_ceil((double)w->llm->heads / (double)p->workload.tensor_parallel),
                                       .kv_heads = kv_heads(p),
                                       .key_dim = d,
                                       .value_dim = d,
                                       .bytes = kv_layer_bytes(p, kv_heads(p), batch * n),
                                       .row_bytes = 2 * d * dse_kv_bits(w) / DSE_BITS_PER_BYTE,
                                       .exponents = FD_SOFTMAX_OPS,
                                       .widened = dse_cache_widening(w) * 2 * batch * kv_heads(p) * n * d, /* E34 */
                                       .written_bytes = fd_written_bytes(p, batch * n)};
}

void fd_attention_law(struct fd_attention_law *ret, const struct fd_machine *m)
{
    struct fd_attention_shape shape;
    fd_attention_shape(&shape, m->p);
    fd_attention_law_of(ret, m, &shape);
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
        if (ops.op[i].role == DSE_ROLE_ELEMENTWISE && !ops.op[i].is_draft) sum += ops.op[i].ops;
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
    const double bytes = s->linear[FD_OUTPUT].gemm.m * (double)p->workload.llm->hidden * dse_exchange_bytes(&p->workload);
    struct fd_link link;
    fd_link_init(&link, p);
    struct dse_exchange_cost each;
    fd_exchange_at(&link, &(struct dse_exchange){DSE_ALL_REDUCE, (double)p->workload.tensor_parallel, 1, bytes, 1}, &each);
    const double times = ALLREDUCES * (double)p->workload.llm->layers;
    s->allreduce_s = times * each.seconds;
    s->link_j = times * each.joules;
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

/* The host's time for so many launches, where it runs ahead. */
static double queued_s(const struct fd_params *p, double launches)
{
    if (p->launches != FD_QUEUED) return 0;
    return (launches * p->launch_us + (p->workload.phase == DSE_PREFILL ? p->prompt_us : 0)) / DSE_US_PER_S;
}

double fd_launched_s(const struct fd_params *p)
{
    enum { PROJECTIONS = 2, PREFILL = 1, DECODE = 2, ALLREDUCES = 2 };
    const struct dse_llm *llm = p->workload.llm;
    const bool prefill = p->workload.phase == DSE_PREFILL;
    const double a_layer = (double)(PROJECTIONS + llm->ffn_matrices + p->elementwise_kernels) + (prefill ? PREFILL : DECODE) +
                           (p->workload.tensor_parallel > 1 ? ALLREDUCES : 0) + technique_kernels(p);
    return queued_s(p, a_layer * (double)llm->layers + 1);
}

void fd_step_sum(struct fd_step *s, const struct fd_params *p)
{
    const double kernels_s = s->linear_s + s->attention_s + s->elementwise_s + s->allreduce_s + s->state_s;
    const double launched_s = s->n_parts == 0 ? fd_launched_s(p) : queued_s(p, s->launches);
    s->host_s = fd_host_s(p) + dse_max(0, launched_s - kernels_s);
    s->wait_s += s->host_s + s->bubble_s;
    s->seconds = kernels_s + s->host_s + s->bubble_s;
}

void fd_step_init(struct fd_step *ret, const struct fd_machine *m, const struct fd_cost looked_at[FD_KERNELS])
{
    memset(ret, 0, offsetof(struct fd_step, part));
    if (!fd_is_plain(&m->p->workload)) {
        fd_step_parts(ret, m);
        fd_step_passes(ret, m->p);
        fd_step_sum(ret, m->p);
        return;
    }
    add_linears(ret, m, looked_at);
    add_attention(ret, m);
    add_technique(ret, m);
    add_elementwise(ret, m);
    add_allreduce(ret, m);
    fd_step_sum(ret, m->p);
}

double fd_row_bytes(const struct fd_params *p)
{
    return kv_layer_bytes(p, kv_heads(p), 1);
}

/* ---- breakdown --------------------------------------------------------------------------------------------------------------- */

struct ctx {
    const struct fd_point *at;
    struct dse_breakdown *out;
};

/* bytes and ops are of one device; the energy is that of `charged` operations. Nothing is at work for wait_s of the seconds. */
static void add_charged(const struct ctx *c, const char *name, int depth, enum dse_bound bound, double seconds, double wait_s,
                        double bytes, double ops, double charged)
{
    const double devices = fd_devices(c->at->machine.p);
    const struct dse_activity a = {
        .seconds = seconds, .awake_s = seconds, .busy_s = seconds - wait_s, .bytes = bytes, .ops = charged};
    const double joules = fd_joules(c->at, &a) * devices;
    dse_breakdown_add(c->out, dse_part_of(name, depth, dse_bound_names[bound], seconds, joules, bytes * devices, ops * devices));
}

static void add(const struct ctx *c, const char *name, int depth, enum dse_bound bound, double seconds, double wait_s, double bytes,
                double ops)
{
    add_charged(c, name, depth, bound, seconds, wait_s, bytes, ops, ops);
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

/* Operators of one role, added up: those of the LLM, or those that draft. */
static void add_alike(const struct ctx *c, const struct fd_step *s, int first, int depth)
{
    const struct fd_part *of = &s->part[first];
    double seconds = 0, wait_s = 0, bytes = 0, ops = 0, charged = 0;
    for (int i = 0; i < s->n_parts; i++) {
        const struct fd_part *o = &s->part[i];
        if (o->role != of->role || o->is_draft != of->is_draft) continue;
        if (i < first) return;
        seconds += o->seconds;
        wait_s += o->wait_s;
        bytes += o->bytes;
        ops += o->ops;
        charged += o->charged;
    }
    if (of->kind == FD_PART_EXCHANGE)
        add(c, of->name, depth, DSE_BOUND_LATENCY, seconds, seconds, 0, 0);
    else
        add_charged(c, of->name, depth, bound_of(of->compute_bound, wait_s, seconds), seconds, wait_s, bytes, ops, charged);
}

/* Attention of all kinds is one part, and so is what devices exchange. */
static void break_down_parts(const struct ctx *c, const struct fd_step *s)
{
    bool attended = false;
    for (int i = 0; i < s->n_parts; i++) {
        const enum fd_part_kind kind = s->part[i].kind;
        if (kind == FD_PART_ATTENTION && !attended) add_attention_parts(c, s);
        attended |= kind == FD_PART_ATTENTION;
        if (kind == FD_PART_LINEAR || kind == FD_PART_EXPERTS || kind == FD_PART_STATE) add_alike(c, s, i, 0);
    }
    add(c, "elementwise", 0, bound_of(true, s->elementwise_wait_s, s->elementwise_s), s->elementwise_s, s->elementwise_wait_s, 0,
        0);
    c->out->part[c->out->n - 1].ops = s->elementwise_ops;
    add(c, "communication", 0, DSE_BOUND_LATENCY, s->allreduce_s, s->allreduce_s, 0, 0);
    for (int i = 0; i < s->n_parts; i++)
        if (s->part[i].kind == FD_PART_EXCHANGE) add_alike(c, s, i, 1);
    add(c, "bubble", 0, DSE_BOUND_LATENCY, s->bubble_s, s->bubble_s, 0, 0);
    add(c, "host", 0, DSE_BOUND_LATENCY, s->host_s, s->host_s, 0, 0);
}

/* The energy of element-wise operations is that of the SMs that are active for them (E26): hidden, they take none. */
void fd_break_down(const struct fd_point *at, struct dse_breakdown *out)
{
    const struct fd_step *s = &at->step;
    const struct ctx c = {.at = at, .out = out};
    if (s->n_parts > 0) {
        break_down_parts(&c, s);
        fd_break_energy(at, out);
        return;
    }
    for (int i = 0; i < FD_LINEARS; i++) {
        const struct fd_linear_op *o = &s->linear[i];
        add_charged(&c, o->name, 0, bound_of(o->compute_bound, o->wait_s, o->seconds), o->seconds, o->wait_s, o->bytes, o->ops,
                    o->charged);
        if (i == FD_QKV) add_attention_parts(&c, s);
    }
    add(&c, "elementwise", 0, bound_of(true, s->elementwise_wait_s, s->elementwise_s), s->elementwise_s, s->elementwise_wait_s, 0,
        0);
    out->part[out->n - 1].ops = s->elementwise_ops;
    add(&c, "all_reduce", 0, DSE_BOUND_LATENCY, s->allreduce_s, s->allreduce_s, 0, 0);
    add(&c, "host", 0, DSE_BOUND_LATENCY, s->host_s, s->host_s, 0, 0);
    fd_break_energy(at, out);
}
