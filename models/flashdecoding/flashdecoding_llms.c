/* A step of an LLM with layers of several kinds, of several chips in more ways than tensor_parallel, or of more than one token a
 * sequence: the workload's operators become kernels (E36 to E40). */
#include "flashdecoding_layers.h"

#include <dse/interconnect.h>
#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>
#include <math.h>

bool fd_is_plain(const struct dse_workload *w)
{
    return dse_llm_is_plain(w->llm) && dse_workload_chips(w) * dse_degree(w->expert_parallel) == dse_degree(w->tensor_parallel) &&
           w->speculation.draft_tokens == 0 && w->chunk_tokens == 0 && w->context_spread <= 0;
}

struct walk {
    const struct fd_machine *m;
    const struct dse_oplist *ops;
    struct fd_step *s;
    struct fd_link link;
    const struct dse_draw *draw;     /* NULL: experts are the mean */
    struct fd_experts experts;       /* of one layer, with dataflow = vendor */
    const struct dse_exchange *sent; /* the last one, and what it costs: what goes to experts comes back */
    struct dse_exchange_cost cost;
};

static bool by_vendor(const struct walk *w)
{
    return w->m->p->dataflow == FD_BY_VENDOR;
}

static struct fd_part *add_part(struct walk *w, const struct dse_op *op, enum fd_part_kind kind, double count, double kernels)
{
    assert(w->s->n_parts < FD_PARTS_MAX);
    struct fd_part *o = &w->s->part[w->s->n_parts++];
    o->name = op->name;
    o->role = op->role;
    o->is_draft = op->is_draft;
    o->kind = kind;
    o->count = count;
    o->kernels = kernels;
    o->sync_s = o->again_s = o->bytes = 0;
    o->ops = o->charged = op->ops;
    o->compute_bound = false;
    return o;
}

/* E14: all kernels of a part, one after the other. */
static void take(struct walk *w, struct fd_part *o, double each_s)
{
    const struct fd_params *p = w->m->p;
    const double launch_s = p->launches == FD_QUEUED ? 0 : o->kernels * p->launch_us / DSE_US_PER_S,
                 each = dse_max(each_s, launch_s);
    o->each_s = each_s;
    o->seconds = o->count * each;
    o->wait_s = o->count * (each - each_s);
    w->s->wait_s += o->wait_s;
    w->s->launches += o->count * o->kernels;
}

/* ---- matrices --------------------------------------------------------------------------------------------------------------- */

static const struct dse_llm *llm_of(const struct fd_params *p, const struct dse_op *op)
{
    const struct dse_speculation *s = &p->workload.speculation;
    return op->is_draft && s->drafter == DSE_DRAFT_LLM ? s->draft : p->workload.llm;
}

double fd_kernels_of(const struct fd_params *p, const struct dse_op *op)
{
    if (op->has_gate && !fd_is_experts(op)) return 2; /* gate and up */
    if (!op->is_per_head) return 1;
    return (double)dse_degree(p->workload.tensor_parallel) / (double)llm_of(p, op)->heads;
}

static void sum_linear(struct walk *w, struct fd_part *o)
{
    w->s->linear_s += o->seconds;
    w->s->linear_bytes += o->bytes;
    o->charged = o->ops * fd_op_share(w->m->p, fd_format_of(&o->gemm.operands));
    w->s->other_ops += o->charged;
}

double fd_joined_bytes(const struct fd_params *p, const struct dse_op *op)
{
    if (p->dataflow != FD_BY_VENDOR || op->role != DSE_ROLE_LATENT_UP) return 0;
    const struct dse_llm_latent *l = &llm_of(p, op)->latent;
    const double heads = (double)op->n / (double)(l->nope_dim + l->v_head_dim);
    return op->rows * heads * (double)(2 * l->nope_dim + l->rope_dim) * FD_ACTIVATION_BYTES;
}

