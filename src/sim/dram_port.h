/* The inside of a DRAM port, shared by dram_port.c (controllers), dram_port_ideal.c (the closed form) and dram_port_stats.c. */
#ifndef DSE_SIM_DRAM_PORT_H
#define DSE_SIM_DRAM_PORT_H

#include "sim/dram_bus.h"
#include "sim/dram_map.h"

#include <dse/dram_port.h>

enum { PORT_LABELS_MAX = 32 };
#define PORT_NONE UINT32_MAX

/* A transfer that has not ended. All counts are bursts. */
struct port_transfer {
    struct dse_transfer t;
    uint64_t at, end;   /* what is left of the segment at hand */
    uint64_t window;    /* in flight at most */
    uint64_t in_flight; /* put, and not yet done at the present time */
    uint64_t unknown;   /* put, and the end is not yet known */
    int64_t last_done;  /* clock of the latest end that is known */
    uint32_t next_free;
    int label;
    bool write, writes; /* the segment at hand; any so far */
    bool exhausted, ending;
    double ideal_s, ideal_moved[2]; /* dram_port_ideal.c */
};

/* A kind of traffic. */
struct port_label {
    const char *name;
    uint32_t resource, live; /* transfers */
    uint64_t bursts[2];      /* read, written */
};

/* What is done in one clock. */
struct port_done {
    uint32_t slot, bursts;
};
struct port_release {
    struct port_done *list;
    uint32_t n, size;
};

struct dse_dram_port {
    struct dse_sim *sim;
    const struct dse_dram *dram;
    struct dram_spec spec;
    struct dram_map map;
    struct dram_bus **bus;
    bool ideal, failed;
    uint64_t reserved; /* bytes */

    uint32_t actor, end_actor, ideal_actor;
    bool running;        /* a quantum is on */
    int64_t until;       /* clock at which it ends */
    uint32_t generation; /* of its event */
    int64_t first,
        step;         /* `until` is the end of the last of several quanta of `step` clocks in which nothing happens: the end of the
                          * first of them */
    bool fed;         /* something was put since the buses were driven */
    uint64_t pending; /* what the buckets hold */
    int64_t read_quantum, write_quantum;
    uint64_t default_window;

    struct port_transfer *transfer;
    uint32_t transfers, free_transfer, live, writing; /* live: not ended; writing: those with writes among them */
    struct port_release *bucket;                      /* a ring of clocks from `until` on */
    uint64_t *filled;                                 /* a bit for each bucket that is not empty */
    int64_t buckets;                                  /* a power of two, 64 at least */

    struct port_label label[PORT_LABELS_MAX];
    int labels;

    struct dse_segment *stream; /* of dse_dram_stream: what next() has not given yet */
    uint32_t streams;

    uint32_t ideal_first, ideal_last; /* a queue through next_free; the first is served */
    uint64_t ideal_bytes[2];          /* moved by those that have ended */
    double ideal_carry_ps;            /* what rounding to picoseconds has left over */
};

/* DSE_IDEAL_DRAM: one after another, each for the time of dse_dram_seconds. */
void port_ideal_start(struct dse_dram_port *p, uint32_t slot);
void port_ideal_done(struct dse_sim *sim, void *object, uint32_t slot);

#endif
