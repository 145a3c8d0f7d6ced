/* The event level: the program's operators in the order of its graph, dispatches, the slide in the host's gap (E11 to E13).
 *
 * Every call of a static-shape program takes the same time and starts with the engine idle and the host done. So there are two
 * periods at most, a call with the host's gap and a call with the gap and a slide; each is carried out once, and the equations put
 * the step together of them (ane.toml). */
#include "ane_draws.h"
#include "ane_memory.h"

#include <dse/num.h>
#include <dse/program.h>
#include <dse/units.h>

#include <string.h>

/* What an event means. */
enum event { DISPATCHED, ARRIVED, COMPUTED, SENT, SAMPLED, SLIDE_DISPATCHED, SLID };

/* Where an operator stands in the graph of a layer, in this order. Memory operations: those of new rows, those of partial
 * results. */
enum place { PROJECTING, JOINING_ROWS, ATTENDING, ADDING_PARTS, AFTERWARDS };

/* An operator of the graph, all layers. */
struct node {
    const char *name;
    enum place place;
    bool once;                       /* in a call, behind the last layer */
    bool experts;                    /* of the LLM's routed experts, as many as have work */
    bool waits;                      /* for the host: a dispatch */
    double times;                    /* that it is done in a call: once a layer, or once */
    double time_s;                   /* as the closed form has it */
    double load_s, compute_s, bytes; /* of a product's bytes; of the engine; over the channels of the DRAM */
    double written, gate_s;          /* share of the bytes; what else paces them (struct ane_job) */
    bool copies;
    double *seen;  /* where its time goes */
    double once_s; /* of one time */
};

/* A node in a layer; behind the last one -1. */
struct stop {
    int32_t node, layer;
    double time_s, working_s; /* of the engine; the part of it in which it computes or moves data, not waiting for the DRAM */
};

enum { GROUP_NODES = 8, NODES_MAX = 2 * DSE_OPS_MAX + GROUP_NODES * DSE_ATTENTIONS_MAX + 2 };

struct run {
    struct dse_sim *sim;
    struct ane_events_reads closed;
    struct ane_call_reads call; /* with experts as drawn */
    struct ane_seen_gives seen;
    struct dse_oplist list;
    struct ane_memory *memory; /* NULL: bytes move at the closed form's bandwidth */
    double unit;               /* seconds of the point in a second of the run: 1, but for calls of days */

    struct node node[NODES_MAX]; /* in the order of a layer; then those done once */
    int nodes;
    struct stop *stop; /* of the call, all layers: `count` of them */
    int64_t layers, count;
    double slide_s;      /* without its dispatches */
    const double *share; /* E18: of experts with work, by layers that have some; NULL: alike */
    int64_t shares;

    uint32_t actor, engine, host, links; /* links: of several stages */
    /* The period that is under way. */
    bool with_slide;
    int64_t next, program;      /* node, program */
    bool host_done, slide_done; /* before the next call can start */
    double op_s[NODES_MAX];
    double engine_s; /* that the engine has worked for since engine_from: a call or a slide */
    dse_ps engine_from;
    dse_ps started, period; /* when the call started; until the next one can start */
};

static dse_ps ps_of(const struct run *r, double seconds)
{
    return dse_ps_of_s(seconds / r->unit);
}

static double seconds_of(const struct run *r, dse_ps time)
{
    return dse_s_of_ps(time) * r->unit;
}

/* ---- the graph ------------------------------------------------------------------------------------------------------------ */

/* E12: a node, once, which moves its bytes tile by tile. */
static double once_s(struct run *r, const struct node *n)
{
    const double part = 1 / n->times;
    if (!r->memory || n->bytes <= 0) return n->time_s * part;
    const struct ane_job job = {.name = n->name,
                                .bytes = n->bytes * part,
                                .work_s = n->compute_s * part,
                                .written = n->written,
                                .copies = n->copies,
                                .gate_s = n->gate_s * part};
    return ane_memory_seconds(r->memory, &job);
}

/* A node with its share of experts, over the mean. Nodes alike take the same time in each layer. */
static struct stop stop_of(const struct run *r, int node, int64_t layer, double share)
{
    const struct node *n = &r->node[node];
    const double time_s = share * n->once_s, compute_s = share * n->compute_s / n->times;
    const bool both = n->compute_s > 0 && n->bytes > 0;
    return (struct stop){.node = node,
                         .layer = (int32_t)layer,
                         .time_s = time_s,
                         .working_s = n->waits ? 0
                                      : both   ? dse_min(compute_s, time_s)
                                               : time_s};
}

