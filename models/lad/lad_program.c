/* The order of linear layers and attention periods, and the time each takes (Sec. IV-D, Fig. 6; E26, E33).
 *
 * A layer is simulated from its predecessor's attention on: output projection and FFN of the layer before, then for each head a
 * QKV period and an attention period. In front of the first layer mean heads fill the pipeline; behind the last it is drained;
 * operators that are there once a step come last. With fill = "layer" every layer fills and drains. Without LAD's attention the
 * operators come one after the other.
 */
#include "lad_program.h"

#include <dse/net.h>
#include <dse/num.h>

#include <assert.h>
#include <math.h>

/* ---- which operators ----------------------------------------------------------------------------------------------------- */

/* Of all layers, or one of the step. */
bool lad_is_once(const struct lad_run *run, const struct lad_op *o)
{
    const double layers = run->pt->layers;
    if (run->general) return (o->kind == DSE_OP_LINEAR || o->kind == DSE_OP_COLLECTIVE) && o->layers < dse_min(2, layers);
    return o->kind == DSE_OP_LINEAR && o->layers < layers;
}

bool lad_is_by_head(const struct lad_run *run, int op)
{
    return op == 0 && run->pt->locality_aware;
}

/* Are positions fetched ahead meanwhile? */
static bool is_fetched_beside(const struct lad_run *run, const struct lad_job *job)
{
    const struct lad_op *o = &run->step->op[job->op];
    const bool in_layer = run->pt->locality_aware && o->kind == DSE_OP_LINEAR && !lad_is_once(run, o) && o->leaves_hbm;
    return in_layer && (run->p->fetches_always != 0 || job->head >= 0);
}

static bool has_job(const struct lad_op *o)
{
    return o->kind != DSE_OP_COLLECTIVE && (o->kind != DSE_OP_ELEMENTWISE || o->compute_s > 0);
}

/* The share of a layer's QKV projection that a head computes: its query, and keys and values with the first head of a group. */
static double qkv_share(const struct lad_run *run, uint32_t head, bool *ret_leader)
{
    double heads = (double)run->memory.heads, kv_heads = (double)run->memory.kv_heads;
    *ret_leader = head % (run->memory.heads / run->memory.kv_heads) == 0;
    return (1 + (*ret_leader ? 2 : 0)) / (heads + 2 * kv_heads);
}

static double layers_of(const struct lad_run *run, const struct lad_op *o)
{
    return lad_is_once(run, o) ? 1 : run->pt->layers;
}

/* Bytes in DRAM that an operator has: weights, and in a step of general operators what else it reads and writes, behind them
 * (E48). */
static double stored_bytes(const struct lad_run *run, const struct lad_op *o)
{
    return run->general ? o->weight_bytes + run->batch * o->bytes : o->weight_bytes;
}

/* Bytes in DRAM in front of an operator's weights: those of the operators before it, in its layer or among those that are there
 * once. */
static double weights_before(const struct lad_run *run, int op)
{
    const struct lad_step *s = run->step;
    bool once = lad_is_once(run, &s->op[op]);
    double sum = 0;
    for (int i = 0; i < op; i++)
        if (lad_is_once(run, &s->op[i]) == once) sum += stored_bytes(run, &s->op[i]) / layers_of(run, &s->op[i]);
    return sum;
}

struct lad_stored lad_stored_by(const struct lad_run *run)
{
    struct lad_stored ret = {0};
    for (int i = 0; i < run->step->n_ops; i++) {
        const struct lad_op *o = &run->step->op[i];
        double bytes = stored_bytes(run, o) / layers_of(run, o);
        if (lad_is_once(run, o))
            ret.weights += bytes;
        else
            ret.layer_weights += bytes;
        ret.spilled = fmax(ret.spilled, o->activation_bytes * run->batch);
    }
    return ret;
}

/* ---- jobs ---------------------------------------------------------------------------------------------------------------- */

static void add_flow(struct lad_job *job, struct lad_flow flow)
{
    assert(job->flows < LAD_FLOWS);
    if (flow.bytes > 0 && flow.size > 0) job->flow[job->flows++] = flow;
}

/* `bytes` of an operator's in its layer, from `from` on, of all ports. */
static void add_stored(const struct lad_run *run, struct lad_job *job, double from, double bytes, bool write)
{
    const struct lad_op *o = &run->step->op[job->op];
    double ports = run->memory.ports, before = weights_before(run, job->op) + from;
    if (lad_is_once(run, o))
        before += run->stored.layer_weights * run->layers;
    else
        before += run->stored.layer_weights * job->layer;
    uint64_t size = (uint64_t)(bytes / ports), burst = run->memory.burst;
    uint64_t at = (uint64_t)(before / ports) / burst * burst;
    add_flow(job, (struct lad_flow){.region = LAD_AT_WEIGHTS, .offset = at, .size = size, .bytes = size, .write = write});
}

