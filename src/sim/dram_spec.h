/* A DRAM subsystem in clocks: what the controllers (dram_bus.h) work with.
 *
 * A bus is what one controller drives: a row-command bus and a column-command bus (or one for both) with one or more channels,
 * each with a data bus and banks of its own. The two pseudo channels of HBM are two channels on one bus; elsewhere a bus has one
 * channel.
 *
 * The clock follows the bandwidth: a burst takes burst_clocks, so that a clock is burst_bytes / channel_gbs / burst_clocks. Every
 * time in ns becomes the next whole number of clocks. An activate of a > 1 clocks counts from its last: what follows it waits a -
 * 1 clocks longer, what it follows a - 1 less (as Ramulator 2 has it, python/ramulator/dram/spec.py).
 */
#ifndef DSE_SIM_DRAM_SPEC_H
#define DSE_SIM_DRAM_SPEC_H

#include <dse/hw.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    DRAM_BANKS_MAX = 64,   /* of all channels of a bus; the limits stand in the reasons of dse_dram_port_check */
    DRAM_CHANNELS_MAX = 8, /* of a bus */
    DRAM_ALL_CHANNELS_MAX = 16384,
    DRAM_RUN_MAX = 32,     /* bursts of one struct dram_run */
    DRAM_QUEUE_MAX = 4096, /* reads that a bus queues */
};

struct dram_spec {
    double clock_ns;
    int32_t controller;
    int64_t buses;     /* of the subsystem */
    int channels;      /* of a bus */
    int banks, groups; /* of a channel */
    int group_banks;   /* banks / groups */
    int64_t rows;      /* of a bank */
    int columns;       /* bursts of a row */
    int64_t burst_bytes;
    int interleave;       /* bursts of a row before the next channel's turn, in the default map */
    bool one_command_bus; /* rows and columns share it */

    /* command to command, in clocks */
    int burst;                            /* column to column: data bus */
    int ccd_l;                            /* the same in one bank group */
    int cl, cwl;                          /* column command to first data */
    int act_rd, act_wr, act_pre, act_ref; /* activate to ... of the bank */
    int rrd_s, rrd_l, faw;                /* activate to activate */
    int rd_pre, wr_pre;                   /* column to precharge of the bank */
    int pre_act, pre_ref;
    int rd_wr, wr_rd_s, wr_rd_l; /* turn-round of the data bus */
    int ref_act;                 /* tRFC */
    int64_t refi;                /* refresh every so often; 0: never */
    int act_clocks;              /* on the row-command bus */

    int reads, writes;         /* that a bus queues */
    int bank_queue;            /* bank-queues: commands a bank queues behind them */
    int write_high, write_low; /* row-hits, first-ready: writes above which writing starts, below which it ends */

    /* pJ of all devices of a channel: an activate with its precharge, a burst, a refresh; mW in standby. NaN: no currents known */
    double act_pj, rd_pj, wr_pj, ref_pj, active_mw, idle_mw;
    double rfc_ns, refi_ns, faw_ns; /* for reports */
};

/* The subsystem of `d`, whose memory gives what d leaves open. NULL, or why it has no event level; the caller frees that.
 * `refresh` false: never. */
char *dram_spec_init(struct dram_spec *s, const struct dse_dram *d, bool refresh);
/* Nanoseconds of a read that meets no other: from the controller's clock to the last data, its bank closed. */
double dram_spec_idle_ns(const struct dram_spec *s);
/* The GB/s of all data buses together. */
double dram_spec_peak_gbs(const struct dram_spec *s);

#endif
