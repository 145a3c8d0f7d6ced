/* The event level of LLMs with layers of several kinds, of stages and of several tokens a sequence: kernels run block by block,
 * each kind once, and the queue launches them in the order of the layers (E20 to E24 for the parts of E36 to E40).
 *
 * Experts are drawn layer by layer; vectors that are done again are the mean ones. */
#include "flashdecoding_events.h"

#include <dse/num.h>
#include <dse/units.h>

/* What an operator is to the queue. */
enum kind { NONE, LINEAR, EXPERTS, ATTENTION, STATE, SCALARS, EXCHANGE };

struct kernel {
    enum kind kind;
    double count, launches;          /* in a pass; of each */
    double seconds, again_s, sync_s; /* of one; seconds with the others, and with gaps between its launches */
    dse_ps took, waited;
    double *drawn_s; /* seconds of each layer that experts are drawn for, in turn; else NULL */
    int64_t n_drawn, done;
};

enum event { START, END, LAUNCHED };

struct run {
    struct dse_sim *sim;
    const struct fd_site *at;
    const struct dse_oplist *list;
    struct flashdecoding_seen_gives *seen;
    struct kernel kernel[DSE_OPS_MAX]; /* of each operator */
    bool queued; /* launches run ahead; else a kernel shorter than its launches waits for the next one (E14) */
    double unit; /* seconds of the step in a second of the run */
    uint32_t actor, device, host, link;
    /* Where the pass is: what drafts comes first. */
    bool draft;
    int op;
    double layer, layers, times, launches;
    dse_ps first, started;
};

static dse_ps ps_of(const struct run *r, double seconds)
{
    return dse_ps_of_s(seconds / r->unit);
}

/* ---- what kernels take ------------------------------------------------------------------------------------------------------ */

/* Latents' indices have no softmax. */
static void attention_seconds(const struct fd_site *at, int group, struct kernel *ret)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const bool softmax = r->group.softmax[group] != 0;
    struct fd_attention a;
    fd_attention_init(&a, at, group);
    const double stream_s = fd_attention_seconds(&a, false), updated_s = softmax ? fd_attention_seconds(&a, true) : stream_s;
    const double reduce_s = at->flat_memory || at->even || a.prefill ? 0 : a.reduce_s;
    if (softmax && r->asynchronous != 0)
        ret->again_s = (r->async_factor - 1) * (stream_s - (at->even ? r->group.fixed_s[group] : 0));
    ret->sync_s = updated_s - stream_s;
    ret->seconds = updated_s + ret->again_s + reduce_s;
}

static enum kind kind_of(const struct fd_site *at, int op)
{
    const struct dse_op *o = &at->list->op[op];
    if (at->r.op.runs[op] == 0) return NONE;
    switch (o->kind) {
    case DSE_OP_LINEAR: return o->role == DSE_ROLE_EXPERT_UP || o->role == DSE_ROLE_EXPERT_DOWN ? EXPERTS : LINEAR;
    case DSE_OP_SCORES: return ATTENTION;
    case DSE_OP_ELEMENTWISE: return SCALARS;
    case DSE_OP_RECURRENCE: return STATE;
    case DSE_OP_COLLECTIVE: return EXCHANGE;
    case DSE_OP_VALUES: break;
    }
    return NONE;
}

static void kernel_init(const struct fd_site *at, int op, struct kernel *ret, struct flashdecoding_seen_gives *seen)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const int8_t group = at->list->op[op].attention;
    *ret = (struct kernel){.kind = kind_of(at, op)};
    if (ret->kind == NONE) return;
    const bool attention = ret->kind == ATTENTION;
    ret->count = attention ? (double)at->list->attention[group].layers : r->op.count[op];
    ret->launches = attention ? r->group.kernels[group] : r->op.kernels[op];
    ret->seconds = attention ? r->group.each_s[group] : r->op.each_s[op];
    ret->again_s = attention ? r->group.again_s[group] / ret->count : 0;
    ret->sync_s = attention ? r->group.sync_s[group] / ret->count : 0;
    if (ret->kind == EXCHANGE || at->whole) return;
    const bool grouped = ret->kind == EXPERTS && (enum fd_kernel)r->op.kernel[op] == FD_VENDOR; /* E31 has no blocks */
    if (attention) {
        attention_seconds(at, group, ret);
    } else if (ret->kind == SCALARS && !at->even) {
        ret->seconds = ret->launches * fd_scalars_seconds(at, op);
    } else if ((ret->kind == LINEAR || ret->kind == EXPERTS) && !grouped) {
        const struct fd_cost cost = fd_chosen(at, op);
        if (seen) fd_see_kernel(seen, op, &cost);
        ret->seconds = cost.seconds + r->op.beside_s[op]; /* what E32 has besides the GEMM */
    }
    if (!at->even) ret->seconds += (ret->launches - 1) * r->kernel_gap_us / DSE_US_PER_S;
}

/* ---- experts ---------------------------------------------------------------------------------------------------------------- */

