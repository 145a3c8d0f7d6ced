/* SwiftKV at event level: which phases of a step are simulated, and a step made of what was seen.
 *
 * A program is a list of phases, one after another in time: the layers that are simulated, each with its attention between the
 * first and the second linear layer; the output head; attention at other lengths, for a prefill. What is not simulated takes what
 * that is takes (README.md, "Event level"): E18, E21, E22.
 */
#include "swiftkv_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

enum { JOBS_MIN = 4, LINEARS_MAX = DSE_OPS_MAX, ATTENTION = LINEARS_MAX };
static const double mhz_per_ghz = 1000;

/* Weights that pass by, once for `reuse` vectors. */
struct stream {
    double weight_bytes, passes, work_s, work_per_byte; /* work of a full pass */
};

/* A linear layer: one instance. The weights pass by once more for the vectors that are left. */
struct linear {
    struct dse_op op;
    bool once; /* an output head: of no layer */
    int place; /* in the step's list */
    struct stream full;
    struct stream *of_layer; /* experts: as drawn in each layer simulated; else NULL */
    double new_bytes, rest_work_s;
    double start_s, tail_s; /* E23 */
    double time_s, data_s;  /* seen, mean over the layers simulated */
};

/* Attention of one kind of layers. */
struct group {
    const struct dse_attention *of;
    struct swiftkv_dealt dealt;
    struct swiftkv_jobs jobs;
    int after;     /* linear layer that it follows */
    bool triangle; /* a prompt whose positions see all before them: jobs of all lengths; else they have the mean length */
    struct dse_lengths lengths;
    double job_s, ends_s, data_s; /* differences from the closed form of a job, weighted over lengths; the rest as seen */
};

struct phase {
    int kind;                /* of a linear layer, or ATTENTION */
    bool rest, begins, ends; /* the vectors that are left; first and last phase of its layer */
    int64_t layer;
    struct group *group;
    const struct dse_length *length;
    struct dse_pour *pour;
    struct swiftkv_heads *heads;
};

struct program {
    struct dse_program on;
    struct swiftkv_run run;
    const struct swiftkv_params *p;
    struct swiftkv_step closed;
    struct dse_oplist list;
    struct group group[DSE_ATTENTIONS_MAX];
    int groups;
    struct linear linear[LINEARS_MAX];
    int linears;
    int64_t layers; /* layers simulated */
    size_t n;
    struct phase *phase;
    struct dse_paces paces; /* of full passes */
};

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

dse_ps swiftkv_cycles_on(const struct swiftkv_run *run, double cycles)
{
    const double ghz = run->p->clock_mhz / mhz_per_ghz;
    const dse_ps now = dse_sim_now(run->sim);
    static const double rounding = 0.01; /* an edge is a whole number of ps: less than this much of a cycle away */
    double edge = ceil((double)now * ghz / 1000 - rounding);
    return dse_ps_of_cycles(edge + cycles, ghz) - now;
}

/* ---- linear layers ------------------------------------------------------------------------------------------------------- */

static double cycles_s(const struct swiftkv_params *p, double cycles)
{
    return cycles / (p->clock_mhz * DSE_GIGA / mhz_per_ghz);
}

/* E4: the arrays' time for one pass of the weights with so many vectors. */
static double pass_s(const struct swiftkv_params *p, const struct dse_op *op, double vectors)
{
    double s = cycles_s(p, op->copies * swiftkv_gemv_cycles(p, vectors, (double)op->k, (double)op->n));
    if (p->gemv_stalls == SWIFTKV_STALLS_BOTH) s = fmax(s, op->weight_bytes / (double)op->repeat / dse_dram_peak(&p->dram));
    return s / p->gemv_efficiency;
}

static struct stream stream_of(const struct swiftkv_params *p, const struct dse_op *op, bool experts)
{
    const double reuse = (double)p->weight_reuse;
    struct stream s = {.weight_bytes = op->weight_bytes / (double)op->repeat, .passes = floor(op->rows / reuse)};
    if (experts) s.passes = swiftkv_expert_reads(p, op->rows);
    if (s.passes > 0) s.work_s = pass_s(p, op, experts ? op->rows / s.passes : reuse);
    s.work_per_byte = s.work_s / s.weight_bytes;
    return s;
}

