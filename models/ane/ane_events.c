/* The event level: the program's operators in the order of its graph, dispatches, the slide in the host's gap (E11 to E13).
 *
 * Every call of a static-shape program takes the same time and starts with the engine idle and the host done. So there are two
 * periods at most, a call with the host's gap and a call with the gap and a slide; each is carried out once, and the step is put
 * together of them. */
#include "ane.h"

#include <dse/num.h>
#include <dse/program.h>
#include <dse/units.h>

/* What an event means. */
enum event { DISPATCHED, ARRIVED, COMPUTED, SENT, SAMPLED, SLIDE_DISPATCHED, SLID };

/* An operator of the graph. */
struct node {
    const struct ane_op *op;
    int index; /* in the call */
};

/* A node in a layer; behind the last one -1. */
struct stop {
    int32_t node, layer;
    double time_s, working_s; /* of the engine; the part of it in which it computes or moves data, not waiting for the DRAM */
};

struct run {
    struct dse_sim *sim;
    const struct ane_params *p;
    const struct ane_call *call;
    const struct ane_slide_run *slide;
    double unit; /* seconds of the point in a second of the run: 1, but for calls of days */

    struct node node[ANE_OPS_MAX]; /* in the order of a layer; then those done once */
    int nodes;
    struct stop *stop; /* of the call, all layers: `count` of them */
    int64_t layers, count;
    const double *share; /* E18: of experts with work, by layers that have some; NULL: alike */
    int64_t shares;

    uint32_t actor, engine, host, links; /* links: of several stages */
    /* The period that is under way. */
    bool with_slide;
    int64_t next, program;      /* node, program */
    bool host_done, slide_done; /* before the next call can start */
    double op_s[ANE_OPS_MAX];   /* by the index in the call */
    double engine_s;            /* that the engine has worked for since engine_from: a call or a slide */
    dse_ps engine_from;
    dse_ps started, period; /* when the call started; until the next one can start */
    double call_s;
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

/* E12. The bytes arrive in n tiles alike, one being computed while the next one is loaded: load + (n - 1) max(load, compute) +
 * compute, which is what two buffers give. Without bound on the tiles: the longer of both, as in E4. */
static struct stop stop_of(const struct run *r, int node, int64_t layer, double share)
{
    const struct ane_params *p = r->p;
    const struct ane_op *op = r->node[node].op;
    const double part = share / op->times;
    double bytes = op->bytes * part, compute = op->compute_s * part, load = op->load_s * part, time = op->time_s * part,
           working = time;
    if (op->ops > 0 && bytes > 0) {
        double tiles = dse_ceil(dse_min(bytes / (p->engine_tile_kib * DSE_KIB), 1e15));
        working = compute;
        if (p->overlap == ANE_MAX && !dse_sim_ideal(r->sim, DSE_IDEAL_FIFOS)) time += dse_min(load, compute) / tiles;
    }
    if (op->bound == DSE_BOUND_LATENCY) working = 0;
    return (struct stop){.node = node, .layer = (int32_t)layer, .time_s = time, .working_s = working};
}

static void add_nodes(struct run *r, enum ane_place place, bool once)
{
    for (int i = 0; i < r->call->n_ops; i++) {
        const struct ane_op *op = &r->call->op[i];
        if (op->place == place && op->once == once) r->node[r->nodes++] = (struct node){op, i};
    }
}

/* How often a node is done in a layer: kinds of layers, and those of drafts, are spread evenly over the program. */
static int64_t times_in_layer(const struct run *r, const struct node *n, int64_t layer)
{
    const int64_t times = (int64_t)n->op->times;
    return (layer + 1) * times / r->layers - layer * times / r->layers;
}

/* The nth time that a node is done. */
static void add_stop(struct run *r, int node, int64_t layer, int64_t nth)
{
    const bool drawn = r->node[node].op->experts && r->share;
    r->stop[r->count++] = stop_of(r, node, layer, drawn ? r->share[nth % r->shares] : 1);
}

static void add_stops(struct run *r)
{
    r->layers = (int64_t)r->call->shape.layers;
    size_t stops = 0;
    for (int i = 0; i < r->nodes; i++) stops += (size_t)r->node[i].op->times;
    r->stop = dse_sim_alloc(r->sim, stops, sizeof *r->stop);
    for (int64_t layer = 0; layer < r->layers; layer++)
        for (int i = 0; i < r->nodes; i++)
            for (int64_t n = r->node[i].op->once ? 0 : times_in_layer(r, &r->node[i], layer); n > 0; n--)
                add_stop(r, i, layer, (layer + 1) * (int64_t)r->node[i].op->times / r->layers - n);
    for (int i = 0; i < r->nodes; i++)
        if (r->node[i].op->once) add_stop(r, i, -1, 0);
}

/* In a layer, new rows are transposed and joined with the cache as soon as the projection has made them. */
static void build_graph(struct run *r)
{
    for (int place = ANE_PROJECTING; place <= ANE_AFTERWARDS; place++) add_nodes(r, (enum ane_place)place, false);
    add_nodes(r, ANE_AFTERWARDS, true);
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
    return (double)r->p->slide_programs * r->p->dispatch_us / DSE_US_PER_S;
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
    dse_sim_at(r->sim, dse_sim_now(r->sim) + ps_of(r, r->p->host_gap_us / DSE_US_PER_S), r->actor, SAMPLED);
    r->slide_done = !r->with_slide;
    if (r->with_slide && r->p->slide == ANE_HIDDEN) start_slide(r);
}

/* E22: other stages send at the same time; what this one gets is there when its own is gone. */
static void end_call(struct run *r)
{
    r->call_s = r->engine_s;
    engine_is(r, DSE_IDLE, NULL, -1);
    if (r->call->send_s <= 0) {
        start_host(r);
        return;
    }
    dse_resource_state(r->sim, r->links, DSE_BUSY, "next_stage", -1);
    dse_sim_at(r->sim, dse_sim_now(r->sim) + ps_of(r, r->call->send_s), r->actor, SENT);
}

static void end_sending(struct run *r)
{
    dse_resource_state(r->sim, r->links, DSE_IDLE, NULL, -1);
    start_host(r);
}

static void start_program(struct run *r)
{
    engine_is(r, DSE_STALL_INPUT, "dispatch", r->program);
    after(r, r->p->dispatch_us / DSE_US_PER_S, DISPATCHED);
}

/* The next node of the program; or the next program; or the end of the call. Programs share out the nodes evenly, in order.
 * Waiting for an operator's tiles and computing them take turns; the timeline has one after the other. */
static void go_on(struct run *r)
{
    int64_t end = (r->program + 1) * r->count / r->p->programs;
    if (r->next < end) {
        const struct stop *s = &r->stop[r->next];
        engine_is(r, DSE_STALL_INPUT, node_at(r, r->next)->op->name, s->layer);
        after(r, s->time_s - s->working_s, ARRIVED);
    } else if (++r->program < r->p->programs) {
        start_program(r);
    } else {
        end_call(r);
    }
}

static void compute(struct run *r)
{
    const struct stop *s = &r->stop[r->next];
    engine_is(r, DSE_BUSY, node_at(r, r->next)->op->name, s->layer);
    after(r, s->working_s, COMPUTED);
}

static void end_node(struct run *r)
{
    r->op_s[node_at(r, r->next)->index] += r->stop[r->next].time_s;
    r->next++;
    go_on(r);
}

static void end_sampling(struct run *r)
{
    r->host_done = true;
    dse_resource_state(r->sim, r->host, DSE_IDLE, NULL, -1);
    if (r->with_slide && r->p->slide == ANE_EXPOSED) start_slide(r);
}

static void slide_rows(struct run *r)
{
    engine_is(r, DSE_BUSY, "slide", -1);
    after(r, r->slide->time_s - slide_dispatch_s(r), SLID);
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
    for (int i = 0; i < ANE_OPS_MAX; i++) r->op_s[i] = 0;
    start_program(r);
    return dse_sim_run(r->sim);
}

/* ---- the point --------------------------------------------------------------------------------------------------------------- */

/* E13: whole slides of a generation; in the mean of all places that a token can have in its block, 1 / Q of one. */
static double slides_per_token(const struct run *r)
{
    double generate = (double)r->p->request.generate, rows = r->call->shape.rows;
    if (r->p->slide_each == ANE_EACH_CALL) return 1;
    if (r->p->workload.speculation.draft_tokens > 0) return r->slide->per_generate_call;
    if (generate == 0 || dse_sim_ideal(r->sim, DSE_IDEAL_DRAWS)) return 1 / rows;
    return (double)(int64_t)(generate / rows) / generate;
}

/* What the periods took, in place of what E4 and E6 say. */
static bool take_times(struct run *r, struct ane_call *call, struct ane_slide_run *slide)
{
    if (!run_period(r, false)) return false;
    dse_ps alone = r->period;
    for (int i = 0; i < call->n_ops; i++) call->op[i].time_s = r->op_s[i];
    call->time_s = r->call_s;
    if (slide->bytes == 0) return true;
    if (!run_period(r, true)) return false;
    slide->exposed_s = seconds_of(r, r->period - alone);
    slide->per_generate_call = slides_per_token(r);
    return true;
}

/* Of a stage. */
static int64_t expert_layers(const struct ane_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    int64_t layers = 0;
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].ffn == DSE_FFN_EXPERTS) layers += llm->kinds[i].layers;
    return (int64_t)dse_ceil((double)layers / ane_stages(p));
}

