/* Requests from a text, one a line:
 *
 *     R 1f00 256            read 256 bytes at address 0x1f00
 *     W 0x2000 64 125.5     write 64 bytes that are there from 125.5 ns on; without a time: when their turn comes
 *     B                     a barrier: what follows waits until everything before it is done
 *
 * or as DRAMsim, Ramulator or gem5 have it: dram_line.h has the rules. Times of ours are never smaller than the one before; a
 * request of theirs that is, comes when the one before has come. Empty lines and what follows a # are skipped. The text is read as
 * it is needed, so that its size does not matter; a fault is an error with its line and column.
 */
#ifndef DSE_SIM_DRAM_TRACE_H
#define DSE_SIM_DRAM_TRACE_H

#include "sim/dram_run.h"

#include <stdio.h>

struct dram_trace;

/* Open a file, or standard input for "-". `capacity`: bytes that addresses may reach; those of other simulators wrap around there.
 * A request of theirs has access_bytes, a power of two, and a cycle cycle_ns. NULL with an error. */
struct dram_trace *dram_trace_open(const char *path, uint64_t capacity, uint64_t access_bytes, double cycle_ns,
                                   struct diags *diags);
void dram_trace_close(struct dram_trace *t);
/* The requests of the trace, for dram_run. The source belongs to the trace. */
struct dram_source *dram_trace_source(struct dram_trace *t);

/* Write a request as a line. */
void dram_request_print(FILE *out, const struct dram_request *q);

#endif
