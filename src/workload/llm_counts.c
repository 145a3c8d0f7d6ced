/* Parameters, cache and multiply-adds of an LLM, kind of layer by kind of layer: docs/explanation/llms.md has the equations. */
#include "workload/llm.h"

#include <dse/llm.h>
#include <dse/units.h>

#include <string.h>

/* What one sublayer has: matrices by class, what is no matrix, and of that what belongs to routed experts; of the routed experts'
 * matrices and of the rest what a token uses; of all that what no token uses. */
struct part {
    int64_t matrices[DSE_WEIGHT_CLASSES], small, routed_small, used, used_small, idle[DSE_WEIGHT_CLASSES], idle_small;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Columns of keys and values that a layer makes of one position. */
static int64_t made_columns(const struct dse_layer_shape *s)
{
    if (s->cache.shares_cache) return 0;
    return s->kv_heads * (s->head_dim + (s->cache.values_from_keys ? 0 : llm_value_dim(s)));
}

static struct part attention(const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const struct dse_llm_details *d = &s->details;
    const int64_t q = s->heads * s->head_dim, made = made_columns(s), keys = made > 0 ? s->kv_heads * s->head_dim : 0;
    const int64_t idle = s->cache.idle_keys ? s->kv_heads * (s->head_dim + llm_value_dim(s)) : 0;
    struct part p = {.matrices[DSE_WEIGHTS_ATTENTION] =
                         llm->hidden * (q + llm_gate(s, s->heads) + made + idle) + s->heads * llm_value_dim(s) * llm->hidden,
                     .idle[DSE_WEIGHTS_ATTENTION] = llm->hidden * idle};
    if (d->qkv_bias) p.small += q + made;
    if (d->output_bias) p.small += llm->hidden;
    if (d->attention_sinks) p.small += s->heads;
    if (d->qk_norm == DSE_QK_NORM_HEAD) p.small += made + idle > 0 ? 2 * s->head_dim : s->head_dim;
    if (d->qk_norm == DSE_QK_NORM_HEAD && idle > 0) p.idle_small += s->head_dim;
    if (d->qk_norm == DSE_QK_NORM_SHIFT) p.small += 4 * s->head_dim;
    if (d->qk_norm == DSE_QK_NORM_FULL) p.small += q + keys;
    return p;
}

/* An indexer beside grouped queries: queries and one key from the hidden state, a norm of each. */
static struct part chosen_attention(const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    struct part p = attention(llm, s);
    p.matrices[DSE_WEIGHTS_INDEXER] += llm->hidden * (m->index_heads + 1) * m->index_dim;
    p.small += 2 * m->index_dim;
    return p;
}

static struct part latent_attention(const struct dse_llm *llm, const struct dse_layer_shape *s, bool top_k)
{
    const struct dse_llm_latent *m = &s->latent;
    const int64_t key = m->nope_dim + m->rope_dim;
    const int64_t gate = llm_latent_gate(s, s->heads);
    struct part p = {.matrices[DSE_WEIGHTS_ATTENTION] = llm->hidden * (m->kv_rank + m->rope_dim + gate) +
                                                        m->kv_rank * s->heads * (m->nope_dim + m->v_head_dim) +
                                                        s->heads * m->v_head_dim * llm->hidden,
                     .small = m->kv_rank};
    p.matrices[DSE_WEIGHTS_ATTENTION] +=
        m->q_rank ? llm->hidden * m->q_rank + m->q_rank * s->heads * key : llm->hidden * s->heads * key;
    p.small += m->q_rank;
    if (top_k) { /* the indexer: queries, one key, weights of the heads; a norm of the key with scale and shift */
        p.matrices[DSE_WEIGHTS_INDEXER] +=
            m->q_rank * m->index_heads * m->index_dim + llm->hidden * (m->index_dim + m->index_heads);
        p.small += 2 * m->index_dim;
    }
    return p;
}

static struct part compressed_attention(const struct dse_llm *llm, const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    const struct dse_llm_compression *c = &s->compression;
    const int64_t q = s->heads * s->head_dim, width = c->compress_width * s->head_dim, index = c->compress_width * m->index_dim;
    struct part p = {.matrices[DSE_WEIGHTS_ATTENTION] = llm->hidden * (m->q_rank + s->head_dim) + m->q_rank * q +
                                                        q * c->output_rank + c->output_groups * c->output_rank * llm->hidden,
                     .small = m->q_rank + s->head_dim + (s->details.attention_sinks ? s->heads : 0)};
    if (c->compress_ratio > 0) { /* what is mixed, and by how much: a bias for each position of a block, and a norm */
        p.matrices[DSE_WEIGHTS_ATTENTION] += llm->hidden * 2 * width;
        p.small += c->compress_ratio * width + s->head_dim;
    }
    if (m->index_topk > 0) {
        p.matrices[DSE_WEIGHTS_INDEXER] += llm->hidden * (2 * index + m->index_heads) + m->q_rank * m->index_heads * m->index_dim;
        p.small += c->compress_ratio * index + m->index_dim;
    }
    return p;
}

static struct part delta_rule(const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t keys = s->state_key_heads * s->state_key_dim, values = s->state_value_heads * s->state_value_dim;
    return (struct part){.matrices[DSE_WEIGHTS_RECURRENT] =
                             llm->hidden * (2 * keys + 2 * values + 2 * s->state_value_heads) + values * llm->hidden,
                         .small = (2 * keys + values) * s->conv_kernel + 2 * s->state_value_heads + s->state_value_dim};
}

/* Decays, of heads, or with the full gate and a rank of a head's channels (Kimi-K3); their bias, convolutions; a norm. */
static struct part kda(const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t heads = s->state_value_heads, keys = heads * s->state_key_dim, values = heads * s->state_value_dim;
    const int64_t decays = s->state_full_gate && !s->state_full_decay ? s->state_key_dim : heads;
    return (struct part){.matrices[DSE_WEIGHTS_RECURRENT] = llm->hidden * llm_kda_projected(s, heads) +
                                                            s->state_value_dim * llm_kda_raised(s, heads) + values * llm->hidden,
                         .small = (2 * keys + values) * s->conv_kernel + decays + keys + s->state_value_dim};
}

/* q, k, v and the gate; a norm, and those of q and k. */
static struct part lightning(const struct dse_llm *llm, const struct dse_layer_shape *shape)
{
    const struct dse_llm_states *s = &shape->states;
    const int64_t d = s->state_value_heads * s->state_value_dim;
    const int64_t norms = shape->details.qk_norm == DSE_QK_NORM_HEAD ? 2 * s->state_key_dim : 0;
    return (struct part){.matrices[DSE_WEIGHTS_RECURRENT] = llm->hidden * 4 * d + d * llm->hidden, .small = d + norms};
}

static struct part mamba(const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t d = s->ssm_inner, dt_b_c = s->ssm_dt_rank + 2 * s->ssm_state;
    return (struct part){.matrices[DSE_WEIGHTS_RECURRENT] = llm->hidden * 2 * d + d * dt_b_c + s->ssm_dt_rank * d + d * llm->hidden,
                         .small = d * s->conv_kernel + 3 * d + d * s->ssm_state + (s->ssm_norms ? dt_b_c : 0)};
}

static struct part mamba2(const struct dse_llm *llm, const struct dse_llm_states *s)
{
    const int64_t d = s->ssm_inner, b_c = 2 * s->ssm_groups * s->ssm_state;
    return (struct part){.matrices[DSE_WEIGHTS_RECURRENT] = llm->hidden * (2 * d + b_c + s->ssm_heads) + d * llm->hidden,
                         .small = (d + b_c) * (s->conv_kernel + 1) + 3 * s->ssm_heads + (s->ssm_plain ? 0 : d)};
}

static struct part convolution(const struct dse_llm *llm, const struct dse_llm_states *s) /* two gates and the input; the output */
{
    return (struct part){.matrices[DSE_WEIGHTS_RECURRENT] = llm->hidden * 3 * llm->hidden + llm->hidden * llm->hidden,
                         .small = llm->hidden * s->conv_kernel};
}

static struct part mixer_part(const struct dse_llm *llm, const struct dse_layer_shape *s, int32_t mixer)
{
    switch ((enum dse_mixer)mixer) {
    case DSE_FULL:
    case DSE_WINDOW:
    case DSE_CHUNK: return attention(llm, s);
    case DSE_FULL_TOPK: return chosen_attention(llm, s);
    case DSE_LATENT:
    case DSE_LATENT_SHARED: return latent_attention(llm, s, false);
    case DSE_LATENT_TOPK: return latent_attention(llm, s, true);
    case DSE_COMPRESSED: return compressed_attention(llm, s);
    case DSE_DELTA: return delta_rule(llm, &s->states);
    case DSE_KDA: return kda(llm, &s->states);
    case DSE_LIGHTNING: return lightning(llm, s);
    case DSE_MAMBA: return mamba(llm, &s->states);
    case DSE_MAMBA2: return mamba2(llm, &s->states);
    case DSE_CONVOLUTION: return convolution(llm, &s->states);
    case DSE_NO_MIXER:
    case DSE_MIXERS: break;
    }
    return (struct part){0};
}

static struct part network_part(const struct dse_llm *llm, const struct dse_layer_shape *s, int32_t feed_forward)
{
    const struct dse_llm_experts *e = &s->moe;
    if (feed_forward == DSE_FFN_DENSE)
        return (struct part){.matrices[DSE_WEIGHTS_DENSE] = s->ffn_matrices * llm->hidden * s->ffn,
                             .small = s->details.network_bias ? (s->ffn_matrices - 1) * s->ffn + llm->hidden : 0};
    if (feed_forward != DSE_FFN_EXPERTS) return (struct part){0};
    const int64_t biases = llm_expert_biases(llm, s), one = llm_expert_elements(llm, s) - biases;
    return (struct part){
        .matrices[DSE_WEIGHTS_ROUTER] = llm->hidden * (llm_routes(e) + (e->shared_gate ? 1 : 0)),
        .matrices[DSE_WEIGHTS_SHARED] = s->ffn_matrices * llm->hidden * e->shared_ffn + 2 * llm->hidden * e->expert_latent,
        .matrices[DSE_WEIGHTS_EXPERTS] = e->experts * one,
        .used = e->experts_active * one,
        .used_small = e->experts_active * biases,
        .small = (e->router_bias ? llm_routes(e) : 0) + e->expert_norms * llm->hidden + (e->latent_norm ? e->expert_latent : 0),
        .routed_small = e->experts * biases};
}

bool dse_llm_keys_hold_values(const struct dse_llm *llm)
{
    bool ret = false;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const enum dse_mixer mixer = (enum dse_mixer)llm->kinds[i].attention;
        ret = ret || mixer == DSE_COMPRESSED || dse_llm_is_latent(mixer);
    }
    return ret;
}