static void add_node(struct run *r, struct node n)
{
    if (n.times > 0 && n.time_s > 0) r->node[r->nodes++] = n;
}

/* Matrices of the heads of absorbed latents are one operator of a layer. */
static double times_of(const struct run *r, const struct dse_op *op)
{
    double layers = 0;
    for (int i = 0; i < r->list.n_attentions; i++) {
        const struct dse_attention *a = &r->list.attention[i];
        if (a->values_in_keys && a->is_draft == op->is_draft) layers += (double)a->layers;
    }
    return op->is_per_head ? layers : (double)op->repeat;
}

/* An operator that is none of attention, and what dispatches the experts that it stands for. */
static void add_operator(struct run *r, int i, enum place place)
{
    const struct dse_op *op = &r->list.op[i];
    const bool linear = op->kind == DSE_OP_LINEAR, recurrence = op->kind == DSE_OP_RECURRENCE;
    const bool experts = linear && r->closed.op.is_expert[i] > 0 && r->closed.all_experts == 0 && !op->is_draft;
    const enum place own = linear && r->closed.op.is_afterwards[i] == 0 ? PROJECTING : AFTERWARDS;
    if (own != place || op->kind == DSE_OP_COLLECTIVE || op->in_attention) return;
    if (linear)
        add_node(r, (struct node){.name = "expert_dispatch",
                                  .place = place,
                                  .experts = experts,
                                  .waits = true,
                                  .times = times_of(r, op),
                                  .time_s = r->call.op.dispatching_s[i],
                                  .seen = &r->seen.op.dispatching_s[i]});
    const bool loads = linear || recurrence;
    const double bytes = loads ? r->call.op.moved_bytes[i] : 0;
    add_node(r, (struct node){.name = op->name,
                              .place = place,
                              .once = linear && r->closed.op.is_head[i] > 0 && !op->is_draft,
                              .experts = experts,
                              .times = times_of(r, op),
                              .time_s = r->call.op.time_s[i],
                              .load_s = loads ? r->call.op.load_s[i] : 0,
                              .compute_s = r->call.op.compute_s[i],
                              .bytes = bytes,
                              .written = !loads || bytes <= 0 ? 0
                                         : linear             ? r->call.op.cache_bytes[i] / bytes
                                                              : 0.5,
                              .copies = recurrence,
                              .gate_s = loads ? ane_gate(r->closed.stream, r->call.op.load_s[i], bytes) : 0,
                              .seen = &r->seen.op.time_s[i]});
}

/* What is read and written again. */
static void add_memory_node(struct run *r, enum place place, const char *name, double times, const double time_bytes[2],
                            double *seen)
{
    add_node(r, (struct node){.name = name,
                              .place = place,
                              .times = times,
                              .time_s = time_bytes[0],
                              .bytes = time_bytes[1],
                              .written = 0.5,
                              .copies = true,
                              .gate_s = ane_gate(r->closed.copy_stream, time_bytes[0], time_bytes[1]),
                              .seen = seen});
}

static void add_product(struct run *r, const char *name, double times, const double *time_compute_load_bytes, double *seen)
{
    const double *n = time_compute_load_bytes;
    add_node(r, (struct node){.name = name,
                              .place = ATTENDING,
                              .times = times,
                              .time_s = n[0],
                              .compute_s = n[1],
                              .load_s = n[2],
                              .bytes = n[3],
                              .seen = seen});
}