static void add_weights(const struct lad_run *run, struct lad_job *job, double from, double share)
{
    const struct lad_op *o = &run->step->op[job->op];
    double bytes = o->weight_bytes / layers_of(run, o);
    add_stored(run, job, from * bytes, share * bytes, false);
}

/* E48: keys, values, states, and what a technique of the cache adds. */
static void add_beside(const struct lad_run *run, struct lad_job *job)
{
    const struct lad_op *o = &run->step->op[job->op];
    const double each = run->batch / layers_of(run, o), weights = o->weight_bytes / layers_of(run, o);
    const double written = o->write_bytes * each, read = o->bytes * each - written;
    add_stored(run, job, weights, read, false);
    add_stored(run, job, weights + read, written, true);
}

/* K or V of all sequences and heads, as often as attention reads it. */
static void add_kv(const struct lad_run *run, struct lad_job *job, enum lad_region region, double bytes, bool write)
{
    const struct lad_memory *mem = &run->memory;
    uint64_t size = mem->kv_heads * mem->sequences * mem->positions * mem->row;
    add_flow(job, (struct lad_flow){
                      .region = region, .offset = job->layer * size, .size = size, .bytes = (uint64_t)bytes, .write = write});
}

/* Activations of a prefill that do not fit on the chip: read before, written after. */
static void add_spilled(const struct lad_run *run, struct lad_job *job)
{
    const struct lad_op *o = &run->step->op[job->op];
    double spilled = o->activation_bytes * run->batch;
    if (spilled <= run->pt->sram_bytes * run->p->tiles) return;
    const double ports = run->memory.ports, moved = spilled * (o->layers / layers_of(run, o)) / ports; /* of all it stands for */
    uint64_t size = (uint64_t)(spilled / ports), bytes = (uint64_t)moved, read = (uint64_t)(moved * o->activation_read);
    add_flow(job, (struct lad_flow){.region = LAD_AT_SPILLED, .size = size, .bytes = read});
    add_flow(job, (struct lad_flow){.region = LAD_AT_SPILLED, .size = size, .bytes = bytes - read, .write = true});
}

/* Keys and values that the QKV projection appends: one by one in decoding, all in prefill. */
static void add_appended(const struct lad_run *run, struct lad_job *job, uint64_t kv_heads)
{
    const struct lad_memory *mem = &run->memory;
    if (run->p->prefill == 0) {
        job->rows = 2 * kv_heads * run->batch;
        return;
    }
    double bytes = (double)(kv_heads * run->batch * mem->positions * mem->row);
    add_kv(run, job, LAD_AT_KEYS, bytes, true);
    add_kv(run, job, LAD_AT_VALUES, bytes, true);
}

static void cut_chunks(const struct lad_program *pr, struct lad_job *job)
{
    double bytes = 0;
    for (int i = 0; i < job->flows; i++)
        if (!job->flow[i].write) bytes += (double)job->flow[i].bytes * pr->run->memory.ports;
    job->chunks = (uint32_t)fmax(1, fmin(ceil(bytes / pr->linear->chunk_bytes), UINT32_MAX));
    job->beside = is_fetched_beside(pr->run, job);
    job->simulated = lad_chunks_simulated(pr->linear, job);
}

static void op_job(const struct lad_program *pr, int op, uint32_t layer, struct lad_job *job)
{
    const struct lad_run *run = pr->run;
    const struct lad_op *o = &run->step->op[op];
    double each = run->batch / layers_of(run, o);
    *job = (struct lad_job){.op = op, .layer = layer, .head = -1, .compute_s = o->compute_s * each};
    if (run->general) {
        add_weights(run, job, 0, 1);
        add_spilled(run, job);
        add_beside(run, job);
        cut_chunks(pr, job);
        return;
    }
    switch (o->kind) {
    case DSE_OP_LINEAR:
        add_weights(run, job, 0, 1);
        add_spilled(run, job);
        if (op == 0) add_appended(run, job, run->memory.kv_heads);
        break;
    case DSE_OP_SCORES: add_kv(run, job, LAD_AT_KEYS, o->bytes * each, false); break;
    case DSE_OP_VALUES: add_kv(run, job, LAD_AT_VALUES, o->bytes * each, false); break;
    case DSE_OP_RECURRENCE:
    case DSE_OP_COLLECTIVE:
    case DSE_OP_ELEMENTWISE: break;
    }
    cut_chunks(pr, job);
}

