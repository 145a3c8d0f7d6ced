/* The compute stages of a tile: EAS, APID, MD and AC as machines that go from milestone to milestone (E26 to E28).
 *
 * All modules of a tile share its SRAM: when those at work ask for more rows a cycle than it has ports, all are slowed down
 * alike. Work is counted in cycles; a milestone's time is taken from the moment of the last change of speed, so that roundings do
 * not add up.
 */
#include "lad_modules.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>
#include <math.h>

enum { EAS_PARTS = 5, AC_PARTS = 4, AC_UPDATE = 3 };
static const char *const score_labels[EAS_PARTS] = {"EAS.1", "EAS.2", "EAS.3", "EAS.4", "EAS.5"};
static const char *const compute_labels[AC_PARTS] = {"AC.1", "AC.3", "AC.4", "AC.5"};

/* Events carry the generation of the schedule that made them, or this: there is room in the FIFO. */
enum { ROOM = 0 };

/* ---- time ---------------------------------------------------------------------------------------------------------------- */

static struct lad_tile *tile_of(const struct lad_unit *mod)
{
    return mod->of->tile;
}

static struct lad_run *run_of(const struct lad_unit *mod)
{
    return mod->of->tile->run;
}

static void show(const struct lad_unit *mod, enum dse_state state)
{
    struct lad_run *run = run_of(mod);
    int64_t id = lad_sample_id(run, &tile_of(mod)->place[mod->place].sample);
    dse_resource_state(run->sim, mod->resource, state, mod->label, id);
}

/* Count what it has done since `origin`. */
static void settle(struct lad_unit *mod)
{
    struct lad_run *run = run_of(mod);
    dse_ps now = dse_sim_now(run->sim), elapsed = now - mod->origin;
    mod->origin = now;
    if (mod->of->speed == 0) return;
    mod->ran += elapsed;
    mod->base += dse_s_of_ps(elapsed) * run->pt->clock_hz * mod->of->speed;
}

static void schedule(struct lad_unit *mod)
{
    struct lad_run *run = run_of(mod);
    if (++mod->generation == ROOM) mod->generation++;
    if (mod->of->speed == 0) return;
    double cycles = fmax(0, mod->until - mod->base) / mod->of->speed;
    dse_sim_at(run->sim, mod->origin + dse_ps_of_cycles(cycles, run->p->clock_ghz), mod->actor, mod->generation);
}

static double speed_now(const struct lad_modules *ms)
{
    if (ms->tile->run->paused) return 0;
    double ports = ms->tile->run->p->sram_ports, rows = 0;
    if (ports == 0) return 1;
    for (int i = 0; i < LAD_PLACES; i++)
        if (ms->unit[i].running) rows += ms->unit[i].rows;
    return rows > ports ? ports / rows : 1;
}

void lad_modules_retime(struct lad_modules *ms)
{
    double speed = speed_now(ms);
    if (speed == ms->speed) return;
    for (int i = 0; i < LAD_PLACES; i++)
        if (ms->unit[i].running) settle(&ms->unit[i]);
    ms->speed = speed;
    for (int i = 0; i < LAD_PLACES; i++)
        if (ms->unit[i].running) schedule(&ms->unit[i]);
}

static void go_on(struct lad_unit *mod)
{
    mod->running = true;
    mod->origin = dse_sim_now(run_of(mod)->sim);
    lad_modules_retime(mod->of);
    schedule(mod);
    show(mod, DSE_BUSY);
}

/* At its milestone. */
static void stand_still(struct lad_unit *mod)
{
    settle(mod);
    mod->base = mod->until;
    mod->running = false;
    lad_modules_retime(mod->of);
}

/* ---- the work of a head-sample ------------------------------------------------------------------------------------------- */

/* Sub-tasks one after the other; `part` holds where each ends. */
static void set_parts(struct lad_unit *mod, const double *cycles, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) mod->part[i] = sum += cycles[i];
    mod->total = sum;
    mod->until = mod->part[0];
}

static bool exactly(const struct lad_unit *mod)
{
    return run_of(mod)->p->exact != 0;
}

static double whole_if(bool exact, double cycles)
{
    return exact ? dse_ceil(cycles) : cycles;
}

/* EAS.1 scores of centers, EAS.2 rescaled to all positions, EAS.3 scores of large modes, EAS.4 norm of the new key, EAS.5 its
 * cosines. */
static void start_score(struct lad_unit *mod, const struct lad_sample *s)
{
    const struct lad_events_reads *p = run_of(mod)->p;
    const struct lad_point *pt = run_of(mod)->pt;
    double w = pt->passes, used = pt->row_cycles, lanes = p->vpu_eas;
    bool exact = exactly(mod);
    double centers = used * whole_if(exact, s->centers / lanes);
    double rescaled = whole_if(exact, pt->n / (p->vpu_width * lanes));
    set_parts(mod, (double[]){centers, rescaled, used * whole_if(exact, s->large / lanes), exact ? w : 0, centers}, EAS_PARTS);
}

