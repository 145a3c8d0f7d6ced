/* A program at event level: a step as phases, one after another in time, some of which are simulated and stand for the rest.
 *
 * What such models share: how a run begins, phases in turn, which lengths of the cache and how many heads are simulated, and
 * streams of weights whose pace is seen once. What a phase is, and what is made of what was seen, is the model's.
 */
#ifndef DSE_PROGRAM_H
#define DSE_PROGRAM_H

#include <dse/feed.h>
#include <dse/sampling.h>

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
    uint32_t next_actor;
};
/* Seeds the run and opens its DRAM. Stays where it is while the run goes on. False: the DRAM cannot be simulated, and the run is
 * refused. */
bool dse_program_init(struct dse_program *ret, struct dse_sim *sim, const struct dse_events *events, const struct dse_dram *dram,
                      double window_bytes);

/* Layers with draws of their own: events->layers_simulated, or all of so many. */
int64_t dse_layers_simulated(const struct dse_events *events, int64_t layers);

/* Room in the DRAM that phases use one after another: what is simulated is a small part of what there is. */
struct dse_room {
    uint64_t address, bytes;
};
/* The address, with room for so many bytes from now on; `align` as in dse_dram_reserve. */
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
/* All n > 0 phases in order. False: the run failed. */
bool dse_program_run(struct dse_program *p, const struct dse_phases *phases, size_t n);

/* ---- samples ------------------------------------------------------------------------------------------------------------- */

/* Lengths that stand for from .. to, as dse_lengths_add has them, where so many heads of each are simulated at least. */
void dse_lengths_plan(struct dse_lengths *l, const struct dse_sampling *s, int64_t heads, int64_t from, int64_t to, double weight);
/* Heads, one after another, that are simulated at a length of `positions`: all lengths, and all of the `engines` side by side,
 * share sampling's rows. At least `least`, at most `all` of them. */
int64_t dse_lengths_heads(const struct dse_lengths *l, const struct dse_sampling *s, int64_t positions, double engines,
                          double least, double all);

/* Paces of weight streams, seconds a byte, each seen once for a ratio of work to bytes. */
enum { DSE_PACES_MAX = 8 };
struct dse_paces {
    int n;
    struct {
        double work_per_byte, pace_s;
    } seen[DSE_PACES_MAX];
};
/* 0: not seen yet. */
double dse_pace_known(const struct dse_paces *p, double work_per_byte);
/* Keeps it, unless there is none (0) or it is known. */
void dse_pace_see(struct dse_paces *p, double work_per_byte, double pace_s);

/* A pour of so many bytes of weights through the program's buffer, of which sampling's `stream_mib` are simulated; where the pace
 * is known (not 0), an eighth of them. What is the model's is left at 0: address, work, other inputs, resource, actor. */
struct dse_pour_spec dse_program_pour(const struct dse_program *p, const struct dse_sampling *s, double bytes, double pace_s);
/* Bytes of a pour that are simulated. */
uint64_t dse_pour_simulated(const struct dse_pour_spec *spec);

/* Note "dram_simulated_mib": what went over the DRAM's bus. */
void dse_program_note(const struct dse_program *p);

/* ---- steps of days ------------------------------------------------------------------------------------------------------- */

/* Time of a run ends after 53 days. Seconds of a step in a second of its run: 1, but where the closed form comes near that end. */
double dse_run_unit(double closed_form_s);

#endif
