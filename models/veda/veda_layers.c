/* A linear layer of VEDA at event level: E17 (one row of inputs: a stream of weights through the array), E18 (several: tile by
 * tile). */
#include "veda_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

enum { PASSES_MIN = 8, TILES_MIN = 3, PERIODS_MIN = 4 }; /* simulated at least; E40: of refresh */

/* E18: weights of several rows. Of each tile the first pass takes the weights as they come, the last gives their place back; what
 * is between needs the inputs of its row, which come through the DRAM or are on chip. */
struct tiles {
    struct dse_feed *weights, *inputs; /* inputs NULL: on chip */
    uint64_t tile_bytes, input_bytes, weights_at, inputs_at;
    int64_t tiles, passes; /* simulated */
    double tiles_all, passes_all, pass_s;

    int64_t tile, pass;
    uint64_t taken;        /* bytes of the tile, in this pass */
    double free_s, data_s; /* when the array is through with what it has taken; it waited for weights or inputs */
    double held_s;         /* when the first weights were there and the norm was not; 0: not so */
    bool starved;
    double middle_from_s, middle_s, middle_span_s; /* when half of the middle passes were over; a middle pass in the steady state,
                                                      and the passes that it was measured over */
    double *end_s, *ended;                         /* ends of tiles; their numbers */
};

struct veda_layer {
    const struct veda_run *run;
    struct veda_layer_spec spec;
    struct veda_linear_shape shape;
    double norm_s; /* of all rows */
    double hold_s; /* before the first input is normalised */
    dse_ps start;
    uint32_t actor;
    struct dse_pour *pour; /* one row; else */
    struct tiles t;
};

/* ---- its shape: E11 -------------------------------------------------------------------------------------------------------- */

/* Matrices of a layer that come one after another: experts with work, or a head's each, of which a list has as many as all
 * layers. */
static double layers_of(const struct dse_oplist *list, const struct dse_op *op)
{
    if (!op->is_per_head) return (double)op->repeat;
    for (int i = 0; i < list->n_attentions; i++) {
        const struct dse_attention *a = &list->attention[i];
        if (a->values_in_keys && a->is_draft == op->is_draft && op->repeat == a->layers * a->heads) return (double)a->layers;
    }
    return (double)op->repeat;
}

void veda_linear_shape(const struct veda_run *run, const struct dse_oplist *list, int i, struct veda_linear_shape *ret)
{
    const struct veda_events_reads *r = run->closed;
    const struct dse_op *op = &list->op[i];
    const double layers = layers_of(list, op), all = (double)op->repeat * op->copies, copies = all / layers;
    *ret = (struct veda_linear_shape){
        .outer = r->op.outer[i] != 0,
        .single_pass = r->op.single_pass[i] != 0,
        .norm = op->follows_norm,
        .instances = layers,
        .rows = dse_ceil(op->rows),
        .k = (double)op->k,
        .weight_bytes = op->weight_bytes * r->op.share[i] / layers,
        .new_bytes = op->kv_write_bytes * r->op.kv_share[i] / layers,
        .tiles = dse_max(1, dse_floor(copies * r->op.tiles[i] + 0.5)),
    };
    if (op->kv_read_bytes > 0) { /* keys and values are made of latents */
        ret->read_bytes = op->kv_read_bytes / (all * op->rows);
        ret->write_bytes = VEDA_ACTIVATION_BYTES * (double)op->n;
    } else if (r->op.fits[i] == 0) {
        ret->read_bytes = VEDA_ACTIVATION_BYTES * ret->k;
        ret->write_bytes = VEDA_ACTIVATION_BYTES * copies * r->op.outputs[i] * r->op.share[i];
    }
}

/* ---- pipelines --------------------------------------------------------------------------------------------------------------- */

double veda_tree_depth(const struct veda_run *run)
{
    const struct veda_events_reads *r = run->closed;
    if (r->tree != 0) return 1 + ceil(log2(r->tree_width));
    return 1 + ceil(log2(r->pe_columns)) + ceil(log2(r->pe_rows)) + ceil(log2(r->pe_copies));
}

static double cycles_s(const struct veda_layer *l, double cycles)
{
    return cycles / (l->run->closed->clock_ghz * DSE_GIGA);
}

/* E19: from the last weight to the last result; an outer product adds up in registers. */
static double depth_s(const struct veda_layer *l)
{
    const bool tree = !l->shape.outer || l->run->closed->tree != 0;
    return cycles_s(l, tree ? veda_tree_depth(l->run) : 1);
}

