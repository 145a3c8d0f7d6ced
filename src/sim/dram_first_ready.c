/* First ready, first come: one queue of reads and one of writes for all channels of a bus, as the HBM controller of
 * Ramulator 2.1 has them (src/ramulator/controller: controller_base.cpp, impl/hbm_controller_base.cpp,
 * scheduler/impl/frfcfs_rowhit.cpp).
 *
 * Every clock one column command and one row command may go (one of both on one_command_bus):
 *   column  the oldest burst whose row was opened for it; else the oldest ready burst that finds its row open
 *   row     the oldest burst whose activate or precharge is ready. A row is not closed while the burst that it was
 *           opened for waits, nor, under row-hits, while
 *           bursts for it wait that came no later than the one that wants it closed.
 * An activate takes its burst out of the queue. Only one direction is served: writes from above 80 % of their queue, or
 * when there are no reads, down to below 20 %. A refresh that is due stops both, closes all banks of its channel and goes;
 * channels take turns.
 *
 * Bursts wait as entries, side by side in a row, in a list for each bank and direction; the order of entries is that of the bursts.
 */
#include "sim/dram_first_ready.h"

#include <stdlib.h>

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

/* A column command goes: when is its burst done? */
static inline int64_t retire(struct first_ready *f, bool write, uint32_t accepted, int64_t arrival, int bank, uint32_t row,
                             unsigned column, int64_t t)
{
    struct dram_bus *bus = &f->bus;
    const struct dram_spec *s = bus->spec;
    dram_bus_log(bus, t, write ? DRAM_WR : DRAM_RD, f->bank[bank].channel, (unsigned)bank, row, column);
    if (write) {
        bus->tally.writes++;
        bus->last_done = later(bus->last_done, t + bus->write_lag);
        return t + bus->write_lag;
    }
    bus->tally.reads++;
    int64_t done = f->last_return = later(f->last_return, t + s->cl + s->burst);
    bus->last_done = later(bus->last_done, done);
    if (bus->latency) dram_latency_add(bus->latency, (uint32_t)done - accepted, 1);
    if (bus->total) dram_latency_add(bus->total, done - arrival, 1);
    dram_bus_fly(bus, done, (uint8_t)bank, row, column);
    return done;
}

/* What a column command makes others wait. (It was ready itself: nothing of its own direction waits for longer yet.) */
static inline void hold_after_column(struct first_ready *f, struct bank *b, bool write, int64_t t)
{
    const struct dram_spec *s = f->bus.spec;
    struct channel *c = &f->channel[b->channel];
    struct group *g = &f->group[b->group];
    int64_t pre = t + (write ? s->wr_pre : s->rd_pre);
    c->ok[write] = t + s->burst;
    g->ok[write] = t + s->ccd_l;
    if (write) {
        c->ok[READ] = later(c->ok[READ], t + s->wr_rd_s);
        g->ok[READ] = later(g->ok[READ], t + s->wr_rd_l);
    } else {
        c->ok[WRITE] = later(c->ok[WRITE], t + s->rd_wr);
    }
    g->columns++;
    b->pre_ok = later(b->pre_ok, pre);
    c->pre_all_ok = later(c->pre_all_ok, pre);
    if (s->one_command_bus) f->bus_ok = t + 1;
}

static void issue_opener(struct first_ready *f, int i, int64_t t)
{
    struct bank *b = &f->bank[i];
    const struct opener *o = &b->opener;
    f->opening &= ~((uint64_t)1 << i);
    hold_after_column(f, b, o->write, t);
    int64_t done = retire(f, o->write, o->accepted, o->arrival, i, b->row, o->column, t);
    dram_bus_finish(&f->bus, done, o->owner, 1U + o->untold);
    expect_row(f, b->pre_ok);
}

static void issue_hit(struct first_ready *f, int i, int dir, int64_t t)
{
    struct bank *b = &f->bank[i];
    uint16_t e = b->hit[dir];
    struct entry *x = &f->entry[e];
    if (!x->counted) f->bus.tally.hits++;
    hold_after_column(f, b, dir == WRITE, t);
    int64_t done = retire(f, dir == WRITE, x->accepted[x->first], x->arrival, i, x->row, x->column, t);
    x->untold++;
    if (x->n == 1 || ((x->column + 1U) & (f->bus.piece - 1)) == 0) {
        dram_bus_finish(&f->bus, done, x->owner, x->untold);
        x->untold = 0;
    }
    first_ready_take_first(f, i, dir, e);
    if (f->miss[dir] >> i & 1) expect_row(f, b->pre_ok); /* what held the row may be gone */
}

