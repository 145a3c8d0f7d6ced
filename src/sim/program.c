/* dse/program.h. */
#include <dse/program.h>

#include "base/xalloc.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

static void nobody(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)object;
    (void)arg;
}

static void begin(struct dse_program *p)
{
    p->phases->begin(p->phases->object, p->next);
}

static void next_phase(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    begin(object);
}

static void phase_done(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct dse_program *p = object;
    p->again = false;
    double pause_s = p->phases->end(p->phases->object, p->next);
    if (!p->again) p->next++;
    (void)arg;
    if (p->next == p->n) return;
    if (pause_s < 0)
        begin(p);
    else
        dse_sim_at(sim, dse_sim_now(sim) + dse_ps_of_s(pause_s), p->next_actor, 0);
}

/* A turn over all channels, but no more than a quarter of the buffer; whole bursts, and at least one. */
static uint64_t chunk_of(const struct dse_dram *dram, uint64_t window_bytes)
{
    uint64_t turn = (uint64_t)(dram->channels * dram->timing.interleave_bytes), burst = (uint64_t)dram->burst_bytes;
    return dse_min_u64(turn, dse_max_u64(window_bytes / 4 / burst * burst, burst));
}

bool dse_program_init(struct dse_program *ret, struct dse_sim *sim, const struct dse_events *events, const struct dse_dram *dram,
                      double window_bytes)
{
    const char *why = dse_dram_port_check(dram);
    if (why) {
        dse_sim_refuse(sim, why);
        return false;
    }
    dse_sim_seed(sim, (uint64_t)events->seed);
    *ret = (struct dse_program){.sim = sim, .port = dse_dram_open(sim, dram), .dram = dram, .window_bytes = (uint64_t)window_bytes};
    ret->chunk_bytes = chunk_of(dram, ret->window_bytes);
    ret->flight_bytes = dse_feed_flight(dram, (uint64_t)dram->channels);
    ret->nobody = dse_sim_actor(sim, nobody, NULL);
    ret->done = dse_sim_actor(sim, phase_done, ret);
    ret->next_actor = dse_sim_actor(sim, next_phase, ret);
    return true;
}

int64_t dse_layers_simulated(const struct dse_events *events, int64_t layers)
{
    return events->layers_simulated > 0 ? dse_min_i64(events->layers_simulated, layers) : layers;
}

struct dse_draw dse_draw_of(const struct dse_sim *sim, int64_t layer, int64_t layers)
{
    static const uint64_t purpose = 0x65787065727473; /* "experts" */
    struct dse_random random = dse_sim_random(sim, purpose);
    return (struct dse_draw){
        .seed = dse_random_u64(&random), .layer = layer, .layers = dse_sim_ideal(sim, DSE_IDEAL_DRAWS) ? 0 : layers};
}

uint64_t dse_room_for(const struct dse_program *p, struct dse_room *room, uint64_t bytes, uint64_t align)
{
    if (bytes > room->bytes) *room = (struct dse_room){.address = dse_dram_reserve(p->port, bytes, align), .bytes = bytes};
    return room->address;
}

void dse_program_again(struct dse_program *p)
{
    p->again = true;
}

bool dse_program_run(struct dse_program *p, const struct dse_phases *phases, size_t n)
{
    p->phases = phases;
    p->n = n;
    p->next = 0;
    begin(p);
    if (!dse_sim_run(p->sim)) return false;
    if (p->next == n) return true;
    char *why = xasprintf("%s: the phases did not come to their end", phases->model);
    dse_sim_fail(p->sim, why);
    free(why);
    return false;
}

/* ---- samples ------------------------------------------------------------------------------------------------------------- */

void dse_lengths_plan(struct dse_lengths *l, const struct dse_sampling *s, int64_t heads, int64_t from, int64_t to, double weight)
{
    dse_lengths_add(l, from, to, s->positions_simulated, dse_longest(s->rows_simulated, heads), weight);
}

int64_t dse_lengths_heads(const struct dse_lengths *l, const struct dse_sampling *s, int64_t positions, double engines,
                          double least, double all)
{
    double rows = (double)s->rows_simulated / ((double)l->n * engines);
    if (rows <= 0) return (int64_t)all;
    return (int64_t)dse_clamp(ceil(rows / (2 * (double)positions)), least, all);
}

double dse_pace_known(const struct dse_paces *p, double work_per_byte)
{
    for (int i = 0; i < p->n; i++)
        if (fabs(p->seen[i].work_per_byte / work_per_byte - 1) < 1e-12) return p->seen[i].pace_s;
    return 0;
}

void dse_pace_see(struct dse_paces *p, double work_per_byte, double pace_s)
{
    if (!(pace_s > 0) || dse_pace_known(p, work_per_byte) > 0) return;
    assert(p->n < DSE_PACES_MAX);
    p->seen[p->n].work_per_byte = work_per_byte;
    p->seen[p->n++].pace_s = pace_s;
}

struct dse_pour_spec dse_program_pour(const struct dse_program *p, const struct dse_sampling *s, double bytes, double pace_s)
{
    uint64_t sample = (uint64_t)(s->stream_mib * DSE_MIB);
    return (struct dse_pour_spec){
        .port = p->port,
        .label = "weights",
        .bytes = (uint64_t)ceil(bytes),
        .window_bytes = p->window_bytes,
        .flight_bytes = p->flight_bytes,
        .chunk_bytes = p->chunk_bytes,
        .sample_bytes = pace_s > 0 ? dse_ceil_div(sample, 8) : sample,
        .period_s = p->dram->timing.t_refi_ns / DSE_GIGA,
        .pace_s = pace_s,
        .id = -1,
    };
}

uint64_t dse_pour_simulated(const struct dse_pour_spec *spec)
{
    return spec->sample_bytes > 0 ? dse_min_u64(spec->sample_bytes, spec->bytes) : spec->bytes;
}

void dse_program_note(const struct dse_program *p)
{
    struct dse_dram_stats s = dse_dram_stats(p->port, NULL);
    dse_sim_note(p->sim, "dram_simulated_mib", "MiB", (double)(s.read_bytes + s.written_bytes) / DSE_MIB);
}

/* ---- steps of days ------------------------------------------------------------------------------------------------------- */

double dse_run_unit(double closed_form_s)
{
    const double near_s = 1e5;
    double unit = 1;
    while (closed_form_s / unit > near_s) unit *= 10;
    return unit;
}
