/* VEDA at event level: which phases of a step are simulated, and a step made of what was seen.
 *
 * A program is a list of phases, one after another in time: the layers that are simulated, each with its attention between the first and the second linear
 * layer; the output head; attention at other lengths of the cache, for steps that are a mean; and attention without eviction, which is compared with.
 * Layers, heads and positions that are not simulated take what those that are take (README.md, "Event level"): E25, E26.
 */
#include "veda_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

enum {
    UNITS_MIN = 8,            /* of attention simulated at least, where there are so many */
    ATTENTION = VEDA_LINEARS, /* a phase that is no linear layer */
};

/* Attention of one cache, evicted or not. */
struct plan {
    struct veda_point pt;
    struct dse_lengths lengths;
    struct veda_tally unit, ends; /* sums over the phases of layers, weighted */
};

struct phase {
    int kind; /* enum veda_linear_index, or ATTENTION */
    int64_t layer;
    struct plan *plan;
    const struct dse_length *length;
    struct veda_layer *linear;
    struct veda_heads *heads;
};

struct program {
    struct veda_run run, apart; /* apart: with resources of its own, for the cache that is not evicted */
    struct veda_point pt;
    struct veda_step closed;
    struct veda_linear_shape shape[VEDA_LINEARS];
    struct plan mine, whole;
    int64_t layers; /* simulated */
    int64_t n, next;
    struct phase *phase;
    uint32_t actor;
    struct {
        double work_per_byte, pace_s;
    } seen[VEDA_LINEARS];                          /* paces of weights of one row */
    struct veda_layer_result linear[VEDA_LINEARS]; /* means */
    double peaks[3];
};

/* ---- moving --------------------------------------------------------------------------------------------------------------------- */

struct move {
    uint64_t address, bytes, at;
    bool write;
};

enum { PIECE = 4096, ALIGN_MAX = 1 << 20 };

static bool next_piece(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct move *m = object;
    (void)arg;
    if (m->at == m->bytes) return false;
    uint64_t rest = m->bytes - m->at, n = rest < PIECE ? rest : PIECE;
    *ret = (struct dse_segment){.address = m->address + m->at, .bytes = n, .write = m->write};
    m->at += n;
    return true;
}

void veda_move(const struct veda_run *run, uint64_t address, double bytes, bool write, const char *label, uint32_t actor,
               uint32_t arg)
{
    struct move *m = dse_sim_alloc(run->sim, 1, sizeof *m);
    *m = (struct move){.address = address, .bytes = (uint64_t)dse_ceil(bytes), .write = write};
    struct dse_transfer t = {
        .next = next_piece, .object = m, .label = label, .access_bytes = (double)INFINITY, .actor = actor, .actor_arg = arg};
    dse_dram_start(run->port, &t);
}

uint64_t veda_region(const struct veda_run *run, enum veda_region which, double bytes)
{
    struct veda_regions *r = run->regions;
    const struct dse_dram *d = &run->p->dram;
    uint64_t size = (uint64_t)dse_ceil(bytes), align = (uint64_t)d->burst_bytes;
    if (size <= r->bytes[which]) return r->address[which];
    if (d->channels * d->timing.row_bytes <= ALIGN_MAX) align = 0; /* rows of all channels begin with it */
    while (align & (align - 1)) align += align & -align;           /* a power of two */
    r->bytes[which] = size;
    return r->address[which] = dse_dram_reserve(run->port, size, align);
}

static void ignore(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)object;
    (void)arg;
}

/* ---- lengths ------------------------------------------------------------------------------------------------------------------------ */

/* E26: the lengths that stand for those of the span. */
static void plan_lengths(struct plan *plan, const struct veda_point *pt)
{
    const struct veda_span *s = &pt->span;
    const struct dse_sampling *sampling = &pt->p->sampling;
    const int64_t longest = dse_longest(sampling->rows_simulated, UNITS_MIN), want = sampling->positions_simulated;
    const double all = s->to - s->from + s->flat;
    plan->pt = *pt;
    if (s->to > s->from)
        dse_lengths_add(&plan->lengths, (int64_t)s->from + 1, (int64_t)s->to, want, longest, (s->to - s->from) / all);
    if (s->flat > 0)
        dse_lengths_add(&plan->lengths, (int64_t)s->flat_length, (int64_t)s->flat_length, want, longest, s->flat / all);
}

