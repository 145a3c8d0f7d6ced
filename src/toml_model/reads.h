/* Internal to src/toml_model: what blocks of points and of boxes read of a model, and which axes of a lattice that follows from. */
#ifndef DSE_TOML_MODEL_READS_H
#define DSE_TOML_MODEL_READS_H

#include "toml_model/internal.h"

/* Axes are bits. */
struct reads {
    const struct toml_model *m;
    const struct many_lattice *lattice;
    uint32_t *of_input;
    uint32_t of_group[GROUPS];
    uint32_t of_operators; /* what they follow from */
};
void reads_init(struct reads *r, const struct toml_model *m, const struct many_lattice *lattice);
void reads_release(struct reads *r);
/* Of a parameter behind resolve(), by its place. */
uint32_t reads_param(const struct reads *r, size_t offset);
/* Of what a node reads itself; `of`: the graph, or the steps, that its arguments are places in. */
uint32_t reads_node(const struct reads *r, const struct graph_node *n, const struct graph_node *of);
/* Of groups: 1 << enum group, or-ed. */
uint32_t reads_groups(const struct reads *r, unsigned groups);
/* Those that decide the plan: of the workload, and of choices. */
uint32_t reads_plan(const struct reads *r);
bool reads_in_group(const struct toml_model *m, enum group g, size_t offset);

/* What of the answers is asked for. */
struct wanted {
    unsigned totals; /* 1 << enum total, or-ed */
    bool bill;
    const bool *metrics; /* by metric of the schema; NULL: all */
};
struct wanted wanted_of(const struct toml_model *m, const bool *metrics);
bool wanted_same(const struct wanted *a, const struct wanted *b);
/* Is a metric of the model's own asked for? */
bool wanted_own(const struct toml_model *m, const struct wanted *w, int own);
/* The nodes of a plan that answer it, the conditions first. The caller frees them. */
int *wanted_roots(const struct toml_model *m, const struct wanted *w, const struct plan *p, int *ret_n);

#endif
