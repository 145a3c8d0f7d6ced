/* LAD at event level: builds the machine, runs it, and makes a step of what it saw, so that metrics and breakdown come from the same code as those of the
 * closed form. */
#include "lad_events.h"

#include <dse/units.h>

#include <math.h>
#include <stdio.h>

/* ---- the machine ------------------------------------------------------------------------------------------------------------------------- */

/* Tracks in the order in which a head-sample passes them. */
static void init_tile(struct lad_machine *m, uint32_t id)
{
    struct lad_tile *t = &m->tile[id];
    t->m = m;
    t->id = id;
    snprintf(t->group, sizeof t->group, "tile %u", id);
    lad_dma_init(t);
    lad_modules_init(t);
}

/* Share of what is wanted that the closed form fetches. */
static double closed_form_fetches(const struct lad_machine *m)
{
    const struct lad_attention *a = &m->step->attention;
    if (!m->pt->locality_aware || a->active <= 0) return 0;
    double wanted = fmin(a->active, lad_room(m->pt, m->batch, m->rounds, a->active));
    return wanted > 0 ? fmin(1, a->prefetched / wanted) : 0;
}

static bool init(struct lad_machine *m, struct dse_sim *sim, const struct lad_point *pt, const struct lad_step *step)
{
    const struct lad_params *p = pt->p;
    int64_t all = pt->llm->layers, asked = p->events.layers_simulated;
    m->sim = sim;
    m->pt = pt;
    m->p = p;
    m->step = step;
    m->layers = (uint32_t)(asked == 0 || asked > all ? all : asked);
    m->heads = (uint32_t)pt->llm->heads;
    m->batch = (uint32_t)step->batch;
    m->tiles = (uint32_t)p->tiles;
    m->rounds = (uint32_t)lad_rounds(pt, step->batch);
    m->active_capacity = dse_sim_ideal(sim, DSE_IDEAL_FIFOS) ? 0 : (uint32_t)p->active_fifo;
    m->warm_fetched = closed_form_fetches(m);
    m->stored = lad_stored_by(m);
    dse_sim_seed(sim, (uint64_t)p->events.seed);
    lad_draws_init(&m->draws, sim, pt, m->layers, m->batch);
    if (!lad_memory_init(&m->memory, sim, pt, m->layers, m->batch, &m->stored)) return false;
    lad_slots_init(m);
    lad_program_init(m);
    lad_linear_init(m);
    if (!pt->locality_aware) return true;
    lad_fetch_init(m);
    m->tile = dse_sim_alloc(sim, m->tiles, sizeof *m->tile);
    for (uint32_t i = 0; i < m->tiles; i++) init_tile(m, i);
    return true;
}

/* ---- what it saw -------------------------------------------------------------------------------------------------------------------------- */

static double seconds(dse_ps ps, double scale)
{
    return dse_s_of_ps(ps) * scale;
}

/* Filling the pipeline: once a step, the time of the fill and the drain beyond that of as many periods; once a layer, the drains. */
static double fill_seconds(const struct lad_machine *m, double scale)
{
    const struct lad_program *pr = &m->program;
    double period = dse_s_of_ps(m->account.attention) / ((double)m->layers * m->heads);
    switch (m->p->fill) {
    case LAD_FILL_STEP: return fmax(0, dse_s_of_ps(pr->warm_time + pr->drain_time) - pr->warm_periods * period);
    case LAD_FILL_LAYER: return seconds(pr->drain_time, scale);
    default: return 0;
    }
}

static void see_attention(const struct lad_machine *m, double scale, struct lad_attention *a)
{
    const struct lad_account *c = &m->account;
    double samples = fmax(1, (double)c->samples), bytes = scale, cycles_s = m->pt->clock_hz;
    *a = (struct lad_attention){
        .fill_s = fill_seconds(m, scale),
        .stage1_bytes = bytes * (double)m->stage1_bytes,
        .stage4_bytes = bytes * (double)m->stage4_bytes,
        .centers_bytes = bytes * (double)m->bytes[LAD_CENTERS],
        .active_bytes = bytes * (double)m->bytes[LAD_ACTIVE],
        .others_bytes = bytes * (double)m->bytes[LAD_OTHERS],
        .prefetch_bytes = bytes * (double)m->bytes[LAD_FETCHED],
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
    struct lad_macs macs = lad_stage_macs(m->pt, a->active);
    a->macs = m->pt->head_samples * m->batch * (macs.eas + macs.md + macs.ac);
}

/* Time and bytes of an operator; it is bound by the DRAM when the VPUs waited longer than the DMA. */
static void see_op(const struct lad_machine *m, int i, double scale, struct lad_op *o)
{
    const struct lad_program *pr = &m->program;
    if (lad_is_once(m, o)) scale = 1;
    bool dram_bound = pr->op_dram[i] > pr->op_vpu[i];
    o->time_s = seconds(pr->op_time[i], scale);
    o->dram_s = dram_bound ? o->time_s : fmin(o->time_s * (1 - 1e-12), seconds(pr->op_dram[i], scale));
    o->batch_bytes = scale * (double)pr->op_bytes[i];
}

static void see(const struct lad_machine *m, struct lad_step *step)
{
    double scale = (double)m->pt->llm->layers / m->layers;
    for (int i = 0; i < step->n_ops; i++) see_op(m, i, scale, &step->op[i]);
    if (m->pt->locality_aware) see_attention(m, scale, &step->attention);
    lad_step_sum(step, m->pt);
}

/* ---- what metrics do not say ------------------------------------------------------------------------------------------------------------- */

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
    for (uint32_t i = 0; i < m->layers; i++) sum += m->program.layer_time[i];
    dse_sim_note(m->sim, "layers_simulated", "", m->layers);
    dse_sim_note(m->sim, "layer_time", "us", dse_s_of_ps(sum) * DSE_US_PER_S / m->layers);
    if (m->layers > 1)
        dse_sim_note(m->sim, "layer_time_deviation", "us", deviation(m->program.layer_time, m->layers) * DSE_US_PER_S);
}

