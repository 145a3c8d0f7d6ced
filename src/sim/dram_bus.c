#include "sim/dram_bus.h"

#include "base/xalloc.h"

#include <stdlib.h>

enum { INBOX_FIRST = 64, FLIGHT_FIRST = 64 };

struct dram_bus *dram_bus_new(const struct dram_spec *spec, struct dse_sim *sim)
{
    const struct dram_controller *c = spec->controller == DSE_DRAM_BANK_QUEUES ? &dram_bank_queues : &dram_first_ready;
    struct dram_bus *b = sim ? dse_sim_alloc(sim, 1, c->size) : xcalloc(1, c->size);
    b->spec = spec;
    b->sim = sim;
    b->controller = c;
    b->now = -1;
    b->retry = DRAM_NEVER;
    b->piece = 1;
    b->inbox_size = INBOX_FIRST;
    b->inbox = dram_bus_alloc(b, b->inbox_size, sizeof *b->inbox);
    b->flight_size = FLIGHT_FIRST;
    b->flight = dram_bus_alloc(b, b->flight_size, sizeof *b->flight);
    c->init(b);
    return b;
}

void dram_bus_free(struct dram_bus *b)
{
    if (!b || b->sim) return;
    b->controller->release(b);
    free(b->inbox);
    free(b->flight);
    free(b->done);
    free(b);
}

void dram_bus_put(struct dram_bus *b, const struct dram_run *run)
{
    if (b->inbox_n == b->inbox_size) {
        struct dram_run *wider = dram_bus_alloc(b, 2 * (size_t)b->inbox_size, sizeof *wider);
        for (uint32_t i = 0; i < b->inbox_n; i++) wider[i] = b->inbox[(b->inbox_head + i) & (b->inbox_size - 1)];
        dram_bus_release(b, b->inbox);
        b->inbox = wider;
        b->inbox_head = 0;
        b->inbox_size *= 2;
    }
    b->inbox[(b->inbox_head + b->inbox_n++) & (b->inbox_size - 1)] = *run;
    if (b->inbox_n == 1) b->retry = run->from;
}

/* Let the inbox into the queues in clock t. Returns whether it is empty then; otherwise b->retry is set. */
static bool take_in(struct dram_bus *b, int64_t t)
{
    while (b->inbox_n) {
        struct dram_run *run = &b->inbox[b->inbox_head];
        if (run->from > t) {
            b->retry = run->from;
            return false;
        }
        b->retry = DRAM_NEVER;
        int n = b->controller->accept(b, run, t);
        if (n < run->n) {
            run->column = (uint16_t)(run->column + n);
            run->n = (uint16_t)(run->n - n);
            return false;
        }
        b->inbox_head = (b->inbox_head + 1) & (b->inbox_size - 1);
        b->inbox_n--;
    }
    b->retry = DRAM_NEVER;
    return true;
}

void dram_bus_drive(struct dram_bus *b, int64_t until, enum dram_stop stop)
{
    if (b->inbox_n && b->now >= 0 && b->now <= until) take_in(b, b->now); /* what was put since */
    for (;;) {
        if (stop == DRAM_WHEN_EMPTY && b->inbox_n == 0) return;
        if (stop == DRAM_WHEN_IDLE && dram_bus_is_idle(b)) return;
        int64_t t = b->next < b->retry ? b->next : b->retry;
        if (t > until || t == DRAM_NEVER) break;
        b->now = t;
        if (t == b->next) b->controller->tick(b, t);
        if (b->inbox_n) take_in(b, t);
    }
    if (until != DRAM_NEVER && until > b->now) b->now = until;
}

void dram_bus_close(struct dram_bus *b, int64_t t)
{
    b->tally.active_clocks += b->controller->open_clocks(b, t);
    b->controller->find_busiest(b, &b->tally);
}

bool dram_bus_is_idle(const struct dram_bus *b)
{
    return b->inbox_n == 0 && b->controller->is_idle(b);
}
