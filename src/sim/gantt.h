/* A run as a Gantt chart for a terminal: a line a resource, time from left to right.
 *
 *     tile 0
 *       eas   ███0██████░░░██1███████     ·····   62%
 *       md    ·········██0████▒▒▒██1██████·····   48%
 *             |         |         |         |
 *             0         10        20        30 us
 *     █ busy  ░ stalled on input  ▒ stalled on output  · idle
 *
 * A column shows the state in which the resource was for most of that time; a bar bears its label and id where they fit. The
 * percentage is the busy part of what is shown.
 *
 *     struct gantt *g = gantt_new(0, 0);
 *     sim_options.recorder = gantt_recorder(g);
 *     ... the run, sim_finish(sim) ...
 *     char *text = gantt_draw(g, dse_sim_now(sim), &style);
 */
#ifndef DSE_SIM_GANTT_H
#define DSE_SIM_GANTT_H

#include "sim/sim.h"

struct gantt;

struct gantt_style {
    unsigned width; /* columns of the terminal; at least GANTT_WIDTH_MIN are used */
    unsigned lines; /* resources drawn at most, from the first; 0: all */
    bool utf8;      /* else ASCII: # - = . */
    bool colour;    /* escape sequences for the states */
};
enum { GANTT_WIDTH_MIN = 40 };

/* A chart of the time from `from` to `to` (0: to the end). At most GANTT_SPANS are kept (40 MiB); of a run with more the first
 * part is drawn, and the chart says so. */
enum { GANTT_SPANS = 1 << 20 };
struct gantt *gantt_new(dse_ps from, dse_ps to);
void gantt_free(struct gantt *g); /* may be NULL */
/* Valid as long as the chart. */
const struct sim_recorder *gantt_recorder(struct gantt *g);
/* The chart of a run that ended at `end`: lines with newlines. The caller frees it. */
char *gantt_draw(const struct gantt *g, dse_ps end, const struct gantt_style *style);

#endif
