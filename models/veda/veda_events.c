/* VEDA at event level: which phases of a step are simulated, and a step made of what was seen.
 *
 * A program is a list of phases, one after another in time: the layers that are simulated, each with its attention between the
 * first and the second linear layer; the output head; attention at other lengths of the cache, for steps that are a mean; and
 * attention without eviction, which is compared with. Layers, heads and positions that are not simulated take what those that are
 * take (README.md, "Event level"): E25, E26.
 */
#include "veda_events.h"
#include "veda_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

enum {
    ATTENTION = VEDA_LINEARS, /* a phase that is no linear layer */
};

struct phase {
    int kind; /* enum veda_linear_index, or ATTENTION */
    int64_t layer;
    struct veda_plan *plan;
    const struct dse_length *length;
    struct veda_layer *linear;
    struct veda_heads *heads;
};

struct program {
    struct dse_program on;
    struct veda_run run, apart; /* apart: with resources of its own, for the cache that is not evicted */
    struct veda_point pt;
    struct veda_step closed;
    struct veda_linear_shape shape[VEDA_LINEARS];
    struct veda_plan mine, whole;
    int64_t layers; /* simulated */
    size_t n;
    struct phase *phase;
    struct dse_paces paces; /* of weights of one row */
    struct dse_room regions[VEDA_REGIONS];
    struct veda_layer_result linear[VEDA_LINEARS]; /* means */
    double peaks[3];
};

/* ---- moving -------------------------------------------------------------------------------------------------------------- */

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
    dse_dram_start(run->program->port, &t);
}

