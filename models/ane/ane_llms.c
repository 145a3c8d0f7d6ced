/* LLMs of all kinds in a static-shape program: windows, latents, experts and states (E16 to E19). */
#include "ane.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>
#include <string.h>

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
            return "an indexer chooses positions, and a static-shape program reads all rows that it is given (llm)";
    if (llm->latent.kv_rank > 0 && p->workload.latent_form == DSE_LATENT_EXPANDED)
        return "a static-shape program would make the keys and values of its whole window again in every call (latent_form)";
    if (!dse_eviction_at(p->kept.eviction)->keeps_all && !dse_llm_is_plain(llm))
        return "positions are left out of caches that all layers share, full attention's (eviction, llm)";
    return NULL;
}

const char *ane_llms_check(const struct ane_params *p)
{
    enum { WIDE_BITS = 16 };
    struct dse_workload w = p->workload;
    const char *why = ane_llms_never(p);
    if (why) return why;
    if (w.activation_bits > WIDE_BITS) return "the engine computes in 16 bits (activation_bits)";
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
                          .value_bytes = a->values_in_keys ? 0 : a->value_bytes};
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
    struct dse_workload call = p->workload;
    call.phase = DSE_DECODE;
    const int64_t elements = kind == DSE_OP_SCORES                         ? a->kv_heads * a->key_dim
                             : kind == DSE_OP_VALUES && !a->values_in_keys ? a->kv_heads * a->value_dim
                                                                           : 0;
    return p->cache == ANE_NONE ? 0 : g->layers * g->window * dse_cache_widening(&call) * (double)elements;
}

