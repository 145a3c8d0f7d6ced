/* A kernel's blocks on the SMs, in time: who runs when, and how they share the bandwidth. README.md, E20.
 *
 * Blocks start in order as slots come free, and go through their tiles step by step: load a tile, compute it. Blocks that start
 * together and are alike stay together: they are one cohort, and change their state as one. So what a kernel costs to simulate
 * grows with the number of its different blocks and not with how many there are.
 *
 *     fd_grid_start(&g, sim, &spec);
 *     while (fd_grid_next(&g, &dt)) fd_grid_advance(&g);
 */
#ifndef FLASHDECODING_GRID_H
#define FLASHDECODING_GRID_H

#include <dse/sim.h>
#include <stdbool.h>
#include <stddef.h>

/* How a block's loads and its computing follow each other. One buffer: latency, load, compute, again and again. Two buffers: the
 * next tile loads while one is computed, but for the first and the last. Ahead: without bound, nothing is filled or drained. */
enum fd_buffers { FD_ONE_BUFFER, FD_TWO_BUFFERS, FD_AHEAD };

/* Blocks alike. What is given of a step is of one block. */
struct fd_blocks {
    double count, steps;
    double dram, l2;  /* bytes: from DRAM; through the last-level cache, those from DRAM included */
    double sm_s;      /* seconds of an SM that runs no other block */
    double latency_s; /* until the first bytes come */
    double exposed;   /* phi_x: of the shorter of loading from DRAM and computing */
    double update;    /* sigma: of the longer, after it */
    enum fd_buffers buffers;
};

/* A kernel. */
struct fd_grid_spec {
    double sms, resident;           /* an SM runs so many blocks at a time */
    double stream, block_stream;    /* bytes a second from DRAM: all, one block */
    double l2_stream;               /* from the last-level cache, one SM */
    bool even;                      /* waves need not be whole: count / slots of one */
    const struct fd_blocks *blocks; /* in order; borrowed */
    size_t n;
};

/* Kernels of more waves than this run as if waves need not be whole: what the last one leaves idle is less than 1 / FD_WAVES_APART.
 */
enum { FD_WAVES_APART = 1024 };

struct fd_cohort;

struct fd_grid {
    struct dse_sim *sim;
    struct fd_grid_spec spec;
    double slots, free;
    size_t next;    /* kind of blocks to be started next */
    double left;    /* of that kind */
    double elapsed; /* seconds since the start */
    double waves;   /* started so far; a wave that is run for many counts for all */
    struct fd_cohort *cohort;
    size_t n, room;
};

void fd_grid_start(struct fd_grid *g, struct dse_sim *sim, const struct fd_grid_spec *spec);
/* Seconds until something changes. False: all blocks are done. */
bool fd_grid_next(const struct fd_grid *g, double *ret);
/* Go on to that change. */
void fd_grid_advance(struct fd_grid *g);
/* Blocks that run now. */
double fd_grid_running(const struct fd_grid *g);
/* All of it at once, apart from the time of the run: seconds. */
double fd_grid_seconds(struct dse_sim *sim, const struct fd_grid_spec *spec);

#endif