/* E36. Keys and values that are made of latents: E32's kernels write keys once more, with their rotated part beside them. */
static void add_linear(struct walk *w, const struct dse_op *op)
{
    const struct fd_machine *m = w->m;
    const double kernels = fd_kernels_of(m->p, op), layers = (double)op->repeat,
                 prompt = m->p->workload.phase == DSE_PREFILL ? 1 : 0;
    struct fd_part *o = add_part(w, op, FD_PART_LINEAR, layers * kernels, 1);
    o->gemm = (struct fd_gemm){.m = op->rows,
                               .k = (double)op->k,
                               .n = (double)op->n / kernels,
                               .extra_bytes = (op->kv_read_bytes + prompt * op->kv_write_bytes) / o->count,
                               .operands = fd_operands_of(m->p, op)};
    o->cost = fd_linear(m, &o->gemm, &o->kernel);
    o->bytes = o->count * o->cost.bytes;
    o->compute_bound = o->cost.compute_bound;
    take(w, o, o->cost.seconds + fd_joined_bytes(m->p, op) / m->vendor.stream);
    sum_linear(w, o);
}

/* ---- experts ---------------------------------------------------------------------------------------------------------------- */

void fd_expert_layer_of(struct fd_expert_layer *ret, const struct fd_params *p, const struct dse_op *op)
{
    const struct dse_workload *work = &p->workload;
    const struct dse_op *router = op;
    while (router->role != DSE_ROLE_ROUTER) router--;
    const int64_t tensor = dse_degree(work->tensor_parallel), groups = dse_degree(work->expert_parallel);
    const double joined = (double)dse_max_i64(1, groups / tensor);
    *ret = (struct fd_expert_layer){.experts = op->choice.routed,
                                    .active = op->choice.chosen,
                                    .groups = groups,
                                    .tokens = joined * router->rows,
                                    .hidden = (double)op->k,
                                    .ffn = (double)op->n / (op->has_gate ? 2 : 1),
                                    .matrices = op->has_gate ? 3 : 2,
                                    .touched = op->copies,
                                    .own = op->copies * op->rows,
                                    .activation_bits = fd_operands_of(p, op).activation_bits};
}

/* E31 with the LLM's shape. Sorting comes with the first of both, the sum over a token's experts with the second. */
static void experts_by_vendor(struct walk *w, const struct fd_machine *m, const struct dse_op *op)
{
    const struct dse_workload *work = &m->p->workload;
    struct fd_expert_layer l;
    double rows[DSE_EXPERTS_DRAWN_MAX];
    fd_expert_layer_of(&l, m->p, op);
    const bool one_layer = w->draw && w->draw->layers == 1 && l.experts <= FD_EXPERTS_MAX;
    if (one_layer && dse_experts_draw(work, op->choice, l.tokens, w->draw->seed, w->draw->layer, rows))
        l.drawn = rows + dse_experts_fullest(op->choice.routed, rows, (double)l.groups, &l.n_drawn);
    fd_experts_of(&w->experts, m, &l);
}

/* E38. Their columns side by side are one GEMM of as many rows as an expert has: tiles are of one expert each. Activations move for
 * each expert. */
static void add_experts(struct walk *w, const struct dse_op *op, bool up)
{
    const struct fd_machine *m = w->m;
    struct fd_part *o = add_part(w, op, FD_PART_EXPERTS, (double)op->repeat, 1);
    const double k = (double)op->k, n = (double)op->n, moved = op->copies * op->rows * (k + n) * FD_ACTIVATION_BYTES;
    o->gemm = (struct fd_gemm){.m = op->rows, .k = k, .n = n * op->copies, .operands = fd_operands_of(m->p, op)};
    const double counted = op->rows * (k + o->gemm.n) * FD_ACTIVATION_BYTES;
    o->gemm.extra_bytes = dse_max(0, moved - m->l2) - dse_max(0, counted - m->l2);
    if (by_vendor(w)) {
        struct fd_machine own;
        if (up) experts_by_vendor(w, fd_machine_for(m, &o->gemm, &own), op);
        const struct fd_experts *e = &w->experts;
        o->kernels = e->kernels / 2;
        o->kernel = FD_VENDOR;
        o->cost = (struct fd_cost){.bytes = op->weight_bytes / o->count + o->gemm.extra_bytes};
        o->cost.seconds = o->kernels * m->vendor.kernel_fixed_s + (up ? e->up_s : e->down_s + e->elementwise_s);
        o->compute_bound = o->cost.seconds > 2 * o->cost.bytes / m->vendor.stream;
    } else {
        o->cost = fd_linear(m, &o->gemm, &o->kernel);
        o->compute_bound = o->cost.compute_bound;
    }
    o->bytes = o->count * o->cost.bytes;
    take(w, o, o->cost.seconds);
    sum_linear(w, o);
}

