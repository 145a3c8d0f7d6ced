/* The order of linear layers and attention periods, and the time each takes (Sec. IV-D, Fig. 6; E26, E33).
 *
 * A layer is simulated from its predecessor's attention on: output projection and FFN of the layer before, then for each head a QKV period and an attention
 * period. In front of the first layer mean heads fill the pipeline; behind the last it is drained; operators that are there once a step come last.
 * With fill = "layer" every layer fills and drains. Without LAD's attention the operators come one after the other.
 */
#include "lad_events.h"

#include <assert.h>
#include <math.h>

/* ---- which operators ------------------------------------------------------------------------------------------------------------------- */

/* Of all layers, or one of the step. */
bool lad_is_once(const struct lad_machine *m, const struct lad_op *o)
{
    return o->kind == DSE_OP_LINEAR && o->layers < (double)m->pt->llm->layers;
}

static bool has_job(const struct lad_op *o)
{
    return o->kind != DSE_OP_ELEMENTWISE || o->compute_s > 0;
}

/* The share of a layer's QKV projection that a head computes: its query, and keys and values with the first head of a group. */
static double qkv_share(const struct lad_machine *m, uint32_t head, bool *ret_leader)
{
    double heads = m->heads, kv_heads = (double)m->memory.kv_heads;
    *ret_leader = head % (m->heads / (uint32_t)m->memory.kv_heads) == 0;
    return (1 + (*ret_leader ? 2 : 0)) / (heads + 2 * kv_heads);
}

static double layers_of(const struct lad_machine *m, const struct lad_op *o)
{
    return lad_is_once(m, o) ? 1 : (double)m->pt->llm->layers;
}

/* Bytes in DRAM in front of an operator's weights: those of the operators before it, in its layer or among those that are there once. */
static double weights_before(const struct lad_machine *m, int op)
{
    const struct lad_step *s = m->step;
    bool once = lad_is_once(m, &s->op[op]);
    double sum = 0;
    for (int i = 0; i < op; i++)
        if (lad_is_once(m, &s->op[i]) == once) sum += s->op[i].weight_bytes / layers_of(m, &s->op[i]);
    return sum;
}

struct lad_stored lad_stored_by(const struct lad_machine *m)
{
    struct lad_stored ret = {0};
    for (int i = 0; i < m->step->n_ops; i++) {
        const struct lad_op *o = &m->step->op[i];
        double bytes = o->weight_bytes / layers_of(m, o);
        if (lad_is_once(m, o))
            ret.weights += bytes;
        else
            ret.layer_weights += bytes;
        ret.spilled = fmax(ret.spilled, o->activation_bytes * m->batch);
    }
    return ret;
}

/* ---- jobs --------------------------------------------------------------------------------------------------------------------------------- */

static void add_flow(struct lad_job *job, struct lad_flow flow)
{
    assert(job->flows < LAD_FLOWS);
    if (flow.bytes > 0 && flow.size > 0) job->flow[job->flows++] = flow;
}

static void add_weights(const struct lad_machine *m, struct lad_job *job, double from, double share)
{
    const struct lad_op *o = &m->step->op[job->op];
    double ports = m->memory.ports, bytes = o->weight_bytes / layers_of(m, o);
    double before = weights_before(m, job->op) + from * bytes;
    if (lad_is_once(m, o))
        before += m->stored.layer_weights * m->layers;
    else
        before += m->stored.layer_weights * job->layer;
    uint64_t size = (uint64_t)(share * bytes / ports), burst = m->memory.burst;
    uint64_t at = (uint64_t)(before / ports) / burst * burst;
    add_flow(job, (struct lad_flow){.region = LAD_AT_WEIGHTS, .offset = at, .size = size, .bytes = size});
}

/* K or V of all sequences and heads, as often as attention reads it. */
static void add_kv(const struct lad_machine *m, struct lad_job *job, enum lad_region region, double bytes, bool write)
{
    const struct lad_memory *mem = &m->memory;
    uint64_t size = mem->kv_heads * mem->sequences * mem->positions * mem->row;
    add_flow(job, (struct lad_flow){
                      .region = region, .offset = job->layer * size, .size = size, .bytes = (uint64_t)bytes, .write = write});
}

/* Activations of a prefill that do not fit on the chip: read before, written after. */
static void add_spilled(const struct lad_machine *m, struct lad_job *job)
{
    const struct lad_op *o = &m->step->op[job->op];
    double spilled = o->activation_bytes * m->batch;
    if (spilled <= m->pt->sram_bytes * (double)m->p->tiles) return;
    uint64_t size = (uint64_t)spilled, read = (uint64_t)(spilled * o->activation_read);
    add_flow(job, (struct lad_flow){.region = LAD_AT_SPILLED, .size = size, .bytes = read});
    add_flow(job, (struct lad_flow){.region = LAD_AT_SPILLED, .size = size, .bytes = size - read, .write = true});
}

