/* Internal to src/space: the mean of a model's metrics over the requests of a sweep.
 *
 * Each request of the mix is run at the point: a model with `prompt` and `generate` gets them; `context` is the mean context of
 * the request's decode steps, or its prompt in a prefill. So a model that knows no requests gives the step at the mean context,
 * which is the mean step where the cost is linear in the context.
 *
 * What a request weighs follows from its tokens n: those it generates, or its prompt in a prefill, times its share of all
 * requests. It takes n / tokens_per_s seconds, n energy_mj, and that time over latency_us steps. A metric's mean is over what it
 * is measured by (enum dse_mean of dse/desc.h), so the totals agree: tokens_per_s is all tokens over all time, energy_mj all
 * energy over all tokens, power_w their product. A number that is the same for all requests stays the same to the last bit, and
 * so does everything if there is one request.
 */
#ifndef DSE_SPACE_MIX_H
#define DSE_SPACE_MIX_H

#include "config/sweep_file.h"
#include "model/fidelity.h"
#include "model/served.h"
#include "space/judge.h"

/* How a model takes the mix. It never changes and is shared by all threads. */
struct mix;

/* NULL when the sweep has no [requests]. The sweep must outlive it. */
struct mix *mix_new(const struct sweep_file *s, const struct model *m);
void mix_free(struct mix *mix);
/* Does the model know what a token of either phase costs? */
bool mix_knows_dollars(const struct model *m);
/* Give the parameters of a point, before resolve(), the lengths of the mean request. */
void mix_set_mean(const struct mix *mix, void *params);

/* What one thread runs the mix with. It borrows the thread's runner, which carries the requests out between two points, and its
 * judge, which says what each of them rests on; judge may be NULL. `serves`: mixer_served is asked for. */
struct mixer;
struct mixer *mixer_new(const struct mix *mix, struct runner *runner, struct judge *judge, bool serves);
void mixer_free(struct mixer *r);
/* Run the mix at the point that `start` holds before resolve(). When RUN_DONE comes back, either `metrics` is filled and
 * *ret_reason NULL, or *ret_reason says why a request cannot be served, with its lengths: "request of 2506 + 733 tokens: ...", a
 * string that lives as long as the mixer. A run that stops or fails ends the mix. A metric is NaN if it is for any request. The
 * judge is told of all requests that are run. In closed form this allocates only when a reason comes for the first time. */
enum run_end mixer_run(struct mixer *r, const void *start, void *metrics, struct dse_breakdown *parts, const char **ret_reason);

/* What the requests of the last run cost (model/served.h). Their other phase, which is no part of the metrics, is in closed form:
 * of a row at event level it is not known. */
struct served mixer_served(const struct mixer *r);

#endif
