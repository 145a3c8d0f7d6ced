/* The event level of LLMs with layers of several kinds, of stages and of several tokens a sequence: kernels run block by block,
 * each kind once, and the queue launches them in the order of the layers (E20 to E24 for the parts of E36 to E40).
 *
 * Experts are drawn layer by layer; vectors that are done again are the mean ones. */
#include "flashdecoding_events.h"

#include <dse/num.h>
#include <dse/program.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

struct kernel {
    double seconds, again_s, sync_s; /* of one; seconds with the others, and with gaps between its launches */
    dse_ps took, waited;
    double *drawn_s; /* seconds of each layer that experts are drawn for, in turn; else NULL */
    int64_t n_drawn, done;
};

enum event { START, END, LAUNCHED };

struct run {
    struct dse_sim *sim;
    const struct fd_site *at;
    const struct fd_params *p;
    struct fd_step *step;
    struct kernel *kernel; /* of each part */
    bool queued;           /* launches run ahead; else a kernel shorter than its launches waits for the next one (E14) */
    double unit;           /* seconds of the step in a second of the run */
    uint32_t actor, device, host, link;
    /* Where the pass is: what drafts comes first. */
    bool draft;
    int part;
    double layer, layers, times, launches;
    dse_ps first, started;
};

static dse_ps ps_of(const struct run *r, double seconds)
{
    return dse_ps_of_s(seconds / r->unit);
}

/* ---- what kernels take ------------------------------------------------------------------------------------------------------ */

/* The first pass as it would be without the update of synchronized softmax. */
static double without_update(const struct run *r, const struct fd_attention *a)
{
    struct fd_grid_spec spec = a->first;
    struct fd_blocks *blocks = dse_sim_alloc(r->sim, spec.n, sizeof *blocks);
    for (size_t i = 0; i < spec.n; i++) {
        blocks[i] = spec.blocks[i];
        blocks[i].update = 0;
    }
    spec.blocks = blocks;
    return fd_grid_seconds(r->sim, &spec);
}

/* Latents' indices have no softmax. */
static void attention_seconds(const struct run *r, const struct fd_part *o, struct kernel *ret)
{
    const struct fd_site *at = r->at;
    const bool softmax = o->shape.exponents >= FD_SOFTMAX_OPS;
    struct fd_attention a;
    fd_attention_init_of(&a, at, &o->shape);
    const double stream_s = without_update(r, &a), updated_s = softmax ? fd_grid_seconds(r->sim, &a.first) : stream_s;
    const double reduce_s = at->flat_memory || at->even || a.prefill ? 0 : a.reduce_s;
    if (softmax && r->p->softmax == FD_ASYNCHRONOUS)
        ret->again_s = (fd_async_factor(r->p) - 1) * (stream_s - (at->even ? a.fixed_s : 0));
    ret->sync_s = updated_s - stream_s;
    ret->seconds = updated_s + ret->again_s + reduce_s;
}

/* E25. */
static double scalars_seconds(const struct run *r, const struct fd_part *o)
{
    const struct fd_machine *m = r->at->m;
    const double rows = (double)dse_workload_sequences(&r->p->workload);
    const double tokens = rows * (r->p->workload.phase == DSE_PREFILL ? (double)r->p->workload.context : 1);
    const double bytes = 2 * tokens * (double)r->p->workload.llm->hidden * FD_ACTIVATION_BYTES;
    return o->kernels * (r->at->l2_s + dse_max(o->each_s / o->kernels, bytes / (r->at->l2_stream * m->sms)));
}

/* E21: the kernel that is the fastest at this level. */
static double linear_seconds(const struct run *r, struct fd_part *o)
{
    const struct fd_site *at = r->at;
    if (r->p->dataflow == FD_HEURISTIC && at->profiled) {
        struct fd_cost three[FD_KERNELS];
        fd_profile(at, &o->gemm, three);
        o->kernel = fd_fastest(three);
        o->cost = three[o->kernel];
        o->bytes = o->count * o->cost.bytes;
        o->compute_bound = o->cost.compute_bound;
        return o->cost.seconds;
    }
    const double beside_s = o->each_s - o->cost.seconds; /* what E32 has besides the GEMM */
    return fd_linear_seconds(at, &o->gemm, o->kernel, &o->cost) + beside_s;
}

static void kernel_init(const struct run *r, struct fd_part *o, struct kernel *ret)
{
    *ret = (struct kernel){.seconds = o->each_s, .again_s = o->again_s / o->count, .sync_s = o->sync_s / o->count};
    if (o->kind == FD_PART_EXCHANGE || r->at->whole) return;
    const bool grouped = o->kind == FD_PART_EXPERTS && o->kernel == FD_VENDOR; /* E31 has no blocks */
    if (o->kind == FD_PART_ATTENTION)
        attention_seconds(r, o, ret);
    else if (o->kind == FD_PART_SCALARS && !r->at->even)
        ret->seconds = scalars_seconds(r, o);
    else if ((o->kind == FD_PART_LINEAR || o->kind == FD_PART_EXPERTS) && !grouped)
        ret->seconds = linear_seconds(r, o);
    if (r->queued) ret->seconds += (o->kernels - 1) * r->p->kernel_gap_us / DSE_US_PER_S;
}