/* E25: units that are simulated at a length: all lengths share the rows. */
static int64_t units_at(const struct plan *plan, int64_t positions)
{
    double rows = (double)plan->pt.p->sampling.rows_simulated / (double)plan->lengths.n, all = veda_units(&plan->pt);
    if (rows <= 0) return (int64_t)all;
    return (int64_t)dse_min(dse_max(UNITS_MIN, dse_ceil(rows / (2 * (double)positions))), all);
}

/* ---- the closed form of a unit ------------------------------------------------------------------------------------------------------ */

/* E26: of one unit at one length, what the samples are compared with. */
static void closed_unit(const struct veda_point *pt, double length, struct veda_tally *ret)
{
    struct veda_point at = *pt;
    struct veda_attention a;
    at.prefill = false;
    at.queries = 1;
    at.positions = at.pairs = length;
    at.span = (struct veda_span){.flat = 1, .flat_length = length, .mean_of = 1};
    veda_attention_at(&at, &a);
    double units = pt->layers * veda_units(pt) / pt->queries;
    memset(ret, 0, sizeof *ret);
    ret->at[VEDA_SCORES_S] = a.scores.time_s / units;
    ret->at[VEDA_SOFTMAX_S] = a.softmax_s / units;
    ret->at[VEDA_VALUES_S] = a.values.time_s / units;
    ret->at[VEDA_SCORES_WORK_S] = a.scores.gemv_s / units;
    ret->at[VEDA_VALUES_WORK_S] = a.values.gemv_s / units;
}

static void add_tally(struct veda_tally *to, const struct veda_tally *what, double weight)
{
    for (int i = 0; i < VEDA_COUNTS; i++) to->at[i] += weight * what->at[i];
}

/* E26: the mean over all lengths of the span. */
static void closed_mean(const struct veda_point *pt, struct veda_tally *ret)
{
    const struct veda_span *s = &pt->span;
    struct veda_tally unit;
    double each = 1 / (s->to - s->from + s->flat);
    memset(ret, 0, sizeof *ret);
    const int64_t lengths = (int64_t)(s->to - s->from);
    for (int64_t i = 1; i <= lengths; i++) {
        closed_unit(pt, s->from + (double)i, &unit);
        add_tally(ret, &unit, each);
    }
    if (s->flat <= 0) return;
    closed_unit(pt, s->flat_length, &unit);
    add_tally(ret, &unit, each * s->flat);
}

/* ---- phases ------------------------------------------------------------------------------------------------------------------------- */

static double work_per_byte(const struct program *g, int which)
{
    return g->closed.linear[which].gemv_s / g->shape[which].instances / g->shape[which].weight_bytes;
}

/* E17: the pace of weights is seen once for each ratio of work to bytes. */
static double known_pace(const struct program *g, int which)
{
    for (int i = 0; i < VEDA_LINEARS; i++)
        if (g->seen[i].pace_s > 0 && fabs(g->seen[i].work_per_byte / work_per_byte(g, which) - 1) < 1e-12) return g->seen[i].pace_s;
    return 0;
}

static void begin(struct program *g)
{
    struct phase *ph = &g->phase[g->next];
    const struct veda_run *run = ph->plan == &g->whole ? &g->apart : &g->run;
    if (ph->kind == ATTENTION) {
        struct veda_heads_spec spec = {.pt = &ph->plan->pt,
                                       .length = ph->length->positions,
                                       .simulated = units_at(ph->plan, ph->length->positions),
                                       .layer = ph->layer,
                                       .actor = g->actor};
        ph->heads = veda_heads_new(run, &spec);
        return;
    }
    const struct veda_linear *closed = &g->closed.linear[ph->kind];
    struct veda_layer_spec spec = {.name = closed->name,
                                   .shape = &g->shape[ph->kind],
                                   .work_s = closed->gemv_s / g->shape[ph->kind].instances,
                                   .pace_s = known_pace(g, ph->kind),
                                   .id = ph->layer,
                                   .actor = g->actor};
    ph->linear = veda_layer_new(run, &spec);
}

