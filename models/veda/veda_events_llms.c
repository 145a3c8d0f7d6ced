/* VEDA at event level on LLMs with other layers, on several chips, with drafts and chunks (E32 to E36).
 *
 * A program has the operators of the list in their order, once for each layer that is simulated: linear layers and what is a stream
 * like them, attention of each kind, exchanges over the links. One chip is simulated; the others do the same at the same time.
 */
#include "veda_events.h"
#include "veda_llms.h"

#include <dse/net.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

enum phase_kind { STREAM, ATTENTION, EXCHANGE };
static const double wide_group = 8; /* query heads of a group, beyond which fewer rows are simulated */

/* A linear layer, a recurrence or an indexer: one instance is what a layer has of it. */
struct stream {
    const struct dse_op *op;
    const char *name;
    struct veda_linear_shape shape;
    double work_s;                 /* the array's, of an instance */
    bool once;                     /* of the step, not of a layer */
    struct veda_layer_result seen; /* means over the layers simulated */
};

/* Attention of one kind: with the cache as it is, and where something is evicted as it would be. */
struct kind {
    struct veda_kind of;
    struct veda_attention closed;
    struct veda_work work;
    struct veda_plan mine, whole;
    struct stream *index; /* an indexer has no values, and is a stream of keys */
};

struct exchange {
    const struct dse_op *op;
    double seconds; /* of one instance, seen */
};

struct phase {
    enum phase_kind kind;
    int64_t layer;
    union {
        struct stream *stream;
        struct exchange *exchange;
        struct veda_plan *plan;
    } at;
    bool apart;
    const struct dse_length *length;
    struct veda_layer *linear;
    struct veda_heads *heads;
};

struct program {
    struct dse_program on;
    struct veda_run run, apart; /* apart: with resources of its own, for the cache that is not evicted */
    struct veda_point pt;
    struct veda_layers closed;
    int64_t layers; /* simulated */
    int streams, exchanges;
    struct stream stream[DSE_OPS_MAX];
    struct exchange exchange[DSE_OPS_MAX];
    struct kind kind[DSE_ATTENTIONS_MAX];
    struct dse_net *net;
    dse_ps from; /* of the exchange that goes on */
    size_t n;
    struct phase *phase;
    struct dse_paces paces;
    struct dse_room regions[VEDA_REGIONS];
};