/* The part of the QKV projection (operator 0) that comes before the attention of a head. */
static void head_job(const struct lad_program *pr, uint32_t layer, uint32_t head, struct lad_job *job)
{
    const struct lad_run *run = pr->run;
    const struct lad_op *o = &run->step->op[0];
    double from = 0;
    bool leader;
    for (uint32_t h = 0; h < head; h++) from += qkv_share(run, h, &leader);
    double share = qkv_share(run, head, &leader);
    *job = (struct lad_job){.layer = layer, .head = head, .compute_s = share * o->compute_s * run->batch / layers_of(run, o)};
    add_weights(run, job, from, share);
    job->kv_head = lad_kv_head(&run->memory, head);
    if (leader) add_appended(run, job, 1);
    cut_chunks(pr, job);
}

bool lad_program_job(const struct lad_program *pr, uint64_t i, struct lad_job *ret)
{
    const struct lad_run *run = pr->run;
    uint64_t heads = run->pt->locality_aware ? run->heads : 0, per_layer = pr->n_others + heads;
    if (i >= run->layers * per_layer) {
        i -= run->layers * per_layer;
        if (i >= pr->n_once) return false;
        op_job(pr, pr->once[i], 0, ret);
        return true;
    }
    uint32_t layer = (uint32_t)(i / per_layer), at = (uint32_t)(i % per_layer);
    if (at < pr->n_others) {
        op_job(pr, pr->others[at], layer, ret);
        ret->waits = at + 1 == pr->n_others;
    } else {
        head_job(pr, layer, at - pr->n_others, ret);
    }
    return true;
}

/* ---- one thing after the other ------------------------------------------------------------------------------------------- */

static void show(struct lad_program *pr, const char *label, int64_t id)
{
    dse_resource_state(pr->run->sim, pr->resource, label ? DSE_BUSY : DSE_IDLE, label, id);
}

static void run_job(struct lad_program *pr)
{
    struct lad_job job;
    const bool there = lad_program_job(pr, pr->job++, &job);
    assert(there);
    const struct lad_op *o = &pr->run->step->op[job.op];
    pr->runs = LAD_RUNS_JOB;
    pr->op = job.op;
    show(pr, o->name, job.head);
    lad_job_start(pr->linear, &job);
    if (job.beside) lad_fetch_open(pr->fetcher, job.layer, job.head < 0 ? 0 : (uint32_t)job.head);
}

static void run_period(struct lad_program *pr, uint32_t layer, uint32_t head)
{
    pr->runs = LAD_RUNS_PERIOD;
    show(pr, layer < pr->run->layers ? "attention" : "fill", head);
    lad_period_start(pr->slots, layer, head);
}

static void on_exchanged(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    lad_program_next(object);
}

/* E49: one of those that are alike. All chips do the same. */
static void run_exchange(struct lad_program *pr, int op)
{
    pr->runs = LAD_RUNS_JOB;
    pr->op = op;
    show(pr, pr->run->step->op[op].name, -1);
    dse_net_exchange(pr->net, 0, pr->run->step->op[op].exchange, pr->net_actor, 0);
}

static void run_drain(struct lad_program *pr)
{
    pr->runs = LAD_RUNS_DRAIN;
    show(pr, "drain", -1);
    lad_drain_start(pr->slots);
}

/* Elementwise operators that the special functions do behind the VPUs. */
static void start_hidden(struct lad_program *pr)
{
    const struct lad_run *run = pr->run;
    const struct lad_step *s = run->step;
    double seconds = 0;
    for (int i = 0; i < s->n_ops; i++)
        if (!has_job(&s->op[i])) seconds += s->op[i].sfm_s * run->batch / run->pt->layers;
    if (seconds > 0) lad_sfm_start(pr->linear, seconds);
}

/* What has ended took this long, with what a job has left out (E53). */
static void take_time(struct lad_program *pr)
{
    const struct lad_run *run = pr->run;
    dse_ps now = dse_sim_now(run->sim), time = now - pr->since + (pr->runs == LAD_RUNS_JOB ? pr->linear->skipped : 0);
    bool by_head = pr->runs == LAD_RUNS_PERIOD || (pr->runs == LAD_RUNS_JOB && lad_is_by_head(run, pr->op));
    pr->since = now;
    pr->linear->skipped = 0;
    lad_fetch_close(pr->fetcher);
    if (pr->runs == LAD_RUNS_JOB) pr->op_time[pr->op] += time;
    if (pr->runs == LAD_RUNS_DRAIN) pr->drain_time += time;
    if (pr->phase == LAD_WARMING && pr->runs == LAD_RUNS_PERIOD) pr->warm_time += time;
    if (pr->phase == LAD_LAYERS && pr->runs != LAD_RUNS_NOTHING)
        pr->layer_time[pr->layer] += by_head ? time * (dse_ps)run->pt->heads / run->heads : time;
}