/* Keys and values that the QKV projection appends: one by one in decoding, all in prefill. */
static void add_appended(const struct lad_machine *m, struct lad_job *job, uint64_t kv_heads)
{
    const struct lad_memory *mem = &m->memory;
    if (m->p->workload.phase == DSE_DECODE) {
        job->rows = 2 * kv_heads * m->batch;
        return;
    }
    double bytes = (double)(kv_heads * m->batch * mem->positions * mem->row);
    add_kv(m, job, LAD_AT_KEYS, bytes, true);
    add_kv(m, job, LAD_AT_VALUES, bytes, true);
}

static void cut_chunks(const struct lad_machine *m, struct lad_job *job)
{
    double bytes = 0;
    for (int i = 0; i < job->flows; i++)
        if (!job->flow[i].write) bytes += (double)job->flow[i].bytes * m->memory.ports;
    job->chunks = (uint32_t)fmax(1, fmin(ceil(bytes / m->linear.chunk_bytes), UINT32_MAX));
}

static void op_job(const struct lad_machine *m, int op, uint32_t layer, struct lad_job *job)
{
    const struct lad_op *o = &m->step->op[op];
    double each = m->batch / layers_of(m, o);
    *job = (struct lad_job){.op = op, .layer = layer, .head = -1, .compute_s = o->compute_s * each};
    switch (o->kind) {
    case DSE_OP_LINEAR:
        add_weights(m, job, 0, 1);
        add_spilled(m, job);
        if (op == 0) add_appended(m, job, m->memory.kv_heads);
        break;
    case DSE_OP_SCORES: add_kv(m, job, LAD_AT_KEYS, o->bytes * each, false); break;
    case DSE_OP_VALUES: add_kv(m, job, LAD_AT_VALUES, o->bytes * each, false); break;
    case DSE_OP_ELEMENTWISE: break;
    }
    cut_chunks(m, job);
}

/* The part of the QKV projection (operator 0) that comes before the attention of a head. */
static void head_job(const struct lad_machine *m, uint32_t layer, uint32_t head, struct lad_job *job)
{
    const struct lad_op *o = &m->step->op[0];
    double from = 0;
    bool leader;
    for (uint32_t h = 0; h < head; h++) from += qkv_share(m, h, &leader);
    double share = qkv_share(m, head, &leader);
    *job = (struct lad_job){.layer = layer, .head = head, .compute_s = share * o->compute_s * m->batch / layers_of(m, o)};
    add_weights(m, job, from, share);
    job->kv_head = head / (m->heads / (uint32_t)m->memory.kv_heads);
    if (leader) add_appended(m, job, 1);
    cut_chunks(m, job);
}

bool lad_program_job(const struct lad_machine *m, uint64_t i, struct lad_job *ret)
{
    const struct lad_program *pr = &m->program;
    uint64_t heads = m->pt->locality_aware ? m->heads : 0, per_layer = pr->n_others + heads;
    if (i >= m->layers * per_layer) {
        i -= m->layers * per_layer;
        if (i >= pr->n_once) return false;
        op_job(m, pr->once[i], 0, ret);
        return true;
    }
    uint32_t layer = (uint32_t)(i / per_layer), at = (uint32_t)(i % per_layer);
    if (at < pr->n_others) {
        op_job(m, pr->others[at], layer, ret);
        ret->waits = at + 1 == pr->n_others;
    } else {
        head_job(m, layer, at - pr->n_others, ret);
    }
    return true;
}

/* ---- one thing after the other ----------------------------------------------------------------------------------------------------------------- */

static void show(struct lad_machine *m, const char *label, int64_t id)
{
    dse_resource_state(m->sim, m->program.resource, label ? DSE_BUSY : DSE_IDLE, label, id);
}

static void run_job(struct lad_machine *m)
{
    struct lad_program *pr = &m->program;
    struct lad_job job;
    lad_program_job(m, pr->job++, &job);
    const struct lad_op *o = &m->step->op[job.op];
    pr->runs = LAD_RUNS_JOB;
    pr->op = job.op;
    show(m, o->name, job.head);
    bool in_layer = pr->phase == LAD_LAYERS && o->kind == DSE_OP_LINEAR && m->pt->locality_aware;
    bool fetch = m->p->prefetch == LAD_PREFETCH_IDEAL ? in_layer : in_layer && job.head >= 0;
    lad_job_start(m, &job);
    if (fetch) lad_fetch_open(m, job.layer, job.head < 0 ? 0 : (uint32_t)job.head);
}