bool dse_llm_is_latent(enum dse_mixer mixer)
{
    return mixer == DSE_LATENT || mixer == DSE_LATENT_TOPK || mixer == DSE_LATENT_SHARED;
}

int64_t dse_llm_positions_seen(const struct dse_layer_kind *k, int64_t context)
{
    if (k->attention == DSE_COMPRESSED) return least(context, llm_reach(k)) + llm_compressed_seen(&k->shape, context);
    if (k->attention == DSE_CHUNK) return (context - 1) % k->shape.attention_window + 1;
    if (!llm_is_grouped(k->attention) && !dse_llm_is_latent((enum dse_mixer)k->attention)) return 0;
    return llm_reach(k) > 0 ? least(context, llm_reach(k)) : context;
}

int64_t dse_llm_positions_kept(const struct dse_layer_kind *k, int64_t context)
{
    if (k->attention == DSE_WINDOW || k->attention == DSE_CHUNK) return least(context, k->shape.attention_window);
    if (k->attention == DSE_COMPRESSED) return least(context, k->shape.attention_window) + llm_compressed(&k->shape, context);
    return k->attention == DSE_FULL || k->attention == DSE_FULL_TOPK || dse_llm_is_latent((enum dse_mixer)k->attention) ? context
                                                                                                                        : 0;
}