/* AC.1 and AC.2 the intermediate caches, AC.3 corrections, AC.4 the output, AC.5 to AC.8 updates. */
static void start_compute(struct lad_unit *mod, const struct lad_sample *s)
{
    const struct lad_events_reads *p = run_of(mod)->p;
    const struct lad_point *pt = run_of(mod)->pt;
    double d = pt->d, w = pt->passes, lanes = p->vpu_ac;
    double used = pt->row_cycles, active = used * s->active / lanes;
    if (exactly(mod)) {
        double update = fmax(1, dse_ceil(s->updates / lanes)) + p->accumulator_cycles;
        set_parts(mod, (double[]){w * (dse_ceil(d / lanes) + 1), used * dse_ceil(s->active / lanes), w, w * (d + 3) * update},
                  AC_PARTS);
    } else {
        set_parts(mod, (double[]){w * d / lanes, active, 0, w * s->updates * (d + 3) / lanes}, AC_PARTS);
    }
}

/* Cycle in which the APID has seen a position. */
static double seen_at(const struct lad_unit *mod, uint32_t position)
{
    double width = run_of(mod)->p->apid_width;
    return exactly(mod) ? floor(position / width) + 1 : (position + 1.0) / width;
}

/* Find the next active position; its milestone is when it is seen. */
static void find_active(struct lad_unit *mod)
{
    uint32_t position;
    bool repeated;
    mod->until = mod->total;
    mod->item = 0;
    if (!lad_positions_next(&mod->positions, &position, &repeated)) return;
    const struct lad_sample *s = &tile_of(mod)->place[LAD_IDENTIFY].sample;
    bool fetched = repeated && (uint32_t)mod->at < s->fetched;
    mod->item = ((uint64_t)position + 1) << 1 | fetched;
    mod->at++;
    if (!mod->whole) mod->until = fmin(mod->total, seen_at(mod, position));
}

static void start_identify(struct lad_unit *mod, const struct lad_sample *s)
{
    const struct lad_run *run = run_of(mod);
    uint32_t capacity = dse_sim_ideal(run->sim, DSE_IDEAL_FIFOS) ? 0 : (uint32_t)run->p->active_fifo;
    uint32_t held = dse_fifo_size(tile_of(mod)->active);
    mod->total = whole_if(exactly(mod), run->pt->n / run->p->apid_width);
    mod->positions = lad_active_positions(&run->draws, s);
    mod->whole = capacity == 0 || capacity - held >= s->active;
    find_active(mod);
}

static void find_update(struct lad_unit *mod)
{
    uint32_t index;
    bool repeated;
    mod->until = mod->total;
    mod->item = lad_positions_next(&mod->positions, &index, &repeated);
    if (mod->item) mod->until = mod->total * (index + 1.0) / tile_of(mod)->place[LAD_DISCREPANCY].sample.active;
}

static void start_discrepancy(struct lad_unit *mod, const struct lad_sample *s)
{
    const struct lad_run *run = run_of(mod);
    mod->total = run->pt->row_cycles * whole_if(exactly(mod), s->active / run->p->vpu_md);
    mod->positions = lad_update_indices(&run->draws, s);
    find_update(mod);
}

void lad_module_start(struct lad_modules *ms, enum lad_place place)
{
    struct lad_unit *mod = &ms->unit[place];
    const struct lad_sample *s = &ms->tile->place[place].sample;
    assert(mod->of && !mod->running);
    ms->tile->place[place].state = LAD_BUSY;
    mod->base = 0;
    mod->ran = 0;
    mod->at = 0;
    mod->label = lad_place_names[place];
    switch (place) {
    case LAD_SCORE:
        start_score(mod, s);
        mod->label = score_labels[0];
        break;
    case LAD_IDENTIFY: start_identify(mod, s); break;
    case LAD_DISCREPANCY: start_discrepancy(mod, s); break;
    default:
        start_compute(mod, s);
        mod->label = compute_labels[0];
        break;
    }
    go_on(mod);
}

/* ---- milestones ---------------------------------------------------------------------------------------------------------- */

static void finish(struct lad_unit *mod)
{
    struct lad_tile *t = tile_of(mod);
    struct lad_run *run = t->run;
    struct lad_sample *s = &t->place[mod->place].sample;
    stand_still(mod);
    double cycles = dse_s_of_ps(mod->ran) * run->pt->clock_hz;
    s->longest = fmax(s->longest, cycles);
    if (s->counted) run->account.cycles[mod->place] += cycles;
    run->account.busy[mod->place] += mod->ran;
    mod->label = NULL;
    show(mod, DSE_IDLE);
    t->place[mod->place].state = LAD_DONE;
    run->signals->stage_done(run->machine, t->id, mod->place);
}

static bool next_part(struct lad_unit *mod, const char *const *labels, int n)
{
    if (++mod->at == n) return false;
    mod->until = mod->part[mod->at];
    mod->label = labels[mod->at];
    show(mod, DSE_BUSY);
    schedule(mod);
    return true;
}

