/* VEDA at event level: which phases of a step are simulated, and what the equations are told of them.
 *
 * A program has the operators of the list in their order, once for each layer that is simulated: linear layers and what is a stream
 * like them, attention of each kind, exchanges over the links; then the operators of the step, attention at other lengths of the
 * cache, for steps that are a mean, and attention without eviction, which is compared with. Layers, heads and positions that are
 * not simulated take what those that are take (README.md, "Event level"): E25, E26, E36.
 */
#include "veda_events.h"

#include <dse/net.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

enum phase_kind { STREAM, ATTENTION, EXCHANGE };

/* A linear layer, a recurrence or an indexer: one instance is what a layer has of it. */
struct stream {
    const char *name; /* NULL: the operator is none */
    struct veda_linear_shape shape;
    double work_s;                 /* the array's, of an instance */
    bool once;                     /* of the step, not of a layer */
    struct veda_layer_result seen; /* means over the layers simulated */
};

/* Attention of one kind: with the cache as it is, and where something is evicted as it would be. */
struct kind {
    struct veda_plan mine, whole;
    struct stream index; /* an indexer has no values, and is a stream of keys */
};

struct phase {
    enum phase_kind kind;
    int64_t layer;
    int op; /* of an exchange */
    struct stream *stream;
    struct veda_plan *plan;
    const struct dse_length *length;
    struct veda_layer *linear;
    struct veda_heads *heads;
    struct veda_sample sample; /* E40: repetitions, and the sums of what they gave */
    struct veda_layer_result stream_sum;
    struct veda_heads_result heads_sum;
};

struct program {
    struct dse_program on;
    struct veda_run run, apart; /* apart: with resources of its own, for the cache that is not evicted */
    struct dse_oplist list;
    struct veda_events_reads closed;
    struct veda_seen_gives seen;
    int64_t layers;                    /* simulated */
    struct stream stream[DSE_OPS_MAX]; /* by place in the list, as the next */
    double exchange_s[DSE_OPS_MAX];    /* of one instance */
    struct kind kind[DSE_ATTENTIONS_MAX];
    struct dse_net *net;
    dse_ps from; /* of the exchange that goes on */
    size_t n;
    struct phase *phase;
    struct dse_paces paces; /* of weights of one row */
    struct dse_room regions[VEDA_REGIONS];
    double peaks[3];
    double pace_error; /* E40: the largest of a measured pace, over the pace */
    double variance;   /* of the seconds of a step */
};

static bool of_step(const struct dse_op *op)
{
    return op->repeat == 1;
}

static bool is_stream(const struct dse_op *op)
{
    return op->kind == DSE_OP_LINEAR || op->kind == DSE_OP_RECURRENCE;
}

/* ---- moving -------------------------------------------------------------------------------------------------------------- */

struct move {
    uint64_t address, bytes, at;
    bool write;
};

enum { PIECE = 4096, ALIGN_MAX = 1 << 20 };

static bool next_piece(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct move *m = object;
    (void)arg;
    if (m->at == m->bytes) return false;
    uint64_t rest = m->bytes - m->at, n = rest < PIECE ? rest : PIECE;
    *ret = (struct dse_segment){.address = m->address + m->at, .bytes = n, .write = m->write};
    m->at += n;
    return true;
}

void veda_move(const struct veda_run *run, uint64_t address, double bytes, bool write, const char *label, uint32_t actor,
               uint32_t arg)
{
    struct move *m = dse_sim_alloc(run->sim, 1, sizeof *m);
    *m = (struct move){.address = address, .bytes = (uint64_t)dse_ceil(bytes), .write = write};
    struct dse_transfer t = {
        .next = next_piece, .object = m, .label = label, .access_bytes = (double)INFINITY, .actor = actor, .actor_arg = arg};
    dse_dram_start(run->program->port, &t);
}

