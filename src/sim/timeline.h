/* A run as a timeline in a file: Chrome's trace event format, in JSON, that Perfetto (ui.perfetto.dev) and chrome://tracing open.
 *
 *     struct timeline *t = timeline_open("run.json", "lad", &diags);
 *     sim_options.recorder = timeline_recorder(t);
 *     ... the run, sim_finish(sim) ...
 *     ok = timeline_close(t, &diags);
 *
 * A group is a process, a resource a thread in it, a span of work or waiting a complete event ("X") named by its label and id;
 * its category is the state. Times are in microseconds with six decimals: picoseconds, of which Perfetto shows whole nanoseconds.
 * Events are written as the run goes on, so that a run of any length holds no memory.
 */
#ifndef DSE_SIM_TIMELINE_H
#define DSE_SIM_TIMELINE_H

#include "base/diag.h"
#include "sim/sim.h"

struct timeline;

/* Begin a file beside `path` that takes its place when all is written. `title` names the process of resources without group. NULL
 * with a run-time error when the file cannot be made. */
struct timeline *timeline_open(const char *path, const char *title, struct diags *diags);
/* Valid until the timeline is closed. */
const struct sim_recorder *timeline_recorder(struct timeline *t);
/* Complete the file, put it in place and free `t`. False with a run-time error when writing failed: what stood at the path stands.
 */
bool timeline_close(struct timeline *t, struct diags *diags);
/* Leave nothing behind and free `t`, which may be NULL. */
void timeline_abandon(struct timeline *t);

#endif
