/* The event level: the kernels of a step in the order of the queue, when the host launches each, and what each takes (E19 to E25).
 *
 * A kernel runs block by block the first time it comes. Kernels alike take the same time, so later ones take what the first one
 * took; attention differs from layer to layer by the vectors that are done again. */
#include "flashdecoding_events.h"

#include <dse/num.h>
#include <dse/program.h>
#include <dse/units.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

/* What kernels of a step are of. The linear operators come first, in the order of enum fd_gemm_choice. */
enum part { ATTENTION = FD_LINEARS, TECHNIQUE, ELEMENTWISE, ALL_REDUCE, PARTS };
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
    const struct fd_params *p;
    const struct fd_machine *m;
    struct fd_site at;
    const struct fd_step *closed;
    struct fd_step *step; /* what is run: kernels chosen at this level in place of those of the closed form */
    bool queued;          /* launches run ahead; else a kernel shorter than launch_us waits for the next one, as in E14 */
    double unit;          /* seconds of the step in a second of the run: 1, but for steps of days */

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
    return r->p->workload.phase == DSE_DECODE;
}

static void build_queue(struct run *r)
{
    const struct fd_params *p = r->p;
    int64_t reduces = p->workload.tensor_parallel > 1 ? 1 : 0;
    const int64_t technique = (int64_t)fd_technique_run(&r->technique, &r->at);
    const bool before = fd_cache_step(p).pages > 0 && decode(r); /* what is read is chosen before */
    add_entry(r, (enum part)FD_QKV, 1);
    if (before) add_entry(r, TECHNIQUE, technique);
    add_entry(r, ATTENTION, 1);
    if (!before) add_entry(r, TECHNIQUE, technique);
    add_entry(r, (enum part)FD_OUTPUT, 1);
    add_entry(r, ALL_REDUCE, reduces);
    add_entry(r, (enum part)FD_FFN_UP, p->workload.llm->ffn_matrices - 1);
    add_entry(r, (enum part)FD_FFN_DOWN, 1);
    add_entry(r, ALL_REDUCE, reduces);
    add_entry(r, ELEMENTWISE, p->elementwise_kernels);
    r->layers = p->workload.llm->layers;
}

/* What comes now; the output head after the last layer. */
static struct entry entry_now(const struct run *r)
{
    if (r->layer == r->layers) return (struct entry){.part = (enum part)FD_LM_HEAD, .times = 1};
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
    dse_ps gap = r->launches > 0 ? ps_of(r, r->p->kernel_gap_us / DSE_US_PER_S) : 0;
    dse_ps ready = r->first + ps_of(r, (double)(r->launches + 1) * r->p->launch_us / DSE_US_PER_S);
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
    dse_ps until = r->entered + ps_of(r, (double)launches_of(r, part) * r->p->launch_us / DSE_US_PER_S);
    bool longer = !r->queued && r->p->launches == FD_WAITED && until > now;
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
    return part < (enum part)FD_LINEARS ? r->closed->linear[part].name : part_names[part];
}

/* The layer whose draws this one has. */
static uint64_t drawn_layer(const struct run *r)
{
    int64_t drawn = r->p->events.layers_simulated;
    return (uint64_t)(drawn > 0 ? r->layer % drawn : r->layer);
}

/* What the vectors of this layer that leave the range take, or the blocks that do them again. */
static double again_seconds(struct run *r, const struct fd_grid_spec **ret_grid)
{
    const struct fd_step *c = r->closed;
    if (r->at.whole) return c->recompute_s / (double)r->layers;
    const double done_again_s = r->stream_s - (r->at.even ? r->attention.fixed_s : 0);
    if (r->at.mean) return r->p->softmax == FD_ASYNCHRONOUS ? (fd_async_factor(r->p) - 1) * done_again_s : 0;
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
        return r->at.whole || r->at.flat_memory || r->at.even ? 0 : r->attention.reduce_s;
    if (isnan(r->seconds[part]))
        *ret_grid = part == ATTENTION ? &r->attention.first : part == TECHNIQUE ? &r->technique.grid : &r->kernel.grid;
    return r->seconds[part];
}