/* What passes by in a layer. */
static const struct stream *stream_at(const struct linear *l, int64_t layer)
{
    return l->of_layer ? &l->of_layer[layer] : &l->full;
}

/* E23: a vector is normalised or converted, and dealt, before the first product; FFN down takes its inputs as the layer before
 * makes them. After the last product its sum goes through the tree of a processor, the sum over the processors, and the SFU. */
static void time_ends(const struct swiftkv_params *p, bool ideal, struct linear *l)
{
    double lanes = (double)dse_min_i64(p->sfu_lanes, p->dispatch_lanes), latency = (double)p->sfu_latency_cycles;
    bool passes = !ideal && (l->op.role != DSE_ROLE_FFN_DOWN || l->op.is_draft);
    double trees = 1 + ceil(log2(swiftkv_gemv_lanes(p))) + ceil(log2((double)p->processors));
    l->start_s = cycles_s(p, latency + (passes ? ceil((double)l->op.k / lanes) : 0));
    l->tail_s = cycles_s(p, trees + latency);
}

/* E27: what is read of the cache to be made keys and values, and what is made, leaves and comes beside the weights. */
static void set_linear(struct program *g, const struct dse_op *op, int place)
{
    const struct swiftkv_params *p = g->p;
    struct linear *l = &g->linear[g->linears++];
    const double repeat = (double)op->repeat, rows = op->rows, reuse = (double)p->weight_reuse;
    const double beside = g->closed.op[place].bytes - swiftkv_reads(p, op) * op->weight_bytes - op->kv_write_bytes;
    *l = (struct linear){.op = *op, .place = place, .new_bytes = op->kv_write_bytes / repeat};
    if (op->kv_read_bytes > 0) l->new_bytes += beside / repeat;
    l->once = op->role == DSE_ROLE_OUTPUT_HEAD && !op->is_draft;
    l->full = stream_of(p, op, op->copies != 1);
    if (op->copies == 1 && rows > l->full.passes * reuse) l->rest_work_s = pass_s(p, op, rows - l->full.passes * reuse);
    time_ends(p, dse_sim_ideal(g->run.sim, DSE_IDEAL_SYNC), l);
}

/* E16, E23: full passes of the weights are one stream, the vectors that are left another. */
static void begin_linear(struct program *g, struct phase *ph)
{
    const struct swiftkv_params *p = g->p;
    const struct linear *l = &g->linear[ph->kind];
    const struct stream *w = stream_at(l, ph->layer);
    const double passes = ph->rest ? 1 : w->passes;
    const double pace_s =
        ph->rest || l->of_layer ? 0 : dse_pace_known(&g->paces, w->work_per_byte); /* layers that are drawn differ */
    struct dse_pour_spec spec = dse_program_pour(&g->on, &p->sampling, passes * w->weight_bytes, pace_s);
    spec.work_s = ph->rest ? l->rest_work_s : passes * w->work_s;
    spec.hold_s = ph->begins ? l->start_s : 0;
    spec.resource = g->run.array;
    spec.work = l->op.name;
    spec.id = ph->layer;
    spec.actor = g->on.done;
    const uint64_t whole = (uint64_t)ceil(w->weight_bytes); /* a later pass reads the same bytes */
    const uint64_t simulated = dse_pour_simulated(&spec);
    if (simulated > whole) spec.sample_bytes = whole;
    spec.address = dse_room_for(&g->on, &g->run.weights, dse_min_u64(simulated, whole), 0);
    if (ph->begins) dse_resource_state(g->run.sim, g->run.sfu, DSE_BUSY, "deal inputs, add outputs", ph->layer);
    ph->pour = dse_pour_new(g->run.sim, &spec);
}

/* Keys and values of the new tokens leave for the HBM; nobody waits for them. */
static bool next_new(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct dse_segment *s = object;
    (void)arg;
    if (s->bytes == 0) return false;
    *ret = *s;
    s->bytes = 0;
    return true;
}

static void write_new(struct program *g, double bytes)
{
    if (bytes <= 0) return;
    struct dse_segment *s = dse_sim_alloc(g->run.sim, 1, sizeof *s);
    *s = (struct dse_segment){.bytes = (uint64_t)ceil(bytes), .write = true};
    s->address = dse_room_for(&g->on, &g->run.weights, s->bytes, 0);
    struct dse_transfer t = {
        .next = next_new, .object = s, .label = "new keys, values", .access_bytes = (double)INFINITY, .actor = g->on.nobody};
    dse_dram_start(g->on.port, &t);
}

