/* SwiftKV at event level: which phases of a step are simulated, and what was seen given back to the equations.
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
    int place; /* in the list of operators */
    struct stream full;
    struct stream *of_layer; /* experts: as drawn in each layer simulated; else NULL */
    double new_bytes, rest_work_s;
    double start_s, tail_s; /* E23 */
    double time_s, data_s;  /* seen, mean over the layers simulated */
};

/* Attention of one kind of layers. */
struct group {
    const struct dse_attention *of;
    int place;                 /* in the list of attentions */
    double met, read;          /* positions that its queries meet, and that are read (E24) */
    struct dse_closed_at *job; /* E22: the equations of a job of it */
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
    const struct dse_workload *workload;
    const struct dse_sampling *sampling;
    struct swiftkv_events_reads closed;
    struct swiftkv_seen_gives seen;
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
    const double ghz = run->closed->clock_mhz / mhz_per_ghz;
    const dse_ps now = dse_sim_now(run->sim);
    static const double rounding = 0.01; /* an edge is a whole number of ps: less than this much of a cycle away */
    double edge = ceil((double)now * ghz / 1000 - rounding);
    return dse_ps_of_cycles(edge + cycles, ghz) - now;
}

/* ---- linear layers ------------------------------------------------------------------------------------------------------- */

static double cycles_s(const struct program *g, double cycles)
{
    return cycles / (g->closed.clock_mhz * DSE_GIGA / mhz_per_ghz);
}

/* Operators of a list, with the equations of one pass of their weights (E4). */
struct passes {
    const struct dse_oplist *list;
    struct dse_closed_at *at;
    const double *expert_reads; /* by operator */
};

/* E4: the arrays' time for one pass of the weights with so many vectors. */
static double pass_s(const struct passes *of, int place, double vectors)
{
    const struct dse_op *op = &of->list->op[place];
    struct swiftkv_pass_gives one = {{{0}, {0}}};
    struct swiftkv_pass_reads ret;
    one.op.vectors[place] = vectors;
    one.op.moved_bytes[place] = op->weight_bytes;
    dse_closed_run(of->at, &one, &ret);
    return ret.op.array_s[place] / (double)op->repeat;
}

