/* Feed-forward networks as operators: dense, and routed and shared experts. */
#include "workload/expand.h"

#include <dse/num.h>
#include <dse/units.h>

/* How experts lie on the chips of a stage. */
struct dealt {
    int64_t parts;               /* chips that share one expert's width */
    struct experts_at_work work; /* of one chip */
};

static struct dealt deal(const struct expansion *x)
{
    const int64_t groups = dse_degree(x->w->expert_parallel), parts = dse_max_i64(1, x->tensor / groups);
    const double joined = (double)dse_max_i64(1, groups / x->tensor); /* data groups whose tokens meet */
    struct dealt ret = {.parts = parts, .work = expand_experts(x, joined * (double)x->rows, (double)groups)};
    return ret;
}

/* Rows of an expert with work; whole where only rounding keeps them from it. */
static double rows_of(const struct experts_at_work *work)
{
    const double each = work->touched > 0 ? work->rows / work->touched : 0, whole = dse_floor(each + 0.5);
    return fabs(each - whole) < 1e-9 * whole ? whole : each;
}

/* The matrices of the experts that have work. */
static struct dse_op *add_experts(struct expansion *x, enum dse_op_role role, int64_t layers, const struct dealt *d, int64_t k,
                                  int64_t n)
{
    const double touched = d->work.touched, rows = rows_of(&d->work);
    struct dse_op *op = expand_linear(x, role, layers, (int64_t)dse_ceil(rows), k, n);
    const double elements = (double)op->repeat * (double)k * (double)n;
    op->copies = touched;
    op->rows = rows;
    op->weight_bytes = touched * elements * op->element_bytes;
    op->held_bytes = d->work.held * elements * op->element_bytes;
    op->ops = DSE_OPS_PER_MAC * elements * d->work.rows;
    return op;
}

/* What makes the inner width of a network, the gate with it where there is one. */
static void add_up(struct dse_op *op, const struct dse_layer_shape *s)
{
    enum { WITH_GATE = 3 }; /* matrices of a network */
    op->has_gate = s->ffn_matrices == WITH_GATE;
}

static void experts(struct expansion *x, const struct dse_layer_shape *s, int64_t layers)
{
    const struct dse_llm_experts *e = &s->moe;
    const int64_t hidden = x->llm->hidden, up = s->ffn_matrices - 1, width = e->expert_latent > 0 ? e->expert_latent : hidden;
    const struct dealt d = deal(x);
    const int64_t inner = expand_share(e->expert_ffn, d.parts), shared = expand_share(e->shared_ffn, x->tensor);
    expand_linear(x, DSE_ROLE_ROUTER, layers, x->rows, hidden, e->experts + (e->shared_gate ? 1 : 0));
    if (e->expert_latent > 0) expand_linear(x, DSE_ROLE_EXPERT_LATENT_DOWN, layers, x->rows, hidden, width);
    add_up(add_experts(x, DSE_ROLE_EXPERT_UP, layers, &d, width, up * inner), s);
    add_experts(x, DSE_ROLE_EXPERT_DOWN, layers, &d, inner, width);
    if (e->expert_latent > 0) expand_linear(x, DSE_ROLE_EXPERT_LATENT_UP, layers, x->rows, width, hidden);
    if (shared == 0) return;
    add_up(expand_linear(x, DSE_ROLE_SHARED_UP, layers, x->rows, hidden, up * shared), s);
    expand_linear(x, DSE_ROLE_SHARED_DOWN, layers, x->rows, shared, hidden);
}

static void dense(struct expansion *x, const struct dse_layer_shape *s, int64_t layers)
{
    const int64_t ffn = expand_share(s->ffn, x->tensor), hidden = x->llm->hidden;
    add_up(expand_linear(x, DSE_ROLE_FFN_UP, layers, x->rows, hidden, (s->ffn_matrices - 1) * ffn), s);
    expand_linear(x, DSE_ROLE_FFN_DOWN, layers, x->rows, ffn, hidden);
}

/* Networks that are alike, of all kinds of layers. */
static void expand_networks_of(struct expansion *x, enum dse_feed_forward network,
                               void (*expand)(struct expansion *, const struct dse_layer_shape *, int64_t))
{
    const struct dse_llm *llm = x->llm;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        int64_t layers = 0;
        if (llm->kinds[i].same_network != i || llm->kinds[i].feed_forward != (int32_t)network) continue;
        for (size_t j = i; j < llm->n_kinds; j++) layers += llm->kinds[j].same_network == i ? x->layers[j] : 0;
        if (layers > 0) expand(x, &llm->kinds[i].shape, layers);
    }
}

void expand_networks(struct expansion *x)
{
    expand_networks_of(x, DSE_FFN_DENSE, dense);
    expand_networks_of(x, DSE_FFN_EXPERTS, experts);
}

double expand_network_scalars(const struct expansion *x, const struct dse_layer_kind *k)
{
    const struct dse_layer_shape *s = &k->shape;
    const double each = s->ffn_matrices == 3 ? OPS_GATED : OPS_ACTIVATION;
    if (k->feed_forward == DSE_FFN_DENSE) return each * (double)expand_share(s->ffn, x->tensor);
    if (k->feed_forward != DSE_FFN_EXPERTS) return 0;
    /* the choice among experts, the weighted sum of their outputs */
    const struct dealt d = deal(x);
    const double rows = d.work.rows / dse_max(1, (double)x->rows), sum = 2 * rows * (double)x->llm->hidden;
    return OPS_SOFTMAX * (double)s->moe.experts + sum +
           each * (rows * (double)expand_share(s->moe.expert_ffn, d.parts) + (double)expand_share(s->moe.shared_ffn, x->tensor));
}