static void start_kernel(struct run *r)
{
    enum part part = entry_now(r).part;
    const struct fd_linear_op *o = &r->step->linear[part < (enum part)FD_LINEARS ? part : 0];
    const struct fd_grid_spec *grid = NULL;
    r->started = dse_sim_now(r->sim);
    if (part < (enum part)FD_LINEARS && isnan(r->seconds[part])) {
        fd_linear_run(&r->kernel, &r->at, &o->gemm, o->kernel, &o->cost);
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

/* The first pass as it would be without the update of synchronized softmax. */
static double stream_seconds(const struct run *r)
{
    struct fd_grid_spec spec = r->attention.first;
    struct fd_blocks *blocks = dse_sim_alloc(r->sim, spec.n, sizeof *blocks);
    if (r->at.whole) return r->closed->stream_s / (double)r->layers;
    for (size_t i = 0; i < spec.n; i++) {
        blocks[i] = spec.blocks[i];
        blocks[i].update = 0;
    }
    spec.blocks = blocks;
    return fd_grid_seconds(r->sim, &spec);
}

/* E25: an element-wise kernel of its own reads and writes the activations of all rows, in the last-level cache. */
static double elementwise_seconds(const struct run *r)
{
    const struct fd_step *c = r->closed;
    double kernels = (double)(r->layers * r->p->elementwise_kernels);
    if (kernels == 0) return 0;
    double compute_s = (c->elementwise_s - c->elementwise_wait_s) / kernels;
    double bytes = 2 * c->linear[FD_QKV].gemm.m * (double)r->p->workload.llm->hidden * FD_ACTIVATION_BYTES;
    return r->at.whole ? compute_s : r->at.l2_s + dse_max(compute_s, bytes / (r->at.l2_stream * r->m->sms));
}

static void start_run(struct run *r)
{
    const struct fd_step *c = r->closed;
    double reduces = 2 * (double)r->layers;
    r->queued = !r->at.even && !r->at.whole;
    r->again_blocks = dse_sim_alloc(r->sim, FD_AGAIN_MAX, sizeof *r->again_blocks);
    fd_attention_init(&r->attention, &r->at);
    r->stream_s = stream_seconds(r);
    for (int i = 0; i < PARTS; i++) r->seconds[i] = (double)NAN;
    r->seconds[ELEMENTWISE] = elementwise_seconds(r);
    r->seconds[ALL_REDUCE] = c->allreduce_s / reduces;
    if (r->technique.grid.n == 0) r->seconds[TECHNIQUE] = r->technique.seconds;
    if (r->at.whole) r->seconds[ATTENTION] = (c->stream_s + c->sync_s) / (double)r->layers;
    r->actor = dse_sim_actor(r->sim, act, r);
    r->device = dse_resource(r->sim, NULL, "SMs");
    r->host = dse_resource(r->sim, NULL, "host");
    if (r->p->workload.tensor_parallel > 1) r->link = dse_resource(r->sim, NULL, "link");
    r->first = r->entered = dse_sim_now(r->sim);
}

/* E21: what the engine runs for each linear operator. */
static void choose(struct run *r)
{
    struct fd_step *s = r->step;
    if (r->p->dataflow != FD_HEURISTIC || !r->at.profiled) return;
    s->linear_bytes = 0;
    for (int i = 0; i < FD_LINEARS; i++) {
        struct fd_linear_op *o = &s->linear[i];
        struct fd_cost three[FD_KERNELS];
        fd_profile(&r->at, &o->gemm, three);
        o->kernel = fd_fastest(three);
        o->cost = three[o->kernel];
        o->bytes = o->count * o->cost.bytes;
        o->compute_bound = o->cost.compute_bound;
        s->linear_bytes += o->bytes;
    }
}

/* All launches of the step, and the time in which the host makes them. */
static void show_launches(struct run *r)
{
    double kernels = 0;
    for (int i = 0; i < r->entries; i++) kernels += (double)(r->entry[i].times * launches_of(r, r->entry[i].part));
    kernels = kernels * (double)r->layers + 1;
    dse_sim_note(r->sim, "launches", "", kernels);
    if (!r->queued || r->p->launch_us <= 0) return;
    dse_resource_state(r->sim, r->host, DSE_BUSY, "launches", -1);
    dse_sim_at(r->sim, r->first + ps_of(r, kernels * r->p->launch_us / DSE_US_PER_S), r->actor, LAUNCHED);
}

/* What the run took, in place of what E9 to E15 say. Fused element-wise operators hide behind the linear ones, as in E14. */
static void take_times(const struct run *r)
{
    struct fd_step *s = r->step;
    double fused = r->closed->elementwise_ops / r->m->vector_peak;
    s->linear_s = s->wait_s = s->seconds = 0;
    for (int i = 0; i < FD_LINEARS; i++) {
        struct fd_linear_op *o = &s->linear[i];
        o->wait_s = seconds_of(r, r->waited[i]);
        o->seconds = seconds_of(r, r->took[i]) + o->wait_s;
        s->linear_s += o->seconds;
    }
    s->attention_wait_s = seconds_of(r, r->waited[ATTENTION]);
    s->technique_wait_s = seconds_of(r, r->waited[TECHNIQUE]);
    s->technique_s = seconds_of(r, r->took[TECHNIQUE]) + s->technique_wait_s;
    s->attention_s = seconds_of(r, r->took[ATTENTION]) + s->attention_wait_s + s->technique_s;
    s->recompute_s = seconds_of(r, r->took_attention[AGAIN]);
    double pass_s = seconds_of(r, r->took_attention[PASS]);
    s->sync_s = r->p->softmax == FD_SYNCHRONIZED ? dse_max(0, pass_s - (double)r->layers * r->stream_s) : 0;
    s->stream_s = pass_s - s->sync_s + seconds_of(r, r->took_attention[REDUCE]);
    s->attention_bytes += r->again_bytes;
    s->elementwise_wait_s = seconds_of(r, r->waited[ELEMENTWISE]);
    s->elementwise_s = r->p->elementwise_kernels > 0 ? seconds_of(r, r->took[ELEMENTWISE]) + s->elementwise_wait_s
                                                     : dse_max(0, fused - s->linear_s);
    s->allreduce_s = seconds_of(r, r->took[ALL_REDUCE]);
    for (int i = 0; i < PARTS; i++) s->wait_s += seconds_of(r, r->waited[i]);
    fd_step_sum(s, r->p);
}

static void note(const struct run *r)
{
    dse_sim_note(r->sim, "waves", "", r->waves);
    dse_sim_note(r->sim, "splits", "", r->attention.splits);
    dse_sim_note(r->sim, "vectors_again", "", r->again_vectors);
    dse_sim_note(r->sim, "layers_again", "", r->again_layers);
}

/* The parts of a pass, once more: those of the closed form are those of a step. */
static bool simulate_parts(struct dse_sim *sim, const struct fd_point *closed, void *metrics, struct dse_breakdown *breakdown)
{
    struct fd_point *carried = dse_sim_alloc(sim, 1, sizeof *carried);
    struct fd_site at = fd_site_of(sim, &closed->machine);
    carried->machine = closed->machine;
    carried->gemm = closed->gemm;
    carried->power = closed->power;
    memset(&carried->step, 0, offsetof(struct fd_step, part));
    const struct dse_draw draw = fd_draw_of(sim, closed->machine.p);
    fd_step_parts_drawn(&carried->step, &closed->machine, &draw);
    if (!fd_run_parts(sim, &at, closed->step.seconds, &carried->step)) return false;
    fd_profile(&at, &carried->gemm, carried->three);
    fd_settle(carried);
    fd_fill(metrics, carried);
    if (breakdown) fd_break_down(carried, breakdown);
    return true;
}

bool fd_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct fd_params *p = params;
    struct fd_point closed, carried;
    fd_point_init(&closed, p);
    dse_sim_seed(sim, (uint64_t)p->events.seed);
    if (p->kernel_losses != FD_APART) dse_sim_measured(sim);
    if (closed.step.n_parts > 0) return simulate_parts(sim, &closed, metrics, breakdown);
    struct run *r = dse_sim_alloc(sim, 1, sizeof *r);
    carried.machine = closed.machine;
    carried.gemm = closed.gemm;
    carried.step = closed.step;
    carried.power = closed.power;
    *r = (struct run){.sim = sim,
                      .p = closed.machine.p,
                      .m = &closed.machine,
                      .closed = &closed.step,
                      .step = &carried.step,
                      .unit = dse_run_unit(closed.step.seconds)};
    r->at = fd_site_of(sim, r->m);
    build_queue(r);
    start_run(r);
    choose(r);
    show_launches(r);
    next_kernel(r);
    if (!dse_sim_run(sim)) return false;
    take_times(r);
    note(r);
    fd_profile(&r->at, &carried.gemm, carried.three);
    fd_settle(&carried);
    fd_fill(metrics, &carried);
    if (breakdown) fd_break_down(&carried, breakdown);
    return true;
}
