/* Functions in C that equations may call: what the groups of shared parameters say, and look-ups.
 *
 * A primitive reads its arguments and the groups that it names, nothing else. It answers all its questions at once: each answer has
 * a name of its own in the language ("sram_area" and "sram_leakage" are of one look-up). Of a box it says what each answer can be.
 * Numbers are in the own units of their dimensions (formula/measure.h). All pure and thread-safe. */
#ifndef DSE_GRAPH_PRIMITIVE_H
#define DSE_GRAPH_PRIMITIVE_H

#include "graph/range.h"

#include <dse/cache.h>
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/interconnect.h>
#include <dse/local.h>
#include <dse/sampling.h>
#include <dse/sim.h>
#include <dse/workload.h>
#include <dse/workload_box.h>

/* ---- groups of shared parameters --------------------------------------------------------------------------------------------- */

/* No primitive reads the last two, which are the event level's. */
enum group {
    GROUP_WORKLOAD,
    GROUP_REQUEST,
    GROUP_MEMORY,
    GROUP_CACHE,
    GROUP_ECONOMICS,
    GROUP_LINKS,
    GROUP_LOCALITY,
    GROUP_EVENTS,
    GROUP_SAMPLING,
    GROUPS
};
struct group_row {
    const char *name;
    size_t size;
    const struct dse_param *params;
    const char *(*refuse)(const void *embedded);
};
extern const struct group_row group_rows[GROUPS];

/* Where the groups of a model stand among its parameters. */
struct group_places {
    bool has[GROUPS];
    size_t offset[GROUPS];
};

/* The groups of one point; NULL: the model has it not. */
struct groups {
    const void *params;
    const struct dse_workload *workload;
    const struct dse_request *request;
    const struct dse_dram *memory;
    const struct dse_cache *cache;
    const struct dse_economics *economics;
    const struct dse_links *links;
    const struct dse_local *local;
};
struct groups groups_of(const struct group_places *g, const void *params);
/* The same of a step. That of a generation is the mean step, at the mean of its contexts: *ret_step is then its workload. */
struct groups groups_of_step(const struct group_places *g, const void *params, struct dse_workload *ret_step);
/* The context of the mean step. */
static inline int64_t mean_context(const struct dse_request *r)
{
    return r->prompt + (r->generate + 1) / 2;
}
/* Which of these groups have the same parameters at both points: 1 << enum group, or-ed. */
unsigned groups_same(const struct groups *a, const struct groups *b, unsigned groups);
/* The ends of a box whose workload is one part: dse/workload_box.h. `part`: NULL without the group workload. */
struct groups_box {
    struct groups lo, hi;
    const struct dse_workload_part *part;
};

/* ---- primitives -------------------------------------------------------------------------------------------------------------- */

enum { PRIMITIVE_ARGUMENTS_MAX = GRAPH_ARGUMENTS_MAX, PRIMITIVE_RESULTS_MAX = 8 };
struct primitive {
    const char *arguments[PRIMITIVE_ARGUMENTS_MAX]; /* units; "@srams": a parameter that names an entry of that catalog, whose
                                                       place among the parameters is the number; NULL: no more */
    unsigned groups;                                /* that it needs and reads: 1 << enum group, or-ed */
    int n_results;
    void (*of)(const struct groups *g, const double *a, double *ret);
    void (*bound)(const struct groups_box *g, const struct graph_range *a, struct graph_range *ret);
    /* How each answer moves with each argument, where there is a number, to the last bit: '+', '-', '0' for not at all, '?' for
     * anyhow. NULL: with all of them anyhow. */
    const char *moves[PRIMITIVE_RESULTS_MAX];
};
extern const struct primitive primitives[];
/* How answer `which` moves, which is no single number, from how the arguments do, and the axes that the groups move along. */
struct graph_moves primitive_moves(const struct primitive *p, int which, const struct graph_moves *args, uint32_t of_groups);
/* The answers at one point, whose arguments are single numbers. */
void primitive_at(const struct primitive *p, const struct groups *g, const struct graph_range *a, struct graph_range *ret);

/* An answer of a primitive, as the language has it. A name with a dot is a quantity: it takes no arguments. */
struct answer {
    const char *name, *unit, *doc;
    int primitive, which; /* which of its results */
    int inexact;          /* the primitive where [arithmetic] of a model says that attention is not exact; 0: the same */
};
extern const struct answer answers[]; /* closed by a row without a name */

/* Has a model these groups? One without requests has single steps alone. */
bool groups_has(const struct group_places *g, unsigned groups);
/* Processes are looked up: metres become the nanometres that were written. */
double nm_of_metres(double metres);

#endif