static void end_of_linear(struct program *g, const struct phase *ph)
{
    struct veda_layer_result r = veda_layer_result(ph->linear), *mean = &g->linear[ph->kind];
    double share = 1 / (ph->kind == VEDA_LM_HEAD ? 1 : (double)g->layers);
    mean->time_s += share * r.time_s;
    mean->norm_s += share * r.norm_s;
    mean->data_s += share * r.data_s;
    if (!(r.pace_s > 0) || known_pace(g, ph->kind) > 0) return;
    g->seen[ph->kind].work_per_byte = work_per_byte(g, ph->kind);
    g->seen[ph->kind].pace_s = r.pace_s;
}

/* E26: what is seen, as a difference from the closed form. */
static void end_of_attention(struct program *g, const struct phase *ph)
{
    struct plan *plan = ph->plan;
    struct veda_heads_result r = veda_heads_result(ph->heads);
    struct veda_tally closed;
    double share = ph->length->weight / (double)g->layers;
    closed_unit(&plan->pt, (double)ph->length->positions, &closed);
    add_tally(&plan->unit, &r.unit, share);
    add_tally(&plan->unit, &closed, -share);
    add_tally(&plan->ends, &r.ends, share);
    if (plan == &g->whole) return;
    g->peaks[0] = dse_max(g->peaks[0], r.score_peak);
    g->peaks[1] = dse_max(g->peaks[1], r.norm_peak);
    g->peaks[2] = dse_max(g->peaks[2], r.vote_peak);
}

/* The phase before is done. */
static void step(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct program *g = object;
    (void)sim;
    (void)arg;
    const struct phase *ph = &g->phase[g->next];
    if (ph->kind == ATTENTION)
        end_of_attention(g, ph);
    else
        end_of_linear(g, ph);
    if (++g->next < g->n) begin(g);
}

static void add_phase(struct program *g, int kind, int64_t layer, struct plan *plan, size_t length)
{
    g->phase[g->n++] =
        (struct phase){.kind = kind, .layer = layer, .plan = plan, .length = plan ? &plan->lengths.at[length] : NULL};
}

static void write_program(struct program *g)
{
    int64_t lengths = (int64_t)(g->mine.lengths.n + g->whole.lengths.n), phases = g->layers * (VEDA_LINEARS + lengths) + 1;
    g->phase = dse_sim_alloc(g->run.sim, (size_t)phases, sizeof *g->phase);
    for (int64_t layer = 0; layer < g->layers; layer++) {
        add_phase(g, VEDA_QKV, layer, NULL, 0);
        add_phase(g, ATTENTION, layer, &g->mine, 0);
        for (int which = VEDA_OUTPUT; which <= VEDA_FFN_DOWN; which++) add_phase(g, which, layer, NULL, 0);
    }
    add_phase(g, VEDA_LM_HEAD, -1, NULL, 0);
    for (int64_t layer = 0; layer < g->layers; layer++) {
        for (size_t i = 1; i < g->mine.lengths.n; i++) add_phase(g, ATTENTION, layer, &g->mine, i);
        for (size_t i = 0; i < g->whole.lengths.n; i++) add_phase(g, ATTENTION, layer, &g->whole, i);
    }
}

/* ---- the step ------------------------------------------------------------------------------------------------------------------------- */