static bool of_step(const struct dse_op *op)
{
    return op->repeat == 1;
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

static double work_per_byte(const struct stream *s)
{
    return s->work_s / s->shape.weight_bytes;
}

static void begin_stream(struct program *g, struct phase *ph)
{
    const struct stream *s = ph->at.stream;
    const struct veda_layer_spec spec = {.name = s->name,
                                         .shape = &s->shape,
                                         .work_s = s->work_s,
                                         .pace_s = dse_pace_known(&g->paces, work_per_byte(s)),
                                         .id = ph->layer,
                                         .actor = g->on.done};
    ph->linear = veda_layer_new(&g->run, &spec);
}

static void begin(void *object, size_t i)
{
    struct program *g = object;
    struct phase *ph = &g->phase[i];
    switch (ph->kind) {
    case STREAM: begin_stream(g, ph); break;
    case ATTENTION:
        ph->heads = veda_plan_begin(ph->at.plan, ph->apart ? &g->apart : &g->run, ph->length, ph->layer, g->on.done);
        break;
    case EXCHANGE:
        g->from = dse_sim_now(g->run.sim);
        dse_net_exchange(g->net, 0, &ph->at.exchange->op->exchange, g->on.done, 0);
        break;
    }
}

static void end_of_stream(struct program *g, const struct phase *ph)
{
    struct stream *s = ph->at.stream;
    const struct veda_layer_result r = veda_layer_result(ph->linear);
    const double share = 1 / (s->once ? 1 : (double)g->layers);
    s->seen.time_s += share * r.time_s;
    s->seen.norm_s += share * r.norm_s;
    s->seen.data_s += share * r.data_s;
    if (g->paces.n < DSE_PACES_MAX) dse_pace_see(&g->paces, work_per_byte(s), r.pace_s);
}

static double end(void *object, size_t i)
{
    struct program *g = object;
    const struct phase *ph = &g->phase[i];
    switch (ph->kind) {
    case STREAM: end_of_stream(g, ph); break;
    case ATTENTION: {
        const struct veda_heads_result r = veda_heads_result(ph->heads);
        veda_plan_end(ph->at.plan, ph->length, &r, (double)g->layers);
        break;
    }
    case EXCHANGE: {
        struct exchange *x = ph->at.exchange;
        x->seconds += dse_s_of_ps(dse_sim_now(g->run.sim) - g->from) / (of_step(x->op) ? 1 : (double)g->layers);
        break;
    }
    }
    return DSE_AT_ONCE;
}

/* ---- the program ----------------------------------------------------------------------------------------------------------- */

static void add_lengths(struct program *g, struct veda_plan *plan, bool apart, size_t from, size_t to, int64_t layer)
{
    for (size_t i = from; i < to; i++)
        g->phase[g->n++] =
            (struct phase){.kind = ATTENTION, .layer = layer, .at.plan = plan, .apart = apart, .length = &plan->lengths.at[i]};
}

static void add_stream(struct program *g, struct stream *s, int64_t layer)
{
    if (s->shape.weight_bytes >= 1) g->phase[g->n++] = (struct phase){.kind = STREAM, .layer = layer, .at.stream = s};
}

/* The operators of a layer, or with `once` those of the step, in their order. */
static void add_operators(struct program *g, int64_t layer, bool once)
{
    struct stream *stream = g->stream;
    struct exchange *exchange = g->exchange;
    for (int i = 0; i < g->closed.list.n; i++) {
        const struct dse_op *op = &g->closed.list.op[i];
        const bool now = of_step(op) == once;
        if (op->kind == DSE_OP_LINEAR || op->kind == DSE_OP_RECURRENCE) {
            if (now) add_stream(g, stream, layer);
            stream++;
        } else if (op->kind == DSE_OP_COLLECTIVE) {
            if (now) g->phase[g->n++] = (struct phase){.kind = EXCHANGE, .layer = layer, .at.exchange = exchange};
            exchange++;
        } else if (op->kind == DSE_OP_SCORES && !once) {
            struct kind *k = &g->kind[op->attention];
            if (k->index)
                add_stream(g, k->index, layer);
            else
                add_lengths(g, &k->mine, false, 0, 1, layer);
        }
    }
}

/* Other lengths, and what is not evicted, come after the step. */
static void write_program(struct program *g)
{
    size_t lengths = 0;
    for (int i = 0; i < g->closed.list.n_attentions; i++) lengths += g->kind[i].mine.lengths.n + g->kind[i].whole.lengths.n;
    g->phase = dse_sim_alloc(g->run.sim, (size_t)(g->layers + 1) * ((size_t)g->closed.list.n + lengths), sizeof *g->phase);
    for (int64_t layer = 0; layer < g->layers; layer++) add_operators(g, layer, false);
    add_operators(g, -1, true);
    for (int64_t layer = 0; layer < g->layers; layer++) {
        for (int i = 0; i < g->closed.list.n_attentions; i++) {
            struct kind *k = &g->kind[i];
            if (k->index) continue;
            add_lengths(g, &k->mine, false, 1, k->mine.lengths.n, layer);
            add_lengths(g, &k->whole, true, 0, k->whole.lengths.n, layer);
        }
    }
}

static struct stream *new_stream(struct program *g, const struct dse_op *op)
{
    struct stream *s = &g->stream[g->streams++];
    *s = (struct stream){.op = op, .name = op->name, .once = of_step(op)};
    return s;
}

/* A recurrence's states, in and out, are a stream. */
static void set_stream(struct program *g, const struct dse_op *op)
{
    const struct veda_linear *closed = &g->closed.op[g->streams];
    struct stream *s = new_stream(g, op);
    if (op->kind == DSE_OP_LINEAR) {
        veda_layers_shape(&g->pt, &g->closed.list, op, &s->shape);
    } else {
        s->shape = (struct veda_linear_shape){.outer = true,
                                              .instances = (double)op->repeat,
                                              .rows = 1,
                                              .k = 1,
                                              .n = 1,
                                              .weight_bytes = closed->bytes / (double)op->repeat};
    }
    s->work_s = closed->gemv_s / s->shape.instances;
}

static void set_kind(struct program *g, const struct dse_op *op)
{
    const struct veda_params *p = g->run.p;
    struct kind *k = &g->kind[op->attention];
    struct dse_sampling sampling = p->sampling;
    veda_kind_init(&k->of, &g->pt, &g->closed.list.attention[op->attention]);
    veda_kind_at(&k->of, &k->closed, &k->work);
    if (k->of.of->is_index) return;
    const double heads = veda_group_shares(&k->of.keys) ? k->of.keys.group : 1;
    sampling.rows_simulated = dse_max_i64(1, (int64_t)((double)sampling.rows_simulated / dse_max(1, heads / wide_group)));
    veda_plan_init(&k->mine, &k->of.keys, k->of.alike ? NULL : &k->of.values, &sampling);
    if (k->of.keys.policy->keeps_all) return;
    struct veda_point all = k->of.keys; /* values are as keys where something is evicted */
    veda_point_keep_all(&all);
    veda_plan_init(&k->whole, &all, NULL, &sampling);
}

/* An indexer's scores leave for a choice as they come: one a cycle and EXP unit. */
static void set_index(struct program *g, const struct dse_op *op)
{
    struct kind *k = &g->kind[op->attention];
    const struct veda_period *scores = &k->closed.scores;
    const double layers = (double)k->of.of->layers;
    k->index = new_stream(g, op);
    k->index->once = false;
    k->index->shape =
        (struct veda_linear_shape){.instances = layers, .rows = 1, .k = 1, .n = 1, .weight_bytes = scores->bytes / layers};
    k->index->work_s = dse_max(scores->gemv_s, scores->sfu_s) / layers;
}

static void set_parts(struct program *g)
{
    const struct dse_oplist *list = &g->closed.list;
    for (int i = 0; i < list->n; i++) {
        const struct dse_op *op = &list->op[i];
        if (op->kind == DSE_OP_LINEAR || op->kind == DSE_OP_RECURRENCE) set_stream(g, op);
        if (op->kind == DSE_OP_SCORES) set_kind(g, op);
        if (op->kind == DSE_OP_COLLECTIVE) g->exchange[g->exchanges++] = (struct exchange){.op = op};
    }
    for (int i = 0; i < list->n; i++) /* after all of the list, whose streams are as closed.op */
        if (list->op[i].kind == DSE_OP_SCORES && list->attention[list->op[i].attention].is_index) set_index(g, &list->op[i]);
}

static bool init(struct program *g, struct dse_sim *sim, const struct veda_params *p)
{
    if (!dse_program_init(&g->on, sim, &p->events, &p->dram, p->stream_fifo_kib * DSE_KIB)) return false;
    g->run = (struct veda_run){.sim = sim, .p = p, .program = &g->on, .regions = g->regions};
    veda_run_init(&g->run, "VEDA");
    veda_point_init(&g->pt, p);
    g->layers = dse_layers_simulated(&p->events, p->workload.llm->layers);
    const struct dse_draw draw = dse_draw_of(sim, 0, g->layers);
    veda_layers_parts(&g->pt, &draw, &g->closed);
    set_parts(g);
    if (!g->pt.policy->keeps_all) {
        g->apart = g->run;
        veda_run_init(&g->apart, "VEDA, nothing evicted");
    }
    if (g->exchanges > 0) {
        struct dse_ports *ports = dse_ports_new(sim, "VEDA", &p->links);
        g->net = dse_net_new(sim, "exchange", &ports, 1);
    }
    write_program(g);
    return true;
}

/* ---- the step ------------------------------------------------------------------------------------------------------------ */

/* Bytes and operations are those of the closed form. */
static void set_linear(const struct program *g, const struct stream *s, struct veda_layers *ret, struct veda_linear *l)
{
    const double instances = s->shape.instances, peak = dse_dram_peak(&g->run.p->dram);
    ret->norm_ops += l->norm_elements;
    if (s->shape.weight_bytes >= 1) {
        l->time_s = dse_max(instances * (s->seen.time_s - s->seen.norm_s), l->bytes / peak);
        l->dram_s = veda_dram_s(&g->pt, l->time_s, instances * s->seen.data_s, l->bytes);
        ret->sum.norm_s += instances * s->seen.norm_s;
    }
    veda_layers_add_linear(ret, l);
}

static void set_attention(const struct kind *k, const struct veda_plan *plan, struct veda_attention *a)
{
    *a = k->closed;
    if (!k->index) {
        veda_plan_attention(plan, a);
        return;
    }
    const double waited = k->closed.time_s - k->closed.scores.time_s; /* a stage of softmax, a drain */
    a->scores.time_s = k->index->shape.instances * k->index->seen.time_s;
    a->scores.dram_s = dse_min(a->scores.dram_s, a->scores.time_s);
    a->time_s = a->scores.time_s + waited;
}

static void add_attention(const struct kind *k, struct veda_layers *ret)
{
    struct veda_attention a;
    struct veda_work w = k->work;
    set_attention(k, &k->mine, &a);
    w.seconds = a.time_s;
    w.bytes = a.bytes;
    veda_layers_add_attention(ret, &a, &w);
}

static void set_step(const struct program *g, struct veda_layers *ret)
{
    *ret = g->closed;
    veda_layers_begin(ret);
    ret->n = g->closed.n;
    for (int i = 0; i < ret->n; i++) set_linear(g, &g->stream[i], ret, &ret->op[i]);
    for (int i = 0; i < ret->list.n_attentions; i++) add_attention(&g->kind[i], ret);
    for (int i = 0; i < g->exchanges; i++) ret->communication_s += (double)g->exchange[i].op->repeat * g->exchange[i].seconds;
    ret->link_joules = g->closed.link_joules;
}

/* Attention as if nothing were evicted, of all passes. */
static double whole_of(const struct program *g)
{
    double seconds = 0;
    for (int i = 0; i < g->closed.list.n_attentions; i++) {
        const struct kind *k = &g->kind[i];
        struct veda_attention a;
        set_attention(k, k->whole.lengths.n > 0 ? &k->whole : &k->mine, &a);
        seconds += a.time_s;
    }
    return seconds * (double)dse_workload_passes(&g->run.p->workload);
}

bool veda_layers_simulate(const struct veda_params *p, struct dse_sim *sim, struct veda_metrics *metrics,
                          struct dse_breakdown *breakdown)
{
    struct program *g = dse_sim_alloc(sim, 1, sizeof *g);
    struct veda_layers *seen = dse_sim_alloc(sim, 1, sizeof *seen);
    const struct dse_phases phases = {.model = "veda", .object = g, .begin = begin, .end = end};
    if (!init(g, sim, p) || !dse_program_run(&g->on, &phases, g->n)) return false;
    set_step(g, seen);
    const double whole_s = whole_of(g);
    veda_layers_end(&g->pt, seen);
    veda_layers_report(&g->pt, seen, whole_s, metrics, breakdown);
    dse_program_note(&g->on);
    return true;
}