/* ---- attention -------------------------------------------------------------------------------------------------------------- */

/* E37. Keys and values that are made in the pass come from the last-level cache as far as it holds them. */
void fd_shape_of(struct fd_attention_shape *ret, const struct fd_machine *m, const struct dse_attention *a)
{
    const struct fd_params *p = m->p;
    const double rows = (double)(a->sequences * a->positions);
    const bool prefill = p->workload.phase == DSE_PREFILL, shared = a->values_in_keys || a->is_index;
    const double made = rows * (double)(a->heads * (a->key_dim + a->value_dim)) * FD_ACTIVATION_BYTES;
    const double cached = a->is_index ? 0 : a->cached_elements,
                 cached_bytes = a->is_index ? 0 : a->cached_bytes; /* of a position */
    *ret = (struct fd_attention_shape){
        .prompt = prefill || a->queries > p->attention_tile,
        .tensor = shared || a->queries > 1,
        .latent = shared,
        .limited = a->pairs < (double)a->queries * ((double)a->queries + 1) / 2 || a->positions > a->queries,
        .sequences = (double)a->sequences,
        .queries = (double)a->queries,
        .positions = (double)a->positions,
        .pairs = a->pairs,
        .heads = (double)a->heads,
        .kv_heads = (double)a->kv_heads,
        .key_dim = (double)a->key_dim,
        .value_dim = (double)a->value_dim,
        .bytes =
            a->is_made ? dse_max(0, made - (p->kernel_losses == FD_MEASURED ? 0 : m->l2)) : rows * (a->key_bytes + a->value_bytes),
        .exponents = a->is_index ? 1 : FD_SOFTMAX_OPS,
        .widened = dse_cache_widening(&p->workload) * rows * cached,
        .written_bytes = (double)(a->sequences * a->queries) * (cached * FD_ACTIVATION_BYTES + cached_bytes)};
    if (a->values_in_keys && !ret->prompt && p->latent_heads > 0) { /* E32: a block of fewer heads reads keys, and then values */
        const double apart = dse_ceil(ret->heads / (double)p->latent_heads);
        ret->kv_heads = apart;
        ret->bytes = rows * apart * (double)(a->key_dim + a->value_dim) * dse_key_bytes(&p->workload);
    }
    ret->row_bytes = ret->bytes / (rows * ret->kv_heads);
}

static void add_attention(struct walk *w, const struct dse_op *op)
{
    enum { DECODE_KERNELS = 2 };
    const struct fd_params *p = w->m->p;
    const struct dse_attention *a = &w->ops->attention[op->attention];
    const double layers = (double)a->layers;
    struct fd_step *s = w->s;
    struct fd_part *o = add_part(w, op, FD_PART_ATTENTION, layers, 1);
    fd_shape_of(&o->shape, w->m, a);
    if (!o->shape.prompt) o->kernels = DECODE_KERNELS;
    fd_attention_law_of(&o->law, w->m, &o->shape);
    const double alone = dse_max(o->law.compute_s, o->law.load_s), asynchronous = p->softmax == FD_ASYNCHRONOUS;
    const double factor = a->is_index ? 1 : asynchronous > 0 ? fd_async_factor(p) : fd_sync_factor(p);
    *(asynchronous > 0 ? &o->again_s : &o->sync_s) = layers * alone * (factor - 1);
    o->bytes = layers * o->law.bytes;
    o->ops = layers * o->law.products;
    o->compute_bound = o->law.compute_s > o->law.load_s;
    take(w, o, alone * factor + o->law.fixed_s);
    s->attention_s += o->seconds;
    s->attention_wait_s += o->wait_s;
    s->stream_s += layers * (alone + o->law.fixed_s);
    s->sync_s += o->sync_s;
    s->recompute_s += o->again_s;
    s->attention_bytes += o->bytes;
    s->attention_ops += o->ops;
}

/* ---- the rest --------------------------------------------------------------------------------------------------------------- */

