/* Attention of all kinds as operators. */
#include "workload/expand.h"

#include <dse/num.h>
#include <dse/units.h>

#include <stddef.h>

static int64_t heads_of(const struct expansion *x, const struct dse_layer_shape *s)
{
    return expand_share(s->heads, x->tensor);
}

static int64_t kv_heads_of(const struct expansion *x, const struct dse_layer_shape *s)
{
    return expand_share(s->kv_heads, x->tensor);
}

/* ---- what meets what -------------------------------------------------------------------------------------------------------- */

/* Pairs of all queries at 1..n, each of which sees `reach` positions at most; 0: all. */
static double pairs_to(int64_t reach, bool chunks, double n)
{
    const double most = (double)reach;
    if (reach == 0 || n <= most) return n * (n + 1) / 2;
    if (!chunks) return most * (most + 1) / 2 + (n - most) * most;
    const double whole = dse_floor(n / most), rest = n - whole * most;
    return whole * most * (most + 1) / 2 + rest * (rest + 1) / 2;
}

/* Positions that any of the last `queries` of n sees. */
static int64_t positions_of(int64_t reach, bool chunks, int64_t n, int64_t queries)
{
    if (reach == 0) return n;
    if (chunks) {
        const int64_t first = (n - queries) / reach * reach; /* before the chunk of the first query */
        return n - first;
    }
    return dse_min_i64(n, reach + queries - 1);
}

/* ---- groups --------------------------------------------------------------------------------------------------------------- */

/* Some sequences of the same length. */
struct some {
    int64_t sequences, context, queries;
};

/* `k`: the kind of layer; NULL: an indexer, which sees all positions. */
static void place(struct expansion *x, const struct dse_layer_kind *k, const struct some *some, struct dse_attention *ret)
{
    const int64_t n = some->context, reach = k ? llm_reach(k) : 0;
    const bool unlimited = reach == 0, chunks = k && k->attention == DSE_CHUNK, decoding = x->w->phase == DSE_DECODE;
    const bool reads_part =
        unlimited && decoding && x->read >= 0 && !x->draft && n == x->context; /* nothing else is evicted from */
    const int64_t left = reads_part ? dse_min_i64(n, x->read) : n;
    ret->mixer = k ? (enum dse_mixer)k->attention : DSE_LATENT;
    ret->reach = reach;
    ret->is_draft = x->draft;
    ret->sequences = some->sequences;
    ret->queries = some->queries;
    ret->context = n;
    ret->positions = unlimited ? left : positions_of(reach, chunks, n, some->queries);
    ret->kept = k ? dse_llm_positions_kept(k, n) : n;
    ret->pairs = pairs_to(reach, chunks, (double)n) - pairs_to(reach, chunks, (double)(n - some->queries));
    if (unlimited && left < n) ret->pairs = (double)some->queries * (double)left;
    if (some->queries == 1) ret->pairs = (double)ret->positions;
}

/* Scores, their softmax and the values. */
static void add_attention(struct expansion *x, const struct dse_attention *a)
{
    const double layers = (double)a->layers, instances = layers * (double)a->heads * (double)a->sequences;
    const double rows = (double)a->sequences * (double)a->positions;
    if (x->list->n_attentions == DSE_ATTENTIONS_MAX) {
        *x->ret_full = true;
        x->list->n_attentions--;
    }
    const int at = x->list->n_attentions++;
    x->list->attention[at] = *a;
    const int first = x->list->n;
    const enum dse_op_role scores = a->is_index ? DSE_ROLE_INDEX_SCORES : DSE_ROLE_ATTENTION_SCORES;
    struct dse_op *op = expand_add(x, scores, a->layers, a->queries, a->key_dim, a->positions);
    op->kv_read_bytes = rows * (layers * a->key_bytes);
    op->ops = DSE_OPS_PER_MAC * instances * a->pairs * (double)a->key_dim;
    expand_elementwise(x, a->is_index ? DSE_ROLE_INDEX_CHOICE : DSE_ROLE_SOFTMAX, a->layers, a->queries, a->positions,
                       (a->is_index ? 1 : OPS_SOFTMAX) * instances * a->pairs);
    if (a->value_dim > 0) {
        op = expand_add(x, DSE_ROLE_ATTENTION_VALUES, a->layers, a->queries, a->positions, a->value_dim);
        op->kv_read_bytes = rows * (layers * a->value_bytes);
        op->ops = DSE_OPS_PER_MAC * instances * a->pairs * (double)a->value_dim;
    }
    for (int i = first; i < x->list->n; i++) {
        x->list->op[i].in_attention = true;
        x->list->op[i].attention = (int8_t)at;
    }
}

