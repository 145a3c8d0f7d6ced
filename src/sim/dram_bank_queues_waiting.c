/* Queues of transactions in front of a command queue a bank: what waits. See dram_bank_queues.h. */
#include "sim/dram_bank_queues.h"

/* ---- lists --------------------------------------------------------------------------------------------------------------- */

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

void bank_queues_look_over(struct bank_queues *q, int bank)
{
    struct bank *b = &q->bank[bank];
    b->first_hit[READ] = b->first_hit[WRITE] = NONE;
    if (!(q->open >> bank & 1)) return;
    for (uint32_t i = b->queue.head; i != NONE; i = q->item[i].next) {
        const struct item *x = &q->item[i];
        if (x->row == b->row && b->first_hit[x->write] == NONE) b->first_hit[x->write] = i;
    }
}

/* ---- taking in ----------------------------------------------------------------------------------------------------------- */

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

/* Accept a write. False while a read of the same burst is still to return. */
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

int bank_queues_accept(struct dram_bus *bus, const struct dram_run *run, int64_t t)
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

/* ---- on to the banks ----------------------------------------------------------------------------------------------------- */

bool bank_queues_move_one(struct bank_queues *q)
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

/* ---- leaving ------------------------------------------------------------------------------------------------------------- */

void bank_queues_return(struct bank_queues *q, uint32_t i, int64_t done)
{
    const struct item *x = &q->item[i];
    returned(q, done, x->accepted, x->arrival, x->owner, 1);
    for (uint32_t m = x->merged; m != NONE;) {
        struct merged *with = &q->merged[m];
        const uint32_t next = with->next;
        returned(q, done, with->accepted, with->arrival, with->owner, with->n);
        with->next = q->merged_free;
        q->merged_free = m;
        m = next;
    }
}

void bank_queues_remove(struct bank_queues *q, int bank, uint32_t i)
{
    struct bank *b = &q->bank[bank];
    list_remove(q, &b->queue, i);
    q->item[i].next = q->free;
    q->free = i;
    q->full &= ~((uint64_t)1 << bank);
    if (--b->queued == 0) q->queued &= ~((uint64_t)1 << bank);
    bank_queues_look_over(q, bank);
}
