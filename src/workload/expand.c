/* The expansion of a step into operators. */
#include "workload/expand.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>

static void count_layers(struct expansion *x)
{
    const struct dse_llm *llm = x->llm;
    const struct dse_layer_kind *only = x->one_layer ? &llm->kinds[llm->n_kinds - 1] : NULL;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        x->layers[i] = only ? (k == only ? x->times : 0) : expand_layers(x, k->layers);
    }
}

static int64_t all_layers(const struct expansion *x)
{
    int64_t layers = 0;
    for (size_t i = 0; i < x->llm->n_kinds; i++) layers += x->layers[i];
    return layers;
}

/* Blocks whose sums a sublayer weighs, as a mean over the layers: those before its own, and its own. */
static double blocks_weighed(const struct dse_llm *llm)
{
    const int64_t block = llm->residual.residual_block, whole = llm->layers / block, rest = llm->layers % block;
    const int64_t before = block * (whole * (whole - 1) / 2) + rest * whole;
    return 1 + (double)before / (double)llm->layers;
}

/* Of a token in a layer, where sublayers weigh sums of blocks: a norm of each, its product with a query, and the weighted sum. */
static double weighing_scalars(const struct dse_llm *llm)
{
    enum { SUBLAYERS = 2 };
    if (llm->residual.residual_block == 0) return 0;
    return SUBLAYERS * blocks_weighed(llm) * (OPS_NORM + 2 * DSE_OPS_PER_MAC) * (double)llm->hidden;
}

/* Of a token in a layer: AltUp predicts each stream of all of them, asks its router again and corrects each by what the layer has
 * changed, with a norm before each choice of coefficients; a low rank beside attention has a norm and is added. */
static double residual_scalars(const struct dse_llm *llm)
{
    const double streams = (double)llm->residual.residual_streams, hidden = (double)llm->hidden;
    const bool altup = streams > 0 && llm->residual.altup;
    return (altup ? DSE_OPS_PER_MAC * streams * (streams + 2) * hidden + 2 * OPS_NORM * hidden : 0) +
           (llm->residual.residual_rank > 0 ? (OPS_NORM + OPS_RESIDUAL) * hidden : 0) + weighing_scalars(llm);
}

/* Norms, rotary embedding, residuals, activation functions and gates of all layers. */
static void add_scalars(struct expansion *x)
{
    const double hidden = (double)x->llm->hidden;
    double scalars = 0;
    int64_t all = 0;
    for (size_t i = 0; i < x->llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &x->llm->kinds[i];
        const int64_t layers = x->layers[i];
        const double norms = (double)dse_max_i64(1, k->shape.details.norms);
        const double sublayers = (k->attention != DSE_NO_MIXER) + (k->feed_forward != DSE_NO_FFN);
        if (layers == 0) continue;
        all += layers;
        scalars += (double)layers * (expand_mixer_scalars(x, k) + sublayers * (norms * OPS_NORM + OPS_RESIDUAL) * hidden +
                                     expand_network_scalars(x, k));
    }
    scalars += (double)all * residual_scalars(x->llm);
    expand_elementwise(x, DSE_ROLE_ELEMENTWISE, all, x->rows, x->llm->hidden, (double)x->rows * scalars);
}

static void add_head(struct expansion *x)
{
    const int64_t answers = x->sequences * (x->w->phase == DSE_DECODE ? x->queries : 1);
    expand_linear(x, DSE_ROLE_OUTPUT_HEAD, x->times, answers, x->llm->hidden, expand_share(x->llm->vocab, x->tensor));
}

/* The inputs that layers have of their own. Every chip of a tensor group makes a share of their width. */
static void add_layer_inputs(struct expansion *x)
{
    const int64_t hidden = x->llm->hidden, width = expand_share(x->llm->inputs.layer_input, x->tensor), layers = all_layers(x);
    if (width == 0) return;
    expand_linear(x, DSE_ROLE_LAYER_INPUTS, x->times, x->rows, hidden, x->one_layer ? width : layers / x->times * width);
    expand_linear(x, DSE_ROLE_LAYER_INPUT_IN, layers, x->rows, hidden, width);
    expand_linear(x, DSE_ROLE_LAYER_INPUT_OUT, layers, x->rows, width, hidden);
}