/* The decoding sequences: all alike, or two kinds whose mean and deviation are those asked for; and the chunk of a prompt. */
static int sequences_of(const struct expansion *x, struct some *ret)
{
    const double spread = x->w->context_spread, mean = (double)x->context;
    const int64_t few = x->sequences / 2, many = x->sequences - few;
    int n = 0;
    if (spread > 0 && few > 0 && x->w->phase == DSE_DECODE) {
        const double longer = dse_floor(mean * (1 + spread * sqrt((double)many / (double)few)) + 0.5);
        const double shorter = (mean * (double)x->sequences - longer * (double)few) / (double)many;
        ret[n++] = (struct some){many, dse_max_i64(x->queries, (int64_t)(shorter + 0.5)), x->queries};
        ret[n++] = (struct some){few, (int64_t)longer, x->queries};
    } else {
        ret[n++] = (struct some){x->sequences, x->context, x->queries};
    }
    if (x->chunk > 0) ret[n++] = (struct some){1, x->w->chunk_context + x->chunk, x->chunk};
    return n;
}
enum { SOME_MAX = 3 };

static void add_groups(struct expansion *x, const struct dse_attention *shape, const struct dse_layer_kind *k)
{
    struct some some[SOME_MAX];
    const int n = sequences_of(x, some);
    for (int i = 0; i < n; i++) {
        struct dse_attention a = *shape;
        place(x, k, &some[i], &a);
        add_attention(x, &a);
    }
}

/* ---- an indexer ------------------------------------------------------------------------------------------------------------- */

/* Latent attention's indexer takes queries from their latent, and makes a weight a head beside its key. */
static void index_of(struct expansion *x, const struct dse_layer_kind *k, int64_t layers)
{
    const struct dse_llm_latent *m = &k->shape.latent;
    const bool latent = dse_llm_is_latent((enum dse_mixer)k->attention);
    const int64_t heads = m->index_heads, d = m->index_dim;
    const struct dse_attention shape = {.projection = -1,
                                        .is_index = true,
                                        .layers = layers,
                                        .heads = heads,
                                        .kv_heads = 1,
                                        .key_dim = d,
                                        .key_bytes = (double)d * x->index_bytes,
                                        .cached_bytes = (double)d * x->index_bytes};
    expand_linear(x, DSE_ROLE_INDEX_QUERIES, layers, x->rows, latent ? m->q_rank : x->llm->hidden, heads * d);
    expand_linear(x, DSE_ROLE_INDEX_KEYS, layers, x->rows, x->llm->hidden, d + (latent ? heads : 0))->kv_write_bytes =
        (double)x->rows * (double)layers * (double)d * x->index_bytes;
    add_groups(x, &shape, NULL);
}

/* ---- full, window and chunk -------------------------------------------------------------------------------------------------- */

/* Layers of kinds from `first` on that have its projections; of them, those of this mixer and reach. */
static int64_t layers_like(const struct expansion *x, size_t first, int32_t mixer, int64_t reach)
{
    int64_t layers = 0;
    for (size_t i = first; i < x->llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &x->llm->kinds[i];
        if (k->same_heads == first && llm_is_grouped(k->attention) &&
            (mixer == DSE_NO_MIXER || (k->attention == mixer && llm_reach(k) == reach)))
            layers += x->layers[i];
    }
    return layers;
}

/* Is it the first of its projections, mixer and reach? */
static bool is_first(const struct dse_llm *llm, size_t i)
{
    const struct dse_layer_kind *k = &llm->kinds[i];
    for (size_t j = k->same_heads; j < i; j++) {
        const struct dse_layer_kind *before = &llm->kinds[j];
        if (before->same_heads == k->same_heads && before->attention == k->attention && llm_reach(before) == llm_reach(k))
            return false;
    }
    return true;
}

