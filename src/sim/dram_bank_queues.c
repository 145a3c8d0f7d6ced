/* Queues of transactions in front of a command queue a bank, as DRAMsim3 has them (src/controller.cc, command_queue.cc,
 * channel_state.cc, timing.cc).
 *
 * Reads and writes wait in a queue each; every clock one of them moves on to the queue of its bank if that has room, the oldest
 * that can. Reads move until the write queue is full, or holds more than 8 while the banks' queues are empty; then as many writes
 * as it holds. Reads of what a queued write holds, and equal reads, never reach the DRAM; writes are acknowledged at once.
 *
 * The banks are asked in turn, from the one behind the last that had a command: in its queue the first that is ready goes. The
 * first of a queue may close the row when no other wants it, or after 4 commands to it. One command a clock, or one of rows and
 * one of columns. A refresh that is due stops everything, closes the banks one by one and goes. */
#include "sim/dram_bank_queues.h"

#include <stdlib.h>

static inline void sooner(int64_t ready, int64_t *soon)
{
    if (ready < *soon) *soon = ready;
}

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

static void issue_column(struct bank_queues *q, int bank, uint32_t i, int64_t t)
{
    struct dram_bus *bus = &q->bus;
    const struct dram_spec *s = bus->spec;
    struct bank *b = &q->bank[bank];
    struct group *g = &q->group[b->group];
    struct item *x = &q->item[i];
    dram_bus_log(bus, t, x->write ? DRAM_WR : DRAM_RD, 0, (unsigned)bank, x->row, x->column);
    *(b->hits ? &bus->tally.hits : &bus->tally.misses) += 1;
    b->hits++;
    g->columns++;
    if (x->write) {
        bus->tally.writes++;
        q->ok[WRITE] = later(q->ok[WRITE], t + s->burst);
        q->ok[READ] = later(q->ok[READ], t + s->wr_rd_s);
        g->ok[WRITE] = later(g->ok[WRITE], t + s->ccd_l);
        g->ok[READ] = later(g->ok[READ], t + s->wr_rd_l);
        b->pre_ok = later(b->pre_ok, t + s->wr_pre);
    } else {
        bus->tally.reads++;
        q->ok[READ] = later(q->ok[READ], t + s->burst);
        q->ok[WRITE] = later(q->ok[WRITE], t + s->rd_wr);
        g->ok[READ] = later(g->ok[READ], t + s->ccd_l);
        b->pre_ok = later(b->pre_ok, t + s->rd_pre);
        int64_t done = t + s->cl + s->burst;
        dram_bus_fly(bus, done, (uint8_t)bank, x->row, x->column);
        bank_queues_return(q, i, done);
    }
    bank_queues_remove(q, bank, i);
}

static void issue_activate(struct bank_queues *q, int bank, int64_t t)
{
    const struct dram_spec *s = q->bus.spec;
    struct bank *b = &q->bank[bank];
    b->row = q->item[b->queue.head].row;
    b->hits = 0;
    q->bus.tally.activates++;
    b->activates++;
    dram_bus_log(&q->bus, t, DRAM_ACT, 0, (unsigned)bank, b->row, 0);
    b->ok[READ] = t + s->act_rd;
    b->ok[WRITE] = t + s->act_wr;
    b->pre_ok = later(b->pre_ok, t + s->act_pre);
    q->act_ok = later(q->act_ok, t + s->rrd_s);
    q->group[b->group].act_ok = later(q->group[b->group].act_ok, t + s->rrd_l);
    q->act[q->act_at] = t;
    q->act_at = (q->act_at + 1) & 3;
    q->act_ok = later(q->act_ok, q->act[q->act_at] + s->faw);
    if (s->act_clocks > 1) q->bus_ok = t + s->act_clocks; /* one row command a clock goes anyway */
    if (q->open_banks++ == 0) q->open_since = t;
    q->open |= (uint64_t)1 << bank;
    bank_queues_look_over(q, bank);
}