/* A kind of attention: in a layer, new rows are transposed and joined with the cache as soon as the projection has made them. */
static void add_attention(struct run *r, int i, enum place place)
{
    const struct ane_events_reads *c = &r->closed;
    struct ane_seen_gives *to = &r->seen;
    const double times = (double)r->list.attention[i].layers;
    if (place == JOINING_ROWS) {
        const double transpose[] = {c->group.transpose_s[i], c->group.transpose_bytes[i]},
                     concat[] = {c->group.concat_s[i], c->group.concat_bytes[i]},
                     copy[] = {c->group.copy_s[i], c->group.copy_bytes[i]};
        add_memory_node(r, place, "transpose", times, transpose, &to->group.transpose_s[i]);
        add_memory_node(r, place, "concat", times, concat, &to->group.concat_s[i]);
        add_memory_node(r, place, "copy", times, copy, &to->group.copy_s[i]);
    } else if (place == ATTENDING) {
        const double scores[] = {c->group.scores_s[i], c->group.scores_compute_s[i], c->group.scores_load_s[i],
                                 c->group.scores_bytes[i]},
                     values[] = {c->group.values_s[i], c->group.values_compute_s[i], c->group.values_load_s[i],
                                 c->group.values_bytes[i]},
                     softmax[] = {c->group.softmax_s[i], c->group.softmax_s[i], 0, 0};
        add_product(r, "attention_scores", times, scores, &to->group.scores_s[i]);
        add_product(r, "softmax", times, softmax, &to->group.softmax_s[i]);
        add_product(r, "attention_values", times, values, &to->group.values_s[i]);
    } else if (place == ADDING_PARTS) {
        const double sums[] = {c->group.sum_s[i], c->group.sum_bytes[i]}, counts[] = {c->group.count_s[i], c->group.count_bytes[i]};
        add_memory_node(r, place, "partial_sums", times, sums, &to->group.sum_s[i]);
        add_memory_node(r, place, "counts", times, counts, &to->group.count_s[i]);
    }
}

static void add_nodes(struct run *r, enum place place)
{
    for (int i = 0; i < r->list.n; i++) add_operator(r, i, place);
    for (int i = 0; i < r->list.n_attentions; i++) add_attention(r, i, place);
    const double reshape[] = {r->closed.reshape_s, r->closed.reshape_bytes};
    if (place == JOINING_ROWS) add_memory_node(r, place, "reshape", r->closed.layers, reshape, &r->seen.reshape_s);
    if (place == AFTERWARDS)
        add_node(r, (struct node){.name = "draft_dispatch",
                                  .place = place,
                                  .waits = true,
                                  .times = r->closed.draft_tokens,
                                  .time_s = r->closed.draft_dispatch_s,
                                  .seen = &r->seen.draft_dispatch_s});
}

/* How often a node is done in a layer: kinds of layers, and those of drafts, are spread evenly over the program. */
static int64_t times_in_layer(const struct run *r, const struct node *n, int64_t layer)
{
    const int64_t times = (int64_t)n->times;
    return (layer + 1) * times / r->layers - layer * times / r->layers;
}

/* The nth time that a node is done. */
static void add_stop(struct run *r, int node, int64_t layer, int64_t nth)
{
    const bool drawn = r->node[node].experts && r->share;
    r->stop[r->count++] = stop_of(r, node, layer, drawn ? r->share[nth % r->shares] : 1);
}

static void add_stops(struct run *r)
{
    r->layers = (int64_t)r->closed.layers;
    size_t stops = 0;
    for (int i = 0; i < r->nodes; i++) stops += (size_t)r->node[i].times;
    r->stop = dse_sim_alloc(r->sim, stops, sizeof *r->stop);
    for (int64_t layer = 0; layer < r->layers; layer++)
        for (int i = 0; i < r->nodes; i++)
            for (int64_t n = r->node[i].once ? 0 : times_in_layer(r, &r->node[i], layer); n > 0; n--)
                add_stop(r, i, layer, (layer + 1) * (int64_t)r->node[i].times / r->layers - n);
    for (int i = 0; i < r->nodes; i++)
        if (r->node[i].once) add_stop(r, i, -1, 0);
}

static void build_graph(struct run *r)
{
    for (int place = PROJECTING; place <= AFTERWARDS; place++) add_nodes(r, (enum place)place);
    for (int i = 0; i < r->nodes; i++) r->node[i].once_s = once_s(r, &r->node[i]);
    add_stops(r);
}

static const struct node *node_at(const struct run *r, int64_t i)
{
    return &r->node[r->stop[i].node];
}

/* ---- a period --------------------------------------------------------------------------------------------------------------- */

/* What the engine does next ends after so many seconds. They add up before they are rounded: hundreds of short operators drift
 * otherwise. */
static void after(struct run *r, double seconds, enum event event)
{
    r->engine_s += seconds;
    dse_sim_at(r->sim, r->engine_from + ps_of(r, r->engine_s), r->actor, event);
}

static void engine_is(struct run *r, enum dse_state state, const char *label, int64_t id)
{
    dse_resource_state(r->sim, r->engine, state, label, id);
}

