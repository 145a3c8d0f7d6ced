/* DRAM at event level, as a model sees it: a port that moves segments of bytes through a controller with channels, banks and
 * refresh.
 *
 * The port is opened on the parameters that the closed form reads, too (struct dse_dram); what those leave open (tCL, tWR, write
 * drain, ...) stands in the memory's catalog entry. Under DSE_IDEAL_DRAM the transfers take the time of dse_dram_seconds instead,
 * one after another in order of their start; under DSE_IDEAL_REFRESH no channel refreshes.
 */
#ifndef DSE_DRAM_PORT_H
#define DSE_DRAM_PORT_H

#include <dse/hw.h>
#include <dse/sim.h>

struct dse_dram_port;
/* Why the event level cannot simulate these parameters, or NULL. A model with an event level calls it in check(). */
const char *dse_dram_port_check(const struct dse_dram *dram);
/* Open a port, which borrows `dram` for the run. The run fails when dse_dram_port_check objects. Each kind of traffic is a
 * resource of the group "DRAM". */
struct dse_dram_port *dse_dram_open(struct dse_sim *sim, const struct dse_dram *dram);

/* Reserve `bytes` that nothing else has. The address is a multiple of `align`, a power of two; 0 stands for an interleaved row
 * over all channels. */
uint64_t dse_dram_reserve(struct dse_dram_port *p, uint64_t bytes, uint64_t align);

struct dse_segment {
    uint64_t address, bytes; /* any alignment; whole bursts are moved */
    bool write;
};

/* A transfer: segments in order, taken from next() as there is room for them, so that a stream of gigabytes holds no memory. */
struct dse_transfer {
    /* The next segment; false: no more. It is asked for up to some tens of ns before there is room for it, so it must not depend
     * on the time, and it must not start transfers. */
    bool (*next)(void *object, uint32_t arg, struct dse_segment *ret);
    void *object;
    uint32_t arg;
    /* The most bytes of this transfer in flight, as in the buffer of a DMA engine. 0: twice what the controllers' queues hold. */
    uint64_t window_bytes;
    const char *label; /* string constant: its kind of traffic, for statistics and the timeline ("weights", "keys") */
    /* The bytes of one contiguous access, for DSE_IDEAL_DRAM. Infinite: part of a long stream, which reaches dram_efficiency. */
    double access_bytes;
    /* The actor that is called, at a clock of the memory, when the last byte read has arrived and the last one written is sent. */
    uint32_t actor, actor_arg;
};
/* Start a transfer, which is copied. Transfers that run at the same time share the channels; within a channel the scheduler
 * decides, and otherwise the first to come is the first to go. */
void dse_dram_start(struct dse_dram_port *p, const struct dse_transfer *t);
/* The same for one contiguous segment. */
void dse_dram_stream(struct dse_dram_port *p, struct dse_segment segment, const char *label, uint32_t actor, uint32_t actor_arg);

struct dse_dram_stats {
    uint64_t read_bytes, written_bytes; /* over the bus, whole bursts */
    uint64_t bursts, row_hits, activates, refreshes;
    double energy_pj; /* of commands and background; NaN when the memory has no currents. Not the board's pJ/bit */
    dse_ps busy;      /* sum over channels of the time their data bus moved data */
};
/* Statistics of the whole port, or of one kind of traffic when label is not NULL, for which only bytes and bursts are counted. */
struct dse_dram_stats dse_dram_stats(const struct dse_dram_port *p, const char *label);

#endif