static void issue_precharge(struct bank_queues *q, int bank, int64_t t)
{
    const struct dram_spec *s = q->bus.spec;
    struct bank *b = &q->bank[bank];
    q->bus.tally.precharges++;
    dram_bus_log(&q->bus, t, DRAM_PRE, 0, (unsigned)bank, b->row, 0);
    b->act_ok = later(b->act_ok, t + s->pre_act);
    b->ref_ok = later(b->ref_ok, t + s->pre_ref);
    q->open &= ~((uint64_t)1 << bank);
    if (--q->open_banks == 0) q->bus.tally.active_clocks += t - q->open_since;
    bank_queues_look_over(q, bank);
}

/* ---- refresh ------------------------------------------------------------------------------------------------------------- */

/* A step of the refresh that is due, if one is ready in clock t. */
static bool refresh_step(struct bank_queues *q, int64_t t, int64_t *soon)
{
    const struct dram_spec *s = q->bus.spec;
    if (q->bus_ok > t) {
        sooner(q->bus_ok, soon);
        return false;
    }
    int64_t all_ok = q->open ? DRAM_NEVER : 0;
    for (int i = 0; i < s->banks; i++) {
        struct bank *b = &q->bank[i];
        if (!(q->open >> i & 1)) {
            if (all_ok < b->ref_ok) all_ok = b->ref_ok;
            continue;
        }
        if (b->pre_ok <= t) {
            issue_precharge(q, i, t);
            return true;
        }
        sooner(b->pre_ok, soon);
    }
    if (all_ok > t) {
        sooner(all_ok, soon);
        return false;
    }
    q->bus.tally.refreshes++;
    dram_bus_log(&q->bus, t, DRAM_REF, 0, 0, 0, 0);
    for (int i = 0; i < s->banks; i++) {
        struct bank *b = &q->bank[i];
        b->act_ok = later(b->act_ok, t + s->ref_act);
        b->ref_ok = later(b->ref_ok, t + s->ref_act);
    }
    q->refreshes_due--;
    return true;
}

/* ---- choosing ------------------------------------------------------------------------------------------------------------ */

enum choice { NOTHING, ROW, COLUMN };
struct chosen {
    enum choice what;
    int bank;
    uint32_t item; /* COLUMN */
};

/* What a bank has ready in clock t. *soon: when it has something, if not. */
static struct chosen ask_bank(const struct bank_queues *q, int i, int64_t t, int64_t *soon)
{
    const struct bank *b = &q->bank[i];
    const struct group *g = &q->group[b->group];
    if (!(q->open >> i & 1)) {
        int64_t ready = later(later(b->act_ok, q->bus_ok), later(g->act_ok, q->act_ok));
        if (ready <= t) return (struct chosen){ROW, i, NONE};
        sooner(ready, soon);
        return (struct chosen){0};
    }
    bool hits = b->first_hit[READ] != NONE || b->first_hit[WRITE] != NONE;
    if (q->item[b->queue.head].row != b->row && (!hits || b->hits >= HITS_ENOUGH)) {
        int64_t ready = later(b->pre_ok, q->bus_ok);
        if (ready <= t) return (struct chosen){ROW, i, NONE};
        sooner(ready, soon);
    }
    struct chosen c = {0};
    for (int dir = READ; dir <= WRITE; dir++) {
        uint32_t hit = b->first_hit[dir];
        if (hit == NONE) continue;
        int64_t ready = later(b->ok[dir], later(g->ok[dir], q->ok[dir]));
        if (q->bus.spec->one_command_bus) ready = later(ready, q->bus_ok);
        if (ready > t)
            sooner(ready, soon);
        else if (c.what == NOTHING || q->item[hit].order < q->item[c.item].order)
            c = (struct chosen){COLUMN, i, hit};
    }
    return c;
}

/* Choose the next command by asking the banks in turn. */
static struct chosen choose(struct bank_queues *q, int64_t t, int64_t *soon)
{
    uint64_t behind = q->turn + 1 < DRAM_BANKS_MAX ? UINT64_MAX << (q->turn + 1) : 0;
    for (int half = 0; half < 2; half++)
        for (uint64_t m = q->queued & (half ? ~behind : behind); m; m &= m - 1) {
            struct chosen c = ask_bank(q, __builtin_ctzll(m), t, soon);
            if (c.what == NOTHING) continue;
            q->turn = c.bank;
            return c;
        }
    return (struct chosen){0};
}

