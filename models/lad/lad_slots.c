/* How head-samples go through the six stages of the tiles (E26, E30).
 *
 * slots = "barrier": all stages of all tiles step together. In a slot every stage works on its head-sample; when the last of all tiles is done, each hands
 * it on and the next slot begins. Otherwise a stage hands on as soon as the next is free, and each tile goes its own way.
 *
 * A period ends when its last head-sample has passed stage 1. In lock-step that is the end of a slot; otherwise the pipeline is paused as it is: modules stand
 * still, stage 4 asks for nothing more, until the next period.
 */
#include "lad_events.h"

#include <assert.h>

static const enum lad_stage stage_of[LAD_PLACES] = {
    [LAD_LOAD] = LAD_HBM,  [LAD_SCORE] = LAD_EAS,      [LAD_IDENTIFY] = LAD_APID, [LAD_GATHER] = LAD_HBM,
    [LAD_READY] = LAD_HBM, [LAD_DISCREPANCY] = LAD_MD, [LAD_COMPUTE] = LAD_AC,    [LAD_STORE] = LAD_HBM,
};

enum { PERIOD_OVER };

/* ---- moving on ---------------------------------------------------------------------------------------------------------------------- */

static bool is(const struct lad_tile *t, enum lad_place place, int state)
{
    return (int)t->place[place].state == state;
}

/* From a stage that is done with it to one that is empty. */
static bool move(struct lad_tile *t, enum lad_place from, enum lad_place to)
{
    if (!is(t, from, LAD_DONE) || !is(t, to, LAD_EMPTY)) return false;
    t->place[to].sample = t->place[from].sample;
    t->place[to].state = LAD_DONE;
    t->place[from].state = LAD_EMPTY;
    return true;
}

static bool store(struct lad_tile *t)
{
    if (!move(t, LAD_COMPUTE, LAD_STORE)) return false;
    const struct lad_sample *s = &t->place[LAD_STORE].sample;
    if (s->counted) t->m->account.longest += s->longest;
    return true;
}

/* APID is done with a head-sample that stage 4 has taken before its time. */
static void settle_early(struct lad_tile *t)
{
    if (!t->early || !is(t, LAD_IDENTIFY, LAD_DONE)) return;
    struct lad_sample *s = &t->place[LAD_GATHER].sample;
    if (t->place[LAD_IDENTIFY].sample.longest > s->longest) s->longest = t->place[LAD_IDENTIFY].sample.longest;
    t->place[LAD_IDENTIFY].state = LAD_EMPTY;
    t->early = false;
}

static bool may_enter(const struct lad_tile *t)
{
    return !t->m->slots.draining && t->next_sequence < t->m->batch && is(t, LAD_LOAD, LAD_EMPTY);
}

static void enter(struct lad_tile *t)
{
    struct lad_machine *m = t->m;
    struct lad_sample *s = &t->place[LAD_LOAD].sample;
    *s = lad_draw(&m->draws, m->slots.layer, m->slots.head, t->next_sequence);
    s->fetched = lad_fetched(m, s);
    t->next_sequence += m->tiles;
    lad_load_start(t, true);
}

void lad_relieve(struct lad_tile *t)
{
    struct lad_pipeline_state *s = &t->m->slots;
    if (t->early || s->paused || !t->module[LAD_IDENTIFY].stalled) return;
    if (s->lock_step) move(t, LAD_GATHER, LAD_READY);
    if (!is(t, LAD_GATHER, LAD_EMPTY)) return;
    t->early = true;
    t->m->relieved++;
    t->place[LAD_GATHER].sample = t->place[LAD_IDENTIFY].sample;
    lad_gather_start(t);
}

static bool empty(const struct lad_machine *m)
{
    for (uint32_t i = 0; i < m->tiles; i++)
        for (int p = 0; p < LAD_PLACES; p++)
            if (!is(&m->tile[i], p, LAD_EMPTY)) return false;
    return true;
}

/* ---- the account of a period ----------------------------------------------------------------------------------------------------------- */

