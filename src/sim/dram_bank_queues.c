/* Queues of transactions in front of a command queue a bank, as DRAMsim3 has them (src/controller.cc, command_queue.cc, channel_state.cc, timing.cc).
 *
 * Reads and writes wait in a queue each; every clock one of them moves on to the queue of its bank if that has room, the oldest that can. Reads move until
 * the write queue is full, or holds more than 8 while the banks' queues are empty; then as many writes as it holds. Reads of what a queued write holds, and
 * equal reads, never reach the DRAM; writes are acknowledged at once.
 *
 * The banks are asked in turn, from the one behind the last that had a command: in its queue the first that is ready goes. The first of a queue may
 * close the row when no other wants it, or after 4 commands to it. One command a clock, or one of rows and one of columns. A refresh that is due
 * stops everything, closes the banks one by one and goes. */
#include "sim/dram_bus.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX, HITS_ENOUGH = 4, DRAIN_WHEN_EMPTY = 8 };
enum direction { READ, WRITE };

struct item {
    uint64_t order;
    int64_t arrival, accepted;
    uint32_t row, owner, next;
    uint32_t merged; /* reads that share it: a list */
    uint16_t column;
    bool write;
};

struct merged {
    int64_t arrival, accepted;
    uint32_t owner, n, next;
};

struct list {
    uint32_t head, tail;
};

struct bank {
    int64_t ok[2], pre_ok, act_ok, ref_ok;
    uint32_t row, hits; /* column commands since the activate */
    struct list waiting[2], queue;
    int queued;
    uint32_t first_hit[2]; /* in `queue`, NONE when there is none or the bank is closed */
    uint64_t activates;
    uint8_t group;
};

struct group {
    int64_t ok[2], act_ok;
    uint64_t columns;
};

struct bank_queues {
    struct dram_bus bus;
    struct bank bank[DRAM_BANKS_MAX];
    struct group group[DRAM_BANKS_MAX];
    int64_t bus_ok; /* row-command bus behind an activate of several clocks; all commands on one_command_bus */
    int64_t ok[2], act_ok, act[4];
    int act_at;
    uint64_t waiting[2], queued, full, open; /* masks of banks: something waits in front, in the queue; the queue is full */
    int turn;                                /* the bank that had a command last */
    int open_banks;
    int64_t open_since, refresh_at;
    uint64_t refreshes_due;
    int count[2], draining;
    uint64_t order;
    struct item *item;
    uint32_t free;
    struct merged *merged;
    uint32_t merged_free, merged_size;
};

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline void sooner(int64_t ready, int64_t *soon)
{
    if (ready < *soon) *soon = ready;
}

/* ---- lists --------------------------------------------------------------------------------------------------------------------- */

static void list_add(struct bank_queues *q, struct list *l, uint32_t i)
{
    q->item[i].next = NONE;
    if (l->head == NONE)
        l->head = i;
    else
        q->item[l->tail].next = i;
    l->tail = i;
}

static void list_remove(struct bank_queues *q, struct list *l, uint32_t i)
{
    uint32_t before = NONE;
    for (uint32_t at = l->head; at != i; at = q->item[at].next) before = at;
    if (before == NONE)
        l->head = q->item[i].next;
    else
        q->item[before].next = q->item[i].next;
    if (l->tail == i) l->tail = before;
}

static uint32_t list_find(const struct bank_queues *q, const struct list *l, bool write, uint32_t row, unsigned column)
{
    for (uint32_t i = l->head; i != NONE; i = q->item[i].next) {
        const struct item *x = &q->item[i];
        if (x->row == row && x->column == column && x->write == write) return i;
    }
    return NONE;
}

/* The pending read or write of a burst, or NONE. */
static uint32_t find_pending(const struct bank_queues *q, int bank, bool write, uint32_t row, unsigned column)
{
    const struct bank *b = &q->bank[bank];
    uint32_t i = list_find(q, &b->waiting[write], write, row, column);
    return i != NONE ? i : list_find(q, &b->queue, write, row, column);
}

static void look_over(struct bank_queues *q, int bank)
{
    struct bank *b = &q->bank[bank];
    b->first_hit[READ] = b->first_hit[WRITE] = NONE;
    if (!(q->open >> bank & 1)) return;
    for (uint32_t i = b->queue.head; i != NONE; i = q->item[i].next) {
        const struct item *x = &q->item[i];
        if (x->row == b->row && b->first_hit[x->write] == NONE) b->first_hit[x->write] = i;
    }
}

/* ---- taking in ------------------------------------------------------------------------------------------------------------------- */

static void returned(struct bank_queues *q, int64_t done, int64_t accepted, int64_t arrival, uint32_t owner, uint64_t n)
{
    struct dram_bus *bus = &q->bus;
    if (bus->latency) dram_latency_add(bus->latency, done - accepted - 1, n);
    if (bus->total) dram_latency_add(bus->total, done - arrival, n);
    bus->last_done = later(bus->last_done, done);
    dram_bus_finish(bus, done, owner, (uint32_t)n);
}

/* Another read of what is being read: it comes with it. */
static void merge(struct bank_queues *q, uint32_t i, const struct dram_run *run, int64_t t)
{
    struct item *x = &q->item[i];
    q->bus.tally.merged++;
    if (x->merged != NONE) {
        struct merged *last = &q->merged[x->merged];
        if (last->accepted == t && last->owner == run->owner && last->arrival == run->arrival) {
            last->n++;
            return;
        }
    }
    if (q->merged_free == NONE) {
        uint32_t n = q->merged_size ? 2 * q->merged_size : 64;
        struct merged *more = dram_bus_alloc(&q->bus, n, sizeof *more);
        for (uint32_t k = 0; k < q->merged_size; k++) more[k] = q->merged[k];
        dram_bus_release(&q->bus, q->merged);
        q->merged = more;
        for (uint32_t k = q->merged_size; k < n; k++) q->merged[k].next = k + 1 < n ? k + 1 : NONE;
        q->merged_free = q->merged_size;
        q->merged_size = n;
    }
    uint32_t at = q->merged_free;
    q->merged_free = q->merged[at].next;
    q->merged[at] = (struct merged){run->arrival, t, run->owner, 1, x->merged};
    x->merged = at;
}