static void write_out(const struct veda_layer *l, double bytes, const char *label)
{
    if (bytes <= 0) return;
    veda_move(l->run, veda_region(l->run, VEDA_REST, bytes), bytes, true, label, l->run->program->nobody, 0);
}

static void finish(struct veda_layer *l)
{
    struct dse_sim *sim = l->run->sim;
    dse_sim_at(sim, dse_sim_now(sim) + dse_ps_of_s(depth_s(l)), l->spec.actor, l->spec.actor_arg);
}

/* ---- one row ------------------------------------------------------------------------------------------------------------- */

static void poured(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct veda_layer *l = object;
    (void)sim;
    (void)arg;
    write_out(l, l->shape.new_bytes, "new keys and values");
    finish(l);
}

/* E40: of a stream, so much as spans several refreshes. 0 is all. */
static uint64_t steady_bytes(const struct veda_layer *l, uint64_t sample)
{
    const struct dse_dram *d = l->run->dram;
    const double rate = dse_min(dse_dram_peak(d), l->shape.weight_bytes / dse_max(l->spec.work_s, 1e-30));
    if (sample == 0) return 0;
    const double bytes = l->spec.sample * dse_max((double)sample, PERIODS_MIN * d->timing.t_refi_ns / DSE_GIGA * rate);
    return (uint64_t)dse_min(bytes, dse_ceil(l->shape.weight_bytes)); /* all of it: no more */
}

/* E17. */
static void pour(struct veda_layer *l)
{
    const bool serial = l->shape.norm && l->run->closed->serial != 0;
    struct dse_pour_spec spec = dse_program_pour(l->run->program, l->run->sampling, l->shape.weight_bytes, l->spec.pace_s);
    if (!(l->spec.pace_s > 0)) spec.sample_bytes = steady_bytes(l, spec.sample_bytes);
    spec.work_s = l->spec.work_s;
    spec.hold_s = l->hold_s;
    spec.gate_s = serial && l->shape.single_pass ? l->norm_s : 0;
    spec.resource = l->run->array;
    spec.work = l->spec.name;
    spec.id = l->spec.id;
    spec.actor = l->actor;
    spec.address = veda_region(l->run, VEDA_WEIGHTS, (double)dse_pour_simulated(&spec));
    l->pour = dse_pour_new(l->run->sim, &spec);
}

/* ---- several rows -------------------------------------------------------------------------------------------------------- */

static bool next_tile(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct veda_layer *l = object;
    if ((int64_t)index >= l->t.tiles) return false;
    *ret = (struct dse_feed_stream){.bytes = l->t.tile_bytes, .label = "weights"};
    ret->address = l->t.weights_at + index * l->t.tile_bytes;
    return true;
}

static bool next_input(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct veda_layer *l = object;
    if ((int64_t)index >= l->t.tiles * l->t.passes) return false;
    *ret = (struct dse_feed_stream){.bytes = l->t.input_bytes, .label = "activations"};
    ret->address = l->t.inputs_at + index % (uint64_t)l->t.passes * l->t.input_bytes;
    return true;
}

enum { TAKE, DONE };

/* E18: what the array takes next: a chunk, or a whole middle pass, or all of them at once when nothing can hold them up. Bytes of
 * the tile. */
static uint64_t piece(const struct veda_layer *l, double *ret_s)
{
    const struct tiles *t = &l->t;
    bool middle = t->pass > 0 && t->pass < t->passes - 1;
    uint64_t rest = t->tile_bytes - t->taken, bytes = middle ? rest : dse_min_u64(l->run->program->chunk_bytes, rest);
    double passes = middle && !t->inputs ? (double)(t->passes - 2) : 1;
    *ret_s = passes * t->pass_s * (double)bytes / (double)t->tile_bytes;
    return bytes;
}

static void take(struct veda_layer *l)
{
    struct tiles *t = &l->t;
    double seconds, now = dse_s_of_ps(dse_sim_now(l->run->sim) - l->start);
    uint64_t bytes = piece(l, &seconds);
    bool weights = dse_feed_arrived(t->weights) >= t->taken + bytes;
    bool input = !t->inputs || dse_feed_arrived(t->inputs) >= t->input_bytes;
    if (!weights || !input || now < l->hold_s) {
        t->starved = true;
        dse_resource_state(l->run->sim, l->run->array, DSE_STALL_INPUT, !weights ? "weights" : "inputs", l->spec.id);
        if (!weights)
            dse_feed_when(t->weights, l->actor, TAKE);
        else if (!input)
            dse_feed_when(t->inputs, l->actor, TAKE);
        else
            dse_sim_at(l->run->sim, l->start + dse_ps_of_s(l->hold_s) + 1, l->actor, TAKE);
        if (weights && input) t->held_s = now;
        return;
    }
    dse_resource_state(l->run->sim, l->run->array, DSE_BUSY, l->spec.name, l->spec.id);
    double begin_s = t->starved ? dse_max(now, t->free_s) : t->free_s;
    t->data_s += begin_s - t->free_s;
    t->free_s = begin_s + seconds;
    t->starved = false;
    t->taken += bytes;
    dse_sim_at(l->run->sim, l->start + dse_ps_of_s(t->free_s), l->actor, DONE);
}

