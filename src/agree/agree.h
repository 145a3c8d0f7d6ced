/* How far the two fidelities of a model agree, and why they do not.
 *
 * Random feasible points near the model's defaults are carried out in closed form and at event level, there again and again with
 * one more cause of difference taken away (enum dse_ideal, in its order): the share of the difference that goes with a cause is
 * that cause's; what is left at the end is fill and drain. Shares depend on the order, their sum does not.
 *
 * A point: of catalog names and choices each is kept or any other taken, with equal probability; of numbers each is kept or
 * multiplied by up to AGREE_FACTOR or divided by it, evenly on a log scale, within its range; the context is anything from
 * AGREE_CONTEXT_MIN to what the LLM was made for; the seed is the point's number. What not both fidelities read (struct field),
 * calibrated constants, what catalog entries set, what the caller sets, and a number that is 0 stay as they are. A point that
 * check() or the event level refuses is drawn again. Points depend on the seed and their number only.
 */
#ifndef DSE_AGREE_AGREE_H
#define DSE_AGREE_AGREE_H

#include "config/bind.h"
#include "config/sweep_file.h"
#include "model/fidelity.h"

#define AGREE_FACTOR 3.0
enum { AGREE_CONTEXT_MIN = 32, AGREE_TRIES = 1000 /* of a point, before it is given up */ };
/* The metrics that are compared: latency_us, attention_us, energy_mj, dram_mib. */
enum { AGREE_LATENCY, AGREE_ATTENTION, AGREE_ENERGY, AGREE_DRAM, AGREE_METRICS };
enum { AGREE_CAUSES = 5 }; /* the ideals; agree.c checks */

/* All differences are of the closed form: 0.1 means that the event level has ten percent more. NaN: the model has no such metric.
 */
struct agree_point {
    char *settings;               /* as space_settings gives it, without those that move nothing; NULL: none was found */
    char *command;                /* of dse eval, at event level; NULL with them */
    char *failure;                /* why the event level failed, or NULL */
    double metric[AGREE_METRICS]; /* of agree_metric_names */
    double cause[AGREE_METRICS][AGREE_CAUSES]; /* of the metric: what goes with each */
    double left[AGREE_METRICS];                /* with all causes taken away */
    char **assignments;                        /* "NAME=VALUE" that make the point, the caller's first */
    size_t n_assignments;
    char *group;             /* of one sweep: which of its fronts the point may be on; or NULL */
    double *closed, *events; /* the sweep's objectives with it; NaN: the model has no such metric */
    uint64_t tried;          /* points that were drawn for it */
    bool is_measured; /* its run takes whole times of kernels and repeats the closed form: it says nothing of agreement, has no
                         differences, and no settings */
};

struct agree_options {
    uint64_t points, seed;
    const char *const *assignments; /* as in --set: hold at every point */
    size_t n_assignments;
    const char *const *catalogs; /* files as in --catalog, for the commands */
    size_t n_catalogs;
    /* Draw points of the spaces of these sweeps, feasible there; those that do not name the model are passed over. None: draw near
     * the defaults. */
    const struct sweep_file *const *sweeps;
    size_t n_sweeps;
    double budget_s;                   /* start nothing after that many seconds, and stop what runs; 0: none */
    bool no_causes;                    /* carry a point out once: its differences without their causes */
    int threads;                       /* 0: as many as there are cores */
    const volatile sig_atomic_t *stop; /* or NULL */
    void (*progress)(void *user, uint64_t done, uint64_t of); /* from any thread, one at a time; or NULL */
    void *user;
};

struct agreement {
    const struct model *model;
    struct agree_point *points;
    size_t n;
    bool stopped; /* not all points were carried out; those that were not are empty */
    bool spent;   /* because the budget was */
};

/* False with errors in the assignments. The caller releases *ret. The model has an event level. */
bool agree(const struct model *m, const struct catalog *catalog, const struct agree_options *options, struct agreement *ret,
           struct diags *diags);
void agreement_release(struct agreement *a);

/* How a difference is distributed over the points that have it. */
struct agree_spread {
    size_t n;
    double min, p10, median, p90, max; /* NaN when n is 0 */
    double within;                     /* 95 of 100 are not farther from 0 */
};
struct agree_spread agree_spread_of(const struct agreement *a, double (*value)(const struct agree_point *p, int which), int which);
/* Values for it: of a metric; of cause i of metric m, AGREE_CAUSES being what is left: i + m * AGREE_CAUSES_AND_LEFT. */
enum { AGREE_CAUSES_AND_LEFT = AGREE_CAUSES + 1 };
double agree_metric(const struct agree_point *p, int which);
double agree_cause(const struct agree_point *p, int which);
/* Pairs of points of one sweep, of any of its models, that one front may have both of, and each objective in which either level
 * puts them more than AGREE_APART apart: how many there are, and in how many the other level has them the other way round. */
#define AGREE_APART 0.1
struct agree_flips {
    uint64_t pairs, flips;
    const struct agree_point *better, *worse; /* the flip of the largest lead, as the closed form has it; NULL: there is none */
    size_t objective;                         /* of the sweep */
    double closed, events;                    /* its lead in each: 0.1 for a tenth; that of events is negative */
};
struct agree_flips agree_flips_of(const struct agreement *list, size_t n, const struct sweep_file *s);

/* The shortest command that shows nearly the same difference in the metric: without settings that move it by less than a tenth of
 * itself. Those that take more than AGREE_SHORTEN_S to find out stay. The caller frees it. */
enum { AGREE_SHORTEN_S = 3 };
char *agree_shortest(const struct agreement *a, const struct catalog *catalog, const struct agree_options *options,
                     const struct agree_point *p, int metric);
extern const char *const agree_metric_names[]; /* AGREE_METRICS of them, and NULL */

#endif