/* What mixes the streams of the residual, before and behind each sublayer, and makes one of them at the end. */
static void add_hyper_connections(struct expansion *x)
{
    const int64_t streams = x->llm->residual.residual_streams, width = streams * x->llm->hidden;
    expand_linear(x, DSE_ROLE_HYPER_CONNECTION, 2 * all_layers(x), x->rows, width, llm_mixing(streams));
    expand_linear(x, DSE_ROLE_HYPER_CONNECTION, x->times, x->rows, width, streams);
}

/* AltUp: other streams are made of the embedding and joined at the end. */
static void add_altup(struct expansion *x)
{
    const int64_t hidden = x->llm->hidden, others = x->llm->residual.residual_streams - 1;
    expand_linear(x, DSE_ROLE_STREAM_IN, x->times * others, x->rows, hidden, hidden);
    expand_linear(x, DSE_ROLE_STREAM_ROUTER, all_layers(x), x->rows, hidden, x->llm->residual.residual_streams);
    expand_linear(x, DSE_ROLE_STREAM_OUT, x->times * others, x->rows, hidden, hidden);
}

/* Streams of the residual, and the low rank beside attention. */
static void add_residuals(struct expansion *x)
{
    const int64_t hidden = x->llm->hidden, rank = x->llm->residual.residual_rank;
    if (x->llm->residual.residual_streams > 0 && !x->llm->residual.altup) add_hyper_connections(x);
    if (x->llm->residual.residual_streams > 0 && x->llm->residual.altup) add_altup(x);
    if (rank == 0) return;
    expand_linear(x, DSE_ROLE_RESIDUAL_DOWN, all_layers(x), x->rows, hidden, rank);
    expand_linear(x, DSE_ROLE_RESIDUAL_UP, all_layers(x), x->rows, rank, hidden);
}

static void expand_stack(struct expansion *x)
{
    count_layers(x);
    expand_mixers(x);
    expand_networks(x);
    add_layer_inputs(x);
    add_residuals(x);
    add_scalars(x);
    add_head(x);
    expand_collectives(x);
}

/* Heads beside the LLM's own: each has one hidden layer with a residual, and an output head (Cai et al., arXiv:2401.10774). */
static void add_heads(struct expansion *x, int64_t k)
{
    const int64_t hidden = x->llm->hidden;
    expand_linear(x, DSE_ROLE_HEAD_LAYER, k, x->sequences, hidden, expand_share(hidden, x->tensor));
    expand_linear(x, DSE_ROLE_OUTPUT_HEAD, k, x->sequences, hidden, expand_share(x->llm->vocab, x->tensor));
}

/* Tokens are drafted one after another, each in a step of its own (but by heads: all at once). */
static void add_draft(const struct expansion *of, struct dse_oplist *list)
{
    const struct dse_speculation *s = &of->w->speculation;
    struct expansion x = *of;
    x.list = list;
    x.draft = true;
    x.times = s->draft_tokens;
    x.queries = 1;
    x.chunk = 0;
    x.rows = x.sequences;
    x.stages = 1;
    if (s->drafter == DSE_DRAFT_HEADS) {
        add_heads(&x, s->draft_tokens);
        return;
    }
    x.one_layer = s->drafter == DSE_DRAFT_LAYER;
    if (x.one_layer) /* the last hidden state and the new token's embedding become one input (EAGLE, DeepSeek-V3 Sec. 2.2) */
        expand_linear(&x, DSE_ROLE_JOIN, x.times, x.rows, 2 * x.llm->hidden, expand_share(x.llm->hidden, x.tensor));
    else
        x.llm = s->draft;
    expand_stack(&x);
}

/* Which operators are the first of their role, and the last of their kind. */
static void mark_ends(struct dse_oplist *list)
{
    bool seen[2][DSE_OP_ROLES] = {{false}};
    int last[DSE_OP_COLLECTIVE + 1];
    for (int k = 0; k <= DSE_OP_COLLECTIVE; k++) last[k] = -1;
    for (int i = 0; i < list->n; i++) {
        struct dse_op *op = &list->op[i];
        op->is_last = false;
        op->is_first = op->ops > 0 && !seen[op->is_draft][op->role];
        seen[op->is_draft][op->role] = seen[op->is_draft][op->role] || op->is_first;
        if (op->ops > 0) last[op->kind] = i;
    }
    for (int k = 0; k <= DSE_OP_COLLECTIVE; k++)
        if (last[k] >= 0) list->op[last[k]].is_last = true;
}