static void end_of_tile(struct veda_layer *l)
{
    struct tiles *t = &l->t;
    double share = (double)t->passes / t->tiles_all;
    write_out(l, share * l->shape.write_bytes, "activations");
    write_out(l, share / t->passes_all * l->shape.new_bytes, "new keys and values");
    t->end_s[t->tile] = t->free_s;
    t->ended[t->tile] = (double)t->tile;
    t->pass = 0;
    t->tile++;
    dse_feed_next(t->weights);
}

/* A pass over the tile is over, or all of the middle. */
static void end_of_pass(struct veda_layer *l)
{
    struct tiles *t = &l->t;
    const int64_t before = t->pass, middle = t->passes / 2;
    t->taken = 0;
    t->pass = before > 0 && !t->inputs && before < t->passes - 1 ? t->passes - 1 : before + 1;
    if (t->inputs) dse_feed_next(t->inputs);
    if (before == middle) t->middle_from_s = t->free_s;
    if (t->pass == t->passes - 1 && t->inputs && before > middle) {
        t->middle_span_s = t->free_s - t->middle_from_s;
        t->middle_s = t->middle_span_s / (double)(before - middle);
    }
    if (t->pass == t->passes) end_of_tile(l);
}

static void step(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct veda_layer *l = object;
    struct tiles *t = &l->t;
    (void)sim;
    if (arg == DONE) {
        if (t->pass == t->passes - 1) dse_feed_give_back(t->weights, t->taken);
        if (t->taken == t->tile_bytes) end_of_pass(l);
        if (t->tile == t->tiles) {
            dse_resource_state(l->run->sim, l->run->array, DSE_IDLE, NULL, -1);
            finish(l);
            return;
        }
    }
    take(l);
}

/* E18: how much of the layer is simulated. Middle passes that wait for inputs are all alike once the buffer is full of the next
 * tile's weights. */
static void set_sample(struct veda_layer *l)
{
    struct tiles *t = &l->t;
    t->tiles_all = l->shape.tiles;
    t->passes_all = l->shape.rows;
    t->pass_s = l->spec.work_s / (t->tiles_all * t->passes_all);
    t->tile_bytes = (uint64_t)dse_ceil(l->shape.weight_bytes / t->tiles_all);
    t->input_bytes = (uint64_t)l->shape.read_bytes;
    const double bandwidth = dse_dram_peak(l->run->dram), fill_s = (double)l->run->program->window_bytes / bandwidth,
                 steady_s = PERIODS_MIN * l->run->dram->timing.t_refi_ns / DSE_GIGA * l->spec.sample,
                 pass_s = dse_max(t->pass_s, l->shape.read_bytes / bandwidth);
    double passes = 2 * dse_max(PASSES_MIN + dse_ceil(fill_s / pass_s), dse_ceil(steady_s / pass_s));
    t->passes = (int64_t)(t->input_bytes > 0 ? dse_min(passes, t->passes_all) : t->passes_all);
    const double sample = l->run->sampling->stream_mib * DSE_MIB * l->spec.sample,
                 each = (double)t->tile_bytes + (double)t->passes * l->shape.read_bytes,
                 steady = dse_ceil(steady_s / dse_max((double)t->passes * t->pass_s, each / bandwidth)) + 2;
    t->tiles = (int64_t)t->tiles_all;
    if (sample > 0) t->tiles = (int64_t)dse_clamp(dse_max(dse_floor(sample / each), steady), TILES_MIN, t->tiles_all);
    t->middle_s = t->pass_s;
    t->end_s = dse_sim_alloc(l->run->sim, (size_t)t->tiles, sizeof *t->end_s);
    t->ended = dse_sim_alloc(l->run->sim, (size_t)t->tiles, sizeof *t->ended);
}

