/* Feed-forward networks as operators: dense, and routed and shared experts. */
#include "workload/expand.h"

#include <dse/num.h>
#include <dse/units.h>

/* How experts lie on the chips of a stage. */
struct dealt {
    int64_t parts;               /* chips that share one expert's width */
    struct experts_at_work work; /* of one chip */
};

static struct dealt deal(const struct expansion *x, const struct dse_layer_shape *s)
{
    const int64_t groups = dse_degree(x->w->expert_parallel), parts = dse_max_i64(1, x->tensor / groups);
    const double joined = (double)dse_max_i64(1, groups / x->tensor); /* data groups whose tokens meet */
    const struct experts_at_work work = expand_experts(x, llm_choice(s), joined * (double)x->rows, (double)groups);
    return (struct dealt){.parts = parts, .work = work};
}

/* Rows of an expert with work; whole where only rounding keeps them from it. */
static double rows_of(const struct experts_at_work *work)
{
    const double each = work->touched > 0 ? work->rows / work->touched : 0, whole = dse_floor(each + 0.5);
    return fabs(each - whole) < 1e-9 * whole ? whole : each;
}

/* One matrix of the experts that have work. */
static struct dse_op *add_matrix(struct expansion *x, enum dse_op_role role, int64_t layers, const struct dealt *d, int64_t k,
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

/* The routed experts of layers that are alike. */
static void add_experts(struct expansion *x, const struct dse_layer_shape *s, int64_t layers)
{
    const struct dealt d = deal(x, s);
    const int64_t inner = expand_share(s->moe.expert_ffn, d.parts), width = llm_expert_width(x->llm, s);
    struct dse_op *up = add_matrix(x, DSE_ROLE_EXPERT_UP, layers, &d, width, (s->ffn_matrices - 1) * inner);
    add_up(up, s);
    up->choice = llm_choice(s);
    add_matrix(x, DSE_ROLE_EXPERT_DOWN, layers, &d, inner, width)->choice = up->choice;
}

/* Layers of which the networks are alike, of kinds of layers from this one on. */
static int64_t layers_with_network(const struct expansion *x, size_t first)
{
    int64_t layers = 0;
    for (size_t i = first; i < x->llm->n_kinds; i++) layers += x->llm->kinds[i].same_network == first ? x->layers[i] : 0;
    return layers;
}

/* Kinds with experts that have all but the experts alike, of which `first` is the first. */
static void experts(struct expansion *x, size_t first)
{
    const struct dse_llm *llm = x->llm;
    const struct dse_layer_shape *s = &llm->kinds[first].shape;
    const struct dse_llm_experts *e = &s->moe;
    const int64_t hidden = llm->hidden, width = llm_expert_width(llm, s), shared = expand_share(e->shared_ffn, x->tensor);
    int64_t layers = 0;
    for (size_t i = first; i < llm->n_kinds; i++) layers += llm->kinds[i].same_shared == first ? x->layers[i] : 0;
    if (layers == 0) return;
    expand_linear(x, DSE_ROLE_ROUTER, layers, x->rows, hidden, llm_routes(e) + (e->shared_gate ? 1 : 0));
    if (e->expert_latent > 0) expand_linear(x, DSE_ROLE_EXPERT_LATENT_DOWN, layers, x->rows, hidden, width);
    for (size_t i = first; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        const int64_t own = k->same_shared == first && k->same_network == i ? layers_with_network(x, i) : 0;
        if (own > 0) add_experts(x, &k->shape, own);
    }
    if (e->expert_latent > 0) expand_linear(x, DSE_ROLE_EXPERT_LATENT_UP, layers, x->rows, width, hidden);
    if (shared == 0) return;
    add_up(expand_linear(x, DSE_ROLE_SHARED_UP, layers, x->rows, hidden, (s->ffn_matrices - 1) * shared), s);
    expand_linear(x, DSE_ROLE_SHARED_DOWN, layers, x->rows, shared, hidden);
}

/* Kinds with the same dense network, of which `first` is the first. */
static void dense(struct expansion *x, size_t first)
{
    const struct dse_layer_shape *s = &x->llm->kinds[first].shape;
    const int64_t layers = layers_with_network(x, first);
    if (layers == 0) return;
    const int64_t ffn = expand_share(s->ffn, x->tensor), hidden = x->llm->hidden;
    add_up(expand_linear(x, DSE_ROLE_FFN_UP, layers, x->rows, hidden, (s->ffn_matrices - 1) * ffn), s);
    expand_linear(x, DSE_ROLE_FFN_DOWN, layers, x->rows, ffn, hidden);
}

void expand_networks(struct expansion *x)
{
    const struct dse_llm *llm = x->llm;
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].same_network == i && llm->kinds[i].feed_forward == DSE_FFN_DENSE) dense(x, i);
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].same_shared == i && llm->kinds[i].feed_forward == DSE_FFN_EXPERTS) experts(x, i);
}

double expand_network_scalars(const struct expansion *x, const struct dse_layer_kind *k)
{
    const struct dse_layer_shape *s = &k->shape;
    const double each = s->ffn_matrices == 3 ? OPS_GATED : OPS_ACTIVATION;
    if (k->feed_forward == DSE_FFN_DENSE) return each * (double)expand_share(s->ffn, x->tensor);
    if (k->feed_forward != DSE_FFN_EXPERTS) return 0;
    /* the choice among experts, the weighted sum of their outputs */
    const struct dealt d = deal(x, s);
    const double rows = d.work.rows / dse_max(1, (double)x->rows), sum = 2 * rows * (double)x->llm->hidden;
    return OPS_SOFTMAX * (double)llm_routes(&s->moe) + sum +
           each * (rows * (double)expand_share(s->moe.expert_ffn, d.parts) + (double)expand_share(s->moe.shared_ffn, x->tensor));
}
