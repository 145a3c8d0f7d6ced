/* First ready, first come: the bursts that wait. See dram_first_ready.h. */
#include "sim/dram_first_ready.h"

/* ---- lists --------------------------------------------------------------------------------------------------------------- */

static void set_mask(uint64_t *mask, int bank, bool on)
{
    uint64_t bit = (uint64_t)1 << bank;
    *mask = on ? *mask | bit : *mask & ~bit;
}

/* The bank has no hit any more, or has one now: keep the channel's banks in order. */
static void drop_hit(struct first_ready *f, int i, int dir)
{
    struct channel *c = &f->channel[f->bank[i].channel];
    int at = 0;
    while (c->hits[dir][at].bank != i) at++;
    c->n_hits[dir]--;
    for (; at < c->n_hits[dir]; at++) c->hits[dir][at] = c->hits[dir][at + 1];
    f->bank[i].hit[dir] = NONE;
}

static void add_hit(struct first_ready *f, int i, int dir, uint16_t e)
{
    struct bank *b = &f->bank[i];
    struct channel *c = &f->channel[b->channel];
    const uint64_t order = f->entry[e].order;
    int at = c->n_hits[dir]++;
    for (; at > 0 && c->hits[dir][at - 1].order > order; at--) c->hits[dir][at] = c->hits[dir][at - 1];
    c->hits[dir][at] = (struct hit){b->ok[dir], order, (uint8_t)i, b->group};
    b->hit[dir] = e;
}

void first_ready_look_over(struct first_ready *f, int i, int dir)
{
    struct bank *b = &f->bank[i];
    uint16_t hit = NONE, miss = NONE;
    if (f->open >> i & 1)
        for (uint16_t e = b->head[dir]; e != NONE && (hit == NONE || miss == NONE); e = f->entry[e].next) {
            uint16_t *found = f->entry[e].row == b->row ? &hit : &miss;
            if (*found == NONE) *found = e;
        }
    if (hit != b->hit[dir]) {
        if (b->hit[dir] != NONE) drop_hit(f, i, dir);
        if (hit != NONE) add_hit(f, i, dir, hit);
    }
    b->miss[dir] = miss;
    set_mask(&f->miss[dir], i, miss != NONE);
    set_mask(&f->has[dir], i, b->head[dir] != NONE);
}

static void remove_entry(struct first_ready *f, int i, int dir, uint16_t e)
{
    struct bank *b = &f->bank[i];
    uint16_t before = NONE;
    for (uint16_t at = b->head[dir]; at != e; at = f->entry[at].next) before = at;
    if (before == NONE)
        b->head[dir] = f->entry[e].next;
    else
        f->entry[before].next = f->entry[e].next;
    if (b->tail[dir] == e) b->tail[dir] = before;
    if (f->last[dir] == e) f->last[dir] = NONE;
    f->entry[e].next = f->free;
    f->free = e;
    first_ready_look_over(f, i, dir);
}

void first_ready_take_first(struct first_ready *f, int i, int dir, uint16_t e)
{
    struct entry *x = &f->entry[e];
    x->first++;
    x->column++;
    x->counted = false;
    f->count[dir]--;
    if (--x->n == 0) remove_entry(f, i, dir, e);
}

/* A new entry at the end of a bank's list. */
static uint16_t add_entry(struct first_ready *f, int i, int dir, const struct dram_run *run, unsigned column)
{
    struct bank *b = &f->bank[i];
    const uint16_t e = f->free;
    struct entry *x = &f->entry[e];
    f->free = x->next;
    x->order = f->order++;
    x->arrival = run->arrival;
    x->row = run->row;
    x->owner = run->owner;
    x->column = (uint16_t)column;
    x->next = NONE;
    x->first = x->n = x->untold = 0;
    x->counted = false;
    if (b->tail[dir] == NONE)
        b->head[dir] = e;
    else
        f->entry[b->tail[dir]].next = e;
    b->tail[dir] = f->last[dir] = e;
    set_mask(&f->has[dir], i, true);
    if (!(f->open >> i & 1)) {
        expect_row(f, activate_ready(f, b));
    } else if (b->row != run->row) {
        if (b->miss[dir] != NONE) return e;
        b->miss[dir] = e;
        set_mask(&f->miss[dir], i, true);
        expect_row(f, b->pre_ok);
    } else if (b->hit[dir] == NONE) {
        add_hit(f, i, dir, e);
    }
    return e;
}