static void issue_activate(struct first_ready *f, int i, int dir, int64_t t)
{
    const struct dram_spec *s = f->bus.spec;
    struct bank *b = &f->bank[i];
    struct channel *c = &f->channel[b->channel];
    struct group *g = &f->group[b->group];
    uint16_t e = b->head[dir];
    struct entry *x = &f->entry[e];
    if (!x->counted) f->bus.tally.misses++;
    f->bus.tally.activates++;
    b->activates++;
    dram_bus_log(&f->bus, t, DRAM_ACT, b->channel, (unsigned)i, x->row, 0);
    b->row = x->row;
    b->ok[READ] = t + s->act_rd;
    b->ok[WRITE] = t + s->act_wr;
    b->pre_ok = later(b->pre_ok, t + s->act_pre);
    c->pre_all_ok = later(c->pre_all_ok, t + s->act_pre);
    c->ref_ok = later(c->ref_ok, t + s->act_ref);
    c->act_ok = later(c->act_ok, t + s->rrd_s);
    g->act_ok = later(g->act_ok, t + s->rrd_l);
    c->act[c->act_at] = t;
    c->act_at = (c->act_at + 1) & 3;
    c->act_ok = later(c->act_ok, c->act[c->act_at] + s->faw);
    f->bus_ok = t + s->act_clocks;
    if (c->open++ == 0) c->open_since = t;
    f->open |= (uint64_t)1 << i;
    f->opening |= (uint64_t)1 << i;
    b->opener = (struct opener){.arrival = x->arrival,
                                .order = f->acts++,
                                .accepted = x->accepted[x->first],
                                .owner = x->owner,
                                .column = x->column,
                                .untold = x->n == 1 ? x->untold : 0,
                                .write = dir == WRITE};
    if (b->ok[dir] < f->opener_next) f->opener_next = b->ok[dir];
    first_ready_take_first(f, i, dir, e);
    first_ready_look_over(f, i, READ);
    first_ready_look_over(f, i, WRITE);
}

static void close_bank(struct first_ready *f, int i, int64_t t)
{
    struct channel *c = &f->channel[f->bank[i].channel];
    f->open &= ~((uint64_t)1 << i);
    if (--c->open == 0) f->bus.tally.active_clocks += t - c->open_since;
    first_ready_look_over(f, i, READ);
    first_ready_look_over(f, i, WRITE);
}

static void issue_precharge(struct first_ready *f, int i, int dir, int64_t t)
{
    const struct dram_spec *s = f->bus.spec;
    struct bank *b = &f->bank[i];
    struct channel *c = &f->channel[b->channel];
    struct entry *x = &f->entry[b->miss[dir]];
    if (!x->counted) f->bus.tally.misses++;
    x->counted = true;
    f->bus.tally.precharges++;
    dram_bus_log(&f->bus, t, DRAM_PRE, b->channel, (unsigned)i, b->row, 0);
    b->act_ok = later(b->act_ok, t + s->pre_act);
    c->ref_ok = later(c->ref_ok, t + s->pre_ref);
    f->bus_ok = t + 1;
    close_bank(f, i, t);
}

/* ---- refresh ------------------------------------------------------------------------------------------------------------- */

/* Clock from which the refresh that is due can go a step on; DRAM_NEVER while an opener waits. */
static int64_t refresh_ready(const struct first_ready *f)
{
    const struct channel *c = &f->channel[f->refresh_channel];
    if (f->opening & c->banks) return DRAM_NEVER;
    return later(f->bus_ok, c->open ? c->pre_all_ok : c->ref_ok);
}

static void refresh_step(struct first_ready *f, int64_t t)
{
    const struct dram_spec *s = f->bus.spec;
    struct channel *c = &f->channel[f->refresh_channel];
    unsigned first = (unsigned)__builtin_ctzll(c->banks);
    f->bus_ok = t + 1;
    if (c->open) {
        f->bus.tally.precharges++;
        dram_bus_log(&f->bus, t, DRAM_PRE_ALL, f->refresh_channel, first, 0, 0);
        c->act_ok = later(c->act_ok, t + s->pre_act);
        c->ref_ok = later(c->ref_ok, t + s->pre_ref);
        for (uint64_t open = f->open & c->banks; open; open &= open - 1) close_bank(f, __builtin_ctzll(open), t);
        return;
    }
    f->bus.tally.refreshes++;
    dram_bus_log(&f->bus, t, DRAM_REF, f->refresh_channel, first, 0, 0);
    c->act_ok = later(c->act_ok, t + s->ref_act);
    f->refreshes_due--;
    f->refresh_channel = (f->refresh_channel + 1) % s->channels;
    f->row_next = 0;
}

/* ---- choosing ------------------------------------------------------------------------------------------------------------ */

static inline void set_direction(struct first_ready *f)
{
    const struct dram_spec *s = f->bus.spec;
    bool was = f->writing;
    if (!f->writing)
        f->writing = f->count[WRITE] > s->write_high || f->count[READ] == 0;
    else
        f->writing = !(f->count[WRITE] < s->write_low && f->count[READ] != 0);
    if (was != f->writing) f->row_next = 0;
}