static void append_attending(struct ane_call *c, const struct ane_params *p, const struct dse_op *o, const struct dse_attention *a)
{
    struct ane_group *g = &c->group[o->attention];
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
static bool is_projecting(const char *name)
{
    static const char *const names[] = {"qkv_projection", "query_down",     "query_up",
                                        "latent_down",    "absorb_queries", "state_projection"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name[0] == names[i][0] && strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool is_expert(const struct dse_op *o)
{
    return o->name[0] == 'e' && (strcmp(o->name, "experts_up") == 0 || strcmp(o->name, "experts_down") == 0);
}

/* E18. Each expert that is computed has the rows of a call: a static shape has room for all of them. */
static void append_expert(struct ane_call *c, const struct ane_params *p, const struct dse_op *o)
{
    const bool all = p->expert_dispatch == ANE_ALL_EXPERTS;
    const double weight_bytes = all ? o->held_bytes : o->weight_bytes,
                 experts = all ? o->copies * (o->held_bytes / o->weight_bytes) : o->copies;
    const double macs = (double)o->repeat * (double)o->k * (double)o->n * experts * c->shape.computed;
    const double dispatch_s = (double)o->repeat * experts * p->dispatch_us / DSE_US_PER_S;
    if (p->expert_dispatch == ANE_EXPERT_PROGRAMS && strcmp(o->name, "experts_up") == 0)
        ane_append(c, (struct ane_op){.name = "expert_dispatch",
                                      .place = ANE_AFTERWARDS,
                                      .times = (double)o->repeat,
                                      .bound = DSE_BOUND_LATENCY,
                                      .time_s = dispatch_s});
    const struct ane_work work = {.name = o->name,
                                  .place = ANE_AFTERWARDS,
                                  .times = (double)o->repeat,
                                  .weight_bytes = weight_bytes,
                                  .ops = DSE_OPS_PER_MAC * macs,
                                  .rows = c->shape.computed};
    ane_append_work(c, p, &work);
    c->row_ops += o->ops / c->shape.computed;
}

/* E19: the state of the last whole block of rows is read, and the next one's written, once a call; without a cache it starts empty. */
static void append_recurrence(struct ane_call *c, const struct ane_params *p, const struct dse_op *o)
{
    const double state = o->kv_write_bytes / c->shape.computed, moved = p->cache == ANE_NONE ? 0 : 2 * state;
    const struct ane_work work = {
        .name = o->name, .place = ANE_AFTERWARDS, .times = (double)o->repeat, .kv_bytes = moved, .ops = o->ops};
    ane_append_work(c, p, &work);
    c->state_bytes += state;
    c->row_ops += o->ops / c->shape.computed;
}

/* Matrices of the heads of absorbed latents are one operator of a layer. */
static void append_other(struct ane_call *c, const struct ane_params *p, const struct dse_op *o, int64_t latent_layers)
{
    const struct ane_shape *s = &c->shape;
    const bool is_head = strcmp(o->name, "lm_head") == 0, last = is_head && p->head_rows == ANE_LAST_ROW;
    const double a_row = o->ops / s->computed, rows = last ? 1 : s->computed;
    const struct ane_work work = {.name = o->name,
                                  .place = is_projecting(o->name) ? ANE_PROJECTING : ANE_AFTERWARDS,
                                  .times = (double)(o->repeat > p->workload.llm->layers ? latent_layers : o->repeat),
                                  .weight_bytes = o->weight_bytes,
                                  .kv_bytes = o->kv_write_bytes / s->computed * s->rows,
                                  .ops = last ? a_row : o->ops,
                                  .rows = o->kind == DSE_OP_LINEAR ? rows : 0,
                                  .once = is_head};
    ane_append_work(c, p, &work);
    c->row_bytes += o->kv_write_bytes / s->computed;
    *(is_head ? &c->head_ops : &c->row_ops) += a_row;
}

static void append_operator(struct ane_call *c, const struct ane_params *p, const struct dse_op *o, const struct dse_oplist *list,
                            int64_t latent_layers)
{
    c->held_bytes += o->held_bytes;
    if (o->attention >= 0)
        append_attending(c, p, o, &list->attention[o->attention]);
    else if (o->kind == DSE_OP_RECURRENCE)
        append_recurrence(c, p, o);
    else if (is_expert(o))
        append_expert(c, p, o);
    else
        append_other(c, p, o, latent_layers);
}

void ane_llms_call(struct ane_call *ret, const struct ane_params *p)
{
    const struct ane_shape *s = &ret->shape;
    struct dse_workload w = p->workload;
    struct dse_oplist list;
    int64_t latent_layers = 0;
    w.phase = DSE_DECODE;
    w.batch = (int64_t)s->computed;
    w.context = (int64_t)s->window;
    dse_workload_expand(&w, &list);
    assert(list.n_attentions <= ANE_GROUPS_MAX);
    ret->n_groups = list.n_attentions;
    for (int i = 0; i < list.n_attentions; i++) {
        ret->group[i] = group_of(p, s, &list.attention[i]);
        if (list.attention[i].values_in_keys) latent_layers += list.attention[i].layers;
    }
    for (int i = 0; i < list.n; i++) append_operator(ret, p, &list.op[i], &list, latent_layers);
    if (w.llm->embedding_tables > 1)
        ret->held_bytes += dse_llm_head_weights(w.llm) * ((double)w.weight_bits + w.weight_scale_bits) / DSE_BITS_PER_BYTE;
    for (int i = 0; i < list.n_attentions; i++) append_joining(ret, p, &ret->group[i], &list.attention[i]);
    const struct ane_joining_work reshaping = {.layers = s->layers, .reshaped_bytes = ane_reshaped_bytes(p, s)};
    ane_append_joining(ret, p, &(struct ane_memory_ops){0}, &reshaping);
}

/* ---- sums ----------------------------------------------------------------------------------------------------------------- */

/* E10. */
double ane_llms_kept_bytes(const struct ane_params *p, const struct ane_call *c)
{
    const bool copy = p->cache != ANE_CHUNKS && p->cache != ANE_LAZY_SOFTMAX;
    const double sequences = (double)p->workload.batch;
    double bytes = p->cache == ANE_NONE ? 0 : (sequences + 1) * c->state_bytes, at_work = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct ane_group *g = &c->group[i];
        const double row = g->key_bytes + g->value_bytes;
        at_work = dse_max(at_work, g->window * row);
        if (p->cache != ANE_NONE) bytes += g->layers * row * (sequences * g->window + (copy ? g->cached : 0));
    }
    return p->cache == ANE_NONE ? at_work : bytes;
}

double ane_llms_slid_bytes(const struct ane_call *c)
{
    double bytes = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct ane_group *g = &c->group[i];
        bytes += 2 * g->layers * g->cached * (g->key_bytes + g->value_bytes);
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

double ane_llms_seen_ops(const struct ane_call *c, double first, double last)
{
    double ops = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct ane_group *g = &c->group[i];
        ops += (pairs_to(g, c->shape.window, last) - pairs_to(g, c->shape.window, first - 1)) * g->pair_ops;
    }
    return ops;
}
