/* Stages 1 and 4 of a tile: what moves between DRAM and its SRAM (E13, E29).
 *
 * Stage 1 writes back G and the intermediate caches of the head-sample that has left stage 6, and reads G and the keys of centers
 * and large modes of the one that enters. Stage 4 reads intermediate caches, and keys and values of the positions in the active
 * FIFO that were not fetched ahead. Adjacent rows are one segment. What streams and what is gathered are transfers of their own,
 * under way together.
 */
#include "lad_dma.h"

#include <assert.h>

enum { STREAM, ROWS, ITEM };

static struct dse_segment key_segment(const struct lad_tile *t, const struct lad_sample *s, uint32_t first, uint32_t n)
{
    const struct lad_memory *mem = &t->run->memory;
    return (struct dse_segment){.address = lad_key_at(mem, s->layer, lad_kv_head(mem, s->head), s->sequence, first),
                                .bytes = n * mem->row};
}

/* The counters of the next active positions; false: no more. */
static bool counter_segment(const struct lad_tile *t, const struct lad_sample *s, struct lad_positions *positions, bool write,
                            struct dse_segment *ret)
{
    const struct lad_memory *mem = &t->run->memory;
    uint32_t first, n;
    if (mem->counter == 0 || (n = lad_positions_run(positions, &first)) == 0) return false;
    *ret = (struct dse_segment){.address = lad_counters_at(mem, s, first), .bytes = n * mem->counter, .write = write};
    return true;
}

static void take_off(const struct lad_tile *t, void *object, bool (*next)(void *, uint32_t, struct dse_segment *), uint32_t kind,
                     uint32_t actor, enum lad_traffic traffic)
{
    const struct lad_memory *mem = &t->run->memory;
    lad_took_off(t->run);
    dse_dram_start(mem->port[t->id % mem->ports].dram_port,
                   &(struct dse_transfer){.next = next,
                                          .object = object,
                                          .arg = kind,
                                          .window_bytes = mem->window,
                                          .label = lad_traffic_labels[traffic],
                                          .access_bytes = kind == STREAM ? mem->stream : mem->gathered,
                                          .actor = actor,
                                          .actor_arg = kind});
}

/* ---- stage 1 ------------------------------------------------------------------------------------------------------------- */

enum { STORE_G, STORE_CACHES, STORE_COUNTERS, STORE_END };

/* The next of the head-sample that is written back; false: no more. A pause interrupts a tile that does nothing but write back. */
static bool store_stream(void *object, uint32_t arg, struct dse_segment *ret)
{
    (void)arg;
    struct lad_loader *l = object;
    const struct lad_tile *t = l->tile;
    const struct lad_memory *mem = &t->run->memory;
    const struct lad_sample *s = &l->stored;
    if (!l->loading && t->run->paused) return false;
    if (l->step == STORE_COUNTERS && !counter_segment(t, s, &l->counters, true, ret)) l->step = STORE_END;
    switch (l->step) {
    case STORE_G:
        *ret = (struct dse_segment){.address = lad_g_at(mem, s), .bytes = mem->g_bytes, .write = true};
        l->step = STORE_CACHES;
        break;
    case STORE_CACHES:
        *ret = (struct dse_segment){.address = lad_caches_at(mem, s), .bytes = mem->cache_bytes, .write = true};
        l->step = STORE_COUNTERS;
        break;
    case STORE_COUNTERS: break;
    default: return false;
    }
    lad_count(t->run, ret, LAD_OTHERS, s->counted, &t->run->account.stage1_bytes);
    return true;
}

/* G of the head-sample that is read; before it, with write_back = "before", what is written back. */
static bool load_stream(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct lad_loader *l = object;
    const struct lad_tile *t = l->tile;
    const struct lad_memory *mem = &t->run->memory;
    const struct lad_sample *s = &t->place[LAD_LOAD].sample;
    const bool writes_now = t->run->p->writes_before != 0 || !l->loading;
    if (writes_now && store_stream(object, arg, ret)) return true;
    if (!l->loading || l->asked) return false;
    *ret = (struct dse_segment){.address = lad_g_at(mem, s), .bytes = mem->g_bytes};
    l->asked = true;
    lad_count(t->run, ret, LAD_OTHERS, s->counted, &t->run->account.stage1_bytes);
    return true;
}

static bool load_rows(void *object, uint32_t arg, struct dse_segment *ret)
{
    (void)arg;
    struct lad_loader *l = object;
    const struct lad_tile *t = l->tile;
    const struct lad_sample *s = &t->place[LAD_LOAD].sample;
    uint32_t first, n = lad_positions_run(&l->centers, &first);
    if (n == 0) n = lad_positions_run(&l->large, &first);
    if (n == 0) return false;
    *ret = key_segment(t, s, first, n);
    lad_count(t->run, ret, LAD_CENTERS, s->counted, &t->run->account.stage1_bytes);
    return true;
}

