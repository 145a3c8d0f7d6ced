/* What an operator takes of the memory (E12): its bytes cross the channels of the DRAM tile by tile.
 *
 * The engine's memory has two halves of a tile each. A tile is loaded into a half as soon as that is free. It is worked on when the
 * engine is through with the one before, and what it leaves behind is written before the half is free again. A long operator is
 * carried out for some tiles, and the rest goes on at their pace.
 */
#ifndef ANE_MEMORY_H
#define ANE_MEMORY_H

#include "ane_closed.h"

#include <dse/dram_port.h>

struct ane_memory;

/* An operator, once. */
struct ane_job {
    const char *name;     /* string constant: its traffic, and its label */
    double bytes, work_s; /* that cross the channels; of the engine, at its rates */
    double written;       /* share of the bytes that is written */
    bool copies;          /* what is written is what was read: it holds its half until it is written */
    double gate_s;        /* of all bytes, where something else than the DRAM paces them (narrow_gain, concat_gbs); else 0 */
    double host_bytes_s;  /* bytes a second that the host reads meanwhile; else 0 */
};

/* Open the memory of the run. NULL: the event level cannot simulate it, and the run is refused. */
struct ane_memory *ane_memory_new(struct dse_sim *sim, const struct dse_dram *dram, const struct ane_events_reads *closed,
                                  uint32_t engine);
/* Carry the operator out, in the time of the run, when nothing else is under way. Seconds; NaN: the run failed. */
double ane_memory_seconds(struct ane_memory *m, const struct ane_job *job);
/* What else than the DRAM paces so many bytes, if their time in closed form is longer than that of a long stream, or copy, of
 * `stream` seconds a byte: weights that are widened, a bandwidth of concatenations. Else 0. */
double ane_gate(double stream, double time_s, double bytes);
/* E6, E13: the bytes of a slide beside the host, which reads what the call returned as long as its gap lasts. */
double ane_slide_seconds(struct ane_memory *m, const struct ane_events_reads *closed);

#endif
