/* The machine of the event level: builds it, runs it, and says what it saw. */
#include "lad_machine.h"

#include <dse/program.h>
#include <dse/units.h>

#include <math.h>
#include <stdio.h>

/* ---- the machine --------------------------------------------------------------------------------------------------------- */

static void stage_done(struct lad_machine *m, uint32_t tile, enum lad_place place)
{
    lad_stage_done(&m->slots, tile, place);
}

static void fifo_full(struct lad_machine *m, uint32_t tile)
{
    lad_relieve(&m->slots, tile);
}

static void over(struct lad_machine *m)
{
    lad_program_next(&m->program);
}

static void stocked(struct lad_machine *m)
{
    lad_fetch_more(&m->fetcher);
}

static bool next_job(struct lad_machine *m, uint64_t i, struct lad_job *ret)
{
    return lad_program_job(&m->program, i, ret);
}

static const struct lad_signals signals = {stage_done, fifo_full, over, stocked, next_job};

/* E53: of a layer, in whole groups. */
static uint32_t heads_simulated(const struct lad_point *pt)
{
    const double wanted = pt->p->heads_simulated;
    if (!pt->locality_aware || wanted == 0) return (uint32_t)pt->heads;
    const uint64_t group = pt->heads / pt->kv_heads;
    return (uint32_t)(group * dse_min_u64(pt->kv_heads, dse_ceil_div((uint64_t)wanted, group)));
}

static bool init_run(struct lad_run *run, struct lad_machine *m, struct dse_sim *sim, const struct lad_point *pt,
                     const struct lad_step *step, bool general, int64_t layers)
{
    run->sim = sim;
    run->pt = pt;
    run->p = pt->p;
    run->step = step;
    run->layers = (uint32_t)layers;
    run->heads = heads_simulated(pt);
    run->batch = (uint32_t)step->batch;
    run->tiles = (uint32_t)pt->p->tiles;
    run->rounds = (uint32_t)dse_ceil_div(run->batch, run->tiles);
    run->general = general;
    run->stored = lad_stored_by(run);
    run->signals = &signals;
    run->machine = m;
    lad_draws_init(&run->draws, sim, pt, run->layers, run->heads, run->batch);
    lad_shared_init(&run->shared, sim, &run->draws, LAD_PLACES);
    return lad_memory_init(&run->memory, sim, pt, run->layers, run->batch, &run->stored);
}

static bool init(struct lad_machine *m, struct dse_sim *sim, const struct lad_point *pt, const struct lad_step *step, bool general,
                 int64_t layers)
{
    struct lad_run *run = &m->run;
    if (!init_run(run, m, sim, pt, step, general, layers)) return false;
    lad_slots_init(&m->slots, run, &m->fetcher);
    lad_program_init(&m->program, run, &m->slots, &m->linear, &m->fetcher);
    lad_linear_init(&m->linear, run);
    if (!pt->locality_aware) return true;
    lad_fetch_init(&m->fetcher, run, &m->linear);
    lad_slots_init_tiles(&m->slots);
    return true;
}

bool lad_machine_run(struct lad_machine *m, struct dse_sim *sim, const struct lad_point *pt, const struct lad_step *step,
                     uint64_t seed, bool general, int64_t layers)
{
    dse_sim_seed(sim, seed);
    if (!init(m, sim, pt, step, general, layers) || !dse_sim_run(sim)) return false;
    if (m->program.phase == LAD_FINISHED) return true;
    dse_sim_fail(sim, "nothing more happens, but the step is not over");
    return false;
}

/* ---- what it saw --------------------------------------------------------------------------------------------------------- */

static double seconds(dse_ps ps, double scale)
{
    return dse_s_of_ps(ps) * scale;
}

/* Filling the pipeline: once a step, the time of the fill and the drain beyond that of as many periods; once a layer, the drains.
 */