/* Kinds whose queries, keys and values are projected alike, of which `first` is the first. */
static void grouped(struct expansion *x, size_t first)
{
    static const int32_t mixers[] = {DSE_FULL, DSE_WINDOW, DSE_CHUNK, DSE_FULL_TOPK};
    const struct dse_llm *llm = x->llm;
    const struct dse_layer_shape *s = &llm->kinds[first].shape;
    const int64_t heads = heads_of(x, s), kv_heads = kv_heads_of(x, s), v = llm_value_dim(s), q = heads * s->head_dim;
    const int64_t all = layers_like(x, first, DSE_NO_MIXER, 0), keys = kv_heads * s->head_dim, values = kv_heads * v;
    const int64_t made = s->cache.shares_cache ? 0 : keys + (s->cache.values_from_keys ? 0 : values);
    const double key_bytes = (double)keys * x->key_bytes, value_bytes = (double)values * x->value_bytes;
    const bool own = !s->cache.shares_cache;
    const double row = own ? key_bytes + value_bytes : 0;
    if (all == 0) return;
    const int16_t projection = (int16_t)x->list->n;
    struct dse_op *op = expand_linear(x, DSE_ROLE_QUERY_KEY_VALUE, all, x->rows, llm->hidden, q + llm_gate(s, heads) + made);
    op->kv_write_bytes = (double)x->rows * ((double)all * row);
    op->writes_cache = row > 0;
    op->cached_columns = made;
    for (size_t m = 0; m < sizeof mixers / sizeof *mixers; m++)
        for (size_t i = first; i < llm->n_kinds; i++) {
            const struct dse_layer_kind *k = &llm->kinds[i];
            if (k->same_heads != first || k->attention != mixers[m] || !is_first(llm, i)) continue;
            const struct dse_attention shape = {.projection = projection,
                                                .layers = layers_like(x, first, k->attention, llm_reach(k)),
                                                .heads = heads,
                                                .kv_heads = kv_heads,
                                                .key_dim = s->head_dim,
                                                .value_dim = v,
                                                .key_bytes = key_bytes,
                                                .value_bytes = value_bytes,
                                                .cached_bytes = row,
                                                .cached_elements = own ? (double)(keys + values) : 0};
            if (shape.layers > 0 && llm_has_indexer(k)) index_of(x, k, shape.layers);
            if (shape.layers > 0) add_groups(x, &shape, k);
        }
    expand_linear(x, DSE_ROLE_ATTENTION_OUTPUT, all, x->rows, heads * v, llm->hidden);
}

/* ---- latent attention ----------------------------------------------------------------------------------------------------- */

static bool is_expanded(const struct expansion *x, bool prompt)
{
    return x->w->latent_form == DSE_LATENT_EXPANDED || (x->w->latent_form == DSE_LATENT_BY_PHASE && prompt);
}

/* Keys and values of all positions that are attended to, from their latents. */
static void expanded_group(struct expansion *x, const struct some *some, const struct dse_layer_kind *k, int64_t layers)
{
    const struct dse_llm_latent *m = &k->shape.latent;
    const int64_t heads = heads_of(x, &k->shape);
    struct dse_attention a = {.projection = -1,
                              .is_made = true,
                              .layers = layers,
                              .heads = heads,
                              .kv_heads = heads,
                              .key_dim = m->nope_dim + m->rope_dim,
                              .value_dim = m->v_head_dim,
                              .cached_bytes = (double)(m->kv_rank + m->rope_dim) * x->key_bytes,
                              .cached_elements = (double)(m->kv_rank + m->rope_dim)};
    place(x, k, some, &a);
    const int64_t rows = some->sequences * a.positions;
    struct dse_op *up = expand_linear(x, DSE_ROLE_LATENT_UP, layers, rows, m->kv_rank, heads * (m->nope_dim + m->v_head_dim));
    up->kv_read_bytes = (double)rows * (double)layers * (double)(m->kv_rank + m->rope_dim) * x->key_bytes;
    add_attention(x, &a);
}