struct dse_draw fd_draw_of(const struct dse_sim *sim, const struct dse_closed *closed)
{
    const struct dse_llm *llm = dse_closed_workload(closed)->llm;
    int64_t layers = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) layers += llm->kinds[i].feed_forward == DSE_FFN_EXPERTS ? llm->kinds[i].layers : 0;
    return dse_draw_of(sim, 0, dse_layers_simulated(dse_closed_events(closed), layers));
}

/* What the fullest device has of drawn experts: those with work, their rows, and tiles of all of them, one below the other. */
static void see_experts(struct flashdecoding_layer_gives *ret, int op, const double *rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        ret->op.touched[op] += rows[i] > 0;
        ret->op.own[op] += rows[i];
        ret->op.down_16[op] += dse_ceil(rows[i] / 16);
        ret->op.down_64[op] += dse_ceil(rows[i] / 64);
        ret->op.down_128[op] += dse_ceil(rows[i] / 128);
        ret->op.down_256[op] += dse_ceil(rows[i] / 256);
    }
}

/* E31 of one layer as drawn, in the place of its law. */
static void take_experts(struct fd_site *at, const struct dse_draw *layer)
{
    const struct dse_workload *w = dse_closed_workload(at->closed);
    const double chips = (double)dse_degree(w->expert_parallel);
    struct flashdecoding_layer_gives *one = dse_sim_alloc(at->sim, 1, sizeof *one);
    struct flashdecoding_layer_reads *ret = dse_sim_alloc(at->sim, 1, sizeof *ret);
    double *rows = dse_sim_alloc(at->sim, DSE_EXPERTS_DRAWN_MAX, sizeof *rows);
    bool some = false;
    *one = (struct flashdecoding_layer_gives){.ghz = at->ghz};
    for (int i = 0; i < at->list->n; i++) {
        const struct dse_op *op = &at->list->op[i];
        if (kind_of(at, i) != EXPERTS || (enum fd_kernel)at->r.op.kernel[i] != FD_VENDOR) continue;
        if (!dse_experts_draw(w, op->choice, at->r.op.tokens[i], layer->seed, layer->layer, rows)) return;
        int64_t n;
        const int64_t first = dse_experts_fullest(op->choice.routed, rows, chips, &n);
        see_experts(one, i, rows + first, n);
        some = true;
    }
    if (!some) return;
    dse_closed_run(dse_closed_at(at->closed, &flashdecoding_layer, at->list), one, ret);
    for (int i = 0; i < at->list->n; i++)
        if (kind_of(at, i) == EXPERTS) at->r.op.each_s[i] = ret->op.each_s[i];
}

/* Experts, and what is sent to them, in each layer; the step is of their mean. */
static void draw_experts(struct run *r)
{
    const struct dse_draw draw = fd_draw_of(r->sim, r->at->closed);
    for (int64_t layer = 0; layer < draw.layers; layer++) {
        const struct dse_draw one = {draw.seed, layer, 1};
        struct dse_oplist *list = dse_sim_alloc(r->sim, 1, sizeof *list);
        dse_workload_expand_drawn(dse_closed_workload(r->at->closed), -1, &one, list);
        struct fd_site *at = fd_site_new(r->sim, r->at->closed, list, r->at->point);
        take_experts(at, &one);
        for (int i = 0; i < list->n && list->n == r->list->n; i++) {
            struct kernel *k = &r->kernel[i], drawn;
            if (k->kind != EXPERTS && k->kind != EXCHANGE) continue;
            if (!k->drawn_s) k->drawn_s = dse_sim_alloc(r->sim, (size_t)draw.layers, sizeof *k->drawn_s);
            kernel_init(at, i, &drawn, NULL);
            k->drawn_s[k->n_drawn++] = drawn.seconds;
        }
    }
}

/* ---- the queue -------------------------------------------------------------------------------------------------------------- */

/* Kernels of a layer: as evenly over the layers as whole numbers are. */
static double times_of(const struct run *r, int op)
{
    const struct kernel *k = &r->kernel[op];
    const double rounding = 1e-9, each = k->count / r->layers;
    if (k->kind == NONE || r->list->op[op].is_draft != r->draft) return 0;
    return dse_floor((r->layer + 1) * each + rounding) - dse_floor(r->layer * each + rounding);
}

static void count_layers(struct run *r)
{
    r->layers = 1;
    r->layer = r->op = 0;
    for (int i = 0; i < r->list->n; i++) {
        const struct kernel *k = &r->kernel[i];
        if (r->list->op[i].is_draft != r->draft) continue;
        if (k->kind == SCALARS || k->kind == ATTENTION || k->kind == STATE) r->layers = dse_max(r->layers, k->count);
    }
}