/* A group's centers come with its first head, and with each head the keys of large modes that are not there yet. */
static void start_rows(struct lad_loader *l, const struct lad_sample *s)
{
    const struct lad_run *run = l->tile->run;
    l->centers = lad_center_positions(&run->draws, s);
    if (run->shared.group > 1 && !lad_leads(&run->shared, s)) l->centers.left = l->centers.older = l->centers.end = 0;
    l->large = lad_large_positions(&run->draws, s);
    l->large.shared = lad_shared_keys(&run->shared, s);
}

bool lad_load_idle(const struct lad_loader *l)
{
    return l->flying == 0;
}

void lad_load_start(struct lad_loader *l, bool loading)
{
    struct lad_tile *t = l->tile;
    const struct lad_draws *draws = &t->run->draws;
    const struct lad_sample *s = &t->place[LAD_LOAD].sample;
    assert(l->flying == 0);
    l->loading = loading;
    l->asked = false;
    l->since = dse_sim_now(t->run->sim);
    if (t->place[LAD_STORE].state == LAD_EMPTY) l->step = STORE_END;
    if (t->place[LAD_STORE].state == LAD_DONE) {
        l->step = STORE_G;
        l->stored = t->place[LAD_STORE].sample;
        l->counters = lad_active_positions(draws, &l->stored);
        t->place[LAD_STORE].state = LAD_BUSY;
    }
    bool rows = loading && s->centers + s->large > 0;
    if (loading) {
        t->place[LAD_LOAD].state = LAD_BUSY;
        start_rows(l, s);
    }
    int64_t id = lad_sample_id(t->run, loading ? s : &l->stored);
    dse_resource_state(t->run->sim, l->resource, DSE_BUSY, loading ? "load" : "store", id);
    l->flying = 1 + rows;
    take_off(t, l, load_stream, STREAM, l->actor, LAD_OTHERS);
    if (rows) take_off(t, l, load_rows, ROWS, l->actor, LAD_CENTERS);
}

static void load_landed(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)arg;
    struct lad_loader *l = object;
    struct lad_tile *t = l->tile;
    lad_landed(t->run);
    if (--l->flying > 0) return;
    if (l->loading && l->step < STORE_END) { /* what is read has come: write back */
        l->flying = 1;
        take_off(t, l, store_stream, STREAM, l->actor, LAD_OTHERS);
        return;
    }
    t->run->account.busy[LAD_LOAD] += dse_sim_now(sim) - l->since;
    dse_resource_state(sim, l->resource, DSE_IDLE, NULL, -1);
    if (t->place[LAD_STORE].state == LAD_BUSY && l->step == STORE_END) t->place[LAD_STORE].state = LAD_EMPTY;
    if (l->loading) t->place[LAD_LOAD].state = LAD_DONE;
    t->run->signals->stage_done(t->run->machine, t->id, l->loading ? LAD_LOAD : LAD_STORE);
}

/* ---- stage 4 ------------------------------------------------------------------------------------------------------------- */

static bool gather_stream(void *object, uint32_t arg, struct dse_segment *ret)
{
    (void)arg;
    struct lad_gatherer *g = object;
    const struct lad_tile *t = g->tile;
    const struct lad_memory *mem = &t->run->memory;
    const struct lad_sample *s = &t->place[LAD_GATHER].sample;
    g->stream = LAD_TO_STREAM;
    if (t->run->paused) return false;
    if (!g->caches)
        *ret = (struct dse_segment){.address = lad_caches_at(mem, s), .bytes = mem->cache_bytes};
    else if (!counter_segment(t, s, &g->counters, false, ret)) {
        g->stream = LAD_STREAMED;
        return false;
    }
    g->stream = LAD_STREAMING;
    g->caches = true;
    lad_count(t->run, ret, LAD_OTHERS, s->counted, &t->run->account.stage4_bytes);
    return true;
}

/* A position from the FIFO: one more than it; 0: none there, or none left of this head-sample. *ret_there: its rows need not be
 * read. */
static uint32_t take(struct lad_gatherer *g, bool *ret_there)
{
    const struct lad_tile *t = g->tile;
    uint64_t item;
    if (g->taken == t->place[LAD_GATHER].sample.active || !dse_fifo_get(t->active, &item)) return 0;
    g->taken++;
    const uint32_t position = (uint32_t)(item >> 1);
    const bool fetched = item & 1, shared = lad_found(g->shared, position - 1);
    if (!fetched) g->missed++;
    *ret_there = fetched || shared;
    return position;
}

/* Make the next run of adjacent positions that have to be read; false: none can be had now. */
static bool find_run(struct lad_gatherer *g)
{
    bool there = false;
    if (g->tile->run->paused) return false;
    uint32_t position = g->held;
    g->held = 0;
    while (!position) {
        position = take(g, &there);
        if (!position) return false;
        if (there) position = 0;
    }
    g->first = position - 1;
    g->n = 1;
    while ((position = take(g, &there)) != 0 && !there) {
        if (position - 1 != g->first + g->n) {
            g->held = position;
            break;
        }
        g->n++;
    }
    g->values = false;
    return true;
}