static double fill_seconds(const struct lad_machine *m, double scale)
{
    const struct lad_program *pr = &m->program;
    double period = dse_s_of_ps(m->run.account.attention) / ((double)m->run.layers * m->run.heads);
    if (m->run.p->fills_layers != 0) return seconds(pr->drain_time, scale);
    return m->run.p->fills_once != 0 ? fmax(0, dse_s_of_ps(pr->warm_time + pr->drain_time) - pr->warm_periods * period) : 0;
}

/* Of the layers simulated to all. */
static double scale_of(const struct lad_machine *m)
{
    return m->run.pt->layers / m->run.layers;
}

/* Of the heads simulated to all, in each layer. */
static double heads_of(const struct lad_machine *m)
{
    return (double)m->run.pt->heads / m->run.heads;
}

void lad_machine_see_attention(const struct lad_machine *m, struct lad_attention *ret)
{
    struct lad_attention *a = ret;
    const double scale = scale_of(m) * heads_of(m);
    const struct lad_account *c = &m->run.account;
    double samples = fmax(1, (double)c->samples), bytes = scale, cycles_s = m->run.pt->clock_hz;
    *a = (struct lad_attention){
        .fill_s = fill_seconds(m, scale_of(m)),
        .stage1_bytes = bytes * (double)c->stage1_bytes,
        .stage4_bytes = bytes * (double)c->stage4_bytes,
        .centers_bytes = bytes * (double)c->bytes[LAD_CENTERS],
        .active_bytes = bytes * (double)c->bytes[LAD_ACTIVE],
        .others_bytes = bytes * (double)c->bytes[LAD_OTHERS],
        .prefetch_bytes = bytes * (double)c->bytes[LAD_FETCHED],
        .eas = c->cycles[LAD_SCORE] / samples,
        .apid = c->cycles[LAD_IDENTIFY] / samples,
        .md = c->cycles[LAD_DISCREPANCY] / samples,
        .ac = c->cycles[LAD_COMPUTE] / samples,
        .longest = c->longest / samples,
        .memory_cycles = dse_s_of_ps(c->hbm) * cycles_s / fmax(1, (double)c->slots),
        .slot_cycles = dse_s_of_ps(c->attention) * cycles_s / fmax(1, (double)c->slots),
        .active = (double)c->active / samples,
        .prefetched = (double)c->fetched / samples,
        .hits = (double)c->hits / samples,
    };
    a->time_s = seconds(c->attention, scale) + a->fill_s;
    for (int i = 0; i < LAD_STAGES; i++) a->exposed_s[i] = seconds(c->bound[i], scale);
}

/* Time and bytes of an operator; it is bound by the DRAM when the VPUs waited longer than the DMA. */
void lad_machine_see_op(const struct lad_machine *m, int i, struct lad_op *ret)
{
    struct lad_op *o = ret;
    const struct lad_op_work *work = &m->linear.work[i];
    double scale = lad_is_once(&m->run, o) ? 1 : scale_of(m) * (lad_is_by_head(&m->run, i) ? heads_of(m) : 1);
    if (o->kind == DSE_OP_COLLECTIVE) {
        o->time_s = seconds(m->program.op_time[i], o->layers / (lad_is_once(&m->run, o) ? 1 : m->run.layers));
        return;
    }
    bool dram_bound = work->dram > work->vpu;
    o->time_s = seconds(m->program.op_time[i], scale);
    o->dram_s = dram_bound ? o->time_s : fmin(o->time_s * (1 - 1e-12), seconds(work->dram, scale));
    o->moved_bytes = scale * (double)work->bytes;
}

/* ---- what metrics do not say --------------------------------------------------------------------------------------------- */

static double deviation(const dse_ps *times, uint32_t n)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) mean += dse_s_of_ps(times[i]) / n;
    for (uint32_t i = 0; i < n; i++) squares += (dse_s_of_ps(times[i]) - mean) * (dse_s_of_ps(times[i]) - mean);
    return n > 1 ? sqrt(squares / (n - 1)) : 0;
}

