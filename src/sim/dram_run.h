/* A DRAM subsystem on its own, fed with a list of requests: what `dse dram` and the tests run.
 *
 * A request is split, in ascending order, into bursts, which wait in order: in one queue for each command bus (per-channel), or
 * in one for all, where one that finds no room holds up those behind it (in-order). A burst is there from its request's arrival
 * on. After a barrier nothing enters before everything before it is done. A write waits until earlier reads of its burst have
 * returned. */
#ifndef DSE_SIM_DRAM_RUN_H
#define DSE_SIM_DRAM_RUN_H

#include "sim/dram_bus.h"
#include "sim/dram_map.h"

#include <signal.h>

enum dram_request_kind { DRAM_READ, DRAM_WRITE, DRAM_BARRIER };
struct dram_request {
    enum dram_request_kind kind;
    uint64_t address, bytes;
    double arrival_ns; /* never smaller than that of the request before */
    bool timed;        /* it was said when it arrives; else it is there from that of the request before on */
};

/* Where requests come from. next() gives one, or false at the end and on a fault, which then is in diags. */
struct dram_source {
    bool (*next)(struct dram_source *s, struct dram_request *ret, struct diags *diags);
};

enum dram_front { DRAM_PER_CHANNEL, DRAM_IN_ORDER };
extern const char *const dram_front_names[]; /* "per-channel", "in-order", NULL */

struct dram_setup {
    const struct dram_spec *spec;
    const struct dram_map *map;
    enum dram_front front;
    void (*on_command)(void *object, int64_t bus, const struct dram_command *c); /* of every bus; or NULL */
    void *on_command_object;
    void (*progress)(void *object, uint64_t bursts); /* now and then: how many have been taken from the source; or NULL */
    void *progress_object;
    const volatile sig_atomic_t *stop; /* nonzero: take nothing more, and end when what was taken is done; or NULL */
};

/* Share of its time that something was in use: 1 is a bound reached. */
struct dram_limits {
    double data_bus;       /* the busiest bus's data buses, bursts alone */
    double bank_group;     /* tCCD_L: column commands of the busiest bank group */
    double four_activates; /* tFAW: activates, over 4 in every tFAW */
    double row_commands;   /* the row-command bus: activates and precharges */
    double bank;           /* tRAS + tRP: activates of the busiest bank */
    double refresh;        /* refreshing: what the others cannot have */
};

struct dram_result {
    uint64_t requests, bursts, bytes; /* asked for: lines, bursts, bytes */
    struct dram_tally tally;          /* of all buses */
    int64_t clocks;
    double time_ns;
    double energy_pj, act_pj, rd_pj, wr_pj, ref_pj, background_pj; /* NaN: no currents known */
    struct dram_limits limits;
    struct dram_latency latency; /* reads: acceptance to data */
    struct dram_latency total;   /* reads: arrival to data */
};

/* Run to the end: every read has returned and every write is acknowledged. *ret is large: allocate it. False: the source, or a
 * request, was at fault. */
bool dram_run(const struct dram_setup *setup, struct dram_source *source, struct dram_result *ret, struct diags *diags);

#endif
