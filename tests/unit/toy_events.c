/* toy at event level: blocks of a layer go from the DRAM, a plain server, through a FIFO to the tiles. It has a made-up cause of
 * each kind for being slower than the closed form. */
#include "toy_events.h"

#include <dse/sim.h>
#include <dse/units.h>
#include <math.h>

enum { BLOCKS = 8, FIFO = 2 };
static const double ROW_MISSES = 0.04, REFRESH = 0.02, SPREAD = 0.2, BARRIER_US = 0.05;

/* A layer's work and the run's machinery. */
struct toy_run {
    struct toy_load load;
    double row_misses, refresh, spread, barrier_us;
    struct dse_random random;
    struct dse_fifo *fetch, *fetched, *done;
    uint64_t layer, layers, left; /* of its blocks */
    double part;                  /* this layer's keys and values over the mean */
    double bytes;                 /* that were moved */
    uint32_t actor;
};

static void start_layer(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct toy_run *r = object;
    (void)arg;
    if (r->layer++ == r->layers) return;
    r->part = 1 + r->spread * (dse_random_uniform(&r->random) - 0.5);
    r->left = BLOCKS;
    for (uint64_t b = 0; b < BLOCKS; b++) dse_fifo_put(r->fetch, b);
    (void)sim;
}

static void serve_dram(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)sim;
    struct toy_run *r = object;
    double bytes = (r->load.weight_bytes + r->part * r->load.kv_bytes) / BLOCKS;
    r->bytes += bytes;
    out[0] = in[0];
    *ret = (struct dse_service){.outputs = 1, .label = "load", .id = (int64_t)in[0]};
    ret->interval = ret->latency = dse_ps_of_s(bytes / r->load.bytes_per_s * (1 + r->row_misses + r->refresh));
}

static void serve_tiles(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    struct toy_run *r = object;
    (void)sim;
    double macs = (r->load.weight_macs + r->part * r->load.kv_macs) / BLOCKS;
    out[0] = in[0];
    *ret = (struct dse_service){.outputs = 1, .label = "multiply", .id = (int64_t)in[0]};
    ret->interval = ret->latency = dse_ps_of_s(macs / r->load.macs_per_s);
}

/* A block is done; after the last one of a layer, and the barrier, the next layer begins. */
static void finish(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)arg;
    struct toy_run *r = object;
    uint64_t block;
    while (dse_fifo_get(r->done, &block)) r->left--;
    if (r->left == 0) dse_sim_at(sim, dse_sim_now(sim) + dse_ps_of_s(r->barrier_us / DSE_US_PER_S), r->actor, 0);
    if (r->left > 0 || r->layer < r->layers) dse_fifo_when_item(r->done, arg, arg);
}

struct toy_ran toy_run(struct dse_sim *sim, const struct toy_load *load, const struct dse_events *events)
{
    dse_sim_seed(sim, (uint64_t)events->seed);
    struct toy_run *r = dse_sim_alloc(sim, 1, sizeof *r);
    r->load = *load;
    r->row_misses = dse_sim_ideal(sim, DSE_IDEAL_DRAM) ? 0 : ROW_MISSES;
    r->refresh = dse_sim_ideal(sim, DSE_IDEAL_REFRESH) ? 0 : REFRESH;
    r->spread = dse_sim_ideal(sim, DSE_IDEAL_DRAWS) ? 0 : SPREAD;
    r->barrier_us = dse_sim_ideal(sim, DSE_IDEAL_SYNC) ? 0 : BARRIER_US;
    r->random = dse_sim_random(sim, 1);
    r->layers = load->layers;
    if (events->layers_simulated && (uint64_t)events->layers_simulated < r->layers) r->layers = (uint64_t)events->layers_simulated;
    r->fetch = dse_fifo_new(sim, "fetch", BLOCKS);
    r->fetched = dse_fifo_new(sim, "fetched", FIFO);
    r->done = dse_fifo_new(sim, "done", 0);
    dse_stage_new(sim, &(struct dse_stage_spec){.group = "memory",
                                                .name = "dram",
                                                .in = {r->fetch},
                                                .out = {r->fetched},
                                                .depth = 1,
                                                .serve = serve_dram,
                                                .object = r});
    struct dse_stage *tiles = dse_stage_new(
        sim, &(struct dse_stage_spec){
                 .name = "tiles", .in = {r->fetched}, .out = {r->done}, .depth = 1, .serve = serve_tiles, .object = r});
    r->actor = dse_sim_actor(sim, start_layer, r);
    uint32_t finisher = dse_sim_actor(sim, finish, r);
    dse_fifo_when_item(r->done, finisher, finisher);
    dse_sim_at(sim, 0, r->actor, 0);
    struct toy_ran ran = {.done = dse_sim_run(sim)};
    double scale = (double)load->layers / (double)r->layers;
    ran.seconds = dse_s_of_ps(dse_sim_now(sim)) * scale;
    ran.busy_seconds = dse_s_of_ps(dse_resource_time(sim, dse_stage_resource(tiles), DSE_BUSY)) * scale;
    ran.bytes = r->bytes * scale;
    dse_sim_note(sim, "last_layer_share", "", r->part);
    return ran;
}