static void note_layers(const struct lad_machine *m)
{
    dse_ps sum = 0;
    for (uint32_t i = 0; i < m->run.layers; i++) sum += m->program.layer_time[i];
    dse_sim_note(m->run.sim, "layers_simulated", "", m->run.layers);
    if (m->run.pt->locality_aware) dse_sim_note(m->run.sim, "heads_simulated", "", m->run.heads);
    if (m->linear.error > 0) dse_sim_note(m->run.sim, "weight_stream_error", "", m->linear.error);
    dse_sim_note(m->run.sim, "layer_time", "us", dse_s_of_ps(sum) * DSE_US_PER_S / m->run.layers);
    if (m->run.layers > 1)
        dse_sim_note(m->run.sim, "layer_time_deviation", "us", deviation(m->program.layer_time, m->run.layers) * DSE_US_PER_S);
}

static void note_dram(const struct lad_machine *m, const struct lad_attention *a)
{
    double pj = 0, bursts = 0, hits = 0, peak = dse_dram_peak(m->run.pt->dram);
    for (uint32_t i = 0; i < m->run.memory.ports; i++) {
        struct dse_dram_stats s = dse_dram_stats(m->run.memory.port[i].dram_port, NULL);
        pj += s.energy_pj;
        bursts += (double)s.bursts;
        hits += (double)s.row_hits;
    }
    if (a->exposed_s[LAD_HBM] > 0 && m->run.pt->locality_aware)
        dse_sim_note(m->run.sim, "attention_dram_share", "",
                     (a->stage1_bytes + a->stage4_bytes) / (peak * (a->time_s - a->fill_s)));
    if (bursts > 0) dse_sim_note(m->run.sim, "row_hit_ratio", "", hits / bursts);
    if (!isnan(pj) && m->run.account.moved > 0)
        dse_sim_note(m->run.sim, "dram_command_energy", "pJ/bit", pj / (DSE_BITS_PER_BYTE * (double)m->run.account.moved));
}

static void note_pipeline(const struct lad_machine *m, const struct lad_point *closed)
{
    uint32_t active = 0, update = 0;
    double slots = fmax(1, (double)m->run.account.slots);
    for (uint32_t i = 0; i < m->run.tiles; i++) {
        active = (uint32_t)fmax(active, dse_fifo_peak(m->slots.lane[i].tile.active));
        update = (uint32_t)fmax(update, dse_fifo_peak(m->slots.lane[i].tile.update));
    }
    dse_sim_note(m->run.sim, "closed_form_slot", "cycle", closed->slot_cycles);
    dse_sim_note(m->run.sim, "closed_form_memory", "cycle", closed->hbm_cycles);
    dse_sim_note(m->run.sim, "closed_form_compute", "cycle", closed->cycles);
    dse_sim_note(m->run.sim, "barrier_wait", "cycle",
                 dse_s_of_ps(m->run.account.waiting) * m->run.pt->clock_hz / (slots * m->run.tiles));
    dse_sim_note(m->run.sim, "active_fifo_peak", "", active);
    dse_sim_note(m->run.sim, "update_fifo_peak", "", update);
    dse_sim_note(m->run.sim, "apid_stalled", "us", dse_s_of_ps(m->run.account.apid_stalled) * DSE_US_PER_S);
    dse_sim_note(m->run.sim, "md_stalled", "us", dse_s_of_ps(m->run.account.md_stalled) * DSE_US_PER_S);
    dse_sim_note(m->run.sim, "early_gathers", "", (double)m->run.account.relieved);
}

void lad_machine_note(const struct lad_machine *m, const struct lad_attention *seen)
{
    note_layers(m);
    note_dram(m, seen);
    if (m->run.pt->locality_aware) note_pipeline(m, m->run.pt);
}