uint64_t veda_region(const struct veda_run *run, enum veda_region which, double bytes)
{
    const struct dse_dram *d = run->dram;
    uint64_t align = (uint64_t)d->burst_bytes;
    if (d->channels * d->timing.row_bytes <= ALIGN_MAX) align = 0; /* rows of all channels begin with it */
    while (align & (align - 1)) align += align & -align;           /* a power of two */
    return dse_room_for(run->program, &run->regions[which], (uint64_t)dse_ceil(bytes), align);
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

static double work_per_byte(const struct stream *s)
{
    return s->work_s / s->shape.weight_bytes;
}

/* E17: the pace of weights is seen once for each ratio of work to bytes. */
static void begin_stream(struct program *g, struct phase *ph)
{
    const struct stream *s = ph->stream;
    const struct veda_layer_spec spec = {.name = s->name,
                                         .shape = &s->shape,
                                         .work_s = s->work_s,
                                         .pace_s = dse_pace_known(&g->paces, work_per_byte(s)),
                                         .sample = ph->sample.times,
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
        ph->heads = veda_plan_begin(ph->plan, ph->plan->run, ph->length, ph->layer, ph->sample.times, g->on.done);
        break;
    case EXCHANGE:
        g->from = dse_sim_now(g->run.sim);
        dse_net_exchange(g->net, 0, &g->list.op[ph->op].exchange, g->on.done, 0);
        break;
    }
}

/* E40: what `instances` such phases contribute to the error of a step, where each stands for the same. */
static void add_error(struct program *g, double instances, double error_s)
{
    g->variance += pow(g->closed.passes * instances * error_s, 2);
}

/* E40: true when it is simulated once more. */
static bool again(struct program *g, struct phase *ph, double time_s, double error_s)
{
    if (!veda_sample_more(&g->run, &ph->sample, time_s, error_s)) return false;
    dse_program_again(&g->on);
    return true;
}

static void add_layer(struct veda_layer_result *sum, const struct veda_layer_result *r, double share)
{
    sum->time_s += share * r->time_s;
    sum->norm_s += share * r->norm_s;
    sum->data_s += share * r->data_s;
    sum->rest_s += share * r->rest_s;
}

static bool end_of_stream(struct program *g, struct phase *ph)
{
    struct stream *s = ph->stream;
    const struct veda_layer_result one = veda_layer_result(ph->linear);
    const double share = 1 / (s->once ? 1 : (double)g->layers);
    const bool more = again(g, ph, one.time_s, one.error_s);
    if (more && ph->sample.n == 0) {
        ph->stream_sum = (struct veda_layer_result){0};
        return true;
    }
    add_layer(&ph->stream_sum, &one, 1);
    if (more) return true;
    struct veda_layer_result r = {.pace_s = one.pace_s};
    add_layer(&r, &ph->stream_sum, 1. / ph->sample.n);
    if (one.error_s > 0) g->pace_error = dse_max(g->pace_error, one.error_s / one.time_s);
    add_error(g, share * s->shape.instances, hypot(veda_sample_error(&g->run, &ph->sample), g->pace_error * r.rest_s));
    s->seen.time_s += share * r.time_s;
    s->seen.norm_s += share * r.norm_s;
    s->seen.data_s += share * r.data_s;
    if (g->paces.n < DSE_PACES_MAX) dse_pace_see(&g->paces, work_per_byte(s), r.pace_s);
    return false;
}

static void add_tally(struct veda_tally *sum, const struct veda_tally *what, double share)
{
    for (int i = 0; i < VEDA_COUNTS; i++) sum->at[i] += share * what->at[i];
}

static bool end_of_attention(struct program *g, struct phase *ph)
{
    const struct veda_heads_result one = veda_heads_result(ph->heads);
    double error_s, time_s = veda_plan_layer(ph->plan, ph->heads, &error_s);
    const bool more = again(g, ph, time_s, error_s);
    if (more && ph->sample.n == 0) {
        ph->heads_sum = (struct veda_heads_result){0};
        return true;
    }
    add_tally(&ph->heads_sum.unit, &one.unit, 1);
    add_tally(&ph->heads_sum.ends, &one.ends, 1);
    if (more) return true;
    struct veda_heads_result r = one;
    r.unit = r.ends = (struct veda_tally){0};
    add_tally(&r.unit, &ph->heads_sum.unit, 1. / ph->sample.n);
    add_tally(&r.ends, &ph->heads_sum.ends, 1. / ph->sample.n);
    veda_plan_end(ph->plan, ph->length, &r, (double)g->layers);
    if (ph->plan->run == &g->apart) return false;
    add_error(g, ph->length->weight / (double)g->layers * ph->plan->kind.layers, veda_sample_error(&g->run, &ph->sample));
    g->peaks[0] = dse_max(g->peaks[0], r.score_peak);
    g->peaks[1] = dse_max(g->peaks[1], r.norm_peak);
    g->peaks[2] = dse_max(g->peaks[2], r.vote_peak);
    return false;
}

static double end(void *object, size_t i)
{
    struct program *g = object;
    struct phase *ph = &g->phase[i];
    switch (ph->kind) {
    case STREAM:
        if (end_of_stream(g, ph)) return veda_sample_pause(&g->run, &ph->sample);
        break;
    case ATTENTION:
        if (end_of_attention(g, ph)) return veda_sample_pause(&g->run, &ph->sample);
        break;
    case EXCHANGE:
        g->exchange_s[ph->op] +=
            dse_s_of_ps(dse_sim_now(g->run.sim) - g->from) / (of_step(&g->list.op[ph->op]) ? 1 : (double)g->layers);
        break;
    }
    return DSE_AT_ONCE;
}

/* ---- the program ----------------------------------------------------------------------------------------------------------- */

static void add_lengths(struct program *g, struct veda_plan *plan, size_t from, size_t to, int64_t layer)
{
    for (size_t i = from; i < to; i++)
        g->phase[g->n++] =
            (struct phase){.kind = ATTENTION, .layer = layer, .plan = plan, .length = &plan->lengths.at[i], .sample = {.times = 1}};
}

static void add_stream(struct program *g, struct stream *s, int64_t layer)
{
    if (s->shape.weight_bytes >= 1)
        g->phase[g->n++] = (struct phase){.kind = STREAM, .layer = layer, .stream = s, .sample = {.times = 1}};
}

/* The operators of a layer, or with `once` those of the step, in their order. */
static void add_operators(struct program *g, int64_t layer, bool once)
{
    for (int i = 0; i < g->list.n; i++) {
        const struct dse_op *op = &g->list.op[i];
        const bool now = of_step(op) == once;
        if (is_stream(op) && now) add_stream(g, &g->stream[i], layer);
        if (op->kind == DSE_OP_COLLECTIVE && now) g->phase[g->n++] = (struct phase){.kind = EXCHANGE, .layer = layer, .op = i};
        if (op->kind != DSE_OP_SCORES || once) continue;
        struct kind *k = &g->kind[op->attention];
        if (k->index.name)
            add_stream(g, &k->index, layer);
        else
            add_lengths(g, &k->mine, 0, 1, layer);
    }
}

/* Other lengths, and what is not evicted, come after the step. */
static void write_program(struct program *g)
{
    size_t lengths = 0;
    for (int i = 0; i < g->list.n_attentions; i++) lengths += g->kind[i].mine.lengths.n + g->kind[i].whole.lengths.n;
    g->phase = dse_sim_alloc(g->run.sim, (size_t)(g->layers + 1) * ((size_t)g->list.n + lengths), sizeof *g->phase);
    for (int64_t layer = 0; layer < g->layers; layer++) add_operators(g, layer, false);
    add_operators(g, -1, true);
    for (int64_t layer = 0; layer < g->layers; layer++) {
        for (int i = 0; i < g->list.n_attentions; i++) {
            struct kind *k = &g->kind[i];
            if (k->index.name) continue;
            add_lengths(g, &k->mine, 1, k->mine.lengths.n, layer);
            add_lengths(g, &k->whole, 0, k->whole.lengths.n, layer);
        }
    }
}

/* A stream of one row that is no matrix: a recurrence's states, in and out; an indexer's keys. */
static struct veda_linear_shape row_of(double instances, double bytes)
{
    return (struct veda_linear_shape){.outer = true, .instances = instances, .rows = 1, .k = 1, .weight_bytes = bytes / instances};
}

static void set_stream(struct program *g, int i)
{
    const struct dse_op *op = &g->list.op[i];
    struct stream *s = &g->stream[i];
    *s = (struct stream){.name = op->name, .once = of_step(op)};
    if (op->kind == DSE_OP_LINEAR)
        veda_linear_shape(&g->run, &g->list, i, &s->shape);
    else
        s->shape = row_of((double)op->repeat, op->kv_read_bytes + op->kv_write_bytes);
    s->work_s = g->closed.op.gemv_s[i] / s->shape.instances;
}

/* An indexer's scores leave for a choice as they come: one a cycle and EXP unit. */
static void set_index(struct program *g, const struct dse_op *op)
{
    struct stream *s = &g->kind[op->attention].index;
    const int8_t i = op->attention;
    const double layers = (double)g->list.attention[i].layers;
    *s = (struct stream){.name = op->name};
    s->shape = row_of(layers, g->closed.group.scores_bytes[i] * g->closed.group.share[i]);
    s->work_s = dse_max(g->closed.group.scores_gemv_s[i], g->closed.group.scores_sfu_s[i]) / layers;
}

static void set_kind(struct program *g, struct dse_closed *closed, const struct dse_op *op)
{
    const struct dse_eviction *policy = dse_eviction_at(dse_closed_cache(closed)->eviction), *none = dse_eviction_at(0);
    const int8_t i = op->attention;
    struct dse_oplist alone = {.n_attentions = 1};
    alone.attention[0] = g->list.attention[i];
    if (g->list.attention[i].is_index) {
        set_index(g, op);
        return;
    }
    struct dse_closed_at *unit = dse_closed_at(closed, &veda_unit, &alone);
    veda_plan_init(&g->kind[i].mine, &g->run, &g->list, i, false, policy, unit);
    if (!policy->keeps_all) veda_plan_init(&g->kind[i].whole, &g->apart, &g->list, i, true, none, unit);
}

static void set_parts(struct program *g, struct dse_closed *closed)
{
    bool exchanges = false;
    for (int i = 0; i < g->list.n; i++) {
        const struct dse_op *op = &g->list.op[i];
        if (is_stream(op)) set_stream(g, i);
        if (op->kind == DSE_OP_SCORES) set_kind(g, closed, op);
        exchanges = exchanges || op->kind == DSE_OP_COLLECTIVE;
    }
    if (!exchanges) return;
    struct dse_ports *ports = dse_ports_new(g->run.sim, "VEDA", dse_closed_links(closed));
    g->net = dse_net_new(g->run.sim, "exchange", &ports, 1);
}

void veda_run_init(struct veda_run *r, const char *group)
{
    r->array = dse_resource(r->sim, group, "PE array");
    r->reduction = dse_resource(r->sim, group, "softmax reduction");
    r->normalisation = dse_resource(r->sim, group, "softmax normalisation");
    r->voting = dse_resource(r->sim, group, "voting engine");
}

/* An ideal DRAM reaches what the closed form has of it, refresh included (E38). */
static const struct dse_dram *dram_of(struct dse_sim *sim, const struct dse_dram *memory, double stream)
{
    if (!dse_sim_ideal(sim, DSE_IDEAL_DRAM)) return memory;
    struct dse_dram *ideal = dse_sim_alloc(sim, 1, sizeof *ideal);
    *ideal = *memory;
    ideal->dram_efficiency = 1 / (stream * dse_dram_peak(memory));
    return ideal;
}

static bool init(struct program *g, struct dse_closed *closed, struct dse_sim *sim)
{
    const struct dse_workload *w = dse_closed_workload(closed);
    const struct dse_events *events = dse_closed_events(closed);
    dse_closed_run(dse_closed_at(closed, &veda_events, NULL), NULL, &g->closed);
    const struct dse_dram *dram = dram_of(sim, dse_closed_memory(closed), g->closed.stream);
    if (!dse_program_init(&g->on, sim, events, dram, g->closed.stream_fifo_kib * DSE_KIB)) return false;
    g->layers = dse_layers_simulated(events, w->llm->layers);
    const struct dse_draw draw = dse_draw_of(sim, 0, g->layers); /* of experts, by the seed that the program has set */
    dse_workload_expand_drawn(w, -1, &draw, &g->list);
    dse_closed_run(dse_closed_at(closed, &veda_events, &g->list), NULL, &g->closed);
    g->run = (struct veda_run){.sim = sim,
                               .closed = &g->closed,
                               .dram = dram,
                               .sampling = dse_closed_sampling(closed),
                               .program = &g->on,
                               .regions = g->regions};
    veda_run_init(&g->run, "VEDA");
    if (!dse_eviction_at(dse_closed_cache(closed)->eviction)->keeps_all) {
        g->apart = g->run;
        veda_run_init(&g->apart, "VEDA, nothing evicted");
    }
    set_parts(g, closed);
    write_program(g);
    return true;
}

/* ---- what was seen --------------------------------------------------------------------------------------------------------- */

/* What is written at the end of a layer is on the bus when the next begins: none ends before its bytes can have passed. */
static void see_stream(struct program *g, int i)
{
    const struct dse_op *op = &g->list.op[i];
    const struct stream *s = &g->stream[i];
    const bool linear = op->kind == DSE_OP_LINEAR;
    const double bytes = linear ? g->closed.op.device_bytes[i] : op->kv_read_bytes + op->kv_write_bytes,
                 instances = s->shape.instances, peak = dse_dram_peak(g->run.dram);
    g->seen.op.time_s[i] = g->closed.op.time_s[i];
    g->seen.op.dram_s[i] = g->closed.op.dram_s[i];
    if (linear) g->seen.op.norm_exposed_s[i] = g->closed.op.norm_exposed_s[i];
    if (s->shape.weight_bytes < 1) return;
    g->seen.op.time_s[i] = dse_max(instances * (s->seen.time_s - s->seen.norm_s), dse_max(instances * s->work_s, bytes / peak));
    g->seen.op.dram_s[i] = veda_dram_s(&g->run, g->seen.op.time_s[i], instances * s->seen.data_s, bytes);
    if (linear) g->seen.op.norm_exposed_s[i] = instances * s->seen.norm_s;
}

/* Of an indexer the scores are seen; the rest is as the closed form has it. */
static void see_index(struct program *g, int i)
{
    const struct stream *s = &g->kind[i].index;
    const double seconds = s->shape.instances * s->seen.time_s;
    g->seen.group.scores_s[i] = seconds;
    g->seen.group.scores_dram_s[i] = dse_min(g->closed.group.scores_dram_s[i], seconds);
    g->seen.group.values_s[i] = g->closed.group.values_s[i];
    g->seen.group.scores_gemv_s[i] = g->closed.group.scores_gemv_s[i];
    g->seen.group.values_gemv_s[i] = g->closed.group.values_gemv_s[i];
    g->seen.group.values_dram_s[i] = g->closed.group.values_dram_s[i];
    g->seen.group.softmax_s[i] = g->closed.group.softmax_s[i];
    g->seen.group.drain_s[i] = g->closed.group.drain_s[i];
    g->seen.group.exposed_s[i] = g->closed.group.exposed_s[i];
    g->seen.group.vote_exposed_s[i] = g->closed.group.vote_exposed_s[i];
    g->seen.group.kv_bytes[i] = g->closed.group.kv_bytes[i];
    g->seen.group.vote_bytes[i] = g->closed.group.vote_bytes[i];
    g->seen.group.scores_bytes[i] = g->closed.group.scores_bytes[i];
    g->seen.group.values_bytes[i] = g->closed.group.values_bytes[i];
}

static void see_attention(struct program *g, int i)
{
    const struct kind *k = &g->kind[i];
    const struct veda_seen_gives *seen = &g->seen;
    if (k->index.name)
        see_index(g, i);
    else
        veda_plan_seen(&k->mine, &g->seen);
    const double mine = seen->group.scores_s[i] + seen->group.values_s[i] + seen->group.softmax_s[i] + seen->group.drain_s[i];
    g->seen.whole_s += g->closed.passes * (k->whole.lengths.n > 0 ? veda_plan_seconds(&k->whole) : mine);
}

static void see(struct program *g)
{
    for (int i = 0; i < g->list.n; i++) {
        const struct dse_op *op = &g->list.op[i];
        if (is_stream(op)) see_stream(g, i);
        if (op->kind == DSE_OP_COLLECTIVE) g->seen.op.time_s[i] = (double)op->repeat * g->exchange_s[i];
    }
    for (int i = 0; i < g->list.n_attentions; i++) see_attention(g, i);
    g->seen.sampled_s = sqrt(g->variance);
}

static void note(const struct program *g)
{
    struct dse_sim *sim = g->run.sim;
    const double peak_s = 1 / dse_dram_peak(g->run.dram);
    double drain_s = 0;
    for (int i = 0; i < g->list.n_attentions; i++) drain_s += g->seen.group.drain_s[i];
    if (g->paces.n > 0) dse_sim_note(sim, "weight_stream_efficiency", "", peak_s / g->paces.seen[g->paces.n - 1].pace_s);
    dse_program_note(&g->on);
    dse_sim_note(sim, "score_fifo_peak", "", g->peaks[0]);
    dse_sim_note(sim, "weight_fifo_peak", "", g->peaks[1]);
    dse_sim_note(sim, "vote_fifo_peak", "", g->peaks[2]);
    dse_sim_note(sim, "drain", "us", drain_s * DSE_US_PER_S);
}

bool veda_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    struct program *g = dse_sim_alloc(sim, 1, sizeof *g);
    const struct dse_phases phases = {.model = "veda", .object = g, .begin = begin, .end = end};
    if (!init(g, closed, sim) || !dse_program_run(&g->on, &phases, g->n)) return false;
    see(g);
    dse_closed_report(dse_closed_at(closed, &veda_seen, &g->list), &g->seen, metrics, breakdown);
    note(g);
    return true;
}
