/* One command bus of a DRAM subsystem with its controller, channels and banks, in clocks of its own.
 *
 * Work comes as runs: bursts side by side in one row. They wait in the inbox, in order, for room in the controller's queues; what
 * the controller does then is up to its kind (dram_first_ready.c, dram_bank_queues.c). Time goes from event to event: `next` is
 * the first clock at which the controller might do something, clocks between are never looked at. Buses know nothing of each
 * other.
 *
 * In every clock the controller comes first (data return, a refresh falls due, commands are issued), then what is in the inbox
 * enters the queues.
 */
#ifndef DSE_SIM_DRAM_BUS_H
#define DSE_SIM_DRAM_BUS_H

#include "sim/dram_spec.h"
#include "sim/dram_tally.h"

#include <dse/sim.h>

#define DRAM_NEVER INT64_MAX

struct dram_run {
    int64_t arrival; /* clock from which its total latency counts */
    int64_t from;    /* clock at which it may enter a queue, at the earliest */
    uint32_t row, owner;
    uint16_t column, n; /* the first burst, how many; n <= DRAM_RUN_MAX */
    uint8_t bank;       /* over all channels of the bus */
    bool write;
};

/* Bursts of an owner that are done at `clock`: their data have arrived, or have been taken over for writing. */
struct dram_done {
    int64_t clock;
    uint32_t owner, bursts;
};

/* What goes over the command bus, for tests and traces. */
enum dram_command_kind { DRAM_ACT, DRAM_PRE, DRAM_PRE_ALL, DRAM_RD, DRAM_WR, DRAM_REF };
struct dram_command {
    int64_t clock;
    enum dram_command_kind kind;
    uint8_t channel, bank; /* bank: over all channels of the bus; of the first bank of the channel for DRAM_PRE_ALL and DRAM_REF */
    uint32_t row;
    uint16_t column;
};

/* A read that has been issued; it may have returned since. */
struct dram_flight {
    int64_t done;
    uint32_t row;
    uint16_t column;
    uint8_t bank;
};

struct dram_bus;
struct dram_controller {
    size_t size; /* of the struct that starts with struct dram_bus */
    void (*init)(struct dram_bus *b);
    void (*release)(struct dram_bus *b);
    /* What happens in clock t; sets b->next. */
    void (*tick)(struct dram_bus *b, int64_t t);
    /* Take bursts of the run in clock t, after its tick: how many, from the first on. When not all, b->retry is the clock from
     * which on another try may do better without a tick of the controller, or DRAM_NEVER. */
    int (*accept)(struct dram_bus *b, const struct dram_run *run, int64_t t);
    /* Is nothing left whose end is still to be known? */
    bool (*is_idle)(const struct dram_bus *b);
    /* Clocks up to t that channels have had a bank open and that the tally does not have yet. */
    int64_t (*open_clocks)(const struct dram_bus *b, int64_t t);
    /* Fill in the busiest bank group and bank. */
    void (*find_busiest)(const struct dram_bus *b, struct dram_tally *t);
};
extern const struct dram_controller dram_first_ready, dram_bank_queues;

struct dram_bus {
    const struct dram_spec *spec;
    struct dse_sim *sim; /* whose memory it lives in; NULL: the heap */
    const struct dram_controller *controller;
    int64_t now, next, retry;
    int write_lag; /* clocks from a write command to its dram_done */

    struct dram_run *inbox; /* a ring */
    uint32_t inbox_head, inbox_n, inbox_size;

    struct dram_flight *flight; /* a ring, in order of return for one kind of controller */
    uint32_t flight_head, flight_n, flight_size;
    int64_t last_done; /* clock by which everything issued so far is done */

    struct dram_tally tally;
    struct dram_latency *latency, *total; /* from the controller's acceptance, from arrival; shared by buses; or NULL */

    struct dram_done *done; /* a list that the owner of the bus empties; kept when `keep_done` */
    uint32_t done_n, done_size;
    bool keep_done;
    unsigned piece; /* bursts that are done together in the list: from a multiple of it in a row to the next. A power of two */

    void (*on_command)(void *object, const struct dram_command *c); /* or NULL */
    void *on_command_object;
};

/* Make a bus in the memory of a run, which frees it, or on the heap when sim is NULL. */
struct dram_bus *dram_bus_new(const struct dram_spec *spec, struct dse_sim *sim);
void dram_bus_free(struct dram_bus *b);

/* Append a run of bursts to the inbox. */
void dram_bus_put(struct dram_bus *b, const struct dram_run *run);
/* Go on to clock `until` at most, or until: the inbox is empty (in that very clock, so that what is put then enters in it); or
 * everything put so far is taken in and its end is known. */
enum dram_stop { DRAM_AT_CLOCK, DRAM_WHEN_EMPTY, DRAM_WHEN_IDLE };
void dram_bus_drive(struct dram_bus *b, int64_t until, enum dram_stop stop);
/* End the run at clock t and complete the tally. */
void dram_bus_close(struct dram_bus *b, int64_t t);
/* The clock of the next thing to happen, whatever kind; DRAM_NEVER: nothing will. */
static inline int64_t dram_bus_next(const struct dram_bus *b)
{
    return b->next < b->retry ? b->next : b->retry;
}
/* Is everything that was put so far taken in, and its end known? */
bool dram_bus_is_idle(const struct dram_bus *b);

/* ---- for controllers --------------------------------------------------------------------------------------------------------- */

/* Get zeroed memory from where the bus lives, and give it back. */
void *dram_bus_alloc(const struct dram_bus *b, size_t n, size_t size) __attribute__((returns_nonnull));
void dram_bus_release(const struct dram_bus *b, void *p);
/* Make room in the ring of flights: forget those that have returned, or make the ring longer. */
void dram_bus_make_room(struct dram_bus *b);
void dram_bus_grow_done(struct dram_bus *b);
/* The clock at which a read of one of these bursts returns, if that is after clock t; otherwise 0. */
int64_t dram_bus_in_flight(struct dram_bus *b, int64_t t, uint8_t bank, uint32_t row, unsigned column, unsigned n);

static inline void dram_bus_log(struct dram_bus *b, int64_t t, enum dram_command_kind kind, int channel, unsigned bank,
                                uint32_t row, unsigned column)
{
    if (__builtin_expect(b->on_command != NULL, 0)) {
        struct dram_command c = {t, kind, (uint8_t)channel, (uint8_t)bank, row, (uint16_t)column};
        b->on_command(b->on_command_object, &c);
    }
}

/* Add bursts that are done at `clock` to the list. */
static inline void dram_bus_finish(struct dram_bus *b, int64_t clock, uint32_t owner, uint32_t bursts)
{
    if (!b->keep_done || bursts == 0) return;
    if (b->done_n == b->done_size) dram_bus_grow_done(b);
    b->done[b->done_n++] = (struct dram_done){clock, owner, bursts};
}

static inline void dram_bus_fly(struct dram_bus *b, int64_t done, uint8_t bank, uint32_t row, unsigned column)
{
    if (b->flight_n == b->flight_size) dram_bus_make_room(b);
    b->flight[(b->flight_head + b->flight_n++) & (b->flight_size - 1)] = (struct dram_flight){done, row, (uint16_t)column, bank};
}

#endif
