/* The memory of a command bus: reads in flight, and what is done. */
#include "sim/dram_bus.h"

#include "base/xalloc.h"

#include <stdlib.h>

enum { DONE_FIRST = 64 };

void *dram_bus_alloc(const struct dram_bus *b, size_t n, size_t size)
{
    return b->sim ? dse_sim_alloc(b->sim, n, size) : xcalloc(n, size);
}

void dram_bus_release(const struct dram_bus *b, void *p)
{
    if (!b->sim) free(p);
}

static void forget_returned(struct dram_bus *b)
{
    while (b->flight_n && b->flight[b->flight_head].done <= b->now) {
        b->flight_head = (b->flight_head + 1) & (b->flight_size - 1);
        b->flight_n--;
    }
}

void dram_bus_make_room(struct dram_bus *b)
{
    forget_returned(b);
    if (b->flight_n < b->flight_size) return;
    struct dram_flight *wider = dram_bus_alloc(b, 2 * (size_t)b->flight_size, sizeof *wider);
    for (uint32_t i = 0; i < b->flight_n; i++) wider[i] = b->flight[(b->flight_head + i) & (b->flight_size - 1)];
    dram_bus_release(b, b->flight);
    b->flight = wider;
    b->flight_head = 0;
    b->flight_size *= 2;
}

void dram_bus_grow_done(struct dram_bus *b)
{
    uint32_t size = b->done_size ? 2 * b->done_size : DONE_FIRST;
    struct dram_done *longer = dram_bus_alloc(b, size, sizeof *longer);
    for (uint32_t i = 0; i < b->done_n; i++) longer[i] = b->done[i];
    dram_bus_release(b, b->done);
    b->done = longer;
    b->done_size = size;
}

int64_t dram_bus_in_flight(struct dram_bus *b, int64_t t, uint8_t bank, uint32_t row, unsigned column, unsigned n)
{
    forget_returned(b);
    for (uint32_t i = b->flight_n; i-- > 0;) {
        const struct dram_flight *f = &b->flight[(b->flight_head + i) & (b->flight_size - 1)];
        if (f->done > t && f->bank == bank && f->row == row && f->column - column < n) return f->done;
    }
    return 0;
}