uint64_t veda_region(const struct veda_run *run, enum veda_region which, double bytes)
{
    const struct dse_dram *d = &run->p->dram;
    uint64_t align = (uint64_t)d->burst_bytes;
    if (d->channels * d->timing.row_bytes <= ALIGN_MAX) align = 0; /* rows of all channels begin with it */
    while (align & (align - 1)) align += align & -align;           /* a power of two */
    return dse_room_for(run->program, &run->regions[which], (uint64_t)dse_ceil(bytes), align);
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

static double work_per_byte(const struct program *g, int which)
{
    return g->closed.linear[which].gemv_s / g->shape[which].instances / g->shape[which].weight_bytes;
}

/* E17: the pace of weights is seen once for each ratio of work to bytes. */
static void begin(void *object, size_t i)
{
    struct program *g = object;
    struct phase *ph = &g->phase[i];
    if (ph->kind == ATTENTION) {
        ph->heads = veda_plan_begin(ph->plan, ph->plan == &g->whole ? &g->apart : &g->run, ph->length, ph->layer, g->on.done);
        return;
    }
    const struct veda_linear *closed = &g->closed.linear[ph->kind];
    struct veda_layer_spec spec = {.name = closed->name,
                                   .shape = &g->shape[ph->kind],
                                   .work_s = closed->gemv_s / g->shape[ph->kind].instances,
                                   .pace_s = dse_pace_known(&g->paces, work_per_byte(g, ph->kind)),
                                   .id = ph->layer,
                                   .actor = g->on.done};
    ph->linear = veda_layer_new(&g->run, &spec);
}

static void end_of_linear(struct program *g, const struct phase *ph)
{
    struct veda_layer_result r = veda_layer_result(ph->linear), *mean = &g->linear[ph->kind];
    double share = 1 / (ph->kind == VEDA_LM_HEAD ? 1 : (double)g->layers);
    mean->time_s += share * r.time_s;
    mean->norm_s += share * r.norm_s;
    mean->data_s += share * r.data_s;
    dse_pace_see(&g->paces, work_per_byte(g, ph->kind), r.pace_s);
}

static void end_of_attention(struct program *g, const struct phase *ph)
{
    const struct veda_heads_result r = veda_heads_result(ph->heads);
    veda_plan_end(ph->plan, ph->length, &r, (double)g->layers);
    if (ph->plan == &g->whole) return;
    g->peaks[0] = dse_max(g->peaks[0], r.score_peak);
    g->peaks[1] = dse_max(g->peaks[1], r.norm_peak);
    g->peaks[2] = dse_max(g->peaks[2], r.vote_peak);
}

static double end(void *object, size_t i)
{
    struct program *g = object;
    const struct phase *ph = &g->phase[i];
    if (ph->kind == ATTENTION)
        end_of_attention(g, ph);
    else
        end_of_linear(g, ph);
    return DSE_AT_ONCE;
}

static void add_phase(struct program *g, int kind, int64_t layer, struct veda_plan *plan, size_t length)
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

/* ---- the step ------------------------------------------------------------------------------------------------------------ */

/* Linear layers keep the bytes and operations of the closed form: they move what they move. */
static void set_step(const struct program *g, struct veda_step *s)
{
    *s = (struct veda_step){.n_linear = g->closed.n_linear};
    for (int i = 0; i < s->n_linear; i++) {
        struct veda_linear *l = &s->linear[i];
        const struct veda_layer_result *r = &g->linear[i];
        double instances = g->shape[i].instances;
        *l = g->closed.linear[i];
        /* What is written at the end of a layer is on the bus when the next begins: none ends before its bytes can have passed. */
        l->time_s = dse_max(instances * (r->time_s - r->norm_s), l->bytes / (g->pt.devices * dse_dram_peak(&g->pt.p->dram)));
        l->dram_s =
            veda_dram_s(&g->pt, l->time_s, instances * r->data_s, instances * (g->shape[i].weight_bytes + g->shape[i].new_bytes));
        s->norm_s += instances * r->norm_s;
        s->linear_s += l->time_s;
        s->weight_bytes += l->weight_bytes;
        s->bytes += l->bytes;
        s->ops += l->ops;
        s->gemv_s += l->gemv_s;
    }
    veda_plan_attention(&g->mine, &s->attention);
    s->attention.ops = g->closed.attention.ops;
    s->attention.value_ops = g->closed.attention.value_ops;
    s->attention.widened = g->closed.attention.widened;
    veda_step_sum(&g->pt, s);
}

void veda_run_init(struct veda_run *r, const char *group)
{
    r->array = dse_resource(r->sim, group, "PE array");
    r->reduction = dse_resource(r->sim, group, "softmax reduction");
    r->normalisation = dse_resource(r->sim, group, "softmax normalisation");
    r->voting = dse_resource(r->sim, group, "voting engine");
}

static bool init(struct program *g, struct dse_sim *sim, const struct veda_params *p)
{
    if (!dse_program_init(&g->on, sim, &p->events, &p->dram, p->stream_fifo_kib * DSE_KIB)) return false;
    g->run = (struct veda_run){.sim = sim, .p = p, .program = &g->on, .regions = g->regions};
    veda_run_init(&g->run, "VEDA");
    veda_point_init(&g->pt, p);
    veda_step_at(&g->pt, &g->closed);
    for (int i = 0; i < VEDA_LINEARS; i++) veda_linear_shape(&g->pt, i, &g->shape[i]);
    veda_plan_init(&g->mine, &g->pt, NULL, &p->sampling);
    if (!g->pt.policy->keeps_all) {
        struct veda_point all = g->pt;
        veda_point_keep_all(&all);
        veda_plan_init(&g->whole, &all, NULL, &p->sampling);
        g->apart = g->run;
        veda_run_init(&g->apart, "VEDA, nothing evicted");
    }
    g->layers = dse_layers_simulated(&p->events, (int64_t)g->pt.layers);
    write_program(g);
    return true;
}

static void note(const struct program *g, const struct veda_step *s)
{
    struct dse_sim *sim = g->run.sim;
    double peak_s = 1 / dse_dram_peak(&g->run.p->dram);
    if (g->paces.n > 0) dse_sim_note(sim, "weight_stream_efficiency", "", peak_s / g->paces.seen[g->paces.n - 1].pace_s);
    dse_program_note(&g->on);
    dse_sim_note(sim, "score_fifo_peak", "", g->peaks[0]);
    dse_sim_note(sim, "weight_fifo_peak", "", g->peaks[1]);
    dse_sim_note(sim, "vote_fifo_peak", "", g->peaks[2]);
    dse_sim_note(sim, "drain", "us", s->attention.drain_s * DSE_US_PER_S);
}

bool veda_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    if (!veda_is_simple(&((const struct veda_params *)params)->workload))
        return veda_layers_simulate(params, sim, metrics, breakdown);
    struct program *g = dse_sim_alloc(sim, 1, sizeof *g);
    const struct dse_phases phases = {.model = "veda", .object = g, .begin = begin, .end = end};
    if (!init(g, sim, params) || !dse_program_run(&g->on, &phases, g->n)) return false;
    struct veda_step seen;
    struct veda_attention whole;
    set_step(g, &seen);
    whole = seen.attention;
    if (g->whole.lengths.n > 0) veda_plan_attention(&g->whole, &whole);
    veda_report_step(&g->pt, &seen, whole.time_s, metrics, breakdown);
    note(g, &seen);
    return true;
}