/* Queries go into the latent space, and their sums of latents come out of it. A head's matrices work on its own rows. */
static void absorbed_group(struct expansion *x, const struct some *some, const struct dse_layer_kind *k, int64_t layers)
{
    const struct dse_llm_latent *m = &k->shape.latent;
    const int64_t heads = heads_of(x, &k->shape), row = m->kv_rank + m->rope_dim, rows = some->sequences * some->queries;
    struct dse_attention a = {.projection = -1,
                              .layers = layers,
                              .heads = heads,
                              .kv_heads = 1,
                              .key_dim = row,
                              .value_dim = m->kv_rank,
                              .values_in_keys = true,
                              .key_bytes = (double)row * x->key_bytes,
                              .cached_bytes = (double)row * x->key_bytes,
                              .cached_elements = (double)row};
    place(x, k, some, &a);
    expand_linear(x, DSE_ROLE_ABSORB_QUERIES, layers * heads, rows, m->nope_dim, m->kv_rank);
    add_attention(x, &a);
    expand_linear(x, DSE_ROLE_ABSORB_VALUES, layers * heads, rows, m->kv_rank, m->v_head_dim);
}

/* Kinds with the same latent attention, of which `first` is the first. */
static void latent(struct expansion *x, size_t first)
{
    const struct dse_layer_kind *k = &x->llm->kinds[first];
    const struct dse_llm_latent *m = &k->shape.latent;
    const int64_t heads = heads_of(x, &k->shape), key = m->nope_dim + m->rope_dim;
    int64_t layers = 0;
    struct some some[SOME_MAX];
    for (size_t i = first; i < x->llm->n_kinds; i++) layers += x->llm->kinds[i].same_latent == first ? x->layers[i] : 0;
    if (layers == 0) return;
    if (m->q_rank > 0) expand_linear(x, DSE_ROLE_QUERY_DOWN, layers, x->rows, x->llm->hidden, m->q_rank);
    expand_linear(x, DSE_ROLE_QUERY_UP, layers, x->rows, m->q_rank > 0 ? m->q_rank : x->llm->hidden, heads * key);
    const int64_t gate = llm_latent_gate(&k->shape, heads);
    expand_linear(x, DSE_ROLE_LATENT_DOWN, layers, x->rows, x->llm->hidden, m->kv_rank + m->rope_dim + gate)->kv_write_bytes =
        (double)x->rows * (double)layers * (double)(m->kv_rank + m->rope_dim) * x->key_bytes;
    if (llm_has_indexer(k)) index_of(x, k, layers);
    const int n = sequences_of(x, some);
    for (int i = 0; i < n; i++) {
        const bool prompt = x->w->phase == DSE_PREFILL || (x->chunk > 0 && i == n - 1);
        if (is_expanded(x, prompt))
            expanded_group(x, &some[i], k, layers);
        else
            absorbed_group(x, &some[i], k, layers);
    }
    expand_linear(x, DSE_ROLE_ATTENTION_OUTPUT, layers, x->rows, heads * m->v_head_dim, x->llm->hidden);
}

/* ---- compressed attention -------------------------------------------------------------------------------------------------- */

/* Pairs of all queries at 1..n with entries that their positions have become. */
static double pairs_of_entries(const struct dse_layer_shape *s, int64_t n)
{
    const double ratio = (double)s->compression.compress_ratio, most = (double)s->latent.index_topk;
    const double last = most > 0 && (double)n >= ratio * most ? ratio * most - 1 : (double)n; /* that sees fewer than it may */
    const double blocks = dse_floor(last / ratio), begun = dse_min(last, ratio - 1);          /* the first block counts at once */
    const double some = ratio * (blocks - 1) * blocks / 2 + blocks * (last - blocks * ratio + 1) + begun;
    return some + ((double)n - last) * most;
}

/* A key for all heads, which is its value, too. */
static struct dse_attention one_key(const struct expansion *x, const struct dse_layer_kind *k, int64_t layers)
{
    const double bytes = (double)k->shape.head_dim * x->key_bytes;
    return (struct dse_attention){.projection = -1,
                                  .layers = layers,
                                  .heads = heads_of(x, &k->shape),
                                  .kv_heads = 1,
                                  .key_dim = k->shape.head_dim,
                                  .value_dim = k->shape.head_dim,
                                  .values_in_keys = true,
                                  .key_bytes = bytes,
                                  .cached_bytes = bytes,
                                  .cached_elements = (double)k->shape.head_dim};
}