/* Elements kept of one position in one layer. */
static int64_t row_elements(const struct dse_layer_kind *k)
{
    const struct dse_layer_shape *s = &k->shape;
    if (k->attention == DSE_COMPRESSED) return s->head_dim;
    if (llm_is_grouped(k->attention)) return s->cache.shares_cache ? 0 : s->kv_heads * (s->head_dim + llm_value_dim(s));
    return dse_llm_is_latent((enum dse_mixer)k->attention) ? s->latent.kv_rank + s->latent.rope_dim : 0;
}

/* The recurrent state of one layer, and the inputs of its convolution that are channels wide. */
static int64_t state_of(const struct dse_llm *llm, const struct dse_layer_kind *k, int64_t *ret_channels)
{
    const struct dse_llm_states *s = &k->shape.states;
    *ret_channels = 0;
    switch ((enum dse_mixer)llm_recurrence(k)) {
    case DSE_DELTA:
        *ret_channels = 2 * s->state_key_heads * s->state_key_dim + s->state_value_heads * s->state_value_dim;
        return s->state_value_heads * s->state_key_dim * s->state_value_dim;
    case DSE_KDA:
        *ret_channels = s->state_value_heads * (2 * s->state_key_dim + s->state_value_dim);
        return s->state_value_heads * s->state_key_dim * s->state_value_dim;
    case DSE_LIGHTNING: return s->state_value_heads * s->state_key_dim * s->state_value_dim;
    case DSE_MAMBA: *ret_channels = s->ssm_inner; return s->ssm_inner * s->ssm_state;
    case DSE_MAMBA2: *ret_channels = s->ssm_inner + 2 * s->ssm_groups * s->ssm_state; return s->ssm_inner * s->ssm_state;
    case DSE_CONVOLUTION: *ret_channels = llm->hidden; return 0;
    default: return 0;
    }
}