static void enqueue(struct bank_queues *q, const struct dram_run *run, unsigned column, int64_t t)
{
    uint32_t i = q->free;
    q->free = q->item[i].next;
    q->item[i] = (struct item){.order = q->order++,
                               .arrival = run->arrival,
                               .accepted = t,
                               .row = run->row,
                               .owner = run->owner,
                               .merged = NONE,
                               .column = (uint16_t)column,
                               .write = run->write};
    list_add(q, &q->bank[run->bank].waiting[run->write], i);
    q->waiting[run->write] |= (uint64_t)1 << run->bank;
    q->count[run->write]++;
}

static void accept_read(struct bank_queues *q, const struct dram_run *run, unsigned column, int64_t t)
{
    if (find_pending(q, run->bank, true, run->row, column) != NONE) {
        q->bus.tally.forwarded++;
        dram_bus_fly(&q->bus, t + 2, run->bank, run->row, column);
        returned(q, t + 2, t, run->arrival, run->owner, 1);
        return;
    }
    uint32_t i = find_pending(q, run->bank, false, run->row, column);
    if (i != NONE)
        merge(q, i, run, t);
    else
        enqueue(q, run, column, t);
}

/* False: a read of it is still to return. */
static bool accept_write(struct bank_queues *q, const struct dram_run *run, unsigned column, int64_t t)
{
    if (find_pending(q, run->bank, false, run->row, column) != NONE) return false;
    int64_t back = dram_bus_in_flight(&q->bus, t, run->bank, run->row, column, 1);
    if (back) {
        q->bus.retry = back;
        return false;
    }
    if (find_pending(q, run->bank, true, run->row, column) == NONE)
        enqueue(q, run, column, t);
    else
        q->bus.tally.coalesced++;
    q->bus.last_done = later(q->bus.last_done, t + 2);
    dram_bus_finish(&q->bus, t + 2, run->owner, 1);
    return true;
}

static int accept(struct dram_bus *bus, const struct dram_run *run, int64_t t)
{
    struct bank_queues *q = (struct bank_queues *)bus;
    int taken = 0, room = run->write ? bus->spec->writes : bus->spec->reads;
    for (; taken < run->n && q->count[run->write] < room; taken++) {
        unsigned column = run->column + (unsigned)taken;
        if (!run->write)
            accept_read(q, run, column, t);
        else if (!accept_write(q, run, column, t))
            break;
    }
    if (taken && bus->next > t + 1) bus->next = t + 1;
    return taken;
}

/* ---- commands ----------------------------------------------------------------------------------------------------------------------- */

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
        returned(q, done, x->accepted, x->arrival, x->owner, 1);
        for (uint32_t m = x->merged; m != NONE;) {
            struct merged *with = &q->merged[m];
            uint32_t next = with->next;
            returned(q, done, with->accepted, with->arrival, with->owner, with->n);
            with->next = q->merged_free;
            q->merged_free = m;
            m = next;
        }
    }
    list_remove(q, &b->queue, i);
    x->next = q->free;
    q->free = i;
    q->full &= ~((uint64_t)1 << bank);
    if (--b->queued == 0) q->queued &= ~((uint64_t)1 << bank);
    look_over(q, bank);
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
    look_over(q, bank);
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
    look_over(q, bank);
}

/* ---- refresh ------------------------------------------------------------------------------------------------------------------------- */

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

/* ---- choosing ------------------------------------------------------------------------------------------------------------------------ */

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

/* Ask the banks in turn. */
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

/* One read or write moves on to the queue of its bank. */
static bool move_one(struct bank_queues *q)
{
    const struct dram_spec *s = q->bus.spec;
    if (q->draining == 0 && (q->count[WRITE] >= s->writes || (q->count[WRITE] > DRAIN_WHEN_EMPTY && q->queued == 0)))
        q->draining = q->count[WRITE];
    int dir = q->draining > 0 ? WRITE : READ, best = -1;
    uint64_t order = UINT64_MAX;
    for (uint64_t m = q->waiting[dir] & ~q->full; m; m &= m - 1) {
        int i = __builtin_ctzll(m);
        uint64_t o = q->item[q->bank[i].waiting[dir].head].order;
        if (o >= order) continue;
        order = o;
        best = i;
    }
    if (best < 0) return false;
    struct bank *b = &q->bank[best];
    uint64_t bit = (uint64_t)1 << best;
    uint32_t i = b->waiting[dir].head;
    b->waiting[dir].head = q->item[i].next;
    if (b->waiting[dir].head == NONE) {
        b->waiting[dir].tail = NONE;
        q->waiting[dir] &= ~bit;
    }
    q->item[i].order = q->order++; /* from now on: of the bank's queue */
    list_add(q, &b->queue, i);
    q->queued |= bit;
    if (++b->queued == s->bank_queue) q->full |= bit;
    if (q->open & bit && q->item[i].row == b->row && b->first_hit[dir] == NONE) b->first_hit[dir] = i;
    q->count[dir]--;
    if (dir == WRITE) q->draining--;
    return true;
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
    busy = move_one(q) || busy;
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
                                                 .accept = accept,
                                                 .is_idle = is_idle,
                                                 .open_clocks = open_clocks,
                                                 .find_busiest = find_busiest};