static struct stream stream_of(const struct program *g, const struct passes *of, int place, bool experts)
{
    const double reuse = g->closed.weight_reuse;
    const struct dse_op *op = &of->list->op[place];
    struct stream s = {.weight_bytes = op->weight_bytes / (double)op->repeat, .passes = floor(op->rows / reuse)};
    if (experts) s.passes = of->expert_reads[place];
    if (s.passes > 0) s.work_s = pass_s(of, place, experts ? op->rows / s.passes : reuse);
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
static void time_ends(const struct program *g, bool ideal, struct linear *l)
{
    const struct swiftkv_events_reads *p = &g->closed;
    double lanes = dse_min(p->sfu_lanes, p->dispatch_lanes), latency = p->sfu_latency_cycles;
    bool passes = !ideal && (l->op.role != DSE_ROLE_FFN_DOWN || l->op.is_draft);
    double trees = 1 + ceil(log2(p->lanes)) + ceil(log2(p->processors));
    l->start_s = cycles_s(g, latency + (passes ? ceil((double)l->op.k / lanes) : 0));
    l->tail_s = cycles_s(g, trees + latency);
}

/* E27: what is read of the cache to be made keys and values, and what is made, leaves and comes beside the weights. */
static void set_linear(struct program *g, const struct passes *of, int place)
{
    struct linear *l = &g->linear[g->linears++];
    const struct dse_op *op = &g->list.op[place];
    const double repeat = (double)op->repeat, rows = op->rows, reuse = g->closed.weight_reuse;
    *l = (struct linear){.op = *op, .place = place};
    l->new_bytes = (op->kv_write_bytes + op->kv_read_bytes + g->closed.op.made_bytes[place]) / repeat;
    l->once = op->role == DSE_ROLE_OUTPUT_HEAD && !op->is_draft;
    l->full = stream_of(g, of, place, op->copies != 1);
    if (op->copies == 1 && rows > l->full.passes * reuse) l->rest_work_s = pass_s(of, place, rows - l->full.passes * reuse);
    time_ends(g, dse_sim_ideal(g->run.sim, DSE_IDEAL_SYNC), l);
}

/* E16, E23: full passes of the weights are one stream, the vectors that are left another. */
static void begin_linear(struct program *g, struct phase *ph)
{
    const struct linear *l = &g->linear[ph->kind];
    const struct stream *w = stream_at(l, ph->layer);
    const double passes = ph->rest ? 1 : w->passes;
    const double pace_s =
        ph->rest || l->of_layer ? 0 : dse_pace_known(&g->paces, w->work_per_byte); /* layers that are drawn differ */
    struct dse_pour_spec spec = dse_program_pour(&g->on, g->sampling, passes * w->weight_bytes, pace_s);
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
    struct swiftkv_job_gives one = {{{0}, {0}}};
    struct swiftkv_job_reads ret;
    one.group.part[0] = positions / of->met;
    one.group.blocks[0] = ceil(positions / g->closed.block);
    dse_closed_run(of->job, &one, &ret);
    return ret.group.stream_s[0] / ((double)of->of->layers * (double)of->jobs.rounds);
}

static int64_t mean_length(const struct group *of)
{
    return (int64_t)fmax(1, round(of->met / (double)of->of->queries));
}

/* E22: the mean over all lengths. */
static double closed_mean_s(const struct program *g, const struct group *of)
{
    const int64_t n = (int64_t)of->read;
    if (!of->triangle) return closed_job_s(g, of, (double)mean_length(of));
    double sum = 0;
    for (int64_t l = 1; l <= n; l++) sum += closed_job_s(g, of, (double)l);
    return sum / (double)n;
}

/* E22: the lengths that are simulated. */
static void plan_lengths(struct program *g, struct group *of)
{
    const struct swiftkv_jobs jobs = of->jobs;
    const int64_t n = of->triangle ? (int64_t)of->read : mean_length(of), from = of->triangle ? 1 : n;
    dse_lengths_plan(&of->lengths, g->sampling, dse_min_i64(jobs.each, JOBS_MIN) * jobs.engines, from, n, 1);
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
    struct swiftkv_heads_spec spec = {.group = ph->group->place, .positions = ph->length->positions, .actor = g->on.done};
    spec.jobs =
        dse_lengths_heads(&ph->group->lengths, g->sampling, spec.positions, (double)jobs.engines, JOBS_MIN, (double)jobs.each);
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

static void see_attention(struct program *g, const struct group *of)
{
    const int i = of->place;
    const double layers = (double)of->of->layers;
    const double layer_s = (double)of->jobs.each * (of->job_s + closed_mean_s(g, of)) + of->ends_s;
    const double stream_s = layers * layer_s - g->closed.group.rope_s[i];
    const bool hbm = hbm_limits(layer_s, of->data_s);
    g->seen.group.stream_s[i] = stream_s;
    g->seen.group.compute_s[i] = hbm ? fmin(g->closed.group.compute_s[i], stream_s) : stream_s;
    g->seen.group.dram_s[i] = hbm ? stream_s : g->closed.group.moved_bytes[i] / dse_dram_peak(g->run.dram);
    g->seen.group.waits[i] = hbm;
}

/* What is written at the end of a layer is on the bus when the next begins: none ends before its bytes can have passed. */
static void see_linear(struct program *g, const struct linear *l)
{
    const int i = l->place;
    const double bytes_s = g->closed.op.moved_bytes[i] / dse_dram_peak(g->run.dram);
    const double time_s = fmax((double)l->op.repeat * l->time_s, bytes_s);
    const bool hbm = hbm_limits(l->time_s, l->data_s);
    g->seen.op.time_s[i] = time_s;
    g->seen.op.array_s[i] = hbm ? 0 : time_s;
    g->seen.op.dram_s[i] = hbm ? time_s : bytes_s;
    g->seen.op.waits[i] = hbm;
}

/* E21. Recurrences and exchanges take what they take in closed form (E27). */
static void see(struct program *g)
{
    for (int i = 0; i < g->list.n; i++) {
        g->seen.op.time_s[i] = g->closed.op.time_s[i];
        g->seen.op.array_s[i] = g->closed.op.array_s[i];
        g->seen.op.dram_s[i] = g->closed.op.dram_s[i];
        g->seen.op.waits[i] = g->closed.op.waits[i];
    }
    for (int i = 0; i < g->linears; i++) see_linear(g, &g->linear[i]);
    for (int i = 0; i < g->groups; i++) see_attention(g, &g->group[i]);
}

static void set_linears(struct program *g, struct dse_closed *closed)
{
    const struct passes of = {&g->list, dse_closed_at(closed, &swiftkv_pass, &g->list), g->closed.op.expert_reads};
    for (int i = 0; i < g->list.n; i++) {
        const struct dse_op *op = &g->list.op[i];
        if (op->kind == DSE_OP_SCORES) {
            struct group *at = &g->group[op->attention];
            at->after = g->linears - 1;
        }
        if (op->kind == DSE_OP_LINEAR && g->closed.op.counts[i] != 0) set_linear(g, &of, i);
    }
}

/* Experts of a layer simulated. */
static void set_layer(struct program *g, struct dse_closed *closed, uint64_t seed, int64_t layer, struct dse_oplist *list)
{
    struct swiftkv_events_reads drawn;
    dse_workload_expand_drawn(g->workload, -1, &(struct dse_draw){seed, layer, 1}, list);
    dse_closed_run(dse_closed_at(closed, &swiftkv_events, list), NULL, &drawn);
    const struct passes of = {list, dse_closed_at(closed, &swiftkv_pass, list), drawn.op.expert_reads};
    for (int i = 0; i < g->linears; i++) {
        struct linear *l = &g->linear[i];
        if (l->of_layer) l->of_layer[layer] = stream_of(g, &of, l->place, true);
    }
}

static void set_drawn(struct program *g, struct dse_closed *closed, const struct dse_draw *draw)
{
    if (draw->layers == 0 || dse_llm_fewest_experts(g->workload->llm) == 0) return;
    struct dse_oplist *list = dse_sim_alloc(g->run.sim, 1, sizeof *list);
    for (int i = 0; i < g->linears; i++) {
        struct linear *l = &g->linear[i];
        if (l->op.copies != 1) l->of_layer = dse_sim_alloc(g->run.sim, (size_t)draw->layers, sizeof *l->of_layer);
    }
    for (int64_t layer = 0; layer < draw->layers; layer++) set_layer(g, closed, draw->seed, layer, list);
}

static void set_groups(struct program *g, struct dse_closed *closed)
{
    g->groups = g->list.n_attentions;
    for (int i = 0; i < g->groups; i++) {
        struct group *of = &g->group[i];
        struct dse_oplist alone = {.n_attentions = 1};
        const double n = g->closed.group.read[i];
        alone.attention[0] = g->list.attention[i];
        of->of = &g->list.attention[i];
        of->place = i;
        of->read = n;
        of->met = g->closed.group.met[i];
        of->triangle = g->closed.prefill != 0 && of->met == n * (n + 1) / 2;
        of->job = dse_closed_at(closed, &swiftkv_job, &alone);
        of->jobs = swiftkv_jobs(&g->run, i);
    }
}

static bool init(struct program *g, struct dse_closed *closed, struct dse_sim *sim)
{
    const struct dse_events *events = dse_closed_events(closed);
    const struct dse_dram *dram = dse_closed_memory(closed);
    g->workload = dse_closed_workload(closed);
    g->sampling = dse_closed_sampling(closed);
    dse_closed_run(dse_closed_at(closed, &swiftkv_events, NULL), NULL, &g->closed);
    if (!dse_program_init(&g->on, sim, events, dram, g->closed.processors * g->closed.kv_memory_kib * DSE_KIB)) return false;
    g->layers = dse_layers_simulated(events, g->workload->llm->layers);
    const struct dse_draw draw = dse_draw_of(sim, 0, g->layers);
    dse_workload_expand_drawn(g->workload, -1, &draw, &g->list);
    dse_closed_run(dse_closed_at(closed, &swiftkv_events, &g->list), NULL, &g->closed);
    g->run = (struct swiftkv_run){.sim = sim, .closed = &g->closed, .list = &g->list, .dram = dram, .program = &g->on};
    g->run.array = dse_resource(sim, "SwiftKV", "MAC arrays");
    g->run.sfu = dse_resource(sim, "SwiftKV", "SFU, dispatcher");
    set_groups(g, closed);
    set_linears(g, closed);
    set_drawn(g, closed, &draw);
    for (int i = 0; i < g->groups; i++) plan_lengths(g, &g->group[i]);
    write_program(g);
    return true;
}

static void note(const struct program *g)
{
    struct dse_sim *sim = g->run.sim;
    if (g->paces.n > 0) dse_sim_note(sim, "weight_stream_share", "", 1 / (dse_dram_peak(g->run.dram) * g->paces.seen[0].pace_s));
    dse_program_note(&g->on);
    if (g->groups > 0)
        dse_sim_note(sim, "attention_job", "us", (g->group[0].job_s + closed_mean_s(g, &g->group[0])) * DSE_US_PER_S);
}

bool swiftkv_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    struct program *g = dse_sim_alloc(sim, 1, sizeof *g);
    const struct dse_phases phases = {.model = "swiftkv", .object = g, .begin = begin, .end = end};
    if (!init(g, closed, sim) || !dse_program_run(&g->on, &phases, g->n)) return false;
    see(g);
    dse_closed_report(dse_closed_at(closed, &swiftkv_seen, &g->list), &g->seen, metrics, breakdown);
    note(g);
    return true;
}