/* E39. States come from the DRAM and go back to it. In a prompt, chunks of positions are products on tensor cores. */
static void add_state(struct walk *w, const struct dse_op *op)
{
    const struct fd_machine *m = w->m;
    const struct fd_params *p = m->p;
    const bool measured = p->kernel_losses == FD_MEASURED, prompt = p->workload.phase == DSE_PREFILL;
    struct fd_part *o = add_part(w, op, FD_PART_STATE, (double)op->repeat, 1);
    o->bytes = op->kv_read_bytes + op->kv_write_bytes;
    const double load_s = o->bytes / o->count / (measured ? m->vendor.stream : m->bandwidth * p->attention_efficiency);
    const double rate = prompt ? m->tensor_peak * p->compute_efficiency : m->vector_peak, compute_s = o->ops / o->count / rate;
    const double fixed_s = measured                       ? m->vendor.kernel_fixed_s
                           : p->kernel_losses == FD_APART ? p->memory_latency_ns / FD_NS_PER_S
                                                          : 0;
    o->compute_bound = compute_s > load_s;
    take(w, o, dse_max(load_s, compute_s) + fixed_s);
    w->s->state_s += o->seconds;
    w->s->linear_bytes += o->bytes;
    w->s->other_ops += o->ops;
}

/* E14, E15: those of all layers; fused ones hide behind the linear operators. */
static void add_scalars(struct walk *w, const struct dse_op *op)
{
    struct fd_step *s = w->s;
    const double kernels = (double)w->m->p->elementwise_kernels, seconds = op->ops / w->m->vector_peak;
    s->elementwise_ops += op->ops;
    if (kernels <= 0) return;
    struct fd_part *o = add_part(w, op, FD_PART_SCALARS, (double)op->repeat, kernels);
    take(w, o, seconds / o->count);
    s->elementwise_s += o->seconds;
    s->elementwise_wait_s += o->wait_s;
}

static bool same_exchange(const struct dse_exchange *a, const struct dse_exchange *b)
{
    return b && a->kind == b->kind && a->devices == b->devices && a->stride == b->stride && a->bytes == b->bytes &&
           a->imbalance == b->imbalance;
}

static void add_exchange(struct walk *w, const struct dse_op *op)
{
    const struct dse_exchange *x = &op->exchange;
    struct fd_part *o = add_part(w, op, FD_PART_EXCHANGE, (double)op->repeat, 1);
    struct dse_exchange_cost cost;
    if (same_exchange(x, w->sent)) {
        cost = w->cost;
    } else {
        fd_exchange_at(&w->link, x, &cost);
    }
    w->sent = x;
    w->cost = cost;
    o->each_s = cost.seconds;
    o->seconds = o->count * cost.seconds;
    o->wait_s = 0;
    w->s->allreduce_s += o->seconds;
    w->s->link_j += o->count * cost.joules;
    w->s->launches += o->count;
}

static void add_operator(struct walk *w, const struct dse_op *op)
{
    switch (op->kind) {
    case DSE_OP_LINEAR:
        if (op->ops <= 0) break;
        if (fd_is_experts(op))
            add_experts(w, op, op->role == DSE_ROLE_EXPERT_UP);
        else
            add_linear(w, op);
        break;
    case DSE_OP_SCORES: add_attention(w, op); break;
    case DSE_OP_VALUES: break;
    case DSE_OP_ELEMENTWISE:
        if (!op->in_attention) add_scalars(w, op);
        break;
    case DSE_OP_RECURRENCE: add_state(w, op); break;
    case DSE_OP_COLLECTIVE: /* E15 has no gathering of the logits */
        if (op->exchange.kind != DSE_ALL_GATHER) add_exchange(w, op);
        break;
    }
}

void fd_step_parts(struct fd_step *s, const struct fd_machine *m)
{
    fd_step_parts_drawn(s, m, NULL);
}

