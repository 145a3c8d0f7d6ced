/* LLMs of all kinds in a static-shape program: windows, latents, experts and states (E16 to E21). */
#include "ane.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>
#include <math.h>

bool ane_is_simple(const struct dse_workload *w)
{
    return !dse_workload_unknown(w, DSE_CAN_SCALES);
}

/* ---- what the engine can run: E16 ----------------------------------------------------------------------------------------- */

const char *ane_llms_never(const struct ane_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].mixer == DSE_LATENT_TOPK)
            return "a static-shape program reads its whole cache and cannot run an indexer (llm)";
    if (llm->latent.kv_rank > 0 && p->workload.latent_form == DSE_LATENT_EXPANDED)
        return "latent_form = expanded would rebuild keys and values of the whole window in every call";
    if (dse_degree(p->workload.tensor_parallel) > 1 || dse_degree(p->workload.expert_parallel) > 1)
        return "engines cannot exchange data within a call (tensor_parallel, expert_parallel)";
    return NULL;
}

const char *ane_llms_check(const struct ane_params *p)
{
    enum { WIDE_BITS = 16 };
    struct dse_workload w = p->workload;
    const char *why = ane_llms_never(p);
    if (why) return why;
    if (w.activation_bits > WIDE_BITS) return "the engine computes in 16 bits (activation_bits)";
    const bool alike = ane_is_simple(&w);
    if (!alike && !dse_eviction_at(p->kept.eviction)->keeps_all)
        return "eviction needs one chip, equal contexts, and neither chunks nor drafts (eviction)";
    if (w.chunk_tokens > 0 && p->cache == ANE_NONE)
        return "chunk_tokens needs a cache: without one each chunk recomputes its prompt (chunk_tokens, cache)";
    if (w.chunk_tokens > 0 && w.speculation.draft_tokens > 0) return "chunk_tokens and draft_tokens cannot be combined";
    if (w.chunk_tokens > 0 && dse_workload_chips(&w) > 1)
        return "chunk_tokens needs one chip (chunk_tokens, pipeline_parallel, data_parallel)";
    if (w.context_spread > 0 && p->request.generate > 0) return "generate cannot be combined with context_spread";
    w.context = 1; /* with a request it counts for nothing: ane_check asks */
    return dse_workload_check(&w, ANE_CAN);
}

/* ---- attention: E17 ------------------------------------------------------------------------------------------------------- */

/* A cache that slides by whole blocks of rows has what the first row of a block sees, in whole blocks. */
static struct ane_group group_of(const struct ane_params *p, const struct ane_shape *s, const struct dse_attention *a)
{
    const bool limited = a->mixer == DSE_WINDOW || a->mixer == DSE_CHUNK;
    struct ane_group g = {.layers = (double)a->layers,
                          .window = s->window,
                          .reach = limited ? (double)p->workload.llm->attention_window : 0,
                          .is_chunked = a->mixer == DSE_CHUNK,
                          .key_bytes = a->key_bytes,
                          .value_bytes = a->values_in_keys ? 0 : a->value_bytes,
                          .drafted = a->is_draft ? (double)p->workload.speculation.draft_tokens : 0};
    if (limited) g.window = dse_min(s->window, dse_ceil((g.reach - 1) / s->rows) * s->rows + s->rows);
    g.cached = dse_max(g.window - s->rows, 0);
    return g;
}

/* Memory operations of the group's caches, as if it were all of the LLM. */
static void append_joining(struct ane_call *c, const struct ane_params *p, const struct ane_group *g, const struct dse_attention *a)
{
    struct ane_shape s = c->shape;
    s.window = g->window;
    s.cached = g->cached;
    s.layers = g->layers;
    s.matrices = a->values_in_keys ? g->layers : 2 * g->layers;
    const struct ane_memory_ops k = ane_memory_ops_of(p, &s);
    const struct ane_joining_work work = {.layers = g->layers,
                                          .both_bytes = 2 * g->layers * (g->key_bytes + g->value_bytes),
                                          .key_bytes = 2 * g->layers * g->key_bytes,
                                          .tensor_bytes = s.computed * (double)(a->heads * a->value_dim) * ANE_ACTIVATION_BYTES};
    ane_append_joining(c, p, &k, &work);
}