void lad_hbm_took_off(struct lad_machine *m)
{
    if (m->slots.flying++ == 0) m->slots.flying_since = dse_sim_now(m->sim);
}

static void count_flight(struct lad_machine *m)
{
    struct lad_pipeline_state *s = &m->slots;
    if (s->open && s->counted && s->flying > 0) m->account.hbm += dse_sim_now(m->sim) - s->flying_since;
    s->flying_since = dse_sim_now(m->sim);
}

void lad_hbm_landed(struct lad_machine *m)
{
    if (m->slots.flying == 1) count_flight(m);
    m->slots.flying--;
}

/* Without slots: the period's time goes to the stage that was at work most of all. */
static void count_busiest(struct lad_machine *m, dse_ps time)
{
    int most = LAD_LOAD;
    for (int p = 0; p < LAD_PLACES; p++)
        if (m->slots.busy[p] > m->slots.busy[most]) most = p;
    m->account.bound[stage_of[most]] += time;
}

static void end_period(struct lad_machine *m)
{
    struct lad_pipeline_state *s = &m->slots;
    dse_ps time = dse_sim_now(m->sim) - s->period;
    count_flight(m);
    if (s->counted) {
        m->account.attention += time;
        if (!s->lock_step) {
            count_busiest(m, time);
            m->account.slots += m->rounds;
        }
    }
    s->open = false;
    if (!s->lock_step) {
        s->paused = true;
        for (uint32_t i = 0; i < m->tiles; i++) lad_tile_retime(&m->tile[i]);
    }
    dse_sim_at(m->sim, dse_sim_now(m->sim), s->actor, PERIOD_OVER);
}

/* ---- lock-step ------------------------------------------------------------------------------------------------------------------------------ */

static void work(struct lad_tile *t)
{
    t->pending++;
    t->m->slots.pending++;
}

static void start_compute(struct lad_tile *t, enum lad_place from, enum lad_place place)
{
    if (!move(t, from, place)) return;
    work(t);
    lad_module_start(t, place);
}

static void slot_tile(struct lad_tile *t)
{
    bool early = t->early;
    settle_early(t);
    store(t);
    start_compute(t, LAD_DISCREPANCY, LAD_COMPUTE);
    start_compute(t, early ? LAD_READY : LAD_GATHER, LAD_DISCREPANCY);
    if (early && is(t, LAD_GATHER, LAD_BUSY)) work(t);
    if (move(t, LAD_IDENTIFY, LAD_GATHER)) {
        work(t);
        lad_gather_start(t);
    }
    start_compute(t, LAD_SCORE, LAD_IDENTIFY);
    start_compute(t, LAD_LOAD, LAD_SCORE);
    bool entering = may_enter(t);
    if (entering || is(t, LAD_STORE, LAD_DONE)) work(t);
    if (entering)
        enter(t);
    else if (is(t, LAD_STORE, LAD_DONE))
        lad_load_start(t, false);
    t->finished = dse_sim_now(t->m->sim);
}

static void end_slot(struct lad_machine *m);

static void begin_slot(struct lad_machine *m)
{
    struct lad_pipeline_state *s = &m->slots;
    s->start = dse_sim_now(m->sim);
    s->last = LAD_HBM;
    s->entered++;
    s->pending = 1;
    for (uint32_t i = 0; i < m->tiles; i++) slot_tile(&m->tile[i]);
    if (--s->pending == 0) end_slot(m);
}

static void end_slot(struct lad_machine *m)
{
    struct lad_pipeline_state *s = &m->slots;
    dse_ps now = dse_sim_now(m->sim);
    if (s->counted) {
        m->account.bound[s->last] += now - s->start;
        m->account.slots++;
        for (uint32_t i = 0; i < m->tiles; i++) m->account.waiting += now - m->tile[i].finished;
    }
    if (s->draining ? empty(m) : s->entered == m->rounds)
        end_period(m);
    else
        begin_slot(m);
}