/* Nothing can be had now: say when to try again. */
static void wait_for_more(struct lad_gatherer *g)
{
    const struct lad_tile *t = g->tile;
    if (g->waiting || t->run->paused || g->taken == t->place[LAD_GATHER].sample.active) return;
    g->waiting = true;
    dse_fifo_when_item(t->active, g->actor, ITEM);
}

static bool gather_rows(void *object, uint32_t arg, struct dse_segment *ret)
{
    (void)arg;
    struct lad_gatherer *g = object;
    const struct lad_tile *t = g->tile;
    const struct lad_memory *mem = &t->run->memory;
    const struct lad_sample *s = &t->place[LAD_GATHER].sample;
    if (g->n == 0 && !find_run(g)) {
        g->open = false;
        wait_for_more(g);
        return false;
    }
    *ret = key_segment(t, s, g->first, g->n);
    if (g->values) {
        ret->address = lad_value_at(mem, s->layer, lad_kv_head(mem, s->head), s->sequence, g->first);
        g->n = 0;
    }
    g->values = !g->values;
    lad_count(t->run, ret, LAD_ACTIVE, s->counted, &t->run->account.stage4_bytes);
    return true;
}

static void take_off_gather(struct lad_gatherer *g, uint32_t kind)
{
    const struct lad_tile *t = g->tile;
    if (g->flying++ == 0) g->since = dse_sim_now(t->run->sim);
    if (kind == STREAM)
        take_off(t, g, gather_stream, kind, g->actor, LAD_OTHERS);
    else
        take_off(t, g, gather_rows, kind, g->actor, LAD_ACTIVE);
}

/* What is left of the stream, and a transfer of what is in the FIFO now, if anything of it has to be read. */
static void gather_more(struct lad_gatherer *g)
{
    if (!g->started || g->tile->run->paused) return;
    if (g->stream == LAD_TO_STREAM) {
        g->stream = LAD_STREAMING;
        take_off_gather(g, STREAM);
    }
    if (g->open) return;
    if (g->n > 0 || find_run(g)) {
        g->open = true;
        take_off_gather(g, ROWS);
    } else {
        wait_for_more(g);
    }
}

static void gather_check(struct lad_gatherer *g)
{
    struct lad_tile *t = g->tile;
    const struct lad_sample *s = &t->place[LAD_GATHER].sample;
    if (!g->started || g->flying > 0 || g->stream != LAD_STREAMED || g->taken < s->active || g->held || g->n > 0) return;
    g->started = false;
    dse_resource_state(t->run->sim, g->resource, DSE_IDLE, NULL, -1);
    t->place[LAD_GATHER].state = LAD_DONE;
    if (s->counted) {
        struct lad_account *a = &t->run->account;
        a->active += s->active;
        a->fetched += s->fetched;
        a->hits += s->active - g->missed;
        a->samples++;
    }
    t->run->signals->stage_done(t->run->machine, t->id, LAD_GATHER);
}

void lad_gather_start(struct lad_gatherer *g)
{
    struct lad_tile *t = g->tile;
    const struct lad_sample *s = &t->place[LAD_GATHER].sample;
    assert(!g->started && g->flying == 0 && !g->waiting);
    t->place[LAD_GATHER].state = LAD_BUSY;
    g->started = true;
    g->stream = LAD_TO_STREAM;
    g->caches = false;
    g->counters = lad_active_positions(&t->run->draws, s);
    g->shared = lad_shared_rows(&t->run->shared, s->layer, s->head, s->sequence);
    g->taken = g->missed = g->n = g->held = 0;
    dse_resource_state(t->run->sim, g->resource, DSE_BUSY, "gather", lad_sample_id(t->run, s));
    gather_more(g);
}

void lad_gather_resume(struct lad_gatherer *g)
{
    gather_more(g);
    gather_check(g);
}

static void gather_event(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct lad_gatherer *g = object;
    struct lad_run *run = g->tile->run;
    if (arg == ITEM) {
        g->waiting = false;
    } else {
        lad_landed(run);
        if (--g->flying == 0) run->account.busy[LAD_GATHER] += dse_sim_now(sim) - g->since;
    }
    gather_more(g);
    gather_check(g);
}

void lad_dma_init(struct lad_loader *l, struct lad_gatherer *g, struct lad_tile *t)
{
    struct dse_sim *sim = t->run->sim;
    l->tile = g->tile = t;
    l->actor = dse_sim_actor(sim, load_landed, l);
    g->actor = dse_sim_actor(sim, gather_event, g);
    dse_sim_actor_name(sim, l->actor, lad_place_names[LAD_LOAD]);
    dse_sim_actor_name(sim, g->actor, lad_place_names[LAD_GATHER]);
    l->resource = dse_resource(sim, t->group, lad_place_names[LAD_LOAD]);
    g->resource = dse_resource(sim, t->group, lad_place_names[LAD_GATHER]);
}