/* The delta rule reads the state with the key, adds an outer product and reads with the query; the others update and read. */
static int64_t recurrence_macs(const struct dse_llm *llm, const struct dse_layer_kind *k)
{
    int64_t channels, state = state_of(llm, k, &channels);
    const bool delta = llm_recurrence(k) == DSE_DELTA || llm_recurrence(k) == DSE_KDA;
    return (delta ? 3 : 2) * state + channels * k->shape.states.conv_kernel;
}

static int64_t attention_macs(const struct dse_layer_kind *k, int64_t context, enum dse_latent_form form)
{
    const struct dse_layer_shape *s = &k->shape;
    const struct dse_llm_latent *m = &s->latent;
    const int64_t seen = dse_llm_positions_seen(k, context);
    const int64_t index = llm_has_indexer(k) ? m->index_heads * m->index_dim * llm_indexed(k, context) : 0;
    if (k->attention == DSE_COMPRESSED) return s->heads * 2 * s->head_dim * seen + index;
    if (llm_is_grouped(k->attention)) return s->heads * (s->head_dim + llm_value_dim(s)) * seen + index;
    if (!dse_llm_is_latent((enum dse_mixer)k->attention)) return 0;
    if (form == DSE_LATENT_ABSORBED) return s->heads * (2 * m->kv_rank + m->rope_dim) * seen + index;
    return m->kv_rank * s->heads * (m->nope_dim + m->v_head_dim) * (seen - 1) + /* the newest is among the matrices */
           s->heads * (m->nope_dim + m->rope_dim + m->v_head_dim) * seen + index;
}

static int64_t norm_elements(const struct dse_llm *llm)
{
    return llm->details.plain_norms ? 0 : llm->details.norm_bias ? 2 * llm->hidden : llm->hidden;
}

/* Hyper-connections before and behind each sublayer, and what makes one stream of them at the end. */
static struct part hyper_connections(const struct dse_llm *llm)
{
    const int64_t streams = llm->residual.residual_streams, mixing = llm_mixing(streams), sites = 2 * llm->layers;
    enum { SCALES = 3 };
    return (struct part){.matrices[DSE_WEIGHTS_OTHER] = streams * llm->hidden * (sites * mixing + streams),
                         .small = sites * (mixing + SCALES) + streams + 1};
}

/* AltUp: matrices to the other streams and back; in each layer a router, its norm, a scale, and the coefficients that predict
 * and correct. */
static struct part altup(const struct dse_llm *llm)
{
    const int64_t streams = llm->residual.residual_streams, h = llm->hidden;
    return (struct part){.matrices[DSE_WEIGHTS_OTHER] = 2 * (streams - 1) * h * h + llm->layers * h * streams,
                         .small = llm->layers * (2 * h + streams * streams * (streams + 1))};
}