static inline int64_t column_ready(const struct first_ready *f, const struct bank *b, int dir)
{
    return later(b->ok[dir], later(f->group[b->group].ok[dir], f->channel[b->channel].ok[dir]));
}

/* The opener to serve in clock t: the one accepted first, then the one activated first; or -1. */
static int pick_opener(struct first_ready *f, int64_t t)
{
    if (t < f->opener_next) return -1;
    int64_t soon = DRAM_NEVER;
    int best = -1;
    for (uint64_t m = f->opening; m; m &= m - 1) {
        int i = __builtin_ctzll(m);
        const struct bank *b = &f->bank[i];
        const int64_t ready = column_ready(f, b, b->opener.write);
        if (ready > t) {
            if (ready < soon) soon = ready;
            continue;
        }
        if (best < 0) {
            best = i;
            continue;
        }
        const struct opener *o = &b->opener, *p = &f->bank[best].opener;
        if (o->accepted == p->accepted ? o->order < p->order : no_later(o->accepted, p->accepted)) best = i;
    }
    f->opener_next = best < 0 ? soon : t + 1;
    return best;
}

/* The bank whose hit to serve in clock t: the oldest that is ready; or -1. */
static int pick_hit(const struct first_ready *f, int dir, int64_t t)
{
    int best = -1;
    uint64_t order = UINT64_MAX;
    for (const struct channel *c = f->channel, *end = c + f->bus.spec->channels; c < end; c++) {
        if (c->ok[dir] > t) continue;
        for (const struct hit *h = c->hits[dir], *last = h + c->n_hits[dir]; h < last && h->order < order; h++) {
            if (h->ok > t || f->group[h->group].ok[dir] > t) continue;
            order = h->order;
            best = h->bank;
            break;
        }
    }
    return best;
}

/* The first clock in which a column command is ready. */
static int64_t next_column(const struct first_ready *f)
{
    int64_t soon = DRAM_NEVER;
    if (f->opening) soon = f->opener_next;
    const int dir = f->writing;
    for (const struct channel *c = f->channel, *end = c + (f->refreshes_due ? 0 : f->bus.spec->channels); c < end; c++)
        for (const struct hit *h = c->hits[dir], *last = h + c->n_hits[dir]; h < last; h++) {
            const int64_t ready = later(h->ok, later(f->group[h->group].ok[dir], c->ok[dir]));
            if (ready < soon) soon = ready;
        }
    return f->bus.spec->one_command_bus ? later(soon, f->bus_ok) : soon;
}

/* Must the row of a bank stay open although another is wanted? */
static inline bool is_held(const struct first_ready *f, const struct bank *b, int dir)
{
    if (b->hit[dir] == NONE || f->bus.spec->controller != DSE_DRAM_ROW_HITS) return false;
    const struct entry *hit = &f->entry[b->hit[dir]], *miss = &f->entry[b->miss[dir]];
    return no_later(hit->accepted[hit->first], miss->accepted[miss->first]);
}

/* The bank to activate or precharge in clock t, or -1. *soon as before. */
static int pick_row(const struct first_ready *f, int dir, int64_t t, int64_t *soon)
{
    int best = -1;
    uint64_t order = UINT64_MAX;
    for (uint64_t m = f->has[dir] & ~f->open; m; m &= m - 1) {
        int i = __builtin_ctzll(m);
        const struct bank *b = &f->bank[i];
        int64_t ready = activate_ready(f, b);
        if (ready > t) {
            if (ready < *soon) *soon = ready;
        } else if (f->entry[b->head[dir]].order < order) {
            order = f->entry[b->head[dir]].order;
            best = i;
        }
    }
    for (uint64_t m = f->miss[dir] & ~f->opening; m; m &= m - 1) {
        int i = __builtin_ctzll(m);
        const struct bank *b = &f->bank[i];
        if (is_held(f, b, dir)) continue;
        if (b->pre_ok > t) {
            if (b->pre_ok < *soon) *soon = b->pre_ok;
        } else if (f->entry[b->miss[dir]].order < order) {
            order = f->entry[b->miss[dir]].order;
            best = i;
        }
    }
    return best;
}

static bool column_slot(struct first_ready *f, int64_t t)
{
    if (f->bus.spec->one_command_bus && f->bus_ok > t) return false;
    int i = f->opening ? pick_opener(f, t) : -1;
    if (i >= 0) {
        issue_opener(f, i, t);
        return true;
    }
    if (f->refreshes_due) return false;
    set_direction(f);
    i = pick_hit(f, f->writing, t);
    if (i >= 0) issue_hit(f, i, f->writing, t);
    return i >= 0;
}

