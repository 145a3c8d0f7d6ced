/* How head-samples go through the six stages of the tiles (E26, E30).
 *
 * slots = "barrier": all stages of all tiles step together. In a slot every stage works on its head-sample; when the last of all
 * tiles is done, each hands it on and the next slot begins. Otherwise a stage hands on as soon as the next is free, and each tile
 * goes its own way.
 *
 * A period ends when its last head-sample has passed stage 1. In lock-step that is the end of a slot; otherwise the pipeline is
 * paused as it is: modules stand still, stage 4 asks for nothing more, until the next period.
 */
#include "lad_slots.h"

#include <stdio.h>

static const enum lad_stage stage_of[LAD_PLACES] = {
    [LAD_LOAD] = LAD_HBM,  [LAD_SCORE] = LAD_EAS,      [LAD_IDENTIFY] = LAD_APID, [LAD_GATHER] = LAD_HBM,
    [LAD_READY] = LAD_HBM, [LAD_DISCREPANCY] = LAD_MD, [LAD_COMPUTE] = LAD_AC,    [LAD_STORE] = LAD_HBM,
};

enum { PERIOD_OVER };

/* ---- moving on ----------------------------------------------------------------------------------------------------------- */

static bool place_is(const struct lad_lane *lane, enum lad_place place, int state)
{
    return (int)lane->tile.place[place].state == state;
}

/* From a stage that is done with it to one that is empty. */
static bool move(struct lad_lane *lane, enum lad_place from, enum lad_place to)
{
    struct lad_tile *t = &lane->tile;
    if (!place_is(lane, from, LAD_DONE) || !place_is(lane, to, LAD_EMPTY)) return false;
    t->place[to].sample = t->place[from].sample;
    t->place[to].state = LAD_DONE;
    t->place[from].state = LAD_EMPTY;
    return true;
}

static void store(struct lad_lane *lane)
{
    if (!move(lane, LAD_COMPUTE, LAD_STORE)) return;
    const struct lad_sample *s = &lane->tile.place[LAD_STORE].sample;
    if (s->counted) lane->of->run->account.longest += s->longest;
}

/* APID is done with a head-sample that stage 4 has taken before its time. */
static void settle_early(struct lad_lane *lane)
{
    struct lad_tile *t = &lane->tile;
    if (!lane->early || !place_is(lane, LAD_IDENTIFY, LAD_DONE)) return;
    struct lad_sample *s = &t->place[LAD_GATHER].sample;
    if (t->place[LAD_IDENTIFY].sample.longest > s->longest) s->longest = t->place[LAD_IDENTIFY].sample.longest;
    t->place[LAD_IDENTIFY].state = LAD_EMPTY;
    lane->early = false;
}

static bool may_enter(const struct lad_lane *lane)
{
    const struct lad_lanes *s = lane->of;
    return !s->draining && lane->next_sequence < s->run->batch && place_is(lane, LAD_LOAD, LAD_EMPTY);
}

static void enter(struct lad_lane *lane)
{
    const struct lad_lanes *slots = lane->of;
    struct lad_sample *s = &lane->tile.place[LAD_LOAD].sample;
    *s = lad_draw(&slots->run->draws, slots->layer, slots->head, lane->next_sequence);
    s->fetched = lad_fetched(slots->fetcher, s);
    lane->next_sequence += slots->run->tiles;
    lad_load_start(&lane->load, true);
}

static void relieve(struct lad_lane *lane)
{
    struct lad_run *run = lane->of->run;
    if (lane->early || run->paused || !lad_modules_apid_waits(&lane->modules)) return;
    if (lane->of->lock_step) move(lane, LAD_GATHER, LAD_READY);
    if (!place_is(lane, LAD_GATHER, LAD_EMPTY)) return;
    lane->early = true;
    run->account.relieved++;
    lane->tile.place[LAD_GATHER].sample = lane->tile.place[LAD_IDENTIFY].sample;
    lad_gather_start(&lane->gather);
}

void lad_relieve(struct lad_lanes *s, uint32_t tile)
{
    relieve(&s->lane[tile]);
}

static bool all_empty(const struct lad_lanes *s)
{
    for (uint32_t i = 0; i < s->run->tiles; i++)
        for (int p = 0; p < LAD_PLACES; p++)
            if (!place_is(&s->lane[i], (enum lad_place)p, LAD_EMPTY)) return false;
    return true;
}