/* False: there are more operators than a list has room for. */
static bool expand(const struct dse_workload *w, int64_t read, const struct dse_draw *draw, struct dse_oplist *ret)
{
    const bool prefill = w->phase == DSE_PREFILL;
    const int64_t drafted = prefill ? 0 : w->speculation.draft_tokens;
    struct expand_drawn drawn = {0};
    bool full = false;
    struct expansion x = {.list = ret,
                          .w = w,
                          .draw = draw && draw->layers > 0 ? draw : NULL,
                          .drawn = &drawn,
                          .ret_full = &full,
                          .llm = w->llm,
                          .times = 1,
                          .sequences = dse_workload_sequences(w),
                          .queries = prefill ? w->context : 1 + drafted,
                          .chunk = prefill ? 0 : w->chunk_tokens,
                          .context = w->context + drafted,
                          .read = read < 0 ? -1 : read + drafted,
                          .tensor = dse_degree(w->tensor_parallel),
                          .stages = dse_degree(w->pipeline_parallel),
                          .by_class = !dse_formats_uniform(w->format),
                          .activation_bits = dse_workload_activation_bits(w, w->llm, DSE_WEIGHTS_DENSE),
                          .element_bytes = ((double)w->weight_bits + w->weight_scale_bits) / DSE_BITS_PER_BYTE,
                          .key_bytes = dse_key_bytes(w),
                          .value_bytes = dse_value_bytes(w),
                          .index_bytes = dse_index_bytes(w),
                          .state_bytes = dse_state_bytes(w)};
    x.rows = x.sequences * x.queries + x.chunk;
    ret->n = ret->n_attentions = 0;
    if (drafted > 0) add_draft(&x, ret);
    expand_stack(&x);
    mark_ends(ret);
    return !full;
}

void dse_workload_expand_drawn(const struct dse_workload *w, int64_t read, const struct dse_draw *draw, struct dse_oplist *ret)
{
    const bool fits = expand(w, read, draw, ret);
    assert(fits); /* dse_llm_resolve has asked expand_fits */
    (void)fits;
}

/* A step with all that adds operators: unequal contexts, a chunk of a prompt, a layer that drafts, several chips. */
bool expand_fits(const struct dse_llm *llm)
{
    enum { SOME = 4, MANY = 16 };
    const struct dse_workload w = {.llm = llm,
                                   .batch = MANY,
                                   .context = SOME,
                                   .context_spread = 1. / SOME,
                                   .chunk_tokens = 1,
                                   .latent_form = DSE_LATENT_ABSORBED,
                                   .speculation = {.draft_tokens = 1, .drafter = DSE_DRAFT_LAYER},
                                   .tensor_parallel = 2,
                                   .pipeline_parallel = 2,
                                   .data_parallel = 2,
                                   .expert_parallel = SOME};
    struct dse_oplist list;
    return expand(&w, -1, NULL, &list);
}

/* Those that draft stand before the LLM's in what a step with drafts expands to. */
static void append_drafts(const struct dse_workload *row, struct dse_oplist *ret)
{
    struct dse_oplist all;
    dse_workload_expand(row, &all);
    const int attentions = ret->n_attentions;
    for (int i = 0; i < all.n_attentions && all.attention[i].is_draft; i++) {
        struct dse_attention *a = &ret->attention[ret->n_attentions++];
        *a = all.attention[i];
        if (a->projection >= 0) a->projection = (int16_t)(a->projection + ret->n); /* drafts stand first in the other list */
    }
    for (int i = 0; i < all.n && all.op[i].is_draft; i++) {
        struct dse_op *op = &ret->op[ret->n++];
        *op = all.op[i];
        if (op->attention >= 0) op->attention = (int8_t)(op->attention + attentions);
    }
}

void dse_workload_expand_row(const struct dse_workload *w, struct dse_oplist *ret)
{
    struct dse_workload row = *w;
    row.phase = DSE_DECODE;
    row.batch = row.context = 1;
    row.context_spread = 0;
    row.chunk_tokens = row.speculation.draft_tokens = 0;
    dse_workload_expand(&row, ret);
    if (w->speculation.draft_tokens == 0) return;
    row.speculation.draft_tokens = w->speculation.draft_tokens;
    append_drafts(&row, ret);
}

void dse_workload_expand_reading(const struct dse_workload *w, int64_t read, struct dse_oplist *ret)
{
    dse_workload_expand_drawn(w, read, NULL, ret);
}

void dse_workload_expand(const struct dse_workload *w, struct dse_oplist *ret)
{
    dse_workload_expand_reading(w, -1, ret);
}