/* Steps of a layer: the operators besides, then QKV and attention of every head by turns, then the drain. False: the layer is over.
 */
static bool layer_step(struct lad_program *pr)
{
    uint32_t heads = pr->run->pt->locality_aware ? pr->run->heads : 0, step = pr->step++;
    if (step == 0) start_hidden(pr);
    if (step < pr->n_others) {
        run_job(pr);
        return true;
    }
    step -= pr->n_others;
    if (step < pr->n_exchanges) {
        run_exchange(pr, pr->exchanges[step]);
        return true;
    }
    step -= pr->n_exchanges;
    if (step < 2 * heads) {
        if (step % 2 == 0)
            run_job(pr);
        else
            run_period(pr, pr->layer, step / 2);
        return true;
    }
    if (step > 2 * heads || heads == 0 || pr->run->p->fills_layers == 0) return false;
    run_drain(pr);
    return true;
}

void lad_program_next(struct lad_program *pr)
{
    take_time(pr);
    for (;;) {
        switch (pr->phase) {
        case LAD_WARMING:
            if (pr->warm < pr->warm_periods) {
                run_period(pr, pr->run->layers, pr->warm++ % pr->run->heads);
                return;
            }
            pr->phase = LAD_LAYERS;
            pr->runs = LAD_RUNS_NOTHING;
            break;
        case LAD_LAYERS:
            if (layer_step(pr)) return;
            pr->step = 0;
            if (++pr->layer == pr->run->layers) pr->phase = LAD_DRAINING;
            break;
        case LAD_DRAINING:
            pr->phase = LAD_ONCE;
            if (!pr->run->pt->locality_aware || pr->run->p->fills_layers != 0) break;
            run_drain(pr);
            return;
        case LAD_ONCE:
            if (pr->at_once < pr->n_once) {
                pr->at_once++;
                run_job(pr);
                return;
            }
            if (pr->exchanged_once < pr->n_exchanges_once) {
                run_exchange(pr, pr->exchanges_once[pr->exchanged_once++]);
                return;
            }
            pr->phase = LAD_FINISHED;
            break;
        case LAD_FINISHED: show(pr, NULL, -1); return;
        }
    }
}

static void on_start(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    lad_program_next(object);
}

/* Until every stage has its head-sample; out of step, until those that wait for a slower one have theirs, too. */
static uint32_t warm_periods(const struct lad_run *run, bool lock_step)
{
    uint32_t stages = LAD_FILL_SLOTS + 1, wanted = lock_step ? stages : 3 * stages;
    uint32_t slots = lock_step ? run->rounds : run->batch / run->tiles; /* of every tile in a period */
    if (slots == 0) slots = 1;
    return (uint32_t)dse_ceil_div(wanted, slots);
}

static void list_ops(struct lad_program *pr)
{
    const struct lad_run *run = pr->run;
    for (int i = 0; i < run->step->n_ops; i++) {
        const struct lad_op *o = &run->step->op[i];
        const bool once = lad_is_once(run, o);
        if (o->kind == DSE_OP_COLLECTIVE) {
            *(once ? &pr->exchanges_once[pr->n_exchanges_once++] : &pr->exchanges[pr->n_exchanges++]) = i;
        } else if (once) {
            pr->once[pr->n_once++] = i;
        } else if (has_job(o) && !lad_is_by_head(run, i)) {
            pr->others[pr->n_others++] = i;
        }
    }
}

static void open_links(struct lad_program *pr)
{
    struct dse_sim *sim = pr->run->sim;
    if (pr->n_exchanges + pr->n_exchanges_once == 0) return;
    struct dse_ports *ports = dse_ports_new(sim, "chip", pr->run->pt->links);
    pr->net = dse_net_new(sim, "chips", &ports, 1);
    pr->net_actor = dse_sim_actor(sim, on_exchanged, pr);
}

void lad_program_init(struct lad_program *pr, struct lad_run *run, struct lad_lanes *slots, struct lad_linear *linear,
                      struct lad_fetcher *fetcher)
{
    *pr = (struct lad_program){.run = run, .slots = slots, .linear = linear, .fetcher = fetcher, .since = dse_sim_now(run->sim)};
    list_ops(pr);
    open_links(pr);
    if (run->pt->locality_aware && run->p->fills_layers == 0) pr->warm_periods = warm_periods(run, slots->lock_step);
    pr->layer_time = dse_sim_alloc(run->sim, run->layers, sizeof *pr->layer_time);
    pr->resource = dse_resource(run->sim, NULL, "schedule");
    dse_sim_at(run->sim, pr->since, dse_sim_actor(run->sim, on_start, pr), 0);
}