static void tile_by_tile(struct veda_layer *l)
{
    const struct veda_run *run = l->run;
    set_sample(l);
    struct tiles *t = &l->t;
    const bool ideal = dse_sim_ideal(run->sim, DSE_IDEAL_FIFOS);
    t->weights_at = veda_region(run, VEDA_WEIGHTS, (double)t->tiles * (double)t->tile_bytes);
    struct dse_feed_spec feed = {.port = run->program->port,
                                 .flight_bytes = run->program->flight_bytes,
                                 .chunk_bytes = run->program->chunk_bytes,
                                 .stream = next_tile,
                                 .object = l};
    feed.window_bytes = ideal ? 3 * t->tile_bytes : (uint64_t)(run->closed->buffer_kib * DSE_KIB / 2) + run->program->window_bytes;
    t->weights = dse_feed_new(run->sim, &feed);
    if (t->input_bytes > 0) {
        t->inputs_at = veda_region(run, VEDA_INPUTS, (double)t->passes * (double)t->input_bytes);
        feed.window_bytes = ideal ? (uint64_t)t->passes * t->input_bytes : run->program->window_bytes;
        if (feed.window_bytes < 2 * t->input_bytes) feed.window_bytes = 2 * t->input_bytes; /* in the buffer's other half */
        feed.stream = next_input;
        t->inputs = dse_feed_new(run->sim, &feed);
    }
    dse_sim_at(run->sim, l->start, l->actor, TAKE);
}

/* E18: what is simulated, and what stands for the rest. */
static struct veda_layer_result tiled_result(const struct veda_layer *l)
{
    const struct tiles *t = &l->t;
    const int64_t last = t->tiles - 1, first = t->tiles > TILES_MIN - 1 ? 1 : 0;
    struct veda_layer_result r = {.time_s = t->end_s[last]};
    double passes = t->passes_all - (double)t->passes, tiles = t->tiles_all - (double)t->tiles, tile_s = t->end_s[last];
    const double period_s = l->run->dram->timing.t_refi_ns / DSE_GIGA, middle_s = t->tiles_all * passes * t->middle_s;
    if (last > first) tile_s = dse_pace(t->end_s + first, t->ended + first, (size_t)(last - first + 1), period_s);
    r.time_s += middle_s + tiles * tile_s;
    if (tiles > 0)
        r.error_s = veda_rest_error(l->run, tiles * tile_s, t->end_s[last] - t->end_s[first],
                                    dse_pace_error(t->end_s + first, t->ended + first, (size_t)(last - first + 1), period_s));
    if (passes > 0 && t->middle_span_s > 0)
        r.error_s += veda_rest_error(l->run, middle_s, t->middle_span_s * (double)t->tiles, (double)INFINITY);
    if (t->held_s > 0) r.norm_s = l->hold_s - t->held_s;
    r.data_s = (t->data_s - r.norm_s) * t->tiles_all / (double)t->tiles + t->tiles_all * passes * (t->middle_s - t->pass_s);
    double whole_s = l->hold_s + (l->run->closed->serial == 0 ? 0 : l->norm_s); /* the norms of all rows, one after the other */
    if (whole_s > r.time_s) {
        r.norm_s += whole_s - r.time_s;
        r.time_s = whole_s;
    }
    return r;
}

/* ---- the layer ----------------------------------------------------------------------------------------------------------- */

struct veda_layer *veda_layer_new(const struct veda_run *run, const struct veda_layer_spec *spec)
{
    const struct veda_events_reads *r = run->closed;
    struct veda_layer *l = dse_sim_alloc(run->sim, 1, sizeof *l);
    l->run = run;
    l->spec = *spec;
    l->shape = *spec->shape;
    l->start = dse_sim_now(run->sim);
    if (l->shape.norm) {
        l->norm_s = cycles_s(l, l->shape.rows * l->shape.k / r->sfu_div);
        l->hold_s = cycles_s(l, 2 * r->sfu_div_cycles); /* square root, division */
        if (r->serial == 0) l->hold_s += l->norm_s;
    }
    l->actor = dse_sim_actor(run->sim, l->shape.rows > 1 ? step : poured, l);
    if (l->shape.rows > 1)
        tile_by_tile(l);
    else
        pour(l);
    return l;
}

struct veda_layer_result veda_layer_result(const struct veda_layer *l)
{
    struct veda_layer_result r;
    if (l->pour) {
        struct dse_poured d = dse_pour_result(l->pour);
        r = (struct veda_layer_result){.time_s = d.time_s, .norm_s = d.other_s, .data_s = d.data_s, .pace_s = d.pace_s};
        if (l->spec.pace_s > 0) r.rest_s = d.rest_s;
        if (d.measured_s > 0) r.error_s = veda_rest_error(l->run, d.rest_s, d.measured_s, d.error);
    } else {
        r = tiled_result(l);
    }
    r.time_s += depth_s(l);
    return r;
}