/* The next kernel; false: the pass is done. */
static bool step_on(struct run *r)
{
    if (r->times > 1) {
        r->times--;
        return true;
    }
    for (r->op++;; r->op++) {
        if (r->op >= r->list->n) {
            r->op = 0;
            r->layer++;
        }
        if (r->layer >= r->layers) {
            if (!r->draft) return false;
            r->draft = false;
            count_layers(r);
        }
        r->times = times_of(r, r->op);
        if (r->times >= 1) return true;
    }
}

/* E24. */
static void next_kernel(struct run *r)
{
    const struct flashdecoding_run_reads *c = &r->at->r;
    struct kernel *k = &r->kernel[r->op];
    const dse_ps now = dse_sim_now(r->sim);
    dse_ps start = now;
    if (r->queued && k->kind != EXCHANGE) {
        const dse_ps gap = r->launches > 0 ? ps_of(r, c->kernel_gap_us / DSE_US_PER_S) : 0;
        const dse_ps ready = r->first + ps_of(r, (r->launches + k->launches) * c->launch_us / DSE_US_PER_S);
        start = dse_max_i64(ready, now + gap);
        r->launches += k->launches;
    }
    if (start > now) dse_resource_state(r->sim, r->device, DSE_STALL_INPUT, "launch", -1);
    k->waited += start - now;
    dse_sim_at(r->sim, start, r->actor, START);
}

static uint32_t resource_of(const struct run *r)
{
    return r->kernel[r->op].kind == EXCHANGE ? r->link : r->device;
}

static void start_kernel(struct run *r)
{
    struct kernel *k = &r->kernel[r->op];
    const double seconds = k->n_drawn > 0 ? k->drawn_s[k->done++ % k->n_drawn] : k->seconds;
    r->started = dse_sim_now(r->sim);
    dse_resource_state(r->sim, resource_of(r), DSE_BUSY, r->list->op[r->op].name, (int64_t)r->layer);
    dse_sim_at(r->sim, r->started + ps_of(r, seconds), r->actor, END);
}

/* Without a queue, what was launched holds up what comes after it. */
static void end_kernel(struct run *r)
{
    const struct flashdecoding_run_reads *c = &r->at->r;
    struct kernel *k = &r->kernel[r->op];
    const dse_ps now = dse_sim_now(r->sim);
    k->took += now - r->started;
    dse_resource_state(r->sim, resource_of(r), DSE_IDLE, NULL, -1);
    dse_ps held = 0;
    if (!r->queued && c->waited != 0 && k->kind != EXCHANGE)
        held = dse_max_i64(0, r->started + ps_of(r, k->launches * c->launch_us / DSE_US_PER_S) - now);
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

/* What the run took, in place of what the closed form says. */
static void see(const struct run *r)
{
    for (int i = 0; i < r->list->n; i++) {
        const struct kernel *k = &r->kernel[i];
        const int8_t group = r->list->op[i].attention;
        const double wait_s = dse_s_of_ps(k->waited) * r->unit, time_s = dse_s_of_ps(k->took) * r->unit + wait_s;
        if (k->kind == ATTENTION) {
            r->seen->group.time_s[group] = time_s;
            r->seen->group.wait_s[group] = wait_s;
            r->seen->group.sync_s[group] = k->count * k->sync_s;
            r->seen->group.again_s[group] = k->count * k->again_s;
        } else if (k->kind != NONE) {
            r->seen->op.time_s[i] = time_s;
            r->seen->op.wait_s[i] = wait_s;
        }
    }
}

/* All launches of the pass, and the time in which the host makes them. */
static void show_launches(struct run *r)
{
    const double launches = r->at->r.pass_launches, launch_us = r->at->r.launch_us;
    dse_sim_note(r->sim, "launches", "", launches);
    if (!r->queued || launch_us <= 0) return;
    dse_resource_state(r->sim, r->host, DSE_BUSY, "launches", -1);
    dse_sim_at(r->sim, r->first + ps_of(r, launches * launch_us / DSE_US_PER_S), r->actor, LAUNCHED);
}

bool fd_run_operators(const struct fd_site *at, double seconds, struct flashdecoding_seen_gives *seen)
{
    struct dse_sim *sim = at->sim;
    struct run *r = dse_sim_alloc(sim, 1, sizeof *r);
    *r = (struct run){.sim = sim, .at = at, .list = at->list, .seen = seen, .unit = dse_run_unit(seconds), .draft = true};
    r->queued = !at->even && !at->whole;
    for (int i = 0; i < r->list->n; i++) kernel_init(at, i, &r->kernel[i], seen);
    draw_experts(r);
    r->actor = dse_sim_actor(sim, act, r);
    r->device = dse_resource(sim, NULL, "SMs");
    r->host = dse_resource(sim, NULL, "host");
    r->link = r->device;
    if (dse_workload_chips(dse_closed_workload(at->closed)) > 1) r->link = dse_resource(sim, NULL, "link");
    r->first = dse_sim_now(sim);
    show_launches(r);
    count_layers(r);
    r->op = -1;
    if (step_on(r)) next_kernel(r);
    if (!dse_sim_run(sim)) return false;
    see(r);
    return true;
}