/* Append k bursts of a run, from its skip-th on, to its bank's list. */
static inline void append(struct first_ready *f, const struct dram_run *run, int skip, int k, int64_t t)
{
    int i = run->bank, dir = run->write;
    unsigned column = run->column + (unsigned)skip;
    f->count[dir] += k;
    while (k > 0) {
        uint16_t e = f->last[dir];
        struct entry *x = &f->entry[e != NONE ? e : 0];
        bool more = e != NONE && e == f->bank[i].tail[dir] && x->row == run->row && (unsigned)(x->column + x->n) == column &&
                    x->owner == run->owner && x->arrival == run->arrival && x->first + x->n < DRAM_RUN_MAX;
        if (!more) x = &f->entry[add_entry(f, i, dir, run, column)];
        int at = x->first + x->n, fits = DRAM_RUN_MAX - at;
        if (fits > k) fits = k;
        for (int j = 0; j < fits; j++) x->accepted[at + j] = (uint32_t)t;
        x->n = (uint8_t)(x->n + fits);
        column += (unsigned)fits;
        k -= fits;
    }
}

/* ---- taking in ----------------------------------------------------------------------------------------------------------- */

/* Does an entry of the list hold one of n bursts of a row? */
static bool is_queued(const struct first_ready *f, uint16_t e, uint32_t row, unsigned column, unsigned n)
{
    for (; e != NONE; e = f->entry[e].next) {
        const struct entry *x = &f->entry[e];
        if (x->row == row && x->column < column + n && column < (unsigned)(x->column + x->n)) return true;
    }
    return false;
}

/* A read of what a queued write holds comes back in the next clock, behind what is on its way. */
static void forward(struct first_ready *f, const struct dram_run *run, unsigned column, int64_t t)
{
    struct dram_bus *bus = &f->bus;
    f->last_return = later(f->last_return, t + 1);
    bus->tally.forwarded++;
    if (bus->latency) dram_latency_add(bus->latency, f->last_return - t, 1);
    if (bus->total) dram_latency_add(bus->total, f->last_return - run->arrival, 1);
    dram_bus_fly(bus, f->last_return, run->bank, run->row, column);
    bus->last_done = later(bus->last_done, f->last_return);
    dram_bus_finish(bus, f->last_return, run->owner, 1);
}

static int accept_reads(struct first_ready *f, const struct dram_run *run, int64_t t)
{
    int taken = 0, n = run->n;
    uint16_t writes = f->bank[run->bank].head[WRITE];
    bool forwards = writes != NONE && is_queued(f, writes, run->row, run->column, run->n);
    while (taken < n) {
        unsigned column = run->column + (unsigned)taken;
        if (forwards && is_queued(f, writes, run->row, column, 1)) {
            forward(f, run, column, t);
            taken++;
            continue;
        }
        int k = f->room[READ] - f->count[READ];
        if (k <= 0) break;
        if (k > n - taken) k = n - taken;
        if (forwards) k = 1;
        append(f, run, taken, k, t);
        taken += k;
    }
    return taken;
}

/* A read of these bursts that has not returned: then a write waits. */
static bool is_read(struct first_ready *f, const struct dram_run *run, unsigned column, unsigned n, int64_t t)
{
    const struct bank *b = &f->bank[run->bank];
    if (is_queued(f, b->head[READ], run->row, column, n)) return true;
    bool opens = f->opening >> run->bank & 1 && !b->opener.write;
    if (opens && b->row == run->row && b->opener.column - column < n) return true;
    int64_t back = dram_bus_in_flight(&f->bus, t, run->bank, run->row, column, n);
    if (back) f->bus.retry = back;
    return back != 0;
}

static int accept_writes(struct first_ready *f, const struct dram_run *run, int64_t t)
{
    int taken = 0, n = run->n;
    uint16_t writes = f->bank[run->bank].head[WRITE];
    bool waits = is_read(f, run, run->column, run->n, t);
    bool coalesces = is_queued(f, writes, run->row, run->column, run->n);
    if (waits) f->bus.retry = DRAM_NEVER;
    while (taken < n) {
        unsigned column = run->column + (unsigned)taken;
        if (waits && is_read(f, run, column, 1, t)) break;
        if (coalesces && is_queued(f, f->bank[run->bank].head[WRITE], run->row, column, 1)) {
            f->bus.tally.coalesced++;
            f->bus.last_done = later(f->bus.last_done, t);
            dram_bus_finish(&f->bus, t, run->owner, 1);
            taken++;
            continue;
        }
        int k = f->room[WRITE] - f->count[WRITE];
        if (k <= 0) break;
        if (k > n - taken) k = n - taken;
        if (waits || coalesces) k = 1;
        append(f, run, taken, k, t);
        taken += k;
    }
    return taken;
}

int first_ready_accept(struct dram_bus *bus, const struct dram_run *run, int64_t t)
{
    struct first_ready *f = (struct first_ready *)bus;
    int n = run->write ? accept_writes(f, run, t) : accept_reads(f, run, t);
    if (n && bus->next > t + 1) bus->next = t + 1;
    return n;
}