/* Numbers are made of the rows that are read, where the cache has scales (E15). */
static double widened_ops(const struct ane_params *p, const struct ane_group *g, const struct dse_attention *a,
                          enum dse_op_kind kind)
{
    const int64_t elements = kind == DSE_OP_SCORES                         ? a->kv_heads * a->key_dim
                             : kind == DSE_OP_VALUES && !a->values_in_keys ? a->kv_heads * a->value_dim
                                                                           : 0;
    return g->layers * g->window * ane_widening_of(p) * (double)elements;
}

static void append_attending(struct ane_call *c, const struct ane_params *p, const struct dse_op *o, struct ane_group *g,
                             const struct dse_attention *a)
{
    const double pair_ops = o->ops / c->shape.computed / a->pairs, row = g->layers * g->window;
    const struct ane_work work = {.name = o->name,
                                  .place = ANE_ATTENDING,
                                  .times = g->layers,
                                  .kv_bytes = row * (o->kind == DSE_OP_SCORES   ? g->key_bytes
                                                     : o->kind == DSE_OP_VALUES ? g->value_bytes
                                                                                : 0),
                                  .ops = pair_ops * c->shape.computed * g->window + widened_ops(p, g, a, o->kind)};
    ane_append_work(c, p, &work);
    g->pair_ops += pair_ops;
}

/* ---- the other operators: E18, E19 ---------------------------------------------------------------------------------------- */

/* What makes the inputs of attention or of a recurrence, and comes before it in a layer. */
bool ane_is_projecting(const struct dse_op *o)
{
    switch (o->role) {
    case DSE_ROLE_QUERY_KEY_VALUE:
    case DSE_ROLE_QUERY_DOWN:
    case DSE_ROLE_QUERY_UP:
    case DSE_ROLE_LATENT_DOWN:
    case DSE_ROLE_ABSORB_QUERIES:
    case DSE_ROLE_STATE_PROJECTION: return true;
    default: return false;
    }
}

bool ane_is_expert_up(const struct dse_op *o)
{
    return o->role == DSE_ROLE_EXPERT_UP;
}

bool ane_is_expert(const struct dse_op *o)
{
    return o->role == DSE_ROLE_EXPERT_UP || o->role == DSE_ROLE_EXPERT_DOWN;
}

bool ane_is_head(const struct dse_op *o)
{
    return !o->is_draft && o->role == DSE_ROLE_OUTPUT_HEAD;
}

/* Of one row: of the LLM's own layers, or of a draft. */
static void add_row_ops(struct ane_call *c, const struct dse_op *o)
{
    *(o->is_draft ? &c->draft_ops : &c->row_ops) += o->ops / c->shape.computed;
}

/* E18. Each expert that is computed has the rows of a call: a static shape has room for all of them. */
static void append_expert(struct ane_call *c, const struct ane_params *p, const struct dse_op *o)
{
    const bool all = p->expert_dispatch == ANE_ALL_EXPERTS;
    const double weight_bytes = all ? o->held_bytes : o->weight_bytes,
                 experts = all ? o->copies * (o->held_bytes / o->weight_bytes) : o->copies;
    const double macs = (double)o->repeat * (double)o->k * (double)o->n * experts * c->shape.computed;
    const double dispatch_s = (double)o->repeat * experts * p->dispatch_us / DSE_US_PER_S;
    if (p->expert_dispatch == ANE_EXPERT_PROGRAMS && ane_is_expert_up(o))
        ane_append(c, (struct ane_op){.name = "expert_dispatch",
                                      .place = ANE_AFTERWARDS,
                                      .times = (double)o->repeat,
                                      .bound = DSE_BOUND_LATENCY,
                                      .experts = !o->is_draft,
                                      .time_s = dispatch_s});
    const struct ane_work work = {.name = o->name,
                                  .place = ANE_AFTERWARDS,
                                  .times = (double)o->repeat,
                                  .weight_bytes = weight_bytes,
                                  .ops = DSE_OPS_PER_MAC * macs,
                                  .rows = c->shape.computed,
                                  .experts = !all && !o->is_draft};
    ane_append_work(c, p, &work);
    add_row_ops(c, o);
}