void fd_step_parts_drawn(struct fd_step *s, const struct fd_machine *m, const struct dse_draw *draw)
{
    struct dse_oplist ops;
    struct walk w;
    w.m = m;
    w.ops = &ops;
    w.s = s;
    w.draw = draw;
    w.sent = NULL;
    fd_link_init(&w.link, m->p);
    dse_workload_expand_drawn(&m->p->workload, -1, draw, &ops);
    const struct dse_workload *work = &m->p->workload;
    s->kept = dse_workload_kept_bytes(work, &ops);
    s->footprint = work->context_spread > 0 ? dse_workload_footprint(work) : dse_workload_footprint_beside(work, &ops, s->kept);
    for (int i = 0; i < ops.n; i++) add_operator(&w, &ops.op[i]);
    double attention_compute_s = 0;
    for (int i = 0; i < s->n_parts; i++)
        if (s->part[i].kind == FD_PART_ATTENTION) attention_compute_s += s->part[i].compute_bound ? s->part[i].seconds : 0;
    s->attention_compute_bound = attention_compute_s > s->attention_s / 2;
    if (m->p->elementwise_kernels == 0) s->elementwise_s = dse_max(0, s->elementwise_ops / m->vector_peak - s->linear_s);
}

void fd_step_passes(struct fd_step *s, const struct fd_params *p)
{
    const double stages = (double)dse_degree(p->workload.pipeline_parallel), passes = (double)dse_workload_passes(&p->workload);
    if (stages <= 1) return;
    const double pass_s = s->linear_s + s->attention_s + s->elementwise_s + s->allreduce_s + s->state_s;
    double *const sums[] = {&s->linear_s,           &s->linear_bytes, &s->attention_s, &s->attention_bytes, &s->attention_ops,
                            &s->stream_s,           &s->sync_s,       &s->recompute_s, &s->elementwise_s,   &s->elementwise_ops,
                            &s->elementwise_wait_s, &s->allreduce_s,  &s->link_j,      &s->state_s,         &s->other_ops,
                            &s->attention_wait_s,   &s->wait_s,       &s->launches};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] *= passes;
    for (int i = 0; i < s->n_parts; i++) {
        struct fd_part *o = &s->part[i];
        o->seconds *= passes;
        o->wait_s *= passes;
        o->bytes *= passes;
        o->ops *= passes;
        o->charged *= passes;
    }
    s->bubble_s = (stages - passes) * pass_s;
}

/* What of layers of other kinds stands for the operators of E1: the first role that the LLM has operators of. A row of fewer roles
 * repeats its last one. */
enum { STANDING = 3 };
static const enum dse_op_role standing[FD_LINEARS][STANDING] = {
    {DSE_ROLE_QUERY_KEY_VALUE, DSE_ROLE_QUERY_UP, DSE_ROLE_STATE_PROJECTION},
    {DSE_ROLE_ATTENTION_OUTPUT, DSE_ROLE_STATE_OUTPUT, DSE_ROLE_STATE_OUTPUT},
    {DSE_ROLE_FFN_UP, DSE_ROLE_EXPERT_UP, DSE_ROLE_SHARED_UP},
    {DSE_ROLE_FFN_DOWN, DSE_ROLE_EXPERT_DOWN, DSE_ROLE_SHARED_DOWN},
    {DSE_ROLE_OUTPUT_HEAD, DSE_ROLE_OUTPUT_HEAD, DSE_ROLE_OUTPUT_HEAD},
};

int fd_gemm_operator(const struct dse_oplist *ops, enum fd_gemm_choice which)
{
    int last = 0;
    for (int k = 0; k < STANDING; k++)
        for (int i = 0; i < ops->n; i++) {
            const struct dse_op *op = &ops->op[i];
            if (op->kind != DSE_OP_LINEAR || op->ops <= 0) continue;
            if (op->role == standing[which][k] && !op->is_draft) return i;
            last = i;
        }
    return last;
}

struct fd_gemm fd_gemm_of_parts(const struct fd_step *s, const struct fd_params *p, enum fd_gemm_choice which)
{
    if (which == FD_GIVEN) return fd_gemm_of(p, which);
    const struct fd_part *last = &s->part[0];
    for (int k = 0; k < STANDING; k++)
        for (int i = 0; i < s->n_parts; i++) {
            const struct fd_part *o = &s->part[i];
            if (o->kind != FD_PART_LINEAR && o->kind != FD_PART_EXPERTS) continue;
            if (o->role == standing[which][k] && !o->is_draft) return o->gemm;
            last = o;
        }
    return last->gemm;
}
