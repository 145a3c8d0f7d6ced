/* A program at event level: a step as phases, one after another in time, some of which are simulated and stand for the rest.
 *
 * What such models share: how a run begins, phases in turn, which lengths of the cache and how many heads are simulated, and
 * streams of weights whose pace is seen once. What a phase is, and what is made of what was seen, is the model's.
 */
#ifndef DSE_PROGRAM_H
#define DSE_PROGRAM_H

#include <dse/feed.h>
#include <dse/sampling.h>
#include <dse/workload.h>

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

/* One DRAM, and a buffer in front of the machine that its streams go through. */
struct dse_program {
    struct dse_sim *sim;
    struct dse_dram_port *port;
    const struct dse_dram *dram;
    uint64_t window_bytes, flight_bytes, chunk_bytes; /* of a stream that has the buffer for itself: struct dse_feed_spec */
    uint32_t nobody;                                  /* an actor that does nothing: of writes that nobody waits for */
    uint32_t done;                                    /* the actor that a phase calls when it is over */

    /* Private. */
    const struct dse_phases *phases;
    size_t n, next;
    bool again;
    uint32_t next_actor;
};
/* Seed the run and open its DRAM. *ret must not be moved while the run goes on. False when the DRAM cannot be simulated: the run
 * is refused then. */
bool dse_program_init(struct dse_program *ret, struct dse_sim *sim, const struct dse_events *events, const struct dse_dram *dram,
                      double window_bytes);

/* How many layers have draws of their own: events->layers_simulated, or all of `layers`. */
int64_t dse_layers_simulated(const struct dse_events *events, int64_t layers);
/* Experts of layers `layer` to `layer` + `layers` - 1 by the run's seed; not drawn where draws are idealised. */
struct dse_draw dse_draw_of(const struct dse_sim *sim, int64_t layer, int64_t layers);

/* Room in the DRAM that phases use one after another, as what is simulated at a time is a small part of all data. */
struct dse_room {
    uint64_t address, bytes;
};
/* Make room for at least `bytes`, and return its address. `align` is as in dse_dram_reserve. */
uint64_t dse_room_for(const struct dse_program *p, struct dse_room *room, uint64_t bytes, uint64_t align);

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

enum { DSE_AT_ONCE = -1 };

struct dse_phases {
    const char *model; /* string constant, for messages */
    void *object;
    /* Start phase i. It calls the program's actor `done` when it is over. */
    void (*begin)(void *object, size_t i);
    /* Take what was seen of it. Seconds until the next one begins, as an event of its own; or DSE_AT_ONCE. */
    double (*end)(void *object, size_t i);
};
/* Within end(): the phase goes on. It begins again after the pause that end() returns, in place of the next. */
void dse_program_again(struct dse_program *p);
/* Run all n > 0 phases in order. False when the run failed. */
bool dse_program_run(struct dse_program *p, const struct dse_phases *phases, size_t n);

/* ---- samples ------------------------------------------------------------------------------------------------------------- */

/* Plan lengths of the cache that stand for from .. to, as dse_lengths_add does, when at least `heads` heads of each are
 * simulated. */
void dse_lengths_plan(struct dse_lengths *l, const struct dse_sampling *s, int64_t heads, int64_t from, int64_t to, double weight);
/* How many heads are simulated, one after another, at a length of `positions`. All lengths, and all `engines` that work side by
 * side, share the rows of the sampling. At least `least` heads and at most `all`. */
int64_t dse_lengths_heads(const struct dse_lengths *l, const struct dse_sampling *s, int64_t positions, double engines,
                          double least, double all);

/* The paces of streams of weights [s/B], each of which is measured once for a ratio of work to bytes. */
enum { DSE_PACES_MAX = 8 };
struct dse_paces {
    int n;
    struct {
        double work_per_byte, pace_s;
    } seen[DSE_PACES_MAX];
};
/* The pace for a ratio of work to bytes; 0 when it has not been measured yet. */
double dse_pace_known(const struct dse_paces *p, double work_per_byte);
/* Remember a measured pace, unless it is 0 or already known. */
void dse_pace_see(struct dse_paces *p, double work_per_byte, double pace_s);

/* The spec of a pour of `bytes` of weights through the program's buffer. stream_mib of the sampling are simulated, or an eighth of
 * that when pace_s, the pace, is known (not 0). What the model has to fill in is left at 0: address, work, other inputs, resource
 * and actor. */
struct dse_pour_spec dse_program_pour(const struct dse_program *p, const struct dse_sampling *s, double bytes, double pace_s);
/* How many bytes of a pour are simulated. */
uint64_t dse_pour_simulated(const struct dse_pour_spec *spec);

/* Note "dram_simulated_mib": what went over the DRAM's bus. */
void dse_program_note(const struct dse_program *p);

/* ---- steps of days ------------------------------------------------------------------------------------------------------- */

/* How many seconds of a step a second of its run stands for. It is 1 unless the closed form of the step comes near 53 days, which
 * is when the time of a run ends. */
double dse_run_unit(double closed_form_s);

#endif