static double end_linear(struct program *g, const struct phase *ph)
{
    struct linear *l = &g->linear[ph->kind];
    struct dse_poured r = dse_pour_result(ph->pour);
    const double share = 1 / (l->once ? 1 : (double)g->layers);
    l->time_s += share * r.time_s;
    l->data_s += share * r.data_s;
    if (!ph->rest && !l->of_layer) dse_pace_see(&g->paces, l->full.work_per_byte, r.pace_s);
    dse_resource_state(g->run.sim, g->run.sfu, DSE_IDLE, NULL, -1);
    if (!ph->ends) return 0;
    l->time_s += share * l->tail_s;
    write_new(g, l->new_bytes);
    return l->tail_s;
}

/* ---- attention ----------------------------------------------------------------------------------------------------------- */

/* E22: the closed form of one job of a length (E6, E7), without the rotary embedding. */
static double closed_job_s(const struct program *g, const struct group *of, double positions)
{
    const struct swiftkv_params *p = g->p;
    const struct swiftkv_cycles c = swiftkv_position_cycles(p, of->of);
    const struct swiftkv_dealt *d = &of->dealt;
    double row = d->row_bytes / 2 + d->extra_bytes / 2;
    double cycles = positions * (c.dot + c.update + c.sweeps + d->extra_cycles) + ceil(positions / (double)p->block) * c.block;
    double bytes = d->reads / d->rounds * positions * 2 * row;
    return fmax(cycles_s(p, cycles), dse_dram_stream_seconds(&p->dram, bytes));
}

static int64_t mean_length(const struct dse_attention *a)
{
    return (int64_t)fmax(1, round(a->pairs / (double)a->queries));
}

/* E22: the mean over all lengths. */
static double closed_mean_s(const struct program *g, const struct group *of)
{
    const int64_t n = of->of->positions;
    if (!of->triangle) return closed_job_s(g, of, (double)mean_length(of->of));
    double sum = 0;
    for (int64_t l = 1; l <= n; l++) sum += closed_job_s(g, of, (double)l);
    return sum / (double)n;
}

/* E22: the lengths that are simulated. */
static void plan_lengths(struct program *g, struct group *of)
{
    const struct swiftkv_params *p = g->p;
    const struct swiftkv_jobs jobs = of->jobs;
    const int64_t n = of->triangle ? of->of->positions : mean_length(of->of), from = of->triangle ? 1 : n;
    dse_lengths_plan(&of->lengths, &p->sampling, dse_min_i64(jobs.each, JOBS_MIN) * jobs.engines, from, n, 1);
}