/* E19: the state of the last whole block of rows is read, and the next one's written, once a call; without a cache it starts
 * empty. */
static void append_recurrence(struct ane_call *c, const struct ane_params *p, const struct dse_op *o)
{
    const double moved = p->cache == ANE_NONE ? 0 : 2 * (o->kv_write_bytes / c->shape.computed);
    const struct ane_work work = {
        .name = o->name, .place = ANE_AFTERWARDS, .times = (double)o->repeat, .kv_bytes = moved, .ops = o->ops};
    ane_append_work(c, p, &work);
    add_row_ops(c, o);
}

/* Matrices of the heads of absorbed latents are one operator of a layer. */
static void append_other(struct ane_call *c, const struct ane_params *p, const struct dse_op *o, int64_t latent_layers)
{
    const struct ane_shape *s = &c->shape;
    const bool is_head = o->role == DSE_ROLE_OUTPUT_HEAD, last = is_head && p->head_rows == ANE_LAST_ROW;
    const double a_row = o->ops / s->computed, rows = last ? (o->is_draft ? 1 : ane_verified_rows(p)) : s->computed;
    const struct ane_work work = {.name = o->name,
                                  .place = ane_is_projecting(o) ? ANE_PROJECTING : ANE_AFTERWARDS,
                                  .times = (double)(o->is_per_head ? latent_layers : o->repeat),
                                  .weight_bytes = o->weight_bytes,
                                  .kv_bytes = o->kv_write_bytes / s->computed * s->rows,
                                  .ops = last ? a_row * rows : o->ops,
                                  .rows = o->kind == DSE_OP_LINEAR ? rows : 0,
                                  .once = is_head && !o->is_draft};
    ane_append_work(c, p, &work);
    c->row_bytes += o->kv_write_bytes / s->computed;
    if (is_head && !o->is_draft)
        c->head_ops += a_row;
    else
        add_row_ops(c, o);
}

/* What stays in memory, of the LLM or of what drafts (the list has both): the groups of its attention, weights, states. Returns the
 * layers of absorbed latents. */
static int64_t hold(struct ane_call *c, const struct ane_params *p, const struct dse_oplist *list, bool is_draft,
                    struct ane_group **ret_group)
{
    const bool again = is_draft && p->workload.speculation.drafter != DSE_DRAFT_HEADS; /* the same weights, several times */
    const double times = again ? (double)p->workload.speculation.draft_tokens : 1;
    int64_t latent_layers = 0;
    for (int i = 0; i < list->n_attentions; i++) {
        const struct dse_attention *a = &list->attention[i];
        ret_group[i] = NULL;
        if (a->is_draft != is_draft) continue;
        assert(c->n_groups < ANE_GROUPS_MAX);
        ret_group[i] = &c->group[c->n_groups++];
        *ret_group[i] = group_of(p, &c->shape, a);
        if (a->values_in_keys) latent_layers += a->layers;
    }
    for (int i = 0; i < list->n; i++) {
        const struct dse_op *o = &list->op[i];
        if (o->is_draft != is_draft) continue;
        c->held_bytes += o->held_bytes / times;
        if (o->kind == DSE_OP_RECURRENCE) c->state_bytes += o->kv_write_bytes / c->shape.computed / times;
    }
    return latent_layers;
}