struct dse_draw fd_draw_of(const struct dse_sim *sim, const struct fd_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    int64_t layers = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) layers += llm->kinds[i].feed_forward == DSE_FFN_EXPERTS ? llm->kinds[i].layers : 0;
    return dse_draw_of(sim, 0, dse_layers_simulated(&p->events, layers));
}

/* Experts, and what is sent to them, in each layer; the step is of their mean. */
static void draw_experts(struct run *r)
{
    const struct dse_draw draw = fd_draw_of(r->sim, r->p);
    if (draw.layers == 0) return;
    struct fd_step *step = dse_sim_alloc(r->sim, 1, sizeof *step);
    for (int64_t layer = 0; layer < draw.layers; layer++) {
        memset(step, 0, sizeof *step);
        fd_step_parts_drawn(step, r->at->m, &(struct dse_draw){draw.seed, layer, 1});
        for (int i = 0; i < step->n_parts && step->n_parts == r->step->n_parts; i++) {
            struct kernel *k = &r->kernel[i], one;
            if (step->part[i].kind != FD_PART_EXPERTS && step->part[i].kind != FD_PART_EXCHANGE) continue;
            if (!k->drawn_s) k->drawn_s = dse_sim_alloc(r->sim, (size_t)draw.layers, sizeof *k->drawn_s);
            kernel_init(r, &step->part[i], &one);
            k->drawn_s[k->n_drawn++] = one.seconds;
        }
    }
}

/* ---- the queue -------------------------------------------------------------------------------------------------------------- */

/* Parts of a layer: as evenly over the layers as whole numbers are. */
static double times_of(const struct run *r, const struct fd_part *o)
{
    const double rounding = 1e-9, each = o->count / r->layers;
    if (o->is_draft != r->draft) return 0;
    return dse_floor((r->layer + 1) * each + rounding) - dse_floor(r->layer * each + rounding);
}

static void count_layers(struct run *r)
{
    r->layers = 1;
    r->layer = r->part = 0;
    for (int i = 0; i < r->step->n_parts; i++) {
        const struct fd_part *o = &r->step->part[i];
        if (o->is_draft == r->draft && o->kind == FD_PART_SCALARS) r->layers = dse_max(r->layers, o->count);
        if (o->is_draft == r->draft && o->kind == FD_PART_ATTENTION) r->layers = dse_max(r->layers, o->count);
        if (o->is_draft == r->draft && o->kind == FD_PART_STATE) r->layers = dse_max(r->layers, o->count);
    }
}

/* The next kernel; false: the pass is done. */
static bool step_on(struct run *r)
{
    if (r->times > 1) {
        r->times--;
        return true;
    }
    for (r->part++;; r->part++) {
        if (r->part >= r->step->n_parts) {
            r->part = 0;
            r->layer++;
        }
        if (r->layer >= r->layers) {
            if (!r->draft) return false;
            r->draft = false;
            count_layers(r);
        }
        r->times = times_of(r, &r->step->part[r->part]);
        if (r->times >= 1) return true;
    }
}

/* E24. */
static void next_kernel(struct run *r)
{
    const struct fd_part *o = &r->step->part[r->part];
    const dse_ps now = dse_sim_now(r->sim);
    dse_ps start = now;
    if (r->queued && o->kind != FD_PART_EXCHANGE) {
        const dse_ps gap = r->launches > 0 ? ps_of(r, r->p->kernel_gap_us / DSE_US_PER_S) : 0;
        const dse_ps ready = r->first + ps_of(r, (r->launches + o->kernels) * r->p->launch_us / DSE_US_PER_S);
        start = dse_max_i64(ready, now + gap);
        r->launches += o->kernels;
    }
    if (start > now) dse_resource_state(r->sim, r->device, DSE_STALL_INPUT, "launch", -1);
    r->kernel[r->part].waited += start - now;
    dse_sim_at(r->sim, start, r->actor, START);
}

static uint32_t resource_of(const struct run *r)
{
    return r->step->part[r->part].kind == FD_PART_EXCHANGE ? r->link : r->device;
}

static void start_kernel(struct run *r)
{
    const struct fd_part *o = &r->step->part[r->part];
    struct kernel *k = &r->kernel[r->part];
    const double seconds = k->n_drawn > 0 ? k->drawn_s[k->done++ % k->n_drawn] : k->seconds;
    r->started = dse_sim_now(r->sim);
    dse_resource_state(r->sim, resource_of(r), DSE_BUSY, o->name, (int64_t)r->layer);
    dse_sim_at(r->sim, r->started + ps_of(r, seconds), r->actor, END);
}