static void run_period(struct lad_machine *m, uint32_t layer, uint32_t head)
{
    m->program.runs = LAD_RUNS_PERIOD;
    show(m, layer < m->layers ? "attention" : "fill", head);
    lad_period_start(m, layer, head);
}

static void run_drain(struct lad_machine *m)
{
    m->program.runs = LAD_RUNS_DRAIN;
    show(m, "drain", -1);
    lad_drain_start(m);
}

/* Elementwise operators that the special functions do behind the VPUs. */
static void start_hidden(struct lad_machine *m)
{
    const struct lad_step *s = m->step;
    double seconds = 0;
    for (int i = 0; i < s->n_ops; i++)
        if (!has_job(&s->op[i])) seconds += lad_sfm_seconds(m->pt, s->op[i].ops) * m->batch / (double)m->pt->llm->layers;
    if (seconds > 0) lad_sfm_start(m, seconds);
}

/* What has ended took this long. */
static void take_time(struct lad_machine *m)
{
    struct lad_program *pr = &m->program;
    dse_ps now = dse_sim_now(m->sim), time = now - pr->since;
    pr->since = now;
    lad_fetch_close(m);
    if (pr->runs == LAD_RUNS_JOB) pr->op_time[pr->op] += time;
    if (pr->runs == LAD_RUNS_DRAIN) pr->drain_time += time;
    if (pr->phase == LAD_WARMING && pr->runs == LAD_RUNS_PERIOD) pr->warm_time += time;
    if (pr->phase == LAD_LAYERS && pr->runs != LAD_RUNS_NOTHING) pr->layer_time[pr->layer] += time;
}

/* Steps of a layer: the operators besides, then QKV and attention of every head by turns, then the drain. False: the layer is over. */
static bool layer_step(struct lad_machine *m)
{
    struct lad_program *pr = &m->program;
    uint32_t heads = m->pt->locality_aware ? m->heads : 0, step = pr->step++;
    if (step == 0) start_hidden(m);
    if (step < pr->n_others) {
        run_job(m);
        return true;
    }
    step -= pr->n_others;
    if (step < 2 * heads) {
        if (step % 2 == 0)
            run_job(m);
        else
            run_period(m, pr->layer, step / 2);
        return true;
    }
    if (step > 2 * heads || heads == 0 || m->p->fill != LAD_FILL_LAYER) return false;
    run_drain(m);
    return true;
}

void lad_program_next(struct lad_machine *m)
{
    struct lad_program *pr = &m->program;
    take_time(m);
    for (;;) {
        switch (pr->phase) {
        case LAD_WARMING:
            if (pr->warm < pr->warm_periods) {
                run_period(m, m->layers, pr->warm++ % m->heads);
                return;
            }
            pr->phase = LAD_LAYERS;
            pr->runs = LAD_RUNS_NOTHING;
            break;
        case LAD_LAYERS:
            if (layer_step(m)) return;
            pr->step = 0;
            if (++pr->layer == m->layers) pr->phase = LAD_DRAINING;
            break;
        case LAD_DRAINING:
            pr->phase = LAD_ONCE;
            if (!m->pt->locality_aware || m->p->fill == LAD_FILL_LAYER) break;
            run_drain(m);
            return;
        case LAD_ONCE:
            if (pr->at_once++ < pr->n_once) {
                run_job(m);
                return;
            }
            pr->phase = LAD_FINISHED;
            break;
        case LAD_FINISHED: show(m, NULL, -1); return;
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
static uint32_t warm_periods(const struct lad_machine *m)
{
    uint32_t stages = LAD_FILL_SLOTS + 1, wanted = m->slots.lock_step ? stages : 3 * stages;
    uint32_t slots = m->slots.lock_step ? m->rounds : m->batch / m->tiles; /* of every tile in a period */
    if (slots == 0) slots = 1;
    return (wanted + slots - 1) / slots;
}

void lad_program_init(struct lad_machine *m)
{
    struct lad_program *pr = &m->program;
    for (int i = 0; i < m->step->n_ops; i++) {
        const struct lad_op *o = &m->step->op[i];
        if (lad_is_once(m, o))
            pr->once[pr->n_once++] = i;
        else if (has_job(o) && !(i == 0 && m->pt->locality_aware))
            pr->others[pr->n_others++] = i;
    }
    if (m->pt->locality_aware && m->p->fill != LAD_FILL_LAYER) pr->warm_periods = warm_periods(m);
    pr->layer_time = dse_sim_alloc(m->sim, m->layers, sizeof *pr->layer_time);
    pr->resource = dse_resource(m->sim, NULL, "schedule");
    dse_sim_at(m->sim, 0, dse_sim_actor(m->sim, on_start, m), 0);
}