static double slide_dispatch_s(const struct run *r)
{
    return r->closed.slide_programs * r->closed.dispatch_us / DSE_US_PER_S;
}

static void start_slide(struct run *r)
{
    engine_is(r, DSE_STALL_INPUT, "dispatch", -1);
    r->engine_from = dse_sim_now(r->sim);
    r->engine_s = 0;
    after(r, slide_dispatch_s(r), SLIDE_DISPATCHED);
}

/* E13: the host samples; a slide that may be hidden runs meanwhile. */
static void start_host(struct run *r)
{
    dse_resource_state(r->sim, r->host, DSE_BUSY, "sampling", -1);
    dse_sim_at(r->sim, dse_sim_now(r->sim) + ps_of(r, r->closed.host_gap_us / DSE_US_PER_S), r->actor, SAMPLED);
    r->slide_done = !r->with_slide;
    if (r->with_slide && r->closed.is_hidden > 0) start_slide(r);
}

/* E22: other stages send at the same time; what this one gets is there when its own is gone. */
static void end_call(struct run *r)
{
    engine_is(r, DSE_IDLE, NULL, -1);
    if (r->closed.send_s <= 0) {
        start_host(r);
        return;
    }
    dse_resource_state(r->sim, r->links, DSE_BUSY, "next_stage", -1);
    dse_sim_at(r->sim, dse_sim_now(r->sim) + ps_of(r, r->closed.send_s), r->actor, SENT);
}

static void end_sending(struct run *r)
{
    dse_resource_state(r->sim, r->links, DSE_IDLE, NULL, -1);
    start_host(r);
}

static void start_program(struct run *r)
{
    engine_is(r, DSE_STALL_INPUT, "dispatch", r->program);
    after(r, r->closed.dispatch_us / DSE_US_PER_S, DISPATCHED);
}

/* The next node of the program; or the next program; or the end of the call. Programs share out the nodes evenly, in order.
 * Waiting for an operator's tiles and computing them take turns; the timeline has one after the other. */
static void go_on(struct run *r)
{
    int64_t end = (r->program + 1) * r->count / (int64_t)r->closed.programs;
    if (r->next < end) {
        const struct stop *s = &r->stop[r->next];
        engine_is(r, DSE_STALL_INPUT, node_at(r, r->next)->name, s->layer);
        after(r, s->time_s - s->working_s, ARRIVED);
    } else if (++r->program < (int64_t)r->closed.programs) {
        start_program(r);
    } else {
        end_call(r);
    }
}

static void compute(struct run *r)
{
    const struct stop *s = &r->stop[r->next];
    engine_is(r, DSE_BUSY, node_at(r, r->next)->name, s->layer);
    after(r, s->working_s, COMPUTED);
}

static void end_node(struct run *r)
{
    r->op_s[r->stop[r->next].node] += r->stop[r->next].time_s;
    r->next++;
    go_on(r);
}

static void end_sampling(struct run *r)
{
    r->host_done = true;
    dse_resource_state(r->sim, r->host, DSE_IDLE, NULL, -1);
    if (r->with_slide && r->closed.is_hidden == 0) start_slide(r);
}

static void slide_rows(struct run *r)
{
    engine_is(r, DSE_BUSY, "slide", -1);
    after(r, r->slide_s, SLID);
}

static void act(struct dse_sim *sim, void *object, uint32_t event)
{
    struct run *r = object;
    switch ((enum event)event) {
    case DISPATCHED: go_on(r); break;
    case ARRIVED: compute(r); break;
    case COMPUTED: end_node(r); break;
    case SENT: end_sending(r); break;
    case SAMPLED: end_sampling(r); break;
    case SLIDE_DISPATCHED: slide_rows(r); break;
    case SLID:
        r->slide_done = true;
        engine_is(r, DSE_IDLE, NULL, -1);
        break;
    }
    if (r->host_done && r->slide_done) r->period = dse_sim_now(sim) - r->started;
}

/* False: the run failed. */
static bool run_period(struct run *r, bool with_slide)
{
    r->with_slide = with_slide;
    r->started = r->engine_from = dse_sim_now(r->sim);
    r->engine_s = 0;
    r->next = r->program = 0;
    r->host_done = r->slide_done = false;
    memset(r->op_s, 0, sizeof r->op_s);
    start_program(r);
    return dse_sim_run(r->sim);
}