static bool row_slot(struct first_ready *f, int64_t t, int64_t *soon)
{
    if (f->refreshes_due) {
        int64_t ready = refresh_ready(f);
        if (ready <= t) refresh_step(f, t);
        if (ready > t && ready < *soon) *soon = ready;
        return ready <= t;
    }
    set_direction(f);
    int dir = f->writing;
    int64_t from = later(f->row_next, f->bus_ok);
    if (from > t) {
        if (from < *soon) *soon = from;
        return false;
    }
    int64_t next = DRAM_NEVER;
    int i = pick_row(f, dir, t, &next);
    if (i < 0) {
        f->row_next = next;
        if (next < *soon) *soon = next;
        return false;
    }
    if (f->open >> i & 1)
        issue_precharge(f, i, dir, t);
    else
        issue_activate(f, i, dir, t);
    f->row_next = 0;
    return true;
}

static void tick(struct dram_bus *bus, int64_t t)
{
    struct first_ready *f = (struct first_ready *)bus;
    int64_t soon = DRAM_NEVER;
    if (t >= f->refresh_at) {
        f->refresh_at += bus->spec->refi;
        f->refreshes_due += (uint64_t)bus->spec->channels;
    }
    bool issued = column_slot(f, t);
    issued = row_slot(f, t, &soon) || issued;
    if (issued) {
        soon = t + 1;
    } else {
        int64_t column = next_column(f);
        if (column < soon) soon = column;
    }
    bus->next = soon < f->refresh_at ? soon : f->refresh_at;
}

static bool is_idle(const struct dram_bus *bus)
{
    const struct first_ready *f = (const struct first_ready *)bus;
    return f->count[READ] == 0 && f->count[WRITE] == 0 && f->opening == 0;
}

static int64_t open_clocks(const struct dram_bus *bus, int64_t t)
{
    const struct first_ready *f = (const struct first_ready *)bus;
    int64_t sum = 0;
    for (int c = 0; c < bus->spec->channels; c++)
        if (f->channel[c].open && t > f->channel[c].open_since) sum += t - f->channel[c].open_since;
    return sum;
}

static void find_busiest(const struct dram_bus *bus, struct dram_tally *t)
{
    const struct first_ready *f = (const struct first_ready *)bus;
    for (int i = 0; i < bus->spec->channels * bus->spec->banks; i++) {
        if (f->bank[i].activates > t->bank_activates) t->bank_activates = f->bank[i].activates;
        if (f->group[f->bank[i].group].columns > t->group_columns) t->group_columns = f->group[f->bank[i].group].columns;
    }
}

static void init(struct dram_bus *bus)
{
    struct first_ready *f = (struct first_ready *)bus;
    const struct dram_spec *s = bus->spec;
    int entries = s->reads + s->writes;
    f->entry = dram_bus_alloc(bus, (size_t)entries, sizeof *f->entry);
    for (int e = 0; e < entries; e++) f->entry[e].next = e + 1 < entries ? (uint16_t)(e + 1) : (uint16_t)NONE;
    f->last[READ] = f->last[WRITE] = NONE;
    f->room[READ] = s->reads;
    f->room[WRITE] = s->writes;
    f->refresh_at = s->refi ? s->refi - 1 : DRAM_NEVER; /* Ramulator counts its clocks from 1 */
    for (int i = 0; i < s->channels * s->banks; i++) {
        struct bank *b = &f->bank[i];
        b->channel = (uint8_t)(i / s->banks);
        b->group = (uint8_t)(i / s->group_banks);
        for (int dir = READ; dir <= WRITE; dir++) b->head[dir] = b->tail[dir] = b->hit[dir] = b->miss[dir] = NONE;
        f->channel[b->channel].banks |= (uint64_t)1 << i;
    }
    for (int c = 0; c < s->channels; c++) {
        for (int k = 0; k < 4; k++) f->channel[c].act[k] = INT32_MIN;
        for (int dir = READ; dir <= WRITE; dir++)
            f->channel[c].hits[dir] = dram_bus_alloc(bus, (size_t)s->banks, sizeof *f->channel[c].hits[dir]);
    }
}

static void release(struct dram_bus *bus)
{
    struct first_ready *f = (struct first_ready *)bus;
    for (int c = 0; c < bus->spec->channels; c++)
        for (int dir = READ; dir <= WRITE; dir++) free(f->channel[c].hits[dir]);
    free(f->entry);
}

const struct dram_controller dram_first_ready = {.size = sizeof(struct first_ready),
                                                 .init = init,
                                                 .release = release,
                                                 .tick = tick,
                                                 .accept = first_ready_accept,
                                                 .is_idle = is_idle,
                                                 .open_clocks = open_clocks,
                                                 .find_busiest = find_busiest};
