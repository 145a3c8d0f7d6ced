/* LAD at event level: builds the machine, runs it, and makes a step of what it saw, so that metrics and breakdown come from the
 * same code as those of the closed form. */
#include "lad_llms.h"
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

static bool init_run(struct lad_run *run, struct lad_machine *m, struct dse_sim *sim, const struct lad_point *pt,
                     const struct lad_step *step, bool general, int64_t layers)
{
    const struct lad_params *p = pt->p;
    run->sim = sim;
    run->pt = pt;
    run->p = p;
    run->step = step;
    run->layers = (uint32_t)layers;
    run->heads = (uint32_t)pt->llm->heads;
    run->batch = (uint32_t)step->batch;
    run->tiles = (uint32_t)p->tiles;
    run->rounds = (uint32_t)lad_rounds(pt, step->batch);
    run->stored = lad_stored_by(run);
    run->signals = &signals;
    run->machine = m;
    run->general = general;
    dse_sim_seed(sim, (uint64_t)p->events.seed);
    lad_draws_init(&run->draws, sim, pt, run->layers, run->batch);
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
                     bool general, int64_t layers)
{
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
    switch (m->run.p->fill) {
    case LAD_FILL_STEP: return fmax(0, dse_s_of_ps(pr->warm_time + pr->drain_time) - pr->warm_periods * period);
    case LAD_FILL_LAYER: return seconds(pr->drain_time, scale);
    default: return 0;
    }
}

/* Of the layers simulated to all. */
static double scale_of(const struct lad_machine *m)
{
    return (double)m->run.pt->llm->layers / m->run.layers;
}

void lad_machine_see_attention(const struct lad_machine *m, struct lad_attention *ret)
{
    struct lad_attention *a = ret;
    const double scale = scale_of(m);
    const struct lad_account *c = &m->run.account;
    double samples = fmax(1, (double)c->samples), bytes = scale, cycles_s = m->run.pt->clock_hz;
    *a = (struct lad_attention){
        .fill_s = fill_seconds(m, scale),
        .stage1_bytes = bytes * (double)c->stage1_bytes,
        .stage4_bytes = bytes * (double)c->stage4_bytes,
        .centers_bytes = bytes * (double)c->bytes[LAD_CENTERS],
        .active_bytes = bytes * (double)c->bytes[LAD_ACTIVE],
        .others_bytes = bytes * (double)c->bytes[LAD_OTHERS],
        .prefetch_bytes = bytes * (double)c->bytes[LAD_FETCHED],
        .stages = {.eas = c->cycles[LAD_SCORE] / samples,
                   .apid = c->cycles[LAD_IDENTIFY] / samples,
                   .md = c->cycles[LAD_DISCREPANCY] / samples,
                   .ac = c->cycles[LAD_COMPUTE] / samples},
        .compute_cycles = c->longest / samples,
        .memory_cycles = dse_s_of_ps(c->hbm) * cycles_s / fmax(1, (double)c->slots),
        .slot_cycles = dse_s_of_ps(c->attention) * cycles_s / fmax(1, (double)c->slots),
        .active = (double)c->active / samples,
        .prefetched = (double)c->fetched / samples,
        .hits = (double)c->hits / samples,
    };
    a->time_s = seconds(c->attention, scale) + a->fill_s;
    for (int i = 0; i < LAD_STAGES; i++) a->exposed_s[i] = seconds(c->bound[i], scale);
    double moved = a->stage1_bytes + a->stage4_bytes;
    a->stage1_s = moved > 0 ? a->exposed_s[LAD_HBM] * a->stage1_bytes / moved : 0;
    a->stage4_s = a->exposed_s[LAD_HBM] - a->stage1_s;
    struct lad_macs macs = lad_stage_macs(m->run.pt, a->active);
    a->macs = m->run.pt->head_samples * m->run.batch * (macs.eas + macs.md + macs.ac);
}

/* Time and bytes of an operator; it is bound by the DRAM when the VPUs waited longer than the DMA. */
void lad_machine_see_op(const struct lad_machine *m, int i, struct lad_op *ret)
{
    struct lad_op *o = ret;
    const struct lad_op_work *work = &m->linear.work[i];
    double scale = lad_is_once(&m->run, o) ? 1 : scale_of(m);
    if (o->kind == DSE_OP_COLLECTIVE) {
        o->time_s = seconds(m->program.op_time[i], o->layers / (lad_is_once(&m->run, o) ? 1 : m->run.layers));
        return;
    }
    bool dram_bound = work->dram > work->vpu;
    o->time_s = seconds(m->program.op_time[i], scale);
    o->dram_s = dram_bound ? o->time_s : fmin(o->time_s * (1 - 1e-12), seconds(work->dram, scale));
    o->batch_bytes = scale * (double)work->bytes;
}

/* What is written last is still on the bus when the last layer ends, and weighs where a burst takes microseconds: the step goes on
 * until its bytes can have passed. */
void lad_machine_wait_for_bytes(const struct lad_point *pt, struct lad_step *step)
{
    const double late_s = step->bytes / dse_dram_peak(&pt->p->dram) - step->time_s;
    if (late_s <= 0) return;
    struct lad_op *longest = &step->op[0];
    for (int i = 1; i < step->n_ops; i++)
        if (step->op[i].kind != DSE_OP_COLLECTIVE && step->op[i].time_s > longest->time_s) longest = &step->op[i];
    longest->time_s += late_s;
    longest->dram_s = longest->time_s;
    lad_step_sum(step, pt);
}

