/* The event level: the kernels of a step in the order of the queue, when the host launches each, and what each takes (E19 to E25).
 *
 * A kernel runs block by block the first time it comes. Kernels alike take the same time, so later ones take what the first one
 * took; attention differs from layer to layer by the vectors that are done again. */
#include "flashdecoding_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* What kernels of a step are of. The linear operators come first. */
enum part { QKV, OUTPUT, FFN_UP, FFN_DOWN, LM_HEAD, LINEARS, ATTENTION = LINEARS, TECHNIQUE, ELEMENTWISE, ALL_REDUCE, PARTS };
/* The parts of attention: the first pass, vectors that are done again by the same kernel, the sum of partial results. */
enum attention { PASS, AGAIN, REDUCE, ATTENTION_PARTS };

/* Kernels of one part, one after the other; attention has its own order. */
struct entry {
    enum part part;
    int64_t times;
};
enum { ENTRIES_MAX = 10 };

enum event { START, CHANGE, END, LAUNCHED };

struct run {
    struct dse_sim *sim;
    const struct fd_site *at;
    const struct flashdecoding_run_reads *r;
    int op[PARTS];                /* place in the list of operators; -1: none */
    struct fd_cost cost[LINEARS]; /* what is run */
    bool queued;                  /* launches run ahead; else a kernel shorter than launch_us waits for the next one, as in E14 */
    double unit;                  /* seconds of the step in a second of the run: 1, but for steps of days */

    struct entry entry[ENTRIES_MAX]; /* of a layer */
    int entries;
    int64_t layers;

    /* What a kernel of each part takes, once it is known; else NaN. Of attention: the first pass. */
    double seconds[PARTS], stream_s; /* stream_s: the first pass of attention without synchronized updates */
    struct fd_attention attention;
    struct fd_blocks *again_blocks;
    struct fd_again_run again;
    struct fd_kernel_run kernel, technique;
    struct fd_grid grid;

    uint32_t actor, device, host, link;
    /* Where the step is. */
    int64_t layer, repeat, launches;
    int at_entry, attention_part;
    dse_ps first, started, entered, took[PARTS], waited[PARTS], took_attention[ATTENTION_PARTS];
    double again_vectors, again_bytes, again_layers, waves;
};

static dse_ps ps_of(const struct run *r, double seconds)
{
    return dse_ps_of_s(seconds / r->unit);
}

static double seconds_of(const struct run *r, dse_ps time)
{
    return dse_s_of_ps(time) * r->unit;
}

/* ---- the queue ----------------------------------------------------------------------------------------------------------- */

static void add_entry(struct run *r, enum part part, int64_t times)
{
    if (times > 0) r->entry[r->entries++] = (struct entry){.part = part, .times = times};
}

static bool decode(const struct run *r)
{
    return r->r->prefill == 0;
}

/* Instances in a layer. */
static int64_t in_layer(const struct run *r, enum part part)
{
    return r->op[part] < 0 ? 0 : (int64_t)(r->r->op.count[r->op[part]] / (double)r->layers);
}

static void build_queue(struct run *r)
{
    enum { REDUCES = 2 }; /* behind the output projection, and behind the network */
    const int64_t reduces = in_layer(r, ALL_REDUCE) / REDUCES, technique = (int64_t)fd_technique_run(&r->technique, r->at);
    const bool before = r->r->pages > 0 && decode(r); /* what is read is chosen before */
    add_entry(r, QKV, 1);
    if (before) add_entry(r, TECHNIQUE, technique);
    add_entry(r, ATTENTION, 1);
    if (!before) add_entry(r, TECHNIQUE, technique);
    add_entry(r, OUTPUT, 1);
    add_entry(r, ALL_REDUCE, reduces);
    add_entry(r, FFN_UP, in_layer(r, FFN_UP));
    add_entry(r, FFN_DOWN, 1);
    add_entry(r, ALL_REDUCE, reduces);
    add_entry(r, ELEMENTWISE, (int64_t)r->r->elementwise_kernels);
}

/* What comes now; the output head after the last layer. */
static struct entry entry_now(const struct run *r)
{
    if (r->layer == r->layers) return (struct entry){.part = LM_HEAD, .times = 1};
    return r->entry[r->at_entry];
}