/* Without a queue, what was launched holds up what comes after it. */
static void end_kernel(struct run *r)
{
    const struct fd_part *o = &r->step->part[r->part];
    struct kernel *k = &r->kernel[r->part];
    const dse_ps now = dse_sim_now(r->sim);
    k->took += now - r->started;
    dse_resource_state(r->sim, resource_of(r), DSE_IDLE, NULL, -1);
    dse_ps held = 0;
    if (!r->queued && r->p->launches == FD_WAITED && o->kind != FD_PART_EXCHANGE)
        held = dse_max_i64(0, r->started + ps_of(r, o->kernels * r->p->launch_us / DSE_US_PER_S) - now);
    k->waited += held;
    if (!step_on(r)) return;
    if (held == 0)
        next_kernel(r);
    else
        dse_sim_at(r->sim, now + held, r->actor, START);
}

static void act(struct dse_sim *sim, void *object, uint32_t event)
{
    struct run *r = object;
    switch ((enum event)event) {
    case START: start_kernel(r); break;
    case END: end_kernel(r); break;
    case LAUNCHED: dse_resource_state(sim, r->host, DSE_IDLE, NULL, -1); break;
    }
}

/* ---- the pass --------------------------------------------------------------------------------------------------------------- */

static void take_attention(struct fd_step *s, const struct fd_part *o, const struct kernel *k)
{
    const double layers = o->count;
    s->attention_s += o->seconds;
    s->attention_wait_s += o->wait_s;
    s->sync_s += layers * k->sync_s;
    s->recompute_s += layers * k->again_s;
    s->stream_s += o->seconds - o->wait_s - layers * (k->sync_s + k->again_s);
    s->attention_bytes += o->bytes;
}

/* What the run took, in place of what the closed form says. */
static void take_times(const struct run *r)
{
    struct fd_step *s = r->step;
    s->linear_s = s->linear_bytes = s->state_s = s->attention_s = s->attention_wait_s = s->attention_bytes = s->stream_s = 0;
    s->sync_s = s->recompute_s = s->elementwise_s = s->elementwise_wait_s = s->allreduce_s = s->wait_s = s->seconds = 0;
    for (int i = 0; i < s->n_parts; i++) {
        struct fd_part *o = &s->part[i];
        const struct kernel *k = &r->kernel[i];
        o->wait_s = dse_s_of_ps(k->waited) * r->unit;
        o->seconds = dse_s_of_ps(k->took) * r->unit + o->wait_s;
        s->wait_s += o->wait_s;
        if (o->kind == FD_PART_ATTENTION) {
            take_attention(s, o, k);
        } else if (o->kind == FD_PART_SCALARS) {
            s->elementwise_s += o->seconds;
            s->elementwise_wait_s += o->wait_s;
        } else if (o->kind == FD_PART_EXCHANGE) {
            s->allreduce_s += o->seconds;
        } else {
            *(o->kind == FD_PART_STATE ? &s->state_s : &s->linear_s) += o->seconds;
            s->linear_bytes += o->bytes;
        }
    }
    if (r->p->elementwise_kernels == 0) s->elementwise_s = dse_max(0, s->elementwise_ops / r->at->m->vector_peak - s->linear_s);
}

/* All launches of the pass, and the time in which the host makes them. */
static void show_launches(struct run *r, double launches)
{
    dse_sim_note(r->sim, "launches", "", launches);
    if (!r->queued || r->p->launch_us <= 0) return;
    dse_resource_state(r->sim, r->host, DSE_BUSY, "launches", -1);
    dse_sim_at(r->sim, r->first + ps_of(r, launches * r->p->launch_us / DSE_US_PER_S), r->actor, LAUNCHED);
}

bool fd_run_parts(struct dse_sim *sim, const struct fd_site *at, double seconds, struct fd_step *step)
{
    struct run *r = dse_sim_alloc(sim, 1, sizeof *r);
    *r = (struct run){.sim = sim, .at = at, .p = at->m->p, .step = step, .unit = dse_run_unit(seconds), .draft = true};
    r->queued = !at->even && !at->whole;
    r->kernel = dse_sim_alloc(sim, (size_t)step->n_parts, sizeof *r->kernel);
    for (int i = 0; i < step->n_parts; i++) kernel_init(r, &step->part[i], &r->kernel[i]);
    draw_experts(r);
    r->actor = dse_sim_actor(sim, act, r);
    r->device = dse_resource(sim, NULL, "SMs");
    r->host = dse_resource(sim, NULL, "host");
    r->link = r->device;
    if (dse_workload_chips(&r->p->workload) > 1) r->link = dse_resource(sim, NULL, "link");
    r->first = dse_sim_now(sim);
    show_launches(r, step->launches);
    count_layers(r);
    r->part = -1;
    if (step_on(r)) next_kernel(r);
    if (!dse_sim_run(sim)) return false;
    take_times(r);
    fd_step_passes(step, r->p);
    fd_step_sum(step, r->p);
    return true;
}