/* Streams of the residual, and a low rank beside attention, with a norm. */
static struct part residuals(const struct dse_llm *llm)
{
    const bool one = llm->residual.residual_streams == 0;
    struct part p = one ? (struct part){0} : llm->residual.altup ? altup(llm) : hyper_connections(llm);
    p.matrices[DSE_WEIGHTS_OTHER] += llm->layers * 2 * llm->hidden * llm->residual.residual_rank;
    p.small += llm->residual.residual_rank > 0 ? llm->layers * llm->hidden : 0;
    if (llm->residual.residual_block > 0)
        p.small += (2 * llm->layers + 1) * 2 * llm->hidden; /* a query and a norm of each weighing */
    return p;
}

static void add_part(struct part *sum, int64_t times, const struct part *p);

/* Layers of cross attention to images, which a text alone skips: norms of queries and keys by head, and a gate of each sublayer. */
static struct part cross_layers(const struct dse_llm *llm)
{
    enum { SUBLAYERS = 2 };
    struct dse_layer_shape s = llm->shape;
    struct part sum = {.small = llm->seeing.cross_layers * SUBLAYERS * (norm_elements(llm) + 1)};
    s.details.qk_norm = DSE_QK_NORM_HEAD;
    const struct part parts[] = {attention(llm, &s), network_part(llm, &s, DSE_FFN_DENSE)};
    for (int i = 0; i < SUBLAYERS; i++) add_part(&sum, llm->seeing.cross_layers, &parts[i]);
    memcpy(sum.idle, sum.matrices, sizeof sum.idle);
    sum.idle_small = sum.small;
    return sum;
}

/* Inputs of the layers' own: a projection of the embedding to all of them, and in each layer one into its width and one out. */
static struct part layer_inputs(const struct dse_llm *llm)
{
    const int64_t width = llm->inputs.layer_input, all = llm->layers * width;
    if (width == 0) return (struct part){0};
    return (struct part){.matrices[DSE_WEIGHTS_OTHER] = llm->hidden * all + 2 * llm->hidden * all,
                         .small = width + llm->layers * llm->hidden};
}

static int64_t table_elements(const struct dse_llm *llm)
{
    return llm->embedding_tables * llm->vocab * llm->hidden + (llm->details.positions + llm->seeing.input_rows) * llm->hidden +
           llm->inputs.layer_input_vocab * llm->layers * llm->inputs.layer_input;
}

static void add_part(struct part *sum, int64_t times, const struct part *p)
{
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        sum->matrices[i] += times * p->matrices[i];
        sum->idle[i] += times * p->idle[i];
    }
    sum->idle_small += times * p->idle_small;
    sum->small += times * p->small;
    sum->routed_small += times * p->routed_small;
    sum->used += times * p->used;
    sum->used_small += times * p->used_small;
}

static void add_kind(const struct dse_llm *llm, const struct dse_layer_kind *k, struct part *sum, struct dse_llm_counts *ret)
{
    const struct part parts[] = {mixer_part(llm, &k->shape, k->attention), mixer_part(llm, &k->shape, k->beside),
                                 network_part(llm, &k->shape, k->feed_forward)};
    const int64_t norms = k->shape.details.norms ? k->shape.details.norms : 1, row = row_elements(k);
    const int64_t both = (k->attention != DSE_NO_MIXER) + (k->feed_forward != DSE_NO_FFN);
    const int64_t sublayers = k->shape.details.shared_norm ? 1 : both;
    for (size_t s = 0; s < sizeof parts / sizeof *parts; s++) add_part(sum, k->layers, &parts[s]);
    sum->small += k->layers * sublayers * norms * norm_elements(llm);
    int64_t channels;
    ret->state_elements += k->layers * state_of(llm, k, &channels);
    if (channels) ret->conv_state_elements += k->layers * channels * (k->shape.states.conv_kernel - 1);
    const int64_t ratio = k->shape.compression.compress_ratio;
    if (k->attention == DSE_WINDOW || k->attention == DSE_CHUNK || k->attention == DSE_COMPRESSED)
        ret->kv_window_elements += k->layers * row;
    else
        ret->kv_elements += k->layers * row;
    if (k->attention == DSE_COMPRESSED && ratio > 0) ret->kv_elements += k->layers * row / ratio;
    if (llm_has_indexer(k)) ret->index_elements += k->layers * k->shape.latent.index_dim / (ratio > 0 ? ratio : 1);
}

