/* One line of a trace of memory requests. The first request of a file says whose trace it is; all others are read by the same
 * rules:
 *
 *     ours         R 1f00 256           a hexadecimal address, bytes, perhaps ns: W 0x2000 64 125.5; or B, a barrier
 *     DRAMsim      0x1f00 READ 12       DRAMsim2, DRAMsim3, Ramulator 1: a hexadecimal address, with 0x or without; a word
 *                                       (without: a read); perhaps a cycle
 *     Ramulator 2  ST 4096              load-store traces: LD or ST, a decimal address; with 0x a hexadecimal one
 *     gem5         r,4096,64,256,5000   packets by its decode_packet_trace.py: perhaps an id, r or w, a decimal address, bytes,
 *                                       perhaps flags, the time in ps, perhaps a program counter
 */
#ifndef DSE_SIM_DRAM_LINE_H
#define DSE_SIM_DRAM_LINE_H

#include "sim/dram_run.h"

enum dram_dialect { DRAM_DIALECT_NONE, DRAM_DIALECT_OWN, DRAM_DIALECT_DRAMSIM, DRAM_DIALECT_LOAD_STORE, DRAM_DIALECT_PACKETS };

/* How lines are read, and where they have come to. */
struct dram_lines {
    uint64_t capacity;         /* of the memory: addresses of other simulators wrap around there */
    uint64_t access_bytes;     /* of a request of DRAMsim or Ramulator, a power of two */
    double cycle_ns;           /* of DRAMsim */
    enum dram_dialect dialect; /* NONE until the first request */
    double arrival_ns;         /* of the last request */
};

/* What is wrong with a line, and where. */
struct dram_line_fault {
    const char *at;   /* in the line */
    const char *hint; /* what is allowed; or NULL */
    char *message;    /* the caller's */
};

/* The request of line[0..end), which is neither empty nor a comment, without blanks at its end. False with *ret_fault. */
bool dram_line_read(struct dram_lines *l, const char *line, const char *end, struct dram_request *ret,
                    struct dram_line_fault *ret_fault);

#endif