static void append_operators(struct ane_call *c, const struct ane_params *p, const struct dse_oplist *list, bool is_draft)
{
    struct ane_group *group[DSE_ATTENTIONS_MAX];
    const int64_t latent_layers = hold(c, p, list, is_draft, group);
    for (int i = 0; i < list->n; i++) {
        const struct dse_op *o = &list->op[i];
        if (o->is_draft != is_draft) continue;
        if (o->kind == DSE_OP_COLLECTIVE) continue; /* E22: between calls */
        if (o->attention >= 0)
            append_attending(c, p, o, group[o->attention], &list->attention[o->attention]);
        else if (o->kind == DSE_OP_RECURRENCE)
            append_recurrence(c, p, o);
        else if (ane_is_expert(o))
            append_expert(c, p, o);
        else
            append_other(c, p, o, latent_layers);
    }
    for (int i = 0; i < list->n_attentions; i++)
        if (group[i]) append_joining(c, p, group[i], &list->attention[i]);
}

/* E20: a draft's program has the rows and the window of the LLM's; it is called for each token, and the host samples each. Heads
 * are of the LLM's program. */
static void append_drafts(struct ane_call *c, const struct ane_params *p, struct dse_workload *w, const struct dse_draw *draw)
{
    const struct dse_speculation *s = &p->workload.speculation;
    const double times = (double)s->draft_tokens;
    struct dse_oplist list;
    w->speculation.draft_tokens = s->draft_tokens;
    dse_workload_expand_drawn(w, -1, draw, &list);
    const int first = c->n_ops;
    append_operators(c, p, &list, true);
    if (s->drafter == DSE_DRAFT_HEADS) return;
    ane_append(c, (struct ane_op){.name = "draft_dispatch",
                                  .place = ANE_AFTERWARDS,
                                  .times = times,
                                  .bound = DSE_BOUND_LATENCY,
                                  .time_s = times * (p->dispatch_us + p->host_gap_us) / DSE_US_PER_S});
    c->drafts_from = first;
    c->drafts_to = c->n_ops;
}

/* One sequence of each row that is computed, in each pass of a stage; none of them drafts. */
static struct dse_workload rows_of(const struct ane_params *p, const struct ane_shape *s)
{
    struct dse_workload w = p->workload;
    w.phase = DSE_DECODE;
    w.batch = (int64_t)s->computed * dse_degree(w.pipeline_parallel);
    w.data_parallel = 1;
    w.context = (int64_t)s->window;
    w.context_spread = 0;
    w.chunk_tokens = w.speculation.draft_tokens = 0;
    return w;
}

/* Matrices that have work in a layer of routed experts, and how many layers have some. */
static double experts_in(const struct dse_oplist *list, int64_t *ret_layers)
{
    *ret_layers = 0;
    for (int i = 0; i < list->n; i++) {
        if (!ane_is_expert_up(&list->op[i])) continue;
        *ret_layers = list->op[i].repeat;
        return list->op[i].copies;
    }
    return 0;
}

int64_t ane_llms_shares(const struct ane_params *p, const struct ane_shape *s, const struct dse_draw *draw, double *ret)
{
    const struct dse_workload w = rows_of(p, s);
    struct dse_oplist list;
    int64_t layers, again;
    dse_workload_expand_drawn(&w, -1, draw, &list);
    const double mean = experts_in(&list, &layers);
    for (int64_t layer = 0; layer < layers; layer++) {
        dse_workload_expand_drawn(&w, -1, &(struct dse_draw){draw->seed, draw->layer + layer, 1}, &list);
        ret[layer] = experts_in(&list, &again) / mean;
    }
    return layers;
}