/* ---- the account of a period --------------------------------------------------------------------------------------------- */

/* Without slots: the period's time goes to the stage that was at work most of all. */
static void count_busiest(struct lad_account *a, dse_ps time)
{
    int most = LAD_LOAD;
    for (int p = 0; p < LAD_PLACES; p++)
        if (a->busy[p] > a->busy[most]) most = p;
    a->bound[stage_of[most]] += time;
}

static void end_period(struct lad_lanes *s)
{
    struct lad_run *run = s->run;
    dse_ps now = dse_sim_now(run->sim), time = now - s->period;
    lad_count_flights(run, false);
    if (s->counted) {
        run->account.attention += time;
        if (!s->lock_step) {
            count_busiest(&run->account, time);
            run->account.slots += run->rounds;
        }
    }
    s->open = false;
    if (!s->lock_step) {
        run->paused = true;
        for (uint32_t i = 0; i < run->tiles; i++) lad_modules_retime(&s->lane[i].modules);
    }
    dse_sim_at(run->sim, now, s->actor, PERIOD_OVER);
}

/* ---- lock-step ----------------------------------------------------------------------------------------------------------- */

static void add_work(struct lad_lane *lane)
{
    lane->pending++;
    lane->of->pending++;
}

static void start_compute(struct lad_lane *lane, enum lad_place from, enum lad_place place)
{
    if (!move(lane, from, place)) return;
    add_work(lane);
    lad_module_start(&lane->modules, place);
}

static void slot_lane(struct lad_lane *lane)
{
    bool early = lane->early;
    settle_early(lane);
    store(lane);
    start_compute(lane, LAD_DISCREPANCY, LAD_COMPUTE);
    start_compute(lane, early ? LAD_READY : LAD_GATHER, LAD_DISCREPANCY);
    if (early && place_is(lane, LAD_GATHER, LAD_BUSY)) add_work(lane);
    if (move(lane, LAD_IDENTIFY, LAD_GATHER)) {
        add_work(lane);
        lad_gather_start(&lane->gather);
    }
    start_compute(lane, LAD_SCORE, LAD_IDENTIFY);
    start_compute(lane, LAD_LOAD, LAD_SCORE);
    bool entering = may_enter(lane);
    if (entering || place_is(lane, LAD_STORE, LAD_DONE)) add_work(lane);
    if (entering)
        enter(lane);
    else if (place_is(lane, LAD_STORE, LAD_DONE))
        lad_load_start(&lane->load, false);
    lane->finished = dse_sim_now(lane->of->run->sim);
}

static void end_slot(struct lad_lanes *s);

static void begin_slot(struct lad_lanes *s)
{
    s->start = dse_sim_now(s->run->sim);
    s->last = LAD_HBM;
    s->entered++;
    s->pending = 1;
    for (uint32_t i = 0; i < s->run->tiles; i++) slot_lane(&s->lane[i]);
    if (--s->pending == 0) end_slot(s);
}

static void end_slot(struct lad_lanes *s)
{
    struct lad_run *run = s->run;
    dse_ps now = dse_sim_now(run->sim);
    if (s->counted) {
        run->account.bound[s->last] += now - s->start;
        run->account.slots++;
        for (uint32_t i = 0; i < run->tiles; i++) run->account.waiting += now - s->lane[i].finished;
    }
    if (s->draining ? all_empty(s) : s->entered == run->rounds)
        end_period(s);
    else
        begin_slot(s);
}

static void stage_done_in_step(struct lad_lane *lane, enum lad_place place)
{
    struct lad_lanes *s = lane->of;
    if (place == LAD_GATHER && lane->early) return; /* work of the next slot */
    s->last = stage_of[place];
    if (--lane->pending == 0) lane->finished = dse_sim_now(s->run->sim);
    relieve(lane);
    if (--s->pending == 0) end_slot(s);
}

/* ---- each its own way ---------------------------------------------------------------------------------------------------- */

static void hand_on(struct lad_lane *lane, enum lad_place from, enum lad_place to)
{
    if (move(lane, from, to)) lad_module_start(&lane->modules, to);
}