static void see(const struct lad_machine *m, struct lad_step *step)
{
    for (int i = 0; i < step->n_ops; i++) lad_machine_see_op(m, i, &step->op[i]);
    if (m->run.pt->locality_aware) lad_machine_see_attention(m, &step->attention);
    lad_step_sum(step, m->run.pt);
    lad_machine_wait_for_bytes(m->run.pt, step);
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
    dse_sim_note(m->run.sim, "layer_time", "us", dse_s_of_ps(sum) * DSE_US_PER_S / m->run.layers);
    if (m->run.layers > 1)
        dse_sim_note(m->run.sim, "layer_time_deviation", "us", deviation(m->program.layer_time, m->run.layers) * DSE_US_PER_S);
}

static void note_dram(const struct lad_machine *m, const struct lad_step *step)
{
    double pj = 0, bursts = 0, hits = 0, peak = dse_dram_peak(&m->run.p->dram);
    for (uint32_t i = 0; i < m->run.memory.ports; i++) {
        struct dse_dram_stats s = dse_dram_stats(m->run.memory.port[i].dram_port, NULL);
        pj += s.energy_pj;
        bursts += (double)s.bursts;
        hits += (double)s.row_hits;
    }
    const struct lad_attention *a = &step->attention;
    if (a->exposed_s[LAD_HBM] > 0 && m->run.pt->locality_aware)
        dse_sim_note(m->run.sim, "attention_dram_share", "",
                     (a->stage1_bytes + a->stage4_bytes) / (peak * (a->time_s - a->fill_s)));
    if (bursts > 0) dse_sim_note(m->run.sim, "row_hit_ratio", "", hits / bursts);
    if (!isnan(pj) && m->run.account.moved > 0)
        dse_sim_note(m->run.sim, "dram_command_energy", "pJ/bit", pj / (DSE_BITS_PER_BYTE * (double)m->run.account.moved));
}

static void note_pipeline(const struct lad_machine *m, const struct lad_step *closed)
{
    uint32_t active = 0, update = 0;
    double slots = fmax(1, (double)m->run.account.slots);
    for (uint32_t i = 0; i < m->run.tiles; i++) {
        active = (uint32_t)fmax(active, dse_fifo_peak(m->slots.lane[i].tile.active));
        update = (uint32_t)fmax(update, dse_fifo_peak(m->slots.lane[i].tile.update));
    }
    dse_sim_note(m->run.sim, "closed_form_slot", "cycle", closed->attention.slot_cycles);
    dse_sim_note(m->run.sim, "closed_form_memory", "cycle", closed->attention.memory_cycles);
    dse_sim_note(m->run.sim, "closed_form_compute", "cycle", closed->attention.compute_cycles);
    dse_sim_note(m->run.sim, "barrier_wait", "cycle",
                 dse_s_of_ps(m->run.account.waiting) * m->run.pt->clock_hz / (slots * m->run.tiles));
    dse_sim_note(m->run.sim, "active_fifo_peak", "", active);
    dse_sim_note(m->run.sim, "update_fifo_peak", "", update);
    dse_sim_note(m->run.sim, "apid_stalled", "us", dse_s_of_ps(m->run.account.apid_stalled) * DSE_US_PER_S);
    dse_sim_note(m->run.sim, "md_stalled", "us", dse_s_of_ps(m->run.account.md_stalled) * DSE_US_PER_S);
    dse_sim_note(m->run.sim, "early_gathers", "", (double)m->run.account.relieved);
}

void lad_machine_note(const struct lad_machine *m, const struct lad_step *seen)
{
    note_layers(m);
    note_dram(m, seen);
    if (m->run.pt->locality_aware) note_pipeline(m, m->run.step);
}

/* ---- simulate ------------------------------------------------------------------------------------------------------------ */

void lad_machine_before(const struct lad_params *p, struct lad_params *ret)
{
    static const double published_efficiency = 0.871;
    *ret = *p;
    ret->dram.dram_efficiency = published_efficiency;
}

/* Positions that the step before has left fetched, as the closed form has them with what the published memory reaches of long
 * streams: dram_efficiency is the closed form's, and the memory of the run reaches what it reaches. */
static double prefetched_before(const struct lad_params *p, double batch)
{
    struct lad_params before;
    struct lad_point pt;
    struct lad_step step;
    lad_machine_before(p, &before);
    lad_point_init(&pt, &before);
    lad_step_init(&step, &pt);
    lad_step_at(&step, &pt, batch);
    return step.attention.prefetched;
}

bool lad_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct lad_params *p = params;
    struct lad_point pt;
    struct lad_step step;
    lad_point_init(&pt, p);
    if (!pt.is_simple) return lad_llms_simulate(&pt, sim, metrics, breakdown);
    lad_step_init(&step, &pt);
    double batch = lad_batch(&pt, &step);
    lad_step_at(&step, &pt, batch);

    struct lad_machine *m = dse_sim_alloc(sim, 1, sizeof *m);
    struct lad_step *closed = dse_sim_alloc(sim, 1, sizeof *closed);
    *closed = step;
    closed->attention.prefetched = prefetched_before(p, batch);
    if (!lad_machine_run(m, sim, &pt, closed, false, dse_layers_simulated(&p->events, pt.llm->layers))) return false;
    see(m, &step);
    lad_machine_note(m, &step);
    lad_report(&pt, &step, metrics, breakdown);
    return true;
}