/* E27: seconds of the DRAM, for who limits what: all of the time if the array had to wait for it, else what its bytes take at the peak. */
static double dram_s(const struct veda_point *pt, double time_s, double data_s, double bytes)
{
    static const double fill = 0.01; /* of the time: the first bytes are always waited for */
    return data_s > fill * time_s ? time_s : bytes / dse_dram_peak(&pt->p->dram);
}

static void set_period(const struct veda_point *pt, const struct veda_tally *t, bool scores, struct veda_period *ret)
{
    const double share = pt->device_kv_heads / pt->kv_heads;
    ret->time_s = t->at[scores ? VEDA_SCORES_S : VEDA_VALUES_S];
    ret->gemv_s = t->at[scores ? VEDA_SCORES_WORK_S : VEDA_VALUES_WORK_S];
    ret->device_bytes = t->at[scores ? VEDA_SCORES_BYTES : VEDA_VALUES_BYTES];
    ret->bytes = ret->device_bytes / share;
    ret->dram_s = dram_s(pt, ret->time_s, t->at[scores ? VEDA_SCORES_DATA_S : VEDA_VALUES_DATA_S], ret->device_bytes);
}

/* E25: a layer is its units and what happens at its ends. */
static void set_attention(const struct plan *plan, struct veda_attention *a)
{
    const struct veda_point *pt = &plan->pt;
    const double share = pt->device_kv_heads / pt->kv_heads, vote_share = pt->evicting == VEDA_H2O ? share : 1 / pt->devices;
    struct veda_tally t, mean;
    double units = pt->layers * veda_units(pt);
    closed_mean(pt, &mean);
    add_tally(&mean, &plan->unit, 1);
    /* E26: a wait that falls with the length may come out below 0 on the straight line to lengths that are not simulated. */
    for (int i = 0; i < VEDA_COUNTS; i++) t.at[i] = dse_max(0, units * mean.at[i] + pt->layers * plan->ends.at[i]);
    set_period(pt, &t, true, &a->scores);
    set_period(pt, &t, false, &a->values);
    a->softmax_s = t.at[VEDA_SOFTMAX_S];
    a->drain_s = t.at[VEDA_DRAIN_S];
    a->time_s = a->scores.time_s + a->values.time_s + a->softmax_s + a->drain_s;
    a->softmax_exposed_s = a->softmax_s + t.at[VEDA_SFU_WAIT_S];
    a->vote_exposed_s = t.at[VEDA_VOTE_WAIT_S];
    a->kv_bytes = t.at[VEDA_KV_BYTES] / share;
    a->vote_bytes = t.at[VEDA_VOTE_BYTES] / vote_share;
    a->values.bytes += a->vote_bytes;
    a->bytes = a->scores.bytes + a->values.bytes;
}

/* Linear layers keep the bytes and operations of the closed form: they move what they move. */
static void set_step(const struct program *g, struct veda_step *s)
{
    *s = (struct veda_step){.n_linear = g->closed.n_linear};
    for (int i = 0; i < s->n_linear; i++) {
        struct veda_linear *l = &s->linear[i];
        const struct veda_layer_result *r = &g->linear[i];
        double instances = g->shape[i].instances;
        *l = g->closed.linear[i];
        l->time_s = instances * (r->time_s - r->norm_s);
        l->dram_s =
            dram_s(&g->pt, l->time_s, instances * r->data_s, instances * (g->shape[i].weight_bytes + g->shape[i].new_bytes));
        s->norm_s += instances * r->norm_s;
        s->linear_s += l->time_s;
        s->weight_bytes += l->weight_bytes;
        s->bytes += l->bytes;
        s->ops += l->ops;
        s->gemv_s += l->gemv_s;
    }
    set_attention(&g->mine, &s->attention);
    s->attention.ops = g->closed.attention.ops;
    veda_step_sum(&g->pt, s);
}

static void set_run(struct veda_run *r, const char *group)
{
    r->array = dse_resource(r->sim, group, "PE array");
    r->reduction = dse_resource(r->sim, group, "softmax reduction");
    r->normalisation = dse_resource(r->sim, group, "softmax normalisation");
    r->voting = dse_resource(r->sim, group, "voting engine");
}