/* Kernels launched by what comes now, all of it: the partial results of decode attention are added by a second one. */
static int64_t launches_of(const struct run *r, enum part part)
{
    if (part == ALL_REDUCE) return 0;
    return part == ATTENTION && decode(r) ? 2 : 1;
}

/* Does the host launch this? What is done again belongs to the kernel of the first pass. */
static bool launched(const struct run *r, enum part part)
{
    return part != ALL_REDUCE && !(part == ATTENTION && r->attention_part == AGAIN);
}

/* E24: when the kernel that comes now can start, now that what was before it has ended. */
static dse_ps start_time(const struct run *r, enum part part)
{
    dse_ps now = dse_sim_now(r->sim);
    if (!r->queued || !launched(r, part)) return dse_max_i64(now, r->entered);
    dse_ps gap = r->launches > 0 ? ps_of(r, r->r->kernel_gap_us / DSE_US_PER_S) : 0;
    dse_ps ready = r->first + ps_of(r, (double)(r->launches + 1) * r->r->launch_us / DSE_US_PER_S);
    return dse_max_i64(ready, now + gap);
}

static void next_kernel(struct run *r)
{
    enum part part = entry_now(r).part;
    dse_ps now = dse_sim_now(r->sim), start = start_time(r, part);
    if (start > now) dse_resource_state(r->sim, r->device, DSE_STALL_INPUT, "launch", -1);
    r->waited[part] += r->queued ? start - now : 0;
    if (launched(r, part)) r->launches++;
    dse_sim_at(r->sim, start, r->actor, START);
}

/* Without a queue, what was launched for a part holds up what comes after it. */
static void hold(struct run *r, enum part part)
{
    dse_ps now = dse_sim_now(r->sim);
    dse_ps until = r->entered + ps_of(r, (double)launches_of(r, part) * r->r->launch_us / DSE_US_PER_S);
    bool longer = !r->queued && r->r->waited != 0 && until > now;
    if (longer) r->waited[part] += until - now;
    r->entered = longer ? until : now;
}