/* ---- the point --------------------------------------------------------------------------------------------------------------- */

/* E13: whole slides of a generation; in the mean of all places that a token can have in its block, 1 / Q of one. */
static double slides_of_call(const struct run *r)
{
    const double generate = r->closed.generate, rows = r->closed.rows_q;
    if (r->closed.each_call > 0 || r->closed.draft_tokens > 0 || generate == 0 || dse_sim_ideal(r->sim, DSE_IDEAL_DRAWS))
        return r->closed.slides_call;
    return (double)(int64_t)(generate / rows) / generate;
}

/* Of the time of a node loading is no more than its bytes take, and no more than what computing leaves where the two do not
 * overlap. */
static void see(struct run *r, int i)
{
    const struct node *n = &r->node[i];
    const double left_s = r->closed.is_summed > 0 ? dse_max(0, r->op_s[i] - n->compute_s) : r->op_s[i];
    *n->seen = r->op_s[i];
    r->seen.load_s += dse_min(n->load_s, left_s);
}

/* What the periods took, in place of what E4 and E6 say. */
static bool take_times(struct run *r)
{
    if (!run_period(r, false)) return false;
    const dse_ps alone = r->period;
    for (int i = 0; i < r->nodes; i++) see(r, i);
    if (r->closed.slide_bytes == 0) return true;
    if (!run_period(r, true)) return false;
    r->seen.exposed_s = seconds_of(r, r->period - alone);
    r->seen.slides_call = slides_of_call(r);
    return true;
}

/* The equations, with experts as drawn; what is seen is theirs as long as nothing else is. */
static void read_equations(struct run *r, struct dse_closed *closed)
{
    struct ane_call_gives *given = dse_sim_alloc(r->sim, 1, sizeof *given);
    const struct ane_events_reads *c = &r->closed;
    dse_closed_operators(closed, &r->list);
    dse_closed_run(dse_closed_at(closed, &ane_events, NULL), NULL, &r->closed);
    dse_sim_seed(r->sim, (uint64_t)c->seed);
    r->shares = ane_draw_experts(r->sim, c, dse_closed_workload(closed), &r->list, given->op.experts, &r->share);
    dse_closed_run(dse_closed_at(closed, &ane_call, NULL), given, &r->call);
    r->slide_s = c->slide_s - slide_dispatch_s(r);
    r->seen.slide_s = c->slide_s;
    r->seen.exposed_s = c->exposed_s;
    r->seen.slides_call = c->slides_call;
    memcpy(r->seen.op.experts, given->op.experts, sizeof r->seen.op.experts);
    memcpy(r->seen.op.time_s, r->call.op.time_s, sizeof r->seen.op.time_s);
}

/* An ideal DRAM has the closed form's bandwidth, and its bytes need not be moved. False: the run is refused. */
static bool open_memory(struct run *r, struct dse_closed *closed)
{
    if (dse_sim_ideal(r->sim, DSE_IDEAL_DRAM)) return true;
    r->memory = ane_memory_new(r->sim, dse_closed_memory(closed), &r->closed, r->engine);
    return r->memory;
}

static void time_slide(struct run *r)
{
    if (!r->memory || r->closed.slide_bytes <= 0) return;
    r->slide_s = ane_slide_seconds(r->memory, &r->closed);
    r->seen.slide_s = slide_dispatch_s(r) + r->slide_s;
}

bool ane_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    struct run *r = dse_sim_alloc(sim, 1, sizeof *r);
    memset(r, 0, sizeof *r);
    r->sim = sim;
    read_equations(r, closed);
    r->unit = dse_run_unit(r->call.call_s + r->closed.slide_s);
    r->actor = dse_sim_actor(sim, act, r);
    r->engine = dse_resource(sim, NULL, "engine");
    r->host = dse_resource(sim, NULL, "host");
    if (r->closed.send_s > 0) r->links = dse_resource(sim, NULL, "links");
    if (!open_memory(r, closed)) return false;
    build_graph(r);
    time_slide(r);
    if (dse_sim_error(sim) || !take_times(r)) return false;
    dse_sim_note(sim, "operators_a_call", "", (double)r->count);
    dse_closed_report(dse_closed_at(closed, &ane_seen, NULL), &r->seen, metrics, breakdown);
    return true;
}