/* From AC.5 on a column of A is read and written beside the keys of U, and nothing is taken from the update FIFO. */
static void compute_milestone(struct lad_unit *mod)
{
    uint64_t index;
    double lanes = run_of(mod)->p->vpu_ac;
    bool more = next_part(mod, compute_labels, AC_PARTS);
    mod->of->updating = more && mod->at == AC_UPDATE;
    mod->rows = mod->of->updating ? lanes + 2 : lanes;
    lad_modules_retime(mod->of);
    if (more) return;
    while (dse_fifo_get(tile_of(mod)->update, &index)) continue;
    finish(mod);
}

/* The FIFO is full: stand still at the milestone until there is room. */
static void stall(struct lad_unit *mod, struct dse_fifo *f, const char *label)
{
    stand_still(mod);
    mod->stalled = true;
    mod->stalled_since = mod->origin;
    mod->label = label;
    show(mod, DSE_STALL_OUTPUT);
    dse_fifo_when_room(f, mod->actor, ROOM);
}

/* Put what is found at this milestone into the FIFO, as long as there is any. False: the module goes on later. */
static bool put_found(struct lad_unit *mod, struct dse_fifo *f, void (*find)(struct lad_unit *), const char *label)
{
    double now = mod->until;
    while (mod->item && mod->until <= now) {
        if (!dse_fifo_put(f, mod->item)) {
            mod->until = now;
            stall(mod, f, label);
            return false;
        }
        find(mod);
    }
    if (!mod->item && now >= mod->total) return true;
    schedule(mod);
    return false;
}

static void identify_milestone(struct lad_unit *mod)
{
    const struct lad_tile *t = tile_of(mod);
    if (put_found(mod, t->active, find_active, "active FIFO full"))
        finish(mod);
    else if (!mod->running)
        t->run->signals->fifo_full(t->run->machine, t->id);
}

/* AC takes at once what is put while it does not update. */
static void discrepancy_milestone(struct lad_unit *mod)
{
    struct dse_fifo *update = tile_of(mod)->update;
    uint64_t index;
    bool over = put_found(mod, update, find_update, "update FIFO full");
    while (!mod->of->updating && dse_fifo_get(update, &index)) continue;
    if (over) finish(mod);
}

/* Goes on where it stood still. */
static void room(struct lad_unit *mod)
{
    struct lad_run *run = run_of(mod);
    dse_ps waited = dse_sim_now(run->sim) - mod->stalled_since;
    if (mod->place == LAD_IDENTIFY)
        run->account.apid_stalled += waited;
    else
        run->account.md_stalled += waited;
    mod->stalled = false;
    mod->label = lad_place_names[mod->place];
    go_on(mod);
}

static void on_event(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    struct lad_unit *mod = object;
    if (arg == ROOM) {
        room(mod);
        return;
    }
    if (arg != mod->generation || !mod->running) return; /* of a speed that it no longer has */
    switch (mod->place) {
    case LAD_SCORE:
        if (!next_part(mod, score_labels, EAS_PARTS)) finish(mod);
        break;
    case LAD_IDENTIFY: identify_milestone(mod); break;
    case LAD_DISCREPANCY: discrepancy_milestone(mod); break;
    default: compute_milestone(mod); break;
    }
}

/* ---- the modules of a tile ----------------------------------------------------------------------------------------------- */

/* Rows of vpu_width elements that each reads a cycle: its VPUs one each; APID the rows of G and the scores of its positions. */
static double rows_of(const struct lad_events_reads *p, enum lad_place place)
{
    double row = p->vpu_width * p->cache_bits;
    switch (place) {
    case LAD_SCORE: return p->vpu_eas;
    case LAD_IDENTIFY: return p->apid_width * (p->position_bits + p->cache_bits) / row;
    case LAD_DISCREPANCY: return p->vpu_md;
    default: return p->vpu_ac;
    }
}

bool lad_modules_apid_waits(const struct lad_modules *ms)
{
    return ms->unit[LAD_IDENTIFY].stalled;
}

void lad_modules_init(struct lad_modules *ms, struct lad_tile *t)
{
    static const enum lad_place places[] = {LAD_SCORE, LAD_IDENTIFY, LAD_DISCREPANCY, LAD_COMPUTE};
    const struct lad_events_reads *p = t->run->p;
    struct dse_sim *sim = t->run->sim;
    ms->tile = t;
    ms->speed = 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct lad_unit *mod = &ms->unit[places[i]];
        mod->of = ms;
        mod->place = places[i];
        mod->rows = rows_of(p, places[i]);
        mod->actor = dse_sim_actor(sim, on_event, mod);
        mod->resource = dse_resource(sim, t->group, lad_place_names[places[i]]);
        dse_sim_actor_name(sim, mod->actor, lad_place_names[places[i]]);
    }
    t->active = dse_fifo_new(sim, "active positions", (uint32_t)p->active_fifo);
    t->update = dse_fifo_new(sim, "updates", (uint32_t)p->update_fifo);
}