/* Go to what comes next. False: the step is done. */
static bool step_on(struct run *r)
{
    struct entry e = entry_now(r);
    if (e.part == ATTENTION && ++r->attention_part < (decode(r) ? ATTENTION_PARTS : REDUCE)) return true;
    r->attention_part = PASS;
    hold(r, e.part);
    if (r->layer == r->layers) return false;
    if (++r->repeat < e.times) return true;
    r->repeat = 0;
    if (++r->at_entry < r->entries) return true;
    r->at_entry = 0;
    r->layer++;
    return true;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

static const char *const part_names[PARTS] = {
    [ATTENTION] = "attention", [TECHNIQUE] = "technique", [ELEMENTWISE] = "elementwise", [ALL_REDUCE] = "all_reduce"};
static const char *const attention_names[ATTENTION_PARTS] = {"attention", "attention again", "attention sum"};

static const char *name_of(const struct run *r, enum part part)
{
    if (part == ATTENTION) return attention_names[r->attention_part];
    return part < LINEARS ? r->at->list->op[r->op[part]].name : part_names[part];
}

/* The layer whose draws this one has. */
static uint64_t drawn_layer(const struct run *r)
{
    const int64_t drawn = dse_closed_events(r->at->closed)->layers_simulated;
    return (uint64_t)(drawn > 0 ? r->layer % drawn : r->layer);
}

/* What the vectors of this layer that leave the range take, or the blocks that do them again. */
static double again_seconds(struct run *r, const struct fd_grid_spec **ret_grid)
{
    const struct flashdecoding_run_reads *c = r->r;
    if (r->at->whole) return c->group.again_s[0] / (double)r->layers;
    const double done_again_s = r->stream_s - (r->at->even ? c->group.fixed_s[0] : 0);
    if (r->at->mean) return c->asynchronous != 0 ? (c->async_factor - 1) * done_again_s : 0;
    r->again = fd_draw_again(&r->attention, drawn_layer(r), r->again_blocks);
    r->again_vectors += r->again.vectors;
    r->again_bytes += r->again.bytes;
    if (r->again.grid.n == 0) return 0;
    r->again_layers++;
    *ret_grid = &r->again.grid;
    return (double)NAN;
}

/* Seconds of the kernel that comes now; or NaN, and its blocks. */
static double kernel_seconds(struct run *r, enum part part, const struct fd_grid_spec **ret_grid)
{
    if (part == ATTENTION && r->attention_part == AGAIN) return again_seconds(r, ret_grid);
    if (part == ATTENTION && r->attention_part == REDUCE)
        return r->at->whole || r->at->flat_memory || r->at->even ? 0 : r->attention.reduce_s;
    if (isnan(r->seconds[part]))
        *ret_grid = part == ATTENTION ? &r->attention.first : part == TECHNIQUE ? &r->technique.grid : &r->kernel.grid;
    return r->seconds[part];
}

static void start_kernel(struct run *r)
{
    enum part part = entry_now(r).part;
    const struct fd_grid_spec *grid = NULL;
    r->started = dse_sim_now(r->sim);
    if (part < LINEARS && isnan(r->seconds[part])) {
        fd_linear_run(&r->kernel, r->at, &r->cost[part]);
        if (r->kernel.grid.n == 0) r->seconds[part] = r->kernel.seconds;
    }
    double seconds = kernel_seconds(r, part, &grid);
    if (part == ALL_REDUCE)
        dse_resource_state(r->sim, r->link, DSE_BUSY, name_of(r, part), r->layer);
    else if (seconds > 0 || grid)
        dse_resource_state(r->sim, r->device, DSE_BUSY, name_of(r, part), r->layer);
    if (!grid) {
        dse_sim_at(r->sim, r->started + ps_of(r, seconds), r->actor, END);
        return;
    }
    fd_grid_start(&r->grid, r->sim, grid);
    dse_sim_at(r->sim, r->started, r->actor, CHANGE);
}

static void end_kernel(struct run *r)
{
    enum part part = entry_now(r).part;
    dse_ps time = dse_sim_now(r->sim) - r->started;
    r->took[part] += time;
    if (part == ATTENTION) r->took_attention[r->attention_part] += time;
    dse_resource_state(r->sim, part == ALL_REDUCE ? r->link : r->device, DSE_IDLE, NULL, -1);
    if (step_on(r)) next_kernel(r);
}

/* Something has changed on the SMs, or is about to: at the start, and whenever blocks go from one phase to the next. */
static void change(struct run *r)
{
    double dt;
    while (fd_grid_next(&r->grid, &dt)) {
        dse_ps at = r->started + ps_of(r, r->grid.elapsed + dt);
        fd_grid_advance(&r->grid);
        if (at > dse_sim_now(r->sim)) {
            dse_sim_at(r->sim, at, r->actor, CHANGE);
            return;
        }
    }
    enum part part = entry_now(r).part;
    r->waves += r->grid.waves;
    if (part != ATTENTION || r->attention_part == PASS) r->seconds[part] = r->grid.elapsed;
    end_kernel(r);
}

static void act(struct dse_sim *sim, void *object, uint32_t event)
{
    struct run *r = object;
    switch ((enum event)event) {
    case START: start_kernel(r); break;
    case CHANGE: change(r); break;
    case END: end_kernel(r); break;
    case LAUNCHED: dse_resource_state(sim, r->host, DSE_IDLE, NULL, -1); break;
    }
}

/* ---- the step ------------------------------------------------------------------------------------------------------------ */

/* E25; one that is fused takes no time of its own. */
static double elementwise_seconds(const struct run *r)
{
    const int op = r->op[ELEMENTWISE];
    if (op < 0 || r->r->elementwise_kernels == 0) return 0;
    return r->at->whole ? r->r->op.each_s[op] / r->r->op.kernels[op] : fd_scalars_seconds(r->at, op);
}

/* The operators of the queue. */
static void find_operators(struct run *r)
{
    static const enum dse_op_role roles[PARTS] = {
        [QKV] = DSE_ROLE_QUERY_KEY_VALUE, [OUTPUT] = DSE_ROLE_ATTENTION_OUTPUT, [FFN_UP] = DSE_ROLE_FFN_UP,
        [FFN_DOWN] = DSE_ROLE_FFN_DOWN,   [LM_HEAD] = DSE_ROLE_OUTPUT_HEAD,     [ATTENTION] = DSE_ROLE_ATTENTION_SCORES,
        [TECHNIQUE] = DSE_OP_ROLES,       [ELEMENTWISE] = DSE_ROLE_ELEMENTWISE, [ALL_REDUCE] = DSE_ROLE_ALL_REDUCE};
    for (int part = 0; part < PARTS; part++) {
        r->op[part] = -1;
        for (int i = 0; i < r->at->list->n; i++)
            if (r->at->list->op[i].role == roles[part]) r->op[part] = i;
    }
}

static void start_run(struct run *r)
{
    const struct flashdecoding_run_reads *c = r->r;
    r->queued = !r->at->even && !r->at->whole;
    r->again_blocks = dse_sim_alloc(r->sim, FD_AGAIN_MAX, sizeof *r->again_blocks);
    fd_attention_init(&r->attention, r->at, 0);
    r->stream_s = r->at->whole ? c->group.stream_s[0] / (double)r->layers : fd_attention_seconds(&r->attention, false);
    for (int i = 0; i < PARTS; i++) r->seconds[i] = (double)NAN;
    for (int i = 0; i < LINEARS; i++) r->cost[i] = fd_chosen(r->at, r->op[i]);
    r->seconds[ELEMENTWISE] = elementwise_seconds(r);
    if (r->op[ALL_REDUCE] >= 0) r->seconds[ALL_REDUCE] = c->op.each_s[r->op[ALL_REDUCE]];
    if (r->technique.grid.n == 0) r->seconds[TECHNIQUE] = r->technique.seconds;
    if (r->at->whole) r->seconds[ATTENTION] = (c->group.stream_s[0] + c->group.sync_s[0]) / (double)r->layers;
    r->actor = dse_sim_actor(r->sim, act, r);
    r->device = dse_resource(r->sim, NULL, "SMs");
    r->host = dse_resource(r->sim, NULL, "host");
    if (r->op[ALL_REDUCE] >= 0) r->link = dse_resource(r->sim, NULL, "link");
    r->first = r->entered = dse_sim_now(r->sim);
}

/* All launches of the step, and the time in which the host makes them. */
static void show_launches(struct run *r)
{
    double kernels = 0;
    for (int i = 0; i < r->entries; i++) kernels += (double)(r->entry[i].times * launches_of(r, r->entry[i].part));
    kernels = kernels * (double)r->layers + 1;
    dse_sim_note(r->sim, "launches", "", kernels);
    if (!r->queued || r->r->launch_us <= 0) return;
    dse_resource_state(r->sim, r->host, DSE_BUSY, "launches", -1);
    dse_sim_at(r->sim, r->first + ps_of(r, kernels * r->r->launch_us / DSE_US_PER_S), r->actor, LAUNCHED);
}

/* What the run took, in place of what E9 to E15 say. Fused element-wise operators hide behind the linear ones, as in E14. */
static void see(const struct run *r, struct flashdecoding_seen_gives *ret)
{
    for (int part = 0; part < PARTS; part++) {
        const int op = r->op[part];
        if (part == ATTENTION || op < 0) continue;
        ret->op.wait_s[op] = seconds_of(r, r->waited[part]);
        ret->op.time_s[op] = seconds_of(r, r->took[part]) + ret->op.wait_s[op];
    }
    for (int part = 0; part < LINEARS; part++) fd_see_kernel(ret, r->op[part], &r->cost[part]);
    const double pass_s = seconds_of(r, r->took_attention[PASS]);
    ret->technique_wait_s = seconds_of(r, r->waited[TECHNIQUE]);
    ret->technique_s = seconds_of(r, r->took[TECHNIQUE]) + ret->technique_wait_s;
    ret->group.wait_s[0] = seconds_of(r, r->waited[ATTENTION]);
    ret->group.time_s[0] = seconds_of(r, r->took[ATTENTION]) + ret->group.wait_s[0];
    ret->group.again_s[0] = seconds_of(r, r->took_attention[AGAIN]);
    ret->group.sync_s[0] = r->r->asynchronous != 0 ? 0 : dse_max(0, pass_s - (double)r->layers * r->stream_s);
    ret->group.moved[0] += r->again_bytes;
}

static void note(const struct run *r)
{
    dse_sim_note(r->sim, "waves", "", r->waves);
    dse_sim_note(r->sim, "splits", "", r->attention.splits);
    dse_sim_note(r->sim, "vectors_again", "", r->again_vectors);
    dse_sim_note(r->sim, "layers_again", "", r->again_layers);
}

/* A step of an LLM with full attention and dense networks, one token a sequence, on one device or several by tensor_parallel. */
static bool run_step(const struct fd_site *at, double seconds, struct flashdecoding_seen_gives *seen)
{
    struct run *r = dse_sim_alloc(at->sim, 1, sizeof *r);
    *r = (struct run){.sim = at->sim, .at = at, .r = &at->r, .unit = dse_run_unit(seconds)};
    r->layers = dse_closed_workload(at->closed)->llm->layers;
    find_operators(r);
    build_queue(r);
    start_run(r);
    show_launches(r);
    next_kernel(r);
    if (!dse_sim_run(r->sim)) return false;
    see(r, seen);
    note(r);
    return true;
}

/* ---- what was seen --------------------------------------------------------------------------------------------------------- */

void fd_seen_init(struct flashdecoding_seen_gives *ret, const struct fd_site *at)
{
    const struct flashdecoding_events_reads *point = at->point;
    const struct flashdecoding_run_reads *r = &at->r;
    struct fd_cost three[FD_VENDOR];
    fd_profile(at, FD_LOOKED_AT, three);
    *ret = (struct flashdecoding_seen_gives){.seen = 1,
                                             .ghz = at->ghz,
                                             .used_ghz = point->used_ghz,
                                             .held = point->held,
                                             .demand_w = point->demand_w,
                                             .technique_s = r->technique_s,
                                             .technique_wait_s = r->technique_wait_s,
                                             .looked_m = point->looked_m,
                                             .looked_n = point->looked_n,
                                             .looked_extra = point->looked_extra,
                                             .looked_gemv_s = three[FD_GEMV].seconds,
                                             .looked_flat_s = three[FD_FLAT].seconds,
                                             .looked_flat_tile = three[FD_FLAT].tile_n,
                                             .looked_library_s = three[FD_LIBRARY].seconds};
    for (int i = 0; i < at->list->n; i++) {
        ret->op.time_s[i] = r->op.time_s[i];
        ret->op.wait_s[i] = r->op.wait_s[i];
        ret->op.kernel[i] = r->op.kernel[i];
        ret->op.flat_tile[i] = r->op.flat_tile[i];
    }
    for (int i = 0; i < at->list->n_attentions; i++) {
        ret->group.time_s[i] = r->group.time_s[i];
        ret->group.wait_s[i] = r->group.wait_s[i];
        ret->group.sync_s[i] = r->group.sync_s[i];
        ret->group.again_s[i] = r->group.again_s[i];
        ret->group.moved[i] = r->group.moved[i];
    }
}

void fd_see_kernel(struct flashdecoding_seen_gives *ret, int op, const struct fd_cost *cost)
{
    ret->op.kernel[op] = cost->kernel;
    if (cost->kernel == FD_FLAT) ret->op.flat_tile[op] = cost->tile_n;
}

bool flashdecoding_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    struct flashdecoding_events_reads point;
    struct dse_oplist *list = dse_sim_alloc(sim, 1, sizeof *list);
    struct flashdecoding_seen_gives *seen = dse_sim_alloc(sim, 1, sizeof *seen);
    dse_closed_run(dse_closed_at(closed, &flashdecoding_events, NULL), NULL, &point);
    dse_sim_seed(sim, (uint64_t)dse_closed_events(closed)->seed);
    dse_closed_operators(closed, list);
    if (point.plain == 0) {
        const struct dse_draw draw = fd_draw_of(sim, closed);
        dse_workload_expand_drawn(dse_closed_workload(closed), -1, &draw, list);
    }
    const struct fd_site *at = fd_site_new(sim, closed, list, &point);
    if (at->whole) dse_sim_measured(sim);
    fd_seen_init(seen, at);
    if (!(point.plain != 0 ? run_step(at, point.step_s, seen) : fd_run_operators(at, point.step_s, seen))) return false;
    dse_closed_report(dse_closed_at(closed, &flashdecoding_seen, list), seen, metrics, breakdown);
    return true;
}