static void stage_done_in_step(struct lad_tile *t, enum lad_place place)
{
    struct lad_pipeline_state *s = &t->m->slots;
    if (place == LAD_GATHER && t->early) return; /* work of the next slot */
    s->last = stage_of[place];
    if (--t->pending == 0) t->finished = dse_sim_now(t->m->sim);
    lad_relieve(t);
    if (--s->pending == 0) end_slot(t->m);
}

/* ---- each its own way -------------------------------------------------------------------------------------------------------------------- */

static void hand_on(struct lad_tile *t, enum lad_place from, enum lad_place to)
{
    if (move(t, from, to)) lad_module_start(t, to);
}

static void advance(struct lad_tile *t)
{
    if (t->m->slots.paused) return;
    settle_early(t);
    store(t);
    hand_on(t, LAD_DISCREPANCY, LAD_COMPUTE);
    if (!t->early) hand_on(t, LAD_GATHER, LAD_DISCREPANCY);
    if (move(t, LAD_IDENTIFY, LAD_GATHER)) lad_gather_start(t);
    hand_on(t, LAD_SCORE, LAD_IDENTIFY);
    hand_on(t, LAD_LOAD, LAD_SCORE);
    lad_relieve(t);
    if (!lad_load_idle(t)) return;
    bool blocked = t->m->slots.draining || is(t, LAD_COMPUTE, LAD_DONE);
    if (may_enter(t))
        enter(t);
    else if (blocked && !is(t, LAD_STORE, LAD_EMPTY)) /* else the next to enter does it */
        lad_load_start(t, false);
}

static void stage_done_alone(struct lad_tile *t, enum lad_place place)
{
    struct lad_pipeline_state *s = &t->m->slots;
    bool over = s->open && (s->draining ? empty(t->m) : place == LAD_LOAD && ++s->loaded == t->m->batch);
    if (over)
        end_period(t->m);
    else
        advance(t);
}

void lad_stage_done(struct lad_tile *t, enum lad_place place)
{
    if (t->m->slots.lock_step)
        stage_done_in_step(t, place);
    else
        stage_done_alone(t, place);
}

/* ---- periods ---------------------------------------------------------------------------------------------------------------------------------- */

static void begin(struct lad_machine *m)
{
    struct lad_pipeline_state *s = &m->slots;
    s->period = s->flying_since = dse_sim_now(m->sim);
    s->open = true;
    s->entered = s->loaded = 0;
    for (int p = 0; p < LAD_PLACES; p++) s->busy[p] = 0;
    for (uint32_t i = 0; i < m->tiles; i++) m->tile[i].next_sequence = i;
    if (s->lock_step) {
        begin_slot(m);
        return;
    }
    s->paused = false;
    for (uint32_t i = 0; i < m->tiles; i++) {
        lad_tile_retime(&m->tile[i]);
        lad_gather_resume(&m->tile[i]);
        advance(&m->tile[i]);
    }
}

void lad_period_start(struct lad_machine *m, uint32_t layer, uint32_t head)
{
    struct lad_pipeline_state *s = &m->slots;
    s->layer = layer;
    s->head = head;
    s->draining = false;
    s->counted = layer < m->layers;
    begin(m);
}

void lad_drain_start(struct lad_machine *m)
{
    m->slots.draining = true;
    m->slots.counted = false;
    if (empty(m))
        dse_sim_at(m->sim, dse_sim_now(m->sim), m->slots.actor, PERIOD_OVER);
    else
        begin(m);
}

static void on_event(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    lad_program_next(object);
}

void lad_slots_init(struct lad_machine *m)
{
    /* What the closed form has of a barrier stays: heads that are all alike do not wait for each other. */
    bool ideal = dse_sim_ideal(m->sim, DSE_IDEAL_SYNC) && !m->draws.mean;
    m->slots.lock_step = m->p->slots == LAD_BARRIER && !ideal;
    m->slots.actor = dse_sim_actor(m->sim, on_event, m);
    dse_sim_actor_name(m->sim, m->slots.actor, "attention periods");
}