/* E22: what is seen, as a difference from the closed form. */
static void end_attention(struct program *g, const struct phase *ph)
{
    struct swiftkv_heads_result r = swiftkv_heads_result(ph->heads);
    struct group *of = ph->group;
    const double share = ph->length->weight / (double)g->layers;
    of->job_s += share * (r.job_s - closed_job_s(g, of, (double)ph->length->positions));
    of->ends_s += share * r.ends_s;
    of->data_s += share * r.data_s;
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

static void begin(void *object, size_t i)
{
    struct program *g = object;
    struct phase *ph = &g->phase[i];
    if (ph->kind != ATTENTION) {
        begin_linear(g, ph);
        return;
    }
    const struct swiftkv_jobs jobs = ph->group->jobs;
    struct swiftkv_heads_spec spec = {.of = ph->group->of, .positions = ph->length->positions, .actor = g->on.done};
    spec.jobs =
        dse_lengths_heads(&ph->group->lengths, &g->p->sampling, spec.positions, (double)jobs.engines, JOBS_MIN, (double)jobs.each);
    ph->heads = swiftkv_heads_new(&g->run, &spec);
}

/* The next phase begins when the results of this one are out. */
static double end(void *object, size_t i)
{
    struct program *g = object;
    const struct phase *ph = &g->phase[i];
    if (ph->kind != ATTENTION) return end_linear(g, ph);
    end_attention(g, ph);
    return 0;
}

static void add_linear(struct program *g, int which, int64_t layer)
{
    const struct linear *l = &g->linear[which];
    const bool rest = l->rest_work_s > 0;
    if (l->full.passes > 0) g->phase[g->n++] = (struct phase){.kind = which, .begins = true, .ends = !rest, .layer = layer};
    if (rest)
        g->phase[g->n++] =
            (struct phase){.kind = which, .rest = true, .begins = !(l->full.passes > 0), .ends = true, .layer = layer};
}

static void add_attention(struct program *g, struct group *of, size_t length, int64_t layer)
{
    g->phase[g->n++] = (struct phase){.kind = ATTENTION, .layer = layer, .group = of, .length = &of->lengths.at[length]};
}

/* E16. */
static void write_program(struct program *g)
{
    size_t lengths = 0;
    for (int i = 0; i < g->groups; i++) lengths += g->group[i].lengths.n;
    const size_t most = (size_t)g->layers * ((size_t)2 * (size_t)g->linears + lengths) + 2;
    g->phase = dse_sim_alloc(g->run.sim, most, sizeof *g->phase);
    for (int64_t layer = 0; layer < g->layers; layer++) {
        for (int i = 0; i < g->linears; i++) {
            if (g->linear[i].once) continue;
            add_linear(g, i, layer);
            for (int k = 0; k < g->groups; k++)
                if (g->group[k].after == i) add_attention(g, &g->group[k], 0, layer);
        }
    }
    for (int i = 0; i < g->linears; i++)
        if (g->linear[i].once) add_linear(g, i, -1);
    for (int64_t layer = 0; layer < g->layers; layer++)
        for (int k = 0; k < g->groups; k++)
            for (size_t i = 1; i < g->group[k].lengths.n; i++) add_attention(g, &g->group[k], i, layer);
}

/* ---- the step ------------------------------------------------------------------------------------------------------------ */

/* E21: who limits: the HBM if the arrays had to wait for it, but for the first bytes. */
static bool hbm_limits(double time_s, double data_s)
{
    return data_s > time_s / 100;
}

static void set_attention(const struct program *g, const struct group *of, struct swiftkv_attention *a, struct swiftkv_step *s)
{
    const double peak = dse_dram_peak(&g->p->dram), layers = (double)of->of->layers;
    const double layer_s = (double)of->jobs.each * (of->job_s + closed_mean_s(g, of)) + of->ends_s;
    struct swiftkv_attention *sum = &s->attention;
    a->stream_s = layers * layer_s - a->rope_s;
    a->time_s = a->stream_s + a->rope_s + a->overhead_s;
    bool hbm = hbm_limits(layer_s, of->data_s);
    a->compute_s = hbm ? fmin(a->compute_s, a->stream_s) : a->stream_s;
    a->dram_s = hbm ? a->stream_s : a->bytes / peak;
    *(hbm ? &s->dram_bound_s : &s->compute_bound_s) += a->stream_s;
    sum->compute_s += a->compute_s;
    sum->dram_s += a->dram_s;
    sum->stream_s += a->stream_s;
    sum->time_s += a->time_s;
}

/* E21. Recurrences and exchanges take what they take in closed form (E27). */
static void set_step(const struct program *g, struct swiftkv_step *s)
{
    const double peak = dse_dram_peak(&g->p->dram);
    *s = g->closed;
    s->linear_s = s->compute_bound_s = s->dram_bound_s = 0;
    for (int i = 0; i < s->n_ops; i++) {
        if (s->op[i].kind != DSE_OP_RECURRENCE) continue;
        s->linear_s += s->op[i].time_s;
        *(s->op[i].time_s > s->op[i].dram_s ? &s->compute_bound_s : &s->dram_bound_s) += s->op[i].time_s;
    }
    for (int i = 0; i < g->linears; i++) {
        const struct linear *l = &g->linear[i];
        struct swiftkv_op *o = &s->op[l->place];
        /* What is written at the end of a layer is on the bus when the next begins: none ends before its bytes can have passed. */
        o->time_s = fmax((double)l->op.repeat * l->time_s, o->bytes / peak);
        bool hbm = hbm_limits(l->time_s, l->data_s);
        o->dram_s = hbm ? o->time_s : o->bytes / peak;
        s->linear_s += o->time_s;
        *(hbm ? &s->dram_bound_s : &s->compute_bound_s) += o->time_s;
    }
    struct swiftkv_attention *a = &s->attention;
    a->compute_s = a->dram_s = a->stream_s = a->time_s = 0;
    for (int i = 0; i < g->groups; i++) set_attention(g, &g->group[i], &s->group[i], s);
    swiftkv_step_end(s, g->p);
}

static void set_linears(struct program *g)
{
    for (int i = 0; i < g->list.n; i++) {
        const struct dse_op *op = &g->list.op[i];
        if (op->kind == DSE_OP_SCORES) {
            struct group *of = &g->group[op->attention];
            of->after = g->linears - 1;
        }
        if (op->kind != DSE_OP_LINEAR) continue;
        for (int place = 0; place < g->closed.n_ops; place++)
            if (g->closed.op[place].source == i && g->closed.op[place].kind == DSE_OP_LINEAR) set_linear(g, op, place);
    }
}

/* Experts of each layer simulated. */
static void set_drawn(struct program *g, const struct dse_draw *draw)
{
    if (draw->layers == 0 || g->p->workload.llm->moe.experts == 0) return;
    struct dse_oplist *list = dse_sim_alloc(g->run.sim, 1, sizeof *list);
    for (int64_t layer = 0; layer < draw->layers; layer++) {
        swiftkv_expand_drawn(g->p, &(struct dse_draw){draw->seed, layer, 1}, list);
        for (int i = 0; i < g->linears; i++) {
            struct linear *l = &g->linear[i];
            if (l->op.copies == 1) continue;
            if (!l->of_layer) l->of_layer = dse_sim_alloc(g->run.sim, (size_t)draw->layers, sizeof *l->of_layer);
            l->of_layer[layer] = stream_of(g->p, &list->op[g->closed.op[l->place].source], true);
        }
    }
}

static void set_groups(struct program *g)
{
    g->groups = g->list.n_attentions;
    for (int i = 0; i < g->groups; i++) {
        struct group *of = &g->group[i];
        const struct dse_attention *a = &g->list.attention[i];
        const double n = (double)a->positions;
        of->of = a;
        of->triangle = g->p->workload.phase == DSE_PREFILL && a->pairs == n * (n + 1) / 2;
        swiftkv_deal(g->p, a, &of->dealt);
        of->jobs = swiftkv_jobs(g->p, a);
    }
}

static bool init(struct program *g, struct dse_sim *sim, const struct swiftkv_params *p)
{
    if (!dse_program_init(&g->on, sim, &p->events, &p->dram, (double)p->processors * p->kv_memory_kib * DSE_KIB)) return false;
    g->p = p;
    g->run = (struct swiftkv_run){.sim = sim, .p = p, .program = &g->on};
    g->run.array = dse_resource(sim, "SwiftKV", "MAC arrays");
    g->run.sfu = dse_resource(sim, "SwiftKV", "SFU, dispatcher");
    g->layers = dse_layers_simulated(&p->events, p->workload.llm->layers);
    const struct dse_draw draw = dse_draw_of(sim, 0, g->layers);
    swiftkv_expand_drawn(p, &draw, &g->list);
    swiftkv_step_of(&g->closed, p, &g->list);
    set_groups(g);
    set_linears(g);
    set_drawn(g, &draw);
    for (int i = 0; i < g->groups; i++) plan_lengths(g, &g->group[i]);
    write_program(g);
    return true;
}

static void note(const struct program *g)
{
    struct dse_sim *sim = g->run.sim;
    if (g->paces.n > 0) dse_sim_note(sim, "weight_stream_share", "", 1 / (dse_dram_peak(&g->p->dram) * g->paces.seen[0].pace_s));
    dse_program_note(&g->on);
    if (g->groups > 0)
        dse_sim_note(sim, "attention_job", "us", (g->group[0].job_s + closed_mean_s(g, &g->group[0])) * DSE_US_PER_S);
}

bool swiftkv_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    struct program *g = dse_sim_alloc(sim, 1, sizeof *g);
    const struct dse_phases phases = {.model = "swiftkv", .object = g, .begin = begin, .end = end};
    struct swiftkv_step seen;
    if (!init(g, sim, params) || !dse_program_run(&g->on, &phases, g->n)) return false;
    set_step(g, &seen);
    swiftkv_report(g->p, &seen, metrics, breakdown);
    note(g);
    return true;
}