/* The input embedding, where it is not the output head: of several stages the first has it, and the last one the head. */
static void hold_table(struct ane_call *c, const struct ane_params *p)
{
    const struct dse_workload *w = &p->workload;
    if (w->llm->embedding_tables > 1 && dse_degree(w->pipeline_parallel) == 1)
        c->held_bytes += dse_llm_head_weights(w->llm) * ((double)w->weight_bits + w->weight_scale_bits) / DSE_BITS_PER_BYTE;
}

double ane_llms_footprint(const struct ane_params *p, const struct ane_shape *s)
{
    struct ane_call c;
    struct dse_workload w = rows_of(p, s);
    struct dse_oplist list;
    struct ane_group *group[DSE_ATTENTIONS_MAX];
    c.shape = *s;
    c.n_groups = 0;
    c.held_bytes = c.state_bytes = 0;
    dse_workload_expand(&w, &list);
    hold(&c, p, &list, false, group);
    hold_table(&c, p);
    if (p->workload.speculation.draft_tokens > 0) {
        w.speculation.draft_tokens = p->workload.speculation.draft_tokens;
        dse_workload_expand(&w, &list);
        hold(&c, p, &list, true, group);
    }
    return c.held_bytes + ane_llms_kept_bytes(p, &c);
}

void ane_llms_call(struct ane_call *ret, const struct ane_params *p, const struct dse_draw *draw)
{
    const struct ane_shape *s = &ret->shape;
    struct dse_workload w = rows_of(p, s);
    struct dse_oplist list;
    dse_workload_expand_drawn(&w, -1, draw, &list);
    append_operators(ret, p, &list, false);
    hold_table(ret, p);
    if (p->workload.speculation.draft_tokens > 0) append_drafts(ret, p, &w, draw);
    const struct ane_joining_work reshaping = {.layers = s->layers, .reshaped_bytes = ane_reshaped_bytes(p, s)};
    ane_append_joining(ret, p, &(struct ane_memory_ops){0}, &reshaping);
}

/* ---- drafts, unequal contexts, chunks: E20, E21 ----------------------------------------------------------------------------- */

/* Some sequences are longer, the others shorter than the mean: those of dse_workload_expand. */
struct kinds {
    double few, many, longer, shorter;
};

static struct kinds kinds_of(const struct ane_params *p)
{
    const struct dse_workload *w = &p->workload;
    const double mean = (double)w->context, batch = (double)w->batch, few = dse_floor(batch / 2), many = batch - few;
    struct kinds k = {.few = 0, .many = batch, .longer = mean, .shorter = mean};
    if (w->context_spread <= 0 || few < 1 || w->phase != DSE_DECODE || p->request.generate > 0) return k;
    k.few = few;
    k.many = many;
    k.longer = dse_floor(mean * (1 + w->context_spread * sqrt(many / few)) + 0.5);
    k.shorter = dse_max(1, dse_floor((mean * batch - k.longer * few) / many + 0.5));
    return k;
}

double ane_longest(const struct ane_params *p)
{
    const struct ane_request r = ane_request_of(p);
    return dse_max(r.last, kinds_of(p).longer * (p->request.generate > 0 ? 0 : 1));
}

double ane_llms_positions(const struct ane_params *p, const struct ane_request *r)
{
    const struct dse_workload *w = &p->workload;
    const double own = p->request.generate > 0 ? r->last : kinds_of(p).longer;
    const double chunk = w->chunk_tokens > 0 ? (double)(w->chunk_context + w->chunk_tokens) : 0;
    return dse_max(own + (double)w->speculation.draft_tokens, chunk);
}

double ane_verified_rows(const struct ane_params *p)
{
    return 1 + (p->workload.phase == DSE_DECODE ? (double)p->workload.speculation.draft_tokens : 0);
}

double ane_llms_slides(const struct ane_params *p, const struct ane_shape *s)
{
    if (p->slide_each == ANE_EACH_CALL) return 1;
    return dse_min(1, dse_accepted(&p->workload.speculation) / dse_max(1, s->rows + 1 - ane_verified_rows(p)));
}