static void advance(struct lad_lane *lane)
{
    const struct lad_lanes *s = lane->of;
    if (s->run->paused) return;
    settle_early(lane);
    store(lane);
    hand_on(lane, LAD_DISCREPANCY, LAD_COMPUTE);
    if (!lane->early) hand_on(lane, LAD_GATHER, LAD_DISCREPANCY);
    if (move(lane, LAD_IDENTIFY, LAD_GATHER)) lad_gather_start(&lane->gather);
    hand_on(lane, LAD_SCORE, LAD_IDENTIFY);
    hand_on(lane, LAD_LOAD, LAD_SCORE);
    relieve(lane);
    if (!lad_load_idle(&lane->load)) return;
    bool blocked = s->draining || place_is(lane, LAD_COMPUTE, LAD_DONE);
    if (may_enter(lane))
        enter(lane);
    else if (blocked && !place_is(lane, LAD_STORE, LAD_EMPTY)) /* else the next to enter does it */
        lad_load_start(&lane->load, false);
}

static void stage_done_alone(struct lad_lane *lane, enum lad_place place)
{
    struct lad_lanes *s = lane->of;
    bool over = s->open && (s->draining ? all_empty(s) : place == LAD_LOAD && ++s->loaded == s->run->batch);
    if (over)
        end_period(s);
    else
        advance(lane);
}

void lad_stage_done(struct lad_lanes *s, uint32_t tile, enum lad_place place)
{
    if (s->lock_step)
        stage_done_in_step(&s->lane[tile], place);
    else
        stage_done_alone(&s->lane[tile], place);
}

/* ---- periods ------------------------------------------------------------------------------------------------------------- */

static void begin(struct lad_lanes *s)
{
    struct lad_run *run = s->run;
    s->period = dse_sim_now(run->sim);
    lad_count_flights(run, s->counted);
    s->open = true;
    s->entered = s->loaded = 0;
    for (int p = 0; p < LAD_PLACES; p++) run->account.busy[p] = 0;
    for (uint32_t i = 0; i < run->tiles; i++) s->lane[i].next_sequence = i;
    if (s->lock_step) {
        begin_slot(s);
        return;
    }
    run->paused = false;
    for (uint32_t i = 0; i < run->tiles; i++) {
        lad_modules_retime(&s->lane[i].modules);
        lad_gather_resume(&s->lane[i].gather);
        advance(&s->lane[i]);
    }
}

void lad_period_start(struct lad_lanes *s, uint32_t layer, uint32_t head)
{
    s->layer = layer;
    s->head = head;
    s->draining = false;
    s->counted = layer < s->run->layers;
    begin(s);
}

void lad_drain_start(struct lad_lanes *s)
{
    s->draining = true;
    s->counted = false;
    if (all_empty(s))
        dse_sim_at(s->run->sim, dse_sim_now(s->run->sim), s->actor, PERIOD_OVER);
    else
        begin(s);
}

static void on_event(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)arg;
    const struct lad_run *run = object;
    run->signals->over(run->machine);
}

void lad_slots_init(struct lad_lanes *s, struct lad_run *run, const struct lad_fetcher *fetcher)
{
    /* What the closed form has of a barrier stays: heads that are all alike do not wait for each other. */
    bool ideal = dse_sim_ideal(run->sim, DSE_IDEAL_SYNC) && !run->draws.mean;
    s->run = run;
    s->fetcher = fetcher;
    s->lock_step = run->p->is_barrier != 0 && !ideal;
    s->actor = dse_sim_actor(run->sim, on_event, run);
    dse_sim_actor_name(run->sim, s->actor, "attention periods");
}

/* Tracks in the order in which a head-sample passes them. */
static void init_lane(struct lad_lanes *s, uint32_t id)
{
    struct lad_lane *lane = &s->lane[id];
    lane->of = s;
    lane->tile.run = s->run;
    lane->tile.id = id;
    snprintf(lane->tile.group, sizeof lane->tile.group, "tile %u", id);
    lad_dma_init(&lane->load, &lane->gather, &lane->tile);
    lad_modules_init(&lane->modules, &lane->tile);
}

void lad_slots_init_tiles(struct lad_lanes *s)
{
    s->lane = dse_sim_alloc(s->run->sim, s->run->tiles, sizeof *s->lane);
    for (uint32_t i = 0; i < s->run->tiles; i++) init_lane(s, i);
}