/* What positions have become, instead of the positions. */
static void to_entries(const struct dse_layer_shape *s, struct dse_attention *a, bool all)
{
    const int64_t n = a->context;
    a->reach = all ? 0 : s->latent.index_topk;
    a->kept = llm_compressed(s, n);
    a->positions = all ? a->kept : llm_compressed_seen(s, n);
    const struct dse_layer_shape every = {.compression = s->compression};
    const struct dse_layer_shape *seen = all ? &every : s;
    a->pairs = pairs_of_entries(seen, n) - pairs_of_entries(seen, n - a->queries);
    if (a->queries == 1) a->pairs = (double)a->positions;
}

/* The indexer of compressed attention: entries of its own, of the same blocks. */
static void index_entries(struct expansion *x, const struct dse_layer_kind *k, int64_t layers, const struct some *some)
{
    const struct dse_llm_latent *m = &k->shape.latent;
    const double bytes = (double)m->index_dim * x->index_bytes;
    struct dse_attention a = {.projection = -1,
                              .is_index = true,
                              .layers = layers,
                              .heads = m->index_heads,
                              .kv_heads = 1,
                              .key_dim = m->index_dim,
                              .key_bytes = bytes,
                              .cached_bytes = bytes};
    place(x, NULL, some, &a);
    to_entries(&k->shape, &a, true);
    add_attention(x, &a);
}

static void compress(struct expansion *x, const struct dse_layer_kind *k, int64_t layers)
{
    const struct dse_llm_latent *m = &k->shape.latent;
    const struct dse_llm_compression *c = &k->shape.compression;
    const double entries = (double)x->rows * (double)layers / (double)dse_max_i64(1, c->compress_ratio);
    if (c->compress_ratio == 0) return;
    expand_linear(x, DSE_ROLE_COMPRESS, layers, x->rows, x->llm->hidden, 2 * c->compress_width * k->shape.head_dim)
        ->kv_write_bytes = entries * (double)k->shape.head_dim * x->key_bytes;
    if (m->index_topk == 0) return;
    expand_linear(x, DSE_ROLE_INDEX_QUERIES, layers, x->rows, m->q_rank, m->index_heads * m->index_dim);
    expand_linear(x, DSE_ROLE_INDEX_KEYS, layers, x->rows, x->llm->hidden, 2 * c->compress_width * m->index_dim + m->index_heads)
        ->kv_write_bytes = entries * (double)m->index_dim * x->index_bytes;
}

/* Kinds with the same compressed attention, of which `first` is the first. */
static void compressed(struct expansion *x, size_t first)
{
    const struct dse_layer_kind *k = &x->llm->kinds[first];
    const struct dse_layer_shape *s = &k->shape;
    const struct dse_llm_compression *c = &s->compression;
    const int64_t heads = heads_of(x, s), groups = expand_share(c->output_groups, x->tensor), hidden = x->llm->hidden;
    int64_t layers = 0;
    struct some some[SOME_MAX];
    for (size_t i = first; i < x->llm->n_kinds; i++) layers += x->llm->kinds[i].same_latent == first ? x->layers[i] : 0;
    if (layers == 0) return;
    expand_linear(x, DSE_ROLE_QUERY_DOWN, layers, x->rows, hidden, s->latent.q_rank);
    expand_linear(x, DSE_ROLE_QUERY_UP, layers, x->rows, s->latent.q_rank, heads * s->head_dim);
    expand_linear(x, DSE_ROLE_LATENT_DOWN, layers, x->rows, hidden, s->head_dim)->kv_write_bytes =
        (double)x->rows * (double)layers * (double)s->head_dim * x->key_bytes;
    compress(x, k, layers);
    const int n = sequences_of(x, some);
    for (int i = 0; i < n; i++) {
        struct dse_attention window = one_key(x, k, layers);
        place(x, k, &some[i], &window);
        window.kept = dse_min_i64(window.context, s->attention_window);
        if (s->latent.index_topk > 0) index_entries(x, k, layers, &some[i]);
        struct dse_attention entries = window;
        add_attention(x, &window);
        if (c->compress_ratio == 0) continue;
        to_entries(s, &entries, s->latent.index_topk == 0);
        add_attention(x, &entries);
    }
    expand_linear(x, DSE_ROLE_OUTPUT_DOWN, layers * groups, x->rows, s->heads / c->output_groups * s->head_dim, c->output_rank);
    expand_linear(x, DSE_ROLE_ATTENTION_OUTPUT, layers, x->rows, groups * c->output_rank, hidden);
}