static void init(struct program *g, struct dse_sim *sim, const struct veda_params *p)
{
    dse_sim_seed(sim, (uint64_t)p->events.seed);
    struct veda_run *r = &g->run;
    *r = (struct veda_run){.sim = sim, .p = p, .port = dse_dram_open(sim, &p->dram)};
    r->window_bytes = (uint64_t)(p->stream_fifo_kib * DSE_KIB);
    uint64_t turn = (uint64_t)(p->dram.channels * p->dram.timing.interleave_bytes), burst = (uint64_t)p->dram.burst_bytes;
    r->chunk_bytes = turn < r->window_bytes / 4 ? turn : r->window_bytes / 4 / burst * burst;
    if (r->chunk_bytes < burst) r->chunk_bytes = burst;
    r->flight_bytes = dse_feed_flight(&p->dram, (uint64_t)p->dram.channels);
    r->ignore = dse_sim_actor(sim, ignore, NULL);
    r->regions = dse_sim_alloc(sim, 1, sizeof *r->regions);
    set_run(r, "VEDA");
    veda_point_init(&g->pt, p);
    veda_step_at(&g->pt, &g->closed);
    for (int i = 0; i < VEDA_LINEARS; i++) veda_linear_shape(&g->pt, i, &g->shape[i]);
    plan_lengths(&g->mine, &g->pt);
    if (g->pt.evicting != VEDA_NONE) {
        struct veda_point all = g->pt;
        veda_point_keep_all(&all);
        plan_lengths(&g->whole, &all);
        g->apart = *r;
        set_run(&g->apart, "VEDA, nothing evicted");
    }
    g->layers = p->events.layers_simulated > 0 ? p->events.layers_simulated : (int64_t)g->pt.layers;
    if (g->layers > (int64_t)g->pt.layers) g->layers = (int64_t)g->pt.layers;
    g->actor = dse_sim_actor(sim, step, g);
}

/* What of the DRAM traffic of a device was simulated. */
static double simulated_mib(const struct dse_dram_port *port)
{
    struct dse_dram_stats s = dse_dram_stats(port, NULL);
    return (double)(s.read_bytes + s.written_bytes) / DSE_MIB;
}

static void note(const struct program *g, const struct veda_step *s)
{
    struct dse_sim *sim = g->run.sim;
    double peak_s = 1 / dse_dram_peak(&g->run.p->dram);
    for (int i = 0; i < VEDA_LINEARS; i++)
        if (g->seen[i].pace_s > 0) dse_sim_note(sim, "weight_stream_efficiency", "", peak_s / g->seen[i].pace_s);
    dse_sim_note(sim, "dram_simulated_mib", "MiB", simulated_mib(g->run.port));
    dse_sim_note(sim, "score_fifo_peak", "", g->peaks[0]);
    dse_sim_note(sim, "weight_fifo_peak", "", g->peaks[1]);
    dse_sim_note(sim, "vote_fifo_peak", "", g->peaks[2]);
    dse_sim_note(sim, "drain", "us", s->attention.drain_s * DSE_US_PER_S);
}

bool veda_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct veda_params *p = params;
    const char *why = dse_dram_port_check(&p->dram);
    if (why) {
        dse_sim_refuse(sim, why);
        return false;
    }
    struct program *g = dse_sim_alloc(sim, 1, sizeof *g);
    init(g, sim, p);
    write_program(g);
    begin(g);
    if (!dse_sim_run(sim)) return false;
    if (g->next < g->n) {
        dse_sim_fail(sim, "veda: the phases did not come to their end");
        return false;
    }
    struct veda_step step_seen;
    struct veda_attention whole;
    set_step(g, &step_seen);
    whole = step_seen.attention;
    if (g->whole.lengths.n > 0) set_attention(&g->whole, &whole);
    veda_report(&g->pt, &step_seen, whole.time_s, metrics, breakdown);
    note(g, &step_seen);
    return true;
}