static void note_dram(const struct lad_machine *m, const struct lad_step *step)
{
    double pj = 0, bursts = 0, hits = 0, peak = m->p->dram.bandwidth_gbs * DSE_GIGA;
    for (uint32_t i = 0; i < m->memory.ports; i++) {
        struct dse_dram_stats s = dse_dram_stats(m->memory.port[i].dram_port, NULL);
        pj += s.energy_pj;
        bursts += (double)s.bursts;
        hits += (double)s.row_hits;
    }
    const struct lad_attention *a = &step->attention;
    if (a->exposed_s[LAD_HBM] > 0 && m->pt->locality_aware)
        dse_sim_note(m->sim, "attention_dram_share", "", (a->stage1_bytes + a->stage4_bytes) / (peak * (a->time_s - a->fill_s)));
    if (bursts > 0) dse_sim_note(m->sim, "row_hit_ratio", "", hits / bursts);
    if (!isnan(pj) && m->moved > 0)
        dse_sim_note(m->sim, "dram_command_energy", "pJ/bit", pj / (DSE_BITS_PER_BYTE * (double)m->moved));
}

static void note_pipeline(const struct lad_machine *m, const struct lad_step *closed)
{
    uint32_t active = 0, update = 0;
    double slots = fmax(1, (double)m->account.slots);
    for (uint32_t i = 0; i < m->tiles; i++) {
        active = (uint32_t)fmax(active, dse_fifo_peak(m->tile[i].active));
        update = (uint32_t)fmax(update, dse_fifo_peak(m->tile[i].update));
    }
    dse_sim_note(m->sim, "closed_form_slot", "cycle", closed->attention.slot_cycles);
    dse_sim_note(m->sim, "closed_form_memory", "cycle", closed->attention.memory_cycles);
    dse_sim_note(m->sim, "closed_form_compute", "cycle", closed->attention.compute_cycles);
    dse_sim_note(m->sim, "barrier_wait", "cycle", dse_s_of_ps(m->account.waiting) * m->pt->clock_hz / (slots * m->tiles));
    dse_sim_note(m->sim, "active_fifo_peak", "", active);
    dse_sim_note(m->sim, "update_fifo_peak", "", update);
    dse_sim_note(m->sim, "apid_stalled", "us", dse_s_of_ps(m->apid_stalled) * DSE_US_PER_S);
    dse_sim_note(m->sim, "md_stalled", "us", dse_s_of_ps(m->md_stalled) * DSE_US_PER_S);
    dse_sim_note(m->sim, "early_gathers", "", (double)m->relieved);
}

/* ---- simulate ---------------------------------------------------------------------------------------------------------------------------------- */

bool lad_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct lad_params *p = params;
    struct lad_point pt;
    struct lad_step step;
    lad_point_init(&pt, p);
    lad_step_init(&step, &pt);
    double batch = lad_batch(&pt, &step);
    lad_step_at(&step, &pt, batch);

    struct lad_machine *m = dse_sim_alloc(sim, 1, sizeof *m);
    struct lad_step *closed = dse_sim_alloc(sim, 1, sizeof *closed);
    *closed = step;
    if (!init(m, sim, &pt, closed) || !dse_sim_run(sim)) return false;
    if (m->program.phase != LAD_FINISHED) {
        dse_sim_fail(sim, "nothing more happens, but the step is not over");
        return false;
    }
    see(m, &step);
    note_layers(m);
    note_dram(m, &step);
    if (pt.locality_aware) note_pipeline(m, closed);
    lad_report(&pt, &step, metrics, breakdown);
    return true;
}