void expand_mixers(struct expansion *x)
{
    static const int32_t latents[] = {DSE_LATENT, DSE_LATENT_TOPK, DSE_LATENT_SHARED};
    const struct dse_llm *llm = x->llm;
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].same_heads == i && llm_is_grouped(llm->kinds[i].attention)) grouped(x, i);
    for (size_t m = 0; m < sizeof latents / sizeof *latents; m++)
        for (size_t i = 0; i < llm->n_kinds; i++)
            if (llm->kinds[i].same_latent == i && llm->kinds[i].attention == latents[m]) latent(x, i);
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].same_latent == i && llm->kinds[i].attention == DSE_COMPRESSED) compressed(x, i);
    expand_recurrences(x);
}

/* ---- scalars --------------------------------------------------------------------------------------------------------------- */

static double grouped_scalars(const struct expansion *x, const struct dse_layer_shape *s)
{
    const double q = (double)(heads_of(x, s) * s->head_dim);
    const double kv = s->cache.shares_cache ? 0 : (double)(kv_heads_of(x, s) * s->head_dim);
    const double gate = s->details.output_gate ? OPS_GATED * (double)(heads_of(x, s) * llm_value_dim(s)) : 0;
    return OPS_ROTARY * (q + kv) + gate; /* norms of q and k are left out, as biases are */
}

static double latent_scalars(const struct expansion *x, const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    return OPS_ROTARY * (double)((heads_of(x, s) + 1) * m->rope_dim) + OPS_NORM * (double)(m->q_rank + m->kv_rank);
}

static double compressed_scalars(const struct expansion *x, const struct dse_layer_shape *s)
{
    const double q = (double)(heads_of(x, s) * s->head_dim), mixed = (double)(s->compression.compress_width * s->head_dim);
    return OPS_ROTARY * (2 * q + (double)s->head_dim) + OPS_NORM * (q + (double)s->head_dim) + OPS_SOFTMAX * mixed;
}

static double state_scalars(const struct expansion *x, const struct dse_llm_states *s, int32_t mixer)
{
    const double t = (double)x->tensor, keys = (double)(s->state_key_heads * s->state_key_dim) / t;
    const double values = (double)(s->state_value_heads * s->state_value_dim) / t, inner = (double)s->ssm_inner / t;
    const double state = (double)s->ssm_state, shared = 2 * (double)(s->ssm_groups * s->ssm_state) / t;
    switch (mixer) {
    case DSE_DELTA: return OPS_SILU * (2 * keys + values) + OPS_NORM * (2 * keys + values) + OPS_GATED * values;
    case DSE_KDA: return OPS_SILU * 3 * values + OPS_NORM * 3 * values + OPS_GATED * values + OPS_SILU * values;
    case DSE_LIGHTNING: return 3 * OPS_SILU * values + OPS_NORM * values + OPS_GATED * values;
    case DSE_MAMBA: return (OPS_SILU + OPS_SOFTMAX) * inner + 2 * inner * state + OPS_GATED * inner;
    case DSE_CONVOLUTION: return 2 * (double)x->llm->hidden / t; /* two gates */
    case DSE_MAMBA2: return OPS_SILU * (inner + shared) + OPS_NORM * inner + OPS_GATED * inner;
    default: return 0;
    }
}

double expand_mixer_scalars(const struct expansion *x, const struct dse_layer_kind *k)
{
    double scalars = state_scalars(x, &k->shape.states, llm_recurrence(k));
    if (llm_is_grouped(k->attention)) scalars += grouped_scalars(x, &k->shape);
    if (dse_llm_is_latent((enum dse_mixer)k->attention)) scalars += latent_scalars(x, &k->shape);
    if (k->attention == DSE_COMPRESSED) scalars += compressed_scalars(x, &k->shape);
    return scalars;
}
