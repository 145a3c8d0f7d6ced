/* The closed form of a model that is a file in TOML, for its event level, which is written in C: models/NAME/NAME.toml has the
 * equations, and models/NAME/NAME_events.c includes NAME_closed.h, which is made from the file.
 *
 * The event level computes nothing a second time that an equation says. It reads numbers of the equations at its point; it asks
 * the same equations with other numbers in place of some of them; and what it saw stands for some of them, so that metrics and
 * breakdown follow. Section [events] of the file names these numbers (docs/reference/model-in-toml.md). A section is a variant:
 *
 *     [events]                          struct NAME_events_reads, const struct dse_closed_variant NAME_events
 *     reads = ["clock_ghz", "tree", "op.gemv_s"]
 *     [events.unit]                     struct NAME_unit_gives, struct NAME_unit_reads, NAME_unit
 *     gives = ["group.flat"]
 *     reads = ["group.scores_s"]
 *     [events.seen]                     struct NAME_seen_gives, NAME_seen
 *     gives = ["op.time_s"]
 *
 *     bool NAME_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
 *     {
 *         struct NAME_events_reads r;
 *         dse_closed_run(dse_closed_at(closed, &NAME_events, NULL), NULL, &r);
 *         ...
 *         dse_closed_report(dse_closed_at(closed, &NAME_seen, NULL), &seen, metrics, breakdown);
 *
 * A struct has a field for each number, by its name and in the unit that its name ends in; without one, in seconds, bytes,
 * joules, hertz, ... as formulas calculate. A condition is 1 or 0, a choice of the event level alone its place among the
 * choices. A number without a value is NaN. What has "op." before its name is an array in the struct `op`, by place in
 * dse_oplist.op; "group." is the same by place in dse_oplist.attention. Places that no loop with such an equation has are not
 * touched and not read.
 */
#ifndef DSE_CLOSED_H
#define DSE_CLOSED_H

#include <dse/model.h>

#include <stddef.h>

struct dse_cache;
struct dse_dram;
struct dse_economics;
struct dse_events;
struct dse_links;
struct dse_local;
struct dse_oplist;
struct dse_request;
struct dse_sampling;
struct dse_workload;

/* The equations at the parameters of a run. Like the run, it is of one thread. */
struct dse_closed;

/* The groups of shared parameters that the model uses; NULL: it does not use that group. The workload is that of the step: of a
 * generation it has the mean of the contexts. */
const struct dse_workload *dse_closed_workload(const struct dse_closed *c);
const struct dse_request *dse_closed_request(const struct dse_closed *c);
const struct dse_dram *dse_closed_memory(const struct dse_closed *c);
const struct dse_links *dse_closed_links(const struct dse_closed *c);
const struct dse_cache *dse_closed_cache(const struct dse_closed *c);
const struct dse_local *dse_closed_locality(const struct dse_closed *c);
const struct dse_economics *dse_closed_economics(const struct dse_closed *c);
const struct dse_events *dse_closed_events(const struct dse_closed *c);
const struct dse_sampling *dse_closed_sampling(const struct dse_closed *c);
/* The operators that the equations of the point see: of a model with the group workload. */
void dse_closed_operators(const struct dse_closed *c, struct dse_oplist *ret);

/* ---- variants ---------------------------------------------------------------------------------------------------------------- */

struct dse_closed_number {
    const char *name; /* "tree", "op.gemv_s"; NULL: the last row */
    size_t offset;    /* in the struct */
};
/* A section of the file, as NAME_closed.h has it. */
struct dse_closed_variant {
    const char *name; /* "unit"; "events" of [events] itself */
    const struct dse_closed_number *gives, *reads;
};

/* A variant made ready for these operators, which may be drawn (dse_workload_expand_drawn) or a part of a list, as one group of
 * attention; the list is copied. NULL: those of the point. What follows from parameters and operators alone is computed here, once.
 * It lives as long as the run. */
struct dse_closed_at;
struct dse_closed_at *dse_closed_at(struct dse_closed *c, const struct dse_closed_variant *v, const struct dse_oplist *list);
/* Compute what the variant reads, with the given numbers in place of the equations that it gives. `given`: its struct of gives, or
 * NULL of a variant that gives nothing; `ret`: its struct of reads. Cheap enough for a loop: only what depends on the given numbers
 * is computed. */
void dse_closed_run(struct dse_closed_at *at, const void *given, void *ret);
/* Fill the metrics of the model, and the breakdown when it is not NULL, as they follow from the equations with the given numbers in
 * place of those that the variant gives. */
void dse_closed_report(struct dse_closed_at *at, const void *given, void *metrics, struct dse_breakdown *breakdown);

/* ---- models of the tree ------------------------------------------------------------------------------------------------------ */

/* A model of models/meson.build that is a file in TOML; NAME_closed.c has it. */
struct dse_closed_model {
    const char *name, *file;                          /* file: for messages */
    const char *text;                                 /* the file */
    const char *shared;                               /* models/shared.toml */
    const struct dse_closed_variant *const *variants; /* closed by NULL */
    /* As dse_model.simulate; NULL: the file has no [events], and the model no event level. */
    bool (*simulate)(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);
};

#endif