/* E18: experts with work, where not all are computed. */
static void draw_experts(struct run *r, struct ane_call *call, const struct ane_shape *shape)
{
    const struct ane_params *p = r->p;
    const struct dse_draw draw = dse_draw_of(r->sim, 0, expert_layers(p));
    if (draw.layers == 0 || p->expert_dispatch == ANE_ALL_EXPERTS) {
        ane_call_init(call, p, shape);
        return;
    }
    double *share = dse_sim_alloc(r->sim, (size_t)draw.layers, sizeof *share);
    r->shares = ane_llms_shares(p, shape, &draw, share);
    r->share = share;
    ane_call_drawn(call, p, shape, &draw);
}

bool ane_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct ane_params *p = params;
    struct ane_request request = ane_request_of(p);
    struct ane_shape shape;
    struct ane_call call;
    struct run *r = dse_sim_alloc(sim, 1, sizeof *r);
    *r = (struct run){.sim = sim, .p = p};
    dse_sim_seed(sim, (uint64_t)p->seed);
    ane_shape_init(&shape, p, (double)p->query_rows, request.kept);
    draw_experts(r, &call, &shape);
    const struct ane_call closed = call;
    struct ane_slide_run slide = ane_slide_of(p, &call);
    const struct ane_slide_run closed_slide = slide;
    r->call = &closed;
    r->slide = &closed_slide;
    r->unit = dse_run_unit(call.time_s + slide.time_s);
    r->actor = dse_sim_actor(sim, act, r);
    r->engine = dse_resource(sim, NULL, "engine");
    r->host = dse_resource(sim, NULL, "host");
    if (call.send_s > 0) r->links = dse_resource(sim, NULL, "links");
    build_graph(r);
    if (!take_times(r, &call, &slide)) return false;
    dse_sim_note(sim, "operators_a_call", "", (double)r->count);
    ane_fill(p, &call, &slide, metrics, breakdown);
    return true;
}