/* What drafts works on a prompt once, too. */
double ane_llms_undrafted_s(const struct ane_params *p, const struct ane_call *c)
{
    double time_s = 0;
    for (int i = c->drafts_from; i < c->drafts_to; i++) time_s += c->op[i].time_s;
    return time_s > 0 ? time_s * (1 - 1 / (double)p->workload.speculation.draft_tokens) : 0;
}

double ane_chunk_calls(const struct ane_params *p, const struct ane_shape *s)
{
    return dse_ceil((double)p->workload.chunk_tokens / s->rows);
}

/* ---- sums ----------------------------------------------------------------------------------------------------------------- */

/* Layers that hold a cache: a draft's are called several times. */
static double layers_of(const struct ane_group *g)
{
    return g->drafted > 0 ? g->layers / g->drafted : g->layers;
}

/* E10, E21: the chunk's prompt is a sequence more. */
double ane_llms_kept_bytes(const struct ane_params *p, const struct ane_call *c)
{
    const bool copy = p->cache != ANE_CHUNKS && p->cache != ANE_LAZY_SOFTMAX;
    const double sequences = ane_group_sequences(p) + (p->workload.chunk_tokens > 0 ? 1 : 0);
    double bytes = (sequences + 1) * c->state_bytes, at_work = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct ane_group *g = &c->group[i];
        const double row = g->key_bytes + g->value_bytes;
        at_work = dse_max(at_work, g->window * row);
        bytes += layers_of(g) * row * (sequences * g->window + (copy ? g->cached : 0));
    }
    return p->cache == ANE_NONE ? at_work : bytes;
}

double ane_llms_slid_bytes(const struct ane_call *c)
{
    double bytes = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct ane_group *g = &c->group[i];
        bytes += 2 * layers_of(g) * g->cached * (g->key_bytes + g->value_bytes);
    }
    return bytes;
}

/* Pairs of rows at 1..n, each of which sees up to `window` positions, or those of its own chunk. */
static double pairs_to(const struct ane_group *g, double window, double n)
{
    const double reach = g->reach > 0 ? dse_min(g->reach, window) : window, rising = dse_min(n, reach);
    if (!g->is_chunked || reach < g->reach) return rising * (rising + 1) / 2 + (n - rising) * reach;
    const double whole = dse_floor(n / reach), rest = n - whole * reach;
    return whole * reach * (reach + 1) / 2 + rest * (rest + 1) / 2;
}

/* Of rows at first .. last: of the LLM `rows` times, of its drafts once. */
static double seen_ops(const struct ane_call *c, double first, double last, double rows, double drafts)
{
    double ops = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct ane_group *g = &c->group[i];
        const double pairs = pairs_to(g, c->shape.window, last) - pairs_to(g, c->shape.window, first - 1);
        ops += pairs * (g->drafted > 0 ? drafts : rows) * g->pair_ops;
    }
    return ops;
}

double ane_llms_seen_ops(const struct ane_call *c, double first, double last)
{
    return seen_ops(c, first, last, 1, 0);
}

/* The rows that are verified see what the first of them sees. */
double ane_llms_step_ops(const struct ane_params *p, const struct ane_call *c, const struct ane_request *r)
{
    const double rows = ane_verified_rows(p), sequences = (double)p->workload.batch;
    const double before = (double)p->workload.chunk_context, chunk = (double)p->workload.chunk_tokens;
    double ops = chunk > 0 ? ane_llms_seen_ops(c, before + 1, before + chunk) : 0;
    if (r->generate > 0) return ops + sequences * seen_ops(c, r->prompt + 1, r->last, rows, 1) / r->generate;
    const struct kinds k = kinds_of(p);
    if (k.few > 0) ops += k.few * seen_ops(c, k.longer, k.longer, rows, 1);
    return ops + k.many * seen_ops(c, k.shorter, k.shorter, rows, 1);
}