void dse_llm_count(const struct dse_llm *llm, struct dse_llm_counts *ret)
{
    const int64_t table = llm->vocab * llm->hidden;
    const struct part streams = residuals(llm), seeing = cross_layers(llm);
    struct part sum = layer_inputs(llm);
    add_part(&sum, 1, &streams);
    add_part(&sum, 1, &seeing);
    sum.small += norm_elements(llm) * (llm->details.embedding_norm ? 2 : 1) + (llm->details.head_bias ? llm->vocab : 0);
    *ret = (struct dse_llm_counts){.params_tables = table_elements(llm)};
    for (size_t i = 0; i < llm->n_kinds; i++) add_kind(llm, &llm->kinds[i], &sum, ret);
    const int64_t routed = sum.matrices[DSE_WEIGHTS_EXPERTS];
    int64_t shared = 0, idle = 0; /* by all tokens, and by none */
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        shared += i == DSE_WEIGHTS_EXPERTS ? 0 : sum.matrices[i] - sum.idle[i];
        idle += sum.idle[i];
    }
    memcpy(ret->matrices, sum.matrices, sizeof ret->matrices);
    memcpy(ret->idle, sum.idle, sizeof ret->idle);
    ret->matrices[DSE_WEIGHTS_HEAD] = llm->embedding_tables > 1 ? table : 0;
    ret->matrices[DSE_WEIGHTS_TABLES] = ret->params_tables - ret->matrices[DSE_WEIGHTS_HEAD];
    ret->params_routed = routed + sum.routed_small;
    ret->params_small = sum.small + sum.routed_small;
    ret->params_idle = idle + sum.idle_small;
    ret->params = ret->params_tables + shared + idle + sum.small + ret->params_routed;
    ret->params_active = table + shared + sum.small - sum.idle_small + sum.used + sum.used_small;
    ret->params_active_with_input = ret->params_active + (llm->embedding_tables - 1) * table;
    ret->linear_macs = table + shared + sum.used;
}

double dse_llm_checkpoint_bytes(const struct dse_llm *llm)
{
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    double bytes = (double)n.params_small * 2;
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++)
        bytes += (double)n.matrices[i] * dse_held_bytes(dse_llm_held(llm, (enum dse_weight_class)i));
    return bytes;
}

int64_t dse_llm_kv_elements(const struct dse_llm *llm, int64_t context)
{
    int64_t elements = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        elements += k->layers * row_elements(k) * dse_llm_positions_kept(k, context);
    }
    return elements;
}

double dse_llm_token_bytes(const struct dse_llm *llm, double kv_bytes)
{
    struct dse_llm_counts c;
    dse_llm_count(llm, &c);
    return (double)(c.kv_elements + c.kv_window_elements) * kv_bytes + (double)c.index_elements * DSE_INDEX_BYTES;
}

double dse_llm_state_bytes(const struct dse_llm *llm)
{
    struct dse_llm_counts c;
    dse_llm_count(llm, &c);
    return (double)c.state_elements * DSE_STATE_BYTES + (double)c.conv_state_elements * DSE_CONVOLUTION_BYTES;
}

double dse_llm_cache_bytes(const struct dse_llm *llm, int64_t context, double kv_bytes)
{
    int64_t index = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        if (llm_has_indexer(k)) index += k->layers * k->shape.latent.index_dim * llm_indexed(k, context);
    }
    return (double)dse_llm_kv_elements(llm, context) * kv_bytes + (double)index * DSE_INDEX_BYTES + dse_llm_state_bytes(llm);
}

int64_t dse_llm_macs(const struct dse_llm *llm, int64_t context, enum dse_latent_form form)
{
    struct dse_llm_counts c;
    dse_llm_count(llm, &c);
    int64_t macs = c.linear_macs;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        macs += k->layers * (attention_macs(k, context, form) + recurrence_macs(llm, k));
    }
    return macs;
}

struct dse_held dse_llm_held(const struct dse_llm *llm, enum dse_weight_class class)
{
    enum { USUAL_BITS = 16 };
    const struct dse_class_bits *f = &llm->formats;
    return (struct dse_held){f->bits[class] > 0 ? f->bits[class] : USUAL_BITS, f->scale_bits[class] > 0 ? f->scale_bits[class] : 0};
}