static void issue(struct bank_queues *q, struct chosen c, int64_t t)
{
    if (c.what == COLUMN)
        issue_column(q, c.bank, c.item, t);
    else if (q->open >> c.bank & 1)
        issue_precharge(q, c.bank, t);
    else
        issue_activate(q, c.bank, t);
}

static void tick(struct dram_bus *bus, int64_t t)
{
    struct bank_queues *q = (struct bank_queues *)bus;
    int64_t soon = DRAM_NEVER;
    bool busy = false;
    if (t >= q->refresh_at) {
        q->refresh_at += bus->spec->refi;
        q->refreshes_due++;
    }
    if (q->refreshes_due) {
        busy = refresh_step(q, t, &soon);
    } else {
        struct chosen first = choose(q, t, &soon);
        if (first.what != NOTHING) {
            busy = true;
            issue(q, first, t);
            struct chosen second = bus->spec->one_command_bus ? (struct chosen){0} : choose(q, t, &soon);
            if (second.what != NOTHING && second.what != first.what) issue(q, second, t);
        }
    }
    busy = bank_queues_move_one(q) || busy;
    if (busy) soon = t + 1;
    bus->next = soon < q->refresh_at ? soon : q->refresh_at;
}

static bool is_idle(const struct dram_bus *bus)
{
    const struct bank_queues *q = (const struct bank_queues *)bus;
    if (q->count[READ] || q->waiting[READ]) return false;
    for (uint64_t m = q->queued; m; m &= m - 1)
        for (uint32_t i = q->bank[__builtin_ctzll(m)].queue.head; i != NONE; i = q->item[i].next)
            if (!q->item[i].write) return false;
    return true;
}

static int64_t open_clocks(const struct dram_bus *bus, int64_t t)
{
    const struct bank_queues *q = (const struct bank_queues *)bus;
    return q->open_banks && t > q->open_since ? t - q->open_since : 0;
}

static void find_busiest(const struct dram_bus *bus, struct dram_tally *t)
{
    const struct bank_queues *q = (const struct bank_queues *)bus;
    for (int i = 0; i < bus->spec->channels * bus->spec->banks; i++) {
        if (q->bank[i].activates > t->bank_activates) t->bank_activates = q->bank[i].activates;
        if (q->group[q->bank[i].group].columns > t->group_columns) t->group_columns = q->group[q->bank[i].group].columns;
    }
}

static void init(struct dram_bus *bus)
{
    struct bank_queues *q = (struct bank_queues *)bus;
    const struct dram_spec *s = bus->spec;
    uint32_t items = (uint32_t)(s->reads + s->writes + s->banks * s->bank_queue);
    q->item = dram_bus_alloc(bus, items, sizeof *q->item);
    for (uint32_t i = 0; i < items; i++) q->item[i].next = i + 1 < items ? i + 1 : (uint32_t)NONE;
    q->merged_free = NONE;
    q->refresh_at = s->refi ? s->refi : DRAM_NEVER;
    for (int i = 0; i < s->banks; i++) {
        struct bank *b = &q->bank[i];
        b->group = (uint8_t)(i / s->group_banks);
        b->queue = b->waiting[READ] = b->waiting[WRITE] = (struct list){NONE, NONE};
        b->first_hit[READ] = b->first_hit[WRITE] = NONE;
    }
    for (int k = 0; k < 4; k++) q->act[k] = INT32_MIN;
}

static void release(struct dram_bus *bus)
{
    struct bank_queues *q = (struct bank_queues *)bus;
    free(q->item);
    free(q->merged);
}

const struct dram_controller dram_bank_queues = {.size = sizeof(struct bank_queues),
                                                 .init = init,
                                                 .release = release,
                                                 .tick = tick,
                                                 .accept = bank_queues_accept,
                                                 .is_idle = is_idle,
                                                 .open_clocks = open_clocks,
                                                 .find_busiest = find_busiest};
